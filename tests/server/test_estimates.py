"""The estimator: exact where it can be checked exactly, against scipy where scipy has the same form."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from random import Random
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from deniable_protocol import Band, Channel, Drawn, Question, Subset, Table, decode
from deniable_protocol.design import band, subset
from deniable_protocol.tables import exponential
from deniable_server.estimator import (
    TOO_NOISY,
    Mean,
    QuestionEstimate,
    alone,
    clopper_pearson,
    estimate_question,
    project,
    score_limits,
    share_of_support,
    support,
)
from deniable_server.estimator.intervals import CLEAR, Aim
from deniable_server.estimator.scores import CLEAR_ENOUGH, mean_scores, table_of
from tests.helpers.surveys import ask, channelled, questions

Z95 = stats.norm.ppf(0.975)


def choices(count: int) -> list[dict[str, str]]:
    return [{"code": f"c{i}", "text": "."} for i in range(count)]


def tally(channel: Channel, reports: Sequence[int]) -> list[int]:
    if isinstance(channel, Subset):
        return [sum(report >> j & 1 for report in reports) for j in range(channel.options)]
    return [reports.count(report) for report in channel.reports()]


def expected_counts(channel: Subset | Band | Table, answers: Sequence[int]) -> tuple[list[int], int]:
    """The exact expectation of the counts where answer x is given ``answers[x]`` times, scaled up to integers."""
    if isinstance(channel, Subset):
        assert channel.size == 1
        table = [[channel.probability(x, 1 << y) for y in range(channel.options)] for x in range(channel.options)]
        total = math.lcm(*(p.denominator for row in table for p in row))
        rows = [[int(p * total) for p in row] for row in table]
    else:
        rows, total = channel.integer_rows()
    counts = [sum(a * w for a, w in zip(answers, column, strict=True)) for column in zip(*rows, strict=True)]
    return counts, total * sum(answers)


def share(result: QuestionEstimate, code: str) -> Any:
    return next(share for share in result.shares if share.code == code)


# --- the interval of a share -------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 30, 1000])
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.999])
def test_limits_are_those_of_scipy(n: int, confidence: float) -> None:
    """At every whole count the two intervals are scipy's "wilsoncc" and "exact"."""
    for y in range(0, n + 1, max(1, n // 40)):
        test = stats.binomtest(y, n)
        for ours, method in ((partial(score_limits, CLEAR), "wilsoncc"), (clopper_pearson, "exact")):
            expected = test.proportion_ci(confidence, method)
            assert ours(y, n, 1 - confidence) == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize(("epsilon", "n"), [(1, 1000), (1, 30), (8, 20_000)])
def test_yes_no_interval_is_the_mapped_binomial_one(epsilon: float, n: int) -> None:
    """A yes_no interval is scipy's exact one of the noisy bit, mapped, unless an end of the scale is near."""
    question, channel = ask("yes_no", epsilon)
    p = channel.favour / 2**53
    for y in (math.ceil(n * (1 - p)), n // 3, n // 2, math.floor(n * p)):
        yes = share(estimate_question(alone(question, channel, [n - y, y], n)), "yes")
        limits = stats.binomtest(y, n).proportion_ci(0.95, "exact")
        low, high = (min(max((limit - (1 - p)) / (2 * p - 1), 0), 1) for limit in (limits.low, limits.high))
        assert low - 1e-12 <= yes.low < yes.high <= high + 1e-12
        # At a limit, a count at the end of the scale must itself be in a tail of 2.5%.
        if stats.binom.cdf(n * (1 - p), n, limits.low) < 0.025:
            assert yes.low == pytest.approx(low, abs=1e-12)
        if stats.binom.sf(n * p, n, limits.high) < 0.025:
            assert yes.high == pytest.approx(high, abs=1e-12)


@pytest.mark.parametrize("epsilon", ["0.1", "0.5", "1", "4"])
@pytest.mark.parametrize("n", [30, 1000])
@pytest.mark.parametrize("options", [2, 3, 10])
def test_shares_are_covered(epsilon: str, n: int, options: int) -> None:
    """A 95% interval contains the true share with at least 95%, summed exactly over the binomial of the count."""
    rule = support(subset(options, Fraction(epsilon)))
    limits = np.array([share_of_support(rule, y, n, Aim())[2:] for y in range(n + 1)])
    for truth in (0, 0.01, 0.3, 0.5, 1):
        weight = stats.binom.pmf(np.arange(n + 1), n, rule.q + truth * rule.gap)
        held = (limits[:, 0] <= truth + 1e-9) & (truth - 1e-9 <= limits[:, 1])
        assert weight[held].sum() >= 0.95 - 1e-9


@pytest.mark.parametrize(
    ("epsilon", "planned", "needed"),
    [("0.5", 17_789, 17_923), ("1", 4_997, 5_067), ("2", 1_840, 1_881), ("4", 1_149, 1_181)],
)
def test_respondents_for_a_margin_of_three_points(epsilon: str, planned: int, needed: int) -> None:
    """The plan's n is where 1.96 standard errors reach .03 at a share of one half; the interval takes a little more."""
    rule = support(band(2, Fraction(epsilon)))

    def errors(n: int) -> float:  # of the formula, at exactly half
        return float(Z95) * 0.5 / math.sqrt(n) / rule.gap

    def margin(n: int) -> float:
        raw = share_of_support(rule, n // 2, n, Aim())
        return (raw.high - raw.low) / 2

    assert errors(planned) <= 0.03 < errors(planned - 1)
    assert margin(needed) <= 0.03 < margin(needed - 1)
    assert needed - planned < 1 / (0.03 * rule.gap) * 1.02  # half a unit either side: 1/(margin * gap) more


def test_simultaneous_intervals_divide_alpha() -> None:
    """Simultaneous 95% intervals of five options are single intervals at 99%."""
    question, channel = ask("choice", options=choices(5))
    counts = [400, 300, 250, 150, 100][: channel.options]
    n = sum(counts) // channel.size
    together = estimate_question(alone(question, channel, counts, n), simultaneous=True)
    single = estimate_question(alone(question, channel, counts, n), Aim(confidence=0.99))
    for one, other in zip(together.shares, single.shares, strict=True):
        assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=1e-12)


# --- unbiased ----------------------------------------------------------------------------------------------------

SMALL = [
    ask("yes_no", "0.5"),
    ask("yes_no", 2, decline=True),
    ask("choice", 1, options=choices(5)),
    ask("choice", 1, options=choices(4), mechanism="krr"),
    ask("scale", 1, labels=list("abcd"), mechanism="exponential"),
]


@pytest.mark.parametrize(("question", "channel"), SMALL)
def test_unbiased_is_unbiased(question: Question, channel: Any) -> None:
    """Over all pairs of reports, the expectation of each unbiased share is the true share, to rounding."""
    reports = list(channel.reports())
    for first, second in itertools.combinations_with_replacement(range(channel.answers), 2):
        expectation = dict.fromkeys(question.codes, 0.0)
        for one, other in itertools.product(reports, repeat=2):
            chance = float(channel.probability(first, one) * channel.probability(second, other))
            for entry in estimate_question(alone(question, channel, tally(channel, [one, other]), 2)).shares:
                expectation[entry.code] += chance * entry.unbiased
        truth = {code: ((j == first) + (j == second)) / 2 for j, code in enumerate(question.codes)}
        assert expectation == pytest.approx(truth, abs=1e-11)


def test_drawn_options_are_unbiased() -> None:
    """Given which part was drawn, the expectation of the option's unbiased share is its true bit."""
    question, channel = ask("multi_choice", options=choices(3))
    assert isinstance(channel, Drawn)
    for j, truth in itertools.product(range(3), (0, 1)):
        expectation = 0.0
        for bit in (0, 1):
            entries = estimate_question(alone(question, channel, tally(channel, [2 * j + bit]), 1)).shares
            assert [entry.unbiased is None for entry in entries] == [i != j for i in range(3)]
            expectation += float(channel.parts[j].probability(truth, bit)) * entries[j].unbiased
        assert expectation == pytest.approx(truth, abs=1e-12)


def test_each_drawn_option_is_a_yes_no_of_its_own() -> None:
    """An option's numbers are those of a yes_no with the reports about that option."""
    question, channel = ask("multi_choice", options=choices(2))
    of_itself = ask("yes_no")
    both = estimate_question(alone(question, channel, [300, 200, 40, 60], 600))
    for entry, counts in zip(both.shares, ([300, 200], [40, 60]), strict=True):
        yes = share(estimate_question(alone(*of_itself, counts, sum(counts))), "yes")
        assert msgspec.structs.astuple(entry)[1:7] == pytest.approx(msgspec.structs.astuple(yes)[1:7], abs=1e-15)
        assert entry.answers == sum(counts)


def no_negative_zero(digits: str) -> float:
    assert float(digits) or not digits.startswith("-")
    return float(digits)


# --- properties over all questions -------------------------------------------------------------------------------


@st.composite
def counted(draw: st.DrawFn) -> tuple[Question, Channel, list[int], int]:
    """Any question with counts that its channel can give, likely or not."""
    question, channel = channelled(draw(questions()))
    random = Random(draw(st.integers(0, 2**32)))
    times = draw(st.sampled_from([1, 1, 7, 1000, 10**9]))
    skew = draw(st.sampled_from([0, 1, 4]))

    def report() -> int:
        if isinstance(channel, Subset):
            keyed = sorted(range(channel.options), key=lambda j: random.random() * (1 + j) ** skew)
            return sum(1 << j for j in keyed[: channel.size])
        size = sum(1 for _ in channel.reports())
        return int(size * random.random() ** (1 + skew))

    reports = [report() for _ in range(draw(st.integers(0, 40)))]
    return question, channel, [times * count for count in tally(channel, reports)], times * len(reports)


@settings(max_examples=300)
@given(counted(), st.sampled_from([0.5, 0.95, 0.999]), st.booleans())
def test_every_estimate_is_a_possible_one(
    case: tuple[Question, Channel, list[int], int], confidence: float, simultaneous: bool
) -> None:
    """Whatever the counts: shares are possible and sum to 1, lie in their intervals, and all of it is finite JSON."""
    question, channel, counts, n = case
    result = estimate_question(
        alone(question, channel, counts, n), Aim(confidence=confidence), simultaneous=simultaneous
    )
    text = msgspec.json.encode(result).decode()
    tree = json.loads(text, parse_constant=pytest.fail, parse_float=no_negative_zero)
    assert list(tree) == [
        "id", "type", "answers", "shares", "mean", "open_equivalent", "fake_influence", "notes",
        *["summaries"] * (result.summaries is not msgspec.UNSET),
        *["among_answering"] * question.decline,
    ]  # fmt: skip
    for summary in result.summaries or ():
        assert -1 <= summary.low <= summary.high <= 1
        assert summary.estimate is None or summary.low <= summary.estimate <= summary.high
    assert (result.mean is None) == bool(result.shares)
    assert msgspec.json.decode(text, type=QuestionEstimate) == result
    for entry in result.shares:
        assert 0 <= entry.low <= entry.high <= 1
        if entry.estimate is not None and entry.standard_error is not None:
            assert entry.low <= entry.estimate <= entry.high
            assert entry.standard_error > 0
    if n and result.shares and not isinstance(channel, Drawn):
        assert sum(entry.estimate or 0 for entry in result.shares) == pytest.approx(1, abs=1e-12)
    if n and result.mean is not None:
        assert result.mean.value is not None
        assert result.mean.low <= result.mean.value <= result.mean.high
    assert result.open_equivalent is None or 0 <= result.open_equivalent <= n
    assert (result.fake_influence is None) == (n == 0)


@given(st.permutations(range(6)), st.integers(0, 2**32), st.integers(1, 60))
def test_permuting_options_permutes_estimates(order: list[int], seed: int, n: int) -> None:
    """No option is treated differently for its place."""
    question, channel = ask("choice", 1, options=choices(6))
    random = Random(seed)
    assert isinstance(channel, Subset)
    counts = tally(channel, [sum(1 << j for j in random.sample(range(6), channel.size)) for _ in range(n)])
    plain = estimate_question(alone(question, channel, counts, n)).shares
    moved = estimate_question(alone(question, channel, [counts[j] for j in order], n)).shares
    for place, j in enumerate(order):
        assert msgspec.structs.astuple(moved[place])[1:] == msgspec.structs.astuple(plain[j])[1:]


@given(st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=50))
@example([0.5, 0.5])
@example([1e4, -1e4])
def test_projection_is_the_nearest_point(values: list[float]) -> None:
    """The conditions of Karush, Kuhn and Tucker: all positive entries moved by the same, the others not above it."""
    nearest = project(values)
    assert sum(nearest) == pytest.approx(1, abs=1e-12)
    assert min(nearest) >= 0
    moves = [value - entry for value, entry in zip(values, nearest, strict=True) if entry > 0]
    assert max(moves) - min(moves) <= 1e-11
    assert all(value <= min(moves) + 1e-11 for value, entry in zip(values, nearest, strict=True) if entry == 0)


# --- edges -------------------------------------------------------------------------------------------------------


def test_nothing_is_known_without_answers() -> None:
    """Without answers every number is null and every interval is everything."""
    question, channel = ask("yes_no")
    result = estimate_question(alone(question, channel, [0, 0], 0))
    assert msgspec.to_builtins(result) == {
        "id": "q", "type": "yes_no", "answers": 0,
        "shares": [
            {
                "code": code, "estimate": None, "unbiased": None, "standard_error": None, "low": 0.0, "high": 1.0,
                "note": "too noisy to say",
            }
            for code in ("yes", "no")
        ],
        "mean": None, "open_equivalent": None, "fake_influence": None,
        "notes": ["too noisy to say"],
    }  # fmt: skip
    question, channel = ask("number", min=-3, max=-0.0)
    nobody = estimate_question(alone(question, channel, [0] * (channel.levels + channel.width - 1), 0))
    numbers = b'{"value":null,"unbiased":null,"standard_error":null,"low":-3.0,"high":0.0,"note":"too noisy to say"}'
    assert msgspec.json.encode(nobody.mean) == numbers
    assert (nobody.shares, nobody.open_equivalent, nobody.fake_influence) == ([], None, None)


def test_one_answer_gives_a_value_and_no_false_certainty() -> None:
    """One report gives a mean without standard error over the whole range, and a share with nearly any interval."""
    question, channel = ask("number", min=-2.3, max=10.1)
    size = channel.levels + channel.width - 1
    mean = estimate_question(alone(question, channel, [0] * (size - 1) + [1], 1)).mean
    assert mean is not None and mean.unbiased is not None and mean.unbiased > 10.1
    assert msgspec.structs.replace(mean, unbiased=None) == Mean(10.1, None, None, -2.3, 10.1, TOO_NOISY)
    question, channel = ask("yes_no")
    yes = share(estimate_question(alone(question, channel, [0, 1], 1)), "yes")
    assert (yes.estimate, yes.low, yes.high) == (1.0, 0.0, 1.0)
    assert yes.standard_error > 0.5
    question, channel = ask("scale", labels=list("abc"), mechanism="exponential")
    first = estimate_question(alone(question, channel, [1, 0, 0], 1)).shares[0]
    assert (first.standard_error, first.low, first.high) == (None, 0.0, 1.0)


def test_everyone_yes() -> None:
    """More yes than even all-yes answers would give is a share of 1, and no less sure than one standard error."""
    question, channel = ask("yes_no")
    result = estimate_question(alone(question, channel, [0, 1000], 1000))
    yes, no = result.shares
    assert (yes.estimate, yes.high, no.estimate, no.low) == (1.0, 1.0, 0.0, 0.0)
    assert yes.unbiased == pytest.approx(math.e / (math.e - 1))
    assert (1 - yes.low, no.high) == pytest.approx([math.sqrt(support(channel).v1 / 1000)] * 2)
    assert result.notes == []
    assert result.open_equivalent is None


def test_an_option_that_no_report_holds() -> None:
    """Its standard error is that of the channel where nobody chose it: sqrt(q(1-q)/n)/(p-q), not zero."""
    question, channel = ask("choice", 1, options=choices(5))
    assert isinstance(channel, Subset) and channel.size == 1
    n, rule = 40, support(channel)
    none = estimate_question(alone(question, channel, [0, 10, 10, 10, 10], n)).shares[0]
    assert none.standard_error == pytest.approx(math.sqrt(rule.q * (1 - rule.q) / n) / rule.gap)


def test_everyone_at_the_top() -> None:
    """A mean score beyond the range is the end of the range, with the interval of a sample that says so."""
    question, channel = ask("number", min=0, max=40)
    size = channel.levels + channel.width - 1
    mean = estimate_question(alone(question, channel, [0] * (size - 1) + [1000], 1000)).mean
    assert mean is not None and mean.standard_error is not None
    assert (mean.value, mean.high) == (40.0, 40.0)
    assert mean.low == pytest.approx(40 - stats.t.ppf(0.975, 999) * mean.standard_error)


def test_yes_comes_first_and_no_mirrors_it() -> None:
    """Shares read yes, no, declined; without declined, no is one minus yes, in its limits as well."""
    question, channel = ask("yes_no")
    result = estimate_question(alone(question, channel, [700, 300], 1000))
    yes, no = result.shares
    assert (yes.code, no.code) == ("yes", "no")
    assert (no.low, no.high) == pytest.approx((1 - yes.high, 1 - yes.low), abs=1e-14)
    assert yes.estimate < 0.2 < no.estimate
    question, channel = ask("yes_no", decline=True)
    result = estimate_question(alone(question, channel, [500, 300, 200], 1000))
    assert [entry.code for entry in result.shares] == ["yes", "no", "declined"]
    assert result.shares[0].unbiased > result.shares[1].unbiased > result.shares[2].unbiased


def test_interval_reaches_down_to_a_projected_estimate() -> None:
    """Where the projection takes a share below its own interval, the interval is widened to contain it."""
    question, channel = ask("choice", 4, options=choices(50))
    rule = support(channel)
    assert isinstance(channel, Subset) and channel.size == 1
    n = 1000
    # One option has nearly everything; half of the others came up often, half never.
    counts = [round(n * rule.p) - 12, *[7] * 24, *[0] * 25]
    counts[1] += n - sum(counts)
    own = share_of_support(rule, counts[0], n, Aim())
    first = estimate_question(alone(question, channel, counts, n)).shares[0]
    assert first.estimate == first.low < own.low
    assert first.high == own.high


@pytest.mark.parametrize("counts", [[1], [1, 2, 3], [2, 2], [-1, 4], [3, 0, 0]])
def test_counts_that_do_not_fit_are_refused(counts: list[int]) -> None:
    """Counts of another number of reports, or of another channel, are not estimated from."""
    question, channel = ask("yes_no")
    with pytest.raises(ValueError, match="not the 2 counts of 3 reports"):
        estimate_question(alone(question, channel, counts, 3))


@pytest.mark.parametrize("confidence", [0, 1, 95, math.nan])
def test_confidence_is_a_probability(confidence: float) -> None:
    """A confidence outside (0, 1), such as 95, is refused."""
    question, channel = ask("yes_no")
    with pytest.raises(ValueError, match="confidence"):
        estimate_question(alone(question, channel, [1, 1], 2), Aim(confidence=confidence))


# --- means and scores --------------------------------------------------------------------------------------------

LABELS = list("abcde")
MEANS = [
    ask("scale", "0.5", labels=LABELS, measure="mean"),
    ask("scale", 1, labels=LABELS, measure="mean", mechanism="krr"),
    ask("scale", 1, labels=LABELS, measure="mean", mechanism="exponential"),
    ask("number", 1, min=0, max=40),
    ask("number", 4, min=-2, max=1),
    ask("number", 1, min=0, max=40, mechanism="laplace"),
    ask("number", 4, min=0, max=40, mechanism="laplace"),
    ask("number", 1, min=0, max=40, mechanism="gaussian", delta=0.000001),
]


@pytest.mark.parametrize(("question", "channel"), MEANS)
def test_means_are_recovered(question: Any, channel: Any) -> None:
    """From exactly the expected counts comes exactly the true mean, in the question's own units."""
    m = channel.answers
    answers = [(3 * j * j + 1) % 7 for j in range(m)]
    counts, n = expected_counts(channel, answers)
    low, high = (1, m) if question.type == "scale" else (question.min, question.max)
    truth = sum(a * (low + (high - low) * j / (m - 1)) for j, a in enumerate(answers)) / sum(answers)
    result = estimate_question(alone(question, channel, counts, n))
    assert result.mean is not None
    assert result.mean.value == pytest.approx(truth, rel=1e-9)
    assert result.mean.low <= truth <= result.mean.high
    assert (result.shares, result.open_equivalent) == ([], None)


def test_exponential_shares_are_recovered() -> None:
    """From exactly the expected counts of an exponential scale come exactly the true shares."""
    question, channel = ask("scale", 1, labels=LABELS, mechanism="exponential")
    assert isinstance(channel, Table)
    counts, n = expected_counts(channel, [4, 3, 0, 2, 1])
    result = estimate_question(alone(question, channel, counts, n))
    assert [entry.estimate for entry in result.shares] == pytest.approx([0.4, 0.3, 0, 0.2, 0.1], abs=1e-6)


@pytest.mark.parametrize(("question", "channel"), MEANS)
def test_mean_interval_is_a_t_interval(question: Any, channel: Any) -> None:
    """Where the scores vary as much as they must, all numbers are those of scipy's t interval on the expanded data."""
    reports = list(channel.reports())
    rng = np.random.default_rng(6)
    answers = [1] * (channel.answers // 2) + [9] + [1] * (channel.answers - channel.answers // 2 - 1)
    expected, total = expected_counts(channel, answers)
    counts = rng.multinomial(4000, [count / total for count in expected])
    low, high = (1, channel.answers) if question.type == "scale" else (question.min, question.max)
    levels = [Fraction(low) + Fraction(high - low) * j / (channel.answers - 1) for j in range(channel.answers)]
    # In fractions: the decoding of a Gaussian is so steep that doubles would lose five digits here.
    scores = [float(sum(x * z for x, z in zip(levels, decode(channel, report), strict=True))) for report in reports]
    if isinstance(channel, Band):  # its scores are tuned instead; that they are unbiased is another test's claim
        scores = [low + (high - low) * score for score in mean_scores(channel, question.type == "number").values]
    data = np.repeat(scores, counts)
    least = mean_scores(channel, question.type == "number").least
    assert data.var(ddof=1) >= least * (high - low) ** 2, "so it is in this sample"
    mean = estimate_question(alone(question, channel, counts, 4000), Aim(confidence=0.9)).mean
    assert mean is not None
    limits = stats.t.interval(0.9, 3999, loc=data.mean(), scale=stats.sem(data))
    assert mean.value == pytest.approx(data.mean(), rel=1e-9)
    assert mean.standard_error == pytest.approx(stats.sem(data), rel=1e-9)
    if least >= CLEAR_ENOUGH:
        assert (mean.low, mean.high) == pytest.approx(np.clip(limits, low, high), rel=1e-9)
    else:  # a little wider, to make room for rare answers
        assert mean.low <= limits[0] < limits[1] <= mean.high
        assert mean.high - mean.low <= 1.03 * (limits[1] - limits[0])


@pytest.mark.parametrize(("epsilon", "n"), [(6, 30), (6, 300), (10, 100)])
def test_rare_answers_are_covered(epsilon: float, n: int) -> None:
    """A few at the other end and hardly any noise: 2,000 seeded samples cover at least 93%; plain t falls to 25%."""
    question, channel = ask("scale", epsilon, labels=LABELS, measure="mean")
    assert isinstance(channel, Band)
    rng = np.random.default_rng(4)
    table = np.array([[float(channel.probability(x, r)) for r in channel.reports()] for x in range(5)])
    for rare in (1 / n, 3 / n):
        chances = (1 - rare) * table[0] + rare * table[4]
        covered = 0
        for counts in rng.multinomial(n, chances, 2000):
            mean = estimate_question(alone(question, channel, counts.tolist(), n)).mean
            assert mean is not None
            covered += mean.low <= 1 + 4 * rare <= mean.high
        assert covered / 2000 >= 0.93


def test_simultaneous_intervals_of_many_options_are_exact() -> None:
    """Far out in the tails limits are Clopper and Pearson's: 50 options at 95% together miss no more than they may."""
    _, channel = ask("choice", 5, options=choices(50))
    assert isinstance(channel, Subset)
    rule, n, alpha = support(channel), 1975, 0.05 / 50
    weight = stats.binom.pmf(np.arange(n + 1), n, rule.q)
    likely = np.flatnonzero(weight > 1e-15)
    held = [y for y in likely if share_of_support(rule, int(y), n, Aim(1 - alpha)).low <= 1e-12]
    assert weight[held].sum() >= 1 - alpha


def test_scores_have_at_least_the_variance_of_the_channel() -> None:
    """Thirty reports at epsilon 4, of which 3% are of the rarer kind: covered, where a plain t interval is at 76%."""
    question, channel = ask("scale", 4, labels=["no", "yes"], measure="mean")
    rule, n, truth = support(channel), 30, 0.03
    weight = stats.binom.pmf(np.arange(n + 1), n, rule.q + truth * rule.gap)
    covered = plain = 0.0
    for y in range(n + 1):
        mean = estimate_question(alone(question, channel, [n - y, y], n)).mean
        assert mean is not None
        covered += weight[y] * (mean.low <= 1 + truth <= mean.high)
        error = math.sqrt(y / n * (1 - y / n) / (n - 1)) / rule.gap
        margin = stats.t.ppf(0.975, n - 1) * error
        plain += weight[y] * (abs((y / n - rule.q) / rule.gap - truth) <= margin)
    assert covered >= 0.95
    assert plain < 0.77


# --- what it is worth, and what a false submission does ----------------------------------------------------------


def test_open_equivalent() -> None:
    """The open answers with as much variance: n share(1-share) / (share(1-share) + V) for yes_no, rounded down."""
    question, channel = ask("yes_no")
    rule, n = support(channel), 12_000
    result = estimate_question(alone(question, channel, [n - round(n * 0.4), round(n * 0.4)], n))
    s, noise = result.shares[0].estimate, rule.p * rule.q / rule.gap**2
    assert result.open_equivalent == math.floor(n * s * (1 - s) / (s * (1 - s) + noise))


def test_open_equivalent_only_where_reports_tell_it() -> None:
    """Of 2,000 surveys with 1% yes none claims a number that is really 21 and would come out as 0 or 86. Where one is
    shown, at larger shares, it is nearly always within half of the truth.
    """
    question, channel = ask("yes_no")
    rule, n, random = support(channel), 2000, np.random.default_rng(3)
    for share_, expected in ((0.01, 0.0), (0.3, 0.99)):
        truth = n * share_ * (1 - share_) / (share_ * (1 - share_) + rule.p * rule.q / rule.gap**2)
        found = [
            estimate_question(alone(question, channel, [n - y, y], n)).open_equivalent
            for y in random.binomial(n, rule.q + share_ * rule.gap, 2000).tolist()
        ]
        near = [each is not None and abs(each - truth) < truth / 2 for each in found]
        assert sum(near) / 2000 >= expected
        assert sum(each is not None for each in found) - sum(near) <= 2000 * 0.001


def test_unbiased_numbers_add_up() -> None:
    """Means and summaries of rare answers are unbiased on average over 4,000 samples, where the possible ones are not:
    the bias of their mean is within 5 standard errors (false alarm: 10^-6), that of the possible ones beyond.
    """
    random = np.random.default_rng(8)
    number, channel = ask("number", min=0, max=40)
    table, n = table_of(channel), 300
    counts = random.multinomial(n, 0.98 * table[0] + 0.02 * table[-1], 4000)
    means = [estimate_question(alone(number, channel, row, n)).mean for row in counts.tolist()]
    _check_bias([(mean.value, mean.unbiased) for mean in means if mean is not None], 0.02 * 40)
    scale, subset = ask("scale", 1, labels=LABELS)
    assert isinstance(subset, Subset) and subset.size == 1
    counts = random.multinomial(n, table_of(subset)[2], 4000)
    summaries = [estimate_question(alone(scale, subset, row, n)).summaries or [] for row in counts.tolist()]
    _check_bias([(each[0].estimate, each[0].unbiased) for each in summaries], 0.0)


def _check_bias(pairs: list[tuple[Any, Any]], truth: float) -> None:
    possible, unbiased = np.array(pairs).T - truth
    error = unbiased.std() / math.sqrt(len(pairs))
    assert abs(unbiased.mean()) < 5 * error and possible.mean() > 5 * error


def test_fake_influence_of_yes_no() -> None:
    """At epsilon 1, one false submission in 12,000 moves a share by e/(e-1)/12,000: 0.00014, rounded up."""
    question, channel = ask("yes_no")
    influence = estimate_question(alone(question, channel, [8000, 4000], 12_000)).fake_influence
    assert influence is not None
    assert influence == pytest.approx(math.e / (math.e - 1) / 12_000, rel=1e-9)
    assert influence > (1 - support(channel).q) / support(channel).gap / 12_000
    assert math.ceil(influence * 1e5) / 1e5 == 0.00014
    drawn, parts = ask("multi_choice", options=choices(2))
    few = estimate_question(alone(drawn, parts, [8000, 3990, 4, 6], 12_000)).fake_influence
    assert few == pytest.approx(influence * 1200)  # ten reports are about the second option


@given(st.sampled_from([(3, "1"), (10, "1"), (10, "4"), (7, "0.1")]), st.integers(0, 2**32), st.booleans())
def test_no_false_submission_moves_more(shape: tuple[int, str], seed: int, sparse: bool) -> None:
    """Any report in place of what an honest one decodes to moves no share by more, before or after the projection."""
    question, channel = ask("choice", shape[1], options=choices(shape[0]))
    assert isinstance(channel, Subset)
    random, k, n = Random(seed), channel.options, 1000
    counts = [n * channel.size // k] * k
    counts[0] += n * channel.size - sum(counts)
    influence = estimate_question(alone(question, channel, counts, n)).fake_influence
    assert influence is not None
    before = [random.gauss(-5, 1) if sparse and random.random() < 0.6 else random.random() for _ in range(k)]
    answer, report = random.randrange(k), sum(1 << j for j in random.sample(range(k), channel.size))
    after = [
        u + (float(z) - (j == answer)) / n for j, (u, z) in enumerate(zip(before, decode(channel, report), strict=True))
    ]
    for one, other in ((before, after), (project(before), project(after))):
        assert max(abs(a - b) for a, b in zip(one, other, strict=True)) <= influence + 1e-12


def test_fake_influence_is_reached() -> None:
    """Options that are at zero absorb what others lose, and an estimate then moves by all of the influence."""
    question, channel = ask("choice", 1, options=choices(10))
    assert isinstance(channel, Subset) and channel.size == 3
    influence = estimate_question(alone(question, channel, [3000] * 10, 10_000)).fake_influence
    before = [0.25] * 4 + [-5.0] * 6
    changed = decode(channel, 0b1110)  # the false report keeps the three others above zero; option 0 was the truth
    after = [u + (float(z) - (j == 0)) / 10_000 for j, (u, z) in enumerate(zip(before, changed, strict=True))]
    assert project(before)[0] - project(after)[0] == pytest.approx(influence)


def test_mean_influence_is_in_units() -> None:
    """The most one false submission moves a mean is the widest score from the far end, in the question's units."""
    question, channel = ask("number", min=0, max=40)
    assert isinstance(channel, Band)
    size = channel.levels + channel.width - 1
    result = estimate_question(alone(question, channel, [10] * size, 10 * size))
    scores = [40 * score for score in mean_scores(channel, between=True).values]
    assert result.fake_influence == pytest.approx(max(max(scores), 40 - min(scores)) / (10 * size))


def test_exponential_influence_bounds_its_decoding() -> None:
    """For a table, too, no report is worth more than the influence says."""
    channel = exponential(4, Fraction(1))
    question, same = ask("scale", 1, labels=list("abcd"), mechanism="exponential")
    assert same == channel
    influence = estimate_question(alone(question, channel, [5, 5, 5, 5], 20)).fake_influence
    assert influence is not None
    decoded = [decode(channel, report) for report in channel.reports()]
    most = max(abs(z - (j == x)) for row in decoded for j, z in enumerate(row) for x in range(4))
    assert influence >= most / 20
