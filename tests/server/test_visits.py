"""Signing in, sessions, shared links: who sees a page, and what a cookie or a form is worth."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from deniable_server import create_app
from deniable_server.errors import Unavailable
from deniable_server.settings import Settings
from deniable_server.storage import Role
from deniable_server.storage.tokens import make_token
from deniable_server.web import auth
from tests.helpers.servers import storage_of
from tests.helpers.sign_in import BROWSER, enter, send, word_in

DASHBOARD = "/surveys/campus-health"
ESTIMATES = "/api/v1/surveys/campus-health/estimates"


@pytest.fixture
def app(settings: Settings, example: bytes) -> Iterator[Flask]:
    app = create_app(settings)
    storage_of(app).publish(example)
    storage_of(app).publish(example.replace(b'"campus-health"', b'"other"', 1))
    yield app
    storage_of(app).close()


def cookie_of(response: TestResponse) -> str:
    return response.headers["Set-Cookie"]


# --- signing in ------------------------------------------------------------------------------------------------------


def test_a_token_opens_a_session(http: FlaskClient, app: Flask) -> None:
    """Pages ask a stranger to sign in and come back to where they were; a token lets them in."""
    asked = http.get(f"{DASHBOARD}?confidence=0.9", headers=BROWSER)
    assert asked.status_code == 303
    assert asked.location == "/sign-in?next=/surveys/campus-health?confidence%3D0.9"
    secret, _ = make_token(storage_of(app), "analyst", "Ann")
    page = http.get(asked.location)
    fields = {"word": word_in(page), "token": f" {secret}\n", "next": "/surveys/campus-health?confidence=0.9"}
    response = http.post("/sign-in", data=fields, headers=BROWSER)
    assert response.status_code == 303 and response.location == "/surveys/campus-health?confidence=0.9"
    assert http.get(DASHBOARD).status_code == 200 and http.get("/").status_code == 200


def test_a_wrong_token_opens_nothing(http: FlaskClient) -> None:
    """A token that is not known is refused with a message, no cookie, and without repeating it."""
    response = send(http, "/sign-in", "/sign-in", token="canary-token")
    assert response.status_code == 403 and "not known" in response.text
    assert "Set-Cookie" not in response.headers and "canary" not in response.text


def test_the_cookie_is_for_this_server_only(http: FlaskClient, app: Flask) -> None:
    """No script reads it, no other site can use it; behind TLS it never travels without, and its name says so."""
    secret, _ = make_token(storage_of(app), "analyst", "Ann")
    plain = cookie_of(send(http, "/sign-in", "/sign-in", token=secret))
    assert plain.startswith("deniable=") and "HttpOnly" in plain and "SameSite=Strict" in plain and "Path=/" in plain
    assert "Secure" not in plain and secret not in plain
    word = word_in(http.get("/sign-in", base_url="https://localhost"))
    response = http.post(
        "/sign-in", data={"word": word, "token": secret}, base_url="https://localhost", headers=BROWSER
    )
    secure = cookie_of(response)
    assert secure.startswith("__Host-deniable=") and "; Secure" in secure and "HttpOnly" in secure
    assert response.headers["Strict-Transport-Security"].startswith("max-age=")


def test_under_a_base_path_the_cookie_stays_there(settings: Settings, example: bytes) -> None:
    """A neighbour under another path of the same host does not get the cookie."""
    app = create_app(replace(settings, base_path="/surveys"))
    storage_of(app).publish(example)
    http = app.test_client()
    secret, _ = make_token(storage_of(app), "analyst", "Ann")
    word = word_in(http.get("/surveys/sign-in"))
    response = http.post("/surveys/sign-in", data={"word": word, "token": secret}, headers=BROWSER)
    assert "Path=/surveys" in cookie_of(response) and response.location == "/surveys/"
    assert http.get("/surveys/surveys/campus-health").status_code == 200
    storage_of(app).close()


@pytest.mark.parametrize(
    "elsewhere",
    ["https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:alert(1)", "/\n/evil.example", "evil"],
)
def test_signing_in_leads_nowhere_else(http: FlaskClient, app: Flask, elsewhere: str) -> None:
    """After signing in, an address that is not on this server is ignored."""
    secret, _ = make_token(storage_of(app), "analyst", "Ann")
    assert send(http, "/sign-in", "/sign-in", token=secret, next=elsewhere).location == "/"


def test_wrong_attempts_are_limited(http: FlaskClient, app: Flask) -> None:
    """After 20 wrong tokens in a minute the next attempt gets 429 and has to wait, even with a right token; nothing
    that respondents do changes that.
    """
    secret, _ = make_token(storage_of(app), "analyst", "Ann")
    answers = [send(http, "/sign-in", "/sign-in", token="x") for _ in range(20)]
    assert {answer.status_code for answer in answers} == {403}
    http.post("/api/v1/surveys/campus-health/submissions", json={})
    last = send(http, "/sign-in", "/sign-in", token=secret)
    assert last.status_code == 429 and int(last.headers["Retry-After"]) >= 1
    assert last.content_type.startswith("text/html")


def test_many_may_come_from_one_address(http: FlaskClient, app: Flask) -> None:
    """Right tokens and right links do not use up the attempts of those who share an address; wrong links are limited,
    and lock nobody out who has a token.
    """
    for _ in range(30):
        enter(app.test_client(), app)
    enter(http, app)
    link = made_link(http)
    for _ in range(30):
        assert send(app.test_client(), link, link).status_code == 303
    answers = [app.test_client().get("/shared/guess", headers=BROWSER).status_code for _ in range(21)]
    assert answers == [404] * 20 + [429]
    enter(app.test_client(), app)


# --- sessions --------------------------------------------------------------------------------------------------------


def test_a_session_ends_at_sign_out(http: FlaskClient, app: Flask) -> None:
    """After signing out, the old cookie opens nothing, even where somebody has kept a copy."""
    enter(http, app)
    kept = http.get_cookie("deniable")
    assert kept is not None
    assert send(http, "/sign-out", "/").status_code == 303
    http.set_cookie("deniable", kept.value)
    assert http.get(DASHBOARD).status_code == 303 and http.get(ESTIMATES).status_code == 401


def test_a_session_ends_with_its_token_and_after_half_a_day(
    http: FlaskClient, app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Revoking the token ends its sessions; so does time."""
    enter(http, app)
    assert http.get(DASHBOARD).status_code == 200
    now = auth.time.time()
    monkeypatch.setattr(auth.time, "time", lambda: now + 12 * 3600 + 1)
    assert http.get(DASHBOARD).status_code == 303
    monkeypatch.undo()
    keyring = storage_of(app).tokens
    assert http.get(DASHBOARD).status_code == 200
    keyring.revoke(keyring.all()[0].id)
    assert http.get(DASHBOARD).status_code == 303


