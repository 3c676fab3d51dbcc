"""The design of a survey: which questions are asked together, and how often each booklet is drawn.

With an epsilon of the survey each device reports once, on one block of questions, and spends all of it there. The
blocks and their weights are those that meet these targets with the fewest respondents: every share within 3 points (a
mean: within 3% of its range), every cell of a wanted cross-tab within 5 points. Shares are planned at one half, cells
at one quarter. The answers to a follow-up are planned as cells: the share of all people who are asked it *and* give
that answer. How well shares among those asked are known depends on how many they are, which only the survey shows.

The same survey has the same design, in the same version of Deniable and of its solver.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import combinations, product
from math import ceil, gcd
from typing import NamedTuple

from deniable_protocol import (
    Item,
    Problem,
    Survey,
    SurveyError,
    TooManyPaths,
    atoms_of,
    items_of,
    paths_of,
    publish,
)
from deniable_protocol.parts import Path, with_needs

from .blocks import MOST_PATHS, Blocks, Items, Target
from .programme import choose_reports
from .sample_size import Wanted
from .variances import designed_variance

TOTAL_WEIGHT = 10_000
MOST_TABLES = 1_000
"""Cross-tabs that one survey may ask for, each option of a multi_choice counted by itself."""


class Block(NamedTuple):
    """A booklet of one part: what it reports on, the size of its subsets, and its weight."""

    names: tuple[str, ...]
    size: int | None
    weight: int
    atoms: tuple[int, ...]


class Known(NamedTuple):
    """The shares of a question (or its mean), or the cells of a cross-tab, and what one respondent tells about it."""

    names: tuple[str, ...]
    margin: float
    information: float

    @property
    def respondents(self) -> int:
        """How many give the margin that is wanted."""
        return max(ceil(1 / self.information), 1)

    def margin_with(self, respondents: int) -> float:
        """The margin that so many give."""
        return float(self.margin / (respondents * self.information) ** 0.5)


class Design(NamedTuple):
    """The blocks that a survey asks, and the respondents that meet its targets.

    No choice of blocks needs fewer than ``fewest``; None where that is not known.
    """

    blocks: tuple[Block, ...]
    respondents: int
    fewest: int | None

    @property
    def parts(self) -> list[tuple[tuple[str, ...], int | None]]:
        return [(block.names, block.size) for block in self.blocks]

    @property
    def booklets(self) -> list[tuple[tuple[int, ...], int]]:
        return [((number,), block.weight) for number, block in enumerate(self.blocks)]

    @property
    def total_weight(self) -> int:
        return sum(block.weight for block in self.blocks)


def publish_survey(survey: Survey) -> bytes:
    """The document of a survey: with the best booklets, or the textbook's design if each question has an epsilon."""
    if survey.epsilon is None:
        return publish(survey)
    chosen = design_booklets(survey)
    return publish(survey, chosen.parts, chosen.booklets)


@lru_cache(maxsize=32)  # a plan is shown, and then what it shows is published
def design_booklets(survey: Survey) -> Design:
    """The booklets of a survey that has an epsilon."""
    blocks = _blocks(survey, Wanted(), survey.exact_epsilon)
    solution = choose_reports(blocks)
    weights = _integers(solution.weights)
    items = items_of(survey)
    chosen = [
        Block(
            tuple(items[place].name for place in report.items),
            report.size if len(report.items) > 1 else None,
            weight,
            report.atoms,
        )
        for report, weight in zip(solution.reports, weights, strict=True)
    ]
    found = Design(tuple(chosen), 0, None if solution.fewest is None else ceil(solution.fewest * (1 - 1e-9)))
    return found._replace(respondents=max(known.respondents for known in measure(survey, found, Wanted())))


def measure(survey: Survey, chosen: Design, wanted: Wanted) -> list[Known]:
    """What one respondent of this design tells, on average over its booklets, about each question and cross-tab."""
    blocks = _blocks(survey, wanted, survey.exact_epsilon)
    total = [0.0] * len(blocks.targets)
    for block in chosen.blocks:
        report = next(each for each in blocks.reports(block.atoms) if block.size in (None, each.size))
        for target, gain in zip(report.targets, report.information, strict=True):
            total[target] += gain * block.weight / chosen.total_weight
    items = items_of(survey)
    return [
        Known(tuple(items[place].name for place in target.items), target.margin, information)
        for target, information in zip(blocks.targets, total, strict=True)
    ]


