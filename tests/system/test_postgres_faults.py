"""PostgreSQL at the wrong moment: closings among readers, settings that change, homes that are another's."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest
from test_postgres import read, wait_for_a_lock

from deniable_protocol import publish, survey_from_tree
from deniable_server.checks.doctor import examine
from deniable_server.errors import StorageError, Unavailable
from deniable_server.settings import Settings
from deniable_server.storage import Accepted, Published, Session, Storage, Token, open_storage
from deniable_server.storage.postgres.names import for_survey
from deniable_server.storage.postgres.pool import SIZES
from deniable_server.storage.postgres.storage import ALONE_TO_REWRITE, PostgresStorage
from tests.helpers.postgres import Cluster, cluster
from tests.helpers.storage_contract import OTHER, recounted, rows_of

FAR = 2**40


@pytest.fixture
def address(postgres: Cluster) -> str:
    return postgres.new_database()


@pytest.fixture
def storage(address: str) -> Iterator[PostgresStorage]:
    made = PostgresStorage(address, fold_at=50)
    yield made
    made.close()


@pytest.fixture
def survey(storage: PostgresStorage, example: bytes) -> Published:
    return published(storage, example)


def published(storage: Storage, document: bytes, survey: str = "campus-health") -> Published:
    storage.publish(document)
    found = storage.find(survey)
    assert found is not None
    return found


# --- closing ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["download", "statistics", "recount", "verify"])
def test_who_reads_while_a_survey_is_closed_sees_all_of_it(
    way: str,
    storage: PostgresStorage,
    survey: Published,
    address: str,
    example_answers: dict,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A reader that comes just when new tables are put in the place of the old ones waits, and then sees every row."""
    rows = rows_of(survey, example_answers, 120)
    storage.accept(survey, rows)
    real = PostgresStorage._lock_out

    def with_a_reader(self: PostgresStorage, connection: Any, number: int) -> None:
        real(self, connection, number)
        reading.append(pool.submit(read_it))
        wait_for_a_lock(address)

    def read_it() -> object:
        if way == "download":
            with reader.submissions(survey) as submissions:
                return len(list(submissions))
        return reader.verify() if way == "verify" else getattr(reader, way)(survey)

    reading: list[Any] = []
    reader = PostgresStorage(address)
    monkeypatch.setattr(PostgresStorage, "_lock_out", with_a_reader)
    with ThreadPoolExecutor(1) as pool:
        storage.close_survey(survey)
        found = reading[0].result()
    reader.close()
    assert found == {"download": 120, "verify": []}.get(way, recounted(survey, rows))


def test_a_closing_touches_no_table_of_another_survey(
    storage: PostgresStorage, survey: Published, address: str
) -> None:
    """It does not wait for who has those to itself. Two closings that waited for each other would both fail."""
    other = published(storage, publish(survey_from_tree(OTHER)), "other")
    alone = ", ".join(f"deniable.{name}_{other.number}" for name in ("inbox", "sealed", "issued"))
    with psycopg.connect(address) as connection:
        connection.execute(f"LOCK TABLE {alone} IN ACCESS EXCLUSIVE MODE".encode())
        assert storage.close_survey(survey) is True


def test_what_follows_the_lock_waits_as_long_as_everything_else(storage: PostgresStorage, survey: Published) -> None:
    """Only the lock itself is tried for moments at a time."""
    with storage._pool.housekeeping() as connection:
        usual = connection.execute("SHOW lock_timeout").fetchone()
        storage._lock_out(connection, for_survey(survey.number, ALONE_TO_REWRITE))
        assert connection.execute("SHOW lock_timeout").fetchone() == usual == ("5s",)


