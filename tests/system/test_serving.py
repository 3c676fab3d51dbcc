"""A real server process: losses on the way, faults of the disk, signals, and what its files and logs reveal."""

from __future__ import annotations

import json
import math
import re
import resource
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server
from wsgiref.validate import validator

import pytest
from scipy.stats import spearmanr

import deniable
from deniable_protocol import Document, randomize, verify
from deniable_server import create_app
from deniable_server.settings import Settings
from deniable_server.storage import open_storage
from deniable_server.storage.sqlite.storage import SQLiteStorage
from deniable_server.storage.tokens import make_token
from deniable_server.web.submission_reader import SubmissionReader
from tests.helpers.machine import missing
from tests.helpers.servers import LossyProxy, Server, ask, free_port, running

SURVEY = "/api/v1/surveys/campus-health"
SUBMISSIONS = f"{SURVEY}/submissions"


@pytest.fixture
def database(tmp_path: Path, example: bytes) -> Path:
    """A database with the example survey."""
    path = tmp_path / "a.db"
    storage = open_storage(str(path))
    storage.publish(example)
    storage.close()
    return path


@pytest.fixture
def server(database: Path, tmp_path: Path) -> Iterator[Server]:
    with running(database, tmp_path / "server.log") as server:
        yield server


@pytest.fixture
def document(example: bytes) -> Document:
    return verify(example)


@pytest.fixture
def submit(document: Document, example_answers: dict[str, Any]) -> Callable[[], dict[str, Any]]:
    """Makes another submission."""
    return lambda: dict(randomize(document, example_answers, {"campus": "north"}))


def stored(database: Path) -> list[tuple[str, str]]:
    """Every stored submission: its id, and its content."""
    connection = sqlite3.connect(database)
    rows = connection.execute("SELECT hex(id), content FROM sealed UNION ALL SELECT hex(id), content FROM inbox")
    found = [(submission.lower(), content) for submission, content in rows]
    connection.close()
    return found


def check_sound(database: Path, submissions: int) -> None:
    """Statistics equal to a recount, and just so many submissions."""
    storage = open_storage(str(database))
    published = storage.find("campus-health")
    assert published is not None
    assert storage.verify() == []
    assert storage.statistics(published).submissions == submissions
    storage.close()


# --- nothing lost, nothing doubled -----------------------------------------------------------------------------------


def test_half_of_all_responses_lost(server: Server, tmp_path: Path, example_answers: dict[str, Any]) -> None:
    """With 50% of responses dropped on the way back, every respondent is counted once, with one body each.

    Each respondent has a state of their own on disk. The proxy keeps the bodies it passed on, by submission id. Each
    flush tries once more without a pause: that 100 of them all lose their response has probability 2^-100.
    """
    proxy = LossyProxy(server.port, loss=0.5, seed=20)
    people = 120

    def respond(person: int) -> str:
        url, state = f"http://127.0.0.1:{proxy.port}/s/campus-health", tmp_path / f"state-{person}.db"
        while True:
            try:
                client = deniable.Client(url, state=state, timeout=20)
                break
            except deniable.Unreachable:
                continue  # the document's response was lost, too
        with client:
            segments = {"campus": "north" if person % 2 else "south"}
            receipt = client.submit(example_answers, segments=segments, timeout=2)
            assert any(client.flush(2) for _ in range(100))
            assert receipt.delivered
            return receipt.id

    with ThreadPoolExecutor(16) as pool:
        ids = list(pool.map(respond, range(people)))
    proxy.close()
    bodies = defaultdict(set)
    for body in proxy.bodies:
        bodies[json.loads(body)["id"]].add(body)
    assert proxy.lost > 100 and len(proxy.bodies) > people
    assert sorted(bodies) == sorted(ids) and len(set(ids)) == people
    assert all(len(same) == 1 for same in bodies.values())
    server.stop()
    assert sorted(submission for submission, _ in stored(server.database)) == sorted(ids)
    check_sound(server.database, people)


