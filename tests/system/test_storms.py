"""Retries in storms, at the size of a test; and that the proof does find what they can break."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofs import Watch
from proofs.storms import prove
from tests.helpers import server_faults
from tests.helpers.planting import Planted

pytestmark = pytest.mark.usefixtures("linux")


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


@pytest.mark.parametrize(
    ("planted", "size", "found"),
    [
        (server_faults.forgets_what_is_sealed, (0, 40, 0), "accepted once"),
        (server_faults.the_last_of_one_id_wins, (0, 1, 0), "not just one was accepted"),
        (server_faults.other_contents_pass_for_duplicates, (0, 1, 0), "not refused as a conflict"),
        (server_faults.a_closed_survey_knows_nothing, (0, 0, 1), "after a closing, a retry"),
        (server_faults.every_retry_is_another, (30, 0, 0), "accepted twice"),
    ],
)
def test_a_broken_promise_is_found(planted: Planted, size: tuple[int, int, int], found: str, tmp_path: Path) -> None:
    """With each of these faults in the server, the proof fails at its smallest size, and says what is wrong."""
    submissions, instants, closings = size
    outcome = prove(tmp_path, Watch(300), 5, submissions, instants, closings, planted)
    assert any(found in failure for failure in outcome.failures), outcome
