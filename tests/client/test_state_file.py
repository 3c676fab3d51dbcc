"""The state file: private, durable, and refused where it cannot be trusted."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sqlite3
import stat
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import deniable
import deniable.state
from deniable.state import SCHEMA, Entry, State
from deniable_protocol import DEFAULT_BUDGET
from tests.helpers.fake_server import ANSWERS, DOCUMENT, SEGMENTS, FakeServer, python

LINK = "https://survey.test/s/campus-health"


def entry(**changes: object) -> Entry:
    waiting = Entry("a" * 64, "1.5", "0", "waiting", "0" * 32, "https://h/api/v1/surveys/ab", b"{}", 20_000)
    return waiting._replace(**changes)  # type: ignore[arg-type]


def test_only_the_owner_can_read_it(tmp_path: Path) -> None:
    """The file has mode 0600 whatever the umask, and folders made for it have 0700."""
    before = os.umask(0)
    try:
        state = tmp_path / "made" / "for" / "state.db"
        with deniable.Client(LINK, state=state, transport=FakeServer()) as client:
            client.submit(ANSWERS, SEGMENTS)
        assert stat.S_IMODE(state.stat().st_mode) == 0o600
        assert [stat.S_IMODE(folder.stat().st_mode) for folder in list(state.parents)[:2]] == [0o700, 0o700]
    finally:
        os.umask(before)


def test_a_tilde_is_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """State in ~/.myapp works as it is written, and stays there when the process changes its folder."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    deniable.Client(LINK, state="~/.myapp/deniable.db", transport=FakeServer()).close()
    assert (tmp_path / ".myapp" / "deniable.db").is_file()
    monkeypatch.chdir(tmp_path)
    client = deniable.Client(LINK, state="relative #1?.db", transport=FakeServer())
    monkeypatch.chdir("/")
    assert client.submit(ANSWERS, SEGMENTS).delivered
    client.close()
    assert (tmp_path / "relative #1?.db").is_file()


def of_a_newer_version(path: Path) -> None:
    State(path)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 2")
    connection.close()


def of_another_program(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE bookmarks (url TEXT)")
    connection.close()


def damaged(path: Path) -> None:
    State(path)
    content = bytearray(path.read_bytes())
    content[100:4096] = b"\xff" * 3996
    path.write_bytes(content)


def with_a_file_for_a_folder(path: Path) -> None:
    path.parent.rmdir()
    path.parent.write_text("not a folder")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (of_a_newer_version, "upgrade"),
        (of_another_program, "another program's database"),
        (damaged, "damaged"),
        (lambda path: path.touch(), "damaged"),
        (lambda path: os.symlink("nowhere", path), "cannot be opened"),
        (lambda path: path.write_bytes(b"no database at all, but text" * 100), "damaged, or another kind of file"),
        (lambda path: path.mkdir(), "cannot be opened"),
        (with_a_file_for_a_folder, "cannot be created"),
    ],
)
def test_a_file_that_cannot_be_trusted_is_refused(tmp_path: Path, spoil: Callable[[Path], None], message: str) -> None:
    """The error names the file and the reason; nothing is asked of the network, and the file stays as it was."""
    path = tmp_path / "folder" / "state.db"
    path.parent.mkdir()
    spoil(path)
    before = path.read_bytes() if path.is_file() else None
    server = FakeServer()
    with pytest.raises(deniable.StateError, match=message) as caught:
        deniable.Client(LINK, state=path, transport=server)
    assert str(path) in str(caught.value)
    assert server.requests == []
    assert before == (path.read_bytes() if path.is_file() else None)