def test_several_workers_share_one_database(
    database: Path, tmp_path: Path, submit: Callable[[], dict[str, Any]]
) -> None:
    """Two processes under 400 concurrent submissions, each sent twice: all counted once, metrics of both together."""
    with running(database, tmp_path / "server.log", "--workers", "2") as server:
        submissions = [submit() for _ in range(400)]
        with ThreadPoolExecutor(16) as pool:
            answers = list(pool.map(lambda one: ask(server.base + SUBMISSIONS, one), [*submissions, *submissions]))
        assert {answer.status for answer in answers} == {201}
        assert sum(answer.json["accepted"] for answer in answers) == 400
        metrics = ask(f"{server.base}/metrics").body.decode()
        assert re.search(r'deniable_submissions_total\{result="accepted"\} 400.0', metrics)
    check_sound(database, 400)


def test_sigterm_finishes_what_was_begun(database: Path, tmp_path: Path, submit: Callable[[], dict[str, Any]]) -> None:
    """Stopped under load, the server ends with status 0, all that it acknowledged is there, and no log is left."""
    acknowledged: list[str] = []
    with running(database, tmp_path / "server.log") as server:

        def post(one: dict[str, Any]) -> None:
            try:
                if ask(server.base + SUBMISSIONS, one).status == 201:
                    acknowledged.append(one["id"])
            except OSError:
                pass

        submissions = [submit() for _ in range(600)]
        with ThreadPoolExecutor(8) as pool:
            work = [pool.submit(post, one) for one in submissions]
            while len(acknowledged) < 100:
                time.sleep(0.005)
            assert server.stop() == 0
            for each in work:
                each.cancel()
    assert not Path(f"{database}-wal").exists()
    ids = [submission for submission, _ in stored(database)]
    assert len(ids) == len(set(ids)) and set(acknowledged) <= set(ids)
    check_sound(database, len(ids))


def test_a_disk_that_fills_up_and_is_freed(server: Server, submit: Callable[[], dict[str, Any]]) -> None:
    """While files cannot grow, submissions get 503 with Retry-After, nothing is stored, and reading goes on; afterwards
    the same submission is taken, by the same process.
    """
    kept, refused = submit(), submit()
    assert ask(server.base + SUBMISSIONS, kept).status == 201
    if sys.platform != "linux":
        missing("a system that can limit another process's files")
    (worker,) = server.workers()
    everything = resource.prlimit(worker, resource.RLIMIT_FSIZE)
    log = Path(f"{server.database}-wal").stat().st_size
    resource.prlimit(worker, resource.RLIMIT_FSIZE, (log, everything[1]))
    for _ in range(3):
        answer = ask(server.base + SUBMISSIONS, refused)
        assert answer.status == 503 and int(answer.headers["retry-after"]) > 0
        assert answer.headers["content-type"] == "application/problem+json"
    assert ask(f"{server.base}/readyz").status == 503
    assert ask(f"{server.base}/healthz").status == 200
    assert ask(server.base + SURVEY).status == 200
    assert [submission for submission, _ in stored(server.database)] == [kept["id"]]
    resource.prlimit(worker, resource.RLIMIT_FSIZE, everything)
    assert ask(server.base + SUBMISSIONS, refused).json == {"accepted": 1, "duplicates": 0}
    assert ask(f"{server.base}/readyz").status == 200
    server.stop()
    check_sound(server.database, 2)


