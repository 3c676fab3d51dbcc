"""Retries in storms, at the size of a test; and that the proof does find what they can break."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from planting import Change, altered
from proof import Watch
from proof.storms import prove

from conftest import missing

pytestmark = pytest.mark.usefixtures("linux")


@pytest.fixture
def linux() -> None:
    if sys.platform != "linux":
        missing("a system that lists processes in /proc")


def test_whatever_is_sent_again_is_stored_once(tmp_path: Path) -> None:
    """1,000 submissions with 30% of responses lost, 20 ids from 64 connections at once (by one worker and by two),
    and surveys closed amid retries: one row per submission, and every answer as it must be.
    """
    outcome = prove(tmp_path, Watch(600), 5, submissions=1_000, instants=20, closings=2)
    assert outcome.failures == []
    assert outcome.figures["submissions over the lossy way"] >= 1_000
    assert outcome.figures["instants with the same content"] == outcome.figures["instants with other contents"] == 20
    assert outcome.figures["instants with singles and batches"] == outcome.figures["closings amid retries"] == 2
    # Of some 1,500 responses 30% are lost: fewer than 200 would be beyond ten standard deviations.
    assert outcome.figures["responses lost"] > 200
    assert outcome.figures["responses cut in the middle"] and outcome.figures["requests lost"]


STORAGE = "storage/sqlite/storage.py"
FORGETS_WHAT_IS_SEALED = (
    STORAGE,
    " WHERE NOT EXISTS (SELECT 1 FROM {other} WHERE survey = ?1 AND id = column1) ON CONFLICT",
    " WHERE true ON CONFLICT",
)
THE_LAST_WINS = (STORAGE, "ON CONFLICT DO NOTHING", "ON CONFLICT DO UPDATE SET content = excluded.content")
NO_CONFLICTS = (STORAGE, "if added < len(rows) and not all(", "if added > len(rows) and not all(")
CLOSED_FOR_RETRIES = (STORAGE, "elif added and not self._is_open(", "elif not self._is_open(")
MAKES_IDS_ANEW = (
    "web/submission_reader.py",
    "return Row(bytes.fromhex(submission),",
    "import os\n        return Row(os.urandom(16),",
)


@pytest.mark.parametrize(
    ("change", "size", "found"),
    [
        pytest.param(FORGETS_WHAT_IS_SEALED, (0, 10, 0), "accepted once", id="a retry after folding is stored again"),
        pytest.param(THE_LAST_WINS, (0, 1, 0), "not just one was accepted", id="the last of one id wins"),
        pytest.param(NO_CONFLICTS, (0, 1, 0), "not refused as a conflict", id="other contents pass for duplicates"),
        pytest.param(
            CLOSED_FOR_RETRIES, (0, 0, 1), "after a closing, a retry", id="a closed survey knows nothing any more"
        ),
        pytest.param(MAKES_IDS_ANEW, (30, 0, 0), "accepted twice", id="every retry is stored as another"),
    ],
)
def test_a_broken_promise_is_found(change: Change, size: tuple[int, int, int], found: str, tmp_path: Path) -> None:
    """With each of these faults in the server, the proof fails at its smallest size, and says what is wrong."""
    sources = altered(tmp_path / "sources", change)
    (tmp_path / "files").mkdir()
    submissions, instants, closings = size
    outcome = prove(tmp_path / "files", Watch(300), 5, submissions, instants, closings, sources)
    assert any(found in failure for failure in outcome.failures), outcome
