"""Answers, channels and tests in words, the same in the terminal and on pages. Numbers are in ``analysis.rounding``,
labels of answers in ``deniable_protocol.labels``: notebooks show them, too.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from msgspec import UNSET

from deniable_protocol import (
    Account,
    Band,
    Channel,
    Document,
    Drawn,
    Item,
    Part,
    Question,
    Segment,
    Subset,
    Survey,
    Table,
)
from deniable_protocol.checks import plain
from deniable_protocol.labels import ANSWER_TEXTS as ANSWER_TEXTS
from deniable_protocol.labels import SUMMARIES as SUMMARIES
from deniable_protocol.labels import answer_texts as answer_texts
from deniable_protocol.labels import group_texts as group_texts
from deniable_protocol.labels import merged_text as merged_text
from deniable_protocol.labels import probability as probability

from .estimator import TOO_NOISY, Applies, Mean, Share, Summary
from .estimator.comparison import Difference
from .estimator.crosstab import Independence, JointShare
from .estimator.intervals import supports

Estimated: TypeAlias = Share | Applies | JointShare | Summary | Mean | Difference

NO_DATA = "no data"

EVERY_LOOK = "Intervals and p-values are valid however often you look."


_TURNING = {"R", "AL", "AN", "RLE", "RLO", "RLI", "LRE", "LRO", "LRI", "FSI", "PDF", "PDI"}


def apart(text: str) -> str:
    """A text of the survey among words of ours: one that runs from right to left does not turn them around."""
    turns = any(unicodedata.bidirectional(character) in _TURNING for character in text)
    return f"\u2068{text}\u2069" if turns else text


def channel_in_words(part: Part) -> str:
    """How the answers to the questions of a part are randomised."""
    return CHANNEL_WORDS[type(part.channel)](part, part.channel)


def part_in_words(part: Part) -> str:
    """The same, with the names of the questions where there are several."""
    words = channel_in_words(part)
    return words if len(part.items) == 1 else f"{names_in_words(part.names)} together: {words}"


def invitation_in_words(survey: Survey, uses: int = 1, expires_on: date | None = None) -> str:
    """The text of an invitation, for mail merge. {link} and {code} are to be replaced, once each."""
    asked = f"{survey.asked_by} invites you" if survey.asked_by else "You are invited"
    whose = "This link is for you alone, and works once." if uses == 1 else "This link is for your group. Use it once."
    until = "" if expires_on is None else f" It works until the end of {expires_on.isoformat()} (UTC)."
    return (
        f"{asked} to answer \u201c{survey.title}\u201d:\n\n"
        "{link}\n\n"
        f"{whose}{until} If you are asked for a code, it is {{code}}.\n\n"
        "The invitation does not show which answers are yours. Your device exchanges it for a token that the server "
        "signs without seeing it. And your answers are changed at random on your device before they are sent.\n"
    )


def names_in_words(names: Sequence[str]) -> str:
    """Several names as people write them: a, b and c."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _subset(part: Part, channel: Any) -> str:
    what = f"{channel.options} {'answers' if len(part.items) == 1 else 'combinations of answers'}"
    return f"subsets of {channel.size} of {what}" if channel.size > 1 else f"one of {what} (k-ary response)"


def _band(part: Part, channel: Any) -> str:
    return "a noisy bit" if channel.levels == 2 else f"bands {channel.width} wide on {channel.levels} levels"


def _drawn(part: Part, channel: Any) -> str:
    return f"a noisy bit on one of {channel.answers} options"


def _table(part: Part, channel: Any) -> str:
    # A published document may have any table; one that we designed has the name of its mechanism.
    return f"{part.items[0].question.mechanism or 'table'} on {channel.answers} levels"


CHANNEL_WORDS: dict[type[Channel], Callable[[Part, Any], str]] = {
    Subset: _subset,
    Band: _band,
    Drawn: _drawn,
    Table: _table,
}
"""Each kind of channel in a few words."""


def method_in_words(document: Document, question: Question, *, anytime: bool = False) -> str:
    """How a question's numbers came about: what randomised the answers, and what the intervals are made from."""
    parts = [document.parts[number] for number in dict.fromkeys(n for n, _ in document.parts_about(question.id))]
    channels = ", or ".join(dict.fromkeys(map(part_in_words, parts)))
    if anytime:
        limits = "limits that are valid at every look (a confidence sequence)"
    elif question.asks_mean:
        limits = "t limits on the unbiased scores of the reports"
    elif any(len(part.items) == 1 and not supports(part.channel) for part in parts):
        limits = "limits from the spread of the unbiased scores of the reports"
    elif question.show_if is not None:
        limits = "score limits on the ratio of two noisy counts"
    elif len(parts) == 1:
        limits = "Wilson or Clopper-Pearson limits on the noisy counts"
    else:
        limits = "Wilson or Clopper-Pearson limits on the noisy counts, score limits where several parts are pooled"
    return f"{channels}; {limits}"


