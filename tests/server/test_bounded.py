"""Limits from the test that knows that a share lies between 0 and 1: laws, and another way to the same numbers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from deniable_protocol.design import subset
from deniable_server.estimator.bounded import Binomial, Continuous, Mirrored, Skewed, highest
from deniable_server.estimator.evidence import binary_rule
from deniable_server.estimator.intervals import CLEAR, Aim, Rule, central_share, share_of_support, support

RULES = [support(subset(options, Fraction(epsilon))) for options in (2, 5, 12) for epsilon in ("0.3", "1", "4")]


class Normal(Continuous):
    """Of a normal count with the standard deviation 1 and the mean 10 * share."""

    n, is_exact, bottom, top = 10.0, False, 0.0, 10.0

    def below(self, y: float, share: float) -> float:
        return 10 * share - y

    def above(self, y: float, share: float) -> float:
        return y - 10 * share


def belt(mean: float, alpha: float) -> tuple[float, float]:
    """The counts that Feldman and Cousins accept: those of the largest likelihood ratio, up to 1 - alpha in sum."""
    y = np.arange(-20, 22, 0.001)
    ratio = stats.norm.logpdf(y, mean) - stats.norm.logpdf(y, np.clip(y, 0, 10))
    order = np.argsort(-ratio)
    total = np.cumsum(stats.norm.pdf(y[order], mean)) * 0.001
    kept = y[order[: np.searchsorted(total, 1 - alpha) + 1]]
    return float(kept.min()), float(kept.max())


@pytest.mark.parametrize("alpha", [0.1, 0.05, 0.01])
@pytest.mark.parametrize("mean", [0.2, 0.7, 1.5, 3.0, 5.0, 9.5])
def test_limits_are_feldman_and_cousins(mean: float, alpha: float) -> None:
    """For a normal count, the first and last one to accept a mean in their sorted belt have that mean as a limit."""
    first, last = belt(mean, alpha)
    start = min(max(first / 10, 0.0), 1.0)
    assert highest(Normal(), first, start, 1.0, alpha) * 10 == pytest.approx(mean, abs=0.005)
    start = min(max(1 - last / 10, 0.0), 1.0)
    assert 10 - highest(Mirrored(Normal()), 10 - last, start, 1.0, alpha) * 10 == pytest.approx(mean, abs=0.005)


@given(st.sampled_from(RULES), st.integers(1, 3000), st.floats(0, 1), st.floats(0.5, 0.999), st.booleans())
def test_intervals_obey_their_laws(rule: Rule, n: int, part: float, level: float, respondents: bool) -> None:
    """An interval has the possible estimate, more where more is to be sure, and rises with the count; it is in the
    central one, and at the ends no shorter than that or one standard error.
    """
    aim, surer = (Aim(each, n if respondents else None) for each in (level, (1 + level) / 2))
    y = round(part * n)
    raw, wider, more = (
        share_of_support(rule, count, n, each) for count, each in ((y, aim), (y, surer), (min(y + 1, n), aim))
    )
    assert 0 <= raw.low <= min(max(raw.unbiased, 0.0), 1.0) <= raw.high <= 1
    assert wider.low <= raw.low + 1e-12
    assert raw.high <= wider.high + 1e-12
    assert raw.low <= more.low + 1e-12
    assert raw.high <= more.high + 1e-12
    central = central_share(rule, y, n, aim)
    least = [min(math.sqrt(v / n), end) for v, end in ((rule.v0, central.high), (rule.v1, 1 - central.low))]
    assert raw.high >= least[0] - 1e-12
    assert 1 - raw.low >= least[1] - 1e-12
    if not respondents:
        assert central.low - 1e-12 <= raw.low
        assert raw.high <= central.high + 1e-12


@pytest.mark.parametrize(("epsilon", "true"), [("1", 0), ("1", 300), ("4", 0), ("4", 700), ("4", 180)])
def test_tails_by_four_moments_are_nearly_exact(epsilon: str, true: int) -> None:
    """Of 1,000 respondents, so many with the answer, tails from 20 to 0.1% are exact to 0.05 standard errors."""
    n, rule = 1000, support(subset(5, Fraction(epsilon)))
    mass = np.convolve(
        stats.binom.pmf(np.arange(true + 1), true, rule.p), stats.binom.pmf(np.arange(n - true + 1), n - true, rule.q)
    )
    at_most, tails = np.cumsum(mass), Skewed(rule, n, 0.0)
    for y in range(n):
        for exact, found in (
            (at_most[y], tails.below(y, true / n)),
            (1 - at_most[y], tails.above(y + 1, true / n)),
        ):
            if 0.001 < exact < 0.2:
                assert found == pytest.approx(stats.norm.isf(exact), abs=0.05)


def test_one_sample_of_one_person_each_is_binomial() -> None:
    """With f = 1 the tails by moments are those of the binomial, which are exact."""
    rule = support(subset(5, Fraction(1)))
    exact, nearly = Binomial(rule, 2000), Skewed(rule, 2000, 1.0)
    for y in (900, 950, 1000):
        for share in (0.2, 0.3, 0.5):
            if abs(exact.below(y, share)) < 4:
                assert nearly.below(y, share) == pytest.approx(exact.below(y, share), abs=2e-3)
                assert nearly.above(y, share) == pytest.approx(exact.above(y, share), abs=2e-3)


@pytest.mark.parametrize("aim", [Aim(), Aim(population=200), Aim(deff=2.5), Aim(0.9999, 2000, 2.5)])
@pytest.mark.parametrize("rule", [CLEAR, binary_rule(0.002, 0.04), binary_rule(6.0, 69.0)])
def test_supports_that_no_share_would_give_have_intervals_too(rule: Rule, aim: Aim) -> None:
    """Below 0 and above n, as pooled ones can be, and where all agree: from the end of the scale to a limit inside."""
    for y in (0.0, 200.0) if rule.counted else (-60.0, 0.0, 200.0, 260.0):
        raw = share_of_support(rule, y, 200.0, aim)
        assert (raw.low == 0.0) if y <= 0 else (raw.high == 1.0)
        assert raw.high - raw.low >= min(math.sqrt((rule.v0 if y <= 0 else rule.v1) / 200), 0.01) - 1e-9
