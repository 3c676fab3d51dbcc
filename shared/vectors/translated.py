"""Documents with texts in several languages: published ones, and ways to tamper with them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tampered import at, dump, edited, places

from deniable_protocol import publish, survey_from_tree


def text(english: str, spanish: str) -> dict[str, str]:
    return {"en": english, "es-MX": spanish}


def translated_document() -> Any:
    """Every kind of text, in two languages or in one; names that are languages, too."""
    tree = {
        "id": "vector",
        "languages": ["en", "es-MX"],
        "title": text("Health", "Salud"),
        "asked_by": text("Health service", "Servicio de salud"),
        "contact": "help@example.org",
        "notice": text("Why\nwe ask", "Por qué\npreguntamos"),
        "closing": text("Thank you", "Gracias"),
        "epsilon": "2.0",
        "segments": [
            {
                "id": "es",
                "text": text("Campus?", "¿Campus?"),
                "options": [{"code": "n", "text": text("North", "Norte")}, {"code": "s", "text": "S"}],
            }
        ],
        "questions": [
            {"id": "en", "type": "yes_no", "text": text("Yes?", "¿Sí?")},
            {
                "id": "often",
                "type": "choice",
                "text": text("How often?", "¿Con qué frecuencia?"),
                "show_if": {"en": ["yes"]},
                "options": [{"code": "en", "text": "A"}, {"code": "es-MX", "text": text("B", "Be")}],
            },
            {"id": "stress", "type": "scale", "text": "?", "labels": [text("low", "bajo"), "2", text("high", "alto")]},
            {"id": "min", "type": "number", "text": "?", "min": 0, "max": 9, "unit": text("drinks", "bebidas")},
        ],
    }
    parts = [(["en", "often"], 1), (["stress"], None), (["min"], None)]
    return json.loads(publish(survey_from_tree(tree), parts, [([number], 1) for number in range(3)]))


ES = "es-MX"
SURVEY = ("survey",)
WRONG = (None, 7, [], {}, "", {"en": "x"}, {"en": "x", ES: {"en": "x", ES: "y"}}, {"en": "same", ES: "same"})


def tampered_languages() -> Iterator[tuple[str, str]]:
    tree = translated_document()
    yield "languages: as published", dump(tree)
    tables = [path for path in places(tree) if isinstance(at(tree, path), dict) and ES in at(tree, path)]
    for turn, path in enumerate(tables):
        where = ".".join(map(str, path))
        for tag in ("en", ES):
            yield f"languages: {where} without {tag}", dump(edited(tree, (*path, tag)))
            wrong = ("", " x", "a\u200bb", 1, None, ["x"])[turn % 6]
            yield f"languages: {where} with a wrong text in {tag}", dump(edited(tree, (*path, tag), wrong))
        yield f"languages: {where} with one more", dump(edited(tree, (*path, "de"), "x"))
        yield (
            f"languages: {where} in another order",
            dump(edited(tree, path, {tag: "ab"[tag == ES] for tag in (ES, "en")})),
        )
        yield f"languages: {where} in one language", dump(edited(tree, path, "x"))
        yield f"languages: {where} is something else", dump(edited(tree, path, WRONG[turn % len(WRONG)]))
    for wrong in WRONG:
        yield f"languages: the title is {json.dumps(wrong)}", dump(edited(tree, (*SURVEY, "title"), wrong))
    languages = (*SURVEY, "languages")
    for given in (
        *([], ["en"], ["en", ES, "de"], ["en", "en"], [ES, "en"], "en", {"en": ES}, [1], [""], ["EN"], ["e"]),
        *(["en-us"], ["en", "es_MX"], ["zh-Hant-TW", "en"], ["engl", "en"], None, 0, False, [["en"]]),
        *([*"ab" * 16], ["en-Latn-US-x"]),
    ):
        yield f"languages: {json.dumps(given)}", dump(edited(tree, languages, given))
    yield "languages: none, and texts in two", dump(edited(tree, languages))
    plain = edited(tree, languages)
    for path in tables:
        plain = edited(plain, path, "x")
    yield "languages: none, and texts in none", dump(plain)
    rest = {key: value for key, value in plain["survey"].items() if key != "id"}
    many = [f"{a}{b}" for a in "ab" for b in "abcdefghijklmnop"]
    for tags in (["es"], ["zh-Hant", "zh"], ["aa", "min"], many[:30], many[:31]):
        named = {"id": "vector", "languages": tags, **rest}
        yield f"languages: {len(tags)} of them", dump({**plain, "survey": named})
        title = {tag: f"x{tag}" for tag in tags}
        yield f"languages: a title in {len(tags)}", dump({**plain, "survey": {**named, "title": title}})
