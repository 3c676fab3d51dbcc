"""What an engine counts of an export, in one row of numbers per cell: the submissions of each booklet, then the values
of the pieces of all reports.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from deniable_protocol import Document
from deniable_server.estimator.pieces import Piece, pieces
from deniable_server.statistics import (
    Cell,
    Codes,
    Counts,
    RepeatCounter,
    Statistics,
    check_reports,
    count_booklets,
    find_cells,
)

ABSENT = -1
"""In a column of reports: the booklet does not have the part."""


class Slot(NamedTuple):
    """Where the counts of a piece's values are in the row of counts of a cell."""

    part: int
    piece: Piece
    start: int

    @property
    def place(self) -> slice:
        return slice(self.start, self.start + self.piece.values)


def slots(document: Document) -> list[Slot]:
    """All that is counted after the booklets, part by part."""
    found, start = [], len(document.booklets)
    for number, part in enumerate(document.parts):
        for piece in pieces(part.channel.feature_count, held=part.channel.held is not None):
            found.append(Slot(number, piece, start))
            start += piece.values
    return found


def from_slots(document: Document, counted: Mapping[Codes, Counts], repeats: Counts) -> Statistics:
    """The statistics of cells of which the slots are counted, and of whole reports."""
    known = slots(document)
    cells = {}
    for codes, row in counted.items():
        counts: list[list[Counts]] = [[] for _ in document.parts]
        for slot in known:
            values = row[slot.place]
            counts[slot.part].append(values if slot.piece.is_whole else values @ slot.piece.features())
        cells[codes] = Cell.of(row[: len(document.booklets)], [np.concatenate(each) for each in counts])
    return Statistics(cells, repeats)


def count_columns(
    document: Document,
    segments: Sequence[Counts],
    booklets: Counts,
    reports: Iterable[Counts],
    repeats: RepeatCounter,
) -> dict[Codes, Counts]:
    """The slots of each cell, of submissions that are given column by column and gone through once; a report that is
    not there is ABSENT. Whole reports are counted by ``repeats``.

    ValueError where a report is none of its channel, or of another booklet.
    """
    if not len(booklets):
        return {}
    cell, codes = find_cells(document, len(booklets), segments)
    known = slots(document)
    counted = np.zeros((len(codes), known[-1].place.stop), dtype=np.int64)
    counted[:, : len(document.booklets)] = count_booklets(document, cell, len(codes), booklets)
    sums = np.zeros(len(booklets), np.int64)
    for part, column in enumerate(reports):
        has = np.array([part in booklet.parts for booklet in document.booklets])[booklets]
        if ((column != ABSENT) != has).any():
            raise ValueError("a booklet has not the reports of its parts")
        if not has.any():
            continue
        cells, present = (cell, column) if has.all() else (cell[has], column[has])
        sums[has] += repeats.add(part, check_reports(document.parts[part].channel, present))
        for slot in known:
            if slot.part == part:
                values = slot.piece.values
                table = np.bincount(cells * values + slot.piece.of(present), minlength=len(codes) * values)
                counted[:, slot.place] = table.reshape(-1, values)
    repeats.add_sums(sums)
    return dict(zip(codes, counted, strict=True))
