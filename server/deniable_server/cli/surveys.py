"""Commands on survey files and published surveys, and the audit of their randomisers."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from deniable_protocol import Document, SurveyError, verify
from deniable_server.checks.audit import CONFIDENCE, Audit, Drawing, Finding, audit
from deniable_server.planning import plan_survey, publish_survey
from deniable_server.storage import Fieldwork, Listed
from deniable_server.wording import account_in_words, channel_in_words, in_decimals, in_symbols, names_in_words

from .common import (
    DATABASE,
    FILE,
    JSON,
    Group,
    err,
    existing,
    find_survey,
    is_published,
    opened,
    out,
    print_json,
    progress_bar,
    read_survey,
    say,
)
from .fieldwork import delete, in_words, schedule
from .link import link


@click.group(cls=Group)
def survey() -> None:
    """Check, compile, publish, list, schedule, close and delete surveys."""


for command in (link, schedule, delete):
    survey.add_command(command)


@survey.command()
@FILE
@JSON
def check(file: Path, as_json: bool) -> None:
    """Check a survey FILE (TOML or JSON) and list all errors, each with its place."""
    try:
        parsed = read_survey(file)
    except SurveyError as error:
        if not as_json:
            raise
        print_json({"problems": [problem._asdict() for problem in error.problems]})
        sys.exit(1)
    document, plan = verify(publish_survey(parsed)), plan_survey(parsed)
    if as_json:
        print_json(
            {
                "survey": parsed.id,
                "epsilon": document.epsilon,
                "delta": plan.delta,
                "digest": document.digest,
                "in_words": [plan.epsilon_in_words, *plan.in_words],
                "warnings": plan.warnings,
                "parts": [
                    {"questions": part.names, "epsilon": part.epsilon, "channel": channel_in_words(part)}
                    for part in document.parts
                ],
                "booklets": document.booklets,
            }
        )
        return
    out.print(Text(f"{parsed.title} ({parsed.id})", style="bold"))
    out.print(booklet_table(document) if parsed.epsilon is not None else question_table(document))
    out.print(Text(f"{in_symbols(document.account)} for everything that one person sends. {plan.epsilon_in_words}"))
    out.print(Text(" ".join(plan.in_words)))
    show_warnings(plan.warnings, out)
    out.print(Text(f"{file}: ok", style="green"))


def show_warnings(warnings: Sequence[str], console: Console) -> None:
    """What to think twice about, before it is published."""
    for warning in warnings:
        console.print(Text(f"Warning: {warning}", style="bold yellow"))


def booklet_table(document: Document) -> Table:
    """The booklets of a survey, how often each is drawn, and how its answers are randomised."""
    total = sum(booklet.weight for booklet in document.booklets)
    table = Table(title="Each device draws one booklet", title_justify="left")
    table.add_column("Drawn by", justify="right", no_wrap=True)
    table.add_column("Questions", overflow="fold")
    table.add_column("How they are randomised", overflow="fold")
    for booklet in sorted(document.booklets, key=lambda each: -each.weight):
        parts = [document.parts[number] for number in booklet.parts]
        names = "\n".join(names_in_words(part.names) for part in parts)
        table.add_row(f"{booklet.weight / total:.1%}", Text(names), "\n".join(map(channel_in_words, parts)))
    return table


def question_table(document: Document) -> Table:
    """The questions of a survey that asks them all of everybody, each with an ε of its own."""
    table = Table()
    total = document.account
    for heading in ("Question", "Type", "How it is randomised", "ε", *(["δ"] if total.delta else [])):
        table.add_column(heading, justify="right" if heading in "εδ" else "left")
    for part in document.parts:
        question = part.items[0].question
        deltas = [question.delta] if total.delta else []
        table.add_row(question.id, question.type, channel_in_words(part), part.epsilon, *deltas)
    table.add_section()
    deltas = [in_decimals(total.delta)] if total.delta else []
    table.add_row("all together", "", "", document.epsilon, *deltas)
    return table


@survey.command(name="compile")
@FILE
def compile_(file: Path) -> None:
    """Print the published document of a survey FILE: the bytes that clients verify."""
    click.echo(publish_survey(read_survey(file)), nl=False)


@survey.command(name="publish")
@FILE
@DATABASE
@JSON
def publish_(file: Path, database: str, as_json: bool) -> None:
    """Publish a survey FILE. A published survey never changes; publishing the same one again does nothing."""
    parsed = read_survey(file)
    warnings = plan_survey(parsed).warnings
    show_warnings(warnings, err)
    with opened(database) as storage:
        issuer = storage.invitations.issuer_of(parsed)
        created = storage.publish(publish_survey(parsed, issuer), parsed.respondents)
        digest = find_survey(storage, parsed.id).document.digest
    if as_json:
        print_json({"survey": parsed.id, "digest": digest, "created": created, "warnings": warnings})
        return
    say(f"{parsed.id} is published." if created else f"{parsed.id} is already published, unchanged.")
    if parsed.invitations:
        say(
            f"Only people with an invitation can answer. Make invitations with  deniable invitations create {parsed.id}"
        )
        return
    say("The link for respondents, which pins this survey. Put your server's address in front:")
    say(f"/s/{parsed.id}#{digest}")


@survey.command(name="list")
@DATABASE
@JSON
def list_(database: str, as_json: bool) -> None:
    """All published surveys."""
    with existing(database) as storage:
        surveys = storage.surveys()
    if as_json:
        print_json({"surveys": [_listed_tree(listed) for listed in surveys]})
        return
    if not surveys:
        say("No surveys yet. Publish one with  deniable survey publish FILE")
        return
    table = Table()
    table.add_column("Id", no_wrap=True)
    table.add_column("Title", overflow="fold")
    for heading in ("Status", "Published", "Closed"):
        table.add_column(heading, no_wrap=True)
    table.add_column("Submissions", justify="right", no_wrap=True)
    for listed in surveys:
        table.add_row(
            listed.id,
            Text(listed.title),
            listed.status,
            listed.published_on,
            listed.closed_on or ("" if listed.fieldwork == Fieldwork() else "\n".join(in_words(listed.fieldwork))),
            f"{listed.submissions:,}",
        )
    out.print(table)


def _listed_tree(listed: Listed) -> dict[str, Any]:
    """As in the HTTP interface."""
    tree = asdict(listed) | listed.fieldwork.written()
    return {name: value for name, value in tree.items() if name not in ("draft", "most")}


@survey.command()
@click.argument("survey_id")
@click.option("--until", required=True, metavar="closed|NUMBER", help="A number of submissions, or closed; 0: show.")
@DATABASE
@JSON
def hold(survey_id: str, until: str, database: str, as_json: bool) -> None:
    """Hold the results of an open survey back, from everybody, so that nobody stops when a result pleases."""
    if until != "closed" and not (until.isascii() and until.isdecimal() and len(until) <= 12):
        raise click.BadParameter("takes closed, or a number of submissions.", param_hint="--until")
    number = None if until == "closed" else int(until)
    with existing(database) as storage:
        storage.hold_results(find_survey(storage, survey_id), number)
    if as_json:
        print_json({"survey": survey_id, "held_until": "closed" if number is None else number})
    elif number == 0:
        say(f"The results of {survey_id} are shown.")
    else:
        when = "it is closed" if number is None else f"it has {number:,} submissions or is closed"
        say(f"The results of {survey_id} are held back until {when}.")


@survey.command()
@click.argument("survey_id")
@DATABASE
@JSON
def close(survey_id: str, database: str, as_json: bool) -> None:
    """Close a survey: it accepts no more submissions, and the order of arrival is wiped from the database."""
    with existing(database) as storage:
        closed = storage.close_survey(find_survey(storage, survey_id))
    if as_json:
        print_json({"survey": survey_id, "status": "closed", "closed_now": closed})
    else:
        say(f"{survey_id} {'is closed' if closed else 'is already closed'}. Estimates can still be read.")


@click.command(name="audit", short_help="Prove and test the privacy of a survey.")
@FILE
@click.option(
    "--draws",
    default=100_000,
    show_default=True,
    type=click.IntRange(min=1),
    help="Number of submissions to randomise.",
)
@click.option(
    "--language",
    default="python",
    show_default=True,
    type=click.Choice(["python", "js"]),
    help="The randomiser to test: the Python client, or the browser client under node.",
)
@JSON
def audit_(file: Path, draws: int, language: str, as_json: bool) -> None:
    """Prove the privacy of a survey FILE (or published document) exactly, and test the shipped randomiser.

    Fails if the submissions show, with 99.9% confidence, a larger epsilon than the survey states, or booklets that do
    not come as often as their weights say.
    """
    found = run_audit(_read_published(file), draws, language)
    if as_json:
        parts = [_finding_tree(each) for each in found.parts]
        booklets = [_drawing_tree(each) for each in found.booklets]
        total = {
            "epsilon": in_decimals(found.account.epsilon),
            "delta": in_decimals(found.account.delta),
            "in_words": account_in_words(found.account),
        }
        print_json({"language": language, "draws": draws, **total, "parts": parts, "booklets": booklets})
    else:
        print_audit(found, draws, language)
    if not found.passed:
        sys.exit(1)


def _read_published(file: Path) -> bytes:
    """A published document as it is, or the one that a survey file compiles to."""
    raw = file.read_bytes()
    return raw if is_published(file, raw) else publish_survey(read_survey(file))


def run_audit(published: bytes, draws: int, language: str) -> Audit:
    with progress_bar(f"randomising ({language})", draws) as advance:
        return audit(published, draws, language, advance)


def print_audit(found: Audit, draws: int, language: str) -> None:
    table = Table()
    table.add_column("Part")
    table.add_column("Odds, exact", overflow="fold")
    for heading in ("ε exact", "ε stated", "ε seen ≥"):
        table.add_column(heading, justify="right")
    table.add_column("")
    for finding in found.parts:
        odds = f"{finding.odds.numerator} / {finding.odds.denominator}" if finding.odds else ""
        if finding.delta is not None:
            odds = f"within e^ε except with δ = {_three_digits_up(finding.delta)}"
        exact = f"{finding.exact:f}" if finding.exact is not None else ""
        seen = f"{finding.observed.epsilon:.4f}"
        table.add_row(finding.part, odds, exact, finding.stated, seen, _verdict(finding.passed))
    out.print(table)
    if len(found.booklets) > 1:
        out.print(_booklet_table(found.booklets))
    out.print(Text(f"{in_symbols(found.account)} for everything that one person sends."))
    out.print(Text(account_in_words(found.account)))
    worst = max(found.parts, key=lambda finding: finding.observed.epsilon - float(finding.stated))
    out.print(
        f"ε seen: what {draws:,} submissions of the {language} randomiser prove for the worst pair of answers and "
        f"event, with {CONFIDENCE:.1%} confidence over all. Closest to its limit: {worst.part}, "
        f"{worst.observed.pair[0]} against {worst.observed.pair[1]}, {worst.observed.event}."
    )


def _booklet_table(booklets: list[Drawing]) -> Table:
    table = Table(caption="How often each booklet should come and came, whatever was answered.", caption_justify="left")
    for heading in ("Booklet", "by weight", "seen"):
        table.add_column(heading, justify="right")
    table.add_column("")
    for each in booklets:
        table.add_row(f"{each.booklet}", f"{float(each.share):.4f}", f"{each.seen:.4f}", _verdict(each.passed))
    return table


def _verdict(passed: bool) -> Text:
    return Text("ok", style="green") if passed else Text("BROKEN", style="bold red")


def _three_digits_up(value: Fraction) -> str:
    with localcontext() as context:
        context.prec, context.rounding = 3, ROUND_CEILING
        return f"{Decimal(value.numerator) / Decimal(value.denominator):.2e}"


def _drawing_tree(drawing: Drawing) -> dict[str, Any]:
    share = f"{drawing.share.numerator}/{drawing.share.denominator}"
    return {"booklet": drawing.booklet, "share": share, "seen": drawing.seen, "passed": drawing.passed}


def _finding_tree(finding: Finding) -> dict[str, Any]:
    return {
        "part": finding.part,
        "channel": finding.channel,
        "epsilon": finding.stated,
        "odds": f"{finding.odds.numerator}/{finding.odds.denominator}" if finding.odds else None,
        "epsilon_exact": f"{finding.exact:f}" if finding.exact is not None else None,
        "delta_exact": f"{finding.delta.numerator}/{finding.delta.denominator}" if finding.delta is not None else None,
        "epsilon_observed": finding.observed.epsilon,
        "pair": list(finding.observed.pair),
        "event": finding.observed.event,
        "passed": finding.passed,
    }
