"""Commands that print how answers hang together."""

from __future__ import annotations

from typing import Any

import click
from msgspec import UNSET
from rich.measure import Measurement
from rich.table import Table as Grid
from rich.text import Text

from deniable_protocol import Question, Survey
from deniable_server.analysis.estimates import Analysis
from deniable_server.analysis.relations import (
    SurveyComparison,
    SurveyCrosstab,
    compare_groups,
    compare_surveys,
    explain,
    tabulate_counted,
)
from deniable_server.errors import BadQuery
from deniable_server.estimator import TOO_NOISY, Share
from deniable_server.estimator.crosstab import JointShare
from deniable_server.estimator.regression import Regression
from deniable_server.settings import parse_minimum_group
from deniable_server.wording import (
    answer_texts,
    chance,
    chi_square,
    independence_in_words,
    percent,
    plain,
    points,
    probability,
)

from .common import JSON, MINIMUM_GROUP, out, print_json
from .estimate import CONFIDENCE, WHERE, parameters
from .export import reads, source


@click.command(short_help="Differences between groups or surveys.")
@reads
@click.option("--question", required=True, help="The question to compare.")
@click.option("--by", multiple=True, help="A segment, whose groups are compared with each other.")
@click.option(
    "--with", "other", help="Another survey with the same question, such as the wave before; with --from, its export."
)
@CONFIDENCE
@WHERE
@MINIMUM_GROUP
@JSON
def compare(
    survey_id: str | None,
    database: str,
    folder: str | None,
    engine: str | None,
    master: str | None,
    other: str | None,
    minimum_group: str,
    as_json: bool,
    **given: Any,
) -> None:
    """Compare a question between the groups of a segment, or with another survey."""
    minimum = parse_minimum_group(minimum_group)
    with source(survey_id, database, folder, engine, master) as kept:
        texts = parameters(kept.published, given)
        question, asked = texts.question("question"), texts.asked()
        if (asked.by is None) == (other is None):
            raise BadQuery("compare takes either --by, a segment, or --with, another survey")
        analysis = Analysis(kept.published, kept.statistics(), minimum)
        if asked.by is not None:
            result = compare_groups(analysis, question.id, asked.by, asked)
        else:
            wave = kept.beside(other or "")
            against = Analysis(wave.published, wave.statistics(), minimum)
            result = compare_surveys(analysis, against, question.id, asked)
    if as_json:
        print_json(result)
    else:
        show_comparison(question, result)


def show_comparison(question: Question, result: SurveyComparison) -> None:
    labels = answer_texts(question)
    grid = Grid(title=Text(question.text + chosen(result.where)), title_justify="left")
    grid.add_column("Groups", overflow="fold")
    grid.add_column("Answer", max_width=30)
    grid.add_column("Difference", justify="right")
    grid.add_column(f"Between ({100 * result.confidence:.4g}%)", justify="right")
    grid.add_column("p", justify="right")
    grid.add_column("adjusted", justify="right")
    sizes = {group.label: group.answers for group in result.groups}
    before = None
    for row in result.differences:
        form = signed if row.code is None else points
        about = TOO_NOISY if row.note is not UNSET else form(row.estimate)
        pair = f"{row.first} ({sizes[row.first]:,}) − {row.second} ({sizes[row.second]:,})"
        if before not in (None, pair):
            grid.add_section()
        grid.add_row(
            Text(pair if pair != before else ""),
            Text("mean" if row.code is None else labels[row.code]),
            about,
            f"{form(row.low)} and {form(row.high)}",
            probability(row.p_value),
            probability(row.adjusted_p_value),
        )
        before = pair
    out.print(grid)
    unit = "percentage points" if any(row.code is not None for row in result.differences) else "the question's units"
    waves = " The two surveys' respondents are taken to be different people." if result.other else ""
    out.print(
        Text(
            f"In {unit}; each interval by itself. p: how often as much would come by chance; adjusted: allowing for "
            f"all that are shown.{waves}"
        )
    )
    warn(result.notes)


@click.command("crosstab", short_help="Two questions against each other.")
@reads
@click.option("--rows", required=True, help="A question with shares, or a segment.")
@click.option("--columns", required=True, help="Another one.")
@CONFIDENCE
@WHERE
@MINIMUM_GROUP
@JSON
def crosstab_(
    survey_id: str | None,
    database: str,
    folder: str | None,
    engine: str | None,
    master: str | None,
    minimum_group: str,
    as_json: bool,
    **given: Any,
) -> None:
    """Show the shares of all pairs of answers to two questions, and test whether they are independent."""
    minimum = parse_minimum_group(minimum_group)
    with source(survey_id, database, folder, engine, master) as kept:
        texts = parameters(published := kept.published, given)
        analysis, asked = Analysis(published, kept.statistics(), minimum), texts.asked()
        result = tabulate_counted(analysis, texts.needed("rows"), texts.needed("columns"), asked, kept.count)
    if as_json:
        print_json(result)
    else:
        show_crosstab(published.document.survey, result)


