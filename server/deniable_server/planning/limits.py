"""How finely a survey may be divided. Every combination of segment codes has counts of its own, and results that need
all of them read all of them: the limit keeps that well below a second, and a few tens of megabytes.
"""

from __future__ import annotations

from math import prod

from deniable_protocol import Problem, Survey, SurveyError

MOST_COMBINATIONS = 10_000
"""Of segment codes, with up to ``QUESTIONS`` questions; with more questions so many fewer."""
QUESTIONS = 20


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
