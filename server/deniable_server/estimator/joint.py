"""Cross-tabs from the counts alone: of two questions that share a part, and of a question by the groups of a segment.

    crosstab_questions(rows, columns)                       # the evidence of both; ``share_a_part`` says whether it can
    crosstab_segment(segment, codes, sizes, groups)         # the evidence of the question in each group

A pair of answers owns the paths that both own, so that its share is one of a part's, with the same intervals. People
whom a follow-up is not asked are a category of their own. Of a multi_choice each option is a table of its own (no and
yes by the other), of which the row or column of yes is shown.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import msgspec
import numpy as np

from .crosstab import FEWEST, ONE_VALUE, TOO_FEW, Crosstab, Independence, JointShare
from .evidence import Array, Evidence, Heard, Paths, Pooled, not_shown, pool_sets
from .intervals import CLEAR, USUAL, Aim, Raw, central_share, clip, share_of_support
from .margins import keep_margins
from .shares import TOO_NOISY, Share, project, too_noisy

NOT_ASKED = "(not asked)"
NEVER_TOGETHER = "some of these answers exclude each other: the two depend on each other"
EACH_OPTION = "the smallest p-value of the options, times their number"


class _Item(NamedTuple):
    """A question, or an option of a multi_choice: its categories in reading order, and what was heard of it."""

    codes: tuple[str, ...]
    order: tuple[int, ...]
    heard: tuple[Heard, ...]
    shown: slice  # the categories that are shown: of an option, yes

    def sets(self, heard: Heard) -> list[Paths]:
        sets = [heard.owned[place] for place in self.order]
        return [*sets, not_shown(heard)] if len(self.codes) > len(sets) else sets

    def totals(self) -> Pooled | None:
        return pool_sets([(heard, self.sets(heard)) for heard in self.heard])


def _items(evidence: Evidence) -> list[_Item]:
    question, rest = evidence.question, (NOT_ASKED,) if evidence.is_conditional else ()
    if evidence.is_exclusive:
        order = tuple(question.reading_order)
        codes = (*(question.codes[j] for j in order), *rest)
        return [_Item(codes, order, evidence.items[0], slice(0, len(codes)))]
    return [
        _Item((code, f"not {code}", *rest), (1, 0), heard, slice(0, 1))
        for code, heard in zip(question.codes, evidence.items, strict=True)
    ]


def share_a_part(rows: Evidence, columns: Evidence) -> bool:
    """Whether some part reports on both: of a multi_choice, on any of its options."""
    return any(_pairs(row, column) for row, column in product(_items(rows), _items(columns)))


def _pairs(row: _Item, column: _Item) -> list[tuple[Heard, Heard]]:
    theirs = {heard.part: heard for heard in column.heard}
    return [(heard, theirs[heard.part]) for heard in row.heard if heard.part in theirs]


# --- two questions -----------------------------------------------------------------------------------------------


def crosstab_questions(rows: Evidence, columns: Evidence, aim: Aim = USUAL) -> Crosstab:
    """The debiased table of two questions that share a part, and the test of independence.

    ``submissions`` are those that report on both; of a multi_choice, on that of its options that most report on. Of
    options that share no part with the other question nothing is known.
    """
    tables = [[_table(row, column, aim) for column in _items(columns)] for row in _items(rows)]
    return Crosstab(
        rows=rows.question.id,
        columns=columns.question.id,
        submissions=max(table.submissions for line in tables for table in line),
        confidence=aim.confidence,
        row_totals=[share for line in tables for share in line[0].rows],
        column_totals=[share for table in tables[0] for share in table.columns],
        cells=_by_row(tables),
        independence=_of_all([table.independence for line in tables for table in line]),
    )


class _Table(NamedTuple):
    submissions: int
    rows: list[Share]
    columns: list[Share]
    cells: list[list[JointShare]]
    independence: Independence


def _by_row(tables: list[list[_Table]]) -> list[JointShare]:
    """The cells of tables that lie next to and below each other."""
    lines = [zip(*(table.cells for table in line), strict=True) for line in tables]
    return [cell for line in lines for row in line for cells in row for cell in cells]


def _of_all(tests: list[Independence]) -> Independence:
    """Bonferroni's bound, which needs nothing of how the tests depend on each other."""
    if len(tests) == 1:
        return tests[0]
    known = [(test.p_value, test) for test in tests if test.p_value is not None]
    if len(known) < 2:
        return known[0][1] if known else tests[0]
    p, test = min(known, key=lambda each: each[0])
    return msgspec.structs.replace(test, p_value=min(1.0, p * len(known)), note=EACH_OPTION)


