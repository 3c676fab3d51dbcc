"""Disk faults: at every write and every sync, nothing is acknowledged that is not kept, and the server recovers.

A real server with one thread does the same work again and again: submissions, a batch that is folded, closing. Each
time another of its system calls fails, as if the disk was full or broken; once, or from there on until it is mended.
Afterwards everything is sent again. The files must then have what was acknowledged, as they are and as a power cut
could leave them: what a failed sync should have written counts as lost.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

from deniable_protocol import publish, survey_from_tree
from deniable_server.serving import gateway
from deniable_server.storage import open_storage
from deniable_server.storage.tokens import make_token
from tests.helpers import planting
from tests.helpers.planting import Planted
from tests.helpers.servers import Answer, Server, ask, collector, let_collect

from . import Outcome, Watch
from .cuts import Disk
from .promises import Promises, survey
from .traces import Attached, Event, Sent, events

DATABASE = "a.db"
SURVEY = "/api/v1/surveys/kept"
CALLS = {"pwrite64": ("ENOSPC", "EIO"), "fdatasync": ("EIO",), "ftruncate": ("EIO",)}
"""What SQLite calls to write and to sync, and how that can fail."""
BODIES = (None, 999, None, 1_000, None)
"""Single submissions and batches: the third makes as many as a folding waits for; the fourth is sealed at once."""
BROKEN = "pread64,pwrite64,fdatasync,ftruncate:error=EIO:when=1+"
LASTING_EVERY = 4
"""Of the writes, every so many is tried as the first of a row of failures, too; of syncs and cuts, every one."""


class Fault(NamedTuple):
    """The n-th of these calls fails; with ``lasting``, all that follow do, too."""

    call: str
    error: str
    n: int
    lasting: bool

    def __str__(self) -> str:
        return f"{self.call} {self.n}{' and all after it' if self.lasting else ''} failing with {self.error}"

    @property
    def injection(self) -> str:
        return f"{self.call}:error={self.error}:when={self.n}{'+' if self.lasting else ''}"


class Run(NamedTuple):
    """What came of the work under a fault."""

    hit: bool
    unavailable: int
    acknowledged: int
    failures: list[str]
    calls: Counter[str]


def one_thread() -> None:
    """No threads for readers: strace counts the calls of each thread, and the n-th of all is meant."""
    planting.constant(gateway, "WAITING", 0)


def prove(
    folder: Path,
    watch: Watch,
    seed: int,
    *,
    faults: int | list[Fault] | None,
    planted: Planted | None = None,
) -> Outcome:
    """Let every call fail, or so many of them, spread evenly, or just these. ``planted``: to test the proof."""
    template = Template(folder / "template")
    environment = planting.environment(one_thread, planted)
    clean = _run(folder / "clean", template, None, random.Random(seed), environment)
    chosen = every = _faults(clean.calls)
    if isinstance(faults, int):
        chosen = [every[i * len(every) // faults] for i in range(faults)]
    elif faults is not None:
        chosen = list(faults)
    random.Random(seed).shuffle(chosen)
    failures = [f"without a fault: {failure}" for failure in clean.failures]
    figures = Counter({"calls that could fail": sum(clean.calls.values()), "faults": 0})

    def run(i: int) -> tuple[Fault, Run] | None:
        if watch.is_over:
            return None
        try:
            place, rng = folder / f"{i}", random.Random(f"{seed} {i}")
            return chosen[i], _run(place, template, chosen[i], rng, environment)
        except Exception as error:  # the others go on
            return chosen[i], Run(False, 0, 0, [f"broke off: {type(error).__name__}: {error}"], Counter())

    with ThreadPoolExecutor(2 * (os.cpu_count() or 1)) as pool:  # a run is mostly waiting for its server to start
        for done in as_completed([pool.submit(run, i) for i in range(len(chosen))]):
            if (result := done.result()) is None:
                continue
            fault, outcome = result
            figures.update(
                {
                    "faults": 1,
                    "faults that were met": outcome.hit,
                    "answers 503": outcome.unavailable,
                    "acknowledged": outcome.acknowledged,
                }
            )
            failures += [f"{fault}: {failure}" for failure in outcome.failures]
            watch.counts(figures["faults"], len(chosen))
    if figures["faults"] < len(chosen):
        failures.append(f"stopped after {figures['faults']} of {len(chosen)}")
    return Outcome(dict(figures), failures)


def _faults(calls: Counter[str]) -> list[Fault]:
    return [
        Fault(call, error, n, lasting)
        for call, errors in CALLS.items()
        for n in range(1, calls[call] + 1)
        for error in errors
        for lasting in (False, True)
        if not lasting or call != "pwrite64" or (error == "ENOSPC" and n % LASTING_EVERY == 0)
    ]


class Template:
    """A database with a survey and an administrator, to start from."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder = folder
        self.published = publish(survey_from_tree(survey("kept")))
        storage = open_storage(str(folder / DATABASE))
        storage.publish(self.published)
        let_collect(storage, "kept")
        secret, _ = make_token(storage, "admin", "")
        storage.close()
        self.admin = {"Authorization": f"Bearer {secret}"}

    def copy(self, folder: Path) -> Path:
        shutil.copytree(self._folder, folder)
        return folder / DATABASE


