"""The benchmarks that start processes of their own, at a size that only shows that they run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path


def test_the_benchmark_of_serving_runs(root: Path, tmp_path: Path) -> None:
    """Every part is measured and written as JSON, whatever the figures; the server took all that was sent."""
    written = tmp_path / "serve.json"
    command = [sys.executable, str(root / "bench" / "serve.py"), "--small", "--json", str(written)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=800, check=False)
    assert written.exists(), run.stdout + run.stderr
    results = json.loads(written.read_text())
    assert {"granian", "batches", "memory", "stages", "clients", "group_commit", "idle"} <= results.keys()
    assert results["granian"]["rates"].keys() == {"durable", "empty", "raw"}
    assert results["granian"]["ratio"] > 0 and results["granian"]["cpu_ratio"] > 0 and results["batches"]["ratio"] > 0
    assert results["group_commit"] > 0 and results["idle"]["connections"] == 200
    assert results["memory"]["submissions"] >= 4_000 and len(results["memory"]["bytes"]) == 10
    assert "granian" in run.stdout


def test_the_benchmark_of_several_servers_runs(root: Path, tmp_path: Path) -> None:
    """Servers on SQLite and PostgreSQL, and PostgreSQL alone, are measured, and a sizing is computed from it."""
    written = tmp_path / "servers.json"
    command = [sys.executable, str(root / "bench" / "servers.py"), "--small", "--json", str(written)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=800, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    results = json.loads(written.read_text())
    for what in ("singles", "batches"):
        assert {"SQLite", "1 server", "2 servers"} < results[what].keys()
        assert all(cost["rate"] > 0 for cost in results[what].values())
        assert results["sizing"][what]["core hours per billion"] > 0
    assert 60 < results["bytes"]["sealed, survey closed"] < 1_000


def test_the_benchmark_of_exports_runs(root: Path, tmp_path: Path) -> None:
    """The local engine is measured on a real export, and finds the share that was drawn. Spark's tests are its own."""
    written = tmp_path / "exports.json"
    command = [sys.executable, str(root / "bench" / "exports.py"), "--small", "--engine", "local"]
    run = subprocess.run([*command, "--json", str(written)], capture_output=True, text=True, timeout=800, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    (found,) = json.loads(written.read_text())["sizes"].values()
    assert found["estimate"]["right"]
    for cost in (found[name]["local"] for name in ("estimate", "crosstab")):
        assert cost["seconds"] > 0 and cost["bytes"] > 0


def test_the_benchmark_of_tokens_runs(root: Path, tmp_path: Path) -> None:
    """Every step is measured, ours and OpenSSL's, whatever the figures on a machine that does other things."""
    written = tmp_path / "tokens.json"
    command = [sys.executable, str(root / "bench" / "tokens.py"), "--rounds", "1", "--json", str(written)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert written.exists(), run.stdout + run.stderr
    found = json.loads(written.read_text())
    assert len(found["per_second"]) == 6 and min(found["per_second"].values()) > 0
    assert found["openssl_is_times_faster"] > 1
