"""Who may send what: respondents one submission in each request, collectors batches, and nobody more than the limit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from flask import Flask
from flask.testing import FlaskClient

from deniable_protocol import randomize, verify
from deniable_server import create_app
from deniable_server.cli import cli
from deniable_server.errors import Unavailable
from deniable_server.settings import Settings, parse_rate
from deniable_server.storage import Fieldwork
from deniable_server.storage.tokens import make_token
from tests.helpers.servers import collector, let_collect, storage_of
from tests.helpers.sign_in import enter, send

SURVEY = "/api/v1/surveys/campus-health"
SUBMISSIONS = f"{SURVEY}/submissions"


@pytest.fixture
def submissions(example: bytes, example_answers: dict[str, Any]) -> list[dict[str, Any]]:
    document = verify(example)
    return [dict(randomize(document, example_answers, {"campus": "north"})) for _ in range(3)]


@pytest.fixture
def token(app: Flask) -> dict[str, str]:
    let_collect(storage_of(app), "campus-health")
    return collector("campus-health")


@pytest.mark.parametrize("number", [1, 3])
@pytest.mark.parametrize("more", [{}, {"Content-Type": "application/json; charset=utf-8"}], ids=["quick", "ordinary"])
def test_without_a_token_a_request_holds_one_submission(
    http: FlaskClient, app: Flask, submissions: list[dict[str, Any]], number: int, more: dict[str, str]
) -> None:
    """A batch, even of one, is refused with 401, and nothing of it is stored. One submission is taken."""
    refused = http.post(SUBMISSIONS, json={"submissions": submissions[:number]}, headers=more)
    assert refused.status_code == 401 and "WWW-Authenticate" in refused.headers
    assert refused.json is not None and "collector" in refused.json["detail"]
    assert storage_of(app).surveys()[0].submissions == 0
    assert http.post(SUBMISSIONS, json=submissions[0], headers=more).status_code == 201


def test_without_a_token_a_body_is_small(http: FlaskClient, token: dict[str, str]) -> None:
    """What is longer than any submission is refused before it is read; a collector may send more."""
    body = b" " * 65_537
    plain = {"Content-Type": "application/json"}
    assert http.post(SUBMISSIONS, data=body, headers=plain).status_code == 413
    assert http.post(SUBMISSIONS, data=body, headers=plain | token).status_code == 400


def test_a_batch_with_more_than_a_survey_takes_is_told_so(
    http: FlaskClient, app: Flask, submissions: list[dict[str, Any]], token: dict[str, str]
) -> None:
    """While there is a place the survey is open, and says how many there are. What is known needs none. A submission
    alone is either taken, or the survey is closed.
    """
    storage = storage_of(app)
    survey = storage.find("campus-health")
    assert survey is not None
    storage.schedule(survey, Fieldwork(most=2))

    def sent(some: list[dict[str, Any]]) -> tuple[int, str]:
        response = http.post(SUBMISSIONS, json={"submissions": some}, headers=token)
        assert response.json is not None
        return response.status_code, response.json.get("type", "").rpartition(":")[2]

    assert sent(submissions[:1])[0] == 201
    assert sent(submissions) == (409, "too-few-places")
    assert http.get(SURVEY).headers["Deniable-Status"] == "open"
    assert sent(submissions[:2])[0] == 201
    assert http.get(SURVEY).headers["Deniable-Status"] == "closed"
    assert sent(submissions) == sent(submissions[2:]) == (409, "survey-closed")
    assert http.post(SUBMISSIONS, json=submissions[2]).json["type"].endswith(":survey-closed")


def test_a_collector_sends_for_its_source(
    http: FlaskClient,
    app: Flask,
    submissions: list[dict[str, Any]],
    token: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Batches and single submissions with its token are stored with its label as their source; others with none."""
    sources: list[Any] = []
    accept = storage_of(app).accept

    def noting(survey: Any, rows: Any, source: str | None, counted: Any) -> Any:
        sources.append((len(rows), source))
        return accept(survey, rows, source, counted)

    monkeypatch.setattr(storage_of(app), "accept", noting)
    first, *rest = submissions
    assert http.post(SUBMISSIONS, json={"submissions": rest}, headers=token).json == {"accepted": 2, "duplicates": 0}
    assert http.post(SUBMISSIONS, json=first, headers=token).status_code == 201
    assert http.post(SUBMISSIONS, json=first).json == {"accepted": 0, "duplicates": 1}
    assert sources == [(2, "helper"), (1, "helper"), (1, None)]


