"""The geometry of charts: where bars, whiskers and columns lie. The macros in charts.html draw them.

Places are in percent of the plot's width, so that a chart fits a phone and a sheet of paper while its texts keep their
size. May not: know of HTTP, or contain HTML; texts are plain and escaped by the template.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar

import msgspec
from msgspec import UNSET

from deniable_protocol import Question, YesNo
from deniable_server.analysis.rounding import (
    Rounded,
    figure,
    mean_in_units,
    rounded,
    score_in_points,
    share_in_percent,
    short_text,
    two_digits,
)
from deniable_server.estimator import Applies, Mean, Point, QuestionEstimate, Share, Summary, Weighted
from deniable_server.wording import SUMMARIES, answer_texts, is_noisy, said

from . import sentences

UNKNOWN = "–"

# --- parts -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mark:
    """An estimate and its interval, in percent of the plot; ``at`` is None where there is nothing to point at."""

    low: float
    high: float
    at: float | None

    @property
    def width(self) -> float:
        return tenth(self.high - self.low)


@dataclass(frozen=True)
class ChartRow:
    """A line of a chart: whose it is, its mark, and the number in words. ``title`` is the whole text of a cut label.
    ``parts`` are the lines of groups below it, on the same axis.
    """

    label: str
    title: str
    mark: Mark
    value: str
    limits: str
    weighted: Mark | None = None
    extra: str = ""
    shape: int = 0
    parts: tuple[ChartRow, ...] = ()


@dataclass(frozen=True)
class Tick:
    at: float
    text: str


@dataclass(frozen=True)
class Axis:
    """Ticks at equal steps from end to end; ``intervals`` says how many steps there are."""

    start: float
    end: float
    ticks: tuple[Tick, ...]

    @property
    def intervals(self) -> int:
        return len(self.ticks) - 1

    def place(self, value: float) -> float:
        """In percent of the plot; what lies beyond an end is put there."""
        part = (value - self.start) / (self.end - self.start)
        return tenth(100 * min(max(part, 0.0), 1.0))

    def mark(self, value: float | None, low: float, high: float) -> Mark:
        return Mark(self.place(low), self.place(high), None if value is None else self.place(value))


@dataclass(frozen=True)
class NumberTable:
    """Numbers to read and to copy: a heading per column, and per line a label and cells."""

    caption: str
    heads: tuple[str, ...]
    lines: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class Empty:
    """Nothing to draw, and why."""

    kind: ClassVar[str] = "empty"
    text: str = f"{sentences.NOTHING_YET}."
    tables: tuple[NumberTable, ...] = ()


@dataclass(frozen=True)
class Bars:
    """A bar per option; of a plain yes or no, the one of yes."""

    kind: ClassVar[str] = "bars"
    about: str
    axis: Axis
    rows: tuple[ChartRow, ...]
    tables: tuple[NumberTable, ...]
    weighted: bool
    smoothed: bool


@dataclass(frozen=True)
class Column:
    at: float
    width: float
    height: float


@dataclass(frozen=True)
class MeanChart:
    """A dot on the question's own scale, above it the likely distribution; ``ends`` are the labels of a scale."""

    kind: ClassVar[str] = "mean"
    about: str
    axis: Axis
    mark: Mark
    weighted: Mark | None
    columns: tuple[Column, ...]
    ends: tuple[str, str] | None
    unit: str
    value: str
    limits: str
    tables: tuple[NumberTable, ...]
    parts: tuple[ChartRow, ...] = ()


def tenth(number: float) -> float:
    """Rounded to a tenth, and whole where it is whole: pages stay small."""
    near = round(number, 1)
    return int(near) if near == int(near) else near


def label(text: str) -> tuple[str, str]:
    """A label that fits, and the whole text where it had to be cut."""
    short = sentences.cut(text)
    return short, "" if short == text else text


# --- axes --------------------------------------------------------------------------------------------------------

# The end of an axis in percent, and in how many steps it is divided.
_ENDS = ((1, 5), (2, 4), (5, 5), (10, 5), (20, 4), (30, 3), (40, 4), (50, 5), (60, 3), (80, 4), (100, 4))


def share_axis(highest: float) -> Axis:
    """From 0 to the first round share that is not below this one."""
    end, steps = next(((end, steps) for end, steps in _ENDS if 100 * highest <= end), _ENDS[-1])
    ticks = [Decimal(end * i) / steps for i in range(steps + 1)]
    texts = [f"{tick.normalize():f}" for tick in ticks]
    return Axis(0.0, end / 100, tuple(_spread([*texts[:-1], f"{texts[-1]}%"])))