def _table(row: _Item, column: _Item, aim: Aim) -> _Table:
    pairs, shape = _pairs(row, column), (len(row.codes), len(column.codes))
    both = [(one, [_both(a, b) for a, b in product(row.sets(one), column.sets(two))]) for one, two in pairs]
    pooled, totals = pool_sets(both), [_totals(each, aim) for each in (row, column)]
    if pooled is None:
        cells = [[_cell(a, b, None, 0.0) for b in column.codes[column.shown]] for a in row.codes[row.shown]]
        return _Table(0, totals[0][row.shown], totals[1][column.shown], cells, Independence(None, 0, None, TOO_FEW))
    unbiased, possible = pooled.unbiased.reshape(shape), np.array(pooled.parts[0].sizes).reshape(shape) > 0
    raw = [
        share_of_support(*pooled.together([place]), aim) if there else Raw(0.0, 0.0, 0.0, 0.0)
        for place, there in enumerate(possible.ravel())
    ]
    if possible.all():
        wanted = [np.array([share.estimate for share in each], dtype=float) for each in totals]
        estimate = keep_margins(unbiased, *wanted)
    else:
        # Margins from other parts can contradict pairs that cannot be: here they are those of the table itself.
        estimate = np.zeros(shape)
        estimate[possible] = project(unbiased[possible].tolist())
        totals = [_moved(each, sums) for each, sums in zip(totals, (estimate.sum(1), estimate.sum(0)), strict=True)]
    numbers = iter(zip(raw, estimate.ravel().tolist(), strict=True))
    cells = [[_cell(a, b, *next(numbers)) for b in column.codes] for a in row.codes]
    return _Table(
        submissions=round(sum(part.n for part in pooled.parts)),
        rows=totals[0][row.shown],
        columns=totals[1][column.shown],
        cells=[line[column.shown] for line in cells[row.shown]],
        independence=_independence(pooled, shape, aim)
        if possible.all()
        else Independence(None, 0, None, NEVER_TOGETHER),
    )


def _both(one: Paths, two: Paths) -> Paths:
    return tuple(path for path in one if path in two)


def _cell(row: str, column: str, raw: Raw | None, estimate: float) -> JointShare:
    if raw is None:
        return JointShare(row, column, None, None, None, 0.0, 1.0, TOO_NOISY)
    low, high = min(raw.low, estimate), max(raw.high, estimate)
    return JointShare(row, column, estimate, raw.unbiased, raw.standard_error, low, high, too_noisy(high - low, 1.0))


def _totals(item: _Item, aim: Aim) -> list[Share]:
    """The shares of all categories among all people, from all parts that report on the item."""
    pooled = item.totals()
    if pooled is None:
        return [Share(code, None, None, None, 0.0, 1.0, TOO_NOISY) for code in item.codes]
    raw = [share_of_support(*pooled.together([place]), aim) for place in range(len(item.codes))]
    estimates = project(pooled.unbiased.tolist())
    return [_total(*each) for each in zip(item.codes, estimates, raw, strict=True)]


def _total(code: str, estimate: float, raw: Raw) -> Share:
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
    expected = [_rarer(pooled, place, float(share)) for place, share in enumerate(shares)]
    if min(expected) < 1 or np.mean(np.array(expected) < FEWEST) > 0.2:
        return Independence(statistic, freedom, None, TOO_FEW)
    return Independence(statistic, freedom, aim.p_value(statistic, freedom, pooled.n))


def _rarer(pooled: Pooled, place: int, share: float) -> float:
    """How many reports of the rarer kind, supporting this answer or not, are to be expected."""
    rule, _, n = pooled.together([place])
    rate = rule.q + share * rule.gap
    return n * min(rate, 1 - rate)


# --- a segment and a question ------------------------------------------------------------------------------------


def crosstab_segment(
    segment: str, codes: Sequence[str], sizes: Sequence[int], groups: Sequence[Evidence], aim: Aim = USUAL
) -> Crosstab:
    """A segment by a question, from the submissions (``sizes``) and the evidence of each of the segment's groups."""
    n = sum(sizes)
    rows = [_group_share(code, size, n, aim) for code, size in zip(codes, sizes, strict=True)]
    items = [*zip(*(_items(evidence) for evidence in groups), strict=True)]
    tables = [_by_group(rows, item, aim) for item in items]
    return Crosstab(
        rows=segment,
        columns=groups[0].question.id,
        submissions=n,
        confidence=aim.confidence,
        row_totals=rows,
        column_totals=[share for table in tables for share in table.columns],
        cells=_by_row([tables]),
        independence=_of_all([table.independence for table in tables]),
    )


