"""The guide to the Python client does what it says: its examples run as they are printed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import deniable
import deniable.client
import deniable.errors
from deniable_protocol import Question, publish, survey_from_tree
from tests.helpers.fake_server import FakeServer
from tests.helpers.invited import InvitingServer
from tests.helpers.surveys import CAMPUS

SURVEY: dict[str, Any] = {
    "id": "campus-health",
    "title": "Campus health",
    "epsilon": "2.0",
    "segments": [CAMPUS],
    "questions": [
        {"id": "vaped", "type": "yes_no", "text": "Vaped?"},
        {
            "id": "how_often",
            "type": "choice",
            "text": "How often?",
            "show_if": {"vaped": ["yes"]},
            "options": [{"code": code, "text": code} for code in ("monthly", "weekly", "daily")],
        },
        {"id": "stress", "type": "scale", "text": "Stress?", "labels": ["none", "some", "much"]},
    ],
}
DOCUMENT = publish(survey_from_tree(SURVEY), [(["vaped", "how_often"], None), (["stress"], None)], [([0], 2), ([1], 1)])
TOLD: dict[str, Any] = {"vaped": True, "how_often": "daily", "stress": 2}


@pytest.fixture(scope="module")
def guide(root: Path) -> str:
    return (root / "docs" / "python-client.md").read_text("utf-8")


@pytest.fixture
def examples(guide: str, state: Path) -> list[str]:
    """The guide's programs, with a state of this test instead of the reader's."""
    return [
        block.replace("~/.myapp/deniable.db", str(state))
        for block in re.findall(r"^```python\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)
    ]


@pytest.mark.parametrize("booklet", [0, 1])
def test_the_examples_run(examples: list[str], monkeypatch: pytest.MonkeyPatch, booklet: int) -> None:
    """Five lines answer a survey, four ask one question after the other, and apps can bring their own transport."""
    server = FakeServer(DOCUMENT)
    monkeypatch.setattr("deniable.http_transport.HTTPTransport", lambda: server)
    monkeypatch.setattr(deniable.client, "draw_booklet", lambda _: booklet)
    monkeypatch.setattr("deniable_protocol.draw_booklet", lambda _: booklet)
    first, questionnaire, _, printing, own = examples
    if booklet == 0:  # the one of which the first example has the answers
        exec(first, {})
        assert len(server.counted) == 1
    asked: list[str] = []

    def ask(question: Question) -> Any:
        asked.append(question.id)
        return TOLD[question.id]

    names: dict[str, Any] = {"deniable": deniable, "ask": ask, "published": DOCUMENT}
    with deniable.Client("https://example.org/s/campus-health") as names["client"]:
        exec(questionnaire, names)
        assert names["receipt"].delivered and names["answers"] == {name: TOLD[name] for name in asked}
        exec(printing, names)
        exec(own, names)
    assert asked == [["vaped", "how_often"], ["stress"]][booklet]
    assert names["submission"]["booklet"] == booklet


def test_the_example_of_an_invitation_runs(examples: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A code as somebody types it opens the survey."""
    server = InvitingServer(uses={"H538AZAQDRGDVJ": 1})
    monkeypatch.setattr("deniable.http_transport.HTTPTransport", lambda: server)
    names: dict[str, Any] = {"deniable": deniable}
    exec(examples[2], names)
    assert len(server.issued["H538AZAQDRGDVJ"]) == 1
    names["client"].close()


def test_what_the_guide_prints_can_be_printed(guide: str) -> None:
    """The line that the guide shows for a report is one that this survey can give."""
    (shown,) = re.findall(r"print\(sent\)  # (.*)", guide)
    sent = deniable.Sent(("vaped", "how_often"), "2.0", 2, ({"vaped": "yes", "how_often": "monthly"},))
    assert str(sent) == shown


def test_every_error_is_in_a_guide(guide: str, root: Path) -> None:
    """The tables of errors, of the client and of results, have a line for each class of the tree."""
    both = guide + (root / "docs" / "results.md").read_text("utf-8")
    described = set(re.findall(r"^\| `(\w+)` \|", both, re.MULTILINE))
    assert {*deniable.errors.__all__} - {"DeniableError", "Problem"} <= described