def test_signing_in_again_gives_another_session(http: FlaskClient, app: Flask) -> None:
    """A cookie that somebody planted before is worth nothing after signing in, and the earlier session ends."""
    http.set_cookie("deniable", "planted")
    enter(http, app)
    first = http.get_cookie("deniable")
    assert first is not None and first.value != "planted"
    enter(http, app)
    other = app.test_client()
    other.set_cookie("deniable", first.value)
    assert other.get(DASHBOARD).status_code == 303


def test_only_the_digest_of_a_session_is_kept(http: FlaskClient, app: Flask, tmp_path: Path) -> None:
    """A copy of the database is not enough to sign in or to take over a session."""
    secret = enter(http, app)
    cookie = http.get_cookie("deniable")
    assert cookie is not None
    storage_of(app).close()
    for file in tmp_path.iterdir():
        assert secret.encode() not in file.read_bytes() and cookie.value.encode() not in file.read_bytes(), file


def test_a_session_reads_and_changes_nothing_by_the_interface_for_programs(http: FlaskClient, app: Flask) -> None:
    """With a cookie alone, estimates can be downloaded, and nothing can be published or closed."""
    enter(http, app, "admin")
    assert http.get(ESTIMATES).status_code == 200
    assert http.post("/api/v1/surveys/campus-health/close").status_code == 401
    assert http.post("/api/v1/surveys", json={}).status_code == 401


# --- forms -----------------------------------------------------------------------------------------------------------

CHANGES = [
    ("/surveys/campus-health/close", {}),
    ("/surveys/campus-health/hold", {"until": "closed"}),
    ("/surveys/new", {"start": "empty"}),
    ("/surveys/campus-health/copy", {}),
    ("/surveys/campus-health/share", {"days": "30"}),
    ("/sign-out", {}),
]


