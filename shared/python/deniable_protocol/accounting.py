"""What epsilon adds up to, and what it means. Every figure is rounded against us: up, never down.

Composition here is over independent randomised answers of one respondent: several questions, or several waves.
Feeding a report into a second channel is *not* composition and never multiplies epsilons: it is post-processing,
and the first channel's epsilon stands.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction

import msgspec

_PRECISION = 50
_GRID = 10_000  # epsilons have at most four decimals: every loss below is a whole number of ten-thousandths


class Account(msgspec.Struct, frozen=True):
    """What was spent, or may be: everything that is said about it, and every refusal, comes from here.

    Whatever somebody answers, no event becomes more likely than e^epsilon times as likely as with any other answers,
    plus delta. Independent reports add up in both (basic composition), so that accounts do.
    """

    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)

    @classmethod
    def of(cls, epsilon: str | float | Decimal, delta: str | float | Decimal = 0) -> Account:
        """From decimals as they are written: 0.1 is a tenth."""
        return cls(Fraction(str(epsilon)), Fraction(str(delta)))

    def __add__(self, other: Account) -> Account:
        return Account(self.epsilon + other.epsilon, self.delta + other.delta)

    def within(self, limit: Account) -> bool:
        return self.epsilon <= limit.epsilon and self.delta <= limit.delta

    def power(self, false_alarms: float = 0.05) -> float:
        """The most often that the best test finds the truth, if it is wrong about at most this share of other people.

        Let a test accept with probability b under the truth and a under something else. Then b <= e^e a + d, and for
        its complement 1 - a <= e^e (1 - b) + d. Some channels reach both, so that nothing less is true of all.
        """
        growth = math.exp(min(float(self.epsilon), 700.0))  # more has no float, and the power is 1 long before
        excess = float(self.delta)
        return min(1.0, _up(min(false_alarms * growth + excess, 1 - (1 - false_alarms - excess) / growth)))


DEFAULT_BUDGET = Account.of(10, "0.000001")
"""What clients accept in total where the app names no budget."""


def advanced_composition(epsilon: Fraction, times: int, delta: float) -> float:
    """Dwork, Rothblum and Vadhan (2010): sqrt(2k ln(1/delta)) e + k e (e^e - 1), if that is below the sum."""
    _check_delta(delta)
    e = float(epsilon)
    if e > 1:  # e^e - 1 > 1: the second term alone is above the sum, and may be too large for a float
        return _up(times * e)
    bound = math.sqrt(2 * times * math.log(1 / delta)) * e + times * e * math.expm1(e)
    return _up(min(bound, times * e))


def exact_composition(epsilons: Sequence[Fraction], delta: float) -> Decimal:
    """The least epsilon, in ten-thousandths, that holds but for delta over all these answers together.

    Kairouz, Oh and Viswanath (2015): binary randomised response is the worst channel at each epsilon, so the worst
    joint privacy loss is a sum of independent +e_i with probability e^e_i/(1+e^e_i) and -e_i otherwise, and
    delta(E) = E[max(0, 1 - e^(E - loss))]. Losses lie on a grid, so their distribution is an exact convolution.
    """
    _check_delta(delta)
    with localcontext() as context:
        context.prec = _PRECISION
        losses = {0: Decimal(1)}
        for epsilon in epsilons:
            step = epsilon * _GRID
            if step.denominator != 1:
                raise ValueError("epsilons have at most four decimals")
            up = 1 / (1 + (-_decimal(epsilon)).exp())
            spread: dict[int, Decimal] = {}
            for loss, mass in losses.items():
                for end, share in ((loss + step.numerator, up), (loss - step.numerator, 1 - up)):
                    spread[end] = spread.get(end, Decimal(0)) + mass * share
            losses = spread

        def excess(units: int) -> Decimal:
            return sum(
                (mass * (1 - (Decimal(units - loss) / _GRID).exp()) for loss, mass in losses.items() if loss > units),
                Decimal(0),
            )

        # The arithmetic above is good to about 45 digits; asking for a shade less than delta covers its rounding.
        allowed = Decimal(delta) * (1 - Decimal("1e-30"))
        low, high = -1, max(losses)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if excess(middle) > allowed else (low, middle)
        return Decimal(high) / _GRID


def gaussian_sigma(epsilon: float, delta: float) -> float:
    """The least sigma, for sensitivity 1, with Phi(1/2s - es) - e^e Phi(-1/2s - es) <= delta; rounded up."""

    def excess(sigma: float) -> float:
        a, b = 1 / (2 * sigma), epsilon * sigma
        return _phi(a - b) - math.exp(epsilon) * _phi(-a - b)

    low, high = 1e-3, 1.0
    while excess(high) > delta:
        low, high = high, high * 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > delta else (low, middle)
    return high * (1 + 1e-12)


def _phi(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def _check_delta(delta: float) -> None:
    if not 0 < delta < 1:
        raise ValueError("delta lies between 0 and 1")


def _up(value: float) -> float:
    """Up to ten significant digits, never below the value: covers the few last-place errors of ``math``."""
    with localcontext() as context:
        context.prec = 10
        context.rounding = ROUND_CEILING
        return math.nextafter(float(+(Decimal(value) * Decimal("1.00000000001"))), math.inf) if value else 0.0
