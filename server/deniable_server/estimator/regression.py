"""Logistic regression of one option's share on segments and on questions of the same part, from randomised reports.

The odds of the *true* share are modelled, with the channel's noise on top: log(share / (1 - share)) = x beta.
``logistic`` has the likelihood of what reports show of such shares. Without noise it is ordinary logistic regression.

Estimates carry Firth's penalty [1], which takes away most of their bias and keeps them finite. Intervals are profiles
[2]: the values that the likelihood, with the penalty or without it, does not rule out, to infinity where these have no
end. So a group whose reports are at the edge of what a share of 0 or 1 gives costs only the limits that it touches.

[1] Firth 1993, Biometrika 80.  [2] Heinze and Schemper 2002, Stat. Med. 21.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import NamedTuple

import msgspec
import numpy as np
from msgspec import UNSET, UnsetType
from scipy.special import chdtrc

from deniable_protocol import Question

from .evidence import Evidence, Heard, Paths, Pooled, pool_sets
from .intervals import USUAL, Aim, Supported
from .logistic import Counts, Design, Model, Tables
from .profile import INFINITE, falls, fit, profile

NOTHING = 1e-3
"""A fall of twice the log-likelihood that is none."""

LIKELIHOOD = "likelihood of the support counts"
MOMENTS = "moments of the joint shares"
NOBODY = "no report is about this option"
SOME_ONLY = (
    "is asked of some people only, and how its shares among them depend on others is not modelled. "
    "Compare it between groups instead"
)
NO_LOW = "no lower limit: {} of 0 cannot be ruled out"
NO_HIGH = "no upper limit: infinite {} cannot be ruled out"
NO_ERROR = "no standard error: the reports show too little of this code"
NO_PEAK = "the likelihood has no finite maximum, and the estimate is finite only thanks to its penalty"

Places = tuple[int, ...]


class Term(msgspec.Struct, frozen=True):
    """A coefficient: the log odds of the option with this code minus those with the predictor's reference.

    Of the intercept, which has no predictor and no code: the log odds where every predictor has its reference.
    ``most_likely`` is without Firth's penalty. It and the limits are None where they are infinite, and the standard
    error where reports show next to nothing of the code; ``note`` says so. The odds ratio and its limits are None where
    they are beyond all numbers. ``statistic`` is twice the log-likelihood that the coefficient adds, with the penalty
    or without it, whichever is less: at most chi-square with one degree of freedom if it is 0.
    """

    predictor: str | None
    code: str | None
    estimate: float
    most_likely: float | None
    standard_error: float | None
    low: float | None
    high: float | None
    statistic: float
    p_value: float
    odds_ratio: float | None
    odds_low: float | None
    odds_high: float | None
    note: str | UnsetType = UNSET


class Regression(msgspec.Struct, frozen=True):
    """The fit. Where it has not converged there are no numbers, and ``note`` says why.

    ``references`` has the code of each predictor that the others are compared with; codes that nobody has are left
    out. ``statistic`` is twice the log-likelihood that all predictors together add: chi-square with
    ``degrees_of_freedom`` if none has an effect. ``method`` says of what the likelihood is.
    """

    question: str
    code: str
    confidence: float
    submissions: int
    method: str
    converged: bool
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
    """What a group of people report on the question, and on the questions that may explain it.

    ``who``: how many of them have each combination of segment codes, given by their places; nearly always it is one.
    """

    who: Mapping[Places, float]
    evidence: Evidence
    others: tuple[Evidence, ...] = ()


def regress(
    question: Question,
    code: str,
    segments: Mapping[str, Sequence[str]],
    groups: Iterable[Answered],
    aim: Aim = USUAL,
    *,
    references: Mapping[str, str] | None = None,
) -> Regression:
    """The log odds of an option by the codes of these segments and by the answers to the groups' other questions.

    Main effects, each against a reference: the first code that anyone has, unless ``references`` names another.
    """
    if question.asks_mean or code not in question.codes:
        raise ValueError(f"{question.id} has no option {code} whose share could be modelled")
    groups = [*groups]
    for evidence in (each for group in groups for each in (group.evidence, *group.others)):
        _check(evidence)
    others = groups[0].others if groups else ()
    predictors = {**segments, **{each.question.id: each.question.codes for each in others}}
    tables = [(group.who, table) for group in groups if others and (table := _table(group, code))]
    counts = [(group.who, count) for group in groups if not others for count in _supports(group.evidence, code)]
    seen = [who for who, _ in (tables or counts)]
    design, names, chosen = _design(predictors, seen, len(segments), references or {})
    heard = [sum(part.n for part in table.parts) for _, table in tables]
    result = Regression(
        question=question.id,
        code=code,
        confidence=aim.confidence,
        submissions=round(sum(heard) if others else sum(group.evidence.answers for group in groups)),
        method=MOMENTS if others else LIKELIHOOD,
        converged=False,
        references=chosen,
        intercept=None,
        coefficients=[],
        log_likelihood=None,
        null_log_likelihood=None,
        statistic=None,
        degrees_of_freedom=len(names),
        p_value=None,
    )
    if not seen:
        return msgspec.structs.replace(result, note=NOBODY)
    if same := [":".join(names[column - 1]) for column in design.dependent()]:
        note = f"{', '.join(same)} cannot be told apart from codes of other predictors. Leave a predictor out"
        return msgspec.structs.replace(result, note=note)
    if others:
        return _with_numbers(result, Tables(design, [table for _, table in tables], aim.deff), names, aim)
    return _with_numbers(result, Counts(design, [count for _, count in counts], aim.deff), names, aim)


def _check(evidence: Evidence) -> None:
    question = evidence.question
    if evidence.is_conditional:
        raise ValueError(f"{question.id} {SOME_ONLY}")
    if evidence.is_scored:
        raise ValueError(f"a report to {question.id} does more than support an option or not: this does not fit it")


# --- what was heard ----------------------------------------------------------------------------------------------


def _supports(evidence: Evidence, code: str) -> list[Supported]:
    """The support of the option in each part that reports on it: parts of one group have the same odds."""
    place, pooled = evidence.question.codes.index(code), evidence.shares
    shares, place = (pooled[0], place) if evidence.is_exclusive else (pooled[place], 1)
    return [] if shares is None else shares.apart(place)


def common_parts(evidence: Evidence, code: str, others: Sequence[Evidence]) -> list[tuple[Heard, Paths, list[Heard]]]:
    """The parts that report on an option and on all the other questions: what was heard of each, and the option's
    paths.
    """
    place = evidence.question.codes.index(code)
    item, place = (evidence.items[0], place) if evidence.is_exclusive else (evidence.items[place], 1)
    theirs = [{heard.part: heard for heard in other.items[0]} for other in others]
    return [
        (heard, heard.owned[place], [other[heard.part] for other in theirs])
        for heard in item
        if all(heard.part in other for other in theirs)
    ]


def _table(group: Answered, code: str) -> Pooled | None:
    """The joint shares: per combination of the other questions' codes, with the option and without it."""
    found = []
    for heard, option, others in common_parts(group.evidence, code, group.others):
        sets: list[Paths] = []
        for owned in product(*(other.owned for other in others)):
            both = set.intersection(*map(set, owned))
            sets += [tuple(sorted(both & {*option})), tuple(sorted(both - {*option}))]
        found.append((heard, sets))
    return pool_sets(found)


