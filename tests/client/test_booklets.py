"""Booklets: drawn once, before anything is asked, and the same ever after on one device."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import deniable
import deniable.client
from deniable.state import State
from deniable_protocol import MultiChoice, draw_booklet, publish, survey_from_tree, verify
from tests.helpers.exhaustive import Narrow, outcomes
from tests.helpers.fake_server import FakeServer, python
from tests.helpers.surveys import JOINT, JOINT_BOOKLETS, JOINT_PARTS, joint, several, textbook

LINK = "https://survey.test/s/joint"
SEGMENTS = {"campus": "north"}
EVERYTHING: dict[str, Any] = {"vaped": True, "how_often": "weekly", "support": ["friend"], "stress": 2, "hours": 10}

# A thousand booklets, all as likely: two draws are the same once in a thousand times.
MANY = publish(survey_from_tree(JOINT), JOINT_PARTS, [([number % len(JOINT_PARTS)], 1) for number in range(1000)])


@pytest.fixture
def server() -> FakeServer:
    return FakeServer(MANY)


def kept(state: Path) -> list[tuple[str, int]]:
    connection = sqlite3.connect(state)
    rows = connection.execute("SELECT digest, booklet FROM booklets").fetchall()
    connection.close()
    return rows


def test_the_booklet_is_written_before_anything_can_be_asked(server: FakeServer, state: Path) -> None:
    """When the constructor returns, the booklet is drawn and on disk; submitting does not change it."""
    with deniable.Client(LINK, state=state, transport=server) as client:
        assert kept(state) == [(client.digest, client.booklet)] and server.posts == []
        before = client.booklet
        receipt = client.submit(EVERYTHING, SEGMENTS)
        assert client.booklet == receipt.booklet == before
    assert kept(state) == [(client.digest, before)]


def test_a_device_keeps_its_booklet(server: FakeServer, state: Path) -> None:
    """A reload, a second client at the same time, an offline start and another address all get the first draw."""
    with (
        deniable.Client(LINK, state=state, transport=server) as first,
        deniable.Client(LINK, state=state, transport=server) as second,
    ):
        assert second.booklet == first.booklet
    server.replies = [(0, {}, b"")]
    for link in (LINK, LINK, "https://mirror.test/base/s/joint"):
        with deniable.Client(link, state=state, transport=server) as client:
            assert client.booklet == first.booklet and client.questions == first.questions
    assert kept(state) == [(first.digest, first.booklet)]


def test_nothing_is_drawn_where_a_booklet_is_kept(
    server: FakeServer, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a second start nor submit draws a booklet again."""
    booklet = deniable.Client(LINK, state=state, transport=server).booklet

    def refuse(*_: object) -> int:
        raise AssertionError("drawn again")

    monkeypatch.setattr(deniable.client, "draw_booklet", refuse)
    monkeypatch.setattr("deniable_protocol.submission.draw_booklet", refuse)
    with deniable.Client(LINK, state=state, transport=server) as client:
        assert client.submit(EVERYTHING, SEGMENTS).booklet == booklet


def test_of_many_threads_the_first_draws_for_all(server: FakeServer, state: Path) -> None:
    """Eight threads that start on a new state at once have one booklet."""
    barrier = threading.Barrier(8)
    booklets: list[int] = []

    def start() -> None:
        barrier.wait()
        with deniable.Client(LINK, state=state, transport=server) as client:
            booklets.append(client.booklet)

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(booklets) == 8 and len({*booklets}) == 1


STARTS = """
import sys
import deniable
print("ready", flush=True)
sys.stdin.readline()
with deniable.Client(sys.argv[1], state=sys.argv[2]) as client:
    print(client.booklet)
"""


def test_of_many_processes_the_first_draws_for_all(state: Path) -> None:
    """Four processes that start on a new state at once have one booklet."""
    with FakeServer(MANY) as server:
        command = [sys.executable, "-c", STARTS, f"{server.origin}/s/joint", str(state)]
        processes = [
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(4)
        ]
        for process in processes:
            assert process.stdout is not None and process.stdout.readline() == "ready\n"
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        booklets = {process.communicate(timeout=30)[0] for process in processes}
    assert len(booklets) == 1 and booklets == {f"{kept(state)[0][1]}\n"}


