"""How precisely a published survey knows each of its questions and cross-tabs, from the document alone.

A part that a fraction w of n respondents report on, each with variance V, knows a share with the variance V/(w n).
Parts are pooled in the best proportion, so that their precisions add up. So one respondent counts with the variance

    1 / sum_parts (w / V_part(s)).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from deniable_protocol import Document, Item, Part, Subset, items_of
from deniable_server.estimator.evidence import moments_of
from deniable_server.estimator.intervals import Rule, chances, joint_support

from .sample_size import Variance, Wanted
from .tables import tables_of
from .variances import of_share, variance_of


class Known(NamedTuple):
    """The shares of an item (or its mean), or the cells of a cross-tab, with the variance of one respondent.

    ``among``: of a follow-up, that of its shares among those to whom it applies.
    """

    items: tuple[Item, ...]
    variance: Variance
    among: Variance | None = None

    def wanted(self, wanted: Wanted) -> Wanted:
        """The margin that is wanted of it, at the share that is planned for: of cells that of all their answers."""
        if len(self.items) > 1:
            return wanted.of_cells(len(self.items))
        return wanted.of_question(self.items[0].question)


def precision(document: Document) -> list[Known]:
    """Everything that a survey is to find out."""
    wanted = [*((item,) for item in items_of(document.survey)), *tables_of(document.survey)]
    weights = part_weights(document)
    by_item: dict[str, list[int]] = {}
    for number, part in enumerate(document.parts):
        for name in part.names:
            by_item.setdefault(name, []).append(number)
    found = []
    for items in wanted:
        shared = set.intersection(*(set(by_item[item.name]) for item in items))
        parts = [(weights[number], document.parts[number]) for number in sorted(shared)]
        variance = _pooled([(weight, _variance(part, items)) for weight, part in parts])
        one = items[0] if len(items) == 1 else None
        among = [(weight, _among(part, one)) for weight, part in parts if one and _is_conditional(part, one)]
        found.append(Known(items, variance, _pooled(among) if among else None))
    return found


def part_weights(document: Document) -> list[float]:
    """The fraction of respondents who report on each part."""
    weights = Counter[int]()
    for booklet in document.booklets:
        for number in booklet.parts:
            weights[number] += booklet.weight
    total = sum(booklet.weight for booklet in document.booklets)
    return [weights[number] / total for number in range(len(document.parts))]


def _pooled(parts: Sequence[tuple[float, Variance]]) -> Variance:
    return lambda share: 1 / sum(weight / variance(share) for weight, variance in parts)


def _variance(part: Part, items: tuple[Item, ...]) -> Variance:
    """Of the answer (or combination of answers) that is known worst."""
    if len(part.items) == 1:
        return variance_of(items[0].question, part.channel)
    assert isinstance(part.channel, Subset)
    places = [part.names.index(item.name) for item in items]
    cells = Counter(tuple(path[place] for place in places) for path in part.paths)
    rules: list[Rule] = [joint_support(part.channel, n) for n in sorted({cells[c] for c in cells if None not in c})]
    return lambda share: max(of_share(rule.v1, rule.v0)(share) for rule in rules)


def _is_conditional(part: Part, item: Item) -> bool:
    """Whether it is asked on some of the paths only."""
    return bool(part.paths) and len(part.shown(part.names.index(item.name))) < len(part.paths)


def _among(part: Part, item: Item) -> Variance:
    """Of the answer that is known worst, among those to whom the item applies.

    With A and B the shares of everybody who gave the answer and of everybody to whom it applies, A/B varies to first
    order as (A - R B)/B does, where R is the true ratio, and the mean of A - R B is 0. At the share s it applies to s
    of everybody. The noise hardly depends on R, but grows where the other answers own many paths and R is large: the
    worst of s/2, s and 1 - s/2 counts.
    """
    place = part.names.index(item.name)
    shown = len(part.shown(place))
    sizes = {len(part.owned(place, code)) for code in range(len(item.codes))} - {0}
    moments = [moments_of(chances(part.channel), (size, shown - size)) for size in sorted(sizes)]

    def variance(share: float) -> float:
        squares = []
        for ratio in (share / 2, share, 1 - share / 2):
            weights = np.array([1 - ratio, -ratio])
            people = share * np.array([ratio, 1 - ratio])
            squares += [weights @ (none + np.tensordot(people, own, axes=1)) @ weights for none, own in moments]
        return float(max(squares)) / share**2

    return variance
