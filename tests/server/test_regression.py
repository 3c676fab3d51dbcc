"""Regression: golden values of R packages, closed forms, scipy's optimiser on the same likelihood, and coverage."""

from __future__ import annotations

import itertools
import json
import math
import warnings
from collections.abc import Callable, Sequence
from fractions import Fraction

import msgspec
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats
from scipy.special import expit, logit

from deniable_protocol import Band, Channel, Choice, Drawn, N, Option, Question, Subset, YesNo
from deniable_protocol.design import subset
from deniable_server.estimator import alone
from deniable_server.estimator.evidence import Counted, Evidence, Heard, pool_sets
from deniable_server.estimator.intervals import Aim, Rule, Supported, support
from deniable_server.estimator.logistic import Counts, Design, Tables
from deniable_server.estimator.profile import falls, fit
from deniable_server.estimator.regression import MOMENTS, NOBODY, Answered, Regression, Term, regress
from tests.helpers.surveys import ask

Array = npt.NDArray[np.float64]
SEGMENTS = {"campus": ["north", "south", "west"], "year": ["first", "later"]}
CELLS = [*itertools.product(range(3), range(2))]


LIMIT = float(stats.chi2.isf(0.05, 1))
YES_NO = ask("yes_no")
RULE = support(YES_NO[1])


Asked = tuple[Question, Channel]


def answered(counts: dict[tuple[int, ...], tuple[int, int]], asked: Asked = YES_NO) -> list[Answered]:
    """Groups with y noisy yes of n, per places."""
    return [Answered({places: n}, alone(*asked, [n - y, y], n)) for places, (y, n) in counts.items()]


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


def errors_at(estimates: Array, rule: Rule, n: int) -> Array:
    """From the expected information in groups of n."""
    x, share = dummies(CELLS), expit(dummies(CELLS) @ estimates)
    rate = rule.q + rule.gap * share
    weight = n * (rule.gap * share * (1 - share)) ** 2 / (rate * (1 - rate))
    return np.sqrt(np.diag(np.linalg.inv((x.T * weight) @ x)))


def likely(result: Regression) -> list[float | None]:
    return [term.most_likely for term in terms(result)]


def estimates(result: Regression) -> Array:
    return np.array([term.estimate for term in terms(result)])


# --- golden values -----------------------------------------------------------------------------------------------

IN_THE_CLEAR = Choice(id="q", text="?", epsilon="10", options=(Option("yes", "."), Option("no", "."))), Subset(2, 1, N)


def six(yes: Sequence[int], n: Sequence[int]) -> dict[tuple[int, ...], tuple[int, int]]:
    return {cell: (y, m) for cell, y, m in zip(CELLS, yes, n, strict=True)}


