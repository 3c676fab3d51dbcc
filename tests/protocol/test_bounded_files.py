"""Survey files that are written to cost time or memory: refused in little of both, with words."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from deniable_protocol import SurveyError, parse_survey
from deniable_protocol.errors import MOST_LETTERS, MOST_PROBLEMS

SECONDS = 20
"""What even a slow and busy machine needs for a million characters; most need less than one. Unbounded, the keys below
take from ten minutes to hours.
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(lambda: "epsilon = 1e99999999999999999999", "exponent", id="exponent"),
        pytest.param(lambda: "epsilon = 1e-99999999999999999999", "exponent", id="negative exponent"),
        pytest.param(lambda: "epsilon = 1e999999", "exponent", id="exponent that decimals take"),
        pytest.param(lambda: "epsilon = 0x" + "f" * 900_000, "too long", id="hexadecimal"),
        pytest.param(lambda: "epsilon = 1" + "0" * 900_000, "digits", id="integer"),
        pytest.param(lambda: f"epsilon = 1.{'3' * 900_000}", "too long", id="places"),
        pytest.param(lambda: ".".join("a" * 450_000) + " = 1", "dots", id="dotted key"),
        pytest.param(lambda: "[" + " . ".join("a" * 200_000) + "]", "dots", id="dotted header"),
        pytest.param(lambda: "x = {" + ".".join(["'a'"] * 200_000) + " = 1}", "dots", id="dotted inline key"),
        pytest.param(lambda: ".".join([r'"\""'] * 150_000) + " = 1", "dots", id="dotted quoted key"),
        pytest.param(lambda: "a = " + "[" * 900_000, "not valid TOML", id="nested"),
        pytest.param(lambda: "a" * 1_000_001, "characters", id="long"),
    ],
)
def test_absurd_files_are_refused_quickly(text: Callable[[], str], said: str) -> None:
    """Numbers, keys and nesting that no survey needs get one sentence each, however long they are."""
    start = time.monotonic()
    with pytest.raises(SurveyError) as caught:
        parse_survey(text())
    assert said in str(caught.value) and len(str(caught.value)) < 500
    assert time.monotonic() - start < SECONDS


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("\n".join(f"{'.'.join([f'k{i}'] * 60)} = 1" for i in range(3_000)), id="keys below the limit"),
        pytest.param("k" * 900_000 + " = 1", id="one long key"),
        pytest.param(f'notice = "{"." * 900_000}"', id="dots in a text"),
        pytest.param(f'notice = "{"a. " * 20}"', id="short sentences"),
        pytest.param('"' * 900_000, id="quotes"),
    ],
)
def test_reading_costs_time_in_proportion_to_the_length(text: str) -> None:
    """Looking for absurd keys is quick on any text, and takes nothing else for one."""
    start = time.monotonic()
    with pytest.raises(SurveyError) as caught:
        parse_survey(text)
    assert "dots" not in str(caught.value)
    assert time.monotonic() - start < SECONDS


def test_a_hundred_problems_are_enough() -> None:
    """Of very many problems the first hundred are listed, each of a readable length, and the others are counted."""
    with pytest.raises(SurveyError) as caught:
        parse_survey("".join(f"{'k' * 700}{i} = 1\n" for i in range(1_000)))
    problems = caught.value.problems
    assert len(problems) == MOST_PROBLEMS + 1
    assert str(problems[-1]) == "and 904 more problems", "1,000 unknown keys and four missing ones"
    assert max(len(problem.place) for problem in problems) == MOST_LETTERS
    with pytest.raises(SurveyError) as caught:
        parse_survey(f'id = "{"x" * 900_000}"')
    assert len(str(caught.value)) < 2_000
