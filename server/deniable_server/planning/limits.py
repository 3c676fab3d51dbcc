"""How large a survey may be, and how finely divided.

Every combination of segment codes has counts of its own, and results that need all of them read all of them: the limit
keeps that well below a second, and a few tens of megabytes.
"""

from __future__ import annotations

from math import prod

from deniable_protocol import Problem, Survey, SurveyError, items_of

from .tables import tables_of

MOST_COMBINATIONS = 10_000
"""Of segment codes, with up to ``QUESTIONS`` questions; with more questions so many fewer."""
QUESTIONS = 20
MOST_ITEMS = 1_000
"""Questions, and options of several choices: for so many, a plan takes seven seconds of processor time, and for twice
as many more than twenty.
"""


def check_size(survey: Survey) -> None:
    """SurveyError where a survey is too large to be published. This takes little time, however large it is."""
    check_combinations(survey)
    if survey.epsilon is not None:
        check_items(survey)
        tables_of(survey)


def check_items(survey: Survey) -> None:
    """SurveyError where finding the best booklets would take too long."""
    if (number := len(items_of(survey))) > MOST_ITEMS:
        message = (
            f"together with the options of several choices there are {number:,} things to ask. The best booklets are "
            f"looked for among at most {MOST_ITEMS:,}: ask less, or give each question an epsilon of its own"
        )
        raise SurveyError([Problem("questions", "range", message)])


def check_combinations(survey: Survey) -> None:
    """SurveyError where the segments of a survey have too many combinations of codes."""
    segments = survey.segments
    found = prod(len(segment.options) for segment in segments)
    most = MOST_COMBINATIONS * QUESTIONS // max(QUESTIONS, len(survey.questions))
    if len(segments) > 1 and found > most:
        sizes = " × ".join(f"{segment.id} ({len(segment.options)})" for segment in segments)
        message = (
            f"{sizes} make {found:,} combinations of codes. With so many questions there may be {most:,}. Leave a "
            "segment out, or give one fewer codes, such as regions instead of towns"
        )
        raise SurveyError([Problem("segments", "size", message)])