def test_the_most_likely_values_are_those_of_rrreg_and_rr() -> None:
    """Warner's design with p = .75, 300 people per group, reports "yes" as below:

        d <- data.frame(campus = factor(rep(0:2, each = 600)), year = factor(rep(c(0,1,0,1,0,1), each = 300)),
                        y = unlist(lapply(c(120,150,90,135,160,171), function(k) rep(1:0, c(k, 300 - k)))))
        rr::rrreg(y ~ campus + year, data = d, p = .75, design = "mirrored", em.converge = 1e-14)$est     # rr 1.4.2
        RRreg::RRlog(y ~ campus + year, d, model = "Warner", p = .75)$logLik                             # RRreg 0.7.5
        rr::rrreg(y ~ campus, data = d, p = .75, design = "mirrored", em.converge = 1e-14)                # est, se

    RRlog's own coefficients are exact to 1e-5 only (its search stops there); its log-likelihood is, to 1e-8.
    """
    counts = six([120, 150, 90, 135, 160, 171], [300] * 6)
    asked = YES_NO[0], Band(2, 1, 3 * N // 4)
    result = regress(asked[0], "yes", SEGMENTS, answered(counts, asked))
    assert likely(result) == pytest.approx([-0.839119820341, -0.656894721114, 0.878885573191, 0.833083766411], abs=1e-6)
    assert likely(result) == pytest.approx([-0.839109934865, -0.656902734834, 0.878882076734, 0.833076165194], abs=2e-5)
    assert result.log_likelihood == pytest.approx(-1214.69034629, abs=1e-7)
    one = regress(asked[0], "yes", {"campus": SEGMENTS["campus"]}, answered(merge_years(counts), asked))
    assert likely(one) == pytest.approx([-0.405465108066, -0.693147244845, 0.824838642732], abs=1e-6)
    model = Counts(
        Design(np.array([[1, 0, 0], [1, 1, 0], [1, 0, 1.0]]), np.eye(3)),
        [group.evidence.shares[0].apart(1)[0] for group in answered(merge_years(counts), asked)],  # type: ignore[union-attr]
    )
    errors = np.sqrt(np.diag(np.linalg.inv(model.information(fit(model).top.beta[0]))))
    assert errors == pytest.approx([0.169250800096, 0.270352140849, 0.239654809371], abs=1e-6)


def merge_years(counts: dict[tuple[int, ...], tuple[int, int]]) -> dict[tuple[int, ...], tuple[int, int]]:
    pairs = {campus: [counts[campus, year] for year in range(2)] for campus in range(3)}
    return {(campus,): (sum(y for y, _ in each), sum(n for _, n in each)) for campus, each in pairs.items()}


def test_forced_responses_are_as_in_rr() -> None:
    """People who are forced to say yes with .2 and no with .1: a rate from .2 to .9.

    rr::rrreg(y ~ campus + year, data = d, p = .7, p1 = .2, p0 = .1, design = "forced-known", em.converge = 1e-14)
    """
    rule = Rule(0.9, 0.2, 0.7, 0.09 / 0.49, 0.16 / 0.49)
    counts = [Supported(rule, y, 300.0) for y in (120, 150, 90, 135, 160, 171)]
    top = fit(Counts(Design(dummies(CELLS), np.eye(6)), counts)).top
    assert top.beta[0] == pytest.approx([-0.889563888086, -0.492077392256, 0.604387205717, 0.582193897483], abs=1e-6)


def test_without_noise_estimates_are_firths() -> None:
    """With p = 1 and q = 0, as brglm2 0.9 gives them, also where in one group nobody said yes:

    yes <- c(30,45,0,6,12,50); n <- c(100,90,60,15,40,55)
    campus <- factor(c(0,0,1,1,2,2)); year <- factor(c(0,1,0,1,0,1))
    glm(cbind(yes, n - yes) ~ campus + year, binomial, method = "brglmFit", type = "AS_mean", epsilon = 1e-13)
    """
    counts = six([30, 45, 0, 6, 12, 50], [100, 90, 60, 15, 40, 55])
    groups = [Answered({cell: n}, alone(*IN_THE_CLEAR, [y, n - y], n)) for cell, (y, n) in counts.items()]
    result = regress(IN_THE_CLEAR[0], "yes", SEGMENTS, groups)
    assert estimates(result) == pytest.approx([-1.27689738049, -1.63633079129, 1.03776542847, 1.65172611608], abs=1e-8)
    errors = [0.214456483686, 0.455835914111, 0.283434640647, 0.253699478610]
    assert [term.standard_error for term in terms(result)] == pytest.approx(errors, abs=1e-8)


# --- known answers -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("epsilon", "n", "yes"),
    [
        (1, 300, [69, 93, 163, 170, 94, 90]),
        (0.5, 5000, [3053, 3126, 1965, 2331, 2955, 3115]),
        (0.5, 50, [25, 31, 31, 24, 27, 34]),
        (1, 50, [16, 7, 18, 17, 19, 14]),
        (4, 20_000, [5537, 7730, 3808, 5537, 10_000, 12_269]),
    ],
)
def test_fit_is_the_most_likely_one(epsilon: float, n: int, yes: list[int]) -> None:
    """Coefficients and likelihood are those that scipy finds, also at peaks near shares of 0 or 1, which long steps
    miss; errors are those of the expected information.
    """
    question, channel = ask("yes_no", epsilon)
    rule = support(channel)
    counts = {cell: (y, n) for cell, y in zip(CELLS, yes, strict=True)}
    result = regress(question, "yes", SEGMENTS, answered(counts, (question, channel)))
    f = minus_log_likelihood(counts, rule)
    starts = estimates(result) + np.vstack([np.zeros(4), 3 * np.eye(4), -3 * np.eye(4)])
    best = min((optimize.minimize(f, start, method="BFGS") for start in starts), key=lambda found: float(found.fun))
    assert result.log_likelihood == pytest.approx(-best.fun, abs=1e-5)
    if None not in likely(result):
        assert likely(result) == pytest.approx(best.x, abs=1e-2)
    errors = errors_at(estimates(result), rule, n)
    assert [term.standard_error for term in terms(result)] == pytest.approx(errors, rel=1e-6)
    # With the penalty of the true answers' information, scipy finds the estimates.
    x = dummies(CELLS)

    def penalised(beta: Array) -> float:
        share = expit(x @ beta)
        return f(beta) - float(np.linalg.slogdet((x.T * (n * share * (1 - share))) @ x)[1]) / 2

    best = optimize.minimize(penalised, estimates(result) + 0.1, method="BFGS")
    assert penalised(estimates(result)) == pytest.approx(best.fun, abs=1e-8)


