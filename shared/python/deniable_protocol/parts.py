"""Parts and booklets: which questions one device is asked, and which of them are reported together, as one report.

A part's answers are its paths: every combination of answers to its questions, where a question that is not shown on a
path contributes nothing. So what is sent has the same shape whatever was answered, and however much was shown.

May not: repeat an answer in a message, draw, or know anything about transport.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from .accounting import Account
from .channel import Channel
from .channels import MAX_OPTIONS, Band
from .errors import Problem
from .questions import Kind, MultiChoice, Question, Truth

if TYPE_CHECKING:
    from .survey import Survey

MAX_PATHS = MAX_OPTIONS
COUNTED = 10_000
"""Paths that are counted, to say how many are too many."""

MISSING = "has no answer; every question that is shown needs one"

Path: TypeAlias = tuple[int | None, ...]
"""Per item the place of its answer among its codes; None where it is not shown."""


class Item(msgspec.Struct, frozen=True):
    """What a part reports on: a question, or one option of a multi_choice, which is a yes or no of its own."""

    question: Question
    option: str | None = None

    @property
    def name(self) -> str:
        return self.question.id if self.option is None else f"{self.question.id}.{self.option}"

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of its answers in channel order; empty where answers are not options."""
        return self.question.codes if self.option is None else ("no", "yes")

    @property
    def channel_kind(self) -> Kind:
        """The kind of channel of a part that has nothing else: that of the question, of an option a noisy bit."""
        return self.question.channel_kind if self.option is None else Band

    @property
    def asks_mean(self) -> bool:
        return self.question.asks_mean

    @property
    def can_join(self) -> bool:
        """Whether it can be reported together with others: one of a few answers is true, and no mechanism is named."""
        return self.question.has_answers and (self.option is not None or not isinstance(self.question, MultiChoice))

    def encode(self, answer: object) -> Truth | Problem:
        """The answer to its question as a channel takes it, or what is wrong with it (never the answer itself)."""
        truth = self.question.encode(answer)
        if self.option is None or isinstance(truth, Problem):
            return truth
        assert isinstance(truth, tuple)
        return int(truth[self.question.codes.index(self.option)])


Condition: TypeAlias = tuple[tuple[int, frozenset[int]], ...]
"""An item is shown if one of these items has one of these answers; always where it is empty."""


@lru_cache(maxsize=64)
def items_of(survey: Survey) -> tuple[Item, ...]:
    """Everything that the survey's parts report on, in its order."""
    return tuple(item for question in survey.questions for item in _items(survey, question))


def _items(survey: Survey, question: Question) -> list[Item]:
    # With an epsilon of its own a multi_choice reports one drawn option; otherwise booklets take up its options.
    if isinstance(question, MultiChoice) and survey.epsilon is not None:
        return [Item(question, code) for code in question.codes]
    return [Item(question)]


@lru_cache(maxsize=64)
def items_by_name(survey: Survey) -> dict[str, Item]:
    """The same by their names."""
    return {item.name: item for item in items_of(survey)}


def needs(survey: Survey, item: Item) -> list[Item]:
    """The items whose answers decide whether this one is shown, the first to be asked first."""
    condition = item.question.show_if
    if condition is None:
        return []
    parents = [each for each in items_of(survey) if each.question.id == condition.question]
    if parents[0].option is not None:
        parents = [each for each in parents if each.option in condition.codes]
    return [*needs(survey, parents[0]), *parents]


def with_needs(survey: Survey, wanted: Sequence[Item]) -> list[Item]:
    """These items and those that they depend on, in the survey's order."""
    names = {each.name for item in wanted for each in (*needs(survey, item), item)}
    return [item for item in items_of(survey) if item.name in names]


@lru_cache(maxsize=64)
def atoms_of(survey: Survey) -> tuple[tuple[Item, ...], ...]:
    """What is never reported apart: a question and its follow-ups, or an option, each with what it depends on."""
    groups: dict[str, list[Item]] = {}
    for item in items_of(survey):
        groups.setdefault(item.name if item.option is not None else _first(survey, item.question), []).append(item)
    return tuple(tuple(with_needs(survey, group)) for group in groups.values())


def _first(survey: Survey, question: Question) -> str:
    """The question that a chain of follow-ups begins with; an option of a multi_choice is no part of a chain."""
    if question.show_if is not None:
        parent = next(each for each in survey.questions if each.id == question.show_if.question)
        if not isinstance(parent, MultiChoice):
            return _first(survey, parent)
    return question.id


class TooManyPaths(ValueError):
    """So many combinations of answers are more than a part can report; ``count`` is exact up to ``COUNTED``."""

    def __init__(self, count: int) -> None:
        self.count = count
        super().__init__(f"{self.in_words} combinations of answers, more than the {MAX_PATHS} that a report can have")

    @property
    def in_words(self) -> str:
        return f"more than {COUNTED:,}" if self.count > COUNTED else f"{self.count:,}"


