"""Ratios of two sums of shares from the same reports: the shares among those to whom a question applies.

The ratio R of a numerator A to a denominator B is tested through T = u_A - R u_B, whose mean is 0 where R is right [1].
Its variance is that *at R*: the shares behind it are estimated under R, as in a score test. The interval has the R that
are not rejected. A ratio of unbiased shares is itself only nearly unbiased: by a term of the order of 1/n.

[1] Fieller 1954, J. R. Stat. Soc. B 16.  [2] Rao 1948, Proc. Cambridge Phil. Soc. 44.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import chdtrc, ndtri

from .evidence import Array, Pooled
from .intervals import Raw, sampling_factor, share_limits

ROUNDS = 45
BEYOND = 1.5
"""How far outside the possible ratios limits are sought, where they are not to be cut off there."""


class Sums(NamedTuple):
    """The classes that a ratio is made of: unbiased shares, what one report of each adds to E[u u'], and their gains.

    A person of class c counts ``gains[c]`` in the numerator and 1 in the denominator; all others count nowhere.
    """

    unbiased: Array
    none: Array
    own: Array
    gains: Array
    n: float
    sampling: float
    step: float  # between two values of the numerator
    rarer: float  # reports of the rarer kind, supporting the numerator or the denominator or not

    def statistic(self, ratio: Array) -> tuple[Array, Array]:
        """T and its variance, for any number of ratios at once.

        Of all shares on which T vanishes, those nearest to the unbiased ones, in the metric of their covariance C, are
        u - C c (c'u)/(c'C c) with c = gains - R.
        """
        c = self.gains - ratio[..., None]
        value = c @ self.unbiased
        seen = np.clip(self.unbiased, 0.0, 1.0)
        covariance = self._covariance(np.broadcast_to(seen, c.shape))
        pull = np.einsum("...ij,...j->...i", covariance, c)
        spread = np.maximum(np.einsum("...i,...i->...", c, pull), 1e-300)
        under = np.clip(self.unbiased - pull * (value / spread)[..., None], 0.0, 1.0)
        variance = np.einsum("...i,...ij,...j->...", c, self._covariance(under), c)
        return value, np.maximum(variance, 1e-300)

    def _covariance(self, shares: Array) -> Array:
        square = shares[..., :, None] * shares[..., None, :]
        among = shares[..., :, None] * np.eye(shares.shape[-1]) - square
        total = self.none + np.einsum("...c,cij->...ij", shares, self.own) - square / self.n
        return np.asarray(total - (1 - self.sampling) * among / self.n)


class Ratio(NamedTuple):
    """A ratio with its interval; ``limits`` are those before they are cut off at what is possible."""

    raw: Raw | None
    limits: tuple[float, float]
    sums: Sums


def ratio(
    shares: Pooled,
    of: Sequence[int],
    among: Sequence[int],
    alpha: float,
    population: int | None = None,
    minus: Sequence[int] = (),
) -> Ratio:
    """The share of the answers in ``of``, less that of those in ``minus``, among those who gave one in ``among``.

    Where the denominator could be 0, every ratio is possible; ``raw`` is None where its estimate is not above 0.
    """
    rest = [j for j in among if j not in of and j not in minus]
    groups = [(of, 1.0), (minus, -1.0), (rest, 0.0)]
    groups = [group for group in groups if group[0]]
    gains = [gain for _, gain in groups]
    classes = shares.merged([group for group, _ in groups])
    floor = -1.0 if minus else 0.0
    above, below = shares.together(of), shares.together(among)
    sums = Sums(
        unbiased=classes.unbiased,
        none=classes.moments[0],
        own=classes.moments[1],
        gains=np.array(gains),
        n=shares.n,
        sampling=sampling_factor(shares.n, population),
        step=1 / (shares.n * above.rule.gap),
        rarer=min(min(each.y, each.n - each.y) for each in (above, below)),
    )
    whole = floor - BEYOND, 1 + BEYOND
    total = float(classes.unbiased.sum())
    if total <= 0:
        return Ratio(None, whole, sums)
    unbiased = float(sums.gains @ classes.unbiased) / total
    inside = min(max(unbiased, floor), 1.0)
    error = float(np.sqrt(sums.statistic(np.array(inside))[1])) / total
    if share_limits(*below, alpha, population)[0] <= 0:
        return Ratio(Raw(unbiased, error, floor, 1.0), whole, sums)
    low, high = _limits(sums, inside, alpha, whole)
    return Ratio(Raw(unbiased, error, min(max(low, floor), 1.0), min(max(high, floor), 1.0)), (low, high), sums)


def _limits(sums: Sums, start: float, alpha: float, ends: tuple[float, float]) -> tuple[float, float]:
    """By bisection from the possible ratio outwards; half a step of the numerator corrects for continuity."""
    z = -float(ndtri(alpha / 2))

    def kept(ratios: Array) -> npt.NDArray[np.bool_]:
        value, variance = sums.statistic(ratios)
        return np.asarray(np.abs(value - moved) - sums.step / 2 <= z * np.sqrt(variance))

    # Moved to where the possible ratio would put the numerator, as the support of a share is.
    moved = float((sums.gains - start) @ sums.unbiased)
    inside, outside = np.array([start, start]), np.array(ends)
    reached = kept(outside)
    for _ in range(ROUNDS):
        middle = (inside + outside) / 2
        good = kept(middle)
        inside, outside = np.where(good, middle, inside), np.where(good, outside, middle)
    low, high = np.where(reached, ends, outside).tolist()
    return low, high


def same_ratio(one: Sums, two: Sums, fewest: float) -> float | None:
    """The p-value of one ratio behind both: the least, over it, of the sum of T^2/V is chi-square of one degree [2].

    None where either has fewer reports of the rarer kind than this.
    """
    if min(one.rarer, two.rarer) < fewest:
        return None
    ratios = np.linspace(0.0, 1.0, 201)
    for _ in range(3):
        distance = sum((value**2 / variance for value, variance in (each.statistic(ratios) for each in (one, two))))
        best, step = ratios[np.argmin(distance)], ratios[1] - ratios[0]
        ratios = np.linspace(max(best - step, 0.0), min(best + step, 1.0), 201)
    return float(chdtrc(1, np.min(distance)))
