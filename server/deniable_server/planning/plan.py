"""The plan of a survey: a survey and what is wanted in, result objects out.

May not: read or write anything, or know of storage or HTTP. Every claim about epsilon is rounded up.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import msgspec

from deniable_protocol import (
    Question,
    Survey,
    advanced_composition,
    design,
    shuffled,
)
from deniable_protocol.questions import plain
from deniable_server.wording import channel_in_words, question_in_words

from .composition import compose_waves
from .sample_size import Wanted, margin_of, respondents_for_margin, respondents_per_group, smallest_difference
from .textbook import Alternative, added_noise, alternatives, laplace_noise
from .variances import designed_variance

LARGEST_EPSILON = Fraction(10)
"""What a survey may ask for at most."""
MOST_ROWS = 8


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
    """

    respondents: int
    margin: float
    difference: float | None


class Shuffled(msgspec.Struct, frozen=True):
    """Epsilon towards someone who sees this question's reports shuffled; None where the bound does not apply."""

    respondents: int
    epsilon: float | None


class QuestionPlan(msgspec.Struct, frozen=True):
    """One question: what its epsilon means, and the respondents for the margin and for the difference between groups.

    ``range`` where a mean is asked for: margins and differences are parts of it.
    """

    id: str
    type: str
    text: str
    epsilon: str
    delta: str | None
    in_words: str
    channel: str
    range: Range | None
    respondents: int
    per_group: int
    given: Given | None
    alternatives: list[Alternative]
    shuffled: Shuffled


class Few(msgspec.Struct, frozen=True):
    """Asking each respondent some of the questions only, at a larger epsilon each.

    Nobody's total exceeds the survey's. ``surveys``: how many to publish so that each question is in as many as any
    other. ``capped`` lists the questions that could have had more than the survey format allows.
    """

    asked: int
    least_epsilon: str
    largest_epsilon: str
    capped: list[str]
    surveys: int
    respondents: int


class Waves(msgspec.Struct, frozen=True):
    """What one respondent spends over so many waves, by three bounds.

    The last two are valid but for ``delta``, which includes the deltas of the survey's own questions, where they have
    any; the first, the sum, but for those.
    """

    waves: int
    basic: str
    advanced: str
    exact: str
    delta: float


class SurveyPlan(msgspec.Struct, frozen=True):
    """A plan, and what was wanted.

    ``respondents`` and ``per_group`` are enough for every question. ``most_demanding`` is the question that needs most.
    ``few``, empty for a single question, is in rising order of questions asked; the last asks them all, ``best_few``
    is the one that needs the fewest respondents.
    """

    survey: str
    title: str
    wanted: Wanted
    epsilon: str
    respondents: int
    per_group: int
    most_demanding: str
    questions: list[QuestionPlan]
    few: list[Few]
    best_few: int | None
    waves: list[Waves]


def plan_survey(survey: Survey, wanted: Wanted | None = None) -> SurveyPlan:
    """How many respondents a survey needs, what protection costs it, and what it spends."""
    wanted = wanted or Wanted()
    questions = [plan_question(question, wanted) for question in survey.questions]
    few = ask_few(survey, wanted)
    hardest = max(questions, key=lambda question: question.respondents)
    return SurveyPlan(
        survey=survey.id,
        title=survey.title,
        wanted=wanted,
        epsilon=survey.epsilon,
        respondents=hardest.respondents,
        per_group=max(question.per_group for question in questions),
        most_demanding=hardest.id,
        questions=questions,
        few=few,
        # Of equals the one that asks the most questions: it takes fewer surveys and raises no epsilon.
        best_few=min(few, key=lambda row: (row.respondents, -row.asked)).asked if few else None,
        waves=repeat(survey, wanted),
    )


def plan_question(question: Question, wanted: Wanted) -> QuestionPlan:
    """The plan of one question at its epsilon."""
    variance = designed_variance(question)
    needed = respondents_for_margin(variance, wanted)
    given = None
    if wanted.respondents is not None:
        given = Given(
            wanted.respondents,
            margin_of(variance, wanted.respondents, wanted),
            smallest_difference(variance, wanted.respondents, wanted),
        )
    return QuestionPlan(
        id=question.id,
        type=question.type,
        text=question.text,
        epsilon=question.epsilon,
        delta=question.delta,
        in_words=question_in_words(question),
        channel=channel_in_words(question, design(question)),
        range=_range(question),
        respondents=needed,
        per_group=respondents_per_group(variance, wanted),
        given=given,
        alternatives=alternatives(question, needed, wanted),
        shuffled=_shuffle(question, wanted.respondents or needed, wanted.delta),
    )


def _range(question: Question) -> Range | None:
    return Range(*question.range, question.unit) if question.asks_mean else None


