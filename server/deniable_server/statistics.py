"""Sufficient statistics: all that an estimate needs to know about the reports, whatever their number.

Per combination of segment codes (a cell) and per question, how many reports show each feature of the channel: hold an
option, or are this report. May not: know where reports are kept, or estimate anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from deniable_protocol import Channel, Document

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


def empty(document: Document) -> Cell:
    """The cell in which nobody answered."""
    return Cell(0, [np.zeros(channel.feature_count, np.int64) for channel in channels_of(document)])


def channels_of(document: Document) -> list[Channel]:
    """The channels in the order of the questions, which is the order of reports and counts."""
    return [document.channels[question.id] for question in document.survey.questions]


def tally(document: Document, contents: Sequence[Content]) -> Statistics:
    """The statistics of these submissions. ValueError where a report is none of its channel."""
    if not contents:
        return {}
    reports = np.array([content.reports for content in contents], dtype=np.int64).T
    segments = [*np.array([content.segments for content in contents], dtype=np.int64).T]
    cell, codes = find_cells(document, len(contents), segments)
    counts = [
        _count(channel, cell, len(codes), check_reports(channel, column))
        for channel, column in zip(channels_of(document), reports, strict=True)
    ]
    sizes = np.bincount(cell, minlength=len(codes)).tolist()
    return {place: Cell(sizes[i], [each[i] for each in counts]) for i, place in enumerate(codes)}


def _count(channel: Channel, cell: Counts, cells: int, reports: Counts) -> Counts:
    """How often the reports of each cell show each feature, a row per cell."""
    size = channel.feature_count
    if channel.held is None:
        return np.bincount(cell * size + reports, minlength=cells * size).reshape(cells, size)
    held = [np.bincount(cell[reports >> option & 1 == 1], minlength=cells) for option in range(size)]
    return np.stack(held, axis=1)


def find_cells(document: Document, rows: int, segments: Sequence[Counts]) -> tuple[Counts, list[Codes]]:
    """The number of each row's cell, and the codes of each cell; the segments are given column by column."""
    cell, room = np.zeros(rows, dtype=np.int64), 1
    for column, segment in zip(segments, document.survey.segments, strict=True):
        size = len(segment.options)
        if column.min() < 0 or column.max() >= size:
            raise ValueError("a segment has a code that it does not know")
        cell, room = cell * size + column, room * size
        if room > rows:  # leave out numbers that no row has, lest they become too many
            cell = np.unique(cell, return_inverse=True)[1]
            room = int(cell.max()) + 1
    example = np.full(room, -1)
    example[cell] = np.arange(rows)
    there = example >= 0
    number = (np.cumsum(there) - 1)[cell] if not there.all() else cell
    codes = zip(*(column[example[there]].tolist() for column in segments), strict=True) if segments else [()]
    return number, [*codes]


def check_reports(channel: Channel, reports: Counts) -> Counts:
    """These reports; ValueError unless the channel can give all of them. As its own is_report, for many at once."""
    possible = reports.min() >= 0 and reports.max() <= channel.largest_report
    if not possible or (channel.held is not None and (np.bitwise_count(reports) != channel.held).any()):
        raise ValueError("a report is none that its question can have")
    return reports


def merge(parts: Iterable[Statistics]) -> Statistics:
    """The statistics of all these together."""
    total: Statistics = {}
    for part in parts:
        for codes, cell in part.items():
            total[codes] = total[codes] + cell if codes in total else cell
    return total
