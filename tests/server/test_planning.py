"""Planning: sample sizes against exact computations, other designs against their textbooks, and the command."""

from __future__ import annotations

import ast
import itertools
import json
import math
import re
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner, Result
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st
from scipy import stats

import deniable_server
from deniable_protocol import (
    Band,
    Channel,
    Drawn,
    Item,
    Number,
    Subset,
    Survey,
    SurveyError,
    Table,
    design,
    parse_survey,
    survey_from_tree,
    verify,
)
from deniable_server.cli import cli
from deniable_server.errors import PlanError
from deniable_server.estimator.intervals import Aim, share_of_support, support
from deniable_server.estimator.scores import mean_scores
from deniable_server.planning import QuestionPlan, SurveyPlan, Wanted, plan_survey, publish_survey
from deniable_server.planning.sample_size import Variance
from deniable_server.planning.textbook import sensitivity
from deniable_server.planning.variances import designed_variance, worst_population
from tests.helpers.surveys import joint_surveys, questions, surveys

EXAMPLE = files("deniable_server") / "example.toml"
Z = stats.norm.ppf(0.975)
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def survey_of(*trees: dict[str, Any]) -> Survey:
    asked = [{"id": f"q{i}", "text": "?", **tree} for i, tree in enumerate(trees)]
    return survey_from_tree({"id": "a-survey", "title": "A survey", "questions": asked})


def plan_of(tree: dict[str, Any], **wanted: Any) -> QuestionPlan:
    return plan_survey(survey_of(tree), Wanted(**{"waves": 1} | wanted)).questions[0]


def channel_of(tree: dict[str, Any]) -> Channel:
    """The channel that a question has at its own epsilon."""
    return design([Item(survey_of(tree).questions[0])], Fraction(str(tree["epsilon"])))


def variance_of(tree: dict[str, Any]) -> Variance:
    return designed_variance(Item(survey_of(tree).questions[0]), Fraction(str(tree["epsilon"])))


def needed(question: QuestionPlan, other: str) -> int:
    return next(alternative.respondents for alternative in question.alternatives if alternative.design == other)


def yes_no(epsilon: float | str) -> dict[str, Any]:
    return {"type": "yes_no", "epsilon": str(epsilon)}


def choice(options: int, epsilon: float | str, kind: str = "choice") -> dict[str, Any]:
    listed = [{"code": f"c{i}", "text": "?"} for i in range(options)]
    return {"type": kind, "epsilon": str(epsilon), "options": listed}


def scale(points: int, epsilon: float | str, **keys: str) -> dict[str, Any]:
    return {"type": "scale", "epsilon": str(epsilon), "labels": [*LETTERS[:points]], **keys}


def number(epsilon: float | str, **keys: Any) -> dict[str, Any]:
    return {"type": "number", "epsilon": str(epsilon), "min": -5, "max": 15, **keys}


# --- respondents for a margin ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("epsilon", "respondents"), [("0.5", 17_789), ("1", 4_997), ("2", 1_840), ("4", 1_149)])
def test_yes_no_needs_the_published_numbers(epsilon: str, respondents: int) -> None:
    """3 points at 95% take so many respondents at epsilon 0.5, 1, 2 and 4, and 1,068 without privacy."""
    planned = plan_of(yes_no(epsilon))
    assert planned.respondents == respondents
    assert needed(planned, "open") == 1_068


@pytest.mark.parametrize("tree", [yes_no(1) | {"decline": True}, choice(10, 1), scale(7, 2), choice(12, "0.3")])
@pytest.mark.parametrize("share", [0.05, 0.5, 0.8])
def test_shares_need_what_the_enumerated_channel_says(tree: dict[str, Any], share: float) -> None:
    """N = z^2 rate(1-rate)/(gap^2 m^2), with the rates of support summed over all reports in exact fractions."""
    channel = channel_of(tree)
    assert isinstance(channel, Subset)
    p, q = (
        sum((channel.probability(truth, report) for report in channel.reports() if report & 1), Fraction(0))
        for truth in (0, 1)
    )
    rate = q + Fraction(share) * (p - q)
    exact = rate * (1 - rate) / (p - q) ** 2 * Fraction(Z) ** 2 / Fraction(0.03) ** 2
    assert abs(plan_of(tree, share=share, difference=0.01).respondents - math.ceil(exact)) <= 1


def test_several_choices_need_as_many_times_as_there_are_options() -> None:
    """Each respondent reports on one of k options: k times the respondents of yes_no."""
    one, several = variance_of(yes_no(1)), plan_of(choice(7, 1, "multi_choice"))
    assert several.respondents == math.ceil(7 * one(0.5) * Z**2 / 0.03**2)


