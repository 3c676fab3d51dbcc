"""The textbook's answer to "which price earns most": the exponential mechanism of a trusted curator, next to ours.

The curator sees all n answers v_i and publishes one of k prices, p with a probability in proportion to
exp(epsilon R(p) / (2 m)), where R(p) = p (number of v_i >= p) and m is the highest price: one person more or less moves
R by at most m [1]. It is epsilon-differentially private for a curator whom everybody trusts with their answer.

What it costs: for any t, the prices whose revenue is more than 2 m (ln k + t) / epsilon below the best have a total
weight of at most k exp(-(ln k + t)) = e^-t times that of the best one, so they are chosen with probability at most
e^-t. The expected loss is the integral of that probability: at most 2 m (ln k + 1) / epsilon in all, and 1/n of it for
each person.

[1] McSherry and Talwar 2007, FOCS (the unlimited-supply auction).
"""

from __future__ import annotations

import math
from fractions import Fraction

import msgspec

from deniable_protocol import Question
from deniable_server.estimator.curves import MOST_POINTS


class TextbookPrice(msgspec.Struct, frozen=True):
    """What the exponential mechanism would lose at most in expectation, with a curator whom everybody trusts.

    ``loss`` is revenue for each person asked, in the question's units, at ``respondents`` answers; ``share`` the same
    as a part of the highest price. ``respondents_for_percent``: so many make it at most 1% of the highest price.
    """

    question: str
    prices: int
    highest: float
    respondents: int
    loss: float
    share: float
    respondents_for_percent: int


def textbook_price(question: Question, epsilon: Fraction, respondents: int) -> TextbookPrice | None:
    """Of a question that asks for a price, in bins or as a mean; None for others."""
    if not question.price:
        return None
    # The prices that our estimates tell apart: the lower edge of each bin, or some levels of a mean.
    edges = [] if question.asks_mean else [*getattr(question, "edges", ())]
    number, highest = (len(edges) - 1, edges[-2]) if edges else (MOST_POINTS + 1, question.range[1])
    in_all = expected_loss(number, highest, float(epsilon))
    return TextbookPrice(
        question=question.id,
        prices=number,
        highest=float(highest),
        respondents=respondents,
        loss=in_all / respondents,
        share=in_all / respondents / highest,
        respondents_for_percent=math.ceil(100 * in_all / highest),
    )


def expected_loss(prices: int, highest: float, epsilon: float) -> float:
    """The bound of the module's text, of the revenue from all respondents together."""
    return 2 * highest * (math.log(prices) + 1) / epsilon