def _run(folder: Path, template: Template, fault: Fault | None, rng: random.Random, environment: dict[str, str]) -> Run:
    folder.mkdir()
    data = folder / "data"
    work = _Work(template)
    server, worker = _start(template.copy(data), folder / "log", environment)
    happened: list[Event] = []
    try:
        work.base = server.base
        disk, names, mended = Disk(data), {path.name for path in data.iterdir()}, 0
        phases = {"faulty": fault.injection if fault else None, "broken": BROKEN, "mended": None}
        for phase, injected in phases.items():
            if phase == "broken" and not (fault and fault.lasting):
                continue
            trace = folder / phase
            with Attached(worker, trace, injected):
                work.do(phase)
            mended = len(happened)
            happened += events(trace, data, names, happened[-1].line + 1 if happened else 0)
            names = {path.name for path in data.iterdir()}
    finally:
        server.stop(signal.SIGKILL)
    injected_lines = (folder / "faulty").read_text("ascii").count("(INJECTED)")
    failures = [*work.failures, *_kept(work.promises, data, disk, happened, mended, rng)]
    if work.acknowledged != work.promises.acknowledged:
        failures.append("the trace has other acknowledgements than the client")
    calls = _calls(folder / "faulty")
    shutil.rmtree(folder)
    return Run(injected_lines > 0, work.unavailable, len(work.acknowledged), failures, calls)


def _start(database: Path, log: Path, environment: dict[str, str]) -> tuple[Server, int]:
    """A server with one thread, and the process that answers. Where many start at once, a port that was free can be
    another's by now, and it is the other that answers: then once more.
    """
    while True:
        server = Server(database, log, "--threads", "1", **environment)
        if workers := server.workers():
            return server, workers[0]
        server.stop(signal.SIGKILL)


def _calls(trace: Path) -> Counter[str]:
    """How many there were of each: of the thread that made the most, because strace counts for each by itself."""
    calls = Counter[tuple[str, str]]()
    with trace.open(encoding="ascii") as lines:
        for line in lines:
            thread, rest = line.split(maxsplit=1)
            if (name := rest.partition("(")[0]) in CALLS:
                calls[thread, name] += 1
    most = Counter[str]()
    for (_, name), count in calls.items():
        most[name] = max(most[name], count)
    return most


def _kept(
    promises: Promises, data: Path, disk: Disk, happened: list[Event], mended: int, rng: random.Random
) -> list[str]:
    """Whether all is kept: after a power cut behind each answer that came when the disk was mended, and after a kill,
    with the files as they are.
    """
    answers = []
    for i, event in enumerate(happened):
        if i >= mended and isinstance(event, Sent) and event.data.startswith(b"HTTP"):
            answers.append(i + 1)
    failures: list[str] = []
    place = 0
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else data.parent) as scratch:
        for point in answers:
            for event in happened[place:point]:
                disk.happen(event)
                promises.happen(event)
            place = point
            cut = Path(scratch) / f"cut-{point}"
            cut.mkdir()
            for name, content in disk.left(rng).items():
                (cut / name).write_bytes(content)
            failures += [f"after a power cut: {trouble}" for trouble in promises.broken(cut / DATABASE)]
        for event in happened[place:]:
            promises.happen(event)
        killed = Path(scratch) / "killed"
        shutil.copytree(data, killed)
        return [*failures, *promises.broken(killed / DATABASE)]


class _Work:
    """The work, and what is wrong with its answers."""

    def __init__(self, template: Template) -> None:
        self.base = ""
        self.promises = Promises()
        self.promises.learn(template.published)
        self.failures: list[str] = []
        self.unavailable = 0
        self.acknowledged: set[bytes] = set()
        self._admin = template.admin
        self._bodies = [self.promises.make("kept", count) for count in BODIES]

    def do(self, phase: str) -> None:
        """All of it. A request that fails is tried a second time; where the disk is mended, none may fail.

        On a disk that is broken altogether, results are asked for as well, so that readers meet it, too.
        """
        mended = phase == "mended"
        if phase == "broken":
            self._expect(ask(f"{self.base}{SURVEY}/estimates", headers=self._admin), mended, 200, "reading results")
        for body in self._bodies:
            self._post(body, mended)
        if mended:
            self._expect(ask(f"{self.base}/readyz"), mended, 200, "readyz")
        if not self.acknowledged.issuperset(self.promises.rows):
            return  # closed now, it would rightly take no more
        for _ in range(2):
            answer = ask(f"{self.base}{SURVEY}/close", b"", self._admin)
            if self._expect(answer, mended, 200, "closing"):
                break

    def _post(self, body: bytes, mended: bool) -> None:
        posted: Any = json.loads(body)
        ids = {bytes.fromhex(one["id"]) for one in posted.get("submissions", [posted])}
        for _ in range(2):
            answer = ask(f"{self.base}{SURVEY}/submissions", body, collector("kept") if "submissions" in posted else {})
            if self._expect(answer, mended, 201, "a submission"):
                if ids <= self.acknowledged and answer.json != {"accepted": 0, "duplicates": len(ids)}:
                    self.failures.append("a submission was accepted twice")
                self.acknowledged |= ids
                break

    def _expect(self, answer: Answer, mended: bool, good: int, what: str) -> bool:
        if answer.status == good:
            return True
        if answer.status == 503 and not mended:
            self.unavailable += 1
            headers = {name.lower(): value for name, value in answer.headers.items()}
            if headers["content-type"] != "application/problem+json" or "retry-after" not in headers:
                self.failures.append(f"{what} got a 503 that is no problem document, or does not say when to retry")
        else:
            self.failures.append(f"{what} was answered {answer.status}{' on a mended disk' if mended else ''}")
        return False
