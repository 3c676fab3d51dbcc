"""Ways of reporting a number in [-1, 1] under local differential privacy, from their papers' formulas; and ours.

Used by accuracy.py. Each knows the exact variance of an unbiased report at any true value, and can draw the mean of
one report of each respondent.

[1] Dwork et al. 2006, TCC.  [2] Duchi, Jordan and Wainwright 2018, J. Am. Stat. Assoc. 113.  [3] Wang et al. 2019,
ICDE.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deniable_protocol import Band, Item, design, survey_from_tree
from deniable_server.estimator.scores import mean_scores, table_of

Array = npt.NDArray[np.float64]


class Mechanism(NamedTuple):
    """A way of reporting a number in [-1, 1]: the variance at a true value, and draws of unbiased reports' mean."""

    variance: Callable[[Array], Array]
    mean: Callable[[Array, np.random.Generator], float]


def laplace(epsilon: float) -> Mechanism:
    """[1]: noise of scale 2/epsilon."""
    return Mechanism(
        lambda v: np.full_like(v, 8 / epsilon**2),
        lambda v, rng: float(np.mean(v + rng.laplace(0.0, 2 / epsilon, v.shape))),
    )


def duchi(epsilon: float) -> Mechanism:
    """[2]: +-c with c = (e + 1)/(e - 1), plus with 1/2 + v/2c; its square is always c^2."""
    c = 1 / math.tanh(epsilon / 2)
    return Mechanism(
        lambda v: c**2 - v**2,
        lambda v, rng: float(np.mean(np.where(rng.random(v.shape) < 0.5 + v / (2 * c), c, -c))),
    )


def piecewise(epsilon: float) -> Mechanism:
    """[3], algorithm 2: uniform near the value with h/(h + 1), h = e^(epsilon/2), otherwise uniform on the rest."""
    h = math.exp(epsilon / 2)
    c = (h + 1) / (h - 1)

    def draw(v: Array, rng: np.random.Generator) -> float:
        left = (c + 1) / 2 * v - (c - 1) / 2
        near = left + (c - 1) * rng.random(v.shape)
        rest = (c + 1) * rng.random(v.shape) - c  # of length c + 1, with the middle of length c - 1 taken out
        far = np.where(rest < left, rest, rest + c - 1)
        return float(np.mean(np.where(rng.random(v.shape) < h / (h + 1), near, far)))

    return Mechanism(lambda v: v**2 / (h - 1) + (h + 3) / (3 * (h - 1) ** 2), draw)


def hybrid(epsilon: float) -> Mechanism:
    """[3], section III-C: piecewise with 1 - e^(-epsilon/2), otherwise Duchi's; only his up to epsilon 0.61."""
    first, second = piecewise(epsilon), duchi(epsilon)
    share = 1 - math.exp(-epsilon / 2) if epsilon > 0.61 else 0.0

    def draw(v: Array, rng: np.random.Generator) -> float:
        chosen = rng.random(v.shape) < share
        means = [mechanism.mean(v[part], rng) for mechanism, part in ((first, chosen), (second, ~chosen)) if part.any()]
        weights = [part.mean() for part in (chosen, ~chosen) if part.any()]
        return float(np.dot(means, weights))

    return Mechanism(lambda v: share * first.variance(v) + (1 - share) * second.variance(v), draw)


def number_channel(epsilon: float) -> Band:
    tree = {"id": "number", "type": "number", "text": "?", "epsilon": epsilon, "min": -1, "max": 1}
    (question,) = survey_from_tree({"id": "accuracy", "title": "Accuracy", "questions": [tree]}).questions
    channel = design([Item(question)], Fraction(str(epsilon)))
    assert isinstance(channel, Band)
    return channel


def our_band(epsilon: float) -> Mechanism:
    """As published: the value rounded at random to a level, the level reported, the report scored."""
    channel = number_channel(epsilon)
    table, levels = table_of(channel), np.linspace(-1, 1, channel.levels)
    scores = 2 * np.array(mean_scores(channel, between=True).values) - 1
    moments = table @ scores**2

    def draw(v: Array, rng: np.random.Generator) -> float:
        position = (v + 1) / 2 * (channel.levels - 1)
        level = np.floor(position + rng.random(v.shape)).astype(int)
        counts = np.bincount(np.minimum(level, channel.levels - 1), minlength=channel.levels)
        reports = rng.multinomial(counts, table / table.sum(axis=1, keepdims=True)).sum(axis=0)
        return float(reports @ scores / len(v))

    return Mechanism(lambda v: np.interp(v, levels, moments) - v**2, draw)


MECHANISMS: dict[str, Callable[[float], Mechanism]] = {
    "ours": our_band,
    "Laplace": laplace,
    "Duchi": duchi,
    "piecewise": piecewise,
    "hybrid": hybrid,
}
