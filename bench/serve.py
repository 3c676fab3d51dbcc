"""How many submissions a server takes, against what it could take at most.

    python bench/peers.py && python bench/serve.py [--json FILE] [--plot FOLDER] [--small] [--minutes 25]

Everything is a ratio of two figures of one run, taken in turn, five rounds:

- durable single submissions (five questions, each on disk before it is answered) against an empty Flask endpoint on
  granian's own WSGI interface: at most 0.7 of its processor time, and at least 1.5 times its rate; for comparison, both
  by the ordinary route on gunicorn and waitress;
- the limits of this machine: granian's RSGI interface with an endpoint that does nothing, and SQLite by itself with as
  many rows in a commit as a round of the server has;
- batches of 1,000 submissions over HTTP against ``sqlite3.executemany`` of the same rows into the same kind of table,
  with the same durability, in this process: at least 0.6;
- how long single submissions take when half as many come as can be taken;
- resident memory over a million submissions: grows by less than 5% after the first tenth;
- 5,000 idle connections, while others are answered.

Estimates from ten million against ten thousand reports are in ``bench/estimating.py``.
"""

from __future__ import annotations

import argparse
import itertools
import json
import resource
import sqlite3
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from load import Load, post
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from served import COLLECTOR, DENIABLE, PATH, PYTHON, THREADS, batch, let_collect, published, serving, submissions

from deniable_protocol import verify
from deniable_server.storage import Row, open_storage
from deniable_server.web.submission_reader import SubmissionReader

CONNECTIONS = 32
TIME, RATE, BATCH, GROWTH = 0.7, 1.5, 0.6, 0.05
IDLE = 5_000
BEFORE = 285.0
"""Processor microseconds of a submission when each had a thread (commit ce83189), measured on the same machine and day
as the figures in docs/evidence/performance.md."""
TURN = 4
"""Batches that are sent one after the other before it is another's turn."""

GRANIAN = [*PYTHON, "granian", "--no-ws", "--port", "{port}", "--interface"]
GUNICORN = [*PYTHON, "gunicorn", "--threads", str(THREADS), "--keep-alive", "60", "--bind", "127.0.0.1:{port}"]
WAITRESS = [*PYTHON, "waitress", f"--threads={THREADS}", "--listen=127.0.0.1:{port}"]
SERVERS: dict[str, dict[str, list[str]]] = {
    "granian": {
        "durable": DENIABLE,
        "empty": [*GRANIAN, "wsgi", "empty:app"],
        "raw": [*GRANIAN, "rsgi", "--loop", "uvloop", "empty:raw"],
    },
    "gunicorn": {
        "durable": [*GUNICORN, "deniable_server:create_app()"],
        "empty": [*GUNICORN, "empty:app"],
    },
    "waitress": {
        "durable": [*WAITRESS, "--call", "deniable_server:create_app"],
        "empty": [*WAITRESS, "empty:app"],
    },
}


# --- what is measured ------------------------------------------------------------------------------------------------


