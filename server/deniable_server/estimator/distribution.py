"""The distribution behind a number question: a smooth curve, and a band for its cumulative shares.

Penalised likelihood for counts that are mixed by a known table [1]: the logs t of the shares p are as rough as the
reports demand. With roughness R = (second differences of t), the curve maximises log-likelihood - (lambda R^2)/2, which
is the mode under a normal prior; how likely the reports are under each lambda (Laplace's approximation) is its weight,
and the curve is the weighted mean over all of them, so that nothing has to be chosen.

[1] Eilers 2007, Statistical Modelling 7 (the penalised composite link model).  [2] Marra and Wood 2012, Scand. J.
Statist. 39 (intervals from the same prior cover on average over the curve).  [3] Li et al. 2020, SIGMOD (square waves
and smoothed EM, the yardstick: bench/distribution.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import msgspec
import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import ndtri, softmax

from deniable_protocol import Channel

from .intervals import USUAL, Aim
from .scores import Array, table_of

LAMBDAS = tuple(10.0**power for power in range(1, -8, -1))
"""From nearly straight logs to a curve that follows every bump, on a range of 1."""
ROUGHER = 2
"""The band allows for a curve that is rougher than the likely one by so many lambdas: see ``_band``."""
RIDGE = 0.01
"""Holds the logs together where the reports say next to nothing."""
ENOUGH = 1e-4  # a step that adds less to the log-likelihood is the last
FARTHEST = 5.0  # a single step in the logs


class Point(msgspec.Struct, frozen=True):
    """A value in the question's own units, the likely share of answers there (strictly: rounded at random to it), and
    ``up_to``, the share of answers up to it, with its limits.

    The limits hold for each value by itself, on average over the values. A single ``share`` has none: answers heaped
    on round numbers cannot be seen.
    """

    at: float
    share: float
    up_to: float
    low: float
    high: float


class _Fit(NamedTuple):
    shares: Array
    variances: Array  # of the cumulative shares
    evidence: float


def likely_distribution(
    channel: Channel, counts: Sequence[float], low: float, high: float, aim: Aim = USUAL
) -> list[Point]:
    """A point per level of the channel, none without reports.

    Sampling and noise are not told apart here: a design effect widens the whole, and no population narrows it.
    """
    n = sum(counts)
    if not n:
        return []
    shares, errors = _curve(channel, tuple(counts))
    up_to = np.cumsum(shares)
    margin = -float(ndtri(aim.alpha / 2)) * math.sqrt(max(aim.sampling(n), 1.0)) * errors
    limits = np.clip([up_to - margin, up_to + margin], 0.0, 1.0)
    values = np.linspace(low, high, channel.answers)
    columns = (values, shares, np.clip(up_to, 0.0, 1.0), *limits)
    return [Point(*map(float, row)) for row in zip(*columns, strict=True)]


@lru_cache(maxsize=1_000)  # results are looked at more than once, and a page shows many questions
def _curve(channel: Channel, counts: tuple[float, ...]) -> tuple[Array, Array]:
    """The shares, and the standard errors of their sums from the left."""
    table, seen, answers = table_of(channel), np.array(counts), channel.answers
    differences = np.diff(np.eye(answers), 2, axis=0) * (answers - 1) ** 1.5  # the integral of t''^2 over a range of 1
    roughness = differences.T @ differences
    # What is added to all logs changes no share: without a say on it, the matrices below could not be inverted.
    rest = RIDGE / answers * np.eye(answers) + (1 - RIDGE / answers) / answers
    fits, logs = [], np.zeros(answers)
    for smoothness in LAMBDAS:
        logs, fit = _fit(table, seen, smoothness * roughness + rest, logs)
        fits.append(fit)
    weights = softmax([fit.evidence for fit in fits])
    return weights @ [fit.shares for fit in fits], _band(fits, weights)


def _band(fits: list[_Fit], weights: Array) -> Array:
    """Standard errors that allow for smoothing.

    Reports do not show a corner or a peak at the end of the range that is there, and so the likely lambdas are too
    large for what is next to it: their own errors cover 87 to 93% on real data (bench/distribution.py), those of a
    parametric bootstrap, which draws from the smooth curve, fewer. So the variance is taken from lambdas a hundred
    times smaller, and the square of how far their curve lies from the likely one is added.
    """
    rough = np.zeros(len(weights))
    rough[ROUGHER:] = weights[:-ROUGHER]
    rough[-1] += weights[-ROUGHER:].sum()
    curves = np.cumsum([fit.shares for fit in fits], axis=1)
    likely, centre = weights @ curves, rough @ curves
    spread = rough @ (np.array([fit.variances for fit in fits]) + (curves - centre) ** 2)
    errors: Array = np.sqrt(spread + (centre - likely) ** 2)
    errors[-1] = 0.0  # all are up to the end
    return errors


def _fit(table: Array, seen: Array, penalty: Array, logs: Array) -> tuple[Array, _Fit]:
    """The mode under one penalty, by Fisher scoring from these logs, and what the normal at the mode says.

    With pi = p Q the gradient of the log-likelihood sum_y c_y log pi_y in the logs is p (Q(c/pi) - n), and its
    information n J diag(1/pi) J' with J = dpi/dlogs = diag(p)(Q - pi).
    """
    n = seen.sum()

    def look(logs: Array) -> tuple[Array, Array, float]:
        shares = softmax(logs)
        chances = np.maximum(shares @ table, 1e-300)
        return shares, chances, float(seen @ np.log(chances)) - float(logs @ penalty @ logs) / 2

    def information(shares: Array, chances: Array) -> Array:
        slope = (table - chances) * shares[:, None]
        found: Array = n * (slope / chances) @ slope.T + penalty
        return found

    shares, chances, height = look(logs)
    for _ in range(100):
        gradient = shares * (table @ (seen / chances) - n) - penalty @ logs
        step = np.linalg.solve(information(shares, chances), gradient)
        step *= min(1.0, FARTHEST / max(np.abs(step).max(), 1e-300))
        before = height
        for _ in range(40):
            shares, chances, height = look(logs + step)
            if height >= before:
                break
            step /= 2
        else:
            shares, chances, height = look(logs)
            break
        logs = logs + step
        if height - before < ENOUGH:
            break
    factor = cho_factor(information(shares, chances), lower=True)
    sums = np.cumsum(np.diag(shares) - np.outer(shares, shares), axis=0)  # d(cumulative shares)/dlogs
    variances = np.einsum("ij,ji->i", sums, cho_solve(factor, sums.T))
    evidence = height + float(np.linalg.slogdet(penalty)[1]) / 2 - float(np.log(np.diag(factor[0])).sum())
    return logs, _Fit(shares, variances, evidence)
