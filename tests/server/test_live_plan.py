"""What a survey will tell while somebody writes it, and what would help."""

from __future__ import annotations

import itertools
import math
import re
from fractions import Fraction
from importlib.resources import files
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings

from deniable_protocol import Account, N, Part, Subset, Survey, SurveyError, parse_survey, survey_from_tree, verify
from deniable_server.editing.templates import template
from deniable_server.planning import Wanted, live_plan, plan_survey, publish_survey, what_would_help
from deniable_server.planning.design import design_booklets
from deniable_server.planning.live import MARGINS, STOPS
from deniable_server.planning.plan import with_epsilon
from deniable_server.planning.shape import planned, shape_of
from deniable_server.planning.suggestions import MOST_HELPED
from deniable_server.planning.words import about, points, within
from deniable_server.wording import SUPPOSE, account_in_words
from tests.helpers.surveys import joint_surveys

EXAMPLE = parse_survey((files("deniable_server") / "example.toml").read_bytes())


def survey_of(*questions: dict[str, Any], epsilon: float | None = 2, **more: Any) -> Survey:
    tree = {"id": "a-survey", "title": "T", "questions": [{"text": f"{q['id']}?", **q} for q in questions], **more}
    return survey_from_tree(tree | ({} if epsilon is None else {"epsilon": epsilon}))


def yes_no(name: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "type": "yes_no", **more}


def choice(name: str, count: int, **more: Any) -> dict[str, Any]:
    return {"id": name, "type": "choice", "options": [{"code": f"c{i}", "text": f"{i}"} for i in range(count)], **more}


def mean(name: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "type": "number", "min": 0, "max": 40, "unit": "drinks", **more}


TEXTBOOK = survey_of(
    yes_no("a", epsilon=1), choice("b", 5, epsilon=0.5, decline=True), mean("c", epsilon=0.5), epsilon=None
)


# --- the same numbers as the whole plan ------------------------------------------------------------------------------


def check_agreement(survey: Survey, people: int) -> None:
    live, whole = live_plan(survey, people), plan_survey(survey, Wanted(respondents=people))
    assert [each.margin for each in live.questions] == [each.given and each.given.margin for each in whole.questions]
    assert [each.among for each in live.questions] == [each.given and each.given.among for each in whole.questions]
    assert [each.within for each in live.questions] == [
        within(each.given.shown, each) + " of those it applies to" * (each.given.among is not None)
        for each in whole.questions
        if each.given
    ]
    assert [each.margin for each in live.tables] == [each.margin for each in whole.tables]
    assert live.needed[-1].respondents == whole.respondents
    assert live.epsilon_in_words == whole.epsilon_in_words


@pytest.mark.parametrize("people", [2, 300, 10_000])
@pytest.mark.parametrize("survey", [EXAMPLE, TEXTBOOK], ids=["booklets", "textbook"])
def test_margins_are_those_of_the_whole_plan(survey: Survey, people: int) -> None:
    """Of every question and cross-tab, exactly, and so is the number of people for ±3 points."""
    check_agreement(survey, people)


@settings(max_examples=10)
@given(joint_surveys(most_questions=5))
def test_margins_are_those_of_the_whole_plan_for_any_survey(tree: dict[str, Any]) -> None:
    """With follow-ups, several choices and whatever else a survey has."""
    check_agreement(survey_from_tree(tree), 1_000)


FOLLOWED = survey_of(
    yes_no("a"), choice("b", 3, show_if={"a": ["yes"]}), yes_no("c"), epsilon=1.5, together=[["a", "c"], ["b", "c"]]
)


def test_follow_ups_are_known_as_exactly_as_enumeration_says() -> None:
    """The margin among those it applies to is that of (A - R B)/B, with every report of every part enumerated: half of
    people said yes, and a quarter, a half or three quarters of those gave the answer, whichever is worst.
    """
    document = verify(publish_survey(FOLLOWED))
    total, people, precision = sum(each.weight for each in document.booklets), 1_000, 0.0
    for number, part in enumerate(document.parts):
        if "b" not in part.names:
            continue
        asked = sum(each.weight for each in document.booklets if number in each.parts) / total
        precision += asked / max(_enumerated(part, answer, ratio) for answer in range(3) for ratio in (0.25, 0.5, 0.75))
    (_, follow_up, _) = live_plan(FOLLOWED, people).questions
    assert follow_up.among == pytest.approx(1.959964 * math.sqrt(1 / precision / people), rel=1e-6)
    assert follow_up.within == f"±{points(follow_up.among)} points of those it applies to"


