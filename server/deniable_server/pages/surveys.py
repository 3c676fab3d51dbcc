"""Surveys as their owners see them: the list, publishing, closing, and links to share results."""

from __future__ import annotations

import codecs

from flask import Blueprint, redirect, request, url_for
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import RequestEntityTooLarge

from deniable_protocol import Problem, SurveyError, parse_survey
from deniable_protocol.checks import SURVEY_ID
from deniable_protocol.document import MAX_BYTES
from deniable_server.errors import Kind, Refusal, SurveyDiffers
from deniable_server.planning import plan_survey
from deniable_server.planning.words import (
    DESIGNS,
    chance,
    change_found,
    points,
    rotation_in_words,
    short,
    shuffled_in_words,
    waves_in_words,
    within,
)
from deniable_server.storage import Role, Token
from deniable_server.storage.tokens import make_token
from deniable_server.web.auth import signed_in
from deniable_server.web.context import compute, find, here

from .fieldwork import schedule_in_words
from .layout import page, shown_to
from .message import messages
from .progress import list_items, matching
from .qr_code import svg_code

surveys = Blueprint("surveys", __name__, template_folder="templates")

COMPARED = ("booklets", "split", "laplace", "gaussian", "curator", "open")
"""The other designs that the plan of a survey is compared with."""
LINK_DAYS = (1, 7, 30, 90, 365)


@surveys.get("/")
@shown_to("analyst")
def index() -> ResponseReturnValue:
    words, archived = " ".join(request.args.get("q", "").split())[:100], request.args.get("archived") == "1"
    every = here().storage.surveys()
    return page(
        "surveys.html",
        items=list_items(matching(every, words, archived=archived)),
        total=len(every),
        in_archive=sum(each.archived_on is not None for each in every),
        words=words,
        archived=archived,
        deleted=_deleted(request.args.get("deleted", "")),
    )


def _deleted(survey: str) -> str | None:
    """The id of a survey that was deleted just now: nothing else can be put on the page by a link."""
    return survey if SURVEY_ID.fullmatch(survey) and here().storage.find(survey) is None else None


# --- publishing ------------------------------------------------------------------------------------------------------


@surveys.get("/publish")
@shown_to("admin")
def draft() -> ResponseReturnValue:
    return page("publish.html", text="", problems=[])


@surveys.post("/publish")
@shown_to("admin")
def publish_survey() -> ResponseReturnValue:
    """First checks the survey and shows its plan. Publishes it when that is confirmed."""
    text, step = "", request.form.get("step")
    try:
        text = _survey_text()
        if step == "edit":
            return page("publish.html", text=text, problems=[])
        survey = parse_survey(text, syntax="json" if text.lstrip().startswith("{") else "toml")
    except SurveyError as error:
        return page("publish.html", 422, text=text, problems=error.problems)
    try:
        if step == "publish":
            here().publish(survey, _holder())
            return redirect(url_for("progress.next_step", survey=survey.id), 303)
        is_published = here().is_published(survey)
    except SurveyDiffers:
        taken = Problem("id", "differs", "another survey is already published with this id. Choose another id")
        return page("publish.html", 409, text=text, problems=[taken])
    return page(
        "plan.html",
        text=text,
        survey=survey,
        plan=(plan := compute(plan_survey, survey)),
        others=[(*DESIGNS[other.design], other) for other in plan.alternatives if other.design in COMPARED],
        published=is_published,
        shuffled=shuffled_in_words(plan),
        chance=chance,
        change_found=change_found,
        points=points,
        rotation_in_words=rotation_in_words,
        short=short,
        waves_in_words=waves_in_words,
        within=within,
    )


def _survey_text() -> str:
    """The file that was chosen, or else what was typed."""
    file = request.files.get("file")
    if file is None or not file.filename:
        return request.form.get("survey", "").replace("\r\n", "\n")
    raw = file.stream.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise RequestEntityTooLarge
    try:
        return raw.removeprefix(codecs.BOM_UTF8).decode().replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise SurveyError([Problem("", "encoding", "the file is not text in UTF-8")]) from None


# --- closing ---------------------------------------------------------------------------------------------------------


