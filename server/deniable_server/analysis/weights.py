"""Weights of submissions: those that make them agree with the margins that a query gives."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Self

import msgspec
from msgspec import UNSET, UnsetType

from deniable_server.errors import BadQuery, ImpossibleWeights, Withheld
from deniable_server.estimator.raking import design_effect, rake, reached
from deniable_server.estimator.weights import Raked, Weighed
from deniable_server.statistics import Cell, Codes

from .groups import Grouping, total
from .query import Margins, WeightedQuery


def leaves_few(weighed: Weighed, minimum: int) -> bool:
    """Whether weights leave so few answers that nothing weighted is shown."""
    return 0 < weighed.even < minimum


def check_enough(weighed: Weighed, minimum: int) -> None:
    """Withheld where weights leave so few."""
    if leaves_few(weighed, minimum):
        raise Withheld(
            f"With these weights, fewer than {minimum} answers of a group would count. Take other weights, or a "
            "smaller largest one (trim)"
        )


class Weighting(msgspec.Struct, frozen=True):
    """The margins that submissions are weighted to, and the extremes of the weights, which are 1 on average.

    ``deff`` is the design effect of the weights where variance is the same everywhere, 1 + the square of their relative
    standard deviation (Kish). With ``trim``, the largest weight: ``trimmed`` says how many submissions have it, and
    ``reached`` which margins the weighted submissions have instead of those that were wanted.
    """

    margins: Margins
    smallest: float
    largest: float
    deff: float
    trim: float | UnsetType = UNSET
    trimmed: int | UnsetType = UNSET
    reached: Margins | UnsetType = UNSET

    @property
    def missed(self) -> list[str]:
        """The margins that trimmed weights do not reach, in words."""
        pairs = [
            (f"{segment} {code}", share, sum(self.margins[segment][each] for each in code.split("+")))
            for segment, shares in (self.reached or {}).items()
            for code, share in shares.items()
        ]
        return [
            f"{name} {100 * share:.1f}% instead of {100 * wanted:.1f}%"
            for name, share, wanted in pairs
            if abs(share - wanted) >= 0.0005
        ]


class Weights:
    """Weights of all cells of the survey: margins are those of the whole population, whatever part is shown.

    Codes that are merged elsewhere are merged here: with no weight for the others, a small one would be alone.
    """

    @classmethod
    def of(cls, grouping: Grouping, query: WeightedQuery) -> Self | None:
        """Those that the query asks for; its segments must be among those of the grouping."""
        return cls(grouping, query.weights, query.trim) if query.weights else None

    def __init__(self, grouping: Grouping, wanted: Margins, trim: float | None) -> None:
        grouping.check_margins(wanted)
        self._grouping, self._wanted, self._trim = grouping, wanted, trim
        places, margins = [], {}
        for number, (name, shares) in enumerate(wanted.items()):
            groups = grouping.groups(name)
            places.append(grouping.numbers(name))
            margins[number] = [sum(shares[code] for code in group.codes) for group in groups]
            for group, share in zip(groups, margins[number], strict=True):
                if share and not grouping.within(grouping.statistics, name, group):
                    raise BadQuery(f"weights: {name}:{group.code} has a share, but nobody answered from there")
        self._merged = {codes: tuple(group[codes[place]] for place, group in places) for codes in grouping.statistics}
        self._sizes = Counter[Codes]()
        for codes, cell in grouping.statistics.items():
            self._sizes[self._merged[codes]] += cell.submissions
        try:
            self._weights = rake(self._sizes, margins, trim)
        except ImpossibleWeights as error:
            raise BadQuery(f"weights: {error}") from None

    @property
    def combinations(self) -> int:
        """Groups of submissions that have a weight each."""
        return len(self._weights)

    @cached_property
    def raked(self) -> Raked | None:
        """None where weights are trimmed: these do not follow the margins."""
        if self._trimmed:
            return None
        return Raked([*self._weights], [*self._weights.values()], [self._sizes[codes] for codes in self._weights])

    @property
    def _trimmed(self) -> int:
        """The submissions that have the largest weight."""
        most = math.inf if self._trim is None else self._trim * (1 - 1e-9)
        return sum(self._sizes[codes] for codes, weight in self._weights.items() if weight >= most)

    def divide(self, cells: Mapping[Codes, Cell]) -> list[tuple[float, Cell]]:
        """What each combination of groups has of these cells, with its weight."""
        alike: dict[Codes, dict[Codes, Cell]] = {codes: {} for codes in self._weights}
        for codes, cell in cells.items():
            if self._merged[codes] in alike:
                alike[self._merged[codes]][codes] = cell
        return [(weight, total(self._grouping.document, alike[codes])) for codes, weight in self._weights.items()]

    def described(self) -> Weighting:
        trimmed: dict[str, Any] = {}
        if self._trim is not None:
            trimmed = {"trim": self._trim, "trimmed": self._trimmed, "reached": self._reached()}
        each = self._weights.values()
        return Weighting(self._wanted, min(each), max(each), design_effect(self._sizes, self._weights), **trimmed)

    def _reached(self) -> Margins:
        """By the groups that are shown: their codes are joined with a plus where they are merged."""
        found = {}
        for number, name in enumerate(self._wanted):
            groups = self._grouping.groups(name)
            held = reached(self._sizes, self._weights, number, len(groups))
            found[name] = {group.code: share for group, share in zip(groups, held, strict=True)}
        return found
