"""Surveys that are being written: what is still wrong, in words, at a field of the page."""

from __future__ import annotations

import re
from typing import Any

import pytest
from jinja2 import Environment, PackageLoader

from deniable_protocol.checks import DECLINED
from deniable_protocol.questions import QUESTIONS
from deniable_server import editing
from deniable_server.editing import Sketch
from deniable_server.editing.sketch import SEGMENT
from deniable_server.pages.drafts import _drawing
from tests.helpers.drafts import check_sentence, choice, copied, do

# --- what is still wrong ----------------------------------------------------------------------------------------------


def broken(*fields: str, **more: Any) -> dict[str, Any]:
    """The survey of one question that lacks these fields."""
    options = [{"code": "a", "text": "A"}, {"code": "b", "text": "B"}]
    question = {"id": "q", "type": "choice", "text": "Q?", "options": options} | more
    return {
        "id": "x1",
        "title": "T",
        "epsilon": 1,
        "questions": [{k: v for k, v in question.items() if k not in fields}],
    }


NUMBER = {"type": "number", "min": 0, "max": 9}
PARENT = {"id": "p", "type": "yes_no", "text": "P?"}
MANY = [{"code": f"c{n}", "text": f"C{n}"} for n in range(40)]
UNSEEN = "a\u200bb"
ODD = {"id": "o", "type": "choice", "text": "O?", "options": [{"code": "a", "text": "A"}, {"code": "b", "text": "B"}]}


def with_parent(parent: dict[str, Any], *, first: bool = True, **question: Any) -> dict[str, Any]:
    """A follow-up, and the question that it depends on."""
    tree = broken(**question)
    tree["questions"].insert(0 if first else 1, parent)
    return tree


