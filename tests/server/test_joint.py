"""Cross-tabs, comparisons, regression and weights from joint reports."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats
from scipy.special import expit

from deniable_protocol import Document, Question, verify
from deniable_protocol.design import subset
from deniable_server.estimator import Counted, Evidence, Heard, estimate_question, estimate_weighted
from deniable_server.estimator.by_group import crosstab_segment, flipped
from deniable_server.estimator.comparison import Group, compare
from deniable_server.estimator.crosstab import Crosstab
from deniable_server.estimator.joint import (
    EACH_OPTION,
    NEVER_TOGETHER,
    NOT_ASKED,
    crosstab_questions,
    share_a_part,
)
from deniable_server.estimator.margins import keep_margins
from deniable_server.estimator.regression import SOME_ONLY, Answered, regress
from deniable_server.estimator.weights import Weighed
from tests.helpers.surveys import ask, joint
from tests.server.test_evidence import OFTEN, STRESS, TRUTH, evidence_of, expected

Array = npt.NDArray[np.float64]


@pytest.fixture(scope="module")
def document() -> Document:
    return verify(joint())


@pytest.fixture(scope="module")
def known(document: Document) -> dict[str, Evidence]:
    """Every question in exact proportion to the truth."""
    counts, sizes = expected(document, 10**8)
    return {name: evidence_of(document, name, counts, sizes) for name in TRUTH}


def grid(table: Crosstab, what: str = "estimate") -> Array:
    width = len(table.column_totals)
    return np.array([getattr(cell, what) for cell in table.cells], dtype=float).reshape(-1, width)


# --- margins ---------------------------------------------------------------------------------------------------------


@given(st.integers(0, 2**32), st.sampled_from([(2, 2), (3, 4), (5, 5), (1, 3)]), st.sampled_from([0.02, 0.3, 5.0]))
def test_margins_are_kept(seed: int, shape: tuple[int, int], noise: float) -> None:
    """Whatever the table: no negative cell, both sums to 1e-9, and no possible table with these sums is nearer."""
    random = np.random.default_rng(seed)
    rows, columns = (random.dirichlet(np.full(size, 0.5)) for size in shape)
    rows[0], columns[-1] = 0.0, max(columns[-1], 1e-6)
    rows, columns = rows / max(rows.sum(), 1e-12) if rows.sum() else np.array([1.0]), columns / columns.sum()
    table = np.outer(rows, columns) + noise * random.normal(size=shape)
    found = keep_margins(table, rows, columns)
    assert found.min() >= 0
    assert found.sum(axis=1) == pytest.approx(rows, abs=1e-9)
    assert found.sum(axis=0) == pytest.approx(columns, abs=1e-9)
    # Convex: it is nearest if going a little towards any other possible table does not come nearer.
    for _ in range(5):
        other = keep_margins(random.normal(size=shape), rows, columns)
        assert np.sum((found - table) * (other - found)) >= -1e-7 * max(noise, 1)


def test_margins_against_a_solver() -> None:
    """The table is the one that a general solver of convex programmes finds."""
    random = np.random.default_rng(8)
    table, rows, columns = random.normal(0.1, 0.2, (3, 4)), np.array([0.2, 0.5, 0.3]), np.array([0.1, 0.2, 0.3, 0.4])
    sums = [lambda x, i=i: x.reshape(3, 4)[i].sum() - rows[i] for i in range(3)]
    sums += [lambda x, j=j: x.reshape(3, 4)[:, j].sum() - columns[j] for j in range(3)]  # type: ignore[misc]
    best = optimize.minimize(
        lambda x: np.sum((x - table.ravel()) ** 2),
        np.outer(rows, columns).ravel(),
        bounds=[(0, 1)] * 12,
        constraints=[{"type": "eq", "fun": each} for each in sums],
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert keep_margins(table, rows, columns).ravel() == pytest.approx(best.x, abs=1e-6)


# --- two questions of a part -----------------------------------------------------------------------------------------


def test_cells_come_out(known: dict[str, Evidence]) -> None:
    """From reports in exact proportion comes the exact table, whose sums are the shares of both questions."""
    table = crosstab_questions(known["vaped"], known["stress"])
    assert [(share.code, share.estimate) for share in table.row_totals] == [
        ("yes", pytest.approx(0.4, abs=1e-6)),
        ("no", pytest.approx(0.6, abs=1e-6)),
    ]
    assert grid(table) == pytest.approx(np.outer((0.4, 0.6), STRESS), abs=1e-6)
    assert grid(table, "unbiased") == pytest.approx(np.outer((0.4, 0.6), STRESS), abs=1e-6)
    assert grid(table).sum(axis=0) == pytest.approx([share.estimate for share in table.column_totals], abs=1e-9)
    assert grid(table).sum(axis=1) == pytest.approx([share.estimate for share in table.row_totals], abs=1e-9)
    assert table.submissions == 10**8
    for cell in table.cells:
        assert cell.low < cell.estimate < cell.high  # type: ignore[operator]


def test_a_noisy_table_adds_up(document: Document) -> None:
    """Few reports give negative unbiased cells; the estimates are possible, and add up to the totals all the same."""
    counts, sizes = expected(document, 60)
    evidence = {name: evidence_of(document, name, counts, sizes) for name in TRUTH}
    table = crosstab_questions(evidence["vaped"], evidence["stress"])
    assert grid(table).min() >= 0
    assert grid(table).sum(axis=0) == pytest.approx([share.estimate for share in table.column_totals], abs=1e-9)
    assert grid(table).sum(axis=1) == pytest.approx([share.estimate for share in table.row_totals], abs=1e-9)
    nobody = {name: evidence_of(document, name, [[0] * len(row) for row in counts], [0] * 6) for name in TRUTH}
    empty = crosstab_questions(nobody["vaped"], nobody["stress"])
    assert {(cell.estimate, cell.low, cell.high) for cell in empty.cells} == {(None, 0.0, 1.0)}
    assert empty.independence.p_value is None


def test_those_who_are_not_asked_are_a_category(known: dict[str, Evidence]) -> None:
    """A follow-up by another question has a category for people whom it is not asked; by its parent, zeros as well."""
    table = crosstab_questions(known["how_often"], known["stress"])
    assert [share.code for share in table.row_totals] == ["monthly", "weekly", "daily", NOT_ASKED]
    shares = (*(0.4 * share for share in OFTEN), 0.6)
    assert grid(table) == pytest.approx(np.outer(shares, STRESS), abs=1e-6)
    parent = crosstab_questions(known["vaped"], known["how_often"])
    wanted = [[*(0.4 * share for share in OFTEN), 0.0], [0.0, 0.0, 0.0, 0.6]]
    assert grid(parent) == pytest.approx(np.array(wanted), abs=1e-6)
    assert grid(parent, "high")[0, 3] == 0
    assert parent.independence.note == NEVER_TOGETHER
    assert grid(parent).sum(axis=1) == pytest.approx([share.estimate for share in parent.row_totals], abs=1e-9)


def test_options_have_tables_of_their_own(known: dict[str, Evidence]) -> None:
    """Of a multi_choice each option that shares a part is a row; nothing is known of the others."""
    assert share_a_part(known["support"], known["vaped"]) and not share_a_part(known["support"], known["stress"])
    table = crosstab_questions(known["support"], known["vaped"])
    assert [share.code for share in table.row_totals] == ["doctor", "friend", "nobody"]
    assert grid(table)[0] == pytest.approx([0.25 * 0.4, 0.25 * 0.6], abs=1e-6)
    assert np.isnan(grid(table)[1:]).all()
    assert table.independence.p_value is not None and table.independence.note is msgspec.UNSET
    both = crosstab_questions(known["support"], known["support"])
    assert grid(both)[1, 2] == pytest.approx(0.3 * 0.6, abs=1e-6)  # a friend, and nobody: one part has both
    assert both.independence.note == EACH_OPTION


def pair(shape: tuple[int, int], epsilon: str, size: int | None, n: int, counts: Any) -> tuple[Evidence, Evidence]:
    """Two choices in one part, and the counts of its paths."""
    rows, columns = shape
    channel = subset(rows * columns, Fraction(epsilon), size)
    paths = np.arange(rows * columns).reshape(shape)
    questions = [
        ask("choice", options=[{"code": f"c{j}", "text": "."} for j in range(k)])[0] if k > 1 else None for k in shape
    ]
    part = (Counted(channel, counts, n),)
    made = []
    for question, sets in zip(questions, (paths, paths.T), strict=True):
        assert isinstance(question, Question)
        owned = tuple(tuple(map(int, row)) for row in sets)
        made.append(Evidence(question, n, ((Heard(channel, counts, n, owned, tuple(range(paths.size))),),), part))
    return made[0], made[1]


def sampled(shape: tuple[int, int], epsilon: str, size: int | None, shares: Array, n: int, samples: int) -> Array:
    """The path counts of many surveys, from the channel's own table of probabilities."""
    channel = subset(shape[0] * shape[1], Fraction(epsilon), size)
    reports = [*channel.reports()]
    law = np.array([[float(channel.probability(x, report)) for report in reports] for x in range(channel.options)])
    held = np.array([[report >> j & 1 for j in range(channel.options)] for report in reports])
    return np.asarray(np.random.default_rng(4).multinomial(n, shares.ravel() @ law, samples) @ held)


