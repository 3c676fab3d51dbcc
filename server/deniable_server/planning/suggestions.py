"""What would help: changes to a survey that make its results more precise, each of them really planned.

Planning takes a while, so this is asked for after the live plan, and each plan is a computation of its own. In between,
the server can answer others, or give up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import ceil
from typing import NamedTuple, Protocol, TypeVar

import msgspec

from deniable_protocol import Question, Scale, Survey, SurveyError

from .live import STOPS, Stop, live_plan
from .plan import in_booklets, with_epsilon
from .sample_size import Wanted, margin_of
from .shape import planned, shape_of, size_of
from .words import NOTHING, about, points

T = TypeVar("T")

MOST_HELPED = 100
"""Shares, means and cross-tabs together. Larger surveys take too long: this needs about nine plans."""
MOST_SUGGESTED = 3
NOTICEABLE = 0.95
"""A change helps if the margin becomes at most so many times what it was."""
PLANNED = 1_000
"""So many are planned with if nobody said how many; no comparison depends on it."""
FEWEST_OPTIONS = 5
"""Of a question with fewer, none are merged."""
GOAL = 0.10
"""The margin that people are counted for, if nobody said how many are expected, or if these would show nothing."""
SEVERAL = 4
"""If no single question is worth leaving out, so many times fewer than there are."""


class StopCost(msgspec.Struct, frozen=True):
    """How many people the same margin takes at one of the stops."""

    epsilon: str
    respondents: int
    people: str


class Help(msgspec.Struct, frozen=True):
    """``stops``: what each stop costs for this ``margin``, in the order of ``STOPS``. ``suggestions``: sentences, the
    best first.
    """

    margin: str
    stops: list[StopCost]
    suggestions: list[str]


class Ask(Protocol):
    """Calls a function, maybe in another process."""

    def __call__(self, function: Callable[..., T], *given: object) -> T: ...


class Case(NamedTuple):
    """What changes are tried on: a survey, for how many people, and its questions by what they cost, most first."""

    survey: Survey
    respondents: int | None
    by_cost: list[Question]


class Change(NamedTuple):
    """What to do, and the survey and number of people after it."""

    what: str
    survey: Survey
    respondents: int | None


def _call(function: Callable[..., T], *given: object) -> T:
    return function(*given)


def what_would_help(survey: Survey, respondents: int | None, ask: Ask = _call) -> Help:
    """Each plan is computed by ``ask``. SurveyError if the survey could not be published."""
    if size_of(shape_of(survey)) > MOST_HELPED:
        return Help("", [], [])
    now = ask(_worst, survey, respondents)
    case = Case(survey, respondents, ask(_by_cost, survey))
    helpful: list[tuple[Worst, Change]] = []
    for kind in KINDS:
        tried = [(_tried(change, ask), change) for change in kind(case)]
        found = [(then, change) for then, change in tried if then is not None and now.is_helped_by(then)]
        if found and not (kind is _leaving_out_several and helpful):
            helpful.append(min(found, key=lambda each: each[0].margin))
    helpful.sort(key=lambda each: each[0].margin)
    return Help(
        f"±{points(now.stated)}{now.unit}",
        [_cost(survey, stop, now, ask) for stop in STOPS],
        [f"{change.what}: {_becomes(now, then)}" for then, change in helpful[:MOST_SUGGESTED]],
    )


# --- the changes ----------------------------------------------------------------------------------------------------


def _leaving_out(case: Case) -> Iterator[Change]:
    """Each of the two questions that cost most, with its follow-ups."""
    for question in case.by_cost[:2]:
        gone = _with_follow_ups(case.survey, [question])
        more = " and its follow-ups" if len(gone) > 1 else ""
        yield from _without(case, gone, f"Leave out “{question.text}”{more}")


def _leaving_out_several(case: Case) -> Iterator[Change]:
    """A quarter of a long survey."""
    costly = case.by_cost[: len(case.by_cost) // SEVERAL]
    gone = _with_follow_ups(case.survey, costly)
    if len(gone) > 1:
        what = f"Leave out {len(gone)} questions that cost much, such as “{costly[0].text}”"
        yield from _without(case, gone, what)


def _without(case: Case, gone: set[str], what: str) -> Iterator[Change]:
    survey = case.survey
    kept = tuple(each for each in survey.questions if each.id not in gone)
    if kept and survey.epsilon is not None:
        together = tuple(names for names in survey.together if not gone & {_id(name) for name in names})
        changed = msgspec.structs.replace(survey, questions=kept, together=together)
        yield Change(what, changed, case.respondents)


def _fewer_options(case: Case) -> Iterator[Change]:
    """Of the costliest question with many options, the last that nothing depends on: which are rare, one has to say."""
    survey = case.survey
    for question in case.by_cost:
        needed = {code for each in survey.questions if each.show_if for code in each.show_if.codes}
        needed |= {name.partition(".")[2] for names in survey.together for name in names}
        free = [option for option in question.options if option.code not in needed]
        if len(question.options) >= FEWEST_OPTIONS and len(free) > 2:
            options = tuple(option for option in question.options if option not in free[-2:])
            yield Change(
                f"Merge the rarest answers to “{question.text}” into “Other” ({len(question.options)} become "
                f"{len(options)})",
                _with_question(survey, msgspec.structs.replace(question, options=options)),
                case.respondents,
            )
            return


def _without_table(case: Case) -> Iterator[Change]:
    survey = case.survey
    texts = {question.id: question.text for question in survey.questions}
    for place, names in enumerate(survey.together[:3]):
        together = survey.together[:place] + survey.together[place + 1 :]
        both = " with ".join(f"“{texts[_id(name)]}”" for name in names)
        yield Change(f"Do not compare {both}", msgspec.structs.replace(survey, together=together), case.respondents)


def _mean_instead(case: Case) -> Iterator[Change]:
    """Of the costliest scale that nothing else needs the shares of."""
    survey = case.survey
    used = {each.show_if.question for each in survey.questions if each.show_if}
    used |= {_id(name) for names in survey.together for name in names}
    for question in case.by_cost:
        is_free = question.id not in used and question.show_if is None and not question.decline
        if isinstance(question, Scale) and question.measure == "shares" and question.mechanism is None and is_free:
            changed = msgspec.structs.replace(question, measure="mean")
            what = f"Ask only for the average of “{question.text}”"
            yield Change(what, _with_question(survey, changed), case.respondents)
            return


def _one_epsilon(case: Case) -> Iterator[Change]:
    if (changed := in_booklets(case.survey)) is not None:
        what = "Ask each person only some of the questions, with one ε for the survey"
        yield Change(what, changed, case.respondents)


def _more_people(case: Case) -> Iterator[Change]:
    if case.respondents is not None:
        yield Change(f"Ask {2 * case.respondents:,} people", case.survey, 2 * case.respondents)


def _by_cost(survey: Survey) -> list[Question]:
    costs = [question.cost for question in live_plan(survey, None).questions]
    return [survey.questions[place] for place in sorted(range(len(costs)), key=lambda place: -costs[place])]


def _with_follow_ups(survey: Survey, questions: list[Question]) -> set[str]:
    gone = {question.id for question in questions}
    for each in survey.questions:  # a follow-up comes after what it depends on
        if each.show_if is not None and each.show_if.question in gone:
            gone.add(each.id)
    return gone


def _with_question(survey: Survey, changed: Question) -> Survey:
    questions = (changed if each.id == changed.id else each for each in survey.questions)
    return msgspec.structs.replace(survey, questions=tuple(questions))


def _id(name: str) -> str:
    return name.partition(".")[0]


KINDS: tuple[Callable[[Case], Iterator[Change]], ...] = (
    _leaving_out,
    _leaving_out_several,
    _fewer_options,
    _without_table,
    _mean_instead,
    _one_epsilon,
    _more_people,
)


# --- what they are worth --------------------------------------------------------------------------------------------


class Worst(NamedTuple):
    """The margin, with so many people, of the share that is known worst; of the mean if there are only means."""

    margin: float
    respondents: int | None
    is_share: bool

    @property
    def is_known(self) -> bool:
        return self.respondents is not None and self.margin < NOTHING

    @property
    def stated(self) -> float:
        """The margin to compare people for."""
        return self.margin if self.is_known else GOAL

    @property
    def unit(self) -> str:
        return " points" if self.is_share else "% of the range"

    def people_for(self, margin: float) -> int:
        """A margin falls with the square root of the people."""
        return ceil(round((self.respondents or PLANNED) * (self.margin / margin) ** 2, 6))

    def is_helped_by(self, then: Worst) -> bool:
        is_clear = then.is_known or (not self.is_known and self.respondents == then.respondents)
        return is_clear and self.is_share == then.is_share and then.margin <= NOTICEABLE * self.margin


def _worst(survey: Survey, respondents: int | None) -> Worst:
    known = [each for each in planned(shape_of(survey)).known if len(each.items) == 1]
    shares = [each for each in known if not each.items[0].asks_mean]
    people, wanted = respondents or PLANNED, Wanted()
    margins = [margin_of(each.variance, people, each.wanted(wanted)) for each in shares or known]
    return Worst(max(margins), respondents, bool(shares))


def _tried(change: Change, ask: Ask) -> Worst | None:
    """None where there can be no such survey: a follow-up has too many combinations of answers, say."""
    try:
        return ask(_worst, change.survey, change.respondents)
    except SurveyError:
        return None


def _becomes(now: Worst, then: Worst) -> str:
    if now.is_known:
        return f"±{points(now.margin)} becomes ±{points(then.margin)}{now.unit}."
    if then.is_known:
        return f"no information becomes ±{points(then.margin)}{now.unit}."
    before, after = about(now.people_for(GOAL)), about(then.people_for(GOAL))
    return f"for ±{points(GOAL)}{now.unit}, {after} people are enough instead of {before}."


def _cost(survey: Survey, stop: Stop, now: Worst, ask: Ask) -> StopCost:
    then = ask(_worst, with_epsilon(survey, Fraction(stop.epsilon)), now.respondents)
    people = then.people_for(now.stated)
    return StopCost(stop.epsilon, people, about(people))
