"""Between granian and the Flask app: a request gets a thread only when all of it has arrived.

A WSGI server gives a request to a thread as soon as its headers are there, and the thread then waits for the body: a
few slow clients can keep all threads busy. Here an event loop receives the bodies of any number of clients, within
limits of size and time, and threads only work. Plain submissions need no thread at all (``intake``).

May not: know anything about surveys.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import logging
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from io import BytesIO
from itertools import chain
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple

from granian.rsgi import HTTPProtocol, ProtocolClosed, Scope  # type: ignore[attr-defined]  # its documented names

from deniable_server.app import create_app
from deniable_server.errors import RETRY_SECONDS, Kind, Refusal
from deniable_server.settings import Settings
from deniable_server.web.computing import WAITING
from deniable_server.web.middleware import HEADERS
from deniable_server.web.problems import problem

from .intake import Intake, address_of
from .run import THREADS

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication, WSGIEnvironment

log = logging.getLogger(__name__)

BODY_SECONDS = 30.0
"""Seconds that a body may take to arrive, plus the time that its size takes at BYTES_PER_SECOND."""
BYTES_PER_SECOND = 100_000
"""The slowest client that a large body is accepted from."""
SMALL = 65_536
"""Largest body, in bytes, that is received as a whole, without looking at its parts."""
MAX_HELD = 256 * 1024 * 1024
"""Most bytes of larger bodies in memory, of all requests together."""


def create_gateway() -> Gateway:
    """What granian serves in each worker process."""
    _give_memory_back()
    settings = Settings.from_environment()
    # Those who wait for results take at most WAITING threads: the others are left for those who answer.
    app = create_app(settings)
    # What is there now stays: looking through all of it for garbage, again and again, would only take time.
    gc.collect()
    gc.freeze()
    return Gateway(app, int(os.environ[THREADS]) + WAITING, settings.max_body_bytes, Intake(app))


def _give_memory_back() -> None:
    """Once glibc has freed a large block, it keeps later ones of that size, for each thread: 16 large bodies would make
    the process several times larger for ever. With a fixed limit it gives them back to the system.
    """
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).mallopt(-3, 2**20)  # M_MMAP_THRESHOLD


class _Request(NamedTuple):
    scope: Scope
    protocol: HTTPProtocol
    body: bytes
    answered: asyncio.Future[None]


class Arriving:
    """Small bodies that are on their way. One timer for all of them ends those that take too long: a timer for each
    would cost more than reading a submission.
    """

    def __init__(self) -> None:
        self._since: dict[asyncio.Task[Any], float] = {}  # in the order of their beginning

    def begin(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop, self._now = loop, loop.time()
        loop.call_later(1.0, self._look)

    async def whole(self, protocol: HTTPProtocol) -> bytes:
        """The body of a request; TimeoutError where it does not come."""
        task = asyncio.current_task(self._loop)
        assert task is not None
        self._since[task] = self._now
        try:
            return await protocol()
        except asyncio.CancelledError:
            if task in self._since:
                raise
            raise TimeoutError from None
        finally:
            self._since.pop(task, None)

    def _look(self) -> None:
        self._now = self._loop.time()
        self._loop.call_later(1.0, self._look)
        for task, since in [*self._since.items()]:
            if since > self._now - BODY_SECONDS:
                return
            del self._since[task]
            task.cancel()


class Gateway:
    """An RSGI app that runs a WSGI app in threads, and an intake in its event loop."""

    def __init__(self, app: WSGIApplication, threads: int, max_body_bytes: int, intake: Intake | None = None) -> None:
        self._app, self._max_body_bytes, self._intake = app, max_body_bytes, intake
        self._arriving = Arriving()
        self._held = 0
        self._work: SimpleQueue[_Request] = SimpleQueue()
        self._lock = threading.Lock()
        self._answered: list[asyncio.Future[None]] = []
        for number in range(threads):
            threading.Thread(target=self._run, name=f"answering-{number}", daemon=True).start()

    # --- in the event loop -------------------------------------------------------------------------------------------

    def __rsgi_init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Called by granian, before the first request."""
        self._loop = loop
        self._arriving.begin(loop)
        if self._intake is not None:
            self._intake.begin(loop)

    async def __rsgi__(self, scope: Scope, protocol: HTTPProtocol) -> None:
        held = 0
        try:
            body = b""
            announced = scope.headers.get("content-length")
            if announced is not None and int(announced) <= SMALL:
                body = await self._arriving.whole(protocol)
                if self._intake is not None and len(body) == int(announced):
                    submission = self._intake.read(scope, body)
                    if submission is not None:
                        protocol.response_bytes(*await self._intake.store(submission))
                        return
            elif announced is not None and int(announced) <= self._max_body_bytes:
                body = await self._take_in(protocol)
                held = len(body)
                if held < int(announced):
                    raise ProtocolClosed
            elif announced is None and "transfer-encoding" in scope.headers:
                body = await self._take_in(protocol)
                held = len(body)
            # A body that is announced as too long is not read: the app refuses it for that.
            answered = self._loop.create_future()
            self._work.put(_Request(scope, protocol, body, answered))
            await answered
        except (TimeoutError, ProtocolClosed):
            # Never 400: for a client that is final, and a second try may well succeed.
            _refuse(protocol, Refusal(Kind.INCOMPLETE, "Nothing was stored. Try again, with the same content."))
        except Refusal as refusal:
            _refuse(protocol, refusal)
        finally:
            self._held -= held

    async def _take_in(self, protocol: HTTPProtocol) -> bytes:
        """A large body, or one of unknown length: at most one byte more than allowed, so that the app notices."""
        parts, size = [], 0
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(BODY_SECONDS) as limit:
                begun, ended = loop.time(), False
                async for part in protocol:
                    if ended:  # the end is one empty part; anything after it means that the body broke off
                        raise ProtocolClosed
                    ended = not part
                    parts.append(part)
                    size += len(part)
                    self._held += len(part)
                    if self._held > MAX_HELD:
                        detail = "Too much arrives at once. Try again in a moment, with the same content."
                        raise Refusal(Kind.UNAVAILABLE, detail, {"Retry-After": str(RETRY_SECONDS)})
                    if size > self._max_body_bytes:
                        break
                    limit.reschedule(begun + BODY_SECONDS + size / BYTES_PER_SECOND)
        except BaseException:
            self._held -= size
            raise
        body = b"".join(parts)[: self._max_body_bytes + 1]
        self._held -= size - len(body)
        return body

    def _wake_answered(self) -> None:
        with self._lock:
            answered, self._answered = self._answered, []
        for future in answered:
            if not future.done():
                future.set_result(None)

    # --- in threads --------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            scope, protocol, body, answered = self._work.get()
            loop = answered.get_loop()
            try:
                self._answer(scope, protocol, body, loop)
            except BaseException as error:
                # Flask has answered its own errors. What is left is a client that went away. In any case the thread
                # goes on, and nobody waits for ever.
                if not isinstance(error, ProtocolClosed):
                    log.error("%s while answering", type(error).__qualname__)
            with self._lock:
                first = not self._answered
                self._answered.append(answered)
            if first:  # the others are woken with it
                with suppress(RuntimeError):  # the loop has ended: nobody waits
                    loop.call_soon_threadsafe(self._wake_answered)
            del scope, protocol, body, answered  # or each idle thread would keep the last body that it had

    def _answer(self, scope: Scope, protocol: HTTPProtocol, body: bytes, loop: asyncio.AbstractEventLoop) -> None:
        started: list[Any] = []

        def start(status: str, headers: list[tuple[str, str]], exc_info: object = None) -> Callable[[bytes], object]:
            started[:] = int(status[:3]), headers
            return lambda data: None

        parts = self._app(_environ(scope, body), start)
        try:
            status, headers = started
            if scope.method == "HEAD":
                protocol.response_empty(status, headers)
                return
            coming = iter(parts)
            first = next(coming, b"")
            if any(name.lower() == "content-length" and value == str(len(first)) for name, value in headers):
                protocol.response_bytes(status, headers, first)
                return
            # Perhaps large, such as a download: never all of it in memory. granian keeps what the client has not read
            # yet, and if there are fewer bytes than announced, it closes the connection.
            transport = protocol.response_stream(status, headers)
            for part in chain([first], coming):
                if part:
                    asyncio.run_coroutine_threadsafe(_send(transport, part), loop).result()
        finally:
            if hasattr(parts, "close"):
                parts.close()


