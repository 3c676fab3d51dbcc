"""The published document: a survey and its channels, as bytes that never change.

``publish`` writes one; ``verify`` reads one and proves, in integers, that each channel keeps the epsilon that the
survey states. The proof runs on the respondent's device: the server's word is not trusted for this.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType

import msgspec

from .channels import MAX_COLUMNS, MAX_LEVELS, MAX_OPTIONS, Band, Channel, Drawn, Subset, Table
from .checks import Checker, check_survey, join, strict_json
from .design import design
from .errors import DocumentError, Problem
from .exact import ONE, N, exp_floor
from .survey import Choice, MultiChoice, Number, Question, Scale, Survey, YesNo

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
    clean = check_survey(check, tree["survey"], "survey", published=True)
    _stop_if(check)
    survey = msgspec.convert(clean, Survey)
    ids = tuple(question.id for question in survey.questions)
    channels: dict[str, Channel] = {}
    if check.table(tree["channels"], "channels", ids, ()) is not None and not check.problems:
        for question in survey.questions:
            place = f"channels.{question.id}"
            channel = _check_channel(check, question, tree["channels"][question.id], place)
            if channel is not None:
                check_privacy(check, channel, question.exact_epsilon, question.exact_delta, place)
                channels[question.id] = channel
    _stop_if(check)
    return Document(survey, MappingProxyType(channels), hashlib.sha256(raw).hexdigest())


def _stop_if(check: Checker) -> None:
    if check.problems:
        raise DocumentError(check.problems)


# --- shapes and bounds, before any large arithmetic --------------------------------------------------------------

_KEYS: dict[str, tuple[str, ...]] = {
    "subset": ("options", "size", "favour"),
    "band": ("levels", "width", "favour"),
    "drawn": ("parts",),
    "table": ("weights",),
}


def channel_kind(question: Question) -> str:
    """The kind of channel that goes with a question."""
    if isinstance(question, YesNo):
        return "subset" if question.decline else "band"
    if isinstance(question, MultiChoice):
        return "drawn"
    if isinstance(question, Choice):
        return "subset"
    if question.mechanism in ("exponential", "laplace", "gaussian"):
        return "table"
    if question.mechanism == "krr":
        return "subset"
    return "band" if question.measure == "mean" else "subset"


def _check_channel(check: Checker, question: Question, tree: object, place: str) -> Channel | None:
    """The channel, if its shape is right and it goes with the question."""
    channel = _check_shape(check, tree, place, tuple(_KEYS))
    if channel is None:
        return None
    kind = channel_kind(question)
    if channel.__struct_config__.tag != kind:
        return check.note(join(place, "kind"), "mismatch", f"this question goes with a {kind} channel")
    if isinstance(question, Scale) and kind in ("band", "table"):
        answers: int | None = len(question.labels)
    elif isinstance(question, Number) and kind in ("band", "table"):
        answers = None  # the channel itself says on how many levels the number is put
    else:
        answers = len(question.codes)
    if answers is not None and channel.answers != answers:
        field = {"subset": "options", "band": "levels", "drawn": "parts", "table": "weights"}[kind]
        return check.note(join(place, field), "mismatch", f"the question has {answers} possible answers")
    if (
        isinstance(question, Choice | Scale)
        and question.mechanism == "krr"
        and isinstance(channel, Subset)
        and channel.size != 1
    ):
        return check.note(join(place, "size"), "mismatch", "k-ary response has size 1")
    return channel


def _check_shape(check: Checker, tree: object, place: str, kinds: Sequence[str]) -> Channel | None:
    before = len(check.problems)
    if not isinstance(tree, dict):
        return check.note(place, "type", "must be an object")
    if "kind" not in tree:
        return check.note(join(place, "kind"), "missing", "missing")
    kind = check.choice(tree["kind"], join(place, "kind"), kinds)
    if kind is None or check.table(tree, place, ("kind", *_KEYS[kind]), ()) is None or len(check.problems) > before:
        return None

    def integer(key: str, low: int, high: int) -> int | None:
        return check.integer(tree[key], join(place, key), low, high)

    if kind == "subset":
        options = integer("options", 2, MAX_OPTIONS)
        size = None if options is None else integer("size", 1, options - 1)
        favour = None if size is None else integer("favour", 1, N - 1)
        return None if options is None or size is None or favour is None else Subset(options, size, favour)
    if kind == "band":
        levels = integer("levels", 2, MAX_LEVELS)
        width = None if levels is None else integer("width", 1, levels - 1)
        favour = None if width is None else integer("favour", 1, N - 1)
        return None if levels is None or width is None or favour is None else Band(levels, width, favour)
    if kind == "drawn":
        parts = check.items(
            tree["parts"], join(place, "parts"), 2, MAX_OPTIONS - 1, lambda item, where: _check_part(check, item, where)
        )
        return None if parts is None else Drawn(tuple(parts))
    return _check_table(check, tree["weights"], join(place, "weights"))


def _check_part(check: Checker, item: object, place: str) -> Band | None:
    part = _check_shape(check, item, place, ("band",))
    if not isinstance(part, Band):
        return None
    if part.levels != 2:
        return check.note(join(place, "levels"), "mismatch", "each part reports one bit: it has two levels")
    return part


def _check_table(check: Checker, tree: object, place: str) -> Table | None:
    columns: list[int] = []

    def row(item: object, where: str) -> tuple[int, ...] | None:
        low, high = (columns[0], columns[0]) if columns else (2, MAX_COLUMNS)
        weights = check.items(item, where, low, high, lambda weight, at: check.integer(weight, at, 0, N - 1))
        if weights is None:
            return None
        columns.append(len(weights))
        return tuple(weights)

    rows = check.items(tree, place, 2, MAX_LEVELS, row)
    return None if rows is None else Table(tuple(rows))


# --- the proof ---------------------------------------------------------------------------------------------------


def check_privacy(check: Checker, channel: Channel, epsilon: Fraction, delta: Fraction | None, place: str) -> None:
    """Notes a problem unless no answer makes any report more than e^epsilon times as likely as another does."""
    exp_epsilon = exp_floor(epsilon)
    if isinstance(channel, Drawn):
        for i, part in enumerate(channel.parts):
            check_privacy(check, part, epsilon, None, f"{place}.parts[{i}]")
    elif isinstance(channel, Table):
        _check_table_privacy(check, channel, exp_epsilon, delta, join(place, "weights"))
    else:
        unfavoured, favoured = channel.contrast
        likely, unlikely = channel.favour * unfavoured, (N - channel.favour) * favoured
        if likely * ONE > exp_epsilon * unlikely:
            check.note(
                join(place, "favour"),
                "favour_high",
                f"the odds exceed e^{float(epsilon):g}: answers would be less private than stated",
            )
        elif likely <= unlikely:
            # The odds of the proof are then upside down: a small F tells what the answer is *not*.
            check.note(join(place, "favour"), "favour_low", "favoured reports must be the likelier ones")


def _check_table_privacy(check: Checker, table: Table, exp_epsilon: int, delta: Fraction | None, place: str) -> None:
    for i, row in enumerate(table.weights):
        if sum(row) != N:
            return check.note(f"{place}[{i}]", "row_sum", "the weights of a row must sum to 2^53")
    for y, column in enumerate(zip(*table.weights, strict=True)):
        if max(column) == 0:
            return check.note(place, "unreachable", f"no answer gives report {y}")
        if delta is None and max(column) * ONE > exp_epsilon * min(column):
            return check.note(place, "ratio", f"report {y} would tell more than the stated epsilon")
    if delta is not None and table.excess(exp_epsilon) > delta:
        check.note(place, "delta", "the table exceeds the stated epsilon by more than delta")
    return None
