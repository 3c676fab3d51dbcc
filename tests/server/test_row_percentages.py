"""The cells of a cross-tab as shares of their row and of their column: known answers from scipy and numpy, coverage."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from deniable_protocol import decode
from deniable_protocol.design import subset
from deniable_server.estimator import Evidence
from deniable_server.estimator.by_group import crosstab_segment, flipped
from deniable_server.estimator.crosstab import Crosstab, crosstab
from deniable_server.estimator.joint import crosstab_questions
from tests.server import test_joint
from tests.server.test_crosstab import BIT, CHOICE, KRR, SEGMENT, draw, segment
from tests.server.test_evidence import OFTEN, STRESS
from tests.server.test_joint import pair, sampled

Array = npt.NDArray[np.float64]
SAMPLES = 200
LEAST = 0.91
"""Of 200 surveys an interval that covers 95% covers fewer than this once in a hundred; the seeds are fixed."""


document, known = test_joint.document, test_joint.known


def lines(table: Crosstab, axis: str, what: str = "estimate") -> Array:
    numbers = [getattr(getattr(cell, axis), what) for cell in table.cells]
    return np.array(numbers, dtype=float).reshape(-1, len(table.column_totals))


def least_covered(tables: Sequence[Crosstab], truth: Array) -> float:
    """How often the limits contain the truth, of the shares that they contain least often."""
    found = []
    for axis, shares in (("of_row", truth / truth.sum(1, keepdims=True)), ("of_column", truth / truth.sum(0))):
        inside = [(lines(each, axis, "low") <= shares) & (shares <= lines(each, axis, "high")) for each in tables]
        found.append(np.mean(inside, axis=0).min())
    return float(min(found))


def test_shares_of_rows_and_columns_come_out(known: dict[str, Evidence]) -> None:
    """From reports in exact proportion come the exact shares of each row and column, and they sum to 1."""
    table = crosstab_questions(known["vaped"], known["stress"])
    assert lines(table, "of_row") == pytest.approx(np.tile(STRESS, (2, 1)), abs=1e-6)
    assert lines(table, "of_column") == pytest.approx(np.tile([[0.4], [0.6]], (1, 4)), abs=1e-6)
    assert lines(table, "of_row").sum(axis=1) == pytest.approx([1, 1])
    assert lines(table, "of_column").sum(axis=0) == pytest.approx([1, 1, 1, 1])
    assert (lines(table, "of_row", "low") < STRESS).all() and (lines(table, "of_row", "high") > STRESS).all()


def test_answers_that_exclude_each_other_are_exact(known: dict[str, Evidence]) -> None:
    """Who did not vape was not asked how often: 100% of that row, without any doubt, and 0% of the other cells."""
    table = crosstab_questions(known["vaped"], known["how_often"])
    assert lines(table, "of_row") == pytest.approx(np.array([[*OFTEN, 0], [0, 0, 0, 1]]), abs=1e-6)
    for limit in ("low", "high"):
        assert lines(table, "of_row", limit)[1].tolist() == [0, 0, 0, 1]
        assert lines(table, "of_column", limit)[:, 3].tolist() == [0, 1]


def test_shares_of_options(known: dict[str, Evidence]) -> None:
    """Of a multi_choice, a row is those who chose the option: columns are shares of these, and do not add up."""
    table = crosstab_questions(known["support"], known["vaped"])
    assert lines(table, "of_row")[0] == pytest.approx([0.4, 0.6], abs=1e-6)
    assert lines(table, "of_column")[0] == pytest.approx([0.25, 0.25], abs=1e-6)
    assert np.isnan(lines(table, "of_row")[1]).all()  # no part has this option and the other question
    assert lines(table, "of_row", "high")[1].tolist() == [1, 1]


@pytest.mark.parametrize(
    ("shape", "epsilon", "size", "n", "truth"),
    [
        ((2, 2), "1", 1, 2000, [[0.1, 0.3], [0.2, 0.4]]),
        ((3, 3), "4", 1, 300, [[0.02, 0.1, 0.08], [0.2, 0.2, 0.1], [0.1, 0.1, 0.1]]),
    ],
)
def test_joint_reports_cover(shape: tuple[int, int], epsilon: str, size: int, n: int, truth: list[list[float]]) -> None:
    """Of 200 seeded surveys the 95% limits of every row and column share contain the truth in at least 91%."""
    shares = np.array(truth)
    drawn = sampled(shape, epsilon, size, shares, n, SAMPLES)
    assert least_covered([crosstab_questions(*pair(shape, epsilon, size, n, each)) for each in drawn], shares) >= LEAST


@pytest.mark.parametrize(("n", "epsilon", "asked"), [(900, 2, 1.0), (3000, 6, 0.2)])
def test_groups_cover(n: int, epsilon: int, asked: float) -> None:
    """The same for a segment of which all, or a fifth, are asked. The standard error of a column share is how far it
    varies from survey to survey, to a seventh.
    """
    random, truth = np.random.default_rng(6), np.array([[0.3, 0.1], [0.05, 0.35], [0.02, 0.18]])
    channel = subset(6, Fraction(epsilon), 1)
    law = np.array([[float(channel.probability(x, 1 << y)) for y in range(6)] for x in range(6)])
    tables = []
    for _ in range(SAMPLES):
        sizes = random.multinomial(n, truth.sum(axis=1)).tolist()
        groups = []
        for row, size in zip(truth, random.binomial(sizes, asked).tolist(), strict=True):
            counts = random.multinomial(size, np.repeat(row / row.sum(), 3) / 3 @ law).tolist()
            groups.append(pair((2, 3), str(epsilon), 1, size, counts)[0])
        tables.append(crosstab_segment("s", ["a", "b", "c"], sizes, groups))
    assert least_covered(tables, truth) >= LEAST
    varied = np.std([lines(each, "of_column", "unbiased") for each in tables], axis=0)
    assert np.mean([lines(each, "of_column", "standard_error") for each in tables], axis=0) == pytest.approx(
        varied, rel=1 / 7
    )
    turned = flipped(tables[0])
    assert lines(turned, "of_row") == pytest.approx(lines(tables[0], "of_column").T)


def test_separate_reports_cover() -> None:
    """The same where both questions are reported by themselves, and where one is a segment."""
    random = np.random.default_rng(5)
    for rows, columns, n in ((BIT, KRR, 500), (CHOICE, BIT, 2000), (SEGMENT, KRR, 400)):
        truth = random.dirichlet(np.full(len(rows.law) * len(columns.law), 2)).reshape(len(rows.law), -1)
        tables = [crosstab(draw(rows, columns, truth, n, random)) for _ in range(SAMPLES)]
        assert least_covered(tables, rows.true.T @ truth @ columns.true) >= LEAST


def test_two_segments_have_the_limits_of_plain_proportions() -> None:
    """Without noise, a row share has the limits of a proportion in scipy: Wilson's, corrected for continuity."""
    rows, columns = SEGMENT, segment("other", "ab")
    truth = np.array([[0.1, 0.2], [0.15, 0.25], [0.05, 0.25]])
    joint_counts = draw(rows, columns, truth, 400, np.random.default_rng(1))
    seen, table = joint_counts.blocks()[2], crosstab(joint_counts)
    for j, m in np.ndindex(3, 2):
        ci = stats.binomtest(int(seen[j, m]), int(seen[j].sum())).proportion_ci(method="wilsoncc")
        assert lines(table, "of_row", "low")[j, m] == pytest.approx(ci.low, abs=1e-9)
        assert lines(table, "of_row", "high")[j, m] == pytest.approx(ci.high, abs=1e-9)