def common_axis(estimates: Iterable[QuestionEstimate]) -> Axis:
    """One axis for all shares of these questions, weighted or not: bars on different cards can be compared."""
    shown = [some for each in estimates for some in (each, each.weighted) if some is not UNSET]
    return share_axis(max((share.high for some in shown for share in some.shares), default=1.0))


def scale_axis(question: Question) -> Axis:
    """The question's own scale: a tick per point, or at the roundest steps that divide it evenly."""
    start, end = question.range
    first, last = Decimal(repr(start)), Decimal(repr(end))
    if question.labels:
        steps = len(question.labels) - 1
        # All points have a tick; of many, some have a number.
        every = next(n for n in range(1, steps + 1) if steps % n == 0 and steps / n <= 5)
        return Axis(start, end, tuple(_spread([str(i + 1) if i % every == 0 else "" for i in range(steps + 1)])))

    # The steps with the fewest digits, if they have few, and if all their texts fit next to each other on a phone.
    def digits(n: int) -> int:
        return len(((last - first) / n).normalize().as_tuple().digits)

    fitting = [n for n in (4, 5, 3, 2) if digits(n) <= 3 and len("".join(_scale_texts(first, last, n))) <= 26]
    steps = min(fitting, key=digits, default=1)
    return Axis(start, end, tuple(_spread(_scale_texts(first, last, steps))))


def _scale_texts(first: Decimal, last: Decimal, steps: int) -> list[str]:
    return [short_text(first + (last - first) * i / steps) for i in range(steps + 1)]


def _spread(texts: Sequence[str]) -> list[Tick]:
    return [Tick(tenth(100 * i / (len(texts) - 1)), text) for i, text in enumerate(texts)]


# --- a question --------------------------------------------------------------------------------------------------


def question_chart(
    question: Question, estimate: QuestionEstimate, confidence: float = 0.95, axis: Axis | None = None
) -> Bars | MeanChart | Empty:
    """The chart of a question's estimate, together with the weighted one. Shares are drawn on this axis, or on one of
    their own.
    """
    if not estimate.answers:
        return Empty()
    if estimate.mean is not None:
        return _mean_chart(question, estimate, estimate.mean, confidence)
    return _bars(question, estimate, confidence, axis or common_axis([estimate]))


def _bars(question: Question, estimate: QuestionEstimate, confidence: float, axis: Axis) -> Bars:
    texts = answer_texts(question)
    weighted = [] if estimate.weighted is UNSET else [_smoothed(share) for share in estimate.weighted.shares]
    marks: list[Mark | None] = [share_mark(share, axis) for share in weighted]
    rows = {
        share.code: share_row(texts[share.code], _smoothed(share), axis, mark)
        for share, mark in zip(estimate.shares, marks or [None] * len(estimate.shares), strict=True)
    }
    return Bars(
        about=f"Shares. {sentences.headline(question, estimate)}",
        axis=axis,
        rows=tuple(row for code, row in rows.items() if code in drawn_codes(question)),
        tables=share_tables(question, estimate, confidence),
        weighted=bool(weighted),
        smoothed=any(share.smoothed is not UNSET for share in estimate.shares),
    )


def drawn_codes(question: Question) -> Sequence[str]:
    """The answers that get a bar. Where there is only yes and no, one of them says it all."""
    return ["yes"] if isinstance(question, YesNo) and not question.decline else question.codes


def share_tables(question: Question, estimate: QuestionEstimate, confidence: float) -> tuple[NumberTable, ...]:
    """All shares with their limits, and the weighted ones."""
    texts = answer_texts(question)
    tables = _share_tables(estimate, texts, "", limits_at(confidence))
    if estimate.weighted is not UNSET:
        tables += _share_tables(estimate.weighted, texts, "Weighted, ", limits_at(confidence))
    return tuple(tables)


def _smoothed(share: Share) -> Share:
    """As a chart of many options shows it; its tables have the estimates."""
    return share if share.smoothed is UNSET else msgspec.structs.replace(share, estimate=share.smoothed)


def share_mark(share: Share, axis: Axis) -> Mark:
    """Too noisy to say means that no place is pointed at."""
    return axis.mark(None if is_noisy(share) else share.estimate, share.low, share.high)


def share_row(text: str, share: Share, axis: Axis, weighted: Mark | None = None, shape: int = 0) -> ChartRow:
    """The line of an option, or of a group."""
    value, low, high = share_in_percent(share).texts()
    limits = "" if share.estimate is None else f"{low}–{high}%"
    return ChartRow(*label(text), share_mark(share, axis), said(share, f"{value}%"), limits, weighted, shape=shape)


