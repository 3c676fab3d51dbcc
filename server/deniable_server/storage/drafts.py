"""Drafts: surveys that are being written. All backends keep them in the same way.

A draft is saved only over the version that its writer has seen: of two who write at the same time, one looks again
(``save``). May not: know what is in a draft, or who may see it.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import date
from typing import Any

from .queries import View
from .tokens import Statement, Writing

DRAFT = ("number", "content", "version", "maker", "changed_on")
MOST = 10**9
"""The largest number of a draft."""
_COLUMNS = "number, content, version, maker, CAST(changed_on AS TEXT)"


@dataclass(frozen=True)
class Draft:
    """A draft as it is stored. ``content`` is JSON; ``version`` counts its changes; ``maker`` is the id of the access
    token whose holder began it.
    """

    number: int
    content: str
    version: int
    maker: str | None
    changed_on: str


def ended(draft: Draft) -> Statement:
    """The statement that deletes a draft if nobody has changed it."""
    gone = "DELETE FROM drafts WHERE number = :number AND version = :version"
    return gone, {"number": draft.number, "version": draft.version}


class Drafts:
    """The drafts of one storage."""

    def __init__(
        self, reading: Callable[[], AbstractContextManager[View]], write: Writing, today: Callable[[], date]
    ) -> None:
        self._reading, self._write, self._today = reading, write, today

    def create(self, content: str, maker: str | None = None) -> int:
        """Keep a new draft; returns its number. That is random, so that no number is ever used for another draft: a
        browser may still have changes to one that is gone.
        """
        number = 1 + secrets.randbelow(MOST)
        added = (
            "INSERT INTO drafts (number, content, version, maker, changed_on)"
            " VALUES (:number, :content, 1, :maker, :today)"
        )
        self._write((added, self._values(number, content) | {"maker": maker}))
        return number

    def find(self, number: int) -> Draft | None:
        """The draft of this number."""
        if number > MOST:  # no database takes numbers of any size
            return None
        found = self._rows(f"SELECT {_COLUMNS} FROM drafts WHERE number = :number", number=number)  # noqa: S608 -- our own words
        return found[0] if found else None

    def maker(self, number: int) -> str | None:
        """The id of the access token whose holder began the draft of this number, without reading what is in it."""
        with self._reading() as view:
            found = view.rows("SELECT maker FROM drafts WHERE number = :number", number=number)
        return found[0][0] if found else None

    def all(self) -> list[Draft]:
        """All drafts, those that were changed last first."""
        return self._rows(f"SELECT {_COLUMNS} FROM drafts ORDER BY changed_on DESC, number")  # noqa: S608 -- our own words

    def save(self, number: int, content: str, version: int) -> bool:
        """Store this as the next version. False where somebody else has changed or deleted the draft since ``version``:
        nothing was stored.
        """
        changed = (
            "UPDATE drafts SET content = :content, version = version + 1, changed_on = :today"
            " WHERE number = :number AND version = :version"
        )
        return self._write((changed, self._values(number, content) | {"version": version})) > 0

    def delete(self, number: int) -> bool:
        """Delete a draft. False if there is no such draft."""
        return self._write(("DELETE FROM drafts WHERE number = :number", {"number": number})) > 0

    def _rows(self, statement: str, **values: object) -> list[Draft]:
        with self._reading() as view:
            return [Draft(*row) for row in view.rows(statement, **values)]

    def _values(self, number: int, content: str) -> dict[str, Any]:
        return {"number": number, "content": content, "today": self._today().isoformat()}
