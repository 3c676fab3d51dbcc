"""The plan in a few sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from deniable_protocol.checks import plain

if TYPE_CHECKING:
    from .live import LiveQuestion
    from .plan import QuestionPlan, SurveyPlan
    from .waves import Waves

NOTHING = 0.5
"""A margin of half of everything, to either side of the middle, says nothing."""
HARDLY_LESS = 0.99
"""Shuffling is not worth a number if it leaves this much of epsilon."""


DESIGNS = {
    "booklets": ("in booklets", "each device is asked a few questions, and spends all of ε on them."),
    "split": ("split", "everybody is asked everything, each question at its part of ε."),
    "k_ary": ("k-ary", "the true answer with some probability, otherwise any other one."),
    "exponential": ("exponential", "points near the true one are more likely."),
    "laplace": ("Laplace", "Laplace noise on every number of the answer."),
    "gaussian": (
        "Gaussian",
        "as little Gaussian noise as the exact calibration allows; keeps ε except with {delta}.",
    ),
    "every_option": ("every option", "each option of a multi_choice is reported, with its part of ε."),
    "curator": ("curator", "true answers go to one party, which keeps them safe and adds noise to the totals."),
    "open": ("no privacy", "true answers, as they are."),
}
"""Other designs: what they are called, and what they do."""


def describe(plan: SurveyPlan) -> list[str]:
    """What a survey team asks first: what will we know, and how many people does it take?"""
    wanted = plan.wanted
    needed = about(plan.respondents)
    if wanted.respondents is None:
        all_of_it = _within(plan, wanted.margin, wanted.margin, wanted.cells)
        return [f"You need {needed} respondents to know {all_of_it}, at {100 * wanted.confidence:g}% confidence."]
    cells = f" (cells: ±{points(wanted.cells)})" if plan.tables else ""
    return [
        f"With {wanted.respondents:,} respondents you will know {_expected(plan)}.",
        f"For ±{points(wanted.margin)}{cells} you need {needed}.",
    ]


def _expected(plan: SurveyPlan) -> str:
    shares, means, cells = margins_given(plan)
    if min([*shares, *means]) >= NOTHING:
        return "nothing"
    if max([*shares, *means, *cells]) >= NOTHING:
        return f"some results within about ±{points(min([*shares, *means, *cells]))} points, and others not at all"
    among = [question.given.among for question in plan.questions if question.given and question.given.among is not None]
    return _within(
        plan, max(shares, default=0), max(means, default=0), max(cells, default=0), max(among, default=0), "about "
    )


def margins_given(plan: SurveyPlan) -> tuple[list[float], list[float], list[float]]:
    """The margins of shares, means and cells with the respondents that are expected."""
    given = [(question.range is None, question.given.margin) for question in plan.questions if question.given]
    return (
        [margin for is_share, margin in given if is_share],
        [margin for is_share, margin in given if not is_share],
        [table.margin for table in plan.tables if table.margin is not None],
    )


def _within(plan: SurveyPlan, share: float, mean: float, cell: float, among: float = 0, about: str = "") -> str:
    parts = []
    if any(question.range is None for question in plan.questions):
        parts.append(f"each share within {about}±{points(share)} points")
    if among:
        parts.append(f"each share of a follow-up within {about}±{points(min(among, 1))} points of those it applies to")
    if any(question.range for question in plan.questions):
        parts.append(f"each mean within {about}±{points(mean)}% of its range")
    if plan.tables:
        parts.append(f"each cell of a cross-tab within {about}±{points(cell)} points")
    return listed(parts)


def listed(parts: Sequence[str]) -> str:
    """A, B and C."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def follow_ups_in_words(plan: SurveyPlan) -> str:
    """Of whom the figures of follow-ups are; empty where there are none."""
    if all(question.given is None or question.given.among is None for question in plan.questions):
        return ""
    part = f"{100 * plan.wanted.share:g}%"
    return (
        f"Of a follow-up, the margin with {plan.wanted.respondents:,} is that among those it applies to, if these are "
        f"{part} of everybody. If they are fewer, it is wider."
    )


# --- asking again, and shuffling ---------------------------------------------------------------------------------


def waves_in_words(plan: SurveyPlan) -> str:
    deltas = sorted({row.delta for row in plan.waves})
    lost = " to ".join(significant(delta) for delta in (deltas[0], deltas[-1])[: len(deltas)])
    return (
        "What one person spends who answers every wave: the sum, and two bounds that may fail with probability "
        f"δ = {lost}. The exact one is computed from the channels that this survey publishes."
    )


