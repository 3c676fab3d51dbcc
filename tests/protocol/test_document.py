"""Published documents: what they spend, what each booklet asks, and that reading gives back what was published."""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings

from deniable_protocol import (
    Account,
    AnswerError,
    DocumentError,
    draw_booklet,
    parse_survey,
    publish,
    randomize,
    survey_from_tree,
    verify,
)
from deniable_protocol.checks import Checker
from deniable_protocol.receive import check_submission
from tests.helpers.exhaustive import outcomes
from tests.helpers.small_documents import answers_of
from tests.helpers.surveys import JOINT, documents, joint, several, textbook, with_epsilons

YES_NO: list[dict[str, Any]] = [{"id": f"q{i}", "type": "yes_no", "text": "?"} for i in range(3)]


def spending(total: str, *epsilons: str, booklets: Sequence[tuple[list[int], int]] | None = None) -> bytes:
    """A document whose one booklet has a part at each of these epsilons."""
    questions = YES_NO[: len(epsilons)]
    survey = survey_from_tree({"id": "ab", "title": "T", "epsilon": total, "questions": questions})
    parts = [([f"q{i}"], None, epsilon) for i, epsilon in enumerate(epsilons)]
    return with_epsilons(survey, parts, booklets or [([*range(len(parts))], 1)])


@pytest.mark.parametrize(
    ("total", "epsilons", "within"),
    [
        ("0.3", ("0.1", "0.2"), True),  # in doubles 0.1 + 0.2 is above 0.3
        ("0.3", ("0.1", "0.2001"), False),
        ("0.2999", ("0.1", "0.2"), False),
        ("0.3", ("0.1", "0.1", "0.1"), True),
        ("0.7", ("0.1", "0.6"), True),  # in doubles below 0.7
        ("0.6999", ("0.1", "0.6"), False),
        ("10", ("5", "5.0"), True),
        ("9.9999", ("3.3333", "3.3333", "3.3333"), True),
        ("9.9998", ("3.3333", "3.3333", "3.3333"), False),
        ("2.0", ("2.0001",), False),
        ("2", ("2.0000",), True),
    ],
)
def test_a_booklet_spends_at_most_what_the_survey_states(total: str, epsilons: tuple[str, ...], within: bool) -> None:
    """Epsilons are added as the decimals that they are."""
    if within:
        assert verify(spending(total, *epsilons)).epsilon == parse_epsilon(total)
        return
    with pytest.raises(DocumentError) as caught:
        spending(total, *epsilons)
    assert [(problem.place, problem.reason) for problem in caught.value.problems] == [("booklets[0].parts", "budget")]


def parse_epsilon(total: str) -> str:
    return str(survey_from_tree({"id": "ab", "title": "T", "epsilon": total, "questions": YES_NO[:1]}).epsilon)


def test_every_booklet_that_spends_too_much_is_named() -> None:
    """All booklets are checked, not the first; each that is wrong has its place."""
    with pytest.raises(DocumentError) as caught:
        spending("1.0", "0.5", "0.6", "0.4", booklets=[([0, 2], 1), ([0, 1], 1), ([1, 2], 1), ([2, 1, 0], 1)])
    assert [problem.place for problem in caught.value.problems] == ["booklets[0].parts", "booklets[1].parts"]


def test_delta_is_that_of_the_worst_booklet() -> None:
    """Deltas of the parts of a booklet add up; over booklets the largest counts."""
    noisy = {"type": "number", "text": "?", "min": 0, "max": 1, "mechanism": "gaussian"}
    questions = [{**noisy, "id": f"q{i}", "delta": f"0.00000{i + 1}"} for i in range(3)]
    survey = survey_from_tree({"id": "ab", "title": "T", "epsilon": "2.0", "questions": questions})
    parts = [([f"q{i}"], None, "1.0") for i in range(3)]
    assert verify(with_epsilons(survey, parts, [([0, 1], 1), ([2], 5)])).account.delta == Fraction("0.000003")
    assert verify(with_epsilons(survey, parts, [([0, 2], 1), ([1], 5)])).account.delta == Fraction("0.000004")
    assert verify(joint()).account == Account.of(2)


def test_the_textbooks_design_is_one_booklet_of_everything() -> None:
    """Each question is a part at its own epsilon, and they add up."""
    document = verify(textbook())
    assert [(part.names, part.epsilon) for part in document.parts] == [
        (("vaped",), "1.0"),
        (("support",), "2.0"),
        (("stress",), "1.5"),
        (("hours",), "1.0"),
    ]
    assert [(booklet.parts, booklet.weight) for booklet in document.booklets] == [((0, 1, 2, 3), 1)]
    assert document.epsilon == "5.5" and document.asked(0) == document.survey.questions


def test_a_copy_of_a_survey_is_published_as_the_survey() -> None:
    """Also one that another process got, in which defaults are equal and not the same."""
    survey = verify(textbook()).survey
    assert publish(pickle.loads(pickle.dumps(survey))) == publish(survey)


def test_a_survey_with_one_epsilon_needs_parts() -> None:
    """There is no design without a choice of parts and booklets."""
    with pytest.raises(ValueError, match="needs parts and booklets"):
        publish(survey_from_tree(JOINT))


