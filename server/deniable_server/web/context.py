"""What one running server shares between its requests, and what routes use of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import BoundedSemaphore

import msgspec
from flask import Response, current_app, request

from deniable_protocol import Survey, verify
from deniable_server.errors import RETRY_SECONDS, Kind, Refusal
from deniable_server.planning import publish_survey
from deniable_server.settings import Rate, Settings
from deniable_server.storage import Published, Storage, Token
from deniable_server.storage.base import refuse_another

from .metrics import Metrics
from .rate_limit import RateLimit
from .security_log import SecurityLog
from .submission_reader import SubmissionReader

WRONG = Rate(20, "minute")
"""Tokens and links cannot be guessed, however often somebody tries; this keeps them from keeping the server busy."""
LONG_AT_ONCE = 2
"""Computations over every single submission, in each process: the other threads are for respondents."""


class AppState:
    """The settings, the storage, and what is made from them once."""

    def __init__(self, settings: Settings, storage: Storage) -> None:
        self.settings, self.storage = settings, storage
        # Not Flask's secret_key: with one, it opens a signed session for every request, and nobody uses those.
        self.secret_key = settings.ensure_secret_key(storage.secret_key)
        self.metrics = Metrics()
        self.rate_limit = None if settings.rate_limit is None else RateLimit(settings.rate_limit)
        self.wrong_tokens = RateLimit(WRONG)
        self.wrong_links = RateLimit(WRONG)
        self.wrong_headers = RateLimit(WRONG)
        self.events = SecurityLog()
        self._long = BoundedSemaphore(LONG_AT_ONCE)
        self._readers: dict[int, SubmissionReader] = {}

    def admit(self, address: str | None) -> None:
        """Refusal where too many submissions have come from this address."""
        if self.rate_limit is not None:
            self.rate_limit.spend(address)

    def reader(self, published: Published) -> SubmissionReader:
        """What reads the submissions to a survey. It is made once: a published survey never changes."""
        reader = self._readers.get(published.number)
        if reader is None:
            reader = self._readers[published.number] = SubmissionReader(published.document)
        return reader

    def publish(self, survey: Survey, token: Token) -> bool:
        """Publish, and note who did. False where the same survey is published; SurveyDiffers where another is."""
        created = self.storage.publish(publish_survey(survey))
        self.events.did("survey-published", token, survey=survey.id)
        return created

    def is_published(self, survey: Survey) -> bool:
        """What ``publish`` would find, without publishing."""
        known = self.storage.find(survey.id)
        if known is not None:
            refuse_another(known.raw, verify(publish_survey(survey)))
        return known is not None

    def close(self, published: Published, token: Token) -> None:
        """Close a survey, and note who did."""
        self.storage.close_survey(published)
        self.events.did("survey-closed", token, survey=published.document.survey.id)

    def hold_results(self, published: Published, until: int | None, token: Token) -> None:
        """Hold results back, or show them, and note who did."""
        self.storage.hold_results(published, until)
        self.events.did(
            "results-held", token, survey=published.document.survey.id, until="closed" if until is None else str(until)
        )

    @contextmanager
    def long_computation(self) -> Iterator[None]:
        """A turn at reading every submission. Refusal if too many others are at it: nobody queues for that."""
        if not self._long.acquire(blocking=False):
            detail = "Other computations are reading all submissions. Try again in a moment."
            raise Refusal(Kind.BUSY, detail, {"Retry-After": str(RETRY_SECONDS)})
        try:
            yield
        finally:
            self._long.release()


# --- what routes use --------------------------------------------------------------------------------------------------


def here() -> AppState:
    """The state that the current request belongs to."""
    state: AppState = current_app.extensions["deniable"]
    return state


def as_json(value: object, status: int = 200) -> Response:
    headers = [("Content-Type", "application/json"), ("Cache-Control", "no-store")]
    return Response(msgspec.json.encode(value), status, headers)


def find(survey: str) -> Published:
    published = here().storage.find(survey)
    if published is None:
        raise Refusal(Kind.NOT_FOUND, "No survey has this id.")
    return published


def read_body(limit: int, kinds: Sequence[str] = ("application/json",)) -> bytes:
    """The body of a request, refused by its length before anything is parsed."""
    if request.mimetype not in kinds or request.headers.get("Content-Encoding", "identity") != "identity":
        raise Refusal(Kind.MEDIA_TYPE, f"Send  Content-Type: {' or '.join(kinds)}  and no Content-Encoding.")
    stated = request.content_length
    # One byte more than allowed is read at most: of a body without a stated length, too much is noticed only then.
    request.max_content_length = limit + 1
    if (stated or 0) > limit or len(body := request.stream.read()) > limit:
        raise Refusal(Kind.TOO_LARGE, f"At most {limit} bytes.")
    if stated is not None and len(body) != stated:
        raise Refusal(Kind.INCOMPLETE, "Nothing was stored. Try again, with the same content.")
    return body
