"""The estimate of one question: shares or a mean, how sure they are, and what is to be said about them.

estimate_question(alone(question, channel, counts, n))                        # a part by itself
estimate_question(gather(document, question, counts, sizes, answers))         # whatever parts report on it
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from deniable_protocol.checks import DECLINED

from .curves import CurvePoint, curve
from .distribution import Point, likely_distribution
from .evidence import Counted, Evidence
from .influence import question_influence, sum_influence
from .intervals import USUAL, Aim, clip
from .price import Price, prices
from .scores import mean_scores, pooled_scores
from .shares import TOO_NOISY, Applies, Share, among_answering, applies_to, shares_of, too_noisy
from .summaries import Summary, summarize
from .weights import APPLIES, Number, Weighed, share_number

ROUGHLY = 0.25
"""The largest error, as a part of itself, with which a number of equivalent answers is worth saying."""


class Mean(msgspec.Struct, frozen=True):
    """A mean in the question's own units; it takes one report for a value and two for a standard error.

    ``unbiased`` may lie outside the question's range; ``value`` is possible, and lies between ``low`` and ``high``.
    """

    value: float | None
    unbiased: float | None
    standard_error: float | None
    low: float
    high: float
    note: str | UnsetType = UNSET
    deff: float | UnsetType = UNSET


class Weighted(msgspec.Struct, frozen=True):
    """The same with reports weighted to known margins, each number with its design effect ``deff``: how many times
    larger its variance is than that of as many reports without weights. ``deff`` here is the largest of them, and
    ``effective_answers`` how many answers without weights would be as sure; None and 0 where there are no reports.
    """

    effective_answers: float
    deff: float | None
    shares: list[Share]
    mean: Mean | None
    summaries: list[Summary] | UnsetType = UNSET
    applies: Applies | UnsetType = UNSET
    among_answering: list[Share] | UnsetType = UNSET


class QuestionEstimate(msgspec.Struct, frozen=True):
    """All that is estimated of one question: shares, or (with no shares) a mean.

    ``answers``: the submissions whose booklet reports on it; of a multi_choice, on any of its options, and each share
    has its own. ``open_equivalent``: how many unprotected answers would be as precise; None for means, for shares among
    those whom a question is asked, and where the reports do not tell it well enough.
    ``fake_influence``: the most that one false submission moves the estimate of any share, or the mean in its units.
    ``notes``: what a reader must know first. ``summaries`` are there for scales with shares; ``applies`` where a
    question is asked of some people only, and ``shares`` are then among those; ``among_answering`` where people may
    decline; ``distribution``, ``curve`` (of numbers, with limits for all values at once), ``price`` (demand and
    revenue, where the question asks for a price) and ``weighted`` where they were asked for.
    """

    id: str
    type: str
    answers: int
    shares: list[Share]
    mean: Mean | None
    open_equivalent: int | None
    fake_influence: float | None
    notes: list[str]
    summaries: list[Summary] | UnsetType = UNSET
    applies: Applies | UnsetType = UNSET
    among_answering: list[Share] | UnsetType = UNSET
    distribution: list[Point] | UnsetType = UNSET
    weighted: Weighted | UnsetType = UNSET
    curve: list[CurvePoint] | UnsetType = UNSET
    price: Price | UnsetType | None = UNSET


class _Numbers(NamedTuple):
    shares: list[Share]
    mean: Mean | None
    summaries: list[Summary] | UnsetType = UNSET
    applies: Applies | UnsetType = UNSET
    among_answering: list[Share] | UnsetType = UNSET

    @property
    def are_too_noisy(self) -> bool:
        numbers: list[Share | Mean] = [*self.shares, *([] if self.mean is None else [self.mean])]
        return any(number.note is not UNSET for number in numbers)


def estimate_question(
    evidence: Evidence, aim: Aim = USUAL, *, simultaneous: bool = False, distribution: bool = False
) -> QuestionEstimate:
    """The estimate from the sufficient statistics of all reports that are about the question.

    ``simultaneous``: the k intervals of the question are right together (Bonferroni: each at 1 - alpha/k).
    Where they are for the respondents themselves, those who report on the question are a sample of these.
    """
    for part in evidence.parts:
        _check(part)
    question = evidence.question
    numbers = _numbers(evidence, aim, simultaneous)
    # Equivalent open answers are *their* variance over SE^2. The reports to a mean hardly show that variance, and its
    # bound, (value - min)(max - value), would flatter us: open_equivalent stays None.
    points = curve(evidence, aim) if distribution and question.is_continuous else UNSET
    is_plain = numbers.mean is None and not evidence.is_conditional
    # Sampling counts there whatever the interval is for: an open answer, too, is from a population.
    is_sampled = aim.sampling(evidence.answers) == 1
    sampled = numbers.shares if is_sampled or not is_plain else shares_of(evidence, USUAL)
    summaries = numbers.summaries
    if summaries and evidence.answers and not evidence.is_conditional:
        moved = [sum_influence(evidence, each.signs(len(question.codes))) for each in summaries]
        summaries = [replace(each, fake_influence=most) for each, most in zip(summaries, moved, strict=True)]
    return QuestionEstimate(
        id=question.id,
        type=question.type,
        answers=int(evidence.answers),
        shares=numbers.shares,
        mean=numbers.mean,
        open_equivalent=_open_equivalent(sampled, evidence.answers) if is_plain else None,
        fake_influence=question_influence(evidence),
        notes=[TOO_NOISY] if numbers.are_too_noisy else [],
        summaries=summaries,
        applies=numbers.applies,
        among_answering=numbers.among_answering,
        distribution=_distribution(evidence, aim) if distribution else UNSET,
        curve=points,
        price=UNSET if points is UNSET or not question.price else prices(points, question.range[0]),
    )


def estimate_weighted(weighed: Weighed, aim: Aim = USUAL, *, simultaneous: bool = False) -> Weighted:
    """The same numbers from weighted reports, each from evidence that is as certain as itself (weights.py)."""
    plain = weighed.evidence()
    numbers = _numbers(plain, aim, simultaneous)
    known: dict[float, _Numbers] = {}
    effects: list[float] = []
    for kind, made in _made_of(plain, numbers).items():
        found = []
        for i, number in enumerate(made):
            surer = float(f"{weighed.surer(number):.12g}")  # of yes and no it is the same but for rounding
            if surer not in known:
                known[surer] = _numbers(weighed.evidence(surer), aim, simultaneous)
            value, effect = getattr(known[surer], kind), weighed.deff(number, surer)
            effects += [] if effect is None else [effect]
            found.append(replace(value[i] if isinstance(value, list) else value, deff=effect or UNSET))
        own: Any = found if isinstance(getattr(numbers, kind), list) else found[0]
        numbers = numbers._replace(**{kind: own})
    deff = max(effects, default=None)
    return Weighted(weighed.reports / deff if deff else 0.0, deff, *numbers)


def _made_of(evidence: Evidence, numbers: _Numbers) -> dict[str, list[Number]]:
    """What the numbers of each kind are the sums of, in the order in which they are shown."""
    question, codes = evidence.question, range(len(evidence.question.codes))
    if numbers.mean is not None:
        return {"mean": [Number(0)]}
    share, asked = partial(share_number, evidence), tuple(codes) if evidence.is_conditional else None
    made = {"shares": [share(j, asked) for j in question.reading_order]}
    if numbers.applies is not UNSET:
        made["applies"] = [Number(APPLIES, (1.0, 0.0))]
    if numbers.among_answering is not UNSET:
        answering = tuple(j for j in codes if question.codes[j] != DECLINED)
        made["among_answering"] = [share(j, answering) for j in question.reading_order if j in answering]
    if numbers.summaries:
        made["summaries"] = [Number(0, each.signs(len(codes)), asked) for each in numbers.summaries]
    return made


def _numbers(evidence: Evidence, aim: Aim, simultaneous: bool = False) -> _Numbers:
    question = evidence.question
    if question.asks_mean:
        return _Numbers([], mean_of(evidence, aim))
    shares = shares_of(evidence, aim, simultaneous)
    applies: Applies | UnsetType = UNSET
    answering: list[Share] | UnsetType = UNSET
    summaries: list[Summary] | UnsetType = UNSET
    if evidence.is_conditional:
        applies = applies_to(evidence, aim)
    if question.decline:
        found = among_answering(evidence, aim, simultaneous)
        answering = [found[j] for j in question.reading_order if j < len(found)]
    if question.labels:
        possible = [share.estimate for share in shares if share.estimate is not None]
        summaries = summarize(evidence, possible, aim)
    return _Numbers([shares[j] for j in question.reading_order], None, summaries, applies, answering)


def _check(part: Counted) -> None:
    length, total = part.channel.feature_count, part.n * (part.channel.held or 1)
    if len(part.counts) != length or sum(part.counts) != total or not all(0 <= y <= part.n for y in part.counts):
        raise ValueError(f"these are not the {length} counts of {part.n} reports")


def _open_equivalent(shares: Sequence[Share], n: float) -> int | None:
    """The m, rounded down, at which the variances s(1-s)/m of m unprotected answers sum to as much as SE^2.

    What the reports leave open is the sum of s(1-s). To second order each term varies by (1-2s)^2 SE^2 + 2 SE^4; shares
    that sum to 1 move together, by which all vary at most k/(k-1) times as much. Where that is more than ``ROUGHLY`` of
    the sum, as for rare answers, the number would say little and mislead: there is none.
    """
    known = [(s.estimate, s.standard_error) for s in shares if s.estimate is not None and s.standard_error is not None]
    if len(known) < len(shares):
        return None
    spread = sum(s * (1 - s) for s, _ in known)
    unsure = sum(((1 - 2 * s) * e) ** 2 + 2 * e**4 for s, e in known) * len(known) / max(len(known) - 1, 1)
    if unsure > (ROUGHLY * spread) ** 2:
        return None
    return int(min(n, spread / sum(error**2 for _, error in known)))


def mean_of(evidence: Evidence, aim: Aim) -> Mean:
    """The mean answer, in the question's own units."""
    question = evidence.question
    low, high = question.range
    if not evidence.answers:
        return Mean(None, None, None, low, high, TOO_NOISY)
    between = question.is_continuous
    # A number is rounded at random to a neighbouring level, one of m - 1 steps: a variance of at most (step/2)^2.
    levels = min(part.channel.answers for part in evidence.parts)
    rounding = (0.5 / (levels - 1)) ** 2 if between else 0.0
    scores = [mean_scores(part.channel, between) for part in evidence.parts]
    raw = pooled_scores(scores, evidence.parts, aim, rounding).raw(aim)
    error = None if raw.standard_error is None else raw.standard_error * (high - low)
    # Both ends come out exactly in this form.
    parts = clip(raw.unbiased), raw.unbiased, raw.low, raw.high
    value, unbiased, bottom, top = (low * (1 - part) + high * part for part in parts)
    return Mean(value, unbiased, error, bottom, top, too_noisy(raw.high - raw.low, 1.0))


def _distribution(evidence: Evidence, aim: Aim) -> list[Point] | UnsetType:
    """Of a number, from the part with most reports: levels of several channels are not the same."""
    question = evidence.question
    if not (question.asks_mean and question.is_continuous):
        return UNSET
    part = max(evidence.parts, key=lambda each: each.n)
    return likely_distribution(part.channel, part.counts, *question.range, aim)
