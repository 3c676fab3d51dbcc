"""Reading from a database, with statements that every kind understands.

May not: write, or know which database it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from itertools import islice
from typing import Any

import msgspec
import numpy as np

from deniable_protocol import DeniableError, Document, verify
from deniable_server.statistics import Cell, Codes, Content, Counts, Statistics, nothing, sum_cells, tally

from . import Row, Stored

CHUNK = 10_000
"""Submissions that are in memory, or folded in one transaction, at a time."""

read_content = msgspec.json.Decoder(Content).decode
_codes = msgspec.json.Decoder(tuple[int, ...])
_numbers = msgspec.json.Decoder(list[int])
_counts = msgspec.json.Decoder(list[list[int]])


class View(ABC):
    """One state of a database, which stays the same while others write. Values are named in statements as :name."""

    errors: type[Exception]
    """What reading may raise."""

    @abstractmethod
    def rows(self, statement: str, **values: object) -> list[tuple[Any, ...]]:
        """All rows of the result."""

    @abstractmethod
    def stream(self, statement: str, **values: object) -> Iterator[tuple[Any, ...]]:
        """The same for any number of rows; few are in memory at a time."""

    def table(self, name: str, number: int) -> str:
        """The table that has the rows of the survey with this number."""
        return name

    def damage(self) -> list[str]:
        """What the database itself finds wrong with its files."""
        return []


class StoredIn(Stored):
    """The submissions of one survey in a view."""

    def __init__(self, view: View, number: int) -> None:
        self._view, self._number = view, number

    def __iter__(self) -> Iterator[Row]:
        sealed, inbox = self._view.table("sealed", self._number), self._view.table("inbox", self._number)
        rows = self._view.stream(
            f"SELECT id, content FROM {sealed} WHERE survey = :number"  # noqa: S608 -- our own names
            f" UNION ALL SELECT id, content FROM {inbox} WHERE survey = :number ORDER BY id",
            number=self._number,
        )
        return (Row(*row) for row in rows)

    @property
    def days(self) -> dict[date, int]:
        return days(self._view, self._number)


class Read:
    """Submissions, decoded: the same in each iteration."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = rows

    def __iter__(self) -> Iterator[tuple[bytes, Content]]:
        return ((submission, read_content(content)) for submission, content in self._rows)


def survey(view: View, id_: str) -> tuple[int, bytes] | None:
    """The number and the published document of a survey."""
    found = view.rows("SELECT number, document FROM surveys WHERE id = :id", id=id_)
    return (found[0][0], bytes(found[0][1])) if found else None


def status(view: View, number: int) -> str:
    """Open, closing or closed."""
    found = view.rows("SELECT status FROM surveys WHERE number = :number", number=number)
    return str(found[0][0]) if found else "closed"


def results_from(view: View, number: int) -> int | None:
    """While a survey is open, from how many submissions on its results are shown; None: not before it is closed."""
    rows: list[tuple[int | None]] = view.rows("SELECT results_from FROM surveys WHERE number = :number", number=number)
    return rows[0][0]


def listed(view: View) -> list[tuple[str, str, str, str | None, int]]:
    """All surveys by id: id, status, first and last day, number of submissions."""
    return view.rows(
        "SELECT id, status, CAST(published_on AS TEXT), CAST(closed_on AS TEXT),"
        " (SELECT CAST(coalesce(sum(accepted), 0) AS BIGINT) FROM days WHERE survey = number) FROM surveys ORDER BY id"
    )


def days(view: View, number: int) -> dict[date, int]:
    """Submissions accepted per day; there may be several counts of one day."""
    total: Counter[date] = Counter()
    for day, accepted in view.rows(
        "SELECT CAST(day AS TEXT), accepted FROM days WHERE survey = :number ORDER BY day", number=number
    ):
        total[date.fromisoformat(day)] += accepted
    return dict(total)


