"""Questions: what each type takes for an answer, and which kind of channel protects it.

May not: repeat an answer in a message, draw, or know anything about transport.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar, Literal, TypeAlias, TypeGuard

import msgspec

from .channel import Channel
from .channels import Band, Drawn, Subset, Table
from .checks import DECLINED, Checker, check_options, join, plain
from .errors import Problem

Kind: TypeAlias = type[Channel]
Truth: TypeAlias = int | float | tuple[int, ...]
"""A checked answer: its place among the codes, a part of the way from the least to the largest, or a bit per option."""


class Option(msgspec.Struct, frozen=True):
    """A code that never changes, and the text that is shown for it."""

    code: str
    text: str


class ShowIf(msgspec.Struct, frozen=True):
    """A question is shown only after one of these answers to an earlier one."""

    question: str
    codes: tuple[str, ...]


class Asked(msgspec.Struct, frozen=True):
    """What questions and segments have in common."""

    id: str
    text: str


class Fields:
    """Reads the fields of one question, noting what is wrong; ``clean`` collects those that are there."""

    def __init__(self, check: Checker, item: dict[str, Any], place: str) -> None:
        self.check, self.item, self.place = check, item, place
        self.clean: dict[str, Any] = {}

    def take(self, key: str, checked: Callable[[object, str], object]) -> Any:
        """The value of a key, if it is there and right."""
        if key not in self.item:
            return None
        self.clean[key] = checked(self.item[key], join(self.place, key))
        return self.clean[key]

    def choice(self, key: str, known: Sequence[str]) -> Any:
        return self.take(key, lambda value, where: self.check.choice(value, where, known))

    def options(self, most: int = 50) -> None:
        self.take("options", lambda value, where: check_options(self.check, value, where, most))

    def measure(self, default: str) -> str:
        """What is estimated. A document says so only if it is not what this type of question asks for by default."""
        known = tuple(each for each in ("shares", "mean") if not (self.check.published and each == default))
        return self.choice("measure", known) or default

    def decimal(self, key: str, places: int, low: str, high: str) -> None:
        self.take(key, lambda value, at: self.check.decimal(value, at, places, low, high))

    def conflict(self, key: str, message: str) -> None:
        self.check.note(join(self.place, key), "conflict", message)


class Question(Asked, frozen=True, kw_only=True, omit_defaults=True, tag_field="type"):
    """What every type of question has and offers.

    ``epsilon`` is a decimal string, exact in every language; there is none where the survey has one.
    """

    epsilon: str | None = None
    decline: bool = False
    show_if: ShowIf | None = None

    # What only some types have as fields.
    options: ClassVar[tuple[Option, ...]] = ()
    labels: ClassVar[tuple[str, ...]] = ()
    unit: ClassVar[str | None] = None
    price: ClassVar[bool] = False
    measure: ClassVar[str] = "shares"
    mechanism: ClassVar[str | None] = None
    delta: ClassVar[str | None] = None

    is_continuous: ClassVar[bool] = False
    """Whether answers may lie between the levels of a channel."""

    @property
    def type(self) -> str:
        return str(self.__struct_config__.tag)

    @property
    def exact_delta(self) -> Fraction | None:
        return None if self.delta is None else Fraction(self.delta)

    @property
    def asks_mean(self) -> bool:
        """Whether the mean of the answers is estimated; of all other questions it is shares."""
        return self.measure == "mean"

    @property
    def has_answers(self) -> bool:
        """Whether others can depend on its answers, or be reported with them: it has shares and names no mechanism."""
        return not self.asks_mean and self.mechanism is None

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of the answers in channel order, "declined" last where the survey allows it."""
        return (*self._codes(), DECLINED) if self.decline else self._codes()

    def _codes(self) -> tuple[str, ...]:
        """The codes of the answers before "declined"; empty where answers are not options."""
        return tuple(option.code for option in self.options)

    @property
    def reading_order(self) -> list[int]:
        """The places of the codes as people read them."""
        return [*range(len(self.codes))]

    @property
    def range(self) -> tuple[float, float]:
        """The least and the largest answer, where answers are numbers."""
        raise NotImplementedError

    @property
    def channel_kind(self) -> Kind:
        """The kind of channel that goes with the question: the only place where this is decided.

        It has an answer per code; where there are no codes, as many levels as the channel says.
        """
        raise NotImplementedError

    # --- answers ---

    def encode(self, answer: object) -> Truth | Problem:
        """The answer as a channel takes it, or what is wrong with it (never the answer itself)."""
        if self.decline and isinstance(answer, str) and answer == DECLINED:
            return len(self.codes) - 1
        return self._encode(answer)

    def _encode(self, answer: object) -> Truth | Problem:
        raise NotImplementedError

    def _problem(self, reason: str, message: str) -> Problem:
        return Problem(self.id, reason, message)

    def _or_declined(self) -> str:
        return f' or "{DECLINED}"' if self.decline else ""

    def panel(self, levels: int) -> list[tuple[str, Any]]:
        """(name, answer) for every answer that a channel tells apart, on so many levels where there are no codes.

        Of several choices none, all and each alone are enough.
        """
        answers = [*zip(self._codes(), self._answers(), strict=True)]
        return [*answers, (DECLINED, DECLINED)] if self.decline else answers

    def _answers(self) -> Sequence[Any]:
        """An answer for each code but "declined"."""
        return self._codes()

    # --- checking ---

    @classmethod
    def also_required(cls, item: dict[str, Any]) -> tuple[str, ...]:
        """Fields with a default that these other fields make necessary."""
        return ()

    @classmethod
    def check(cls, fields: Fields) -> bool:
        """Checks the fields that only this type has. Returns whether respondents may be allowed to decline."""
        return True


