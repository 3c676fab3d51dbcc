"""Work that is dear once and cheap for many: threads that want it at the same time have it done together.

A commit waits for the disk however much it writes. The first thread that wants one leads: it does the work of all who
wait. Those who come meanwhile wait for the next round, and one of them leads that.

May not: know what the work is.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class _Waiting(Generic[Item, Result]):
    """What a thread wants, and the lock on which it sleeps until it has a result or is to lead."""

    __slots__ = ("awake", "item", "result")

    def __init__(self, item: Item) -> None:
        self.item = item
        self.result: Result | BaseException | None = None
        self.awake = threading.Lock()
        self.awake.acquire()


class GroupCommit(Generic[Item, Result]):
    """``work`` gives one result per item, or an exception to raise there, or raises for all. ``afterwards`` is done
    once all who waited can go on.
    """

    def __init__(
        self,
        work: Callable[[list[Item]], Sequence[Result | Exception]],
        afterwards: Callable[[list[Item]], None],
    ) -> None:
        self._work, self._afterwards = work, afterwards
        self.begin()
        _living.add(self)

    def begin(self) -> None:
        """Nobody waits or leads: so it is at first, and in a forked process, where those who did are not."""
        self._lock = threading.Lock()
        self._queue: list[_Waiting[Item, Result]] = []
        self._led = False

    def do(self, item: Item) -> Result:
        """The result for this item, once a round of work has held it."""
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


_living: weakref.WeakSet[GroupCommit[Any, Any]] = weakref.WeakSet()


def _begin_all() -> None:
    for together in list(_living):
        together.begin()


os.register_at_fork(after_in_child=_begin_all)