class Bench:
    """One run: its sizes, its folder, and what it sends."""

    def __init__(self, folder: Path, small: bool) -> None:
        self.folder = folder
        self.rounds, self.seconds = (1, 0.4) if small else (5, 3.0)
        self.clients = (1, 16) if small else (1, 2, 4, 8, 16, 32, 64, 128)
        self.batches, self.memory_over = (4, 4_000) if small else (40, 1_000_000)
        self.document = published()
        self.bodies = submissions(self.document)
        self.requests = (post(PATH, body) for body in self.bodies)

    def database(self, name: str) -> Path:
        (self.folder / name).mkdir()
        path = self.folder / name / "a.db"
        storage = open_storage(str(path))
        storage.publish(self.document)
        let_collect(storage)
        storage.close()
        return path

    def singles(self, server: str) -> dict[str, Any]:
        """Rates and processor time per request of everything this server can serve, and latencies at half load."""
        rates: dict[str, list[float]] = {}
        cpu: dict[str, list[float]] = {}
        for _ in range(self.rounds):
            for what, command in SERVERS[server].items():
                path = self.database(f"{server}-{what}-{len(rates.get(what, []))}")
                with serving(command, path) as served, Load(served.port, CONNECTIONS) as load:
                    load.as_much_as_it_takes(self.requests, self.seconds / 4)
                    before = served.cpu()
                    answered = load.as_much_as_it_takes(self.requests, self.seconds)
                    cpu.setdefault(what, []).append((served.cpu() - before) / answered.requests)
                    rates.setdefault(what, []).append(answered.rate)

        def ratios(values: dict[str, list[float]]) -> list[float]:
            return sorted(ours / empty for ours, empty in zip(values["durable"], values["empty"], strict=True))

        found: dict[str, Any] = {
            "rates": {what: statistics.median(values) for what, values in rates.items()},
            "cpu_microseconds": {what: 1e6 * statistics.median(values) for what, values in cpu.items()},
            "ratios": ratios(rates),
            "cpu_ratios": ratios(cpu),
        }
        found["ratio"], found["cpu_ratio"] = map(statistics.median, (found["ratios"], found["cpu_ratios"]))
        half = found["rates"]["durable"] / 2
        path = self.database(f"{server}-half")
        with serving(SERVERS[server]["durable"], path) as served, Load(served.port, 2 * CONNECTIONS) as load:
            load.at_a_rate(self.requests, self.seconds / 4, half)
            answered = load.at_a_rate(self.requests, 4 * self.seconds, half)
        shares = {"50%": 0.5, "90%": 0.9, "99%": 0.99, "99.9%": 0.999}
        found["half_load"] = {
            "rate": half,
            "milliseconds": {name: 1000 * answered.percentile(share) for name, share in shares.items()},
        }
        return found

    def by_connections(self) -> dict[int, dict[str, float]]:
        """Rates on granian for more and more clients at a time."""
        found: dict[int, dict[str, float]] = {}
        for what in ("durable", "empty"):
            with serving(SERVERS["granian"][what], self.database(f"clients-{what}")) as served:
                for connections in self.clients:
                    with Load(served.port, connections) as load:
                        load.as_much_as_it_takes(self.requests, self.seconds / 4)
                        rate = load.as_much_as_it_takes(self.requests, self.seconds).rate
                        found.setdefault(connections, {})[what] = rate
        return found

    def batched(self) -> dict[str, Any]:
        """Submissions per second in batches of 1,000, from one sender and from two, and rows per second by executemany,
        in turn. With two senders one batch is read while another is written.
        """
        paths = {senders: self.database(f"batches-{senders}") for senders in (1, 2)}
        intake = SubmissionReader(verify(self.document))
        raw = self._raw_database("batches")
        rates: dict[str, list[float]] = {}
        with ExitStack() as stack:
            loads = {}
            for senders, path in paths.items():
                served = stack.enter_context(serving(SERVERS["granian"]["durable"], path))
                loads[senders] = stack.enter_context(Load(served.port, senders))
            for _ in range(self.batches // TURN):
                bodies = [batch(self.bodies) for _ in range(TURN)]
                for senders, load in loads.items():
                    answered = load.all_of([post(PATH, body, COLLECTOR) for body in bodies])
                    rates.setdefault(f"{senders}", []).append(1_000 * TURN / answered.seconds)
                many = [intake.read(body).rows for body in bodies]
                rates.setdefault("executemany", []).append(1_000 * TURN / sum(self._raw(raw, rows) for rows in many))
        raw.close()

        def ratio(senders: str) -> float:
            pairs = zip(rates[senders], rates["executemany"], strict=True)
            return statistics.median(mine / other for mine, other in pairs)

        return {
            "rate": statistics.median(rates["2"]),
            "executemany": statistics.median(rates["executemany"]),
            "ratio": ratio("2"),
            "ratio_of_one_sender": ratio("1"),
        }

    def _raw_database(self, name: str) -> sqlite3.Connection:
        """A table like ours and nothing else, with the same durability."""
        raw = sqlite3.connect(self.folder / f"raw-{name}.db", isolation_level=None)
        raw.execute("PRAGMA journal_mode=WAL")
        raw.execute("PRAGMA synchronous=FULL")
        raw.execute(
            "CREATE TABLE sealed (survey INTEGER NOT NULL, id BLOB NOT NULL, content TEXT NOT NULL,"
            " PRIMARY KEY (survey, id)) WITHOUT ROWID"
        )
        return raw

    @staticmethod
    def _raw(raw: sqlite3.Connection, rows: list[Row]) -> float:
        begun = time.perf_counter()
        raw.execute("BEGIN IMMEDIATE")
        raw.executemany("INSERT INTO sealed VALUES (1, ?, ?)", rows)
        raw.execute("COMMIT")
        return time.perf_counter() - begun

    def idle(self) -> dict[str, Any]:
        """Median milliseconds of a submission while so many connections are open and silent, and without them."""
        number = 200 if self.rounds == 1 else IDLE
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, number + 500)), hard))
        found: dict[str, Any] = {}
        with serving(SERVERS["granian"]["durable"], self.database("idle")) as served, Load(served.port, 8) as load:
            for name in ("without", "with"):
                with Load(served.port, 0 if name == "without" else number):
                    load.as_much_as_it_takes(self.requests, self.seconds / 4)
                    found[name] = 1000 * load.as_much_as_it_takes(self.requests, self.seconds).percentile(0.5)
        return {"connections": number, **found}

    def group_commit(self) -> float:
        """Rows per second that SQLite takes by itself, 16 to a durable commit."""
        intake = SubmissionReader(verify(self.document))
        rows = [intake.read(body).rows[0] for body in itertools.islice(self.bodies, 400 if self.rounds == 1 else 8_000)]
        raw = self._raw_database("commits")
        seconds = sum(self._raw(raw, rows[start : start + 16]) for start in range(0, len(rows), 16))
        raw.close()
        return len(rows) / seconds

    def memory(self) -> dict[str, Any]:
        """Resident memory after each tenth of the submissions."""
        seen = []
        path = self.database("memory")
        with serving(SERVERS["granian"]["durable"], path) as served, Load(served.port, CONNECTIONS) as load:
            sent = 0
            for tenth in range(1, 11):
                while sent < tenth * self.memory_over // 10:
                    sent += load.as_much_as_it_takes(self.requests, 0.2).requests
                seen.append(served.memory())
        return {"submissions": sent, "bytes": seen, "growth": seen[-1] / seen[0] - 1}

    def stages(self) -> dict[str, float]:
        """Processor microseconds of the stages of a submission that can be run by themselves, in this process."""
        storage = open_storage(str(self.database("stages")))
        survey = storage.find("bench")
        assert survey is not None
        intake = SubmissionReader(survey.document)
        bodies = list(itertools.islice(self.bodies, 4_000))
        begun = time.process_time()
        rows = [intake.read(body).rows[0] for body in bodies]
        read = time.process_time() - begun
        begun = time.process_time()
        for start in range(0, len(rows), 16):
            storage.accept(survey, rows[start : start + 16])
        stored = time.process_time() - begun
        storage.close()
        return {"reading": 1e6 * read / len(rows), "storing": 1e6 * stored / len(rows)}


