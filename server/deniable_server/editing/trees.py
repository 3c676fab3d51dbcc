"""Sketches as survey files, and back: the tree that TOML and JSON share."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from itertools import pairwise
from typing import Any, TypeAlias, TypedDict

import tomli_w
from msgspec import ValidationError, convert

from deniable_protocol import Problem, Survey, SurveyError, survey_from_tree
from deniable_protocol.checks import DECLINED, plain
from deniable_protocol.survey import tree_in

from .names import name_for
from .sketch import SEGMENT, TEXTS, Answer, Item, Sketch, Texts, has_answers, new_key, read, write

AS_THEY_ARE = ("epsilon", "mechanism", "delta")
"""Fields of a question that the editor does not show. A file can have them, and keeps them."""
NOT_A_SKETCH = ("type", "unknown")
"""Reasons for which a file cannot be edited further. Whatever else is wrong can be put right in the editor."""

_Text: TypeAlias = str | dict[str, str]


class _Option(TypedDict, total=False):
    code: str
    text: _Text


class _Question(TypedDict, total=False):
    id: str
    type: str
    text: _Text
    options: list[_Option]
    labels: list[_Text]
    bins: list[Any]
    unit: _Text
    show_if: dict[str, list[str]]


class _File(TypedDict, total=False):
    """The shape of a survey file. Where something else is wrong, the protocol does not look at all of it."""

    id: str
    languages: list[str]
    title: _Text
    asked_by: _Text
    contact: _Text
    notice: _Text
    closing: _Text
    together: list[list[str]]
    segments: list[_Question]
    questions: list[_Question]


# --- to a file --------------------------------------------------------------------------------------------------------


def to_tree(sketch: Sketch, taken: Iterable[str] = ()) -> dict[str, Any]:
    """The survey file of a sketch, as far as it is written. Its lists are those of the sketch, in the same order.

    ``taken``: ids of other surveys, which one that is made from the title avoids.
    """
    ids = ids_of(sketch)
    tree: dict[str, Any] = {
        "id": sketch.id or name_for(sketch.title, between="-", most=50, otherwise="survey", taken=taken),
    }
    if sketch.languages:
        tree["languages"] = [*sketch.languages]
    for name in TEXTS:
        if name in sketch.texts and any(map(str.strip, sketch.texts[name].values())):
            tree[name] = _text(sketch, sketch.texts[name])
    if sketch.invitations:
        tree["invitations"] = True
    if sketch.epsilon:
        tree["epsilon"] = _number(sketch.epsilon)
    if sketch.together:
        tree["together"] = [[_reference(sketch, ids, each) for each in pair] for pair in sketch.together]
    if sketch.respondents.strip():
        tree["respondents"] = _whole(sketch.respondents)
    if sketch.segments:
        tree["segments"] = [_segment(sketch, ids, item) for item in sketch.segments]
    tree["questions"] = [_question(sketch, ids, item) for item in sketch.questions]
    return tree


def survey_of(sketch: Sketch) -> Survey:
    """The survey that it is. SurveyError where it is not complete."""
    return survey_from_tree(to_tree(sketch))


def survey_to_plan(sketch: Sketch) -> Survey:
    """The survey with texts in place of those that are not written yet: a plan does not depend on them. SurveyError
    where more is missing.
    """
    filled = read(write(sketch))
    filled.languages, filled.texts, filled.id = [], {"title": {"": "survey"}}, "survey"
    main = sketch.tags[0]
    for item in filled.items:
        item.text = {"": sketch.main(item.text).strip() or "…"}
        for answer in item.answers:
            answer.text = {"": answer.text.get(main, "")}
        if "unit" in item.fields:
            item.fields["unit"] = {"": item.fields["unit"].get(main, "")}
    return survey_from_tree(to_tree(filled))


def to_toml(sketch: Sketch) -> str:
    """The same as TOML."""
    return tomli_w.dumps(to_tree(sketch))


def ids_of(sketch: Sketch) -> dict[str, str]:
    """The id of each question and segment, by key."""
    ids = {item.key: item.id for item in sketch.items if item.id}
    for number, item in enumerate(sketch.items, 1):
        if not item.id:
            ids[item.key] = name_for(
                sketch.main(item.text), between="_", most=30, otherwise=f"q{number}", taken=ids.values()
            )
    return ids


def codes_of(sketch: Sketch, item: Item) -> dict[str, str]:
    """The code of each answer, by key."""
    if item.type == "scale":
        return {answer.key: str(point) for point, answer in enumerate(item.answers, 1)}
    codes = {answer.key: answer.code for answer in item.answers if answer.code}
    for number, answer in enumerate(item.answers, 1):
        if not answer.code:
            codes[answer.key] = name_for(
                sketch.main(answer.text),
                between="_",
                most=30,
                otherwise=f"a{number}",
                taken=[*codes.values(), DECLINED],
            )
    return codes


def _segment(sketch: Sketch, ids: dict[str, str], item: Item) -> dict[str, Any]:
    return {"id": ids[item.key], "text": _text(sketch, item.text), "options": _options(sketch, item)}


def _question(sketch: Sketch, ids: dict[str, str], item: Item) -> dict[str, Any]:
    tree: dict[str, Any] = {"id": ids[item.key], "type": item.type, "text": _text(sketch, item.text)}
    fields = item.fields
    tree |= {name: fields[name] for name in AS_THEY_ARE if name in fields}
    if fields.get("decline") and can_decline(item):
        tree["decline"] = True
    if item.after:
        tree["show_if"] = {ids.get(item.after, item.after): _conditions(sketch, item)}
    if item.type == "scale":
        tree["labels"] = [_text(sketch, answer.text) for answer in item.answers]
    elif has_answers(item):
        tree["options"] = _options(sketch, item)
    if item.type == "number":
        tree |= _ends(item)
        if any(map(str.strip, fields.get("unit", {}).values())):
            tree["unit"] = _text(sketch, fields["unit"])
        if fields.get("price"):
            tree["price"] = True
    if item.type in ("scale", "number") and measure_of(item) != DEFAULT_MEASURE[item.type]:
        tree["measure"] = measure_of(item)
    if item.type == "number" and measure_of(item) == "shares" and (bins := _bins(item)):
        tree["bins"] = bins
    return tree


def _ends(item: Item) -> dict[str, object]:
    return {name: _number(item.fields[name]) for name in ("min", "max") if str(item.fields.get(name, "")).strip()}


def _bins(item: Item) -> list[object]:
    typed = str(item.fields.get("bins", "")).strip()
    # A comma between two digits is in a number, if anything else separates numbers here.
    between = r"[;\s]+,?|,[;\s]+|,$" if re.search(r"[;\s]", typed) else ","
    return [_number(each) for each in re.split(between, typed) if each]


DEFAULT_MEASURE = {"scale": "shares", "number": "mean"}


def measure_of(item: Item) -> str:
    """What is estimated: shares, or a mean. What was chosen for another type makes no difference."""
    default = DEFAULT_MEASURE.get(item.type)
    return "shares" if default is None else str(item.fields.get("measure") or default)


def can_decline(item: Item) -> bool:
    """Whether "prefer not to say" can be one of its answers."""
    return item.type != "multi_choice" and measure_of(item) == "shares"


def answers_of(sketch: Sketch, item: Item) -> list[tuple[str, str]]:
    """The answers that others can depend on: the key, or code, and the text of each."""
    found: list[tuple[str, str]] = []
    if item.type == "yes_no":
        found = [("yes", "Yes"), ("no", "No")]
    elif item.type in ("choice", "multi_choice", "scale") and measure_of(item) == "shares":
        found = [(answer.key, sketch.main(answer.text)) for answer in item.answers]
    elif item.type == "number" and measure_of(item) == "shares":
        ends = _ends(item)
        edges = [ends.get("min"), *_bins(item), ends.get("max")]
        numbers = [plain(float(edge)) for edge in edges if isinstance(edge, int | Decimal)]
        if len(numbers) == len(edges):
            names = [*dict.fromkeys(numbers)]  # a range that begins where all do is no other one
            found = [(f"{low}..{high}", f"{low} to {high}") for low, high in pairwise(names)]
    if found and item.fields.get("decline") and can_decline(item):
        found.append((DECLINED, "Prefer not to say"))
    return found


def among_of(sketch: Sketch, item: Item) -> list[str]:
    """After which answers a question is asked, of those that there are, in their order."""
    parent = sketch.find(item.after)
    return [*item.among] if parent is None else [key for key, _ in answers_of(sketch, parent) if key in item.among]


def _conditions(sketch: Sketch, item: Item) -> list[str]:
    parent = sketch.find(item.after)
    codes = {} if parent is None else codes_of(sketch, parent)
    return [codes.get(key, key) for key in among_of(sketch, item)]


def _reference(sketch: Sketch, ids: dict[str, str], name: str) -> str:
    """The name of a question, or of one of its options, in a file."""
    key, _, option = name.partition(".")
    item = sketch.find(key)
    if item is None or not option:
        return ids.get(key, key)
    return f"{ids[key]}.{codes_of(sketch, item).get(option, option)}"


def _options(sketch: Sketch, item: Item) -> list[dict[str, Any]]:
    codes = codes_of(sketch, item)
    return [{"code": codes[answer.key], "text": _text(sketch, answer.text)} for answer in item.answers]


def _text(sketch: Sketch, texts: Texts) -> str | dict[str, str]:
    """One string where it is the same in all languages; a table of those that are there otherwise."""
    given = {tag: texts[tag] for tag in sketch.tags if texts.get(tag, "").strip()}
    if len(sketch.tags) == 1 or (len(given) == len(sketch.tags) and len({*given.values()}) == 1):
        return given.get(sketch.tags[0], "")
    return given


def _whole(text: str) -> object:
    """A number of people as they type it: 10000, 10,000, 10.000, 10 000 or 10'000."""
    digits = re.sub(r"(?<=[0-9])[\s,.'’](?=[0-9]{3}(?![0-9]))", "", text.strip())
    return _number(digits)


