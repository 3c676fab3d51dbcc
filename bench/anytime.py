"""How often an interval misses the truth at any of 1,000 looks while a survey fills up: those for every look, and those
for one.

    python bench/anytime.py [--surveys 2000] [--json FILE]

Exits with 1 if fewer than 95% of the surveys never miss with ``anytime``. Each survey is looked at after every one of
its first 250 reports, and then at 750 more numbers of reports up to 100,000, evenly on a logarithmic scale. Reports are
drawn from the distribution of one report, and go through the functions of the estimator. At looks where the estimate is
so near to the truth that every interval has it, none is computed: below 2.6 standard errors, or 1.9 while few reports
are expected to differ from most (1.5 and 1.2 for intervals for one look).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from joint_coverage import Block, conditional_held, held
from rich.console import Console
from rich.progress import track
from rich.table import Table

from deniable_protocol import Channel, Item, Question, design, survey_from_tree
from deniable_server.estimator import Heard, alone, share_of_support, support
from deniable_server.estimator.comparison import Group, compare, mover, uncut
from deniable_server.estimator.evidence import pool
from deniable_server.estimator.intervals import Aim, Supported
from deniable_server.estimator.joint import _independence
from deniable_server.estimator.questions import mean_of
from deniable_server.estimator.ratios import ratios
from deniable_server.estimator.scores import mean_scores, table_of
from deniable_server.estimator.shares import Known

EPSILONS = ("0.5", "1", "2", "4")
ONE_LOOK, ANYTIME = Aim(), Aim(anytime=True)
FIRST, LAST, LOOKS = 250, 100_000, 1_000
WIDTHS = (100, 1_000, 10_000, 100_000)
SOME, ROUNDING = 1_000, 1e-9
BEFORE = 2_000
"""Reports of an earlier survey that a growing one is compared with."""

Array = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]


class Setting(NamedTuple):
    """What is estimated from reports that are of one of several kinds.

    ``scores`` has, per kind, what it adds to the estimate: on average nothing, and so a measure of how far that is from
    the truth. Kinds up to ``first`` are of a group by itself, the others of another one. ``limits`` has the interval of
    these counts, and ``held`` says of many at once whether the truth is in it. ``before`` are reports that are there
    from the start.
    """

    name: str
    epsilon: str
    chances: Array
    scores: Array
    truth: float
    limits: Callable[[Counts, Aim], tuple[float, float]]
    first: int = 0
    before: Array | None = None
    held: Callable[[Counts, Aim], npt.NDArray[np.bool_]] | None = None

    def errors(self, counts: Counts) -> tuple[Array, npt.NDArray[np.bool_]]:
        """How many standard errors the estimate is from the truth, and whether that is from few reports."""
        total, variance = np.zeros((2, *counts.shape[:-1]))
        few = np.zeros(counts.shape[:-1], dtype=bool)
        for kinds in (slice(0, self.first), slice(self.first, None)):
            scores, here = self.scores[kinds], counts[..., kinds]
            chances = (self.chances if self.before is None else self.chances + self.before)[kinds]
            if not len(scores):
                continue
            n, spread = np.maximum(here.sum(axis=-1), 1e-9), float(chances @ scores**2 / chances.sum())
            total, variance = total + here @ scores / n, variance + spread / n
            few = few | (n * spread < 50 * float((scores**2).max()))
        return np.abs(total) / np.sqrt(variance), np.asarray(few)


class Row(NamedTuple):
    """The part of the surveys that never miss, and how many times as long intervals are at some numbers of reports."""

    name: str
    epsilon: float
    surveys: int
    anytime: float
    one_look: float
    times: list[float]


def looks(first: int = FIRST, last: int = LAST, number: int = LOOKS) -> Counts:
    """After each of the first reports, and then evenly on a logarithmic scale."""
    later = np.unique(np.rint(np.geomspace(first + 1, last, number - first)).astype(np.int64))
    return np.concatenate([np.arange(1, first + 1), later])


# --- what is estimated -------------------------------------------------------------------------------------------


def question(kind: dict[str, object], epsilon: str) -> tuple[Question, Channel]:
    tree = {"id": "asked", "text": "?", "epsilon": epsilon, **kind}
    (asked,) = survey_from_tree({"id": "bench", "title": "Bench", "questions": [tree]}).questions
    return asked, design([Item(asked)], Fraction(epsilon))


def share(epsilon: str, share: float) -> Setting:
    """Of yes."""
    block = Block(epsilon, 2, 1, 1, 0)
    return _of_blocks(f"share of {share:g}", epsilon, [(block, 1.0)], share)


def several_paths(epsilon: str) -> Setting:
    """Of an answer that owns several of the paths that a report holds: a sum, and no count."""
    return _of_blocks("share, several paths", epsilon, [(Block(epsilon, 12, 3, 4, 0), 1.0)], 0.3)


def pooled(epsilon: str) -> Setting:
    """Of an answer that two parts report on, each in its own way."""
    parts = [(Block(epsilon, 4, 1, 2, 0), 0.6), (Block(epsilon, 12, None, 3, 0), 0.4)]
    return _of_blocks("share, two parts", epsilon, parts, 0.2)


def _of_blocks(name: str, epsilon: str, parts: list[tuple[Block, float]], truth: float) -> Setting:
    chances, scores, where = [], [], []
    for number, (block, part) in enumerate(parts):
        base = support(block.channel)
        for (own, _), chance in held(block, truth, 0.0).items():
            chances.append(part * chance)
            scores.append((own - block.owned * base.q) / base.gap - truth)
            where.append((number, own))

    def limits(counts: Counts, aim: Aim) -> tuple[float, float]:
        heard = []
        for number, (block, _) in enumerate(parts):
            here = [(own, int(count)) for (at, own), count in zip(where, counts, strict=True) if at == number]
            n = sum(count for _, count in here)
            paths = [0] * block.paths
            paths[0] = sum(own * count for own, count in here)
            heard.append(block.heard(n)._replace(counts=paths))
        found = pool(heard)
        assert found is not None
        raw = share_of_support(*found.together([0]), aim)
        return raw.low, raw.high

    return Setting(name, epsilon, np.array(chances), np.array(scores), truth, limits)


def conditional(epsilon: str) -> Setting:
    """Of an answer among those whom a question is asked, 40% of all."""
    block, ratio, applies = Block(epsilon, 6, None, 1, 3), 0.25, 0.4
    base = support(block.channel)
    found = held(block, ratio * applies, (1 - ratio) * applies)
    decoded = (np.array([*found]) - np.array([block.owned, block.others]) * base.q) / base.gap

    def limits(counts: Counts, aim: Aim) -> tuple[float, float]:
        paths = [0] * block.paths
        paths[0], paths[block.owned] = (counts @ np.array([*found])).tolist()
        shares = pool([block.heard(int(counts.sum()))._replace(counts=paths)])
        assert shares is not None
        raw = ratios(shares, [[0]], [0, 1], aim)[0].raw
        return (0.0, 1.0) if raw is None else (raw.low, raw.high)

    def all_held(counts: Counts, aim: Aim) -> npt.NDArray[np.bool_]:
        n = int(counts[0].sum())
        shares = pool([block.heard(n)])
        assert shares is not None
        return conditional_held(shares, counts @ decoded / n, ratio, aim)

    scores, chances = decoded @ np.array([1 - ratio, -ratio]), np.array([*found.values()])
    return Setting("conditional share", epsilon, chances, scores, ratio, limits, held=all_held)


NUMBER: dict[str, object] = {"type": "number", "min": 0, "max": 1}
YES_NO: dict[str, object] = {"type": "yes_no"}


def _skewed(answers: int, fall: float) -> Array:
    """Fewer and fewer people with each level."""
    people = np.exp(-fall * np.arange(answers))
    return np.asarray(people / people.sum())


def mean(epsilon: str) -> Setting:
    """Of a number that is small for most people and large for a few."""
    asked, channel = question(NUMBER, epsilon)
    people = _skewed(channel.answers, 1.0)
    truth = float(people @ np.linspace(0, 1, channel.answers))
    values = np.array(mean_scores(channel, between=True).values)

    def limits(counts: Counts, aim: Aim) -> tuple[float, float]:
        found = mean_of(alone(asked, channel, counts.tolist(), int(counts.sum())), aim)
        return found.low, found.high

    return Setting("mean", epsilon, people @ table_of(channel), values - truth, truth, limits)


def difference(epsilon: str, kind: dict[str, object], *, waves: bool = False) -> Setting:
    """Between two groups, of which the first has a quarter of the reports; or with a survey that is complete."""
    asked, channel = question(kind, epsilon)
    k = channel.answers
    groups = [_skewed(k, 1.0), _skewed(k, 0.5)]
    reports = [people @ table_of(channel) for people in groups]
    levels = np.linspace(0, 1, k)
    values = np.array(mean_scores(channel, asked.is_continuous).values)
    means = [float(people @ levels) for people in groups]
    size, part = len(values), 0.0 if waves else 0.25
    none = np.zeros(size)
    chances = np.concatenate([part * reports[0], (1 - part) * reports[1]])
    scores = np.concatenate([values - means[0], means[1] - values])

    def limits(counts: Counts, aim: Aim) -> tuple[float, float]:
        each = [counts[:size], counts[size:]]
        if not asked.asks_mean:
            return of_yes(each, aim)
        both = [Group(str(i), alone(asked, channel, c.tolist(), int(c.sum()))) for i, c in enumerate(each)]
        row = compare(both, aim).differences[0]
        return row.low, row.high

    def of_yes(groups: list[Counts], aim: Aim) -> tuple[float, float]:
        """The same as of ``compare``, without the share of no."""
        sides = [Supported(support(channel), float(c[1]), float(c.sum())) for c in groups]
        known = (Known(share_of_support(*side, aim), side) for side in sides if side.n)
        shares = [uncut(each, aim) for each in known]
        return mover(*shares) if len(shares) == 2 else (-1.0, 1.0)

    name = f"difference of {'means' if asked.asks_mean else 'shares'}{', after a wave' if waves else ''}"
    before = np.concatenate([reports[0], none]) if waves else None
    return Setting(name, epsilon, chances, scores, means[0] - means[1], limits, size, before)


def independence(epsilon: str) -> Setting:
    """The test, of two questions that do not depend on each other: its p-value shall not be below 0.05 at any look."""
    block = Block(epsilon, 4, 1, 1, 3)
    channel, one, two = block.channel, 0.3, 0.6
    people = np.outer([one, 1 - one], [two, 1 - two]).ravel()
    table = table_of(channel)
    decoded = np.linalg.inv(table)  # a report, as the answer that it stands for on average
    excess = np.outer([1 - one, -one], [1 - two, -two]).ravel()

    def limits(counts: Counts, aim: Aim) -> tuple[float, float]:
        paths = tuple((path,) for path in range(4))
        shares = pool([Heard(channel, counts.tolist(), int(counts.sum()), paths, (0, 1, 2, 3))])
        assert shares is not None
        p_value = _independence(shares, (2, 2), aim).p_value
        return (0.0, 0.0) if p_value is None or p_value >= aim.alpha else (1.0, 1.0)

    return Setting("test of independence", epsilon, people @ table, decoded @ excess, 0.0, limits)


def settings(epsilon: str) -> Iterator[Setting]:
    yield from (share(epsilon, each) for each in (0.0, 0.03, 0.3))
    yield several_paths(epsilon)
    yield pooled(epsilon)
    yield conditional(epsilon)
    yield mean(epsilon)
    yield difference(epsilon, YES_NO)
    yield difference(epsilon, NUMBER)
    yield difference(epsilon, YES_NO, waves=True)
    yield independence(epsilon)


# --- watching ----------------------------------------------------------------------------------------------------


def grown(setting: Setting, surveys: int, at: Counts, random: np.random.Generator) -> Counts:
    """How many reports of each kind each survey has, at each look."""
    chances = setting.chances / setting.chances.sum()
    steps = [random.multinomial(step, chances, surveys) for step in np.diff(at, prepend=0)]
    counts = np.cumsum(np.stack(steps, axis=1), axis=1)
    if setting.before is not None:
        counts = counts + random.multinomial(BEFORE, setting.before, surveys)[:, None, :]
    return counts


def misses(setting: Setting, counts: Counts, aim: Aim) -> npt.NDArray[np.bool_]:
    """Per survey, whether its interval misses the truth at any look."""
    missed = np.zeros(len(counts), dtype=bool)
    if setting.held is not None:
        for look in range(counts.shape[1]):
            missed |= ~setting.held(counts[:, look], aim)
        return missed
    errors, few = setting.errors(counts)
    for survey, doubtful in enumerate(errors > np.where(few, *((1.9, 2.6) if aim.anytime else (1.2, 1.5)))):
        for look in np.flatnonzero(doubtful):
            low, high = setting.limits(counts[survey, look], aim)
            if not low - ROUNDING <= setting.truth <= high + ROUNDING:
                missed[survey] = True
                break
    return missed


def times_as_long(setting: Setting, random: np.random.Generator) -> list[float]:
    """How many times as long intervals for every look are as those for one, on average over 50 surveys."""
    found = []
    for counts in grown(setting, 50, np.array(WIDTHS), random).swapaxes(0, 1):
        mine, theirs = (sum(np.ptp(setting.limits(each, aim)) for each in counts) for aim in (ANYTIME, ONE_LOOK))
        found.append(float(mine / theirs) if theirs else 1.0)
    return found


def measure(setting: Setting, surveys: int, at: Counts, seed: int = 1) -> Row:
    random, missed = np.random.default_rng(seed), {ANYTIME: 0, ONE_LOOK: 0}
    for done in range(0, surveys, SOME):
        counts = grown(setting, min(SOME, surveys - done), at, random)
        for aim in missed:
            missed[aim] += int(misses(setting, counts, aim).sum())
    kept = (1 - missed[aim] / surveys for aim in (ANYTIME, ONE_LOOK))
    return Row(setting.name, float(setting.epsilon), surveys, *kept, times_as_long(setting, random))


def below(rows: list[Row]) -> list[Row]:
    """Those that miss in more than 5% of the surveys."""
    return [row for row in rows if row.anytime < ANYTIME.confidence]


def table(rows: list[Row]) -> Table:
    grid = Table(title=f"Part of {rows[0].surveys:,} surveys that never miss at {LOOKS:,} looks; times as long")
    for heading in ("", "ε", "anytime", "one look", *(f"n = {n:,}" for n in WIDTHS)):
        grid.add_column(heading, justify="right" if heading else "left", no_wrap=True)
    for row in rows:
        last = row.epsilon == float(EPSILONS[-1])
        kept, times = (f"{row.anytime:.4f}", f"{row.one_look:.3f}"), (f"{each:.2f}" for each in row.times)
        grid.add_row(row.name, f"{row.epsilon:g}", *kept, *times, end_section=last)
    return grid


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--surveys", type=int, default=2_000)
    arguments.add_argument("--json", type=Path, help="also write the figures to this file")
    options = arguments.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 110)
    todo = sorted((each for epsilon in EPSILONS for each in settings(epsilon)), key=lambda each: each.name)
    rows = [measure(each, options.surveys, looks()) for each in track(todo, "Surveys", console=console, transient=True)]
    console.print(table(rows))
    if options.json:
        options.json.write_text(json.dumps([row._asdict() for row in rows], indent=1) + "\n")
    for row in below(rows):
        console.print(f"missed: {row}")
    sys.exit(bool(below(rows)))


if __name__ == "__main__":
    main()