def show_crosstab(survey: Survey, result: SurveyCrosstab) -> None:
    texts = {question.id: question.text for question in (*survey.questions, *survey.segments)}
    names = {question.id: answer_texts(question) for question in survey.questions}
    rows, columns = names.get(result.rows, {}), names.get(result.columns, {})
    out.print(
        Text(
            f"{texts[result.rows]}  ×  {texts[result.columns]}  ({result.submissions:,} submissions)"
            + chosen(result.where)
        )
    )
    grid = joint_grid(result, rows, columns)
    # A table that does not fit would break its numbers over lines; a list always fits.
    fits = Measurement.get(out, out.options.update(max_width=10_000), grid).maximum <= out.width
    out.print(grid if fits else joint_list(result, rows, columns))
    out.print(Text(f"Shares of all, and {100 * result.confidence:.4g}% intervals."))
    warn(result.notes)
    out.print(Text(independence_in_words(result.independence)))


def joint_grid(result: SurveyCrosstab, rows: dict[str, str], columns: dict[str, str]) -> Grid:
    grid = Grid(show_lines=True)
    grid.add_column("")
    for total in result.column_totals:
        grid.add_column(Text(columns.get(total.code, total.code)), justify="right")
    grid.add_column("all", justify="right")
    cells = {(cell.row, cell.column): cell for cell in result.cells}
    for total in result.row_totals:
        entries = [interval(cells[total.code, column.code]) for column in result.column_totals]
        grid.add_row(Text(rows.get(total.code, total.code)), *entries, interval(total))
    grid.add_row("all", *map(interval, result.column_totals), "")
    return grid


def joint_list(result: SurveyCrosstab, rows: dict[str, str], columns: dict[str, str]) -> Grid:
    grid = Grid()
    for heading in (result.rows, result.columns, "About", "Between"):
        grid.add_column(heading, justify="right" if heading in ("About", "Between") else "left")
    last = None
    for cell in result.cells:
        if last not in (None, cell.row):
            grid.add_section()
        label = "" if cell.row == last else rows.get(cell.row, cell.row)
        about, between = interval(cell).split("\n")
        grid.add_row(Text(label), Text(columns.get(cell.column, cell.column)), about, between)
        last = cell.row
    for name, texts, totals in (("all", columns, result.column_totals), ("", rows, result.row_totals)):
        grid.add_section()
        for total in totals:
            about, between = interval(total).split("\n")
            label = texts.get(total.code, total.code)
            grid.add_row(*((Text(name), Text(label)) if name else (Text(label), Text("all"))), about, between)
            name = name and " "
    return grid


def chosen(where: dict[str, str]) -> str:
    return "".join(f", {segment} {code}" for segment, code in where.items())


def warn(notes: list[str]) -> None:
    for note in notes:
        out.print(Text(f"⚠ {note}", style="yellow"))


def interval(share: Share | JointShare) -> str:
    """A share above its limits."""
    about = TOO_NOISY if share.note is not UNSET else percent(share.estimate)
    return f"{about}\n{percent(share.low)} to {percent(share.high)}"


@click.command(short_help="What explains an answer.")
@reads
@click.option("--question", required=True, help="The question to explain.")
@click.option("--answer", default="yes", show_default=True, help="The code whose odds are explained.")
@click.option("--on", multiple=True, required=True, help="A segment that may explain it. Can be repeated.")
@CONFIDENCE
@WHERE
@MINIMUM_GROUP
@JSON
def regress(
    survey_id: str | None,
    database: str,
    folder: str | None,
    engine: str | None,
    master: str | None,
    minimum_group: str,
    as_json: bool,
    **given: Any,
) -> None:
    """Explain the odds of an answer by segments: logistic regression through the noise."""
    with source(survey_id, database, folder, engine, master) as kept:
        texts = parameters(kept.published, given)
        question = texts.question("question")
        analysis = Analysis(kept.published, kept.statistics(), parse_minimum_group(minimum_group))
        result = explain(analysis, question.id, texts.needed("answer"), texts.segments("on"), texts.asked())
    if as_json:
        print_json(result)
    else:
        show_regression(question, result.regression)


def show_regression(question: Question, result: Regression) -> None:
    answer = answer_texts(question)[result.code]
    if not result.converged:
        out.print(Text(f"No fit was found: {result.note}."))
        return
    grid = Grid(title=Text(f"{question.text} Odds of {answer!r}"), title_justify="left")
    grid.add_column("Segment")
    grid.add_column("Group")
    grid.add_column("Odds ratio", justify="right")
    grid.add_column(f"Between ({100 * result.confidence:.4g}%)", justify="right")
    grid.add_column("p", justify="right")
    for segment, reference in result.references.items():
        grid.add_row(Text(segment), Text(reference), "1", "", "")
        for term in result.coefficients:
            if term.segment == segment:
                limits = f"{plain(term.odds_low)} and {plain(term.odds_high)}"
                grid.add_row("", Text(term.code or ""), plain(term.odds_ratio), limits, probability(term.p_value))
        grid.add_section()
    out.print(grid)
    out.print(
        Text(
            f"{result.submissions:,} submissions. If no segment mattered, as much would be seen in "
            f"{chance(result.p_value)} of surveys ({chi_square(result.statistic, result.degrees_of_freedom)})."
        )
    )


def signed(value: float | None) -> str:
    return plain(value) if value is None or value < 0 else f"+{plain(value)}"
