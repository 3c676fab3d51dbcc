"""Rows of submissions in PostgreSQL: insert, look up, remove. All in the caller's transaction.

May not: decide what becomes of a request.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg

from deniable_server.storage import Row

from .names import for_survey
from .view import Connection


def insert(connection: Connection, number: int, rows: Sequence[Row], source: int) -> psycopg.Cursor[tuple[Any, ...]]:
    """Insert those that are new, if the survey is open. In id order, so that servers that insert the same rows wait for
    each other and do not deadlock.
    """
    rows = sorted(rows)
    return connection.execute(
        for_survey(
            number,
            "INSERT INTO {inbox} SELECT {number}, new.*, %s FROM unnest(%s::bytea[], %s::text[]) AS new (id, content)"
            " WHERE NOT EXISTS (SELECT 1 FROM {sealed} WHERE survey = {number} AND id = new.id)"
            " AND (SELECT status FROM surveys WHERE number = {number}) = 'open'"
            " ON CONFLICT DO NOTHING",
        ),
        (source, [row.id for row in rows], [row.content for row in rows]),
    )


def look_again(connection: Connection, number: int, rows: Sequence[Row]) -> psycopg.Cursor[tuple[Any, ...]]:
    """Whether commits are durable, whether the survey is open, and how many of these are sealed, as of now."""
    return connection.execute(
        for_survey(
            number,
            "SELECT {durable}, status = 'open',"
            " (SELECT count(*) FROM {sealed} WHERE survey = {number} AND id = ANY(%s))"
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
