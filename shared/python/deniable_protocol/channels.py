"""The channels: how an answer becomes a report. This is all of Deniable's privacy.

May not: use floating point or any randomness but the ``Draws`` it is given. Each class states its proof, and ``odds``
is its result as a number: the most one answer can raise the probability of any report over another's. A client uses
the channels that ``design`` makes, and no others.

Answers are 0-based indices here (``Drawn``: one 0/1 entry per option); reports are integers below 2^53.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import ClassVar

from .channel import Channel, Support
from .draws import Draws
from .exact import ONE, N

MAX_OPTIONS = 51  # fifty and "declined"; of levels as many

# CHOOSE[n][s] subsets of size s out of n things; the largest, C(50, 25), is below 2^47.
CHOOSE = [[comb(n, s) for s in range(MAX_OPTIONS + 1)] for n in range(MAX_OPTIONS)]


def _favourites_odds(favour: int, contrast: tuple[int, int]) -> Fraction:
    """F/N of the probability is shared evenly by the v favoured reports, the rest evenly by the u others.

    Proof: v and u do not depend on the answer, so every report has probability F/(N*v) or (N-F)/(N*u) under any
    answer, and the ratio between two answers is at most F*u / ((N-F)*v), provided that this is not below 1.
    """
    unfavoured, favoured = contrast
    return Fraction(favour * unfavoured, (N - favour) * favoured)


class Subset(Channel, frozen=True, tag="subset"):
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

    @property
    def largest_report(self) -> int:
        return (1 << self.options) - 1  # an upper bound: the largest set of ``size`` options is below it

    @property
    def held(self) -> int:
        return self.size

    @property
    def feature_count(self) -> int:
        return self.options

    def is_report(self, report: int) -> bool:
        return 0 < report < 1 << self.options and report.bit_count() == self.size

    def reports(self) -> Iterator[int]:
        return (sum(1 << j for j in chosen) for chosen in combinations(range(self.options), self.size))

    def probability(self, answer: int, report: int) -> Fraction:
        others = self.options - 1
        if report >> answer & 1:
            return Fraction(self.favour, N * CHOOSE[others][self.size - 1])
        return Fraction(N - self.favour, N * CHOOSE[others][self.size])

    def supports(self) -> tuple[Support, ...]:
        # A report holds the true option with p = F/N. Another one is among the d-1 others of a favoured report, or the
        # d others of an unfavoured one, each of the k-1 equally: q = (p(d-1) + (1-p)d)/(k-1) = (d - p)/(k-1).
        p = Fraction(self.favour, N)
        q = Fraction(self.size * N - self.favour, (self.options - 1) * N)
        return tuple(Support(option, p, q) for option in range(self.options))

    def representatives(self) -> tuple[Iterable[int], Iterable[int]]:
        # One set of options, an option in it and one outside.
        return [(1 << self.size) - 1], [0, self.size]


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


class Band(Channel, frozen=True, tag="band"):
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

    @property
    def largest_report(self) -> int:
        return self.levels + self.width - 2

    def probability(self, answer: int, report: int) -> Fraction:
        if answer <= report < answer + self.width:
            return Fraction(self.favour, N * self.width)
        return Fraction(N - self.favour, N * (self.levels - 1))

    def supports(self) -> tuple[Support, ...]:
        if self.levels > 2:
            return ()
        # Two levels have width 1: the report is the answer with p = F/N, the other one with 1 - p.
        p, q = Fraction(self.favour, N), Fraction(N - self.favour, N)
        return Support(0, p, q), Support(1, p, q)

    def integer_rows(self) -> tuple[list[list[int]], int]:
        m, w = self.levels, self.width
        inside, outside = self.favour * (m - 1), (N - self.favour) * w
        rows = [[inside if i <= y < i + w else outside for y in self.reports()] for i in range(m)]
        return rows, N * w * (m - 1)


class Table(Channel, frozen=True, tag="table"):
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

    @property
    def largest_report(self) -> int:
        return len(self.weights[0]) - 1

    def probability(self, answer: int, report: int) -> Fraction:
        return Fraction(self.weights[answer][report], N)

    def odds(self) -> Fraction | None:
        columns = list(zip(*self.weights, strict=True))
        if any(min(column) == 0 for column in columns):
            return None
        return max(Fraction(max(column), min(column)) for column in columns)

    def excess(self, exp_epsilon: int) -> Fraction:
        """The smallest delta that the table keeps together with e^epsilon, given as 2^256 times it.

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

    def integer_rows(self) -> tuple[list[list[int]], int]:
        return [list(row) for row in self.weights], N


class Drawn(Channel, frozen=True, tag="drawn"):
    """One part, drawn uniformly and without looking at the answer, reports its bit; the others say nothing.

    Proof: report 2*part + bit has probability 1/k times the part's, so its ratio is the part's, and two answers
    that differ in every option differ in that one part only as far as this report can tell.
    """

    exclusive: ClassVar[bool] = False
    parts: tuple[Band, ...]

    @property
    def answers(self) -> int:
        return len(self.parts)

    def randomize(self, answer: Sequence[int], draws: Draws) -> int:
        part = draws.below(len(self.parts))  # P = 1/k for each part, whatever the answer
        return 2 * part + self.parts[part].randomize(answer[part], draws)

    @property
    def largest_report(self) -> int:
        return 2 * len(self.parts) - 1

    def probability(self, answer: Sequence[int], report: int) -> Fraction:
        part, bit = divmod(report, 2)
        return self.parts[part].probability(answer[part], bit) / len(self.parts)

    def odds(self) -> Fraction:
        return max(part.odds() for part in self.parts)

    def supports(self) -> tuple[Support, ...]:
        asked = Fraction(1, len(self.parts))  # whatever the answer
        bits = [part.supports()[1] for part in self.parts]
        return tuple(Support(2 * i + 1, bit.p, bit.q, 2 * i, asked) for i, bit in enumerate(bits))


CHANNELS: dict[str, type[Channel]] = {"subset": Subset, "band": Band, "drawn": Drawn, "table": Table}
"""Every kind of channel, by the name that it has in a document."""
