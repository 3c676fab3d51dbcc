"""Results are computed apart from those who answer: bounded, once for equal questions, and stopped in time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from deniable_protocol import Problem, SurveyError, randomize, verify
from deniable_server import create_app
from deniable_server.errors import BadQuery, Kind, Refusal, Unavailable
from deniable_server.serving.computing import NICE
from deniable_server.settings import Settings
from deniable_server.storage.tokens import make_token
from deniable_server.web import computing
from deniable_server.web.computing import Computing, perform
from tests.helpers.computed import about_itself
from tests.helpers.machine import ROOT
from tests.helpers.servers import storage_of
from tests.helpers.sign_in import enter

API, PAGE = "/api/v1/surveys/campus-health", "/surveys/campus-health"
ESTIMATES = f"{API}/estimates"


class Gate:
    """A computation that waits until it is let through; counts how often it ran."""

    def __init__(self) -> None:
        self.began, self.open, self.runs = threading.Semaphore(0), threading.Event(), 0

    def __call__(self) -> str:
        self.runs += 1
        self.began.release()
        assert self.open.wait(20)
        return "done"

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, ("gate",)  # in a question; it is called in place


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest.fixture
def pool(settings: Settings) -> Computing:
    return Computing(settings, in_place=True)


class Asked(threading.Thread):
    """A reader who waits in a thread; ``answer`` is what it gets."""

    def __init__(self, pool: Computing, function: Callable[[], Any], state: Callable[[], Any] = tuple) -> None:
        super().__init__(daemon=True)
        self.answer: Any = None
        self._question = pool, function, state
        self.start()

    def run(self) -> None:
        pool, function, state = self._question
        try:
            self.answer = pool.ask(function, root="", state=state)
        except Refusal as refusal:
            self.answer = refusal

    def result(self, seconds: float = 20) -> Any:
        self.join(seconds)
        return self.answer


def until_waiting(pool: Computing, number: int) -> None:
    deadline = time.monotonic() + 20
    while pool._waiting != number:
        assert time.monotonic() < deadline
        time.sleep(0.001)


def test_equal_questions_are_computed_once(pool: Computing, gate: Gate) -> None:
    """Those who ask the same at the same time wait for one computation; later ones get what is kept."""
    readers = [Asked(pool, gate) for _ in range(5)]
    until_waiting(pool, 5)
    gate.open.set()
    assert [reader.result() for reader in readers] == ["done"] * 5
    assert pool.ask(gate, root="", state=tuple) == "done"
    assert gate.runs == 1


def test_an_answer_is_never_older_than_the_question(pool: Computing, gate: Gate) -> None:
    """One who asks after the survey has changed does not get what was begun before, nor what is kept from before."""
    state = [1]
    first = Asked(pool, gate, lambda: state[0])
    assert gate.began.acquire(timeout=20)
    state[0] = 2
    later = [Asked(pool, gate, lambda: state[0]) for _ in range(3)]
    until_waiting(pool, 4)
    gate.open.set()
    assert [reader.result() for reader in (first, *later)] == ["done"] * 4
    assert gate.runs == 2
    state[0] = 3
    assert pool.ask(gate, root="", state=lambda: state[0]) == "done"
    assert gate.runs == 3


def test_only_so_many_readers_wait(pool: Computing, gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next one is told at once to come back: threads are left for those who answer."""
    monkeypatch.setattr(computing, "WAITING", 3)
    readers = [Asked(pool, gate) for _ in range(3)]
    until_waiting(pool, 3)
    refusal = Asked(pool, gate).result(10)
    assert isinstance(refusal, Refusal), "it waits, too"
    assert refusal.kind is Kind.BUSY and int(refusal.headers["Retry-After"]) >= 1
    gate.open.set()
    assert [reader.result() for reader in readers] == ["done"] * 3
    until_waiting(pool, 0)


