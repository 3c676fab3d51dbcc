"""Group commit: one commit for all threads that wait."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from deniable_server.storage.group_commit import GroupCommit


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def test_all_who_wait_are_served_by_one_round() -> None:
    """While a round is under way, 29 more come: the next round does them all, and each gets its own result."""
    rounds: list[int] = []

    def work(items: list[int]) -> list[int]:
        if not rounds:
            wait_for(lambda: len(commits._queue) == 29)
        rounds.append(len(items))
        return [10 * item for item in items]

    commits = GroupCommit(work, lambda items: None)
    with ThreadPoolExecutor(30) as pool:
        assert list(pool.map(commits.do, range(30))) == [10 * item for item in range(30)]
    assert rounds == [1, 29]


def test_nobody_waits_for_what_comes_after_the_round() -> None:
    """Those whose work is done go on while the leader still has something to do; the next round waits for it."""
    may_end, followers, rounds = threading.Event(), threading.Event(), 0

    def work(items: list[int]) -> list[int]:
        nonlocal rounds
        rounds += 1
        if rounds == 1:
            wait_for(lambda: len(commits._queue) == 3)
        return items

    def afterwards(items: list[int]) -> None:
        if rounds == 2:
            followers.set()
            may_end.wait(60)

    commits = GroupCommit(work, afterwards)
    with ThreadPoolExecutor(5) as pool:
        done = [pool.submit(commits.do, item) for item in range(4)]
        assert followers.wait(60)
        wait_for(lambda: sum(one.done() for one in done) == 3)  # all but the leader of the second round
        late = pool.submit(commits.do, 4)
        wait_for(lambda: len(commits._queue) == 1)
        assert rounds == 2 and not late.done()
        may_end.set()
        assert late.result(60) == 4 and sorted(one.result(60) for one in done) == [0, 1, 2, 3]


@pytest.mark.parametrize("place", ["work", "afterwards"])
def test_a_round_that_breaks_leaves_nobody_waiting(place: str) -> None:
    """If the work raises, the leader gets the exception, the others get one each, and the next round is served."""
    broken = True

    def breaks(items: list[int]) -> None:
        if broken:
            wait_for(lambda: len(commits._queue) == 0)
            raise KeyError("canary")

    def work(items: list[int]) -> list[int]:
        if place == "work":
            breaks(items)
        return items

    commits = GroupCommit(work, (lambda items: None) if place == "work" else breaks)

    def do(item: int) -> object:
        try:
            return commits.do(item)
        except (KeyError, RuntimeError) as error:
            return type(error)

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(do, range(8)))
    assert KeyError in results  # a leader's
    assert set(results) <= ({KeyError, RuntimeError} if place == "work" else {KeyError, *range(8)})
    broken = False
    assert commits.do(9) == 9


def test_many_threads_for_a_while() -> None:
    """16 threads, 300 items each: every one is done once, and no wake-up is lost."""
    seen: list[int] = []

    def work(items: list[int]) -> list[int]:
        seen.extend(items)
        return items

    commits = GroupCommit(work, lambda items: None)
    with ThreadPoolExecutor(16) as pool:
        results = list(pool.map(commits.do, range(4800)))
    assert results == sorted(seen) == list(range(4800))
