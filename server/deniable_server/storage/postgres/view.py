"""Reading from a PostgreSQL connection, and filling an empty database."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import psycopg

from deniable_server.storage import Row
from deniable_server.storage.location import Target
from deniable_server.storage.queries import View

from .names import for_survey, translated
from .schema import make_partitions

Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]

ROWS = 2_000
"""Rows that are fetched at a time."""


class PostgresView(View):
    """What a connection sees in its transaction."""

    errors = psycopg.Error

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._streams: list[Generator[tuple[Any, ...]]] = []

    def rows(self, statement: str, **values: object) -> list[tuple[Any, ...]]:
        return self._connection.execute(translated(statement), values).fetchall()

    def stream(self, statement: str, **values: object) -> Iterator[tuple[Any, ...]]:
        stream = self._streamed(f"stream_{len(self._streams)}", statement, values)
        self._streams.append(stream)
        return stream

    def _streamed(self, name: str, statement: str, values: dict[str, object]) -> Generator[tuple[Any, ...]]:
        with self._connection.cursor(name=name) as cursor:
            cursor.itersize = ROWS
            cursor.execute(translated(statement), values)
            yield from cursor

    def close(self) -> None:
        """End streams that were not read to the end, so that the connection can be used again."""
        for stream in self._streams:
            stream.close()

    def table(self, name: str, number: int) -> str:
        return f"{name}_{number}"  # the partition itself, so that readers never wait for changes to other surveys


class PostgresTarget(PostgresView, Target):
    """An empty database, in the transaction that fills it."""

    def write(self, statement: str, values: Iterable[Mapping[str, object]]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(translated(statement), list(values))

    def write_rows(self, number: int, rows: Sequence[Row]) -> None:
        self._connection.execute(
            for_survey(number, "INSERT INTO {sealed} SELECT {number}, * FROM unnest(%s::bytea[], %s::text[])"),
            ([row.id for row in rows], [row.content for row in rows]),
        )

    def make_tables(self, number: int) -> None:
        make_partitions(self._connection, number)
