"""Accounting, each figure against an independent computation."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable_protocol import (
    advanced_composition,
    basic_composition,
    detection_power,
    exact_composition,
    gaussian_sigma,
)


def kairouz_delta(epsilon: float, times: int, i: int) -> float:
    """Theorem 3.3 of Kairouz, Oh and Viswanath: delta at ((k - 2i) epsilon)."""
    return (
        sum(
            math.comb(times, j) * (math.exp((times - j) * epsilon) - math.exp((times - 2 * i + j) * epsilon))
            for j in range(i)
        )
        / (1 + math.exp(epsilon)) ** times
    )


@pytest.mark.parametrize(("epsilon", "times"), [("0.1", 10), ("0.1", 30), ("0.5", 12), ("1", 6), ("1", 20)])
def test_exact_composition_is_kairouz_oh_viswanaths(epsilon: str, times: int) -> None:
    """Just above each published (epsilon, delta) pair the exact epsilon is that pair's, and just below it is more."""
    e = Fraction(epsilon)
    for i in range(1, times // 2 + 1):
        delta = kairouz_delta(float(e), times, i)
        published = float((times - 2 * i) * e)
        assert abs(float(exact_composition([e] * times, delta * (1 + 1e-9))) - published) <= 1e-4
        assert float(exact_composition([e] * times, delta * (1 - 1e-2))) > published


def test_exact_composition_of_different_epsilons_by_enumeration() -> None:
    """Against a direct sum over all outcomes of three different randomised bits."""
    epsilons = [Fraction(1), Fraction("0.5"), Fraction("0.25")]
    answer = float(exact_composition(epsilons, 0.01))

    def delta(total: float) -> float:
        value = 0.0
        for signs in range(8):
            loss, mass = 0.0, 1.0
            for i, e in enumerate(map(float, epsilons)):
                sign = 1 if signs >> i & 1 else -1
                loss += sign * e
                mass /= 1 + math.exp(-sign * e)
            value += mass * max(0.0, 1 - math.exp(total - loss))
        return value

    assert delta(answer) <= 0.01 < delta(answer - 2e-4)


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 100), st.integers(1, 40), st.sampled_from([1e-9, 1e-6, 1e-3]))
def test_exact_is_never_above_basic_or_advanced(hundredths: int, times: int, delta: float) -> None:
    """The exact composition is the least of the three, and never negative."""
    e = Fraction(hundredths, 100)
    exact = float(exact_composition([e] * times, delta))
    assert 0 <= exact <= float(basic_composition([e] * times))
    assert exact <= advanced_composition(e, times, delta) + 1e-4


def test_advanced_composition_is_the_published_formula() -> None:
    """sqrt(2k ln(1/d)) e + k e (e^e - 1) for 1000 answers at 0.01; the plain sum where that is less."""
    value = advanced_composition(Fraction(1, 100), 1000, 1e-6)
    assert value == pytest.approx(math.sqrt(2000 * math.log(1e6)) * 0.01 + 10 * (math.exp(0.01) - 1), rel=1e-9)
    assert advanced_composition(Fraction(1), 3, 1e-6) == pytest.approx(3, rel=1e-9)


def test_gaussian_calibration_is_the_analytic_one() -> None:
    """Sigma for epsilon 1 and delta 10^-6 is 4.2247, and it satisfies the defining equation tightly."""
    sigma = gaussian_sigma(1.0, 1e-6)
    assert f"{sigma:.4f}" == "4.2247"

    def phi(x: float) -> float:
        return math.erfc(-x / math.sqrt(2)) / 2

    def delta(s: float) -> float:
        return phi(1 / (2 * s) - s) - math.e * phi(-1 / (2 * s) - s)

    assert delta(sigma) <= 1e-6 < delta(sigma * (1 - 1e-6))


def test_the_power_of_the_best_guess() -> None:
    """At epsilon 1 it is 5% e. At large epsilon the complement's bound takes over. A delta comes on top."""
    assert detection_power(Fraction(1)) == pytest.approx(0.05 * math.e, rel=1e-9)
    assert detection_power(Fraction(10)) == pytest.approx(1 - 0.95 * math.exp(-10), rel=1e-9)
    assert detection_power(Fraction(1), Fraction(1, 100)) == pytest.approx(0.05 * math.e + 0.01, rel=1e-9)
    assert detection_power(Fraction(5), Fraction(1, 100)) == pytest.approx(1 - 0.94 * math.exp(-5), rel=1e-9)
    assert detection_power(Fraction(2000)) == 1  # 200 questions at epsilon 10


def test_advanced_composition_of_large_epsilons_is_their_sum() -> None:
    """If the formula would exceed the sum, or overflow a float, the result is the sum."""
    for epsilon in (1, 3, 800):
        assert advanced_composition(Fraction(epsilon), 4, 1e-6) == pytest.approx(4 * epsilon)


@pytest.mark.parametrize("delta", [0, 1, -0.1, 2, float("nan")])
def test_a_delta_outside_0_and_1_is_refused(delta: float) -> None:
    """Every function that takes delta refuses one outside 0 and 1."""
    for call in (
        lambda: exact_composition([Fraction(1)], delta),
        lambda: advanced_composition(Fraction(1), 2, delta),
    ):
        with pytest.raises(ValueError, match="delta lies between"):
            call()