def _blocks(survey: Survey, wanted: Wanted, epsilon: Fraction) -> Blocks:
    """The survey in the numbers that the programme works with."""
    items = items_of(survey)
    places = {item.name: place for place, item in enumerate(items)}

    def paths(some: Items) -> tuple[Path, ...] | None:
        try:
            return paths_of([items[place] for place in some])
        except TooManyPaths:
            return None

    tables = [tuple(places[item.name] for item in table) for table in tables_of(survey)]
    atoms = [tuple(places[item.name] for item in atom) for atom in atoms_of(survey)]
    targets = [
        Target((place,), wanted.margin, wanted.share if item.question.show_if is None else wanted.share**2)
        for place, item in enumerate(items)
    ]
    targets += (Target(table, wanted.cells, wanted.share ** len(table)) for table in tables)
    alone = {
        place: designed_variance(item, epsilon)(wanted.share) for place, item in enumerate(items) if not item.can_join
    }
    blocks = Blocks(atoms, alone, targets, paths, epsilon, wanted.z)
    # Where follow-ups make too many paths, a cross-tab has a block of its own, without them.
    tight = [with_needs(survey, [items[place] for place in table]) for table in tables if not blocks.can_hold(table)]
    if not tight:
        return blocks
    atoms += dict.fromkeys(tuple(places[item.name] for item in some) for some in tight)
    return Blocks(atoms, alone, targets, paths, epsilon, wanted.z)


@lru_cache(maxsize=32)
def tables_of(survey: Survey) -> tuple[tuple[Item, ...], ...]:
    """The cross-tabs that are wanted, of options where a multi_choice is named, and of every two of three questions."""
    found: dict[tuple[Item, ...], int] = {}
    for number, names in enumerate(survey.together):
        for table in _each_option(survey, names):
            for size in range(2, len(table) + 1):
                found.update((some, number) for some in combinations(table, size))
    if len(found) > MOST_TABLES:
        message = f"asks for {len(found):,} cross-tabs, counting options, and {MOST_TABLES:,} are the most"
        raise SurveyError([Problem("together", "range", message)])
    for table, number in found.items():
        _check_paths(with_needs(survey, table), f"together[{number}]")
    return tuple(found)


def _each_option(survey: Survey, names: tuple[str, ...]) -> Iterator[tuple[Item, ...]]:
    items = items_of(survey)
    named = [[place for place, item in enumerate(items) if name in (item.name, item.question.id)] for name in names]
    for places in product(*named):
        if len(set(places)) == len(places):
            yield tuple(items[place] for place in sorted(places))


def _check_paths(items: list[Item], place: str) -> None:
    try:
        paths_of(items)
    except TooManyPaths as error:
        names = ", ".join(item.name for item in items)
        message = f"{names} have {error.in_words} combinations of answers, and one report can tell {MOST_PATHS} apart"
        raise SurveyError([Problem(place, "paths", message)]) from None


def _integers(weights: list[float]) -> list[int]:
    """Integers in proportion to the weights, each at least 1, that sum to ``TOTAL_WEIGHT`` or to less.

    Rounded down, and one more for those that lose most by it, as often as there are some left.
    """
    exact = [weight / sum(weights) * TOTAL_WEIGHT for weight in weights]
    whole = [max(int(weight), 1) for weight in exact]
    by_loss = sorted(range(len(exact)), key=lambda place: (whole[place] - exact[place], place))
    for place in by_loss[: max(TOTAL_WEIGHT - sum(whole), 0)]:
        whole[place] += 1
    while (excess := sum(whole) - TOTAL_WEIGHT) > 0:  # so many had to be raised to 1
        largest = whole.index(max(whole))
        whole[largest] -= min(excess, max(whole[largest] // 2, 1))
    common = reduce(gcd, whole)
    return [weight // common for weight in whole]
