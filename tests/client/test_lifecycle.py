"""Threads, forks, kills and exits: nothing is lost, nothing is left behind, nothing hangs."""

from __future__ import annotations

import gc
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest

import deniable
import deniable.client
import deniable.delivery
from tests.helpers.fake_server import ANSWERS, DOCUMENT, JSON, SEGMENTS, FakeServer, Scripted, delivery_threads, python

LINK = "https://survey.test/s/campus-health"
LOADED: Scripted = (200, JSON, DOCUMENT)
DOWN: list[Scripted] = [(0, {}, b"")] * 1000


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer() as server:
        yield server


# Threads


def test_a_thread_runs_only_while_something_waits(server: FakeServer) -> None:
    """None before the first submission, none after the delivery, and several deliveries do not add up."""
    assert delivery_threads() == []
    with deniable.Client(server.link) as client:
        assert delivery_threads() == []
        server.hold = threading.Event()
        receipt = client.submit(ANSWERS, SEGMENTS, timeout=0)
        assert len(delivery_threads()) == 1
        server.hold.set()
        assert client.flush(10) and receipt.delivered
        for thread in delivery_threads():
            thread.join(5)
        assert delivery_threads() == []


@pytest.mark.parametrize("timeout", [0, 0.3])
def test_close_leaves_no_thread_behind_a_hanging_server(server: FakeServer, timeout: float) -> None:
    """An attempt that is under way is cut off when the time is up, and what waits stays in the outbox."""
    server.hold = threading.Event()
    client = deniable.Client(server.link, timeout=30)
    receipt = client.submit(ANSWERS, SEGMENTS, timeout=0)
    server.wait_for_posts(1)
    started = time.monotonic()
    client.close(timeout)
    assert time.monotonic() - started < timeout + 2
    assert delivery_threads() == [] and not receipt.delivered


def test_close_cuts_off_a_connection_that_never_comes_about() -> None:
    """The server's queue of connections is full, so that connecting hangs: close does not."""
    with socket.create_server(("127.0.0.1", 0), backlog=1) as full:
        crowd = [socket.socket() for _ in range(8)]
        for one in crowd:
            one.setblocking(False)
            one.connect_ex(full.getsockname())
        transport = Diverted(f"http://127.0.0.1:{full.getsockname()[1]}/")
        client = deniable.Client(LINK, transport=transport, timeout=30)
        client.submit(ANSWERS, SEGMENTS, timeout=0.2)
        started = time.monotonic()
        client.close(0.1)
        assert time.monotonic() - started < 2
        for one in crowd:
            one.close()
    assert delivery_threads() == []


class Diverted(deniable.HTTPTransport):
    """Serves the document itself, and sends submissions to another address."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self.url = url

    def send(self, method: str, *request: object) -> deniable.Response:
        if method == "GET":
            return deniable.Response(*LOADED)
        return super().send(method, self.url, *request[1:])  # type: ignore[arg-type]


def test_close_delivers_what_waits(server: FakeServer) -> None:
    """The server is down for two attempts; close waits for the third."""
    server.replies = [LOADED, *DOWN[:2]]
    with deniable.Client(server.link) as client:
        receipt = client.submit(ANSWERS, SEGMENTS, timeout=0)
    assert receipt.delivered and delivery_threads() == []


def test_a_closed_client_says_so(server: FakeServer) -> None:
    """Closing again does nothing; submitting or flushing is a mistake; what is known can still be read."""
    client = deniable.Client(server.link)
    receipt = client.submit(ANSWERS, SEGMENTS)
    client.close()
    client.close(0)
    for call in (lambda: client.submit(ANSWERS, SEGMENTS), client.flush):
        with pytest.raises(RuntimeError, match="closed"):
            call()
    assert client.survey.id == "campus-health" and client.receipt == receipt and receipt.delivered


def test_close_works_when_the_state_is_gone(server: FakeServer, state: Path) -> None:
    """Someone deleted the file: the thread is stopped all the same."""
    server.hold = threading.Event()
    client = deniable.Client(server.link, state=state)
    client.submit(ANSWERS, SEGMENTS, timeout=0)
    server.wait_for_posts(1)
    state.unlink()
    client.close(0.1)
    assert delivery_threads() == [] and not state.exists()


def test_a_forgotten_client_is_collected_with_its_thread(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody closes it: the client goes at once, its thread after a last chance, and only the receipt is left."""
    monkeypatch.setattr(deniable.client, "LAST_CHANCE", 0.2)
    server.replies = [LOADED, *DOWN]
    client = deniable.Client(server.link)
    receipt = client.submit(ANSWERS, SEGMENTS, timeout=0)
    watched = weakref.ref(client)
    del client
    gc.collect()
    assert watched() is None
    for thread in delivery_threads():
        thread.join(5)
    assert delivery_threads() == [] and not receipt.delivered


