"""Surveys over HTTP: read the published document, plan, publish, schedule, close, delete, list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict as fields_of
from datetime import datetime
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
from deniable_server.storage import Fieldwork, Listed, Status
from deniable_server.storage.fieldwork import moment

from .auth import acting, readable
from .context import as_json, compute, find, here, read_body
from .routes import route

surveys = Blueprint("api", __name__)

TOML = "application/toml"
MAX_SMALL = 1_000  # bytes


class PublishedSurvey(Struct, frozen=True):
    """What scheduling, holding back or closing gives back. ``held_until``: as in Hold; the rest as in Schedule."""

    id: str
    digest: str
    status: Status
    held_until: Literal["closed"] | int
    opens_at: str | None
    closes_at: str | None
    stop_at: int | None


class NewSurvey(PublishedSurvey, frozen=True):
    """What publishing gives back. ``warnings``: what exposes respondents more than it should, a sentence each."""

    warnings: list[str]


class Hold(Struct, frozen=True, forbid_unknown_fields=True):
    """Until when results are held back: "closed", or a number of submissions; 0 shows them."""

    until: Literal["closed"] | Annotated[int, Meta(ge=0, le=10**12)]


class Schedule(Struct, frozen=True, forbid_unknown_fields=True):
    """When a survey opens and closes, such as 2026-11-23T08:00:00Z, and at how many submissions it is closed. What is
    left out or null: it is open at once; until somebody closes it; any number.
    """

    opens_at: Annotated[datetime, Meta(tz=True)] | None = None
    closes_at: Annotated[datetime, Meta(tz=True)] | None = None
    stop_at: int | None = None


class DeletedSurvey(Struct, frozen=True):
    """What deleting gives back: the id of the survey that is gone."""

    deleted: str


class SurveyInList(Struct, frozen=True):
    """A survey in the list. ``expected``: how many respondents were planned for. Times as in Schedule. ``draft``: the
    number of the draft that it is a test run of.
    """

    id: str
    title: str
    digest: str
    status: Status
    submissions: int
    published_on: str
    closed_on: str | None
    expected: int | None
    archived_on: str | None
    opens_at: str | None
    closes_at: str | None
    stop_at: int | None
    draft: int | None


class SurveyList(Struct, frozen=True):
    """Surveys."""

    surveys: list[SurveyInList]


@route(
    surveys,
    "GET",
    "/surveys/<survey>",
    "The published document, byte for byte; its SHA-256 is in Deniable-Digest; scheduled, open or closed in "
    "Deniable-Status. Of a scheduled survey, Deniable-Opens says when it opens.",
    gives=dict,
)
def get_survey(survey: str) -> ResponseReturnValue:
    published = find(survey)
    response = Response(published.raw, content_type="application/json")
    response.headers["Deniable-Digest"] = published.document.digest
    # So that a page can say it before somebody has filled in all of it. A submission is judged when it comes.
    storage = here().storage
    response.headers["Deniable-Status"] = status = storage.status(published)
    if status == "scheduled" and (opens_at := storage.fieldwork(published).opens_at) is not None:
        response.headers["Deniable-Opens"] = moment(opens_at)
    response.headers["Cache-Control"] = "no-store"
    return response


@route(
    surveys,
    "POST",
    "/surveys",
    "Publish a survey, as a file has it (TOML or JSON). 200 where it is already there unchanged.",
    role="editor",
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
    document = find(survey.id).document
    warnings = warn_of_exposure(document.survey, document.account)
    return as_json(NewSurvey(**asdict(_described(survey.id)), warnings=warnings), 201 if created else 200)


@route(
    surveys,
    "POST",
    "/surveys/<survey>/schedule",
    "Set when a survey opens and closes, and at how many submissions it is closed. What is left out is removed.",
    role="editor",
    takes=(Schedule,),
    gives=PublishedSurvey,
    problems=(
        Kind.NOT_JSON,
        Kind.INCOMPLETE,
        Kind.CLOSED,
        Kind.TOO_LARGE,
        Kind.MEDIA_TYPE,
        Kind.INVALID,
        Kind.UNAVAILABLE,
    ),
)
def schedule_survey(survey: str) -> ResponseReturnValue:
    published = find(survey)
    tree = _sent_json(MAX_SMALL)
    try:
        sent = convert(tree, Schedule)
    except ValidationError:
        example = '{"opens_at": "2026-11-23T08:00:00Z", "closes_at": null, "stop_at": 500}'
        raise Refusal(Kind.INVALID, f"Send  {example}.  Times say their zone, as Z or +01:00.") from None
    opens_at, closes_at = (None if time is None else int(time.timestamp()) for time in (sent.opens_at, sent.closes_at))
    here().schedule(published, Fieldwork(opens_at, closes_at, sent.stop_at), acting())
    return as_json(_described(survey))


@route(
    surveys,
    "DELETE",
    "/surveys/<survey>",
    "Delete a survey for good: its submissions, statistics, invitations and links. This cannot be undone.",
    role="admin",
    gives=DeletedSurvey,
    problems=(Kind.UNAVAILABLE,),
)
def delete_survey(survey: str) -> ResponseReturnValue:
    here().delete(find(survey), acting())
    return as_json(DeletedSurvey(survey))


@route(
    surveys,
    "POST",
    "/surveys/<survey>/close",
    "Close a survey: it takes no more submissions, and the order in which they came is wiped from the files.",
    role="editor",
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
    role="editor",
    takes=(Hold,),
    gives=PublishedSurvey,
    problems=(Kind.NOT_JSON, Kind.INCOMPLETE, Kind.TOO_LARGE, Kind.MEDIA_TYPE, Kind.INVALID, Kind.UNAVAILABLE),
)
def hold_results(survey: str) -> ResponseReturnValue:
    published = find(survey)
    tree = _sent_json(MAX_SMALL)
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
    "The surveys that the access token is for, with their status and number of submissions. Those who may edit a draft "
    "also see its test run, which has the number of the draft.",
    role="analyst",
    gives=SurveyList,
)
def list_surveys() -> ResponseReturnValue:
    return as_json(SurveyList([_listed(each) for each in readable(acting(), test_runs=True)]))


@route(
    surveys,
    "POST",
    "/plan",
    "The plan of a survey that is not yet published: what it will know, from how many respondents, and its booklets.",
    role="editor",
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
    state = storage.state(published)
    return PublishedSurvey(
        survey,
        published.document.digest,
        state.status,
        "closed" if state.results_from is None else state.results_from,
        **storage.fieldwork(published).written(),
    )


def _listed(listed: Listed) -> SurveyInList:
    fields = fields_of(listed) | listed.fieldwork.written()
    return SurveyInList(**{name: fields[name] for name in SurveyInList.__struct_fields__})
