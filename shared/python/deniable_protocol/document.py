"""The published document: a survey, its parts and its booklets, as bytes that never change.

``publish`` writes one; ``verify`` reads one and proves, in integers, that each channel keeps the epsilon of its part
and that no booklet spends more than the survey states. The proof runs on the respondent's device: the server's word is
not trusted for this.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import msgspec

from .channel import Channel, read_channel
from .channels import CHANNELS, Subset
from .checks import Checker, join, strict_json
from .design import design
from .errors import DocumentError, Problem
from .exact import exp_floor
from .parts import MAX_PATHS, Booklet, Item, Part, TooManyPaths, items_by_name, needs, paths_of
from .questions import EPSILON, MultiChoice, Question
from .survey import Survey, check_survey

VERSION = 1
MAX_BYTES = 1_000_000
MAX_PARTS = 10_000
MAX_WEIGHT = 10_000
"""Of all booklets together."""


@dataclass(frozen=True)
class Document:
    """A verified document, unchangeable. ``digest`` is the SHA-256 of the published bytes, in hex."""

    survey: Survey
    parts: tuple[Part, ...]
    booklets: tuple[Booklet, ...]
    digest: str

    @property
    def epsilon(self) -> str:
        """What one submission may show at most, an exact decimal: no booklet spends more."""
        return self.survey.total_epsilon

    @cached_property
    def delta(self) -> Fraction:
        """What comes on top of it, for the worst booklet; 0 unless a question uses Gaussian noise."""
        return max(sum((part.exact_delta or Fraction(0) for part in self.parts_of(b)), Fraction(0)) for b in self._each)

    @property
    def _each(self) -> range:
        return range(len(self.booklets))

    def parts_of(self, booklet: int) -> tuple[Part, ...]:
        """The parts of a booklet, in the order of its reports."""
        return tuple(self.parts[number] for number in self.booklets[booklet].parts)

    def asked(self, booklet: int) -> tuple[Question, ...]:
        """The questions of a booklet in the survey's order; a multi_choice with those of its options that are in it."""
        items = [item for part in self.parts_of(booklet) for item in part.items]
        found = []
        for question in self.survey.questions:
            options = {item.option for item in items if item.question.id == question.id}
            if isinstance(question, MultiChoice) and options and None not in options:
                question = msgspec.structs.replace(
                    question, options=tuple(option for option in question.options if option.code in options)
                )
            found += [question] if options else []
        return tuple(found)

    def shown(self, booklet: int, answers: Mapping[str, object]) -> tuple[Question, ...]:
        """Those of its questions that are shown with these answers. One that has no answer yet, or one that does not
        fit, leaves its follow-ups hidden.
        """
        walks = [part.walk(answers) for part in self.parts_of(booklet)]
        ids = {item.question.id for walk in walks for item, truth in walk if truth is not None}
        return tuple(question for question in self.asked(booklet) if question.id in ids)

    def parts_about(self, question: str) -> list[tuple[int, int]]:
        """The parts that report on a question, or on an option of it: their numbers, and its places in them."""
        return [*self._about.get(question, ())]

    @cached_property
    def _about(self) -> dict[str, list[tuple[int, int]]]:
        found: dict[str, list[tuple[int, int]]] = {}
        for number, part in enumerate(self.parts):
            for place, item in enumerate(part.items):
                for name in {item.question.id, item.name}:
                    found.setdefault(name, []).append((number, place))
        return found


def publish(
    survey: Survey,
    parts: Sequence[tuple[Sequence[str], int | None]] | None = None,
    booklets: Sequence[tuple[Sequence[int], int]] = (),
) -> bytes:
    """The bytes that a server stores and serves verbatim for this survey.

    ``parts``: the names of what each reports on, and the size of its subsets (None: the best); each has the survey's
    epsilon. ``booklets``: numbers of parts, and a weight. Without parts it is the textbook's design: everybody is asked
    everything, each question at its own epsilon.
    """
    if parts is None:
        if survey.epsilon is not None:
            raise ValueError("a survey with an epsilon of its own needs parts and booklets")
        made = [_made([Item(question)], str(question.epsilon), None) for question in survey.questions]
        booklets = [(range(len(made)), 1)]
    else:
        known = items_by_name(survey)
        made = [_made([known[name] for name in names], str(survey.epsilon), size) for names, size in parts]
    document = msgspec.json.encode(
        {
            "deniable": VERSION,
            "survey": _tree(survey),
            "parts": made,
            "booklets": [{"parts": [*numbers], "weight": weight} for numbers, weight in booklets],
        }
    )
    verify(document)  # no document leaves here that a client would refuse
    return document


