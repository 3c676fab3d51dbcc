"""Servers killed under load, at the size of a test; and that the proof does find what a crash can break."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofs import Watch
from proofs.crash import ORDER, prove
from tests.helpers import server_faults
from tests.helpers.planting import Planted

pytestmark = pytest.mark.usefixtures("linux")


def test_acknowledged_is_kept_through_kills(tmp_path: Path) -> None:
    """Over ten kills in every situation, each of 5,000 acknowledged submissions is stored once, as it was sent."""
    outcome = prove(tmp_path, Watch(600), 6, acknowledgements=5_000, kills=10)
    assert outcome.failures == []
    assert outcome.figures["kills"] == 10 and outcome.figures["acknowledgements"] >= 5_000
    assert all(outcome.figures[f"kills: {kind}"] for kind in ORDER)
    # What the kills left undone was sent again, and some of it had been stored before.
    assert outcome.figures["requests without an answer"] > 10


@pytest.mark.parametrize(
    ("planted", "kills", "kind", "found"),
    [
        (server_faults.answers_before_it_commits, 2, "moment", "an acknowledged submission is lost"),
        (server_faults.folding_drops_a_row, 2, "fold", "were accepted"),
        (server_faults.statistics_in_a_transaction_of_their_own, 2, "fold", "differ from a recount"),
        (server_faults.forgets_what_is_sealed, 2, "fold", "once more"),
        (server_faults.migrates_step_by_step, 1, "migration", "done in part"),
        (server_faults.names_a_backup_before_it_is_done, 1, "backup", "holds less than"),
    ],
)
def test_a_broken_promise_is_found(planted: Planted, kills: int, kind: str, found: str, tmp_path: Path) -> None:
    """With each of these faults in the server, a few kills make the proof fail, and say what is wrong. When a kill
    comes, chance decides: where the first ones show nothing, others are tried.
    """
    for attempt in range(3):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        outcome = prove(folder, Watch(300), 6 + attempt, 300, kills, (kind,), planted)
        if any(found in failure for failure in outcome.failures):
            return
    raise AssertionError(outcome)
