"""Delivery: one background thread that sends what waits in the outbox for one survey, and ends when nothing does.

May not: change a byte of what it sends, or know an answer: it reads the outbox, which holds none. It may send a
submission twice, since a delivery that was not confirmed may yet have happened; the server counts it once. It may not
send what waits for another survey or address: its server would learn when this device visits others.

The thread holds this object and never the client, so that a client nobody uses any more can be collected.
"""

from __future__ import annotations

import atexit
import contextlib
import math
import os
import queue
import threading
import time
import weakref

from .errors import StateError
from .state import Entry, State, Status
from .transport import USER_AGENT, Transport, describe
from .verdict import Delivered, Later, Refusal, Verdict, judge

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 60.0
LAST_CHANCE = 2.0
"""How long delivery goes on when the interpreter exits, or when the client is no longer in use."""
GRACE = 0.5
"""How long an aborted attempt may take to notice."""

HEADERS = {"Accept": "application/json", "Content-Type": "application/json", "User-Agent": USER_AGENT}


class Turn:
    """When the submission may be tried next."""

    def __init__(self) -> None:
        self.failures = 0
        self.due = 0.0
        self.earliest = 0.0  # the server asked for this pause, so even flush keeps to it

    def put_off(self, now: float, after: float, chance: float) -> None:
        """Exponential backoff with full jitter: ``chance`` in [0, 1) spreads devices that failed together."""
        longest = min(FIRST_PAUSE * 2 ** min(self.failures, 30), LONGEST_PAUSE)
        self.failures += 1
        self.earliest = now + after
        self.due = self.earliest + chance * longest


