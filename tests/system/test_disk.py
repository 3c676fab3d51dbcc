"""Disk faults: no false acknowledgement, recovery after, and proofs that notice when either fails."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from proofs import Watch
from proofs.conditions import may_mount, small_disk
from proofs.conditions import prove as prove_conditions
from proofs.disk import DATABASE, Fault, Template, prove
from proofs.traces import have_strace
from tests.helpers import server_faults
from tests.helpers.machine import missing
from tests.helpers.servers import ask, free_port, running

# Some of them fail at the commit of a submission after which nothing cuts the log for the next one. Which ones, depends
# on when the thread that folds comes to it.
LATE_SYNCS = [Fault("fdatasync", "EIO", n, lasting=True) for n in range(3, 9)]


@pytest.fixture
def _strace() -> None:
    if not have_strace():
        missing("strace")


@pytest.fixture
def _mount(tmp_path: Path) -> None:
    if not may_mount(tmp_path / "mount"):
        missing("the right to mount a file system")


@pytest.mark.usefixtures("_strace")
def test_no_false_acknowledgement_when_writes_and_syncs_fail(tmp_path: Path) -> None:
    """Of all writes and syncs in submitting, folding and closing, a spread of 8 fails, once or until mended: answers
    are 503 meanwhile, then everything is taken once, and is there after a kill and after power cuts.
    """
    outcome = prove(tmp_path, Watch(600), 8, faults=8)
    assert outcome.failures == []
    assert outcome.figures["faults"] == outcome.figures["faults that were met"] == 8
    assert outcome.figures["calls that could fail"] > 150


@pytest.mark.usefixtures("_strace")
def test_a_false_acknowledgement_is_noticed(tmp_path: Path) -> None:
    """The proof finds a server that acknowledges although its commit failed."""
    planted = server_faults.acknowledges_failed_commits
    outcome = prove(tmp_path, Watch(600), 9, faults=LATE_SYNCS, planted=planted)
    assert any("acknowledged submissions lost" in failure for failure in outcome.failures)


@pytest.mark.usefixtures("_strace")
def test_a_commit_behind_a_lost_one_is_noticed(tmp_path: Path) -> None:
    """If all connections close after a failed sync, the log's index is rebuilt and includes the commit that is not on
    disk. The proof finds what is then acknowledged behind it and lost in a power cut: the server keeps one open. Where
    chance lets no sync fail at the right moment, it is tried again.
    """
    planted = server_faults.keeps_no_connection_open
    for attempt in range(3):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        outcome = prove(folder, Watch(600), 10 + attempt, faults=LATE_SYNCS, planted=planted)
        if any("after a power cut" in failure and "lost" in failure for failure in outcome.failures):
            return
    raise AssertionError(outcome)


@pytest.mark.usefixtures("_strace", "_mount")
@pytest.mark.parametrize("condition", ["full", "short", "read-only", "locked"])
def test_submitters_outlast_a_bad_condition(tmp_path: Path, condition: str) -> None:
    """While the disk is full, takes only parts of writes, has become read-only or is locked for longer than the server
    waits, submitters get 503; when it is over, the same process takes their submissions, and all that it ever
    acknowledged are there once.
    """
    outcome = prove_conditions(tmp_path, Watch(600), 11, rounds=1, conditions=(condition,))
    assert outcome.failures == []
    assert outcome.figures["answers 503"] >= 4 and outcome.figures["acknowledged"] >= 8


@pytest.mark.usefixtures("_mount")
def test_a_read_only_disk_is_said_plainly_at_start(tmp_path: Path) -> None:
    """The server does not start, says which file it cannot write, and starts once the disk can be written."""
    with small_disk(tmp_path / "mount") as folder:
        database = Template(folder / "data").copy(folder / "copy")
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        command = [sys.executable, "-m", "deniable_server", "serve", "--database", str(database)]
        command += ["--bind", f"127.0.0.1:{free_port()}"]
        run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert run.returncode == 1 and "Traceback" not in run.stderr
        assert DATABASE in run.stderr
        subprocess.run(["mount", "-o", "remount,rw", str(folder)], check=True)
        with running(database, tmp_path / "server.log") as server:
            assert ask(f"{server.base}/readyz").status == 200
