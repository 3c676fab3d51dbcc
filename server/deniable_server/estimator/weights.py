"""Weighting to known margins of the population: raking, and what it costs in certainty.

Cells are the combinations of segment codes. A weight per cell makes the weighted submissions agree with every margin;
each report then counts as its cell's weight.

[1] Deming and Stephan 1940, Ann. Math. Stat. 11.  [2] Kish 1965, Survey Sampling.  [3] Korn and Graubard 1998, Survey
Methodology 24.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from deniable_server.errors import ImpossibleWeights

from .evidence import Array, Counted, Evidence, Heard, pool_sets
from .scores import Scores, mean_scores, share_scores

Codes = tuple[int, ...]
ROUNDS = 1_000
CLOSE = 1e-9


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


def weigh(cells: Sequence[tuple[float, Evidence]]) -> Evidence:
    """The evidence of all cells, in which a report counts as its cell's weight; there must be one.

    In each part counts are scaled so that they sum as those of as many unweighted reports would that are as certain.
    That number, the effective one, is n with equal weights and at most (sum of w)^2 / (sum of w^2) [2], which it is
    where the variance is the same in all cells. Here it is the variance of one report over that of the weighted mean
    [3], for whichever answer has the least. The weighted mean m = sum w_i z_i / sum w_i is a ratio, its variance to
    first order sum w_i^2 (z_i - m)^2 / (sum w_i)^2. Weights count as given: that raking fits the margins exactly, which
    makes the mean somewhat more certain, is left out.
    """
    first = cells[0][1]
    used = [(weight, evidence) for weight, evidence in cells if weight]
    answers = sum(evidence.answers for _, evidence in used)
    items = []
    for i, item in enumerate(first.items):
        each = [(heard, [(weight, evidence.items[i][j]) for weight, evidence in used]) for j, heard in enumerate(item)]
        items.append(tuple(_weighted(first, heard, weighted) for heard, weighted in each))
    parts = {heard.part: Counted(*heard[:3]) for item in items for heard in item}
    before = [sum(heard.n for _, evidence in used for heard in evidence.items[i]) for i in range(len(items))]
    kept = [sum(heard.n for heard in item) / n for item, n in zip(items, before, strict=True) if n]
    return Evidence(first.question, answers * min(kept, default=0.0), tuple(items), tuple(parts.values()))


def _weighted(evidence: Evidence, heard: Heard, cells: Sequence[tuple[float, Heard]]) -> Heard:
    """What a part has reported of an item in all cells, in the place of what it has in one."""
    used = [(weight, each) for weight, each in cells if each.n]
    if not used:
        return heard._replace(counts=[0.0] * len(heard.counts), n=0.0)
    # Relative to the heaviest, so that no square of a weight is too small for a float.
    weights = np.array([weight for weight, _ in used])
    weights = weights / weights.max()
    sizes = np.array([each.n for _, each in used], dtype=float)
    answers, total = float(sizes.sum()), float(weights @ sizes)
    kish = total**2 / float(weights**2 @ sizes) / answers
    ratios = [_ratio(values, rows, weights) for values, rows in _numbers(evidence, [each for _, each in used])]
    # A small group with a large weight may show no variance by chance; it is not believed: Kish's is the most.
    effective = answers * min(1.0, kish, *ratios)
    counts = weights @ np.array([each.counts for _, each in used], dtype=float) * (effective / total)
    return heard._replace(counts=[min(float(count), effective) for count in counts], n=effective)


def _numbers(evidence: Evidence, heard: Sequence[Heard]) -> list[tuple[Array, Array]]:
    """For every estimated number the values that a report can have for it, and how many have each: a row per cell."""
    channel, question = heard[0].channel, evidence.question
    scores: tuple[Scores, ...] = ()
    if question.asks_mean:
        scores = (mean_scores(channel, question.is_continuous),)
    elif evidence.is_scored:
        scores = share_scores(channel)
    if scores:
        counts = np.array([each.counts for each in heard], dtype=float)
        return [(np.array(each.values), counts) for each in scores]
    pooled = [pool_sets([(each, each.owned)]) for each in heard]
    found = []
    for place in range(len(heard[0].owned)):
        support = [shares.together([place]) for shares in pooled if shares is not None]
        yes, n = (np.array([getattr(each, name) for each in support]) for name in ("y", "n"))
        yes = np.clip(yes, 0.0, n)  # that of an equivalent rule can lie outside
        found.append((np.array([1.0, 0.0]), np.stack([yes, n - yes], axis=1)))
    return found


def _ratio(values: Array, rows: Array, weights: Array) -> float:
    """Effective reports per report; 1 where none are about this, or all agree, which shows no variance."""
    weighted = weights @ rows
    total = weighted.sum()
    if not total:
        return 1.0
    squares = (values - weighted @ values / total) ** 2
    one, mean = weighted @ squares / total, (weights**2 @ rows) @ squares / total**2
    return float(one / mean / rows.sum()) if one > 0 else 1.0