def damage(content: bytes, chance: random.Random) -> bytes:
    """A file as disks and other programs leave it: cut short, zeroed, overwritten, or with single bytes changed."""
    spoiled = bytearray(content)
    kind = chance.randrange(6)
    start = chance.randrange(len(spoiled))
    length = min(chance.choice([1, 16, 512, 4096]), len(spoiled) - start)
    if kind == 0:
        del spoiled[start:]
    elif kind == 1:
        del spoiled[start // 4096 * 4096 :]
    elif kind == 2:
        spoiled[start : start + length] = bytes(length)
    elif kind == 3:
        spoiled[start : start + length] = chance.randbytes(length)
    elif kind == 4:
        spoiled[start] ^= 1 << chance.randrange(8)
    else:  # within the rows, where it hurts
        marks = [b"waiting", b"campus", b"1.5", b"CREATE", b"favour"]
        place = spoiled.find(chance.choice(marks)) + chance.randrange(-200, 200)
        spoiled[max(place, 0)] = chance.randrange(256)
    return bytes(spoiled)


def test_a_damaged_state_is_never_a_new_ledger(tmp_path: Path) -> None:
    """500 damaged files, with fixed seeds: each is a StateError, or as good as before. None allows a second answer."""
    path, kept = tmp_path / "state.db", entry(day=deniable.state.today(), body=b'{"reports":[1,0]}' * 9)
    state = State(path)
    state.keep_document(str(kept.address), kept.content, DOCUMENT)
    state.keep_booklet(kept.content, "b" * 64, lambda: 0)
    state.record(kept, DEFAULT_BUDGET)
    content, refused = path.read_bytes(), 0
    for seed in range(500):
        path.write_bytes(damage(content, random.Random(seed)))
        try:
            assert State(path).find(kept.content) == kept, seed
        except deniable.StateError:
            refused += 1
    assert 300 < refused < 500  # some change nothing but free space


def test_a_state_that_is_damaged_while_it_is_used_is_refused(tmp_path: Path) -> None:
    """Someone edits the ledger under a running client: it neither reads nor writes any more, and says so."""
    state, server = tmp_path / "state.db", FakeServer()
    for table, change in (("ledger", "epsilon = '0'"), ("ledger", "content = replace(content, 'a', 'b')"),
                          ("booklets", "booklet = 1"), ("documents", "address = 'x'")):  # fmt: skip
        state.unlink(missing_ok=True)
        with deniable.Client(LINK, state=state, transport=server) as client:
            client.submit(ANSWERS, SEGMENTS)
            with sqlite3.connect(state) as connection:
                connection.execute(f"UPDATE {table} SET {change}")
            connection.close()
            with pytest.raises(deniable.StateError, match="damaged"):
                client.receipt  # noqa: B018  # reading it is the point
            with pytest.raises(deniable.StateError, match="damaged"):
                client.submit(ANSWERS, SEGMENTS)


@pytest.mark.parametrize("links", [True, False])
def test_a_new_file_appears_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool) -> None:
    """From the first moment that the file has its name it is a whole ledger, also where there are no hard links."""
    seen: list[bytes] = []

    def refuse(*_: object) -> None:
        raise PermissionError("no links here")

    if not links:
        monkeypatch.setattr(os, "link", refuse)
    for number in range(20):
        path = tmp_path / f"{number}.db"
        watcher = threading.Thread(target=first_content, args=(path, seen))
        watcher.start()
        State(path)
        watcher.join()
    assert len(seen) == 20
    for number, content in enumerate(seen):
        copy = tmp_path / f"copy-{number}.db"
        copy.write_bytes(content)
        State(copy)
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


def first_content(path: Path, seen: list[bytes]) -> None:
    while True:
        with contextlib.suppress(FileNotFoundError):
            seen.append(path.read_bytes())
            return


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_whoever_is_killed_at_the_start_leaves_no_half(tmp_path: Path) -> None:
    """Processes are killed at any moment of their first start: the next one always gets a working ledger."""
    for number in range(40):
        path = tmp_path / f"{number}.db"
        child = os.fork()
        if child == 0:
            with contextlib.suppress(BaseException):
                State(path)
            os._exit(0)
        time.sleep(number * 0.0005)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        assert State(path).record(entry(day=deniable.state.today()), DEFAULT_BUDGET)


def test_what_is_written_is_on_disk(tmp_path: Path) -> None:
    """Every transaction waits for the disk, and for the folder: after a power cut, what was accepted is there. With a
    new file, and with one that was there.
    """
    for _ in range(2):
        database = State(tmp_path / "state.db")._database
        for run in (database.read, database.write):
            assert run(lambda connection: connection.execute("PRAGMA synchronous").fetchone()) == (3,)  # EXTRA


