"""Survey files: what is accepted, and that all errors of a bad one are reported at once."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings

from deniable_protocol import Choice, Number, SurveyError, YesNo, parse_survey, publish, survey_from_tree, verify
from deniable_protocol.questions import plain
from tests.helpers.surveys import surveys

GOOD = """
id = "campus-health"
title = "Campus health"

[[segments]]
id = "campus"
text = "Which campus?"
options = [{code = "north", text = "North"}, {code = "south", text = "South"}]

[[questions]]
id = "vaped"
type = "yes_no"
text = "Have you vaped?"
epsilon = 1.0
"""


def errors(text: str) -> list[str]:
    with pytest.raises(SurveyError) as caught:
        parse_survey(text)
    return [str(problem) for problem in caught.value.problems]


def test_a_good_file_is_read() -> None:
    """A TOML file becomes a survey with exact epsilons."""
    survey = parse_survey(GOOD)
    assert survey.questions == (YesNo(id="vaped", text="Have you vaped?", epsilon="1.0"),)
    assert survey.exact_epsilon == 1
    assert [option.code for option in survey.segments[0].options] == ["north", "south"]


def test_every_error_is_told_at_once_with_its_place() -> None:
    """Nine mistakes in one file give nine problems, each with its place."""
    text = """
id = "Campus"
titel = "Campus health"
[[questions]]
id = "a"
type = "yes_no"
text = "?"
epsilon = 0
[[questions]]
id = "a"
type = "choice"
text = ""
options = [{code = "x", text = "X"}, {code = "x", text = "X"}]
[[questions]]
id = "b"
type = "number"
text = "?"
epsilon = 1.00001
min = 5
max = 5
"""
    assert errors(text) == [
        "titel: no such key here; known are id, title, questions, notice, epsilon, together, respondents, segments",
        "title: missing",
        "id: 'Campus' does not match ^[a-z0-9][a-z0-9-]{1,62}$",
        "questions[0].epsilon: 0 is not between 0.01 and 10",
        "questions[1].epsilon: missing: the survey has no epsilon, so each question states its own; there is no default",
        "questions[1].id: 'a' is already used by another question or segment",
        "questions[1].text: must not be empty",
        "questions[1].options[1].code: 'x' is already used",
        "questions[2].epsilon: 1.00001 is not a plain decimal with at most 4 places",
        "questions[2].max: must be above min",
    ]


@pytest.mark.parametrize(
    ("epsilon", "published"),
    [
        ("1", "1.0"),
        ("1.0", "1.0"),
        ("0.50", "0.5"),
        ("0.01", "0.01"),
        ("10", "10.0"),
        ("1e-1", "0.1"),
        ('"2.5"', "2.5"),
    ],
)
def test_epsilon_is_published_as_an_exact_decimal(epsilon: str, published: str) -> None:
    """The document repeats epsilon from the file digit by digit, never as a nearby double."""
    survey = parse_survey(GOOD.replace("epsilon = 1.0", f"epsilon = {epsilon}"))
    assert survey.questions[0].epsilon == published
    assert survey.exact_epsilon == Fraction(published)


@pytest.mark.parametrize(
    "epsilon", ["0", "-1", "nan", "inf", "0.0099", "10.0001", "11", "1e400", '"x"', "true", "[]", "1979-05-27"]
)
def test_bad_epsilons_are_refused(epsilon: str) -> None:
    """Whatever is given as epsilon, the error is clear and names its place, and nothing crashes."""
    (message,) = errors(GOOD.replace("epsilon = 1.0", f"epsilon = {epsilon}"))
    assert message.startswith("questions[0].epsilon: ")


@pytest.mark.parametrize("text", ["", "id =", "[[questions]", "\x00", "a = 1\na = 2", "a = " + "[" * 100_000])
def test_text_that_is_not_a_survey_is_refused(text: str) -> None:
    """Broken TOML, and TOML that is no survey, are SurveyErrors."""
    assert errors(text)


@pytest.mark.parametrize("raw", [b"\xff", b"{", b'{"id":1,"id":2}', b"NaN", b'"\\ud800"', b"[" * 100_000, b"9" * 5000])
def test_json_that_cannot_be_read_is_refused(raw: bytes) -> None:
    """Broken, ambiguous or absurd JSON is a SurveyError."""
    with pytest.raises(SurveyError):
        parse_survey(raw, syntax="json")


@settings(max_examples=100, deadline=None)
@given(surveys())
def test_a_published_survey_reads_back_the_same(tree: dict[str, Any]) -> None:
    """Parsing, publishing and verifying gives the same survey, and publishing is deterministic."""
    survey = survey_from_tree(tree)
    document = publish(survey)
    assert verify(document).survey == survey
    assert publish(survey) == document
    assert parse_survey(msgspec.json.encode(survey), syntax="json") == survey


@settings(max_examples=100, deadline=None)
@given(surveys())
def test_json_and_toml_trees_mean_the_same(tree: dict[str, Any]) -> None:
    """The same tree through JSON text gives the same survey."""
    assert parse_survey(json.dumps(tree), syntax="json") == survey_from_tree(tree)


def test_codes_are_in_channel_order() -> None:
    """Yes/no is no, yes as a bit, and yes, no, declined as a subset; bins are named by their edges."""
    assert YesNo(id="a", text="?", epsilon="1").codes == ("no", "yes")
    assert YesNo(id="a", text="?", epsilon="1", decline=True).codes == ("yes", "no", "declined")
    number = Number(id="a", text="?", epsilon="1", min=0, max=10, measure="shares", bins=(0.0, 2.5, 10.0))
    assert number.edges == (0, 2.5, 10) and number.codes == ("0..2.5", "2.5..10")
    assert Choice.__struct_config__.tag == "choice"


def test_bins_may_list_or_leave_out_the_ends() -> None:
    """min and max are implied: naming them makes no further bins."""

    def codes(bins: list[float]) -> tuple[str, ...]:
        question = {"id": "q", "type": "number", "text": "?", "epsilon": "1", "min": 0, "max": 10, "measure": "shares"}
        return (
            survey_from_tree({"id": "ab", "title": "t", "questions": [{**question, "bins": bins}]}).questions[0].codes
        )

    assert codes([0, 2, 5, 10]) == codes([2, 5]) == ("0..2", "2..5", "5..10")


def test_numbers_are_shown_as_people_write_them() -> None:
    """No trailing zeros, no exponents, no digits that only a double has; totals are exact, never rounded down."""
    assert [plain(x) for x in (3.0, 0.1, -2.5, 1e-7, 1e15, 0.0, -0.0)] == [
        "3",
        "0.1",
        "-2.5",
        "0.0000001",
        "1000000000000000",
        "0",
        "0",
    ]
    question = {"type": "yes_no", "text": "?", "epsilon": "9.1234"}
    questions = [{**question, "id": f"q{i}"} for i in range(123)]
    survey = survey_from_tree({"id": "ab", "title": "t", "questions": questions})
    assert survey.total_epsilon == "1122.1782" and Fraction(survey.total_epsilon) == survey.exact_epsilon
