"""A survey that is repeated: what one respondent spends over its waves, and what rotation needs instead."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import msgspec

from deniable_protocol import Document, advanced_composition
from deniable_protocol.checks import plain

from .composition import compose_waves, losses_of
from .precision import Known
from .sample_size import Wanted, margin_of, smallest_difference
from .words import epsilon_text


class Rotation(msgspec.Struct, frozen=True):
    """If each person answers only one of the waves, and so spends the survey's epsilon once, however many there are.

    ``people``: how many it takes in all, if every wave is to have the margin that is wanted. ``per_wave``: how many
    each wave has if the people expected (or needed for one wave) are divided over the waves; with the ``margin`` that
    each wave then has and the least ``difference`` between two waves that a test finds, both of what is known worst and
    in parts of 1. None where no difference that is possible is found.
    """

    people: int
    per_wave: int
    margin: float
    difference: float | None


class Waves(msgspec.Struct, frozen=True):
    """What one respondent spends who answers so many waves, by three bounds; and what rotation would take.

    ``basic`` is the sum. ``advanced`` and ``exact`` are valid but for ``delta``, which includes the deltas of the
    survey's own questions, where they have any; the sum but for those. ``exact`` is that of the published channels: no
    smaller value is true for two people who differ in every answer, unless a question names a mechanism of its own.
    """

    waves: int
    basic: str
    advanced: str
    exact: str
    delta: float
    rotation: Rotation


def repeat(document: Document, known: Sequence[Known], needed: int, wanted: Wanted) -> list[Waves]:
    """Over 1, 2, 4, 8 ... waves of the survey, up to what is wanted."""
    losses = losses_of(document)
    epsilons = [loss.epsilon for loss in losses]
    total = sum(epsilons, Fraction(0))
    waves = [*(2**i for i in range(wanted.waves.bit_length()) if 2**i < wanted.waves), wanted.waves]
    exact = compose_waves(losses, waves, wanted.delta)
    return [
        Waves(
            waves=times,
            basic=epsilon_text(total * times),
            advanced=epsilon_text(_advanced(epsilons, times, wanted.delta)),
            exact=plain(together),
            # A question that keeps epsilon only but for a delta adds that delta in every wave.
            delta=wanted.delta + float(document.account.delta * times),
            rotation=_rotate(known, needed, times, wanted),
        )
        for times, together in zip(waves, exact, strict=True)
    ]


def _advanced(epsilons: list[Fraction], waves: int, delta: float) -> Fraction:
    """By the wave, or by the answer as if each had the largest epsilon, or the plain sum: whichever says least."""
    total = sum(epsilons, Fraction(0))
    bounds = [advanced_composition(max(epsilons), len(epsilons) * waves, delta)]
    if total < 1:  # from ln 2 on, the term e(e^e - 1) alone is above the sum
        bounds.append(advanced_composition(total, waves, delta))
    return min(Fraction(math.ceil(min(bounds) * 10_000), 10_000), total * waves)


def _rotate(known: Sequence[Known], needed: int, waves: int, wanted: Wanted) -> Rotation:
    each = max((wanted.respondents or needed) // waves, 1)
    single = [(one.variance, one.wanted(wanted)) for one in known if len(one.items) == 1]
    differences = [smallest_difference(variance, 2 * each, asked) for variance, asked in single]
    found = [difference for difference in differences if difference is not None]
    return Rotation(
        people=needed * waves,
        per_wave=each,
        margin=max(margin_of(variance, each, asked) for variance, asked in single),
        difference=max(found) if len(found) == len(differences) else None,
    )
