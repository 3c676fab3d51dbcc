"""Texts that people are shown: what they may contain, so that two that look the same are the same.

A text is in Unicode's normal form C, and its only white space are single spaces within it. It has no control,
bidirectional or zero-width characters, nothing that is never drawn, and no private or impossible code points. A notice
may have lines.

Which characters combine is for the Unicode of this Python to say. Two versions agree on all characters that both know,
and what is normal in one is normal in all older ones: no client refuses a text of characters that its publisher knew.
"""

from __future__ import annotations

import re
import unicodedata

HIDDEN = (
    "\x00-\x1f\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f"
    "\u2800\u3000\u3164\ud800-\uf8ff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff\U000f0000-\U0010ffff"
    + "".join(chr(end) for plane in range(1, 15) for end in (plane << 16 | 0xFFFE, plane << 16 | 0xFFFF))
)
"""The code points that no text has, as ranges: controls, spaces but U+0020, what is never drawn or changes the
direction of what is, surrogates, private use, and non-characters.
"""
_LOOSE = re.compile("^ | $|  ")
_LINES = re.compile(r"(?<=\S)\n{1,2}(?=\S)")


def normal_text(text: str, *, lines: bool) -> str:
    """A text as people write it, in normal form: white space of any kind becomes one space, or one or two newlines."""
    if text.isascii() and not _LOOSE.search(text) and text.isprintable():
        return text
    text = unicodedata.normalize("NFC", text)
    if not lines:
        return " ".join(text.split())
    paragraphs = re.split(r"\n\s*\n", text.strip().replace("\r\n", "\n").replace("\r", "\n"))
    return "\n\n".join("\n".join(" ".join(line.split()) for line in each.split("\n")) for each in paragraphs)


def what_is_wrong(text: str, *, lines: bool) -> str | None:
    """Why a published text is refused, if it is: it is not in normal form, or has what cannot be seen."""
    if lines:
        text = _LINES.sub(" ", text)
    if _LOOSE.search(text):
        return "has a space at an end, or two in a row"
    if text.isascii() and text.isprintable():
        return None
    found = re.search(f"[{HIDDEN}]", text)  # compiled when it is first used: that is slow, and many texts are ASCII
    if found:
        return f"contains U+{ord(found[0]):04X}, which cannot be seen"
    return None if unicodedata.is_normalized("NFC", text) else "is not in Unicode's normal form C"


def what_cannot_be_seen(text: str, *, lines: bool) -> str | None:
    """Why a text in a file is refused, if it is. A publisher also refuses characters that it does not know."""
    wrong = what_is_wrong(text, lines=lines)
    if wrong is None and not text.isascii():
        unknown = next((character for character in text if unicodedata.category(character) == "Cn"), None)
        if unknown is not None:
            return f"contains U+{ord(unknown):04X}, which is no character in Unicode {unicodedata.unidata_version}"
    return wrong
