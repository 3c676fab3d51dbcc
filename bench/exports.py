"""Estimates and cross-tabulations from exports of growing size: time and peak memory of both engines.

    python bench/peers.py && python bench/exports.py [--json FILE] [--plot FOLDER] [--small] [--sizes 1e6,1e7,1e8]

An export of each size is made by the same writer that ``deniable export`` uses: five questions, two segments. Its
reports are drawn here, from the published channels, for a population that is known: with numpy's generator, which is
quick and protects nobody. They were never collected. Then ``deniable estimate`` and ``deniable crosstab`` read it, each
in a process of its own:

- local: this machine, all its cores; peak memory of the process;
- Spark: a standalone cluster of one master and two workers of one core each on this machine, which runs already; the
  start and the end of the driver and its executors are in the time, since that is what somebody waits for. The peak
  memories of all processes together.

Both must print the same bytes, and the share that they estimate must be the known one within six standard errors.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import IO, Any

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from deniable_protocol import Channel, Drawn, publish, survey_from_tree, verify
from deniable_server.export import column_bits
from deniable_server.export.write import GROUP_ROWS, writing

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tests.helpers.spark import cluster, find_java

SHARES = {"rows": "vaped", "columns": "used"}
YES = 0.3
ENGINES = ("local", "spark")
COMMANDS = {
    "estimate": ["estimate"],
    "crosstab": ["crosstab", "--rows", SHARES["rows"], "--columns", SHARES["columns"]],
}
EXECUTOR = "1g"


# --- what is exported ------------------------------------------------------------------------------------------------


def survey() -> bytes:
    options = [{"code": f"o{i}", "text": "?"} for i in range(6)]
    kinds: dict[str, dict[str, Any]] = {
        "vaped": {"type": "yes_no"},
        "used": {"type": "choice", "options": options},
        "support": {"type": "multi_choice", "options": options},
        "stress": {"type": "scale", "labels": ["1", "2", "3", "4", "5"]},
        "drinks": {"type": "number", "min": 0, "max": 40},
    }
    segments = {"campus": 4, "age": 5}
    tree = {
        "id": "exports",
        "title": "Exports",
        "segments": [
            {"id": name, "text": "?", "options": [{"code": f"c{i}", "text": "?"} for i in range(n)]}
            for name, n in segments.items()
        ],
        "questions": [{"id": name, "text": "?", "epsilon": "1", **kind} for name, kind in kinds.items()],
    }
    return publish(survey_from_tree(tree))


class Law:
    """Draws reports of one channel: of each answer, by the probabilities that the channel states."""

    def __init__(self, channel: Channel) -> None:
        self.reports = np.array([*channel.reports()])
        answers = range(channel.answers)
        law = [[float(channel.probability(answer, each)) for each in channel.reports()] for answer in answers]
        # One rising row for all answers: those of answer x lie between x and x + 1.
        self.rising = (np.cumsum(law, axis=1) + np.arange(len(law))[:, None]).ravel()

    def draw(self, answers: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        found = np.searchsorted(self.rising, answers + rng.random(len(answers)), side="right")
        first = answers * len(self.reports)
        return self.reports[np.clip(found - first, 0, len(self.reports) - 1)]


def drawn(document: bytes, rows: int) -> Iterator[list[np.ndarray]]:
    """Segments, booklet and reports of so many made-up people, a group at a time. Who vapes uses other things too."""
    known = verify(document)
    channels = {part.names[0]: part.channel for part in known.parts}
    laws = {name: Law(channel) for name, channel in channels.items() if not isinstance(channel, Drawn)}
    several = channels["support"]
    assert isinstance(several, Drawn)
    bits = [Law(part) for part in several.parts]
    kinds = [np.dtype(f"i{column_bits(channel) // 8}") for channel in channels.values()]
    for start in range(0, rows, GROUP_ROWS):
        rng, n = np.random.default_rng([7, start]), min(GROUP_ROWS, rows - start)
        vaped = (rng.random(n) < YES).astype(np.int64)
        used = np.minimum(rng.geometric(np.where(vaped, 0.3, 0.6)) - 1, 5)
        part = rng.integers(len(bits), size=n)
        held = (rng.random(n) < 0.1 + 0.1 * part).astype(np.int64)
        support = np.zeros(n, dtype=np.int64)
        for number, law in enumerate(bits):
            support[part == number] = 2 * number + law.draw(held[part == number], rng)
        reports = [
            laws["vaped"].draw(vaped, rng),
            laws["used"].draw(used, rng),
            support,
            laws["stress"].draw(rng.binomial(4, 0.4, n), rng),
            laws["drinks"].draw(rng.binomial(channels["drinks"].answers - 1, 0.2, n), rng),
        ]
        segments = [rng.integers(size, size=n).astype(np.uint8) for size in (4, 5)]
        booklets = np.zeros(n, dtype=np.int16)  # of which there is one
        yield [*segments, booklets, *(column.astype(kind) for column, kind in zip(reports, kinds, strict=True))]


def make(folder: Path, rows: int, advance: Callable[[int], None]) -> dict[str, float]:
    begun, document = time.perf_counter(), survey()
    with writing(folder, document) as writer:
        for group in drawn(document, rows):
            writer.add(group)
            advance(len(group[0]))
        manifest = writer.finish("closed")
    size = sum(file.bytes for file in manifest.files)
    return {"seconds": time.perf_counter() - begun, "files": len(manifest.files), "bytes": size}


# --- what it takes ---------------------------------------------------------------------------------------------------


class Peak(threading.Thread):
    """The highest resident memory of each process below some, seen every fifth of a second: VmHWM forgets nothing."""

    def __init__(self, roots: list[int]) -> None:
        super().__init__(daemon=True)
        self._roots, self._highest, self._over = roots, dict[int, int](), threading.Event()

    def run(self) -> None:
        while not self._over.wait(0.2):
            self._look()

    def finish(self) -> dict[int, int]:
        self._over.set()
        self.join()
        return self._highest

    def _look(self) -> None:
        waiting = list(self._roots)
        while waiting:
            pid = waiting.pop()
            try:
                status = Path(f"/proc/{pid}/status").read_text()
                for task in Path(f"/proc/{pid}/task").iterdir():
                    waiting += map(int, (task / "children").read_text().split())
            except (OSError, ValueError):
                continue
            for line in status.splitlines():
                if line.startswith("VmHWM:"):
                    self._highest[pid] = 1024 * int(line.split()[1])


# A process says its own high-water mark at its end, when nobody else can see it any more.
MEASURED = """
import sys
from pathlib import Path
from deniable_server.cli import cli
try:
    cli(sys.argv[1:])
