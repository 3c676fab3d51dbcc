"""The demo: a survey, a few people, a crowd and the results, on a server and a database of their own."""

from __future__ import annotations

import math
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
from deniable_protocol import Document, Item, Part, Question, Survey, draw_booklet, parse_survey, verify
from deniable_server.analysis.compare import CompareQuery
from deniable_server.analysis.compare import compare as compare_groups
from deniable_server.analysis.labels import question_texts
from deniable_server.analysis.rounding import difference
from deniable_server.analysis.source import StoredSurvey
from deniable_server.errors import SimulationError
from deniable_server.estimator.joint import NOT_ASKED
from deniable_server.planning import publish_survey
from deniable_server.serving.run import listen_error
from deniable_server.simulate import Compared, Population, simulate_over_http
from deniable_server.storage.tokens import make_token
from deniable_server.wording import account_in_words, answer_texts, group_text, in_symbols, item_texts

from .common import BIND, find_survey, opened, out, progress_bar
from .plan import table
from .simulate import compare_all, read_source, say_how_many, show_compared, verdict, written

RESPONDENTS = 10_000
SEED = 6
"""The same people every time, so that runs can be compared. What leaves their devices differs."""

PEOPLE = 3
"""Of whom it is shown what left their device; each has another booklet."""


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
    example = parse_survey((files("deniable_server") / "example.toml").read_text("utf-8"))
    published = publish_survey(example)
    document = verify(published)
    survey = document.survey
    with opened(database) as storage:
        storage.publish(published, example.respondents)
        admin, _ = make_token(storage, "admin", "demo")
        reader, _ = make_token(storage, "reader", "demo", surveys={survey.id: "reader"})
    out.rule("Three people answer")
    show_people(published, document)
    with running_server(database, address) as base:
        out.rule(f"{respondents:,} made-up people answer at {base}")
        population = Population(survey, SEED)
        with progress_bar("answering", respondents) as advance:
            simulate_over_http(f"{base}/s/{survey.id}", population, respondents, advance)
        with opened(database) as storage:
            show_results(read_source(storage, find_survey(storage, survey.id)), population)
        if not once:
            serve_until_stopped(base, survey.id, reader, admin)


# --- a few people -----------------------------------------------------------------------------------------------------


def show_people(published: bytes, document: Document) -> None:
    """What they were asked, their answers, what left their device, and what would have left it on another try."""
    booklets: dict[int, None] = {}
    while len(booklets) < min(PEOPLE, len(document.booklets)):
        booklets[draw_booklet(document)] = None
    grid = table("Question", "True answer", "What left the device", "On another try")
    for person, booklet in zip(Population(document.survey).respondents(PEOPLE), booklets, strict=False):
        tries = [randomize(published, person.answers, person.segments, booklet=booklet)["reports"] for _ in range(2)]
        for part, *reports in zip(document.parts_of(booklet), *tries, strict=True):
            for item, *sent in zip(part.items, *(report_in_words(part, report) for report in reports), strict=True):
                answer = answer_in_words(item, person.answers.get(item.question.id))
                grid.add_row(*map(Text, (question_in_words(item), answer, *sent)))
        grid.add_section()
    out.print(grid)
    spent = in_symbols(document.account)
    out.print(
        f"\nEach device drew its questions by chance, before it asked anything: one of {len(document.booklets)} "
        f"booklets. It spends {spent} on them, and nothing on the others. The answers were changed at "
        f"random before they left the device, so on another try something else might have been sent. (A real client "
        f"never randomises an answer twice.)\n\nWhat {spent} means: {account_in_words(document.account)}\n"
    )


def question_in_words(item: Item) -> str:
    """The id of the question; of several choices, with the option that is asked about."""
    return (
        item.question.id if item.option is None else f"{item.question.id}: {answer_texts(item.question)[item.option]}"
    )


