"""What reports show of shares whose log odds are linear: the likelihoods that ``regression`` maximises.

``Design`` says which shares a row of the data sees. A row is a group of people, nearly always with one combination of
predictors; where small combinations are merged, its share is the mean of theirs. On top there is one of two models:

- ``Counts``: each row has a count with the rate q + gap * share: the binomial likelihood [1].
- ``Tables``: predictors are randomised too. Per group of people, the unbiased joint shares u(c, o) of the predictors'
  answers c and the outcome o = 1 (it is the modelled answer) or 0 give, for every c,

      e(c) = u(c, 1) - share(c) (u(c, 1) + u(c, 0)),    of mean 0 whatever the predictors' own shares are.

  Q = the sum over groups of e' C^-1 e, with the covariance C *at these odds*, takes the part of -2 log-likelihood:
  the generalised method of moments, continuously updated [2], which is Fieller's way of dividing where there is one e.

Every method takes a stack of coefficient vectors, so that all limits of all coefficients are searched for at once.

[1] Scheers and Dayton 1988, J. Am. Stat. Assoc. 83.  [2] Hansen, Heaton and Yaron 1996, J. Bus. Econ. Stat. 14.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit, xlogy

from .evidence import Array, Pooled, binary_rule
from .intervals import Supported
from .shares import project

NEARBY = 1e-6
"""In log odds."""


@dataclass(frozen=True, eq=False)
class Design:
    """``matrix`` has a row per combination of predictors: 1 for the intercept, then 1 for each code that it has.

    ``mix`` has a row per row of the data: how its people are divided over the combinations.
    """

    matrix: Array
    mix: Array

    def dependent(self) -> list[int]:
        """The columns that combine those before them: there the R of X = QR has a zero on its diagonal."""
        seen = self.mix @ self.matrix
        padded = np.vstack([seen, np.zeros((seen.shape[1], seen.shape[1]))])
        diagonal = np.abs(np.diag(np.linalg.qr(padded, mode="r")))
        return [int(column) for column in np.flatnonzero(diagonal < 1e-9)]


class Seen(NamedTuple):
    """At a stack of coefficients: the log-likelihood, its slope in each row's share, and what each pair of rows is
    expected to show of their shares.
    """

    value: Array
    slope: Array
    expected: Array


class Model(ABC):
    """The log-likelihood of coefficients. ``people``: how many reports each combination of predictors has; ``overall``:
    the unbiased share of all.
    """

    def __init__(self, design: Design, people: Array, overall: float) -> None:
        self.design, self.people, self.overall = design, people, overall

    @abstractmethod
    def see(self, shares: Array, rest: Array) -> Seen:
        """Where rows have these shares; ``rest`` = 1 - shares."""

    def shares(self, beta: Array) -> tuple[Array, Array]:
        odds = beta @ self.design.matrix.T
        # Each as a sum of what is not negative, so that neither loses digits.
        return expit(odds) @ self.design.mix.T, expit(-odds) @ self.design.mix.T

    def value(self, beta: Array, *, penalised: bool) -> Array:
        found = self.see(*self.shares(beta)).value
        return found + self._penalty(beta) if penalised else found

    def information(self, beta: Array) -> Array:
        """Fisher's, expected, at one vector of coefficients."""
        stack = beta[None]
        slopes = self._slopes(stack)
        return np.asarray(_sandwich(slopes, self.see(*self.shares(stack)).expected)[0])

    def gradient(self, beta: Array, *, penalised: bool) -> Array:
        seen = self.see(*self.shares(beta))
        found = (seen.slope[:, None, :] @ self._slopes(beta))[:, 0]
        return np.asarray(found + self._pull(beta) if penalised else found)

    def climb(self, beta: Array, *, penalised: bool) -> tuple[Array, Array]:
        """The gradient, and the curvature: how the gradient falls from here to a point nearby, along each axis."""
        stack, size = beta.shape
        points = np.concatenate([beta[:, None], beta[:, None] + NEARBY * np.eye(size)], axis=1)
        gradients = self.gradient(points.reshape(-1, size), penalised=penalised).reshape(stack, size + 1, size)
        curvature = (gradients[:, :1] - gradients[:, 1:]) / NEARBY
        return gradients[:, 0], (curvature + curvature.swapaxes(1, 2)) / 2

    def _slopes(self, beta: Array) -> Array:
        """Of the rows' shares in the coefficients."""
        odds = beta @ self.design.matrix.T
        weight = expit(odds) * expit(-odds)
        return np.asarray((self.design.mix * weight[:, None, :]) @ self.design.matrix)

    def _penalty(self, beta: Array) -> Array:
        """Half of log |F| with F = X' diag(n s(1-s)) X, what the true answers would show: Firth's penalty for logistic
        regression.

        The penalty of the noisy reports' own information would, where noise prevails, be twice as strong, and pull too
        far: see ``_pull``.
        """
        odds = beta @ self.design.matrix.T
        sign, size = np.linalg.slogdet(_weighted(self.design.matrix, self.people * expit(odds) * expit(-odds)))
        return np.where(sign > 0, size / 2, -np.inf)

    def _pull(self, beta: Array) -> Array:
        """The gradient of the penalty, X' h (1 - 2s)/2 with the leverages h = n s(1-s) x' F^-1 x.

        If each coefficient has a row of its own (one segment), h = 1, and this is the adjustment that takes away the
        first-order bias of any model with these slopes [3]: the noise does not matter.

        [3] Kosmidis and Firth 2009, Biometrika 96, equation 13.
        """
        x = self.design.matrix
        odds = beta @ x.T
        share, rest = expit(odds), expit(-odds)
        weight = self.people * share * rest
        inside = _weighted(x, weight)
        ridge = 1e-13 * np.trace(inside, axis1=1, axis2=2)[:, None, None] * np.eye(x.shape[1])
        leverage = weight * np.sum((x @ np.linalg.inv(inside + ridge)) * x, axis=2)
        return np.asarray((leverage * (rest - share)) @ x / 2)


