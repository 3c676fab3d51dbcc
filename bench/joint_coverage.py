"""How often the 95% intervals of joint reports contain the truth: shares, cells, pooled and conditional shares.

    python bench/joint_coverage.py [--json FILE]

Exits with 1 if any does so less often than 94.5%. Shares and cells are summed exactly: a report holds some of the t
paths that an answer owns, as many as sampling without replacement makes it, and the distribution of the sum over n
reports is the n-th power of its Fourier transform. Of a question in two parts, all pairs of sums count. Conditional
shares depend on two sums of the same reports: they are sampled, from the distribution of both in one report.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.progress import track
from rich.table import Table

from deniable_protocol import Subset
from deniable_protocol.design import subset
from deniable_server.estimator import Heard, share_of_support
from deniable_server.estimator.evidence import Pooled, pool
from deniable_server.estimator.intervals import USUAL, Aim, share_limits
from deniable_server.estimator.ratios import ratios

LEVEL, LEAST = 0.95, 0.945
SAMPLES = 100_000
SHARES = (0.0, 0.01, 0.03, 0.1, 0.3, 0.5, 0.9)
RATIOS = (0.0, 0.1, 0.5, 0.9)
SIZES = (100, 300, 1_000, 10_000)
EPSILONS = ("0.5", "1", "2", "4")
ROUNDING = 1e-9

Array = npt.NDArray[np.float64]


class Block(NamedTuple):
    """A part with so many paths, and reports that hold so many of them (None: the best number); and, of these paths,
    how many the answer owns, and how many the other answers of the same question.
    """

    epsilon: str
    paths: int
    size: int | None
    owned: int
    others: int

    @property
    def channel(self) -> Subset:
        return subset(self.paths, Fraction(self.epsilon), self.size)

    def heard(self, n: int) -> Heard:
        """The item in n reports, of which no counts are known."""
        edges = (0, self.owned, self.owned + self.others)
        owned = tuple(tuple(range(*ends)) for ends in pairwise(edges))
        return Heard(self.channel, [0] * self.paths, n, owned, tuple(range(edges[-1])))


class Row(NamedTuple):
    """The least coverage over the shares, and where it is."""

    kind: str
    epsilon: float
    paths: str
    size: str
    owned: str
    n: int
    least: float
    at: float
    sampled: bool


# --- what one report holds ---------------------------------------------------------------------------------------


def held(block: Block, share: float, other: float) -> dict[tuple[int, int], float]:
    """The probability that one report holds so many of the paths of the answer and of the others'.

    The report holds the truth with F/N and then d - 1 of the k - 1 other paths, otherwise d of them: drawn without
    replacement, of three kinds.
    """
    channel, chances = block.channel, dict[tuple[int, int], float]()
    p, k, d = channel.favour / 2**53, channel.options, channel.size
    kinds = [block.owned, block.others, k - block.owned - block.others]
    for truth, chance in enumerate((share, other, 1 - share - other)):
        left = [number - (kind == truth) for kind, number in enumerate(kinds)]
        for keeps, drawn in ((p, d - 1), (1 - p, d)):
            for a, b in product(range(min(left[0], drawn) + 1), range(min(left[1], drawn) + 1)) if chance > 0 else ():
                rest = drawn - a - b
                if 0 <= rest <= left[2]:
                    ways = math.comb(left[0], a) * math.comb(left[1], b) * math.comb(left[2], rest)
                    own = drawn == d - 1
                    key = a + (own and truth == 0), b + (own and truth == 1)
                    chances[key] = chances.get(key, 0.0) + chance * keeps * ways / math.comb(k - 1, drawn)
    return chances


@lru_cache(maxsize=64)
def sums(block: Block, share: float, n: int) -> Array:
    """The distribution of how many paths of the answer n reports hold."""
    chances = held(block._replace(others=0), share, 0.0)
    one = np.zeros(max(a for a, _ in chances) + 1)
    for (a, _), chance in chances.items():
        one[a] += chance
    length = (len(one) - 1) * n + 1
    room = 1 << (length - 1).bit_length()
    return np.maximum(np.fft.irfft(np.fft.rfft(one, room) ** n, room)[:length], 0.0)


# --- exact coverage of a share -----------------------------------------------------------------------------------


def share_coverage(parts: Sequence[tuple[Block, int]], share: float) -> float:
    """Of the interval of a share from one or two parts with so many reports each.

    Limits rise with the unbiased share, so that it is covered from a least to a greatest one: found by bisection.
    """
    pooled = pool([block.heard(n) for block, n in parts])
    assert pooled is not None and len(pooled.parts) == len(parts) <= 2
    least, greatest = _covered(pooled, share)
    seen = []
    for (block, n), part, weight in zip(parts, pooled.parts, pooled.weights, strict=True):
        q, gap = part.rule(1).q, part.rule(1).gap
        mass = sums(block, share, n)
        seen.append((weight * (np.arange(len(mass)) / n - block.owned * q) / gap, mass))
    (values, mass), below = seen[0], np.array([0.0, 1.0])
    others = np.zeros(1)
    if len(seen) == 2:
        others, below = seen[1][0], np.concatenate([[0.0], np.cumsum(seen[1][1])])
    first = np.searchsorted(others, least - values - ROUNDING)
    last = np.searchsorted(others, greatest - values + ROUNDING, side="right")
    return float(mass @ (below[last] - below[first]))


def _covered(pooled: Pooled, share: float) -> tuple[float, float]:
    rule, _, n = pooled.together([0])

    def limits(unbiased: float) -> tuple[float, float]:
        y = n * (rule.q + rule.gap * unbiased)
        raw = share_of_support(rule, min(max(y, 0.0), n) if rule.counted else y, n, Aim(LEVEL))
        return raw.low, raw.high

    ends = (-rule.q / rule.gap, (1 - rule.q) / rule.gap) if rule.counted else (-50.0, 50.0)
    return (
        _edge(ends, lambda value: limits(value)[1] >= share - ROUNDING),
        _edge(ends[::-1], lambda value: limits(value)[0] <= share + ROUNDING),
    )


def _edge(ends: tuple[float, float], holds: Callable[[float], bool]) -> float:
    """The end of where this holds: it does at the second end."""
    outside, inside = ends
    if holds(outside):
        return outside
    for _ in range(60):
        middle = (outside + inside) / 2
        outside, inside = (outside, middle) if holds(middle) else (middle, inside)
    return inside


# --- sampled coverage of a conditional share ---------------------------------------------------------------------


def conditional_coverage(
    parts: Sequence[tuple[Block, int]], ratio: float, applies: float, samples: int = SAMPLES, seed: int = 1
) -> float:
    """Of the interval of the share of an answer among those who gave it or another one, who are ``applies`` of all."""
    pooled = pool([block.heard(n) for block, n in parts])
    assert pooled is not None and len(pooled.parts) == len(parts)
    random, unbiased = np.random.default_rng(seed), np.zeros((samples, 2))
    for (block, n), part, weight in zip(parts, pooled.parts, pooled.weights, strict=True):
        chances = held(block, ratio * applies, (1 - ratio) * applies)
        counts = random.multinomial(n, np.array([*chances.values()]) / sum(chances.values()), samples)
        q, gap = part.rule(1).q, part.rule(1).gap
        unbiased += weight * (counts @ np.array([*chances]) / n - np.array(part.sizes) * q) / gap
    return float(np.mean(conditional_held(pooled, unbiased, ratio)))


def conditional_held(pooled: Pooled, unbiased: Array, ratio: float, aim: Aim = USUAL) -> npt.NDArray[np.bool_]:
    """Whether the limits of ``ratios`` contain this one, for many samples at once: those that it does not reject.

    Each sample has the unbiased shares of the answer and of the others.
    """
    (example,) = ratios(pooled, [[0]], [0, 1], aim)
    total, (rule, _, n) = unbiased.sum(axis=1), pooled.together([0, 1])
    start = np.clip(unbiased[:, 0] / np.where(total > 0, total, 1.0), 0.0, 1.0)
    kept = replace(example.sums, unbiased=unbiased).kept(np.full(len(unbiased), ratio), start, float(aim.errors(n)))
    # Where the denominator could be 0, everything is possible; its limit rises with it.
    clear = _edge((0.0, 2.0), lambda value: share_limits(rule, n * (rule.q + rule.gap * value), n, aim)[0] > 0)
    return np.asarray(kept | (total <= 0) | (total < clear))


# --- the grid ----------------------------------------------------------------------------------------------------

SINGLE = {  # paths, those that a share owns
    "share": [(4, 2), (6, 3), (12, 4), (24, 6), (48, 8)],
    "cell": [(4, 1), (12, 1), (24, 2), (48, 3)],
}
POOLED = [((4, 2), (8, 4)), ((4, 1), (12, 3)), ((6, 1), (48, 8)), ((12, 4), (24, 12))]
CONDITIONAL = [((4, 1, 2),), ((6, 1, 3),), ((12, 2, 6),), ((48, 4, 20),), ((5, 1, 3), (10, 2, 6))]


def exact_rows() -> Iterator[Callable[[], Row]]:
    for epsilon, size in product(EPSILONS, (1, None)):
        for kind, shapes in SINGLE.items():
            for (paths, owned), n in product(shapes, SIZES):
                yield _exact(kind, [(Block(epsilon, paths, size, owned, 0), n)])
        for (one, two), n in product(POOLED, SIZES):
            blocks = [Block(epsilon, paths, size, owned, 0) for paths, owned in (one, two)]
            yield _exact("pooled", [(blocks[0], n), (blocks[1], n // 2)])


def sampled_rows() -> Iterator[Callable[[], Row]]:
    for epsilon, shapes, (n, applies) in product(EPSILONS, CONDITIONAL, ((100, 0.9), (1_000, 0.3), (10_000, 0.5))):
        parts = [(Block(epsilon, paths, None, owned, others), n) for paths, owned, others in shapes]
        yield _sampled("conditional" if len(parts) == 1 else "pooled conditional", parts, applies)


def _exact(kind: str, parts: list[tuple[Block, int]]) -> Callable[[], Row]:
    return lambda: _row(kind, parts, min((share_coverage(parts, share), share) for share in SHARES), sampled=False)


def _sampled(kind: str, parts: list[tuple[Block, int]], applies: float) -> Callable[[], Row]:
    def row() -> Row:
        least = min((conditional_coverage(parts, ratio, applies), ratio) for ratio in RATIOS)
        return _row(kind, parts, least, sampled=True)

    return row


def _row(kind: str, parts: list[tuple[Block, int]], least: tuple[float, float], *, sampled: bool) -> Row:
    texts = (
        " + ".join(str(value) for value in values)
        for values in zip(*((block.paths, block.channel.size, block.owned) for block, _ in parts), strict=True)
    )
    return Row(kind, float(parts[0][0].epsilon), *texts, sum(n for _, n in parts), *least, sampled)


def measure(console: Console) -> list[Row]:
    todo = [*exact_rows(), *sampled_rows()]
    return [each() for each in track(todo, "Joint reports", console=console, transient=True)]


def table(rows: Sequence[Row]) -> Table:
    """The worst of every kind and epsilon, and where it is."""
    grid = Table(title=f"Least coverage of {LEVEL:.0%} intervals on joint reports")
    for heading in ("", "ε", "settings", "least", "paths", "held", "owned", "n", "share"):
        grid.add_column(heading, justify="right" if heading else "left", no_wrap=True)
    for kind in dict.fromkeys(row.kind for row in rows):
        for epsilon in map(float, EPSILONS):
            some = [row for row in rows if (row.kind, row.epsilon) == (kind, epsilon)]
            worst = min(some, key=lambda row: row.least)
            shares = len(RATIOS if worst.sampled else SHARES)
            where = worst.paths, worst.size, worst.owned, f"{worst.n:,}", f"{worst.at:g}"
            name = f"{kind} (sampled)" if worst.sampled else kind
            last = epsilon == float(EPSILONS[-1])
            grid.add_row(name, f"{epsilon:g}", str(len(some) * shares), f"{worst.least:.4f}", *where, end_section=last)
    return grid


def missed(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row.least < LEAST]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--json", type=Path, help="also write the figures to this file")
    options = arguments.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 110)
    rows = measure(console)
    console.print(table(rows))
    if options.json:
        options.json.write_text(json.dumps([row._asdict() for row in rows], indent=1) + "\n")
    for row in missed(rows):
        console.print(f"missed: {row}")
    sys.exit(bool(missed(rows)))


if __name__ == "__main__":
    main()
