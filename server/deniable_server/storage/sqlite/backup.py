"""Copies of a database that are there whole and verified, or not at all.

May not: change a database that is in use.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sqlite_utils import Database

from deniable_server.errors import StorageError
from deniable_server.storage.files import put, sync, workshop
from deniable_server.storage.queries import find_damage

from .connections import refuse_leftovers
from .schema import migrations
from .tag import append_tag, copy_untagged
from .view import SQLiteTarget, SQLiteView


def copy_database(connection: sqlite3.Connection, target: Path, key: str) -> None:
    """A backup: a compacted copy of everything, verified and tagged, while others go on reading and writing."""
    with finished(target, "the copy", key) as partial:
        # VACUUM INTO copies table by table, in key order: a backup shows nothing of arrival order.
        connection.execute("VACUUM INTO ?", (str(partial),))


@contextmanager
def filling(path: Path, key: str | None = None) -> Iterator[SQLiteTarget]:
    """A new database to fill, or with a key a backup; it gets its name when it is complete and verified."""
    with (
        finished(path, "the copy", key) as partial,
        closing(sqlite3.connect(partial, isolation_level=None)) as connection,
    ):
        # Nobody else knows this file, and after a crash it is thrown away: its journal need not be on disk.
        connection.execute("PRAGMA journal_mode=MEMORY")
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("BEGIN IMMEDIATE")
        migrations.apply(Database(connection))
        connection.execute("PRAGMA defer_foreign_keys=ON")  # tokens may come before the tokens that made them
        yield SQLiteTarget(connection)
        connection.execute("COMMIT")


def restore(source: Path, target: Path, key: str | None) -> None:
    """Put a backup where a database belongs, once it is verified. Never overwrites one.

    StorageError where it was not made with this key; None restores it without this check.
    """
    with finished(target, str(source)) as partial:
        _copy_backup(source, partial, key)


@contextmanager
def reading_backup(source: Path, key: str | None) -> Iterator[SQLiteView]:
    """A backup to read from, once it is verified: from a copy that nobody else can change meanwhile."""
    with tempfile.TemporaryDirectory() as folder:
        private = Path(folder) / "backup.db"
        _new(private)
        _copy_backup(source, private, key)
        _check_copy(private, str(source))
        with closing(_immutable(private)) as connection:
            yield SQLiteView(connection)


def _copy_backup(source: Path, target: Path, key: str | None) -> None:
    """Copy the database in a backup. StorageError where it is no backup, or not one that was made with this key."""
    if not source.is_file():
        raise StorageError(f"{source} is not a file")
    with source.open("rb") as file:
        header = file.read(20)
        if not header.startswith(b"SQLite format 3\0"):
            raise StorageError(f"{source} is not a backup of Deniable's")
        _refuse_bare_copy(source, header)
        copy_untagged(file, target, str(source), key)


def _refuse_bare_copy(source: Path, header: bytes) -> None:
    """A database in use is in WAL mode (2, 2 in its header), and part of it may be in the log; backups are not."""
    logs = [log for ending in ("-wal", "-shm", "-journal") if (log := source.with_name(source.name + ending)).exists()]
    if header[18:20] == b"\2\2" or logs:
        raise StorageError(
            f"{source} is a bare copy of a database, or the database itself, and not a backup. Submissions that were "
            "acknowledged may be missing in it. Nothing was restored. Make a backup of the database instead:  deniable "
            f"backup --database DATABASE --to FILE.  If all servers were stopped when this copy was made, and "
            f"{source}-wal was copied too if there was one, this makes a backup of it:  deniable backup --database "
            f"'{source}' --to FILE"
        )


@contextmanager
def finished(final: Path, name: str, key: str | None = None) -> Iterator[Path]:
    """A private file to fill; it gets its final name once it is verified, and tagged if there is a key for that."""
    _refuse_taken(final)
    try:
        with workshop(final.parent) as folder:
            partial = folder / "partial"
            _new(partial)
            yield partial
            _check_copy(partial, name)
            if key is not None:
                append_tag(partial, key)
            sync(partial)
            put(partial, final)
            sync(final.parent)
    except (OSError, sqlite3.Error) as error:
        if not final.parent.is_dir():
            raise StorageError(f"The folder {final.parent} does not exist") from None
        reason = error.strerror if isinstance(error, OSError) else error
        raise StorageError(f"{final} could not be written: {reason}. Nothing was left behind.") from None


def _new(path: Path) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600))


def _refuse_taken(final: Path) -> None:
    if os.path.lexists(final):
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
    return sqlite3.connect(f"{path.resolve().as_uri()}?immutable=1", uri=True, isolation_level=None)


def refuse_foreign(path: Path, connection: sqlite3.Connection) -> set[str]:
    """StorageError for a database of another program, of a newer Deniable, or with anything in it that Deniable does
    not make, such as a trigger; otherwise its migrations so far.
    """
    connection.execute("BEGIN")  # one state, while another process may be migrating
    try:
        schema, applied = _schema(connection), {each.name for each in migrations.applied(Database(connection))}
    finally:
        connection.execute("ROLLBACK")
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as memory:
        blank = Database(memory)
        known = {migration.name for migration in migrations.pending(blank)}
        if schema and not applied:
            raise StorageError(f"{path} is a database of another program; give Deniable a path of its own")
        if unknown := sorted(applied - known):
            raise StorageError(
                f"{path} was written by a newer Deniable (it has {unknown[0]}, which this version does not know). "
                "Install that version again, or restore a backup made before the upgrade to another path."
            )
        if applied:
            migrations.apply(blank, stop_before=known - applied)
        if differing := sorted({f"{kind} {name}" for kind, name, *_ in schema ^ _schema(memory)}):
            raise StorageError(
                f"{path} has or lacks something that Deniable makes otherwise ({', '.join(differing)}): somebody has "
                "altered the database. Nothing in it can be relied on; restore a backup"
            )
    return applied


def _schema(connection: sqlite3.Connection) -> set[tuple[str, str, str, str | None]]:
    """Every table, index, trigger and view, with the words that made it."""
    return set(connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master"))
