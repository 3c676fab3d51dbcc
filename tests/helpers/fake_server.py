"""A small Deniable server for the client's tests: over sockets, as a WSGI app, and as badly behaved as a test wants."""

from __future__ import annotations

import http.server
import json
import os
import ssl
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Self

from deniable import Response
from deniable_protocol import publish, survey_from_tree

# A proxy in the environment must not get what is meant for this machine.
os.environ["no_proxy"] = "127.0.0.1"

JSON = {"Content-Type": "application/json"}
PROBLEM = {"Content-Type": "application/problem+json"}
PORTAL = (200, {"Content-Type": "text/html"}, b"<html>Please accept the terms of this hotel</html>")


def tree(name: str = "campus-health", epsilons: Iterable[str] = ("1.0", "0.5")) -> dict[str, Any]:
    """A survey with a segment and one yes_no question per epsilon."""
    options = [{"code": code, "text": code} for code in ("north", "south")]
    return {
        "id": name,
        "title": "Campus health",
        "segments": [{"id": "campus", "text": "Which campus?", "options": options}],
        "questions": [
            {"id": f"q{number}", "type": "yes_no", "text": "?", "epsilon": epsilon}
            for number, epsilon in enumerate(epsilons)
        ],
    }


DOCUMENT = publish(survey_from_tree(tree()))
ANSWERS: dict[str, object] = {"q0": True, "q1": False}
SEGMENTS = {"campus": "north"}


@dataclass
class Request:
    """One request, as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    time: float = field(default_factory=time.monotonic)


Scripted = tuple[int, dict[str, str], bytes]
"""A status, headers and a body, given instead of what the server would answer. Status 0: hang up without a word."""


class FakeServer:
    """Serves documents by path and counts submissions by id, as the real one does.

    ``replies`` are given first, one per request; then it behaves. ``hold`` makes every POST wait until it is set.
    Over a socket, a Content-Length among the scripted headers is sent as it is, true or not.
    """

    def __init__(self, *documents: bytes, tls: ssl.SSLContext | None = None) -> None:
        self.tls = tls
        self.documents = {json.loads(document)["survey"]["id"]: document for document in documents or (DOCUMENT,)}
        self.requests: list[Request] = []
        self.replies: list[Scripted | Callable[[Request], Scripted]] = []
        self.counted: dict[str, bytes] = {}
        self.arrived = threading.Condition()
        self.hold: threading.Event | None = None

    @property
    def posts(self) -> list[bytes]:
        return [request.body for request in self.requests if request.method == "POST"]

    def answer(self, request: Request) -> Scripted:
        with self.arrived:
            self.requests.append(request)
            self.arrived.notify_all()
            if self.replies:
                reply = self.replies.pop(0)
                return reply(request) if callable(reply) else reply
        if request.method == "POST" and self.hold is not None:
            self.hold.wait(20)
        return self.respond(request)

    def respond(self, request: Request) -> Scripted:
        """What it answers when it behaves."""
        name = request.path.removesuffix("/submissions").rpartition("/")[2]
        if name not in self.documents:
            return 404, PROBLEM, b'{"title": "Not found"}'
        if request.method == "GET":
            return 200, JSON, self.documents[name]
        submission = json.loads(request.body)["id"]
        with self.arrived:
            duplicate = submission in self.counted
            if duplicate and self.counted[submission] != request.body:
                return 409, PROBLEM, b'{"title": "Same id, other content"}'
            self.counted[submission] = request.body
        return 201, JSON, json.dumps({"accepted": int(not duplicate), "duplicates": int(duplicate)}).encode()

    def wait_for_posts(self, count: int, timeout: float = 10.0) -> None:
        with self.arrived:
            assert self.arrived.wait_for(lambda: len(self.posts) >= count, timeout), self.requests

    # As a transport, without WSGI or sockets

    def send(self, method: str, url: str, body: bytes | None, headers: dict[str, str], timeout: float) -> Response:
        status, reply_headers, content = self.answer(Request(method, url, dict(headers), body or b""))
        if status == 0:
            raise ConnectionResetError("hung up")
        return Response(status, reply_headers, content)

    # As a WSGI app

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        body = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"] or 0))
        headers = {key: value for key, value in environ.items() if isinstance(value, str)}
        status, reply_headers, content = self.answer(
            Request(environ["REQUEST_METHOD"], environ["PATH_INFO"], headers, body)
        )
        start_response(f"{status} Whatever", list(reply_headers.items()))
        return [content]

    # Over a socket

    def __enter__(self) -> Self:
        fake = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.do_POST()

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                status, headers, content = fake.answer(Request(self.command, self.path, dict(self.headers), body))
                if status == 0:
                    return
                self.send_response_only(status)
                for name, value in ({"Content-Length": str(len(content))} | headers).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *args: object) -> None:
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 64

            def handle_error(self, *args: object) -> None:
                pass  # a client that gave up waiting

        self._server = Server(("127.0.0.1", 0), Handler)
        if self.tls is not None:
            self._server.socket = self.tls.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self.hold is not None:
            self.hold.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def origin(self) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self._server.server_port}"

    @property
    def link(self) -> str:
        return f"{self.origin}/s/campus-health"


def delivery_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("deniable")]


def python(program: str, *arguments: object, expect: int = 0) -> str:
    """Run a program in a process of its own; what it printed. It must end as expected and leave stderr empty."""
    # Newer Pythons warn about forking while threads run, which some of these programs do on purpose.
    quiet = ("-W", "ignore::DeprecationWarning")
    command = [sys.executable, *quiet, "-c", textwrap.dedent(program), *map(str, arguments)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (run.returncode, run.stderr) == (expect, ""), run.stderr
    return run.stdout
