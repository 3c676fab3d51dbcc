"""Intervals for finite populations and for the respondents themselves; scale summaries; what a reader is told first."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from deniable_protocol import Band, Subset, Table, decode
from deniable_protocol.design import LEVELS, band, subset
from deniable_protocol.tables import exponential
from deniable_server.estimator import (
    TOO_NOISY,
    alone,
    estimate_question,
    share_of_support,
    support,
)
from deniable_server.estimator.finite import Finite, finite_limits
from deniable_server.estimator.intervals import Aim, Rule, joint_support
from deniable_server.estimator.scores import mean_scores, score_mean, table_of, worst_variance
from tests.helpers.sampling import sampled
from tests.helpers.surveys import ask


def sums(rule: Rule, m: int, n: int) -> Any:
    """The exact distribution of the support of n reports, m of them of people for whom it is true."""
    true, false = (stats.binom.pmf(np.arange(k + 1), k, rate) for k, rate in ((m, rule.p), (n - m, rule.q)))
    return np.convolve(true, false)


# --- the respondents themselves --------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", ["0.1", "1", "4", "8"])
@pytest.mark.parametrize("n", [30, 1000])
@pytest.mark.parametrize("options", [2, 6])
def test_respondents_are_covered(epsilon: str, n: int, options: int) -> None:
    """The interval for the respondents contains their share with at least 94.8%, summed exactly over both binomials."""
    rule = support(subset(options, Fraction(epsilon)))
    chances = {m: sums(rule, m, n) for m in {0, 1, n // 20, n // 3, n // 2, n - 1, n}}
    covered = dict.fromkeys(chances, 0.0)
    # What hardly ever comes is left out, as if not covered: together less than a millionth of the probability.
    for y in np.flatnonzero(np.max([*chances.values()], axis=0) > 1e-9).tolist():
        low, high = share_of_support(rule, y, n, Aim(population=n))[2:]
        for m, chance in chances.items():
            covered[m] += chance[y] * (low <= m / n + 1e-9 and m / n - 1e-9 <= high)
    assert min(covered.values()) >= 0.948, covered


@pytest.mark.parametrize(
    ("epsilon", "n", "population"), [("1", 100, 150), ("4", 100, 150), ("4", 30, 40), ("0.5", 60, 500)]
)
def test_a_finite_population_is_covered(epsilon: str, n: int, population: int) -> None:
    """So it does for a population from which n were drawn: summed over who was drawn, and over the noise."""
    rule = support(band(2, Fraction(epsilon)))
    assert Aim(population=population).sampling(n) == pytest.approx((population - n) / (population - 1))
    limits = np.array([share_of_support(rule, y, n, Aim(population=population))[2:] for y in range(n + 1)])
    for true in {0, 1, population // 20, population // 3, population // 2, population}:
        truth = true / population
        chances = stats.hypergeom.pmf(np.arange(n + 1), population, true, n)
        weight = sum(chance * sums(rule, m, n) for m, chance in enumerate(chances) if chance > 1e-15)
        held = (limits[:, 0] <= truth + 1e-9) & (truth - 1e-9 <= limits[:, 1])
        assert weight[held].sum() >= 0.948


def test_the_respondents_variance_is_the_noise() -> None:
    """For yes_no the standard error about the respondents is sqrt(V/n), V = e^epsilon/(e^epsilon - 1)^2."""
    question, channel = ask("yes_no", 1)
    n = 12_000
    yes = estimate_question(alone(question, channel, [8000, 4000], n), Aim(population=n)).shares[0]
    noise = math.e / (math.e - 1) ** 2
    assert yes.standard_error == pytest.approx(math.sqrt(noise / n), rel=1e-9)
    # The variance does not depend on the share: the limits are as far apart as plain ones, continuity corrected.
    rule = support(channel)  # type: ignore[arg-type]
    margin = stats.norm.ppf(0.975) * yes.standard_error + 0.5 / n / rule.gap
    assert yes.high - yes.low == pytest.approx(2 * margin, rel=1e-4)
    # Exactly: with so many true ones, 4,000 noisy ones or more (fewer) have 2.5%. One person changes that by 0.02%.
    for limit, first, last in ((yes.low, 4000, n), (yes.high, 0, 4000)):
        true, m = round(limit * n), np.arange(n + 1)
        others = stats.binom(n - true, rule.q)
        tail = stats.binom.pmf(m, true, rule.p) @ (others.cdf(last - m) - others.cdf(first - m - 1))
        assert tail == pytest.approx(0.025, abs=2e-4)


@given(st.integers(1, 3000), st.floats(0, 1), st.sampled_from(["0.3", "1", "3", "7"]), st.sampled_from([2, 5]))
def test_knowing_more_of_the_population_never_widens(n: int, part: float, epsilon: str, options: int) -> None:
    """From a boundless population over a finite one to the respondents themselves, intervals only get narrower."""
    rule, y = support(subset(options, Fraction(epsilon))), round(part * n)
    widths = []
    for population in (None, 2 * n, n):
        raw = share_of_support(rule, y, n, Aim(population=population))
        assert 0 <= raw.low <= raw.high <= 1
        widths.append(raw.high - raw.low)
    # Exact limits for respondents are among 0/n ... n/n, and so up to a step wider.
    assert widths[0] + 1e-9 >= widths[1] - 1 / n and widths[1] + 1e-9 >= widths[2] - 1 / n


def test_exact_respondent_limits_against_plain_sums() -> None:
    """The bisection finds what going through every possible number of true answers finds."""
    rule = support(band(2, Fraction(5)))
    n = 40
    for y in range(n + 1):
        tails = [(sums(rule, m, n)[y:].sum(), sums(rule, m, n)[: y + 1].sum()) for m in range(n + 1)]
        possible = [m for m, (above, below) in enumerate(tails) if above > 0.025 and below > 0.025]
        if possible:
            assert finite_limits(Finite(rule, n, n), y, 0.05) == (min(possible) / n, max(possible) / n)


@pytest.mark.parametrize("kind", ["scale", "number"])
def test_the_mean_of_the_respondents(kind: str) -> None:
    """Its standard error is that of the noise: below the population's, and never below the least noise there is."""
    own = {"labels": list("abcde"), "measure": "mean"} if kind == "scale" else {"min": 0, "max": 4}
    question, channel = ask(kind, 4, **own)
    assert isinstance(channel, Band)
    rng = np.random.default_rng(3)
    answers = rng.choice([0, channel.levels - 1], 5000)  # as much spread among people as there can be
    table = table_of(channel)
    counts = sum(rng.multinomial((answers == x).sum(), table[x]) for x in (0, channel.levels - 1))
    whole = estimate_question(alone(question, channel, counts, 5000)).mean
    own_mean = estimate_question(alone(question, channel, counts, 5000), Aim(population=5000)).mean
    assert whole is not None and own_mean is not None and own_mean.standard_error and whole.standard_error
    truth = 4 * answers.mean() / (channel.levels - 1) + (kind == "scale")
    least = 4 * math.sqrt(mean_scores(channel, kind == "number").least / 5000)
    assert least <= own_mean.standard_error < whole.standard_error / 2
    assert abs(own_mean.value - truth) < 6 * own_mean.standard_error  # type: ignore[operator]


