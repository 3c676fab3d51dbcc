"""The Deniable protocol: surveys, channels, published documents, submissions and accounting.

Both sides use it, so it may not: do input or output, look at a clock, keep state, or use any randomness but the
source of bytes passed in, which defaults to the operating system's. Its only dependency is msgspec.
"""

from .accounting import DEFAULT_BUDGET, Account, advanced_composition, exact_composition, gaussian_sigma
from .channel import Channel, Support
from .channels import CHANNELS, Band, Drawn, Subset, Table
from .decode import decode, decoding_matrix
from .design import design
from .document import Document, publish, verify
from .draws import Draws, RandomBytes
from .errors import (
    AnswerError,
    DeniableError,
    DocumentError,
    InvitationError,
    Problem,
    SubmissionError,
    SurveyError,
    TokenError,
)
from .exact import ONE, N, exp_floor, largest_favour, log_ceiling
from .parts import Booklet, Item, Part, TooManyPaths, atoms_of, items_of, needs, paths_of
from .questions import QUESTIONS, Choice, MultiChoice, Number, Option, Question, Scale, ShowIf, YesNo
from .receive import Accepted
from .submission import Submission, check_answers, draw_booklet, draw_report, randomize
from .survey import Segment, Survey, parse_survey, survey_from_tree

__all__ = [
    "CHANNELS",
    "DEFAULT_BUDGET",
    "ONE",
    "QUESTIONS",
    "Accepted",
    "Account",
    "AnswerError",
    "Band",
    "Booklet",
    "Channel",
    "Choice",
    "DeniableError",
    "Document",
    "DocumentError",
    "Drawn",
    "Draws",
    "InvitationError",
    "Item",
    "MultiChoice",
    "N",
    "Number",
    "Option",
    "Part",
    "Problem",
    "Question",
    "RandomBytes",
    "Scale",
    "Segment",
    "ShowIf",
    "Submission",
    "SubmissionError",
    "Subset",
    "Support",
    "Survey",
    "SurveyError",
    "Table",
    "TokenError",
    "TooManyPaths",
    "YesNo",
    "advanced_composition",
    "atoms_of",
    "check_answers",
    "decode",
    "decoding_matrix",
    "design",
    "draw_booklet",
    "draw_report",
    "exact_composition",
    "exp_floor",
    "gaussian_sigma",
    "items_of",
    "largest_favour",
    "log_ceiling",
    "needs",
    "parse_survey",
    "paths_of",
    "publish",
    "randomize",
    "survey_from_tree",
    "verify",
]