# --- what is shown ---------------------------------------------------------------------------------------------------


def show(console: Console, results: dict[str, Any]) -> None:
    grid = Table(title=f"Single submissions, {CONNECTIONS} clients, one process")
    headings = ("server", "durable /s", "empty Flask /s", "ratio", "durable µs", "empty µs", "ratio")
    for heading in (*headings, "half load: 50%", "99%", "99.9%"):
        grid.add_column(heading, justify="right")
    for server, found in results.items():
        if server in SERVERS:
            times, cells = found["half_load"]["milliseconds"], []
            for figures, ratio in ((found["rates"], "ratio"), (found["cpu_microseconds"], "cpu_ratio")):
                cells += [f"{figures[what]:,.0f}" for what in ("durable", "empty")] + [f"{found[ratio]:.2f}"]
            grid.add_row(server, *cells, *(f"{times[share]:.1f} ms" for share in ("50%", "99%", "99.9%")))
    console.print(grid)
    if "granian" in results and "group_commit" in results:
        raw, rates = results["granian"]["rates"]["raw"], results["granian"]["rates"]
        console.print(
            f"limits: {raw:,.0f} empty requests a second on granian's RSGI interface, of which durable submissions are "
            f"{rates['durable'] / raw:.2f}; {results['group_commit']:,.0f} rows a second by SQLite, 16 to a commit"
        )
    if "idle" in results:
        idle = results["idle"]
        console.print(
            f"{idle['connections']:,} idle connections: a submission takes {idle['with']:.1f} ms, "
            f"{idle['without']:.1f} ms without them"
        )
    if "batches" in results:
        batches = results["batches"]
        console.print(
            f"batches of 1,000: {batches['rate']:,.0f} submissions a second, executemany {batches['executemany']:,.0f}"
            f" rows: ratio {batches['ratio']:.2f} (at least {BATCH}); from one sender "
            f"{batches['ratio_of_one_sender']:.2f}"
        )
    if "memory" in results:
        memory = results["memory"]
        first, last = memory["bytes"][0] / 1e6, memory["bytes"][-1] / 1e6
        console.print(
            f"memory over {memory['submissions']:,} submissions: {first:.1f} MB after a tenth, {last:.1f} MB at the end"
            f" ({memory['growth']:+.1%}; less than {GROWTH:.0%})"
        )


