"""For the vectors: invitation codes as people may type them, and documents of surveys with invitations."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tampered import QUESTIONS, at, dump, edited, places, small_document
from tokens import KEY, reader, stream

from deniable_protocol import InvitationError, publish, survey_from_tree
from deniable_protocol.blind_signatures import to_text
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


# --- documents ----------------------------------------------------------------------------------------------------


def invited_document() -> Any:
    """The document of a survey with invitations, as a tree."""
    tree = {"id": "vector", "title": "Vector", "invitations": True, "questions": [QUESTIONS["yes_no"]]}
    return json.loads(publish(survey_from_tree(tree), issuer=KEY))


def tampered_issuers() -> Iterator[tuple[str, str]]:
    tree = invited_document()
    yield "invitations: as published", dump(tree)
    for path in [("survey", "invitations"), *(path for path in places(tree) if path[0] == "issuer")]:
        where = ".".join(path)
        yield f"invitations: without {where}", dump(edited(tree, path))
        for wrong in (False, None, "true", 1, [], {}):
            yield f"invitations: {where} is {wrong!r}", dump(edited(tree, path, wrong))
    yield "invitations: unknown key in issuer", dump(edited(tree, ("issuer", "extra"), 1))
    yield (
        "invitations: keys of issuer in another order",
        dump({**tree, "issuer": dict(reversed(tree["issuer"].items()))}),
    )
    yield "invitations: issuer in another place", dump({"issuer": tree["issuer"], **tree})
    for kind in ("RSABSSA-SHA384-PSS-Deterministic", "rsabssa-sha384-pss-randomized", ""):
        yield f"invitations: the kind {kind!r}", dump(edited(tree, ("issuer", "kind"), kind))
    for comment, key in _wrong_keys().items():
        yield f"invitations: {comment}", dump(edited(tree, ("issuer", "key"), key))
    small = small_document("yes_no")
    yield "an issuer without invitations", dump({**small, "issuer": at(tree, ("issuer",))})
    yield "invitations that are false", dump(edited(small, ("survey", "invitations"), False))


def _wrong_keys() -> dict[str, str]:
    spki = KEY.spki
    return {
        "a key with padding": KEY.text + "=",
        "a key cut short": KEY.text[:-4],
        "a key in the other alphabet": KEY.text.replace("-", "+").replace("_", "/"),
        "a key with another exponent": to_text(spki[:-1] + b"\x03"),
        "an even modulus": to_text(spki[:-6] + bytes([spki[-6] & 0xFE]) + spki[-5:]),
        "a modulus of fewer bits": to_text(spki[:33] + b"\x7f" + spki[34:]),
        "a key of another algorithm": to_text(spki[:16] + b"\x0a" + spki[17:]),
    }
