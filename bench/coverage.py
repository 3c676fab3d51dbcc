"""How often the intervals, and Wald's, contain the truth: exact sums over the distribution of the count, no simulation.

    python bench/coverage.py [--fine] [--json FILE]
    python bench/peers.py && python bench/coverage.py --plot docs/evidence

Exits with 1 if an interval contains the truth less often than it says. The intervals are those of
``estimate_question`` (yes_no) and of ``share_of_support``, which it calls for each option (subset). They are also
measured: how long they are on average, compared with those that leave half of what may be missed on either side.

Without --fine, coverage is summed at the listed shares. With it, at all of them: between two limits coverage has no
minimum of its own, so that looking on both sides of every limit finds the infimum over all shares from 0 to 1. Among
the respondents, or in a population of a known size, --fine looks at every number of people up to 1,000; of more, at
201 and at 41.

Of n reports, Bin(n, q + share * (p - q)) support an answer if respondents are drawn from a large population, and
Bin(m, p) + Bin(n - m, q) if it is true of m of them; drawn from a population of a known size, m is hypergeometric.
Joint reports (joint_coverage.py) come after that.
What is left out of a sum is less than 10^-12 and counts as not covered; a limit within 10^-12 of the truth counts as
reaching it.
"""

from __future__ import annotations

import argparse
import io
import json
import math
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.progress import track
from rich.table import Table
from scipy.special import bdtr, ndtri
from scipy.stats import binom, hypergeom

from deniable_protocol import Item, design, survey_from_tree
from deniable_protocol.design import band, subset
from deniable_server.estimator import alone, estimate_question, share_of_support, support
from deniable_server.estimator.intervals import Aim, Rule, central_share

if __name__ == "coverage":
    # Numba, which peers use, imports a package of this name where it finds one, and next to the benchmarks it finds us.
    raise ImportError("this is a benchmark, not the coverage package")

EPSILONS = ("0.1", "0.25", "0.5", "1", "2", "4")
SIZES = (30, 100, 1_000, 10_000, 100_000)
SHARES = (0.0, 0.001, 0.01, 0.05, 0.3, 0.5, 0.9, 1.0)
LEVELS = (0.90, 0.95, 0.99)
SLACK = 1e-9
"""For rounding: below its level an interval may fall nowhere."""
ROUNDING = 1e-12
ERRORS = (0, 1, 2, 3)
"""Where lengths are compared: at so many standard errors at share 0 from it, and at one half."""
LARGE = 0.35
"""A standard error at share 0 above which intervals have most shares anyway, however they are made."""

Array = npt.NDArray[np.float64]


class Intervals:
    """The limits at each count from 0 to n, computed when they are first asked for."""

    def __init__(self, n: int, limits: Callable[[int], tuple[float, float]]) -> None:
        self.limits, self.known = limits, np.full((n + 1, 2), np.nan)

    def at(self, first: int, length: int) -> Array:
        """Lower and upper limits of this run of counts."""
        run = self.known[first : first + length]
        for i in np.flatnonzero(np.isnan(run[:, 0])):
            run[i] = self.limits(first + int(i))
        return run


class Kind(NamedTuple):
    """The share of one of so many options (2: of yes) in a large population; or among ``people`` times as many people
    as respond, so that 1 is the respondents themselves.
    """

    options: int
    people: int | None

    @property
    def question(self) -> str:
        return "yes_no" if self.options == 2 else f"{self.options} options"

    @property
    def target(self) -> str:
        return {None: "population", 1: "respondents"}.get(self.people, f"{self.people} n people")

    @property
    def sizes(self) -> Sequence[int]:
        return SIZES if self.people is None else SIZES[:-1] if self.people == 1 else SIZES[:-2]

    def population(self, n: int) -> int | None:
        return None if self.people is None else self.people * n

    def rule(self, epsilon: str) -> Rule:
        exact = Fraction(epsilon)
        return support(band(2, exact, width=1) if self.options == 2 else subset(self.options, exact))


KINDS = [Kind(options, people) for people in (None, 1, 2) for options in (2, 5, 10)]


