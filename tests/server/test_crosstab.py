"""Two variables together: exact expectations, known answers from scipy and numpy, measured size and coverage."""

from __future__ import annotations

import itertools
import json
import math
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from deniable_protocol import Channel, Drawn, Question, decode
from deniable_server.estimator import TOO_NOISY, alone, estimate_question
from deniable_server.estimator.crosstab import (
    ONE_VALUE,
    TOO_FEW,
    Crosstab,
    JointShare,
    Within,
    crosstab,
    independence,
)
from deniable_server.estimator.features import Coded, Joint, coded_question, coded_segment
from deniable_server.estimator.intervals import Aim, support
from tests.helpers.surveys import channelled, questions

Array = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]


class Variable(NamedTuple):
    """A variable, its possible reports, their probabilities under each state of the truth, and which of its categories
    are true in each state, in the order of the table.
    """

    coded: Coded
    reports: Places
    law: Array
    true: Array
    question: Question | None = None
    channel: Channel | None = None


def ask(name: str, kind: str, epsilon: float = 1, **own: Any) -> Variable:
    tree = {"id": name, "type": kind, "text": "?", "epsilon": epsilon, **own}
    question, channel = channelled(tree)
    states: list[Any] = [*range(channel.answers)]
    true = np.eye(channel.answers)
    if isinstance(channel, Drawn):
        states = [*itertools.product((0, 1), repeat=len(channel.parts))]
        true = np.array(states, dtype=float)
    coded = coded_question(question, channel)
    reports = [*channel.reports()]
    law = np.array([[float(channel.probability(state, report)) for report in reports] for state in states])
    order = [question.codes.index(code) for code in coded.codes]
    return Variable(coded, np.array(reports), law, true[:, order], question, channel)


def segment(name: str, codes: str) -> Variable:
    return Variable(coded_segment(name, [*codes]), np.arange(len(codes)), np.eye(len(codes)), np.eye(len(codes)))


def options(count: int) -> list[dict[str, str]]:
    return [{"code": f"c{i}", "text": "."} for i in range(count)]


YES_NO = ask("yes_no", "yes_no", 1)
BIT = ask("bit", "yes_no", 4)
SUBSET = ask("subset", "choice", 1, options=options(6))
CHOICE = ask("choice", "choice", 4, options=options(4))
KRR = ask("krr", "scale", 2, labels=list("abc"), mechanism="krr")
TABLE = ask("table", "scale", 4, labels=list("abc"), mechanism="exponential")
BINS = ask("bins", "number", 2, min=0, max=9, measure="shares", bins=[3, 6], decline=True)
DRAWN = ask("drawn", "multi_choice", 2, options=options(3))
OTHER = ask("other", "multi_choice", 1, options=options(2))
SEGMENT = segment("segment", "xyz")
VARIABLES = [YES_NO, BIT, SUBSET, CHOICE, KRR, TABLE, BINS, DRAWN, OTHER, SEGMENT]
PAIRS = [*itertools.combinations(VARIABLES, 2)]


def names(pair: tuple[Variable, Variable]) -> str:
    return f"{pair[0].coded.id}-{pair[1].coded.id}"


def draw(rows: Variable, columns: Variable, truth: Array, n: int, rng: np.random.Generator) -> Joint:
    """The sums of n submissions whose true states are drawn from this joint distribution."""
    chances = (rows.law.T @ truth @ columns.law).ravel()
    return counted(rows, columns, rng.multinomial(n, chances / chances.sum()))


def counted(rows: Variable, columns: Variable, counts: Places) -> Joint:
    """The sums of submissions with these counts of the pairs of reports, row by row."""
    joint = Joint(rows.coded, columns.coded)
    pairs = np.repeat(np.arange(counts.size), counts.ravel())
    first, second = np.divmod(pairs, len(columns.reports))
    joint.add(rows.reports[first], columns.reports[second])
    return joint


def as_table(result: Crosstab, field: str) -> Array:
    values = [getattr(cell, field) for cell in result.cells]
    return np.array(values, dtype=float).reshape(len(result.row_totals), len(result.column_totals))


