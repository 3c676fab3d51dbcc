"""Changed documents and survey files at a small size, and whether the proof would notice a difference."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from proofs import Watch, fuzz


@pytest.fixture(autouse=True)
def needs_node(node: str) -> None:
    """The proof compares with JavaScript."""


def test_changed_documents_and_files_are_refused_or_mean_the_same(tmp_path: Path) -> None:
    """400 documents and 400 survey files: both languages refuse for the same reason, or read the same."""
    outcome = fuzz.prove(tmp_path, Watch(600), 6, documents=400, survey_files=400)
    assert outcome.failures == []
    assert (outcome.figures["documents"], outcome.figures["survey files"]) == (400, 400)
    assert int(outcome.figures["documents accepted by both"]) > 10
    assert int(outcome.figures["survey files accepted"]) > 10


def lenient(raw: bytes) -> dict[str, Any]:
    """Reads the last of two equal keys, as most JSON readers do, and otherwise as it should."""
    return fuzz.in_python(raw) | {"digest": hashlib.sha256(raw).hexdigest()} if _parses(raw) else fuzz.in_python(raw)


def _parses(raw: bytes) -> bool:
    try:
        json.loads(raw)
    except (ValueError, RecursionError):
        return False
    return True


def crashing(raw: bytes) -> dict[str, Any]:
    """Stumbles over text that is not UTF-8."""
    raw.decode()
    return fuzz.in_python(raw)


def forgetful(raw: bytes) -> dict[str, Any]:
    """Leaves out the parts that it has read."""
    meaning = fuzz.in_python(raw)
    return meaning | {"parts": []} if "parts" in meaning else meaning


@pytest.mark.parametrize(
    ("faulty", "noticed"), [(lenient, "JavaScript"), (crashing, "UnicodeDecodeError"), (forgetful, "JavaScript")]
)
def test_a_faulty_reader_is_noticed(tmp_path: Path, faulty: fuzz.Verify, noticed: str) -> None:
    """Accepting too much, another exception, and other parts are failures."""
    outcome = fuzz.prove(tmp_path, Watch(600), 6, documents=200, survey_files=0, verify_one=faulty)
    assert any(noticed in failure for failure in outcome.failures)