@pytest.mark.parametrize("tree", [number(1), number(4), number(10), scale(5, 1, measure="mean"), number("0.1")])
def test_means_need_what_the_worst_population_asks_for(tree: dict[str, Any]) -> None:
    """No population over the levels has a larger variance, and one of two levels has that variance.

    Sampling counts: even at epsilon 10 no fewer than an open survey's 1,068.
    """
    question = survey_of(tree).questions[0]
    channel = channel_of(tree)
    assert isinstance(channel, Band)
    between = isinstance(question, Number)
    values = np.array(mean_scores(channel, between).values)
    rows = np.array([[float(channel.probability(x, y)) for y in channel.reports()] for x in range(channel.levels)])

    def variances(populations: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        mass = populations @ rows
        return np.asarray(mass @ values**2 - (mass @ values) ** 2)

    worst = worst_population(channel, between)
    random = np.random.default_rng(1)
    for concentration in (0.05, 0.3, 1.0, 5.0):
        populations = random.dirichlet([concentration] * channel.levels, size=300)
        assert variances(populations).max() <= worst * (1 + 1e-9)
    one = np.eye(channel.levels)
    two_levels = max(variances((1 - part) * one[:, None] + part * one[None]).max() for part in np.linspace(0, 1, 201))
    assert two_levels == pytest.approx(worst, rel=1e-3)
    planned = plan_of(tree)
    assert planned.respondents == math.ceil(Z**2 * worst / 0.03**2) >= 1_068


def test_a_mean_of_two_levels_is_a_share() -> None:
    """A scale of two points with its mean asked for needs what yes_no needs."""
    assert plan_of(scale(2, 1, measure="mean")).respondents == 4_997


def test_the_interval_at_the_planned_size_is_a_shade_wider() -> None:
    """The printed interval is exact, with whole counts: 0.7% wider at 4,997, and exactly 3 points at 5,067."""
    channel = channel_of(yes_no(1))
    assert isinstance(channel, Band)

    def half(n: int) -> float:
        raw = share_of_support(support(channel), n / 2, n, Aim())
        return (raw.high - raw.low) / 2

    assert half(4_997) == pytest.approx(0.03 * 1.007, rel=1e-3)
    assert half(5_066) > 0.03 >= half(5_067)


# --- differences between groups ----------------------------------------------------------------------------------


def exact_power(first: float, second: float, n: int) -> float:
    """Of the pooled two-sided z test at 5% between two groups of n noisy counts, by sums over both binomials."""
    counts = []
    for rate in (first, second):
        reach = 7 * math.sqrt(n * rate * (1 - rate))
        y = np.arange(max(0, math.floor(n * rate - reach)), min(n, math.ceil(n * rate + reach)) + 1)
        counts.append((y, stats.binom.pmf(y, n, rate)))
    (a, mass_a), (b, mass_b) = counts
    pooled = (a[:, None] + b[None, :]) / (2 * n)
    with np.errstate(invalid="ignore"):
        z = np.abs(a[:, None] - b[None, :]) / n / np.sqrt(pooled * (1 - pooled) * 2 / n)
    return float(mass_a @ (np.nan_to_num(z) >= Z) @ mass_b)


@pytest.mark.parametrize(("epsilon", "share", "difference"), [("0.5", 0.5, 0.1), ("1", 0.5, 0.05), ("4", 0.3, 0.1)])
def test_the_difference_is_found_as_often_as_asked(epsilon: str, share: float, difference: float) -> None:
    """At the planned group size the exact power of the pooled z test on noisy counts is 80%, give or take 0.5%."""
    planned = plan_of(yes_no(epsilon), share=share, difference=difference)
    channel = channel_of(yes_no(epsilon))
    assert isinstance(channel, Band)
    rule = support(channel)
    first, second = (rule.q + rule.gap * (share + side * difference / 2) for side in (-1, 1))
    assert exact_power(first, second, planned.per_group) == pytest.approx(0.8, abs=0.005)
    assert exact_power(first, first, planned.per_group) == pytest.approx(0.05, abs=0.002)


def test_group_sizes_without_noise_are_the_textbook_ones() -> None:
    """At epsilon 10 a yes_no is as good as open: (z + z_power)^2 (p1 q1 + p2 q2)/d^2 for 5 points around half."""
    open_size = (Z + stats.norm.ppf(0.8)) ** 2 * (0.475 * 0.525 + 0.525 * 0.475) / 0.05**2
    assert plan_of(yes_no(10)).per_group == pytest.approx(open_size, rel=1e-3)


# --- what a given number can show --------------------------------------------------------------------------------


@settings(max_examples=30)
@given(questions(), st.sampled_from([0.2, 0.5, 0.9]))
def test_a_given_number_and_a_needed_number_agree(tree: dict[str, Any], share: float) -> None:
    """With the respondents needed, margin and difference are just met; with one fewer, they are missed."""
    asked = {"share": share, "difference": 0.05, "waves": 1}
    survey = survey_of(tree)
    planned = plan_survey(survey, Wanted(**asked)).questions[0]
    assume(planned.respondents > 2 and planned.per_group < 10**9)

    def told(respondents: int) -> Any:
        return plan_survey(survey, Wanted(**asked, respondents=respondents)).questions[0].given

    assert told(planned.respondents).margin <= 0.03 * (1 + 1e-12) < told(planned.respondents - 1).margin * (1 + 2e-12)
    assert told(2 * planned.per_group).difference <= 0.05 * (1 + 1e-9)
    if planned.per_group > 1:
        smaller = told(2 * planned.per_group - 2).difference
        assert smaller is None or smaller >= 0.05 * (1 - 1e-9)


def test_too_few_find_no_difference() -> None:
    """If not even the widest possible difference would be found, none is stated."""
    given_ = plan_of(yes_no("0.1"), respondents=10).given
    assert given_ is not None and given_.difference is None and given_.margin > 1


# --- other designs -----------------------------------------------------------------------------------------------


def vectors(tree: dict[str, Any]) -> list[tuple[float, ...]]:
    """Every answer as the numbers that a textbook would add noise to."""
    if tree["type"] == "multi_choice":
        return [*itertools.product((0.0, 1.0), repeat=len(tree["options"]))]
    if tree["type"] == "number" or tree.get("measure") == "mean":
        return [(0.0,), (1.0,)]
    if tree["type"] == "yes_no" and not tree.get("decline"):
        return [(0.0,), (1.0,)]
    codes = survey_of(tree).questions[0].codes
    return [tuple(float(i == j) for j in range(len(codes))) for i in range(len(codes))]


@pytest.mark.parametrize(
    "tree",
    [yes_no(1), yes_no(1) | {"decline": True}, choice(5, 1), choice(5, 1, "multi_choice"), scale(4, 1), number(1)],
)
def test_noise_is_calibrated_to_the_true_sensitivity(tree: dict[str, Any]) -> None:
    """The largest change over all pairs of answers, as a sum and as a length."""
    pairs = [*itertools.product(map(np.array, vectors(tree)), repeat=2)]
    moved = sensitivity(survey_of(tree).questions[0])
    assert moved.sum == max(float(np.abs(a - b).sum()) for a, b in pairs)
    assert moved.length == pytest.approx(max(float(np.linalg.norm(a - b)) for a, b in pairs))


@pytest.mark.parametrize(
    "tree", [yes_no(1), choice(5, "0.2"), choice(4, 1, "multi_choice"), number("0.05"), scale(5, 1, measure="mean")]
)
def test_the_curators_number_just_meets_the_margin(tree: dict[str, Any]) -> None:
    """By substitution: s(1-s)/n + 2(sensitivity/(epsilon n))^2 is (m/z)^2 or less at n, and more at n - 1."""
    n, target = needed(plan_of(tree), "curator"), (0.03 / Z) ** 2
    scale_ = {"multi_choice": 4.0, "choice": 2.0}.get(tree["type"], 1.0) / float(tree["epsilon"])

    def variance(respondents: int) -> float:
        return 0.25 / respondents + 2 * (scale_ / respondents) ** 2

    assert variance(n) <= target < variance(n - 1)


def test_additive_noise_is_the_textbooks() -> None:
    """Laplace: 2/epsilon^2 on a bit or a mean, 8/epsilon^2 on one bit of k. Gaussian: the analytic sigma, 4.2247."""
    assert needed(plan_of(number(2)), "laplace") == math.ceil(Z**2 * (0.25 + 2 / 4) / 0.03**2)
    assert needed(plan_of(yes_no(1)), "laplace") == math.ceil(Z**2 * (0.25 + 2) / 0.03**2)
    assert needed(plan_of(choice(5, 1)), "laplace") == math.ceil(Z**2 * (0.25 + 8) / 0.03**2)
    assert needed(plan_of(yes_no(1)), "gaussian") == pytest.approx(Z**2 * (0.25 + 4.2247**2) / 0.03**2, rel=1e-4)
    assert needed(plan_of(choice(5, 1)), "gaussian") == pytest.approx(Z**2 * (0.25 + 2 * 4.2247**2) / 0.03**2, rel=1e-4)


@settings(max_examples=30)
@given(st.integers(2, 11), st.integers(100, 100_000))
def test_bands_never_need_more_than_laplace_noise(points: int, units: int) -> None:
    """This is so for means of scales and numbers."""
    epsilon = f"{units / 10_000:.4f}"
    for tree in (scale(points, epsilon, measure="mean"), number(epsilon)):
        assert variance_of(tree)(0.5) <= 0.25 + 2 / float(epsilon) ** 2


def test_the_gaussian_keeps_the_delta_that_is_asked_for() -> None:
    """A larger delta takes fewer respondents; a question's own delta goes before the plan's."""
    loose, tight = (needed(plan_of(number(1), delta=delta), "gaussian") for delta in (1e-4, 1e-9))
    assert loose < tight
    own = number(1, mechanism="gaussian", delta="0.0001")
    assert needed(plan_of(own, delta=1e-9), "gaussian") == loose


@settings(max_examples=60)
@given(st.integers(2, 50), st.integers(100, 100_000))
def test_k_ary_response_never_needs_fewer(options: int, units: int) -> None:
    """The best subset size is at least as good as size 1, and for two options it is size 1."""
    planned = plan_of(choice(options, f"{units / 10_000:.4f}"))
    assert needed(planned, "k_ary") >= planned.respondents
    if options == 2:
        assert needed(planned, "k_ary") == planned.respondents


@pytest.mark.parametrize("measure", ["shares", "mean"])
def test_the_exponential_mechanism_is_the_textbooks(measure: str) -> None:
    """Weights e^(-epsilon |x-y| / (2(k-1))), inverted: the worst share at one half, or the worst mean."""
    k, epsilon = 5, 1.0
    weights = np.array([[math.exp(-epsilon * abs(x - y) / (2 * (k - 1))) for y in range(k)] for x in range(k)])
    table = weights / weights.sum(axis=1, keepdims=True)
    decoded = np.linalg.inv(table)  # column j: the score of answer j
    if measure == "shares":
        noise = table @ decoded**2 - np.eye(k)  # variance of score j under answer i
        worst = max(0.25 + noise[j, j] / 2 + max(noise[i, j] for i in range(k) if i != j) / 2 for j in range(k))
    else:
        levels = np.linspace(0, 1, k)
        moments = table @ (decoded @ levels) ** 2
        worst = max(
            (1 - t) * moments[a] + t * moments[b] - ((1 - t) * levels[a] + t * levels[b]) ** 2
            for a in range(k)
            for b in range(k)
            for t in np.linspace(0, 1, 1001)
        )
    found = needed(plan_of(scale(k, epsilon, measure=measure)), "exponential")
    assert found == pytest.approx(Z**2 * worst / 0.03**2, rel=1e-5, abs=1)


def test_splitting_epsilon_over_the_options_is_yes_no_at_its_part() -> None:
    """Four options at epsilon 2, split: each is a yes_no at 0.5, so 17,789."""
    assert needed(plan_of(choice(4, 2, "multi_choice")), "every_option") == 17_789


@pytest.mark.parametrize(
    ("tree", "other"),
    [
        (choice(20, "0.5") | {"mechanism": "krr"}, "k_ary"),
        (scale(6, 1, mechanism="exponential"), "exponential"),
        (scale(6, 1, mechanism="exponential", measure="mean"), "exponential"),
    ],
)
def test_a_named_mechanism_is_its_own_alternative_and_shows_our_own(tree: dict[str, Any], other: str) -> None:
    """The survey's number is the mechanism's; the default needs what the question would need without it."""
    planned = plan_of(tree)
    assert needed(planned, other) == planned.respondents
    without = {key: value for key, value in tree.items() if key != "mechanism"}
    assert needed(planned, "split") == plan_of(without).respondents < planned.respondents


@pytest.mark.parametrize("name", ["laplace", "gaussian"])
def test_named_noise_on_numbers_costs_more_than_the_default(name: str) -> None:
    """The table of the named mechanism is decoded as such, and needs more than the default band."""
    extra = {"delta": "0.000001"} if name == "gaussian" else {}
    planned = plan_of(number(1, mechanism=name, **extra))
    assert isinstance(channel_of(number(1, mechanism=name, **extra)), Table)
    assert needed(planned, "split") < planned.respondents <= needed(planned, name) * 1.05


# --- the whole plan ----------------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(st.one_of(surveys(), joint_surveys()))
def test_any_survey_can_be_planned(tree: dict[str, Any]) -> None:
    """Every figure is there and sane, and the plan survives JSON."""
    try:
        survey = survey_from_tree(tree)
    except SurveyError:  # too many combinations of answers
        reject()
    plan = plan_survey(survey, Wanted(waves=2, respondents=5_000))
    assert plan.epsilon == survey.total_epsilon and plan.in_words
    assert plan.respondents == max(q.respondents for q in plan.questions)
    assert plan.per_group == max(q.per_group for q in plan.questions)
    assert sum(booklet.probability for booklet in plan.booklets) == pytest.approx(1)
    for question in plan.questions:
        assert 0 < question.asked <= 1
        assert needed(question, "open") <= needed(question, "curator")
        for other in question.alternatives:
            assert other.ratio == pytest.approx(other.respondents / question.respondents)
        assert question.given is not None and question.given.margin > 0
    for at in plan.by_epsilon:
        assert at.margins == sorted(at.margins, reverse=True) and len(at.margins) == len(plan.sizes)
    if plan.shuffled is not None:
        assert 0 < plan.shuffled.epsilon <= float(plan.epsilon)
    assert msgspec.json.decode(msgspec.json.encode(plan), type=SurveyPlan) == plan


@settings(max_examples=30)
@given(questions(), st.sampled_from(["margin", "confidence", "share"]))
def test_asking_for_more_takes_more(tree: dict[str, Any], what: str) -> None:
    """A tighter margin and more confidence take more respondents; half the margin takes four times as many."""
    base = plan_of(tree)
    if what == "margin":
        assert plan_of(tree, margin=0.015).respondents == pytest.approx(4 * base.respondents, abs=4)
    elif what == "confidence":
        assert plan_of(tree, confidence=0.99).respondents > base.respondents
    elif tree["type"] == "yes_no" and not tree.get("decline"):
        assert plan_of(tree, share=0.1).respondents <= base.respondents


# --- surveys with one epsilon ------------------------------------------------------------------------------------


def joint_survey(*trees: dict[str, Any], epsilon: float | str = 2, **keys: Any) -> Survey:
    """The same questions with one epsilon for all."""
    asked = [
        {"id": f"q{i}", "text": "?", **{k: v for k, v in tree.items() if k != "epsilon"}}
        for i, tree in enumerate(trees)
    ]
    return survey_from_tree(
        {"id": "a-survey", "title": "A survey", "epsilon": str(epsilon), "questions": asked, **keys}
    )


def test_the_plan_says_in_words_what_a_team_asks_first() -> None:
    """What the expected respondents will show, and how many a margin of 3 points takes; the file says how many come."""
    eight = joint_survey(*[yes_no(1)] * 8, respondents=300)
    assert plan_survey(eight).in_words == [
        "With 300 respondents you will know each share within about ±19 points.",
        "For ±3 you need 11,300.",
    ]
    assert plan_survey(eight, Wanted(respondents=20_000)).in_words[0].endswith("within about ±2.3 points.")
    nobody = joint_survey(yes_no(1), number(1), yes_no(1), together=[["q0", "q2"]])
    plan = plan_survey(nobody)
    (sentence,) = plan.in_words
    assert sentence == (
        f"You need {-(-plan.respondents // 10) * 10:,} respondents to know each share within ±3 points, each mean "
        "within ±3% of its range and each cell of a cross-tab within ±5 points, at 95% confidence."
    )
    assert plan_survey(nobody, Wanted(respondents=2)).in_words[0] == "With 2 respondents you will know nothing."


def test_the_plan_is_about_what_is_published() -> None:
    """Who is asked what, the booklets and the margins follow from the very document that publishing makes."""
    survey = joint_survey(
        *[yes_no(1)] * 3, choice(4, 1), choice(3, 1, "multi_choice"), together=[["q0", "q3"], ["q4", "q1"]]
    )
    plan = plan_survey(survey, Wanted(respondents=1_000))
    document = verify(publish_survey(survey))
    total = sum(booklet.weight for booklet in document.booklets)
    for question in plan.questions:
        weights = [
            b.weight for n, b in enumerate(document.booklets) if question.id in {q.id for q in document.asked(n)}
        ]
        assert question.asked == pytest.approx(sum(weights) / total)
    assert sorted(booklet.weight for booklet in plan.booklets) == sorted(b.weight for b in document.booklets)
    assert [table.questions for table in plan.tables] == [["q0", "q3"], ["q1", "q4"]]
    for question in plan.questions:  # margins fall with the square root
        assert question.given is not None
        assert question.given.margin == pytest.approx(0.03 * math.sqrt(question.respondents / 1_000), rel=1e-3)
    for table in plan.tables:
        assert table.margin == pytest.approx(0.05 * math.sqrt(table.respondents / 1_000), rel=1e-3)


def test_margins_by_respondents_and_epsilon() -> None:
    """From 100 to 100,000 respondents at 1, 2, 4 and the survey's own epsilon; each is the plan of that survey."""
    trees = [yes_no(1), choice(5, 1), number(1)]
    plan = plan_survey(joint_survey(*trees, epsilon=3))
    assert [at.epsilon for at in plan.by_epsilon] == ["1", "2", "3", "4"]
    assert (plan.sizes[0], plan.sizes[-1]) == (100, 100_000)
    for at in plan.by_epsilon:
        other = plan_survey(joint_survey(*trees, epsilon=at.epsilon), Wanted(respondents=3_000))
        assert at.respondents == other.respondents
        assert at.margins[plan.sizes.index(3_000)] == max(q.given.margin for q in other.questions if q.given)


def test_splitting_epsilon_costs_many_times_more() -> None:
    """Eight yes/no questions at 2: split they need what one at 0.25 needs; in booklets a sixth of that.

    The other way round, a survey with an epsilon of 0.25 for each of the eight learns what booklets would need.
    """
    joint = plan_survey(joint_survey(*[yes_no(1)] * 8))
    split = next(other for other in joint.alternatives if other.design == "split")
    assert split.respondents == plan_of(yes_no("0.25")).respondents == 69_006
    assert 6 < split.ratio < 6.2
    textbook = plan_survey(survey_of(*[yes_no("0.25")] * 8), Wanted(waves=1))
    assert textbook.alternatives[0].design == "booklets"
    assert textbook.alternatives[0].respondents == joint.respondents


def test_cells_from_split_reports_are_products() -> None:
    """Two yes/no questions at epsilon 1 each: the variance of the product of two scores, over all four answers."""
    plan = plan_survey(joint_survey(yes_no(1), yes_no(1), together=[["q0", "q1"]]), Wanted(cells=0.02))
    rule = support(channel_of(yes_no(1)))
    rate = {True: rule.p, False: rule.q}
    second = {t: rate[t] * ((1 - rule.q) / rule.gap) ** 2 + (1 - rate[t]) * (rule.q / rule.gap) ** 2 for t in rate}
    variance = sum(second[a] * second[b] / 4 for a in rate for b in rate) - 1 / 16
    split = next(other for other in plan.alternatives if other.design == "split")
    assert split.respondents == math.ceil(Z**2 * variance / 0.02**2)


def test_rotation_takes_new_people_for_every_wave() -> None:
    """Those who answer one wave spend epsilon once. It takes as many times the people, or each wave knows less."""
    plan = plan_survey(joint_survey(yes_no(1), yes_no(1)), Wanted(waves=4, respondents=8_000))
    assert [(row.waves, row.basic, row.rotation.people, row.rotation.per_wave) for row in plan.waves] == [
        (1, "2", plan.respondents, 8_000),
        (2, "4", 2 * plan.respondents, 4_000),
        (4, "8", 4 * plan.respondents, 2_000),
    ]
    whole, _, fourth = (row.rotation for row in plan.waves)
    alone = plan_survey(joint_survey(yes_no(1), yes_no(1)), Wanted(respondents=2_000))
    assert fourth.margin == max(q.given.margin for q in alone.questions if q.given) == pytest.approx(2 * whole.margin)
    # Two waves are two groups of 2,000 different people.
    two = plan_survey(joint_survey(yes_no(1), yes_no(1)), Wanted(respondents=4_000))
    assert fourth.difference == max(q.given.difference for q in two.questions if q.given and q.given.difference)


def test_the_command_says_what_rotation_can_show() -> None:
    """Both tables: what one person spends who answers every wave, and what it takes if each answers one."""
    shown = " ".join(run(str(EXAMPLE), "--waves", "4").stdout.split())
    needed = plan_survey(parse_survey(EXAMPLE.read_bytes())).respondents
    assert "4 8.00 8.00 8.00" in shown and f"4 2 {4 * needed:,} 2,500 ±9.6 20" in shown
    assert "spends ε = 2 once. Each wave has other people. You see levels and trends" in shown
    assert "You do not see who changed." in shown


def test_it_warns_where_nothing_will_be_known() -> None:
    """If every margin at the expected number is above 10 points: how many would do. With that many it is silent."""
    trees = [*[yes_no(1)] * 6, choice(8, 1)]
    few = plan_survey(joint_survey(*trees, respondents=200))
    (warning,) = few.warnings
    assert warning.startswith("With 200 respondents every result is uncertain by more than 10 points either way.")
    enough = int(re.search(r"about ([\d,]+) for ±10", warning)[1].replace(",", ""))  # type: ignore[index]
    assert plan_survey(joint_survey(*trees, respondents=enough)).warnings == []
    assert plan_survey(joint_survey(*trees)).warnings == []


def test_it_warns_where_the_total_protects_weakly() -> None:
    """Above 4, whether it is the survey's or a sum; above 10, clients refuse it by default, too."""
    assert plan_survey(joint_survey(yes_no(1), epsilon=4)).warnings == []
    for survey in (joint_survey(yes_no(1), epsilon="4.5"), survey_of(yes_no(3), yes_no("1.5"))):
        (warning,) = plan_survey(survey).warnings
        assert warning.startswith("ε = 4.5 in total protects people only weakly.") and "We recommend ε = 2" in warning
    assert len(plan_survey(survey_of(yes_no(5), yes_no(5))).warnings) == 1
    weak, refused = plan_survey(survey_of(*[yes_no("2.2")] * 10)).warnings
    assert weak.startswith("ε = 22 in total protects people hardly at all.") and "nearly always" in weak
    assert refused.startswith("Clients refuse this survey by default.") and "ε = 10, δ = 0.000001 in total" in refused


def test_it_warns_of_delta() -> None:
    """Deltas add up: each of two may be what clients accept, and both together be more."""
    noisy = number(1, mechanism="gaussian", delta="0.000001")
    assert plan_survey(survey_of(noisy)).warnings == []
    too_much, refused = plan_survey(survey_of(noisy, noisy)).warnings
    assert "δ = 0.000002 in total is too much: at worst, it is as if 2 in 1,000,000 people" in too_much
    assert refused.startswith("Clients refuse this survey by default.")


def test_it_warns_of_a_question_that_is_asked_twice() -> None:
    """With epsilons of their own they add up; with one for the survey they share respondents."""
    twice = [{"text": text} for text in ("Do you vape?", "do you vape ...", "Do you drink?")]
    (warning,) = plan_survey(survey_of(yes_no(1) | twice[0], yes_no("0.5") | twice[1], yes_no(1) | twice[2])).warnings
    assert warning == (
        "q0 and q1 ask nearly the same. Asked twice, together they reveal as much as one question at ε = 1.5. Ask once."
    )
    (warning,) = plan_survey(joint_survey(*(yes_no(1) | each for each in twice))).warnings
    assert "they share the respondents" in warning and "reveal" not in warning
    (warning,) = plan_survey(survey_of(*[yes_no("0.1") | twice[0]] * 5)).warnings
    assert warning.startswith("q0, q1, q2 and 2 more ask nearly the same. Asked 5 times, ") and "ε = 0.5." in warning


def test_it_warns_of_segments_that_are_not_what_they_seem() -> None:
    """One that asks what a question asks, and one that sounds protected: both are sent as they are."""
    options = [{"code": "y", "text": "Yes"}, {"code": "n", "text": "No"}]
    texts = ("Which campus?", "do you vape", "Have you used drugs? (randomised)", "Are you a student? (Anonymous)")
    segments = [{"id": f"s{i}", "text": text, "options": options} for i, text in enumerate(texts)]
    questions = [{"id": "q", "type": "yes_no", "text": "Do you vape?", "epsilon": 1}]
    survey = survey_from_tree({"id": "seg", "title": "T", "segments": segments, "questions": questions})
    same, *sounding = plan_survey(survey).warnings
    assert same.startswith("The segment s1 asks nearly the same as the question q.")
    assert [words.split(" sounds ")[0] for words in sounding] == [f"The text of the segment s{i}" for i in (2, 3)]


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ({"margin": 0}, "margin must be from 0.0001 to 0.5"),
        ({"margin": math.nan}, "margin must be"),
        ({"confidence": 1}, "confidence must be from 0.5 to 0.9999"),
        ({"share": 0}, "share must be"),
        ({"difference": 1}, "difference must be"),
        ({"share": 0.02}, "difference must be at most 0.04, or the share nearer 0.5"),
        ({"power": 0.2}, "power must be"),
        ({"waves": 0}, "waves must be from 1 to 366"),
        ({"delta": 0}, "delta must be"),
        ({"respondents": 1}, "respondents must be"),
    ],
)
def test_a_number_out_of_range_says_what_to_do(numbers: dict[str, Any], words: str) -> None:
    """The error gives the allowed range."""
    with pytest.raises(PlanError, match=words):
        Wanted(**numbers)


