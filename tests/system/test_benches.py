"""The benchmark of serving, at a size that only shows that it runs."""

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
    assert {"granian", "batches", "memory", "stages", "clients"} <= results.keys()
    assert results["granian"]["rates"].keys() == {"durable", "empty", "bare"}
    assert results["granian"]["ratio"] > 0 and results["batches"]["ratio"] > 0
    assert results["memory"]["submissions"] >= 4_000 and len(results["memory"]["bytes"]) == 10
    assert "granian" in run.stdout
