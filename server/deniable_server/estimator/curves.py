"""The curve of a number question: which share of people is below each value, with a band for all values at once.

Unlike the likely distribution, nothing is smoothed here: a cumulative share is a sum of unbiased shares, or of decoded
levels, and the band comes from the covariance of these sums alone. With probability ``confidence`` it contains the
whole curve. Its width is the quantile of the largest of all errors, each over its standard error [1].

[1] Montiel Olea and Plagborg-Møller 2019, J. Appl. Econometrics 34 (sup-t bands).  [2] Genz and Bretz 2009,
Computation of Multivariate Normal and t Probabilities.  [3] Chernozhukov, Fernández-Val and Galichon 2009, Biometrika
96 (rearrangement).
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import msgspec
import numpy as np
from scipy.special import ndtri

from deniable_protocol import Channel, decode
from deniable_protocol.checks import DECLINED

from .evidence import Array, Counted, Evidence
from .intervals import Aim
from .shares import project

DRAWS = 20_000
"""Errors that are tried to find the largest; always the same ones, so that a number reads the same every time."""

MOST_POINTS = 12
"""Of many levels, so many are looked at: a band for fewer values is narrower."""


class CurvePoint(msgspec.Struct, frozen=True):
    """The share of people below a value, in the question's own units. ``low`` and ``high`` are limits for all values of
    the curve at once. Among those who are asked, and who answer.
    """

    at: float
    below: float
    unbiased: float
    standard_error: float
    low: float
    high: float


class Distance(msgspec.Struct, frozen=True):
    """The largest distance between the curves of two groups (Kolmogorov and Smirnov), where it is, and its interval.

    ``estimate`` is that of the estimated curves, which noise makes larger on average; ``p_value`` that of two equal
    curves. None where a group has no data.
    """

    first: str
    second: str
    estimate: float | None
    at: float | None
    low: float
    high: float
    p_value: float | None


class Sums(NamedTuple):
    """The cumulative shares of a question: values, possible and unbiased shares below them, and their covariance."""

    at: Array
    below: Array
    unbiased: Array
    covariance: Array
    n: float


def curve(evidence: Evidence, aim: Aim) -> list[CurvePoint]:
    """A point for each inner edge of the bins or, of a mean, between each two levels; none without reports."""
    found = cumulative(evidence, aim)
    if found is None:
        return []
    errors = np.sqrt(np.diag(found.covariance))
    low, high = _band(found.unbiased, errors, largest(found.covariance, found.n, aim))
    # A curve never falls, so that what one limit rules out, the next does too.
    low, high = np.maximum.accumulate(low), np.minimum.accumulate(high[::-1])[::-1]
    low, high = np.minimum(low, found.below), np.maximum(high, found.below)
    columns = (found.at, found.below, found.unbiased, errors, low, high)
    return [CurvePoint(*map(float, row)) for row in zip(*columns, strict=True)]


def distance(first: tuple[str, Evidence], second: tuple[str, Evidence], aim: Aim) -> Distance:
    """How far two groups are apart, who are different people: with probability ``confidence`` every difference is
    within its limits, and then so is the largest of them.
    """
    one, two = cumulative(first[1], aim), cumulative(second[1], aim)
    if one is None or two is None:
        return Distance(first[0], second[0], None, None, 0.0, 1.0, None)
    apart, covariance = one.unbiased - two.unbiased, one.covariance + two.covariance
    errors, n = np.sqrt(np.diag(covariance)), min(one.n, two.n)
    margin = largest(covariance, n, aim) * errors
    seen = np.abs(one.below - two.below)
    low, high = float(np.max(np.abs(apart) - margin)), float(np.max(np.abs(apart) + margin))
    place = int(np.argmax(seen))
    estimate = float(seen[place])
    return Distance(
        first[0],
        second[0],
        estimate,
        float(one.at[place]),
        min(max(low, 0.0), estimate),
        max(min(high, 1.0), estimate),
        _p_value(float(np.max(np.abs(apart) / np.maximum(errors, 1e-300))), covariance, n, aim),
    )


# --- cumulative shares ------------------------------------------------------------------------------------------------


def cumulative(evidence: Evidence, aim: Aim) -> Sums | None:
    """Of a number question; None where nothing is reported."""
    question = evidence.question
    if question.asks_mean:
        part = max(evidence.parts, key=lambda each: each.n)
        if not part.n:
            return None
        levels = np.linspace(*question.range, part.channel.answers)
        step = max((len(levels) - 1) // MOST_POINTS, 1)
        # A number is rounded at random to a level next to it. So the levels up to one have the share of numbers below a
        # value, on average over the values from this level to the next. The middle one stands for them.
        found = _decoded((levels[1:] + levels[:-1]) / 2, part, aim)
        some = slice((step - 1) // 2, None, step)
        return found._replace(
            at=found.at[some],
            below=found.below[some],
            unbiased=found.unbiased[some],
            covariance=found.covariance[some, some],
        )
    (shares,) = evidence.shares
    if shares is None:
        return None
    codes = [place for place, code in enumerate(question.codes) if code != DECLINED]
    unbiased, possible = shares.unbiased, np.array(project(shares.unbiased.tolist()))
    covariance = shares.covariance(possible, aim)
    total = float(unbiased[codes].sum())
    if total <= 0:
        return None
    if len(codes) < len(unbiased) or evidence.is_conditional:
        # Ratios: to first order, the error of s_j / S is that of (s_j - (s_j / S) S) / S.
        among = np.zeros(len(unbiased))
        among[codes] = 1.0
        ratio = unbiased[codes] / total
        gradient = (np.eye(len(unbiased))[codes] - np.outer(ratio, among)) / total
        unbiased, covariance = ratio, gradient @ covariance @ gradient.T
    edges: Array = np.array(getattr(question, "edges", ()), dtype=float)
    add = np.tri(len(unbiased) - 1, len(unbiased))
    below = np.clip(np.cumsum(project(unbiased.tolist()))[:-1], 0.0, 1.0)
    return Sums(edges[1:-1], below, add @ unbiased, add @ covariance @ add.T, shares.n)


def _decoded(at: Array, part: Counted, aim: Aim) -> Sums:
    """Of decoded levels, with their covariance as the reports show it.

    Each report's sums less their mean are squared: E[z^2] - E[z]^2 would lose all digits where reports hardly differ,
    and then be below 0.
    """
    counts, scores = np.array(part.counts, dtype=float), _scores(part.channel)
    mean = counts @ scores / part.n
    apart = np.cumsum(scores - mean, axis=1)[:, :-1]
    covariance = apart.T @ (apart * counts[:, None]) / part.n / max(part.n - 1, 1)
    # Sorted sums are nowhere further from a curve that never falls [3]. Projected levels, each of which has much noise,
    # would be: too many of the rare ones get a share.
    unbiased = np.cumsum(mean)[:-1]
    below = np.clip(np.sort(unbiased), 0.0, 1.0)
    # What a design adds to the sampling of people, or a small population takes away.
    covariance += (aim.sampling(part.n) - 1) * (np.minimum.outer(below, below) - np.outer(below, below)) / part.n
    # A few reports may happen to be equal, or to differ less than their noise must make them differ on average.
    np.fill_diagonal(covariance, np.maximum(np.diag(covariance), _least_noise(part.channel) / part.n))
    return Sums(at, below, unbiased, covariance, part.n)


@lru_cache(maxsize=64)
def _scores(channel: Channel) -> Array:
    """A row per report: the decoded levels."""
    return np.array([[float(each) for each in decode(channel, report)] for report in channel.reports()])


@lru_cache(maxsize=64)
def _least_noise(channel: Channel) -> Array:
    """The least variance of each sum of one report's decoded levels, whatever the answer is."""
    sums = np.cumsum(_scores(channel), axis=1)[:, :-1]
    laws = [
        [float(channel.probability(answer, report)) for report in channel.reports()]
        for answer in range(channel.answers)
    ]
    return np.asarray(np.min([law @ (sums - law @ sums) ** 2 for law in np.array(laws)], axis=0))