def test_one_segment_is_saturated() -> None:
    """With one segment, the most likely coefficients are differences of the log odds of unbiased shares; estimates add
    half a log of s(1 - s) to each group's likelihood; limits are where the likelihood falls as far as chi-square says.
    """
    counts = {(0,): (400, 1000), (1,): (900, 2000), (2,): (620, 1200)}
    result = regress(YES_NO[0], "yes", {"campus": SEGMENTS["campus"]}, answered(counts))
    y, n = np.array([*counts.values()]).T
    shares = (y / n - RULE.q) / RULE.gap
    first, south, west = terms(result)
    assert (first.predictor, first.code) == (None, None)
    assert [(term.predictor, term.code) for term in (south, west)] == [("campus", "south"), ("campus", "west")]
    assert result.references == {"campus": "north"}
    odds = logit(shares)
    assert likely(result) == pytest.approx([odds[0], odds[1] - odds[0], odds[2] - odds[0]], abs=1e-9)

    def height(i: int, at: float, penalty: float) -> float:
        share = float(expit(at))
        return float(stats.binom.logpmf(y[i], n[i], RULE.q + RULE.gap * share)) + penalty * math.log(
            share * (1 - share)
        )

    def best(of: Callable[[float], float]) -> tuple[float, float]:
        found = optimize.minimize_scalar(lambda at: -of(at), bounds=(-6, 6), method="bounded", options={"xatol": 1e-10})
        return float(found.x), -float(found.fun)

    firth = [best(lambda at, i=i: height(i, at, 0.5))[0] for i in range(3)]  # type: ignore[misc]
    assert estimates(result) == pytest.approx([firth[0], firth[1] - firth[0], firth[2] - firth[0]], abs=1e-6)
    for term, j in ((south, 1), (west, 2)):
        assert term.low is not None and term.high is not None

        def drop(value: float, penalty: float, j: int = j) -> float:
            top = best(lambda at: height(0, at, penalty))[1] + best(lambda at: height(j, at, penalty))[1]
            both = best(lambda at: height(0, at, penalty) + height(j, at + value, penalty))[1]
            return 2 * (top - both)

        for value in (term.low, term.high):
            assert min(drop(value, 0.0), drop(value, 0.5)) == pytest.approx(LIMIT, abs=1e-5)
        assert term.statistic == pytest.approx(min(drop(0.0, 0.0), drop(0.0, 0.5)), abs=1e-6)
        assert term.p_value == pytest.approx(stats.chi2.sf(term.statistic, 1))
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


def test_a_design_effect_counts_for_the_answers_not_for_the_noise() -> None:
    """With deff = 2, the standard error of a group's log odds is that of 2 s(1-s) plus the channel's noise; without
    noise everything is as with half as many people.
    """
    result = regress(YES_NO[0], "yes", {}, answered({(): (4000, 10_000)}), Aim(deff=2.0))
    assert result.intercept is not None
    share = float(expit(result.intercept.estimate))
    variance = 2 * share * (1 - share) + share * RULE.v1 + (1 - share) * RULE.v0
    assert result.intercept.standard_error == pytest.approx(math.sqrt(variance / 10_000) / (share * (1 - share)))
    assert result.intercept.most_likely == pytest.approx(logit((0.4 - RULE.q) / RULE.gap))
    whole, half = (
        [Answered({(i,): n}, alone(*IN_THE_CLEAR, [y, n - y], n)) for i, (y, n) in enumerate(counts)]
        for counts in (((60, 200), (90, 160)), ((30, 100), (45, 80)))
    )
    segments = {"campus": ["a", "b"]}
    doubled = regress(IN_THE_CLEAR[0], "yes", segments, whole, Aim(deff=2.0))
    fewer = regress(IN_THE_CLEAR[0], "yes", segments, half)
    for one, two in zip(terms(doubled), terms(fewer), strict=True):
        for field in ("estimate", "standard_error", "low", "high", "p_value"):
            assert getattr(one, field) == pytest.approx(getattr(two, field), abs=1e-6)


