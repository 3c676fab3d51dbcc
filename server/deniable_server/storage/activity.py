"""What people with access did: the table ``activity``. Writes are for ``web.security_log``.

May not: have anything of a respondent, or know what an event means.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from .queries import View
from .tokens import Writing

KEPT_SECONDS = 365 * 24 * 3600
KEPT_ROWS = 100_000
PAGE = 100
"""Deeds that are read at a time."""

DEED = ("at", "token", "label", "role", "event", "survey", "about")
_COLUMNS = "number, " + ", ".join(DEED)
_ADD = (
    "INSERT INTO activity (at, token, label, role, event, survey, about)"
    " VALUES (:at, :token, :label, :role, :event, :survey, :about)"
)


@dataclass(frozen=True)
class Deed:
    """Something that the holder of a token did, ``at`` so many seconds after 1970. ``label`` and ``role`` are as they
    were then. ``about``: more about it, by name, such as the ``title`` that the survey had. ``number`` says in which
    order.
    """

    at: int
    token: str
    label: str
    role: str
    event: str
    survey: str | None = None
    about: Mapping[str, str] = field(default_factory=dict)
    number: int = 0


class Activity:
    """The activity in one storage."""

    def __init__(self, reading: Callable[[], AbstractContextManager[View]], write: Writing) -> None:
        self._reading, self._write = reading, write

    def note(self, deed: Deed, *, minor: bool = False) -> None:
        """Keep what somebody did, and forget what is too old or too much. A ``minor`` one is left out where others keep
        the database busy.
        """
        values = {name: getattr(deed, name) for name in DEED} | {"about": json.dumps(dict(deed.about))}
        self._write(
            (_ADD, values),
            ("DELETE FROM activity WHERE at < :oldest", {"oldest": deed.at - KEPT_SECONDS}),
            ("DELETE FROM activity WHERE number <= (SELECT max(number) FROM activity) - :most", {"most": KEPT_ROWS}),
            minor=minor,
        )

    def newest(self, *, token: str | None = None, survey: str | None = None, before: int | None = None) -> list[Deed]:
        """A page of them, the newest first: of one token, with one survey, noted before the one of this number."""
        wanted: dict[str, object] = {"token": token, "survey": survey, "before": before}
        tests = [f"{name} = :{name}" for name in ("token", "survey") if wanted[name] is not None]
        tests += ["number < :before"] if before is not None else []
        where = f" WHERE {' AND '.join(tests)}" if tests else ""
        given = {name: value for name, value in wanted.items() if value is not None}
        with self._reading() as view:
            rows = view.rows(f"SELECT {_COLUMNS} FROM activity{where} ORDER BY number DESC LIMIT {PAGE}", **given)  # noqa: S608 -- our own words
        return [
            Deed(at, token, label, role, event, survey, json.loads(about), number)
            for number, at, token, label, role, event, survey, about in rows
        ]

    def every(self, **chosen: str | None) -> Iterator[Deed]:
        """All of them, a page at a time."""
        before = None
        while deeds := self.newest(**chosen, before=before):
            yield from deeds
            before = deeds[-1].number

    def people(self) -> dict[str, str]:
        """Who did something: their labels, by the ids of their tokens, in the order of the labels."""
        with self._reading() as view:
            return dict(view.rows("SELECT token, max(label) FROM activity GROUP BY token ORDER BY 2, 1"))