# --- minimax scores --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("epsilon", "mark"), [("0.5", 16.005), ("1", 4.017), ("2", 0.9425), ("4", 0.1425)])
def test_band_scores_reach_the_tuned_worst_case(epsilon: str, mark: float) -> None:
    """On [-1, 1], values between levels included, the worst variance is that of the least favourable distribution."""
    _, channel = ask("number", float(epsilon), min=0, max=1)
    assert 4 * worst_variance(channel, between=True) <= mark
    scores = np.array(mean_scores(channel, between=True).values)
    levels = np.linspace(0, 1, channel.answers)
    assert table_of(channel) @ scores == pytest.approx(levels, abs=1e-12)
    # Independently of the code that tunes: the variance at a fine grid of values, each rounded at random.
    moments = table_of(channel) @ scores**2
    values = np.linspace(0, 1, 2001)
    assert 4 * np.max(np.interp(values, levels, moments) - values**2) <= mark


@pytest.mark.parametrize("epsilon", ["0.01", "0.5", "1", "1.69", "1.7", "3.2", "4", "4.39", "4.4", "5.4", "7.5", "10"])
def test_the_shape_of_a_number_costs_its_mean_next_to_nothing(epsilon: str) -> None:
    """49 levels, in bands of the stated widths, give a mean whose worst variance is at most 3% above the one from few
    levels in the bands that are best for it: 9, and 17 from epsilon 4 on.
    """
    exact = Fraction(epsilon)
    levels = 17 if exact >= 4 else 9
    few = min(worst_variance(band(levels, exact, width), between=True) for width in range(1, levels))
    many = band(LEVELS, exact)
    assert worst_variance(many, between=True) <= 1.03 * few


