"""A design effect that is given: it multiplies the sampling of answers, never the noise, in every interval."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable_server.estimator import alone, estimate_question, share_of_support, support
from deniable_server.estimator.intervals import Aim, Rule, clopper_pearson, share_limits
from tests.helpers.surveys import ask


def rule_at(epsilon: float) -> Rule:
    return support(ask("yes_no", epsilon)[1])


@pytest.mark.parametrize(("epsilon", "least", "most"), [(0.1, 1.0, 1.02), (1, 1.1, 1.4), (10, 1.98, 2.0)])
def test_standard_error(epsilon: float, least: float, most: float) -> None:
    """deff times s(1-s), plus the noise as it is: a factor of nearly sqrt(deff) where there is little noise, or none
    worth mentioning where noise is nearly all.
    """
    rule, n, share, deff = rule_at(epsilon), 10_000, 0.4, 4.0
    y = n * (rule.q + share * rule.gap)
    plain, clustered = (share_of_support(rule, y, n, Aim(deff=each)) for each in (1.0, deff))
    assert clustered.standard_error == pytest.approx(
        math.sqrt((deff * share * (1 - share) + share * rule.v1 + (1 - share) * rule.v0) / n), rel=1e-9
    )
    assert plain.standard_error is not None and clustered.standard_error is not None
    assert least < clustered.standard_error / plain.standard_error < most
    assert least < (clustered.high - clustered.low) / (plain.high - plain.low) < most + 0.01


@given(st.sampled_from([0.5, 1, 4, 10]), st.integers(1, 400), st.data(), st.floats(1, 20), st.floats(1, 5))
def test_a_larger_one_never_makes_an_interval_narrower(
    epsilon: float, n: int, data: st.DataObject, deff: float, times: float
) -> None:
    """Also where a count is so small that its limits are those of binomial tails, which know no design."""
    rule, y = rule_at(epsilon), data.draw(st.integers(0, n))
    first, second = (share_of_support(rule, y, n, Aim(deff=each)) for each in (deff, deff * times))
    assert second.low <= first.low + 1e-9 and first.high <= second.high + 1e-9


def test_few_counts_are_those_of_fewer_reports() -> None:
    """Nobody of 100 in a sample with a design effect of 4: the limit is at least the exact one for nobody of 25."""
    rule = rule_at(10)
    assert share_limits(rule, 0, 100, Aim(deff=4.0))[1] >= (clopper_pearson(100 * rule.q / 4, 25, 0.05)[1] - rule.q)


@pytest.mark.parametrize("epsilon", [1, 4, 10])
@pytest.mark.parametrize("share", [0.03, 0.3])
def test_a_cluster_sample_is_covered(epsilon: float, share: float) -> None:
    """Of 10,000 seeded samples of 60 classes of 20, in which answers have an intra-class correlation of 0.1, the 95%
    interval with deff = 1 + 19 * 0.1 covers at least 94.5%; at epsilon 10, without it, fewer than 80%.
    """
    rule, rng, classes, each, rho = rule_at(epsilon), np.random.default_rng(16), 60, 20, 0.1
    n, spread = classes * each, 1 / rho - 1
    shares = rng.beta(share * spread, (1 - share) * spread, (10_000, classes))  # their variance is rho s(1-s)
    true = rng.binomial(each, shares).sum(axis=1)
    y, times = np.unique(rng.binomial(true, rule.p) + rng.binomial(n - true, rule.q), return_counts=True)

    def covered(deff: float) -> float:
        raw = [share_of_support(rule, int(count), n, Aim(deff=deff)) for count in y]
        return float(sum(m for m, one in zip(times, raw, strict=True) if one.low <= share <= one.high) / times.sum())

    assert covered(1 + (each - 1) * rho) >= 0.945
    if epsilon == 10:
        assert covered(1.0) < 0.8


@pytest.mark.parametrize(("epsilon", "least", "most"), [(0.1, 1.0, 1.05), (10, 1.9, 2.001)])
def test_means(epsilon: float, least: float, most: float) -> None:
    """Of a mean as of a share."""
    question, channel = ask("scale", epsilon, labels=list("abcde"), measure="mean")
    rng = np.random.default_rng(3)
    counts = rng.multinomial(20_000, [1 / channel.feature_count] * channel.feature_count).tolist()
    plain, clustered = (
        estimate_question(alone(question, channel, counts, 20_000), Aim(deff=d)).mean for d in (1.0, 4.0)
    )
    assert plain is not None and plain.standard_error is not None
    assert clustered is not None and clustered.standard_error is not None
    assert clustered.value == plain.value
    assert least <= clustered.standard_error / plain.standard_error < most
    assert clustered.low <= plain.low and plain.high <= clustered.high
