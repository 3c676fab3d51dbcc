"""What shuffling adds: epsilon towards someone who sees all submissions, but neither their order nor their senders.

Worst cases over everybody's answers, by sums of positive terms. Every figure is rounded up.

For randomised bits the value is exact. The count of ones is all that is seen, and the worst case is found among all
numbers of others who say yes.

For any other channel it is a bound [1]. Let x and y be the two answers of one person that are compared. What this
person sends is like x's with probability e^epsilon/(1+e^epsilon) if x is true and otherwise like y's, and the reverse
if y is true. No report is more than e^epsilon times less likely under another answer, so everybody else sends with
probability e^-epsilon at least what x or y would, each half of the time. These clones hide the person.

[1] Feldman, McMillan and Talwar 2021, FOCS.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import msgspec
import numpy as np
from scipy import stats
from scipy.optimize import brentq

from deniable_protocol import Channel, Document

from .composition import SLACK, Array

CROWDS = 200
"""How many counts of yes among the others are looked at, if there are more."""
MOST = 1_000_000
"""More respondents are counted as so many: others who are left out hide nobody."""
HIDDEN_BY_NOBODY = 30.0
"""Above this epsilon, fewer than one other report in a trillion is a clone."""
CLOSE = 1e-7
"""How far above the least epsilon a result may be, as a part of it."""
NONE = 1e-9
"""An epsilon that is as good as none."""
TINY = 1e-300
"""Stands for 0 where a logarithm is taken."""


class Shuffled(msgspec.Struct, frozen=True):
    """Epsilon, but for the plan's delta, where this many submissions with the same segments are shuffled.

    ``kind``: ``exact`` (but for rounding up by half a percent at most), or ``bound`` (the true one may be smaller).
    """

    epsilon: float
    respondents: int
    kind: Literal["exact", "bound"]


def shuffle(document: Document, respondents: int, delta: float) -> Shuffled | None:
    """What is known for this survey; None if its questions keep epsilon only but for a delta."""
    if document.account.delta:
        return None
    epsilon, counted = float(document.survey.exact_epsilon), min(respondents, MOST)
    is_bit = len(document.parts) == 1 and _is_bit(document.parts[0].channel)
    found = (shuffled_bits if is_bit else shuffled)(epsilon, counted, delta)
    return Shuffled(found, respondents, "exact" if is_bit and counted == respondents else "bound")


def _is_bit(channel: Channel) -> bool:
    return channel.answers == 2 and channel.exclusive and channel.largest_report == 1


def _least(excess: Callable[[float], float], epsilon: float, delta: float, guess: float) -> float:
    """The least E with excess(E) <= delta, at most epsilon. A part of delta is kept back for rounding."""
    allowed = delta * (1 - SLACK)

    def above(log_epsilon: float) -> float:
        return math.log(max(excess(math.exp(log_epsilon)), TINY) / allowed)

    high = min(2 * guess, epsilon)
    while high < epsilon and excess(high) > allowed:
        high = min(2 * high, epsilon)
    low = min(guess, high) / 2
    while excess(low) <= allowed:
        low, high = low / 2, low
        if high < NONE:
            return high
    found = math.exp(brentq(above, math.log(low), math.log(high), xtol=CLOSE))
    while found < epsilon and excess(found) > allowed:
        found *= 1 + CLOSE
    return min(found, epsilon)


def _guess(difference: float, variance: float, delta: float) -> float:
    """Of normal counts that a person moves by so much on average: the order of magnitude is right."""
    return difference / math.sqrt(variance) * math.sqrt(-2 * math.log(delta))


# --- any channel -------------------------------------------------------------------------------------------------


def shuffled(epsilon: float, respondents: int, delta: float) -> float:
    """At most epsilon of so many submissions, whatever the channel."""
    if epsilon > HIDDEN_BY_NOBODY:
        return epsilon
    crowd = Clones(epsilon, respondents, delta)
    # The difference of the two counts: how far the person moves it, and its variance.
    guess = _guess(2 * math.tanh(epsilon / 2), 2 * crowd.like * respondents, delta)
    return _least(crowd.excess, epsilon, delta, guess)


class Clones:
    """One person among n, of whom each other sends what x would, or what y would, with the probability ``like`` each.

    Of all n, a sent what is like x's and b what is like y's, m = a + b. With G the multinomial probability that n
    clones would, the person's report being one of them, P(a, b) = G/n (up a + down b)/like if x is the person's answer,
    and the same with up and down exchanged if it is y. Given m, P - e^E Q is linear in a, so its positive part is
    slope E[max(0, A - t m)], A ~ Bin(m, 1/2).
    """

    def __init__(self, epsilon: float, respondents: int, delta: float) -> None:
        self.like, self.n = math.exp(-epsilon) / 2, respondents
        self.up, self.down = 1 / (1 + math.exp(-epsilon)), 1 / (1 + math.exp(epsilon))
        self.counts, self.weights = _likely(respondents, 2 * self.like, delta)

    def excess(self, epsilon: float) -> float:
        """The least delta for this epsilon."""
        m, growth = self.counts, math.exp(epsilon)
        slope = (self.up - self.down) * (1 + growth) / self.like
        threshold = (growth * self.up - self.down) / ((self.up - self.down) * (1 + growth)) * m
        first = np.floor(threshold) + 1
        # The sum of (a - m/2) P(a) over a >= k is k P(k) / 2 (De Moivre).
        above = first / 2 * stats.binom.pmf(first, m, 0.5) - (threshold - m / 2) * stats.binom.sf(first - 1, m, 0.5)
        return slope / self.n * float(self.weights @ np.maximum(above, 0.0))


def _likely(n: int, p: float, delta: float) -> tuple[Array, Array]:
    """The counts that Bin(n, p) has but for a small part of delta, and their probabilities.

    Bernstein: it is further than y/3 + sqrt(y^2/9 + 2 y n p (1-p)) from its mean with probability 2 e^-y at most.
    """
    y = -math.log(delta * SLACK / 100)
    reach = y / 3 + math.sqrt(y**2 / 9 + 2 * y * n * p * (1 - p))
    counts = np.arange(max(math.floor(n * p - reach), 0), min(math.ceil(n * p + reach), n) + 1, dtype=np.float64)
    return counts, stats.binom.pmf(counts, n, p)


# --- yes and no --------------------------------------------------------------------------------------------------


def shuffled_bits(epsilon: float, respondents: int, delta: float) -> float:
    """Epsilon of so many randomised bits, whatever the others say; above the exact one by half a percent at most.

    How many others say yes matters a little, one way or the other. Leaving others out never hides a person better: what
    they send could be added to the count. So where there are many others, the result is that of a step fewer. Every
    count of yes among all of them then has one within a step below it that is looked at.
    """
    others = respondents - 1
    step = max(others // CROWDS, 1)
    kept = others - step + 1
    crowds = (Bits(epsilon, yes, kept - yes, delta) for yes in (*range(kept, 0, -step), 0))
    guess = _guess(math.tanh(epsilon / 2), respondents / (2 + 2 * math.cosh(epsilon)), delta)
    found = 0.0
    for crowd in crowds:
        if crowd.excess(found) > delta * (1 - SLACK):
            found = _least(crowd.excess, epsilon, delta, guess)
    return found


class Bits:
    """One person's bit among those of others, so many of whom say yes and so many no.

    With C the others' count, P(C=c-1) p + P(C=c) q of a yes exceeds e^E times P(C=c-1) q + P(C=c) p of a no from some
    count k on (C is log-concave), so that the excess is (p - e^E q) P(C=k-1) - (e^E - 1) P(C>=k). C is the number of
    yes, less those flipped, plus the flipped no.
    """

    def __init__(self, epsilon: float, yes: int, no: int, delta: float) -> None:
        self.p, self.q = 1 / (1 + math.exp(-epsilon)), 1 / (1 + math.exp(epsilon))
        self.kept = _likely(yes, self.q, delta)[1][::-1]
        self.flipped = _likely(no, self.q, delta)[1]
        self.tails = np.cumsum(self.flipped[::-1])[::-1]

    def excess(self, epsilon: float) -> float:
        """The least delta for this epsilon."""
        growth = math.exp(epsilon)
        more, less = self.p - growth * self.q, growth * self.p - self.q
        if more <= 0:
            return 0.0
        low, high = 0, len(self.kept) + len(self.flipped) - 1
        while high - low > 1:
            middle = (low + high) // 2
            exceeds = more * self._count(middle - 1) > less * self._count(middle)
            low, high = (low, middle) if exceeds else (middle, high)
        return more * self._count(high - 1) - (growth - 1) * self._at_least(high)

    def _count(self, count: int) -> float:
        """P(C = count), counted from the least that is likely."""
        first, last = max(count - len(self.flipped) + 1, 0), min(count + 1, len(self.kept))
        return float(self.kept[first:last] @ self.flipped[count - last + 1 : count - first + 1][::-1])

    def _at_least(self, count: int) -> float:
        first, last = max(count - len(self.flipped) + 1, 0), min(count + 1, len(self.kept))
        partly = self.kept[first:last] @ self.tails[count - last + 1 : count - first + 1][::-1]
        return float(partly + self.kept[last:].sum() * self.tails[0])
