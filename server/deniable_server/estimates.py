"""Estimates: counts and channels in, result objects out. Knows nothing of storage or HTTP.

A report decodes to a vector with the expectation of the true answer, so that means over reports are unbiased; what is
uncertain is the sampling of respondents and the noise of the channel together. Debiasing uses the channel's own
integers, never e^epsilon. Where nothing is known, a number is None (null in JSON) and its interval is everything.

[1] Wilson 1927, J. Am. Stat. Assoc. 22.  [2] Clopper and Pearson 1934, Biometrika 26.  [3] Held, Wolfe and Crowder
1974, Math. Programming 6.  [4] Duchi et al. 2008, ICML.  [5] Ye and Barg 2018, IEEE Trans. Inf. Theory 64.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import msgspec
from scipy.special import betaincinv, ndtri, stdtrit

from deniable_protocol import Band, Channel, Drawn, N, Number, Question, Scale, Subset, Table, YesNo, decode


class Share(msgspec.Struct, frozen=True):
    """The share of one option; the numbers are None where no report tells of it.

    ``unbiased`` may lie outside [0, 1]; ``estimate`` is a possible share, and lies between ``low`` and ``high``.
    """

    code: str
    estimate: float | None
    unbiased: float | None
    standard_error: float | None
    low: float
    high: float


class Mean(msgspec.Struct, frozen=True):
    """A mean in the question's own units; it takes one report for a value and two for a standard error."""

    value: float | None
    standard_error: float | None
    low: float
    high: float


class QuestionEstimate(msgspec.Struct, frozen=True):
    """All that is estimated of one question: shares, or (with no shares) a mean.

    ``open_equivalent``: how many unprotected answers would tell as much; None for means and where nothing is known.
    ``fake_influence``: the most that one false submission moves any share, or the mean in its units.
    """

    id: str
    type: str
    epsilon: str
    answers: int
    shares: list[Share]
    mean: Mean | None
    open_equivalent: int | None
    fake_influence: float | None


def estimate_question(
    question: Question,
    channel: Channel,
    counts: Iterable[int],
    answers: int,
    *,
    confidence: float = 0.95,
    simultaneous: bool = False,
) -> QuestionEstimate:
    """The estimate from the sufficient statistic of ``answers`` reports.

    ``counts``: for a subset channel how many reports hold each option, for the others how often each report came.
    ``simultaneous``: the k intervals of the question hold together (Bonferroni: each at 1 - alpha/k).
    """
    if not 0 < confidence < 1:
        raise ValueError("confidence must lie between 0 and 1")
    counts = _checked(channel, [int(count) for count in counts], answers)
    alpha = 1 - confidence
    shares: list[Share] = []
    mean = open_equivalent = None
    if isinstance(question, Scale | Number) and question.measure == "mean":
        assert not isinstance(channel, Drawn)
        scores = _mean_scores(channel)
        low, high = (1.0, len(question.labels)) if isinstance(question, Scale) else (question.min, question.max)
        mean = _mean(scores, counts, answers, alpha, low + 0.0, high + 0.0)  # -0.0 is 0.0
        # Equivalent open answers are *their* variance over SE^2. The reports hardly tell that variance, and its bound,
        # (value - min)(max - value), would flatter us: open_equivalent stays None.
        influence = max(max(scores.values), 1 - min(scores.values)) * (high - low) / max(answers, 1)
    else:
        shares = _shares(question, channel, counts, answers, alpha / channel.answers if simultaneous else alpha)
        open_equivalent = _open_equivalent(shares, answers)
        # Where parts are drawn, a false submission chooses its part: the one with the fewest honest reports.
        fewest = min(_asked(counts)) if isinstance(channel, Drawn) else answers
        influence = _share_influence(channel) / max(fewest, 1)
    # Rounded up, by more than the floating point above may lose: the figure is never understated.
    fake = influence * (1 + 1e-12) if answers else None
    return QuestionEstimate(question.id, question.type, question.epsilon, answers, shares, mean, open_equivalent, fake)


