"""How often 95% intervals of every kind contain the truth, in surveys of real people.

    python bench/peers.py && python bench/real_coverage.py [--repetitions 2000] [--jobs 1] [--only TEXT] [--json FILE]

The people are those of six public data sets (real_data.py). In each repetition some of them, drawn with replacement
(groups respond with different eagerness), answer a survey in one of the two designs. Their reports are randomised
(real_sampling.py), and the server's own analysis estimates from the counts: shares, means, summaries, conditional
shares, differences, cells, weighted numbers and regression coefficients. The truth is that of all people; of weighted
numbers, as if all groups were equally eager. Anytime intervals are read five times, and must be right each time.

A coverage from 2,000 repetitions has a Monte-Carlo error of 0.005, and among hundreds of them some fall below 0.945 by
chance. So the lowest number of each kind, those significantly below 0.945, and each kind that is below 0.945 in some
setting as a whole are measured again, with five times as many fresh repetitions. Exits with 1 if they are below again.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from real_data import STUDIES, Study
from real_numbers import ASKS, Number, Truth, ask_anytime
from real_sampling import Population, publish
from rich.console import Console
from rich.table import Table

LEVEL, LEAST = 0.95, 0.945
REPETITIONS, AGAIN = 2_000, 5
SUSPECT = -2.0
"""A number with a coverage this many standard errors below 0.945 is measured again."""
SELDOM = 0.5
"""Numbers that fewer surveys show are left out: of small groups that are merged only where chance made them smaller."""


class Setting(NamedTuple):
    """A study in one of the designs, at an epsilon (of the survey, or of each question), with so many respondents.

    With more looks than one, results are read as often while it grows, and intervals are the anytime ones.
    """

    study: str
    design: str
    epsilon: str
    n: int
    looks: int = 1

    @property
    def name(self) -> str:
        looks = f" {self.looks} looks" if self.looks > 1 else ""
        return f"{self.study} {self.design} {self.epsilon} {self.n}{looks}"


def _settings() -> Iterator[Setting]:
    grid = {
        "fair": (("1", 5_000), ("4", 300)),
        "chile": (("2", 2_000), ("4", 400)),
        "yrbss": (("1", 3_000), ("2", 1_000)),
        "doctor": (("2", 1_000), ("8", 500)),
        "gss": (("1", 2_000), ("4", 500)),
        "nesarc": (("1", 3_000), ("6", 400)),
    }
    alone = {
        "fair": (("1", 2_000), ("8", 500)),
        "chile": (("1", 1_000), ("4", 300)),
        "yrbss": (("2", 300),),
        "doctor": (("1", 500), ("6", 1_000)),
        "gss": (("2", 1_000),),
        "nesarc": (("1", 3_000), ("8", 200)),
    }
    for design, cases in (("booklets", grid), ("textbook", alone)):
        yield from (Setting(study, design, *case) for study, each in cases.items() for case in each)
    yield Setting("doctor", "booklets", "2", 3_000, looks=5)
    yield Setting("nesarc", "textbook", "4", 1_000, looks=5)


SETTINGS = [*_settings()]


class Row(NamedTuple):
    """How one number was estimated over all repetitions of a setting.

    ``shown``: in how many there was a number at all. ``bias``: of the value that is shown; ``bias_z``: over its
    Monte-Carlo error; the same of the ``unbiased`` value beside it, if there is one. ``se_sd``: the mean standard error
    over the standard deviation of what it is of. ``width``: the median.
    """

    study: str
    design: str
    epsilon: str
    n: int
    looks: int
    kind: str
    target: str
    truth: float
    repetitions: int
    shown: int
    held: int
    width: float
    bias: float
    bias_z: float
    unbiased: float | None
    unbiased_z: float | None
    se_sd: float | None
    again: bool = False

    @property
    def coverage(self) -> float:
        return self.held / self.shown

    @property
    def error(self) -> float:
        """Of the coverage, were it what it should be."""
        return math.sqrt(LEVEL * (1 - LEVEL) / self.shown)

    @property
    def z(self) -> float:
        return (self.coverage - LEVEL) / self.error

    @property
    def setting(self) -> Setting:
        return Setting(self.study, self.design, self.epsilon, self.n, self.looks)

    @property
    def key(self) -> tuple[Setting, str, str]:
        return self.setting, self.kind, self.target


# --- measuring ---------------------------------------------------------------------------------------------------


@lru_cache(maxsize=2)
def _study(name: str) -> Study:
    return STUDIES[name]()


def measure(setting: Setting, repetitions: int, asks: Sequence[str] = (), seed: int = 1) -> list[Row]:
    """All numbers of a setting; of some kinds of question to the analysis only, if those are given."""
    population = publish(_study(setting.study), booklets=setting.design == "booklets", epsilon=setting.epsilon)
    truth = Truth(population)
    random = np.random.default_rng([seed, zlib.crc32(setting.name.encode())])
    seen: dict[tuple[str, str], list[tuple[float, ...]]] = defaultdict(list)
    true: dict[tuple[str, str], float] = {}
    for _ in range(repetitions):
        for number in _numbers(setting, population, truth, asks, random):
            key = number.kind, number.target
            true[key] = number.truth
            seen[key].append(number.estimated)
    often = {key: np.array(each) for key, each in seen.items() if len(each) >= SELDOM * repetitions}
    rows = [_row(setting, *key, true[key], repetitions, each) for key, each in often.items()]
    return [row._replace(again=seed > 1) for row in rows]


def _numbers(
    setting: Setting, population: Population, truth: Truth, asks: Sequence[str], random: np.random.Generator
) -> Iterator[Number]:
    """Of one survey."""
    if setting.looks > 1:
        yield from ask_anytime(population.watch(setting.n, setting.looks, random), truth)
        return
    survey = population.draw(setting.n, random)
    for name, ask in ASKS.items():
        if not asks or name in asks:
            yield from ask(survey, truth)


def _row(setting: Setting, kind: str, target: str, truth: float, repetitions: int, seen: Any) -> Row:
    value, unbiased, error, low, high = seen.T
    slack = 1e-9 * max(1.0, abs(truth))
    bias = _bias(value - truth)
    beside = (None, None) if np.isnan(unbiased).any() else _bias(unbiased - truth)
    spread = np.std(unbiased if beside[0] is not None else value)
    return Row(
        *setting,
        kind,
        target,
        truth,
        repetitions,
        len(seen),
        int(np.sum((low <= truth + slack) & (truth - slack <= high))),
        float(np.median(high - low)),
        *bias,
        *beside,
        None if np.isnan(error).any() or not spread else float(np.mean(error) / spread),
    )


def _bias(errors: Any) -> tuple[float, float]:
    finite = errors[np.isfinite(errors)]
    if len(finite) < 2:
        return math.nan, math.nan
    mean, spread = float(finite.mean()), float(finite.std() / math.sqrt(len(finite)))
    return mean, mean / spread if spread else 0.0


def _measure(task: tuple[Setting, int, tuple[str, ...], int]) -> list[Row]:
    return measure(*task)


def measure_all(tasks: Iterable[tuple[Setting, int, tuple[str, ...], int]], jobs: int, console: Console) -> list[Row]:
    todo, rows = [*tasks], []
    with ProcessPoolExecutor(jobs) as pool:
        for task, found in zip(todo, pool.map(_measure, todo), strict=True):
            console.print(f"{task[0].name}: {len(found)} numbers, {task[1]:,} repetitions", style="dim")
            rows += found
    return rows


def by_kind(rows: Iterable[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found[row.kind].append(row)
    return dict(found)


class Pooled(NamedTuple):
    """A kind in one setting: all its numbers together.

    Numbers from one survey depend on each other, so that the error is as if all of them were one.
    """

    setting: Setting
    kind: str
    coverage: float
    error: float


def pooled(rows: Iterable[Row]) -> list[Pooled]:
    found: dict[tuple[Setting, str], list[Row]] = defaultdict(list)
    for row in rows:
        found[row.setting, row.kind].append(row)
    each = []
    for (setting, kind), some in found.items():
        coverage, surveys = sum(row.held for row in some) / sum(row.shown for row in some), max(r.shown for r in some)
        each.append(Pooled(setting, kind, coverage, math.sqrt(max(coverage * (1 - coverage), 1 / surveys) / surveys)))
    return each


def suspects(rows: Sequence[Row]) -> list[Row]:
    """The lowest of each kind, what is significantly below what is allowed, and all of a kind that is below it."""
    lowest = [min(some, key=lambda row: row.z) for some in by_kind(rows).values()]
    below = {(each.setting, each.kind) for each in pooled(rows) if each.coverage < LEAST}
    low = [r for r in rows if r.coverage < LEAST + SUSPECT * r.error or (r.setting, r.kind) in below]
    return [*{row.key: row for row in (*lowest, *low)}.values()]


def again(rows: Sequence[Row], repetitions: int, jobs: int, console: Console) -> list[Row]:
    """Fresh measurements of these."""
    wanted: dict[Setting, set[str]] = defaultdict(set)
    for row in rows:
        wanted[row.setting].add(row.target.partition(" ")[0])
    tasks = [(setting, AGAIN * repetitions, tuple(sorted(asks)), 2) for setting, asks in wanted.items()]
    keys = {row.key for row in rows}
    return [row for row in measure_all(tasks, jobs, console) if row.key in keys]


def missed(rows: Sequence[Row], repeated: Sequence[Row]) -> list[str]:
    """What is too low in the second measurement: kinds in a setting as a whole, and single numbers."""
    marks = []
    first = {(each.setting, each.kind): each for each in pooled(rows)}
    for each in pooled(repeated):
        if max(each.coverage, first[each.setting, each.kind].coverage) < LEAST:
            marks.append(f"{each.kind}, {each.setting.name}: {_figure(each)}")
    low = [row for row in repeated if row.coverage < LEAST]
    return [*marks, *(f"{row.kind}, {row.setting.name}, {row.target}: {_figure(row)}" for row in low)]


# --- output ------------------------------------------------------------------------------------------------------


def _figure(each: Row | Pooled | None) -> str:
    return "" if each is None else f"{each.coverage:.4f} ± {each.error:.4f}"


def table(rows: Sequence[Row], repeated: Sequence[Row]) -> Table:
    second = {row.key: row for row in repeated}
    grid = Table(title=f"Coverage of {LEVEL:.0%} intervals in surveys of real people")
    headings = "interval of", "settings", "numbers", "intervals", "coverage", "lowest setting", "numbers below .945"
    for heading in (*headings, "lowest number", "again"):
        grid.add_column(heading, justify="left" if heading == headings[0] else "right")
    for kind, some in by_kind(rows).items():
        settings = pooled(some)
        shown, held = sum(row.shown for row in some), sum(row.held for row in some)
        error = math.sqrt(sum(each.error**2 for each in settings)) / len(settings)
        least = min(some, key=lambda row: row.z)
        below, chance = sum(row.coverage < LEAST for row in some), sum(_chance(row) for row in some)
        grid.add_row(
            kind,
            f"{len(settings)}",
            f"{len(some)}",
            f"{shown:,}",
            f"{held / shown:.4f} ± {error:.4f}",
            _figure(min(settings, key=lambda each: each.coverage)),
            f"{below} (chance: {chance:.0f})",
            _figure(least),
            _figure(second.get(least.key)),
        )
    return grid


def _chance(row: Row) -> float:
    """Of a measured coverage below 0.945, were the true one 0.95."""
    return 0.5 * math.erfc((LEVEL - LEAST) / row.error / math.sqrt(2))


def figures(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """For JSON, which has no infinite numbers."""
    each = [row._asdict() | {"coverage": row.coverage, "error": row.error} for row in rows]
    return [{k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in row.items()} for row in each]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    parser.add_argument("--jobs", type=int, default=1, help="how many settings to measure at a time")
    parser.add_argument("--only", default="", help="only settings whose name contains this, such as: doctor booklets")
    parser.add_argument("--asks", nargs="*", default=[], choices=[*ASKS], help="only these kinds of request")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    given = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 160)
    chosen = [setting for setting in SETTINGS if given.only in setting.name]
    rows = measure_all([(setting, given.repetitions, tuple(given.asks), 1) for setting in chosen], given.jobs, console)
    repeated = again(suspects(rows), given.repetitions, given.jobs, console)
    console.print(table(rows, repeated))
    for mark in missed(rows, repeated):
        console.print(f"missed: {mark}")
    if given.json:
        given.json.write_text(json.dumps(figures([*rows, *repeated]), indent=1) + "\n")
    sys.exit(bool(missed(rows, repeated)))


if __name__ == "__main__":
    main()
