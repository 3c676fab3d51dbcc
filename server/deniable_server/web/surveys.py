"""Surveys over HTTP: read the published document, publish, close, list."""

from __future__ import annotations

from flask import Blueprint, Response
from flask.typing import ResponseReturnValue
from msgspec import Struct

from deniable_protocol import survey_from_tree
from deniable_protocol.checks import strict_json
from deniable_protocol.document import MAX_BYTES
from deniable_server.errors import Kind, NotJSON
from deniable_server.storage import Listed

from .auth import acting
from .context import as_json, find, here, read_body
from .routes import route

surveys = Blueprint("api", __name__)


class PublishedSurvey(Struct, frozen=True):
    """What publishing or closing gives back."""

    id: str
    digest: str
    status: str


class SurveyList(Struct, frozen=True):
    """All surveys."""

    surveys: list[Listed]


@route(
    surveys,
    "GET",
    "/surveys/<survey>",
    "The published document, byte for byte; its SHA-256 is in Deniable-Digest, open or closed in Deniable-Status.",
    gives=dict,
)
def get_survey(survey: str) -> ResponseReturnValue:
    published = find(survey)
    response = Response(published.raw, content_type="application/json")
    response.headers["Deniable-Digest"] = published.document.digest
    # So that a page can say it before somebody has filled in all of it. A submission is judged when it comes.
    response.headers["Deniable-Status"] = here().storage.status(published)
    response.headers["Cache-Control"] = "no-store"
    return response


@route(
    surveys,
    "POST",
    "/surveys",
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
    created = here().publish(survey, acting())
    return as_json(_described(survey.id), 201 if created else 200)


@route(
    surveys,
    "POST",
    "/surveys/<survey>/close",
    "Close a survey: it takes no more submissions, and the order in which they came is wiped from the files.",
    role="admin",
    gives=PublishedSurvey,
    problems=(Kind.UNAVAILABLE,),
)
def close_survey(survey: str) -> ResponseReturnValue:
    here().close(find(survey), acting())
    return as_json(_described(survey))


@route(
    surveys,
    "GET",
    "/surveys",
    "All surveys, with their status and number of submissions.",
    role="analyst",
    gives=SurveyList,
)
def list_surveys() -> ResponseReturnValue:
    return as_json(SurveyList(here().storage.surveys()))


def _described(survey: str) -> PublishedSurvey:
    published = find(survey)
    return PublishedSurvey(survey, published.document.digest, here().storage.status(published))
