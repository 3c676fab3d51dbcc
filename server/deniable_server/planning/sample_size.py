"""How many respondents a margin takes, and what a number of respondents gives.

Everything follows from one number, the variance of one respondent's unbiased contribution. With n of them an estimate
has the standard error sqrt(variance / n), so that a margin m at z standard errors takes n = z^2 variance / m^2.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import msgspec
from scipy.optimize import brentq
from scipy.special import ndtri

from deniable_protocol import Question
from deniable_server.errors import PlanError

Variance = Callable[[float], float]
"""From a true share to the variance of one respondent's contribution to its estimate: sampling plus noise.

For a mean the share does not matter: it is the worst case, in squares of the range.
"""


LEAST_SHARE = 0.001


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What a survey team wants to know, and how surely. Margins and differences are parts of 1: 0.03 is 3 points.

    ``cells`` is the margin of the cells of cross-tabs. ``share`` is the true share that is planned for; half is the
    usual choice when nothing is known. ``respondents``, where given, asks what that many can show.
    """

    margin: float = 0.03
    cells: float = 0.05
    confidence: float = 0.95
    share: float = 0.5
    difference: float = 0.05
    power: float = 0.8
    waves: int = 12
    delta: float = 1e-6
    respondents: int | None = None

    def __post_init__(self) -> None:
        checks = [
            (0.0001 <= self.margin <= 0.5, "margin must be from 0.0001 to 0.5, such as 0.03 for 3 points either way"),
            (0.0001 <= self.cells <= 0.5, "cells must be from 0.0001 to 0.5, such as 0.05 for 5 points either way"),
            (0.5 <= self.confidence <= 0.9999, "confidence must be from 0.5 to 0.9999, such as 0.95"),
            (
                LEAST_SHARE <= self.share <= 1 - LEAST_SHARE,
                "share must be from 0.001 to 0.999; 0.5 is the usual choice",
            ),
            (0.0001 <= self.difference < 1, "difference must be from 0.0001 to less than 1, such as 0.05 for 5 points"),
            (0.5 <= self.power <= 0.9999, "power must be from 0.5 to 0.9999, such as 0.8"),
            (1 <= self.waves <= 366, "waves must be from 1 to 366"),
            (1e-15 <= self.delta <= 0.01, "delta must be from 0.000000000000001 to 0.01, such as 0.000001"),
            (
                self.respondents is None or 2 <= self.respondents <= 10**10,
                "respondents must be from 2, one for each of two groups, to 10,000,000,000",
            ),
        ]
        problems = [message for holds, message in checks if not holds]
        widest = 2 * min(self.share, 1 - self.share)
        if not problems and self.difference > widest + 1e-12:
            problems.append(
                f"difference must be at most {widest:.4g}, or the share nearer 0.5: two groups that differ by "
                f"{self.difference:g} around {self.share:g} would lie outside 0 to 1"
            )
        if problems:
            raise PlanError("\n".join(problems))

    def of_question(self, question: Question) -> Wanted:
        """The same of one question. The answers to a follow-up are planned as shares of everybody: they are smaller."""
        return self if question.show_if is None else self._at(self.share**2)

    def of_cells(self, questions: int) -> Wanted:
        """The same of the cells of a cross-tab of so many questions."""
        return msgspec.structs.replace(self._at(self.share**questions), margin=self.cells)

    def _at(self, share: float) -> Wanted:
        share = max(share, LEAST_SHARE)
        widest = 2 * min(share, 1 - share)
        return msgspec.structs.replace(self, share=share, difference=min(self.difference, widest))

    @property
    def z(self) -> float:
        """How many standard errors make the margin."""
        return float(ndtri((1 + self.confidence) / 2))

    @property
    def z_difference(self) -> float:
        """How many standard errors a true difference must be away from zero to be found with this power."""
        return self.z + float(ndtri(self.power))


def respondents_for_margin(variance: Variance, wanted: Wanted) -> int:
    """N = z^2 variance(share) / m^2."""
    return _whole(wanted.z**2 * variance(wanted.share) / wanted.margin**2)


def respondents_per_group(variance: Variance, wanted: Wanted) -> int:
    """N of each of two groups, so that a two-sided test finds the difference d between them with the power asked for.

    The difference of two estimates has the variance (v1 + v2)/n, and d must be z + z_power of its standard errors:
    n = (z + z_power)^2 (v(share - d/2) + v(share + d/2)) / d^2.
    """
    return _whole(wanted.z_difference**2 * _both(variance, wanted.share, wanted.difference) / wanted.difference**2)


def margin_of(variance: Variance, respondents: int, wanted: Wanted) -> float:
    """The margin that this many respondents give."""
    return wanted.z * math.sqrt(variance(wanted.share) / respondents)


def smallest_difference(variance: Variance, respondents: int, wanted: Wanted) -> float | None:
    """The least difference that a test between two halves of this many respondents finds with the power asked for.

    None where not even shares of 0 and twice the one planned for (or its mirror image) would do.
    """
    widest = 2 * min(wanted.share, 1 - wanted.share)

    def shortfall(difference: float) -> float:
        needed = wanted.z_difference**2 * _both(variance, wanted.share, difference)
        return needed - difference**2 * respondents / 2

    if shortfall(widest) > 0:
        return None
    return float(brentq(shortfall, 0.0, widest))


def curator_respondents(variance: Variance, noise: float, wanted: Wanted) -> int:
    """N where a trusted curator adds noise of this variance to a count or sum over everybody.

    The estimate is that over n, so its variance is v/n + noise/n^2; that this is m^2/z^2 is a quadratic equation in n.
    """
    sampling, scaled = variance(wanted.share), (wanted.margin / wanted.z) ** 2
    return _whole((sampling + math.sqrt(sampling**2 + 4 * scaled * noise)) / (2 * scaled))


def _both(variance: Variance, share: float, difference: float) -> float:
    return variance(share - difference / 2) + variance(share + difference / 2)


def _whole(respondents: float) -> int:
    return max(math.ceil(respondents), 1)
