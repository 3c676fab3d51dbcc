"""Raking to known margins, and what the weights cost in certainty."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable_protocol.design import band
from deniable_server.errors import ImpossibleWeights
from deniable_server.estimator import Evidence, alone, estimate_question, estimate_weighted, support
from deniable_server.estimator.intervals import USUAL
from deniable_server.estimator.raking import rake
from deniable_server.estimator.scores import mean_scores, table_of
from deniable_server.estimator.shares import shares_of
from deniable_server.estimator.weights import Weighed
from tests.helpers.surveys import ask

positive = st.integers(1, 500)

Cell = tuple[float, Evidence]


@given(st.lists(positive, min_size=6, max_size=6), st.lists(positive, min_size=5, max_size=5))
def test_raked_margins_come_out(sizes: list[int], wanted: list[int]) -> None:
    """Every margin is met, the weights are 1 on average, and they are a product of one factor per code."""
    cells = {(i, j): sizes[3 * i + j] for i in range(2) for j in range(3)}
    margins = {0: [w / sum(wanted[:2]) for w in wanted[:2]], 1: [w / sum(wanted[2:]) for w in wanted[2:]]}
    weights = rake(cells, margins)
    total = sum(sizes)
    for position, shares in margins.items():
        for code, share in enumerate(shares):
            held = sum(weights[codes] * n for codes, n in cells.items() if codes[position] == code) / total
            assert held == pytest.approx(share, abs=1e-8)
    # Products of factors have no interaction: all cross ratios of weights are 1.
    for j in (1, 2):
        assert weights[0, 0] * weights[1, j] == pytest.approx(weights[0, j] * weights[1, 0], rel=1e-6)


def test_one_margin_is_poststratification() -> None:
    """With one margin the weight is the share in the population over the share among those who answered."""
    assert rake({(0,): 30, (1,): 70}, {0: [0.6, 0.4]}) == pytest.approx({(0,): 2.0, (1,): 0.4 / 0.7})
    assert rake({(0,): 30, (1,): 70}, {0: [0.0, 1.0]}) == pytest.approx({(0,): 0.0, (1,): 1 / 0.7})


@pytest.mark.parametrize(
    ("cells", "margins"),
    [
        ({(0,): 30, (1,): 0}, {0: [0.5, 0.5]}),  # nobody from a group that has a share
        ({(0, 0): 30, (1, 1): 30}, {0: [0.3, 0.7], 1: [0.6, 0.4]}),  # each code of one comes with one of the other
    ],
)
def test_unreachable_margins_are_said_to_be(cells: dict[Any, int], margins: dict[int, list[float]]) -> None:
    """If no weights exist, the result is that there are none, not the last attempt."""
    with pytest.raises(ImpossibleWeights):
        rake(cells, margins)


@pytest.mark.parametrize(
    ("kind", "own"),
    [
        ("yes_no", {}),
        ("yes_no", {"decline": True}),
        ("choice", {"options": [{"code": c, "text": c} for c in "abcdef"]}),
        ("multi_choice", {"options": [{"code": c, "text": c} for c in "abc"]}),
        ("scale", {"labels": list("abcde")}),
        ("scale", {"labels": list("abcde"), "measure": "mean"}),
        ("scale", {"labels": list("abcde"), "mechanism": "exponential"}),
        ("scale", {"labels": list("abcde"), "mechanism": "krr", "measure": "mean"}),
        ("number", {"min": 0, "max": 10}),
    ],
)
def test_equal_weights_change_nothing(kind: str, own: dict[str, Any]) -> None:
    """If all weights are the same, weighted numbers equal the unweighted ones, for every kind of channel."""
    question, channel = ask(kind, 1, **own)
    rng = np.random.default_rng(7)
    reports = [*channel.reports()]
    parts: list[Cell] = []
    total = np.zeros(channel.feature_count, dtype=int)
    for weight, n in ((1.0, 300), (1.0, 700)):
        drawn = [reports[i] for i in rng.integers(0, len(reports), n)]
        if hasattr(channel, "size"):
            counts = [sum(report >> j & 1 for report in drawn) for j in range(channel.answers)]
        else:
            counts = [drawn.count(report) for report in reports]
        parts.append((weight, alone(question, channel, counts, n)))
        total = total + np.array(counts)
    weighted = estimate_weighted(Weighed(parts))
    assert weighted.effective_answers == pytest.approx(1000)
    plain = estimate_question(alone(question, channel, total.tolist(), 1000))
    pairs = [*zip(weighted.shares, plain.shares, strict=True)]
    if plain.mean is not None:
        pairs.append((weighted.mean, plain.mean))
    for ours, theirs in pairs:
        for name in ours.__struct_fields__:
            if isinstance(getattr(theirs, name), float):
                assert getattr(ours, name) == pytest.approx(getattr(theirs, name), rel=1e-9, abs=1e-12)


def test_the_weighted_share_is_the_mix_of_the_groups() -> None:
    """Reports in exact proportion to known shares of two groups give the population's mix of those shares."""
    question, channel = ask("yes_no", 1)
    rule = support(channel)  # type: ignore[arg-type]
    parts = []
    for weight, n, share in ((1.5, 4000, 0.2), (0.5, 4000, 0.8)):
        yes = round(n * (rule.q + share * rule.gap))
        parts.append((weight, alone(question, channel, [n - yes, yes], n)))
    yes = estimate_weighted(Weighed(parts)).shares[0]
    assert yes.estimate == pytest.approx(0.75 * 0.2 + 0.25 * 0.8, abs=1e-3)


