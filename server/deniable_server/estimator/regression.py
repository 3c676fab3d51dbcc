"""Logistic regression of one option's share on segments, from randomised reports.

Segments are public, the answer is not. The odds of the *true* share are modelled, with the channel's noise on top [1]:

    P(a report supports the option | segments x) = q + gap * share(x),    log(share / (1 - share)) = x beta,

a generalised linear model of the support counts with a link of its own. With p = 1 and q = 0 it is ordinary logistic
regression; with one segment it gives the log odds of the groups' unbiased shares.

[1] Scheers and Dayton 1988, J. Am. Stat. Assoc. 83.  [2] McCullagh and Nelder 1989, Generalized Linear Models.
[3] Albert and Anderson 1984, Biometrika 71.  [4] Wedderburn 1974, Biometrika 61.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from msgspec import UNSET, UnsetType
from scipy.special import chdtrc, expit, logit, ndtr, ndtri, xlogy

from deniable_protocol import Question

from .evidence import Array, Evidence
from .intervals import Supported, clip, likely_share

ROUNDS = 100
CLOSE = 1e-8
"""Where a whole step moves no group's log odds by more than this, the fit has converged."""
STRIDE = 2.0
"""The furthest that one step moves a group's log odds. Near shares of 0 and 1 the likelihood is flat: a step that
lands there by chance would not find back."""
FAR = 15.0
"""Log odds beyond which a share, less than one in a million from 0 or 1, is one of them as far as reports can show."""

NOBODY = "no report is about this option"
RUNS_AWAY = (
    "no finite odds fit: in some group reports are at or beyond what a share of 0 or 1 would give. Leave a segment out"
)
SOME_ONLY = (
    "is asked of some people only, and how its shares among them depend on segments is not modelled. "
    "Compare it between groups instead"
)
NOT_FOUND = "the search for the most likely odds did not end"


class Term(msgspec.Struct, frozen=True):
    """A coefficient: the log odds of the option in this group minus those in its segment's reference.

    Of the intercept, which has no segment and no code: the log odds where every segment has its reference. The odds
    ratio and its limits are None where they are beyond all numbers.
    """

    segment: str | None
    code: str | None
    estimate: float
    standard_error: float
    z: float
    p_value: float
    low: float
    high: float
    odds_ratio: float | None
    odds_low: float | None
    odds_high: float | None


class Regression(msgspec.Struct, frozen=True):
    """The fit. Where it has not converged there are no numbers, and ``note`` says why.

    ``references`` has the code of each segment that the others are compared with; codes that nobody has are left
    out. ``statistic`` is twice the log-likelihood that all segments together add: chi-square with
    ``degrees_of_freedom`` if none has an effect.
    """

    question: str
    code: str
    confidence: float
    submissions: int
    converged: bool
    iterations: int
    references: dict[str, str]
    intercept: Term | None
    coefficients: list[Term]
    log_likelihood: float | None
    null_log_likelihood: float | None
    statistic: float | None
    degrees_of_freedom: int
    p_value: float | None
    note: str | UnsetType = UNSET


class Answered(NamedTuple):
    """What the submissions with one combination of segment codes, given by their places, report on the question."""

    places: tuple[int, ...]
    evidence: Evidence


