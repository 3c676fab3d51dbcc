"""Estimates in the sentences that stand beside charts. They never claim more than the numbers do.

Limits are rounded outwards: an interval in words holds the interval in numbers. May not: know of HTTP or of HTML.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from statistics import median_high
from typing import NamedTuple, TypeAlias

from msgspec import UNSET

from deniable_protocol import Question, YesNo
from deniable_server.estimator import NOT_HONEST, TOO_NOISY, Mean, QuestionEstimate, Share, Summary, Weighted
from deniable_server.estimator.comparison import Difference
from deniable_server.estimator.crosstab import JointShare
from deniable_server.wording import SUMMARIES, answer_texts, probability

AnyShare: TypeAlias = Share | JointShare | Summary

NOTHING_YET = "No answers yet"
NO_ANSWER_TELLS = "no answer tells"
NOT_HONEST_MEANS = (
    "These reports are not consistent with honest reports: some may be made up, so do not rely on the numbers before "
    "you know who had the link and how often they could answer."
)
TOO_NOISY_MEANS = "Where it says “too noisy to say”, the interval spans more than half of all that is possible."


# --- numbers -----------------------------------------------------------------------------------------------------


class Rounded(NamedTuple):
    """An estimate and its limits as people read them, without unit; ``about`` is empty where there is no estimate."""

    about: str
    low: str
    high: str


def rounded(
    value: float | None,
    low: float,
    high: float,
    floor: float,
    ceiling: float,
    *,
    scale: int = 1,
    places: int | None = None,
) -> Rounded:
    """With as many places as the interval deserves, and limits rounded outwards, yet not beyond what is possible.

    ``scale``: 100 for percent. ``places``: where the numbers beside it have another interval, those of them all.
    """
    exact = [Decimal(repr(number)) * scale for number in (low, high, floor, ceiling)]
    if places is None:
        places = places_for(exact[1] - exact[0], whole=scale == 100)
    ends = exact[2:]
    return Rounded(
        "" if value is None else _told(Decimal(repr(value)) * scale, places, ends, ROUND_HALF_EVEN),
        _told(exact[0], places, ends, ROUND_FLOOR),
        _told(exact[1], places, ends, ROUND_CEILING),
    )


def places_for(width: Decimal, *, whole: bool = False) -> int:
    """As many that the interval is at least three steps of the last place wide: its words are not much wider than it.

    ``whole``: not to tens and hundreds.
    """
    places = min(-(width / 3).adjusted(), 12) if width else 3
    return max(places, 0) if whole else places


def common_places(widths: Iterable[float]) -> int:
    """For percentages or points that stand below each other."""
    return median_high(places_for(Decimal(repr(width)) * 100, whole=True) for width in widths)


def _told(value: Decimal, places: int, ends: Sequence[Decimal], how: str) -> str:
    """A number that is nearly at an end of the scale, but not there, gets up to two more places to say so; and so does
    a limit that is nearly zero: whether an interval holds zero is what a reader looks for.
    """
    marks = ends if how == ROUND_HALF_EVEN else (*ends, Decimal(0))
    for more in range(3):
        text = _at(value, places + more, how)
        if value in marks or text not in marks:
            break
    return number_text(min(max(text, ends[0]), ends[1]))


def _at(value: Decimal, places: int, how: str) -> Decimal:
    return value.quantize(Decimal(1).scaleb(-places), rounding=how)


def number_text(value: Decimal) -> str:
    """With thousands apart and a real minus sign; minus zero is zero."""
    return f"{value if value else abs(value):,f}".replace("-", "−")


def short_text(value: Decimal) -> str:
    """The same without zeros that say nothing: 3, not 3.0."""
    text = number_text(value)
    return text.rstrip("0").rstrip(".") if "." in text else text


def percents(share: AnyShare, places: int | None = None) -> Rounded:
    """A share in percent."""
    return rounded(share.estimate, share.low, share.high, 0.0, 1.0, scale=100, places=places)


def counted(n: float, what: str) -> str:
    """1 answer, 2 answers."""
    return f"{n:,.0f} {what}{'' if n == 1 else 's'}"


# --- texts that people wrote -------------------------------------------------------------------------------------

_TURNING = {"R", "AL", "AN", "RLE", "RLO", "RLI", "LRE", "LRO", "LRI", "FSI", "PDF", "PDI"}


LONGEST = 90
"""Characters of a text of the survey that charts and sentences show; tables show all."""


def cut(text: str, longest: int = LONGEST) -> str:
    """A text that fits, cut between words where that is possible."""
    if len(text) <= longest:
        return text
    head = text[: longest - 1]
    space = head.rfind(" ")
    return f"{(head[:space] if space > longest // 2 else head).rstrip()}…"


def apart(text: str) -> str:
    """A text of the survey beside words of ours: one that runs from right to left does not turn them around."""
    turns = any(unicodedata.bidirectional(character) in _TURNING for character in text)
    return f"\u2068{text}\u2069" if turns else text


def quoted(text: str) -> str:
    """A text of the survey within a sentence of ours."""
    return apart(cut(text))


# --- shares and means --------------------------------------------------------------------------------------------


def about(share: AnyShare) -> str:
    """A share in words: "about 23%, between 21% and 25%"."""
    if share.estimate is None:
        return NO_ANSWER_TELLS
    value, low, high = percents(share)
    if is_noisy(share):
        return f"{TOO_NOISY}: anywhere between {low}% and {high}%"
    limits = _limits(low, high, _is_zero(low), high.startswith("100"), "%")
    return limits if _is_zero(value) else f"about {value}%, {limits}"


def is_noisy(number: AnyShare | Mean | Difference) -> bool:
    """Whether the interval spans more than half of all that is possible."""
    if isinstance(number, Summary):
        return number.too_noisy
    return number.note is not UNSET


def _limits(low: str, high: str, at_floor: bool, at_ceiling: bool, unit: str = "") -> str:
    if at_floor and not at_ceiling:
        return f"at most {high}{unit}"
    if at_ceiling and not at_floor:
        return f"at least {low}{unit}"
    return f"between {low}{unit} and {high}{unit}"


def about_mean(question: Question, mean: Mean) -> str:
    """A mean in words, with its unit or the ends of its scale."""
    if mean.value is None:
        return NO_ANSWER_TELLS
    floor, ceiling = question.range
    value, low, high = mean_in_numbers(question, mean)
    unit = f" {quoted(question.unit)}" if question.unit else ""
    if is_noisy(mean):
        words = f"{TOO_NOISY}: anywhere between {low} and {high}{unit}"
    else:
        limits = _limits(low, high, mean.low <= floor, mean.high >= ceiling)
        words = f"{limits}{unit}" if mean.value <= floor else f"about {value}{unit}, {limits}"
    if question.labels:
        first, last = quoted(question.labels[0]), quoted(question.labels[-1])
        words += f", on a scale from 1 ({first}) to {len(question.labels)} ({last})"
    return words


def mean_in_numbers(question: Question, mean: Mean) -> Rounded:
    """A mean in its own units. However wide the interval, places are fine enough for the scale it lies on."""
    floor, ceiling = question.range
    widths = Decimal(repr(mean.high)) - Decimal(repr(mean.low)), (Decimal(repr(ceiling)) - Decimal(repr(floor))) / 10
    return rounded(mean.value, mean.low, mean.high, floor, ceiling, places=max(map(places_for, widths)))


def about_score(summary: Summary) -> str:
    """A difference of shares, which can be negative: "about 12 points, between −3 and 27"."""
    if summary.estimate is None:
        return NO_ANSWER_TELLS
    value, low, high = rounded(summary.estimate, summary.low, summary.high, -1.0, 1.0, scale=100)
    if is_noisy(summary):
        return f"{TOO_NOISY}: anywhere between {low} and {high} points"
    return f"about {_points(value)}, between {low} and {high}"


def _points(number: str) -> str:
    return f"{number} point{'' if number in ('1', '−1') else 's'}"


def summaries(estimate: QuestionEstimate | Weighted) -> list[tuple[str, str]]:
    """The name of each summary of a scale, and what it is in words."""
    return [
        (capitalized(SUMMARIES[each.id].removesuffix(", points")), (about_score if each.minus else about)(each))
        for each in estimate.summaries or ()
    ]


def capitalized(text: str) -> str:
    return text[:1].upper() + text[1:]


# --- a question --------------------------------------------------------------------------------------------------

MOST_NAMED = 3
"""Answers that are named where it is too close to call."""


def headline(question: Question, estimate: QuestionEstimate | Weighted) -> str:
    """What a question's card says first. No answer is called the most common unless its interval is above all."""
    answers = estimate.answers if isinstance(estimate, QuestionEstimate) else estimate.effective_answers
    if not answers:
        return NOTHING_YET
    if estimate.mean is not None:
        return capitalized(about_mean(question, estimate.mean))
    if isinstance(question, YesNo):
        (yes,) = (share for share in estimate.shares if share.code == "yes")
        return f"Yes: {about(yes)}"
    texts = answer_texts(question)
    told = [share for share in estimate.shares if share.estimate is not None and not is_noisy(share)]
    if not told:
        return capitalized(TOO_NOISY)
    first = max(told, key=lambda share: share.estimate or 0.0)
    names = [quoted(texts[share.code]) for share in estimate.shares if share is first or share.high >= first.low]
    if len(names) == 1:
        return f"Most common: {names[0]}, {about(first)}"
    if len(names) > MOST_NAMED:
        return f"Most common: too close to call among {len(names)} of {len(estimate.shares)} answers"
    return f"Most common: {', '.join(names[:-1])} or {names[-1]}, too close to call"


