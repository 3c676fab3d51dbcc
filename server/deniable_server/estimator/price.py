"""Demand and revenue by price, for a question "What would you pay at most?".

Who would pay at most x buys at every price up to x. So demand at a price p is the share of people whose answer is p or
more, 1 - F(p), and revenue p (1 - F(p)) for each person asked. Both have the band of the curve F: it contains all of
them at once. Then the price of the largest revenue is among those whose upper limit reaches the best lower limit: with
p* the best price and q any other, high(p*) >= R(p*) >= R(q) >= low(q).
"""

from __future__ import annotations

import msgspec

from .curves import CurvePoint


class PricePoint(msgspec.Struct, frozen=True):
    """A price in the question's own units: the share of people who would buy, and the revenue for each person asked.
    All limits are for all prices at once. ``may_be_best``: whether this may be the price of the largest revenue.
    """

    at: float
    demand: float
    demand_low: float
    demand_high: float
    revenue: float
    revenue_low: float
    revenue_high: float
    may_be_best: bool


class Price(msgspec.Struct, frozen=True):
    """All prices that the question tells apart; ``best`` has the largest estimated revenue, and the true best one of
    these is from ``best_low`` to ``best_high``, one of those that may be best.
    """

    points: list[PricePoint]
    best: float
    best_low: float
    best_high: float


def prices(points: list[CurvePoint], cheapest: float) -> Price | None:
    """From the curve; ``cheapest`` is the least that anyone would pay, at which all buy. None without a curve."""
    if not points:
        return None
    demand = [(cheapest, 1.0, 1.0, 1.0)]
    demand += [(point.at, 1 - point.below, 1 - point.high, 1 - point.low) for point in points]
    floor = max(at * low for at, _, low, _ in demand)
    found = [
        PricePoint(at, share, low, high, at * share, at * low, at * high, at * high >= floor)
        for at, share, low, high in demand
    ]
    likely = [point.at for point in found if point.may_be_best]
    best = max(found, key=lambda point: point.revenue).at
    return Price(found, best, min(likely), max(likely))