class Row(NamedTuple):
    """The least coverage, the share at which it is, and the same for Wald's interval at the listed shares."""

    question: str
    target: str
    epsilon: float
    n: int
    confidence: float
    least: float
    at: float
    wald: float
    wald_at: float
    error: float
    lengths: list[float]


# --- the intervals -----------------------------------------------------------------------------------------------


def shipped(kind: Kind, epsilon: str, n: int, confidence: float) -> Intervals:
    """The interval that an analyst is given."""
    rule, population = kind.rule(epsilon), kind.population(n)
    tree = {"id": "bit", "type": "yes_no", "text": "?", "epsilon": epsilon}
    (question,) = survey_from_tree({"id": "coverage", "title": "Coverage", "questions": [tree]}).questions
    channel = design([Item(question)], Fraction(epsilon))

    def of_yes(y: int) -> tuple[float, float]:
        counts = [n - y, y]
        result = estimate_question(
            alone(question, channel, counts, n), Aim(confidence=confidence, population=population)
        )
        return result.shares[0].low, result.shares[0].high

    def of_option(y: int) -> tuple[float, float]:
        raw = share_of_support(rule, y, n, Aim(confidence, population))
        return raw.low, raw.high

    return Intervals(n, of_yes if kind.options == 2 else of_option)


def wald(kind: Kind, epsilon: str, n: int, confidence: float) -> Intervals:
    """The textbook's: the estimate and z times its estimated standard error on either side."""
    rule, population, z = kind.rule(epsilon), kind.population(n), -float(ndtri((1 - confidence) / 2))
    sampling = 1.0 if population is None else (population - n) / (population - 1)

    def limits(y: int) -> tuple[float, float]:
        share = (y / n - rule.q) / rule.gap
        variance = sampling * share * (1 - share) + share * rule.v1 + (1 - share) * rule.v0
        margin = z * math.sqrt(max(variance, 0.0) / n)
        return share - margin, share + margin

    return Intervals(n, limits)


def central(kind: Kind, epsilon: str, n: int, confidence: float) -> Intervals:
    """The interval that leaves half of what may be missed on either side, cut off at 0 and 1."""
    rule, aim = kind.rule(epsilon), Aim(confidence, kind.population(n))
    return Intervals(n, lambda y: central_share(rule, y, n, aim)[2:])


# --- what they contain -------------------------------------------------------------------------------------------


class Counts(NamedTuple):
    """The distribution of a count: the probabilities of ``first``, ``first + 1`` and so on."""

    first: int
    mass: Array


def window(n: int, rate: float) -> Array:
    """All counts but 10^-13: Y lies t beyond its mean with at most exp(-t^2 / (2 variance + 2t/3)) on either side
    (Bernstein), which for t = 8 standard deviations + 25 is below e^-31; Hoeffding's bound is the same without
    replacement.
    """
    reach = 8 * math.sqrt(n * rate * (1 - rate)) + 25
    return np.arange(max(math.floor(n * rate - reach), 0), min(math.ceil(n * rate + reach), n) + 1)


def binomial(n: int, rate: float) -> Counts:
    counts = window(n, rate)
    return Counts(int(counts[0]), binom.pmf(counts, n, rate))


@lru_cache(maxsize=4096)  # the same at every level
def of_people(rule: Rule, n: int, true: int, population: int) -> Counts:
    """The count where n respond of a population in which the answer is true of so many."""
    mass = np.zeros(n + 1)
    among = window(n, true / population)
    for m, chance in zip(among, hypergeom.pmf(among, population, true, n), strict=True):
        if chance:
            kept, false = binomial(int(m), rule.p), binomial(n - int(m), rule.q)
            both = np.convolve(kept.mass, false.mass)
            mass[kept.first + false.first :][: len(both)] += chance * both
    return Counts(0, mass)