def test_options_of_all_channels() -> None:
    """The option of a subset, the other answer of a yes_no and a drawn option are modelled by their own support."""
    counts = expected((-1, 0.5, -0.5, 1), 20_000)
    yes = regress(YES_NO[0], "yes", SEGMENTS, answered(counts))
    no = regress(YES_NO[0], "no", SEGMENTS, answered(counts))
    assert estimates(no) == pytest.approx(-estimates(yes), abs=1e-7)
    options = [{"code": code, "text": "."} for code in "abc"]
    question, channel = ask("multi_choice", options=options)
    assert isinstance(channel, Drawn)
    groups = [
        Answered({cell: n}, alone(question, channel, [5, 5, n - y, y, 7, 7], n + 24)) for cell, (y, n) in counts.items()
    ]
    drawn = regress(question, "b", SEGMENTS, groups)
    assert terms(drawn) == terms(yes)
    assert drawn.submissions == yes.submissions + 6 * 24
    question, channel = ask("choice", options=options)
    of_subset = expected((-1, 0.5, -0.5, 1), 20_000, support(channel))
    groups = [
        Answered({cell: n}, alone(question, channel, [(n - y) // 2, y, n - y - (n - y) // 2], n))
        for cell, (y, n) in of_subset.items()
    ]
    assert likely(regress(question, "b", SEGMENTS, groups)) == pytest.approx([-1, 0.5, -0.5, 1], abs=0.01)


# --- laws --------------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 1000), min_size=6, max_size=6), st.lists(st.floats(-1, 1), min_size=4, max_size=4))
@settings(max_examples=10)
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
        assert (one.low, one.high) == (pytest.approx(two.low, abs=1e-5), pytest.approx(two.high, abs=1e-5))
    assert whole.log_likelihood == pytest.approx(pieces.log_likelihood)


def test_reference_is_the_first_code_that_anyone_has() -> None:
    """Codes that nobody has get no coefficient, and another reference changes signs, not the fit."""
    counts = {cell: value for cell, value in expected((-1, 0.5, -0.5, 1), 4000).items() if cell[0] != 0}
    result = regress(YES_NO[0], "yes", SEGMENTS, answered(counts))
    assert result.references == {"campus": "south", "year": "first"}
    assert [(term.predictor, term.code) for term in result.coefficients] == [("campus", "west"), ("year", "later")]
    turned = {(2 - campus, 1 - year): value for (campus, year), value in counts.items()}
    segments = {name: codes[::-1] for name, codes in SEGMENTS.items()}
    other = regress(YES_NO[0], "yes", segments, answered(turned))
    assert other.log_likelihood == pytest.approx(result.log_likelihood)
    for one, two in zip(result.coefficients, other.coefficients, strict=True):
        assert one.estimate == pytest.approx(-two.estimate, abs=1e-6)
    chosen = {"campus": "west", "year": "later"}
    same = regress(YES_NO[0], "yes", SEGMENTS, answered(counts), references=chosen)
    assert same.references == chosen
    for one, two in zip(same.coefficients, other.coefficients, strict=True):
        assert (one.estimate, one.low, one.high) == pytest.approx((two.estimate, two.low, two.high), abs=1e-5)


def test_without_segments_there_is_an_intercept() -> None:
    """With no segments, or with one code each, the log odds of the whole are all there is to fit."""
    for segments, places in (({}, ()), ({"campus": ["north", "south"]}, (1,))):
        result = regress(YES_NO[0], "yes", segments, answered({places: (400, 1000)}))
        assert likely(result) == pytest.approx([logit((0.4 - RULE.q) / RULE.gap)])
        assert (result.coefficients, result.degrees_of_freedom, result.statistic) == ([], 0, pytest.approx(0, abs=1e-9))
        assert result.p_value is None


def test_merged_combinations_have_the_mean_of_their_shares() -> None:
    """Counted together with others, a combination of codes still has its own odds: nothing is biased by merging."""
    beta = np.array([-1.0, 0.8, -0.7, 1.2])
    shares = expit(dummies(CELLS) @ beta)
    groups = [
        Answered({cell: 50_000}, alone(*YES_NO, [50_000 - y, y], 50_000))
        for cell, share in zip(CELLS[:4], shares, strict=False)
        for y in [50_000 * (RULE.q + RULE.gap * share)]
    ]
    mean = RULE.q + RULE.gap * (0.3 * shares[4] + 0.7 * shares[5])
    evidence = alone(*YES_NO, [50_000 * (1 - mean), 50_000 * mean], 50_000)
    result = regress(YES_NO[0], "yes", SEGMENTS, [*groups, Answered({(2, 0): 15_000, (2, 1): 35_000}, evidence)])
    assert likely(result) == pytest.approx(beta, abs=1e-6)


def test_rare_answers_are_covered() -> None:
    """At a share of 3% and epsilon 1, where the odds of a group are infinite in half of the surveys, every survey of
    2000 has a result, 95% intervals hold in at least 37 of 50, and estimates of an odds ratio of 2 are nearly
    unbiased. With just 95%, fewer than 37 happen in less than one of a million cases.
    """
    beta = np.array([logit(0.03), 0, 0, math.log(2)])
    x = np.array([[1, i == 1, i == 2, i == 3] for i in range(4)], float)
    assert 4 * stats.binom.cdf(36, 50, 0.95) < 1e-6
    random, hits, slopes, infinite = np.random.default_rng(5), np.zeros(4), [], 0
    for _ in range(50):
        n = random.multinomial(2000, [0.25] * 4)
        y = random.binomial(n, RULE.q + RULE.gap * expit(x @ beta))
        counts = [Supported(RULE, float(a), float(b)) for a, b in zip(y, n, strict=True)]
        fitted = fit(model := Counts(Design(x, np.eye(4)), counts))
        assert fitted.found
        hits += falls(model, fitted, beta) <= LIMIT
        slopes.append(fitted.firth.beta[0][3])
        infinite += np.max(np.abs(fitted.top.beta)) > 10
    assert hits.min() >= 37 and infinite > 15
    assert 0.3 < np.mean(slopes) < 0.9


# --- questions of the same part ----------------------------------------------------------------------------------


def joint(counts: Sequence[float], n: float, channel: Subset, answers: int) -> tuple[Evidence, Evidence]:
    """A yes_no, and a question of some answers, in one part: paths are no and yes by the other's answers."""
    paths = tuple(range(2 * answers))
    other = Choice(id="other", text="?", options=tuple(Option(code, ".") for code in "abcdef"[:answers]))
    first = Heard(channel, counts, n, (paths[:answers], paths[answers:]), paths)
    second = Heard(channel, counts, n, tuple((j, j + answers) for j in range(answers)), paths)
    parts = (Counted(channel, counts, n),)
    return (
        Evidence(YesNo(id="q", text="?"), n, ((first,),), parts),
        Evidence(other, n, ((second,),), parts),
    )


def joint_counts(channel: Subset, own: Array, yes: Array, n: int) -> list[float]:
    """As expected: how many of n reports hold each path."""
    p, q = (float(value) for value in (channel.supports()[0].p, channel.supports()[0].q))
    return (n * (q + (p - q) * np.concatenate([own * (1 - yes), own * yes]))).tolist()


@pytest.mark.parametrize("size", [1, 2])
def test_a_question_explains_another(size: int) -> None:
    """Of two yes or no questions, the most likely odds ratio is that of the unbiased shares of the pairs."""
    channel = subset(4, Fraction(2), size)
    n = 3000
    counts = np.round(joint_counts(channel, np.array([0.45, 0.55]), np.array([0.3, 0.6]), n))
    evidence, other = joint(counts.tolist(), n, channel, 2)
    result = regress(evidence.question, "yes", {}, [Answered({(): n}, evidence, (other,))])
    p, q = (float(value) for value in (channel.supports()[0].p, channel.supports()[0].q))
    share = ((counts / n - q) / (p - q)).reshape(2, 2)
    ratio = share[1, 1] * share[0, 0] / (share[1, 0] * share[0, 1])
    assert (result.method, result.submissions, result.references) == (MOMENTS, n, {"other": "a"})
    assert likely(result) == pytest.approx([math.log(share[1, 0] / share[0, 0]), math.log(ratio)], abs=1e-6)
    low, high = result.coefficients[0].low, result.coefficients[0].high
    assert low is not None and high is not None and low < math.log(ratio) < high
    assert result.p_value == pytest.approx(stats.chi2.sf(result.statistic, 1))


def test_questions_and_segments_explain_together() -> None:
    """Main effects of a segment and of a question are found whatever the question's own shares are in each group."""
    channel, beta = subset(6, Fraction(1), None), np.array([-1.0, 0.7, 0.5, -0.4])
    groups = []
    for campus, own in enumerate(([0.5, 0.3, 0.2], [0.2, 0.2, 0.6])):
        yes = expit(beta[0] + beta[1] * campus + np.array([0, *beta[2:]]))
        evidence, other = joint(joint_counts(channel, np.array(own), yes, 10_000), 10_000, channel, 3)
        groups.append(Answered({(campus,): 10_000}, evidence, (other,)))
    result = regress(groups[0].evidence.question, "yes", {"campus": ["north", "south"]}, groups)
    assert [(term.predictor, term.code) for term in result.coefficients] == [
        ("campus", "south"), ("other", "b"), ("other", "c")
    ]  # fmt: skip
    assert likely(result) == pytest.approx(beta, abs=1e-6)
    assert result.log_likelihood == pytest.approx(0, abs=1e-9)
    turned = regress(
        groups[0].evidence.question, "yes", {"campus": ["north", "south"]}, groups, references={"other": "c"}
    )
    assert likely(turned)[2:] == pytest.approx([0.4, 0.9], abs=1e-6)


def test_without_noise_a_question_is_as_a_segment() -> None:
    """If reports are the answers themselves, the odds ratio, its error and its limits are nearly those of a segment."""
    counts, channel = [180, 90, 60, 110], Subset(4, 1, N)
    evidence, other = joint(counts, 440, channel, 2)
    asked = regress(evidence.question, "yes", {}, [Answered({(): 440}, evidence, (other,))]).coefficients[0]
    groups = [
        Answered({(i,): n}, alone(*IN_THE_CLEAR, [y, n - y], n)) for i, (y, n) in enumerate(((60, 240), (110, 200)))
    ]
    known = regress(IN_THE_CLEAR[0], "yes", {"other": ["a", "b"]}, groups).coefficients[0]
    assert asked.estimate == pytest.approx(known.estimate, abs=1e-3)
    assert asked.most_likely == pytest.approx(known.most_likely, abs=1e-6)
    assert asked.standard_error == pytest.approx(known.standard_error, rel=0.02)
    assert (asked.low, asked.high) == pytest.approx((known.low, known.high), abs=0.03)


@pytest.mark.parametrize(
    ("no", "yes"),
    [
        ([0.372, 0.118, 0.245, -0.065], [0.132, 0.231, 0.019, -0.052]),
        ([0.336, 0.350, -0.018, 0.039], [0.119, 0.233, -0.051, -0.008]),
        ([0.195, 0.181, 0.235, -0.115], [0.170, 0.143, 0.103, 0.088]),
    ],
)
def test_answers_that_nobody_seems_to_give_cost_only_their_own_numbers(no: list[float], yes: list[float]) -> None:
    """Where noise leaves an answer of the predictor with no share, or less, there is a result all the same: only its
    own odds have no standard error. Nothing warns, and scipy finds nothing better.
    """
    channel, n = subset(8, Fraction(2), None), 600
    p, q = (float(value) for value in (channel.supports()[0].p, channel.supports()[0].q))
    counts = (n * (q + (p - q) * np.array([*no, *yes]))).tolist()
    evidence, other = joint(counts, n, channel, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = regress(evidence.question, "yes", {}, [Answered({(): n}, evidence, (other,))])
    found = terms(result)
    for term, share in zip(found, np.array(no) + yes, strict=True):
        if share > 0.1:
            assert term.standard_error is not None and term.standard_error < 3
        elif share <= 0:
            assert term.standard_error is None
            assert term.note is not msgspec.UNSET and "no standard error" in term.note
    heard = evidence.items[0][0]
    table = pool_sets([(heard, [(j + 4 * with_it,) for j in range(4) for with_it in (1, 0)])])
    assert table is not None and result.log_likelihood is not None
    model = Tables(Design(np.array([[1, *(c == j for j in (1, 2, 3))] for c in range(4)], float), np.eye(4)), [table])
    for penalised, height in ((False, result.log_likelihood), (True, None)):

        def f(beta: Array, penalised: bool = penalised) -> float:
            return -float(model.value(beta[None], penalised=penalised)[0])

        best = min(optimize.minimize(f, start, method="BFGS").fun for start in (np.zeros(4), estimates(result) + 0.3))
        assert -(f(estimates(result)) if height is None else -height) >= -best - 1e-6


def test_effects_of_questions_are_covered() -> None:
    """In 50 surveys of 3000 at epsilon 1, 95% intervals of a question's odds ratio hold in at least 37: with just 95%,
    fewer happen in less than one of a million cases.
    """
    channel, beta, x = subset(4, Fraction(1), 1), np.array([-1.0, 1.0]), np.array([[1.0, 0], [1, 1]])
    own, yes = np.array([0.6, 0.4]), expit(x @ beta)
    rates = np.array(joint_counts(channel, own, yes, 1))
    random, hits = np.random.default_rng(6), np.zeros(2)
    for _ in range(50):
        heard = Heard(channel, random.multinomial(3000, rates / rates.sum()).tolist(), 3000, (), tuple(range(4)))
        table = pool_sets([(heard, [(2,), (0,), (3,), (1,)])])
        assert table is not None
        fitted = fit(model := Tables(Design(x, np.eye(2)), [table]))
        hits += falls(model, fitted, beta) <= LIMIT
    assert hits.min() >= 37


# --- what cannot be fitted, or has no limits ---------------------------------------------------------------------


def without_numbers(result: Regression) -> None:
    assert not result.converged and result.note is not msgspec.UNSET
    assert (result.intercept, result.coefficients) == (None, [])
    assert (result.log_likelihood, result.null_log_likelihood, result.statistic, result.p_value) == (None,) * 4


@pytest.mark.parametrize("y", [0, 100, round(1000 * RULE.q) - 1])
def test_impossible_rates_cost_only_their_own_limits(y: int) -> None:
    """A group with fewer noisy yes than a share of 0 gives has no lower limit, and says so; the others are not
    touched. So it is with no where there are too many yes.
    """
    counts = {(0,): (450, 1000), (1,): (y, 1000), (2,): (500, 1000)}
    for code, side in (("yes", 1), ("no", -1)):
        intercept, edge, other = terms(regress(YES_NO[0], code, {"campus": ["a", "b", "c"]}, answered(counts)))
        assert edge.most_likely is None and math.isfinite(edge.estimate)
        assert (edge.standard_error is None) == (y == 0)
        assert (edge.low if side > 0 else edge.high) is None
        assert (edge.high if side > 0 else edge.low) is not None
        assert (edge.odds_low == 0) if side > 0 else (edge.odds_high is None)
        assert edge.note is not msgspec.UNSET and "cannot be ruled out" in edge.note
        two = {place: counts[place] for place in ((0,), (2,))}
        alone_, same = terms(regress(YES_NO[0], code, {"campus": ["a", "b", "c"]}, answered(two)))
        for one, without in ((intercept, alone_), (other, same)):
            assert one.note is msgspec.UNSET
            for field in ("estimate", "standard_error", "low", "high", "p_value"):
                assert getattr(one, field) == pytest.approx(getattr(without, field), abs=1e-5)


def test_a_reference_without_limit_can_be_changed() -> None:
    """Where the reference is at the edge, no other code has an upper limit; against another reference they have."""
    counts = {(0,): (100, 1000), (1,): (450, 1000), (2,): (500, 1000)}
    segments = {"campus": ["a", "b", "c"]}
    first = regress(YES_NO[0], "yes", segments, answered(counts))
    assert [term.high for term in first.coefficients] == [None, None]
    second = regress(YES_NO[0], "yes", segments, answered(counts), references={"campus": "b"})
    assert [(term.code, term.low is None, term.high is None) for term in second.coefficients] == [
        ("a", True, False), ("c", False, False)
    ]  # fmt: skip


def test_odds_that_run_away_together_are_found() -> None:
    """Five of five men in poor health say yes. So the odds ratio of men may be 0 if that of poor health is infinite:
    the likelihood falls by 3.254 to there, less than the limit, and is not lower in between.
    """
    asked = ask("yes_no", 1.4338)
    segments = {"sex": ["female", "male"], "health": ["excellent", "fair", "good", "poor"]}
    yes, n = [20, 11, 21, 3, 22, 10, 17, 5], [56, 22, 58, 4, 98, 28, 93, 5]
    counts = dict(zip(itertools.product(range(2), range(4)), zip(yes, n, strict=True), strict=True))
    _, male, *_ = terms(regress(asked[0], "yes", segments, answered(counts, asked)))
    assert (male.low, male.odds_low) == (None, 0.0)
    assert male.note == "no lower limit: odds ratio of 0 cannot be ruled out"


def test_separated_groups_have_no_limit() -> None:
    """In the clear, a group in which nobody said yes has infinite odds, as in any logistic regression."""
    groups = [Answered({(i,): n}, alone(*IN_THE_CLEAR, [y, n - y], n)) for i, (y, n) in enumerate(((70, 100), (0, 50)))]
    (term,) = regress(IN_THE_CLEAR[0], "yes", {"campus": ["a", "b"]}, groups).coefficients
    assert (term.most_likely, term.low, term.odds_low) == (None, None, 0.0)
    assert term.high is not None and term.p_value < 1e-6


def test_segments_that_say_the_same_are_named() -> None:
    """If one segment follows from another, the codes that cannot be separated are named, and nothing is fitted."""
    counts = {(0, 0): (400, 1000), (1, 1): (500, 1000), (2, 1): (450, 1000)}
    result = regress(YES_NO[0], "yes", SEGMENTS, answered(counts))
    without_numbers(result)
    assert result.note == "year:later cannot be told apart from codes of other predictors. Leave a predictor out"


def test_nothing_to_fit() -> None:
    """Without reports about the option there are no numbers."""
    without_numbers(empty := regress(YES_NO[0], "yes", SEGMENTS, []))
    assert (empty.note, empty.submissions, empty.references) == (NOBODY, 0, {})
    question, channel = ask("multi_choice", options=[{"code": code, "text": "."} for code in "ab"])
    untold = regress(
        question, "b", {"campus": ["a", "b"]}, [Answered({(0,): 7}, alone(question, channel, [3, 4, 0, 0], 7))]
    )
    assert (untold.note, untold.submissions) == (NOBODY, 7)


def test_wrong_requests_are_refused() -> None:
    """An option that is not there, a mean, a table or a confidence of 95 is an error."""
    scale = {"labels": list("abc")}
    for asked, code in ((YES_NO, "maybe"), (ask("scale", measure="mean", **scale), "1")):
        with pytest.raises(ValueError, match=f"no option {code}"):
            regress(asked[0], code, {}, [])
    table = ask("scale", mechanism="exponential", **scale)
    with pytest.raises(ValueError, match="more than support"):
        regress(table[0], "1", {}, [Answered({(): 6}, alone(*table, [1, 2, 3], 6))])
    with pytest.raises(ValueError, match="confidence"):
        regress(YES_NO[0], "yes", {}, [], Aim(95))


@given(
    st.sampled_from([0.01, 0.5, 1, 4, 10]),
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 400)), min_size=6, max_size=6),
    st.sampled_from([1, 10**6]),
)
@settings(max_examples=25)
def test_every_fit_has_numbers(epsilon: float, cells: list[tuple[int, int]], times: int) -> None:
    """Whatever the counts: all estimates are there and finite, within their limits, and what is infinite is said."""
    question, channel = ask("yes_no", epsilon)
    counts = {cell: (times * yes, times * (no + yes)) for cell, (no, yes) in zip(CELLS, cells, strict=True)}
    result = regress(question, "yes", SEGMENTS, answered(counts, (question, channel)))
    text = msgspec.json.encode(result).decode()
    json.loads(text, parse_constant=pytest.fail)
    assert msgspec.json.decode(text, type=Regression) == result
    if not result.converged:
        without_numbers(result)
        assert result.note == NOBODY or "cannot be told apart" in str(result.note)
        return
    for term in terms(result):
        assert (term.standard_error is None or term.standard_error > 0) and 0 <= term.p_value <= 1
        low, high = (-math.inf if term.low is None else term.low), (math.inf if term.high is None else term.high)
        assert low < term.estimate < high
        infinite = (term.low, term.high, term.most_likely, term.standard_error)
        assert (term.note is msgspec.UNSET) == (None not in infinite)
    assert result.statistic is not None and result.statistic >= 0
    # No nearby coefficients are more likely.
    present = {cell: value for cell, value in counts.items() if value[1]}
    if len(result.coefficients) == 3 and None not in likely(result):
        f = minus_log_likelihood(present, support(channel))
        at = np.array(likely(result), dtype=float)
        for direction in np.vstack([np.eye(4), -np.eye(4)]):
            step = 0.1 * direction * [term.standard_error or 10 for term in terms(result)]
            assert f(at + np.clip(step, -1, 1)) >= f(at) - 1e-9 * abs(f(at))
