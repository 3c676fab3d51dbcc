"""What to think twice about before a survey is published."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from deniable_protocol import DEFAULT_BUDGET, Account, Document, Question, Segment, Survey
from deniable_server.wording import cases, found_percent, in_decimals, in_symbols, names_in_words, strength

from .repeats import repeated_questions, repeated_segments, words_of
from .words import about, margins_given

if TYPE_CHECKING:
    from .plan import SurveyPlan

TOO_WIDE = 0.10
"""If no margin is below this, the survey hardly finds out anything."""
LARGEST_ADVISED = 4
"""Epsilon."""
MOST_NAMED = 3

Name: TypeAlias = Callable[[Question | Segment], str]
PROTECTED = re.compile("randomi[sz]|anonym|confidential|protected|encrypt|deniab")
"""How words begin that a segment's text must not use: its answer is sent as it is."""


def by_id(asked: Question | Segment) -> str:
    """For people who write survey files."""
    return asked.id


def by_text(asked: Question | Segment) -> str:
    """For people who do not see ids."""
    return f"“{asked.text}”"


def warn(plan: SurveyPlan, document: Document) -> list[str]:
    """What should keep a survey from being published as it is."""
    return [*_too_wide(plan), *warn_of_exposure(document.survey, document.account)]


def warn_of_exposure(survey: Survey, account: Account, called: Name = by_id) -> list[str]:
    """What exposes respondents: the total of what one person sends, questions that ask the same, and segments that are
    not what they seem. ``called`` names questions and segments.
    """
    return [*_too_open(account), *_asked_again(survey, called), *_in_the_clear(survey, called)]


def _too_wide(plan: SurveyPlan) -> Iterator[str]:
    n = plan.wanted.respondents
    if n is None or min(margin for margins in margins_given(plan) for margin in margins) <= TOO_WIDE:
        return
    # The margin falls with the square root of the respondents.
    enough = math.ceil(plan.respondents * (plan.wanted.margin / TOO_WIDE) ** 2)
    yield (
        f"With {n:,} respondents every result is uncertain by more than 10 points either way. Find more respondents "
        f"(about {about(enough)} for ±10 points), ask fewer questions, or ask for fewer answers to each."
    )


def _too_open(account: Account) -> Iterator[str]:
    """Only totals count: what one question spends says nothing about a person who answers all of them."""
    if account.epsilon > LARGEST_ADVISED:
        hardly = strength(account) == "hardly"
        protects = "hardly at all" if hardly else "only weakly"
        found = "nearly always" if hardly else f"up to {found_percent(account):g}% of the time"
        yield (
            f"ε = {in_decimals(account.epsilon)} in total protects people {protects}. Someone who accepts being wrong "
            f"about 5% of them could find out the truth {found}. We recommend ε = 2, and no more than "
            f"{LARGEST_ADVISED}."
        )
    if account.delta > DEFAULT_BUDGET.delta:
        yield (
            f"δ = {in_decimals(account.delta)} in total is too much: at worst, it is as if {cases(account.delta)} "
            f"people sent their true answers unchanged. Keep it to {in_decimals(DEFAULT_BUDGET.delta)}."
        )
    if not account.within(DEFAULT_BUDGET):
        yield (
            f"Clients refuse this survey by default. From one device they send at most {in_symbols(DEFAULT_BUDGET)} in "
            "total, over all surveys. The survey’s own page cannot ask it, and an app only with a higher budget."
        )


def _asked_again(survey: Survey, called: Name) -> Iterator[str]:
    for questions in repeated_questions(survey):
        names = _listed([called(question) for question in questions])
        times = "twice" if len(questions) == 2 else f"{len(questions)} times"
        if survey.epsilon is None:
            spent = sum((Account.of(each.epsilon or 0, each.delta or 0) for each in questions), Account())
            yield (
                f"{names} ask nearly the same. Asked {times}, together they reveal as much as one question at "
                f"{in_symbols(spent)}. Ask once."
            )
        else:
            yield (
                f"{names} ask nearly the same. Asked {times}, they share the respondents that one question would have. "
                "Ask once."
            )


def _listed(names: list[str]) -> str:
    more = len(names) - MOST_NAMED
    return names_in_words([*names[:MOST_NAMED], f"{more} more"] if more > 1 else names)


def _in_the_clear(survey: Survey, called: Name) -> Iterator[str]:
    for segment, question in repeated_segments(survey):
        yield (
            f"The segment {called(segment)} asks nearly the same as the question {called(question)}. Segments are sent "
            "exactly as people answer, so this answer would not be protected at all. Leave one of the two out."
        )
    for segment in survey.segments:
        if any(PROTECTED.match(word) for word in words_of(" ".join(_texts(segment)))):
            yield (
                f"The text of the segment {called(segment)} sounds as if its answer were protected. Segments are sent "
                "exactly as people answer, and respondents read that next to it. Ask a question instead, or change "
                "the text."
            )


def _texts(segment: Segment) -> Sequence[str]:
    return [segment.text, *(option.text for option in segment.options)]
