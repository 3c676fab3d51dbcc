"""Where a database is: what differs between kinds of databases before one is opened."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from deniable_server.errors import StorageError

from . import Row, Storage
from .queries import View


class Target(View):
    """An empty database that is filled in one transaction: what was written so far can be read."""

    @abstractmethod
    def write(self, statement: str, values: Iterable[Mapping[str, object]]) -> None:
        """Run this statement once for each of these."""

    @abstractmethod
    def write_rows(self, number: int, rows: Sequence[Row]) -> None:
        """Add submissions to the survey of this number, in id order, as folded."""

    def make_tables(self, number: int) -> None:
        """Make the tables of the survey of this number, where each survey has its own."""


class Location(ABC):
    """The address of a database."""

    name: str
    """For messages: where it is, without a password."""

    argument: str
    """As it is given to ``--database``, without a password."""

    key_file: Path | None = None
    """The file for the secret key of its servers; None where the database itself keeps it."""

    def exists(self) -> bool:
        """False where there is certainly no database; otherwise only opening it shows."""
        return True

    def files(self) -> list[Path]:
        """The files on this machine that it consists of, the main one first."""
        return []

    @abstractmethod
    def open(self, *, create: bool = True) -> Storage:
        """The storage; made where there is none, if that is wanted."""

    @abstractmethod
    def alone(self) -> AbstractContextManager[View]:
        """Read it while nobody else can use it. StorageError where a server or another command has it open."""

    @abstractmethod
    def filling(self) -> AbstractContextManager[Target]:
        """Fill it while nobody else can use it: all of it is there at the end of the block, or nothing.

        StorageError where it is in use or has surveys or tokens already.
        """

    @abstractmethod
    def restore(self, backup: Path, key: str | None) -> None:
        """Put a backup here, once it is verified. Never overwrites anything.

        StorageError where it was not made with this key; None restores it without this check.
        """


def in_use(name: str) -> StorageError:
    return StorageError(
        f"{name} is in use. Stop the servers and commands that use it, and try again. Nothing was changed."
    )


def locate(url: str) -> Location:
    """The place that a path, ``sqlite:///path`` or ``postgresql://…`` names."""
    from .postgres.location import PostgresLocation
    from .sqlite.location import SQLiteLocation

    scheme, separator, rest = url.partition("://")
    if url == ":memory:":
        raise StorageError("a server needs a database in a file")
    if not separator:
        if re.match("postgres(ql)?:", url):
            raise StorageError("a PostgreSQL address has two slashes: postgresql://USER@HOST/DATABASE")
        return SQLiteLocation(Path(url))
    if scheme == "sqlite":
        if not rest.startswith("/"):
            raise StorageError("an SQLite address has three slashes (sqlite:///relative) or four (sqlite:////absolute)")
        return SQLiteLocation(Path(rest.removeprefix("/")))
    if scheme in ("postgresql", "postgres"):
        return PostgresLocation(url)
    raise StorageError(f"{scheme}:// is not a known kind of database; use a path, sqlite:///path or postgresql://…")
