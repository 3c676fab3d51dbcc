"""Random surveys with one epsilon whose submissions can all be listed: few answers, small channels, small weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import comb, prod
from typing import Any

from hypothesis import reject
from hypothesis import strategies as st

from deniable_protocol import (
    Document,
    Item,
    MultiChoice,
    Part,
    Question,
    Survey,
    TooManyPaths,
    items_of,
    needs,
    paths_of,
    survey_from_tree,
    verify,
)
from tests.helpers.surveys import with_epsilons

KINDS: list[dict[str, Any]] = [
    {"type": "yes_no"},
    {"type": "yes_no", "decline": True},
    {"type": "choice", "options": [{"code": code, "text": code} for code in "abc"]},
    {"type": "choice", "options": [{"code": code, "text": code} for code in "ab"], "decline": True},
    {"type": "multi_choice", "options": [{"code": code, "text": code} for code in ("x", "y.z")]},
    {"type": "multi_choice", "options": [{"code": code, "text": code} for code in "uvw"]},
    {"type": "scale", "labels": ["low", "mid", "high"]},
    {"type": "scale", "labels": ["low", "mid", "high"], "measure": "mean"},
    {"type": "number", "min": 0, "max": 10, "measure": "shares", "bins": [4]},
    {"type": "number", "min": 0, "max": 10},
    {"type": "choice", "options": [{"code": code, "text": code} for code in "abc"], "mechanism": "krr"},
]
MOST_RUNS = 12_000
"""Submissions that are drawn for one document, over all answers and all draws."""


def answers_of(question: Question) -> list[Any]:
    """Every answer to a question; of a number whose mean is asked both ends."""
    if isinstance(question, MultiChoice):
        return [[code for code, on in zip(question.codes, bits, strict=True) if on] for bits in _bits(question)]
    if question.type == "number" and question.asks_mean:
        return [*question.range]
    return [answer for _, answer in question.panel(2)]


def _bits(question: Question) -> product[tuple[int, ...]]:
    return product((0, 1), repeat=len(question.codes))


def all_answers(survey: Survey) -> list[dict[str, Any]]:
    """Every complete set of answers, to questions that are not shown as well."""
    names = [question.id for question in survey.questions]
    return [dict(zip(names, each, strict=True)) for each in product(*map(answers_of, survey.questions))]


def shown(survey: Survey, answers: Mapping[str, Any]) -> dict[str, Any]:
    """The answers to the questions that are shown, straight from the survey's words."""
    found: dict[str, Any] = {}
    for question in survey.questions:
        condition = question.show_if
        if condition is None or any(has_answer(survey, found, condition.question, code) for code in condition.codes):
            found[question.id] = answers[question.id]
    return found


def has_answer(survey: Survey, answers: Mapping[str, Any], name: str, code: str) -> bool:
    """Whether the answer to a question is, or among several choices has, this code."""
    if name not in answers:
        return False
    question = next(each for each in survey.questions if each.id == name)
    answer = answers[name]
    if isinstance(question, MultiChoice):
        return code in answer
    return dict(question.panel(2))[code] == answer and isinstance(answer, bool) == isinstance(
        dict(question.panel(2))[code], bool
    )


@st.composite
def small_documents(draw: st.DrawFn) -> Document:
    """A random survey with follow-ups, in random parts of several items, and booklets of one part or several."""
    questions: list[dict[str, Any]] = []
    for number in range(draw(st.integers(2, 4))):
        questions.append({"id": f"q{number}", "text": "?", **draw(st.sampled_from(KINDS))})
        _add_condition(draw, questions)
    tree = {"id": "small", "title": "Small", "epsilon": draw(st.sampled_from(["0.3", "1.0", "2.0"]))}
    survey = survey_from_tree({**tree, "questions": questions})
    parts = _parts(draw, survey)
    booklets = _booklets(draw, parts, Fraction(tree["epsilon"]))
    verified = verify(with_epsilons(survey, parts, booklets))
    runs = sum(
        booklet.weight * prod(_reports(part) for part in verified.parts_of(number))
        for number, booklet in enumerate(verified.booklets)
    )
    if runs * len(all_answers(survey)) > MOST_RUNS:
        reject()
    return verified


