"""Every error that leaves the server: one shape (RFC 9457), made in one place.

May not: repeat what was sent, or say what went on inside.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

import msgspec
from flask import Flask, Response
from werkzeug.exceptions import ClientDisconnected, HTTPException

from deniable_protocol import DeniableError, DocumentError, Problem, SurveyError
from deniable_protocol.receive import SubmissionError

from .asking import AskedWrongly
from .estimator.comparison import NotComparable
from .groups import Withheld
from .intake import NotJSON, TooMany
from .storage import IdConflict, StorageError, SurveyClosed, SurveyDiffers

log = logging.getLogger(__name__)

TYPE_PREFIX = "urn:deniable:problem:"
RETRY_SECONDS = 5


class Kind(Enum):
    """All kinds of problem: a stable name for programs, a status, and a title for people."""

    BAD_REQUEST = ("bad-request", 400, "The request cannot be understood")
    NOT_JSON = ("not-json", 400, "The body is not strict JSON")
    BAD_PARAMETER = ("bad-parameter", 400, "A parameter of the request does not fit")
    UNAUTHORIZED = ("unauthorized", 401, "This needs a token")
    FORBIDDEN = ("forbidden", 403, "This token's role does not allow it")
    FORM = ("foreign-form", 403, "This form was not accepted")
    NOT_FOUND = ("not-found", 404, "There is nothing here")
    METHOD = ("method-not-allowed", 405, "This cannot be done here")
    INCOMPLETE = ("incomplete", 408, "The body did not arrive whole, or not in time")
    CONFLICT = ("id-conflict", 409, "A submission of this id is already stored, with other content")
    WRONG_DIGEST = ("wrong-digest", 409, "The submission was made for another document")
    CLOSED = ("survey-closed", 409, "The survey is closed")
    DIFFERS = ("survey-differs", 409, "A published survey never changes")
    TOO_LARGE = ("too-large", 413, "The request is too large")
    MEDIA_TYPE = ("media-type", 415, "The body must be application/json, not compressed")
    INVALID = ("invalid", 422, "The content does not fit")
    WITHHELD = ("withheld", 422, "A group would be too small to be shown")
    RATE_LIMIT = ("rate-limit", 429, "Too many requests from one address")
    INTERNAL = ("internal", 500, "Something is wrong on the server")
    BUSY = ("busy", 503, "The server has too much to compute just now")
    UNAVAILABLE = ("unavailable", 503, "The server cannot store anything just now")

    def __init__(self, slug: str, status: int, title: str) -> None:
        self.slug, self.status, self.title = slug, status, title


class Flaw(msgspec.Struct, frozen=True):
    """One of several things that are wrong with a request."""

    place: str
    reason: str
    message: str


class ProblemDocument(msgspec.Struct, frozen=True, omit_defaults=True):
    """What every error response holds."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[Flaw] | None = None


class Refusal(Exception):
    """Raised by a route to end in a problem document."""

    def __init__(self, kind: Kind, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.kind, self.detail, self.headers = kind, detail, headers or {}


def problem(
    kind: Kind, detail: str, errors: Sequence[Problem] = (), headers: Mapping[str, str] | None = None
) -> Response:
    """A problem document as a response."""
    flaws = [Flaw(*error) for error in errors] or None
    body = ProblemDocument(TYPE_PREFIX + kind.slug, kind.title, kind.status, detail, flaws)
    return Response(
        msgspec.json.encode(body), kind.status, dict(headers or {}), content_type="application/problem+json"
    )


def as_response(error: Exception) -> Response:
    """What is answered when this was raised."""
    match error:
        case Refusal():
            return problem(error.kind, error.detail, headers=error.headers)
        case SubmissionError() | SurveyError() | DocumentError():
            return problem(_kind_of(error), str(error.problems[0]), error.problems)
        case StorageError():
            # Its message names paths: for the log, which has it already, not for the sender.
            detail = "Nothing was stored. Try again in a moment, with the same content."
            return problem(Kind.UNAVAILABLE, detail, headers={"Retry-After": str(RETRY_SECONDS)})
        case DeniableError():
            return problem(_kind_of(error), str(error))
        case ClientDisconnected():
            # Never 400: to a client that is final, and the same sent once more may well arrive whole.
            return problem(Kind.INCOMPLETE, "Nothing was stored. Try again, with the same content.")
        case HTTPException():
            kind = _BY_STATUS.get(error.code or 500, Kind.BAD_REQUEST if (error.code or 500) < 500 else Kind.INTERNAL)
            allow = dict(error.get_headers()).get("Allow")
            return problem(kind, _DETAILS.get(kind, kind.title + "."), headers={"Allow": allow} if allow else None)
    _log(error)
    return problem(Kind.INTERNAL, "The error was logged, without its content.")


_BY_STATUS = {kind.status: kind for kind in (Kind.NOT_FOUND, Kind.METHOD, Kind.TOO_LARGE, Kind.MEDIA_TYPE)}


def register(app: Flask) -> None:
    """Every exception becomes a problem document; an unexpected one becomes a 500 that says nothing."""
    app.register_error_handler(Exception, as_response)
    # What fails even later, such as after a request, Flask logs with the address and the text of the exception.
    app.logger.disabled = True
    app.log_exception = lambda exc_info: _log(exc_info[1])  # type: ignore[method-assign]


def _log(error: BaseException | None) -> None:
    """Where it happened, without the exception's text: that may quote what was sent."""
    frames = traceback.extract_tb(None if error is None else error.__traceback__)
    places = " < ".join(f"{frame.filename}:{frame.lineno} {frame.name}" for frame in reversed(frames))
    log.error("%s in %s", type(error).__qualname__, places)


def _kind_of(error: DeniableError) -> Kind:
    if isinstance(error, NotJSON):
        return Kind.NOT_JSON
    if isinstance(error, TooMany):
        return Kind.TOO_LARGE
    if isinstance(error, SubmissionError) and error.wrong_digest:
        return Kind.WRONG_DIGEST
    return _BY_ERROR.get(type(error), Kind.INVALID)


_BY_ERROR: dict[type[DeniableError], Kind] = {
    IdConflict: Kind.CONFLICT,
    SurveyClosed: Kind.CLOSED,
    SurveyDiffers: Kind.DIFFERS,
    AskedWrongly: Kind.BAD_PARAMETER,
    NotComparable: Kind.BAD_PARAMETER,
    Withheld: Kind.WITHHELD,
}

_DETAILS: dict[Kind, str] = {
    Kind.NOT_FOUND: "No page or survey has this address.",
    Kind.METHOD: "The Allow header lists what can be done here.",
    Kind.TOO_LARGE: "Send less at a time.",
}


def responses(*kinds: Kind, as_pages: bool = False) -> dict[str, Any]:
    """These kinds in an OpenAPI document; where people look, as pages."""
    by_status: dict[str, list[str]] = {}
    for kind in kinds:
        by_status.setdefault(str(kind.status), []).append(kind.title)
    content: dict[str, Any] = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/ProblemDocument"}}}
    if as_pages:
        content = {"text/html": {"schema": {"type": "string"}}, **content}
    return {status: {"description": "; ".join(titles), "content": content} for status, titles in by_status.items()}
