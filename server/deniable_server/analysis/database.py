"""Results of surveys in a database, in the bytes that the HTTP interface gives: for ``deniable.Results``.

May not: compute anything in another way than HTTP does, or show what it would withhold.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any

from msgspec.json import encode

from deniable_protocol import parse_survey
from deniable_server.errors import Kind, Refusal, StorageError
from deniable_server.planning import plan_survey
from deniable_server.settings import Settings
from deniable_server.storage import Published, Storage, open_storage
from deniable_server.storage.location import locate

from .compare import CompareQuery, compare
from .crosstab import CrosstabQuery, crosstab
from .estimates import EstimateQuery, estimates
from .query import Given, Query
from .regress import RegressQuery, regress
from .source import StoredSurvey

ANSWERS: Mapping[str, tuple[type[Query], Callable[..., Any]]] = {
    "estimates": (EstimateQuery, estimates),
    "compare": (CompareQuery, compare),
    "crosstab": (CrosstabQuery, crosstab),
    "regression": (RegressQuery, regress),
}
"""What can be asked, by the name that it has in an address: what it takes, and the function that answers."""


class Database:
    """A database that exists. It is open only while something is read, so nothing has to be closed."""

    def __init__(self, address: str) -> None:
        self._address = address
        location = locate(address)
        if not location.exists():
            raise StorageError(f"There is no database at {location.name}. Check the path")

    def surveys(self) -> list[str]:
        """The ids of all surveys."""
        with self._open() as storage:
            return [listed.id for listed in storage.surveys()]

    def document(self, survey: str) -> bytes:
        """The published document, byte for byte."""
        with self._open() as storage:
            return _find(storage, survey).raw

    def ask(self, survey: str, what: str, given: Given) -> bytes:
        """A result as JSON. Groups are as small as DENIABLE_MINIMUM_GROUP allows, as on a server."""
        kind, answer = ANSWERS[what]
        minimum = Settings.from_environment({**os.environ, "DENIABLE_DATABASE": self._address}).minimum_group
        with self._open() as storage:
            source = StoredSurvey(storage, _find(storage, survey), minimum, lambda other: _find(storage, other))
            return encode(answer(source, kind.read(source.survey, given)))

    def plan(self, survey: bytes, syntax: str) -> bytes:
        """The plan of a survey file as JSON."""
        return encode(plan_survey(parse_survey(survey, syntax="json" if syntax == "json" else "toml")))

    def _open(self) -> closing[Storage]:
        return closing(open_storage(self._address, create=False))


def _find(storage: Storage, survey: str) -> Published:
    published = storage.find(survey)
    if published is None:
        raise Refusal(Kind.NOT_FOUND, "No survey has this id.")
    return published