def test_two_surveys_are_closed_at_once(storage: PostgresStorage, survey: Published, address: str) -> None:
    """Closings of different surveys do not wait for each other, and none fails."""
    surveys = []
    for number in range(12):
        surveys.append(published(storage, publish(survey_from_tree({**OTHER, "id": f"o{number}"})), f"o{number}"))
        storage.accept(surveys[-1], [row._replace(content="[0,[1],[]]") for row in some_rows(200)])
    servers = [PostgresStorage(address) for _ in range(2)]
    with ThreadPoolExecutor(2) as pool:
        for first, second in zip(surveys[::2], surveys[1::2], strict=True):
            closed = pool.map(lambda server, each: server.close_survey(each), servers, (first, second))
            assert list(closed) == [True, True]
    for server in servers:
        server.close()
    assert read(address, "SELECT status, count(*) FROM surveys GROUP BY status ORDER BY status") == [
        ("closed", 12),
        ("open", 1),
    ]
    assert storage.verify() == []


def some_rows(n: int) -> list[Any]:
    import os

    from deniable_server.storage import Row

    return [Row(os.urandom(16), "") for _ in range(n)]


def test_the_planner_remembers_nobody(
    storage: PostgresStorage, survey: Published, address: str, example_answers: dict
) -> None:
    """Samples that PostgreSQL takes of a table would outlive its rows: there are none, of no column, but for the number
    of the survey in its own table of submissions.
    """
    storage.accept(survey, rows_of(survey, example_answers, 90), "kiosk")
    storage.accept(survey, rows_of(survey, example_answers, 40))
    allowed = {(f"sealed_{survey.number}", "survey")}
    sampled = "SELECT tablename, attname FROM pg_stats WHERE schemaname = %s"
    for close in (False, True):
        if close:
            storage.close_survey(survey)
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("ANALYZE")
        assert {*read(address, sampled, "deniable")} == allowed


def test_of_a_deleted_survey_no_byte_is_left(
    storage: PostgresStorage, survey: Published, address: str, postgres: Cluster
) -> None:
    """Its id, its texts, the labels of its collectors and links, ids of submissions and counts are in no table's file,
    although PostgreSQL has looked at all tables for its planner; the other survey's are.
    """
    texts = ["zebra-finches", "Do zebra finches sing?", "finch-kiosk", "finch reader"]
    questions = [{"id": "sing", "type": "yes_no", "text": texts[1], "epsilon": "1"}]
    tree = {"id": texts[0], "title": "Birds", "questions": questions}
    birds = published(storage, publish(survey_from_tree(tree)), texts[0])
    storage.tokens.add(Token("bb", "analyst", "Bird watcher", "e" * 64, "2026-03-01"))
    storage.tokens.add(Token("aa", "reader", texts[3], "d" * 64, "2026-03-01", {texts[0]: "reader"}, maker="bb"))
    rows = [row._replace(content="[0,[1],[]]") for row in some_rows(77)]
    storage.accept(birds, rows[:60], texts[2])
    storage.accept(birds, rows[60:])
    (counts,) = read(address, "SELECT min(counts) FROM repeats WHERE survey = %s", birds.number)[0]
    marks = [text.encode() for text in (*texts, counts)] + [row.id for row in rows]

    def found() -> set[bytes]:
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("ANALYZE")
            connection.execute("CHECKPOINT")
        ((database,),) = read(address, "SELECT oid FROM pg_database WHERE datname = current_database()")
        content = b"".join(file.read_bytes() for file in (postgres.folder / "base" / str(database)).iterdir())
        assert b"campus-health" in content
        return {mark for mark in marks if mark in content}

    assert found() >= {text.encode() for text in texts}
    storage.delete_survey(birds)
    assert found() == set()