def answer_in_words(item: Item, answer: Any) -> str:
    """An answer as people say it."""
    if answer is None:
        return NOT_ASKED
    if item.option is not None:
        answer = item.option in answer
    if isinstance(answer, bool):
        return "Yes" if answer else "No"
    return answer_texts(item.question).get(str(answer), str(answer))


def report_in_words(part: Part, report: int) -> list[str]:
    """What a report seems to say of each question, true or not: the answers that make it most likely."""
    channel = part.channel
    chances = [channel.probability(answer, report) for answer in range(channel.answers)]
    likely = [answer for answer, chance in enumerate(chances) if chance == max(chances)]
    if not part.paths:  # a mean
        question = part.items[0].question
        names = levels_in_words(question, channel.answers)
        first, last = names[likely[0]], names[likely[-1]]
        return [first if first == last else f"{first} to {last}"]
    said = []
    for place, item in enumerate(part.items):
        texts = [*item_texts(item).values()]
        told = {part.paths[answer][place] for answer in likely}
        known = [texts[code] for code in sorted(code for code in told if code is not None)]
        said.append(" or ".join([NOT_ASKED, *known] if None in told else known))
    return said


def levels_in_words(question: Question, levels: int) -> list[str]:
    """The answers of a question that asks for a mean, or the numbers to which they are rounded before randomising."""
    if texts := answer_texts(question):
        return [*texts.values()]
    least, largest = question.range
    step = (largest - least) / (levels - 1)
    decimals = max(0, math.ceil(-math.log10(step)))  # just enough to tell one from the next
    return [f"{round(least + step * level, decimals):.10g}" for level in range(levels)]


# --- all of them ------------------------------------------------------------------------------------------------------


def show_results(source: StoredSurvey, population: Population) -> None:
    """Shares and means, the planned cross-tab and a comparison, all next to the truth."""
    compared = [one for one in compare_all(source, population) if one.kind != "among_answering"]
    pairs = [one for one in compared if one.kind == "pair"]
    show_compared(source.survey, [one for one in compared if one.kind != "pair"], 0, population.truth.people)
    show_pairs(source.survey, pairs)
    say_how_many(pairs)
    show_difference(source, population)


def show_pairs(survey: Survey, pairs: list[Compared]) -> None:
    """A planned cross-tab: the share of each pair of answers, its interval, and the truth."""
    texts = question_texts(survey)
    rows, columns = pairs[0].question.split(" × ")
    codes = [one.code.split(" × ") for one in pairs]
    out.print(f"{rows} (rows) by {columns} (columns): the share of everybody who gave both answers\n")
    grid = table("", *(f"{texts[columns][code]} >" for code in dict.fromkeys(column for _, column in codes)))
    grid.columns[0].no_wrap = True
    for row in dict.fromkeys(row for row, _ in codes):
        cells = [one for one, (each, _) in zip(pairs, codes, strict=True) if each == row]
        grid.add_row(texts[rows][row], *(pair_in_words(one) for one in cells))
    out.print(grid)


def pair_in_words(one: Compared) -> Text:
    about, low, high = written(one, one.estimate)
    truth, *_ = written(one, one.truth)
    return Text(
        f"{about}\n{low.removesuffix('%')} to {high}\ntruth {truth}\n",
        style=verdict(one).style if not one.covered else "",
    )


def show_difference(source: StoredSurvey, population: Population) -> None:
    """One question between the groups of a segment."""
    question, segment = source.survey.questions[0], source.survey.segments[0]
    result = compare_groups(source, CompareQuery(question=question.id, by=segment.id))
    for row in result.differences:
        if row.code == "yes":
            names = [group_text(segment, code) for code in (row.first, row.second)]
            true = [population.groups[segment.id, code].share(question.id, "yes") for code in (row.first, row.second)]
            about, low, high = difference(row).signed()
            truth = f"{100 * (true[0] - true[1]):+.1f}".replace("-", "−")
            out.print(
                f"{question.id}, Yes: {names[0]} minus {names[1]} is {about} points, between {low} and {high}. "
                f"The truth is {truth}.\n"
            )


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