def _weighted(x: Array, weight: Array) -> Array:
    return np.asarray((x.T * weight[:, None, :]) @ x)


def _sandwich(slopes: Array, inside: Array) -> Array:
    """S' I S, where I is diagonal, or has a block per group of rows."""
    turned = slopes.swapaxes(1, 2)
    if inside.ndim == 2:
        return np.asarray((turned * inside[:, None, :]) @ slopes)
    blocks = slopes.reshape(*inside.shape[:3], -1)
    return np.asarray(turned @ (inside @ blocks).reshape(slopes.shape))


class Counts(Model):
    """Support counts, each with the rule of its part.

    Where support is not 0 or 1, the count is that of an equivalent rule with the same mean and variance: its likelihood
    is then a quasi-likelihood [4], which needs no more. So it is with a design effect f: f s(1-s) + s v1 + (1-s) v0 is
    f times the variance of a rule with the noise v1/f and v0/f.

    [4] Wedderburn 1974, Biometrika 61.
    """

    def __init__(self, design: Design, counts: Sequence[Supported], deff: float = 1.0) -> None:
        counts = [_with_effect(count, deff) for count in counts]
        self.y = np.array([count.y for count in counts], dtype=np.float64)
        self.n = np.array([count.n for count in counts], dtype=np.float64)
        self.p, self.q, self.gap = np.array([count.rule[:3] for count in counts], dtype=np.float64).T
        unbiased = (self.y / self.n - self.q) / self.gap
        super().__init__(design, self.n @ design.mix, float(self.n @ unbiased / self.n.sum()))

    def see(self, shares: Array, rest: Array) -> Seen:
        """With the rate r: the slope is gap (y/r - (n-y)/(1-r)), and what is expected to show n gap^2/(r(1-r))."""
        rate, other = self.q + self.gap * shares, 1 - self.p + self.gap * rest
        value = np.sum(xlogy(self.y, rate) + xlogy(self.n - self.y, other), axis=1)
        slope = self.gap * (self.y / rate - (self.n - self.y) / other)
        return Seen(value, slope, self.n * self.gap**2 / (rate * other))