def test_a_quiet_folding_leaves_no_file_behind(
    storage: PostgresStorage, survey: Published, address: str, example_answers: dict
) -> None:
    """If nobody is sending, the inbox gets a new, empty file after a folding: the old one revealed the order."""
    rows = rows_of(survey, example_answers, 120)
    storage.accept(survey, rows[:40])
    assert read(address, f"SELECT pg_relation_size('inbox_{survey.number}') > 0") == [(True,)]
    storage.accept(survey, rows[40:80])
    storage.close()  # after it has folded
    assert read(address, f"SELECT pg_relation_size('inbox_{survey.number}')") == [(0,)]
    assert storage.accept(survey, rows) == Accepted(40, 80)
    assert storage.statistics(survey) == recounted(survey, rows)


def test_closings_leave_connections_for_submissions(
    storage: PostgresStorage, survey: Published, example_answers: dict
) -> None:
    """As many closings as one process can have, and more, take nothing from those who answer."""
    with ExitStack() as busy:
        for _ in range(SIZES["housekeeping"]):
            busy.enter_context(storage._pool.housekeeping())
        assert storage.accept(survey, rows_of(survey, example_answers, 3)) == Accepted(3, 0)


# --- settings that change --------------------------------------------------------------------------------------------


def test_durability_cannot_be_taken_away_from_an_open_connection(example: bytes, example_answers: dict) -> None:
    """A reload that turns synchronous_commit off changes nothing for us; one that turns fsync off, and nothing more is
    acknowledged.
    """
    with cluster() as own:
        storage = PostgresStorage(own.address())
        survey = published(storage, example)
        rows = rows_of(survey, example_answers, 30)
        storage.accept(survey, rows[:10])

        def reload(setting: str, value: str) -> None:
            own.run(f"ALTER SYSTEM SET {setting} = '{value}'")
            own.run("SELECT pg_reload_conf()")
            deadline = time.monotonic() + 20
            while read(own.address(), f"SHOW {setting}") != [(value,)]:
                assert time.monotonic() < deadline

        reload("synchronous_commit", "off")
        with storage._pool.writing() as connection:
            assert connection.execute("SHOW synchronous_commit").fetchone() == ("on",)
        reload("fsync", "off")
        with pytest.raises(Unavailable, match="cannot promise durability"):
            storage.accept(survey, rows[10:20])
        reload("fsync", "on")
        assert storage.accept(survey, rows[10:]) == Accepted(20, 0)
        storage.close()


