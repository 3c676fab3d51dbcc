"""Proof that clients that send slowly, or do not read, take nothing away from others, and are cut off in the end."""

from __future__ import annotations

import socket
import time
from collections import Counter
from pathlib import Path

import msgspec

from tests.helpers.planting import Planted, environment

from . import Outcome, Watch
from .hostile_input import hostile_target
from .hostile_requests import Target
from .raw_sockets import GET, post
from .wire import PATIENCE, SOURCE, Nonsense, Wire

PACE = 1.0
"""Seconds from one byte to the next."""


class Slow:
    """A connection that gets one more byte in a while."""

    def __init__(self, port: int, kind: str, head: bytes, rest: bytes) -> None:
        self.kind, self.ending = kind, ""
        self._rest, self._answer = iter(rest), b""
        self._socket = socket.create_connection(("127.0.0.1", port), PATIENCE, source_address=(SOURCE, 0))
        self._socket.sendall(head)
        self._socket.setblocking(False)

    def step(self) -> None:
        """Check whether the server has closed the connection; send another byte if not."""
        try:
            while part := self._socket.recv(65536):
                self._answer += part
            self._end()
        except BlockingIOError:
            try:
                self._socket.send(bytes([next(self._rest, 32)]))
            except OSError:
                self._end()
        except OSError:
            self._end()

    def _end(self) -> None:
        head = self._answer.lower()
        self.ending = "closed" if not head else head[9:12].decode()
        if self.ending == "408" and b"content-type: application/problem+json" not in head:
            self.ending = "408 without a problem document"
        self._socket.close()

    def close(self) -> None:
        self._socket.close()


def prove(
    folder: Path, watch: Watch, seed: int, *, senders: int, seconds: float, planted: Planted | None = None
) -> Outcome:
    """So many connections with slow bodies, so many with slow heads, and some that never read what they asked for.

    All must be gone after so many seconds but the last kind, which takes nothing more than its connection. ``planted``:
    a server of less patience, to make the proof shorter.
    """
    failures: list[str] = []
    endings: Counter[str] = Counter()
    answered, longest = 0, 0.0
    with hostile_target(folder, **environment(planted)) as (server, target):
        body = post(target.survey, b"Content-Length: 100000")
        slow = [Slow(target.port, "body", body, b'{"quagga":') for _ in range(senders)]
        slow += [Slow(target.port, "head", body[:60], b"X-Quagga: " * 20) for _ in range(senders)]
        deaf = [unread(target.port) for _ in range(max(1, senders // 4))]
        begun = time.monotonic()
        while slow and time.monotonic() < begun + seconds and not watch.is_over:
            tick = time.monotonic()
            for each in slow:
                each.step()
            endings.update(f"{each.kind}: {each.ending}" for each in slow if each.ending)
            slow = [each for each in slow if not each.ending]
            watch.counts(2 * senders - len(slow), 2 * senders)
            while True:
                before = time.monotonic()
                if trouble := ordinary(target):
                    failures.append(f"{trouble} after {before - begun:.0f} seconds")
                longest = max(longest, time.monotonic() - before)
                answered += 3
                if len(failures) > 5 or time.monotonic() > tick + PACE:
                    break
            if len(failures) > 5:
                break
        if slow:
            left = Counter(each.kind for each in slow)
            failures.append(f"still there after {time.monotonic() - begun:.0f} seconds: {dict(left)}")
        failures += [
            f"{count} slow ones were answered so: {ending}"
            for ending, count in endings.items()
            if ending.partition(": ")[2] not in ("408", "closed")
        ]
        for each in (*slow, *deaf):
            each.close()
        if not failures and (trouble := ordinary(target)):
            failures.append(f"{trouble} afterwards")
        workers = len(server.workers())
    figures: dict[str, int | float | str] = {"slow connections": 2 * senders, "others answered": answered}
    figures |= dict(sorted(endings.items()))
    figures["seconds until the last was gone"] = round(time.monotonic() - begun, 1)
    figures["longest wait of others for three answers, in seconds"] = round(longest, 2)
    figures["workers"] = workers
    return Outcome(figures, failures)


def unread(port: int) -> socket.socket:
    """A connection that asks for much and never reads."""
    connection = socket.create_connection(("127.0.0.1", port), PATIENCE, source_address=(SOURCE, 0))
    connection.setblocking(False)
    raw = GET.replace(b"/healthz", b"/deniable/survey-element.js") + b"\r\n"
    try:
        for _ in range(500):
            connection.sendall(raw)
    except BlockingIOError:
        pass
    return connection


def ordinary(target: Target) -> str:
    """What went wrong with ordinary requests; empty if nothing did."""
    known = msgspec.json.encode(target.known[0])
    asked = [
        (GET + b"\r\n", 200),
        (GET.replace(b"/healthz", f"/s/{target.survey}".encode()) + b"\r\n", 200),
        (post(target.survey, b"Content-Length: %d" % len(known)) + known, 201),
    ]
    for raw, status in asked:
        try:
            with Wire(target.port) as wire:
                wire.send(raw)
                reply = wire.read()
        except (TimeoutError, Nonsense) as error:
            return f"{type(error).__name__} instead of {status}"
        if reply is None or reply.status != status:
            return f"{'closed' if reply is None else reply.status} instead of {status}"
    return ""