@pytest.mark.parametrize(("path", "fields"), CHANGES)
@pytest.mark.parametrize(
    "forged", ["no word", "wrong word", "another's word", "another origin", "an odd origin", "another site"]
)
def test_a_forged_form_changes_nothing(
    http: FlaskClient, app: Flask, path: str, fields: dict[str, str], forged: str
) -> None:
    """A form without the session's own word, or from another site, is refused, whatever it asks for."""
    enter(http, app, "admin")
    word = word_in(http.get("/"))
    headers = dict(BROWSER)
    if forged == "no word":
        word = ""
    elif forged == "wrong word":
        word = "0" * 64
    elif forged == "another's word":
        other = app.test_client()
        enter(other, app, "admin")
        word = word_in(other.get("/"))
    elif forged == "another origin":
        headers["Origin"] = "https://evil.example"
    elif forged == "an odd origin":
        headers["Origin"] = "http://["
    else:
        headers["Sec-Fetch-Site"] = "cross-site"
    response = http.post(path, data={**fields, "word": word}, headers=headers)
    assert response.status_code == 403 and "page is from before you signed in" in response.text
    storage = storage_of(app)
    assert [survey.status for survey in storage.surveys()] == ["open", "open"] and storage.drafts.all() == []
    assert all(token.role == "admin" for token in storage.tokens.all())
    assert http.get("/").status_code == 200


def test_a_link_from_another_site_finds_the_session(http: FlaskClient, app: Flask) -> None:
    """Browsers hold back the cookie on such a link; a page that follows the link again gets it sent."""
    anonymous = app.test_client()
    for site in ("cross-site", "same-site"):
        response = anonymous.get(f"{DASHBOARD}?by=campus", headers={"Sec-Fetch-Site": site, **BROWSER})
        assert response.status_code == 200
        assert 'http-equiv="refresh" content="0; url=/surveys/campus-health?by=campus"' in response.text
    assert anonymous.get(DASHBOARD, headers={"Sec-Fetch-Site": "same-origin"}).status_code == 303


def test_before_a_session_the_browser_says_where_a_form_is_from(http: FlaskClient, app: Flask) -> None:
    """The sign-in form's word is the same for everybody, so it is not enough by itself."""
    secret, _ = make_token(storage_of(app), "analyst", "Ann")
    fields = {"word": word_in(http.get("/sign-in")), "token": secret}
    assert http.post("/sign-in", data=fields).status_code == 403
    assert http.post("/sign-in", data=fields, headers={"Sec-Fetch-Site": "same-origin"}).status_code == 303


# --- roles -----------------------------------------------------------------------------------------------------------

FOR_ADMINS = ["/people", "/activity", "/activity.csv", "/surveys/campus-health/access"]
FOR_EDITORS = ["/surveys/new", "/surveys/campus-health/close", "/surveys/campus-health/hold"]
FOR_ANALYSTS = [
    "/",
    "/surveys/campus-health/share",
    "/surveys/campus-health/progress",
    "/surveys/other",
    "/api/v1/surveys/campus-health/reports.csv",
]
FOR_READERS = [DASHBOARD, f"{DASHBOARD}/compare", f"{DASHBOARD}/crosstab", ESTIMATES, f"{ESTIMATES}.csv"]


@pytest.mark.parametrize(
    ("role", "sees"),
    [
        ("reader", FOR_READERS),
        ("analyst", FOR_READERS + FOR_ANALYSTS),
        ("editor", FOR_READERS + FOR_ANALYSTS + FOR_EDITORS),
        ("admin", FOR_READERS + FOR_ANALYSTS + FOR_EDITORS + FOR_ADMINS),
    ],
)
def test_each_role_sees_its_pages(http: FlaskClient, app: Flask, role: Role, sees: list[str]) -> None:
    """A reader sees one survey's results, an analyst all and the reports, an editor also changes surveys, an admin
    everything; the rest is refused.
    """
    enter(http, app, role, *(["campus-health"] if role == "reader" else []))
    refused = {True: 303, False: 403}
    for path in FOR_READERS + FOR_ANALYSTS + FOR_EDITORS + FOR_ADMINS:
        is_led_back = role == "reader" and not path.startswith("/api/")
        assert http.get(path, headers=BROWSER).status_code == (200 if path in sees else refused[is_led_back]), path