finally:
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    print(line.split()[1], file=sys.stderr)
"""


def run(command: list[str], environment: dict[str, str], others: list[int]) -> tuple[bytes, dict[str, float]]:
    """What a command prints, how long it took, and the highest memory of it and of all that worked for it."""
    begun = time.perf_counter()
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [sys.executable, "-c", MEASURED, *command, "--json"],
            stdout=output,
            stderr=errors,
            env={**os.environ, **environment},
        )
        peak = Peak([process.pid, *others])
        peak.start()
        _, status, used = os.wait4(process.pid, 0)
        seconds, highest = time.perf_counter() - begun, peak.finish()
        process.returncode = os.waitstatus_to_exitcode(status)
        printed, said = (_content(file) for file in (output, errors))
    if process.returncode:
        sys.exit(f"deniable {' '.join(command)} failed: {said.decode()}")
    highest[process.pid] = 1024 * int(said.split()[-1])
    return printed, {
        "seconds": seconds,
        "bytes": sum(highest.values()),
        "driver_seconds": used.ru_utime + used.ru_stime,
    }


def _content(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()


def measure(folder: Path, rounds: int, engines: list[str]) -> dict[str, dict[str, Any]]:
    """Both commands on these engines; the quickest of several rounds."""
    found: dict[str, dict[str, Any]] = {name: {} for name in COMMANDS}
    printed: dict[str, set[bytes]] = {name: set() for name in COMMANDS}
    for engine in engines:
        with cluster(EXECUTOR) if engine == "spark" else nullcontext() as running:
            flags = ["--from", str(folder), "--engine", engine]
            environment, others = {}, []
            if running is not None:
                flags += ["--master", running.master]
                environment, others = running.environment, running.pids
            for name, command in COMMANDS.items():
                taken = []
                for _ in range(rounds):
                    text, cost = run([*command, *flags], environment, others)
                    printed[name].add(text)
                    taken.append(cost)
                found[name][engine] = min(taken, key=lambda cost: cost["seconds"])
    for name, texts in printed.items():
        found[name]["identical"] = len(texts) == 1
    share = json.loads(next(iter(printed["estimate"])))["questions"][0]["shares"][0]
    found["estimate"]["share"] = share
    found["estimate"]["right"] = abs(share["unbiased"] - YES) < 6 * share["standard_error"]
    return found


# --- what is shown ---------------------------------------------------------------------------------------------------


def show(console: Console, results: dict[str, Any]) -> None:
    grid = Table(title="From exports of reports that were drawn here, not collected: five questions, two segments")
    for heading in ("submissions", "files", "MB", "what", "local", "memory", "Spark", "memory", "identical"):
        grid.add_column(heading, justify="right")
    for rows, found in results["sizes"].items():
        made = found["made"]
        for name in COMMANDS:
            costs = [found[name].get(engine) for engine in ENGINES]
            cells = ["" if cost is None else f"{cost['seconds']:.1f} s" for cost in costs]
            memory = ["" if cost is None else f"{cost['bytes'] / 1e6:,.0f} MB" for cost in costs]
            same = "yes" if found[name]["identical"] else "NO"
            start = (f"{int(rows):,}", str(made["files"]), f"{made['bytes'] / 1e6:,.0f}", name)
            grid.add_row(*start, cells[0], memory[0], cells[1], memory[1], same)
    console.print(grid)
    console.print(f"Spark: {results['spark']}, with the start and end of a session in the time.")


def plot(results: dict[str, Any], folder: Path) -> None:
    """Time and memory against size, as exports.svg and exports.png."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    with plt.rc_context({"svg.hashsalt": "deniable", "svg.fonttype": "none", "font.size": 10}):
        figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
        sizes = [int(rows) for rows in results["sizes"]]
        for engine, colour in (("local", "#0b6e99"), ("spark", "#e0a458")):
            for name, line in (("estimate", "o-"), ("crosstab", "s--")):
                each = [found[name][engine] for found in results["sizes"].values()]
                label = f"{'Spark' if engine == 'spark' else engine}, {name}"
                left.plot(sizes, [cost["seconds"] for cost in each], line, color=colour, label=label)
                right.plot(sizes, [cost["bytes"] / 1e6 for cost in each], line, color=colour, label=label)
        left.set(xscale="log", yscale="log", xlabel="submissions", ylabel="seconds, start included")
        right.set(xscale="log", xlabel="submissions", ylabel="peak memory, MB", ylim=(0, None))
        left.set_yticks(marks := [1, 2, 5, 10, 20, 50, 100], [str(mark) for mark in marks])
        left.minorticks_off()
        left.legend(frameon=False, fontsize=9)
        for axes in (left, right):
            axes.spines[["top", "right"]].set_visible(False)
        figure.savefig(folder / "exports.svg", metadata={"Date": None, "Creator": None})
        figure.savefig(folder / "exports.png", dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--plot", type=Path, help="also draw exports.svg and exports.png into this folder")
    parser.add_argument("--small", action="store_true", help="only to see that it runs: the figures mean nothing")
    parser.add_argument("--engine", choices=ENGINES, help="only this one")
    parser.add_argument("--sizes", default="1e6,1e7,1e8", help="numbers of submissions")
    parser.add_argument(
        "--rounds", type=int, default=3, help="the quickest of so many counts, but for the largest size"
    )
    given = parser.parse_args()
    engines = [given.engine] if given.engine else [*ENGINES]
    if "spark" in engines and not find_java():
        sys.exit("Spark needs Java; install it, or set JAVA_HOME")
    sizes = [20_000] if given.small else [int(float(size)) for size in given.sizes.split(",")]
    console = Console(width=None if sys.stdout.isatty() else 110)
    results: dict[str, Any] = {
        "drawn": "with numpy from the published channels, not collected",
        "spark": f"a standalone cluster, one master, two workers of one core and {EXECUTOR} each, on one machine",
        "cores": len(os.sched_getaffinity(0)),
        "sizes": {},
    }
    with tempfile.TemporaryDirectory() as folder:
        for rows in sizes:
            target = Path(folder) / str(rows)
            with Progress(console=console, transient=True) as progress:
                task = progress.add_task(f"drawing {rows:,}", total=rows)
                made = make(target, rows, lambda done, task=task, bar=progress: bar.advance(task, done))
            rounds = 1 if given.small or rows >= 10**8 else given.rounds
            results["sizes"][str(rows)] = {"made": made, **measure(target, rounds, engines)}
            shutil.rmtree(target)
            if given.json:
                given.json.write_text(json.dumps(results, indent=1))
    show(console, results)
    if given.plot:
        plot(results, given.plot)
    sys.exit(
        not all(
            found["estimate"]["right"] and all(found[name]["identical"] for name in COMMANDS)
            for found in results["sizes"].values()
        )
    )


if __name__ == "__main__":
    main()
