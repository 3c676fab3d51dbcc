"""Summaries of a scale that survey teams use: the shares of its top and bottom points, and the net score.

The net score is the share of the top two points minus that of the bottom two; on a scale of eleven points the bottom
seven, which makes it the Net Promoter Score.

[1] Zou and Donner 2008, Statistics in Medicine 27 (the method of variance estimates recovery).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import fmean, variance
from typing import NamedTuple, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType
from scipy.special import stdtrit

from deniable_protocol import Channel, Subset

from .intervals import Raw, clip, joint_support, sampling_factor, share_of_support, support
from .scores import combined_scores, score_mean

Signs: TypeAlias = tuple[float, ...]
"""One per answer: 1 or -1 for those that count, 0 for the others."""

FEWEST = 4
"""On a shorter scale the top two points and the bottom two overlap."""


class Summary(msgspec.Struct, frozen=True):
    """The share of the points in ``of``, minus the share of those in ``minus``.

    ``fake_influence``: the most that one false submission moves it; not there where reports are weighted.
    """

    id: str
    of: list[str]
    minus: list[str]
    estimate: float | None
    standard_error: float | None
    low: float
    high: float
    fake_influence: float | UnsetType = UNSET

    def signs(self, answers: int) -> Signs:
        """1 for the answers that count, -1 for those that count against it; the points, and then perhaps "declined"."""
        return tuple(float(str(j + 1) in self.of) - float(str(j + 1) in self.minus) for j in range(answers))

    @property
    def too_noisy(self) -> bool:
        """Whether the interval spans more than half of all that is possible."""
        return self.high - self.low > (1.0 if self.minus else 0.5)


class Reports(NamedTuple):
    """What is known of a question; ``shares`` are the estimates of all answers, possible ones."""

    channel: Channel
    counts: Sequence[float]
    n: float
    shares: Sequence[float]
    alpha: float
    population: int | None


def summarize(points: int, reports: Reports) -> list[Summary]:
    """The summaries of a scale with this many points."""
    if points < FEWEST:
        return []
    names = [str(point) for point in range(1, points + 1)]
    top, (bottom, least) = names[-2:], (names[:7], "bottom_seven") if points == 11 else (names[:2], "bottom_two")
    return [
        _summary("top_two", top, [], reports),
        _summary(least, bottom, [], reports),
        _summary("net_score", top, bottom, reports),
    ]


def _summary(name: str, of: list[str], minus: list[str], reports: Reports) -> Summary:
    floor = -1.0 if minus else 0.0
    if not reports.n:
        return Summary(name, of, minus, None, None, floor, 1.0)
    answers = range(reports.channel.answers)  # the points, and then perhaps "declined"
    first = tuple(float(str(j + 1) in of) for j in answers)
    second = tuple(float(str(j + 1) in minus) for j in answers)
    if not isinstance(reports.channel, Subset):
        error, low, high = _scored(reports.channel, _minus(first, second), floor, reports)
    elif minus:
        error, low, high = _difference(reports.channel, first, second, reports)
    else:
        error, low, high = _together(reports.channel, first, reports)[1:]
    estimate = _sum(reports.shares, _minus(first, second))
    return Summary(name, of, minus, estimate, error, min(low, estimate), max(high, estimate))


def _scored(channel: Channel, signs: Signs, floor: float, reports: Reports) -> tuple[float | None, float, float]:
    """Error and limits from a score, which is moved between 0 and 1 and back."""
    factor = sampling_factor(reports.n, reports.population)
    raw = score_mean(combined_scores(channel, signs, floor), reports.counts, reports.n, reports.alpha, factor)
    error = None if raw.standard_error is None else raw.standard_error * (1 - floor)
    return error, floor + (1 - floor) * raw.low, floor + (1 - floor) * raw.high


def _together(channel: Subset, signs: Signs, reports: Reports) -> Raw:
    """The share of several points together."""
    rule, held = joint_support(channel, round(sum(signs))), _sum(reports.counts, signs)
    return share_of_support(rule, held, reports.n, reports.alpha, reports.population)


def _difference(channel: Subset, first: Signs, second: Signs, reports: Reports) -> tuple[float, float, float]:
    """Error and limits of the share of the first points minus that of the second.

    Limits recovered from those of the two shares and their correlation r [1]: with a the distance of the first's lower
    limit and b that of the second's upper one, sqrt(a^2 + b^2 - 2rab) below; and so above. They fall short where the
    score is nearly 1 or -1, since the shares' limits stop there; plain t limits do for a handful of reports. The wider
    of the two falls short in neither case.
    """
    top, bottom = _together(channel, first, reports), _together(channel, second, reports)
    variances = [_variance(channel, signs, reports) for signs in (first, second, _minus(first, second))]
    r = max(-1.0, (variances[0] + variances[1] - variances[2]) / (2 * math.sqrt(variances[0] * variances[1])))
    high, low = clip(top.unbiased), clip(bottom.unbiased)

    def distance(a: float, b: float) -> float:
        return math.sqrt(a * a + b * b - 2 * r * a * b)

    down, up = distance(high - top.low, bottom.high - low), distance(top.high - high, low - bottom.low)
    error = math.sqrt(variances[2] / reports.n)
    margin = -float(stdtrit(reports.n - 1, reports.alpha / 2)) * error if reports.n > 1 else 2.0
    centre = min(max(top.unbiased - bottom.unbiased, -1.0), 1.0)
    return error, max(min(high - low - down, centre - margin), -1.0), min(max(high - low + up, centre + margin), 1.0)


def _variance(channel: Subset, signs: Signs, reports: Reports) -> float:
    """Of one report's sum_j a_j z_j: that of a among the answers, as far as sampling counts, plus the mean noise."""
    mean = _sum(reports.shares, signs)
    among = _sum(reports.shares, tuple((sign - mean) ** 2 for sign in signs))
    return sampling_factor(reports.n, reports.population) * among + _sum(reports.shares, _noise(channel, signs))


def _sum(values: Sequence[float], signs: Sequence[float]) -> float:
    return sum(value * sign for value, sign in zip(values, signs, strict=True))


def _minus(first: Signs, second: Signs) -> Signs:
    return tuple(a - b for a, b in zip(first, second, strict=True))


@lru_cache(maxsize=256)
def _noise(channel: Subset, signs: Signs) -> list[float]:
    """Per true answer x, the variance of the sum of the signs that a report holds, decoded.

    A favoured report holds x and d - 1 of the k - 1 others, another report d of them: samples without replacement,
    whose sum has mean m * average and variance m (1 - m/(k-1)) * (variance among the others).
    """
    (p, _, gap, *_), d, noise = support(channel), channel.size, []
    for x, own in enumerate(signs):
        others = [sign for j, sign in enumerate(signs) if j != x]
        size, average, spread = len(others), fmean(others), variance(others)
        cases = [(p, own + (d - 1) * average, d - 1), (1 - p, d * average, d)]
        mean = sum(chance * value for chance, value, _ in cases)
        within = sum(chance * drawn * (1 - drawn / size) * spread for chance, _, drawn in cases)
        noise.append((within + sum(chance * (value - mean) ** 2 for chance, value, _ in cases)) / gap**2)
    return noise
