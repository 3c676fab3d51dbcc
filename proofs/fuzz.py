"""Proof that a published document or a survey file with anything changed in it is refused, or means the same to all.

Documents go through ``verify`` in Python and in JavaScript: both refuse for the same reason at the same place, or both
accept with the same digest, survey, parts, paths and booklets. What is accepted is canonical: published again from what
it says, it is the same bytes. Survey files are refused with a SurveyError, or give a
survey that comes back the same from its own tree and from the document that is published for it, in both languages.
"""

from __future__ import annotations

import base64
import json
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any

import msgspec
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis.strategies import SearchStrategy

from deniable_protocol import (
    Document,
    DocumentError,
    Survey,
    SurveyError,
    parse_survey,
    publish,
    survey_from_tree,
    verify,
)  # fmt: skip
from deniable_protocol.checks import Checker
from deniable_protocol.languages import with_value
from deniable_protocol.survey import check_survey
from deniable_server.checks.node import find_node
from deniable_server.planning import publish_survey
from tests.helpers.hostile_texts import hostile_survey
from tests.helpers.surveys import documents as random_documents
from tests.helpers.surveys import joint_surveys, surveys

from . import Outcome, Watch
from .mutations import change_bytes, mutated

SCRIPT = Path(__file__).with_name("verifying.mjs")
BATCH = 500
Meaning = dict[str, Any]
Verify = Callable[[bytes], Meaning]


def in_python(raw: bytes) -> Meaning:
    """What this document means, or why it is refused."""
    try:
        document = verify(raw)
    except DocumentError as error:
        return {"reason": error.reason, "place": error.place}
    parts = [
        (part.names, part.epsilon, part.channel, part.paths if len(part.items) > 1 else []) for part in document.parts
    ]
    again = publish(document.survey, *arguments_of(document))
    if again != raw:
        raise AssertionError("it is accepted, but what it says is written in another way")
    told = json.loads(msgspec.json.encode({"parts": parts, "booklets": document.booklets}))
    languages = document.survey.languages or ("",)
    surveys = [msgspec.structs.replace(document.survey.in_language(each), translations=()) for each in languages]
    return {"digest": document.digest, "surveys": surveys, **told}


def arguments_of(document: Document) -> tuple[Any, ...]:
    """What ``publish`` takes to make it again."""
    if document.survey.epsilon is None:
        return ()
    parts = [(part.names, 1 if part.channel.held == 1 else None) for part in document.parts]
    booklets = [(booklet.parts, booklet.weight) for booklet in document.booklets]
    return parts, booklets, [part.epsilon for part in document.parts]


def in_javascript(documents: Iterable[bytes]) -> list[Meaning]:
    """The same of many documents, by the module that browsers load."""
    node = find_node()
    if node is None:
        raise FileNotFoundError("node is missing")
    lines = b"".join(base64.b64encode(raw) + b"\n" for raw in documents)
    run = subprocess.run([node, str(SCRIPT)], input=lines, capture_output=True, timeout=600, check=True)
    meanings: list[Meaning] = [json.loads(line) for line in run.stdout.splitlines()]
    for meaning in meanings:
        if "surveys" in meaning:
            meaning["surveys"] = [check_survey(Checker(published=True), each, "") for each in meaning["surveys"]]
    return meanings


