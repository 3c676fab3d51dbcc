"""Root mean square errors compared with the peers, at the same true answers, epsilon and number of respondents.

    python bench/peers.py && python bench/accuracy.py [--quick] [--json FILE]

Errors are against the respondents' own true answers, so that only the noise of the channels counts: the sampling of
respondents, the same for all, would only bring ratios closer to 1. Exits with 1 where a mark is missed.

Shares: every frequency oracle of the peers that fits a list of options runs through its own client and server code. A
few runs give its error to within some percent, too coarse for a mark of 1.02. So its variance is worked out from its
own probabilities (oracles.py), its runs must agree with that, and the marks are held against the exact figures:
unbiased shares against unbiased ones, projected shares against the same projection of theirs, drawn many times from
those probabilities. multi-freq-ldpy returns shares clipped at zero and scaled to sum to 1, or its iterative Bayesian
update; how our estimate compares with those is shown, and where it is behind.

Numbers: the worst-case variance over all true values in [-1, 1], and errors on particular answers, from the papers'
formulas (mechanisms.py), each simulated as well. Scales: the worst case over the points, by enumeration of all reports.

Cross-tabs: one joint report against two independent ones at half the epsilon each (joint_accuracy.py).

[1] Ye and Barg 2018, IEEE Trans. Inf. Theory 64.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import warnings
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import joint_accuracy
import numpy as np
from mechanisms import MECHANISMS, number_channel
from oracles import LIBRARIES, NOTES, Array, Model, Run, Signs, Subsets, Truth, choice, models, seed_peers
from rich.console import Console
from rich.progress import track
from rich.table import Table

from deniable_protocol import Item, N, Subset, decode, design
from deniable_protocol.design import band, subset
from deniable_protocol.tables import exponential
from deniable_server.estimator import project, worst_variance
from deniable_server.estimator.scores import table_of

EPSILONS = (0.5, 1.0, 2.0, 4.0)
NUMBER_EPSILONS = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
POINTS = (5, 7, 11)
MARK = 1.02
"""How far above the best of the peers, and above the optimum, an error of ours may lie."""
AGREE = 4.0
"""Runs further than this many standard errors from their formula: either the code or the formula is wrong."""


class Size(NamedTuple):
    """How much is run: respondents, numbers of options, runs of the peers' code per case, and draws."""

    n: int = 10_000
    options: Sequence[int] = (5, 10, 20, 50)
    runs: int = 2
    draws: int = 200_000
    """Of projected shares, divided by the number of options that anyone has: the more, the more one draw shows."""
    number_draws: int = 200


QUICK = Size(n=1_000, options=(5, 20), runs=1, draws=10_000, number_draws=50)


class Measured(NamedTuple):
    """A root mean square error and its standard error, from repeated squared errors."""

    error: float
    uncertainty: float

    @classmethod
    def of(cls, squares: Array) -> Measured:
        mean = float(squares.mean())
        return cls(math.sqrt(mean), float(squares.std(ddof=1)) / math.sqrt(len(squares)) / (2 * math.sqrt(mean)))

    def over(self, other: Measured) -> Measured:
        """The ratio of two independent ones."""
        relative = math.hypot(self.uncertainty / self.error, other.uncertainty / other.error)
        return Measured(self.error / other.error, self.error / other.error * relative)


# --- shares ------------------------------------------------------------------------------------------------------


def datasets(k: int, n: int) -> dict[str, Truth]:
    """True answers: all options equally common, the j-th 1/j as common as the first, and all respondents in one."""
    truths = {}
    for name, shape in (("uniform", np.ones(k)), ("Zipf", 1 / np.arange(1, k + 1)), ("all in one", np.eye(k)[0])):
        truth = np.floor(n * shape / shape.sum()).astype(np.int64)
        truth[0] += n - truth.sum()
        truths[name] = truth
    return truths


def ours(k: int, epsilon: float) -> Subsets:
    """The channel as published, as a model."""
    channel = design([Item(choice(k, epsilon))], Fraction(str(epsilon)))
    assert isinstance(channel, Subset)
    return Subsets(k, channel.size, channel.favour / N)


