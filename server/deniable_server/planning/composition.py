"""Exact composition of the channels that are published, over repeated waves.

Between two answers of one person, each report of ours is randomised response with some chance, and otherwise equally
likely under both (``Loss``). The sum of these losses decides what all reports say together. For a channel of which only
epsilon is known the chance is 1 [1], as in ``deniable_protocol.exact_composition``, which carries 50 digits and takes
minutes where many different epsilons meet. Here doubles do, by Fourier transform [2] of a tilted distribution [3], in
which the losses that decide are the likely ones and so keep their relative precision. A part of delta is kept back for
all that is cut off or rounded, so that a result is never smaller than the exact one, and larger by a ten-thousandth at
most, unless so many different epsilons meet that they are rounded up to a coarser grid.

[1] Kairouz, Oh and Viswanath 2015, ICML.  [2] Koskela, Jälkö and Honkela 2020, AISTATS.  [3] Esscher 1932, Skand.
Aktuarietidskr. 15.  [4] Canonne, Kamath and Steinke 2020, NeurIPS, proposition 12.  [5] Zhu, Dong and Wang 2022,
AISTATS.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.fft import irfft, next_fast_len, rfft
from scipy.optimize import brentq, minimize_scalar

from deniable_protocol import Band, Channel, Document, Part

Array = npt.NDArray[np.float64]

GRID = 10_000  # epsilons have at most four decimals
SLACK = 1e-6
"""The part of delta kept back for what doubles and transforms round off, which is far less."""
LOG_CUT = -45.0
"""Tails of the tilted distribution of at most e^-45 are left out."""
TILTS = (1e-3, 1e4)
ROUNDING = 1 + 1e-12
"""More than a few operations on doubles lose."""
# Together these keep 20 questions over 12 waves below a second, whatever their epsilons.
MOST_SUMS = 1e8
MOST_CELLS = 3e6


class Loss(NamedTuple):
    """What a report can say between two answers: with this chance a bit randomised at epsilon, otherwise nothing.

    Let d be the largest total variation distance between the reports of two answers. By how much one answer's
    probability of an event can exceed a times another's is convex in a, at most d for a = 1, and 0 for a = e^epsilon. A
    bit at epsilon, sent with chance d coth(epsilon/2), reaches the straight line between the two. So its losses may
    stand for those of any channel, also in composition [5], and those of subsets and bands are just these: a report
    favours one of the answers, or both, or neither.
    """

    epsilon: Fraction
    chance: float


def losses_of(document: Document) -> list[Loss]:
    """The losses of what one device sends, between any two lists of answers: one per report that it makes.

    Booklets are drawn whatever the answers are, so their chances are averaged. Two people who differ in every answer
    differ in every booklet.
    """
    if len(document.booklets) == 1:
        return [Loss(part.exact_epsilon, _chance([part], part.exact_epsilon)) for part in document.parts_of(0)]
    epsilon = document.survey.exact_epsilon
    drawn = [(booklet.weight, _chance(document.parts_of(i), epsilon)) for i, booklet in enumerate(document.booklets)]
    return [Loss(epsilon, sum(weight * chance for weight, chance in drawn) / sum(weight for weight, _ in drawn))]


def _chance(parts: Sequence[Part], epsilon: Fraction) -> float:
    """Of what is sent at once. If it has several parts or a delta, it is taken for the worst that keeps epsilon."""
    if len(parts) > 1 or parts[0].exact_delta:
        return 1.0
    return min(float(_distance(parts[0].channel)) / math.tanh(float(epsilon) / 2) * ROUNDING, 1.0)


def _distance(channel: Channel) -> Fraction:
    """The largest total variation distance between the reports of two answers.

    Where reports only speak for an answer or not, those that speak for it make the whole difference: p - q. Of two
    levels of a band, the reports that favour one of them alone make it: most of them for the levels at both ends.
    """
    if supports := channel.supports():
        return max(support.p - support.q for support in supports)
    rows, total = channel.integer_rows()
    if isinstance(channel, Band):
        rows = [rows[0], rows[-1]]
    return max(Fraction(sum(abs(a - b) for a, b in zip(*two, strict=True)), 2 * total) for two in combinations(rows, 2))


def compose_waves(losses: Sequence[Loss], waves: Sequence[int], delta: float) -> list[Decimal]:
    """For each number of waves the least epsilon that holds but for delta over all reports of all of them.

    The worst joint loss is the sum of independent losses: of each, +e with probability c e^e/(1+e^e), -e with
    c/(1+e^e), c its chance, and otherwise 0; and delta(E) = E[max(0, 1 - e^(E - loss))].
    """
    unit = _unit(losses, max(waves))
    total = sum(int(loss.epsilon * GRID) for loss in losses)
    # On a coarser grid the sum itself may be the smaller bound.
    least = (min(_least_epsilon(losses, unit, times, delta * (1 - SLACK)), total * times) for times in waves)
    return [Decimal(units) / GRID for units in least]


def _on_grid(losses: Sequence[Loss], unit: int) -> tuple[list[int], list[Loss]]:
    """Epsilons in units, rounded up, which is safe: with the same chance, a larger epsilon says more."""
    steps = [math.ceil(loss.epsilon * GRID / unit) for loss in losses]
    return steps, [Loss(Fraction(s * unit, GRID), loss.chance) for s, loss in zip(steps, losses, strict=True)]


def _unit(losses: Sequence[Loss], waves: int) -> int:
    """The grid in ten-thousandths: the coarsest that all epsilons lie on, or coarser still if it has too many cells.

    The loss of a report that always says something has a standard deviation of e/cosh(e/2) <= 1.33 under any tilt,
    and of others at most e/sqrt(2) or that; some 18 of the sum's are looked at.
    """
    exact = math.gcd(*(int(loss.epsilon * GRID) for loss in losses))
    sums = 2 * len(losses) * float(sum(loss.epsilon for loss in losses)) * GRID / MOST_SUMS
    spreads = (max(1.33, float(loss.epsilon) / math.sqrt(2) if loss.chance < 1 else 0.0) for loss in losses)
    cells = 18 * math.sqrt(waves * sum(spread**2 for spread in spreads)) * GRID / MOST_CELLS
    least = max(sums, cells)
    return exact if exact >= least else next(unit for unit in _round_numbers() if unit >= least)


def _round_numbers() -> Iterator[int]:
    """1, 2, 5, 10, 20, 50 and so on."""
    scale = 1
    while True:
        yield from (scale, 2 * scale, 5 * scale)
        scale *= 10


def _least_epsilon(each: Sequence[Loss], unit: int, waves: int, allowed: float) -> int:
    """The least E in ten-thousandths with delta(E) <= allowed."""
    losses, mass = _deciding_losses(each, unit, waves, math.log(allowed))
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


class Tilted(NamedTuple):
    """Of each report, the probabilities of +e and of -e under a tilt, and those of 0."""

    up: Array
    none: Array
    down: Array


class Coins(NamedTuple):
    """The losses of all reports: +e or -e with a chance, 0 otherwise, each so many times.

    Tilting [3] by t multiplies the probability of a loss by e^(t loss - K(t)), K the log of its moment generating
    function.
    """

    epsilons: Array
    log_chances: Array
    log_rests: Array
    times: int

    @classmethod
    def of(cls, losses: Sequence[Loss], times: int) -> Coins:
        chances = np.array([loss.chance for loss in losses])
        with np.errstate(divide="ignore"):  # no rest: a log of minus infinity
            return cls(np.array([float(loss.epsilon) for loss in losses]), np.log(chances), np.log1p(-chances), times)

    def _logs(self, tilt: float) -> tuple[Array, Array, Array]:
        """The logs of the tilted weights of +e and -e, c e^(te)/(1+e^-e) and c e^(-te)/(1+e^e), and of their sum K."""
        up = self.log_chances + tilt * self.epsilons - np.logaddexp(0.0, -self.epsilons)
        down = up - (1 + 2 * tilt) * self.epsilons
        return up, down, np.logaddexp(np.logaddexp(up, down), self.log_rests)

    def tilted(self, tilt: float) -> Tilted:
        up, down, moment = self._logs(tilt)
        return Tilted(np.exp(up - moment), np.exp(self.log_rests - moment), np.exp(down - moment))

    def mean(self, tilt: float) -> float:
        up, _, down = self.tilted(tilt)
        return self.times * float(np.sum(self.epsilons * (up - down)))

    def log_moment(self, tilt: float) -> float:
        """K(t)."""
        return self.times * float(np.sum(self._logs(tilt)[2]))

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


def _deciding_losses(each: Sequence[Loss], unit: int, waves: int, log_delta: float) -> tuple[Array, Array]:
    """The losses, in ten-thousandths, around the one sought, and their probabilities.

    Tilted coins are convolved and the tilt taken back. The transform is as long as the losses that matter: those left
    out wrap round, and would have to weigh e^45 times as much to be seen.
    """
    steps, rounded = _on_grid(each, unit)
    coins = Coins.of(rounded, waves)
    tilt = coins.best_tilt(log_delta)
    total = waves * sum(steps)
    # Cell j is a loss of j - total units.
    lowest, highest = (coins.reach(tilt, side) * GRID / unit + total for side in (-1, 1))
    # Between the mean and E lies ln(1 + 1/t), and then the ln 2 that the search may look further down.
    below = (coins.mean(tilt) - math.log1p(1 / tilt) - 1) * GRID / unit + total
    first = max(min(math.floor(lowest), math.floor(below)), 0)
    last = min(math.ceil(highest), 2 * total)
    mass = _of_one_wave(steps, coins.tilted(tilt))
    size = next_fast_len(last - first + 1, real=True)
    folded = np.pad(mass, (0, -len(mass) % size)).reshape(-1, size).sum(axis=0)
    convolved: Array = np.maximum(irfft(rfft(folded) ** waves, size), 0.0)
    losses = unit * (np.arange(first, last + 1, dtype=np.float64) - total)
    back = coins.log_moment(tilt) - tilt * losses / GRID
    return losses, np.roll(convolved, -(first % size))[: len(losses)] * np.exp(np.minimum(back, 700.0))


def _of_one_wave(steps: Sequence[int], probabilities: Tilted) -> Array:
    """The probabilities of the sum of one wave's losses, from the least to the largest, in units."""
    mass = np.ones(1)
    for step, up, none, down in zip(steps, *probabilities, strict=True):
        wider = np.zeros(len(mass) + 2 * step)
        wider[: len(mass)] = mass * down
        wider[step : step + len(mass)] += mass * none
        wider[2 * step :] += mass * up
        mass = wider
    return mass
