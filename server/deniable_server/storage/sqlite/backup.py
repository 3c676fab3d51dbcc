"""Copies of a database that are there whole and verified, or not at all.

May not: change a database that is in use.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from sqlite_utils import Database

from deniable_server.errors import StorageError
from deniable_server.storage.files import sync
from deniable_server.storage.queries import find_damage

from .connections import refuse_leftovers
from .schema import migrations
from .view import SQLiteTarget, SQLiteView


def copy_database(connection: sqlite3.Connection, target: Path) -> None:
    """A compacted copy of everything, verified, while others go on reading and writing."""
    with finished(target, "the copy") as partial:
        # VACUUM INTO copies table by table, in key order: a backup shows nothing of arrival order.
        connection.execute("VACUUM INTO ?", (str(partial),))


@contextmanager
def filling(path: Path) -> Iterator[SQLiteTarget]:
    """A new database to fill; it gets its name when it is complete and verified."""
    with finished(path, "the copy") as partial, closing(sqlite3.connect(partial, isolation_level=None)) as connection:
        # Nobody else knows this file, and after a crash it is thrown away: its journal need not be on disk.
        connection.execute("PRAGMA journal_mode=MEMORY")
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("BEGIN IMMEDIATE")
        migrations.apply(Database(connection))
        connection.execute("PRAGMA defer_foreign_keys=ON")  # tokens may come before the tokens that made them
        yield SQLiteTarget(connection)
        connection.execute("COMMIT")


def restore(source: Path, target: Path) -> None:
    """Put a backup where a database belongs, once it is verified. Never overwrites one."""
    _refuse_incomplete(source)
    with finished(target, str(source)) as partial:
        shutil.copyfile(source, partial)


@contextmanager
def reading_backup(source: Path) -> Iterator[SQLiteView]:
    """A backup to read from, once it is verified."""
    _refuse_incomplete(source)
    _check_copy(source, str(source))
    with closing(_immutable(source)) as connection:
        yield SQLiteView(connection)


def _refuse_incomplete(source: Path) -> None:
    """StorageError unless this file is all of a database."""
    if not source.is_file():
        raise StorageError(f"{source} is not a file")
    for ending in ("-wal", "-journal"):
        if (log := source.with_name(source.name + ending)).exists() and log.stat().st_size:
            raise StorageError(
                f"{source} is the file of a database that is in use or crashed, and {log} has more of it. Make a "
                f"backup first:  deniable backup --database '{source}' --to FILE"
            )


@contextmanager
def finished(final: Path, name: str) -> Iterator[Path]:
    """A private file to fill; it gets its final name once it is verified."""
    _refuse_taken(final)
    partial = final.with_name(f".{final.name}.partial")
    try:
        partial.unlink(missing_ok=True)
        os.close(os.open(partial, os.O_CREAT | os.O_EXCL, 0o600))
        yield partial
        _check_copy(partial, name)
        sync(partial)
        _name(partial, final)
        sync(final.parent)
    except (OSError, sqlite3.Error) as error:
        if not final.parent.is_dir():
            raise StorageError(f"The folder {final.parent} does not exist") from None
        reason = error.strerror if isinstance(error, OSError) else error
        raise StorageError(f"{final} could not be written: {reason}. Nothing was left behind.") from None
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def _name(partial: Path, final: Path) -> None:
    """Unlike a rename, a link does not overwrite what came into being meanwhile; some file systems have none."""
    try:
        os.link(partial, final)
    except FileExistsError:
        raise
    except OSError:
        _refuse_taken(final)
        partial.rename(final)


def _refuse_taken(final: Path) -> None:
    if final.exists():
        raise StorageError(f"{final} exists already, and is not overwritten; move it away first, or use another path")
    refuse_leftovers(final)


def _check_copy(path: Path, name: str) -> None:
    connection = _immutable(path)
    try:
        refuse_foreign(Path(name), connection)
        damage = find_damage(SQLiteView(connection))
    except sqlite3.DatabaseError:
        raise StorageError(f"{name} is not a backup of Deniable's") from None
    finally:
        connection.close()
    if damage:
        raise StorageError(f"{name} is not sound: " + "; ".join(damage))


def _immutable(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.resolve().as_uri()}?immutable=1", uri=True)


def refuse_foreign(path: Path, connection: sqlite3.Connection) -> set[str]:
    """StorageError for a database of another program, or of a newer Deniable; otherwise its migrations so far."""
    tables = connection.execute("SELECT count(*) FROM sqlite_master WHERE type = 'table'").fetchone()[0]
    known = {migration.name for migration in migrations.pending(Database(sqlite3.connect(":memory:")))}
    applied = {migration.name for migration in migrations.applied(Database(connection))}
    if tables and not applied:
        raise StorageError(f"{path} is a database of another program; give Deniable a path of its own")
    if unknown := sorted(applied - known):
        raise StorageError(
            f"{path} was written by a newer Deniable (it has {unknown[0]}, which this version does not know). "
            "Install that version again, or restore a backup made before the upgrade to another path."
        )
    return applied
