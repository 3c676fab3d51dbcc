"""Numbers of a result as people read them, by the same rounding rule as on pages and in the terminal.

A number is what JSON has of it: a dictionary with an estimate and its limits. May not: change a number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from deniable_protocol import Question
from deniable_protocol.rounding import Rounded, rounded

NO_DATA = "no data"
TOO_NOISY = "too noisy to say"

Number = Mapping[str, Any]


class Written(NamedTuple):
    """An estimate and its limits: about 23%, between 21% and 25%."""

    about: str
    low: str
    high: str

    @property
    def between(self) -> str:
        return f"{self.low} and {self.high}" if self.low else ""

    def __str__(self) -> str:
        """In one cell."""
        return f"{self.about} ({self.low.removesuffix('%')} to {self.high})" if self.low else self.about


def share(number: Number) -> Written:
    """In percent."""
    about, low, high = (f"{text}%" for text in _round(number, 0.0, 1.0, scale=100).texts())
    return Written(_said(number, about, 0.5), low, high)


def cell(number: Number) -> Written:
    """A share of a cross-tab. Answers that exclude each other have no limits."""
    return share(number) if number.get("high") else Written("0%", "", "")


def points(number: Number) -> Written:
    """A difference of shares, in percentage points."""
    about, low, high = _round(number, -1.0, 1.0, scale=100).signed()
    return Written(_said(number, about, 1.0), low, high)


def mean(question: Question, number: Number) -> Written:
    """In the question's own units."""
    about, low, high = _round(number, *question.range).texts()
    return Written(_said(number, about), low, high)


def difference_of_means(number: Number) -> Written:
    about, low, high = _round(number).signed()
    return Written(_said(number, about), low, high)


def odds(term: Number) -> Written:
    """An odds ratio, and its limits: in words where they are infinite."""
    ratio, low, high = term.get("odds_ratio"), term.get("odds_low"), term.get("odds_high")
    if ratio is None or low is None:
        return Written("unknown", "", "")
    about, lower, upper = rounded(ratio, low, max(2 * ratio, 1.0) if high is None else high, floor=0.0).texts()
    return Written(about, lower, "no limit" if high is None else upper)


def _round(number: Number, *ends: float, scale: int = 1) -> Rounded:
    return rounded(_value(number), number["low"], number["high"], *ends, scale=scale)


def _value(number: Number) -> float | None:
    value: float | None = number.get("estimate", number.get("value"))
    return value


def _said(number: Number, text: str, noisy: float | None = None) -> str:
    """The text, or why there is none. Summaries of a scale have no note: they are too noisy from a width on."""
    wide = noisy is not None and "minus" in number and number["high"] - number["low"] > noisy
    return NO_DATA if _value(number) is None else TOO_NOISY if "note" in number or wide else text
