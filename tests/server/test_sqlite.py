"""What only SQLite has: durability settings, schema, faults, copies, and what the file does not reveal."""

from __future__ import annotations

import re
import secrets
import sqlite3
import stat
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlite_utils import Database, Migrations

from deniable_protocol import survey_from_tree
from deniable_server.errors import StorageError, Unavailable
from deniable_server.planning.design import publish_survey
from deniable_server.storage import Accepted, Published, Row, Token, open_storage
from deniable_server.storage.files import UNFINISHED
from deniable_server.storage.sqlite import storage as module
from deniable_server.storage.sqlite.backup import restore
from deniable_server.storage.sqlite.connections import Connections
from deniable_server.storage.sqlite.schema import migrations
from deniable_server.storage.sqlite.storage import SQLiteStorage
from tests.helpers.storage_contract import recounted, rows_of

KEY = "0123456789abcdef" * 4
ASKED = {"id": "q", "type": "yes_no", "text": "?", "epsilon": "1"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.db"


@pytest.fixture
def storage(path: Path) -> Iterator[SQLiteStorage]:
    storage = SQLiteStorage(path, busy_seconds=0.3, fold_at=50)
    yield storage
    storage.close()


@pytest.fixture
def survey(storage: SQLiteStorage, example: bytes) -> Published:
    storage.publish(example)
    found = storage.find("campus-health")
    assert found is not None
    return found


# --- opening ---------------------------------------------------------------------------------------------------------


def test_only_its_owner_can_open_the_database(path: Path, storage: SQLiteStorage, survey: Published) -> None:
    """The file and its write-ahead log are made with mode 600."""
    for file in (path, Path(f"{path}-wal")):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize(("mode", "what"), [("delete", "journal_mode is delete"), ("memory", "journal_mode is memory")])
def test_a_file_system_without_wal_is_refused(
    path: Path, mode: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the settings read back are not WAL and FULL, nothing is opened."""
    monkeypatch.setattr(Connections, "_enter_wal", lambda *_: mode)
    with pytest.raises(StorageError, match=what):
        SQLiteStorage(path)


def test_every_connection_is_durable(storage: SQLiteStorage) -> None:
    """Reading back the settings of a connection gives WAL, FULL, foreign keys and secure deletion."""
    connection = storage._connections.open()
    values = [
        connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("journal_mode", "synchronous", "foreign_keys", "secure_delete")
    ]
    connection.close()
    assert values == ["wal", 2, 1, 1]


def test_a_database_of_another_program_is_refused(path: Path) -> None:
    """Nothing is added to a database that is not Deniable's."""
    Database(path)["cats"].insert({"name": "Mia"})
    before = path.read_bytes()
    with pytest.raises(StorageError, match="another program"):
        SQLiteStorage(path)
    database = Database(path)
    assert database.table_names() == ["cats"]
    assert before[100:] in path.read_bytes()
    theirs = Migrations("theirs")
    theirs()(lambda db: None)
    theirs.apply(database)
    database.close()
    with pytest.raises(StorageError, match="another program"):
        SQLiteStorage(path)


def test_a_database_of_a_newer_version_is_refused(path: Path, storage: SQLiteStorage) -> None:
    """An unknown migration stops the start, and the message says which and what to do."""
    storage.close()
    database = Database(path)
    database[migrations.migrations_table].insert({"migration_set": "deniable", "name": "m999_next", "applied_at": "x"})
    database.close()
    with pytest.raises(StorageError, match=r"newer Deniable.*m999_next.*Install that version"):
        SQLiteStorage(path)


def test_what_is_not_a_database_is_refused(path: Path, tmp_path: Path) -> None:
    """A text file, a folder and a missing folder each get a message of their own."""
    path.write_text("hello, this is not a database" * 10)
    for url, message in (
        (str(path), "not an SQLite database"),
        (str(tmp_path), "is a folder"),
        (str(tmp_path / "no" / "a.db"), "does not exist"),
        ("sqlite://a.db", "three slashes"),
        (":memory:", "in a file"),
    ):
        with pytest.raises(StorageError, match=message):
            open_storage(url)


def test_the_forms_of_an_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An address is a path, sqlite:///relative or sqlite:////absolute."""
    monkeypatch.chdir(tmp_path)
    for url, file in (("p.db", "p.db"), ("sqlite:///r.db", "r.db"), (f"sqlite:///{tmp_path}/b.db", "b.db")):
        open_storage(url).close()
        assert (tmp_path / file).exists()


# --- schema ----------------------------------------------------------------------------------------------------------


def test_every_column_is_explained(storage: SQLiteStorage, path: Path) -> None:
    """Each column of each table carries a comment in the database itself."""
    kept = "SELECT sql FROM sqlite_master WHERE type = 'table' AND name NOT GLOB '_*' AND name NOT GLOB 'sqlite_*'"
    tables = [sql for (sql,) in sqlite3.connect(path).execute(kept)]
    assert len(tables) == 16
    for table in tables:
        lines = [line.strip() for line in table.strip().splitlines()[1:-1]]
        columns = [line for line in lines if re.match(r"[a-z_]+ (TEXT|INTEGER|BLOB)", line)]
        assert columns
        assert all("-- " in line for line in columns), table


def test_the_schema_holds_its_own_invariants(storage: SQLiteStorage, survey: Published, path: Path) -> None:
    """The database itself refuses rows that no code should write."""
    database = sqlite3.connect(path)
    for statement in (
        "INSERT INTO inbox VALUES (1, x'00', '[]', 0)",
        "INSERT INTO sealed VALUES (1, randomblob(16), 'not json')",
        "INSERT INTO days VALUES (1, 'yesterday', 1)",
        "INSERT INTO days VALUES (1, '2026-01-01', 0)",
        "INSERT INTO tokens VALUES ('a', 'king', '', printf('%064d', 0), '2026-01-01', 0, NULL, NULL, '')",
        "INSERT INTO tokens VALUES ('a', 'reader', '', printf('%064d', 0), '2026-01-01', 0, NULL, NULL, '')",
        "INSERT INTO tokens VALUES ('a', 'admin', '', printf('%064d', 0), '2026-01-01', 1, NULL, NULL, '')",
        "UPDATE surveys SET status = 'closed'",
        "UPDATE surveys SET status = 'half open'",
        "UPDATE surveys SET opens_at = 20, closes_at = 10",
        "UPDATE surveys SET most = 0",
    ):
        with pytest.raises(sqlite3.IntegrityError):
            database.execute(statement)
    database.close()


def test_a_failed_migration_leaves_nothing(path: Path, storage: SQLiteStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    """A migration is applied and recorded in one transaction, or neither; then the start can be repeated."""
    storage.close()
    later = Migrations("deniable")
    later._migrations = list(migrations._migrations)

    @later()
    def m003_broken(db: Database) -> None:
        db.execute("CREATE TABLE half (a TEXT)")
        raise sqlite3.OperationalError("power cut")

    monkeypatch.setattr(module, "migrations", later)
    monkeypatch.setattr("deniable_server.storage.sqlite.backup.migrations", later)
    with pytest.raises(StorageError, match="power cut"):
        SQLiteStorage(path)
    monkeypatch.undo()
    assert "half" not in Database(path).table_names()
    SQLiteStorage(path).close()


def test_servers_that_start_together_migrate_once(path: Path) -> None:
    """Eight servers opening a new database at the same moment all find it ready."""
    barrier = threading.Barrier(8)

    def start(_: int) -> list[Any]:
        barrier.wait()
        storage = SQLiteStorage(path)
        try:
            return storage.surveys()
        finally:
            storage.close()

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(start, range(8))) == [[]] * 8


# --- sharing a commit ------------------------------------------------------------------------------------------------


def test_requests_that_wait_share_a_commit(
    storage: SQLiteStorage, survey: Published, example_answers: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While one commit is under way, all that arrive are committed together by the next."""
    rows = rows_of(survey, example_answers, 30)
    sizes: list[int] = []
    real = storage._count_day

    def counting(db: sqlite3.Connection, added: dict[int, int]) -> None:
        if not sizes:
            deadline = time.monotonic() + 10
            while len(storage._commits._queue) < 29 and time.monotonic() < deadline:
                time.sleep(0.001)
        sizes.append(sum(added.values()))
        real(db, added)

    monkeypatch.setattr(storage, "_count_day", counting)
    with ThreadPoolExecutor(30) as pool:
        assert set(pool.map(lambda row: storage.accept(survey, [row]), rows)) == {Accepted(1, 0)}
    assert sum(sizes) == 30 and len(sizes) == 2


# --- faults: nothing is acknowledged, nothing is stored, and it recovers ---------------------------------------------


def break_writes(monkeypatch: pytest.MonkeyPatch, storage: SQLiteStorage, pragma: str) -> Callable[[], None]:
    """Every new connection has this pragma, until the function that is returned is called."""
    real = Connections.open

    def broken(self: Connections) -> sqlite3.Connection:
        connection = real(self)
        connection.execute(pragma)
        return connection

    monkeypatch.setattr(Connections, "open", broken)
    storage.close()
    return monkeypatch.undo


@pytest.mark.parametrize("fault", ["full", "read-only"])
def test_a_full_or_read_only_disk(
    storage: SQLiteStorage,
    survey: Published,
    path: Path,
    example_answers: dict,
    fault: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Submissions are refused as unavailable and not stored; afterwards the same ones are taken. No line is logged at
    the time of a submission.
    """
    rows = rows_of(survey, example_answers, 2_000)
    storage.accept(survey, rows[:10])
    pages = path.stat().st_size // 4096
    mend = break_writes(
        monkeypatch, storage, f"PRAGMA max_page_count={pages}" if fault == "full" else "PRAGMA query_only=ON"
    )
    for _ in range(3):
        with pytest.raises(Unavailable):
            storage.accept(survey, rows)
    with pytest.raises(Unavailable):
        storage.ready()
    assert caplog.records == []
    mend()
    storage.ready()
    assert storage.statistics(survey) == recounted(survey, rows[:10])
    assert storage.accept(survey, rows) == Accepted(1_990, 10)
    storage.ready()
    assert storage.verify() == []
    storage.close()
    assert len(caplog.records) == 1


def test_a_disk_that_is_nearly_full_logs_no_time_of_anybody(
    storage: SQLiteStorage,
    survey: Published,
    example_answers: dict,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Where small submissions fit and large ones do not, failures and successes alternate. None of them is logged when
    it happens, and all of them make one line.
    """
    rows = rows_of(survey, example_answers, 24)
    original = SQLiteStorage._count_day

    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    for row in rows:
        monkeypatch.setattr(SQLiteStorage, "_count_day", full)
        with pytest.raises(Unavailable):
            storage.accept(survey, [row])
        monkeypatch.setattr(SQLiteStorage, "_count_day", original)
        assert storage.accept(survey, [row]) == Accepted(1, 0)
    assert caplog.records == []
    storage.close()
    (record,) = caplog.records
    assert "Writing has failed, and works again" in record.message and "disk is full" in record.message


def test_a_locked_database_is_waited_for(
    storage: SQLiteStorage, survey: Published, path: Path, example_answers: dict
) -> None:
    """A short lock is sat out; a long one is Unavailable; afterwards the same submission is taken."""
    first, second = rows_of(survey, example_answers, 2)
    lock = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    lock.execute("BEGIN IMMEDIATE")
    threading.Timer(0.1, lambda: lock.execute("ROLLBACK")).start()
    assert storage.accept(survey, [first]) == Accepted(1, 0)
    lock.execute("BEGIN IMMEDIATE")
    with pytest.raises(Unavailable, match="locked"):
        storage.accept(survey, [second])
    lock.execute("ROLLBACK")
    lock.close()
    assert storage.accept(survey, [second]) == Accepted(1, 0)


def test_a_database_that_was_overwritten_is_everybodys_trouble_alike(
    storage: SQLiteStorage, survey: Published, path: Path, example_answers: dict
) -> None:
    """The thread that commits and those that wait all get the same StorageError, which means try again later."""
    storage.close()
    path.write_bytes(b"nonsense" * 1000)

    def try_it(row: Row) -> str:
        with pytest.raises(StorageError) as caught:
            storage.accept(survey, [row])
        return str(caught.value)

    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(try_it, rows_of(survey, example_answers, 40)))
    assert len(set(told)) == 1 and "not an SQLite database" in told[0]


def test_a_folding_that_fails_loses_no_acknowledgement(
    storage: SQLiteStorage, survey: Published, example_answers: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was committed stays acknowledged when folding fails, and is folded the next time."""
    rows = rows_of(survey, example_answers, 120)

    def fail(*_: object) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    with monkeypatch.context() as patch:
        patch.setattr(SQLiteStorage, "_add_statistics", staticmethod(fail))
        for part in (rows[:40], rows[40:80]):
            assert storage.accept(survey, part) == Accepted(40, 0)
        assert storage.statistics(survey) == recounted(survey, rows[:80])
    assert storage.accept(survey, rows[80:]) == Accepted(40, 0)
    assert storage.statistics(survey) == storage.recount(survey) == recounted(survey, rows)
    assert storage.verify() == []


def test_a_closing_that_was_interrupted_is_finished_at_the_next_start(
    storage: SQLiteStorage, survey: Published, path: Path, example_answers: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crash after closing began leaves a survey that takes nothing, and the next start folds and compacts it."""
    rows = rows_of(survey, example_answers, 20)
    storage.accept(survey, rows)

    def crash(_: Connections) -> None:
        raise Unavailable("crash")

    with monkeypatch.context() as patch:
        patch.setattr(Connections, "compact", crash)
        with pytest.raises(Unavailable):
            storage.close_survey(survey)
    storage.close()
    assert Database(path).execute("SELECT status FROM surveys").fetchone() == ("closing",)
    again = SQLiteStorage(path)
    again.finish_closing()
    assert Database(path).execute("SELECT status FROM surveys").fetchone() == ("closed",)
    assert again.statistics(survey) == recounted(survey, rows)
    again.close()


def test_an_old_log_is_never_taken_for_a_new_databases(path: Path, storage: SQLiteStorage) -> None:
    """If a database was moved away without its log, no new one is made there: the log may contain submissions."""
    storage.close()
    path.rename(path.with_name("old.db"))
    log = Path(f"{path}-wal")
    log.write_bytes(b"acknowledged")
    with pytest.raises(StorageError, match="is left from the database that was here"):
        SQLiteStorage(path)
    assert not path.exists() and log.read_bytes() == b"acknowledged"


@pytest.mark.parametrize("replaced", [False, True])
def test_nothing_is_acknowledged_into_a_file_that_is_gone(
    storage: SQLiteStorage, survey: Published, path: Path, example_answers: dict, replaced: bool
) -> None:
    """Moved away or replaced under a running server, the database is unavailable until it is put back."""
    first, second = rows_of(survey, example_answers, 2)
    storage.accept(survey, [first])
    away = path.with_name("away")
    path.rename(away)
    if replaced:
        path.touch()
    for act in (lambda: storage.accept(survey, [second]), storage.ready, lambda: storage.statistics(survey)):
        with pytest.raises(Unavailable, match="moved away or replaced"):
            act()
    path.unlink(missing_ok=True)
    away.rename(path)
    assert storage.accept(survey, [second]) == Accepted(1, 0)
    assert storage.statistics(survey) == recounted(survey, [first, second])


def test_a_missing_database_is_not_made_unless_wanted(path: Path) -> None:
    """With create=False, a missing database is an error."""
    with pytest.raises(StorageError, match="There is no database at"):
        SQLiteStorage(path, create=False)
    assert not path.exists()


def test_closing_waits_for_downloads(
    storage: SQLiteStorage, survey: Published, path: Path, example_answers: dict
) -> None:
    """While a reader keeps the log from being wiped, the survey takes nothing more but is not closed yet."""
    rows = rows_of(survey, example_answers, 30)
    for row in rows:
        storage.accept(survey, [row])
    with storage.submissions(survey) as submissions:
        list(submissions)
        with pytest.raises(Unavailable, match="download"):
            storage.close_survey(survey)
        assert Database(path).execute("SELECT status FROM surveys").fetchone() == ("closing",)
    assert storage.close_survey(survey) is True
    assert Database(path).execute("SELECT status FROM surveys").fetchone() == ("closed",)
    assert not any(row.id in Path(f"{path}-wal").read_bytes() for row in rows)


def test_a_deletion_that_waits_for_a_download_costs_nobody_anything(
    path: Path, example: bytes, example_answers: dict
) -> None:
    """While the log cannot be cut, the file is not rewritten, which would fill the disk; and others are stored
    meanwhile. When the download has ended, the files are wiped.
    """
    storage = SQLiteStorage(path, busy_seconds=60, fold_at=50)
    storage.publish(example)
    storage.publish(publish_survey(survey_from_tree({"id": "gone", "title": "Gone", "questions": [ASKED]})))
    survey, gone = storage.find("campus-health"), storage.find("gone")
    assert survey is not None and gone is not None
    storage.accept(survey, rows_of(survey, example_answers, 5_000))
    assert storage._connections.cut_log()
    with ThreadPoolExecutor(1) as pool:
        with storage.submissions(survey) as submissions:
            assert len(list(submissions)) == 5_000
            deleting = pool.submit(storage.delete_survey, gone)
            while storage.find("gone") is not None:
                time.sleep(0.01)
            assert storage.accept(survey, rows_of(survey, example_answers, 3)) == Accepted(3, 0)
            assert not deleting.done()
            assert Path(f"{path}-wal").stat().st_size < path.stat().st_size / 2
        deleting.result()
    assert Database(path).execute("SELECT count(*) FROM deletions").fetchone() == (0,)
    storage.close()


def test_servers_together_fold_no_fewer_than_the_threshold(
    storage: SQLiteStorage, survey: Published, path: Path, example_answers: dict
) -> None:
    """A server that counted up to its threshold after another had folded does not fold the few that are left."""
    other_server = SQLiteStorage(path, fold_at=50)
    rows = rows_of(survey, example_answers, 110)
    for row in rows[:49]:
        other_server.accept(survey, [row])
    for row in rows[49:99]:
        storage.accept(survey, [row])
    storage.close()  # after what it still has to do
    sealed = "SELECT count(*) FROM sealed"
    assert Database(path).execute(sealed).fetchone() == (99,)
    other_server.accept(survey, rows[99:100])
    other_server.close()
    assert Database(path).execute(sealed).fetchone() == (99,)


def test_what_another_server_stores_while_this_one_folds_is_not_sealed_alone(
    storage: SQLiteStorage, survey: Published, path: Path, example_answers: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A submission that arrives during a folding would stand out if sealed alone, so it waits for the next folding."""
    other_server = SQLiteStorage(path, fold_at=50)
    *rows, late = rows_of(survey, example_answers, 51)
    fold_chunk = storage._fold_chunk

    def and_one_comes(survey: Published, at_least: int) -> int:
        folded = fold_chunk(survey, at_least)
        other_server.accept(survey, [late])
        return folded

    monkeypatch.setattr(storage, "_fold_chunk", and_one_comes)
    for row in rows:
        storage.accept(survey, [row])
    storage.close()  # after what it still has to do
    counts = "SELECT (SELECT count(*) FROM sealed), (SELECT count(*) FROM inbox)"
    assert Database(path).execute(counts).fetchone() == (50, 1)
    other_server.close()


def test_folding_that_fails_is_logged_later_and_put_off(
    storage: SQLiteStorage,
    survey: Published,
    example_answers: dict,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """On a disk where submissions fit and foldings do not, the log does not note each respondent's time."""

    def fail(*_: object) -> None:
        raise RuntimeError("not even a storage error")

    monkeypatch.setattr(SQLiteStorage, "_add_statistics", staticmethod(fail))
    for row in rows_of(survey, example_answers, 80):
        assert storage.accept(survey, [row]) == Accepted(1, 0)
    assert caplog.records == []
    storage.ready()
    storage.close()
    assert [record.message for record in caplog.records] == ["Folding has failed, and still fails: RuntimeError"]


# --- what the files reveal -------------------------------------------------------------------------------------------


def test_folding_leaves_no_trace_of_the_inbox(
    storage: SQLiteStorage, survey: Published, path: Path, example_answers: dict
) -> None:
    """After folding the write-ahead log is empty, and every id is in pages of the sealed table and in no other place.

    Where SQLite splits a page, a second copy of a row may be left in the unused part of it: of the same table.
    """
    rows = rows_of(survey, example_answers, 300)
    for row in rows:
        storage.accept(survey, [row])
    storage.fold(survey)
    assert Path(f"{path}-wal").stat().st_size == 0
    content = path.read_bytes()
    with sqlite3.connect(path) as database:
        sealed = {page for (page,) in database.execute("SELECT pageno FROM dbstat WHERE name = 'sealed'")}
        (size,) = database.execute("PRAGMA page_size").fetchone()
    database.close()
    for row in rows:
        pages = {found.start() // size + 1 for found in re.finditer(re.escape(row.id), content)}
        assert pages and pages <= sealed


def test_a_reader_does_not_hold_up_folding(storage: SQLiteStorage, survey: Published, example_answers: dict) -> None:
    """A download under way sees its own state; submissions and folding go on, and the log is cut when it has ended."""
    rows = rows_of(survey, example_answers, 200)
    storage.accept(survey, rows[:60])
    with storage.submissions(survey) as submissions:
        seen = list(submissions)
        assert storage.accept(survey, rows[60:]) == Accepted(140, 0)
        assert list(submissions) == seen and len(seen) == 60
        assert storage.statistics(survey) == recounted(survey, rows)
    storage.fold(survey)
    assert storage.verify() == []


# --- copies ----------------------------------------------------------------------------------------------------------


def test_backup_and_restore(
    storage: SQLiteStorage, survey: Published, path: Path, tmp_path: Path, example_answers: dict
) -> None:
    """A backup made while others write is whole, private and verified; what is restored from it goes on."""
    rows = rows_of(survey, example_answers, 90)
    storage.accept(survey, rows[:60])
    storage.accept(survey, rows[60:])
    backup = tmp_path / "backup.db"
    storage.backup(str(backup), KEY)
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    target = tmp_path / "restored.db"
    restore(backup, target, KEY)
    restored = SQLiteStorage(target)
    assert restored.statistics(survey) == recounted(survey, rows)
    assert restored.accept(survey, rows) == Accepted(0, 90)
    restored.close()
    assert sorted(file.name for file in tmp_path.iterdir() if file.name.startswith(".")) == []


def test_nothing_is_ever_overwritten(storage: SQLiteStorage, path: Path, tmp_path: Path) -> None:
    """Neither backup nor restore touches a file that is there."""
    taken = tmp_path / "taken.db"
    taken.write_text("mine")
    with pytest.raises(StorageError, match="exists already"):
        storage.backup(str(taken), KEY)
    with pytest.raises(StorageError, match="exists already"):
        restore(path, taken, KEY)
    assert taken.read_text() == "mine"


def first_submission(content: bytes | bytearray) -> int:
    """Where the content of a submission begins: a booklet, then its reports."""
    found = re.search(rb"\[\d+,\[", content)
    assert found is not None
    return found.start()


def damage_page(file: Path) -> None:
    content = bytearray(file.read_bytes())
    start = first_submission(content) // 4096 * 4096  # of its page: the first bytes say what kind of page it is
    content[start : start + 100] = bytes(100)
    file.write_bytes(content)


def damage_report(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[content.index(b",[", first_submission(content)) + 2] ^= 1  # its first report: 0 becomes 1, or 1 becomes 0
    file.write_bytes(content)


def damage_text(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[first_submission(content)] = 0xFF
    file.write_bytes(content)


def altering(statement: str) -> Callable[[Path], None]:
    """Damage by a statement."""

    def damage(file: Path) -> None:
        database = sqlite3.connect(file)
        assert database.execute(statement).rowcount > 0
        database.commit()
        database.close()

    return damage


MORE = "UPDATE statistics SET counts = replace(counts, '[', '[1') WHERE"
BY_STATEMENT = {
    "statistics": f"{MORE} margin = 1 AND source = 0",
    "totals": f"{MORE} margin = 0 AND source = 0",
    "repeats": "UPDATE repeats SET counts = replace(counts, ',1,', ',2,')",
    "rows": "DELETE FROM inbox WHERE id = (SELECT min(id) FROM inbox)",
    "a source's cells": f"{MORE} margin = 1 AND source = 1",
    "all of a source": f"{MORE} source = 1",
    "whose it is": "UPDATE statistics SET source = 2 WHERE source = 1 AND margin = 1",
}


def damage_length(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-4096])


@pytest.mark.parametrize(
    "damage",
    [damage_page, damage_report, damage_text, damage_length, *map(altering, BY_STATEMENT.values())],
    ids=["page", "report", "text", "length", *BY_STATEMENT],
)
def test_a_damaged_backup_is_not_restored(
    storage: SQLiteStorage, survey: Published, tmp_path: Path, example_answers: dict, damage: Callable[[Path], None]
) -> None:
    """Broken pages, statistics that differ from a recount and missing submissions are found before anything is put
    in place.
    """
    rows = rows_of(survey, example_answers, 80)
    storage.accept(survey, rows[:60], "kiosk")
    storage.accept(survey, rows[60:])
    if damage is damage_report:
        storage.fold(survey)  # in the inbox, one report for another would be no contradiction to anything
    backup, target = tmp_path / "backup.db", tmp_path / "restored.db"
    storage.backup(str(backup), KEY)
    damage(backup)
    with pytest.raises(StorageError):
        restore(backup, target, None)
    assert not target.exists()
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(UNFINISHED)] == []


def test_the_file_of_a_crashed_server_is_not_a_backup(
    storage: SQLiteStorage, survey: Published, path: Path, tmp_path: Path, example_answers: dict
) -> None:
    """A file with part of its data still in its log is refused, and the message gives the command for a backup."""
    storage.accept(survey, rows_of(survey, example_answers, 5))
    with pytest.raises(StorageError, match="deniable backup --database"):
        restore(path, tmp_path / "new.db", KEY)


def test_a_file_system_without_links(
    storage: SQLiteStorage, survey: Published, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Backups work where files cannot have two names."""

    def refuse(*_: object) -> None:
        raise PermissionError("no links here")

    monkeypatch.setattr("os.link", refuse)
    storage.backup(str(tmp_path / "b.db"), KEY)
    restore(tmp_path / "b.db", tmp_path / "c.db", KEY)


def test_a_foreign_file_is_not_restored(tmp_path: Path) -> None:
    """A file that is no backup of Deniable's is refused."""
    (tmp_path / "x").write_text("nothing" * 1000)
    with pytest.raises(StorageError):
        restore(tmp_path / "x", tmp_path / "a.db", None)
    assert not (tmp_path / "a.db").exists()


def test_row_is_plain() -> None:
    """A stored row is an id and a text: there is no room for anything else about a respondent."""
    assert Row._fields == ("id", "content")


def test_of_a_deleted_survey_no_byte_is_left(tmp_path: Path, example: bytes) -> None:
    """Its id, its texts, ids of its submissions, folded or not, labels of its collectors and links, and its key
    are in no file of the database, although another server has it open; the other survey's are.
    """
    path, texts = tmp_path / "a.db", ["zebra-finches", "Do zebra finches sing?", "finch-kiosk", "finch reader"]
    storages = [SQLiteStorage(path, fold_at=50) for _ in range(2)]
    storages[0].publish(example)
    questions = [{"id": "sing", "type": "yes_no", "text": texts[1]}]
    tree = {"id": texts[0], "title": "Birds", "epsilon": 1, "invitations": True, "questions": questions}
    survey = survey_from_tree(tree)
    key = storages[0].invitations.ensure_key(texts[0])
    storages[0].publish(publish_survey(survey, key.public))
    published, kept = storages[1].find(texts[0]), storages[0].find("campus-health")
    assert published is not None and kept is not None
    codes = [secrets.token_bytes(32) for _ in range(3)]
    storages[0].invitations.add(published, codes)
    storages[0].invitations.take(published, codes[0], secrets.token_bytes(32))
    storages[0].tokens.add(Token("bb", "analyst", "Bird watcher", "e" * 64, "2026-03-01"))
    storages[0].tokens.add(Token("aa", "reader", texts[3], "d" * 64, "2026-03-01", {texts[0]: "reader"}, maker="bb"))
    rows = [Row(secrets.token_bytes(16), "[0,[1],[]]") for _ in range(200)]
    for start in range(0, 180, 20):
        storages[1].accept(published, rows[start : start + 20], texts[2])
    for row in rows[180:]:
        storages[0].accept(published, [row])
    marks = [*(text.encode() for text in texts), *(row.id for row in rows), *codes, key.dump()[-64:]]

    def found() -> set[bytes]:
        content = b"".join(file.read_bytes() for file in tmp_path.glob("a.db*"))
        assert b"campus-health" in content
        return {mark for mark in marks if mark in content}

    assert found() == {*marks}
    storages[0].delete_survey(published)
    assert found() == set()
    for storage in storages:
        assert storage.verify() == []
        storage.close()
    assert found() == set()
