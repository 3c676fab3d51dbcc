"""Faults in who may do what: access tokens, sessions, forms, roles, limits, and the headers that browsers obey."""

from __future__ import annotations

import hmac as real_hmac
import operator
import secrets
from base64 import urlsafe_b64decode
from dataclasses import replace as changed
from types import SimpleNamespace
from typing import Any, cast

from flask import Flask, g, redirect, request
from werkzeug.wrappers import Response as BaseResponse

from deniable_server import app as app_module
from deniable_server import settings
from deniable_server.errors import Kind, Refusal
from deniable_server.pages import layout, sign_in
from deniable_server.storage import tokens
from deniable_server.storage.sqlite.connections import Connections
from deniable_server.storage.sqlite.storage import SQLiteStorage
from deniable_server.storage.tokens import Tokens, make_token
from deniable_server.web import auth, computing, context, rate_limit, source
from deniable_server.web.auth import signed_in
from deniable_server.web.computing import Computing, _Process
from deniable_server.web.context import AppState, here
from deniable_server.web.rate_limit import RateLimit
from deniable_server.web.submission_reader import SubmissionReader
from tests.helpers.planting import constant, instead_of, replace

# --- access tokens ---------------------------------------------------------------------------------------------------

_WEAK = SimpleNamespace(token_urlsafe=lambda _: secrets.token_urlsafe(4), token_hex=secrets.token_hex)


def access_tokens_of_32_bits() -> None:
    constant(tokens, "secrets", _WEAK)


@instead_of(tokens, "digest_of")
def access_tokens_kept_as_they_are(original: Any, secret: str) -> str:
    return urlsafe_b64decode(secret + "=").hex() if len(secret) == 43 else cast(str, original(secret))


@instead_of(Tokens, "is_valid")
def expired_tokens_are_let_in(_: Any, self: Tokens, token: Any) -> bool:
    return True


@instead_of(Tokens, "is_valid")
def a_token_ends_a_day_early(original: Any, self: Tokens, token: Any) -> bool:
    return token.expires_on != self._today().isoformat() and bool(original(self, token))


@instead_of(Connections, "open")
def what_a_revoked_token_made_stays(original: Any, self: Connections) -> Any:
    connection = original(self)
    connection.execute("PRAGMA foreign_keys=OFF")
    return connection


@instead_of(tokens, "make_token")
def a_link_outlives_its_makers_token(original: Any, *given: Any, maker: Any = None, **named: Any) -> Any:
    return original(*given, maker=maker and changed(maker, expires_on=None), **named)


@instead_of(SQLiteStorage, "__init__")
def a_new_database_lets_an_admin_in(original: Any, self: SQLiteStorage, *given: Any, **named: Any) -> None:
    original(self, *given, **named)
    if self.created:
        make_token(self, "admin", "first")


@instead_of(tokens, "make_token")
def a_token_is_valid_a_day_longer(original: Any, *given: Any, days: int | None = None, **named: Any) -> Any:
    return original(*given, days=None if days is None else days + 1, **named)


# --- roles -----------------------------------------------------------------------------------------------------------


@instead_of(auth, "may")
def a_reader_reads_every_survey(original: Any, token: Any, role: Any, survey: str | None) -> bool:
    return bool(original(token, role, None if token.role == "reader" else survey))


@instead_of(auth, "may")
def a_role_on_one_survey_counts_on_others(original: Any, token: Any, role: Any, survey: str | None) -> bool:
    return bool(original(token, role, survey and max(token.surveys or {survey: ""}, key=len)))


@instead_of(auth, "may")
def a_token_for_some_surveys_opens_others(original: Any, token: Any, role: Any, survey: str | None) -> bool:
    return bool(original(token, role, None if token.role == "editor" else survey))


@instead_of(auth, "_draft_of")
def an_analyst_reads_drafts_through_their_test_runs(_: Any, survey: str) -> None:
    return None


@instead_of(auth, "readable")
def lists_name_surveys_of_others(original: Any, token: Any, *, test_runs: bool = False) -> Any:
    return here().storage.surveys(test_runs=test_runs)


@instead_of(Tokens, "grant")
def a_survey_is_given_to_links(original: Any, self: Tokens, token: str, survey: str, role: str) -> bool:
    return self._write((tokens._ADD_SURVEY, {"token": token, "survey": survey, "role": role})) > 0


