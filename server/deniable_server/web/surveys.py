"""Surveys over HTTP: read the published document, plan, publish, close, list."""

from __future__ import annotations

from flask import Blueprint, Response, request
from flask.typing import ResponseReturnValue
from msgspec import Struct

from deniable_protocol import Survey, parse_survey, survey_from_tree
from deniable_protocol.checks import strict_json
from deniable_protocol.document import MAX_BYTES
from deniable_server.errors import Kind, NotJSON
from deniable_server.planning import SurveyPlan, plan_survey
from deniable_server.storage import Listed

from .auth import acting
from .context import as_json, find, here, read_body
from .routes import route

surveys = Blueprint("api", __name__)

TOML = "application/toml"


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
    "Publish a survey, as a file has it (TOML or JSON). 200 where it is already there unchanged.",
    role="admin",
    takes=(dict, TOML),
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
    survey = _sent_survey()
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


@route(
    surveys,
    "POST",
    "/plan",
    "The plan of a survey that is not yet published: what it will know, from how many respondents, and its booklets.",
    role="admin",
    takes=(dict, TOML),
    gives=SurveyPlan,
    problems=(Kind.NOT_JSON, Kind.INCOMPLETE, Kind.TOO_LARGE, Kind.MEDIA_TYPE, Kind.INVALID),
)
def post_plan() -> ResponseReturnValue:
    return as_json(plan_survey(_sent_survey()))


def _sent_survey() -> Survey:
    """The survey in the body of the request."""
    body = read_body(MAX_BYTES, ("application/json", TOML))
    if request.mimetype == TOML:
        return parse_survey(body)
    try:
        tree = strict_json(body.decode())
    except ValueError:
        raise NotJSON from None
    return survey_from_tree(tree)


def _described(survey: str) -> PublishedSurvey:
    published = find(survey)
    return PublishedSurvey(survey, published.document.digest, here().storage.status(published))