def _shuffle(question: Question, respondents: int, delta: float) -> Shuffled:
    # The bound is for reports that keep epsilon without a delta.
    if question.exact_delta is not None:
        return Shuffled(respondents, None)
    return Shuffled(respondents, shuffled(question.exact_epsilon, respondents, delta))


# --- all questions, or a random few ------------------------------------------------------------------------------


def ask_few(survey: Survey, wanted: Wanted) -> list[Few]:
    """Respondents needed if each is asked only some of the questions, with the survey's epsilon for those alone."""
    count = len(survey.questions)
    return [_few(survey, asked, wanted) for asked in _counts(count)] if count > 1 else []


def _few(survey: Survey, asked: int, wanted: Wanted) -> Few:
    """All epsilons times the factor at which the most expensive choice of questions spends what the survey does.

    With equal epsilons that is K/m for m of K questions. Each question hears of m/K of the respondents, so that K/m
    times as many are needed.
    """
    count = len(survey.questions)
    largest = sorted((question.exact_epsilon for question in survey.questions), reverse=True)[:asked]
    factor = survey.exact_epsilon / sum(largest)
    raised = {question.id: _four_decimals(question.exact_epsilon * factor) for question in survey.questions}
    epsilons = {name: min(epsilon, LARGEST_EPSILON) for name, epsilon in raised.items()}
    needed = _most_needed([_with_epsilon(question, epsilons[question.id]) for question in survey.questions], wanted)
    return Few(
        asked=asked,
        least_epsilon=_text(min(epsilons.values())),
        largest_epsilon=_text(max(epsilons.values())),
        capped=[name for name in raised if raised[name] > LARGEST_EPSILON],
        # The questions in a circle, and m neighbours from every gcd(K, m)th: each question is in equally many.
        surveys=count // math.gcd(count, asked),
        respondents=-(-needed * count // asked),
    )


def _most_needed(questions: list[Question], wanted: Wanted) -> int:
    """The respondents that are enough for all of these.

    Designing a band takes a tenth of a second. None needs more than Laplace noise would, so those for which even that
    is less than what others need are left out.
    """
    needed = 0
    for question in sorted(questions, key=lambda question: (question.asks_mean, question.exact_epsilon)):
        banded = question.asks_mean and question.mechanism is None
        if banded and respondents_for_margin(added_noise(question, laplace_noise(question)), wanted) <= needed:
            continue
        needed = max(needed, respondents_for_margin(designed_variance(question), wanted))
    return needed


def _counts(count: int) -> list[int]:
    """1 to K, or a few of them that are spread evenly by ratio."""
    if count <= MOST_ROWS:
        return [*range(1, count + 1)]
    return sorted({round(count ** (i / (MOST_ROWS - 1))) for i in range(MOST_ROWS)})


def _four_decimals(epsilon: Fraction) -> Fraction:
    return Fraction(math.floor(epsilon * 10_000), 10_000)


def _text(epsilon: Fraction) -> str:
    return plain(int(epsilon * 10_000) / Decimal(10_000))


def _with_epsilon(question: Question, epsilon: Fraction) -> Question:
    return msgspec.structs.replace(question, epsilon=_text(epsilon))


# --- repeated waves ----------------------------------------------------------------------------------------------


def repeat(survey: Survey, wanted: Wanted) -> list[Waves]:
    """What one respondent spends over 1, 2, 4, 8 ... waves of the survey, up to what is wanted."""
    epsilons = [question.exact_epsilon for question in survey.questions]
    # A question that keeps epsilon only but for a delta adds that delta in every wave.
    lost = sum((question.exact_delta or Fraction(0) for question in survey.questions), Fraction(0))
    waves = [*(2**i for i in range(wanted.waves.bit_length()) if 2**i < wanted.waves), wanted.waves]
    exact = compose_waves(epsilons, waves, wanted.delta)
    return [
        Waves(
            waves=times,
            basic=_text(survey.exact_epsilon * times),
            advanced=_text(_advanced(survey, times, wanted.delta)),
            exact=plain(together),
            delta=wanted.delta + float(lost * times),
        )
        for times, together in zip(waves, exact, strict=True)
    ]


def _advanced(survey: Survey, waves: int, delta: float) -> Fraction:
    """By the wave, or by the answer as if each had the largest epsilon, or the plain sum: whichever says least."""
    total = survey.exact_epsilon
    largest = max(question.exact_epsilon for question in survey.questions)
    bounds = [advanced_composition(largest, len(survey.questions) * waves, delta)]
    if total < 1:  # from ln 2 on, the term e(e^e - 1) alone is above the sum
        bounds.append(advanced_composition(total, waves, delta))
    return min(Fraction(math.ceil(min(bounds) * 10_000), 10_000), total * waves)
