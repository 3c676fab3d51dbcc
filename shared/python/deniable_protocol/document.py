"""The published document: a survey, its parts and its booklets, as bytes that never change.

``publish`` writes one. ``verify`` reads one, on the respondent's device, and does not trust the server's word: it
designs every channel itself, in integers, so that each keeps the epsilon of its part; it adds up what every booklet
spends; and it accepts only the canonical way of writing all this, so that no document can be marked for one person.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from math import gcd
from typing import Any

import msgspec

from .accounting import Account
from .blind_signatures import KIND, PublicKey
from .checks import Checker, as_number, check_epsilon, document_json, encode, is_canonical, join, sha256
from .design import design
from .errors import DocumentError, Problem, TokenError
from .languages import with_value
from .parts import MAX_PATHS, Booklet, Item, Part, TooManyPaths, items_by_name, needs, paths_of
from .questions import MultiChoice, Question
from .survey import Survey, check_survey

VERSION = 1
MAX_BYTES = 1_000_000
MAX_PARTS = 10_000
MAX_WEIGHT = 10_000
"""Of all booklets together."""


class Document(msgspec.Struct, frozen=True, dict=True):
    """A verified document, unchangeable. ``digest`` is the SHA-256 of the published bytes, in hex.

    ``issuer`` is the key that signs tokens, there if and only if the survey has invitations. The digest pins it, too:
    no respondent can be given a key of their own, which would mark their token.
    """

    survey: Survey
    parts: tuple[Part, ...]
    booklets: tuple[Booklet, ...]
    digest: str
    issuer: PublicKey | None = None

    @property
    def epsilon(self) -> str:
        """What one submission may show at most, an exact decimal: no booklet spends more."""
        return self.survey.total_epsilon

    @cached_property
    def account(self) -> Account:
        """What one submission spends in the worst booklet.

        That is the epsilon that the survey states, which no booklet exceeds, and the largest sum of deltas, which is 0
        unless a question uses Gaussian noise.
        """
        spent = [sum((part.account for part in self.parts_of(b)), Account()) for b in range(len(self.booklets))]
        return Account(self.survey.exact_epsilon, max(account.delta for account in spent))

    @cached_property
    def content(self) -> str:
        """The SHA-256 of the canonical survey, in hex: what a ledger knows a survey by. The same questions at another
        address, or in other booklets, are the same survey.
        """
        return sha256(encode(_tree(self.survey)))

    def in_language(self, *wanted: str) -> Document:
        """The same document with its texts in the best of these languages."""
        if not self.survey.translations:
            return self
        survey = self.survey.in_language(*wanted)
        known = items_by_name(survey)
        parts = [msgspec.structs.replace(part, items=tuple(known[name] for name in part.names)) for part in self.parts]
        return msgspec.structs.replace(self, survey=survey, parts=tuple(parts))

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
    epsilons: Sequence[str] = (),
    *,
    issuer: PublicKey | None = None,
) -> bytes:
    """The bytes that a server stores and serves verbatim for this survey, in their canonical form.

    ``parts``: the names of what each reports on, and the size of its subsets (1, or None: the best); each has the
    survey's epsilon, unless ``epsilons`` says otherwise. ``booklets``: numbers of parts, and a weight. Without parts it
    is the textbook's design: everybody is asked everything, each question at its own epsilon. ``issuer``: the key that
    signs tokens, of a survey with invitations; a survey that is published already keeps the key that it has.
    """
    if survey.invitations != (issuer is not None):
        raise ValueError("a survey with invitations needs the key of an issuer, and only such a survey has one")
    if parts is None:
        if survey.epsilon is not None:
            raise ValueError("a survey with an epsilon of its own needs parts and booklets")
        made = [_made([Item(question)], str(question.epsilon), None) for question in survey.questions]
        booklets = [(range(len(made)), 1)]
    else:
        known, spent = items_by_name(survey), epsilons or [str(survey.epsilon)] * len(parts)
        made = [
            _made([known[name] for name in names], epsilon, size)
            for (names, size), epsilon in zip(parts, spent, strict=True)
        ]
    in_order = sorted({*made}, key=partial(_part_place, survey))
    weights: dict[tuple[int, ...], int] = {}
    for numbers, weight in booklets:
        place = tuple(sorted(in_order.index(made[number]) for number in numbers))
        weights[place] = weights.get(place, 0) + weight
    divisor = gcd(*weights.values())
    tree = {
        "deniable": VERSION,
        "survey": _tree(survey),
        "parts": [{"questions": part.names, "epsilon": part.epsilon, "channel": part.channel} for part in in_order],
        "booklets": [{"parts": place, "weight": weight // divisor} for place, weight in sorted(weights.items())],
    }
    document = encode(tree if issuer is None else {**tree, "issuer": {"kind": KIND, "key": issuer.text}})
    verify(document)  # no document leaves here that a client would refuse
    return document


def _made(items: Sequence[Item], epsilon: str, size: int | None) -> Part:
    return Part(tuple(items), epsilon, design(items, Fraction(epsilon), size))


def _part_place(survey: Survey, part: Part) -> tuple[list[int], str, int]:
    """Parts are in the order of the places of their items, then of the text of epsilon, then of the size of subsets."""
    order = items_by_name(survey)
    return [[*order].index(name) for name in part.names], part.epsilon, part.channel.held or 0


def _tree(survey: Survey) -> dict[str, Any]:
    """The survey as documents write it: in the order that the protocol names, without what is for planning only."""
    tree: dict[str, Any] = msgspec.to_builtins(msgspec.structs.replace(survey, respondents=None))
    questions = []
    for asked, built in zip(survey.questions, tree["questions"], strict=True):
        question = {"id": built["id"], "type": built.pop("type"), **built}
        # msgspec leaves a default out only if it is the same object, which it is not in a copy of the survey.
        for field in msgspec.structs.fields(asked):
            if getattr(asked, field.name) == field.default:
                question.pop(field.name, None)
        if condition := question.get("show_if"):
            question["show_if"] = {condition["question"]: condition["codes"]}
        for key in question.keys() & {"min", "max"}:
            question[key] = as_number(question[key])
        if "bins" in question:
            question["bins"] = [as_number(edge) for edge in question["bins"]]
        questions.append(question)
    tree["questions"] = questions
    for place, texts in tree.pop("translations", ()):
        tree = with_value(tree, place, dict(zip(survey.languages, texts, strict=True)))
    return tree


def verify(document: bytes | str, *, digest: str | None = None) -> Document:
    """The document, if it is well formed and no booklet shows more than it states; DocumentError otherwise.

    ``digest`` pins the bytes: with it, any other document is refused.
    """
    try:
        raw = document.encode() if isinstance(document, str) else bytes(document)
    except UnicodeEncodeError:
        raise DocumentError([Problem("", "json", "the document is not Unicode text")]) from None
    if digest is not None and sha256(raw) != digest:
        raise DocumentError([Problem("", "digest", "this is not the document that the link pins")])
    return _verify(raw)


@lru_cache(maxsize=32)
def _verify(raw: bytes) -> Document:
    if len(raw) > MAX_BYTES:
        raise DocumentError([Problem("", "size", f"the document is larger than {MAX_BYTES} bytes")])
    try:
        text = raw.decode()
        tree = document_json(text)
        canonical = is_canonical(text, tree)
    except (ValueError, RecursionError):
        raise DocumentError([Problem("", "json", "the document is not JSON in Unicode")]) from None
    if not canonical:
        raise DocumentError([Problem("", "canonical", "the document is not written in the one way that documents are")])
    check = Checker(published=True)
    fields = check.table(tree, "", ("deniable", "survey", "parts", "booklets", "issuer"), ("issuer",))
    if fields is not None and not check.problems:
        version = fields["deniable"]
        if isinstance(version, bool) or version != VERSION:
            check.note("deniable", "version", "this client knows version 1 of the document only")
    _stop_if(check)
    survey = check_survey(check, tree["survey"], "survey")
    if survey is None:
        raise DocumentError(check.problems)
    issuer = _check_issuer(check, survey, tree)
    _stop_if(check)
    parts = check.items(tree["parts"], "parts", 1, MAX_PARTS, lambda each, at: _check_part(check, survey, each, at))
    _stop_if(check)
    assert parts is not None
    check.in_order([_part_place(survey, part) for part in parts], "parts", "must be in the order of the survey")
    booklets = check.items(
        tree["booklets"], "booklets", 1, MAX_WEIGHT, lambda each, at: _check_booklet(check, survey, parts, each, at)
    )
    if booklets is not None:
        _check_whole(check, survey, parts, booklets)
    _stop_if(check)
    return Document(survey, tuple(parts), tuple(booklets or ()), sha256(raw), issuer)


def _stop_if(check: Checker) -> None:
    if check.problems:
        raise DocumentError(check.problems)


def _check_issuer(check: Checker, survey: Survey, tree: dict[str, Any]) -> PublicKey | None:
    """The issuer's key. One that nobody asked for is refused: it would be room for a mark."""
    if survey.invitations != ("issuer" in tree):
        reason = "missing" if survey.invitations else "unknown"
        return check.note("issuer", reason, "a survey with invitations has an issuer, and no other does")
    if not survey.invitations:
        return None
    fields = check.table(tree["issuer"], "issuer", ("kind", "key"))
    if fields is None or check.problems or check.choice(fields["kind"], "issuer.kind", (KIND,)) is None:
        return None
    try:
        return PublicKey.read(fields["key"])
    except TokenError as error:
        check.problems += error.problems
        return None


