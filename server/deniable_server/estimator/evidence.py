"""Evidence: what the reports of the parts show of one question, brought to one form whatever the design.

A part reports one path, a combination of answers to its questions. An answer to one of them *owns* the paths it is on,
so that its share is the sum of theirs, and a question in several parts is estimated from all of them together:

- ``Heard`` is what one part has reported, and which of its paths belong to which answer of one item;
- ``Evidence`` is a question with everything heard about it, also where it is a part by itself, as ``alone`` makes it;
- ``pool`` reduces what was heard of one item to ``Pooled``: unbiased shares and their covariance. From there, one
  answer or several together are a ``Supported``, to which all intervals, tests and likelihoods of a count apply.

The respondents of the parts that report on an item are different people, since no booklet has an item twice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from operator import add, mul
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from deniable_protocol import Channel, Document, Drawn, MultiChoice, Question

from .intervals import Aim, Chances, Rule, Supported, chances, joint_rule, supports

Array: TypeAlias = npt.NDArray[np.float64]
Counts: TypeAlias = Sequence[float]
"""How many reports show each feature of the channel. Whole numbers, but for those of weighted reports."""
Paths: TypeAlias = tuple[int, ...]

PLANNING = 0.5
"""The share at which parts are weighed against each other: fixed, since weights that look at the counts are biased."""


class Counted(NamedTuple):
    """The ``n`` reports of one part: how many show each feature of its channel."""

    channel: Channel
    counts: Counts
    n: float


class Heard(NamedTuple):
    """What one part has reported of one item: a question, or one option of a multi_choice (no, yes).

    ``counts`` are those of the channel's features in ``n`` reports. ``owned`` has, per code of the item in channel
    order, the paths with that answer; a question that asks for a mean has none. ``shown`` are the paths on which the
    item is asked at all. ``part`` tells the parts of a survey apart.
    """

    channel: Channel
    counts: Counts
    n: float
    owned: tuple[Paths, ...]
    shown: Paths
    part: int = 0


@dataclass(frozen=True, eq=False)
class Evidence:
    """Everything heard about a question: of one item, or per option of a multi_choice; each in one or more parts.

    ``answers``: the submissions whose booklet reports on it; of a multi_choice, on any of its options. ``parts`` are
    all reports that are about it, of which nothing is counted twice.
    """

    question: Question
    answers: float
    items: tuple[tuple[Heard, ...], ...]
    parts: tuple[Counted, ...]

    @cached_property
    def is_scored(self) -> bool:
        """Whether reports have scores, and do more than support an answer or not: means, and shares from a table."""
        return self.question.asks_mean or not all(supports(heard.channel) for item in self.items for heard in item)

    @cached_property
    def is_conditional(self) -> bool:
        """Whether the question is asked of some people only: a follow-up may be shown after every answer."""
        heard = (heard for item in self.items for heard in item)
        return self.question.show_if is not None and any(len(each.shown) < each.channel.answers for each in heard)

    @property
    def is_exclusive(self) -> bool:
        """Whether just one of its answers is true."""
        return not isinstance(self.question, MultiChoice)

    @cached_property
    def shares(self) -> tuple[Pooled | None, ...]:
        """Per item the shares of its answers; None where no report is about it."""
        return tuple(pool(item) for item in self.items)

    def applies(self) -> Pooled | None:
        """The shares of those whom the question is asked, and of the others, from each part once."""
        parts = {heard.part: heard for item in self.items for heard in item}
        return pool_sets([(heard, (heard.shown, not_shown(heard))) for heard in parts.values()])


def not_shown(heard: Heard) -> Paths:
    """The paths on which the item is not asked."""
    return tuple(path for path in range(heard.channel.answers) if path not in heard.shown)


def alone(question: Question, channel: Channel, counts: Counts, n: float) -> Evidence:
    """The evidence of a question that is a part by itself."""
    return Evidence(question, n, _by_itself(channel, counts, n, 0), (Counted(channel, counts, n),))


def _by_itself(channel: Channel, counts: Counts, n: float, part: int) -> tuple[tuple[Heard, ...], ...]:
    if not isinstance(channel, Drawn):
        everything = tuple(range(channel.answers))
        return ((Heard(channel, counts, n, tuple((path,) for path in everything), everything, part),),)
    # Given how many reports are about it, an option is a yes_no of its own, put to a sample of the respondents.
    bits = [(band, counts[2 * place : 2 * place + 2]) for place, band in enumerate(channel.parts)]
    return tuple((Heard(band, each, sum(each), ((0,), (1,)), (0, 1), part),) for band, each in bits)


def gather(
    document: Document, question: Question, counts: Sequence[Counts], sizes: Sequence[float], answers: float
) -> Evidence:
    """The evidence of a survey's question: from the counts and the number of reports of every part of the document.

    ``answers`` is the number of submissions whose booklet has a part that reports on the question.
    """
    about = document.parts_about(question.id)
    numbers = dict.fromkeys(number for number, _ in about)
    parts = tuple(Counted(document.parts[i].channel, counts[i], sizes[i]) for i in numbers)
    if len(about) == 1 and not document.parts[about[0][0]].paths:
        return Evidence(question, answers, _by_itself(*parts[0], about[0][0]), parts)
    items: dict[str | None, list[Heard]] = {}
    for number, place in about:
        part = document.parts[number]
        codes = range(len(part.items[place].codes) if part.paths else 0)
        owned = tuple(part.owned(place, code) for code in codes)
        heard = Heard(part.channel, counts[number], sizes[number], owned, part.shown(place), number)
        items.setdefault(part.items[place].option, []).append(heard)
    order = [None] if None in items else question.codes
    return Evidence(question, answers, tuple(tuple(items[option]) for option in order), parts)


# --- pooling -----------------------------------------------------------------------------------------------------


class _Part(NamedTuple):
    """The support y of each answer in n reports of one part; an answer owns as many paths as ``sizes`` says."""

    chance: Chances
    sizes: tuple[int, ...]
    y: tuple[float, ...]
    n: float

    def rule(self, size: int) -> Rule:
        return joint_rule(self.chance, size)

    @property
    def unbiased(self) -> list[float]:
        rule = self.rule(1)
        return [(y / self.n - size * rule.q) / rule.gap for y, size in zip(self.y, self.sizes, strict=True)]


@dataclass(frozen=True, eq=False)
class Pooled:
    """The shares of answers that exclude each other, from all parts that report on them.

    Each part gives unbiased shares u_i from n_i reports, of variance V_i/n_i. Pooled they are u = sum of w_i u_i with
    w_i in proportion to n_i/V_i at the planning share: the same for all answers, so that the shares of several are the
    sum of theirs. That is as certain as ``n`` = 1/(sum of w_i^2/n_i) reports are whose noise is n (sum of w_i^2/n_i
    times theirs): for these, V(s) has again the form s(1-s) + s v1 + (1-s) v0.
    """

    parts: tuple[_Part, ...]
    weights: tuple[float, ...]
    unbiased: Array
    n: float

    def together(self, places: Sequence[int]) -> Supported:
        """The support of these answers together."""
        rules = [part.rule(sum(part.sizes[j] for j in places)) for part in self.parts]
        if len(rules) == 1 and rules[0].counted:
            return Supported(rules[0], sum(self.parts[0].y[j] for j in places), self.n)
        times = [self.n * w * w / part.n for w, part in zip(self.weights, self.parts, strict=True)]
        v1, v0 = (float(sum(a * getattr(rule, v) for a, rule in zip(times, rules, strict=True))) for v in ("v1", "v0"))
        rule = binary_rule(v1, v0)
        return Supported(rule, self.n * (rule.q + rule.gap * float(sum(self.unbiased[j] for j in places))), self.n)

    def apart(self, place: int) -> list[Supported]:
        """The support of one answer in each part by itself."""
        found = []
        for part in self.parts:
            y, rule = part.y[place], part.rule(part.sizes[place])
            if not rule.counted:
                share, rule = (y / part.n - rule.q) / rule.gap, binary_rule(rule.v1, rule.v0)
                y = part.n * (rule.q + rule.gap * share)
            found.append(Supported(rule, y, part.n))
        return found

    def merged(self, groups: Sequence[Sequence[int]]) -> Pooled:
        """The shares of these groups of answers instead, with the same weights."""
        parts = tuple(
            part._replace(
                sizes=tuple(sum(part.sizes[j] for j in group) for group in groups),
                y=tuple(sum(part.y[j] for j in group) for group in groups),
            )
            for part in self.parts
        )
        unbiased = np.array([sum(self.unbiased[j] for j in group) for group in groups])
        return Pooled(parts, self.weights, unbiased, self.n)

    @property
    def moments(self) -> tuple[Array, Array]:
        """E[u u'] to first order, without the square of its mean: M + sum over the answers of s_j M_j."""
        none, own = np.zeros(1), np.zeros(1)
        for w, part in zip(self.weights, self.parts, strict=True):
            first, rest = moments_of(part.chance, part.sizes)
            none, own = none + w * w / part.n * first, own + w * w / part.n * rest
        return none, own

    def covariance(self, shares: Array, aim: Aim) -> Array:
        """Of the unbiased shares, where these are the true ones."""
        none, own = self.moments
        spread = np.outer(shares, shares)
        total = none + np.tensordot(shares, own, axes=1) - spread / self.n
        kept = 1 - aim.sampling(self.n)
        return np.asarray(total - kept * (np.diag(shares) - spread) / self.n)


def planned_variance(part: _Part) -> float:
    """Of one report, on average over the answers, at the planning share."""
    rules = [part.rule(size) for size in part.sizes if size]
    noise = sum(PLANNING * rule.v1 + (1 - PLANNING) * rule.v0 for rule in rules) / len(rules)
    return PLANNING * (1 - PLANNING) + noise


@lru_cache(maxsize=1024)
def moments_of(chance: Chances, sizes: tuple[int, ...]) -> tuple[Array, Array]:
    """E[z z'] of one report's decoded support of disjoint sets of t_j paths, as M + sum over j of s_j M_j.

    The support H_j counts the held paths. Two different paths i and l are held together with c0 + (c1 - c0)(s_i + s_l),
    c1 beside the truth and c0 among the others; one by itself with q + gap s_i. Summed over the sets, with z =
    (H - t q)/gap and E[H_j] = t_j q + gap s_j.
    """
    p, q, c1, c0 = map(float, (chance.p, chance.q, *chance.pairs))
    gap, t = p - q, np.array(sizes, dtype=float)
    pairs = np.outer(t, t) - np.diag(t)
    none = np.diag(t * q) + c0 * pairs - np.outer(t, t) * q * q
    own = np.zeros((len(t), len(t), len(t)))
    for j, size in enumerate(t):
        own[j, j, j] = gap
        own[j, j, :] += (c1 - c0) * t - gap * q * t
        own[j, :, j] += (c1 - c0) * t - gap * q * t
        own[j, j, j] -= 2 * (c1 - c0) * (size > 0)
    return none / gap**2, own / gap**2


def pool(heard: Sequence[Heard]) -> Pooled | None:
    """The shares of the codes of an item, from all that was heard of it; None where that is nothing."""
    return pool_sets([(each, each.owned) for each in heard])


def pool_sets(heard: Sequence[tuple[Heard, Sequence[Paths]]]) -> Pooled | None:
    """The shares of disjoint sets of paths, given for each part. Parts with the same rules are one: y and n add up."""
    found: dict[tuple[Chances, tuple[int, ...]], _Part] = {}
    for each, sets in heard:
        if each.n:
            key = chances(each.channel), tuple(map(len, sets))
            y = tuple(float(sum(each.counts[path] for path in paths)) for paths in sets)
            if (before := found.get(key)) is None:
                found[key] = _Part(*key, y, each.n)
            else:
                found[key] = _Part(*key, tuple(map(add, before.y, y)), before.n + each.n)
    if not found:
        return None
    parts = tuple(found.values())
    if len(parts) == 1:
        return Pooled(parts, (1.0,), np.array(parts[0].unbiased), parts[0].n)
    certainty = [part.n / planned_variance(part) for part in parts]
    weights = tuple(each / sum(certainty) for each in certainty)
    columns = zip(*(part.unbiased for part in parts), strict=True)
    unbiased = np.array([sum(map(mul, weights, column)) for column in columns])
    return Pooled(parts, weights, unbiased, 1 / sum(w * w / part.n for w, part in zip(weights, parts, strict=True)))


def binary_rule(v1: float, v0: float) -> Rule:
    """The rule of a support that is 0 or 1 and has just this noise, so that V(s) is the same at every share.

    p(1-p) = v1 gap^2 and q(1-q) = v0 gap^2, subtracted and divided by gap = p - q, give p + q = 1 - (v1 - v0) gap;
    put back in, 1/gap^2 = 4 v0 + (v1 - v0 + 1)^2.
    """
    gap = 1 / math.sqrt(4 * v0 + (v1 - v0 + 1) ** 2)
    p = (1 - (v1 - v0) * gap + gap) / 2
    return Rule(p, p - gap, gap, v1, v0, counted=False)
