"""Demand and revenue by price: sums of shares, how sure the best price is, and the textbook's answer next to it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from deniable_protocol import survey_from_tree
from deniable_server.estimator import estimate_question
from deniable_server.planning import Wanted, plan_survey
from deniable_server.planning.price import expected_loss
from deniable_server.planning.words import prices_in_words
from tests.helpers.surveys import ask
from tests.server.test_curves import sampler

EDGES = [5, 10, 15, 20, 30]
OWN = {"min": 0, "max": 50, "measure": "shares", "bins": EDGES, "price": True}
SHARES = np.array([0.1, 0.15, 0.25, 0.25, 0.15, 0.1])
DEMAND = 1 - np.cumsum(SHARES)[:-1]
REVENUE = DEMAND * EDGES


def test_demand_and_revenue_are_sums_of_shares() -> None:
    """At each edge, who would pay more buys; everybody buys at the lowest price, which earns nothing if that is 0."""
    question, channel = ask("number", 2, **OWN)
    found = estimate_question(sampler(question, channel, 1)(SHARES, 200_000), distribution=True).price
    assert found
    assert [point.at for point in found.points] == [0, *EDGES]
    assert [point.demand for point in found.points] == pytest.approx([1, *DEMAND], abs=0.02)
    assert [point.revenue for point in found.points] == pytest.approx([0, *REVENUE], abs=0.4)
    assert all(point.revenue_low <= point.revenue <= point.revenue_high for point in found.points)


def test_the_best_price_is_among_those_that_may_be() -> None:
    """Of 200 seeded surveys, the prices that may be best contain the true best in at least 95%, and not all others."""
    question, channel = ask("number", 2, **OWN)
    draw, best = sampler(question, channel, 5), EDGES[int(np.argmax(REVENUE))]
    hit = ruled_out = 0
    for _ in range(200):
        found = estimate_question(draw(SHARES, 3_000), distribution=True).price
        assert found and found.best_low <= found.best <= found.best_high
        hit += best in [point.at for point in found.points if point.may_be_best]
        ruled_out += not found.points[1].may_be_best
    assert hit >= 190 and ruled_out == 200


def test_only_prices_have_demand() -> None:
    """A number that is no price has a curve and no demand."""
    question, channel = ask("number", 2, **{**OWN, "price": False})
    found = estimate_question(sampler(question, channel, 1)(SHARES, 1_000), distribution=True)
    assert found.curve and not found.price


def test_the_textbook_loses_at_most_its_bound() -> None:
    """The exact expected loss of the exponential mechanism, summed over its distribution, is below the bound: for
    made-up answers of 20 to 2,000 people.
    """
    random = np.random.default_rng(3)
    for n in (20, 200, 2_000):
        for epsilon in (0.5, 1.0, 4.0):
            answers = random.gamma(4, 4, n).clip(0, 50)
            revenue = np.array([price * np.sum(answers >= price) for price in EDGES], dtype=float)
            logs = epsilon * revenue / (2 * 50)
            chances = np.exp(logs - logs.max()) / np.exp(logs - logs.max()).sum()
            assert revenue.max() - chances @ revenue <= expected_loss(len(EDGES), 50, epsilon)


def test_the_plan_has_the_textbook_price() -> None:
    """A plan says what the exponential mechanism would lose, for questions that ask for a price and no others."""
    tree: dict[str, Any] = {
        "id": "pay",
        "title": "Pay",
        "epsilon": "2.0",
        "questions": [{"id": "most", "type": "number", "text": "At most?", **OWN}],
    }
    plan = plan_survey(survey_from_tree(tree), Wanted(respondents=1_000))
    (price,) = plan.prices
    assert (price.prices, price.highest, price.respondents) == (6, 30, 1_000)
    assert price.loss == pytest.approx(2 * 30 * (np.log(6) + 1) / 2 / 1_000)
    assert "curator" in prices_in_words(plan)[0]
    del tree["questions"][0]["price"]
    assert plan_survey(survey_from_tree(tree), Wanted(respondents=1_000)).prices == []
