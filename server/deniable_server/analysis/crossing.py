"""Two variables counted together, submission by submission: for the textbook's design, in which everybody reports on
everything, part by part. Which reports came together is not in the kept statistics.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import NamedTuple

import numpy as np

from deniable_server.estimator.crosstab import Coded, Joint
from deniable_server.statistics import Content

from .groups import belongs

BATCH = 10_000
"""Submissions that are turned into numbers at a time."""


class Variable(NamedTuple):
    """A question or a segment of a submission. ``place`` is its position in the survey, of a question also that of its
    part. With ``groups`` it is a segment, and they give the group of each of its codes.
    """

    coded: Coded
    place: int
    groups: tuple[int, ...] | None = None

    def of(self, content: Content) -> int:
        """The report, or the number of the group."""
        return content.reports[self.place] if self.groups is None else self.groups[content.segments[self.place]]


class Crossing(NamedTuple):
    """What to count: both variables, of the submissions with the wanted segment codes. ``joint`` takes the sums."""

    rows: Variable
    columns: Variable
    wanted: Mapping[int, frozenset[int]]
    joint: Joint

    def add(self, submissions: Iterable[tuple[bytes, Content]]) -> None:
        chosen = (content for _, content in submissions if belongs(content.segments, self.wanted))
        while batch := list(islice(chosen, BATCH)):
            rows, columns = (np.array([each.of(content) for content in batch]) for each in (self.rows, self.columns))
            self.joint.add(rows, columns)
