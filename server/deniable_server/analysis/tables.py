"""Tables to download: estimates and reports as rows of CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from msgspec import UNSET

from deniable_protocol import Document, Survey
from deniable_server.estimator import QuestionEstimate, Weighted
from deniable_server.statistics import Content
from deniable_server.wording import answer_texts

from .estimates import SurveyEstimates

ROWS = 1_000
"""Rows that are turned into text at a time."""

ESTIMATE_COLUMNS = [
    "where", "target", "segment", "group", "submissions", "question", "type", "epsilon", "weighted", "answers",
    "kind", "answer", "estimate", "unbiased", "standard_error", "low", "high", "confidence", "note", "method",
    "weights", "survey", "question_text", "answer_text",
]  # fmt: skip


def csv_pieces(rows: Iterable[list[Any]]) -> Iterator[bytes]:
    """The text of a table, piece by piece."""
    rows = iter(rows)
    while block := list(islice(rows, ROWS)):
        buffer = io.StringIO()
        csv.writer(buffer, lineterminator="\n").writerows(block)
        yield buffer.getvalue().encode()


def report_rows(document: Document, submissions: Iterable[tuple[bytes, Content]]) -> Iterator[list[Any]]:
    """The ids of submissions are left out: with them, a receipt would point at its row."""
    survey = document.survey
    codes = [[option.code for option in segment.options] for segment in survey.segments]
    yield [asked.id for asked in (*survey.segments, *survey.questions)]
    for _, content in submissions:
        yield [*(known[i] for known, i in zip(codes, content.segments, strict=True)), *content.reports]


def estimate_rows(survey: Survey, estimates: SurveyEstimates) -> Iterator[list[Any]]:
    """A row for every number: of all submissions, then group by group; what is unknown is left empty."""
    texts = {question.id: (_cell(question.text), answer_texts(question)) for question in survey.questions}
    yield ESTIMATE_COLUMNS
    where = " ".join(f"{segment}:{code}" for segment, code in estimates.where.items())
    target = estimates.target if estimates.population is None else f"population of {estimates.population}"
    if estimates.simultaneous:
        target += ", simultaneous"
    margins = estimates.weighting.margins if estimates.weighting else {}
    weights = " ".join(
        f"{segment}:{code}:{share:g}" for segment, shares in margins.items() for code, share in shares.items()
    )
    whole = [("", "", estimates.submissions, estimates.questions)]
    groups = [(group.segment, group.code, group.submissions, group.questions) for group in estimates.groups or ()]
    for segment, code, submissions, questions in whole + groups:
        for question in questions:
            start = [where, target, segment, code, submissions, question.id, question.type, question.epsilon]
            text, answers = texts[question.id]
            for numbers in _question_rows(question):
                spoken = [text, _cell(answers.get(numbers[3], ""))]
                yield [
                    *start,
                    *numbers[:-1],
                    estimates.confidence,
                    numbers[-1],
                    estimates.methods[question.id],
                    weights,
                    survey.id,
                    *spoken,
                ]


def _cell(text: str) -> str:
    """A text of the survey as a cell that no spreadsheet takes for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def _question_rows(question: QuestionEstimate) -> Iterator[list[Any]]:
    note = "; ".join(question.notes)
    for numbers in _number_rows(question):
        yield ["no", question.answers, *numbers, note]
    for point in question.distribution or ():
        yield ["no", question.answers, "likely share at", point.at, point.share, *[""] * 4, "a curve without intervals"]
    if question.weighted is not UNSET:
        for numbers in _number_rows(question.weighted):
            yield ["yes", question.weighted.effective_answers, *numbers, note]


def _number_rows(numbers: QuestionEstimate | Weighted) -> Iterator[list[Any]]:
    for share in numbers.shares:
        yield ["share", share.code, share.estimate, share.unbiased, share.standard_error, share.low, share.high]
    for summary in numbers.summaries or ():
        yield [summary.id, "", summary.estimate, "", summary.standard_error, summary.low, summary.high]
    if numbers.mean is not None:
        mean = numbers.mean
        yield ["mean", "", mean.value, "", mean.standard_error, mean.low, mean.high]
