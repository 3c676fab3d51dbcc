"""The geometry of charts that compare: groups, their differences, and two questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar, Literal, TypeAlias

from msgspec import UnsetType

from deniable_protocol import Question
from deniable_server.analysis import rounding
from deniable_server.analysis.crosstab import SurveyCrosstab
from deniable_server.analysis.rounding import mean_in_units, share_in_percent, short_text, signed
from deniable_server.estimator import QuestionEstimate, Share
from deniable_server.estimator.comparison import Difference, Level
from deniable_server.estimator.crosstab import Crosstab, JointShare, Within
from deniable_server.wording import answer_texts, apart, independence_in_words, is_noisy, merged_text, probability, said

from . import sentences
from .charts import (
    HEADS,
    UNKNOWN,
    Axis,
    ChartRow,
    Empty,
    NumberTable,
    Tick,
    cells,
    common_axis,
    label,
    limits_at,
    mean_cells,
    mean_mark,
    scale_axis,
    share_cells,
    share_row,
    tenth,
    unit_of,
)

SHAPES = 4
"""Marks that can be told apart without colour; with more groups they come again."""
HEATS = 9
"""The hottest of the classes heat-0, heat-1 and so on."""


@dataclass(frozen=True)
class Block:
    """Lines that belong together, and what they are about."""

    label: str
    title: str
    rows: tuple[ChartRow, ...]


@dataclass(frozen=True)
class Dots:
    """Blocks of dots with whiskers on one axis; around zero where they are differences."""

    kind: ClassVar[str] = "dots"
    about: str
    axis: Axis
    blocks: tuple[Block, ...]
    tables: tuple[NumberTable, ...]
    around_zero: bool = False
    note: str = ""


# --- groups ------------------------------------------------------------------------------------------------------


def groups_chart(
    question: Question,
    groups: Sequence[tuple[str, QuestionEstimate]],
    confidence: float = 0.95,
    axis: Axis | None = None,
) -> Dots | Empty:
    """Per option, or for the mean, a line for each group. Shares are drawn on this axis, or on one of their own."""
    if not any(estimate.answers for _, estimate in groups):
        return Empty()
    if question.asks_mean:
        return _mean_groups(question, groups, confidence)
    texts = answer_texts(question)
    axis = axis or common_axis([estimate for _, estimate in groups])
    blocks, lines = [], []
    for i, option in enumerate(groups[0][1].shares):
        shares = [(name, estimate.shares[i]) for name, estimate in groups]
        rows = [share_row(name, share, axis, shape=j % SHAPES) for j, (name, share) in enumerate(shares)]
        blocks.append(Block(*label(texts[option.code]), tuple(rows)))
        lines += [(texts[option.code], (name, *share_cells(share))) for name, share in shares]
    heads = ("Answer", "Group", *HEADS)
    table = NumberTable(f"In percent; {limits_at(confidence)}", heads, tuple(lines))
    return Dots(f"Shares in {sentences.counted(len(groups), 'group')}", axis, tuple(blocks), (table,))


def _mean_groups(question: Question, groups: Sequence[tuple[str, QuestionEstimate]], confidence: float) -> Dots:
    axis, unit = scale_axis(question), unit_of(question)
    rows, lines = [], []
    for i, (name, estimate) in enumerate(groups):
        mean = estimate.mean
        assert mean is not None
        value, low, high = mean_in_units(question, mean).texts()
        limits = "" if mean.value is None else f"{low} to {high}"
        rows.append(ChartRow(*label(name), mean_mark(mean, axis), said(mean, value), limits, shape=i % SHAPES))
        lines.append((name, mean_cells(question, mean)))
    table = NumberTable(sentences.capitalized(limits_at(confidence)), ("Group", *HEADS), tuple(lines))
    block = Block(*label(f"Mean, {unit}" if unit else "Mean"), tuple(rows))
    return Dots(f"Means in {sentences.counted(len(groups), 'group')}", axis, (block,), (table,))


# --- differences -------------------------------------------------------------------------------------------------


def differences_chart(
    question: Question,
    differences: Sequence[Difference],
    names: Mapping[str, str],
    confidence: float = 0.95,
    scope: str = "",
) -> Dots | Empty:
    """A line for each difference, around zero, with both levels; a block for each pair of groups. ``scope``: what the
    numbers are of.
    """
    if all(row.estimate is None for row in differences):
        return Empty("Too few answers to compare.")
    texts, unit, means = answer_texts(question), unit_of(question), question.asks_mean
    scale = 1 if means else 100
    axis = zero_axis(max(max(abs(row.low), abs(row.high)) for row in differences), scale)
    pairs: dict[str, list[ChartRow]] = {}
    lines = []
    for row in differences:
        numbers = rounding.difference(row)
        value, low, high = numbers.signed()
        limits = "" if row.estimate is None else f"{low} to {high}"
        mark = axis.mark(None if is_noisy(row) else row.estimate, row.low, row.high)
        pair = " − ".join(apart(names.get(each, each)) for each in (row.first, row.second))
        answer = "Mean" if row.code is None else texts[row.code]
        levels = [_level(question, level) for level in row.levels or ()]
        extra = [" − ".join(text for text, _ in levels)]
        extra += [] if row.adjusted_p_value is None else [sentences.p_in_words(row.adjusted_p_value)]
        more = " · ".join(text for text in extra if text)
        pairs.setdefault(pair, []).append(ChartRow(*label(answer), mark, said(row, value), limits, extra=more))
        tests = [UNKNOWN if each is None else probability(each) for each in (row.p_value, row.adjusted_p_value)]
        inner = [each for _, texts in levels for each in texts]
        lines.append((pair, (answer, *cells(numbers, row.standard_error, scale), *tests, *inner)))
    what = (f"in {unit}" if unit else "in the question’s units") if means else "in percentage points"
    levels_heads = [f"{which}: {head.lower()}" for which in ("First", "Second") for head in HEADS[:3]]
    heads = ("Groups", "Answer", "Difference", *HEADS[1:], "p", "Adjusted p", *levels_heads)
    of = f". {scope}" if scope else ""
    return Dots(
        about=f"Differences {what}, first group minus second",
        axis=axis,
        blocks=tuple(Block(*label(pair), tuple(rows)) for pair, rows in pairs.items()),
        tables=(NumberTable(f"{sentences.capitalized(what)}; {limits_at(confidence)}{of}", heads, tuple(lines)),),
        around_zero=True,
        note=f"First group minus second, {what}. p: how often chance alone would give such a difference, allowing for "
        f"all that are shown{of}.",
    )


def _level(question: Question, level: Level) -> tuple[str, tuple[str, ...]]:
    """The share or the mean of one group: in a line, and for a table."""
    if question.asks_mean:
        numbers, unit = rounding.rounded(level.estimate, level.low, level.high, *question.range), ""
    else:
        numbers, unit = share_in_percent(level), "%"
    value, _, _ = numbers.texts()
    return said(level, f"{value}{unit}"), cells(numbers, None)[:3]


def zero_axis(furthest: float, scale: int) -> Axis:
    """As far below zero as above, to a round number that is not below this one."""
    far = Decimal(repr(furthest)) * scale
    if not far:
        far = Decimal(1)
    unit = Decimal(1).scaleb(far.adjusted())
    end = next(unit * step for step in (1, 2, 4, 6, 8, 10) if unit * step >= far)
    end = min(end, Decimal(100)) if scale == 100 else end
    texts = [signed(short_text(end * i / 2)) for i in range(-2, 3)]
    ticks = tuple(Tick(tenth(25.0 * i), text) for i, text in enumerate(texts))
    return Axis(-float(end / scale), float(end / scale), ticks)


# --- two questions -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class HeatCell:
    """A share in words, and how dark its cell is. Nothing that is too noisy to say is dark."""

    value: str
    limits: str
    heat: int


@dataclass(frozen=True)
class HeatMap:
    """A table of shares, with totals in its last column and line; it needs no other table."""

    kind: ClassVar[str] = "heat"
    about: str
    columns: tuple[str, ...]
    lines: tuple[tuple[str, tuple[HeatCell, ...], HeatCell], ...]
    totals: tuple[HeatCell, ...]
    note: str
    tables: tuple[NumberTable, ...] = ()


def crosstab_chart(
    result: Crosstab | SurveyCrosstab,
    row_texts: Mapping[str, str],
    column_texts: Mapping[str, str],
    row_title: str = "",
    column_title: str = "",
    *,
    anytime: bool = False,
    of: Of = "all",
    scope: str = "",
) -> HeatMap | Empty:
    """The pairs of answers as a heat map: as shares of all, of their row or of their column. ``scope``: what the
    numbers are of.
    """
    if not result.submissions:
        return Empty()
    shares = {(cell.row, cell.column): _of(cell, of) for cell in result.cells}
    known = [share.estimate for share in shares.values() if share.estimate is not None and not is_noisy(share)]
    top = max(known, default=0.0)
    lines = []
    for total in result.row_totals:
        inner = tuple(_cell(shares[total.code, column.code], top) for column in result.column_totals)
        lines.append((merged_text(row_texts, total.code), inner, WHOLE if of == "row" else _cell(total)))
    names = sentences.quoted(row_title or result.rows), sentences.quoted(column_title or result.columns)
    return HeatMap(
        about=f"{sentences.counted(result.submissions, 'respondent')} reported on both. Shares of {WHOSE[of]}"
        f"{'' if scope else f', with {100 * result.confidence:.4g}% intervals'}; cells with more colour are larger. "
        f"Rows: “{names[0]}”; columns: “{names[1]}”.{f' {scope}.' if scope else ''}",
        columns=tuple(merged_text(column_texts, column.code) for column in result.column_totals),
        lines=tuple(lines),
        totals=tuple(WHOLE if of == "column" else _cell(column) for column in result.column_totals),
        note=independence_in_words(result.independence, anytime=anytime) if of == "all" else "",
    )


Of: TypeAlias = Literal["all", "row", "column"]
WHOSE = {"all": "all", "row": "each row", "column": "each column"}
WHOLE = HeatCell("100%", "", 0)


def _of(cell: JointShare, of: Of) -> JointShare | Within:
    share = {"all": cell, "row": cell.of_row, "column": cell.of_column}[of]
    assert not isinstance(share, UnsetType)
    return share


def _cell(share: Share | JointShare | Within, top: float = 0.0) -> HeatCell:
    value, low, high = share_in_percent(share).texts()
    # Answers that exclude each other have no limits.
    limits = "" if share.estimate is None or not share.high else f"{low}–{high}%"
    if share.estimate is None or is_noisy(share):
        return HeatCell(said(share, ""), limits, 0)
    return HeatCell(f"{value}%", limits, round(HEATS * share.estimate / top) if top else 0)
