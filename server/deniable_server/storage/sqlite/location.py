"""SQLite files, before they are opened."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

from deniable_server.storage.location import Location, Target, in_use

from .backup import filling, restore
from .connections import explained
from .storage import SQLiteStorage
from .view import SQLiteView


class SQLiteLocation(Location):
    """A path."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name, self.argument = str(path), f"'{path}'"
        # Beside the database, and never in it or in its backups: with the key, somebody could forge forms.
        self.key_file = path.with_name(path.name + ".key")

    def exists(self) -> bool:
        return self.path.exists()

    def files(self) -> list[Path]:
        return [file for file in (self.path, Path(f"{self.path}-wal"), Path(f"{self.path}-shm")) if file.exists()]

    def open(self, *, create: bool = True) -> SQLiteStorage:
        return SQLiteStorage(self.path, create=create)

    @contextmanager
    def alone(self) -> Iterator[SQLiteView]:
        self.open(create=False).close()
        uri = f"{self.path.absolute().as_uri()}?mode=rw"
        with closing(sqlite3.connect(uri, uri=True, timeout=1, isolation_level=None)) as connection:
            try:
                # Every open storage has a connection that has read (the index keeper), and so a shared lock on the
                # file. This takes an exclusive one, which the system drops when the process ends, however it ends.
                connection.execute("PRAGMA locking_mode=EXCLUSIVE")
                connection.execute("BEGIN EXCLUSIVE")
            except sqlite3.Error as error:
                raise (in_use(self.name) if "locked" in str(error) else explained(self.path, error)) from None
            yield SQLiteView(connection)

    def filling(self) -> AbstractContextManager[Target]:
        return filling(self.path)

    def restore(self, backup: Path, key: str | None) -> None:
        restore(backup, self.path, key)
