"""What a response means, to a submission or to the request for a token: done, refused for good, or try again later.

May not: send anything, or look at a clock. Between this device and the server may be a captive portal, a proxy or a
half-started deployment, and what they answer is not the server's word. So only a response in the server's own form
settles anything; everything else is tried again, which is harmless: the same submission counts once.
"""

from __future__ import annotations

from datetime import UTC
from typing import TypeAlias

import msgspec

from deniable_protocol import Accepted

from .transport import Response, printable

LONGEST_RETRY_AFTER = 3600.0
_FINAL = frozenset({400, 409, 413, 415, 422})
UNKNOWN, USED, CLOSED, NOT_OPEN = (
    f"urn:deniable:problem:{name}"
    for name in ("invitation-unknown", "invitation-used", "survey-closed", "survey-not-open")
)


class Delivered(msgspec.Struct, frozen=True):
    """The server has stored it durably."""


class Signed(msgspec.Struct, frozen=True):
    """The issuer's signature, as a text."""

    signature: str

    def __repr__(self) -> str:
        return "<Signed>"


class Refusal(msgspec.Struct, frozen=True):
    """The server will never accept it, for example because the survey is closed. ``kind``: the type of the problem."""

    status: int | None
    title: str
    detail: str
    kind: str = ""


class Later(msgspec.Struct, frozen=True):
    """Nothing is settled. ``after`` is how many seconds the server asked to be left alone."""

    trouble: str
    after: float = 0.0


Verdict: TypeAlias = Delivered | Refusal | Later
TokenVerdict: TypeAlias = Signed | Refusal | Later


class _Problem(msgspec.Struct):
    """The server's form of an error (RFC 9457)."""

    title: str = ""
    detail: str = ""
    type: str = ""


# Made here and not at first use: threads that make msgspec describe a type at the same time crash the process.
_read_accepted = msgspec.json.Decoder(Accepted).decode
_read_problem = msgspec.json.Decoder(_Problem).decode
_read_signed = msgspec.json.Decoder(Signed).decode


def judge(response: Response, now: float) -> Verdict:
    """The verdict on a response that arrived at this time, in seconds since 1970."""
    try:
        if response.status in (200, 201):
            answer = _read_accepted(response.body)
            if answer.accepted + answer.duplicates == 1:
                return Delivered()
        elif response.status in _FINAL:
            refusal = _refusal(response)
            if refusal.kind != NOT_OPEN:  # its opening was put off: it is delivered once the survey is open
                return refusal
    except (msgspec.DecodeError, RecursionError):
        pass
    return Later(response.summary, retry_after(response, now))


def judge_token(response: Response, now: float) -> TokenVerdict:
    """The same for the request for a token. Only a server that knows invitations can refuse one."""
    try:
        if response.status in (200, 201):
            return _read_signed(response.body)
        if response.status in _FINAL | {403}:
            refusal = _refusal(response)
            if response.status != 403 or refusal.kind == UNKNOWN:
                return refusal
    except (msgspec.DecodeError, RecursionError):
        pass
    return Later(response.summary, retry_after(response, now))


def _refusal(response: Response) -> Refusal:
    if response.media_type != "application/problem+json":
        raise msgspec.DecodeError("not in the server's form")
    problem = _read_problem(response.body)
    return Refusal(response.status, printable(problem.title), printable(problem.detail), problem.type)


def retry_after(response: Response, now: float) -> float:
    """The seconds that a response asks to wait, given as a number or as a date; 0 if it does not ask."""
    value = response.header("Retry-After").strip()
    if value.isascii() and value.isdigit():
        seconds = float(value)
    else:
        try:
            from email.utils import parsedate_to_datetime  # rarely needed, and slow to load

            date = parsedate_to_datetime(value)
            seconds = (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - now
        except (ValueError, OverflowError):
            return 0.0
    return min(max(seconds, 0.0), LONGEST_RETRY_AFTER)
