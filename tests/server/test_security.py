"""Tests that the security review asked for; docs/security.md says which requirement each one checks."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.routing import Rule

from deniable_server import create_app
from deniable_server.errors import Unavailable
from deniable_server.settings import Settings
from deniable_server.storage.tokens import make_token
from deniable_server.web import auth
from tests.helpers.servers import storage_of
from tests.helpers.sign_in import BROWSER, enter, send, word_in

DASHBOARD = "/surveys/campus-health"
API = "/api/v1/surveys/campus-health"
HOUR = 3600

OPEN_TO_ALL = {
    "GET /api/v1/surveys/<survey>",
    "POST /api/v1/surveys/<survey>/submissions",
    "POST /api/v1/surveys/<survey>/tokens",
    "GET /healthz",
    "GET /readyz",
    "GET /metrics",
    "GET /openapi.json",
    "GET /deniable.js",
    "GET /deniable/texts/<name>",
    "GET /deniable/<name>",
    "GET /static/<name>",
    "GET /logo",
    "GET /s/<survey>",
    "GET /sign-in",
    "POST /sign-in",
    "POST /sign-out",
    "GET /shared/<secret>",
    "POST /shared/<secret>",
}


def routes(app: Flask) -> list[tuple[str, Rule]]:
    return [
        (method, rule)
        for rule in app.url_map.iter_rules()
        for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"})
    ]


def address(rule: Rule) -> str:
    return re.sub("<.*?>", "zzz", re.sub("<int:.*?>", "7", rule.rule.replace("<survey>", "campus-health")))


def later(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """From now on it is so much later to the sessions."""
    now = auth.time.time()
    monkeypatch.setattr(auth.time, "time", lambda: now + seconds)


# --- routes ----------------------------------------------------------------------------------------------------------


def test_a_stranger_gets_what_respondents_need_and_nothing_else(http: FlaskClient, app: Flask) -> None:
    """Any route that is not listed above sends a stranger to the sign-in page or refuses: a new one cannot slip in."""
    known = {f"{method} {rule.rule}" for method, rule in routes(app)}
    assert known > OPEN_TO_ALL
    for method, rule in routes(app):
        if f"{method} {rule.rule}" not in OPEN_TO_ALL:
            response = http.open(address(rule), method=method, headers=BROWSER)
            sent_away = response.status_code == 303 and response.location.startswith("/sign-in?")
            assert response.status_code == 401 or sent_away, rule


def test_every_form_has_to_be_ours(http: FlaskClient, app: Flask) -> None:
    """Whatever page takes a form refuses one without the session's word, even from an admin's browser."""
    enter(http, app, "admin")
    forms = [rule for method, rule in routes(app) if method == "POST" and not rule.rule.startswith("/api/")]
    assert len(forms) >= 8
    for rule in forms:
        response = http.post(address(rule), data={"days": "1"}, headers=BROWSER)
        assert (response.status_code, "page is from before you signed in" in response.text) == (403, True), rule


def test_looking_changes_nothing(http: FlaskClient, app: Flask, tmp_path: Path) -> None:
    """An admin's browser that opens every address there is leaves the database as it was, but for the note of what was
    downloaded.
    """
    enter(http, app, "admin")

    def everything() -> list[str]:
        with sqlite3.connect(tmp_path / "a.db") as db:
            return [line for line in db.iterdump() if not line.startswith('INSERT INTO "activity"')]

    before = everything()
    for method, rule in routes(app):
        if method == "GET":
            assert http.get(address(rule), headers=BROWSER).status_code < 500, rule
    assert everything() == before


def test_nothing_else_is_served(http: FlaskClient) -> None:
    """No listing of a folder, no file outside of the packages, no other method, no debugger."""
    for path in (
        "/static/",
        "/deniable/",
        "/.git/config",
        "/static/..%2f..%2f__init__.py",
        "/static/../surveys.py",
        "/deniable/%2e%2e%2f%2e%2e%2fpackage.json",
        "/static//etc/passwd",
        "/console",
    ):
        assert http.get(path).status_code == 404, path
    for method in ("TRACE", "CONNECT", "DEBUG", "PUT", "DELETE", "PATCH"):
        assert http.open("/healthz", method=method).status_code == 405, method
    assert http.get("/healthz?__debugger__=yes&cmd=resource&f=style.css").json == {"status": "ok"}
    assert not http.application.debug and not http.application.testing


def test_whatever_is_sent_says_how_to_treat_it(http: FlaskClient, app: Flask) -> None:
    """Every body has its type, texts with their encoding; nothing is kept, sniffed, framed or run, errors included."""
    enter(http, app, "admin")
    asked = [http.get(address(rule)) for method, rule in routes(app) if method == "GET"]
    for response in [*asked, http.post(f"{API}/submissions", data="x"), http.get("/nowhere"), http.put("/healthz")]:
        kind, policy = response.content_type, response.headers.get("Content-Security-Policy", "")
        has_encoding = kind in ("application/json", "application/problem+json", "image/png") or "charset=utf-8" in kind
        assert has_encoding, response.request
        assert policy.startswith("default-src 'none'") and "frame-ancestors 'none'" in policy, response.request
        assert "base-uri 'none'" in policy and "unsafe" not in policy, response.request
        assert response.headers.get("X-Content-Type-Options") == "nosniff" and response.headers["Referrer-Policy"]
        assert response.headers["Cache-Control"] in ("no-store", "no-cache"), response.request
        if response.headers["Cache-Control"] == "no-cache":
            assert re.match(r"/(deniable|static)\b", response.request.path), "only what is the same for everybody"
        if kind.startswith("text/html"):
            assert response.headers["Cross-Origin-Opener-Policy"] == "same-origin", response.request
        else:
            assert policy.endswith("; sandbox"), response.request


@pytest.mark.parametrize(
    ("base_path", "policy"), [("", "max-age=31536000; includeSubDomains"), ("/x", "max-age=31536000")]
)
def test_tls_is_to_stay(settings: Settings, base_path: str, policy: str) -> None:
    """Over TLS only, browsers are told to use TLS for a year; for subdomains too if the whole host is ours."""
    app = create_app(replace(settings, base_path=base_path, trusted_proxies=1))
    for path in ("/healthz", "/nowhere", "/sign-in"):
        secure = app.test_client().get(base_path + path, headers={"X-Forwarded-Proto": "https"})
        assert secure.headers["Strict-Transport-Security"] == policy
        assert "Strict-Transport-Security" not in app.test_client().get(base_path + path).headers
    storage_of(app).close()


def test_a_proxy_that_is_not_listened_to_is_told_of_once(http: FlaskClient, lines: pytest.LogCaptureFixture) -> None:
    """An untrusted proxy's headers cause one warning, however often they come, and change nothing."""
    for _ in range(3):
        response = http.get("/healthz", headers={"X-Forwarded-Proto": "https", "X-Forwarded-For": "203.0.113.7"})
        assert "Strict-Transport-Security" not in response.headers
    assert lines.text.count("--trusted-proxies is 0") == 1 and "203.0.113.7" not in lines.text


