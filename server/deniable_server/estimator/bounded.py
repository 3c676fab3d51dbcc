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

from scipy.optimize import brentq
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

    def largest(self, distance: Callable[[float], float], start: float, z: float) -> float:
        """The largest share from ``start`` on at which this distance, which rises with the share, is up to z."""


def highest(tails: Tails, y: float, start: float, alpha: float) -> float:
    """The largest share that is not rejected; ``start`` is not."""

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

    return tails.largest(distance, start, -float(ndtri(alpha / 2)))


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

    def largest(self, distance: Callable[[float], float], start: float, z: float) -> float:
        return self.tails.largest(distance, start, z)


def normal(x: float) -> float:
    return math.erfc(-x * math.sqrt(0.5)) / 2


class Continuous:
    def largest(self, distance: Callable[[float], float], start: float, z: float) -> float:
        if start >= 1 or distance(1.0) <= z:
            return 1.0
        # The distance is nearly linear in the share, so that a few steps do.
        return (
            float(brentq(lambda share: distance(share) - z, start, 1.0, xtol=1e-13)) if distance(start) < z else start
        )


class Binomial(Continuous):
    """Of Bin(n, q + share gap): exact, also between the integers, where P(Y >= y) is that of Beta(y, n-y+1)."""

    is_exact = True

    def __init__(self, rule: Rule, n: float) -> None:
        self.n, self.q, self.gap = n, rule.q, rule.gap
        self.bottom, self.top = n * rule.q, n * rule.p

    def below(self, y: float, share: float) -> float:
        if y >= self.n:
            return -FARTHEST
        return -float(ndtri(betaincc(max(y, 0.0) + 1, self.n - max(y, 0.0), self._rate(share))))

    def above(self, y: float, share: float) -> float:
        return -float(ndtri(betainc(y, self.n - y + 1, self._rate(share)))) if y > 0 else -FARTHEST

    def _rate(self, share: float) -> float:
        return min(max(self.q + share * self.gap, 0.0), 1.0)


class Skewed(Continuous):
    """Of a count for which the sampling of respondents counts f times as much as in Bin(n, q + share gap).

    By its first four cumulants, with half a count more for continuity. With f = 0 they are those of Bin(m, p) +
    Bin(n - m, q), with f = 1 of that binomial, and in between, or beyond, on the line through both. A gamma
    distribution of skewness g is at x standard errors where a normal one is at 6/g ((1 + gx/2)^(1/3) - 1) + g/6 [3];
    its kurtosis is 1.5 g^2, and a difference of k in that moves it by k (x^3 - 3x)/24 [4].
    """

    is_exact = False

    def __init__(self, rule: Rule, n: float, sampling: float) -> None:
        self.rule, self.n, self.sampling = rule, n, sampling
        self.bottom, self.top = n * rule.q, n * rule.p

    def below(self, y: float, share: float) -> float:
        return -self._normal(y + 0.5, share)

    def above(self, y: float, share: float) -> float:
        return self._normal(y - 0.5, share)

    def _normal(self, y: float, s: float) -> float:
        p, q, rate = self.rule.p, self.rule.q, self.rule.q + s * self.rule.gap
        ends = zip(cumulants(p), cumulants(q), cumulants(rate), strict=True)
        noise_and_all = [(s * one + (1 - s) * other, both) for one, other, both in ends]
        variance, third, fourth = (noise + self.sampling * (both - noise) for noise, both in noise_and_all)
        variance = max(self.n * variance, 1e-300)
        x, skewness = (y - self.n * rate) / math.sqrt(variance), self.n * third / variance**1.5
        excess = min(max(self.n * fourth / variance**2 - 1.5 * skewness**2, -MOST), MOST)
        near = min(max(x, -FAR_OUT), FAR_OUT)
        gamma = 6 / skewness * (math.cbrt(1 + skewness * x / 2) - 1) + skewness / 6 if abs(skewness) > 1e-6 else x
        return gamma - excess * (near**3 - 3 * near) / 24


def cumulants(rate: float) -> tuple[float, float, float]:
    """The second to the fourth of a report that supports an answer at this rate."""
    variance = rate * (1 - rate)
    return variance, variance * (1 - 2 * rate), variance * (1 - 6 * variance)