def plot(results: dict[str, Any], folder: Path) -> None:
    """Rates against clients, and where the processor's time goes, as serving.svg and serving.png."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    with plt.rc_context({"svg.hashsalt": "deniable", "svg.fonttype": "none", "font.size": 10}):
        figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained", width_ratios=[3, 4])
        clients = {int(number): rates for number, rates in results["clients"].items()}
        for what, name, colour in (("empty", "empty Flask endpoint", "#8a8f98"), ("durable", "durable", "#0b6e99")):
            left.plot(list(clients), [rates[what] for rates in clients.values()], "o-", color=colour, label=name)
        left.set(xscale="log", xlabel="clients at a time", ylabel="requests per second", ylim=(0, None))
        left.set_xticks(list(clients), [str(number) for number in clients])
        left.minorticks_off()
        left.legend(frameon=False)
        cpu, stages = results["granian"]["cpu_microseconds"], results["stages"]
        rest = max(0.0, cpu["durable"] - cpu["raw"] - stages["reading"] - stages["storing"])
        bars: dict[str, list[tuple[str, float, str]]] = {
            "a thread for each\nsubmission, before": [("all of it, before", BEFORE, "#dfe3e8")],
            "empty Flask\nendpoint": [("granian's WSGI interface and Flask", cpu["empty"], "#8a8f98")],
            "durable\nsubmission": [
                ("granian's RSGI interface", cpu["raw"], "#c3c8cf"),
                ("reading and checking", stages["reading"], "#e0a458"),
                ("SQLite, 16 to a commit", stages["storing"], "#4d9cc0"),
                ("headers, counters, waking, smaller commits", rest, "#9cc5d8"),
            ],
        }
        named = set()
        for row, parts in enumerate(reversed(bars.values())):
            start = 0.0
            for name, value, colour in parts:
                label = None if name in named else name
                right.barh(row, value, left=start, color=colour, height=0.5, label=label)
                if value > 20:
                    right.text(start + value / 2, row, f"{value:.0f}", ha="center", va="center", fontsize=9)
                named.add(name)
                start += value
        right.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, fontsize=8)
        right.set_yticks(range(len(bars)), list(reversed(bars)))
        right.set(xlabel="processor microseconds per request", ylim=(-0.5, 2.5))
        for axes in (left, right):
            axes.spines[["top", "right"]].set_visible(False)
        figure.savefig(folder / "serving.svg", metadata={"Date": None, "Creator": None})
        figure.savefig(folder / "serving.png", dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--plot", type=Path, help="also draw serving.svg and serving.png into this folder")
    parser.add_argument("--small", action="store_true", help="only to see that it runs: the figures mean nothing")
    parser.add_argument("--minutes", type=float, default=25, help="what has not begun by then is left out, and fails")
    given = parser.parse_args()
    ends = time.monotonic() + 60 * given.minutes
    console, results = Console(), {}
    with tempfile.TemporaryDirectory() as folder, Progress(console=console) as progress:
        bench = Bench(Path(folder), given.small)
        there = [name for name in SERVERS if find_spec(name)]
        parts: dict[str, Any] = {name: lambda name=name: bench.singles(name) for name in there}
        parts |= {"batches": bench.batched, "memory": bench.memory, "stages": bench.stages}
        parts |= {"clients": bench.by_connections, "group_commit": bench.group_commit, "idle": bench.idle}
        for name in progress.track(parts, description="measuring"):
            if time.monotonic() < ends:
                results[name] = parts[name]()
    show(console, results)
    for missing in set(SERVERS) - set(there):
        console.print(f"{missing} is not installed: python bench/peers.py")
    if given.json:
        given.json.write_text(json.dumps(results, indent=1))
    if given.plot:
        plot(results, given.plot)
    if unfinished := set(parts) - set(results):
        sys.exit(f"Out of time: {', '.join(sorted(unfinished))} not measured")
    sys.exit(
        results["granian"]["cpu_ratio"] > TIME
        or results["granian"]["ratio"] < RATE
        or results["batches"]["ratio"] < BATCH
        or results["memory"]["growth"] >= GROWTH
    )


if __name__ == "__main__":
    main()