def coverage(kind: Kind, intervals: Intervals, rule: Rule, n: int, share: float) -> float:
    """The probability that the interval contains the share, or the nearest to it that so many people can have."""
    population = kind.population(n)
    if population is None:
        counts = binomial(n, rule.q + share * rule.gap)
    else:
        true = round(population * share)
        counts, share = of_people(rule, n, true, population), true / population
    low, high = intervals.at(counts.first, len(counts.mass)).T
    held = (low <= share + ROUNDING) & (share - ROUNDING <= high)
    return float(counts.mass[held].sum())


def lengths(kind: Kind, epsilon: str, n: int, confidence: float) -> list[float]:
    """How long the interval is on average, compared with the central one: near share 0, and at one half."""
    rule, population = kind.rule(epsilon), kind.population(n)
    both = [make(kind, epsilon, n, confidence) for make in (shipped, central)]
    found = []
    for share in (*(min(errors * at_zero(rule, n), 1.0) for errors in ERRORS), 0.5):
        if population is None:
            counts = binomial(n, rule.q + share * rule.gap)
        else:
            counts = of_people(rule, n, round(population * share), population)
        ours, other = (counts.mass @ np.diff(each.at(counts.first, len(counts.mass)))[:, 0] for each in both)
        found.append(float(ours / other))
    return found


def at_zero(rule: Rule, n: int) -> float:
    """The standard error where nobody has the answer."""
    return math.sqrt(rule.v0 / n)


def infimum(intervals: Intervals, rule: Rule, n: int) -> tuple[float, float]:
    """The infimum of the coverage over every share of the population from 0 to 1, and the share next to which it is.

    Limits rise with the count, so the counts whose interval contains a share are a run a ... b, which changes only
    where the share passes a limit. Between two limits, with t the rate and Y' of n - 1 reports, d/dt P(a <= Y <= b) =
    n (P(Y' = a-1) - P(Y' = b)) changes its sign at most once, from plus to minus: no minimum lies between them.
    """
    bottom, top = binomial(n, rule.q), binomial(n, rule.p)
    first = bottom.first
    limits = intervals.at(first, top.first + len(top.mass) - first)  # the other counts hardly come, whatever the share
    assert np.all(np.diff(limits, axis=0) > -ROUNDING), "a higher count has a lower limit"
    low, high = np.maximum.accumulate(limits).T
    least = (1.0, 0.0)
    shares = np.unique(np.concatenate([low, high, [0.0, 1.0]]))
    for side, beside in (("left", shares[shares > 0]), ("right", shares[shares < 1])):
        # Just left of a share, a run has it from the first upper limit at or above it up to the last lower limit
        # below it; just right of it, from the first upper limit above it up to the last lower limit at or below it.
        a = first + np.searchsorted(high, beside, side)
        b = first + np.searchsorted(low, beside, side) - 1
        rates = rule.q + beside * rule.gap
        held = _at_most(b, n, rates) - _at_most(a - 1, n, rates)
        least = min(least, (float(held.min()), float(beside[held.argmin()])))
    return least


def _at_most(y: npt.NDArray[np.int64], n: int, rates: Array) -> Array:
    return np.where(y < 0, 0.0, np.where(y >= n, 1.0, bdtr(np.clip(y, 0, n).astype(float), n, rates)))


def least_coverage(kind: Kind, epsilon: str, n: int, confidence: float, fine: bool = False) -> tuple[float, float]:
    """The least coverage of the interval that is shipped, and the share at which it is."""
    intervals, rule, population = shipped(kind, epsilon, n, confidence), kind.rule(epsilon), kind.population(n)
    shares = set(SHARES)
    if fine and population:
        steps = population if population <= 1_000 else 200 if population == n else 40
        shares |= {i / steps for i in range(steps + 1)}
    least = min((coverage(kind, intervals, rule, n, share), share) for share in sorted(shares))
    return min(least, infimum(intervals, rule, n)) if fine and not population else least