def test_a_forgotten_client_still_delivers(server: FakeServer) -> None:
    """The last chance is a real one: what was accepted without a state file is delivered if the server is there."""
    server.replies = [LOADED, *DOWN[:1]]
    receipt = deniable.Client(server.link).submit(ANSWERS, SEGMENTS, timeout=0)
    gc.collect()
    for thread in delivery_threads():
        thread.join(60)
    assert receipt.delivered


# Kills

DIES = """
import os, sys, signal
import deniable
from deniable import Response

class Dies(deniable.HTTPTransport):
    def send(self, method, *request):
        if method == "POST":
            os.kill(os.getpid(), signal.SIGKILL) if sys.argv[3] == "kill" else os._exit(7)
        return super().send(method, *request)

client = deniable.Client(sys.argv[1], state=sys.argv[2], transport=Dies())
client.submit({"q0": True, "q1": False}, {"campus": "north"})
"""


@pytest.mark.parametrize(("how", "code"), [("kill", -signal.SIGKILL), ("exit", 7)])
def test_a_process_that_dies_at_the_first_attempt_loses_nothing(
    server: FakeServer, state: Path, how: str, code: int
) -> None:
    """The submission is on disk before its first byte is sent; the next process delivers those bytes."""
    python(DIES, server.link, state, how, expect=code)
    with sqlite3.connect(state) as connection:
        ((body, status),) = connection.execute("SELECT body, status FROM ledger")
    connection.close()
    assert status == "waiting" and server.posts == []
    with deniable.Client(server.link, state=state) as client:
        assert client.flush(10)
        assert client.receipt is not None and client.receipt.delivered
        with pytest.raises(deniable.AlreadyAnswered):
            client.submit(ANSWERS, SEGMENTS)
    assert server.posts == [body]


KILLED_WHILE_WAITING = """
import sys, time
import deniable
client = deniable.Client(sys.argv[1], state=sys.argv[2])
client.submit({"q0": True, "q1": False}, {"campus": "north"}, timeout=0)
time.sleep(600)
"""


def test_a_process_killed_during_an_attempt_sends_the_same_bytes_again(server: FakeServer, state: Path) -> None:
    """The server got the bytes, the process died before it knew: the next one sends them again, and they count once."""
    server.hold = threading.Event()
    process = subprocess.Popen([sys.executable, "-c", KILLED_WHILE_WAITING, server.link, str(state)])
    deadline = time.monotonic() + 60
    while not server.posts:
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    process.kill()
    process.wait()
    server.hold.set()
    with deniable.Client(server.link, state=state) as client:
        assert client.flush(10)
    assert len(server.posts) == 2 and len(set(server.posts)) == 1 and len(server.counted) == 1


# Exits

EXITS = """
import sys
import deniable
client = deniable.Client(sys.argv[1], state=sys.argv[2] or None, timeout=60)
receipt = client.submit({"q0": True, "q1": False}, {"campus": "north"}, timeout=0)
print(receipt.delivered)
"""


