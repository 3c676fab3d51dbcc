"""POST submissions: from respondents, one at a time; from collectors also in batches.

``serving.intake`` answers plain submissions in an event loop, with the functions of this module. Nobody who sends one
can tell which way it took.
"""

from __future__ import annotations

import time

from flask import Blueprint, Response, request
from flask.typing import ResponseReturnValue
from msgspec import Struct
from msgspec.json import encode

from deniable_protocol import Accepted, Submission
from deniable_server.errors import Kind
from deniable_server.storage import Published

from .auth import collector
from .context import AppState, find, here, read_body
from .routes import route
from .submission_reader import MAX_SINGLE, Posted

submissions = Blueprint("submissions", __name__)

BEFORE, AFTER = "/api/v1/surveys/", "/submissions"
ROUTE = f"{BEFORE}<survey>{AFTER}"


class Batch(Struct, frozen=True):
    """Up to 10,000 submissions that are stored together or not at all. Needs an access token of the role collector."""

    submissions: list[Submission]


def store(state: AppState, published: Published, posted: Posted, source: str | None = None) -> Accepted:
    """Store these. They are on disk when this returns. ``source``: the label of the collector that sends them."""
    begun = time.perf_counter()
    stored = state.storage.accept(published, posted.rows, source, posted.counted)
    state.metrics.stored(stored, time.perf_counter() - begun)
    return stored


def acknowledgement(stored: Accepted) -> tuple[bytes, list[tuple[str, str]]]:
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
        Kind.NOT_OPEN,
        Kind.TOO_FEW_PLACES,
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
        stored = store(state, published, reader.read(read_body(most_bytes(state)), batches=False))
    else:
        posted = reader.read(read_body(state.settings.max_body_bytes))
        state.admit(request.remote_addr, len(posted.rows))
        stored = store(state, published, posted, sender.label)
    body, headers = acknowledgement(stored)
    return Response(body, 201, headers)


def most_bytes(state: AppState) -> int:
    """The largest body without an access token: one submission."""
    return min(MAX_SINGLE, state.settings.max_body_bytes)
