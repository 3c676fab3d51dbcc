"""Requests that arrive at the same instant, and a way between client and server on which things get lost."""

from __future__ import annotations

import random
import socket
import threading
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import msgspec


class Answer(NamedTuple):
    """A response to one of many requests."""

    status: int
    tree: dict[str, Any]

    @property
    def problem(self) -> str:
        """The kind of a problem document."""
        return str(self.tree.get("type", "")).rpartition(":")[2]


def request(path: str, body: bytes, headers: str = "") -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n{headers}"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


class Burst:
    """Open connections: each first gets a whole request but for its last byte, and then the last bytes come."""

    def __init__(self, port: int, count: int) -> None:
        self._wires = [Wire(socket.create_connection(("127.0.0.1", port), timeout=120)) for _ in range(count)]

    def send(self, requests: Sequence[bytes]) -> list[Answer]:
        """Each over a connection of its own; the answers in the same order."""
        wires = self._wires[: len(requests)]
        assert len(wires) == len(requests)
        for wire, message in zip(wires, requests, strict=True):
            wire.socket.sendall(message[:-1])
        for wire, message in zip(wires, requests, strict=True):
            wire.socket.sendall(message[-1:])
        answers = []
        for wire in wires:
            head, body = wire.read()
            answers.append(Answer(int(head.split()[1]), msgspec.json.decode(body)))
        return answers

    def close(self) -> None:
        for wire in self._wires:
            wire.socket.close()


class Wire:
    """One end of a connection that is kept, read message by message."""

    def __init__(self, connected: socket.socket) -> None:
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket, self._left = connected, b""

    def read(self) -> tuple[bytes, bytes]:
        """The head and the body of the next message. ConnectionError where it ends before."""
        while b"\r\n\r\n" not in self._left:
            self._receive()
        head, _, self._left = self._left.partition(b"\r\n\r\n")
        length = 0
        for line in head.split(b"\r\n")[1:]:
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        while len(self._left) < length:
            self._receive()
        body, self._left = self._left[:length], self._left[length:]
        return head, body

    def _receive(self) -> None:
        part = self.socket.recv(1 << 18)
        if not part:
            raise ConnectionError("the other end is gone")
        self._left += part


class Relay:
    """Listens at a free port, and passes each connection on in a thread of its own, as ``_pass_on`` says."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = int(self._listener.getsockname()[1])
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._pass_on, args=(connection,), daemon=True).start()

    def _pass_on(self, connection: socket.socket) -> None:
        raise NotImplementedError

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._accepting.join()


class Storm(Relay):
    """Passes messages on, and loses some: a request on its way, a response after the server has given it, or half of
    one. The connection ends with each loss.
    """

    def __init__(self, target: int, seed: int, *, responses: float, requests: float, halves: float) -> None:
        self.counts: Counter[str] = Counter()
        self._target, self._random = target, random.Random(seed)
        self._shares = {"responses lost": responses, "requests lost": requests, "responses cut in the middle": halves}
        self._lock = threading.Lock()
        super().__init__()

    def _fate(self) -> str:
        with self._lock:
            mark, fate = self._random.random(), "responses passed on"
            for what, share in self._shares.items():
                if mark < share:
                    fate = what
                    break
                mark -= share
            self.counts[fate] += 1
        return fate

    def _pass_on(self, connection: socket.socket) -> None:
        target = ("127.0.0.1", self._target)
        with suppress(OSError), connection, socket.create_connection(target, timeout=120) as upstream:
            connection.settimeout(120)
            self._exchange(Wire(connection), Wire(upstream))

    def _exchange(self, client: Wire, server: Wire) -> None:
        """One message after another, until one is lost or an end is gone."""
        while True:
            head, body = client.read()
            fate = self._fate()
            if fate == "requests lost":
                return
            server.socket.sendall(head + b"\r\n\r\n" + body)
            head, body = server.read()
            response = head + b"\r\n\r\n" + body
            if fate == "responses lost":
                return
            if fate == "responses cut in the middle":
                client.socket.sendall(response[: len(response) // 2])
                return
            client.socket.sendall(response)
