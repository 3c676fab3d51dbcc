"""HTTP with the standard library. Loaded when a client needs it: sockets and TLS take a fifth of the start-up time.

May not: see an answer, follow a redirect, keep a cookie, or say who is sending.
"""

from __future__ import annotations

import contextlib
import http.client
import io
import os
import socket
import ssl
import threading
import time
import urllib.request
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

from .transport import MAX_RESPONSE, Response

Watch: TypeAlias = Callable[[socket.socket], None]


class HTTPTransport:
    """HTTP and HTTPS, through the proxies that the environment names.

    ``context`` is for servers whose certificate an organisation signs itself. The timeout covers the whole request,
    however slowly a server trickles; only the system's own name resolution cannot be cut short. ``most`` bytes of a
    response are read.
    """

    def __init__(self, *, context: ssl.SSLContext | None = None, most: int | None = None) -> None:
        self._most = MAX_RESPONSE if most is None else most
        self._in_flight: dict[tuple[int, int], socket.socket] = {}
        self._opener = urllib.request.OpenerDirector()
        self._opener.addheaders = []  # urllib would name itself and its version
        # Neither redirects, cookies nor error handlers: a response of any status is returned as it is.
        for handler in (urllib.request.ProxyHandler(), _Handler(self._watch, context)):
            self._opener.add_handler(handler)

    def send(self, method: str, url: str, body: bytes | None, headers: Mapping[str, str], timeout: float) -> Response:
        request = urllib.request.Request(url, body, dict(headers), method=method)  # noqa: S310  # an Address is http(s)
        try:
            with self._opener.open(request, timeout=timeout) as response:
                content: bytes = response.read(self._most)
                if response.length and len(content) < self._most:
                    raise ConnectionError("the response was cut short")
                return Response(response.status, dict(response.headers.items()), content)
        except (http.client.HTTPException, UnicodeError) as error:  # not HTTP, cut short, or no host name at all
            raise ConnectionError(f"{type(error).__name__}: {error}") from error
        finally:
            self._release(threading.get_ident())

    def abort(self, thread: int) -> None:
        """End the request that a thread waits for, if any: it gets an OSError at once."""
        self._release(thread, shut=True)

    # A second handle on the socket, since TLS and http.client hide or replace the first. The thread that takes
    # it out of the dictionary owns it, so that no handle is used after it is closed. Keys contain the process, since
    # shutting down a connection inherited over a fork would cut off the parent.

    def _watch(self, connecting: socket.socket) -> None:
        self._release(threading.get_ident())
        self._in_flight[os.getpid(), threading.get_ident()] = connecting.dup()

    def _release(self, thread: int, *, shut: bool = False) -> None:
        handle = self._in_flight.pop((os.getpid(), thread), None)
        if handle is not None:
            if shut:
                with contextlib.suppress(OSError):  # it ended by itself
                    handle.shutdown(socket.SHUT_RDWR)
            handle.close()


class _Handler(urllib.request.AbstractHTTPHandler):
    """Opens connections that keep one deadline and can be aborted, where urllib's own would do neither."""

    http_request = https_request = urllib.request.AbstractHTTPHandler.do_request_

    def __init__(self, watch: Watch, context: ssl.SSLContext | None) -> None:
        super().__init__()
        self._plain: Any = partial(_Connection, watch=watch)
        self._secure: Any = partial(_SecureConnection, watch=watch, context=context)

    def http_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(self._plain, request)

    def https_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(self._secure, request)


class _Connection(http.client.HTTPConnection):
    def __init__(self, host: str, *, timeout: float, watch: Watch, **options: Any) -> None:
        super().__init__(host, timeout=timeout, **options)
        self._deadline = time.monotonic() + timeout
        self._watch = watch
        self.response_class: Any = partial(_Response, deadline=self._deadline)
        # http.client's own hook. Were it gone, connecting could not be aborted, and all else would work.
        self._create_connection = self._dial

    def _dial(self, address: tuple[str, int], *_: object) -> socket.socket:
        """Connect to the first of the host's addresses that answers, all of them within the one deadline."""
        trouble: OSError = OSError("the host has no address")
        for family, kind, protocol, _name, target in socket.getaddrinfo(*address, type=socket.SOCK_STREAM):
            connecting = socket.socket(family, kind, protocol)
            try:
                self._watch(connecting)
                connecting.settimeout(_left(self._deadline))
                connecting.connect(target)
            except OSError as error:
                connecting.close()
                trouble = error
            else:
                return connecting
        raise trouble


class _SecureConnection(_Connection, http.client.HTTPSConnection):
    pass


class _Response(http.client.HTTPResponse):
    def __init__(self, connected: socket.socket, *args: Any, deadline: float, **options: Any) -> None:
        super().__init__(connected, *args, **options)
        self.fp: Any = io.BufferedReader(_Timed(connected, self.fp.detach(), deadline))


class _Timed(io.RawIOBase):
    """Reads a socket up to one deadline: a timeout per read would let a server hold on, one byte at a time."""

    def __init__(self, connected: socket.socket, raw: socket.SocketIO, deadline: float) -> None:
        self._connected, self._raw, self._deadline = connected, raw, deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._connected.settimeout(_left(self._deadline))
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("timed out")
    return left