FIFTY = [{"code": f"c{n}", "text": f"T{n}"} for n in range(50)]
WRONG: dict[str, tuple[dict[str, Any], str, str]] = {
    "no question": (broken() | {"questions": []}, "questions", "Add at least one question."),
    "no title": (broken() | {"title": " "}, "title:", "Give the survey a title."),
    "unseen in the title": (broken() | {"title": UNSEEN}, "title:", "Delete that and type it again."),
    "unseen in the notice": (broken() | {"notice": UNSEEN}, "notice:", "Delete that and type it again."),
    "no epsilon": ({k: v for k, v in broken().items() if k != "epsilon"}, "epsilon", "Choose how well"),
    "a large epsilon": (broken() | {"epsilon": 11}, "epsilon", "from 0.01 to 10"),
    "nobody": (broken() | {"respondents": 0}, "respondents", "whole number"),
    "an id": (broken() | {"id": "My survey"}, "id", "small letters"),
    "thirty-one languages": (broken() | {"languages": ["en"] * 31}, "languages", "Choose a language."),
    "a language": (broken() | {"languages": ["English"]}, "languages", "Choose a language."),
    "too many questions": (
        broken() | {"questions": [{**ODD, "id": f"q{n}"} for n in range(201)]},
        "questions",
        "at most 200",
    ),
    "too many groups": (
        broken() | {"segments": [{**{k: v for k, v in ODD.items() if k != "type"}, "id": f"s{n}"} for n in range(11)]},
        "segments",
        "at most 10",
    ),
    "a group with one answer": (
        broken() | {"segments": [{"id": "s", "text": "S?", "options": []}]},
        "s0.answers:",
        "at least two answers",
    ),
    "no text": (broken(text=""), "q0.text:", "Write the question."),
    "no answers": (broken("options"), "q0.answers:", "Give this question at least two answers."),
    "one answer": (broken(options=MANY[:1]), "q0.answers:", "Give this question at least two answers."),
    "one point": (
        broken("options", type="scale", labels=["A"]),
        "q0.answers:",
        "Give this question at least two answers.",
    ),
    "too many answers": (broken(options=[*MANY, *({**o, "code": f"x{o['code']}"} for o in MANY)]), "q0.answers:", "50"),
    "too many points": (broken("options", type="scale", labels=["A"] * 12), "q0.answers:", "11"),
    "an answer without a text": (
        broken(options=[MANY[0], {"code": "b", "text": ""}]),
        "q0.answers:",
        "Answer 2 has no text.",
    ),
    "an unseen character": (
        broken(options=[MANY[0], {"code": "b", "text": UNSEEN}]),
        "q0.answers:",
        "Answer 2 contains",
    ),
    "a code": (broken(options=[MANY[0], {"code": "b c", "text": "B"}]), "q0.codes", "letters, digits"),
    "a code twice": (broken(options=[MANY[0], MANY[0]]), "q0.codes", "no code twice"),
    "a reserved code": (broken(options=[MANY[0], {"code": DECLINED, "text": "D"}]), "q0.codes", "codes"),
    "a name": (broken(id="Q 1"), "q0.id", "small letters"),
    "a name twice": (with_parent({**PARENT, "id": "q"}), "q1.id", "no name twice"),
    "no type": (broken("options", type="poem"), "q0.type", "Choose a type."),
    "no smallest": (broken("options", "min", **NUMBER), "q0.min", "smallest"),
    "the largest first": (broken("options", **{**NUMBER, "max": -1}), "q0.max", "above the smallest"),
    "no limits": (broken("options", **NUMBER, measure="shares"), "q0.bins", "limits between"),
    "limits outside": (broken("options", **NUMBER, measure="shares", bins=[5, 20]), "q0.bins", "limits between"),
    "a unit": (broken("options", **NUMBER, unit=UNSEEN), "q0.unit:", "Delete that"),
    "a negative price": (broken("options", **{**NUMBER, "min": -1}, price=True), "q0.price", "must not be below 0"),
    "its parent is gone": (broken(show_if={"gone": ["yes"]}), "q0.after", "was deleted"),
    "its parent comes later": (
        with_parent(PARENT, first=False, show_if={"p": ["yes"]}),
        "q0.after",
        "must come before",
    ),
    "its parent is an average": (
        with_parent({**NUMBER, "id": "p", "text": "P?"}, show_if={"p": ["x"]}),
        "q1.after",
        "not for averages",
    ),
    "no answer of its parent": (with_parent(PARENT, show_if={"p": []}), "q1.among", "Choose after which answers"),
    "its parent has no answers": (
        with_parent({**ODD, "options": []}, show_if={"o": []}),
        "q1.after",
        "Choose after which answers",
    ),
    "too many combinations": (
        with_parent({**ODD, "options": MANY}, options=MANY, show_if={"o": ["c1", "c2"]}),
        "q1.after",
        "combinations",
    ),
    "too much together": (
        with_parent({**ODD, "options": MANY}, options=MANY) | {"together": [["o", "q"]]},
        "together",
        "combinations",
    ),
    "two answers that are the same": (
        broken(options=[{"code": "a", "text": "A"}, {"code": "b", "text": "B"}, {"code": "c", "text": "A"}]),
        "q0.answers:",
        "Answers 1 and 3 are the same.",
    ),
    "too many combinations of groups": (
        broken() | {"segments": [{"id": f"s{n}", "text": "S?", "options": FIFTY} for n in range(3)]},
        "segments",
        "Together the group questions have 125,000 combinations of answers, and 10,000 are possible.",
    ),
    "too much to plan": (
        {
            "id": "x1",
            "title": "T",
            "epsilon": 2,
            "questions": [{"id": f"q{n}", "type": "multi_choice", "text": "Q?", "options": FIFTY} for n in range(21)],
        },
        "questions",
        "1,050 things to ask",
    ),
    "a pair of one": (broken() | {"together": [["q", "q"]]}, "together", "Choose two different questions"),
    "a pair with a deleted one": (broken() | {"together": [["q", "gone"]]}, "together", "was deleted"),
    "a pair with an average": (
        with_parent({**NUMBER, "id": "p", "text": "P?"}) | {"together": [["p", "q"]]},
        "together",
        "not averages",
    ),
    "too many pairs": (with_parent(PARENT) | {"together": [["p", "q"]] * 101}, "together", "fewer comparisons"),
    "two kinds of epsilon": (broken(epsilon=2), "q0.type", "Either the survey has an ε"),
    "pairs without a common epsilon": (
        {k: v for k, v in broken(epsilon=2).items() if k != "epsilon"} | {"together": [["q", "q"]]},
        "together",
        "Choose two different",
    ),
    "a mechanism": (
        broken("options", **NUMBER, measure="shares", bins=[5], mechanism="laplace"),
        "q0.type",
        "mechanism",
    ),
    "a delta": (broken("options", **NUMBER, delta="0.00001"), "q0.type", "δ"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_fault_is_a_sentence_beside_its_field(name: str) -> None:
    """Each thing that the checks of a survey find is said in words, at a field that the editor draws."""
    tree, at, sentence = WRONG[name]
    sketch = copied(editing.from_tree(tree))
    keys = {f"{kind}{n}": each.key for kind, items in (("q", sketch.questions), ("s", sketch.segments))
            for n, each in enumerate(items)}  # fmt: skip
    at = f"{keys[at[:2]]}{at[2:]}" if at[:2] in keys else at
    faults = dict(editing.faults_in(sketch))
    assert at in faults and sentence in faults[at], faults
    drawn = drawn_fields(sketch)
    for field, said in faults.items():
        check_sentence(said)
        assert field in drawn, (field, said)


PAGES = Environment(loader=PackageLoader("deniable_server.pages"), autoescape=True)


def drawn_fields(sketch: Sketch) -> set[str]:
    """The fields that the page of a draft has, and other places where it shows what is wrong."""
    html = PAGES.get_template("draft-editor.html").render(sketch=sketch, **_drawing(sketch))
    return {*re.findall(r'data-fault="([^"]*)"', html), "epsilon", "respondents", "languages"}


def test_what_a_new_question_lacks_is_said() -> None:
    """Of each type, as it is added: no sentence about what the person did not write, each at a field on the page."""
    sketch = Sketch(languages=["en", "es"], epsilon="2.0")
    for kind in (*QUESTIONS, SEGMENT):
        do(sketch, "add", type=kind)
    faults = editing.faults_in(sketch)
    said = [fault.sentence for fault in faults]
    assert said.count("Write the question.") == 6, "once, not once in each language"
    assert said.count("Give this question at least two answers.") == 3
    assert {fault.at for fault in faults} <= drawn_fields(sketch)
    for sentence in said:
        check_sentence(sentence)


def test_a_missing_translation_names_its_language() -> None:
    """Where the main language has the text."""
    sketch, key = choice("a", "b", languages=["en", "ar"])
    faults = dict(editing.faults_in(sketch))
    assert faults == {
        "title:ar": "The text in Arabic is missing.",
        f"{key}.text:ar": "The text in Arabic is missing.",
        f"{key}.answers:ar": "Answer 1 has no text in Arabic.",
    }
