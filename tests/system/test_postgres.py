"""What only PostgreSQL can get wrong: several servers at once, traces of arrival, migrations, and being away."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import date
from typing import Any

import numpy as np
import psycopg
import pytest

from deniable_server.checks.doctor import examine
from deniable_server.errors import BadFieldwork, StorageError, Unavailable
from deniable_server.settings import Settings
from deniable_server.storage import Accepted, Fieldwork, Published, Row
from deniable_server.storage.postgres.names import STORING, lock_of
from deniable_server.storage.postgres.schema import MIGRATIONS, Migration
from deniable_server.storage.postgres.storage import PostgresStorage
from tests.helpers.postgres import Cluster, cluster
from tests.helpers.storage_contract import recounted, rows_of

TODAY = date(2026, 3, 1)


@pytest.fixture
def address(postgres: Cluster) -> str:
    return postgres.new_database()


@pytest.fixture
def servers(address: str) -> Iterator[list[PostgresStorage]]:
    """Three on one database."""
    made = [PostgresStorage(address, fold_at=50, today=lambda: TODAY) for _ in range(3)]
    yield made
    for storage in made:
        storage.close()


@pytest.fixture
def survey(servers: list[PostgresStorage], example: bytes) -> Published:
    servers[0].publish(example)
    found = servers[0].find("campus-health")
    assert found is not None
    return found


def read(address: str, statement: str, *values: object) -> list[tuple[Any, ...]]:
    with psycopg.connect(address, options="-c search_path=deniable") as connection:
        return connection.execute(statement.encode(), values).fetchall()


# --- several servers -------------------------------------------------------------------------------------------------


def test_a_submission_that_is_folded_while_it_is_sent_again_is_stored_once(
    servers: list[PostgresStorage], survey: Published, example_answers: dict, address: str
) -> None:
    """A retry that waits for the folding of its first copy finds it sealed when the folding is committed."""
    (row,) = rows_of(survey, example_answers, 1)
    first, second, _ = servers
    first.accept(survey, [row])
    with psycopg.connect(address, options="-c search_path=deniable") as folding, ThreadPoolExecutor(1) as pool:
        folding.execute(f"DELETE FROM inbox_{survey.number}".encode())
        folding.execute(
            f"INSERT INTO sealed_{survey.number} VALUES (%s, %s, %s)".encode(), (survey.number, row.id, row.content)
        )
        retry = pool.submit(second.accept, survey, [row])
        wait_for_a_lock(address)
        folding.commit()
        assert retry.result() == Accepted(0, 1)
    assert read(address, "SELECT count(*) FROM inbox") == [(0,)]
    assert read(address, "SELECT count(*) FROM sealed") == [(1,)]


def wait_for_a_lock(address: str) -> None:
    """Until somebody waits for somebody else's lock."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if read(address, "SELECT 1 FROM pg_locks WHERE NOT granted"):
            return
        time.sleep(0.01)
    raise AssertionError("nobody waits")


