"""All numbers with intervals that the analysis gives for a survey of a study, each with its truth."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from real_sampling import Floats, Population, Survey

from deniable_protocol import MultiChoice, Question
from deniable_protocol.checks import DECLINED
from deniable_server.analysis.compare import CompareQuery, compare
from deniable_server.analysis.crosstab import CrosstabQuery, crosstab
from deniable_server.analysis.estimates import EstimateQuery, SurveyEstimates, estimates
from deniable_server.analysis.regress import RegressQuery, regress
from deniable_server.errors import BadQuery, Withheld
from deniable_server.estimator.joint import NOT_ASKED
from deniable_server.estimator.regression import Regression, Term

MANY = 10**11
"""So many people that a fit to what they report on average has no chance left in it."""

Mask = npt.NDArray[np.bool_]


class Number(NamedTuple):
    """One estimated number. The target begins with the name of the ask that it came from."""

    kind: str
    target: str
    truth: float
    value: float
    unbiased: float | None
    standard_error: float | None
    low: float
    high: float

    @property
    def estimated(self) -> tuple[float, ...]:
        return tuple(math.nan if each is None else each for each in self[3:])


class Truth:
    """What is true of the people who respond; with ``weighted``, of all people of the study."""

    def __init__(self, population: Population) -> None:
        self.population, self.study = population, population.study
        self.responding = population.eagerness
        self.everybody = np.full(self.study.people, 1 / self.study.people)
        self.questions = {question.id: question for question in population.document.survey.questions}
        self.margins = {name: self._margin(codes) for name, codes in self.study.segments.items()}
        self.category = lru_cache(maxsize=None)(self._category)
        self.asked = lru_cache(maxsize=None)(self._asked)
        self.share = lru_cache(maxsize=None)(self._share)
        self.applies = lru_cache(maxsize=None)(self._applies)
        self.mean = lru_cache(maxsize=None)(self._mean)
        self.cell = lru_cache(maxsize=None)(self._cell)
        self.fit = lru_cache(maxsize=None)(self._fit)

    def _margin(self, codes: list[str]) -> dict[str, float]:
        return {code: codes.count(code) / len(codes) for code in sorted(set(codes))}

    def _weights(self, weighted: bool) -> Floats:
        return self.everybody if weighted else self.responding

    def _category(self, name: str, code: str) -> Mask:
        """Who has this answer to a question or an option of it, or is in this group of a segment."""
        if name in self.study.segments:
            return np.isin(self.study.segments[name], code.split("+"))
        name, _, option = name.partition(".")
        question, answers = self.questions[name], self.study.answers[name]
        if option:
            return np.array([(option in answer) == (code == "yes") for answer in answers])
        if isinstance(question, MultiChoice):
            return np.array([code in answer for answer in answers])
        known = {answer: _code(question, answer) for answer in set(answers)}
        return np.array([known[answer] == code for answer in answers])

    def _asked(self, name: str) -> Mask:
        return np.array([answer is not None for answer in self.study.answers[name]])

    def _share(self, name: str, codes: tuple[str, ...], base: str, group: tuple[str, str], weighted: bool) -> float:
        """Of those in the group whom the question is asked (or, base "answering", who do not decline)."""
        weights = self._weights(weighted) * self.asked(name)
        if base == "answering":
            weights = weights * ~self.category(name, DECLINED)
        if group[0]:
            weights = weights * self.category(*group)
        chosen = np.any([self.category(name, code) for code in codes], axis=0)
        return float(weights[chosen].sum() / weights.sum())

    def _applies(self, name: str, weighted: bool) -> float:
        """The share of people whom the question is asked."""
        return float(self._weights(weighted)[self.asked(name)].sum())

    def _mean(self, name: str, group: tuple[str, str], weighted: bool) -> float:
        weights = self._weights(weighted)
        if group[0]:
            weights = weights * self.category(*group)
        return float(weights @ np.array(self.study.answers[name], dtype=float) / weights.sum())

    def _cell(self, rows: str, row: str, columns: str, column: str) -> float:
        return float(self.responding[self.category(rows, row) & self.category(columns, column)].sum())

    def coefficients(self, query: RegressQuery, fit: Regression) -> dict[str, float]:
        """What the coefficients tend to, by their labels.

        With one predictor, the log odds of its codes. With several, a model that is only nearly true of people: the fit
        to counts as they are on average. It has the same meaning only where no codes are merged.
        """
        if len(query.on) == 1:
            (name,) = query.on
            odds = {code: self._odds(query, (name, code)) for code in (fit.references[name], *_codes(fit))}
            first = odds.pop(fit.references[name])
            return {"intercept": first, **{f"{name}:{code}": each - first for code, each in odds.items()}}
        found = self.fit(query.question, query.answer, query.on)
        same = fit.references == found.references and {*map(_label, _terms(fit))} == {*map(_label, _terms(found))}
        return {_label(term): term.estimate for term in _terms(found)} if same else {}

    def _odds(self, query: RegressQuery, group: tuple[str, str]) -> float:
        share = self.share(query.question, (query.answer,), "", group, False)
        return math.log(share / (1 - share))

    def _fit(self, question: str, answer: str, on: tuple[str, ...]) -> Regression:
        return regress(self.population.expect(MANY), RegressQuery(question=question, answer=answer, on=on)).regression


def _code(question: Question, answer: Any) -> str:
    if answer is None:
        return NOT_ASKED
    if answer == DECLINED:
        return DECLINED
    if question.asks_mean:
        return ""
    place = question.encode(answer)
    assert isinstance(place, int)
    return question.codes[place]


# --- the asks ----------------------------------------------------------------------------------------------------

EVERYBODY = ("", "")


def ask_estimates(survey: Survey, truth: Truth) -> Iterator[Number]:
    """All questions, also weighted to the margins of the study; without weights where those are refused."""
    try:
        found = estimates(survey, EstimateQuery(weights=truth.margins))
    except Withheld:
        found = estimates(survey, EstimateQuery())
    yield from _questions(found, truth)


def _questions(found: SurveyEstimates, truth: Truth) -> Iterator[Number]:
    for each in found.questions:
        yield from _question(truth, each.id, each, weighted=False)
        if each.weighted:
            yield from _question(truth, each.id, each.weighted, weighted=True)


def _question(truth: Truth, name: str, each: Any, *, weighted: bool) -> Iterator[Number]:
    kind, question = "weighted " if weighted else "", truth.questions[name]
    conditional = "conditional share" if each.applies else "share"
    for share in each.shares:
        true = truth.share(name, (share.code,), "", EVERYBODY, weighted)
        yield from _number(f"{kind}{conditional}", f"estimates {name} {share.code}", true, share)
    for share in each.among_answering or ():
        true = truth.share(name, (share.code,), "answering", EVERYBODY, weighted)
        yield from _number(f"{kind}conditional share", f"estimates {name} {share.code} answering", true, share)
    if each.applies:
        yield from _number(f"{kind}share", f"estimates {name} applies", truth.applies(name, weighted), each.applies)
    for summary in each.summaries or ():
        true = truth.share(name, tuple(summary.of), "", EVERYBODY, weighted)
        if summary.minus:
            true -= truth.share(name, tuple(summary.minus), "", EVERYBODY, weighted)
        yield from _number(f"{kind}summary", f"estimates {name} {summary.id}", true, summary)
    if each.mean is not None:
        yield from _number(
            f"{kind}mean", f"estimates {question.id} mean", truth.mean(name, EVERYBODY, weighted), each.mean
        )


def _number(kind: str, target: str, true: float, each: Any) -> Iterator[Number]:
    value = each.value if hasattr(each, "value") else each.estimate
    if value is not None:
        unbiased = getattr(each, "unbiased", None)
        yield Number(kind, target, true, value, unbiased, each.standard_error, each.low, each.high)


def ask_crosstab(survey: Survey, truth: Truth) -> Iterator[Number]:
    for rows, columns in truth.study.crossed:
        if survey.survey.epsilon is None and "." in rows:
            continue  # with an epsilon of its own, one option of several is not reported with another question
        kind = "cell with a segment" if rows in truth.study.segments else "cell"
        for cell in crosstab(survey, CrosstabQuery(rows=rows, columns=columns)).cells:
            true = truth.cell(rows, cell.row, columns, cell.column)
            yield from _number(kind, f"crosstab {rows} {cell.row} {columns} {cell.column}", true, cell)


def ask_compare(survey: Survey, truth: Truth, *, anytime: bool = False) -> Iterator[Number]:
    for name, by in truth.study.compared:
        question = survey.find(name)
        if question is None or len(survey.grouping(by).groups(by)) < 2:
            continue
        for each in compare(survey, CompareQuery(question=name, by=by, anytime=anytime)).differences:
            if each.estimate is None:
                continue
            if each.code is None:
                kind = "difference of means"
                one, two = (truth.mean(name, (by, label), False) for label in (each.first, each.second))
            else:
                kind = "difference of conditional shares" if question.show_if else "difference of shares"
                one, two = (
                    truth.share(name, (each.code,), "", (by, label), False) for label in (each.first, each.second)
                )
            target = f"compare {name} {each.code or 'mean'} {each.first} {each.second}"
            numbers = each.estimate, each.difference, each.standard_error, each.low, each.high
            yield Number(kind, target, one - two, *numbers)


def ask_anytime(surveys: Iterable[Survey], truth: Truth) -> Iterator[Number]:
    """One survey at many looks. Its intervals contain the truth at all of them if what they have in common does."""
    latest: dict[str, Number] = {}
    for survey in surveys:
        found = estimates(survey, EstimateQuery(anytime=True))
        for number in (*_questions(found, truth), *ask_compare(survey, truth, anytime=True)):
            before = latest.get(number.target, number)
            low, high = max(number.low, before.low), min(number.high, before.high)
            latest[number.target] = number._replace(kind=f"anytime {number.kind}", low=low, high=high)
    yield from latest.values()


def ask_regress(survey: Survey, truth: Truth) -> Iterator[Number]:
    for name, answer, on in truth.study.regressed:
        questions = [each for each in on if each not in truth.study.segments]
        if questions and survey.survey.epsilon is None:
            continue  # a question explains another one only if both are reported together
        query = RegressQuery(question=name, answer=answer, on=tuple(on))
        try:
            fit = regress(survey, query).regression
        except (BadQuery, Withheld):  # fewer than two groups
            continue
        true = truth.coefficients(query, fit) if fit.intercept else {}
        kind = "log odds ratio by a question" if questions else f"log odds ratio by {SEGMENTS[len(on)]}"
        for term in _terms(fit):
            if (label := _label(term)) in true:
                low = -math.inf if term.low is None else term.low
                high = math.inf if term.high is None else term.high
                target = f"regress {name} {answer} {'+'.join(on)} {label} against {' '.join(fit.references.values())}"
                yield Number(kind, target, true[label], term.estimate, None, term.standard_error, low, high)


SEGMENTS = {1: "a segment", 2: "two segments"}


def _terms(fit: Regression) -> list[Term]:
    return [] if fit.intercept is None else [fit.intercept, *fit.coefficients]


def _codes(fit: Regression) -> list[str]:
    return [str(term.code) for term in fit.coefficients]


def _label(term: Term) -> str:
    return "intercept" if term.predictor is None else f"{term.predictor}:{term.code}"


ASKS: dict[str, Callable[[Survey, Truth], Iterable[Number]]] = {
    "estimates": ask_estimates,
    "crosstab": ask_crosstab,
    "compare": ask_compare,
    "regress": ask_regress,
}