# --- a part -------------------------------------------------------------------------------------------------------


def _check_part(check: Checker, survey: Survey, tree: object, place: str) -> Part | None:
    """The part, if its questions can be reported together and its channel is the one that this client designs."""
    if check.problems:  # one is enough, and a design can take its time
        return None
    fields = check.table(tree, place, ("questions", "epsilon", "channel"))
    if fields is None or check.problems:
        return None
    at = join(place, "questions")
    names = check.items(fields["questions"], at, 1, MAX_PATHS, lambda each, where: _known(check, survey, each, where))
    items = None if names is None else _check_items(check, survey, names, at)
    epsilon = check_epsilon(check, fields["epsilon"], join(place, "epsilon"))
    if items is None or epsilon is None:
        return None
    own = items[0].question.epsilon
    if own is not None and own != epsilon:
        return check.note(join(place, "epsilon"), "mismatch", "is not the epsilon of the question")
    # Two channels can be told apart by the size of their subsets only: 1, or the best. Each is the most useful that
    # keeps epsilon, so that there is nothing to prove about the one in the document but that it is the same.
    given = fields["channel"]
    size = 1 if isinstance(given, dict) and encode(given.get("size")) == b"1" else None
    part = _made(items, epsilon, size)
    if encode(given) != encode(part.channel):
        return check.note(join(place, "channel"), "channel", "is not the channel that goes with this part")
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


# --- booklets -----------------------------------------------------------------------------------------------------


def _check_booklet(check: Checker, survey: Survey, parts: list[Part], tree: object, place: str) -> Booklet | None:
    """The booklet, if it asks nothing twice and its parts spend at most what the survey states, all together."""
    before = len(check.problems)
    fields = check.table(tree, place, ("parts", "weight"))
    if fields is None or len(check.problems) > before:
        return None
    at = join(place, "parts")
    numbers = check.items(
        fields["parts"], at, 1, len(parts), lambda each, where: check.integer(each, where, 0, len(parts) - 1)
    )
    weight = check.integer(fields["weight"], join(place, "weight"), 1, MAX_WEIGHT)
    if numbers is None or weight is None:
        return None
    if not check.in_order(numbers, at, "must be in their order, each once"):
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
    if not check.in_order([booklet.parts for booklet in booklets], "booklets", "must be in the order of their parts"):
        return None
    weights = [booklet.weight for booklet in booklets]
    if sum(weights) > MAX_WEIGHT or gcd(*weights) > 1:
        return check.note("booklets", "range", f"the weights have no common divisor, and sum to at most {MAX_WEIGHT}")
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
