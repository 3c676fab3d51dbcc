"""The browser client as package data, so that the server serves the one copy there is."""

from importlib.resources import files
from importlib.resources.abc import Traversable


def web_file(name: str) -> Traversable:
    """One of the files of this package, such as ``deniable.js``."""
    return files(__name__) / name
