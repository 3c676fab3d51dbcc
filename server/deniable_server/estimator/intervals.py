"""Intervals for a share, from a count whose rate is linear in it.

One form serves all. Reports give a count whose expectation is q where the answer is another and p where it is the
one, so that the rate is q + share * (p - q). Per report the unbiased share (rate - q)/(p - q) has the variance

    V(s) = f * s(1 - s)  +  s * v1 + (1 - s) * v0,

the sampling of respondents plus the noise of the channel. f = 1 for the population that respondents were drawn from,
(M - n)/(M - 1) for one of M people, 0 for the respondents themselves.

[1] Wilson 1927, J. Am. Stat. Assoc. 22.  [2] Clopper and Pearson 1934, Biometrika 26.  [3] Ye and Barg 2018, IEEE
Trans. Inf. Theory 64.  [4] Cochran 1977, Sampling Techniques.  [5] Zou and Donner 2008, Statistics in Medicine 27.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import bdtr, betaincinv, ndtri

from deniable_protocol import Band, N, Subset

FEW = 10
"""Below this many expected reports of the rarer kind, exact limits take the place of Wilson's."""


class Raw(NamedTuple):
    """The mean of an unbiased score and its interval within [0, 1], before it is made a possible share or mean."""

    unbiased: float
    standard_error: float | None
    low: float
    high: float


class Support(NamedTuple):
    """How a report supports an answer: on average p where it is the truth, q where it is not; gap = p - q.

    ``v1`` and ``v0`` are the variances of that support in the two cases, over gap^2; ``counted`` where support is
    0 or 1, so that its sum over reports is binomial.
    """

    p: float
    q: float
    gap: float
    v1: float
    v0: float
    counted: bool = True


@lru_cache(maxsize=1024)
def support(channel: Subset | Band) -> Support:
    """Of one option in a subset channel [3], or of the bit of a band of two levels, in exact fractions until the end.

    Another option than the true one is among the d - 1 others of a favoured report, or the d of an unfavoured one,
    each of the k - 1 equally: q = (p(d-1) + (1-p)d)/(k-1) = (d - p)/(k - 1). The bit: d = 1 of k = 2.
    """
    assert isinstance(channel, Subset) or channel.levels == 2
    k, d = (channel.options, channel.size) if isinstance(channel, Subset) else (2, 1)
    p = Fraction(channel.favour, N)
    q = (d - p) / (k - 1)
    gap = p - q
    return Support(float(p), float(q), float(gap), float(p * (1 - p) / gap**2), float(q * (1 - q) / gap**2))


@lru_cache(maxsize=1024)
def joint_support(channel: Subset, options: int) -> Support:
    """Of any of t options together: how many of them the report holds.

    A report that holds the truth draws its other d - 1 options from the k - 1 others, one that does not draws all d
    from them; of t' wanted ones among those, sampling without replacement [4] holds x with mean n t'/(k-1) and
    variance n (t'/(k-1)) (1 - t'/(k-1)) (k-1-n)/(k-2). The two kinds of report are mixed with p and 1 - p.
    """
    k, d, t = channel.options, channel.size, options
    favoured = Fraction(channel.favour, N)

    def moments(wanted_others: int, true: int) -> tuple[Fraction, Fraction]:
        """Mean and second moment, given whether the truth is one of the t."""
        share, first, second = Fraction(wanted_others, k - 1), Fraction(0), Fraction(0)
        for chance, drawn, held in ((favoured, d - 1, true), (1 - favoured, d, 0)):
            mean = held + drawn * share
            variance = drawn * share * (1 - share) * Fraction(k - 1 - drawn, max(k - 2, 1))
            first, second = first + chance * mean, second + chance * (variance + mean**2)
        return first, second

    (p, p2), (q, q2) = moments(t - 1, 1), moments(t, 0)
    gap = p - q
    v1, v0 = (p2 - p**2) / gap**2, (q2 - q**2) / gap**2
    return Support(float(p), float(q), float(gap), float(v1), float(v0), counted=d == 1 or t == 1)


def share_of_support(rule: Support, y: float, n: float, alpha: float, sampling: float = 1.0) -> Raw:
    """The share of an answer with the support y of n reports; ``sampling`` is f of the module's formula.

    The support is first moved to where a share from 0 to 1 would put it, between nq and np, which only widens the
    interval within [0, 1] and keeps it from vanishing.
    """
    p, q, gap = rule.p, rule.q, rule.gap
    rate = y / n
    inside = min(max(y, n * q), n * p)
    unbiased = (rate - q) / gap
    if rule.counted and sampling == 1:
        # If all reports agree, the sample shows no spread; the channel has some all the same.
        variance = (rate * (1 - rate) or (inside / n) * (1 - inside / n)) / gap**2
    else:
        variance = _variance(rule, min(max(unbiased, 0.0), 1.0), sampling)
    if rule.counted and n * min(q, 1 - p) < FEW:
        low, high = _exact(rule, inside, n, alpha, sampling)
    else:
        low, high = score_limits(rule, inside, n, alpha, sampling)
    return Raw(unbiased, math.sqrt(variance / n), low, high)


