"""Tokens for invitations over HTTP, and how admins make, count and revoke invitations."""

from __future__ import annotations

import logging
from datetime import date, timedelta
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from deniable_protocol.blind_signatures import PublicKey, to_text, verify_token
from deniable_protocol.invitations import TYPED, draw_code, read_code
from deniable_server import create_app
from deniable_server.settings import Settings, parse_rate
from deniable_server.storage import Storage
from deniable_server.storage.invitations import make_invitations
from deniable_server.storage.tokens import make_token
from deniable_server.web import context
from proofs.cheats import Cheats, foreign_token
from proofs.invitees import publish_by_invitation
from proofs.parcels import Maker, submissions_path
from tests.helpers.by_invitation import INVITED, Device, invite, publish_invited
from tests.helpers.servers import storage_of

INVITATIONS = "/api/v1/surveys/invited/invitations"
ASKING = f"{INVITATIONS.removesuffix('invitations')}tokens"


@pytest.fixture
def storage(app: Flask) -> Storage:
    found = storage_of(app)
    publish_invited(found)
    return found


@pytest.fixture
def key(storage: Storage) -> PublicKey:
    found = publish_invited(storage).document.issuer
    assert found is not None
    return found


@pytest.fixture
def admin(storage: Storage) -> dict[str, str]:
    secret, _ = make_token(storage, "admin", "me")
    return {"Authorization": f"Bearer {secret}"}


