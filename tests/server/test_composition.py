"""Composition over waves: the published channels against enumeration, and against what is known of any channel."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable_protocol import Channel, Document, exact_composition, survey_from_tree, verify
from deniable_protocol.design import band, subset
from deniable_protocol.tables import exponential
from deniable_server.planning import Wanted, composition, plan_survey, publish_survey
from deniable_server.planning.composition import Loss, compose_waves, losses_of

GRID = Decimal("0.0001")


def options(number: int) -> list[dict[str, str]]:
    return [{"code": f"c{i}", "text": "?"} for i in range(number)]


def document_of(*trees: dict[str, Any], **keys: Any) -> Document:
    asked = [{"id": f"q{i}", "text": "?", **tree} for i, tree in enumerate(trees)]
    return verify(publish_survey(survey_from_tree({"id": "a-survey", "title": "A survey", "questions": asked, **keys})))


def unknown(*epsilons: Fraction) -> list[Loss]:
    """Channels of which only epsilon is known."""
    return [Loss(epsilon, 1.0) for epsilon in epsilons]


EIGHT = (
    {"type": "yes_no", "epsilon": "1"},
    {"type": "yes_no", "epsilon": "1", "decline": True},
    {"type": "choice", "epsilon": "2", "decline": True, "options": options(5)},
    {"type": "multi_choice", "epsilon": "1", "options": options(4)},
    {"type": "scale", "epsilon": "1", "labels": [*"abcde"]},
    {"type": "scale", "epsilon": "1", "labels": [*"abcde"], "measure": "mean"},
    {"type": "number", "epsilon": "1", "min": 0, "max": 40},
    {
        "type": "number",
        "epsilon": "2",
        "min": 0,
        "max": 50_000,
        "measure": "shares",
        "bins": [500, 2_000, 5_000, 10_000],
        "decline": True,
    },
)
"""Eight questions of all types, with an epsilon of 10 in all."""


# --- the published channels --------------------------------------------------------------------------------------


def test_published_channels_say_less_than_the_worst_that_keep_epsilon() -> None:
    """Eight questions over 8 and 12 waves, delta 10^-6: 67.87 and 94.57, not the 75.94 and 107.96 of any channels."""
    losses = losses_of(document_of(*EIGHT))
    assert compose_waves(losses, [8, 12], 1e-6) == [Decimal("67.8707"), Decimal("94.5665")]
    worst = compose_waves(unknown(*(loss.epsilon for loss in losses)), [8, 12], 1e-6)
    assert worst == [Decimal("75.9371"), Decimal("107.9598")]


def rows(channel: Channel) -> list[list[float]]:
    reports = [*channel.reports()]
    return [[float(channel.probability(answer, report)) for report in reports] for answer in range(channel.answers)]


def excess(first: Sequence[float], second: Sequence[float], epsilon: float) -> float:
    """By how much an event can be more likely under the first than e^epsilon times under the second."""
    return sum(max(0.0, a - math.exp(epsilon) * b) for a, b in zip(first, second, strict=True))


def worst_excess(tables: Sequence[list[list[float]]], epsilon: float) -> float:
    """Over all reports and all two answers to each of these questions, by enumeration."""
    most = 0.0
    for pairs in itertools.product(*(itertools.permutations(table, 2) for table in tables)):
        first, second = np.ones(1), np.ones(1)
        for a, b in pairs:
            first, second = np.outer(first, a).ravel(), np.outer(second, b).ravel()
        most = max(most, float(np.maximum(first - math.exp(epsilon) * second, 0).sum()))
    return most


@pytest.mark.parametrize(
    "trees",
    [
        [{"type": "choice", "epsilon": "1", "options": options(5)}] * 2,
        [{"type": "yes_no", "epsilon": "1"}, {"type": "choice", "epsilon": "0.5", "options": options(4)}],
        [{"type": "number", "epsilon": "1", "min": 0, "max": 1}, {"type": "yes_no", "epsilon": "0.7", "decline": True}],
    ],
)
def test_composition_is_that_of_the_enumerated_channels(trees: list[dict[str, Any]]) -> None:
    """The least epsilon for the worst two lists of answers, by a sum over all reports; never below it."""
    document = document_of(*trees)
    tables = [rows(part.channel) for part in document.parts]
    for delta in (0.05, 0.001):
        (found,) = compose_waves(losses_of(document), [1], delta)
        assert worst_excess(tables, float(found)) <= delta < worst_excess(tables, float(found - 2 * GRID))


def test_composition_of_a_named_mechanism_is_never_below_the_enumerated_one() -> None:
    """A table's losses are not those of subsets: the result is an upper bound, below that of any channel."""
    tree = {"type": "scale", "epsilon": "2", "labels": [*"abcd"], "mechanism": "exponential"}
    document = document_of(tree, tree)
    tables = [rows(part.channel) for part in document.parts]
    (found,) = compose_waves(losses_of(document), [1], 0.01)
    assert worst_excess(tables, float(found)) <= 0.01
    assert found < compose_waves(unknown(Fraction(2), Fraction(2)), [1], 0.01)[0]