# --- scale summaries -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("options", "size"), [(5, 1), (5, 2), (6, 3), (11, 4)])
@pytest.mark.parametrize("wanted", [1, 2, 3])
def test_support_of_several_options(options: int, size: int, wanted: int) -> None:
    """Mean and variance of how many of the options a report contains are those of all its reports, enumerated."""
    channel = subset(options, Fraction(1), size=size)
    rule = joint_support(channel, wanted)
    held = [report & ((1 << wanted) - 1) for report in channel.reports()]
    numbers = np.array([bits.bit_count() for bits in held])
    for answer, mean, spread in ((0, rule.p, rule.v1), (options - 1, rule.q, rule.v0)):
        chances = np.array([float(channel.probability(answer, report)) for report in channel.reports()])
        assert chances @ numbers == pytest.approx(mean)
        assert (chances @ numbers**2 - mean**2) / rule.gap**2 == pytest.approx(spread)


@pytest.mark.parametrize("mechanism", [None, "krr", "exponential"])
@pytest.mark.parametrize("labels", [5, 11])
def test_summaries_are_those_of_the_shares(mechanism: str | None, labels: int) -> None:
    """From reports in exact proportion come the exact top two, bottom two and net score, each in its interval."""
    own = {"mechanism": mechanism} if mechanism else {}
    question, channel = ask("scale", 2, labels=[f"l{i}" for i in range(labels)], **own)
    assert isinstance(channel, Subset | Table)
    shares = np.arange(1, labels + 1) / (labels * (labels + 1) / 2)
    n = 10**6
    reports = [*channel.reports()]
    chances = shares @ np.array([[float(channel.probability(x, r)) for r in reports] for x in range(labels)])
    if isinstance(channel, Subset):
        counts = [round(n * sum(c for c, r in zip(chances, reports, strict=True) if r >> j & 1)) for j in range(labels)]
        counts[0] += n * channel.size - sum(counts)
    else:
        counts = [round(n * c) for c in chances]
        counts[0] += n - sum(counts)
    summaries = {s.id: s for s in estimate_question(alone(question, channel, counts, n)).summaries}  # type: ignore[union-attr]
    low = 7 if labels == 11 else 2
    truth = {
        "top_two": shares[-2:].sum(), "bottom_seven" if low == 7 else "bottom_two": shares[:low].sum(),
        "net_score": shares[-2:].sum() - shares[:low].sum(),
    }  # fmt: skip
    for name, value in truth.items():
        summary = summaries[name]
        assert summary.estimate == pytest.approx(value, abs=1e-4)
        assert summary.low < value < summary.high
    assert summaries["net_score"].minus == [str(point) for point in range(1, low + 1)]


def enumerate_reports(channel: Subset, shares: Any, n: int) -> list[tuple[float, list[int]]]:
    """Every composition of n reports with its multinomial probability."""
    reports = [*channel.reports()]
    chances = shares @ np.array([[float(channel.probability(x, r)) for r in reports] for x in range(channel.options)])
    found = []
    for bars in itertools.combinations(range(n + len(reports) - 1), len(reports) - 1):
        edges = (-1, *bars, n + len(reports) - 1)
        numbers = [b - a - 1 for a, b in itertools.pairwise(edges)]
        weight = float(stats.multinomial.pmf(numbers, n, chances))
        found.append((weight, [sum(c for c, r in zip(numbers, reports, strict=True) if r >> j & 1) for j in range(4)]))
    return found


@pytest.mark.parametrize(("epsilon", "n"), [(1, 8), (3, 8)])
def test_summaries_are_covered(epsilon: float, n: int) -> None:
    """Even for a handful of reports the intervals contain the truth with at least 95%, summed over all outcomes."""
    question, channel = ask("scale", epsilon, labels=list("abcd"))
    assert isinstance(channel, Subset)
    for shares in (np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.0, 0.0, 0.0, 1.0]), np.array([0.5, 0.0, 0.0, 0.5])):
        truth = {"top_two": shares[2:].sum(), "net_score": shares[2:].sum() - shares[:2].sum()}
        covered = dict.fromkeys(truth, 0.0)
        for weight, counts in enumerate_reports(channel, shares, n):
            for summary in estimate_question(alone(question, channel, counts, n)).summaries or ():
                if summary.id in truth:
                    covered[summary.id] += weight * (summary.low - 1e-9 <= truth[summary.id] <= summary.high + 1e-9)
        assert min(covered.values()) >= 0.95, covered


