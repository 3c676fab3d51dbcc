"""Intervals contain the truth as often as they say: exact sums, with the functions of ``bench/coverage.py``.

The benchmark goes through the whole grid; this is as much of it as takes seconds.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest


def load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"bench_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


bench = load(Path(__file__).parents[2] / "bench/coverage.py")
YES, FIVE, TEN = (bench.Kind(options, None) for options in (2, 5, 10))


def holds(kind: Any, epsilon: str, n: int, fine: bool = False) -> None:
    for level in bench.LEVELS:
        least, share = bench.least_coverage(kind, epsilon, n, level, fine)
        assert least >= level - bench.SLACK, (kind, epsilon, n, level, share)


@pytest.mark.parametrize("epsilon", bench.EPSILONS)
@pytest.mark.parametrize("n", [30, 100, 1_000])
@pytest.mark.parametrize("kind", [YES, FIVE, TEN])
def test_a_share_is_held_as_often_as_stated(kind: Any, epsilon: str, n: int) -> None:
    """At 90, 95 and 99%, coverage of a share is never below that, whatever the share."""
    holds(kind, epsilon, n, fine=True)


@pytest.mark.parametrize("epsilon", ["0.1", "1", "4"])
def test_a_share_of_many_reports_is_held_as_often_as_stated(epsilon: str) -> None:
    """At 10,000 reports it is not either, at the shares listed."""
    holds(YES, epsilon, 10_000)


@pytest.mark.parametrize("epsilon", bench.EPSILONS)
@pytest.mark.parametrize(("options", "people", "n"), [(2, 1, 30), (2, 1, 1_000), (2, 2, 30), (10, 1, 30), (10, 2, 30)])
def test_a_share_of_known_people_is_held_as_often_as_stated(options: int, people: int, n: int, epsilon: str) -> None:
    """Nor is it among the respondents themselves, or in a population twice as large, where less is unsure."""
    holds(bench.Kind(options, people), epsilon, n)


def test_a_worse_interval_would_be_seen() -> None:
    """Wald's interval, in the same sums, falls short by more than half."""
    rule, wald = YES.rule("4"), bench.wald(YES, "4", 30, 0.95)
    assert bench.coverage(YES, wald, rule, 30, 0.0) < 0.45


@pytest.mark.parametrize("level", bench.LEVELS)
@pytest.mark.parametrize(("epsilon", "n"), [("0.5", 1_000), ("1", 100), ("4", 1_000)])
@pytest.mark.parametrize("kind", [YES, bench.Kind(5, 1)])
def test_intervals_are_shorter_near_the_ends(kind: Any, epsilon: str, n: int, level: float) -> None:
    """At share 0 they are on average 10% shorter than with alpha/2 on either side, and nowhere 1% longer."""
    at_0, near, *elsewhere = bench.lengths(kind, epsilon, n, level)
    assert at_0 < 0.9
    assert near < 0.98
    assert max(elsewhere) < 1.01
