"""Surveys: the questions that a checked survey holds, and reading them from text.

May not: read files, choose channels, or know anything about transport.
"""

from __future__ import annotations

import itertools
import tomllib
from decimal import Decimal
from fractions import Fraction
from typing import ClassVar, Literal, TypeAlias, TypeGuard

import msgspec

from .checks import DECLINED, Checker, check_survey, strict_json
from .errors import Problem, SurveyError


def plain(number: float | Decimal) -> str:
    """A number as people write it: 3, not 3.0; 0.1, not 0.10000000000000001; never with an exponent."""
    text = f"{Decimal(repr(number)) if isinstance(number, float) else number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


class Option(msgspec.Struct, frozen=True):
    """A code that never changes, and the text that is shown for it."""

    code: str
    text: str


class Segment(msgspec.Struct, frozen=True):
    """A public attribute, sent in the clear and never sensitive."""

    id: str
    text: str
    options: tuple[Option, ...]


class _Asked(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type"):
    """What every question has. ``epsilon`` is a decimal string, so that its value is exact in every language."""

    id: str
    text: str
    epsilon: str
    decline: bool = False

    @property
    def exact_epsilon(self) -> Fraction:
        return Fraction(self.epsilon)

    @property
    def exact_delta(self) -> Fraction | None:
        return None

    def _codes(self) -> tuple[str, ...]:
        """The codes of the answers before "declined"; empty where answers are not options."""
        return ()

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of the answers in channel order, "declined" last where the survey allows it."""
        return (*self._codes(), DECLINED) if self.decline else self._codes()


class YesNo(_Asked, frozen=True, kw_only=True, omit_defaults=True, tag="yes_no"):
    type: ClassVar[str] = "yes_no"

    def _codes(self) -> tuple[str, ...]:
        # Alone, the report is the noisy bit: no is 0, yes is 1. With "declined" it is a subset in reading order.
        return ("yes", "no") if self.decline else ("no", "yes")


class Choice(_Asked, frozen=True, kw_only=True, omit_defaults=True, tag="choice"):
    type: ClassVar[str] = "choice"
    options: tuple[Option, ...]
    mechanism: Literal["krr"] | None = None

    def _codes(self) -> tuple[str, ...]:
        return tuple(option.code for option in self.options)


class MultiChoice(_Asked, frozen=True, kw_only=True, omit_defaults=True, tag="multi_choice"):
    type: ClassVar[str] = "multi_choice"
    options: tuple[Option, ...]

    def _codes(self) -> tuple[str, ...]:
        return tuple(option.code for option in self.options)


class Scale(_Asked, frozen=True, kw_only=True, omit_defaults=True, tag="scale"):
    type: ClassVar[str] = "scale"
    labels: tuple[str, ...]
    measure: Literal["shares", "mean"] = "shares"
    mechanism: Literal["krr", "exponential"] | None = None

    def _codes(self) -> tuple[str, ...]:
        return tuple(str(point) for point in range(1, len(self.labels) + 1))


class Number(_Asked, frozen=True, kw_only=True, omit_defaults=True, tag="number"):
    type: ClassVar[str] = "number"
    min: float
    max: float
    unit: str | None = None
    measure: Literal["mean", "shares"] = "mean"
    bins: tuple[float, ...] | None = None
    mechanism: Literal["laplace", "gaussian"] | None = None
    delta: str | None = None

    @property
    def exact_delta(self) -> Fraction | None:
        return None if self.delta is None else Fraction(self.delta)

    @property
    def edges(self) -> tuple[float, ...]:
        """The edges of the bins, ends included: a value belongs to the last bin whose lower edge it reaches."""
        return (self.min, *(edge for edge in self.bins or () if self.min < edge < self.max), self.max)

    def _codes(self) -> tuple[str, ...]:
        if self.bins is None:
            return ()
        edges = [plain(edge) for edge in self.edges]
        return tuple(f"{low}..{high}" for low, high in itertools.pairwise(edges))


Question: TypeAlias = YesNo | Choice | MultiChoice | Scale | Number


def tells_mean(question: Question) -> TypeGuard[Scale | Number]:
    """Whether the reports tell the mean of the answers; those of all other questions tell shares."""
    return isinstance(question, Scale | Number) and question.measure == "mean"


class Survey(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A survey that passed every check."""

    id: str
    title: str
    notice: str | None = None
    segments: tuple[Segment, ...] = ()
    questions: tuple[Question, ...]

    @property
    def exact_epsilon(self) -> Fraction:
        """What one submission spends: the sum over the questions (basic composition)."""
        return sum((question.exact_epsilon for question in self.questions), Fraction(0))

    @property
    def epsilon(self) -> str:
        """The same as an exact decimal: epsilons have four places, and so has their sum."""
        return plain(int(self.exact_epsilon * 10_000) / Decimal(10_000))


# msgspec describes a type to itself when it first meets it, and two threads that do so at once crash the process
# (msgspec 0.22). Made here, the description is there before any thread can ask for it.
_DESCRIBED = msgspec.json.Decoder(Survey)


def parse_survey(text: str | bytes, *, syntax: Literal["toml", "json"] = "toml") -> Survey:
    """The survey in this text, or a SurveyError that lists everything wrong with it."""
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8")
        tree = strict_json(text) if syntax == "json" else tomllib.loads(text, parse_float=Decimal)
    except UnicodeDecodeError:
        raise SurveyError([Problem("", syntax, "not a text file in UTF-8")]) from None
    except (ValueError, RecursionError) as error:  # strict_json and tomllib, which also gives up on deep nesting
        raise SurveyError([Problem("", syntax, f"not valid {syntax.upper()}: {error}")]) from None
    return survey_from_tree(tree)


def survey_from_tree(tree: object) -> Survey:
    """The survey in a parsed TOML or JSON tree."""
    check = Checker()
    clean = check_survey(check, tree, "", published=False)
    if check.problems:
        raise SurveyError(check.problems)
    return msgspec.convert(clean, Survey)
