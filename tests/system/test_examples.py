"""The search for new examples at a small size, and whether it would notice a property that is false."""

from __future__ import annotations

from pathlib import Path

from proofs import Watch, examples

RARELY_FALSE = """
from hypothesis import given, strategies as st

@given(st.lists(st.integers()))
def test_few_numbers_are_seen(numbers):
    assert len(numbers) < 3
"""


def test_each_round_tries_other_examples(tmp_path: Path) -> None:
    """Two rounds over the properties of exact arithmetic: hundreds of examples, and nothing fails."""
    outcome = examples.prove(tmp_path, Watch(300), 1, rounds=2, tests=["tests/protocol/test_exact.py"])
    assert outcome.failures == [] and outcome.figures["rounds"] == 2
    assert int(outcome.figures["examples"]) >= 100 * int(outcome.figures["properties"]) > 0


def test_a_false_property_is_found_with_its_smallest_example(tmp_path: Path) -> None:
    """The failure names the test, the seed to repeat it with, and the example."""
    planted = tmp_path / "test_planted.py"
    planted.write_text(RARELY_FALSE)
    (tmp_path / "conftest.py").write_text("import tests.conftest\n")
    outcome = examples.prove(tmp_path, Watch(300), 5, rounds=1, tests=[str(planted)])
    (failure,) = outcome.failures
    assert "test_few_numbers_are_seen, seed " in failure and "len([0, 0, 0])" in failure


def test_a_round_that_tries_nothing_has_failed(tmp_path: Path) -> None:
    """No property, or tests that cannot be read, are not a success."""
    outcome = examples.prove(tmp_path, Watch(300), 5, rounds=1, tests=["tests/protocol/test_vectors.py"])
    assert len(outcome.failures) == 1 and "pytest ended with 5" in outcome.failures[0]
