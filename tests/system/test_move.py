"""Moving an installation from one database to another, in either direction."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import msgspec
import psycopg
import pytest
from click.testing import CliRunner

from deniable_protocol import publish, survey_from_tree
from deniable_server.cli import cli
from deniable_server.errors import StorageError, SurveyClosed, Unavailable
from deniable_server.storage import Accepted, Published, Session, Storage, Token, open_storage
from deniable_server.storage.transfer import move
from tests.helpers.postgres import Cluster
from tests.server.test_storage import OTHER, recounted, rows_of

KINDS = [("sqlite", "postgresql"), ("postgresql", "sqlite"), ("sqlite", "sqlite"), ("postgresql", "postgresql")]
FAR = 2**40  # seconds since 1970

New = Callable[[str], Storage]


@pytest.fixture
def new(tmp_path: Path, postgres: Cluster) -> Iterator[New]:
    """Opens a new database of the kind."""
    made: list[Storage] = []

    def opened(kind: str) -> Storage:
        address = postgres.new_database() if kind == "postgresql" else str(tmp_path / f"{len(made)}.db")
        made.append(open_storage(address))
        return made[-1]

    yield opened
    for storage in made:
        storage.close()


def filled(storage: Storage, example: bytes) -> tuple[Published, Published]:
    """Two surveys, an open one and a closed one, and people who may read them."""
    for published in (example, publish(survey_from_tree(OTHER))):
        storage.publish(published)
    first, second = storage.find("campus-health"), storage.find("other")
    assert first is not None and second is not None
    keyring = storage.keyring
    keyring.add(Token("zz", "admin", "the maker", "a" * 64, "2026-02-01"))
    keyring.add(Token("aa", "reader", "a link", "b" * 64, "2026-02-02", "other", "2099-01-01", "zz"))
    keyring.begin(Session("c" * 64, "zz", 5, FAR, FAR), now=5, most=9)
    keyring.begin(Session("d" * 64, "zz", 6, FAR + 1, FAR + 1), now=6, most=9)
    return first, second


@pytest.mark.parametrize(("kind", "to"), KINDS)
def test_everything_arrives(kind: str, to: str, new: New, example: bytes, example_answers: dict) -> None:
    """Surveys, their status and dates, submissions folded or not, days, tokens and sessions are the same after it."""
    source, target = new(kind), new(to)
    first, second = filled(source, example)
    rows = rows_of(first, example_answers, 1_300)
    source.accept(first, rows[:1_200])
    source.accept(first, rows[1_200:])
    source.accept(second, [rows[0]._replace(content="[[1],[]]")])
    source.close_survey(second)
    seen = 0

    def progress(done: int) -> None:
        nonlocal seen
        seen += done

    moved = move(source, target, progress)
    assert (moved.surveys, moved.submissions, moved.tokens, moved.sessions) == (2, 1_301, 2, 2)
    assert seen == 2 * 1_301
    assert target.surveys() == source.surveys()
    there, closed = target.find("campus-health"), target.find("other")
    assert there is not None and closed is not None
    assert target.statistics(there) == target.recount(there) == recounted(first, rows)
    assert target.days(there) == source.days(first)
    assert target.keyring.tokens() == source.keyring.tokens()
    assert target.keyring.sessions("zz", 9) == source.keyring.sessions("zz", 9)
    assert target.verify() == []
    # It goes on there: retries are known, new submissions are taken, and the closed survey stays closed.
    new_row = rows_of(first, example_answers, 1)
    assert target.accept(there, rows[:5] + new_row) == Accepted(1, 5)
    with pytest.raises(SurveyClosed):
        target.accept(closed, rows[1:2])


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_what_was_left_takes_nothing_more(kind: str, new: New, example: bytes, example_answers: dict) -> None:
    """Every way of writing to the old database is unavailable, on servers that had it open too; it can be read."""
    source = new(kind)
    first, _ = filled(source, example)
    rows = rows_of(first, example_answers, 60)
    source.accept(first, rows[:30])
    move(source, new("sqlite"))
    writing: list[Callable[[], object]] = [
        lambda: source.accept(first, rows[30:]),
        lambda: source.publish(publish(survey_from_tree({**OTHER, "id": "third"}))),
        lambda: source.close_survey(first),
        lambda: source.keyring.add(Token("bb", "admin", "", "e" * 64, "2026-02-01")),
        lambda: source.keyring.revoke("zz"),
        lambda: source.keyring.begin(Session("e" * 64, "zz", 5, FAR, FAR), now=5, most=9),
        source.ready,
    ]
    for write in writing:
        with pytest.raises(Unavailable, match="this database was moved"):
            write()
    assert source.statistics(first) == recounted(first, rows[:30])


@pytest.mark.parametrize(("kind", "to"), KINDS[:2])
def test_submissions_that_come_meanwhile_are_moved_or_refused(
    kind: str, to: str, new: New, example: bytes, example_answers: dict
) -> None:
    """With senders all through the move, each submission that was acknowledged is in the new database, and no other."""
    source, target = new(kind), new(to)
    first, _ = filled(source, example)
    rows = rows_of(first, example_answers, 3_000)
    source.accept(first, rows[:1_000])
    acknowledged, refused = rows[:1_000], threading.Event()

    def send() -> None:
        for start in range(1_000, 3_000, 5):
            try:
                source.accept(first, rows[start : start + 5])
            except Unavailable:
                refused.set()
                return
            acknowledged.extend(rows[start : start + 5])

    sender = threading.Thread(target=send)
    sender.start()
    while len(acknowledged) < 1_050:
        assert sender.is_alive()
    move(source, target)
    sender.join()
    there = target.find("campus-health")
    assert there is not None
    assert target.recount(there) == target.statistics(there) == recounted(first, acknowledged)
    assert refused.is_set() or len(acknowledged) == 3_000


def test_a_move_that_broke_off_can_be_repeated(
    new: New, example: bytes, example_answers: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an error the old database takes submissions as before; the next attempt copies only what is missing."""
    source, target = new("sqlite"), new("postgresql")
    first, _ = filled(source, example)
    rows = rows_of(first, example_answers, 400)
    source.accept(first, rows[:300])

    monkeypatch.setattr("deniable_server.storage.transfer._compare", fails)
    with pytest.raises(StorageError, match="the disk is full"):
        move(source, target)
    monkeypatch.undo()
    assert source.accept(first, rows[300:]) == Accepted(100, 0)
    assert move(source, target).submissions == 400
    there = target.find("campus-health")
    assert there is not None and target.statistics(there) == recounted(first, rows)


