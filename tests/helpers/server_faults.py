"""Faults of a server: each breaks a promise that a proof in ``proofs`` is about, and the proof has to notice."""

from __future__ import annotations

import os
import re
import sqlite3
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
from sqlite_utils import Database

from deniable_protocol import Part
from deniable_server.errors import IdConflict, StorageError, SurveyClosed
from deniable_server.estimator import evidence
from deniable_server.estimator.intervals import Chances, Rule
from deniable_server.storage import Accepted, Published, Row
from deniable_server.storage.base import DatabaseStorage, Request
from deniable_server.storage.postgres import rows as postgres_rows
from deniable_server.storage.postgres.pool import Pool
from deniable_server.storage.queries import Kept
from deniable_server.storage.sqlite import backup
from deniable_server.storage.sqlite import storage as sqlite
from deniable_server.storage.sqlite.connections import Connections
from deniable_server.storage.sqlite.schema import migrations
from deniable_server.storage.sqlite.storage import SQLiteStorage
from deniable_server.web.submission_reader import Posted, SubmissionReader
from tests.helpers.planting import instead_of, replace

# --- crashes ---------------------------------------------------------------------------------------------------------


@instead_of(DatabaseStorage, "_commit")
def answers_before_it_commits(original: Any, self: DatabaseStorage, requests: list[Request]) -> list[Accepted]:
    threading.Timer(0.05, original, [self, requests]).start()
    return [Accepted(len(request.rows), 0) for request in requests]


@instead_of(SQLiteStorage, "_fold_chunk")
def folding_drops_a_row(original: Any, self: SQLiteStorage, survey: Published, at_least: int) -> int:
    moved: int = original(self, survey, at_least)
    if moved:
        with self._connections.writing() as db:
            last = "(SELECT max(id) FROM sealed WHERE survey = ?1)"
            db.execute(f"DELETE FROM sealed WHERE survey = ?1 AND id = {last}", (survey.number,))
    return moved


@instead_of(SQLiteStorage, "_fold_chunk")
def statistics_in_a_transaction_of_their_own(
    original: Any, self: SQLiteStorage, survey: Published, at_least: int
) -> int:
    waiting: list[Kept] = []

    def note(_db: sqlite3.Connection, _survey: Published, added: Kept) -> None:
        waiting.append(added)

    def later() -> None:
        with self._connections.turn, self._connections.writing() as db:
            for added in waiting:
                self._add_statistics(db, survey, added)

    self._add_statistics = note  # type: ignore[method-assign]
    try:
        moved: int = original(self, survey, at_least)
    finally:
        del self._add_statistics
    if waiting:
        threading.Timer(1, later).start()
    return moved


@instead_of(sqlite, "_insertion")
def forgets_what_is_sealed(original: Any, rows: int, *, sealed: bool) -> str:
    return re.sub(r"NOT EXISTS \(.*?column1\)", "true", original(rows, sealed=sealed))


@instead_of(sqlite, "_prepare")
def migrates_step_by_step(_: Any, connections: Connections) -> None:
    connection = connections.open()
    for migration in migrations.pending(Database(connection)):
        migration.transactional = False
    migrations.apply(Database(connection))
    connection.close()


@instead_of(backup, "copy_database")
def names_a_backup_before_it_is_done(_: Any, connection: sqlite3.Connection, target: Path, key: str) -> None:
    os.close(os.open(target, os.O_CREAT | os.O_EXCL, 0o600))
    time.sleep(0.3)
    connection.execute("VACUUM INTO ?", (str(target),))


# --- disks and power -------------------------------------------------------------------------------------------------


@instead_of(SQLiteStorage, "_store_requests")
def acknowledges_failed_commits(original: Any, self: SQLiteStorage, requests: list[Request]) -> Sequence[Any]:
    try:
        return cast(Sequence[Any], original(self, requests))
    except StorageError:
        return [Accepted(len(request.rows), 0) for request in requests]


@instead_of(Connections, "_index_keeper")
def keeps_no_connection_open(*_: Any) -> None:
    return None


@instead_of(Connections, "open")
def syncs_never(original: Any, self: Connections) -> sqlite3.Connection:
    connection: sqlite3.Connection = original(self)
    connection.execute("PRAGMA synchronous=OFF")
    return connection


