"""The plan of a survey: a survey and what is wanted in, result objects out.

Everything is computed from the document that the survey would be published as. May not: read or write anything, or know
of storage or HTTP. Every claim about epsilon is rounded up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Literal

import msgspec

from deniable_protocol import Document, Question, Survey, verify
from deniable_protocol.checks import decimal_text
from deniable_server.wording import account_in_words, in_decimals

from .design import design_booklets, publish_survey
from .precision import Known, precision
from .price import TextbookPrice, textbook_price
from .sample_size import Variance, Wanted, margin_of, respondents_for_margin, respondents_per_group, smallest_difference
from .shuffling import Shuffled, shuffle
from .textbook import Alternative, Other, other_designs, question_alternatives, survey_alternatives
from .warnings import warn
from .waves import Waves, repeat
from .words import describe, epsilon_text

LEAST_EPSILON, LARGEST_EPSILON = Fraction(1, 100), Fraction(10)
"""What a survey may ask for."""
EPSILONS = (1, 2, 4)
RESPONDENTS = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)


class Range(msgspec.Struct, frozen=True):
    """Of a mean: from the least to the greatest possible value, in the question's own unit."""

    low: float
    high: float
    unit: str | None

    @property
    def length(self) -> float:
        return self.high - self.low


class Given(msgspec.Struct, frozen=True):
    """What a given number of respondents can show, in the same parts of 1 as is wanted.

    ``difference`` is the least that a test between two halves of them finds; None where none that is possible is found.
    ``among``: of a follow-up, the margin of its shares among those to whom it applies, if these are the planned share
    of everybody. ``margin`` is that of its shares of everybody.
    """

    respondents: int
    margin: float
    difference: float | None
    among: float | None = None

    @property
    def shown(self) -> float:
        """The margin of the shares that results show."""
        return self.margin if self.among is None else self.among


class QuestionPlan(msgspec.Struct, frozen=True):
    """One question: who is asked it, and the respondents for the margin and for the difference between groups.

    ``epsilon`` where it has one of its own. ``asked``: the part of respondents who are asked it, or some of its
    options. ``range`` where a mean is asked for: margins and differences are parts of it. ``alternatives``: designs
    that ask it of everybody.
    """

    id: str
    type: str
    text: str
    epsilon: str | None
    asked: float
    range: Range | None
    respondents: int
    per_group: int
    given: Given | None
    alternatives: list[Alternative]


class TablePlan(msgspec.Struct, frozen=True):
    """A cross-tab: the respondents for the margin of its cells, and the margin that a given number has."""

    questions: list[str]
    respondents: int
    margin: float | None


class BookletPlan(msgspec.Struct, frozen=True):
    """What one device is asked, part by part, and how likely it is to draw this."""

    probability: float
    weight: int
    parts: list[list[str]]


class AtEpsilon(msgspec.Struct, frozen=True):
    """The same survey at another epsilon: the respondents for the margin that is wanted, and the margins of others."""

    epsilon: str
    respondents: int
    margins: list[float]


class SurveyPlan(msgspec.Struct, frozen=True):
    """A plan, and what was wanted.

    ``in_words`` is the result in a few sentences, ``epsilon_in_words`` what epsilon and delta mean for one person.
    ``respondents`` and ``per_group`` are enough for every question and cross-tab. ``fewest``: no other choice of
    booklets needs fewer than that, where it is known. ``sizes`` are the respondents of the margins at each epsilon.
    ``prices``: of each question that asks for a price, what the textbook's answer would lose, with a trusted curator.
    ``shuffled``: epsilon towards someone who sees the submissions shuffled; None if a question has a delta.
    """

    survey: str
    title: str
    design: Literal["booklets", "textbook"]
    in_words: list[str]
    warnings: list[str]
    wanted: Wanted
    epsilon: str
    delta: str
    epsilon_in_words: str
    respondents: int
    fewest: int | None
    per_group: int
    questions: list[QuestionPlan]
    tables: list[TablePlan]
    booklets: list[BookletPlan]
    sizes: list[int]
    by_epsilon: list[AtEpsilon]
    alternatives: list[Alternative]
    waves: list[Waves]
    shuffled: Shuffled | None
    prices: list[TextbookPrice] = []


