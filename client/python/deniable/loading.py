"""Loading a survey: from its server, or from this device if the server cannot be reached.

May not: accept a document that was not verified on this device, or one that differs from the one it knows.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

import msgspec

from deniable_protocol import Document, DocumentError, Problem, verify

from .address import Address
from .errors import Unreachable
from .state import State
from .transport import USER_AGENT, Response, Transport, describe


class Loaded(NamedTuple):
    """The published bytes and what they say, and when the survey opens, if the server says that it is not open yet."""

    published: bytes
    document: Document
    opens_at: datetime | None = None


def load(address: Address, state: State, transport: Transport, timeout: float) -> Loaded:
    """A survey, verified, and kept for when there is no network."""
    headers = {"Accept": "application/json", "User-Agent": USER_AGENT}
    try:
        response = transport.send("GET", address.url, None, headers, timeout)
    except OSError as error:
        return _load_kept(address, state, describe(error))
    if not _is_document(response):
        return _load_kept(address, state, _explain(response, address))
    document = _check(response.body, address)
    if state.keep_document(address.url, document.content, response.body) != response.body:
        raise changed()
    return Loaded(response.body, document, _opening(response))


def _opening(response: Response) -> datetime | None:
    if response.header("Deniable-Status") != "scheduled":
        return None
    try:
        opens_at = datetime.fromisoformat(response.header("Deniable-Opens"))
    except ValueError:  # not the server's form: a submission will show
        return None
    return opens_at if opens_at.tzinfo else None


def changed() -> DocumentError:
    """The survey, or its booklets, are not those that this device knows."""
    message = (
        "the server sent a different document from the one this device has seen before. A published survey never "
        "changes, so either the server was tampered with or another survey was published in its place. Nothing was "
        "sent. Ask the people who run the survey: a changed survey needs a new id (while developing, use a new state "
        "file)"
    )
    return DocumentError([Problem("", "changed", message)])


def _explain(response: Response, address: Address) -> str:
    if response.status == 404 and response.media_type == "application/problem+json":
        return f"the server has no survey with the id {address.survey}"
    return f"{response.summary}, which is not a survey"


def _load_kept(address: Address, state: State, trouble: str) -> Loaded:
    published = state.document(address.url)
    if published is None:
        raise Unreachable(
            f"the survey at {address.url} cannot be loaded ({trouble}), and this device has no copy of it. "
            "Check the link and the network, then try again"
        )
    return Loaded(published, _check(published, address))


def _check(published: bytes, address: Address) -> Document:
    document = verify(published, digest=address.digest)
    if document.survey.id != address.survey:
        raise DocumentError([Problem("survey.id", "mismatch", f"the link is for the survey {address.survey}")])
    return document


def _is_document(response: Response) -> bool:
    """Whether this claims to be a document. If not, it came from a portal or proxy, and is treated like no network."""
    try:
        return response.status == 200 and "deniable" in msgspec.json.decode(response.body, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, RecursionError):
        return False
