"""Connections to a PostgreSQL database: those that write, those that read, all of them durable.

May not: know what the tables are for.
"""

from __future__ import annotations

import logging
import os
import re
import time
import weakref
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from typing import Any, LiteralString, TypeAlias

import psycopg
from psycopg import IsolationLevel
from psycopg.conninfo import conninfo_to_dict
from psycopg.sql import SQL, Identifier
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from deniable_server.errors import StorageError, Unavailable
from deniable_server.storage import STANDINGS
from deniable_server.storage.queries import View

log = logging.getLogger(__name__)

# psycopg and its pool log every connection that fails or was cut, while somebody waits for it: each line would note the
# time at which a respondent came. What an operator has to know is said here, once.
logging.getLogger("psycopg").setLevel(logging.CRITICAL)

Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]

SCHEMA = "deniable"
SIZES = {"storing": 2, "housekeeping": 2, "reading": 5}
"""At most so many connections of each process, for what they do: neither downloads nor closings can take those that
submissions need."""

RETRY = 1.0
"""Seconds after which a pool gives up a connection that cannot be made; whoever waits then has it tried again."""

IMPATIENT = 0.5
"""Seconds to wait for a connection while the last attempt to write has failed: nobody gains by waiting longer."""

ROWS = 2_000
"""Rows that are fetched at a time."""


DURABLE = SQL("current_setting('fsync') = 'on' AND current_setting('full_page_writes') = 'on'")
NOT_DURABLE = (
    "This PostgreSQL cannot promise durability: fsync or full_page_writes is off. Turn them on: what is acknowledged "
    "could be lost in a power cut"
)


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
    return SQL(statement).format(number=number, durable=DURABLE, **names).as_bytes(None)


def translated(statement: str) -> bytes:
    """Values are named in statements as :name, and psycopg has its own way of writing that."""
    return re.sub(r"(?<!:):([a-z_]+)", r"%(\1)s", statement).encode()


