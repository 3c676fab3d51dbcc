"""Charts of how many submissions came, per day or longer: one for a page about a survey, a small one for a list."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import ClassVar, NamedTuple

from . import sentences
from .charts import Empty, NumberTable


@dataclass(frozen=True)
class Days:
    """A column per day, week or month, as heights of 0 to 100 on ``slots`` places."""

    kind: ClassVar[str] = "days"
    about: str
    heights: tuple[int, ...]
    slots: int
    first: str
    last: str
    most: str
    tables: tuple[NumberTable, ...]


MOST_COLUMNS = 92
FEWEST_SLOTS = 14
"""Few days do not make broad columns."""


class Period(NamedTuple):
    """A day, a week and so on: when the one with a given day starts, and what people call it."""

    name: str
    start: Callable[[date], date]
    text: Callable[[date], str]


def day_text(day: date) -> str:
    return f"{day.day} {day:%B} {day.year}"


PERIODS = (
    Period("day", lambda day: day, day_text),
    Period("week", lambda day: day - timedelta(days=day.weekday()), lambda day: f"from {day_text(day)}"),
    Period("month", lambda day: day.replace(day=1), lambda day: f"{day:%B} {day.year}"),
    Period("year", lambda day: day.replace(month=1, day=1), lambda day: f"{day.year}"),
)


def days_chart(days: Mapping[date, int]) -> Days | Empty:
    """Submissions per day, or per week, month or year where days would be too many."""
    known = {day: count for day, count in days.items() if count}
    if not known:
        return Empty("No submissions yet.")
    first, last = min(known), max(known)
    every = [first + timedelta(days=i) for i in range((last - first).days + 1)]
    for period in PERIODS:
        totals = dict.fromkeys(map(period.start, every), 0)
        if len(totals) <= MOST_COLUMNS:
            break
    for day, count in known.items():
        totals[period.start(day)] += count
    top, busiest = max((count, start) for start, count in totals.items())
    lines = tuple((period.text(start), (f"{count}",)) for start, count in totals.items())
    return Days(
        about=f"{sentences.counted(sum(known.values()), 'submission')} from {day_text(first)} to {day_text(last)}",
        heights=tuple(max(round(100 * count / top), 1) if count else 0 for count in totals.values()),
        slots=max(len(totals), FEWEST_SLOTS),
        first=day_text(first),
        last=day_text(last),
        most=f"Most in a {period.name}: {top:,} ({period.text(busiest)})",
        tables=(
            NumberTable(f"Submissions per {period.name}", (sentences.capitalized(period.name), "Submissions"), lines),
        ),
    )
