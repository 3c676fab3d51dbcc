"""The command that prints estimates."""

from __future__ import annotations

from itertools import zip_longest

import click
from msgspec import UNSET
from rich.table import Table
from rich.text import Text

from deniable_protocol import Survey
from deniable_server.analysis.estimates import EstimateQuery, SurveyEstimates, estimates
from deniable_server.analysis.rounding import short_text, two_digits
from deniable_server.analysis.tables import Line, lines
from deniable_server.estimator import QuestionEstimate
from deniable_server.wording import EVERY_LOOK

from .ask import asks
from .common import chosen, out, warn

BARS = "·▁▂▃▄▅▆▇█"
MOST_BARS = 25
MOST_ANSWER = 30
"""Characters of an answer that are on one line."""


@click.command(short_help="Shares and means, with intervals.")
@asks(EstimateQuery, estimates)
def estimate(survey: Survey, result: SurveyEstimates) -> None:
    """Estimate shares and means of a survey, with confidence intervals."""
    if not result.submissions:
        out.print(Text(f"{survey.title}: no answers yet."))
        return
    status = "" if result.status == "open" else ", closed"
    title = f"{survey.title}: {result.submissions:,} submissions, ε = {result.epsilon} each{chosen(result)}{status}"
    show(survey, result.questions, title, result)
    warn(result.notes)
    say_what_for(result)
    for group in result.groups or ():
        show(survey, group.questions, f"{group.segment} {group.code}: {group.submissions:,} submissions", result)


def say_what_for(result: SurveyEstimates) -> None:
    """What the intervals are about, if it is not the default."""
    said = []
    if result.target == "respondents":
        said.append("Intervals are about those who answered, not about the population.")
    if result.population is not None:
        said.append(f"Intervals are for a population of {result.population:,}.")
    if result.deff != 1:
        said.append(f"Intervals are for a sample with a design effect of {result.deff:g}.")
    if result.simultaneous:
        said.append("Intervals are correct for all options of a question at once.")
    if result.anytime:
        said.append(EVERY_LOOK)
    if (weighting := result.weighting) is not None:
        known = [
            f"{segment} {code} {short_text(two_digits(100 * share))}%"
            for segment, shares in weighting.margins.items()
            for code, share in shares.items()
        ]
        kept = [
            question.weighted.effective_answers / question.answers
            for question in result.questions
            if question.weighted is not UNSET and question.answers
        ]
        worth = f"100 answers are worth at least {100 * min(kept, default=0):.0f} unweighted ones"
        said.append(f"Weighted to {', '.join(known)}: {worth}; design effect of the weights {weighting.deff:.2f}.")
        if weighting.trim:
            said.append(f"Weights are at most {weighting.trim:g}: {weighting.trimmed or 0:,} submissions have that.")
        if weighting.missed:
            said.append(f"So margins are missed: {', '.join(weighting.missed)}.")
    if said:
        out.print(Text(" ".join(said)))


def show(survey: Survey, questions: list[QuestionEstimate], title: str, result: SurveyEstimates) -> None:
    """A table of estimates."""
    asked = {question.id: question for question in survey.questions}
    weighted = result.weighting is not None
    table = Table(title=Text(title), title_justify="left")
    level = f"({100 * result.confidence:.4g}%)"
    numbers = ["About", level, "Weighted", level] if weighted else ["About", f"Between {level}", "Asked"]
    table.add_column("Question", max_width=44)
    table.add_column("Answer", max_width=MOST_ANSWER)
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=name != "About")  # which may be words
    longest = 0
    for estimate in questions:
        question = asked[estimate.id]
        heading = Text(question.text).append(f" ({question.id})", style="dim")
        others = lines(question, estimate.weighted) if estimate.weighted is not UNSET else []
        whose = ""
        for line, other in zip_longest([*lines(question, estimate), *curve(estimate)], others):
            if line.of != whose and line.of:
                table.add_row(heading, Text(f"{line.of}:", style="dim"))
                heading = Text("")
            whose = line.of
            if weighted:
                more = [other.about, other.short] if other else ["", ""]
            else:
                reports = line.answers if line.answers is not None else estimate.answers if heading else None
                more = ["" if reports is None else f"{reports:,}"]
            between = line.short if weighted else line.between
            answer = Text(f"  {line.label}" if whose else line.label)
            table.add_row(heading, answer, line.about, between, *more)
            longest = max(longest, answer.cell_len)
            heading = Text("")
        table.add_section()
    # On a narrow terminal the questions give way. Where answers wrap would else depend on how long the numbers are.
    table.columns[1].no_wrap = longest <= MOST_ANSWER
    out.print(table)


def curve(estimate: QuestionEstimate) -> list[Line]:
    """The likely distribution as a row of bars, of many levels every second one."""
    points = estimate.distribution or []
    if not points:
        return []
    points = points[:: 1 + (len(points) > MOST_BARS)]
    top = max(point.share for point in points)
    bars = "".join(BARS[round(point.share / top * (len(BARS) - 1))] for point in points)
    return [Line(f"likely, {points[0].at:g} to {points[-1].at:g}", bars, "", "")]
