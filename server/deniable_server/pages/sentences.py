"""Estimates in the sentences next to charts. They never claim more than the numbers do: numbers are written by the
rounding rule. May not: know of HTTP or of HTML.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from msgspec import UNSET

from deniable_protocol import Question, YesNo
from deniable_server.analysis import rounding
from deniable_server.analysis.rounding import (
    AnyShare,
    mean_in_units,
    score_in_points,
    share_in_percent,
    short_text,
    up,
)
from deniable_server.estimator import TOO_NOISY, Mean, QuestionEstimate, Share, Summary, Weighted
from deniable_server.estimator.comparison import Difference
from deniable_server.wording import NO_DATA, SUMMARIES, answer_texts, apart, is_noisy, probability

NOTHING_YET = "No answers yet"
NOT_HONEST_MEANS = (
    "Some reports may be made up. Do not rely on the numbers before you know who had the link and how often they could "
    "answer."
)
NEGLIGIBLE = 1 / 20
"""Of an interval's width: groups that differ by less are about the same."""
TOO_NOISY_MEANS = "Where it says “too noisy to say”, the interval spans more than half of all that is possible."


def counted(n: float, what: str) -> str:
    """1 answer, 2 answers."""
    return f"{n:,.0f} {what}{'' if n == 1 else 's'}"


# --- texts that people wrote -------------------------------------------------------------------------------------

LONGEST = 90
"""Characters of a text of the survey that charts and sentences show; tables show all."""


def cut(text: str, longest: int = LONGEST) -> str:
    """A text that fits, cut between words where that is possible."""
    if len(text) <= longest:
        return text
    head = text[: longest - 1]
    space = head.rfind(" ")
    return f"{(head[:space] if space > longest // 2 else head).rstrip()}…"


def quoted(text: str) -> str:
    """A text of the survey within a sentence of ours."""
    return apart(cut(text))


# --- shares and means --------------------------------------------------------------------------------------------


def about(share: AnyShare) -> str:
    """A share in words: "about 23%, between 21% and 25%"."""
    if share.estimate is None:
        return NO_DATA
    value, low, high = share_in_percent(share).texts()
    if is_noisy(share):
        return f"{TOO_NOISY}: anywhere between {low}% and {high}%"
    limits = _limits(low, high, _is_zero(low), high.startswith("100"), "%")
    return limits if _is_zero(value) else f"about {value}%, {limits}"


def _limits(low: str, high: str, at_floor: bool, at_ceiling: bool, unit: str = "") -> str:
    if at_floor and not at_ceiling:
        return f"at most {high}{unit}"
    if at_ceiling and not at_floor:
        return f"at least {low}{unit}"
    return f"between {low}{unit} and {high}{unit}"


def about_mean(question: Question, mean: Mean) -> str:
    """A mean in words, with its unit or the ends of its scale."""
    if mean.value is None:
        return NO_DATA
    floor, ceiling = question.range
    value, low, high = mean_in_units(question, mean).texts()
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


def about_score(summary: Summary) -> str:
    """A difference of shares, which can be negative: "about 12 points, between −3 and 27"."""
    if summary.estimate is None:
        return NO_DATA
    value, low, high = score_in_points(summary).texts()
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


def answering(question: Question, estimate: QuestionEstimate | Weighted) -> list[tuple[str, str]]:
    """Each answer's share of those who did not decline; empty where the headline has it."""
    texts = answer_texts(question)
    shares = [] if isinstance(question, YesNo) else estimate.among_answering or []
    return [(quoted(texts[share.code]), about(share)) for share in shares]


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
    among = "" if estimate.applies is UNSET else " among those"
    if isinstance(question, YesNo):
        said = f"Yes{among}: {about(_of(estimate.shares, 'yes'))}"
        if estimate.among_answering is not UNSET:
            said += f". Of those who answered: {about(_of(estimate.among_answering, 'yes'))}"
        return said
    texts = answer_texts(question)
    told = [share for share in estimate.shares if share.estimate is not None and not is_noisy(share)]
    if not told:
        return capitalized(TOO_NOISY)
    first = max(told, key=lambda share: share.estimate or 0.0)
    names = [quoted(texts[share.code]) for share in estimate.shares if share is first or share.high >= first.low]
    if len(names) == 1:
        return f"Most common{among}: {names[0]}, {about(first)}"
    if len(names) > MOST_NAMED:
        return f"Most common{among}: too close to call between {len(names)} of {len(estimate.shares)} answers"
    return f"Most common{among}: {', '.join(names[:-1])} or {names[-1]}, too close to call"


def scale_headline(question: Question, estimate: QuestionEstimate | Weighted) -> str:
    """What the chart of a scale says first: how many chose the points at its upper end."""
    top = next((each for each in estimate.summaries or () if not each.minus), None)
    if top is None:
        return headline(question, estimate)
    points = " or ".join(quoted(question.labels[int(code) - 1]) for code in top.of)
    return f"{points}{'' if estimate.applies is UNSET else ' among those'}: {about(top)}"


def _of(shares: Sequence[Share], code: str) -> Share:
    return next(share for share in shares if share.code == code)


