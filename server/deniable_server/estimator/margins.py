"""The nearest possible table to an unbiased one that keeps its margins.

Without noise a table's rows and columns sum to the shares of its two variables. Unbiased cells from noisy reports can
be negative, and shares that were made possible one by one do not add up.
"""

from __future__ import annotations

import numpy as np

from .evidence import Array

ROUNDS = 20_000
CLOSE = 1e-12


def keep_margins(table: Array, rows: Array, columns: Array) -> Array:
    """The nearest table, by the sum of squares, without negative cells and with these sums, which have the same total.

    Its cells are max(table + a_j + b_l, 0), with a number per row and one per column that make the sums come out. Given
    the b, the a of every row is that of a projection on a simplex, and the other way round; taking turns climbs the
    concave dual problem, which has no local peaks. A share of 0 makes its row or column 0.
    """
    a, b = np.zeros((len(rows), 1)), np.zeros((1, len(columns)))
    for _ in range(ROUNDS):
        a = _shifts(table + b, rows)[:, None]
        b = _shifts((table + a).T, columns)[None, :]
        found = np.maximum(table + a + b, 0.0)
        if np.abs(found.sum(axis=1) - rows).max() < CLOSE:
            break
    return found


def _shifts(table: Array, sums: Array) -> Array:
    """Per row the number that, added to its entries, makes those above zero sum to this."""
    falling = -np.sort(-table, axis=1)
    number = np.arange(1, table.shape[1] + 1)
    shifts = (sums[:, None] - np.cumsum(falling, axis=1)) / number
    # Of the largest entries as many as stay above zero when they alone are shifted; the largest does in any case.
    kept = np.maximum((falling + shifts > 0).sum(axis=1), 1)
    return np.asarray(shifts[np.arange(len(table)), kept - 1])
