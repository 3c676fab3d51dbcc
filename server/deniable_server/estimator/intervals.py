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
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import bdtr, betaincinv, gammaln, ndtri

from deniable_protocol import Channel, Support

Array: TypeAlias = npt.NDArray[Any]

FEW = 10
"""Below this many expected reports of the rarer kind, exact limits take the place of Wilson's."""
FAR = 0.0099
"""So they do for smaller alphas than this: that far out the normal distribution is not to be trusted."""


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
        if self.population is None:
            return self.deff
        return self.deff * max(self.population - n, 0.0) / max(self.population - 1, 1)


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
    """The share of an answer with the support y of n reports.

    For the limits the support is first moved to where a share from 0 to 1 would put it, between nq and np, which only
    widens the interval within [0, 1] and keeps it from vanishing.
    """
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
    """The limits of the share as they are before they are cut off at 0 and 1."""
    p, q, alpha, population = rule.p, rule.q, aim.alpha, aim.population
    inside = min(max(y, n * q), n * p)
    few = n * min(q, 1 - p) < FEW
    if few and rule.counted and population is not None and aim.deff <= 1:
        nearest = min(max(y, math.floor(n * q)), math.ceil(n * p))  # a count that can be: exact limits take no other
        return finite_limits(rule, nearest * int(n) / n, int(n), alpha, population)
    if population is not None or not (few or alpha < FAR):
        return score_limits(rule, inside, n, alpha, aim.sampling(n))
    # Exact limits know no design: they are those of as many fewer reports. That is too few, since the noise of the
    # channel is no larger, and on the safe side.
    fewer = max(aim.deff, 1.0)
    low, high = clopper_pearson(inside / fewer, n / fewer, alpha)
    return (low - q) / rule.gap, (high - q) / rule.gap


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


def finite_limits(rule: Rule, y: float, n: int, alpha: float, population: int) -> tuple[float, float]:
    """The exact limits in a population of M people: the least and largest share under which y is in no tail of alpha/2.

    If T of them are such, m of the n who answer are with hypergeometric chances, and y is the sum of Bin(m, p) and
    Bin(n - m, q). Its tails rise and fall with T, so that bisection finds both ends. Where y was moved between two
    integers, the wider one counts.
    """
    below, up_to = _at_most(rule, math.floor(y + 1e-9) - 1, n), _at_most(rule, math.ceil(y - 1e-9), n)
    people = max(population, n)
    # The smallest T at which "y or more" has more than alpha/2, and the largest at which "y or fewer" has.
    low = _first(people, lambda true: 1 - _expected(below, n, true, people) > alpha / 2)
    high = _first(people, lambda true: _expected(up_to, n, true, people) <= alpha / 2) - 1
    return min(low, people) / people, max(high, 0) / people


def _first(n: int, holds: Callable[[int], bool]) -> int:
    """The first of 0 ... n at which this begins to hold, n + 1 where it never does."""
    low, high = 0, n + 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def _expected(chances: Array, n: int, true: int, people: int) -> float:
    """The mean of these over how many of n, drawn from ``people`` without replacement, are among the true ones."""
    if n == people:
        return float(chances[true])
    centre, spread = n * true / people, math.sqrt(n * true * (people - true)) / people
    first, last = max(0, n + true - people), min(n, true)
    m = np.arange(max(first, int(centre - 12 * spread - 60)), min(last, int(centre + 12 * spread + 60)) + 1)
    mass = np.exp(_log_choose(true, m) + _log_choose(people - true, n - m) - _log_choose(people, n))
    return float(mass @ chances[m] / mass.sum())


def _log_choose(n: int, k: Array | int) -> Array:
    return np.asarray(gammaln(n + 1) - gammaln(np.add(k, 1)) - gammaln(np.subtract(n + 1, k)))


def _at_most(rule: Rule, y: int, n: int) -> Array:
    """P(Bin(m, p) + Bin(n - m, q) <= y) for m = 0 ... n.

    With B false supports and A lost ones the sum is m - A + B. Of the rarer kind, whose mean is below ``FEW`` where
    this is used, all numbers up to 60 more are gone through: beyond lies less than 10^-20. So it does where y is
    further from the mean than 12 standard deviations and 60: there the chance is 0 or 1.
    """
    spread = math.sqrt(n * max(rule.p * (1 - rule.p), rule.q * (1 - rule.q)))
    centre, reach = (y - n * rule.q) / rule.gap, (12 * spread + 60) / rule.gap
    first, last = max(0, int(centre - reach)), min(n, int(centre + reach))
    chances = np.where(np.arange(n + 1) < first, 1.0, 0.0)
    if first > last:
        return chances
    m = np.arange(first, last + 1)[:, None]
    lost, false = (m, 1 - rule.p), (n - m, rule.q)
    rare, other = (false, lost) if rule.q <= 1 - rule.p else (lost, false)
    flips = np.arange(int(n * rare[1] + 12 * math.sqrt(n * rare[1]) + 60))[None, :]
    mass = np.diff(_cdf(flips, *rare), axis=1, prepend=0.0)
    # m - A + B <= y means A >= m + B - y, or B <= y - m + A.
    tail = 1 - _cdf(m + flips - y - 1, *other) if rare is false else _cdf(y - m + flips, *other)
    chances[first : last + 1] = (mass * tail).sum(axis=1)
    return chances


def _cdf(x: Array, n: Array, rate: float) -> Array:
    """Of the binomial distribution, also outside 0 ... n."""
    return np.where(x < 0, 0.0, np.where(x >= n, 1.0, bdtr(np.clip(x, 0, n).astype(float), n, rate)))


def clip(share: float) -> float:
    return min(max(share, 0.0), 1.0)
