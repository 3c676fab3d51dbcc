"""Checking what arrives: whether an object is a submission to a given survey. And the answer to one that is.

The other end of ``submission``. The sender may be any program, so no message repeats what was sent: a broken
client may have put an answer where a report belongs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any

import msgspec

from .blind_signatures import PublicKey, Token, submission_id, verify_token
from .checks import MAX_SAFE, Checker, join
from .document import Document
from .errors import TokenError
from .parts import Part

SUBMISSION_ID = re.compile(r"[0-9a-f]{32}")
KEYS = ("id", "digest", "booklet", "reports", "segments")


class Accepted(msgspec.Struct, frozen=True):
    """The answer to one submission or several: how many are stored now, and how many were known already."""

    accepted: Annotated[int, msgspec.Meta(ge=0)]
    duplicates: Annotated[int, msgspec.Meta(ge=0)]


def check_submission(check: Checker, document: Document, tree: object, place: str = "") -> dict[str, Any] | None:
    """The submission in this tree, with a report for every part of its booklet, a code for every segment and, if the
    survey has invitations, a token that the issuer has signed.

    Notes every problem in ``check``; returns None if there was one.
    """
    before = len(check.problems)
    if not _fields(check, tree, place, KEYS if document.issuer is None else (*KEYS, "token")):
        return None
    assert isinstance(tree, dict)
    if not isinstance(tree["id"], str) or not SUBMISSION_ID.fullmatch(tree["id"]):
        check.note(join(place, "id"), "format", "must be 32 hexadecimal digits in lower case")
    if tree["digest"] != document.digest:
        check.note(join(place, "digest"), "digest", "is not the digest of this survey's published document")
    booklet = tree["booklet"]
    if isinstance(booklet, bool) or not isinstance(booklet, int):
        check.note(join(place, "booklet"), "type", "must be an integer")
    elif not 0 <= booklet < len(document.booklets):
        check.note(join(place, "booklet"), "range", "is not a booklet of this survey")
    else:
        _reports(check, document.parts_of(booklet), tree["reports"], join(place, "reports"))
    segments = tree["segments"]
    if _fields(check, segments, join(place, "segments"), [segment.id for segment in document.survey.segments]):
        for segment in document.survey.segments:
            if segments[segment.id] not in [option.code for option in segment.options]:
                check.note(join(place, f"segments.{segment.id}"), "range", "is not one of the codes of this segment")
    if document.issuer is not None and len(check.problems) == before:  # the costly part comes last
        _token(check, document.issuer, tree, place)
    return tree if len(check.problems) == before else None


def _token(check: Checker, issuer: PublicKey, tree: dict[str, Any], place: str) -> None:
    """That the token is valid, and the id the one that follows from it: a token that is spent twice has one id."""
    at = join(place, "token")
    try:
        token = Token.read(tree["token"], at)
    except TokenError as error:
        check.problems += error.problems
        return
    if tree["id"] != submission_id(token.message):
        check.note(join(place, "id"), "mismatch", "is not the id that goes with this token")
    if not verify_token(issuer, token):
        check.note(join(at, "signature"), "signature", "is not a signature by the issuer of this survey")


def _fields(check: Checker, tree: object, place: str, required: Sequence[str]) -> bool:
    """Whether the tree is an object with just these keys."""
    if not isinstance(tree, dict):
        check.note(place, "type", "must be an object")
        return False
    missing = [key for key in required if key not in tree]
    for key in missing:
        check.note(join(place, key), "missing", "missing")
    if len(tree) > len(required) - len(missing):
        check.note(place, "unknown", f"has a key that is not one of {', '.join(required) or 'none'}")
        return False
    return not missing


def _reports(check: Checker, parts: Sequence[Part], reports: object, place: str) -> None:
    if not isinstance(reports, list):
        check.note(place, "type", "must be a list")
    elif len(reports) != len(parts):
        check.note(place, "range", f"must have one report for each part of the booklet: {len(parts)}")
    else:
        for number, (part, value) in enumerate(zip(parts, reports, strict=True)):
            if isinstance(value, bool) or not isinstance(value, int):
                check.note(f"{place}[{number}]", "type", "must be an integer")
            elif not 0 <= value <= MAX_SAFE or not part.channel.is_report(value):
                check.note(f"{place}[{number}]", "range", "is not a report of this part's channel")
