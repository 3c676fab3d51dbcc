"""Curves of numbers: cumulative shares with a band for all values at once, and how far two of them are apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from deniable_protocol import Channel, Question
from deniable_server.estimator import Evidence, alone, estimate_question
from deniable_server.estimator.curves import cumulative, curve, distance, largest
from deniable_server.estimator.intervals import Aim
from tests.helpers.surveys import ask

Array = npt.NDArray[np.float64]
SAMPLES = 200
BINS = {"min": 0, "max": 50, "measure": "shares", "bins": [5, 10, 15, 20, 30]}
KINDS: list[tuple[int, dict[str, Any]]] = [(2, BINS), (2, {**BINS, "decline": True}), (2, {"min": 0, "max": 100})]


def sampler(question: Question, channel: Channel, seed: int) -> Callable[[Array, int], Evidence]:
    reports, random = [*channel.reports()], np.random.default_rng(seed)
    law = np.array([[float(channel.probability(x, r)) for r in reports] for x in range(channel.answers)])
    held = np.array([[r >> j & 1 for j in range(channel.answers)] for r in reports])

    def draw(shares: Array, n: int) -> Evidence:
        counts = random.multinomial(n, shares @ law)
        return alone(question, channel, (counts if channel.held is None else counts @ held).tolist(), n)

    return draw


def truth_of(question: Question, shares: Array, at: Array) -> Array:
    """The shares below these values."""
    if question.asks_mean:
        levels = np.linspace(*question.range, len(shares))
        return np.array([shares[levels < value].sum() for value in at])
    kept = shares[:-1] / shares[:-1].sum() if question.decline else shares
    return np.cumsum(kept)[:-1]


@pytest.mark.parametrize(("epsilon", "own"), KINDS)
def test_the_band_has_the_whole_curve(epsilon: int, own: dict[str, Any]) -> None:
    """Of 200 seeded surveys the 95% band contains the curve at all values at once in at least 91%, the interval of the
    distance to another group contains the true one at least as often, and equal groups are told apart in at most 9%.
    """
    question, channel = ask("number", epsilon, **own)
    random, draw = np.random.default_rng(1), sampler(question, channel, 2)
    shares, other = random.dirichlet(np.full(channel.answers, 2.0), 2)
    whole = near = told = 0
    for _ in range(SAMPLES):
        one, two, same = draw(shares, 3_000), draw(other, 3_000), draw(shares, 3_000)
        points = curve(one, Aim())
        at = np.array([point.at for point in points])
        truth, others = truth_of(question, shares, at), truth_of(question, other, at)
        whole += all(p.low - 1e-12 <= share <= p.high + 1e-12 for p, share in zip(points, truth, strict=True))
        apart = distance(("a", one), ("b", two), Aim())
        near += apart.low <= float(np.max(np.abs(truth - others))) <= apart.high
        p_value = distance(("a", one), ("b", same), Aim()).p_value
        told += p_value is not None and p_value < 0.05
    assert min(whole, near) >= 0.91 * SAMPLES and told <= 0.09 * SAMPLES


def test_a_curve_is_the_sum_of_shares() -> None:
    """Below an edge are all bins up to it, as the estimates have them; it rises, and so do its limits."""
    question, channel = ask("number", 2, **BINS)
    evidence = sampler(question, channel, 3)(np.array([0.1, 0.2, 0.2, 0.2, 0.2, 0.1]), 3_000)
    found = estimate_question(evidence, distribution=True)
    assert found.curve and [point.at for point in found.curve] == [5, 10, 15, 20, 30]
    assert [point.below for point in found.curve] == pytest.approx(np.cumsum([s.estimate for s in found.shares])[:-1])
    for name in ("below", "low", "high"):
        assert np.all(np.diff([getattr(point, name) for point in found.curve]) >= 0)
    first = found.curve[0]  # of a single bin, the error is that of its share at the possible shares
    assert first.standard_error == pytest.approx(found.shares[0].standard_error, rel=0.02)


def test_the_quantile_of_the_largest_error() -> None:
    """Independent errors have the quantile of Šidák, one error that of the normal; many looks take Bonferroni's."""
    assert largest(np.eye(6), 1000, Aim()) == pytest.approx(-stats.norm.ppf((1 - 0.95 ** (1 / 6)) / 2), abs=0.03)
    assert largest(np.ones((6, 6)), 1000, Aim()) == pytest.approx(1.96, abs=0.03)
    assert largest(np.eye(6), 1000, Aim(anytime=True)) > 3


def test_without_noise_the_distance_is_that_of_scipy() -> None:
    """At a large epsilon the distance is the two-sample statistic of Kolmogorov and Smirnov."""
    question, channel = ask("number", 10, **BINS)
    draw, bins = sampler(question, channel, 4), np.arange(6)
    one, two = draw(np.full(6, 1 / 6), 2_000), draw(np.array([0.3, 0.2, 0.2, 0.1, 0.1, 0.1]), 2_000)
    counts = [np.rint(np.array(cumulative(each, Aim()).unbiased) * 2_000) for each in (one, two)]  # type: ignore[union-attr]
    samples = [np.repeat(bins, np.diff(np.concatenate([[0], each, [2_000]])).astype(int)) for each in counts]
    assert distance(("a", one), ("b", two), Aim()).estimate == pytest.approx(
        stats.ks_2samp(*samples).statistic, abs=1e-3
    )


def test_nothing_is_known_of_nobody() -> None:
    """Without reports there is no curve, and any distance is possible."""
    question, channel = ask("number", 2, **BINS)
    nobody = alone(question, channel, [0] * channel.answers, 0)
    assert curve(nobody, Aim()) == []
    found = distance(("a", nobody), ("b", nobody), Aim())
    assert (found.estimate, found.low, found.high, found.p_value) == (None, 0.0, 1.0, None)


def test_the_curve_of_a_mean_is_near_the_truth() -> None:
    """Over 40 seeded surveys of 3,000 at epsilon 2, of answers that are mostly low, the curve is never far off on
    average: its bias is at most 0.02, and its error at most that of the unbiased sums.
    """
    question, channel = ask("number", 2, min=0, max=40)
    shares = np.asarray(stats.beta(2, 5).pdf((np.arange(channel.answers) + 0.5) / channel.answers))
    draw, errors = sampler(question, channel, 3), []
    for _ in range(40):
        found = cumulative(draw(shares / shares.sum(), 3_000), Aim())
        assert found is not None
        truth = truth_of(question, shares / shares.sum(), found.at)
        errors.append((found.below - truth, found.unbiased - truth))
    mean, spread = np.mean(errors, axis=(0, 2)), np.mean(np.square(errors), axis=(0, 2))
    assert abs(mean[0]) < 0.02 and spread[0] < spread[1]


@pytest.mark.parametrize("epsilon", [0.1, 1, 8])
@pytest.mark.parametrize("population", [None, 40])
def test_reports_that_hardly_differ_have_a_band(epsilon: float, population: int | None) -> None:
    """Equal reports, or a few, show no spread, and rounding errors must not make it negative: every standard error is
    above 0, and every limit a share on its side of the curve. Whole populations too.
    """
    question, channel = ask("number", epsilon, min=28268.377167399507, max=28269)
    for n, kinds in ((1, 1), (40, 1), (40, 2), (40, 5)):
        counts = np.zeros(channel.feature_count, dtype=int)
        for place in range(n):
            counts[(7 * (place % kinds)) % len(counts)] += 1
        for point in curve(alone(question, channel, counts.tolist(), n), Aim(population=population)):
            assert point.standard_error > 0 and 0 <= point.low <= point.below <= point.high <= 1
