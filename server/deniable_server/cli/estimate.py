"""Commands that print estimates."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import click
from msgspec import UNSET
from rich.table import Table as Grid
from rich.text import Text

from deniable_protocol import Question, Survey
from deniable_server.analysis.estimates import Analysis, SurveyEstimates
from deniable_server.analysis.query import Parameters, Query, read_margins
from deniable_server.estimator import NOT_HONEST, TOO_NOISY, QuestionEstimate, Weighted
from deniable_server.settings import DEFAULT_MINIMUM_GROUP, parse_minimum_group
from deniable_server.storage import Published, Storage
from deniable_server.wording import SUMMARIES, answer_texts, percent, plain, points

from .common import JSON, MINIMUM_GROUP, out, print_json
from .export import reads, source

BARS = "·▁▂▃▄▅▆▇█"

CONFIDENCE = click.option("--confidence", default="0.95", show_default=True, help="Of the intervals: 0.5 to 0.9999.")
WHERE = click.option("--where", multiple=True, help="segment:code, to count only these. Can be repeated.")


@click.command(short_help="Shares and means, with intervals.")
@reads
@CONFIDENCE
@WHERE
@click.option("--by", multiple=True, help="A segment, to show each of its groups too.")
@click.option("--simultaneous", is_flag=True, help="Intervals that hold together for all options of a question.")
@click.option(
    "--target",
    type=click.Choice(["population", "respondents"]),
    help="Whom the intervals are about: those who answered, or those they stand for (the default).",
)
@click.option("--population", help="How many people the respondents were drawn from, if they are a good part of them.")
@click.option(
    "--weights",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A TOML or JSON file with known shares of segments, to weight to: a table per segment, a share per code.",
)
@click.option("--distribution", is_flag=True, help="Also the likely distribution of number questions.")
@MINIMUM_GROUP
@JSON
def estimate(
    survey_id: str | None,
    database: str,
    folder: str | None,
    engine: str | None,
    master: str | None,
    weights: Path | None,
    minimum_group: str,
    as_json: bool,
    **given: Any,
) -> None:
    """Estimate shares and means of a survey, with confidence intervals."""
    with source(survey_id, database, folder, engine, master) as kept:
        published = kept.published
        texts = parameters(published, given)
        margins = None if weights is None else read_margins(weights.read_bytes(), is_json=weights.suffix == ".json")
        asked = texts.asked(margins)
        analysis = Analysis(published, kept.statistics(), parse_minimum_group(minimum_group))
        result = analysis.estimates(kept.status, asked)
    if as_json:
        print_json(result)
        return
    survey = published.document.survey
    if not result.submissions:
        out.print(Text(f"{survey.title}: no answers yet."))
        return
    filters = "".join(f", {segment} {code}" for segment, code in result.where.items())
    status = "" if result.status == "open" else ", closed"
    show(survey, result.questions, f"{survey.title}: {result.submissions:,} submissions{filters}{status}", result)
    say_whom(result)
    for group in result.groups or ():
        show(survey, group.questions, f"{group.segment} {group.code}: {group.submissions:,} submissions", result)


def say_whom(result: SurveyEstimates) -> None:
    """What the intervals are about, if it is not the usual."""
    said = []
    if result.target == "respondents":
        said.append("Intervals are about those who answered, not about whom they stand for.")
    if result.population is not None:
        said.append(f"Intervals are for a population of {result.population:,}.")
    if result.simultaneous:
        said.append("Intervals hold together for all options of a question.")
    if result.weighting is not None:
        known = [
            f"{segment} {code} {percent(share)}"
            for segment, shares in result.weighting.margins.items()
            for code, share in shares.items()
        ]
        sizes = [question.weighted.effective_answers for question in result.questions if question.weighted is not UNSET]
        worth = f"worth {min(sizes, default=0):,.0f} of {result.submissions:,} unweighted answers"
        said.append(f"Weighted to {', '.join(known)}: {worth}.")
    if said:
        out.print(Text(" ".join(said)))


def parameters(published: Published, options: Mapping[str, Any]) -> Parameters:
    """The options of a command as the parameters that a request would have."""
    texts: dict[str, list[str]] = {}
    for name, value in options.items():
        if isinstance(value, bool):
            value = "1" if value else None
        if value is not None:
            texts[name] = [value] if isinstance(value, str) else list(value)
    return Parameters(published.document.survey, texts, list(options))


def read_estimates(storage: Storage, published: Published) -> SurveyEstimates:
    """The estimates of a survey, all that is not chosen as it is by default."""
    analysis = Analysis(published, storage.statistics(published), DEFAULT_MINIMUM_GROUP)
    return analysis.estimates(storage.status(published), Query())


class Line(NamedTuple):
    """One number of a question as people read it."""

    label: str
    about: str
    low: str
    high: str

    @property
    def between(self) -> str:
        return f"{self.low} and {self.high}" if self.low else ""

    @property
    def short(self) -> str:
        """For tables with many columns."""
        return f"{self.low.removesuffix('%')} to {self.high}" if self.low else ""


def show(survey: Survey, questions: list[QuestionEstimate], title: str, result: SurveyEstimates) -> None:
    """A table of estimates."""
    asked = {question.id: question for question in survey.questions}
    weighted = result.weighting is not None
    grid = Grid(title=Text(title), title_justify="left")
    grid.add_column("Question", max_width=44)
    grid.add_column("Answer", max_width=30)
    grid.add_column("About", justify="right")
    level = f"({100 * result.confidence:.4g}%)"
    grid.add_column(f"Between {level}" if not weighted else level, justify="right", no_wrap=weighted)
    if weighted:
        grid.add_column("Weighted", justify="right", no_wrap=True)
        grid.add_column(level, justify="right", no_wrap=True)
    else:
        grid.add_column("ε", justify="right")
    for estimate in questions:
        question = asked[estimate.id]
        heading = Text(question.text).append(f" ({question.id})", style="dim")
        for note in estimate.notes:
            if note == NOT_HONEST:
                heading.append(f"\n⚠ {note}", style="yellow")
        others = lines(question, estimate.weighted) if estimate.weighted is not UNSET else []
        for line, other in zip_longest([*lines(question, estimate), *curve(estimate)], others):
            epsilon = estimate.epsilon if heading else ""
            more = ([other.about, other.short] if other else ["", ""]) if weighted else [epsilon]
            between = line.short if weighted else line.between
            grid.add_row(heading, Text(line.label), line.about, between, *more)
            heading = Text("")
        grid.add_section()
    out.print(grid)


def lines(question: Question, estimate: QuestionEstimate | Weighted) -> list[Line]:
    """Label, estimate and limits of every number of a question."""
    labels = answer_texts(question)
    shown = []
    for share in estimate.shares:
        about = TOO_NOISY if share.note is not UNSET else percent(share.estimate)
        shown.append(Line(labels[share.code], about, percent(share.low), percent(share.high)))
    for summary in estimate.summaries or ():
        form = points if summary.minus else percent
        about = TOO_NOISY if summary.too_noisy else form(summary.estimate)
        shown.append(Line(SUMMARIES[summary.id], about, form(summary.low), form(summary.high)))
    if estimate.mean is not None:
        mean, unit = estimate.mean, getattr(question, "unit", None)
        about = TOO_NOISY if mean.note is not UNSET else plain(mean.value)
        shown.append(Line(f"mean, {unit}" if unit else "mean", about, plain(mean.low), plain(mean.high)))
    return shown


def curve(estimate: QuestionEstimate) -> list[Line]:
    """The likely distribution as a row of bars, which promises no more than it holds."""
    points = estimate.distribution or ()
    if not points:
        return []
    top = max(point.share for point in points)
    bars = "".join(BARS[round(point.share / top * (len(BARS) - 1))] for point in points)
    return [Line(f"likely, {points[0].at:g} to {points[-1].at:g}, no interval", bars, "", "")]
