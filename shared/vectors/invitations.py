"""Invitation codes for the vectors: as people may type them, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tokens import reader, stream

from deniable_protocol import InvitationError
from deniable_protocol.invitations import ALPHABET, LINK, TYPED, digest_of_code, draw_code, read_code, show_code

Test = dict[str, Any]


def invitation_tests() -> Iterator[Test]:
    for bits in (LINK, TYPED):
        size = (bits + 7) // 8
        scripts = {"a code": stream(f"code {bits}", size), "all zero": bytes(size), "all ones": b"\xff" * size}
        for comment, script in scripts.items():
            code = draw_code(bits, reader(script))
            shown = show_code(code)
            digest = digest_of_code(code).hex()
            drawn = {"comment": f"{comment}, {bits} bits", "bits": bits, "bytes": script.hex(), "shown": shown}
            yield {**drawn, **_read(code), "sha256": digest}
            yield from ({"comment": how, **_read(text)} for how, text in _ways_to_type(code, shown).items())
            if comment == "a code":
                yield from ({"comment": how, **_read(text)} for how, text in _errors(code).items())
    for how, text in {"empty": "", "only dashes": "----", "a survey's digest": "0123456789abcdef" * 4}.items():
        yield {"comment": how, **_read(text)}


def _read(text: str) -> Test:
    try:
        return {"text": text, "result": "valid", "code": read_code(text)}
    except InvitationError as error:
        return {"text": text, "result": "invalid", "reason": error.reason, "place": error.place}


def _ways_to_type(code: str, shown: str) -> dict[str, str]:
    return {
        "in groups": shown,
        "small letters": shown.lower(),
        "spaces, tabs and a line break": f"  {shown.replace('-', ' ')}\t\r\n",
        "no-break spaces": shown.replace("-", "\u00a0"),
        "dashes of word processors": code[:4]
        + "\u2010\u2011\u2012"
        + code[4:8]
        + "\u2013\u2014\u2015\u2212"
        + code[8:],
        "look-alike letters": code.replace("0", "O").replace("1", "I"),
        "small look-alike letters": code.replace("0", "o").replace("1", "l"),
    }


def _errors(code: str) -> dict[str, str]:
    swapped = next(i for i in range(len(code) - 1) if code[i] != code[i + 1])
    return {
        "a wrong character": _other(code[0]) + code[1:],
        "a wrong checksum": code[:-1] + _other(code[-1]),
        "two swapped": code[:swapped] + code[swapped + 1] + code[swapped] + code[swapped + 2 :],
        "one too few": code[:-1],
        "one too many": code + "0",
        "an U": "U" + code[1:],
        "a digit that is not ASCII": "\u0661" + code[1:],
        "a space that is none": code[:4] + "\u200b" + code[4:],
        "a letter that is two in upper case": code[:5] + "\u00df" + code[7:],
    }


def _other(character: str) -> str:
    return ALPHABET[(ALPHABET.index(character) + 1) % len(ALPHABET)]
