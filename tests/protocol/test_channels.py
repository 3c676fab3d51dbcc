"""Every channel, enumerated exactly from the code that samples."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from operator import mul
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable_protocol import (
    ONE,
    Band,
    Channel,
    Drawn,
    Draws,
    N,
    Subset,
    Table,
    decode,
    exp_floor,
    gaussian_sigma,
    publish,
    survey_from_tree,
    verify,
)
from deniable_protocol.channels import CHOOSE, _subset
from deniable_protocol.decode import decoding_matrix
from deniable_protocol.design import band, best_size, subset
from deniable_protocol.exact import largest_favour
from deniable_protocol.tables import exponential, gaussian, laplace
from tests.helpers.exhaustive import Narrow, Words, outcomes, table_row
from tests.helpers.sampling import sampled
from tests.helpers.surveys import epsilons, surveys


def rows(channel: Channel) -> dict[Any, dict[int, Fraction]]:
    """The exact probability table: answer -> report -> probability."""
    if isinstance(channel, Table):
        return {answer: table_row(channel, answer) for answer in range(channel.answers)}
    answers: list[Any] = list(range(channel.answers))
    if isinstance(channel, Drawn):
        answers = list(product((0, 1), repeat=len(channel.parts)))
    return {answer: outcomes(lambda draws, a=answer: channel.randomize(a, draws)) for answer in answers}


def check_exactly(channel: Channel, epsilon: Fraction, delta: Fraction | None = None) -> None:
    """Row sums, epsilon (or epsilon and delta), and unbiased decoding, all in exact fractions."""
    table = rows(channel)
    reports = sorted({report for row in table.values() for report in row})
    # Over one denominator each, since sums of fractions are slow: the chances are p / scale, the decoded z / whole.
    scale = math.lcm(*(p.denominator for row in table.values() for p in row.values()))
    chances = {answer: [int(row.get(report, 0) * scale) for report in reports] for answer, row in table.items()}
    decoded = [decode(channel, report) for report in reports]
    whole = math.lcm(*(z.denominator for vector in decoded for z in vector))
    columns = [[int(vector[j] * whole) for vector in decoded] for j in range(channel.answers)]
    bound = exp_floor(epsilon)
    for answer, row in table.items():
        assert sum(row.values()) == 1
        assert all(channel.is_report(report) and 0 <= report < N for report in row)
        assert all(channel.probability(answer, report) == p for report, p in row.items())
        expected = [sum(map(mul, chances[answer], column)) for column in columns]
        indicator = list(answer) if isinstance(channel, Drawn) else [int(j == answer) for j in range(channel.answers)]
        assert expected == [scale * whole * held for held in indicator]
        for other in chances.values():
            excess = sum(max(0, p * ONE - bound * q) for p, q in zip(chances[answer], other, strict=True))
            assert excess <= (delta or 0) * scale * ONE


@settings(max_examples=60, deadline=None)
@given(surveys(most_questions=2))
def test_every_channel_of_random_surveys_is_exact(tree: dict[str, Any]) -> None:
    """Enumerated from the sampler, rows sum to one, epsilon is kept, and E[z | x] is the indicator of x: exactly."""
    for part in verify(publish(survey_from_tree(tree))).parts:
        if isinstance(part.channel, Table) and len(part.channel.weights[0]) > 40:
            continue  # long tables: test_textbook_tables, with fewer examples
        check_exactly(part.channel, part.exact_epsilon, part.exact_delta)


@pytest.mark.grid
def test_textbook_tables_are_exact() -> None:
    """Laplace, Gaussian and exponential tables keep their epsilon and delta, and decode without bias."""
    for epsilon in sampled(("0.5", "1", "4", "0.01", "10"), 3):
        exact, delta = Fraction(epsilon), Fraction("0.000001")
        levels = 17 if exact >= 4 else 9
        check_exactly(exponential(5, exact), exact)
        check_exactly(laplace(levels, exact), exact)
        check_exactly(gaussian(levels, exact, delta), exact, delta)


@pytest.mark.parametrize("hundredths", [1, 2, 5, 17, 50, 99, 100, 173, 250, 399, 400, 401, 640, 750, 900, 999, 1000])
def test_tables_keep_epsilon_over_the_grid(hundredths: int) -> None:
    """The integer rounding of the textbook tables never costs epsilon."""
    epsilon = Fraction(hundredths, 100)
    for table in (laplace(17 if epsilon >= 4 else 9, epsilon), exponential(11, epsilon), exponential(2, epsilon)):
        odds = table.odds()
        assert odds is not None and odds.numerator * ONE <= exp_floor(epsilon) * odds.denominator
        assert all(sum(row) == N for row in table.weights)


@pytest.mark.parametrize("epsilon", ["0.01", "0.5", "1", "2", "4", "10"])
def test_textbook_tables_lose_nothing_that_the_textbook_keeps(epsilon: str) -> None:
    """The unbiased mean from a table of 9 levels on [-1, 1] varies no more than the textbook's: 8/epsilon^2 for
    Laplace, 4 sigma^2 for the Gaussian, up to 0.2% for its bins.
    """
    exact, delta = Fraction(epsilon), Fraction("0.000001")
    assert worst_table_variance(laplace(9, exact)) <= 8 / exact**2
    sigma = gaussian_sigma(float(exact), float(delta))
    assert worst_table_variance(gaussian(9, exact, delta)) <= 1.002 * 4 * sigma**2


def worst_table_variance(table: Table) -> Fraction:
    levels = [Fraction(2 * i, len(table.weights) - 1) - 1 for i in range(len(table.weights))]
    scores = [sum(x * z for x, z in zip(levels, row, strict=True)) for row in decoding_matrix(table)]
    return max(
        sum(Fraction(weight, N) * score**2 for weight, score in zip(row, scores, strict=True)) - level**2
        for row, level in zip(table.weights, levels, strict=True)
    )


def test_the_gaussian_table_wastes_little_delta() -> None:
    """The table spends at least 95% of its delta: the calibration is the analytic one, not a loose bound."""
    for epsilon, delta in product(("0.01", "0.5", "1", "4", "10"), ("0.000000001", "0.000001", "0.0001")):
        excess = gaussian(9, Fraction(epsilon), Fraction(delta)).excess(exp_floor(Fraction(epsilon)))
        assert Fraction("0.95") * Fraction(delta) <= excess <= Fraction(delta)


@pytest.mark.parametrize("n", range(1, 65))
def test_below_is_uniform_over_every_word(n: int) -> None:
    """Over all 64 words of six bits, below(n) accepts equally many for every value and redraws the rest."""
    accepted = [0] * n
    for word in range(64):
        draws = Narrow([word, 0])
        value = draws.below(n)
        redrawn = n > 1 and next(draws.words, None) is None
        if n == 1:
            accepted[0] += 1
        elif not redrawn:
            accepted[value] += 1
    assert accepted == [64 // n] * n if n > 1 else accepted == [64]


@pytest.mark.parametrize("favour", range(65))
def test_chance_is_exact_over_every_word(favour: int) -> None:
    """Exactly ``favour`` of the 64 words say yes."""
    assert sum(Narrow([word]).chance(favour) for word in range(64)) == favour


def test_a_table_gives_each_report_its_weight_over_every_word() -> None:
    """With rows that sum to 64, driving every word gives each report exactly as often as its weight says."""
    table = Table(((5, 0, 59), (1, 62, 1), (64, 0, 0)))
    for answer, row in enumerate(table.weights):
        given_reports = [table.randomize(answer, Narrow([word])) for word in range(64)]
        assert [given_reports.count(report) for report in range(3)] == list(row)


def test_a_word_is_eight_bytes_big_endian_without_its_low_bits() -> None:
    """The word takes 53 of 64 bits, most significant first; the whole range is reached and never left."""
    assert Draws(lambda n: b"\xff" * n).word() == N - 1
    assert Draws(lambda n: b"\x00" * n).word() == 0
    assert Draws(lambda n: bytes([0, 0, 0, 0, 0, 0, 8, 0])[:n]).word() == 1
    assert Draws(lambda n: bytes([0, 0, 0, 0, 0, 0, 7, 255])[:n]).word() == 0


def test_a_rejected_word_is_replaced_by_a_fresh_one() -> None:
    """below() reads on after a rejection instead of reusing what it rejected."""
    limit = N - N % 3
    assert limit == N - 2  # the two words above it are rejected
    for word in (0, 1, 2, limit - 1):
        draws = Words([limit, N - 1, word, 99])
        assert draws.below(3) == word % 3
        assert next(draws.words) == 99


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_ranks_and_subsets_correspond_one_to_one(data: st.DataObject) -> None:
    """At full size (up to 50 others) rank -> subset is injective, of the right size, and never contains the answer."""
    n = data.draw(st.integers(1, 50))
    size = data.draw(st.integers(0, n))
    gap = data.draw(st.integers(0, n))
    ranks = data.draw(st.lists(st.integers(0, CHOOSE[n][size] - 1), min_size=1, max_size=5, unique=True))
    reports = [_subset(n, size, rank, gap) for rank in ranks]
    assert len(set(reports)) == len(ranks)
    for rank, report in zip(ranks, reports, strict=True):
        assert report.bit_count() == size and not report >> gap & 1 and report < 1 << (n + 1)
        places = [j if j < gap else j - 1 for j in range(n + 1) if report >> j & 1]
        assert sum(CHOOSE[place][i + 1] for i, place in enumerate(places)) == rank


def test_subset_sampling_is_uniform_where_it_can_be_enumerated() -> None:
    """For every k up to 8 and every size, each subset has exactly the probability of its class."""
    for k in range(2, 9):
        for d in range(1, k):
            check_exactly(subset(k, Fraction(1), size=d), Fraction(1))


@pytest.mark.grid
def test_every_band_is_exact() -> None:
    """For every number of levels up to 17 and every width, the band is exact."""
    for m, w in sampled([(levels, width) for levels in range(2, 18) for width in range(1, levels)], 11):
        check_exactly(Band(m, w, largest_favour(exp_floor(Fraction(2)), m - 1, w)), Fraction(2))


@given(epsilons, st.integers(2, 51))
def test_the_subset_size_is_ye_and_bargs(epsilon: str, k: int) -> None:
    """No other size has a smaller error, by the closed form k/(e^epsilon + 1) to within one."""
    exp_epsilon = exp_floor(Fraction(epsilon))
    assert abs(best_size(k, exp_epsilon) - max(k / (exp_epsilon / ONE + 1), 1)) <= 1


def test_known_designs() -> None:
    """Channels have the designs that the protocol publishes as examples."""
    assert subset(10, Fraction(1)) == Subset(10, 3, 4846787665983846)
    assert band(2, Fraction(1)).favour == 6584790284608188
    assert band(2, Fraction(4)).favour == 8845193877774825
    assert [band(9, Fraction(epsilon)).width for epsilon in ("0.5", "1", "2", "10")] == [8, 8, 4, 1]


@pytest.mark.parametrize("points", range(2, 12))
def test_a_scale_has_the_width_with_the_least_variance(points: int) -> None:
    """At every epsilon no other width has a mean whose worst variance is more than 0.3% smaller."""
    for hundredths in (1, 50, 100, 150, 155, 160, 180, 200, 240, 300, 345, 360, 400, 475, 500, 570, 620, 700, 1000):
        epsilon = Fraction(hundredths, 100)
        best = min(worst_variance(band(points, epsilon, width)) for width in range(1, points))
        assert worst_variance(band(points, epsilon)) <= 1.003 * best


def worst_variance(channel: Band) -> float:
    """The largest variance of the unbiased mean over all true values in [-1, 1], as the protocol decodes.

    A value between two levels is rounded at random to one of them, so its second moment is the mixture of theirs;
    minus its square, that is concave between the levels and peaks where its slope vanishes, or at an end.
    """
    m = channel.levels
    x = [2 * i / (m - 1) - 1 for i in range(m)]
    scores = [sum(level * float(z) for level, z in zip(x, row, strict=True)) for row in decoding_matrix(channel)]
    moment = [sum(float(channel.probability(i, y)) * score**2 for y, score in enumerate(scores)) for i in range(m)]
    worst = 0.0
    for i in range(m - 1):
        slope = (moment[i + 1] - moment[i]) / (x[i + 1] - x[i])
        peak = min(max(slope / 2, x[i]), x[i + 1])
        worst = max(worst, moment[i] + slope * (peak - x[i]) - peak * peak)
    return worst


@pytest.mark.grid
def test_every_table_keeps_epsilon_and_delta() -> None:
    """In integers, for every pair of answers, over a grid of epsilons and deltas: all rows sum to N as well."""
    epsilons = sampled(
        [Fraction(units, 10_000) for units in (100, *range(101, 100_000, 3_217), 39_999, 40_000, 100_000)], 6
    )
    for epsilon in epsilons:
        levels, limit = 17 if epsilon >= 4 else 9, exp_floor(epsilon)
        for table in (laplace(levels, epsilon), *(exponential(points, epsilon) for points in (2, 5, 11))):
            odds = table.odds()
            assert odds is not None and odds.numerator * ONE <= limit * odds.denominator
            assert all(sum(row) == N for row in table.weights)
        for delta in ("0.000000001", "0.000001", "0.0001"):
            noisy = gaussian(levels, epsilon, Fraction(delta))
            assert noisy.excess(limit) <= Fraction(delta) and all(sum(row) == N for row in noisy.weights)


def test_the_gaussian_is_that_of_the_analytic_calibration() -> None:
    """For epsilon 1 and delta 10^-6 its standard deviation is 4.2241 ranges; the analytic one on a line is 4.2247."""
    table = gaussian(9, Fraction(1), Fraction("0.000001"))
    steps = range(-64, 65)
    mean, square = (
        sum(Fraction(w, N) * n**power for w, n in zip(table.weights[4], steps, strict=True)) for power in (1, 2)
    )
    sigma = 4.2241
    assert mean == 0 and math.sqrt(square) * (1 + 12 * sigma) / 128 == pytest.approx(sigma, rel=1e-6)


def test_the_two_way_decoder_is_the_classic_one() -> None:
    """For a yes/no bit, z = (y - 1/(1+r)) (r+1)/(r-1), with r the channel's own odds."""
    channel = band(2, Fraction(1))
    r = channel.odds()
    for y in (0, 1):
        assert decode(channel, y)[1] == (y - 1 / (1 + r)) * (r + 1) / (r - 1)


def test_what_cannot_be_decoded_is_refused() -> None:
    """Answers that give the same reports, and integers that are no reports, are errors and not numbers."""
    alike = Table(((N // 2, N // 2), (N // 2, N // 2)))
    with pytest.raises(ValueError, match="cannot be decoded"):
        decode(alike, 0)
    bit = band(2, Fraction(1))
    cases: list[tuple[Channel, int]] = [
        (bit, 2),
        (bit, -1),
        (subset(4, Fraction(1), size=2), 7),
        (Drawn((bit, bit)), 4),
    ]
    for channel, report in cases:
        with pytest.raises(ValueError, match="not a report"):
            decode(channel, report)
