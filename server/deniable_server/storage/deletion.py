"""Deleting a survey: what belongs to it, and in which order it goes.

First all rows go, in one transaction that notes the survey's number in ``deletions``: nobody ever sees half a survey.
Then each kind of database overwrites or drops what is left in its files, and only after that deletes the note. So a
crash in between is noticed, and the next server finishes the work.

May not: know which database it is.
"""

from __future__ import annotations

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
DELETED = "SELECT number FROM deletions"


def deletion(survey: Published, apart: tuple[str, ...] = ()) -> list[Statement]:
    """The statements that delete the rows of a survey. Links to its results and collectors of it alone go too, with
    their sessions; people keep their access tokens, which are no longer for it. ``apart``: tables with its submissions,
    where they are not dropped. The last one deletes the survey itself.
    """
    number = {"number": survey.number}
    rows: list[Statement] = [(f"DELETE FROM {table} WHERE survey = :number", number) for table in (*apart, *BY_NUMBER)]  # noqa: S608 -- our own names
    return [
        (
            "INSERT INTO deletions (number) SELECT number FROM surveys WHERE number = :number ON CONFLICT DO NOTHING",
            number,
        ),
        *rows,
        ("DELETE FROM issuers WHERE survey = (SELECT id FROM surveys WHERE number = :number)", number),
        (LINKS, number),
        ("DELETE FROM surveys WHERE number = :number", number),
    ]


def wiped(numbers: list[int]) -> list[Statement]:
    """The statements that delete the notes of these."""
    return [("DELETE FROM deletions WHERE number = :number", {"number": number}) for number in numbers]
