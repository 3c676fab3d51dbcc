"""Where the answers to a query come from. Every query takes a ``Source``: a survey in a database is one, an export is
another (``export.source``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import cached_property

import numpy as np

from deniable_protocol import Document, Question, Survey
from deniable_server.estimator.evidence import Evidence, gather
from deniable_server.estimator.honesty import check_honesty
from deniable_server.statistics import Cell, Codes, Counts, Statistics
from deniable_server.storage import Published, Status, Storage

from .crossing import Crossing
from .groups import Grouping


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
    def statistics(self) -> Statistics:
        """The sufficient statistics of all submissions."""
        return self._statistics()

    @cached_property
    def notes(self) -> list[str]:
        """What is not consistent with honest reports. It is said of the whole survey, whatever part of it is asked
        about: many small tests would find something by chance.
        """
        cell = self.grouping.total(self.grouping.statistics)
        return check_honesty(self.document, cell, self.statistics.repeats)

    @cached_property
    def grouping(self) -> Grouping:
        """The cells, and which groups of submissions may be shown."""
        # In one order, wherever they were counted: sums of weighted cells then agree to the last digit.
        return Grouping(self.document, dict(sorted(self.statistics.cells.items())), self.minimum)

    def find(self, name: str) -> Question | None:
        """The question with this id."""
        return next((question for question in self.survey.questions if question.id == name), None)

    def evidence(self, question: Question, cell: Cell) -> Evidence:
        """What the submissions of a cell report on a question."""
        about = {number for number, _ in self.document.parts_about(question.id)}
        counts = [each.tolist() if number in about else [] for number, each in enumerate(cell.counts)]
        sizes = (cell.booklets @ self._booklets).tolist()
        each = zip(cell.booklets.tolist(), self.document.booklets, strict=True)
        answers = sum(n for n, booklet in each if not about.isdisjoint(booklet.parts))
        return gather(self.document, question, counts, sizes, answers)

    def evidence_of(self, question: Question, cells: Mapping[Codes, Cell]) -> Evidence:
        """The same for several cells together."""
        return self.evidence(question, self.grouping.total(cells))

    @cached_property
    def _booklets(self) -> Counts:
        """A row per booklet, with a 1 for each part that it has."""
        numbers = range(len(self.document.parts))
        return np.array(
            [[number in booklet.parts for number in numbers] for booklet in self.document.booklets], np.int64
        )

    @abstractmethod
    def _status(self) -> Status: ...

    @abstractmethod
    def _statistics(self) -> Statistics: ...

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
        self._storage.check_shown(self.published)
        return self._storage.statistics(self.published)

    def count(self, crossing: Crossing) -> None:
        with self._storage.submissions(self.published) as submissions:
            crossing.add(submissions)

    def another(self, name: str) -> StoredSurvey:
        return StoredSurvey(self._storage, self._find(name), self.minimum, self._find)