def _checked(channel: Channel, counts: list[int], answers: int) -> list[int]:
    length = channel.options if isinstance(channel, Subset) else sum(1 for _ in channel.reports())
    total = answers * channel.size if isinstance(channel, Subset) else answers
    if len(counts) != length or sum(counts) != total or not all(0 <= count <= answers for count in counts):
        raise ValueError(f"these are not the {length} counts of {answers} reports")
    return counts


# --- shares ------------------------------------------------------------------------------------------------------


class Raw(NamedTuple):
    """The mean of an unbiased score and its interval within [0, 1], before it is made a possible share or mean."""

    unbiased: float
    standard_error: float | None
    low: float
    high: float


def _shares(question: Question, channel: Channel, counts: list[int], n: int, alpha: float) -> list[Share]:
    if isinstance(channel, Drawn):
        parts = zip(question.codes, channel.parts, counts[1::2], _asked(counts), strict=True)
        return [_drawn_share(code, part, yes, asked, alpha) for code, part, yes, asked in parts]
    if n == 0:
        shares = [Share(code, None, None, None, 0.0, 1.0) for code in question.codes]
    else:
        raw = _raw_shares(channel, counts, n, alpha)
        estimates = project([share.unbiased for share in raw])
        shares = [_share(*entry) for entry in zip(question.codes, estimates, raw, strict=True)]
    # Where the report is the noisy bit, no comes first; people read yes first.
    return shares[::-1] if isinstance(question, YesNo) and not question.decline else shares


def _raw_shares(channel: Subset | Band | Table, counts: list[int], n: int, alpha: float) -> list[Raw]:
    if isinstance(channel, Subset):
        return [share_of_support(support(channel), y, n, alpha) for y in counts]
    if isinstance(channel, Table):
        return [_score_mean(scores, counts, n, alpha) for scores in _share_scores(channel)]
    yes = share_of_support(support(channel), counts[1], n, alpha)
    return [Raw(1 - yes.unbiased, yes.standard_error, 1 - yes.high, 1 - yes.low), yes]


def _asked(counts: list[int]) -> list[int]:
    """How many reports tell of each part of a drawn channel."""
    return [no + yes for no, yes in zip(counts[::2], counts[1::2], strict=True)]


def _drawn_share(code: str, part: Band, yes: int, asked: int, alpha: float) -> Share:
    """Given how often its part was drawn, an option is a yes_no of its own."""
    if asked == 0:
        return Share(code, None, None, None, 0.0, 1.0)
    raw = share_of_support(support(part), yes, asked, alpha)
    return _share(code, _clip(raw.unbiased), raw)


def _share(code: str, estimate: float, raw: Raw) -> Share:
    # The projection only ever lowers a positive share, and where many options vie it can take one below its own
    # interval, which knows nothing of the others. The interval then reaches down to it: wider, never less sure.
    low, high = min(raw.low, estimate), max(raw.high, estimate)
    return Share(code, estimate, raw.unbiased, raw.standard_error, low, high)


class Support(NamedTuple):
    """How often a report supports an option: p where it is the truth, q where it is not; gap = p - q."""

    p: float
    q: float
    gap: float


@lru_cache(maxsize=1024)
def support(channel: Subset | Band) -> Support:
    """Of a subset channel [5], or of the bit of a band of two levels, in exact fractions until the end.

    Another option than the true one is among the d - 1 others of a favoured report, or the d of an unfavoured one,
    each of the k - 1 equally: q = (p(d-1) + (1-p)d)/(k-1) = (d - p)/(k - 1). The bit: d = 1 of k = 2.
    """
    assert isinstance(channel, Subset) or channel.levels == 2
    k, d = (channel.options, channel.size) if isinstance(channel, Subset) else (2, 1)
    p = Fraction(channel.favour, N)
    q = (d - p) / (k - 1)
    return Support(float(p), float(q), float(p - q))


