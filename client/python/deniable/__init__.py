"""Deniable's client: randomise survey answers on the respondent's own device, and deliver what comes out. Analysts
read results with ``Results``.

May not: write, log or send an answer. What leaves this package is randomised, or public by definition.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from deniable_protocol import Submission
from deniable_protocol import randomize as _randomize
from deniable_protocol.blind_signatures import Token

from .client import Client
from .errors import (
    AccessDenied,
    AddressError,
    AlreadyAnswered,
    AnswerError,
    BudgetExceeded,
    DeniableError,
    DocumentError,
    HeldBack,
    InvitationError,
    MissingPackage,
    NotDelivered,
    NotOpen,
    Problem,
    QueryError,
    Refused,
    ResultsError,
    StateError,
    TokenError,
    UnknownSurvey,
    Unreachable,
)
from .receipt import Receipt, Sent
from .transport import Response, Transport
from .wsgi import WSGITransport

if TYPE_CHECKING:
    from .http_transport import HTTPTransport
    from .results import Results

__all__ = [
    "AccessDenied",
    "AddressError",
    "AlreadyAnswered",
    "AnswerError",
    "BudgetExceeded",
    "Client",
    "DeniableError",
    "DocumentError",
    "HTTPTransport",
    "HeldBack",
    "InvitationError",
    "MissingPackage",
    "NotDelivered",
    "NotOpen",
    "Problem",
    "QueryError",
    "Receipt",
    "Refused",
    "Response",
    "Results",
    "ResultsError",
    "Sent",
    "StateError",
    "Submission",
    "TokenError",
    "Transport",
    "UnknownSurvey",
    "Unreachable",
    "WSGITransport",
    "__version__",
    "randomize",
]

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """What is loaded when it is first used: an app does not wait for what it does not need."""
    if name == "HTTPTransport":
        from .http_transport import HTTPTransport

        return HTTPTransport
    if name == "Results":
        from .results import Results

        return Results
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def randomize(
    document: bytes | str,
    answers: Mapping[str, object],
    segments: Mapping[str, str] | None = None,
    booklet: int | None = None,
    token: Mapping[str, str] | None = None,
) -> Submission:
    """Turn answers into a submission that can be sent to anyone.

    The published document is verified first: DocumentError if any channel would protect less than the survey
    states. The booklet is drawn unless one is given; an app that asks only a booklet's questions draws it first, with
    ``deniable_protocol.draw_booklet``, and keeps it. A survey with invitations needs a ``token``, with ``message`` and
    ``signature`` as texts: TokenError if it is not valid. AnswerError lists all that does not fit the survey, and
    never repeats an answer. The random source is the operating system's; there is no seed.
    """
    made = None if token is None else Token.read(dict(token))
    return _randomize(document, answers, {} if segments is None else segments, booklet=booklet, token=made)