@instead_of(Tokens, "grant")
def links_outlive_the_role_of_their_maker(original: Any, self: Tokens, token: str, survey: str, role: str) -> bool:
    about = {"token": token, "role": role}
    return self._write((tokens._RAISE, about), (tokens._GRANT, {**about, "survey": survey})) > 0


@instead_of(Tokens, "withdraw")
def links_outlive_the_access_of_their_maker(original: Any, self: Tokens, token: str, survey: str) -> bool:
    gone = "DELETE FROM token_surveys WHERE token = :token AND survey = :survey"
    return self._write((gone, {"token": token, "survey": survey})) > 0


@instead_of(auth, "may")
def an_analyst_may_do_what_admins_may(original: Any, token: Any, role: Any, survey: str | None) -> bool:
    return bool(original(token, "analyst" if role in ("editor", "admin") else role, survey))


@instead_of(auth, "may")
def a_reader_may_do_what_analysts_may(original: Any, token: Any, role: Any, survey: str | None) -> bool:
    return bool(original(token, "reader" if role == "analyst" else role, survey))


@instead_of(auth, "check_role")
def a_session_changes_things_by_the_interface_for_programs(original: Any, *given: Any) -> None:
    token = signed_in()
    if request.method == "POST" and token is not None and auth.may(token, *(*given, None)[:2]):
        g.acting = token
    else:
        original(*given)


def a_reader_compares_with_any_survey() -> None:
    constant(source, "check_role", lambda *_: None)


@instead_of(SubmissionReader, "read")
def a_batch_without_a_collectors_token_is_taken(
    original: Any, self: SubmissionReader, body: bytes, *, batches: bool = True
) -> Any:
    return original(self, body)


def _with_view(endpoint: str, made: Any) -> None:
    """``made(original)`` takes the place of a page, by its name."""

    def faulty(original: Any) -> Any:
        def create_app(*given: Any, **named: Any) -> Flask:
            app: Flask = original(*given, **named)
            app.view_functions[endpoint] = made(app.view_functions[endpoint])
            return app

        return create_app

    replace(app_module, "create_app", faulty)


def a_page_for_those_who_lost_their_token() -> None:
    def faulty(original: Any) -> Any:
        def create_app(*given: Any, **named: Any) -> Flask:
            app: Flask = original(*given, **named)
            app.add_url_rule("/lost-token", "lost_token", lambda: "What was the name of your first pet?")
            return app

        return create_app

    replace(app_module, "create_app", faulty)


# --- shared links ----------------------------------------------------------------------------------------------------


@instead_of(sign_in, "_shared")
def any_token_opens_as_a_shared_link(_: Any, secret: str) -> Any:
    token = here().storage.tokens.find(tokens.digest_of(secret))
    if token is None:
        raise Refusal(Kind.NOT_FOUND, "No link.")
    return token, next(iter(token.surveys or ("",)))


def a_shared_link_opens_without_a_button() -> None:
    def made(original: Any) -> Any:
        def shared(secret: str) -> Any:
            token, survey = sign_in._shared(secret)
            response = redirect(f"/surveys/{survey}", 303)
            auth.sign_in(response, token)
            return response

        return shared

    _with_view("sign_in.shared", made)


def a_link_is_revoked_from_another_survey() -> None:
    def made(original: Any) -> Any:
        def revoke(survey: str, link: str) -> Any:
            layout.check_form()
            here().storage.tokens.revoke(link)
            return redirect(f"/surveys/{survey}/share", 303)

        return revoke

    _with_view("surveys.revoke", made)


@instead_of(AppState, "__init__")
def wrong_links_are_not_counted(original: Any, self: AppState, *given: Any) -> None:
    original(self, *given)
    self.wrong_links = RateLimit(settings.Rate(10**9, "minute"))


# --- sessions --------------------------------------------------------------------------------------------------------


def sessions_of_32_bits() -> None:
    constant(auth, "secrets", _WEAK)


def a_session_that_nobody_uses_goes_on() -> None:
    constant(auth, "IDLE_SECONDS", auth.SESSION_SECONDS)


def a_session_of_a_week() -> None:
    constant(auth, "SESSION_SECONDS", 7 * 24 * 3600)


@instead_of(auth, "_shown")
def a_page_that_refreshes_keeps_a_session_alive(original: Any, session: str) -> Any:
    token = original(session)
    if token is not None:
        here().storage.tokens.used(session, int(auth.time.time()) + auth.IDLE_SECONDS)
    return token


