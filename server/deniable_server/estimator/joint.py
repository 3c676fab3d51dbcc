"""Cross-tabs from the counts alone, of two questions that share a part (``by_group`` has those of a segment).

    crosstab_questions(rows, columns)                       # the evidence of both; ``share_a_part`` says whether it can
    weighted_questions(layers, raked)                       # the same with a weight for each combination of groups

A pair of answers owns the paths that both own, so that its share is one of a part's, with the same intervals; its share
in a row or a column is a ratio of two sums from the same reports (``ratios``). People whom a follow-up is not asked are
a category of their own. Of a multi_choice each option is a table of its own (no and yes by the other), of which the row
or column of yes is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from deniable_protocol import Question

from .crosstab import FEWEST, TOO_FEW, Crosstab, Independence, JointShare, Within, within
from .evidence import Array, Evidence, Heard, Paths, Pooled, not_shown, pool
from .intervals import USUAL, Aim, Raw, share_of_support
from .margins import keep_margins
from .ratios import ratios_among
from .shares import TOO_NOISY, Share, project, too_noisy
from .weights import Number, Raked, Weighed

NOT_ASKED = "(not asked)"
NEVER_TOGETHER = "some of these answers exclude each other: the two depend on each other"
EACH_OPTION = "the smallest p-value of the options, times their number"


class Reported:
    """What was reported of an item, or of two together: of each weight, with the paths of every category as ``owned``.

    Shares from weighted reports are as certain as the number is that they are asked for (``weights``).
    """

    def __init__(
        self,
        question: Question,
        weights: Sequence[float],
        heard: Sequence[Sequence[Heard]],
        raked: Raked | None = None,
    ) -> None:
        self.n = sum(each.n for layer in heard for each in layer)
        self._plain, self._weighed = pool(heard[0]), None
        if len(weights) > 1:
            each = [Evidence(question, sum(one.n for one in layer), (tuple(layer),), ()) for layer in heard]
            self._weighed = Weighed([*zip(weights, each, strict=True)], raked)
            self._plain = pool(self._weighed.evidence().items[0])
        self._known: dict[Evidence, Pooled | None] = {}

    def shares(self, place: int | None = None, among: Sequence[int] | None = None) -> Pooled | None:
        """The shares of all categories, for the share of this one, among those of the others in ``among``."""
        if self._weighed is None or self._plain is None or place is None:
            return self._plain
        signs = tuple(float(place == j) for j in range(len(self._plain.unbiased)))
        number = Number(0, signs, None if among is None else tuple(among))
        certain = self._weighed.certain(number)
        if certain not in self._known:
            self._known[certain] = pool(certain.items[0])
        return self._known[certain]

    def share(self, place: int, aim: Aim) -> Raw | None:
        """The share of one category, of all people."""
        shares = self.shares(place)
        return None if shares is None else share_of_support(*shares.together([place]), aim)


class Item(NamedTuple):
    """A question, or an option of a multi_choice: its categories in reading order, and what was heard of it."""

    codes: tuple[str, ...]
    order: tuple[int, ...]
    heard: tuple[Heard, ...]
    shown: slice  # the categories that are shown: of an option, yes

    def sets(self, heard: Heard) -> list[Paths]:
        sets = [heard.owned[place] for place in self.order]
        return [*sets, not_shown(heard)] if len(self.codes) > len(sets) else sets

    def whole(self) -> tuple[Heard, ...]:
        """What was heard, by category."""
        return tuple(heard._replace(owned=tuple(self.sets(heard))) for heard in self.heard)

    def crossed(self, other: Item) -> tuple[Heard, ...]:
        """What was heard of both together, by pair of categories."""
        theirs = {heard.part: heard for heard in other.heard}
        found = []
        for heard in self.heard:
            if heard.part in theirs:
                pairs = product(self.sets(heard), other.sets(theirs[heard.part]))
                found.append(heard._replace(owned=tuple(_both(a, b) for a, b in pairs)))
        return tuple(found)


def _both(one: Paths, two: Paths) -> Paths:
    return tuple(path for path in one if path in two)


def items_of(evidence: Evidence) -> list[Item]:
    """The question itself, or each option of a multi_choice."""
    question, rest = evidence.question, (NOT_ASKED,) if evidence.is_conditional else ()
    if evidence.is_exclusive:
        order = tuple(question.reading_order)
        codes = (*(question.codes[j] for j in order), *rest)
        return [Item(codes, order, evidence.items[0], slice(0, len(codes)))]
    return [
        Item((code, f"not {code}", *rest), (1, 0), heard, slice(0, 1))
        for code, heard in zip(question.codes, evidence.items, strict=True)
    ]


def share_a_part(rows: Evidence, columns: Evidence) -> bool:
    """Whether some part reports on both: of a multi_choice, on any of its options."""
    return any(row.crossed(column) for row, column in product(items_of(rows), items_of(columns)))


# --- two questions -----------------------------------------------------------------------------------------------


def crosstab_questions(rows: Evidence, columns: Evidence, aim: Aim = USUAL) -> Crosstab:
    """The debiased table of two questions that share a part, and the test of independence.

    ``submissions`` are those that report on both; of a multi_choice, on that of its options that most report on. Of
    options that share no part with the other question nothing is known.
    """
    return weighted_questions([(1.0, rows, columns)], None, aim)


def weighted_questions(
    layers: Sequence[tuple[float, Evidence, Evidence]], raked: Raked | None, aim: Aim = USUAL
) -> Crosstab:
    """The same where reports have weights: a weight each, and what the reports of this weight say of both."""
    weights, (rows, columns) = [layer[0] for layer in layers], layers[0][1:]
    down = [*zip(*(items_of(row) for _, row, _ in layers), strict=True)]
    across = [*zip(*(items_of(column) for _, _, column in layers), strict=True)]
    report = partial(Reported, rows.question, weights, raked=raked)
    tables = [[_table(row, column, report, aim) for column in across] for row in down]
    return Crosstab(
        rows=rows.question.id,
        columns=columns.question.id,
        submissions=max(table.submissions for line in tables for table in line),
        confidence=aim.confidence,
        row_totals=[share for line in tables for share in line[0].rows],
        column_totals=[share for table in tables[0] for share in table.columns],
        cells=by_row(tables),
        independence=of_all([table.independence for line in tables for table in line]),
    )


class Table(NamedTuple):
    """Of two items, or of a segment and an item."""

    submissions: int
    rows: list[Share]
    columns: list[Share]
    cells: list[list[JointShare]]
    independence: Independence


def by_row(tables: list[list[Table]]) -> list[JointShare]:
    """The cells of tables that lie next to and below each other."""
    lines = [zip(*(table.cells for table in line), strict=True) for line in tables]
    return [cell for line in lines for row in line for cells in row for cell in cells]


def of_all(tests: list[Independence]) -> Independence:
    """Bonferroni's bound, which needs nothing of how the tests depend on each other."""
    if len(tests) == 1:
        return tests[0]
    known = [(test.p_value, test) for test in tests if test.p_value is not None]
    if len(known) < 2:
        return known[0][1] if known else tests[0]
    p, test = min(known, key=lambda each: each[0])
    return msgspec.structs.replace(test, p_value=min(1.0, p * len(known)), note=EACH_OPTION)


