"""What estimating costs: the same for 500 respondents as for 500,000, and little more than an empty answer.
And what the dashboard costs, which shows all of it as one page.

    python bench/estimating.py [--respondents 500000] [--keep FOLDER] [--json FILE]

20 questions of every type in both designs: with one epsilon, so that each respondent is asked one booklet, with a
follow-up and a planned cross-tab; and with an epsilon per question, so that 500,000 respondents send ten million
reports. Simulated respondents answer (``deniable simulate --direct``). All databases are served by real server
processes, and requests for all estimates and for the dashboard are timed in turn with requests for /healthz, which does
nothing, on kept connections. Marks, for each design: estimates from the most respondents take at most 1.5 times as long
as from 500, and at most 15 times as long as an empty answer; the dashboard of 50,000 respondents at most 1.5 times as
long as that of 50, and with all that it loads it is smaller than 300 kB.
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
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

DENIABLE = str(Path(sys.executable).with_name("deniable"))
BOOKLETS, TEXTBOOK = "one-epsilon", "epsilon-each"
DESIGNS = (BOOKLETS, TEXTBOOK)
QUESTIONS = 20
SAME, EMPTY, WEIGHT = 1.5, 15.0, 300_000


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


def answered(folder: Path, respondents: int) -> Path:
    """A database in which so many have answered each survey; made unless it is there from a run before."""
    database = folder / f"bench-{respondents}.db"
    if not database.exists():
        for design in DESIGNS:
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
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
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
                    get(connection, path.format(design), headers)
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
    console = Console(width=None if sys.stdout.isatty() else 110)
    console.print(grid)
    console.print(f"estimates, {given.respondents:,} against 500 respondents: {growth:.2f} times (at most {SAME})")
    console.print(f"estimates against an empty answer: {cost:.1f} times as long (at most {EMPTY:g})")
    console.print(f"dashboard, 50,000 against 50 respondents: {page_growth:.2f} times as long (at most {SAME})")
    console.print(f"dashboard and all that it loads: {bytes_loaded:,} bytes (at most {WEIGHT:,})")
    if given.json:
        results = {"growth": growth, "ratio": cost, "page_growth": page_growth, "page_bytes": bytes_loaded}
        given.json.write_text(json.dumps(results))
    sys.exit(growth > SAME or cost > EMPTY or page_growth > SAME or bytes_loaded > WEIGHT)


if __name__ == "__main__":
    main()
