"""Ratios of two sums of shares from the same reports: the shares among those to whom a question applies.

The ratio R of a numerator A to a denominator B is tested through T = u_A - R u_B, whose mean is 0 where R is right [1].
Its variance is that *at R*: the shares behind it are estimated under R, as in a score test. The interval has the R that
are not rejected. A ratio of unbiased shares is itself only nearly unbiased: by a term of the order of 1/n.

[1] Fieller 1954, J. R. Stat. Soc. B 16.  [2] Rao 1948, Proc. Cambridge Phil. Soc. 44.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import chdtrc

from .evidence import Array, Pooled
from .intervals import Aim, Raw, share_limits

ROUNDS = 40
BEYOND = 1.5
"""How far outside the possible ratios limits are sought, where they are not to be cut off there."""


@dataclass(frozen=True, eq=False)
class Sums:
    """The classes that a ratio is made of: unbiased shares, their moments (``Pooled.moments``), and their gains.

    A person of class c counts ``gains[c]`` in the numerator and 1 in the denominator; all others count nowhere. All
    arrays may be of many ratios at once, along the first axes.
    """

    unbiased: Array
    none: Array
    own: Array
    gains: Array
    n: float
    sampling: float
    step: Array  # between two values of the numerator
    rarer: Array  # reports of the rarer kind, supporting the numerator or the denominator or not

    def at(self, place: int) -> Sums:
        """One of many."""
        many = {name: getattr(self, name)[place] for name in ("unbiased", "none", "own", "step", "rarer")}
        return replace(self, **many)

    def statistic(self, ratio: Array) -> tuple[Array, Array]:
        """T and its variance at these ratios.

        Of all shares on which T vanishes, those nearest to the unbiased ones, in the metric of their covariance C, are
        u - C c (c'u)/(c'C c) with c = gains - R.
        """
        c = self.gains - ratio[..., None]
        value = np.einsum("...i,...i->...", c, self.unbiased)
        pull = np.einsum("...ij,...j->...i", self._at_unbiased, c)
        spread = np.maximum(np.einsum("...i,...i->...", c, pull), 1e-300)
        under = np.clip(self.unbiased - pull * (value / spread)[..., None], 0.0, 1.0)
        variance = np.einsum("...i,...ij,...j->...", c, self._covariance(under), c)
        return value, np.maximum(variance, 1e-300)

    @cached_property
    def _at_unbiased(self) -> Array:
        return self._covariance(np.clip(self.unbiased, 0.0, 1.0))

    def _covariance(self, shares: Array) -> Array:
        square = shares[..., :, None] * shares[..., None, :]
        total = self.none + np.einsum("...c,...cij->...ij", shares, self.own) - square / self.n
        if self.sampling != 1:
            among = shares[..., :, None] * np.eye(shares.shape[-1]) - square
            total = total - (1 - self.sampling) * among / self.n
        return np.asarray(total)

    def kept(self, ratios: Array, start: Array, errors: float) -> npt.NDArray[np.bool_]:
        """Which of these are not so many standard errors away, where ``start`` is the possible ratio next to the
        unbiased one.

        The numerator is moved to where that would put it, as the support of a share is; half a step of it corrects for
        continuity.
        """
        value, variance = self.statistic(ratios)
        moved = np.einsum("...i,...i->...", self.gains - start[..., None], self.unbiased)
        return np.asarray(np.abs(value - moved) - self.step / 2 <= errors * np.sqrt(variance))

    def limits(self, start: Array, errors: float, ends: tuple[float, float]) -> Array:
        """The furthest ratios from the possible one, downwards and upwards, that are not rejected; by bisection."""
        inside, outside = np.stack([start, start]), np.stack([np.full_like(start, end) for end in ends])
        for _ in range(ROUNDS):
            middle = (inside + outside) / 2
            good = self.kept(middle, start, errors)
            inside, outside = np.where(good, middle, inside), np.where(good, outside, middle)
        return outside


class Ratio(NamedTuple):
    """A ratio with its interval; ``limits`` are those before they are cut off at what is possible."""

    raw: Raw | None
    limits: tuple[float, float]
    sums: Sums


def ratios(
    shares: Pooled,
    numerators: Sequence[Sequence[int]],
    among: Sequence[int],
    aim: Aim,
    minus: Sequence[int] = (),
) -> list[Ratio]:
    """The share of the answers in each numerator, less that of those in ``minus``, among those who gave one in
    ``among``.

    Where the denominator could be 0, every ratio is possible; ``raw`` is None where its estimate is not above 0.
    """
    floor, below = -1.0 if minus else 0.0, shares.together(among)
    sums = _sums(shares, numerators, among, minus, aim.sampling(shares.n))
    whole = floor - BEYOND, 1 + BEYOND
    total = float(sum(shares.unbiased[j] for j in among))
    if total <= 0:
        return [Ratio(None, whole, sums.at(place)) for place in range(len(numerators))]
    unbiased = (sums.unbiased @ sums.gains) / total
    start = np.clip(unbiased, floor, 1.0)
    errors = np.sqrt(sums.statistic(start)[1]) / total
    clear = share_limits(*below, aim)[0] > 0
    limits = np.broadcast_to(np.array(whole)[:, None], (2, len(start)))
    if clear:
        limits = sums.limits(start, float(aim.errors(shares.n)), whole)
    cut = np.clip(limits, floor, 1.0)
    return [
        Ratio(
            Raw(float(unbiased[i]), float(errors[i]), float(cut[0, i]), float(cut[1, i])),
            (float(limits[0, i]), float(limits[1, i])),
            sums.at(i),
        )
        for i in range(len(numerators))
    ]


def _sums(
    shares: Pooled, numerators: Sequence[Sequence[int]], among: Sequence[int], minus: Sequence[int], sampling: float
) -> Sums:
    classes = []
    for of in numerators:
        groups = [(of, 1.0), (minus, -1.0), ([j for j in among if j not in of and j not in minus], 0.0)]
        present = [(group, gain) for group, gain in groups if group]
        classes.append(shares.merged([group for group, _ in present]))
    above, below = [shares.together(of) for of in numerators], shares.together(among)
    return Sums(
        unbiased=np.array([each.unbiased for each in classes]),
        none=np.array([each.moments[0] for each in classes]),
        own=np.array([each.moments[1] for each in classes]),
        gains=np.array([gain for _, gain in present]),
        n=shares.n,
        sampling=sampling,
        step=np.array([1 / (shares.n * each.rule.gap) for each in above]),
        rarer=np.array([min(each.y, each.n - each.y, below.y, below.n - below.y) for each in above]),
    )


def same_ratio(one: Sums, two: Sums, fewest: float) -> float | None:
    """The p-value of one ratio behind both: the least, over it, of the sum of T^2/V is chi-square of one degree [2].

    None where either has fewer reports of the rarer kind than this.
    """
    if min(one.rarer, two.rarer) < fewest:
        return None
    tried = np.linspace(0.0, 1.0, 201)
    for _ in range(3):
        distance = sum(value**2 / variance for value, variance in (each.statistic(tried) for each in (one, two)))
        best, step = tried[np.argmin(distance)], tried[1] - tried[0]
        tried = np.linspace(max(best - step, 0.0), min(best + step, 1.0), 201)
    return float(chdtrc(1, np.min(distance)))
