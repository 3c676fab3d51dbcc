"""Connections to a PostgreSQL database: those that write, those that read, all of them durable.

May not: know what the tables are for.
"""

from __future__ import annotations

import logging
import os
import re
import weakref
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, LiteralString, TypeAlias

import psycopg
from psycopg import IsolationLevel
from psycopg.sql import SQL, Identifier
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from . import MOVED, StorageError, Unavailable
from .reading import View

log = logging.getLogger(__name__)

# psycopg and its pool log every connection that fails or was cut, while somebody waits for it: each line would note the
# time at which a respondent came. What an operator has to know is said here, once.
logging.getLogger("psycopg").setLevel(logging.CRITICAL)

Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]

SCHEMA = "deniable"
WRITERS, READERS = 3, 6
"""At most so many connections of each process: one commits for all who wait, the others are for closing and for people;
downloads cannot take those that submissions need."""

IMPATIENT = 0.5
"""Seconds to wait for a connection while the last attempt to write has failed: nobody gains by waiting longer."""

DURABLE = ("on", "remote_apply")
"""Values of synchronous_commit with which a commit is on disk, also on standbys that are to be waited for."""

ROWS = 2_000
"""Rows that are fetched at a time."""


class Locked(Unavailable):
    """Others hold a lock that was not given up in time."""


class Clashed(Unavailable):
    """PostgreSQL broke this transaction off for the sake of another; the next attempt may succeed."""


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
        """End the streams that nobody went through: their connection is to be another's."""
        for stream in self._streams:
            stream.close()

    def table(self, name: str, number: int) -> str:
        return f"{name}_{number}"  # the partition itself: whatever is done to another survey, its readers do not notice


@lru_cache(maxsize=10_000)
def of(number: int, statement: LiteralString) -> bytes:
    """A statement about the submissions of one survey, which are in tables of its own."""
    names = {name: Identifier(f"{name}_{number}") for name in ("inbox", "sealed", "anew", "anew_pkey")}
    return SQL(statement).format(number=number, **names).as_bytes(None)


def translated(statement: str) -> bytes:
    """Values are named in statements as :name, and psycopg has its own way of writing that."""
    return re.sub(r"(?<!:):([a-z_]+)", r"%(\1)s", statement).encode()