def measure(kind: Kind, epsilon: str, n: int, confidence: float, fine: bool = False) -> Row:
    rule, theirs = kind.rule(epsilon), wald(kind, epsilon, n, confidence)
    textbook = min((coverage(kind, theirs, rule, n, share), share) for share in SHARES)
    least = least_coverage(kind, epsilon, n, confidence, fine)
    error, ratios = at_zero(rule, n), lengths(kind, epsilon, n, confidence)
    return Row(kind.question, kind.target, float(epsilon), n, confidence, *least, *textbook, error, ratios)


def missed(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row.least < row.confidence - SLACK]


# --- output ------------------------------------------------------------------------------------------------------


def in_full(rows: Sequence[Row]) -> Table:
    """Every epsilon and number of reports of one kind of interval."""
    grid = Table(title=f"Least coverage over the shares: {rows[0].question}, {rows[0].target}")
    for heading in ("ε", "n", *(text for level in LEVELS for text in (f"{level:.0%}", "Wald"))):
        grid.add_column(heading, justify="right")
    sizes = sorted({row.n for row in rows})
    for epsilon in map(float, EPSILONS):
        for n in sizes:
            each = sorted((row for row in rows if (row.epsilon, row.n) == (epsilon, n)), key=lambda row: row.confidence)
            cells = (text for row in each for text in (f"{row.least:.4f}", f"{row.wald:.4f}"))
            grid.add_row(f"{epsilon:g}", f"{n:,}", *cells, end_section=n == sizes[-1])
    return grid


def in_short(rows: Sequence[Row]) -> Table:
    """The worst of every kind at every level, and where it is."""
    grid = Table(title="Least coverage of all, and where; Wald's")
    for heading in ("question", "target", "level", "least", "ε", "n", "share", "Wald"):
        grid.add_column(heading, justify="left" if heading in ("question", "target") else "right", no_wrap=True)
    for kind in KINDS:
        for level in LEVELS:
            some = [r for r in rows if (r.question, r.target, r.confidence) == (kind.question, kind.target, level)]
            least = min(some, key=lambda row: row.least)
            where = f"{least.epsilon:g}", f"{least.n:,}", f"{least.at:.3f}"
            names = (kind.question, kind.target) if level == LEVELS[0] else ("", "")
            textbook = f"{min(row.wald for row in some):.3f}"
            last = level == LEVELS[-1]
            grid.add_row(*names, f"{level:.0%}", f"{least.least:.5f}", *where, textbook, end_section=last)
    return grid


def in_length(rows: Sequence[Row]) -> Table:
    """The least and the most of every target and level, without those that have most shares anyway."""
    grid = Table(title=f"Mean length, central = 1; where the standard error at share 0 is below {LARGE}")
    for heading in ("target", "level", "at 0", *(f"{errors} s.e." for errors in ERRORS[1:]), "at 1/2"):
        grid.add_column(heading, justify="left" if heading == "target" else "right", no_wrap=True)
    for target in dict.fromkeys(row.target for row in rows):
        for level in LEVELS:
            some = [r.lengths for r in rows if (r.target, r.confidence) == (target, level) and r.error < LARGE]
            cells = (f"{min(column):.3f}-{max(column):.3f}" for column in zip(*some, strict=True))
            grid.add_row(target if level == LEVELS[0] else "", f"{level:.0%}", *cells, end_section=level == LEVELS[-1])
    return grid


