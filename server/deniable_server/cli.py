"""The command line. Each command reads its input, calls one function and prints what it returns."""

from __future__ import annotations

import json
import sys
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table as Grid
from rich.text import Text

from deniable import __version__
from deniable import randomize as client_randomize
from deniable_protocol import DeniableError, Survey, in_words, parse_survey, publish, verify
from deniable_protocol.checks import strict_json

from .audit import CONFIDENCE, Finding, audit, describe, first_segments, panel

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


class _Group(click.Group):
    """A group whose expected errors end in one clear message and exit status 1, never in a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except DeniableError as error:
            for line in str(error).splitlines():
                err.print(Text(line, style="red"))
            ctx.exit(1)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="deniable")
def cli() -> None:
    """Surveys under local differential privacy: answers are randomised on the respondent's own device."""


@cli.group()
def survey() -> None:
    """Check and compile survey files."""


_FILE = click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
_JSON = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")


@survey.command()
@_FILE
@_JSON
def check(file: Path, as_json: bool) -> None:
    """Check a survey FILE (TOML or JSON): every error at once, each with its place."""
    parsed = _read_survey(file)
    document = verify(publish(parsed))
    if as_json:
        questions = [
            {"id": q.id, "type": q.type, "epsilon": q.epsilon, "channel": describe(document.channels[q.id])}
            for q in parsed.questions
        ]
        click.echo(
            json.dumps(
                {"survey": parsed.id, "epsilon": parsed.epsilon, "digest": document.digest, "questions": questions}
            )
        )
        return
    grid = Grid(title=f"{parsed.title} ({parsed.id})", title_justify="left")
    for heading in ("Question", "Type", "How it is randomised", "ε"):
        grid.add_column(heading, justify="right" if heading == "ε" else "left")
    for question in parsed.questions:
        grid.add_row(question.id, question.type, describe(document.channels[question.id]), question.epsilon)
    grid.add_section()
    grid.add_row("all together", "", "", parsed.epsilon)
    out.print(grid)
    largest = max(parsed.questions, key=lambda question: question.exact_epsilon)
    out.print(f"The least protected answer is {largest.id}. {in_words(largest.exact_epsilon)}")
    out.print(Text(f"{file}: ok", style="green"))


@survey.command(name="compile")
@_FILE
def compile_(file: Path) -> None:
    """Print the published document of a survey FILE: the bytes that clients verify."""
    click.echo(publish(_read_survey(file)), nl=False)


@cli.command(name="audit")
@_FILE
@click.option(
    "--draws", default=100_000, show_default=True, type=click.IntRange(min=1), help="Submissions to randomise."
)
@click.option(
    "--language",
    default="python",
    show_default=True,
    type=click.Choice(["python", "js"]),
    help="Which shipped randomiser to run: the Python client, or the browser's under node.",
)
@_JSON
def audit_(file: Path, draws: int, language: str, as_json: bool) -> None:
    """Prove the privacy of a survey FILE (or published document) exactly, and test it on the shipped randomiser.

    Fails if the reports prove, with 99.9% confidence over everything looked at, more epsilon than is stated.
    """
    findings = _run_audit(_read_published(file), draws, language)
    if as_json:
        click.echo(
            json.dumps({"language": language, "draws": draws, "questions": [_finding_tree(f) for f in findings]})
        )
    else:
        _print_audit(findings, draws, language)
    if not all(finding.passed for finding in findings):
        sys.exit(1)


@cli.command()
def demo() -> None:
    """Check an example survey, randomise one set of answers, and audit both randomisers."""
    parsed = parse_survey((files(__package__) / "example.toml").read_text("utf-8"))
    published = publish(parsed)
    document = verify(published)
    out.rule("What one respondent answers, and what leaves their device")
    panels = {q.id: panel(q, document.channels[q.id]) for q in parsed.questions}
    answers = {q: options[len(options) // 2][1] for q, options in panels.items()}
    runs = [client_randomize(published, answers, first_segments(parsed))["reports"] for _ in range(3)]
    grid = Grid()
    for heading in ("Question", "Answer", "Report", "Again", "And again"):
        grid.add_column(heading)
    for question in parsed.questions:
        grid.add_row(question.id, str(answers[question.id]), *(str(run[question.id]) for run in runs))
    out.print(grid)
    out.print(
        "A real client randomises once and keeps to it; three times here, to show that a report proves nothing.\n"
    )
    for language in ("python", "js"):
        out.rule(f"Audit of the {language} randomiser")
        _print_audit(_run_audit(published, 20_000, language), 20_000, language)


def _read_survey(file: Path) -> Survey:
    return parse_survey(file.read_bytes(), syntax="json" if file.suffix == ".json" else "toml")


def _read_published(file: Path) -> bytes:
    """A published document as it is, or the one that a survey file compiles to."""
    raw = file.read_bytes()
    if file.suffix == ".json":
        try:
            tree = strict_json(raw.decode())
        except ValueError:
            tree = None  # parse_survey below says what is wrong with it
        if isinstance(tree, dict) and "deniable" in tree:
            return raw
    return publish(_read_survey(file))


def _run_audit(published: bytes, draws: int, language: str) -> list[Finding]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True) as progress:
        task = progress.add_task(f"randomising ({language})", total=draws)
        return audit(published, draws, language, lambda done: progress.advance(task, done))


def _print_audit(findings: list[Finding], draws: int, language: str) -> None:
    grid = Grid()
    grid.add_column("Question")
    grid.add_column("Odds, exact", overflow="fold")
    for heading in ("ε exact", "ε stated", "ε seen ≥"):
        grid.add_column(heading, justify="right")
    grid.add_column("")
    for finding in findings:
        odds = f"{finding.odds.numerator} / {finding.odds.denominator}" if finding.odds else ""
        if finding.delta is not None:
            odds = f"within e^ε but for δ = {_three_digits_up(finding.delta)}"
        verdict = Text("ok", style="green") if finding.passed else Text("BROKEN", style="bold red")
        exact = f"{finding.exact:f}" if finding.exact is not None else ""
        grid.add_row(finding.question, odds, exact, finding.stated, f"{finding.observed.epsilon:.4f}", verdict)
    out.print(grid)
    worst = max(findings, key=lambda finding: finding.observed.epsilon - float(finding.stated))
    out.print(
        f"ε seen: what {draws:,} submissions of the {language} randomiser prove at the worst pair of answers and "
        f"event, {CONFIDENCE:.1%} over all. Closest to its limit: {worst.question}, "
        f"{worst.observed.pair[0]} against {worst.observed.pair[1]}, {worst.observed.event}."
    )


def _three_digits_up(value: Fraction) -> str:
    with localcontext() as context:
        context.prec, context.rounding = 3, ROUND_CEILING
        return f"{Decimal(value.numerator) / Decimal(value.denominator):.2e}"


def _finding_tree(finding: Finding) -> dict[str, Any]:
    return {
        "id": finding.question,
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
