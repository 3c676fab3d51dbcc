"""Whether honest devices could have sent these reports, whatever the answers of the people who hold them.

Four kinds of events are counted: a booklet came; a report of a part shows a feature, or does not; a whole report of a
part came; all reports of a submission came together. For each, p is the most that its probability can be with an honest
device. False submissions that repeat one report make some of these events too frequent.

Each event is tested by betting on it [1]. Before each submission, the fraction f of a wealth, at first 1, is put on the
event, at odds that pay 1/p: the wealth becomes 1 - f + f/p times as large if the event comes, 1 - f times if not. With
honest submissions that is at most 1 - f + p f/p = 1 on average, whatever came before. So the probability that the
wealth *ever* reaches 1/alpha is at most alpha, however often somebody looks (Ville's inequality). The same is true of
the mean wealth of several fractions. The bet f is the best one if f of the submissions are false and repeat the event.
With m events at alpha/m each, the probability that any of them reaches its limit is at most alpha (Bonferroni).

What this cannot see: false submissions that are randomised as honest ones are, that are spread over many reports, or
that honest answers could explain. Those that repeat a yes look like people who say yes.

[1] Shafer 2021, J. Royal Statistical Society A 184; Waudby-Smith and Ramdas 2024, J. Royal Statistical Society B 86.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from deniable_protocol import Channel, Document
from deniable_server.statistics import MODULUS, Cell, Counts, repeats_of, reports_of, step_of

from .evidence import Array
from .intervals import supports
from .scores import table_of

NOT_HONEST = "not consistent with honest reports"

FALSE_ALARMS = 0.001
"""How often, at most, an honest survey is ever said not to be consistent with honesty."""

FRACTIONS = 0.5 ** np.arange(1, 11)
"""Of false submissions that are bet on: a half to a thousandth."""

UP = 1 + 1e-9
"""By more than floating point may lose: no probability of an event is understated."""


class Events(NamedTuple):
    """Events of one sort: each came ``counts`` times in ``n`` submissions or reports, and the probability that it comes
    is at most ``most``. ``words`` say what came.
    """

    words: str
    counts: Counts
    n: Counts
    most: Array


class Frequent(NamedTuple):
    """An event that came too often; ``excess`` is the logarithm of its wealth, over the limit."""

    words: str
    excess: float


def check_honesty(document: Document, cell: Cell, repeats: Counts) -> list[str]:
    """What honest devices would not send: of each kind of event, the one that is farthest beyond its limit.

    ``cell`` has all submissions of the survey, and ``repeats`` counts their whole reports.
    """
    kinds = [
        kind
        for kind in (
            [*_booklets(document, cell)],
            [*_features(document, cell)],
            [*_whole_reports(document, cell, repeats)],
            [*_together(document, cell, repeats)],
        )
        if kind
    ]
    found = [_most_frequent(kind, FALSE_ALARMS / len(kinds)) for kind in kinds]
    worst = sorted((each for each in found if each is not None), key=lambda each: -each.excess)
    return [f"{NOT_HONEST}: {each.words}" for each in worst]


def _most_frequent(kind: Sequence[Events], alpha: float) -> Frequent | None:
    """The event that is farthest above its limit."""
    tests = sum(len(events.counts) for events in kind)
    found: list[Frequent] = []
    for words, counts, n, most in kind:
        (suspect,) = np.nonzero(counts > n * most)  # betting on the others has lost
        for i, excess in zip(suspect, log_wealth(counts[suspect], n[suspect], most[suspect]), strict=True):
            if excess >= np.log(tests / alpha):
                said = f"{counts[i]:,} times in {n[i]:,}; honest devices give {most[i] * n[i]:,.0f} on average, at most"
                found.append(Frequent(f"{words} {said}", excess))
    return max(found, key=lambda each: each.excess, default=None)


def log_wealth(counts: Counts, n: Counts, most: Array) -> Array:
    """The logarithm of what betting on each event makes of 1, on average over the fractions."""
    came, not_came = np.log1p(FRACTIONS / most[:, None] - FRACTIONS), np.log1p(-FRACTIONS)
    each = counts[:, None] * came + (n - counts)[:, None] * not_came
    mean: Array = np.logaddexp.reduce(each, axis=1) - np.log(len(FRACTIONS))
    return mean


def _names(document: Document, part: int) -> str:
    return " and ".join(document.parts[part].names)


# --- booklets and features ---------------------------------------------------------------------------------------


def _weights(document: Document) -> Array:
    """The probability of each booklet, which no answer changes."""
    weights = [booklet.weight for booklet in document.booklets]
    return np.array(weights) / sum(weights)


def _booklets(document: Document, cell: Cell) -> Iterator[Events]:
    chances = zip(document.booklets, cell.booklets, _weights(document), strict=True)
    for booklet, count, weight in chances if len(document.booklets) > 1 else ():
        names = "; ".join(_names(document, part) for part in booklet.parts)
        yield _events(f"the booklet on {names} came", [count], cell.submissions, [weight])


def _events(words: str, counts: Counts | list[int], n: Counts | int, most: Array | list[float]) -> Events:
    counted = np.asarray(counts)
    of = n if isinstance(n, np.ndarray) else np.full(counted.shape, n)
    return Events(words, counted, of, np.asarray(most) * UP)


def _features(document: Document, cell: Cell) -> Iterator[Events]:
    """Given how many reports a part has, the probability of a feature lies between its least and its most."""
    for number, (part, counts) in enumerate(zip(document.parts, cell.counts, strict=True)):
        n: Counts | int = reports_of(document, cell, number)
        reports = f"reports on {_names(document, number)}"
        known = _between(part.channel)
        shown = counts[known.features]
        if known.against is not None:  # which answer reports is drawn, whatever the answers are
            about = shown + counts[known.against]
            yield _events(f"{reports} are about one answer", about, n, known.asked)
            yield _events(f"{reports} are not about one answer", n - about, n, 1 - known.asked)
            n = about
        yield _events(f"{reports} show one answer", shown, n, known.most)
        yield _events(f"{reports} do not show one answer", n - shown, n, 1 - known.least)


class _Between(NamedTuple):
    """The least and the most probability of these features; of Support's other fields where they are not the usual."""

    features: list[int]
    least: Array
    most: Array
    against: list[int] | None
    asked: Array


