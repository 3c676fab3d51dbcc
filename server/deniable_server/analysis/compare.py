"""Compare a question between the groups of a segment, or between two surveys. Needs only the kept statistics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import comb
from typing import ClassVar, Self

import msgspec

from deniable_server.errors import BadQuery
from deniable_server.estimator import comparison
from deniable_server.estimator.comparison import Difference, GroupSize
from deniable_server.statistics import Cell, Codes

from .query import COMMON, Parameters, Query
from .source import Source, check_sources

MOST_DIFFERENCES = 5_000
"""In one answer: every answer of every pair of groups. About three seconds of work."""


@dataclass(frozen=True, kw_only=True)
class CompareQuery(Query):
    """The question, and either the segment whose groups are compared (``by``) or another survey (``other``)."""

    parameters: ClassVar[Mapping[str, str]] = {
        "question": "The question to compare.",
        "by": "A segment: its groups are compared with each other.",
        "with": "Another survey with the same question, such as the previous wave.",
        **COMMON,
    }

    question: str
    by: str | None = None
    other: str | None = None

    @classmethod
    def _read(cls, given: Parameters) -> Self:
        return cls(
            **given.common(),
            question=given.question("question"),
            by=given.segment("by"),
            other=given.one("with"),
        )


class SurveyComparison(msgspec.Struct, frozen=True, omit_defaults=True, rename={"other": "with"}):
    """The differences, and what was asked for."""

    survey: str
    digest: str
    where: dict[str, str]
    confidence: float
    question: str
    type: str
    groups: list[GroupSize]
    differences: list[Difference]
    notes: list[str]
    deff: float
    by: str | None = None
    other: str | None = None
    anytime: bool = False
    without: tuple[str, ...] = ()


def compare(source: Source, query: CompareQuery) -> SurveyComparison:
    """Every pair of groups of the segment, or this survey minus the other."""
    if (query.by is None) == (query.other is None):
        raise BadQuery("compare takes either by (a segment) or with (another survey)")
    if query.other is None:
        source = source.asked(query)
        groups, notes = _by_segment(source, query, query.by or ""), [*source.notes]
    else:
        both = source, source.another(query.other)
        if query.without:  # perhaps one of them had this collector
            check_sources(query.without, *both)
            both = both[0].leaving_out(query.without), both[1].leaving_out(query.without)
        groups = _with_survey(*both, query)
        notes = [f"{each.survey.id}: {note}" for each in both for note in each.notes]
    result = comparison.compare(groups, query.aim)
    if len({group.question.text for group in groups}) > 1:
        notes.append("the two surveys word this question differently")
    return SurveyComparison(
        survey=source.survey.id,
        digest=source.document.digest,
        where=query.where,
        without=query.without,
        confidence=query.confidence,
        question=query.question,
        type=result.type,
        groups=result.groups,
        differences=result.differences,
        notes=notes,
        by=query.by,
        other=None if query.other is None else groups[1].label,
        anytime=query.anytime,
        deff=query.deff,
    )


def _by_segment(source: Source, query: CompareQuery, by: str) -> list[comparison.Group]:
    grouping = source.grouping(*query.where, by)
    grouping.check([*query.where, by])
    asked = source.find(query.question)
    assert asked is not None
    pairs = comb(len(grouping.groups(by)), 2)
    if pairs * (1 if asked.asks_mean else len(asked.codes)) > MOST_DIFFERENCES:
        raise BadQuery(
            f"{by} has {len(grouping.groups(by))} groups, which make {pairs:,} pairs: too many for one answer, which "
            f"has at most {MOST_DIFFERENCES:,} differences. See the estimates by {by} instead"
        )
    cells = grouping.select(query.where)
    groups = [
        reported_group(source, query.question, group.code, grouping.within(cells, by, group))
        for group in grouping.groups(by)
    ]
    if by in query.where or len(groups) < 2:
        raise BadQuery(f"{by} has fewer than two groups to compare here")
    return groups


def _with_survey(source: Source, other: Source, query: CompareQuery) -> list[comparison.Group]:
    """Such as two waves; their respondents are taken to be different people."""
    if other.survey.id == source.survey.id:
        raise BadQuery("a survey cannot be compared with itself")
    if other.find(query.question) is None:
        raise BadQuery("the other survey has no question with this id")
    groups = []
    for each in (source, other):
        codes = {(segment.id, option.code) for segment in each.survey.segments for option in segment.options}
        if unknown := sorted(set(query.where.items()) - codes):
            raise BadQuery(f"where must fit both surveys, and one has no {':'.join(unknown[0])}")
        grouping = each.grouping(*query.where)
        grouping.check(query.where)
        groups.append(reported_group(each, query.question, each.survey.id, grouping.select(query.where)))
    return groups


def reported_group(source: Source, question: str, label: str, cells: Mapping[Codes, Cell]) -> comparison.Group:
    """What these cells report on a question."""
    asked = source.find(question)
    assert asked is not None
    return comparison.Group(label, source.evidence_of(asked, cells))
