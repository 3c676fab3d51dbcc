"""Which blocks are worth most at given prices of the targets: how the programme finds better ones in a long survey.

In a block of K paths an atom is worth the same whatever the others are, and atoms with equally many paths (one *level*)
can take each other's place. So the most valuable ones of each level make the best block, unless atoms are worth more
together than apart. They are if their cross-tab is wanted: such blocks are built around each pair that is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, combinations_with_replacement, product
from math import prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .blocks import MOST_ATOMS, MOST_PATHS, Blocks

Array = npt.NDArray[np.float64]
Atoms = tuple[int, ...]
Pattern = tuple[int, ...]
"""The levels of a block's atoms."""

MOST_LINKED = 500
"""Of the blocks that are built around pairs, so many of the best are taken up in one round."""


def spanning(blocks: Blocks) -> list[Atoms]:
    """For every target of several items the sets of atoms that hold them all."""
    found = {
        tuple(sorted(set(atoms)))
        for target in blocks.targets
        if len(target.items) > 1
        for atoms in product(*(blocks.holders[item] for item in target.items))
    }
    return sorted(atoms for atoms in found if len(atoms) > 1 and blocks.count_paths(atoms) <= MOST_PATHS)


class Candidate(NamedTuple):
    """A block and what it is worth, if not more."""

    worth: float
    atoms: Atoms


class Pricing:
    """Finds the blocks that are worth most at given prices."""

    def __init__(self, blocks: Blocks) -> None:
        self.blocks = blocks
        self.levels: dict[int, list[int]] = {}
        for atom in blocks.joinable:
            self.levels.setdefault(blocks.count_paths((atom,)), []).append(atom)
        self.patterns = [
            pattern
            for size in range(1, MOST_ATOMS + 1)
            for pattern in combinations_with_replacement(sorted(self.levels), size)
            if prod(pattern) <= MOST_PATHS and all(pattern.count(k) <= len(self.levels[k]) for k in pattern)
        ]
        self.links = sorted({pair for atoms in spanning(blocks) for pair in combinations(atoms, 2)})

    def better_blocks(self, prices: Array, tau: float) -> tuple[list[Atoms], float]:
        """Blocks that are worth more than tau, and a bound on what any block is worth.

        The bound is for blocks whose atoms do not overlap.
        """
        found: list[Atoms] = []
        linked: list[Candidate] = []
        bound = 0.0
        offers: dict[tuple[int, int], Offer] = {}
        for pattern in self.patterns:
            paths = prod(pattern)
            for size in self.blocks.sizes(paths):
                if (paths, size) not in offers:
                    offers[paths, size] = Offer(self, prices, paths, size)
                offer = offers[paths, size]
                dealt = offer.deal(pattern, tau)
                found += (candidate.atoms for candidate in dealt)
                grown, most = offer.around_links(pattern, tau)
                linked += grown
                bound = max(bound, most, offer.best(pattern))
        linked.sort(key=lambda candidate: (-candidate.worth, candidate.atoms))
        return found + [candidate.atoms for candidate in linked[:MOST_LINKED]], bound


class Offer:
    """What atoms and pairs are worth in a block of so many paths, with subsets of this size."""

    def __init__(self, pricing: Pricing, prices: Array, paths: int, size: int) -> None:
        blocks = pricing.blocks
        self.links = pricing.links
        self.own = np.zeros(len(blocks.atoms))
        self.order: dict[int, list[int]] = {}
        for level, atoms in pricing.levels.items():
            if paths % level == 0:
                for atom in atoms:
                    told = blocks.own_information(atom, paths, size)
                    self.own[atom] = sum(prices[target] * gain for target, gain in told)
                self.order[level] = sorted(atoms, key=lambda atom: (-self.own[atom], atom))
        self.level_of = {atom: level for level, atoms in self.order.items() for atom in atoms}
        linked = sorted({atom for pair in self.links for atom in pair})
        self.row = {atom: row for row, atom in enumerate(linked)}
        self.extra = np.zeros((len(linked), len(blocks.atoms)))
        for target, sharing, gain in blocks.shared_information(paths, size) if linked else ():
            # What three atoms are worth together is divided among their three pairs.
            pairs = [*combinations(sharing, 2)]
            for first, second in pairs:
                self.extra[self.row[first], second] += prices[target] * gain / len(pairs)
                self.extra[self.row[second], first] += prices[target] * gain / len(pairs)
        # Of any pair that an atom is part of, half belongs to it.
        self.half = np.zeros(len(blocks.atoms))
        if linked:
            self.half[linked] = self.extra.max(axis=1) / 2

    def best(self, pattern: Pattern) -> float:
        """The most that a block of this pattern is worth, where no two atoms are worth more together."""
        return sum(
            float(self.own[self.order[level][:count]].sum()) for level, count in sorted(Counter(pattern).items())
        )

    def deal(self, pattern: Pattern, tau: float) -> Iterator[Candidate]:
        """Blocks that are worth more than tau: the most valuable atoms first, and so on down to the last.

        All are taken up in one round: where many atoms are equal, each would otherwise need a round of its own.
        """
        times = sorted(Counter(pattern).items())
        for number in range(max(-(-len(self.order[level]) // count) for level, count in times)):
            dealt: list[int] = []
            for level, count in times:
                order = self.order[level]
                dealt += (order[place % len(order)] for place in range(number * count, (number + 1) * count))
            if (worth := float(self.own[dealt].sum())) > tau:
                yield Candidate(worth, tuple(sorted(dealt)))

    def around_links(self, pattern: Pattern, tau: float) -> tuple[list[Candidate], float]:
        """The best blocks of this pattern around each pair that is wanted together, and a bound on any such block.

        Take the pair of a block that is worth most together. What the others add is their own worth and what they are
        worth with either of the pair, which one vector per pair holds for all atoms. If there are two others, they may
        be worth something together: no more than that pair is, and than half of what each is with its best partner.
        """
        found: list[Candidate] = []
        bound = 0.0
        for levels in sorted(set(combinations(pattern, 2))):
            rest = Counter(pattern) - Counter(levels)
            pairs = [
                pair for pair in self.links if sorted(self.level_of.get(atom, 0) for atom in pair) == sorted(levels)
            ]
            if not pairs:
                continue
            first, second = np.array(pairs).T
            rows = [self.row[atom] for atom in first], [self.row[atom] for atom in second]
            together = self.extra[rows[0], second]
            base = self.own[first] + self.own[second] + together
            adds = self.own[None, :] + self.extra[rows[0]] + self.extra[rows[1]]
            adds[np.arange(len(pairs)), first] = adds[np.arange(len(pairs)), second] = -np.inf
            chosen: list[npt.NDArray[np.int64]] = []
            worth, most = base.copy(), base.copy()
            several = sum(rest.values()) > 1
            for level, count in sorted(rest.items()):
                there = np.array(self.order[level])
                values = adds[:, there]
                places = np.argsort(-values, axis=1, kind="stable")[:, :count]
                chosen += [there[places[:, place]] for place in range(count)]
                worth += np.take_along_axis(values, places, axis=1).sum(axis=1)
                slack = np.minimum(self.half[None, there], together[:, None] / 2) if several else 0.0
                most += np.sort(values + slack, axis=1)[:, -count:].sum(axis=1)
            bound = max(bound, float(most.max()))
            for place in np.flatnonzero(worth > tau):
                atoms = (first[place], second[place], *(each[place] for each in chosen))
                found.append(Candidate(float(worth[place]), tuple(sorted(int(atom) for atom in atoms))))
        return found, bound
