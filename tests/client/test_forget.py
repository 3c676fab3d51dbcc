"""forget: a device that knows nothing of a survey any more, and never at the price of a submission."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

import pytest

import deniable
from tests.helpers.fake_server import ANSWERS, DOCUMENT, JSON, PROBLEM, SEGMENTS, FakeServer
from tests.helpers.surveys import joint

LINK = "https://survey.test/s/campus-health"


def rows(state: Path) -> dict[str, int]:
    connection = sqlite3.connect(state)
    tables = ("documents", "booklets", "ledger", "tokens")
    counts = {table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables}
    connection.close()
    return counts


def test_a_forgotten_survey_leaves_nothing(server: FakeServer, state: Path) -> None:
    """Document, booklet and ledger entry are gone, from every address of the survey and from the file's bytes."""
    with deniable.Client("https://mirror.test/s/campus-health", state=state, transport=server):
        pass
    with deniable.Client(LINK, state=state, transport=server) as client:
        receipt = client.submit(ANSWERS, SEGMENTS)
        assert rows(state) == {"documents": 2, "booklets": 1, "ledger": 1, "tokens": 0}
        client.forget()
    assert rows(state) == {"documents": 0, "booklets": 0, "ledger": 0, "tokens": 0}
    content = state.read_bytes()
    for trace in (receipt.id, receipt.digest, "survey.test", "mirror.test", "Which campus?", "north"):
        assert trace.encode() not in content


def test_a_forgotten_survey_can_be_answered_again(server: FakeServer, state: Path) -> None:
    """A new client takes a second answer, and a budget no longer counts the first."""
    for _ in range(3):
        with deniable.Client(LINK, state=state, transport=server, budget="1.5") as client:
            assert client.receipt is None and client.submit(ANSWERS, SEGMENTS).delivered
            client.forget()
    assert len(server.counted) == 3


def test_other_surveys_are_kept(state: Path) -> None:
    """Forgetting one survey leaves the booklet and the receipt of another as they are."""
    server = FakeServer(DOCUMENT, joint())
    with deniable.Client("https://survey.test/s/joint", state=state, transport=server) as other:
        booklet = other.booklet
        with deniable.Client(LINK, state=state, transport=server) as client:
            receipt = client.submit(ANSWERS, SEGMENTS)
        with deniable.Client("https://survey.test/s/joint", state=state, transport=server) as again:
            again.forget()
    assert rows(state) == {"documents": 1, "booklets": 1, "ledger": 1, "tokens": 0}
    assert other.booklet == booklet
    with deniable.Client(LINK, state=state, transport=server) as client:
        assert receipt.delivered and client.receipt is not None and client.receipt.delivered


def test_nothing_that_waits_is_forgotten(server: FakeServer, state: Path) -> None:
    """While the submission is in the outbox, forgetting is refused with its receipt; once delivered, it works."""
    server.replies = [(200, JSON, DOCUMENT), *[(503, {"Retry-After": "3600"}, b"")]]
    with deniable.Client(LINK, state=state, transport=server) as client:
        receipt = client.submit(ANSWERS, SEGMENTS, timeout=0.1)
        with pytest.raises(deniable.NotDelivered, match="still waits") as caught:
            client.forget()
        assert caught.value.receipt == receipt and rows(state) == {
            "documents": 1,
            "booklets": 1,
            "ledger": 1,
            "tokens": 0,
        }
        client.close(0)
    with deniable.Client(LINK, state=state, transport=server) as client:
        assert client.receipt == receipt and client.flush(10)
        client.forget()
    assert len(server.counted) == 1 and rows(state) == {"documents": 0, "booklets": 0, "ledger": 0, "tokens": 0}


def test_what_waits_is_forgotten_if_the_app_says_so(server: FakeServer, state: Path) -> None:
    """With unsent=True the submission is dropped as well, and nothing of it is sent again, here or later."""
    server.replies = [(200, JSON, DOCUMENT), *[(503, {"Retry-After": "1"}, b"")]]
    with deniable.Client(LINK, state=state, transport=server) as client:
        receipt = client.submit(ANSWERS, SEGMENTS, timeout=0.1)
        client.forget(unsent=True)
        assert not receipt.delivered and client.receipt is None
    assert rows(state) == {"documents": 0, "booklets": 0, "ledger": 0, "tokens": 0}
    with deniable.Client(LINK, state=state, transport=server) as client:
        time.sleep(1.2)
        assert client.flush(0) and client.receipt is None
    assert len(server.posts) == 1 and receipt.id.encode() not in state.read_bytes()


def test_what_the_server_refused_can_be_forgotten(server: FakeServer, state: Path) -> None:
    """A refused submission waits for nothing."""
    server.replies = [(200, JSON, DOCUMENT), (409, PROBLEM, b'{"title": "Closed"}')]
    with deniable.Client(LINK, state=state, transport=server) as client:
        with pytest.raises(deniable.Refused):
            client.submit(ANSWERS, SEGMENTS)
        client.forget()
    assert rows(state) == {"documents": 0, "booklets": 0, "ledger": 0, "tokens": 0}


def test_a_receipt_outlives_what_is_forgotten(server: FakeServer, state: Path) -> None:
    """Whoever holds a receipt still reads from it that the submission was delivered, also one of an earlier process."""
    with deniable.Client(LINK, state=state, transport=server) as client:
        client.submit(ANSWERS, SEGMENTS)
    with deniable.Client(LINK, state=state, transport=server) as client:
        receipt = client.receipt
        client.forget()
        assert receipt is not None and receipt.delivered and not receipt.refused and client.receipt is None


def test_forgetting_closes_the_client(server: FakeServer) -> None:
    """A client whose booklet is forgotten submits nothing more: a new one draws a new booklet."""
    client = deniable.Client(LINK, transport=server)
    client.forget()
    for call in (lambda: client.submit(ANSWERS, SEGMENTS), client.forget):
        with pytest.raises(RuntimeError, match="closed"):
            call()