def _number(text: object) -> object:
    """A number as people type it: 2.5 or 2,5, and 10,000. Anything else stays text, and is found wrong later."""
    typed = str(text).strip()
    if re.fullmatch(r"[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+", typed):
        typed = typed.replace(",", "")
    typed = typed.replace(",", ".")
    if re.fullmatch(r"[+-]?[0-9]{1,16}", typed):
        return int(typed)
    return Decimal(typed) if re.fullmatch(r"[+-]?[0-9]{1,16}\.[0-9]{1,400}", typed) else text


# --- from a file ------------------------------------------------------------------------------------------------------


def from_file(text: str) -> Sketch:
    """The sketch in a survey file, TOML or JSON. SurveyError where it cannot be read as one; it may be incomplete."""
    if not text.strip():
        raise SurveyError([Problem("", "type", "the file is empty")])
    return from_tree(tree_in(text, "json" if text.lstrip().startswith("{") else "toml"))


def from_tree(tree: dict[str, Any]) -> Sketch:
    """The sketch in the tree of a survey file, or of a published survey."""
    try:
        survey_from_tree(tree)
    except SurveyError as error:
        wrong = [each for each in error.problems if each.reason in NOT_A_SKETCH and not _names_a_question(each)]
        if wrong:
            raise SurveyError(wrong) from None
        _check_shape(tree)
    languages = [*tree.get("languages", ())]
    sketch = Sketch(languages=languages)
    sketch.id = tree.get("id", "")
    sketch.texts = {name: _texts(sketch, tree[name]) for name in TEXTS if name in tree}
    sketch.invitations = bool(tree.get("invitations", False))
    sketch.epsilon, sketch.respondents = _typed(tree.get("epsilon", "")), _typed(tree.get("respondents", ""))
    sketch.segments = [_item(sketch, {**each, "type": SEGMENT}) for each in tree.get("segments", ())]
    sketch.questions = [_item(sketch, each) for each in tree.get("questions", ())]
    keys = {item.id: item for item in sketch.questions}
    for item, each in zip(sketch.questions, tree.get("questions", ()), strict=True):
        for name, codes in each.get("show_if", {}).items():
            item.after = keys[name].key if name in keys else name
            item.among = [_key_of(keys.get(name), code) for code in codes]
    sketch.together = [[_joined(keys, name) for name in pair] for pair in tree.get("together", ())]
    return sketch


