"""The charts of a number question's curve: the share below each value or, of prices, demand and revenue.

A line through the points that the reports tell apart, and a band that contains all of their true values at once.
Between two points, line and band are drawn straight. May not: know of HTTP, or contain HTML.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar

from msgspec import UNSET

from deniable_protocol import Question
from deniable_server.analysis.rounding import Rounded, rounded, short_text
from deniable_server.estimator import TOO_NOISY, QuestionEstimate
from deniable_server.estimator.curves import CurvePoint
from deniable_server.estimator.price import Price

from . import sentences
from .charts import HEADS, Axis, Mark, NumberTable, Tick, cells, scale_axis, share_axis, tenth, unit_of
from .group_charts import zero_axis

LIMITS = "low and high are the limits of the band"
Place = tuple[float, float]
"""In percent of the plot: from the left, and from the top."""


@dataclass(frozen=True)
class Panel:
    """One curve. ``line`` is empty where it is too noisy to say; ``dots`` are the points that the band is for, and
    ``best`` the values among which the best one is.
    """

    title: str
    about: str
    across: Axis
    up: tuple[Tick, ...]
    band: tuple[Place, ...]
    line: tuple[Place, ...]
    dots: tuple[Place, ...]
    best: Mark | None = None


@dataclass(frozen=True)
class Curves:
    """One curve or two, next to each other where there is room. ``says`` is what they show, in a sentence."""

    kind: ClassVar[str] = "curves"
    panels: tuple[Panel, ...]
    unit: str
    says: str
    note: str
    tables: tuple[NumberTable, ...]


@dataclass(frozen=True)
class _Point:
    at: float
    value: float
    low: float
    high: float


def curve_chart(question: Question, estimate: QuestionEstimate, confidence: float = 0.95) -> Curves | None:
    """None for other questions, and where there are no reports."""
    if not estimate.curve:
        return None
    noisy = TOO_NOISY in estimate.notes
    where = "values of the table" if noisy else "dots"
    asked = [f"The band contains the truth at all {where} at once, with {100 * confidence:.4g}% confidence"]
    asked += ["of those who answer"] if question.decline or question.show_if else []
    asked += ["not weighted"] if estimate.weighted is not UNSET else []
    note = "; ".join(asked)
    if estimate.price:
        return _prices(question, estimate.price, note, noisy=noisy)
    return _below(question, estimate.curve, note, noisy=noisy)


def _below(question: Question, curve: Sequence[CurvePoint], note: str, *, noisy: bool) -> Curves:
    points = [_Point(each.at, each.below, each.low, each.high) for each in curve]
    unit = unit_of(question)
    nobody, everybody = (_Point(end, *[share] * 3) for end, share in zip(question.range, (0.0, 1.0), strict=True))
    about = f"below {_middle(points, unit)}"
    lines = tuple((_value(each.at), _percent(each)) for each in points)
    return Curves(
        panels=(
            _panel(
                "Share below each value", about, question, [nobody, *points, everybody], share_axis(1.0), noisy=noisy
            ),
        ),
        unit=unit,
        says="",
        note=note,
        tables=(
            NumberTable(f"Share below each value, in percent; {LIMITS}", (_head("Below", unit), *HEADS[:3]), lines),
        ),
    )


def _middle(points: Sequence[_Point], unit: str) -> str:
    """The middle of the curve, for people who do not see it."""
    middle = min(points, key=lambda each: abs(each.value - 0.5))
    value, low, high = _rounded(middle).texts()
    return f"{_with_unit(middle.at, unit)}, about {value}%, between {low}% and {high}%"


# --- prices -----------------------------------------------------------------------------------------------------------


def _prices(question: Question, price: Price, note: str, *, noisy: bool) -> Curves:
    unit = unit_of(question)
    demand = [_Point(each.at, each.demand, each.demand_low, each.demand_high) for each in price.points]
    revenue = [_Point(each.at, each.revenue, each.revenue_low, each.revenue_high) for each in price.points]
    says = best_price(price, unit, noisy=noisy)
    best = scale_axis(question).mark(None if noisy else price.best, price.best_low, price.best_high)
    end = zero_axis(max(each.high for each in revenue), 1).end
    most = Axis(0.0, end, tuple(Tick(50 * i, _value(end * i / 2)) for i in range(3)))
    lines = tuple(
        (_value(one.at), (*_percent(one), *cells(rounded(two.value, two.low, two.high, 0.0), None)[:3]))
        for one, two in zip(demand, revenue, strict=True)
    )
    heads = ("Buyers", *HEADS[1:3], "Revenue", *HEADS[1:3])
    return Curves(
        panels=(
            _panel(
                "Share who would buy", f"at {_middle(demand, unit)}", question, demand, share_axis(1.0), noisy=noisy
            ),
            _panel("Revenue for each person asked", says, question, revenue, most, noisy=noisy, best=best),
        ),
        unit=unit,
        says=says,
        note=note if price.best_low == price.best_high else f"{note}. Shaded: prices that may be the best",
        tables=(
            NumberTable(
                f"Buyers in percent, and revenue for each person asked; {LIMITS}",
                (_head("Price", unit), *heads),
                lines,
            ),
        ),
    )


def best_price(price: Price, unit: str, *, noisy: bool = False) -> str:
    """Which price has the largest revenue, and which others may have it."""
    numbers = rounded(price.best, price.best_low, price.best_high, 0.0)
    best, low, high = ("" if each is None else short_text(each) for each in numbers)
    high, best = (f"{each} {sentences.quoted(unit)}".strip() for each in (high, best))
    if noisy:
        return f"Too noisy to say which price is the best: it may be any from {low} to {high}"
    if price.best_low == price.best_high:
        return (
            f"Largest revenue at about {_with_unit(price.best, unit)}; none of the other prices shown can be the best"
        )
    return f"Largest revenue at about {best}; prices from {low} to {high} may be the best"


# --- geometry and texts -----------------------------------------------------------------------------------------------


def _panel(
    title: str,
    about: str,
    question: Question,
    points: Sequence[_Point],
    up: Axis,
    *,
    noisy: bool,
    best: Mark | None = None,
) -> Panel:
    """Where a value is certain, at an end of the scale, there is no dot."""
    across = scale_axis(question)

    def places(values: Iterable[tuple[float, float]]) -> tuple[Place, ...]:
        return tuple((across.place(at), tenth(100 - up.place(value))) for at, value in values)

    line = () if noisy else places((each.at, each.value) for each in points)
    return Panel(
        title=title,
        about=f"{title}: {TOO_NOISY if noisy else about}",
        across=across,
        up=tuple(Tick(tenth(100 - tick.at), tick.text) for tick in up.ticks if tick.at in (0, 50, 100)),
        band=places([(each.at, each.low) for each in points] + [(each.at, each.high) for each in reversed(points)]),
        line=line,
        dots=tuple(place for place, each in zip(line, points, strict=False) if each.low < each.high),
        best=best,
    )


def _value(at: float) -> str:
    return short_text(Decimal(f"{at:.4g}"))


def _with_unit(at: float, unit: str) -> str:
    return f"{_value(at)} {sentences.quoted(unit)}" if unit else _value(at)


def _head(text: str, unit: str) -> str:
    return f"{text}, {unit}" if unit else text


def _rounded(point: _Point) -> Rounded:
    return rounded(point.value, point.low, point.high, 0.0, 1.0, scale=100)


def _percent(point: _Point) -> tuple[str, ...]:
    return cells(_rounded(point), None)[:3]