def _made(items: Sequence[Item], epsilon: str, size: int | None) -> dict[str, Any]:
    channel = design(items, Fraction(epsilon), size)
    return {"questions": [item.name for item in items], "epsilon": epsilon, "channel": channel}


def _tree(survey: Survey) -> dict[str, Any]:
    """The survey as files write it, but for what is for planning only."""
    tree: dict[str, Any] = msgspec.to_builtins(msgspec.structs.replace(survey, respondents=None))
    for question in tree["questions"]:
        if condition := question.get("show_if"):
            question["show_if"] = {condition["question"]: condition["codes"]}
    return tree


def verify(document: bytes | str, *, digest: str | None = None) -> Document:
    """The document, if it is well formed and no booklet shows more than it states; DocumentError otherwise.

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
    fields = check.table(tree, "", ("deniable", "survey", "parts", "booklets"), ())
    if fields is not None and not check.problems:
        version = fields["deniable"]
        if isinstance(version, bool) or version != VERSION:
            check.note("deniable", "version", "this client knows version 1 of the document only")
    _stop_if(check)
    survey = check_survey(check, tree["survey"], "survey", published=True)
    if survey is None:
        raise DocumentError(check.problems)
    parts = check.items(tree["parts"], "parts", 1, MAX_PARTS, lambda each, at: _check_part(check, survey, each, at))
    _stop_if(check)
    assert parts is not None
    booklets = check.items(
        tree["booklets"], "booklets", 1, MAX_WEIGHT, lambda each, at: _check_booklet(check, survey, parts, each, at)
    )
    if booklets is not None:
        _check_whole(check, survey, parts, booklets)
    _stop_if(check)
    return Document(survey, tuple(parts), tuple(booklets or ()), hashlib.sha256(raw).hexdigest())


def _stop_if(check: Checker) -> None:
    if check.problems:
        raise DocumentError(check.problems)


# --- a part -------------------------------------------------------------------------------------------------------


def _check_part(check: Checker, survey: Survey, tree: object, place: str) -> Part | None:
    """The part, if its questions can be reported together and its channel keeps its epsilon."""
    before = len(check.problems)
    fields = check.table(tree, place, ("questions", "epsilon", "channel"), ())
    if fields is None or len(check.problems) > before:
        return None
    at = join(place, "questions")
    names = check.items(fields["questions"], at, 1, MAX_PATHS, lambda each, where: _known(check, survey, each, where))
    items = None if names is None else _check_items(check, survey, names, at)
    epsilon = check.decimal(fields["epsilon"], join(place, "epsilon"), EPSILON, "0.01", "10", published=True)
    if items is None or epsilon is None:
        return None
    own = items[0].question.epsilon
    if own is not None and own != epsilon:
        return check.note(join(place, "epsilon"), "mismatch", "is not the epsilon of the question")
    channel = _check_channel(check, items, fields["channel"], join(place, "channel"))
    if channel is None:
        return None
    part = Part(tuple(items), epsilon, channel)
    channel.check_privacy(check, exp_floor(part.exact_epsilon), part.exact_delta, join(place, "channel"))
    return part


def _known(check: Checker, survey: Survey, name: object, place: str) -> Item | None:
    if not isinstance(name, str):
        return check.note(place, "type", "must be text")
    item = items_by_name(survey).get(name)
    return item if item is not None else check.note(place, "unknown", "there is no such question or option")


def _check_items(check: Checker, survey: Survey, items: list[Item], place: str) -> list[Item] | None:
    """These items, if they can be reported together."""
    order, names = [*items_by_name(survey)], [item.name for item in items]
    if sorted({*names}, key=order.index) != names:
        return check.note(place, "order", "must be in the order of the survey, each once")
    if len(items) > 1 and survey.epsilon is None:
        return check.note(place, "conflict", "questions with an epsilon of their own are reported one by one")
    if len(items) > 1 and not all(item.can_join for item in items):
        return check.note(place, "conflict", "a mean, or a question with a mechanism, is reported by itself")
    if any(need.name not in names for item in items for need in needs(survey, item)):
        return check.note(place, "missing", "a question that is not always shown goes with those it depends on")
    try:
        if len(items) > 1:
            paths_of(items)
    except TooManyPaths as error:
        return check.note(place, "paths", str(error))
    return items


def _check_channel(check: Checker, items: list[Item], tree: object, place: str) -> Channel | None:
    """The channel, if its shape is right and it goes with what it reports on."""
    channel = read_channel(check, tree, place, CHANNELS)
    if channel is None:
        return None
    if len(items) > 1:
        wanted, answers, mechanism = Subset, len(paths_of(items)), None
    else:
        wanted, answers, mechanism = items[0].channel_kind, len(items[0].codes), items[0].question.mechanism  # type: ignore[assignment]
    if type(channel) is not wanted:
        kind = wanted.__struct_config__.tag
        return check.note(join(place, "kind"), "mismatch", f"this part goes with a {kind} channel")
    if answers and channel.answers != answers:
        field = channel.__struct_fields__[0]
        return check.note(join(place, field), "mismatch", f"the part has {answers} possible answers")
    if mechanism == "krr" and channel.held != 1:
        return check.note(join(place, "size"), "mismatch", "k-ary response has size 1")
    return channel


# --- booklets -----------------------------------------------------------------------------------------------------


def _check_booklet(check: Checker, survey: Survey, parts: list[Part], tree: object, place: str) -> Booklet | None:
    """The booklet, if it asks nothing twice and its parts spend at most what the survey states, all together."""
    before = len(check.problems)
    fields = check.table(tree, place, ("parts", "weight"), ())
    if fields is None or len(check.problems) > before:
        return None
    at = join(place, "parts")
    numbers = check.items(
        fields["parts"], at, 1, len(parts), lambda each, where: check.integer(each, where, 0, len(parts) - 1)
    )
    weight = check.integer(fields["weight"], join(place, "weight"), 1, MAX_WEIGHT)
    if numbers is None or weight is None:
        return None
    names = [name for number in numbers for name in parts[number].names]
    if len(set(names)) < len(names):
        return check.note(at, "duplicate", "a booklet reports on nothing twice")
    # Basic composition over independent reports: epsilons add up. They are decimals, and fractions add up exactly.
    if sum((parts[number].exact_epsilon for number in numbers), Fraction(0)) > survey.exact_epsilon:
        return check.note(at, "budget", "the parts of this booklet spend more than the survey states")
    return Booklet(tuple(numbers), weight)


def _check_whole(check: Checker, survey: Survey, parts: list[Part], booklets: list[Booklet]) -> None:
    """That the booklets can be drawn, leave nothing out, and with the textbook's design are one that has it all."""
    if sum(booklet.weight for booklet in booklets) > MAX_WEIGHT:
        check.note("booklets", "range", f"the weights sum to more than {MAX_WEIGHT}")
    used = {number for booklet in booklets for number in booklet.parts}
    for number in range(len(parts)):
        if number not in used:
            return check.note(f"parts[{number}]", "unused", "no booklet has this part")
    reported = {name for part in parts for name in part.names}
    for name in items_by_name(survey):
        if name not in reported:
            return check.note("parts", "missing", f"no part reports on {name}")
    if survey.epsilon is not None:
        return None
    if [part.names for part in parts] != [(question.id,) for question in survey.questions]:
        return check.note("parts", "order", "questions with an epsilon of their own are parts in the survey's order")
    if [*booklets] != [Booklet((*range(len(parts)),), 1)]:
        return check.note("booklets", "mismatch", "questions with an epsilon of their own make one booklet")
    return None
