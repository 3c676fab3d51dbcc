"""Changes to a sketch, one by one: each names what it changes by key, so that it fits whatever others did meanwhile.

A change of a text carries what its writer saw there before. Where that is no longer what it is, somebody else has
written there: nothing is overwritten, and the writer is asked (``Conflict``).
"""

from __future__ import annotations

import copy
import re
from typing import Any, Literal

import msgspec

from deniable_protocol.languages import LANGUAGE, MAX_LANGUAGES
from deniable_protocol.questions import QUESTIONS
from deniable_protocol.survey import MAX_LENGTH
from deniable_protocol.texts import HIDDEN

from .sketch import SEGMENT, TEXTS, Answer, Item, Removed, Sketch, Texts, new_item, new_key
from .trees import among_of, codes_of, ids_of, measure_of

MOST_ITEMS = 300
"""Questions, and segments. A survey has fewer; what is too much can be written, and is marked."""
MOST_ANSWERS = 1_000
"""Of one question. A survey has fewer here, too."""
MOST_REMOVED = 20
MOST_DONE = 500
FLAGS = ("decline", "price")
TYPED = ("measure", "min", "max", "bins")


class Change(msgspec.Struct, forbid_unknown_fields=True):
    """One change. ``id`` is its own, random: sent twice, it counts once.

    ``set`` changes the field ``at`` from ``was`` to ``value``. ``add`` puts a new question (or segment) of this
    ``type`` after the one with this ``key``, or last. ``copy``, ``remove`` and ``move`` are about the one with this
    ``key``, ``move`` puts it at ``place``. ``restore`` brings the deleted one with this ``key`` back. ``pair`` and
    ``unpair`` are about the cross-tab of these ``keys``.
    """

    id: str
    op: Literal["set", "add", "copy", "move", "remove", "restore", "pair", "unpair"]
    at: str = ""
    value: Any = None
    was: Any = None
    key: str = ""
    type: str = ""
    place: int = 0
    keys: list[str] = []
    new: str = ""


class Conflict(msgspec.Struct):
    """Somebody else has changed the field ``at``, to ``theirs``. None: there is no such question any more."""

    at: str
    theirs: Any


class BadChange(Exception):
    """A change that no editor makes, or one too many. The message is for people."""


def apply(sketch: Sketch, change: Change, by: str) -> Conflict | None:
    """Change the sketch. A question that somebody has deleted still takes what others write in it. A button of one that
    is gone does nothing.
    """
    if change.id in sketch.done:
        return None
    conflict = _OPERATIONS[change.op](sketch, change)
    if conflict is None:
        sketch.by = by
        sketch.done = [*sketch.done, change.id][-MOST_DONE:]
    return conflict


def replace(sketch: Sketch, taken: Sketch, by: str) -> Sketch:
    """What was ``taken`` from a file, in the place of a sketch. Questions and answers that the file still has keep
    their keys, so that what somebody writes in one at this moment reaches it. The others can come back.
    """
    names = ids_of(taken)
    left = {name: key for key, name in ids_of(sketch).items()}
    keys: dict[str, str] = {}
    for item in taken.items:
        if (before := sketch.find(left.pop(names[item.key], ""))) is not None:
            keys[item.key] = before.key
            known = {code: key for key, code in codes_of(sketch, before).items()}
            keys |= {key: known.pop(code) for key, code in codes_of(taken, item).items() if code in known}
    _rename(taken, keys)
    gone = [Removed(sketch.items_like(item).index(item), item) for item in sketch.items if taken.find(item.key) is None]
    taken.removed = [*sketch.removed, *gone][-MOST_REMOVED:]
    taken.by, taken.done = by, sketch.done
    return taken


def _rename(sketch: Sketch, keys: dict[str, str]) -> None:
    """Give questions and answers these keys, wherever they are named."""
    for item in sketch.items:
        item.key, item.after = keys.get(item.key, item.key), keys.get(item.after, item.after)
        item.among = [keys.get(key, key) for key in item.among]
        for answer in item.answers:
            answer.key = keys.get(answer.key, answer.key)
    sketch.together = [
        [".".join(keys.get(key, key) for key in name.split(".")) for name in names] for names in sketch.together
    ]


