"""Planted faults: some of them here, and all of them by ``make proof``.

``tests/helpers/fault_list.py`` has every fault and the tests that are to catch it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from proofs import Watch, faults


@pytest.mark.usefixtures("node")
def test_planted_faults_are_caught(tmp_path: Path) -> None:
    """Of the faults that tests without services catch, these sixteen are: each makes all tests fail that the list names
    for it.
    """
    outcome = faults.prove(tmp_path, Watch(600), seed=17, sample=16)
    assert outcome.failures == []
    assert outcome.figures["caught"] == 16


def test_a_fault_that_no_test_catches_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the named test passes in spite of the fault, or there is no such test, the proof says so."""
    known = faults.PYTHON["sessions_of_32_bits"]
    for test, said in (
        ("protocol/test_exact.py", "protocol/test_exact.py passed"),
        ("protocol/test_exact.py::test_that_is_not_there", "did not run"),
    ):
        monkeypatch.setitem(faults.PYTHON, "sessions_of_32_bits", known._replace(tests=(test,)))
        assert said in (faults.uncaught("sessions_of_32_bits", tmp_path) or "")
