"""What false submissions can do: an estimate with them minus the estimate without.

A false submission adds any z that a report decodes to. With a fraction f of them the unbiased shares go from u to
u + f(z - u). The estimate is the point p of the simplex that is nearest to u; it is nearest to p + (1-f)(u-p), too, and
f(z - p) from there is just u + f(z - u). So however far u lies outside, the change that counts is f(z - p), with p a
mixture of the answers e_x. For a share s that stays inside: f(max z - s) up, f(s - min z) down; over all s at most
f max(max z, 1 - min z), for yes_no f e^epsilon/(e^epsilon - 1). A mean, cut off at its ends, is the same.

A false submission chooses its booklet. Where parts are pooled, a report of a part counts with w/n of that part, which
is in proportion to 1/V whatever the numbers of reports; the worst part is what counts. Of options that are reported
apart, it is the one with the fewest reports.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from deniable_protocol import Channel, decode

from .evidence import Array, Evidence, Pooled
from .intervals import Chances, joint_rule
from .scores import mean_scores


def question_influence(evidence: Evidence) -> float | None:
    """The most that one false submission moves the estimate of any share, or the mean in its units.

    An unbiased share moves by no more from between 0 and 1; from outside, by as much more as it was outside. None
    without answers, and for shares among those whom a question is asked: a false submission moves their number as well,
    and where that is small there is no bound.
    """
    question = evidence.question
    if not evidence.answers or evidence.is_conditional:
        return None
    if question.asks_mean:
        low, high = question.range
        scores = [(mean_scores(part.channel, question.is_continuous).values, part.n) for part in evidence.parts]
        return _up(max(max(max(values), 1 - min(values)) for values, _ in scores) * (high - low) / evidence.answers)
    if evidence.is_scored:
        return _up(_table_influence(evidence.parts[0].channel) / evidence.answers)
    move = _most_moved_share if evidence.is_exclusive else _most_moved_alone
    # Where nobody has reported on an option, the first false submission decides its share.
    return _up(max(1.0 if shares is None else _worst(shares, move) for shares in evidence.shares))


def _worst(shares: Pooled, move: Callable[[Chances, tuple[int, ...]], float]) -> float:
    each = zip(shares.weights, shares.parts, strict=True)
    return max(float(weight) / part.n * move(part.chance, part.sizes) for weight, part in each)


def _up(influence: float) -> float:
    """Rounded up, by more than floating point may lose: the figure is never understated."""
    return influence * (1 + 1e-12)


def _numbers(chance: Chances) -> tuple[int, int, float, float]:
    rule = joint_rule(chance, 1)
    return chance.answers, chance.held, rule.q, rule.gap


@lru_cache(maxsize=1024)
def _most_moved_alone(chance: Chances, sizes: tuple[int, ...]) -> float:
    """Of a share that is by itself: max z, with as many of its t paths held as can be, or 1 - min z."""
    k, d, q, gap = _numbers(chance)
    t = sizes[-1]
    return max((min(d, t) - t * q) / gap, 1 - (max(d - (k - t), 0) - t * q) / gap)


@lru_cache(maxsize=1024)
def _most_moved_share(chance: Chances, sizes: tuple[int, ...]) -> float:
    """Of shares that sum to 1: the most that one of them moves, before or after the projection.

    The projection takes off the mean change of the answers above zero, A: entry j of A changes by change_j - mean over
    A, that is by (m change_j - sum over the m others in A)/(m + 1). Up, the report holds the paths of j first, then
    those outside A, and the truth is in A; down, it holds those in A first, and the truth is j. Of A only the number S
    of its paths counts, besides m: the expression rises with S up to a bend and falls from there. S is put at the bend,
    or as near to it as m answers come: with answers of one size the result is exact, else never too small.
    """
    k, d, q, gap = _numbers(chance)
    most = 0.0
    for j, t in enumerate(sizes):
        held, least, others = min(d, t), max(d - (k - t), 0), sorted(sizes[:j] + sizes[j + 1 :])
        outside = k - t
        most = max(most, (held - t * q) / gap, 1 - (least - t * q) / gap)
        for m in range(1, len(others) + 1):
            fewest, largest = sum(others[:m]), sum(others[-m:])
            size = min(max(outside - (d - held), fewest), largest)
            up = m * (held - t * q) / gap + (size * q - max(d - held - (outside - size), 0)) / gap + 1
            size = min(max(d, fewest), largest)
            down = m * ((t * q - least) / gap + 1) + (min(d, size) - size * q) / gap
            most = max(most, up / (m + 1), down / (m + 1))
    return most


@lru_cache(maxsize=256)
def _table_influence(channel: Channel) -> float:
    reports, answers = map(list, channel.representatives())
    decoded = [[float(z) for z in decode(channel, report)] for report in reports]
    return max(_most_moved([z - (j == x) for j, z in enumerate(row)]) for row in decoded for x in answers)


def _most_moved(change: list[float]) -> float:
    """The same for a change of the unbiased shares: greatest for the largest entry with an A of the smallest, or the
    reverse.
    """
    rising = sorted(change)
    most = max(rising[-1], -rising[0])
    for others in range(1, len(rising)):
        up = others * rising[-1] - sum(rising[:others])
        down = sum(rising[-others:]) - others * rising[0]
        most = max(most, up / (others + 1), down / (others + 1))
    return most


def sum_influence(evidence: Evidence, signs: tuple[float, ...]) -> float:
    """The most that one false submission moves the sum of the estimates times these signs, as of the top two points of
    a scale.
    """
    if evidence.is_scored:
        channel = evidence.parts[0].channel
        decoded = np.array([[float(z) for z in decode(channel, report)] for report in channel.reports()])
        most = max(_gained(gains, (gains @ decoded.T).max(axis=1)) for gains in _gains(signs))
        return _up(most / evidence.answers)
    (shares,) = evidence.shares
    assert shares is not None
    return _up(_worst(shares, lambda chance, sizes: _most_moved_sum(chance, sizes, signs)))


def _gains(signs: tuple[float, ...]) -> list[Array]:
    """With A the answers above zero the sum changes by sum over A of (sign_j - mean sign of A)(z_j - e_xj). Scales are
    short: every A is tried, a row each, for a change upwards and one downwards.
    """
    k = len(signs)
    above = (np.arange(1, 1 << k)[:, None] >> np.arange(k) & 1).astype(float)
    directions = np.array(signs), -np.array(signs)
    return [above * (each - (above @ each / above.sum(axis=1))[:, None]) for each in directions]


def _gained(gains: Array, reports: Array) -> float:
    """With the best report for each A, and the best truth."""
    return float((reports - gains.min(axis=1)).max())


@lru_cache(maxsize=256)
def _most_moved_sum(chance: Chances, sizes: tuple[int, ...], signs: tuple[float, ...]) -> float:
    _, d, q, gap = _numbers(chance)
    most = 0.0
    for gains in _gains(signs):
        best = np.sort(np.repeat(gains, sizes, axis=1), axis=1)[:, -d:].sum(axis=1)
        most = max(most, _gained(gains, (best - gains @ np.array(sizes) * q) / gap))
    return most
