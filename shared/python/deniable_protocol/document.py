"""The published document: a survey and its channels, as bytes that never change.

``publish`` writes one; ``verify`` reads one and proves, in integers, that each channel keeps the epsilon that the
survey states. The proof runs on the respondent's device: the server's word is not trusted for this.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

import msgspec

from .channel import Channel, read_channel
from .channels import CHANNELS
from .checks import Checker, join, strict_json
from .design import design
from .errors import DocumentError, Problem
from .exact import exp_floor
from .questions import Question
from .survey import Survey, check_survey

VERSION = 1
MAX_BYTES = 1_000_000


@dataclass(frozen=True)
class Document:
    """A verified document, unchangeable. ``digest`` is the SHA-256 of the published bytes, in hex."""

    survey: Survey
    channels: Mapping[str, Channel]
    digest: str


def publish(survey: Survey) -> bytes:
    """The bytes that a server stores and serves verbatim for this survey."""
    channels = {question.id: design(question) for question in survey.questions}
    document = msgspec.json.encode({"deniable": VERSION, "survey": survey, "channels": channels})
    verify(document)  # no document leaves here that a client would refuse
    return document


def verify(document: bytes | str, *, digest: str | None = None) -> Document:
    """The document, if it is well formed and every channel keeps its epsilon; DocumentError otherwise.

    ``digest`` pins the bytes: with it, any other document is refused.
    """
    try:
        raw = document.encode() if isinstance(document, str) else bytes(document)
    except UnicodeEncodeError:
        raise DocumentError([Problem("", "json", "the document is not Unicode text")]) from None
    if digest is not None and hashlib.sha256(raw).hexdigest() != digest:
        raise DocumentError([Problem("", "digest", "this is not the document that the link pins")])
    return _verify(raw)


@lru_cache(maxsize=32)
def _verify(raw: bytes) -> Document:
    if len(raw) > MAX_BYTES:
        raise DocumentError([Problem("", "size", f"the document is larger than {MAX_BYTES} bytes")])
    try:
        tree = strict_json(raw.decode())
    except ValueError as error:
        raise DocumentError([Problem("", "json", f"the document is not valid JSON: {error}")]) from None
    check = Checker()
    fields = check.table(tree, "", ("deniable", "survey", "channels"), ())
    if fields is not None and not check.problems:
        version = fields["deniable"]
        if isinstance(version, bool) or version != VERSION:
            check.note("deniable", "version", "this client knows version 1 of the document only")
    _stop_if(check)
    survey = check_survey(check, tree["survey"], "survey", published=True)
    if survey is None:
        raise DocumentError(check.problems)
    ids = tuple(question.id for question in survey.questions)
    channels: dict[str, Channel] = {}
    if check.table(tree["channels"], "channels", ids, ()) is not None and not check.problems:
        for question in survey.questions:
            place = f"channels.{question.id}"
            channel = _check_channel(check, question, tree["channels"][question.id], place)
            if channel is not None:
                channel.check_privacy(check, exp_floor(question.exact_epsilon), question.exact_delta, place)
                channels[question.id] = channel
    _stop_if(check)
    return Document(survey, MappingProxyType(channels), hashlib.sha256(raw).hexdigest())


def _stop_if(check: Checker) -> None:
    if check.problems:
        raise DocumentError(check.problems)


def _check_channel(check: Checker, question: Question, tree: object, place: str) -> Channel | None:
    """The channel, if its shape is right and it goes with the question."""
    channel = read_channel(check, tree, place, CHANNELS)
    if channel is None:
        return None
    wanted, answers = question.channel_kind, len(question.codes)
    if type(channel) is not wanted:
        kind = wanted.__struct_config__.tag
        return check.note(join(place, "kind"), "mismatch", f"this question goes with a {kind} channel")
    if answers and channel.answers != answers:
        field = channel.__struct_fields__[0]
        return check.note(join(place, field), "mismatch", f"the question has {answers} possible answers")
    if question.mechanism == "krr" and channel.held != 1:
        return check.note(join(place, "size"), "mismatch", "k-ary response has size 1")
    return channel
