"""Coverage, bias and selection of regression coefficients.

    python bench/regression.py [--repetitions 2000] [--only TEXT] [--json FILE]

Exits with 1 if a 95% interval holds its coefficient less often than 94.5%, by more than chance (three Monte-Carlo
errors), or if a search does not end. Every survey is drawn as counts: people per group, their true answers, their
reports. An interval holds a coefficient where the likelihood falls by no more than the chi-square limit there; for
every fiftieth survey the limits themselves are found, and must say the same.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import chdtri, expit, logit

from deniable_protocol import Subset
from deniable_protocol.design import subset
from deniable_server.estimator.evidence import Heard, Pooled, pool_sets
from deniable_server.estimator.logistic import Counts, Design, Model, Tables
from deniable_server.estimator.profile import falls, fit, profile

Array = npt.NDArray[np.float64]
Random = np.random.Generator
LIMIT, LEAST = float(chdtri(1, 0.05)), 0.945
DOUBLE = math.log(2)


class Setting(NamedTuple):
    """A name, the true coefficients, and how a survey is drawn."""

    name: str
    beta: Array
    draw: Callable[[Random], Model]


# --- drawing -----------------------------------------------------------------------------------------------------


def drawn(random: Random, channel: Subset, shares: Array, n: int) -> list[int]:
    """How many of n reports hold each path, where paths have these shares among people."""
    k, d, p = channel.options, channel.size, channel.favour / 2**53
    holds = np.array([[report >> path & 1 for path in range(k)] for report in channel.reports()])
    chance = np.where(holds, p / math.comb(k - 1, d - 1), (1 - p) / math.comb(k - 1, d)) @ shares
    return [int(count) for count in random.multinomial(n, chance / chance.sum()) @ holds]


def table(random: Random, channel: Subset, shares: Array, n: int) -> Pooled:
    """Of paths that are the cells of a table, in its order: for each predictor, with the outcome and without."""
    paths = tuple((path,) for path in range(channel.options))
    heard = Heard(channel, drawn(random, channel, shares, n), n, paths, tuple(range(channel.options)))
    found = pool_sets([(heard, paths)])
    assert found is not None
    return found


def by_segments(name: str, epsilon: str, n: int, cells: Array, weights: Array, beta: Array) -> Setting:
    """Segments alone: each combination has its row of the design, and this share of people."""
    channel = subset(2, Fraction(epsilon), 1)

    def draw(random: Random) -> Model:
        sizes = random.multinomial(n, weights)
        seen = np.flatnonzero(sizes)
        shares = expit(cells @ beta)
        counts = [
            table(random, channel, np.array([shares[i], 1 - shares[i]]), int(sizes[i])).together([0]) for i in seen
        ]
        return Counts(Design(cells[seen], np.eye(len(seen))), counts)

    return Setting(name, beta, draw)


def by_questions(
    name: str, epsilon: str, n: int, size: int | None, groups: list[Array], cells: Array, beta: Array
) -> Setting:
    """Questions: per group of people (of equal size) the shares of the predictors' answers; rows for group x answer."""
    answers = len(groups[0])
    channel = subset(2 * answers, Fraction(epsilon), size)

    def draw(random: Random) -> Model:
        sizes = random.multinomial(n, np.full(len(groups), 1 / len(groups)))
        shares = expit(cells @ beta).reshape(len(groups), answers)
        tables = []
        for number, own, yes in zip(sizes, groups, shares, strict=True):
            joint = np.stack([own * yes, own * (1 - yes)], axis=1).ravel()
            tables.append(table(random, channel, joint, int(number)))
        return Tables(Design(cells, np.eye(len(cells))), tables)

    return Setting(name, beta, draw)


# --- settings ----------------------------------------------------------------------------------------------------


