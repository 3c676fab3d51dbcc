"""The estimator: counts and channels in, result objects out. Knows nothing of storage or HTTP.

A report decodes to a vector with the expectation of the true answer, so that means over reports are unbiased; what is
uncertain is the sampling of respondents and the noise of the channel together. Debiasing uses the channel's own
integers, never e^epsilon. Where nothing is known, a number is None (null in JSON) and its interval is everything.
"""

from .distribution import Point
from .intervals import clopper_pearson, score_limits, share_of_support, support
from .questions import (
    NOT_HONEST,
    TOO_NOISY,
    Mean,
    QuestionEstimate,
    Share,
    Weighted,
    estimate_question,
    estimate_weighted,
    project,
)
from .scores import worst_variance
from .summaries import Summary

__all__ = [
    "NOT_HONEST",
    "TOO_NOISY",
    "Mean",
    "Point",
    "QuestionEstimate",
    "Share",
    "Summary",
    "Weighted",
    "clopper_pearson",
    "estimate_question",
    "estimate_weighted",
    "project",
    "score_limits",
    "share_of_support",
    "support",
    "worst_variance",
]
