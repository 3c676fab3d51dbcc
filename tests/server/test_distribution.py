"""The distribution behind a number: the curve, its band, and how near to the truth it comes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import msgspec
import numpy as np
import pytest
from scipy.optimize import minimize

from deniable_protocol.design import LEVELS, band
from deniable_server.estimator import alone, estimate_question
from deniable_server.estimator.distribution import _fit, likely_distribution
from deniable_server.estimator.intervals import Aim
from deniable_server.estimator.scores import table_of
from tests.helpers.surveys import ask


def test_distribution_finds_the_shape() -> None:
    """From reports in exact proportion comes the true curve, in the question's units; the band has it all over."""
    question, channel = ask("number", 2, min=0, max=8)
    at = np.linspace(0, 8, 49)
    shares = 0.7 * np.exp(-(((at - 2) / 1.2) ** 2)) + 0.3 * np.exp(-(((at - 5.5) / 0.8) ** 2))
    shares /= shares.sum()
    counts = np.round(10**7 * shares @ table_of(channel)).astype(int)
    curve = estimate_question(alone(question, channel, counts, int(counts.sum())), distribution=True).distribution
    assert curve
    assert [point.at for point in curve] == pytest.approx(at)
    assert [point.share for point in curve] == pytest.approx(shares, abs=0.003)
    assert [point.up_to for point in curve] == pytest.approx(np.cumsum(shares), abs=0.003)
    inside = [p.low - 1e-12 <= truth <= p.high + 1e-12 for p, truth in zip(curve, np.cumsum(shares), strict=True)]
    assert all(inside), inside
    assert max(point.high - point.low for point in curve) < 0.02


def test_distribution_is_the_penalised_maximum() -> None:
    """With one penalty, an optimiser that knows nothing of scoring finds the same curve; its evidence and
    its variances are those of the normal at the top.
    """
    channel = band(9, Fraction(2))
    table = table_of(channel)
    counts = np.random.default_rng(11).multinomial(3000, np.array([0.1] * 4 + [0.3] * 2 + [0.0] * 3) @ table)
    bends = np.diff(np.eye(9), 2, axis=0)
    penalty = bends.T @ bends + 0.1 * np.eye(9)

    def lost(logs: Any) -> float:
        shares = np.exp(logs) / np.exp(logs).sum()
        return float(-counts @ np.log(shares @ table) + logs @ penalty @ logs / 2)

    _, fit = _fit(table, counts, penalty, np.zeros(9))
    other = minimize(lost, np.zeros(9), options={"gtol": 1e-6})
    expected = np.exp(other.x) / np.exp(other.x).sum()
    assert fit.shares == pytest.approx(expected, abs=1e-3)
    # The curvature that the reports show is the expected one, but for chance.
    chances = expected @ table
    slope = (table - chances) * expected[:, None]
    curvature = penalty + 3000 * np.einsum("iy,jy,y->ij", slope, slope, 1 / chances)
    evidence = -other.fun + (np.linalg.slogdet(penalty)[1] - np.linalg.slogdet(curvature)[1]) / 2
    assert fit.evidence == pytest.approx(evidence, abs=0.01)
    sums = np.cumsum(np.diag(expected) - np.outer(expected, expected), axis=0)
    assert fit.variances == pytest.approx(np.diag(sums @ np.linalg.inv(curvature) @ sums.T), rel=0.02, abs=1e-12)


@pytest.mark.parametrize("epsilon", ["0.5", "2", "8"])
def test_the_band_of_a_distribution_covers(epsilon: str) -> None:
    """Over 20 surveys of 2,000 each, the cumulative shares of a skewed truth with a peak at 0 lie in the 95% band in
    at least 93% of all values and surveys. A design effect widens it.
    """
    channel = band(LEVELS, Fraction(epsilon))
    shares = 0.8 * np.exp(-np.arange(49) / 6)
    shares = 0.2 * np.eye(49)[0] + 0.8 * shares / shares.sum()
    truth = np.cumsum(shares)[:-1]
    inside = []
    for counts in np.random.default_rng(5).multinomial(2000, shares @ table_of(channel), size=20):
        points = likely_distribution(channel, counts.tolist(), 0.0, 48.0)[:-1]
        inside += [point.low <= value <= point.high for point, value in zip(points, truth, strict=True)]
        assert min(point.low for point in points) >= 0 and max(point.high for point in points) <= 1
    assert np.mean(inside) >= 0.93
    wider = likely_distribution(channel, counts.tolist(), 0.0, 48.0, Aim(deff=2.0))
    assert wider[10].high - wider[10].low > 1.2 * (points[10].high - points[10].low)


def test_the_distribution_is_nearer_than_that_of_nine_levels() -> None:
    """Incomes, counts and ages of 10,000 people at epsilon 2: on average at least 1.4 times nearer to the truth
    (Wasserstein-1) than the likeliest distribution on nine levels in bands of four, which EM finds.
    """
    people = np.random.default_rng(8)
    incomes = people.lognormal(-2, 0.8, 50_000)
    counts = people.negative_binomial(0.6, 0.6 / 3.6, 50_000) / 77
    ages = people.beta(1.4, 2.2, 50_000)
    ratios = []
    for seed, values in enumerate((incomes.clip(0, 1), counts.clip(0, 1), ages) * 3):
        rng = np.random.default_rng(seed)
        coarse, fine = band(9, Fraction(2), 4), band(LEVELS, Fraction(2))
        table, shares = table_of(coarse), np.full(9, 1 / 9)
        seen = rng.multinomial(10_000, rounded(values, 9) @ table)
        for _ in range(1_000):
            shares *= table @ (seen / (shares @ table)) / 10_000
        seen = rng.multinomial(10_000, rounded(values, LEVELS) @ table_of(fine))
        found = likely_distribution(fine, seen.tolist(), 0.0, 1.0)
        ratios.append(far(values, shares) / far(values, np.array([point.share for point in found])))
    assert np.mean(ratios) >= 1.4


def rounded(values: Any, levels: int) -> Any:
    """The shares of values that are rounded at random to evenly spaced levels."""
    low, part = np.divmod(values * (levels - 1), 1)
    return (np.bincount(low.astype(int), 1 - part, levels + 1) + np.bincount(low.astype(int) + 1, part, levels + 1))[
        :levels
    ] / len(values)


def far(values: Any, shares: Any) -> float:
    """Wasserstein-1, with each share spread evenly over the values that are nearest to its level."""
    grid = np.linspace(0, 1, 2001)
    edges = np.concatenate([[0], (np.arange(len(shares) - 1) + 0.5) / (len(shares) - 1), [1]])
    truth = np.searchsorted(np.sort(values), grid, side="right") / len(values)
    return float(np.abs(np.interp(grid, edges, np.append(0, np.cumsum(shares))) - truth).mean())


def test_no_distribution_where_none_was_asked_for() -> None:
    """Only number questions with a mean have a distribution, and only on request."""
    question, channel = ask("number", 1, min=0, max=8)
    assert estimate_question(alone(question, channel, [1] * 96, 96)).distribution is msgspec.UNSET
    question, channel = ask("yes_no", 1)
    assert estimate_question(alone(question, channel, [1, 1], 2), distribution=True).distribution is msgspec.UNSET
    question, channel = ask("number", 1, min=0, max=8)
    assert estimate_question(alone(question, channel, [0] * 96, 0), distribution=True).distribution == []
