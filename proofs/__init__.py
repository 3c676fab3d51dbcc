"""Proofs of what the server promises under crashes, faults, hostile input and attack.

Each module has ``prove(folder, watch, seed, **size) -> Outcome``: it works in ``folder`` with real server processes,
and is run at a small size by a test in ``tests/system`` and at full size by ``make proof``.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from msgspec import Struct


class Outcome(Struct):
    """What a proof counted, and what failed."""

    figures: dict[str, int | float | str]
    failures: list[str]


class Watch:
    """A proof's progress and its time limit."""

    def __init__(self, seconds: float, show: Callable[[int, int], None] = lambda done, of: None) -> None:
        self._ends, self._show = time.monotonic() + seconds, show

    def counts(self, done: int, of: int) -> None:
        """Show how far the proof has come."""
        self._show(done, of)

    @property
    def is_over(self) -> bool:
        """Whether the time is up: the proof then ends early, and says in its failures how far it came."""
        return time.monotonic() >= self._ends
