"""Delivery: what counts as delivered, what is tried again and when, and that every attempt sends the same bytes."""

from __future__ import annotations

import email.utils
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import deniable
import deniable.delivery
import deniable.state
from deniable import Response
from deniable.delivery import Delivery, Turn, chance
from deniable.state import Entry, State, Status
from deniable.verdict import Delivered, Later, Refusal, judge, retry_after
from deniable_protocol import DEFAULT_BUDGET, publish, survey_from_tree
from tests.helpers.fake_server import ANSWERS, DOCUMENT, JSON, PORTAL, PROBLEM, SEGMENTS, FakeServer, Scripted, tree

LINK = "https://survey.test/s/campus-health"
LOADED: Scripted = (200, JSON, DOCUMENT)
COUNTED = b'{"accepted": 1, "duplicates": 0}'
NOW = 1_790_000_000.0


def until(condition: Callable[[], object], timeout: float = 10.0) -> None:
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


# What a response means


@pytest.mark.parametrize(
    ("status", "body"),
    [(201, COUNTED), (200, COUNTED), (201, b'{"accepted": 0, "duplicates": 1, "more": []}')],
)
def test_counted_once_is_delivered(status: int, body: bytes) -> None:
    """The server's own form of a success, with this one submission counted now or before."""
    assert judge(Response(status, JSON, body), NOW) == Delivered()


@pytest.mark.parametrize("status", [400, 409, 413, 415, 422])
def test_a_problem_document_refuses_for_good(status: int) -> None:
    """Only final statuses in the server's own form refuse for good; control characters are not passed on."""
    headers = {"content-type": "Application/Problem+JSON; charset=utf-8"}
    body = b'{"title": "Closed", "detail": "It ended\\n\\u001b[31m on Friday", "status": 409}'
    assert judge(Response(status, headers, body), NOW) == Refusal(status, "Closed", "It ended  [31m on Friday")


UNSETTLED: list[Scripted] = [
    PORTAL,
    (201, JSON, b""),
    (201, JSON, COUNTED[:-1]),
    (201, JSON, b"[" * 100_000),
    (201, JSON, b'{"accepted": 0, "duplicates": 0}'),
    (201, JSON, b'{"accepted": 2, "duplicates": -1}'),
    (201, JSON, b'{"accepted": true, "duplicates": 0}'),
    (201, JSON, b'{"accepted": 1}'),
    (202, JSON, COUNTED),
    (204, {}, b""),
    (301, {"Location": LINK}, b""),
    (400, {"Content-Type": "text/html"}, b"<h1>Bad request</h1>"),
    (403, PROBLEM, b'{"title": "Forbidden"}'),
    (404, PROBLEM, b'{"title": "Not found"}'),
    (408, PROBLEM, b"{}"),
    (409, JSON, b'{"title": "Closed"}'),
    (409, PROBLEM, b"<html>"),
    (422, PROBLEM, b'["title"]'),
    (425, PROBLEM, b"{}"),
    (429, PROBLEM, b"{}"),
    (500, PROBLEM, b"{}"),
    (503, {}, b""),
]


@pytest.mark.parametrize("reply", UNSETTLED)
def test_everything_else_is_tried_again(reply: Scripted) -> None:
    """A portal's page, a proxy's error and half a response do not count as the server's answer."""
    verdict = judge(Response(*reply), NOW)
    assert isinstance(verdict, Later) and str(reply[0]) in verdict.trouble


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0), ("17", 17), (" 17 ", 17), ("3600", 3600), ("3601", 3600), ("9" * 400, 3600),
        (email.utils.formatdate(NOW + 90, usegmt=True), 90),
        (email.utils.formatdate(NOW + 90).replace("-0000", "").strip(), 90),
        (email.utils.formatdate(NOW + 90_000, usegmt=True), 3600),
        (email.utils.formatdate(NOW - 90, usegmt=True), 0),
        ("", 0), ("-5", 0), ("1.5", 0), ("soon", 0), ("٣", 0), ("Mon, 99 Foo 2026 00:00:00 GMT", 0),
    ],
)  # fmt: skip
def test_retry_after_in_either_form(value: str, seconds: float) -> None:
    """A number of seconds or a date, at most an hour; nonsense asks for nothing."""
    assert retry_after(Response(503, {"retry-after": value}, b""), NOW) == seconds


