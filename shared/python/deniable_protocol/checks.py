"""Checking what was written, all at once: every problem with its place.

Survey files and published documents go through the same checks, so that no device randomises for a survey that could
not have been written. The order of checks is part of the protocol: the first problem is the one a client refuses for.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, TypeVar

from .errors import Problem

DECLINED = "declined"
SURVEY_ID = re.compile(r"[a-z0-9][a-z0-9-]{1,62}")
FIELD_ID = re.compile(r"[a-z][a-z0-9_]{0,40}")
CODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,40}")
MAX_SAFE = 2**53 - 1


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


T = TypeVar("T")


class Checker:
    """Collects problems. Methods return the clean value, or None after noting what is wrong."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def note(self, place: str, reason: str, message: str) -> None:
        self.problems.append(Problem(place, reason, message))

    def table(
        self, tree: object, place: str, required: Sequence[str], optional: Sequence[str]
    ) -> dict[str, Any] | None:
        """An object with all the required keys and no others but the optional ones."""
        if not isinstance(tree, dict):
            return self.note(place, "type", "must be a table (a JSON object)")
        for key in tree:
            if key not in required and key not in optional:
                self.note(
                    join(place, str(key)), "unknown", f"no such key here; known are {', '.join([*required, *optional])}"
                )
        for key in required:
            if key not in tree:
                self.note(join(place, key), "missing", _MISSING.get(key, "missing"))
        return tree

    def text(self, value: object, place: str) -> str | None:
        if not isinstance(value, str):
            return self.note(place, "type", "must be text")
        if not value:
            return self.note(place, "range", "must not be empty")
        return value

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

    def decimal(
        self, value: object, place: str, pattern: re.Pattern[str], low: str, high: str, *, published: bool
    ) -> str | None:
        """A decimal string between low and high. Files may also give a number; documents may not."""
        if isinstance(value, str):
            text = value
        elif published or isinstance(value, bool) or not isinstance(value, int | float | Decimal):
            return self.note(place, "type", "must be a decimal string" if published else "must be a number")
        else:
            exact = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
            if not exact.is_finite() or not Decimal(low) <= exact <= Decimal(high):
                return self.note(place, "range", f"{value} is not between {low} and {high}")
            text = f"{exact:f}"
            text = text.rstrip("0") if "." in text else text
            text += "0" if text.endswith(".") else "" if "." in text else ".0"
        if not pattern.fullmatch(text):
            places = re.findall(r"\d+", pattern.pattern)[-1]
            return self.note(place, "format", f"{text} is not a plain decimal with at most {places} places")
        if not Decimal(low) <= Decimal(text) <= Decimal(high):
            return self.note(place, "range", f"{text} is not between {low} and {high}")
        return text


_MISSING = {
    "epsilon": "missing: the survey has no epsilon, so each question states its own; there is no default",
    "delta": "missing: the gaussian mechanism needs a delta, such as 0.000001",
    "bins": 'missing: measure = "shares" needs bins, a list of edges',
}


def join(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key


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
        fields = check.table(item, where, ("code", "text"), ())
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
            check.text(fields["text"], join(where, "text"))
        return fields

    return check.items(value, place, 2, high, option)
