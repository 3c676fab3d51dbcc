"""Results from a database, computed here by the functions that the server calls.

The one module of the client that uses the server's packages, and only when somebody names a database. May not: be
imported by anything else at the start.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from deniable.errors import DeniableError, UnknownSurvey, missing_package, results_error

from .source import Given

if TYPE_CHECKING:
    from deniable_server.analysis.database import Database


T = TypeVar("T")


class DatabaseSource:
    """A survey in a database."""

    def __init__(self, database: str, survey: str | None) -> None:
        self._database = _opened(database)
        known = _checked(self._database.surveys)
        if survey is None and len(known) == 1:
            (survey,) = known
        if survey not in known:
            asked = "name one with survey=" if survey is None else f"none has the id {survey}"
            raise UnknownSurvey("not-found", f"{asked}. Published in this database: {', '.join(known) or 'none'}")
        self.survey: str = survey

    def document(self) -> bytes:
        return _checked(lambda: self._database.document(self.survey))

    def ask(self, what: str, given: Given) -> bytes:
        texts: dict[str, list[str]] = {}
        for name, text in given:
            texts.setdefault(name, []).append(text)
        return _checked(lambda: self._database.ask(self.survey, what, texts))

    def plan(self, survey: bytes, syntax: str) -> bytes:
        return _checked(lambda: self._database.plan(survey, syntax))


def _checked(read: Callable[[], T]) -> T:
    """What it gives; an error of the server as the one that HTTP would lead to."""
    try:
        return read()
    except DeniableError as error:
        kind = getattr(error, "kind", None)
        if kind is None:
            raise
        raise results_error(kind.slug, str(error)) from None


def _opened(database: str) -> Database:
    try:
        from deniable_server.analysis.database import Database
    except ImportError as error:
        raise missing_package("reading a database", "deniable[server]", error.name) from None
    return _checked(lambda: Database(database))
