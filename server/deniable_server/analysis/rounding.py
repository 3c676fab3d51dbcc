"""The rounding rule (``deniable_protocol.rounding``) for what is estimated: which scale each number has.

May not: know of HTTP or of HTML.
"""

from __future__ import annotations

from typing import TypeAlias

from deniable_protocol import Question
from deniable_protocol.rounding import (
    Rounded,
    figure,
    margin,
    rounded,
    short_text,
    signed,
    two_digits,
    up,
    up_to_decimals,
)
from deniable_server.estimator import Applies, Mean, Share, Summary
from deniable_server.estimator.comparison import Difference
from deniable_server.estimator.crosstab import JointShare
from deniable_server.estimator.regression import Term

__all__ = [
    "AnyShare",
    "Rounded",
    "difference",
    "figure",
    "margin",
    "mean_in_units",
    "rounded",
    "score_in_points",
    "share_in_percent",
    "short_text",
    "signed",
    "two_digits",
    "up",
    "up_to_decimals",
]

AnyShare: TypeAlias = Share | Applies | JointShare | Summary


def share_in_percent(share: AnyShare) -> Rounded:
    return rounded(share.estimate, share.low, share.high, 0.0, 1.0, scale=100)


def score_in_points(score: Summary) -> Rounded:
    """A difference of shares, such as a net score."""
    return rounded(score.estimate, score.low, score.high, -1.0, 1.0, scale=100)


def mean_in_units(question: Question, mean: Mean) -> Rounded:
    return rounded(mean.value, mean.low, mean.high, *question.range)


def difference(row: Difference) -> Rounded:
    """Of shares in percentage points, of means in their unit."""
    if row.code is None:
        return rounded(row.estimate, row.low, row.high)
    return rounded(row.estimate, row.low, row.high, -1.0, 1.0, scale=100)


def odds(term: Term) -> tuple[str, str, str]:
    """An odds ratio and its limits; empty where there is none, or no finite one."""
    if term.odds_ratio is None or term.odds_low is None:
        return "", "", ""
    high = term.odds_high
    ends = term.odds_low, max(2 * term.odds_ratio, 1.0) if high is None else high
    ratio, lower, upper = rounded(term.odds_ratio, *ends, floor=0.0).texts()
    return ratio, lower, "" if high is None else upper
