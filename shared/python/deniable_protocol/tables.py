"""The textbook mechanisms as tables of integers, which every client computes for itself and compares.

May not: use floating point: two languages must get the same integers. Everything is in units of 2^-256, and every
division rounds down.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from .channels import Table
from .exact import ONE, N, exp_floor

SIDE = 64
"""Columns of a gaussian table on each side of the middle."""
SIGMAS = 10_000
"""A standard deviation is a whole number of these parts of the range."""


@lru_cache(maxsize=64)
def exponential(points: int, epsilon: Fraction) -> Table:
    """McSherry and Talwar's mechanism with utility -|x - y|: weights e^(-epsilon |x - y| / (2 (k - 1))).

    The sensitivity of the utility is k - 1, the whole scale, because the answer is one person's to change. The weights
    differ by at most e^(epsilon/2), the sums of two rows by less than that: together well below e^epsilon, so that
    rounding, of less than 10^-11 of any weight, takes nothing away.
    """
    step = epsilon / (2 * (points - 1))
    decay = [_decay(step * distance) for distance in range(points)]
    return Table(tuple(to_row([decay[abs(x - y)] for y in range(points)]) for x in range(points)))


@lru_cache(maxsize=64)
def laplace(levels: int, epsilon: Fraction) -> Table:
    """Local Laplace on the levels: discrete noise with P(j) proportional to e^(-epsilon |j| / (m - 1)).

    Two levels lie at most m - 1 steps apart, so no report's odds exceed e^epsilon. How far a report lies beyond the
    levels says nothing more about the level (the odds between two levels are the same for all of them), so that all
    below count as one report and all above as another: post-processing that loses nothing. A hundred-millionth of
    epsilon is set aside for rounding to integers.
    """
    a = _decay(epsilon * (1 - Fraction(1, 10**8)) / (levels - 1))
    # P(noise = j) is proportional to a^|j|; all at j and beyond: a^j / (1 - a), to be exact in a.
    powers = _powers(a, levels)
    beyond = [power * ONE // (ONE - a) for power in powers]
    return Table(
        tuple(
            to_row([beyond[x + 1], *(powers[abs(x - y)] for y in range(levels)), beyond[levels - x]])
            for x in range(levels)
        )
    )


@lru_cache(maxsize=64)
def gaussian(levels: int, epsilon: Fraction, delta: Fraction) -> Table:
    """Local Gaussian noise on 129 evenly spaced reports, which reach six standard deviations beyond the range.

    The standard deviation is found by doubling and halving, so that the two ends of the range keep epsilon and delta,
    in integers. All other pairs of levels are closer to each other, and so are their rows. It is within a thousandth of
    the analytic calibration (Balle and Wang 2018), because noise on a fine grid loses as much as noise on a line.
    """
    exp_epsilon = exp_floor(epsilon)

    def keeps(sigma: int) -> bool:
        row = _normal_row(sigma, 1, 1)
        return Table((row, row[::-1])).excess(exp_epsilon) <= delta

    low, high = SIGMAS // 10, SIGMAS // 5
    while not keeps(high):
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if keeps(middle) else (middle, high)
    above = [
        _normal_row(high, 2 * i - levels + 1, levels - 1) for i in range(levels // 2, levels)
    ]  # from the middle up
    return Table((*(row[::-1] for row in reversed(above[1:])), *above))


def _normal_row(sigma: int, offset: int, span: int) -> tuple[int, ...]:
    """The row of a level that lies offset/(2 span) ranges above the middle: a normal density at every report.

    With reports n*d from the middle and x the offset in ranges, e^(-(n d - x)^2 / 2 s^2) is proportional to
    e^(-(n d)^2 / 2 s^2) * e^(n d x / s^2) in n. The first is A_n, with A_(n+1)/A_n = e^(-d^2 / 2 s^2)^(2n+1); the
    second is a power of e^(-d x / s^2), counted down from the highest report, where it is 1.
    """
    s = Fraction(sigma, SIGMAS)
    d = (1 + 12 * s) / (2 * SIDE)
    first = step = _decay(d * d / (2 * s * s))
    bell = [ONE]
    for _ in range(SIDE):
        bell.append(bell[-1] * step // ONE)
        step = step * first // ONE * first // ONE
    tilt = _powers(_decay(d * offset / (2 * span * s * s)), 2 * SIDE)
    return to_row([bell[abs(j - SIDE)] * tilt[2 * SIDE - j] // ONE for j in range(2 * SIDE + 1)])


def _decay(exponent: Fraction) -> int:
    """e^-exponent."""
    return ONE * ONE // exp_floor(exponent)


def _powers(base: int, most: int) -> list[int]:
    powers = [ONE]
    for _ in range(most):
        powers.append(powers[-1] * base // ONE)
    return powers


def to_row(masses: Sequence[int]) -> tuple[int, ...]:
    """Integers in proportion to the masses, summing to N: rounded down, the rest added to the first of the largest.

    Rounding loses less than one per column, so the largest gains less than the number of columns.
    """
    total = sum(masses)
    row = [mass * N // total for mass in masses]
    row[row.index(max(row))] += N - sum(row)
    return tuple(row)
