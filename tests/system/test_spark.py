"""Estimates from exports on a real Spark: a standalone cluster of one master and two workers on loopback."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import nullcontext
from functools import cache
from pathlib import Path

import pytest

from deniable_server.cli import ask
from deniable_server.errors import ExportError
from deniable_server.export import opened
from deniable_server.export.spark import SparkEngine, _start
from tests.helpers.exports import ASKED, DAMAGES, damage, deniable, small_export, told
from tests.helpers.machine import missing
from tests.helpers.spark import WORKERS, Cluster, cluster, find_java

pytestmark = pytest.mark.xdist_group("spark")  # one cluster for all of them

FILES_BROKEN = [
    "a missing file",
    "a cut file",
    "an altered file",
    "a report out of range",
    "a subset of another size",
    "an unknown code",
    "an unknown booklet",
    "no booklet",
    "a report of another booklet",
    "a report that is missing",
    "another booklet of as many parts",
]
# What Java needs to be quick at the start rather than later.
SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"


@pytest.fixture(scope="module")
def spark() -> Iterator[Cluster]:
    if not find_java():
        missing("Java")
    with cluster(java=SHORT_LIVED) as running:
        yield running


def test_the_command_prints_the_same_bytes(spark: Cluster, kept: Path) -> None:
    """``deniable estimate --engine spark`` against the cluster, in a process of its own, prints what the database gives
    and nothing else; both workers are there, and the master has seen the work.
    """
    words = ["estimate", "--by", "campus", "--json"]
    command = [sys.executable, "-m", "deniable_server", *words, "--from", str(kept / "campus-health")]
    run = subprocess.run(
        [*command, "--engine", "spark", "--master", spark.master],
        capture_output=True,
        text=True,
        env={**os.environ, **spark.environment},
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == deniable(*words, "campus-health", "--database", kept / "a.db")
    assert run.stderr == ""
    state = spark.state()
    finished = state["completedapps"]
    assert state["aliveworkers"] == WORKERS and isinstance(finished, list) and len(finished) == 1
    assert finished[0]["cores"] == WORKERS


def test_spark_counts_what_the_database_tells(
    spark: Cluster, kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every estimate, comparison, cross-tabulation and regression has the same bytes; every broken file is refused.

    One driver for all: only how a session begins and ends is not as in the command.
    """
    for name, value in spark.environment.items():
        monkeypatch.setenv(name, value)
    with tempfile.TemporaryFile() as said:
        session = _start(spark.master, said)
        try:
            engines = {str(kept / survey): SparkEngine(session, str(kept / survey)) for survey in ASKED}
            for engine in engines.values():  # counted once, asked about often
                monkeypatch.setattr(engine, "statistics", cache(engine.statistics))
            monkeypatch.setattr(ask, "opened", lambda folder, *_: nullcontext(engines[folder]))
            for survey, questions in ASKED.items():
                for asked in questions:
                    there = told([asked[0], survey, *asked[1:]], kept, "--database", kept / "a.db")
                    assert told(asked, kept, "--from", kept / survey, "--engine", "spark") == there, asked
            for how in FILES_BROKEN:
                folder = small_export(tmp_path / how)
                damage(folder, how)
                with pytest.raises(ExportError, match=DAMAGES[how]):
                    SparkEngine(session, str(folder)).statistics()
            whole = small_export(tmp_path / "a name* with [every] {kind} of 50% character")
            with opened(str(whole)) as local:
                assert SparkEngine(session, str(whole)).statistics() == local.statistics()
        finally:
            session.stop()


def test_a_master_that_is_not_there_is_said(kept: Path) -> None:
    """An address that Spark does not know ends in a sentence, not in the stacks of two languages."""
    if not find_java():
        missing("Java")
    command = [sys.executable, "-m", "deniable_server", "estimate", "--from", str(kept / "campus-health")]
    run = subprocess.run(
        [*command, "--engine", "spark", "--master", "local[nonsense]"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 1 and "Traceback" not in run.stderr and "\tat " not in run.stderr
    assert "Spark did not start on local[nonsense]" in run.stderr and len(run.stderr) < 2_000
