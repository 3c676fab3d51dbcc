"""Two variables together: the share of every pair of answers, and whether the variables depend on each other.

A variable is a question with shares, or a segment, which is sent in the clear. One linear algebra serves all. A report
shows 0/1 features f: the options that it holds (subsets), or which report it is (the others). With matrices per
variable, the unbiased score of category j is z_j = sum of A_cj f_c, its square the sum of B_cj f_c, and whether the
report is about j at all the sum of U_cj f_c. Given the answers, the reports of two questions are independent, so that

    E[z_j z'_l | answers] = E[z_j | answer] E[z'_l | other answer] = 1 if the answers are j and l, else 0:

the mean of z_j z'_l is the unbiased share of the pair [1], and all that is needed of the reports are sums of f_c f'_e.

[1] Chaudhuri and Mukerjee 1988, Randomized Response.  [2] Wilson 1927, J. Am. Stat. Assoc. 22.  [3] Pillai 1955, Ann.
Math. Stat. 26.  [4] Cochran 1954, Biometrics 10.  [5] Rao and Scott 1984, Ann. Stat. 12.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import UNSET, UnsetType

from .evidence import Array
from .features import Coded, Joint
from .intervals import USUAL, Aim, Raw
from .margins import keep_margins
from .ratios import BEYOND, Tested
from .shares import TOO_NOISY, Applies, Share, too_noisy

FEWEST = 5  # expected reports with a pair of features that all but a fifth of the pairs must have [4]
TOO_FEW = "too few reports for this test"
ONE_VALUE = "one of the two never varies"


class Within(Applies, frozen=True):
    """The share of a cell among the people of its row, or of its column. A ratio, and so only nearly unbiased."""


class JointShare(msgspec.Struct, frozen=True):
    """The share of those who gave both answers; otherwise as a Share is. ``of_row`` and ``of_column``: the same people
    as a share of those of the row, and of those of the column.
    """

    row: str
    column: str
    estimate: float | None
    unbiased: float | None
    standard_error: float | None
    low: float
    high: float
    note: str | UnsetType = UNSET
    of_row: Within | UnsetType = UNSET
    of_column: Within | UnsetType = UNSET


def within(raw: Raw | None, estimate: float | None) -> Within:
    """The estimate with its interval, which reaches to it; None where nothing is known."""
    if raw is None or estimate is None:
        return Within(None, None, None, 0.0, 1.0, TOO_NOISY)
    low, high = min(raw.low, estimate), max(raw.high, estimate)
    return Within(estimate, raw.unbiased, raw.standard_error, low, high, too_noisy(high - low, 1.0))


class Independence(msgspec.Struct, frozen=True):
    """The test that the two are independent, on the noisy table; ``note`` says why there is no p-value."""

    statistic: float | None
    degrees_of_freedom: int
    p_value: float | None
    note: str | UnsetType = UNSET


class Crosstab(msgspec.Struct, frozen=True):
    """The ids of both variables, their own shares in reading order, and the cells row by row."""

    rows: str
    columns: str
    submissions: int
    confidence: float
    row_totals: list[Share]
    column_totals: list[Share]
    cells: list[JointShare]
    independence: Independence


# --- the table ---------------------------------------------------------------------------------------------------


def crosstab(joint: Joint, aim: Aim = USUAL) -> Crosstab:
    """The debiased table of all that was added, and the test of independence."""
    counts, c, n = np.diag(joint.products).tolist(), len(joint.rows.a), joint.submissions
    rows, columns = joint.rows.totals(counts[:c], n, aim), joint.columns.totals(counts[c:], n, aim)
    cells = _cells(joint, rows, columns, aim)
    return Crosstab(joint.rows.id, joint.columns.id, n, aim.confidence, rows, columns, cells, independence(joint, aim))


def _cells(joint: Joint, row_totals: list[Share], column_totals: list[Share], aim: Aim) -> list[JointShare]:
    rows, columns, between = joint.rows, joint.columns, joint.blocks()[2]
    about = np.rint(rows.u.T @ between @ columns.u)
    n = np.maximum(about, 1.0)  # where there are no reports, what follows is not used
    unbiased = rows.a.T @ between @ columns.a / n
    # The variance of z z' is the diagonal of (A x A')' (diag r - r r') (A x A'), r the rates of pairs of reports. It is
    # at least what the channels alone give to any pair of answers: a sample that shows less is not believed.
    spread = (rows.b.T @ between @ columns.b / n - unbiased**2) * n / np.maximum(n - 1, 1)
    own = np.outer(np.diag(rows.squares), np.diag(columns.squares)) - 1
    least = np.minimum(np.outer(rows.squares.min(axis=0), columns.squares.min(axis=0)), own)
    estimate = possible = np.clip(unbiased, 0.0, 1.0) + 0.0  # -0.0 is 0.0
    error = np.sqrt((np.maximum(spread, least) + (aim.deff - 1) * possible * (1 - possible)) / n)
    totals = [np.array([share.estimate or 0.0 for share in shares]) for shares in (row_totals, column_totals)]
    if rows.exclusive and columns.exclusive and joint.submissions:
        estimate = keep_margins(unbiased, totals[0], totals[1])
    low, high = _limits(joint, possible, n, totals[0], totals[1], aim)
    # As with shares, an interval reaches to what the projection makes of its estimate.
    low, high = np.minimum(low, estimate), np.maximum(high, estimate)
    numbers, cells = np.stack([estimate, unbiased, error, low, high], axis=-1), []
    other = rows.a.T @ between @ columns.u / n, rows.u.T @ between @ columns.a / n  # of all in the row, in the column
    of_rows = _lines(joint.rows, joint.columns, (estimate, unbiased, other[0], n), row_totals, totals[1], aim)
    turned = estimate.T, unbiased.T, other[1].T, n.T
    of_columns = _lines(joint.columns, joint.rows, turned, column_totals, totals[0], aim)
    for (j, row), (m, column) in product(enumerate(rows.codes), enumerate(columns.codes)):
        share, score, deviation, bottom, top = numbers[j, m].tolist() if about[j, m] else (None, None, None, 0.0, 1.0)
        known, note = deviation if about[j, m] > 1 else None, too_noisy(top - bottom, 1.0)
        inner = (of_rows[j][m], of_columns[m][j]) if about[j, m] else (within(None, None), within(None, None))
        cells.append(JointShare(row, column, share, score, known, bottom, top, note, *inner))
    return cells


@dataclass(frozen=True, eq=False)
class _Products(Tested):
    """The ratios R of each pair's share to that of its row: T = the mean of x = z_j (z'_l - R), over the same reports.

    Four kinds of people make up E[x^2], as in ``_limits``, with s = rR: z_j^2 is on average M or m, and (z'_l - R)^2 is
    M' - 2R + R^2 where the other answer is l, and m' + R^2 where it is not. The mean of x is 0 where R is right.
    """

    mine: tuple[Array, Array]
    theirs: tuple[Array, Array]
    r: Array
    c: Array
    n: Array
    deff: float

    def statistic(self, ratio: Array) -> tuple[Array, Array]:
        value = np.einsum("...i,...i->...", self.gains - ratio[..., None], self.unbiased)
        r, inside = self.r[:, None], np.clip(ratio, 0.0, 1.0)
        share = inside * r
        column = np.maximum(self.c, share)
        own, others = self.theirs[0] - 2 * ratio + ratio**2, self.theirs[1] + ratio**2
        moment = self.mine[0][:, None] * (share * own + (r - share) * others)
        rest = np.maximum(1 - r - column + share, 0.0)
        moment += self.mine[1][:, None] * ((column - share) * own + rest * others)
        moment += (self.deff - 1) * r * inside * (1 - inside)
        return value, np.maximum(moment / self.n, 1e-300)


def _lines(
    rows: Coded,
    columns: Coded,
    seen: tuple[Array, Array, Array, Array],
    totals: Sequence[Share],
    c: Array,
    aim: Aim,
) -> list[list[Within]]:
    """Each pair as a share of its row, from the estimates and the unbiased shares of the pairs, those of the rows in
    the same reports, and the numbers of these.
    """
    estimate, pairs, whole, n = seen
    r = np.array([share.estimate or 0.0 for share in totals])
    tested = _Products(
        unbiased=np.stack([pairs, whole - pairs], axis=-1),
        gains=np.array([1.0, 0.0]),
        step=np.outer(rows.steps, columns.steps) / n,
        mine=_mean_squares(rows, r),
        theirs=_mean_squares(columns, c),
        r=r,
        c=c,
        n=n,
        deff=aim.deff,
    )
    safe = np.where(whole > 0, whole, 1.0)
    unbiased = pairs / safe
    start = np.clip(unbiased, 0.0, 1.0)
    errors = np.sqrt(tested.statistic(start)[1]) / safe
    clear = np.array([share.low > 0 for share in totals])[:, None] & (whole > 0)
    limits = np.clip(tested.limits(start, float(np.max(aim.errors(n))), (-BEYOND, 1 + BEYOND)), 0.0, 1.0)
    low, high = np.where(clear, limits[0], 0.0), np.where(clear, limits[1], 1.0)
    raw = np.stack([unbiased, errors, low, high], axis=-1).tolist()
    return [
        [
            within(Raw(*raw[j][m]) if known else None, min(share / float(r[j]), 1.0) if r[j] else None)
            for m, (share, known) in enumerate(zip(estimate[j].tolist(), (whole[j] > 0).tolist(), strict=True))
        ]
        for j in range(len(r))
    ]


def _limits(joint: Joint, seen: Array, n: Array, r: Array, c: Array, aim: Aim) -> tuple[Array, Array]:
    """The shares s at which the observed one is z standard errors away, those being the errors *at s* [2].

    With the shares r of the row and c of the column, four kinds of people make up E[(z z')^2] =
    s M M' + (r - s) M m' + (c - s) m M' + (1 - r - c + s) m m', M the mean square where the answer is the score's own,
    m where it is another. Half a step of the sum of z z' corrects for continuity. Measured down to 30 reports, this
    covers 95% where a t interval falls to 45%.
    """
    mine, theirs = _mean_squares(joint.rows, r), _mean_squares(joint.columns, c)
    squares = [np.outer(one, two) for one in mine for two in theirs]
    half = np.outer(joint.rows.steps, joint.columns.steps) / (2 * n)
    width = aim.errors(n) ** 2 / n
    # Both limits at once: from the observed share, half a step further, towards 0 and towards 1.
    start, ends = np.stack([seen - half, seen + half]), np.stack([np.zeros_like(seen), np.ones_like(seen)])

    def within(share: Array) -> npt.NDArray[np.bool_]:
        row, column = np.maximum(r[:, None], share), np.maximum(c, share)
        kinds = share, row - share, column - share, np.maximum(1 - row - column + share, 0.0)
        moment = sum(kind * square for kind, square in zip(kinds, squares, strict=True))
        return np.asarray((start - share) ** 2 <= width * (moment - share**2 + (aim.deff - 1) * share * (1 - share)))

    inside, outside = np.clip(start, 0.0, 1.0), ends
    reached = within(ends) | (inside == ends)
    for _ in range(45):
        middle = (inside + outside) / 2
        good = within(middle)
        inside, outside = np.where(good, middle, inside), np.where(good, outside, middle)
    low, high = np.where(reached, ends, outside)
    return low, high


def _mean_squares(variable: Coded, shares: Array) -> tuple[Array, Array]:
    """Of each score, among those whose answer is its own, and among the others: the same for all, but in a table."""
    weights = np.where(np.eye(len(shares), dtype=bool), 0.0, shares[:, None] + 1e-9)
    others = (weights * variable.squares).sum(axis=0) / np.maximum(weights.sum(axis=0), 1e-9)
    return np.diag(variable.squares), others


# --- independence ------------------------------------------------------------------------------------------------


def independence(joint: Joint, aim: Aim = USUAL) -> Independence:
    """Pearson's chi-square of the noisy table, which keeps its size: noise added to each alone makes no dependence.

    In general n times Pillai's trace [3], the sum of the squared canonical correlations of the features, chi-square
    with as many degrees of freedom as there are pairs of directions. Where a feature is which report it is, that is
    Pearson's statistic. What reports are *about* (the part drawn) is taken out first: it is chance alone. A design
    effect takes as much off the statistic (Rao and Scott's first correction [5]), which is more than noise allows.
    """
    (first, second, between), n = joint.blocks(), joint.submissions
    left, right = _uncorrelated(first, joint.rows.u), _uncorrelated(second, joint.columns.u)
    ranks = left.shape[1], right.shape[1]
    freedom = ranks[0] * ranks[1]
    if not freedom:
        return Independence(None, 0, None, ONE_VALUE if n > 1 else TOO_FEW)
    statistic = n * float(np.sum((left.T @ between @ right) ** 2)) / max(aim.deff, 1.0)
    rare = [np.minimum(np.diag(sums), n - np.diag(sums)) for sums in (first, second)]
    expected = np.outer(rare[0][rare[0] > 0], rare[1][rare[1] > 0]) / n
    sparse = expected.min() < 1 or np.mean(expected < FEWEST) > 0.2
    if sparse or n < FEWEST * (ranks[0] + 1) * (ranks[1] + 1):
        return Independence(statistic, freedom, None, TOO_FEW)
    return Independence(statistic, freedom, aim.p_value(statistic, freedom, n))


def _uncorrelated(sums: Array, u: Array) -> Array:
    """Combinations of the features as columns: without what u shows, uncorrelated, and with squares that sum to 1."""
    rest = np.eye(len(u)) - u @ np.linalg.pinv(u.T @ sums @ u, rcond=1e-10, hermitian=True) @ u.T @ sums
    # Features on one scale, so that the rank does not depend on how rare one is; those never seen drop out.
    rest = rest / np.sqrt(np.maximum(np.diag(sums), 1.0))
    values, vectors = np.linalg.eigh(rest.T @ sums @ rest)
    kept = values > 1e-9
    return np.asarray(rest @ vectors[:, kept] / np.sqrt(values[kept]))
