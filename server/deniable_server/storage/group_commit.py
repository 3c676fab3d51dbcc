"""Group commit: one thread does the work of all who wait, with one commit.

A commit waits for the disk however much it writes. So everybody leaves an item here. The thread takes all that are
there, does their work together, and then tells everybody at once. What comes meanwhile is in the next round. Where a
database can do two rounds at once, there are two threads.

May not: know what the work is.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Any, Generic, TypeAlias, TypeVar

from deniable_server.errors import Unavailable

log = logging.getLogger(__name__)

Item = TypeVar("Item")
Result = TypeVar("Result")

MOST_WAITING = 5_000
"""Items that may wait. While the disk is slow or the database locked, more would only fill the memory."""

Tell: TypeAlias = Callable[[list[tuple[Any, Any]]], None]
"""Takes those who waited, each with a result or an exception. The thread calls it, so it must not wait."""


class GroupCommit(Generic[Item, Result]):
    """``work`` returns one result per item, or an exception for that item, or raises for all of them. ``afterwards``
    runs once all who waited have been told.
    """

    def __init__(
        self,
        work: Callable[[list[Item]], Sequence[Result | Exception]],
        afterwards: Callable[[list[Item]], None] = lambda items: None,
        threads: int = 1,
    ) -> None:
        self._work, self._afterwards, self._most_threads = work, afterwards, threads
        self._lock = threading.Lock()
        self._queue: list[tuple[Item, Any, Tell]] = []
        self._threads: list[threading.Thread] = []
        self._ends = False
        # Threads without work sleep until there is something in this queue: once for each that is to wake.
        self._asleep, self._alarm = 0, SimpleQueue[None]()

    def put(self, item: Item, who: Any, tell: Tell) -> None:
        """Leave an item, without waiting. All of a round with the same ``tell`` are told in one call of it."""
        with self._lock:
            if len(self._queue) >= MOST_WAITING:
                raise Unavailable("more submissions wait for the disk than the server keeps waiting")
            self._queue.append((item, who, tell))
            if self._asleep:
                self._asleep -= 1
                self._alarm.put(None)
            elif len(self._threads) < self._most_threads:
                # Not earlier: a server that forks its workers would leave them behind.
                self._threads.append(threading.Thread(target=self._run, name="writing", daemon=True))
                self._threads[-1].start()

    def do(self, item: Item) -> Result:
        """The result for this item, once a round of work has included it."""
        mine = _Sleeper()
        self.put(item, mine, _wake_all)
        mine.awake.acquire()
        if isinstance(mine.result, BaseException):
            raise mine.result
        result: Result = mine.result
        return result

    def close(self) -> None:
        """Finish what waits, and end the threads. An item that comes later starts another."""
        with self._lock:
            self._ends = True
            for _ in range(self._asleep):
                self._alarm.put(None)
            self._asleep, ending, self._threads = 0, self._threads, []
        for thread in ending:
            thread.join()
        self._ends = False

    def _run(self) -> None:
        while True:
            with self._lock:
                round_, self._queue = self._queue, []
                if not round_ and self._ends:
                    return
                self._asleep += not round_
            if round_:
                self._do(round_)
            else:
                self._alarm.get()

    def _do(self, round_: list[tuple[Item, Any, Tell]]) -> None:
        items = [item for item, _, _ in round_]
        results: Sequence[Result | BaseException]
        try:
            results = self._work(items)
        except BaseException as error:
            results = [error] * len(items)
        told: dict[Tell, list[tuple[Any, Any]]] = {}
        for (_, who, tell), result in zip(round_, results, strict=True):
            told.setdefault(tell, []).append((who, result))
        for tell, outcomes in told.items():
            tell(outcomes)
        try:
            self._afterwards(items)
        except BaseException as error:  # nobody waits for it, and the thread must go on
            log.error("%s after a commit", type(error).__qualname__)


class _Sleeper:
    """A thread that waits for its result."""

    __slots__ = ("awake", "result")

    def __init__(self) -> None:
        self.result: Any = None
        self.awake = threading.Lock()
        self.awake.acquire()


def _wake_all(outcomes: list[tuple[_Sleeper, Any]]) -> None:
    for sleeper, result in outcomes:
        sleeper.result = result
        sleeper.awake.release()