async def _send(transport: Any, part: bytes) -> None:
    await transport.send_bytes(part)


def _refuse(protocol: HTTPProtocol, refusal: Refusal) -> None:
    response = problem(refusal.kind, str(refusal), headers=refusal.headers)
    # The rest of the body is not read, so the connection cannot be used for another request.
    headers = [*response.headers.items(), *HEADERS.items(), ("Connection", "close")]
    protocol.response_bytes(refusal.kind.status, headers, response.get_data())


_SERVED: WSGIEnvironment = {
    "SCRIPT_NAME": "",
    "wsgi.version": (1, 0),
    "wsgi.errors": sys.stderr,
    "wsgi.input_terminated": True,
    "wsgi.multithread": True,
    "wsgi.multiprocess": True,
    "wsgi.run_once": False,
}

_NAMES = {"content-type": "CONTENT_TYPE", "content-length": "CONTENT_LENGTH"}


def _environ(scope: Scope, body: bytes) -> WSGIEnvironment:
    """The request as a WSGI environment (PEP 3333)."""
    server, _, port = scope.server.rpartition(":")
    environ = _SERVED | {
        "REQUEST_METHOD": scope.method,
        # Bytes as Latin-1: granian has decoded them as UTF-8, with a question mark for invalid bytes.
        "PATH_INFO": scope.path if scope.path.isascii() else scope.path.encode().decode("latin-1"),
        "QUERY_STRING": scope.query_string,
        "REMOTE_ADDR": address_of(scope),
        "SERVER_NAME": server,
        "SERVER_PORT": port,
        "SERVER_PROTOCOL": f"HTTP/{scope.http_version}",
        "wsgi.url_scheme": scope.scheme,
        "wsgi.input": BytesIO(body),
    }
    for name, value in scope.headers.items():
        if "_" in name:
            continue  # it would look like the header with a hyphen, which a proxy may have set or removed
        key = _NAMES.get(name) or "HTTP_" + name.upper().replace("-", "_")
        if key in environ:
            environ[key] += ("; " if name == "cookie" else ",") + value
        else:
            environ[key] = value
    if scope.authority and "HTTP_HOST" not in environ:
        environ["HTTP_HOST"] = scope.authority
    return environ
