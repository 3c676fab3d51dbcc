"""Group commit: threads that want to commit at the same time share one commit.

A commit waits for the disk however much it writes. The first thread that wants one leads: it does the work of all that
wait. Threads that arrive meanwhile wait for the next round, and one of them leads that.

May not: know what the work is.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class _Waiting(Generic[Item, Result]):
    """A thread's item, and the lock on which it sleeps until it has a result or must lead."""

    __slots__ = ("awake", "item", "result")

    def __init__(self, item: Item) -> None:
        self.item = item
        self.result: Result | BaseException | None = None
        self.awake = threading.Lock()
        self.awake.acquire()


class GroupCommit(Generic[Item, Result]):
    """``work`` returns one result per item, or an exception to raise in that thread, or raises for all of them.
    ``afterwards`` runs once all threads that waited can go on.
    """

    def __init__(
        self,
        work: Callable[[list[Item]], Sequence[Result | Exception]],
        afterwards: Callable[[list[Item]], None],
    ) -> None:
        self._work, self._afterwards = work, afterwards
        self._lock = threading.Lock()
        self._queue: list[_Waiting[Item, Result]] = []
        self._led = False

    def do(self, item: Item) -> Result:
        """The result for this item, once a round of work has included it."""
        mine: _Waiting[Item, Result] = _Waiting(item)
        with self._lock:
            self._queue.append(mine)
            leads, self._led = not self._led, True
        if not leads:
            mine.awake.acquire()
        if mine.result is None:
            self._lead()
        assert mine.result is not None
        if isinstance(mine.result, BaseException):
            raise mine.result
        return mine.result

    def _lead(self) -> None:
        with self._lock:
            round_, self._queue = self._queue, []
        items = [waiting.item for waiting in round_]
        try:
            results: Sequence[Result | BaseException] = [RuntimeError("the work was broken off") for _ in round_]
            try:
                results = self._work(items)
            finally:
                for waiting, result in zip(round_, results, strict=True):
                    waiting.result = result
                    waiting.awake.release()
            self._afterwards(items)
        finally:
            with self._lock:
                if self._queue:
                    self._queue[0].awake.release()
                else:
                    self._led = False
