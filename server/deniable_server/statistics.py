"""Sufficient statistics: all that an estimate needs to know about the reports, whatever their number.

Per combination of segment codes (a cell): how many submissions have each booklet; and per part, how many reports show
each feature of its channel: hold a path, or are this report. A query needs the codes of few segments: cells that differ
in others only are added. Besides, of the survey as a whole: how often the same
report, or the same reports together, came again. Estimates do not need that; it shows false submissions.

May not: know where reports are kept, or estimate anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
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


Layout: TypeAlias = tuple[slice, ...]
"""Where a cell's numbers are: those of the booklets, then those of each part."""


def layout_of(document: Document) -> Layout:
    """First a number for each booklet, then for each part a number for each feature of its channel."""
    sizes = [len(document.booklets), *(part.channel.feature_count for part in document.parts)]
    return tuple(slice(end - size, end) for size, end in zip(sizes, accumulate(sizes), strict=True))


class Cell:
    """The submissions of one combination of segment codes: how many have each booklet, and the counts of each part. All
    in one row of numbers, so that cells are added and kept as such.
    """

    __slots__ = ("layout", "numbers")

    def __init__(self, numbers: Counts, layout: Layout) -> None:
        self.numbers, self.layout = numbers, layout

    @classmethod
    def of(cls, booklets: Counts, counts: Sequence[Counts]) -> Cell:
        ends = [*accumulate(map(len, [booklets, *counts]))]
        layout = tuple(slice(start, end) for start, end in pairwise([0, *ends]))
        return cls(np.concatenate([booklets, *counts]), layout)

    @property
    def booklets(self) -> Counts:
        return self.numbers[self.layout[0]]

    @property
    def counts(self) -> list[Counts]:
        return [self.numbers[place] for place in self.layout[1:]]

    @property
    def submissions(self) -> int:
        return int(self.booklets.sum())

    def __add__(self, other: Cell) -> Cell:
        return Cell(self.numbers + other.numbers, self.layout)

    def __sub__(self, other: Cell) -> Cell:
        return Cell(self.numbers - other.numbers, self.layout)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cell) and np.array_equal(self.numbers, other.numbers)

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
    """The cells of a survey, by the codes of some of its segments or of all, and how often each remainder of whole
    reports came, over all cells (``repeats_of``).
    """

    cells: dict[Codes, Cell]
    repeats: Counts

    @property
    def submissions(self) -> int:
        return sum(cell.submissions for cell in self.cells.values())

    def over(self, places: Sequence[int]) -> Statistics:
        """The same by the codes at these places only."""
        return Statistics(
            sum_cells((tuple(codes[i] for i in places), cell) for codes, cell in self.cells.items()), self.repeats
        )

    def __add__(self, other: Statistics) -> Statistics:
        return Statistics(sum_cells([*self.cells.items(), *other.cells.items()]), self.repeats + other.repeats)

    def __sub__(self, other: Statistics) -> Statistics:
        """What is left without the others. ValueError where these were never counted here."""
        cells = dict(self.cells)
        for codes, cell in other.cells.items():
            if codes not in cells:
                raise ValueError("these submissions were never counted here")
            cells[codes] -= cell
        repeats = self.repeats - other.repeats
        if min((int(cell.numbers.min()) for cell in cells.values()), default=0) < 0 or (repeats < 0).any():
            raise ValueError("these submissions were never counted here")
        return Statistics({codes: cell for codes, cell in cells.items() if cell.numbers.any()}, repeats)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Statistics) and self.cells == other.cells and np.array_equal(self.repeats, other.repeats)
        )

    __hash__ = None  # type: ignore[assignment]  # arrays have no hash


def sum_cells(found: Iterable[tuple[Codes, Cell]]) -> dict[Codes, Cell]:
    """One cell for each combination of codes."""
    cells: dict[Codes, Cell] = {}
    own = set()
    for codes, cell in found:
        if codes not in cells:
            cells[codes] = cell
        elif codes in own:
            total = cells[codes].numbers
            total += cell.numbers
        else:
            cells[codes] += cell
            own.add(codes)
    return cells


def nothing(document: Document) -> Statistics:
    """The statistics before anybody answered."""
    known = repeats_of(document)
    return Statistics({}, np.zeros(known[-1].place.stop if known else 0, np.int64))


