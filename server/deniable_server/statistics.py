"""Sufficient statistics: all that an estimate needs to know about the reports, whatever their number.

Per combination of segment codes (a cell): how many submissions have each booklet; and per part, how many reports show
each feature of its channel: hold a path, or are this report.

May not: know where reports are kept, or estimate anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from deniable_protocol import Channel, Document

Counts: TypeAlias = npt.NDArray[np.int64]
Codes: TypeAlias = tuple[int, ...]
"""One position per segment, in the order of the survey and of the segment's options."""


class Content(NamedTuple):
    """What a submission says: its booklet, a report for each part of that, in its order, and a code's position per
    segment.
    """

    booklet: int
    reports: tuple[int, ...]
    segments: Codes


@dataclass(frozen=True, eq=False)
class Cell:
    """The submissions of one combination of segment codes: how many have each booklet, and the counts of each part."""

    booklets: Counts
    counts: list[Counts]

    @property
    def submissions(self) -> int:
        return int(self.booklets.sum())

    def __add__(self, other: Cell) -> Cell:
        return Cell(
            self.booklets + other.booklets,
            [mine + theirs for mine, theirs in zip(self.counts, other.counts, strict=True)],
        )

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Cell)
            and np.array_equal(self.booklets, other.booklets)
            and all(np.array_equal(mine, theirs) for mine, theirs in zip(self.counts, other.counts, strict=True))
        )

    __hash__ = None  # type: ignore[assignment]  # arrays have no hash


Statistics: TypeAlias = dict[Codes, Cell]


def empty(document: Document) -> Cell:
    """The cell in which nobody answered."""
    return Cell(
        np.zeros(len(document.booklets), np.int64),
        [np.zeros(part.channel.feature_count, np.int64) for part in document.parts],
    )


def reports_of(document: Document, cell: Cell, part: int) -> int:
    """How many reports of a part are in the cell: one from each submission whose booklet has it."""
    return sum(int(n) for n, booklet in zip(cell.booklets, document.booklets, strict=True) if part in booklet.parts)


def tally(document: Document, contents: Sequence[Content]) -> Statistics:
    """The statistics of these submissions. ValueError where one does not fit the document."""
    if not contents:
        return {}
    try:
        segments = [*np.array([content.segments for content in contents], dtype=np.int64).T]
        cell, codes = find_cells(document, len(contents), segments)
        booklets = np.array([content.booklet for content in contents], dtype=np.int64)
        counts = [np.zeros((len(codes), part.channel.feature_count), np.int64) for part in document.parts]
        for booklet, rows in _rows_by_booklet(document, booklets):
            reports = np.array([contents[row].reports for row in rows.tolist()], dtype=np.int64)
            for part, column in zip(document.booklets[booklet].parts, reports.T, strict=True):
                channel = document.parts[part].channel
                counts[part] += _count(channel, cell[rows], len(codes), check_reports(channel, column))
    except OverflowError:
        raise ValueError("a number is too large to be a report") from None
    sizes = count_booklets(document, cell, len(codes), booklets)
    return {place: Cell(sizes[i], [each[i] for each in counts]) for i, place in enumerate(codes)}


def _rows_by_booklet(document: Document, booklets: Counts) -> Iterator[tuple[int, Counts]]:
    """Each booklet that is there, with its rows."""
    _check_booklets(document, booklets)
    order = np.argsort(booklets, kind="stable")
    starts = np.flatnonzero(np.diff(booklets[order], prepend=-1))
    for rows in np.split(order, starts[1:]):
        yield int(booklets[rows[0]]), rows


def _check_booklets(document: Document, booklets: Counts) -> None:
    if booklets.min() < 0 or booklets.max() >= len(document.booklets):
        raise ValueError("a submission has a booklet that the survey does not have")


def count_booklets(document: Document, cell: Counts, cells: int, booklets: Counts) -> Counts:
    """How many submissions of each cell have each booklet, a row per cell."""
    _check_booklets(document, booklets)
    size = len(document.booklets)
    return np.bincount(cell * size + booklets, minlength=cells * size).reshape(cells, size)


def _count(channel: Channel, cell: Counts, cells: int, reports: Counts) -> Counts:
    """How often the reports of each cell show each feature, a row per cell."""
    size = channel.feature_count
    if channel.held is None:
        shown = cell * size + reports
    else:
        report, path = np.nonzero(reports[:, None] >> np.arange(size) & 1)
        shown = cell[report] * size + path
    return np.bincount(shown, minlength=cells * size).reshape(cells, size)


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
    """These reports, at least one; ValueError unless the channel can give all of them. As its own is_report, for many
    at once.
    """
    possible = reports.min() >= 0 and reports.max() <= channel.largest_report
    if not possible or (channel.held is not None and (np.bitwise_count(reports) != channel.held).any()):
        raise ValueError("a report is none that its part can have")
    return reports


def merge(parts: Iterable[Statistics]) -> Statistics:
    """The statistics of all these together."""
    total: Statistics = {}
    for part in parts:
        for codes, cell in part.items():
            total[codes] = total[codes] + cell if codes in total else cell
    return total
