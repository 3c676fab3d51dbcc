"""Cross-tabulate two questions, or a question and a segment. Reads every submission once, and keeps one small table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

import msgspec

from deniable_server.errors import BadQuery
from deniable_server.estimator import crosstab as estimator
from deniable_server.estimator.crosstab import Independence, Joint, JointShare, coded_question, coded_segment
from deniable_server.estimator.questions import Share

from .compare import counted_group, warnings
from .crossing import Crossing, Variable
from .query import COMMON, Parameters, Query
from .source import Source


@dataclass(frozen=True, kw_only=True)
class CrosstabQuery(Query):
    """Two different questions with shares, or segments."""

    parameters: ClassVar[Mapping[str, str]] = {
        "rows": "A question with shares, or a segment.",
        "columns": "Another question or segment.",
        **COMMON,
    }

    rows: str
    columns: str

    @classmethod
    def _read(cls, given: Parameters) -> Self:
        return cls(
            where=given.where(),
            confidence=given.confidence(),
            rows=given.required("rows"),
            columns=given.required("columns"),
        )


class SurveyCrosstab(msgspec.Struct, frozen=True):
    """The shares of all pairs of answers, and whether the two are independent."""

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


def crosstab(source: Source, query: CrosstabQuery) -> SurveyCrosstab:
    """The two against each other."""
    names = (query.rows, query.columns)
    if query.rows == query.columns:
        raise BadQuery("rows and columns must be two different questions or segments")
    if set(names) & set(query.where):
        raise BadQuery("a segment in where cannot also be the rows or columns")
    grouping = source.grouping
    grouping.check([*query.where, *(name for name in names if name in grouping.segments)])
    wanted = grouping.positions(query.where)
    rows, columns = (_variable(source, name) for name in names)
    crossing = Crossing(rows, columns, wanted, Joint(rows.coded, columns.coded))
    source.count(crossing)
    result = estimator.crosstab(crossing.joint, confidence=query.confidence)
    cells = grouping.select(query.where)
    return SurveyCrosstab(
        survey=source.survey.id,
        digest=source.document.digest,
        where=query.where,
        confidence=query.confidence,
        submissions=result.submissions,
        rows=query.rows,
        columns=query.columns,
        row_totals=result.row_totals,
        column_totals=result.column_totals,
        cells=result.cells,
        independence=result.independence,
        notes=warnings(counted_group(source, name, name, cells) for name in names if source.find(name)),
    )


def _variable(source: Source, name: str) -> Variable:
    if asked := source.find(name):
        if asked.question.asks_mean:
            raise BadQuery(f"{name} has a mean and no shares. Compare it between groups instead")
        return Variable(coded_question(asked.question, asked.channel), asked.place)
    grouping = source.grouping
    if name not in grouping.segments:
        known = ", ".join(each.id for each in (*source.survey.questions, *source.survey.segments))
        raise BadQuery(f"rows and columns take a question or a segment: {known}")
    groups = grouping.groups(name)
    if not groups:
        raise BadQuery(f"{name} has no group that is large enough to show")
    place, number = grouping.numbers(name)
    coded = coded_segment(name, [each.code for each in groups])
    return Variable(coded, place, tuple(number[j] for j in range(len(number))))