def test_everything_out_of_range_is_said_at_once() -> None:
    """The error has one line for each number that is out of range."""
    with pytest.raises(PlanError) as caught:
        Wanted(margin=2, power=2, delta=2)
    assert [line.split()[0] for line in str(caught.value).splitlines()] == ["margin", "power", "delta"]


def test_planning_does_no_input_or_output() -> None:
    """Its modules import the protocol, the estimator and arithmetic: no storage, HTTP, clients, files or clock."""
    allowed = {"__future__", "collections", "decimal", "deniable_protocol", "deniable_server", "fractions", "functools"}
    allowed |= {"dataclasses", "itertools", "math", "msgspec", "numpy", "re", "scipy", "typing", "unicodedata"}
    folder = Path(deniable_server.__file__).parent / "planning"
    assert len([*folder.glob("*.py")]) > 1
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                assert {alias.name.partition(".")[0] for alias in node.names} <= allowed, path.name
            elif isinstance(node, ast.ImportFrom) and not node.level:
                name = node.module or ""
                assert name.partition(".")[0] in allowed, path.name
                own = name.startswith(
                    ("deniable_server.errors", "deniable_server.estimator.", "deniable_server.wording")
                )
                assert own or not name.startswith("deniable_server"), path.name


# --- the command -------------------------------------------------------------------------------------------------


