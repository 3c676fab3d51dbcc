"""Connections to a PostgreSQL database: those that write, those that read, all of them durable.

May not: know what the tables are for.
"""

from __future__ import annotations

import logging
import select
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from weakref import WeakKeyDictionary

import psycopg
from psycopg import IsolationLevel
from psycopg.sql import SQL
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from deniable_server.errors import StorageError, Unavailable
from deniable_server.storage.location import in_use
from deniable_server.storage.trouble_log import TroubleLog

from .errors import check_address, explained
from .names import DURABLE, IN_USE, SCHEMA, for_survey
from .view import Connection, PostgresView

# psycopg and its pool log every connection that fails while somebody waits for it: each line would show when a
# respondent came. What an operator has to know is in the log of troubles.
logging.getLogger("psycopg").setLevel(logging.CRITICAL)

SIZES = {"storing": 3, "housekeeping": 2, "reading": 5}
"""Most connections of each process, by purpose: neither downloads nor closings can take those for submissions."""

RETRY = 1.0
"""Seconds after which a pool gives up making a connection; a thread that still waits then makes it try again."""

IMPATIENT = 0.5
"""Seconds to wait for a connection after a write has failed: waiting longer would not help."""

LOCK_SECONDS = 3.0
"""How long to wait for the lock of those who use the database: PostgreSQL drops it a moment after a connection ends."""

PREPARED = 1_000
"""Statements that a connection for storing keeps planned: three for each survey."""

TRUSTED = 1.0
"""Seconds for which a connection that has worked, and is silent, is taken to work still: asking takes a round trip."""

NO_CONNECTION = "PostgreSQL cannot be reached, or all connections to it are taken"
NOT_DURABLE = (
    "This PostgreSQL cannot promise durability: fsync or full_page_writes is off. Turn them on: what is acknowledged "
    "could be lost in a power cut"
)


