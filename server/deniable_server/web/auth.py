"""Who may do what: access tokens and their roles. Programs send one with each request; a browser signs in with one.

A session lasts twelve hours at most, and two hours from the last page that a person opened in it. Its secret is in a
cookie that no script and no other site can use. The server keeps only its digest, and forgets it at sign-out or when
the token is revoked. A session can only read from the interface for programs. Changes go through forms, which carry a
word that other sites do not know.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from contextlib import suppress

from flask import g, request
from werkzeug.wrappers import Response

from deniable_server.errors import CHALLENGE, Kind, Refusal, StorageError
from deniable_server.storage import Listed, Role, Session, Storage, Token
from deniable_server.storage.tokens import RANKS, digest_of

from .context import here

SESSION_SECONDS = 12 * 3600
IDLE_SECONDS = 2 * 3600
NOTED_SECONDS = 300
"""Use is noted in steps of so many seconds, so that not every page costs a write."""
MOST_SESSIONS: dict[Role, int] = {"reader": 1_000, "analyst": 20, "editor": 20, "admin": 20}
"""Sessions of one token that are kept, the last used ones: nobody can fill the database with a shared link."""


def may(token: Token, role: Role, survey: str | None) -> bool:
    """Whether a token allows what this role may do with this survey; None: what needs no survey. What lists surveys
    shows only those that the token is for (``readable``). Editors may do everything that analysts may, and admins
    everything. A collector's token reads nothing.
    """
    if "collector" in (token.role, role):
        return survey is not None and token.role_on(survey) == role
    held = token.role if survey is None else _role_of_person(token, survey)
    return held is not None and RANKS[held] >= RANKS[role]


def _role_of_person(token: Token, survey: str) -> Role | None:
    """The role of a token on a survey. A test run shows what a draft asks: it is for those who may edit the draft."""
    draft = _draft_of(survey)
    if draft is None:
        return token.role_on(survey)
    return token.role if may_edit(token, here().storage.drafts.maker(draft)) else None


def _draft_of(survey: str) -> int | None:
    """The number of the draft that this is a test run of. It never changes, so what is known need not be read again."""
    published = here().storage.known(survey) or here().storage.find(survey)
    return None if published is None else published.draft


def readable(token: Token, *, test_runs: bool = False) -> list[Listed]:
    """The surveys that the holder of a token may see."""
    return [each for each in here().storage.surveys(test_runs=test_runs) if may(token, "reader", each.id)]


def may_edit(token: Token, maker: str | None) -> bool:
    """Whether a token allows to see, change and publish a draft that the holder of the token ``maker`` began."""
    return may(token, "editor", None) and (token.surveys is None or token.id == maker)


def check_role(role: Role, survey: str | None = None) -> None:
    """Refusal unless the request shows a token that allows this."""
    token = _bearer()
    if token is not None:
        here().events.used(token)
    elif request.method in ("GET", "HEAD"):
        token = signed_in()
    if token is None:
        detail = "Send the header  Authorization: Bearer <access token>,  or sign in with a browser."
        raise Refusal(Kind.UNAUTHORIZED, detail, CHALLENGE)
    _check(token, role, survey)
    g.acting = token


def _check(token: Token, role: Role, survey: str | None) -> None:
    if not may(token, role, survey):
        here().events.refused("forbidden", token, needs=role, route=request.endpoint or "")
        raise Refusal(Kind.FORBIDDEN, why_not(token, role, survey))


def why_not(token: Token, role: Role, survey: str | None) -> str:
    """Why a token does not allow something, for people."""
    if survey is not None and token.role != "collector" and may(token, role, None):
        if _draft_of(survey) is not None:
            return "This is a test run of a draft. It is for those who may edit the draft."
        held = token.role_on(survey)
        if held is None:
            return "Your access token is not for this survey. An admin can give you access to it."
        return f"Your role on this survey is {held}, and this needs the role {role}. An admin can give it to you."
    reach = "" if token.surveys is None else ", and this one is for some surveys only"
    return f"This needs an access token of the role {role}{reach}."


def collector(survey: str) -> Token | None:
    """The collector's token that the request shows; None for respondents. Refusal where it shows another token.

    That it is used is not noted in the log: it would show when somebody answered.
    """
    token = _bearer()
    if token is not None:
        _check(token, "collector", survey)
    return token


def acting() -> Token:
    """The token that let this request pass."""
    token: Token = g.acting
    return token


def _bearer() -> Token | None:
    header = request.headers.get("Authorization")
    if header is None:
        return None
    scheme, _, secret = header.partition(" ")
    if scheme.lower() != "bearer" or not secret:
        raise Refusal(Kind.UNAUTHORIZED, "Send the header  Authorization: Bearer <access token>.", CHALLENGE)
    token = _storage().tokens.find(digest_of(secret.strip()))
    if token is None:
        here().events.refused("unknown-token", way="header")
        here().wrong_headers.spend(request.remote_addr)
        raise Refusal(
            Kind.UNAUTHORIZED, "This access token is not known. It may have expired or been revoked.", CHALLENGE
        )
    return token


# --- sessions of browsers --------------------------------------------------------------------------------------------


def signed_in() -> Token | None:
    """The token of this browser's session, if there is one that has not ended."""
    if "signed_in" not in g:
        secret = request.cookies.get(_cookie_name())
        g.signed_in = None if secret is None else _shown(digest_of(secret))
    token: Token | None = g.signed_in
    return token


