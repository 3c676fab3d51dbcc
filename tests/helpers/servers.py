"""Real server processes for tests, and a proxy that loses responses."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from flask import Flask

from deniable_server.storage import Storage, Token
from deniable_server.storage.tokens import digest_of


class Answer(NamedTuple):
    """A response, whatever its status."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def ask(url: str, data: object = None, headers: dict[str, str] | None = None, method: str | None = None) -> Answer:
    """A request over the network; ``data`` is sent as JSON."""
    body = data if isinstance(data, bytes) or data is None else json.dumps(data, separators=(",", ":")).encode()
    request = urllib.request.Request(url, body, dict(headers or {}), method=method)
    if body is not None and not request.has_header("Content-type"):
        request.add_header("Content-Type", "application/json")
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return Answer(response.status, dict(response.headers), response.read())
    except urllib.error.HTTPError as error:
        with error:
            return Answer(error.code, dict(error.headers), error.read())


def storage_of(app: Flask) -> Storage:
    """What an app in this process stores in."""
    storage: Storage = app.extensions["deniable"].storage
    return storage


def let_collect(storage: Storage, *surveys: str) -> None:
    """Let ``collector`` send batches to these surveys."""
    for survey in surveys:
        digest = digest_of(_collector_secret(survey))
        storage.tokens.add(Token(digest[:8], "collector", "helper", digest, "2026-01-01", {survey: "collector"}))


def collector(survey: str) -> dict[str, str]:
    """The header by which a batch for this survey is taken, after ``let_collect``."""
    return {"Authorization": f"Bearer {_collector_secret(survey)}"}


def _collector_secret(survey: str) -> str:
    return f"collects-for-{survey}"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


class Server:
    """``deniable serve`` in a process of its own."""

    def __init__(self, database: Path | str, log: Path, *flags: str, **environment: str) -> None:
        self.database, self.log = database, log
        self.port = free_port()
        self.base = f"http://127.0.0.1:{self.port}"
        self._alive = f"{self.base}{environment.get('DENIABLE_BASE_PATH', '')}/healthz"
        command = [sys.executable, "-m", "deniable_server", "serve", "--database", str(database)]
        with log.open("ab") as output:
            self.process = subprocess.Popen(
                [*command, "--bind", f"127.0.0.1:{self.port}", *flags],
                stdout=output,
                stderr=output,
                env={**os.environ, **environment},
            )
        try:
            self._wait()
        except BaseException:
            self.process.kill()
            self.process.wait()
            raise

    def _wait(self) -> None:
        """Until it answers: two seconds on a machine that does nothing else, many more on a busy one."""
        deadline = time.monotonic() + 120
        while True:
            try:
                if ask(self._alive).status == 200:
                    break
            except OSError:
                pass
            assert self.process.poll() is None and time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.02)

    def workers(self) -> list[int]:
        """The processes that answer requests."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return [int(child) for child in children]

    def stop(self, sig: int = signal.SIGTERM) -> int:
        """The exit status, after this signal."""
        if self.process.poll() is None:
            self.process.send_signal(sig)
        return self.process.wait(timeout=60)


@contextmanager
def running(database: Path | str, log: Path, *flags: str, **environment: str) -> Iterator[Server]:
    server = Server(database, log, *flags, **environment)
    try:
        yield server
    finally:
        server.stop()


class LossyProxy:
    """Passes every request on, and loses a share of the responses after the server has given them."""

    def __init__(self, target_port: int, loss: float, seed: int) -> None:
        self.lost = self.passed = 0
        self.bodies: list[bytes] = []
        self._target, self._loss, self._random = target_port, loss, random.Random(seed)
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._threads: list[threading.Thread] = []
        self._accepting = threading.Thread(target=self._accept)
        self._accepting.start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=(connection,))
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            connection.settimeout(20)
            request = self._read_request(connection)
            if not request:
                return
            with socket.create_connection(("127.0.0.1", self._target), timeout=20) as upstream:
                upstream.sendall(request)
                response = b""
                while part := upstream.recv(65536):
                    response += part
            with self._lock:
                lose = self._random.random() < self._loss
                self.lost, self.passed = self.lost + lose, self.passed + (not lose)
                if request.startswith(b"POST"):
                    self.bodies.append(request.partition(b"\r\n\r\n")[2])
            if not lose:
                connection.sendall(response)

    @staticmethod
    def _read_request(connection: socket.socket) -> bytes:
        request = b""
        while b"\r\n\r\n" not in request:
            part = connection.recv(65536)
            if not part:
                return b""
            request += part
        head, _, body = request.partition(b"\r\n\r\n")
        lengths = [line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
        while lengths and len(body) < int(lengths[0]):
            body += connection.recv(65536)
        # One request per connection, so that the end of the response is the end of the connection.
        lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"connection:")]
        return b"\r\n".join([*lines, b"Connection: close"]) + b"\r\n\r\n" + body

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._accepting.join()
        for thread in self._threads:
            thread.join()
