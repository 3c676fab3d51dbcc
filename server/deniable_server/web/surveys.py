"""Surveys over HTTP: read the published document, plan, publish, close, list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from flask import Blueprint, Response, request
from flask.typing import ResponseReturnValue
from msgspec import Meta, Struct, ValidationError, convert
from msgspec.structs import asdict

from deniable_protocol import Survey, parse_survey, survey_from_tree
from deniable_protocol.checks import strict_json
from deniable_protocol.document import MAX_BYTES
from deniable_server.errors import Kind, NotJSON, Refusal
from deniable_server.planning import SurveyPlan, plan_survey, warn_of_exposure
from deniable_server.storage import Listed

from .auth import acting
from .context import as_json, compute, find, here, read_body
from .routes import route

surveys = Blueprint("api", __name__)

TOML = "application/toml"
MAX_HOLD = 1_000  # bytes


class PublishedSurvey(Struct, frozen=True):
    """What holding back or closing gives back. ``held_until``: as in Hold."""

    id: str
    digest: str
    status: str
    held_until: Literal["closed"] | int


class NewSurvey(PublishedSurvey, frozen=True):
    """What publishing gives back. ``warnings``: what exposes respondents more than it should, a sentence each."""

    warnings: list[str]


class Hold(Struct, frozen=True, forbid_unknown_fields=True):
    """Until when results are held back: "closed", or a number of submissions; 0 shows them."""

    until: Literal["closed"] | Annotated[int, Meta(ge=0, le=10**12)]


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
    gives=NewSurvey,
    status=201,
    also=(200,),
    problems=(
        Kind.NOT_JSON,
        Kind.INCOMPLETE,
        Kind.DIFFERS,
        Kind.TOO_LARGE,
        Kind.MEDIA_TYPE,
        Kind.INVALID,
        Kind.BUSY,
        Kind.UNAVAILABLE,
    ),
)
def post_survey() -> ResponseReturnValue:
    survey = _sent_survey()
    created = here().publish(survey, acting())
    warnings = warn_of_exposure(find(survey.id).document)
    return as_json(NewSurvey(**asdict(_described(survey.id)), warnings=warnings), 201 if created else 200)


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
    "POST",
    "/surveys/<survey>/hold",
    "Hold the results of an open survey back, from everybody, until it is closed or has so many submissions; 0: show.",
    role="admin",
    takes=(Hold,),
    gives=PublishedSurvey,
    problems=(Kind.NOT_JSON, Kind.INCOMPLETE, Kind.TOO_LARGE, Kind.MEDIA_TYPE, Kind.INVALID, Kind.UNAVAILABLE),
)
def hold_results(survey: str) -> ResponseReturnValue:
    published = find(survey)
    tree = _sent_json(MAX_HOLD)
    try:
        until = convert(tree, Hold).until
    except ValidationError:
        raise Refusal(Kind.INVALID, 'Send {"until": "closed"}, or a number of submissions from 0.') from None
    here().hold_results(published, None if until == "closed" else until, acting())
    return as_json(_described(survey))


@route(
    surveys,
    "GET",
    "/surveys",
    "All surveys, with their status and number of submissions. A test run has the number of its draft.",
    role="analyst",
    gives=SurveyList,
)
def list_surveys() -> ResponseReturnValue:
    return as_json(SurveyList(here().storage.surveys(test_runs=True)))


@route(
    surveys,
    "POST",
    "/plan",
    "The plan of a survey that is not yet published: what it will know, from how many respondents, and its booklets.",
    role="admin",
    takes=(dict, TOML),
    gives=SurveyPlan,
    problems=(Kind.NOT_JSON, Kind.INCOMPLETE, Kind.TOO_LARGE, Kind.MEDIA_TYPE, Kind.INVALID, Kind.BUSY),
)
def post_plan() -> ResponseReturnValue:
    return as_json(compute(plan_survey, _sent_survey()))


def _sent_survey() -> Survey:
    """The survey in the body of the request."""
    if request.mimetype == TOML:
        return parse_survey(read_body(MAX_BYTES, (TOML,)))
    return survey_from_tree(_sent_json(MAX_BYTES, ("application/json", TOML)))


def _sent_json(limit: int, kinds: Sequence[str] = ("application/json",)) -> Any:
    try:
        return strict_json(read_body(limit, kinds).decode())
    except ValueError:
        raise NotJSON from None


def _described(survey: str) -> PublishedSurvey:
    published = find(survey)
    storage = here().storage
    until = storage.results_from(published)
    return PublishedSurvey(
        survey, published.document.digest, storage.status(published), "closed" if until is None else until
    )
