"""Connections to an SQLite file: one that writes, any number that read, all of them durable.

May not: know what the tables are for.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from deniable_server.errors import StorageError, Unavailable
from deniable_server.storage.files import sync
from deniable_server.storage.trouble_log import TroubleLog

STATEMENTS = 512
"""Statements that a connection keeps ready: there is one for each number of rows that are inserted together."""


class Connections:
    """The one thread that writes holds ``turn``; ``reading`` needs no turn.

    They are for one file only: if it is moved away or replaced, nothing is read or acknowledged any more.
    """

    def __init__(self, path: Path, busy_seconds: float, trouble: TroubleLog, *, create: bool) -> None:
        self.path, self._busy_seconds, self._trouble = path, busy_seconds, trouble
        self.write_failed = False
        self.turn = threading.RLock()
        self._writer: sqlite3.Connection | None = None
        self._keeper: sqlite3.Connection | None = None
        self._readers: deque[sqlite3.Connection] = deque()
        try:
            if create and not path.exists():
                _create(path)
            self._file = _identity(path)
        except OSError as error:
            raise explained(path, error) from None

    def _check_file(self) -> None:
        """Unavailable if the file with this name is not the one that was opened."""
        try:
            same = _identity(self.path) == self._file
        except OSError:
            same = False
        if not same:
            raise Unavailable(f"{self.path} was moved away or replaced while in use; put it back, or start again")

    def open(self) -> sqlite3.Connection:
        """A new connection, after reading back that its commits are durable."""
        self._check_file()
        connection = None
        try:
            # mode=rw: SQLite never makes a file itself, and so never takes an old log for that of a new database.
            location = f"{self.path.absolute().as_uri()}?mode=rw"
            connection = sqlite3.connect(
                location,
                uri=True,
                timeout=self._busy_seconds,
                isolation_level=None,
                check_same_thread=False,
                cached_statements=STATEMENTS,
            )
            connection.execute("PRAGMA foreign_keys=ON")
            connection.execute("PRAGMA secure_delete=ON")
            mode = self._enter_wal(connection)
            connection.execute("PRAGMA synchronous=FULL")
            (sync,) = connection.execute("PRAGMA synchronous").fetchone()
        except (OSError, sqlite3.Error) as error:
            if connection is not None:
                connection.close()
            raise explained(self.path, error) from None
        if (mode, sync) != ("wal", 2):
            connection.close()
            raise StorageError(
                f"{self.path} cannot promise durability: journal_mode is {mode} and synchronous is {sync}, "
                "not wal and 2 (FULL). Network file systems do not support WAL: use a local disk."
            )
        return connection

    def _enter_wal(self, connection: sqlite3.Connection) -> str:
        """Switching to WAL needs an exclusive lock, and SQLite does not wait for that by itself."""
        deadline = time.monotonic() + self._busy_seconds
        while True:
            try:
                return str(connection.execute("PRAGMA journal_mode=WAL").fetchone()[0])
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that sees one state of the database throughout."""
        self._check_file()
        connection = self._reader()
        try:
            connection.execute("BEGIN")
            yield connection
        except sqlite3.Error as error:
            connection.close()
            raise explained(self.path, error) from None
        except BaseException:  # the reader's own trouble: the connection is still good
            self._put_back(connection)
            raise
        self._put_back(connection)

    def _reader(self) -> sqlite3.Connection:
        try:
            return self._readers.pop()
        except IndexError:
            connection = self.open()
            connection.execute("PRAGMA query_only=ON")
            return connection

    def _put_back(self, connection: sqlite3.Connection) -> None:
        connection.execute("ROLLBACK")
        self._readers.append(connection)

    @contextmanager
    def writing(self, *, housekeeping: bool = False) -> Iterator[sqlite3.Connection]:
        """A transaction that is on disk when the block has ended. The caller has the turn.

        Housekeeping may fail quietly: nobody waits for it, and it is tried again.
        """
        try:
            self._check_file()
            writer = self._write_connection()
            writer.execute("BEGIN IMMEDIATE")
            yield writer
            writer.execute("COMMIT")
        except BaseException as error:
            self._drop_writer()
            if isinstance(error, sqlite3.Error | StorageError):
                trouble = explained(self.path, error)
                if not housekeeping:
                    self.write_failed = True
                    self._trouble.failed("Writing", str(trouble))
                raise trouble from None
            raise
        if self.write_failed and not housekeeping:
            self.write_failed = False
            self._trouble.works("Writing")

    def _write_connection(self) -> sqlite3.Connection:
        if self._writer is None:
            self._writer = self.open()
        self.keep_index()
        return self._writer

    def keep_index(self) -> None:
        """Keep one connection open that does nothing: while there is one, the index of the log is not rebuilt from the
        log, and nobody else gets the file for itself alone, as ``deniable move`` must.
        """
        if self._keeper is None:
            self._keeper = self._index_keeper()

    def _index_keeper(self) -> sqlite3.Connection:
        """Why a rebuilt index would lose submissions:

        When a sync fails, its commit may be in the log and yet never reach the disk, whatever syncs succeed later. The
        index does not know of it, and the next commit overwrites it. A rebuilt index would: later commits would come
        after it, be acknowledged, and be lost behind it in a power cut.
        """
        keeper = self.open()
        try:
            keeper.execute("SELECT 1 FROM sqlite_master").fetchone()  # a connection has its lock from its first read on
        except sqlite3.Error as error:
            keeper.close()
            raise explained(self.path, error) from None
        return keeper

    def _drop_writer(self) -> None:
        """After a failed write, a connection may be in a broken state: the next transaction opens another."""
        writer, self._writer = self._writer, None
        if writer is not None:
            with suppress(sqlite3.Error):
                if writer.in_transaction:
                    writer.execute("ROLLBACK")
            writer.close()

    def empty_log(self) -> None:
        """Copy the write-ahead log into the file, as far as others allow it, while they go on writing. Cutting it then
        takes only a moment.
        """
        self._check_file()
        connection = self._reader()
        try:
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        except sqlite3.Error as error:
            connection.close()
            raise explained(self.path, error) from None
        self._readers.append(connection)

    def cut_log(self) -> bool:
        """Copy the write-ahead log into the file and truncate it; False if a reader is in the way."""
        with self.turn:
            try:
                writer = self._write_connection()
                writer.execute("PRAGMA busy_timeout=50")  # others want to write meanwhile
                (busy, _, _) = writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                writer.execute(f"PRAGMA busy_timeout={int(self._busy_seconds * 1000)}")
            except sqlite3.Error as error:
                self._drop_writer()
                raise explained(self.path, error) from None
        return not busy

    def compact(self) -> None:
        """Rewrite the whole file, every table in key order, and wipe the log. Unavailable where a reader is in the way.

        Rewriting puts a copy of the whole file into the log. Where the log cannot be cut after that, the disk fills: so
        this is tried before.
        """
        self._wait_to_cut_log()
        with self.turn:
            try:
                self._write_connection().execute("VACUUM")
            except sqlite3.Error as error:
                self._drop_writer()
                raise explained(self.path, error) from None
        self._wait_to_cut_log()

    def _wait_to_cut_log(self) -> None:
        """Cut the log, once readers have ended. The caller does not have the turn: others go on writing meanwhile."""
        deadline = time.monotonic() + self._busy_seconds
        while not self.cut_log():
            if time.monotonic() > deadline:
                raise Unavailable(
                    "a download is under way, and keeps the log from being wiped; try again when it has ended"
                )
            time.sleep(0.2)

    def close(self) -> None:
        with self.turn:
            self._drop_writer()
            if self._keeper is not None:
                self._keeper.close()
                self._keeper = None
            while self._readers:
                self._readers.pop().close()


