"""Commands that print estimates."""

from __future__ import annotations

import click
from rich.table import Table as Grid
from rich.text import Text

from deniable_protocol import Survey
from deniable_server.analysis import Asked, SurveyEstimates, estimate_survey
from deniable_server.estimates import QuestionEstimate
from deniable_server.storage import Storage

from .common import DATABASE, JSON, existing, find_survey, out, print_json


@click.command()
@click.argument("survey_id")
@DATABASE
@click.option("--confidence", default="0.95", show_default=True, help="Of the intervals: 0.5 to 0.9999.")
@click.option("--where", multiple=True, help="segment:code, to count only these. Can be repeated.")
@click.option("--by", help="A segment, to show each of its groups too.")
@JSON
def estimate(
    survey_id: str, database: str, confidence: str, where: tuple[str, ...], by: str | None, as_json: bool
) -> None:
    """Estimate shares and means of a survey, with confidence intervals."""
    with existing(database) as storage:
        survey = find_survey(storage, survey_id).document.survey
        asked = Asked.from_texts(survey, confidence, list(where), by)
        result = read_estimates(storage, survey_id, asked)
    if as_json:
        print_json(result)
        return
    filters = "".join(f", {segment} {code}" for segment, code in result.where.items())
    show(survey, result.questions, f"{survey.title}: {result.submissions:,} submissions{filters}", result)
    for group in result.groups or ():
        show(survey, group.questions, f"{group.segment} {group.code}: {group.submissions:,} submissions", result)


def read_estimates(storage: Storage, survey_id: str, asked: Asked) -> SurveyEstimates:
    """The estimates of a survey that is there."""
    published = find_survey(storage, survey_id)
    status = next(listed.status for listed in storage.surveys() if listed.id == survey_id)
    return estimate_survey(published, status, storage.statistics(published), asked)


def show(survey: Survey, questions: list[QuestionEstimate], title: str, result: SurveyEstimates) -> None:
    """A table of estimates."""
    texts = {question.id: question.text for question in survey.questions}
    units = {question.id: getattr(question, "unit", None) or "" for question in survey.questions}
    grid = Grid(title=Text(title), title_justify="left")
    grid.add_column("Question", max_width=44)
    grid.add_column("Answer")
    grid.add_column("About", justify="right")
    grid.add_column(f"Between ({100 * result.confidence:.4g}%)", justify="right")
    grid.add_column("ε", justify="right")
    for question in questions:
        first = True
        for label, about, low, high in rows(question, units[question.id]):
            heading = Text(texts[question.id]) if first else Text("")
            grid.add_row(heading, Text(label), about, f"{low} and {high}", question.epsilon if first else "")
            first = False
        grid.add_section()
    out.print(grid)


def rows(question: QuestionEstimate, unit: str) -> list[tuple[str, str, str, str]]:
    """Label, estimate and limits of every number of a question, as people read them."""
    shown = [
        (share.code, percent(share.estimate), percent(share.low), percent(share.high)) for share in question.shares
    ]
    if question.mean is not None:
        mean = question.mean
        label = f"mean, {unit}" if unit else "mean"
        shown.append((label, plain(mean.value), plain(mean.low), plain(mean.high)))
    return shown


def percent(share: float | None) -> str:
    return "unknown" if share is None else f"{100 * share:.1f}%"


def plain(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.2f}"
