"""Explain an answer by segments and by answers to questions of the same part: logistic regression through the noise.
Needs only the kept statistics.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import ClassVar, NamedTuple, Self

import msgspec

from deniable_protocol import Question
from deniable_server.errors import BadQuery
from deniable_server.estimator import regression as estimator
from deniable_server.estimator.evidence import Evidence
from deniable_server.estimator.regression import SOME_ONLY, Answered, Regression, common_parts
from deniable_server.statistics import Cell, Codes

from .crosstab import Cells, Named
from .query import COMMON, Parameters, Query
from .source import Source

MOST_COMBINED = 100
"""Combinations of the groups of segments that a regression is fitted to: a few seconds of work."""


@dataclass(frozen=True, kw_only=True)
class RegressQuery(Query):
    """The answer whose odds are explained, and the segments and questions that may explain them."""

    parameters: ClassVar[Mapping[str, str]] = {
        "question": "The question to explain.",
        "answer": "The code whose odds are explained. Default: yes.",
        "on": "A segment that may explain it, or a question that is reported together with it (of several choices: "
        "question.code). Can be repeated.",
        "reference": "segment:code or question:code, the code that the others are compared with. Can be repeated. "
        "Default: the first code.",
        **COMMON,
        "anytime": "Only 0: the coefficients of a regression are for one look.",
    }

    question: str
    answer: str = "yes"
    on: tuple[str, ...]
    reference: dict[str, str] = field(default_factory=dict)

    @classmethod
    def _read(cls, given: Parameters) -> Self:
        query = cls(
            **given.common(),
            question=given.question("question"),
            answer=given.one("answer") or "yes",
            on=tuple(dict.fromkeys(given.all("on"))),
            reference=given.pairs("reference"),
        )
        if query.anytime:
            raise BadQuery(
                "anytime is not possible here: intervals of coefficients are for one look, and no method makes them "
                "valid for many. Compare groups instead, or look once, when the survey is closed"
            )
        return query


class SurveyRegression(msgspec.Struct, frozen=True, omit_defaults=True):
    """The fit, and what was asked for."""

    survey: str
    digest: str
    where: dict[str, str]
    date: str
    regression: Regression
    deff: float
    without: tuple[str, ...] = ()

    @property
    def confidence(self) -> float:
        return self.regression.confidence


def regress(source: Source, query: RegressQuery) -> SurveyRegression:
    """The odds of an answer, explained by segments and by questions of the same part."""
    source = source.asked(query)
    question = source.find(query.question)
    assert question is not None
    asked = _explained(source, question, query)
    others = [_other(source, name, question) for name in query.on if name not in source.segments]
    if others:
        _check_part(asked, query.answer, [each.evidence(source, {}) for each in others])
    groups, segments = _groups(source, query)
    answered = [
        Answered(group.who, source.evidence_of(question, group.cells), _each(source, others, group.cells))
        for group in groups
    ]
    codes = {**segments, **{each.name: each.evidence(source, {}).question.codes for each in others}}
    result = estimator.regress(
        asked.question, query.answer, segments, answered, query.aim, references=_references(query, codes)
    )
    return SurveyRegression(
        source.survey.id,
        source.document.digest,
        query.where,
        source.day.isoformat(),
        result,
        query.deff,
        query.without,
    )


def _explained(source: Source, question: Question, query: RegressQuery) -> Evidence:
    """The evidence of nobody on the question, to see that its shares can be explained."""
    nothing = source.evidence_of(question, {})
    if nothing.is_scored:
        raise BadQuery(f"{query.question} has no shares to explain in this way. Compare it between groups instead")
    if nothing.is_conditional:
        raise BadQuery(f"{query.question} {SOME_ONLY}")
    if query.answer not in question.codes:
        raise BadQuery(f"answer takes a code of the question: {', '.join(question.codes)}")
    if not query.on or set(query.on) & set(query.where):
        raise BadQuery("on takes one or more segments or questions that are not also in where")
    return nothing


def _other(source: Source, name: str, explained: Question) -> Named:
    """A question that may explain the other one."""
    start, _, option = name.partition(".")
    question = source.find(start)
    several = question is not None and question.type == "multi_choice"
    if question is None or several != bool(option) or (option and option not in question.codes):
        known = [each.id for each in source.survey.segments]
        for each in source.survey.questions:
            known += [f"{each.id}.{code}" for code in each.codes] if each.type == "multi_choice" else [each.id]
        raise BadQuery(f"on takes segments and questions: {', '.join(known)}")
    if question.id == explained.id:
        raise BadQuery("a question cannot explain itself")
    named = Named(name, question, option or None)
    nothing = named.evidence(source, {})
    if nothing.is_scored:
        raise BadQuery(f"{name} has no shares, and can explain nothing in this way")
    if nothing.is_conditional:
        raise BadQuery(f"{name} is asked of some people only, and cannot explain an answer of all. Leave it out")
    return named


def _check_part(asked: Evidence, answer: str, others: Sequence[Evidence]) -> None:
    if not common_parts(asked, answer, others):
        own = asked.question.id if asked.is_exclusive else f"{asked.question.id}.{answer}"
        names = [own, *(each.question.id for each in others)]
        listed = ", ".join(f'"{name}"' for name in names)
        raise BadQuery(
            f"No respondent reports on {' and '.join(names)} at once, so the one cannot be explained by the others. A "
            f"survey that should do so needs, before it is published: together = [[{listed}]]"
        )


def _each(source: Source, others: Iterable[Named], cells: Cells) -> tuple[Evidence, ...]:
    return tuple(each.evidence(source, cells) for each in others)


def _references(query: RegressQuery, codes: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The codes to compare with. One that was merged with others stands for the group that it belongs to."""
    chosen = {}
    for name, code in query.reference.items():
        group = next((each for each in codes.get(name, ()) if code in each.split("+")), None)
        if group is None:
            known = "; ".join(f"{each}:{'|'.join(its)}" for each, its in codes.items())
            raise BadQuery(f"reference takes a code of what is in on: {known}")
        chosen[name] = group
    return chosen


