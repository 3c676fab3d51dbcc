"""Follow-ups: they appear and vanish with the answers, and what was hidden leaves no trace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deniable
import deniable.client
from deniable_protocol import (
    AnswerError,
    Document,
    Question,
    Submission,
    check_answers,
    draw_report,
    publish,
    randomize,
    survey_from_tree,
    verify,
)
from tests.helpers.exhaustive import outcomes
from tests.helpers.fake_server import FakeServer
from tests.helpers.surveys import documents

LINK = "https://survey.test/s/drinking"


def options(*codes: str) -> list[dict[str, str]]:
    return [{"code": code, "text": code} for code in codes]


DRINKING: dict[str, Any] = {
    "id": "drinking",
    "title": "A question that leads to another, which leads to a third",
    "epsilon": "2.0",
    "questions": [
        {"id": "drinks", "type": "yes_no", "text": "?", "decline": True},
        {"id": "often", "type": "scale", "text": "?", "labels": ["seldom", "weekly", "daily"],
         "show_if": {"drinks": ["yes"]}},
        {"id": "why", "type": "choice", "text": "?", "options": options("alone", "friends"),
         "show_if": {"often": ["2", "3"]}},
        {"id": "help", "type": "multi_choice", "text": "?", "options": options("doctor", "friend", "hotline")},
        {"id": "useful", "type": "yes_no", "text": "?", "show_if": {"help": ["doctor", "hotline"]}},
    ],
}  # fmt: skip
DOCUMENT = publish(
    survey_from_tree(DRINKING),
    [(["drinks", "often", "why"], None), (["help.doctor", "help.hotline", "useful"], 1), (["help.friend"], None)],
    [([0], 3), ([1], 2), ([2], 1)],
)
HIDDEN = "NEVERSENT73193"  # no code of the survey


def shown(booklet: int, **answers: object) -> list[str]:
    return [question.id for question in verify(DOCUMENT).shown(booklet, answers)]


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ({}, ["drinks"]),
        ({"drinks": False}, ["drinks"]),
        ({"drinks": "declined"}, ["drinks"]),
        ({"drinks": True}, ["drinks", "often"]),
        ({"drinks": True, "often": 1}, ["drinks", "often"]),
        ({"drinks": True, "often": 2}, ["drinks", "often", "why"]),
        ({"drinks": True, "often": 3, "why": "alone"}, ["drinks", "often", "why"]),
        ({"drinks": False, "often": 3, "why": "alone"}, ["drinks"]),
        ({"drinks": "yes", "often": 3}, ["drinks"]),
        ({"drinks": True, "often": 9, "unknown": 1}, ["drinks", "often"]),
    ],
)
def test_a_chain_of_follow_ups(answers: dict[str, object], expected: list[str]) -> None:
    """A follow-up is shown after the answers that it names, and hidden with the question that it follows."""
    assert shown(0, **answers) == expected


def test_a_follow_up_of_several_choices() -> None:
    """Any of the named options shows it, also in an answer with options that the booklet does not have."""
    assert shown(1, help=[]) == shown(1) == shown(1, help=["friend"]) == ["help"]
    assert shown(1, help=["hotline"]) == shown(1, help=["friend", "doctor"]) == ["help", "useful"]
    assert shown(2, help=["doctor"]) == ["help"]


def test_five_lines_ask_all_that_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop of the documentation asks a question only once the answer before it makes it appear, and is enough."""
    monkeypatch.setattr(deniable.client, "draw_booklet", lambda _: 0)
    told: dict[str, Any] = {"drinks": True, "often": 2, "why": "friends"}
    with deniable.Client(LINK, transport=FakeServer(DOCUMENT)) as client:
        answers: dict[str, object] = {}
        while left := [question for question in client.shown(answers) if question.id not in answers]:
            answers[left[0].id] = told[left[0].id]
        assert answers == told and client.submit(answers).delivered