def _table(rows: Sequence[Item], columns: Sequence[Item], report: Callable[..., Reported], aim: Aim) -> Table:
    """Of two items, each of every weight."""
    (row, column), shape = (rows[0], columns[0]), (len(rows[0].codes), len(columns[0].codes))
    both = report([one.crossed(two) for one, two in zip(rows, columns, strict=True)])
    pooled = both.shares()
    totals = [totals_of(report([each.whole() for each in items]), items[0].codes, aim) for items in (rows, columns)]
    if pooled is None:
        cells = [[joint_share(a, b, None, 0.0) for b in column.codes[column.shown]] for a in row.codes[row.shown]]
        return Table(0, totals[0][row.shown], totals[1][column.shown], cells, Independence(None, 0, None, TOO_FEW))
    unbiased, possible = pooled.unbiased.reshape(shape), np.array(pooled.parts[0].sizes).reshape(shape) > 0
    raw = [both.share(place, aim) if there else Raw(0.0, 0.0, 0.0, 0.0) for place, there in enumerate(possible.ravel())]
    if possible.all():
        wanted = [np.array([share.estimate for share in each], dtype=float) for each in totals]
        estimate = keep_margins(unbiased, *wanted)
    else:
        # Margins from other parts can contradict pairs that cannot be: here they are those of the table itself.
        estimate = np.zeros(shape)
        estimate[possible] = project(unbiased[possible].tolist())
        totals = [_moved(each, sums) for each, sums in zip(totals, (estimate.sum(1), estimate.sum(0)), strict=True)]
    inner = [within_lines(_within(both, possible, axis, aim), estimate, axis) for axis in (1, 0)]
    numbers = iter(zip(raw, estimate.ravel().tolist(), *inner, strict=True))
    cells = [[joint_share(a, b, *next(numbers)) for b in column.codes] for a in row.codes]
    return Table(
        submissions=round(both.n),
        rows=totals[0][row.shown],
        columns=totals[1][column.shown],
        cells=[line[column.shown] for line in cells[row.shown]],
        independence=_independence(pooled, shape, aim)
        if possible.all()
        else Independence(None, 0, None, NEVER_TOGETHER),
    )


