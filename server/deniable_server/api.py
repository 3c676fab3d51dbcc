"""The HTTP interface, version 1: surveys and submissions. What analysts read is in ``results``."""

from __future__ import annotations

import msgspec
from flask import Blueprint, Response, current_app, request
from flask.typing import ResponseReturnValue
from msgspec import Struct

from deniable_protocol import Submission, publish, survey_from_tree
from deniable_protocol.checks import strict_json
from deniable_protocol.document import MAX_BYTES

from .access import acting, requires
from .installation import Installation
from .intake import NotJSON
from .openapi import documented
from .problems import Kind, Refusal
from .storage import Listed, Published

api = Blueprint("api", __name__)


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
    headers = [("Content-Type", "application/json"), ("Cache-Control", "no-store")]
    return Response(msgspec.json.encode(value), status, headers)


def find(survey: str) -> Published:
    published = here().storage.find(survey)
    if published is None:
        raise Refusal(Kind.NOT_FOUND, "No survey has this id.")
    return published


def read_body(limit: int) -> bytes:
    """The body of a request, refused by its length before anything is parsed."""
    if request.mimetype != "application/json" or request.headers.get("Content-Encoding", "identity") != "identity":
        raise Refusal(Kind.MEDIA_TYPE, "Send  Content-Type: application/json  and no Content-Encoding.")
    stated = request.content_length
    # One byte more than allowed is read at most: of a body without a stated length, too much is noticed only then.
    request.max_content_length = limit + 1
    if (stated or 0) > limit or len(body := request.stream.read()) > limit:
        raise Refusal(Kind.TOO_LARGE, f"At most {limit} bytes.")
    if stated is not None and len(body) != stated:
        raise Refusal(Kind.INCOMPLETE, "Nothing was stored. Try again, with the same content.")
    return body


@api.get("/surveys/<survey>")
@documented(
    "The published document, byte for byte; its SHA-256 is in Deniable-Digest, open or closed in Deniable-Status.",
    gives=dict,
)
def get_survey(survey: str) -> ResponseReturnValue:
    published = find(survey)
    response = Response(published.published, content_type="application/json")
    response.headers["Deniable-Digest"] = published.document.digest
    # So that a page can say it before somebody has filled in all of it. A submission is judged when it comes.
    response.headers["Deniable-Status"] = here().storage.status(published)
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
        Kind.INCOMPLETE,
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
    installation.admit(request.remote_addr)
    published = find(survey)
    stored = installation.store(published, read_body(installation.settings.max_body_bytes))
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
    problems=(
        Kind.NOT_JSON,
        Kind.INCOMPLETE,
        Kind.DIFFERS,
        Kind.TOO_LARGE,
        Kind.MEDIA_TYPE,
        Kind.INVALID,
        Kind.UNAVAILABLE,
    ),
)
def post_survey() -> ResponseReturnValue:
    try:
        tree = strict_json(read_body(MAX_BYTES).decode())
    except ValueError:
        raise NotJSON from None
    survey = survey_from_tree(tree)
    created = here().storage.publish(publish(survey))
    here().events.did("survey-published", acting(), survey=survey.id)
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
    here().events.did("survey-closed", acting(), survey=survey)
    return as_json(_described(survey))


@api.get("/surveys")
@requires("analyst")
@documented("All surveys, with their status and number of submissions.", role="analyst", gives=SurveyList)
def list_surveys() -> ResponseReturnValue:
    return as_json(SurveyList(here().storage.surveys()))


def _described(survey: str) -> PublishedSurvey:
    published = find(survey)
    return PublishedSurvey(survey, published.document.digest, here().storage.status(published))
