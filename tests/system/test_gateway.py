"""The gateway in a real server process: bodies are taken in before threads work, within limits; answers go out."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.helpers.servers import ask, free_port

APP = """
import json, os, time
import deniable_server.serving.gateway as gateway

gateway.BODY_SECONDS, gateway.MAX_HELD = 2.0, 3_000_000
most = []

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

def app(environ, start):
    path = environ["PATH_INFO"]
    body = environ["wsgi.input"].read()
    told = {k: v for k, v in environ.items() if isinstance(v, str)} | {"body": len(body)}
    if path == "/parts":
        start("200 OK", [("Content-Type", "text/plain")])
        def parts():
            for i in range(300):
                yield b"%06d\\n" % i * 1000
        return parts()
    if path.startswith("/download"):
        start("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "100000000")])
        def pieces():
            for i in range(1000):
                if i == 5 and path == "/download-that-fails":
                    raise KeyError("canary")
                most[0] = max(most[0], resident())
                yield b"x" * 100_000
        most[:] = [0, resident()]
        return pieces()
    if path == "/most":
        told["grown"] = most[0] - most[1]
    if path == "/exit":
        raise SystemExit
    if path == "/slow":
        time.sleep(1)
    if path == "/bug":
        raise KeyError("canary")
    answer = json.dumps(told).encode()
    start("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(answer)))])
    return [answer]

made = gateway.Gateway(app, 4, 2_000_000)
"""


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A server of an app that returns what it was asked, with four threads, 2 seconds and 2 MB for a body."""
    folder = tmp_path_factory.mktemp("gateway")
    (folder / "telling.py").write_text(APP)
    number = free_port()
    command = [sys.executable, "-m", "granian", "--interface", "rsgi", "--no-ws", "--port", str(number), "telling:made"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
    deadline = time.monotonic() + 60
    while True:
        try:
            ask(f"http://127.0.0.1:{number}/")
            break
        except OSError:
            assert process.poll() is None and time.monotonic() < deadline, (folder / "log").read_text()
            time.sleep(0.05)
    yield number
    process.terminate()
    process.wait(60)
    assert "canary" not in (folder / "log").read_text()


def exchange(port: int, *pieces: bytes, end: bool = False) -> bytes:
    """What comes back on a connection of its own, until the server closes it or is silent for long."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        for piece in pieces:
            connection.sendall(piece)
        if end:
            connection.shutdown(socket.SHUT_WR)
        received = b""
        while part := connection.recv(65536):
            received += part
    return received


def request(path: str, *headers: str, method: str = "GET", close: bool = True) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: x", *headers, *(["Connection: close"] if close else [])]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def told(response: bytes) -> dict[str, Any]:
    tree: dict[str, Any] = json.loads(response.partition(b"\r\n\r\n")[2])
    return tree


def test_the_request_reaches_the_app_as_it_was(port: int) -> None:
    """Method, path as bytes, query, repeated headers and the address; headers with underscores pass for nothing."""
    heads = ["Cookie: a=1", "Cookie: b=2", "X-One: 1", "X-One: 2", "X_Forwarded_For: 192.0.2.1", "Content-Length: 3"]
    environ = told(exchange(port, request("/a%C3%A9%2Fb?q=%C3%A9", *heads, method="PUT"), b"abc"))
    assert environ["REQUEST_METHOD"] == "PUT" and environ["PATH_INFO"] == "/aé/b".encode().decode("latin-1")
    assert (environ["QUERY_STRING"], environ["HTTP_COOKIE"], environ["HTTP_X_ONE"]) == ("q=%C3%A9", "a=1; b=2", "1,2")
    assert (environ["REMOTE_ADDR"], environ["CONTENT_LENGTH"], environ["body"]) == ("127.0.0.1", "3", 3)
    assert environ["SERVER_PORT"] == str(port) and "HTTP_X_FORWARDED_FOR" not in environ


def test_answers_of_unknown_length_come_in_parts_and_whole(port: int) -> None:
    """2.1 MB made piece by piece arrive complete and in order."""
    answer = ask(f"http://127.0.0.1:{port}/parts")
    assert answer.body == b"".join(b"%06d\n" % i * 1000 for i in range(300))


def test_head_has_the_headers_and_no_body(port: int) -> None:
    """HEAD gets the length that GET would have, and nothing after the headers."""
    response = exchange(port, request("/", method="HEAD"))
    assert response.startswith(b"HTTP/1.1 200") and response.endswith(b"\r\n\r\n")


@pytest.mark.parametrize("size", [1, 70_000, 2_000_000])
def test_bodies_within_the_limit_arrive_whole(port: int, size: int) -> None:
    """Bodies arrive whole with a stated length and in chunks."""
    body = b"x" * size
    assert told(exchange(port, request("/", f"Content-Length: {size}", method="POST"), body))["body"] == size
    chunks = [b"%x\r\n%s\r\n" % (len(part), part) for part in (body[: size // 2], body[size // 2 :]) if part]
    response = exchange(port, request("/", "Transfer-Encoding: chunked", method="POST"), *chunks, b"0\r\n\r\n")
    assert told(response)["body"] == size


def test_of_a_body_without_length_one_byte_more_than_allowed_is_read(port: int) -> None:
    """One byte more is enough for the app to see that the body is too long, and takes no further memory."""
    chunk = b"%x\r\n%s\r\n" % (100_000, b"x" * 100_000)
    response = exchange(port, request("/", "Transfer-Encoding: chunked", method="POST"), *[chunk] * 21, b"0\r\n\r\n")
    assert told(response)["body"] == 2_000_001


def test_a_body_announced_too_long_is_not_read(port: int) -> None:
    """The app is asked at once, with the length that was announced and no body."""
    environ = told(exchange(port, request("/", "Content-Length: 2000001", method="POST")))
    assert (environ["CONTENT_LENGTH"], environ["body"]) == ("2000001", 0)


@pytest.mark.parametrize("header", ["Content-Length: 100", "Content-Length: 100000", "Transfer-Encoding: chunked"])
def test_a_body_that_does_not_come_is_given_up(port: int, header: str) -> None:
    """After the time limit: 408 as a problem document, and the connection is closed."""
    response = exchange(port, request("/", header, method="POST", close=False), b"5\r\nabcde\r\n")
    assert response.startswith(b"HTTP/1.1 408") and b"urn:deniable:problem:incomplete" in response
    assert b"content-security-policy" in response.lower()


def test_a_body_that_ends_early_never_reaches_the_app(port: int) -> None:
    """Cut off after some of the bytes that were announced: no answer, or 408; never the app's."""
    for header in ("Content-Length: 100", "Content-Length: 100000"):
        response = exchange(port, request("/", header, method="POST"), b"abcde", end=True)
        assert response == b"" or response.startswith(b"HTTP/1.1 408"), response


@pytest.mark.parametrize("rest", [b"", b"nonsense\r\n", b"5\r\nab"], ids=["cut off", "malformed", "within a chunk"])
def test_chunks_that_break_off_never_reach_the_app(port: int, rest: bytes) -> None:
    """The part that came is not taken for the whole body, even if it looks like one."""
    sent = request("/", "Transfer-Encoding: chunked", method="POST") + b"5\r\nabcde\r\n"
    response = exchange(port, sent, rest, end=True)
    assert response == b"" or response.startswith((b"HTTP/1.1 408", b"HTTP/1.1 400")), response


def test_a_download_is_not_gathered_in_memory(port: int) -> None:
    """100 MB with a stated length arrive whole, and the server has at no time held half of them."""
    assert ask(f"http://127.0.0.1:{port}/download").body == b"x" * 100_000_000
    assert ask(f"http://127.0.0.1:{port}/most").json["grown"] < 50_000_000


def test_a_download_that_fails_is_seen_to_be_incomplete(port: int) -> None:
    """The connection ends before the stated length."""
    response = exchange(port, request("/download-that-fails"))
    assert response.startswith(b"HTTP/1.1 200") and len(response) < 1_000_000


def test_slow_clients_take_no_threads(port: int) -> None:
    """With 50 bodies under way on four threads, others are answered as before."""
    slow = [socket.create_connection(("127.0.0.1", port), timeout=30) for _ in range(50)]
    for connection in slow:
        connection.sendall(request("/", "Content-Length: 100", method="POST") + b"x")
    for _ in range(20):
        assert ask(f"http://127.0.0.1:{port}/").status == 200
    for connection in slow:
        assert connection.recv(100).startswith(b"HTTP/1.1 408")
        connection.close()


def test_too_much_at_once_is_put_off(port: int) -> None:
    """With more than 3 MB of bodies under way together, others have to come back later; then all is free again."""
    holding = [socket.create_connection(("127.0.0.1", port), timeout=30) for _ in range(2)]
    for connection in holding:
        connection.sendall(request("/", "Content-Length: 1900000", method="POST") + b"x" * 1_490_000)
    time.sleep(0.5)
    response = exchange(port, request("/", "Content-Length: 100000", method="POST"), b"x" * 100_000)
    assert response.startswith(b"HTTP/1.1 503") and b"retry-after" in response.lower()
    for connection in holding:
        assert connection.recv(100).startswith(b"HTTP/1.1 408")
        connection.close()
    assert told(exchange(port, request("/", "Content-Length: 1900000", method="POST"), b"x" * 1_900_000))


@pytest.mark.parametrize("path", ["/bug", "/exit"])
def test_a_bug_of_the_app_leaves_the_thread_at_work(port: int, path: str) -> None:
    """More failing requests than threads: each ends, none with the exception's text, and the next is answered."""
    for _ in range(6):
        response = exchange(port, request(path))
        assert b"canary" not in response and (response == b"" or response.startswith(b"HTTP/1.1 500"))
    assert ask(f"http://127.0.0.1:{port}/").status == 200


def test_a_client_that_goes_while_it_waits_leaves_no_trace(port: int) -> None:
    """Its request is worked on to the end, and the thread is free again."""
    for _ in range(8):
        with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
            connection.sendall(request("/slow", close=False))
    assert ask(f"http://127.0.0.1:{port}/").status == 200
