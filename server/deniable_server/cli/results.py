"""Commands that print estimates."""

from __future__ import annotations

import click
from rich.table import Table as Grid
from rich.text import Text

from deniable_protocol import Choice, MultiChoice, Question, Scale, Survey
from deniable_protocol.checks import DECLINED
from deniable_server.analysis import Asked, SurveyEstimates, estimate_survey
from deniable_server.estimator import QuestionEstimate
from deniable_server.storage import Storage

from .common import DATABASE, JSON, existing, find_survey, out, print_json


@click.command(short_help="Shares and means, with intervals.")
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
    status = "" if result.status == "open" else ", closed"
    show(survey, result.questions, f"{survey.title}: {result.submissions:,} submissions{filters}{status}", result)
    for group in result.groups or ():
        show(survey, group.questions, f"{group.segment} {group.code}: {group.submissions:,} submissions", result)


def read_estimates(storage: Storage, survey_id: str, asked: Asked) -> SurveyEstimates:
    """The estimates of a survey that is there."""
    published = find_survey(storage, survey_id)
    return estimate_survey(published, storage.status(published), storage.statistics(published), asked)


def show(survey: Survey, questions: list[QuestionEstimate], title: str, result: SurveyEstimates) -> None:
    """A table of estimates."""
    asked = {question.id: question for question in survey.questions}
    grid = Grid(title=Text(title), title_justify="left")
    grid.add_column("Question", max_width=44)
    grid.add_column("Answer", max_width=30)
    grid.add_column("About", justify="right")
    grid.add_column(f"Between ({100 * result.confidence:.4g}%)", justify="right")
    grid.add_column("ε", justify="right")
    for question in questions:
        first = True
        for label, about, low, high in rows(asked[question.id], question):
            heading = Text(asked[question.id].text) if first else Text("")
            grid.add_row(heading, Text(label), about, f"{low} and {high}", question.epsilon if first else "")
            first = False
        grid.add_section()
    out.print(grid)


def rows(question: Question, estimate: QuestionEstimate) -> list[tuple[str, str, str, str]]:
    """Label, estimate and limits of every number of a question, as people read them."""
    labels = answer_texts(question)
    shown = [
        (labels[share.code], percent(share.estimate), percent(share.low), percent(share.high))
        for share in estimate.shares
    ]
    if estimate.mean is not None:
        mean, unit = estimate.mean, getattr(question, "unit", None)
        shown.append((f"mean, {unit}" if unit else "mean", plain(mean.value), plain(mean.low), plain(mean.high)))
    return shown


def answer_texts(question: Question) -> dict[str, str]:
    """What each answer's code says to people."""
    texts = {code: code for code in question.codes} | {DECLINED: "prefer not to say"}
    if isinstance(question, Choice | MultiChoice):
        texts |= {option.code: option.text for option in question.options}
    if isinstance(question, Scale):
        texts |= {str(point): f"{point} {label}" for point, label in enumerate(question.labels, start=1)}
    return texts


def percent(share: float | None) -> str:
    return "unknown" if share is None else f"{100 * share:.1f}%"


def plain(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.2f}"
