"""How answers hang together: comparisons of groups and surveys, cross-tabulations, regression on segments.

Comparisons and regression need only the kept statistics. A cross-tabulation of two questions needs both reports of each
submission: it reads all of them once, and keeps one small table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

import msgspec
import numpy as np

from deniable_server.errors import BadQuery
from deniable_server.estimator import NOT_HONEST, comparison, crosstab
from deniable_server.estimator.comparison import Difference, GroupSize
from deniable_server.estimator.crosstab import Coded, Independence, Joint, JointShare, coded_question, coded_segment
from deniable_server.estimator.influence import consistent
from deniable_server.estimator.questions import Share
from deniable_server.estimator.regression import Answered, Regression, regress
from deniable_server.statistics import Cell, Codes, Content

from .estimates import Analysis
from .groups import belongs
from .query import Query

BATCH = 10_000
"""Submissions that are turned into numbers at a time."""


class SurveyComparison(msgspec.Struct, frozen=True, omit_defaults=True, rename={"other": "with"}):
    """A question compared between groups, or between two surveys, and what was asked for."""

    survey: str
    digest: str
    where: dict[str, str]
    confidence: float
    question: str
    type: str
    groups: list[GroupSize]
    differences: list[Difference]
    notes: list[str]
    by: str | None = None
    other: str | None = None


class SurveyCrosstab(msgspec.Struct, frozen=True):
    """The shares of all pairs of answers, and whether the two have anything to do with each other."""

    survey: str
    digest: str
    where: dict[str, str]
    confidence: float
    submissions: int
    rows: str
    columns: str
    row_totals: list[Share]
    column_totals: list[Share]
    cells: list[JointShare]
    independence: Independence
    notes: list[str]


class SurveyRegression(msgspec.Struct, frozen=True):
    """What segments say about an answer."""

    survey: str
    digest: str
    where: dict[str, str]
    regression: Regression


def compare_groups(analysis: Analysis, question: str, by: str, asked: Query) -> SurveyComparison:
    """The question between the groups of a segment."""
    analysis.grouping.check([*asked.where, by])
    cells = analysis.grouping.select(asked.where)
    groups = [
        _group(analysis, question, group.code, analysis.grouping.within(cells, by, group))
        for group in analysis.grouping.groups(by)
    ]
    if by in asked.where or len(groups) < 2:
        raise BadQuery(f"{by} has fewer than two groups to compare here")
    return _compared(analysis, question, groups, asked, by=by)


def compare_surveys(analysis: Analysis, other: Analysis, question: str, asked: Query) -> SurveyComparison:
    """The question between two surveys, such as two waves; their respondents are taken to be different people."""
    if other.survey.id == analysis.survey.id:
        raise BadQuery("a survey is compared with another one")
    if other.find(question) is None:
        raise BadQuery("the other survey has no question of this id")
    groups = []
    for each in (analysis, other):
        if unknown := sorted(set(asked.where.items()) - set(_all_codes(each))):
            raise BadQuery(f"both surveys need the segment and code of where: one has no {':'.join(unknown[0])}")
        each.grouping.check(asked.where)
        groups.append(_group(each, question, each.survey.id, each.grouping.select(asked.where)))
    return _compared(analysis, question, groups, asked, other=other.survey.id)


def _all_codes(analysis: Analysis) -> list[tuple[str, str]]:
    return [(segment.id, option.code) for segment in analysis.survey.segments for option in segment.options]


def _group(analysis: Analysis, question: str, label: str, cells: Mapping[Codes, Cell]) -> comparison.Group:
    found = analysis.find(question)
    assert found is not None
    place, asked, channel = found
    total = analysis.grouping.total(cells)
    return comparison.Group(label, asked, channel, total.counts[place].tolist(), total.submissions)


def _compared(
    analysis: Analysis,
    question: str,
    groups: list[comparison.Group],
    asked: Query,
    *,
    by: str | None = None,
    other: str | None = None,
) -> SurveyComparison:
    result = comparison.compare(groups, confidence=asked.confidence)
    notes = _warnings(groups)
    if len({group.question.text for group in groups}) > 1:
        notes.append("the two surveys word this question differently")
    return SurveyComparison(
        survey=analysis.survey.id,
        digest=analysis.document.digest,
        where=asked.where,
        confidence=asked.confidence,
        question=question,
        type=result.type,
        groups=result.groups,
        differences=result.differences,
        notes=notes,
        by=by,
        other=other,
    )


def _warnings(groups: Iterable[comparison.Group]) -> list[str]:
    """Those whose reports cannot come from honest people."""
    return [
        f"{group.label}: {NOT_HONEST}"
        for group in groups
        if not consistent(group.channel, [int(count) for count in group.counts], int(group.answers))
    ]


class Axis(NamedTuple):
    """A variable as a submission holds it: the report of the question at this place, or the code of the segment there,
    whose group is then looked up.
    """

    coded: Coded
    place: int
    groups: tuple[int, ...] | None = None

    def of(self, content: Content) -> int:
        return content.reports[self.place] if self.groups is None else self.groups[content.segments[self.place]]


class Crossing(NamedTuple):
    """What is counted for a cross-tabulation: of the submissions with wanted segment codes, both variables."""

    rows: Axis
    columns: Axis
    wanted: Mapping[int, frozenset[int]]
    joint: Joint

    def add(self, submissions: Iterable[tuple[bytes, Content]]) -> None:
        chosen = (content for _, content in submissions if belongs(content.segments, self.wanted))
        while batch := list(islice(chosen, BATCH)):
            rows, columns = (np.array([axis.of(each) for each in batch]) for axis in (self.rows, self.columns))
            self.joint.add(rows, columns)


def tabulate(
    analysis: Analysis, rows: str, columns: str, asked: Query, submissions: Iterable[tuple[bytes, Content]]
) -> SurveyCrosstab:
    """Two questions, or a question and a segment, against each other."""
    return tabulate_counted(analysis, rows, columns, asked, lambda crossing: crossing.add(submissions))


def tabulate_counted(
    analysis: Analysis, rows: str, columns: str, asked: Query, count: Callable[[Crossing], None]
) -> SurveyCrosstab:
    """The same, where ``count`` adds to the crossing's sums what submissions there are."""
    if rows == columns:
        raise BadQuery("rows and columns must be two different questions or segments")
    if {rows, columns} & set(asked.where):
        raise BadQuery("where chooses one code of a segment, which then is no row or column")
    grouping = analysis.grouping
    grouping.check([*asked.where, *(name for name in (rows, columns) if name in grouping.segments)])
    wanted = grouping.positions(asked.where)
    row_axis, column_axis = _axis(analysis, rows), _axis(analysis, columns)
    crossing = Crossing(row_axis, column_axis, wanted, Joint(row_axis.coded, column_axis.coded))
    count(crossing)
    result = crosstab.crosstab(crossing.joint, confidence=asked.confidence)
    cells = grouping.select(asked.where)
    groups = [_group(analysis, name, name, cells) for name in (rows, columns) if analysis.find(name)]
    return SurveyCrosstab(
        survey=analysis.survey.id,
        digest=analysis.document.digest,
        where=asked.where,
        confidence=asked.confidence,
        submissions=result.submissions,
        rows=rows,
        columns=columns,
        row_totals=result.row_totals,
        column_totals=result.column_totals,
        cells=result.cells,
        independence=result.independence,
        notes=_warnings(groups),
    )


