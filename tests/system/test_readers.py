"""Readers do not keep respondents waiting: the proof, at a small size."""

from __future__ import annotations

from pathlib import Path

from proofs import Watch
from proofs.__main__ import PARTS
from proofs.readers import prove


def test_readers_at_a_small_size(tmp_path: Path) -> None:
    """Too many combinations are refused, readers and dashboards are answered, and the server stays small."""
    outcome = prove(tmp_path, Watch(600), 7, **PARTS["readers"].small)
    assert not outcome.failures
    assert outcome.figures["processes"] == 3