def _variance(rule: Support, share: float, sampling: float) -> float:
    return sampling * share * (1 - share) + share * rule.v1 + (1 - share) * rule.v0


def score_limits(rule: Support, y: float, n: float, alpha: float, sampling: float = 1.0) -> tuple[float, float]:
    """The shares s at which the observed one lies z standard errors away, those being the errors *at s* [1].

    With u = ((y -+ 1/2)/n - q)/gap, continuity corrected, and k = z^2/n:  (u - s)^2 = k V(s), that is
    (1 + kf) s^2 - (2u + kb) s + u^2 - k v0 = 0,  b = f + v1 - v0. In the discriminant u^2 cancels by hand.
    With p = 1, q = 0 and f = 1 these are Wilson's limits of a proportion.
    """
    z = -float(ndtri(alpha / 2))
    k, f, b = z * z / n, sampling, sampling + rule.v1 - rule.v0

    def limit(c: float, side: float) -> float:
        u = (c / n - rule.q) / rule.gap
        root = k * k * b * b + 4 * k * (rule.v0 + u * b - f * u * u + k * f * rule.v0)
        return clip((2 * u + k * b + side * math.sqrt(max(root, 0.0))) / (2 * (1 + k * f)))

    return limit(max(y - 0.5, 0.0), -1.0), limit(min(y + 0.5, n), 1.0)


def clopper_pearson(y: float, n: float, alpha: float) -> tuple[float, float]:
    """The exact limits of a rate [2]: those at which y or more, and y or fewer, have probability alpha/2.

    P(Y >= y) under rate t is the distribution function of Beta(y, n-y+1) at t, which goes on between the integers.
    """
    low = float(betaincinv(y, n - y + 1, alpha / 2)) if y > 0 else 0.0
    high = float(betaincinv(y + 1, n - y, 1 - alpha / 2)) if y < n else 1.0
    return low, high


def _exact(rule: Support, y: float, n: float, alpha: float, sampling: float) -> tuple[float, float]:
    """Exact limits for f = 1 and f = 0. Between them V is f parts of one and 1 - f of the other, and so are the squared
    distances of the limits from the share, from which those variances can be recovered [5].
    """
    people = [clip((limit - rule.q) / rule.gap) for limit in clopper_pearson(y, n, alpha)]
    if sampling == 1:
        return people[0], people[1]
    own = respondent_limits(rule, y, int(n), alpha)
    share = clip((y / n - rule.q) / rule.gap)
    low, high = (
        math.sqrt(sampling * (share - wide) ** 2 + (1 - sampling) * (share - narrow) ** 2)
        for wide, narrow in zip(people, own, strict=True)
    )
    return clip(share - low), clip(share + high)


def respondent_limits(rule: Support, y: float, n: int, alpha: float) -> tuple[float, float]:
    """The least and largest share among the n respondents themselves under which y is not in a tail of alpha/2.

    With m of them true, y is the sum of Bin(m, p) and Bin(n - m, q): its tails rise and fall with m, so both limits
    are found by bisection. Where y was moved between two integers, the wider one counts.
    """
    least, most = math.floor(y + 1e-9), math.ceil(y - 1e-9)
    # The smallest m at which "y or more" has more than alpha/2, and the largest at which "y or fewer" has.
    low = _first(n, lambda m: 1 - _at_most(rule, m, n, least - 1) > alpha / 2)
    high = _first(n, lambda m: _at_most(rule, m, n, most) <= alpha / 2) - 1
    return min(low, n) / n, max(high, 0) / n


def _first(n: int, holds: Callable[[int], bool]) -> int:
    """The first of 0 ... n at which this begins to hold, n + 1 where it never does."""
    low, high = 0, n + 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def _at_most(rule: Support, m: int, n: int, y: int) -> float:
    """P(Bin(m, p) + Bin(n - m, q) <= y), going through the rarer of the two kinds of flip.

    With B false supports and A lost ones the sum is m - A + B. The kind gone through has a mean below 10 or so where
    this is used; its tail beyond 60 more is below 10^-20.
    """
    lost, false = (m, 1 - rule.p), (n - m, rule.q)
    rare, other = (false, lost) if rule.q <= 1 - rule.p else (lost, false)
    reach = int(rare[0] * rare[1] + 12 * math.sqrt(rare[0] * rare[1]) + 60)
    flips: npt.NDArray[np.float64] = np.arange(min(rare[0], reach) + 1, dtype=np.float64)
    mass = np.diff(_cdf(flips, *rare), prepend=0.0)
    if rare is false:  # m - A + B <= y  <=>  A >= m + B - y
        return float(mass @ (1 - _cdf(m + flips - y - 1, *other)))
    return float(mass @ _cdf(y - m + flips, *other))  # B <= y - m + A


def _cdf(x: npt.NDArray[np.float64], n: int, rate: float) -> npt.NDArray[np.float64]:
    """Of the binomial distribution, also outside 0 ... n."""
    inside = np.clip(x, 0, n)
    return np.where(x < 0, 0.0, np.where(x >= n, 1.0, bdtr(inside, n, rate)))


def clip(share: float) -> float:
    return min(max(share, 0.0), 1.0)