@pytest.mark.parametrize(
    ("shape", "epsilon", "size", "n"),
    [((2, 2), "1", 1, 2000), ((2, 3), "2", 1, 1000), ((3, 3), "1", None, 2000), ((3, 3), "4", 1, 1000)],
)
def test_the_test_of_independence_keeps_its_size(shape: tuple[int, int], epsilon: str, size: Any, n: int) -> None:
    """Of 500 seeded surveys in which both are independent, 5% (2.2 to 8.6) are rejected at the level of 5%."""
    rows, columns = (np.arange(1, k + 2)[1:] / np.arange(1, k + 2)[1:].sum() for k in shape)
    assert stats.binom.cdf(10, 500, 0.05) + stats.binom.sf(43, 500, 0.05) < 1e-3
    rejected = 0
    for counts in sampled(shape, epsilon, size, np.outer(rows, columns), n, 500):
        result = crosstab_questions(*pair(shape, epsilon, size, n, counts.tolist())).independence
        assert result.p_value is not None and result.degrees_of_freedom == (shape[0] - 1) * (shape[1] - 1)
        rejected += result.p_value < 0.05
    assert 11 <= rejected <= 43


def test_dependence_is_found() -> None:
    """Half of all on the diagonal: 1,000 joint reports at epsilon 2 find it in nearly every survey."""
    shares = np.full((3, 3), 1 / 18) + np.eye(3) / 6
    found = 0
    for counts in sampled((3, 3), "2", 1, shares, 1000, 100):
        p_value = crosstab_questions(*pair((3, 3), "2", 1, 1000, counts.tolist())).independence.p_value
        found += p_value is not None and p_value < 0.05
    assert found > 90