@lru_cache(maxsize=256)
def _between(channel: Channel) -> _Between:
    known = supports(channel)
    if known:
        least, most = (np.array([getattr(rule, name) for _, rule in known]) for name in ("q", "p"))
        against = [each.against for each, _ in known if each.against is not None]
        asked = np.array([float(each.asked) for each, _ in known])
        return _Between([each.feature for each, _ in known], least, most, against or None, asked)
    table = table_of(channel)
    features = [*range(channel.feature_count)]
    return _Between(features, table.min(axis=0), table.max(axis=0), None, np.ones(len(features)))


# --- whole reports -----------------------------------------------------------------------------------------------


def _whole_reports(document: Document, cell: Cell, repeats: Counts) -> Iterator[Events]:
    """Of all submissions: that the booklet has the part, and that its report is this one (or has this remainder)."""
    counted = {each.part: repeats[each.place] for each in repeats_of(document)}
    asked_about = np.zeros(len(document.parts))
    for weight, booklet in zip(_weights(document), document.booklets, strict=True):
        asked_about[[*booklet.parts]] += weight
    for number, (part, asked, features) in enumerate(zip(document.parts, asked_about, cell.counts, strict=True)):
        counts = counted.get(number, features)
        words, most = f"the same report on {_names(document, number)} came", _most(part.channel)[: len(counts)]
        possible = most > 0
        yield _events(words, counts[possible], cell.submissions, asked * most[possible])


def _together(document: Document, cell: Cell, repeats: Counts) -> Iterator[Events]:
    for each in repeats_of(document):
        if each.part is None:
            bounds = [most_together(document, booklet.parts) for booklet in document.booklets]
            most = np.full(each.size, _weights(document) @ bounds)
            yield _events("the same reports together came", repeats[each.place], cell.submissions, most)


