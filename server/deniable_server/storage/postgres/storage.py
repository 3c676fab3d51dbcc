"""PostgreSQL storage: any number of servers on one database.

Durability: every commit is synced before ``accept`` returns; fsync, full_page_writes and synchronous_commit are read
back when a connection opens. Speed: requests that wait for a commit share the next one, in each process; processes do
not wait for each other, because there is no row that all of them write.

Once: a submission is first inserted into the inbox, where its id is unique; a second statement, which sees all that is
committed by then, checks that it is not sealed. Submissions reach the sealed table from the inbox: the transaction that
has an id there is the only one that could fold it, so both checks stay true until the commit. A large batch is sealed
at once, by a transaction that stores alone: all others of the survey are committed before it looks, or wait for it.

Privacy: folding moves submissions to the sealed table in id order, in one transaction. Until the survey is closed, the
place and the transaction of a sealed row (ctid, xmin) may show in which folding, of at least ``fold_at`` submissions,
it arrived. Closing rewrites all of them in id order, in one transaction, into a new file: then nothing does.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from datetime import date
from pathlib import Path
from typing import Any, LiteralString

import psycopg
from psycopg.errors import DeadlockDetected, LockNotAvailable, UndefinedTable
from psycopg.sql import SQL, Identifier

from deniable_server.errors import IdConflict, ServerError, StorageError, SurveyClosed, SurveyGone, Unavailable
from deniable_server.storage import Accepted, Finding, Published, Row, utc_now, utc_today
from deniable_server.storage.base import CLOSED, DOCUMENT, DatabaseStorage, Request, Run, second_run
from deniable_server.storage.deletion import WITH_TRACES, deletion, wiped
from deniable_server.storage.fieldwork import conditions
from deniable_server.storage.invitations import COUNT_USES
from deniable_server.storage.queries import CHUNK, Kept, keep_texts, read_counts, write_counts
from deniable_server.storage.sqlite.backup import filling
from deniable_server.storage.tokens import Statement
from deniable_server.storage.transfer import copy

from .checks import examine
from .errors import Clashed, Locked, explained
from .names import CLOSING, for_survey, lock_of, translated
from .pool import IMPATIENT, NOT_DURABLE, Pool
from .rows import contents_of, insert, lock, look_again, withdraw
from .schema import UNSAMPLED, make_partitions, migrate
from .view import Connection, PostgresView

TRIES = 5
"""How often a transaction is tried that PostgreSQL rolls back because of others."""

SHORT_LOCK = "200ms"
"""How long closing waits at a time for its exclusive lock: others queue behind it meanwhile."""

COUNTERS = 64
"""Most counters of statistics, and of days, per survey."""

IN_THE_WAY = "a download is under way, and keeps its submissions from being rewritten; try again when it has ended"
ALONE_TO_REWRITE: LiteralString = "LOCK TABLE {inbox}, {sealed}, {issued}, ONLY sealed IN ACCESS EXCLUSIVE MODE"
ALONE_TO_DROP: LiteralString = (
    "LOCK TABLE {inbox}, {sealed}, {issued}, ONLY inbox, ONLY sealed, ONLY issued IN ACCESS EXCLUSIVE MODE"
)
SEEN_BY_OTHERS = (
    "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    " AND age(backend_xmin) >= (SELECT min(age(deleted_by)) FROM deletions WHERE number = ANY(%s))"
)
"""Finds a transaction that began before the last of these deletions, and can still see what was deleted."""

REWRITE: tuple[LiteralString, ...] = (
    "LOCK TABLE {sealed} IN SHARE MODE",  # others go on reading it
    # LIKE the partition and not its parent: other closings would wait for the lock on that.
    "CREATE TABLE {rewritten} (LIKE {sealed} INCLUDING DEFAULTS INCLUDING CONSTRAINTS)",
    UNSAMPLED.format("{rewritten}"),
    "INSERT INTO {rewritten} SELECT * FROM {sealed} ORDER BY id",
    "ALTER TABLE {rewritten} ADD CONSTRAINT {rewritten_pkey} PRIMARY KEY (survey, id), ADD CHECK (survey = {number})",
    "ANALYZE {rewritten}",
)
PUT_IN_PLACE: tuple[LiteralString, ...] = (
    "TRUNCATE {inbox}",  # a new file, too: nothing is left of deleted rows
    "ALTER TABLE sealed DETACH PARTITION {sealed}",
    "DROP TABLE {sealed}",
    "ALTER TABLE {rewritten} RENAME TO {sealed}",
    "ALTER TABLE sealed ATTACH PARTITION {sealed} FOR VALUES IN ({number})",
    "UPDATE surveys SET status = 'closed' WHERE number = {number}",
)


class PostgresStorage(DatabaseStorage):
    """One database, shared by all servers that use its address."""

    commits_at_once = 2  # while one waits for its disk, the next is prepared

    def __init__(
        self,
        address: str,
        *,
        create: bool = True,
        busy_seconds: float = 5.0,
        fold_at: int = 1_000,
        today: Callable[[], date] = utc_today,
        now: Callable[[], int] = utc_now,
    ) -> None:
        super().__init__(fold_at, today, now)
        self._pool = Pool(address, busy_seconds, self._trouble)
        connection = self._pool.connect()
        try:
            self._pool.installation, self._secret_key, self.created = migrate(connection, create=create)
            self._unfolded.update(
                dict(connection.execute("SELECT survey, count(*) FROM inbox GROUP BY survey").fetchall())
            )
            connection.commit()
            self._pool.hold()
        except psycopg.Error as error:
            raise explained(error) from None
        finally:
            connection.close()

    @property
    def secret_key(self) -> str:
        return self._secret_key

    def _reading(self, *surveys: int) -> AbstractContextManager[PostgresView]:
        return self._pool.reading(*surveys)

    def _write(self, *statements: Statement, minor: bool = False) -> int:
        with self._pool.writing(quietly=minor) as connection:
            return _run(connection, statements)

    def _write_alone(self, survey: Published, *statements: Statement) -> int:
        with self._pool.writing() as connection:
            # Waits for transactions that store. Later ones look after this, and see what has changed.
            lock(connection, survey.number, alone=True)
            return _run(connection, statements)

    # --- surveys -----------------------------------------------------------------------------------------------------

    def _add_survey(self, survey: str, added: Statement, then: Callable[[Run], None]) -> bytes | None:
        with self._pool.writing() as connection:

            def run(statement: str, values: dict[str, Any]) -> int:
                return connection.execute(translated(statement), values).rowcount

            is_new = run(*added)
            known = PostgresView(connection).rows(DOCUMENT, id=survey)
            if not known:
                raise second_run()
            number, document = known[0]
            if not is_new:
                return bytes(document)
            make_partitions(connection, number)
            then(run)
            return None

    def _seal(self, survey: Published) -> None:
        self._empty_inbox(survey)
        number = survey.number
        with self._pool.housekeeping() as connection:
            # From here on nobody folds, and all foldings are done.
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (lock_of(number, CLOSING),))
            if connection.execute("SELECT status FROM surveys WHERE number = %s", (number,)).fetchone() == ("closed",):
                return  # another server was quicker
            for statement in REWRITE:
                connection.execute(for_survey(number, statement))
            self._lock_out(connection, for_survey(number, ALONE_TO_REWRITE))
            if connection.execute(for_survey(number, "SELECT 1 FROM {inbox} LIMIT 1")).fetchone():
                raise Unavailable("a submission is still waiting; try again")  # it never is, and would be lost
            for statement in PUT_IN_PLACE:
                connection.execute(for_survey(number, statement))
            connection.execute(for_survey(number, COUNT_USES))
            connection.execute(for_survey(number, "TRUNCATE {issued}"))  # a new file here as well

    def _empty_inbox(self, survey: Published) -> None:
        """Fold the rest, and wait for what other servers are folding."""
        deadline = time.monotonic() + self._pool.patience
        while True:
            self.fold(survey)
            with self._pool.reading() as view:
                left = view.rows(f"SELECT 1 FROM {view.table('inbox', survey.number)} LIMIT 1")  # noqa: S608 -- our own names
            if not left:
                return
            if time.monotonic() > deadline:
                raise Unavailable("other servers are still folding; try again")
            time.sleep(0.01)

    def _lock_out(self, connection: Connection, statement: bytes) -> None:
        """Lock tables for the caller's transaction; others wait only for moments at a time."""
        deadline = time.monotonic() + self._pool.patience
        while True:
            try:
                with connection.transaction():
                    connection.execute("SELECT set_config('lock_timeout', %s, true)", (SHORT_LOCK,))
                    connection.execute(statement)
                    # What follows in the caller's transaction may wait as long as everything else.
                    connection.execute("SELECT set_config('lock_timeout', %s, true)", (f"{self._pool.patience}s",))
                return
            except (LockNotAvailable, DeadlockDetected):
                if time.monotonic() > deadline:
                    raise Unavailable(IN_THE_WAY) from None
                time.sleep(0.05)

    def _remove(self, survey: Published) -> None:
        number = survey.number
        with self._pool.housekeeping() as connection:
            # As in closing: nobody stores, nobody folds, and what they did is committed.
            lock(connection, number, alone=True)
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (lock_of(number, CLOSING),))
            if connection.execute("SELECT 1 FROM surveys WHERE number = %s", (number,)).fetchone() is None:
                return  # another server was quicker
            self._lock_out(connection, for_survey(number, ALONE_TO_DROP))
            connection.execute(for_survey(number, "DROP TABLE {inbox}, {sealed}, {issued}"))
            for statement, values in deletion(survey, self._now()):
                connection.execute(translated(statement), values)

    def _wipe(self, numbers: list[int]) -> None:
        """Rewrite the tables that all surveys share. Rows that a transaction can still see would be kept."""
        connection = self._pool.connect()
        try:
            connection.autocommit = True
            connection.execute("SELECT set_config('lock_timeout', %s, false)", (SHORT_LOCK,))
            if connection.execute(SEEN_BY_OTHERS, (numbers,)).fetchone():
                raise Unavailable(IN_THE_WAY)
            deadline = time.monotonic() + self._pool.patience
            for table in WITH_TRACES:
                self._rewrite(connection, table, deadline)
        except psycopg.Error as error:
            raise explained(error) from None
        finally:
            connection.close()
        self._write(*wiped(numbers))

    @staticmethod
    def _rewrite(connection: Connection, table: str, deadline: float) -> None:
        while True:
            try:
                connection.execute(SQL("VACUUM (FULL) {}").format(Identifier(table)))
                return
            except (LockNotAvailable, DeadlockDetected):
                if time.monotonic() > deadline:
                    raise Unavailable(IN_THE_WAY) from None
                time.sleep(0.05)

    # --- submissions -------------------------------------------------------------------------------------------------

    def _store_requests(self, requests: list[Request]) -> Sequence[Accepted | Exception]:
        for _ in range(TRIES - 1):
            try:
                return self._store_once(requests)
            except Clashed:  # with the same submissions, sent to several servers at once in different orders
                continue
        return self._store_once(requests)

    def _store_once(self, requests: list[Request]) -> Sequence[Accepted | Exception]:
        with self._pool.writing() as connection:
            outcomes: Sequence[Accepted | Exception] = [Accepted(len(request.rows), 0) for request in requests]
            try:
                stored = self._store_all(connection, requests)
            except UndefinedTable:  # one of the surveys was deleted
                stored = False
            if not stored:
                connection.rollback()
                # One transaction around all: otherwise each request would be committed by itself, and if something
                # failed after that, it would be stored and not counted.
                with connection.transaction():
                    outcomes = [
                        self._store(connection, request.survey, request.rows, request.source) for request in requests
                    ]
        for request, outcome in zip(requests, outcomes, strict=True):
            if isinstance(outcome, Accepted):  # at most: those that are sealed wait for no folding
                self._unfolded[request.survey.number] += 0 if self._is_sealed(request) else outcome.accepted
        return outcomes

    def _store_all(self, connection: Connection, requests: list[Request]) -> bool:
        """The fast path, in one round trip: all rows are new and all surveys open. False if this fails for any
        request.
        """
        added, alone, now = Counter[int](), set[int](), self._now()
        together: dict[tuple[int, int, bool], list[Row]] = {}
        for request in requests:
            number, is_sealed = request.survey.number, self._is_sealed(request)
            added[number] += len(request.rows)
            together.setdefault((number, request.source, is_sealed), []).extend(request.rows)
            if is_sealed:
                alone.add(number)
        with connection.pipeline():
            for number in sorted(added):
                lock(connection, number, alone=number in alone)
            asked = [
                (
                    rows,
                    is_sealed,
                    insert(connection, number, rows, source, sealed=is_sealed, new=added[number], now=now),
                    look_again(connection, number, rows),
                )
                for (number, source, is_sealed), rows in sorted(together.items())
            ]
            self._count_days(connection, added)
        for rows, is_sealed, inserted, looked in asked:
            if inserted.rowcount < len(rows) or looked.fetchone() != (True, True, len(rows) if is_sealed else 0):
                return False
        for request in filter(self._is_sealed, requests):
            self._add_statistics(connection, request.survey, request.kept())
        return True

    def _store(
        self, connection: Connection, survey: Published, rows: Sequence[Row], source: int
    ) -> Accepted | Exception:
        """All rows of one request, or none and the reason. Other requests in the same transaction are not affected."""
        try:
            with connection.transaction():
                lock(connection, survey.number, alone=False)
                now, before = self._now(), contents_of(connection, survey.number, rows)
                new = len({row.id for row in rows} - before.keys())
                inserted = insert(connection, survey.number, rows, source, sealed=False, new=new, now=now).rowcount
                looked = look_again(connection, survey.number, rows).fetchone()
                if looked is None:
                    raise SurveyGone
                is_durable, is_open, sealed = looked
                if not is_durable:
                    raise Unavailable(NOT_DURABLE)
                # Rows that were folded meanwhile: their ids were free in the inbox again, and they are sealed now.
                added = inserted - (withdraw(connection, survey.number, rows) if inserted and sealed else 0)
                if added < len(rows):
                    known = contents_of(connection, survey.number, rows)
                    missing = len({row.id for row in rows} - set(known))
                    if any(known.setdefault(submission, content) != content for submission, content in rows):
                        raise IdConflict("Nothing of this request was stored.")
                    if missing:
                        raise conditions(PostgresView(connection), survey.number).refusal(now, CLOSED, new)
                if added and not is_open:
                    raise SurveyClosed(CLOSED)
                self._count_days(connection, {survey.number: added})
                return Accepted(added, len(rows) - added)
        except UndefinedTable:  # its tables are dropped with it
            return SurveyGone()
        except StorageError:
            raise
        except ServerError as refusal:
            return refusal

    def _count_days(self, connection: Connection, added: Mapping[int, int]) -> None:
        """Each connection has its own counters: with one for all, servers would wait for each other's commits."""
        for number, count in sorted(added.items()):
            if not count:
                continue
            connection.execute(
                "INSERT INTO days AS known VALUES (%s, %s, pg_backend_pid() %% %s::integer, %s)"
                " ON CONFLICT (survey, day, slot) DO UPDATE SET accepted = known.accepted + excluded.accepted",
                (number, self._today(), COUNTERS, count),
            )

    # --- folding -----------------------------------------------------------------------------------------------------

    def fold(self, survey: Published, at_least: int = 1) -> int:
        moved = self._fold_all(survey, at_least)
        if moved:
            self._wipe_inbox(survey.number)
        return moved

    def _fold_chunk(self, survey: Published, at_least: int) -> int:
        """Several servers may fold at once: each takes rows that no other has, and counts them separately."""
        number = survey.number
        # Unless somebody asks for it, it can be done later.
        with self._pool.housekeeping(None if at_least == 1 else IMPATIENT) as connection:
            free = connection.execute("SELECT pg_try_advisory_xact_lock_shared(%s)", (lock_of(number, CLOSING),))
            if free.fetchone() != (True,):
                return 0  # the survey is being closed: its inbox is empty
            contents = connection.execute(
                for_survey(
                    number,
                    "WITH taken AS MATERIALIZED (SELECT id FROM {inbox} WHERE survey = {number} ORDER BY id"
                    " LIMIT %s FOR UPDATE SKIP LOCKED),"
                    " moved AS (DELETE FROM {inbox} AS old USING taken WHERE survey = {number}"
                    " AND old.id = taken.id RETURNING old.*),"
                    " laid AS (INSERT INTO {sealed} SELECT survey, id, content FROM moved ORDER BY id)"
                    " SELECT source, content FROM moved",
                ),
                (CHUNK,),
            ).fetchall()
            if len(contents) < at_least:
                connection.rollback()
                return 0
            if contents:
                self._add_statistics(connection, survey, keep_texts(survey.document, contents))
        return len(contents)

    def _wipe_inbox(self, number: int) -> None:
        """If it is empty and nobody uses it, give it a new file: the old one still shows the order of arrival."""
        with suppress(Unavailable), self._pool.housekeeping(IMPATIENT) as connection:
            connection.execute(for_survey(number, "LOCK TABLE {inbox} IN ACCESS EXCLUSIVE MODE NOWAIT"))
            if connection.execute(for_survey(number, "SELECT 1 FROM {inbox} LIMIT 1")).fetchone() is None:
                connection.execute(for_survey(number, "TRUNCATE {inbox}"))

    @staticmethod
    def _add_statistics(connection: Connection, survey: Published, added: Kept) -> None:
        """Add to the first counter that nobody else uses: there are as many as servers ever folded at the same time."""
        number = survey.number
        found = connection.execute(
            "SELECT slot FROM generate_series(0, %s) AS slot WHERE pg_try_advisory_xact_lock(%s + slot) LIMIT 1",
            (COUNTERS - 1, lock_of(number, 0)),
        ).fetchone()
        if found is None:
            raise Locked("so many servers never folded at once")
        (slot,) = found
        known = connection.execute(
            "SELECT source, margin, codes, counts FROM statistics WHERE survey = %s AND slot = %s AND source = ANY(%s)"
            " AND codes = ANY(%s)",
            (number, slot, [*added.repeats], [*{codes for _, _, codes in added.cells}]),
        )
        kept = {key: counts for *key_, counts in known if (key := tuple(key_)) in added.cells}
        with connection.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO statistics (survey, slot, source, margin, codes, counts) VALUES (%s, %s, %s, %s, %s, %s)"
                " ON CONFLICT (survey, source, margin, slot, codes) DO UPDATE SET counts = excluded.counts",
                [
                    (number, slot, *key, write_counts(counts + read_counts(kept[key]) if key in kept else counts))
                    for key, counts in added.cells.items()
                ],
            )
        rows = connection.execute("SELECT source, counts FROM repeats WHERE survey = %s AND slot = %s", (number, slot))
        whole: dict[int, str] = dict(rows.fetchall())
        for source, counts in added.repeats.items():
            total = counts + read_counts(whole[source]) if source in whole else counts
            connection.execute(
                "INSERT INTO repeats (survey, source, slot, counts) VALUES (%s, %s, %s, %s)"
                " ON CONFLICT (survey, source, slot) DO UPDATE SET counts = excluded.counts",
                (number, source, slot, write_counts(total)),
            )

    # --- operation ---------------------------------------------------------------------------------------------------

    def ready(self) -> None:
        with self._pool.reading() as view:
            view.rows("SELECT 1 FROM surveys LIMIT 1")
        if self._pool.write_failed:
            # While this fails, perhaps nobody sends anything. So it tries by itself: a write that takes some space and
            # leaves nothing.
            with self._pool.writing() as connection:
                probe = Identifier(f"probe_{connection.info.backend_pid}")
                rows = SQL("SELECT repeat('x', 1000) FROM generate_series(1, 100)")
                connection.execute(SQL("CREATE TABLE {} AS {}").format(probe, rows))
                connection.execute(SQL("DROP TABLE {}").format(probe))

    def environment_checks(self) -> list[Finding]:
        with self._pool.reading() as view:
            return examine(view)

    def backup(self, target: str, key: str) -> None:
        with filling(Path(target), key) as file:
            copy(self._pool.reading, file)

    def close(self) -> None:
        self._finish()
        self._pool.close()
        self._trouble.close()


def _run(connection: Connection, statements: Sequence[Statement]) -> int:
    """How many rows the last of these has changed."""
    return [connection.execute(translated(statement), values).rowcount for statement, values in statements][-1]