def independent(rows: Variable, columns: Variable, seed: int) -> Array:
    """A joint distribution of the true states without dependence, far from even."""
    rng = np.random.default_rng(seed)
    return np.outer(rng.dirichlet(np.full(len(rows.law), 2)), rng.dirichlet(np.full(len(columns.law), 2)))


# --- unbiased ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variable", VARIABLES, ids=lambda variable: variable.coded.id)
def test_features_make_the_scores(variable: Variable) -> None:
    """The features of any report give its decoded scores, their squares, and which categories it is about."""
    coded = variable.coded
    features = coded.features(variable.reports)
    if variable.channel is None:
        scores, tells = np.eye(3), np.ones((3, 3))
    else:
        assert variable.question is not None
        order = [variable.question.codes.index(code) for code in coded.codes]
        scores = np.array([[float(z) for z in decode(variable.channel, int(y))] for y in variable.reports])[:, order]
        tells = np.ones_like(scores)
        if isinstance(variable.channel, Drawn):  # given the part, without the factor for having drawn it
            scores /= len(variable.channel.parts)
            tells = (scores != 0).astype(float)
    assert set(features.ravel()) == {0, 1}
    assert features @ coded.a == pytest.approx(scores, abs=1e-9)
    assert features @ coded.b == pytest.approx(scores**2, abs=1e-9)
    assert features @ coded.u == pytest.approx(tells, abs=1e-12)
    if coded.exclusive:
        assert coded.squares == pytest.approx(variable.true @ variable.law @ scores**2, abs=1e-9)


@pytest.mark.parametrize("pair", PAIRS, ids=names)
def test_unbiased_is_unbiased(pair: tuple[Variable, Variable]) -> None:
    """Over all pairs of reports, the expectation of each cell, among the reports about it, is the truth."""
    rows, columns = pair
    seen = {}
    for (i, one), (j, two) in itertools.product(enumerate(rows.reports), enumerate(columns.reports)):
        joint = Joint(rows.coded, columns.coded)
        joint.add(np.array([one]), np.array([two]))
        seen[i, j] = as_table(crosstab(joint), "unbiased")
    for (x, p), (y, q) in itertools.product(enumerate(rows.law), enumerate(columns.law)):
        total, told = 0.0, 0.0
        for (i, j), scores in seen.items():
            total = total + p[i] * q[j] * np.nan_to_num(scores)
            told = told + p[i] * q[j] * ~np.isnan(scores)
        assert total / told == pytest.approx(np.outer(rows.true[x], columns.true[y]), abs=1e-8)


@pytest.mark.parametrize("pair", [(BIT, TABLE), (KRR, YES_NO), (CHOICE, SEGMENT)], ids=names)
def test_errors_are_those_of_the_covariance(pair: tuple[Variable, Variable]) -> None:
    """Where features are which report it is, squared errors are the diagonal of (A x A)'(diag r - rr')(A x A)/(n-1)."""
    rows, columns = pair
    n = 3000
    joint = draw(rows, columns, independent(rows, columns, 1), n, np.random.default_rng(2))
    rates = joint.blocks()[2].ravel() / n
    both = np.kron(rows.coded.a, columns.coded.a)
    covariance = both.T @ (np.diag(rates) - np.outer(rates, rates)) @ both / (n - 1)
    result = crosstab(joint)
    assert as_table(result, "unbiased").ravel() == pytest.approx(rates @ both, abs=1e-12)
    assert as_table(result, "standard_error").ravel() == pytest.approx(np.sqrt(np.diag(covariance)), rel=1e-9)


