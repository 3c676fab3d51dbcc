"""A connection that sends any bytes at all, and reads what comes back exactly as HTTP/1.1 says."""

from __future__ import annotations

import socket
from contextlib import suppress
from types import TracebackType
from typing import NamedTuple

SOURCE = "127.66.55.44"
"""Where hostile requests come from: an address of its own, so that it is recognised wherever it turns up."""

PATIENCE = 30.0
"""Seconds after which a silent server counts as hanging."""


class Reply(NamedTuple):
    """A response, whatever its status."""

    status: int
    headers: dict[str, str]
    body: bytes


class Nonsense(Exception):
    """What came back is not HTTP."""


class Wire:
    """One connection."""

    def __init__(self, port: int, timeout: float = PATIENCE) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout, source_address=(SOURCE, 0))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._buffer = b""

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._socket.close()

    def close(self) -> None:
        self._socket.close()

    def send(self, raw: bytes) -> bool:
        """Whether the server has taken these bytes; not where it has closed the connection before."""
        try:
            self._socket.sendall(raw)
        except (BrokenPipeError, ConnectionResetError):
            return False
        return True

    def finish_sending(self) -> None:
        """Close this half of the connection only."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)

    def read(self, method: str = "GET") -> Reply | None:
        """The next response, interim ones left out; None where the server closed the connection instead.

        TimeoutError where nothing comes, Nonsense where it is not HTTP or breaks off half-way.
        """
        while True:
            head = self._until(b"\r\n\r\n")
            if head is None:
                return None
            first, *lines = head.decode("latin-1").split("\r\n")
            version, _, rest = first.partition(" ")
            if version not in ("HTTP/1.0", "HTTP/1.1") or not rest[:3].isdecimal():
                raise Nonsense("the status line is none")
            status, headers = int(rest[:3]), {}
            for line in lines:
                name, separator, value = line.partition(":")
                if not separator or name != name.strip():
                    raise Nonsense("a header is none")
                headers[name.lower()] = value.strip()
            if 100 <= status < 200:
                continue
            return Reply(status, headers, self._body(method, status, headers))

    def interim(self) -> int | None:
        """The status of an interim response; None where the connection was closed instead."""
        head = self._until(b"\r\n\r\n")
        return None if head is None else int(head[9:12])

    def _body(self, method: str, status: int, headers: dict[str, str]) -> bytes:
        if method == "HEAD" or status in (204, 304):
            return b""
        if headers.get("transfer-encoding") == "chunked":
            body = b""
            while size := int(self._must(self._until(b"\r\n")), 16):
                body += self._exactly(size + 2)[:-2]
            self._exactly(2)
            return body
        if "content-length" in headers:
            return self._exactly(int(headers["content-length"]))
        rest = self._buffer
        while part := self._receive():
            rest += part
        self._buffer = b""
        return rest

    def _until(self, end: bytes) -> bytes | None:
        while end not in self._buffer:
            part = self._receive()
            if not part:
                if self._buffer:
                    raise Nonsense("the answer breaks off")
                return None
            self._buffer += part
        found, _, self._buffer = self._buffer.partition(end)
        return found

    def _exactly(self, n: int) -> bytes:
        while len(self._buffer) < n:
            part = self._receive()
            if not part:
                raise Nonsense("the answer breaks off")
            self._buffer += part
        taken, self._buffer = self._buffer[:n], self._buffer[n:]
        return taken

    def _receive(self) -> bytes:
        try:
            return self._socket.recv(65536)
        except ConnectionResetError:
            return b""

    @staticmethod
    def _must(found: bytes | None) -> bytes:
        if found is None:
            raise Nonsense("the answer breaks off")
        return found
