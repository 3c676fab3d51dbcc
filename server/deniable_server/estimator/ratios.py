"""Ratios of two sums of shares from the same reports: the shares among those to whom a question applies.

The ratio R of a numerator A to a denominator B is tested through T = u_A - R u_B, whose mean is 0 where R is right [1].
Its variance is that *at R*: the shares behind it are estimated under R, as in a score test. The interval has the R that
are not rejected. A ratio of unbiased shares is itself only nearly unbiased: by a term of the order of 1/n.

[1] Fieller 1954, J. R. Stat. Soc. B 16.  [2] Rao 1948, Proc. Cambridge Phil. Soc. 44.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
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
class Tested(ABC):
    """The classes that a ratio is made of: their unbiased shares and their gains.

    A person of class c counts ``gains[c]`` in the numerator and 1 in the denominator; all others count nowhere. All
    arrays may be of many ratios at once, along the first axes.
    """

    unbiased: Array
    gains: Array
    step: Array  # between two values of the numerator

    @abstractmethod
    def statistic(self, ratio: Array) -> tuple[Array, Array]:
        """T and its variance at these ratios."""

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


@dataclass(frozen=True, eq=False)
class Sums(Tested):
    """Classes of the same reports, with the moments of their shares (``Pooled.moments``)."""

    none: Array
    own: Array
    n: float
    sampling: float
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
    return ratios_among(shares, [(of, among) for of in numerators], aim, minus)


def ratios_among(
    shares: Pooled, pairs: Sequence[tuple[Sequence[int], Sequence[int]]], aim: Aim, minus: Sequence[int] = ()
) -> list[Ratio]:
    """The same of many numerators, each with the answers that it is among: more than those in the numerator, for all
    pairs or for none.
    """
    floor = -1.0 if minus else 0.0
    sums = _sums(shares, pairs, minus, aim.sampling(shares.n))
    whole = floor - BEYOND, 1 + BEYOND
    total = np.array([float(sum(shares.unbiased[j] for j in among)) for _, among in pairs])
    safe = np.where(total > 0, total, 1.0)
    unbiased = (sums.unbiased @ sums.gains) / safe
    start = np.clip(unbiased, floor, 1.0)
    errors = np.sqrt(sums.statistic(start)[1]) / safe
    clear = {tuple(among): share_limits(*shares.together(among), aim)[0] > 0 for _, among in pairs}
    known = (total > 0) & np.array([clear[tuple(among)] for _, among in pairs])
    limits = np.where(known, sums.limits(start, float(aim.errors(shares.n)), whole), np.array(whole)[:, None])
    cut = np.clip(limits, floor, 1.0)
    return [
        Ratio(
            Raw(float(unbiased[i]), float(errors[i]), float(cut[0, i]), float(cut[1, i])) if total[i] > 0 else None,
            (float(limits[0, i]), float(limits[1, i])),
            sums.at(i),
        )
        for i in range(len(pairs))
    ]


def _sums(
    shares: Pooled, pairs: Sequence[tuple[Sequence[int], Sequence[int]]], minus: Sequence[int], sampling: float
) -> Sums:
    classes = []
    for of, among in pairs:
        groups = [(of, 1.0), (minus, -1.0), ([j for j in among if j not in of and j not in minus], 0.0)]
        present = [(group, gain) for group, gain in groups if group]
        classes.append(shares.merged([group for group, _ in present]))
    above, below = ([shares.together(pair[i]) for pair in pairs] for i in (0, 1))
    return Sums(
        unbiased=np.array([each.unbiased for each in classes]),
        none=np.array([each.moments[0] for each in classes]),
        own=np.array([each.moments[1] for each in classes]),
        gains=np.array([gain for _, gain in present]),
        n=shares.n,
        sampling=sampling,
        step=np.array([1 / (shares.n * each.rule.gap) for each in above]),
        rarer=np.array([min(a.y, a.n - a.y, b.y, b.n - b.y) for a, b in zip(above, below, strict=True)]),
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
