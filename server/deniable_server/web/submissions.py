"""POST submissions, in two ways. ``post_submissions`` is the ordinary one. ``FastPath`` takes the plain case around
Flask, whose contexts, routing and hooks take several times as long as reading a submission and storing it.

Nobody who sends a submission can tell which way it took.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from flask import Blueprint, Response, request
from flask.typing import ResponseReturnValue
from msgspec import Struct
from msgspec.json import encode
from werkzeug.exceptions import ClientDisconnected

from deniable_protocol import Accepted, Submission
from deniable_server.errors import Kind
from deniable_server.storage import Published, Row

from .auth import collector
from .context import AppState, find, here, read_body
from .middleware import sharing
from .problems import as_response
from .routes import route
from .submission_reader import MAX_SINGLE

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

submissions = Blueprint("submissions", __name__)

BEFORE, AFTER = "/api/v1/surveys/", "/submissions"
ROUTE = f"{BEFORE}<survey>{AFTER}"


class Batch(Struct, frozen=True):
    """Up to 10,000 submissions that are stored together or not at all. Needs an access token of the role collector."""

    submissions: list[Submission]


def store(state: AppState, published: Published, rows: Sequence[Row], source: str | None = None) -> Accepted:
    """Store these. They are on disk when this returns. ``source``: the label of the collector that sends them."""
    with state.metrics.storing():
        stored = state.storage.accept(published, rows, source)
    state.metrics.stored(stored)
    return stored


def _acknowledgement(stored: Accepted) -> tuple[bytes, list[tuple[str, str]]]:
    """The body and headers of every 201."""
    body = encode(stored)
    headers = [
        ("Content-Type", "application/json"),
        ("Cache-Control", "no-store"),
        ("Content-Length", str(len(body))),
    ]
    return body, headers


@route(
    submissions,
    "POST",
    "/surveys/<survey>/submissions",
    "Store one submission; with a collector's token also a batch, all or none. Answers once they are on disk. "
    "Sent again, it is a duplicate.",
    optional_role="collector",
    takes=(Submission, Batch),
    gives=Accepted,
    status=201,
    problems=(
        Kind.NOT_JSON,
        Kind.UNAUTHORIZED,
        Kind.FORBIDDEN,
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
    """The ordinary way."""
    state, sender = here(), collector(survey)
    state.admit(request.remote_addr, 0 if sender else 1)
    published = find(survey)
    reader = state.reader(published)
    if sender is None:
        stored = store(state, published, reader.read(read_body(_most_bytes(state)), batches=False))
    else:
        rows = reader.read(read_body(state.settings.max_body_bytes))
        state.admit(request.remote_addr, len(rows))
        stored = store(state, published, rows, sender.label)
    body, headers = _acknowledgement(stored)
    return Response(body, 201, headers)


def _most_bytes(state: AppState) -> int:
    """The largest body without an access token: one submission."""
    return min(MAX_SINGLE, state.settings.max_body_bytes)


class FastPath:
    """The fast way: stores the plain submissions of respondents, and passes everything else on."""

    def __init__(self, inner: WSGIApplication, state: AppState) -> None:
        self._inner, self._state, self._most_bytes = inner, state, _most_bytes(state)

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
            and "HTTP_AUTHORIZATION" not in environ
            and int(environ["CONTENT_LENGTH"]) <= self._most_bytes
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
            stored = store(state, published, state.reader(published).read(body, batches=False))
        except Exception as error:
            response = as_response(error)
            response.headers.extend(shared)
            state.metrics.answered(ROUTE, response.status_code)
            return response(environ, start_response)
        state.metrics.answered(ROUTE, 201)
        body, headers = _acknowledgement(stored)
        start_response("201 CREATED", [*headers, *shared])
        return [body]
