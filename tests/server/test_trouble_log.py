"""Trouble with storing is logged at full hours, whenever it happens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from deniable_server.storage.trouble_log import EVERY, TroubleLog


class Clock:
    """A clock with one timer, both moved by hand."""

    def __init__(self) -> None:
        self.now = 1_000_000.0
        self.timers: list[tuple[float, Callable[[], None]]] = []
        self.daemon = False

    def timer(self, seconds: float, function: Callable[[], None]) -> Any:
        self.timers.append((self.now + seconds, function))
        return self

    def start(self) -> None:
        pass

    def cancel(self) -> None:
        self.timers.clear()

    def advance(self, seconds: float) -> None:
        until = self.now + seconds
        while self.timers and self.timers[0][0] <= until:
            self.now, function = self.timers.pop(0)
            function()
        self.now = until


@pytest.mark.parametrize("second", [0.0, 0.25, 1.0, 1800.5, 3599.99])
def test_lines_come_at_full_hours(second: float, caplog: pytest.LogCaptureFixture) -> None:
    """Whenever something fails, and however often, there is at most one line an hour for it, at the full hour."""
    clock = Clock()
    log = TroubleLog(lambda: clock.now, clock.timer)
    clock.now = 300 * EVERY + second
    log.failed("Writing", "full")
    assert [at for at, _ in clock.timers] == [pytest.approx(301 * EVERY)]
    for _ in range(48):
        log.works("Writing")
        log.failed("Writing", "still full")
    assert caplog.records == []
    clock.advance(EVERY)
    assert [record.message for record in caplog.records] == ["Writing has failed, and still fails: full"]
    log.works("Writing")
    clock.advance(EVERY)
    assert caplog.records[1].message == "Writing has failed, and works again: full"
    clock.advance(10 * EVERY)
    log.works("Writing")
    assert len(caplog.records) == 2 and clock.timers == []


def test_trouble_that_goes_on_is_repeated(caplog: pytest.LogCaptureFixture) -> None:
    """One line an hour until it works, whether somebody tries or not."""
    clock = Clock()
    log = TroubleLog(lambda: clock.now, clock.timer)
    log.failed("Writing", "full")
    clock.advance(5 * EVERY)
    assert len(caplog.records) == 5


def test_what_is_left_is_logged_at_the_end(caplog: pytest.LogCaptureFixture) -> None:
    """Closing a storage logs what was not logged yet, once, and stops the timer."""
    clock = Clock()
    log = TroubleLog(lambda: clock.now, clock.timer)
    log.failed("Folding", "OSError")
    log.close()
    log.close()
    assert len(caplog.records) == 1 and clock.timers == []