def settings() -> Iterator[Setting]:
    four = np.array([[1, i == 1, i == 2, i == 3] for i in range(4)], dtype=float)
    for n, epsilon, share in product((2000, 5000), "124", (0.03, 0.05, 0.1, 0.3)):
        beta = np.array([logit(share), 0.0, 0.0, DOUBLE])
        yield by_segments(f"4 groups, share {share}, ε {epsilon}, n {n}", epsilon, n, four, np.full(4, 0.25), beta)
    two = np.array([[1, i == 1, i == 2, j == 1] for i in range(3) for j in range(2)], dtype=float)
    uneven = np.outer([0.6, 0.3, 0.1], [0.7, 0.3]).ravel()
    for n, epsilon, share in product((2000, 5000), "12", (0.03, 0.1, 0.3)):
        beta = np.array([logit(share), 0.5, -0.5, DOUBLE])
        yield by_segments(f"3 x 2 groups, share {share}, ε {epsilon}, n {n}", epsilon, n, two, uneven, beta)
    one = np.array([[1, 0], [1, 1]], dtype=float)
    for n, epsilon, share in product((2000, 5000), "124", (0.05, 0.1, 0.3)):
        beta, own = np.array([logit(share), 1.0]), [np.array([0.7, 0.3])]
        yield by_questions(f"a question, share {share}, ε {epsilon}, n {n}", epsilon, n, None, own, one, beta)
    five = np.array([[1, *(c == j for j in range(1, 5))] for c in range(5)], dtype=float)
    for epsilon in "12":
        beta, own = np.array([-1.0, 0, 0.5, 0.5, 1.0]), [np.array([0.3, 0.25, 0.2, 0.15, 0.1])]
        yield by_questions(f"a question of 5 answers, ε {epsilon}, n 5000", epsilon, 5000, None, own, five, beta)
    mixed = np.array([[1, g == 1, g == 2, c] for g in range(3) for c in range(2)], dtype=float)
    groups = [np.array([1 - each, each]) for each in (0.2, 0.4, 0.6)]
    for n, epsilon, share in product((2000, 5000), "124", (0.1, 0.3)):
        beta = np.array([logit(share), 0.5, -0.5, 1.0])
        yield by_questions(
            f"3 groups and a question, share {share}, ε {epsilon}, n {n}", epsilon, n, None, groups, mixed, beta
        )
    both = np.array([[1, b, c] for b in range(2) for c in range(2)], dtype=float)
    for epsilon in "12":
        beta, own = np.array([-1.0, 0.5, 1.0]), [np.array([0.4, 0.2, 0.1, 0.3])]
        yield by_questions(f"two questions, ε {epsilon}, n 5000", epsilon, 5000, None, own, both, beta)


# --- measuring ---------------------------------------------------------------------------------------------------


class Row(NamedTuple):
    """Of a setting: in how many surveys the search did not end, and per coefficient the coverage of its intervals, the
    truth, the mean estimate, and how often the most likely value is finite. ``milliseconds``: the median time of a fit
    with its limits.
    """

    setting: str
    repetitions: int
    unended: int
    coverage: list[float]
    truth: list[float]
    mean_estimate: list[float]
    most_likely_is_finite: list[float]
    milliseconds: float


def measure(setting: Setting, repetitions: int, seed: int) -> Row:
    random, held, estimates, likely, times, unended = np.random.default_rng(seed), [], [], [], [], 0
    for number in range(repetitions):
        model = setting.draw(random)
        start = time.process_time()
        fitted = fit(model)
        inside = falls(model, fitted, setting.beta) <= LIMIT
        unended += not fitted.found
        held.append(inside)
        estimates.append(fitted.firth.beta[0])
        likely.append(np.abs(fitted.top.beta[0]) < 10)
        if number % 50 == 0:
            limits = profile(model, fitted, 0.05)
            times.append(time.process_time() - start)
            same = inside == ((limits.low <= setting.beta) & (setting.beta <= limits.high))
            if not same.all():
                raise AssertionError(f"{setting.name}, survey {number}: limits do not say what the likelihood says")
    coverage, mean, finite = (np.mean(each, axis=0).tolist() for each in (held, estimates, likely))
    milliseconds = 1000 * float(np.median(times))
    return Row(setting.name, repetitions, unended, coverage, setting.beta.tolist(), mean, finite, milliseconds)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=2000)
    parser.add_argument("--only", default="", help="only settings whose names have this")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    given = parser.parse_args()
    print("setting", "unended", "coverage", "truth", "mean estimate", "most likely is finite", "ms", sep=" | ")
    rows = []
    for seed, setting in enumerate(settings()):
        if given.only not in setting.name:
            continue
        row = measure(setting, given.repetitions, seed)
        rows.append(row)
        texts = (
            " ".join(f"{value:.{digits}f}" for value in each)
            for each, digits in zip(row[3:7], (3, 2, 2, 2), strict=True)
        )
        print(row.setting, row.unended, *texts, f"{row.milliseconds:.0f}", sep=" | ", flush=True)
    if given.json:
        given.json.write_text(json.dumps([row._asdict() for row in rows], indent=1) + "\n")
    slack = 3 * math.sqrt(0.05 * 0.95 / given.repetitions)
    return int(any(row.unended or min(row.coverage) < LEAST - slack for row in rows))


if __name__ == "__main__":
    sys.exit(main())
