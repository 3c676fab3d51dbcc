"""Results of a survey by invitation: the response rate, and how much false submissions could do."""

from __future__ import annotations

import os
from hashlib import sha256

import msgspec
import pytest
from flask import Flask
from flask.testing import FlaskClient

from deniable_protocol import randomize
from deniable_protocol.blind_signatures import Blinding
from deniable_protocol.invitations import digest_of_code
from deniable_server.pages.sentences import response_rate
from deniable_server.storage import Row
from tests.helpers.by_invitation import invite, publish_invited
from tests.helpers.servers import storage_of
from tests.helpers.sign_in import enter, send

RESULTS, INVITATIONS = "/surveys/invited", "/surveys/invited/invitations"


@pytest.fixture
def codes(app: Flask) -> list[str]:
    """300 invitations, of which 212 are used, and each of these has led to a submission."""
    storage = storage_of(app)
    survey, codes = publish_invited(storage), invite(storage, 300)
    for code in codes[:212]:
        storage.invitations.take(survey, digest_of_code(code), sha256(code.encode()).digest())
    key = storage.invitations.key("invited")
    blinding = Blinding.draw(key.public)
    token = blinding.finish(key.public, key.sign(blinding.blinded))
    rows = []
    for place in range(212):
        answers = {"vaped": place % 3 == 0, "stress": 1 + place % 3}
        made = randomize(survey.document, answers, token=token)
        content = msgspec.json.encode([made["booklet"], made["reports"], []]).decode()
        rows.append(Row(os.urandom(16), content))
    storage.accept(survey, rows)
    return codes


@pytest.mark.parametrize(
    ("used", "invited", "said"),
    [
        (212, 300, "212 of 300 invitations used, 71%"),
        (1, 1, "1 of 1 invitation used, 100%"),
        (1, 1000, "1 of 1,000 invitations used, less than 1%"),
        (999, 1000, "999 of 1,000 invitations used, more than 99%"),
        (0, 5, "0 of 5 invitations used, 0%"),
        (0, 0, "No invitations yet"),
    ],
)
def test_the_response_rate_in_words(used: int, invited: int, said: str) -> None:
    """It is rounded, and says nothing or all only where that is so."""
    assert response_rate(used, invited) == said


def test_the_dashboard_says_how_many_answered(app: Flask, http: FlaskClient, codes: list[str]) -> None:
    """The rate is on the page and in JSON. It follows a use that has not led to a submission yet."""
    enter(http, app)
    assert "212 of 300 invitations used, 71%" in http.get(RESULTS).text
    found = http.get("/api/v1/surveys/invited/estimates").json
    assert found is not None and found["invitations"] == {
        "codes": 300, "made": 300, "used": 212, "unused": 88, "revoked": 0, "expired": 0, "rate": 212 / 300,
    }  # fmt: skip
    storage = storage_of(app)
    storage.invitations.take(publish_invited(storage), digest_of_code(codes[299]), bytes(32))
    assert "213 of 300 invitations used, 71%" in http.get(RESULTS).text


def test_open_surveys_have_no_rate(app: Flask, http: FlaskClient) -> None:
    """Where everybody can answer, nobody knows how many were asked."""
    enter(http, app)
    found = http.get("/api/v1/surveys/campus-health/estimates").json
    assert found is not None and "invitations" not in found
    assert "invitations" not in http.get("/surveys/campus-health").text


def test_false_submissions_are_at_most_the_unused_invitations(app: Flask, http: FlaskClient, codes: list[str]) -> None:
    """The page says how far these could move a share: so often what one can. Closed, there is no room for any."""
    enter(http, app)
    found = http.get("/api/v1/surveys/invited/estimates").json
    assert found is not None
    # As in the estimates: rounded up, to the first digits that differ.
    each = found["questions"][0]["fake_influence"]
    page = http.get(RESULTS).text
    said = page.partition("False submissions: at most the 88 unused invitations, which could move a share by up to ")[2]
    assert float(said.split()[0]) == pytest.approx(min(100.0, 8800 * each), rel=0.02), said[:80]
    storage = storage_of(app)
    storage.close_survey(publish_invited(storage))
    page = http.get(RESULTS).text
    assert "No invitation is left for a false submission." in page and "212 of 300 invitations used" in page


# --- the page of invitations ------------------------------------------------------------------------------------------


def test_the_page_makes_counts_and_revokes(app: Flask, http: FlaskClient, codes: list[str]) -> None:
    """Without any script: codes are shown once, and codes that are handed back are looked up, or revoked."""
    enter(http, app, "admin")
    made = send(http, INVITATIONS, INVITATIONS, number="2", uses="30", kind="short", expires="2099-12-31")
    assert made.status_code == 200 and "2 invitations, each for 30 people" in made.text
    assert "It works until the end of 2099-12-31" in made.text
    assert "212 of 360 invitations used, 59%" in http.get(INVITATIONS).text
    typed = "\n".join([*codes[210:214], "no code", f"x,/s/invited#0.{codes[214]}"])
    unused = send(http, f"{INVITATIONS}/unused", INVITATIONS, codes=typed)
    assert "3 of 5 codes can still be used." in unused.text and codes[210] not in unused.text
    assert send(http, f"{INVITATIONS}/revoke", INVITATIONS, codes=typed).status_code == 422, (
        "nobody said that it is meant"
    )
    revoked = send(http, f"{INVITATIONS}/revoke", INVITATIONS, codes=typed, sure="1")
    assert "3 of 5 codes could still be used. They are revoked." in revoked.text
    assert "212 of 357 invitations used, 59%" in http.get(INVITATIONS).text
    sheet = send(http, f"{INVITATIONS}/sheet", INVITATIONS, codes="\n".join(codes[:3]))
    assert sheet.text.count("<svg") == 3 and "script-src 'self'" in sheet.headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    "fields",
    [
        {"number": "", "uses": "1"},
        {"number": "0", "uses": "1"},
        {"number": "99999", "uses": "1"},
        {"number": "1", "uses": "-1"},
        {"number": "1", "uses": "1", "expires": "2020-01-01"},
        {"number": "1", "uses": "1", "expires": "soon"},
    ],
)
def test_the_page_says_what_is_wrong(app: Flask, http: FlaskClient, codes: list[str], fields: dict[str, str]) -> None:
    """A number or a day that cannot be used is named, and nothing is made."""
    enter(http, app, "admin")
    refused = send(http, INVITATIONS, INVITATIONS, **fields)
    assert refused.status_code == 422 and 'class="message bad"' in refused.text
    assert "212 of 300" in refused.text


def test_analysts_see_numbers_only(app: Flask, http: FlaskClient, codes: list[str]) -> None:
    """They get no form, and the page of an open survey does not exist."""
    enter(http, app)
    page = http.get(INVITATIONS).text
    assert "212 of 300" in page and "Make invitations" not in page and "Revoke these codes" not in page
    assert http.get("/surveys/campus-health/invitations").status_code == 404


def test_codes_of_a_page_are_not_kept(app: Flask, http: FlaskClient) -> None:
    """What was shown once is shown never again: not in the list, not in the numbers, and browsers do not store it."""
    publish_invited(storage_of(app))
    enter(http, app, "admin")
    made = send(http, INVITATIONS, INVITATIONS, number="1", uses="1")
    code = made.text.partition("code,link\n")[2].partition(",")[0]
    assert len(code) > 14 and made.headers["Cache-Control"] == "no-store"
    assert code not in http.get(INVITATIONS).text
