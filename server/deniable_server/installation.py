"""What one running server shares between its requests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore

from .edges import RateLimit
from .events import Events
from .intake import Intake
from .metrics import Metrics
from .problems import RETRY_SECONDS, Kind, Refusal
from .settings import Rate, Settings
from .storage import Accepted, Published, Storage

WRONG = Rate(20, "minute")
"""Tokens and links cannot be guessed, however often somebody tries; this keeps them from keeping the server busy."""
LONG_AT_ONCE = 2
"""Computations over every single submission, in each process: the other threads are for those who answer."""


class Installation:
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
        self.events = Events()
        self._long = BoundedSemaphore(LONG_AT_ONCE)
        self._intakes: dict[int, Intake] = {}

    def admit(self, address: str | None) -> None:
        """Refusal where too many submissions have come from this address."""
        if self.rate_limit is not None:
            self.rate_limit.spend(address)

    def store(self, published: Published, body: bytes) -> Accepted:
        """Keep what this body holds, one submission or several; they are on disk when this returns."""
        intake = self._intakes.get(published.number)
        if intake is None:
            intake = self._intakes[published.number] = Intake(published.document)
        rows = intake.read(body)
        with self.metrics.storing():
            stored = self.storage.accept(published, rows)
        self.metrics.stored(*stored)
        return stored

    @contextmanager
    def long_computation(self) -> Iterator[None]:
        """A turn at what goes through every submission; Refusal where others are at it: nobody queues for that."""
        if not self._long.acquire(blocking=False):
            detail = "Others are computing from all submissions just now. Try again in a moment."
            raise Refusal(Kind.BUSY, detail, {"Retry-After": str(RETRY_SECONDS)})
        try:
            yield
        finally:
            self._long.release()
