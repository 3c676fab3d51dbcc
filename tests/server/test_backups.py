"""Backups that notice: what was altered, cut off, copied while in use or made with another key is not restored."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from deniable_server.errors import StorageError
from deniable_server.storage import Published
from deniable_server.storage import files as module
from deniable_server.storage.files import UNFINISHED, put, workshop
from deniable_server.storage.sqlite import backup as copies
from deniable_server.storage.sqlite.backup import reading_backup, restore
from deniable_server.storage.sqlite.storage import SQLiteStorage
from deniable_server.storage.sqlite.tag import LENGTH, append_tag
from deniable_server.storage.tokens import make_token
from tests.helpers.storage_contract import rows_of

KEY, ANOTHER = "0123456789abcdef" * 4, "fedcba9876543210" * 4


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[SQLiteStorage]:
    storage = SQLiteStorage(tmp_path / "a.db", fold_at=50)
    yield storage
    storage.close()


@pytest.fixture
def survey(storage: SQLiteStorage, example: bytes, example_answers: dict) -> Published:
    storage.publish(example)
    survey = storage.find("campus-health")
    assert survey is not None
    storage.accept(survey, rows_of(survey, example_answers, 40))
    return survey


@pytest.fixture
def backup(storage: SQLiteStorage, survey: Published, tmp_path: Path) -> Path:
    storage.backup(str(tmp_path / "backup.db"), KEY)
    return tmp_path / "backup.db"


def alter(file: Path, *statements: str) -> None:
    with closing(sqlite3.connect(file)) as database:
        for statement in statements:
            database.execute(statement)
        database.commit()


ADMIN = (
    "INSERT INTO tokens (id, role, label, digest, created_on, restricted)"
    f" VALUES ('x', 'admin', '', '{'0' * 64}', '2026-01-01', 0)"
)
TRIGGER = "CREATE TRIGGER t AFTER INSERT ON inbox WHEN new.id > x'80' BEGIN DELETE FROM inbox WHERE id = new.id; END"


def truncated(by: int) -> Callable[[Path], None]:
    return lambda file: os.truncate(file, file.stat().st_size - by)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda file: alter(file, ADMIN), id="one more admin"),
        pytest.param(lambda file: alter(file, TRIGGER), id="a trigger"),
        pytest.param(truncated(1), id="one byte less"),
        pytest.param(truncated(LENGTH), id="without its tag"),
        pytest.param(truncated(LENGTH + 4096), id="one page less"),
        pytest.param(lambda file: file.write_bytes(file.read_bytes() + b"x"), id="one byte more"),
        pytest.param(lambda file: append_tag(file, KEY[:-1] + "x"), id="tagged again with another key"),
        pytest.param(lambda file: file.write_bytes(file.read_bytes()[:-1] + b"x"), id="another tag"),
    ],
)
def test_an_altered_backup_is_refused(backup: Path, tmp_path: Path, change: Callable[[Path], object]) -> None:
    """A backup that differs by anything from what was made is not restored, and nothing is left behind."""
    before = set(tmp_path.iterdir())
    change(backup)
    with pytest.raises(StorageError, match="--unauthenticated"):
        restore(backup, tmp_path / "new.db", KEY)
    with pytest.raises(StorageError, match="--unauthenticated"), reading_backup(backup, KEY):
        pass
    assert set(tmp_path.iterdir()) == before


def test_only_the_key_it_was_made_with_opens_a_backup(backup: Path, tmp_path: Path) -> None:
    """With another key a backup is refused, whatever its name. Without a key it is restored if that is asked for."""
    renamed = backup.rename(tmp_path / "another name")
    with pytest.raises(StorageError, match="another secret key"):
        restore(renamed, tmp_path / "new.db", ANOTHER)
    for key, target in ((KEY, tmp_path / "one.db"), (None, tmp_path / "two.db")):
        restore(renamed, target, key)
        restored = SQLiteStorage(target, create=False)
        assert restored.surveys()[0].submissions == 40
        restored.close()


@pytest.mark.parametrize(
    "statement",
    [
        TRIGGER,
        "CREATE TABLE foreign_table (x)",
        "CREATE VIEW foreign_view AS SELECT 1",
        "CREATE INDEX foreign_index ON days (accepted)",
        "DROP TABLE repeats",
        "ALTER TABLE tokens ADD COLUMN more TEXT",
    ],
)
def test_a_schema_that_differs_by_a_word_is_refused(
    storage: SQLiteStorage, backup: Path, tmp_path: Path, statement: str
) -> None:
    """A table, trigger, index or view that Deniable does not make, or makes otherwise, is found: in a backup also
    without the key, and in a database when it is opened, as the doctor and every server do.
    """
    alter(backup, statement)
    with pytest.raises(StorageError, match="altered the database"):
        restore(backup, tmp_path / "new.db", None)
    assert not (tmp_path / "new.db").exists()
    alter(tmp_path / "a.db", statement)
    with pytest.raises(StorageError, match="altered the database"):
        SQLiteStorage(tmp_path / "a.db")


@pytest.mark.parametrize("key", [None, KEY])
@pytest.mark.parametrize("ending", ["", "-wal", "-shm"])
def test_a_bare_copy_of_a_database_in_use_is_refused(
    storage: SQLiteStorage, survey: Published, backup: Path, tmp_path: Path, key: str | None, ending: str
) -> None:
    """What was acknowledged may still be in the log of a database: its file alone is no backup, and the message says
    what to do. A backup with such files next to it is not one either.
    """
    copy = tmp_path / "copy.db"
    shutil.copyfile(backup if ending else tmp_path / "a.db", copy)
    if ending:
        Path(f"{copy}{ending}").touch()
    with pytest.raises(StorageError, match="deniable backup --database"):
        restore(copy, tmp_path / "new.db", key)
    assert not (tmp_path / "new.db").exists()


# --- unfinished files -------------------------------------------------------------------------------------------------


@pytest.fixture
def open_mask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.parametrize("across", [False, True], ids=["one file system", "two file systems"])
@pytest.mark.parametrize("mode", [0o700, 0o777, 0o1777])
def test_nobody_else_can_open_or_exchange_a_backup(
    storage: SQLiteStorage,
    survey: Published,
    tmp_path: Path,
    open_mask: None,
    monkeypatch: pytest.MonkeyPatch,
    mode: int,
    across: bool,
) -> None:
    """Whatever the umask, and in folders that everybody may write: SQLite opens a file by name only where nobody else
    can put another one there, and everything is 0600 from its first byte on.
    """
    folder = tmp_path / "folder"
    folder.mkdir()
    folder.chmod(mode)
    seen = []

    def look(path: Path, name: str) -> None:
        seen.append(stat.S_IMODE(path.stat().st_mode))
        seen.append(stat.S_IMODE(path.parent.stat().st_mode))
        exposed = mode == 0o777 and folder in path.parents
        assert not exposed, "others could rename it"

    monkeypatch.setattr(copies, "_check_copy", look)
    if across:
        refuse_links_from(UNFINISHED, monkeypatch)
    storage.backup(str(folder / "b.db"), KEY)
    assert seen == [0o600, 0o700]
    assert [file.name for file in folder.iterdir()] == ["b.db"]
    assert stat.S_IMODE((folder / "b.db").stat().st_mode) == 0o600
    monkeypatch.undo()
    restore(folder / "b.db", tmp_path / "new.db", KEY)


def refuse_links_from(prefix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if workshops were on another file system."""
    link, rename = os.link, Path.rename

    def refuse(source: Path) -> None:
        if Path(source).parent.name.startswith(prefix):
            raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", lambda source, target: (refuse(source), link(source, target))[1])
    monkeypatch.setattr(Path, "rename", lambda source, target: (refuse(source), rename(source, target))[1])


