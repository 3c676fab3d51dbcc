"""The variance of one respondent's contribution, for any question and channel: what sample sizes are made of.

From the channel's own integers, through the scores that the estimator uses, never from e^epsilon.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import msgspec
import numpy as np

from deniable_protocol import Channel, Item, Question, design
from deniable_server.estimator.intervals import supports
from deniable_server.estimator.scores import mean_scores, share_scores, table_of

from .sample_size import Variance

OPEN_MEAN = 0.25
"""The largest variance that values on [0, 1] can have: half of them at either end."""


def variance_of(question: Question, channel: Channel) -> Variance:
    """Of the mean, or of the share that is known worst."""
    if question.asks_mean:
        return of_mean(worst_population(channel, question.is_continuous))
    found = supports(channel)
    if not found:
        return _of_scored_shares(channel)
    each, rule = found[0]
    one, times = of_share(rule.v1, rule.v0), float(1 / each.asked)  # an answer may hear of some respondents only
    return lambda share: times * one(share)


def designed_variance(item: Item, epsilon: Fraction) -> Variance:
    """With the channel that an item by itself has at this epsilon."""
    return _designed(msgspec.structs.replace(item.question, id="", text="", epsilon=None), item.option is None, epsilon)


@lru_cache(maxsize=4096)  # a survey asks many questions that differ in their texts only
def _designed(question: Question, whole: bool, epsilon: Fraction) -> Variance:
    item = Item(question, None if whole else question.codes[0])
    return variance_of(question, design([item], epsilon))


def of_share(true: float, other: float) -> Variance:
    """Sampling, s(1-s), plus noise: reports vary by ``true`` for the share s who have the answer, by ``other`` else.

    With p and q the probabilities of a report's support, true = p(1-p)/(p-q)^2 and other = q(1-q)/(p-q)^2, this is
    rate(1 - rate)/(p-q)^2 with rate = q + s(p-q); for yes_no it is s(1-s) + e^epsilon/(e^epsilon - 1)^2.
    """
    return lambda share: share * (1 - share) + share * true + (1 - share) * other


def of_mean(worst: float) -> Variance:
    return lambda _: worst


def _of_scored_shares(channel: Channel) -> Variance:
    """The answer that is known worst, with all others at the answer that disturbs it most."""
    table = table_of(channel)
    pairs = []
    for j, scores in enumerate(share_scores(channel)):
        values = np.array(scores.values)
        noise = table @ values**2 - (table @ values) ** 2
        pairs.append((float(noise[j]), float(np.delete(noise, j).max())))
    return lambda share: max(of_share(true, other)(share) for true, other in pairs)


@lru_cache(maxsize=1024)
def worst_population(channel: Channel, between: bool) -> float:
    """The largest variance of one report's score over all populations, in squares of the range.

    The worst single true value is not enough: where noise is small, how far people differ is what counts. A score's
    variance is its mean second moment less the square of its mean, and both are linear in the population, so that the
    worst one has two levels at most. With a part t at level b and the rest at a the variance is
    M_a + t(M_b - M_a) - (a + t(b-a))^2, concave in t: it peaks where the slope vanishes, or at an end. (A value
    between two levels is rounded to one of them at random, and is such a mixture itself.)
    """
    moments = table_of(channel) @ np.array(mean_scores(channel, between).values) ** 2
    levels = np.linspace(0.0, 1.0, channel.answers)
    worst = float(np.max(moments - levels**2))
    for a in range(channel.answers):
        rise, apart = moments[a + 1 :] - moments[a], levels[a + 1 :] - levels[a]
        part = np.clip((rise / (2 * apart) - levels[a]) / apart, 0.0, 1.0)
        mixed = moments[a] + part * rise - (levels[a] + part * apart) ** 2
        worst = max(worst, float(mixed.max(initial=0.0)))
    return worst
