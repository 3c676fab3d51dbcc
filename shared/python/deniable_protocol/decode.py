"""Decoding: every report becomes an unbiased vector z with E[z | answer] = the indicator of the answer.

Exact fractions, from the channel's own integers, never from e^epsilon. Means of z are unbiased shares. Runs
where reports are analysed, never on a respondent's device.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from .channels import Band, Channel, Drawn, Subset, Table
from .exact import N


def decode(channel: Channel, report: int) -> tuple[Fraction, ...]:
    """The vector z of one report: an entry per answer (``Drawn``: per option)."""
    if not channel.is_report(report):
        raise ValueError("this integer is not a report of the channel")
    if isinstance(channel, Subset):
        held, not_held = _subset_entries(channel)
        return tuple(held if report >> j & 1 else not_held for j in range(channel.options))
    if isinstance(channel, Drawn):
        # Option j is asked with probability 1/k, so k times its part's z is unbiased; the others say nothing.
        part, bit = divmod(report, 2)
        k = len(channel.parts)
        yes = k * decode(channel.parts[part], bit)[1]
        return tuple(yes if j == part else Fraction(0) for j in range(k))
    return decoding_matrix(channel)[report]


@lru_cache(maxsize=256)
def _subset_entries(channel: Subset) -> tuple[Fraction, Fraction]:
    """Z is linear in "the report holds j", which has probability p for j the truth and q for any other:
    (1 - q)/(p - q) where held and -q/(p - q) where not have expectation 1 and 0.
    """
    k, d = channel.options, channel.size
    p = Fraction(channel.favour, N)
    # Another option is among the d-1 others of a favoured report, or the d others of an unfavoured one.
    q = (p * (d - 1) + (1 - p) * d) / (k - 1)
    return (1 - q) / (p - q), -q / (p - q)


def integer_rows(channel: Band | Table) -> tuple[list[list[int]], int]:
    """The probability table as integers over one common total."""
    if isinstance(channel, Table):
        return [list(row) for row in channel.weights], N
    m, w, favour = channel.levels, channel.width, channel.favour
    inside, outside = favour * (m - 1), (N - favour) * w
    rows = [[inside if i <= y < i + w else outside for y in range(m + w - 1)] for i in range(m)]
    return rows, N * w * (m - 1)


@lru_cache(maxsize=64)
def decoding_matrix(channel: Band | Table) -> tuple[tuple[Fraction, ...], ...]:
    """Row y is the z of report y: Z = C Q' (Q C Q')^-1, so that Q Z is the identity exactly.

    Any positive diagonal C gives an unbiased Z; C = 1/(column sums of Q) gives the one of least variance under
    uniform answers (generalised least squares). C is rounded to integers, floor(2^128 / column sum) + 1, which
    keeps the arithmetic small and costs nothing in bias.
    """
    rows, total = integer_rows(channel)
    answers, reports = range(len(rows)), range(len(rows[0]))
    c = [(1 << 128) // sum(row[y] for row in rows) + 1 for y in reports]
    gram = [[sum(rows[i][y] * c[y] * rows[j][y] for y in reports) for j in answers] for i in answers]
    inverse, determinant = _adjugate(gram)
    return tuple(
        tuple(Fraction(total * c[y] * sum(rows[i][y] * inverse[i][j] for i in answers), determinant) for j in answers)
        for y in reports
    )


def _adjugate(matrix: list[list[int]]) -> tuple[list[list[int]], int]:
    """(A, d) with inverse = A/d, by Bareiss's fraction-free elimination: every division below is exact.

    The matrix is positive definite, so that no pivot is zero unless two answers have the same row.
    """
    n = len(matrix)
    work = [row + [int(i == j) for j in range(n)] for i, row in enumerate(matrix)]
    previous = 1
    for k in range(n):
        pivot = work[k][k]
        if pivot == 0:
            raise ValueError("this channel cannot be decoded: its answers give the same reports")
        for i in range(n):
            if i != k:
                factor = work[i][k]
                work[i] = [(pivot * x - factor * y) // previous for x, y in zip(work[i], work[k], strict=True)]
        previous = pivot
    return [row[n:] for row in work], previous
