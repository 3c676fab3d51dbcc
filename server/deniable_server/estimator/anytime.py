"""Intervals and p-values that are right at every look, however often one looks and whatever makes one stop.

Only the present counts are kept, not the order in which reports came. So each limit is found by bets that need no
order. Somebody who doubts that a score has the mean m starts with 1 and stakes a fixed part on every report: a score v
multiplies the stake by 1 + l(v - m). If the mean is m, the stake is 1 on average after every report, and so is the mean
of the stakes of many such people, who bet more or less on more or on less. By Ville's inequality the chance that it
ever reaches 1/alpha is at most alpha [1, 2]. The interval has the m whose stake is below 1/alpha at this look, and the
true mean is then in all intervals at once with at least 1 - alpha. The bets are fixed in advance. That needs no normal
distribution and no least number of reports: it is exact for means, and for shares where each report supports an answer
or not. From several parts, or from reports that hold several paths, a share has the bets of a report with two values
and the same variance.

Where only a sum and its variance are known (ratios, tests, tables of two reports), a normal distribution of bets gives
the same in a closed form, right as the numbers of reports grow [3].

[1] Ville 1939, Étude critique de la notion de collectif.  [2] Waudby-Smith and Ramdas 2024, J. R. Stat. Soc. B 86;
Waudby-Smith, Wu and Ramdas 2023, ICML (for randomised response).  [3] Robbins 1970, Ann. Math. Stat. 41.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]

# Bets, in parts of a standard deviation. The best one for n reports is about 2.6/sqrt(n). With the same stake on each,
# intervals are 1.5 to 1.8 times as long as those for one look, from 30 reports to 10^8.
BETS = 2.0 ** np.arange(1, -12, -1)
ALL = 1 - 1e-9  # the most that is ever bet, of what there is
DIRECTIONS = np.array([-ALL, ALL])[:, None, None]  # on a larger mean, and on a smaller one; of a loss below 0
SIZES = 10.0 ** np.arange(1, 6)
"""The numbers of reports at which each normal distribution of bets begins to do well."""

NEAR = np.concatenate([[0.0], 2.0 ** np.arange(-16, 1)])[:, None]
EVEN = np.linspace(0.0, 1.0, 33)[:, None]
"""Where a limit is sought, on the way from the estimate to the end: first its order, and then its place."""
SIDES = np.arange(2)


class Reports(NamedTuple):
    """Reports with a score: its values, how many reports have each, and how much a report counts among other parts."""

    values: Sequence[float]
    counts: Sequence[float]
    weight: float = 1.0


def limits(
    parts: Sequence[Reports], start: float, alpha: float, worth: Callable[[Array], Array] | float = 1.0
) -> tuple[float, float]:
    """The limits of the mean score, which is ``start`` in these reports; possible means lie between 0 and 1.

    A start outside of these is moved to the nearer one, and the limits with it, which only widens what is left within:
    the interval never vanishes. ``worth``: how many reports of a simple random sample one of these is worth, at each
    mean, if answers vary more or less than there.
    """
    bottom = max(min(part.values) for part in parts)
    top = min(max(part.values) for part in parts)
    margin = 1e-12 * (top - bottom)
    inside = np.full(2, min(max(start, bottom + margin), top - margin))
    outside = np.array([bottom + margin, top - margin])
    for steps in (NEAR, EVEN, EVEN):
        tried = inside + steps * (outside - inside)
        kept = _stakes(parts, tried, worth(tried) if callable(worth) else worth) < -math.log(alpha)
        # The last one that is kept: should one before it be lost, the interval is longer, never too short.
        kept[0] = True
        last = len(steps) - 1 - kept[::-1].argmax(axis=0)
        inside, outside = tried[last, SIDES], tried[np.minimum(last + 1, len(steps) - 1), SIDES]
    moved = min(max(start, 0.0), 1.0) - start
    return float(outside[0]) + moved, float(outside[1]) + moved


def _stakes(parts: Sequence[Reports], means: Array, worth: Array | float = 1.0) -> Array:
    """The logarithm of what the bets against each of these means have become, on average.

    A bet of b standard deviations that could lose d of them with one report stakes 1 - exp(-bd) of all there is on it:
    b of them if that is little, and never more than all. The variance of a score is at most the product of its
    distances from both ends, and just that for two values: it gives the standard deviation.
    """
    mean, worth = means.ravel(), worth.ravel() if isinstance(worth, np.ndarray) else worth
    below = reduce(np.maximum, (part.weight * (mean - min(part.values)) for part in parts))
    above = reduce(np.maximum, (part.weight * (max(part.values) - mean) for part in parts))
    # A bet on a larger mean loses most at the least score, one on a smaller mean at the greatest. There is a row for
    # each bet: numpy is faster along rows than along columns.
    losses = np.array([below, above])[:, None]
    staked = np.expm1(losses / -np.sqrt(below * above) * BETS[:, None])
    bets = (staked * (DIRECTIONS / losses)).reshape(-1, len(mean))
    total = np.zeros(bets.shape)
    for part in parts:
        for value, count in zip(part.values, part.counts, strict=True):
            gained = np.log1p(bets * (part.weight * (value - mean)))
            gained *= count * worth
            total += gained
    return (_log_sum(total, axis=0) - math.log(len(bets))).reshape(means.shape)


def _log_sum(terms: Array, axis: int = -1) -> Array:
    """The logarithm of the sum of these powers of e. What is below e^-700 of the largest adds nothing."""
    top = terms.max(axis=axis, keepdims=True)
    smaller = np.maximum(terms - top, -700.0)  # beyond, exp is slow
    return np.asarray(top.squeeze(axis) + np.log(np.exp(smaller).sum(axis=axis)))


# --- sums of which a variance is known -------------------------------------------------------------------------------


def p_value(statistic: Array | float, freedom: int, n: Array | float) -> Array:
    """The chance, at most, that a chi-square statistic of n reports is ever as unlikely as this one.

    Bets on a change of normally distributed size, as large as the noise of N reports, become
    (1 + n/N)^(-freedom/2) exp(statistic/2 / (1 + N/n)); the p-value is 1 over their mean for several N.
    """
    slopes, losses = _normal_bets(freedom, n)
    return np.asarray(np.minimum(1.0, np.exp(-_log_sum(np.asarray(statistic)[..., None] * slopes - losses))))


def quantile(n: Array | float, alpha: float) -> Array:
    """How many standard errors an estimate from n reports may be away: what the normal quantile is for one look.

    The square x of it makes the bets 1/alpha. Their logarithm is convex in x, so that Newton's steps from where the
    best of them is that much by itself come down to it, and never go below.
    """
    slopes, losses = _normal_bets(1, n)
    square = np.min((losses - math.log(alpha)) / slopes, axis=-1)
    for _ in range(8):
        terms = square[..., None] * slopes - losses
        log = _log_sum(terms)
        slope = np.sum(np.exp(terms - log[..., None]) * slopes, axis=-1)
        square = square - (log + math.log(alpha)) / slope
    return np.asarray(np.sqrt(square))


def _normal_bets(freedom: int, n: Array | float) -> tuple[Array, Array]:
    """What each of the bets gains, as a logarithm, for 1 of a statistic of n reports; and what it loses at 0."""
    times = np.divide.outer(np.asarray(n, dtype=float), SIZES)
    return times / (1 + times) / 2, freedom / 2 * np.log1p(times) + math.log(len(SIZES))
