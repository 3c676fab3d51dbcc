"""Random surveys, answers and bytes through both languages: the same submission, or the same refusal."""

from __future__ import annotations

import json
import random
import re
import subprocess
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable_protocol import (
    Document,
    DocumentError,
    Number,
    SurveyError,
    TooManyPaths,
    atoms_of,
    items_of,
    paths_of,
    randomize,
    survey_from_tree,
    verify,
)
from deniable_protocol.checks import document_json, encode
from deniable_protocol.texts import HIDDEN, what_is_wrong
from tests.helpers.surveys import documents as random_documents
from tests.helpers.surveys import joint, joint_surveys, several, textbook, with_epsilons


def run_node(node: str, root: Path, cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    text = "".join(json.dumps(case) + "\n" for case in cases)
    command = [node, str(root / "client/web/test/differential.mjs")]
    run = subprocess.run(command, input=text, capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stderr[-3000:]
    return [json.loads(line) for line in run.stdout.splitlines()]


def collect(count: int, strategy: st.SearchStrategy[Any]) -> list[Any]:
    """This many examples of a strategy, always the same ones."""
    examples: list[Any] = []

    @settings(max_examples=count, derandomize=True, database=None, deadline=None)
    @given(strategy)
    def gather(example: Any) -> None:
        examples.append(example)

    gather()
    return examples


@pytest.fixture(scope="module")
def documents() -> list[bytes]:
    """Surveys of both designs, with booklets of one part and of several."""
    chance = random.Random("booklets")
    shared = [sharing(tree, chance) for tree in collect(120, joint_surveys())]
    made = [*(textbook(), joint(), several()), *collect(100, random_documents()), *shared]
    return [document for document in made if document is not None]


def sharing(tree: dict[str, Any], chance: random.Random) -> bytes | None:
    """A document whose parts overlap and whose booklets have several of them; None where the survey does not fit."""
    try:
        survey = survey_from_tree(tree)
    except SurveyError:
        return None
    atoms = atoms_of(survey)
    parts = []
    for atom in atoms:
        items = {item.name: item for item in atom}
        more = items | {item.name: item for item in chance.choice(atoms)}
        wanted = [item for item in items_of(survey) if item.name in more]
        fits = all(item.can_join for item in wanted) and can_report(wanted)
        names = [item.name for item in (wanted if fits else atom)]
        share = int(survey.exact_epsilon * chance.choice([10_000, 5_000, 3_333]))
        parts.append((names, None, str(max(share, 100) / 10_000)))
    booklets = [([number], chance.randint(1, 40)) for number in range(len(parts))]
    for _ in range(3):
        taken: list[int] = []
        for number in chance.sample(range(len(parts)), k=len(parts)):
            names = [name for each in (*taken, number) for name in parts[each][0]]
            spent = sum(Fraction(parts[each][2]) for each in (*taken, number))
            taken += [number] if len({*names}) == len(names) and spent <= survey.exact_epsilon else []
        booklets.append((taken, chance.randint(1, 40)))
    chance.shuffle(booklets)
    return with_epsilons(survey, parts, booklets)


def can_report(items: list[Any]) -> bool:
    try:
        return bool(paths_of(items))
    except TooManyPaths:
        return False


def some_answers(document: Document, booklet: int | None, chance: random.Random) -> dict[str, Any]:
    """Answers of every kind, to all questions or to those of the booklet; nonsense where a question is not shown."""
    answers: dict[str, Any] = {}
    chosen: dict[str, list[str]] = {}
    asked = document.survey.questions if booklet is None else document.asked(booklet)
    for question in asked:
        _, answer = chance.choice(question.panel(9))
        if isinstance(question, Number) and answer != "declined":
            answer = min(
                max(question.min + chance.random() * (question.max - question.min), question.min), question.max
            )
        condition = question.show_if
        if condition is not None and not {*condition.codes} & {*chosen[condition.question]}:
            if chance.random() < 0.5:
                answers[question.id] = chance.choice([answer, None, "nonsense", 17, [], True])
            chosen[question.id] = []
            continue
        answers[question.id] = answer
        truth = question.encode(answer)
        places = truth if isinstance(truth, tuple) else [number == truth for number in range(len(question.codes))]
        chosen[question.id] = [code for code, bit in zip(question.codes, places, strict=False) if bit]
    return answers


def test_both_languages_randomise_alike(node: str, root: Path, documents: list[bytes]) -> None:
    """For 1,500 random surveys, answers and byte streams, both give the same submission from the same bytes."""
    chance = random.Random("alike")
    cases: list[dict[str, Any]] = []
    expected: list[dict[str, Any]] = []
    for raw in documents:
        document = verify(raw)
        for _ in range(10):
            booklet = chance.choice([None, chance.randrange(len(document.booklets))])
            answers = some_answers(document, booklet, chance)
            segments = {s.id: chance.choice(s.options).code for s in document.survey.segments}
            used = bytearray()

            def read(n: int, used: bytearray = used) -> bytes:
                used += (fresh := chance.randbytes(n))
                return fresh

            submission = randomize(document, answers, segments, booklet=booklet, read=read)
            expected.append({"submission": submission})
            case = {"document": raw.decode(), "answers": answers, "segments": segments, "bytes": used.hex()}
            cases.append(case if booklet is None else {**case, "booklet": booklet})
    assert len(cases) >= 1000
    assert sum(len(each["submission"]["reports"]) > 1 for each in expected) > 200
    assert run_node(node, root, cases) == expected


def mangled(text: str, chance: random.Random) -> str:
    """The document after a few random edits: characters changed, cut, doubled, pieces moved, digits turned."""
    for _ in range(chance.randint(1, 3)):
        i, j = sorted(chance.randrange(len(text) + 1) for _ in range(2))
        j = min(j, i + 30)
        edit = chance.randrange(5)
        if edit == 0:
            text = text[:i] + chance.choice('{}[]",:0123456789.-eE\\ud800 truefalsn\x00é😀') + text[i + 1 :]
        elif edit == 1:
            text = text[:i] + text[j:]
        elif edit == 2:
            text = text[:j] + text[i:j] + text[j:]
        elif edit == 3:
            text = text[:i] + json.dumps(chance.choice([None, True, 0, -1, 1e9, "", "a", [], {}, 2**53])) + text[i:]
        else:
            digits = [k for k, character in enumerate(text) if character.isdecimal()]
            k = chance.choice(digits)
            text = text[:k] + chance.choice("0123456789") + text[k + 1 :]
    return text


def nodes(tree: Any) -> list[tuple[Any, Any]]:
    """Every place in the tree: what holds it, and its key or number there."""
    places = [*tree.items()] if isinstance(tree, dict) else [*enumerate(tree)] if isinstance(tree, list) else []
    return [(tree, key) for key, _ in places] + [each for _, value in places for each in nodes(value)]


def rearranged(text: str, chance: random.Random) -> str:
    """The document after a few edits that leave it JSON: values removed, doubled, moved or a little changed."""
    tree = json.loads(text)
    for _ in range(chance.randint(1, 2)):
        # A survey has many more places than the parts and booklets: half of the edits are theirs.
        found = nodes({key: tree[key] for key in chance.choice([tree, ("parts", "booklets")]) if key in tree})
        holder, key = chance.choice(found)
        value, other = holder[key], chance.choice(found)
        another = json.loads(json.dumps(other[0][other[1]]))
        edit = chance.randrange(5)
        if edit == 0 and isinstance(value, int) and not isinstance(value, bool):
            holder[key] = value + chance.choice([-1, 1])
        elif edit == 0 and isinstance(value, str) and value.replace(".", "").isdecimal():
            holder[key] = chance.choice(["0.01", "10.0", "0.1", value + "0", "1"])
        elif edit == 1 and isinstance(holder, list):
            holder.insert(chance.randrange(len(holder) + 1), chance.choice([value, another]))
        elif edit == 2:
            del holder[key]
        elif edit == 3 and isinstance(holder, list):
            chance.shuffle(holder)
        else:
            holder[key] = another
    return encode(document_json(json.dumps(tree))).decode() if chance.random() < 0.9 else json.dumps(tree)


def test_both_languages_refuse_alike(node: str, root: Path, documents: list[bytes]) -> None:
    """Of 6,000 mangled documents, both accept the same ones and refuse the rest for the same reason and place."""
    chance = random.Random("mangled")
    cases, expected = [], []
    for _ in range(6000):
        text = chance.choice([mangled, rearranged])(chance.choice(documents).decode(), chance)
        cases.append({"document": text})
        try:
            expected.append({"digest": verify(text).digest})
        except DocumentError as error:
            expected.append({"reason": error.reason, "place": error.place})
    got = run_node(node, root, cases)
    differ = [
        (case["document"], ours, theirs)
        for case, ours, theirs in zip(cases, expected, got, strict=True)
        if ours != theirs
    ]
    assert not differ, f"{len(differ)} differ, such as {differ[0]}"
    accepted = sum("digest" in result for result in got)
    assert 50 < accepted < 5900
    reasons = {(result["place"].partition("[")[0], result["reason"]) for result in got if "reason" in result}
    parts = ("channel", "missing", "order", "range", "type", "unknown", "unused")
    assert {("parts", reason) for reason in parts} <= reasons, sorted(reasons)
    assert {("booklets", reason) for reason in ("missing", "order", "range", "type")} <= reasons, reasons
    assert {("", "canonical"), ("", "json")} <= reasons


def test_both_languages_allow_the_same_characters(node: str, root: Path) -> None:
    """Of all 1,114,112 code points, both refuse the same ones in a text: those that PROTOCOL.md lists, and what is not
    in normal form by itself.
    """
    checks = (root / "client/web/src/deniable/checks.js").as_uri()
    script = f"""
        const {{ text }} = await import({json.dumps(checks)});
        const refused = [];
        for (let point = 0; point < 0x110000; point++) {{
          try {{ text(`a${{String.fromCodePoint(point)}}b`, ""); }} catch {{ refused.push(point); }}
        }}
        console.log(JSON.stringify(refused));
    """
    run = subprocess.run([node, "--input-type=module", "-e", script], capture_output=True, text=True, check=True)
    assert json.loads(run.stdout) == [
        point
        for point in range(0x110000)
        if what_is_wrong(f"a{chr(point)}b", lines=False) is not None and chr(point) != " "
    ]
    page = (root / "shared/PROTOCOL.md").read_text("utf-8")
    rows = re.findall(r"^\| U\+([^|]*) \|", page, re.MULTILINE)
    listed = {point for row in rows for point in points(row)}
    assert listed == {point for point in range(0x110000) if re.match(f"[{HIDDEN}]", chr(point))}


def points(row: str) -> set[int]:
    """The code points of a row of the page: ranges, and the last two of every plane."""
    found = {plane << 16 | end for plane in range(17) for end in (0xFFFE, 0xFFFF) if "every plane" in row}
    for first, last in re.findall(r"\b([0-9A-F]{4,6})(?:–([0-9A-F]{4,6}))?\b", row):
        found |= {*range(int(first, 16), int(last or first, 16) + 1)}
    return found
