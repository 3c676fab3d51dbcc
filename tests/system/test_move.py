"""Moving from one SQLite file to another."""

from __future__ import annotations

from pathlib import Path

import pytest

from deniable_server.errors import StorageError, Unavailable
from deniable_server.storage import open_storage
from deniable_server.storage.location import locate
from deniable_server.storage.sqlite.storage import SQLiteStorage
from tests.helpers import moving


@pytest.fixture
def source(tmp_path: Path) -> str:
    return str(tmp_path / "a.db")


@pytest.fixture
def target(tmp_path: Path) -> str:
    return str(tmp_path / "b.db")


def test_everything_arrives(source: str, target: str, example: bytes, example_answers: dict) -> None:
    """The new file has all that the old one has, and servers go on with it."""
    moving.check_everything_arrives(source, f"sqlite:///{target}", example, example_answers)


def test_a_database_in_use_is_refused(
    source: str, target: str, tmp_path: Path, example: bytes, example_answers: dict
) -> None:
    """A running server keeps its database from being moved, and stays healthy."""
    moving.check_refused_while_serving(source, target, tmp_path, example, example_answers)


def test_a_database_of_an_idle_server_is_refused(source: str, target: str, tmp_path: Path, example: bytes) -> None:
    """A server blocks a move even before its first request."""
    moving.check_an_idle_server_counts(source, target, tmp_path, example)


def test_a_move_that_breaks_off(
    source: str, target: str, example: bytes, example_answers: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old file is unchanged, and there is no new one."""
    moving.check_broken_off(source, target, example, example_answers, monkeypatch)
    assert not list(Path(target).parent.glob(".*partial*"))


def test_a_wrong_copy_is_found(
    source: str, target: str, example: bytes, example_answers: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy that differs from the source is not kept."""
    moving.check_a_wrong_copy_is_found(source, target, example, example_answers, monkeypatch)


def test_nobody_opens_a_database_that_is_being_moved(source: str) -> None:
    """A server that is started during a move cannot open the source, and says so."""
    open_storage(source).close()
    with locate(source).alone(), pytest.raises(Unavailable, match="deniable move"):
        SQLiteStorage(source, busy_seconds=0.2)
    open_storage(source).close()


def test_a_missing_source_and_an_existing_target_are_refused(
    source: str, target: str, example: bytes, example_answers: dict
) -> None:
    """The message says which, and nothing is made or overwritten."""
    assert "There is no database at" in moving.said(moving.run("move", "--from", source, "--to", target))
    assert not Path(source).exists() and not Path(target).exists()
    moving.fill(source, example, example_answers, 110)
    moving.fill(target, example, example_answers, 120)
    before = moving.contents(target)
    with pytest.raises(StorageError, match="exists already, and is not overwritten"):
        moving.move(locate(source), locate(target))
    assert moving.contents(target) == before
