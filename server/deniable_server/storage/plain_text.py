"""Characters that act instead of being shown. No text of somebody else's reaches a terminal or a spreadsheet with one.

They are the control characters (C0, C1, DEL: they move the cursor, set titles, forge lines), separators of lines and
paragraphs, what overrides the direction of writing, and halves of characters.
"""

from __future__ import annotations

import re

ACTING = "\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff"
"""As in a regular expression."""

SHOWN_INSTEAD = "\ufffd"

_ACTING = re.compile(f"[{ACTING}]")
_BUT_LINES = re.compile(rf"(?!\n)[{ACTING}]")


def acts(text: str) -> bool:
    """Whether there is any such character in it."""
    return _ACTING.search(text) is not None


def visible(text: str, *, lines: bool = False) -> str:
    """The text with a mark in place of each; where it has several ``lines``, they stay."""
    return (_BUT_LINES if lines else _ACTING).sub(SHOWN_INSTEAD, text)


def escaped(json: str) -> str:
    """The same JSON, with such characters written as in \\u202e: there they are only in texts, if it is compact."""
    return _ACTING.sub(lambda found: f"\\u{ord(found[0]):04x}", json)
