"""Cross-tabs of a segment, which is sent in the clear, by a question: from the evidence of each of its groups.

    crosstab_segment(segment, codes, sizes, groups)
    weighted_segment(segment, codes, groups, everybody, raked)

The respondents of two groups are different people. A cell is the share w_g of its group times the share s_g of the
answer in it; its share in the group is s_g itself, and that of the group among all who gave the answer is
R = w_g s_g / (sum over all groups h of w_h s_h).

[1] Fieller 1954, J. R. Stat. Soc. B 16.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import msgspec
import numpy as np

from .crosstab import FEWEST, ONE_VALUE, TOO_FEW, Crosstab, Independence, Within, within
from .evidence import Array, Evidence, Pooled
from .intervals import CLEAR, USUAL, Aim, Raw, Supported, central_share, clip, share_limits, share_of_support
from .joint import Item, Reported, Table, by_row, items_of, joint_share, of_all, rarer, totals_of, within_lines
from .margins import keep_margins
from .ratios import BEYOND, Tested
from .shares import TOO_NOISY, Share, project, too_noisy
from .weights import Raked, Weighed


class Layer(NamedTuple):
    """Submissions of the same weight: how many they are, and what they report on the question."""

    weight: float
    submissions: int
    evidence: Evidence


def crosstab_segment(
    segment: str, codes: Sequence[str], sizes: Sequence[int], groups: Sequence[Evidence], aim: Aim = USUAL
) -> Crosstab:
    """A segment by a question, from the submissions (``sizes``) and the evidence of each of the segment's groups."""
    layers = [[Layer(1.0, size, evidence)] for size, evidence in zip(sizes, groups, strict=True)]
    items = tuple(
        tuple(heard for evidence in groups for heard in evidence.items[i]) for i in range(len(groups[0].items))
    )
    everybody = Evidence(groups[0].question, sum(each.answers for each in groups), items, ())
    return weighted_segment(segment, codes, layers, [Layer(1.0, sum(sizes), everybody)], None, aim)


def weighted_segment(
    segment: str,
    codes: Sequence[str],
    groups: Sequence[Sequence[Layer]],
    everybody: Sequence[Layer],
    raked: Raked | None,
    aim: Aim = USUAL,
) -> Crosstab:
    """The same where reports have weights: the layers of each group, and of all, have the same weights."""
    weights, question = [layer.weight for layer in everybody], everybody[0].evidence.question
    sizes = _group_sizes(groups, everybody, raked)
    rows = [_group_share(code, size, aim) for code, size in zip(codes, sizes, strict=True)]
    report = partial(Reported, question, weights, raked=raked)
    tables = []
    for number, item in enumerate(items_of(everybody[0].evidence)):

        def reported(layers: Sequence[Layer], number: int = number) -> Reported:
            return report([items_of(layer.evidence)[number].whole() for layer in layers])

        tables.append(_by_group(rows, sizes, item, [*map(reported, groups)], reported(everybody), aim))
    return Crosstab(
        rows=segment,
        columns=question.id,
        submissions=sum(layer.submissions for layer in everybody),
        confidence=aim.confidence,
        row_totals=rows,
        column_totals=[share for table in tables for share in table.columns],
        cells=by_row([tables]),
        independence=of_all([table.independence for table in tables]),
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
        cells=[
            msgspec.structs.replace(
                cell, row=cell.column, column=cell.row, of_row=cell.of_column, of_column=cell.of_row
            )
            for cell in cells
        ],
    )


def _group_sizes(groups: Sequence[Sequence[Layer]], everybody: Sequence[Layer], raked: Raked | None) -> list[Supported]:
    """How many of all submissions belong to each group: with weights, of as many as would be as certain."""
    every = np.array([layer.submissions for layer in everybody], dtype=float)
    members = [np.array([layer.submissions for layer in layers], dtype=float) for layers in groups]
    if len(everybody) == 1:
        return [Supported(CLEAR, float(each[0]), float(every[0])) for each in members]
    weighed = Weighed([(layer.weight, layer.evidence) for layer in everybody], raked)
    return [weighed.members(each, every) for each in members]


def _group_share(code: str, size: Supported, aim: Aim) -> Share:
    if not size.n:
        return Share(code, None, None, None, 0.0, 1.0, TOO_NOISY)
    raw = share_of_support(*size, aim)
    return Share(code, raw.unbiased, *raw, too_noisy(raw.high - raw.low, 1.0))