def explained(path: Path, error: Exception) -> StorageError:
    """SQLite's error as one of ours: what it means here, and whether trying again can help."""
    if isinstance(error, StorageError):
        return error
    if not path.parent.is_dir():
        return StorageError(f"The folder of {path} does not exist; make it, or choose another database")
    if path.is_dir():
        return StorageError(f"{path} is a folder; give the path of a file in it")
    if isinstance(error, FileNotFoundError):
        return StorageError(f"There is no database at {path}")
    if "not a database" in str(error):
        return StorageError(f"{path} is not an SQLite database; choose another path")
    if "is locked" in str(error):
        return Unavailable(f"{path} is locked: another process writes for too long, or  deniable move  is using it")
    return Unavailable(f"{path}: {error}")


def refuse_leftovers(path: Path) -> None:
    """StorageError if the log of an earlier database is here: SQLite would take it for that of a new one."""
    for ending in ("-wal", "-shm", "-journal"):
        if (left := path.with_name(path.name + ending)).exists():
            raise StorageError(
                f"{left} is left from the database that was here, and may have submissions of it. Move the database "
                "and all files whose names start like it together, or use another path"
            )


def _create(path: Path) -> None:
    """Make an empty file for its owner only, unless another process just did."""
    try:
        refuse_leftovers(path)
    except StorageError:
        if not path.exists():
            raise
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    # Its name must be on disk before SQLite makes other files: after a power cut, those would be leftovers without it.
    sync(path.parent)


def _identity(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_dev, status.st_ino