class Pool:
    """``writing`` and ``reading`` lend a connection for one transaction. While there is none, both raise Unavailable.

    They are for one installation only: if another one is at the same address, nothing is read or acknowledged.
    """

    def __init__(self, address: str, patience: float, trouble: TroubleLog | None = None) -> None:
        check_address(address)
        self.address, self.patience, self._trouble = address, patience, trouble or TroubleLog()
        self.installation: str | None = None
        self.write_failed = False
        self._away: set[str] = set()
        self._worked: WeakKeyDictionary[Connection, float] = WeakKeyDictionary()
        self._pools: dict[str, ConnectionPool[Connection]] = {}

    # --- connections -------------------------------------------------------------------------------------------------

    @property
    def _options(self) -> dict[str, Any]:
        return {
            "application_name": "deniable",
            "connect_timeout": max(2, int(self.patience)),  # libpq takes no less
            # So that a database that silently disappeared is noticed.
            "keepalives_idle": 30,
            "keepalives_interval": 5,
            "keepalives_count": 3,
            "tcp_user_timeout": 15_000,
            # Plan statements each time: a survey grows from nothing to millions under the same statement.
            "prepare_threshold": None,
        }

    def _configure_storing(self, connection: Connection) -> None:
        """Storing has few statements, and planning them takes longer than running them: they are planned once. All of
        them look up single rows by their key, so whatever PostgreSQL thinks of the size of a table, the plan must be to
        look into its index for each row.
        """
        self._configure(connection)
        for setting in ("enable_seqscan", "enable_hashjoin", "enable_mergejoin"):
            connection.execute("SELECT set_config(%s, 'off', false)", (setting,))
        connection.execute("SELECT set_config('plan_cache_mode', 'force_generic_plan', false)")
        connection.commit()
        connection.prepare_threshold, connection.prepared_max = 0, PREPARED

    def connect(self, *, alone: bool = False) -> Connection:
        """A connection outside the pool, for what is done once. ``alone``: StorageError where there is any other, and
        there will be none until this one is closed.
        """
        with ExitStack() as opened:
            try:
                connection = psycopg.connect(self.address, **self._options)
                opened.callback(connection.close)
                self._configure(connection, alone=alone)
            except psycopg.Error as error:
                raise explained(error) from None
            opened.pop_all()
        return connection

    def _configure(self, connection: Connection, *, alone: bool = False) -> None:
        """Make a new connection durable, read back that it is, and note that it uses the database."""
        connection.isolation_level = IsolationLevel.READ_COMMITTED
        # Set by the connection itself: an inherited value can change while it is open. With a synchronous standby, both
        # values wait for its disk, too.
        connection.execute(
            "SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit')"
            " WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false)"
        )
        if connection.execute(SQL("SELECT {}").format(DURABLE)).fetchone() != (True,):
            raise StorageError(NOT_DURABLE)
        _take_lock(connection, alone=alone)
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
                # One is always open: PostgreSQL may log when connections are made, and that must not show when somebody
                # answers.
                min_size=1 if name == "storing" else 0,
                max_size=SIZES[name],
                configure=self._configure_storing if name == "storing" else self._configure,
                reconnect_timeout=RETRY,
                max_idle=120,
                num_workers=1,
                open=False,
                name=f"deniable-{name}",
            )
            pool = self._pools.setdefault(name, pool)
            pool.open()
        return pool

    def hold(self) -> None:
        """Keep a connection open from now on, so that ``deniable move`` knows that the database is in use."""
        try:
            self._pool("storing").wait(self.patience)
        except PoolTimeout:
            self.close()
            raise Unavailable(NO_CONNECTION) from None

    @contextmanager
    def _lent(self, name: str, patience: float | None = None) -> Iterator[Connection]:
        pool = self._pool(name)
        if patience is None:
            patience = IMPATIENT if self.write_failed or name in self._away else self.patience
        try:
            connection = self._taken(name, pool, patience)
            try:
                yield connection
                self._worked[connection] = time.monotonic()
            finally:
                try:
                    if not connection.closed:
                        connection.rollback()
                finally:  # a broken connection must go back, too: there are few
                    pool.putconn(connection)
        except (PoolTimeout, PoolClosed):
            raise Unavailable(NO_CONNECTION) from None
        except psycopg.Error as error:
            raise explained(error) from None

    def _taken(self, name: str, pool: ConnectionPool[Connection], patience: float) -> Connection:
        """A connection that works."""
        try:
            connection = self._next(pool, patience)
            try:
                recently = self._worked.get(connection, float("-inf")) > time.monotonic() - TRUSTED
                if not recently or _has_news(connection):
                    ConnectionPool.check_connection(connection)
            except psycopg.Error:  # PostgreSQL was restarted: all others are broken as well
                pool.putconn(connection)
                pool.drain()
                connection = self._next(pool, patience)
        except PoolTimeout:
            self._away.add(name)
            self._trouble.failed(f"Connecting for {name}", NO_CONNECTION)
            raise
        if name in self._away:
            self._away.discard(name)
            self._trouble.works(f"Connecting for {name}")
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
        """One state of the database throughout. Only submissions of these surveys, by number, may be read."""
        with self._lent("reading") as connection:
            connection.isolation_level, connection.read_only = IsolationLevel.REPEATABLE_READ, True
            view = PostgresView(connection)
            try:
                for number in surveys:
                    # Before the first query, which fixes the state: a closing replaces these tables, and in a state
                    # from before it, the new ones are empty.
                    connection.execute(for_survey(number, "LOCK TABLE {inbox}, {sealed} IN ACCESS SHARE MODE"))
                yield view
            finally:
                if not connection.closed:
                    view.close()
                    connection.rollback()
                    connection.isolation_level, connection.read_only = IsolationLevel.READ_COMMITTED, None

    @contextmanager
    def writing(self, *, quietly: bool = False) -> Iterator[Connection]:
        """A transaction that is on disk when the block has ended; each statement sees what is committed by then.

        ``quietly``: a failure is not logged. Nobody waits for it, and it is tried again.
        """
        try:
            with self._lent("storing") as connection:
                yield connection
                connection.commit()
        except Unavailable as error:
            if not quietly:
                self.write_failed = True
                self._trouble.failed("Writing", str(error))
            raise
        if self.write_failed and not quietly:
            self.write_failed = False
            self._trouble.works("Writing")

    @contextmanager
    def housekeeping(self, patience: float | None = None) -> Iterator[Connection]:
        """The same for housekeeping, which may take long."""
        with self._lent("housekeeping", patience) as connection:
            yield connection
            connection.commit()

    def close(self) -> None:
        pools, self._pools = self._pools, {}
        for pool in pools.values():
            pool.close()


def _has_news(connection: Connection) -> bool:
    """Whether PostgreSQL has sent something that nobody asked for: usually that it ends the connection."""
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return bool(poll.poll(0))


def _take_lock(connection: Connection, *, alone: bool) -> None:
    """The lock that all connections share, or one has alone; it ends with its connection, however that ends.

    It is tried again and again: a request that waits would keep others from sharing.
    """
    lock = SQL("SELECT pg_try_advisory_lock{}(%s)").format(SQL("" if alone else "_shared"))
    deadline = time.monotonic() + LOCK_SECONDS
    while connection.execute(lock, (IN_USE,)).fetchone() != (True,):
        if time.monotonic() > deadline:
            raise in_use("The PostgreSQL database") if alone else Unavailable("deniable move is using this database")
        time.sleep(0.05)
