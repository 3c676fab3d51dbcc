"""Scores: a number per report whose mean is the mean answer, or the share of one; and how it varies.

Answers lie at x = 0, 1/(m-1), ... 1 of the way along their range. A score g is unbiased if Q g = x for the channel's
table Q; then its mean over reports is the mean answer, with a t interval.

[1] Wang et al. 2019, ICDE (the worst case over values, as the yardstick for a numeric mean).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg import null_space
from scipy.optimize import NonlinearConstraint, minimize
from scipy.special import stdtrit

from deniable_protocol import Band, Channel, decode

from . import anytime
from .intervals import Aim, Raw, clip

Array = npt.NDArray[np.float64]

CLEAR_ENOUGH = 0.1
"""Where the channel's least variance is below this, in squares of the range, people may differ more than the noise."""


class Scores(NamedTuple):
    """An unbiased score per report.

    ``noise`` is the unbiased score of its variance given the answer, which lies between ``least`` and ``most``.
    """

    values: tuple[float, ...]
    noise: tuple[float, ...]
    least: float
    most: float


@lru_cache(maxsize=256)
def mean_scores(channel: Channel, between: bool = False) -> Scores:
    """Scores of the mean answer; ``between`` where true values may lie between the levels."""
    assert channel.held in (None, 1), "counts of larger subsets do not show the variance"
    if isinstance(channel, Band):
        return _scores(channel, _tuned(channel, between))
    # The textbook's channels are decoded as their table says, so that a team sees what that design costs.
    step = Fraction(1, channel.answers - 1)
    decoded = [decode(channel, report) for report in channel.reports()]
    return _scores(channel, [float(sum((j * z for j, z in enumerate(row)), Fraction(0)) * step) for row in decoded])


@lru_cache(maxsize=256)
def share_scores(channel: Channel) -> tuple[Scores, ...]:
    """Per answer j, the entries z_j of all reports."""
    decoded = [decode(channel, report) for report in channel.reports()]
    return tuple(_scores(channel, [float(z) for z in column]) for column in zip(*decoded, strict=True))


@lru_cache(maxsize=256)
def combined_scores(channel: Channel, signs: tuple[float, ...], floor: float) -> Scores:
    """Of the sum of the shares times these signs, moved from [floor, 1] to [0, 1]."""
    sums = [sum(s * z for s, z in zip(signs, decode(channel, report), strict=True)) for report in channel.reports()]
    return _scores(channel, [(float(total) - floor) / (1 - floor) for total in sums])


def worst_variance(channel: Channel, between: bool = False) -> float:
    """The largest variance of one report's score over all true values, in squares of the range."""
    table, levels = table_of(channel), np.linspace(0.0, 1.0, channel.answers)
    return _worst(table, levels, np.array(mean_scores(channel, between).values), between)


@lru_cache(maxsize=256)
def table_of(channel: Channel) -> Array:
    """The probability of each report under each answer, a row per answer; not to be changed."""
    reports = [*channel.reports()]
    if isinstance(channel, Band):  # two probabilities in all: long tables are made at once
        place = np.array(reports) - np.arange(channel.levels)[:, None]
        likely, other = float(channel.probability(0, 0)), float(channel.probability(0, channel.width))
        table = np.where((place >= 0) & (place < channel.width), likely, other)
    else:
        table = np.array([[float(channel.probability(x, y)) for y in reports] for x in range(channel.answers)])
    table.flags.writeable = False
    return table


