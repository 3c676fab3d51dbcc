"""Checking what arrives: whether an object is a submission to a given survey. And the answer to one that is.

The other end of ``submission``. The sender may be any program, so no message repeats what was sent: a broken
client may have put an answer where a report belongs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any

import msgspec

from .checks import MAX_SAFE, Checker, join
from .document import Document

SUBMISSION_ID = re.compile(r"[0-9a-f]{32}")
KEYS = ("id", "digest", "reports", "segments")


class Accepted(msgspec.Struct, frozen=True):
    """The answer to one submission or several: how many are stored now, and how many were known already."""

    accepted: Annotated[int, msgspec.Meta(ge=0)]
    duplicates: Annotated[int, msgspec.Meta(ge=0)]


def check_submission(check: Checker, document: Document, tree: object, place: str = "") -> dict[str, Any] | None:
    """The submission in this tree, with a report for every question and a code for every segment.

    Notes every problem in ``check``; returns None if there was one.
    """
    before = len(check.problems)
    if not _fields(check, tree, place, KEYS):
        return None
    assert isinstance(tree, dict)
    if not isinstance(tree["id"], str) or not SUBMISSION_ID.fullmatch(tree["id"]):
        check.note(join(place, "id"), "format", "must be 32 hexadecimal digits in lower case")
    if tree["digest"] != document.digest:
        check.note(join(place, "digest"), "digest", "is not the digest of this survey's published document")
    questions, reports = document.survey.questions, tree["reports"]
    if _fields(check, reports, join(place, "reports"), [question.id for question in questions]):
        for question in questions:
            _report(check, document, question.id, reports[question.id], join(place, f"reports.{question.id}"))
    segments = tree["segments"]
    if _fields(check, segments, join(place, "segments"), [segment.id for segment in document.survey.segments]):
        for segment in document.survey.segments:
            if segments[segment.id] not in [option.code for option in segment.options]:
                check.note(join(place, f"segments.{segment.id}"), "range", "is not one of the codes of this segment")
    return tree if len(check.problems) == before else None


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


def _report(check: Checker, document: Document, question: str, value: object, place: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        check.note(place, "type", "must be an integer")
    elif not 0 <= value <= MAX_SAFE or not document.channels[question].is_report(value):
        check.note(place, "range", "is not a report of this question's channel")
