"""The browser client as package data, so that the server serves the one copy there is."""

from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable


def web_file(name: str) -> Traversable:
    """One of the files of this package, such as ``deniable.js``."""
    return files(__name__) / name


def web_files() -> Iterator[tuple[str, Traversable]]:
    """``deniable.js`` and the modules that it loads, each under the address relative to it."""
    yield "deniable.js", web_file("deniable.js")
    folder = web_file("deniable")
    for file in folder.iterdir() if folder.is_dir() else ():
        yield f"deniable/{file.name}", file