def statistics(view: View, number: int, document: Document) -> Statistics:
    """The sufficient statistics: stored ones for folded submissions, plus a count of the few that wait."""
    return _sealed(view, number, document) + recount(view, number, document, ("inbox",))


def _sealed(view: View, number: int, document: Document) -> Statistics:
    """Several cells of the same segments add up, and so do several counts of whole reports."""
    rows = view.rows("SELECT segments, booklets, counts FROM statistics WHERE survey = :number", number=number)
    cells = sum_cells((_codes.decode(segments), read_cell(*cell)) for segments, *cell in rows)
    whole = view.rows("SELECT counts FROM repeats WHERE survey = :number", number=number)
    return Statistics(cells, sum((read_repeats(counts) for (counts,) in whole), nothing(document).repeats))


def recount(view: View, number: int, document: Document, tables: Sequence[str] = ("sealed", "inbox")) -> Statistics:
    """The statistics of these tables, counted from every submission."""
    total = nothing(document)
    for name in tables:
        statement = f"SELECT content FROM {view.table(name, number)} WHERE survey = :number"  # noqa: S608 -- our own names
        rows = view.stream(statement, number=number)
        while contents := [content for (content,) in islice(rows, CHUNK)]:
            total += tally_texts(document, contents)
    return total


def tally_texts(document: Document, contents: Iterable[str]) -> Statistics:
    """The statistics of submissions as they are stored."""
    return tally(document, [read_content(content) for content in contents])


def read_cell(booklets: str, counts: str) -> Cell:
    """A cell from how the database keeps it."""
    return Cell(
        np.array(_numbers.decode(booklets), np.int64),
        [np.array(count, np.int64) for count in _counts.decode(counts)],
    )


def read_repeats(counts: str) -> Counts:
    """Counts of whole reports from how the database keeps them."""
    return np.array(_numbers.decode(counts), np.int64)


def write_repeats(repeats: Counts) -> str:
    return msgspec.json.encode(repeats.tolist()).decode()


def write_codes(codes: Codes) -> str:
    return msgspec.json.encode(codes).decode()


def write_cell(cell: Cell) -> tuple[str, str]:
    """How the database keeps a cell: the submissions per booklet, and the counts per part."""
    counts = [count.tolist() for count in cell.counts]
    return msgspec.json.encode(cell.booklets.tolist()).decode(), msgspec.json.encode(counts).decode()


def find_damage(view: View, numbers: Sequence[int] | None = None) -> list[str]:
    """What is wrong in a database: files, documents, statistics against a recount, days against submissions; of these
    surveys, or of all.
    """
    try:
        if damage := view.damage():
            return [f"the database is damaged: {line}" for line in damage]
        for number, id_, published, digest in view.rows("SELECT number, id, document, digest FROM surveys"):
            if numbers is not None and number not in numbers:
                continue
            document = verify(bytes(published))
            if document.digest != digest or document.survey.id != id_:
                damage.append(f"the document of {id_} is not the one that was published")
            if _sealed(view, number, document) != recount(view, number, document, ("sealed",)):
                damage.append(f"the statistics of {id_} differ from a recount")
            recount(view, number, document, ("inbox",))  # that it can be read is all there is to check
            stored = sum(_size(view, name, number) for name in ("sealed", "inbox"))
            if stored != (accepted := sum(days(view, number).values())):
                damage.append(f"{id_} has {stored} submissions, but {accepted} were accepted")
    except (view.errors, DeniableError, msgspec.MsgspecError, ValueError, OverflowError) as error:
        # Only the type: the message could quote a submission.
        return [f"the database is damaged: {type(error).__name__} while reading it"]
    return damage


def _size(view: View, name: str, number: int) -> int:
    statement = f"SELECT count(*) FROM {view.table(name, number)} WHERE survey = :number"  # noqa: S608 -- our own names
    return int(view.rows(statement, number=number)[0][0])
