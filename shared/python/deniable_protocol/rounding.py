"""The rounding rule: how estimates and their limits are written, on pages, in the terminal, in CSV and in notebooks.

- A limit is rounded outwards, never inwards: what is written contains the exact interval.
- An interval gets as many decimals as its width deserves: it is at least 30 steps of its last decimal wide. Each limit
  moves by less than one step, so the written interval is less than 1/15 wider than the exact one. That makes a 95%
  interval one of 96.4% at most (16/15 x 1.96 standard errors). One more decimal would only look surer than it is.
- The estimate has the decimals of its limits, and is rounded to the nearest.
- A number that would be written as an end of its scale without being there gets up to two more decimals. So does a
  limit that would be written as zero: whether an interval contains zero is what readers look for.
- Nothing is written that lies outside of its scale. An end of the scale is exact, and is written without decimals.

What is written depends on the interval alone, so a number reads the same everywhere. The numbers in JSON and in the
other columns of CSV files are for programs, and are not rounded. May not: know of surveys, HTTP or HTML.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from functools import lru_cache
from typing import NamedTuple

STEPS = 30
"""Steps of the last decimal in the width of an interval, at least."""
NO_WIDTH = 3
"""Decimals of an interval whose limits are equal."""
MOST = 12
"""Decimals at most."""


class Rounded(NamedTuple):
    """An estimate and its limits, rounded; without a unit. ``value`` is None where there is no estimate."""

    value: Decimal | None
    low: Decimal
    high: Decimal

    def texts(self) -> tuple[str, str, str]:
        """As people read them; empty where there is no estimate."""
        return "" if self.value is None else number_text(self.value), number_text(self.low), number_text(self.high)

    def signed(self) -> tuple[str, str, str]:
        """The same, with a plus above zero: for differences."""
        value, low, high = map(signed, self.texts())
        return value, low, high


@lru_cache(maxsize=2048)  # a page has the same number in a sentence, a chart and a table
def rounded(
    value: float | None,
    low: float,
    high: float,
    floor: float = -math.inf,
    ceiling: float = math.inf,
    *,
    scale: int = 1,
) -> Rounded:
    """By the rule. ``floor`` and ``ceiling`` are the ends of the scale; ``scale`` is 100 for percent."""
    first, last = (Decimal(repr(number)) * scale for number in (low, high))
    ends = [(Decimal(repr(end)) * scale).normalize() for end in (floor, ceiling)]
    decimals = decimals_for(last - first)
    return Rounded(
        None if value is None else _near(Decimal(repr(value)) * scale, decimals, ends),
        _outwards(first, decimals, ends, ROUND_FLOOR),
        _outwards(last, decimals, ends, ROUND_CEILING),
    )


def decimals_for(width: Decimal) -> int:
    """The fewest that leave ``STEPS`` steps in the width. Negative for tens and hundreds."""
    return min(-(width / STEPS).adjusted(), MOST) if width else NO_WIDTH


def _near(value: Decimal, decimals: int, ends: list[Decimal]) -> Decimal:
    return _within(_away_from(value, decimals, ends, ROUND_HALF_EVEN), ends)


def _outwards(value: Decimal, decimals: int, ends: list[Decimal], how: str) -> Decimal:
    return _within(_away_from(value, decimals, [*ends, Decimal(0)], how), ends)


def _away_from(value: Decimal, decimals: int, marks: list[Decimal], how: str) -> Decimal:
    """Rounded, with up to two more decimals where it would otherwise land on a mark."""
    for more in range(3):
        near = _at(value, decimals + more, how)
        if value in marks or near not in marks:
            break
    return near


def _at(value: Decimal, decimals: int, how: str) -> Decimal:
    return value.quantize(Decimal(1).scaleb(-decimals), rounding=how)


def _within(value: Decimal, ends: list[Decimal]) -> Decimal:
    """An end of the scale is exact, and has no decimals that say nothing."""
    return ends[0] if value <= ends[0] else ends[1] if value >= ends[1] else value


# --- other numbers ---------------------------------------------------------------------------------------------------


def margin(half: Decimal) -> Decimal:
    """Half of an interval, rounded up like its limits."""
    return _at(half, decimals_for(2 * half), ROUND_CEILING)


def up(number: Decimal, digits: int = 2) -> Decimal:
    """Rounded up to so many digits: for what may not be understated."""
    return _at(number, digits - 1 - number.adjusted(), ROUND_CEILING)


def up_to_decimals(number: float, decimals: int) -> str:
    """Rounded up to so many decimals, but for what is only an error of floating point."""
    return f"{math.ceil(number * 10**decimals - 1e-9) / 10**decimals:.{decimals}f}"


def two_digits(number: float) -> Decimal:
    """Rounded to the nearest, with two digits that count: for standard errors."""
    exact = Decimal(repr(number))
    return _at(exact, 1 - exact.adjusted(), ROUND_HALF_EVEN)


# --- numbers as texts ------------------------------------------------------------------------------------------------


def number_text(value: Decimal) -> str:
    """With thousands apart and a real minus sign. Minus zero is zero."""
    return f"{value if value else abs(value):,f}".replace("-", "−")


def short_text(value: Decimal) -> str:
    """The same without zeros at the end: 3, not 3.0."""
    text = number_text(value)
    return text.rstrip("0").rstrip(".") if "." in text else text


def figure(value: Decimal) -> str:
    """A number that can be copied into a spreadsheet as it is."""
    return f"{value if value else abs(value):f}"


def signed(text: str) -> str:
    """With a plus if it is above zero."""
    return text if not text.strip("0.,") or text.startswith("−") else f"+{text}"