def _shown(session: str) -> Token | None:
    now = int(time.time())
    found = _storage().tokens.shown(session, now)
    if found is None:
        return None
    token, kept = found
    # A page that refreshes itself is not a person who is there: it only reads, and browsers say that nobody opened it.
    present = request.method == "POST" or request.headers.get("Sec-Fetch-Mode", "navigate") == "navigate"
    if present and kept.idle_at < now + IDLE_SECONDS - NOTED_SECONDS:
        with suppress(StorageError):  # what cannot be written now, the next page writes
            _storage().tokens.used(session, now + IDLE_SECONDS)
    return token


def current_session() -> str:
    """The digest of the session that the request shows."""
    return digest_of(request.cookies.get(_cookie_name(), ""))


def sign_in(response: Response, token: Token) -> None:
    """Begin a session for the browser that gets this response. One that it had before ends."""
    _end_session()
    secret = secrets.token_urlsafe(32)
    now = int(time.time())
    session = Session(digest_of(secret), token.id, now, now + IDLE_SECONDS, now + SESSION_SECONDS)
    _storage().tokens.begin(session, now, MOST_SESSIONS[token.role])
    here().events.did("signed-in", token)
    # Strict: the cookie is not sent with anything that another site asks for, not even with a link from there.
    response.set_cookie(
        _cookie_name(),
        secret,
        max_age=SESSION_SECONDS,
        path=_cookie_path(),
        secure=request.is_secure,
        httponly=True,
        samesite="Strict",
    )


def sign_out(response: Response) -> None:
    """End the session, here and in the browser."""
    if token := signed_in():
        here().events.did("signed-out", token)
    _end_session()
    response.delete_cookie(
        _cookie_name(), path=_cookie_path(), secure=request.is_secure, httponly=True, samesite="Strict"
    )


def form_word() -> str:
    """What a form of this session must carry: another site cannot know it."""
    secret = request.cookies.get(_cookie_name(), "")
    key = here().secret_key
    return hmac.new(key.encode(), b"form " + secret.encode(), hashlib.sha256).hexdigest()


def comes_from_own_form() -> bool:
    """Whether a form was sent from a page of this server. Browsers say where a form comes from; the word also protects
    where an old browser does not.
    """
    if request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
        return False
    # Only the host: behind a proxy that is not trusted, the scheme would be another one.
    origin = request.headers.get("Origin")
    if origin is not None and origin.partition("://")[2] != request.host:
        return False
    if _cookie_name() not in request.cookies and origin is None and "Sec-Fetch-Site" not in request.headers:
        return False  # without a session the word is the same for all: then the browser has to say
    return hmac.compare_digest(request.form.get("word", "").encode(), form_word().encode())


def _end_session() -> None:
    if secret := request.cookies.get(_cookie_name()):
        _storage().tokens.end(digest_of(secret))


def _cookie_name() -> str:
    """Behind TLS, browsers enforce the prefix: no page without TLS, and no neighbour, can set this cookie."""
    if not request.is_secure:
        return "deniable"
    return "__Secure-deniable" if request.script_root else "__Host-deniable"


def _cookie_path() -> str:
    return request.script_root or "/"


def _storage() -> Storage:
    return here().storage