class YesNo(Question, frozen=True, kw_only=True, omit_defaults=True, tag="yes_no"):
    def _codes(self) -> tuple[str, ...]:
        # Alone, the report is the noisy bit: no is 0, yes is 1. With "declined" it is a subset in reading order.
        return ("yes", "no") if self.decline else ("no", "yes")

    @property
    def reading_order(self) -> list[int]:
        return [0, 1, 2] if self.decline else [1, 0]

    @property
    def channel_kind(self) -> Kind:
        return Subset if self.decline else Band

    def _encode(self, answer: object) -> Truth | Problem:
        if not isinstance(answer, bool):
            return self._problem("type", f"takes true or false{self._or_declined()}")
        return int(not answer) if self.decline else int(answer)

    def _answers(self) -> Sequence[bool]:
        return [code == "yes" for code in self._codes()]


class Choice(Question, frozen=True, kw_only=True, omit_defaults=True, tag="choice"):
    options: tuple[Option, ...]  # type: ignore[misc]
    mechanism: Literal["krr"] | None = None  # type: ignore[misc]

    @property
    def channel_kind(self) -> Kind:
        return Subset

    @classmethod
    def check(cls, fields: Fields) -> bool:
        fields.options()
        fields.choice("mechanism", ("krr",))
        return True

    def _encode(self, answer: object) -> Truth | Problem:
        if not isinstance(answer, str):
            return self._problem("type", "takes the code of an option, as text")
        for index, option in enumerate(self.options):
            if option.code == answer:
                return index
        return self._problem("range", "takes the code of one of its options")


class MultiChoice(Question, frozen=True, kw_only=True, omit_defaults=True, tag="multi_choice"):
    options: tuple[Option, ...]  # type: ignore[misc]

    @property
    def channel_kind(self) -> Kind:
        return Drawn

    @classmethod
    def check(cls, fields: Fields) -> bool:
        fields.options()
        return False

    def _encode(self, answer: object) -> Truth | Problem:
        if isinstance(answer, str) or not isinstance(answer, Sequence | set | frozenset):
            return self._problem("type", "takes a list of option codes")
        chosen = list(answer)
        if not all(isinstance(code, str) for code in chosen):
            return self._problem("type", "takes a list of option codes, as text")
        if len(set(chosen)) != len(chosen) or not set(chosen) <= set(self.codes):
            return self._problem("range", "takes a list of the codes of its options, each at most once")
        return tuple(int(code in chosen) for code in self.codes)

    def panel(self, levels: int) -> list[tuple[str, Any]]:
        codes = list(self.codes)
        return [("none", []), ("all", codes), *((code, [code]) for code in codes)]


class Scale(Question, frozen=True, kw_only=True, omit_defaults=True, tag="scale"):
    labels: tuple[str, ...]  # type: ignore[misc]
    measure: Literal["shares", "mean"] = "shares"  # type: ignore[misc]
    mechanism: Literal["krr", "exponential"] | None = None  # type: ignore[misc]

    def _codes(self) -> tuple[str, ...]:
        return tuple(str(point) for point in range(1, len(self.labels) + 1))

    def _answers(self) -> Sequence[int]:
        return range(1, len(self.labels) + 1)

    @property
    def range(self) -> tuple[float, float]:
        return 1.0, float(len(self.labels))

    @property
    def channel_kind(self) -> Kind:
        if self.mechanism == "exponential":
            return Table
        return Band if self.asks_mean and self.mechanism is None else Subset

    @classmethod
    def check(cls, fields: Fields) -> bool:
        check = fields.check
        fields.take("labels", lambda value, where: check.items(value, where, 2, 11, check.text))
        measure = fields.measure("shares")
        mechanism = fields.choice("mechanism", ("krr", "exponential"))
        return not (measure == "mean" or mechanism == "exponential")

    def _encode(self, answer: object) -> Truth | Problem:
        if not _is_number(answer):
            return self._problem("type", f"takes a number{self._or_declined()}")
        if not 1 <= answer <= len(self.labels) or answer != math.floor(answer):
            return self._problem("range", f"takes a whole number from 1 to {len(self.labels)}")
        return int(answer) - 1