def _enumerated(part: Part, answer: int, ratio: float) -> float:
    """The variance of one report's part of the ratio, from the probability of every subset."""
    channel, place = part.channel, part.names.index("b")
    assert isinstance(channel, Subset)
    reports = list(itertools.combinations(range(channel.options), channel.size))
    favoured = math.comb(channel.options - 1, channel.size - 1)

    def chance(report: tuple[int, ...], path: int) -> float:
        held = path in report
        return (channel.favour if held else N - channel.favour) / N / (favoured if held else len(reports) - favoured)

    p, q = (sum(chance(report, path) for report in reports if 0 in report) for path in (0, 1))
    own, shown = part.owned(place, answer), part.shown(place)
    gains = [(path in own) - ratio * (path in shown) for path in range(channel.options)]
    others = [path for path in shown if path not in own]
    hidden = [path for path in range(channel.options) if path not in shown]
    found = 0.0
    for paths, share in ((own, ratio / 2), (others, (1 - ratio) / 2), (hidden, 0.5)):
        for report in reports:
            value = sum(gain * ((path in report) - q) / (p - q) for path, gain in enumerate(gains))
            found += share * sum(chance(report, path) for path in paths) / len(paths) * value**2
    return found / 0.5**2


@pytest.mark.parametrize("survey", [EXAMPLE, TEXTBOOK], ids=["booklets", "textbook"])
def test_the_people_for_each_margin_are_those_of_the_whole_plan(survey: Survey) -> None:
    """For ±10, ±5 and ±3 points, with cells of cross-tabs 5/3 as wide. The number that people read is never lower."""
    for margin, needed in zip(MARGINS, live_plan(survey, None).needed, strict=True):
        whole = plan_survey(survey, Wanted(margin=margin, cells=margin * 5 / 3))
        assert needed.respondents == whole.respondents <= int(needed.people.replace(",", ""))
        assert needed.points == points(margin)


# --- texts -----------------------------------------------------------------------------------------------------------


def test_a_changed_text_plans_nothing() -> None:
    """Texts, ids, codes, titles, units, languages and segments may change: nothing is computed a second time."""
    renamed = survey_of(
        yes_no("first"),
        choice("second", 3, show_if={"first": ["yes"]}),
        {"id": "third", "type": "multi_choice", "options": [{"code": "x", "text": "X"}, {"code": "y", "text": "Y"}]},
        mean("fourth"),
        {"id": "fifth", "type": "scale", "labels": ["little", "much"]},
        together=[["first", "third.y"]],
    )
    other = survey_from_tree(
        {
            "id": "another",
            "title": "Another",
            "languages": ["de"],
            "epsilon": 2,
            "respondents": 10,
            "segments": [
                {"id": "s", "text": "Wo?", "options": [{"code": "n", "text": "N"}, {"code": "o", "text": "O"}]}
            ],
            "together": [["eins", "drei.q"]],
            "questions": [
                {"id": "eins", "type": "yes_no", "text": "Eins?"},
                {
                    "id": "zwei",
                    "type": "choice",
                    "text": "Zwei?",
                    "show_if": {"eins": ["yes"]},
                    "options": [{"code": code, "text": code} for code in ("u", "v", "w")],
                },
                {
                    "id": "drei",
                    "type": "multi_choice",
                    "text": "Drei?",
                    "options": [{"code": "p", "text": "P"}, {"code": "q", "text": "Q"}],
                },
                {"id": "vier", "type": "number", "text": "Vier?", "min": 0, "max": 40, "unit": "Bier"},
                {"id": "fuenf", "type": "scale", "text": "Fünf?", "labels": ["wenig", "viel"]},
            ],
        }
    )
    assert shape_of(renamed) == shape_of(other)
    live_plan(renamed, 300)
    before = (planned.cache_info().misses, design_booklets.cache_info().misses)
    found = live_plan(other, 300)
    assert (planned.cache_info().misses, design_booklets.cache_info().misses) == before
    assert [question.text for question in found.questions] == ["Eins?", "Zwei?", "Drei?", "Vier?", "Fünf?"]
    assert found.questions[3].within.endswith(" Bier")
    assert [table.questions for table in found.tables] == [["Eins?", "Q"]]