def run(*arguments: str, columns: int = 80) -> Result:
    runner = CliRunner(env={"COLUMNS": str(columns)})
    return runner.invoke(cli, ["plan", *arguments], catch_exceptions=False)


def test_the_command_says_what_a_team_asks_first() -> None:
    """The plan in words first; then epsilon in words, booklets, sizes in the question's own units, costs and waves."""
    result = run(str(EXAMPLE))
    plan = plan_survey(parse_survey(EXAMPLE.read_bytes()))
    said = " ".join(result.stdout.split())
    assert result.exit_code == 0
    assert said.startswith(f"{plan.title} ({plan.survey}) {' '.join(plan.in_words)}")
    drinks = next(question for question in plan.questions if question.id == "drinks")
    split = next(other for other in plan.alternatives if other.design == "split")
    for words in (
        f"What one person sends: ε = {plan.epsilon.removesuffix('.0')}",
        plan.epsilon_in_words,
        f"{', '.join(plan.booklets[0].parts[0])} {100 * plan.booklets[0].probability:.0f}%",
        f"±1.2 drinks {drinks.respondents:,} {drinks.per_group:,}",
        f"for ±3 points {' '.join(f'{at.respondents:,}' for at in plan.by_epsilon)}",
        f"split {split.respondents:,} ×{split.ratio:.0f}",
        "12 24.00 24.00 24.00",
        f"12 2 {12 * plan.respondents:,} 833 ±17 34",
    ):
        assert words in said