@pytest.mark.parametrize("pair", [(SUBSET, CHOICE), (SUBSET, YES_NO), (SEGMENT, SUBSET), (DRAWN, SUBSET)], ids=names)
def test_errors_are_those_of_the_products(pair: tuple[Variable, Variable]) -> None:
    """In general, estimate and error are the mean product of scores over the reports about a cell, and its error."""
    rows, columns = pair
    rng = np.random.default_rng(3)
    first, second = (rng.choice(v.reports, 2000, p=v.law.mean(axis=0)) for v in pair)
    joint = Joint(rows.coded, columns.coded)
    joint.add(first, second)
    result = crosstab(joint)
    features = [v.coded.features(reports) for v, reports in ((rows, first), (columns, second))]
    for j, m in itertools.product(range(len(rows.coded.codes)), range(len(columns.coded.codes))):
        tells = (features[0] @ rows.coded.u[:, j] > 0.5) & (features[1] @ columns.coded.u[:, m] > 0.5)
        products = (features[0] @ rows.coded.a[:, j] * (features[1] @ columns.coded.a[:, m]))[tells]
        assert as_table(result, "unbiased")[j, m] == pytest.approx(products.mean(), abs=1e-10)
        assert as_table(result, "standard_error")[j, m] == pytest.approx(stats.sem(products), rel=1e-8)


# --- independence ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pair", [(YES_NO, BIT), (YES_NO, TABLE), (KRR, TABLE), (SEGMENT, KRR)], ids=names)
def test_independence_is_pearsons(pair: tuple[Variable, Variable]) -> None:
    """Where features are which report it is, the test is scipy's on the table of noisy reports."""
    truth = np.random.default_rng(4).dirichlet(np.ones(len(pair[0].law) * len(pair[1].law)))
    joint = draw(*pair, truth.reshape(len(pair[0].law), -1), 2000, np.random.default_rng(5))
    expected = stats.chi2_contingency(joint.blocks()[2], correction=False)
    ours = independence(joint)
    assert ours.statistic == pytest.approx(expected.statistic, rel=1e-9)
    assert ours.degrees_of_freedom == expected.dof
    assert ours.p_value == pytest.approx(expected.pvalue, rel=1e-6)


@pytest.mark.parametrize("pair", [(SUBSET, CHOICE), (DRAWN, YES_NO), (DRAWN, OTHER), (DRAWN, SUBSET)], ids=names)
def test_independence_is_pillais(pair: tuple[Variable, Variable]) -> None:
    """In general, the statistic is n times the sum of squared canonical correlations of what is left of the features
    after regressing out which categories they are about, by singular values of the data themselves.
    """
    rng, n = np.random.default_rng(6), 1500
    reports = [rng.choice(v.reports, n, p=v.law.mean(axis=0)) for v in pair]
    joint = Joint(pair[0].coded, pair[1].coded)
    joint.add(*reports)
    bases = []
    for variable, own in zip(pair, reports, strict=True):
        features = variable.coded.features(own)
        tells = features @ variable.coded.u
        left = features - tells @ np.linalg.lstsq(tells, features, rcond=None)[0]
        u, s, _ = np.linalg.svd(left, full_matrices=False)
        bases.append(u[:, s > 1e-8])
    correlations = np.linalg.svd(bases[0].T @ bases[1], compute_uv=False)
    ours = independence(joint)
    assert ours.statistic == pytest.approx(n * np.sum(correlations**2), rel=1e-8)
    assert ours.degrees_of_freedom == bases[0].shape[1] * bases[1].shape[1]


@pytest.mark.parametrize("pair", [(YES_NO, BIT), (SUBSET, KRR), (DRAWN, YES_NO), (SEGMENT, SUBSET)], ids=names)
def test_independence_keeps_its_size(pair: tuple[Variable, Variable]) -> None:
    """Of 800 tables without dependence, 13 to 75 are called dependent at 5%: with a size of exactly 5%, fewer or more
    happen in less than one case in a million.
    """
    rng, truth = np.random.default_rng(7), independent(*pair, seed=8)
    assert stats.binom.cdf(12, 800, 0.05) + stats.binom.sf(75, 800, 0.05) < 1e-6
    p_values = [independence(draw(*pair, truth, 1000, rng)).p_value for _ in range(800)]
    assert None not in p_values
    assert 13 <= sum(p < 0.05 for p in p_values if p is not None) <= 75


