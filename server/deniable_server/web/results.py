"""What analysts read over HTTP. Routes only: ``analysis`` has the answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import Any

from flask import Blueprint, Response, request
from flask.typing import ResponseReturnValue
from msgspec.json import encode

from deniable_server.analysis.compare import CompareQuery, SurveyComparison, compare
from deniable_server.analysis.crosstab import CrosstabQuery, SurveyCrosstab, crosstab
from deniable_server.analysis.estimates import EstimateQuery, SurveyEstimates, estimates
from deniable_server.analysis.regress import RegressQuery, SurveyRegression, regress
from deniable_server.analysis.relation_tables import compare_rows, crosstab_rows, regression_rows
from deniable_server.analysis.reports import report_rows
from deniable_server.analysis.tables import csv_pieces, estimate_rows
from deniable_server.errors import Kind

from .auth import acting
from .context import find, here
from .routes import route
from .source import compute_results, source_of

results = Blueprint("results", __name__)

PROBLEMS = (Kind.BAD_PARAMETER, Kind.HELD_BACK, Kind.WITHHELD, Kind.BUSY)


@route(
    results,
    "GET",
    "/surveys/<survey>/estimates",
    "Population shares and means with confidence intervals.",
    role="reader",
    gives=SurveyEstimates,
    query=EstimateQuery,
    problems=PROBLEMS,
)
def get_estimates(survey: str) -> ResponseReturnValue:
    return _json(compute_results(_estimates, survey, EstimateQuery))


@route(
    results,
    "GET",
    "/surveys/<survey>/estimates.csv",
    "The same as a table: a row for every number.",
    role="reader",
    gives="text/csv",
    query=EstimateQuery,
    problems=PROBLEMS,
)
def get_estimates_table(survey: str) -> ResponseReturnValue:
    return _csv(survey, "estimates", [compute_results(_estimates_table, survey, EstimateQuery)])


@route(
    results,
    "GET",
    "/surveys/<survey>/compare",
    "A question compared between the groups of a segment, or with another survey: differences, intervals, p-values.",
    role="reader",
    gives=SurveyComparison,
    query=CompareQuery,
    problems=PROBLEMS,
)
def get_comparison(survey: str) -> ResponseReturnValue:
    return _json(compute_results(_comparison, survey, CompareQuery))


@route(
    results,
    "GET",
    "/surveys/<survey>/compare.csv",
    "The same as a table: a row for every number.",
    role="reader",
    gives="text/csv",
    query=CompareQuery,
    problems=PROBLEMS,
)
def get_comparison_table(survey: str) -> ResponseReturnValue:
    return _csv(survey, "compare", [compute_results(_comparison_table, survey, CompareQuery)])


@route(
    results,
    "GET",
    "/surveys/<survey>/crosstab",
    "The shares of all pairs of answers to two questions, with intervals and a test of independence.",
    role="reader",
    gives=SurveyCrosstab,
    query=CrosstabQuery,
    problems=PROBLEMS,
)
def get_crosstab(survey: str) -> ResponseReturnValue:
    return _json(compute_results(_crosstab, survey, CrosstabQuery))


@route(
    results,
    "GET",
    "/surveys/<survey>/crosstab.csv",
    "The same as a table: a row for every number.",
    role="reader",
    gives="text/csv",
    query=CrosstabQuery,
    problems=PROBLEMS,
)
def get_crosstab_table(survey: str) -> ResponseReturnValue:
    return _csv(survey, "crosstab", [compute_results(_crosstab_table, survey, CrosstabQuery)])


@route(
    results,
    "GET",
    "/surveys/<survey>/regression",
    "The odds of an answer explained by segments and by questions of the same part: odds ratios with intervals.",
    role="reader",
    gives=SurveyRegression,
    query=RegressQuery,
    problems=PROBLEMS,
)
def get_regression(survey: str) -> ResponseReturnValue:
    return _json(compute_results(_regression, survey, RegressQuery))


@route(
    results,
    "GET",
    "/surveys/<survey>/regression.csv",
    "The same as a table: a row for every number.",
    role="reader",
    gives="text/csv",
    query=RegressQuery,
    problems=PROBLEMS,
)
def get_regression_table(survey: str) -> ResponseReturnValue:
    return _csv(survey, "regression", [compute_results(_regression_table, survey, RegressQuery)])


@route(
    results,
    "GET",
    "/surveys/<survey>/reports.csv",
    "All randomised reports and segments, in an order that means nothing.",
    role="analyst",
    gives="text/csv",
    problems=(Kind.HELD_BACK,),
)
def get_reports(survey: str) -> ResponseReturnValue:
    document = (published := find(survey)).document
    here().storage.check_shown(published)
    reading = ExitStack()
    submissions = reading.enter_context(here().storage.submissions(published))
    # Read twice, first for the length: a download that breaks off half-way is then seen to be incomplete.
    try:
        length = sum(len(piece) for piece in csv_pieces(report_rows(document, submissions)))
    except BaseException:
        reading.close()
        raise

    def pieces() -> Iterator[bytes]:
        with reading:
            yield from csv_pieces(report_rows(document, submissions))

    response = _csv(survey, "reports", pieces())
    response.headers["Content-Length"] = str(length)
    response.call_on_close(reading.close)  # where nobody goes through the pieces, as for HEAD
    return response


# --- in a computing process -------------------------------------------------------------------------------------------


def _estimates(survey: str, query: EstimateQuery) -> bytes:
    return encode(estimates(source_of(survey), query))


def _estimates_table(survey: str, query: EstimateQuery) -> bytes:
    source = source_of(survey)
    return _table(estimate_rows(source.survey, estimates(source, query)))


def _comparison(survey: str, query: CompareQuery) -> bytes:
    return encode(compare(source_of(survey), query))


def _comparison_table(survey: str, query: CompareQuery) -> bytes:
    source = source_of(survey)
    return _table(compare_rows(source.survey, compare(source, query)))


def _crosstab(survey: str, query: CrosstabQuery) -> bytes:
    return encode(crosstab(source_of(survey), query))


def _crosstab_table(survey: str, query: CrosstabQuery) -> bytes:
    source = source_of(survey)
    return _table(crosstab_rows(source.survey, crosstab(source, query)))


def _regression(survey: str, query: RegressQuery) -> bytes:
    return encode(regress(source_of(survey), query))


def _regression_table(survey: str, query: RegressQuery) -> bytes:
    source = source_of(survey)
    return _table(regression_rows(source.survey, regress(source, query)))


def _table(rows: Iterable[list[Any]]) -> bytes:
    return b"".join(csv_pieces(rows))


# --- responses --------------------------------------------------------------------------------------------------------


def _json(body: bytes) -> Response:
    return Response(body, content_type="application/json")


def _csv(survey: str, name: str, pieces: Iterable[bytes]) -> Response:
    if request.method == "GET":
        here().events.downloaded(acting(), survey, name)
    response = Response(pieces, content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{survey}-{name}.csv"'
    response.headers["Cache-Control"] = "no-store"
    return response
