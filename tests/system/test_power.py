"""Power cuts: nothing acknowledged is lost, and the proof of that notices where it is."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from proofs import Watch
from proofs.cuts import Disk
from proofs.power import prove
from proofs.traces import Named, Resize, Synced, Write, have_strace
from tests.helpers import server_faults
from tests.helpers.machine import missing
from tests.helpers.planting import Planted

SMALL = {"cuts": 100, "singles": 60, "batches": 3}


@pytest.fixture(autouse=True)
def _strace() -> None:
    if not have_strace():
        missing("strace")


def test_what_was_acknowledged_survives_power_cuts(tmp_path: Path) -> None:
    """After each of 100 cuts of a server's life, from its first start to the closing of a survey, what is left on disk
    opens, has every acknowledged submission once and no other, and its statistics equal a recount.
    """
    outcome = prove(tmp_path, Watch(600), 6, **SMALL)
    assert outcome.failures == []
    assert outcome.figures["cuts"] == 100 and outcome.figures["cuts with unsynced writes"] > 50
    assert outcome.figures["cuts before the first submission"] > 5
    assert outcome.figures["acknowledged"] > 1000 and outcome.figures["checkpoints"] > 5


@pytest.mark.parametrize(
    ("planted", "also_damaged"),
    [(server_faults.syncs_never, True), (server_faults.syncs_only_at_checkpoints, False)],
)
def test_a_server_that_syncs_less_is_found_out(tmp_path: Path, planted: Planted, also_damaged: bool) -> None:
    """With synchronous OFF or NORMAL, cuts lose what was acknowledged, and with OFF the database itself."""
    outcome = prove(tmp_path, Watch(600), 7, cuts=40, singles=30, batches=3, planted=planted)
    assert any("acknowledged submissions lost" in failure for failure in outcome.failures)
    assert not also_damaged or any("damaged" in failure or "cannot" in failure for failure in outcome.failures)


def test_a_name_that_was_not_synced_is_found_out(tmp_path: Path) -> None:
    """Without a sync of the folder a new file can be gone whatever was synced in it; with one it stays."""
    disk = Disk(tmp_path)
    for event in (Named(0, 0, "a", "new"), Write(1, 1, "a", 0, b"kept"), Synced(2, 2, "a", False)):
        disk.happen(event)
    ends = {tuple(disk.left(random.Random(seed)).items()) for seed in range(50)}
    assert ends == {(), (("a", b"kept"),)}
    disk.happen(Synced(3, 3, "", False))
    assert {tuple(disk.left(random.Random(seed)).items()) for seed in range(50)} == {(("a", b"kept"),)}


def test_unsynced_writes_come_to_every_end(tmp_path: Path) -> None:
    """Dropped, kept, torn between sectors with old bytes or zeros, and cut or not; synced bytes are always there."""
    (tmp_path / "a").write_bytes(b"o" * 1024)
    disk = Disk(tmp_path)
    disk.happen(Write(0, 0, "a", 0, b"n" * 1024))
    disk.happen(Resize(1, 1, "a", 1024 + 512))
    ends = {disk.left(random.Random(seed))["a"] for seed in range(500)}
    sectors = {(end[:512], end[512:1024]) for end in ends}
    old, new, zero = b"o" * 512, b"n" * 512, bytes(512)
    assert sectors == {(first, second) for first in (old, new, zero) for second in (old, new, zero)}
    assert {len(end) for end in ends} == {1024, 1536}
    disk.happen(Synced(2, 2, "a", False))
    assert {disk.left(random.Random(seed))["a"] for seed in range(50)} == {new + new + zero}


def test_a_sync_that_failed_owes_nothing_later(tmp_path: Path) -> None:
    """Data that a failed sync should have written is lost, even if the next sync succeeds; only writing again helps.
    And a write that was under way when a sync began is not covered by it.
    """
    (tmp_path / "a").write_bytes(b"old")
    disk = Disk(tmp_path)
    events = [Write(0, 0, "a", 0, b"new"), Synced(1, 1, "a", True), Synced(2, 2, "a", False)]
    for event in [*events, Write(3, 5, "a", 0, b"try"), Synced(6, 4, "a", False)]:
        disk.happen(event)
    assert {disk.left(random.Random(seed))["a"] for seed in range(50)} >= {b"old", b"try"}
    disk.happen(Synced(8, 7, "a", False))
    assert {disk.left(random.Random(seed))["a"] for seed in range(50)} == {b"try"}