@pytest.mark.parametrize("pair", [(YES_NO, BIT), (SUBSET, KRR), (DRAWN, YES_NO), (SEGMENT, SUBSET)], ids=names)
def test_dependence_is_found(pair: tuple[Variable, Variable]) -> None:
    """If one answer determines the other, 3000 submissions with exactly the expected reports show it."""
    truth = np.zeros((len(pair[0].law), len(pair[1].law)))
    for x in range(len(truth)):
        truth[x, x % truth.shape[1]] = 1 / len(truth)
    counts = np.rint(3000 * (pair[0].law.T @ truth @ pair[1].law)).astype(np.int64)
    test = independence(counted(*pair, counts))
    assert test.p_value is not None and test.p_value < 1e-4


def test_too_few_reports_are_not_tested() -> None:
    """A table with many expected counts below five has no p-value but says why; so does one with too many cells."""
    few = independence(counted(YES_NO, SEGMENT, np.array([[40, 40, 3], [40, 40, 3]])))
    assert (few.p_value, few.note, few.degrees_of_freedom) == (None, TOO_FEW, 2)
    assert few.statistic is not None
    enough = independence(counted(YES_NO, SEGMENT, np.array([[40, 40, 6], [40, 40, 6]])))
    assert enough.p_value is not None and enough.note is msgspec.UNSET
    wide = ask("wide", "choice", 1, options=options(6))
    for n, tested in ((150, False), (200, True)):  # 25 pairs of directions take 180, all counts are above five with 50
        spread = independence(draw(SUBSET, wide, independent(SUBSET, wide, 9), n, np.random.default_rng(1)))
        assert (spread.p_value is not None) == (spread.note is msgspec.UNSET) == tested


@pytest.mark.parametrize("pair", [(YES_NO, SUBSET), (DRAWN, SEGMENT), (SUBSET, CHOICE), (TABLE, OTHER)], ids=names)
def test_many_reports_have_as_many_directions(pair: tuple[Variable, Variable]) -> None:
    """A million times as many submissions, a billion, make the statistic as much larger, with the same freedom."""
    joint = draw(*pair, independent(*pair, seed=2), 2000, np.random.default_rng(3))
    before = independence(joint)
    joint.products *= 10**6
    joint.submissions *= 10**6
    after = independence(joint)
    assert after.degrees_of_freedom == before.degrees_of_freedom
    assert after.statistic == pytest.approx(before.statistic * 1e6, rel=1e-6)


def test_what_never_varies_is_not_tested() -> None:
    """If all come from one segment, nothing can depend on it; a code that nobody has does not count as a value."""
    alone = independence(counted(YES_NO, SEGMENT, np.array([[40, 0, 0], [60, 0, 0]])))
    assert msgspec.structs.astuple(alone) == (None, 0, None, ONE_VALUE)
    two = independence(counted(YES_NO, SEGMENT, np.array([[40, 0, 30], [60, 0, 50]])))
    expected = stats.chi2_contingency([[40, 30], [60, 50]], correction=False)
    assert (two.p_value, two.degrees_of_freedom) == (pytest.approx(expected.pvalue), 1)


# --- intervals ---------------------------------------------------------------------------------------------------


