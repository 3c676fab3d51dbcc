"""Comparisons, cross-tabs and regressions as rows of CSV: a row for every number, with all that says what it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from deniable_protocol import Survey
from deniable_server.estimator import Share
from deniable_server.estimator.comparison import Difference, GroupSize, Level
from deniable_server.estimator.crosstab import Crosstab, JointShare, Within
from deniable_server.estimator.regression import Regression, Term
from deniable_server.wording import merged_text, said

from .compare import SurveyComparison
from .crosstab import SurveyCrosstab
from .labels import texts, titles
from .regress import SurveyRegression
from .rounding import difference as rounded_difference
from .rounding import share_in_percent
from .scope import Asked, scope, weights_text, where_text

ASKED_COLUMNS = [
    "where", "without", "weights", "confidence", "anytime", "deff", "date", "survey", "survey_title", "scope", "notes",
]  # fmt: skip
NUMBERS = ["estimate", "unbiased", "standard_error", "low", "high"]
COMPARE_COLUMNS = [
    "question", "question_text", "type", "by", "with", "weighted", "first", "first_text", "first_answers", "second",
    "second_text", "second_answers", "kind", "answer", "answer_text", "estimate", "difference", "standard_error", "low",
    "high", "p_value", "adjusted_p_value", *(f"first_{name}" for name in NUMBERS),
    *(f"second_{name}" for name in NUMBERS), "note", "written", *ASKED_COLUMNS,
]  # fmt: skip
CROSSTAB_COLUMNS = [
    "rows", "rows_text", "columns", "columns_text", "submissions", "weighted", "kind", "row", "row_text", "column",
    "column_text", *NUMBERS, "degrees_of_freedom", "p_value", "note", "written", *ASKED_COLUMNS,
]  # fmt: skip
REGRESSION_COLUMNS = [
    "question", "question_text", "code", "code_text", "submissions", "kind", "predictor", "predictor_text", "group",
    "group_text", "reference", "reference_text", "odds_ratio", "odds_low", "odds_high", "estimate", "most_likely",
    "standard_error", "low", "high", "statistic", "degrees_of_freedom", "p_value", "note", "method", *ASKED_COLUMNS,
]  # fmt: skip


def _asked(survey: Survey, result: Asked) -> list[Any]:
    return [
        where_text(result),
        ", ".join(result.without),
        weights_text(result),
        result.confidence,
        "yes" if getattr(result, "anytime", False) else "no",
        result.deff,
        result.date,
        survey.id,
        survey.title,
        scope(survey, result, weighted=True),
        "; ".join(getattr(result, "notes", ())),
    ]


def _numbers(share: Share | JointShare | Within | Level) -> list[Any]:
    return [share.estimate, share.unbiased, share.standard_error, share.low, share.high]


# --- comparisons ------------------------------------------------------------------------------------------------------


def compare_rows(survey: Survey, result: SurveyComparison) -> Iterator[list[Any]]:
    """A row for each difference, with both levels; again with weights, if there are some."""
    yield COMPARE_COLUMNS
    end = _asked(survey, result)
    for weighted, groups, differences in _compared(result):
        answers = {group.label: group.answers for group in groups}
        for row in differences:
            yield [*_difference(survey, result, row, answers, weighted), *end]


def _compared(result: SurveyComparison) -> list[tuple[str, Sequence[GroupSize], Sequence[Difference]]]:
    found: list[tuple[str, Sequence[GroupSize], Sequence[Difference]]] = [("no", result.groups, result.differences)]
    if result.weighted is not None:
        found.append(("yes", result.weighted.groups, result.weighted.differences))
    return found


def _difference(
    survey: Survey, result: SurveyComparison, row: Difference, answers: dict[str, float], weighted: str
) -> list[Any]:
    known = texts(survey)
    groups = known.get(result.by or "", {})
    about, low, high = rounded_difference(row).signed()
    assert row.levels
    return [
        result.question,
        titles(survey)[result.question],
        result.type,
        result.by or "",
        result.other or "",
        weighted,
        row.first,
        merged_text(groups, row.first),
        answers[row.first],
        row.second,
        merged_text(groups, row.second),
        answers[row.second],
        "mean" if row.code is None else "share",
        row.code or "",
        known[result.question].get(row.code or "", ""),
        row.estimate,
        row.difference,
        row.standard_error,
        row.low,
        row.high,
        row.p_value,
        row.adjusted_p_value,
        *_numbers(row.levels[0]),
        *_numbers(row.levels[1]),
        row.note or "",
        f"{said(row, about)} ({low} to {high})",
    ]


# --- cross-tabs -------------------------------------------------------------------------------------------------------


def crosstab_rows(survey: Survey, result: SurveyCrosstab) -> Iterator[list[Any]]:
    """A row for each share of all, of its row and of its column, for each total and for the test of independence."""
    yield CROSSTAB_COLUMNS
    named, end = titles(survey), _asked(survey, result)
    tables: list[tuple[str, SurveyCrosstab | Crosstab]] = [("no", result)]
    if result.weighted is not None:
        tables.append(("yes", result.weighted))
    for weighted, table in tables:
        start = [result.rows, named[result.rows], result.columns, named[result.columns], table.submissions, weighted]
        for row in _table(survey, table):
            yield [*start, *row, *end]


def _table(survey: Survey, table: SurveyCrosstab | Crosstab) -> Iterator[list[Any]]:
    known = texts(survey)
    rows, columns = known[table.rows], known[table.columns]

    def line(kind: str, row: str, column: str, share: Share | JointShare | Within) -> list[Any]:
        about, low, high = (f"{text}%" for text in share_in_percent(share).texts())
        return [
            kind,
            row,
            merged_text(rows, row) if row else "",
            column,
            merged_text(columns, column) if column else "",
            *_numbers(share),
            "",
            "",
            share.note or "",
            f"{said(share, about)} ({low} to {high})",
        ]

    for cell in table.cells:
        yield line("share of all", cell.row, cell.column, cell)
        for kind, share in (("share of row", cell.of_row), ("share of column", cell.of_column)):
            if share:
                yield line(kind, cell.row, cell.column, share)
    for total in table.row_totals:
        yield line("row total", total.code, "", total)
    for total in table.column_totals:
        yield line("column total", "", total.code, total)
    test = table.independence
    numbers = [test.statistic, "", "", "", "", test.degrees_of_freedom, test.p_value, test.note or "", ""]
    yield ["independence", "", "", "", "", *numbers]


# --- regressions ------------------------------------------------------------------------------------------------------


def regression_rows(survey: Survey, result: SurveyRegression) -> Iterator[list[Any]]:
    """A row for each coefficient, the intercept first, and one for all predictors together."""
    yield REGRESSION_COLUMNS
    known, named, fit = texts(survey), titles(survey), result.regression
    start = [fit.question, named[fit.question], fit.code, known[fit.question][fit.code], fit.submissions]
    end = [fit.method, *_asked(survey, result)]
    for term in [*([fit.intercept] if fit.intercept else []), *fit.coefficients]:
        yield [*start, *_term(survey, fit, term), *end]
    together = [fit.statistic, fit.degrees_of_freedom, fit.p_value, fit.note or ""]
    yield [*start, "all predictors", *[""] * 14, *together, *end]


def _term(survey: Survey, fit: Regression, term: Term) -> list[Any]:
    name, code = term.predictor or "", term.code or ""
    answers, reference = texts(survey).get(name, {}), fit.references.get(name, "")
    return [
        "coefficient" if name else "intercept",
        name,
        titles(survey).get(name, ""),
        code,
        merged_text(answers, code) if code else "",
        reference,
        merged_text(answers, reference) if reference else "",
        term.odds_ratio,
        term.odds_low,
        term.odds_high,
        term.estimate,
        term.most_likely,
        term.standard_error,
        term.low,
        term.high,
        term.statistic,
        1,
        term.p_value,
        term.note or "",
    ]
