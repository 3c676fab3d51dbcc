"""The arithmetic that every privacy claim rests on."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable_protocol import ONE, N, exp_floor, largest_favour, log_ceiling
from deniable_protocol.design import best_size
from tests.helpers.sampling import sampled

GRID = [Fraction(hundredths, 100) for hundredths in range(1, 1001)]


def test_favours_that_anyone_can_compute() -> None:
    """F has its published values."""
    assert largest_favour(exp_floor(Fraction(1)), 1, 1) == 6584790284608188
    assert largest_favour(exp_floor(Fraction(4)), 1, 1) == 8845193877774825
    assert largest_favour(exp_floor(Fraction(1)), 7, 3) == 4846787665983846


@given(st.integers(100, 100_000))
def test_exp_floor_is_just_below_the_exponential(units: int) -> None:
    """Against decimal's correctly rounded exp at 100 digits: never above, short by less than 10^-74 of the value."""
    with localcontext() as context:
        context.prec = 100
        exact = (Decimal(units) / 10_000).exp()
        ours = Decimal(exp_floor(Fraction(units, 10_000))) / Decimal(ONE)
        assert exact * (1 - Decimal("1e-74")) < ours <= exact


@given(st.integers(100, 100_000), st.integers(1, 50), st.integers(1, 50))
def test_the_favour_is_the_largest_that_keeps_epsilon(units: int, u: int, v: int) -> None:
    """F keeps the inequality and F + 1 breaks it."""
    exp_epsilon = exp_floor(Fraction(units, 10_000))
    favour = largest_favour(exp_epsilon, u, v)
    assert favour * u * ONE <= exp_epsilon * (N - favour) * v
    assert (favour + 1) * u * ONE > exp_epsilon * (N - favour - 1) * v


def waste(epsilon: Fraction, u: int, v: int) -> Decimal:
    """Stated epsilon minus the exact one, to 50 digits."""
    favour = largest_favour(exp_floor(epsilon), u, v)
    with localcontext() as context:
        context.prec = 60
        odds = Decimal(favour * u) / Decimal((N - favour) * v)
        return Decimal(epsilon.numerator) / Decimal(epsilon.denominator) - odds.ln()


@pytest.mark.grid
def test_favourites_waste_no_epsilon_beyond_the_grain_of_2_to_the_53() -> None:
    """Over epsilon 0.01 ... 10, subsets of 2 to 51 and every band up to 17 levels: waste at most 10^-12, except where
    one unit of F is itself worth more; there it stays below that one unit, 1/F + 1/(N - F), which no F can undercut.
    """
    for epsilon in sampled(GRID, 37):
        exp_epsilon = exp_floor(epsilon)
        contrasts = {(k - d, d) for k in range(2, 52) for d in (1, best_size(k, exp_epsilon))}
        contrasts |= {(m - 1, w) for m in range(2, 18) for w in range(1, m)}
        for u, v in contrasts:
            favour = largest_favour(exp_epsilon, u, v)
            unit = Decimal(N) / (Decimal(favour) * Decimal(N - favour))
            assert 0 <= waste(epsilon, u, v) <= max(Decimal("1e-12"), unit * Decimal("1.000001"))


@given(st.integers(100, 100_000), st.integers(1, 50), st.integers(1, 50))
def test_the_epsilon_that_is_printed_is_never_above_the_stated_one(units: int, u: int, v: int) -> None:
    """ln(odds), rounded up to 12 digits, stays within the stated epsilon."""
    epsilon = Fraction(units, 10_000)
    favour = largest_favour(exp_floor(epsilon), u, v)
    printed = log_ceiling(Fraction(favour * u, (N - favour) * v))
    assert printed * 10_000 <= units
    assert printed >= Decimal(units) / 10_000 - Decimal("5e-12") * 40


def test_log_ceiling_rounds_up() -> None:
    """ln 2 = 0.693147180559945... becomes ...946 at 12 digits after rounding up, never down."""
    assert log_ceiling(Fraction(2)) == Decimal("0.693147180560")
    assert log_ceiling(Fraction(2), 4) == Decimal("0.6932")
    assert log_ceiling(Fraction(1)) <= Decimal("1e-12")


def test_negative_exponents_are_refused() -> None:
    """exp_floor says so instead of summing an alternating series, which rounding down would not bound."""
    with pytest.raises(ValueError, match="at least 0"):
        exp_floor(Fraction(-1))
