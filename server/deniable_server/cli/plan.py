"""The command that plans a survey."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import click
import msgspec
from rich import box
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from deniable_protocol.questions import plain
from deniable_server.analysis.rounding import margin, number_text, up, up_to_decimals
from deniable_server.planning import QuestionPlan, SurveyPlan, Wanted, plan_survey

from .common import FILE, JSON, out, print_json, read_survey

DEFAULT = Wanted()

# Designs that protect on the device as well: what heads their column, and what they do.
LOCAL_DESIGNS = {
    "k_ary": ("k-ary", "the true answer with some probability, otherwise any other one."),
    "exponential": ("exponential", "points near the true one are more likely."),
    "laplace": ("Laplace", "Laplace noise on every number of the answer."),
    "gaussian": (
        "Gaussian",
        "as little Gaussian noise as the exact calibration allows; keeps ε except with {delta}.",
    ),
    "split": ("split", "every option is reported, with its part of ε."),
    "default": ("default", "what this survey would use if it named no mechanism."),
}


def option(name: str, default: float | None, text: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """An option whose value ``Wanted`` checks, so that all numbers out of range are reported at once."""
    whole = name in ("waves", "respondents")
    return click.option(f"--{name}", type=int if whole else float, default=default, show_default=True, help=text)


@click.command(short_help="How many respondents a survey needs.")
@FILE
@option("margin", DEFAULT.margin, "Margin of error of a share: 0.03 is ±3 points. For means: as a part of their range.")
@option("confidence", DEFAULT.confidence, "Confidence level of the margin: 0.5 to 0.9999.")
@option("share", DEFAULT.share, "The true share to plan for. 0.5 needs the most respondents.")
@option("difference", DEFAULT.difference, "The difference between two groups that should be found.")
@option("power", DEFAULT.power, "How likely that difference is to be found.")
@option("waves", DEFAULT.waves, "How many times the same people answer the survey.")
@option("delta", DEFAULT.delta, "The δ of bounds over several waves, and of Gaussian noise.")
@option("respondents", None, "The number of respondents you expect: also show their margins.")
@JSON
def plan(file: Path, as_json: bool, **numbers: float | int | None) -> None:
    """Plan a survey FILE: how many respondents it needs, what protection costs, and what one person spends.

    Everything is computed from the channels that the survey would be published with.
    """
    result = plan_survey(read_survey(file), msgspec.convert(numbers, Wanted))
    if as_json:
        print_json(result)
        return
    show_answer(result)
    show_meaning(result)
    show_respondents(result)
    if result.wanted.respondents is not None:
        show_given(result, result.wanted.respondents)
    show_costs(result)
    show_textbook(result)
    show_total(result)
    show_few(result)
    show_shuffled(result)


def show_answer(plan: SurveyPlan) -> None:
    """The one number first."""
    wanted = plan.wanted
    out.print(Text(f"{plan.title} ({plan.survey})", style="bold"))
    kinds = [
        f"a share of {percent(wanted.share)} within ±{points(wanted.margin)}"
        if any(q.range is None for q in plan.questions)
        else "",
        f"every mean within ±{100 * wanted.margin:g}% of its range" if any(q.range for q in plan.questions) else "",
    ]
    say(
        f"{people(plan.respondents)} respondents are enough for {' and '.join(filter(None, kinds))}, "
        f"at {100 * wanted.confidence:g}% confidence."
        + (f" The question that needs the most is {plan.most_demanding}." if len(plan.questions) > 1 else "")
    )


def show_meaning(plan: SurveyPlan) -> None:
    """Each epsilon in words, with its questions and how they are randomised."""
    head("What each answer may show")
    by_words: dict[str, list[QuestionPlan]] = {}
    for question in plan.questions:
        by_words.setdefault(question.in_words, []).append(question)
    for words, questions in sorted(by_words.items(), key=lambda pair: Fraction(pair[1][0].epsilon)):
        say(f"ε = {short(questions[0].epsilon)}: {words}")
        rows = table("", "")
        for question in questions:
            rows.add_row(question.id, question.channel)
        out.print(Padding(rows, (0, 0, 0, 2)))


def show_respondents(plan: SurveyPlan) -> None:
    wanted = plan.wanted
    head("Respondents needed")
    rows = table("Question", "For", "Respondents >", "To find", "In each group >")
    for question in plan.questions:
        rows.add_row(
            question.id,
            Text(f"±{amount(wanted.margin, question)}"),
            people(question.respondents),
            Text(amount(wanted.difference, question)),
            people(question.per_group),
        )
    if len(plan.questions) > 1:
        rows.add_section()
        rows.add_row("all of them", "", people(plan.respondents), "", people(plan.per_group), style="bold")
    out.print(rows)
    say(
        f"Shares are planned at {percent(wanted.share)}, means for the worst population. To find: a true difference "
        f"of that size between two groups, {percent(wanted.power)} of the time.",
        after_table=True,
    )


def show_given(plan: SurveyPlan, respondents: int) -> None:
    head(f"With {respondents:,} respondents")
    rows = table("Question", "Margin", "Difference found between two halves")
    for question in plan.questions:
        assert question.given is not None
        margin, difference = question.given.margin, question.given.difference
        # Half of everything to either side of the middle is all there is.
        within = f"±{amount_up(margin, question)}" if margin < 0.5 else "no information"
        found = "no difference" if difference is None else f"{amount_up(difference, question)} or more"
        rows.add_row(question.id, Text(within), Text(found))
    out.print(rows)


def show_costs(plan: SurveyPlan) -> None:
    head("What protection costs: respondents for the same margin")
    found = {question.id: {other.design: other for other in question.alternatives} for question in plan.questions}
    rows = table("Question", "This survey >", "No privacy >", "Trusted curator >")
    for question in plan.questions:
        others = (found[question.id][design] for design in ("open", "curator"))
        rows.add_row(question.id, people(question.respondents), *(people(other.respondents) for other in others))
    out.print(rows)
    say(
        "With a trusted curator, everybody gives their true answers to one party, which keeps them safe and adds "
        "Laplace noise to the totals.",
        after_table=True,
    )


def show_textbook(plan: SurveyPlan) -> None:
    head("What textbook designs cost that also protect on the device")
    found = {question.id: {other.design: other for other in question.alternatives} for question in plan.questions}
    there = [design for design in LOCAL_DESIGNS if any(design in others for others in found.values())]
    rows = table("Question", *(f"{LOCAL_DESIGNS[design][0]} >" for design in there))
    for name, others in found.items():
        rows.add_row(name, *(times(others[design].ratio) if design in others else "" for design in there))
    out.print(rows)
    say("×2: at the same ε, that design needs twice as many respondents as this survey.", after_table=True)
    deltas = {other.delta for others in found.values() for other in others.values() if other.delta is not None}
    lost = " or ".join(f"δ = {decimal(delta)}" for delta in sorted(deltas))
    legend = table("", "")
    for design in there:
        heading, meaning = LOCAL_DESIGNS[design]
        legend.add_row(heading, meaning.format(delta=lost))
    out.print(Padding(legend, (0, 0, 0, 2)))


def show_total(plan: SurveyPlan) -> None:
    """What one respondent spends, once and over waves."""
    count = len(plan.questions)
    head("What one respondent spends")
    if count > 1:
        say(f"The {count} answers of one respondent add up to ε = {plan.epsilon}.")
    else:
        say(f"One answer spends ε = {plan.epsilon}.")
    if count * plan.wanted.waves == 1:
        return
    rows = table("Waves >", "Sum >", "Advanced >", "Exact >")
    for row in plan.waves:
        rows.add_row(
            f"{row.waves}", *(up_to_decimals(float(epsilon), 2) for epsilon in (row.basic, row.advanced, row.exact))
        )
    out.print(rows)
    deltas = sorted({row.delta for row in plan.waves})
    lost = " to ".join(decimal(delta) for delta in (deltas[0], deltas[-1])[: len(deltas)])
    always = "except with the δ of Gaussian noise" if any(question.delta for question in plan.questions) else "always"
    say(
        f"The sum is valid {always}. The other two are bounds on the same ε that may fail with probability δ = {lost}. "
        "The exact one is the smallest possible.",
        after_table=True,
    )


def show_few(plan: SurveyPlan) -> None:
    if not plan.few:
        return
    count = len(plan.questions)
    head("All questions to everybody, or a few to each")
    rows = table("Each is asked >", "ε of an answer", "Surveys >", "Respondents >", "")
    for row in plan.few:
        span = (
            row.least_epsilon
            if row.least_epsilon == row.largest_epsilon
            else f"{row.least_epsilon} to {row.largest_epsilon}"
        )
        notes = [f"{len(row.capped)} at the limit"] if row.capped else []
        notes += ["fewest"] if row.asked == plan.best_few else []
        notes += ["as it is"] if row.asked == count else []
        style = "bold" if row.asked == plan.best_few else ""
        rows.add_row(
            f"{row.asked} of {count}", span, f"{row.surveys}", people(row.respondents), ", ".join(notes), style=style
        )
    out.print(rows)
    say(
        f"Nobody spends more than ε = {plan.epsilon} either way, but a single answer reveals more if fewer are asked. "
        "A submission answers every question of its survey. To ask each respondent only a few, publish that many "
        "surveys, each with that many questions, and give every respondent one of them at random.",
        after_table=True,
    )
    if any(row.capped for row in plan.few):
        say("At the limit: an answer can have at most ε = 10, so these questions get less than their part.")


def show_shuffled(plan: SurveyPlan) -> None:
    head("If reports are shuffled")
    rows = table("Question", "Respondents >", "ε >", "Shuffled >")
    for question in plan.questions:
        less = question.shuffled.epsilon
        missing = "no bound with δ" if question.delta else "too few respondents"
        after = missing if less is None else up_to_decimals(less, 3)
        rows.add_row(question.id, people(question.shuffled.respondents), short(question.epsilon), after)
    out.print(rows)
    say(
        "The ε against someone who sees one question's reports without their order, senders or other questions; it may "
        f"fail with probability δ = {decimal(plan.wanted.delta)}. Against someone who sees reports arrive, the full ε "
        "counts.",
        after_table=True,
    )


# --- words and numbers -------------------------------------------------------------------------------------------


def head(text: str) -> None:
    out.print()
    out.rule(Text(text, style="bold"), align="left")


def say(text: str, *, after_table: bool = False) -> None:
    if after_table:
        out.print()
    out.print(Text(text))


def table(*headings: str) -> Table:
    """A plain table; headings that end in > are for columns of numbers. Without headings, a list of pairs."""
    headed = any(headings)
    rows = Table(
        box=box.SIMPLE_HEAD if headed else None,
        show_header=headed,
        show_edge=False,
        padding=(0, 1 if headed else 2, 0, 0),
    )
    for place, heading in enumerate(headings):
        numeric = heading.endswith(">")
        rows.add_column(
            heading.removesuffix(" >"),
            justify="right" if numeric else "left",
            overflow="fold",
            no_wrap=numeric,
            style="" if place else "cyan",
        )
    return rows


def points(part: float) -> str:
    return f"{100 * part:g} point" + ("" if math.isclose(part, 0.01) else "s")


def percent(part: float) -> str:
    return f"{100 * part:g}%"


def amount(part: float, question: QuestionPlan) -> str:
    """A margin or difference, in points of a share or in the unit of a mean."""
    if question.range is None:
        return points(part)
    scale = question.range
    unit = f" on {scale.low:g} to {scale.high:g}" if question.type == "scale" else f" {scale.unit or ''}"
    return f"{Decimal(f'{part * scale.length:.3g}'):,f}{unit}".rstrip()


def amount_up(part: float, question: QuestionPlan) -> str:
    """The same, by the rounding rule: never less than it is."""
    if question.range is None:
        return f"{number_text(margin(Decimal(repr(100 * part))))} points"
    size = float(margin(Decimal(repr(part * question.range.length))))
    return amount(size / question.range.length, question)


def people(number: int) -> str:
    return f"{number:,}" if number < 10**9 else "> 1 billion"


def times(ratio: float) -> str:
    if math.isclose(ratio, 1, abs_tol=0.005):
        return "same"
    if ratio < 0.01:
        return "< ×0.01"
    return f"×{ratio:,.0f}" if ratio >= 9.95 else f"×{ratio:.2g}"


def decimal(delta: float) -> str:
    """0.000001, not 1e-06; three digits at most, the last rounded up."""
    return plain(up(Decimal(repr(delta)), 3))


def short(epsilon: str) -> str:
    """1, not 1.0."""
    return epsilon.rstrip("0").rstrip(".") if "." in epsilon else epsilon
