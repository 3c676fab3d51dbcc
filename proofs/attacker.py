"""Somebody who wants to move a number, and knows everything: the channel, the estimator and every honest report.

Reports are chosen by what they do to the numbers that are shown, tried one by one, and not by the bounds that the
server shows: those are what is to be tested. May not: use ``deniable_server.estimator.influence``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from deniable_protocol import Channel, Drawn, Number, Question, Scale, Subset, decode
from deniable_server.estimator.scores import mean_scores

Array = npt.NDArray[np.float64]

EVERY = 1_000
"""Channels with more reports than this are not gone through one by one."""

STEPS = 2
"""The attacker looks again, and may change the report, so often before each count of false submissions."""


class Target:
    """One question: what reports do to the numbers that are shown of it."""

    def __init__(self, question: Question, channel: Channel) -> None:
        self.question, self.channel = question, channel
        self.is_mean = question.asks_mean
        sums = _sums(question)
        self.numbers = ["mean"] if self.is_mean else [*question.codes, *sums]
        self._signs = np.vstack([np.eye(len(question.codes)), *sums.values()])

    @property
    def widest(self) -> float:
        """The furthest that anything could move a share, or the mean."""
        low, high = self.question.range if self.is_mean else (0.0, 1.0)
        return high - low

    def added(self, reports: Sequence[int]) -> Array:
        """What each report adds to the totals; the last of them counts reports."""
        if self.is_mean:
            assert not isinstance(self.channel, Drawn)
            scores = mean_scores(self.channel, isinstance(self.question, Number)).values
            known = dict(zip(self.channel.reports(), scores, strict=True))
            rows: list[list[float]] = [[known[report]] for report in reports]
        elif isinstance(self.channel, Drawn):
            rows = [[float(report == other) for other in self.channel.reports()] for report in reports]
        elif isinstance(self.channel, Subset):
            z = [float(entry) for entry in decode(self.channel, (1 << self.channel.size) - 1)]
            rows = [[z[0] if report >> j & 1 else z[-1] for j in range(len(z))] for report in reports]
        else:
            rows = [[float(z) for z in decode(self.channel, report)] for report in reports]
        return np.array([[*row, 1.0] for row in rows])

    def totals(self, counted: Counter[int]) -> Array:
        """Of so many of each report together."""
        together: Array = np.array([*counted.values()]) @ self.added([*counted])
        return together

    def shown(self, totals: Array) -> Array:
        """The numbers that are shown, a row for each row of totals."""
        if self.is_mean:
            low, high = self.question.range
            return low + (high - low) * np.clip(totals[:, :1] / totals[:, 1:], 0, 1)
        if isinstance(self.channel, Drawn):
            no, yes = totals[:, 0:-1:2], totals[:, 1:-1:2]
            chances = [[float(part.probability(answer, 1)) for answer in (0, 1)] for part in self.channel.parts]
            q, p = np.array(chances).T
            return np.clip((yes / np.maximum(no + yes, 1) - q) / (p - q), 0, 1) * (no + yes > 0)
        return nearest(totals[:, :-1] / totals[:, -1:]) @ self._signs.T

    def plan(self, honest: Array, number: int, sign: int, sizes: Sequence[int]) -> list[int]:
        """The reports of the last of ``sizes`` false submissions, the first so many of which are for each size."""
        reports = self._candidates(honest)
        added, totals, chosen = self.added(reports), honest.copy(), []
        for before, after in pairwise([0, *sizes]):
            for part in np.array_split(np.arange(after - before), STEPS):
                now = sign * self.shown(totals + len(part) * added)[:, number]
                # Where none does anything yet, as for a share at zero, the one that will.
                later = sign * self.shown(totals + (sizes[-1] - len(chosen)) * added)[:, number]
                best = np.lexsort((later, np.round(now, 12)))[-1]
                totals += len(part) * added[best]
                chosen += [reports[best]] * len(part)
        return chosen

    def _candidates(self, honest: Array) -> list[int]:
        channel = self.channel
        if not isinstance(channel, Subset) or comb(channel.options, channel.size) <= EVERY:
            return [*channel.reports()]
        # Options differ by where they are and whether they are the target: each one with and without, filled up with
        # some of the lowest and the highest of the others.
        order = [int(option) for option in np.argsort(honest[:-1])]
        found = set()
        for option in order:
            others = [other for other in order if other != option]
            for held in ([option], []):
                rest = channel.size - len(held)
                for low in range(rest + 1):
                    found.add(sum(1 << j for j in [*held, *others[:low], *others[len(others) - (rest - low) :]]))
        return sorted(found)


def _sums(question: Question) -> dict[str, list[float]]:
    """What is shown of several points of a scale together, by its name."""
    if not isinstance(question, Scale) or len(question.labels) < 4:
        return {}
    points, size = len(question.labels), len(question.codes)
    bottom = 7 if points == 11 else 2
    top = [float(points - 2 <= j < points) for j in range(size)]
    low = [float(j < bottom) for j in range(size)]
    net = [a - b for a, b in zip(top, low, strict=True)]
    return {"top_two": top, "bottom_seven" if points == 11 else "bottom_two": low, "net_score": net}


def nearest(rows: Array) -> Array:
    """The nearest point of the simplex to each row: the same taken off all, and nothing below zero."""
    falling = -np.sort(-rows, axis=1)
    off = (np.cumsum(falling, axis=1) - 1) / np.arange(1, rows.shape[1] + 1)
    last = np.sum(falling > off, axis=1) - 1
    return np.maximum(rows - off[np.arange(len(rows)), last][:, None], 0)


def numbers_of(estimate: dict[str, Any]) -> dict[str, tuple[float, float]]:
    """Of a question as the server gives it: each number that is shown, and what one false submission could do to it."""
    one = estimate["fake_influence"]
    if estimate["mean"] is not None:
        return {"mean": (estimate["mean"]["value"], one)}
    shares = {share["code"]: (share["estimate"] or 0.0, one) for share in estimate["shares"]}
    return shares | {s["id"]: (s["estimate"], s["fake_influence"]) for s in estimate.get("summaries", [])}
