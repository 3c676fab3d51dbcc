"""The server's sources with a fault planted, for tests of the proofs themselves."""

from __future__ import annotations

import shutil
from pathlib import Path

import deniable_server

Change = tuple[str, str, str]
"""A file of the package, what is there, and what stands there instead."""


def altered(folder: Path, *changes: Change) -> Path:
    """A folder to put before all others on the path: the server from there has these changes."""
    package = folder / "deniable_server"
    shutil.copytree(Path(deniable_server.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    for file, old, new in changes:
        text = (package / file).read_text("utf-8")
        assert text.count(old) == 1, f"the place for this fault has moved: {old!r} is {text.count(old)} times in {file}"
        (package / file).write_text(text.replace(old, new), "utf-8")
    return folder
