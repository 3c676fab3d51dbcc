"""Exact composition over repeated waves, fast enough for any survey.

The same quantity as ``deniable_protocol.exact_composition``, which carries 50 digits and takes minutes where many
different epsilons meet. Here doubles do, by Fourier transform [2] of a tilted distribution [3], in which the losses
that decide are the likely ones and so keep their relative precision. A part of delta is kept back for all that is cut
off or rounded, so that a result is never smaller than the exact one, and larger by a ten-thousandth at most, unless so
many different epsilons meet that they are rounded up to a coarser grid.

[1] Kairouz, Oh and Viswanath 2015, ICML.  [2] Koskela, Jälkö and Honkela 2020, AISTATS.  [3] Esscher 1932, Skand.
Aktuarietidskr. 15.  [4] Canonne, Kamath and Steinke 2020, NeurIPS, proposition 12.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.fft import irfft, next_fast_len, rfft
from scipy.optimize import brentq, minimize_scalar

Array = npt.NDArray[np.float64]

GRID = 10_000  # epsilons have at most four decimals
SLACK = 1e-6
"""The part of delta kept back for what doubles and transforms round off, which is far less."""
LOG_CUT = -45.0
"""Tails of the tilted distribution of at most e^-45 are left out."""
TILTS = (1e-3, 1e4)
# Together these keep 20 questions over 12 waves below a second, whatever their epsilons.
MOST_SUMS = 1e8
MOST_CELLS = 3e6


def compose_waves(epsilons: Sequence[Fraction], waves: Sequence[int], delta: float) -> list[Decimal]:
    """For each number of waves the least epsilon that holds but for delta over all answers of all of them.

    With e_i the epsilons, the worst joint loss is the sum of independent +e_i with probability e^e_i/(1+e^e_i) and
    -e_i otherwise, and delta(E) = E[max(0, 1 - e^(E - loss))] [1].
    """
    unit = _unit(epsilons, max(waves))
    # Rounding an epsilon up to the grid is safe: a channel that keeps it also keeps the larger one.
    steps = [math.ceil(epsilon * GRID / unit) for epsilon in epsilons]
    return [Decimal(_least_epsilon(steps, unit, times, delta * (1 - SLACK))) / GRID for times in waves]


def _unit(epsilons: Sequence[Fraction], waves: int) -> int:
    """The grid in ten-thousandths: the coarsest that all epsilons lie on, or coarser still if it has too many cells.

    The loss of one answer has a standard deviation of e/cosh(e/2) <= 1.33; some 18 of the sum's are looked at, in
    cells of two units.
    """
    exact = math.gcd(*(int(epsilon * GRID) for epsilon in epsilons))
    sums = len(epsilons) * float(sum(epsilons)) * GRID / MOST_SUMS
    cells = 9 * 1.33 * math.sqrt(len(epsilons) * waves) * GRID / MOST_CELLS
    least = max(sums, cells)
    return exact if exact >= least else next(unit for unit in _round_numbers() if unit >= least)


def _round_numbers() -> Iterator[int]:
    """1, 2, 5, 10, 20, 50 and so on."""
    scale = 1
    while True:
        yield from (scale, 2 * scale, 5 * scale)
        scale *= 10


def _least_epsilon(steps: list[int], unit: int, waves: int, allowed: float) -> int:
    """The least E in ten-thousandths with delta(E) <= allowed."""
    losses, mass = _deciding_losses(steps, unit, waves, math.log(allowed))
    # P(loss > E) >= delta(E) >= P(loss > E + ln 2) / 2: so E lies between the losses at which the upper tail falls to
    # 2 * allowed (less ln 2) and to allowed.
    tails = np.cumsum(mass[::-1])[::-1]
    high = max(int(losses[min(_first(tails, allowed), len(losses) - 1)]), 0)
    low = max(int(losses[max(_first(tails, 2 * allowed) - 1, 0)]) - math.ceil(GRID * math.log(2)), 0) - 1
    while high - low > 1:
        middle = (low + high) // 2
        above = slice(int(np.searchsorted(losses, middle, side="right")), None)
        excess = -float(mass[above] @ np.expm1((middle - losses[above]) / GRID))
        low, high = (middle, high) if excess > allowed else (low, middle)
    return high


def _first(falling: Array, limit: float) -> int:
    """The first place at which this is at most the limit, its length where there is none."""
    return int(np.searchsorted(-falling, -limit, side="left"))


class Coins(NamedTuple):
    """The losses of all answers: +e or -e, each so many times.

    Tilting [3] by t multiplies the probability of a loss by e^(t loss - K(t)), K the log of its moment generating
    function. Of +-e it makes the same kind of coin: odds of e^e become odds of e^(e (1 + 2t)).
    """

    epsilons: Array
    times: int

    def flips(self, tilt: float) -> Array:
        """The probability of -e."""
        return np.exp(-np.logaddexp(0.0, self.epsilons * (1 + 2 * tilt)))

    def mean(self, tilt: float) -> float:
        return self.times * float(np.sum(self.epsilons * (1 - 2 * self.flips(tilt))))

    def log_moment(self, tilt: float) -> float:
        """K(t), of each coin ln(p e^(te) + (1-p) e^(-te)), which is te + ln(p / p tilted)."""
        tilted, own = (np.logaddexp(0.0, -self.epsilons * (1 + 2 * t)) for t in (tilt, 0.0))  # -ln of +e's probability
        return self.times * float(np.sum(tilt * self.epsilons + tilted - own))

    def best_tilt(self, log_delta: float) -> float:
        """The t of the best bound delta(E) <= e^(K(t) - tE) (1/(1+t)) (t/(1+t))^t [4]; with it E is near the mean."""

        def bound(log_tilt: float) -> float:
            t = math.exp(log_tilt)
            return (self.log_moment(t) - math.log1p(t) - t * math.log1p(1 / t) - log_delta) / t

        least, most = TILTS
        return math.exp(float(minimize_scalar(bound, bounds=(math.log(least), math.log(most)), method="bounded").x))

    def reach(self, tilt: float, side: int) -> float:
        """How far up (side 1) or down (-1) losses go under this tilt, but for a tail of e^LOG_CUT.

        Chernoff: ln P(loss beyond mean(s)) <= K(s) - K(t) - (s - t) mean(s), s on that side of t.
        """

        def log_tail(away: float) -> float:
            other = tilt + side * away
            moments = self.log_moment(other) - self.log_moment(tilt)
            return moments - side * away * self.mean(other) - LOG_CUT

        far = 1e-3
        while log_tail(far) > 0 and far < TILTS[1]:
            far *= 4
        if log_tail(far) > 0:  # no tail is that thin: everything
            return side * self.times * float(self.epsilons.sum())
        return self.mean(tilt + side * float(brentq(log_tail, 0.0, far, xtol=1e-4)))


def _deciding_losses(steps: list[int], unit: int, waves: int, log_delta: float) -> tuple[Array, Array]:
    """The losses, in ten-thousandths, around the one sought, and their probabilities.

    Tilted coins are convolved and the tilt taken back. The transform is as long as the losses that matter: those left
    out wrap round, and would have to weigh e^45 times as much to be seen.
    """
    coins = Coins(np.array(steps) * (unit / GRID), waves)
    tilt = coins.best_tilt(log_delta)
    total = waves * sum(steps)
    # Cell j is a loss of 2j - total units.
    lowest, highest = ((coins.reach(tilt, side) * GRID / unit + total) / 2 for side in (-1, 1))
    # Between the mean and E lies ln(1 + 1/t), and then the ln 2 that the search may look further down.
    below = (coins.mean(tilt) - math.log1p(1 / tilt) - 1) * GRID / unit
    first = max(min(math.floor(lowest), math.floor((below + total) / 2)), 0)
    last = min(math.ceil(highest), total)
    mass = np.ones(1)
    for step, flip in zip(steps, coins.flips(tilt), strict=True):
        wider = np.zeros(len(mass) + step)
        wider[: len(mass)] = mass * flip
        wider[step:] += mass * (1 - flip)
        mass = wider
    size = next_fast_len(last - first + 1, real=True)
    folded = np.pad(mass, (0, -len(mass) % size)).reshape(-1, size).sum(axis=0)
    convolved: Array = np.maximum(irfft(rfft(folded) ** waves, size), 0.0)
    losses = unit * (2 * np.arange(first, last + 1, dtype=np.float64) - total)
    back = coins.log_moment(tilt) - tilt * losses / GRID
    return losses, np.roll(convolved, -(first % size))[: len(losses)] * np.exp(np.minimum(back, 700.0))