def _tuned(channel: Band, between: bool) -> list[float]:
    """The unbiased scores whose worst variance over all true values is least.

    Unbiased scores of least variance at a reference distribution r of the levels are D^-1 Q'(Q D^-1 Q')^-1 x with
    D = diag(r Q). With r the least favourable one they are minimax; and as the variances are convex in g, that is the
    smallest t with  sum_y P(y | v) g_y^2 - v^2 <= t  for all values v, under Q g = x: a convex programme, started from
    r uniform. Were it not solved, the start is unbiased as well. The channel looks the same from both ends, and so do
    the scores: g is sought among start + (directions that change no mean and have opposite signs at both ends).
    """
    table, levels = table_of(channel), np.linspace(-0.5, 0.5, channel.levels)
    mixed, values = _values(table, levels, between)
    lower = values <= 0  # the upper half mirrors it
    mixed, values = mixed[lower], values[lower]
    start = _unbiased(table, levels)
    start = (start - start[::-1]) / 2
    opposite = np.eye(len(start))[: len(start) // 2]
    opposite = (opposite - opposite[:, ::-1]).T
    free = opposite @ null_space((table @ opposite)[: (len(table) + 1) // 2])
    unit = _worst(table, levels, start, between)  # t is sought in units of the start's, which is then 1

    def scores(found: Array) -> Array:
        return start + free @ found[:-1]

    below = NonlinearConstraint(
        lambda found: found[-1] - (mixed @ scores(found) ** 2 - values**2) / unit,
        0.0,
        np.inf,
        jac=lambda found: np.hstack([-2 * (mixed * scores(found)) @ free / unit, np.ones((len(values), 1))]),
    )
    last = np.eye(free.shape[1] + 1)[-1]
    solved = minimize(  # type: ignore[call-overload]  # the stubs know no such objective
        lambda found: float(found[-1]),
        last,
        jac=lambda found: last,
        constraints=below,
        method="SLSQP",
        options={"maxiter": 300, "ftol": 1e-9},
    )
    best = min((start, scores(solved.x)), key=lambda g: _worst(table, levels, g, between))
    return [float(score) + 0.5 for score in best]


def _unbiased(table: Array, values: Array) -> Array:
    """Scores with these expectations under each answer, of the least variance where all answers are equally common."""
    weights = table / table.sum(axis=0)
    scores: Array = weights.T @ np.linalg.solve(weights @ table.T, values)
    return scores


def _values(table: Array, levels: Array, between: bool) -> tuple[Array, Array]:
    """The report's distribution at each level and, where asked, at values between, which are rounded at random."""
    rows, values = [table], [levels]
    for part in (0.25, 0.5, 0.75) if between else ():
        rows.append((1 - part) * table[:-1] + part * table[1:])
        values.append((1 - part) * levels[:-1] + part * levels[1:])
    return np.concatenate(rows), np.concatenate(values)


def _worst(table: Array, levels: Array, scores: Array, between: bool) -> float:
    """Between two levels the second moment is linear in the value v, so that the variance, it minus v^2, is concave and
    peaks where its slope vanishes, or at an end.
    """
    moments = table @ scores**2
    worst = float(np.max(moments - levels**2))
    if between:
        slopes = np.diff(moments) / np.diff(levels)
        peaks = np.clip(slopes / 2, levels[:-1], levels[1:])
        worst = max(worst, float(np.max(moments[:-1] + slopes * (peaks - levels[:-1]) - peaks**2)))
    return worst


def _scores(channel: Channel, values: Iterable[float]) -> Scores:
    scores, table = np.array([*values]), table_of(channel)
    centres = table @ scores
    noise = np.array([row @ (scores - centre) ** 2 for row, centre in zip(table, centres, strict=True)])
    if isinstance(channel, Band):
        unbiased = _unbiased(table, noise)
    else:  # tables may be too near to singular for floating point
        unbiased = np.array([[float(z) for z in decode(channel, report)] for report in channel.reports()]) @ noise
    return Scores(tuple(map(float, scores)), tuple(map(float, unbiased)), float(noise.min()), float(noise.max()))


class Spread(NamedTuple):
    """The mean of n scores and its standard error, which one score does not have."""

    mean: float
    error: float | None
    n: float

    def limits(self, alpha: float) -> tuple[float, float]:
        """Around the mean, or the end of the range that is next to it."""
        if self.error is None:
            return -math.inf, math.inf
        margin, centre = -float(stdtrit(self.n - 1, alpha / 2)) * self.error, clip(self.mean)
        return centre - margin, centre + margin


class Scored(NamedTuple):
    """What reports show of a mean; and ``room``: what they would with one more at the bottom, or at the top.

    With little noise, what a sample shows is what people say, and a few who say something else may be missing from it.
    One more report at either end of the scores makes room for them: without it, 100 reports at epsilon 10 of which a
    few percent are at the other end can cover 62%. Where the channel's noise is more than that, there is no need.
    ``anytime``: the limits that are valid at every look, where these are asked for.
    """

    seen: Spread
    room: tuple[Spread, Spread] | None = None
    anytime: tuple[float, float] | None = None

    def limits(self, alpha: float) -> tuple[float, float]:
        """As they are before they are cut off at 0 and 1."""
        low, high = self.seen.limits(alpha)
        if self.room is None:
            return low, high
        return min(low, self.room[0].limits(alpha)[0]), max(high, self.room[1].limits(alpha)[1])

    def raw(self, aim: Aim) -> Raw:
        low, high = self.anytime or self.limits(aim.alpha)
        return Raw(self.seen.mean, self.seen.error, clip(low), clip(high))


def score_mean(scores: Scores, counts: Sequence[float], n: float, aim: Aim, rounding: float = 0.0) -> Scored:
    """The mean score of reports; ``rounding`` is the most that rounding to levels adds to the noise."""
    seen = _spread(scores, counts, n, aim, rounding)
    if scores.least >= CLEAR_ENOUGH or seen.error is None:
        return Scored(seen)
    ends = []
    for value in (min(scores.values), max(scores.values)):
        more = [count + (score == value) for count, score in zip(counts, scores.values, strict=True)]
        ends.append(_spread(scores, more, n + (sum(more) - sum(counts)), aim, rounding))
    return Scored(seen, (ends[0], ends[1]))


def pooled_scores(
    scores: Sequence[Scores],
    parts: Sequence[tuple[Channel, Sequence[float], float]],
    aim: Aim,
    rounding: float = 0.0,
) -> Scored:
    """The mean score over several parts, each with scores of its own; parts with the same channel are one.

    Parts are weighed by their reports over the most noise that a report can have, which the counts do not decide.
    """
    found: dict[Channel, tuple[Scores, Array, float]] = {}
    for each, (channel, counts, n) in zip(scores, parts, strict=True):
        before = found.get(channel, (each, np.zeros(len(counts)), 0.0))
        found[channel] = each, before[1] + np.asarray(counts, dtype=float), before[2] + n
    kept = [(each, counts.tolist(), n) for each, counts, n in found.values() if n]
    pooled = _pooled(kept, aim, rounding)
    return pooled._replace(anytime=_anytime_limits(kept, pooled.seen, aim)) if aim.anytime else pooled


def _pooled(kept: Sequence[tuple[Scores, list[float], float]], aim: Aim, rounding: float) -> Scored:
    means = [score_mean(*each, aim, rounding) for each in kept]
    if len(means) == 1:
        return means[0]
    certainty = [n / (each.most + 1) for each, _, n in kept]
    weights = [one / sum(certainty) for one in certainty]
    rooms = [each.room or (each.seen, each.seen) for each in means]
    bottom, top = (_weighed(weights, [room[end] for room in rooms]) for end in (0, 1))
    needed = any(each.room is not None for each in means)
    return Scored(_weighed(weights, [each.seen for each in means]), (bottom, top) if needed else None)


def _anytime_limits(kept: Sequence[tuple[Scores, list[float], float]], seen: Spread, aim: Aim) -> tuple[float, float]:
    """Exact for a simple random sample. A design makes reports worth as much less as the variance is larger."""
    worth = 1.0
    if aim.deff != 1 and seen.error:
        simple = _pooled(kept, replace(aim, deff=1.0), 0.0).seen.error
        worth = ((simple or 0.0) / seen.error) ** 2
    reports = [anytime.Reports(each.values, counts, 1 / (each.most + 1)) for each, counts, _ in kept]
    return anytime.limits(reports, seen.mean, aim.alpha, worth)


def _weighed(weights: Sequence[float], parts: Sequence[Spread]) -> Spread:
    mean = sum(weight * part.mean for weight, part in zip(weights, parts, strict=True))
    errors = [weight * part.error for weight, part in zip(weights, parts, strict=True) if part.error is not None]
    return Spread(mean, math.hypot(*errors) if len(errors) == len(parts) else None, min(part.n for part in parts))


def _spread(scores: Scores, counts: Sequence[float], n: float, aim: Aim, rounding: float) -> Spread:
    """With at least the variance that the score has given the answer. A sample that shows less, as any in which all
    reports agree, is not believed: otherwise 30 reports at epsilon 4 can cover 76% instead of 95%.
    """
    mean = _average(scores.values, counts, n)
    if n <= 1:
        return Spread(mean, None, n)
    spread = sum(c * (v - mean) ** 2 for c, v in zip(counts, scores.values, strict=True)) / (n - 1)
    variance = max(spread, scores.least)
    # f times what is not noise. Where f is below 1, noise is taken at its most, and above 1 without that of rounding.
    if (sampling := aim.sampling(n)) != 1:
        noise = min(max(_average(scores.noise, counts, n), scores.least), scores.most)
        noise += rounding if sampling < 1 else 0.0
        variance = sampling * variance + (1 - sampling) * min(noise, variance)
    return Spread(mean, math.sqrt(variance / n), n)


def _average(values: tuple[float, ...], counts: Sequence[float], n: float) -> float:
    return sum(c * v for c, v in zip(counts, values, strict=True)) / n