def share_of_support(rule: Support, y: int, n: int, alpha: float) -> Raw:
    """The share of an option that y of n reports support, which they do with probability q + share * (p - q).

    The count y is binomial, so the share is (y/n - q)/(p - q), its variance that of y/n over (p - q)^2, and its
    limits are those of the probability, mapped in the same way. That probability lies between q and p: y is first
    moved there, which only widens the interval within [0, 1], and keeps it from vanishing.
    """
    p, q, gap = rule
    rate = y / n
    inside = min(max(y, n * q), n * p)
    # If all reports agree, the sample shows no spread; the channel has some all the same.
    spread = rate * (1 - rate) or (inside / n) * (1 - inside / n)
    limits = clopper_pearson if n * min(q, 1 - p) < 10 else wilson
    low, high = (_clip((limit - q) / gap) for limit in limits(inside, n, alpha))
    return Raw((rate - q) / gap, math.sqrt(spread / n) / gap, low, high)


def wilson(y: float, n: int, alpha: float) -> tuple[float, float]:
    """Wilson's limits [1] with continuity correction: the rates t at which |y - nt| - 1/2 = z sqrt(nt(1-t)).

    Solved for t, with c = y -+ 1/2: (c + z^2/2 -+ z sqrt(c(n-c)/n + z^2/4)) / (n + z^2).
    """
    z = -float(ndtri(alpha / 2))

    def limit(c: float, side: float) -> float:
        return (c + z * z / 2 + side * z * math.sqrt(c * (n - c) / n + z * z / 4)) / (n + z * z)

    return limit(max(y - 0.5, 0.0), -1.0), limit(min(y + 0.5, n), 1.0)


def clopper_pearson(y: float, n: int, alpha: float) -> tuple[float, float]:
    """The exact limits [2]: the rates at which y or more, and y or fewer, have probability alpha/2.

    P(Y >= y) under rate t is the distribution function of Beta(y, n-y+1) at t, which goes on between the integers.
    """
    low = float(betaincinv(y, n - y + 1, alpha / 2)) if y > 0 else 0.0
    high = float(betaincinv(y + 1, n - y, 1 - alpha / 2)) if y < n else 1.0
    return low, high


