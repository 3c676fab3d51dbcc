"""Ids and codes, made from texts: nobody has to think of one, and those who care can write their own."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable


def name_for(text: str, *, between: str, most: int, otherwise: str, taken: Iterable[str]) -> str:
    """A name of small ASCII letters, digits and ``between``, at most so long and not taken; ``otherwise`` where the
    text has no such letters, as in Arabic, or begins with a digit.
    """
    plain = unicodedata.normalize("NFKD", text.lower()).encode("ascii", "ignore").decode()
    words = re.findall("[a-z0-9]+", plain.replace("'", ""))
    name = ""
    for word in words:
        if name and len(name) + len(between) + len(word) > most:
            break
        name = f"{name}{between}{word}"[:most] if name else word[:most]
    if not name[:1].isalpha() or len(name) < 2:
        name = f"{otherwise}{between}{name}" if name else otherwise
    used, number, found = {*taken}, 1, name
    while found in used:
        number += 1
        found = f"{name}{between}{number}"
    return found
