"""Rows of submissions in PostgreSQL: insert, look up, remove. All in the caller's transaction.

May not: decide what becomes of a request.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg

from deniable_server.storage import Row

from .names import STORING, for_survey, lock_of
from .view import Connection


def lock(connection: Connection, number: int, *, alone: bool) -> None:
    """Until the end of the transaction: share the right to store for a survey, or have it alone. Taken in a statement
    before those that look: these then see what others stored who had it before.
    """
    take = "SELECT pg_advisory_xact_lock(%s)" if alone else "SELECT pg_advisory_xact_lock_shared(%s)"
    connection.execute(take, (lock_of(number, STORING),))


def insert(
    connection: Connection, number: int, rows: Sequence[Row], source: int, *, sealed: bool
) -> psycopg.Cursor[tuple[Any, ...]]:
    """Insert those that are new, if the survey is open. In id order, so that servers that insert the same rows wait for
    each other and do not deadlock. Sealed ones do not say whose they are.

    Each row looks for itself in the index of the other table: as a subquery, which is never planned as a join.
    """
    rows = sorted(rows)
    ids, contents = [row.id for row in rows], [row.content for row in rows]
    if sealed:
        return connection.execute(
            for_survey(
                number,
                "INSERT INTO {sealed} SELECT {number}, new.* FROM unnest(%b::bytea[], %b::text[]) AS new (id, content)"
                " WHERE (SELECT true FROM {inbox} WHERE survey = {number} AND id = new.id) IS NULL"
                " AND (SELECT status FROM surveys WHERE number = {number}) = 'open'"
                " ON CONFLICT DO NOTHING",
            ),
            (ids, contents),
        )
    return connection.execute(
        for_survey(
            number,
            "INSERT INTO {inbox} SELECT {number}, new.*, %s FROM unnest(%b::bytea[], %b::text[]) AS new (id, content)"
            " WHERE (SELECT true FROM {sealed} WHERE survey = {number} AND id = new.id) IS NULL"
            " AND (SELECT status FROM surveys WHERE number = {number}) = 'open'"
            " ON CONFLICT DO NOTHING",
        ),
        (source, ids, contents),
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