def project(values: Sequence[float]) -> list[float]:
    """The nearest point of the simplex: max(v - t, 0), with the t at which the entries sum to 1 [3, 4].

    Taking the largest entries one by one, t = (their sum - 1)/(their number) until the next entry is not above it.
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


def _open_equivalent(shares: list[Share], n: int) -> int | None:
    """The m, rounded down, at which the variances s(1-s)/m of m unprotected answers sum to as much as SE^2."""
    known = [(s.estimate, s.standard_error) for s in shares if s.estimate is not None and s.standard_error is not None]
    if len(known) < len(shares):
        return None
    return int(min(n, sum(s * (1 - s) for s, _ in known) / sum(error**2 for _, error in known)))


def _clip(share: float) -> float:
    return min(max(share, 0.0), 1.0)


# --- scores: means, and shares of channels whose decoding has more than two values -------------------------------


class Scores(NamedTuple):
    """An unbiased score per report, and the least variance that it has whatever the true answer."""

    values: tuple[float, ...]
    least: float


@lru_cache(maxsize=256)
def _mean_scores(channel: Subset | Band | Table) -> Scores:
    """The sum of x_j z_j, with the m answers at x = 0, 1/(m-1), ... 1 of the way: its mean is the mean answer."""
    assert not isinstance(channel, Subset) or channel.size == 1, "counts of larger subsets do not tell the variance"
    step = Fraction(1, channel.answers - 1)
    decoded = [decode(channel, report) for report in channel.reports()]
    return _scores(channel, [sum((j * z for j, z in enumerate(row)), Fraction(0)) * step for row in decoded])


@lru_cache(maxsize=256)
def _share_scores(channel: Table) -> tuple[Scores, ...]:
    """Per answer j, the entries z_j of all reports."""
    decoded = [decode(channel, report) for report in channel.reports()]
    return tuple(_scores(channel, column) for column in zip(*decoded, strict=True))


def _scores(channel: Subset | Band | Table, exact: Iterable[Fraction]) -> Scores:
    values = tuple(float(score) for score in exact)
    variances = []
    for answer in range(channel.answers):
        row = [float(channel.probability(answer, report)) for report in channel.reports()]
        centre = sum(p * v for p, v in zip(row, values, strict=True))
        variances.append(sum(p * (v - centre) ** 2 for p, v in zip(row, values, strict=True)))
    return Scores(values, min(variances))


def _score_mean(scores: Scores, counts: list[int], n: int, alpha: float) -> Raw:
    """The mean score with its t interval, moved into [0, 1] first as in ``share_of_support``.

    The variance of a score is at least its variance given the answer. A sample that happens to show less, as any does
    in which all reports agree, is not believed: otherwise 30 reports at epsilon 4 can cover 76% instead of 95%.
    """
    mean = sum(c * v for c, v in zip(counts, scores.values, strict=True)) / n
    if n == 1:
        return Raw(mean, None, 0.0, 1.0)
    variance = sum(c * (v - mean) ** 2 for c, v in zip(counts, scores.values, strict=True)) / (n - 1)
    error = math.sqrt(max(variance, scores.least) / n)
    margin, centre = -float(stdtrit(n - 1, alpha / 2)) * error, _clip(mean)
    return Raw(mean, error, _clip(centre - margin), _clip(centre + margin))


def _mean(scores: Scores, counts: list[int], n: int, alpha: float, low: float, high: float) -> Mean:
    if n == 0:
        return Mean(None, None, low, high)
    raw = _score_mean(scores, counts, n, alpha)
    error = None if raw.standard_error is None else raw.standard_error * (high - low)
    # Both ends come out exactly in this form.
    value, bottom, top = (low * (1 - part) + high * part for part in (_clip(raw.unbiased), raw.low, raw.high))
    return Mean(value, error, bottom, top)


# --- false submissions -------------------------------------------------------------------------------------------
# A respondent whose answer is x adds z with expectation e_x to the sum of n; a false one adds any z it likes, and so
# moves the mean by (z - e_x)/n. A fraction f of them around a share s: f(max z - s) up, f(s - min z) down. For one,
# e_x is 0 or 1, not s: the most is max(max z, 1 - min z)/n, for yes_no e^epsilon/(e^epsilon - 1)/n.


@lru_cache(maxsize=256)
def _share_influence(channel: Channel) -> float:
    """The most that one false submission moves any unbiased share or any estimate, times the number of reports."""
    if isinstance(channel, Drawn):
        # max z = (1-q)/gap, and 1 - min z = 1 + q/gap = p/gap
        return max(max(1 - rule.q, rule.p) / rule.gap for rule in map(support, channel.parts))
    # All subsets are alike but for the names of the options, and so are the answers in one, and those outside.
    reports = [(1 << channel.size) - 1] if isinstance(channel, Subset) else [*channel.reports()]
    answers = [0, channel.size] if isinstance(channel, Subset) else [*range(channel.answers)]
    decoded = [[float(z) for z in decode(channel, report)] for report in reports]
    return max(_most_moved([z - (j == x) for j, z in enumerate(row)]) for row in decoded for x in answers)


def _most_moved(change: list[float]) -> float:
    """The most that a change of the unbiased shares moves one of them, before or after the projection.

    The projection takes off the mean change of the options above zero, A: entry j of A changes by change_j - mean
    over A. That is greatest for the largest entry with an A of the smallest, or the reverse.
    """
    rising = sorted(change)
    most = max(rising[-1], -rising[0])
    for others in range(1, len(rising)):
        up = others * rising[-1] - sum(rising[:others])
        down = sum(rising[-others:]) - others * rising[0]
        most = max(most, up / (others + 1), down / (others + 1))
    return most
