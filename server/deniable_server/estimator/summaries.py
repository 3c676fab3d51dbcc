"""Summaries of a scale that survey teams use: the shares of its top and bottom points, and the net score.

The net score is the share of the top two points minus that of the bottom two; on a scale of eleven points the bottom
seven, which makes it the Net Promoter Score.

[1] Zou and Donner 2008, Statistics in Medicine 27 (the method of variance estimates recovery).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec
import numpy as np
from msgspec import UNSET, UnsetType
from scipy.special import stdtrit

from .evidence import Array, Evidence, Pooled
from .intervals import Aim, Raw, central_share, clip, share_of_support
from .ratios import ratios
from .scores import combined_scores, pooled_scores

FEWEST = 4
"""On a shorter scale the top two points and the bottom two overlap."""


class Summary(msgspec.Struct, frozen=True):
    """The share of the points in ``of``, minus the share of those in ``minus``.

    ``unbiased`` is made of the unbiased shares, and can be impossible; ``estimate`` of the possible ones.
    ``fake_influence``: the most that one false submission moves it; not there where reports are weighted. ``deff``: the
    design effect of weights, where there are some.
    """

    id: str
    of: list[str]
    minus: list[str]
    estimate: float | None
    unbiased: float | None
    standard_error: float | None
    low: float
    high: float
    fake_influence: float | UnsetType = UNSET
    deff: float | UnsetType = UNSET

    def signs(self, answers: int) -> tuple[float, ...]:
        """1 for the answers that count, -1 for those that count against it; the points, and then perhaps "declined"."""
        return tuple(float(str(j + 1) in self.of) - float(str(j + 1) in self.minus) for j in range(answers))

    @property
    def too_noisy(self) -> bool:
        """Whether the interval spans more than half of all that is possible."""
        return self.high - self.low > (1.0 if self.minus else 0.5)


def summarize(evidence: Evidence, shares: Sequence[float], aim: Aim) -> list[Summary]:
    """The summaries of a scale, whose answers have these possible shares; of nobody where there are none.

    Where a question is asked of some people only, they are among those.
    """
    points = len(evidence.question.labels)
    if points < FEWEST:
        return []
    names = [str(point) for point in range(1, points + 1)]
    top, (bottom, least) = names[-2:], (names[:7], "bottom_seven") if points == 11 else (names[:2], "bottom_two")
    wanted = [("top_two", top, []), (least, bottom, []), ("net_score", top, bottom)]
    found = []
    for name, of, minus in wanted:
        floor = -1.0 if minus else 0.0
        if not shares:
            found.append(Summary(name, of, minus, None, None, None, floor, 1.0))
            continue
        places = [[int(point) - 1 for point in some] for some in (of, minus)]
        raw = _raw(evidence, places[0], places[1], shares, aim)
        estimate = sum(shares[j] for j in places[0]) - sum(shares[j] for j in places[1])
        found.append(Summary(name, of, minus, estimate, *raw[:2], min(raw.low, estimate), max(raw.high, estimate)))
    return found


def _raw(evidence: Evidence, of: Sequence[int], minus: Sequence[int], shares: Sequence[float], aim: Aim) -> Raw:
    if evidence.is_scored:
        floor = -1.0 if minus else 0.0
        signs = tuple(float(j in of) - float(j in minus) for j in range(len(shares)))
        # The score is moved between 0 and 1 and back.
        scores = [combined_scores(part.channel, signs, floor) for part in evidence.parts]
        raw = pooled_scores(scores, evidence.parts, aim).raw(aim)
        error = None if raw.standard_error is None else raw.standard_error * (1 - floor)
        unbiased, low, high = (floor + (1 - floor) * each for each in (raw.unbiased, raw.low, raw.high))
        return Raw(unbiased, error, low, high)
    (pooled,) = evidence.shares
    assert pooled is not None
    if evidence.is_conditional:
        found = ratios(pooled, [of], range(len(shares)), aim, minus)[0].raw
        assert found is not None, "shares among those asked are known where these are some"
        return found
    if not minus:
        return share_of_support(*pooled.together(of), aim)
    return _difference(pooled, of, minus, np.array(shares), aim)


def _difference(pooled: Pooled, of: Sequence[int], minus: Sequence[int], shares: Array, aim: Aim) -> Raw:
    """The share of the first answers minus that of the second.

    Limits recovered from those of the two shares and their correlation r [1]: with a the distance of the first's lower
    limit and b that of the second's upper one, sqrt(a^2 + b^2 - 2rab) below; and so above. They fall short where the
    score is nearly 1 or -1, since the shares' limits stop there; plain t limits do for a handful of reports. The wider
    of the two falls short in neither case.
    """
    top, bottom = (central_share(*pooled.together(each), aim) for each in (of, minus))
    signs = np.zeros((2, len(shares)))
    signs[0, of] = signs[1, minus] = 1.0
    (first, both), (_, second) = signs @ pooled.covariance(shares, aim) @ signs.T
    r = max(-1.0, both / math.sqrt(first * second))
    high, low = clip(top.unbiased), clip(bottom.unbiased)

    def distance(a: float, b: float) -> float:
        return math.sqrt(a * a + b * b - 2 * r * a * b)

    down, up = distance(high - top.low, bottom.high - low), distance(top.high - high, low - bottom.low)
    error = math.sqrt(first + second - 2 * both)
    errors = aim.errors(pooled.n) if aim.anytime else -stdtrit(pooled.n - 1, aim.alpha / 2)
    margin = float(errors) * error if pooled.n > 1 else 2.0
    unbiased = top.unbiased - bottom.unbiased
    centre = min(max(unbiased, -1.0), 1.0)
    limits = min(high - low - down, centre - margin), max(high - low + up, centre + margin)
    return Raw(unbiased, error, max(limits[0], -1.0), min(limits[1], 1.0))
