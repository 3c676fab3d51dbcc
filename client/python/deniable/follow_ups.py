"""Follow-ups: which questions of a booklet are shown, given the answers so far.

May not: keep an answer, or say anything about one. Randomising decides by itself what is shown; this is for apps that
ask one question after the other.
"""

from __future__ import annotations

from collections.abc import Mapping

from deniable_protocol import Document, Problem, Question


def shown_questions(document: Document, booklet: int, answers: Mapping[str, object]) -> tuple[Question, ...]:
    """The booklet's questions that are shown with these answers, in the survey's order.

    A question that has no answer yet, or one that does not fit, leaves its follow-ups hidden.
    """
    whole = {question.id: question for question in document.survey.questions}
    given: dict[str, set[str]] = {}
    shown = []
    for question in document.asked(booklet):
        condition = question.show_if
        # Hidden questions are not in ``given``, so that what follows from them is hidden as well.
        if condition is None or given.get(condition.question, set()) & {*condition.codes}:
            shown.append(question)
            # An app that knows all answers may name options that this booklet does not have.
            given[question.id] = _given(whole[question.id], answers)
    return tuple(shown)


def _given(question: Question, answers: Mapping[str, object]) -> set[str]:
    """The codes that the answer to a question names; none where there is no answer, or not one of its codes."""
    truth = question.encode(answers[question.id]) if question.id in answers else None
    if truth is None or isinstance(truth, Problem | float):
        return set()
    if isinstance(truth, int):
        return {question.codes[truth]}
    return {code for code, bit in zip(question.codes, truth, strict=True) if bit}