# --- questions and segments -------------------------------------------------------------------------------------------


def _add(sketch: Sketch, change: Change) -> None:
    if change.type != SEGMENT and change.type not in QUESTIONS:
        raise BadChange("There is no such type of question.")
    item = new_item(change.type)
    _insert(sketch, item, _after(sketch, item, change.key), change.new)


def _copy(sketch: Sketch, change: Change) -> None:
    item = sketch.find(change.key)
    if item is None:
        return
    twin = copy.deepcopy(item)
    twin.id = ""
    renamed = {answer.key: new_key() for answer in twin.answers}
    for answer in twin.answers:
        answer.key = renamed[answer.key]
    _insert(sketch, twin, _after(sketch, item, item.key), change.new)


def _insert(sketch: Sketch, item: Item, place: int, key: str) -> None:
    """The browser may choose the key, so that it knows what to show next."""
    items = sketch.items_like(item)
    if len(items) >= MOST_ITEMS:
        raise BadChange(f"A draft has room for {MOST_ITEMS} questions.")
    used = {item.key for item in sketch.items} | {removed.item.key for removed in sketch.removed}
    item.key = key if key.isalnum() and key.isascii() and len(key) <= 20 and key not in used else new_key()
    items.insert(place, item)


def _after(sketch: Sketch, item: Item, key: str) -> int:
    """The place after the item with this key, or the last one."""
    items = sketch.items_like(item)
    return next((place for place, each in enumerate(items, 1) if each.key == key), len(items))


def _move(sketch: Sketch, change: Change) -> None:
    item = sketch.find(change.key)
    if item is not None:
        items = sketch.items_like(item)
        items.remove(item)
        items.insert(min(max(change.place, 0), len(items)), item)


def _remove(sketch: Sketch, change: Change) -> None:
    """What depends on it is left as it is: it is there again if the question comes back."""
    item = sketch.find(change.key)
    if item is not None:
        items = sketch.items_like(item)
        sketch.removed = [*sketch.removed, Removed(items.index(item), item)][-MOST_REMOVED:]
        items.remove(item)


def _restore(sketch: Sketch, change: Change) -> None:
    for removed in sketch.removed:
        if removed.item.key == change.key:
            sketch.removed.remove(removed)
            sketch.items_like(removed.item).insert(removed.place, removed.item)
            return


def _pair(sketch: Sketch, change: Change) -> None:
    if not 2 <= len({*change.keys}) == len(change.keys) <= 3:
        raise BadChange("Choose two different questions.")
    if {*change.keys} not in map(set, sketch.together):
        sketch.together.append(change.keys)


def _unpair(sketch: Sketch, change: Change) -> None:
    sketch.together = [pair for pair in sketch.together if pair != change.keys]


# --- fields -----------------------------------------------------------------------------------------------------------


def _set(sketch: Sketch, change: Change) -> Conflict | None:
    try:
        now = value_at(sketch, change.at)
    except KeyError:
        return Conflict(change.at, None)
    if now != change.value and _tidy(sketch, change.at, now) != _tidy(sketch, change.at, change.was):
        return Conflict(change.at, now)
    _put(sketch, change.at, change.value)
    return None


def _tidy(sketch: Sketch, at: str, value: Any) -> Any:
    """Without the spaces and empty lines that a browser still has, and that are not kept: they are no difference."""
    if not isinstance(value, str):
        return value
    lines = [line.strip() for line in seen_text(value).split("\n")]
    if at.endswith(f".answers:{sketch.tags[0]}"):
        lines = [line for line in lines if line]
    return "\n".join(lines).rstrip("\n")


