"""The variables of a cross-tab, question or segment, and what is counted of two of them: products of their features.

``crosstab`` says what features are, and how shares come from these sums.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deniable_protocol import Channel, Question, decode

from .evidence import Array, alone
from .intervals import CLEAR, Aim, Rule, share_of_support, supports
from .pieces import Piece, pieces
from .questions import estimate_question
from .scores import table_of
from .shares import Share, too_noisy

Reports = npt.NDArray[np.int64]


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
