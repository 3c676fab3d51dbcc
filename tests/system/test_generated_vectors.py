"""The vectors in shared/vectors are what their generator writes."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.helpers.machine import ROOT

FOLDER = ROOT / "shared" / "vectors"


def test_vectors_are_what_the_generator_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No vector was edited by hand or left behind by a change of the code; one file is not ours, but an RFC's."""
    monkeypatch.syspath_prepend(FOLDER)
    spec = importlib.util.spec_from_file_location("generate", FOLDER / "generate.py")
    assert spec is not None and spec.loader is not None
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    generate.main(tmp_path)
    written = sorted(path.name for path in tmp_path.iterdir())
    assert {*written, "rfc9474.json"} == {path.name for path in FOLDER.glob("*.json")}
    for name in written:
        assert (tmp_path / name).read_bytes() == (FOLDER / name).read_bytes(), f"{name}: run make vectors"
