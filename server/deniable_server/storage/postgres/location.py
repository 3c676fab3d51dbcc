"""PostgreSQL databases, before they are opened. The client of PostgreSQL may not be installed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from deniable_server.errors import StorageError
from deniable_server.storage import Storage
from deniable_server.storage.location import Location, Target
from deniable_server.storage.queries import View

if TYPE_CHECKING:
    from .view import Connection

PATIENCE = 5.0
"""Seconds to wait for a connection."""


class PostgresLocation(Location):
    """``postgresql://…``"""

    name = "PostgreSQL"

    def __init__(self, address: str) -> None:
        self.address = address
        self.argument = "ADDRESS" if re.search("password|:[^/@]*@", address) else f"'{address}'"

    def open(self, *, create: bool = True) -> Storage:
        try:
            from .storage import PostgresStorage
        except ImportError:
            raise _no_client() from None
        return PostgresStorage(self.address, create=create)

    @contextmanager
    def alone(self) -> Iterator[View]:
        with self._only_connection(create=False) as connection:
            from psycopg import IsolationLevel

            from .view import PostgresView

            connection.commit()
            connection.isolation_level, connection.read_only = IsolationLevel.REPEATABLE_READ, True
            yield PostgresView(connection)

    @contextmanager
    def filling(self) -> Iterator[Target]:
        with self._only_connection(create=True) as connection:
            from .view import PostgresTarget

            if connection.execute(
                "SELECT 1 FROM surveys UNION ALL SELECT 1 FROM tokens UNION ALL SELECT 1 FROM drafts LIMIT 1"
            ).fetchone():
                raise StorageError(
                    "The target has surveys, drafts or tokens already, and is not overwritten; use an empty one"
                )
            target = PostgresTarget(connection)
            yield target
            target.close()
            connection.execute("ANALYZE sealed")
            connection.commit()

    @contextmanager
    def _only_connection(self, *, create: bool) -> Iterator[Connection]:
        """In a transaction in which the schema is brought up to date."""
        try:
            import psycopg

            from .errors import explained
            from .pool import Pool
            from .schema import migrate
        except ImportError:
            raise _no_client() from None
        connection = Pool(self.address, PATIENCE).connect(alone=True)
        try:
            migrate(connection, create=create)
            yield connection
        except psycopg.Error as error:
            raise explained(error) from None
        finally:
            connection.close()

    def restore(self, backup: Path, key: str | None) -> None:
        from deniable_server.storage.sqlite.backup import reading_backup
        from deniable_server.storage.transfer import copy

        with reading_backup(backup, key) as view, self.filling() as target:
            copy(lambda *surveys: nullcontext(view), target)


def _no_client() -> StorageError:
    return StorageError("PostgreSQL needs its client:  pip install 'deniable[postgres]'")
