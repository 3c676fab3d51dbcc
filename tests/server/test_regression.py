"""Regression on segments: closed forms, scipy's optimiser on the same likelihood, and measured coverage."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Sequence

import msgspec
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats
from scipy.special import expit, logit

from deniable_protocol import Band, Channel, Choice, Drawn, N, Option, Question, Subset
from deniable_server.estimator import alone
from deniable_server.estimator.intervals import Rule, support
from deniable_server.estimator.regression import NOBODY, RUNS_AWAY, Answered, Regression, Term, regress
from tests.helpers.surveys import ask

Array = npt.NDArray[np.float64]
SEGMENTS = {"campus": ["north", "south", "west"], "year": ["first", "later"]}
CELLS = [*itertools.product(range(3), range(2))]


YES_NO = ask("yes_no")
RULE = support(YES_NO[1])


Asked = tuple[Question, Channel]


def answered(counts: dict[tuple[int, ...], tuple[int, int]], asked: Asked = YES_NO) -> list[Answered]:
    """Groups with y noisy yes of n, per places."""
    return [Answered(places, alone(*asked, [n - y, y], n)) for places, (y, n) in counts.items()]


def dummies(cells: Sequence[tuple[int, ...]]) -> Array:
    """Intercept, south, west, later."""
    return np.array([[1, c == 1, c == 2, y == 1] for c, y in cells], dtype=float)


def expected(beta: Sequence[float], n: int, rule: Rule = RULE) -> dict[tuple[int, ...], tuple[int, int]]:
    """The counts that these coefficients lead to expect, rounded."""
    rates = rule.q + rule.gap * expit(dummies(CELLS) @ np.array(beta))
    return {cell: (round(n * rate), n) for cell, rate in zip(CELLS, rates, strict=True)}


def terms(result: Regression) -> list[Term]:
    assert result.converged and result.intercept is not None
    return [result.intercept, *result.coefficients]


def minus_log_likelihood(counts: dict[tuple[int, ...], tuple[int, int]], rule: Rule) -> Callable[[Array], float]:
    x = dummies([*counts])
    y, n = np.array([*counts.values()]).T

    def f(beta: Array) -> float:
        rate = rule.q + rule.gap * expit(x @ beta)
        return -float(np.sum(y * np.log(rate) + (n - y) * np.log1p(-rate)))

    return f


def hessian(f: Callable[[Array], float], at: Array, h: float = 1e-2) -> Array:
    """By central differences."""
    unit = np.eye(len(at)) * h

    def entry(one: Array, two: Array) -> float:
        return (f(at + one + two) - f(at + one - two) - f(at - one + two) + f(at - one - two)) / (4 * h * h)

    return np.array([[entry(one, two) for two in unit] for one in unit])


# --- known answers -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [1, 4])
@pytest.mark.parametrize("beta", [(-1, 0.5, -0.5, 1), (0.3, 0, 1.5, -2)])
def test_fit_is_the_most_likely_one(epsilon: float, beta: tuple[float, ...]) -> None:
    """Coefficients and likelihood are those that scipy finds; errors are those of the curvature there."""
    question, channel = ask("yes_no", epsilon)
    rule = support(channel)
    counts = expected(beta, 20_000, rule)
    result = regress(question, "yes", SEGMENTS, answered(counts, (question, channel)))
    f = minus_log_likelihood(counts, rule)
    best = optimize.minimize(
        f, np.zeros(4), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-11, "maxiter": 9999}
    )
    estimates = np.array([term.estimate for term in terms(result)])
    assert result.log_likelihood == pytest.approx(-best.fun, abs=1e-6)
    assert estimates == pytest.approx(best.x, abs=1e-5)
    assert estimates == pytest.approx(beta, abs=0.02)
    # At counts as expected, the observed curvature is nearly the expected one that Fisher's scoring uses.
    errors = np.sqrt(np.diag(np.linalg.inv(hessian(f, estimates))))
    assert [term.standard_error for term in terms(result)] == pytest.approx(errors, rel=2e-3)


@pytest.mark.parametrize(
    ("epsilon", "n", "yes"),
    [
        (1, 300, [69, 93, 163, 170, 94, 90]),
        (0.5, 5000, [3053, 3126, 1965, 2331, 2955, 3115]),
        (0.5, 50, [25, 31, 31, 24, 27, 34]),
        (1, 50, [16, 7, 18, 17, 19, 14]),
    ],
)
def test_peaks_that_are_hard_to_find(epsilon: float, n: int, yes: list[int]) -> None:
    """Peaks near shares of 0 or 1, which long steps miss, and such that Fisher's scoring alone goes round in circles
    are found; and where groups do not fit the model well, errors are those of the expected information.
    """
    question, channel = ask("yes_no", epsilon)
    rule = support(channel)
    counts = {cell: (y, n) for cell, y in zip(CELLS, yes, strict=True)}
    result = regress(question, "yes", SEGMENTS, answered(counts, (question, channel)))
    estimates = np.array([term.estimate for term in terms(result)])
    best = optimize.minimize(minus_log_likelihood(counts, rule), estimates + 0.1, method="BFGS")
    assert result.log_likelihood == pytest.approx(-best.fun, abs=1e-6)
    x = dummies(CELLS)
    share = expit(x @ estimates)
    rate = rule.q + rule.gap * share
    weight = n * (rule.gap * share * (1 - share)) ** 2 / (rate * (1 - rate))
    errors = np.sqrt(np.diag(np.linalg.inv((x.T * weight) @ x)))
    assert [term.standard_error for term in terms(result)] == pytest.approx(errors, rel=1e-6)


def test_one_segment_is_saturated() -> None:
    """With one segment, coefficients are differences of the log odds of unbiased shares, errors those of the shares
    over s(1 - s), and the test is that of the binomial deviance.
    """
    counts = {(0,): (400, 1000), (1,): (900, 2000), (2,): (620, 1200)}
    result = regress(YES_NO[0], "yes", {"campus": SEGMENTS["campus"]}, answered(counts))
    y, n = np.array([*counts.values()]).T
    shares = (y / n - RULE.q) / RULE.gap
    variances = y / n * (1 - y / n) / n / (RULE.gap * shares * (1 - shares)) ** 2
    first, south, west = terms(result)
    assert (first.segment, first.code) == (None, None)
    assert [(term.segment, term.code) for term in (south, west)] == [("campus", "south"), ("campus", "west")]
    assert result.references == {"campus": "north"}
    assert first.estimate == pytest.approx(logit(shares[0]), abs=1e-9)
    assert first.standard_error == pytest.approx(math.sqrt(variances[0]))
    for term, j in ((south, 1), (west, 2)):
        error = math.sqrt(variances[0] + variances[j])
        assert term.estimate == pytest.approx(logit(shares[j]) - logit(shares[0]), abs=1e-9)
        assert term.standard_error == pytest.approx(error)
        assert term.z == pytest.approx(term.estimate / error)
        assert term.p_value == pytest.approx(2 * stats.norm.sf(abs(term.z)))
        assert (term.low, term.high) == pytest.approx(stats.norm.interval(0.95, term.estimate, error))
        assert (term.odds_ratio, term.odds_low, term.odds_high) == pytest.approx(
            tuple(map(math.exp, (term.estimate, term.low, term.high)))
        )
    deviance = 2 * sum(
        stats.binom.logpmf(a, b, a / b) - stats.binom.logpmf(a, b, y.sum() / n.sum()) for a, b in zip(y, n, strict=True)
    )
    assert (result.statistic, result.degrees_of_freedom) == (pytest.approx(deviance), 2)
    assert result.p_value == pytest.approx(stats.chi2.sf(deviance, 2))
    assert result.statistic == pytest.approx(2 * (result.log_likelihood - result.null_log_likelihood))
    assert result.submissions == 4200


def test_in_the_clear_it_is_ordinary_logistic_regression() -> None:
    """With p = 1 and q = 0, iteratively reweighted least squares give the same coefficients and errors."""
    question = Choice(id="q", text="?", epsilon="10", options=(Option("yes", "."), Option("no", ".")))
    y, n = np.array([30, 45, 12, 60, 80, 50]), np.array([100, 90, 60, 150, 120, 55])
    groups = [
        Answered(cell, alone(question, Subset(2, 1, N), [a, b - a], b))
        for cell, a, b in zip(CELLS, y.tolist(), n.tolist(), strict=True)
    ]
    result = regress(question, "yes", SEGMENTS, groups)
    x, beta = dummies(CELLS), np.zeros(4)
    for _ in range(50):
        share = expit(x @ beta)
        weight = n * share * (1 - share)
        working = x @ beta + (y - n * share) / weight
        beta = np.linalg.solve((x.T * weight) @ x, x.T @ (weight * working))
    assert [term.estimate for term in terms(result)] == pytest.approx(beta, abs=1e-9)
    errors = np.sqrt(np.diag(np.linalg.inv((x.T * weight) @ x)))
    assert [term.standard_error for term in terms(result)] == pytest.approx(errors)


def test_options_of_all_channels() -> None:
    """The option of a subset, the other answer of a yes_no and a drawn option are modelled by their own support."""
    counts = expected((-1, 0.5, -0.5, 1), 20_000)
    yes = regress(YES_NO[0], "yes", SEGMENTS, answered(counts))
    no = regress(YES_NO[0], "no", SEGMENTS, answered(counts))
    assert [term.estimate for term in terms(no)] == pytest.approx([-term.estimate for term in terms(yes)], abs=1e-7)
    options = [{"code": code, "text": "."} for code in "abc"]
    question, channel = ask("multi_choice", options=options)
    assert isinstance(channel, Drawn)
    groups = [
        Answered(cell, alone(question, channel, [5, 5, n - y, y, 7, 7], n + 24)) for cell, (y, n) in counts.items()
    ]
    drawn = regress(question, "b", SEGMENTS, groups)
    assert terms(drawn) == terms(yes)
    assert drawn.submissions == yes.submissions + 6 * 24
    question, channel = ask("choice", options=options)
    of_subset = expected((-1, 0.5, -0.5, 1), 20_000, support(channel))
    groups = [
        Answered(cell, alone(question, channel, [(n - y) // 2, y, n - y - (n - y) // 2], n))
        for cell, (y, n) in of_subset.items()
    ]
    assert [term.estimate for term in terms(regress(question, "b", SEGMENTS, groups))] == pytest.approx(
        [-1, 0.5, -0.5, 1], abs=0.01
    )


# --- laws --------------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 1000), min_size=6, max_size=6), st.lists(st.floats(-1, 1), min_size=4, max_size=4))
@settings(max_examples=50)
def test_splitting_a_group_changes_nothing(parts: list[int], beta: list[float]) -> None:
    """Groups given in two pieces, in another order, or with pieces in which nobody answered give the same fit."""
    counts = expected(beta, 4000)
    split = []
    for (places, (y, n)), part in zip(counts.items(), parts, strict=True):
        some = min(part, y)
        split += [*answered({places: (some, some)}), *answered({places: (y - some, n - some)})]
    whole, pieces = (regress(YES_NO[0], "yes", SEGMENTS, groups) for groups in (answered(counts), split[::-1]))
    assert whole.converged == pieces.converged
    for one, two in zip(terms(whole), terms(pieces), strict=True):
        assert (one.estimate, one.standard_error) == pytest.approx((two.estimate, two.standard_error), abs=1e-6)
    assert whole.log_likelihood == pytest.approx(pieces.log_likelihood)


def test_reference_is_the_first_code_that_anyone_has() -> None:
    """Codes that nobody has get no coefficient, and another reference changes signs, not the fit."""
    counts = {cell: value for cell, value in expected((-1, 0.5, -0.5, 1), 4000).items() if cell[0] != 0}
    result = regress(YES_NO[0], "yes", SEGMENTS, answered(counts))
    assert result.references == {"campus": "south", "year": "first"}
    assert [(term.segment, term.code) for term in result.coefficients] == [("campus", "west"), ("year", "later")]
    turned = {(2 - campus, 1 - year): value for (campus, year), value in counts.items()}
    segments = {name: codes[::-1] for name, codes in SEGMENTS.items()}
    other = regress(YES_NO[0], "yes", segments, answered(turned))
    assert other.log_likelihood == pytest.approx(result.log_likelihood)
    for one, two in zip(result.coefficients, other.coefficients, strict=True):
        assert one.estimate == pytest.approx(-two.estimate, abs=1e-6)


def test_without_segments_there_is_an_intercept() -> None:
    """With no segments, or with one code each, the log odds of the whole are all there is to fit."""
    for segments, places in (({}, ()), ({"campus": ["north", "south"]}, (1,))):
        result = regress(YES_NO[0], "yes", segments, answered({places: (400, 1000)}))
        assert [term.estimate for term in terms(result)] == pytest.approx([logit((0.4 - RULE.q) / RULE.gap)])
        assert (result.coefficients, result.degrees_of_freedom, result.statistic) == ([], 0, pytest.approx(0, abs=1e-9))
        assert result.p_value is None


def test_slopes_are_covered() -> None:
    """In 400 samples of 4000 submissions at epsilon 2, each 95% interval contains its slope in 352 to 399: with just
    95%, fewer or more happen in less than one case in a million over the three; and all slopes are nearly unbiased.
    """
    question, channel = ask("yes_no", 2)
    rule, beta = support(channel), np.array([-1, 0.4, -0.3, 0.8])
    rates = rule.q + rule.gap * expit(dummies(CELLS) @ beta)
    rng = np.random.default_rng(3)
    assert 3 * (stats.binom.cdf(351, 400, 0.95) + stats.binom.sf(399, 400, 0.95)) < 1e-6
    held, estimates = np.zeros(3), []
    for _ in range(400):
        n = rng.multinomial(4000, np.full(6, 1 / 6))
        y = rng.binomial(n, rates)
        counts = {cell: (int(a), int(b)) for cell, a, b in zip(CELLS, y, n, strict=True)}
        slopes = terms(regress(question, "yes", SEGMENTS, answered(counts, (question, channel))))[1:]
        held += [slope.low <= truth <= slope.high for slope, truth in zip(slopes, beta[1:], strict=True)]
        estimates.append([slope.estimate for slope in slopes])
    assert np.all((held >= 352) & (held <= 399))
    errors = np.std(estimates, axis=0) / math.sqrt(400)
    assert np.mean(estimates, axis=0) == pytest.approx(beta[1:], abs=float(5.5 * errors.max()))


# --- what cannot be fitted ---------------------------------------------------------------------------------------


def without_numbers(result: Regression) -> None:
    assert not result.converged and result.note is not msgspec.UNSET
    assert (result.intercept, result.coefficients) == (None, [])
    assert (result.log_likelihood, result.null_log_likelihood, result.statistic, result.p_value) == (None,) * 4


@pytest.mark.parametrize("y", [0, 100, round(1000 * RULE.q) - 1, round(1000 * RULE.p) + 1, 1000])
def test_impossible_rates_do_not_converge(y: int) -> None:
    """A group with fewer noisy yes than a share of 0 gives, or more than 1 gives, has no finite odds: no numbers."""
    result = regress(YES_NO[0], "yes", {"campus": ["a", "b"]}, answered({(0,): (450, 1000), (1,): (y, 1000)}))
    without_numbers(result)
    assert result.note == RUNS_AWAY
    assert 0 < result.iterations < 100


def test_a_rate_exactly_at_the_end_does_not_converge() -> None:
    """Even where reports are just as a share of 0 would give, the odds run away, if slowly: no numbers."""
    channel = Band(2, 1, 3 * N // 4)
    groups = answered({(0,): (450, 1000), (1,): (250, 1000)}, (YES_NO[0], channel))
    result = regress(YES_NO[0], "yes", {"campus": ["a", "b"]}, groups)
    without_numbers(result)
    assert result.note == RUNS_AWAY


def test_separated_groups_do_not_converge() -> None:
    """In the clear, a group in which all said yes has infinite odds, as in any logistic regression: no numbers."""
    question = Choice(id="q", text="?", epsilon="10", options=(Option("yes", "."), Option("no", ".")))
    groups = answered({(0,): (70, 100), (1,): (0, 50)}, (question, Subset(2, 1, N)))
    result = regress(question, "yes", {"campus": ["a", "b"]}, groups)
    without_numbers(result)
    assert result.note == RUNS_AWAY


def test_segments_that_say_the_same_are_named() -> None:
    """If one segment follows from another, the codes that cannot be separated are named, and nothing is fitted."""
    counts = {(0, 0): (400, 1000), (1, 1): (500, 1000), (2, 1): (450, 1000)}
    result = regress(YES_NO[0], "yes", SEGMENTS, answered(counts))
    without_numbers(result)
    assert result.note == "year:later cannot be told apart from codes of other segments. Leave a segment out"


def test_nothing_to_fit() -> None:
    """Without reports about the option there are no numbers."""
    without_numbers(empty := regress(YES_NO[0], "yes", SEGMENTS, []))
    assert (empty.note, empty.submissions, empty.references) == (NOBODY, 0, {})
    question, channel = ask("multi_choice", options=[{"code": code, "text": "."} for code in "ab"])
    untold = regress(question, "b", {"campus": ["a", "b"]}, [Answered((0,), alone(question, channel, [3, 4, 0, 0], 7))])
    assert (untold.note, untold.submissions) == (NOBODY, 7)


def test_wrong_requests_are_refused() -> None:
    """An option that is not there, a mean, a table or a confidence of 95 is an error."""
    scale = {"labels": list("abc")}
    for asked, code in ((YES_NO, "maybe"), (ask("scale", measure="mean", **scale), "1")):
        with pytest.raises(ValueError, match=f"no option {code}"):
            regress(asked[0], code, {}, [])
    table = ask("scale", mechanism="exponential", **scale)
    with pytest.raises(ValueError, match="more than support"):
        regress(table[0], "1", {}, [Answered((), alone(*table, [1, 2, 3], 6))])
    with pytest.raises(ValueError, match="confidence"):
        regress(YES_NO[0], "yes", {}, [], confidence=95)


@given(
    st.sampled_from([0.01, 0.5, 1, 4, 10]),
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 400)), min_size=6, max_size=6),
    st.sampled_from([1, 10**6]),
)
def test_every_fit_is_finite_or_none(epsilon: float, cells: list[tuple[int, int]], times: int) -> None:
    """Whatever the counts: either all numbers are there and finite, or none is and a note says why."""
    question, channel = ask("yes_no", epsilon)
    counts = {cell: (times * yes, times * (no + yes)) for cell, (no, yes) in zip(CELLS, cells, strict=True)}
    result = regress(question, "yes", SEGMENTS, answered(counts, (question, channel)))
    text = msgspec.json.encode(result).decode()
    json.loads(text, parse_constant=pytest.fail)
    assert msgspec.json.decode(text, type=Regression) == result
    if not result.converged:
        without_numbers(result)
        return
    assert result.note is msgspec.UNSET
    for term in terms(result):
        assert term.standard_error > 0 and term.low < term.estimate < term.high
        assert 0 <= term.p_value <= 1
    assert result.statistic is not None and result.statistic >= 0
    # No nearby coefficients are more likely.
    present = {cell: value for cell, value in counts.items() if value[1]}
    if len(result.coefficients) == 3:
        f = minus_log_likelihood(present, support(channel))
        at = np.array([term.estimate for term in terms(result)])
        for direction in np.vstack([np.eye(4), -np.eye(4)]):
            step = 0.1 * direction * [term.standard_error for term in terms(result)]
            assert f(at + np.clip(step, -1, 1)) >= f(at) - 1e-9 * abs(f(at))
