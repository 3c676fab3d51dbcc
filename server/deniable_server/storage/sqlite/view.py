"""Reading from an SQLite connection, and filling a new file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from deniable_server.storage import Row
from deniable_server.storage.location import Target
from deniable_server.storage.queries import View


class SQLiteView(View):
    """What a connection sees in its transaction."""

    errors = sqlite3.Error

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def rows(self, statement: str, **values: object) -> list[tuple[Any, ...]]:
        return self._connection.execute(statement, values).fetchall()

    def stream(self, statement: str, **values: object) -> Iterator[tuple[Any, ...]]:
        return self._connection.execute(statement, values)

    def damage(self) -> list[str]:
        return [str(row[0]) for row in self._connection.execute("PRAGMA integrity_check") if row[0] != "ok"]


class SQLiteTarget(SQLiteView, Target):
    """A new file, in the transaction that fills it."""

    def write(self, statement: str, values: Iterable[Mapping[str, object]]) -> None:
        self._connection.executemany(statement, values)

    def write_rows(self, number: int, rows: Sequence[Row]) -> None:
        self._connection.executemany("INSERT INTO sealed VALUES (?, ?, ?)", ((number, *row) for row in rows))
