"""Deniable's client: randomise survey answers on the respondent's own device, and deliver what comes out.

May not: write, log or send an answer. What leaves this package is randomised, or public by definition.
"""

from __future__ import annotations

from collections.abc import Mapping

from deniable_protocol import Submission
from deniable_protocol import randomize as _randomize

from .client import Client
from .errors import (
    AddressError,
    AlreadyAnswered,
    AnswerError,
    BudgetExceeded,
    DeniableError,
    DocumentError,
    Problem,
    Refused,
    StateError,
    Unreachable,
)
from .receipt import Receipt
from .transport import HTTPTransport, Response, Transport
from .wsgi import WSGITransport

__all__ = [
    "AddressError",
    "AlreadyAnswered",
    "AnswerError",
    "BudgetExceeded",
    "Client",
    "DeniableError",
    "DocumentError",
    "HTTPTransport",
    "Problem",
    "Receipt",
    "Refused",
    "Response",
    "StateError",
    "Submission",
    "Transport",
    "Unreachable",
    "WSGITransport",
    "__version__",
    "randomize",
]

__version__ = "0.1.0"


def randomize(
    document: bytes | str, answers: Mapping[str, object], segments: Mapping[str, str] | None = None
) -> Submission:
    """Turn answers into a submission that can be sent to anyone.

    The published document is verified first: DocumentError if any channel would protect less than the survey
    states. AnswerError lists everything that does not fit the survey, and never repeats an answer. The random
    source is the operating system's; there is no seed.
    """
    return _randomize(document, answers, {} if segments is None else segments)
