"""The answers that an audit gives: sets of answers to all questions, which lead every part along each of its paths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any

import numpy as np

from deniable_protocol import Document, Item, MultiChoice, Part, Question, Survey

from .tallies import BookletTally, Integers, ReportTally, SubsetTally, Tally

FEWEST = 1_000
MOST_VALUES = 9
"""Of a number's levels, so many are tried at most, from end to end: each of more would have too few reports to show
what it reveals."""
Answers = dict[str, Any]


def first_segments(survey: Survey) -> dict[str, str]:
    """Some code for every segment: they are sent as they are, so any will do."""
    return {segment.id: segment.options[0].code for segment in survey.segments}


def answer_names(part: Part) -> list[str]:
    """What a part's channel tells apart: its paths, or where it has none the answers of its question's panel."""
    if not part.paths:
        return [name for name, _ in _panel(part)]
    return [" · ".join(_codes(part, path)) for path in part.paths]


def _codes(part: Part, path: tuple[int | None, ...]) -> list[str]:
    return [item.codes[place] for item, place in zip(part.items, path, strict=True) if place is not None]


def _panel(part: Part) -> list[tuple[str, Any]]:
    return part.items[0].question.panel(len(_tried(part)))


def _tried(part: Part) -> range:
    """The answers of a channel that are tried: all, or of a number's levels some at equal steps."""
    answers, question = part.channel.answers, part.items[0].question
    steps = answers - 1
    if question.codes:
        return range(answers)
    return range(
        0, answers, next(step for step in range(1, answers) if steps % step == 0 and steps / step < MOST_VALUES)
    )


@dataclass(frozen=True)
class Panel:
    """Sets of answers to all questions of a survey. Which comes when is no secret: only the reports are random."""

    document: Document

    @cached_property
    def sets(self) -> list[Answers]:
        """For every path of every part one set of answers, the rest of it anything; and again until they are many."""
        wanted = [(part, place) for part in self.document.parts for place in range(len(answer_names(part)))]
        rest = Random("answers of an audit")  # noqa: S311 -- not the randomness that protects
        turns = max(4, -(-FEWEST // len(wanted)))
        return [self._with(part, place, rest) for _ in range(turns) for part, place in wanted]

    def _with(self, part: Part, place: int, rest: Random) -> Answers:
        answers = {question.id: self._any(question, rest) for question in self.document.survey.questions}
        if not part.paths:
            answers[part.items[0].question.id] = _panel(part)[place][1]
            return answers
        for item, code in zip(part.items, part.paths[place], strict=True):
            if code is not None:
                answers[item.question.id] = _answer(item, code, answers[item.question.id])
        return answers

    def _any(self, question: Question, rest: Random) -> Any:
        number, place = self.document.parts_about(question.id)[0]
        part = self.document.parts[number]
        if part.items[place].option is not None:
            return [code for code in question.codes if rest.random() < 0.5]
        return rest.choice(question.panel(len(_tried(part))))[1]

    @cached_property
    def places(self) -> list[Integers]:
        """Per part and set of answers the place of its answer among ``answer_names``; -1 where it has none."""
        return [np.array([_place(part, answers) for answers in self.sets]) for part in self.document.parts]

    def tallies(self) -> list[Tally]:
        """An empty tally for every part."""
        return [_tally(part) for part in self.document.parts]

    def booklets(self) -> BookletTally:
        """An empty tally of the booklets, by everything that anybody answers."""
        rows: dict[tuple[str, str], int] = {}

        def row(question: str, answer: Any) -> int:
            return rows.setdefault((question, repr(answer)), len(rows) + 1)

        found = [
            [row(*each) for question, answer in answers.items() for each in self._said(question, answer)]
            for answers in self.sets
        ]
        return BookletTally(np.array(found), len(self.document.booklets))

    def _said(self, name: str, answer: Any) -> list[tuple[str, Any]]:
        """An answer, or of several choices each option by itself."""
        question = next(each for each in self.document.survey.questions if each.id == name)
        if not isinstance(question, MultiChoice):
            return [(name, answer)]
        return [(f"{name}.{code}", code in answer) for code in question.codes]


def _answer(item: Item, place: int, before: Any) -> Any:
    """The answer to the item's question that has this code, whatever it was before."""
    if item.option is None:
        return item.question.panel(len(item.codes))[place][1]
    return [code for code in item.question.codes if (place == 1 if code == item.option else code in before)]


def _place(part: Part, answers: Mapping[str, Any]) -> int:
    if part.paths:
        path = part.encode(answers)
        assert isinstance(path, int)
        return path
    answer = answers[part.items[0].question.id]
    return next((place for place, (_, each) in enumerate(_panel(part)) if each == answer), -1)


def _tally(part: Part) -> Tally:
    if part.channel.held is not None:
        return SubsetTally(part.channel)
    if part.channel.exclusive:  # one answer is true
        return ReportTally(part.channel, _tried(part))
    return ReportTally(part.channel, [part.items[0].encode(answer) for _, answer in _panel(part)])
