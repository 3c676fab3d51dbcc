"""Choosing the channel for a part: the most useful one that keeps the stated epsilon.

Runs once, when a survey is published. Which subset size or band width is *best* may be found with floating point:
a poor choice costs accuracy, never privacy, because ``largest_favour`` and the client's verification are exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise

from .channel import Channel
from .channels import Band, Drawn, Subset, Table
from .exact import ONE, N, exp_floor, largest_favour
from .parts import Item, paths_of
from .questions import Question

LEVELS = 49  # of a number's band
WIDTHS = (
    ("9.5", 2), ("8.5", 3), ("7.5", 4), ("6.5", 6), ("5.4", 8), ("4.4", 12), ("3.2", 16), ("1.7", 24), ("0", 48),
)  # fmt: skip
"""The width of a number's band from each epsilon on. All divide the 48 steps."""
GAUSSIAN_BINS = 193  # coarser bins waste delta: 129 of them up to 5%, these at most 2.1%


def design(items: Sequence[Item], epsilon: Fraction, size: int | None = None) -> Channel:
    """The channel of a part: of one question its default or the mechanism that the survey names, of several a subset
    of their paths, of the best size unless one is given.
    """
    if len(items) > 1:
        return subset(len(paths_of(items)), epsilon, size)
    item = items[0]
    if item.option is not None:
        return band(2, epsilon)
    return DESIGNS[item.channel_kind](item.question, epsilon)


def _subset(question: Question, epsilon: Fraction) -> Channel:
    return subset(len(question.codes), epsilon, 1 if question.mechanism == "krr" else None)


def _band(question: Question, epsilon: Fraction) -> Channel:
    if question.codes:
        return band(len(question.codes), epsilon)
    return band(LEVELS, epsilon, number_width(epsilon))


def _drawn(question: Question, epsilon: Fraction) -> Channel:
    return Drawn(parts=(band(2, epsilon),) * len(question.codes))


def _table(question: Question, epsilon: Fraction) -> Channel:
    if question.mechanism == "exponential":
        return exponential(len(question.codes), epsilon)
    levels, delta = 17 if epsilon >= 4 else 9, question.exact_delta
    return laplace(levels, epsilon) if delta is None else gaussian(levels, epsilon, delta)


DESIGNS: dict[type[Channel], Callable[[Question, Fraction], Channel]] = {
    Subset: _subset,
    Band: _band,
    Drawn: _drawn,
    Table: _table,
}
"""How a channel of each kind is made for a question that goes with it."""


def subset(options: int, epsilon: Fraction, size: int | None = None) -> Subset:
    """Subset selection, of the size that Ye and Barg (2018) show to be optimal unless one is given."""
    exp_epsilon = exp_floor(epsilon)
    if size is None:
        size = best_size(options, exp_epsilon)
    return Subset(options, size, largest_favour(exp_epsilon, options - size, size))


def best_size(options: int, exp_epsilon: int) -> int:
    """The d that minimises (d*r + k - d)^2 / (d*(k - d)), r = e^epsilon; of equals, the smaller."""

    def error(d: int) -> Fraction:
        return Fraction((d * exp_epsilon + (options - d) * ONE) ** 2, d * (options - d))

    return min(range(1, options), key=error)


def band(levels: int, epsilon: Fraction, width: int | None = None) -> Band:
    """A band of the given width, or of the one with the least worst-case variance of the mean."""
    exp_epsilon = exp_floor(epsilon)
    widths = range(1, levels) if width is None else (width,)
    candidates = [Band(levels, w, largest_favour(exp_epsilon, levels - 1, w)) for w in widths]
    return candidates[0] if len(candidates) == 1 else min(candidates, key=worst_variance)


def number_width(epsilon: Fraction) -> int:
    """Of a number's band: the one in ``WIDTHS`` for this epsilon.

    A width w that divides the m - 1 steps costs the mean nothing: of report y, y // w says what k-ary response on
    (m - 1)/w + 1 coarse levels would say, to which the number is rounded at random; y % w says where between them it
    lies. Wide bands have less noise, narrow ones less rounding. Changed where two are about equally good for the worst
    variance of the mean, which is never more than 2.2% above that of 9 levels (17 from epsilon 4 on).
    """
    return next(width for least, width in WIDTHS if epsilon >= Fraction(least))


def worst_variance(channel: Band) -> float:
    """The largest variance of the unbiased mean score over all true values in [-1, 1].

    Scores g = D^-1 Q' (Q D^-1 Q')^-1 x with D the report probabilities under uniform levels x. A value between
    two levels is rounded at random to one of them, so its second moment is the mixture of theirs; minus its
    square, that is concave between the levels and peaks where its slope vanishes, or at an end.
    """
    m = channel.levels
    x = [2 * i / (m - 1) - 1 for i in range(m)]
    q = [[float(channel.probability(i, y)) for y in channel.reports()] for i in range(m)]
    d = [sum(column) for column in zip(*q, strict=True)]
    gram = [[sum(a * b / c for a, b, c in zip(first, second, d, strict=True)) for second in q] for first in q]
    weights = _solve(gram, x)
    scores = [sum(q[i][y] * weights[i] for i in range(m)) / d[y] for y in range(len(d))]
    moment = [sum(p * score * score for p, score in zip(row, scores, strict=True)) for row in q]
    worst = 0.0
    for i in range(m - 1):
        slope = (moment[i + 1] - moment[i]) / (x[i + 1] - x[i])
        peak = min(max(slope / 2, x[i]), x[i + 1])
        worst = max(worst, moment[i] + slope * (peak - x[i]) - peak * peak)
    return worst


