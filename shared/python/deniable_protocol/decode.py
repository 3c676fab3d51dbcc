"""Decoding: every report becomes an unbiased vector z with E[z | answer] = the indicator of the answer.

Exact fractions, from the channel's own integers, never from e^epsilon. Means of z are unbiased shares. Runs
where reports are analysed, never on a respondent's device.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from .channel import Channel
from .channels import Band
from .exact import N


def decode(channel: Channel, report: int) -> tuple[Fraction, ...]:
    """The vector z of one report: an entry per answer (``Drawn``: per option)."""
    if not channel.is_report(report):
        raise ValueError("this integer is not a report of the channel")
    entries = _entries(channel)
    if not entries:
        return decoding_matrix(channel)[report]
    z = []
    for feature, against, shown, not_shown in entries:
        if channel.shows(report, feature):
            z.append(shown)
        else:
            z.append(not_shown if against is None or channel.shows(report, against) else Fraction(0))
    return tuple(z)


@lru_cache(maxsize=256)
def _entries(channel: Channel) -> list[tuple[int, int | None, Fraction, Fraction]]:
    """Z is linear in "the report shows the feature", which has probability p if the answer is true and q if not:
    (1 - q)/(p - q) where it does and -q/(p - q) where it does not have expectation 1 and 0. Where a report is about the
    answer with probability ``asked`` only, 1/asked times that is unbiased, and 0 where it is about another.
    """
    return [
        (s.feature, s.against, (1 - s.q) / (s.p - s.q) / s.asked, -s.q / (s.p - s.q) / s.asked)
        for s in channel.supports()
    ]


@lru_cache(maxsize=64)
def decoding_matrix(channel: Channel) -> tuple[tuple[Fraction, ...], ...]:
    """Row y is the z of report y: Z = C Q' (Q C Q')^-1, so that Q Z is the identity exactly.

    Any positive diagonal C gives an unbiased Z; C = 1/(column sums of Q) gives the one of least variance under
    uniform answers (generalised least squares). C is rounded to integers, floor(2^128 / column sum) + 1, which
    keeps the arithmetic small and costs nothing in bias.
    """
    rows, total = channel.integer_rows()
    if isinstance(channel, Band):
        return _band_matrix(channel, rows, total)
    answers, reports = range(len(rows)), range(len(rows[0]))
    c = [(1 << 128) // sum(row[y] for row in rows) + 1 for y in reports]
    gram = [[sum(rows[i][y] * c[y] * rows[j][y] for y in reports) for j in answers] for i in answers]
    inverse, determinant = _adjugate(gram)
    return tuple(
        tuple(Fraction(total * c[y] * sum(rows[i][y] * inverse[i][j] for i in answers), determinant) for j in answers)
        for y in reports
    )


def _band_matrix(channel: Band, rows: list[list[int]], total: int) -> tuple[tuple[Fraction, ...], ...]:
    """The same Z for a band, without an inverse: many levels would take seconds.

    Column j has the least sum of z_y^2 / c_y under R z = total e_j. Let A be the weight inside a band, B outside, S_i
    the sum of z over the reports of level i, G over all. Then (A-B) S_i + B G = total [i=j], and from level i to the
    next z_(i+w) - z_i = total/(A-B) ([i+1=j] - [i=j]). So z_y = u_(y mod w) + s_y with known s and one free u for every
    rest, under one condition, sum h_r u_r = total [j=0] - B sum s, where h_r = A - B + B (reports with rest r). The
    least is at u_r = (mu h_r - E_r)/D_r, with D_r the sum of 1/c_y and E_r that of s_y/c_y over the rest.
    """
    levels, width = channel.levels, channel.width
    inside, outside = channel.favour * (levels - 1), (N - channel.favour) * width
    reports = len(rows[0])
    costs = [Fraction(1, (1 << 128) // sum(row[y] for row in rows) + 1) for y in range(reports)]  # 1/c
    rests = [range(r, reports, width) for r in range(width)]
    d = [sum(costs[y] for y in rest) for rest in rests]
    h = [inside - outside + outside * len(rest) for rest in rests]
    scale = sum(a * a / b for a, b in zip(h, d, strict=True))
    columns = []
    for j in range(levels):
        s = [Fraction(0)] * reports
        for first, step in ((j - 1, 1), (j, -1)):
            for y in range(first + width, reports, width) if first >= 0 else ():
                s[y] += Fraction(step * total, inside - outside)
        e = {r: sum(s[y] * costs[y] for y in rests[r]) for r in {(j - 1) % width, j % width}}
        known = total * (j == 0) - outside * sum(s) + sum(h[r] * value / d[r] for r, value in e.items())
        u = [(known / scale * h[r] - e.get(r, 0)) / d[r] for r in range(width)]
        columns.append([u[y % width] + s[y] for y in range(reports)])
    return tuple(zip(*columns, strict=True))


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
