"""What a request asks about: a survey as a source, and a query read from the address."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from flask import request

from deniable_server.analysis.compare import CompareQuery
from deniable_server.analysis.query import Given, Query
from deniable_server.analysis.source import Source, StoredSurvey

from .auth import check_role
from .context import compute, find, here

Q = TypeVar("Q", bound=Query)
T = TypeVar("T")


def source_of(survey: str) -> Source:
    """The survey with this id: for computing. Who may read it, and any survey that it is compared with, was checked."""
    state = here()
    return StoredSurvey(state.storage, find(survey), state.settings.minimum_group, find)


def compute_results(
    function: Callable[..., T], survey: str, kind: type[Query], given: Given | None = None, *more: object
) -> T:
    """What ``function(survey, query, *more)`` gives, computed apart, for the query in the address of the request, or in
    the texts that are ``given``. A survey is compared with another only if the token of the request may read both.
    """
    published = find(survey)
    query = kind.read(published.document.survey, request.args.to_dict(flat=False) if given is None else given)
    about = [published]
    if isinstance(query, CompareQuery) and query.other is not None and query.by is None:
        check_role("reader", query.other)
        about.append(find(query.other))
    return compute(function, survey, query, *more, about=about)
