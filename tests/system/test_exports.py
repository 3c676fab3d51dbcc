"""Exports from PostgreSQL, in little memory, and without Java."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from deniable_protocol import verify
from deniable_server.export.write import columns, writing
from deniable_server.storage import Row, open_storage
from tests.helpers.exports import ASKED, DOCUMENTS, contents_of, deniable, every_channel, example, told
from tests.helpers.postgres import Cluster


def test_postgresql_and_sqlite_tell_and_export_the_same(kept: Path, postgres: Cluster, tmp_path: Path) -> None:
    """The same submissions in PostgreSQL give the same bytes of every answer, and the same files."""
    address = postgres.new_database()
    there, here = open_storage(str(kept / "a.db")), open_storage(address)
    try:
        for survey, document in DOCUMENTS.items():
            here.publish(document())
            source, target = there.find(survey), here.find(survey)
            assert source is not None and target is not None
            with there.submissions(source) as submissions:
                rows = [Row(name, json.dumps(content, separators=(",", ":"))) for name, content in submissions]
            for start in range(0, len(rows), 700):  # some are folded, some wait
                here.accept(target, rows[start : start + 700])
    finally:
        there.close()
        here.close()
    for survey, questions in ASKED.items():
        for asked in questions:
            words = [asked[0], survey, *asked[1:]]
            assert told(words, kept, "--database", address) == told(words, kept, "--database", kept / "a.db"), asked
        deniable("export", survey, "--to", tmp_path / survey, "--database", address)
        for path in (kept / survey).rglob("*.*"):
            assert (tmp_path / survey / path.relative_to(kept / survey)).read_bytes() == path.read_bytes()


@pytest.mark.parametrize("wrong", [{"PATH": "/nowhere"}, {"JAVA_HOME": "/nowhere"}])
def test_missing_java_is_named(wrong: dict[str, str], kept: Path) -> None:
    """Without Java, or with a JAVA_HOME that is none, --engine spark says so at once."""
    environment = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"} | wrong
    command = [sys.executable, "-m", "deniable_server", "estimate", "--from", str(kept / "campus-health")]
    run = subprocess.run([*command, "--engine", "spark"], capture_output=True, text=True, env=environment, check=False)
    assert run.returncode == 1 and "needs Java" in run.stderr and "Traceback" not in run.stderr


# --- memory ----------------------------------------------------------------------------------------------------------

# The process's own high-water mark: what the system counts for a child starts with the memory of its parent.
MEASURED = """
import sys
from pathlib import Path
from deniable_server.cli import cli
try:
    cli(sys.argv[1:])
finally:
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    print(line.split()[1], file=sys.stderr)
"""


def peak(*words: str | Path) -> int:
    """The most memory that a command had, in bytes."""
    command = [sys.executable, "-c", MEASURED, *map(str, words)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    return 1024 * int(run.stderr.split()[-1])


def test_counting_an_export_takes_no_more_memory_for_ten_times_as_many(tmp_path: Path) -> None:
    """Three million submissions are counted within 40 MB of what 300,000 take; decoded, they would be 220 MB more."""
    document, rng = every_channel(), np.random.default_rng(6)
    peaks = []
    for groups in (2, 23):
        folder = tmp_path / str(groups)
        some = contents_of(verify(document), 1_000, rng)
        (group,) = columns(verify(document), some)
        with writing(folder, document) as writer:
            for _ in range(groups):
                chosen = rng.integers(1_000, size=131_072)
                writer.add([column[chosen] for column in group])
            writer.finish("open")
        peaks.append(
            max(
                peak("estimate", "--from", folder),
                peak("crosstab", "--from", folder, "--rows", "bit", "--columns", "krr"),
            )
        )
    assert peaks[1] - peaks[0] < 40e6, peaks


def test_exporting_takes_no_more_memory_for_more_submissions(tmp_path: Path) -> None:
    """120,000 submissions are exported within 20 MB of what 10,000 take; held as objects, they would be 50 MB."""
    document, rng = example(), np.random.default_rng(7)
    some = [json.dumps(each, separators=(",", ":")) for each in contents_of(verify(document), 500, rng)]
    peaks = []
    for people in (10_000, 120_000):
        storage = open_storage(str(tmp_path / f"{people}.db"))
        storage.publish(document)
        survey = storage.find("campus-health")
        assert survey is not None
        for _ in range(people // 10_000):
            storage.accept(survey, [Row(rng.bytes(16), some[i % 500]) for i in range(10_000)])
        storage.close()
        words = ["export", "campus-health", "--to", tmp_path / str(people), "--database", tmp_path / f"{people}.db"]
        peaks.append(peak(*words))
    assert peaks[1] - peaks[0] < 20e6, peaks