def test_servers_fold_at_the_same_time_and_no_row_is_everybodys(
    servers: list[PostgresStorage],
    survey: Published,
    example_answers: dict,
    address: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two servers that are in the middle of folding each have rows and counters of their own: neither waits."""
    rows = rows_of(survey, example_answers, 60)
    servers[0].accept(survey, rows[:30])
    together = threading.Barrier(2, timeout=20)
    real = PostgresStorage._add_statistics

    def slowly(connection: Any, survey: Published, contents: Any) -> None:
        real(connection, survey, contents)
        together.wait()  # both have written their counters, and neither has committed

    monkeypatch.setattr(PostgresStorage, "_add_statistics", staticmethod(slowly))
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(servers[0].fold, survey)
        while not together.n_waiting:
            time.sleep(0.01)
        servers[1].accept(survey, rows[30:])
        second = pool.submit(servers[1].fold, survey)
        assert (first.result(), second.result()) == (30, 30)
    assert read(address, "SELECT DISTINCT slot FROM statistics ORDER BY slot") == [(0,), (1,)]
    assert servers[2].statistics(survey) == recounted(survey, rows) == servers[2].recount(survey)
    assert servers[2].verify() == []


def test_the_same_submissions_in_any_order_on_all_servers(
    servers: list[PostgresStorage], survey: Published, example_answers: dict
) -> None:
    """Batches that share their submissions, in different orders, on three servers at once: each is counted once."""
    rows = rows_of(survey, example_answers, 120)

    def post(i: int) -> Accepted:
        order = np.random.default_rng(i).permutation(120)
        return servers[i % 3].accept(survey, [rows[j] for j in order[:80]])

    with ThreadPoolExecutor(12) as pool:
        totals = list(pool.map(post, range(24)))
    stored = servers[0].recount(survey)
    assert sum(total.accepted for total in totals) == stored.submissions
    assert servers[0].verify() == []


def test_closing_while_others_send_and_fold(
    servers: list[PostgresStorage], survey: Published, example_answers: dict
) -> None:
    """What was acknowledged before the closing is there; nothing is acknowledged after it."""
    rows = rows_of(survey, example_answers, 300)
    acknowledged: list[Row] = []

    def post(i: int) -> None:
        try:
            servers[i % 3].accept(survey, [rows[i]])
        except Exception:
            return
        acknowledged.append(rows[i])

    with ThreadPoolExecutor(8) as pool:
        sending = [pool.submit(post, i) for i in range(300)]
        while len(acknowledged) < 60:
            time.sleep(0.001)
        assert servers[2].close_survey(survey)
        for each in sending:
            each.result()
    assert 60 <= len(acknowledged) < 300
    for server in servers:
        assert server.statistics(survey) == server.recount(survey) == recounted(survey, acknowledged)
        assert server.status(survey) == "closed"
    assert servers[0].verify() == []


def in_the_middle_of_storing(monkeypatch: pytest.MonkeyPatch, together: threading.Barrier) -> None:
    """Whoever has stored something waits for others before it is committed, but not for ever."""
    real = PostgresStorage._store_all

    def and_wait(*given: Any) -> bool:
        stored = real(*given)
        with suppress(threading.BrokenBarrierError):
            together.wait()
        return stored

    monkeypatch.setattr(PostgresStorage, "_store_all", and_wait)


def test_a_number_is_set_when_those_who_are_being_stored_are_counted(
    servers: list[PostgresStorage],
    survey: Published,
    example_answers: dict,
    monkeypatch: pytest.MonkeyPatch,
    address: str,
) -> None:
    """A submission that another server has stored and not committed yet is one of the number."""
    together = threading.Barrier(2, timeout=60)
    in_the_middle_of_storing(monkeypatch, together)
    with ThreadPoolExecutor(2) as pool:
        storing = pool.submit(servers[0].accept, survey, rows_of(survey, example_answers, 3))
        while not together.n_waiting:
            time.sleep(0.01)
        setting = pool.submit(servers[1].schedule, survey, Fieldwork(most=3))
        wait_for_a_lock(address)
        together.wait()
        assert storing.result() == Accepted(3, 0)
        with pytest.raises(BadFieldwork, match="3 already"):
            setting.result()
    assert servers[2].fieldwork(survey) == Fieldwork()


def test_who_waits_while_a_number_is_set_keeps_to_it(
    servers: list[PostgresStorage],
    survey: Published,
    example_answers: dict,
    monkeypatch: pytest.MonkeyPatch,
    address: str,
) -> None:
    """Two servers that wait to store while another sets the number store one after the other: of two for one place,
    one is refused.
    """
    in_the_middle_of_storing(monkeypatch, threading.Barrier(2, timeout=2))
    rows = rows_of(survey, example_answers, 2)
    with psycopg.connect(address, options="-c search_path=deniable") as setting, ThreadPoolExecutor(2) as pool:
        setting.execute("SELECT pg_advisory_xact_lock(%s)", (lock_of(survey.number, STORING),))
        setting.execute("UPDATE surveys SET most = 1")
        sending = [pool.submit(server.accept, survey, [row]) for server, row in zip(servers, rows, strict=False)]
        while len(read(address, "SELECT 1 FROM pg_locks WHERE NOT granted")) < 2:
            time.sleep(0.01)
        setting.commit()
        refused = [each.exception() for each in sending]
    assert sorted(type(each).__name__ for each in refused) == ["NoneType", "SurveyClosed"]
    assert servers[2].days(survey) == {TODAY: 1}


def test_a_download_delays_closing_and_nothing_else(
    servers: list[PostgresStorage], survey: Published, example_answers: dict, address: str
) -> None:
    """While a reader is under way the survey is not closed; submissions to others go on; then it is finished."""
    rows = rows_of(survey, example_answers, 60)
    servers[0].accept(survey, rows)
    impatient = PostgresStorage(address, busy_seconds=1.0, fold_at=50)
    with servers[1].submissions(survey) as submissions:
        assert len(list(submissions)) == 60
        with pytest.raises(Unavailable, match="download"):
            impatient.close_survey(survey)
        assert servers[0].accept(survey, rows[:3]) == Accepted(0, 3), "a retry is answered meanwhile"
        assert len(list(submissions)) == 60, "and the reader sees what it saw"
    servers[2].finish_closing()
    impatient.close()
    assert read(address, "SELECT status FROM surveys") == [("closed",)]
    assert servers[0].statistics(survey) == recounted(survey, rows)


# --- traces ----------------------------------------------------------------------------------------------------------


def rank_correlation(order: list[int]) -> float:
    """Spearman's, of a permutation with the order of arrival, in standard deviations of a random permutation's."""
    n = len(order)
    centred = np.arange(n) - (n - 1) / 2
    rho = float(centred @ (np.array(order) - (n - 1) / 2)) / float(centred @ centred)
    return rho * (n - 1) ** 0.5


def test_nothing_tells_when_a_submission_came_once_the_survey_is_closed(
    servers: list[PostgresStorage], survey: Published, example_answers: dict, address: str
) -> None:
    """Neither place (ctid) nor transaction (xmin) of 10,000 rows has to do with their arrival: |z| < 4.9, which chance
    exceeds less than once in a million times; all rows are one transaction's, in the order of their random ids.
    """
    rows = rows_of(survey, example_answers, 10_000)
    for start in range(0, len(rows), 40):
        servers[start % 3].accept(survey, rows[start : start + 40])
    arrival = {row.id: number for number, row in enumerate(rows)}

    def placed() -> list[tuple[int, str]]:
        found = read(address, f"SELECT id, xmin::text FROM sealed_{survey.number} ORDER BY ctid")
        return [(arrival[bytes(submission)], xmin) for submission, xmin in found]

    before = placed()
    assert len({xmin for _, xmin in before}) > 10, "foldings can be told apart until then"
    assert rank_correlation([number for number, _ in before]) > 4.9, "else this test would see nothing"
    servers[0].close_survey(survey)
    after = placed()
    assert len(after) == 10_000
    assert len({xmin for _, xmin in after}) == 1
    assert abs(rank_correlation([number for number, _ in after])) < 4.9
    assert [rows[number].id for number, _ in after] == sorted(row.id for row in rows)
    assert read(address, f"SELECT pg_relation_size('inbox_{survey.number}')") == [(0,)]


def test_a_folding_lies_in_id_order(
    servers: list[PostgresStorage], survey: Published, example_answers: dict, address: str
) -> None:
    """Within a folding, place and transaction say nothing: rows are in the order of their ids, in one transaction."""
    rows = rows_of(survey, example_answers, 400)
    quiet = PostgresStorage(address, fold_at=10**6)
    for row in rows:
        quiet.accept(survey, [row])
    quiet.fold(survey)
    quiet.close()
    found = read(address, f"SELECT id, xmin::text FROM sealed_{survey.number} ORDER BY ctid")
    assert [bytes(submission) for submission, _ in found] == sorted(row.id for row in rows)
    assert len({xmin for _, xmin in found}) == 1


# --- migrations, settings, identity ----------------------------------------------------------------------------------


def test_of_many_that_start_one_migrates(address: str) -> None:
    """Sixteen servers that start at once on an empty database all come up; each migration is recorded once."""

    def start(_: int) -> str:
        storage = PostgresStorage(address)
        storage.close()
        return storage.secret_key

    with ThreadPoolExecutor(16) as pool:
        keys = set(pool.map(start, range(16)))
    assert len(keys) == 1, "and they have one secret key"
    recorded = read(address, "SELECT number, name FROM migrations ORDER BY number")
    assert recorded == [(migration.number, migration.name) for migration in MIGRATIONS]


def test_a_migration_is_done_whole_or_not_at_all(
    address: str, servers: list[PostgresStorage], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that fails half-way leaves nothing; when it is mended, it is applied, and numbers go on from there."""
    broken = Migration(99, "broken", ("CREATE TABLE more (a integer)", "CREATE TABLE more (a integer)"))
    monkeypatch.setattr("deniable_server.storage.postgres.schema.MIGRATIONS", (*MIGRATIONS, broken))
    with pytest.raises(StorageError):
        PostgresStorage(address)
    assert read(address, "SELECT to_regclass('more')") == [(None,)]
    mended = Migration(99, "mended", ("CREATE TABLE more (a integer)",))
    monkeypatch.setattr("deniable_server.storage.postgres.schema.MIGRATIONS", (*MIGRATIONS, mended))
    PostgresStorage(address).close()
    assert read(address, "SELECT max(number) FROM migrations") == [(99,)]
    monkeypatch.undo()
    with pytest.raises(StorageError, match="newer Deniable"):
        PostgresStorage(address)


def test_other_peoples_tables_are_left_alone(address: str) -> None:
    """A schema of our name with tables of another program is refused; without an installation, nothing is made."""
    with pytest.raises(StorageError, match="There is no installation"):
        PostgresStorage(address, create=False)
    with psycopg.connect(address) as connection:
        connection.execute("CREATE SCHEMA deniable")
        connection.execute("CREATE TABLE deniable.sessions (id text)")
    with pytest.raises(StorageError, match="another program"):
        PostgresStorage(address)


def test_a_database_that_was_replaced_is_noticed(
    address: str, survey: Published, servers: list[PostgresStorage]
) -> None:
    """If another installation is at the address, new connections read and acknowledge nothing."""
    with psycopg.connect(address) as connection:
        connection.execute("UPDATE deniable.installation SET id = 'another'")
    servers[0].close()
    with pytest.raises(Unavailable):
        servers[0].status(survey)


def test_durability_is_read_back(example: bytes) -> None:
    """Without fsync nothing is opened; synchronous_commit that is off for the database is on for us."""
    with cluster(fsync="off") as careless, pytest.raises(StorageError, match="fsync or full_page_writes is off"):
        PostgresStorage(careless.address())


def test_synchronous_commit_is_ours(postgres: Cluster, address: str) -> None:
    """Whatever a database has as its default, our connections wait for the disk."""
    name = address.split("?")[0].rsplit("/", 1)[1]
    postgres.run(f"ALTER DATABASE {name} SET synchronous_commit = off")
    storage = PostgresStorage(address)
    with storage._pool.writing() as connection:
        assert connection.execute("SHOW synchronous_commit").fetchone() == ("on",)
    storage.close()


@pytest.mark.parametrize(
    ("setting", "value", "said"),
    [
        ("log_statement", "all", "PostgreSQL logs submissions (log_statement is all)"),
        ("log_min_duration_statement", "100", "log_min_duration_statement is 100"),
        ("log_parameter_max_length_on_error", "-1", "of failed statements"),
    ],
)
def test_the_doctor_finds_logs_that_hold_submissions(
    postgres: Cluster, address: str, setting: str, value: str, said: str
) -> None:
    """A PostgreSQL that logs statements with their values reveals when each submission came."""
    PostgresStorage(address).close()
    settings = Settings(database=address)
    assert [(each.check, each.state) for each in examine(settings) if each.state == "problem"] == []
    name = address.split("?")[0].rsplit("/", 1)[1]
    postgres.run(f"ALTER DATABASE {name} SET {setting} = '{value}'")
    problems = [each.message for each in examine(settings) if each.state == "problem"]
    assert len(problems) == 1 and said in problems[0]


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("CREATE RULE r AS ON INSERT TO deniable.inbox DO INSTEAD NOTHING", "rule or view"),
        ("CREATE VIEW deniable.v AS SELECT 1", "rule or view"),
        (
            """
            CREATE FUNCTION deniable.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
            CREATE TRIGGER t BEFORE INSERT ON deniable.days FOR EACH ROW EXECUTE FUNCTION deniable.f()
            """,
            "function f, trigger t",
        ),
    ],
)
def test_the_doctor_finds_code_in_the_schema(address: str, statement: str, name: str) -> None:
    """A trigger, rule, view or function that Deniable did not make is a problem."""
    PostgresStorage(address).close()
    settings = Settings(database=address)
    assert {each.state for each in examine(settings) if each.check == "schema"} == {"ok"}
    with psycopg.connect(address) as connection:
        connection.execute(statement.encode())
    (found,) = [each for each in examine(settings) if each.check == "schema"]
    assert found.state == "problem" and name in found.message


