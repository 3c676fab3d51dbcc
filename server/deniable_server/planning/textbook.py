"""Other designs for the same survey: what the same margins take without privacy, with a trusted curator, or with every
question asked of everybody, by this project's channels or by the mechanisms of the textbook.

Asking everybody everything splits epsilon over the questions. A textbook mechanism is taken at its best: the noise is
calibrated to the question's true sensitivity, the Gaussian analytically, and every estimate is unbiased, from the
mechanism's own table where it has one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import NamedTuple

import msgspec

from deniable_protocol import Item, Question, Survey, YesNo, gaussian_sigma
from deniable_protocol.design import band, subset
from deniable_protocol.tables import exponential
from deniable_server.estimator.intervals import support

from .sample_size import Variance, Wanted, curator_respondents, respondents_for_margin
from .tables import tables_of
from .variances import OPEN_MEAN, designed_variance, of_mean, of_share, variance_of


class Alternative(msgspec.Struct, frozen=True):
    """Another design: how many respondents it needs, and how many times what this survey needs.

    ``design``: booklets (each device asked a few questions), split (everybody asked everything), k_ary, exponential,
    laplace, gaussian (the same with that mechanism wherever it fits), every_option (all options of a multi_choice
    reported), curator, or open (no privacy). ``delta`` where it keeps epsilon only but for that.
    """

    design: str
    respondents: int
    ratio: float
    delta: float | None = None


DESIGNS = ("split", "k_ary", "exponential", "laplace", "gaussian", "every_option", "open")
"""Those that ask everybody everything, with no curator."""


class Sensitivity(NamedTuple):
    """How far one person's answer moves what is reported, as the sum of absolute changes and as a Euclidean length."""

    sum: float
    length: float


def sensitivity(question: Question) -> Sensitivity:
    """Of the answer as numbers from 0 to 1: a bit or a mean's value; one bit of k; or k bits."""
    if question.asks_mean or (isinstance(question, YesNo) and not question.decline):
        return Sensitivity(1, 1)
    if not question.channel_kind.exclusive:
        k = len(question.codes)
        return Sensitivity(k, k**0.5)
    # One bit of k is set: another answer clears it and sets a different one.
    return Sensitivity(2, 2**0.5)


class Other(NamedTuple):
    """A question with every design that asks it of everybody, at an epsilon of its own."""

    question: Question
    epsilon: Fraction
    designs: dict[str, Variance]


def other_designs(question: Question, epsilon: Fraction, wanted: Wanted) -> Other:
    """Every local design that fits the question, and no privacy."""
    return Other(question, epsilon, dict(_designs(question, epsilon, wanted)))


def question_alternatives(other: Other, ours: int, wanted: Wanted) -> list[Alternative]:
    """For one question alone, compared with the respondents that ours needs for it."""
    question, asked = other.question, wanted.of_question(other.question)
    found = {design: respondents_for_margin(variance, asked) for design, variance in other.designs.items()}
    found["curator"] = _curator(other, wanted)
    return [_alternative(design, needed, ours, _delta(question, wanted)) for design, needed in found.items()]


def survey_alternatives(survey: Survey, others: Sequence[Other], ours: int, wanted: Wanted) -> list[Alternative]:
    """For all questions and cross-tabs. Where a mechanism does not fit a question, that has its own channel."""
    found = {}
    for design in DESIGNS:
        if any(design in other.designs for other in others):
            used = {other.question.id: other.designs.get(design, other.designs["split"]) for other in others}
            found[design] = _needed(survey, used, wanted)
    found["curator"] = max(_curator(other, wanted) for other in others)
    delta = max(_delta(other.question, wanted) for other in others)
    return [_alternative(design, needed, ours, delta) for design, needed in found.items()]


def _alternative(design: str, needed: int, ours: int, delta: float) -> Alternative:
    return Alternative(design, needed, needed / ours, delta if design == "gaussian" else None)


def _curator(other: Other, wanted: Wanted) -> int:
    # The curator adds Laplace noise once, to the counts (or to the sum, in ranges). How far one person moves those is
    # how far an answer's own numbers can move: 1 with yes and no, where one count determines the other, and with means;
    # 2 with one of k options, whose counts change in two places; k with several choices, where all may.
    noise = laplace_noise(other.question, other.epsilon)
    return curator_respondents(other.designs["open"], noise, wanted.of_question(other.question))


def _needed(survey: Survey, variances: Mapping[str, Variance], wanted: Wanted) -> int:
    """The respondents that are enough for every question and every cross-tab."""
    needed = [respondents_for_margin(variances[each.id], wanted.of_question(each)) for each in survey.questions]
    for table in tables_of(survey):
        variance = _of_cells([variances[item.question.id] for item in table], wanted.share)
        needed.append(respondents_for_margin(variance, wanted.of_cells(len(table))))
    return max(needed)


def _of_cells(variances: Sequence[Variance], share: float) -> Variance:
    """A cell from independent reports on each of its questions: the product of their unbiased scores z.

    E[z^2] is 1 + v1 where the answer is true and v0 where it is not, v1 = V(1), v0 = V(0). With independent answers the
    second moment of the product is the product of s(1 + v1) + (1 - s)v0.
    """
    moment = prod(share * (1 + variance(1.0)) + (1 - share) * variance(0.0) for variance in variances)
    return lambda cell: moment - cell**2


def _delta(question: Question, wanted: Wanted) -> float:
    """The delta of Gaussian noise: the question's own, or the plan's."""
    return wanted.delta if question.exact_delta is None else float(question.exact_delta)


def _designs(question: Question, epsilon: Fraction, wanted: Wanted) -> Iterator[tuple[str, Variance]]:
    yield "split", designed_variance(Item(_without_mechanism(question)), epsilon)
    if question.codes and question.channel_kind.exclusive:
        yield "k_ary", variance_of(question, subset(len(question.codes), epsilon, size=1))
    if question.labels and not question.decline:
        # The textbook's weights, e^(-epsilon |x - y| / (2(k-1))), in integers, and decoded by the inverse of the table.
        yield "exponential", variance_of(question, exponential(len(question.labels), epsilon))
    yield "laplace", added_noise(question, laplace_noise(question, epsilon))
    sigma = sensitivity(question).length * gaussian_sigma(float(epsilon), _delta(question, wanted))
    yield "gaussian", added_noise(question, sigma**2)
    if not question.channel_kind.exclusive:
        rule = support(band(2, epsilon / len(question.codes), width=1))  # every option reports, at epsilon/k
        yield "every_option", of_share(rule.v1, rule.v0)
    yield "open", of_mean(OPEN_MEAN) if question.asks_mean else of_share(0.0, 0.0)


def laplace_noise(question: Question, epsilon: Fraction) -> float:
    """The variance of Laplace noise that keeps this epsilon: 2 scale^2, scale = sensitivity/epsilon."""
    return 2 * (sensitivity(question).sum / float(epsilon)) ** 2


def added_noise(question: Question, noise: float) -> Variance:
    """Noise of this variance on every number of the answer."""
    return of_mean(OPEN_MEAN + noise) if question.asks_mean else of_share(noise, noise)


def _without_mechanism(question: Question) -> Question:
    if question.mechanism is None:
        return question
    named = {"mechanism": None} if question.delta is None else {"mechanism": None, "delta": None}
    return msgspec.structs.replace(question, **named)