def _design(
    predictors: Mapping[str, Sequence[str]],
    groups: Sequence[Mapping[Places, float]],
    segments: int,
    references: Mapping[str, str],
) -> tuple[Design, list[tuple[str, str]], dict[str, str]]:
    """The design, the predictor and code of each column but the first, and the code each predictor is compared with.

    The first ``segments`` of the predictors divide people, the others their answers: each group has a row per
    combination of these.
    """
    answers = [*product(*(range(len(codes)) for codes in [*predictors.values()][segments:]))]
    people = sorted({places for who in groups for places in who})
    combinations = np.array([places + each for places in people for each in answers], dtype=np.int64)
    columns, names, chosen = [np.ones(len(combinations))], [], {}
    for place, (name, codes) in enumerate(predictors.items()):
        present = sorted({*combinations[:, place].tolist()}) if len(combinations) else []
        if not present:
            continue
        first = next((j for j in present if codes[j] == references.get(name)), present[0])
        chosen[name] = codes[first]
        for j in present:
            if j != first:
                columns.append((combinations[:, place] == j).astype(np.float64))
                names.append((name, codes[j]))
    divided = np.array([[who.get(places, 0.0) for places in people] for who in groups], dtype=np.float64)
    mix = divided / divided.sum(axis=1, keepdims=True) if len(people) else np.zeros((0, 0))
    return Design(np.stack(columns, axis=1), np.kron(mix, np.eye(len(answers)))), names, chosen


# --- the numbers -------------------------------------------------------------------------------------------------


def _with_numbers(result: Regression, model: Model, names: Sequence[tuple[str, str]], aim: Aim) -> Regression:
    fitted = fit(model)
    firth, top = fitted.firth.beta[0], fitted.top.beta[0]
    found, zero = profile(model, fitted, aim.alpha), falls(model, fitted, np.zeros(len(top)))
    information = model.information(firth)
    # Reports may show nobody with a code: then what they show of its odds is nothing, to the last digit.
    slight = 1e-12 * np.trace(information) * np.eye(len(firth))
    errors = np.sqrt(np.diag(np.linalg.inv(information + slight)))
    labels: list[tuple[str | None, str | None]] = [(None, None), *names]
    columns = zip(
        labels,
        *(each.tolist() for each in (firth, top, errors, zero, found.low, found.high)),
        np.where(np.abs(top) < INFINITE, found.at_ends.min(axis=1), 0.0).tolist(),
        strict=True,
    )
    terms = [_term(*column) for column in columns]
    full, none = float(fitted.top.value[0]), float(fitted.null.value[0])
    statistic = max(2 * (full - none), 0.0)
    return msgspec.structs.replace(
        result,
        converged=True,
        intercept=terms[0],
        coefficients=terms[1:],
        log_likelihood=full,
        null_log_likelihood=none,
        statistic=statistic,
        p_value=float(chdtrc(len(names), statistic)) if names else None,
    )


def _term(
    label: tuple[str | None, str | None],
    estimate: float,
    most_likely: float,
    error: float,
    statistic: float,
    low: float,
    high: float,
    end: float,
) -> Term:
    """``end`` is how far twice the log-likelihood falls towards the nearer infinity: not at all, where there is no
    finite maximum.
    """
    odds = "odds" if label == (None, None) else "odds ratio"
    notes = [
        text.format(odds)
        for text, holds in (
            (NO_LOW, low == -math.inf),
            (NO_HIGH, high == math.inf),
            (NO_PEAK, end < NOTHING),
            (NO_ERROR, error > INFINITE),
        )
        if holds
    ]
    return Term(
        *label,
        estimate=estimate,
        most_likely=None if end < NOTHING else most_likely,
        standard_error=None if error > INFINITE else error,
        low=_finite(low),
        high=_finite(high),
        statistic=statistic,
        p_value=float(chdtrc(1, statistic)),
        odds_ratio=_exponential(estimate),
        odds_low=_exponential(low),
        odds_high=_exponential(high),
        note="; ".join(notes) or UNSET,
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _exponential(value: float) -> float | None:
    return math.exp(value) if value < 700 else None
