"""What tables and charts call their variables: segments, questions, and single options of a multi_choice."""

from __future__ import annotations

from deniable_protocol import Option, Question, Survey
from deniable_server.wording import answer_texts, group_texts


def titles(survey: Survey) -> dict[str, str]:
    """What each is called in full; options by ``question.code``."""
    named = {each.id: each.text for each in (*survey.segments, *survey.questions)}
    options = {f"{q.id}.{o.code}": f"{q.text} · {o.text}" for q in survey.questions for o in _options(q)}
    return named | options


def texts(survey: Survey) -> dict[str, dict[str, str]]:
    """What the answers to each say, by their codes; an option is a yes or no of its own."""
    segments = {segment.id: group_texts(segment) for segment in survey.segments}
    return segments | question_texts(survey)


def question_texts(survey: Survey) -> dict[str, dict[str, str]]:
    """The same without segments."""
    options = {f"{q.id}.{o.code}": {"yes": "Yes", "no": "No"} for q in survey.questions for o in _options(q)}
    return {question.id: answer_texts(question) for question in survey.questions} | options


def crossable(survey: Survey) -> list[str]:
    """What can be the rows or columns of a cross-tab."""
    found = [segment.id for segment in survey.segments]
    for question in survey.questions:
        if not question.asks_mean:
            found += [question.id, *(f"{question.id}.{option.code}" for option in _options(question))]
    return found


def _options(question: Question) -> tuple[Option, ...]:
    return question.options if question.type == "multi_choice" else ()