def applies(estimate: QuestionEstimate | Weighted) -> str:
    """How many people a question is asked of; empty where that is everybody."""
    share = estimate.applies
    if share is UNSET or share.estimate is None:
        return ""
    if is_noisy(share):
        return f"How many it applies to is {about(share)}"
    return f"Applies to {about(share)}"


def asked(estimate: QuestionEstimate, submissions: int) -> str:
    """How many respondents were asked; empty before there are any."""
    if not submissions:
        return ""
    if estimate.answers == submissions:
        said = f"All {counted(submissions, 'respondent')} were asked" if submissions > 1 else "1 respondent was asked"
    else:
        said = f"{estimate.answers:,} of {counted(submissions, 'respondent')} were asked"
    if estimate.applies is not UNSET:
        said += ", if it applied to them"
    reports = sorted({share.answers for share in estimate.shares if share.answers is not UNSET})
    if reports and reports[0] < estimate.answers:
        most = "" if len(reports) == 1 else f" to {reports[-1]:,}"
        said += f"; each option has {reports[0]:,}{most} reports"
    return said


def notices(estimate: QuestionEstimate) -> list[str]:
    """What a reader must be told before the numbers, a sentence each."""
    if not estimate.answers:
        return []
    meanings = {TOO_NOISY: TOO_NOISY_MEANS}
    return [meanings.get(note, f"{capitalized(note)}.") for note in estimate.notes]


def survey_notices(notes: Sequence[str]) -> list[str]:
    """The same of a whole survey."""
    return [*(f"{capitalized(note)}." for note in notes), *([NOT_HONEST_MEANS] if notes else [])]


def influence(
    question: Question, estimate: QuestionEstimate, groups: Sequence[QuestionEstimate] = (), unused: int | None = None
) -> str:
    """How far false submissions could move the numbers, rounded up: if one in a hundred were false, or, where only
    people with an invitation can answer, if all ``unused`` ones were used for it. Empty without any.

    ``groups``: the estimates that are shown with it. All that is false may be in one of them.
    """
    if estimate.fake_influence is None:
        return ""
    if unused == 0:
        return "No invitation is left for a false submission"
    false = unused or max(estimate.answers // 100, 1)
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
        size = short_text(up(most if question.asks_mean else most * 100))
        return f"by up to {size}{unit}" if question.asks_mean else f"by up to {_points(size)}"

    who = f"{counted(false, 'false submission')} could"
    if unused is not None:
        who = f"False submissions: at most the {counted(false, 'unused invitation')}, which could"
    said = [f"{who} move {what} {by(estimate.fake_influence)}"]
    for name, several in (("that of several points", False), ("the net score", True)):
        most = [s.fake_influence for s in estimate.summaries or () if bool(s.minus) == several and s.fake_influence]
        said += [f"{name} {by(max(most), Decimal(1 + several))}" for most in [most] if most]
    within = [group.fake_influence for group in groups if group.fake_influence is not None]
    said += [f"within one group {by(max(within))}"] if within else []
    return ", ".join(said)


def response_rate(used: int, invited: int) -> str:
    """How many of those who were invited have used their invitation."""
    if not invited:
        return "No invitations yet"
    return f"{used:,} of {counted(invited, 'invitation')} used, {_percent(used, invited)}"


def _percent(part: int, whole: int) -> str:
    """Rounded, but neither nothing nor all unless it is."""
    rounded = (200 * part + whole) // (2 * whole)
    if part and not rounded:
        return "less than 1%"
    return "more than 99%" if part < whole and rounded == 100 else f"{rounded}%"


def open_equivalent(estimate: QuestionEstimate) -> str:
    """What protection costs: how many unprotected answers would be worth as much. Empty where that is not known."""
    if estimate.open_equivalent is None:
        return ""
    if not estimate.open_equivalent:
        return "worth less than 1 unprotected answer"
    return f"worth as much as {counted(estimate.open_equivalent, 'unprotected answer')}"


# --- differences -------------------------------------------------------------------------------------------------


def difference(row: Difference, names: Mapping[str, str], answer: str = "", unit: str = "") -> str:
    """One difference in a sentence. ``names``: what groups are called; ``answer``: the option's text, "" for a mean."""
    first, second = (quoted(names.get(label, label)) for label in (row.first, row.second))
    start = f"{quoted(answer)}: " if answer else ""
    if row.estimate is None:
        return f"{start}{first} and {second} cannot be compared: {NO_DATA}."
    value, low, high = rounding.difference(row).texts()
    points = row.code is not None
    between = _directions(low, high, points) + (f", in {quoted(unit)}" if unit and not points else "")
    if is_noisy(row):
        return f"{start}{TOO_NOISY}: {first} may be anywhere {between} than {second}."
    if abs(row.estimate) < NEGLIGIBLE * (row.high - row.low):
        return f"{start}{first} and {second} are about the same: {first} is {between}; {_by_chance(row)}."
    much, way = _sized(value, points)
    return f"{start}{first} is about {much} {way} than {second}, {between}; {_by_chance(row)}."


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
