"""Cross-tabulate two questions, or a question and a segment.

The kept statistics are enough where one part reports on both, and for segments. Only two questions that everybody is
asked in different parts (the textbook design) take reading every submission, once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations, product
from math import prod
from typing import ClassVar, NamedTuple, Self, TypeAlias

import msgspec
import numpy as np

from deniable_protocol import Question, Survey, YesNo
from deniable_server.errors import BadQuery
from deniable_server.estimator import Share
from deniable_server.estimator import crosstab as estimator
from deniable_server.estimator.by_group import Layer, crosstab_segment, flipped, weighted_segment
from deniable_server.estimator.crosstab import Crosstab, Independence, JointShare
from deniable_server.estimator.evidence import Counted, Evidence
from deniable_server.estimator.features import Coded, Joint, coded_question, coded_segment
from deniable_server.estimator.joint import crosstab_questions, share_a_part, weighted_questions
from deniable_server.estimator.weights import Weighed
from deniable_server.statistics import Cell, Codes

from .crossing import Crossing
from .groups import Grouping
from .query import COMMON, WEIGHTS, Parameters, WeightedQuery
from .source import Source
from .weights import Weighting, Weights, check_enough

Cells: TypeAlias = Mapping[Codes, Cell]


MOST_COUNTED = 1_000
"""Pairs in a table of two segments, or of a segment and a question that names a mechanism: a second or two of work."""


@dataclass(frozen=True, kw_only=True)
class CrosstabQuery(WeightedQuery):
    """Two different questions with shares, or segments."""

    parameters: ClassVar[Mapping[str, str]] = {
        "rows": "A question with shares, an option of a multi_choice (question.code), or a segment.",
        "columns": "Another question, option or segment.",
        **COMMON,
        **WEIGHTS,
    }

    rows: str
    columns: str

    @classmethod
    def _read(cls, given: Parameters) -> Self:
        return cls(
            **given.weighted(),
            rows=given.required("rows"),
            columns=given.required("columns"),
        )


class SurveyCrosstab(msgspec.Struct, frozen=True, omit_defaults=True):
    """The shares of all pairs of answers, and whether the two are independent. ``submissions``: those that report on
    both; of a multi_choice, on its option that most report on. ``weighted`` has the table again with weights, where
    these were asked for.
    """

    survey: str
    digest: str
    where: dict[str, str]
    date: str
    confidence: float
    submissions: int
    rows: str
    columns: str
    row_totals: list[Share]
    column_totals: list[Share]
    cells: list[JointShare]
    independence: Independence
    notes: list[str]
    deff: float
    anytime: bool = False
    without: tuple[str, ...] = ()
    weighted: Crosstab | None = None
    weighting: Weighting | None = None


def planned_pairs(survey: Survey) -> list[tuple[str, str]]:
    """The cross-tabs that the survey was designed for, each pair once."""
    pairs = {frozenset(pair): pair for names in survey.together for pair in combinations(names, 2)}
    return [*pairs.values()]


def crosstab(source: Source, query: CrosstabQuery) -> SurveyCrosstab:
    """The two against each other."""
    names = (query.rows, query.columns)
    if query.rows == query.columns:
        raise BadQuery("rows and columns must be two different questions or segments")
    if set(names) & set(query.where):
        raise BadQuery("a segment in where cannot also be the rows or columns")
    source = source.asked(query)
    segments = [*query.where, *(name for name in names if name in source.segments)]
    grouping = source.grouping(*segments, *query.weights)
    grouping.check(segments)
    weights = Weights.of(grouping, query)
    rows, columns = (_variable(source, grouping, name) for name in names)
    cells, weighted = grouping.select(query.where), None
    if isinstance(rows, Named) and isinstance(columns, Named):
        result, weighted = _of_questions(source, rows, columns, query, cells, weights)
    elif isinstance(columns, Named):
        assert isinstance(rows, str)
        result, weighted = _of_segment(source, grouping, rows, columns, query, cells, weights)
    elif isinstance(rows, Named):
        result, weighted = _of_segment(source, grouping, columns, rows, query, cells, weights)
        result, weighted = flipped(result), weighted and flipped(weighted)
    else:
        _refuse_weights(weights, "two segments")
        result = _counted(_coded_segment(grouping, rows), _coded_segment(grouping, columns), query, cells)
    return SurveyCrosstab(
        survey=source.survey.id,
        digest=source.document.digest,
        where=query.where,
        date=source.day.isoformat(),
        without=query.without,
        confidence=query.confidence,
        submissions=result.submissions,
        rows=query.rows,
        columns=query.columns,
        row_totals=result.row_totals,
        column_totals=result.column_totals,
        cells=result.cells,
        independence=result.independence,
        notes=source.notes,
        anytime=query.anytime,
        deff=query.deff,
        weighted=weighted,
        weighting=None if weights is None else weights.described(),
    )


Tables: TypeAlias = tuple[Crosstab, Crosstab | None]
"""Without weights, and with them where there are some."""


def _refuse_weights(weights: Weights | None, what: str) -> None:
    if weights is not None:
        raise BadQuery(
            f"weights are not possible for {what}: only for two questions that are reported together, and for a "
            "question and a segment"
        )


class Named(NamedTuple):
    """A question with shares, or one option of a multi_choice."""

    name: str
    question: Question
    option: str | None = None

    def evidence(self, source: Source, cells: Cells) -> Evidence:
        """What these cells report on it; of an option as on a yes or no of its own."""
        whole = source.evidence_of(self.question, cells)
        if self.option is None:
            return whole
        heard = whole.items[self.question.codes.index(self.option)]
        alone = YesNo(id=self.name, text=self.question.text, show_if=whole.question.show_if)
        parts = tuple(Counted(each.channel, each.counts, each.n) for each in heard)
        return Evidence(alone, sum(each.n for each in heard), (heard,), parts)


def _variable(source: Source, grouping: Grouping, name: str) -> Named | str:
    """What is called so: a question or an option, or else a segment."""
    if name in grouping.segments:
        if not grouping.groups(name):
            raise BadQuery(f"{name} has no group that is large enough to show")
        return name
    start, _, option = name.partition(".")
    question = source.find(start)
    if question is None or ("." in name and not (question.type == "multi_choice" and option in question.codes)):
        known = ", ".join(each.id for each in (*source.survey.questions, *source.survey.segments))
        raise BadQuery(f"rows and columns take a question or a segment: {known}")
    if question.asks_mean:
        raise BadQuery(f"{name} has a mean and no shares. Compare it between groups instead")
    return Named(name, question, option or None)


def _of_questions(
    source: Source, rows: Named, columns: Named, query: CrosstabQuery, cells: Cells, weights: Weights | None
) -> Tables:
    if rows.question.id == columns.question.id and None in (rows.option, columns.option):
        raise BadQuery("rows and columns must be two different questions, or two options")
    if source.survey.epsilon is None:
        _refuse_weights(weights, "questions that are reported one by one")
        return _read(source, rows, columns, query), None
    for each in (rows, columns):
        if not each.question.has_answers:
            raise BadQuery(f"{each.name} names a mechanism, and is never reported together with another question")
    one, two = (each.evidence(source, cells) for each in (rows, columns))
    if not share_a_part(one, two):
        raise BadQuery(
            f"No respondent reports on both {rows.name} and {columns.name}, so this cross-tab cannot be estimated. A "
            f'survey that should have it needs, before it is published: together = [["{rows.name}", "{columns.name}"]]'
        )
    result = crosstab_questions(one, two, query.aim)
    if weights is None:
        return result, None
    layers = []
    for weight, cell in weights.divide(cells):
        one, two = (each.evidence(source, {(): cell}) for each in (rows, columns))
        layers.append((weight, one, two))
    check_enough(Weighed([(weight, one) for weight, one, _ in layers], weights.raked), source.minimum)
    return result, weighted_questions(layers, weights.raked, query.aim)


def _read(source: Source, rows: Named, columns: Named, query: CrosstabQuery) -> Crosstab:
    """Two questions that everybody is asked, each reported by itself: from both reports of every submission."""
    if rows.option or columns.option:
        raise BadQuery("where questions have an epsilon of their own, an option is crossed with segments only")
    (row_part, first), (column_part, second) = (_coded_question(source, each.question) for each in (rows, columns))
    joint = Joint(first, second)
    wanted = {
        source.segments[name]: each for name, each in source.grouping(*query.where).positions(query.where).items()
    }
    source.count(Crossing(row_part, column_part, wanted, joint))
    return estimator.crosstab(joint, query.aim)


def _coded_question(source: Source, question: Question) -> tuple[int, Coded]:
    """A question that is a part by itself, and the number of that part."""
    ((part, _),) = source.document.parts_about(question.id)
    return part, coded_question(question, source.document.parts[part].channel)


def _of_segment(
    source: Source,
    grouping: Grouping,
    segment: str,
    asked: Named,
    query: CrosstabQuery,
    cells: Cells,
    weights: Weights | None,
) -> Tables:
    """From the evidence of each group; where reports do more than support an answer or not, from their counts."""
    groups = grouping.groups(segment)
    members = [grouping.within(cells, segment, group) for group in groups]
    evidence = [asked.evidence(source, each) for each in members]
    if evidence[0].is_scored:
        _refuse_weights(weights, "a question that names a mechanism")
        part, coded = _coded_question(source, asked.question)
        reports = {codes: cell.counts[part].tolist() for codes, cell in cells.items()}
        return _counted(_coded_segment(grouping, segment), _Counted(coded, reports), query, cells), None
    sizes = [sum(cell.submissions for cell in each.values()) for each in members]
    codes, answers = [group.code for group in groups], int(sum(each.answers for each in evidence))
    result = crosstab_segment(segment, codes, sizes, evidence, query.aim)
    if weights is not None:

        def layers(some: Cells) -> list[Layer]:
            divided = weights.divide(some)
            found = [Layer(weight, cell.submissions, asked.evidence(source, {(): cell})) for weight, cell in divided]
            check_enough(Weighed([(each.weight, each.evidence) for each in found], weights.raked), source.minimum)
            return found

        each = [layers(some) for some in members]
        weighted = weighted_segment(segment, codes, each, layers(cells), weights.raked, query.aim)
        return msgspec.structs.replace(result, submissions=answers), msgspec.structs.replace(
            weighted, submissions=answers
        )
    return msgspec.structs.replace(result, submissions=answers), None


class _Counted(NamedTuple):
    """A variable whose values are counted in each cell."""

    coded: Coded
    counts: Mapping[Codes, list[int]]


def _coded_segment(grouping: Grouping, name: str) -> _Counted:
    groups, (place, number) = grouping.groups(name), grouping.numbers(name)
    counts = {}
    for codes, cell in grouping.statistics.items():
        counts[codes] = [0] * len(groups)
        counts[codes][number[codes[place]]] = cell.submissions
    return _Counted(coded_segment(name, [group.code for group in groups]), counts)


def _counted(rows: _Counted, columns: _Counted, query: CrosstabQuery, cells: Cells) -> Crosstab:
    """Two variables of which, in each cell, one has a single value: their counts are those of the other."""
    pairs = [len(next(iter(each.counts.values()), ())) for each in (rows, columns)]
    if prod(pairs) > MOST_COUNTED:
        raise BadQuery(
            f"{query.rows} and {query.columns} make {prod(pairs):,} pairs: too many for one table, which has at most "
            f"{MOST_COUNTED:,}. Take a segment with fewer codes"
        )
    joint = Joint(rows.coded, columns.coded)
    for codes in cells:
        for i, j in product(np.flatnonzero(rows.counts[codes]), np.flatnonzero(columns.counts[codes])):
            number = min(rows.counts[codes][i], columns.counts[codes][j])
            joint.add_counts(number * joint.count(np.array([i]), np.array([j])))
    return estimator.crosstab(joint, query.aim)
