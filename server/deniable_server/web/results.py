"""The HTTP interface, version 1: what analysts read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack

from flask import Blueprint, Response, request
from flask.typing import ResponseReturnValue

from deniable_server.analysis.estimates import Analysis, SurveyEstimates
from deniable_server.analysis.query import Parameters
from deniable_server.analysis.relations import (
    SurveyComparison,
    SurveyCrosstab,
    SurveyRegression,
    compare_groups,
    compare_surveys,
    explain,
    tabulate,
)
from deniable_server.analysis.tables import csv_pieces, estimate_rows, report_rows
from deniable_server.errors import BadQuery, Kind
from deniable_server.storage import Published
from deniable_server.web.context import as_json, find, here

from .auth import check_role, requires
from .openapi import documented

results = Blueprint("results", __name__)

CONFIDENCE = {"confidence": "Between 0.5 and 0.9999; 0.95 where it is left out."}
WHERE = {"where": "segment:code, to count only these; can be repeated."}
ESTIMATES = {
    **CONFIDENCE,
    **WHERE,
    "by": "A segment, to give the estimates of each of its groups too.",
    "simultaneous": "1 for intervals that hold together for all options of a question.",
    "target": "respondents for intervals about those who answered; population (the default) for whom they stand for.",
    "population": "How many people the respondents were drawn from, if they are a good part of them.",
    "weight": "segment:code:share, for every code of a segment, to give estimates weighted to these margins too.",
    "distribution": "1 to give the likely distribution of number questions too: a curve without intervals.",
}
COMPARE = {
    "question": "The question that is compared.",
    "by": "A segment, whose groups are compared with each other.",
    "with": "Another survey with the same question, such as the wave before.",
    **WHERE,
    **CONFIDENCE,
}
CROSSTAB = {
    "rows": "A question with shares, or a segment.",
    "columns": "Another one.",
    **WHERE,
    **CONFIDENCE,
}
REGRESSION = {
    "question": "The question that is explained.",
    "answer": "The code whose odds are explained; yes where it is left out.",
    "on": "A segment that may explain it; can be repeated.",
    **WHERE,
    **CONFIDENCE,
}
PROBLEMS = (Kind.BAD_PARAMETER, Kind.WITHHELD)


def parameters(published: Published, known: Iterable[str]) -> Parameters:
    return Parameters(published.document.survey, request.args.to_dict(flat=False), list(known))


def analysis(published: Published) -> Analysis:
    state = here()
    return Analysis(published, state.storage.statistics(published), state.settings.minimum_group)


def estimates(survey: str) -> SurveyEstimates:
    published = find(survey)
    asked = parameters(published, ESTIMATES).asked()
    return analysis(published).estimates(here().storage.status(published), asked)


def compared(published: Published, given: Parameters) -> SurveyComparison:
    """A question between the groups of a segment, or with another survey that the asker may read as well."""
    question, asked, other = given.question("question").id, given.asked(), given.one("with")
    if (asked.by is None) == (other is None):
        raise BadQuery("compare takes either by, a segment, or with, another survey")
    if asked.by is not None:
        return compare_groups(analysis(published), question, asked.by, asked)
    assert other is not None
    check_role("reader", other)
    return compare_surveys(analysis(published), analysis(find(other)), question, asked)


def crossed(published: Published, given: Parameters) -> SurveyCrosstab:
    """Two questions or segments against each other."""
    rows, columns, asked = given.needed("rows"), given.needed("columns"), given.asked()
    kept = analysis(published)
    with here().long_computation(), here().storage.submissions(published) as submissions:
        return tabulate(kept, rows, columns, asked, submissions)


@results.get("/surveys/<survey>/estimates")
@requires("reader")
@documented(
    "Population shares and means with confidence intervals.",
    role="reader",
    gives=SurveyEstimates,
    query=ESTIMATES,
    problems=PROBLEMS,
)
def get_estimates(survey: str) -> ResponseReturnValue:
    return as_json(estimates(survey))


@results.get("/surveys/<survey>/estimates.csv")
@requires("reader")
@documented(
    "The same as a table: a row for every number.", role="reader", gives="text/csv", query=ESTIMATES, problems=PROBLEMS
)
def get_estimates_table(survey: str) -> ResponseReturnValue:
    return as_csv(survey, "estimates", csv_pieces(estimate_rows(find(survey).document.survey, estimates(survey))))


@results.get("/surveys/<survey>/compare")
@requires("reader")
@documented(
    "A question compared between the groups of a segment, or with another survey: differences, intervals, p-values.",
    role="reader",
    gives=SurveyComparison,
    query=COMPARE,
    problems=PROBLEMS,
)
def get_comparison(survey: str) -> ResponseReturnValue:
    published = find(survey)
    return as_json(compared(published, parameters(published, COMPARE)))


@results.get("/surveys/<survey>/crosstab")
@requires("reader")
@documented(
    "The shares of all pairs of answers to two questions, with intervals and a test of independence.",
    role="reader",
    gives=SurveyCrosstab,
    query=CROSSTAB,
    problems=(*PROBLEMS, Kind.BUSY),
)
def get_crosstab(survey: str) -> ResponseReturnValue:
    published = find(survey)
    return as_json(crossed(published, parameters(published, CROSSTAB)))


@results.get("/surveys/<survey>/regression")
@requires("reader")
@documented(
    "The odds of an answer explained by segments: odds ratios with intervals, or that no fit was found.",
    role="reader",
    gives=SurveyRegression,
    query=REGRESSION,
    problems=(*PROBLEMS, Kind.BUSY),
)
def get_regression(survey: str) -> ResponseReturnValue:
    published = find(survey)
    given = parameters(published, REGRESSION)
    question, answer, on = given.question("question").id, given.one("answer") or "yes", given.segments("on")
    with here().long_computation():
        return as_json(explain(analysis(published), question, answer, on, given.asked()))


@results.get("/surveys/<survey>/reports.csv")
@requires("analyst")
@documented("All randomised reports and segments, in no order that means anything.", role="analyst", gives="text/csv")
def get_reports(survey: str) -> ResponseReturnValue:
    document = (published := find(survey)).document
    reading = ExitStack()
    submissions = reading.enter_context(here().storage.submissions(published))
    # Gone through twice, first for the length: a download that breaks off half-way is then seen to be incomplete.
    try:
        length = sum(len(piece) for piece in csv_pieces(report_rows(document, submissions)))
    except BaseException:
        reading.close()
        raise

    def pieces() -> Iterator[bytes]:
        with reading:
            yield from csv_pieces(report_rows(document, submissions))

    response = as_csv(survey, "reports", pieces())
    response.headers["Content-Length"] = str(length)
    response.call_on_close(reading.close)  # where nobody goes through the pieces, as for HEAD
    return response


def as_csv(survey: str, name: str, pieces: Iterable[bytes]) -> Response:
    response = Response(pieces, content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{survey}-{name}.csv"'
    response.headers["Cache-Control"] = "no-store"
    return response