def test_only_a_collector_of_the_survey_may_send_with_a_token(
    http: FlaskClient, app: Flask, submissions: list[dict[str, Any]], token: dict[str, str]
) -> None:
    """Other tokens are refused, also with one submission: an unknown one with 401, another role or survey with 403."""
    storage = storage_of(app)
    for body in (submissions[0], {"submissions": submissions}):
        for role in ("analyst", "admin"):
            secret, _ = make_token(storage, role, "Ann")
            refused = http.post(SUBMISSIONS, json=body, headers={"Authorization": f"Bearer {secret}"})
            assert refused.status_code == 403
        reader, _ = make_token(storage, "reader", "Ann", surveys={"campus-health": "reader"})
        assert http.post(SUBMISSIONS, json=body, headers={"Authorization": f"Bearer {reader}"}).status_code == 403
        assert http.post(SUBMISSIONS, json=body, headers={"Authorization": "Bearer x"}).status_code == 401
        elsewhere = SUBMISSIONS.replace("campus-health", "another")
        assert http.post(elsewhere, json=body, headers=token).status_code == 403
    assert storage.surveys()[0].submissions == 0


def test_a_collector_reads_nothing(http: FlaskClient, app: Flask, token: dict[str, str]) -> None:
    """Its token opens no results, no list, no page and no shared link, and cannot publish or close."""
    for path in (f"{SURVEY}/estimates", f"{SURVEY}/reports.csv", "/api/v1/surveys"):
        assert http.get(path, headers=token).status_code == 403
    for path in ("/api/v1/surveys", f"{SURVEY}/close", "/api/v1/plan"):
        assert http.post(path, headers=token).status_code == 403
    secret = token["Authorization"].removeprefix("Bearer ")
    assert http.get(f"/shared/{secret}").status_code == 404
    assert send(http, "/sign-in", "/sign-in", token=secret).status_code == 403


def test_owners_see_collectors(http: FlaskClient, app: Flask, token: dict[str, str]) -> None:
    """The page for sharing lists them apart from the links of readers, which alone can be revoked there."""
    enter(http, app)
    page = http.get("/surveys/campus-health/share").text
    assert "With collectors" in page and "helper" in page
    assert "Revoke" not in page


def test_use_by_a_collector_makes_no_line(
    http: FlaskClient, submissions: list[dict[str, Any]], token: dict[str, str], lines: pytest.LogCaptureFixture
) -> None:
    """The log never shows when submissions come."""
    assert http.post(SUBMISSIONS, json=submissions[0], headers=token).status_code == 201
    assert not lines.records


def test_the_rate_limit_counts_submissions(tmp_path: Path, example: bytes, submissions: list[dict[str, Any]]) -> None:
    """A batch of three uses up three; one that does not fit is refused whole, and leaves what is left."""
    app = create_app(Settings(database=str(tmp_path / "r.db"), rate_limit=parse_rate("4/hour")))
    storage_of(app).publish(example)
    let_collect(storage_of(app), "campus-health")
    http, token = app.test_client(), collector("campus-health")

    def batch() -> int:
        return http.post(SUBMISSIONS, json={"submissions": submissions}, headers=token).status_code

    assert [batch(), batch()] == [201, 429]
    assert [http.post(SUBMISSIONS, json=submissions[0]).status_code for _ in range(2)] == [201, 429]
    storage_of(app).close()


def test_making_a_collector_on_the_command_line(tmp_path: Path, example: bytes) -> None:
    """It needs a survey and a label."""
    database = str(tmp_path / "a.db")
    app = create_app(Settings(database=database))
    storage_of(app).publish(example)
    storage_of(app).close()

    def create(*options: str) -> Any:
        return CliRunner().invoke(cli, ["token", "create", "--role", "collector", *options, "--database", database])

    for missing in (["--survey", "campus-health"], ["--label", "kiosk"], ["--survey", "campus-health", "--label", " "]):
        assert create(*missing).exit_code == 2
    made = create("--survey", "campus-health", "--label", "kiosk")
    assert made.exit_code == 0, made.output
    listed = CliRunner().invoke(cli, ["token", "list", "--database", database, "--json"])
    assert '"collector"' in listed.output and '"kiosk"' in listed.output


def test_a_collector_without_a_label_cannot_be_stored(app: Flask) -> None:
    """The database itself refuses a source without a name."""
    with pytest.raises(Unavailable):
        make_token(storage_of(app), "collector", "", surveys={"campus-health": "collector"})


@pytest.mark.parametrize("path", ["//metrics", "///metrics", "//healthz", "//api/v1/surveys/campus-health"])
def test_paths_are_compared_as_they_came(http: FlaskClient, path: str) -> None:
    """More than one slash at the start is another address: a proxy that hides /metrics hides all of it."""
    for known, status in ((path[path.rindex("//") + 1 :], 200), (path, 404)):
        assert http.get("/", environ_overrides={"PATH_INFO": known}).status_code == status
