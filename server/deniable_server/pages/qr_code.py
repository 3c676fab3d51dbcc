"""QR codes of links: for the Share page, for a terminal, and as a file to print.

May not: shorten or change a link. What is in the code is the link that people would type.
"""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from itertools import groupby

import segno

QUIET = 4
"""Empty modules around a code, without which cameras do not find it."""
SCALE = 10
"""Of a file: pixels for each module."""
_HALVES = {(False, False): " ", (True, False): "▀", (False, True): "▄", (True, True): "█"}


@dataclass(frozen=True)
class Code:
    """A QR code as the path of an SVG: dark modules on a square of ``size``, quiet zone included."""

    size: int
    path: str


def _make(link: str) -> segno.QRCode:
    # Level M: a seventh of a printed code may be dirty. A higher level would make the modules smaller.
    return segno.make_qr(link, error="m")


def _rows(link: str) -> list[list[bool]]:
    """The modules with the quiet zone, true where they are dark."""
    return [[bool(module) for module in row] for row in _make(link).matrix_iter(border=QUIET)]


def svg_code(link: str) -> Code:
    """The code for a page."""
    rows = _rows(link)
    bars = []
    for y, row in enumerate(rows):
        x = 0
        for dark, run in groupby(row):
            length = len([*run])
            bars += [f"M{x} {y}h{length}v1h-{length}z"] if dark else []
            x += length
    return Code(len(rows), "".join(bars))


def text_code(link: str) -> str:
    """The code in half blocks, for black on white: each character is one module wide and two high."""
    rows = _rows(link)
    rows += [[False] * len(rows[0])] * (len(rows) % 2)
    pairs = zip(rows[::2], rows[1::2], strict=True)
    return "\n".join("".join(_HALVES[pair] for pair in zip(upper, lower, strict=True)) for upper, lower in pairs)


def code_file(link: str, kind: str) -> bytes:
    """The code as a file, black on white. ``kind``: svg or png."""
    file = BytesIO()
    _make(link).save(file, kind=kind, scale=SCALE, border=QUIET, light="white")
    return file.getvalue()
