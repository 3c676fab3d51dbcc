"""The statistics of submissions that wait in the inbox, counted once for each state of it.

May not: give what is not equal to a count of all of them now.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from deniable_server.statistics import Statistics

from . import Published, queries

MOST_KEPT = 8

Asked: TypeAlias = tuple[int, tuple[int, ...] | None, int]
"""The number of a survey, by which segments its submissions are counted, and of which source."""


class Inbox(NamedTuple):
    """The state of an inbox: how many submissions the survey has accepted so far, and how many of them wait.

    While both are the same, so is the inbox. Submissions are never changed or removed: if one arrives, ``accepted``
    grows, and if some are folded, ``accepted - waiting`` grows. Neither ever falls. Both come from the database, which
    several processes may share.
    """

    accepted: int
    waiting: int


class Waiting:
    """The counts that were used last, each with the state that it was made in."""

    def __init__(self) -> None:
        self._kept: dict[Asked, tuple[Inbox, Statistics]] = {}
        self._lock = threading.Lock()

    def statistics(
        self, view: queries.View, survey: Published, over: Sequence[int] | None, source: int = queries.EVERYTHING
    ) -> Statistics:
        """Of all that waits in this view of the database, by the segments at these places or by all. They are shared:
        nobody may change them.
        """
        number, asked = survey.number, (survey.number, None if over is None else tuple(over), source)
        inbox = Inbox(queries.state(view, number)[0].submissions, queries.waiting(view, number))
        with self._lock:
            known = self._kept.pop(asked, None)
        if known is None or known[0] != inbox:
            known = inbox, queries.recount(view, number, survey.document, ("inbox",), over, source)
            for counts in (known[1].repeats, *(cell.numbers for cell in known[1].cells.values())):
                counts.flags.writeable = False
        with self._lock:
            self._kept[asked] = known
            if len(self._kept) > MOST_KEPT:
                del self._kept[next(iter(self._kept))]
        return known[1]
