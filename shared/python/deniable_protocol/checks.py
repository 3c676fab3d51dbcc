"""What a survey may say, checked all at once, every problem with its place.

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
EPSILON = re.compile(r"[0-9]{1,2}(\.[0-9]{1,4})?")
DELTA = re.compile(r"0\.[0-9]{1,12}")
MAX_SAFE = 2**53 - 1
MAX_QUESTIONS = 200
MAX_SEGMENTS = 10


def strict_json(text: str) -> Any:
    """JSON as both languages read it alike: no duplicate keys, NaN, or text that is not Unicode."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        tree = dict(pairs)
        if len(tree) != len(pairs):
            raise ValueError("a key stands twice in one object")
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
        """An object with all the required keys and none but the optional ones beside them."""
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
    "epsilon": "missing: each question states its own epsilon; there is no default",
    "delta": "missing: the gaussian mechanism needs a delta, such as 0.000001",
    "bins": 'missing: measure = "shares" needs bins, a list of edges',
}


def join(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key


def check_survey(check: Checker, tree: object, place: str, *, published: bool) -> dict[str, Any]:
    """Notes every problem of a survey tree; returns the clean tree, of use only if there were none."""
    clean: dict[str, Any] = {}
    fields = check.table(tree, place, ("id", "title", "questions"), ("notice", "segments"))
    if fields is None:
        return clean
    if "id" in fields:
        clean["id"] = check.name(fields["id"], join(place, "id"), SURVEY_ID)
    for key in ("title", "notice"):
        if key in fields:
            clean[key] = check.text(fields[key], join(place, key))
    taken: set[str] = set()
    if "segments" in fields:
        clean["segments"] = check.items(
            fields["segments"],
            join(place, "segments"),
            0,
            MAX_SEGMENTS,
            lambda item, where: _check_segment(check, item, where, taken),
        )
    if "questions" in fields:
        clean["questions"] = check.items(
            fields["questions"],
            join(place, "questions"),
            1,
            MAX_QUESTIONS,
            lambda item, where: _check_question(check, item, where, taken, published=published),
        )
    return clean


def _check_id(check: Checker, value: object, place: str, taken: set[str]) -> str | None:
    name = check.name(value, place, FIELD_ID)
    if name is not None and name in taken:
        return check.note(place, "duplicate", f"{name!r} is already used by another question or segment")
    if name is not None:
        taken.add(name)
    return name


def _check_options(check: Checker, value: object, place: str, high: int) -> list[dict[str, Any]] | None:
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


def _check_segment(check: Checker, item: object, place: str, taken: set[str]) -> dict[str, Any] | None:
    fields = check.table(item, place, ("id", "text", "options"), ())
    if fields is None:
        return None
    if "id" in fields:
        _check_id(check, fields["id"], join(place, "id"), taken)
    if "text" in fields:
        check.text(fields["text"], join(place, "text"))
    if "options" in fields:
        _check_options(check, fields["options"], join(place, "options"), 200)
    return fields


_OWN_KEYS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "yes_no": ((), ()),
    "choice": (("options",), ("mechanism",)),
    "multi_choice": (("options",), ()),
    "scale": (("labels",), ("measure", "mechanism")),
    "number": (("min", "max"), ("unit", "measure", "bins", "mechanism", "delta")),
}
_MECHANISMS = {"choice": ("krr",), "scale": ("krr", "exponential"), "number": ("laplace", "gaussian")}


def _check_question(
    check: Checker, item: object, place: str, taken: set[str], *, published: bool
) -> dict[str, Any] | None:
    if not isinstance(item, dict):
        return check.note(place, "type", "must be a table (a JSON object)")
    if "type" not in item:
        check.note(join(place, "type"), "missing", f"missing: one of {', '.join(_OWN_KEYS)}")
        kind = None
    else:
        kind = check.choice(item["type"], join(place, "type"), tuple(_OWN_KEYS))
    if kind is None:  # what every question has can be checked all the same
        asked = {key: item[key] for key in ("id", "text", "epsilon") if key in item}
        _check_question(check, {**asked, "type": "yes_no"}, place, taken, published=published)
        return None
    required, optional = _OWN_KEYS[kind]
    if item.get("measure") == "shares" and kind == "number":
        required = (*required, "bins")
    if item.get("mechanism") == "gaussian" and kind == "number":
        required = (*required, "delta")
    fields = check.table(item, place, ("id", "type", "text", "epsilon", *required), ("decline", *optional))
    assert fields is not None
    clean: dict[str, Any] = {"type": kind}

    def field(key: str, checked: Callable[[object, str], object]) -> Any:
        if key not in item:
            return None
        clean[key] = checked(item[key], join(place, key))
        return clean[key]

    def is_decimal(pattern: re.Pattern[str], low: str, high: str) -> Callable[[object, str], object]:
        return lambda value, where: check.decimal(value, where, pattern, low, high, published=published)

    field("id", lambda value, where: _check_id(check, value, where, taken))
    field("text", check.text)
    field("epsilon", is_decimal(EPSILON, "0.01", "10"))
    decline = field("decline", check.flag)
    if "options" in required:
        field("options", lambda value, where: _check_options(check, value, where, 50))
    if kind == "scale":
        field("labels", lambda value, where: check.items(value, where, 2, 11, check.text))
    measure = mechanism = None
    if kind in ("scale", "number"):
        measure = field("measure", lambda value, where: check.choice(value, where, ("shares", "mean")))
        measure = measure or ("shares" if kind == "scale" else "mean")
    if kind in _MECHANISMS:
        mechanism = field("mechanism", lambda value, where: check.choice(value, where, _MECHANISMS[kind]))
    if kind == "number":
        low, high = field("min", check.number), field("max", check.number)
        if low is not None and high is not None and not low < high:
            check.note(join(place, "max"), "range", "must be above min")
            low = None
        field("unit", check.text)
        if "bins" in item and measure != "shares":
            check.note(join(place, "bins"), "conflict", 'bins go with measure = "shares"')
        elif low is not None and high is not None:
            field("bins", lambda value, where: _check_bins(check, value, where, low, high))
        if "delta" in item and mechanism != "gaussian":
            check.note(join(place, "delta"), "conflict", 'delta goes with mechanism = "gaussian"')
        else:
            field("delta", is_decimal(DELTA, "0.000000001", "0.01"))
        if mechanism and measure == "shares":
            check.note(join(place, "mechanism"), "conflict", f'{mechanism} goes with measure = "mean"')
    if decline and (kind == "multi_choice" or measure == "mean" or mechanism == "exponential"):
        check.note(
            join(place, "decline"),
            "conflict",
            'decline goes with yes_no, choice, and measure = "shares" (not exponential)',
        )
    return clean


def _check_bins(check: Checker, value: object, place: str, low: float, high: float) -> list[float] | None:
    edges = check.items(value, place, 1, 51, check.number)
    if edges is None:
        return None
    for i, edge in enumerate(edges):
        if not low <= edge <= high:
            return check.note(f"{place}[{i}]", "range", "must lie between min and max")
        if i and not edges[i - 1] < edge:
            return check.note(f"{place}[{i}]", "range", "must be above the edge before it")
    inner = sum(low < edge < high for edge in edges)
    if not 1 <= inner <= 49:
        return check.note(place, "range", f"makes {inner + 1} bins, not 2 to 50")
    return edges
