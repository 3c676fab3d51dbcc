"""Estimate shares and means of a survey, with intervals, from the kept statistics alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import msgspec
from msgspec import UNSET, UnsetType

from deniable_protocol import Question
from deniable_server.errors import BadQuery, ImpossibleWeights, Withheld
from deniable_server.estimator import QuestionEstimate, Weighted, estimate_question, estimate_weighted
from deniable_server.estimator.intervals import Aim
from deniable_server.estimator.weights import rake, weigh
from deniable_server.statistics import Cell, Codes
from deniable_server.wording import method_in_words

from .groups import Grouping
from .query import COMMON, Margins, Parameters, Query
from .source import Source


@dataclass(frozen=True, kw_only=True)
class EstimateQuery(Query):
    """Whom the estimates are about, and what is estimated besides."""

    parameters: ClassVar[Mapping[str, str]] = {
        **COMMON,
        "by": "A segment: also show the estimates of each of its groups.",
        "simultaneous": "Intervals that are correct for all options of a question at once.",
        "target": "What the intervals are about: population (default), or respondents for those who answered.",
        "population": "Population size, if a large part of it answered (finite-population correction).",
        "weight": "segment:code:share, for every code of a segment: also show estimates weighted to these shares.",
        "distribution": "Also show the likely distribution of number questions: a curve without intervals.",
    }
    flags: ClassVar[frozenset[str]] = frozenset({"simultaneous", "distribution"})

    by: str | None = None
    simultaneous: bool = False
    target: str = "population"
    population: int | None = None
    weights: Margins = field(default_factory=dict)
    distribution: bool = False

    @property
    def aim(self) -> Aim:
        return replace(super().aim, population=self.population)

    @classmethod
    def _read(cls, given: Parameters) -> Self:
        query = cls(
            where=given.where(),
            confidence=given.confidence(),
            by=given.segment("by"),
            simultaneous=given.flag("simultaneous"),
            target=given.one("target") or "population",
            population=given.population(),
            weights=given.weights(),
            distribution=given.flag("distribution"),
        )
        if query.target not in ("population", "respondents"):
            raise BadQuery("target takes population or respondents")
        if query.target == "respondents" and (query.weights or query.population):
            raise BadQuery("weights and a population size need target=population")
        return query


class GroupEstimates(msgspec.Struct, frozen=True):
    """The estimates of the submissions with one segment code, or with one of several that are merged."""

    segment: str
    code: str
    submissions: int
    questions: list[QuestionEstimate]
    merged: list[str] | UnsetType = UNSET


class Weighting(msgspec.Struct, frozen=True):
    """The margins that submissions are weighted to, and the extremes of the weights, which are 1 on average."""

    margins: Margins
    smallest: float
    largest: float


class SurveyEstimates(msgspec.Struct, frozen=True, omit_defaults=True):
    """Everything that is estimated of a survey, and what was asked for. ``epsilon`` is what one submission may show,
    all of it together. ``methods`` says of each question how its numbers were made, for people who read them elsewhere;
    ``notes`` what a reader must know of the whole survey, whatever part of it is asked about.
    """

    survey: str
    digest: str
    status: str
    submissions: int
    epsilon: str
    confidence: float
    where: dict[str, str]
    questions: list[QuestionEstimate]
    methods: dict[str, str]
    notes: list[str]
    groups: list[GroupEstimates] | None = None
    target: str = "population"
    population: int | None = None
    simultaneous: bool = False
    weighting: Weighting | None = None


def estimates(source: Source, query: EstimateQuery) -> SurveyEstimates:
    """All questions, of all submissions that are asked about, and of their groups."""
    grouping = source.grouping
    # Estimates under different weights can be subtracted as those of groups can.
    grouping.check([*query.where, *([] if query.by is None else [query.by]), *query.weights])
    weights = _weights(grouping, query.weights)
    cells = grouping.select(query.where)
    submissions = sum(cell.submissions for cell in cells.values())
    if query.population is not None and query.population < submissions:
        raise BadQuery(f"population is smaller than the {submissions} submissions that came from it")
    return SurveyEstimates(
        survey=source.survey.id,
        digest=source.document.digest,
        status=source.status,
        submissions=submissions,
        epsilon=source.document.epsilon,
        confidence=query.confidence,
        where=query.where,
        questions=_questions(source, cells, query, weights),
        methods={question.id: method_in_words(source.document, question) for question in source.survey.questions},
        notes=source.notes,
        groups=None if query.by is None else _groups(source, cells, query, query.by, weights),
        target=query.target,
        population=query.population,
        simultaneous=query.simultaneous,
        weighting=Weighting(query.weights, min(weights.values()), max(weights.values())) if weights else None,
    )


def _groups(
    source: Source, cells: Mapping[Codes, Cell], query: EstimateQuery, by: str, weights: Mapping[Codes, float]
) -> list[GroupEstimates]:
    groups = []
    for group in source.grouping.groups(by):
        if query.where.get(by, group.code) != group.code:
            continue
        members = source.grouping.within(cells, by, group)
        groups.append(
            GroupEstimates(
                segment=by,
                code=group.code,
                submissions=sum(cell.submissions for cell in members.values()),
                # How many people of the population belong to a group is not known.
                questions=_questions(source, members, replace(query, population=None), weights),
                merged=list(group.codes) if len(group.codes) > 1 else UNSET,
            )
        )
    return groups


def _questions(
    source: Source, cells: Mapping[Codes, Cell], query: EstimateQuery, weights: Mapping[Codes, float]
) -> list[QuestionEstimate]:
    total = source.grouping.total(cells)
    weighed = _by_weight(source.grouping, cells, weights)
    found = []
    for question in source.survey.questions:
        estimate = estimate_question(
            source.evidence(question, total),
            replace(query.aim, population=total.submissions) if query.target == "respondents" else query.aim,
            simultaneous=query.simultaneous,
            distribution=query.distribution,
        )
        if weights:
            estimate = msgspec.structs.replace(estimate, weighted=_weighted(source, question, weighed, query))
        found.append(estimate)
    return found


def _by_weight(
    grouping: Grouping, cells: Mapping[Codes, Cell], weights: Mapping[Codes, float]
) -> list[tuple[float, Cell]]:
    """The cells of each weight together: there are fewer weights than cells, and the estimates are the same."""
    alike: dict[float, dict[Codes, Cell]] = {}
    for codes, cell in cells.items() if weights else ():
        alike.setdefault(weights[codes], {})[codes] = cell
    return [(weight, grouping.total(some)) for weight, some in alike.items()]


def _weighted(
    source: Source, question: Question, weighed: list[tuple[float, Cell]], query: EstimateQuery
) -> Weighted | UnsetType:
    each = [(weight, source.evidence(question, cell)) for weight, cell in weighed]
    evidence = weigh(each) if each else source.evidence_of(question, {})
    if 0 < evidence.answers < source.minimum:
        return UNSET  # weights that leave so few are not shown
    return estimate_weighted(evidence, query.aim, simultaneous=query.simultaneous)


def _weights(grouping: Grouping, wanted: Margins) -> dict[Codes, float]:
    """Weights of all cells of the survey: margins are those of the whole population, whatever part is shown.

    Codes that are merged elsewhere are merged here: with no weight for the others, a small one would be alone.
    """
    if not wanted:
        return {}
    places, margins = [], {}
    for number, (name, shares) in enumerate(wanted.items()):
        groups = grouping.groups(name)
        if not groups:
            raise Withheld(f"{name} has too few submissions to be weighted")
        places.append(grouping.numbers(name))
        margins[number] = [sum(shares[code] for code in group.codes) for group in groups]
        for group, share in zip(groups, margins[number], strict=True):
            if share and not grouping.within(grouping.statistics, name, group):
                raise BadQuery(f"weights: {name}:{group.code} has a share, but nobody answered from there")
    merged = {codes: tuple(group[codes[place]] for place, group in places) for codes in grouping.statistics}
    sizes = Counter[Codes]()
    for codes, cell in grouping.statistics.items():
        sizes[merged[codes]] += cell.submissions
    try:
        weights = rake(sizes, margins)
    except ImpossibleWeights as error:
        raise BadQuery(f"weights: {error}") from None
    return {codes: weights[merged[codes]] for codes in grouping.statistics if merged[codes] in weights}