def _names_a_question(problem: Problem) -> bool:
    """Whether this is about a question that is not there: the editor can choose another."""
    return problem.reason == "unknown" and re.search(r"\.show_if\.|^together\[", problem.place) is not None


def _check_shape(tree: dict[str, Any]) -> None:
    """SurveyError where a file has something else than tables, lists and texts where they are to be."""
    try:
        convert(tree, _File)
    except ValidationError as error:
        place = re.search(r"`\$\.?(\S*)`$", str(error))
        raise SurveyError([Problem(place[1] if place else "", "type", "is not written as a survey has it")]) from None


def _item(sketch: Sketch, tree: dict[str, Any]) -> Item:
    item = Item(new_key(), tree.get("type", "choice"), _texts(sketch, tree.get("text", "")), tree.get("id", ""))
    for option in tree.get("options", ()):
        item.answers.append(Answer(new_key(), _texts(sketch, option.get("text", "")), option.get("code", "")))
    item.answers += [Answer(new_key(), _texts(sketch, label)) for label in tree.get("labels", ())]
    item.fields = {name: _as_is(tree[name]) for name in AS_THEY_ARE if name in tree}
    item.fields |= {name: tree[name] for name in ("decline", "measure", "price") if name in tree}
    item.fields |= {name: _typed(tree[name]) for name in ("min", "max") if name in tree}
    if "bins" in tree:
        item.fields["bins"] = ", ".join(map(_typed, tree["bins"]))
    if "unit" in tree:
        item.fields["unit"] = _texts(sketch, tree["unit"])
    return item


def _texts(sketch: Sketch, text: str | dict[str, str]) -> Texts:
    return dict.fromkeys(sketch.tags, text) if isinstance(text, str) else dict(text)


def _typed(number: object) -> str:
    return plain(number) if isinstance(number, float | Decimal) else str(number)


def _as_is(value: object) -> object:
    return plain(value) if isinstance(value, Decimal | float) else value


def _key_of(item: Item | None, code: str) -> str:
    """The key of the answer with this code, or the code where it has no text of its own."""
    answers = [] if item is None else item.answers
    by_code = {answer.code or str(point): answer.key for point, answer in enumerate(answers, 1)}
    return by_code.get(code, code)


def _joined(keys: dict[str, Item], name: str) -> str:
    """The name of a question, or of an option, by keys."""
    question, _, code = name.partition(".")
    if question not in keys:
        return name
    return f"{keys[question].key}.{_key_of(keys[question], code)}" if code else keys[question].key
