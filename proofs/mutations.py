"""Texts with something changed in them: in their bytes, in the JSON tree that they contain, or in how it is written."""

from __future__ import annotations

import json
from copy import deepcopy
from random import Random
from typing import Any

from .hostile_bodies import NUMBERS, Literal, Pairs, write

PIECES = [
    b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"0", b"-", b".", b"e", b"\x00", b"\xff", b"\xc3", b"\xef\xbb\xbf",
    b" ", b"\n", b"\r", b"\t", b"\\u0000", b"\\ud800", b"null", b"true", b"1e999", b"=", b"#", b"[[", b"'''", b'"""',
    "é".encode(), "\u2028".encode(), "\U0001f600".encode(),
]  # fmt: skip
VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 2, 0.5, 1e-9, 2**53, 2**53 - 1, 2**64, -(2**53), "", "a", "1", "0.5", "1.0", [], {},
    [1], {"a": 1}, "declined", "krr", "laplace", "gaussian", "mean", "shares", "é", "\x00", "x" * 300, "__proto__",
    "constructor", [[]], "yes_no", "number", "10.0", "0.01", "10.0001", " 1", "1e0", "０", "-1", "+1", "01",
]  # fmt: skip


def change_bytes(raw: bytes, chance: Random) -> bytes:
    """A few bytes flipped, put in, taken out, doubled or moved."""
    for _ in range(chance.randint(1, 3)):
        at, n, how = chance.randrange(len(raw) + 1), chance.randint(1, 20), chance.randrange(7)
        if how == 0 and raw:
            at = min(at, len(raw) - 1)
            raw = raw[:at] + bytes([raw[at] ^ 1 << chance.randrange(8)]) + raw[at + 1 :]
        elif how == 1:
            raw = raw[:at] + chance.choice(PIECES) + raw[at:]
        elif how == 2:
            raw = raw[:at] + raw[at + n :]
        elif how == 3:
            raw = raw[:at] + raw[at : at + n] + raw[at:]
        elif how == 4:
            raw = raw[:at] if chance.randrange(4) == 0 else raw[:at] + chance.choice(PIECES) + raw[at + 1 :]
        elif how == 5:
            other = chance.randrange(len(raw) + 1)
            raw = raw[:at] + raw[other : other + n] + raw[at + n :]
        else:
            digits = [i for i, byte in enumerate(raw) if 48 <= byte <= 57]
            if digits:
                at = chance.choice(digits)
                raw = raw[:at] + b"%d" % chance.randrange(10) + raw[at + 1 :]
    return raw


def change_tree(tree: Any, chance: Random) -> Any:
    """The tree with one or two values changed, taken out, doubled, renamed or put elsewhere."""
    changed = _with_pairs(tree)
    for _ in range(chance.randint(1, 2)):
        _change_one(changed, chance)
    return changed


def _with_pairs(tree: Any) -> Any:
    if isinstance(tree, dict):
        return Pairs((key, _with_pairs(value)) for key, value in tree.items())
    return [_with_pairs(item) for item in tree] if isinstance(tree, list) else tree


def _holders(tree: Any) -> list[Any]:
    """Every object and list in the tree that is not empty."""
    inner = [value for _, value in tree] if isinstance(tree, Pairs) else tree if isinstance(tree, list) else []
    return ([tree] if inner else []) + [holder for value in inner for holder in _holders(value)]


def _change_one(tree: Any, chance: Random) -> None:
    holder = chance.choice(_holders(tree) or [[0]])
    at, how = chance.randrange(len(holder)), chance.randrange(8)
    is_object = isinstance(holder, Pairs)
    key, value = holder[at] if is_object else ("", holder[at])

    def put(other: Any) -> None:
        holder[at] = (key, other) if is_object else other

    if how <= 1:
        put(deepcopy(chance.choice(VALUES)))
    elif how == 2:
        del holder[at]
    elif how == 3:
        holder.insert(chance.randrange(len(holder) + 1), deepcopy(holder[at]))
    elif how == 4 and is_object:
        holder[at] = (chance.choice([key + "x", key.upper(), "", "__proto__", "id", "more", "decline"]), value)
    elif how == 5:
        chance.shuffle(holder)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        others = [value + 1, value - 1, -value, value * 2, value + 0.5, Literal(chance.choice(NUMBERS))]
        put(chance.choice([*others, *_written(value)]))
    elif isinstance(value, str):
        others = [value + " ", value + "\n", value.upper(), value[:-1], value + "0", "0" + value, [value], value * 9]
        put(chance.choice(others))
    else:
        put(chance.choice([[value], {"a": value}, deepcopy(chance.choice(VALUES))]))


def _written(number: float) -> list[Literal]:
    """The same number, written otherwise."""
    text = str(number)
    if "." in text or "e" in text:
        forms = [text.upper() if "e" in text else text + "0", f"{number:e}", f"{number:.30f}"]
    else:
        forms = [f"{text}{end}" for end in (".0", "e0", "0e-1", "." + "0" * 400, "." + "0" * 30 + "1", "E+00", ".4")]
    return [Literal(form) for form in forms]


def rewrite(tree: Any, chance: Random) -> bytes:
    """The tree as JSON, laid out and escaped in one of many ways; some are none that JSON knows."""
    space = chance.choice(["", "", " ", "\n", "\t\r\n ", "\u00a0", "\x0b", "/**/"])
    comma, colon = chance.choice([",", ",", ",", ", ", " ,"]), chance.choice([":", ":", ": ", " : "])
    text = space + write(tree, (comma + space, colon + space)) + space
    if chance.randrange(3) == 0:
        text = _escaped(text, chance)
    return text.encode("utf-8", errors="surrogatepass")


def _escaped(text: str, chance: Random) -> str:
    """Some letters as \\u and four digits: the same text within strings, and no JSON elsewhere."""
    inside, result, skip = False, [], False
    for character in text:
        if skip or not inside:
            inside, skip = inside if skip else character == '"', False
        elif character in '"\\':
            inside, skip = character != '"', character == "\\"
        elif character.isalnum() and ord(character) < 0x10000 and chance.randrange(5) == 0:
            character = f"\\u{ord(character):04x}"
        result.append(character)
    return "".join(result)


def mutated(raw: bytes, chance: Random) -> bytes:
    """JSON bytes with something changed, or only written otherwise."""
    how = chance.randrange(10)
    if how < 3:
        return change_bytes(raw, chance)
    tree = json.loads(raw)
    if how < 7:  # otherwise most would be refused for how they are written
        return write(change_tree(tree, chance)).encode("utf-8", errors="surrogatepass")
    return rewrite(change_tree(tree, chance) if how < 9 else tree, chance)
