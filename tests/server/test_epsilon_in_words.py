"""The sentence that says what epsilon means: true, and the same in Python and in JavaScript."""

from __future__ import annotations

import json
import subprocess
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from deniable_protocol import Document, survey_from_tree, verify
from deniable_server.planning.design import publish_survey
from deniable_server.wording import ALL, ONE, epsilon_in_words, question_in_words, survey_in_words
from tests.helpers.surveys import with_epsilons


def document_of(*questions: dict[str, Any], epsilon: str | None = None) -> Document:
    asked = [{"id": f"q{i}", "text": "?", **question} for i, question in enumerate(questions)]
    whole: dict[str, Any] = {"id": "words", "title": "Words", "questions": asked}
    if epsilon is not None:
        whole["epsilon"] = epsilon
        for question in asked:
            question.pop("epsilon")
    return verify(publish_survey(survey_from_tree(whole)))


YES_NO = {"type": "yes_no", "epsilon": "1"}
SCALE = {"type": "scale", "epsilon": "1", "labels": ["1", "2", "3"]}
GAUSSIAN = {"type": "number", "epsilon": "1", "min": 0, "max": 1, "mechanism": "gaussian", "delta": "0.0001"}


@pytest.mark.parametrize(
    ("question", "ending"),
    [
        (YES_NO, "They would find a true “yes” at most 13.6% of the time."),  # 5% e = 13.59...%, rounded up
        (SCALE, "They would find the true answer at most 13.6% of the time."),
        (GAUSSIAN, "the true answer at most 13.7% of the time. (This includes δ = 0.0001.)"),
        (YES_NO | {"epsilon": "3"}, "at most 95.3% of the time. This protects only weakly."),
        (YES_NO | {"epsilon": "10"}, "They could find the truth nearly always: this protects hardly at all."),
    ],
)
def test_one_answer(question: dict[str, Any], ending: str) -> None:
    """A guess from one report, in a sentence that fits the type of the question and the strength of its protection."""
    words = question_in_words(document_of(question).survey.questions[0])
    assert words is not None and words.startswith(
        "Suppose someone tries to guess your answer from what was sent for this question, and accepts being wrong "
        "about 5% of people. They "
    )
    assert words.endswith(ending)


def test_all_answers_together() -> None:
    """Epsilons and deltas add up: two questions at epsilon 1 and a delta allow 5% e^2 and the delta."""
    words = survey_in_words(document_of(YES_NO, GAUSSIAN))
    assert words.startswith("Suppose someone tries to guess your answers from everything that was sent, and ")
    assert words.endswith("They would find the truth at most 37% of the time.")  # 36.94...% + 0.01%
    assert "nearly always" in survey_in_words(document_of(*[YES_NO | {"epsilon": "10"}] * 200))


def test_one_epsilon_for_everything() -> None:
    """With an epsilon of the survey it is the limit for all answers, and no question has one of its own."""
    document = document_of(YES_NO, SCALE, epsilon="2.0")
    assert survey_in_words(document) == (
        "Suppose someone tries to guess your answers from everything that was sent, and accepts being wrong about 5% "
        "of people. They would find the truth at most 37% of the time."
    )
    assert [question_in_words(question) for question in document.survey.questions] == [None, None]


def test_deltas_of_a_booklet_add_up() -> None:
    """Of two deltas the larger counts where no booklet has both, and else their sum."""
    two = [GAUSSIAN | {"delta": delta} for delta in ("0.01", "0.005")]
    apart = document_of(*two, epsilon="1")
    assert survey_in_words(apart).endswith("at most 14.6% of the time.")  # 5% e + 1%
    assert survey_in_words(document_of(*two)).endswith("at most 38.5% of the time.")  # 5% e^2 + 1.5%
    halves = [([name], None, "0.5") for name in ("q0", "q1")]
    both = verify(with_epsilons(apart.survey, halves, [([0, 1], 1)]))
    assert survey_in_words(both).endswith("at most 15.1% of the time.")  # 5% e + 1.5%


def test_both_languages_say_the_same(node: str, root: Path) -> None:
    """For a grid of epsilons and deltas, of single answers and of totals: the same words and the same figures."""
    grid = [(epsilon / 20, delta) for epsilon in range(1, 301) for delta in (0, 1e-6, 0.01)]
    script = f"""
        import {{ meaningInWords }} from "{(root / "client/web/deniable_web/deniable/wording.js").as_uri()}";
        import {{ Texts }} from "{(root / "client/web/deniable_web/deniable/texts.js").as_uri()}";
        const texts = new Texts({{}}, "en");
        const said = {json.dumps(grid)}.map(([epsilon, delta]) =>
            ["yes", "answer", "all"].map((about) => meaningInWords(about, epsilon, delta, texts)));
        console.log(JSON.stringify(said));
    """
    run = subprocess.run([node, "--input-type=module", "-e", script], capture_output=True, text=True, check=True)
    found = ((ONE, "a true “yes”"), (ONE, "the true answer"), (ALL, "the truth"))
    assert json.loads(run.stdout) == [
        [epsilon_in_words(Fraction(str(epsilon)), Fraction(str(delta)), *each) for each in found]
        for epsilon, delta in grid
    ]
