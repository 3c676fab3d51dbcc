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

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import UNSET, UnsetType

from deniable_protocol import Channel, Question, decode

from .evidence import Array, alone
from .intervals import CLEAR, USUAL, Aim, Rule, share_of_support, supports
from .margins import keep_margins
from .pieces import Piece, pieces
from .questions import estimate_question
from .scores import table_of
from .shares import Share, too_noisy

Reports = npt.NDArray[np.int64]

FEWEST = 5  # expected reports with a pair of features that all but a fifth of the pairs must have [4]
TOO_FEW = "too few reports for this test"
ONE_VALUE = "one of the two never varies"


class JointShare(msgspec.Struct, frozen=True):
    """The share of those who gave both answers; otherwise as a Share is."""

    row: str
    column: str
    estimate: float | None
    unbiased: float | None
    standard_error: float | None
    low: float
    high: float
    note: str | UnsetType = UNSET


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


# --- variables ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Coded:
    """A variable, with the matrices of the module's text: a row per feature, a column per category in reading order.

    ``squares[x, j]`` is the mean of z_j^2 where the answer is x, and ``steps[j]`` how far apart the values of z_j are.
    """

    id: str
    codes: Sequence[str]
    exclusive: bool  # exactly one category is true
    held: bool  # features are the options that the report holds
    a: Array
    b: Array
    u: Array
    squares: Array
    steps: Array
    totals: Callable[[list[int], int, Aim], list[Share]]

    def features(self, reports: Reports) -> Array:
        if self.held:
            return (reports[:, None] >> np.arange(len(self.a)) & 1).astype(np.float64)
        return np.eye(len(self.a))[reports]


def coded_question(question: Question, channel: Channel) -> Coded:
    """A question with shares."""
    if question.asks_mean:
        raise ValueError(f"{question.id} asks for a mean, and has no shares to tabulate")

    def totals(counts: list[int], n: int, aim: Aim) -> list[Share]:
        return estimate_question(alone(question, channel, counts, n), aim).shares

    order, held = question.reading_order, channel.held is not None
    a, b, u, squares, steps = (matrix[..., order] for matrix in _matrices(channel))
    codes = [question.codes[j] for j in order]
    return Coded(question.id, codes, channel.exclusive, held, a, b, u, squares[order], steps, totals)


def _matrices(channel: Channel) -> tuple[Array, Array, Array, Array, Array]:
    found = supports(channel)
    if not found:
        a = np.array([[float(z) for z in decode(channel, report)] for report in channel.reports()])
        return a, a**2, np.ones_like(a), table_of(channel) @ a**2, np.ptp(a, axis=0)
    # A report is about j (u_j = 1) where it shows j's feature f_j or the one against it; where every report is, its
    # features sum to 1, or to the number of options that it holds. Among those, z_j = (f_j - q u_j)/gap; and since
    # f^2 = f = f u, z_j^2 = ((1 - 2q) f_j + q^2 u_j)/gap^2.
    f, u = np.zeros((2, channel.feature_count, channel.answers))
    for j, (each, _) in enumerate(found):
        f[each.feature, j] = 1
        if each.against is None:
            u[:, j] = 1 / (channel.held or 1)
        else:
            u[[each.feature, each.against], j] = 1
    rules = [rule for _, rule in found]
    q, gap = np.array([rule.q for rule in rules]), np.array([rule.gap for rule in rules])
    return (f - q * u) / gap, ((1 - 2 * q) * f + q**2 * u) / gap**2, u, _squares(rules), 1 / gap


def _squares(rules: Sequence[Rule]) -> Array:
    """The noise of each score, plus the square of its mean: 1 where the answer is the score's own."""
    others = np.tile([rule.v0 for rule in rules], (len(rules), 1))
    return others + np.diag([1 + rule.v1 - rule.v0 for rule in rules])


def coded_segment(name: str, codes: Sequence[str]) -> Coded:
    """A segment: its report is the place of its code, and its score the feature itself."""

    def totals(counts: list[int], n: int, aim: Aim) -> list[Share]:
        if not n:
            return [Share(code, None, None, None, 0.0, 1.0, too_noisy(1.0, 1.0)) for code in codes]
        each = [(code, share_of_support(CLEAR, y, n, aim)) for code, y in zip(codes, counts, strict=True)]
        return [Share(code, raw.unbiased, *raw, too_noisy(raw.high - raw.low, 1.0)) for code, raw in each]

    k, one = len(codes), np.eye(len(codes))
    return Coded(name, codes, True, False, one, one, np.ones((k, k)), one, np.ones(k), totals)


