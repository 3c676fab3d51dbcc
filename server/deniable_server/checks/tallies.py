"""Counting for the audit: how often each answer gave each event, and how often each booklet was drawn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from deniable_protocol import Channel
from deniable_server.errors import AuditError
from deniable_server.statistics import check_reports

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


class Tally(ABC):
    """How often each answer to a part gave each event. ``trials[a]`` counts the reports of answer a."""

    hits: Floats

    def __init__(self, channel: Channel, answers: int) -> None:
        self._channel = channel
        self.trials: Floats = np.zeros(answers)
        self.pairs = np.array([(a, b) for a in range(answers) for b in range(answers) if a != b])

    def add(self, answers: Integers, reports: Integers) -> None:
        """Counts these reports, each under its answer; an answer below 0 is not counted."""
        order = np.argsort(answers, kind="stable")
        starts = np.searchsorted(answers[order], np.arange(len(self.trials) + 1))
        for answer, (start, end) in enumerate(pairwise(starts)):
            if start < end:
                self.trials[answer] += end - start
                self.count(answer, reports[order[start:end]])

    def merge(self, other: Tally) -> None:
        """Adds what another tally of the same part has counted."""
        self.trials += other.trials
        self.hits += other.hits

    @property
    def comparisons(self) -> int:
        """How many pairs and events are looked at: the bound is for all of them at once."""
        return self.events()[0].size

    def count(self, answer: int, reports: Integers) -> None:
        """Counts these reports under this answer."""
        try:
            self.hits[answer] += self.hits_of(check_reports(self._channel, reports))
        except ValueError:
            raise AuditError("the randomiser gave something that is not a report of the channel") from None

    @abstractmethod
    def hits_of(self, reports: Integers) -> Floats:
        """What these reports add to the hits of their answer."""

    @abstractmethod
    def events(self) -> tuple[Floats, Floats]:
        """Per pair (row) and event (column): how often it happened under the first answer, and under the second."""

    @abstractmethod
    def event_name(self, column: int) -> str:
        """What the event of a column is."""


class SubsetTally(Tally):
    """Subsets are too many to count singly. The event of a pair: the report holds the first and not the second.

    Those are just the reports whose odds between the two are F*u : (N-F)*v, the worst there are.
    """

    def __init__(self, channel: Channel) -> None:
        super().__init__(channel, channel.answers)
        self.options = np.arange(channel.answers)
        self.hits = np.zeros((channel.answers,) * 3)  # [answer, held, not held]

    def hits_of(self, reports: Integers) -> Floats:
        held = (reports[:, None] >> self.options & 1).astype(float)
        return np.asarray(held.T @ (1 - held))

    def events(self) -> tuple[Floats, Floats]:
        first, second = self.pairs.T
        return self.hits[first, first, second][:, None], self.hits[second, first, second][:, None]

    def event_name(self, column: int) -> str:
        return "holds the first, not the second"


class ReportTally(Tally):
    """Every report by itself; and for each pair, all those together whose exact odds are the worst of the pair."""

    def __init__(self, channel: Channel, answers: Sequence[Any]) -> None:
        super().__init__(channel, len(answers))
        reports = list(channel.reports())
        exact = np.array([[float(channel.probability(answer, y)) for y in reports] for answer in answers])
        first, second = self.pairs.T
        with np.errstate(divide="ignore", invalid="ignore"):
            odds = np.nan_to_num(exact[first] / exact[second], nan=0.0, posinf=0.0)
        self.worst = odds >= odds.max(axis=1, keepdims=True) * (1 - 1e-9)
        self.hits = np.zeros((len(answers), len(reports)))

    def hits_of(self, reports: Integers) -> Floats:
        return np.bincount(reports, minlength=self.hits.shape[1]).astype(float)

    def events(self) -> tuple[Floats, Floats]:
        mine, other = (self.hits[side] for side in self.pairs.T)
        together = [(side * self.worst).sum(axis=1, keepdims=True) for side in (mine, other)]
        return np.hstack([mine, together[0]]), np.hstack([other, together[1]])

    def event_name(self, column: int) -> str:
        return f"report {column}" if column < self.hits.shape[1] else "the most telling reports together"


class BookletTally:
    """How often each booklet was drawn after each set of answers.

    ``rows[set, question]`` numbers the answers in a set from 1.
    """

    def __init__(self, rows: Integers, booklets: int) -> None:
        self._rows = rows
        self._drawn = np.zeros((len(rows), booklets), dtype=np.int64)

    def add(self, sets: Integers, booklets: Integers) -> None:
        width = self._drawn.shape[1]
        if booklets.min() < 0 or booklets.max() >= width:
            raise AuditError("the randomiser gave a booklet that the survey does not have")
        self._drawn += np.bincount(sets * width + booklets, minlength=self._drawn.size).reshape(-1, width)

    def merge(self, other: BookletTally) -> None:
        self._drawn += other._drawn

    def counts(self) -> Floats:
        """Of each booklet (column): for everybody in row 0, and for those who gave each answer in the others."""
        found = np.zeros((int(self._rows.max()) + 1, self._drawn.shape[1]))
        found[0] = self._drawn.sum(axis=0)
        for rows in self._rows.T:
            np.add.at(found, rows, self._drawn)
        return found

    @property
    def comparisons(self) -> int:
        booklets = self._drawn.shape[1]
        return (int(self._rows.max()) + 1) * booklets if booklets > 1 else 0
