"""Fieldwork: when a survey takes submissions, how many, and when it is closed by itself.

May not: close anything, or know which database it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, LiteralString, NamedTuple, TypeAlias

from deniable_server.errors import BadFieldwork, ServerError, SurveyClosed, SurveyGone, SurveyNotOpen, TooFewPlaces

if TYPE_CHECKING:
    from .queries import View

Status: TypeAlias = Literal["scheduled", "open", "closed"]

LATEST = 253_402_300_799
"""The last second of the year 9999."""

_ACCEPTED: LiteralString = (
    "(SELECT CAST(coalesce(sum(accepted), 0) AS BIGINT) FROM days WHERE days.survey = surveys.number)"
)

TAKES: LiteralString = (
    "status = 'open' AND coalesce(opens_at, 0) <= {now} AND (closes_at IS NULL OR closes_at > {now})"
    f" AND (most IS NULL OR most >= {{new}} + {_ACCEPTED})"
)
"""Whether a survey takes ``new`` submissions more at this time: part of the statement that stores them, so that nothing
can change in between, and storing costs no other statement."""

CONDITIONS: LiteralString = f"status, opens_at, closes_at, most, {_ACCEPTED}"
"""The columns of ``Conditions``, in its order."""

SCHEDULE: LiteralString = (
    "UPDATE surveys SET opens_at = :opens_at, closes_at = :closes_at, most = :most WHERE number = :number"  # noqa: S608 -- our own words
    " AND status = 'open' AND (closes_at IS NULL OR closes_at > :now)"
    f" AND (most IS NULL OR most > {_ACCEPTED})"
    f" AND (CAST(:most AS BIGINT) IS NULL OR CAST(:most AS BIGINT) > {_ACCEPTED})"
)
"""Changes the fieldwork of a survey that is not closed, if it has fewer submissions than the new number. That is part
of the statement: submissions may come at any moment.
"""

DUE: LiteralString = f"status = 'open' AND (closes_at <= :now OR most <= {_ACCEPTED})"
"""Surveys that are to be closed now."""


@dataclass(frozen=True)
class Fieldwork:
    """When a survey opens and closes, in seconds since 1970, and how many submissions it takes at most. None: it is
    open at once; until somebody closes it; any number.
    """

    opens_at: int | None = None
    closes_at: int | None = None
    most: int | None = None

    def written(self) -> dict[str, Any]:
        """As programs write it, in the HTTP interface and in a terminal."""
        opens_at, closes_at = (None if time is None else moment(time) for time in (self.opens_at, self.closes_at))
        return {"opens_at": opens_at, "closes_at": closes_at, "stop_at": self.most}

    def check(self, now: int, submissions: int) -> None:
        """BadFieldwork where this cannot be kept by a survey that has so many submissions."""
        if any(time is not None and not 0 <= time <= LATEST for time in (self.opens_at, self.closes_at)):
            raise BadFieldwork("A time is between the years 1970 and 9999.")
        if self.closes_at is not None:
            if self.closes_at <= now:
                raise BadFieldwork("Choose a closing time in the future. To close the survey at once, close it now.")
            if self.opens_at is not None and self.opens_at >= self.closes_at:
                raise BadFieldwork("The survey must open before it closes.")
        if self.most is not None:
            if not 0 < self.most <= 10**12:
                raise BadFieldwork("Stop at 1 answer or more.")
            if self.most <= submissions:
                raise BadFieldwork(
                    f"The survey has {submissions:,} already. Stop at a larger number, or close the survey now."
                )


class Conditions(NamedTuple):
    """What decides whether a survey takes submissions. ``status`` as the database has it."""

    status: str
    opens_at: int | None
    closes_at: int | None
    most: int | None
    submissions: int

    def at(self, now: int) -> Status:
        """What the survey is at this time. It may be due and not closed yet."""
        if (
            self.status != "open"
            or (self.closes_at is not None and self.closes_at <= now)
            or (self.most is not None and self.most <= self.submissions)
        ):
            return "closed"
        return "scheduled" if self.opens_at is not None and self.opens_at > now else "open"

    def refusal(self, now: int, closed: str, new: int = 1) -> ServerError:
        """Why it does not take so many ``new`` ones now; ``closed`` says it of a survey that is closed."""
        status = self.at(now)
        if status == "scheduled":
            assert self.opens_at is not None
            return SurveyNotOpen(f"It opens at {moment(self.opens_at)}.")
        if status == "open" and self.most is not None and new > (left := self.most - self.submissions):
            return TooFewPlaces(left)
        return SurveyClosed(closed)


def conditions(view: View, number: int) -> Conditions:
    """Those of the survey of this number. SurveyGone where it was deleted."""
    found = view.rows(f"SELECT {CONDITIONS} FROM surveys WHERE number = :number", number=number)  # noqa: S608 -- our own words
    if not found:
        raise SurveyGone
    return Conditions(*found[0])


def moment(seconds: int) -> str:
    """A time as programs write it: 2026-11-23T08:00:00Z."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