def test_pauses_grow_and_are_spread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Full jitter below 0.5 s, doubled at each failure up to 60 s; what the server asks for is a minimum."""
    monkeypatch.undo()  # the real ones, for once
    turn = Turn()
    longest = []
    for _ in range(9):
        turn.put_off(now=1000.0, after=0.0, chance=0.5)
        assert turn.earliest == 1000.0
        longest.append((turn.due - 1000.0) * 2)
    assert longest == [0.5, 1, 2, 4, 8, 16, 32, 60, 60]
    turn.put_off(now=1000.0, after=100.0, chance=0.0)
    assert turn.due == turn.earliest == 1100.0
    draws = [chance() for _ in range(1000)]
    assert all(0 <= draw < 1 for draw in draws) and 0.4 < sum(draws) / 1000 < 0.6


# Attempts


def test_every_attempt_sends_the_same_bytes(server: FakeServer) -> None:
    """Hung up on, sent to a portal, turned away busy, then counted: four attempts with one and the same body."""
    server.replies = [LOADED, (0, {}, b""), PORTAL, (503, {}, b"")]
    with deniable.Client(LINK, transport=server) as client:
        receipt = client.submit(ANSWERS, SEGMENTS, timeout=0)
        assert client.flush(10)
        assert receipt.delivered and receipt.trouble is None
    assert len(server.posts) == 4 and len(set(server.posts)) == 1
    assert list(server.counted) == [receipt.id]


def test_a_lost_confirmation_is_no_second_submission(server: FakeServer) -> None:
    """The server counted it but the response was lost: the retry is a duplicate, and counts as delivered."""

    def counts_and_hangs_up(request: Any) -> Scripted:
        server.counted[receipt_id(request.body)] = request.body
        return 0, {}, b""

    server.replies = [LOADED, counts_and_hangs_up]
    with deniable.Client(LINK, transport=server) as client:
        assert client.submit(ANSWERS, SEGMENTS).delivered
    assert len(server.posts) == 2 and len(server.counted) == 1


def receipt_id(body: bytes) -> str:
    return body[7:39].decode()


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_retry_after_is_kept_even_in_a_hurry(server: FakeServer, form: str) -> None:
    """flush() waits for no backoff, but it does wait as long as the server asked."""
    # A date has whole seconds, so two of them ahead is at least one second away.
    value = "1" if form == "seconds" else email.utils.formatdate(time.time() + 2, usegmt=True)
    server.replies = [LOADED, (429, {"Retry-After": value}, b"")]
    with deniable.Client(LINK, transport=server) as client:
        client.submit(ANSWERS, SEGMENTS, timeout=0)
        server.wait_for_posts(1)
        assert client.flush(10)
    first, second = (request.time for request in server.requests if request.method == "POST")
    assert 0.9 <= second - first < 5


def test_a_refusal_is_raised_and_remembered(server: FakeServer, state: Path) -> None:
    """Refused carries the server's reason; the entry stays, is not sent again, and the survey counts as answered."""
    server.replies = [LOADED, (409, PROBLEM, b'{"title": "The survey is closed", "detail": "Since 1 May"}')]
    with deniable.Client(LINK, state=state, transport=server) as client:
        with pytest.raises(deniable.Refused, match="The survey is closed: Since 1 May") as caught:
            client.submit(ANSWERS, SEGMENTS)
        error = caught.value
        assert (error.status, error.title, error.detail) == (409, "The survey is closed", "Since 1 May")
        assert error.receipt.refused and not error.receipt.delivered
        assert client.flush(0)
    with deniable.Client(LINK, state=state, transport=server) as client:
        assert client.receipt is not None and client.receipt.refused and client.receipt.reports == []
        with pytest.raises(deniable.AlreadyAnswered):
            client.submit(ANSWERS, SEGMENTS)
    assert len(server.posts) == 1


