"""What a survey will show, while somebody writes it: the answer of the panel next to the editor, after each change.

The figures are those of ``plan_survey``, at 95% confidence. May not: read or write anything, or know of pages.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import msgspec

from deniable_protocol import Account, Document, Survey
from deniable_server.wording import account_in_words, found_in_words, in_decimals

from .limits import check_size
from .plan import Range, asked_part, margin_among, plan_tables, range_of, worst_variance
from .sample_size import Wanted, margin_of, respondents_for_margin
from .shape import Planned, planned, shape_of, size_of
from .warnings import by_text, warn_of_exposure
from .words import NOTHING, about, amount, listed, points, within

MOST_LIVE = 500
"""Shares, means and cross-tabs together: so many are planned in less than two seconds. 200 mixed questions have 300."""
RECOMMENDED = "2"
"""The ε that we recommend."""
MARGINS = (0.10, 0.05, 0.03)
CELLS = 5 / 3
"""Cells of cross-tabs are planned with margins that are so many times as wide as those of shares."""
COSTLY = 1.25
"""A question costs most if it takes so many times the average part of what people report on …"""
NEARLY = 0.98
"""… and no other takes so nearly as much."""


class Stop(msgspec.Struct, frozen=True):
    """A place on the scale of epsilon with a name, and what it means for one respondent, after ``SUPPOSE``."""

    epsilon: str
    name: str
    meaning: str
    recommended: bool


STOPS = tuple(
    Stop(epsilon, name, found_in_words(Account.of(epsilon)), epsilon == RECOMMENDED)
    for epsilon, name in (("1", "Strong"), (RECOMMENDED, "Balanced"), ("4", "Light"))
)


class LiveQuestion(msgspec.Struct, frozen=True):
    """One question, by its place in the survey.

    ``within`` is its margin in words, empty if nobody said how many people are expected. ``among`` is that of a
    follow-up among those to whom it applies, if these are half of all people. ``asked`` is how many in 100 people
    are asked it. ``cost`` is the part of all that people report on that it takes, with its follow-ups;
    ``costs_most`` if that is the most, and clearly more than the average.
    """

    place: int
    text: str
    type: str
    range: Range | None
    margin: float | None
    among: float | None
    within: str
    asked: str
    cost: float
    costs_most: bool


class LiveTable(msgspec.Struct, frozen=True):
    """A wanted cross-tab: the texts of its questions, and the margin of its cells."""

    questions: list[str]
    margin: float | None
    within: str


class Needed(msgspec.Struct, frozen=True):
    """How many people know everything within so many points (cells of cross-tabs: 5/3 of that)."""

    margin: float
    points: str
    respondents: int
    people: str


class LivePlan(msgspec.Struct, frozen=True):
    """What the panel shows. ``headline`` is a sentence, ``meaning`` explains its margin.

    If the survey is too large to be planned while somebody writes, the headline says so, and there are no figures.
    """

    headline: str
    meaning: str
    respondents: int | None
    questions: list[LiveQuestion]
    tables: list[LiveTable]
    needed: list[Needed]
    asked: str
    epsilon: str
    epsilon_in_words: str
    warnings: list[str]


def live_plan(survey: Survey, respondents: int | None) -> LivePlan:
    """What so many people will show. SurveyError if the survey could not be published."""
    check_size(survey)  # its errors name questions by their ids
    shape = shape_of(survey)
    if size_of(shape) > MOST_LIVE:
        return _too_large(survey)
    plan = planned(shape)
    wanted = Wanted(respondents=None if respondents is None else max(respondents, 2))
    questions = _questions(survey, plan, wanted)
    account = plan.document.account
    return LivePlan(
        headline=headline(questions, respondents),
        meaning=_meaning(questions) if respondents is not None else "",
        respondents=respondents,
        questions=questions,
        tables=_tables(survey, plan, wanted),
        needed=[_needed(plan, margin) for margin in MARGINS],
        asked=_asked_of_each(plan.document),
        epsilon=in_decimals(account.epsilon),
        epsilon_in_words=account_in_words(account),
        warnings=warn_of_exposure(survey, account, by_text),
    )


def _too_large(survey: Survey) -> LivePlan:
    account = Account(survey.exact_epsilon, _largest_delta(survey))
    return LivePlan(
        headline="This survey is too long to be planned while you write. Its plan is shown before you publish it.",
        meaning="",
        respondents=None,
        questions=[],
        tables=[],
        needed=[],
        asked="",
        epsilon=in_decimals(account.epsilon),
        epsilon_in_words=account_in_words(account),
        warnings=warn_of_exposure(survey, account, by_text),
    )


def _largest_delta(survey: Survey) -> Fraction:
    """A question with a delta is always a part by itself: one booklet has one of them, or all if everybody is asked."""
    deltas = [question.exact_delta or Fraction(0) for question in survey.questions]
    return sum(deltas, Fraction(0)) if survey.epsilon is None else max(deltas)


# --- each question and cross-tab -----------------------------------------------------------------------------------


def _questions(survey: Survey, plan: Planned, wanted: Wanted) -> list[LiveQuestion]:
    costs = _costs(plan.document)
    most = max(costs)
    is_clear = most * len(costs) >= COSTLY and sum(cost > NEARLY * most for cost in costs) == 1
    found = []
    for place, (question, shape) in enumerate(zip(survey.questions, plan.document.survey.questions, strict=True)):
        one = LiveQuestion(
            place=place,
            text=question.text,
            type=question.type,
            range=range_of(question),
            margin=None,
            among=None,
            within="",
            asked=_of_hundred(asked_part(plan.document, shape)),
            cost=costs[place],
            costs_most=is_clear and costs[place] == most,
        )
        if wanted.respondents is not None:
            asked = wanted.of_question(shape)
            margin = margin_of(worst_variance(plan.known, shape, asked), wanted.respondents, asked)
            among = margin_among(plan.known, shape, wanted.respondents, wanted)
            words = within(margin, one) if among is None else f"{within(among)} of those it applies to"
            one = msgspec.structs.replace(one, margin=margin, among=among, within=words)
        found.append(one)
    return found


def _costs(document: Document) -> list[float]:
    """The part of all that people report on that each question takes with its follow-ups, which go if it does. What a
    booklet has is shared by its items. If everybody is asked everything, no question takes anything from another.
    """
    survey = document.survey
    places = {question.id: place for place, question in enumerate(survey.questions)}
    costs = [0.0] * len(places)
    if survey.epsilon is None:
        return costs
    total = sum(booklet.weight for booklet in document.booklets)
    for number, booklet in enumerate(document.booklets):
        items = [item for part in document.parts_of(number) for item in part.items]
        for item in items:
            costs[places[item.question.id]] += booklet.weight / total / len(items)
    for question in reversed(survey.questions):  # a follow-up comes after what it depends on
        if question.show_if is not None:
            costs[places[question.show_if.question]] += costs[places[question.id]]
    return costs


def _of_hundred(part: float) -> str:
    if part >= 1:
        return "everybody"
    return f"{round(100 * part)} in 100 people" if part >= 0.015 else "about 1 in 100 people, or fewer"


def _tables(survey: Survey, plan: Planned, wanted: Wanted) -> list[LiveTable]:
    texts = {f"q{place}": question for place, question in enumerate(survey.questions)}

    def text(name: str) -> str:
        question, _, option = name.partition(".")
        asked = texts[question]
        return asked.options[int(option[1:])].text if option else asked.text

    return [
        LiveTable(
            [text(name) for name in table.questions],
            table.margin,
            "" if table.margin is None else within(table.margin),
        )
        for table in plan_tables(plan.known, wanted)
    ]


def _needed(plan: Planned, margin: float) -> Needed:
    wanted = Wanted(margin=margin, cells=margin * CELLS)
    people = max(respondents_for_margin(each.variance, each.wanted(wanted)) for each in plan.known)
    return Needed(margin, points(margin), people, about(people))


def _asked_of_each(document: Document) -> str:
    """How many questions one person is asked: follow-ups count, whether they are shown or not."""
    weights = Counter[int]()
    for number, booklet in enumerate(document.booklets):
        weights[len(document.asked(number))] += booklet.weight
    total, least, most = len(document.survey.questions), min(weights), max(weights)
    if least == most:
        part = f"{least} of the {total} questions" if least < total else "every question"
        return f"Each person is asked {part}."
    usual = max(weights, key=lambda count: (weights[count], -count))
    return f"Each person is asked {least} to {most} of the {total} questions, most often {usual}."


# --- in words ------------------------------------------------------------------------------------------------------


def headline(questions: list[LiveQuestion], respondents: int | None) -> str:
    """What will be known, in one sentence."""
    if respondents is None:
        return "Say how many people you expect, and you will see how much you will know."
    people = f"With {respondents:,} {'person' if respondents == 1 else 'people'} you will"
    margins = [question.margin for question in questions if question.margin is not None]
    if min(margins) >= NOTHING:
        return f"{people} learn nothing: chance hides every answer."
    if max(margins) >= NOTHING:
        return f"{people} know some answers within about ±{points(min(margins))} points, and others not at all."
    return f"{people} know {listed(_known(questions))}."


def _known(questions: list[LiveQuestion]) -> list[str]:
    shares, means = _margins(questions, mean=False), [question for question in questions if question.range]
    found = [f"each answer within about ±{points(max(shares))} points"] if shares else []
    among = [each.among for each in questions if each.among is not None]
    if among:
        found.append(f"each follow-up within about ±{points(min(max(among), 1))} points of those it applies to")
    if len(means) == 1:
        found.append(f"the average within about ±{amount(means[0].margin or 0, means[0])}")
    elif means:
        found.append(f"each average within about ±{points(max(_margins(questions, mean=True)))}% of its range")
    return found


def _margins(questions: list[LiveQuestion], *, mean: bool) -> list[float]:
    return [each.margin for each in questions if each.margin is not None and (each.range is not None) == mean]


def _meaning(questions: list[LiveQuestion]) -> str:
    """The margin of shares, on the example of one, and how many get follow-ups."""
    shares = [margin for margin in _margins(questions, mean=False) if margin < NOTHING]
    if not shares:
        return ""
    size = points(max(shares))
    low, high = max(40 - float(size), 0), min(40 + float(size), 100)
    example = (
        f"±{size} points: if the result says 40%, the truth is between {low:g}% and {high:g}%, 19 times out of 20."
    )
    follow_ups = (
        " Follow-ups: if they apply to half of the people. If they apply to fewer, they are known less exactly."
    )
    return example + follow_ups * any(each.among is not None for each in questions)
