"""Weighted reports, and how certain each number is that is estimated from them.

A report counts as the weight of its cell: a combination of the groups that weights were raked to. What is estimated is
a mean m = sum of w_i z_i / sum of w_i of decoded reports z_i, noise included. Its variance is to first order

    sum of w_i^2 (z_i - m - b_i)^2 / (sum of w_i)^2.

Weights that are given have b = 0. Raked ones depend on who answered, and so make up for part of the chance in it: what
the groups that were raked to explain, b_i = the fit of z - m by a number per group, varies no more [1, 2].

Each number has an own **effective size**: as many reports without weights would have this variance [3]. Its interval is
that of so many reports, of which as large a part supports the answer.

[1] Deville and Särndal 1992, J. Am. Stat. Assoc. 87.  [2] MacKinnon and White 1985, J. Econometrics 29 (leverage).
[3] Korn and Graubard 1998, Survey Methodology 24.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .evidence import Array, Counted, Evidence, Heard, moments_of, not_shown, pool
from .intervals import CLEAR, FEW, Supported, chances, support
from .scores import mean_scores, share_scores

APPLIES = -1
"""The item of a number that is the share of people whom the question is asked."""


class Number(NamedTuple):
    """A number that is estimated of a question: the sum of the shares of an item's codes times ``signs``, over the sum
    of those in ``among`` unless that is everybody's. ``signs`` is empty for the mean.
    """

    item: int
    signs: tuple[float, ...] = ()
    among: tuple[int, ...] | None = None


def share_number(evidence: Evidence, place: int, among: tuple[int, ...] | None) -> Number:
    """The share of an answer; of an option of a multi_choice, of its yes."""
    if evidence.is_exclusive:
        return Number(0, tuple(float(place == j) for j in range(len(evidence.question.codes))), among)
    return Number(place, (0.0, 1.0), None if among is None else (0, 1))


class Raked:
    """How far a number is explained by the groups that cells were raked to: a weighted least-squares fit.

    ``groups`` has a row of codes per cell, a column per margin; ``sizes`` are all submissions of each cell, also those
    that do not report on a question, whose weights depend on the same margins.
    """

    def __init__(self, groups: Sequence[Sequence[int]], weights: Sequence[float], sizes: Sequence[float]) -> None:
        columns = np.array(groups).T
        self._members = np.hstack([each[:, None] == np.unique(each) for each in columns]).astype(float)
        self.weights, self.sizes = np.array(weights, dtype=float), np.array(sizes, dtype=float)
        squares = self._members.T @ (self._members * (self.weights * self.sizes)[:, None])
        self._solved = self._members @ np.linalg.pinv(squares, hermitian=True)
        # A fit follows each value a little, its leverage, by which residuals are too small; a mean does so anyway.
        leverage = (self._solved * self._members).sum(axis=1) - 1 / float(self.weights @ self.sizes)
        self.left = np.maximum(1 - self.weights * leverage, 0.5)

    def fit(self, sums: Array) -> Array:
        """Per cell the fit of values that have these sums over the reports of each cell, and are 0 for all others."""
        return np.asarray(self._solved @ (self._members.T @ (self.weights * sums)))


@dataclass(frozen=True, eq=False)
class Weighed:
    """What cells report on a question, a report counting as its cell's weight; there must be one.

    ``raked`` is there where the weights come from raking, with the same cells.
    """

    cells: Sequence[tuple[float, Evidence]]
    raked: Raked | None = None

    @cached_property
    def weights(self) -> Array:
        """Relative to the heaviest, so that no square of a weight is too small for a float."""
        each = np.array([weight for weight, _ in self.cells])
        return each / (each.max() or 1.0)

    def evidence(self, surer: float = 1.0) -> Evidence:
        """The evidence of all cells, so many times as certain as it is where variance is the same in all cells.

        There, n reports of a part are as certain as (sum of w)^2 / (sum of w^2) without weights. As that does not look
        at the answers, parts are pooled with the same weights whatever is estimated.
        """
        first = self.cells[0][1]
        items = tuple(
            tuple(self._scaled(i, j, heard, surer) for j, heard in enumerate(item))
            for i, item in enumerate(first.items)
        )
        parts = {heard.part: Counted(*heard[:3]) for item in items for heard in item}
        return Evidence(first.question, self.even * surer, items, tuple(parts.values()))

    @property
    def _answers(self) -> Array:
        return np.array([evidence.answers for _, evidence in self.cells], dtype=float)

    @property
    def reports(self) -> float:
        """The answers that count."""
        return float(self._answers[self.weights > 0].sum())

    @property
    def even(self) -> float:
        """As many answers without weights would be as certain, where variance is the same in all cells."""
        return _kish(self.weights, self._answers)

    def _column(self, item: int, place: int) -> tuple[Array, Array]:
        """What a part has reported of an item: counts and reports, a row per cell."""
        heard = [evidence.items[item][place] for _, evidence in self.cells]
        return np.array([each.counts for each in heard], dtype=float), np.array([each.n for each in heard], dtype=float)

    def _scaled(self, item: int, place: int, heard: Heard, surer: float) -> Heard:
        counts, n = self._column(item, place)
        if not (total := float(self.weights @ n)):
            return heard._replace(counts=[0.0] * len(heard.counts), n=0.0)
        effective = _kish(self.weights, n) * surer
        rates = np.minimum(self.weights @ counts / total, 1.0)
        return heard._replace(counts=(rates * effective).tolist(), n=effective)

    def surer(self, number: Number) -> float:
        """How many times as certain this number is as it would be if variance were the same in all cells.

        Of several parts, each with a weight in proportion to its effective reports there, it is the harmonic mean.
        """
        item, signs, even, own = max(number.item, 0), self._signs(number), 0.0, 0.0
        for j, heard in enumerate(self.cells[0][1].items[item]):
            counts, n = self._column(item, j)
            if self.weights @ n:
                size = _kish(self.weights, n)
                even += size
                own += size**2 / self._effective(self._sums(number, heard, signs, counts, n), n)
        return even / own if own else 1.0

    def certain(self, number: Number) -> Evidence:
        """The evidence of all cells, as certain as this number is."""
        surer = float(f"{self.surer(number):.12g}")  # of yes and no it is the same but for rounding
        if surer not in self._certain:
            self._certain[surer] = self.evidence(surer)
        return self._certain[surer]

    @cached_property
    def _certain(self) -> dict[float, Evidence]:
        return {}

    def members(self, members: Array, everybody: Array) -> Supported:
        """How many of all belong to a group, which is known of everyone: of as many as would be as certain without
        weights. Both are given cell by cell.
        """
        if not (total := float(self.weights @ everybody)):
            return Supported(CLEAR, 0.0, 0.0)
        effective = self._effective(_Sums(members, members, 0.0, 1.0), everybody)
        return Supported(CLEAR, effective * float(self.weights @ members) / total, effective)

    def deff(self, number: Number, surer: float) -> float | None:
        """The design effect of the weights on this number: reports over effective ones; None where there are none."""
        item = max(number.item, 0)
        sizes = [self._column(item, j)[1] for j in range(len(self.cells[0][1].items[item]))]
        effective = sum(_kish(self.weights, n) for n in sizes) * surer
        return sum(float(n[self.weights > 0].sum()) for n in sizes) / effective if effective else None

    def _signs(self, number: Number) -> Array:
        """Those of the number or, of a ratio R, of what has the mean 0: numerator minus R times denominator."""
        signs = np.array(number.signs)
        if number.among is None:
            return signs
        shares = pool(self._plain.items[number.item])
        among = np.zeros(len(signs))
        among[[*number.among]] = 1.0
        total = 0.0 if shares is None else float(among @ shares.unbiased)
        return signs - among * (float(signs @ shares.unbiased) / total if shares and total > 0 else 0.0)

    @cached_property
    def _plain(self) -> Evidence:
        return self.evidence()

    def _sums(self, number: Number, heard: Heard, signs: Array, counts: Array, n: Array) -> _Sums:
        question = self.cells[0][1].question
        if question.asks_mean or self._plain.is_scored:
            if question.asks_mean:
                scores = mean_scores(heard.channel, question.is_continuous)
                values, least = np.array(scores.values), scores.least
            else:
                values, least = signs @ np.array([each.values for each in share_scores(heard.channel)]), 0.0
            return _Sums(counts @ values, counts @ values**2, least, float(np.ptp(values)))
        sets = (heard.shown, not_shown(heard)) if number.item == APPLIES else heard.owned
        rule = support(heard.channel)
        y = np.array([counts[:, list(paths)].sum(axis=1) for paths in sets]).T
        shares = (y - n[:, None] * rule.q * np.array([len(paths) for paths in sets])) / rule.gap
        # E[(a'z)^2] is linear in the shares, so that its sum over reports follows from the counts.
        none, own = moments_of(chances(heard.channel), tuple(map(len, sets)))
        none, own = signs @ none @ signs, np.einsum("i,kij,j->k", signs, own, signs)
        widest = (max(float(signs.max()), 0.0) - min(float(signs.min()), 0.0)) / rule.gap
        return _Sums(shares @ signs, n * none + shares @ own, max(float(np.min(none + own - signs**2)), 0.0), widest)

    def _effective(self, sums: _Sums, n: Array) -> float:
        """Effective reports: the variance of one over that of the weighted mean."""
        weights, total = self.weights, float(self.weights @ n)
        centre = float(weights @ sums.first) / total
        first = sums.first - centre * n
        squares = sums.second - 2 * centre * sums.first + centre**2 * n
        one = max(float(weights @ squares) / total, sums.least)
        if one <= 1e-12 * sums.widest**2:
            return _kish(weights, n)  # all agree, which shows no variance: the weights alone decide
        spread, known = weights**2 * squares, 0.0
        if self.raked is not None:
            spread, known = self._residual(self.raked, first, squares, n)
        for alike in _classes(weights, n):
            seen, heavy = float(spread[alike].sum()), float(weights[alike] ** 2 @ n[alike])
            # A few reports may show little variance by chance. The fewer differ, the more could have: 3 where none do,
            # as many as miss 5% of the time; but no more than among everyone.
            unit = heavy / float(n[alike].sum()) * sums.widest**2
            could = unit * (3 + (1 - 3 / FEW) * seen / unit)
            known += max(seen, heavy * sums.least, min(heavy * one, could))
        return one * total**2 / known

    def _residual(self, raked: Raked, sums: Array, squares: Array, n: Array) -> tuple[Array, float]:
        """Per cell the weighted squares that the groups do not explain; and those of people who report nothing."""
        fit = raked.fit(sums)
        own = squares - 2 * fit * sums + n * fit**2
        return self.weights**2 * own / raked.left, float(self.weights**2 @ ((raked.sizes - n) * fit**2))


class _Sums(NamedTuple):
    """Per cell the sum of the values z of its reports and that of their squares; the least variance that the channel's
    noise leaves, and how far apart two values can be at most.
    """

    first: Array
    second: Array
    least: float
    widest: float


def _kish(weights: Array, n: Array) -> float:
    """As many reports without weights would be as certain, where variance is the same in all cells [3]."""
    squares = float(weights**2 @ n)
    return float(weights @ n) ** 2 / squares if squares else 0.0


def _classes(weights: Array, n: Array) -> list[Array]:
    """The cells whose weights differ by less than a factor of two, in each class."""
    used = np.flatnonzero((weights > 0) & (n > 0))
    numbers = np.floor(np.log2(weights[used]))
    return [used[numbers == each] for each in np.unique(numbers)]
