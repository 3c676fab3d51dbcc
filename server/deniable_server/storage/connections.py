"""Connections to an SQLite file: one that writes, any number that read, all of them durable.

May not: know what the tables are for.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from . import StorageError, Unavailable

log = logging.getLogger(__name__)


class Connections:
    """``turn`` is held by the one thread that writes; ``reading`` needs no turn."""

    def __init__(self, path: Path, busy_seconds: float) -> None:
        self.path, self._busy_seconds = path, busy_seconds
        self._start_afresh()
        _living.add(self)

    def _start_afresh(self) -> None:
        """No connections and free locks: as at the beginning, and in a child after a fork."""
        self.turn = threading.Lock()
        self.write_failed_at: float | None = None
        self._writer: sqlite3.Connection | None = None
        self._readers: deque[sqlite3.Connection] = deque()

    def open(self) -> sqlite3.Connection:
        """A new connection, after reading back that it keeps what it acknowledges."""
        try:
            with suppress(FileExistsError):
                os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            connection = sqlite3.connect(
                self.path, timeout=self._busy_seconds, isolation_level=None, check_same_thread=False
            )
            connection.execute("PRAGMA foreign_keys=ON")
            connection.execute("PRAGMA secure_delete=ON")
            mode = self._enter_wal(connection)
            connection.execute("PRAGMA synchronous=FULL")
            (sync,) = connection.execute("PRAGMA synchronous").fetchone()
        except (OSError, sqlite3.Error) as error:
            raise explained(self.path, error) from None
        if (mode, sync) != ("wal", 2):
            connection.close()
            raise StorageError(
                f"{self.path} cannot promise durability: journal_mode is {mode} and synchronous is {sync}, "
                "not wal and 2 (FULL). Network file systems do not support WAL: use a local disk."
            )
        return connection

    def _enter_wal(self, connection: sqlite3.Connection) -> str:
        """The change to WAL needs the file for itself, and SQLite does not wait for that by itself."""
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
        try:
            connection = self._readers.pop()
        except IndexError:
            connection = self.open()
            connection.execute("PRAGMA query_only=ON")
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

    def _put_back(self, connection: sqlite3.Connection) -> None:
        connection.execute("ROLLBACK")
        self._readers.append(connection)

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction that is on disk when the block has ended. The caller holds the turn."""
        try:
            writer = self._write_connection()
            writer.execute("BEGIN IMMEDIATE")
            yield writer
            writer.execute("COMMIT")
        except BaseException as error:
            self._drop_writer()
            if isinstance(error, sqlite3.Error | StorageError):
                self._note_failure(trouble := explained(self.path, error))
                raise trouble from None
            raise
        if self.write_failed_at is not None:
            log.warning("Writing works again")
            self.write_failed_at = None

    def _write_connection(self) -> sqlite3.Connection:
        if self._writer is None:
            self._writer = self.open()
        return self._writer

    def _drop_writer(self) -> None:
        """After a failed write a connection may hold a broken state: the next transaction opens another."""
        writer, self._writer = self._writer, None
        if writer is not None:
            with suppress(sqlite3.Error):
                if writer.in_transaction:
                    writer.execute("ROLLBACK")
            writer.close()

    def _note_failure(self, trouble: StorageError) -> None:
        # Only the first of a row of failures is logged: each of the others would note a respondent's time.
        if self.write_failed_at is None:
            log.error("Writing failed, and nothing is acknowledged until it works again: %s", trouble)
        self.write_failed_at = time.monotonic()

    def cut_log(self, *, patient: bool) -> bool:
        """Move the write-ahead log into the file and cut it to nothing; False where a reader is in the way."""
        try:
            writer = self._write_connection()
            writer.execute(f"PRAGMA busy_timeout={int(self._busy_seconds * 1000) if patient else 50}")
            (busy, _, _) = writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            writer.execute(f"PRAGMA busy_timeout={int(self._busy_seconds * 1000)}")
        except sqlite3.Error as error:
            raise explained(self.path, error) from None
        return not busy

    def compact(self) -> None:
        """Write the whole file anew, every table in the order of its keys. The caller holds the turn."""
        try:
            self._write_connection().execute("VACUUM")
        except sqlite3.Error as error:
            raise explained(self.path, error) from None
        self.cut_log(patient=True)

    def close(self) -> None:
        with self.turn:
            self._drop_writer()
            while self._readers:
                self._readers.pop().close()


def explained(path: Path, error: Exception) -> StorageError:
    """SQLite's error as one of ours: what it means here, and whether waiting can help."""
    if isinstance(error, StorageError):
        return error
    if not path.parent.is_dir():
        return StorageError(f"The folder of {path} does not exist; make it, or choose another database")
    if path.is_dir():
        return StorageError(f"{path} is a folder; give the path of a file in it")
    if "not a database" in str(error):
        return StorageError(f"{path} is not an SQLite database; choose another path")
    return Unavailable(f"{path}: {error}")


_living: weakref.WeakSet[Connections] = weakref.WeakSet()
_parents: list[object] = []


def _after_fork() -> None:
    # SQLite forbids to use, or even to close, a parent's connection in a child: keep them, untouched.
    for connections in list(_living):
        _parents.extend((connections._writer, connections._readers))
        connections._start_afresh()


os.register_at_fork(after_in_child=_after_fork)
