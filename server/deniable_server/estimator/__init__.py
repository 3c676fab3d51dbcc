"""The estimator: counts and channels in, result objects out. Knows nothing of storage or HTTP.

A report decodes to a vector with the expectation of the true answer, so that means over reports are unbiased; what is
uncertain is the sampling of respondents and the noise of the channel together. Debiasing uses the channel's own
integers, never e^epsilon. Where nothing is known, a number is None (null in JSON) and its interval is everything.
"""

from .distribution import Point
from .evidence import Counted, Evidence, Heard, alone, gather
from .honesty import NOT_HONEST
from .intervals import clopper_pearson, score_limits, share_of_support, support
from .questions import Mean, QuestionEstimate, Weighted, estimate_question, estimate_weighted
from .scores import worst_variance
from .shares import TOO_NOISY, Applies, Share, project
from .summaries import Summary

__all__ = [
    "NOT_HONEST",
    "TOO_NOISY",
    "Applies",
    "Counted",
    "Evidence",
    "Heard",
    "Mean",
    "Point",
    "QuestionEstimate",
    "Share",
    "Summary",
    "Weighted",
    "alone",
    "clopper_pearson",
    "estimate_question",
    "estimate_weighted",
    "gather",
    "project",
    "score_limits",
    "share_of_support",
    "support",
    "worst_variance",
]