class Number(Question, frozen=True, kw_only=True, omit_defaults=True, tag="number"):
    min: float
    max: float
    unit: str | None = None  # type: ignore[misc]
    price: bool = False  # type: ignore[misc]  # "What would you pay at most?": results show demand and revenue
    measure: Literal["mean", "shares"] = "mean"  # type: ignore[misc]
    bins: tuple[float, ...] | None = None
    mechanism: Literal["laplace", "gaussian"] | None = None  # type: ignore[misc]
    delta: str | None = None  # type: ignore[misc]

    is_continuous: ClassVar[bool] = True

    @property
    def edges(self) -> tuple[float, ...]:
        """The edges of the bins, ends included: a value belongs to the last bin whose lower edge it reaches."""
        return (self.min, *(self.bins or ()), self.max)

    def _codes(self) -> tuple[str, ...]:
        if self.bins is None:
            return ()
        edges = [plain(edge) for edge in self.edges]
        return tuple(f"{low}..{high}" for low, high in pairwise(edges))

    @property
    def range(self) -> tuple[float, float]:
        return self.min + 0.0, self.max + 0.0  # -0.0 is 0.0

    @property
    def channel_kind(self) -> Kind:
        if self.mechanism is not None:
            return Table
        return Band if self.asks_mean else Subset

    @classmethod
    def also_required(cls, item: dict[str, Any]) -> tuple[str, ...]:
        bins = ("bins",) if item.get("measure") == "shares" else ()
        return (*bins, "delta") if item.get("mechanism") == "gaussian" else bins

    @classmethod
    def check(cls, fields: Fields) -> bool:
        check, item = fields.check, fields.item
        measure = fields.measure("mean")
        mechanism = fields.choice("mechanism", ("laplace", "gaussian"))
        low, high = fields.take("min", check.number), fields.take("max", check.number)
        if low is not None and high is not None and not low < high:
            check.note(join(fields.place, "max"), "range", "must be above min")
            low = None
        fields.take("unit", check.text)
        if fields.take("price", check.flag) is False and check.published:
            check.note(join(fields.place, "price"), "range", "is left out where it is false")
        if item.get("price") is True and low is not None and low < 0:
            check.note(join(fields.place, "price"), "range", "a price is 0 or more: min must not be below 0")
        if "bins" in item and measure != "shares":
            fields.conflict("bins", 'bins go with measure = "shares"')
        elif low is not None and high is not None:
            fields.take("bins", lambda value, where: _check_bins(check, value, where, low, high))
        if "delta" in item and mechanism != "gaussian":
            fields.conflict("delta", 'delta goes with mechanism = "gaussian"')
        else:
            fields.decimal("delta", 12, "0.000000001", "0.0001")
        if mechanism and measure == "shares":
            fields.conflict("mechanism", f'{mechanism} goes with measure = "mean"')
        return measure != "mean"

    def _encode(self, answer: object) -> Truth | Problem:
        if not _is_number(answer):
            return self._problem("type", f"takes a number{self._or_declined()}")
        if not self.min <= answer <= self.max:  # NaN, infinities and huge integers included
            return self._problem("range", f"takes a number from {plain(self.min)} to {plain(self.max)}")
        return self._position(answer) if self.asks_mean else sum(edge <= answer for edge in self.edges[1:-1])

    def _position(self, answer: int | float) -> float:
        """How far along the range the answer is, from 0 to 1."""
        return (float(answer) - self.min) / (self.max - self.min)

    def _answers(self) -> Sequence[float]:
        return [(low + high) / 2 for low, high in pairwise(self.edges)] if self.codes else []

    def panel(self, levels: int) -> list[tuple[str, Any]]:
        if self.codes:
            return super().panel(levels)
        steps = levels - 1
        values = [self.min + (self.max - self.min) * i / steps for i in range(steps)] + [self.max]
        return [(f"{value:g}", value) for value in values]


def _is_number(answer: object) -> TypeGuard[int | float]:
    return isinstance(answer, int | float) and not isinstance(answer, bool)


def _check_bins(check: Checker, value: object, place: str, low: float, high: float) -> list[float] | None:
    edges = check.items(value, place, 1, 49 if check.published else 51, check.number)
    if edges is None:
        return None
    for i, edge in enumerate(edges):
        if not low <= edge <= high or (check.published and edge in (low, high)):
            return check.note(f"{place}[{i}]", "range", "must lie between min and max")
        if i and not edges[i - 1] < edge:
            return check.note(f"{place}[{i}]", "range", "must be above the edge before it")
    inner = [edge for edge in edges if low < edge < high]
    if not 1 <= len(inner) <= 49:
        return check.note(place, "range", f"makes {len(inner) + 1} bins, not 2 to 50")
    return inner


QUESTIONS: dict[str, type[Question]] = {
    "yes_no": YesNo,
    "choice": Choice,
    "multi_choice": MultiChoice,
    "scale": Scale,
    "number": Number,
}
"""Every type of question, by the name that it has in a survey file."""