def test_a_body_without_a_stated_length(database: Path, tmp_path: Path, submit: Callable[[], dict[str, Any]]) -> None:
    """Sent in chunks, a submission is stored, and too many bytes are refused as too large, as with a stated length."""
    with running(database, tmp_path / "server.log", "--max-body-bytes", "50000") as server:

        def post(body: bytes) -> int:
            head = f"POST {SUBMISSIONS} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n"
            chunks = [body[i : i + 50_000] for i in range(0, len(body), 50_000)]
            with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
                connection.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
                for chunk in chunks:
                    connection.sendall(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
                connection.sendall(b"0\r\n\r\n")
                return int(connection.makefile("rb").readline().split()[1])

        good = json.dumps(submit()).encode()
        assert post(good) == 201
        assert post(good + b" " * (50_000 - len(good))) == 201
        assert post(good + b" " * (50_001 - len(good))) == 413
        assert post(good + b" " * 200_000) == 413
    check_sound(database, 1)


def test_a_killed_server_takes_its_workers_along(server: Server, tmp_path: Path) -> None:
    """After SIGKILL of the parent its worker ends, the port is free, and a new server starts on the same database."""
    if sys.platform != "linux":
        missing("a system that ends children with their parent")
    (worker,) = server.workers()
    server.stop(signal.SIGKILL)
    deadline = time.monotonic() + 10
    while Path(f"/proc/{worker}").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not Path(f"/proc/{worker}").exists()
    with running(server.database, tmp_path / "again.log") as again:
        assert ask(again.base + SURVEY).status == 200


@pytest.mark.parametrize(("sig", "status"), [(signal.SIGTERM, 0), (signal.SIGKILL, -signal.SIGKILL)])
def test_a_server_can_be_stopped_while_its_workers_start(database: Path, tmp_path: Path, sig: int, status: int) -> None:
    """Stopped as soon as workers are forked, it takes them along, and sooner than after the 30 seconds that granian
    gives a worker which does not listen.
    """
    if sys.platform != "linux":
        missing("a system that tells of children")
    command = [sys.executable, "-m", "deniable_server", "serve", "--database", str(database), "--workers", "2"]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen([*command, "--bind", f"127.0.0.1:{free_port()}"], stdout=log, stderr=log)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    workers: list[str] = []
    while len(workers) < 2:
        workers = children.read_text().split()
        assert process.poll() is None
    process.send_signal(sig)
    try:
        assert process.wait(25) == status
    finally:
        process.kill()  # whatever it does, it is not left behind for other tests
        process.wait()
    deadline = time.monotonic() + 25
    while any(Path(f"/proc/{worker}").exists() for worker in workers):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_name_can_be_listened_at(database: Path, tmp_path: Path) -> None:
    """--bind localhost:PORT is looked up; a name that is nowhere gets a message."""
    port = free_port()
    log = tmp_path / "server.log"
    with log.open("wb") as output:
        command = [sys.executable, "-m", "deniable_server", "serve", "--database", str(database)]
        process = subprocess.Popen([*command, "--bind", f"localhost:{port}"], stdout=output, stderr=output)
    deadline = time.monotonic() + 30
    while "Listening" not in log.read_text() and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.02)
    process.terminate()
    assert process.wait(timeout=60) == 0, log.read_text()
    result = serve("--database", str(database), "--bind", "no.such.host.invalid:8000")
    assert result.returncode == 1 and "use an IP address" in " ".join(result.stderr.split())


# --- starting --------------------------------------------------------------------------------------------------------