def empty(document: Document) -> Cell:
    """The cell in which nobody answered."""
    layout = layout_of(document)
    return Cell(np.zeros(layout[-1].stop, np.int64), layout)


def reports_of(document: Document, cell: Cell, part: int) -> int:
    """How many reports of a part are in the cell: one from each submission whose booklet has it."""
    return sum(int(n) for n, booklet in zip(cell.booklets, document.booklets, strict=True) if part in booklet.parts)


def tally(document: Document, contents: Sequence[Content], over: Sequence[int] | None = None) -> Statistics:
    """The statistics of these submissions, by the segments at these places or by all. ValueError where one does not fit
    the document.
    """
    if not contents:
        return nothing(document)
    try:
        segments = [*np.array([content.segments for content in contents], dtype=np.int64).T]
        cell, codes = find_cells(document, len(contents), segments, over)
        booklets = np.array([content.booklet for content in contents], dtype=np.int64)
        layout = layout_of(document)
        counts = np.zeros((len(codes), layout[-1].stop), np.int64)
        counts[:, layout[0]] = count_booklets(document, cell, len(codes), booklets)
        repeats = RepeatCounter(document)
        for booklet, rows in _rows_by_booklet(booklets):
            reports = np.array([contents[row].reports for row in rows.tolist()], dtype=np.int64)
            sums = np.zeros(len(rows), np.int64)
            for part, column in zip(document.booklets[booklet].parts, reports.T, strict=True):
                channel = document.parts[part].channel
                shown = count_features(channel, cell[rows], len(codes), check_reports(channel, column))
                counts[:, layout[1 + part]] += shown
                sums += repeats.add(part, column)
            repeats.add_sums(sums)
    except OverflowError:
        raise ValueError("a number is too large to be a report") from None
    return Statistics({place: Cell(counts[i], layout) for i, place in enumerate(codes)}, repeats.counts)


def _rows_by_booklet(booklets: Counts) -> Iterator[tuple[int, Counts]]:
    """Each booklet that is there, with its rows."""
    order = np.argsort(booklets, kind="stable")
    starts = np.flatnonzero(np.diff(booklets[order], prepend=-1))
    for rows in np.split(order, starts[1:]):
        yield int(booklets[rows[0]]), rows


def count_booklets(document: Document, cell: Counts, cells: int, booklets: Counts) -> Counts:
    """How many submissions of each cell have each booklet, a row per cell."""
    size = len(document.booklets)
    if booklets.min() < 0 or booklets.max() >= size:
        raise ValueError("a submission has a booklet that the survey does not have")
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


def find_cells(
    document: Document, rows: int, segments: Sequence[Counts], over: Sequence[int] | None = None
) -> tuple[Counts, list[Codes]]:
    """The number of each row's cell, and the codes of each cell, of the segments at these places or of all; all
    segments are given, column by column.
    """
    cell, room = np.zeros(rows, dtype=np.int64), 1
    for place, (column, segment) in enumerate(zip(segments, document.survey.segments, strict=True)):
        size = len(segment.options)
        if column.min() < 0 or column.max() >= size:
            raise ValueError("a segment has a code that it does not know")
        if over is not None and place not in over:
            continue
        cell, room = cell * size + column, room * size
        if room > rows:  # leave out numbers that no row has, lest they become too many
            cell = np.unique(cell, return_inverse=True)[1]
            room = int(cell.max()) + 1
    example = np.full(room, -1)
    example[cell] = np.arange(rows)
    there = example >= 0
    number = (np.cumsum(there) - 1)[cell] if not there.all() else cell
    asked = segments if over is None else [segments[place] for place in sorted(over)]
    codes = zip(*(column[example[there]].tolist() for column in asked), strict=True) if asked else [()]
    return number, [*codes]


def check_reports(channel: Channel, reports: Counts) -> Counts:
    """These reports, at least one; ValueError unless the channel can give all of them. As its own is_report, for many
    at once.
    """
    possible = reports.min() >= 0 and reports.max() <= channel.largest_report
    if not possible or (channel.held is not None and (np.bitwise_count(reports) != channel.held).any()):
        raise ValueError("a report is none that its part can have")
    return reports