def test_warnings_come_before_anything_else() -> None:
    """A survey that would find out nothing says so right below its title."""
    lines = run(str(EXAMPLE), "--respondents", "100").stdout.splitlines()
    assert lines[1].startswith("Warning: With 100 respondents every result is uncertain")


def test_of_many_booklets_the_likely_ones_are_shown(tmp_path: Path) -> None:
    """Forty questions make many booklets: twelve are listed, and the rest is one line."""
    file = tmp_path / "long.json"
    asked = [{"id": f"q{i}", "text": "?", "type": "yes_no"} for i in range(40)]
    file.write_text(json.dumps({"id": "a-survey", "title": "Long", "epsilon": 1, "questions": asked}))
    result = run(str(file))
    assert "28 more, 2.5% each at most" in result.stdout and "70%" in result.stdout


@pytest.mark.parametrize("columns", [80, 120])
def test_the_plan_fits_the_screen(columns: int, tmp_path: Path) -> None:
    """No line is cut or runs over, however long the names, and square brackets are text."""
    name = "a_name_of_forty_one_characters_xxxxxxxxxx"
    file = tmp_path / "survey.json"
    listed = [yes_no("0.01"), choice(3, 10, "multi_choice"), number(1, unit="[red]kg", mechanism="laplace")]
    listed.append(scale(11, "0.01", mechanism="exponential"))
    asked = [{"id": f"{name[:39]}_{i}", "text": "?", **tree} for i, tree in enumerate(listed)]
    file.write_text(json.dumps({"id": "a-survey", "title": "[bold]title", "questions": asked}))
    result = run(str(file), "--respondents", "50", columns=columns)
    assert result.exit_code == 0
    assert max(map(len, result.stdout.splitlines())) <= columns
    assert "[bold]title (a-survey)" in result.stdout and "[red]kg" in result.stdout and "…" not in result.stdout
    for words in ("no information", "> 1 billion", "the ε of the answers add up"):
        assert words in result.stdout


