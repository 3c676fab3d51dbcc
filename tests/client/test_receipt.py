"""Receipts: what was sent, in words that a respondent can check."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import deniable
import deniable.client
from deniable.receipt import speaks_for
from deniable_protocol import Draws, Part, publish, survey_from_tree, verify
from tests.helpers.fake_server import FakeServer
from tests.helpers.surveys import TEXTBOOK, documents, several

LINK = "https://survey.test/s/joint"
SEGMENTS = {"campus": "north"}
EVERYTHING: dict[str, Any] = {"vaped": True, "how_often": "weekly", "support": ["friend"], "stress": 2, "hours": 10}
PARTS = {part.names: part for part in verify(several()).parts}


def test_a_joint_report_speaks_for_its_paths() -> None:
    """Each option that a subset holds is one way to answer the part's questions, without those that are not shown."""
    part = PARTS["vaped", "how_often", "stress"]
    assert len(part.paths) == 16  # no, then yes and monthly, weekly, daily; each with 1, 2, 3 and declined
    assert speaks_for(part, 0b1) == [{"vaped": "no", "stress": "1"}]
    assert speaks_for(part, 1 << 15 | 1 << 8 | 1 << 3) == [
        {"vaped": "no", "stress": "declined"},
        {"vaped": "yes", "how_often": "weekly", "stress": "1"},
        {"vaped": "yes", "how_often": "daily", "stress": "declined"},
    ]


def test_single_reports_speak_for_their_answer() -> None:
    """An option's report is its noisy yes or no; a mean's speaks for no one answer; of several choices one is drawn."""
    assert speaks_for(PARTS[("support.doctor",)], 1) == [{"support.doctor": "yes"}]
    assert speaks_for(PARTS[("support.doctor",)], 0) == [{"support.doctor": "no"}]
    assert speaks_for(PARTS[("stress",)], 0b1001) == [{"stress": "1"}, {"stress": "declined"}]
    assert speaks_for(PARTS[("hours",)], 4) == []
    (drawn,) = [part for part in verify(publish(survey_from_tree(TEXTBOOK))).parts if part.names == ("support",)]
    assert [speaks_for(drawn, report) for report in (0, 3, 4)] == [
        [{"support.doctor": "no"}],
        [{"support.friend": "yes"}],
        [{"support.nobody": "no"}],
    ]


@given(st.data())
def test_a_report_speaks_for_the_answers_that_make_it_likelier(data: st.DataObject) -> None:
    """For random parts and reports: of all paths, just those it speaks for give it the larger of two probabilities."""
    document = verify(data.draw(documents()))
    part = data.draw(st.sampled_from(document.parts))
    assume(part.paths and part.channel.supports())  # not a mean, and not one option drawn of several
    report = part.channel.randomize(data.draw(st.integers(0, len(part.paths) - 1)), Draws())
    chances = [part.channel.probability(number, report) for number in range(len(part.paths))]
    likely = [in_words(part, number) for number, chance in enumerate(chances) if chance == max(chances)]
    assert len({*chances}) == 2 and speaks_for(part, report) == likely


def in_words(part: Part, number: int) -> dict[str, str]:
    path = zip(part.items, part.paths[number], strict=True)
    return {item.name: item.codes[place] for item, place in path if place is not None}


@pytest.mark.parametrize("booklet", range(4))
def test_a_receipt_tells_what_each_report_is_about(state: Path, monkeypatch: pytest.MonkeyPatch, booklet: int) -> None:
    """Every report of the booklet, with its questions and epsilon; the same again in a later process while it waits."""
    monkeypatch.setattr(deniable.client, "draw_booklet", lambda _: booklet)
    server = FakeServer(several())
    server.replies = [(200, {}, several()), (503, {"Retry-After": "3600"}, b"")]
    with deniable.Client(LINK, state=state, transport=server) as client:
        receipt = client.submit(EVERYTHING, SEGMENTS, timeout=0.1)
        client.close(0)
    parts = verify(several()).parts_of(booklet)
    assert [(each.questions, each.epsilon) for each in receipt.sent] == [(part.names, part.epsilon) for part in parts]
    assert [each.report for each in receipt.sent] == receipt.reports
    for each, part in zip(receipt.sent, parts, strict=True):
        assert list(each.speaks_for) == speaks_for(part, each.report)
    with deniable.Client(LINK, state=state, transport=server) as client:
        assert client.receipt == receipt


def test_what_was_delivered_is_not_kept(state: Path) -> None:
    """A later process knows that the survey was answered, and what that spent; the reports are gone."""
    server = FakeServer(several())
    with deniable.Client(LINK, state=state, transport=server) as client:
        receipt = client.submit(EVERYTHING, SEGMENTS)
        assert client.receipt is receipt and receipt.reports
    with deniable.Client(LINK, state=state, transport=server) as client:
        later = client.receipt
        assert later is not None and later.delivered and (later.epsilon, later.delta) == ("2.0", "0")
        assert (later.id, later.digest, later.booklet) == ("", "", None)
        assert (later.reports, later.segments, later.sent) == ([], {}, ())
    assert receipt.delivered


def test_what_was_sent_can_be_read() -> None:
    """As text, a report says what it is about and what it speaks for."""
    joint = deniable.Sent(("vaped", "often"), "2.0", 5, ({"vaped": "no"}, {"vaped": "yes", "often": "weekly"}))
    assert str(joint) == "vaped, often: 5, which speaks for: vaped no; or vaped yes, often weekly"
    assert str(deniable.Sent(("hours",), "2.0", 3, ())) == "hours: 3"
