"""submit: once per survey and device, within the budget, and never a trace of an answer."""

from __future__ import annotations

import contextlib
import pickle
import sqlite3
import struct
import subprocess
import sys
import threading
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest

import deniable
from deniable.state import exact_budget
from deniable_protocol import publish, survey_from_tree
from tests.helpers.fake_server import ANSWERS, DOCUMENT, PROBLEM, SEGMENTS, FakeServer, tree
from tests.helpers.surveys import several

LINK = "http://survey.test/s/campus-health"


def test_a_receipt_shows_what_was_sent(server: FakeServer) -> None:
    """The receipt has the id, digest, booklet, reports, segments and epsilon of the bytes that the server got."""
    with deniable.Client(LINK, transport=server) as client:
        receipt = client.submit(ANSWERS, SEGMENTS)
        assert receipt.delivered and not receipt.refused and receipt.trouble is None
        (body,) = server.posts
        sent = msgspec.json.decode(body)
        assert sent == {
            "id": receipt.id,
            "digest": receipt.digest,
            "booklet": 0,
            "reports": receipt.reports,
            "segments": receipt.segments,
        }
        assert (receipt.digest, receipt.epsilon, receipt.segments) == (client.digest, "1.5", SEGMENTS)
        assert receipt.booklet == 0 and [each.questions for each in receipt.sent] == [("q0",), ("q1",)]
        assert [each.report for each in receipt.sent] == receipt.reports
        assert client.receipt == receipt and hash(client.receipt) == hash(receipt)
        assert "Delivery" not in repr(receipt)
    assert body == msgspec.json.encode(sent)  # compact
    assert server.requests[-1].path == "http://survey.test/api/v1/surveys/campus-health/submissions"


def test_requests_identify_nobody(server: FakeServer) -> None:
    """Three headers at most, the same on every device: no cookie, no version, no language."""
    with deniable.Client(LINK, transport=server) as client:
        client.submit(ANSWERS, SEGMENTS)
    get, post = (request.headers for request in server.requests)
    assert get == {"Accept": "application/json", "User-Agent": "deniable"}
    assert post == {"Accept": "application/json", "User-Agent": "deniable", "Content-Type": "application/json"}


def test_bad_answers_leave_no_trace(server: FakeServer, state: Path) -> None:
    """Answers that do not fit are refused before anything is written or sent, and can be given again."""
    with deniable.Client(LINK, state=state, transport=server) as client:
        for answers, segments in (({"q0": 1}, SEGMENTS), (ANSWERS, {}), (ANSWERS, None), (None, SEGMENTS)):
            with pytest.raises(deniable.AnswerError):
                client.submit(answers, segments)  # type: ignore[arg-type]
        assert client.receipt is None and server.posts == []
        assert client.submit(ANSWERS, SEGMENTS).delivered


def test_a_second_answer_is_refused_with_the_first_receipt(server: FakeServer, state: Path) -> None:
    """The same client, a new one, or one at another address of the same document: only the first submission counts."""
    with deniable.Client(LINK, state=state, transport=server) as client:
        receipt = client.submit(ANSWERS, SEGMENTS)
        with pytest.raises(deniable.AlreadyAnswered) as caught:
            client.submit(ANSWERS, SEGMENTS)
        assert caught.value.receipt == receipt and caught.value.receipt.delivered
    for link in (LINK, "http://mirror.test/s/campus-health"):
        with deniable.Client(link, state=state, transport=server) as client:
            assert client.receipt == receipt
            with pytest.raises(deniable.AlreadyAnswered) as caught:
                client.submit(ANSWERS, SEGMENTS)
            assert caught.value.receipt == receipt
    assert len(server.posts) == 1


def test_without_a_state_each_client_is_a_device(server: FakeServer) -> None:
    """Without a state file, ledger and outbox end with the client."""
    for _ in range(2):
        with deniable.Client(LINK, transport=server) as client:
            client.submit(ANSWERS, SEGMENTS)
            with pytest.raises(deniable.AlreadyAnswered):
                client.submit(ANSWERS, SEGMENTS)
    assert len(server.counted) == 2