def test_a_target_in_use_is_refused(new: New, example: bytes, example_answers: dict) -> None:
    """A target with submissions of its own, or the same database, changes nothing, and the source goes on."""
    source, target = new("sqlite"), new("postgresql")
    first, _ = filled(source, example)
    rows = rows_of(first, example_answers, 20)
    source.accept(first, rows[:10])
    target.publish(example)
    there = target.find("campus-health")
    assert there is not None
    target.accept(there, rows[10:11])
    with pytest.raises(StorageError, match="submissions that the source does not have"):
        move(source, target)
    with pytest.raises(StorageError, match="the same database"):
        move(source, source)
    assert source.accept(first, rows[10:]) == Accepted(10, 0)
    source.ready()


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_half_filled_target_is_not_served(
    kind: str, new: New, example: bytes, example_answers: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a move that broke off, the target says that it may lack submissions; when it is done, it is ready. The old
    database cannot be moved a second time, to another.
    """
    source, target = new("sqlite"), new(kind)
    first, _ = filled(source, example)
    source.accept(first, rows_of(first, example_answers, 30))
    with monkeypatch.context() as broken:
        broken.setattr("deniable_server.storage.transfer._compare", fails)
        with pytest.raises(StorageError):
            move(source, target)
    assert (source.standing, target.standing) == (None, "filling")
    with pytest.raises(Unavailable, match="may lack submissions"):
        target.ready()
    with pytest.raises(StorageError, match="may lack submissions"):
        move(target, new(kind))
    move(source, target)
    target.ready()
    assert (source.standing, target.standing) == ("moved", None)
    with pytest.raises(StorageError, match="was moved"):
        move(source, new(kind))
    with pytest.raises(StorageError, match="itself left by a move"):
        move(target, source)


def fails(*_: object) -> int:
    raise StorageError("the disk is full")


def test_the_commands_say_where_a_database_stands(tmp_path: Path) -> None:
    """The doctor and whatever reads say that a database was left; ``--undo`` says whether there was any to undo."""
    database = str(tmp_path / "a.db")
    open_storage(database).close()
    run = CliRunner()
    nothing = run.invoke(cli, ["move", "--undo", "--from", database])
    assert nothing.exit_code == 0 and "Nothing to undo" in nothing.output
    for standing, said in (("moved", "was moved"), ("moving", "--undo"), ("filling", "may lack")):
        storage = open_storage(database)
        storage.stand(standing)  # type: ignore[arg-type]
        storage.close()
        checked = run.invoke(cli, ["doctor", "--database", database, "--json"])
        assert checked.exit_code == 1 and said in checked.stdout
        listed = run.invoke(cli, ["survey", "list", "--database", database])
        assert listed.exit_code == 0 and said in " ".join(listed.stderr.split())
    undone = run.invoke(cli, ["move", "--undo", "--from", database])
    assert undone.exit_code == 0 and "used as before" in undone.output


def test_the_command(tmp_path: Path, postgres: Cluster, example: bytes, example_answers: dict) -> None:
    """``deniable move`` from a file to PostgreSQL says what it moved; the same estimates come from both."""
    old, address = str(tmp_path / "a.db"), postgres.new_database()
    storage = open_storage(old)
    first, _ = filled(storage, example)
    storage.accept(first, rows_of(first, example_answers, 200))
    storage.close()
    run = CliRunner()
    before = run.invoke(cli, ["estimate", "campus-health", "--database", old, "--json"])
    done = run.invoke(cli, ["move", "--from", f"sqlite:///{old}", "--to", address])
    assert done.exit_code == 0, done.output
    assert "Moved, and equal by a recount: surveys 2, submissions 200, tokens 2, sessions 2." in done.output
    after = run.invoke(cli, ["estimate", "campus-health", "--database", address, "--json"])
    assert after.stdout == before.stdout and before.exit_code == 0
    served = run.invoke(cli, ["serve", "--database", old, "--bind", "127.0.0.1:0"])
    assert served.exit_code == 1 and "this database was moved" in served.output


def test_backup_and_restore_of_postgresql(
    tmp_path: Path, postgres: Cluster, new: New, example: bytes, example_answers: dict
) -> None:
    """A backup of PostgreSQL is an SQLite file that any Deniable reads; restored to PostgreSQL, everything is there."""
    source = new("postgresql")
    first, _ = filled(source, example)
    rows = rows_of(first, example_answers, 70)
    source.accept(first, rows)
    source.backup(str(tmp_path / "copy.db"))
    copy = open_storage(str(tmp_path / "copy.db"))
    there = copy.find("campus-health")
    assert there is not None and copy.statistics(there) == recounted(first, rows) and copy.verify() == []
    assert copy.keyring.tokens() == source.keyring.tokens() and copy.surveys() == source.surveys()
    copy.close()
    before = (tmp_path / "copy.db").read_bytes()
    address = postgres.new_database()
    done = CliRunner().invoke(cli, ["restore", str(tmp_path / "copy.db"), "--database", address, "--json"])
    assert done.exit_code == 0, done.output
    assert msgspec.json.decode(done.stdout) == {"file": None, "surveys": 2, "submissions": 70}
    assert (tmp_path / "copy.db").read_bytes() == before, "the backup is left as it is"
    again = CliRunner().invoke(cli, ["restore", str(tmp_path / "copy.db"), "--database", address])
    assert again.exit_code == 1 and "not overwritten" in again.output


def test_a_damaged_copy_is_noticed(new: New, example: bytes, example_answers: dict, postgres: Cluster) -> None:
    """A submission that was changed in the target between two attempts is found by comparing all of them."""
    source = new("sqlite")
    address = postgres.new_database()
    target = open_storage(address)
    first, _ = filled(source, example)
    source.accept(first, rows_of(first, example_answers, 30))
    target.publish(example)
    there = target.find("campus-health")
    assert there is not None
    with source.stored(first) as stored:
        target.receive(there, list(stored)[:10])
    with psycopg.connect(address) as connection:
        connection.execute("UPDATE deniable.sealed SET content = replace(content, '0', '1')")
    with pytest.raises(StorageError, match="submissions that the source does not have"):
        move(source, target)
    target.close()


def test_days_come_from_the_same_state(new: New, example: bytes, example_answers: dict) -> None:
    """What a snapshot says of days and of submissions belongs together, whatever is stored meanwhile."""
    for kind in ("sqlite", "postgresql"):
        storage = new(kind)
        first, _ = filled(storage, example)
        rows = rows_of(first, example_answers, 20)
        storage.accept(first, rows[:10])
        with storage.stored(first) as stored:
            assert len(list(stored)) == 10
            storage.accept(first, rows[10:])
            assert len(list(stored)) == 10 and sum(stored.days.values()) == 10
        assert sum(storage.days(first).values()) == 20
        assert isinstance(next(iter(storage.days(first))), date)