def _share_tables(
    estimate: QuestionEstimate | Weighted, texts: Mapping[str, str], start: str, limits: str
) -> list[NumberTable]:
    """The shares of all people, or of those whom the question is asked; and of those who answered."""
    of = "" if estimate.applies is UNSET else " of those whom it applies to"
    lines = [("Applies to, of all", share_cells(each)) for each in (estimate.applies,) if each]
    lines += [(texts[share.code], share_cells(share)) for share in estimate.shares]
    lines += [(sentences.capitalized(SUMMARIES[each.id]), share_cells(each)) for each in estimate.summaries or ()]
    tables = [NumberTable(sentences.capitalized(f"{start}in percent{of}; {limits}"), ("Answer", *HEADS), tuple(lines))]
    if estimate.among_answering:
        rest = tuple((texts[share.code], share_cells(share)) for share in estimate.among_answering)
        caption = sentences.capitalized(f"{start}in percent of those who answered")
        tables.append(NumberTable(caption, ("Answer", *HEADS), rest))
    return tables


HEADS = ("Estimate", "Low", "High", "Standard error")


def limits_at(confidence: float) -> str:
    return f"low and high are the limits of a {100 * confidence:.4g}% interval, rounded outwards"


def share_cells(share: Share | Applies | Summary) -> tuple[str, ...]:
    """Estimate, limits and standard error in percent."""
    numbers = score_in_points(share) if isinstance(share, Summary) and share.minus else share_in_percent(share)
    return cells(numbers, share.standard_error, scale=100)


def cells(numbers: Rounded, error: float | None, scale: int = 1) -> tuple[str, ...]:
    """The four numbers of a table's line, which can be copied as they are."""
    exact = (*numbers, None if error is None else two_digits(scale * error))
    return tuple(UNKNOWN if number is None else figure(number) for number in exact)


# --- means -------------------------------------------------------------------------------------------------------


def mean_mark(mean: Mean, axis: Axis) -> Mark:
    return axis.mark(None if is_noisy(mean) else mean.value, mean.low, mean.high)


def _mean_chart(question: Question, estimate: QuestionEstimate, mean: Mean, confidence: float) -> MeanChart:
    axis, unit = scale_axis(question), unit_of(question)
    weighted = None if estimate.weighted is UNSET else estimate.weighted.mean
    # Where not even the mean is known, a shape would be noise that looks like something.
    points = [] if is_noisy(mean) else estimate.distribution or []
    lines = [(f"Mean, {unit}" if unit else "Mean", mean_cells(question, mean))]
    if weighted is not None:
        lines.append(("Weighted", mean_cells(question, weighted)))
    tables = [NumberTable(sentences.capitalized(limits_at(confidence)), ("", *HEADS), tuple(lines))]
    if points:
        tables.append(_shape_table(points, unit, confidence))
    value, low, high = mean_in_units(question, mean).texts()
    return MeanChart(
        about=f"Mean: {sentences.about_mean(question, mean)}",
        axis=axis,
        mark=mean_mark(mean, axis),
        weighted=None if weighted is None else mean_mark(weighted, axis),
        columns=_columns(points),
        ends=(sentences.cut(question.labels[0]), sentences.cut(question.labels[-1])) if question.labels else None,
        unit=unit,
        value=said(mean, value),
        limits="" if mean.value is None else f"{low} to {high}",
        tables=tuple(tables),
    )


def unit_of(question: Question) -> str:
    return question.unit or ""


def mean_cells(question: Question, mean: Mean) -> tuple[str, ...]:
    return cells(mean_in_units(question, mean), mean.standard_error)


SHAPE_LINES = 12
"""Of many levels, so many get a line in the table."""


def _shape_table(points: Sequence[Point], unit: str, confidence: float) -> NumberTable:
    lines = [
        (
            short_text(Decimal(f"{point.at:.4g}")),
            cells(rounded(point.up_to, point.low, point.high, 0.0, 1.0, scale=100), None)[:3],
        )
        for point in points[: -1 : max((len(points) - 1) // SHAPE_LINES, 1)]
    ]
    caption = f"The likely shape: answers up to each value, in percent of all; {limits_at(confidence)}, each by itself"
    return NumberTable(caption, (f"Up to, {unit}" if unit else "Up to", *HEADS[:3]), tuple(lines))


def _columns(points: Sequence[Point]) -> tuple[Column, ...]:
    """The largest is 100 high. Each is at its value; those at the ends are half outside of the scale."""
    top = max((point.share for point in points), default=0.0)
    if len(points) < 2 or not top:
        return ()
    step = 100 / (len(points) - 1)
    return tuple(
        Column(tenth(step * (i - 0.4)), tenth(0.8 * step), tenth(100 * point.share / top))
        for i, point in enumerate(points)
    )
