"""From the kept statistics of a survey to its estimates: which submissions are asked about, question by question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

import msgspec
from msgspec import UNSET, UnsetType

from deniable_protocol import Channel, Document, Question
from deniable_server.errors import BadQuery, ImpossibleWeights, Withheld
from deniable_server.estimator import QuestionEstimate, Weighted, estimate_question, estimate_weighted
from deniable_server.estimator.weights import Part, rake, weigh
from deniable_server.statistics import Cell, Codes, Statistics, channels_of
from deniable_server.storage import Published
from deniable_server.wording import method_in_words

from .groups import Grouping
from .query import Query


class Group(msgspec.Struct, frozen=True):
    """The estimates of the submissions with one segment code, or with one of several that are merged."""

    segment: str
    code: str
    submissions: int
    questions: list[QuestionEstimate]
    merged: list[str] | UnsetType = UNSET


class Weighting(msgspec.Struct, frozen=True):
    """The margins that submissions are weighted to, and the extremes of the weights, which are 1 on average."""

    margins: dict[str, dict[str, float]]
    smallest: float
    largest: float


class SurveyEstimates(msgspec.Struct, frozen=True, omit_defaults=True):
    """Everything that is estimated of a survey, and what was asked for."""

    survey: str
    digest: str
    status: str
    submissions: int
    confidence: float
    where: dict[str, str]
    questions: list[QuestionEstimate]
    groups: list[Group] | None = None
    target: str = "population"
    population: int | None = None
    simultaneous: bool = False
    weighting: Weighting | None = None


class Analysis:
    """One survey's statistics, and what may be shown of them."""

    def __init__(self, published: Published, statistics: Statistics, minimum: int) -> None:
        self.document: Document = published.document
        self.survey = self.document.survey
        # In one order, wherever they were counted: sums of weighted cells then agree to the last digit.
        self.statistics = dict(sorted(statistics.items()))
        self.grouping = Grouping(self.document, self.statistics, minimum)

    def find(self, question: str) -> tuple[int, Question, Channel] | None:
        """The place of a question, the question and its channel."""
        for place, asked in enumerate(self.survey.questions):
            if asked.id == question:
                return place, asked, self.document.channels[question]
        return None

    def estimates(self, status: str, asked: Query) -> SurveyEstimates:
        """The estimates, from the sufficient statistics alone."""
        # Estimates under different weights can be subtracted as those of groups can.
        self.grouping.check([*asked.where, *([] if asked.by is None else [asked.by]), *asked.weights])
        weights = self._weights(asked)
        cells = self.grouping.select(asked.where)
        submissions = sum(cell.submissions for cell in cells.values())
        if asked.population is not None and asked.population < submissions:
            raise BadQuery(f"population is smaller than the {submissions} submissions that came from it")
        groups = None
        if asked.by is not None:
            groups = []
            for group in self.grouping.groups(asked.by):
                if asked.where.get(asked.by, group.code) != group.code:
                    continue
                members = self.grouping.within(cells, asked.by, group)
                groups.append(
                    Group(
                        segment=asked.by,
                        code=group.code,
                        submissions=sum(cell.submissions for cell in members.values()),
                        # How many people of the population belong to a group is not known.
                        questions=self._questions(members, replace(asked, population=None), weights),
                        merged=list(group.codes) if len(group.codes) > 1 else UNSET,
                    )
                )
        return SurveyEstimates(
            survey=self.survey.id,
            digest=self.document.digest,
            status=status,
            submissions=submissions,
            confidence=asked.confidence,
            where=asked.where,
            questions=self._questions(cells, asked, weights),
            groups=groups,
            target=asked.target,
            population=asked.population,
            simultaneous=asked.simultaneous,
            weighting=Weighting(asked.weights, min(weights.values()), max(weights.values())) if weights else None,
        )

    def _questions(
        self, cells: Mapping[Codes, Cell], asked: Query, weights: Mapping[Codes, float]
    ) -> list[QuestionEstimate]:
        total = self.grouping.total(cells)
        estimates = []
        for i, (question, channel) in enumerate(zip(self.survey.questions, self._channels, strict=True)):
            estimate = estimate_question(
                question,
                channel,
                total.counts[i].tolist(),
                total.submissions,
                confidence=asked.confidence,
                simultaneous=asked.simultaneous,
                population=total.submissions if asked.target == "respondents" else asked.population,
                distribution=asked.distribution,
            )
            estimate = msgspec.structs.replace(estimate, method=method_in_words(question, channel))
            if weights:
                parts = [Part(weights[codes], cell.submissions, cell.counts[i]) for codes, cell in cells.items()]
                weighted = self._weighted(question, channel, parts, asked)
                estimate = msgspec.structs.replace(estimate, weighted=weighted)
            estimates.append(estimate)
        return estimates

    def _weighted(self, question: Question, channel: Channel, parts: list[Part], asked: Query) -> Weighted | UnsetType:
        counts, effective = weigh(question, channel, parts)
        if 0 < effective < self.grouping.minimum:
            return UNSET  # weights that leave so few are not shown
        return estimate_weighted(
            question,
            channel,
            counts,
            effective,
            confidence=asked.confidence,
            simultaneous=asked.simultaneous,
            population=asked.population,
        )

    @cached_property
    def _channels(self) -> list[Channel]:
        return channels_of(self.document)

    def _weights(self, asked: Query) -> dict[Codes, float]:
        """Weights of all cells of the survey: margins are those of the whole population, whatever part is shown.

        Codes that are merged elsewhere are merged here: with no weight for the others, a small one would stand alone.
        """
        if not asked.weights:
            return {}
        places, margins = [], {}
        for number, (name, shares) in enumerate(asked.weights.items()):
            groups = self.grouping.groups(name)
            if not groups:
                raise Withheld(f"{name} has too few submissions to be weighted")
            places.append(self.grouping.numbers(name))
            margins[number] = [sum(shares[code] for code in group.codes) for group in groups]
            for group, share in zip(groups, margins[number], strict=True):
                if share and not self.grouping.within(self.statistics, name, group):
                    raise BadQuery(f"weights: {name}:{group.code} has a share, but nobody answered from there")
        merged = {codes: tuple(group[codes[place]] for place, group in places) for codes in self.statistics}
        sizes = Counter[Codes]()
        for codes, cell in self.statistics.items():
            sizes[merged[codes]] += cell.submissions
        try:
            weights = rake(sizes, margins)
        except ImpossibleWeights as error:
            raise BadQuery(f"weights: {error}") from None
        return {codes: weights[merged[codes]] for codes in self.statistics if merged[codes] in weights}
