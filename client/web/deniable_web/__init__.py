"""The browser client as package data, so that the server serves the one copy there is."""

import re
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable

_SPACES = re.compile(
    r"""("[^"\n]*"|`[^`]*`|(?<=[(= ])/[^/ ].*?/[gu]*(?=[.,;)]))| ?([=!]==?|=>|&&|\|\||[-=?:,{}()+*<>]) ?"""
)
"""Texts and patterns, as the first group; elsewhere a sign and the spaces around it, which a program does not need."""

PARTS = ("checks", "account", "survey", "design", "protocol", "randomizer", "transport", "device", "delivery")
"""The modules that deniable.js needs for a Client, each after those that it needs."""


def web_file(name: str) -> Traversable:
    """One of the files of this package, such as ``deniable.js``."""
    return files(__name__) / name


def web_files() -> Iterator[tuple[str, bytes]]:
    """What is served: ``deniable.js`` in one piece, and every module as it is written, by address relative to it."""
    yield "deniable.js", in_one_piece()
    for file in web_file("deniable").iterdir():
        yield f"deniable/{file.name}", file.read_bytes()


def in_one_piece() -> bytes:
    """deniable.js together with the modules that it needs, as one module without their comments and indentation.

    A page then waits for one small file instead of six, and one hash pins all of it. Nothing is renamed or rewritten:
    top-level names differ between the modules, and their imports and exports of each other fall away.
    """
    names = [*(f"deniable/{part}.js" for part in PARTS), "deniable.js"]
    code = [_without_comments(web_file(name).read_text("utf-8")) for name in names]
    parts = [re.sub(r"^export (?=async|class|const|function)", "", part, flags=re.M) for part in code[:-1]]
    head = "// Deniable. The same with comments, in modules: deniable/*.js next to this file.\n"
    return (head + "".join(parts) + code[-1]).encode()


def _without_comments(code: str) -> str:
    code = re.sub(r"^import \{[^}]*\} from .*\n", "", code, flags=re.M)
    code = re.sub(r"^ */\*\*.*?\*/\n", "", code, flags=re.M | re.S)
    code = re.sub(r"^ *//.*\n", "", code, flags=re.M)
    code = re.sub(r" +// .*$", "", code, flags=re.M)
    code = re.sub(r"^\s+", "", code, flags=re.M)
    return _SPACES.sub(lambda found: found[1] or found[2], code)
