"""Load on a server, from one thread and many kept connections; light enough that the server is what is measured."""

from __future__ import annotations

import select
import socket
import time
from collections import deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple


class Answered(NamedTuple):
    """How many requests were answered in how many seconds, and how long each took."""

    requests: int
    seconds: float
    latencies: list[float]

    @property
    def rate(self) -> float:
        return self.requests / self.seconds

    def percentile(self, share: float) -> float:
        ordered = sorted(self.latencies)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def post(path: str, body: bytes, token: str | None = None) -> bytes:
    """A request as bytes."""
    head = f"POST {path} HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    if token is not None:
        head += f"\r\nAuthorization: Bearer {token}"
    return head.encode() + b"\r\n\r\n" + body


class Load:
    """Connections to servers on this machine: as many to each."""

    def __init__(self, ports: int | Sequence[int], connections: int) -> None:
        self._poll = select.epoll()
        self._connections: dict[int, socket.socket] = {}
        self._received: dict[int, bytes] = {}
        for port in [ports] * connections if isinstance(ports, int) else [*ports] * connections:
            connection = socket.create_connection(("127.0.0.1", port))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._connections[connection.fileno()] = connection
            self._poll.register(connection.fileno(), select.EPOLLIN)

    def __enter__(self) -> Load:
        return self

    def __exit__(self, *_: object) -> None:
        self._poll.close()
        for connection in self._connections.values():
            connection.close()

    def as_much_as_it_takes(self, requests: Iterator[bytes], seconds: float) -> Answered:
        """Each connection sends its next request when it has the answer to the last one, until the time is over."""
        begun = now = time.perf_counter()
        sent = {}
        for number, connection in self._connections.items():
            connection.sendall(next(requests))
            sent[number] = now
        latencies: list[float] = []
        while sent:
            for number in self._answered():
                now = time.perf_counter()
                latencies.append(now - sent.pop(number))
                if now - begun < seconds:
                    self._connections[number].sendall(next(requests))
                    sent[number] = now
        return Answered(len(latencies), time.perf_counter() - begun, latencies)

    def all_of(self, requests: Sequence[bytes]) -> Answered:
        """Each of these once, as quickly as they are taken."""
        left = iter(requests)
        begun = time.perf_counter()
        sent: dict[int, float] = {}
        latencies: list[float] = []
        for number, request in zip(self._connections, left, strict=False):
            sent[number] = time.perf_counter()
            self._connections[number].sendall(request)
        while sent:
            for number in self._answered():
                latencies.append(time.perf_counter() - sent.pop(number))
                if (request := next(left, None)) is not None:
                    sent[number] = time.perf_counter()
                    self._connections[number].sendall(request)
        return Answered(len(latencies), time.perf_counter() - begun, latencies)

    def at_a_rate(self, requests: Iterator[bytes], seconds: float, per_second: float) -> Answered:
        """Requests come at fixed times, whether or not those before are answered. Each is timed from when it came, so
        that one that has to wait for a free connection counts its waiting.
        """
        free = deque(self._connections)
        sent: dict[int, float] = {}
        latencies: list[float] = []
        begun = time.perf_counter()
        due, total = 0, int(seconds * per_second)
        while len(latencies) < total:
            now = time.perf_counter()
            while due < total and begun + due / per_second <= now and free:
                number = free.popleft()
                sent[number] = begun + due / per_second
                self._connections[number].sendall(next(requests))
                due += 1
            wait = max(0.0, begun + due / per_second - now) if due < total and free else 1.0
            for number in self._answered(wait):
                latencies.append(time.perf_counter() - sent.pop(number))
                free.append(number)
        return Answered(total, time.perf_counter() - begun, latencies)

    def _answered(self, timeout: float = 30.0) -> Iterator[int]:
        """The connections on which an answer has arrived whole; it must be a success."""
        for number, _ in self._poll.poll(timeout):
            part = self._connections[number].recv(65536)
            received = self._received.pop(number, b"") + part
            head, found, rest = received.partition(b"\r\n\r\n")
            length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
            if found and len(rest) >= int(length or 0):
                if not head.startswith(b"HTTP/1.1 2"):
                    raise RuntimeError(received[:300].decode(errors="replace"))
                yield number
            elif part:
                self._received[number] = received
            else:
                raise RuntimeError("the server closed a connection")