class Shown(NamedTuple):
    """A piece of a variable (0 the rows, 1 the columns), and the place of its features among all of both."""

    variable: int
    piece: Piece
    start: int
    stop: int

    @property
    def place(self) -> slice:
        return slice(self.start, self.stop)


class Crossed(NamedTuple):
    """Two pieces of what a submission shows, of either variable: their values are counted together, from ``start``."""

    first: Shown
    second: Shown
    start: int

    @property
    def place(self) -> slice:
        return slice(self.start, self.start + self.first.piece.values * self.second.piece.values)


class Joint:
    """The sums of the products of any two features over all submissions, whatever their number.

    They follow from how often the values of any two pieces come together, of which there are not many: that is what is
    counted, here or by another engine.
    """

    def __init__(self, rows: Coded, columns: Coded) -> None:
        if rows.id == columns.id:
            raise ValueError("rows and columns must be two different variables")
        size = len(rows.a) + len(columns.a)
        self.rows, self.columns, self.submissions = rows, columns, 0
        self.products = np.zeros((size, size), dtype=np.int64)
        shown, at = [], 0
        for number, variable in enumerate((rows, columns)):
            for piece in pieces(len(variable.a), held=variable.held):
                shown.append(Shown(number, piece, at, at + piece.features().shape[1]))
                at = shown[-1].stop
        self.crossed, self.slots = [], 0
        for first, second in combinations(shown, 2):
            self.crossed.append(Crossed(first, second, self.slots))
            self.slots = self.crossed[-1].place.stop

    def add(self, rows: Reports, columns: Reports) -> None:
        """The reports of these submissions, one of each variable; of a segment the places of the codes."""
        self.add_counts(self.count(rows, columns))

    def count(self, rows: Reports, columns: Reports) -> Reports:
        """How often the values of any two pieces come together in these submissions."""
        if rows.shape != columns.shape:
            raise ValueError("there must be one report of each variable per submission")
        counts, reports = np.zeros(self.slots, dtype=np.int64), (rows, columns)
        for pair in self.crossed:
            first, second = (each.piece.of(reports[each.variable]) for each in (pair.first, pair.second))
            values = pair.second.piece.values
            counts[pair.place] = np.bincount(first * values + second, minlength=pair.first.piece.values * values)
        return counts

    def add_counts(self, counts: Reports) -> None:
        """What ``count`` gave for other submissions, counted here or elsewhere."""
        within: dict[Shown, Array] = {}
        for pair in self.crossed:
            first, second = pair.first, pair.second
            table = counts[pair.place].reshape(first.piece.values, -1).astype(np.float64)  # whole numbers: exact
            mine, theirs = first.piece.features(), second.piece.features()
            between = (mine.T @ table @ theirs).astype(np.int64)
            self.products[first.place, second.place] += between
            self.products[second.place, first.place] += between.T
            within[first] = mine.T * table.sum(axis=1) @ mine
            within[second] = theirs.T * table.sum(axis=0) @ theirs
        for each, sums in within.items():
            self.products[each.place, each.place] += sums.astype(np.int64)
        self.submissions += int(counts[self.crossed[0].place].sum())

    def __iadd__(self, other: Joint) -> Joint:
        self.products += other.products
        self.submissions += other.submissions
        return self

    def blocks(self) -> tuple[Array, Array, Array]:
        """The sums within the rows' features, within the columns', and between them."""
        c, products = len(self.rows.a), self.products.astype(np.float64)
        return products[:c, :c], products[c:, c:], products[:c, c:]


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
    for (j, row), (m, column) in product(enumerate(rows.codes), enumerate(columns.codes)):
        share, score, deviation, bottom, top = numbers[j, m].tolist() if about[j, m] else (None, None, None, 0.0, 1.0)
        known = deviation if about[j, m] > 1 else None
        cells.append(JointShare(row, column, share, score, known, bottom, top, too_noisy(top - bottom, 1.0)))
    return cells


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
