"""Grids that ``make check`` goes through in full, and ``make test`` in part."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from hypothesis import settings

T = TypeVar("T")


def sampled(grid: Iterable[T], stride: int) -> list[T]:
    """All of a grid in the thorough profile, else every so many of it. Mark the test with ``pytest.mark.grid``."""
    points = list(grid)
    return points if settings.get_current_profile_name() == "thorough" else points[::stride]
