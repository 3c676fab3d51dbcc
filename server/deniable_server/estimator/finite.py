"""Exact tails and limits of a share in a population of known size, where few reports of the rarer kind are expected.

If an answer is true of T of M people, m of the n who answer are such with hypergeometric chances, and the support y is
the sum of Bin(m, p) and Bin(n - m, q).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import bdtr, gammaln, ndtri

if TYPE_CHECKING:
    from .intervals import Array, Rule


class Finite:
    """The ``Tails`` of the support: those of y between two integers are the larger ones of these."""

    is_exact = True

    def __init__(self, rule: Rule, n: int, population: int) -> None:
        self.rule, self.n, self.people = rule, n, max(population, n)
        self.bottom, self.top = math.floor(n * rule.q), math.ceil(n * rule.p)
        self._known: dict[int, Array] = {}

    def below(self, y: float, share: float) -> float:
        return -float(ndtri(self.at_most(math.ceil(y - 1e-9), round(share * self.people))))

    def above(self, y: float, share: float) -> float:
        return float(ndtri(self.at_most(math.floor(y + 1e-9) - 1, round(share * self.people))))

    def at_most(self, y: int, true: int) -> float:
        """The chance of y or fewer where the answer is true of so many."""
        mean = self.n * (self.rule.q + self.rule.gap * true / self.people)
        if abs(y - mean) > 60 + 12 * math.sqrt(self.n) / 2:
            return float(y > mean)
        if y not in self._known:
            self._known[y] = _at_most(self.rule, y, self.n)
        return min(_expected(self._known[y], self.n, true, self.people), 1.0)  # sums of floats can be a shade more

    def largest(self, distance: Callable[[float], float], start: float, _: float, z: float) -> float:
        first = math.ceil(start * self.people - 1e-9)
        further = _first(self.people - first, lambda more: distance((first + more) / self.people) > z)
        return (first + max(further - 1, 0)) / self.people


def finite_limits(tails: Finite, y: float, alpha: float) -> tuple[float, float]:
    """The least and largest share under which y is in no tail of alpha/2.

    The tails rise and fall with T, so that bisection finds both ends. Where y lies between two integers, the wider one
    counts.
    """
    below, up_to, people = math.floor(y + 1e-9) - 1, math.ceil(y - 1e-9), tails.people
    # The smallest T at which "y or more" has more than alpha/2, and the largest at which "y or fewer" has.
    low = _first(people, lambda true: 1 - tails.at_most(below, true) > alpha / 2)
    high = _first(people, lambda true: tails.at_most(up_to, true) <= alpha / 2) - 1
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
