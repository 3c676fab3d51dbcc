"""submit: once per survey and device, within the budget, and never a trace of an answer."""

from __future__ import annotations

import pickle
import sqlite3
import struct
import subprocess
import sys
import threading
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec
import pytest

import deniable
import deniable.state
from deniable.budget import exact_budget
from deniable_protocol import DEFAULT_BUDGET, Account, publish, survey_from_tree, verify
from tests.helpers.fake_server import ANSWERS, DOCUMENT, PROBLEM, SEGMENTS, FakeServer, tree
from tests.helpers.surveys import JOINT, JOINT_PARTS, several

LINK = "https://survey.test/s/campus-health"


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
        assert (receipt.digest, receipt.epsilon, receipt.delta) == (client.digest, "1.5", "0")
        assert receipt.segments == SEGMENTS
        assert receipt.booklet == 0 and [each.questions for each in receipt.sent] == [("q0",), ("q1",)]
        assert [each.report for each in receipt.sent] == receipt.reports
        assert client.receipt == receipt and hash(client.receipt) == hash(receipt)
        assert "Delivery" not in repr(receipt)
    assert body == msgspec.json.encode(sent)  # compact
    assert server.requests[-1].path == "https://survey.test/api/v1/surveys/campus-health/submissions"


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
    """The same client, a new one, or one at another address of the same survey: only the first submission counts."""
    with deniable.Client(LINK, state=state, transport=server) as client:
        receipt = client.submit(ANSWERS, SEGMENTS)
        with pytest.raises(deniable.AlreadyAnswered) as caught:
            client.submit(ANSWERS, SEGMENTS)
        assert caught.value.receipt == receipt and caught.value.receipt.delivered
    for link in (LINK, "https://mirror.test/s/campus-health", "https://survey.test/base/s/campus-health"):
        with deniable.Client(link, state=state, transport=server) as client:
            with pytest.raises(deniable.AlreadyAnswered) as caught:
                client.submit(ANSWERS, SEGMENTS)
            assert caught.value.receipt == client.receipt and caught.value.receipt.delivered
    assert len(server.posts) == 1