@surveys.get("/surveys/<survey>/close")
@shown_to("editor")
def ask_to_close(survey: str) -> ResponseReturnValue:
    published = find(survey)
    return page("close.html", survey=published.document.survey, status=here().storage.status(published))


@surveys.post("/surveys/<survey>/close")
@shown_to("editor")
def close(survey: str) -> ResponseReturnValue:
    here().close(find(survey), _holder())
    return redirect(url_for("dashboard.overview", survey=survey), 303)


# --- holding results back --------------------------------------------------------------------------------------------


@surveys.get("/surveys/<survey>/hold")
@shown_to("editor")
def ask_to_hold(survey: str) -> ResponseReturnValue:
    return _holding(survey)


@surveys.post("/surveys/<survey>/hold")
@shown_to("editor")
def hold(survey: str) -> ResponseReturnValue:
    published = find(survey)
    number = request.form.get("number", "").replace(",", "").strip()
    until: int | None = 0
    match request.form.get("until"):
        case "closed":
            until = None
        case "number":
            if not (number.isascii() and number.isdecimal() and 1 <= len(number) <= 12):
                return _holding(survey, "Give a whole number of submissions, such as 1000.")
            until = int(number)
    here().hold_results(published, until, _holder())
    return redirect(url_for("dashboard.overview", survey=survey), 303)


def _holding(survey: str, problem: str = "") -> ResponseReturnValue:
    published, storage = find(survey), here().storage
    return page(
        "hold.html",
        422 if problem else 200,
        survey=published.document.survey,
        status=storage.status(published),
        until=storage.results_from(published),
        submissions=sum(storage.days(published).values()),
        problem=problem,
    )


# --- sharing ---------------------------------------------------------------------------------------------------------


@surveys.get("/surveys/<survey>/share")
@shown_to("analyst")
def sharing(survey: str) -> ResponseReturnValue:
    return _sharing(survey)


@surveys.post("/surveys/<survey>/share")
@shown_to("analyst")
def share(survey: str) -> ResponseReturnValue:
    find(survey)
    days = request.form.get("days", "")
    if days not in map(str, LINK_DAYS):
        raise Refusal(Kind.BAD_PARAMETER, f"A link works for {', '.join(map(str, LINK_DAYS))} days.")
    label = " ".join(request.form.get("label", "").split())[:100]
    secret, made = make_token(here().storage, "reader", label, survey=survey, days=int(days), maker=_holder())
    here().events.did("link-made", _holder(), link=made.id, survey=survey)
    return _sharing(survey, url_for("sign_in.shared", secret=secret, _external=True), made.expires_on)


@surveys.post("/surveys/<survey>/share/<link>/revoke")
@shown_to("analyst")
def revoke(survey: str, link: str) -> ResponseReturnValue:
    if any(token.id == link for token in _tokens(survey, "reader")):
        here().storage.tokens.revoke(link)
        here().events.did("link-revoked", _holder(), link=link, survey=survey)
    return redirect(url_for("surveys.sharing", survey=survey), 303)


def _holder() -> Token:
    token = signed_in()
    assert token is not None
    return token


def _tokens(survey: str, role: Role) -> list[Token]:
    return [token for token in here().storage.tokens.all() if token.survey == survey and token.role == role]


def _snippet(link: str) -> str:
    """What puts the questionnaire on another page."""
    script = url_for("static_files.deniable_js", _external=True)
    return f'<script type="module" src="{script}"></script>\n<deniable-survey src="{link}"></deniable-survey>'


def _sharing(survey: str, made: str | None = None, until: str | None = None) -> ResponseReturnValue:
    published = find(survey)
    storage = here().storage
    link = f"{url_for('respondent.survey_page', survey=survey, _external=True)}#{published.document.digest}"
    return page(
        "share.html",
        survey=published.document.survey,
        digest=published.document.digest,
        link=link,
        code=svg_code(link),
        snippet=_snippet(link),
        messages=messages(published.document, link),
        new=request.args.get("new") == "1",
        schedule=schedule_in_words(storage.status(published), storage.fieldwork(published)),
        server=request.url_root.rstrip("/"),
        status=storage.status(published),
        links=[(token, storage.tokens.is_valid(token)) for token in _tokens(survey, "reader")],
        collectors=_tokens(survey, "collector"),
        days=LINK_DAYS,
        made=made,
        until=until,
    )