def example_document() -> Document:
    """One of everything: a chain, a follow-up to an option, options apart, booklets of several parts."""
    questions = [
        {"id": "q0", "text": "?", "type": "yes_no", "decline": True},
        {"id": "q1", "text": "?", **KINDS[4], "show_if": {"q0": ["yes", "declined"]}},
        {"id": "q2", "text": "?", "type": "yes_no", "show_if": {"q1": ["y.z"]}},
        {"id": "q3", "text": "?", **KINDS[7]},
    ]
    tree = {"id": "small", "title": "Small", "epsilon": "0.3"}
    survey = survey_from_tree({**tree, "questions": questions})
    parts = [(["q0", "q1.y.z", "q2"], None, "0.1"), (["q0", "q1.x"], None, "0.3"), (["q3"], None, "0.2")]
    return verify(with_epsilons(survey, parts, [([2, 0], 2), ([1], 1)]))


def _add_condition(draw: st.DrawFn, questions: list[dict[str, Any]]) -> None:
    """Perhaps makes the last question depend on one before it."""
    known = [_asked(question) for question in questions]
    parents = [each for each in known[:-1] if each.has_answers]
    if parents and known[-1].has_answers and draw(st.integers(0, 2)):
        parent = draw(st.sampled_from(parents))
        codes = draw(st.lists(st.sampled_from(parent.codes), min_size=1, max_size=2, unique=True))
        questions[-1]["show_if"] = {parent.id: codes}


def _asked(tree: dict[str, Any]) -> Question:
    alone = {key: value for key, value in tree.items() if key != "show_if"}
    return survey_from_tree({"id": "small", "title": "S", "epsilon": 1, "questions": [alone]}).questions[0]


def _parts(draw: st.DrawFn, survey: Survey) -> list[tuple[list[str], int | None, str]]:
    """Every item in a part at least, alone or with others, at the survey's epsilon or at a part of it."""
    items = items_of(survey)
    made = []
    for item in items:
        wanted = [item, *draw(st.lists(st.sampled_from(items), max_size=2))]
        closed = _closed(survey, wanted)
        made.append(closed if _fits(closed) else _closed(survey, [item]))
    total = Fraction(str(survey.epsilon))
    parts = []
    for closed in made:
        epsilon = total / draw(st.sampled_from([1, 2, 2, 3]))
        text = str(float(epsilon)) if (epsilon * 10_000).denominator == 1 else str(survey.epsilon)
        parts.append(([item.name for item in closed], draw(st.sampled_from([None, 1])), text))
    return parts


def _closed(survey: Survey, wanted: Sequence[Item]) -> list[Item]:
    """These items and those that they depend on; the first alone where it cannot be reported with others."""
    if not all(item.can_join for item in wanted):
        wanted = wanted[:1]
    names = {each.name for item in wanted for each in (item, *needs(survey, item))}
    return [item for item in items_of(survey) if item.name in names]


def _fits(items: Sequence[Item]) -> bool:
    try:
        return len(items) == 1 or len(paths_of(items)) <= 12
    except TooManyPaths:
        return False


def _reports(part: Part) -> int:
    channel = part.channel
    return comb(channel.answers, channel.held) if channel.held else channel.largest_report + 1


def _booklets(
    draw: st.DrawFn, parts: Sequence[tuple[list[str], int | None, str]], epsilon: Fraction
) -> list[tuple[list[int], int]]:
    """Every part in a booklet; further ones join it where they share nothing and epsilon is enough."""
    booklets = []
    left = draw(st.permutations(range(len(parts))))
    while left:
        booklet, left = [left[0]], left[1:]
        for number in [*left]:
            together = [parts[each] for each in (*booklet, number)]
            names = [name for part, _, _ in together for name in part]
            spent = sum((Fraction(text) for _, _, text in together), Fraction(0))
            if len({*names}) == len(names) and spent <= epsilon and draw(st.integers(0, 2)):
                booklet.append(number)
                left = [each for each in left if each != number]
        booklets.append((booklet, draw(st.integers(1, 3))))
    return booklets
