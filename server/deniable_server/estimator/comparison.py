"""Differences of one question between groups: segments of a survey, or surveys that ask the same.

Groups consist of different respondents, so that their estimates are independent and variances add.

[1] Newcombe 1998, Statistics in Medicine 17.  [2] Zou and Donner 2008, Statistics in Medicine 27.  [3] Rao 1948, Proc.
Cambridge Phil. Soc. 44.  [4] Welch 1947, Biometrika 34.  [5] Holm 1979, Scand. J. Statistics 6.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import msgspec
from msgspec import UNSET, UnsetType
from scipy.special import ndtr, stdtr, stdtrit

from deniable_protocol import Question
from deniable_server.errors import NotComparable

from .evidence import Evidence
from .intervals import USUAL, Aim, Raw, Supported, clip, likely_share, share_limits
from .questions import mean_of
from .ratios import same_ratio
from .scores import Scored, Spread, mean_scores, pooled_scores
from .shares import TOO_NOISY, Applies, Known, known_shares, too_noisy
from .weights import Number, Weighed, share_number

FEWEST = 5
"""Reports of the rarer kind that either side must be expected to have for a test."""
TOO_FEW = "too few reports for a test"


class Level(Applies, frozen=True):
    """The share or the mean of one group, in the units of the difference; otherwise as a Share is."""


class Group(NamedTuple):
    """What some of the submissions report on a question; ``label`` is what a reader calls these. With ``weighed``, the
    same with weights, and of so many answers as would be as certain without them.
    """

    label: str
    evidence: Evidence
    weighed: Weighed | None = None

    @property
    def question(self) -> Question:
        return self.evidence.question

    @property
    def answers(self) -> float:
        return self.evidence.answers if self.weighed is None else self.weighed.even

    def known_shares(self, aim: Aim) -> list[Known]:
        """Of each code of the question, in channel order."""
        if self.weighed is None:
            return known_shares(self.evidence, aim)
        codes = range(len(self.question.codes))
        asked = tuple(codes) if self.evidence.is_conditional else None
        numbers = [share_number(self.evidence, place, asked) for place in codes]
        return [known_shares(self.weighed.certain(each), aim)[place] for place, each in enumerate(numbers)]

    def scored(self, aim: Aim) -> Scored | None:
        """The scores of the mean."""
        evidence = self._of_mean
        if not evidence.answers:
            return None
        scores = [mean_scores(part.channel, self.question.is_continuous) for part in evidence.parts]
        return pooled_scores(scores, evidence.parts, aim)

    def mean(self, aim: Aim) -> Level:
        found = mean_of(self._of_mean, aim)
        return Level(found.value, found.unbiased, found.standard_error, found.low, found.high, found.note)

    @property
    def _of_mean(self) -> Evidence:
        return self.evidence if self.weighed is None else self.weighed.certain(Number(0))


class GroupSize(msgspec.Struct, frozen=True):
    """How many answered in a group."""

    label: str
    answers: float


class Difference(msgspec.Struct, frozen=True):
    """The first group minus the second: of the share of an option or, with ``code`` None, of the mean, in its units.

    ``difference`` is unbiased, and can be impossible; ``estimate`` is possible, and lies between ``low`` and ``high``.
    ``p_value`` is that of no difference; ``adjusted_p_value`` allows for all that were tested together. Numbers are
    None where a group has no data on them. ``note`` is there where the interval spans more than half of all that is
    possible. ``levels``: the share or the mean of the first group and that of the second; ``estimate`` is the one minus
    the other.
    """

    first: str
    second: str
    code: str | None
    estimate: float | None
    difference: float | None
    standard_error: float | None
    low: float
    high: float
    p_value: float | None
    adjusted_p_value: float | None
    note: str | UnsetType = UNSET
    levels: tuple[Level, Level] | UnsetType = UNSET


class Comparison(msgspec.Struct, frozen=True):
    """All pairs of groups in order, and of each pair all options in reading order, or the mean."""

    id: str
    type: str
    confidence: float
    groups: list[GroupSize]
    differences: list[Difference]


def compare(groups: Sequence[Group], aim: Aim = USUAL) -> Comparison:
    """Every pair of these groups; NotComparable where they were not asked the same."""
    if not groups:
        raise ValueError("there is nothing to compare without groups")
    question = groups[0].question
    for group in groups[1:]:
        _check_comparable(question, group.question)
    pairs, repeated = [*combinations(groups, 2)], 1
    if question.asks_mean:
        differences = [_of_means(first, second, aim) for first, second in pairs]
    else:
        differences = [row for first, second in pairs for row in _of_shares(first, second, aim)]
        # Two options that exclude each other are one hypothesis, said twice: it counts once, for both.
        repeated = 2 if len(question.codes) == 2 and groups[0].evidence.is_exclusive else 1
    tested = [row.p_value for row in differences[::repeated]]
    p_values = [pair for pair in zip(tested, holm(tested), strict=True) for _ in range(repeated)]
    return Comparison(
        id=question.id,
        type=question.type,
        confidence=aim.confidence,
        groups=[GroupSize(group.label, group.answers) for group in groups],
        differences=[
            msgspec.structs.replace(row, p_value=p, adjusted_p_value=adjusted)
            for row, (p, adjusted) in zip(differences, p_values, strict=True)
        ],
    )


def _check_comparable(question: Question, other: Question) -> None:
    """The same type, and the same of all that gives an answer its meaning. Texts, epsilon and parts may differ."""
    for what in ("type", "measure", "labels", "min", "max", "unit", "codes", "show_if"):
        if getattr(question, what, None) != getattr(other, what, None):
            raise NotComparable(f"{question.id} cannot be compared: the two differ in {what}")


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """The levels at which Holm's procedure [5] would reject each: the least of m times m, the next times m - 1, and so
    on, none below those before it.
    """
    known = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    level = 0.0
    for rank, (p, place) in enumerate(known):
        level = max(level, min(1.0, p * (len(known) - rank)))
        adjusted[place] = level
    return adjusted


# --- shares ------------------------------------------------------------------------------------------------------


def _of_shares(first: Group, second: Group, aim: Aim) -> list[Difference]:
    known = [group.known_shares(aim) for group in (first, second)]
    rows = []
    for j in first.question.reading_order:
        one, two = known[0][j], known[1][j]
        p_value: float | None = None
        limits = -1.0, 1.0
        if one.raw is not None and two.raw is not None:
            if aim.anytime:
                p_value, limits = at_any_time(uncut(one, aim), uncut(two, aim), min(first.answers, second.answers), aim)
            elif one.scored is not None or two.scored is not None:
                p_value, limits = of_scores(_scored(one), _scored(two), aim)
            else:
                p_value, limits = _p_value(one, two, aim), mover(uncut(one, aim), uncut(two, aim))
        rows.append(_difference(first, second, first.question.codes[j], one.raw, two.raw, limits, p_value))
    return rows


def _p_value(one: Known, two: Known, aim: Aim) -> float | None:
    """Of one share behind both, where they are from supports, or ratios of these."""
    if one.support is not None and two.support is not None:
        return score_test(one.support, two.support, aim)
    if one.ratio is not None and two.ratio is not None:
        return same_ratio(one.ratio.sums, two.ratio.sums, FEWEST)
    return None


def _scored(known: Known) -> Scored:
    """A share by its mean and its error, as beside one that is from scores."""
    if known.scored is not None:
        return known.scored
    assert known.raw is not None and known.support is not None
    return Scored(Spread(*known.raw[:2], known.support.n))


def _difference(
    first: Group,
    second: Group,
    code: str | None,
    one: Raw | None,
    two: Raw | None,
    limits: tuple[float, float],
    p_value: float | None,
    span: float = 1.0,
) -> Difference:
    """From what is known of both, on [0, 1], and the limits on [-1, 1], to the units of which 1 is ``span``."""
    estimate = difference = error = None
    if one is not None and two is not None:
        estimate = (clip(one.unbiased) - clip(two.unbiased)) * span
        difference = (one.unbiased - two.unbiased) * span
        if one.standard_error and two.standard_error:
            error = math.hypot(one.standard_error, two.standard_error) * span
    low, high = (limit * span for limit in limits)
    note = too_noisy(high - low, 2 * span)
    if note is UNSET and p_value is None:
        note = TOO_FEW
    levels = _level(one), _level(two)
    return Difference(
        first.label, second.label, code, estimate, difference, error, low, high, p_value, None, note, levels
    )


def _level(raw: Raw | None) -> Level:
    if raw is None:
        return Level(None, None, None, 0.0, 1.0, TOO_NOISY)
    return Level(clip(raw.unbiased), *raw, too_noisy(raw.high - raw.low, 1.0))


def uncut(known: Known, aim: Aim) -> Raw:
    """The possible share, of a support or a ratio, with its limits as they were before they were cut off at 0 and 1;
    from scores, with those at any time.
    """
    raw = known.raw
    assert raw is not None
    if known.support is not None:
        low, high = share_limits(*known.support, aim)
    elif known.ratio is not None:
        low, high = known.ratio.limits
    else:
        assert known.scored is not None and known.scored.anytime is not None
        low, high = known.scored.anytime
    return raw._replace(unbiased=clip(raw.unbiased), low=low, high=high)


def mover(one: Raw, two: Raw) -> tuple[float, float]:
    """The interval of a difference from the intervals of its parts [1, 2].

    A limit lies z standard errors from the share, those *at that limit*: (s - l)^2 = z^2 Var(l). The lower limit of
    s1 - s2 is where s1 is low and s2 is high, and variances add: d - sqrt((s1 - l1)^2 + (u2 - s2)^2); the upper one in
    the same way. Limits that were cut off at 0 or 1 do not show the variance: a 95% interval of 1 - 0 would cover 71%.
    """
    difference = one.unbiased - two.unbiased
    low = difference - math.hypot(one.unbiased - one.low, two.high - two.unbiased)
    high = difference + math.hypot(one.high - one.unbiased, two.unbiased - two.low)
    return max(low, -1.0), min(high, 1.0)


def at_any_time(one: Raw, two: Raw, n: float, aim: Aim) -> tuple[float, tuple[float, float]]:
    """The p-value of no difference and the limits of the difference, both valid at every look, from limits that are.

    A limit is so many standard errors away, which gives the error of the difference. So the p-value is below alpha just
    where the interval is on one side of 0.
    """
    difference = abs(one.unbiased - two.unbiased)
    larger, smaller = (one, two) if one.unbiased > two.unbiased else (two, one)
    reach = math.hypot(larger.unbiased - larger.low, smaller.high - smaller.unbiased)
    errors = float(aim.errors(n)) * difference / reach if difference else 0.0
    return aim.p_value(errors**2, 1, n), mover(one, two)


def score_test(one: Supported, two: Supported, aim: Aim = USUAL) -> float | None:
    """The p-value of one share behind both counts; None where reports of the rarer kind are too few for it.

    With rates r = q + s * gap, the share s most likely under both solves  sum of gap (y - nr)/(r(1 - r)) = 0,  that is
    sum of (u - s)/V = 0 with V = r(1 - r)/(n gap^2): the unbiased shares u, pooled by their inverse variances at s.
    Rao's score statistic [3] is then (u1 - u2)^2 / (V1 + V2). With the same channel, s is the share at the pooled rate
    and gap drops out: the z test of two proportions on the noisy counts. A design effect adds to the variances.
    """
    if not one.n or not two.n:
        return None
    seen = [(c.y / c.n - c.rule.q) / c.rule.gap for c in (one, two)]
    share, variance = likely_share([one, two]), 0.0
    for count in (one, two):
        rate = count.rule.q + share * count.rule.gap
        if count.n * min(rate, 1 - rate) < FEWEST:
            return None
        variance += max(rate * (1 - rate), 0.0) / (count.n * count.rule.gap**2)
        variance += (aim.sampling(count.n) - 1) * clip(share) * (1 - clip(share)) / count.n
    # Without variance all reports of both agree, and no difference was seen.
    return 2 * float(ndtr(-abs(seen[0] - seen[1]) / math.sqrt(variance))) if variance > 0 else 1.0


# --- means, and shares from scores -------------------------------------------------------------------------------


def _of_means(first: Group, second: Group, aim: Aim) -> Difference:
    one, two = first.scored(aim), second.scored(aim)
    low, high = first.question.range
    if one is None or two is None:
        row = _difference(first, second, None, None, None, (-1.0, 1.0), None, high - low)
    else:
        raw, (p_value, limits) = (one.raw(aim), two.raw(aim)), of_scores(one, two, aim)
        row = _difference(first, second, None, *raw, limits, p_value, high - low)
    return msgspec.structs.replace(row, levels=(first.mean(aim), second.mean(aim)))


def of_scores(one: Scored, two: Scored, aim: Aim) -> tuple[float | None, tuple[float, float]]:
    """The p-value of no difference between two mean scores, and the limits of the difference.

    Where noise is room enough for rare answers, they are Welch's. Otherwise limits are recovered from those of each,
    which make room, and the p-value is the level at which they reach 0: by bisection, to six digits.
    """
    first, second, alpha = one.seen, two.seen, aim.alpha
    if one.anytime is not None and two.anytime is not None:
        one_side, other = Raw(clip(first.mean), None, *one.anytime), Raw(clip(second.mean), None, *two.anytime)
        return at_any_time(one_side, other, min(first.n, second.n), aim)
    if not first.error or not second.error:
        return None, (-1.0, 1.0)
    if one.room is None and two.room is None:
        p_value, margin = welch(first.mean - second.mean, (first.error, first.n), (second.error, second.n), alpha)
        # The interval lies around the possible estimate. Errors are symmetric and have one peak: moving a mean towards
        # its truth, whatever the other's error, never makes it less likely that the interval covers the difference.
        centre = clip(first.mean) - clip(second.mean)
        return p_value, (max(centre - margin, -1.0), min(centre + margin, 1.0))

    def limits(level: float) -> tuple[float, float]:
        return mover(*(Raw(clip(each.seen.mean), None, *each.limits(level)) for each in (one, two)))

    least, most = -700.0, 0.0  # logarithms
    for _ in range(30):
        middle = (least + most) / 2
        low, high = limits(math.exp(middle))
        least, most = (middle, most) if low <= 0 <= high else (least, middle)
    return math.exp(most), limits(alpha)


def welch(difference: float, one: tuple[float, float], two: tuple[float, float], alpha: float) -> tuple[float, float]:
    """The p-value of no difference and the margin, from each side's standard error and number of reports [4].

    The sum v of the squared errors varies as a chi-square does of v^2 / sum of (v_i^2 / (n_i - 1)) degrees of freedom.
    """
    v1, v2 = one[0] ** 2, two[0] ** 2
    freedom = (v1 + v2) ** 2 / (v1**2 / (one[1] - 1) + v2**2 / (two[1] - 1))
    error = math.sqrt(v1 + v2)
    return 2 * float(stdtr(freedom, -abs(difference) / error)), -float(stdtrit(freedom, alpha / 2)) * error