def test_a_reader_is_always_led_to_the_results(http: FlaskClient, app: Flask) -> None:
    """Whatever page somebody with a shared link asks for, one that is not there too, they get the results that the link
    is for, a sentence that says so, and nothing about roles. The logo leads there. Forms are still refused.
    """
    enter(http, app, "reader", "campus-health")
    for path in ("/", "/surveys/new", "/sessions", "/surveys/other", "/surveys/nowhere", f"{DASHBOARD}/progress"):
        led = http.get(path, headers=BROWSER, follow_redirects=True)
        assert led.status_code == 200 and led.request.path == DASHBOARD, path
        assert "What you opened was not shared with you." in led.text and "role" not in led.text.split("<main")[1][:300]
        assert f'class="brand" href="{DASHBOARD}"' in led.text
    word = word_in(http.get(DASHBOARD))
    for path in (f"{DASHBOARD}/close", f"{DASHBOARD}/archive", "/surveys/other/close", "/surveys/new"):
        assert http.post(path, data={"word": word}, headers=BROWSER).status_code == 403


def test_a_reader_compares_with_no_other_survey(http: FlaskClient, app: Flask) -> None:
    """A reader of one shared survey cannot see another through a comparison."""
    enter(http, app, "reader", "campus-health")
    for path in (f"{DASHBOARD}/compare", "/api/v1/surveys/campus-health/compare"):
        assert http.get(f"{path}?question=vaped&with=other").status_code == 403


# --- shared links ----------------------------------------------------------------------------------------------------


def made_link(http: FlaskClient, days: str = "30") -> str:
    page = send(http, "/surveys/campus-health/share", "/surveys/campus-health/share", days=days, label="The board")
    assert page.status_code == 200
    found = re.search(r'value="http://localhost(/shared/[\w-]+)"', page.text)
    assert found is not None
    return found[1]


def test_a_shared_link_lets_anyone_read_until_it_is_revoked(http: FlaskClient, app: Flask) -> None:
    """Anyone with the link can open the results, and no more; revoking the link ends that at once."""
    enter(http, app)
    link = made_link(http)
    guest = app.test_client()
    page = guest.get(link)
    assert page.status_code == 200 and "Campus health 2026" in page.text and "Set-Cookie" not in page.headers
    opened = send(guest, link, link)
    assert opened.status_code == 303 and opened.location == DASHBOARD
    assert guest.get(DASHBOARD).status_code == 200 and guest.get(f"{ESTIMATES}.csv").status_code == 200
    assert guest.get("/surveys/other").location == f"{DASHBOARD}?elsewhere=1"
    assert link.rpartition("/")[2] not in http.get(f"{DASHBOARD}/share").text, "shown once"
    token = next(token for token in storage_of(app).tokens.all() if token.role == "reader")
    assert send(http, f"{DASHBOARD}/share/{token.id}/revoke", f"{DASHBOARD}/share").status_code == 303
    assert guest.get(DASHBOARD).status_code == 303 and guest.get(link).status_code == 404


