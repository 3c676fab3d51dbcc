"""What estimating costs: the same for ten thousand reports as for ten million, and little more than an empty answer.

    python bench/estimating.py [--reports 10000000] [--keep FOLDER] [--json FILE]

A survey of 20 questions of every type, answered by simulated respondents (``deniable simulate --direct``): 500 of them
for ten thousand reports, 500,000 for ten million. Both databases are served by real server processes, and requests for
all estimates are timed in turn with requests for /healthz, which does nothing, on kept connections. Marks: at most 1.5
times as long for the larger one, at most 15 times as long as the empty one.
"""

from __future__ import annotations

import argparse
import http.client
import json
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
SAME, EMPTY = 1.5, 15.0


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


def timed(connection: http.client.HTTPConnection, path: str, headers: dict[str, str]) -> float:
    start = time.perf_counter()
    connection.request("GET", path, headers=headers)
    response = connection.getresponse()
    response.read()
    taken = time.perf_counter() - start
    assert response.status == 200, response.status
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reports", type=int, default=10_000_000)
    parser.add_argument("--keep", type=Path, help="keep the databases here for the next run")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    with ExitStack() as stack:
        folder = given.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        sizes = [10_000, given.reports]
        connections = []
        for reports in sizes:
            database = answered(folder, reports // QUESTIONS)
            token = json.loads(run("token", "create", "--role", "analyst", "--json", "--database", str(database)))
            connection = stack.enter_context(serving(database))
            connections.append((connection, {"Authorization": f"Bearer {token['token']}"}))
        path, times = "/api/v1/surveys/bench/estimates", {}
        for turn in range(ROUNDS + 20):
            for reports, (connection, headers) in zip(sizes, connections, strict=True):
                for name, target in (("empty", "/healthz"), ("estimates", path)):
                    taken = timed(connection, target, headers)
                    if turn >= 20:  # what is made once has been made
                        times.setdefault((reports, name), []).append(taken)
    medians = {key: statistics.median(values) for key, values in times.items()}
    grid = Table(title=f"{QUESTIONS} questions, median of {ROUNDS} requests")
    for heading in ("reports", "empty, ms", "all estimates, ms", "ratio"):
        grid.add_column(heading, justify="right")
    ratios = [medians[reports, "estimates"] / medians[reports, "empty"] for reports in sizes]
    for reports, ratio in zip(sizes, ratios, strict=True):
        cells = (1000 * medians[reports, name] for name in ("empty", "estimates"))
        grid.add_row(f"{reports:,}", *(f"{cell:.2f}" for cell in cells), f"{ratio:.1f}")
    growth = medians[sizes[1], "estimates"] / medians[sizes[0], "estimates"]
    console = Console()
    console.print(grid)
    console.print(f"{sizes[1]:,} against {sizes[0]:,} reports: {growth:.2f} times as long (at most {SAME})")
    console.print(f"estimates against an empty answer: {max(ratios):.1f} times as long (at most {EMPTY:g})")
    if given.json:
        given.json.write_text(json.dumps({"growth": growth, "ratios": ratios}))
    sys.exit(growth > SAME or max(ratios) > EMPTY)


if __name__ == "__main__":
    main()