@pytest.mark.parametrize("trouble", ["refuses", "hangs"])
def test_an_exit_is_not_held_up(server: FakeServer, state: Path, trouble: str) -> None:
    """No server, or one that hangs: the interpreter ends within the last chance, without a word on stderr."""
    server.replies = [LOADED, *(DOWN if trouble == "refuses" else [])]
    server.hold = threading.Event()
    started = time.monotonic()
    assert python(EXITS, server.link, state) == "False\n"
    assert time.monotonic() - started < 8
    server.hold.set()
    server.replies.clear()
    with deniable.Client(server.link, state=state) as client:
        assert client.flush(10)
    assert len(set(server.posts)) == 1


def test_an_exit_delivers_what_it_can(server: FakeServer) -> None:
    """A program that ends right after submit, without close or state file, still delivers."""
    server.replies = [LOADED, *DOWN[:1]]
    started = time.monotonic()
    python(EXITS, server.link, "")
    assert len(server.counted) == 1
    assert time.monotonic() - started < 8


LATE = """
import atexit, sys
import deniable
client = deniable.Client(sys.argv[1], state=sys.argv[2])
atexit.register(lambda: client.submit({"q0": True, "q1": False}, {"campus": "north"}, timeout=2))
"""


def test_submitting_at_exit_loses_nothing(server: FakeServer, state: Path) -> None:
    """If the interpreter gives no more threads, the submission waits in the file."""
    python(LATE, server.link, state)
    with deniable.Client(server.link, state=state) as client:
        assert client.receipt is not None and client.flush(10)
    assert len(set(server.posts)) == 1 and len(server.counted) == 1


# Forks

FORKS = """
import os, sys, threading
import deniable

def threads():
    return [thread.name for thread in threading.enumerate() if thread is not threading.main_thread()]

client = deniable.Client(sys.argv[1], state=sys.argv[2] or None)
receipt = client.submit({"q0": True, "q1": False}, {"campus": "north"}, timeout=0.1)
assert threads() == ["deniable-delivery"], threads()
child = os.fork()
if child == 0:
    code = 1
    try:
        assert threads() == [], threads()
        try:
            client.submit({"q0": True, "q1": False}, {"campus": "north"})
        except deniable.AlreadyAnswered as error:
            assert error.receipt == receipt
        else:
            raise AssertionError("answered twice")
        assert client.flush(10) and receipt.delivered
        client.close()
        assert threads() == [], threads()
        code = 0
    finally:
        os._exit(code)
assert os.waitpid(child, 0)[1] == 0
assert client.flush(10) and receipt.delivered
client.close()
assert threads() == [], threads()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("kept", [True, False])
def test_a_fork_beside_a_running_delivery(server: FakeServer, state: Path, kept: bool) -> None:
    """The child has no thread and no held lock, can deliver what waits by itself, and both send the same bytes."""
    server.replies = [LOADED, *[(503, {"Retry-After": "1"}, b"")]]
    python(FORKS, server.link, state if kept else "")
    assert len(set(server.posts)) == 1 and len(server.counted) == 1


MANY_FORKS = """
import os, signal, sys, threading
import deniable

client = deniable.Client(sys.argv[1], state=sys.argv[2] or None)
ended = threading.Event()

def busy():
    while not ended.is_set():
        client.receipt

workers = [threading.Thread(target=busy) for _ in range(2)]
for worker in workers:
    worker.start()
receipt = client.submit({"q0": True, "q1": False}, {"campus": "north"}, timeout=0)
for _ in range(30):
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        assert client.receipt == receipt
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
ended.set()
for worker in workers:
    worker.join()
client.close(0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("kept", [True, False])
def test_forks_never_inherit_a_held_lock(server: FakeServer, state: Path, kept: bool) -> None:
    """Thirty forks while three threads use the database all the time: every child can use it too."""
    server.replies = [LOADED, *DOWN]
    python(MANY_FORKS, server.link, state if kept else "")
