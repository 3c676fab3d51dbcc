"""Estimate shares and means of a survey, with intervals, from the kept statistics alone."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import msgspec
from msgspec import UNSET, UnsetType

from deniable_protocol import Survey
from deniable_server.errors import BadQuery, ImpossibleWeights
from deniable_server.estimator import QuestionEstimate, Weighted, estimate_question, estimate_weighted
from deniable_server.estimator.intervals import Aim
from deniable_server.estimator.raking import design_effect, rake, reached
from deniable_server.estimator.weights import Raked, Weighed
from deniable_server.statistics import Cell, Codes
from deniable_server.wording import method_in_words

from .groups import Grouping, total
from .query import COMMON, Margins, Parameters, Query
from .source import Source

MOST_ESTIMATES = 4_000
"""Questions in one answer, over all of its groups: at most about three seconds of work and 4 MB of JSON."""
MOST_WEIGHTED = 40_000
"""The same times the combinations of weighted groups, each of which is looked at by itself: about as long."""
MOST_DISTRIBUTIONS = 50
"""Number questions whose distribution is in one answer: the slowest that there is of one question."""


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
        "trim": "The largest weight, as a multiple of the average: 1.1 to 1000. Default: any.",
        "distribution": "Also show the likely distribution of number questions, with limits. Not of each group: take "
        "where for one.",
    }
    flags: ClassVar[frozenset[str]] = frozenset({"anytime", "simultaneous", "distribution"})

    by: str | None = None
    simultaneous: bool = False
    target: str = "population"
    population: int | None = None
    weights: Margins = field(default_factory=dict)
    trim: float | None = None
    distribution: bool = False

    @property
    def aim(self) -> Aim:
        return replace(super().aim, population=self.population)

    @classmethod
    def _read(cls, given: Parameters) -> Self:
        query = cls(
            **given.common(),
            by=given.segment("by"),
            simultaneous=given.flag("simultaneous"),
            target=given.one("target") or "population",
            population=given.population(),
            weights=given.weights(),
            trim=given.trim(),
            distribution=given.flag("distribution"),
        )
        if query.target not in ("population", "respondents"):
            raise BadQuery("target takes population or respondents")
        if query.target == "respondents" and (query.weights or query.population or query.deff != 1):
            raise BadQuery("weights, a population size and a design effect need target=population")
        if query.trim is not None and not query.weights:
            raise BadQuery("trim is for weights, and there are none")
        return query


class GroupEstimates(msgspec.Struct, frozen=True):
    """The estimates of the submissions with one segment code, or with one of several that are merged."""

    segment: str
    code: str
    submissions: int
    questions: list[QuestionEstimate]
    merged: list[str] | UnsetType = UNSET


class Weighting(msgspec.Struct, frozen=True):
    """The margins that submissions are weighted to, and the extremes of the weights, which are 1 on average.

    ``deff`` is the design effect of the weights where variance is the same everywhere, 1 + the square of their relative
    standard deviation (Kish). With ``trim``, the largest weight: ``trimmed`` says how many submissions have it, and
    ``reached`` which margins the weighted submissions have instead of those that were wanted.
    """

    margins: Margins
    smallest: float
    largest: float
    deff: float
    trim: float | UnsetType = UNSET
    trimmed: int | UnsetType = UNSET
    reached: Margins | UnsetType = UNSET

    @property
    def missed(self) -> list[str]:
        """The margins that trimmed weights do not reach, in words."""
        pairs = [
            (f"{segment} {code}", share, sum(self.margins[segment][each] for each in code.split("+")))
            for segment, shares in (self.reached or {}).items()
            for code, share in shares.items()
        ]
        return [
            f"{name} {100 * share:.1f}% instead of {100 * wanted:.1f}%"
            for name, share, wanted in pairs
            if abs(share - wanted) >= 0.0005
        ]


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
    deff: float
    groups: list[GroupEstimates] | None = None
    target: str = "population"
    population: int | None = None
    simultaneous: bool = False
    anytime: bool = False
    weighting: Weighting | None = None
    without: tuple[str, ...] = ()
    sources: dict[str, int] = {}


def estimates(source: Source, query: EstimateQuery) -> SurveyEstimates:
    """All questions, of all submissions that are asked about, and of their groups."""
    source = source.asked(query)
    shown = [*query.where, *([] if query.by is None else [query.by])]
    grouping = source.grouping(*shown, *query.weights)
    grouping.check(shown)
    weights = _Weights(grouping, query.weights, query.trim) if query.weights else None
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
        without=query.without,
        sources=source.sources(),
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


def _check_size(source: Source, grouping: Grouping, query: EstimateQuery, weights: _Weights | None) -> None:
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
    weights: _Weights | None,
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
    source: Source, cells: Mapping[Codes, Cell], query: EstimateQuery, weights: _Weights | None
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
    if 0 < weighed.even < minimum:
        return UNSET  # weights that leave so few are not shown
    return estimate_weighted(weighed, query.aim, simultaneous=query.simultaneous)


class _Weights:
    """Weights of all cells of the survey: margins are those of the whole population, whatever part is shown.

    Codes that are merged elsewhere are merged here: with no weight for the others, a small one would be alone.
    """

    def __init__(self, grouping: Grouping, wanted: Margins, trim: float | None) -> None:
        grouping.check_margins(wanted)
        self._grouping, self._wanted, self._trim = grouping, wanted, trim
        places, margins = [], {}
        for number, (name, shares) in enumerate(wanted.items()):
            groups = grouping.groups(name)
            places.append(grouping.numbers(name))
            margins[number] = [sum(shares[code] for code in group.codes) for group in groups]
            for group, share in zip(groups, margins[number], strict=True):
                if share and not grouping.within(grouping.statistics, name, group):
                    raise BadQuery(f"weights: {name}:{group.code} has a share, but nobody answered from there")
        self._merged = {codes: tuple(group[codes[place]] for place, group in places) for codes in grouping.statistics}
        self._sizes = Counter[Codes]()
        for codes, cell in grouping.statistics.items():
            self._sizes[self._merged[codes]] += cell.submissions
        try:
            self._weights = rake(self._sizes, margins, trim)
        except ImpossibleWeights as error:
            raise BadQuery(f"weights: {error}") from None

    @property
    def combinations(self) -> int:
        """Groups of submissions that have a weight each."""
        return len(self._weights)

    @cached_property
    def raked(self) -> Raked | None:
        """None where weights are trimmed: these do not follow the margins."""
        if self._trimmed:
            return None
        return Raked([*self._weights], [*self._weights.values()], [self._sizes[codes] for codes in self._weights])

    @property
    def _trimmed(self) -> int:
        """The submissions that have the largest weight."""
        most = math.inf if self._trim is None else self._trim * (1 - 1e-9)
        return sum(self._sizes[codes] for codes, weight in self._weights.items() if weight >= most)

    def divide(self, cells: Mapping[Codes, Cell]) -> list[tuple[float, Cell]]:
        """What each combination of groups has of these cells, with its weight."""
        alike: dict[Codes, dict[Codes, Cell]] = {codes: {} for codes in self._weights}
        for codes, cell in cells.items():
            if self._merged[codes] in alike:
                alike[self._merged[codes]][codes] = cell
        return [(weight, total(self._grouping.document, alike[codes])) for codes, weight in self._weights.items()]

    def described(self) -> Weighting:
        trimmed: dict[str, Any] = {}
        if self._trim is not None:
            trimmed = {"trim": self._trim, "trimmed": self._trimmed, "reached": self._reached()}
        each = self._weights.values()
        return Weighting(self._wanted, min(each), max(each), design_effect(self._sizes, self._weights), **trimmed)

    def _reached(self) -> Margins:
        """By the groups that are shown: their codes are joined with a plus where they are merged."""
        found = {}
        for number, name in enumerate(self._wanted):
            groups = self._grouping.groups(name)
            held = reached(self._sizes, self._weights, number, len(groups))
            found[name] = {group.code: share for group, share in zip(groups, held, strict=True)}
        return found