# --- a segment -------------------------------------------------------------------------------------------------------


def test_a_segment_by_a_question(document: Document) -> None:
    """From the counts of each group come the exact cells, in either orientation, and they add up."""
    counts, sizes = expected(document, 10**7)
    everybody = evidence_of(document, "how_often", counts, sizes)
    table = crosstab_segment("campus", ["north", "south"], [6 * 10**7, 2 * 10**7], [everybody, everybody])
    shares = (*(0.4 * share for share in OFTEN), 0.6)
    assert grid(table) == pytest.approx(np.outer((0.75, 0.25), shares), abs=1e-5)
    assert grid(table).sum(axis=1) == pytest.approx([0.75, 0.25], abs=1e-9)
    assert table.independence.p_value == pytest.approx(1)
    other = flipped(table)
    assert (other.rows, other.columns) == ("how_often", "campus")
    assert grid(other) == pytest.approx(grid(table).T)
    assert (other.cells[1].row, other.cells[1].column) == ("monthly", "south")
    support = evidence_of(document, "support", counts, sizes)
    options = crosstab_segment("campus", ["north", "south"], [30, 10], [support, support])
    assert grid(options) == pytest.approx(np.outer((0.75, 0.25), (0.25, 0.3, 0.6)), abs=1e-5)


def test_cells_of_a_segment_are_covered() -> None:
    """Of 400 seeded surveys the 95% intervals of three groups' cells contain the truth in at least 92%, each."""
    random, truth = np.random.default_rng(6), np.array([[0.3, 0.1], [0.05, 0.35], [0.02, 0.18]])
    covered, samples, n = np.zeros((3, 2)), 400, 900
    shares = truth.sum(axis=1)
    channel = subset(6, Fraction(2), 1)
    table = np.array([[float(channel.probability(x, 1 << y)) for y in range(6)] for x in range(6)])
    for _ in range(samples):
        sizes = random.multinomial(n, shares).tolist()
        groups = []
        for row, size in zip(truth, sizes, strict=True):
            paths = (np.repeat(row / row.sum(), 3) / 3) @ table
            groups.append(pair((2, 3), "2", 1, size, random.multinomial(size, paths).tolist())[0])
        result = crosstab_segment("s", ["a", "b", "c"], sizes, groups)
        covered += (grid(result, "low") <= truth) & (truth <= grid(result, "high"))
    assert (covered / samples).min() >= 0.92