def plan_survey(survey: Survey, wanted: Wanted | None = None) -> SurveyPlan:
    """How many respondents a survey needs, what protection costs it, and what it spends."""
    wanted = wanted or Wanted()
    if wanted.respondents is None and survey.respondents is not None:
        wanted = msgspec.structs.replace(wanted, respondents=max(survey.respondents, 2))
    document = verify(publish_survey(survey))
    known = precision(document)
    others = [other_designs(question, _own_epsilon(survey, question), wanted) for question in survey.questions]
    questions = [_question(document, known, other, wanted) for other in others]
    tables = plan_tables(known, wanted)
    needed = max(*(question.respondents for question in questions), *(table.respondents for table in tables), 1)
    plan = SurveyPlan(
        survey=survey.id,
        title=survey.title,
        design="textbook" if survey.epsilon is None else "booklets",
        in_words=[],
        warnings=[],
        wanted=wanted,
        epsilon=survey.total_epsilon,
        delta=in_decimals(document.account.delta),
        epsilon_in_words=account_in_words(document.account),
        respondents=needed,
        fewest=None if survey.epsilon is None else design_booklets(survey).fewest,
        per_group=max(question.per_group for question in questions),
        questions=questions,
        tables=tables,
        booklets=_booklets(document),
        sizes=[*RESPONDENTS],
        by_epsilon=[_at(survey, epsilon, wanted) for epsilon in _epsilons(survey)],
        alternatives=[*_in_booklets(survey, needed, wanted), *survey_alternatives(survey, others, needed, wanted)],
        waves=repeat(document, known, needed, wanted),
        shuffled=shuffle(document, wanted.respondents or needed, wanted.delta),
        prices=[
            found
            for question in survey.questions
            if (found := textbook_price(question, survey.exact_epsilon, wanted.respondents or needed)) is not None
        ],
    )
    return msgspec.structs.replace(plan, in_words=describe(plan), warnings=warn(plan, document))


def _own_epsilon(survey: Survey, question: Question) -> Fraction:
    """The question's own, or its part if the survey's were split."""
    return survey.exact_epsilon / len(survey.questions) if question.epsilon is None else Fraction(question.epsilon)


def _question(document: Document, known: Sequence[Known], other: Other, wanted: Wanted) -> QuestionPlan:
    """The plan of one question; of several options, that of the one that is known worst."""
    question, asked = other.question, wanted.of_question(other.question)
    worst = worst_variance(known, question, asked)
    needed = respondents_for_margin(worst, asked)
    given = None
    if (n := wanted.respondents) is not None:
        difference = smallest_difference(worst, n, asked)
        given = Given(n, margin_of(worst, n, asked), difference, margin_among(known, question, n, wanted))
    return QuestionPlan(
        id=question.id,
        type=question.type,
        text=question.text,
        epsilon=question.epsilon,
        asked=asked_part(document, question),
        range=range_of(question),
        respondents=needed,
        per_group=respondents_per_group(worst, asked),
        given=given,
        alternatives=question_alternatives(other, needed, wanted),
    )


def worst_variance(known: Sequence[Known], question: Question, asked: Wanted) -> Variance:
    """Of several options, that of the one that is known worst."""
    variances = [each.variance for each in known if len(each.items) == 1 and each.items[0].question.id == question.id]
    return max(variances, key=lambda variance: variance(asked.share))


def margin_among(known: Sequence[Known], question: Question, respondents: int, wanted: Wanted) -> float | None:
    """Of a follow-up, the margin of its shares among those to whom it applies; None where that is everybody."""
    found = [each.among for each in known if each.among and each.items[0].question.id == question.id]
    return max((margin_of(variance, respondents, wanted) for variance in found), default=None)


def range_of(question: Question) -> Range | None:
    return Range(*question.range, question.unit) if question.asks_mean else None


