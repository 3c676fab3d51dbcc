"""How requests leave this device: what a transport is, and what it gives back.

May not: see an answer, or say who is sending. A transport carries bytes that were randomised before it got them, and
does not judge what comes back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import msgspec

from deniable_protocol.document import MAX_BYTES

MAX_RESPONSE = MAX_BYTES + 1
"""As much of a response as is read: one byte more than any document may have."""

USER_AGENT = "deniable"
"""The same on every device and in every version: it identifies nobody."""


class Response(msgspec.Struct, frozen=True):
    """What a server answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def header(self, name: str) -> str:
        """The value of a header, in whatever case it was sent; empty if it was not."""
        return next((value for key, value in self.headers.items() if key.lower() == name.lower()), "")

    @property
    def media_type(self) -> str:
        return self.header("Content-Type").partition(";")[0].strip().lower()

    @property
    def summary(self) -> str:
        return f"the server answered {self.status} with {printable(self.media_type) or 'no content type'}"


class Transport(Protocol):
    """Sends one request. Any object with this method will do."""

    def send(self, method: str, url: str, body: bytes | None, headers: Mapping[str, str], timeout: float) -> Response:
        """The response, whatever its status; OSError where none came within ``timeout`` seconds, or not all of it.

        Called from several threads at once.
        """


def describe(error: BaseException) -> str:
    """What went wrong with a request, in one line. urllib wraps the cause, which is what people can act on."""
    reason = getattr(error, "reason", None)
    cause = reason if isinstance(reason, BaseException) else error
    return printable(f"{type(cause).__name__}: {cause}")


def printable(text: str) -> str:
    """A stranger's text, fit for a message: one line, and not too much of it."""
    return "".join(character if character.isprintable() else " " for character in text[:300]).strip()