@pytest.mark.parametrize("shared", [True, False])
def test_of_many_threads_one_wins(server: FakeServer, state: Path, shared: bool) -> None:
    """Eight threads submit at once, on one client or on eight with one state: one submission, seven refusals."""
    clients = [deniable.Client(LINK, state=state, transport=server) for _ in range(1 if shared else 8)]
    barrier = threading.Barrier(8)
    results: list[str] = []

    def submit(number: int) -> None:
        barrier.wait()
        try:
            results.append(clients[number % len(clients)].submit(ANSWERS, SEGMENTS).id)
        except deniable.AlreadyAnswered as error:
            results.append(f"not {error.receipt.id}")

    threads = [threading.Thread(target=submit, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for client in clients:
        client.close()
    (winner,) = [result for result in results if not result.startswith("not")]
    assert sorted(results) == sorted([winner, *[f"not {winner}"] * 7])
    assert list(server.counted) == [winner]


RACER = """
import json, sys
import deniable
client = deniable.Client(sys.argv[1], state=sys.argv[2])
print("ready", flush=True)
sys.stdin.readline()
try:
    print(client.submit(*json.loads(sys.argv[3])).id)
except deniable.AlreadyAnswered as error:
    print("not", error.receipt.id)
client.close()
"""


def test_of_many_processes_one_wins(state: Path) -> None:
    """Four processes on one state submit at once: one submission, three refusals."""
    with FakeServer() as server:
        arguments = [server.link, str(state), msgspec.json.encode([ANSWERS, SEGMENTS]).decode()]
        racers = [
            subprocess.Popen(
                [sys.executable, "-c", RACER, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            for _ in range(4)
        ]
        for racer in racers:
            assert racer.stdout is not None and racer.stdout.readline() == "ready\n"
        for racer in racers:
            assert racer.stdin is not None
            racer.stdin.write("go\n")
            racer.stdin.flush()
        results = [racer.communicate(timeout=30)[0].strip() for racer in racers]
    (winner,) = [result for result in results if not result.startswith("not")]
    assert sorted(results) == sorted([winner, *[f"not {winner}"] * 3])
    assert list(server.counted) == [winner]


# Budgets


def priced(**epsilons: str) -> FakeServer:
    return FakeServer(*(publish(survey_from_tree(tree(name, [epsilon]))) for name, epsilon in epsilons.items()))


@pytest.mark.parametrize("budget", [0.3, "0.3", Decimal("0.3"), "0.30", "3e-1"])
def test_a_budget_is_exact(state: Path, budget: Any) -> None:
    """0.1 and 0.2 fit into 0.3, which doubles would deny; then 0.01 more does not, and nothing is written."""
    server = priced(aa="0.1", bb="0.2", cc="0.01")
    for name in ("aa", "bb"):
        with deniable.Client(f"http://survey.test/s/{name}", state=state, budget=budget, transport=server) as client:
            client.submit({"q0": True}, SEGMENTS)
    with deniable.Client("http://survey.test/s/cc", state=state, budget=budget, transport=server) as client:
        with pytest.raises(deniable.BudgetExceeded, match=r"spends 0.01, but 0.3 of the budget of 0.3 is") as caught:
            client.submit({"q0": True}, SEGMENTS)
        assert (caught.value.epsilon, caught.value.spent, caught.value.budget) == ("0.01", "0.3", "0.3")
        assert client.receipt is None
    assert len(server.posts) == 2


def test_a_booklet_spends_what_its_survey_states(state: Path) -> None:
    """Whatever booklet a device has, the ledger counts the survey's epsilon: 2 fits into 2, and not into 1.9999."""
    answers = {"vaped": True, "how_often": "weekly", "support": [], "stress": 2, "hours": 10}
    for budget, error in (("1.9999", deniable.BudgetExceeded), ("2", None)):
        link, server = "http://survey.test/s/joint", FakeServer(several())
        with deniable.Client(link, state=state, budget=budget, transport=server) as client:
            with pytest.raises(error) if error else contextlib.nullcontext():
                assert client.submit(answers, SEGMENTS).epsilon == "2.0"
            assert len(server.posts) == (0 if error else 1)


def test_a_refused_submission_is_spent(state: Path) -> None:
    """Reports that left the device count, even if the server did not want them."""
    server = priced(aa="1", bb="1")
    server.replies = [(200, {}, server.documents["aa"]), (409, PROBLEM, b'{"title": "Closed"}')]
    for name, error in (("aa", deniable.Refused), ("bb", deniable.BudgetExceeded)):
        client = deniable.Client(f"http://survey.test/s/{name}", state=state, budget=1, transport=server)
        with client, pytest.raises(error):
            client.submit({"q0": True}, SEGMENTS)


@pytest.mark.parametrize("budget", [-1, "-0.1", "x", "1/3", "nan", float("nan"), float("inf"), True, [], b"1"])
def test_a_budget_that_is_none_is_refused(budget: Any) -> None:
    """A budget is a finite decimal, and not negative."""
    with pytest.raises((TypeError, ValueError), match="budget"):
        exact_budget(budget)


def test_an_exceeded_budget_travels_between_processes() -> None:
    """The error survives pickling, which process pools do to errors."""
    error = pickle.loads(pickle.dumps(deniable.BudgetExceeded("1", "2", "2.5")))
    assert (error.epsilon, error.spent, error.budget) == ("1", "2", "2.5")
    assert str(error) == "this survey spends 1, but 2 of the budget of 2.5 is already spent"


# No trace of an answer

SECRET: dict[str, Any] = {
    "id": "campus-health",
    "title": "Secrets",
    "segments": tree()["segments"],
    "questions": [
        {"id": "pick", "type": "choice", "text": "?", "epsilon": "1",
         "options": [{"code": c, "text": c} for c in ("plain", "SECRETCODE")]},
        {"id": "amount", "type": "number", "text": "?", "epsilon": "1", "min": 0, "max": 10_000},
    ],
}  # fmt: skip
TRUTH = {"pick": "SECRETCODE", "amount": 7319.3719}


def test_only_documents_booklets_and_submissions_are_written(state: Path) -> None:
    """The file contains only the document, the booklet, the bytes that were sent, and what the ledger needs of them."""
    document = publish(survey_from_tree(SECRET))
    server = FakeServer(document)
    with deniable.Client(LINK, state=state, transport=server) as client:
        receipt = client.submit(TRUTH, SEGMENTS)
    assert [file.name for file in state.parent.iterdir()] == ["state.db"]
    address = "http://survey.test/api/v1/surveys/campus-health"
    connection = sqlite3.connect(state)
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert tables == {"documents", "booklets", "ledger"}
    assert list(connection.execute("SELECT * FROM documents")) == [(address, document)]
    assert list(connection.execute("SELECT * FROM booklets")) == [(receipt.digest, 0)]
    assert list(connection.execute("SELECT * FROM ledger")) == [
        (1, receipt.id, address, receipt.digest, "2", server.posts[0], "delivered")
    ]
    connection.close()
    content = state.read_bytes().replace(document[:40], b"")
    for trace in (b"7319", struct.pack("<d", 7319.3719), struct.pack(">d", 7319.3719), msgspec.json.encode(TRUTH)):
        assert trace not in content
    assert b"SECRETCODE" not in server.posts[0]


def test_no_error_repeats_an_answer(state: Path) -> None:
    """Whatever submit raises, its text, arguments and causes contain nothing of what was answered."""
    server = FakeServer(publish(survey_from_tree(SECRET)))
    caught: list[BaseException] = []

    def submit(answers: dict[str, Any], **options: Any) -> None:
        with deniable.Client(LINK, transport=server, **options) as client:
            try:
                client.submit(answers, SEGMENTS)
                client.submit(answers, SEGMENTS)
            except deniable.DeniableError as error:
                caught.append(error)

    submit(TRUTH | {"amount": 73193719})
    submit(TRUTH | {"pick": "SECRETCODE2"})
    submit(TRUTH, budget=1)
    submit(TRUTH, state=state)  # the second one
    server.replies = [(200, {}, server.documents["campus-health"]), (422, PROBLEM, b'{"title": "No", "detail": "no"}')]
    submit(TRUTH)
    with deniable.Client(LINK, state=state, transport=server) as client:
        state.write_bytes(b"no database" * 1000)
        with pytest.raises(deniable.StateError) as error:
            client.submit(TRUTH, SEGMENTS)
        caught.append(error.value)
    kinds = ["AnswerError", "AnswerError", "BudgetExceeded", "AlreadyAnswered", "Refused", "StateError"]
    assert [type(error).__name__ for error in caught] == kinds
    for error in caught:
        while error is not None:
            shown = f"{error!s}{error!r}{error.args!r}"
            assert "SECRETCODE" not in shown and "7319" not in shown
            error = error.__cause__ or error.__context__  # type: ignore[assignment]


def test_errors_are_one_tree() -> None:
    """Everything that the client raises on purpose is a DeniableError."""
    names = ["AddressError", "AlreadyAnswered", "AnswerError", "BudgetExceeded", "DocumentError", "NotDelivered"]
    for name in [*names, "Refused", "StateError", "Unreachable"]:
        assert issubclass(getattr(deniable, name), deniable.DeniableError)


def test_there_is_no_seed_in_the_client() -> None:
    """No parameter of the client could make what it sends predictable: two devices with one answer differ in id."""
    first, second = FakeServer(DOCUMENT), FakeServer(DOCUMENT)
    for server in (first, second):
        with deniable.Client(LINK, transport=server) as client:
            client.submit(ANSWERS, SEGMENTS)
    assert set(first.counted).isdisjoint(second.counted)