def test_the_same_survey_with_other_booklets_is_the_same_survey(state: Path) -> None:
    """Another document of a survey gets no second answer, and no second booklet before the first answer."""
    answers = {"vaped": True, "how_often": "weekly", "support": [], "stress": 2, "hours": 10}
    server = FakeServer(several())
    other = FakeServer(
        publish(survey_from_tree(JOINT), JOINT_PARTS, [([number], 1) for number in range(len(JOINT_PARTS))])
    )
    with deniable.Client("https://survey.test/s/joint", state=state, transport=server) as client:
        with pytest.raises(deniable.DocumentError) as refused:
            deniable.Client("https://mirror.test/s/joint", state=state, transport=other)
        assert refused.value.reason == "changed"
        client.submit(answers, SEGMENTS)
    with deniable.Client("https://mirror.test/again/s/joint", state=state, transport=other) as client:
        assert client.digest != verify(several()).digest and client.receipt is not None
        with pytest.raises(deniable.AlreadyAnswered):
            client.submit(answers, SEGMENTS)
    assert len(server.posts) == 1 and other.posts == []


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
            results.append(f"not {error.receipt.epsilon}")

    threads = [threading.Thread(target=submit, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for client in clients:
        client.close()
    (winner,) = [result for result in results if not result.startswith("not")]
    assert sorted(results) == sorted([winner, *["not 1.5"] * 7])
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
    print("not", error.receipt.epsilon)
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
    assert sorted(results) == sorted([winner, *["not 1.5"] * 3])
    assert list(server.counted) == [winner]


# Budgets


def priced(**epsilons: str) -> FakeServer:
    return FakeServer(*(publish(survey_from_tree(tree(name, [epsilon]))) for name, epsilon in epsilons.items()))


def with_delta(name: str, count: int, delta: str) -> bytes:
    """A survey whose questions are protected but for a chance of delta each."""
    own = {"type": "number", "min": 0, "max": 1, "mechanism": "gaussian", "epsilon": "0.1", "delta": delta}
    questions = [{"id": f"q{number}", "text": f"How much {number}?", **own} for number in range(count)]
    return publish(survey_from_tree({**tree(name), "questions": questions}))


@pytest.mark.parametrize("budget", [0.3, "0.3", Decimal("0.3"), "0.30", "3e-1", ("0.3", 0)])
def test_a_budget_is_exact(state: Path, budget: Any) -> None:
    """0.1 and 0.2 fit into 0.3, which doubles would deny; then 0.01 more does not, and nothing is asked."""
    server = priced(aa="0.1", bb="0.2", cc="0.01")
    for name in ("aa", "bb"):
        with deniable.Client(f"https://survey.test/s/{name}", state=state, budget=budget, transport=server) as client:
            client.submit({"q0": True}, SEGMENTS)
    with pytest.raises(deniable.BudgetExceeded, match=r"spends ε = 0.01, and ε = 0.3 is already spent") as caught:
        deniable.Client("https://survey.test/s/cc", state=state, budget=budget, transport=server)
    error = caught.value
    assert (error.account.epsilon, error.spent.epsilon, error.budget.epsilon) == (
        Fraction("0.01"),
        Fraction("0.3"),
        Fraction("0.3"),
    )
    assert len(server.posts) == 2


def test_a_survey_that_was_answered_opens_whatever_the_budget(state: Path) -> None:
    """What is spent is spent: the receipt can be read with a budget that would no longer allow it."""
    server = priced(aa="1")
    with deniable.Client("https://survey.test/s/aa", state=state, transport=server) as client:
        client.submit({"q0": True}, SEGMENTS)
    with deniable.Client("https://survey.test/s/aa", state=state, budget=0, transport=server) as client:
        assert client.receipt is not None and client.receipt.delivered


def test_the_budget_counts_when_submitting_too(state: Path) -> None:
    """Two surveys were opened while there was room for one: the second submission is refused, with nothing written."""
    server = priced(aa="1", bb="1")
    options: dict[str, Any] = {"state": state, "budget": 1, "transport": server}
    with (
        deniable.Client("https://survey.test/s/aa", **options) as first,
        deniable.Client("https://survey.test/s/bb", **options) as second,
    ):
        first.submit({"q0": True}, SEGMENTS)
        with pytest.raises(deniable.BudgetExceeded):
            second.submit({"q0": True}, SEGMENTS)
        assert second.receipt is None
    assert len(server.posts) == 1


def test_without_a_budget_a_device_spends_ten(state: Path) -> None:
    """Surveys of 4, 4 and 2 fit; one of 0.01 more is refused before anything is asked, unless the app allows it."""
    server = priced(aa="4", bb="4", cc="2", dd="0.01")
    for name in ("aa", "bb", "cc"):
        with deniable.Client(f"https://survey.test/s/{name}", state=state, transport=server) as client:
            client.submit({"q0": True}, SEGMENTS)
    with pytest.raises(deniable.BudgetExceeded, match=r"budget of ε = 10, δ = 0.000001$"):
        deniable.Client("https://survey.test/s/dd", state=state, transport=server)
    with deniable.Client("https://survey.test/s/dd", state=state, transport=server, budget=10.01) as client:
        client.submit({"q0": True}, SEGMENTS)
    huge = FakeServer(publish(survey_from_tree(tree(epsilons=["10"] * 200))))
    with pytest.raises(deniable.BudgetExceeded):
        deniable.Client(LINK, transport=huge)
    assert huge.posts == []


def test_the_budget_counts_delta(state: Path) -> None:
    """40 questions that each name the answer once in 10,000 times are refused, however small their epsilon."""
    server = FakeServer(
        with_delta("many", 40, "0.0001"), with_delta("one", 1, "0.000001"), with_delta("two", 1, "0.000001")
    )
    for budget in (None, 10, (10, "0.0039")):
        with pytest.raises(deniable.BudgetExceeded, match=r"δ = 0.004"):
            deniable.Client("https://survey.test/s/many", budget=budget, transport=server)
    with deniable.Client("https://survey.test/s/one", state=state, transport=server) as client:
        receipt = client.submit({"q0": 0.5}, SEGMENTS)
        assert (receipt.epsilon, receipt.delta) == ("0.1", "0.000001")
    with pytest.raises(deniable.BudgetExceeded, match=r"δ = 0.000001 is already spent"):
        deniable.Client("https://survey.test/s/two", state=state, transport=server)
    with deniable.Client("https://survey.test/s/two", state=state, budget=(1, 2e-6), transport=server) as client:
        assert client.submit({"q0": 0.5}, SEGMENTS).delivered


def test_a_booklet_spends_what_its_survey_states(state: Path) -> None:
    """Whatever booklet a device has, the ledger counts the survey's epsilon: 2 fits into 2, and not into 1.9999."""
    answers = {"vaped": True, "how_often": "weekly", "support": [], "stress": 2, "hours": 10}
    link, server = "https://survey.test/s/joint", FakeServer(several())
    with pytest.raises(deniable.BudgetExceeded):
        deniable.Client(link, state=state, budget="1.9999", transport=server)
    with deniable.Client(link, state=state, budget="2", transport=server) as client:
        assert client.submit(answers, SEGMENTS).epsilon == "2.0"


def test_a_refused_submission_is_spent(state: Path) -> None:
    """Reports that left the device count, even if the server did not want them."""
    server = priced(aa="1", bb="1")
    server.replies = [(200, {}, server.documents["aa"]), (409, PROBLEM, b'{"title": "Closed"}')]
    client = deniable.Client("https://survey.test/s/aa", state=state, budget=1, transport=server)
    with client, pytest.raises(deniable.Refused):
        client.submit({"q0": True}, SEGMENTS)
    with pytest.raises(deniable.BudgetExceeded):
        deniable.Client("https://survey.test/s/bb", state=state, budget=1, transport=server)


NO_BUDGETS = [
    -1,
    "-0.1",
    "x",
    "1/3",
    "nan",
    float("nan"),
    float("inf"),
    "1e999999999",
    True,
    [],
    b"1",
    (1,),
    (1, -1),
    (1, 2, 3),
]


@pytest.mark.parametrize("budget", NO_BUDGETS)
def test_a_budget_that_is_none_is_refused(budget: Any) -> None:
    """A budget is a finite decimal, and not negative, or two of them."""
    with pytest.raises((TypeError, ValueError), match="budget"):
        exact_budget(budget)


def test_what_a_budget_leaves_out_is_the_default() -> None:
    """None is the default budget; a number is an epsilon, with the default's delta."""
    assert exact_budget(None) == DEFAULT_BUDGET == Account(Fraction(10), Fraction(1, 10**6))
    assert exact_budget(2) == Account(Fraction(2), DEFAULT_BUDGET.delta)
    assert exact_budget((2.5, "1e-4")) == Account(Fraction(5, 2), Fraction(1, 10**4))


def test_an_exceeded_budget_travels_between_processes() -> None:
    """The error survives pickling, which process pools do to errors."""
    accounts = [exact_budget((1, 0)), exact_budget((2, "0.5")), exact_budget("2.5")]
    error = pickle.loads(pickle.dumps(deniable.BudgetExceeded(*accounts)))
    assert [error.account, error.spent, error.budget] == accounts
    more = "more than the budget of ε = 2.5, δ = 0.000001"
    assert str(error) == f"this survey spends ε = 1, and ε = 2, δ = 0.5 is already spent: {more}"


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
    """The file contains the document, the booklet, and while it waits the bytes to send; then only what they spent."""
    document = publish(survey_from_tree(SECRET))
    server = FakeServer(document)
    server.replies = [(200, {}, document), (503, {"Retry-After": "1"}, b"")]
    address = "https://survey.test/api/v1/surveys/campus-health"
    content = verify(document).content

    def written() -> list[list[tuple[Any, ...]]]:
        connection = sqlite3.connect(state)
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        assert tables == ["documents", "booklets", "tokens", "ledger", "seal"]
        rows = [connection.execute(f"SELECT * FROM {table}").fetchall() for table in tables]
        connection.close()
        assert [len(each) for each in rows.pop()] == [1]  # the seal
        assert rows.pop(2) == []  # tokens, which only a survey with invitations has
        return rows

    with deniable.Client(LINK, state=state, transport=server) as client:
        receipt = client.submit(TRUTH, SEGMENTS, timeout=0.1)
        kept = [(address, content, document)], [(content, receipt.digest, 0)]
        waits = (content, "2", "0", "waiting", receipt.id, address, server.posts[0], deniable.state.today())
        assert written() == [*kept, [waits]]
    assert [file.name for file in state.parent.iterdir()] == ["state.db"]
    assert written() == [*kept, [(content, "2", "0", "delivered", None, None, None, None)]]
    left = state.read_bytes().replace(document[:40], b"")
    assert receipt.id.encode() not in left
    for trace in (b"7319", struct.pack("<d", 7319.3719), struct.pack(">d", 7319.3719), msgspec.json.encode(TRUTH)):
        assert trace not in left
    assert b"SECRETCODE" not in server.posts[0]


def test_no_error_repeats_an_answer(state: Path) -> None:
    """Whatever submit raises, its text, arguments and causes contain nothing of what was answered."""
    server = FakeServer(publish(survey_from_tree(SECRET)))
    caught: list[BaseException] = []

    def submit(answers: dict[str, Any], **options: Any) -> None:
        try:
            with deniable.Client(LINK, transport=server, **options) as client:
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
