"""Which groups of submissions may be shown: none below a minimum size, nor what is left when others are taken away.

Reports are randomised, so even a group of one reveals no more about its member than epsilon allows. But a small group
is of no use, and a table that shows it invites stories about five people. Two rules:

- Of one segment, codes with fewer submissions than the minimum are merged, with the smallest others added until the
  merged group is large enough: the whole minus the shown groups then leaves the merged one.
- Several segments together are shown only if none of their combinations is small; else the total of one segment minus
  the combinations that are shown would be a combination that is not.

Numbers that are sums over everyone, as weighted estimates are, need the first rule only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from deniable_protocol import Document, Segment
from deniable_server.errors import Withheld
from deniable_server.statistics import Cell, Codes, empty


class Merged(NamedTuple):
    """Codes of a segment that are shown as one group; nearly always it is one code."""

    codes: tuple[str, ...]
    positions: frozenset[int]

    @property
    def code(self) -> str:
        return "+".join(self.codes)


class Grouping:
    """How the submissions of a survey may be divided by some of its segments, whose codes the cells have."""

    def __init__(self, document: Document, segments: Sequence[Segment], cells: dict[Codes, Cell], minimum: int) -> None:
        self.document = document
        # In one order, wherever they were counted: sums of weighted cells then agree to the last digit.
        self.statistics = dict(sorted(cells.items()))
        self.minimum = minimum
        self.segments = {segment.id: (i, segment) for i, segment in enumerate(segments)}

    def groups(self, name: str) -> list[Merged]:
        """The groups of one segment, in the order of its codes; empty where all together are too few."""
        position, segment = self.segments[name]
        sizes = Counter[int]()
        for codes, cell in self.statistics.items():
            sizes[codes[position]] += cell.submissions
        merged = self._merged([sizes[j] for j in range(len(segment.options))])
        if merged and sum(sizes[j] for j in merged) < self.minimum:
            return []
        groups = [_group(segment, [j]) for j in range(len(segment.options)) if j not in merged]
        if merged:
            groups.append(_group(segment, sorted(merged)))
        return sorted(groups, key=lambda group: min(group.positions))

    def numbers(self, name: str) -> tuple[int, dict[int, int]]:
        """The segment's place in the codes, and the number of the group that each of its codes belongs to."""
        return self.segments[name][0], {j: i for i, group in enumerate(self.groups(name)) for j in group.positions}

    def _merged(self, sizes: list[int]) -> set[int]:
        rising = sorted((size, j) for j, size in enumerate(sizes) if size)
        merged: set[int] = set()
        total = 0
        for size, j in rising:
            if size >= self.minimum and (not merged or total >= self.minimum):
                break
            merged.add(j)
            total += size
        return merged

    def check(self, names: Iterable[str]) -> None:
        """Withheld unless these segments may be shown together."""
        together = [name for name in self.segments if name in set(names)]
        if len(together) < 2:
            return
        numbers = [self.numbers(name) for name in together]
        sizes = Counter[Codes]()
        for codes, cell in self.statistics.items():
            sizes[tuple(number.get(codes[place], -1) for place, number in numbers)] += cell.submissions
        if any(0 < size < self.minimum for size in sizes.values()):
            raise Withheld(
                f"Together, {' and '.join(together)} make groups of fewer than {self.minimum} submissions. "
                "Showing the other groups would reveal those. Ask about one segment at a time"
            )

    def check_margins(self, names: Iterable[str]) -> None:
        """Withheld unless each of these segments, by itself, has groups that are large enough.

        For numbers in which everyone counts: estimates weighted to the margins of several segments, whose combinations
        may be small. None of them is shown: a combination of three people moves such a number by three times their
        weight, which every respondent has by the same rule. Somebody who asks again and again with other margins may
        solve for a combination, but gets the noise of its reports many times over; and each report in it is randomised,
        so that it shows no more about a person than epsilon allows, in a group of one as well.
        Weights that leave hardly anyone are another matter: they are not shown.
        """
        for name in names:
            if not self.groups(name):
                raise Withheld(f"{name} has too few submissions: no group of it has {self.minimum}")

    def positions(self, where: Mapping[str, str]) -> dict[str, frozenset[int]]:
        """Per segment that is asked about, the positions of the wanted code; Withheld where that is merged."""
        return {name: self._shown(name, code).positions for name, code in where.items()}

    def select(self, where: Mapping[str, str]) -> dict[Codes, Cell]:
        """The cells with these segment codes; Withheld where one of them is merged with others."""
        wanted = {self.segments[name][0]: positions for name, positions in self.positions(where).items()}
        return {codes: cell for codes, cell in self.statistics.items() if belongs(codes, wanted)}

    def _shown(self, name: str, code: str) -> Merged:
        groups = self.groups(name)
        for group in groups:
            if group.codes == (code,):
                return group
        merged = next((f", only as part of {group.code} (by {name})" for group in groups if code in group.codes), "")
        raise Withheld(
            f"{name}:{code} has fewer than {self.minimum} submissions, or is merged with a code that does: "
            f"it is not shown alone{merged}"
        )

    def within(self, cells: Mapping[Codes, Cell], name: str, group: Merged) -> dict[Codes, Cell]:
        """Those of the cells that belong to the group."""
        position = self.segments[name][0]
        return {codes: cell for codes, cell in cells.items() if codes[position] in group.positions}


def total(document: Document, cells: Mapping[Codes, Cell]) -> Cell:
    """All of these cells together."""
    if not cells:
        return empty(document)
    some = [*cells.values()]
    return Cell(np.sum([cell.numbers for cell in some], axis=0), some[0].layout)


def check_left_out(cells: Iterable[Cell], label: str, minimum: int) -> None:
    """Withheld where a source that is left out has a small group: what is shown with it and without it would show that.

    As for several segments together: a source is one more public attribute.
    """
    if any(0 < cell.submissions < minimum for cell in cells):
        raise Withheld(
            f"{label} has groups of fewer than {minimum} submissions here. Results without it, next to those with it, "
            "would reveal these. Ask about fewer segments, or leave out nothing"
        )


def belongs(codes: Codes, wanted: Mapping[int, frozenset[int]]) -> bool:
    """Whether a submission with these codes is among the wanted."""
    return all(codes[place] in positions for place, positions in wanted.items())


def _group(segment: Segment, positions: list[int]) -> Merged:
    return Merged(tuple(segment.options[j].code for j in positions), frozenset(positions))