def test_plan_as_json_is_the_plan() -> None:
    """--json prints what plan_survey returns for the same options."""
    options = [
        "--margin",
        "0.02",
        "--cells",
        "0.04",
        "--confidence",
        "0.9",
        "--share",
        "0.3",
        "--difference",
        "0.1",
        "--power",
        "0.9",
    ]
    options += ["--waves", "3", "--delta", "1e-9", "--respondents", "7000"]
    wanted = Wanted(
        margin=0.02,
        cells=0.04,
        confidence=0.9,
        share=0.3,
        difference=0.1,
        power=0.9,
        waves=3,
        delta=1e-9,
        respondents=7000,
    )
    expected = plan_survey(parse_survey(EXAMPLE.read_bytes()), wanted)
    result = run(str(EXAMPLE), *options, "--json")
    assert msgspec.json.decode(result.stdout, type=SurveyPlan) == expected


def test_a_single_question_has_no_sums(tmp_path: Path) -> None:
    """For one question in one wave, the output has no totals and no waves."""
    file = tmp_path / "one.json"
    file.write_bytes(msgspec.json.encode(survey_of(yes_no(1))))
    result = run(str(file), "--waves", "1")
    assert "What one person sends: ε = 1" in result.stdout
    assert "all of them" not in result.stdout and "Waves" not in result.stdout