def test_a_shared_link_expires(http: FlaskClient, app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link for one day works today and not tomorrow. Then it says that it has expired, and of which survey it was is
    no longer said; the list of links shows it as expired.
    """
    enter(http, app)
    link = made_link(http, "1")
    guest = app.test_client()
    send(guest, link, link)
    assert guest.get(DASHBOARD).status_code == 200
    keyring = storage_of(app).tokens
    today = keyring._today()  # type: ignore[attr-defined]
    monkeypatch.setattr(keyring, "_today", lambda: today.fromordinal(today.toordinal() + 1))
    assert guest.get(DASHBOARD).status_code == 303
    over = guest.get(link)
    assert over.status_code == 410 and "This link has expired" in over.text and today.isoformat() in over.text
    assert "Campus health" not in over.text and send(guest, link, "/sign-in").status_code == 404
    listed = http.get(f"{DASHBOARD}/share").text
    assert '<span class="badge">expired</span>' in listed and "Remove the link for The board" in listed


def test_a_link_can_only_be_revoked_where_it_belongs(http: FlaskClient, app: Flask) -> None:
    """An analyst cannot revoke somebody's token, or another survey's link, through a survey's page."""
    enter(http, app)
    make_token(storage_of(app), "reader", "", surveys={"other": "reader"})
    for token in storage_of(app).tokens.all():
        send(http, f"{DASHBOARD}/share/{token.id}/revoke", f"{DASHBOARD}/share")
    assert len(storage_of(app).tokens.all()) == 2


def test_a_link_goes_with_its_maker(http: FlaskClient, app: Flask) -> None:
    """When an analyst's token is revoked, the links that they made stop working, and the results that these opened."""
    enter(http, app)
    link = made_link(http)
    guest = app.test_client()
    send(guest, link, link)
    assert guest.get(DASHBOARD).status_code == 200
    keyring = storage_of(app).tokens
    keyring.revoke(next(token.id for token in keyring.all() if token.role == "analyst"))
    assert guest.get(DASHBOARD).status_code == 303 and guest.get(link).status_code == 404
    assert keyring.all() == []


def test_who_may_see_more_stays_who_they_are(http: FlaskClient, app: Flask) -> None:
    """An analyst who opens a shared link is still an analyst afterwards."""
    enter(http, app)
    link = made_link(http)
    send(http, link, link)
    assert http.get("/").status_code == 200


# --- headers and errors ----------------------------------------------------------------------------------------------


def test_every_page_is_closed_to_other_sites(http: FlaskClient, app: Flask) -> None:
    """Only this server's own scripts and styles, no inline ones, no frame, nothing kept by the browser."""
    pages = [http.get("/sign-in"), http.get("/nowhere", headers=BROWSER)]
    enter(http, app, "admin")
    pages += [http.get(path) for path in ("/", "/surveys/new", DASHBOARD, f"{DASHBOARD}/share", f"{DASHBOARD}/close")]
    for page in pages:
        policy = page.headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'") and "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy and "base-uri 'none'" in policy and "form-action 'self'" in policy
        assert page.headers["Cache-Control"] == "no-store" and page.headers["X-Content-Type-Options"] == "nosniff"
        assert page.headers["Referrer-Policy"] == "same-origin"
        assert not re.search(r"<script(?![^>]*\ssrc=)|\son\w+=|\sstyle=|<style|https?://(?!localhost)", page.text)


def test_who_asks_for_a_page_gets_errors_as_one(http: FlaskClient) -> None:
    """A browser is shown what is wrong in words; a program gets the document."""
    page = http.get("/nowhere", headers=BROWSER)
    assert page.status_code == 404 and "Not found" in page.text and "<h1>" in page.text
    assert http.get("/nowhere").content_type == "application/problem+json"
    assert http.get("/api/v1/nowhere", headers=BROWSER).content_type == "application/problem+json"


def test_nothing_of_a_session_is_logged(http: FlaskClient, app: Flask, caplog: pytest.LogCaptureFixture) -> None:
    """Neither tokens nor cookies nor addresses appear in the log."""
    caplog.set_level("DEBUG")
    secret = enter(http, app)
    http.get(DASHBOARD)
    cookie = http.get_cookie("deniable")
    assert cookie is not None
    for word in (secret, cookie.value, "127.0.0.1"):
        assert word not in caplog.text


def test_pages_say_when_the_database_is_gone(
    http: FlaskClient, app: Flask, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A browser with a session gets a page with 503 and every header, and the log has neither address nor secret."""
    enter(http, app)
    caplog.clear()

    def gone(*args: object) -> None:
        raise Unavailable("/secret/path/a.db is gone")

    storage = storage_of(app)
    for name in ("find", "shown"):
        monkeypatch.setattr(storage.tokens, name, gone)
    monkeypatch.setattr(storage, "find", gone)
    for path in ("/", DASHBOARD, "/s/campus-health", "/shared/SECRETSECRET"):
        page = http.get(path, headers=BROWSER)
        assert page.status_code == 503, path
        assert page.headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self'")
        assert page.headers["Retry-After"] and page.headers["X-Content-Type-Options"] == "nosniff"
    assert http.get("/sign-in", headers=BROWSER).status_code == 200
    assert "SECRET" not in caplog.text and "secret" not in caplog.text and DASHBOARD not in caplog.text


def test_what_fails_after_a_request_is_logged_without_its_content(
    http: FlaskClient, app: Flask, caplog: pytest.LogCaptureFixture
) -> None:
    """An error while a response is finished ends in a 500 with every header; its text and the address stay out of the
    log.
    """

    @app.after_request
    def fail(response: object) -> object:
        raise KeyError("canary")

    response = http.get("/shared/SECRETSECRET", headers=BROWSER)
    assert response.status_code == 500
    assert "default-src 'none'" in response.headers["Content-Security-Policy"]
    assert "KeyError" in caplog.text and "canary" not in caplog.text and "SECRET" not in caplog.text


def test_links_name_the_host_that_was_asked(settings: Settings, example: bytes) -> None:
    """A visitor's X-Forwarded-Host does not get into the links for respondents and readers."""
    app = create_app(replace(settings, trusted_proxies=1))
    storage_of(app).publish(example)
    http = app.test_client()
    enter(http, app)
    assert "evil" not in http.get(f"{DASHBOARD}/share", headers={"X-Forwarded-Host": "evil.example"}).text
    storage_of(app).close()
