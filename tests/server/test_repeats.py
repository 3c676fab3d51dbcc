"""Questions that ask nearly the same are found, and those of real questionnaires are not taken for the same."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from itertools import combinations
from typing import Any

import pytest

from deniable_protocol import Survey, survey_from_tree, verify
from deniable_server.planning.repeats import repeated_questions, repeated_segments

SAME = [
    ("Have you ever taken cocaine?", "Have you ever taken cocaine?"),
    ("Have you ever taken cocaine?", "have you EVER taken cocaine"),
    ("Have you ever taken cocaine?", "Have  you ever - taken “cocaine” …"),
    ("1. Have you ever taken cocaine?", "Q2: Have you ever taken cocaine?"),
    ("a) Have you ever taken cocaine?", "Have you ever taken cocaine? (2)"),
    ("Have you ever taken cocaine?", "Have you ever taken cocain?"),
    ("Have you ever taken cocaine?", "Did you ever take the cocaine?"),
    ("Have you ever taken cocaine?", "Have you really ever taken cocaine, please?"),
    ("Have you ever taken cocaine?", "Have you taken cocaine ever?"),
    ("Have you vaped in the last 30 days?", "In the last 30 days, have you vaped?"),
    ("Do you take illegal drugs?", "Don't you take illegal drugs?"),
    ("Do you smoke or drink?", "Do you drink or smoke?"),
    ("¿Ha consumido cocaína?", "Ha consumido cocaina"),
    ("Haben Sie schon einmal gestohlen?", "Haben Sie schon einmal gestohlen?!"),
    ("你吸烟吗?", "你吸烟吗?"),
]

BATTERIES = {
    "stress": ["How stressed are you at work?", "How stressed are you at home?", "How stressed are you?"],
    "PHQ-9": [
        f"Over the last 2 weeks, how often have you been bothered by {each}?"
        for each in (
            "little interest or pleasure in doing things",
            "feeling down, depressed or hopeless",
            "trouble falling or staying asleep, or sleeping too much",
            "feeling tired or having little energy",
            "poor appetite or overeating",
            "feeling bad about yourself",
            "trouble concentrating on things",
            "moving or speaking slowly, or being fidgety",
            "thoughts that you would be better off dead",
        )
    ],
    "use": [
        "Have you ever used cannabis?",
        "Have you used cannabis in the last 12 months?",
        "Have you used cannabis in the last 30 days?",
        "Have you ever used cocaine?",
        "Do you use cannabis now?",
        "Do you use cannabis every day?",
        "Do you use cannabis alone?",
    ],
    "tobacco": ["Do you smoke?", "Have you ever smoked?", "Does your mother smoke?", "Does your father smoke?"],
    "partners": [
        "How often did your partner hit you?",
        "How often did you hit your partner?",
        "How often did you shout at your partner?",
        "How often did your partner shout at you?",
    ],
    "trust": ["Do you trust management?", "Does management trust you?", "Do you trust your colleagues?"],
    "family": ["¿Confía usted en su hermano?", "¿Confía usted en su hermana?", "¿Confía usted en su hijo?"],
    "friends": ["How many male friends do you have?", "How many female friends do you have?"],
    "time": ["Did you drink before work?", "Did you drink after work?", "Did you drink during the week?"],
    "drinks": ["你喝酒吗?", "你喝啤酒吗?"],
    "pay": [f"Would you buy this at {price} euros?" for price in (5, 10, 15, 20)],
    "years": ["Did you vote in 2016?", "Did you vote in 2020?"],
    "short": ["How often?", "How much?", "How long?", "Why?"],
}


def survey_of(*questions: dict[str, Any] | str, segments: tuple[dict[str, Any], ...] = ()) -> Survey:
    """Each question by its text, or with more than that."""
    asked = [each if isinstance(each, dict) else {"text": each} for each in questions]
    trees = [{"id": f"q{i}", "type": "yes_no", "epsilon": 1} | each for i, each in enumerate(asked)]
    return survey_from_tree({"id": "twice", "title": "?", "segments": [*segments], "questions": trees})


def groups(survey: Survey) -> list[list[str]]:
    return [[question.id for question in group] for group in repeated_questions(survey)]


def options(*texts: str) -> list[dict[str, str]]:
    return [{"code": f"o{i}", "text": text} for i, text in enumerate(texts)]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_question_in_other_words_is_found(one: str, other: str) -> None:
    """Whatever the case, accents, punctuation, numbering, filler, a letter or the place of a phrase."""
    assert groups(survey_of(one, "Something else?", other)) == [["q0", "q2"]]


@pytest.mark.parametrize("battery", BATTERIES)
def test_the_questions_of_a_battery_are_different(battery: str) -> None:
    """One word that matters makes another question, however long the rest is."""
    assert groups(survey_of(*BATTERIES[battery])) == []


def test_batteries_do_not_repeat_each_other() -> None:
    """All of them in one survey: still not one false alarm in over 900 pairs."""
    everything = [text for battery in BATTERIES.values() for text in battery]
    assert len([*combinations(everything, 2)]) > 900
    assert groups(survey_of(*everything)) == []


def test_the_example_repeats_nothing(example: bytes) -> None:
    survey = verify(example).survey
    assert (repeated_questions(survey), [*repeated_segments(survey)]) == ([], [])


def test_ten_times_one_question_is_one_finding() -> None:
    """Not one for each pair of them."""
    text = "Have you ever taken cocaine?"
    assert groups(survey_of(*[text] * 10, "Do you drink?", "Do you drink?")) == [
        [f"q{i}" for i in range(10)],
        ["q10", "q11"],
    ]


def test_options_tell_questions_apart() -> None:
    """One text over two lists of options is two questions; the same list in another order or spelling is not."""
    text = "Which of these have you used?"
    choice = {"text": text, "type": "choice"}
    drugs = choice | {"options": options("Cocaine", "Heroin", "Cannabis")}
    help_ = choice | {"options": options("A doctor", "A hotline", "Friends")}
    again = choice | {"options": options("cannabis", "COCAINE", "Heroin!", "None")}
    assert groups(survey_of(drugs, help_)) == []
    assert groups(survey_of(drugs, again)) == [["q0", "q1"]]
    assert groups(survey_of(drugs, {"text": text})) == [["q0", "q1"]]


def test_follow_ups_of_different_questions_differ() -> None:
    """The same words after one question and after another ask for different things."""
    often = {"type": "yes_no", "text": "Every day?"}
    questions = [
        {"id": "vaped", "type": "yes_no", "text": "Do you vape?"},
        {"id": "vaped_daily", "show_if": {"vaped": ["yes"]}, **often},
        {"id": "drank", "type": "yes_no", "text": "Do you drink?"},
        {"id": "drank_daily", "show_if": {"drank": ["yes"]}, **often},
        {"id": "drank_daily_again", "show_if": {"drank": ["yes"]}, **often},
    ]
    survey = survey_from_tree({"id": "follow-ups", "title": "?", "epsilon": 2, "questions": questions})
    assert groups(survey) == [["drank_daily", "drank_daily_again"]]


def test_a_segment_that_asks_the_same_is_found() -> None:
    """It is sent as it is, next to the protected answer."""
    segment = {"id": "user", "text": "have you ever taken cocaine", "options": options("Yes", "No")}
    other = {"id": "campus", "text": "Which campus?", "options": options("North", "South")}
    survey = survey_of("Do you drink?", "Have you ever taken cocaine?", segments=(other, segment))
    assert [(each.id, question.id) for each, question in repeated_segments(survey)] == [("user", "q1")]


def shuffled(words: int, seed: int) -> str:
    """The same words in an order of its own."""
    return " ".join(random.Random(seed).sample([f"w{i}" for i in range(words)], words))


@pytest.mark.parametrize(
    "text",
    [
        lambda i: "have you ever taken " * 19 + f"x{i}",
        lambda i: "have you ever taken " * 250 + f"x{i}",
        lambda i: shuffled(60, i),
        lambda i: shuffled(1200, i),
        lambda i: "the same " * 60,
    ],
    ids=["alike", "alike-long", "shuffled", "shuffled-long", "equal"],
)
def test_two_hundred_questions_take_no_time(text: Callable[[int], str]) -> None:
    """The most that a survey may have, made to be compared: below half a second."""
    survey = survey_of(*[text(i) for i in range(200)])
    start = time.process_time()
    repeated_questions(survey)
    assert time.process_time() - start < 0.5