def test_joint_limits_agree_with_fieller_from_single_reports() -> None:
    """For 20,000 reports the limits are those of Fieller's quadratic, from the decoded vectors of single reports."""
    shape, n, truth = (2, 3), 20_000, np.array([[0.05, 0.1, 0.15], [0.3, 0.25, 0.15]])
    channel, random = subset(6, Fraction(2), 1), np.random.default_rng(3)
    law = np.array([[float(channel.probability(x, 1 << y)) for y in range(6)] for x in range(6)])
    reports = random.choice(6, n, p=truth.ravel() @ law)
    z = np.array([[float(each) for each in decode(channel, 1 << y)] for y in range(6)])[reports].reshape(n, *shape)
    table = crosstab_questions(*pair(shape, "2", 1, n, np.bincount(reports, minlength=6).tolist()))
    for j, m in np.ndindex(shape):
        above, below = z[:, j, m], z[:, j].sum(axis=1)
        (aa, ab), (_, bb) = np.cov(above, below) / n * stats.norm.ppf(0.975) ** 2
        a, b = above.mean(), below.mean()
        low, high = sorted(np.roots([b * b - bb, -2 * (a * b - ab), a * a - aa]).real)
        width = high - low
        assert lines(table, "of_row", "low")[j, m] == pytest.approx(low, abs=0.03 * width)
        assert lines(table, "of_row", "high")[j, m] == pytest.approx(high, abs=0.03 * width)


def test_nothing_is_known_of_a_row_that_may_be_empty() -> None:
    """If nobody may have given the answer of a row, every share of it is possible."""
    counts = sampled((2, 2), "1", 1, np.array([[0.0, 0.0], [0.5, 0.5]]), 200, 1)[0]
    table = crosstab_questions(*pair((2, 2), "1", 1, 200, counts.tolist()))
    assert (lines(table, "of_row", "low")[0] == 0).all() and (lines(table, "of_row", "high")[0] == 1).all()