def test_the_test_between_groups_keeps_its_size() -> None:
    """Of 500 seeded surveys with the same shares in three groups, 5% (2.2 to 8.6) are rejected at the level of 5%."""
    shares, rejected = np.array([[0.2, 0.1], [0.4, 0.3]]), 0
    drawn = [sampled((2, 2), "2", None, shares, n, 500) for n in (300, 500, 901)]
    for counts in zip(*(np.random.default_rng(7).permutation(each) for each in drawn), strict=True):
        groups = [pair((2, 2), "2", None, int(each.sum()), each.tolist())[0] for each in counts]
        p_value = crosstab_segment("s", ["a", "b", "c"], [300, 500, 901], groups).independence.p_value
        rejected += p_value is not None and p_value < 0.05
    assert 11 <= rejected <= 43


# --- comparisons -----------------------------------------------------------------------------------------------------


def follow_ups(document: Document, vaped: float, monthly: float, n: int, samples: int, seed: int) -> list[Evidence]:
    """How often, in a part with 8 paths of which one is reported: sampled from the channel's table."""
    part, often = document.parts[0], (monthly, (1 - monthly) / 2, (1 - monthly) / 2)
    shares = [
        (1 - vaped if path[0] == 0 else vaped * often[path[1]]) * (0.75, 0.25)[path[2]]  # type: ignore[index]
        for path in part.paths
    ]
    law = np.array([[float(part.channel.probability(x, 1 << y)) for y in range(8)] for x in range(8)])
    empty = [[0] * each.channel.feature_count for each in document.parts]
    example = evidence_of(document, "how_often", empty, [0] * 6)
    heard = example.items[0][0]
    return [
        replace(example, answers=n, items=((heard._replace(counts=counts.tolist(), n=n),),))
        for counts in np.random.default_rng(seed).multinomial(n, np.array(shares) @ law, samples)
    ]


def test_differences_of_conditional_shares(document: Document) -> None:
    """Two groups of whom different numbers are asked: of 300 surveys the 95% interval holds the difference in at least
    92%; without one, 5% (1.7 to 9.3) have a p-value below 5%: beyond that in less than one case in a hundred.
    """
    groups = [
        follow_ups(document, *shares, 300, seed) for seed, shares in enumerate(((0.6, 0.5, 700), (0.3, 0.2, 900)))
    ]
    same = follow_ups(document, 0.3, 0.5, 900, 300, 2)
    covered = rejected = 0
    for one, two, three in zip(*groups, same, strict=True):
        row = compare([Group("a", one), Group("b", two)]).differences[0]
        covered += row.low <= 0.3 <= row.high
        p_value = compare([Group("a", one), Group("b", three)]).differences[0].p_value
        assert p_value is not None
        rejected += p_value < 0.05
    assert covered >= 276
    assert 5 <= rejected <= 28


def test_pooled_groups_are_compared(known: dict[str, Evidence], document: Document) -> None:
    """A question in two parts is compared by its pooled shares: the difference is that of the estimates."""
    counts, sizes = expected(document, 3000)
    few = evidence_of(document, "vaped", counts, sizes)
    rows = compare([Group("many", known["vaped"]), Group("few", few)]).differences
    shares = [estimate_question(each).shares for each in (known["vaped"], few)]
    for row, one, two in zip(rows, *shares, strict=True):
        assert row.difference == pytest.approx(one.unbiased - two.unbiased)  # type: ignore[operator]
        assert row.low < row.difference < row.high  # type: ignore[operator]
        assert row.p_value is not None and row.p_value > 0.5


# --- regression and weights ------------------------------------------------------------------------------------------


