"""Servers killed under load, at the size of a test; and that the proof does find what a crash can break."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from planting import Change, altered
from proof import Watch
from proof.crash import ORDER, prove

from conftest import missing

pytestmark = pytest.mark.usefixtures("linux")


@pytest.fixture
def linux() -> None:
    if sys.platform != "linux":
        missing("a system that lists processes in /proc")


def test_acknowledged_is_kept_through_kills(tmp_path: Path) -> None:
    """Over ten kills in every situation, each of 5,000 acknowledged submissions is stored once, as it was sent."""
    outcome = prove(tmp_path, Watch(600), 6, acknowledgements=5_000, kills=10)
    assert outcome.failures == []
    assert outcome.figures["kills"] == 10 and outcome.figures["acknowledgements"] >= 5_000
    assert all(outcome.figures[f"kills: {kind}"] for kind in ORDER)
    # What the kills left undone was sent again, and some of it had been stored before.
    assert outcome.figures["requests without an answer"] > 10


STORAGE, COPIES = "storage/sqlite/storage.py", "storage/sqlite/backup.py"
ANSWERS_FIRST = (
    "storage/base.py",
    "        return self._commits.do(Request(survey, rows))\n",
    """        import threading
        threading.Timer(0.05, self._commits.do, [Request(survey, rows)]).start()
        return Accepted(len(rows), 0)
""",
)
FOLDS_ALL_BUT_ONE = (
    STORAGE,
    "INSERT INTO sealed SELECT * FROM inbox WHERE survey = ? AND id <= ? ORDER BY id",
    "INSERT INTO sealed SELECT * FROM inbox WHERE survey = ? AND id < ? ORDER BY id",
)
COUNTS_LATER = (
    STORAGE,
    """                self._add_statistics(db, survey, [content for _, content in rows])
        return len(rows)""",
    """        def later():
            with self._connections.turn, self._connections.writing() as db:
                self._add_statistics(db, survey, [content for _, content in rows])
        import threading
        if rows:
            threading.Timer(1, later).start()
        return len(rows)""",
)
FORGETS_WHAT_IS_SEALED = (
    STORAGE,
    " WHERE NOT EXISTS (SELECT 1 FROM {other} WHERE survey = ?1 AND id = column1) ON CONFLICT",
    " WHERE true ON CONFLICT",
)
MIGRATES_STEP_BY_STEP = (
    ("storage/sqlite/schema.py", "@migrations()\ndef m002", "@migrations(transactional=False)\ndef m002"),
    (STORAGE, '                "BEGIN IMMEDIATE"\n', '                "SELECT 1"\n'),
    (STORAGE, 'connection.execute("COMMIT")', "pass"),
)
BACKS_UP_IN_PLACE = (
    (COPIES, 'partial = final.with_name(f".{final.name}.partial")', "partial = final"),
    (COPIES, "        _name(partial, final)\n", ""),
    (COPIES, "            partial.unlink(missing_ok=True)\n\n\ndef _name", "            pass\n\n\ndef _name"),
    (COPIES, 'connection.execute("VACUUM INTO', 'import time; time.sleep(0.3); connection.execute("VACUUM INTO'),
)


@pytest.mark.parametrize(
    ("changes", "kills", "kind", "found"),
    [
        pytest.param(
            [ANSWERS_FIRST], 2, "moment", "an acknowledged submission is lost", id="answers before it commits"
        ),
        pytest.param([FOLDS_ALL_BUT_ONE], 2, "fold", "were accepted", id="folding drops a row"),
        pytest.param([COUNTS_LATER], 2, "fold", "differ from a recount", id="statistics in a transaction of their own"),
        pytest.param([FORGETS_WHAT_IS_SEALED], 2, "fold", "once more", id="a retry after folding is stored again"),
        pytest.param(MIGRATES_STEP_BY_STEP, 1, "migration", "done in part", id="a migration in several transactions"),
        pytest.param(BACKS_UP_IN_PLACE, 1, "backup", "holds less than", id="a backup has its name before it is done"),
    ],
)
def test_a_broken_promise_is_found(changes: list[Change], kills: int, kind: str, found: str, tmp_path: Path) -> None:
    """With each of these faults in the server, a kill or two make the proof fail, and say what is wrong."""
    sources = altered(tmp_path / "sources", *changes)
    (tmp_path / "files").mkdir()
    outcome = prove(tmp_path / "files", Watch(300), 6, 300, kills, (kind,), sources)
    assert any(found in failure for failure in outcome.failures), outcome
