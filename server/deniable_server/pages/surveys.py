"""Surveys as their owners see them: the list, closing, and links to share results."""

from __future__ import annotations

from flask import Blueprint, Response, redirect, request, url_for
from flask.typing import ResponseReturnValue

from deniable_protocol.checks import SURVEY_ID
from deniable_server import editing
from deniable_server.errors import Kind, Refusal
from deniable_server.storage import Published, Token
from deniable_server.storage.drafts import Draft
from deniable_server.storage.tokens import make_token
from deniable_server.web.auth import may, may_edit, readable
from deniable_server.web.context import find, here

from .fieldwork import schedule_in_words
from .layout import holder, home, page, shown_to
from .message import messages
from .progress import list_items, matching
from .qr_code import code_file, svg_code

surveys = Blueprint("surveys", __name__, template_folder="templates")

LINK_DAYS = (1, 7, 30, 90, 365)
CODE_TYPES = {"svg": "image/svg+xml; charset=utf-8", "png": "image/png"}


@surveys.get("/")
@shown_to("reader")
def index() -> ResponseReturnValue:
    """The surveys that one may see. Readers of one survey need no list."""
    if home(holder()) != url_for("surveys.index"):
        return redirect(home(holder(), elsewhere=1), 303)
    words, archived = " ".join(request.args.get("q", "").split())[:100], request.args.get("archived") == "1"
    every = readable(holder())
    return page(
        "surveys.html",
        items=list_items(matching(every, words, archived=archived)),
        is_analyst_of=lambda survey: may(holder(), "analyst", survey.id),
        total=len(every),
        in_archive=sum(each.archived_on is not None for each in every),
        words=words,
        archived=archived,
        drafts=_drafts(),
        deleted=_deleted(request.args.get("deleted", "")),
    )


def _drafts() -> list[tuple[Draft, str]]:
    """The drafts that this person may change, with their titles."""
    token = holder()
    mine = [draft for draft in here().storage.drafts.all() if may_edit(token, draft.maker)]
    return [(draft, editing.read(draft.content).title) for draft in mine]


def _deleted(survey: str) -> str | None:
    """The id of a survey that was deleted just now: nothing else can be put on the page by a link."""
    return survey if SURVEY_ID.fullmatch(survey) and here().storage.find(survey) is None else None


# --- closing ---------------------------------------------------------------------------------------------------------


@surveys.get("/surveys/<survey>/close")
@shown_to("editor")
def ask_to_close(survey: str) -> ResponseReturnValue:
    published = find(survey)
    return page("close.html", survey=published.document.survey, status=here().storage.status(published))


@surveys.post("/surveys/<survey>/close")
@shown_to("editor")
def close(survey: str) -> ResponseReturnValue:
    here().close(find(survey), holder())
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
    here().hold_results(published, until, holder())
    return redirect(url_for("dashboard.overview", survey=survey), 303)


def _holding(survey: str, problem: str = "") -> ResponseReturnValue:
    published = find(survey)
    state = here().storage.state(published)
    return page(
        "hold.html",
        422 if problem else 200,
        survey=published.document.survey,
        status=state.status,
        until=state.results_from,
        submissions=state.submissions,
        problem=problem,
    )


# --- sharing ---------------------------------------------------------------------------------------------------------


@surveys.get("/surveys/<survey>/share")
@shown_to("analyst")
def sharing(survey: str) -> ResponseReturnValue:
    return _sharing(survey)


@surveys.get("/surveys/<survey>/share/code.svg", defaults={"kind": "svg"})
@surveys.get("/surveys/<survey>/share/code.png", defaults={"kind": "png"})
@shown_to("analyst")
def code(survey: str, kind: str) -> ResponseReturnValue:
    """The QR code of the link for respondents, as a file."""
    response = Response(code_file(_link(find(survey)), kind), content_type=CODE_TYPES[kind])
    response.headers["Content-Disposition"] = f'attachment; filename="{survey}.{kind}"'
    response.headers["Cache-Control"] = "no-store"
    return response


@surveys.post("/surveys/<survey>/share")
@shown_to("analyst")
def share(survey: str) -> ResponseReturnValue:
    find(survey)
    days = request.form.get("days", "")
    if days not in map(str, LINK_DAYS):
        raise Refusal(Kind.BAD_PARAMETER, f"A link works for {', '.join(map(str, LINK_DAYS))} days.")
    label = " ".join(request.form.get("label", "").split())[:100]
    secret, made = make_token(
        here().storage, "reader", label, surveys={survey: "reader"}, days=int(days), maker=holder()
    )
    here().events.did("link-made", holder(), {"for": label}, link=made.id, survey=survey)
    return _sharing(survey, url_for("sign_in.shared", secret=secret, _external=True), made.expires_on)


@surveys.post("/surveys/<survey>/share/<link>/revoke")
@shown_to("analyst")
def revoke(survey: str, link: str) -> ResponseReturnValue:
    for token in _links(survey):
        if token.id == link:
            here().storage.tokens.revoke(link)
            here().events.did("link-revoked", holder(), {"for": token.label}, link=link, survey=survey)
    return redirect(url_for("surveys.sharing", survey=survey), 303)


def _links(survey: str) -> list[Token]:
    """Those that share its results. Access tokens of people are not among them: only admins see and revoke those."""
    return [token for token in here().storage.tokens.all() if token.is_link and token.role_on(survey) is not None]


def _link(published: Published) -> str:
    """The link for respondents, which pins the survey."""
    document = published.document
    return f"{url_for('respondent.survey_page', survey=document.survey.id, _external=True)}#{document.digest}"


def _snippet(link: str) -> str:
    """What puts the questionnaire on another page."""
    script = url_for("static_files.deniable_js", _external=True)
    return f'<script type="module" src="{script}"></script>\n<deniable-survey src="{link}"></deniable-survey>'


def _sharing(survey: str, made: str | None = None, until: str | None = None) -> ResponseReturnValue:
    published = find(survey)
    storage = here().storage
    link = _link(published)
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
        status=storage.status(published),
        links=[(token, storage.tokens.is_valid(token)) for token in _links(survey)],
        collectors=[token for token in storage.tokens.all() if token.role_on(survey) == "collector"],
        days=LINK_DAYS,
        made=made,
        until=until,
    )
