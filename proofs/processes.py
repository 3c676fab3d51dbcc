"""Server processes that are killed: all of them at once, the parent only, or a worker only."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tests.helpers import planting
from tests.helpers.planting import Planted
from tests.helpers.servers import ask, free_port

PATIENCE = 120.0
"""Seconds until something that should happen has not happened; only a hang takes that long."""


def until(holds: Callable[[], bool], limit: float = PATIENCE, pause: float = 0.002) -> bool:
    """Wait until the condition is true; False if it is not in time."""
    deadline = time.monotonic() + limit
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
    return True


def deniable(arguments: list[str], log: Path, planted: Planted | None = None) -> subprocess.Popen[bytes]:
    """The command line, in a session of its own; with a fault where one is given."""
    with log.open("ab") as output:
        return subprocess.Popen(
            [sys.executable, "-m", "deniable_server", *arguments],
            stdout=output,
            stderr=output,
            env={**os.environ, **planting.environment(planted)},
            start_new_session=True,
        )


class Process:
    """A server: ``deniable serve`` and its workers, with more ``flags`` where there are any."""

    def __init__(
        self, database: Path | str, log: Path, workers: int = 1, planted: Planted | None = None, *flags: str
    ) -> None:
        self.database, self.port = database, free_port()
        self.base = f"http://127.0.0.1:{self.port}"
        arguments = ["serve", "--database", str(database), "--bind", f"127.0.0.1:{self.port}"]
        self.parent = deniable([*arguments, "--workers", str(workers), *flags], log, planted)

    def answers(self) -> bool:
        try:
            return ask(f"{self.base}/healthz").status == 200
        except OSError:
            return False

    def comes_up(self) -> bool:
        """Wait until it answers; False if it ended instead."""
        until(lambda: self.parent.poll() is not None or self.answers(), pause=0.02)
        return self.parent.poll() is None and self.answers()

    def pids(self) -> list[int]:
        """Its living processes."""
        return [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if self._is_alive(pid)]

    def _is_alive(self, pid: int) -> bool:
        try:
            state, _, _, session = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:4]
        except OSError:
            return False
        return int(session) == self.parent.pid and state not in "ZX"

    def kill(self) -> None:
        """All of its processes, at once."""
        self._kill_all()
        self.ended()

    def _kill_all(self) -> None:
        if self.parent.poll() is None:
            os.killpg(self.parent.pid, signal.SIGKILL)
        for pid in self.pids():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def kill_parent(self) -> bool:
        """Only the parent; whether the workers end by themselves."""
        os.kill(self.parent.pid, signal.SIGKILL)
        return self.ended()

    def kill_worker(self, draw: random.Random) -> int:
        """Only a worker; returns which."""
        worker = draw.choice([pid for pid in self.pids() if pid != self.parent.pid])
        os.kill(worker, signal.SIGKILL)
        return worker

    def stop(self) -> int:
        """As an operator stops it; returns the exit status."""
        if self.parent.poll() is None:
            self.parent.terminate()
        status = self.parent.wait(PATIENCE)
        self.ended()
        return status

    def ended(self) -> bool:
        """Wait until none of its processes is left; what is left in the end is killed."""
        self.parent.wait(PATIENCE)
        if until(lambda: not self.pids(), pause=0.01):
            return True
        self._kill_all()
        return False
