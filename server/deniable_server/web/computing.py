"""Computing apart from those who answer: estimates, cross-tabs, pages of results, plans.

Threads of one process share one interpreter, so a long computation in a thread slows everybody who sends a submission.
Here it runs in a process of its own, with low priority. Readers wait for it in a bounded number of threads, and
a computation that takes too long is stopped. Equal questions that are asked at the same time are computed once, and
answers are kept while the surveys that they are about stay as they are.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from multiprocessing.util import Finalize
from queue import Empty, LifoQueue
from socket import socketpair
from typing import Any, NamedTuple, TypeVar

from deniable_protocol import DeniableError
from deniable_server.errors import RETRY_SECONDS, BadQuery, Kind, Refusal, StorageError
from deniable_server.settings import Settings

T = TypeVar("T")

PROCESSES = 1
"""Processes that compute, for each one that answers. 0: computed in the thread of the request, one at a time."""
WAITING = 24
"""Readers that wait at the same time, in each process that answers. Others are asked to come back."""
SECONDS = 60.0
"""Longest time that a computation may take, and that one may wait for its turn."""
MOST_BYTES = 32 * 2**20
"""Largest answer."""
KEPT_BYTES = 32 * 2**20
"""Most bytes of answers that are kept."""
PROGRAM = "deniable_server.serving.computing"
"""What a computing process runs."""


class Outcome(NamedTuple):
    """What came of a question: bytes as they are, any other value or an error pickled. Computing processes are our own
    children; nobody else can write to them.
    """

    kind: str
    content: bytes

    def give(self) -> Any:
        """The value; raises what the computation raised."""
        if self.kind == "bytes":
            return self.content
        found = ForkingPickler.loads(self.content)
        if self.kind == "error":
            raise found
        return found


def question_of(*parts: object) -> bytes:
    """Functions and their arguments as bytes that a computing process understands: functions by their names."""
    return bytes(ForkingPickler.dumps(parts))


def perform(function: Callable[..., Any], *given: object) -> Outcome:
    """Call it. What it refuses on purpose is an outcome, too."""
    try:
        value = function(*given)
        content = value if isinstance(value, bytes) else bytes(ForkingPickler.dumps(value))
        if len(content) > MOST_BYTES:
            raise BadQuery(f"The answer has more than {MOST_BYTES // 2**20} MB. Ask for less at a time.")
    except DeniableError as error:
        return Outcome("error", bytes(ForkingPickler.dumps(error)))
    return Outcome("bytes" if isinstance(value, bytes) else "value", content)


class _Job:
    """A question that is being computed, and everybody who waits for it. ``state`` is set when it begins."""

    def __init__(self) -> None:
        self.state: Hashable = None
        self.done = threading.Event()
        self.outcome: Outcome | None = None
        self.trouble: Exception | None = None


class Computing:
    """Gives questions to computing processes, one at a time each."""

    def __init__(self, settings: Settings, *, in_place: bool = False) -> None:
        self._lock = threading.Lock()
        self._waiting = 0
        self._jobs: dict[bytes, _Job] = {}
        self._kept = _Kept()
        self._turns: LifoQueue[_Process | None] = LifoQueue()  # the one that was used last is ready
        for process in [None] if in_place else [_Process(settings) for _ in range(PROCESSES)]:
            self._turns.put(process)

    def ask(self, function: Callable[..., T], *given: object, root: str, state: Callable[[], Hashable]) -> T:
        """What this function gives in a computing process, where the app is served under the path ``root``.

        ``state`` reads everything that the answer depends on besides what is given. Refusal where too many wait, or
        where it takes too long.
        """
        question = question_of(root, function, *given)
        outcome = self._outcome(question, state, lambda: perform(function, *given))
        answer: T = outcome.give()
        return answer

    def _outcome(self, question: bytes, state: Callable[[], Hashable], in_place: Callable[[], Outcome]) -> Outcome:
        now = state()
        with self._lock:
            if (known := self._kept.find(question, now)) is not None:
                return known
            if self._waiting >= WAITING:
                raise _busy("Too many others wait for results.")
            self._waiting += 1
            job = self._jobs.get(question)
            # One that has not begun will read what there is now. One that has begun may have read something older.
            joined = job is not None and job.state in (None, now)
            if job is None or not joined:
                job = self._jobs[question] = _Job()
        try:
            if joined:
                job.done.wait()
            else:
                self._run(job, question, now, state, in_place)
        finally:
            with self._lock:
                self._waiting -= 1
        if job.outcome is None:
            raise job.trouble or _busy("The computation was stopped.")
        return job.outcome

    def _run(
        self,
        job: _Job,
        question: bytes,
        now: Hashable,
        state: Callable[[], Hashable],
        in_place: Callable[[], Outcome],
    ) -> None:
        try:
            process, waited = self._turn()
            try:
                began = state() if waited else now
                with self._lock:
                    job.state = began
                job.outcome = in_place() if process is None else process.ask(question)
            finally:
                self._turns.put(process)
            with self._lock:
                self._kept.keep(question, began, job.outcome)
        except Exception as error:
            job.trouble = error
        finally:
            with self._lock:
                if self._jobs.get(question) is job:
                    del self._jobs[question]
            job.done.set()

    def _turn(self) -> tuple[_Process | None, bool]:
        """The next process that is free, and whether others had to be waited for."""
        try:
            return self._turns.get_nowait(), False
        except Empty:
            pass
        try:
            return self._turns.get(timeout=SECONDS), True
        except Empty:
            raise _busy("Other computations take their time.") from None


class _Kept:
    """The last answer to each question, with the state that it was computed in: those used last, up to a size."""

    def __init__(self) -> None:
        self._answers: OrderedDict[bytes, tuple[Hashable, Outcome]] = OrderedDict()
        self._size = 0

    def find(self, question: bytes, state: Hashable) -> Outcome | None:
        known = self._answers.get(question)
        if known is None or known[0] != state:
            return None
        self._answers.move_to_end(question)
        return known[1]

    def keep(self, question: bytes, state: Hashable, outcome: Outcome) -> None:
        if outcome.kind == "error" and isinstance(ForkingPickler.loads(outcome.content), StorageError):
            return  # may be over soon
        self._drop(question)
        self._answers[question] = state, outcome
        self._size += len(question) + len(outcome.content)
        while self._size > KEPT_BYTES:
            self._drop(next(iter(self._answers)))

    def _drop(self, question: bytes) -> None:
        if (known := self._answers.pop(question, None)) is not None:
            self._size -= len(question) + len(known[1].content)


class _Process:
    """A computing process: started when it is needed, and again if it has ended."""

    def __init__(self, settings: Settings) -> None:
        # Of our environment all but the secret key, which signs forms, and the folder of the counters.
        own = {**os.environ, **settings.to_environment(), "DENIABLE_SECRET_KEY": secrets.token_hex(32)}
        own.pop("PROMETHEUS_MULTIPROC_DIR", None)
        threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # one processor at most
        self._environment = own | threads
        self._connection: Connection | None = None
        self._end: Callable[[], object] = lambda: None

    def ask(self, question: bytes) -> Outcome:
        for _ in range(2):  # it may have ended while nobody asked
            try:
                connection = self._connection or self._start()
                connection.send_bytes(question)
                kind = self._receive(connection)
                if kind == "broken":
                    raise Refusal(Kind.INTERNAL, "The error was logged, without its content.")
                return Outcome(kind, connection.recv_bytes())
            except (EOFError, OSError):
                self.stop()
        raise _busy("The computation was stopped.")

    def _start(self) -> Connection:
        ours, theirs = socketpair()
        with theirs:
            # A new program: it has no thread, lock, database connection or socket of ours but this one.
            process = subprocess.Popen(  # noqa: S603 -- nothing in it comes from outside
                [sys.executable, "-P", "-m", PROGRAM, str(theirs.fileno())],
                env=self._environment,
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                process_group=0,  # Ctrl-C in a terminal is for the server, and this one ends with it
            )
        self._connection = Connection(ours.detach())
        # Also where multiprocessing ends this process, as granian's workers do: atexit is left out there.
        self._end = Finalize(self, _end, (process, self._connection), exitpriority=1)
        self._receive(self._connection)  # that it is ready
        return self._connection

    def _receive(self, connection: Connection) -> str:
        if not connection.poll(SECONDS):
            self.stop()
            raise _busy("This takes too long here. Ask for less at a time.")
        return connection.recv_bytes().decode()

    def stop(self) -> None:
        """End it, whatever it is doing."""
        self._end()
        self._connection = None


def _end(process: subprocess.Popen[bytes], connection: Connection) -> None:
    connection.close()
    process.kill()
    process.wait()


def _busy(detail: str) -> Refusal:
    return Refusal(Kind.BUSY, f"{detail} Try again in a moment.", {"Retry-After": str(RETRY_SECONDS)})
