"""Summaries of a scale that survey teams use: the shares of its top and bottom two points, and the net score.

The net score is the share of the top points minus that of the bottom ones: two of each; on a scale of eleven points the
bottom seven, which makes it the Net Promoter Score.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, variance

import msgspec
from scipy.special import ndtri

from deniable_protocol import Subset, Table

from .intervals import clip, joint_support, share_of_support, support
from .scores import combined_scores, score_mean

FEWEST = 4
"""On a shorter scale the top two points and the bottom two overlap."""


class Summary(msgspec.Struct, frozen=True):
    """The share of the points in ``of``, minus the share of those in ``minus``."""

    id: str
    of: list[str]
    minus: list[str]
    estimate: float | None
    standard_error: float | None
    low: float
    high: float


def summarize(
    channel: Subset | Table,
    points: int,
    counts: Sequence[float],
    n: float,
    shares: Sequence[float],
    alpha: float,
    sampling: float,
) -> list[Summary]:
    """The summaries of a scale with this many points; ``shares`` are the estimates, possible ones."""
    if points < FEWEST:
        return []
    names = [str(point) for point in range(1, points + 1)]
    top, bottom = names[-2:], names[:2]
    low = names[:7] if points == 11 else bottom
    wanted = [("top_two", top, []), ("bottom_two", bottom, []), ("net_score", top, low)]
    return [_summary(*each, channel, points, counts, n, shares, alpha, sampling) for each in wanted]


def _summary(
    name: str,
    of: list[str],
    minus: list[str],
    channel: Subset | Table,
    points: int,
    counts: Sequence[float],
    n: float,
    shares: Sequence[float],
    alpha: float,
    sampling: float,
) -> Summary:
    floor = -1.0 if minus else 0.0
    if not n:
        return Summary(name, of, minus, None, None, floor, 1.0)
    signs = [float(str(j + 1) in of) - float(str(j + 1) in minus) for j in range(channel.answers)]
    estimate = sum(sign * share for sign, share in zip(signs, shares, strict=True))
    if isinstance(channel, Table):
        # As a score between 0 and 1.
        raw = score_mean(combined_scores(channel, tuple(signs), floor), counts, n, alpha, sampling)
        error, low, high = raw.standard_error, *(floor + (1 - floor) * limit for limit in (raw.low, raw.high))
        error = None if error is None else error * (1 - floor)
    elif minus:
        error, low, high = _difference(channel, signs, counts, n, shares, alpha, sampling)
    else:
        held = sum(count for sign, count in zip(signs, counts, strict=True) if sign)
        error, low, high = share_of_support(joint_support(channel, len(of)), held, n, alpha, sampling)[1:]
    return Summary(name, of, minus, estimate, error, min(low, estimate), max(high, estimate))


def _difference(
    channel: Subset,
    signs: list[float],
    counts: Sequence[float],
    n: float,
    shares: Sequence[float],
    alpha: float,
    sampling: float,
) -> tuple[float, float, float]:
    """The error and the limits of sum_j a_j z_j. Its variance is that of a among the answers plus the mean noise."""
    rule = support(channel)
    unbiased = sum(sign * (y / n - rule.q) / rule.gap for sign, y in zip(signs, counts, strict=True))
    noise = [_noise(channel, signs, x) / rule.gap**2 for x in range(channel.options)]
    mean = sum(share * sign for share, sign in zip(shares, signs, strict=True))
    among = sum(share * (sign - mean) ** 2 for share, sign in zip(shares, signs, strict=True))
    total = sampling * among + sum(share * h for share, h in zip(shares, noise, strict=True))
    error = math.sqrt(total / n)
    margin = -float(ndtri(alpha / 2)) * error
    centre = 2 * clip((unbiased + 1) / 2) - 1
    return error, max(centre - margin, -1.0), min(centre + margin, 1.0)


def _noise(channel: Subset, signs: list[float], x: int) -> float:
    """The variance of the sum of the signs that a report holds if x is the truth.

    A favoured report holds x and d - 1 of the k - 1 others, another report d of them: samples without replacement,
    whose sum has mean m * average and variance m (1 - m/(k-1)) * (variance among the others).
    """
    others = [sign for j, sign in enumerate(signs) if j != x]
    size, average = len(others), fmean(others)
    spread = variance(others) if size > 1 else 0.0
    p, d = support(channel).p, channel.size
    cases = [(p, signs[x] + (d - 1) * average, d - 1), (1 - p, d * average, d)]
    mean = sum(chance * value for chance, value, _ in cases)
    within = sum(chance * drawn * (1 - drawn / size) * spread for chance, _, drawn in cases)
    return within + sum(chance * (value - mean) ** 2 for chance, value, _ in cases)
