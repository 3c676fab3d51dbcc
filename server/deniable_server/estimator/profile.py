"""The most likely coefficients, and profile likelihoods: how likely a coefficient can be made at each value of it.

Likelihoods of noisy reports may have no peak: where a group has fewer reports of an answer than a share of 0 gives,
they rise for ever as its odds run away [1]. What counts here is the height, which has a limit even so. An interval has
the values whose profile is at most half a chi-square limit below the top [2], with Firth's penalty or without it. One
of the two alone would hold too few where shares are near 0 and noise is strong. Without the penalty all values on one
side may be among them: then there is no limit on that side.

[1] Albert and Anderson 1984, Biometrika 71.  [2] Venzon and Moolgavkar 1988, Appl. Stat. 37.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import chdtri, logit

from .evidence import Array
from .logistic import Model

ROUNDS = 200
STRIDE = 2.0
"""The furthest that one step moves any log odds. Near shares of 0 and 1 likelihoods are flat: a step that lands there
by chance would not find back."""
FAR = 40.0
"""Log odds beyond which a share, 10^-17 from 0 or 1, is one of them as far as any number of reports can show."""
INFINITE = 25.0
"""A coefficient as large as this (a share of 10^-11) stands for one that is infinite."""
GAIN = 1e-10
"""A step that would add less to a log-likelihood than this is the last,"""
DIGITS = 1e-15
"""or less than this part of it."""
MODERATE = 5.0
LEAP = 4.0
"""The furthest that a coefficient moves at once on the way to its limit."""
HALVINGS = 30
CLOSE = 1e-7
"""How exact limits are, in log odds."""

Mask: TypeAlias = npt.NDArray[np.bool_]
Places: TypeAlias = npt.NDArray[np.int64]


class Peak(NamedTuple):
    beta: Array
    value: Array
    found: Mask


def maximise(model: Model, start: Array, free: Mask, *, penalised: bool) -> Peak:
    """From each row of ``start``, the best that coefficients can be made where they are free.

    Newton's method, which goes uphill also in directions in which the likelihood is not concave. A step is halved until
    it gains.
    """
    beta, x = start.copy(), model.design.matrix
    value = model.value(beta, penalised=penalised)
    todo = np.arange(len(beta))
    for _ in range(ROUNDS):
        if not len(todo):
            break
        now, open_ = beta[todo], free[todo]
        gradient, curvature = model.climb(now, penalised=penalised)
        step = _step(np.where(open_, gradient, 0.0), curvature, open_)
        moved = np.max(np.abs(step @ x.T), axis=1)
        small = np.sum(gradient * step, axis=1) < 2 * np.maximum(GAIN, DIGITS * np.abs(value[todo]))
        step *= np.minimum(1.0, STRIDE / np.maximum(moved, 1e-300))[:, None]
        height, stuck = _improve(model, now, step, value[todo], penalised)
        beta[todo], value[todo] = now, height
        away = np.max(np.abs(now @ x.T), axis=1) > FAR
        todo = todo[~(small | (moved < 1e-9) | away | stuck)]
    found = np.ones(len(beta), dtype=np.bool_)
    found[todo] = False
    return Peak(beta, value, found)


def _step(gradient: Array, curvature: Array, free: Mask) -> Array:
    """Newton's step with the sizes of the eigenvalues. Coefficients that are not free have a 1 on the diagonal, and a
    gradient of 0.
    """
    both = free[:, :, None] & free[:, None, :]
    values, vectors = np.linalg.eigh(np.where(both, curvature, np.eye(free.shape[1]) * ~free[:, :, None]))
    sizes = np.abs(values)
    sizes = np.maximum(sizes, np.maximum(1e-10 * sizes.max(axis=1, keepdims=True), 1e-300))
    return np.asarray((vectors @ ((gradient[:, None, :] @ vectors)[:, 0] / sizes)[..., None])[..., 0])


def _improve(model: Model, beta: Array, step: Array, before: Array, penalised: bool) -> tuple[Array, Mask]:
    """Take each step as far as it gains, in place; the values reached, and which steps gain nothing at any length."""
    after, todo = before.copy(), np.arange(len(beta))
    slack = 1e-13 * np.abs(before)
    for _ in range(HALVINGS):
        value = model.value(beta[todo] + step[todo], penalised=penalised)
        good = value >= before[todo] - slack[todo]
        beta[todo[good]] += step[todo[good]]
        after[todo[good]] = value[good]
        todo = todo[~good]
        if not len(todo):
            break
        step[todo] /= 2
    stuck = np.zeros(len(beta), dtype=np.bool_)
    stuck[todo] = True
    return after, stuck


class Fit(NamedTuple):
    """The peak with the penalty, without it, and without it where no predictor has an effect."""

    firth: Peak
    top: Peak
    null: Peak

    @property
    def found(self) -> bool:
        return bool(self.firth.found[0] and self.top.found[0] and self.null.found[0])


def fit(model: Model) -> Fit:
    size = model.design.matrix.shape[1]
    level = np.zeros((1, size))
    level[0, 0] = logit(min(max(model.overall, 0.01), 0.99))
    everything, intercept = np.ones((1, size), dtype=np.bool_), np.arange(size)[None] == 0
    firth = _highest(model, [level, 0 * level], everything, penalised=True)
    top = _highest(model, [firth.beta, level], everything, penalised=False)
    return Fit(firth, top, _highest(model, [level, 0 * level], intercept, penalised=False))


def _highest(model: Model, starts: Sequence[Array], free: Mask, *, penalised: bool) -> Peak:
    begin = np.concatenate(starts)
    peak = maximise(model, begin, np.tile(free, (len(begin), 1)), penalised=penalised)
    best = [int(np.argmax(peak.value))]
    return Peak(peak.beta[best], peak.value[best], peak.found[best])


class Profile(NamedTuple):
    """Of each coefficient: its limits, and twice how far the likelihood falls with it at minus and plus infinity."""

    low: Array
    high: Array
    at_ends: Array


def profile(model: Model, fit: Fit, alpha: float) -> Profile:
    """The values that the likelihood with the penalty or that without it does not rule out."""
    plain, penalised = (_limits(model, peak, alpha, penalised=peak is fit.firth) for peak in (fit.top, fit.firth))
    return Profile(np.minimum(plain.low, penalised.low), np.maximum(plain.high, penalised.high), plain.at_ends)


def falls(model: Model, fit: Fit, values: Array) -> Array:
    """Twice how far the likelihood falls, with the penalty or without, with each coefficient by itself at a value."""
    columns = np.arange(len(values))
    plain, penalised = (
        _fall(model, peak, columns, values, penalised=peak is fit.firth).fall for peak in (fit.top, fit.firth)
    )
    return np.minimum(plain, penalised)


def _limits(model: Model, top: Peak, alpha: float, *, penalised: bool) -> Profile:
    """Walk from the top to both sides of each coefficient, with the others following, until the fall is at the limit.

    Walked from the top, the best is found also where several odds run away together, which no start far out would.
    """
    best = top.beta[0]
    size, limit = len(best), float(chdtri(1, alpha))
    columns, side = np.repeat(np.arange(size), 2), np.tile([-1.0, 1.0], size)
    ends = _ends(model, top, columns, side, penalised=penalised)
    inner, outer = np.clip(best[columns], -INFINITE, INFINITE), side * INFINITE
    errors = np.sqrt(np.diag(np.linalg.pinv(model.information(best), hermitian=True)))[columns]
    at, beta = inner + side * math.sqrt(limit) * errors, np.tile(best, (2 * size, 1))
    crossed, limits = np.zeros(2 * size, dtype=np.bool_), side * np.inf
    todo = np.flatnonzero((ends > limit) & (side * (outer - inner) > 0))
    for _ in range(ROUNDS):
        if not len(todo):
            break
        a, b, sign, known = inner[todo], outer[todo], side[todo], crossed[todo]
        # Inside of what is known to have the limit, or else at most one leap ahead.
        wide, ahead = sign * (b - a), sign * (at[todo] - a)
        leap = np.where(known, wide / 2, np.minimum(wide, LEAP))
        now = a + sign * np.where((ahead > 0) & (ahead < np.where(known, wide, leap)), ahead, leap)
        found = _fall(model, top, columns[todo], now, beta[todo], penalised=penalised)
        over = found.fall > limit
        outer[todo], inner[todo] = np.where(over, now, b), np.where(over, a, now)
        crossed[todo], beta[todo] = known | over, found.beta
        at_end = now == sign * INFINITE
        ends[todo] = np.where(at_end, np.minimum(ends[todo], found.fall), ends[todo])
        # Newton's method on the root of the fall, which is nearly linear.
        root = np.sqrt(found.fall)
        at[todo] = now - (root - math.sqrt(limit)) * 2 * root / np.where(found.slope == 0, np.nan, found.slope)
        near = np.abs(at[todo] - now) < CLOSE * (1 + np.abs(now))
        endless = at_end & ~over
        done = ~endless & (near | (np.abs(outer[todo] - inner[todo]) < CLOSE))
        limits[todo[done]] = np.where(near, at[todo], inner[todo])[done]
        todo = todo[~(done | endless)]
    limits[todo] = outer[todo]
    each = limits.reshape(size, 2)
    return Profile(each[:, 0], each[:, 1], ends.reshape(size, 2))


def _ends(model: Model, top: Peak, columns: Places, side: Array, *, penalised: bool) -> Array:
    """The fall at infinity, as far as it can be seen from the top at once. With the penalty it has no end."""
    if penalised:
        return np.full(len(columns), np.inf)
    return _fall(model, top, columns, side * INFINITE, penalised=False).fall


class _Fall(NamedTuple):
    """Twice how far the likelihood falls, how steeply, and the other coefficients that keep it highest."""

    fall: Array
    slope: Array
    beta: Array


def _fall(
    model: Model, top: Peak, columns: Places, values: Array, start: Array | None = None, *, penalised: bool
) -> _Fall:
    """With each of these coefficients at a value, and all others at their best, sought from ``start`` or from three.

    A large coefficient can be reached from two sides: its reference keeps its odds as at the top, or those who have the
    code do. (Odds at an end count as moderate here: from far out, where the likelihood is flat, nothing is found.)
    The odds that are nearest to those of everybody are the third.
    """
    count, odds = len(columns), np.clip(model.design.matrix @ top.beta[0], -MODERATE, MODERATE)
    starts = [start] if start is not None else [_nearest(model, odds, columns, values, k) for k in (False, True, None)]
    begin, each = np.concatenate(starts), np.arange(len(starts) * count)
    begin[each, np.tile(columns, len(starts))] = np.tile(values, len(starts))
    free = np.ones(begin.shape, dtype=np.bool_)
    free[each, np.tile(columns, len(starts))] = False
    peak = maximise(model, begin, free, penalised=penalised)
    rows = np.arange(count)
    chosen = rows + count * np.argmax(peak.value.reshape(len(starts), count), axis=0)
    beta = peak.beta[chosen]
    slope = -2 * model.gradient(beta, penalised=penalised)[rows, columns]
    return _Fall(np.maximum(2 * (top.value[0] - peak.value[chosen]), 0.0), slope, beta)


def _nearest(model: Model, odds: Array, columns: Places, values: Array, kept: bool | None) -> Array:
    """The coefficients that, with one of them at a value, come nearest to these log odds: weighted least squares, in
    which those with the code of this coefficient count most, or those without, if ``kept`` says so.
    """
    x, found = model.design.matrix, []
    for column, value in zip(columns.tolist(), values.tolist(), strict=True):
        most = 1.0 if kept is None else np.where((x[:, column] != 0) == kept, 1e3, 1.0)
        root = np.sqrt(model.people) * most
        beta, others = np.full(x.shape[1], value), np.arange(x.shape[1]) != column
        rest = odds - value * x[:, column]
        beta[others] = np.linalg.lstsq(root[:, None] * x[:, others], root * rest, rcond=None)[0]
        found.append(beta)
    return np.array(found)