def optimum(k: int, epsilon: float, n: int) -> float:
    """The least error that Ye and Barg [1] prove possible, over d, without the sampling of respondents.

    n E|p^ - p|^2 = (k-1)^2 (d e + k - d)^2 / (k d (k-d) (e-1)^2) + 1/k - sum p^2, of which 1 - sum p^2 is sampling.
    """
    e = math.exp(epsilon)
    total = min((k - 1) ** 2 * (d * e + k - d) ** 2 / (k * d * (k - d) * (e - 1) ** 2) for d in range(1, k))
    return math.sqrt((total + 1 / k - 1) / n / k)


def exact_error(model: Model | Signs, truth: Truth) -> float:
    return math.sqrt(model.noise(truth).mean())


def projected(shares: Array) -> Array:
    """The estimator's projection on the simplex, for many at once; the first few are checked against it."""
    falling = -np.sort(-shares, axis=1)
    thresholds = (np.cumsum(falling, axis=1) - 1) / np.arange(1, shares.shape[1] + 1)
    above = (falling > thresholds).sum(axis=1)
    result = np.maximum(shares - thresholds[np.arange(len(shares)), above - 1][:, None], 0.0)
    assert all(np.allclose(project([*map(float, row)]), fast) for row, fast in zip(shares[:5], result[:5], strict=True))
    return result


def scaled(shares: Array) -> Array:
    """As multi-freq-ldpy returns them: clipped at zero and scaled to sum to 1."""
    clipped = np.maximum(shares, 0.0)
    return clipped / clipped.sum(axis=1, keepdims=True)


def squares(shares: Array, truth: Truth) -> Array:
    return np.mean((shares - truth / truth.sum()) ** 2, axis=1)


def compare_unbiased(k: int, epsilon: float, size: Size) -> dict[str, Any]:
    """Exact errors of unbiased shares: ours, the optimum's, and the best of the peers' on any of the data sets."""
    truths = datasets(k, size.n).values()
    theirs = {name: min(exact_error(m, t) for t in truths) for name, m in models(k, epsilon).items()}
    theirs["Hadamard signs"] = min(exact_error(Signs(epsilon), truth) for truth in truths)
    own = max(exact_error(ours(k, epsilon), truth) for truth in truths)
    best = min(theirs, key=lambda name: theirs[name])
    row = {"options": k, "epsilon": epsilon, "ours": own, "optimum": optimum(k, epsilon, size.n)}
    return row | {"best": best, "theirs": theirs, "ratio": own / theirs[best], "of_optimum": own / row["optimum"]}


def compare_projected(k: int, epsilon: float, size: Size, rng: np.random.Generator) -> list[dict[str, Any]]:
    """Errors of projected shares on each data set, drawn. A peer that has our very channel has our very errors."""
    own, rows = ours(k, epsilon), []
    others = {
        name: model
        for name, model in models(k, epsilon).items()
        if not (isinstance(model, Subsets) and model.size == own.size and math.isclose(model.p, own.p))
    }
    for data, truth in datasets(k, size.n).items():
        times = size.draws // np.count_nonzero(truth)
        error = Measured.of(squares(projected(own.draw(truth, times, rng)), truth))
        ratios = {
            name: error.over(Measured.of(squares(projected(model.draw(truth, times, rng)), truth)))
            for name, model in others.items()
        }
        best = max(ratios, key=lambda name: ratios[name].error)
        row = {"options": k, "epsilon": epsilon, "data": data, "draws": int(times), "ours": error.error, "best": best}
        same = [name for name in models(k, epsilon) if name not in others]
        rows.append(row | {"ratio": ratios[best].error, "uncertainty": ratios[best].uncertainty, "same": same})
    return rows


