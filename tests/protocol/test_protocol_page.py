"""The protocol page is enough: a third client, written from it alone, sends the same submissions as ours.

What is above the tests knows only JSON, arithmetic and bytes, and follows PROTOCOL.md section by section.
"""

from __future__ import annotations

import ast
import hashlib
import itertools
import json
import math
import re
from collections.abc import Iterator
from decimal import Decimal
from math import comb
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import deniable_protocol
from deniable_protocol import randomize, verify
from tests.helpers.surveys import documents, joint, several, textbook

Tree = dict[str, Any]
N = 2**53


class Source:
    """§8: a stream of bytes, and the two ways to draw from it."""

    def __init__(self, content: bytes) -> None:
        self.content, self.used = content, 0

    def take(self, n: int) -> bytes:
        taken = self.content[self.used : self.used + n]
        assert len(taken) == n
        self.used += n
        return taken

    def word(self) -> int:
        return int.from_bytes(self.take(8), "big") >> 11

    def below(self, n: int) -> int:
        if n == 1:
            return 0
        while (word := self.word()) >= N - N % n:
            pass
        return word % n


# §3: the order of the answers


def inner_edges(question: Tree) -> list[float]:
    return [edge for edge in question["bins"] if question["min"] < edge < question["max"]]


def answers_of(question: Tree) -> list[str] | None:
    """The codes in answer order; None where answers are on levels."""
    declined = ["declined"] if question.get("decline") else []
    if question["type"] == "yes_no":
        return ["yes", "no", *declined] if declined else ["no", "yes"]
    if question["type"] == "scale":
        return [*map(str, range(1, len(question["labels"]) + 1)), *declined]
    if question["type"] == "number":
        if "bins" not in question:
            return None
        edges = [number(edge) for edge in (question["min"], *inner_edges(question), question["max"])]
        return [*(f"{low}..{high}" for low, high in itertools.pairwise(edges)), *declined]
    return [*(option["code"] for option in question["options"]), *declined]


def number(value: float) -> str:
    """A number in its shortest plain decimal form."""
    text = f"{Decimal(repr(float(value))):f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


# §4: items, paths and the draw


def is_option(survey: Tree, question: Tree) -> bool:
    return question["type"] == "multi_choice" and "epsilon" in survey


def items(survey: Tree) -> dict[str, tuple[Tree, str | None]]:
    found: dict[str, tuple[Tree, str | None]] = {}
    for question in survey["questions"]:
        for option in question["options"] if is_option(survey, question) else [None]:
            name = question["id"] if option is None else f"{question['id']}.{option['code']}"
            found[name] = (question, option and option["code"])
    return found


def is_shown(known: dict[str, tuple[Tree, str | None]], name: str, path: dict[str, str | None]) -> bool:
    for parent, codes in known[name][0].get("show_if", {}).items():
        options = [path[f"{parent}.{code}"] for code in codes if f"{parent}.{code}" in path]
        return "yes" in options if parent not in path else path[parent] in codes
    return True


def paths(survey: Tree, names: list[str]) -> list[dict[str, str | None]]:
    known, found = items(survey), [dict[str, str | None]()]
    for name in names:
        question, option = known[name]
        codes = ["no", "yes"] if option is not None else answers_of(question)
        assert codes is not None
        found = [{**path, name: code} for path in found for code in (codes if is_shown(known, name, path) else [None])]
    return found


def draw_booklet(document: Tree, source: Source) -> int:
    weights = [booklet["weight"] for booklet in document["booklets"]]
    if len(weights) == 1:
        return 0
    r = source.below(sum(weights))
    return next(number for number, total in enumerate(itertools.accumulate(weights)) if total > r)


# §7: answers


def code_of(question: Tree, option: str | None, answer: Any) -> str:
    """The code of an answer."""
    if option is not None:
        return "yes" if option in answer else "no"
    codes = answers_of(question)
    assert codes is not None
    if answer == "declined":
        return "declined"
    if question["type"] == "number":
        return codes[sum(edge <= answer for edge in inner_edges(question))]
    return ("yes" if answer else "no") if question["type"] == "yes_no" else str(answer)


def on_levels(question: Tree, answer: float, levels: int, source: Source) -> int:
    position = (answer - question["min"]) / (question["max"] - question["min"]) * (levels - 1)
    level = math.floor(position)
    return level + 1 if source.word() < (position - level) * 2**53 else level


def report(survey: Tree, part: Tree, answers: Tree, source: Source) -> int:
    known, channel = items(survey), part["channel"]
    question, option = known[part["questions"][0]]
    if len(part["questions"]) > 1:
        path: dict[str, str | None] = {}
        for name in part["questions"]:
            asked, choice = known[name]
            path[name] = code_of(asked, choice, answers[asked["id"]]) if is_shown(known, name, path) else None
        return CHANNELS["subset"](channel, paths(survey, part["questions"]).index(path), source)
    answer = answers[question["id"]]
    truth: Any
    if option is None and question["type"] == "multi_choice":
        truth = [int(each["code"] in answer) for each in question["options"]]
    elif option is None and answers_of(question) is None:
        truth = on_levels(question, answer, channel.get("levels") or len(channel["weights"]), source)
    else:
        codes = ["no", "yes"] if option is not None else answers_of(question)
        assert codes is not None
        truth = codes.index(code_of(question, option, answer))
    return CHANNELS[channel["kind"]](channel, truth, source)


# §8: the channels


def band(channel: Tree, level: int, source: Source) -> int:
    if source.word() < channel["favour"]:
        return level + source.below(channel["width"])
    r = source.below(channel["levels"] - 1)
    return r if r < level else r + int(channel["width"])