def problem(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json["type"].rpartition(":")[2]


# --- publishing -------------------------------------------------------------------------------------------------------


def test_publishing_again_keeps_the_key_and_the_document(http: FlaskClient, admin: dict[str, str]) -> None:
    """The key is made when a survey is first published. Published again, over HTTP too, nothing changes."""
    before = http.get("/api/v1/surveys/invited")
    again = http.post("/api/v1/surveys", json=INVITED, headers=admin)
    assert again.status_code == 200, again.text
    after = http.get("/api/v1/surveys/invited")
    assert after.data == before.data and after.json is not None and after.json["issuer"]["key"]
    new = http.post("/api/v1/surveys", json=INVITED | {"id": "invited-too"}, headers=admin)
    other = http.get("/api/v1/surveys/invited-too").json
    assert new.status_code == 201 and other is not None
    assert other["issuer"] != after.json["issuer"], "each survey has a key of its own"


def test_a_survey_that_is_only_looked_at_gets_no_key(http: FlaskClient, admin: dict[str, str], app: Flask) -> None:
    """A plan of a survey with invitations makes no key, and a document without one is never stored as published."""
    assert http.post("/api/v1/plan", json=INVITED | {"id": "draft"}, headers=admin).status_code == 200
    with storage_of(app)._reading() as view:  # type: ignore[attr-defined]
        assert view.rows("SELECT survey FROM issuers ORDER BY survey") == [("invited",)]


def test_damage_to_the_key_is_found(storage: Storage) -> None:
    """A document whose key the server does not have is found by a check, and gives no token."""
    publish_invited(storage)
    assert storage.verify() == []
    storage._write(("DELETE FROM issuers", {}))  # type: ignore[attr-defined]
    assert storage.verify() == ["the key that signs tokens for invited is missing, or another one"]


# --- tokens -----------------------------------------------------------------------------------------------------------


def test_an_invitation_gives_one_token(http: FlaskClient, storage: Storage, key: PublicKey) -> None:
    """The signature makes a valid token. Asked again with the same value, the answer is the same; with another, 409."""
    (code,) = invite(storage)
    device = Device(http, key, code)
    token = device.token()
    assert verify_token(key, token)
    assert device.token() == token, "signing again gives the same"
    assert problem(Device(http, key, code).ask()) == (409, "invitation-used")
    assert device.token() == token


def test_a_code_is_read_as_people_type_it(http: FlaskClient, storage: Storage, key: PublicKey) -> None:
    """Small letters, spaces and dashes make no difference."""
    (code,) = invite(storage, short=True)
    typed = f"{code[:4]} {code[4:9]}–{code[9:]}".lower()
    assert verify_token(key, Device(http, key, typed).token())


def test_codes_that_are_not_valid_get_the_same_answer(http: FlaskClient, storage: Storage, key: PublicKey) -> None:
    """Unknown, revoked and expired codes and those of other surveys: the same bytes, whichever it is."""
    revoked, expired = invite(storage), invite(storage, expires_on=date(2090, 1, 1))
    from deniable_protocol.invitations import digest_of_code

    storage.invitations.revoke(publish_invited(storage), map(digest_of_code, revoked))
    storage.invitations._today = lambda: date(2091, 1, 1)
    answers = [Device(http, key, code).ask() for code in (draw_code(), draw_code(TYPED), *revoked, *expired)]
    assert {problem(answer) for answer in answers} == {(403, "invitation-unknown")}
    assert len({answer.data for answer in answers}) == 1
    assert len({str(answer.headers) for answer in answers}) == 1


@pytest.mark.parametrize(
    ("sent", "place"),
    [
        ({"invitation": "ABCD"}, "invitation"),
        ({"invitation": "0" * 28}, "invitation"),
        ({"blinded": "AAAA"}, "blinded"),
        ({"blinded": to_text(b"\xff" * 256)}, "blinded"),
        ({"more": 1}, None),
        ({"invitation": 7}, None),
    ],
)
def test_what_is_malformed_uses_nothing_up(
    http: FlaskClient, storage: Storage, key: PublicKey, sent: dict[str, Any], place: str | None
) -> None:
    """It is refused before anything is looked up: a code is not used up for a value that cannot be signed."""
    (code,) = invite(storage)
    device = Device(http, key, code)
    refused = device.ask(**sent)
    assert problem(refused) == (422, "invalid") and refused.json is not None
    assert place is None or refused.json["errors"][0]["place"] == place
    assert all(str(value) not in refused.text for value in sent.values() if isinstance(value, str))
    assert storage.invitations.numbers(publish_invited(storage)).used == 0
    assert device.token()


def test_surveys_that_give_no_tokens(http: FlaskClient, storage: Storage, key: PublicKey) -> None:
    """An unknown survey and one without invitations: 404. A closed one: 409, whether or not the code is known."""
    (code,) = invite(storage)
    sent = {"invitation": code, "blinded": to_text(Device(http, key, code).blinding.blinded)}
    for survey in ("nobody", "campus-health"):
        assert problem(http.post(f"/api/v1/surveys/{survey}/tokens", json=sent)) == (404, "not-found")
    storage.close_survey(publish_invited(storage))
    assert problem(Device(http, key, code).ask()) == problem(Device(http, key, draw_code()).ask())
    assert problem(Device(http, key, code).ask()) == (409, "survey-closed")


def test_asking_is_limited_without_any_setting(
    http: FlaskClient, key: PublicKey, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    """From one address so many requests a minute are answered, right or wrong; then no code is tried any more. The
    limit for submissions, if there is one, is the limit for tokens, too.
    """
    assert context.TOKENS.number < 1000
    limited = create_app(Settings(database=settings.database, rate_limit=parse_rate("3/minute")))
    device = Device(limited.test_client(), key, invite(storage_of(limited))[0])
    answers = [device.ask(invitation=draw_code()).status_code for _ in range(3)]
    assert answers == [403, 403, 403] and problem(device.ask()) == (429, "rate-limit")
    storage_of(limited).close()
    monkeypatch.setattr(context, "TOKENS", parse_rate("2/minute"))
    free = create_app(Settings(database=settings.database))
    device = Device(free.test_client(), key, draw_code())
    assert [device.ask().status_code for _ in range(3)] == [403, 403, 429]
    storage_of(free).close()


def test_a_token_that_may_not_be_spent_is_refused(http: FlaskClient, app: Flask) -> None:
    """Spent twice, forged, of another survey, under another id, cut short or left out: each is refused with its own
    problem, and nothing is stored.
    """
    storage = storage_of(app)
    survey, other = (publish_by_invitation(storage, name) for name in ("invited", "elsewhere"))
    issuer = survey.document.issuer
    assert issuer is not None
    (code,) = make_invitations(storage, survey, 1)
    token = Device(http, issuer, code).token()
    spent = Maker(21).submission(survey.document, token)
    assert http.post(submissions_path("invited"), json=spent).json == {"accepted": 1, "duplicates": 0}
    foreign = foreign_token(storage.invitations.key("elsewhere"))
    tried = [*Cheats(survey.document, other.document, foreign, 21).all_with(token, spent, code)]
    assert len(tried) == 13
    for cheat in tried:
        answer = http.post(cheat.path, json=cheat.tree, headers=cheat.headers)
        assert answer.json is not None and cheat.is_refused(answer.status_code, answer.json), (cheat.kind, answer.text)
    assert {listed.id: listed.submissions for listed in storage.surveys() if listed.submissions} == {"invited": 1}
    assert storage.invitations.numbers(survey).used == 1 and storage.verify() == []


def test_pages_of_other_origins_may_ask(
    http: FlaskClient, storage: Storage, settings: Settings, key: PublicKey
) -> None:
    """As for submissions, and only for respondents' requests: admins' are not shared."""
    origin = {"Origin": "https://news.example"}
    shared = create_app(Settings(database=settings.database, allowed_origins=("https://news.example",)))
    client = shared.test_client()
    assert client.options(ASKING, headers=origin).headers["Access-Control-Allow-Origin"] == origin["Origin"]
    assert "Access-Control-Allow-Origin" in client.post(ASKING, json={}, headers=origin).headers
    assert "Access-Control-Allow-Origin" not in client.post(INVITATIONS, json={}, headers=origin).headers
    storage_of(shared).close()


def test_nothing_about_a_request_is_logged_or_counted_by_survey(
    http: FlaskClient, storage: Storage, key: PublicKey, caplog: pytest.LogCaptureFixture
) -> None:
    """Tokens given and refused leave no line in a log; metrics have the route and the status, and no survey."""
    caplog.set_level(logging.DEBUG)
    (code,) = invite(storage)
    Device(http, key, code).token()
    Device(http, key, code).ask()
    Device(http, key, draw_code()).ask()
    assert [record for record in caplog.records if "deniable" in record.name] == []
    counted = [line for line in http.get("/metrics").text.splitlines() if "tokens" in line]
    assert len(counted) == 3 and all('route="/api/v1/surveys/<survey>/tokens"' in line for line in counted)


# --- admins -----------------------------------------------------------------------------------------------------------


def test_an_admin_makes_counts_and_revokes(http: FlaskClient, key: PublicKey, admin: dict[str, str]) -> None:
    """Codes are in one answer only. Numbers follow what happens to them. Codes handed back show which are unused."""
    tomorrow = (date.today() + timedelta(2)).isoformat()
    made = http.post(INVITATIONS, json={"number": 5, "expires_on": tomorrow}, headers=admin)
    assert made.status_code == 201 and made.json is not None
    codes = made.json["codes"]
    assert len({*codes}) == 5 and all(read_code(code) == code for code in codes)
    shared = http.post(INVITATIONS, json={"number": 1, "uses": 30, "short": True}, headers=admin).json
    assert shared is not None and len(shared["codes"][0]) == 14
    for code in (codes[0], codes[1], *shared["codes"]):
        Device(http, key, code).token()
    found = http.post(f"{INVITATIONS}/unused", json={"codes": [*codes, *shared["codes"]]}, headers=admin).json
    assert found is not None and found["codes"] == [*codes[2:], *shared["codes"]]
    assert http.post(f"{INVITATIONS}/revoke", json={"codes": codes[1:3]}, headers=admin).json == {"revoked": 1}
    numbers = http.get(INVITATIONS, headers=admin).json
    assert numbers == {
        "codes": 6, "made": 35, "used": 3, "unused": 31, "revoked": 1, "expired": 0,
        "rate": 3 / 34,
    }  # fmt: skip
    assert problem(Device(http, key, codes[2]).ask()) == (403, "invitation-unknown")


@pytest.mark.parametrize(
    "sent", [{"number": 0}, {"number": 10_001}, {"number": 1, "uses": 0}, {"number": 1, "expires_on": "2020-01-01"}]
)
def test_invitations_that_cannot_be_made(http: FlaskClient, admin: dict[str, str], sent: dict[str, Any]) -> None:
    """Numbers out of range and days that are over are refused."""
    assert problem(http.post(INVITATIONS, json=sent, headers=admin)) == (422, "invalid")


def test_only_admins_make_invitations(http: FlaskClient, storage: Storage) -> None:
    """Analysts see numbers. Nobody else sees anything, and an open survey has no invitations."""
    secret, _ = make_token(storage, "analyst", "me")
    analyst = {"Authorization": f"Bearer {secret}"}
    assert http.get(INVITATIONS, headers=analyst).status_code == 200
    for way in ("", "/unused", "/revoke"):
        assert http.post(f"{INVITATIONS}{way}", json={"number": 1}, headers=analyst).status_code == 403
        assert http.post(f"{INVITATIONS}{way}", json={"number": 1}).status_code == 401
    assert http.get("/api/v1/surveys/campus-health/invitations", headers=analyst).status_code == 404