@lru_cache(maxsize=256)
def _most(channel: Channel) -> Array:
    """The most that any answer can make the probability of each whole report, or of each remainder of one."""
    if channel.exclusive:
        chances = remainders(channel) if (channel.held or 1) > 1 else table_of(channel)
        return np.asarray(chances.max(axis=0))
    most = np.zeros(channel.feature_count)
    for asked, table, reports in _apart(channel):
        most[reports] = asked * table.max(axis=0)
    return most


def _apart(channel: Channel) -> Iterator[tuple[float, Array, list[int]]]:
    """Of a channel that draws which of several answers it reports: the probability that it is each of them, and then
    that of its two reports, where the answer is no and where it is yes.
    """
    for each, rule in supports(channel):
        assert each.against is not None
        yield float(each.asked), np.array([[1 - rule.q, rule.q], [1 - rule.p, rule.p]]), [each.against, each.feature]


@lru_cache(maxsize=256)
def remainders(channel: Channel) -> Array:
    """Of reports that are subsets: the probability of each remainder, a row per answer.

    ways[s, r] counts the sets of s options whose sum has the remainder r: with each further option, with or without it.
    Those without a given option follow by taking it out again. They are below 2^53, and so exact.
    """
    size, held = MODULUS, channel.held or 1
    steps = [pow(2, option, size) for option in range(channel.answers)]
    ways = np.zeros((held + 1, size))
    ways[0, 0] = 1
    for step in steps:
        ways[1:] += np.roll(ways[:-1], step, axis=1)
    report = (1 << held) - 1  # any: one answer in it, one outside
    inside, outside = (float(channel.probability(answer, report)) for answer in (0, held))
    rows = []
    for step in steps:
        rest = ways[0]
        for s in range(1, held):
            rest = ways[s] - np.roll(rest, step)
        own = np.roll(rest, step)
        rows.append(inside * own + outside * (ways[held] - own))
    return np.array(rows)


def most_together(document: Document, parts: Sequence[int]) -> float:
    """The most that any answers can make the probability of a remainder of all reports of these parts together."""
    return _most_of_sum(tuple((document.parts[part].channel, step_of(part)) for part in parts))


@lru_cache(maxsize=256)
def _most_of_sum(parts: tuple[tuple[Channel, int], ...]) -> float:
    """The smaller of two bounds on the probability of a remainder of the sum of all reports, each times its step. Given
    the answers, the reports are independent.

    One is for few reports: if m_r is the most for the remainder r so far, the next report makes it at most the largest,
    over its answers, of the sum of P(s | answer) m_(r-s). The other one is for many: the characteristic function of the
    sum is the product of theirs, at each frequency at most that of their largest absolute values; and a probability is
    the mean over the frequencies of that function, turned by some angle.
    """
    most, product = np.eye(1, MODULUS)[0], np.ones(MODULUS // 2 + 1)
    for channel, step in parts:
        so_far, functions = np.fft.rfft(most), [(p, np.fft.rfft(rows, axis=1)) for p, rows in _tables(channel, step)]
        most = sum(p * np.fft.irfft(each * so_far, MODULUS, axis=1).max(axis=0) for p, each in functions)
        product *= sum(p * np.abs(each).max(axis=0) for p, each in functions)
    both_signs = np.concatenate([product, product[1:]])  # of real numbers: a negative frequency has the same size
    return float(min(most.max(), both_signs.mean()))


def _tables(channel: Channel, step: int) -> Iterator[tuple[float, Array]]:
    """The probability of each remainder of a report times its step, a row per answer: one table, or several of which
    one is drawn with the probability that is given with it.
    """
    if not channel.exclusive:
        each = [*_apart(channel)]
    elif (channel.held or 1) > 1:
        each = [(1.0, remainders(channel), [*range(MODULUS)])]
    else:
        each = [(1.0, table_of(channel), [*channel.reports()])]
    for asked, table, reports in each:
        rows = np.zeros((len(table), MODULUS))
        for report, column in zip(reports, table.T, strict=True):
            rows[:, report * step % MODULUS] += column
        yield asked, rows