def test_a_refusal_after_the_time_shows_in_the_receipt(server: FakeServer) -> None:
    """If the server refuses after submit has returned, the receipt shows it."""
    server.replies = [LOADED, (503, {}, b""), (422, PROBLEM, b"{}")]
    with deniable.Client(LINK, transport=server) as client:
        receipt = client.submit(ANSWERS, SEGMENTS, timeout=0)
        assert client.flush(10)
        assert receipt.refused and not receipt.delivered


def test_a_slow_server_does_not_hold_submit(server: FakeServer) -> None:
    """submit returns when its time is up; the receipt turns delivered when the background delivery succeeds."""
    server.hold = threading.Event()
    with deniable.Client(LINK, transport=server) as client:
        started = time.monotonic()
        receipt = client.submit(ANSWERS, SEGMENTS, timeout=0.2)
        assert 0.2 <= time.monotonic() - started < 2
        assert not receipt.delivered and client.receipt == receipt
        assert not client.flush(0.05)
        server.hold.set()
        until(lambda: receipt.delivered)
    assert len(server.posts) == 1


def test_trouble_is_told(server: FakeServer) -> None:
    """A receipt that is not delivered yet says what happened last, so that a wrong address can be noticed."""
    server.replies = [LOADED, *[(404, PROBLEM, b"{}")] * 50]
    with deniable.Client(LINK, transport=server) as client:
        receipt = client.submit(ANSWERS, SEGMENTS, timeout=0)
        until(lambda: receipt.trouble)
        assert receipt.trouble == "the server answered 404 with application/problem+json"
        client.close(0)


def test_a_transport_that_breaks_its_promise_does_not_end_delivery(server: FakeServer) -> None:
    """Whatever a transport raises is reported as trouble, and the submission is tried again."""

    def breaks(request: Any) -> Scripted:
        raise ZeroDivisionError("a fault in the transport")

    server.replies = [LOADED, breaks]
    with deniable.Client(LINK, transport=server) as client:
        receipt = client.submit(ANSWERS, SEGMENTS, timeout=0)
        until(lambda: receipt.trouble or receipt.delivered)
        assert client.flush(10) and receipt.delivered


# The outbox


def two_surveys() -> FakeServer:
    return FakeServer(*(publish(survey_from_tree(tree(name))) for name in ("aa", "bb")))


def left_waiting(state: Path, server: FakeServer) -> deniable.Receipt:
    """The receipt of a submission that could not be delivered to aa."""
    server.replies = [(200, JSON, server.documents["aa"]), *[(0, {}, b"")] * 50]
    with deniable.Client("https://one.test/s/aa", state=state, transport=server) as client:
        receipt = client.submit(ANSWERS, SEGMENTS, timeout=0)
        server.wait_for_posts(1)
        client.close(0)
    server.replies.clear()
    server.requests.clear()
    return receipt


def test_visiting_another_survey_sends_nothing(state: Path) -> None:
    """What waits is no beacon: opening, answering, flushing and closing other surveys, at any host, sends nothing."""
    server = two_surveys()
    receipt = left_waiting(state, server)
    for link in (
        "https://one.test/s/bb",
        "https://two.test/s/bb",
        "https://two.test/s/aa",
        "https://one.test/base/s/aa",
    ):
        with deniable.Client(link, state=state, transport=server) as client:
            if link.endswith("bb") and client.receipt is None:
                assert client.submit(ANSWERS, SEGMENTS).delivered
            assert client.flush(1)
    assert [request.path for request in server.requests if request.method == "POST"] == [
        "https://one.test/api/v1/surveys/bb/submissions"
    ]
    assert not receipt.delivered
    with deniable.Client("https://one.test/s/aa", state=state, transport=server) as client:
        assert client.flush(10)
    assert receipt.delivered and list(server.counted)[-1] == receipt.id


