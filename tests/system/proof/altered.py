"""Copies of the server with one thing broken: a proof that does not notice proves nothing."""

from __future__ import annotations

import shutil
from pathlib import Path

import deniable_server


def altered(folder: Path, file: str, changes: dict[str, str]) -> Path:
    """A folder for PYTHONPATH with a copy of the server in which each of these texts of a file is another."""
    sources = folder / "altered"
    shutil.copytree(
        Path(deniable_server.__file__).parent,
        sources / "deniable_server",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    path = sources / "deniable_server" / file
    text = path.read_text("utf-8")
    for old, new in changes.items():
        if text.count(old) != 1:
            raise LookupError(f"the place for this fault has moved: {old!r} is {text.count(old)} times in {file}")
        text = text.replace(old, new)
    path.write_text(text, "utf-8")
    return sources
