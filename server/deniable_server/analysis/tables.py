"""Tables: every number of a question as a line of text, and estimates as rows of CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from msgspec import UNSET

from deniable_protocol import Question, Survey
from deniable_server.estimator import Applies, QuestionEstimate, Share, Summary, Weighted
from deniable_server.storage.plain_text import ACTING, SHOWN_INSTEAD
from deniable_server.wording import SUMMARIES, answer_texts, said

from .estimates import SurveyEstimates
from .rounding import AnyShare, mean_in_units, score_in_points, share_in_percent
from .scope import weights_text, where_text

ROWS = 1_000
"""Rows that are turned into text at a time."""

ESTIMATE_COLUMNS = [
    "where", "target", "segment", "group", "submissions", "question", "type", "weighted", "answers",
    "kind", "answer", "estimate", "unbiased", "standard_error", "low", "high", "deff", "confidence", "note", "method",
    "weights", "survey", "epsilon", "question_text", "answer_text", "written", "date",
]  # fmt: skip


class Line(NamedTuple):
    """One number of a question as people read it. ``answers``: the reports it is from, if not all to the question;
    ``of``: whose share it is, if not everybody's.
    """

    label: str
    about: str
    low: str
    high: str
    answers: int | None = None
    of: str = ""

    @property
    def written(self) -> str:
        """In one cell."""
        return f"{self.about} ({self.short})"

    @property
    def between(self) -> str:
        return f"{self.low} and {self.high}" if self.low else ""

    @property
    def short(self) -> str:
        """For tables with many columns."""
        return f"{self.low.removesuffix('%')} to {self.high}" if self.low else ""


def lines(question: Question, estimate: QuestionEstimate | Weighted) -> list[Line]:
    """Label, estimate and limits of every number of a question."""
    labels = answer_texts(question)
    shown = []
    of = ""
    if estimate.applies is not UNSET:
        shown.append(_share_line("applies to", estimate.applies))
        of = "of those"
    for share in estimate.shares:
        line = _share_line(labels[share.code], share, of)
        shown.append(line if share.answers is UNSET else line._replace(answers=share.answers))
    for share in estimate.among_answering or ():
        shown.append(_share_line(labels[share.code], share, "of those who answered"))
    for summary in estimate.summaries or ():
        if summary.minus:
            about, low, high = score_in_points(summary).signed()
            shown.append(Line(SUMMARIES[summary.id], said(summary, about), low, high))
        else:
            shown.append(_share_line(SUMMARIES[summary.id], summary))
    if estimate.mean is not None:
        mean, unit = estimate.mean, question.unit
        about, low, high = mean_in_units(question, mean).texts()
        label = f"mean, {unit}" if unit else "mean"
        shown.append(Line(label, said(mean, about), low, high))
    return shown


def _share_line(label: str, share: AnyShare, of: str = "") -> Line:
    about, low, high = (f"{text}%" for text in share_in_percent(share).texts())
    return Line(label, said(share, about), low, high, of=of)


# --- CSV --------------------------------------------------------------------------------------------------------------


def csv_pieces(rows: Iterable[list[Any]]) -> Iterator[bytes]:
    """The text of a table, piece by piece. All CSV is written here."""
    rows = iter(rows)
    while block := list(islice(rows, ROWS)):
        buffer = io.StringIO()
        # The lines end as RFC 4180 says. With "\n" alone, the writer would not quote a cell with "\r" in it.
        csv.writer(buffer, lineterminator="\r\n").writerows([_cell(value) for value in row] for row in block)
        yield buffer.getvalue().encode()


_BREAKS = "\n\r\u2028\u2029"
_ACTING = re.compile(rf"(?![\t{_BREAKS}])[{ACTING}]")
_FORMULA = re.compile(rf"(?:\A|(?<=[{_BREAKS}]))(?=\s*[=+\-@＝＋－＠\t\r])")


def _cell(value: Any) -> Any:
    """A value that no spreadsheet takes for a formula: a text that would be one, or a line of it, gets an apostrophe.
    Control characters but tabs and line breaks are marked.
    """
    return _FORMULA.sub("'", _ACTING.sub(SHOWN_INSTEAD, value)) if isinstance(value, str) else value


def estimate_rows(survey: Survey, estimates: SurveyEstimates) -> Iterator[list[Any]]:
    """A row for every number: of all submissions, then group by group; what is unknown is left empty."""
    asked = {question.id: (question, answer_texts(question)) for question in survey.questions}
    yield ESTIMATE_COLUMNS
    where = where_text(estimates)
    target = estimates.target if estimates.population is None else f"population of {estimates.population}"
    if estimates.simultaneous:
        target += ", simultaneous"
    if estimates.anytime:
        target += ", valid at every look"
    if estimates.deff != 1:
        target += f", design effect {estimates.deff:g}"
    if estimates.without:
        target += f", without {', '.join(estimates.without)}"
    weights = weights_text(estimates)
    whole = [("", "", estimates.submissions, estimates.questions)]
    groups = [(group.segment, group.code, group.submissions, group.questions) for group in estimates.groups or ()]
    for segment, code, submissions, questions in whole + groups:
        for question in questions:
            start = [where, target, segment, code, submissions, question.id, question.type]
            known, answers = asked[question.id]
            for *numbers, note, written in _question_rows(known, question, estimates.notes):
                yield [
                    *start,
                    *numbers,
                    estimates.confidence,
                    note,
                    estimates.methods[question.id],
                    weights,
                    survey.id,
                    estimates.epsilon,
                    known.text,
                    answers.get(numbers[3], ""),
                    written,
                    estimates.date,
                ]


def _question_rows(asked: Question, question: QuestionEstimate, notes: list[str]) -> Iterator[list[Any]]:
    note = "; ".join([*notes, *question.notes])
    for *numbers, written in _number_rows(asked, question, question.answers):
        yield ["no", *numbers, note, written]
    for point in question.distribution or ():
        start = ["no", question.answers]
        yield [*start, "likely share at", point.at, point.share, *[""] * 5, "a single share has no limits", ""]
        yield [*start, "likely share up to", point.at, point.up_to, "", "", point.low, point.high, "", "", ""]
    for each in question.curve or ():
        numbers = [each.below, each.unbiased, each.standard_error, each.low, each.high]
        yield ["no", question.answers, "share below", each.at, *numbers, "", "limits for all values at once", ""]
    for one in question.price.points if question.price else ():
        start, end = ["no", question.answers], ["", "limits for all prices at once", ""]
        yield [*start, "demand at", one.at, one.demand, "", "", one.demand_low, one.demand_high, *end]
        best = ["", f"{'may' if one.may_be_best else 'cannot'} be the best price", ""]
        yield [*start, "revenue at", one.at, one.revenue, "", "", one.revenue_low, one.revenue_high, *best]
    if question.weighted is not UNSET:
        for *numbers, written in _number_rows(asked, question.weighted, question.weighted.effective_answers):
            yield ["yes", *numbers, note, written]


def _number_rows(asked: Question, numbers: QuestionEstimate | Weighted, answers: float) -> Iterator[list[Any]]:
    """How many reports each number is from, the numbers as they are, and last as people read them."""
    shares = [("share", share.code, share) for share in numbers.shares]
    shares += [("among_answering", share.code, share) for share in numbers.among_answering or ()]
    rows: list[list[Any]] = [[answers, "applies", "", *_numbers(each)] for each in (numbers.applies,) if each]
    for kind, code, share in shares:
        rows.append([answers if share.answers is UNSET else share.answers, kind, code, *_numbers(share)])
    for each in numbers.summaries or ():
        rows.append([answers, each.id, "", *_numbers(each)])
    if numbers.mean is not None:
        mean = numbers.mean
        numeric = [mean.value, mean.unbiased, mean.standard_error, mean.low, mean.high, mean.deff or ""]
        rows.append([answers, "mean", "", *numeric])
    for row, line in zip(rows, lines(asked, numbers), strict=True):
        yield [*row, line.written]


def _numbers(share: Share | Applies | Summary) -> list[Any]:
    return [share.estimate, share.unbiased, share.standard_error, share.low, share.high, share.deff or ""]