def notices(estimate: QuestionEstimate) -> list[str]:
    """What a reader must be told before the numbers, a sentence each."""
    if not estimate.answers:
        return []
    meanings = {NOT_HONEST: NOT_HONEST_MEANS, TOO_NOISY: TOO_NOISY_MEANS}
    return [meanings.get(note, f"{capitalized(note)}.") for note in estimate.notes]


def influence(question: Question, estimate: QuestionEstimate, groups: Sequence[QuestionEstimate] = ()) -> str:
    """How much false submissions could do, were one in a hundred false; rounded up. Empty where there are none.

    ``groups``: the estimates that are shown beside it. All that is false may be in one of them.
    """
    if estimate.fake_influence is None:
        return ""
    false = max(estimate.answers // 100, 1)
    plain = "unweighted " if estimate.weighted else ""
    if question.asks_mean:
        floor, ceiling = question.range
        widest = Decimal(repr(ceiling)) - Decimal(repr(floor))
        unit = f" {quoted(question.unit)}" if question.unit else ""
        what = f"the {plain}mean"
    else:
        widest, unit = Decimal(1), ""
        what = f"an {plain}share" if plain else "a share"

    def by(each: float, widest: Decimal = widest) -> str:
        most = min(Decimal(repr(each)) * false, widest)
        return f"by up to {_up(most)}{unit}" if question.asks_mean else f"by up to {_points(_up(most * 100))}"

    said = [f"{counted(false, 'false submission')} could move {what} {by(estimate.fake_influence)}"]
    for name, several in (("that of several points", False), ("the net score", True)):
        most = [s.fake_influence for s in estimate.summaries or () if bool(s.minus) == several and s.fake_influence]
        said += [f"{name} {by(max(most), Decimal(1 + several))}" for most in [most] if most]
    within = [group.fake_influence for group in groups if group.fake_influence is not None]
    said += [f"within one group {by(max(within))}"] if within else []
    return ", ".join(said)


def _up(number: Decimal) -> str:
    """Rounded up, with two digits that count."""
    return short_text(_at(number, 1 - number.adjusted(), ROUND_CEILING))


def open_equivalent(estimate: QuestionEstimate) -> str:
    """What protection costs: how many open answers would tell as much. Empty where that is not known."""
    if estimate.open_equivalent is None:
        return ""
    if not estimate.open_equivalent:
        return "telling less than 1 unprotected answer"
    return f"as telling as {counted(estimate.open_equivalent, 'unprotected answer')}"


# --- differences -------------------------------------------------------------------------------------------------


def difference(row: Difference, names: Mapping[str, str], answer: str = "", unit: str = "") -> str:
    """One difference in a sentence. ``names``: what groups are called; ``answer``: the option's text, "" for a mean."""
    first, second = (quoted(names.get(label, label)) for label in (row.first, row.second))
    start = f"{quoted(answer)}: " if answer else ""
    if row.estimate is None:
        return f"{start}{first} and {second} cannot be compared: {NO_ANSWER_TELLS}."
    value, low, high = difference_in_numbers(row)
    points = row.code is not None
    between = _directions(low, high, points) + (f", in {quoted(unit)}" if unit and not points else "")
    if is_noisy(row):
        return f"{start}{TOO_NOISY}: {first} may be anywhere {between} than {second}."
    if _is_zero(value):
        return f"{start}{first} and {second} are about the same: {first} is {between}; {_by_chance(row)}."
    much, way = _sized(value, points)
    return f"{start}{first} is about {much} {way} than {second}, {between}; {_by_chance(row)}."


def difference_in_numbers(row: Difference, places: int | None = None) -> Rounded:
    """The difference of shares in points, of means in their unit."""
    if row.code is None:
        return rounded(row.estimate, row.low, row.high, -math.inf, math.inf, places=places)
    return rounded(row.estimate, row.low, row.high, -1.0, 1.0, scale=100, places=places)


def _is_zero(number: str) -> bool:
    return not number.strip("−0.,")


def _sized(number: str, points: bool) -> tuple[str, str]:
    """How far, and which way."""
    size = number.removeprefix("−")
    return _points(size) if points else size, "lower" if number.startswith("−") else "higher"


def _directions(low: str, high: str, points: bool) -> str:
    """Between 1 point lower and 7 points higher; between 1 and 7 points higher."""
    (bottom, down), (top, up) = _sized(low, points), _sized(high, points)
    if down == "lower" and _is_zero(high):
        up = "lower"
    if down != up:
        return f"between {bottom} {down} and {top} {up}"
    near, far = (low, top) if up == "higher" else (high, bottom)
    return f"between {near.removeprefix('−')} and {far} {up}"


def _by_chance(row: Difference) -> str:
    """The p-value in words: the one that allows for all that were tested together decides how rare it is called."""
    if row.p_value is None:
        return "there are too few reports for a test"
    p = row.p_value if row.adjusted_p_value is None else row.adjusted_p_value
    how = "common" if p >= 0.05 else "uncommon" if p >= 0.01 else "rare" if p >= 0.001 else "very rare"
    shown = p_in_words(row.p_value)
    if probability(p) != probability(row.p_value):
        shown += f", {probability(p)} allowing for all that are shown"
    return f"such a difference would be {how} by chance ({shown})"


def p_in_words(p: float | None) -> str:
    """Such as: p = 0.21; p < 0.001."""
    text = probability(p)
    return f"p {text[0]} {text[1:]}" if text[0] in "<>" else f"p = {text}"
