"""Faults of a server: each breaks a promise that a proof in ``proofs`` is about, and the proof has to notice."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from deniable_server.errors import StorageError, SurveyClosed
from deniable_server.storage import Accepted, Published, Row
from deniable_server.storage.base import DatabaseStorage
from deniable_server.storage.postgres import rows as postgres_rows
from deniable_server.storage.postgres.pool import Pool
from deniable_server.storage.sqlite import backup
from deniable_server.storage.sqlite import storage as sqlite
from deniable_server.storage.sqlite.connections import Connections
from deniable_server.storage.sqlite.schema import migrations
from deniable_server.storage.sqlite.storage import SQLiteStorage
from deniable_server.web.submission_reader import SubmissionReader
from tests.helpers.planting import replace

# --- crashes ---------------------------------------------------------------------------------------------------------


def answers_before_it_commits() -> None:
    def faulty(original: Any) -> Any:
        def accept(self: DatabaseStorage, survey: Published, rows: Sequence[Row]) -> Accepted:
            threading.Timer(0.05, original, [self, survey, rows]).start()
            return Accepted(len(rows), 0)

        return accept

    replace(DatabaseStorage, "accept", faulty)


def folding_drops_a_row() -> None:
    def faulty(original: Any) -> Any:
        def fold_chunk(self: SQLiteStorage, survey: Published, at_least: int) -> int:
            moved: int = original(self, survey, at_least)
            if moved:
                with self._connections.writing() as db:
                    last = "(SELECT max(id) FROM sealed WHERE survey = ?1)"
                    db.execute(f"DELETE FROM sealed WHERE survey = ?1 AND id = {last}", (survey.number,))
            return moved

        return fold_chunk

    replace(SQLiteStorage, "_fold_chunk", faulty)


def statistics_in_a_transaction_of_their_own() -> None:
    add = SQLiteStorage._add_statistics

    def faulty(original: Any) -> Any:
        def fold_chunk(self: SQLiteStorage, survey: Published, at_least: int) -> int:
            waiting: list[list[str]] = []

            def note(_db: sqlite3.Connection, _survey: Published, contents: Iterable[str]) -> None:
                waiting.append(list(contents))

            def later() -> None:
                with self._connections.turn, self._connections.writing() as db:
                    for contents in waiting:
                        add(db, survey, contents)

            self._add_statistics = note  # type: ignore[method-assign]
            try:
                moved: int = original(self, survey, at_least)
            finally:
                del self._add_statistics
            if waiting:
                threading.Timer(1, later).start()
            return moved

        return fold_chunk

    replace(SQLiteStorage, "_fold_chunk", faulty)


def forgets_what_is_sealed() -> None:
    def insertion(rows: int, *, sealed: bool) -> str:
        table = "sealed" if sealed else "inbox"
        values = ", ".join(["(?, ?)"] * rows)
        return f"INSERT OR IGNORE INTO {table} SELECT ?1, column1, column2 FROM (VALUES {values})"

    replace(sqlite, "_insertion", lambda _: insertion)


def migrates_step_by_step() -> None:
    def prepare(connections: Connections) -> None:
        connection = connections.open()
        for migration in migrations.pending(Database(connection)):
            migration.transactional = False
        migrations.apply(Database(connection))
        connection.close()

    replace(sqlite, "_prepare", lambda _: prepare)


def names_a_backup_before_it_is_done() -> None:
    def copy_database(connection: sqlite3.Connection, target: Path) -> None:
        os.close(os.open(target, os.O_CREAT | os.O_EXCL, 0o600))
        time.sleep(0.3)
        connection.execute("VACUUM INTO ?", (str(target),))

    replace(backup, "copy_database", lambda _: copy_database)


# --- disks and power -------------------------------------------------------------------------------------------------


def acknowledges_failed_commits() -> None:
    def faulty(original: Any) -> Any:
        @contextmanager
        def writing(self: Connections, *, housekeeping: bool = False) -> Iterator[sqlite3.Connection]:
            failures = nullcontext() if housekeeping else suppress(StorageError)
            with failures, original(self, housekeeping=housekeeping) as db:
                yield db

        return writing

    replace(Connections, "writing", faulty)


def keeps_no_connection_open() -> None:
    replace(Connections, "_index_keeper", lambda _: lambda self: None)


def _syncs(setting: str) -> None:
    def faulty(original: Any) -> Any:
        def opened(self: Connections) -> sqlite3.Connection:
            connection: sqlite3.Connection = original(self)
            connection.execute(f"PRAGMA synchronous={setting}")
            return connection

        return opened

    replace(Connections, "open", faulty)


def syncs_never() -> None:
    _syncs("OFF")


def syncs_only_at_checkpoints() -> None:
    _syncs("NORMAL")


# --- retries ---------------------------------------------------------------------------------------------------------


def the_last_of_one_id_wins() -> None:
    def faulty(original: Any) -> Any:
        def insertion(rows: int, *, sealed: bool) -> str:
            statement: str = original(rows, sealed=sealed)
            return statement.partition(" ON CONFLICT")[0] + " ON CONFLICT DO UPDATE SET content = excluded.content"

        return insertion

    replace(sqlite, "_insertion", faulty)


def other_contents_pass_for_duplicates() -> None:
    replace(SQLiteStorage, "_is_stored", lambda _: staticmethod(lambda db, number, row: True))


def a_closed_survey_knows_nothing() -> None:
    def faulty(original: Any) -> Any:
        def store(self: SQLiteStorage, db: sqlite3.Connection, survey: Published, rows: Sequence[Row]) -> Any:
            if not self._is_open(db, survey):
                return SurveyClosed("It takes no more submissions.")
            return original(self, db, survey, rows)

        return store

    replace(SQLiteStorage, "_store", faulty)


def every_retry_is_another() -> None:
    def faulty(original: Any) -> Any:
        def read(self: SubmissionReader, body: bytes) -> list[Row]:
            return [Row(os.urandom(16), row.content) for row in original(self, body)]

        return read

    replace(SubmissionReader, "read", faulty)


# --- several servers -------------------------------------------------------------------------------------------------


def commits_in_postgresql_are_not_waited_for() -> None:
    def faulty(original: Any) -> Any:
        def configure(self: Pool, connection: Any) -> None:
            original(self, connection)
            connection.execute("SELECT set_config('synchronous_commit', 'off', false)")
            connection.commit()

        return configure

    replace(Pool, "_configure", faulty)


def postgresql_forgets_what_is_sealed() -> None:
    looking = threading.local()

    def blind(original: Any) -> Any:
        def called(*arguments: Any) -> Any:
            looking.blind = True
            try:
                return original(*arguments)
            finally:
                looking.blind = False

        return called

    def of(original: Any) -> Any:
        def statement_of(number: int, statement: str) -> bytes:
            if getattr(looking, "blind", False):
                statement = statement.replace("{sealed}", "(SELECT * FROM {sealed} WHERE false) AS nothing")
            return bytes(original(number, statement))

        return statement_of

    replace(postgres_rows, "insert", blind)
    replace(postgres_rows, "look_again", blind)
    postgres_rows.of = of(postgres_rows.of)


# --- no fault: a server of less patience, so that a test need not wait as long ----------------------------------------


def short_of_patience() -> None:
    from granian.http import HTTP1Settings

    from deniable_server.serving import gateway, run

    gateway.BODY_SECONDS = 4.0

    def faulty(original: Any) -> Any:
        def granian(*arguments: Any, **options: Any) -> Any:
            return original(*arguments, **options, http1_settings=HTTP1Settings(header_read_timeout=4_000))

        return granian

    replace(run, "Granian", faulty)
