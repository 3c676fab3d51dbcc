"""Compare a question between the groups of a segment, or between two surveys. Needs only the kept statistics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import ClassVar, Self, TypeAlias

import msgspec

from deniable_server.errors import BadQuery
from deniable_server.estimator import comparison
from deniable_server.estimator.comparison import Comparison, Difference, GroupSize
from deniable_server.estimator.curves import Distance, distance
from deniable_server.estimator.evidence import Evidence
from deniable_server.estimator.weights import Weighed
from deniable_server.statistics import Cell, Codes

from .query import COMMON, WEIGHTS, Parameters, WeightedQuery
from .source import Source, check_sources
from .weights import Weighting, Weights, check_enough

MOST_DIFFERENCES = 5_000
"""In one answer: every answer of every pair of groups. About three seconds of work."""
MOST_DISTANCES = 100
"""Pairs of groups whose curves are compared."""


@dataclass(frozen=True, kw_only=True)
class CompareQuery(WeightedQuery):
    """The question, and either the segment whose groups are compared (``by``) or another survey (``other``)."""

    parameters: ClassVar[Mapping[str, str]] = {
        "question": "The question to compare.",
        "by": "A segment: its groups are compared with each other.",
        "with": "Another survey with the same question, such as the previous wave.",
        **COMMON,
        **WEIGHTS,
    }

    question: str
    by: str | None = None
    other: str | None = None

    @classmethod
    def _read(cls, given: Parameters) -> Self:
        return cls(
            **given.weighted(),
            question=given.question("question"),
            by=given.segment("by"),
            other=given.one("with"),
        )


class SurveyComparison(msgspec.Struct, frozen=True, omit_defaults=True, rename={"other": "with"}):
    """The differences, and what was asked for. ``weighted`` has them again with weights, where these were asked for;
    ``distances`` are those between the curves of a number question, not weighted;
    ``weighting`` the weights of this survey and, where it is compared with another, of that.
    """

    survey: str
    digest: str
    where: dict[str, str]
    date: str
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
    distances: list[Distance] = []
    weighted: Comparison | None = None
    weighting: list[Weighting] = []


def compare(source: Source, query: CompareQuery) -> SurveyComparison:
    """Every pair of groups of the segment, or this survey minus the other."""
    if (query.by is None) == (query.other is None):
        raise BadQuery("compare takes either by (a segment) or with (another survey)")
    if query.other is None:
        source = source.asked(query)
        groups, weighting = _by_segment(source, query, query.by or "")
        notes = [*source.notes]
    else:
        both = source, source.another(query.other)
        if query.without:  # perhaps one of them had this collector
            check_sources(query.without, *both)
            both = both[0].leaving_out(query.without), both[1].leaving_out(query.without)
        groups, weighting = _with_survey(*both, query)
        notes = [f"{each.survey.id}: {note}" for each in both for note in each.notes]
    result = comparison.compare([group._replace(weighed=None) for group in groups], query.aim)
    if len({group.question.text for group in groups}) > 1:
        notes.append("the two surveys word this question differently")
    return SurveyComparison(
        survey=source.survey.id,
        digest=source.document.digest,
        where=query.where,
        date=source.day.isoformat(),
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
        distances=_distances(groups, query),
        weighted=comparison.compare(groups, query.aim) if weighting else None,
        weighting=weighting,
    )


def _distances(groups: list[comparison.Group], query: CompareQuery) -> list[Distance]:
    """Of a number question: how far the curves of each two groups are apart."""
    if not groups[0].question.is_continuous or comb(len(groups), 2) > MOST_DISTANCES:
        return []
    pairs = combinations([(group.label, group.evidence) for group in groups], 2)
    return [distance(first, second, query.aim) for first, second in pairs if _same_values(first[1], second[1])]


def _same_values(one: Evidence, two: Evidence) -> bool:
    """Two waves at different epsilons can have other levels, and their curves other points."""
    levels = [max((part.channel.answers for part in each.parts), default=0) for each in (one, two)]
    return levels[0] == levels[1]


Groups: TypeAlias = tuple[list[comparison.Group], list[Weighting]]


def _by_segment(source: Source, query: CompareQuery, by: str) -> Groups:
    grouping = source.grouping(*query.where, by, *query.weights)
    grouping.check([*query.where, by])
    asked = source.find(query.question)
    assert asked is not None
    pairs = comb(len(grouping.groups(by)), 2)
    if pairs * (1 if asked.asks_mean else len(asked.codes)) > MOST_DIFFERENCES:
        raise BadQuery(
            f"{by} has {len(grouping.groups(by))} groups, which make {pairs:,} pairs: too many for one answer, which "
            f"has at most {MOST_DIFFERENCES:,} differences. See the estimates by {by} instead"
        )
    cells, weights = grouping.select(query.where), Weights.of(grouping, query)
    groups = [
        reported_group(source, query.question, group.code, grouping.within(cells, by, group), weights)
        for group in grouping.groups(by)
    ]
    if by in query.where or len(groups) < 2:
        raise BadQuery(f"{by} has fewer than two groups to compare here")
    return groups, [] if weights is None else [weights.described()]


def _with_survey(source: Source, other: Source, query: CompareQuery) -> Groups:
    """Such as two waves; their respondents are taken to be different people."""
    if other.survey.id == source.survey.id:
        raise BadQuery("a survey cannot be compared with itself")
    if other.find(query.question) is None:
        raise BadQuery("the other survey has no question with this id")
    groups, weighting = [], []
    for each in (source, other):
        known = {segment.id: [option.code for option in segment.options] for segment in each.survey.segments}
        codes = {(segment, code) for segment, codes in known.items() for code in codes}
        if unknown := sorted(set(query.where.items()) - codes):
            raise BadQuery(f"where must fit both surveys, and one has no {':'.join(unknown[0])}")
        for segment, shares in query.weights.items():
            if set(shares) != set(known.get(segment, ())):
                raise BadQuery(f"weights must fit both surveys, and {segment} is not the same in the two")
        grouping = each.grouping(*query.where, *query.weights)
        grouping.check(query.where)
        weights = Weights.of(grouping, query)
        cells = grouping.select(query.where)
        groups.append(reported_group(each, query.question, each.survey.id, cells, weights))
        weighting += [] if weights is None else [weights.described()]
    return groups, weighting


def reported_group(
    source: Source, question: str, label: str, cells: Mapping[Codes, Cell], weights: Weights | None
) -> comparison.Group:
    """What these cells report on a question, and with weights."""
    asked = source.find(question)
    assert asked is not None
    weighed = None
    if weights is not None:
        each = [(weight, source.evidence(asked, cell)) for weight, cell in weights.divide(cells)]
        weighed = Weighed(each, weights.raked)
        check_enough(weighed, source.minimum)
    return comparison.Group(label, source.evidence_of(asked, cells), weighed)
