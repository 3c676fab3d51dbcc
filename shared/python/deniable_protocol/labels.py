"""What the answers to a survey are called in tables: on pages, in the terminal, in CSV files and in notebooks.

Labels, not sentences: texts of the survey itself, and the few words that it does not have. May not: know of estimates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from itertools import pairwise
from typing import Any

from .checks import DECLINED, plain
from .questions import Choice, MultiChoice, Number, Question, Scale, YesNo
from .survey import Segment

SUMMARIES = {
    "top_two": "top two", "bottom_two": "bottom two", "bottom_seven": "bottom seven", "net_score": "net score, points",
}  # fmt: skip


def answer_texts(question: Question) -> dict[str, str]:
    """What each answer's code says to people."""
    texts = {**ANSWER_TEXTS[type(question)](question), DECLINED: "Prefer not to say"}
    return {code: texts[code] for code in question.codes}


def _options(question: Question) -> dict[str, str]:
    return {option.code: option.text for option in question.options}


def _points(question: Question) -> dict[str, str]:
    # Labels such as "0" or "10 Extremely" are numbered already, and perhaps otherwise than the points.
    numbered = any(label[:1].isdecimal() for label in question.labels)
    labels = enumerate(question.labels, start=1)
    return {str(point): label if numbered else f"{point} {label}" for point, label in labels}


def _bins(question: Any) -> dict[str, str]:
    unit = f" {question.unit}" if question.unit else ""
    bins = pairwise(f"{Decimal(plain(edge)):,f}" for edge in question.edges)
    return {code: f"{low} to {high}{unit}" for code, (low, high) in zip(question.codes, bins, strict=False)}


ANSWER_TEXTS: dict[type[Question], Callable[[Any], dict[str, str]]] = {
    YesNo: lambda _: {"yes": "Yes", "no": "No"},
    Choice: _options,
    MultiChoice: _options,
    Scale: _points,
    Number: _bins,
}
"""The texts of the answers to each type of question, but for "declined"."""


def group_texts(segment: Segment) -> dict[str, str]:
    """What each code of a segment says to people."""
    return {option.code: option.text for option in segment.options}


def merged_text(texts: Mapping[str, str], code: str) -> str:
    """What a code says; codes that are merged into one group are joined by a plus, which no code contains."""
    return " or ".join(texts.get(each, each) for each in code.split("+"))


def probability(p: float | None) -> str:
    """A p-value."""
    if p is None:
        return "unknown"
    if p < 0.001:
        return "<0.001"
    return ">0.99" if p > 0.99 else f"{p:.2f}" if p >= 0.1 else f"{p:.3f}"
