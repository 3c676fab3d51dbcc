"""Made-up people: what they answer, and what the simulation remembers of them."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import numpy as np
import pytest

from deniable_protocol import parse_survey, randomize, survey_from_tree, verify
from deniable_server.planning import publish_survey
from deniable_server.simulate import Population, Respondent, compare

EXAMPLE = parse_survey((files("deniable_server") / "example.toml").read_bytes())
PEOPLE = 2_000


@pytest.fixture(scope="module")
def population() -> Population:
    return Population(EXAMPLE, seed=5)


@pytest.fixture(scope="module")
def people(population: Population) -> list[Respondent]:
    return list(population.respondents(PEOPLE))


def answered(people: list[Respondent], question: str) -> list[Any]:
    return [person.answers[question] for person in people if question in person.answers]


def test_the_truth_is_a_recount_of_the_answers(population: Population, people: list[Respondent]) -> None:
    """For every type of question the true shares and means are those of the answers that were given."""
    truth = population.truth
    assert truth.share("vaped", "yes") == sum(answered(people, "vaped")) / PEOPLE
    assert truth.share("stress", "2") == answered(people, "stress").count(2) / PEOPLE
    assert truth.share("support", "doctor") == sum("doctor" in each for each in answered(people, "support")) / PEOPLE
    assert truth.mean("drinks") == pytest.approx(sum(answered(people, "drinks")) / PEOPLE)
    debts = [debt for debt in answered(people, "debt") if debt != "declined"]
    in_bin = sum(500 <= debt < 2000 for debt in debts)
    assert truth.share("debt", "500..2000") == in_bin / PEOPLE
    assert truth.share("debt", "500..2000", answering=True) == in_bin / len(debts)
    assert list(Population(EXAMPLE, seed=5).respondents(PEOPLE)) == people
    assert compare(truth, []) == []


def test_a_follow_up_is_answered_by_those_it_applies_to(population: Population, people: list[Respondent]) -> None:
    """Only who said yes has an answer to it; its shares are among those, and so many are those to whom it applies."""
    for person in people:
        assert ("how_often" in person.answers) == person.answers["vaped"]
    often = answered(people, "how_often")
    assert 0 < len(often) < PEOPLE and population.truth.applies("how_often") == len(often) / PEOPLE
    assert population.truth.share("how_often", "every_day") == often.count("every_day") / len(often)
    assert population.truth.applies("vaped") == 1


def test_questions_that_are_planned_together_depend_on_each_other(
    population: Population, people: list[Respondent]
) -> None:
    """Their answers are correlated, so that the cross-tab is worth reading; others are not. Its cells are a recount."""
    vaped, stress, wellbeing = (np.array(answered(people, name), float) for name in ("vaped", "stress", "wellbeing"))
    assert np.corrcoef(vaped, stress)[0, 1] > 0.3 > 0.15 > abs(np.corrcoef(vaped, wellbeing)[0, 1])
    for point in range(1, 6):
        both = sum(bool(yes) and felt == point for yes, felt in zip(vaped, stress, strict=True))
        assert population.truth.pair(("vaped", "stress", "yes", str(point))) == both / PEOPLE


def test_groups_have_a_truth_of_their_own(population: Population, people: list[Respondent]) -> None:
    """The people of each group add up to all, and so do their answers."""
    north, south = (population.groups["campus", code] for code in ("north", "south"))
    assert north.people + south.people == PEOPLE == population.truth.people
    yes = [person for person in people if person.answers["vaped"] and person.segments["campus"] == "north"]
    assert north.share("vaped", "yes") == len(yes) / north.people


def test_pairs_of_options_and_of_three_questions() -> None:
    """Three questions make three pairs; several options of a question may be true, and of a hidden one none."""
    options = [{"code": code, "text": code} for code in "ab"]
    survey = survey_from_tree(
        {
            "id": "pairs",
            "title": "Pairs",
            "epsilon": "2",
            "together": [["one", "several"], ["one", "other", "several.b"], ["one", "which"]],
            "questions": [
                {"id": "one", "type": "yes_no", "text": "?"},
                {"id": "other", "type": "choice", "text": "?", "options": options},
                {"id": "several", "type": "multi_choice", "text": "?", "options": options},
                {
                    "id": "which",
                    "type": "choice",
                    "text": "?",
                    "options": options,
                    "decline": True,
                    "show_if": {"several": ["a"]},
                },
            ],
        }
    )
    population = Population(survey, seed=1)
    names = [("one", "other"), ("one", "several.b"), ("other", "several.b"), ("one", "several"), ("one", "which")]
    assert population.pairs == names
    people = list(population.respondents(500))
    both = sum(person.answers["one"] and "b" in person.answers["several"] for person in people)
    assert population.truth.pair(("one", "several", "yes", "b")) == both / 500
    assert population.truth.pair(("one", "several.b", "yes", "yes")) == both / 500
    neither = sum(not person.answers["one"] and "which" not in person.answers for person in people)
    assert population.truth.pair(("one", "which", "no", "(not asked)")) == neither / 500
    assert all(("which" in person.answers) == ("a" in person.answers["several"]) for person in people)
    which = answered(people, "which")
    truly = which.count("a") / (len(which) - which.count("declined"))
    assert population.truth.share("which", "a", answering=True) == truly


def test_the_client_takes_what_they_answer(people: list[Respondent]) -> None:
    """Whatever booklet a device draws, the answers are complete: questions that are not shown need none."""
    document = verify(publish_survey(EXAMPLE))
    for number, person in enumerate(people[:200]):
        booklet = number % len(document.booklets)
        sent = randomize(document, person.answers, person.segments, booklet=booklet)
        assert sent["booklet"] == booklet and len(sent["reports"]) == len(document.booklets[booklet].parts)
