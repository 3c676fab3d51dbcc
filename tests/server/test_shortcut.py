"""The shortcut for submissions: it behaves exactly like the ordinary way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from flask import Flask
from werkzeug.test import Client, TestResponse

from deniable_protocol import randomize, verify
from deniable_server import create_app
from deniable_server.errors import Unavailable
from deniable_server.settings import Settings, parse_rate
from deniable_server.web.submissions import FastPath
from tests.helpers.servers import storage_of

PATH = "/api/v1/surveys/campus-health/submissions"
PLAIN = {"Content-Type": "application/json"}
ORDINARY = {"Content-Type": "application/json; charset=utf-8"}
"""What the shortcut leaves to Flask."""


@pytest.fixture
def make_app(tmp_path: Path, example: bytes) -> Callable[..., Flask]:
    """Makes apps with a database each."""
    made: list[Flask] = []

    def make(**settings: Any) -> Flask:
        app = create_app(Settings(database=str(tmp_path / f"{len(made)}.db"), **settings))
        storage_of(app).publish(example)
        made.append(app)
        return app

    return make


@pytest.fixture
def submissions(example: bytes, example_answers: dict[str, Any]) -> list[dict[str, Any]]:
    document = verify(example)
    return [dict(randomize(document, example_answers, {"campus": "north"})) for _ in range(3)]


def seen(response: TestResponse) -> tuple[int, str, dict[str, str], bytes]:
    return response.status_code, response.status, dict(response.headers), response.data


def bodies(submissions: list[dict[str, Any]]) -> dict[str, bytes]:
    one, two, _ = submissions
    encode = msgspec.json.encode
    return {
        "one": encode(one),
        "again": encode(one),
        "conflict": encode(one | {"segments": {"campus": "south"}}),
        "no such booklet": encode(two | {"booklet": 10_000}),
        "a report too many": encode(two | {"reports": [*two["reports"], 0]}),
        "none of its reports": encode(two | {"reports": [2**53] * len(two["reports"])}),
        "batch": encode({"submissions": submissions}),
        "not JSON": b"{",
        "empty": b"",
        "not UTF-8": b"\xff",
        "other digest": encode(one | {"digest": "0" * 64}),
        "missing": encode({"id": one["id"]}),
        "extra": encode(one | {"more": 1}),
        "empty batch": encode({"submissions": []}),
        "too large": b" " * 20_001,
    }


@pytest.mark.parametrize(
    "settings",
    [{}, {"allowed_origins": ("https://a.example",)}, {"allowed_origins": ()}, {"base_path": "/deep"}],
    ids=["plain", "some origins", "no origins", "base path"],
)
def test_both_ways_answer_alike(
    make_app: Callable[..., Flask], submissions: list[dict[str, Any]], settings: dict[str, Any]
) -> None:
    """Accepted, duplicate, conflict, batch and everything that is wrong, from several origins: the same status, headers
    and body, and in the end the same rows and counters.
    """
    quick, ordinary = (make_app(max_body_bytes=20_000, **settings) for _ in range(2))
    path = settings.get("base_path", "") + PATH
    for name, body in bodies(submissions).items():
        for origin in ({}, {"Origin": "https://a.example"}, {"Origin": "null"}):
            answers = [
                Client(app).post(path, data=body, headers=kind | origin)
                for app, kind in ((quick, PLAIN), (ordinary, ORDINARY))
            ]
            assert seen(answers[0]) == seen(answers[1]), (name, origin)
            assert "Content-Security-Policy" in answers[0].headers
    counters = [Client(app).get(settings.get("base_path", "") + "/metrics").text for app in (quick, ordinary)]
    assert [line for line in counters[0].splitlines() if "_seconds" not in line] == [
        line for line in counters[1].splitlines() if "_seconds" not in line
    ]
    assert counters[0].count("deniable_store_seconds_count") == 1
    published = [storage_of(app).find("campus-health") for app in (quick, ordinary)]
    assert storage_of(quick).statistics(published[0]) == storage_of(ordinary).statistics(published[1])


@pytest.mark.parametrize("headers", [PLAIN, ORDINARY], ids=["quick", "ordinary"])
def test_the_limit_and_faults_are_those_of_the_ordinary_way(
    make_app: Callable[..., Flask],
    submissions: list[dict[str, Any]],
    headers: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A storage that fails, a closed survey, the fifth request of an address in its window: the same problems."""
    app = make_app(rate_limit=parse_rate("4/minute"))
    http, one = Client(app), msgspec.json.encode(submissions[0])
    with monkeypatch.context() as patch:
        patch.setattr(storage_of(app), "accept", lambda *_: (_ for _ in ()).throw(Unavailable("canary")))
        failed = http.post(PATH, data=one, headers=headers)
        patch.setattr(storage_of(app), "accept", lambda *_: (_ for _ in ()).throw(KeyError("canary")))
        broken = http.post(PATH, data=one, headers=headers)
    assert (failed.status_code, failed.headers["Retry-After"], broken.status_code) == (503, "5", 500)
    assert b"canary" not in failed.data + broken.data and "canary" not in caplog.text
    published = storage_of(app).find("campus-health")
    assert published is not None
    storage_of(app).close_survey(published)
    closed = http.post(PATH, data=one, headers=headers)
    assert closed.status_code == 409 and closed.json is not None and closed.json["type"].endswith("survey-closed")
    assert http.post(PATH, data=one, headers=headers).status_code == 409
    limited = http.post(PATH, data=one, headers=headers)
    assert limited.status_code == 429 and "Retry-After" in limited.headers


