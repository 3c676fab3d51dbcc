"""What estimating costs: the same for 500 respondents as for 500,000, and little more than an empty answer.
And what the dashboard costs, which shows all of it as one page.

    python bench/estimating.py [--respondents 500000] [--keep FOLDER] [--processor | --page] [--json FILE]

20 questions of every type in both designs: with one epsilon, so that each respondent is asked one booklet, with a
follow-up and a planned cross-tab; and with an epsilon per question, so that 500,000 respondents send ten million
reports. Simulated respondents answer (``deniable simulate --direct``). All databases are served by real server
processes, and requests for all estimates and for the dashboard are timed in turn with requests for /healthz, which does
nothing, on kept connections. Marks, for each design: estimates from the most respondents take at most 1.5 times as long
as from 500, and at most 15 times as long as an empty answer; the dashboard of 50,000 respondents at most 1.5 times as
long as that of 50, and with all that it loads it is smaller than 300 kB.

With --page alone: the processor time that a server takes for all estimates, and for a dashboard (plain and split), of a
million reports against a thousand (with one epsilon), in turn in one process: at most 1.2 times as long. Each of these
pages is smaller than 200 kB. An empty answer, and a survey with 900 submissions in the inbox, are measured in turn too.

Before that, and alone with --processor: the processor time of all estimates from the counts of ten million reports,
against that from the counts of ten thousand, in turn in one process. At most 1.5 times as long, in each design.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import json
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from real_data import Study
from real_sampling import Population, Survey
from rich.console import Console
from rich.table import Table

from deniable_protocol import survey_from_tree, verify
from deniable_server import create_app
from deniable_server.analysis.estimates import EstimateQuery, estimates
from deniable_server.planning import publish_survey
from deniable_server.settings import Settings
from deniable_server.statistics import nothing
from deniable_server.storage import Published
from deniable_server.storage.tokens import make_token
from deniable_server.web import computing

DENIABLE = str(Path(sys.executable).with_name("deniable"))
BOOKLETS, TEXTBOOK = "one-epsilon", "epsilon-each"
DESIGNS = (BOOKLETS, TEXTBOOK)
QUESTIONS = 20
SAME, EMPTY, WEIGHT = 1.5, 15.0, 300_000
FEWEST, MOST, CHUNK = 10_000, 10_000_000, 100_000
WAITING, PAGES, SAME_PAGE, PAGE = 900, (1_000, 1_000_000), 1.2, 200_000
VIEWS = {
    "estimates": f"/api/v1/surveys/{BOOKLETS}/estimates?",
    "dashboard": f"/surveys/{BOOKLETS}?",
    "split": f"/surveys/{BOOKLETS}?by=campus&",
}


def survey(design: str) -> dict[str, Any]:
    """The questions in one of the designs, whose name is the survey's id."""
    options = [{"code": f"o{j}", "text": f"Option {j}"} for j in range(6)]
    kinds: list[dict[str, Any]] = [
        {"type": "yes_no"},
        {"type": "choice", "options": options},
        {"type": "multi_choice", "options": options},
        {"type": "scale", "labels": ["1", "2", "3", "4", "5"]},
        {"type": "number", "min": 0, "max": 40},
    ]
    questions = [{"id": f"q{i}", "text": "?", **kinds[i % 5]} for i in range(QUESTIONS)]
    segments = [{"id": "campus", "text": "?", "options": [{"code": c, "text": c} for c in ("north", "south")]}]
    tree = {"id": design, "title": "Bench", "segments": segments, "questions": questions}
    if design == TEXTBOOK:
        return {**tree, "questions": [{**question, "epsilon": "1"} for question in questions]}
    questions[5]["show_if"] = {"q0": ["yes"]}
    return {**tree, "epsilon": "2", "together": [["q0", "q1"]]}


# --- from counts, in one process ---------------------------------------------------------------------------------


def respondents(design: str) -> Population:
    """A thousand made-up people who are asked the survey."""
    tree, random, people = survey(design), np.random.default_rng(1), range(1_000)
    answers: dict[str, list[Any]] = {}
    for question in tree["questions"]:
        codes = [option["code"] for option in question.get("options", ())]
        give = {
            "yes_no": lambda: bool(random.random() < 0.3),
            "choice": lambda codes=codes: codes[random.binomial(5, 0.3)],
            "multi_choice": lambda codes=codes: tuple(code for code in codes if random.random() < 0.3),
            "scale": lambda: int(1 + random.binomial(4, 0.6)),
            "number": lambda: float(40 * random.beta(2, 5)),
        }[question["type"]]
        asked = [answers[parent] for parent in question.get("show_if", {})]
        answers[question["id"]] = [give() if all(each[i] for each in asked) else None for i in people]
    segments = {"campus": ["north" if i % 3 else "south" for i in people]}
    study = Study(design, segments, tree["questions"], answers, {}, [], [], [], [])
    raw = publish_survey(survey_from_tree(tree))
    return Population(study, Published(1, raw, verify(raw)))


