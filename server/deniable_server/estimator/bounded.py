"""The limits of a share, from a test that knows that no share is below 0 or above 1.

A test of the share s accepts counts whose distance from what s would give, in standard errors, is at most a on the
lower side and b on the upper one, with tails of alpha in sum. Which a and b, the likelihood ratio says: of s against
the best *possible* share [1]. With room m = s/sigma down to share 0 and a normal count, minus twice its logarithm is

    h^2 at a distance h <= m,  and  h^2 - (h - m)^2 = m(2h - m) beyond, where the best share stays 0;

so it is upwards, with the room to share 1. Both sides end at the same value. Far from the ends that is alpha/2 on
either side. At share 0, where a low count speaks for no other share, all of alpha is on the upper side: limits are
shorter there. Any two tails of alpha in sum are a valid test [2], so that coverage is exact where tails are.

Upper limits fall, and lower limits rise, as alpha does; both rise with the count: tails rise or fall with s, and the
upper tail's part of alpha falls with it.

[1] Feldman and Cousins 1998, Phys. Rev. D 57.  [2] Puza and O'Neill 2006, Can. J. Stat. 34.  [3] Wilson and Hilferty
1931, Proc. Nat. Acad. Sci. 17.  [4] Johnson, Kotz and Balakrishnan 1994, Continuous Univariate Distributions 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol

from scipy.special import betainc, betaincc, ndtri

if TYPE_CHECKING:
    from .intervals import Rule

FARTHEST = 37.0
"""Standard errors beyond which a tail is 0."""
FAR_OUT, MOST = 5.0, 0.2
"""Up to where, and how much, a tail is corrected for kurtosis: so it still falls as it must."""


class Tails(Protocol):
    """How far a count is from what a share would give, in standard errors: as far as a normal one with the same tail.

    ``bottom`` and ``top`` are the counts, of n, next to what the shares 0 and 1 would give.
    """

    @property
    def n(self) -> float: ...

    @property
    def is_exact(self) -> bool: ...

    @property
    def bottom(self) -> float: ...

    @property
    def top(self) -> float: ...

    def below(self, y: float, share: float) -> float:
        """Of the tail of y and all lower counts."""

    def above(self, y: float, share: float) -> float:
        """Of the tail of y and all higher counts."""

    def largest(self, distance: Callable[[float], float], start: float, guess: float, z: float) -> float:
        """The largest share from ``start`` on at which this distance, which rises with the share, is up to z."""


def highest(tails: Tails, y: float, start: float, central: float, alpha: float) -> float:
    """The largest share that is not rejected, or ``start``. The central limit, or one near to it, is known."""
    z = -float(ndtri(alpha / 2))

    def distance(share: float) -> float:
        """As far as a normal count would be with half the tails: those of y, and of the other side's equal."""
        here = min(tails.below(y, share), FARTHEST)
        if here <= 0:
            return 0.0
        room = here if y >= tails.bottom else min(max(tails.below(tails.bottom, share), 0.0), here)
        ratio = room * (2 * here - room)
        there, above = math.sqrt(ratio), max(tails.above(tails.top, share), 0.0)
        if there > above:
            there = (ratio + above * above) / (2 * above) if above else math.inf
        return -float(ndtri((normal(-here) + normal(-there)) / 2))

    if y >= tails.bottom:
        if not tails.is_exact:
            central = tails.largest(lambda share: tails.below(y, share), start, central, z)
        if tails.above(tails.top, central) >= z:
            return central
    return tails.largest(distance, start, central, z)


class Mirrored(NamedTuple):
    """Of n - y, under the share of all other answers."""

    tails: Tails

    @property
    def n(self) -> float:
        return self.tails.n

    @property
    def is_exact(self) -> bool:
        return self.tails.is_exact

    @property
    def bottom(self) -> float:
        return self.n - self.tails.top

    @property
    def top(self) -> float:
        return self.n - self.tails.bottom

    def below(self, y: float, share: float) -> float:
        return self.tails.above(self.n - y, 1 - share)

    def above(self, y: float, share: float) -> float:
        return self.tails.below(self.n - y, 1 - share)

    def largest(self, distance: Callable[[float], float], start: float, guess: float, z: float) -> float:
        return self.tails.largest(distance, start, guess, z)


def normal(x: float) -> float:
    return math.erfc(-x * math.sqrt(0.5)) / 2