def test_the_codes_of_a_follow_up_are_followed() -> None:
    """A condition on an option, on yes, on a point of a scale and on a bin has the same paths in the shape."""
    survey = survey_of(
        choice("a", 3),
        {"id": "b", "type": "scale", "labels": [*"xyz"], "show_if": {"a": ["c1", "c2"]}},
        yes_no("c", show_if={"b": ["3"]}),
        {"id": "d", "type": "number", "measure": "shares", "min": 0, "max": 9, "bins": [3, 6]},
        yes_no("e", show_if={"d": ["3..6"]}, decline=True),
        yes_no("f", show_if={"e": ["declined"]}),
    )
    shape, own = design_booklets(shape_of(survey)), design_booklets(survey)
    assert (shape.booklets, shape.respondents, shape.fewest) == (own.booklets, own.respondents, own.fewest)
    assert [len(names) for names, _ in shape.parts] == [len(names) for names, _ in own.parts]


def test_errors_name_the_questions_by_their_own_ids() -> None:
    """Too many combinations of answers: the error names the questions as the survey does."""
    survey = survey_of(choice("course", 9), choice("stress", 9))
    survey = msgspec.structs.replace(survey, together=(("course", "stress"),))  # as parse_survey would refuse it
    with pytest.raises(SurveyError, match="course, stress have 81 combinations"):
        live_plan(survey, 300)


# --- in words --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("survey", "people", "headline"),
    [
        (survey_of(yes_no("a")), 300, "With 300 people you will know each answer within about ±7.5 points."),
        (survey_of(mean("a")), 300, "With 300 people you will know the average within about ±3.2 drinks."),
        (
            survey_of(mean("a"), mean("b")),
            300,
            "With 300 people you will know each average within about ±12% of its range.",
        ),
        (
            survey_of(yes_no("a"), mean("b"), mean("c")),
            300,
            "With 300 people you will know each answer within about ±14 points and each average within about ±14% "  # noqa: ISC004
            "of its range.",
        ),
        (
            survey_of(yes_no("a"), yes_no("b", show_if={"a": ["yes"]}), mean("c"), epsilon=4),
            10_000,
            "With 10,000 people you will know each answer within about ±1.5 points, each follow-up within about ±2.2 "  # noqa: ISC004
            "points of those it applies to and the average within about ±0.59 drinks.",
        ),
        (EXAMPLE, 50, "With 50 people you will learn nothing: chance hides every answer."),
        (EXAMPLE, 1, "With 1 person you will learn nothing: chance hides every answer."),
        (
            survey_of(yes_no("a", epsilon=2), choice("b", 20, epsilon=0.5), epsilon=None),
            200,
            "With 200 people you will know some answers within about ±9.1 points, and others not at all.",
        ),
        (EXAMPLE, None, "Say how many people you expect, and you will see how much you will know."),
    ],
)
def test_the_headline_says_what_will_be_known(survey: Survey, people: int | None, headline: str) -> None:
    """In one sentence, and honestly if that is nothing."""
    assert live_plan(survey, people).headline == headline


def test_the_margin_is_explained_on_an_example() -> None:
    """As a range that is as wide as the margin, within 0% and 100%."""
    assert live_plan(survey_of(yes_no("a")), 300).meaning == (
        "±7.5 points: if the result says 40%, the truth is between 32.5% and 47.5%, 19 times out of 20."
    )
    assert "between 0% and 87%" in live_plan(EXAMPLE, 105).meaning
    assert live_plan(EXAMPLE, None).meaning == live_plan(survey_of(mean("a")), 300).meaning == ""
    assert live_plan(EXAMPLE, 10_000).meaning.endswith("If they apply to fewer, they are known less exactly.")


