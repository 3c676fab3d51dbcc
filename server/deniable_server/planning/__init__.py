"""Planning: which questions to ask together, how many respondents a survey needs, what protection costs it, and what it
spends. No input or output.
"""

from deniable_server.errors import PlanError

from .design import Design, design_booklets, publish_survey
from .limits import check_size
from .live import LivePlan, live_plan
from .plan import AtEpsilon, BookletPlan, Given, QuestionPlan, Range, SurveyPlan, TablePlan, plan_survey
from .sample_size import Wanted
from .shuffling import Shuffled
from .suggestions import Help, what_would_help
from .textbook import Alternative
from .warnings import warn_of_exposure
from .waves import Rotation, Waves

__all__ = [
    "Alternative",
    "AtEpsilon",
    "BookletPlan",
    "Design",
    "Given",
    "Help",
    "LivePlan",
    "PlanError",
    "QuestionPlan",
    "Range",
    "Rotation",
    "Shuffled",
    "SurveyPlan",
    "TablePlan",
    "Wanted",
    "Waves",
    "check_size",
    "design_booklets",
    "live_plan",
    "plan_survey",
    "publish_survey",
    "warn_of_exposure",
    "what_would_help",
]
