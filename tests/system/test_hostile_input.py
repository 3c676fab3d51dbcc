"""Hostile requests at a small size, slow clients, and whether the proofs of both would notice what they look for."""

from __future__ import annotations

import json
import sqlite3
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from socketserver import BaseRequestHandler, ThreadingTCPServer

import msgspec
import pytest

from deniable_protocol import randomize, verify
from proofs import Watch, slow_clients
from proofs.hostile_bodies import MARK
from proofs.hostile_input import ANSWERS, check_files, check_log, contents, hostile_target, prove, settled
from proofs.hostile_requests import Target
from proofs.judging import Judge
from proofs.raw_sockets import LIMIT, cases, endless, send_case
from proofs.wire import SOURCE, Reply
from tests.helpers import server_faults
from tests.helpers.machine import missing
from tests.helpers.servers import Server, ask


@pytest.fixture(scope="module", autouse=True)
def linux() -> None:
    if sys.platform != "linux":
        missing("a system on which every address of 127.0.0.0/8 is this machine, and which tells of memory in /proc")


@pytest.fixture(scope="module")
def running_target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Target]]:
    with hostile_target(tmp_path_factory.mktemp("hostile")) as both:
        yield both


@pytest.fixture
def target(running_target: tuple[Server, Target]) -> Target:
    return running_target[1]


def test_hostile_requests_change_nothing(tmp_path: Path) -> None:
    """1,500 requests made by schemathesis, by hypothesis and by hand: no 5xx, nothing stored or noted, no growth."""
    outcome = prove(tmp_path, Watch(600), 6, requests=1_500, warm_up=700, connections=300, threads=2, more_rounds=4)
    assert outcome.failures == []
    assert int(outcome.figures["requests"]) >= 1_500
    assert (
        min(int(outcome.figures[f"{how}"]) for how in ("sent raw", "made by schemathesis", "made by hypothesis")) > 100
    )


def test_slow_clients_hold_up_nobody(tmp_path: Path) -> None:
    """200 bodies and 200 heads at a byte a second: others are answered all the while, the slow ones are sent off. Here
    the server waits for 4 seconds, not for 30.
    """
    planted = server_faults.short_of_patience
    outcome = slow_clients.prove(tmp_path, Watch(600), 6, senders=200, seconds=60, planted=planted)
    assert outcome.failures == []
    assert outcome.figures["slow connections"] == 400


TRUNCATED = (
    "a body cut short", "a whole body, stated as longer", "chunks cut short", "a whole body without the last chunk",
)  # fmt: skip


@pytest.mark.parametrize("name", [*TRUNCATED, "longer than stated", "too long as stated", "10,001 submissions"])
def test_a_request_of_another_length_than_stated_is_refused(
    running_target: tuple[Server, Target], name: str, example: bytes
) -> None:
    """A submission that is cut short or too long is not stored, even if the part that came is a whole one."""
    server, target = running_target
    before, judge = contents(server.database), Judge()

    def fresh() -> bytes:
        return msgspec.json.encode(randomize(verify(example), ANSWERS, {"campus": "north"}))

    (case,) = [case for case in cases(target, fresh, Random(1)) if case.name == name]
    send_case(target, judge, case)
    assert judge.failures == []
    assert contents(server.database) == before


def test_large_bodies_leave_no_memory_behind(running_target: tuple[Server, Target]) -> None:
    """One body too large for each thread, and another: the process is not larger by more than two of them at the end.

    Each idle thread could keep the last one that it had, and the C library what it was kept in: 800 MB in all.
    """
    server, target = running_target
    judge, before = Judge(), settled(server)
    for _ in range(32):
        endless(target, judge, Random(1))
    assert judge.failures == []
    assert settled(server) < before + 2 * LIMIT


def test_http_2_is_not_spoken(target: Target) -> None:
    """The server speaks no HTTP/2: browsers need TLS for it, and the limits on heads and bodies are for HTTP/1.1."""
    judge = Judge()
    (case,) = [case for case in cases(target, lambda: b"{}", Random(1)) if case.name == "HTTP/2"]
    send_case(target, judge, case)
    assert judge.failures == []


