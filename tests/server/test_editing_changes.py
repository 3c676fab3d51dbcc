"""Surveys that are being written: changes by several people, of whom nobody overwrites the others."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable_protocol.questions import QUESTIONS
from deniable_protocol.survey import MAX_LENGTH
from deniable_server import editing
from deniable_server.editing import BadChange, Change, Conflict, Sketch
from deniable_server.editing.changes import MOST_ANSWERS, MOST_DONE, MOST_ITEMS, MOST_REMOVED, value_at
from deniable_server.editing.sketch import SEGMENT
from deniable_server.pages.drafts import _drawing
from tests.helpers.drafts import change, check_sentence, choice, copied, do, example_sketch, example_tree, put, question

# --- changes ----------------------------------------------------------------------------------------------------------


def test_a_change_that_is_sent_twice_counts_once() -> None:
    """A browser that did not hear an answer sends it again: no second question, and no conflict with itself."""
    sketch = example_sketch()
    before = len(sketch.questions)
    added, text = change("add", type="yes_no", new="knew"), change("set", "title:en", "One", "Campus health 2026")
    for _ in range(3):
        assert editing.apply(sketch, added, "Ann") is editing.apply(sketch, text, "Ann") is None
    assert len(sketch.questions) == before + 1 and sketch.title == "One"
    put(sketch, "title:en", "Two", "Bob")
    assert editing.apply(sketch, text, "Ann") is None and sketch.title == "Two"


def test_changes_are_remembered_as_long_as_browsers_send_them_again() -> None:
    """The last five hundred, so that a draft does not grow for ever."""
    sketch = Sketch()
    for _ in range(MOST_DONE + 10):
        put(sketch, "title:", "A" if sketch.title != "A" else "B")
    assert len(sketch.done) == MOST_DONE


def test_what_somebody_else_wrote_is_not_overwritten() -> None:
    """The writer learns what is there now; the draft stays as it is, and so does who changed it last."""
    sketch = example_sketch()
    put(sketch, "title:en", "Bob's", "Bob")
    before = editing.write(sketch)
    mine = change("set", "title:en", "Ann's", "Campus health 2026")
    assert editing.apply(sketch, mine, "Ann") == Conflict("title:en", "Bob's")
    assert editing.write(sketch) == before
    answered = change("set", "title:en", "Ann's", "Bob's")
    assert editing.apply(sketch, answered, "Ann") is None and sketch.title == "Ann's" and sketch.by == "Ann"


def test_two_who_write_the_same_agree() -> None:
    """No conflict where both want the same."""
    sketch = example_sketch()
    put(sketch, "epsilon", "1.0", "Bob")
    assert editing.apply(sketch, change("set", "epsilon", "1.0", "4.0"), "Ann") is None


@pytest.mark.parametrize(
    ("at", "first", "then"),
    [
        ("k1.answers:en", "Apple\n", "Apple\nPear"),
        ("k1.answers:en", "Apple\n\nPear ", "Apple\n\nPear tree"),
        ("k1.answers:es", "Manzana \n", "Manzana\nPera"),
        ("k1.codes", "a\n", "a\nb"),
        ("k1.id", "fruit ", "fruit_2"),
        ("respondents", "300 ", "300 0"),
        ("title:en", "My ", "My survey"),
    ],
)
def test_spaces_that_are_not_kept_are_no_conflict(at: str, first: str, then: str) -> None:
    """The browser goes on from what was typed, with a space or an empty line at its end that the draft does not have:
    nobody is asked about a conflict with themselves.
    """
    sketch, _ = choice("Apple", "Pear", languages=["en", "es"])
    put(sketch, at, first)
    assert editing.apply(sketch, change("set", at, then, first), "Ann") is None


@pytest.mark.parametrize(("kind", "shown"), [("scale", "shares"), ("number", "mean")])
def test_what_is_chosen_by_default_is_what_the_page_shows(kind: str, shown: str) -> None:
    """The first choice of another measure is no conflict, and one that was made for another type does no harm."""
    sketch, key = choice("a", "b")
    put(sketch, f"{key}.type", kind)
    other = "mean" if shown == "shares" else "shares"
    assert editing.apply(sketch, change("set", f"{key}.measure", other, shown), "Ann") is None
    put(sketch, f"{key}.type", "yes_no")
    put(sketch, f"{key}.decline", True)
    assert editing.to_tree(sketch)["questions"][0]["decline"] is True


FIELDS = ("text:en", "text:es", "answers:en", "answers:es", "codes", "id", "decline", "type")
VALUES: dict[str, list[Any]] = {
    "decline": [True],
    "type": ["multi_choice"],
    "answers:en": ["One\nTwo", "One\nTwo\nThree"],
    "answers:es": ["Uno\nDos"],
    "codes": ["x\ny"],
    "id": ["what", "which"],
}


@given(st.permutations(FIELDS), st.permutations(range(len(FIELDS))), st.integers(0, len(FIELDS)), st.data())
def test_different_fields_of_one_question_are_all_kept(
    fields: list[str], order: list[int], split: int, data: st.DataObject
) -> None:
    """Two people who have seen the same draft change different fields of one question: whoever is first, there is no
    conflict, and what both wrote is there.
    """
    sketch, key = choice("a", "b", "c", languages=["en", "es"])
    values = {field: data.draw(st.sampled_from(VALUES.get(field, ["Text A", "Text B"]))) for field in fields}
    made = [change("set", f"{key}.{field}", values[field], value_at(sketch, f"{key}.{field}")) for field in fields]
    lines = [f"answers:{tag}" for tag in ("en", "es")]
    for place in order:
        conflict = editing.apply(sketch, made[place], "Ann" if place < split else "Bob")
        assert conflict is None
    for field in fields:
        if field not in (*lines, "codes"):
            assert value_at(sketch, f"{key}.{field}") == values[field]
    assert value_at(sketch, f"{key}.answers:en") == values["answers:en"]
    # Lines in other languages belong to the answers that there were.
    assert value_at(sketch, f"{key}.answers:es") == "Uno\nDos"
    assert value_at(sketch, f"{key}.codes") == "x\ny"


@given(st.data())
def test_people_who_add_move_and_delete_lose_nothing(data: st.DataObject) -> None:
    """Texts by one, the order by another: changes name questions by key, so that places do not matter."""
    sketch = example_sketch()
    keys = [item.key for item in sketch.questions]
    texts = [change("set", f"{key}.text:en", f"{key}!", value_at(sketch, f"{key}.text:en")) for key in keys]
    moves = [
        change("move", key=data.draw(st.sampled_from(keys)), place=data.draw(st.integers(-2, 20))) for _ in range(6)
    ]
    moves += [change("add", type=kind) for kind in QUESTIONS]
    mixed = data.draw(st.permutations([(each, "Ann") for each in texts] + [(each, "Bob") for each in moves]))
    for each, by in mixed:
        assert editing.apply(sketch, each, by) is None
    assert [value_at(sketch, f"{key}.text:en") for key in keys] == [f"{key}!" for key in keys]
    assert len(sketch.questions) == len(keys) + len(QUESTIONS)


@pytest.mark.parametrize("name", [item.id for item in editing.from_tree(example_tree()).items])
def test_a_deleted_question_comes_back_as_it_was(name: str) -> None:
    """At its place, with what depends on it and the pairs that it is in."""
    sketch = example_sketch()
    before, tree = question(sketch, name), editing.to_tree(sketch)
    do(sketch, "remove", key=before.key)
    assert sketch.find(before.key) is None and [each.item for each in sketch.removed] == [before]
    do(copied(sketch), "restore", key=before.key)
    do(sketch, "restore", key=before.key)
    assert editing.to_tree(sketch) == tree and sketch.removed == []


def test_of_what_was_deleted_the_last_twenty_come_back() -> None:
    """Older ones are gone, so that a draft does not grow for ever. One restored twice is there once."""
    sketch = Sketch()
    for number in range(MOST_REMOVED + 5):
        do(sketch, "add", type="yes_no", new=f"k{number}")
        do(sketch, "remove", key=f"k{number}")
    for number in range(MOST_REMOVED + 5):
        do(sketch, "restore", key=f"k{number}")
        do(sketch, "restore", key=f"k{number}")
    assert {item.key for item in sketch.questions} == {f"k{number}" for number in range(5, MOST_REMOVED + 5)}
    assert len(sketch.questions) == MOST_REMOVED


def test_what_is_written_in_a_deleted_question_comes_back_with_it() -> None:
    """Ann deletes it while Bob writes in it: his text is in it when it comes back, and his next one is no conflict with
    himself. Where it is gone for good he is told, and nothing else changes.
    """
    sketch = example_sketch()
    at = f"{sketch.questions[0].key}.text:en"
    was = value_at(sketch, at)
    do(sketch, "remove", key=sketch.questions[0].key)
    assert editing.apply(sketch, change("set", at, "Bob's", was), "Bob") is None
    put(sketch, at, "Bob's words", "Bob")
    do(sketch, "restore", key=sketch.removed[0].item.key)
    assert sketch.questions[0].text["en"] == "Bob's words"
    sketch.questions.pop(0)
    before = editing.write(sketch)
    assert editing.apply(sketch, change("set", at, "Too late", "Bob's words"), "Bob") == Conflict(at, None)
    assert editing.write(sketch) == before


def test_a_file_takes_the_place_of_a_draft_and_leaves_keys_as_they_are() -> None:
    """What stays the same keeps its key, and all that names it still does. So what Bob writes meanwhile reaches its
    question, wherever the file has put it. What the file has no more can come back.
    """
    sketch, tree = example_sketch(), example_tree()
    at, was = f"{sketch.questions[1].key}.text:en", value_at(sketch, f"{sketch.questions[1].key}.text:en")
    keys = [(item.key, [answer.key for answer in item.answers]) for item in sketch.items]
    same = editing.replace(copied(sketch), editing.from_tree(tree), "Ann")
    assert [(item.key, [answer.key for answer in item.answers]) for item in same.items] == keys
    assert editing.to_tree(same) == tree and same.removed == [] and same.by == "Ann"
    assert [item.after for item in same.items] == [item.after for item in sketch.items]
    assert [item.among for item in same.items] == [item.among for item in sketch.items]
    assert same.together == sketch.together

    gone = next(each for each in reversed(tree["questions"]) if each["id"] not in str(tree["together"]))
    left = [each for each in reversed(tree["questions"]) if each != gone and "show_if" not in each]
    changed = editing.replace(copied(sketch), editing.from_tree({**tree, "questions": left}), "Ann")
    assert editing.apply(changed, change("set", at, "Bob's", was), "Bob") is None
    moved = next(item for item in [*changed.questions, *(each.item for each in changed.removed)] if item.key in at)
    assert moved.text["en"] == "Bob's" and moved.id == tree["questions"][1]["id"]
    assert gone["id"] in {each.item.id for each in changed.removed}
    for each in [*changed.removed]:
        do(changed, "restore", key=each.item.key)
    found = {each["id"]: each for each in editing.to_tree(changed)["questions"]}
    assert {name: each for name, each in found.items() if name != moved.id} == {
        each["id"]: each for each in tree["questions"] if each["id"] != moved.id
    }


def test_a_deleted_question_keeps_its_key() -> None:
    """A new one cannot take it: it would come back as a second one of that key."""
    sketch = Sketch()
    do(sketch, "add", type="yes_no", new="same")
    do(sketch, "remove", key="same")
    do(sketch, "add", type="yes_no", new="same")
    do(sketch, "restore", key="same")
    assert len({item.key for item in sketch.questions}) == 2


def test_a_question_is_moved_to_its_place() -> None:
    """A place beyond the ends is the first or the last; groups stay among groups."""
    sketch = example_sketch()
    first, *others = [item.id for item in sketch.questions]
    key = question(sketch, first).key
    for place, expected in (
        (2, [*others[:2], first, *others[2:]]),
        (0, [first, *others]),
        (99, [*others, first]),
        (-5, [first, *others]),
    ):
        do(sketch, "move", key=key, place=place)
        assert [item.id for item in sketch.questions] == expected
    assert len(sketch.segments) == 1


@pytest.mark.parametrize("name", [item.id for item in editing.from_tree(example_tree()).items])
def test_a_copy_is_another_question(name: str) -> None:
    """Right after the first, with keys of its own and an id that no other has: changing one leaves the other."""
    sketch = example_sketch()
    item = question(sketch, name)
    do(sketch, "copy", key=item.key, new="twin")
    twin, items = sketch.find("twin"), sketch.items_like(item)
    assert twin is not None and items.index(twin) == items.index(item) + 1
    keys = [each.key for each in sketch.items] + [answer.key for each in sketch.items for answer in each.answers]
    assert len({*keys}) == len(keys)
    assert editing.faults_in(sketch) == []
    tree = editing.to_tree(sketch)
    old, new = tree["segments" if item.type == SEGMENT else "questions"][items.index(item) :][:2]
    assert {**new, "id": old["id"]} == old and new["id"] != old["id"]
    put(sketch, "twin.text:en", "Other?")
    assert item.text["en"] != "Other?"


# --- answers as lines -------------------------------------------------------------------------------------------------


@given(st.permutations(range(5)))
def test_lines_that_move_keep_what_they_are(order: list[int]) -> None:
    """Their key, their code and their texts in other languages; so what depends on them still does."""
    sketch, key = choice(*"abcde", languages=["en", "es"])
    put(sketch, f"{key}.answers:es", "A\nB\nC\nD\nE")
    put(sketch, f"{key}.codes", "1\n2\n3\n4\n5")
    before = sketch.questions[0].answers
    put(sketch, f"{key}.answers:en", "\n".join("abcde"[place] for place in order))
    assert sketch.questions[0].answers == [before[place] for place in order]


def test_a_line_that_is_changed_is_still_the_same_answer() -> None:
    """Of a corrected word only the text is new. One line more is an answer more; one less takes its answer along."""
    sketch, key = choice("Bus", "Trian", "Bike", languages=["en", "es"])
    put(sketch, f"{key}.answers:es", "Bus\nTren\nBici")
    put(sketch, f"{key}.answers:en", "Bus\nTrain\nBike")
    assert [answer.key for answer in sketch.questions[0].answers] == ["a0", "a1", "a2"]
    assert value_at(sketch, f"{key}.answers:es") == "Bus\nTren\nBici"
    put(sketch, f"{key}.answers:en", "Bus\nTrain\nBike\nOn foot")
    assert [answer.key for answer in sketch.questions[0].answers][:3] == ["a0", "a1", "a2"]
    put(sketch, f"{key}.answers:en", "Train\n\nBike\n")
    assert [answer.key for answer in sketch.questions[0].answers] == ["a1", "a2"]
    assert value_at(sketch, f"{key}.answers:es") == "Tren\nBici"


@pytest.mark.parametrize(
    ("lines", "english"),
    [
        ("Un\n\nTres\n", ["One", "Two", "Three", "Four"]),
        ("Uno\nDos\nTres", ["One", "Two", "Three", "Four"]),
        ("Uno\nDos\nTres\nCuatro", ["One", "Two", "Three", "Four"]),
        ("Uno\n\nTres\nCuatro\nCinco", ["One", "Two", "Three", "Four", ""]),
        ("Uno\nTres", ["One", "Three", "Four"]),
    ],
)
def test_answers_wait_for_their_text_in_a_new_main_language(lines: str, english: list[str]) -> None:
    """Where the main language lacks texts, an empty line is an answer: writing another line deletes nothing."""
    sketch, key = choice("One", "Two", "Three", "Four", languages=["en", "es"])
    put(sketch, f"{key}.answers:es", "Uno\n\nTres")
    put(sketch, "languages", ["es", "en"])
    put(sketch, f"{key}.answers:es", lines)
    assert [answer.text.get("en", "") for answer in sketch.questions[0].answers] == english


# --- languages --------------------------------------------------------------------------------------------------------


def test_the_first_language_has_what_was_written() -> None:
    """All texts of a survey that named no language, also those of what was deleted."""
    question = {"id": "a", "type": "number", "text": "How many?", "min": 0, "max": 9, "unit": "hours"}
    sketch = editing.from_tree(
        {"id": "x1", "title": "T", "epsilon": 1, "questions": [question, {**question, "id": "b"}]}
    )
    do(sketch, "remove", key=sketch.questions[1].key)
    put(sketch, "languages", ["pt"])
    do(sketch, "restore", key=sketch.removed[0].item.key)
    assert sketch.title == "T"
    assert [item.text["pt"] for item in sketch.questions] == ["How many?"] * 2
    assert all(item.fields["unit"]["pt"] == "hours" for item in sketch.questions)
    assert editing.faults_in(sketch) == []


def test_a_language_that_comes_back_has_its_texts() -> None:
    """Removing one hides what was written in it, and does not count it as missing; nothing is deleted."""
    sketch = example_sketch()
    tree = editing.to_tree(sketch)
    put(sketch, "languages", ["en"])
    assert editing.faults_in(sketch) == [] and "es" not in str(editing.to_tree(sketch).get("title"))
    put(sketch, "languages", tree["languages"])
    assert editing.to_tree(sketch) == tree


def test_what_is_missing_is_counted_by_language() -> None:
    """As many texts as the main language has and this one has not."""
    sketch = example_sketch()
    assert sketch.missing("es") == 0
    put(sketch, "languages", ["en", "es", "fr"])
    whole = sketch.missing("fr")
    put(sketch, "title:fr", "Santé")
    assert sketch.missing("fr") == whole - 1 > 20
    assert {fault.at.rpartition(":")[2] for fault in editing.faults_in(sketch)} == {"fr"}


# --- limits and hostile clients ---------------------------------------------------------------------------------------


def test_more_lines_in_another_language_are_answers_that_wait() -> None:
    """Nobody has to write the main language first: what is written in another is kept, and its answers are missing in
    the main one. They go when their lines go.
    """
    sketch, key = choice("Bus", "Train", languages=["en", "es"])
    put(sketch, f"{key}.answers:es", "Bus\nTren")
    put(sketch, f"{key}.answers:es", "Bus\nTren\nBici\nA pie")
    assert value_at(sketch, f"{key}.answers:es") == "Bus\nTren\nBici\nA pie"
    faults = dict(editing.faults_in(copied(sketch)))
    assert faults[f"{key}.answers:en"] == "Answer 3 has no text in English."
    put(sketch, f"{key}.answers:es", "Bus\nTren\nBici")
    put(sketch, f"{key}.answers:en", "Bus\nTrain\nBike")
    assert [answer.text for answer in sketch.questions[0].answers][2] == {"en": "Bike", "es": "Bici"}


def test_an_answer_that_is_written_again_is_the_same() -> None:
    """Also if its line is saved while it is empty: its other language is kept, and what depends on it."""
    sketch, key = choice("Yes", "No", "Sometimes", languages=["en", "es"])
    put(sketch, f"{key}.answers:es", "Sí\nNo\nA veces")
    no = sketch.questions[0].answers[1].key
    for lines in ("Yes\n\nSometimes", "Yes\nN\nSometimes", "Yes\nNot at all\nSometimes"):
        put(sketch, f"{key}.answers:en", lines)
        assert sketch.questions[0].answers[1].key == no
    for lines in ("Yes\nNot at all\n", "Yes\nNot at all\nNow and then"):
        put(sketch, f"{key}.answers:en", lines)
    assert value_at(sketch, f"{key}.answers:es") == "Sí\nNo\nA veces"
    put(sketch, "languages", ["en"])
    put(sketch, f"{key}.answers:en", "Yes\nNot at all\n")
    assert len(sketch.questions[0].answers) == 2  # nobody would see that it waits


def test_what_cannot_be_seen_is_left_out() -> None:
    """Programs leave such signs in texts that people copy: they are no fault, and no difference either."""
    sketch, key = choice("a", "b")
    put(sketch, "title:en", "Health\u200b \u2764\ufe0f\xad of\xa0all\x07")
    assert sketch.title == "Health \u2764 of\xa0all"
    put(sketch, f"{key}.answers:en", "On\u2060e\r\nTwo")
    assert value_at(sketch, f"{key}.answers:en") == "One\nTwo"
    seen = change("set", "title:en", "Mine", "Health\u200b \u2764\ufe0f of\xa0all")
    assert editing.apply(sketch, seen, "Ann") is None and sketch.title == "Mine"


def test_a_file_without_languages_keeps_the_texts_of_what_was_deleted() -> None:
    """They are as they were when their language is chosen again."""
    sketch, key = choice("a", "b")
    text = sketch.questions[0].text["en"]
    do(sketch, "remove", key=key)
    taken = editing.replace(sketch, editing.from_tree({"title": "T"}), "Ann")
    put(taken, "languages", ["en"])
    assert taken.removed[0].item.text["en"] == text and taken.title == "T"


def test_a_draft_has_room_for_so_many() -> None:
    """Questions and answers, and characters in a text. What is too much is refused in words, and changes nothing."""
    sketch, key = choice("a", "b")
    put(sketch, f"{key}.answers:en", "\n".join(map(str, range(MOST_ANSWERS))))
    for refused in (
        change(
            "set",
            f"{key}.answers:en",
            "\n".join(map(str, range(MOST_ANSWERS + 1))),
            value_at(sketch, f"{key}.answers:en"),
        ),
        change("set", "title:en", "x" * (MAX_LENGTH + 1), "T"),
        change("set", "title:?", "x", ""),
        change("set", f"{key}.answers:?", "x", ""),
    ):
        before = editing.write(sketch)
        with pytest.raises(BadChange, match=r"^[A-Z].*\.$"):
            editing.apply(sketch, refused, "Ann")
        assert editing.write(sketch) == before
    while len(sketch.questions) < MOST_ITEMS:
        do(sketch, "add", type="yes_no")
    for op in ("add", "copy"):
        with pytest.raises(BadChange, match="300 questions"):
            do(sketch, op, type="yes_no", key=key)


def every_field(sketch: Sketch) -> list[str]:
    names = ("text:en", "text:es", "text:xx", "answers:en", "answers:es", "unit:en", "codes", "id", "type", "after",
             "among", "decline", "price", "measure", "min", "max", "bins", "epsilon", "")  # fmt: skip
    whole = ("title:en", "title", "notice:es", "id", "epsilon", "respondents", "invitations", "languages",
             "title:xx", "questions", "done", ".", "", "a.b.c", "gone.text:en", "k1.__class__")  # fmt: skip
    return [*whole, *(f"{item.key}.{name}" for item in sketch.items for name in names)]


FUZZED = example_sketch()
KEYS = [item.key for item in FUZZED.items]
json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**63), 2**63), st.floats(allow_nan=False), st.text(max_size=8)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)),
    max_leaves=5,
)
plausible = st.sampled_from(
    [*QUESTIONS, *KEYS, "en", "shares", "mean", "1", "10, 20", "", "a\nb", True, ["en"], ["yes"]]
)
keys = st.sampled_from([*KEYS, "gone", "", SEGMENT])
hostile = st.builds(
    lambda op, at, value, was, key, kind, place, pair, new: change(
        op, at, value, value_at_or(at, was), key=key, type=kind, place=place, keys=pair, new=new
    ),
    st.sampled_from(["set"] * 6 + ["add", "copy", "move", "remove", "restore", "pair", "unpair"]),
    st.one_of(st.sampled_from(every_field(FUZZED)), st.text(max_size=10)),
    st.one_of(json_values, plausible),
    json_values,
    keys,
    st.sampled_from([*QUESTIONS, SEGMENT, "poem", ""]),
    st.integers(),
    st.lists(st.one_of(keys, st.sampled_from([f"{key}.x" for key in KEYS])), max_size=4),
    st.text(max_size=25),
)


def value_at_or(at: str, was: Any) -> Any:
    """Half of the time what is there, so that the change is made."""
    try:
        return was if was is None else value_at(FUZZED, at)
    except (BadChange, KeyError):
        return was


@settings(max_examples=60)
@given(st.lists(hostile, min_size=1, max_size=12))
def test_no_client_breaks_a_draft(changes: list[Change]) -> None:
    """Anything of any type in any field is made, refused in words, or a conflict. The draft can still be stored, read,
    written as a file and drawn, and says what is wrong with it.
    """
    sketch = copied(FUZZED)
    refused = []
    for each in changes:
        try:
            assert isinstance(editing.apply(sketch, each, "Ann"), Conflict | None)
        except BadChange as error:
            refused.append(str(error))
    assert all(re.fullmatch(r"[A-Z].*\.", said) for said in refused)
    after = copied(sketch)
    assert after == sketch
    editing.to_toml(after)
    for fault in editing.faults_in(after):
        check_sentence(fault.sentence)
    for item in after.questions:
        for name in ("among", "measure", "answers:en", "codes"):
            value_at(after, f"{item.key}.{name}")
        _drawing(after)["depends_on"](item)
        _drawing(after)["answers_of"](item)


def test_questions_that_depend_on_each_other_are_a_fault() -> None:
    """Two questions with ranges, each asked after the other, as moving them can make it; and one after itself."""
    number = {"type": "number", "text": "How many?", "min": 0, "max": 10, "measure": "shares", "bins": [5]}
    tree = {"id": "x1", "title": "T", "epsilon": 1, "questions": [{"id": "a", **number}, {"id": "b", **number}]}
    sketch = editing.from_tree(tree)
    one, two = sketch.questions
    for item, after in ((two, one), (one, two)):
        put(sketch, f"{item.key}.after", after.key)
        put(sketch, f"{item.key}.among", ["0..5"])
    assert [fault.at for fault in editing.faults_in(sketch)] == [f"{one.key}.after"]
    put(sketch, f"{one.key}.after", one.key)
    assert [fault.at for fault in editing.faults_in(sketch)] == [f"{one.key}.after"]
