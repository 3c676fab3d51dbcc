"""Deleting a survey: what belongs to it, and in which order it goes.

First all rows go, in one transaction that notes the survey's number in ``deletions``: nobody ever sees half a survey.
Then each kind of database overwrites or drops what is left in its files, and only after that deletes the note. So a
crash in between is noticed, and a server finishes the work.

Wiping rewrites whole tables, and others wait for that. So a note says from when on it may be wiped, and a server that
wants to do it puts that off for all others first: of all servers, one tries, once a minute.

May not: know which database it is.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import Published
    from .tokens import Statement

BY_NUMBER = ("sources", "statistics", "repeats", "days", "invitations")
"""Tables with rows of a survey, but for those that PostgreSQL keeps for each survey apart."""
WITH_TRACES = (*BY_NUMBER, "issuers", "sessions", "token_surveys", "tokens", "surveys")
"""All tables that are shared between surveys and have, or had, rows of a deleted one."""

LINKS = (
    "DELETE FROM tokens WHERE (maker IS NOT NULL OR role = 'collector') AND id IN (SELECT token FROM token_surveys"
    " GROUP BY token HAVING count(*) = 1 AND min(survey) = (SELECT id FROM surveys WHERE number = :number))"
)
"""Links and collectors of one survey alone: access tokens that are nobody's own."""
NOTE = (
    "INSERT INTO deletions (number, wipe_at) SELECT number, CAST(:wipe_at AS BIGINT) FROM surveys"
    " WHERE number = :number ON CONFLICT DO NOTHING"
)
DELETED = "SELECT number, wipe_at FROM deletions"
TAKE_ON = "UPDATE deletions SET wipe_at = :again WHERE wipe_at <= :now"
"""The server that changes a row by this wipes them all now; others may try again later."""
TRY_AGAIN_AFTER = 60
"""Seconds until a wiping is tried again."""
NIGHT = 3
"""The hour, by the clock of the server, when what can wait is wiped."""


def wipe_at(survey: Published, now: int) -> int:
    """When what is left of a survey that is deleted now is to be wiped. Test runs end all day long, and their answers
    are nobody's: theirs can wait for the night.
    """
    if survey.draft is None:
        return now
    time = datetime.fromtimestamp(now, UTC).astimezone()
    night = time.replace(hour=NIGHT, minute=0, second=0)
    return int((night if night > time else night + timedelta(days=1)).timestamp())


def deletion(survey: Published, now: int, apart: tuple[str, ...] = ()) -> list[Statement]:
    """The statements that delete the rows of a survey. Links to its results and collectors of it alone go too, with
    their sessions; people keep their access tokens, which are no longer for it. ``apart``: tables with its submissions,
    where they are not dropped. The last one deletes the survey itself.
    """
    number = {"number": survey.number}
    rows: list[Statement] = [(f"DELETE FROM {table} WHERE survey = :number", number) for table in (*apart, *BY_NUMBER)]  # noqa: S608 -- our own names
    return [
        (
            NOTE,
            number | {"wipe_at": wipe_at(survey, now)},
        ),
        *rows,
        ("DELETE FROM issuers WHERE survey = (SELECT id FROM surveys WHERE number = :number)", number),
        (LINKS, number),
        ("DELETE FROM surveys WHERE number = :number", number),
    ]


def wiped(numbers: list[int]) -> list[Statement]:
    """The statements that delete the notes of these."""
    return [("DELETE FROM deletions WHERE number = :number", {"number": number}) for number in numbers]