def _axis(analysis: Analysis, name: str) -> Axis:
    """Where a variable stands in a submission, and what it says."""
    if found := analysis.find(name):
        place, question, channel = found
        if question.asks_mean:
            raise BadQuery(f"{name} asks for a mean, and has no shares to tabulate; compare it between groups")
        return Axis(coded_question(question, channel), place)
    if name not in analysis.grouping.segments:
        known = ", ".join(each.id for each in (*analysis.survey.questions, *analysis.survey.segments))
        raise BadQuery(f"rows and columns take a question or a segment: {known}")
    groups = analysis.grouping.groups(name)
    if not groups:
        raise BadQuery(f"{name} has no group that is large enough to be shown")
    place, number = analysis.grouping.numbers(name)
    coded = coded_segment(name, [each.code for each in groups])
    return Axis(coded, place, tuple(number[j] for j in range(len(number))))


def explain(analysis: Analysis, question: str, answer: str, on: Sequence[str], asked: Query) -> SurveyRegression:
    """The odds of an answer, explained by segments."""
    found = analysis.find(question)
    assert found is not None
    at, asked_question, channel = found
    if asked_question.asks_mean or not channel.supports():
        raise BadQuery(f"{question} has no shares that could be explained so; compare it between groups")
    if answer not in asked_question.codes:
        raise BadQuery(f"answer takes a code of the question: {', '.join(asked_question.codes)}")
    if not on or set(on) & set(asked.where):
        raise BadQuery("on takes one or more segments, which are not also in where")
    grouping = analysis.grouping
    grouping.check([*asked.where, *on])
    groups = {name: grouping.groups(name) for name in on}
    for name, each in groups.items():
        if len(each) < 2:
            raise BadQuery(f"{name} has fewer than two groups that are large enough")
    numbers = [grouping.numbers(name) for name in on]
    combined: dict[Codes, dict[Codes, Cell]] = {}
    for codes, cell in grouping.select(asked.where).items():
        combined.setdefault(tuple(number[codes[place]] for place, number in numbers), {})[codes] = cell
    answered = [
        Answered(places, (total := grouping.total(cells)).counts[at].tolist(), total.submissions)
        for places, cells in combined.items()
    ]
    names = {name: [group.code for group in each] for name, each in groups.items()}
    result = regress(asked_question, channel, answer, names, answered, confidence=asked.confidence)
    return SurveyRegression(analysis.survey.id, analysis.document.digest, asked.where, result)