@given(st.data())
def test_what_is_shown_is_what_needs_an_answer(data: st.DataObject) -> None:
    """For random surveys, booklets and answers: those to the shown questions are enough, and none can be left out."""
    document = verify(data.draw(documents()))
    booklet = data.draw(st.integers(0, len(document.booklets) - 1))
    answers = {question.id: data.draw(st.sampled_from(panel(question))) for question in document.survey.questions}
    segments = {segment.id: segment.options[0].code for segment in document.survey.segments}
    visible = {question.id: answers[question.id] for question in document.shown(booklet, answers)}
    assert check_answers(document, booklet, visible, segments) == check_answers(document, booklet, answers, segments)
    left_out = data.draw(st.sampled_from([*visible]))
    with pytest.raises(AnswerError) as caught:
        check_answers(document, booklet, {name: visible[name] for name in visible if name != left_out}, segments)
    assert [(problem.place, problem.reason) for problem in caught.value.problems] == [(left_out, "missing")]


def panel(question: Question) -> list[Any]:
    return [answer for _, answer in question.panel(9)]


# No trace of what was hidden


def reports_of(document: Document, booklet: int, answers: dict[str, object]) -> dict[Any, Any]:
    """The exact probability of every list of reports, from the code that samples."""
    truths = check_answers(document, booklet, answers)
    channels = [part.channel for part in document.parts_of(booklet)]
    return outcomes(
        lambda draws: tuple(draw_report(c, truth, draws) for c, truth in zip(channels, truths, strict=True))
    )


@pytest.mark.parametrize("hidden", [{"often": 3, "why": "alone"}, {"often": HIDDEN}, {"why": ["friends"]}])
def test_a_hidden_answer_changes_nothing(hidden: dict[str, object]) -> None:
    """Whatever was answered before a question vanished, every report is exactly as likely as without it."""
    document = verify(DOCUMENT)
    assert reports_of(document, 0, {"drinks": False}) == reports_of(document, 0, {"drinks": False, **hidden})

    def sent(answers: dict[str, object]) -> Submission:
        return randomize(document, answers, booklet=0, read=lambda n: bytes(range(n)))

    assert sent({"drinks": False}) == sent({"drinks": False, **hidden})


def test_a_hidden_answer_is_nowhere(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer to a question that vanished again is in no request, in no receipt and not in the state file."""
    monkeypatch.setattr(deniable.client, "draw_booklet", lambda _: 0)
    server = FakeServer(DOCUMENT)
    with deniable.Client(LINK, state=state, transport=server) as client:
        receipt = client.submit({"drinks": False, "often": HIDDEN, "why": HIDDEN, "help": [HIDDEN]})
        assert receipt.delivered and HIDDEN not in repr(receipt) + repr(receipt.sent)
    assert HIDDEN not in repr(server.requests)
    assert [file.name for file in state.parent.iterdir()] == ["state.db"]
    assert HIDDEN.encode() not in state.read_bytes()


EVERY_PATH: list[dict[str, object]] = [
    {"drinks": False},
    {"drinks": "declined"},
    {"drinks": True, "often": 1},
    {"drinks": True, "often": 2, "why": "alone"},
    {"drinks": True, "often": 3, "why": "friends"},
]


def test_what_is_sent_has_one_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    """One question shown or three: the same request but for the id and the digits of the report, and no more of it."""
    monkeypatch.setattr(deniable.client, "draw_booklet", lambda _: 0)
    shapes = set()
    for answers in EVERY_PATH * 5:
        server = FakeServer(DOCUMENT)
        with deniable.Client(LINK, transport=server) as client:
            client.submit(answers)
        (request,) = [each for each in server.requests if each.method == "POST"]
        sent = msgspec.json.decode(request.body)
        (report,) = sent["reports"]
        shapes.add((len(request.body) - len(str(report)), tuple(sent), request.path, str(request.headers)))
    assert len(shapes) == 1


def test_every_path_can_give_every_report() -> None:
    """No report rules an answer out: not how often, and not whether there was anything to say about it."""
    document = verify(DOCUMENT)
    tables = [reports_of(document, 0, answers) for answers in EVERY_PATH]
    assert all(table.keys() == tables[0].keys() for table in tables)
    assert all(chance > 0 for table in tables for chance in table.values())