@pytest.mark.parametrize(
    ("path", "headers", "method"),
    [
        ("/api/v1/surveys/unknown/submissions", PLAIN, "POST"),
        ("/api/v1/surveys/a/b/submissions", PLAIN, "POST"),
        ("/api/v1/surveys//submissions", PLAIN, "POST"),
        (PATH, PLAIN, "PUT"),
        (PATH, PLAIN, "GET"),
        (PATH, {"Content-Type": "text/plain"}, "POST"),
        (PATH, PLAIN | {"Content-Encoding": "gzip"}, "POST"),
    ],
)
def test_what_is_not_plain_is_flasks(
    make_app: Callable[..., Flask], path: str, headers: dict[str, str], method: str
) -> None:
    """Other addresses, methods and types get the same answer with the shortcut as without it."""
    app = make_app()
    answers = []
    for inner in (app.wsgi_app, without_shortcut(app)):
        answers.append(seen(Client(inner).open(path, method=method, data=b"{}", headers=headers)))
    assert answers[0] == answers[1] and answers[0][0] >= 400


def without_shortcut(app: Flask) -> Any:
    """The same app, its shortcut taken out."""
    other = create_app(Settings(database=app.extensions["deniable"].settings.database))
    wrapper = other.wsgi_app
    while not isinstance(wrapper._inner, FastPath):  # type: ignore[attr-defined]
        wrapper = wrapper._inner  # type: ignore[attr-defined]
    wrapper._inner = wrapper._inner._inner  # type: ignore[attr-defined]
    return other.wsgi_app


@pytest.mark.parametrize("headers", [PLAIN, ORDINARY], ids=["quick", "ordinary"])
def test_a_body_that_ends_early_is_no_final_refusal(
    make_app: Callable[..., Flask], submissions: list[dict[str, Any]], headers: dict[str, str]
) -> None:
    """Less than was announced: 408, after which clients try again, and never 400, after which they give up."""
    body = msgspec.json.encode(submissions[0])
    announced = {"CONTENT_LENGTH": str(len(body))}
    response = Client(make_app()).post(PATH, data=body[:-10], headers=headers, environ_overrides=announced)
    assert response.status_code == 408 and response.json is not None
    assert response.json["type"] == "urn:deniable:problem:incomplete"
