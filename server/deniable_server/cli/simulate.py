"""Commands that play the respondents: simulate and demo."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import click
from rich.table import Table as Grid
from rich.text import Text

from deniable import randomize
from deniable_protocol import parse_survey, publish, verify
from deniable_server.analysis.rounding import rounded
from deniable_server.errors import SimulationError
from deniable_server.serving.run import listen_error
from deniable_server.settings import Settings
from deniable_server.simulate import (
    Compared,
    Population,
    check_same_database,
    compare,
    simulate_directly,
    simulate_over_http,
)
from deniable_server.storage.tokens import make_token

from .common import DATABASE, JSON, existing, find_survey, opened, out, print_json, progress_bar
from .estimate import read_estimates
from .operate import BIND

DEMO_RESPONDENTS = 2_000


@click.command(short_help="Let made-up people answer.")
@click.argument("survey_id")
@click.option("--respondents", required=True, type=click.IntRange(1, 10**9), help="How many people to make up.")
@DATABASE
@click.option(
    "--server",
    help="Where deniable serve runs, with its base path; http:// and DENIABLE_BIND where it is left out.",
)
@click.option("--direct", is_flag=True, help="Without the network, straight into the database: for millions.")
@click.option("--add", is_flag=True, help="Also where the survey has submissions already.")
@click.option("--seed", type=int, help="Make up the same people again. Their answers are randomised anew.")
@JSON
def simulate(
    survey_id: str,
    respondents: int,
    database: str,
    server: str | None,
    direct: bool,
    add: bool,
    seed: int | None,
    as_json: bool,
) -> None:
    """Make up respondents who answer a survey through the real client, and show the truth beside the estimate.

    They answer through a server that runs on the same database; --direct needs none.
    """
    with existing(database) as storage:
        published = find_survey(storage, survey_id)
        listed = next(one for one in storage.surveys() if one.id == survey_id)
        if listed.submissions and not add:
            raise SimulationError(
                f"{survey_id} has {listed.submissions:,} submissions. Made-up ones cannot be told apart afterwards; "
                "say --add if that is meant"
            )
        population = Population(published.document.survey, seed)
        with progress_bar("answering", respondents) as advance:
            if direct:
                simulate_directly(storage, published, population, respondents, advance)
            else:
                settings = Settings.from_environment()
                base = (server or f"http://{settings.bind}{settings.base_path}").rstrip("/")
                check_same_database(storage, base)
                link = f"{base}/s/{survey_id}#{published.document.digest}"
                simulate_over_http(link, population, respondents, advance)
        compared = compare(population, read_estimates(storage, published).questions)
    if as_json:
        print_json(
            {"survey": survey_id, "respondents": respondents, "earlier": listed.submissions, "compared": compared}
        )
    else:
        show_compared(compared, listed.submissions, respondents)


@click.command(short_help="Everything at once, on an example.")
@BIND
@click.option(
    "--respondents",
    default=DEMO_RESPONDENTS,
    show_default=True,
    type=click.IntRange(1, 10**6),
    help="How many people to make up.",
)
@click.option("--once", is_flag=True, help="End after printing, instead of going on to serve.")
@click.pass_context
def demo(ctx: click.Context, /, bind: str, respondents: int, once: bool) -> None:
    """Everything at once: publish an example, let made-up people answer it, show truth beside estimate, and serve."""
    parsed = parse_survey((files("deniable_server") / "example.toml").read_text("utf-8"))
    published = publish(parsed)
    with tempfile.TemporaryDirectory(prefix="deniable-demo-") as folder:
        database = str(Path(folder) / "demo.db")
        with opened(database) as storage:
            storage.publish(published)
            secret, _ = make_token(storage, "admin", "demo")
            reader, _ = make_token(storage, "reader", "demo", survey=parsed.id)
        out.rule("What one respondent answers, and what leaves their device")
        show_one_respondent(published)
        chosen = ctx.get_parameter_source("bind") is not click.core.ParameterSource.DEFAULT
        with running_server(database, bind if chosen else next_free(bind)) as base:
            out.rule(f"{respondents:,} made-up people answer at {base}")
            population = Population(parsed)
            with progress_bar("answering", respondents) as advance:
                simulate_over_http(f"{base}/s/{parsed.id}", population, respondents, advance)
            with opened(database) as storage:
                compared = compare(population, read_estimates(storage, find_survey(storage, parsed.id)).questions)
            show_compared(compared, 0, respondents)
            if not once:
                serve_until_stopped(base, parsed.id, reader, secret)


def show_one_respondent(published: bytes) -> None:
    """The same answers randomised three times."""
    survey = verify(published).survey
    person = next(Population(survey).respondents(1))
    runs = [randomize(published, person.answers, person.segments)["reports"] for _ in range(3)]
    grid = Grid("Question", "Answer", "Report", "Again", "And again")
    for question in survey.questions:
        grid.add_row(Text(question.text), spoken(person.answers[question.id]), *(str(run[question.id]) for run in runs))
    out.print(grid)
    out.print(
        "A report is a number that stands for a randomised answer. A real client randomises once and keeps to it; "
        "three times here, to show that a report proves nothing.\n"
    )


def spoken(answer: Any) -> str:
    """An answer as people say it."""
    if isinstance(answer, bool):
        return "yes" if answer else "no"
    if isinstance(answer, list):
        return ", ".join(answer) or "none of them"
    return str(answer)


def show_compared(compared: list[Compared], earlier: int, respondents: int) -> None:
    """The truth of the made-up people beside every estimate, which counts earlier submissions, too."""
    alone = earlier * 100 <= respondents
    grid = Grid("Question", "Answer")
    for heading in ("Truth", "Estimate", "Between (95%)"):
        grid.add_column(heading, justify="right")
    grid.add_column("")
    previous = ""
    for one in compared:
        if previous and one.question != previous:
            grid.add_section()
        about, low, high = written(one, one.estimate)
        truth, *_ = written(one, one.truth)
        verdict = Text("holds", style="green") if one.covered else Text("misses", style="yellow")
        label = one.question if one.question != previous else ""
        grid.add_row(label, one.what, truth, about, f"{low} and {high}", verdict if alone else "")
        previous = one.question
    out.print(grid)
    if alone:
        covered = sum(one.covered for one in compared)
        out.print(f"{covered} of {len(compared)} intervals hold the truth; at 95%, about one in twenty may miss it.\n")
    else:
        out.print(f"The estimates also count {earlier:,} earlier submissions, whose truth is not known here.\n")


def written(one: Compared, value: float | None) -> list[str]:
    """The truth or the estimate, and the limits, with the decimals that the interval deserves."""
    if one.what == "mean":
        return [*rounded(value, one.low, one.high).texts()]
    return [f"{text}%" for text in rounded(value, one.low, one.high, 0.0, 1.0, scale=100).texts()]


def next_free(bind: str) -> str:
    """The address itself, or the first of the following ports that is free."""
    host, _, port = bind.rpartition(":")
    candidates = (f"{host}:{number}" for number in range(int(port), int(port) + 100))
    return next((candidate for candidate in candidates if not listen_error(candidate)), bind)


@contextmanager
def running_server(database: str, bind: str) -> Iterator[str]:
    """A real server process at this address."""
    if trouble := listen_error(bind):
        raise SimulationError(trouble)
    command = [sys.executable, "-m", "deniable_server", "serve", "--database", database, "--bind", bind]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("DENIABLE_")}
    base = f"http://{bind}"
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # whatever stops the demo stops its server, too
    with (
        tempfile.TemporaryFile("w+") as log,
        subprocess.Popen(command, env=environment, stdout=log, stderr=log) as process,  # noqa: S603 -- our own command
    ):
        try:
            if not is_ready(process, base):
                log.seek(0)
                raise SimulationError(f"the server did not start. It said:\n{log.read()}")
            yield base
        finally:
            process.send_signal(signal.SIGTERM)


def is_ready(process: subprocess.Popen[Any], base: str, seconds: float = 30) -> bool:
    """Waits until the server can store submissions; False where it has ended, or takes too long."""
    deadline = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{base}/readyz", timeout=5):  # noqa: S310 -- an address of our own making
                return True
        except OSError:
            time.sleep(0.05)
    return False


def serve_until_stopped(base: str, survey: str, reader: str, secret: str) -> None:
    out.rule("Serving until Ctrl-C; then the demo's database is removed")
    out.print(f"Answer it yourself      {base}/s/{survey}", soft_wrap=True)
    out.print(f"See the results         {base}/shared/{reader}", soft_wrap=True)
    out.print(f"Publish, close, share   {base}/  with the token  {secret}", soft_wrap=True)
    try:
        signal.pause()
    except KeyboardInterrupt:
        out.print()
