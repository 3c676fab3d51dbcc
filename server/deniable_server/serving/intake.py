"""Plain submissions of respondents, answered in the event loop: no thread sleeps until their commit is on disk.

Everything else goes to Flask, and so does whatever is wrong with a submission: finding out what may take long. Both
ways share what reads, what stores and what answers, and the same tests hold for both.

May not: wait for anything but the storage.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from flask import Flask
from granian.rsgi import Scope

from deniable_protocol import Accepted
from deniable_server.storage import Published, Row
from deniable_server.web.context import AppState
from deniable_server.web.middleware import protected, sharing, trusting
from deniable_server.web.problems import as_response
from deniable_server.web.submissions import AFTER, BEFORE, ROUTE, acknowledgement, most_bytes

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

NOT_PLAIN = ("authorization", "content-encoding", "transfer-encoding")
"""With one of these headers, a request is Flask's."""


class Answer(NamedTuple):
    status: int
    headers: list[tuple[str, str]]
    body: bytes


class Plain(NamedTuple):
    """A submission that was read."""

    survey: Published
    rows: Sequence[Row]
    scope: Scope


class Intake:
    """Reads a submission, has it stored with all that wait, and answers it. One for each process."""

    def __init__(self, app: Flask) -> None:
        self._state: AppState = app.extensions["deniable"]
        settings = self._settings = self._state.settings
        self._before, self._most_bytes = settings.base_path + BEFORE, most_bytes(self._state)
        # Without a trusted proxy, Flask warns of one.
        self._not_plain = NOT_PLAIN if settings.trusted_proxies else (*NOT_PLAIN, "x-forwarded-proto")
        self._behind = trusting(_seen, settings.trusted_proxies)
        # Nearly all answers are the same.
        self._accepted = lru_cache(maxsize=100)(self._accepted_by)

    def begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """Before the first request."""
        self._loop = loop

    def read(self, scope: Scope, body: bytes) -> Plain | None:
        """A plain submission that is as it should be; None if this is, or may be, anything else."""
        path, headers, state = scope.path, scope.headers, self._state
        if not (
            path.endswith(AFTER)
            and path.startswith(self._before)
            and scope.method == "POST"
            and len(body) <= self._most_bytes
            and headers.get_all("content-type") == ["application/json"]  # type: ignore[attr-defined]  # its stub lacks it
        ):
            return None
        for name in self._not_plain:
            if name in headers:
                return None
        published = state.storage.known(path[len(self._before) : -len(AFTER)])
        if published is None or published.document.issuer is not None:  # a signature takes long to check
            return None
        posted = state.reader(published).read_plain(body)
        return None if posted is None else Plain(published, posted.rows, scope)

    async def store(self, submission: Plain) -> Answer:
        """The answer to a submission, once it is on disk or refused."""
        state, (published, rows, scope) = self._state, submission
        begun, origin, (address, scheme) = time.perf_counter(), scope.headers.get("origin"), self._sender(scope)
        try:
            state.admit(address)
            stored = self._loop.create_future()
            state.storage.accept_soon(published, rows, stored, _tell)
            outcome = await stored
            if isinstance(outcome, BaseException):
                raise outcome
        except Exception as error:
            response = as_response(error)
            state.metrics.answered(ROUTE, response.status_code)
            status, headers, body = response.status_code, [*response.headers.items()], response.get_data()
            return self._answer(status, headers, body, origin, scheme)
        state.metrics.stored(outcome, time.perf_counter() - begun)
        state.metrics.answered(ROUTE, 201)
        return self._accepted(outcome, origin, scheme)

    def _accepted_by(self, stored: Accepted, origin: str | None, scheme: str) -> Answer:
        body, headers = acknowledgement(stored)
        return self._answer(201, headers, body, origin, scheme)

    def _answer(
        self, status: int, headers: Sequence[tuple[str, str]], body: bytes, origin: str | None, scheme: str
    ) -> Answer:
        shared = sharing(self._settings.allowed_origins, origin)
        return Answer(status, protected([*headers, *shared], scheme, self._settings), body)

    def _sender(self, scope: Scope) -> tuple[str, str]:
        """The address that a request comes from, and its scheme: as trusted proxies say, if there are any."""
        if not self._settings.trusted_proxies:
            return address_of(scope), scope.scheme
        environ = {"REMOTE_ADDR": address_of(scope), "wsgi.url_scheme": scope.scheme, "HTTP_HOST": ""}
        for header in ("x-forwarded-for", "x-forwarded-proto"):
            said = scope.headers.get_all(header)  # type: ignore[attr-defined]
            environ[f"HTTP_{header.upper().replace('-', '_')}"] = ",".join(said)
        self._behind(environ, _start)
        return environ["REMOTE_ADDR"], environ["wsgi.url_scheme"]


def address_of(scope: Scope) -> str:
    """Where a connection comes from, without its port."""
    return str(scope.client.rpartition(":")[0].strip("[]"))


def _seen(environ: WSGIEnvironment, start_response: StartResponse) -> list[bytes]:
    """An app that does nothing: what ``trusting`` changes in the request is all that is wanted."""
    return []


def _start(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
    raise AssertionError("nothing is answered here")


def _tell(outcomes: list[tuple[asyncio.Future[Any], Any]]) -> None:
    """Wake all who waited for a commit at once. Called by the thread that writes."""
    with suppress(RuntimeError):  # the loop has ended: nobody waits
        outcomes[0][0].get_loop().call_soon_threadsafe(_wake, outcomes)


def _wake(outcomes: list[tuple[asyncio.Future[Any], Any]]) -> None:
    for future, outcome in outcomes:
        if not future.done():
            future.set_result(outcome)