def test_a_booklet_asks_its_own_questions_in_the_surveys_order() -> None:
    """Of a multi_choice only the options that the booklet reports on; the order of its parts makes no difference."""
    document = verify(several())
    asked = [[question.id for question in document.asked(number)] for number in range(4)]
    assert asked == [
        ["vaped", "how_often", "support", "hours"],
        ["vaped", "how_often", "stress"],
        ["vaped", "how_often", "support", "stress"],
        ["support", "stress", "hours"],
    ]
    support = [next(each for each in document.asked(number) if each.id == "support").codes for number in (0, 2, 3)]
    assert support == [("doctor",), ("doctor",), ("friend", "nobody")]


def test_parts_about_a_question_are_found_by_its_name_or_an_options() -> None:
    """A question may be in several parts; a multi_choice is wherever one of its options is."""
    document = verify(joint())
    assert document.parts_about("vaped") == [(0, 0), (1, 0)]
    assert document.parts_about("support") == [(0, 2), (2, 0), (3, 0), (3, 1)]
    assert document.parts_about("support.doctor") == [(0, 2), (2, 0)]
    assert document.parts_about("nothing") == []


def test_what_is_for_planning_is_not_published() -> None:
    """The number of expected respondents stays with the survey's file."""
    survey = survey_from_tree({**JOINT, "respondents": 5000})
    atoms = json.loads(joint())["parts"]
    parts = [(part["questions"], None) for part in atoms]
    booklets = [([number], 1) for number in range(len(parts))]
    assert b"respondents" not in publish(survey, parts, booklets)


@settings(max_examples=100, deadline=None)
@given(documents())
def test_a_published_document_reads_back_the_same(published: bytes) -> None:
    """Parsing, publishing and verifying gives the same survey, parts and booklets, of both designs."""
    document = verify(published)
    survey = document.survey
    tree = json.loads(published)
    assert parse_survey(msgspec.json.encode(tree["survey"]), syntax="json") == survey
    assert [[*part.names] for part in document.parts] == [part["questions"] for part in tree["parts"]]
    assert all(Fraction(part.epsilon) <= survey.exact_epsilon for part in document.parts)
    assert [[*booklet.parts] for booklet in document.booklets] == [booklet["parts"] for booklet in tree["booklets"]]
    if survey.epsilon is None:
        assert publish(survey) == published
        return
    booklets = [(booklet.parts, booklet.weight) for booklet in document.booklets]
    parts = [(part.names, part.channel.held) for part in document.parts]
    assert publish(survey, parts, booklets) == published


@settings(max_examples=60, deadline=None)
@given(documents())
def test_what_a_device_sends_is_what_a_server_accepts(published: bytes) -> None:
    """For every booklet, and for one that is drawn: with answers to its own questions, or to all of them."""
    document = verify(published)
    segments = {segment.id: segment.options[-1].code for segment in document.survey.segments}
    answers = {question.id: answers_of(question)[-1] for question in document.survey.questions}
    for booklet in (None, *range(len(document.booklets))):
        sent = randomize(document, answers, segments, booklet=booklet)
        own = {question.id: answers[question.id] for question in document.asked(sent["booklet"])}
        for each in (sent, randomize(document, own, segments, booklet=sent["booklet"])):
            check = Checker()
            assert check_submission(check, document, each) == each and not check.problems
            assert each["booklet"] == sent["booklet"] and [*each] == ["id", "digest", "booklet", "reports", "segments"]


def test_a_booklet_is_drawn_by_its_weight() -> None:
    """Exactly: weight / (sum of the weights). One booklet, whatever its weight, takes no draw."""
    for published in (joint(), several()):
        document = verify(published)
        weights = [booklet.weight for booklet in document.booklets]
        expected = {number: Fraction(weight, sum(weights)) for number, weight in enumerate(weights)}
        assert outcomes(lambda draws, of=document: draw_booklet(of, draws)) == expected
    single = verify(spending("1.0", "1.0", booklets=[([0], 7)]))
    assert outcomes(lambda draws: (draw_booklet(single, draws), len(draws.sizes))) == {(0, 0): 1}  # type: ignore[attr-defined]


def test_what_is_wrong_with_answers_is_told_in_the_surveys_order() -> None:
    """Whatever the order of a booklet's parts; a name that the survey does not have, and the segments, are told too."""
    document = verify(several())
    with pytest.raises(AnswerError) as caught:
        randomize(document, {"stress": 9, "support": "doctor", "secret": 1}, {"campus": "east"}, booklet=3)
    assert [(problem.place, problem.reason) for problem in caught.value.problems] == [
        ("answers", "unknown"),
        ("support", "type"),
        ("stress", "range"),
        ("hours", "missing"),
        ("campus", "range"),
    ]
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("booklet", [-1, 6, True, 0.0, "0"])
def test_a_booklet_that_there_is_not_is_refused(booklet: Any) -> None:
    """Nothing is drawn, and nothing is said but that: no booklet is found from the end of the list."""

    def read(n: int) -> bytes:
        raise AssertionError("randomness was taken")

    with pytest.raises(AnswerError) as caught:
        randomize(joint(), {"stress": 1}, {"campus": "north"}, booklet=booklet, read=read)
    assert (caught.value.place, caught.value.reason) == ("booklet", "range")
