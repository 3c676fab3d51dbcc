"""A shorter way for submissions, around what Flask does for every request: its contexts, routing and hooks take several
times as long as reading a submission and storing it.

It takes the plain case only. Whatever differs in anything goes the ordinary way, to ``api.post_submissions``, and who
asks cannot tell which way it went.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from flask import Blueprint, request
from flask.typing import ResponseReturnValue
from msgspec import Struct
from msgspec.json import encode
from werkzeug.exceptions import ClientDisconnected

from deniable_protocol import Accepted, Submission
from deniable_server.errors import Kind

from .context import AppState, as_json, find, here, read_body
from .middleware import sharing
from .openapi import documented
from .problems import as_response

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

submissions = Blueprint("submissions", __name__)


class Batch(Struct, frozen=True):
    """Up to 10,000 submissions that are stored together or not at all."""

    submissions: list[Submission]


@submissions.post("/surveys/<survey>/submissions")
@documented(
    "Store one submission, or a batch: all or none. Answers once they are on disk. The same again is a duplicate.",
    takes=(Submission, Batch),
    gives=Accepted,
    status=201,
    problems=(
        Kind.NOT_JSON,
        Kind.INCOMPLETE,
        Kind.CONFLICT,
        Kind.WRONG_DIGEST,
        Kind.CLOSED,
        Kind.TOO_LARGE,
        Kind.MEDIA_TYPE,
        Kind.INVALID,
        Kind.RATE_LIMIT,
        Kind.UNAVAILABLE,
    ),
)
def post_submissions(survey: str) -> ResponseReturnValue:
    state = here()
    state.admit(request.remote_addr)
    published = find(survey)
    return as_json(state.store(published, read_body(state.settings.max_body_bytes)), 201)


BEFORE, AFTER = "/api/v1/surveys/", "/submissions"
ROUTE = f"{BEFORE}<survey>{AFTER}"


class FastPath:
    """Stores plain submissions, and passes everything else on."""

    def __init__(self, inner: WSGIApplication, state: AppState) -> None:
        self._inner, self._state = inner, state

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        if (
            path.endswith(AFTER)
            and path.startswith(BEFORE)
            and environ["REQUEST_METHOD"] == "POST"
            and environ.get("CONTENT_TYPE") == "application/json"
            and environ.get("CONTENT_LENGTH", "").isdecimal()
            and "HTTP_CONTENT_ENCODING" not in environ
            and "HTTP_TRANSFER_ENCODING" not in environ
            and int(environ["CONTENT_LENGTH"]) <= self._state.settings.max_body_bytes
        ):
            return self._store(path[len(BEFORE) : -len(AFTER)], environ, start_response)
        return self._inner(environ, start_response)

    def _store(self, survey: str, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        state = self._state
        shared = sharing(state.settings.allowed_origins, environ.get("HTTP_ORIGIN"))
        try:
            published = state.storage.find(survey)
            if published is None:
                return self._inner(environ, start_response)
            state.admit(environ.get("REMOTE_ADDR"))
            length = int(environ["CONTENT_LENGTH"])
            body = environ["wsgi.input"].read(length)
            if len(body) < length:
                raise ClientDisconnected
            stored = state.store(published, body)
        except Exception as error:
            response = as_response(error)
            response.headers.extend(shared)
            state.metrics.answered(ROUTE, response.status_code)
            return response(environ, start_response)
        state.metrics.answered(ROUTE, 201)
        answer = encode(stored)
        start_response(
            "201 CREATED",
            [
                ("Content-Type", "application/json"),
                ("Cache-Control", "no-store"),
                ("Content-Length", str(len(answer))),
                *shared,
            ],
        )
        return [answer]
