"""Charts of many options: shares drawn towards equal ones where noise is large, and nowhere else."""

from __future__ import annotations

import math

import numpy as np
import pytest
from msgspec import UNSET

from deniable_protocol import Subset
from deniable_server.estimator import Share, alone, estimate_question, project
from deniable_server.estimator.intervals import Array
from deniable_server.estimator.shares import MANY, smoothed
from deniable_server.pages.charts import Bars, question_chart
from tests.helpers.surveys import ask

AGES = np.array([69, 106, 126, 92, 89, 104, 130, 120, 81, 50, 25, 7, 1]) / 1000  # of 64,600 people in TV16
AFFAIRS = np.array([752, 123, 45, 30, 2, 26, 0, 6, 8, 0, 0, 8]) / 1000  # of 6,366 in Fair 1978


def shares(options: int, spread: float) -> list[Share]:
    """Of so many options, at epsilon = 1 and 1,000 reports, with supports this many standard deviations apart."""
    question, channel = ask("choice", 1, options=[{"code": f"o{i}", "text": "?"} for i in range(options)])
    assert isinstance(channel, Subset)
    n = 1000
    each, step = n * channel.size / options, spread * math.sqrt(n) / 2
    counts = [round(each + step * ((i % 3) - 1)) for i in range(options)]
    counts[1] += n * channel.size - sum(counts)
    return estimate_question(alone(question, channel, counts, n)).shares


def test_what_a_chart_shows_is_possible() -> None:
    """Smoothed shares sum to 1 and lie in their intervals, nearer to equal ones; estimates stay the nearest point."""
    found = shares(12, 1.0)
    drawn = [share.smoothed for share in found if share.smoothed is not UNSET]
    assert len(drawn) == 12 and math.fsum(drawn) == pytest.approx(1)
    assert all(share.low <= value <= share.high for share, value in zip(found, drawn, strict=True))
    assert [share.estimate for share in found] == pytest.approx(project([share.unbiased or 0.0 for share in found]))
    assert max(drawn) - min(drawn) < max(s.estimate or 0.0 for s in found) - min(s.estimate or 0.0 for s in found)


def test_few_options_are_left_as_they_are() -> None:
    """With fewer than eleven options nothing is smoothed."""
    assert all(share.smoothed is UNSET for share in shares(MANY - 1, 1.0))


def test_nothing_is_smoothed_where_one_option_dominates() -> None:
    """From three standard errors above equal shares on; the way there has no jump."""
    error = [0.05] * 12

    def of(top: float) -> list[float] | None:
        return smoothed([1 / 12 + top * 0.05, *[1 / 12 - top * 0.05 / 11] * 11], error)

    assert of(3.0) is None and of(9.0) is None
    nearly, less = of(2.999), of(2.9)
    assert nearly is not None and less is not None
    assert nearly[0] == pytest.approx(1 / 12 + 2.999 * 0.05, abs=1e-3)
    assert less[0] < nearly[0]


@pytest.mark.parametrize(("truth", "most"), [(AGES, 0.8), (AFFAIRS, 1.01), (np.full(25, 0.04), 0.6)])
@pytest.mark.parametrize("error", [0.03, 0.06, 0.12])
def test_smoothed_shares_are_nearer(truth: Array, most: float, error: float) -> None:
    """Their error is less than that of estimates, at much noise by a fifth; where one dominates, it is no more."""
    random, k = np.random.default_rng(1), len(truth)
    noise = random.normal(0, error, (400, k))
    total = np.zeros(2)
    for unbiased in (truth + noise - noise.mean(axis=1)[:, None]).tolist():
        plain = project(unbiased)
        drawn = smoothed(unbiased, [error] * k) or plain
        total += [np.sum((np.array(each) - truth) ** 2) for each in (plain, drawn)]
    assert math.sqrt(total[1] / total[0]) < (most if error > 0.1 else max(most, 1.01))


def test_a_chart_draws_smoothed_shares_and_its_table_has_the_estimates() -> None:
    """The bar and its number are the smoothed share; a sentence says so."""
    question, channel = ask("choice", 1, options=[{"code": f"o{i}", "text": f"O{i}"} for i in range(12)])
    assert isinstance(channel, Subset)
    counts = [channel.size * 1000 // 12 + (10 if i % 2 else -10) for i in range(12)]
    counts[0] += channel.size * 1000 - sum(counts)
    estimate = estimate_question(alone(question, channel, counts, 1000))
    chart = question_chart(question, estimate)
    first = estimate.shares[1]
    assert isinstance(chart, Bars) and chart.smoothed
    assert first.smoothed is not UNSET and first.estimate is not None
    assert first.estimate - first.smoothed > 0.02
    assert float(chart.rows[1].value.rstrip("%")) == pytest.approx(100 * first.smoothed, abs=0.5)
    assert float(chart.tables[0].lines[1][1][0]) == pytest.approx(100 * first.estimate, abs=0.5)
