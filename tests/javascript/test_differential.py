"""Random surveys, answers and bytes through both languages: the same submission, or the same refusal."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable_protocol import Document, DocumentError, publish, randomize, survey_from_tree, verify
from tests.helpers.surveys import surveys


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
    return [publish(survey_from_tree(tree)) for tree in collect(150, surveys(most_questions=3))]


def some_answers(document: Document, chance: random.Random) -> dict[str, Any]:
    """Answers of every kind: those that fall on levels, and for numbers any in between."""
    answers: dict[str, Any] = {}
    for question in document.survey.questions:
        _, answer = chance.choice(question.panel(document.channels[question.id].answers))
        if question.type == "number" and answer != "declined":
            answer = min(
                max(question.min + chance.random() * (question.max - question.min), question.min), question.max
            )
        answers[question.id] = answer
    return answers


def test_both_languages_randomise_alike(node: str, root: Path, documents: list[bytes]) -> None:
    """For 1,500 random surveys, answers and byte streams, both give the same submission from the same bytes."""
    chance = random.Random("alike")
    cases, expected = [], []
    for raw in documents:
        document = verify(raw)
        for _ in range(10):
            answers = some_answers(document, chance)
            segments = {s.id: chance.choice(s.options).code for s in document.survey.segments}
            used = bytearray()

            def read(n: int, used: bytearray = used) -> bytes:
                used += (fresh := chance.randbytes(n))
                return fresh

            expected.append({"submission": randomize(document, answers, segments, read=read)})
            cases.append({"document": raw.decode(), "answers": answers, "segments": segments, "bytes": used.hex()})
    assert len(cases) >= 1000
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


def test_both_languages_refuse_alike(node: str, root: Path, documents: list[bytes]) -> None:
    """Of 6,000 mangled documents, both accept the same ones and refuse the rest for the same reason and place."""
    chance = random.Random("mangled")
    cases, expected = [], []
    for _ in range(6000):
        text = mangled(chance.choice(documents).decode(), chance)
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
    assert 100 < accepted < 5900
