"""What the results page shows of each question, in words and as a chart, in the order in which people read it.

May not: know of HTTP, or contain HTML.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from deniable_protocol import Question, Survey
from deniable_server.analysis.crosstab import CrosstabQuery, crosstab, planned_pairs
from deniable_server.analysis.estimates import SurveyEstimates
from deniable_server.analysis.labels import texts, titles
from deniable_server.analysis.source import Source
from deniable_server.errors import BadQuery, Withheld
from deniable_server.estimator import QuestionEstimate
from deniable_server.wording import answer_texts, group_text

from . import sentences
from .charts import Axis, Bars, Empty, MeanChart, NumberTable, common_axis, drawn_codes, question_chart
from .curve_charts import Curves, curve_chart
from .group_charts import Dots, HeatMap, crosstab_chart, groups_chart
from .scale_charts import ScaleChart, is_stacked, scale_chart, side_axis

MOST_CROSSED = 12
"""Planned cross-tabs that are shown with the results; the others are a click away."""

Named = list[tuple[str, QuestionEstimate]]


@dataclass(frozen=True)
class Card:
    """A question as it is shown. ``depth`` is how many questions it follows on, ``after`` says on which. ``facts`` says
    how many were asked and what their answers are worth; ``method`` how the answers are protected, and how the numbers
    are made. ``curves`` are those of a number; of prices, they are a result of their own.
    """

    id: str
    title: str
    depth: int
    after: str
    notices: list[str]
    applies: str
    headline: str
    weighted: str
    chart: Bars | MeanChart | ScaleChart | Empty | None
    tables: tuple[NumberTable, ...]
    curves: Curves | None
    answering: list[tuple[str, str]]
    summaries: list[tuple[str, str]]
    facts: list[str]
    method: str


@dataclass(frozen=True)
class Crossed:
    """A cross-tab that was planned before the survey was published; ``refusal`` says why it is not shown."""

    rows: str
    columns: str
    title: str
    chart: HeatMap | Empty | None
    notices: list[str]
    refusal: str = ""


def common_notices(result: SurveyEstimates) -> list[str]:
    """Notices that apply to every card: shown once, above them."""
    found = Counter(notice for question in result.questions for notice in sentences.notices(question))
    return [*sentences.survey_notices(result.notes), *(notice for notice, cards in found.items() if cards > 2)]


def make_cards(source: Source, result: SurveyEstimates, everywhere: Iterable[str]) -> list[Card]:
    """One for each question; follow-ups are below the question that they follow on. ``everywhere``: the notices that
    are shown above all cards.
    """
    survey = source.survey
    segments = {segment.id: segment for segment in survey.segments}
    groups, invited = result.groups or [], result.invitations
    # Once it is closed, none of them can be used any more.
    unused = None if invited is None else invited.unused if result.status == "open" else 0
    labels = [group_text(segments[group.segment], group.code) for group in groups]
    every = [*result.questions, *(each for group in groups for each in group.questions)]
    shares = common_axis(every)
    scales = side_axis([each for each in every if each.type == "scale"])
    cards = []
    for place, depth in reading_order(survey):
        question, estimate = survey.questions[place], result.questions[place]
        parts = [group.questions[place] for group in groups]
        named = [(f"{label} ({part.answers:,})", part) for label, part in zip(labels, parts, strict=True)]
        worth = sentences.open_equivalent(estimate)
        asked = sentences.asked(estimate, result.submissions)
        influence = sentences.influence(question, estimate, parts, unused)
        facts = [asked and f"{asked}{worth and f'; {worth}'}.", influence and f"{influence}."]
        chart = _chart(question, estimate, named, shares, scales, result.confidence) if estimate.answers else None
        stacked = isinstance(chart, ScaleChart)
        curves = curve_chart(question, estimate, result.confidence)
        cards.append(
            Card(
                id=question.id,
                title=question.text,
                depth=depth,
                after=_after(survey, question),
                notices=[notice for notice in sentences.notices(estimate) if notice not in everywhere],
                applies=sentences.applies(estimate),
                headline=sentences.scale_headline(question, estimate)
                if stacked
                else sentences.headline(question, estimate),
                weighted=_weighted(question, estimate),
                chart=chart,
                tables=(*(chart.tables if chart else ()), *(curves.tables if curves else ())),
                curves=curves,
                answering=sentences.answering(question, estimate) if estimate.answers else [],
                summaries=sentences.summaries(estimate)[stacked:] if estimate.answers else [],
                facts=[fact for fact in facts if fact],
                method=_method(question, result.methods[question.id]),
            )
        )
    return cards


def reading_order(survey: Survey) -> list[tuple[int, int]]:
    """The places of the questions, each with how many it follows on: follow-ups come right after their question."""
    found: list[tuple[int, int]] = []

    def visit(parent: str | None, depth: int) -> None:
        for place, question in enumerate(survey.questions):
            if (question.show_if.question if question.show_if else None) == parent:
                found.append((place, depth))
                visit(question.id, depth + 1)

    visit(None, 0)
    return found


def _after(survey: Survey, question: Question) -> str:
    """Which answers a follow-up is asked after; empty for other questions."""
    if question.show_if is None:
        return ""
    parent = next(each for each in survey.questions if each.id == question.show_if.question)
    answers = answer_texts(parent)
    said = " or ".join(f"“{sentences.quoted(answers[code])}”" for code in question.show_if.codes)
    return f"Asked after {said} to “{sentences.quoted(parent.text)}”"


def _chart(
    question: Question, estimate: QuestionEstimate, groups: Named, shares: Axis, scales: Axis, confidence: float
) -> Bars | MeanChart | ScaleChart | Empty:
    """Everybody, and below each number the same of each group, on one axis."""
    if is_stacked(question, estimate):
        return scale_chart(question, estimate, groups, scales, confidence)
    chart = question_chart(question, estimate, confidence, shares)
    split = groups_chart(question, groups, confidence, shares) if groups else None
    if not isinstance(split, Dots):
        return chart
    if isinstance(chart, MeanChart):
        return replace(chart, parts=split.blocks[0].rows, tables=(*chart.tables, *split.tables))
    assert isinstance(chart, Bars)
    drawn = drawn_codes(question)
    below = [block.rows for block, share in zip(split.blocks, estimate.shares, strict=True) if share.code in drawn]
    rows = [replace(row, parts=parts) for row, parts in zip(chart.rows, below, strict=True)]
    return replace(chart, rows=tuple(rows), tables=(*chart.tables, *split.tables))


def _weighted(question: Question, estimate: QuestionEstimate) -> str:
    """What the weighted numbers say first; empty without weights."""
    if not estimate.weighted:
        return ""
    applies, effect = sentences.applies(estimate.weighted), estimate.weighted.deff
    said = f"{applies and f'{applies}. '}{sentences.headline(question, estimate.weighted)}"
    return said if effect is None else f"{said}. Design effect: {effect:.2f} at most"


def _method(question: Question, words: str) -> str:
    """How the numbers are made and, where a question has an epsilon of its own, which."""
    own = "" if question.epsilon is None else f" ε = {question.epsilon}."
    return f"{sentences.capitalized(words)}.{own}"


def cross_planned(source: Source, result: SurveyEstimates) -> tuple[list[Crossed], Sequence[tuple[str, str]]]:
    """The planned cross-tabs of what is shown, weighted where that is, and the pairs of those that are too many."""
    pairs = planned_pairs(source.survey) if result.submissions else []
    named, answers = titles(source.survey), texts(source.survey)
    weighting = result.weighting
    weights: dict[str, Any] = {}
    if weighting is not None:
        weights = {"weights": weighting.margins, "trim": weighting.trim or None}
    found = []
    for rows, columns in pairs[:MOST_CROSSED]:
        title = " and ".join(sentences.quoted(named[name]) for name in (rows, columns))
        query = CrosstabQuery(
            rows=rows,
            columns=columns,
            where=result.where,
            without=result.without,
            confidence=result.confidence,
            deff=result.deff,
            anytime=result.anytime,
            **weights,
        )
        try:
            table = crosstab(source, query)
        except (BadQuery, Withheld) as error:
            found.append(Crossed(rows, columns, title, None, [], str(error)))
            continue
        chart = crosstab_chart(
            table.weighted or table,
            answers[rows],
            answers[columns],
            named[rows],
            named[columns],
            anytime=table.anytime,
        )
        notices = [f"{sentences.capitalized(note)}." for note in table.notes if note not in result.notes]
        found.append(Crossed(rows, columns, title, chart, notices))
    return found, pairs[len(found) :]