def answers_to(document: Document) -> Iterator[list[float]]:
    """For all combinations of answers to the questions, what one device sends: the booklet with its report."""
    total = sum(booklet.weight for booklet in document.booklets)
    codes = [question.codes or ("no", "yes") for question in document.survey.questions]
    names = [question.id for question in document.survey.questions]
    for chosen in itertools.product(*(range(len(each)) for each in codes)):
        sent: list[float] = []
        for number, booklet in enumerate(document.booklets):
            (part,) = document.parts_of(number)
            path = tuple(chosen[names.index(name)] for name in part.names)
            place = [*itertools.product(*(range(len(codes[names.index(name)])) for name in part.names))].index(path)
            sent += [booklet.weight / total * chance for chance in rows(part.channel)[place]]
        yield sent


def test_the_waves_of_a_survey_with_booklets() -> None:
    """One person's submissions in two waves, a booklet drawn in each: the worst two lists of answers, enumerated."""
    yes_no, three = {"type": "yes_no"}, {"type": "choice", "options": options(3)}
    document = document_of(yes_no, three, yes_no, epsilon="1", together=[["q0", "q1"]])
    assert len(document.booklets) > 1 and any(len(part.names) > 1 for part in document.parts)
    sent = [*answers_to(document)]
    for delta in (0.05, 0.005):
        (found,) = compose_waves(losses_of(document), [2], delta)

        def worst(epsilon: float) -> float:
            pairs = itertools.permutations(map(np.array, sent), 2)
            return max(excess(np.outer(a, a).ravel(), np.outer(b, b).ravel(), epsilon) for a, b in pairs)

        assert worst(float(found)) <= delta < worst(float(found - 2 * GRID))


@pytest.mark.parametrize(
    "channel",
    [subset(5, Fraction(1)), subset(9, Fraction("0.3")), band(9, Fraction(2)), band(2, Fraction(1), width=1)],
)
def test_a_loss_is_that_of_the_worst_two_answers(channel: Channel) -> None:
    """At every epsilon, what the most different answers to a subset or band exceed each other by."""
    epsilon = math.log(channel.odds() or 1)
    chance = float(composition._distance(channel)) / math.tanh(epsilon / 2)
    for part in (0.0, 0.2, 0.9, 1.0):
        e = part * epsilon
        ours = chance * (math.exp(epsilon) - math.exp(e)) / (1 + math.exp(epsilon))
        assert ours == pytest.approx(max(excess(a, b, e) for a, b in itertools.permutations(rows(channel), 2)))


def test_a_loss_stands_for_any_channel() -> None:
    """A bit at the table's epsilon exceeds by at least what any two rows of the table do."""
    table = exponential(5, Fraction(2))
    chance = float(composition._distance(table)) / math.tanh(1)
    assert 0 < chance < 1
    for e in (0.0, 0.3, 1.0, 1.9):
        ours = chance * (math.exp(2) - math.exp(e)) / (1 + math.exp(2))
        assert ours >= max(excess(a, b, e) for a, b in itertools.permutations(rows(table), 2)) - 1e-12


# --- channels of which only epsilon is known ---------------------------------------------------------------------


@settings(max_examples=60)
@given(
    st.lists(st.integers(100, 100_000).map(lambda units: Fraction(units, 10_000)), min_size=1, max_size=3),
    st.integers(1, 4),
    st.sampled_from([1e-15, 1e-9, 1e-6, 1e-3, 0.01]),
)
def test_fast_composition_is_the_exact_one(epsilons: list[Fraction], waves: int, delta: float) -> None:
    """Never below the composition in 50 digits, and at most a ten-thousandth above it."""
    (fast,) = compose_waves(unknown(*epsilons), [waves], delta)
    assert 0 <= fast - exact_composition(epsilons * waves, delta) <= GRID


@settings(max_examples=10)
@given(
    st.lists(st.sampled_from(["0.01", "0.1", "0.25", "0.5", "1", "2"]), min_size=1, max_size=6),
    st.integers(5, 20),
    st.sampled_from([1e-12, 1e-6, 1e-3]),
)
def test_fast_composition_is_exact_over_many_waves(texts: list[str], waves: int, delta: float) -> None:
    """The same where many answers make the sum far too pessimistic."""
    epsilons = [*map(Fraction, texts)]
    (fast,) = compose_waves(unknown(*epsilons), [waves], delta)
    assert 0 <= fast - exact_composition(epsilons * waves, delta) <= GRID


