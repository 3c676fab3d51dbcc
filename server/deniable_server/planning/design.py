"""The design of a survey: which questions are asked together, and how often each booklet is drawn.

With an epsilon of the survey each device reports once, on one block of questions, and spends all of it there. The
blocks and their weights are those that meet these targets with the fewest respondents: every share within 3 points (a
mean: within 3% of its range), every cell of a wanted cross-tab within 5 points. Shares are planned at one half, cells
at one quarter. The answers to a follow-up are planned as cells: the share of all people who are asked it *and* give
that answer. How well shares among those asked are known depends on how many they are, which only the survey shows.

The same survey has the same design, in the same version of Deniable and of its solver.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache, reduce
from math import ceil, gcd
from typing import NamedTuple

from deniable_protocol import Survey, TooManyPaths, atoms_of, items_of, paths_of, publish
from deniable_protocol.blind_signatures import BYTES, PublicKey
from deniable_protocol.parts import Path, with_needs

from .blocks import Blocks, Items, Target
from .limits import check_items, check_size
from .programme import choose_reports
from .sample_size import Wanted
from .tables import tables_of
from .variances import designed_variance

TOTAL_WEIGHT = 10_000


class Design(NamedTuple):
    """What a survey asks together, and how often: as ``publish`` takes it.

    Each booklet has one part. ``respondents`` meet every target; no choice of blocks meets them with fewer than
    ``fewest``, None where that is not known.
    """

    parts: tuple[tuple[tuple[str, ...], int | None], ...]
    booklets: tuple[tuple[tuple[int, ...], int], ...]
    respondents: int
    fewest: int | None


NOBODY = PublicKey(2 ** (8 * BYTES) - 1, 65537)
"""Takes the place of the key that signs tokens in a survey that is only looked at: not yet published, it has none."""


def publish_survey(survey: Survey, issuer: PublicKey | None = None) -> bytes:
    """The document of a survey: with the best booklets, or the textbook's design if each question has an epsilon.
    SurveyError where it is too large.

    ``issuer``: the key of a survey with invitations. Without it the document is only for looking at.
    """
    check_size(survey)
    key = (issuer or NOBODY) if survey.invitations else None
    if survey.epsilon is None:
        return publish(survey, issuer=key)
    chosen = design_booklets(survey)
    return publish(survey, chosen.parts, chosen.booklets, issuer=key)


@lru_cache(maxsize=32)  # a plan is shown, and then what it shows is published
def design_booklets(survey: Survey) -> Design:
    """The booklets of a survey that has an epsilon. SurveyError where finding them would take too long."""
    check_items(survey)
    blocks = _blocks(survey, Wanted(), survey.exact_epsilon)
    solution = choose_reports(blocks)
    weights = _integers(solution.weights)
    items = items_of(survey)
    information = [0.0] * len(blocks.targets)
    for report, weight in zip(solution.reports, weights, strict=True):
        for target, gain in zip(report.targets, report.information, strict=True):
            information[target] += gain * weight / sum(weights)
    return Design(
        # A question by itself has its own channel, whatever the size.
        tuple(
            (tuple(items[place].name for place in report.items), report.size if len(report.items) > 1 else None)
            for report in solution.reports
        ),
        tuple(((number,), weight) for number, weight in enumerate(weights)),
        ceil(1 / min(information)),
        None if solution.fewest is None else ceil(solution.fewest * (1 - 1e-9)),
    )


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
        Target((place,), wanted.margin, wanted.of_question(item.question).share) for place, item in enumerate(items)
    ]
    targets += (Target(table, wanted.cells, wanted.of_cells(len(table)).share) for table in tables)
    # Rounded: the last digits of a mean's variance differ between processors, and with the number of threads. They
    # would decide between choices that are equally good.
    alone = {
        place: round(designed_variance(item, epsilon)(wanted.share), 9)
        for place, item in enumerate(items)
        if not item.can_join
    }
    blocks = Blocks(atoms, alone, targets, paths, epsilon, wanted.z)
    # Where follow-ups make too many paths, a cross-tab has a block of its own, without them.
    tight = [with_needs(survey, [items[place] for place in table]) for table in tables if not blocks.can_hold(table)]
    if not tight:
        return blocks
    atoms += dict.fromkeys(tuple(places[item.name] for item in some) for some in tight)
    return Blocks(atoms, alone, targets, paths, epsilon, wanted.z)


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