def _by_group(
    rows: list[Share],
    sizes: Sequence[Supported],
    item: Item,
    groups: Sequence[Reported],
    everybody: Reported,
    aim: Aim,
) -> Table:
    columns, places = totals_of(everybody, item.codes, aim), range(len(item.codes))
    raw = [
        [_in_group(row, group.shares(place), place, aim) for place in places]
        for row, group in zip(rows, groups, strict=True)
    ]
    unbiased = np.array([[0.0 if each is None else each.unbiased for each in line] for line in raw])
    estimate = np.clip(unbiased, 0.0, 1.0)
    across: list[Within | None] = [None] * estimate.size
    if all(each is not None for line in raw for each in line):
        wanted = [np.array([share.estimate for share in each], dtype=float) for each in (rows, columns)]
        estimate = keep_margins(unbiased, *wanted)
        down = [_among_groups(place, sizes, groups, everybody, aim) for place in places]
        across = [*within_lines([each for line in zip(*down, strict=True) for each in line], estimate, 0)]
    own = [_own_shares(group, len(places), aim) for group in groups]
    lines = zip(rows, raw, estimate.tolist(), own, np.array(across, object).reshape(estimate.shape), strict=True)
    cells = [
        [joint_share(row.code, code, *each) for code, *each in zip(item.codes, *numbers, strict=True)]
        for row, *numbers in lines
    ]
    known = [shares for group in groups if (shares := group.shares()) is not None]
    n = round(sum(group.n for group in groups))
    return Table(n, rows, columns[item.shown], [line[item.shown] for line in cells], _same_shares(known, aim))


def _own_shares(group: Reported, number: int, aim: Aim) -> list[Within]:
    """The shares within a group: those of its own estimates."""
    shares = group.shares()
    if shares is None:
        return [within(None, None)] * number
    estimates = project(shares.unbiased.tolist())
    return [within(group.share(place, aim), estimate) for place, estimate in enumerate(estimates)]


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


# --- the groups of those who gave an answer ----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Groups(Tested):
    """The ratios R of all groups for one answer, as in ``ratios``: a class is a group, with u_h = w_h s_h.

    T = sum of c_h u_h with c_h = 1[h = g] - R. Of m_h reports the share s_h has the variance V_h(s_h)/m_h, and the w_h
    those of a multinomial of n, so that with s_h = u_h/w_h

        Var T = sum of c_h^2 (w_h^2 V_h(s_h)/m_h + w_h s_h^2/n)  -  T^2/n,

    which in u_h is none_h + own_h u_h - square_h u_h^2.
    """

    none: Array
    own: Array
    square: Array
    most: Array  # w_h
    n: float

    def statistic(self, ratio: Array) -> tuple[Array, Array]:
        """At the shares nearest to the unbiased ones on which T vanishes."""
        c = self.gains - ratio[..., None]
        value = c @ self.unbiased
        pull = c * self._variances(np.clip(self.unbiased, 0.0, self.most))
        spread = np.maximum(np.sum(c * pull, axis=-1), 1e-300)
        under = np.clip(self.unbiased - pull * (value / spread)[..., None], 0.0, self.most)
        variance = np.sum(c * c * self._variances(under), axis=-1) - np.sum(c * under, axis=-1) ** 2 / self.n
        return value, np.maximum(variance, 1e-300)

    def _variances(self, shares: Array) -> Array:
        return np.asarray(self.none + self.own * shares - self.square * shares**2)


def _among_groups(
    place: int, sizes: Sequence[Supported], groups: Sequence[Reported], everybody: Reported, aim: Aim
) -> list[Raw | None]:
    """The share of each group among all who gave this answer [1]. Where these could be nobody, anything is possible."""
    pooled, whole = [group.shares(place) for group in groups], everybody.shares(place)
    assert whole is not None
    known = [each.together([place]) for each in pooled if each is not None]
    w = np.array([size.y / size.n for size in sizes])
    n, m = float(min(size.n for size in sizes)), np.array([each.n for each in known])
    v1, v0 = (np.array([getattr(each.rule, name) for each in known]) for name in ("v1", "v0"))
    gap = np.array([each.rule.gap for each in known])
    seen = np.array([(each.y / each.n - each.rule.q) / each.rule.gap for each in known])
    f = np.array([aim.sampling(size) for size in m])
    tested = _Groups(
        unbiased=w * seen,
        gains=np.eye(len(w)),
        step=w / (m * gap),
        none=w * w * v0 / m,
        own=w * (f + v1 - v0) / m,
        square=f * (1 / m - 1 / (w * n)),
        most=w,
        n=n / float(f.max()),
    )
    total = float(tested.unbiased.sum())
    if total <= 0:
        return [None] * len(w)
    unbiased = tested.unbiased / total
    start = np.clip(unbiased, 0.0, 1.0)
    errors = np.sqrt(tested.statistic(start)[1]) / total
    limits = np.array([np.zeros(len(w)), np.ones(len(w))])
    if share_limits(*whole.together([place]), aim)[0] > 0:
        limits = np.clip(tested.limits(start, float(aim.errors(float(m.sum()))), (-BEYOND, 1 + BEYOND)), 0.0, 1.0)
    return [Raw(*map(float, each)) for each in zip(unbiased, errors, *limits, strict=True)]


# --- the same in all groups --------------------------------------------------------------------------------------


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
    expected = np.array([rarer(each, place, share) for each in groups for place, share in enumerate(likely.tolist())])
    if expected.min() < 1 or np.mean(expected < FEWEST) > 0.2:
        return Independence(statistic, freedom, None, TOO_FEW)
    return Independence(statistic, freedom, aim.p_value(statistic, freedom, n))
