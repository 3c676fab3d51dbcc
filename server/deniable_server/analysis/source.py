"""Where the answers to a query come from. Every query takes a ``Source``: a survey in a database is one, an export is
another (``export.source``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

from deniable_protocol import Channel, Document, Question, Survey
from deniable_server.statistics import Statistics
from deniable_server.storage import Published, Status, Storage

from .crossing import Crossing
from .groups import Grouping


class Asked(NamedTuple):
    """A question of the survey: its position, which is that of its counts and reports, and its channel."""

    place: int
    question: Question
    channel: Channel


class Source(ABC):
    """One survey and its statistics, each read once. ``minimum`` is the size of the smallest group that is shown."""

    def __init__(self, published: Published, minimum: int) -> None:
        self.published, self.minimum = published, minimum

    @property
    def document(self) -> Document:
        return self.published.document

    @property
    def survey(self) -> Survey:
        return self.document.survey

    @cached_property
    def status(self) -> Status:
        """Whether the survey accepts submissions, or did when it was exported."""
        return self._status()

    @cached_property
    def grouping(self) -> Grouping:
        """The statistics, and which groups of submissions may be shown."""
        # In one order, wherever they were counted: sums of weighted cells then agree to the last digit.
        return Grouping(self.document, dict(sorted(self._statistics().items())), self.minimum)

    def find(self, question: str) -> Asked | None:
        for place, asked in enumerate(self.survey.questions):
            if asked.id == question:
                return Asked(place, asked, self.document.channels[question])
        return None

    @abstractmethod
    def _status(self) -> Status: ...

    @abstractmethod
    def _statistics(self) -> Statistics:
        """The sufficient statistics of all submissions."""

    @abstractmethod
    def count(self, crossing: Crossing) -> None:
        """Add to the crossing what every single submission says of its two variables."""

    @abstractmethod
    def another(self, name: str) -> Source:
        """Another survey of the same kind: in a database by its id, for an export by its folder."""


class StoredSurvey(Source):
    """A survey in a database. ``find`` gives the others by their ids, and raises for one that may not be read."""

    def __init__(self, storage: Storage, published: Published, minimum: int, find: Callable[[str], Published]) -> None:
        super().__init__(published, minimum)
        self._storage, self._find = storage, find

    def _status(self) -> Status:
        return self._storage.status(self.published)

    def _statistics(self) -> Statistics:
        return self._storage.statistics(self.published)

    def count(self, crossing: Crossing) -> None:
        with self._storage.submissions(self.published) as submissions:
            crossing.add(submissions)

    def another(self, name: str) -> StoredSurvey:
        return StoredSurvey(self._storage, self._find(name), self.minimum, self._find)