@instead_of(Connections, "open")
def syncs_only_at_checkpoints(original: Any, self: Connections) -> sqlite3.Connection:
    connection: sqlite3.Connection = original(self)
    connection.execute("PRAGMA synchronous=NORMAL")
    return connection


# --- retries ---------------------------------------------------------------------------------------------------------


@instead_of(sqlite, "_insertion")
def the_last_of_one_id_wins(original: Any, rows: int, *, sealed: bool) -> str:
    statement: str = original(rows, sealed=sealed)
    return statement.partition(" ON CONFLICT")[0] + " ON CONFLICT DO UPDATE SET content = excluded.content"


@instead_of(SQLiteStorage, "_store")
def other_contents_pass_for_duplicates(
    original: Any, self: SQLiteStorage, db: Any, survey: Any, rows: Any, source: int
) -> Any:
    stored = original(self, db, survey, rows, source)
    return Accepted(0, len(rows)) if isinstance(stored, IdConflict) else stored


@instead_of(SQLiteStorage, "_store")
def a_closed_survey_knows_nothing(
    original: Any, self: SQLiteStorage, db: sqlite3.Connection, survey: Published, rows: Sequence[Row], source: int
) -> Accepted | Exception:
    stored: Accepted | Exception = original(self, db, survey, rows, source)
    is_open = db.execute("SELECT status FROM surveys WHERE number = ?", (survey.number,)).fetchone() == ("open",)
    return stored if is_open else SurveyClosed("It takes no more submissions.")


@instead_of(SubmissionReader, "_read_quickly")
def every_retry_is_another(original: Any, self: SubmissionReader, body: bytes, batches: bool = True) -> Posted | None:
    posted: Posted | None = original(self, body, batches)
    return posted and Posted([Row(os.urandom(16), row.content) for row in posted.rows])


# --- several servers -------------------------------------------------------------------------------------------------


@instead_of(Pool, "_configure")
def commits_in_postgresql_are_not_waited_for(original: Any, self: Pool, connection: Any, **how: Any) -> None:
    original(self, connection, **how)
    connection.execute("SELECT set_config('synchronous_commit', 'off', false)")
    connection.commit()


def postgresql_forgets_what_is_sealed() -> None:
    looking = threading.local()

    def blind(original: Any) -> Any:
        def called(*given: Any, **named: Any) -> Any:
            looking.blind = True
            try:
                return original(*given, **named)
            finally:
                looking.blind = False

        return called

    def statement_for(original: Any) -> Any:
        def for_survey(number: int, statement: str) -> bytes:
            if getattr(looking, "blind", False):
                statement = statement.replace("FROM {sealed}", "FROM (SELECT * FROM {sealed} WHERE false) AS nothing")
            return bytes(original(number, statement))

        return for_survey

    replace(postgres_rows, "insert", blind)
    replace(postgres_rows, "look_again", blind)
    replace(postgres_rows, "for_survey", statement_for)


# --- estimates -------------------------------------------------------------------------------------------------------


@instead_of(evidence, "planned_variance")
def parts_are_weighed_by_their_own_counts(_: Any, part: Any) -> float:
    rates = np.array(part.y) / part.n
    return float((rates * (1 - rates)).mean() + 0.01)


@instead_of(Part, "owned")
def owned_paths_are_off_by_one(original: Any, self: Part, item: int, code: int) -> tuple[int, ...]:
    return tuple((path + 1) % len(self.paths) for path in original(self, item, code))


@instead_of(evidence, "joint_rule")
def several_paths_vary_as_one(original: Any, chance: Chances, options: int) -> Rule:
    one, several = original(chance, 1), original(chance, options)
    return Rule(*several[:3], v1=one.v1, v0=one.v0, counted=False)


# --- no fault: a server of less patience, so that a test need not wait as long ----------------------------------------


def short_of_patience() -> None:
    from granian.http import HTTP1Settings

    from deniable_server.serving import gateway, run

    gateway.BODY_SECONDS = 4.0
    impatient = HTTP1Settings(header_read_timeout=4_000)
    replace(
        run, "Granian", lambda original: lambda *given, **named: original(*given, **named, http1_settings=impatient)
    )
