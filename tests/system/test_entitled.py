"""Invitations, tokens and submissions while servers are killed, at the size of a test; and that the proof does find
what would count somebody twice, or not at all.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from proofs import Outcome, Watch, entitled, invitees
from tests.helpers import issued_faults
from tests.helpers.planting import Planted

pytestmark = pytest.mark.usefixtures("linux")

CHEATS = ("spent twice", "replayed", "forged", "foreign", "truncated")


def check(outcome: Outcome, database: str, submissions: int, kills: int) -> None:
    assert outcome.failures == []
    counted = {what.partition(": ")[2]: value for what, value in outcome.figures.items() if what.startswith(database)}
    assert (counted["submissions"], counted["kills"]) == (submissions, kills)
    assert all(counted[f"refused: {cheat}"] for cheat in CHEATS)
    assert counted["devices whose rival had the token"]


def test_everybody_is_counted_once_on_sqlite(tmp_path: Path) -> None:
    """Over four kills, each of 300 invitations gives one token and is counted once, whatever people try besides."""
    outcome = entitled.prove(tmp_path, Watch(300), 21, sqlite=(300, 4), postgresql=None)
    check(outcome, "SQLite", 300, 4)


def test_everybody_is_counted_once_on_postgresql(tmp_path: Path) -> None:
    """The same with three servers on PostgreSQL, of which one, two or all are killed."""
    outcome = entitled.prove(tmp_path, Watch(300), 21, sqlite=None, postgresql=(200, 3))
    check(outcome, "PostgreSQL", 200, 3)


@pytest.mark.parametrize(
    ("planted", "found"),
    [
        (issued_faults.the_use_is_written_after_signing, "that its invitation is used is not on disk"),
        (issued_faults.one_can_take_the_use_of_another, "one invitation was signed for two values"),
        (issued_faults.an_invitation_is_never_used_up, "one invitation was signed for two values"),
        (issued_faults.an_id_need_not_follow_from_the_token, "replayed: under another id: the answer was 201"),
    ],
)
def test_a_broken_promise_is_found(
    planted: Planted, found: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With each of these faults in the server, the proof fails, and says what is wrong."""
    monkeypatch.setattr(invitees, "RIVALS", 1.0)
    monkeypatch.setattr(invitees, "CHEATS", 1.0)
    outcome = entitled.prove(tmp_path, Watch(120), 21, sqlite=(60, 1), postgresql=None, planted=planted)
    assert any(found in failure for failure in outcome.failures), outcome