def value_at(sketch: Sketch, at: str) -> Any:
    """The value of a field, such as ``title:en``, ``epsilon``, ``k12.text:es`` or ``k12.answers:en``. KeyError where
    its question is gone; BadChange where there is no such field.
    """
    key, dot, name = at.rpartition(".")
    field, _, tag = name.partition(":")
    if not dot:
        if field in TEXTS:
            return sketch.texts.get(field, {}).get(tag, "")
        if field in ("id", "epsilon", "respondents", "invitations", "languages"):
            return getattr(sketch, field)
    else:
        item = _find(sketch, key)
        if item is None:
            raise KeyError(key)
        if field in ("type", "id", "after"):
            return getattr(item, field)
        if field == "among":
            return among_of(sketch, item)
        if field == "measure":
            return measure_of(item)
        if field == "text":
            return item.text.get(tag, "")
        if field == "unit":
            return item.fields.get("unit", {}).get(tag, "")
        if field in ("answers", "codes"):
            lines = [answer.code if field == "codes" else answer.text.get(tag, "") for answer in item.answers]
            return "\n".join(lines).rstrip("\n")
        if field in (*FLAGS, *TYPED):
            return item.fields.get(field, False if field in FLAGS else "")
    raise BadChange("There is no such field.")


def _find(sketch: Sketch, key: str) -> Item | None:
    """Also one that somebody has just deleted while others write in it: it can come back."""
    removed = (removed.item for removed in reversed(sketch.removed) if removed.item.key == key)
    return sketch.find(key) or next(removed, None)


def _put(sketch: Sketch, at: str, value: Any) -> None:
    key, dot, name = at.rpartition(".")
    field, _, tag = name.partition(":")
    item = _find(sketch, key) if dot else None
    if field == "languages":
        _speak(sketch, value)
    elif field == "invitations" or field in FLAGS:
        if not isinstance(value, bool):
            raise BadChange("This is either on or off.")
        if item is None:
            sketch.invitations = value
        else:
            item.fields[field] = value
    elif field == "among":
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise BadChange("These are no answers.")
        assert item is not None
        item.among = value
    elif not isinstance(value, str) or len(value) > MAX_LENGTH:
        raise BadChange("This is no text, or too long.")
    else:
        _put_text(sketch, item, field, tag, seen_text(value))


def seen_text(text: str) -> str:
    """A text without what cannot be seen. Programs leave such signs in what people copy from them, and a survey has
    none: they could mark it for one person.
    """
    return re.sub(_UNSEEN, "", text)


_UNSEEN = f"(?!\\s)[{HIDDEN}]"
"""White space of any kind is seen."""


def _put_text(sketch: Sketch, item: Item | None, field: str, tag: str, value: str) -> None:
    if item is not None:
        _put_in(sketch, item, field, tag, value)
    elif field in TEXTS:
        _write(sketch, sketch.texts.setdefault(field, {}), tag, value)
    else:
        setattr(sketch, field, value.strip())


def _put_in(sketch: Sketch, item: Item, field: str, tag: str, value: str) -> None:
    """Change the text of a field of a question."""
    if field == "text":
        _write(sketch, item.text, tag, value)
    elif field == "unit":
        _write(sketch, item.fields.setdefault("unit", {}), tag, value)
    elif field == "answers":
        _put_answers(sketch, item, tag, value.split("\n"))
    elif field == "codes":
        codes = value.split("\n")
        for place, answer in enumerate(item.answers):
            answer.code = codes[place].strip() if place < len(codes) else ""
    elif field == "type":
        if value not in QUESTIONS or item.type == SEGMENT:
            raise BadChange("There is no such type of question.")
        item.type = value
    elif field == "after":
        item.after, item.among = value, item.among if value == item.after else []
    elif field == "id":
        item.id = value.strip()
    else:
        item.fields[field] = value


def _write(sketch: Sketch, texts: Texts, tag: str, value: str) -> None:
    _check_language(sketch, tag)
    texts[tag] = value


