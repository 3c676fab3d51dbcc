"""Commands that print how answers are related: compare, crosstab, regress."""

from __future__ import annotations

import click
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from deniable_protocol import Question, Survey
from deniable_server.analysis import rounding
from deniable_server.analysis.compare import CompareQuery, SurveyComparison, compare
from deniable_server.analysis.crosstab import CrosstabQuery, SurveyCrosstab, crosstab
from deniable_server.analysis.labels import question_texts, titles
from deniable_server.analysis.regress import RegressQuery, SurveyRegression, regress
from deniable_server.analysis.rounding import difference, share_in_percent
from deniable_server.analysis.scope import scope
from deniable_server.estimator import Share
from deniable_server.estimator.comparison import Comparison
from deniable_server.estimator.crosstab import Crosstab, JointShare
from deniable_server.estimator.regression import Term
from deniable_server.wording import (
    EVERY_LOOK,
    answer_texts,
    chance,
    chi_square,
    independence_in_words,
    probability,
    said,
)

from .ask import asks
from .common import chosen, out, warn


@click.command("compare", short_help="Differences between groups or surveys.")
@asks(CompareQuery, compare)
def compare_(survey: Survey, result: SurveyComparison) -> None:
    """Compare a question between the groups of a segment, or with another survey."""
    question = find_question(survey, result.question)
    out.print(difference_table(question, result, result, question.text + chosen(result)))
    if result.weighted is not None:
        out.print(difference_table(question, result, result.weighted, "Weighted"))
    looks = f" {EVERY_LOOK}" if result.anytime else ""
    unit = "percentage points" if any(row.code is not None for row in result.differences) else "the question's units"
    some = " of those whom it applies to" if question.show_if else ""
    waves = " The two surveys' respondents are taken to be different people." if result.other else ""
    out.print(
        Text(
            f"In {unit}{some}; each interval on its own. p: how often chance alone would give such a difference; "
            f"adjusted: allowing for all that are shown.{waves}{looks}"
        )
    )
    out.print(Text(f"{scope(survey, result)}."))
    warn(result.notes)


def difference_table(
    question: Question, result: SurveyComparison, compared: SurveyComparison | Comparison, title: str
) -> Table:
    labels = answer_texts(question)
    table = Table(title=Text(title), title_justify="left")
    table.add_column("Groups", overflow="fold")
    table.add_column("Answer", max_width=30)
    table.add_column("Difference", justify="right")
    table.add_column(f"Between ({100 * result.confidence:.4g}%)", justify="right", no_wrap=True)
    table.add_column("p", justify="right")
    table.add_column("adjusted", justify="right")
    sizes = {group.label: group.answers for group in compared.groups}
    before = None
    for row in compared.differences:
        about, low, high = difference(row).signed()
        pair = f"{row.first} ({sizes[row.first]:,.0f}) − {row.second} ({sizes[row.second]:,.0f})"
        if before not in (None, pair):
            table.add_section()
        table.add_row(
            Text(pair if pair != before else ""),
            Text("mean" if row.code is None else labels[row.code]),
            said(row, about),
            f"{low} and {high}",
            probability(row.p_value),
            probability(row.adjusted_p_value),
        )
        before = pair
    return table


@click.command("crosstab", short_help="Two questions against each other.")
@asks(CrosstabQuery, crosstab)
def crosstab_(survey: Survey, result: SurveyCrosstab) -> None:
    """Show the shares of all pairs of answers to two questions, and test whether they are independent."""
    named, texts = titles(survey), question_texts(survey)
    rows, columns = texts.get(result.rows, {}), texts.get(result.columns, {})
    out.print(
        Text(
            f"{named[result.rows]}  ×  {named[result.columns]}  ({result.submissions:,} submissions report on both)"
            + chosen(result)
        )
    )
    show_joint(result, rows, columns)
    if result.weighted is not None:
        out.print(Text("Weighted"))
        show_joint(result.weighted, rows, columns)
    looks = f" {EVERY_LOOK}" if result.anytime else ""
    out.print(Text(f"Shares of all, and {100 * result.confidence:.4g}% intervals.{looks}"))
    warn(result.notes)
    out.print(Text(independence_in_words(result.independence, anytime=result.anytime)))
    out.print(Text(f"{scope(survey, result)}."))


