"""Explain an answer by segments: logistic regression through the noise. Needs only the kept statistics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

import msgspec

from deniable_server.errors import BadQuery
from deniable_server.estimator import regression as estimator
from deniable_server.estimator.regression import SOME_ONLY, Answered, Regression
from deniable_server.statistics import Cell, Codes

from .query import COMMON, Parameters, Query
from .source import Source


@dataclass(frozen=True, kw_only=True)
class RegressQuery(Query):
    """The answer whose odds are explained, and the segments that may explain them."""

    parameters: ClassVar[Mapping[str, str]] = {
        "question": "The question to explain.",
        "answer": "The code whose odds are explained. Default: yes.",
        "on": "A segment that may explain it. Can be repeated.",
        **COMMON,
    }

    question: str
    answer: str = "yes"
    on: tuple[str, ...]

    @classmethod
    def _read(cls, given: Parameters) -> Self:
        return cls(
            where=given.where(),
            confidence=given.confidence(),
            deff=given.deff(),
            question=given.question("question"),
            answer=given.one("answer") or "yes",
            on=tuple(given.segments("on")),
        )


class SurveyRegression(msgspec.Struct, frozen=True):
    """The fit, and what was asked for."""

    survey: str
    digest: str
    where: dict[str, str]
    regression: Regression


def regress(source: Source, query: RegressQuery) -> SurveyRegression:
    """The odds of an answer, explained by segments."""
    question = source.find(query.question)
    assert question is not None
    nothing = source.evidence_of(question, {})
    if nothing.is_scored:
        raise BadQuery(f"{query.question} has no shares to explain in this way. Compare it between groups instead")
    if nothing.is_conditional:
        raise BadQuery(f"{query.question} {SOME_ONLY}")
    if query.answer not in question.codes:
        raise BadQuery(f"answer takes a code of the question: {', '.join(question.codes)}")
    if not query.on or set(query.on) & set(query.where):
        raise BadQuery("on takes one or more segments that are not also in where")
    grouping = source.grouping
    grouping.check([*query.where, *query.on])
    groups = {name: grouping.groups(name) for name in query.on}
    for name, each in groups.items():
        if len(each) < 2:
            raise BadQuery(f"{name} has fewer than two groups that are large enough")
    numbers = [grouping.numbers(name) for name in query.on]
    combined: dict[Codes, dict[Codes, Cell]] = {}
    for codes, cell in grouping.select(query.where).items():
        combined.setdefault(tuple(number[codes[place]] for place, number in numbers), {})[codes] = cell
    answered = [Answered(places, source.evidence_of(question, cells)) for places, cells in combined.items()]
    names = {name: [group.code for group in each] for name, each in groups.items()}
    result = estimator.regress(nothing.question, query.answer, names, answered, confidence=query.confidence)
    return SurveyRegression(source.survey.id, source.document.digest, query.where, result)