class Delivery:
    """Sends the submission to one survey, known by its content, to the address it was made for."""

    def __init__(self, state: State, transport: Transport, timeout: float, content: str, address: str) -> None:
        self._state, self._transport, self._timeout = state, transport, timeout
        self._content, self._address = content, address
        self._settled: dict[str, Status] = {}
        self._refusal: Refusal | None = None
        self._turn = Turn()
        self.trouble: str | None = None
        self._until = math.inf  # when the thread has to end, whatever waits
        self._hurry = False  # someone asked to cut short every pause but those the server wants
        self._renew()
        _deliveries.add(self)

    def _renew(self) -> None:
        """What a forked child cannot inherit: the thread, and whatever is waited for."""
        self._thread: threading.Thread | None = None
        self._running = False
        self._asked = False
        self._changed = threading.Condition()  # guards the three above, and signals what is settled
        # A queue and not an event: finish() runs inside garbage collection, where only put() never waits for a lock.
        self._wake: queue.SimpleQueue[None] = queue.SimpleQueue()

    # What others ask

    def waiting(self) -> Entry | None:
        return self._state.waiting(self._content, self._address)

    def start(self) -> None:
        """Make sure that a thread works on the outbox."""
        with self._changed:
            self._asked = True
            if not self._running and self._until == math.inf:
                thread = threading.Thread(target=self._run, name="deniable-delivery", daemon=True)
                try:
                    thread.start()
                except RuntimeError:
                    return  # the interpreter is ending, or the system gives no more threads: the outbox keeps it
                self._thread, self._running = thread, True
        self._wake.put(None)

    def put_off(self, seconds: float) -> None:
        """Send nothing before this time is over, not even in a hurry."""
        self._turn.earliest = self._turn.due = time.monotonic() + seconds

    def wait(self, submission: str, deadline: float) -> Refusal | None:
        """Wait until a submission is settled, or cannot be for now. Returns the refusal, if it was refused."""
        with self._changed:
            self._changed.wait_for(lambda: submission in self._settled or not self._running, remaining(deadline))
            is_known = submission in self._settled or not self._running
        # A thread that found nothing to do: another process on the same state was faster.
        with contextlib.suppress(StateError):
            if is_known and self.status(submission) == "refused":
                return self._refusal or Refusal(None, "another process on this device got this answer", "")
        return None

    def flush(self, deadline: float) -> bool:
        """Try what waits now, and then with the usual pauses. True if nothing waits any more."""
        if self.waiting():
            self._hurry = True
            self.start()
            with self._changed:
                self._changed.wait_for(lambda: not self._running, remaining(deadline))
        return not self.waiting()

    def finish(self, by: float) -> None:
        """Make the thread end by this time, or sooner if nothing waits. Returns at once and waits for no lock."""
        self._until = min(self._until, by)
        self._hurry = True
        self._wake.put(None)

    def join(self, by: float) -> None:
        """Wait for the thread to end. After this time, its request is aborted."""
        thread = self._thread
        if thread is None:
            return
        thread.join(remaining(by))
        if thread.is_alive():
            if (abort := getattr(self._transport, "abort", None)) and thread.ident is not None:
                abort(thread.ident)
            thread.join(GRACE)

    def recall(self, entry: Entry, submission: str) -> None:
        """Remember how a submission ended: its receipt asks for it when the ledger has forgotten it."""
        self._settled.setdefault(submission, entry.status)

    def status(self, submission: str) -> Status:
        if submission in self._settled:
            return self._settled[submission]
        entry = self._state.find(self._content)
        return "waiting" if entry is None else entry.status

    # What the thread does

    def _run(self) -> None:
        try:
            while time.monotonic() < self._until:
                with self._changed:
                    self._asked = False
                pause = self._work()
                if pause is not None:
                    self._sleep(pause)
                    continue
                with self._changed:
                    if not self._asked:  # nothing was written since the outbox was seen empty
                        self._running = False
                        self._changed.notify_all()
                        return
        finally:
            with self._changed:
                if self._thread is threading.current_thread():  # and no other was started since
                    self._running = False
                    self._changed.notify_all()

    def _work(self) -> float | None:
        """Try the submission if it is due. How long until it is due; None if nothing waits."""
        try:
            entry = self.waiting()
            if entry is None:
                return None
            if self._hurry:
                self._hurry = False
                self._turn.due = self._turn.earliest
            if self._turn.due <= time.monotonic() and self._attempt(entry):
                return None
            return self._turn.due - time.monotonic()
        except StateError:
            return FIRST_PAUSE  # locked or full for now; what is in it is safe

    def _attempt(self, entry: Entry) -> bool:
        """Whether it is settled."""
        assert entry.id is not None  # it waits
        timeout = min(self._timeout, max(self._until - time.monotonic(), 0.001))
        verdict: Verdict
        try:
            response = self._transport.send("POST", f"{self._address}/submissions", entry.body, HEADERS, timeout)
            verdict = judge(response, time.time())
        except Exception as error:
            # OSError is what a transport should raise; whatever else it raises must not end the thread either.
            verdict = Later(describe(error))
        if isinstance(verdict, Later):
            self.trouble = verdict.trouble
            self._turn.put_off(time.monotonic(), verdict.after, chance())
            return False
        status: Status = "delivered" if isinstance(verdict, Delivered) else "refused"
        try:
            self._state.settle(self._content, entry.id, status)
        except StateError:
            # The server has it all the same. It is sent again until the ledger can say so.
            self._turn.put_off(time.monotonic(), 0.0, chance())
            raise
        finally:
            self.trouble = None
            with self._changed:
                self._refusal = verdict if isinstance(verdict, Refusal) else None
                self._settled[entry.id] = status
                self._changed.notify_all()
        return True

    def _sleep(self, pause: float) -> None:
        with contextlib.suppress(queue.Empty):
            self._wake.get(timeout=max(min(pause, self._until - time.monotonic()), 0.0))


def chance() -> float:
    """A number in [0, 1)."""
    return (int.from_bytes(os.urandom(7)) >> 3) / 2**53


def remaining(deadline: float) -> float:
    """The seconds until a deadline, and 0 after it."""
    return max(deadline - time.monotonic(), 0.0)


_deliveries: weakref.WeakSet[Delivery] = weakref.WeakSet()


def _renew_all() -> None:
    for delivery in list(_deliveries):
        delivery._renew()


def _finish_all() -> None:
    """One last chance to deliver. Then the interpreter ends, and the outbox keeps the rest."""
    deadline = time.monotonic() + LAST_CHANCE
    for delivery in (deliveries := list(_deliveries)):
        delivery.finish(deadline)
    for delivery in deliveries:
        delivery.join(deadline)


if hasattr(os, "register_at_fork"):  # where there is no fork, there is nothing to renew
    os.register_at_fork(after_in_child=_renew_all)
atexit.register(_finish_all)
