"""Surveys in several languages: one document, and so one digest, has the texts in all of them.

Where a survey names its languages, any text may be a table from each of them to a text. A text that is the same in all
of them is written once. ``Survey`` holds the texts of one language, and all the others with their places.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from .checks import Checker, join

MAX_LANGUAGES = 30
LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Z][a-z]{3})?(-[A-Z]{2})?")
"""A language, perhaps with a script and a country: es, es-MX, zh-Hant, zh-Hant-TW."""


def check_languages(check: Checker, value: object, place: str) -> tuple[str, ...]:
    """The languages of a survey, the first of which is the default."""
    tags = check.items(value, place, 1, MAX_LANGUAGES, lambda each, where: check.name(each, where, LANGUAGE))
    if tags is not None and len({*tags}) < len(tags):
        check.note(place, "duplicate", "names a language twice")
    return tuple(tags or ())


def best_language(wanted: Sequence[str], available: Sequence[str]) -> str | None:
    """The first of the wanted languages that is available, or one that differs in country or script; else the first
    available one, or None where there is none.
    """
    for tag in wanted:
        exact = [each for each in available if each.lower() == tag.lower()]
        near = [each for each in available if _primary(each) == _primary(tag)]
        if exact or near:
            return (exact or near)[0]
    return available[0] if available else None


def _primary(tag: str) -> str:
    return tag.lower().partition("-")[0]


Translations = tuple[tuple[str, tuple[str, ...]], ...]
"""The place of each translated text, such as ``questions[2].options[0].text``, and the text in every language."""


def translations_of(check: Checker, place: str) -> Translations:
    """The translated texts that were checked below this place."""
    start = len(join(place, ""))
    return tuple((where[start:], texts) for where, texts in check.translations.items())


def with_value(node: Any, place: str, value: Any) -> Any:
    """A copy of these structs, or of a tree, with another value at a place."""
    keys = [int(key) if key.isdecimal() else key for key in re.findall(r"\w+", place)]

    def changed(node: Any, depth: int) -> Any:
        if depth == len(keys):
            return value
        key = keys[depth]
        if isinstance(key, int):
            return (*node[:key], changed(node[key], depth + 1), *node[key + 1 :])
        if isinstance(node, dict):
            return {**node, key: changed(node[key], depth + 1)}
        return msgspec.structs.replace(node, **{key: changed(getattr(node, key), depth + 1)})

    return changed(node, 0)