def rotation_in_words(plan: SurveyPlan) -> str:
    power = f"{100 * plan.wanted.power:g}%"
    return (
        f"With rotation each person answers one wave, drawn at random, and spends ε = {short(plan.epsilon)} once. Each "
        "wave has other people. You see levels and trends: compare two waves as you compare two groups. You do not see "
        "who changed. Give each person the link of one wave only. Margins, and the change between two waves that is "
        f"found {power} of the time, are those of the result that is known worst, in points or percent of a mean's "
        "range."
    )


def change_found(row: Waves) -> str:
    """The least change between two waves of different people that a test finds."""
    if row.waves == 1:
        return ""
    return "none" if row.rotation.difference is None else points(row.rotation.difference)


def prices_in_words(plan: SurveyPlan) -> list[str]:
    """The textbook's answer to which price earns most, for each question that asks for one."""
    return [
        f"{each.question}: our results show demand and revenue at {each.prices} prices, and which of them may be best. "
        f"The textbook's exponential mechanism would publish one price, from true answers that a curator keeps: at "
        f"{each.respondents:,} respondents it loses at most {significant(each.loss)} of revenue per person in "
        f"expectation ({100 * each.share:.2g}% of the highest price, {each.highest:g}), and for 1% it needs "
        f"{each.respondents_for_percent:,} respondents."
        for each in plan.prices
    ]


def shuffled_in_words(plan: SurveyPlan) -> str | None:
    """What shuffling is worth, if that is known."""
    if (shuffled := plan.shuffled) is None:
        return None
    seen = f"Suppose someone sees {shuffled.respondents:,} submissions, but neither their order nor their senders."
    own = short(plan.epsilon)
    if shuffled.epsilon > HARDLY_LESS * float(plan.epsilon):
        return f"{seen} So few hide nobody: ε stays {own}."
    at_most = "" if shuffled.kind == "exact" else "at most "
    return (
        f"{seen} Towards them ε is {at_most}{significant(shuffled.epsilon)} instead of {own}, except with probability "
        f"δ = {significant(plan.wanted.delta)}. If you ask segments, count only people who give the same ones. Towards "
        "someone who sees submissions arrive, such as the server, the full ε applies."
    )


# --- words and numbers that the terminal and the page share --------------------------------------------------------


def within(margin: float, question: QuestionPlan | LiveQuestion | None = None, unit: str = " points") -> str:
    """A margin that so many respondents have, in points of a share or in the unit of a mean."""
    if margin >= NOTHING:
        return "no information"
    if question is not None and question.range is not None:
        return f"±{amount(margin, question)}"
    return f"±{points(margin)}{unit}"


def amount(part: float, question: QuestionPlan | LiveQuestion) -> str:
    """A margin or difference, in points of a share or in the unit of a mean; rounded up, to two digits."""
    scale = question.range
    if scale is None:
        return f"{points(part)} points"
    unit = f" on {scale.low:g} to {scale.high:g}" if question.type == "scale" else f" {scale.unit or ''}"
    size = Decimal(f"{part * scale.length:.6g}")  # what is only an error of floating point is not rounded up
    return f"{size.quantize(Decimal(1).scaleb(size.adjusted() - 1), ROUND_CEILING).normalize():,f}{unit}".rstrip()


def significant(value: float) -> str:
    """0.000001, not 1e-06; three digits at most, the last rounded up."""
    exact = Decimal(repr(value))
    return plain(exact.quantize(Decimal(1).scaleb(exact.adjusted() - 2), ROUND_CEILING))


def chance(part: float) -> str:
    """A probability in percent, with two digits."""
    return f"{100 * part:.2g}%" if part < 0.1 else f"{100 * part:.0f}%"


def points(part: float) -> str:
    """A margin in points, rounded up: to whole ones from 10 on, otherwise to two digits."""
    value = Decimal(repr(100 * part))
    digits = max(1 - value.adjusted(), 0)
    # What is only an error of floating point is not rounded up.
    up = math.ceil(round(float(value) * 10**digits, 6)) / 10**digits
    return f"{up:.{digits}f}".rstrip("0").rstrip(".") if digits else f"{up:.0f}"


def about(people: int) -> str:
    """Three digits, rounded up."""
    step = 10 ** max(len(str(people)) - 3, 0)
    return f"{-(-people // step) * step:,}"


def epsilon_text(epsilon: Fraction) -> str:
    """In four decimals at most, which is what a survey file may have."""
    return plain(int(epsilon * 10_000) / Decimal(10_000))


def short(epsilon: str) -> str:
    """1, not 1.0."""
    return epsilon.rstrip("0").rstrip(".") if "." in epsilon else epsilon