def test_regression_over_parts_is_the_most_likely_one(document: Document) -> None:
    """A row per group and part, each with its part's rule: the coefficients are those that scipy finds."""
    beta, cells, rows = np.array([-0.5, 0.8]), [], []
    question = document.survey.questions[0]
    for code, x in enumerate(((1, 0), (1, 1))):
        share = float(expit(np.array(x) @ beta))
        heard = []
        for epsilon, paths, owned, n in (("2", 8, 4, 6000), ("1", 6, 2, 5000 + code)):
            channel = subset(paths, Fraction(epsilon), 1)
            p, q = (float(value) for value in (channel.supports()[0].p, channel.supports()[0].q))
            p, q = p + (owned - 1) * q, owned * q
            y = round(n * (q + (p - q) * share))
            rows.append((x, p, q, y, n))
            ends = tuple(range(paths - owned)), tuple(range(paths - owned, paths))  # no, yes
            counts = [(n - y) / len(ends[0])] * len(ends[0]) + [y / owned] * owned
            heard.append(Heard(channel, counts, n, ends, tuple(range(paths)), len(heard)))
        parts = tuple(Counted(*each[:3]) for each in heard)
        cells.append(Answered({(code,): 11_000}, Evidence(question, 11_000, (tuple(heard),), parts)))
    result = regress(question, "yes", {"campus": ["north", "south"]}, cells)
    xs, p, q, y, n = map(np.array, zip(*rows, strict=True))

    def minus_log_likelihood(coefficients: Array) -> float:
        rate = q + (p - q) * expit(xs @ coefficients)
        return -float(np.sum(y * np.log(rate) + (n - y) * np.log1p(-rate)))

    best = optimize.minimize(minus_log_likelihood, np.zeros(2), method="Nelder-Mead", options={"xatol": 1e-9})
    assert result.intercept is not None
    assert [result.intercept.most_likely, result.coefficients[0].most_likely] == pytest.approx(best.x, abs=1e-5)
    assert [result.intercept.estimate, result.coefficients[0].estimate] == pytest.approx(beta, abs=0.01)
    assert result.submissions == 22_000


def test_follow_ups_are_not_regressed(known: dict[str, Evidence]) -> None:
    """How a share among those who are asked depends on segments is not modelled, and the error says what to do."""
    question = known["how_often"].question
    with pytest.raises(ValueError, match=SOME_ONLY):
        regress(question, "weekly", {"campus": ["a", "b"]}, [Answered({(0,): 1}, known["how_often"])])


def test_weights_of_joint_reports(document: Document) -> None:
    """Equal weights change nothing; others give the mix of the groups, whatever the parts of a question."""
    counts, sizes = expected(document, 4000)
    for name in ("vaped", "how_often", "support", "stress", "hours"):
        evidence = evidence_of(document, name, counts, sizes)
        twice = evidence_of(document, name, [[2 * y for y in row] for row in counts], [2 * n for n in sizes])
        weighted, plain = estimate_weighted(Weighed([(1.0, evidence), (1.0, evidence)])), estimate_question(twice)
        assert weighted.effective_answers == pytest.approx(plain.answers)
        for ours, theirs in itertools.chain(
            zip(weighted.shares, plain.shares, strict=True),
            zip(weighted.among_answering or (), plain.among_answering or (), strict=True),
            [(weighted.applies, plain.applies)] if plain.applies else [],
        ):
            for name in ("estimate", "unbiased", "standard_error", "low", "high"):
                assert getattr(ours, name) == pytest.approx(getattr(theirs, name))
            assert ours.deff == pytest.approx(1.0)
    stress = evidence_of(document, "stress", counts, sizes)
    (alone,) = (item[1:] for item in stress.items)  # the part with nothing else
    other = alone[0]._replace(counts=alone[0].counts[::-1])
    groups = [replace(stress, answers=4000, items=((heard,),)) for heard in (alone[0], other)]
    mixed = estimate_weighted(Weighed([(1.5, groups[0]), (0.5, groups[1])]))
    wanted = [0.75 * one + 0.25 * two for one, two in zip(STRESS, STRESS[::-1], strict=True)]
    assert [share.unbiased for share in mixed.shares] == pytest.approx(wanted, abs=2e-3)
    assert 4000 < mixed.effective_answers < 8000
