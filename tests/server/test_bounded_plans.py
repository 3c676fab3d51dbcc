"""Plans of large surveys: bounded in processor time, or refused with words."""

from __future__ import annotations

import subprocess
import sys
import time
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest

from deniable_protocol import SurveyError, survey_from_tree
from deniable_protocol.design import band
from deniable_server.planning import plan_survey
from deniable_server.planning.composition import _distance
from deniable_server.planning.limits import MOST_ITEMS


def survey(*questions: dict[str, Any], **keys: Any) -> Any:
    return survey_from_tree({"id": "large", "title": "Large", **keys, "questions": list(questions)})


def test_the_command_calculates_in_one_thread() -> None:
    """Threads of the linear algebra would wait for each other at full load: the command and the server have one, unless
    an operator says otherwise. It is set before numpy is imported.
    """
    code = (
        "import os, sys, deniable_server; {}; assert 'numpy' in sys.modules; print(os.environ['OPENBLAS_NUM_THREADS'])"
    )
    for start in ("deniable_server.create_app", "import deniable_server.__main__ as m; sys.argv[1:] = ['plan', 'x']"):
        run = start if "create" in start else f"{start}\ntry: m.main()\nexcept SystemExit: pass\npass"
        script = code.format(run)
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env={}, check=False)
        assert done.stdout.split() == ["1"], done.stderr


@pytest.mark.parametrize(("levels", "epsilon"), [(2, "1"), (5, "0.1"), (9, "1"), (9, "3"), (17, "5")])
def test_the_distance_of_a_band_is_that_of_its_ends(levels: int, epsilon: str) -> None:
    """No two levels differ more than those at both ends."""
    channel = band(levels, Fraction(epsilon))
    rows, total = channel.integer_rows()
    pairs = [Fraction(sum(abs(a - b) for a, b in zip(*two, strict=True)), 2 * total) for two in combinations(rows, 2)]
    assert _distance(channel) == max(pairs)


def test_the_plan_of_200_numbers_is_quick() -> None:
    """It takes two seconds of processor time in one thread, and took thirty; much more would show here."""
    asked = [
        {"id": f"q{i}", "text": f"{i}?", "type": "number", "min": 0, "max": 9, "epsilon": f"{1 + i / 100:.2f}"}
        for i in range(200)
    ]
    start = time.thread_time()
    assert plan_survey(survey(*asked)).respondents > 0
    assert time.thread_time() - start < 12


def test_what_would_take_too_long_is_refused() -> None:
    """Booklets for thousands of options are not looked for, and the message says how many may be asked."""
    options = [{"code": f"c{i}", "text": f"{i}"} for i in range(50)]
    asked = [{"id": f"q{i}", "text": f"{i}?", "type": "multi_choice", "options": options} for i in range(21)]
    start = time.thread_time()
    with pytest.raises(SurveyError, match=f"1,050 things to ask.*at most {MOST_ITEMS:,}"):
        plan_survey(survey(*asked, epsilon="2.0"))
    assert time.thread_time() - start < 2