def serve(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "deniable_server", "serve", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_a_taken_port_is_said_plainly(database: Path) -> None:
    """One message with the address and what to do, status 1, no traceback."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        bind = f"127.0.0.1:{listener.getsockname()[1]}"
        result = serve("--database", str(database), "--bind", bind)
    said = " ".join(result.stderr.split())
    assert result.returncode == 1 and "Traceback" not in said
    assert f"Cannot listen at {bind}: Address already in use" in said and "--bind" in said


def test_an_unknown_schema_is_refused_at_start(database: Path) -> None:
    """A newer database stops the start with what to do, and is left as it is."""
    connection = sqlite3.connect(database)
    connection.execute("INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES ('deniable', 'm9', '')")
    connection.commit()
    connection.close()
    result = serve("--database", str(database), "--bind", f"127.0.0.1:{free_port()}")
    said = " ".join(result.stderr.split())
    assert result.returncode == 1 and "Traceback" not in said
    assert "newer Deniable" in said and "Install that version" in said


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--bind", "nowhere"], "takes HOST:PORT"),
        (["--rate-limit", "lots"], "60/minute"),
        (["--base-path", "/a b"], "such as /surveys"),
        (["--trusted-proxies", "many"], "whole number"),
    ],
)
def test_a_wrong_setting_is_said_plainly(database: Path, flags: list[str], message: str) -> None:
    """Each message names the flag and what it takes."""
    result = serve("--database", str(database), *flags)
    assert result.returncode == 1 and "Traceback" not in result.stderr
    assert message in " ".join(result.stderr.split())


def test_it_runs_under_another_wsgi_server(database: Path, submit: Callable[[], dict[str, Any]]) -> None:
    """The standard library's server, with the standard library's validator of the WSGI rules between."""

    class Quiet(WSGIRequestHandler):
        def log_message(self, *args: object) -> None:
            pass

    app = create_app(Settings(database=str(database)))
    with make_server("127.0.0.1", 0, validator(app), handler_class=Quiet) as other:
        thread = threading.Thread(target=other.serve_forever)
        thread.start()
        base = f"http://127.0.0.1:{other.server_port}"
        assert ask(base + SURVEY).status == 200
        assert ask(base + SUBMISSIONS, submit()).json == {"accepted": 1, "duplicates": 0}
        assert ask(base + SUBMISSIONS, b"{").status == 400
        assert ask(base + "/nowhere").status == 404
        other.shutdown()
        thread.join()
    app.extensions["deniable"].storage.close()


# --- nobody identified -----------------------------------------------------------------------------------------------


def test_logs_are_useful_and_tell_of_nobody(
    database: Path, tmp_path: Path, submit: Callable[[], dict[str, Any]]
) -> None:
    """Starting, stopping and closing are logged; single requests are not."""
    storage = open_storage(str(database))
    secret, _ = make_token(storage, "admin", "")
    storage.close()
    log = tmp_path / "server.log"
    with running(database, log) as server:
        lines = len(log.read_text().splitlines())
        for _ in range(50):
            assert ask(server.base + SUBMISSIONS, submit()).status == 201
            assert ask(server.base + SUBMISSIONS, b"{").status == 400
        assert len(log.read_text().splitlines()) == lines
        assert ask(f"{server.base}{SURVEY}/close", b"", {"Authorization": f"Bearer {secret}"}).status == 200
    text = log.read_text()
    assert f"http://127.0.0.1:{server.port}" in text
    assert "Closed campus-health" in text
    assert "Stopped" in text


def test_arrival_order_is_not_stored(tmp_path: Path, example: bytes, example_answers: dict[str, Any]) -> None:
    """Over 10,000 submissions, arrival correlates neither with the order in the table nor with the place in the file.

    Spearman's correlation of independent orders is normal with variance 1/(n-1): beyond 4.9 standard deviations is a
    false alarm of less than 10^-6. After closing, the order within each page is tested too: page by page it must be
    random, and the sum over pages of the standardised correlations is normal again.
    """
    path, people = tmp_path / "order.db", 10_000
    storage = SQLiteStorage(path)
    storage.publish(example)
    published = storage.find("campus-health")
    assert published is not None
    intake = SubmissionReader(published.document)
    rows = [
        intake.read(json.dumps(randomize(published.document, example_answers, {"campus": "north"})).encode()).rows[0]
        for _ in range(people)
    ]
    for row in rows:
        storage.accept(published, [row])
    arrival = {row.id: i for i, row in enumerate(rows)}

    def correlations() -> tuple[float, float]:
        connection = sqlite3.connect(path)
        listed = [arrival[bytes(submission)] for (submission,) in connection.execute("SELECT id FROM sealed")]
        connection.close()
        return (
            float(spearmanr(range(people), listed).statistic) * math.sqrt(people - 1),
            float(spearmanr(range(people), places()).statistic) * math.sqrt(people - 1),
        )

    def places() -> list[int]:
        content = path.read_bytes()
        assert Path(f"{path}-wal").stat().st_size == 0
        found = [content.find(row.id) for row in rows]
        assert min(found) > 0
        return found

    storage.fold(published)
    assert all(abs(z) < 4.9 for z in correlations())
    storage.close_survey(published)
    assert all(abs(z) < 4.9 for z in correlations())
    pages = defaultdict(list)
    for i, place in enumerate(places()):
        pages[place // 4096].append((place, i))
    scores = [
        float(spearmanr(*zip(*page, strict=True)).statistic) * math.sqrt(len(page) - 1)
        for page in pages.values()
        if len(page) > 20
    ]
    assert len(scores) > 50
    assert abs(sum(scores)) / math.sqrt(len(scores)) < 4.9
    storage.close()
    check_sound(path, people)
