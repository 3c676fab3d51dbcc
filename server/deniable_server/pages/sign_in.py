"""Signing in with an access token or a shared link, and signing out, here and elsewhere."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import NamedTuple

from flask import Blueprint, redirect, request, url_for
from flask.typing import ResponseReturnValue

from deniable_server.errors import Kind, Refusal
from deniable_server.storage import Session, Token
from deniable_server.storage.tokens import digest_of
from deniable_server.web.auth import IDLE_SECONDS, current_session, may, sign_out, signed_in
from deniable_server.web.auth import sign_in as begin_session
from deniable_server.web.context import as_json, find, here

from .layout import check_form, holder, home, page, shown_to

sign_in_pages = Blueprint("sign_in", __name__, template_folder="templates")


@sign_in_pages.get("/sign-in")
def sign_in() -> ResponseReturnValue:
    return page("sign-in.html", next=_local(request.args.get("next")), wrong=False)


@sign_in_pages.post("/sign-in")
def check_token() -> ResponseReturnValue:
    wrong = here().wrong_tokens
    wrong.spend(request.remote_addr, 0)
    check_form()
    token = here().storage.tokens.find(digest_of(request.form.get("token", "").strip()))
    target = _local(request.form.get("next"))
    if token is None or token.role == "collector":  # which only sends
        here().events.refused("unknown-token", token, way="form")
        wrong.spend(request.remote_addr)
        return page("sign-in.html", 403, next=target, wrong=True)
    # A link that somebody sent may lead a reader to what others see.
    response = redirect((token.role != "reader" and target) or home(token), 303)
    begin_session(response, token)
    return response


@sign_in_pages.post("/sign-out")
def leave() -> ResponseReturnValue:
    check_form()
    response = redirect(url_for("sign_in.sign_in"), 303)
    sign_out(response)
    return response


# --- where else one is signed in -------------------------------------------------------------------------------------


class Place(NamedTuple):
    """A session as its owner sees it: a name that opens nothing, and times (UTC) to recognise it by."""

    name: str
    began: str
    used: str
    is_this: bool


@sign_in_pages.get("/sessions")
@shown_to("analyst")
def sessions() -> ResponseReturnValue:
    return page("sessions.html", places=[_place(session) for session in _own_sessions()], wrong=False)


@sign_in_pages.post("/sessions")
@shown_to("analyst")
def end_sessions() -> ResponseReturnValue:
    """Ends the selected sessions. Asks for the token again, so that a browser left open cannot lock its owner out."""
    state, own_token, chosen = here(), holder(), set(request.form.getlist("session"))
    state.wrong_tokens.spend(request.remote_addr, 0)
    token = state.storage.tokens.find(digest_of(request.form.get("token", "").strip()))
    own = _own_sessions()
    if token is None or token != own_token:
        state.events.refused("unknown-token", own_token, way="sessions")
        state.wrong_tokens.spend(request.remote_addr)
        return page("sessions.html", 403, places=[_place(session) for session in own], wrong=True)
    for session in own:
        if _place(session).name in chosen:
            state.storage.tokens.end(session.digest)
            state.events.did("session-ended", token)
    return redirect(url_for("sign_in.sessions"), 303)


def _own_sessions() -> list[Session]:
    return here().storage.tokens.sessions(holder().id, int(time.time()))


def _place(session: Session) -> Place:
    def at(seconds: int) -> str:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")

    used = at(session.idle_at - IDLE_SECONDS)
    return Place(digest_of(session.digest)[:16], at(session.began_at), used, session.digest == current_session())


# --- shared links ----------------------------------------------------------------------------------------------------


@sign_in_pages.get("/shared/<secret>")
def shared(secret: str) -> ResponseReturnValue:
    """A page with a button, not the results at once: programs that open links in e-mails start no session. A program
    that asks for JSON learns which survey the link is for, and reads results with the secret as its access token.
    """
    wants_json = request.accept_mimetypes.best == "application/json"
    if not wants_json and (over := _expired_on(secret)):
        return page("expired.html", 410, over=over)
    token, survey = _shared(secret)
    if wants_json:
        return as_json({"survey": survey, "until": token.expires_on})
    return page("shared.html", survey=find(survey).document.survey, until=token.expires_on, secret=secret)


@sign_in_pages.post("/shared/<secret>")
def open_shared(secret: str) -> ResponseReturnValue:
    check_form()
    token, survey = _shared(secret)
    response = redirect(url_for("dashboard.overview", survey=survey), 303)
    known = signed_in()
    if known is None or not may(known, "reader", survey):  # people who can already see it stay signed in as they are
        begin_session(response, token)
    return response


def _shared(secret: str) -> tuple[Token, str]:
    """The token in a shared link, and the survey that it is for."""
    wrong = here().wrong_links
    wrong.spend(request.remote_addr, 0)
    token = here().storage.tokens.find(digest_of(secret))
    if token is None or token.role != "reader" or token.surveys is None or len(token.surveys) != 1:
        here().events.refused("unknown-token", token, way="link")
        wrong.spend(request.remote_addr)
        raise Refusal(Kind.NOT_FOUND, "This link has expired, or was copied incompletely. Ask for a new one.")
    return token, next(iter(token.surveys))


def _expired_on(secret: str) -> str | None:
    """The last day of a shared link that is over. It opens nothing, and names no survey: it may be in many hands."""
    here().wrong_links.spend(request.remote_addr, 0)
    token = here().storage.tokens.expired(digest_of(secret))
    if token is None or token.role != "reader":
        return None
    here().events.refused("unknown-token", token, way="link")
    here().wrong_links.spend(request.remote_addr)
    return token.expires_on


def _local(address: str | None) -> str:
    """An address on this server, or nothing: a link must not use the sign-in page to lead elsewhere."""
    if not address or not address.startswith("/") or address.startswith("//") or "\\" in address:
        return ""
    return address if address.isprintable() else ""
