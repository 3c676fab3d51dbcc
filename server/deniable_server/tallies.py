"""Sufficient statistics: all that an estimate needs to know about the reports, whatever their number.

Per combination of segment codes (a cell) and per question: for a subset channel how many reports hold each option, for
every other channel how often each report came. May not: know where reports are kept, or estimate anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from deniable_protocol import Band, Channel, Document, Drawn, Subset

Counts: TypeAlias = npt.NDArray[np.int64]
Codes: TypeAlias = tuple[int, ...]
"""One position per segment, in the order of the survey and of the segment's options."""


class Content(NamedTuple):
    """What a submission says: a report per question and a code's position per segment, in the survey's order."""

    reports: tuple[int, ...]
    segments: Codes


@dataclass(frozen=True, eq=False)
class Cell:
    """The submissions of one combination of segment codes, and the counts of each question."""

    submissions: int
    counts: list[Counts]

    def __add__(self, other: Cell) -> Cell:
        return Cell(
            self.submissions + other.submissions,
            [mine + theirs for mine, theirs in zip(self.counts, other.counts, strict=True)],
        )

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Cell)
            and self.submissions == other.submissions
            and all(np.array_equal(mine, theirs) for mine, theirs in zip(self.counts, other.counts, strict=True))
        )

    __hash__ = None  # type: ignore[assignment]  # arrays have no hash


Statistics: TypeAlias = dict[Codes, Cell]


def size(channel: Channel) -> int:
    """How many counts a question has."""
    if isinstance(channel, Subset):
        return channel.options
    if isinstance(channel, Band):
        return channel.levels + channel.width - 1
    if isinstance(channel, Drawn):
        return 2 * len(channel.parts)
    return len(channel.weights[0])


def empty(document: Document) -> Cell:
    """The cell in which nobody answered."""
    return Cell(0, [np.zeros(size(channel), np.int64) for channel in channels_of(document)])


def channels_of(document: Document) -> list[Channel]:
    """The channels in the order of the questions, which is the order of reports and counts."""
    return [document.channels[question.id] for question in document.survey.questions]


def tally(document: Document, contents: Sequence[Content]) -> Statistics:
    """The statistics of these submissions."""
    if not contents:
        return {}
    cells: dict[Codes, int] = {}
    cell = np.array([cells.setdefault(content.segments, len(cells)) for content in contents])
    reports = np.array([content.reports for content in contents], dtype=np.int64)
    tables = [_table(channel, reports[:, i], cell, len(cells)) for i, channel in enumerate(channels_of(document))]
    submissions = np.bincount(cell, minlength=len(cells))
    return {codes: Cell(int(submissions[c]), [table[c] for table in tables]) for codes, c in cells.items()}


def _table(channel: Channel, reports: Counts, cell: Counts, cells: int) -> Counts:
    """One row of counts per cell."""
    width = size(channel)
    if isinstance(channel, Subset):
        held = [np.bincount(cell[(reports >> j & 1).astype(bool)], minlength=cells) for j in range(width)]
        return np.stack(held, axis=1).astype(np.int64)
    return np.bincount(cell * width + reports, minlength=cells * width).reshape(cells, width).astype(np.int64)


def merge(parts: Iterable[Statistics]) -> Statistics:
    """The statistics of all these together."""
    total: Statistics = {}
    for part in parts:
        for codes, cell in part.items():
            total[codes] = total[codes] + cell if codes in total else cell
    return total