# --- all at once ------------------------------------------------------------------------------------------------------


def _band(unbiased: Array, errors: Array, times: float) -> tuple[Array, Array]:
    return np.clip(unbiased - times * errors, 0.0, 1.0), np.clip(unbiased + times * errors, 0.0, 1.0)


def largest(covariance: Array, n: float, aim: Aim) -> float:
    """How many standard errors all of these may be away at once."""
    if aim.anytime:  # Bonferroni: no law of the largest is known that is valid at every look
        return float(aim.split(len(covariance)).errors(n))
    drawn = _largest_of(_correlations(covariance))
    # Never below that of a single one, nor above Bonferroni's.
    least, most = -ndtri(aim.alpha / 2), -ndtri(aim.alpha / (2 * len(covariance)))
    return float(np.clip(np.quantile(drawn, aim.confidence), least, most))


def _p_value(statistic: float, covariance: Array, n: float, aim: Aim) -> float:
    if aim.anytime:
        return min(1.0, len(covariance) * aim.p_value(statistic**2, 1, n))
    drawn = _largest_of(_correlations(covariance))
    return float((1 + np.sum(drawn >= statistic)) / (1 + len(drawn)))


def _correlations(covariance: Array) -> tuple[tuple[float, ...], ...]:
    errors = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    return tuple(map(tuple, np.round(covariance / np.outer(errors, errors), 6).tolist()))


@lru_cache(maxsize=256)  # a page that is looked at again asks for the same
def _largest_of(correlations: tuple[tuple[float, ...], ...]) -> Array:
    """The largest of these correlated errors, many times."""
    values, vectors = np.linalg.eigh(np.array(correlations))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    found: Array = np.abs(_errors(len(values)) @ root.T).max(axis=1)
    return found


@lru_cache(maxsize=64)
def _errors(number: int) -> Array:
    """Independent normal errors, a row each time: Richtmyer's points, multiples of the roots of primes, which fill the
    cube more evenly than chance does [2].
    """
    primes = [n for n in range(2, 1_000) if all(n % m for m in range(2, int(n**0.5) + 1))][:number]
    part = np.outer(np.arange(1, DRAWS + 1), np.sqrt(primes)) % 1.0
    return np.asarray(ndtri(np.clip(part, 1e-12, 1 - 1e-12)))
