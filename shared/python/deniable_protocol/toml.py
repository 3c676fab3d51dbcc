"""TOML in bounded time: what no survey needs, and what makes a parser slow, is refused before it is parsed."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import Any

MAX_DOTS = 64
MAX_DIGITS = 400
"""As for numbers in JSON."""

_PART = r"""(?:(?<![\w-])[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
# tomllib needs time in the square of the dots of a key: 69 s for 80 kB of them. A part can only begin where no other
# goes on, and gives nothing back, so that this looks at each character at most MAX_DOTS + 2 times.
_MANY_DOTS = re.compile(rf"{_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{MAX_DOTS + 1}}}")


def bounded_toml(text: str) -> dict[str, Any]:
    """The tree in this text, with decimals for numbers with a point. ValueError says what is wrong."""
    if _MANY_DOTS.search(text):
        raise ValueError(f"a key has more than {MAX_DOTS} dots")
    from tomllib import loads  # for publishers only: clients read JSON

    tree = loads(text, parse_float=_decimal)
    _refuse_long_integers(tree)
    return tree


def _decimal(digits: str) -> Decimal:
    """Decimal refuses some exponents with an error that is no ValueError, and takes some that nobody can write out."""
    try:
        number = Decimal(digits)
    except InvalidOperation:
        raise ValueError("a number has too large an exponent") from None
    if number.is_finite() and (len(digits) > MAX_DIGITS or abs(number.adjusted()) > MAX_DIGITS):
        raise ValueError("a number is too long, or has too large an exponent")
    return number


def _refuse_long_integers(tree: object) -> None:
    waiting = [tree]
    while waiting:
        match waiting.pop():
            case dict() as table:
                waiting.extend(table.values())
            case list() as items:
                waiting.extend(items)
            case int() as number if number.bit_length() > 3 * MAX_DIGITS:
                raise ValueError("a number is too long")