def draw(folder: Path) -> None:
    """Coverage of the 95% interval of a yes_no share against that share, as coverage.svg and coverage.png."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    ink, grey, blue, vermilion = "#222222", "#666666", "#0072B2", "#D55E00"  # Okabe and Ito's: safe if colour-blind
    look = {
        "svg.hashsalt": "deniable",  # the same file from every run
        "svg.fonttype": "none",
        "path.simplify": False,
        "font.size": 10,
        "text.color": ink,
        "axes.labelcolor": ink,
        "axes.edgecolor": "#bbbbbb",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "xtick.color": grey,
        "ytick.color": grey,
    }
    kind, level, bottom = KINDS[0], 0.95, 0.87
    panels = [(n, epsilon) for n in (100, 1_000) for epsilon in ("0.5", "1", "2", "4")]
    # Coverage is a saw with hundreds of teeth. Drawn is the range that it has around each of 161 shares.
    middles = [i / 160 for i in range(161)]
    around = [[min(max(middle + j / 3_200, 0.0), 1.0) for j in range(-10, 11)] for middle in middles]
    with mpl.rc_context(look):
        figure, axes = plt.subplots(2, 4, figsize=(11, 5.2), sharex=True, sharey=True, layout="constrained")
        figure.get_layout_engine().set(wspace=0.04, hspace=0.05)
        for axis, (n, epsilon) in zip(axes.flat, panels, strict=True):
            axis.axhspan(bottom, level, color="#f3f3f3", linewidth=0)
            for make, colour in ((wald, vermilion), (shipped, blue)):
                intervals, rule = make(kind, epsilon, n, level), kind.rule(epsilon)
                held = [[coverage(kind, intervals, rule, n, share) for share in near] for near in around]
                low, high = [min(each) for each in held], [max(each) for each in held]
                axis.fill_between(middles, low, high, facecolor=colour, edgecolor=colour, linewidth=0.7)
                if min(low) < bottom:
                    axis.text(0.5, bottom + 0.006, f"down to {min(low):.0%}", color=colour, ha="center")
            axis.axhline(level, color=ink, linewidth=0.9)
            axis.set_title(f"ε = {epsilon}, n = {n:,}", loc="left", fontsize=10)
            axis.set(xlim=(0, 1), ylim=(bottom, 1), xticks=(0, 0.5, 1), yticks=(0.9, 0.95, 1))
            axis.set_xticklabels(["0", "50%", "100%"])
            axis.yaxis.set_major_formatter("{x:.0%}")
            axis.tick_params(length=3)
        first = axes.flat[0]
        first.text(0.5, 0.988, "Deniable", color=blue, ha="center", fontweight="bold")
        first.text(0.5, 0.925, "Wald", color=vermilion, ha="center", fontweight="bold")
        first.text(0.5, 0.885, "less often than stated", color=grey, ha="center", fontsize=9)
        figure.suptitle(
            "How often the 95% interval of a yes/no share holds the truth", x=0.012, ha="left", fontweight="bold"
        )
        figure.supxlabel("true share of yes", fontsize=10)
        folder.mkdir(parents=True, exist_ok=True)
        page = {"facecolor": "white", "bbox_inches": "tight", "pad_inches": 0.15}
        figure.savefig(folder / "coverage.png", dpi=150, metadata={"Software": None}, **page)
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None}, **page)
    # A hundredth of a point is finer than any screen, and halves the file.
    (folder / "coverage.svg").write_text(re.sub(r"(\.\d\d)\d+", r"\1", text.getvalue()), encoding="utf-8")


def cases(fine: bool) -> Iterator[tuple[Kind, str, int, float, bool]]:
    for kind in KINDS:
        for epsilon in EPSILONS:
            for n in kind.sizes:
                for level in LEVELS:
                    yield kind, epsilon, n, level, fine


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--fine", action="store_true", help="all shares, not only the listed ones")
    arguments.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments.add_argument("--plot", type=Path, help="only draw coverage.svg and coverage.png into this folder")
    options = arguments.parse_args()
    if options.plot:
        draw(options.plot)
        return
    console = Console()
    todo = [*cases(options.fine)]
    rows = [measure(*case) for case in track(todo, "Summing", console=console, transient=True)]
    console.print(in_full([row for row in rows if (row.question, row.target) == ("yes_no", "population")]))
    console.print(in_short(rows))
    console.print(in_length(rows))
    import joint_coverage  # where this runs as a script, its folder is where modules are found

    joint = joint_coverage.measure(console)
    console.print(joint_coverage.table(joint))
    if options.json:
        figures = [row._asdict() for row in (*rows, *joint)]
        options.json.write_text(json.dumps(figures, indent=1) + "\n")
    too_low = [*missed(rows), *joint_coverage.missed(joint)]
    for row in too_low:
        console.print(f"missed: {row}")
    sys.exit(bool(too_low))


if __name__ == "__main__":
    main()