def flipped(table: Crosstab) -> Crosstab:
    """The same with rows and columns exchanged."""
    width = len(table.column_totals)
    cells = [cell for column in range(width) for cell in table.cells[column::width]]
    return msgspec.structs.replace(
        table,
        rows=table.columns,
        columns=table.rows,
        row_totals=table.column_totals,
        column_totals=table.row_totals,
        cells=[msgspec.structs.replace(cell, row=cell.column, column=cell.row) for cell in cells],
    )


def _group_share(code: str, size: int, n: int, aim: Aim) -> Share:
    if not n:
        return Share(code, None, None, None, 0.0, 1.0, TOO_NOISY)
    raw = share_of_support(CLEAR, size, n, aim)
    return Share(code, raw.unbiased, *raw, too_noisy(raw.high - raw.low, 1.0))


def _by_group(rows: list[Share], items: Sequence[_Item], aim: Aim) -> _Table:
    pooled = [item.totals() for item in items]
    first = items[0]
    everybody = first._replace(heard=tuple(heard for item in items for heard in item.heard))
    columns = _totals(everybody, aim)
    raw = [
        [_in_group(row, shares, place, aim) for place in range(len(first.codes))]
        for row, shares in zip(rows, pooled, strict=True)
    ]
    unbiased = np.array([[0.0 if each is None else each.unbiased for each in line] for line in raw])
    estimate = np.clip(unbiased, 0.0, 1.0)
    if all(each is not None for line in raw for each in line):
        wanted = [np.array([share.estimate for share in each], dtype=float) for each in (rows, columns)]
        estimate = keep_margins(unbiased, *wanted)
    cells = [
        [_cell(row.code, code, *each) for code, each in zip(first.codes, zip(*pair, strict=True), strict=True)]
        for row, pair in zip(rows, zip(raw, estimate.tolist(), strict=True), strict=True)
    ]
    known = [shares for shares in pooled if shares is not None]
    n = round(sum(part.n for shares in known for part in shares.parts))
    return _Table(n, rows, columns[first.shown], [line[first.shown] for line in cells], _same_shares(known, aim))


def _in_group(row: Share, shares: Pooled | None, place: int, aim: Aim) -> Raw | None:
    """The share of the group times that of the answer in it.

    Limits recovered from those of both, as in ``mover``: what each contributes to the product, with the other at its
    estimate.
    """
    if shares is None or row.estimate is None or row.standard_error is None:
        return None
    own = central_share(*shares.together([place]), aim)
    share = clip(own.unbiased)
    assert own.standard_error is not None
    low = math.hypot(row.estimate * (share - own.low), share * (row.estimate - row.low))
    high = math.hypot(row.estimate * (own.high - share), share * (row.high - row.estimate))
    error = math.hypot(row.estimate * own.standard_error, share * row.standard_error)
    centre = row.estimate * share
    return Raw(row.estimate * own.unbiased, error, max(centre - low, 0.0), min(centre + high, 1.0))


def _same_shares(groups: list[Pooled], aim: Aim) -> Independence:
    """The test that the answers have the same shares in all groups.

    With u_g of covariance C_g at the shares of all, and m their mean weighted by C_g^-1, the sum of
    (u_g - m)' C_g^-1 (u_g - m) is chi-square.
    """
    if len(groups) < 2:
        return Independence(None, 0, None, ONE_VALUE if groups else TOO_FEW)
    n = sum(each.n for each in groups)
    mean = np.sum([each.n * each.unbiased for each in groups], axis=0) / n
    likely = np.array(project(mean.tolist()))
    seen = np.array([each.unbiased[:-1] for each in groups])
    precision = np.array([np.linalg.inv(each.covariance(likely, aim)[:-1, :-1]) for each in groups])
    common = np.linalg.solve(precision.sum(axis=0), np.einsum("gij,gj->i", precision, seen))
    statistic = float(np.einsum("gi,gij,gj->", seen - common, precision, seen - common))
    freedom = (len(groups) - 1) * (len(likely) - 1)
    expected = np.array([_rarer(each, place, share) for each in groups for place, share in enumerate(likely.tolist())])
    if expected.min() < 1 or np.mean(expected < FEWEST) > 0.2:
        return Independence(statistic, freedom, None, TOO_FEW)
    return Independence(statistic, freedom, aim.p_value(statistic, freedom, n))
