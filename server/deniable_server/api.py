"""The HTTP interface, version 1: surveys and submissions for anyone, the rest by role."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import islice
from typing import Any

import msgspec
from flask import Blueprint, Response, current_app, request
from flask.typing import ResponseReturnValue
from msgspec import Struct

from deniable_protocol import Submission, publish, survey_from_tree
from deniable_protocol.checks import strict_json
from deniable_protocol.document import MAX_BYTES

from .access import requires
from .analysis import Asked, SurveyEstimates, estimate_survey
from .installation import Installation
from .intake import NotJSON
from .openapi import documented
from .problems import Kind, Refusal
from .storage import Listed, Published
from .tallies import Content

api = Blueprint("api", __name__)

CSV_ROWS = 1_000


class Stored(Struct, frozen=True):
    """The answer to a submission: how many are stored now, and how many were known already."""

    accepted: int
    duplicates: int


class Batch(Struct, frozen=True):
    """Up to 10,000 submissions that are stored together or not at all."""

    submissions: list[Submission]


class PublishedSurvey(Struct, frozen=True):
    """What publishing or closing gives back."""

    id: str
    digest: str
    status: str


class SurveyList(Struct, frozen=True):
    """All surveys."""

    surveys: list[Listed]


def here() -> Installation:
    """The installation that the current request belongs to."""
    installation: Installation = current_app.extensions["deniable"]
    return installation


def as_json(value: object, status: int = 200) -> Response:
    response = Response(msgspec.json.encode(value), status, content_type="application/json")
    response.headers["Cache-Control"] = "no-store"
    return response


def find(survey: str) -> Published:
    published = here().storage.find(survey)
    if published is None:
        raise Refusal(Kind.NOT_FOUND, "No survey has this id.")
    return published


def read_body(limit: int) -> bytes:
    """The body of a request, refused by its length before anything is parsed."""
    if request.mimetype != "application/json" or request.headers.get("Content-Encoding", "identity") != "identity":
        raise Refusal(Kind.MEDIA_TYPE, "Send  Content-Type: application/json  and no Content-Encoding.")
    # One byte more than allowed is read at most: of a body without a stated length, too much is noticed only then.
    request.max_content_length = limit + 1
    body = request.get_data(cache=False)
    if len(body) > limit:
        raise Refusal(Kind.TOO_LARGE, f"At most {limit} bytes.")
    return body


@api.get("/surveys/<survey>")
@documented("The published document, byte for byte; its SHA-256 is in the header Deniable-Digest.", gives=dict)
def get_survey(survey: str) -> ResponseReturnValue:
    published = find(survey)
    response = Response(published.published, content_type="application/json")
    response.headers["Deniable-Digest"] = published.document.digest
    response.headers["Cache-Control"] = "no-store"
    return response


@api.post("/surveys/<survey>/submissions")
@documented(
    "Store one submission, or a batch: all or none. Answers once they are on disk. The same again is a duplicate.",
    takes=(Submission, Batch),
    gives=Stored,
    status=201,
    problems=(
        Kind.NOT_JSON,
        Kind.CONFLICT,
        Kind.WRONG_DIGEST,
        Kind.CLOSED,
        Kind.TOO_LARGE,
        Kind.MEDIA_TYPE,
        Kind.INVALID,
        Kind.RATE_LIMIT,
        Kind.UNAVAILABLE,
    ),
)
def post_submissions(survey: str) -> ResponseReturnValue:
    installation = here()
    if installation.rate_limit is not None:
        installation.rate_limit.spend(request.remote_addr)
    published = find(survey)
    rows = installation.intake(published).read(read_body(installation.settings.max_body_bytes))
    with installation.metrics.storing():
        stored = installation.storage.accept(published, rows)
    installation.metrics.stored(*stored)
    return as_json(Stored(*stored), 201)


@api.post("/surveys")
@requires("admin")
@documented(
    "Publish a survey. 200 where it is already there unchanged.",
    role="admin",
    takes=(dict,),
    gives=PublishedSurvey,
    status=201,
    also=(200,),
    problems=(Kind.NOT_JSON, Kind.DIFFERS, Kind.TOO_LARGE, Kind.MEDIA_TYPE, Kind.INVALID, Kind.UNAVAILABLE),
)
def post_survey() -> ResponseReturnValue:
    try:
        tree = strict_json(read_body(MAX_BYTES).decode())
    except ValueError:
        raise NotJSON from None
    survey = survey_from_tree(tree)
    created = here().storage.publish(publish(survey))
    return as_json(_described(survey.id), 201 if created else 200)


@api.post("/surveys/<survey>/close")
@requires("admin")
@documented(
    "Close a survey: it takes no more submissions, and the order in which they came is wiped from the files.",
    role="admin",
    gives=PublishedSurvey,
    problems=(Kind.UNAVAILABLE,),
)
def close_survey(survey: str) -> ResponseReturnValue:
    here().storage.close_survey(find(survey))
    return as_json(_described(survey))


@api.get("/surveys")
@requires("analyst")
@documented("All surveys, with their status and number of submissions.", role="analyst", gives=SurveyList)
def list_surveys() -> ResponseReturnValue:
    return as_json(SurveyList(here().storage.surveys()))


@api.get("/surveys/<survey>/estimates")
@requires("analyst")
@documented(
    "Population shares and means with confidence intervals.",
    role="analyst",
    gives=SurveyEstimates,
    query={
        "confidence": "Between 0.5 and 0.9999; 0.95 where it is left out.",
        "where": "segment:code, to count only these; can be repeated.",
        "by": "A segment, to give the estimates of each of its groups too.",
    },
    problems=(Kind.BAD_PARAMETER,),
)
def get_estimates(survey: str) -> ResponseReturnValue:
    published = find(survey)
    asked = Asked.from_query(published.document.survey, request.args)
    storage = here().storage
    return as_json(estimate_survey(published, storage.status(published), storage.statistics(published), asked))


@api.get("/surveys/<survey>/reports.csv")
@requires("analyst")
@documented("All randomised reports and segments, in no order that means anything.", role="analyst", gives="text/csv")
def get_reports(survey: str) -> ResponseReturnValue:
    published = find(survey)
    reading = ExitStack()
    submissions = reading.enter_context(here().storage.submissions(published))
    # Gone through twice, first for the length: a download that breaks off half-way is then seen to be incomplete.
    try:
        length = sum(len(piece) for piece in report_lines(published, submissions))
    except BaseException:
        reading.close()
        raise

    def pieces() -> Iterator[bytes]:
        with reading:
            yield from report_lines(published, submissions)

    response = Response(pieces(), content_type="text/csv; charset=utf-8")
    response.headers["Content-Length"] = str(length)
    response.headers["Content-Disposition"] = f'attachment; filename="{survey}-reports.csv"'
    response.headers["Cache-Control"] = "no-store"
    response.call_on_close(reading.close)  # where nobody goes through the pieces, as for HEAD
    return response


def report_lines(published: Published, submissions: Iterable[tuple[bytes, Content]]) -> Iterator[bytes]:
    """The ids of submissions are left out: with them, a receipt would point at its row."""
    survey = published.document.survey
    codes = [[option.code for option in segment.options] for segment in survey.segments]
    rows = (
        [*(known[i] for known, i in zip(codes, content.segments, strict=True)), *content.reports]
        for _, content in submissions
    )
    lines: list[list[Any]] = [[asked.id for asked in (*survey.segments, *survey.questions)]]
    while lines:
        buffer = io.StringIO()
        csv.writer(buffer, lineterminator="\n").writerows(lines)
        yield buffer.getvalue().encode()
        lines = list(islice(rows, CSV_ROWS))


def _described(survey: str) -> PublishedSurvey:
    published = find(survey)
    return PublishedSurvey(survey, published.document.digest, here().storage.status(published))