def _check_language(sketch: Sketch, tag: str) -> None:
    """Texts in a language that somebody has just removed are kept like all in it."""
    if tag not in sketch.tags and not LANGUAGE.fullmatch(tag):
        raise BadChange("The survey is not in this language.")


def _put_answers(sketch: Sketch, item: Item, tag: str, lines: list[str]) -> None:
    """Answers are written as lines. In the main language a line keeps the answer that it was, wherever it is now: the
    one with the same text, or else the first that no line has. An empty line is an answer that waits for its text in
    this language. In other languages lines are in the same order.
    """
    _check_language(sketch, tag)
    lines = [line.strip() for line in lines]
    if len([*filter(None, lines)]) > MOST_ANSWERS:
        raise BadChange(f"A question has room for {MOST_ANSWERS:,} answers.")
    if tag == sketch.tags[0]:
        item.answers = _answers_in(item.answers, tag, lines)
    else:
        item.answers += [Answer(new_key()) for _ in lines[len(item.answers) :]]
        for place, answer in enumerate(item.answers):
            answer.text[tag] = lines[place] if place < len(lines) else ""
    while item.answers and not any(map(item.answers[-1].text.get, sketch.tags)):
        item.answers.pop()


def _answers_in(answers: list[Answer], tag: str, lines: list[str]) -> list[Answer]:
    """These lines as answers in the main language."""
    # Answers at the end that wait for their text in this language have no line that anybody sees.
    shown = max((place for place, answer in enumerate(answers, 1) if answer.text.get(tag)), default=0)
    # Where only an empty line differs from before, somebody is writing that answer again.
    same = len(lines) == shown and all(line in ("", answers[at].text.get(tag, "")) for at, line in enumerate(lines))
    again = {place: answers[place] for place, line in enumerate(lines) if not line} if same else {}
    written = lines if again else "\n".join(lines).rstrip("\n").split("\n")
    shown = max(shown, len(written))
    left = [answer for answer in answers[:shown] if answer not in again.values()]
    found = {place: known for place, line in enumerate(written) if line and (known := _taken(left, tag, line))} | again
    for place, line in enumerate(written):
        if place not in found and line:
            found[place] = left.pop(0) if left else Answer(new_key())
        elif place not in found and (waiting := _taken(left, tag, "")):
            found[place] = waiting
    for place, answer in found.items():
        answer.text[tag] = written[place]
    return [found[place] for place in sorted(found)] + answers[shown:]


def _taken(left: list[Answer], tag: str, line: str) -> Answer | None:
    """The first answer with this text, which is left no more."""
    same = next((answer for answer in left if answer.text.get(tag, "") == line), None)
    if same is not None:
        left.remove(same)
    return same


def _speak(sketch: Sketch, tags: Any) -> None:
    """Change the languages. What was written in one that is gone is kept, in case it comes back."""
    if not isinstance(tags, list) or not 1 <= len({*map(str, tags)}) == len(tags) <= MAX_LANGUAGES:
        raise BadChange(f"A survey has one to {MAX_LANGUAGES} languages, each once.")
    if not all(isinstance(tag, str) and LANGUAGE.fullmatch(tag) for tag in tags):
        raise BadChange("This is no language that browsers know.")
    if not sketch.languages:  # what is written so far is in the first of them
        for texts in _all_texts(sketch):
            if "" in texts:
                texts[tags[0]] = texts.pop("")
    sketch.languages = tags


def _all_texts(sketch: Sketch) -> list[Texts]:
    items = [*sketch.items, *(removed.item for removed in sketch.removed)]
    texts = [*sketch.texts.values(), *(item.text for item in items)]
    texts += [item.fields["unit"] for item in items if "unit" in item.fields]
    return texts + [answer.text for item in items for answer in item.answers]


_OPERATIONS = {
    "set": _set,
    "add": _add,
    "copy": _copy,
    "move": _move,
    "remove": _remove,
    "restore": _restore,
    "pair": _pair,
    "unpair": _unpair,
}
