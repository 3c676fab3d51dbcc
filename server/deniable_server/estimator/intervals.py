"""Intervals for a share, from a count whose rate is linear in it.

One form serves all. Reports give a count whose expectation is q where the answer is another and p where it is the
one, so that the rate is q + share * (p - q). Per report the unbiased share (rate - q)/(p - q) has the variance

    V(s) = f * s(1 - s)  +  s * v1 + (1 - s) * v0,

the sampling of respondents plus the noise of the channel. f = 1 for the population that respondents were drawn from at
random, (M - n)/(M - 1) for one of M people, 0 for the respondents themselves; times the design effect where they were
drawn in another way. Noise is drawn for each report alone, so that no design changes it.

[1] Wilson 1927, J. Am. Stat. Assoc. 22.  [2] Clopper and Pearson 1934, Biometrika 26.  [3] Ye and Barg 2018, IEEE
Trans. Inf. Theory 64.  [4] Cochran 1977, Sampling Techniques.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv, chdtrc, ndtri

from deniable_protocol import Channel, Support

from . import anytime
from .bounded import Binomial, Mirrored, Skewed, Tails, highest
from .finite import Finite, finite_limits

Array: TypeAlias = npt.NDArray[Any]

FEW = 10
"""Below this many expected reports of the rarer kind, exact limits take the place of approximate ones."""
FAR = 0.0099
"""So they do for smaller alphas than this: that far out no approximation is to be trusted."""


@dataclass(frozen=True)
class Aim:
    """What an interval shall hold for.

    ``population``: how many people the respondents were drawn from without replacement; with as many as answered, it is
    for the respondents themselves. ``deff``: how many times as much the answers of the sample vary as those of a simple
    random one of its size. ``anytime``: it holds however often one looks.
    """

    confidence: float = 0.95
    population: int | None = None
    deff: float = 1.0
    anytime: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.confidence < 1:
            raise ValueError("confidence must lie between 0 and 1")

    @property
    def alpha(self) -> float:
        return 1 - self.confidence

    def split(self, number: int) -> Aim:
        """For each of so many intervals that shall hold together (Bonferroni)."""
        return replace(self, confidence=1 - self.alpha / number)

    def sampling(self, n: float) -> float:
        """f: how much the sampling of n respondents counts."""
        # A look at any time leaves the size of the population out, which would only make intervals shorter.
        if self.population is None or self.anytime:
            return self.deff
        return self.deff * max(self.population - n, 0.0) / max(self.population - 1, 1)

    def errors(self, n: Array | float) -> Array:
        """How many standard errors an estimate from n reports may lie away from the truth."""
        return anytime.quantile(n, self.alpha) if self.anytime else np.asarray(-ndtri(self.alpha / 2))

    def p_value(self, statistic: float, freedom: int, n: float) -> float:
        """Of a chi-square statistic from n reports."""
        return float(anytime.p_value(statistic, freedom, n) if self.anytime else chdtrc(freedom, statistic))


USUAL = Aim()


class Raw(NamedTuple):
    """The mean of an unbiased score and its interval within [0, 1], before it is made a possible share or mean."""

    unbiased: float
    standard_error: float | None
    low: float
    high: float


class Rule(NamedTuple):
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


CLEAR = Rule(p=1.0, q=0.0, gap=1.0, v1=0.0, v0=0.0)
"""Of what is sent in the clear."""


@lru_cache(maxsize=1024)
def supports(channel: Channel) -> tuple[tuple[Support, Rule], ...]:
    """How reports support each answer, exactly and as a rule; empty where they do more than support it or not."""
    return tuple((each, _rule(each.p, each.q)) for each in channel.supports())


@lru_cache(maxsize=1024)
def _rule(p: Fraction, q: Fraction) -> Rule:
    gap = p - q
    return Rule(float(p), float(q), float(gap), float(p * (1 - p) / gap**2), float(q * (1 - q) / gap**2))


def support(channel: Channel) -> Rule:
    """The rule of a channel that has the same one for all answers, as subsets [3] and noisy bits have."""
    return supports(channel)[0][1]


class Supported(NamedTuple):
    """An answer that y of n reports support."""

    rule: Rule
    y: float
    n: float


@dataclass(frozen=True, eq=False)
class Chances:
    """How the features of a report come together, in a channel that treats all its answers the same.

    A report shows the truth's feature with p and any other one with q, and two of them as often as ``pairs`` says: the
    truth's with another one, and two others. There is one object for each set of these numbers, so that what follows
    from them is found again quickly.
    """

    answers: int
    held: int
    p: Fraction
    q: Fraction

    @cached_property
    def pairs(self) -> tuple[Fraction, Fraction]:
        """Of d features that are shown, the others than the truth are drawn without replacement from k - 1: d - 1 of
        them beside the truth, with p, or d without it. A pair of others is among m drawn ones with
        m(m-1)/((k-1)(k-2)). A report that shows one feature at most, or none, has no pairs.
        """
        k, d, p = self.answers, self.held, self.p
        pair = Fraction(1, max((k - 1) * (k - 2), 1))
        return p * (d - 1) / (k - 1), pair * (d - 1) * (p * (d - 2) + (1 - p) * d)


@lru_cache(maxsize=1024)
def chances(channel: Channel) -> Chances:
    support = channel.supports()[0]
    return _one_of(channel.answers, channel.held or 1, support.p, support.q)


_one_of = lru_cache(maxsize=1024)(Chances)


@lru_cache(maxsize=1024)
def joint_support(channel: Channel, options: int) -> Rule:
    """Of any of t options together: how many of them the report holds.

    The square of that number is itself plus twice the number of pairs that are held [4]: of the t(t-1)/2 pairs,
    t - 1 are with the truth where that is one of the t.
    """
    return joint_rule(chances(channel), options)


@lru_cache(maxsize=4096)
def joint_rule(chance: Chances, options: int) -> Rule:
    t, single, q_single, (with_truth, others) = options, chance.p, chance.q, chance.pairs
    p, q = single + (t - 1) * q_single, t * q_single
    p2 = p + 2 * (t - 1) * with_truth + (t - 1) * (t - 2) * others
    q2 = q + t * (t - 1) * others
    gap = p - q
    v1, v0 = (p2 - p**2) / gap**2, (q2 - q**2) / gap**2
    return Rule(float(p), float(q), float(gap), float(v1), float(v0), counted=chance.held == 1 or t == 1)


def likely_share(counts: Sequence[Supported]) -> float:
    """The share most likely behind all these counts, not cut off at 0 and 1.

    Log-likelihoods of rates are concave, and so is their sum in s: its slope, the sum of gap (y - nr)/(r(1 - r)) with
    r = q + s gap, has one root between the least and the largest of the unbiased shares, found by bisection, unless it
    is beyond where a rate is 0 or 1.
    """
    y, n = (np.array([getattr(count, name) for count in counts]) for name in ("y", "n"))
    q, gap = (np.array([getattr(count.rule, name) for count in counts]) for name in ("q", "gap"))
    seen = (y / n - q) / gap
    low, high = float(max(seen.min(), (-q / gap).max())), float(min(seen.max(), ((1 - q) / gap).min()))

    def slope(share: float) -> float:
        rates = q + share * gap
        return float(np.sum(n * gap**2 * (seen - share) / np.maximum(rates * (1 - rates), 1e-300)))

    if low >= high:
        return low
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    return (low + high) / 2


def share_of_support(rule: Rule, y: float, n: float, aim: Aim) -> Raw:
    """The share of an answer with the support y of n reports."""
    share = central_share(rule, y, n, aim)
    if aim.anytime:
        return share
    tails = _tails(rule, n, aim)
    y, other = y * tails.n / n, Mirrored(tails)
    high = _highest(tails, y, share.unbiased, share.high, math.sqrt(rule.v0 / n), aim.alpha)
    low = 1 - _highest(other, tails.n - y, 1 - share.unbiased, 1 - share.low, math.sqrt(rule.v1 / n), aim.alpha)
    possible = clip(share.unbiased)  # in a known population it may lie between two whole people
    return share._replace(low=min(low, possible), high=max(high, possible))


def _highest(tails: Tails, y: float, unbiased: float, central: float, error: float, alpha: float) -> float:
    """The upper limit, from the central one and the standard error at share 0.

    If no end of the scale is near, it is the central one. If y is far below what share 0 would give, by chance or
    because of false submissions, the likelihood ratio leaves next to nothing but 0. So the limit is at least one
    standard error, as it is cut in other fields that test near an end (Cowan et al. 2011, arXiv:1105.3166).
    """
    return highest(tails, y, max(clip(unbiased), min(error, central)), central, alpha)


def _tails(rule: Rule, n: float, aim: Aim) -> Tails:
    """How the support is distributed.

    Exact tails know no design: they are those of as many fewer reports. That is too few, since the noise of the channel
    is no larger, and on the safe side.
    """
    few, population = n * min(rule.q, 1 - rule.p) < FEW, aim.population
    if few and rule.counted and population is not None and aim.deff <= 1:
        return Finite(rule, int(n), population)
    if aim.sampling(n) == 1 or (population is None and (few or aim.alpha < FAR)):
        return Binomial(rule, n / max(aim.deff, 1.0))
    return Skewed(rule, n, aim.sampling(n))


def central_share(rule: Rule, y: float, n: float, aim: Aim) -> Raw:
    """The same with the limits of ``share_limits``, cut off at 0 and 1: from these, others are recovered."""
    q, gap = rule.q, rule.gap
    rate = y / n
    unbiased = (rate - q) / gap
    sampling = aim.sampling(n)
    variance = rate * (1 - rate) / gap**2 if rule.counted and sampling == 1 else 0.0
    # If all reports agree, the sample shows no spread; the channel has some all the same.
    variance = variance or _variance(rule, clip(unbiased), sampling)
    low, high = share_limits(rule, y, n, aim)
    return Raw(unbiased, math.sqrt(variance / n), clip(low), clip(high))


def share_limits(rule: Rule, y: float, n: float, aim: Aim) -> tuple[float, float]:
    """The central limits, with alpha/2 on either side, as they are before they are cut off at 0 and 1.

    The support is first moved to where a share from 0 to 1 would put it, which only widens them.
    """
    if aim.anytime:
        return _anytime_limits(rule, min(max(y, n * rule.q), n * rule.p), n, aim)
    tails = _tails(rule, n, aim)
    inside = min(max(y * tails.n / n, tails.bottom), tails.top)
    if isinstance(tails, Finite):
        return finite_limits(tails, inside, aim.alpha)
    if isinstance(tails, Skewed):
        low, high = score_limits(rule, inside, n, aim.alpha, aim.sampling(n))
        if aim.deff > 1:  # near the ends the exact limits of a simple sample can be a shade wider
            simple = share_limits(rule, y, n, replace(aim, deff=1.0))
            low, high = min(low, simple[0]), max(high, simple[1])
        return low, high
    low, high = clopper_pearson(inside, tails.n, aim.alpha)
    return (low - rule.q) / rule.gap, (high - rule.q) / rule.gap


@lru_cache(maxsize=4096)  # a page that is looked at again asks for the same
def _anytime_limits(rule: Rule, y: float, n: float, aim: Aim) -> tuple[float, float]:
    """Exact where the support is 0 or 1 and the sample a simple one. A design makes reports worth less."""

    def worth(shares: Array) -> Array:
        sampling = np.clip(shares, 0.0, 1.0) * (1 - np.clip(shares, 0.0, 1.0))
        noise = np.clip(shares, 0.0, 1.0) * (rule.v1 - rule.v0) + rule.v0
        return np.asarray((sampling + noise) / (aim.deff * sampling + noise))

    ends = -rule.q / rule.gap, (1 - rule.q) / rule.gap
    reports = anytime.Reports(ends, (n - y, y))
    return anytime.limits([reports], (y / n - rule.q) / rule.gap, aim.alpha, worth if aim.deff != 1 else 1.0)


def _variance(rule: Rule, share: float, sampling: float) -> float:
    return sampling * share * (1 - share) + share * rule.v1 + (1 - share) * rule.v0


def score_limits(rule: Rule, y: float, n: float, alpha: float, sampling: float = 1.0) -> tuple[float, float]:
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
        return (2 * u + k * b + side * math.sqrt(max(root, 0.0))) / (2 * (1 + k * f))

    return limit(max(y - 0.5, 0.0), -1.0), limit(min(y + 0.5, n), 1.0)


def clopper_pearson(y: float, n: float, alpha: float) -> tuple[float, float]:
    """The exact limits of a rate [2]: those at which y or more, and y or fewer, have probability alpha/2.

    P(Y >= y) under rate t is the distribution function of Beta(y, n-y+1) at t, which goes on between the integers.
    """
    low = float(betaincinv(y, n - y + 1, alpha / 2)) if y > 0 else 0.0
    high = float(betaincinv(y + 1, n - y, 1 - alpha / 2)) if y < n else 1.0
    return low, high


def clip(share: float) -> float:
    return min(max(share, 0.0), 1.0)