def regress(
    question: Question,
    code: str,
    segments: Mapping[str, Sequence[str]],
    groups: Iterable[Answered],
    *,
    confidence: float = 0.95,
) -> Regression:
    """The log odds of an option by the codes of these segments: main effects, each against a reference."""
    if not 0 < confidence < 1:
        raise ValueError("confidence must lie between 0 and 1")
    if question.asks_mean or code not in question.codes:
        raise ValueError(f"{question.id} has no option {code} whose share could be modelled")
    groups = [*groups]
    if any(group.evidence.is_conditional for group in groups):
        raise ValueError(f"{question.id} {SOME_ONLY}")
    heard = [(group.places, count) for group in groups for count in _supports(group.evidence, code)]
    design = _design(segments, [places for places, _ in heard])
    result = Regression(
        question=question.id,
        code=code,
        confidence=confidence,
        submissions=int(sum(group.evidence.answers for group in groups)),
        converged=False,
        iterations=0,
        references=design.references,
        intercept=None,
        coefficients=[],
        log_likelihood=None,
        null_log_likelihood=None,
        statistic=None,
        degrees_of_freedom=len(design.names),
        p_value=None,
    )
    if not heard:
        return msgspec.structs.replace(result, note=NOBODY)
    if same := design.dependent():
        note = f"{', '.join(same)} cannot be told apart from codes of other segments. Leave a segment out"
        return msgspec.structs.replace(result, note=note)
    counts = _Counts([count for _, count in heard])
    fit = _fit(design.matrix, counts)
    if fit.note is not UNSET:
        return msgspec.structs.replace(result, iterations=fit.iterations, note=fit.note)
    return _with_numbers(result, design, counts, fit)


def _supports(evidence: Evidence, code: str) -> list[Supported]:
    """The support of the option in each part that reports on it: parts of one group have the same odds."""
    question = evidence.question
    if evidence.is_scored:
        raise ValueError(f"a report to {question.id} does more than support an option or not: this does not fit it")
    place, pooled = question.codes.index(code), evidence.shares
    shares, place = (pooled[0], place) if evidence.is_exclusive else (pooled[place], 1)
    return [] if shares is None else shares.apart(place)


class _Design(NamedTuple):
    """A row per group and part; the first column is 1, each other is 1 in the groups with its segment's code."""

    matrix: Array
    names: list[tuple[str, str]]
    references: dict[str, str]

    def dependent(self) -> list[str]:
        """The codes whose columns combine those before them: there the R of X = QR has a zero on its diagonal."""
        padded = np.vstack([self.matrix, np.zeros((len(self.names), 1 + len(self.names)))])
        diagonal = np.abs(np.diag(np.linalg.qr(padded, mode="r")))[1:]
        return [f"{name}:{code}" for (name, code), size in zip(self.names, diagonal, strict=True) if size < 1e-9]


def _design(segments: Mapping[str, Sequence[str]], places: Sequence[tuple[int, ...]]) -> _Design:
    columns, names = [np.ones(len(places))], []
    references: dict[str, str] = {}
    for i, (segment, codes) in enumerate(segments.items()):
        seen = np.array([group[i] for group in places], dtype=np.int64)
        present = [j for j in range(len(codes)) if np.any(seen == j)]
        if present:
            references[segment] = codes[present[0]]
        for j in present[1:]:
            columns.append((seen == j).astype(np.float64))
            names.append((segment, codes[j]))
    return _Design(np.stack(columns, axis=1), names, references)


class _Counts:
    """The support counts of all groups and parts, each with the rule of its part.

    Where support is not 0 or 1, the count is that of an equivalent rule with the same mean and variance: its likelihood
    is then a quasi-likelihood [4], which needs no more.
    """

    def __init__(self, counts: Sequence[Supported]) -> None:
        self.counts = counts
        self.y = np.array([count.y for count in counts], dtype=np.float64)
        self.n = np.array([count.n for count in counts], dtype=np.float64)
        self.p, self.q, self.gap = np.array([count.rule[:3] for count in counts], dtype=np.float64).T

    def rates(self, odds: Array) -> tuple[Array, Array]:
        """Of support and of its absence, each as a sum of what is not negative, so that neither loses digits."""
        return self.q + self.gap * expit(odds), 1 - self.p + self.gap * expit(-odds)

    def log_likelihood(self, odds: Array) -> float:
        rate, rest = self.rates(odds)
        return float(np.sum(xlogy(self.y, rate) + xlogy(self.n - self.y, rest)))

    def pooled(self) -> float:
        """The share most likely behind all groups together."""
        return clip(likely_share(self.counts))


