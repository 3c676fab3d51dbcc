"""What only a real server can show: where a request ends, which methods there are, who may open its files."""

from __future__ import annotations

import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from deniable_server.storage import open_storage
from deniable_server.storage.tokens import make_token
from tests.helpers.servers import Server, ask, running


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, example: bytes) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("hardening")
    storage = open_storage(str(folder / "a.db"))
    storage.publish(example)
    storage.close()
    with running(folder / "a.db", folder / "log", "--workers", "2") as server:
        yield server


def exchange(server: Server, request: bytes) -> bytes:
    """All that comes back until the server has closed the connection, or said nothing for a while."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as connection:
        connection.sendall(request)
        answer = b""
        try:
            while part := connection.recv(65536):
                answer += part
        except TimeoutError:
            pass
    return answer


HIDDEN = b"GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
POST = b"POST /api/v1/surveys/campus-health/submissions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"


@pytest.mark.parametrize(
    "head",
    [
        b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        b"Content-Length: 5\r\nContent-Length: 6\r\n",
        b"Content-Length: +5\r\n",
        b"Content-Length: 0x5\r\n",
        b"Content-Length: 5, 6\r\n",
        b"Transfer-Encoding: xchunked\r\n",
        b"Transfer-Encoding : chunked\r\n",
        b"Transfer-Encoding: identity, chunked, identity\r\n",
    ],
)
def test_nothing_is_smuggled_past_a_proxy(server: Server, head: bytes) -> None:
    """Where length and chunks contradict each other, no proxy and this server can disagree on a second request: it is
    refused, or read by its chunks alone, and a hidden request behind the first is never answered as one.
    """
    answer = exchange(server, POST + head + b"\r\n" + b"0\r\n\r\n" + HIDDEN)
    statuses = [line.split()[1] for line in answer.split(b"\r\n") if line.startswith(b"HTTP/1.1 ")]
    if b"Transfer-Encoding: chunked" in head:
        # Read by its chunks (RFC 9112, 6.1), the body is empty, and what follows is a request that anybody may send.
        assert statuses in ([b"400"], [b"400", b"404"]), answer
    else:
        assert statuses in ([b"400"], []), answer
    assert b"accepted" not in answer


def test_only_http_1_is_spoken(server: Server) -> None:
    """An HTTP/2 preface is not answered in frames: a connection whose protocol is open yet has no time limit, and the
    limits of heads and bodies are those of HTTP/1.1.
    """
    settings = b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"
    assert exchange(server, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + settings) == b""


def test_tracing_and_versions(server: Server) -> None:
    """TRACE does not echo what was sent, and no version of anything is revealed."""
    for method in (b"TRACE", b"TRACK"):
        answer = exchange(
            server, method + b" /healthz HTTP/1.1\r\nHost: x\r\nX-Canary: canary\r\nConnection: close\r\n\r\n"
        )
        assert b"405" in answer.split(b"\r\n")[0] and b"canary" not in answer
    for path in ("/healthz", "/sign-in", "/nowhere"):
        answer = ask(server.base + path)
        assert not any(letter.isdigit() for letter in answer.headers.get("server", ""))
        assert not any(word in answer.body.lower() for word in (b"werkzeug", b"flask", b"granian", b"traceback"))


def test_only_the_owner_can_open_what_a_server_leaves(server: Server) -> None:
    """Database, write-ahead log, shared memory, key and backup: mode 600, each of them, while it runs."""
    storage = open_storage(str(server.database))
    make_token(storage, "analyst", "")
    storage.backup(str(server.database.parent / "backup.db"), "0123456789abcdef" * 4)
    files = [path for path in server.database.parent.iterdir() if path.name != "log"]
    assert {path.name for path in files} >= {"a.db", "a.db-wal", "a.db-shm", "a.db.key", "backup.db"}
    modes = {path.name: stat.S_IMODE(Path(path).stat().st_mode) for path in files}
    assert set(modes.values()) == {0o600}, modes
    storage.close()
