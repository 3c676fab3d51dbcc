"""Estimate shares and means of a survey, with intervals, from the kept statistics alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import msgspec
from msgspec import UNSET, UnsetType

from deniable_protocol import Survey
from deniable_server.errors import BadQuery
from deniable_server.estimator import QuestionEstimate, Weighted, estimate_question, estimate_weighted
from deniable_server.estimator.intervals import Aim
from deniable_server.estimator.weights import Weighed
from deniable_server.statistics import Cell, Codes
from deniable_server.storage.invitations import InvitationNumbers
from deniable_server.wording import method_in_words

from .groups import Grouping, total
from .query import COMMON, WEIGHTS, Parameters, WeightedQuery
from .source import Source
from .weights import Weighting, Weights, leaves_few

MOST_ESTIMATES = 4_000
"""Questions in one answer, over all of its groups: at most about three seconds of work and 4 MB of JSON."""
MOST_WEIGHTED = 40_000
"""The same times the combinations of weighted groups, each of which is looked at by itself: about as long."""
MOST_DISTRIBUTIONS = 50
"""Number questions whose distribution is in one answer: the slowest that there is of one question."""


@dataclass(frozen=True, kw_only=True)
class EstimateQuery(WeightedQuery):
    """Whom the estimates are about, and what is estimated besides."""

    parameters: ClassVar[Mapping[str, str]] = {
        **COMMON,
        "by": "A segment: also show the estimates of each of its groups.",
        "simultaneous": "Intervals that are correct for all options of a question at once.",
        "target": "What the intervals are about: population (default), or respondents for those who answered.",
        "population": "Population size, if a large part of it answered (finite-population correction).",
        **WEIGHTS,
        "distribution": "Also show the likely distribution of number questions, with limits. Not of each group: take "
        "where for one.",
    }
    flags: ClassVar[frozenset[str]] = frozenset({"anytime", "simultaneous", "distribution"})

    by: str | None = None
    simultaneous: bool = False
    target: str = "population"
    population: int | None = None
    distribution: bool = False

    @property
    def aim(self) -> Aim:
        return replace(super().aim, population=self.population)

    @classmethod
    def _read(cls, given: Parameters) -> Self:
        query = cls(
            **given.weighted(),
            by=given.segment("by"),
            simultaneous=given.flag("simultaneous"),
            target=given.one("target") or "population",
            population=given.population(),
            distribution=given.flag("distribution"),
        )
        if query.target not in ("population", "respondents"):
            raise BadQuery("target takes population or respondents")
        if query.target == "respondents" and (query.weights or query.population or query.deff != 1):
            raise BadQuery("weights, a population size and a design effect need target=population")
        return query


class GroupEstimates(msgspec.Struct, frozen=True):
    """The estimates of the submissions with one segment code, or with one of several that are merged."""

    segment: str
    code: str
    submissions: int
    questions: list[QuestionEstimate]
    merged: list[str] | UnsetType = UNSET


class SurveyEstimates(msgspec.Struct, frozen=True, omit_defaults=True):
    """Everything that is estimated of a survey, and what was asked for. ``epsilon`` is what one submission may show,
    all of it together. ``methods`` says of each question how its numbers were made, for people who read them elsewhere;
    ``notes`` what a reader must know of the whole survey, whatever part of it is asked about; ``date`` the day (UTC)
    that the numbers are of.
    """

    survey: str
    digest: str
    status: str
    submissions: int
    epsilon: str
    confidence: float
    where: dict[str, str]
    date: str
    questions: list[QuestionEstimate]
    methods: dict[str, str]
    notes: list[str]
    deff: float
    groups: list[GroupEstimates] | None = None
    target: str = "population"
    population: int | None = None
    simultaneous: bool = False
    anytime: bool = False
    weighting: Weighting | None = None
    without: tuple[str, ...] = ()
    sources: dict[str, int] = {}
    invitations: InvitationNumbers | None = None


def estimates(source: Source, query: EstimateQuery) -> SurveyEstimates:
    """All questions, of all submissions that are asked about, and of their groups."""
    source = source.asked(query)
    shown = [*query.where, *([] if query.by is None else [query.by])]
    grouping = source.grouping(*shown, *query.weights)
    grouping.check(shown)
    weights = Weights.of(grouping, query)
    _check_size(source, grouping, query, weights)
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
        date=source.day.isoformat(),
        without=query.without,
        sources=source.sources(),
        invitations=source.invitations(),
        questions=_questions(source, cells, query, weights),
        methods={
            question.id: method_in_words(source.document, question, anytime=query.anytime)
            for question in source.survey.questions
        },
        notes=source.notes,
        groups=None if query.by is None else _groups(source, grouping, cells, query, query.by, weights),
        target=query.target,
        population=query.population,
        simultaneous=query.simultaneous,
        anytime=query.anytime,
        weighting=None if weights is None else weights.described(),
        deff=query.deff,
    )


def has_few_numbers(survey: Survey) -> bool:
    """Whether one answer may have the distributions of all number questions."""
    return sum(question.asks_mean for question in survey.questions) <= MOST_DISTRIBUTIONS


def _check_size(source: Source, grouping: Grouping, query: EstimateQuery, weights: Weights | None) -> None:
    """BadQuery where an answer would be too large, or would keep the server too long."""
    groups = 1 + (len(grouping.groups(query.by)) if query.by else 0)
    wanted = groups * len(source.survey.questions)
    if wanted > MOST_ESTIMATES:
        raise BadQuery(
            f"{len(source.survey.questions)} questions in {groups - 1} groups of {query.by} are too many for one "
            f"answer, which has at most {MOST_ESTIMATES:,} estimates. Ask about one group at a time, with where"
        )
    if query.distribution and not has_few_numbers(source.survey):
        raise BadQuery(f"distribution is for surveys with at most {MOST_DISTRIBUTIONS} questions that have a mean")
    if weights is not None and wanted * weights.combinations > MOST_WEIGHTED:
        raise BadQuery(
            f"The weighted segments make {weights.combinations:,} groups: too many for {wanted} estimates. Weight to "
            f"fewer segments{', or without by' if query.by else ''}"
        )


def _groups(
    source: Source,
    grouping: Grouping,
    cells: Mapping[Codes, Cell],
    query: EstimateQuery,
    by: str,
    weights: Weights | None,
) -> list[GroupEstimates]:
    groups = []
    for group in grouping.groups(by):
        if query.where.get(by, group.code) != group.code:
            continue
        members = grouping.within(cells, by, group)
        groups.append(
            GroupEstimates(
                segment=by,
                code=group.code,
                submissions=sum(cell.submissions for cell in members.values()),
                # How many people of the population belong to a group is not known.
                questions=_questions(source, members, replace(query, population=None, distribution=False), weights),
                merged=list(group.codes) if len(group.codes) > 1 else UNSET,
            )
        )
    return groups


def _questions(
    source: Source, cells: Mapping[Codes, Cell], query: EstimateQuery, weights: Weights | None
) -> list[QuestionEstimate]:
    together = total(source.document, cells)
    weighed = [] if weights is None else weights.divide(cells)
    found = []
    for question in source.survey.questions:
        estimate = estimate_question(
            source.evidence(question, together),
            replace(query.aim, population=together.submissions) if query.target == "respondents" else query.aim,
            simultaneous=query.simultaneous,
            distribution=query.distribution,
        )
        if weights is not None:
            each = [(weight, source.evidence(question, cell)) for weight, cell in weighed]
            estimate = msgspec.structs.replace(
                estimate, weighted=_weighted(Weighed(each, weights.raked), source.minimum, query)
            )
        found.append(estimate)
    return found


def _weighted(weighed: Weighed, minimum: int, query: EstimateQuery) -> Weighted | UnsetType:
    if leaves_few(weighed, minimum):
        return UNSET
    return estimate_weighted(weighed, query.aim, simultaneous=query.simultaneous)