def test_retries_end_after_two_weeks(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the fourteenth day it is still tried; then it expires: nothing is sent, its bytes are gone, ε is spent."""
    server, day = two_surveys(), deniable.state.today()
    receipt = left_waiting(state, server)
    monkeypatch.setattr(deniable.state, "today", lambda: day + 14)
    deniable.state.State(state)
    assert receipt.id.encode() in state.read_bytes()
    monkeypatch.setattr(deniable.state, "today", lambda: day + 15)
    with deniable.Client("https://two.test/s/bb", state=state, transport=server):  # whatever survey is opened
        assert receipt.id.encode() not in state.read_bytes()
    with deniable.Client("https://one.test/s/aa", state=state, transport=server) as client:
        later = client.receipt
        assert later is not None and later.expired and receipt.expired and not later.delivered
        assert client.flush(0)
        with pytest.raises(deniable.AlreadyAnswered):
            client.submit(ANSWERS, SEGMENTS)
    with pytest.raises(deniable.BudgetExceeded):
        deniable.Client("https://two.test/s/bb", state=state, transport=server, budget=2)
    assert server.posts == []


def test_retries_end_in_a_process_that_goes_on(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that runs for weeks gives up at the same time, without being started again."""
    day = deniable.state.today()
    server.replies = [LOADED, *[(503, {}, b"")] * 500]
    with deniable.Client(LINK, transport=server) as client:
        receipt = client.submit(ANSWERS, SEGMENTS, timeout=0)
        server.wait_for_posts(2)
        monkeypatch.setattr(deniable.state, "today", lambda: day + 15)
        until(lambda: receipt.expired)
        assert client.flush(1) and not receipt.delivered and not receipt.refused


def test_nothing_but_the_day_is_kept(state: Path) -> None:
    """While it waits, the file has the number of the day and no finer time; once delivered, not even that."""
    server = two_surveys()
    left_waiting(state, server)

    def days() -> list[Any]:
        connection = sqlite3.connect(state)
        kept = connection.execute("SELECT day FROM ledger").fetchall()
        connection.close()
        return kept

    before = time.time() // 86_400
    assert days() == [(deniable.state.today(),)] and before <= deniable.state.today() <= time.time() // 86_400
    with deniable.Client("https://one.test/s/aa", state=state, transport=server) as client:
        assert client.flush(10)
    assert days() == [(None,)]


def test_an_idle_client_delivers_what_an_earlier_one_left(server: FakeServer, state: Path) -> None:
    """Opening a client starts the delivery; no other call is needed."""
    server.replies = [LOADED, *[(0, {}, b"")] * 50]
    with deniable.Client(LINK, state=state, transport=server) as client:
        receipt = client.submit(ANSWERS, SEGMENTS, timeout=0)
        client.close(0)
    server.replies.clear()
    assert not receipt.delivered
    with deniable.Client(LINK, state=state, transport=server):
        until(lambda: receipt.delivered)


def test_a_ledger_that_cannot_be_written_costs_a_duplicate(
    server: FakeServer, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Delivered, but the disk is full when that is to be noted: the same bytes go out again, and count once."""
    settle = State.settle
    failures = [deniable.StateError("full")]

    def full_once(self: State, *arguments: Any) -> None:
        if failures:
            raise failures.pop()
        settle(self, *arguments)

    monkeypatch.setattr(State, "settle", full_once)
    with deniable.Client(LINK, state=state, transport=server) as client:
        receipt = client.submit(ANSWERS, SEGMENTS)
        assert receipt.delivered  # this process knows better than the file
        assert client.flush(10)
    assert len(server.posts) == 2 and len(set(server.posts)) == 1 and list(server.counted) == [receipt.id]


def test_a_ledger_that_stays_full_does_not_become_a_flood(
    server: FakeServer, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As long as a delivery cannot be noted it is repeated, but ever more rarely, as after any other failure."""

    def full(self: State, *arguments: Any) -> None:
        raise deniable.StateError("full")

    monkeypatch.setattr(State, "settle", full)
    with deniable.Client(LINK, state=state, transport=server) as client:
        assert client.submit(ANSWERS, SEGMENTS).delivered
        time.sleep(1)
        client.close(0)
    assert len(server.posts) <= 16 and len(server.counted) == 1


def test_a_submission_written_while_the_thread_ends_is_delivered(server: FakeServer) -> None:
    """The thread has just found the outbox empty: it looks again before it goes."""
    address, content = "https://survey.test/api/v1/surveys/campus-health", "a" * 64

    class Late(State):
        def waiting(self, content: str, address: str) -> Entry | None:
            found = super().waiting(content, address)
            if late:
                self.record(late.pop(), DEFAULT_BUDGET)
                delivery.start()
            return found

    body = b'{"id":"00000000000000000000000000000000"}'
    late = [Entry(content, "1", "0", "waiting", "0" * 32, address, body, deniable.state.today())]
    state = Late()
    delivery = Delivery(state, server, 5, content, address)
    delivery.start()
    server.wait_for_posts(1)
    delivery.finish(time.monotonic() + 5)
    delivery.join(time.monotonic() + 5)
    assert server.posts == [body] and delivery.status("0" * 32) == "delivered"


@pytest.mark.parametrize("told", ["delivered", "refused"])
def test_another_process_may_be_faster(
    server: FakeServer, state: Path, monkeypatch: pytest.MonkeyPatch, told: Status
) -> None:
    """Another process on the same state has sent it before this one could: submit finds out what it was told."""
    start = Delivery.start

    def late_start(self: Delivery) -> None:
        entry = self.waiting()
        assert entry is not None and entry.id is not None
        State(state).settle(entry.content, entry.id, told)
        start(self)

    with deniable.Client(LINK, state=state, transport=server) as client:
        monkeypatch.setattr(Delivery, "start", late_start)
        if told == "delivered":
            assert client.submit(ANSWERS, SEGMENTS).delivered
        else:
            with pytest.raises(deniable.Refused, match="another process") as caught:
                client.submit(ANSWERS, SEGMENTS)
            assert caught.value.status is None and caught.value.receipt.refused
    assert server.posts == []


def test_a_locked_state_does_not_hold_submit(server: FakeServer, state: Path) -> None:
    """If another process has locked the file, submit gives up within a second, with nothing written or sent."""
    with deniable.Client(LINK, state=state, transport=server) as client:
        holder = sqlite3.connect(state, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        started = time.monotonic()
        with pytest.raises(deniable.StateError, match="another process holds it"):
            client.submit(ANSWERS, SEGMENTS, timeout=0.1)
        assert time.monotonic() - started < 3
        assert client.receipt is None and server.posts == []  # reading is not held up
        holder.rollback()
        holder.close()
        assert client.submit(ANSWERS, SEGMENTS).delivered


def test_a_delivery_thread_survives_a_locked_state(server: FakeServer, state: Path) -> None:
    """The file is locked when the delivery is to be noted; once it is free, it is noted."""
    State(state)
    holder = sqlite3.connect(state, isolation_level=None, check_same_thread=False)

    def locks(request: Any) -> Scripted:
        holder.execute("BEGIN EXCLUSIVE")
        threading.Timer(0.5, holder.rollback).start()
        server.counted[receipt_id(request.body)] = request.body
        return 201, JSON, COUNTED

    with deniable.Client(LINK, state=state, transport=server) as client:
        server.replies = [locks]
        assert client.submit(ANSWERS, SEGMENTS).delivered
        assert client.flush(10)
    holder.close()
    assert len(server.posts) == 1