def _with_effect(count: Supported, deff: float) -> Supported:
    rule, y, n = count
    if deff == 1:
        return count
    other = binary_rule(rule.v1 / deff, rule.v0 / deff)
    share = (y / n - rule.q) / rule.gap
    return Supported(other, n / deff * (other.q + other.gap * share), n / deff)


class Tables(Model):
    """Joint shares per group of people: for each answer to the predictors c, of (c, 1) and then (c, 0).

    Rows of the design are the pairs of a group and a c, with c varying fastest.
    """

    def __init__(self, design: Design, tables: Sequence[Pooled], deff: float = 1.0) -> None:
        self.u = np.array([table.unbiased for table in tables]).reshape(len(tables), -1, 2)
        self.n = np.array([table.n for table in tables]) / deff
        self.margins = np.array([project(each.sum(axis=1).tolist()) for each in self.u])
        moments = [table.moments for table in tables]
        self.none = np.array([none for none, _ in moments])
        self.own = np.array([own for _, own in moments])
        # With a design effect f, (f - 1)(diag(s) - s s')/n is added.
        cell = np.arange(self.own.shape[1])
        self.own[:, cell, cell, cell] += (1 - 1 / deff) / self.n[:, None]
        # Where reports show nobody with an answer, it counts as one person, or the penalty would be infinite.
        people = np.maximum(self.n[:, None] * self.margins, 1.0).ravel() @ design.mix
        super().__init__(design, people, float(self.n @ self.u[:, :, 0].sum(axis=1) / self.n.sum()))

    def see(self, shares: Array, rest: Array) -> Seen:
        """With e = J u, J having 1 - s(c) and -s(c) in the row of c, C = J V J', r = C^-1 e and v = J'r:

            dQ = 2 r' de - 2 r' dJ V v - v' dV v.

        Moving s(c) moves e(c) by -(u(c,1) + u(c,0)), both entries of J by -1, and the shares (c,1) and (c,0) that V
        is linear in, apart from -s s'/n, by the margin of c and by minus that.
        """
        stack, (groups, cells, _) = len(shares), self.u.shape
        share, other = (each.reshape(stack, groups, cells) for each in (shares, rest))
        margin = np.maximum(self.margins, 1e-9)
        joint = np.stack([margin * share, margin * other], axis=-1).reshape(stack, groups, -1)
        # Of all groups: the sum over j of s_j V_j, by one product of matrices per group.
        flat = self.own.reshape(groups, 2 * cells, -1)
        spread = self.none + (joint.swapaxes(0, 1) @ flat).swapaxes(0, 1).reshape(*joint.shape, -1)
        spread = spread - joint[..., :, None] * joint[..., None, :] / self.n[:, None, None]
        signs = np.stack([other, -share], axis=-1)
        weighed = spread * signs.reshape(stack, groups, -1, 1) * signs.reshape(stack, groups, 1, -1)
        inside = np.linalg.inv(weighed.reshape(stack, groups, cells, 2, cells, 2).sum(axis=(3, 5)))
        excess = np.sum(signs * self.u, axis=-1)
        pull = (inside @ excess[..., None])[..., 0]
        value = -np.sum(pull * excess, axis=(1, 2)) / 2
        v = (pull[..., None] * signs).reshape(stack, groups, -1)
        both = (spread @ v[..., None]).reshape(stack, groups, cells, 2).sum(axis=-1)
        pairs = (v[..., :, None] * v[..., None, :]).reshape(stack, groups, -1)
        each = (pairs.swapaxes(0, 1) @ flat.swapaxes(1, 2)).swapaxes(0, 1)
        each = each - 2 * v * np.sum(v * joint, axis=-1, keepdims=True) / self.n[:, None]
        moved = each.reshape(stack, groups, cells, 2)
        slope = pull * self.u.sum(axis=-1) - pull * both + margin * (moved[..., 0] - moved[..., 1]) / 2
        expected = margin[:, :, None] * inside * margin[:, None, :]
        return Seen(value, slope.reshape(stack, -1), expected)
