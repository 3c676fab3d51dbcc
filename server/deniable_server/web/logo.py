"""The logo of this server, which its operator chooses: one small picture for the page of respondents.

May not: take anything that a browser could run. An SVG can contain scripts and load other files, so none is taken.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from deniable_server.errors import SettingError

MOST_BYTES = 200_000
FORMATS = "a PNG, JPEG or WebP picture of at most 200 kB"


class Logo(NamedTuple):
    """A picture, and the type that its first bytes say."""

    content_type: str
    content: bytes


def parse_logo(content: bytes) -> Logo | None:
    """The picture in these bytes; None if it is too large, or of no type that is served."""
    if len(content) > MOST_BYTES:
        return None
    if content.startswith(b"\x89PNG\r\n\x1a\n"):
        return Logo("image/png", content)
    if content.startswith(b"\xff\xd8\xff"):
        return Logo("image/jpeg", content)
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return Logo("image/webp", content)
    return None


def read_logo(path: str) -> Logo | None:
    """The logo that a setting names, None without one; SettingError where there is no such picture."""
    if not path:
        return None
    try:
        with Path(path).open("rb") as file:
            found = parse_logo(file.read(MOST_BYTES + 1))
    except OSError as error:
        raise SettingError(f"The logo {path} cannot be read: {error.strerror}") from None
    if found is None:
        raise SettingError(f"--logo (DENIABLE_LOGO) takes {FORMATS}, and {path} is none. Save an SVG as PNG.")
    return found
