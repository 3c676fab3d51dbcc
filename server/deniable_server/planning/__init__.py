"""Planning: how many respondents a survey needs, what protection costs it, and what it spends. No input or output."""

from deniable_server.errors import PlanError

from .plan import Few, Given, QuestionPlan, Range, Shuffled, SurveyPlan, Waves, plan_survey
from .sample_size import Wanted
from .textbook import Alternative

__all__ = [
    "Alternative",
    "Few",
    "Given",
    "PlanError",
    "QuestionPlan",
    "Range",
    "Shuffled",
    "SurveyPlan",
    "Wanted",
    "Waves",
    "plan_survey",
]