def subset(channel: Tree, x: int, source: Source) -> int:
    k, d = channel["options"], channel["size"]
    if source.word() < channel["favour"]:
        return 2**x + chosen(k - 1, d - 1, source.below(comb(k - 1, d - 1)), x)
    return chosen(k - 1, d, source.below(comb(k - 1, d)), x)


def chosen(n: int, s: int, rank: int, gap: int) -> int:
    found = 0
    for place in range(n - 1, -1, -1):
        if s > 0 and rank >= comb(place, s):
            rank, s = rank - comb(place, s), s - 1
            found += 2 ** (place if place < gap else place + 1)
    return found


def drawn(channel: Tree, bits: list[int], source: Source) -> int:
    part = source.below(len(channel["parts"]))
    return 2 * part + band(channel["parts"][part], bits[part], source)


def table(channel: Tree, row: int, source: Source) -> int:
    word = source.word()
    return next(y for y, total in enumerate(itertools.accumulate(channel["weights"][row])) if word < total)


CHANNELS: dict[str, Any] = {"band": band, "subset": subset, "drawn": drawn, "table": table}


def submit(published: bytes, answers: Tree, segments: Tree, source: Source) -> Tree:
    """§8 and §9: the booklet, the id, then the reports."""
    document = json.loads(published)
    booklet = draw_booklet(document, source)
    return {
        "id": source.take(16).hex(),
        "digest": hashlib.sha256(published).hexdigest(),
        "booklet": booklet,
        "reports": [
            report(document["survey"], document["parts"][part], answers, source)
            for part in document["booklets"][booklet]["parts"]
        ],
        "segments": segments,
    }


# The tests


def shaken(seed: bytes) -> bytes:
    return hashlib.shake_256(seed).digest(4000)


def check(published: bytes, answers: Tree, stream: bytes) -> None:
    """That ours and the third client send the same, and take the same bytes for it."""
    segments = {segment.id: segment.options[-1].code for segment in verify(published).survey.segments}
    ours, theirs = Source(stream), Source(stream)
    assert randomize(published, answers, segments, read=ours.take) == submit(published, answers, segments, theirs)
    assert ours.used == theirs.used


@given(documents(), st.data())
def test_a_client_written_from_the_page_sends_the_same(published: bytes, data: st.DataObject) -> None:
    """Random surveys of both designs, answers and bytes: the same booklet, id and reports from both."""
    answers = {}
    for question in verify(published).survey.questions:
        answers[question.id] = data.draw(st.sampled_from([answer for _, answer in question.panel(7)]))
    check(published, answers, shaken(data.draw(st.binary(max_size=8))))


def every_answer() -> Iterator[Tree]:
    options = ["doctor", "friend", "nobody"]
    for vaped, stress, size in itertools.product((True, False), (1, 2, 3, "declined"), range(4)):
        yield {"vaped": vaped, "how_often": "weekly", "support": options[:size], "stress": stress, "hours": 17 * size}


@pytest.mark.parametrize("published", [joint(), several(), textbook()], ids=["joint", "several", "textbook"])
def test_it_does_so_for_every_booklet(published: bytes) -> None:
    """Surveys with follow-ups, options and means, of one to four parts a booklet: every booklet comes up."""
    known = {question.id for question in verify(published).survey.questions}
    for number, answers in enumerate(every_answer()):
        asked = {name: answer for name, answer in answers.items() if name in known}
        check(published, asked, shaken(b"%d" % number))
    drawn_booklets = {draw_booklet(json.loads(published), Source(shaken(b"%d" % number))) for number in range(32)}
    assert drawn_booklets == {*range(len(verify(published).booklets))}


def test_the_paths_of_the_page_are_right(root: Path) -> None:
    """The page's example of paths, line by line, is what a part with these questions has."""
    page = (root / "shared" / "PROTOCOL.md").read_text("utf-8")
    rows = re.findall(r"^\| (\d) \| (\w+) \| ([\w–]+) \| (\w+) \|$", page, re.MULTILINE)
    options = [{"code": code, "text": code} for code in ("monthly", "weekly", "daily")]
    survey = deniable_protocol.survey_from_tree(
        {
            "id": "page",
            "title": "T",
            "epsilon": 2,
            "questions": [
                {"id": "vaped", "type": "yes_no", "text": "?"},
                {"id": "how_often", "type": "choice", "text": "?", "options": options, "show_if": {"vaped": ["yes"]}},
                {"id": "tired", "type": "yes_no", "text": "?"},
            ],
        }
    )
    every = deniable_protocol.items_of(survey)
    found = [
        (str(number), *("–" if place is None else item.codes[place] for item, place in zip(every, path, strict=True)))
        for number, path in enumerate(deniable_protocol.paths_of(every))
    ]
    assert rows == found


def reasons() -> set[str]:
    """Every reason that the protocol's source gives: the second argument of a note or a problem."""
    found = set()
    for file in Path(deniable_protocol.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and len(node.args) > 1:
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                second = node.args[1]
                if name in ("note", "Problem") and isinstance(second, ast.Constant):
                    found.add(str(second.value))
    return found


def test_every_reason_is_on_the_page(root: Path) -> None:
    """The table of reasons has each one that a client can refuse for."""
    page = (root / "shared" / "PROTOCOL.md").read_text("utf-8")
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \| .* \|$", page[page.index("| reason | means |") :], re.MULTILINE)
    described = {reason for row in rows for reason in re.findall(r"`(\w+)`", row)}
    assert len(reasons()) > 15 and reasons() <= described
