"""Drafts for tests: the content of one is what the editor stores."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any

from deniable_server import editing
from deniable_server.storage import Storage

SCRIPT = "document.title='run'"
HOSTILE = f'"><script>{SCRIPT}</script><img src=x onerror="{SCRIPT}"> \u05d0\u05d1\u05d2 \'quoted\' {{{{ 7 * 7 }}}}'
"""A text that runs where somebody forgets to escape it, with words from right to left."""


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
