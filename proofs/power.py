"""Power cuts: at any moment, what was acknowledged is on the disk, and the server starts again on what is left there.

A real server is traced from its first start on, through concurrent submissions, batches, folding, checkpoints,
closing, a kill and a restart. From the trace the folder is rebuilt as cuts could leave it (``cuts``), and Deniable
opens it. An acknowledgement is the response on its way out, on the connection that the request came in on.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

from tests.helpers import planting
from tests.helpers.planting import Planted
from tests.helpers.servers import ask

from . import Outcome, Watch
from .cuts import FORGOTTEN, Disk
from .promises import Promises, survey
from .traces import Event, Sent, Synced, TracedServer, Write, events, traced

DATABASE = "a.db"
API = "/api/v1/surveys"
BATCHES = (600, 1_000, 600)
"""Their sizes: two of the small make more than a folding waits for; the large is sealed at once."""


def prove(
    folder: Path, watch: Watch, seed: int, *, cuts: int, singles: int, batches: int, planted: Planted | None = None
) -> Outcome:
    """Cut the power so often. ``singles`` per stretch of service come from six connections at once; ``batches`` come
    over a seventh. ``planted`` is a fault, to test the proof.
    """
    rng = random.Random(seed)
    environment = planting.environment(planted)
    work = _Work(folder, environment)
    work.serve(singles, batches)
    failures = list(work.failures)
    stages = rng.choices(work.stages, (2, 1, 1, 1, 4, 4), k=cuts)
    points = sorted(_choose(work.happened, *stage, rng) for stage in stages)
    counted = {"cuts": 0, "cuts with unsynced writes": 0, "cuts before the first submission": 0}
    disk, promises = Disk(work.empty), work.promises
    place = 0
    # Each rebuilt folder is synced by Deniable itself, for nothing: in memory where the system has such a folder.
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else folder) as scratch:
        for point in points:
            if watch.is_over or len(failures) >= 50:
                failures.append(f"stopped after {counted['cuts']} of {cuts}")
                break
            for event in work.happened[place:point]:
                disk.happen(event)
                promises.happen(event)
            place = point
            counted["cuts"] += 1
            counted["cuts with unsynced writes"] += disk.unsynced > 0
            counted["cuts before the first submission"] += not promises.sent
            rebuilt = Path(scratch) / "cut"
            rebuilt.mkdir()
            for name, content in disk.left(rng).items():
                (rebuilt / name).write_bytes(content)
            troubles = promises.broken(rebuilt / DATABASE)
            failures += [f"cut {counted['cuts']} at {point}: {trouble}" for trouble in troubles]
            shutil.rmtree(rebuilt)
            watch.counts(counted["cuts"], cuts)
    for event in work.happened[place:]:
        promises.happen(event)
    return Outcome(
        counted
        | {
            "acknowledged": len(promises.acknowledged),
            "writes": sum(isinstance(event, Write) for event in work.happened),
            "syncs": sum(isinstance(event, Synced) for event in work.happened),
            "checkpoints": sum(isinstance(event, Synced) and event.name == DATABASE for event in work.happened) - 1,
            "logs begun anew in place": work.restarts,
        },
        failures,
    )


def _choose(happened: list[Event], begin: int, end: int, rng: random.Random) -> int:
    """Where to cut: right after something left on a connection, right before a sync returned, or anywhere."""
    anywhere = range(begin, end + 1)
    after = [i + 1 for i in range(begin, end) if isinstance(happened[i], Sent)]
    before = [i for i in range(begin, end) if isinstance(happened[i], Synced)]
    return rng.choice(rng.choices((after, before, anywhere), (3, 4, 3))[0] or anywhere)


class _Work:
    """A server's life, traced: ``happened`` is all of it, in order."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self._folder, self._environment = folder, environment
        self.data = folder / "data"
        self.empty = folder / "empty"
        self.data.mkdir()
        self.empty.mkdir()
        self.promises = Promises()
        self.happened: list[Event] = []
        self.failures: list[str] = []
        self.restarts = 0  # of the log without cutting it: what follows an automatic checkpoint
        self.stages: list[tuple[int, int]] = []
        self._disk = Disk(self.data)

    def serve(self, singles: int, batches: int) -> None:
        self._service(lambda base: None)  # the first start: makes the database and the secret key
        self._admin = self._token("--role", "admin")
        self._service(lambda base: self._publish(base, "first"))
        self._collector = self._token("--role", "collector", "--survey", "first", "--label", "proof")
        self._service(lambda base: self._collect(base, "first", singles, batches), signal.SIGKILL)
        self._service(lambda base: self._collect(base, "first", singles // 4, 0) or self._change_over(base, singles))

    def _token(self, *options: str) -> dict[str, str]:
        """The header with a new access token."""
        command = [sys.executable, "-m", "deniable_server", "token", "create", *options, "--json", "--database"]
        database = str(self.data / DATABASE)
        said = self._trace(lambda trace: traced([*command, database], trace, self._environment))
        return {"Authorization": f"Bearer {json.loads(said)['token']}"}

    def _service(self, work: Callable[[str], None], end: int = signal.SIGTERM) -> None:
        def run(trace: Path) -> None:
            server = TracedServer(self.data / DATABASE, trace, self._folder / "server.log", self._environment)
            try:
                work(server.base)
                if end == signal.SIGKILL:
                    self._rest()
            finally:
                server.stop(end)

        self._trace(run)

    def _rest(self) -> None:
        """Wait until folding is done: of a write that a kill cuts short, the trace does not say whether it was made.
        Cuts in the middle of everything are made later, from the trace.
        """
        before, deadline = None, time.monotonic() + 60
        while before != (now := {path: path.stat().st_mtime_ns for path in self.data.iterdir()}):
            assert time.monotonic() < deadline, "the server goes on writing"
            before = now
            time.sleep(0.5)

    def _trace(self, run: Callable[[Path], str | None]) -> str:
        """Run something that writes a trace, and take what happened from it."""
        trace = self._folder / "trace"
        said = run(trace) or ""
        start = self.happened[-1].line + 1 if self.happened else 0
        new = events(trace, self.data, set(self._disk.live), start)
        trace.unlink()
        for event in new:
            log = self._disk.live.get(f"{DATABASE}-wal")
            self.restarts += isinstance(event, Write) and event[2:4] == (f"{DATABASE}-wal", 0) and len(log.now()) > 0
            self._disk.happen(event)
        self.stages.append((len(self.happened), len(self.happened) + len(new)))
        self.happened += new
        self._check()
        return said

    def _check(self) -> None:
        """That the trace is complete: with all of it applied, the folder is as it is."""
        there = {path.name: path.read_bytes() for path in self.data.iterdir() if not path.name.endswith(FORGOTTEN)}
        told = {name: file.now() for name, file in self._disk.live.items() if not name.endswith(FORGOTTEN)}
        if there != told:
            differ = sorted(name for name in {*there, *told} if there.get(name) != told.get(name))
            self.failures.append(f"the trace does not tell how these came to be: {', '.join(differ)}")

    def _collect(self, base: str, name: str, singles: int, batches: int) -> None:
        """Submissions one by one over six connections, while batches come over a seventh."""
        path = f"{API}/{name}/submissions"
        bodies = [[self.promises.make(name) for _ in range(singles // 6)] for _ in range(6)]
        many = [self.promises.make(name, BATCHES[i % len(BATCHES)]) for i in range(batches)]
        with ThreadPoolExecutor(7) as pool:
            posting = [pool.submit(_post_all, base, path, own, {}) for own in bodies]
            posting.append(pool.submit(_post_all, base, path, many, self._collector))
            for status in (status for each in posting for status in each.result()):
                self._expect(status, 201)

    def _publish(self, base: str, name: str) -> None:
        self._expect(ask(base + API, survey(name), self._admin).status, 201)
        self.promises.learn(ask(f"{base}{API}/{name}").body)

    def _change_over(self, base: str, singles: int) -> None:
        """Close a survey while another one collects."""
        self._publish(base, "second")
        with ThreadPoolExecutor(1) as pool:
            other = pool.submit(self._collect, base, "second", singles // 2, 0)
            self._expect(ask(f"{base}{API}/first/close", b"", self._admin).status, 200)
            other.result()

    def _expect(self, status: int, expected: int) -> None:
        if status != expected:
            self.failures.append(f"a server without a fault answered {status}, not {expected}")


def _post_all(base: str, path: str, bodies: list[bytes], token: dict[str, str]) -> list[int]:
    """The statuses of these, one after the other on one connection."""
    connection = http.client.HTTPConnection(urlsplit(base).netloc, timeout=60)
    statuses = []
    for body in bodies:
        connection.request("POST", path, body, {"Content-Type": "application/json", **token})
        with connection.getresponse() as response:
            response.read()
            statuses.append(response.status)
    connection.close()
    return statuses