def test_wrong_numbers_end_in_a_message() -> None:
    """Exit status 1 and a line for each on standard error, no traceback."""
    result = run(str(EXAMPLE), "--margin", "3", "--power", "nan")
    assert result.exit_code == 1 and "Traceback" not in result.output
    assert [line.split()[0] for line in result.stderr.splitlines()] == ["margin", "power"]


def test_figures_in_the_documentation_are_what_the_command_prints(root: Path) -> None:
    """Each text block of docs/planning.md appears, line by line, in the output of the command above it."""
    page = (root / "docs" / "planning.md").read_text("utf-8")
    pairs = re.findall(r"```sh\ndeniable plan ([^\n]*)\n```\n\n```text\n(.*?)```", page, re.DOTALL)
    assert len(pairs) >= 2
    for arguments, block in pairs:
        words = arguments.replace("survey.toml", str(EXAMPLE)).split()
        lines = [line.rstrip() for line in run(*words).stdout.splitlines()]
        for line in block.splitlines():
            assert line.rstrip() in lines or line.strip() == "...", line


def test_drawn_channels_have_equal_parts() -> None:
    """The parts of a drawn channel are equal, which the planner assumes."""
    channel = channel_of(choice(5, 1, "multi_choice"))
    assert isinstance(channel, Drawn) and len(set(channel.parts)) == 1