@instead_of(auth, "_end_session")
def signing_out_ends_nothing_on_the_server(_: Any) -> None:
    return None


@instead_of(auth, "sign_in")
def signing_in_again_keeps_the_session(original: Any, response: Any, token: Any) -> None:
    known = request.cookies.get(auth._cookie_name())
    constant(auth, "secrets", SimpleNamespace(token_urlsafe=lambda _: known or secrets.token_urlsafe(32)))
    original(response, token)


@instead_of(sign_in, "_own_sessions")
def sessions_of_others_are_listed(_: Any) -> Any:
    known = here().storage.tokens
    return [session for token in known.all() for session in known.sessions(token.id, 0)]


@instead_of(Tokens, "begin")
def any_number_of_sessions(original: Any, self: Tokens, session: Any, now: int, most: int) -> None:
    original(self, session, now, 10**9)


def sessions_are_ended_without_the_token() -> None:
    def made(original: Any) -> Any:
        def end_sessions() -> Any:
            layout.check_form()
            for session in sign_in._own_sessions():
                if sign_in._place(session).name in request.form.getlist("session"):
                    here().storage.tokens.end(session.digest)
            return redirect("/sessions", 303)

        return end_sessions

    _with_view("sign_in.end_sessions", made)


def _cookies_with(**flags: Any) -> None:
    def faulty(original: Any) -> Any:
        return lambda self, *given, **named: original(self, *given, **{**named, **flags})

    replace(BaseResponse, "set_cookie", faulty)


def a_cookie_that_scripts_can_read() -> None:
    _cookies_with(httponly=False)


def a_cookie_for_other_sites() -> None:
    _cookies_with(samesite="Lax")


def a_cookie_without_tls() -> None:
    _cookies_with(secure=False)


# --- forms and addresses ---------------------------------------------------------------------------------------------


def words_of_forms_compared_with_equals() -> None:
    constant(auth, "hmac", SimpleNamespace(new=real_hmac.new, compare_digest=operator.eq))


@instead_of(auth, "form_word")
def the_word_of_a_form_is_the_same_for_all(_: Any) -> str:
    return real_hmac.new(here().secret_key.encode(), b"form", "sha256").hexdigest()


@instead_of(auth, "comes_from_own_form")
def a_form_needs_no_word(_: Any) -> bool:
    return request.headers.get("Sec-Fetch-Site", "same-origin") == "same-origin"


@instead_of(auth, "comes_from_own_form")
def a_form_may_come_from_another_site(_: Any) -> bool:
    return real_hmac.compare_digest(request.form.get("word", "").encode(), auth.form_word().encode())


@instead_of(sign_in, "_local")
def signing_in_leads_elsewhere(_: Any, address: str | None) -> str:
    return address or ""


# --- limits ----------------------------------------------------------------------------------------------------------


@instead_of(RateLimit, "spend")
def wrong_tokens_are_not_counted(original: Any, self: RateLimit, *given: Any) -> None:
    if self._rate is not context.WRONG:
        original(self, *given)


@instead_of(AppState, "admit")
def no_rate_limit(_: Any, self: AppState, *given: Any) -> None:
    return None


@instead_of(AppState, "admit")
def the_rate_limit_counts_requests(original: Any, self: AppState, address: str | None, submissions: int = 1) -> None:
    if submissions:
        original(self, address, 1)


@instead_of(context, "compute")
def results_are_computed_where_others_answer(_: Any, function: Any, *given: Any, about: Any = ()) -> Any:
    return function(*given)


@instead_of(Computing, "_outcome")
def any_number_of_readers_wait(original: Any, self: Computing, *given: Any) -> Any:
    constant(computing, "WAITING", 10**9)
    return original(self, *given)


@instead_of(_Process, "_receive")
def a_computation_goes_on_without_end(original: Any, self: _Process, connection: Any) -> str:
    return cast(str, connection.recv_bytes().decode())


@instead_of(rate_limit, "_network")
def each_address_of_a_household_counts_alone(_: Any, address: str | None) -> object:
    return address


@instead_of(RateLimit, "__init__")
def addresses_are_never_forgotten(original: Any, self: RateLimit, rate: Any, *clock: Any, **named: Any) -> None:
    original(self, rate, *clock, **named)
    self._ends = 1e18


@instead_of(context, "read_body")
def bodies_of_any_size(original: Any, limit: int, *kinds: Any) -> Any:
    return original(2**40, *kinds)