def test_the_doctor_finds_commit_times_and_archives() -> None:
    """With track_commit_timestamp the database knows when each submission came; archived logs know the order."""
    with cluster(track_commit_timestamp="on", archive_mode="on", archive_command="true") as curious:
        PostgresStorage(curious.address()).close()
        found = {each.check: each.state for each in examine(Settings(database=curious.address()))}
    assert found["arrival times"] == "problem" and found["archive"] == "warning"


# --- errors and absence ----------------------------------------------------------------------------------------------


def test_an_error_says_nothing_of_a_row(
    address: str,
    servers: list[PostgresStorage],
    survey: Published,
    example_answers: dict,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """PostgreSQL quotes the row that breaks a rule; what is raised and logged here does not."""
    (row,) = rows_of(survey, example_answers, 1)
    with psycopg.connect(address) as connection:
        connection.execute(f"ALTER TABLE deniable.inbox_{survey.number} ADD CHECK (content = 'nothing')".encode())
    with pytest.raises(StorageError) as raised:
        servers[0].accept(survey, [row])
    said = str(raised.value) + caplog.text
    assert "CheckViolation" in said and row.content not in said and row.id.hex() not in said
    with pytest.raises(StorageError, match="cannot be reached") as unreachable:
        PostgresStorage("postgresql://me:very-secret@127.0.0.1:1/nowhere")
    assert "very-secret" not in str(unreachable.value)


def test_a_stopped_database_is_waited_for(example: bytes, example_answers: dict) -> None:
    """While PostgreSQL is away, sending and reading are refused as unavailable; then both work, with no new start."""
    with cluster() as own:
        storage = PostgresStorage(own.address(), busy_seconds=2.0)
        storage.publish(example)
        survey = storage.find("campus-health")
        assert survey is not None
        rows = rows_of(survey, example_answers, 30)
        storage.accept(survey, rows[:10])
        for start in (10, 20):
            own.stop()
            with pytest.raises(Unavailable):
                storage.accept(survey, rows[start:])
            with pytest.raises(Unavailable):
                storage.ready()
            own.start()
            deadline = time.monotonic() + 20
            while True:
                try:
                    storage.ready()
                    break
                except Unavailable:
                    assert time.monotonic() < deadline, "it did not come back"
            storage.accept(survey, rows[start : start + 10])
        assert storage.recount(survey) == recounted(survey, rows)
        storage.close()


def test_a_cut_connection_costs_nobody_a_submission(
    servers: list[PostgresStorage], survey: Published, example_answers: dict, address: str
) -> None:
    """Connections that the database has ended are noticed before they are used: the next submission is stored."""
    rows = rows_of(survey, example_answers, 3)
    for row in rows:
        servers[0].accept(survey, [row])
        read(
            address,
            # And wait until they have ended: a moment before that, nobody could notice.
            "SELECT pg_terminate_backend(pid, 20000) FROM pg_stat_activity WHERE application_name = %s"
            " AND datname = current_database()",
            "deniable",
        )
    assert servers[1].recount(survey) == recounted(survey, rows)


def test_downloads_leave_connections_for_submissions(
    servers: list[PostgresStorage], survey: Published, example_answers: dict
) -> None:
    """With as many readers under way as there may be, one more has to wait, and submissions are stored."""
    from contextlib import ExitStack

    from deniable_server.storage.postgres.pool import SIZES

    rows = rows_of(survey, example_answers, 3)
    server = servers[0]
    patience = server._pool.patience
    with ExitStack() as reading:
        for _ in range(SIZES["reading"]):
            iter(reading.enter_context(server.submissions(survey)))
        server._pool.patience = 0.2
        with pytest.raises(Unavailable, match="taken"):
            server.status(survey)
        server._pool.patience = patience
        assert server.accept(survey, rows) == Accepted(3, 0)
