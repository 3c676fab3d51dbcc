"""All proofs at full size: ``make proof``, or  python -m proofs [NAME ...] [--json FILE] [--seed N] [--small].

Prints a table, and writes what was counted as JSON. Exits with 1 if a proof failed or did not finish in time.
"""

from __future__ import annotations

import argparse
import importlib
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from . import Outcome, Watch


class Part(NamedTuple):
    """A proof: the module that has it, its sizes, and how many minutes it may take at full size."""

    module: str
    full: dict[str, Any]
    small: dict[str, Any]
    minutes: float


PARTS: dict[str, Part] = {
    "faults": Part("faults", {"sample": None}, {"sample": 16}, minutes=60),
    "disk": Part("disk", {"faults": None}, {"faults": 8}, minutes=60),
    "conditions": Part("conditions", {"rounds": 10}, {"rounds": 1}, minutes=20),
    "power": Part(
        "power",
        {"cuts": 2_000, "singles": 1_800, "batches": 6},
        {"cuts": 100, "singles": 60, "batches": 3},
        minutes=20,
    ),
    "audit": Part("audit", {"draws": 10_000_000, "power": 0.9}, {"draws": 20_000, "power": 0.0}, minutes=90),
    "respondents": Part(
        "respondents", {"browsers": 400, "clients": 10_000}, {"browsers": 8, "clients": 200}, minutes=40
    ),
    "attack": Part(
        "attack",
        {"honest": 20_000, "epsilons": ("0.25", "0.5", "1", "2", "4"), "campaigns": 30},
        {"honest": 1_500, "epsilons": ("1",), "campaigns": 3},
        minutes=60,
    ),
    "crash": Part(
        "crash",
        {"acknowledgements": 100_000, "kills": 200},
        {"acknowledgements": 5_000, "kills": 10},
        minutes=40,
    ),
    "storms": Part(
        "storms",
        {"submissions": 20_000, "instants": 500, "closings": 20},
        {"submissions": 1_000, "instants": 20, "closings": 2},
        minutes=30,
    ),
    "servers": Part(
        "servers",
        {"acknowledgements": 100_000, "kills": 100},
        {"acknowledgements": 3_000, "kills": 5},
        minutes=40,
    ),
    "linking": Part("linking", {"invitations": 1_000}, {"invitations": 100}, minutes=30),
    "entitled": Part(
        "entitled",
        {"sqlite": (100_000, 200), "postgresql": (50_000, 100)},
        {"sqlite": (300, 4), "postgresql": (200, 3)},
        minutes=150,
    ),
    "away": Part("away", {"outages": 60, "acknowledgements": 50_000}, {"outages": 4}, minutes=30),
    "hostile": Part(
        "hostile_input",
        {"requests": 130_000, "warm_up": 30_000, "connections": 500},
        {"requests": 1_500, "warm_up": 700, "connections": 300, "threads": 2, "more_rounds": 4},
        minutes=90,
    ),
    "readers": Part(
        "readers",
        {"rounds": 12, "turn": 5.0},
        {"rounds": 2, "turn": 0.5, "codes": (5, 4, 4), "questions": 4, "slower": None},
        minutes=20,
    ),
    "slow": Part("slow_clients", {"senders": 400, "seconds": 300}, {"senders": 200, "seconds": 150}, minutes=10),
    "fuzz": Part(
        "fuzz",
        {"documents": 20_000, "survey_files": 20_000},
        {"documents": 400, "survey_files": 400},
        minutes=30,
    ),
    "examples": Part("examples", {"rounds": 12}, {"rounds": 2, "tests": ["tests/protocol/test_exact.py"]}, minutes=120),
}


def run(part: Part, sizes: dict[str, Any], seed: int, show: Any) -> tuple[Outcome, float]:
    """The outcome and the seconds it took; a proof that breaks has failed, too."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="deniable-proof-") as folder:
        try:
            prove = importlib.import_module(f"proofs.{part.module}").prove
            outcome: Outcome = prove(Path(folder), Watch(60 * part.minutes, show), seed, **sizes)
        except Exception as error:
            outcome = Outcome({}, [f"broke off: {type(error).__qualname__}: {error}"])
    return outcome, time.monotonic() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[[], *PARTS], help=f"which: {', '.join(PARTS)}; all if none")
    parser.add_argument("--small", action="store_true", help="at the size of the tests")
    parser.add_argument("--seed", type=int, help="repeat a run; printed with each")
    parser.add_argument("--json", type=Path, default=Path("proof.json"))
    given = parser.parse_args()
    seed = given.seed if given.seed is not None else random.SystemRandom().randrange(2**32)
    console, results = Console(), {}
    grid = Table(title=f"Proofs at {'small' if given.small else 'full'} size, seed {seed}", show_lines=True)
    for heading in ("proof", "seconds", "counted", "did not hold"):
        grid.add_column(heading)
    columns = (TextColumn("{task.description:10}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        for name in given.names or PARTS:
            part = PARTS[name]
            task = progress.add_task(name, total=None)

            def show(done: int, of: int, task: Any = task) -> None:
                progress.update(task, completed=done, total=of)

            outcome, seconds = run(part, part.small if given.small else part.full, seed, show)
            results[name] = {"seconds": round(seconds, 1), "holds": not outcome.failures} | msgspec.to_builtins(outcome)
            # After each, so that a run that is stopped leaves what it has found.
            given.json.write_bytes(msgspec.json.format(msgspec.json.encode({"seed": seed, "proofs": results})))
            counted = "\n".join(
                f"{what}: {value:,}" if isinstance(value, int) else f"{what}: {value}"
                for what, value in outcome.figures.items()
            )
            grid.add_row(name, f"{seconds:.0f}", counted, "\n".join(outcome.failures[:20]) or "–")
    console.print(grid)
    console.print(f"All of it is in {given.json}.")
    sys.exit(not all(result["holds"] for result in results.values()))


if __name__ == "__main__":
    main()