FORKS = """
import os, sys
import deniable
client = deniable.Client(sys.argv[1], state=sys.argv[2] or None)
child = os.fork()
if child:
    os.waitpid(child, 0)
print(client.booklet, flush=True)
if sys.argv[2]:
    print(deniable.Client(sys.argv[1], state=sys.argv[2]).booklet, flush=True)
if child == 0:
    os._exit(0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("has_state", [True, False])
def test_a_fork_has_the_booklet_of_its_parent(state: Path, has_state: bool) -> None:
    """Parent and child go on with one booklet, also in clients that they make later on the same state."""
    with FakeServer(MANY) as server:
        printed = python(FORKS, f"{server.origin}/s/joint", state if has_state else "").split()
    assert len(printed) == (4 if has_state else 2) and len({*printed}) == 1


def test_each_state_is_a_device_of_its_own(server: FakeServer, tmp_path: Path) -> None:
    """Five devices, with a file or in memory, do not all draw one booklet (by chance: once in 10^12)."""
    files = [tmp_path / name for name in "ab"]
    clients = [deniable.Client(LINK, state=state, transport=server) for state in (*files, None, None, None)]
    assert len({client.booklet for client in clients}) > 1
    for client in clients:
        client.close()


# The draw itself


def test_a_booklet_is_drawn_as_often_as_its_weight_says() -> None:
    """The exact probability of each booklet, from the code that draws, is its weight over the sum of all."""
    total = sum(weight for _, weight in JOINT_BOOKLETS)
    expected = {number: Fraction(weight, total) for number, (_, weight) in enumerate(JOINT_BOOKLETS)}
    document = verify(joint())
    assert outcomes(lambda draws: draw_booklet(document, draws)) == expected
    # 16 numbers on words of six bits: each word of the 64 is taken, and each booklet owns four per unit of weight.
    drawn = Counter(draw_booklet(document, Narrow([word])) for word in range(64))
    assert drawn == {number: 4 * weight for number, (_, weight) in enumerate(JOINT_BOOKLETS)}


def test_one_booklet_draws_nothing() -> None:
    """Where all devices are asked the same, no randomness is used."""
    assert draw_booklet(verify(textbook()), Narrow([])) == 0


def test_devices_draw_as_the_weights_say() -> None:
    """Of 3,000 clients each booklet has its share, within 6 standard errors (false alarm: below 10^-7)."""
    server = FakeServer(joint())
    counts: Counter[int] = Counter()
    for _ in range(3000):
        client = deniable.Client(LINK, transport=server)
        counts[client.booklet] += 1
        client.close()
    total = sum(weight for _, weight in JOINT_BOOKLETS)
    for number, (_, weight) in enumerate(JOINT_BOOKLETS):
        p = weight / total
        assert abs(counts[number] - 3000 * p) < 6 * (3000 * p * (1 - p)) ** 0.5, counts


# What is asked


def start(monkeypatch: pytest.MonkeyPatch, booklet: int, document: bytes = b"", **options: Any) -> deniable.Client:
    """A client on a device that draws this booklet."""
    monkeypatch.setattr(deniable.client, "draw_booklet", lambda _: booklet)
    options.setdefault("transport", FakeServer(document or several()))
    return deniable.Client(LINK, **options)


@pytest.mark.parametrize(
    ("booklet", "asked"),
    [
        (0, {"vaped": 2, "how_often": 3, "support": 1, "hours": 0}),
        (1, {"vaped": 2, "how_often": 3, "stress": 4}),
        (2, {"vaped": 2, "how_often": 3, "support": 1, "stress": 4}),
        (3, {"support": 2, "stress": 4, "hours": 0}),
    ],
)
def test_only_the_booklet_is_asked(monkeypatch: pytest.MonkeyPatch, booklet: int, asked: dict[str, int]) -> None:
    """The questions are the booklet's, in the survey's order; a multi_choice has only the booklet's options."""
    with start(monkeypatch, booklet) as client:
        assert {question.id: len(question.codes) for question in client.questions} == asked
        assert [*asked] == [question.id for question in client.questions]
        whole = {question.id: question for question in client.survey.questions}
        for question in client.questions:
            assert isinstance(question, MultiChoice) or question == whole[question.id]


def test_answers_to_the_booklet_are_enough_and_answers_to_all_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """An app may pass what it asked, or all it knows; what the booklet does not ask is not even looked at."""
    for booklet, client in ((number, start(monkeypatch, number)) for number in range(4)):
        asked = {question.id: EVERYTHING[question.id] for question in client.questions}
        others = {name: "anything at all" for name in EVERYTHING if name not in asked}
        receipt = client.submit(asked | others, SEGMENTS)
        assert receipt.delivered and receipt.epsilon == "2.0" and receipt.booklet == booklet
        client.close()
        with start(monkeypatch, booklet) as client:
            assert client.submit(asked, SEGMENTS).delivered


def test_a_question_of_the_booklet_needs_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers that are missing are named, those to other booklets are not asked for; a name nobody knows is refused."""
    with start(monkeypatch, 0) as client:
        with pytest.raises(deniable.AnswerError) as caught:
            client.submit({"vaped": True, "SECRET": 1}, SEGMENTS)
        places = [problem.place for problem in caught.value.problems]
        assert places == ["answers", "how_often", "support", "hours"] and "SECRET" not in str(caught.value)
        assert client.receipt is None


def test_a_booklet_that_the_survey_does_not_have_is_a_damaged_state(server: FakeServer, state: Path) -> None:
    """A state that names a booklet which the survey does not have: the client says so at the start."""
    document = verify(MANY)
    State(state).keep_booklet(document.content, document.digest, lambda: 1000)
    with pytest.raises(deniable.StateError, match="not one of this survey"):
        deniable.Client(LINK, state=state, transport=server)


A = "a" * 64


@pytest.mark.parametrize("row", [("a" * 63, A, 0), ("A" * 64, A, 0), (None, A, 0), (A, "a" * 63, 0), (A, None, 0),
                                 (A, A, -1), (A, A, 10_000), (A, A, 0.5), (A, A, "x"), (A, A, None)])  # fmt: skip
def test_the_schema_refuses_what_is_no_booklet(row: tuple[Any, Any, Any]) -> None:
    """Whatever the code does, a booklet has a survey, a document and a number that a survey can have."""
    state = State()
    with pytest.raises(deniable.StateError, match="constraint failed"):
        state.keep_booklet(row[0], row[1], lambda: row[2])
    assert state.keep_booklet(A, A, lambda: 7) == 7 == state.keep_booklet(A, A, lambda: 8)
    assert state.keep_booklet(A, "b" * 64, lambda: 9) is None
