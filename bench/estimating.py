"""What estimating costs: the same for ten thousand reports as for ten million, and little more than an empty answer.
And what the dashboard costs, which shows all of it as one page.

    python bench/estimating.py [--reports 10000000] [--keep FOLDER] [--json FILE]

A survey of 20 questions of every type, answered by simulated respondents (``deniable simulate --direct``): 50 of them
for a thousand reports, 500,000 for ten million. All databases are served by real server processes, and requests for all
estimates and for the dashboard are timed in turn with requests for /healthz, which does nothing, on kept connections.
Marks: estimates from ten million reports take at most 1.5 times as long as from ten thousand, and at most 15 times as
long as an empty answer; the dashboard of a million reports at most 1.5 times as long as that of a thousand, and with
all that it loads it is smaller than 300 kB.
"""

from __future__ import annotations

import argparse
import http.client
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
QUESTIONS = 20
ROUNDS = 200
SAME, EMPTY, WEIGHT = 1.5, 15.0, 300_000


def survey() -> dict[str, Any]:
    options = [{"code": f"o{j}", "text": f"Option {j}"} for j in range(6)]
    kinds: list[dict[str, Any]] = [
        {"type": "yes_no"},
        {"type": "choice", "options": options},
        {"type": "multi_choice", "options": options},
        {"type": "scale", "labels": ["1", "2", "3", "4", "5"]},
        {"type": "number", "min": 0, "max": 40},
    ]
    questions = [{"id": f"q{i}", "text": "?", "epsilon": "1", **kinds[i % 5]} for i in range(QUESTIONS)]
    segments = [{"id": "campus", "text": "?", "options": [{"code": c, "text": c} for c in ("north", "south")]}]
    return {"id": "bench", "title": "Bench", "segments": segments, "questions": questions}


def answered(folder: Path, respondents: int) -> Path:
    """A database in which so many have answered; made unless it is there from a run before."""
    database = folder / f"bench-{respondents}.db"
    if not database.exists():
        file = folder / "bench.json"
        file.write_text(json.dumps(survey()))
        run("survey", "publish", str(file), "--database", str(database))
        simulate = ["simulate", "bench", "--respondents", str(respondents), "--direct", "--seed", "1"]
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
    """The bytes of the dashboard and of all that it loads, uncompressed."""
    page = get(connection, PATHS["dashboard"], headers)
    loaded = re.findall(rb'(?:href|src)="(/static/[^"]+)"', page)
    return len(page) + sum(len(get(connection, path.decode(), {})) for path in loaded)


PATHS = {"empty": "/healthz", "estimates": "/api/v1/surveys/bench/estimates", "dashboard": "/surveys/bench"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reports", type=int, default=10_000_000)
    parser.add_argument("--keep", type=Path, help="keep the databases here for the next run")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    sizes = sorted({1_000, 10_000, 1_000_000, given.reports})
    with ExitStack() as stack:
        folder = given.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        connections = []
        for database in [answered(folder, reports // QUESTIONS) for reports in sizes]:
            token = json.loads(run("token", "create", "--role", "analyst", "--json", "--database", str(database)))
            connection = stack.enter_context(serving(database))
            connections.append((connection, {"Cookie": sign_in(connection, token["token"])}))
        times: dict[tuple[int, str], list[float]] = {}
        for turn in range(ROUNDS + 20):
            for reports, (connection, headers) in zip(sizes, connections, strict=True):
                for name, path in PATHS.items():
                    start = time.perf_counter()
                    get(connection, path, headers)
                    taken = time.perf_counter() - start
                    if turn >= 20:  # what is made once has been made
                        times.setdefault((reports, name), []).append(taken)
        bytes_loaded = max(weight(connection, headers) for connection, headers in connections)
    medians = {key: statistics.median(values) for key, values in times.items()}
    grid = Table(title=f"{QUESTIONS} questions, median of {ROUNDS} requests")
    for heading in ("reports", "empty, ms", "all estimates, ms", "times as long", "dashboard, ms", "times as long"):
        grid.add_column(heading, justify="right")
    ratios = {key: medians[key] / medians[key[0], "empty"] for key in medians}
    for n in sizes:
        cells = [f"{1000 * medians[n, 'empty']:.2f}"]
        for name in ("estimates", "dashboard"):
            cells += [f"{1000 * medians[n, name]:.2f}", f"{ratios[n, name]:.1f}"]
        grid.add_row(f"{n:,}", *cells)
    growth = medians[given.reports, "estimates"] / medians[10_000, "estimates"]
    page_growth = medians[1_000_000, "dashboard"] / medians[1_000, "dashboard"]
    cost = max(ratios[n, "estimates"] for n in sizes)
    console = Console()
    console.print(grid)
    console.print(f"estimates, {given.reports:,} against 10,000 reports: {growth:.2f} times as long (at most {SAME})")
    console.print(f"estimates against an empty answer: {cost:.1f} times as long (at most {EMPTY:g})")
    console.print(f"dashboard, 1,000,000 against 1,000 reports: {page_growth:.2f} times as long (at most {SAME})")
    console.print(f"dashboard and all that it loads: {bytes_loaded:,} bytes (at most {WEIGHT:,})")
    if given.json:
        results = {"growth": growth, "ratio": cost, "page_growth": page_growth, "page_bytes": bytes_loaded}
        given.json.write_text(json.dumps(results))
    sys.exit(growth > SAME or cost > EMPTY or page_growth > SAME or bytes_loaded > WEIGHT)


if __name__ == "__main__":
    main()
