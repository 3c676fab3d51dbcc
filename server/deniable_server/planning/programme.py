"""Which blocks to ask, and how often: a linear programme.

    maximise tau   subject to   sum_B w_B I[x, B] >= tau for every target x,   sum w = 1,   w >= 0

I[x, B] is the information that one respondent with block B gives on x. Then 1/tau respondents meet every target. The
dual programme asks for prices y >= 0 of the targets, sum y = 1, that make the best block worth the least:

    tau <= max_B sum_x y_x I[x, B]     for any prices,

which proves how far a choice is from the best there is. A survey with few atoms has few blocks, and all are in the
programme. Otherwise it begins with the simplest and takes up the blocks that are worth more than tau at the prices of
the moment, until none are.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog
from scipy.sparse import csr_array

from .blocks import MOST_ATOMS, MOST_PATHS, Blocks, Items, Report
from .pricing import Atoms, Pricing, spanning

Array = npt.NDArray[np.float64]

MOST_BLOCKS = 3_000
"""Up to so many, all blocks are in the programme."""
MOST_OVERLAPPING = 10_000
"""Up to so many if atoms overlap: of a search among more of those, it is not known how far it is from the best."""
MOST_ROUNDS = 40
NEAR_ENOUGH = 0.002
"""The search ends where the best possible needs at most this part fewer respondents."""
RARE = 0.1
"""A block that is drawn less often than this part of the average is not worth having."""


class Solution(NamedTuple):
    """The reports to ask for with their probabilities, the respondents that meet every target, and the fewest that any
    choice of blocks could need, where that is known.
    """

    reports: list[Report]
    weights: list[float]
    respondents: float
    fewest: float | None


def choose_reports(blocks: Blocks) -> Solution:
    """The best choice of blocks, without those that would hardly ever be drawn."""
    search = Search(blocks)
    solved, fewest = search.run()
    kept = _without_rare(blocks, solved)
    again = _solve([solved.reports[place] for place in kept], len(blocks.targets))
    used = [place for place, weight in enumerate(again.weights) if weight > 0]
    return Solution(
        [again.reports[place] for place in used],
        [float(again.weights[place]) for place in used],
        1 / again.tau,
        fewest,
    )


class Solved(NamedTuple):
    reports: list[Report]
    weights: Array
    tau: float
    prices: Array


def _solve(reports: list[Report], targets: int) -> Solved:
    """The programme over these reports. Its solution has at most one more block than there are targets."""
    # A scale on which tau is about 1, as the tolerances of the solver expect.
    scale = 1 / max(max(report.information) for report in reports) * targets
    count = len(reports)
    rows = [target for report in reports for target in report.targets]
    columns = [place for place, report in enumerate(reports) for _ in report.targets]
    gains = [-scale * gain for report in reports for gain in report.information]
    rows += range(targets)
    columns += [count] * targets
    gains += [1.0] * targets
    matrix = csr_array((gains, (rows, columns)), shape=(targets, count + 1))
    found: Any = linprog(  # type: ignore[call-overload]  # its types leave out sparse matrices
        np.append(np.zeros(count), -1.0),
        A_ub=matrix,
        b_ub=np.zeros(targets),
        A_eq=csr_array(np.append(np.ones(count), 0.0)[None, :]),
        b_eq=[1.0],
        method="highs-ds",  # the simplex method: at a corner few weights are above zero
    )
    prices = np.maximum(-found.ineqlin.marginals, 0.0)
    weights = np.maximum(found.x[:-1], 0.0)
    return Solved(reports, weights, float(found.x[-1]) / scale, prices / prices.sum())


def _without_rare(blocks: Blocks, solved: Solved) -> list[int]:
    """The reports to keep, so that there is still one for every target."""
    used = [place for place, weight in enumerate(solved.weights) if weight > 0]
    least = RARE * sum(solved.weights[used]) / len(used)
    kept = [place for place in used if solved.weights[place] >= least]
    met = {target for place in kept for target in solved.reports[place].targets}
    by_weight = sorted(set(used) - set(kept), key=lambda place: (-solved.weights[place], place))
    for target in range(len(blocks.targets)):
        if target not in met:
            place = next(place for place in by_weight if target in solved.reports[place].targets)
            kept.append(place)
            met.update(solved.reports[place].targets)
    return sorted(kept)


def _worth(report: Report, prices: Array) -> float:
    return float(prices[list(report.targets)] @ report.information)


class Search:
    """The reports in the programme so far, and the search for better ones."""

    def __init__(self, blocks: Blocks) -> None:
        self.blocks = blocks
        self.reports: list[Report] = []
        self._known: set[tuple[Items, int]] = set()

    def run(self) -> tuple[Solved, float | None]:
        every = self._every_block()
        for atoms in every or self._first_blocks():
            self._add(atoms)
        solved = self._solve()
        if every:
            return solved, 1 / solved.tau
        pricing = Pricing(self.blocks)
        highest = np.inf
        for _ in range(MOST_ROUNDS):
            better, bound = pricing.better_blocks(solved.prices, solved.tau)
            highest = min(highest, max(bound, self._best_known(solved.prices)))
            before = len(self.reports)
            for atoms in better:
                self._add(atoms, solved)
            if len(self.reports) == before or highest <= solved.tau * (1 + NEAR_ENOUGH):
                break
            solved = self._solve()
        # A block of atoms that overlap has fewer paths than they have apart: of those there is no bound.
        return solved, None if self.blocks.overlapping else 1 / highest

    def _best_known(self, prices: Array) -> float:
        return max(_worth(report, prices) for report in self.reports)

    def _solve(self) -> Solved:
        return _solve(sorted(self.reports), len(self.blocks.targets))

    def _add(self, atoms: Atoms, solved: Solved | None = None) -> None:
        """Take up the ways to ask these atoms, or those alone that are worth more than tau."""
        for report in self.blocks.reports(atoms):
            new = (report.items, report.size) not in self._known
            if new and (solved is None or _worth(report, solved.prices) > solved.tau * (1 + 1e-9)):
                self._known.add((report.items, report.size))
                self.reports.append(report)

    def _every_block(self) -> list[Atoms]:
        """All blocks, or none if there are too many."""
        most = MOST_OVERLAPPING if self.blocks.overlapping else MOST_BLOCKS
        found: list[Atoms] = [(atom,) for atom in range(len(self.blocks.atoms))]
        last: list[Atoms] = [(atom,) for atom in self.blocks.joinable]
        for _ in range(MOST_ATOMS - 1):
            larger = (
                (*atoms, atom)
                for atoms in last
                for atom in self.blocks.joinable
                if atom > atoms[-1] and self.blocks.count_paths((*atoms, atom)) <= MOST_PATHS
            )
            last = [*islice(larger, max(most - len(found), 0) + 1)]
            found += last
            if len(found) > most:
                return []
        return found

    def _first_blocks(self) -> Iterator[Atoms]:
        """Every atom by itself, for every target a block that has all of its items, and neighbours that overlap."""
        yield from ((atom,) for atom in range(len(self.blocks.atoms)))
        yield from spanning(self.blocks)
        for cluster in self.blocks.clusters:
            ring = cluster + cluster  # so that each has equally many neighbours
            for size in range(2, min(MOST_ATOMS, len(cluster)) + 1):
                yield from (tuple(sorted(ring[first : first + size])) for first in range(len(cluster)))
