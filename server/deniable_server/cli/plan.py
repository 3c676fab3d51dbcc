"""The command that plans a survey."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import click
import msgspec
from rich import box
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from deniable_server.analysis.rounding import up_to_decimals
from deniable_server.planning import SurveyPlan, Wanted, plan_survey
from deniable_server.planning.words import (
    DESIGNS,
    amount,
    chance,
    change_found,
    follow_ups_in_words,
    points,
    prices_in_words,
    rotation_in_words,
    short,
    shuffled_in_words,
    significant,
    waves_in_words,
    within,
)

from .common import FILE, JSON, out, print_json, read_survey

DEFAULT = Wanted()

MOST_BOOKLETS = 12


def option(name: str, default: float | None, text: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """An option whose value ``Wanted`` checks, so that all numbers out of range are reported at once."""
    whole = name in ("waves", "respondents")
    return click.option(f"--{name}", type=int if whole else float, default=default, show_default=True, help=text)


@click.command(short_help="What a survey will know, and how many respondents it needs.")
@FILE
@option("margin", DEFAULT.margin, "Margin of error of a share: 0.03 is ±3 points. For means: as a part of their range.")
@option("cells", DEFAULT.cells, "Margin of error of a cell of a cross-tab.")
@option("confidence", DEFAULT.confidence, "Confidence level of the margin: 0.5 to 0.9999.")
@option("share", DEFAULT.share, "The true share to plan for. 0.5 needs the most respondents.")
@option("difference", DEFAULT.difference, "The difference between two groups that should be found.")
@option("power", DEFAULT.power, "How likely that difference is to be found.")
@option("waves", DEFAULT.waves, "How many times the same people answer the survey.")
@option("delta", DEFAULT.delta, "The δ of bounds over several waves, and of Gaussian noise.")
@option("respondents", None, "The number of respondents you expect. Default: what the file says.")
@JSON
def plan(file: Path, as_json: bool, **numbers: float | int | None) -> None:
    """Plan a survey FILE: what you will know, how many respondents that takes, and what one person spends.

    Everything is computed from the document that the survey would be published as.
    """
    result = plan_survey(read_survey(file), msgspec.convert(numbers, Wanted))
    if as_json:
        print_json(result)
        return
    show_answer(result)
    show_meaning(result)
    show_booklets(result)
    show_questions(result)
    show_margins(result)
    show_costs(result)
    show_textbook(result)
    show_waves(result)
    show_shuffled(result)
    show_prices(result)


def show_answer(plan: SurveyPlan) -> None:
    """Warnings first, and the plan in words."""
    out.print(Text(f"{plan.title} ({plan.survey})", style="bold"))
    for warning in plan.warnings:
        out.print(Text(f"Warning: {warning}", style="bold yellow"))
    for sentence in plan.in_words:
        say(sentence)


def show_meaning(plan: SurveyPlan) -> None:
    """What epsilon and delta mean for one person."""
    delta = "" if plan.delta == "0" else f", δ = {plan.delta}"
    head(f"What one person sends: ε = {short(plan.epsilon)}{delta}")
    say(plan.epsilon_in_words)
    if plan.design == "textbook":
        say("Everybody is asked everything, and the ε of the answers add up:")
        by_epsilon: dict[str, list[str]] = {}
        for question in plan.questions:
            by_epsilon.setdefault(short(str(question.epsilon)), []).append(question.id)
        for epsilon, names in by_epsilon.items():
            say(f"ε = {epsilon}: {', '.join(names)}")


def show_booklets(plan: SurveyPlan) -> None:
    """Which questions a device may be asked. Of many booklets, those that it is most likely to draw."""
    if plan.design == "textbook":
        return
    head("Booklets")
    say("Each device draws one before it shows a question, and answers only that. It spends all of ε there.")
    rows = table("Asked together", "Drawn by >")
    shown = plan.booklets if len(plan.booklets) <= MOST_BOOKLETS + 1 else plan.booklets[:MOST_BOOKLETS]
    for booklet in shown:
        rows.add_row("; ".join(", ".join(part) for part in booklet.parts), chance(booklet.probability))
    if rest := plan.booklets[len(shown) :]:
        rows.add_section()
        all_of_them = sum(booklet.probability for booklet in rest)
        rows.add_row(f"{len(rest)} more, {chance(rest[0].probability)} each at most", chance(all_of_them))
    out.print(rows)
    if plan.fewest is not None and plan.respondents > plan.fewest * 1.005:
        say(f"No other choice of booklets needs fewer than {people(plan.fewest)} respondents.", after_table=True)


def show_questions(plan: SurveyPlan) -> None:
    """Respondents for every question and cross-tab, and what the expected number gives."""
    wanted, expected = plan.wanted, plan.wanted.respondents
    head("Questions and cross-tabs" if plan.tables else "Questions")
    given = () if expected is None else (f"With {expected:,}",)
    rows = table("", "Asked of >", *given, "For", "Respondents >", "In each group >")
    for question in plan.questions:
        rows.add_row(
            question.id,
            chance(question.asked),
            *((Text(within(question.given.shown, question)),) if question.given else ()),
            Text(f"±{amount(wanted.margin, question)}"),
            people(question.respondents),
            people(question.per_group),
        )
    for each in plan.tables:
        margin = () if each.margin is None else (Text(within(each.margin)),)
        cells = f"±{points(wanted.cells)} points"
        rows.add_row(" × ".join(each.questions), "", *margin, cells, people(each.respondents), "")
    if len(plan.questions) > 1:
        rows.add_section()
        blank = ("",) * (len(given) + 2)
        rows.add_row("all of them", *blank, people(plan.respondents), people(plan.per_group), style="bold")
    out.print(rows)
    say(
        f"Shares are planned at {percent(wanted.share)}, cells at {percent(wanted.share**2)}, means for the worst "
        f"population, at {percent(wanted.confidence)} confidence. Respondents for a follow-up are for its answers as "
        "shares of everybody. In each of two groups: so many find a difference of "
        f"{points(wanted.difference)} points between them (means: of the range), {percent(wanted.power)} of the time.",
        after_table=True,
    )
    if follow_ups := follow_ups_in_words(plan):
        say(follow_ups)


def show_margins(plan: SurveyPlan) -> None:
    """Margins by respondents and epsilon."""
    head("Margins by respondents and ε")
    rows = table("Respondents >", *(f"ε = {short(at.epsilon)} >" for at in plan.by_epsilon))
    for place, size in enumerate(plan.sizes):
        rows.add_row(f"{size:,}", *(Text(within(at.margins[place], unit="")) for at in plan.by_epsilon))
    rows.add_section()
    rows.add_row(f"for ±{points(plan.wanted.margin)} points", *(people(at.respondents) for at in plan.by_epsilon))
    out.print(rows)
    say("In points of the share that is known worst, or percent of a mean's range.", after_table=True)


def show_costs(plan: SurveyPlan) -> None:
    head("What other designs need for the same")
    rows = table("Design", "Respondents >", "", "")
    rows.add_row("this survey", people(plan.respondents), "", "")
    found = {other.design: other for other in plan.alternatives}
    for design in ("booklets", "split", "curator", "open"):
        if design in found:
            heading, meaning = DESIGNS[design]
            rows.add_row(heading, people(found[design].respondents), times(found[design].ratio), meaning)
    out.print(rows)


def show_textbook(plan: SurveyPlan) -> None:
    head("What textbook mechanisms need, if everybody is asked everything")
    found = {question.id: {other.design: other for other in question.alternatives} for question in plan.questions}
    if len(plan.questions) > 1:
        found["all of them"] = {other.design: other for other in plan.alternatives}
    there = [
        design
        for design in ("split", "k_ary", "exponential", "laplace", "gaussian", "every_option")
        if any(design in others for others in found.values())
    ]
    rows = table("Question", *(f"{DESIGNS[design][0]} >" for design in there))
    for name, others in found.items():
        rows.add_row(name, *(times(others[design].ratio) if design in others else "" for design in there))
    out.print(rows)
    say("×2: it needs twice as many respondents as this survey does. “split” has our own channels.", after_table=True)
    deltas = {other.delta for others in found.values() for other in others.values() if other.delta is not None}
    lost = " or ".join(f"δ = {significant(delta)}" for delta in sorted(deltas))
    legend = table("", "")
    for design in there:
        heading, meaning = DESIGNS[design]
        legend.add_row(heading, meaning.format(delta=lost))
    out.print(Padding(legend, (0, 0, 0, 2)))


def show_waves(plan: SurveyPlan) -> None:
    """What one respondent spends over waves, and what it takes if each answers once."""
    if plan.wanted.waves == 1:
        return
    head("If you ask again")
    rows = table("Waves >", "ε, sum >", "Advanced >", "Exact >")
    for row in plan.waves:
        spent = (up_to_decimals(float(epsilon), 2) for epsilon in (row.basic, row.advanced, row.exact))
        rows.add_row(f"{row.waves}", *spent)
    out.print(rows)
    say(waves_in_words(plan), after_table=True)
    out.print()
    all_of_them = plan.wanted.respondents or plan.respondents
    rows = table(
        "Waves >",
        "ε >",
        f"People for ±{points(plan.wanted.margin)} >",
        f"Each wave of {people(all_of_them)} >",
        "Margin >",
        "Change found >",
    )
    for row in plan.waves:
        each = row.rotation
        rows.add_row(
            f"{row.waves}",
            short(plan.epsilon),
            people(each.people),
            people(each.per_wave),
            Text(within(each.margin, unit="")),
            change_found(row),
        )
    out.print(rows)
    say(rotation_in_words(plan), after_table=True)


def show_prices(plan: SurveyPlan) -> None:
    if words := prices_in_words(plan):
        head("Prices")
        for sentence in words:
            out.print(Text(sentence))


def show_shuffled(plan: SurveyPlan) -> None:
    if sentence := shuffled_in_words(plan):
        head("If submissions are shuffled")
        say(sentence)


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


def percent(part: float) -> str:
    return f"{100 * part:g}%"


def people(number: int) -> str:
    return f"{number:,}" if number < 10**9 else "> 1 billion"


def times(ratio: float) -> str:
    if math.isclose(ratio, 1, abs_tol=0.005):
        return "same"
    if ratio < 0.01:
        return "< ×0.01"
    return f"×{ratio:,.0f}" if ratio >= 9.95 else f"×{ratio:.2g}"