def test_a_database_that_cannot_be_written_is_not_ready(
    postgres: Cluster, address: str, storage: PostgresStorage, survey: Published, example_answers: dict, caplog: Any
) -> None:
    """On a read-only database every submission is refused, readiness says no, and the log has one line for it all."""
    name = address.split("?")[0].rsplit("/", 1)[1]
    postgres.run(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    storage.close()
    for row in rows_of(survey, example_answers, 5):
        with pytest.raises(Unavailable, match="ReadOnlySqlTransaction"):
            storage.accept(survey, [row])
        with pytest.raises(Unavailable):
            storage.ready()
    assert caplog.records == [], "a line now would show when somebody answered"
    postgres.run(f"ALTER DATABASE {name} SET default_transaction_read_only = off")
    storage.close()
    storage.ready()
    storage.close()
    lines = [record.message for record in caplog.records if "Writing" in record.message]
    assert len(lines) == 1 and "still fails" in lines[0]


def test_the_first_who_come_after_a_restart_are_served(example: bytes, example_answers: dict) -> None:
    """Connections that a restart has cut cost nobody a refusal, however many lie in the pools."""
    with cluster() as own:
        storage = PostgresStorage(own.address())
        survey = published(storage, example)
        rows = rows_of(survey, example_answers, 20)
        with ExitStack() as open_at_once:
            for _ in range(SIZES["reading"]):
                open_at_once.enter_context(storage._pool.reading())
        storage.accept(survey, rows[:10])
        own.stop()
        own.start()
        assert storage.status(survey) == "open"
        assert storage.accept(survey, rows[10:]) == Accepted(10, 0)
        assert storage.recount(survey) == recounted(survey, rows)
        storage.close()


def test_a_connection_that_is_cut_while_it_is_lent_goes_back(
    storage: PostgresStorage, survey: Published, address: str, example_answers: dict
) -> None:
    """However often a connection is found to be cut only when its transaction ends, the pool does not run dry."""

    def broken_off() -> None:
        with storage._pool.writing() as connection:
            connection.execute("SELECT 1")
            read(address, "SELECT pg_terminate_backend(%s)", connection.info.backend_pid)
            raise Unavailable("something else")

    for _ in range(2 * SIZES["storing"]):
        with pytest.raises(Unavailable):
            broken_off()
    assert storage.accept(survey, rows_of(survey, example_answers, 3)) == Accepted(3, 0)


def test_the_doctor_sees_connections_in_the_log(postgres: Cluster) -> None:
    """In a quiet hour, a log of connections reveals when somebody came."""
    with cluster(log_connections="on") as own:
        PostgresStorage(own.address()).close()
        found = {each.check: each.state for each in examine(Settings(database=own.address()))}
    assert found["connection log"] == "warning"


# --- names and homes -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_an_id_that_cannot_be_is_no_survey(kind: str, tmp_path: Path, postgres: Cluster) -> None:
    """An impossible id, even with a NUL, is not found, and is no error of the database."""
    storage = open_storage(postgres.new_database() if kind == "postgresql" else str(tmp_path / "a.db"))
    for name in ("a\0b", "", "x" * 64, "Größe", "a'b"):
        assert storage.find(name) is None
    storage.ready()
    storage.close()


@pytest.mark.parametrize(
    "wrong",
    [
        "postgresql://u:sec ret@h/d",
        "postgresql://u:se%zzcret@h/d",
        "postgresql://u:sec@ret@h/d",
        "postgresql:u:secret@h/d",
        "postgresql://u:secret@127.0.0.1:1/d",
    ],
)
def test_no_password_in_a_message(wrong: str) -> None:
    """An address that is wrong is not repeated: it may contain a password."""
    with pytest.raises(StorageError) as refused:
        open_storage(wrong)
    assert "ret" not in str(refused.value)


def test_a_schema_that_somebody_else_has_prepared_is_refused(postgres: Cluster, address: str) -> None:
    """Code in our schema runs as us: a schema that another user made, or that contains even a function, is not used."""
    with psycopg.connect(address) as connection:
        connection.execute("CREATE SCHEMA deniable")
        connection.execute("CREATE FUNCTION deniable.trap() RETURNS integer LANGUAGE sql AS 'SELECT 1'")
    with pytest.raises(StorageError, match="another"):
        PostgresStorage(address)
    second = postgres.new_database()
    role = f"mallory_{second.split('?')[0].rsplit('/', 1)[1]}"
    user = f"alice_{second.split('?')[0].rsplit('/', 1)[1]}"
    postgres.run(f"CREATE ROLE {role}")
    postgres.run(f"CREATE ROLE {user} LOGIN")
    with psycopg.connect(second) as connection:
        connection.execute(f"CREATE SCHEMA deniable AUTHORIZATION {role}".encode())
        connection.execute(f"GRANT ALL ON SCHEMA deniable TO {user}".encode())
    with pytest.raises(StorageError, match="another"):
        PostgresStorage(f"{second}&user={user}")


def test_a_session_can_be_put_off_while_others_fold(storage: PostgresStorage, survey: Published) -> None:
    """Noting that a session is in use takes none of the connections that housekeeping has."""
    storage.tokens.add(Token("ab12", "analyst", "Ann", "d" * 64, "2026-03-01"))
    storage.tokens.begin(Session("1" * 64, "ab12", 0, 100, FAR), now=0, most=9)
    with ExitStack() as busy:
        for _ in range(SIZES["housekeeping"]):
            busy.enter_context(storage._pool.housekeeping())
        storage.tokens.used("1" * 64, 400)
    assert storage.tokens.shown("1" * 64, now=300)
