"""Group commit: one commit for all threads that wait."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from deniable_server.errors import Unavailable
from deniable_server.storage.group_commit import MOST_WAITING, GroupCommit


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def test_all_who_wait_are_served_by_one_round() -> None:
    """While a round is under way, 29 more come: the next round does them all, and each gets its own result."""
    rounds: list[int] = []

    def work(items: list[int]) -> list[int]:
        rounds.append(len(items))
        if len(rounds) == 1:
            wait_for(lambda: len(commits._queue) == 29)
        return [10 * item for item in items]

    commits = GroupCommit(work, lambda items: None)
    with ThreadPoolExecutor(30) as pool:
        first = pool.submit(commits.do, 0)
        wait_for(lambda: bool(rounds))  # or the first round might do more than one
        others = pool.map(commits.do, range(1, 30))
        assert [first.result(), *others] == [10 * item for item in range(30)]
    assert rounds == [1, 29]


def test_nobody_waits_for_what_comes_after_the_round() -> None:
    """All whose work is done go on while the thread still has something to do; the next round waits for that."""
    may_end, rounds = threading.Event(), 0

    def work(items: list[int]) -> list[int]:
        nonlocal rounds
        rounds += 1
        return items

    commits = GroupCommit(work, lambda items: may_end.wait(60) and None)
    with ThreadPoolExecutor(5) as pool:
        assert commits.do(0) == 0
        late = [pool.submit(commits.do, item) for item in (1, 2)]
        wait_for(lambda: len(commits._queue) == 2)
        assert rounds == 1 and not any(one.done() for one in late)
        may_end.set()
        assert [one.result(60) for one in late] == [1, 2]
    assert rounds == 2


@pytest.mark.parametrize("place", ["work", "afterwards"])
def test_a_round_that_breaks_leaves_nobody_waiting(place: str) -> None:
    """If the work raises, all of the round get the exception; whatever raises, the next round is served."""
    broken = True

    def breaks(items: list[int]) -> None:
        if broken:
            raise KeyError("canary")

    def work(items: list[int]) -> list[int]:
        if place == "work":
            breaks(items)
        return items

    commits = GroupCommit(work, (lambda items: None) if place == "work" else breaks)

    def do(item: int) -> object:
        try:
            return commits.do(item)
        except KeyError as error:
            return type(error)

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(do, range(8)))
    assert results == ([KeyError] * 8 if place == "work" else [*range(8)])
    broken = False
    assert commits.do(9) == 9


def test_those_who_do_not_sleep_are_told_all_at_once() -> None:
    """What an event loop leaves is told in one call for each round, with the results and refusals of its own."""
    told: list[list[tuple[str, object]]] = []
    go = threading.Event()

    def work(items: list[int]) -> list[int | Exception]:
        go.wait(60)
        return [item if item % 2 else KeyError(item) for item in items]

    commits = GroupCommit(work, lambda items: None)
    commits.put(1, "first", told.append)
    wait_for(lambda: not commits._queue)
    for item in range(2, 6):
        commits.put(item, str(item), told.append)
    go.set()
    commits.close()
    assert told[0] == [("first", 1)] and len(told) == 2
    assert [who for who, _ in told[1]] == ["2", "3", "4", "5"]
    assert [isinstance(result, KeyError) for _, result in told[1]] == [True, False, True, False]


def test_only_so_many_wait() -> None:
    """While the work does not get on, items beyond the limit are refused at once; then all that wait are done."""
    go, done = threading.Event(), []

    def work(items: list[int]) -> list[int]:
        go.wait(60)
        return items

    commits = GroupCommit(work, lambda items: None)
    commits.put(0, 0, done.extend)
    wait_for(lambda: not commits._queue)
    for item in range(MOST_WAITING):
        commits.put(item, item, done.extend)
    with pytest.raises(Unavailable):
        commits.put(0, 0, done.extend)
    with pytest.raises(Unavailable):
        commits.do(0)
    go.set()
    commits.close()
    assert len(done) == MOST_WAITING + 1
    assert commits.do(7) == 7  # a storage that was closed can be used again


def test_two_rounds_at_once() -> None:
    """Where a database can do two commits at a time, the second begins before the first has ended."""
    both = threading.Barrier(2)

    def work(items: list[int]) -> list[int]:
        both.wait(60)
        return items

    commits = GroupCommit(work, lambda items: None, threads=2)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(commits.do, 1)
        wait_for(lambda: both.n_waiting == 1)
        assert pool.submit(commits.do, 2).result(60) == 2 and first.result(60) == 1


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
