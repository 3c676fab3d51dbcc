"""The Deniable protocol: surveys, channels, published documents, submissions and accounting.

Both sides use it, so it may not: do input or output, look at a clock, keep state, or use any randomness but the
source of bytes passed in, which defaults to the operating system's. Its only dependency is msgspec.
"""

from .accounting import (
    advanced_composition,
    basic_composition,
    detection_power,
    exact_composition,
    gaussian_sigma,
    shuffled,
)
from .channels import Band, Channel, Drawn, Subset, Table
from .decode import decode, decoding_matrix
from .design import design
from .document import Document, publish, verify
from .draws import Draws, RandomBytes
from .errors import AnswerError, DeniableError, DocumentError, Problem, SubmissionError, SurveyError
from .exact import ONE, N, exp_floor, largest_favour, log_ceiling
from .submission import Submission, check_answers, draw_report, encode, randomize
from .survey import (
    Choice,
    MultiChoice,
    Number,
    Option,
    Question,
    Scale,
    Segment,
    Survey,
    YesNo,
    parse_survey,
    survey_from_tree,
)

__all__ = [
    "ONE",
    "AnswerError",
    "Band",
    "Channel",
    "Choice",
    "DeniableError",
    "Document",
    "DocumentError",
    "Drawn",
    "Draws",
    "MultiChoice",
    "N",
    "Number",
    "Option",
    "Problem",
    "Question",
    "RandomBytes",
    "Scale",
    "Segment",
    "Submission",
    "SubmissionError",
    "Subset",
    "Survey",
    "SurveyError",
    "Table",
    "YesNo",
    "advanced_composition",
    "basic_composition",
    "check_answers",
    "decode",
    "decoding_matrix",
    "design",
    "detection_power",
    "draw_report",
    "encode",
    "exact_composition",
    "exp_floor",
    "gaussian_sigma",
    "largest_favour",
    "log_ceiling",
    "parse_survey",
    "publish",
    "randomize",
    "shuffled",
    "survey_from_tree",
    "verify",
]
