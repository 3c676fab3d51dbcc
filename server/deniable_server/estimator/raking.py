"""Weights that make the submissions agree with known margins of the population, and none of them too large.

[1] Deming and Stephan 1940, Ann. Math. Stat. 11.  [2] Kish 1965, Survey Sampling.  [3] Deville and Särndal 1992, J. Am.
Stat. Assoc. 87 (raking within limits).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from deniable_server.errors import ImpossibleWeights

Array = npt.NDArray[np.float64]
Codes = tuple[int, ...]
ROUNDS = 1_000
CLOSE = 1e-10
FURTHEST = 1e100
"""Where no weights reach the margins, factors grow without end. Beyond this, they stay as they are."""


def rake(
    cells: Mapping[Codes, int], margins: Mapping[int, Sequence[float]], trim: float | None = None
) -> dict[Codes, float]:
    """Per cell the weight of each of its submissions: on average 1, and such that the margins come out.

    ``margins`` has, per position in the codes, the share of each code in the population. One margin after the other
    is made to agree by a factor per code, until all do [1]; that converges to the weights nearest to 1, in relative
    entropy, wherever there are any.

    ``trim`` is the largest weight. A weight is then the product of its factors or ``trim``, whichever is less, and the
    factors are those with which the margins come out all the same [3]. Where that cannot be, they are missed.
    """
    people = {codes: count for codes, count in cells.items() if count}
    codes, sizes = np.array([*people]), np.array([*people.values()], dtype=float)
    sizes /= sizes.sum()
    wanted = {position: np.array(shares) for position, shares in margins.items()}
    for position, shares in wanted.items():
        if np.any(shares[np.bincount(codes[:, position], minlength=len(shares)) == 0] > 0):
            raise ImpossibleWeights("nobody answered from a group that the margins give a share")
    if trim is not None:
        wanted = {p: _within(shares, trim * _held(codes[:, p], sizes, shares)) for p, shares in wanted.items()}
    raw = np.ones(len(sizes))
    for _ in range(ROUNDS):
        furthest = 0.0
        for position, shares in wanted.items():
            group = codes[:, position]
            held = _held(group, sizes * _trimmed(raw, trim), shares)
            furthest = max(furthest, float(np.abs(held - shares).max()))
            if trim is None:
                factors = np.divide(shares, held, out=np.zeros(len(shares)), where=held > 0)
            else:
                codewise = [(group == j, share) for j, share in enumerate(shares)]
                factors = np.array([_factor(raw[some], sizes[some], share, trim) for some, share in codewise])
            raw = np.minimum(raw * factors[group], FURTHEST)
        if furthest < CLOSE:
            break
    weights = _trimmed(raw, trim)
    lost = any(np.any((_held(codes[:, p], sizes * weights, each) == 0) & (each > 0)) for p, each in wanted.items())
    if lost or (trim is None and furthest >= CLOSE):
        raise ImpossibleWeights(
            "these margins contradict each other for the groups that answered: no weights reach all of them. "
            "Merge small groups, or leave a margin out"
        )
    return dict(zip(people, (weights / float(sizes @ weights)).tolist(), strict=True))


def reached(cells: Mapping[Codes, int], weights: Mapping[Codes, float], position: int, length: int) -> list[float]:
    """The share of each code at a position of the codes, with these weights."""
    held = [0.0] * length
    for codes, weight in weights.items():
        held[codes[position]] += weight * cells[codes]
    return [each / sum(held) for each in held]


def design_effect(cells: Mapping[Codes, int], weights: Mapping[Codes, float]) -> float:
    """How many times larger weights make the variance where it is the same in all cells [2].

    n (sum of w^2)/(sum of w)^2 = 1 + (their standard deviation over their mean)^2.
    """
    sizes, each = (np.array([of[codes] for codes in weights], dtype=float) for of in (cells, weights))
    return float(sizes.sum() * (sizes @ each**2) / (sizes @ each) ** 2)


def _held(group: npt.NDArray[np.int64], sizes: Array, shares: Array) -> Array:
    return np.asarray(np.bincount(group, sizes, len(shares)), dtype=np.float64)


def _trimmed(weights: Array, trim: float | None) -> Array:
    return weights if trim is None else np.minimum(weights, trim)


def _within(shares: Array, most: Array) -> Array:
    """The shares, none above what it can be at most. What is cut off goes to the others, in proportion."""
    cut = shares > most
    while True:
        rest = shares[~cut].sum()
        found = np.where(cut, most, shares * ((1 - most[cut].sum()) / rest if rest else 0.0))
        if not np.any(more := ~cut & (found > most)):
            return found
        cut |= more


def _factor(weights: Array, sizes: Array, share: float, trim: float) -> float:
    """What these weights are multiplied by so that, once cut off, they hold the share together.

    The largest are cut off first: those that are, are found one after the other.
    """
    cut = np.zeros(len(weights), dtype=bool)
    while not np.all(cut):
        if not (rest := float(sizes[~cut] @ weights[~cut])):
            return 1.0
        factor = (share - trim * float(sizes[cut].sum())) / rest
        if not np.any(more := ~cut & (factor * weights > trim)):
            return max(factor, 0.0)
        cut |= more
    return trim / float(weights.min()) if len(weights) else 1.0