def test_how_many_questions_one_person_is_asked() -> None:
    """Counted over the booklets; follow-ups count."""
    eight = survey_of(*(yes_no(f"q{i}") for i in range(8)))
    assert live_plan(eight, None).asked == "Each person is asked 2 of the 8 questions."
    assert live_plan(TEXTBOOK, None).asked == "Each person is asked every question."
    assert live_plan(EXAMPLE, None).asked == "Each person is asked 1 to 3 of the 9 questions, most often 1."
    assert {question.asked for question in live_plan(eight, None).questions} == {"25 in 100 people"}
    assert {question.asked for question in live_plan(TEXTBOOK, None).questions} == {"everybody"}


def test_stops_say_what_epsilon_means_in_the_same_words() -> None:
    """The names are for managers, the meanings those of every other page. Above 4 there is a warning."""
    assert [(stop.epsilon, stop.name) for stop in STOPS] == [
        ("1", "Strong"),
        ("2", "Balanced"),
        ("4", "Light"),
    ]
    assert all(f"{SUPPOSE} {stop.meaning}" == account_in_words(Account.of(stop.epsilon)) for stop in STOPS)
    assert live_plan(with_epsilon(EXAMPLE, Fraction(4)), 300).warnings == []
    (warning,) = live_plan(with_epsilon(EXAMPLE, Fraction("4.1")), 300).warnings
    assert "We recommend ε = 2, and no more than 4" in warning


# --- what costs, and what would help ---------------------------------------------------------------------------------


def worst(survey: Survey, people: int) -> float:
    return max(each.margin or 0 for each in live_plan(survey, people).questions if each.range is None)


def without(survey: Survey, *names: str) -> Survey:
    together = tuple(pair for pair in survey.together if not {*names} & {name.partition(".")[0] for name in pair})
    kept = tuple(each for each in survey.questions if each.id not in names)
    return msgspec.structs.replace(survey, questions=kept, together=together)


def test_the_question_that_costs_most_is_the_one_to_leave_out() -> None:
    """In the example that is the one with several choices: without it, margins are smaller than without any other."""
    (costly,) = [each for each in live_plan(EXAMPLE, 300).questions if each.costs_most]
    assert EXAMPLE.questions[costly.place].id == "support"
    groups = [["vaped", "how_often"], *([each.id] for each in EXAMPLE.questions[2:])]
    margins = {names[0]: worst(without(EXAMPLE, *names), 300) for names in groups}
    assert min(margins, key=lambda name: margins[name]) == "support"


def test_no_question_costs_most_if_all_cost_the_same_or_none_anything() -> None:
    """Eight equal questions; and the textbook's design, in which questions share nobody."""
    for survey in (survey_of(*(yes_no(f"q{i}") for i in range(8))), TEXTBOOK):
        assert not any(each.costs_most for each in live_plan(survey, 300).questions)


def test_suggestions_come_true() -> None:
    """If you follow one, you get the margin that it names: leaving out, merging, a mean, no cross-tab, more people."""
    twice, less = points(worst(EXAMPLE, 600)), points(worst(without(EXAMPLE, "support"), 300))
    assert what_would_help(EXAMPLE, 300).suggestions == [
        f"Ask 600 people: ±28 becomes ±{twice} points.",
        f"Leave out “Which kinds of support have you used?”: ±28 becomes ±{less} points.",
    ]
    long, shorter = (survey_of(choice("long", count), yes_no("a")) for count in (6, 4))
    merged = f"(6 become 4): ±{points(worst(long, 900))} becomes ±{points(worst(shorter, 900))} points."
    assert any(each.endswith(merged) for each in what_would_help(long, 900).suggestions)
    scale = {"id": "scale", "type": "scale", "labels": [*"abcdefg"]}
    shares, one_mean = (survey_of(yes_no("a"), scale | {"measure": each}) for each in ("shares", "mean"))
    changed = (
        f"Ask only for the average of “scale?”: ±{points(worst(shares, 900))} becomes ±{points(worst(one_mean, 900))}"
    )
    assert any(each.startswith(changed) for each in what_would_help(shares, 900).suggestions)
    crossed = parse_survey(template("workplace"))
    alone = msgspec.structs.replace(crossed, together=())
    dropped = rf"Do not compare .*: ±{points(worst(crossed, 900))} becomes ±{points(worst(alone, 900))} points\."
    assert any(re.fullmatch(dropped, each) for each in what_would_help(crossed, 900).suggestions)