def test_pairs_of_yes_no_are_covered() -> None:
    """At epsilon 4, thirty submissions: each 95% interval contains its true share with at least 95%, summed exactly
    over the tables of noisy bits, where a t interval falls below one half.
    """
    other, n = ask("other_bit", "yes_no", 4), 30
    tables = np.array([t for t in itertools.product(range(n + 1), repeat=3) if sum(t) <= n])
    tables = np.hstack([tables, n - tables.sum(axis=1, keepdims=True)])
    shares, weights = [], []
    for both, first, second in [(0, 0, 0), (0.02, 0, 0), (0.1, 0, 0), (0.02, 0.1, 0.1), (0.9, 0, 0), (0, 0.3, 0)]:
        truth = np.array([[1 - both - first - second, second], [first, both]])  # no, yes
        shares.append(both)
        weights.append(stats.multinomial.pmf(tables, n, (BIT.law.T @ truth @ other.law).ravel()))
    score = (np.array([0, 1]) - support(BIT.channel).q) / support(BIT.channel).gap
    products = np.outer(score, score).ravel()
    covered, t = np.zeros((2, len(shares))), stats.t.ppf(0.975, n - 1)
    for counts, weight in zip(tables, np.array(weights).T, strict=True):
        if weight.max() < 1e-6:  # left out, as if not covered: together less than 0.0001 of the probability
            continue
        yes = crosstab(counted(BIT, other, counts)).cells[0]
        assert (yes.row, yes.column) == ("yes", "yes")
        mean = counts @ products / n
        margin = t * math.sqrt(counts @ (products - mean) ** 2 / (n - 1) / n)
        for i, (low, high) in enumerate(((yes.low, yes.high), (mean - margin, mean + margin))):
            covered[i] += weight * [low <= share + 1e-9 and share - 1e-9 <= high for share in shares]
    assert covered[0].min() >= 0.95
    assert covered[1].min() < 0.5


@pytest.mark.parametrize("pair", [(SUBSET, CHOICE), (SEGMENT, CHOICE), (DRAWN, YES_NO), (TABLE, BIT)], ids=names)
def test_pairs_are_covered(pair: tuple[Variable, Variable]) -> None:
    """In 250 tables of 1000 submissions, each cell's 95% interval contains its true share at least 215 times: with just
    95%, less happens in less than one case in a million over 24 cells. On average over the cells it is at least 95%.
    """
    rng, repeats, least = np.random.default_rng(12), 250, 215
    assert 24 * stats.binom.cdf(least - 1, repeats, 0.95) < 1e-6
    truth = rng.dirichlet(np.full(len(pair[0].law) * len(pair[1].law), 0.5)).reshape(len(pair[0].law), -1)
    shares = pair[0].true.T @ truth @ pair[1].true
    held = np.zeros_like(shares)
    for _ in range(repeats):
        result = crosstab(draw(*pair, truth, 1000, rng))
        held += (as_table(result, "low") <= shares + 1e-9) & (shares - 1e-9 <= as_table(result, "high"))
    assert held.min() >= least
    assert held.mean() >= 0.95 * repeats


def test_neighbours_in_a_table_are_noisier() -> None:
    """Among people one point off, a score of an exponential scale has more noise than among all others: with nine in
    ten there, 95% intervals of that point hold in 95% of 300 tables, on average over its three cells (seed 4).
    """
    scale, rng = ask("scale", "scale", 8, labels=list("abcdefg"), mechanism="exponential"), np.random.default_rng(4)
    truth, held = np.outer([0.1, 0.9, 0, 0, 0, 0, 0], [0.5, 0.3, 0.2]), np.zeros(3)
    for _ in range(300):
        result = crosstab(draw(scale, SEGMENT, truth, 600, rng))
        held += (as_table(result, "low")[0] <= truth[0]) & (truth[0] <= as_table(result, "high")[0])
    assert held.mean() >= 0.95 * 300


def test_nobody_seen_is_not_nobody() -> None:
    """A pair that no report supports has an upper limit of its own: no spread in the sample is not certainty."""
    result = crosstab(counted(SEGMENT, BIT, np.array([[40, 60], [100, 0], [0, 0]])))
    cells = {(cell.row, cell.column): cell for cell in result.cells}
    for pair in (("y", "yes"), ("z", "yes"), ("z", "no")):
        assert cells[pair].estimate < 0.01
        assert 0.01 < cells[pair].high < 0.1
    assert cells["x", "yes"].low > 0.15


# --- the table ---------------------------------------------------------------------------------------------------


