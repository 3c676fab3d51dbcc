"""Respondents needed for a cross-tab: one joint report at epsilon, against two independent reports at half of it each.

    python bench/joint_accuracy.py [--json FILE]

Exact variances of the unbiased cells where all answers are equally frequent, the better of one path per report and the
best number of them; both also simulated, through the estimator's own tables. Exits with 1 where the joint report does
not save what it should, or where a simulation disagrees.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table

from deniable_protocol import Item, Question, Subset, design, survey_from_tree
from deniable_protocol.design import subset
from deniable_server.estimator.crosstab import crosstab
from deniable_server.estimator.evidence import Counted, Evidence, Heard
from deniable_server.estimator.features import Joint, coded_question
from deniable_server.estimator.intervals import joint_support, support
from deniable_server.estimator.joint import crosstab_questions

SAVED = {  # options of both questions, and epsilon: how many times fewer respondents the joint report needs
    (2, 1): 9.3,
    (2, 2): 3.9,
    (2, 4): 1.8,
    (5, 1): 30.0,
    (5, 2): 9.3,
    (5, 4): 3.6,
}
NEAR = 0.02
"""How far the saving may be from that, as a part of it, besides its rounding."""
PEOPLE, SAMPLES = 2_000, {2: 1_500, 5: 300}

Array = npt.NDArray[np.float64]


class Compared(NamedTuple):
    """Variances of one report's cell; the simulated ones are over the exact ones."""

    options: int
    epsilon: int
    joint: float
    independent: float
    simulated_joint: float
    simulated_independent: float

    @property
    def saved(self) -> float:
        return self.independent / self.joint


def questions(options: int, epsilon: float) -> tuple[Question, Question]:
    """Two choices with so many options, each at this epsilon."""
    codes = [{"code": f"c{j}", "text": "."} for j in range(options)]
    trees = [{"id": f"q{i}", "type": "choice", "text": "?", "options": codes, "epsilon": epsilon} for i in (1, 2)]
    one, two = survey_from_tree({"id": "pair", "title": "Pair", "questions": trees}).questions
    return one, two


def best_joint(options: int, epsilon: int) -> Subset:
    cells = options**2
    channels = [subset(cells, Fraction(epsilon), size) for size in (1, None)]
    return min(channels, key=lambda channel: joint_variance(channel, 1 / cells))


def joint_variance(channel: Subset, share: float) -> float:
    rule = joint_support(channel, 1)
    return share * (1 - share) + share * rule.v1 + (1 - share) * rule.v0


def independent_variance(channel: Subset) -> float:
    """Of z z', each unbiased and independent given the answers: E[z^2]^2 - s^2, where both are uniform."""
    rule, share = support(channel), 1 / channel.options
    square = share * (1 + rule.v1) + (1 - share) * rule.v0
    return square**2 - share**4


def sent(channel: Subset, answers: npt.NDArray[np.int64], random: np.random.Generator) -> npt.NDArray[np.int64]:
    """Reports to these answers: the truth is held or not, and the others are those with the smallest random numbers."""
    order = random.random((len(answers), channel.options))
    own = np.arange(len(answers)), answers
    order[own] = np.where(random.random(len(answers)) < channel.favour / 2**53, -1.0, 2.0)
    held = np.argsort(order, axis=1)[:, : channel.size]
    return np.asarray((np.int64(1) << held).sum(axis=1))


def compare(options: int, epsilon: int) -> Compared:
    random = np.random.default_rng(options + epsilon)
    channel, half = (
        best_joint(options, epsilon),
        design([Item(questions(options, epsilon / 2)[0])], Fraction(epsilon, 2)),
    )
    assert isinstance(half, Subset)
    exact = joint_variance(channel, 1 / channel.options), independent_variance(half)
    errors = np.array([_errors(options, epsilon, channel, half, random) for _ in range(SAMPLES[options])]).mean(axis=0)
    return Compared(options, epsilon, *exact, *(PEOPLE * errors / np.array(exact)).tolist())


def _errors(
    options: int, epsilon: int, channel: Subset, half: Subset, random: np.random.Generator
) -> tuple[float, float]:
    """The mean squared errors of the unbiased cells of one simulated survey, in both designs."""
    rows, columns = random.integers(0, options, (2, PEOPLE))
    one, two = questions(options, epsilon / 2)
    reports = sent(channel, rows * options + columns, random)
    counts = [int((reports >> path & 1).sum()) for path in range(channel.options)]
    paths = np.arange(channel.options).reshape(options, options)
    evidence = []
    for question, sets in ((one, paths), (two, paths.T)):
        owned = tuple(tuple(map(int, row)) for row in sets)
        heard = Heard(channel, counts, PEOPLE, owned, tuple(range(channel.options)))
        evidence.append(Evidence(question, PEOPLE, ((heard,),), (Counted(channel, counts, PEOPLE),)))
    together = crosstab_questions(evidence[0], evidence[1])
    apart = Joint(coded_question(one, half), coded_question(two, half))
    apart.add(sent(half, rows, random), sent(half, columns, random))
    truth = 1 / options**2
    first, second = (
        float(np.mean([((cell.unbiased or 0.0) - truth) ** 2 for cell in each.cells]))
        for each in (together, crosstab(apart))
    )
    return first, second


def table(results: list[Compared]) -> Table:
    grid = Table(title="Respondents that a cross-tab needs: one joint report, or two independent ones")
    headings = ("cells", "ε", "error of a cell, joint", "independent", "fewer by", "simulated / exact")
    for heading in headings:
        grid.add_column(heading, justify="right", no_wrap=True)
    for each in results:
        errors = (f"{100 * math.sqrt(variance / PEOPLE):.1f} points" for variance in (each.joint, each.independent))
        simulated = f"{each.simulated_joint:.2f}, {each.simulated_independent:.2f}"
        shape = f"{each.options} x {each.options}"
        grid.add_row(shape, str(each.epsilon), *errors, f"{each.saved:.1f}", simulated)
    return grid


def missed(results: list[Compared]) -> list[str]:
    marks = []
    for each in results:
        wanted = SAVED[each.options, each.epsilon]
        if abs(each.saved - wanted) > NEAR * wanted + 0.05:
            marks.append(f"{each.options} x {each.options} at {each.epsilon}: {each.saved:.2f} instead of {wanted}")
        # The mean of so many squares, of cells that are nearly independent, is within a tenth.
        for name in ("simulated_joint", "simulated_independent"):
            if abs(getattr(each, name) - 1) > 0.1:
                marks.append(f"{each.options} x {each.options} at {each.epsilon}: {name} {getattr(each, name):.3f}")
    return marks


def measure() -> list[Compared]:
    return [compare(options, epsilon) for options, epsilon in SAVED]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--json", type=Path, help="also write the figures to this file")
    options = arguments.parse_args()
    console, results = Console(), measure()
    console.print(table(results))
    for mark in missed(results):
        console.print(f"missed: {mark}")
    if options.json:
        figures: list[dict[str, Any]] = [each._asdict() | {"saved": each.saved} for each in results]
        options.json.write_text(json.dumps(figures, indent=1) + "\n")
    sys.exit(bool(missed(results)))


if __name__ == "__main__":
    main()
