"""Copies from one database to another, of any kind, verified: for backups, for restoring them, and to move.

A copy is one transaction of the target. Everything is read again from both before that ends, and counted: where
anything differs, the target stays as it was.

May not: know which kinds of databases these are, or change the source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import reduce
from itertools import islice, zip_longest
from operator import add
from typing import Any, NamedTuple, TypeVar

from deniable_protocol import Document, verify
from deniable_server.errors import StorageError
from deniable_server.statistics import Statistics, nothing

from . import queries
from .activity import DEED
from .drafts import DRAFT
from .invitations import INVITATION, ISSUED, kept
from .location import Location, Target
from .queries import CHUNK, View, tally_texts
from .tokens import TOKEN, TOKEN_SURVEY

Item = TypeVar("Item")
Progress = Callable[[int], None]
Reading = Callable[..., AbstractContextManager[View]]
"""Called with the numbers of surveys, gives one state of the database that has their submissions."""

SURVEY = (
    *("id", "document", "digest", "status", "published_on", "closed_on", "results_from", "expected", "archived_on"),
    *("draft", "opens_at", "closes_at", "most"),
)
SESSION = ("digest", "token", "began_at", "idle_at", "expires_at")
OTHERS = {"drafts": DRAFT, "tokens": TOKEN, "token_surveys": TOKEN_SURVEY, "sessions": SESSION, "activity": DEED}
"""What does not belong to one survey, and is copied as it is: the columns of each table."""
ORDER = {"drafts": "number", "token_surveys": "token, survey", "sessions": "digest", "activity": "number"}
"""In which order tables are copied and compared; others by id. The copy numbers activity itself, in this order."""
DATES = {"published_on", "closed_on", "archived_on", "created_on", "expires_on", "changed_on"}


class Copied(NamedTuple):
    """What was copied."""

    surveys: int
    submissions: int
    tokens: int
    sessions: int


def move(source: Location, target: Location, progress: Progress = lambda done: None) -> Copied:
    """Copy everything to an empty database while nobody uses either; the source is left as it is.

    StorageError where a server or another command uses one of them, or the target is not empty.
    """
    with source.alone() as view, target.filling() as copied:
        return copy(lambda *surveys: nullcontext(view), copied, progress)


def copy(reading: Reading, target: Target, progress: Progress = lambda done: None) -> Copied:
    """Copy everything, each survey in one state, and compare. Each submission counts twice for ``progress``."""
    with reading() as view:
        surveys = view.rows(_select("surveys", ("number", *SURVEY)))
        others = {table: view.rows(_select(table, columns)) for table, columns in OTHERS.items()}
    submissions = 0
    for number, *row in surveys:
        with reading(number) as view:
            submissions += _copy_survey(view, number, _closed(row), target, progress)
    for table, columns in OTHERS.items():
        _write(target, table, columns, others[table])
    wanted = {"surveys": [tuple(_closed(row).values()) for _, *row in surveys], **others}
    for table, columns in {"surveys": SURVEY, **OTHERS}.items():
        if target.rows(_select(table, columns)) != wanted[table]:
            raise StorageError(f"The copy has other {table} than the source. Nothing was copied.")
    return Copied(len(surveys), submissions, len(others["tokens"]), len(others["sessions"]))


def _copy_survey(view: View, number: int, survey: dict[str, Any], target: Target, progress: Progress) -> int:
    """Copy one survey with its submissions, and compare; returns how many submissions it has."""
    document = verify(survey["document"])
    _write(target, "surveys", SURVEY, [survey.values()])
    ((there,),) = target.rows("SELECT number FROM surveys WHERE id = :id", id=survey["id"])
    target.make_tables(there)
    stored = queries.StoredIn(view, number)
    for rows in _chunks(stored):
        target.write_rows(there, rows)
        progress(len(rows))
    sources = queries.source_numbers(view, number)
    _write(target, "sources", ("survey", "number", "label"), [(there, n, label) for label, n in sources.items()])
    # A submission does not say where it came from: what was counted per source is copied, and of everything compared.
    counted = {each: queries.statistics(view, number, document, None, each) for each in sources.values()}
    everything = queries.statistics(view, number, document)
    own = everything - reduce(add, counted.values(), nothing(document))
    kept = queries.keep(document, {queries.EVERYTHING: own, **counted})
    cells = [(there, *key, queries.write_counts(counts)) for key, counts in kept.cells.items()]
    _write(target, "statistics", ("survey", "source", "margin", "codes", "counts"), cells)
    repeats = [(there, source, queries.write_counts(counts)) for source, counts in kept.repeats.items()]
    _write(target, "repeats", ("survey", "source", "counts"), repeats)
    days = [(there, day.isoformat(), accepted) for day, accepted in stored.days.items()]
    _write(target, "days", ("survey", "day", "accepted"), days)

    _copy_invitations(view, number, survey, target, there)
    submissions, recounted = _compare(stored, queries.StoredIn(target, there), document, progress)
    if everything != recounted or not queries.is_consistent(target, there, document, recounted):
        raise StorageError(f"The statistics of {survey['id']} differ from a recount. Nothing was copied.")
    return submissions


def _copy_invitations(view: View, number: int, survey: dict[str, Any], target: Target, there: int) -> None:
    """Copy the key and the invitations of one survey, and compare."""
    closed = survey["status"] != "open"
    found = kept(view, number, survey["id"], closed=closed)
    if found.key is not None:
        _write(target, "issuers", ("survey", "key"), [(survey["id"], found.key)])
    _write(target, "invitations", INVITATION, ((there, *row) for row in found.invitations))
    _write(target, "issued", ISSUED, ((there, *row) for row in found.issued))
    if kept(target, there, survey["id"], closed=closed) != found:
        raise StorageError(f"The invitations of {survey['id']} differ after the copy. Nothing was copied.")


def _compare(
    stored: queries.StoredIn, copied: queries.StoredIn, document: Document, progress: Progress
) -> tuple[int, Statistics]:
    """How many submissions the copy has, and their statistics, counted again. StorageError where it differs."""
    submissions, counted = 0, nothing(document)
    for pairs in _chunks(zip_longest(stored, copied)):
        if any(row != other for row, other in pairs):
            raise StorageError(f"The submissions of {document.survey.id} differ after the copy. Nothing was copied.")
        counted += tally_texts(document, [other.content for _, other in pairs])
        submissions += len(pairs)
        progress(len(pairs))
    if copied.days != stored.days:
        raise StorageError(f"The days of {document.survey.id} differ after the copy. Nothing was copied.")
    return submissions, counted


def _closed(row: list[Any]) -> dict[str, Any]:
    """A survey's row, by column. Submissions are copied in id order, in one transaction, as closing a survey leaves
    them: one that was being closed is closed then.
    """
    survey = dict(zip(SURVEY, row, strict=True))
    return survey if survey["status"] == "open" else survey | {"status": "closed"}


def _chunks(items: Iterable[Item]) -> Iterator[list[Item]]:
    rest = iter(items)
    while chunk := list(islice(rest, CHUNK)):
        yield chunk


def _select(table: str, columns: tuple[str, ...]) -> str:
    names = ", ".join(f"CAST({name} AS TEXT)" if name in DATES else name for name in columns)
    return f"SELECT {names} FROM {table} ORDER BY {ORDER.get(table, 'id')}"  # noqa: S608 -- our own names


def _write(target: Target, table: str, columns: tuple[str, ...], rows: Iterable[Iterable[object]]) -> None:
    names, values = ", ".join(columns), ", ".join(f":{name}" for name in columns)
    statement = f"INSERT INTO {table} ({names}) VALUES ({values})"  # noqa: S608 -- our own names
    target.write(statement, [dict(zip(columns, row, strict=True)) for row in rows])
