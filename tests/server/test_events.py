"""The security log: what it says of those with tokens, and that it says nothing of anybody else."""

from __future__ import annotations

import re

import pytest
from flask import Flask
from flask.testing import FlaskClient

from deniable_server.storage import Token
from deniable_server.web.security_log import MOST_REFUSALS, USES_EVERY, SecurityLog
from tests.helpers.drafts import new_draft
from tests.helpers.servers import storage_of
from tests.helpers.sign_in import BROWSER, enter, send

DASHBOARD = "/surveys/campus-health"
API = "/api/v1/surveys/campus-health"


LINE = re.compile(r"at=\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ event=[a-z-]+( [a-z]+=([A-Za-z0-9._-]+|\?))*")


def events(lines: pytest.LogCaptureFixture) -> list[str]:
    """What was logged since, without the times; each line in its form."""
    said = [record.getMessage() for record in lines.records if record.name == "deniable_server.web.security_log"]
    lines.clear()
    assert all(LINE.fullmatch(line) for line in said), said
    return [line.partition(" ")[2] for line in said]


def test_what_people_with_tokens_do_is_logged(
    http: FlaskClient, app: Flask, example: bytes, lines: pytest.LogCaptureFixture
) -> None:
    """Signing in and out, sharing, publishing, holding back and closing: when, by which token, of which survey."""
    secret = enter(http, app, "admin")
    (admin,) = storage_of(app).tokens.all()
    who = f"token={admin.id} role=admin"
    send(http, f"{DASHBOARD}/share", f"{DASHBOARD}/share", days="1", label="canary-label")
    link = next(token.id for token in storage_of(app).tokens.all() if token.role == "reader")
    send(http, f"{DASHBOARD}/share/{link}/revoke", f"{DASHBOARD}/share")
    question = {"id": "q", "type": "yes_no", "text": "Q?", "epsilon": 1}
    draft = new_draft(storage_of(app), {"id": "b1", "title": "B", "questions": [question]})
    page = f"/drafts/{draft}/publish"
    assert send(http, page, page, version="1").status_code == 303
    bearer = {"Authorization": f"Bearer {secret}"}
    for _ in range(3):
        assert http.post("/api/v1/surveys/b1/close", headers=bearer).status_code == 200
    assert http.post(f"/api/v1{DASHBOARD}/hold", headers=bearer, json={"until": 70}).status_code == 200
    send(http, f"{DASHBOARD}/hold", f"{DASHBOARD}/hold", until="closed")
    send(http, f"{DASHBOARD}/close", f"{DASHBOARD}/close")
    send(http, "/sign-out", "/")
    assert "canary" not in lines.text and secret not in lines.text and "127.0.0.1" not in lines.text
    assert events(lines) == [
        f"event=signed-in {who}",
        f"event=link-made {who} link={link} survey=campus-health",
        f"event=link-revoked {who} link={link} survey=campus-health",
        f"event=survey-published {who} survey=b1",
        f"event=token-used {who}",
        *[f"event=survey-closed {who} survey=b1"] * 3,
        f"event=results-held {who} survey=campus-health until=70",
        f"event=results-held {who} survey=campus-health until=closed",
        f"event=survey-closed {who} survey=campus-health",
        f"event=signed-out {who}",
    ]


def test_what_is_refused_is_logged_without_who_it_was(
    http: FlaskClient, app: Flask, lines: pytest.LogCaptureFixture
) -> None:
    """Unknown tokens, roles that do not allow it and forms from elsewhere: which route, and no address or secret."""
    http.get("/api/v1/surveys", headers={"Authorization": "Bearer canary-1"})
    send(http, "/sign-in", "/sign-in", token="canary-2")
    http.get("/shared/canary-3", headers=BROWSER)
    enter(http, app)
    (token,) = storage_of(app).tokens.all()
    http.get("/surveys/new?canary-4", headers=BROWSER)
    http.post(f"{DASHBOARD}/share", data={"word": "canary-5"}, headers=BROWSER)
    assert "canary" not in lines.text and "127.0.0.1" not in lines.text
    who = f"token={token.id} role=analyst"
    assert events(lines) == [
        "event=unknown-token way=header",
        "event=unknown-token way=form",
        "event=unknown-token way=link",
        f"event=signed-in {who}",
        f"event=forbidden {who} needs=editor route=drafts.new",
        f"event=foreign-form {who} route=surveys.share",
    ]


def test_respondents_make_no_line(http: FlaskClient, lines: pytest.LogCaptureFixture, example: bytes) -> None:
    """Reading a survey, its page and its files, sending it rightly or wrongly: nothing is logged."""
    for path in ("/s/campus-health", "/s/none", API, "/deniable.js", "/static/respondent.css", "/static/none"):
        http.get(path, headers=BROWSER)
    for body in (b"{", b"{}", b'{"id": 1}', b"x" * 100):
        http.post(f"{API}/submissions", data=body, content_type="application/json")
    http.open(f"{API}/submissions", method="OPTIONS", headers={"Origin": "https://app.example"})
    assert lines.text == ""


def test_refusals_do_not_fill_the_disk(lines: pytest.LogCaptureFixture) -> None:
    """Of a thousand in a minute, sixty are logged singly and the rest as a count; what people did is always logged."""
    now = [60_000.0]
    log, token = SecurityLog(lambda: now[0]), Token("ab12cd34", "admin", "", "d" * 64, "2026-03-01")
    for _ in range(1000):
        log.refused("unknown-token", way="form")
    log.did("signed-in", token)
    assert events(lines) == ["event=unknown-token way=form"] * MOST_REFUSALS + [
        "event=signed-in token=ab12cd34 role=admin"
    ]
    now[0] += 60
    log.refused("unknown-token", way="link")
    assert events(lines) == [f"event=refusals-left-out count={1000 - MOST_REFUSALS}", "event=unknown-token way=link"]


def test_programs_are_noted_once_an_hour(lines: pytest.LogCaptureFixture) -> None:
    """Each token is noted once an hour on its own."""
    now = [60_000.0]
    log = SecurityLog(lambda: now[0])
    one, two = (Token(name, "analyst", "", "d" * 64, "2026-03-01") for name in ("aa", "bb"))
    for token in (one, one, two, one):
        log.used(token)
    now[0] += USES_EVERY
    log.used(one)
    assert [line[-15:-13] for line in events(lines)] == ["aa", "bb", "aa"]


@pytest.mark.parametrize("value", ["a\nb", "a b=c", "\x1b[31m", "ü", "", "x" * 81, "{}", "%s"])
def test_no_line_can_be_forged(lines: pytest.LogCaptureFixture, value: str) -> None:
    """A value that is no plain word is logged as a question mark, whatever route it came by."""
    SecurityLog().refused("forbidden", None, survey=value)
    assert events(lines) == ["event=forbidden survey=?"]
