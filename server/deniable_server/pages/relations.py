"""What the pages show that relate answers: comparisons, cross-tabs and regressions, each with what it is of.

May not: know of HTTP. The views are in ``dashboard``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deniable_protocol import Question, Survey
from deniable_server.analysis import rounding
from deniable_server.analysis.compare import SurveyComparison
from deniable_server.analysis.crosstab import SurveyCrosstab
from deniable_server.analysis.labels import crossable, texts, titles
from deniable_server.analysis.regress import SurveyRegression
from deniable_server.analysis.scope import scope
from deniable_server.estimator.curves import Distance
from deniable_server.estimator.regression import Term
from deniable_server.wording import answer_texts, chance, chi_square, merged_text, probability

from . import sentences
from .group_charts import Of, crosstab_chart, differences_chart

TABLES: tuple[tuple[Of, str], ...] = (
    ("row", "Shares of each row"),
    ("column", "Shares of each column"),
    ("all", "Shares of all"),
)


def question_of(survey: Survey, name: str) -> Question:
    return next(question for question in survey.questions if question.id == name)


# --- comparisons ------------------------------------------------------------------------------------------------------


def comparison_values(survey: Survey, result: SurveyComparison, names: Mapping[str, str]) -> dict[str, Any]:
    """For compare-results.html. ``names``: what the groups are called."""
    question = question_of(survey, result.question)
    answers, unit = answer_texts(question), getattr(question, "unit", None) or ""
    said = [
        (sentences.difference(row, names, answers[row.code] if row.code else "", unit), row.adjusted_p_value)
        for row in result.differences
    ]
    of = scope(survey, result)
    weighted = result.weighted
    return {
        "result": result,
        "scope": of,
        "sizes": [
            f"{names.get(each.label, each.label)}: {sentences.counted(each.answers, 'answer')}"
            for each in result.groups
        ],
        "is_follow_up": question.show_if is not None,
        "chart": differences_chart(question, result.differences, names, result.confidence, of),
        "weighted": weighted
        and differences_chart(
            question, weighted.differences, names, result.confidence, scope(survey, result, weighted=True)
        ),
        "distances": [_distance(each, names, unit) for each in result.distances if each.estimate is not None],
        "differences": [sentence for sentence, _ in said],
        "clear": [sentence for sentence, p in said if p is not None and p <= 1 - result.confidence],
    }


def _distance(row: Distance, names: Mapping[str, str], unit: str) -> str:
    """The largest distance between two curves in a sentence."""
    first, second = (sentences.quoted(names.get(label, label)) for label in (row.first, row.second))
    value, low, high = rounding.rounded(row.estimate, row.low, row.high, 0.0, 1.0, scale=100).texts()
    at = f"{rounding.short_text(rounding.two_digits(row.at or 0.0))}{f' {sentences.quoted(unit)}' if unit else ''}"
    return (
        f"{first} and {second}: the share of answers below a value differs most at {at}, by about {value} percentage "
        f"points, between {low} and {high} ({sentences.p_in_words(row.p_value)})"
    )


# --- cross-tabs -------------------------------------------------------------------------------------------------------


def crosstab_values(survey: Survey, result: SurveyCrosstab) -> dict[str, Any]:
    """For crosstab-results.html."""
    named, answers, of = titles(survey), texts(survey), scope(survey, result)
    names = answers[result.rows], answers[result.columns], named[result.rows], named[result.columns]
    charts = []
    for table, start in ((result, ""), (result.weighted, "Weighted: ")):
        if table is not None:
            about = scope(survey, result, weighted=table is not result)
            for which, title in TABLES:
                chart = crosstab_chart(table, *names, anytime=result.anytime, of=which, scope=about)
                charts.append((f"{start}{title[0].lower()}{title[1:]}" if start else title, chart))
    return {
        "result": result,
        "scope": of,
        "counted": sentences.counted(result.submissions, "respondent"),
        "charts": charts,
    }


# --- regressions ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OddsLine:
    """A line of the table: a group with its odds ratio, or the group that others are compared with."""

    predictor: str
    group: str
    ratio: str
    limits: str
    p: str


def outcomes(survey: Survey) -> list[tuple[str, str]]:
    """What can be explained: the answers to questions that everybody is asked."""
    return [
        (f"{question.id}:{code}", f"{sentences.cut(question.text, 60)} {text}")
        for question in survey.questions
        if not question.asks_mean and question.show_if is None
        for code, text in answer_texts(question).items()
    ]


def predictors(survey: Survey) -> list[tuple[str, str]]:
    """What may explain it: segments, questions that everybody is asked, and single options."""
    named = titles(survey)
    skipped = {each.id for each in survey.questions if each.type == "multi_choice" or each.show_if is not None}
    return [(name, named[name]) for name in crossable(survey) if name not in skipped]


def regression_values(survey: Survey, result: SurveyRegression) -> dict[str, Any]:
    """For regression-results.html."""
    fit, named = result.regression, titles(survey)
    answer = answer_texts(question_of(survey, fit.question))[fit.code]
    return {
        "fit": fit,
        "scope": scope(survey, result),
        "counted": sentences.counted(fit.submissions, "answer"),
        "question": named[fit.question],
        "answer": answer,
        "lines": _odds_lines(survey, result),
        "words": [_in_words(survey, result, answer, term) for term in fit.coefficients],
        "together": f"If nothing here mattered, {chance(fit.p_value)} of surveys would show at least this much "
        f"({chi_square(fit.statistic, fit.degrees_of_freedom)}).",
        "no_limit": any(term.low is None or term.high is None for term in fit.coefficients),
    }


def _odds_lines(survey: Survey, result: SurveyRegression) -> list[OddsLine]:
    known, named, found = texts(survey), titles(survey), []
    for predictor, reference in result.regression.references.items():
        group = merged_text(known[predictor], reference)
        found.append(OddsLine(named[predictor], group, "1", "the others are compared with this", ""))
        for term in result.regression.coefficients:
            if term.predictor == predictor:
                ratio, low, high = rounding.odds(term)
                limits = f"{low} to {high or 'no limit'}" if ratio else "no finite limits"
                group = merged_text(known[predictor], term.code or "")
                found.append(OddsLine("", group, ratio or "unknown", limits, probability(term.p_value)))
    return found


def _in_words(survey: Survey, result: SurveyRegression, answer: str, term: Term) -> str:
    """One odds ratio in a sentence."""
    assert term.predictor is not None and term.code is not None
    known = texts(survey)[term.predictor]
    group, other = (
        sentences.quoted(merged_text(known, code)) for code in (term.code, result.regression.references[term.predictor])
    )
    about = sentences.quoted(titles(survey)[term.predictor])
    ratio, low, high = rounding.odds(term)
    start = f"{about}: the odds of “{sentences.quoted(answer)}” with {group}, compared with {other}, are"
    if not ratio:
        return f"{start} unknown: there are too few reports."
    if not high and term.odds_low == 0:
        return f"{start} about {ratio} times as high, but the reports set no limits to that."
    limits = f"between {low} and {high} times" if high else f"at least {low} times"
    clear = "" if term.p_value <= 1 - result.confidence else " That is not clearly more than chance would give."
    return f"{start} about {ratio} times as high, {limits} ({sentences.p_in_words(term.p_value)}).{clear}"