def test_a_page_that_is_missing_is_described_as_a_page(running_target: tuple[Server, Target]) -> None:
    """The description of a missing survey's page has the content type that the page has."""
    server, _ = running_target
    described = ask(f"{server.base}/openapi.json").json["paths"]["/s/{survey}"]["get"]["responses"]["404"]["content"]
    shown = ask(f"{server.base}/s/{MARK}").headers["content-type"]
    assert shown.partition(";")[0] in described


# --- the proofs notice ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "body", "noticed"),
    [
        (500, {}, "500 to"),
        (503, {}, "503 to"),
        (201, {"accepted": 1, "duplicates": 0}, "stored"),
        (422, {"status": 422, "detail": f"no {MARK} here"}, "repeats"),
        (422, {"status": 400}, "another status"),
        (201, {"accepted": 0, "duplicates": 1}, ""),
        (422, {"status": 422, "detail": "nothing"}, ""),
    ],
)
def test_the_judge_notices(status: int, body: dict[str, object], noticed: str) -> None:
    """An answer of the server's own fault, one that stored, and one that repeats what was sent are failures."""
    judge = Judge()
    kind = "application/problem+json" if "status" in body else "application/json"
    judge.count("made", Reply(status, {"content-type": kind}, json.dumps(body).encode()), b"GET /")
    assert [noticed in failure for failure in judge.failures] == [True] * bool(noticed)


class Naive(BaseRequestHandler):
    """A server that takes every CR LF CR LF for the end of a request, and answers all of them by 200."""

    def handle(self) -> None:
        data = b""
        while part := self.request.recv(65536):
            data += part
            while b"\r\n\r\n" in data:
                data = data.partition(b"\r\n\r\n")[2]
                self.request.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")


def test_a_server_that_takes_hidden_requests_is_noticed(target: Target) -> None:
    """Cases that hide a request fail with a server that looks at no length."""
    with ThreadingTCPServer(("127.0.0.1", 0), Naive) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        naive = replace(target, port=server.server_address[1])
        for case in cases(naive, lambda: b"{}", Random(1)):
            if case.name not in ("two lengths", "almost chunks", "a chunk without an end"):
                continue
            judge = Judge()
            send_case(naive, judge, case._replace(half_closed=True))
            assert any("answered by" in failure for failure in judge.failures)
        server.shutdown()
        thread.join()


def test_what_is_stored_or_logged_is_noticed(tmp_path: Path) -> None:
    """Another row, a traceback, an address or a word of a request in the log, and a word in a file are failures."""
    database, log = tmp_path / "a.db", tmp_path / "server.log"
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE inbox (content TEXT)")
        before = contents(database)
        connection.execute("INSERT INTO inbox VALUES (?)", [MARK])
        connection.commit()
    connection.close()
    assert contents(database) != before
    judge = Judge()
    check_files(tmp_path, judge)
    assert judge.failures == [f"a.db holds {MARK}"]
    for line, fine in [
        ("2026-01-01T00:00:00+0000 INFO Listening at http://127.0.0.1:8000", True),
        ("2026-01-01T00:00:00+0000 WARNING at=2026-01-01T00:00:00Z event=foreign-form route=visits.leave", True),
        ("2026-01-01T00:00:00+0000 ERROR KeyError in app.py:1 index", False),
        ("Traceback (most recent call last):", False),
        (f"2026-01-01T00:00:00+0000 WARNING at=2026-01-01T00:00:00Z event=x way={MARK}", False),
        (f"2026-01-01T00:00:00+0000 WARNING at=2026-01-01T00:00:00Z event=x way={SOURCE}", False),
    ]:
        judge = Judge()
        log.write_text(line + "\n")
        check_log(log, judge)
        assert (judge.failures == []) == fine, line
