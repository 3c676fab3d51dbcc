"""What every kind of channel offers to those who randomise, check, count and estimate. The kinds are in ``channels``.

May not: use floating point or any randomness but the ``Draws`` it is given.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from math import lcm
from typing import Any, ClassVar, NamedTuple

import msgspec

from .draws import Draws


class Support(NamedTuple):
    """How reports speak for one answer: they show ``feature`` with probability p if it is true, with q if it is not.

    ``asked``: the probability that a report is about this answer at all. Where that is not 1, p and q are given that it
    is, and a report that is about it shows ``feature`` or ``against``.
    """

    feature: int
    p: Fraction
    q: Fraction
    against: int | None = None
    asked: Fraction = Fraction(1)


class Channel(msgspec.Struct, frozen=True, tag_field="kind"):
    """What every kind of channel offers. Its first field gives the number of answers.

    Reports are counted by their features. Where ``held`` is a number, a report is a set of so many options, as a sum of
    powers of two, and its features are these options. Elsewhere its one feature is which report it is.
    """

    exclusive: ClassVar[bool] = True
    """Whether just one answer is true. If not, ``randomize`` takes a 0 or a 1 per option."""

    @property
    def answers(self) -> int:
        """How many answers, or options, it tells apart."""
        raise NotImplementedError

    def randomize(self, answer: Any, draws: Draws) -> int:
        """A report of this answer."""
        raise NotImplementedError

    def probability(self, answer: Any, report: int) -> Fraction:
        """How likely the answer makes this report."""
        raise NotImplementedError

    # --- its proof ---

    def odds(self) -> Fraction | None:
        """The most that one answer can raise the probability of a report over another; None if some have none."""
        raise NotImplementedError

    # --- its reports ---

    @property
    def largest_report(self) -> int:
        raise NotImplementedError

    @property
    def held(self) -> int | None:
        """How many options a report holds; None where reports are not sets of options."""
        return None

    @property
    def feature_count(self) -> int:
        """How many features are counted."""
        return self.largest_report + 1

    def is_report(self, report: int) -> bool:
        return 0 <= report <= self.largest_report

    def reports(self) -> Iterator[int]:
        """All reports, in the order of their features where each has one."""
        return iter(range(self.largest_report + 1))

    def shows(self, report: int, feature: int) -> bool:
        return report == feature if self.held is None else report >> feature & 1 == 1

    # --- what reports say of the answers ---

    def supports(self) -> tuple[Support, ...]:
        """How reports speak for each answer; nothing where a report does more than speak for it or not."""
        return ()

    def representatives(self) -> tuple[Iterable[int], Iterable[int]]:
        """Reports and answers of which every other pair of them is one with the options renamed."""
        return self.reports(), range(self.answers)

    def integer_rows(self) -> tuple[list[list[int]], int]:
        """The probabilities as integers over one common total: a row per answer, a column per report."""
        rows = [[self.probability(answer, report) for report in self.reports()] for answer in range(self.answers)]
        total = lcm(*(chance.denominator for row in rows for chance in row))
        return [[int(chance * total) for chance in row] for row in rows], total
