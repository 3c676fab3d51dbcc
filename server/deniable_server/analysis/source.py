"""Where the answers to a query come from. Every query takes a ``Source``: a survey in a database is one, an export is
another (``export.source``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import cached_property
from typing import Self

import numpy as np

from deniable_protocol import Document, Question, Survey
from deniable_server.errors import BadQuery
from deniable_server.estimator.evidence import Evidence, gather
from deniable_server.estimator.honesty import check_honesty
from deniable_server.statistics import Cell, Codes, Counts, Statistics
from deniable_server.storage import Published, State, Status, Storage, utc_today
from deniable_server.storage.invitations import InvitationNumbers

from .crossing import Crossing
from .groups import Grouping, check_left_out, total
from .query import Query


class Source(ABC):
    """One survey and its statistics. ``minimum`` is the size of the smallest group that is shown, ``without`` the
    labels of collectors whose submissions are left out.
    """

    def __init__(self, published: Published, minimum: int, without: Sequence[str] = ()) -> None:
        self.published, self.minimum, self.without = published, minimum, tuple(without)
        self._read: dict[tuple[int, ...], Statistics] = {}
        self._groupings: dict[tuple[int, ...], Grouping] = {}

    @property
    def document(self) -> Document:
        return self.published.document

    @property
    def survey(self) -> Survey:
        return self.document.survey

    @cached_property
    def segments(self) -> dict[str, int]:
        """The place of each segment."""
        return {segment.id: place for place, segment in enumerate(self.survey.segments)}

    @cached_property
    def status(self) -> Status:
        """Whether the survey accepts submissions, or did when it was exported."""
        return self._status()

    @cached_property
    def day(self) -> date:
        """The day (UTC) that results are of: today, or when the survey was exported."""
        return self._day()

    def statistics(self, *segments: str) -> Statistics:
        """The sufficient statistics by the codes of these segments, in the order of the survey, and of no others: what
        is kept of all combinations is read only for several segments.
        """
        over = tuple(sorted({self.segments[name] for name in segments}))
        if over not in self._read:
            # Of one state, where more was read already.
            more = next((known for known in self._read if set(over) < set(known)), None)
            if more is not None:
                self._read[over] = self._read[more].over([more.index(place) for place in over])
            else:
                self._read[over] = self._statistics(over)
        return self._read[over]

    @cached_property
    def notes(self) -> list[str]:
        """What is not consistent with honest reports. It is said of the whole survey, whatever part of it is asked
        about: many small tests would find something by chance.
        """
        statistics = self.statistics()
        return check_honesty(self.document, total(self.document, statistics.cells), statistics.repeats)

    def grouping(self, *segments: str) -> Grouping:
        """The cells by the codes of these segments, and which groups of submissions may be shown."""
        over = tuple(sorted({self.segments[name] for name in segments}))
        if over not in self._groupings:
            named = [self.survey.segments[place] for place in over]
            self._groupings[over] = Grouping(self.document, named, self.statistics(*segments).cells, self.minimum)
        return self._groupings[over]

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
        return self.evidence(question, total(self.document, cells))

    @cached_property
    def _booklets(self) -> Counts:
        """A row per booklet, with a 1 for each part that it has."""
        numbers = range(len(self.document.parts))
        return np.array(
            [[number in booklet.parts for number in numbers] for booklet in self.document.booklets], np.int64
        )

    @abstractmethod
    def _status(self) -> Status: ...

    def _day(self) -> date:
        return utc_today()

    @abstractmethod
    def _statistics(self, over: Sequence[int]) -> Statistics:
        """By the codes of the segments at these places; Withheld where a source that is left out is small."""

    def count(self, crossing: Crossing) -> None:
        """Add to the crossing what every single submission says of its two variables."""
        if self.without:
            raise BadQuery(
                "without is not possible here: this cross-tab reads every submission, and none of them says where it "
                "came from"
            )
        self._count(crossing)

    @abstractmethod
    def _count(self, crossing: Crossing) -> None: ...

    def sources(self) -> dict[str, int]:
        """The collectors that sent submissions, by label, and how many these are, whatever is left out."""
        return {}

    def invitations(self) -> InvitationNumbers | None:
        """How many people were invited, and what became of it; None where everybody can answer, or nobody knows."""
        return None

    def leaving_out(self, labels: Sequence[str]) -> Source:
        """The same survey without what these collectors sent; labels that it does not have change nothing."""
        raise BadQuery("without is not possible here: no submission says where it came from")

    def asked(self, query: Query) -> Source:
        """The survey without what the query leaves out. BadQuery where it has no such source."""
        if not query.without:
            return self
        found = self.leaving_out(query.without)
        check_sources(query.without, self)
        return found

    @abstractmethod
    def another(self, name: str) -> Source:
        """Another survey of the same kind: in a database by its id, for an export by its folder."""


def check_sources(labels: Sequence[str], *sources: Source) -> None:
    """BadQuery for a label that none of these surveys has."""
    known = sorted({label for source in sources for label in source.sources()})
    if not set(labels) <= set(known):
        raise BadQuery(f"without takes the label of a collector. Submissions came from {', '.join(known) or 'none'}")


class StoredSurvey(Source):
    """A survey in a database. ``find`` gives the others by their ids, and raises for one that may not be read."""

    def __init__(
        self,
        storage: Storage,
        published: Published,
        minimum: int,
        find: Callable[[str], Published],
        without: Sequence[str] = (),
    ) -> None:
        super().__init__(published, minimum, without)
        self._storage, self._find = storage, find

    @cached_property
    def _state(self) -> State:
        return self._storage.state(self.published)

    def _status(self) -> Status:
        return self._state.status

    def _statistics(self, over: Sequence[int]) -> Statistics:
        self._state.check_shown()
        if not self.without:
            return self._storage.statistics(self.published, over)
        left, without = self._storage.divided(self.published, over, self.without)
        for label, statistics in without.items():
            check_left_out(statistics.cells.values(), label, self.minimum)
            left -= statistics
        return left

    def sources(self) -> dict[str, int]:
        return self._storage.sources(self.published)

    def invitations(self) -> InvitationNumbers | None:
        return self._state.invitations

    def leaving_out(self, labels: Sequence[str]) -> Self:
        found = type(self)(self._storage, self.published, self.minimum, self._find, labels)
        found._state = self._state  # of one state: a page says it of both
        return found

    def _count(self, crossing: Crossing) -> None:
        with self._storage.submissions(self.published) as submissions:
            crossing.add(submissions)

    def another(self, name: str) -> Self:
        return type(self)(self._storage, self._find(name), self.minimum, self._find)