def compare_returned(k: int, epsilon: float, size: Size, rng: np.random.Generator) -> list[dict[str, Any]]:
    """Our estimate compared with what multi-freq-ldpy makes of the same reports of subset selection."""
    try:
        from multi_freq_ldpy.estimators.Histogram_estimator import IBU
    except ImportError:
        return []
    model, rows = ours(k, epsilon), []
    for data, truth in datasets(k, size.n).items():
        # The same reports for all, so that a few are enough.
        shares = model.draw(truth, max(size.draws // k // 200, 20), rng)
        held = (shares * (model.p - model.q) + model.q) / model.size
        table = np.full((k, k), model.q)
        np.fill_diagonal(table, model.p)
        updated = np.array([IBU(k, table, row, 10_000, 1e-12, "max_abs") for row in held])
        own = squares(projected(shares), truth).mean()
        returned = {"scaled": squares(scaled(shares), truth).mean(), "updated": squares(updated, truth).mean()}
        ratios = {name: math.sqrt(own / theirs) for name, theirs in returned.items()}
        rows.append({"options": k, "epsilon": epsilon, "data": data, "reports_of": len(shares)} | ratios)
    return rows


def run_libraries(size: Size, console: Console) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Their own code on the same true answers: how far its errors are from the formula, over all cases together.

    Squared errors over their expectation average 1; with k - 1 independent ones per run, their mean has the variance
    2 / (number of them), the squared error being a square of something nearly normal.
    """
    ready: dict[str, dict[str, Run]] = {}
    absent: dict[str, str] = {}
    for library, load in LIBRARIES.items():
        try:
            ready[library] = load()
        except Exception as error:  # a peer may be missing or broken in any way; that is a result too
            absent[library] = f"{type(error).__name__}: {error}"
    seed_peers(1)
    cases = [(k, e, data) for k in size.options for e in EPSILONS for data in datasets(k, size.n)]
    sums: dict[tuple[str, str], list[tuple[float, int]]] = {}
    for k, epsilon, data in track(cases, "Running the peers", console=console, transient=True):
        truth = datasets(k, size.n)[data]
        answers = np.repeat(np.arange(k), truth).tolist()
        known = {**models(k, epsilon), "Hadamard signs": Signs(epsilon), "subset": ours(k, epsilon)}
        for library, runs in ready.items():
            for name, run in runs.items():
                # Fast hashing reuses a thousand hash functions and has no such formula; it tries to be the other.
                expected = exact_error(known["optimised hashing" if name == "fast hashing" else name], truth)
                for _ in range(size.runs):
                    try:
                        with warnings.catch_warnings():
                            warnings.simplefilter("ignore")  # pure-ldp warns of small samples and small epsilons
                            error = float(np.mean((run(answers, k, epsilon).unbiased - truth / size.n) ** 2))
                    except Exception as problem:
                        absent[f"{library} {name}"] = f"{type(problem).__name__}: {problem}"
                        break
                    sums.setdefault((library, name), []).append((error / expected**2, k - 1))
    rows = []
    for (library, name), each in sums.items():
        freedom = sum(weight for _, weight in each)
        ratio = math.sqrt(sum(value * weight for value, weight in each) / freedom)
        rows.append(
            {"library": library, "oracle": name, "runs": len(each), "ratio": ratio}
            | {"uncertainty": ratio / math.sqrt(2 * freedom)}
        )
    return rows, absent


# --- means -------------------------------------------------------------------------------------------------------


def numbers(n: int) -> dict[str, Array]:
    """True values in [-1, 1]."""
    even = (np.arange(n) + 0.5) / n
    return {
        "uniform": 2 * even - 1,
        "beta(2, 5)": 2 * np.random.default_rng(2).beta(2, 5, n) - 1,
        "centre": np.zeros(n),
        "one end": np.ones(n),
        "both ends": np.where(even < 0.5, -1.0, 1.0),
    }


def compare_numbers(epsilon: float, size: Size, rng: np.random.Generator) -> dict[str, Any]:
    """Worst-case variances of one report, exact errors on each data set, and simulated over exact variance."""
    made = {name: make(epsilon) for name, make in MECHANISMS.items()}
    fine = np.linspace(-1, 1, 20_001)
    worst = {name: float(mechanism.variance(fine).max()) for name, mechanism in made.items()}
    # The grid is ours alone to miss; the estimator knows the peaks between its points.
    worst["ours"] = 4 * worst_variance(number_channel(epsilon), between=True)
    errors: dict[str, dict[str, float]] = {}
    simulated: dict[str, list[float]] = {name: [] for name in made}
    for data, values in numbers(size.n).items():
        for name, mechanism in made.items():
            variance = float(mechanism.variance(values).mean()) / size.n
            errors.setdefault(data, {})[name] = math.sqrt(variance)
            means = np.array([mechanism.mean(values, rng) for _ in range(size.number_draws)])
            simulated[name].append(float(np.mean((means - values.mean()) ** 2)) / variance)
    best = min((name for name in worst if name != "ours"), key=lambda name: worst[name])
    row = {"epsilon": epsilon, "worst": worst, "best": best, "ratio": math.sqrt(worst["ours"] / worst[best])}
    return row | {"errors": errors, "simulated": simulated}


def compare_scales(points: int, epsilon: float, n: int) -> dict[str, Any]:
    """Worst-case errors of the mean of a scale over its points, in points, all decoded unbiasedly."""
    exact = Fraction(str(epsilon))

    def worst(table: Array, scores: Array) -> float:
        means = table @ scores
        return float(np.max(table @ scores**2 - means**2))

    def decoded(channel: Any) -> float:
        """The scores x z of the decoded reports, over all reports of the channel."""
        x = np.linspace(0, 1, points)
        z = np.array([[float(entry) for entry in decode(channel, report)] for report in channel.reports()])
        return worst(table_of(channel), z @ x)

    variances = {
        "ours": worst_variance(band(points, exact)),
        "our subset": decoded(subset(points, exact)),
        "k-ary response": decoded(subset(points, exact, size=1)),
        "exponential": decoded(exponential(points, exact)),
    }
    errors = {name: (points - 1) * math.sqrt(variance / n) for name, variance in variances.items()}
    return {"points": points, "epsilon": epsilon, "errors": errors}


# --- output ------------------------------------------------------------------------------------------------------


def grid(title: str, *headings: str) -> Table:
    table = Table(title=title, title_justify="left")
    for heading in headings:
        words = heading in ("best peer", "best other peer", "answers", "library", "oracle", "best")
        table.add_column(heading, justify="left" if words else "right", no_wrap=True)
    return table


def show_shares(console: Console, unbiased: list[dict[str, Any]], in_simplex: list[dict[str, Any]], n: int) -> None:
    table = grid(
        f"Unbiased shares, n = {n:,}: exact error in percentage points",
        *("k", "ε", "ours", "optimum", "/ optimum", "best peer", "/ best peer"),
    )
    for row in unbiased:
        own, least = f"{100 * row['ours']:.4f}", f"{100 * row['optimum']:.4f}"
        ratios = f"{row['of_optimum']:.4f}", row["best"], f"{row['ratio']:.4f}"
        table.add_row(str(row["options"]), f"{row['epsilon']:g}", own, least, *ratios)
    console.print(table)
    table = grid(
        f"Projected shares, n = {n:,}: error in percentage points, drawn",
        *("k", "ε", "answers", "ours", "best other peer", "/ theirs", "±"),
    )
    for row in in_simplex:
        own, ratio, doubt = f"{100 * row['ours']:.3f}", f"{row['ratio']:.4f}", f"{row['uncertainty']:.4f}"
        table.add_row(str(row["options"]), f"{row['epsilon']:g}", row["data"], own, row["best"], ratio, doubt)
    console.print(table)


def show_peers(console: Console, runs: list[dict[str, Any]], returned: list[dict[str, Any]]) -> None:
    table = grid(
        "Their own code: errors over those of the formula, all cases together",
        *("library", "oracle", "runs", "measured / exact", "±"),
    )
    for row in runs:
        figures = str(row["runs"]), f"{row['ratio']:.3f}", f"{row['uncertainty']:.3f}"
        table.add_row(row["library"], row["oracle"], *figures)
    console.print(table)
    if not returned:
        return
    table = grid(
        "Error of our estimate over that of what multi-freq-ldpy makes of the same reports",
        *("k", "ε", "answers", "ours / scaled", "ours / updated"),
    )
    for row in returned:
        ratios = f"{row['scaled']:.3f}", f"{row['updated']:.3f}"
        table.add_row(str(row["options"]), f"{row['epsilon']:g}", row["data"], *ratios)
    console.print(table)


def show_means(console: Console, of_numbers: list[dict[str, Any]], scales: list[dict[str, Any]], n: int) -> None:
    names = [*MECHANISMS]
    table = grid("A number: worst-case variance of one report on [-1, 1]", "ε", *names, "error / best")
    for row in of_numbers:
        table.add_row(f"{row['epsilon']:g}", *(f"{row['worst'][name]:.4g}" for name in names), f"{row['ratio']:.3f}")
    console.print(table)
    table = grid(f"A number: exact error of the mean in thousandths, n = {n:,}", "answers", "ε", *names, "best")
    for data in of_numbers[0]["errors"]:
        for row in of_numbers:
            errors = row["errors"][data]
            best, last = min(errors, key=lambda name: errors[name]), row is of_numbers[-1]
            figures = (f"{1000 * errors[name]:.2f}" for name in names)
            table.add_row(data, f"{row['epsilon']:g}", *figures, best, end_section=last)
    console.print(table)
    names = [*scales[0]["errors"]]
    table = grid(f"A scale: worst-case error of the mean in points, n = {n:,}", "points", "ε", *names)
    for row in scales:
        figures = (f"{row['errors'][name]:.4f}" for name in names)
        table.add_row(str(row["points"]), f"{row['epsilon']:g}", *figures)
    console.print(table)


def agreement(of_numbers: list[dict[str, Any]], draws: int) -> dict[str, Measured]:
    """Simulated over exact variance of each mechanism, all cases together."""
    result = {}
    for name in MECHANISMS:
        ratios = [ratio for row in of_numbers for ratio in row["simulated"][name]]
        result[name] = Measured(float(np.mean(ratios)), math.sqrt(2 / (len(ratios) * draws)))
    return result


def missed_marks(results: dict[str, Any], agree: dict[str, Measured]) -> list[str]:
    """The marks that were missed."""
    missed = []
    for row in results["unbiased"]:
        if max(row["ratio"], row["of_optimum"]) > MARK:
            missed.append(f"unbiased shares of {row['options']} options at ε = {row['epsilon']:g}: {row['ratio']:.4f}")
    for row in results["projected"]:
        if row["ratio"] > MARK:
            where = f"{row['options']} options at ε = {row['epsilon']:g}, {row['data']}"
            missed.append(f"projected shares of {where}: {row['ratio']:.4f} ± {row['uncertainty']:.4f}")
    for row in results["libraries"]:
        if row["oracle"] != "fast hashing" and abs(row["ratio"] - 1) > AGREE * row["uncertainty"]:
            missed.append(f"{row['library']} {row['oracle']} disagrees with its formula: {row['ratio']:.3f}")
    for name, ratio in agree.items():
        if abs(ratio.error - 1) > AGREE * ratio.uncertainty:
            missed.append(f"{name} disagrees with its formula for a number: {ratio.error:.3f} of its variance")
    for row in results["numbers"]:
        if row["ratio"] >= 1:
            missed.append(f"worst case of a number at ε = {row['epsilon']:g}: behind {row['best']}")
    for row in results["scales"]:
        if row["errors"]["ours"] > min(row["errors"].values()) * (1 + 1e-9):
            missed.append(f"worst case of a scale of {row['points']} at ε = {row['epsilon']:g}: behind")
    return missed


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--quick", action="store_true", help="a small size, to see that everything runs")
    arguments.add_argument("--json", type=Path, help="also write the figures to this file")
    options = arguments.parse_args()
    size, console, rng = QUICK if options.quick else Size(), Console(), np.random.default_rng(1)
    cases = [(k, epsilon) for k in size.options for epsilon in EPSILONS]
    runs, absent = run_libraries(size, console)
    unbiased = [compare_unbiased(*case, size) for case in cases]
    drawing = track(cases, "Drawing shares", console=console, transient=True)
    drawn = [(compare_projected(*case, size, rng), compare_returned(*case, size, rng)) for case in drawing]
    in_simplex, returned = ([row for pair in drawn for row in pair[i]] for i in (0, 1))
    simulating = track(NUMBER_EPSILONS, "Drawing numbers", console=console, transient=True)
    of_numbers = [compare_numbers(epsilon, size, rng) for epsilon in simulating]
    scales = [compare_scales(points, epsilon, size.n) for points in POINTS for epsilon in EPSILONS]
    show_shares(console, unbiased, in_simplex, size.n)
    show_peers(console, runs, returned)
    show_means(console, of_numbers, scales, size.n)
    crosstabs = joint_accuracy.measure()
    console.print(joint_accuracy.table(crosstabs))
    agree = agreement(of_numbers, size.number_draws)
    each = ", ".join(f"{name} {ratio.error:.3f}" for name, ratio in agree.items())
    console.print(f"Simulated over exact variance of the mean of a number, ± {agree['ours'].uncertainty:.3f}: {each}.")
    for name, why in absent.items():
        console.print(f"{name}: not measured here ({why})")
    console.print(NOTES.replace("\n", " "))
    results = {"unbiased": unbiased, "projected": in_simplex, "libraries": runs, "returned": returned}
    results |= {"numbers": of_numbers, "scales": scales, "absent": absent}
    results["crosstabs"] = [each._asdict() | {"saved": each.saved} for each in crosstabs]
    missed = [*missed_marks(results, agree), *joint_accuracy.missed(crosstabs)]
    for mark in missed:
        console.print(f"missed: {mark}")
    if options.json:
        options.json.write_text(json.dumps(results | {"missed": missed}, indent=1) + "\n")
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
