"""How precisely a published survey knows each of its questions and cross-tabs, from the document alone.

A part that a fraction w of n respondents report on, each with variance V, knows a share with the variance V/(w n).
Parts are pooled in the best proportion, so that their precisions add up. So one respondent counts with the variance

    1 / sum_parts (w / V_part(s)).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from deniable_protocol import Document, Item, Part, Subset, items_of
from deniable_server.estimator.intervals import Rule, joint_support

from .sample_size import Variance, Wanted
from .tables import tables_of
from .variances import of_share, variance_of


class Known(NamedTuple):
    """The shares of an item (or its mean), or the cells of a cross-tab, with the variance of one respondent."""

    items: tuple[Item, ...]
    variance: Variance

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
        found.append(Known(items, _pooled([(weights[n], _variance(document.parts[n], items)) for n in sorted(shared)])))
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
