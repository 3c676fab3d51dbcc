"""The estimate of one question: shares or a mean, how sure they are, and what is to be said about them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TypeAlias

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from deniable_protocol import Channel, Question

from .distribution import Point, likely_distribution
from .influence import consistent, share_influence, sum_influence
from .intervals import Raw, clip, sampling_factor, share_of_support, supported
from .scores import mean_scores, score_mean, share_scores
from .summaries import Reports, Summary, summarize

TOO_NOISY = "too noisy to say"
NOT_HONEST = "not consistent with honest reports"

Counts: TypeAlias = Sequence[float]
"""How many reports show each feature of the channel. Whole numbers, but for those of weighted reports."""


class Share(msgspec.Struct, frozen=True):
    """The share of one option; the numbers are None where no report is about it.

    ``unbiased`` may lie outside [0, 1]; ``estimate`` is a possible share, and lies between ``low`` and ``high``.
    ``note`` is there where the interval spans more than half of all that is possible.
    """

    code: str
    estimate: float | None
    unbiased: float | None
    standard_error: float | None
    low: float
    high: float
    note: str | UnsetType = UNSET


class Mean(msgspec.Struct, frozen=True):
    """A mean in the question's own units; it takes one report for a value and two for a standard error."""

    value: float | None
    standard_error: float | None
    low: float
    high: float
    note: str | UnsetType = UNSET


class Weighted(msgspec.Struct, frozen=True):
    """The same with reports weighted to known margins; as sure as ``effective_answers`` that need no weights."""

    effective_answers: float
    shares: list[Share]
    mean: Mean | None
    summaries: list[Summary] | UnsetType = UNSET


class QuestionEstimate(msgspec.Struct, frozen=True):
    """All that is estimated of one question: shares, or (with no shares) a mean.

    ``open_equivalent``: how many unprotected answers would be as precise; None for means and where nothing is known.
    ``fake_influence``: the most that one false submission moves the estimate of any share, or the mean in its units.
    ``notes``: what a reader must know first. ``summaries`` are there for scales with shares, ``distribution`` and
    ``weighted`` where they were asked for.
    """

    id: str
    type: str
    epsilon: str
    answers: int
    shares: list[Share]
    mean: Mean | None
    open_equivalent: int | None
    fake_influence: float | None
    notes: list[str]
    summaries: list[Summary] | UnsetType = UNSET
    distribution: list[Point] | UnsetType = UNSET
    weighted: Weighted | UnsetType = UNSET


def estimate_question(
    question: Question,
    channel: Channel,
    counts: Iterable[int],
    answers: int,
    *,
    confidence: float = 0.95,
    simultaneous: bool = False,
    population: int | None = None,
    distribution: bool = False,
) -> QuestionEstimate:
    """The estimate from the sufficient statistic of ``answers`` reports.

    ``simultaneous``: the k intervals of the question are right together (Bonferroni: each at 1 - alpha/k).
    ``population``: how many people the respondents were drawn from without replacement; with as many as answered, the
    intervals are for the respondents themselves.
    """
    if not 0 < confidence < 1:
        raise ValueError("confidence must lie between 0 and 1")
    counts = _checked(channel, [int(count) for count in counts], answers)
    alpha = 1 - confidence
    shares, mean, summaries = _numbers(question, channel, counts, answers, alpha, simultaneous, population)
    open_equivalent = None
    if mean is not None:
        scores = mean_scores(channel, question.is_continuous).values
        low, high = question.range
        # Equivalent open answers are *their* variance over SE^2. The reports hardly show that variance, and its bound,
        # (value - min)(max - value), would flatter us: open_equivalent stays None.
        influence = max(max(scores), 1 - min(scores)) * (high - low) / max(answers, 1)
    else:
        # Sampling counts here whatever the interval is for: an open answer, too, is from a population.
        sampled = shares if population is None else _numbers(question, channel, counts, answers, alpha)[0]
        open_equivalent = _open_equivalent(sampled, answers)
        # Where parts are drawn, a false submission chooses its part: the one with the fewest honest reports.
        fewest = min((each.n for each in supported(channel, counts, answers)), default=answers)
        influence = share_influence(channel) / max(fewest, 1)
    if summaries and answers:
        sums = [sum_influence(channel, each.signs(channel.answers)) / answers for each in summaries]
        summaries = [replace(each, fake_influence=_up(most)) for each, most in zip(summaries, sums, strict=True)]
    curve = (
        likely_distribution(channel, counts, *question.range)
        if distribution and question.asks_mean and question.is_continuous
        else UNSET
    )
    return QuestionEstimate(
        id=question.id,
        type=question.type,
        epsilon=question.epsilon,
        answers=answers,
        shares=shares,
        mean=mean,
        open_equivalent=open_equivalent,
        fake_influence=_up(influence) if answers else None,
        notes=_notes(channel, counts, answers, [*shares, *([] if mean is None else [mean])]),
        summaries=summaries,
        distribution=curve,
    )


def estimate_weighted(
    question: Question,
    channel: Channel,
    counts: Counts,
    effective: float,
    *,
    confidence: float = 0.95,
    simultaneous: bool = False,
    population: int | None = None,
) -> Weighted:
    """The numbers from weighted counts, which sum as those of ``effective`` reports do (weights.py)."""
    numbers = _numbers(question, channel, counts, effective, 1 - confidence, simultaneous, population)
    return Weighted(effective, *numbers)


