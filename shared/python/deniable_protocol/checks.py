"""Checking what was written, all at once: every problem with its place.

Survey files and published documents go through the same checks, so that no device randomises for a survey that could
not have been written. People may write a file as they like. A document is written in one way only, so that it has no
room for a hidden mark. The order of checks is part of the protocol: the first problem is the one a client refuses for.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, TypeVar

import msgspec

from .errors import Problem
from .texts import normal_text, what_cannot_be_seen, what_is_wrong

DECLINED = "declined"
SURVEY_ID = re.compile(r"[a-z0-9][a-z0-9-]{1,62}")
FIELD_ID = re.compile(r"[a-z][a-z0-9_]{0,40}")
CODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,40}")
MAX_SAFE = 2**53 - 1
DECIMAL = r"[0-9]{1,20}(\.[0-9]{1,40})?"


def strict_json(text: str) -> Any:
    """JSON as both languages read it: no duplicate keys, NaN, or text that is not Unicode."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        tree = dict(pairs)
        if len(tree) != len(pairs):
            raise ValueError("a key occurs twice in one object")
        return tree

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    def number(digits: str) -> int | float:
        return int(digits) if len(digits) < 400 else float(digits)  # an infinity, which is out of range everywhere

    try:
        tree = json.loads(text, object_pairs_hook=unique, parse_constant=refuse, parse_int=number)
        json.dumps(tree, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except UnicodeEncodeError:
        raise ValueError("half of a surrogate pair is not text") from None
    return tree


def document_json(text: str) -> Any:
    """The tree in a document, with numbers that ``encode`` can write."""

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    return json.loads(text, parse_int=_number, parse_float=_number, parse_constant=refuse)


def is_canonical(text: str, tree: Any) -> bool:
    """Whether the text is the tree as JavaScript's ``JSON.stringify`` writes it.

    So there are no spaces, no other escapes than those of the quote, the backslash and the newline, one way of writing
    a number, no key that occurs twice, and keys that are whole numbers come first, the smallest first.
    """
    return "\\" not in _ESCAPES.sub("", text) and encode(tree) == text.encode() and _has_numbers_first(text, tree)


def _has_numbers_first(text: str, tree: Any) -> bool:
    """No key of a document is a number, so that there is hardly ever anything to look for."""
    if not _NUMBER_KEY.search(text):
        return True
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            numbers = [int(key) for key in node if _INDEX.fullmatch(key) and int(key) < 2**32 - 1]
            if numbers != sorted(numbers) or [*node][: len(numbers)] != [*map(str, numbers)]:
                return False
        waiting += node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    return True


class _Fraction(float):
    """A number that is not a whole one, or too large: written as JavaScript does, not as msgspec."""


def _number(digits: str) -> int | float:
    if len(digits) < 16 and digits.lstrip("-").isdecimal():
        return int(digits)  # a double has it exactly
    return as_number(float(digits))


def as_number(value: float) -> int | float:
    """The same as ``encode`` takes it."""
    return int(value) if value.is_integer() and abs(value) <= MAX_SAFE else _Fraction(value)


def encode(tree: Any) -> bytes:
    """The canonical bytes of a tree, or of structs in the order of their fields."""
    return msgspec.json.encode(tree, enc_hook=lambda number: msgspec.Raw(number_text(number).encode()))


def sha256(content: bytes) -> str:
    """The digest of these bytes, in hex."""
    import hashlib  # with it comes OpenSSL, which an app need not wait for when it starts

    return hashlib.sha256(content).hexdigest()


def number_text(number: float) -> str:
    """As ECMAScript writes a number: plain from a millionth on and below 10^21, with an exponent elsewhere."""
    if not math.isfinite(number):
        return "null"
    if number == 0 or 1e-6 <= abs(number) < 1e21:
        return plain(number)
    digits, _, exponent = repr(number).partition("e")
    return f"{digits}e{int(exponent):+d}"


def plain(number: float | Decimal) -> str:
    """A number as people write it: 3, not 3.0; 0.1, not 0.10000000000000001; 0, not -0; never with an exponent."""
    text = f"{Decimal(repr(float(number))) if isinstance(number, float) else number:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def decimal_text(number: Decimal) -> str:
    """A decimal as documents have it: 2.0, with at least one decimal and no more than it needs."""
    text = plain(number)
    return text if "." in text else f"{text}.0"


_ESCAPES = re.compile(r'\\["\\n]')
_NUMBER_KEY = re.compile(r'"[0-9]+":')
_INDEX = re.compile("0|[1-9][0-9]{0,9}")

T = TypeVar("T")


class Checker:
    """Collects problems. Methods return the clean value, or None after noting what is wrong.

    ``published``: it is a document that is checked, which has only one way of saying a thing.
    """

    def __init__(self, *, published: bool = False) -> None:
        self.problems: list[Problem] = []
        self.published = published
        self.languages: tuple[str, ...] = ()
        self.translations: dict[str, tuple[str, ...]] = {}
        """By place: each text that is not the same in all languages."""

    def note(self, place: str, reason: str, message: str) -> None:
        self.problems.append(Problem(place, reason, message))

    def table(
        self, tree: object, place: str, keys: Sequence[str], optional: Sequence[str] = ()
    ) -> dict[str, Any] | None:
        """An object with these keys, of which the optional ones may be left out. Documents keep the order."""
        if not isinstance(tree, dict):
            return self.note(place, "type", "must be a table (a JSON object)")
        before = len(self.problems)
        for key in tree:
            if key not in keys:
                self.note(join(place, str(key)), "unknown", f"no such key here; known are {', '.join(keys)}")
        for key in keys:
            if key not in tree and key not in optional:
                self.note(join(place, key), "missing", _MISSING.get(key, "missing"))
        if self.published and len(self.problems) == before and [*tree] != [key for key in keys if key in tree]:
            self.note(place, "order", f"the order of keys is {', '.join(keys)}")
        return tree

    def text(self, value: object, place: str) -> str | None:
        return self._text(value, place, lines=False)

    def lines(self, value: object, place: str) -> str | None:
        """A text of one line or several."""
        return self._text(value, place, lines=True)

    def _text(self, value: object, place: str, *, lines: bool) -> str | None:
        """The text, or, of a table with the text in every language, the one in the first."""
        if not isinstance(value, dict) or not self.languages:
            return self._one_text(value, place, lines=lines)
        before = len(self.problems)
        self.table(value, place, self.languages)
        given = [tag for tag in self.languages if tag in value]
        texts = [self._one_text(value[tag], join(place, tag), lines=lines) for tag in given]
        if len(self.problems) > before:
            return None
        if len({*texts}) > 1:
            self.translations[place] = tuple(map(str, texts))
        elif self.published:
            return self.note(place, "duplicate", "a text that is the same in all languages is written once")
        return texts[0]

    def _one_text(self, value: object, place: str, *, lines: bool) -> str | None:
        if not isinstance(value, str):
            hint = '. To write it in several languages, add languages = ["en", "es"] to the survey'
            return self.note(place, "type", "must be text" + (hint if isinstance(value, dict) else ""))
        if not self.published:
            value = normal_text(value, lines=lines)
        if not value:
            return self.note(place, "range", "must not be empty")
        wrong = what_is_wrong(value, lines=lines) if self.published else what_cannot_be_seen(value, lines=lines)
        return value if wrong is None else self.note(place, "format", wrong)

    def in_order(self, values: Sequence[Any], place: str, what: str) -> bool:
        """Whether these values increase: of a document they must, and no two are the same."""
        for i in range(1, len(values) if self.published else 0):
            if not values[i - 1] < values[i]:
                self.note(place, "order", what)
                return False
        return True

    def name(self, value: object, place: str, pattern: re.Pattern[str]) -> str | None:
        if not isinstance(value, str):
            return self.note(place, "type", "must be text")
        if not pattern.fullmatch(value):
            return self.note(place, "format", f"{value!r} does not match ^{pattern.pattern}$")
        return value

    def choice(self, value: object, place: str, known: Sequence[str]) -> str | None:
        if not isinstance(value, str):
            return self.note(place, "type", "must be text")
        if value not in known:
            return self.note(place, "range", f"{value!r} is not one of {', '.join(known)}")
        return value

    def number(self, value: object, place: str) -> float | None:
        """A finite double of at most 2^53 in size. JSON has one number type, so 3 and 3.0 are the same."""
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
            return self.note(place, "type", "must be a number")
        if value != value or not -MAX_SAFE <= value <= MAX_SAFE:  # NaN, as a double or a decimal, is not itself
            return self.note(place, "range", "must be a number between -(2^53 - 1) and 2^53 - 1")
        return float(value)

    def integer(self, value: object, place: str, low: int, high: int) -> int | None:
        number = self.number(value, place)
        if number is None:
            return None
        if number != math.floor(number):
            return self.note(place, "type", "must be an integer")
        if not low <= number <= high:
            return self.note(place, "range", f"{int(number)} is not between {low} and {high}")
        return int(number)

    def flag(self, value: object, place: str) -> bool | None:
        if not isinstance(value, bool):
            return self.note(place, "type", "must be true or false")
        return value

    def true_or_left_out(self, value: object, place: str) -> bool | None:
        """A flag that is false where nobody wrote it; a document writes it only where it is true."""
        if self.published and value is False:
            self.note(place, "range", "is left out where it is false")
        return self.flag(value, place)

    def items(
        self, value: object, place: str, low: int, high: int, each: Callable[[object, str], T | None]
    ) -> list[T] | None:
        """A list of ``low`` to ``high`` items, each checked."""
        if not isinstance(value, list | tuple):
            return self.note(place, "type", "must be a list")
        if not low <= len(value) <= high:
            return self.note(place, "range", f"has {len(value)} entries, not {low} to {high}")
        clean = [each(item, f"{place}[{i}]") for i, item in enumerate(value)]
        return [item for item in clean if item is not None] if all(item is not None for item in clean) else None

    def decimal(self, value: object, place: str, places: int, low: str, high: str) -> str | None:
        """A decimal string between low and high, with at least one decimal and no more than it needs.

        Files may also give a number, or more zeros.
        """
        if self.published and not isinstance(value, str):
            return self.note(place, "type", "must be a decimal string")
        if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal):
            return self.note(place, "type", "must be a number")
        canonical = rf"(0|[1-9][0-9]?)\.([0-9]|[0-9]{{1,{places - 1}}}[1-9])"
        if isinstance(value, str) and not re.fullmatch(canonical if self.published else DECIMAL, value):
            return self.note(place, "format", f"must be a plain decimal with at most {places} places, such as 2.0")
        exact = Decimal(value) if isinstance(value, int | Decimal) else Decimal(str(value))
        if not exact.is_finite() or not Decimal(low) <= exact <= Decimal(high):
            return self.note(place, "range", f"{value} is not between {low} and {high}")
        text = decimal_text(exact)
        if len(text.partition(".")[2]) > places:
            return self.note(place, "format", f"{text} is not a plain decimal with at most {places} places")
        return text


