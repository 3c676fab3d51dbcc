"""Drafts for tests: the content of one is what the editor stores."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from itertools import count
from typing import Any

from deniable_server import editing
from deniable_server.editing import Answer, Change, Item, Sketch
from deniable_server.editing.changes import value_at
from deniable_server.storage import Storage

SCRIPT = "document.title='run'"
HOSTILE = f'"><script>{SCRIPT}</script><img src=x onerror="{SCRIPT}"> \u05d0\u05d1\u05d2 \'quoted\' {{{{ 7 * 7 }}}}'
"""A text that runs where somebody forgets to escape it, with words from right to left."""

_NUMBERS = count()


def example_tree() -> dict[str, Any]:
    """The example survey, as a tree."""
    return tomllib.loads((files("deniable_server") / "example.toml").read_text("utf-8"))


def hostile_tree() -> dict[str, Any]:
    """A survey whose every text is hostile."""
    options = [{"code": "a", "text": HOSTILE}, {"code": "b", "text": f"{HOSTILE} b"}]
    texts = dict.fromkeys(("title", "notice", "closing", "asked_by"), HOSTILE)
    question = {"id": "q", "type": "choice", "text": HOSTILE, "options": options}
    segment = {"id": "s", "text": HOSTILE, "options": options}
    return {"id": "hostile", **texts, "epsilon": 2.0, "questions": [question], "segments": [segment]}


def new_draft(storage: Storage, tree: dict[str, Any] | None = None, **changed: Any) -> int:
    """Keep a draft of this survey, the example where none is given; its number."""
    return storage.drafts.create(editing.write(editing.from_tree((tree or example_tree()) | changed)))


def change(op: str, at: str = "", value: Any = None, was: Any = None, **more: Any) -> Change:
    """A change with an id of its own."""
    return Change(f"c{next(_NUMBERS)}", op, at, value, was, **more)  # type: ignore[arg-type]


def put(sketch: Sketch, at: str, value: Any, by: str = "Ann") -> None:
    """Write in a field, as somebody does who sees what is there."""
    assert editing.apply(sketch, change("set", at, value, value_at(sketch, at)), by) is None


def do(sketch: Sketch, op: str, **more: Any) -> None:
    """Add, copy, move, delete or restore a question, or a pair."""
    assert editing.apply(sketch, change(op, **more), "Ann") is None


def copied(sketch: Sketch) -> Sketch:
    """As it comes back from the database."""
    return editing.read(editing.write(sketch))


def example_sketch() -> Sketch:
    """The example survey: every type, follow-ups, pairs, a segment and two languages."""
    return editing.from_tree(example_tree())


def question(sketch: Sketch, name: str) -> Item:
    """The question or segment of this id."""
    return next(item for item in sketch.items if item.id == name)


def choice(*texts: str, languages: list[str] | None = None) -> tuple[Sketch, str]:
    """A sketch with one question that has these answers, and its key."""
    sketch = Sketch(languages=languages or ["en"], texts={"title": {"en": "T"}}, epsilon="2.0")
    item = Item("k1", "choice", {"en": "Which?"}, answers=[Answer(f"a{n}", {"en": t}) for n, t in enumerate(texts)])
    sketch.questions.append(item)
    return sketch, item.key


def check_sentence(sentence: str) -> None:
    """Whether a fault is said for people who have never seen a file."""
    assert re.match(r"[A-Z“ΕΔ]", sentence) and sentence.endswith("."), sentence
    for inside in ("[", "]", "^", "{", "\\", "show_if", "must be a", "questions[", "$", "_id", ".."):
        assert inside not in sentence, sentence
