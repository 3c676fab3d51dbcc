"""The security log: what people with tokens did, and what was refused. What they did is also kept in the database, for
the page Activity.

A line is ``at=<UTC> event=<name> token=<id> …``. May not: contain an address, a secret, a label, or anything of a
respondent, whose requests make no event at all. Only our own words and ids get through: nobody can forge a line.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from threading import Lock
from typing import Protocol

from deniable_server.errors import StorageError
from deniable_server.storage import Token
from deniable_server.storage.activity import Deed

log = logging.getLogger(__name__)

MOST_REFUSALS = 60
"""Lines about refusals in a minute, in each process: someone who tries all day does not fill the disk."""
USES_EVERY = 3600
"""Seconds after which the use of a token by programs, or the same download, is noted again."""

_PLAIN = re.compile(r"[A-Za-z0-9._-]{1,80}")


class Keep(Protocol):
    """Keeps in the database what somebody did (``Activity.note``)."""

    def __call__(self, deed: Deed, *, minor: bool = False) -> None: ...


class SecurityLog:
    """Writes the lines of one process."""

    def __init__(self, clock: Callable[[], float] = time.time, keep: Keep | None = None) -> None:
        self._clock, self._keep, self._lock = clock, keep, Lock()
        self._minute, self._refusals, self._left_out = 0, 0, 0
        self._uses: dict[tuple[str, ...], float] = {}

    def did(
        self, event: str, token: Token, labels: Mapping[str, str] | None = None, *, minor: bool = False, **about: str
    ) -> None:
        """Somebody with a token did this. ``labels`` are texts of people, which are not for the log. A ``minor`` deed
        does not wait for a database that others keep busy.
        """
        self._write(logging.INFO, event, token, about)
        if self._keep is None or token.role == "collector":  # it could show when somebody answered
            return
        more = {name: value for name, value in about.items() if name != "survey"} | dict(labels or {})
        deed = Deed(int(self._clock()), token.id, token.label, token.role, event, about.get("survey"), more)
        try:
            self._keep(deed, minor=minor)
        except StorageError:  # what was done is done, and in the log
            log.warning("What was just done could not be kept for the page Activity: the database cannot be written.")

    def used(self, token: Token) -> None:
        """A program has shown this token: noted once in a while, not at each request."""
        if self._is_news(token.id):
            self.did("token-used", token, minor=True)

    def downloaded(self, token: Token, survey: str, what: str) -> None:
        """Somebody has downloaded this: noted once in a while, as a program may do it every minute."""
        if self._is_news(token.id, survey, what):
            self.did("downloaded", token, minor=True, survey=survey, what=what)

    def _is_news(self, *use: str) -> bool:
        with self._lock:
            now = self._clock()
            if now - self._uses.get(use, float("-inf")) < USES_EVERY:
                return False
            self._uses = {known: at for known, at in self._uses.items() if now - at < USES_EVERY} | {use: now}
        return True

    def refused(self, event: str, token: Token | None = None, **about: str) -> None:
        """Something was refused, to the holder of a token or to a stranger."""
        with self._lock:
            minute, left_out = int(self._clock() // 60), 0
            if minute != self._minute:
                left_out, self._left_out, self._refusals, self._minute = self._left_out, 0, 0, minute
            self._refusals += 1
            if full := self._refusals > MOST_REFUSALS:
                self._left_out += 1
        if left_out:
            self._write(logging.WARNING, "refusals-left-out", None, {"count": str(left_out)})
        if not full:
            self._write(logging.WARNING, event, token, about)

    def _write(self, level: int, event: str, token: Token | None, about: dict[str, str]) -> None:
        at = datetime.fromtimestamp(self._clock(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        who = {} if token is None else {"token": token.id, "role": token.role}
        fields = {"at": at, "event": event, **who, **about}
        # What is not a plain word, such as a survey's id that nobody has published, is not repeated.
        words = [
            f"{name}={value if name == 'at' or _PLAIN.fullmatch(value) else '?'}" for name, value in fields.items()
        ]
        log.log(level, "%s", " ".join(words))
