"""What one running server shares between its requests."""

from __future__ import annotations

from .edges import RateLimit
from .intake import Intake
from .metrics import Metrics
from .settings import Rate, Settings
from .storage import Published, Storage

WRONG = Rate(20, "minute")
"""Tokens and links cannot be guessed, however often somebody tries; this keeps them from keeping the server busy."""


class Installation:
    """The settings, the storage, and what is made from them once."""

    def __init__(self, settings: Settings, storage: Storage) -> None:
        self.settings, self.storage = settings, storage
        self.metrics = Metrics()
        self.rate_limit = None if settings.rate_limit is None else RateLimit(settings.rate_limit)
        self.wrong_tokens = RateLimit(WRONG)
        self.wrong_links = RateLimit(WRONG)
        self._intakes: dict[int, Intake] = {}

    def intake(self, published: Published) -> Intake:
        """The reader of submissions to a survey, which never changes."""
        if published.number not in self._intakes:
            self._intakes[published.number] = Intake(published.document)
        return self._intakes[published.number]