# --- who is in a group -------------------------------------------------------------------------------------------


class _Group(NamedTuple):
    """Submissions that are counted together: how many have each combination of codes, and their cells."""

    who: dict[Codes, float]
    cells: dict[Codes, Cell]

    @property
    def size(self) -> float:
        return sum(self.who.values())


def _groups(source: Source, query: RegressQuery) -> tuple[list[_Group], dict[str, list[str]]]:
    """The groups of people to count, and the codes of each segment.

    Groups of every segment are large enough by themselves, also among those in ``where``; combinations of several
    segments are merged until they are.
    """
    names = [name for name in query.on if name in source.segments]
    grouping = source.grouping(*query.where, *names)
    segments = {name: [group.code for group in grouping.groups(name)] for name in names}
    for name in names:
        grouping.check([*query.where, name])
        if len(segments[name]) < 2:
            raise BadQuery(f"{name} has fewer than two groups that are large enough")
    if (found := prod(len(codes) for codes in segments.values())) > MOST_COMBINED:
        raise BadQuery(
            f"{' and '.join(names)} make {found:,} combinations of groups, and a regression takes at most "
            f"{MOST_COMBINED}. Leave one of them out"
        )
    numbers = [grouping.numbers(name) for name in names]
    combined: dict[Codes, _Group] = {}
    for codes, cell in grouping.select(query.where).items():
        places = tuple(number[codes[place]] for place, number in numbers)
        group = combined.setdefault(places, _Group({places: 0.0}, {}))
        group.who[places] += cell.submissions
        group.cells[codes] = cell
    return merged([group for group in combined.values() if group.size], grouping.minimum), segments


def merged(groups: Sequence[_Group], minimum: int) -> list[_Group]:
    """Each group that is too small is merged with the nearest: the one whose most frequent combination differs in the
    fewest codes, of several the smallest. So nothing that is fitted is about fewer people than the minimum.
    """
    left = sorted(groups, key=lambda group: (group.size, [*group.who]))
    while len(left) > 1 and left[0].size < minimum:
        small, *others = left
        near = min(others, key=lambda other: (_distance(small, other), other.size))
        both = _Group({**near.who, **small.who}, {**near.cells, **small.cells})
        left = sorted([both, *(each for each in others if each is not near)], key=lambda group: group.size)
    return left


def _distance(one: _Group, two: _Group) -> int:
    places = (max(each.who, key=lambda codes: each.who[codes]) for each in (one, two))
    return sum(a != b for a, b in zip(*places, strict=True))
