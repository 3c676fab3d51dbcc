"""Two questions counted together, submission by submission: for the textbook's design, in which everybody reports on
everything, part by part. Which reports came together is not in the kept statistics.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import NamedTuple

import numpy as np

from deniable_server.estimator.features import Joint
from deniable_server.statistics import Content

from .groups import belongs

BATCH = 10_000
"""Submissions that are turned into numbers at a time."""


class Crossing(NamedTuple):
    """What to count: the reports of two parts, of the submissions with the wanted segment codes. ``joint`` takes the
    sums.
    """

    rows: int
    columns: int
    wanted: Mapping[int, frozenset[int]]
    joint: Joint

    def add(self, submissions: Iterable[tuple[bytes, Content]]) -> None:
        chosen = (content for _, content in submissions if belongs(content.segments, self.wanted))
        while batch := list(islice(chosen, BATCH)):
            rows, columns = (np.array([content.reports[part] for content in batch]) for part in self[:2])
            self.joint.add(rows, columns)
