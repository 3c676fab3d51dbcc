"""Survey files: what is accepted, and that all errors of a bad one are reported at once."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings

from deniable_protocol import (
    Choice,
    Number,
    ShowIf,
    SurveyError,
    YesNo,
    parse_survey,
    publish,
    survey_from_tree,
    verify,
)
from deniable_protocol.checks import _MISSING, plain
from deniable_protocol.survey import NO_EPSILON
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


KEYS = [
    *("id", "languages", "title", "asked_by", "contact", "notice", "closing", "invitations", "epsilon", "together"),
    *("respondents", "segments", "questions"),
]


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
        f"titel: no such key here; known are {', '.join(KEYS)}",
        "title: missing",
        "id: 'Campus' does not match ^[a-z0-9][a-z0-9-]{1,62}$",
        "questions[0].epsilon: 0 is not between 0.01 and 10",
        f"questions[1].epsilon: {_MISSING['epsilon']}",
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


JOINT = """
id = "campus-health"
title = "Campus health"
epsilon = 2
together = [["vaped", "stress"], ["support.doctor", "stress"], ["support", "vaped", "stress"]]
respondents = 5000

[[questions]]
id = "vaped"
type = "yes_no"
text = "Have you vaped?"

[[questions]]
id = "how_often"
type = "choice"
text = "How often?"
show_if = { vaped = ["yes"] }
options = [{code = "monthly", text = "Monthly"}, {code = "weekly", text = "Weekly"}]

[[questions]]
id = "support"
type = "multi_choice"
text = "Who helped?"
options = [{code = "doctor", text = "A doctor"}, {code = "friend", text = "A friend"}]

[[questions]]
id = "stress"
type = "scale"
text = "How stressed are you?"
labels = ["not", "a bit", "very"]
"""


def test_a_file_with_one_epsilon_is_read() -> None:
    """The survey has the epsilon, no question has one; follow-ups and what is wanted together are there."""
    survey = parse_survey(JOINT)
    assert survey.epsilon == survey.total_epsilon == "2.0" and survey.exact_epsilon == 2
    assert [question.epsilon for question in survey.questions] == [None] * 4
    assert survey.questions[1].show_if == ShowIf("vaped", ("yes",))
    assert survey.together == (("vaped", "support", "stress"), ("vaped", "stress"), ("support.doctor", "stress"))
    assert survey.respondents == 5000


def test_every_error_of_follow_ups_and_together_is_told_at_once() -> None:
    """What is wrong with epsilons, conditions and pairs comes in one list, each with its place."""
    text = """
