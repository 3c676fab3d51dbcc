"""The channels: how an answer becomes a report. This is all of Deniable's privacy.

May not: use floating point or any randomness but the ``Draws`` it is given. Each class states its proof, and
``odds`` is that proof as a number: the most one answer can raise the probability of any report over another's.

Answers are 0-based indices here (``Drawn``: one 0/1 entry per option); reports are integers below 2^53.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import TypeAlias

import msgspec

from .draws import Draws
from .exact import ONE, N

MAX_OPTIONS = 51  # fifty and "declined"
MAX_LEVELS = 17
MAX_COLUMNS = 1024

# CHOOSE[n][s] subsets of size s out of n things; the largest, C(50, 25), is below 2^47.
CHOOSE = [[comb(n, s) for s in range(MAX_OPTIONS + 1)] for n in range(MAX_OPTIONS)]


def _favourites_odds(favour: int, contrast: tuple[int, int]) -> Fraction:
    """F/N of the probability is shared evenly by the v favoured reports, the rest evenly by the u others.

    Proof: v and u do not depend on the answer, so every report has probability F/(N*v) or (N-F)/(N*u) under any
    answer, and the ratio between two answers is at most F*u / ((N-F)*v), provided that this is not below 1.
    """
    unfavoured, favoured = contrast
    return Fraction(favour * unfavoured, (N - favour) * favoured)


class Subset(msgspec.Struct, frozen=True, tag_field="kind", tag="subset"):
    """Reports are the subsets of ``size`` of the options; those holding the true one are favoured.

    C(k-1, d-1) subsets hold a given option and C(k-1, d) do not, so u:v = (k-d):d. Size 1 is k-ary response.
    """

    options: int
    size: int
    favour: int

    @property
    def contrast(self) -> tuple[int, int]:
        """u:v, unfavoured to favoured reports."""
        return self.options - self.size, self.size

    def odds(self) -> Fraction:
        return _favourites_odds(self.favour, self.contrast)

    @property
    def answers(self) -> int:
        return self.options

    def randomize(self, answer: int, draws: Draws) -> int:
        others = self.options - 1
        if draws.chance(self.favour):  # P = F/N; then each of the C(k-1, d-1) favoured subsets equally
            rank = draws.below(CHOOSE[others][self.size - 1])
            return 1 << answer | _subset(others, self.size - 1, rank, answer)
        # P = (N-F)/N; then each of the C(k-1, d) subsets without the answer equally
        return _subset(others, self.size, draws.below(CHOOSE[others][self.size]), answer)

    def is_report(self, report: int) -> bool:
        return 0 < report < 1 << self.options and report.bit_count() == self.size

    def reports(self) -> Iterator[int]:
        return (sum(1 << j for j in chosen) for chosen in combinations(range(self.options), self.size))

    def probability(self, answer: int, report: int) -> Fraction:
        others = self.options - 1
        if report >> answer & 1:
            return Fraction(self.favour, N * CHOOSE[others][self.size - 1])
        return Fraction(N - self.favour, N * CHOOSE[others][self.size])


def _subset(n: int, size: int, rank: int, gap: int) -> int:
    """The subset with this rank among those of ``size`` out of n places, as a sum of powers of two.

    The combinatorial number system: ranks below C(e, size) leave place e out, the others take it. Places from
    ``gap`` upwards move up by one, so that the result never holds ``gap``.
    """
    report = 0
    for place in range(n - 1, -1, -1):
        if not size:
            break
        without = CHOOSE[place][size]
        if rank >= without:
            rank -= without
            size -= 1
            report |= 1 << (place if place < gap else place + 1)
    return report


class Band(msgspec.Struct, frozen=True, tag_field="kind", tag="band"):
    """Reports are 0 ... m+w-2; for level i the w reports i ... i+w-1 are favoured, so u:v = (m-1):w.

    Two levels of width 1 are Warner's randomised response, and the report is the noisy bit.
    """

    levels: int
    width: int
    favour: int

    @property
    def contrast(self) -> tuple[int, int]:
        """u:v, unfavoured to favoured reports."""
        return self.levels - 1, self.width

    def odds(self) -> Fraction:
        return _favourites_odds(self.favour, self.contrast)

    @property
    def answers(self) -> int:
        return self.levels

    def randomize(self, answer: int, draws: Draws) -> int:
        if draws.chance(self.favour):  # P = F/N; then each of the w favoured reports equally
            return answer + draws.below(self.width)
        # P = (N-F)/N; then each of the m-1 others equally: those below the band, then those above it
        other = draws.below(self.levels - 1)
        return other if other < answer else other + self.width

    def is_report(self, report: int) -> bool:
        return 0 <= report <= self.levels + self.width - 2

    def reports(self) -> Iterator[int]:
        return iter(range(self.levels + self.width - 1))

    def probability(self, answer: int, report: int) -> Fraction:
        if answer <= report < answer + self.width:
            return Fraction(self.favour, N * self.width)
        return Fraction(N - self.favour, N * (self.levels - 1))


class Table(msgspec.Struct, frozen=True, tag_field="kind", tag="table"):
    """Any table of integer weights: one row per answer, every row summing to N, one column per report.

    Proof: report y has probability weight/N under each answer, so its ratio is at most max/min of its column.
    """

    weights: tuple[tuple[int, ...], ...]

    @property
    def answers(self) -> int:
        return len(self.weights)

    def randomize(self, answer: int, draws: Draws) -> int:
        word = draws.word()
        # Report y owns the words from the sum of the weights before it up to its own: weight of N words.
        for report, weight in enumerate(self.weights[answer]):
            if word < weight:
                return report
            word -= weight
        raise AssertionError("verified rows sum to N, and a word is below N")

    def is_report(self, report: int) -> bool:
        return 0 <= report < len(self.weights[0])

    def reports(self) -> Iterator[int]:
        return iter(range(len(self.weights[0])))

    def probability(self, answer: int, report: int) -> Fraction:
        return Fraction(self.weights[answer][report], N)

    def odds(self) -> Fraction | None:
        """None where some report is impossible for one answer and possible for another (only with delta)."""
        columns = list(zip(*self.weights, strict=True))
        if any(min(column) == 0 for column in columns):
            return None
        return max(Fraction(max(column), min(column)) for column in columns)

    def excess(self, exp_epsilon: int) -> Fraction:
        """The smallest delta that the table keeps beside e^epsilon, given as 2^256 times it.

        For each ordered pair of rows, the probability by which the first exceeds e^epsilon times the second:
        no event's probability differs by more, because that event collects every report where it is positive.
        """
        rows = self.weights
        most = max(
            sum(max(0, x * ONE - exp_epsilon * y) for x, y in zip(first, second, strict=True))
            for first in rows
            for second in rows
        )
        return Fraction(most, N * ONE)


class Drawn(msgspec.Struct, frozen=True, tag_field="kind", tag="drawn"):
    """One part, drawn uniformly and without looking at the answer, reports its bit; the others say nothing.

    Proof: report 2*part + bit has probability 1/k times the part's, so its ratio is the part's, and two answers
    that differ in every option differ in that one part only as far as this report can tell.
    """

    parts: tuple[Band, ...]

    @property
    def answers(self) -> int:
        return len(self.parts)

    def randomize(self, answer: Sequence[int], draws: Draws) -> int:
        part = draws.below(len(self.parts))  # P = 1/k for each part, whatever the answer
        return 2 * part + self.parts[part].randomize(answer[part], draws)

    def is_report(self, report: int) -> bool:
        return 0 <= report < 2 * len(self.parts)

    def reports(self) -> Iterator[int]:
        return iter(range(2 * len(self.parts)))

    def probability(self, answer: Sequence[int], report: int) -> Fraction:
        part, bit = divmod(report, 2)
        return self.parts[part].probability(answer[part], bit) / len(self.parts)

    def odds(self) -> Fraction:
        return max(part.odds() for part in self.parts)


Channel: TypeAlias = Subset | Band | Table | Drawn