def item_texts(item: Item) -> dict[str, str]:
    """The same for what a part reports on: an option of a multi_choice is a yes or no of its own."""
    return answer_texts(item.question) if item.option is None else {"no": "No", "yes": "Yes"}


def group_text(segment: Segment, code: str) -> str:
    """What a group is called: by the text of its code, or by those of all codes that are merged in it."""
    return merged_text(group_texts(segment), code)


def is_noisy(number: Estimated) -> bool:
    """Whether the interval spans more than half of all that is possible."""
    return number.too_noisy if isinstance(number, Summary) else number.note is not UNSET


def said(number: Estimated, text: str) -> str:
    """The text of an estimate, or why there is none."""
    value = number.value if isinstance(number, Mean) else number.estimate
    return NO_DATA if value is None else TOO_NOISY if is_noisy(number) else text


def chance(p: float | None) -> str:
    if p is None:
        return "unknown"
    return "less than 0.01%" if p < 0.0001 else "100%" if p >= 0.995 else f"{100 * p:.2g}%"


def chi_square(statistic: float | None, degrees: int) -> str:
    value = "unknown" if statistic is None else f"{statistic:.2f}"
    return f"χ² = {value} on {degrees} degree{'s' if degrees != 1 else ''} of freedom"


def independence_in_words(test: Independence, *, anytime: bool = False) -> str:
    """The result of the test of independence, or why there is none."""
    if test.p_value is None:
        return f"Independence: {test.note}."
    seen = f"{chance(test.p_value)} of surveys would show at least this much dependence"
    if anytime:
        seen = f"at most {chance(test.p_value)} of surveys would show this much dependence at any look"
    return f"If the two were independent, {seen} ({chi_square(test.statistic, test.degrees_of_freedom)})."


# --- what epsilon and delta mean --------------------------------------------------------------------------------------
# Everything that is said about protection comes from the account of all that one person sends. The web client says the
# same, under "meaning" in texts/en.js; a test compares words and figures.

WEAK = 50
"""Percent. A guess that succeeds more often than this is more often right than not: the protection is called weak."""

SUPPOSE = (
    "Suppose someone tries to guess your answers from everything that was sent, and accepts being wrong about 5% of "
    "people."
)

Strength: TypeAlias = Literal["fair", "weak", "hardly"]


def found_percent(account: Account) -> float:
    """How often a guess succeeds at most if it is wrong about 5% of people: in percent, rounded up to a tenth."""
    return math.ceil(account.power() * 1000) / 10


def strength(account: Account) -> Strength:
    percent = found_percent(account)
    return "hardly" if percent >= 100 else "weak" if percent > WEAK else "fair"


def account_in_words(account: Account) -> str:
    """What an account means for one person: a limit on anything that all that is sent can reveal together."""
    delta = [delta_in_words(account.delta)] if account.delta else []
    return " ".join([SUPPOSE, found_in_words(account), *delta])


def found_in_words(account: Account) -> str:
    """How often the guess succeeds that ``SUPPOSE`` speaks of."""
    found = f"They would find the truth at most {found_percent(account):g}% of the time."
    return {
        "fair": found,
        "weak": f"{found} This protects only weakly.",
        "hardly": "They could find the truth nearly always: this protects hardly at all.",
    }[strength(account)]


def delta_in_words(delta: Fraction) -> str:
    """What a delta means, for every channel that keeps epsilon but for it.

    Whatever such a channel sends can be made from something else: with probability delta the truth itself, and else a
    report that keeps epsilon (Kairouz, Oh and Viswanath 2015, for any two sets of answers). So no test finds out more
    than from that. Delta is not the chance that a report exceeds e^epsilon, which can be larger.
    """
    return (
        f"This includes δ = {in_decimals(delta)}: at worst, it is as if {cases(delta)} people sent their true answers "
        "unchanged."
    )


def cases(chance: Fraction) -> str:
    """A small probability as so many in so many: two digits at most, the last rounded up."""
    total = 10
    while chance * total < 1:
        total *= 10
    if (chance * total).denominator != 1:
        total *= 10
    return f"{math.ceil(chance * total):,} in {total:,}"


def in_symbols(account: Account) -> str:
    """For experts: ε = 2, δ = 0.000001."""
    delta = f", δ = {in_decimals(account.delta)}" if account.delta else ""
    return f"ε = {in_decimals(account.epsilon)}{delta}"


def in_decimals(value: Fraction) -> str:
    """All digits: epsilons have four decimals, deltas twelve, and so have their sums."""
    return plain(Decimal(int(value * 10**12)).scaleb(-12))


def with_roles(surveys: Mapping[str, str], role: str) -> str:
    """The surveys that an access token of this role is for, with the role on those where it is another one."""
    return ", ".join(survey if on == role else f"{survey} as {on}" for survey, on in surveys.items())
