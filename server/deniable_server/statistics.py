"""Sufficient statistics: all that an estimate needs to know about the reports, whatever their number.

Per combination of segment codes (a cell): how many submissions have each booklet; and per part, how many reports show
each feature of its channel: hold a path, or are this report. Besides, of the survey as a whole: how often the same
report, or the same reports together, came again. Estimates do not need that; it shows false submissions.

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


MODULUS = 1019
"""Whole reports are counted by their remainder: there may be 2^47 subsets. As 2 is a primitive root of this prime, the
remainders of 2^0 ... 2^1017 all differ, and how likely honest devices make each remainder can be worked out exactly
(``estimator.honesty``). Subsets of fewer than ten options have a remainder each."""


class Repeats(NamedTuple):
    """Where the whole reports of a part are counted, or (``part`` is None) all reports of a submission together."""

    part: int | None
    start: int
    size: int

    @property
    def place(self) -> slice:
        return slice(self.start, self.start + self.size)


def repeats_of(document: Document) -> list[Repeats]:
    """What is counted whole: parts whose features are not whole reports, and submissions with several reports."""
    found, start = [], 0
    for number, part in enumerate(document.parts):
        if (part.channel.held or 1) > 1:
            found.append(Repeats(number, start, min(part.channel.largest_report + 1, MODULUS)))
            start += found[-1].size
    if any(len(booklet.parts) > 1 for booklet in document.booklets):
        found.append(Repeats(None, start, MODULUS))
    return found


def step_of(part: int) -> int:
    """What a report of this part is multiplied by in the sum of all reports of a submission, of which the remainder is
    counted: that of one long number, with room for the 51 bits of every part.
    """
    return pow(2, 51 * part, MODULUS)


class RepeatCounter:
    """Counts whole reports."""

    def __init__(self, document: Document) -> None:
        self.counts = nothing(document).repeats
        self._known = {repeats.part: repeats for repeats in repeats_of(document)}

    def add(self, part: int, reports: Counts) -> Counts:
        """Reports of a part; returns what they add to the sums of their submissions."""
        self._count(part, reports)
        return reports % MODULUS * step_of(part)

    def add_sums(self, sums: Counts) -> None:
        """The sums of submissions, over all of their reports."""
        self._count(None, sums)

    def _count(self, part: int | None, numbers: Counts) -> None:
        if (known := self._known.get(part)) is not None:
            self.counts[known.place] += np.bincount(numbers % known.size, minlength=known.size)


@dataclass(frozen=True, eq=False)
class Statistics:
    """The cells of a survey, and how often each remainder of whole reports came, over all cells (``repeats_of``)."""

    cells: dict[Codes, Cell]
    repeats: Counts

    @property
    def submissions(self) -> int:
        return sum(cell.submissions for cell in self.cells.values())

    def __add__(self, other: Statistics) -> Statistics:
        return Statistics(sum_cells([*self.cells.items(), *other.cells.items()]), self.repeats + other.repeats)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Statistics) and self.cells == other.cells and np.array_equal(self.repeats, other.repeats)
        )

    __hash__ = None  # type: ignore[assignment]  # arrays have no hash


def sum_cells(found: Iterable[tuple[Codes, Cell]]) -> dict[Codes, Cell]:
    """One cell for each combination of codes."""
    cells: dict[Codes, Cell] = {}
    for codes, cell in found:
        cells[codes] = cells[codes] + cell if codes in cells else cell
    return cells


def nothing(document: Document) -> Statistics:
    """The statistics before anybody answered."""
    known = repeats_of(document)
    return Statistics({}, np.zeros(known[-1].place.stop if known else 0, np.int64))


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
        return nothing(document)
    try:
        segments = [*np.array([content.segments for content in contents], dtype=np.int64).T]
        cell, codes = find_cells(document, len(contents), segments)
        booklets = np.array([content.booklet for content in contents], dtype=np.int64)
        counts = [np.zeros((len(codes), part.channel.feature_count), np.int64) for part in document.parts]
        repeats = RepeatCounter(document)
        for booklet, rows in _rows_by_booklet(document, booklets):
            reports = np.array([contents[row].reports for row in rows.tolist()], dtype=np.int64)
            sums = np.zeros(len(rows), np.int64)
            for part, column in zip(document.booklets[booklet].parts, reports.T, strict=True):
                channel = document.parts[part].channel
                counts[part] += count_features(channel, cell[rows], len(codes), check_reports(channel, column))
                sums += repeats.add(part, column)
            repeats.add_sums(sums)
    except OverflowError:
        raise ValueError("a number is too large to be a report") from None
    sizes = count_booklets(document, cell, len(codes), booklets)
    cells = {place: Cell(sizes[i], [each[i] for each in counts]) for i, place in enumerate(codes)}
    return Statistics(cells, repeats.counts)


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


def count_features(channel: Channel, cell: Counts, cells: int, reports: Counts) -> Counts:
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
