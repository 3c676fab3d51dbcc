"""What an engine counts of an export: the values of the pieces of all reports, in one row of numbers per cell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from deniable_protocol import Document
from deniable_server.estimator.pieces import Piece, pieces
from deniable_server.statistics import Cell, Codes, Counts, Statistics, channels_of, check_reports, find_cells


class Slot(NamedTuple):
    """Where the counts of a piece's values are in the row of counts of a cell."""

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
        for piece in pieces(channel.feature_count, held=channel.held is not None):
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


def count_columns(
    document: Document, rows: int, segments: Sequence[Counts], reports: Iterable[Counts]
) -> dict[Codes, Counts]:
    """The slots of each cell, of so many submissions that are given column by column and gone through once.

    ValueError where a report is none of its channel.
    """
    if not rows:
        return {}
    cell, codes = find_cells(document, rows, segments)
    known, channels = slots(document), channels_of(document)
    counted = np.zeros((len(codes), known[-1].place.stop), dtype=np.int64)
    for question, column in enumerate(reports):
        check_reports(channels[question], column)
        for slot in known:
            if slot.question == question:
                values = slot.piece.values
                table = np.bincount(cell * values + slot.piece.of(column), minlength=len(codes) * values)
                counted[:, slot.place] = table.reshape(-1, values)
    return dict(zip(codes, counted, strict=True))
