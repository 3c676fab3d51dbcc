"""Blocks: sets of questions that one report can be about, and what such a report tells about each of them.

An *atom* is what cannot be divided: a question with its follow-ups, one option of a multi_choice, or a mean. A *block*
joins up to four atoms into one part. If the part has K paths and an answer owns t of them, then a report of the subset
channel of size d gives an unbiased share of that answer with the variance

    V(K, d, t, s) = s(1 - s) + s v1 + (1 - s) v0                     v1, v0 of ``joint_support``

per respondent, and the *information* m^2 / (z^2 V) on a target with the margin m. Information adds up over respondents,
whatever their blocks, and the target is met where the sum is 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache, cached_property
from itertools import combinations, product
from math import prod
from typing import NamedTuple

from deniable_protocol import Subset
from deniable_protocol.design import subset
from deniable_server.estimator.intervals import joint_support

MOST_ATOMS = 4
MOST_PATHS = 51

Items = tuple[int, ...]
"""Items by their places in the survey, in order."""
Path = tuple[int | None, ...]


class Target(NamedTuple):
    """What is to be known within a margin: the shares of one item, or the cells of several at once."""

    items: Items
    margin: float
    share: float


class Report(NamedTuple):
    """One way to ask: the items of a part, its paths, and the size of its subsets.

    ``targets`` are those that it tells something about, ``information`` says how much of each one report gives.
    """

    items: Items
    paths: int
    size: int
    targets: tuple[int, ...]
    information: tuple[float, ...]
    atoms: tuple[int, ...]


class Blocks:
    """All that a survey could ask together.

    ``atoms`` are sets of items. ``alone`` has the variance of items that are always a part by themselves. ``paths``
    lists the paths of some items (None if there are too many). ``z`` is how many standard errors make a margin.
    """

    def __init__(
        self,
        atoms: Sequence[Items],
        alone: dict[int, float],
        targets: Sequence[Target],
        paths: Callable[[Items], tuple[Path, ...] | None],
        epsilon: Fraction,
        z: float,
    ) -> None:
        self.atoms, self.alone, self.targets = [*atoms], alone, [*targets]
        self._sets = [frozenset(target.items) for target in self.targets]
        self._epsilon, self._z = epsilon, z
        self._list_paths = cache(paths)
        self._path_count = cache(self._count)
        self._owned_of = cache(self._count_owned)
        self._information = cache(self._measure)
        self.own_information = cache(self._own_information)
        self.shared_information = cache(self._shared_information)
        self.channel = cache(lambda options, size: subset(options, epsilon, size))

    # --- shapes ---------------------------------------------------------------------------------------------------

    @cached_property
    def joinable(self) -> list[int]:
        """The atoms that may be joined with others."""
        return [place for place, atom in enumerate(self.atoms) if atom[0] not in self.alone]

    @cached_property
    def overlapping(self) -> set[tuple[int, int]]:
        """Pairs of atoms with an item in common, such as two options of a multi_choice that has a show_if."""
        return {pair for places in self.clusters for pair in combinations(places, 2)}

    @cached_property
    def clusters(self) -> list[tuple[int, ...]]:
        """The atoms that have the same item, for each item that several have."""
        return sorted({tuple(places) for places in self.holders.values() if len(places) > 1})

    @cached_property
    def holders(self) -> dict[int, list[int]]:
        """The atoms that have an item."""
        found: dict[int, list[int]] = {}
        for place, atom in enumerate(self.atoms):
            for item in atom:
                found.setdefault(item, []).append(place)
        return found

    def pieces(self, atoms: Sequence[int]) -> list[Items]:
        """The items of some atoms, apart from one another where they do not overlap: then their paths multiply."""
        if not self.overlapping:
            return [self.atoms[atom] for atom in atoms]
        found: list[Items] = []
        for atom in atoms:
            joined = set(self.atoms[atom])
            apart = []
            for piece in found:
                if joined.isdisjoint(piece):
                    apart.append(piece)
                else:
                    joined.update(piece)
            found = [*apart, tuple(sorted(joined))]
        return found

    def count_paths(self, atoms: Sequence[int]) -> int:
        """K, or more than ``MOST_PATHS``."""
        return prod(map(self._path_count, self.pieces(atoms)))

    def _count(self, piece: Items) -> int:
        paths = self._list_paths(piece)
        return MOST_PATHS + 1 if paths is None else len(paths)

    def can_hold(self, items: Items) -> bool:
        """Whether there is a block with all of these."""
        choices = product(*(self.holders[item] for item in items))
        return any(self.count_paths(sorted(set(atoms))) <= MOST_PATHS for atoms in choices)

    def sizes(self, paths: int) -> list[int]:
        """The subset sizes worth trying: 1, and the best one for the paths themselves."""
        return sorted({1, self.channel(paths, None).size})

    # --- information ----------------------------------------------------------------------------------------------

    def reports(self, atoms: Sequence[int]) -> Iterator[Report]:
        """The ways to ask a block; none if it has too many paths."""
        items = tuple(sorted({item for atom in atoms for item in self.atoms[atom]}))
        if items[0] in self.alone:
            (target,) = self.targets_within(items)
            gain = self._gain(self.targets[target].margin, self.alone[items[0]])
            yield Report(items, 0, 0, (target,), (gain,), tuple(atoms))
            return
        paths = self.count_paths(atoms)
        if paths > MOST_PATHS:
            return
        targets = self.targets_within(items)
        pieces = self.pieces(atoms)
        # A question by itself has its own channel, of the best size.
        for size in self.sizes(paths) if len(items) > 1 else [self.channel(paths, None).size]:
            information = (self._tells(target, pieces, paths, size) for target in targets)
            yield Report(items, paths, size, tuple(targets), tuple(information), tuple(atoms))

    def _own_information(self, atom: int, paths: int, size: int) -> tuple[tuple[int, float], ...]:
        """What a report on a block of so many paths tells about each target within one of its atoms."""
        return tuple(
            (target, self._tells(target, [self.atoms[atom]], paths, size))
            for target in self.targets_within(self.atoms[atom])
        )

    def _shared_information(self, paths: int, size: int) -> tuple[tuple[int, tuple[int, ...], float], ...]:
        """Of each target that several atoms share: which they are, and what such a report tells about it."""
        return tuple(
            (target, atoms, self._tells(target, [self.atoms[atom] for atom in atoms], paths, size))
            for target, atoms in self._spanned
            if paths % self.count_paths(atoms) == 0
        )

    @cached_property
    def _spanned(self) -> list[tuple[int, tuple[int, ...]]]:
        """The targets of several atoms that do not overlap, with these atoms."""
        found = []
        for place, target in enumerate(self.targets):
            atoms = tuple(sorted({self.holders[item][0] for item in target.items}))
            if len(atoms) > 1 and not any(pair in self.overlapping for pair in combinations(atoms, 2)):
                found.append((place, atoms))
        return found

    def _tells(self, target: int, pieces: list[Items], paths: int, size: int) -> float:
        wanted = self.targets[target]
        return self._information(paths, size, self._owned_by(target, pieces, paths), wanted.margin, wanted.share)

    def targets_within(self, items: Items) -> list[int]:
        near = {target for item in items for target in self._targets_of.get(item, ())}
        return sorted(target for target in near if self._sets[target].issubset(items))

    @cached_property
    def _targets_of(self) -> dict[int, list[int]]:
        """By the first item that they are about."""
        found: dict[int, list[int]] = {}
        for place, target in enumerate(self.targets):
            found.setdefault(target.items[0], []).append(place)
        return found

    def _owned_by(self, target: int, pieces: list[Items], paths: int) -> tuple[int, ...]:
        """How many paths each answer (or combination of answers) of a target owns; each number once."""
        wanted = self.targets[target].items
        near = tuple(piece for piece in pieces if not self._sets[target].isdisjoint(piece))
        of, counts = self._owned_of(wanted, near)
        return counts if of == paths else tuple(count * paths // of for count in counts)

    def _count_owned(self, wanted: Items, pieces: tuple[Items, ...]) -> tuple[int, tuple[int, ...]]:
        """How many paths some pieces have together, and how many of those each answer owns: what is sent about other
        pieces multiplies both.
        """
        every = []
        for piece in pieces:
            places = [place for place, item in enumerate(piece) if item in wanted]
            cells = Counter(tuple(path[place] for place in places) for path in self._list_paths(piece) or ())
            every.append({count for cell, count in cells.items() if None not in cell})
        return prod(map(self._path_count, pieces)), tuple(sorted({prod(counts) for counts in product(*every)}))

    def _measure(self, paths: int, size: int, owned: tuple[int, ...], margin: float, share: float) -> float:
        """The information on the answer that is known worst."""
        channel: Subset = self.channel(paths, size)
        rules = [joint_support(channel, count) for count in owned]
        worst = max(share * (1 - share) + share * rule.v1 + (1 - share) * rule.v0 for rule in rules)
        return self._gain(margin, worst)

    def _gain(self, margin: float, variance: float) -> float:
        return (margin / self._z) ** 2 / variance
