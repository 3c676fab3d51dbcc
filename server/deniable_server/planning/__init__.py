"""Planning: which questions to ask together, how many respondents a survey needs, what protection costs it, and what it
spends. No input or output.
"""

from deniable_server.errors import PlanError

from .design import Design, design_booklets, publish_survey
from .plan import AtEpsilon, BookletPlan, Given, QuestionPlan, Range, SurveyPlan, TablePlan, plan_survey
from .sample_size import Wanted
from .shuffling import Shuffled
from .textbook import Alternative
from .waves import Rotation, Waves

__all__ = [
    "Alternative",
    "AtEpsilon",
    "BookletPlan",
    "Design",
    "Given",
    "PlanError",
    "QuestionPlan",
    "Range",
    "Rotation",
    "Shuffled",
    "SurveyPlan",
    "TablePlan",
    "Wanted",
    "Waves",
    "design_booklets",
    "plan_survey",
    "publish_survey",
]
