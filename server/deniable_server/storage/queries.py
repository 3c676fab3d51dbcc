"""Reading from a database, with statements that every kind understands.

May not: write, or know which database it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import reduce
from itertools import islice
from operator import add
from typing import Any, NamedTuple

import msgspec
import numpy as np

from deniable_protocol import DeniableError, Document, verify
from deniable_server.errors import SurveyGone
from deniable_server.statistics import Cell, Codes, Content, Counts, Statistics, layout_of, nothing, tally

from . import Row, Stored
from .fieldwork import CONDITIONS, Conditions
from .invitations import find_invitation_damage

EVERYTHING = 0
"""In the statistics, the number of all sources together; in the inbox, that of the respondents themselves."""
COMBINATIONS = -1
"""The margin of all segments together."""
CHUNK = 10_000
"""Submissions that are in memory, or folded in one transaction, at a time."""

read_content = msgspec.json.Decoder(Content).decode
_codes = msgspec.json.Decoder(tuple[int, ...])
_numbers = msgspec.json.Decoder(list[int])


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


def survey(view: View, id_: str) -> tuple[int, bytes, int | None] | None:
    """The number and the published document of a survey, and the number of the draft that it is a test run of."""
    found = view.rows("SELECT number, document, draft FROM surveys WHERE id = :id", id=id_)
    return (found[0][0], bytes(found[0][1]), found[0][2]) if found else None


def number_of(view: View, id_: str) -> int | None:
    """The number of the survey of this id."""
    found = view.rows("SELECT number FROM surveys WHERE id = :id", id=id_)
    return int(found[0][0]) if found else None


def results_from(view: View, number: int) -> int | None:
    """While a survey is open, from how many submissions on its results are shown; None: not before it is closed."""
    return state(view, number)[1]


def state(view: View, number: int) -> tuple[Conditions, int | None]:
    """What decides whether it takes submissions, and from how many on results are shown: read together."""
    rows = view.rows(f"SELECT results_from, {CONDITIONS} FROM surveys WHERE number = :number", number=number)  # noqa: S608 -- our own words
    if not rows:
        raise SurveyGone
    return Conditions(*rows[0][1:]), rows[0][0]


class Entry(NamedTuple):
    """A survey in the list: first and last day, how many are expected, and the day since when it is archived."""

    number: int
    id: str
    published_on: str
    closed_on: str | None
    expected: int | None
    archived_on: str | None
    draft: int | None
    conditions: Conditions


def listed(view: View) -> list[Entry]:
    """All surveys by id."""
    columns = "number, id, CAST(published_on AS TEXT), CAST(closed_on AS TEXT), expected, CAST(archived_on AS TEXT)"
    rows = view.rows(f"SELECT {columns}, draft, {CONDITIONS} FROM surveys ORDER BY id")  # noqa: S608 -- our own words
    return [Entry._make((*row[:7], Conditions(*row[7:]))) for row in rows]


def days(view: View, number: int) -> dict[date, int]:
    """Submissions accepted per day; there may be several counts of one day."""
    total: Counter[date] = Counter()
    for day, accepted in view.rows(
        "SELECT CAST(day AS TEXT), accepted FROM days WHERE survey = :number ORDER BY day", number=number
    ):
        total[date.fromisoformat(day)] += accepted
    return dict(total)


def statistics(
    view: View,
    number: int,
    document: Document,
    over: Sequence[int] | None = None,
    source: int = EVERYTHING,
    counted: Statistics | None = None,
) -> Statistics:
    """The sufficient statistics of everything, or of what one source sent: stored ones for folded submissions, plus
    those of the few that wait, unless these are ``counted`` already. By the codes of the segments at these places, or
    of all.
    """
    if counted is None:
        counted = recount(view, number, document, ("inbox",), over, source)
    return _sealed(view, number, document, over, source) + counted


def kept(document: Document) -> list[tuple[int, tuple[int, ...]]]:
    """The margins that are kept, each with the places of its segments: none, each one, and all together."""
    places = range(len(document.survey.segments))
    together = [(COMBINATIONS, tuple(places))] if len(places) > 1 else []
    return [(0, ()), *((place + 1, (place,)) for place in places), *together]


def _sealed(
    view: View, number: int, document: Document, over: Sequence[int] | None = None, source: int = EVERYTHING
) -> Statistics:
    """Several rows of the same codes add up, and so do several counts of whole reports."""
    places = range(len(document.survey.segments)) if over is None else sorted(over)
    statement = "SELECT codes, counts FROM statistics WHERE survey = :number AND source = :source AND margin = :margin"
    if len(places) < 2:
        margin = places[0] + 1 if places else 0
        rows = iter(view.rows(statement, number=number, source=source, margin=margin))
    else:  # perhaps many
        rows = view.stream(statement, number=number, source=source, margin=COMBINATIONS)
    layout = layout_of(document)
    total: dict[Codes, Counts] = {}
    for text, numbers in rows:
        codes = _codes.decode(text)
        if len(codes) > len(places):
            codes = tuple(codes[place] for place in places)
        counts = read_counts(numbers)
        if codes in total:
            total[codes] += counts
        else:
            total[codes] = counts
    if any(len(counts) != layout[-1].stop for counts in total.values()):
        raise ValueError("a cell has other counts than its survey")
    whole = view.rows("SELECT counts FROM repeats WHERE survey = :number AND source = :source", **_of(number, source))
    repeats = sum((read_counts(counts) for (counts,) in whole), nothing(document).repeats)
    return Statistics({codes: Cell(counts, layout) for codes, counts in total.items()}, repeats)


def _of(number: int, source: int) -> dict[str, int]:
    return {"number": number, "source": source}


def recount(
    view: View,
    number: int,
    document: Document,
    tables: Sequence[str] = ("sealed", "inbox"),
    over: Sequence[int] | None = None,
    source: int = EVERYTHING,
) -> Statistics:
    """The statistics of these tables, counted from every submission; those of one source only while they wait."""
    total = nothing(document)
    for name in tables:
        statement = f"SELECT content FROM {view.table(name, number)} WHERE survey = :number"  # noqa: S608 -- our own names
        if source == EVERYTHING:
            rows = view.stream(statement, number=number)
        else:
            rows = view.stream(f"{statement} AND source = :source", **_of(number, source))
        while contents := [content for (content,) in islice(rows, CHUNK)]:
            total += tally_texts(document, contents, over)
    return total


def tally_texts(document: Document, contents: Iterable[str], over: Sequence[int] | None = None) -> Statistics:
    """The statistics of submissions as they are stored."""
    return tally(document, [read_content(content) for content in contents], over)


# --- sources ----------------------------------------------------------------------------------------------------------

ADD_SOURCE = "INSERT INTO sources (survey, number, label) VALUES (:number, :next, :label) ON CONFLICT DO NOTHING"


def source_numbers(view: View, number: int) -> dict[str, int]:
    """The sources of a survey by label, each with its number, in the order of their labels."""
    rows = view.rows("SELECT label, number FROM sources WHERE survey = :number ORDER BY label", number=number)
    return dict(rows)


def sources(view: View, number: int, document: Document) -> dict[str, int]:
    """How many submissions of each source there are, folded and waiting."""
    found: Counter[int] = Counter()
    statement = "SELECT source, counts FROM statistics WHERE survey = :number AND source > 0 AND margin = 0"
    for source, counts in view.rows(statement, number=number):
        found[source] += sum(_numbers.decode(counts)[: len(document.booklets)])
    inbox = view.table("inbox", number)
    statement = f"SELECT source, count(*) FROM {inbox} WHERE survey = :number AND source > 0 GROUP BY source"  # noqa: S608 -- our own names
    found.update(dict(view.rows(statement, number=number)))
    numbers = source_numbers(view, number)
    return {label: found[source] for label, source in numbers.items() if found[source]}


# --- what the database keeps ------------------------------------------------------------------------------------------


class Kept(NamedTuple):
    """Rows of statistics to add to those that are there: counts by source, margin and codes; and counts of whole
    reports by source.
    """

    cells: dict[tuple[int, int, str], Counts]
    repeats: dict[int, Counts]


def keep(document: Document, counted: Mapping[int, Statistics]) -> Kept:
    """How the database keeps the statistics of each source: as one of everything, of which respondents' own are a part,
    and one of each collector besides.
    """
    everything = reduce(add, counted.values())
    each = {EVERYTHING: everything} | {source: found for source, found in counted.items() if source}
    cells = {}
    for source, found in each.items():
        for margin, places in kept(document):
            by = found if margin == COMBINATIONS else found.over(places)
            for codes, cell in by.cells.items():
                cells[source, margin, write_codes(codes)] = cell.numbers
    return Kept(cells, {source: found.repeats for source, found in each.items()})


def keep_texts(document: Document, contents: Iterable[tuple[int, str]]) -> Kept:
    """The same of submissions as they are stored, each with its source."""
    by_source: dict[int, list[str]] = {}
    for source, content in contents:
        by_source.setdefault(source, []).append(content)
    return keep(document, {source: tally_texts(document, some) for source, some in by_source.items()})


def read_counts(counts: str) -> Counts:
    return np.array(_numbers.decode(counts), np.int64)


def write_counts(counts: Counts) -> str:
    return msgspec.json.encode(counts.tolist()).decode()


def write_codes(codes: Codes) -> str:
    return msgspec.json.encode(codes).decode()


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
            if not is_consistent(view, number, document, recount(view, number, document, ("sealed",))):
                damage.append(f"the statistics of {id_} differ from a recount")
            recount(view, number, document, ("inbox",))  # that it can be read is all there is to check
            stored = sum(_size(view, name, number) for name in ("sealed", "inbox"))
            if stored != (accepted := sum(days(view, number).values())):
                damage.append(f"{id_} has {stored} submissions, but {accepted} were accepted")
            damage += find_invitation_damage(view, number, document)
    except (view.errors, DeniableError, msgspec.MsgspecError, ValueError, OverflowError) as error:
        # Only the type: the message could quote a submission.
        return [f"the database is damaged: {type(error).__name__} while reading it"]
    return damage


def is_consistent(view: View, number: int, document: Document, recounted: Statistics) -> bool:
    """Whether the kept statistics are these, all margins are sums of cells, and the sources have no more than that."""
    rest = recounted
    for source in (EVERYTHING, *source_numbers(view, number).values()):
        cells = _sealed(view, number, document, None, source)
        if source == EVERYTHING and cells != recounted:
            return False
        if any(_sealed(view, number, document, over, source) != cells.over(over) for _, over in kept(document)):
            return False
        try:
            rest = rest if source == EVERYTHING else rest - cells
        except ValueError:
            return False
    return True


def waiting(view: View, number: int) -> int:
    """How many submissions of a survey wait in the inbox."""
    return _size(view, "inbox", number)


def _size(view: View, name: str, number: int) -> int:
    statement = f"SELECT count(*) FROM {view.table(name, number)} WHERE survey = :number"  # noqa: S608 -- our own names
    return int(view.rows(statement, number=number)[0][0])
