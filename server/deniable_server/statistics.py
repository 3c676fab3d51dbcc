"""Sufficient statistics: all that an estimate needs to know about the reports, whatever their number.

Per combination of segment codes (a cell) and per question: for a subset channel how many reports hold each option, for
every other channel how often each report came. May not: know where reports are kept, or estimate anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
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


# --- counting --------------------------------------------------------------------------------------------------------


class Piece(NamedTuple):
    """A part of a report that has few values, each of which is counted: all of it, or some of a subset's options.

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


class Slot(NamedTuple):
    """Where the counts of a piece's values stand in the row of counts of a cell."""

    question: int
    piece: Piece
    start: int

    @property
    def place(self) -> slice:
        return slice(self.start, self.start + self.piece.values)


def slots(document: Document) -> list[Slot]:
    """All that is counted, question by question."""
    found, start = [], 0
    for question, channel in enumerate(channels_of(document)):
        for piece in pieces(size(channel), held=isinstance(channel, Subset)):
            found.append(Slot(question, piece, start))
            start += piece.values
    return found


def from_slots(document: Document, counted: Mapping[Codes, Counts]) -> Statistics:
    """The statistics of cells of which the slots are counted."""
    known = slots(document)
    statistics = {}
    for codes, row in counted.items():
        counts: list[list[Counts]] = [[] for _ in document.survey.questions]
        for slot in known:
            values = row[slot.place]
            counts[slot.question].append(values if slot.piece.is_whole else values @ slot.piece.features())
        statistics[codes] = Cell(int(row[known[0].place].sum()), [np.concatenate(each) for each in counts])
    return statistics


def tally(document: Document, contents: Sequence[Content]) -> Statistics:
    """The statistics of these submissions."""
    if not contents:
        return {}
    reports = np.array([content.reports for content in contents], dtype=np.int64)
    segments = np.array([content.segments for content in contents], dtype=np.int64)
    return from_slots(document, count_columns(document, len(contents), [*segments.T], [*reports.T]))


def count_columns(
    document: Document, rows: int, segments: Sequence[Counts], reports: Iterable[Counts]
) -> dict[Codes, Counts]:
    """The slots of each cell, of so many submissions that are given column by column and gone through once.

    ValueError where a report is none of its channel.
    """
    if not rows:
        return {}
    sizes = [len(segment.options) for segment in document.survey.segments]
    cell, examples = _cells(rows, segments, sizes)
    known, channels = slots(document), channels_of(document)
    counted = np.zeros((len(examples), known[-1].place.stop), dtype=np.int64)
    for question, column in enumerate(reports):
        if not _are_reports(channels[question], column):
            raise ValueError("a report is none that its question can have")
        for slot in known:
            if slot.question == question:
                values = slot.piece.values
                table = np.bincount(cell * values + slot.piece.of(column), minlength=len(examples) * values)
                counted[:, slot.place] = table.reshape(-1, values)
    codes = zip(*(column[examples].tolist() for column in segments), strict=True) if segments else [()]
    return dict(zip(codes, counted, strict=True))


def _cells(rows: int, segments: Sequence[Counts], sizes: Sequence[int]) -> tuple[Counts, Counts]:
    """The number of each row's cell, and per cell a row that is in it."""
    cell, room = np.zeros(rows, dtype=np.int64), 1
    for column, size in zip(segments, sizes, strict=True):
        if column.min() < 0 or column.max() >= size:
            raise ValueError("a segment has a code that it does not know")
        cell, room = cell * size + column, room * size
        if room > rows:  # leave out numbers that no row has, lest they become too many
            cell = np.unique(cell, return_inverse=True)[1]
            room = int(cell.max()) + 1
    example = np.full(room, -1)
    example[cell] = np.arange(rows)
    there = example >= 0
    return (np.cumsum(there) - 1)[cell] if not there.all() else cell, example[there]


def _are_reports(channel: Channel, reports: Counts) -> bool:
    """Whether the channel can give all of these; as its own is_report says, for many at once."""
    if reports.min() < 0:
        return False
    if isinstance(channel, Subset):
        return bool(reports.max() >> channel.options == 0 and (np.bitwise_count(reports) == channel.size).all())
    return bool(reports.max() < size(channel))


def merge(parts: Iterable[Statistics]) -> Statistics:
    """The statistics of all these together."""
    total: Statistics = {}
    for part in parts:
        for codes, cell in part.items():
            total[codes] = total[codes] + cell if codes in total else cell
    return total
