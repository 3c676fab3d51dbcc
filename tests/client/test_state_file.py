"""The state file: private, durable, and refused where it cannot be trusted."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

import deniable
from deniable.state import SCHEMA, Entry, State
from tests.helpers.fake_server import ANSWERS, SEGMENTS, FakeServer, python

LINK = "http://survey.test/s/campus-health"


def entry(**changes: object) -> Entry:
    return Entry("0" * 32, "http://h/api/v1/surveys/ab", "a" * 64, "1.5", b"{}")._replace(**changes)  # type: ignore[arg-type]


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


def test_an_entry_that_cannot_be_read_is_a_state_error(tmp_path: Path) -> None:
    """Someone edited the ledger: the client says so instead of failing somewhere else."""
    state, server = tmp_path / "state.db", FakeServer()
    with deniable.Client(LINK, state=state, transport=server) as client:
        client.submit(ANSWERS, SEGMENTS)
        with sqlite3.connect(state) as connection:
            connection.execute("UPDATE ledger SET body = CAST('{}' AS BLOB)")
        connection.close()
        with pytest.raises(deniable.StateError, match="damaged"):
            client.receipt  # noqa: B018  # reading it is the point


READ_ONLY = """
import os, sys, tempfile
import deniable
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
            client.submit(ANSWERS, SEGMENTS)
        assert not path.exists()


@pytest.mark.parametrize(
    "changes",
    [
        {"id": "0" * 31}, {"id": "G" * 32}, {"digest": "a" * 63}, {"digest": "A" * 64}, {"epsilon": "1e3"},
        {"epsilon": ""}, {"epsilon": "-1"}, {"body": "text"}, {"status": "sent"}, {"address": None},
    ],
)  # fmt: skip
def test_the_schema_holds_its_own_rules(changes: dict[str, object]) -> None:
    """Whatever the code does, a malformed entry does not get into the ledger."""
    state = State()
    with pytest.raises(deniable.StateError, match="constraint failed"):
        state.record(entry(**changes), None)
    assert state.waiting() == []
    assert state.record(entry(), None) == entry()


def test_the_schema_allows_one_entry_per_survey() -> None:
    """One address, one digest, one id: a second entry is refused by the database itself."""
    connection = sqlite3.connect(":memory:")
    for statement in SCHEMA:
        connection.execute(statement)
    insert = "INSERT INTO ledger (id, address, digest, epsilon, body, status) VALUES (?, ?, ?, ?, ?, ?)"
    connection.execute(insert, entry())
    other = entry(id="1" * 32, address="http://other", digest="b" * 64)
    for name in ("id", "address", "digest"):
        with pytest.raises(sqlite3.IntegrityError, match=name):
            connection.execute(insert, other._replace(**{name: getattr(entry(), name)}))
    connection.execute(insert, other)
    connection.close()


def test_every_column_says_what_it_is() -> None:
    """Each column of the schema carries a comment, in the file too."""
    for statement in SCHEMA:
        columns = [
            line for line in statement.splitlines() if " TEXT " in line or " BLOB " in line or " INTEGER " in line
        ]
        assert len(columns) >= 2 and all("-- " in line for line in columns)


def test_delivered_stays_delivered() -> None:
    """Two processes send one submission and are told different things: the confirmation counts."""
    state = State()
    state.record(entry(), None)
    for status, expected in (("refused", "refused"), ("delivered", "delivered"), ("refused", "delivered")):
        state.settle(entry().id, status)  # type: ignore[arg-type]
        assert state.status(entry().id) == expected
