"""What goes wrong with storing, logged so that no line shows when somebody answered.

Storing fails while somebody sends a submission. So nothing is logged at that moment: at the next full hour, one line
says what has failed, and whether it works again. ``/readyz`` and ``deniable doctor`` show trouble at once.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

log = logging.getLogger(__name__)

EVERY = 3600
"""Seconds from one line to the next: at full hours (UTC), whenever the trouble began."""


@dataclass
class _Trouble:
    why: str
    over: bool = False


class TroubleLog:
    """The lines of one storage. Any thread may note something."""

    def __init__(
        self, clock: Callable[[], float] = time.time, timer: Callable[..., threading.Timer] = threading.Timer
    ) -> None:
        self._clock, self._timer = clock, timer
        self._lock = threading.Lock()
        self._troubles: dict[str, _Trouble] = {}
        self._waiting: threading.Timer | None = None

    def failed(self, what: str, why: str) -> None:
        """Note that something does not work. Of several failures before the next line, the first is logged."""
        with self._lock:
            self._troubles.setdefault(what, _Trouble(why)).over = False
            self._wait()

    def works(self, what: str) -> None:
        """Note that it works, again or still."""
        with self._lock:
            if what in self._troubles:
                self._troubles[what].over = True

    def write(self) -> None:
        """Log all troubles so far; those that go on are logged again at the next full hour."""
        with self._lock:
            if self._waiting is not None:
                self._waiting.cancel()
                self._waiting = None
            for what, trouble in self._troubles.items():
                level, now = (logging.WARNING, "works again") if trouble.over else (logging.ERROR, "still fails")
                log.log(level, "%s has failed, and %s: %s", what, now, trouble.why)
            self._troubles = {what: trouble for what, trouble in self._troubles.items() if not trouble.over}
            if self._troubles:
                self._wait()

    def close(self) -> None:
        """Log what is left: a storage is closed when its operator says so, not when somebody answers."""
        self.write()
        with self._lock:
            self._troubles.clear()
            if self._waiting is not None:
                self._waiting.cancel()
                self._waiting = None

    def _wait(self) -> None:
        if self._waiting is None:
            self._waiting = self._timer(EVERY - self._clock() % EVERY, self.write)
            self._waiting.daemon = True
            self._waiting.start()