def test_yes_is_read_first() -> None:
    """Rows and columns read as elsewhere: yes before no, segments as the survey has them; totals are the estimates."""
    joint = counted(YES_NO, SEGMENT, np.array([[40, 20, 10], [30, 20, 80]]))
    result = crosstab(joint, Aim(confidence=0.9))
    assert [(cell.row, cell.column) for cell in result.cells] == [*itertools.product(("yes", "no"), "xyz")]
    assert YES_NO.question is not None and YES_NO.channel is not None
    assert (
        result.row_totals
        == estimate_question(alone(YES_NO.question, YES_NO.channel, [70, 130], 200), Aim(confidence=0.9)).shares
    )
    assert [share.estimate for share in result.column_totals] == [70 / 200, 40 / 200, 90 / 200]
    assert [share.low for share in result.column_totals] == pytest.approx(
        [stats.binomtest(y, 200).proportion_ci(0.9, "exact").low for y in (70, 40, 90)]
    )
    assert as_table(result, "unbiased").sum(axis=0) == pytest.approx([70 / 200, 40 / 200, 90 / 200])
    assert (result.rows, result.columns, result.submissions, result.confidence) == ("yes_no", "segment", 200, 0.9)


def test_notes_of_cells() -> None:
    """A cell whose interval spans more than half of all shares is too noisy to say; with more submissions it is not."""
    noisy, clear = (
        crosstab(counted(YES_NO, ask("second", "yes_no", 1), times * np.array([5, 4, 4, 5]))) for times in (1, 1000)
    )
    assert all(cell.note == TOO_NOISY for cell in noisy.cells)
    assert all(cell.note is msgspec.UNSET for cell in clear.cells)


def test_nothing_is_known_without_submissions() -> None:
    """Without submissions, or with none about a pair, numbers are null; a single one has no standard error."""
    for cell in crosstab(Joint(DRAWN.coded, SEGMENT.coded)).cells:
        nothing = Within(None, None, None, 0.0, 1.0, TOO_NOISY)
        assert cell == JointShare(cell.row, cell.column, None, None, None, 0.0, 1.0, TOO_NOISY, nothing, nothing)
    assert independence(Joint(DRAWN.coded, SEGMENT.coded)).note == TOO_FEW
    one = Joint(DRAWN.coded, OTHER.coded)
    one.add(np.array([3]), np.array([0]))
    for cell in crosstab(one).cells:
        told = (cell.row, cell.column) == ("c1", "c0")
        assert (cell.unbiased is not None) == told
        assert cell.standard_error is None
        assert cell.high == 1.0


def test_wrong_requests_are_refused() -> None:
    """A variable against itself, a mean, halves of submissions, or a confidence of 95 is an error."""
    with pytest.raises(ValueError, match="different variables"):
        Joint(YES_NO.coded, YES_NO.coded)
    with pytest.raises(ValueError, match="asks for a mean"):
        ask("wellbeing", "scale", labels=list("abc"), measure="mean", mechanism="krr")
    with pytest.raises(ValueError, match="per submission"):
        Joint(YES_NO.coded, BIT.coded).add(np.array([0, 1]), np.array([1]))
    with pytest.raises(ValueError, match="confidence"):
        crosstab(Joint(YES_NO.coded, BIT.coded), Aim(confidence=95))


@given(st.sampled_from(PAIRS), st.integers(0, 2**32), st.lists(st.integers(0, 20_000), min_size=3, max_size=3))
@settings(max_examples=30)
def test_pieces_add_up(pair: tuple[Variable, Variable], seed: int, sizes: list[int]) -> None:
    """Reports added in any pieces, or in two sums that are added, give the sums of all at once; exactly."""
    rng = np.random.default_rng(seed)
    pieces = [[rng.choice(v.reports, n) for v in pair] for n in sizes]
    whole, merged, last = (Joint(pair[0].coded, pair[1].coded) for _ in range(3))
    whole.add(*(np.concatenate(each) for each in zip(*pieces, strict=True)))
    merged.add(*pieces[0])
    merged.add(*pieces[1])
    last.add(*pieces[2])
    merged += last
    assert merged.submissions == whole.submissions == sum(sizes)
    assert np.array_equal(merged.products, whole.products)
    assert whole.products.trace() == sum(
        int(v.coded.features(each[i]).sum()) for each in pieces for i, v in enumerate(pair)
    )


