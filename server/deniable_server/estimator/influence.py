"""What false submissions can do: an estimate with them minus the estimate without.

A false submission adds any z that a report decodes to. With a fraction f of them the unbiased shares go from u to
u + f(z - u). The estimate is the point p of the simplex that is nearest to u; it is nearest to p + (1-f)(u-p), too, and
f(z - p) from there is just u + f(z - u). So however far u lies outside, the change that counts is f(z - p), with p a
mixture of the answers e_x. For a share s that stays inside: f(max z - s) up, f(s - min z) down; over all s at most
f max(max z, 1 - min z), for yes_no f e^epsilon/(e^epsilon - 1). A mean, cut off at its ends, is the same.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.special import betainc

from deniable_protocol import Channel, decode

from .intervals import support, supported, supports
from .scores import table_of

FALSE_ALARMS = 0.001
"""How often, at most, honest reports to a question are said not to be consistent with honesty."""


@lru_cache(maxsize=256)
def share_influence(channel: Channel) -> float:
    """The most that one false submission moves the estimate of any share, times the number of reports.

    An unbiased share moves by no more from between 0 and 1; from outside, by as much more as it was outside.
    """
    if not channel.exclusive:
        # Each share is by itself: max z = (1-q)/gap, and 1 - min z = 1 + q/gap = p/gap
        return max(max(1 - rule.q, rule.p) / rule.gap for _, rule in supports(channel))
    reports, answers = map(list, channel.representatives())
    decoded = [[float(z) for z in decode(channel, report)] for report in reports]
    return max(_most_moved([z - (j == x) for j, z in enumerate(row)]) for row in decoded for x in answers)


def _most_moved(change: list[float]) -> float:
    """The most that a change of the unbiased shares moves one of them, before or after the projection.

    The projection takes off the mean change of the options above zero, A: entry j of A changes by change_j - mean
    over A. That is greatest for the largest entry with an A of the smallest, or the reverse.
    """
    rising = sorted(change)
    most = max(rising[-1], -rising[0])
    for others in range(1, len(rising)):
        up = others * rising[-1] - sum(rising[:others])
        down = sum(rising[-others:]) - others * rising[0]
        most = max(most, up / (others + 1), down / (others + 1))
    return most


@lru_cache(maxsize=256)
def sum_influence(channel: Channel, signs: tuple[float, ...]) -> float:
    """The same for the sum of the estimates times these signs, as of the top two points of a scale.

    With A the options above zero the sum changes by sum over A of (sign_j - mean sign of A)(z_j - e_xj). Scales are
    short: every A is tried, with the best report and the best answer for each.
    """
    k = channel.answers
    above = (np.arange(1, 1 << k)[:, None] >> np.arange(k) & 1).astype(float)
    most = 0.0
    for direction in (np.array(signs), -np.array(signs)):
        gains = above * (direction - (above @ direction / above.sum(axis=1))[:, None])
        if channel.held is not None:
            # The gains sum to 0, so that only the 1/gap counts by which the options that are held stand out.
            reports = np.sort(gains, axis=1)[:, -channel.held :].sum(axis=1) / support(channel).gap
        else:
            decoded = np.array([[float(z) for z in decode(channel, report)] for report in channel.reports()])
            reports = (gains @ decoded.T).max(axis=1)
        most = max(most, float((reports - gains.min(axis=1)).max()))
    return most


def consistent(channel: Channel, counts: list[int], answers: int) -> bool:
    """Whether honest respondents could have given these counts, whatever their answers.

    An honest report shows a feature (holds an option; is this report) with a probability between the least and the
    most over all answers, so that the count of n is stochastically between two binomial ones. Beyond them by chance:
    in at most ``FALSE_ALARMS`` of questions, over all features and both sides together.
    """
    if not answers:
        return True
    checked = _features(channel, counts, answers)
    alpha = FALSE_ALARMS / (2 * len(checked))
    suspect = [feature for feature in checked if not feature[2] <= feature[0] / max(feature[1], 1) <= feature[3]]
    return not any(
        _at_least(n - y, n, 1 - least) < alpha or _at_least(y, n, most) < alpha for y, n, least, most in suspect if n
    )


def _at_least(y: float, n: float, rate: float) -> float:
    """P(Bin(n, rate) >= y), as in ``clopper_pearson``."""
    return float(betainc(y, n - y + 1, rate)) if y else 1.0


def _features(channel: Channel, counts: list[int], answers: int) -> list[tuple[float, float, float, float]]:
    """Count, reports that could have counted, and the least and most probability of each feature."""
    features: list[tuple[float, float, float, float]] = []
    for (each, rule), seen in zip(supports(channel), supported(channel, counts, answers), strict=True):
        if each.against is not None:  # which part reports is drawn, whatever the answer
            features.append((seen.n, answers, float(each.asked), float(each.asked)))
        features.append((seen.y, seen.n, rule.q, rule.p))
    return features or [(y, answers, *extremes) for y, extremes in zip(counts, _extremes(channel), strict=True)]


@lru_cache(maxsize=256)
def _extremes(channel: Channel) -> list[tuple[float, float]]:
    table = table_of(channel)
    return [(float(column.min()), float(column.max())) for column in table.T]
