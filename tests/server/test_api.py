"""The HTTP interface: who may do what, what comes back, and what every refusal looks like."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import tomllib
from base64 import urlsafe_b64decode
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec
import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from deniable_protocol import Document, atoms_of, parse_survey, publish, randomize, survey_from_tree, verify
from deniable_server import create_app
from deniable_server.errors import Kind, Unavailable
from deniable_server.planning import SurveyPlan, plan_survey
from deniable_server.settings import Settings, parse_rate
from deniable_server.storage.tokens import make_token
from deniable_server.web import context
from deniable_web import web_file, web_files
from tests.helpers.servers import collector, let_collect, storage_of

SURVEY = "/api/v1/surveys/campus-health"
SUBMISSIONS = f"{SURVEY}/submissions"


PAGES = (
    "sign_in", "surveys", "drafts", "preview", "progress", "fieldwork", "inviting", "dashboard", "people", "activity",
)  # fmt: skip
"""Blueprints that are for people."""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(database=str(tmp_path / "a.db"), max_body_bytes=100_000)


@pytest.fixture
def document(example: bytes) -> Document:
    return verify(example)


@pytest.fixture
def submission(document: Document, example_answers: dict[str, Any]) -> dict[str, Any]:
    return dict(randomize(document, example_answers, {"campus": "north"}))


@pytest.fixture
def tree(root: Path) -> dict[str, Any]:
    """The example survey as its file says it."""
    return tomllib.loads((root / "server" / "deniable_server" / "example.toml").read_text("utf-8"))


def bearer(app: Flask, role: Any) -> dict[str, str]:
    return {"Authorization": f"Bearer {make_token(storage_of(app), role, 'test')[0]}"}


def assert_problem(response: TestResponse, kind: Kind) -> dict[str, Any]:
    """One shape for every refusal."""
    assert response.content_type == "application/problem+json"
    problem = json.loads(response.data)
    assert response.status_code == problem["status"] == kind.status, problem
    assert problem["type"] == f"urn:deniable:problem:{kind.slug}"
    assert problem["title"] == kind.title and problem["detail"]
    assert set(problem) <= {"type", "title", "status", "detail", "errors"}
    return problem


# --- respondents -----------------------------------------------------------------------------------------------------


def test_the_published_bytes_are_served_verbatim(http: FlaskClient, example: bytes, document: Document) -> None:
    """The response is the document, with its digest in a header and without caching."""
    response = http.get(SURVEY)
    assert response.data == example
    assert response.headers["Deniable-Digest"] == document.digest
    assert response.headers["Cache-Control"] == "no-store"
    assert response.content_type == "application/json"


def test_a_submission_and_its_retry(http: FlaskClient, app: Flask, submission: dict[str, Any]) -> None:
    """Stored once, known the second time, refused with other content."""
    first = http.post(SUBMISSIONS, json=submission)
    assert (first.status_code, first.json) == (201, {"accepted": 1, "duplicates": 0})
    again = http.post(SUBMISSIONS, data=json.dumps(submission, indent=2), content_type="application/json")
    assert (again.status_code, again.json) == (201, {"accepted": 0, "duplicates": 1})
    changed = {**submission, "segments": {"campus": "south"}}
    assert_problem(http.post(SUBMISSIONS, json=changed), Kind.CONFLICT)
    (listed,) = storage_of(app).surveys()
    assert listed.submissions == 1


def test_a_batch_is_stored_whole_or_not_at_all(
    http: FlaskClient, app: Flask, document: Document, example_answers: dict[str, Any]
) -> None:
    """One bad submission refuses all of them, with its place; without it, all are stored."""
    batch = [dict(randomize(document, example_answers, {"campus": "south"})) for _ in range(5)]
    bad = [*batch, {**batch[0], "id": "x"}]
    let_collect(storage_of(app), "campus-health")
    token = collector("campus-health")
    problem = assert_problem(http.post(SUBMISSIONS, json={"submissions": bad}, headers=token), Kind.INVALID)
    assert [error["place"] for error in problem["errors"]] == ["submissions[5].id"]
    assert storage_of(app).surveys()[0].submissions == 0
    answer = http.post(SUBMISSIONS, json={"submissions": batch}, headers=token)
    assert answer.json == {"accepted": 5, "duplicates": 0}


def test_a_submission_to_another_booklet_stores_nothing(
    http: FlaskClient, app: Flask, document: Document, example_answers: dict[str, Any]
) -> None:
    """A booklet that the survey does not have, and reports that the booklet cannot give, are refused at their place."""
    parts = [document.parts_of(number)[0] for number in range(len(document.booklets))]
    joint = max(range(len(parts)), key=lambda number: len(parts[number].paths))
    single = next(number for number, part in enumerate(parts) if part.items[0].asks_mean)
    channel = parts[joint].channel
    sent = dict(randomize(document, example_answers, {"campus": "north"}, booklet=joint))
    sent["reports"] = [((1 << channel.held) - 1) << channel.answers - channel.held]  # of all its reports the largest
    for change, place in (
        ({"booklet": len(document.booklets)}, "booklet"),
        ({"booklet": -1}, "booklet"),
        ({"booklet": single}, "reports[0]"),
        ({"reports": []}, "reports"),
        ({"reports": sent["reports"] * 2}, "reports"),
    ):
        problem = assert_problem(http.post(SUBMISSIONS, json={**sent, **change}), Kind.INVALID)
        assert [error["place"] for error in problem["errors"]] == [place]
    assert storage_of(app).surveys()[0].submissions == 0
    assert http.post(SUBMISSIONS, json=sent).json == {"accepted": 1, "duplicates": 0}


@pytest.mark.parametrize(
    ("body", "content_type", "kind"),
    [
        (b"{", "application/json", Kind.NOT_JSON),
        (b"", "application/json", Kind.NOT_JSON),
        (b'{"id":1,"id":1}', "application/json", Kind.NOT_JSON),
        (b"[" * 50_000, "application/json", Kind.NOT_JSON),
        (b"{}", "application/json", Kind.INVALID),
        (b"{}", "application/json; charset=utf-8", Kind.INVALID),
        (b"{}", "text/plain", Kind.MEDIA_TYPE),
        (b"{}", "", Kind.MEDIA_TYPE),
        (b" " * 100_001, "application/json", Kind.TOO_LARGE),
    ],
)
def test_a_malformed_request_stores_nothing(
    http: FlaskClient, app: Flask, body: bytes, content_type: str, kind: Kind
) -> None:
    """Each malformed request gets its own kind of problem, and never a 500."""
    assert_problem(http.post(SUBMISSIONS, data=body, content_type=content_type), kind)
    assert storage_of(app).surveys()[0].submissions == 0


def test_a_compressed_body_is_refused(http: FlaskClient, submission: dict[str, Any]) -> None:
    """Compressed bodies are refused, because a small one could expand to a huge one."""
    response = http.post(SUBMISSIONS, json=submission, headers={"Content-Encoding": "gzip"})
    assert_problem(response, Kind.MEDIA_TYPE)


def test_a_large_body_is_refused_before_it_is_read(http: FlaskClient) -> None:
    """The stated length alone is enough to refuse a body."""
    stated = {"CONTENT_LENGTH": "999999"}
    response = http.post(SUBMISSIONS, data=b"{}", content_type="application/json", environ_overrides=stated)
    assert_problem(response, Kind.TOO_LARGE)


def test_the_wrong_digest_and_a_closed_survey(http: FlaskClient, app: Flask, submission: dict[str, Any]) -> None:
    """Both are conflicts, of types that a client can distinguish; a retry after closing is still a duplicate."""
    assert_problem(http.post(SUBMISSIONS, json={**submission, "digest": "0" * 64}), Kind.WRONG_DIGEST)
    http.post(SUBMISSIONS, json=submission)
    admin = bearer(app, "admin")
    assert http.post(f"{SURVEY}/close", headers=admin).json["status"] == "closed"
    assert_problem(http.post(SUBMISSIONS, json={**submission, "id": "0" * 32}), Kind.CLOSED)
    assert http.post(SUBMISSIONS, json=submission).json == {"accepted": 0, "duplicates": 1}
    assert http.get(SURVEY).status_code == 200


def test_no_survey_and_no_such_thing(http: FlaskClient, submission: dict[str, Any]) -> None:
    """Unknown surveys, addresses and methods are problem documents too."""
    assert_problem(http.get("/api/v1/surveys/nothing"), Kind.NOT_FOUND)
    assert_problem(http.post("/api/v1/surveys/nothing/submissions", json=submission), Kind.NOT_FOUND)
    assert_problem(http.get("/nowhere"), Kind.NOT_FOUND)
    response = http.delete(SUBMISSIONS)
    assert_problem(response, Kind.METHOD)
    assert "POST" in response.headers["Allow"]


def test_an_error_never_repeats_what_was_sent(http: FlaskClient, submission: dict[str, Any]) -> None:
    """Nothing that a broken client sends, whole answers included, is repeated in the response."""
    broken: list[dict[str, Any]] = [
        {"reports": {"cannabis-canary": "every-weekend-canary"}},
        {"reports": ["yes-canary"]},
        {"segments": {"cannabis-canary": "every-weekend-canary"}},
        {"booklet": "canary"},
        {"cannabis-canary": "every-weekend-canary"},
    ]
    for part in broken:
        response = http.post(SUBMISSIONS, json=submission | part)
        assert response.status_code in (400, 422) and b"canary" not in response.data


@pytest.mark.parametrize("path", ["//api/v1/surveys/campus-health", "/api/v1//surveys/campus-health", "/healthz/"])
def test_a_wrong_address_is_not_redirected(http: FlaskClient, path: str) -> None:
    """Addresses with double or trailing slashes are not found."""
    assert_problem(http.get(path), Kind.NOT_FOUND)


# --- trouble inside --------------------------------------------------------------------------------------------------


def test_unavailable_storage_is_503_with_retry_after(
    http: FlaskClient, app: Flask, submission: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is acknowledged, the sender learns when to try again, and no path of the server is revealed."""

    def fail(*_: object) -> None:
        raise Unavailable("/secret/path/a.db: database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(storage_of(app), "accept", fail)
        patch.setattr(storage_of(app), "ready", fail)
        response = http.post(SUBMISSIONS, json=submission)
        assert_problem(response, Kind.UNAVAILABLE)
        assert int(response.headers["Retry-After"]) > 0 and b"secret" not in response.data
        assert_problem(http.get("/readyz"), Kind.UNAVAILABLE)
        assert http.get("/healthz").status_code == 200
    assert http.post(SUBMISSIONS, json=submission).status_code == 201


def test_a_bug_is_a_500_that_says_nothing(
    http: FlaskClient,
    app: Flask,
    submission: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The log shows where the error happened; neither log nor response shows with which data."""

    def fail(_: object, rows: list[Any], *__: object) -> None:
        raise KeyError(f"canary {rows}")

    monkeypatch.setattr(storage_of(app), "accept", fail)
    response = http.post(SUBMISSIONS, json=submission)
    assert_problem(response, Kind.INTERNAL)
    assert b"canary" not in response.data
    (record,) = [record for record in caplog.records if record.levelname == "ERROR"]
    assert "KeyError" in record.getMessage() and "submissions.py" in record.getMessage()
    assert "canary" not in caplog.text and submission["id"] not in caplog.text


# --- roles -----------------------------------------------------------------------------------------------------------

ANALYST = [("GET", "/api/v1/surveys"), ("GET", f"{SURVEY}/estimates"), ("GET", f"{SURVEY}/reports.csv")]
ADMIN = [("POST", "/api/v1/surveys"), ("POST", "/api/v1/plan"), ("POST", f"{SURVEY}/close"), ("POST", f"{SURVEY}/hold")]


@pytest.mark.parametrize(("method", "path"), ANALYST + ADMIN)
def test_a_token_is_needed(http: FlaskClient, app: Flask, method: str, path: str) -> None:
    """Without one, with a wrong one, with a revoked one or with another scheme: 401, and how to do better."""
    made = bearer(app, "admin")
    keyring = storage_of(app).tokens
    keyring.revoke(keyring.all()[0].id)
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic YTpi"}, made):
        response = http.open(path, method=method, headers=headers)
        assert_problem(response, Kind.UNAUTHORIZED)
        assert response.headers["WWW-Authenticate"].startswith("Bearer")


def test_every_route_keeps_the_role_that_it_states(http: FlaskClient, app: Flask) -> None:
    """Routes that state a role refuse a request without a token; respondents need none."""
    stated = {}
    for rule in app.url_map.iter_rules():
        operation = getattr(app.view_functions[rule.endpoint], "operation", None)
        if operation is None or not rule.rule.startswith("/api/"):
            continue
        (method,) = (rule.methods or set()) - {"HEAD", "OPTIONS"}
        stated[method, rule.rule] = operation.role
        if operation.role is not None:
            assert_problem(http.open(rule.rule.replace("<survey>", "campus-health"), method=method), Kind.UNAUTHORIZED)
    assert {route for route, role in stated.items() if role is None} == {
        ("GET", "/api/v1/surveys/<survey>"),
        ("POST", "/api/v1/surveys/<survey>/submissions"),
        ("POST", "/api/v1/surveys/<survey>/tokens"),
    }
    assert len(stated) == 23


@pytest.mark.parametrize(("method", "path"), ADMIN)
def test_an_analyst_may_not_publish_or_close(http: FlaskClient, app: Flask, method: str, path: str) -> None:
    """The role is checked before anything else."""
    assert_problem(http.open(path, method=method, headers=bearer(app, "analyst"), json={}), Kind.FORBIDDEN)


@pytest.mark.parametrize(("method", "path"), ANALYST)
def test_an_admin_may_read(http: FlaskClient, app: Flask, method: str, path: str) -> None:
    """Admins may do what analysts may."""
    for role in ("analyst", "admin"):
        assert http.open(path, method=method, headers=bearer(app, role)).status_code == 200


def test_results_that_are_held_back(http: FlaskClient, app: Flask, submission: dict[str, Any]) -> None:
    """Nothing that tells the answers is given out, to admins either, before the survey has so many submissions or is
    closed; then it is.
    """
    admin, hold = bearer(app, "admin"), f"{SURVEY}/hold"
    paths = [f"{SURVEY}/{path}" for path in ("estimates", "estimates.csv", "reports.csv")]
    paths += [f"{SURVEY}/compare?question=vaped&by=campus", f"{SURVEY}/crosstab?rows=vaped&columns=campus"]
    paths += [f"{SURVEY}/regression?question=vaped&answer=yes&on=campus"]
    before = [http.get(path, headers=admin).status_code for path in paths]
    for until in ("closed", 10**9):
        response = http.post(hold, headers=admin, json={"until": until})
        assert response.status_code == 200 and response.json is not None and response.json["held_until"] == until
        for path in paths:
            assert_problem(http.get(path, headers=admin), Kind.HELD_BACK)
    for wrong in ({}, {"until": "never"}, {"until": -1}, {"until": 1.5}, {"until": None}, {"until": 1, "x": 1}, [1]):
        assert_problem(http.post(hold, headers=admin, json=wrong), Kind.INVALID)
    http.post(hold, headers=admin, json={"until": 0})
    assert [http.get(path, headers=admin).status_code for path in paths] == before
    http.post(hold, headers=admin, json={"until": "closed"})
    assert http.post(f"{SURVEY}/submissions", json=submission).status_code == 201
    http.post(f"{SURVEY}/close", headers=admin)
    assert http.get(f"{SURVEY}/estimates", headers=admin).status_code == 200


def test_tokens_are_kept_as_digests(app: Flask, tmp_path: Path) -> None:
    """The secret itself is nowhere in the database, in no writing; its SHA-256 is."""
    secret = bearer(app, "admin")["Authorization"].split()[1].encode()
    kept = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    raw = urlsafe_b64decode(secret + b"=")
    assert not any(writing in kept for writing in (secret, raw, raw.hex().encode()))
    assert sha256(secret).hexdigest().encode() in kept


# --- surveys ---------------------------------------------------------------------------------------------------------


def test_publishing_and_plans_warn(http: FlaskClient, app: Flask) -> None:
    """What exposes respondents is in the response, when it is new and when it is there already, and in the plan."""
    admin = bearer(app, "admin")
    asked = [{"id": f"q{i}", "type": "yes_no", "text": "Do you vape?", "epsilon": "2.2"} for i in range(10)]
    same_ten = {"id": "same-ten", "title": "Ten times", "questions": asked}
    beginnings = [
        "ε = 22 in total protects",
        "Clients refuse this survey",
        "q0, q1, q2 and 7 more ask nearly the same.",
    ]
    for path in ("surveys", "surveys", "plan"):
        warnings = http.post(f"/api/v1/{path}", json=same_ten, headers=admin).json["warnings"]
        assert len(warnings) == 3 and all(map(str.startswith, warnings, beginnings))
    few = {**same_ten, "id": "one", "questions": asked[:1]}
    assert http.post("/api/v1/surveys", json=few, headers=admin).json["warnings"] == []


def test_publishing_over_http(http: FlaskClient, app: Flask, tree: dict[str, Any]) -> None:
    """201 when new, 200 when it is there unchanged, 409 when it differs, 422 with every error when it is wrong."""
    admin = bearer(app, "admin")
    new = {**tree, "id": "campus-next"}
    first = http.post("/api/v1/surveys", json=new, headers=admin)
    assert first.status_code == 201
    assert first.json["digest"] == verify(http.get("/api/v1/surveys/campus-next").data).digest
    assert http.post("/api/v1/surveys", json=new, headers=admin).status_code == 200
    assert_problem(http.post("/api/v1/surveys", json={**new, "title": "Other"}, headers=admin), Kind.DIFFERS)
    wrong = {**new, "id": "x!", "epsilon": 0, "questions": [{**new["questions"][0], "epsilon": 1}]}
    problem = assert_problem(http.post("/api/v1/surveys", json=wrong, headers=admin), Kind.INVALID)
    assert [error["place"] for error in problem["errors"]] == [
        "id", "epsilon", "questions[0].epsilon", "together[0][1]",
    ]  # fmt: skip
    assert_problem(
        http.post("/api/v1/surveys", data=b"{", content_type="application/json", headers=admin), Kind.NOT_JSON
    )


def test_a_survey_may_be_sent_as_toml(http: FlaskClient, app: Flask, tree: dict[str, Any]) -> None:
    """A file is published as it is, and is the same survey as in JSON; a broken one gets every error."""
    admin = bearer(app, "admin")
    text = (files("deniable_server") / "example.toml").read_text("utf-8").replace('"campus-health"', '"campus-toml"')
    sent = http.post("/api/v1/surveys", data=text.encode(), content_type="application/toml", headers=admin)
    assert sent.status_code == 201
    assert http.post("/api/v1/surveys", json={**tree, "id": "campus-toml"}, headers=admin).status_code == 200
    broken = http.post("/api/v1/surveys", data=b"id = ", content_type="application/toml", headers=admin)
    assert assert_problem(broken, Kind.INVALID)["errors"][0]["reason"] == "toml"


def test_planning_over_http(http: FlaskClient, app: Flask, tree: dict[str, Any]) -> None:
    """The plan is what the command prints with --json, from JSON or TOML. Nothing is published."""
    admin = bearer(app, "admin")
    new = {**tree, "id": "campus-next", "respondents": 300}
    sent = http.post("/api/v1/plan", json=new, headers=admin)
    assert sent.status_code == 200
    assert msgspec.convert(sent.json, SurveyPlan) == plan_survey(survey_from_tree(new))
    assert sent.json["in_words"][0].startswith("With 300 respondents you will know")
    text = (files("deniable_server") / "example.toml").read_bytes()
    as_toml = http.post("/api/v1/plan", data=text, content_type="application/toml", headers=admin)
    assert msgspec.convert(as_toml.json, SurveyPlan) == plan_survey(parse_survey(text))
    assert_problem(http.get("/api/v1/surveys/campus-next"), Kind.NOT_FOUND)
    wrong = {**new, "together": [["vaped", "nobody"]]}
    problem = assert_problem(http.post("/api/v1/plan", json=wrong, headers=admin), Kind.INVALID)
    assert [error["place"] for error in problem["errors"]] == ["together[0][1]"]


def test_the_survey_decides_and_not_its_booklets(http: FlaskClient, app: Flask, tree: dict[str, Any]) -> None:
    """A survey that is there with other booklets, as another version would choose them, is unchanged and stays so."""
    survey = survey_from_tree({**tree, "id": "campus-next"})
    atoms = [([item.name for item in atom], None) for atom in atoms_of(survey)]
    together = [(["vaped", "how_often", "stress"], None)]
    other = publish(survey, together + atoms, [([number], 1 + number) for number in range(len(atoms) + 1)])
    storage_of(app).publish(other)
    again = http.post("/api/v1/surveys", json={**tree, "id": "campus-next"}, headers=bearer(app, "admin"))
    assert (again.status_code, again.json["digest"]) == (200, verify(other).digest)
    assert http.get("/api/v1/surveys/campus-next").data == other


def test_the_list_and_the_downloads(
    http: FlaskClient, app: Flask, document: Document, example_answers: dict[str, Any]
) -> None:
    """Counts in the list; the randomised reports as CSV, without ids, in an order that reveals nothing."""
    submissions = [randomize(document, example_answers, {"campus": c}) for c in ("north", "south") * 600]
    let_collect(storage_of(app), "campus-health")
    for start in range(0, 1_200, 200):
        batch, token = {"submissions": submissions[start : start + 200]}, collector("campus-health")
        assert http.post(SUBMISSIONS, json=batch, headers=token).status_code == 201
    analyst = bearer(app, "analyst")
    (listed,) = http.get("/api/v1/surveys", headers=analyst).json["surveys"]
    assert listed["submissions"] == 1_200
    response = http.get(f"{SURVEY}/reports.csv", headers=analyst)
    assert response.content_type.startswith("text/csv")
    assert int(response.headers["Content-Length"]) == len(response.data)
    rows = list(csv.DictReader(io.StringIO(response.text)))
    sent = sorted(submissions, key=lambda submission: submission["id"])
    for row, one in zip(rows, sent, strict=True):
        names = ["+".join(part.names) for part in document.parts_of(one["booklet"])]
        filled = {"booklet": one["booklet"], **one["segments"], **dict(zip(names, one["reports"], strict=True))}
        assert {name: text for name, text in row.items() if text} == {k: str(v) for k, v in filled.items()}


def test_estimates_over_http(
    http: FlaskClient, app: Flask, document: Document, example_answers: dict[str, Any]
) -> None:
    """The shape of the answer, groups by segment, filters, and the parameters that do not fit."""
    for i in range(60):
        http.post(SUBMISSIONS, json=randomize(document, example_answers, {"campus": "south" if i < 20 else "north"}))
    analyst = bearer(app, "analyst")
    got = http.get(f"{SURVEY}/estimates?confidence=0.9&by=campus", headers=analyst).json
    assert list(got) == [
        "survey", "digest", "status", "submissions", "epsilon", "confidence", "where", "date", "questions", "methods",
        "notes", "deff", "groups",
    ]  # fmt: skip
    assert (got["survey"], got["status"], got["submissions"], got["confidence"]) == ("campus-health", "open", 60, 0.9)
    assert got["epsilon"] == "2.0"
    assert [(g["segment"], g["code"], g["submissions"]) for g in got["groups"]] == [
        ("campus", "north", 40),
        ("campus", "south", 20),
    ]
    assert [q["id"] for q in got["questions"]] == [q.id for q in document.survey.questions]
    assert list(got["questions"][0]) == [
        "id", "type", "answers", "shares", "mean", "open_equivalent", "fake_influence", "notes",
    ]  # fmt: skip
    south = http.get(f"{SURVEY}/estimates?where=campus:south&confidence=0.9", headers=analyst).json
    assert south["where"] == {"campus": "south"} and south["questions"] == got["groups"][1]["questions"]
    assert "groups" not in south
    for query in (
        "confidence=2", "confidence=x", "confidence=nan", "where=campus", "where=campus:west", "where=town:north",
        "by=town", "where=campus:north&where=campus:south", "colour=red",
    ):  # fmt: skip
        assert_problem(http.get(f"{SURVEY}/estimates?{query}", headers=analyst), Kind.BAD_PARAMETER)


# --- edges -----------------------------------------------------------------------------------------------------------


LOOPBACK = {
    "http://localhost": True,
    "http://localhost:5173": True,
    "https://127.0.0.1:8443": True,
    "http://[::1]:8000": True,
    "https://app.example": False,
    "http://localhost.evil.example": False,
    "http://127.0.0.1.evil.example": False,
    "http://evil.example:80@localhost": False,
    "null": False,
}


@pytest.mark.parametrize("path", [SURVEY, "/api/v1/surveys/nothing", SUBMISSIONS, "/deniable.js"])
def test_pages_of_this_machine_may_use_what_respondents_use(http: FlaskClient, path: str) -> None:
    """Unless it is set, pages from the visitor's own machine and no others: CORS on surveys, submissions and the
    module, on errors too, and never with credentials.
    """
    for origin, allowed in LOOPBACK.items():
        for ask in (http.get, http.post, http.options):
            response = ask(path, headers={"Origin": origin})
            assert response.headers.get("Access-Control-Allow-Origin") == (origin if allowed else None)
            assert "Access-Control-Allow-Credentials" not in response.headers
    preflight = http.options(SUBMISSIONS, headers={"Origin": "http://localhost:5173"})
    assert preflight.status_code == 200
    assert preflight.headers["Access-Control-Allow-Headers"] == "Content-Type"


@pytest.mark.parametrize("path", ["/api/v1/surveys", f"{SURVEY}/estimates", f"{SURVEY}/close", "/metrics"])
def test_other_origins_may_not_use_the_rest(http: FlaskClient, path: str) -> None:
    """Only the server's own pages may use the routes of analysts and admins, whatever origins respondents may have."""
    for origin in ("https://app.example", "http://localhost:5173"):
        for ask in (http.get, http.options):
            assert "Access-Control-Allow-Origin" not in ask(path, headers={"Origin": origin}).headers


def test_only_named_origins(tmp_path: Path, example: bytes) -> None:
    """If origins are named, others get no permission, and a Vary header informs caches."""
    app = create_app(Settings(database=str(tmp_path / "o.db"), allowed_origins=("https://a.example",)))
    storage_of(app).publish(example)
    http = app.test_client()
    for origin, allowed in (("https://a.example", "https://a.example"), ("https://b.example", None)):
        response = http.get(SURVEY, headers={"Origin": origin})
        assert response.headers.get("Access-Control-Allow-Origin") == allowed
        assert response.headers.get("Vary") == "Origin"
    storage_of(app).close()


def test_the_rate_limit(tmp_path: Path, example: bytes, submission: dict[str, Any]) -> None:
    """So many from one address; then 429 with Retry-After, while others go on, and surveys can still be read."""
    app = create_app(Settings(database=str(tmp_path / "r.db"), rate_limit=parse_rate("3/hour"), trusted_proxies=1))
    storage_of(app).publish(example)
    http = app.test_client()

    def post(address: str) -> TestResponse:
        return http.post(
            SUBMISSIONS, json=submission, headers={"X-Forwarded-For": address, "Origin": "http://localhost"}
        )

    assert [post("10.0.0.1").status_code for _ in range(3)] == [201] * 3
    refused = post("10.0.0.1")
    assert_problem(refused, Kind.RATE_LIMIT)
    assert 0 < int(refused.headers["Retry-After"]) <= 3601
    assert refused.headers["Access-Control-Allow-Origin"] == "http://localhost"
    assert post("10.0.0.2").status_code == 201
    assert http.get(SURVEY).status_code == 200
    # A household's IPv6 addresses count as one.
    assert [post(f"2001:db8::{i}").status_code for i in range(4)] == [201] * 3 + [429]
    # Neither ports nor nonsense open a way around.
    assert [post(f"10.0.0.9:{i}").status_code for i in range(4)] == [201] * 3 + [429]
    assert [post(f"[2001:db8:1::1]:{i}").status_code for i in range(4)] == [201] * 3 + [429]
    assert [post(f"nonsense-{i}").status_code for i in range(4)] == [201] * 3 + [429]
    storage_of(app).close()


def test_a_forwarded_address_counts_only_behind_a_trusted_proxy(
    tmp_path: Path, example: bytes, submission: dict[str, Any]
) -> None:
    """Without trusted proxies the header is ignored: nobody can dodge the limit by making up addresses."""
    app = create_app(Settings(database=str(tmp_path / "p.db"), rate_limit=parse_rate("2/hour")))
    storage_of(app).publish(example)
    http = app.test_client()
    codes = [
        http.post(SUBMISSIONS, json=submission, headers={"X-Forwarded-For": f"10.0.0.{i}"}).status_code
        for i in range(4)
    ]
    assert codes == [201, 201, 429, 429]
    storage_of(app).close()


def test_a_window_forgets_its_addresses() -> None:
    """When a window ends, counts and addresses are gone from memory."""
    from deniable_server.errors import Refusal
    from deniable_server.settings import Rate
    from deniable_server.web.rate_limit import RateLimit

    now = [0.0]
    limit = RateLimit(Rate(1, "second"), clock=lambda: now[0])
    limit.spend("10.0.0.1")
    with pytest.raises(Refusal):
        limit.spend("10.0.0.1")
    now[0] = 1.5
    limit.spend("10.0.0.2")
    assert len(limit._counts) == 1
    limit.spend("10.0.0.1")


def test_a_base_path(tmp_path: Path, example: bytes, submission: dict[str, Any]) -> None:
    """Under /surveys everything is as before; outside it there is nothing."""
    app = create_app(Settings(database=str(tmp_path / "b.db"), base_path="/surveys", allowed_origins=("*",)))
    storage_of(app).publish(example)
    http = app.test_client()
    assert http.post(f"/surveys{SUBMISSIONS}", json=submission).status_code == 201
    assert http.get("/surveys/healthz").headers.get("Access-Control-Allow-Origin") is None
    assert http.get(f"/surveys{SURVEY}").headers["Access-Control-Allow-Origin"] == "*"
    assert_problem(http.get(SURVEY), Kind.NOT_FOUND)
    outside = http.get("/surveysx/healthz")
    assert_problem(outside, Kind.NOT_FOUND)
    assert outside.headers["X-Content-Type-Options"] == "nosniff"
    assert http.get("/surveys/metrics").status_code == 200
    for path in ("/metrics", "//metrics", "/surveys//metrics", "//surveys/metrics"):
        assert_problem(http.get("/", environ_overrides={"PATH_INFO": path}), Kind.NOT_FOUND)
    storage_of(app).close()


def test_every_response_is_hardened(http: FlaskClient) -> None:
    """Nothing may be loaded, framed, guessed or referred to, on errors too."""
    for path in ("/healthz", SURVEY, "/nowhere", "/deniable.js"):
        headers = http.get(path).headers
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff" and headers["Referrer-Policy"] == "no-referrer"
        assert "Set-Cookie" not in headers


def test_the_reader_of_submissions_is_made_once(
    http: FlaskClient, submission: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A published survey never changes, and neither does what reads its submissions."""
    made = []
    real = context.SubmissionReader
    monkeypatch.setattr(context, "SubmissionReader", lambda document: made.append(document) or real(document))
    for _ in range(3):
        assert http.post(SUBMISSIONS, json=submission).status_code == 201
    assert len(made) == 1


# --- operation -------------------------------------------------------------------------------------------------------


def test_metrics_count_and_identify_nobody(http: FlaskClient, submission: dict[str, Any]) -> None:
    """Totals by result and by route; no survey, path, address or time of creation."""
    http.post(SUBMISSIONS, json=submission, headers={"User-Agent": "canary"})
    http.post(SUBMISSIONS, json=submission)
    http.get("/canary-path")
    text = http.get("/metrics").text
    assert 'deniable_submissions_total{result="accepted"} 1.0' in text
    assert 'deniable_submissions_total{result="duplicate"} 1.0' in text
    assert 'deniable_http_requests_total{route="/api/v1/surveys/<survey>/submissions",status="201"} 2.0' in text
    assert "deniable_store_seconds_count 2.0" in text
    for word in ("campus", "canary", submission["id"], "_created"):
        assert word not in text


def test_the_api_describes_itself(http: FlaskClient, app: Flask) -> None:
    """Every route for programs is in the OpenAPI document, with its types, its role and its problems, and every
    reference is there.
    """
    described = http.get("/openapi.json").json
    routes = {
        (re.sub("<(.*?)>", r"{\1}", rule.rule), method.lower())
        for rule in app.url_map.iter_rules()
        if rule.endpoint.partition(".")[0] not in PAGES
        for method in rule.methods - {"HEAD", "OPTIONS"}
    }
    assert routes == {(path, method) for path, methods in described["paths"].items() for method in methods}
    schemas = described["components"]["schemas"]
    text = json.dumps(described)
    for reference in {part.split('"')[0] for part in text.split('"#/components/schemas/')[1:]}:
        assert reference in schemas
    post = described["paths"]["/api/v1/surveys/{survey}/submissions"]["post"]
    assert set(post["responses"]) == {
        "201",
        "400",
        "401",
        "403",
        "404",
        "408",
        "409",
        "413",
        "415",
        "422",
        "429",
        "503",
    }
    assert sorted(schemas["Submission"]["required"]) == ["booklet", "digest", "id", "reports", "segments"]
    assert described["paths"]["/api/v1/surveys"]["post"]["security"] == [{"token": []}]


def test_every_route_and_setting_is_documented(root: Path, app: Flask) -> None:
    """docs/api.md names every route and every kind of problem, docs/operating.md every setting."""
    api = (root / "docs" / "api.md").read_text("utf-8")
    for rule in app.url_map.iter_rules():
        assert re.sub("<(?:int:)?(.*?)>", r"{\1}", rule.rule.replace("<survey>", "<id>")) in api, rule.rule
    for kind in Kind:
        assert f"`{kind.slug}`" in api, kind
    operating = (root / "docs" / "operating.md").read_text("utf-8")
    for name in Settings().to_environment() | {"DENIABLE_SECRET_KEY": ""}:
        assert f"`{name}`" in operating, name


def test_the_module_that_pages_load(http: FlaskClient) -> None:
    """The server serves the browser client as it was built: deniable.js, and every file that it may load."""
    names = []
    for name, content in web_files():
        response = http.get(f"/{name}")
        assert response.data == content and response.content_type.startswith("text/javascript"), name
        names.append(name)
    assert {"deniable.js", "deniable/survey-element.js", "deniable/tables.js"} <= {*names}


def test_files_are_compressed_and_sent_once(http: FlaskClient) -> None:
    """Files are compressed if the client accepts that, and answered by 304 until they change; other names get 404."""
    packed = http.get("/deniable.js", headers={"Accept-Encoding": "gzip"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.data) == web_file("deniable.js").read_bytes()
    assert len(packed.data) <= 13_000 and packed.headers["Vary"] == "Accept-Encoding"
    again = http.get("/deniable.js", headers={"Accept-Encoding": "gzip", "If-None-Match": packed.headers["ETag"]})
    assert again.status_code == 304 and not again.data
    assert http.get("/deniable.js", headers={"If-None-Match": packed.headers["ETag"]}).status_code == 200
    for path in ("/deniable/../deniable.js", "/deniable/__init__.py", "/static/..%2fframe.py", "/deniable/decode.js"):
        assert http.get(path).status_code == 404, path
