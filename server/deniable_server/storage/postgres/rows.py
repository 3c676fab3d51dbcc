"""Rows of submissions in PostgreSQL: insert, look up, remove. All in the caller's transaction.

May not: decide what becomes of a request.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, LiteralString

import psycopg

from deniable_server.storage import Row
from deniable_server.storage.fieldwork import TAKES

from .names import COUNTING, STORING, for_survey, lock_of
from .view import Connection

ROWS: LiteralString = "unnest(%(ids)b::bytea[], %(contents)b::text[]) AS new (id, content)"
OPEN: LiteralString = (
    f"(SELECT {TAKES.format(now='%(now)s::bigint', new='%(new)s::bigint')} FROM surveys WHERE number = {{number}})"  # noqa: S608 -- our own words
)


def lock(connection: Connection, number: int, *, alone: bool) -> None:
    """Until the end of the transaction: share the right to store for a survey, or have it alone. Taken in a statement
    before those that look: these then see what others stored who had it before.
    """
    if alone:
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (lock_of(number, STORING),))
        return
    connection.execute("SELECT pg_advisory_xact_lock_shared(%s)", (lock_of(number, STORING),))
    # Where a survey stops at a number, its submissions are stored one transaction after the other: each sees how many
    # there are. Whether it does is asked with the first lock in hand: before, somebody could be setting the number.
    connection.execute(
        "SELECT pg_advisory_xact_lock(%s) FROM surveys WHERE number = %s AND most IS NOT NULL",
        (lock_of(number, COUNTING), number),
    )


def insert(
    connection: Connection, number: int, rows: Sequence[Row], source: int, *, sealed: bool, new: int, now: int
) -> psycopg.Cursor[tuple[Any, ...]]:
    """Insert those that are new, if the survey takes so many ``new`` ones now. In id order, so that servers that insert
    the same rows wait for each other and do not deadlock. Sealed ones do not say whose they are.

    Each row looks for itself in the index of the other table: as a subquery, which is never planned as a join.
    """
    rows = sorted(rows)
    values = {"ids": [row.id for row in rows], "contents": [row.content for row in rows], "new": new, "now": now}
    if sealed:
        return connection.execute(
            for_survey(
                number,
                f"INSERT INTO {{sealed}} SELECT {{number}}, new.* FROM {ROWS}"  # noqa: S608 -- our own words
                " WHERE (SELECT true FROM {inbox} WHERE survey = {number} AND id = new.id) IS NULL"
                f" AND {OPEN} ON CONFLICT DO NOTHING",
            ),
            values,
        )
    return connection.execute(
        for_survey(
            number,
            f"INSERT INTO {{inbox}} SELECT {{number}}, new.*, %(source)s FROM {ROWS}"  # noqa: S608 -- our own words
            " WHERE (SELECT true FROM {sealed} WHERE survey = {number} AND id = new.id) IS NULL"
            f" AND {OPEN} ON CONFLICT DO NOTHING",
        ),
        values | {"source": source},
    )


def look_again(connection: Connection, number: int, rows: Sequence[Row]) -> psycopg.Cursor[tuple[Any, ...]]:
    """Whether commits are durable, whether the survey is open, and how many of these are sealed, as of now."""
    return connection.execute(
        for_survey(
            number,
            "SELECT {durable}, status = 'open',"
            " (SELECT count(*) FROM unnest(%b::bytea[]) AS mine (id)"
            " WHERE (SELECT true FROM {sealed} WHERE survey = {number} AND id = mine.id))"
            " FROM surveys WHERE number = {number}",
        ),
        ([row.id for row in rows],),
    )


def withdraw(connection: Connection, number: int, rows: Sequence[Row]) -> int:
    """Remove those from the inbox that are sealed."""
    return connection.execute(
        for_survey(
            number,
            "DELETE FROM {inbox} AS mine USING {sealed} AS known WHERE mine.survey = {number}"
            " AND mine.id = ANY(%s) AND known.survey = {number} AND known.id = mine.id",
        ),
        ([row.id for row in rows],),
    ).rowcount


def contents_of(connection: Connection, number: int, rows: Sequence[Row]) -> dict[bytes, str]:
    """What is stored under these ids."""
    found = connection.execute(
        for_survey(
            number,
            "SELECT id, content FROM {inbox} WHERE survey = {number} AND id = ANY(%(ids)s)"
            " UNION ALL SELECT id, content FROM {sealed} WHERE survey = {number} AND id = ANY(%(ids)s)",
        ),
        {"ids": [row.id for row in rows]},
    )
    return {bytes(submission): content for submission, content in found}