def test_a_file_that_somebody_exchanges_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where others can rename files, what gets the final name is compared with what was written."""
    (tmp_path / "made").write_text("ours")
    refuse_links_from("", monkeypatch)

    def exchange(source: str, target: Path) -> None:
        if Path(source).name == "made":
            raise OSError(18, "Invalid cross-device link")
        Path(target).write_text("theirs")

    monkeypatch.setattr(os, "link", exchange)
    with pytest.raises(StorageError, match="exchanged"):
        put(tmp_path / "made", tmp_path / "final")


def test_what_a_killed_backup_leaves_is_removed_by_the_next(
    storage: SQLiteStorage, survey: Published, tmp_path: Path
) -> None:
    """After kill -9 an unfinished file stays, and the next backup removes it; that of a backup under way it leaves."""
    code = (
        "import sys, time, pathlib; from deniable_server.storage.files import workshop\n"
        "with workshop(pathlib.Path(sys.argv[1])) as made:\n"
        "    (made / 'partial').touch(); print(flush=True); time.sleep(60)"
    )
    processes = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE) for _ in range(2)
    ]
    for process in processes:
        assert process.stdout is not None and process.stdout.readline()
    assert len(list(tmp_path.glob(UNFINISHED + "*"))) == 2
    try:
        processes[0].send_signal(signal.SIGKILL)
        processes[0].wait()
        storage.backup(str(tmp_path / "b.db"), KEY)
        assert len(list(tmp_path.glob(UNFINISHED + "*/partial"))) == 1
    finally:
        for process in processes:
            process.kill()
            process.communicate()
    storage.backup(str(tmp_path / "c.db"), KEY)
    assert list(tmp_path.glob(UNFINISHED + "*")) == []


def test_a_workshop_that_was_taken_for_a_leftover_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between making it and locking it, another process may remove it: then there is another one."""
    lock, removed = module.fcntl.flock, []

    def late(descriptor: int, how: int) -> None:
        lock(descriptor, how)
        if not removed:
            removed.extend(tmp_path.glob(UNFINISHED + "*"))
            removed[0].rmdir()

    monkeypatch.setattr(module.fcntl, "flock", late)
    with workshop(tmp_path) as made:
        assert made.is_dir() and made not in removed


def test_a_link_is_never_followed(storage: SQLiteStorage, survey: Published, tmp_path: Path) -> None:
    """A name that is a link, also one to nowhere, is taken."""
    (tmp_path / "b.db").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StorageError, match="exists already"):
        storage.backup(str(tmp_path / "b.db"), KEY)
    assert not (tmp_path / "elsewhere").exists()


def test_a_token_in_a_backup_is_valid_after_it(storage: SQLiteStorage, tmp_path: Path) -> None:
    """Access tokens are part of a backup: that is why nobody may be able to alter one."""
    make_token(storage, "admin", "mine")
    storage.backup(str(tmp_path / "b.db"), KEY)
    restore(tmp_path / "b.db", tmp_path / "new.db", KEY)
    restored = SQLiteStorage(tmp_path / "new.db")
    assert [token.label for token in restored.tokens.all()] == ["mine"]
    restored.close()
