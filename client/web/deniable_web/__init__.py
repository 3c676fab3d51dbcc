"""The browser client as the server sends it: built from ``client/web/src`` by ``make bundle``, and committed.

So installing needs no node. A test builds the files again, and compares them byte for byte.
"""

import hashlib
from base64 import b64encode
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable


def web_file(name: str) -> Traversable:
    """One of the files of this package, such as ``deniable.js``."""
    return files(__name__) / name


def web_files() -> Iterator[tuple[str, bytes]]:
    """What is served: ``deniable.js``, and what it loads when it is needed, by address relative to it."""
    yield "deniable.js", web_file("deniable.js").read_bytes()
    yield from _below("deniable", web_file("deniable"))


def integrity() -> str:
    """What the attribute ``integrity`` of a script says, so that browsers refuse any other ``deniable.js``."""
    return "sha384-" + b64encode(hashlib.sha384(web_file("deniable.js").read_bytes()).digest()).decode()


def _below(name: str, folder: Traversable) -> Iterator[tuple[str, bytes]]:
    for each in folder.iterdir():
        address = f"{name}/{each.name}"
        if each.is_dir():
            yield from _below(address, each)
        else:
            yield address, each.read_bytes()
