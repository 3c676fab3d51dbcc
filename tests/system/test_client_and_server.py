"""The real client against the real app, in one process and without sockets, as apps can test themselves."""

from __future__ import annotations

from collections import Counter
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
from tests.helpers.surveys import joint, textbook

LINK = "https://survey.example/s/joint"
ANSWERS: dict[str, Any] = {"vaped": True, "how_often": "weekly", "support": ["friend"], "stress": 2, "hours": 10}


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Flask]:
    app = create_app(Settings(database=str(tmp_path / "server.db")))
    storage_of(app).publish(joint())
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


@pytest.mark.parametrize(("name", "document", "epsilon"), [("joint", joint(), "2.0"), ("textbook", textbook(), "5.5")])
def test_a_submission_arrives_as_its_receipt_says(app: Flask, name: str, document: bytes, epsilon: str) -> None:
    """The server stores the booklet and the reports of the receipt, under its id, in both designs."""
    storage_of(app).publish(document)
    published = storage_of(app).find(name)
    assert published is not None
    with deniable.Client(f"https://survey.example/s/{name}", transport=deniable.WSGITransport(app)) as client:
        answers = {question.id: ANSWERS[question.id] for question in client.questions}
        receipt = client.submit(answers, segments={"campus": "south"})
    assert receipt.delivered and receipt.epsilon == epsilon
    with storage_of(app).submissions(published) as submissions:
        ((submission, content),) = submissions
    assert submission.hex() == receipt.id
    assert (content.booklet, content.reports, content.segments) == (receipt.booklet, (*receipt.reports,), (1,))


def test_a_lost_response_is_sent_again_and_counted_once(app: Flask, tmp_path: Path) -> None:
    """The response is lost, the process ends, a later one delivers the same bytes: one submission."""
    network, state = Network(app), tmp_path / "state.db"
    network.mode = "lossy"
    with deniable.Client(LINK, state=state, transport=network, timeout=0.3) as client:
        receipt = client.submit(ANSWERS, segments={"campus": "north"})
        assert not receipt.delivered
    assert stored(app) == 1
    network.mode = "up"
    with deniable.Client(LINK, state=state, transport=network) as client:
        assert client.flush(10)
        assert client.receipt is not None and client.receipt.delivered and client.receipt.id == receipt.id
    assert stored(app) == 1 and len(network.posted) >= 2 and len(set(network.posted)) == 1


def test_an_offline_start_with_a_known_survey(app: Flask, tmp_path: Path) -> None:
    """Seen once, a survey can be answered without a network; the submission arrives when the network is back."""
    network, state = Network(app), tmp_path / "state.db"
    deniable.Client(LINK, state=state, transport=network).close()
    network.mode = "down"
    with deniable.Client(LINK, state=state, transport=network, timeout=0.2) as client:
        assert not client.submit(ANSWERS, segments={"campus": "north"}).delivered
    assert stored(app) == 0
    network.mode = "up"
    with deniable.Client(LINK, state=state, transport=network) as client:
        assert client.flush(10)
    assert stored(app) == 1


def test_a_closed_survey_is_refused_for_good(app: Flask) -> None:
    """The client says so in the server's words, and does not try again."""
    published = storage_of(app).find("joint")
    assert published is not None
    storage_of(app).close_survey(published)
    network = Network(app)
    with (
        deniable.Client(LINK, transport=network) as client,
        pytest.raises(deniable.Refused, match="Survey closed"),
    ):
        client.submit(ANSWERS, segments={"campus": "north"})
    assert len(network.posted) == 1


def test_a_rate_limit_is_waited_for(tmp_path: Path) -> None:
    """429 with Retry-After is no refusal: the client waits as long as it is told, and then delivers."""
    app = create_app(Settings(database=str(tmp_path / "r.db"), rate_limit=parse_rate("1/second")))
    storage_of(app).publish(joint())
    for _ in range(3):
        with deniable.Client(LINK, transport=deniable.WSGITransport(app), timeout=20) as client:
            assert client.submit(ANSWERS, segments={"campus": "north"}).delivered
    assert stored(app) == 3
    storage_of(app).close()


def test_a_pinned_link(app: Flask) -> None:
    """The right digest is accepted; any other is refused before anything is asked of the respondent."""
    published = storage_of(app).find("joint")
    assert published is not None
    transport = deniable.WSGITransport(app)
    with deniable.Client(f"{LINK}#{published.document.digest}", transport=transport) as client:
        assert client.survey.title == "One epsilon for everything"
    with pytest.raises(deniable.DocumentError):
        deniable.Client(f"{LINK}#{'0' * 64}", transport=transport)


def test_a_base_path_in_the_link(tmp_path: Path) -> None:
    """A server under a path is reached by a link with that path."""
    app = create_app(Settings(database=str(tmp_path / "b.db"), base_path="/surveys"))
    storage_of(app).publish(joint())
    link = "https://example.org/surveys/s/joint"
    with deniable.Client(link, transport=deniable.WSGITransport(app)) as client:
        assert client.submit(ANSWERS, segments={"campus": "north"}).delivered
    storage_of(app).close()


def test_what_analysts_read_is_what_clients_sent(app: Flask) -> None:
    """Thirty respondents, each on a device of their own: every question has as many answers as devices asked it."""
    asked: Counter[str] = Counter()
    for i in range(30):
        with deniable.Client(LINK, transport=deniable.WSGITransport(app)) as client:
            asked.update(question.id for question in client.questions)
            client.submit(ANSWERS, segments={"campus": "north" if i % 3 else "south"})
    secret, _ = make_token(storage_of(app), "analyst", "")
    answer = app.test_client().get(
        "/api/v1/surveys/joint/estimates?by=campus", headers={"Authorization": f"Bearer {secret}"}
    )
    assert {question["id"]: question["answers"] for question in answer.json["questions"]} == {
        name: asked[name] for name in ANSWERS
    }
    assert [group["submissions"] for group in answer.json["groups"]] == [20, 10]
