"""Every error that leaves the server: one shape (RFC 9457), made in one place.

May not: repeat what was sent, or reveal what happened inside.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from flask import Flask, Response
from werkzeug.exceptions import ClientDisconnected, HTTPException

from deniable_protocol import DeniableError, Problem, SubmissionError
from deniable_server.errors import RETRY_SECONDS, Kind, Refusal, StorageError

log = logging.getLogger(__name__)

TYPE_PREFIX = "urn:deniable:problem:"


class Flaw(msgspec.Struct, frozen=True):
    """One of several things that are wrong with a request."""

    place: str
    reason: str
    message: str


class ProblemDocument(msgspec.Struct, frozen=True, omit_defaults=True):
    """The content of every error response."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[Flaw] | None = None


class Explained(NamedTuple):
    """An error as the world sees it: programs as a document, people as a page."""

    document: ProblemDocument
    headers: Mapping[str, str]

    def as_response(self) -> Response:
        body, status = msgspec.json.encode(self.document), self.document.status
        return Response(body, status, dict(self.headers), content_type="application/problem+json")


def problem(kind: Kind, detail: str, headers: Mapping[str, str] | None = None) -> Response:
    """A problem document as a response, for what happens outside of Flask."""
    return _explained(kind, detail, headers=headers).as_response()


def as_response(error: Exception) -> Response:
    """The problem document of this error."""
    return explain(error).as_response()


def explain(error: Exception) -> Explained:
    """What the caller is told. An unexpected error is logged, and says nothing."""
    match error:
        case Refusal():
            return _explained(error.kind, str(error), headers=error.headers)
        case StorageError():
            # Its message names paths: for the log, which has it already, not for the sender.
            detail = "Nothing was stored. Try again in a moment, with the same content."
            return _explained(error.kind, detail, headers={"Retry-After": str(RETRY_SECONDS)})
        case DeniableError():
            flaws: Sequence[Problem] = getattr(error, "problems", ())
            return _explained(_kind_of(error), str(flaws[0] if flaws else error), flaws)
        case ClientDisconnected():
            # Never 400: to a client that is final, and the same sent once more may well arrive whole.
            return _explained(Kind.INCOMPLETE, "Nothing was stored. Try again, with the same content.")
        case HTTPException():
            kind = _BY_STATUS.get(error.code or 500, Kind.BAD_REQUEST if (error.code or 500) < 500 else Kind.INTERNAL)
            allow = dict(error.get_headers()).get("Allow")
            return _explained(kind, _DETAILS.get(kind, kind.title + "."), headers={"Allow": allow} if allow else None)
    log_place(error)
    return _explained(Kind.INTERNAL, "The error was logged, without its content.")


def _explained(
    kind: Kind, detail: str, errors: Sequence[Problem] = (), headers: Mapping[str, str] | None = None
) -> Explained:
    flaws = [Flaw(*error) for error in errors] or None
    return Explained(ProblemDocument(TYPE_PREFIX + kind.slug, kind.title, kind.status, detail, flaws), headers or {})


def _kind_of(error: DeniableError) -> Kind:
    """The server's errors know; what the protocol refuses is invalid, or was made for another document."""
    if isinstance(error, SubmissionError) and error.wrong_digest:
        return Kind.WRONG_DIGEST
    return getattr(error, "kind", Kind.INVALID)


_BY_STATUS = {kind.status: kind for kind in (Kind.NOT_FOUND, Kind.METHOD, Kind.TOO_LARGE, Kind.MEDIA_TYPE)}


def register(app: Flask) -> None:
    """Every exception becomes a problem document. The pages show theirs as a page instead."""
    app.register_error_handler(Exception, as_response)
    # What fails even later, such as after a request, Flask logs with the address and the text of the exception.
    app.logger.disabled = True
    app.log_exception = lambda exc_info: log_place(exc_info[1])  # type: ignore[method-assign]


def log_place(error: BaseException | None) -> None:
    """Where it happened, without the exception's text: that may quote what was sent."""
    frames = traceback.extract_tb(None if error is None else error.__traceback__)
    places = " < ".join(f"{frame.filename}:{frame.lineno} {frame.name}" for frame in reversed(frames))
    log.error("%s in %s", type(error).__qualname__, places)


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
