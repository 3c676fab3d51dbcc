"""Invitation codes: what entitles a person to one token, in a link or on a letter.

A code is a random number in Crockford's base32, which has no I, L, O and U, and two characters that check it. So most
typing errors are found on the device, before anything is sent: of the wrong codes of a right length, one in 1,024
passes. The checksum is no secret and protects nothing else.

A server keeps the digest of a code, never the code. A code of 128 bits cannot be found by trying, not even by somebody
who has the digests. One of 60 bits is for typing by hand. The server limits how often somebody may try, which protects
it against guesses. It does not protect it against somebody who has the digests, and much computing power.

May not: print or log a code. An error never repeats one.
"""

from __future__ import annotations

import os
import re

from .checks import sha256
from .draws import RandomBytes
from .errors import InvitationError, Problem

LINK, TYPED = 128, 60
"""The random bits of a code that is in a link, and of one that a person can type."""

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
CHECKSUM = 2  # characters, which are 10 bits
LENGTHS = {bits: -(-bits // 5) + CHECKSUM for bits in (LINK, TYPED)}

_LOOK_ALIKE = str.maketrans("OIL", "011")
# Spaces, and every dash that a mail program or a word processor may have made of one.
_BETWEEN = re.compile("[ \t\r\n\u00a0\u2010-\u2015\u2212-]")


def draw_code(bits: int = LINK, read: RandomBytes = os.urandom) -> str:
    """A new code with so many random bits: of a link (128), or to be typed by hand (60)."""
    drawn = int.from_bytes(read((bits + 7) // 8), "big") >> -bits % 8
    payload = _characters(drawn, LENGTHS[bits] - CHECKSUM)
    return payload + _checksum(payload)


def read_code(text: str) -> str:
    """The code that somebody typed, without dashes and in upper case. ``InvitationError`` where it cannot be one.

    Small letters, spaces and dashes make no difference; O is read as 0, and I and L as 1.
    """
    code = _BETWEEN.sub("", text).upper().translate(_LOOK_ALIKE)
    if len(code) not in LENGTHS.values() or not {*code} <= {*ALPHABET}:
        expected = " or ".join(str(length) for length in sorted(LENGTHS.values()))
        message = f"an invitation code has {expected} letters and digits, and no U"
        raise InvitationError([Problem("invitation", "format", message)])
    if _checksum(code[:-CHECKSUM]) != code[-CHECKSUM:]:
        message = "the invitation code has a typing error: some of its letters or digits are wrong or swapped"
        raise InvitationError([Problem("invitation", "checksum", message)])
    return code


def show_code(code: str) -> str:
    """The code in groups of four, as people can read and type it."""
    return "-".join(code[i : i + 4] for i in range(0, len(code), 4))


def digest_of_code(code: str) -> bytes:
    """What a server keeps of a code that ``draw_code`` or ``read_code`` gave: its SHA-256."""
    return bytes.fromhex(sha256(code.encode("ascii")))


def _checksum(payload: str) -> str:
    """The first 10 bits of the SHA-256 of the characters before it."""
    return _characters(int(sha256(payload.encode("ascii"))[:4], 16) >> 6, CHECKSUM)


def _characters(number: int, count: int) -> str:
    return "".join(ALPHABET[number >> 5 * place & 31] for place in reversed(range(count)))