class _Fit(NamedTuple):
    beta: Array
    covariance: Array
    iterations: int
    note: str | UnsetType = UNSET


def _fit(design: Array, counts: _Counts) -> _Fit:
    """Newton's method; where the likelihood is not concave, Fisher's scoring [2]. A step is halved until it gains.

    With d = gap s(1 - s), the slope of the rate r in the log odds of the share s, and e = y/r - (n - y)/(1 - r), the
    log-likelihood has gradient X'(d e), curvature -X' diag(d^2 (y/r^2 + (n - y)/(1 - r)^2) - d(1 - 2s) e) X, and
    expected information X' diag(n d^2 / (r(1 - r))) X, whose inverse is the covariance. Where groups are separated, or
    reports beyond what the channel gives to a share of 0 or 1, it rises for ever as the odds run away [3].
    """
    beta, nothing = np.zeros(design.shape[1]), np.zeros((0, 0))
    beta[0] = logit(min(max(counts.pooled(), 0.01), 0.99))  # all groups the same
    for iteration in range(1, ROUNDS + 1):
        odds = design @ beta
        (rate, rest), share = counts.rates(odds), expit(odds)
        slope, excess = counts.gap * share * expit(-odds), counts.y / rate - (counts.n - counts.y) / rest
        expected = (design.T * (counts.n * slope**2 / (rate * rest))) @ design
        bend = slope**2 * (counts.y / rate**2 + (counts.n - counts.y) / rest**2) - slope * (1 - 2 * share) * excess
        observed = (design.T * bend) @ design
        concave = np.linalg.eigvalsh(observed)[0] > 1e-6 * np.trace(observed)
        try:
            step = np.linalg.solve(observed if concave else expected, design.T @ (slope * excess))
            covariance = np.asarray(np.linalg.inv(expected), dtype=np.float64)
        except np.linalg.LinAlgError:
            return _Fit(beta, nothing, iteration, RUNS_AWAY)
        moved = float(np.max(np.abs(design @ step)))
        if moved < CLOSE:
            return _Fit(beta, covariance, iteration)
        step *= min(1.0, STRIDE / moved)
        before = counts.log_likelihood(odds)
        for _ in range(40):
            if counts.log_likelihood(design @ (beta + step)) >= before - 1e-12 * abs(before):
                break
            step /= 2
        beta = beta + step
        if not np.max(np.abs(design @ beta)) < FAR:
            return _Fit(beta, nothing, iteration, RUNS_AWAY)
    return _Fit(beta, nothing, ROUNDS, NOT_FOUND)


def _with_numbers(result: Regression, design: _Design, counts: _Counts, fit: _Fit) -> Regression:
    z = -float(ndtri((1 - result.confidence) / 2))
    errors = np.sqrt(np.diag(fit.covariance)).tolist()
    names: list[tuple[str | None, str | None]] = [(None, None), *design.names]
    each = zip(names, fit.beta.tolist(), errors, strict=True)
    terms = [_term(segment, code, estimate, error, z) for (segment, code), estimate, error in each]
    full = counts.log_likelihood(design.matrix @ fit.beta)
    null = counts.log_likelihood(np.full(len(counts.y), logit(counts.pooled())))
    statistic = max(2 * (full - null), 0.0)
    return msgspec.structs.replace(
        result,
        converged=True,
        iterations=fit.iterations,
        intercept=terms[0],
        coefficients=terms[1:],
        log_likelihood=full,
        null_log_likelihood=null,
        statistic=statistic,
        p_value=float(chdtrc(len(design.names), statistic)) if design.names else None,
    )


def _term(segment: str | None, code: str | None, estimate: float, error: float, z: float) -> Term:
    limits = estimate, estimate - z * error, estimate + z * error
    odds = [math.exp(value) if value < 700 else None for value in limits]
    score = estimate / error
    return Term(segment, code, estimate, error, score, 2 * float(ndtr(-abs(score))), *limits[1:], *odds)
