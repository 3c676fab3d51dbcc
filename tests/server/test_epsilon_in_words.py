"""The sentence that says what epsilon means: true, and the same in Python and in JavaScript."""

from __future__ import annotations

import json
import subprocess
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from deniable_protocol import Survey, survey_from_tree
from deniable_server.wording import ALL, ONE, epsilon_in_words, question_in_words, survey_in_words


def survey_of(*questions: dict[str, Any]) -> Survey:
    asked = [{"id": f"q{i}", "text": "?", **question} for i, question in enumerate(questions)]
    return survey_from_tree({"id": "words", "title": "Words", "questions": asked})


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
    words = question_in_words(survey_of(question).questions[0])
    assert words.startswith(
        "Suppose someone tries to guess your answer from what was sent for this question, and accepts being wrong "
        "about 5% of people. They "
    )
    assert words.endswith(ending)


def test_all_answers_together() -> None:
    """Epsilons and deltas add up: two questions at epsilon 1 and a delta allow 5% e^2 and the delta."""
    words = survey_in_words(survey_of(YES_NO, GAUSSIAN))
    assert words.startswith("Suppose someone tries to guess your answers from everything that was sent, and ")
    assert words.endswith("They would find the truth at most 37% of the time.")  # 36.94...% + 0.01%
    assert "nearly always" in survey_in_words(survey_of(*[YES_NO | {"epsilon": "10"}] * 200))


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