def asked_part(document: Document, question: Question) -> float:
    """The part of respondents who are asked a question, or some of its options."""
    weights = [booklet.weight for booklet in document.booklets]
    about = {number for number, _ in document.parts_about(question.id)}
    asking = [booklet.weight for booklet in document.booklets if about.intersection(booklet.parts)]
    return sum(asking) / sum(weights)


def plan_tables(known: Sequence[Known], wanted: Wanted) -> list[TablePlan]:
    """The cross-tabs; those of several options of a multi_choice as one, by the option that is known worst."""
    by_question: dict[tuple[str, ...], list[Known]] = {}
    for each in known:
        if len(each.items) > 1:
            by_question.setdefault(tuple(item.question.id for item in each.items), []).append(each)
    found = []
    for ids, tables in by_question.items():
        asked = wanted.of_cells(len(ids))
        worst = max(tables, key=lambda table: table.variance(asked.share)).variance
        margin = None if wanted.respondents is None else margin_of(worst, wanted.respondents, asked)
        names = [item.name for item in tables[0].items] if len(tables) == 1 else [*ids]
        found.append(TablePlan(names, respondents_for_margin(worst, asked), margin))
    return found


def _booklets(document: Document) -> list[BookletPlan]:
    """The most likely first."""
    total = sum(booklet.weight for booklet in document.booklets)
    found = [
        BookletPlan(booklet.weight / total, booklet.weight, [[*part.names] for part in document.parts_of(number)])
        for number, booklet in enumerate(document.booklets)
    ]
    return sorted(found, key=lambda booklet: -booklet.weight)


# --- at other epsilons -------------------------------------------------------------------------------------------


def _epsilons(survey: Survey) -> list[Fraction]:
    return sorted({*map(Fraction, EPSILONS), survey.exact_epsilon})


def _at(survey: Survey, epsilon: Fraction, wanted: Wanted) -> AtEpsilon:
    """What the survey needs with another epsilon."""
    known = precision(verify(publish_survey(with_epsilon(survey, epsilon))))
    each = [(one.variance, one.wanted(wanted), len(one.items)) for one in known]
    return AtEpsilon(
        epsilon_text(epsilon),
        max(respondents_for_margin(variance, asked) for variance, asked, _ in each),
        [max(margin_of(v, size, asked) for v, asked, count in each if count == 1) for size in RESPONDENTS],
    )


def with_epsilon(survey: Survey, epsilon: Fraction) -> Survey:
    """With this epsilon for everything that one person sends, divided as the survey divides its own."""
    if survey.epsilon is not None:
        return msgspec.structs.replace(survey, epsilon=_stated(epsilon))
    factor = epsilon / survey.exact_epsilon
    questions = (_scaled(question, Fraction(str(question.epsilon)) * factor) for question in survey.questions)
    return msgspec.structs.replace(survey, questions=tuple(questions))


def _scaled(question: Question, epsilon: Fraction) -> Question:
    return msgspec.structs.replace(question, epsilon=_stated(min(max(epsilon, LEAST_EPSILON), LARGEST_EPSILON)))


def _stated(epsilon: Fraction) -> str:
    """As a survey states it: rounded down to four decimals."""
    return decimal_text(math.floor(epsilon * 10_000) / Decimal(10_000))


def in_booklets(survey: Survey) -> Survey | None:
    """The survey with one epsilon for everything instead of one for each question; None where that is none to state."""
    if survey.epsilon is not None or survey.exact_epsilon > LARGEST_EPSILON:
        return None
    questions = tuple(msgspec.structs.replace(question, epsilon=None) for question in survey.questions)
    return msgspec.structs.replace(survey, epsilon=_stated(survey.exact_epsilon), questions=questions)


def _in_booklets(survey: Survey, ours: int, wanted: Wanted) -> list[Alternative]:
    """If everybody is asked everything: what booklets would take, at the same epsilon for all that one person sends."""
    if (other := in_booklets(survey)) is None:
        return []
    needed = _at(other, survey.exact_epsilon, wanted).respondents
    return [Alternative("booklets", needed, needed / ours)]