_MISSING = {
    "epsilon": "missing: the survey has no epsilon, so each question states its own; there is no default",
    "delta": "missing: the gaussian mechanism needs a delta, such as 0.000001",
    "bins": 'missing: measure = "shares" needs bins, a list of edges',
}


def join(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key


def check_epsilon(check: Checker, value: object, place: str) -> str | None:
    return check.decimal(value, place, 4, "0.01", "10")


def check_id(check: Checker, value: object, place: str, taken: set[str]) -> str | None:
    """The id of a question or segment, which no other has."""
    name = check.name(value, place, FIELD_ID)
    if name is not None and name in taken:
        return check.note(place, "duplicate", f"{name!r} is already used by another question or segment")
    if name is not None:
        taken.add(name)
    return name


def check_options(check: Checker, value: object, place: str, high: int) -> list[dict[str, Any]] | None:
    """Options with codes that differ."""
    codes = {DECLINED}

    def option(item: object, where: str) -> dict[str, Any] | None:
        fields = check.table(item, where, ("code", "text"))
        if fields is None:
            return None
        if "code" in fields:
            code = check.name(fields["code"], join(where, "code"), CODE)
            if code in codes:
                reserved = "reserved for decline = true" if code == DECLINED else "already used"
                check.note(join(where, "code"), "duplicate", f"{code!r} is {reserved}")
            elif code is not None:
                codes.add(code)
        if "text" in fields:
            fields = {**fields, "text": check.text(fields["text"], join(where, "text"))}
        return fields

    return check.items(value, place, 2, high, option)