def counted(population: Population, reports: int) -> Survey:
    """The survey with so many reports."""
    n, random = reports // len(population.document.booklets[0].parts), np.random.default_rng(2)
    sizes = [min(CHUNK, n - start) for start in range(0, n, CHUNK)]
    drawn = (population.draw(size, random).counted for size in sizes)
    return Survey(population.published, sum(drawn, nothing(population.document)))


def processor_growth(rounds: int) -> dict[str, float]:
    """Per design how many times as much processor time estimates take from the most reports as from the fewest."""
    found = {}
    for design in DESIGNS:
        population = respondents(design)
        surveys = [counted(population, reports) for reports in (FEWEST, MOST)]
        times: list[list[float]] = [[], []]
        for turn in range(rounds + 3):
            for each, taken in zip(surveys, times, strict=True):
                start = time.process_time()
                estimates(each, EstimateQuery())
                taken += [time.process_time() - start] if turn >= 3 else []
        few, many = (statistics.median(taken) for taken in times)
        found[design] = many / few
    return found


def dashboard_growth(folder: Path, rounds: int, console: Console) -> dict[str, dict[str, float]]:
    """Per view: milliseconds of the processor for an empty answer, for reports that wait, and for few and many reports;
    the ratio of the last two; and bytes.
    """
    computing.PROCESSES = 0  # so that the time of this process is all that a page takes
    clients = []
    for reports in (WAITING, *PAGES):
        database = answered(folder, reports, (BOOKLETS,))
        app = create_app(Settings(database=str(database)))
        secret, _ = make_token(app.extensions["deniable"].storage, "analyst", "bench")
        client = app.test_client()
        word = client.get("/sign-in").text.partition('name="word" value="')[2].partition('"')[0]
        form = {"word": word, "token": secret}
        assert client.post("/sign-in", data=form, headers={"Sec-Fetch-Site": "same-origin"}).status_code == 303
        clients.append(client)
    found = {}
    for view, path in VIEWS.items():
        times: list[list[float]] = [[], [], [], []]
        sizes = []
        for turn in range(rounds + 5):
            # Another question each time: the answer to the same one would be known.
            asked = [(clients[0], "/healthz"), *((client, f"{path}confidence=0.95{turn:04}") for client in clients)]
            for (client, address), taken in zip(asked, times, strict=True):
                start = time.process_time()
                page = client.get(address)
                assert page.status_code == 200
                if turn >= 5:
                    taken.append(time.process_time() - start)
                    sizes.append(len(page.data))
        empty, waiting, few, many = (1000 * statistics.median(taken) for taken in times)
        found[view] = {
            "empty_ms": empty,
            "waiting_ms": waiting,
            "few_ms": few,
            "many_ms": many,
            "growth": many / few,
            "bytes": max(sizes),
        }
        console.print(
            f"{view}: {few:.1f} ms of the processor for {PAGES[0]:,} reports, {many:.1f} ms for {PAGES[1]:,}: "
            f"{many / few:.2f} times (at most {SAME_PAGE}), {many / empty:.0f} times an empty answer ({empty:.2f} ms); "
            f"{waiting:.1f} ms for {WAITING} that wait; {max(sizes):,} bytes (at most {PAGE:,})"
        )
    return found


# --- over HTTP ---------------------------------------------------------------------------------------------------


def answered(folder: Path, respondents: int, designs: Sequence[str] = DESIGNS) -> Path:
    """A database in which so many have answered each survey; made unless it is there from a run before."""
    database = folder / f"bench-{'-'.join(designs)}-{respondents}.db"
    if not database.exists():
        for design in designs:
            file = folder / f"{design}.json"
            file.write_text(json.dumps(survey(design)))
            run("survey", "publish", str(file), "--database", str(database))
            simulate = ["simulate", design, "--respondents", str(respondents), "--direct", "--seed", "1"]
            run(*simulate, "--database", str(database))
    return database


def run(*words: str) -> str:
    return subprocess.run([DENIABLE, *words], check=True, capture_output=True, text=True).stdout


@contextmanager
def serving(database: Path) -> Iterator[http.client.HTTPConnection]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [DENIABLE, "serve", "--database", str(database), "--bind", f"127.0.0.1:{port}"], stderr=subprocess.DEVNULL
    )
    try:
        for _ in range(300):
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        yield connection
        connection.close()
    finally:
        server.terminate()
        server.wait()


def get(connection: http.client.HTTPConnection, path: str, headers: dict[str, str]) -> bytes:
    connection.request("GET", path, headers=headers)
    response = connection.getresponse()
    body = response.read()
    assert response.status == 200, response.status
    return body


def sign_in(connection: http.client.HTTPConnection, token: str) -> str:
    """The cookie of a session, as a browser gets it."""
    form = get(connection, "/sign-in", {}).decode()
    word = form.partition('name="word" value="')[2].partition('"')[0]
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin"}
    connection.request("POST", "/sign-in", f"word={word}&token={token}", headers)
    response = connection.getresponse()
    response.read()
    assert response.status == 303, response.status
    return str(response.headers["Set-Cookie"]).partition(";")[0]


