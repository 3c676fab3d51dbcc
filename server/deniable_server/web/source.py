"""What a request asks about: a survey as a source, and a query read from the address."""

from __future__ import annotations

from typing import TypeVar

from flask import request

from deniable_server.analysis.crossing import Crossing
from deniable_server.analysis.query import Query
from deniable_server.analysis.source import Source, StoredSurvey
from deniable_server.storage import Published

from .auth import check_role
from .context import find, here

Q = TypeVar("Q", bound=Query)


class RequestedSurvey(StoredSurvey):
    """The survey of a request."""

    def count(self, crossing: Crossing) -> None:
        with here().long_computation():
            super().count(crossing)


def source_of(survey: str) -> RequestedSurvey:
    """The survey with this id. It is compared with another only if the token of the request allows to read both."""
    state = here()
    return RequestedSurvey(state.storage, find(survey), state.settings.minimum_group, _readable)


def _readable(survey: str) -> Published:
    check_role("reader", survey)
    return find(survey)


def query_of(kind: type[Q], source: Source) -> Q:
    """The query in the address of the request."""
    return kind.read(source.survey, request.args.to_dict(flat=False))
