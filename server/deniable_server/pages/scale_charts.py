"""The chart of a scale: one stacked bar per group, to either side of the middle of the scale.

What counts for the scale lies to the right of the middle, what counts against it to the left, and the point in the
middle on both sides. A line at each end of a bar shows how far the end may be from there: the interval of the points
that are summed up at this end, usually two.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar

from deniable_protocol import Question
from deniable_protocol.checks import DECLINED
from deniable_server.analysis.rounding import share_in_percent, short_text
from deniable_server.estimator import QuestionEstimate, Share, Summary, Weighted
from deniable_server.wording import SUMMARIES, answer_texts, is_noisy, said

from . import sentences
from .charts import Axis, Mark, NumberTable, Tick, label, share_axis, share_tables, tenth
from .group_charts import groups_chart

TONES = 5
"""How strong the colours of the outermost points are; the point in the middle has 0."""
WIDE = 7.0
"""Percent of the plot that a number needs to be written into its piece."""


@dataclass(frozen=True)
class Piece:
    """A point of the scale in a bar: where it lies, its colour (below 0: left of the middle), and its share."""

    at: float
    width: float
    tone: int
    text: str

    @property
    def middle(self) -> float:
        return tenth(self.at + self.width / 2)


@dataclass(frozen=True)
class Stack:
    """One bar. No pieces where it is too noisy to say; ``ends`` are how far its two ends may reach."""

    label: str
    title: str
    pieces: tuple[Piece, ...]
    ends: tuple[Mark, ...]
    value: str
    limits: str


@dataclass(frozen=True)
class Key:
    """What a colour stands for, and its share among all."""

    tone: int
    label: str
    title: str
    value: str


@dataclass(frozen=True)
class ScaleChart:
    """Stacked bars on one axis. ``summed`` is what the number next to a bar sums up."""

    kind: ClassVar[str] = "scale"
    about: str
    axis: Axis
    rows: tuple[Stack, ...]
    keys: tuple[Key, ...]
    summed: str
    tables: tuple[NumberTable, ...]


Numbers = QuestionEstimate | Weighted


def is_stacked(question: Question, estimate: QuestionEstimate) -> bool:
    """Whether this chart can show the question: a scale, of whose points none is too noisy to say."""
    return bool(question.labels) and bool(estimate.answers) and _is_clear(estimate)


def _is_clear(numbers: Numbers) -> bool:
    return bool(numbers.shares) and not any(share.estimate is None or is_noisy(share) for share in numbers.shares)


def side_axis(scales: Iterable[Numbers]) -> Axis:
    """One axis for all scales: from the middle equally far to both sides, as far as any of them reaches."""
    reach = [abs(end) for each in scales if _is_clear(each) for mark in _reaches(each) for end in mark]
    end = share_axis(min(max(reach, default=1.0), 1.0)).end
    half, whole = (short_text(round(Decimal(100 * end), 6) / n) for n in (2, 1))
    texts = (whole, half, "0", half, f"{whole}%")
    return Axis(-end, end, tuple(Tick(25 * i, text) for i, text in enumerate(texts)))


def scale_chart(
    question: Question,
    estimate: QuestionEstimate,
    groups: Sequence[tuple[str, QuestionEstimate]],
    axis: Axis,
    confidence: float = 0.95,
) -> ScaleChart:
    """A bar of everybody, perhaps one of the weighted numbers, and one for each group."""
    named: list[tuple[str, Numbers]] = [("Everybody" if groups or estimate.weighted else "", estimate)]
    if estimate.weighted:
        named.append(("Weighted", estimate.weighted))
    texts = answer_texts(question)
    split = groups_chart(question, groups, confidence).tables if groups else ()
    tones = _tones(len(_points(estimate)))
    keys = [
        Key(tone, *label(texts[share.code]), f"{share_in_percent(share).texts()[0]}%")
        for share, tone in zip(_points(estimate), tones, strict=True)
    ]
    return ScaleChart(
        about=f"Shares of the points of the scale. {sentences.headline(question, estimate)}",
        axis=axis,
        rows=tuple(_stack(name, numbers, axis) for name, numbers in [*named, *groups]),
        keys=tuple(keys),
        summed=_summed(estimate),
        tables=(*share_tables(question, estimate, confidence), *split),
    )


def _points(numbers: Numbers) -> list[Share]:
    """The points of the scale from least to most, without those who prefer not to say."""
    return [share for share in numbers.shares if share.code != DECLINED]


def _tones(points: int) -> list[int]:
    """-5 to 5: as far from 0 as the point is from the middle."""
    half = (points - 1) / 2
    return [round(TONES * (place - half) / half) for place in range(points)]


def _ends(numbers: Numbers) -> tuple[Share | Summary, Share | Summary]:
    """What counts against, and what for: the summaries of the scale, or its first and last point where it is short."""
    sums = [each for each in numbers.summaries or () if not each.minus]
    points = _points(numbers)
    return (sums[1], sums[0]) if len(sums) == 2 else (points[0], points[-1])


def _summed(numbers: Numbers) -> str:
    high = _ends(numbers)[1]
    return SUMMARIES[high.id] if isinstance(high, Summary) else ""


def _left(numbers: Numbers) -> float:
    """The share left of the middle, with half of the point that lies there."""
    shares = [share.estimate or 0.0 for share in _points(numbers)]
    half, odd = divmod(len(shares), 2)
    return sum(shares[:half]) + (shares[half] / 2 if odd else 0.0)


def _reaches(numbers: Numbers) -> list[tuple[float, float, float]]:
    """Of both ends of a bar: the least, the estimated and the largest place, as a share to the right of the middle."""
    left = _left(numbers)
    right = sum(share.estimate or 0.0 for share in _points(numbers)) - left
    low, high = _ends(numbers)
    below, above = low.estimate or 0.0, high.estimate or 0.0
    return [
        (-left - (low.high - below), -left, -left + (below - low.low)),
        (right - (above - high.low), right, right + (high.high - above)),
    ]


def _stack(name: str, numbers: Numbers, axis: Axis) -> Stack:
    high = _ends(numbers)[1]
    value, least, most = share_in_percent(high).texts()
    limits = "" if high.estimate is None else f"{least}–{most}%"
    if not _is_clear(numbers):
        return Stack(*label(name), (), (), said(high, "too noisy to say"), limits)
    pieces, at = [], -_left(numbers)
    for share, tone in zip(_points(numbers), _tones(len(_points(numbers))), strict=True):
        end = at + (share.estimate or 0.0)
        width = tenth(axis.place(end) - axis.place(at))
        text = f"{100 * (share.estimate or 0.0):.0f}%" if width >= WIDE else ""
        pieces.append(Piece(axis.place(at), max(width, 0), tone, text))
        at = end
    ends = [axis.mark(place, first, last) for first, place, last in _reaches(numbers)]
    return Stack(*label(name), tuple(pieces), tuple(ends), said(high, f"{value}%"), limits)