class Continuous:
    def largest(self, distance: Callable[[float], float], start: float, guess: float, z: float) -> float:
        """The distance is nearly linear in the share, so that a few false positions do (the Illinois algorithm)."""
        low, below = start, distance(start) - z
        if below >= 0:
            return start
        high, step = guess, max(guess - start, 1e-9)
        while (above := distance(high) - z) < 0:
            if high >= 1:
                return 1.0
            low, below, high, step = high, above, min(high + step / 8, 1.0), 2 * step
        side = 0
        for _ in range(100):
            share = (low * above - high * below) / (above - below)
            value = distance(share) - z
            if abs(value) < 1e-10 or high - low < 1e-15:
                return share
            if value < 0:
                low, below, above, side = share, value, above / 2 if side < 0 else above, -1
            else:
                high, above, below, side = share, value, below / 2 if side > 0 else below, 1
        return high


class Binomial(Continuous):
    """Of Bin(n, q + share gap): exact, also between the integers, where P(Y >= y) is that of Beta(y, n-y+1)."""

    is_exact = True

    def __init__(self, rule: Rule, n: float) -> None:
        self.n, self.q, self.gap = n, rule.q, rule.gap
        self.bottom, self.top = n * rule.q, n * rule.p
        self.far = 6 * math.sqrt(n)  # a tail beyond is below e^-72 (Hoeffding 1963)

    def below(self, y: float, share: float) -> float:
        if y >= self.n:
            return -FARTHEST
        y, rate = max(y, 0.0), min(self.q + share * self.gap, 1.0)
        return FARTHEST if self.n * rate - y > self.far else -float(ndtri(betaincc(y + 1, self.n - y, rate)))

    def above(self, y: float, share: float) -> float:
        if y <= 0:
            return -FARTHEST
        y, rate = min(y, self.n), min(self.q + share * self.gap, 1.0)
        return FARTHEST if y - self.n * rate > self.far else -float(ndtri(betainc(y, self.n - y + 1, rate)))


class Skewed(Continuous):
    """Of a count for which the sampling of respondents counts f times as much as in Bin(n, q + share gap).

    By its first four cumulants, with half a count more for continuity. With f = 0 they are those of Bin(m, p) +
    Bin(n - m, q), with f = 1 of that binomial, and in between, or beyond, on the line through both. A gamma
    distribution of skewness g is at x standard errors where a normal one is at 6/g ((1 + gx/2)^(1/3) - 1) + g/6 [3];
    its kurtosis is 1.5 g^2, and a difference of k in that moves it by k (x^3 - 3x)/24 [4].
    """

    is_exact = False

    def __init__(self, rule: Rule, n: float, sampling: float) -> None:
        self.n, self.q, self.gap, self.sampling = n, rule.q, rule.gap, sampling
        self.bottom, self.top = n * rule.q, n * rule.p
        self.ends = cumulants(rule.p), cumulants(rule.q)

    def below(self, y: float, share: float) -> float:
        return -self._normal(y + 0.5, share)

    def above(self, y: float, share: float) -> float:
        return self._normal(y - 0.5, share)

    def _normal(self, y: float, s: float) -> float:
        rate, f, rest = self.q + s * self.gap, self.sampling, 1 - self.sampling
        (p2, p3, p4), (q2, q3, q4), (r2, r3, r4) = self.ends[0], self.ends[1], cumulants(rate)
        variance = self.n * (f * r2 + rest * (s * p2 + (1 - s) * q2))
        third = self.n * (f * r3 + rest * (s * p3 + (1 - s) * q3))
        fourth = self.n * (f * r4 + rest * (s * p4 + (1 - s) * q4))
        variance = max(variance, 1e-100)
        deviation = math.sqrt(variance)
        x, skewness = (y - self.n * rate) / deviation, third / (variance * deviation)
        excess = min(max(fourth / variance**2 - 1.5 * skewness**2, -MOST), MOST)
        near = min(max(x, -FAR_OUT), FAR_OUT)
        gamma = 6 / skewness * (math.cbrt(1 + skewness * x / 2) - 1) + skewness / 6 if abs(skewness) > 1e-6 else x
        return gamma - excess * near * (near * near - 3) / 24


def cumulants(rate: float) -> tuple[float, float, float]:
    """The second to the fourth of a report that supports an answer at this rate."""
    variance = rate * (1 - rate)
    return variance, variance * (1 - 2 * rate), variance * (1 - 6 * variance)