class Pool:
    """``writing`` and ``reading`` lend a connection for one transaction. While there is none, both raise Unavailable.

    They belong to one installation for good: where another is at the same address, nothing is read or acknowledged.
    """

    def __init__(self, address: str, patience: float) -> None:
        self.address, self.patience = address, patience
        self.installation: str | None = None
        self.write_failed = False
        self._pools: dict[str, ConnectionPool[Connection]] = {}
        self._inherited: list[object] = []
        _living.add(self)

    # --- connections -------------------------------------------------------------------------------------------------

    @property
    def _options(self) -> dict[str, Any]:
        return {
            "application_name": "deniable",
            "connect_timeout": max(2, int(self.patience)),  # libpq takes no less
            # A database that is gone without a word is noticed, though nobody else would say so.
            "keepalives_idle": 30,
            "keepalives_interval": 5,
            "keepalives_count": 3,
            "tcp_user_timeout": 15_000,
            # Statements are planned anew each time: a survey grows from nothing to millions under the same statement.
            "prepare_threshold": None,
        }

    def connect(self) -> Connection:
        """A connection outside the pool, for what is done once; StorageError where there is none to be had."""
        connection: Connection | None = None
        try:
            connection = psycopg.connect(self.address, **self._options)
            self._configure(connection)
        except psycopg.Error as error:
            if connection is not None:
                connection.close()
            raise explained(error) from None
        except BaseException:
            if connection is not None:
                connection.close()
            raise
        return connection

    def _configure(self, connection: Connection) -> None:
        """Have a new connection keep what it acknowledges, and read back that it does."""
        connection.isolation_level = IsolationLevel.READ_COMMITTED
        names = ["fsync", "full_page_writes", "synchronous_commit"]
        found = connection.execute("SELECT name, setting FROM pg_settings WHERE name = ANY(%s)", (names,))
        settings: dict[str, str] = dict(found.fetchall())
        if settings["synchronous_commit"] not in DURABLE:
            connection.execute("SET synchronous_commit = on")
        for name in ("fsync", "full_page_writes"):
            if settings[name] != "on":
                raise StorageError(
                    f"This PostgreSQL cannot promise durability: {name} is {settings[name]}. Turn it on: what is "
                    "acknowledged could be lost in a power cut"
                )
        connection.execute("SELECT set_config('search_path', %s, false)", (SCHEMA,))
        connection.execute("SELECT set_config('lock_timeout', %s, false)", (f"{self.patience}s",))
        if self.installation is not None:
            (found,) = connection.execute("SELECT id FROM installation").fetchone() or ("",)
            if found != self.installation:
                raise Unavailable("another installation is at this address now; start again")
        connection.commit()

    def _pool(self, name: str, size: int) -> ConnectionPool[Connection]:
        pool = self._pools.get(name)
        if pool is None:
            pool = ConnectionPool(
                self.address,
                kwargs=self._options,
                min_size=0,
                max_size=size,
                timeout=self.patience,
                configure=self._configure,
                check=ConnectionPool.check_connection,  # one that a restart has cut is not handed out
                reconnect_timeout=self.patience,  # then whoever comes next tries again at once
                max_idle=120,
                num_workers=1,
                open=False,
                name=f"deniable-{name}",
            )
            pool = self._pools.setdefault(name, pool)
            pool.open()
        return pool

    @contextmanager
    def _lent(self, name: str, size: int, patience: float) -> Iterator[Connection]:
        try:
            with self._pool(name, size).connection(timeout=patience) as connection:
                yield connection
        except (psycopg.Error, PoolTimeout, PoolClosed) as error:
            raise explained(error) from None

    @contextmanager
    def reading(self) -> Iterator[PostgresView]:
        """One state of the database throughout."""
        with self._lent("readers", READERS, IMPATIENT if self.write_failed else self.patience) as connection:
            connection.isolation_level, connection.read_only = IsolationLevel.REPEATABLE_READ, True
            view = PostgresView(connection)
            try:
                yield view
            finally:
                if not connection.closed:
                    view.close()
                    connection.rollback()
                    connection.isolation_level, connection.read_only = IsolationLevel.READ_COMMITTED, None

    @contextmanager
    def writing(self, *, housekeeping: bool = False) -> Iterator[Connection]:
        """A transaction that is on disk when the block has ended; each statement sees what is committed by then.

        That of housekeeping may fail without a word: it is no respondent's, and is tried again.
        """
        try:
            with self._lent("writers", WRITERS, IMPATIENT if self.write_failed else self.patience) as connection:
                yield connection
                connection.commit()
        except StorageError as error:
            if not housekeeping:
                self._note_failure(error)
            raise
        if self.write_failed and not housekeeping:
            log.warning("Writing works again")
            self.write_failed = False

    def _note_failure(self, trouble: StorageError) -> None:
        # Only the first of a row of failures is logged: each of the others would note a respondent's time.
        if not self.write_failed:
            log.error("Writing failed, and nothing is acknowledged until it works again: %s", trouble)
        self.write_failed = True

    def close(self) -> None:
        pools, self._pools = self._pools, {}
        for pool in pools.values():
            pool.close()

    def after_fork_in_child(self) -> None:
        """The parent's connections are not the child's to use, or to end: they are kept, untouched."""
        self._inherited.append(self._pools)
        self._pools = {}


def explained(error: Exception) -> StorageError:
    """PostgreSQL's error as one of ours. Its text is left out wherever it could quote a row: only its kind is said."""
    if isinstance(error, StorageError):
        return error
    if isinstance(error, PoolTimeout | PoolClosed):
        return Unavailable("PostgreSQL cannot be reached, or all connections to it are taken")
    assert isinstance(error, psycopg.Error)
    if error.sqlstate is None:  # not from the database: there is no connection, or no longer
        first = str(error).strip().splitlines()[:1]
        return Unavailable(f"PostgreSQL cannot be reached: {first[0] if first else type(error).__name__}")
    if error.sqlstate == FENCED:
        return Unavailable(MOVED)
    kind = f"PostgreSQL says {type(error).__name__} ({error.sqlstate})"
    # https://www.postgresql.org/docs/current/errcodes-appendix.html
    if error.sqlstate == "55P03":
        return Locked(kind)
    if error.sqlstate[:2] == "40":
        return Clashed(kind)
    if error.sqlstate[:2] in ("08", "25", "53", "55", "57", "58"):
        return Unavailable(kind)
    if error.sqlstate[:2] == "28" or error.sqlstate in ("3D000", "42501"):
        return StorageError(f"{kind}: check user, password, rights and the name of the database")
    return StorageError(kind)


FENCED = "DN001"
"""The state of errors by which a database that was moved refuses to be written."""

_living: weakref.WeakSet[Pool] = weakref.WeakSet()


def _forget_all() -> None:
    for pool in list(_living):
        pool.after_fork_in_child()


os.register_at_fork(after_in_child=_forget_all)
