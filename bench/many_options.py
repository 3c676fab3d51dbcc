"""How much nearer smoothed shares are than estimates, for questions with 11 and more options.

    python bench/many_options.py [--json FILE]

Exits with 1 if on any of these distributions they are more than 2% further from the truth. The shares, in thousandths,
are from public data; after them come made-up ones in which one option dominates or all are equal. Reports are drawn
exactly, for the people themselves, as in accuracy.py.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from oracles import Subsets
from rich.console import Console
from rich.progress import track
from rich.table import Table

from deniable_protocol.design import subset
from deniable_server.estimator.intervals import Aim, central_share, support
from deniable_server.estimator.shares import project, smoothed

# fmt: off
SHARES = {
    "state (TV16)": [93, 77, 69, 67, 55, 42, 41, 33, 32, 31, 31, 28, 23, 22, 22, 22, 21, 20, 19, 19, 17, 16, 16, 14, 13,
                     12, 11, 11, 11, 11, 10, 8, 8, 8, 7, 6, 6, 6, 6, 5, 5, 4, 3, 3, 3, 3, 3, 2, 2, 2, 2],
    "income (ANES 1996)": [109, 106, 74, 72, 72, 66, 56, 54, 51, 50, 41, 37, 28, 24, 20, 20, 19, 18, 18, 16, 14, 13, 12,
                           11],
    "doctor visits (RAND)": [312, 189, 139, 93, 67, 48, 34, 26, 20, 14, 10, 9, 6, 5, 4, 3, 3, 2, 2, 13],
    "wages (GSS)": [158, 147, 153, 132, 114, 82, 66, 39, 24, 22, 10, 9, 4, 5, 2, 1, 3, 1, 3, 24],
    "schooling (CPS 1988)": [375, 138, 105, 83, 73, 41, 38, 36, 29, 24, 23, 12, 7, 4, 4, 3, 3, 2, 1],
    "age (TV16)": [69, 106, 126, 92, 89, 104, 130, 120, 81, 50, 25, 7, 1],
    "affairs (Fair 1978)": [752, 123, 45, 30, 2, 26, 0, 6, 8, 0, 0, 8],
    "occupation (GSS)": [190, 169, 160, 113, 104, 95, 55, 53, 33, 18, 9],
    "one dominates": [700, *[20] * 15],
    "equal": [40] * 25,
}
# fmt: on
EPSILONS, SIZES, TIMES, WORSE = ("0.5", "1", "2"), (1_000, 10_000), 300, 1.02


class Row(NamedTuple):
    """Root mean square errors of all options together, in points."""

    shares: str
    options: int
    epsilon: float
    n: int
    estimate: float
    smoothed: float

    @property
    def ratio(self) -> float:
        return self.smoothed / self.estimate


def measure(name: str, epsilon: str, n: int) -> Row:
    weights = np.array(SHARES[name])
    k, channel, aim = len(weights), subset(len(weights), Fraction(epsilon)), Aim()
    rule = support(channel)
    people = np.random.default_rng(1).multinomial(n, weights / weights.sum())
    draws = Subsets(k, channel.size, rule.p).draw(people, TIMES, np.random.default_rng(2))
    errors = np.zeros(2)
    for unbiased in draws:
        raw = [central_share(rule, n * (rule.q + rule.gap * share), n, aim) for share in unbiased.tolist()]
        plain = project(unbiased.tolist())
        drawn = smoothed(unbiased.tolist(), [each.standard_error or 0.0 for each in raw]) or plain
        errors += [np.mean((np.array(shares) - people / n) ** 2) for shares in (plain, drawn)]
    return Row(name, k, float(epsilon), n, *(100 * np.sqrt(errors / TIMES)).tolist())


def table(rows: Sequence[Row]) -> Table:
    grid = Table(title="RMSE in points: estimate → smoothed (ratio)")
    grid.add_column("shares", no_wrap=True)
    settings = [*product(map(float, EPSILONS), SIZES)]
    for epsilon, n in settings:
        grid.add_column(f"ε = {epsilon:g}\nn = {n:,}", justify="right", no_wrap=True)
    for name in dict.fromkeys(row.shares for row in rows):
        found = {(row.epsilon, row.n): row for row in rows if row.shares == name}
        cells = (
            f"{row.estimate:.2f} → {row.smoothed:.2f} ({row.ratio:.2f})" for row in map(found.get, settings) if row
        )
        grid.add_row(f"{name}, {len(SHARES[name])}", *cells)
    return grid


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--json", type=Path, help="also write the figures to this file")
    options, console = arguments.parse_args(), Console(width=170)
    todo = [*product(SHARES, EPSILONS, SIZES)]
    rows = [measure(*each) for each in track(todo, "Drawing", console=console, transient=True)]
    console.print(table(rows))
    if options.json:
        options.json.write_text(json.dumps([row._asdict() for row in rows], indent=1) + "\n")
    worse = [row for row in rows if row.ratio > WORSE]
    for row in worse:
        console.print(f"further: {row}")
    sys.exit(bool(worse))


if __name__ == "__main__":
    main()
