"""Other designs for the same question: what the same margin takes without privacy, with a trusted curator, and with the
mechanisms of the textbook at the same epsilon.

A textbook mechanism is taken at its best: the noise is calibrated to the question's true sensitivity, the Gaussian
analytically, and every estimate is unbiased, from the mechanism's own table where it has one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from deniable_protocol import Question, YesNo, gaussian_sigma
from deniable_protocol.design import band, exponential, subset
from deniable_server.estimator.intervals import support

from .sample_size import Variance, Wanted, curator_respondents, respondents_for_margin
from .variances import OPEN_MEAN, designed_variance, of_mean, of_share, variance_of


class Alternative(msgspec.Struct, frozen=True):
    """Another design: how many respondents it needs, and how many times what this survey needs.

    ``design``: open (no privacy), curator, k_ary, exponential, laplace, gaussian, split, or default (this project's
    own channel, where the survey names a mechanism). ``delta`` where it keeps epsilon only but for that.
    """

    design: str
    respondents: int
    ratio: float
    delta: float | None = None


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


def alternatives(question: Question, ours: int, wanted: Wanted) -> list[Alternative]:
    """Every other design that fits the question, compared with the respondents that ours needs."""
    open_answers = of_mean(OPEN_MEAN) if question.asks_mean else of_share(0.0, 0.0)
    # The curator adds Laplace noise once, to the counts (or to the sum, in ranges). How far one person moves those is
    # how far an answer's own numbers can move: 1 with yes and no, where one count determines the other, and with means;
    # 2 with one of k options, whose counts change in two places; k with several choices, where all may.
    found: list[tuple[str, int, float | None]] = [
        ("open", respondents_for_margin(open_answers, wanted), None),
        ("curator", curator_respondents(open_answers, laplace_noise(question), wanted), None),
    ]
    delta = _gaussian_delta(question, wanted)
    for name, variance in _local(question, delta):
        found.append((name, respondents_for_margin(variance, wanted), delta if name == "gaussian" else None))
    return [Alternative(name, needed, needed / ours, lost) for name, needed, lost in found]


def _gaussian_delta(question: Question, wanted: Wanted) -> float:
    own = question.exact_delta
    return wanted.delta if own is None else float(own)


def _local(question: Question, delta: float) -> Iterator[tuple[str, Variance]]:
    """The local mechanisms that fit the question, with the variance of one respondent's contribution."""
    epsilon = question.exact_epsilon
    if question.codes and question.channel_kind.exclusive:
        yield "k_ary", variance_of(question, subset(len(question.codes), epsilon, size=1))
    if question.labels and not question.decline:
        # The textbook's weights, e^(-epsilon |x - y| / (2(k-1))), in integers, and decoded by the inverse of the table.
        yield "exponential", variance_of(question, exponential(len(question.labels), epsilon))
    yield "laplace", added_noise(question, laplace_noise(question))
    sigma = sensitivity(question).length * gaussian_sigma(float(epsilon), delta)
    yield "gaussian", added_noise(question, sigma**2)
    if not question.channel_kind.exclusive:
        rule = support(band(2, epsilon / len(question.codes), width=1))  # every option reports, at epsilon/k
        yield "split", of_share(rule.v1, rule.v0)
    if question.mechanism is not None:
        yield "default", designed_variance(_without_mechanism(question))


def laplace_noise(question: Question) -> float:
    """The variance of Laplace noise that keeps the question's epsilon: 2 scale^2, scale = sensitivity/epsilon."""
    return 2 * (sensitivity(question).sum / float(question.exact_epsilon)) ** 2


def added_noise(question: Question, noise: float) -> Variance:
    """Noise of this variance on every number of the answer."""
    return of_mean(OPEN_MEAN + noise) if question.asks_mean else of_share(noise, noise)


def _without_mechanism(question: Question) -> Question:
    named = {"mechanism": None} if question.delta is None else {"mechanism": None, "delta": None}
    return msgspec.structs.replace(question, **named)
