"""Exact arithmetic for privacy claims: integers and fractions, no floating point.

Epsilon is a decimal with at most four places, so a fraction a/b. Every bound below is rounded towards *more*
privacy than stated: ``exp_floor`` is never above e^epsilon, ``largest_favour`` never above what it permits, and
``log_ceiling`` never below the true logarithm.
"""

from __future__ import annotations

import decimal
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from functools import lru_cache

N = 1 << 53
"""The denominator of every probability that a channel states."""

ONE = 1 << 256
"""Fixed-point one of ``exp_floor``."""


@lru_cache(maxsize=4096)
def exp_floor(exponent: Fraction) -> int:
    """L with L / 2^256 <= e^exponent, short of it by less than 10^-74 of its value.

    The Taylor terms T(i+1) = floor(T(i) * a / (b * (i+1))) are each rounded down, so their sum is below
    2^256 * e^(a/b). Stopping at the first zero term loses less than one unit more.
    """
    numerator, denominator = exponent.numerator, exponent.denominator
    if numerator < 0:
        raise ValueError("exp_floor takes exponents of at least 0")
    term, total, i = ONE, 0, 0
    while term:
        total += term
        i += 1
        term = term * numerator // (denominator * i)
    return total


def largest_favour(exp_epsilon: int, unfavoured: int, favoured: int) -> int:
    """The largest F that keeps epsilon: F*u*2^256 <= L*(N-F)*v, solved for F and rounded down.

    With v favoured and u unfavoured reports for every answer, a favoured report has probability F/(N*v) and an
    unfavoured one (N-F)/(N*u); their ratio F*u / ((N-F)*v) must not exceed e^epsilon >= L/2^256.
    """
    weight = exp_epsilon * favoured
    return weight * N // (weight + unfavoured * ONE)


def log_ceiling(odds: Fraction, places: int = 12) -> Decimal:
    """ln(odds) rounded up to ``places`` decimals: what a table may print about a privacy loss."""
    with decimal.localcontext() as context:
        context.prec = 60
        exact = (Decimal(odds.numerator) / Decimal(odds.denominator)).ln()
        # The division and the logarithm are each correct to 59 digits; 10^-45 covers both.
        return (exact + Decimal("1e-45")).quantize(Decimal(1).scaleb(-places), rounding=ROUND_CEILING)
