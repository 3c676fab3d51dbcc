"""A disk that is full, takes parts of writes, becomes read-only or is locked by others, while submitters go on.

They send each submission until it is acknowledged, from several connections. The condition comes and goes under them;
a submission gets 201 or 503 and nothing else, and afterwards all that were acknowledged are kept, once.
"""

from __future__ import annotations

import errno
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.helpers.servers import Server, ask

from . import Outcome, Watch
from .disk import DATABASE, SURVEY, Template
from .promises import Promises
from .traces import Attached

SUBMITTERS = 4
PATIENCE = 120.0
"""Seconds after which a server that has not recovered counts as hanging."""
BUSY = 5.0
"""Seconds for which the server waits for a lock."""


def may_mount(folder: Path) -> bool:
    """Whether this process may mount a file system."""
    folder.mkdir(exist_ok=True)
    try:
        with small_disk(folder):
            return True
    except (OSError, subprocess.CalledProcessError):
        return False


@contextmanager
def small_disk(folder: Path, size: str = "2m") -> Iterator[Path]:
    """A file system of its own in this folder."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder)], check=True, capture_output=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextmanager
def full(server: Server) -> Iterator[None]:
    """The rest of the disk is filled by another file."""
    filler = server.database.parent / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (65536, 4096, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
    try:
        yield
    finally:
        filler.unlink()


@contextmanager
def short(server: Server) -> Iterator[None]:
    """Files may grow a little: a write gets so far, in the middle of what it was to write, and no further."""
    (worker,) = server.workers()
    log = Path(f"{server.database}-wal")
    everything = resource.prlimit(worker, resource.RLIMIT_FSIZE)
    resource.prlimit(worker, resource.RLIMIT_FSIZE, (log.stat().st_size + 2_500, everything[1]))
    try:
        yield
    finally:
        resource.prlimit(worker, resource.RLIMIT_FSIZE, everything)


@contextmanager
def read_only(server: Server) -> Iterator[None]:
    """Every write and sync says so: what a system does to programs under way when it finds its disk broken."""
    (worker,) = server.workers()
    calls = "pwrite64,ftruncate,fdatasync,fsync"
    with Attached(worker, Path(os.devnull), f"{calls}:error=EROFS:when=1+"):
        yield


@contextmanager
def locked(server: Server) -> Iterator[None]:
    """Another connection locks the file for longer than the server waits."""
    other = sqlite3.connect(server.database, isolation_level=None, timeout=60, check_same_thread=False)
    other.execute("BEGIN EXCLUSIVE")
    try:
        yield
        time.sleep(BUSY / 10)
    finally:
        other.execute("ROLLBACK")
        other.close()


CONDITIONS: dict[str, Callable[[Server], object]] = {
    "full": full,
    "short": short,
    "read-only": read_only,
    "locked": locked,
}


def prove(
    folder: Path, watch: Watch, seed: int, *, rounds: int, conditions: tuple[str, ...] = tuple(CONDITIONS)
) -> Outcome:
    """Let each of the conditions come and go so often, under one server each."""
    figures: Counter[str] = Counter()
    failures = []
    template = Template(folder / "template")
    for condition in conditions:
        place = folder / condition
        place.mkdir()
        with small_disk(place) if condition == "full" else _plain(place):
            load = _Load(template, place)
            try:
                for done in range(rounds):
                    if watch.is_over:
                        failures.append(f"stopped after {done} of {rounds} times {condition}")
                        break
                    load.suffer(CONDITIONS[condition])
                    figures[f"times {condition}"] += 1
                    watch.counts(sum(figures[f"times {each}"] for each in conditions), rounds * len(conditions))
            finally:
                load.stop()
            failures += [f"{condition}: {trouble}" for trouble in load.troubles()]
        figures["acknowledged"] += load.answers[201]
        figures["answers 503"] += load.answers[503]
    return Outcome(dict(figures), failures)


@contextmanager
def _plain(folder: Path) -> Iterator[Path]:
    yield folder


class _Load:
    """A server and its submitters."""

    def __init__(self, template: Template, folder: Path) -> None:
        self._server = Server(template.copy(folder / "data"), folder.parent / f"{folder.name}.log")
        self._promises = Promises()
        self._promises.learn(template.published)
        self.answers: Counter[int] = Counter()
        self._wrong: list[str] = []
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._submit) for _ in range(SUBMITTERS)]
        for thread in self._threads:
            thread.start()

    def suffer(self, condition: Callable[[Server], object]) -> None:
        """Until submitters have been turned away, and after it until they are served again."""
        self._wait_for(201, SUBMITTERS)
        with condition(self._server):  # type: ignore[attr-defined]
            self._wait_for(503, SUBMITTERS)
        self._wait_for(201, SUBMITTERS)
        if (ready := ask(f"{self._server.base}/readyz").status) != 200:
            self._wrong.append(f"readyz says {ready} after it was over")

    def stop(self) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()
        self._server.stop(signal.SIGKILL)

    def troubles(self) -> list[str]:
        """After a kill: what the files do not keep."""
        again = self._server.database.parent.parent.parent / "killed"
        shutil.copytree(self._server.database.parent, again)
        try:
            return [*self._wrong, *self._promises.broken(again / DATABASE)]
        finally:
            shutil.rmtree(again)

    def _wait_for(self, status: int, more: int) -> None:
        target, deadline = self.answers[status] + more, time.monotonic() + PATIENCE
        while self.answers[status] < target and not self._over.is_set():
            if time.monotonic() > deadline:
                self._wrong.append(f"no {status} for {PATIENCE:.0f} seconds")
                return
            time.sleep(0.01)

    def _submit(self) -> None:
        while not self._over.is_set():
            with self._lock:
                body = self._promises.make("kept")
                self._promises.answered(body, None)
            while not self._over.is_set():
                answer = ask(f"{self._server.base}{SURVEY}/submissions", body)
                with self._lock:
                    self.answers[answer.status] += 1
                    self._promises.answered(body, answer.status)
                    if answer.status not in (201, 503):
                        self._wrong.append(f"a submission was answered {answer.status}")
                if answer.status == 201:
                    break
                time.sleep(0.05)