def test_weighted_intervals_cover() -> None:
    """Over 4,000 seeded surveys of two groups with very unequal weights, the 95% interval covers at least 95%.

    It is somewhat wide here, since differences between the groups count as chance. The seed is fixed.
    """
    question, channel = ask("yes_no", 4)
    rule = support(channel)  # type: ignore[arg-type]
    rng = np.random.default_rng(2)
    sizes, weights, shares = (2000, 100), (1.0, 10.0), (0.01, 0.5)
    truth = sum(w * n * s for w, n, s in zip(weights, sizes, shares, strict=True)) / 3000
    covered = plain = 0
    for _ in range(4000):
        held = [rng.binomial(n, rule.q + s * rule.gap) for n, s in zip(sizes, shares, strict=True)]
        parts = [(w, alone(question, channel, [n - y, y], n)) for w, n, y in zip(weights, sizes, held, strict=True)]
        weighted = Weighed(parts)
        yes = estimate_weighted(weighted).shares[0]
        covered += yes.low <= truth <= yes.high
        # The usual effective size, which knows only the weights, is too sure here: the heavier group varies more.
        usual = shares_of(weighted.evidence(), USUAL)[1]
        plain += usual.low <= truth <= usual.high
    assert 0.95 <= covered / 4000 <= 0.99
    assert plain / 4000 < 0.92


@pytest.mark.parametrize(("sizes", "weight"), [((10, 190), 0.9), ((20, 2000), 0.5), ((30, 300), 0.5)])
def test_a_small_heavy_group_is_not_believed(sizes: tuple[int, int], weight: float) -> None:
    """A heavy group that shows no variance by chance makes nothing surer: 1,000 seeded surveys cover at least 92%."""
    question, channel = ask("yes_no", 4)
    rule = support(channel)  # type: ignore[arg-type]
    rng = np.random.default_rng(5)
    weights = [weight * sum(sizes) / sizes[0], (1 - weight) * sum(sizes) / sizes[1]]
    covered = 0
    for _ in range(1000):
        held = [int(rng.binomial(n, rule.q + 0.05 * rule.gap)) for n in sizes]
        parts = [(w, alone(question, channel, [n - y, y], n)) for w, n, y in zip(weights, sizes, held, strict=True)]
        yes = estimate_weighted(Weighed(parts)).shares[0]
        covered += yes.low <= 0.05 <= yes.high
    assert covered / 1000 >= 0.92


def test_odd_weights_end_in_numbers() -> None:
    """Identical reports, or weights too large to square, give finite numbers."""
    question, channel = ask("yes_no", 10)
    parts = [
        (w, alone(question, channel, [0, n], n)) for w, n in ((0.62 / 41, 41), (0.19 / 160, 160), (0.19 / 195, 195))
    ]
    for scale in (1.0, 1e-200):
        scaled = [(weight * scale, evidence) for weight, evidence in parts]
        assert estimate_weighted(Weighed(scaled)).shares[0].estimate == 1.0


def test_effective_answers() -> None:
    """With the same variance in all cells, or none, the effective number is (sum of w)^2 / (sum of w^2)."""
    question, channel = ask("yes_no", 1)
    even, agreed = (alone(question, channel, counts, 1000) for counts in ([500, 500], [1000, 0]))
    expected = 2500**2 / (4 * 1000 + 0.25 * 1000)
    for evidence in (even, agreed):  # reports that agree show no variance: the weights alone decide
        found = estimate_weighted(Weighed([(2.0, evidence), (0.5, evidence)]))
        assert found.effective_answers == pytest.approx(expected)
        assert found.deff == pytest.approx(2000 / expected)
    nobody = estimate_weighted(Weighed([(0.0, even)]))
    assert nobody.effective_answers == 0
    assert nobody.shares[0].estimate is None


def test_weighted_means_recover_the_mix() -> None:
    """For a mean, too: exact proportions in two groups give the mix of their means."""
    question, channel = ask("number", 2, min=0, max=8)
    assert channel == band(9, Fraction(2))
    table = table_of(channel)
    counted = [(weight, np.round(10**6 * table[level]).astype(int).tolist()) for weight, level in ((0.5, 1), (1.5, 7))]
    parts = [(weight, alone(question, channel, counts, sum(counts))) for weight, counts in counted]
    mean = estimate_weighted(Weighed(parts)).mean
    assert mean is not None
    assert mean.value == pytest.approx(0.25 * 1 + 0.75 * 7, abs=1e-3)
    assert len(mean_scores(channel, between=True).values) == len(counted[0][1])