def _numbers(
    question: Question,
    channel: Channel,
    counts: Counts,
    n: float,
    alpha: float,
    simultaneous: bool = False,
    population: int | None = None,
) -> tuple[list[Share], Mean | None, list[Summary] | UnsetType]:
    if question.asks_mean:
        return [], mean_of(question, channel, counts, n, alpha, population), UNSET
    raw = raw_shares(channel, counts, n, alpha / channel.answers if simultaneous else alpha, population)
    if not channel.exclusive:
        estimates = [None if share is None else clip(share.unbiased) for share in raw]
    else:
        known = [share.unbiased for share in raw if share is not None]
        estimates = [*project(known)] if known else [None] * len(raw)
    shares = [_share(*entry) for entry in zip(question.codes, estimates, raw, strict=True)]
    summaries: list[Summary] | UnsetType = UNSET
    if question.labels:
        possible = [share for share in estimates if share is not None]
        summaries = summarize(len(question.labels), Reports(channel, counts, n, possible, alpha, population))
    return [shares[j] for j in question.reading_order], None, summaries


def _checked(channel: Channel, counts: list[int], answers: int) -> list[int]:
    length, total = channel.feature_count, answers * (channel.held or 1)
    if len(counts) != length or sum(counts) != total or not all(0 <= count <= answers for count in counts):
        raise ValueError(f"these are not the {length} counts of {answers} reports")
    return counts


def raw_shares(
    channel: Channel, counts: Counts, n: float, alpha: float, population: int | None = None
) -> list[Raw | None]:
    """The unbiased shares in the channel's order; None where no report is about one."""
    if not n:
        return [None] * channel.answers
    if counted := supported(channel, counts, n):
        # Given how many reports are about it, an answer is a yes_no of its own, put to a sample of the respondents.
        return [share_of_support(*each, alpha, population) if each.n else None for each in counted]
    factor = sampling_factor(n, population)
    return [score_mean(scores, counts, n, alpha, factor) for scores in share_scores(channel)]


def _share(code: str, estimate: float | None, raw: Raw | None) -> Share:
    if estimate is None or raw is None:
        return Share(code, None, None, None, 0.0, 1.0, TOO_NOISY)
    # The projection only ever lowers a positive share, and where many options vie it can take one below its own
    # interval, which knows nothing of the others. The interval then reaches down to it: wider, never less sure.
    low, high = min(raw.low, estimate), max(raw.high, estimate)
    return Share(code, estimate, raw.unbiased, raw.standard_error, low, high, too_noisy(high - low, 1.0))


def too_noisy(width: float, scale: float) -> str | UnsetType:
    """The note for an interval that spans more than half of all that is possible."""
    return TOO_NOISY if width > scale / 2 else UNSET


def project(values: Sequence[float]) -> list[float]:
    """The nearest point of the simplex: max(v - t, 0), with the t at which the entries sum to 1.

    Taking the largest entries one by one, t = (their sum - 1)/(their number) until the next entry is not above it
    (Held, Wolfe and Crowder 1974, Math. Programming 6; Duchi et al. 2008, ICML).
    A common shift changes nothing: with the largest entry at 0, all that counts is within 1 of it and stays exact.
    """
    top = max(values)
    total, threshold = 0.0, -math.inf
    for number, value in enumerate(sorted((value - top for value in values), reverse=True), start=1):
        if value <= threshold:
            break
        total += value
        threshold = (total - 1) / number
    return [max(value - top - threshold, 0.0) for value in values]


def _up(influence: float) -> float:
    """Rounded up, by more than floating point may lose: the figure is never understated."""
    return influence * (1 + 1e-12)


def _open_equivalent(shares: list[Share], n: int) -> int | None:
    """The m, rounded down, at which the variances s(1-s)/m of m unprotected answers sum to as much as SE^2."""
    known = [(s.estimate, s.standard_error) for s in shares if s.estimate is not None and s.standard_error is not None]
    if len(known) < len(shares):
        return None
    return int(min(n, sum(s * (1 - s) for s, _ in known) / sum(error**2 for _, error in known)))


def mean_of(
    question: Question, channel: Channel, counts: Counts, n: float, alpha: float, population: int | None = None
) -> Mean:
    """The mean answer, in the question's own units."""
    low, high = question.range
    if not n:
        return Mean(None, None, low, high, TOO_NOISY)
    between = question.is_continuous
    # A number is rounded at random to a neighbouring level, one of m - 1 steps: a variance of at most (step/2)^2.
    rounding = (0.5 / (channel.answers - 1)) ** 2 if between else 0.0
    factor = sampling_factor(n, population)
    raw = score_mean(mean_scores(channel, between), counts, n, alpha, factor, rounding)
    error = None if raw.standard_error is None else raw.standard_error * (high - low)
    # Both ends come out exactly in this form.
    value, bottom, top = (low * (1 - part) + high * part for part in (clip(raw.unbiased), raw.low, raw.high))
    return Mean(value, error, bottom, top, too_noisy(raw.high - raw.low, 1.0))


def _notes(channel: Channel, counts: list[int], answers: int, numbers: Sequence[Share | Mean]) -> list[str]:
    notes = [] if consistent(channel, counts, answers) else [NOT_HONEST]
    return notes + ([TOO_NOISY] if any(number.note is not UNSET for number in numbers) else [])
