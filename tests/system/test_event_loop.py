"""Submissions in the event loop of a real server: answered exactly as the ordinary route answers them."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import msgspec
import pytest
from flask import Flask
from werkzeug.test import Client

from deniable_protocol import randomize, verify
from deniable_server import create_app
from deniable_server.settings import Settings, parse_rate
from deniable_server.storage import open_storage
from tests.helpers.servers import Server, ask, running, storage_of

PATH = "/api/v1/surveys/campus-health/submissions"
PLAIN = {"Content-Type": "application/json"}


@pytest.fixture
def submissions(example: bytes, example_answers: dict[str, Any]) -> list[dict[str, Any]]:
    document = verify(example)
    return [dict(randomize(document, example_answers, {"campus": "north"})) for _ in range(3)]


def database(folder: Path, name: str, example: bytes) -> Path:
    path = folder / name
    storage = open_storage(str(path))
    storage.publish(example)
    storage.close()
    return path


class Answered:
    """What came back. A server and its connection add headers of their own; these are left out."""

    def __init__(self, status: int, headers: Any, body: bytes) -> None:
        own = ("server", "date", "connection")
        kept = [(name.lower(), sorted(value.split(", "))) for name, value in headers if name.lower() not in own]
        self.seen = (status, sorted(kept), body)
        self.status = status


def send(server: Server, path: str, body: bytes, headers: dict[str, str], method: str = "POST") -> Answered:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=30)
    try:
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        return Answered(response.status, response.getheaders(), response.read())
    finally:
        connection.close()


def ordinary(app: Flask, path: str, body: bytes, headers: dict[str, str], method: str = "POST") -> Answered:
    response = Client(app).open(path, method=method, data=body, headers=headers)
    return Answered(response.status_code, response.headers, response.data)


def bodies(submissions: list[dict[str, Any]]) -> dict[str, bytes]:
    one, two, _ = submissions
    encode = msgspec.json.encode
    return {
        "one": encode(one),
        "again": encode(one),
        "conflict": encode(one | {"segments": {"campus": "south"}}),
        "no such booklet": encode(two | {"booklet": 10_000}),
        "a report too many": encode(two | {"reports": [*two["reports"], 0]}),
        "none of its reports": encode(two | {"reports": [2**53] * len(two["reports"])}),
        "batch": encode({"submissions": submissions}),
        "not JSON": b"{",
        "empty": b"",
        "not UTF-8": b"\xff",
        "other digest": encode(one | {"digest": "0" * 64}),
        "missing": encode({"id": one["id"]}),
        "extra": encode(one | {"more": 1}),
        "empty batch": encode({"submissions": []}),
        "too large": b" " * 20_001,
    }


def counters(text: str) -> list[str]:
    return [line for line in text.splitlines() if "submissions" in line and "_seconds" not in line]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"allowed_origins": ("https://a.example",)},
        {"base_path": "/deep", "allowed_origins": ()},
        {"trusted_proxies": 1},
    ],
    ids=["plain", "some origins", "base path", "proxy"],
)
def test_both_ways_answer_alike(
    tmp_path: Path, example: bytes, submissions: list[dict[str, Any]], settings: dict[str, Any]
) -> None:
    """Accepted, duplicate, conflict, batch and everything that is wrong, from several origins, and what is no plain
    submission at all: the event loop of a server gives the same status, headers and body as the route in any WSGI
    server, and in the end there are the same rows and counters.
    """
    made = Settings(database=str(database(tmp_path, "route.db", example)), max_body_bytes=20_000, **settings)
    app, path = create_app(made), settings.get("base_path", "") + PATH
    file = database(tmp_path, "loop.db", example)
    with running(file, tmp_path / "log", **(made.to_environment() | {"DENIABLE_DATABASE": str(file)})) as server:
        # The survey was asked for before anybody answers it.
        document = path.removesuffix("/submissions")
        assert send(server, document, b"", {}, "GET").status == 200
        assert ordinary(app, document, b"", {}, "GET").status == 200
        for name, body in bodies(submissions).items():
            for more in ({}, {"Origin": "https://a.example"}, {"Origin": "null", "X-Forwarded-Proto": "https"}):
                answers = [send(server, path, body, PLAIN | more), ordinary(app, path, body, PLAIN | more)]
                assert answers[0].seen == answers[1].seen, (name, more)
        body = bodies(submissions)["one"]
        for elsewhere, headers, method in (
            (path.replace("campus-health", "unknown"), PLAIN, "POST"),
            (path.replace("campus-health", "a/b"), PLAIN, "POST"),
            (path, PLAIN, "PUT"),
            (path, {"Content-Type": "text/plain"}, "POST"),
            (path, PLAIN | {"Content-Encoding": "gzip"}, "POST"),
            (path, PLAIN | {"Authorization": "Bearer wrong"}, "POST"),
            (path, {"Content-Type": "application/json; charset=utf-8"}, "POST"),
        ):
            answers = [send(server, elsewhere, body, headers, method), ordinary(app, elsewhere, body, headers, method)]
            assert answers[0].seen == answers[1].seen, (elsewhere, headers, method)
        metrics = settings.get("base_path", "") + "/metrics"
        both = [ask(f"{server.base}{metrics}").body.decode(), Client(app).get(metrics).text]
        assert counters(both[0]) == counters(both[1]) and any("201" in line for line in counters(both[0]))
        assert all("deniable_store_seconds_count" in text for text in both)
    storage = open_storage(str(file))
    stored = [each.find("campus-health") for each in (storage, storage_of(app))]
    assert stored[0] is not None and stored[1] is not None
    assert storage.statistics(stored[0]) == storage_of(app).statistics(stored[1])
    storage.close()


@pytest.fixture
def limited(tmp_path: Path, example: bytes) -> Iterator[Server]:
    """A server that takes four submissions a minute, and believes one proxy."""
    environment = Settings(rate_limit=parse_rate("4/minute"), trusted_proxies=1).to_environment()
    file = database(tmp_path, "a.db", example)
    with running(file, tmp_path / "log", **(environment | {"DENIABLE_DATABASE": str(file)})) as server:
        ask(f"{server.base}{PATH.removesuffix('/submissions')}")
        yield server


def test_the_limit_is_of_the_address_that_the_proxy_names(limited: Server, submissions: list[dict[str, Any]]) -> None:
    """The fifth submission from one address is refused with the time to wait; another address is not affected, and what
    a sender says of itself before the proxy does not count.
    """
    body = msgspec.json.encode(submissions[0])
    one = [send(limited, PATH, body, PLAIN | {"X-Forwarded-For": f"192.0.2.{n}, 198.51.100.1"}) for n in range(5)]
    assert [each.status for each in one] == [201] * 4 + [429] and "retry-after" in dict(one[-1].seen[1])
    assert send(limited, PATH, body, PLAIN | {"X-Forwarded-For": "198.51.100.2"}).status == 201


def test_a_body_that_ends_early_is_no_final_refusal(limited: Server, submissions: list[dict[str, Any]]) -> None:
    """Less than was announced: nothing is stored, and never a final refusal, after which clients give up."""
    body = msgspec.json.encode(submissions[0])
    head = f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", limited.port), timeout=30) as connection:
        connection.sendall(head.encode() + body[:-10])
        connection.shutdown(socket.SHUT_WR)
        received = b"".join(iter(lambda: connection.recv(65536), b""))
    assert received == b"" or b"408" in received.partition(b"\r\n")[0]
    assert ask(f"{limited.base}{PATH}", body, PLAIN).json == {"accepted": 1, "duplicates": 0}
