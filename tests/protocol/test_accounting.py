"""Accounting, each figure against an independent computation."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable_protocol import (
    DEFAULT_BUDGET,
    Account,
    Document,
    Part,
    advanced_composition,
    check_answers,
    exact_composition,
    gaussian_sigma,
    publish,
    survey_from_tree,
    verify,
)
from tests.helpers.surveys import with_epsilons


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
    assert 0 <= exact <= float(e * times)
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
    assert Account.of(1).power() == pytest.approx(0.05 * math.e, rel=1e-9)
    assert Account.of(10).power() == pytest.approx(1 - 0.95 * math.exp(-10), rel=1e-9)
    assert Account.of(1, 0.01).power() == pytest.approx(0.05 * math.e + 0.01, rel=1e-9)
    assert Account.of(5, 0.01).power() == pytest.approx(1 - 0.94 * math.exp(-5), rel=1e-9)
    assert Account.of(2000).power() == 1  # 200 questions at epsilon 10


Answers = Mapping[str, Any]


def best_test(
    document: Document, first: Mapping[str, Any], second: Mapping[str, Any], false_alarms: Fraction
) -> Fraction:
    """How often the best test (Neyman and Pearson) finds the first answers, exactly: over every possible submission,
    those first that the first answers make likelier than the second ones do, until the false alarms are used up.
    """
    total = sum(booklet.weight for booklet in document.booklets)
    outcomes: list[tuple[Fraction, Fraction]] = []
    for number, booklet in enumerate(document.booklets):
        parts = document.parts_of(number)
        truths = [check_answers(document, number, answers) for answers in (first, second)]
        for reports in product(*(part.channel.reports() for part in parts)):
            chances = []
            for own in truths:
                given = zip(parts, own, reports, strict=True)
                each = [part.channel.probability(level(part, truth), report) for part, truth, report in given]
                chances.append(prod(each, start=Fraction(booklet.weight, total)))
            outcomes.append((chances[0], chances[1]))
    outcomes.sort(key=lambda pair: (pair[1] != 0, -pair[0] / pair[1] if pair[1] else 0))
    power, left = Fraction(0), false_alarms
    for found, alarm in outcomes:
        share = min(Fraction(1), left / alarm) if alarm else Fraction(1)
        power, left = power + share * found, left - share * alarm
    return power


def level(part: Part, truth: Any) -> Any:
    """The level of a number at one end of its range."""
    return round(truth * (part.channel.answers - 1)) if isinstance(truth, float) else truth


NOISY = {"type": "number", "text": "?", "min": 0, "max": 1, "mechanism": "gaussian", "delta": "0.0001"}
DOCUMENTS: dict[str, list[dict[str, Any]]] = {
    "one bit": [{"type": "yes_no", "text": "?", "epsilon": "1.0"}],
    "noise": [{**NOISY, "epsilon": "0.5"}],
    "little epsilon": [{**NOISY, "epsilon": "0.01"}],
    "much epsilon": [{**NOISY, "epsilon": "6.0"}],
    "several": [
        {"type": "yes_no", "text": "?", "epsilon": "0.5"},
        {**NOISY, "epsilon": "0.25"},
        {"type": "scale", "text": "?", "labels": ["a", "b", "c"], "mechanism": "exponential", "epsilon": "1.0"},
    ],
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_no_test_finds_more_than_the_account_says(name: str) -> None:
    """The best test of all, by enumeration of every submission, stays within the power of the document's account."""
    questions = [{"id": f"q{i}", **question} for i, question in enumerate(DOCUMENTS[name])]
    document = verify(publish(survey_from_tree({"id": "ab", "title": "T", "questions": questions})))
    ends = [[question.panel(2)[place][1] for question in document.survey.questions] for place in (0, -1)]
    first, second = (dict(zip([f"q{i}" for i in range(len(end))], end, strict=True)) for end in ends)
    for share in ("0", "0.000001", "0.01", "0.05", "0.3", "0.9"):
        limit = document.account.power(float(share))
        for one, other in ((first, second), (second, first)):
            found = best_test(document, one, other, Fraction(share))
            assert found <= limit
        if name == "one bit" and Fraction(share) < Fraction("0.2"):
            assert float(found) == pytest.approx(limit, rel=1e-9)  # nothing less would be true


def test_no_test_finds_more_where_a_booklet_is_drawn() -> None:
    """The same with booklets of one part and of several, which differ in what they spend."""
    asked: list[dict[str, Any]] = [{"id": f"q{i}", **DOCUMENTS["several"][i]} for i in range(2)]
    for question in asked:
        del question["epsilon"]
    survey = survey_from_tree({"id": "ab", "title": "T", "epsilon": 1, "questions": asked})
    parts = [(["q0"], None, "0.5"), (["q0"], None, "1.0"), (["q1"], None, "0.5")]
    document = verify(with_epsilons(survey, parts, [([0, 2], 3), ([1], 2)]))
    assert document.account == Account.of(1, "0.0001")
    for share in ("0.01", "0.05", "0.5"):
        found = best_test(document, {"q0": True, "q1": 1}, {"q0": False, "q1": 0}, Fraction(share))
        assert found <= document.account.power(float(share))


def test_delta_counts() -> None:
    """A table that names the answer with probability delta: what is said without delta would be false."""
    delta = Fraction(1, 10_000)
    found = Fraction("0.05") + delta * (1 - Fraction("0.05"))  # the reports that name it, then the others at random
    assert Account.of("0.0001").power() < found <= Account(Fraction("0.0001"), delta).power()


def test_an_account_adds_up_exactly_and_knows_its_limit() -> None:
    """Ten times a tenth is one, and one is within one; a limit is one of epsilon and one of delta, each for itself."""
    spent = sum([Account.of(0.1, "0.0000001")] * 10, Account())
    assert spent == Account.of("1.0", 1e-6) and spent.within(Account.of(1, "0.000001"))
    assert not spent.within(Account.of(2, "0.000000999999")) and not spent.within(Account.of("0.9999", 1))
    assert Account(Fraction(10), Fraction(1, 10**6)) == DEFAULT_BUDGET


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