def show_joint(result: SurveyCrosstab | Crosstab, rows: dict[str, str], columns: dict[str, str]) -> None:
    table = joint_table(result, rows, columns)
    # A table that does not fit would break its numbers over lines; a list always fits.
    fits = Measurement.get(out, out.options.update(max_width=10_000), table).maximum <= out.width
    out.print(table if fits else joint_list(result, rows, columns))


def joint_table(result: SurveyCrosstab | Crosstab, rows: dict[str, str], columns: dict[str, str]) -> Table:
    table = Table(show_lines=True)
    table.add_column("")
    for total in result.column_totals:
        table.add_column(Text(columns.get(total.code, total.code)), justify="right")
    table.add_column("all", justify="right")
    cells = {(cell.row, cell.column): cell for cell in result.cells}
    for total in result.row_totals:
        entries = [interval(cells[total.code, column.code]) for column in result.column_totals]
        table.add_row(Text(rows.get(total.code, total.code)), *entries, interval(total))
    table.add_row("all", *map(interval, result.column_totals), "")
    return table


def joint_list(result: SurveyCrosstab | Crosstab, rows: dict[str, str], columns: dict[str, str]) -> Table:
    table = Table()
    for heading in (result.rows, result.columns, "About", "Between"):
        table.add_column(heading, justify="right" if heading in ("About", "Between") else "left")
    last = None
    for cell in result.cells:
        if last not in (None, cell.row):
            table.add_section()
        label = "" if cell.row == last else rows.get(cell.row, cell.row)
        about, between = interval(cell).split("\n")
        table.add_row(Text(label), Text(columns.get(cell.column, cell.column)), about, between)
        last = cell.row
    for name, texts, totals in (("all", columns, result.column_totals), ("", rows, result.row_totals)):
        table.add_section()
        for total in totals:
            about, between = interval(total).split("\n")
            label = texts.get(total.code, total.code)
            table.add_row(*((Text(name), Text(label)) if name else (Text(label), Text("all"))), about, between)
            name = name and " "
    return table


def interval(share: Share | JointShare) -> str:
    """A share above its limits."""
    about, low, high = (f"{text}%" for text in share_in_percent(share).texts())
    # Answers that exclude each other have no limits.
    return f"{said(share, about)}\n{low} to {high}" if share.high else "0%\n"


@click.command("regress", short_help="What explains an answer.")
@asks(RegressQuery, regress)
def regress_(survey: Survey, answered: SurveyRegression) -> None:
    """Explain the odds of an answer by segments and other questions: logistic regression through the noise."""
    result = answered.regression
    question = find_question(survey, result.question)
    answer = answer_texts(question)[result.code]
    if not result.converged:
        out.print(Text(f"No fit was found: {result.note}."))
        return
    texts = question_texts(survey)
    table = Table(title=Text(f"{question.text} Odds of {answer!r}{chosen(answered)}"), title_justify="left")
    table.add_column("Predictor")
    table.add_column("Group", max_width=30)
    table.add_column("Odds ratio", justify="right")
    table.add_column(f"Between ({100 * result.confidence:.4g}%)", justify="right")
    table.add_column("p", justify="right")
    for predictor, reference in result.references.items():
        labels = texts.get(predictor, {})
        table.add_row(Text(predictor), Text(labels.get(reference, reference)), "1", "", "")
        for term in result.coefficients:
            if term.predictor == predictor:
                code = term.code or ""
                table.add_row("", Text(labels.get(code, code)), *odds(term), probability(term.p_value))
        table.add_section()
    out.print(table)
    out.print(
        Text(
            f"{result.submissions:,} answers. If nothing here mattered, {chance(result.p_value)} of surveys would "
            f"show at least this much ({chi_square(result.statistic, result.degrees_of_freedom)}). "
            "Groups with the odds ratio 1 are what the others are compared with; --reference chooses another."
        )
    )
    out.print(Text(f"{scope(survey, answered)}."))
    if any(term.low is None or term.high is None for term in result.coefficients):
        out.print(Text("Where there is no limit, the data cannot rule out that everybody or nobody gives this answer."))


def odds(term: Term) -> tuple[str, str]:
    """The odds ratio, and its limits: in words where they are infinite."""
    ratio, low, high = rounding.odds(term)
    return (ratio, f"{low} and {high or 'no limit'}") if ratio else ("unknown", "no finite limits")


def find_question(survey: Survey, name: str) -> Question:
    return next(question for question in survey.questions if question.id == name)
