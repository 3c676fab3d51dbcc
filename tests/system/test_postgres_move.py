"""Moving to and from PostgreSQL, and backups of it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import psycopg
import pytest

from deniable_server.errors import StorageError, Unavailable
from deniable_server.storage import open_storage
from deniable_server.storage.location import locate
from tests.helpers import moving
from tests.helpers.postgres import Cluster

KINDS = [("sqlite", "postgresql"), ("postgresql", "sqlite"), ("postgresql", "postgresql")]


@pytest.fixture
def databases(request: pytest.FixtureRequest, tmp_path: Path, postgres: Cluster) -> tuple[str, str]:
    """The addresses of two databases of these kinds, which do not exist yet."""
    first, second = (
        postgres.new_database() if kind == "postgresql" else str(tmp_path / f"{number}.db")
        for number, kind in enumerate(request.param)
    )
    return first, second


@pytest.mark.parametrize("databases", KINDS, indirect=True)
def test_everything_arrives(databases: tuple[str, str], example: bytes, example_answers: dict) -> None:
    """In every direction the new database has all that the old one has, and servers go on with it."""
    moving.check_everything_arrives(*databases, example, example_answers)


@pytest.mark.parametrize("databases", [KINDS[1]], indirect=True)
def test_a_database_in_use_is_refused(
    databases: tuple[str, str], tmp_path: Path, example: bytes, example_answers: dict
) -> None:
    """A running server keeps its database from being moved, or filled, and stays healthy."""
    moving.check_refused_while_serving(*databases, tmp_path, example, example_answers)


@pytest.mark.parametrize("databases", [KINDS[1]], indirect=True)
def test_a_database_of_an_idle_server_is_refused(databases: tuple[str, str], tmp_path: Path, example: bytes) -> None:
    """A server blocks a move even before its first request."""
    moving.check_an_idle_server_counts(*databases, tmp_path, example)


@pytest.mark.parametrize("databases", KINDS[:2], indirect=True)
def test_a_move_that_breaks_off(
    databases: tuple[str, str], example: bytes, example_answers: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old database is unchanged, and the new one is empty."""
    moving.check_broken_off(*databases, example, example_answers, monkeypatch)


@pytest.mark.parametrize("databases", KINDS[:1], indirect=True)
def test_a_wrong_copy_is_found(
    databases: tuple[str, str], example: bytes, example_answers: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy that differs from the source is not kept."""
    moving.check_a_wrong_copy_is_found(*databases, example, example_answers, monkeypatch)


def test_nobody_opens_a_database_that_is_being_moved(postgres: Cluster) -> None:
    """A server that is started during a move cannot open the source, and says so; nor can a second move."""
    address = postgres.new_database()
    open_storage(address).close()
    with locate(address).alone():
        with pytest.raises(Unavailable, match="deniable move is using this database"):
            open_storage(address)
        with pytest.raises(StorageError, match="in use"), locate(address).alone():
            pass
    open_storage(address).close()


def test_a_copy_shows_no_order_of_arrival(
    postgres: Cluster, tmp_path: Path, example: bytes, example_answers: dict
) -> None:
    """In the new database submissions are in id order, in one transaction, and none waits to be folded."""
    source, target = str(tmp_path / "a.db"), postgres.new_database()
    moving.fill(source, example, example_answers, 300)
    moving.move(locate(source), locate(target))
    with psycopg.connect(target, options="-c search_path=deniable") as connection:
        for number in (1, 2):
            found = connection.execute(f"SELECT id, xmin::text FROM sealed_{number} ORDER BY ctid".encode()).fetchall()
            assert [row[0] for row in found] == sorted(row[0] for row in found) != []
            assert len({xmin for _, xmin in found}) == 1
        assert connection.execute("SELECT count(*) FROM inbox").fetchone() == (0,)


def test_backup_and_restore(
    postgres: Cluster, tmp_path: Path, example: bytes, example_answers: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A backup of PostgreSQL, made while servers use it, is an SQLite file that any Deniable reads; restored to an
    empty PostgreSQL, everything is there. Nothing is overwritten, and without the key nothing is restored.
    """
    source, file, target = postgres.new_database(), str(tmp_path / "copy.db"), postgres.new_database()
    moving.fill(source, example, example_answers)
    server = open_storage(source)
    server.backup(file, server.secret_key or "")
    unkeyed, another = moving.run("restore", file, "--database", target), tmp_path / "another.key"
    assert unkeyed.exit_code == 1 and "--key-file" in moving.said(unkeyed)
    another.write_text("0" * 64)
    refused = moving.run("restore", file, "--database", target, "--key-file", str(another))
    assert refused.exit_code == 1 and "another secret key" in moving.said(refused)
    assert moving.contents(target) is None
    monkeypatch.setenv("DENIABLE_SECRET_KEY", server.secret_key or "")
    server.close()
    kept = Path(file).read_bytes()
    done = moving.run("restore", file, "--database", target, "--json")
    assert done.exit_code == 0, done.output
    assert msgspec.json.decode(done.stdout) == {
        "file": None, "authenticated": True, "surveys": 2, "submissions": 701, "tokens": 2,
    }  # fmt: skip
    assert Path(file).read_bytes() == kept, "the backup is left as it is"
    again = moving.run("restore", file, "--database", target)
    assert again.exit_code == 1 and "not overwritten" in moving.said(again)
    assert moving.contents(source) == moving.contents(target) == moving.contents(file) is not None