def gathered(strategy: SearchStrategy[Any], count: int, seed: int) -> list[Any]:
    """So many random examples."""
    found: list[Any] = []

    @seeded(seed)
    @settings(
        max_examples=count, database=None, deadline=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(strategy)
    def gather(example: Any) -> None:
        found.append(example)

    gather()
    return found


def base_surveys(count: int, seed: int) -> list[dict[str, Any]]:
    """Random surveys of both designs, and one whose every text is hostile."""
    found = gathered(surveys(most_questions=3), count, seed) + gathered(joint_surveys(most_questions=3), count, seed)
    return [hostile_survey("hostile"), *found]


def prove(
    folder: Path, watch: Watch, seed: int, *, documents: int, survey_files: int, verify_one: Verify = in_python
) -> Outcome:
    """So many of both. ``verify_one`` is Python's side."""
    chance, failures, counted = Random(seed), [], Counter[str]()
    trees = base_surveys(20, seed)
    example = (files("deniable_server") / "example.toml").read_bytes()
    hostile = publish(survey_from_tree(trees[0]))
    published = [publish_survey(parse_survey(example)), hostile, *gathered(random_documents(3), 40, seed)]

    def compare(batch: list[bytes], expected: list[Meaning]) -> None:
        for raw, ours, theirs in zip(batch, expected, in_javascript(batch), strict=True):
            if ours != theirs and len(failures) < 20:
                said = [each.get("digest", each) for each in (ours, theirs)]
                failures.append(f"Python says {said[0]}, JavaScript {said[1]}, of {raw[:2_000]!r}")

    def tried(what: str, raw: bytes, attempt: Callable[[], Meaning]) -> Meaning:
        """What came of it; any exception but the documented one is a failure."""
        try:
            return attempt()
        except Exception as error:
            if len(failures) < 20:
                failures.append(f"{what}: {type(error).__qualname__} for {raw[:2_000]!r}")
            return {"reason": "an exception", "place": ""}

    done = 0
    for _ in range(0, documents, BATCH):
        if watch.is_over:
            break
        batch = [mutated(chance.choice(published), chance) for _ in range(min(BATCH, documents - done))]
        expected = [tried("a document", raw, partial(verify_one, raw)) for raw in batch]
        compare(batch, expected)
        counted["documents accepted by both"] += sum("digest" in meaning for meaning in expected)
        done += len(batch)
        watch.counts(done, documents + survey_files)
    counted["documents"] = done

    texts = [(example, "toml"), *((json.dumps(tree).encode(), "json") for tree in trees)]
    done = 0
    for _ in range(0, survey_files, BATCH):
        if watch.is_over:
            break
        accepted: list[bytes] = []
        for _ in range(min(BATCH, survey_files - done)):
            done += 1
            text, syntax = chance.choice([texts[0], chance.choice(texts)])
            raw = change_bytes(text, chance) if syntax == "toml" else mutated(text, chance)
            document = tried("a survey file", raw, partial(read_file, raw, syntax))
            if "published" in document:
                accepted.append(document["published"])
            elif "differs" in document:
                failures.append(f"a survey file {document['differs']}: {raw[:2_000]!r}")
        compare(accepted, [in_python(raw) for raw in accepted])
        counted["survey files accepted"] += len(accepted)
        watch.counts(counted["documents"] + done, documents + survey_files)
    counted["survey files"] = done
    if (counted["documents"], done) != (documents, survey_files):
        failures.append(
            f"stopped after {counted['documents']} of {documents} documents, {done} of {survey_files} files"
        )
    return Outcome(dict(sorted(counted.items())), failures)


def read_file(raw: bytes, syntax: Any) -> Meaning:
    """What is published for a survey file; how it differs after a round trip; or nothing, where it is refused."""
    try:
        survey = parse_survey(raw, syntax=syntax)
    except SurveyError:
        return {}
    if survey_from_tree(tree_of(survey)) != survey:
        return {"differs": "gives another survey when its own tree is read"}
    try:
        document = publish_survey(survey)
    except SurveyError:  # what is wanted together cannot be asked
        return {}
    read = verify(document).survey
    if read != msgspec.structs.replace(survey, respondents=None) or publish_survey(read) != document:
        return {"differs": "is not the survey that is published for it"}
    return {"published": document}


def tree_of(survey: Survey) -> dict[str, Any]:
    """The survey as a file has it."""
    tree: dict[str, Any] = msgspec.to_builtins(survey)
    for question in tree["questions"]:
        if condition := question.get("show_if"):
            question["show_if"] = {condition["question"]: condition["codes"]}
    for place, texts in tree.pop("translations", ()):
        tree = with_value(tree, place, dict(zip(survey.languages, texts, strict=True)))
    return tree