READ_ONLY = """
import os, sys, tempfile
import deniable
import deniable.state
from deniable.state import State

with tempfile.TemporaryDirectory() as folder:
    os.chmod(folder, 0o755)
    path = os.path.join(folder, "state.db")
    State(path)
    os.chmod(path, 0o444)
    os.chmod(folder, 0o555)
    if os.geteuid() == 0:
        os.seteuid(65534)  # file modes do not bind root
    for name in ("state.db", "new.db", os.path.join("new", "state.db")):
        try:
            State(os.path.join(folder, name))
        except deniable.StateError as error:
            print("cannot be written" in str(error) or "cannot be created" in str(error))
    if os.getuid() == 0:
        os.seteuid(0)
    os.chmod(folder, 0o755)
"""


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="this system has other permissions")
def test_a_read_only_state_is_refused() -> None:
    """A file or folder that may not be written is found out at once, not at the first submission."""
    assert python(READ_ONLY) == "True\nTrue\nTrue\n"


FULL = """
import resource, sys
import deniable
client = deniable.Client(sys.argv[1], state=sys.argv[2])
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (600, hard))
try:
    client.submit({"q0": True, "q1": False}, {"campus": "north"})
except deniable.StateError as error:
    print("disk" in str(error))
assert client.receipt is None
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
print(client.submit({"q0": True, "q1": False}, {"campus": "north"}).delivered)
client.close()
"""


@pytest.mark.skipif(os.name != "posix", reason="this system has no limit on file sizes")
def test_a_full_disk_is_a_state_error_and_nothing_is_sent(tmp_path: Path) -> None:
    """A submission that cannot be written is not sent; when there is room again, the same client goes on."""
    with FakeServer() as server:
        assert python(FULL, server.link, tmp_path / "state.db") == "True\nTrue\n"
    assert len(server.posts) == 1


def test_a_deleted_state_is_not_made_anew(tmp_path: Path) -> None:
    """A ledger that vanishes under a running client is an error: an empty one would allow a second answer."""
    path = tmp_path / "state.db"
    with deniable.Client(LINK, state=path, transport=FakeServer()) as client:
        client.submit(ANSWERS, SEGMENTS)
        path.unlink()
        with pytest.raises(deniable.StateError, match="cannot be opened"):
            client.submit(ANSWERS, SEGMENTS, timeout=0.2)
        assert not path.exists()


@pytest.mark.parametrize(
    "changes",
    [
        {"id": "0" * 31}, {"id": "G" * 32}, {"content": "a" * 63}, {"content": "A" * 64}, {"status": "sent"},
        {"body": "text"}, {"address": None}, {"day": "x"}, {"day": None}, {"status": "delivered"},
    ],
)  # fmt: skip
def test_the_schema_holds_its_own_rules(changes: dict[str, object]) -> None:
    """Whatever the code does, a malformed entry does not get into the ledger."""
    state = State()
    with pytest.raises(deniable.StateError, match="constraint failed"):
        state.record(entry(**changes), DEFAULT_BUDGET)
    assert state.find("a" * 64) is None
    assert state.record(entry(), DEFAULT_BUDGET) == entry()


def test_the_schema_allows_one_entry_per_survey() -> None:
    """A second entry for one survey is refused by the database itself."""
    connection = sqlite3.connect(":memory:")
    for statement in SCHEMA:
        connection.execute(statement)
    insert = "INSERT INTO ledger VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
    connection.execute(insert, entry())
    with pytest.raises(sqlite3.IntegrityError, match="content"):
        connection.execute(insert, entry(id="1" * 32, address="https://other"))
    with pytest.raises(sqlite3.IntegrityError, match="epsilon"):
        connection.execute(insert, entry(content="b" * 64, epsilon="1e3"))
    connection.execute(insert, entry(content="b" * 64))
    connection.close()


def test_every_column_says_what_it_is() -> None:
    """Each column of the schema carries a comment, in the file too."""
    for statement in SCHEMA:
        columns = [line for line in statement.splitlines() if {"TEXT", "BLOB", "INTEGER"} & {*line.split()}]
        assert columns and all("-- " in line for line in columns)


def test_delivered_stays_delivered() -> None:
    """Two processes send one submission and are told different things: the confirmation counts."""
    state, kept = State(), entry()
    state.record(kept, DEFAULT_BUDGET)
    state.settle(kept.content, "1" * 32, "delivered")  # another submission's fate
    assert state.find(kept.content) == kept
    for status, expected in (("refused", "refused"), ("delivered", "delivered"), ("refused", "delivered")):
        state.settle(kept.content, "0" * 32, status)  # type: ignore[arg-type]
        assert state.find(kept.content) == Entry(kept.content, "1.5", "0", expected)  # type: ignore[arg-type]
