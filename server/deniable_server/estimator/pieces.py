"""Reports in pieces: parts of a report with few values, so that the values can be counted, also two together."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]


class Piece(NamedTuple):
    """A part of a report that has few values, each of which is counted: all of it, or some of the options it holds.

    A subset of fifty options has too many values to count each, and its options one by one take long; the pieces of at
    most eight options have at most 256 values, from which the counts of the options follow.
    """

    shift: int
    values: int
    is_whole: bool

    def of(self, reports: Counts) -> Counts:
        return reports if self.is_whole else reports >> self.shift & self.values - 1

    def features(self) -> Counts:
        """What each value shows, a row per value: which report it is, or which of its options are held."""
        if self.is_whole:
            return np.eye(self.values, dtype=np.int64)
        return np.arange(self.values)[:, None] >> np.arange(self.values.bit_length() - 1) & 1


def pieces(features: int, *, held: bool) -> list[Piece]:
    """The pieces of reports with so many features: options that they hold, or else values that they have."""
    if not held:
        return [Piece(0, features, True)]
    count = -(-features // 8)
    edges = [i * features // count for i in range(count + 1)]
    return [Piece(start, 1 << end - start, False) for start, end in pairwise(edges)]
