"""Which groups are shown: none that is small, and none that could be found by taking others away."""

from __future__ import annotations

from contextlib import suppress
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable_protocol import publish, survey_from_tree, verify
from deniable_server.analysis.groups import Grouping, total
from deniable_server.errors import Withheld
from deniable_server.statistics import Cell

MINIMUM = 10


def grouping(sizes: dict[tuple[int, ...], int], options: tuple[int, ...]) -> Grouping:
    """A survey with segments of so many options, and so many submissions in each cell."""
    segments = [
        {"id": name, "text": "?", "options": [{"code": f"{name}{j}", "text": "."} for j in range(count)]}
        for name, count in zip("abc", options, strict=False)
    ]
    questions = [{"id": "q", "type": "yes_no", "text": "?", "epsilon": "1"}]
    document = verify(
        publish(survey_from_tree({"id": "s-1", "title": "T", "segments": segments, "questions": questions}))
    )
    cells = {codes: Cell.of(np.array([size]), [np.array([size, 0])]) for codes, size in sizes.items() if size}
    return Grouping(document, document.survey.segments, cells, MINIMUM)


@pytest.mark.parametrize(
    ("sizes", "shown"),
    [
        ([40, 30, 20], ["a0", "a1", "a2"]),
        ([40, 30, 9], ["a0", "a1+a2"]),  # 9 alone would be the whole minus the others: the next smallest joins it
        ([40, 6, 5], ["a0", "a1+a2"]),
        ([40, 4, 5], ["a0+a1+a2"]),
        ([40, 0, 20], ["a0", "a1", "a2"]),  # nobody is no small group
        ([40, 0, 3], ["a0+a2", "a1"]),
        ([3, 4], []),
        ([0, 0], ["a0", "a1"]),
        ([10, 9, 30, 8], ["a0", "a1+a3", "a2"]),
    ],
)
def test_small_codes_are_merged(sizes: list[int], shown: list[str]) -> None:
    """Small codes are merged, with as many of the smallest others as it takes; where all are too few, none is shown."""
    kept = grouping({(j,): size for j, size in enumerate(sizes)}, (len(sizes),))
    assert [group.code for group in kept.groups("a")] == shown


@given(st.lists(st.integers(0, 30), min_size=2, max_size=6))
def test_no_sum_or_difference_of_shown_groups_is_small(sizes: list[int]) -> None:
    """Every sum of groups, and the whole minus it, has nobody or at least the minimum."""
    kept = grouping({(j,): size for j, size in enumerate(sizes)}, (len(sizes),))
    shown = [sum(sizes[j] for j in group.positions) for group in kept.groups("a")]
    for count in range(1, len(shown) + 1):
        for some in combinations(shown, count):
            assert sum(some) == 0 or sum(some) >= MINIMUM
            left = sum(sizes) - sum(some)
            assert left == 0 or left >= MINIMUM


@given(st.lists(st.integers(0, 40), min_size=6, max_size=6))
def test_two_segments_together_show_no_small_combination(sizes: list[int]) -> None:
    """Two segments are shown together only if every combination of their groups has nobody or enough."""
    cells = dict(zip(product(range(2), range(3)), sizes, strict=True))
    kept = grouping(cells, (2, 3))
    with suppress(Withheld):
        kept.check(["a", "b"])
        assert_none_small(kept, cells)


def assert_none_small(kept: Grouping, cells: dict[tuple[int, ...], int]) -> None:
    for first in kept.groups("a"):
        for second in kept.groups("b"):
            size = sum(n for (i, j), n in cells.items() if i in first.positions and j in second.positions)
            assert size == 0 or size >= MINIMUM


def test_one_small_combination_withholds_the_two_segments() -> None:
    """Where b1 within a1 is small, b1 within a0 is not shown either: b1 minus it would be the small one."""
    kept = grouping({(0, 0): 50, (0, 1): 50, (1, 0): 50, (1, 1): 3}, (2, 2))
    kept.check(["a"])
    kept.check(["b"])
    with pytest.raises(Withheld, match="fewer than 10"):
        kept.check(["b", "a"])


def test_numbers_about_everyone_need_large_margins_only() -> None:
    """Weights and regressions look at each segment by itself: a small combination is no reason to withhold them."""
    kept = grouping({(0, 0): 50, (0, 1): 50, (1, 0): 50, (1, 1): 3}, (2, 2))
    kept.check_margins(["a", "b"])
    with pytest.raises(Withheld, match="a has too few"):
        grouping({(0, 0): 5, (1, 1): 4}, (2, 2)).check_margins(["a", "b"])


def test_a_merged_code_is_not_shown_alone() -> None:
    """Neither a small code nor the one that hides it can be asked for with where."""
    kept = grouping({(0,): 40, (1,): 12, (2,): 5}, (3,))
    assert sum(cell.submissions for cell in kept.select({"a": "a0"}).values()) == 40
    for code in ("a1", "a2"):
        with pytest.raises(Withheld, match=f"a:{code}"):
            kept.select({"a": code})


def test_within_and_total() -> None:
    """The cells of a group, and their sum."""
    kept = grouping({(0, 0): 20, (0, 1): 30, (1, 0): 40}, (2, 2))
    group: Any = kept.groups("a")[0]
    cells = kept.within(kept.select({}), "a", group)
    assert total(kept.document, cells).submissions == 50
    assert total(kept.document, {}).submissions == 0
