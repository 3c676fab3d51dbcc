"""A sketch: what a draft has in it. Texts are by language, and kept as they were typed."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any

import msgspec

Texts = dict[str, str]
"""A text by language; where the survey names no language, under ''."""

TEXTS = ("title", "asked_by", "contact", "notice", "closing")
"""The texts of a survey itself."""
SEGMENT = "segment"


class Answer(msgspec.Struct):
    """An option, or a point of a scale. Without a ``code`` one is made from its text."""

    key: str
    text: Texts = {}
    code: str = ""


class Item(msgspec.Struct):
    """A question, or a segment (its ``type``). Without an ``id`` one is made from its text.

    ``fields``: what only some types have, as it was typed. ``after``: the key of the question that this one depends on;
    ``among``: after which of its answers it is asked, by key, or by code where an answer has no text of its own.
    Answers that the type has no use for are kept: a type can be chosen by mistake.
    """

    key: str
    type: str
    text: Texts = {}
    id: str = ""
    answers: list[Answer] = []
    fields: dict[str, Any] = {}
    after: str = ""
    among: list[str] = []


class Removed(msgspec.Struct):
    """A question or segment that was deleted, and where it was."""

    place: int
    item: Item


class Sketch(msgspec.Struct):
    """What a draft has in it.

    ``together`` names questions by key, and options as ``key.key``. ``by`` says who changed it last, and ``done`` which
    changes are in it: one that is sent twice counts once.
    """

    id: str = ""
    languages: list[str] = []
    texts: dict[str, Texts] = {}
    invitations: bool = False
    epsilon: str = ""
    respondents: str = ""
    together: list[list[str]] = []
    segments: list[Item] = []
    questions: list[Item] = []
    removed: list[Removed] = []
    by: str = ""
    done: list[str] = []

    @property
    def tags(self) -> list[str]:
        """The languages of its texts, the main one first."""
        return self.languages or [""]

    @property
    def items(self) -> Iterator[Item]:
        yield from self.segments
        yield from self.questions

    def items_like(self, item: Item) -> list[Item]:
        """The list that has this one."""
        return self.segments if item.type == SEGMENT else self.questions

    def find(self, key: str) -> Item | None:
        return next((item for item in self.items if item.key == key), None)

    def main(self, texts: Texts) -> str:
        """A text in the main language."""
        return texts.get(self.tags[0], "")

    @property
    def title(self) -> str:
        return self.main(self.texts.get("title", {}))

    def missing(self, tag: str) -> int:
        """How many texts there are in the main language and not in this one."""
        texts = [*self.texts.values(), *(item.text for item in self.items)]
        texts += [answer.text for item in self.items if has_answers(item) for answer in item.answers]
        texts += [item.fields.get("unit", {}) for item in self.items if item.type == "number"]
        return sum(bool(self.main(each).strip()) and not each.get(tag, "").strip() for each in texts)


def has_answers(item: Item) -> bool:
    """Whether the answers of this type have texts."""
    return item.type in ("choice", "multi_choice", "scale", SEGMENT)


def new_key() -> str:
    return f"k{secrets.token_hex(4)}"


def new_item(kind: str) -> Item:
    """An empty question, or segment."""
    return Item(new_key(), kind)


_READ = msgspec.json.Decoder(Sketch)


def read(content: str) -> Sketch:
    """The sketch in the content of a draft."""
    return _READ.decode(content)


def write(sketch: Sketch) -> str:
    """The content of a draft."""
    return msgspec.json.encode(sketch).decode()
