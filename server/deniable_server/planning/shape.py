"""The shape of a survey: all that a plan depends on, with numbers in place of texts, ids and codes.

Two surveys with the same shape have the same booklets and margins. So a plan that is kept by its shape is still there
after somebody changed a text.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import msgspec

from deniable_protocol import Document, Option, Question, ShowIf, Survey, items_of, verify

from .design import publish_survey
from .precision import Known, precision
from .tables import tables_of


def shape_of(survey: Survey) -> Survey:
    """A survey that is planned in the same way, whatever this one's texts are."""
    ids = {question.id: f"q{place}" for place, question in enumerate(survey.questions)}
    codes = {question.id: _numbered(question) for question in survey.questions}

    def renamed(name: str) -> str:
        question, _, code = name.partition(".")
        return f"{ids[question]}.{codes[question][code]}" if code else ids[question]

    def shaped(question: Question) -> Question:
        fields: dict[str, Any] = {"id": ids[question.id], "text": "?"}
        if question.options:
            fields["options"] = tuple(Option(code, "?") for code in codes[question.id].values())
        if question.labels:
            fields["labels"] = ("?",) * len(question.labels)
        if question.unit is not None:
            fields["unit"] = None
        if (condition := question.show_if) is not None:
            known = codes[condition.question]
            chosen = tuple(known.get(code, code) for code in condition.codes)
            fields["show_if"] = ShowIf(ids[condition.question], chosen)
        return msgspec.structs.replace(question, **fields)

    return Survey(
        id="shape",
        title="?",
        epsilon=survey.epsilon,
        together=tuple(tuple(map(renamed, names)) for names in survey.together),
        questions=tuple(map(shaped, survey.questions)),
    )


def _numbered(question: Question) -> dict[str, str]:
    """The codes of options, which are made from their texts. Those of other answers are what they are."""
    return {option.code: f"c{place}" for place, option in enumerate(question.options)}


def size_of(survey: Survey) -> int:
    """How many shares, means and cross-tabs are planned: what the time for a plan depends on."""
    return len(items_of(survey)) + len(tables_of(survey))


class Planned(msgspec.Struct, frozen=True):
    """A shape as it would be published, and how precisely it knows everything."""

    document: Document
    known: list[Known]


@lru_cache(maxsize=64)  # a few changes back and forth, each with what would help
def planned(shape: Survey) -> Planned:
    document = verify(publish_survey(shape))
    return Planned(document, precision(document))