@given(st.sampled_from(PAIRS), st.integers(0, 2**32), st.sampled_from([3, 100, 5000]))
@settings(max_examples=40)
def test_exchanging_rows_and_columns(pair: tuple[Variable, Variable], seed: int, n: int) -> None:
    """Rows and columns exchanged, the cells are exchanged and the test is the same."""
    rng = np.random.default_rng(seed)
    reports = [rng.choice(v.reports, n) for v in pair]
    one, two = Joint(pair[0].coded, pair[1].coded), Joint(pair[1].coded, pair[0].coded)
    one.add(*reports)
    two.add(*reports[::-1])
    here, there = crosstab(one), crosstab(two)
    for field in ("estimate", "unbiased", "standard_error", "low", "high"):
        assert as_table(here, field) == pytest.approx(as_table(there, field).T, abs=1e-9, nan_ok=True)
    assert here.row_totals == there.column_totals
    assert here.independence.degrees_of_freedom == there.independence.degrees_of_freedom
    statistics = [
        np.nan if test.statistic is None else test.statistic for test in (here.independence, there.independence)
    ]
    assert statistics[0] == pytest.approx(statistics[1], rel=1e-6, abs=1e-9, nan_ok=True)


def no_negative_zero(digits: str) -> float:
    assert float(digits) or not digits.startswith("-")
    return float(digits)


@st.composite
def variables(draw: st.DrawFn, name: str) -> tuple[Coded, list[int]]:
    """Any question with shares, or a segment, and some of its reports."""
    if draw(st.integers(0, 4)) == 0:
        codes = [f"s{i}" for i in range(draw(st.integers(1, 5)))]
        return coded_segment(name, codes), [*range(len(codes))]
    tree = draw(questions(name).filter(lambda tree: tree["type"] != "number" or "bins" in tree))
    tree |= {"epsilon": float(tree["epsilon"])}
    if tree.get("measure") == "mean":
        tree["measure"] = "shares"
    question, channel = channelled(tree)
    reports = [*itertools.islice(channel.reports(), 50)]
    return coded_question(question, channel), draw(st.lists(st.sampled_from(reports), min_size=1, max_size=4))


@settings(max_examples=150)
@given(variables("a"), variables("b"), st.integers(0, 2**32), st.sampled_from([0, 1, 2, 40, 10**6]))
def test_every_table_is_a_possible_one(
    first: tuple[Coded, list[int]], second: tuple[Coded, list[int]], seed: int, n: int
) -> None:
    """Whatever the reports: shares are possible, lie in their intervals, sum to 1 where answers exclude each other, add
    up to the margins before they are made possible, and all of it is finite JSON.
    """
    rng, joint = np.random.default_rng(seed), Joint(first[0], second[0])
    joint.add(*(rng.choice(np.array(reports), min(n, 1000)) for _, reports in (first, second)))
    joint.products *= max(n // 1000, 1)
    joint.submissions *= max(n // 1000, 1)
    result = crosstab(joint)
    text = msgspec.json.encode(result).decode()
    json.loads(text, parse_constant=pytest.fail, parse_float=no_negative_zero)
    assert msgspec.json.decode(text, type=Crosstab) == result
    for cell in result.cells:
        assert 0 <= cell.low <= cell.high <= 1
        if cell.estimate is not None:
            assert cell.low <= cell.estimate <= cell.high
        assert cell.standard_error is None or cell.standard_error >= 0
    exclusive = first[0].exclusive and second[0].exclusive
    if n and exclusive:
        assert as_table(result, "estimate").sum() == pytest.approx(1, abs=1e-9)
        unbiased = as_table(result, "unbiased")
        scale = max(1.0, np.abs(unbiased).max())
        for axis, totals in ((1, result.row_totals), (0, result.column_totals)):
            assert unbiased.sum(axis=axis) == pytest.approx([share.unbiased for share in totals], abs=1e-9 * scale)
    test = result.independence
    assert (test.p_value is None) == (test.note is not msgspec.UNSET)
    assert test.p_value is None or 0 <= test.p_value <= 1
