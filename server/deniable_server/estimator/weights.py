"""Weighting to known margins of the population: raking, and what it costs in certainty.

Cells are the combinations of segment codes. A weight per cell makes the weighted submissions agree with every margin;
each report then counts as its cell's weight.

[1] Deming and Stephan 1940, Ann. Math. Stat. 11.  [2] Kish 1965, Survey Sampling.  [3] Korn and Graubard 1998, Survey
Methodology 24.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deniable_protocol import Channel, Question
from deniable_server.errors import ImpossibleWeights

from .intervals import supports
from .scores import Scores, mean_scores, share_scores

Codes = tuple[int, ...]
ROUNDS = 1_000
CLOSE = 1e-9


class Part(NamedTuple):
    """Reports with the same weight: their weight, their number and their counts."""

    weight: float
    answers: int
    counts: npt.NDArray[np.int64]


def rake(cells: Mapping[Codes, int], margins: Mapping[int, Sequence[float]]) -> dict[Codes, float]:
    """Per cell the weight of each of its submissions: on average 1, and such that the margins come out.

    ``margins`` has, per position in the codes, the share of each code in the population. One margin after the other
    is made to agree by a factor per code, until all do [1]; that converges to the weights nearest to 1, in relative
    entropy, wherever there are any.
    """
    people = {codes: count for codes, count in cells.items() if count}
    total = sum(people.values())
    weights = dict.fromkeys(people, 1.0)
    for position, shares in margins.items():
        missing = [j for j, share in enumerate(shares) if share and not any(codes[position] == j for codes in people)]
        if missing:
            raise ImpossibleWeights("nobody answered from a group that the margins give a share")
    for _ in range(ROUNDS):
        furthest = 0.0
        for position, shares in margins.items():
            held = [0.0] * len(shares)
            for codes, weight in weights.items():
                held[codes[position]] += weight * people[codes] / total
            furthest = max(furthest, max(abs(have - want) for have, want in zip(held, shares, strict=True)))
            factors = [want / have if have else 0.0 for have, want in zip(held, shares, strict=True)]
            weights = {codes: weight * factors[codes[position]] for codes, weight in weights.items()}
        if furthest < CLOSE:
            return weights
    raise ImpossibleWeights(
        "these margins contradict each other for the groups that answered: no weights reach all of them. "
        "Merge small groups, or leave a margin out"
    )


def weigh(question: Question, channel: Channel, parts: Iterable[Part]) -> tuple[list[float], float]:
    """The weighted counts, scaled so that they sum as those of as many unweighted reports would that are as certain.

    That number, the effective one, is n with equal weights and at most (sum of w)^2 / (sum of w^2) [2], which it is
    where the variance is the same in all parts. Here it is the variance of one report over that of the weighted mean
    [3], for whichever option has the least. The weighted mean m = sum w_i z_i / sum w_i is a ratio, its variance to
    first order sum w_i^2 (z_i - m)^2 / (sum w_i)^2. Weights count as given: that raking fits the margins exactly, which
    makes the mean somewhat more certain, is left out.
    """
    used = [part for part in parts if part.weight and part.answers]
    # Relative to the heaviest, so that no square of a weight is too small for a float.
    heaviest = max((part.weight for part in used), default=1.0)
    used = [part._replace(weight=part.weight / heaviest) for part in used]
    answers = sum(part.answers for part in used)
    total = sum(part.weight * part.answers for part in used)
    if not answers:
        return [0.0] * channel.feature_count, 0.0
    kish = total**2 / sum(part.weight**2 * part.answers for part in used) / answers
    weights = np.array([part.weight for part in used])
    ratios = [_ratio(values, rows, weights) for values, rows in _evidence(question, channel, used)]
    # A small group with a large weight may show no variance by chance; it is not believed: Kish's is the most.
    effective = answers * min(1.0, kish, *ratios)
    counts = weights @ np.array([part.counts for part in used])
    return [min(float(count), effective) for count in counts * (effective / total)], effective


def _evidence(
    question: Question, channel: Channel, parts: list[Part]
) -> list[tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]]:
    """For every estimated number the values that a report can have for it, and how many have each: a row per part."""
    counts = np.array([part.counts for part in parts], dtype=float)
    answers = np.array([part.answers for part in parts], dtype=float)
    scores: tuple[Scores, ...]
    if question.asks_mean:
        scores = (mean_scores(channel, question.is_continuous),)
    elif found := supports(channel):
        evidence = []
        for each, _ in found:
            yes = counts[:, each.feature]
            no = answers - yes if each.against is None else counts[:, each.against]
            evidence.append((np.array([1.0, 0.0]), np.stack([yes, no], axis=1)))
        return evidence
    else:
        scores = share_scores(channel)
    return [(np.array(each.values), counts) for each in scores]


def _ratio(values: npt.NDArray[np.float64], rows: npt.NDArray[np.float64], weights: npt.NDArray[np.float64]) -> float:
    """Effective reports per report; 1 where none are about this, or all agree, which shows no variance."""
    weighted = weights @ rows
    total = weighted.sum()
    if not total:
        return 1.0
    squares = (values - weighted @ values / total) ** 2
    one, mean = weighted @ squares / total, (weights**2 @ rows) @ squares / total**2
    return float(one / mean / rows.sum()) if one > 0 else 1.0