id = "campus-health"
title = "Campus health"
epsilon = 20
together = [["vaped"], ["vaped", "vaped"], ["vaped", "age"], ["vaped", "sex"], ["vaped", "support.z"], "vaped"]
respondents = 0
[[questions]]
id = "vaped"
type = "yes_no"
text = "?"
epsilon = 1
[[questions]]
id = "age"
type = "number"
text = "?"
min = 0
max = 100
show_if = { vaped = ["yes"] }
[[questions]]
id = "support"
type = "multi_choice"
text = "?"
options = [{code = "x", text = "X"}, {code = "y", text = "Y"}]
show_if = { later = ["yes"] }
[[questions]]
id = "later"
type = "yes_no"
text = "?"
show_if = { age = ["0"] }
[[questions]]
id = "last"
type = "yes_no"
text = "?"
show_if = { later = ["yes"], support = ["x"] }
[[questions]]
id = "more"
type = "yes_no"
text = "?"
show_if = { campus = ["north"] }
[[questions]]
id = "again"
type = "scale"
text = "?"
labels = ["a", "b"]
show_if = { more = [] }
[[questions]]
id = "end"
type = "yes_no"
text = "?"
show_if = { again = ["1", "1"] }
[[questions]]
id = "own"
type = "yes_no"
text = "?"
show_if = { own = ["yes"] }
[[questions]]
id = "krr"
type = "choice"
text = "?"
options = [{code = "x", text = "X"}, {code = "y", text = "Y"}]
mechanism = "krr"
show_if = "vaped"
"""
    by_itself = "must be a question with shares and no mechanism"
    assert errors(text) == [
        "epsilon: 20 is not between 0.01 and 10",
        "respondents: 0 is not between 1 and 10000000000",
        "questions[0].epsilon: the survey has an epsilon for all that one person sends: leave this one out",
        "questions[1].show_if: a question that is not always shown has shares, and no mechanism",
        "questions[2].show_if.later: must be a question before this one",
        f"questions[3].show_if.age: {by_itself}",
        "questions[4].show_if: must name one earlier question",
        "questions[5].show_if.campus: there is no such question",
        "questions[6].show_if.more: has 0 entries, not 1 to 51",
        "questions[7].show_if.again: names an answer twice",
        "questions[8].show_if.own: must be a question before this one",
        "questions[9].show_if: a question that is not always shown has shares, and no mechanism",
        "together[0]: has 1 entries, not 2 to 3",
        "together[1]: names a question twice",
        f"together[2][1]: {by_itself}",
        "together[3][1]: there is no such question",
        "together[4][1]: there is no such option",
        "together[5]: must be a list",
    ]


def test_an_answer_that_the_earlier_question_does_not_have_is_refused() -> None:
    """The codes of a condition are those of the question that it names."""
    assert errors(JOINT.replace('vaped = ["yes"]', 'vaped = ["yes", "sometimes"]')) == [
        "questions[1].show_if.vaped[1]: 'sometimes' is not one of no, yes"
    ]


def test_either_the_survey_has_an_epsilon_or_every_question() -> None:
    """None at all, some and both are errors that say so; what needs an epsilon of the survey says that, too."""
    assert errors(JOINT.replace("epsilon = 2", "")) == [f"epsilon: {NO_EPSILON}"]
    own = JOINT.replace("epsilon = 2", "").replace('type = "scale"', 'type = "scale"\nepsilon = 1.0')
    missing = _MISSING["epsilon"]
    assert errors(own) == [
        f"questions[0].epsilon: {missing}",
        f"questions[1].epsilon: {missing}",
        "questions[1].show_if: show_if goes with an epsilon of the survey",
        f"questions[2].epsilon: {missing}",
        "together: together goes with an epsilon of the survey; otherwise all questions are asked",
    ]


def scale(name: str, points: int, **more: Any) -> dict[str, Any]:
    return {"id": name, "type": "scale", "text": "?", "labels": ["x"] * points, **more}


def survey_problems(*questions: dict[str, Any], **more: Any) -> list[str]:
    tree = {"id": "ab", "title": "T", "epsilon": 2, "questions": [*questions], **more}
    with pytest.raises(SurveyError) as caught:
        survey_from_tree(tree)
    return [str(problem) for problem in caught.value.problems]


def test_what_has_too_many_paths_is_refused_with_their_number() -> None:
    """Of follow-ups, and of what is wanted together: which questions, how many combinations, how many fit."""
    follow = scale("b", 11, show_if={"a": ["1", "2", "3", "4", "5"]})
    assert survey_problems(scale("a", 11), follow) == [
        "questions[1].show_if: a, b have 61 combinations of answers, and one report can tell 51 apart"
    ]
    assert survey_problems(scale("a", 10), scale("b", 6), together=[["a", "b"]]) == [
        "together[0]: a, b have 60 combinations of answers, and one report can tell 51 apart"
    ]
    chain = [scale("a", 2)]
    chain += [scale(f"a{i}", 11, show_if={f"a{i - 1}" if i else "a": ["1", "2"]}) for i in range(20)]
    (problem,) = survey_problems(*chain)
    assert "21 combinations" not in problem and problem.startswith("questions[20].show_if: a, a0, a1, ")
    options = [{"code": f"c{i}", "text": "x"} for i in range(50)]
    wide = [{"id": f"q{i}", "type": "choice", "text": "?", "options": options} for i in range(3)]
    assert survey_problems(*wide, together=[["q0", "q1", "q2"]]) == [
        "together[0]: q0, q1, q2 have more than 10,000 combinations of answers, and one report can tell 51 apart"
    ]


def test_what_just_fits_is_accepted() -> None:
    """51 paths are fine, 52 are not, whether of follow-ups or of a pair."""
    child = {"show_if": {"a": ["1", "2", "3", "4"]}}
    assert survey_from_tree(
        {"id": "ab", "title": "T", "epsilon": 2, "questions": [scale("a", 11), scale("b", 11, **child)]}
    )
    pair = [scale("a", 3), {"id": "b", "type": "number", "text": "?", "min": 0, "max": 17, "measure": "shares"}]
    pair[1]["bins"] = [*range(1, 17)]
    assert survey_from_tree({"id": "ab", "title": "T", "epsilon": 2, "together": [["a", "b"]], "questions": pair})
    four = [scale("a", 4), {**pair[1], "bins": [*range(1, 13)]}]
    assert survey_problems(*four, together=[["a", "b"]]) == [
        "together[0]: a, b have 52 combinations of answers, and one report can tell 51 apart"
    ]


def test_together_has_to_fit_for_every_option() -> None:
    """A multi_choice means each of its options; with the follow-up to one, another makes more paths than that one."""
    options = [{"code": f"c{i}", "text": "x"} for i in range(26)]
    parent = {"id": "a", "type": "multi_choice", "text": "?", "options": options}
    child = {"id": "b", "type": "choice", "text": "?", "options": options, "show_if": {"a": ["c0"]}}
    assert survey_problems(parent, child, together=[["a", "b"]]) == [
        "together[0]: a.c0, a.c1, b have 54 combinations of answers, and one report can tell 51 apart"
    ]
    alone = {"id": "ab", "title": "T", "epsilon": 2, "together": [["a.c0", "b"]], "questions": [parent, child]}
    assert survey_from_tree(alone).together == (("a.c0", "b"),)


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
    number = Number(id="a", text="?", epsilon="1", min=0, max=10, measure="shares", bins=(2.5,))
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
