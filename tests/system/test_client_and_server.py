"""The real client against the real app, in one process and without sockets, as apps can test themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

import deniable
from deniable_server import create_app
from deniable_server.settings import Settings, parse_rate
from deniable_server.storage.tokens import make_token
from tests.helpers.servers import storage_of

LINK = "http://survey.example/s/campus-health"


@pytest.fixture
def app(tmp_path: Path, example: bytes) -> Iterator[Flask]:
    app = create_app(Settings(database=str(tmp_path / "server.db")))
    storage_of(app).publish(example)
    yield app
    storage_of(app).close()


def stored(app: Flask) -> int:
    return storage_of(app).surveys()[0].submissions


class Network:
    """The app in process, on a network that can be down or lose responses."""

    def __init__(self, app: Flask) -> None:
        self._inner = deniable.WSGITransport(app)
        self.mode = "up"
        self.posted: list[bytes] = []

    def send(
        self, method: str, url: str, body: bytes | None, headers: Mapping[str, str], timeout: float
    ) -> deniable.Response:
        if self.mode == "down":
            raise ConnectionRefusedError("down")
        if body is not None:
            self.posted.append(body)
        response = self._inner.send(method, url, body, headers, timeout)
        if self.mode == "lossy" and body is not None:
            raise ConnectionResetError("lost")
        return response


def test_a_submission_arrives_as_its_receipt_says(app: Flask, example_answers: dict[str, Any]) -> None:
    """The server stores the reports of the receipt, under its id."""
    with deniable.Client(LINK, transport=deniable.WSGITransport(app)) as client:
        receipt = client.submit(example_answers, segments={"campus": "south"})
    assert receipt.delivered and receipt.epsilon == "10"
    published = storage_of(app).find("campus-health")
    assert published is not None
    with storage_of(app).submissions(published) as submissions:
        ((submission, content),) = submissions
    assert submission.hex() == receipt.id
    assert content.reports == tuple(receipt.reports.values()) and content.segments == (1,)


def test_a_lost_response_is_sent_again_and_counted_once(
    app: Flask, tmp_path: Path, example_answers: dict[str, Any]
) -> None:
    """The response is lost, the process ends, a later one delivers the same bytes: one submission."""
    network, state = Network(app), tmp_path / "state.db"
    network.mode = "lossy"
    with deniable.Client(LINK, state=state, transport=network, timeout=0.3) as client:
        receipt = client.submit(example_answers, segments={"campus": "north"})
        assert not receipt.delivered
    assert stored(app) == 1
    network.mode = "up"
    with deniable.Client(LINK, state=state, transport=network) as client:
        assert client.flush(10)
        assert client.receipt is not None and client.receipt.delivered and client.receipt.id == receipt.id
    assert stored(app) == 1 and len(network.posted) >= 2 and len(set(network.posted)) == 1


def test_an_offline_start_with_a_known_survey(app: Flask, tmp_path: Path, example_answers: dict[str, Any]) -> None:
    """Seen once, a survey can be answered without a network; the submission arrives when the network is back."""
    network, state = Network(app), tmp_path / "state.db"
    deniable.Client(LINK, state=state, transport=network).close()
    network.mode = "down"
    with deniable.Client(LINK, state=state, transport=network, timeout=0.2) as client:
        assert not client.submit(example_answers, segments={"campus": "north"}).delivered
    assert stored(app) == 0
    network.mode = "up"
    with deniable.Client(LINK, state=state, transport=network) as client:
        assert client.flush(10)
    assert stored(app) == 1


def test_a_closed_survey_is_refused_for_good(app: Flask, example_answers: dict[str, Any]) -> None:
    """The client says so in the server's words, and does not try again."""
    published = storage_of(app).find("campus-health")
    assert published is not None
    storage_of(app).close_survey(published)
    network = Network(app)
    with (
        deniable.Client(LINK, transport=network) as client,
        pytest.raises(deniable.Refused, match="Survey closed"),
    ):
        client.submit(example_answers, segments={"campus": "north"})
    assert len(network.posted) == 1


def test_a_rate_limit_is_waited_for(tmp_path: Path, example: bytes, example_answers: dict[str, Any]) -> None:
    """429 with Retry-After is no refusal: the client waits as long as it is told, and then delivers."""
    app = create_app(Settings(database=str(tmp_path / "r.db"), rate_limit=parse_rate("1/second")))
    storage_of(app).publish(example)
    for _ in range(3):
        with deniable.Client(LINK, transport=deniable.WSGITransport(app), timeout=20) as client:
            assert client.submit(example_answers, segments={"campus": "north"}).delivered
    assert stored(app) == 3
    storage_of(app).close()


def test_a_pinned_link(app: Flask, example_answers: dict[str, Any]) -> None:
    """The right digest is accepted; any other is refused before anything is asked of the respondent."""
    published = storage_of(app).find("campus-health")
    assert published is not None
    transport = deniable.WSGITransport(app)
    with deniable.Client(f"{LINK}#{published.document.digest}", transport=transport) as client:
        assert client.survey.title == "Campus health 2026"
    with pytest.raises(deniable.DocumentError):
        deniable.Client(f"{LINK}#{'0' * 64}", transport=transport)


def test_a_base_path_in_the_link(tmp_path: Path, example: bytes, example_answers: dict[str, Any]) -> None:
    """A server under a path is reached by a link with that path."""
    app = create_app(Settings(database=str(tmp_path / "b.db"), base_path="/surveys"))
    storage_of(app).publish(example)
    link = "https://example.org/surveys/s/campus-health"
    with deniable.Client(link, transport=deniable.WSGITransport(app)) as client:
        assert client.submit(example_answers, segments={"campus": "north"}).delivered
    storage_of(app).close()


def test_what_analysts_read_is_what_clients_sent(app: Flask, example_answers: dict[str, Any]) -> None:
    """Thirty respondents, each on a device of their own: thirty answers to every question."""
    for i in range(30):
        with deniable.Client(LINK, transport=deniable.WSGITransport(app)) as client:
            client.submit(example_answers, segments={"campus": "north" if i % 3 else "south"})
    secret, _ = make_token(storage_of(app), "analyst", "")
    answer = app.test_client().get(
        "/api/v1/surveys/campus-health/estimates?by=campus", headers={"Authorization": f"Bearer {secret}"}
    )
    assert [question["answers"] for question in answer.json["questions"]] == [30] * 8
    assert [group["submissions"] for group in answer.json["groups"]] == [20, 10]