def weight(connection: http.client.HTTPConnection, headers: dict[str, str]) -> int:
    """The bytes of the larger dashboard and of all that it loads, uncompressed."""
    pages = [get(connection, f"/surveys/{design}", headers) for design in DESIGNS]
    loaded = [re.findall(rb'(?:href|src)="(/static/[^"]+)"', page) for page in pages]
    parts = [sum(len(get(connection, path.decode(), {})) for path in paths) for paths in loaded]
    return max(len(page) + part for page, part in zip(pages, parts, strict=True))


PATHS = {"empty": "/healthz", "estimates": "/api/v1/surveys/{}/estimates", "dashboard": "/surveys/{}"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--respondents", type=int, default=500_000)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--keep", type=Path, help="keep the databases here for the next run")
    parser.add_argument("--processor", action="store_true", help="only the processor time from counts")
    parser.add_argument("--page", action="store_true", help="only the processor time of the dashboard")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 110)
    if given.page:
        with ExitStack() as stack:
            folder = given.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
            folder.mkdir(parents=True, exist_ok=True)
            views = dashboard_growth(folder, given.rounds, console)
        if given.json:
            given.json.write_text(json.dumps(views))
        sys.exit(any(each["growth"] > SAME_PAGE or each["bytes"] > PAGE for each in views.values()))
    processor = processor_growth(given.rounds)
    for design, times_as_long in processor.items():
        console.print(
            f"{design}: processor time of estimates from {MOST:,} reports: {times_as_long:.2f} times that from "
            f"{FEWEST:,} (at most {SAME})"
        )
    if given.processor:
        if given.json:
            given.json.write_text(json.dumps({"processor_growth": processor}))
        sys.exit(max(processor.values()) > SAME)
    sizes = sorted({50, 500, 50_000, given.respondents})
    with ExitStack() as stack:
        folder = given.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        connections = []
        for database in [answered(folder, respondents) for respondents in sizes]:
            token = json.loads(run("token", "create", "--role", "analyst", "--json", "--database", str(database)))
            connection = stack.enter_context(serving(database))
            connections.append((connection, {"Cookie": sign_in(connection, token["token"])}))
        times: dict[tuple[int, str, str], list[float]] = {}
        for turn in range(given.rounds + 20):
            for respondents, (connection, headers) in zip(sizes, connections, strict=True):
                for design, (name, path) in itertools.product(DESIGNS, PATHS.items()):
                    start = time.perf_counter()
                    # Another question each time: the answer to the same one would be known.
                    get(connection, f"{path.format(design)}?confidence=0.95{turn:04}", headers)
                    taken = time.perf_counter() - start
                    if turn >= 20:  # what is made once has been made
                        times.setdefault((respondents, design, name), []).append(taken)
        bytes_loaded = max(weight(connection, headers) for connection, headers in connections)
    medians = {key: statistics.median(values) for key, values in times.items()}
    grid = Table(title=f"{QUESTIONS} questions, median of {given.rounds} requests")
    for heading in ("", "respondents", "empty, ms", "all estimates, ms", "times", "dashboard, ms", "times"):
        grid.add_column(heading, justify="right")
    ratios = {key: medians[key] / medians[*key[:2], "empty"] for key in medians}
    for design, n in itertools.product(DESIGNS, sizes):
        cells = [f"{1000 * medians[n, design, 'empty']:.2f}"]
        for name in ("estimates", "dashboard"):
            cells += [f"{1000 * medians[n, design, name]:.2f}", f"{ratios[n, design, name]:.1f}"]
        grid.add_row(design, f"{n:,}", *cells)

    def most(name: str, large: int, small: int) -> float:
        return max(medians[large, design, name] / medians[small, design, name] for design in DESIGNS)

    growth, page_growth = most("estimates", given.respondents, 500), most("dashboard", 50_000, 50)
    cost = max(ratios[n, design, "estimates"] for n in sizes for design in DESIGNS)
    console.print(grid)
    console.print(f"estimates, {given.respondents:,} against 500 respondents: {growth:.2f} times (at most {SAME})")
    console.print(f"estimates against an empty answer: {cost:.1f} times as long (at most {EMPTY:g})")
    console.print(f"dashboard, 50,000 against 50 respondents: {page_growth:.2f} times as long (at most {SAME})")
    console.print(f"dashboard and all that it loads: {bytes_loaded:,} bytes (at most {WEIGHT:,})")
    if given.json:
        results = {"growth": growth, "ratio": cost, "page_growth": page_growth, "page_bytes": bytes_loaded}
        given.json.write_text(json.dumps(results | {"processor_growth": processor}))
    growth = max(growth, *processor.values())
    sys.exit(growth > SAME or cost > EMPTY or page_growth > SAME or bytes_loaded > WEIGHT)


if __name__ == "__main__":
    main()
