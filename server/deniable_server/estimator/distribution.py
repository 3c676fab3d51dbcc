"""The distribution behind a number question, by expectation and maximisation: a curve to explore, without intervals.

[1] Dempster, Laird and Rubin 1977, J. R. Stat. Soc. B 39.  [2] Li et al. 2020, SIGMOD (the same for local privacy).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import msgspec
import numpy as np

from deniable_protocol import Channel

from .scores import table_of

ENOUGH = 1e-3
"""Rounds that add less than this each to the log-likelihood end it: in trials on peaked, skewed and two-peaked
distributions, neither stopping earlier nor smoothing between rounds came nearer to the truth."""
ROUNDS = 10  # between two looks at the likelihood, which cost as much as a round
MOST = 1_000  # times so many


class Point(msgspec.Struct, frozen=True):
    """The likely share of answers at (strictly: rounded at random to) this value, in the question's own units."""

    at: float
    share: float


def likely_distribution(channel: Channel, counts: Sequence[float], low: float, high: float) -> list[Point]:
    """The distribution of the levels under which these reports are most likely.

    Each round gives a report's weight to the levels in proportion to how likely each is to have made it, given the
    distribution so far: r_x <- r_x * mean over reports of P(report | x) / P(report). The likelihood never falls [1].
    """
    shares = _likely_shares(channel, tuple(counts)) if sum(counts) else ()
    return [Point(float(at), share) for at, share in zip(np.linspace(low, high, channel.answers), shares, strict=False)]


@lru_cache(maxsize=1_000)  # results are looked at more than once, and a page shows many questions
def _likely_shares(channel: Channel, counts: tuple[float, ...]) -> tuple[float, ...]:
    table = table_of(channel)
    seen = np.asarray(counts, dtype=float)
    reports = seen.sum()
    weights = table / reports
    shares = np.full(channel.answers, 1 / channel.answers)
    before = -np.inf
    for _ in range(MOST):
        for _ in range(ROUNDS):
            shares *= weights @ (seen / (shares @ table))
        now = float(seen @ np.log(shares @ table))
        if now - before < ENOUGH * ROUNDS:
            break
        before = now
    return tuple((shares / shares.sum()).tolist())