def _within(both: Reported, possible: npt.NDArray[np.bool_], axis: int, aim: Aim) -> list[Raw | None]:
    """The share of each cell in its row (axis 1) or its column (axis 0), cell by cell.

    Where answers exclude each other it is 0, and where no other answer is possible 1.
    """
    places = np.arange(possible.size).reshape(possible.shape)
    found: list[Raw | None] = [Raw(0.0, 0.0, 0.0, 0.0)] * possible.size
    asked: dict[int, tuple[Pooled, list[tuple[int, list[int]]]]] = {}  # with the same certainty, all at once
    for line, there in zip(np.moveaxis(places, axis, 1), np.moveaxis(possible, axis, 1), strict=True):
        among = line[there].tolist()
        for place in among:
            if len(among) == 1:
                found[place] = Raw(1.0, 0.0, 1.0, 1.0)
            elif (shares := both.shares(place, among)) is not None:
                asked.setdefault(id(shares), (shares, []))[1].append((place, among))
    for shares, wanted in asked.values():
        for (place, _), ratio in zip(
            wanted, ratios_among(shares, [([place], among) for place, among in wanted], aim), strict=True
        ):
            found[place] = ratio.raw
    return found


def within_lines(raw: Sequence[Raw | None], estimate: Array, axis: int) -> list[Within]:
    """The cells of a table as shares of their rows (axis 1) or columns (axis 0), which sum to 1."""
    sums = np.broadcast_to(estimate.sum(axis=axis, keepdims=True), estimate.shape)
    lines = zip(raw, estimate.ravel().tolist(), sums.ravel().tolist(), strict=True)
    return [within(each, share / total if total else None) for each, share, total in lines]


def joint_share(
    row: str,
    column: str,
    raw: Raw | None,
    estimate: float,
    of_row: Within | None = None,
    of_column: Within | None = None,
) -> JointShare:
    of_row, of_column = of_row or within(None, None), of_column or within(None, None)
    if raw is None:
        return JointShare(row, column, None, None, None, 0.0, 1.0, TOO_NOISY, of_row, of_column)
    low, high = min(raw.low, estimate), max(raw.high, estimate)
    note = too_noisy(high - low, 1.0)
    return JointShare(row, column, estimate, raw.unbiased, raw.standard_error, low, high, note, of_row, of_column)


def totals_of(reported: Reported, codes: Sequence[str], aim: Aim) -> list[Share]:
    """The shares of all categories among all people, from all parts that report on the item."""
    pooled = reported.shares()
    if pooled is None:
        return [Share(code, None, None, None, 0.0, 1.0, TOO_NOISY) for code in codes]
    raw = [reported.share(place, aim) for place in range(len(codes))]
    return [_total(*each) for each in zip(codes, project(pooled.unbiased.tolist()), raw, strict=True)]


def _total(code: str, estimate: float, raw: Raw | None) -> Share:
    assert raw is not None
    low, high = min(raw.low, estimate), max(raw.high, estimate)
    return Share(code, estimate, raw.unbiased, raw.standard_error, low, high, too_noisy(high - low, 1.0))


def _moved(totals: list[Share], sums: Array) -> list[Share]:
    """These totals with other estimates."""
    return [
        msgspec.structs.replace(share, estimate=float(sum_), low=min(share.low, sum_), high=max(share.high, sum_))
        for share, sum_ in zip(totals, sums.tolist(), strict=True)
    ]


def _independence(pooled: Pooled, shape: tuple[int, int], aim: Aim) -> Independence:
    """The test that every pair has the product of its shares.

    The unbiased cells u_jl minus the products of their margins are, to first order, the mean of
    (1[row = j] - r_j)(1[column = l] - c_l), decoded; their covariance is that of the reports at shares r_j c_l. The
    noise of a joint report is no product, so that Pearson's test of the noisy table would not keep its size.
    """
    unbiased = pooled.unbiased.reshape(shape)
    rows, columns = unbiased.sum(axis=1), unbiased.sum(axis=0)
    freedom = (shape[0] - 1) * (shape[1] - 1)
    excess = (unbiased - np.outer(rows, columns))[:-1, :-1].ravel()
    likely = [np.array(project(each.tolist())) for each in (rows, columns)]
    shares = np.outer(*likely).ravel()
    one, two = (np.eye(len(each))[:-1] - each[:-1, None] for each in likely)
    gradient = np.einsum("jx,ly->jlxy", one, two).reshape(freedom, -1)
    spread = gradient @ pooled.covariance(shares, aim) @ gradient.T
    statistic = float(excess @ np.linalg.solve(spread, excess))
    expected = [rarer(pooled, place, float(share)) for place, share in enumerate(shares)]
    if min(expected) < 1 or np.mean(np.array(expected) < FEWEST) > 0.2:
        return Independence(statistic, freedom, None, TOO_FEW)
    return Independence(statistic, freedom, aim.p_value(statistic, freedom, pooled.n))


def rarer(pooled: Pooled, place: int, share: float) -> float:
    """How many reports of the rarer kind, supporting this answer or not, are to be expected."""
    rule, _, n = pooled.together([place])
    rate = rule.q + share * rule.gap
    return n * min(rate, 1 - rate)