class Pool:
    """``writing`` and ``reading`` lend a connection for one transaction. While there is none, both raise Unavailable.

    They belong to one installation for good: where another is at the same address, nothing is read or acknowledged.
    """

    def __init__(self, address: str, patience: float) -> None:
        _check_address(address)
        self.address, self.patience = address, patience
        self.installation: str | None = None
        self.write_failed = False
        self._away: set[str] = set()
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
        with ExitStack() as opened:
            try:
                connection = psycopg.connect(self.address, **self._options)
                opened.callback(connection.close)
                self._configure(connection)
            except psycopg.Error as error:
                raise explained(error) from None
            opened.pop_all()
        return connection

    def _configure(self, connection: Connection) -> None:
        """Have a new connection keep what it acknowledges, and read back that it does."""
        connection.isolation_level = IsolationLevel.READ_COMMITTED
        # Said by the connection itself: what it would inherit can be changed while it is open. With a standby that is
        # to be waited for, both values wait for its disk, too.
        connection.execute(
            "SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit')"
            " WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false)"
        )
        if connection.execute(SQL("SELECT {}").format(DURABLE)).fetchone() != (True,):
            raise StorageError(NOT_DURABLE)
        connection.execute("SELECT set_config('search_path', %s, false)", (SCHEMA,))
        connection.execute("SELECT set_config('lock_timeout', %s, false)", (f"{self.patience}s",))
        if self.installation is not None:
            (found,) = connection.execute("SELECT id FROM installation").fetchone() or ("",)
            if found != self.installation:
                raise Unavailable("another installation is at this address now; start again")
        connection.commit()

    def _pool(self, name: str) -> ConnectionPool[Connection]:
        pool = self._pools.get(name)
        if pool is None:
            pool = ConnectionPool(
                self.address,
                kwargs=self._options,
                # One is always there: PostgreSQL may log when connections are made, which is not to be when somebody
                # comes to answer.
                min_size=1 if name == "storing" else 0,
                max_size=SIZES[name],
                configure=self._configure,
                reconnect_timeout=RETRY,
                max_idle=120,
                num_workers=1,
                open=False,
                name=f"deniable-{name}",
            )
            pool = self._pools.setdefault(name, pool)
            pool.open()
        return pool

    @contextmanager
    def _lent(self, name: str, patience: float | None = None) -> Iterator[Connection]:
        pool = self._pool(name)
        if patience is None:
            patience = IMPATIENT if self.write_failed or name in self._away else self.patience
        try:
            connection = self._taken(name, pool, patience)
            try:
                yield connection
            finally:
                try:
                    if not connection.closed:
                        connection.rollback()
                finally:  # one that turns out to be cut just now goes back all the same: there are few
                    pool.putconn(connection)
        except (psycopg.Error, PoolTimeout, PoolClosed) as error:
            raise explained(error) from None

    def _taken(self, name: str, pool: ConnectionPool[Connection], patience: float) -> Connection:
        """A connection that is alive."""
        try:
            connection = self._next(pool, patience)
            try:
                ConnectionPool.check_connection(connection)
            except psycopg.Error:  # a restart has cut it, and all others as well
                pool.putconn(connection)
                pool.drain()
                connection = self._next(pool, patience)
        except PoolTimeout:
            if name not in self._away:  # only the first of a row
                log.error("There is no connection to PostgreSQL for %s", name)
            self._away.add(name)
            raise
        self._away.discard(name)
        return connection

    @staticmethod
    def _next(pool: ConnectionPool[Connection], patience: float) -> Connection:
        deadline = time.monotonic() + patience
        while True:
            left = deadline - time.monotonic()
            try:
                return pool.getconn(timeout=max(0.01, min(left, RETRY)))
            except PoolTimeout:
                if left <= RETRY:
                    raise

    @contextmanager
    def reading(self, *surveys: int) -> Iterator[PostgresView]:
        """One state of the database throughout. Of the submissions only these surveys', by number, may be read."""
        with self._lent("reading") as connection:
            connection.isolation_level, connection.read_only = IsolationLevel.REPEATABLE_READ, True
            view = PostgresView(connection)
            try:
                for number in surveys:
                    # Before the state is chosen, which the first query does: a closing puts new tables in the place of
                    # these, and to a state from before it, those are empty.
                    connection.execute(of(number, "LOCK TABLE {inbox}, {sealed} IN ACCESS SHARE MODE"))
                yield view
            finally:
                if not connection.closed:
                    view.close()
                    connection.rollback()
                    connection.isolation_level, connection.read_only = IsolationLevel.READ_COMMITTED, None

    @contextmanager
    def writing(self, *, quietly: bool = False) -> Iterator[Connection]:
        """A transaction that is on disk when the block has ended; each statement sees what is committed by then.

        What is done quietly may fail without a word: it is no respondent's, and is tried again.
        """
        try:
            with self._lent("storing") as connection:
                yield connection
                connection.commit()
        except Unavailable as error:
            if not quietly:
                self._note_failure(error)
            raise
        if self.write_failed and not quietly:
            log.warning("Writing works again")
            self.write_failed = False

    @contextmanager
    def keeping(self, patience: float | None = None) -> Iterator[Connection]:
        """The same for housekeeping, which may take long."""
        with self._lent("housekeeping", patience) as connection:
            yield connection
            connection.commit()

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
    if isinstance(error, psycopg.DataError) and error.sqlstate is None:
        return StorageError("A text has a character that PostgreSQL cannot keep")
    if isinstance(error, PoolTimeout | PoolClosed):
        return Unavailable("PostgreSQL cannot be reached, or all connections to it are taken")
    assert isinstance(error, psycopg.Error)
    if error.sqlstate is None:  # not from a statement: there is no connection, or no longer
        _, refused, reason = str(error).partition("FATAL:")
        if refused:
            return Unavailable(f"PostgreSQL refuses: {reason.strip().splitlines()[0]}")
        first = str(error).strip().splitlines()[:1]
        advice = "; the password belongs in PGPASSWORD or ~/.pgpass" if "no password" in str(error) else ""
        return Unavailable(f"PostgreSQL cannot be reached: {first[0] if first else type(error).__name__}{advice}")
    if error.sqlstate == FENCED:
        return Unavailable(STANDINGS["moving" if error.diag.message_primary == "moving" else "moved"])
    kind = f"PostgreSQL says {type(error).__name__} ({error.sqlstate})"
    # https://www.postgresql.org/docs/current/errcodes-appendix.html
    if error.sqlstate == "55P03":
        return Locked(kind)
    if error.sqlstate[:2] == "40":
        return Clashed(kind)
    if error.sqlstate[:2] in ("08", "25", "53", "55", "57", "58"):
        return Unavailable(kind)
    if error.sqlstate[:2] == "28" or error.sqlstate in ("3D000", "42501"):
        return StorageError(
            f"{kind}: the user must own the database, or be granted CREATE on it and all that is in the schema {SCHEMA}"
        )
    return StorageError(kind)


def _check_address(address: str) -> None:
    """StorageError for what is no address; libpq would repeat what it does not understand, passwords included."""
    try:
        parts = conninfo_to_dict(address)
    except psycopg.Error as error:
        if "invalid URI query parameter" in str(error):
            raise StorageError(f"The address of PostgreSQL has an {str(error).strip()}") from None
        parts = None
    if parts is None or "@" in str(parts.get("host", "")):
        raise StorageError(
            "This is no address of a PostgreSQL: it is postgresql://USER@HOST/DATABASE, and what is special in a name "
            "or password is written as %40 (@), %2F (/), %25 (%), %20 (space)"
        )


FENCED = "DN001"
"""The state of errors by which a database that was moved refuses to be written."""

_living: weakref.WeakSet[Pool] = weakref.WeakSet()


def _forget_all() -> None:
    for pool in list(_living):
        pool.after_fork_in_child()


os.register_at_fork(after_in_child=_forget_all)