@pytest.mark.grid
@pytest.mark.parametrize(("labels", "epsilon"), sampled([(4, 0.5), (6, 0.3), (11, 0.5), (11, 1), (11, 2)], 3))
def test_summaries_are_covered_where_a_report_holds_several_points(labels: int, epsilon: float) -> None:
    """Over 400 seeded samples of 2,000 each summary covers at least 92% (95% less 2.7 errors), at the ends too."""
    question, channel = ask("scale", epsilon, labels=[f"l{i}" for i in range(labels)])
    assert isinstance(channel, Subset)
    reports = [*channel.reports()]
    bits = np.array([[report >> j & 1 for j in range(labels)] for report in reports])
    table = np.array([[float(channel.probability(x, r)) for r in reports] for x in range(labels)])
    rng = np.random.default_rng(6)
    for shares in (np.eye(labels)[0], np.eye(labels)[-1], np.full(labels, 1 / labels), np.eye(labels)[[0, -1]].mean(0)):
        low = 7 if labels == 11 else 2
        truth = [shares[-2:].sum(), shares[:low].sum(), shares[-2:].sum() - shares[:low].sum()]
        covered = np.zeros(3)
        for numbers in rng.multinomial(2000, shares @ table, 400):
            summaries = estimate_question(alone(question, channel, (numbers @ bits).tolist(), 2000)).summaries
            covered += [s.low - 1e-9 <= t <= s.high + 1e-9 for s, t in zip(summaries, truth, strict=True)]  # type: ignore[arg-type]
        assert (covered / 400).min() >= 0.92, covered


def test_a_population_never_widens_what_everyone_says() -> None:
    """All yes at little noise: knowing the size of the population narrows the interval."""
    for epsilon, n in (("8", 12), ("4", 30)):
        rule = support(band(2, Fraction(epsilon)))
        boundless, finite = share_of_support(rule, n, n, Aim()), share_of_support(rule, n, n, Aim(population=10**6))
        assert finite.low >= boundless.low - 1e-4


def test_short_scales_have_no_summaries() -> None:
    """On three points the top two and the bottom two overlap: nothing is claimed."""
    question, channel = ask("scale", 1, labels=list("abc"))
    assert estimate_question(alone(question, channel, [10, 10, 10], 30)).summaries == []


# --- what a reader is told first -------------------------------------------------------------------------------------


def test_too_noisy_to_say() -> None:
    """An interval over more than half of what is possible says so, for shares and for means."""
    question, channel = ask("yes_no", 0.1)
    result = estimate_question(alone(question, channel, [100, 100], 200))
    assert result.notes == [TOO_NOISY] and result.shares[0].note == TOO_NOISY
    question, channel = ask("yes_no", 2)
    sure = estimate_question(alone(question, channel, [100, 100], 200))
    assert sure.notes == [] and sure.shares[0].note is msgspec.UNSET
    question, channel = ask("number", 0.5, min=10, max=20)
    mean = estimate_question(alone(question, channel, [2] * 96, 192)).mean
    assert mean is not None and mean.note == TOO_NOISY


# --- textbook channels ------------------------------------------------------------------------------------------------


def test_table_scores_estimate_their_own_noise() -> None:
    """The mean of a score's noise score is its variance given the answers, exactly."""
    channel = exponential(5, Fraction(2))
    scores = mean_scores(channel)
    table = table_of(channel)
    centres = table @ np.array(scores.values)
    for x in range(5):
        spread = table[x] @ (np.array(scores.values) - centres[x]) ** 2
        assert table[x] @ np.array(scores.noise) == pytest.approx(spread)
        assert scores.least - 1e-12 <= spread <= scores.most + 1e-12
        exact = sum(Fraction(int(channel.weights[x][y])) * decode(channel, y)[x] for y in range(5)) / 2**53
        assert exact == 1
    counts = [300, 300, 200, 100, 100]
    whole, own = (score_mean(scores, counts, 1000, Aim(population=people)).raw(Aim()) for people in (None, 1000))
    assert own.standard_error is not None and whole.standard_error is not None
    assert own.standard_error <= whole.standard_error