@settings(max_examples=30)
@given(
    st.lists(st.tuples(st.sampled_from(["0.1", "0.5", "1", "2"]), st.floats(0.05, 1.0)), min_size=1, max_size=3),
    st.integers(1, 6),
    st.sampled_from([1e-12, 1e-6, 1e-3]),
)
def test_composition_with_chances_is_an_exact_sum(texts: list[tuple[str, float]], waves: int, delta: float) -> None:
    """Against a sum in fractions of all combinations of losses, in tenths, with the chances rounded to thousandths."""
    losses = [Loss(Fraction(epsilon), round(chance, 3)) for epsilon, chance in texts]
    sums = {0: Decimal(1)}
    for epsilon, chance in losses * waves:
        step, part = int(epsilon * 10), Decimal(repr(chance))
        up = part / (1 + (-Decimal(step) / 10).exp())
        spread: dict[int, Decimal] = {}
        for total, mass in sums.items():
            for end, share in ((total + step, up), (total, 1 - part), (total - step, part - up)):
                spread[end] = spread.get(end, Decimal(0)) + mass * share
        sums = spread

    def exact(epsilon: Decimal) -> Decimal:
        above = ((Decimal(total) / 10, mass) for total, mass in sums.items() if Decimal(total) / 10 > epsilon)
        return sum((mass * (1 - (epsilon - loss).exp()) for loss, mass in above), Decimal(0))

    (found,) = compose_waves(losses, [waves], delta)
    assert exact(found) <= Decimal(delta)
    if found > 0:
        assert exact(found - 2 * GRID) > Decimal(delta)


def test_twenty_different_epsilons_over_twelve_waves() -> None:
    """Between the results for epsilons rounded down and up to a coarser grid, below the sum, and rising with waves."""
    epsilons = [Fraction(5_000 + 1_237 * i, 10_000) for i in range(20)]
    waves = [1, 2, 4, 8, 12]
    found = compose_waves(unknown(*epsilons), waves, 1e-6)
    rounded_down = [Fraction(math.floor(epsilon * 10), 10) for epsilon in epsilons]
    rounded_up = [Fraction(math.ceil(epsilon * 10), 10) for epsilon in epsilons]
    below, above = (compose_waves(unknown(*rounded), waves, 1e-6) for rounded in (rounded_down, rounded_up))
    for times, low, exact, high in zip(waves, below, found, above, strict=True):
        assert low <= exact <= high
        assert exact <= float(sum(epsilons)) * times
    assert found == sorted(found) and float(found[-1]) < 0.95 * float(sum(epsilons)) * 12


def test_a_coarser_grid_rounds_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the work would be too much, results grow by less than half a grid step per answer, and never shrink."""
    losses = unknown(*(Fraction(5_000 + 1_237 * i, 10_000) for i in range(6)))
    fine = compose_waves(losses, [1, 5], 1e-6)
    monkeypatch.setattr(composition, "MOST_SUMS", 1_000.0)
    unit = composition._unit(losses, 5)
    coarse = compose_waves(losses, [1, 5], 1e-6)
    assert unit > 100
    for times, exact, rounded in zip([1, 5], fine, coarse, strict=True):
        assert exact <= rounded <= exact + Decimal(unit) / 10_000 * len(losses) * times


# --- in the plan -------------------------------------------------------------------------------------------------


def plan_waves(*trees: dict[str, Any], waves: int, **keys: Any) -> list[Any]:
    return plan_survey(document_of(*trees, **keys).survey, Wanted(waves=waves)).waves


def test_waves_show_all_three_bounds() -> None:
    """The sum, the advanced bound where it is less, and the exact one, the least; 1, 2, 4 ... up to what is asked."""
    found = plan_waves(*[{"type": "yes_no", "epsilon": "0.1"}] * 10, waves=20)
    assert [row.waves for row in found] == [1, 2, 4, 8, 16, 20]
    last = found[-1]
    assert last.basic == "20"
    advanced = math.sqrt(2 * 200 * math.log(1e6)) * 0.1 + 200 * 0.1 * math.expm1(0.1)
    assert float(last.advanced) == pytest.approx(advanced, abs=1e-4) and float(last.advanced) >= advanced
    assert last.exact == str(exact_composition([Fraction("0.1")] * 200, 1e-6))
    for row in found:
        assert float(row.exact) <= float(row.advanced) <= float(row.basic)


def test_the_plan_composes_what_it_would_publish() -> None:
    """A choice of five options says less over 40 waves than the worst channel of the same epsilon."""
    last = plan_waves({"type": "choice", "options": options(5)}, waves=40, epsilon="1")[-1]
    assert float(last.exact) < 0.8 * float(exact_composition([Fraction(1)] * 40, 1e-6))


def test_the_largest_survey_can_be_planned() -> None:
    """200 questions at epsilon 10 over a year of days: no overflow, and never above the sum."""
    last = plan_waves(*[{"type": "yes_no", "epsilon": "10"}] * 200, waves=366)[-1]
    assert float(last.exact) <= float(last.advanced) <= float(last.basic) == 732_000


def test_a_delta_of_the_survey_is_added_in_every_wave() -> None:
    """A Gaussian question keeps epsilon but for its delta: what is stated over waves has it as often, on top."""
    gaussian = {"type": "number", "epsilon": "1", "min": -5, "max": 15, "mechanism": "gaussian", "delta": "0.0001"}
    plan = plan_survey(document_of({"type": "yes_no", "epsilon": "1"}, gaussian).survey, Wanted(waves=4))
    assert [row.delta for row in plan.waves] == pytest.approx([0.000101, 0.000201, 0.000401])
    assert plan.shuffled is None