def _solve(matrix: list[list[float]], right: list[float]) -> list[float]:
    """Gauss-Jordan with partial pivoting; numpy is not part of the base install."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for k in range(len(rows)):
        best = max(range(k, len(rows)), key=lambda i: abs(rows[i][k]))
        rows[k], rows[best] = rows[best], rows[k]
        rows[k] = [value / rows[k][k] for value in rows[k]]
        for i, row in enumerate(rows):
            if i != k and row[k]:
                rows[i] = [a - row[k] * b for a, b in zip(row, rows[k], strict=True)]
    return [row[-1] for row in rows]


# --- the textbook mechanisms, as tables -------------------------------------------------------------------------


def exponential(points: int, epsilon: Fraction) -> Table:
    """McSherry and Talwar's mechanism with utility -|x - y|: weights e^(-epsilon |x - y| / (2 (k - 1))).

    The sensitivity of the utility is k - 1, the whole scale, because the answer is one person's to change. The
    normaliser differs between rows by at most e^(epsilon/2), the weights by at most e^(epsilon/2): together epsilon.
    """
    step = epsilon / (2 * (points - 1))
    decay = [ONE * ONE // exp_floor(step * distance) for distance in range(points)]
    rows = [_to_row([decay[abs(x - y)] for y in range(points)]) for x in range(points)]
    return Table(tuple(rows))


def laplace(levels: int, epsilon: Fraction) -> Table:
    """Local Laplace on the levels: discrete noise with P(j) proportional to e^(-epsilon |j| / (m - 1)).

    Two levels lie at most m - 1 steps apart, so no report's odds exceed e^epsilon. How far a report lies beyond the
    levels says nothing more about the level (the odds between two levels are the same for all of them), so that all
    below count as one report and all above as another: post-processing that loses nothing. A hundred-millionth of
    epsilon is set aside for rounding to integers.
    """
    step = epsilon * (1 - Fraction(1, 10**8)) / (levels - 1)
    # P(noise = j) is proportional to a^|j|, a = e^-step; all at j and beyond: a^j / (1 - a), to be exact in a.
    a = ONE * ONE // exp_floor(step)
    powers = [ONE]
    for _ in range(levels):
        powers.append(powers[-1] * a // ONE)
    beyond = [power * ONE // (ONE - a) for power in powers]
    return Table(
        tuple(
            _to_row([beyond[x + 1], *(powers[abs(x - y)] for y in range(levels)), beyond[levels - x]])
            for x in range(levels)
        )
    )


def gaussian(levels: int, epsilon: Fraction, delta: Fraction) -> Table:
    """Local Gaussian noise with the analytic calibration (Balle and Wang 2018), in bins.

    Binning is post-processing, so the table keeps what the continuous mechanism keeps, up to rounding to integers;
    the scale grows, by a millionth and then by doubling steps, until the exact integer sum confirms epsilon and delta.
    """
    exp_epsilon = exp_floor(epsilon)
    sigma, growth = gaussian_sigma(float(epsilon), float(delta)), 1e-6
    while (table := _gaussian_table(levels, sigma)).excess(exp_epsilon) > delta:
        sigma, growth = sigma * (1 + growth), growth * 2
    return table


def gaussian_sigma(epsilon: float, delta: float) -> float:
    """The least sigma, for sensitivity 1, with Phi(1/2s - es) - e^e Phi(-1/2s - es) <= delta; rounded up."""

    def excess(sigma: float) -> float:
        a, b = 1 / (2 * sigma), epsilon * sigma
        return _phi(a - b) - math.exp(epsilon) * _phi(-a - b)

    low, high = 1e-3, 1.0
    while excess(high) > delta:
        low, high = high, high * 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > delta else (low, middle)
    return high * (1 + 1e-12)


def _phi(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2


def _gaussian_table(levels: int, sigma: float) -> Table:
    reach = 6.0 * sigma  # in ranges; what lies beyond, about 10^-9, falls in the outermost bins
    inner = [-reach + (1 + 2 * reach) * i / GAUSSIAN_BINS for i in range(1, GAUSSIAN_BINS)]
    cuts = [-math.inf, *inner, math.inf]

    def row(x: float) -> tuple[int, ...]:
        return _to_row([int(ONE * _mass((low - x) / sigma, (high - x) / sigma)) for low, high in pairwise(cuts)])

    return Table(tuple(row(level / (levels - 1)) for level in range(levels)))


def _mass(low: float, high: float) -> float:
    """P(low < Z < high) from whichever tail is smaller, so that far bins keep their relative precision."""
    return _phi(high) - _phi(low) if high <= 0 else _phi(-low) - _phi(-high)


def _to_row(masses: list[int]) -> tuple[int, ...]:
    """Integers in proportion to the masses, summing to N: rounded down, the rest added to the largest.

    Rounding loses less than one per column, so the largest gains less than the number of columns.
    """
    total = sum(masses)
    row = [mass * N // total for mass in masses]
    row[row.index(max(row))] += N - sum(row)
    return tuple(row)