def test_a_question_goes_with_its_follow_ups() -> None:
    """Without its parent a follow-up could not be asked: both are left out, and the margin is that of the rest."""
    survey = survey_of(choice("a", 7), choice("b", 6, show_if={"a": ["c0"]}), yes_no("c"), yes_no("d"))
    rest = points(worst(without(survey, "a", "b"), 900))
    assert any(
        re.fullmatch(rf"Leave out “a\?” and its follow-ups: ±[\d.]+ becomes ±{rest} points\.", each)
        for each in what_would_help(survey, 900).suggestions
    )


def test_the_textbook_is_shown_what_one_epsilon_would_do() -> None:
    """Instead of one for each question; nothing else is left out, since nothing else gains by it."""
    (first, *others) = what_would_help(TEXTBOOK, 3_000).suggestions
    assert first.startswith("Ask each person only some of the questions, with one ε for the survey: ±")
    assert not any(each.startswith("Leave out") for each in others)


def test_where_little_is_known_people_are_counted() -> None:
    """If nobody said how many are expected, or if they would show nothing: how many people ±10 points takes."""
    few, unsaid = what_would_help(EXAMPLE, 40), what_would_help(EXAMPLE, None)
    now = about(plan_survey(EXAMPLE, Wanted(margin=0.1, cells=0.5)).respondents)
    assert few.suggestions == unsaid.suggestions and few.stops == unsaid.stops and few.margin == "±10 points"
    assert all(each.endswith(f" people are enough instead of {now}.") for each in few.suggestions)


def test_suggestions_are_few_and_worth_it() -> None:
    """Never more than three, and each makes the margin at least 5% smaller."""
    for survey in (EXAMPLE, TEXTBOOK, survey_of(*(choice(f"q{i}", 4 + i) for i in range(9)))):
        found = what_would_help(survey, 5_000).suggestions
        assert 0 < len(found) <= 3
        for each in found:
            before, after = map(float, re.findall(r"±([\d.]+)", each)[-2:])
            assert after < before


def test_each_stop_costs_as_many_people_as_its_plan_needs() -> None:
    """For the margin of now: at the survey's own epsilon just as many, at others in proportion to their plans."""
    found = {stop.epsilon: stop.respondents for stop in what_would_help(EXAMPLE, 10_000).stops}
    assert found["2"] == 10_000
    for epsilon in ("1", "4"):
        margin = worst(with_epsilon(EXAMPLE, Fraction(epsilon)), found[epsilon])
        assert margin == pytest.approx(worst(EXAMPLE, 10_000), rel=1e-3)
        assert margin <= worst(EXAMPLE, 10_000)


# --- large surveys ---------------------------------------------------------------------------------------------------


def test_a_survey_that_takes_long_is_not_planned() -> None:
    """501 things to plan are one too many: the panel says so at once, and still what epsilon means."""
    options = [{"code": f"c{i}", "text": "?"} for i in range(50)]
    large = survey_of(*({"id": f"q{i}", "type": "multi_choice", "options": options} for i in range(10)), yes_no("last"))
    before = planned.cache_info().misses
    found = live_plan(large, 300)
    assert found.headline.startswith("This survey is too long to be planned while you write")
    assert planned.cache_info().misses == before and found.questions == found.needed == []
    assert found.epsilon_in_words == account_in_words(Account.of(2))
    assert what_would_help(large, 300).suggestions == []


def test_a_long_survey_is_planned_but_not_improved() -> None:
    """Trying out changes would take nine times as long as its plan: stops have no number of people, and nothing is
    suggested.
    """
    survey = survey_of(*(yes_no(f"q{i}") for i in range(MOST_HELPED + 1)))
    assert live_plan(survey, 100_000).headline.startswith(
        "With 100,000 people you will know each answer within about ±"
    )
    assert what_would_help(survey, 100_000).stops == what_would_help(survey, 100_000).suggestions == []
