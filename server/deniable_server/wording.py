"""Answers, channels and tests in words, the same in the terminal and on pages. Numbers are in ``analysis.rounding``."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from itertools import pairwise
from typing import TypeAlias

from msgspec import UNSET

from deniable_protocol import (
    Band,
    Channel,
    Choice,
    Drawn,
    MultiChoice,
    Number,
    Question,
    Scale,
    Segment,
    Subset,
    Table,
    in_words,
)
from deniable_protocol.checks import DECLINED
from deniable_protocol.survey import plain, tells_mean

from .estimator import TOO_NOISY, Mean, Share, Summary
from .estimator.comparison import Difference
from .estimator.crosstab import Independence, JointShare

Estimated: TypeAlias = Share | JointShare | Summary | Mean | Difference

NO_DATA = "no data"

SUMMARIES = {
    "top_two": "top two", "bottom_two": "bottom two", "bottom_seven": "bottom seven", "net_score": "net score, points",
}  # fmt: skip


def channel_in_words(question: Question, channel: Channel) -> str:
    """How the answers to a question are randomised."""
    if isinstance(channel, Subset):
        size, options = channel.size, channel.options
        return f"subsets of {size} of {options} answers" if size > 1 else f"one of {options} answers (k-ary response)"
    if isinstance(channel, Band):
        return "a noisy bit" if channel.levels == 2 else f"bands {channel.width} wide on {channel.levels} levels"
    if isinstance(channel, Drawn):
        return f"a noisy bit on one of {len(channel.parts)} options"
    # A published document may have any table; one that we designed has the name of its mechanism.
    return f"{getattr(question, 'mechanism', None) or 'table'} on {channel.answers} levels"


def question_in_words(question: Question) -> str:
    """What the question's epsilon, and delta where it has one, means for one person."""
    words = in_words(question.exact_epsilon)
    if not isinstance(question, Number) or question.delta is None:
        return words
    # For every event, P(report | answer) <= e^epsilon P(report | other answer) + delta.
    return f"{words} (With Gaussian noise that is so but for δ = {question.delta}, which may come on top.)"


def method_in_words(question: Question, channel: Channel) -> str:
    """How a question's numbers came about: what randomised the answers, and what the intervals are made from."""
    if tells_mean(question):
        limits = "t limits on the unbiased scores of the reports"
    elif isinstance(channel, Table):
        limits = "limits from the spread of the unbiased scores of the reports"
    else:
        limits = "Wilson or Clopper-Pearson limits on the noisy counts"
    return f"{channel_in_words(question, channel)}; {limits}"


def answer_texts(question: Question) -> dict[str, str]:
    """What each answer's code says to people."""
    texts = {"yes": "Yes", "no": "No", DECLINED: "Prefer not to say"}
    if isinstance(question, Choice | MultiChoice):
        texts |= {option.code: option.text for option in question.options}
    if isinstance(question, Scale):
        # Labels such as "0" or "10 Extremely" are numbered already, and perhaps otherwise than the points.
        numbered = any(label[:1].isdecimal() for label in question.labels)
        labels = enumerate(question.labels, start=1)
        texts |= {str(point): label if numbered else f"{point} {label}" for point, label in labels}
    if isinstance(question, Number):
        unit = f" {question.unit}" if question.unit else ""
        bins = pairwise(f"{Decimal(plain(edge)):,f}" for edge in question.edges)
        texts |= {code: f"{low} to {high}{unit}" for code, (low, high) in zip(question.codes, bins, strict=False)}
    return {code: texts[code] for code in question.codes}


def group_texts(segment: Segment) -> dict[str, str]:
    """What each code of a segment says to people."""
    return {option.code: option.text for option in segment.options}


def merged_text(texts: Mapping[str, str], code: str) -> str:
    """What a code says; codes that are merged into one group are joined by a plus, which no code contains."""
    return " or ".join(texts.get(each, each) for each in code.split("+"))


def group_text(segment: Segment, code: str) -> str:
    """What a group is called: by the text of its code, or by those of all codes that are merged in it."""
    return merged_text(group_texts(segment), code)


def is_noisy(number: Estimated) -> bool:
    """Whether the interval spans more than half of all that is possible."""
    return number.too_noisy if isinstance(number, Summary) else number.note is not UNSET


def said(number: Estimated, text: str) -> str:
    """The text of an estimate, or why there is none."""
    value = number.value if isinstance(number, Mean) else number.estimate
    return NO_DATA if value is None else TOO_NOISY if is_noisy(number) else text


def probability(p: float | None) -> str:
    """A p-value."""
    if p is None:
        return "unknown"
    if p < 0.001:
        return "<0.001"
    return ">0.99" if p > 0.99 else f"{p:.2f}" if p >= 0.1 else f"{p:.3f}"


def chance(p: float | None) -> str:
    return "unknown" if p is None else "less than 0.01%" if p < 0.0001 else f"{100 * p:.2g}%"


def chi_square(statistic: float | None, degrees: int) -> str:
    value = "unknown" if statistic is None else f"{statistic:.2f}"
    return f"χ² = {value} on {degrees} degree{'s' if degrees != 1 else ''} of freedom"


def independence_in_words(test: Independence) -> str:
    """The result of the test of independence, or why there is none."""
    if test.p_value is None:
        return f"Independence: {test.note}."
    seen = f"{chance(test.p_value)} of surveys would show at least this much dependence"
    return f"If the two were independent, {seen} ({chi_square(test.statistic, test.degrees_of_freedom)})."