# --- sessions --------------------------------------------------------------------------------------------------------


def test_a_session_ends_two_hours_after_its_last_page(
    http: FlaskClient, app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Opening pages keeps a session alive, for at most twelve hours from its start."""
    enter(http, app)
    for _ in range(7):
        later(monkeypatch, 1.6 * HOUR)
        assert http.get(DASHBOARD, headers={"Sec-Fetch-Mode": "navigate"}).status_code == 200
    later(monkeypatch, 1.6 * HOUR)
    assert http.get(DASHBOARD).status_code == 303, "over twelve hours"
    monkeypatch.undo()
    other = app.test_client()
    enter(other, app)
    later(monkeypatch, 2 * HOUR)
    assert other.get(DASHBOARD).status_code == 303 and other.get(f"{API}/estimates").status_code == 401


def test_a_page_that_follows_by_itself_keeps_no_session_alive(
    http: FlaskClient, app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Requests that a script makes do not keep a session alive."""
    enter(http, app)
    later(monkeypatch, 1.9 * HOUR)
    assert http.get(DASHBOARD, headers={"Sec-Fetch-Mode": "cors"}).status_code == 200
    later(monkeypatch, 0.2 * HOUR)
    assert http.get(DASHBOARD).status_code == 303


def test_use_that_cannot_be_noted_is_no_obstacle(
    http: FlaskClient, app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a disk that takes nothing more, results can still be read."""
    enter(http, app)

    def full(*args: object) -> None:
        raise Unavailable("no space")

    monkeypatch.setattr(storage_of(app).tokens, "used", full)
    later(monkeypatch, HOUR)
    assert http.get(DASHBOARD).status_code == 200


def test_other_sessions_can_be_seen_and_ended(http: FlaskClient, app: Flask) -> None:
    """Ending a session takes the token again; nobody can end the sessions of others, and readers cannot end any."""
    secret = enter(http, app)
    elsewhere, stranger, reader = app.test_client(), app.test_client(), app.test_client()
    assert send(elsewhere, "/sign-in", "/sign-in", token=secret).status_code == 303
    foreign = enter(stranger, app)
    enter(reader, app, "reader", "campus-health")
    page = http.get("/sessions")
    (name,) = re.findall(r'name="session" value="([0-9a-f]{16})">', page.text)
    assert page.text.count('type="checkbox"') == 2 and "this browser" in page.text
    for wrong in ("", "x", foreign):
        refused = send(http, "/sessions", "/sessions", session=name, token=wrong)
        assert refused.status_code == 403 and "No session was ended" in refused.text
        assert elsewhere.get("/").status_code == 200
    (theirs,) = re.findall(r'name="session" value="([0-9a-f]{16})"', stranger.get("/sessions").text)
    send(http, "/sessions", "/sessions", session=theirs, token=secret)
    assert stranger.get("/").status_code == 200
    assert send(http, "/sessions", "/sessions", session=name, token=secret).status_code == 303
    assert elsewhere.get("/").status_code == 303 and http.get("/").status_code == 200
    assert reader.get("/sessions").location == f"{DASHBOARD}?elsewhere=1"
    assert reader.post("/sessions", data={"session": name, "token": secret}).status_code == 403


def test_the_field_for_a_token(http: FlaskClient) -> None:
    """Typed text is hidden, password managers recognise the field, and pasting works."""
    (field,) = re.findall(r'<input id="token"[^>]*>', http.get("/sign-in").text)
    assert 'type="password"' in field and 'autocomplete="current-password"' in field
    assert "paste" not in field and "maxlength" not in field


def test_every_page_has_a_way_out(http: FlaskClient, app: Flask) -> None:
    """A signed-in user can sign out on every page, error pages included."""
    enter(http, app, "admin")
    pages = [http.get(address(rule), headers=BROWSER) for method, rule in routes(app) if method == "GET"]
    shown = [page for page in pages if page.mimetype == "text/html" and not page.request.path.startswith("/s/")]
    assert len(shown) >= 9
    for page in shown:
        assert 'action="/sign-out"' in page.text, page.request.path


def test_a_new_database_lets_nobody_in(app: Flask) -> None:
    """A new database has no tokens."""
    assert storage_of(app).tokens.all() == []


def test_a_token_cannot_fill_the_table_of_sessions(app: Flask) -> None:
    """An analyst's token has at most twenty sessions; one more ends the oldest."""
    secret, token = make_token(storage_of(app), "analyst", "Ann")
    browsers = [app.test_client() for _ in range(21)]
    for browser in browsers:
        assert send(browser, "/sign-in", "/sign-in", token=secret).status_code == 303
    assert sum(browser.get("/").status_code == 200 for browser in browsers) == 20
    assert browsers[-1].get("/").status_code == 200
    assert len(storage_of(app).tokens.sessions(token.id, 0)) == 20


def test_a_link_holds_no_longer_than_its_makers_token(http: FlaskClient, app: Flask) -> None:
    """A user with access until tomorrow cannot give others access for a year."""
    storage = storage_of(app)
    secret, maker = make_token(storage, "analyst", "Ann", days=2)
    assert send(http, "/sign-in", "/sign-in", token=secret).status_code == 303
    assert send(http, f"{DASHBOARD}/share", f"{DASHBOARD}/share", days="365").status_code == 200
    (link,) = [token for token in storage.tokens.all() if token.role == "reader"]
    assert link.expires_on == maker.expires_on
    _, short = make_token(storage, "reader", "", surveys={"campus-health": "reader"}, days=1, maker=maker)
    assert short.expires_on is not None and maker.expires_on is not None and short.expires_on < maker.expires_on


def test_the_secret_key_can_be_replaced(settings: Settings, example: bytes) -> None:
    """The key only makes the words in forms: sessions outlive a new key, open forms have to be loaded again."""
    first = create_app(replace(settings, secret_key="1" * 32))
    storage_of(first).publish(example)
    http = first.test_client()
    enter(http, first, "admin")
    word, cookie = word_in(http.get("/")), http.get_cookie("deniable")
    assert cookie is not None
    second = create_app(replace(settings, secret_key="2" * 32))
    again = second.test_client()
    again.set_cookie("deniable", cookie.value)
    assert again.post(f"{DASHBOARD}/close", data={"word": word}, headers=BROWSER).status_code == 403
    assert again.get("/").status_code == 200 and word_in(again.get("/")) != word
    for app in (first, second):
        storage_of(app).close()


# --- limits ----------------------------------------------------------------------------------------------------------


def test_wrong_tokens_in_headers_are_limited(http: FlaskClient, app: Flask) -> None:
    """After twenty in a minute 429, while the right token from the same address is let in."""
    secret, _ = make_token(storage_of(app), "analyst", "Ann")
    wrong = [http.get("/api/v1/surveys", headers={"Authorization": "Bearer x"}) for _ in range(21)]
    assert [response.status_code for response in wrong] == [401] * 20 + [429]
    assert int(wrong[-1].headers["Retry-After"]) >= 1
    assert http.get("/api/v1/surveys", headers={"Authorization": f"Bearer {secret}"}).status_code == 200
    enter(app.test_client(), app)


def test_a_parameter_that_is_given_twice_is_not_chosen_from(http: FlaskClient, app: Flask) -> None:
    """One of two values would be a guess: it is refused, and nothing of it repeated."""
    enter(http, app)
    response: Any = http.get(f"{API}/estimates?confidence=0.9&confidence=0.8")
    assert response.status_code == 400 and "0.8" not in response.text