def conditions_of(items: Sequence[Item]) -> tuple[Condition, ...]:
    """When each of these items is shown; those that decide it are among them."""
    places = {item.name: place for place, item in enumerate(items)}

    def condition(item: Item) -> Condition:
        if item.question.show_if is None:
            return ()
        parent, codes = item.question.show_if.question, item.question.show_if.codes
        if parent in places:
            known = items[places[parent]].codes
            return ((places[parent], frozenset(known.index(code) for code in codes)),)
        return tuple((places[f"{parent}.{code}"], frozenset({1})) for code in codes)

    return tuple(condition(item) for item in items)


def is_shown(condition: Condition, answers: Sequence[int | None]) -> bool:
    """Whether an item is shown, given the answers to the items before it."""
    return not condition or any(answers[place] in codes for place, codes in condition)


def paths_of(items: Sequence[Item]) -> tuple[Path, ...]:
    """All combinations of answers, the last varying fastest; TooManyPaths beyond what a report can have."""
    paths: list[Path] = [()]
    for item, condition in zip(items, conditions_of(items), strict=True):
        paths = [*_longer(paths, item, condition)]
        if len(paths) > COUNTED:  # every path goes on: there will not be fewer
            break
    if len(paths) > MAX_PATHS:
        raise TooManyPaths(len(paths))
    return tuple(paths)


def _longer(paths: list[Path], item: Item, condition: Condition) -> Iterator[Path]:
    for path in paths:
        if is_shown(condition, path):
            yield from ((*path, place) for place in range(len(item.codes)))
        else:
            yield (*path, None)


class Part(msgspec.Struct, frozen=True, dict=True):
    """Questions that are reported together, through one channel, at one epsilon."""

    items: tuple[Item, ...]
    epsilon: str
    channel: Channel

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(item.name for item in self.items)

    @property
    def exact_epsilon(self) -> Fraction:
        return Fraction(self.epsilon)

    @property
    def exact_delta(self) -> Fraction | None:
        return self.items[0].question.exact_delta

    @property
    def account(self) -> Account:
        """What its report spends."""
        return Account(self.exact_epsilon, self.exact_delta or Fraction(0))

    @cached_property
    def paths(self) -> tuple[Path, ...]:
        """Its answers; empty where its one question asks for a mean, or for several options at once."""
        alone = self.items[0] if len(self.items) == 1 else None
        return () if alone and (alone.asks_mean or not self.channel.exclusive) else paths_of(self.items)

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        return conditions_of(self.items)

    def place(self, name: str) -> int | None:
        """The place of an item among those of the part."""
        return self.names.index(name) if name in self.names else None

    def owned(self, item: int, code: int) -> tuple[int, ...]:
        """The paths on which the item has this answer."""
        return self._owned.get((item, code), ())

    def shown(self, item: int) -> tuple[int, ...]:
        """The paths on which the item is shown."""
        return self._shown[item]

    @cached_property
    def _owned(self) -> dict[tuple[int, int | None], tuple[int, ...]]:
        found: dict[tuple[int, int | None], list[int]] = {}
        for number, path in enumerate(self.paths):
            for key in enumerate(path):
                found.setdefault(key, []).append(number)
        return {key: tuple(numbers) for key, numbers in found.items()}

    @cached_property
    def _shown(self) -> tuple[tuple[int, ...], ...]:
        def shown(item: int) -> Iterator[int]:
            return (number for number, path in enumerate(self.paths) if path[item] is not None)

        return tuple(tuple(shown(item)) for item in range(len(self.items)))

    @cached_property
    def _numbers(self) -> dict[Path, int]:
        return {path: number for number, path in enumerate(self.paths)}

    def walk(self, answers: Mapping[str, object]) -> Iterator[tuple[Item, Truth | Problem | None]]:
        """Each item with its answer, or with what is wrong with it; None where the item is not shown.

        Answers to questions that are not shown are never looked at: they can leave no trace.
        """
        path: list[int | None] = []
        for item, condition in zip(self.items, self.conditions, strict=True):
            truth: Truth | Problem | None = None
            if is_shown(condition, path):
                name = item.question.id
                truth = item.encode(answers[name]) if name in answers else Problem(name, "missing", MISSING)
            # What depends on a wrong answer may be shown or not: it is not checked.
            path.append(truth if isinstance(truth, int) else None)
            yield item, truth

    def encode(self, answers: Mapping[str, object]) -> Truth | list[Problem]:
        """What the channel takes for these answers, or all that is wrong with them."""
        truths = [truth for _, truth in self.walk(answers)]
        if problems := [truth for truth in truths if isinstance(truth, Problem)]:
            return [*dict.fromkeys(problems)]  # options of one question share its answer
        return truths[0] if len(truths) == 1 else self._numbers[tuple(truths)]  # type: ignore[arg-type, return-value]


class Booklet(msgspec.Struct, frozen=True):
    """The parts that one device reports on, drawn with the probability weight / (sum of all weights)."""

    parts: tuple[int, ...]
    weight: int
