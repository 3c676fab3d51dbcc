"""The demo: a survey, one person, a crowd and the results, on a server and a database of their own."""

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
from rich.text import Text

from deniable import randomize
from deniable_protocol import Channel, Document, Question, parse_survey, verify
from deniable_server.errors import SimulationError
from deniable_server.planning import publish_survey
from deniable_server.serving.run import listen_error
from deniable_server.simulate import Population, compare, simulate_over_http
from deniable_server.storage.tokens import make_token
from deniable_server.wording import answer_texts

from .common import BIND, find_survey, opened, out, progress_bar
from .estimate import read_estimates
from .plan import table
from .simulate import show_compared

RESPONDENTS = 2_000


@click.command(short_help="Try everything at once, on an example.")
@BIND
@click.option(
    "--respondents",
    default=RESPONDENTS,
    show_default=True,
    type=click.IntRange(1, 10**6),
    help="How many people to make up.",
)
@click.option("--once", is_flag=True, help="Stop after printing. The default if the output is not a terminal.")
@click.pass_context
def demo(ctx: click.Context, /, bind: str, respondents: int, once: bool) -> None:
    """Publish an example survey, let made-up people answer it, compare truth and estimates, and serve the results.

    Uses a temporary database, which is removed at the end.
    """
    for stop in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(stop, signal.default_int_handler)  # like Ctrl-C: the server is stopped and the database removed
    try:
        with tempfile.TemporaryDirectory(prefix="deniable-demo-") as folder:
            address = bind if is_given(ctx, "bind") else free_address(bind)
            run_demo(str(Path(folder) / "demo.db"), address, respondents, once or not sys.stdout.isatty())
    except KeyboardInterrupt:
        out.print("\nStopped. The demo's database is removed.")


def is_given(ctx: click.Context, name: str) -> bool:
    """Whether an option was chosen, on the command line or in the environment."""
    return ctx.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT


def run_demo(database: str, address: str, respondents: int, once: bool) -> None:
    published = publish_survey(parse_survey((files("deniable_server") / "example.toml").read_text("utf-8")))
    document = verify(published)
    survey = document.survey
    with opened(database) as storage:
        storage.publish(published)
        admin, _ = make_token(storage, "admin", "demo")
        reader, _ = make_token(storage, "reader", "demo", survey=survey.id)
    out.rule("One person answers")
    show_one_person(published, document)
    with running_server(database, address) as base:
        out.rule(f"{respondents:,} made-up people answer at {base}")
        population = Population(survey)
        with progress_bar("answering", respondents) as advance:
            simulate_over_http(f"{base}/s/{survey.id}", population, respondents, advance)
        with opened(database) as storage:
            compared = compare(population, read_estimates(storage, find_survey(storage, survey.id)).questions)
        show_compared(survey, compared, 0, respondents)
        if not once:
            serve_until_stopped(base, survey.id, reader, admin)


# --- one person -------------------------------------------------------------------------------------------------------


def show_one_person(published: bytes, document: Document) -> None:
    """Their answers, what left their device, and what would have left it on another try."""
    person = next(Population(document.survey).respondents(1))
    sent, another = (randomize(published, person.answers, person.segments)["reports"] for _ in range(2))
    grid = table("Question", "True answer", "What left the device", "On another try")
    for question in document.survey.questions:
        channel = document.channels[question.id]
        reports = (Text(report_in_words(question, channel, run[question.id])) for run in (sent, another))
        grid.add_row(Text(question.text), Text(answer_in_words(question, person.answers[question.id])), *reports)
    out.print(grid)
    out.print(
        "\nThe answers were changed at random before they left the device. On another try, something else might have "
        "been sent, so what was sent proves little. (A real client never randomises an answer twice.)\n"
    )


def answer_in_words(question: Question, answer: Any) -> str:
    """An answer as people say it."""
    texts = answer_texts(question)
    if isinstance(answer, bool):
        return texts["yes" if answer else "no"]
    if isinstance(answer, list):
        return ", ".join(texts[code] for code in answer) or "None of these"
    return texts.get(str(answer), str(answer))


def report_in_words(question: Question, channel: Channel, report: int) -> str:
    """What a report seems to say, true or not: the answers that make it most likely."""
    texts = list(answer_texts(question).values())
    if not channel.exclusive:  # options are asked one at a time
        part, bit = divmod(report, 2)
        return f"{texts[part]}: {'yes' if bit else 'no'}"
    chances = [channel.probability(answer, report) for answer in range(channel.answers)]
    points = [answer for answer, chance in enumerate(chances) if chance == max(chances)]
    names = texts or levels_in_words(question, channel.answers)
    if question.asks_mean and len(points) > 1:
        return f"{names[points[0]]} to {names[points[-1]]}"
    return " or ".join(names[point] for point in points)


def levels_in_words(question: Question, levels: int) -> list[str]:
    """The numbers to which an answer is rounded before it is randomised."""
    least, largest = question.range
    step = (largest - least) / (levels - 1)
    return [f"{least + step * level:g}" for level in range(levels)]


# --- the server -------------------------------------------------------------------------------------------------------


def free_address(bind: str) -> str:
    """The address itself, or the next free port on the same host."""
    host, _, port = bind.rpartition(":")
    for number in range(int(port), int(port) + 100):
        if not listen_error(f"{host}:{number}"):
            if number != int(port):
                out.print(f"Port {port} is in use; using {number}.")
            return f"{host}:{number}"
    return bind


@contextmanager
def running_server(database: str, bind: str) -> Iterator[str]:
    """A real server process at this address."""
    if trouble := listen_error(bind):
        raise SimulationError(trouble)
    command = [sys.executable, "-m", "deniable_server", "serve", "--database", database, "--bind", bind]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("DENIABLE_")}
    base = f"http://{bind}"
    with (
        tempfile.TemporaryFile("w+") as log,
        # In a session of its own, so that Ctrl-C stops the people who answer before it stops the server.
        subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True) as process,  # noqa: S603 -- our own command
    ):
        try:
            if not is_ready(process, base):
                log.seek(0)
                raise SimulationError(f"The server did not start. It said:\n{log.read()}")
            yield base
        finally:
            process.send_signal(signal.SIGTERM)


def is_ready(process: subprocess.Popen[Any], base: str, seconds: float = 30) -> bool:
    """Waits until the server can store submissions; False if it has ended or takes too long."""
    deadline = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{base}/readyz", timeout=5):  # noqa: S310 -- an address of our own making
                return True
        except OSError:
            time.sleep(0.05)
    return False


def serve_until_stopped(base: str, survey: str, reader: str, admin: str) -> None:
    """Show where to look, and wait for Ctrl-C."""
    out.rule("Now try it yourself")
    links = {
        "Answer the survey": f"{base}/s/{survey}",
        "See the results": f"{base}/shared/{reader}",
        f"Manage surveys (access token: {admin})": f"{base}/",
    }
    for what, link in links.items():
        out.print(f"{what}\n  {link}", soft_wrap=True)
    out.print("\nPress Ctrl-C to stop.")
    signal.pause()