def test_nobody_waits_for_ever_for_a_turn(pool: Computing, gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    """One who has waited too long for another computation is told to come back."""
    monkeypatch.setattr(computing, "SECONDS", 0.05)
    first = Asked(pool, gate)
    assert gate.began.acquire(timeout=20)
    assert Asked(pool, time.time).result().kind is Kind.BUSY
    gate.open.set()
    assert first.result() == "done"


def test_kept_answers_are_bounded_in_bytes(pool: Computing, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those used last stay; what does not fit at all is not kept, and no answer is larger than its limit."""
    monkeypatch.setattr(computing, "KEPT_BYTES", 2_500)
    for number in (1, 2, 1, 3):
        assert len(pool.ask(bytes, 1_000 + number, root="", state=tuple)) == 1_000 + number
    kept = [len(outcome.content) for _, outcome in pool._kept._answers.values()]
    assert kept == [1_001, 1_003] and pool._kept._size <= 2_500
    pool.ask(bytes, 5_000, root="", state=tuple)
    assert pool._kept._size == 0
    monkeypatch.setattr(computing, "MOST_BYTES", 100)
    with pytest.raises(BadQuery, match="Ask for less"):
        pool.ask(bytes, 101, root="", state=tuple)


@pytest.mark.parametrize(
    "error",
    [
        BadQuery("by takes a segment"),
        SurveyError([Problem("id", "missing", "missing"), Problem("title", "missing", "missing")]),
        Refusal(Kind.BUSY, "later", {"Retry-After": "5"}),
    ],
)
def test_errors_come_back_as_they_were(error: Exception) -> None:
    """What a computation refuses arrives whole, with all its parts."""

    def fail() -> None:
        raise error

    with pytest.raises(type(error)) as caught:
        perform(fail).give()
    assert str(caught.value) == str(error)
    assert vars(caught.value) == vars(error)


def test_trouble_with_the_database_is_not_kept(pool: Computing) -> None:
    """The next one who asks may have more luck."""

    def fail() -> None:
        raise Unavailable("locked")

    pool._kept.keep(b"question", 1, perform(fail))
    assert pool._kept.find(b"question", 1) is None
    pool._kept.keep(b"question", 1, perform(str))
    assert pool._kept.find(b"question", 1) == perform(str)


# --- over HTTP -------------------------------------------------------------------------------------------------------


def test_everything_that_takes_time_is_computed_apart(
    http: FlaskClient, app: Flask, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While computing is full, results, their pages and tables, plans and publishing come back later, as documents and
    as pages; what respondents use is answered.
    """
    enter(http, app, "admin")
    secret, _ = make_token(storage_of(app), "admin", "")
    admin = {"Authorization": f"Bearer {secret}"}
    monkeypatch.setattr(computing, "WAITING", 0)
    for path in (
        ESTIMATES,
        f"{ESTIMATES}.csv",
        f"{API}/compare?question=vaped&by=campus",
        f"{API}/crosstab?rows=vaped&columns=stress",
        f"{API}/regression?question=vaped&on=campus",
        PAGE,
        f"{PAGE}/compare?question=vaped&by=campus",
        f"{PAGE}/crosstab?rows=vaped&columns=stress",
    ):
        response = http.get(path, headers={"Accept": "text/html"})
        assert response.status_code == 503 and response.headers["Retry-After"] == "5", path
    text = (root / "server" / "deniable_server" / "example.toml").read_bytes()
    for path in ("/api/v1/plan", "/api/v1/surveys"):
        assert http.post(path, data=text, content_type="application/toml", headers=admin).status_code == 503, path
    for path in (API, "/s/campus-health", f"{PAGE}/compare", "/"):
        assert http.get(path).status_code == 200, path


def test_what_changes_a_survey_changes_its_results(
    http: FlaskClient, app: Flask, example: bytes, example_answers: dict[str, Any]
) -> None:
    """A submission, holding results back, and closing are seen at once, whatever is kept."""
    storage, document = storage_of(app), verify(example)
    enter(http, app, "admin")
    published = storage.find("campus-health")
    assert published is not None

    def seen(name: str) -> Any:
        return (http.get(ESTIMATES).json or {})[name]

    assert seen("submissions") == 0
    sent = randomize(document, example_answers, {"campus": "north"})
    assert http.post(f"{API}/submissions", json=sent).status_code == 201
    assert seen("submissions") == 1
    storage.hold_results(published, None)
    assert seen("status") == 403
    storage.hold_results(published, 0)
    assert seen("status") == "open"
    storage.close_survey(published)
    assert seen("status") == "closed"


def test_a_database_that_cannot_be_shared_is_read_in_place(
    settings: Settings, example: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where locks do nothing, no second process opens the database."""
    monkeypatch.setattr(computing, "PROCESSES", 1)
    monkeypatch.setattr("fcntl.lockf", lambda *_: None)  # it says yes and does nothing, as with NFS and nolock
    app = create_app(settings)
    storage_of(app).publish(example)
    assert asked(app, os.getpid) == os.getpid()
    storage_of(app).close()


# --- real processes --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory, example: bytes) -> Iterator[Flask]:
    """An app with a computing process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(computing, "PROCESSES", 1)
        patch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)
        app = create_app(Settings(database=str(tmp_path_factory.mktemp("apart") / "a.db")))
    storage_of(app).publish(example)
    yield app
    app.extensions["deniable"].computing._turns.queue[0].stop()
    storage_of(app).close()


def asked(app: Flask, function: Callable[..., Any], *given: object) -> Any:
    """What a function gives in the computing process, whatever is kept."""
    return app.extensions["deniable"].computing.ask(function, *given, root="", state=object)


def test_a_computing_process_has_nothing_of_ours(apart: Flask) -> None:
    """It is another process of lower priority, with database connections of its own, one socket, and not our key. What
    it computes may compute more.
    """
    found = asked(apart, about_itself)
    assert found["pid"] != os.getpid() and found["nice"] == min(19, os.nice(0) + NICE)
    assert found["sockets"] == 1 and found["survey"] and found["nested"] == 7
    assert found["key"] != apart.extensions["deniable"].secret_key


@pytest.mark.parametrize("path", [PAGE, f"{PAGE}/crosstab?rows=vaped&columns=stress"])
def test_pages_come_out_the_same_from_another_process(apart: Flask, app: Flask, path: str) -> None:
    """To the last byte, but for the word in the form; links have the path that the app is served under."""
    pages = []
    for each in (apart, app):
        http = each.test_client()
        enter(http, each)
        text = http.get(path, base_url="http://localhost/polls/").text
        pages.append(text.replace(text.partition('name="word" value="')[2][:64], ""))
    assert pages[0] == pages[1] and f"/polls{PAGE}" in pages[0]


def test_a_computation_that_takes_too_long_is_stopped(apart: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is answered 503, its process ends, and the next question gets a new one."""
    pid = asked(apart, os.getpid)
    with monkeypatch.context() as patch:
        patch.setattr(computing, "SECONDS", 0.2)
        with pytest.raises(Refusal) as refused:
            asked(apart, time.sleep, 10)
    assert refused.value.kind is Kind.BUSY
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert asked(apart, os.getpid) != pid


def test_a_computing_process_that_died_is_started_again(apart: Flask) -> None:
    """Nobody notices; a computation that ends its process twice is refused."""
    os.kill(pid := asked(apart, os.getpid), signal.SIGKILL)
    assert asked(apart, os.getpid) != pid
    with pytest.raises(Refusal) as refused:
        asked(apart, os._exit, 1)
    assert refused.value.kind is Kind.BUSY


def test_a_bug_in_a_computation_says_nothing(apart: Flask) -> None:
    """It is a 500, and its process goes on."""
    pid = asked(apart, os.getpid)
    with pytest.raises(Refusal) as refused:
        asked(apart, int, "canary")
    assert refused.value.kind is Kind.INTERNAL and "canary" not in str(refused.value)
    assert asked(apart, os.getpid) == pid


def test_a_computing_process_ends_with_its_parent(tmp_path: Path) -> None:
    """Also in the middle of a computation, and also where the parent is killed."""
    program = (
        "import os, time\n"
        "from deniable_server.settings import Settings\n"
        "from deniable_server.storage import open_storage\n"
        "from deniable_server.web.computing import Computing\n"
        f"settings = Settings(database={str(tmp_path / 'a.db')!r})\n"
        "open_storage(settings.database).close()\n"
        "ask = lambda *question: Computing.ask(pool, *question, root='', state=object)\n"
        "pool = Computing(settings)\n"
        "print(ask(os.getpid), flush=True)\n"
        "ask(time.sleep, 60)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    with parent.stdout as output:
        child = int(output.readline())
    time.sleep(0.2)
    parent.kill()
    parent.wait()
    deadline = time.monotonic() + 20
    while Path(f"/proc/{child}").exists() and ") Z " not in Path(f"/proc/{child}/stat").read_text():
        assert time.monotonic() < deadline
        time.sleep(0.02)
