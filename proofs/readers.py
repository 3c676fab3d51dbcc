"""Many readers, and one who answers: results cost those who send submissions next to nothing.

A survey with as many combinations of segment codes as can be published is filled. Then respondents load it and send
submissions, one after the other, in turns: alone; and while sixteen readers ask for estimates by every segment, with
distributions, and dashboards are open. Both are timed in the same run, in short turns, so that what else the machine
does falls on both.
"""

from __future__ import annotations

import http.client
import itertools
import json
import os
import random
import secrets
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from deniable_protocol import publish, randomize, survey_from_tree, verify
from deniable_server.storage import open_storage
from deniable_server.storage.tokens import make_token
from tests.helpers.servers import Server, ask, collector, let_collect, running

from . import Outcome, Watch

SURVEY = "readers"
API = f"/api/v1/surveys/{SURVEY}"
TOO_MANY = (60, 12, 15, 6)
"""Codes of four ordinary segments: more combinations than can be published."""
MOST = (25, 20, 20)
"""As many as can be."""
READERS = 16
DASHBOARDS = 2
SLOWER = 3.0
"""How many times as long a respondent's request may take, in the middle."""
MEMORY = 600 * 10**6
"""Bytes that all processes of the server may have, together."""
BATCH = 2_000


def prove(
    folder: Path,
    watch: Watch,
    seed: int,
    *,
    codes: tuple[int, ...] = MOST,
    questions: int = 20,
    rounds: int,
    turn: float,
    slower: float | None = SLOWER,
) -> Outcome:
    """So many turns of ``turn`` seconds each, alone and among readers. ``slower``: how many times as long a request may
    take among readers; None where the turns are too few to tell.
    """
    chance = random.Random(seed)
    document = publish(survey_from_tree(survey(SURVEY, codes, questions)))
    storage = open_storage(str(folder / "a.db"))
    storage.publish(document)
    let_collect(storage, SURVEY)
    token, _ = make_token(storage, "admin", "readers")
    storage.close()
    failures: list[str] = []
    with running(folder / "a.db", folder / "server.log") as server:
        admin = {"Authorization": f"Bearer {token}"}
        tree = survey("too-many", TOO_MANY, questions)
        refused = ask(f"{server.base}/api/v1/surveys", tree, admin)
        if refused.status != 422:
            failures.append(f"a survey with {_product(TOO_MANY):,} combinations was answered {refused.status}, not 422")
        combinations = _fill(server, document, codes, chance)
        figures = _turns(server, document, admin, watch, rounds, turn, chance, codes)
    for what in ("survey", "submission"):
        if slower is not None and figures[f"{what}: median, times alone"] > slower:
            failures.append(f"a respondent's {what} took {figures[f'{what}: median, times alone']} times as long")
    if figures["memory, most bytes"] > MEMORY:
        failures.append(f"the server had {figures['memory, most bytes']:,} bytes")
    failures += figures.pop("failures")
    return Outcome({"combinations": combinations, **figures}, failures)


def survey(name: str, codes: tuple[int, ...], questions: int) -> dict[str, Any]:
    """Half of the questions are numbers, whose distribution takes most to estimate."""

    def options(number: int) -> list[dict[str, str]]:
        return [{"code": f"c{i}", "text": f"Option {i}"} for i in range(number)]

    segments = [{"id": f"s{i}", "text": f"Segment {i}?", "options": options(n)} for i, n in enumerate(codes)]
    kinds: list[dict[str, Any]] = [{"type": "number", "min": 0, "max": 40}, {"type": "choice", "options": options(6)}]
    asked = [
        {"id": f"q{i}", "text": f"Question {i}?", "epsilon": "1", **kinds[i % len(kinds)]} for i in range(questions)
    ]
    return {"id": name, "title": "Readers", "segments": segments, "questions": asked}


def _product(codes: tuple[int, ...]) -> int:
    return len([*itertools.product(*map(range, codes))])


def _submissions(document: bytes, chance: random.Random) -> Iterator[dict[str, Any]]:
    """For ever: reports of the real randomiser, each time under another id."""
    known = verify(document)
    asked = known.survey.questions
    answers = {question.id: 12.5 if question.type == "number" else "c1" for question in asked}
    segments = {segment.id: segment.options[0].code for segment in known.survey.segments}
    made = [dict(randomize(known, answers, segments)) for _ in range(200)]
    while True:
        yield {**chance.choice(made), "id": secrets.token_hex(16)}


def _fill(server: Server, document: bytes, codes: tuple[int, ...], chance: random.Random) -> int:
    """A submission for each combination."""
    bodies = _submissions(document, chance)
    combinations = [*itertools.product(*map(range, codes))]
    for start in range(0, len(combinations), BATCH):
        batch = [
            {**next(bodies), "segments": {f"s{i}": f"c{code}" for i, code in enumerate(some)}}
            for some in combinations[start : start + BATCH]
        ]
        answer = ask(f"{server.base}{API}/submissions", {"submissions": batch}, collector(SURVEY))
        assert answer.status == 201, answer
    return len(combinations)


class _Readers:
    """Threads that read without a pause while they are let; each asks for something of its own, again and again."""

    def __init__(self, server: Server, headers: dict[str, str], codes: tuple[int, ...]) -> None:
        self.answers: dict[int, int] = {}
        self.longest = 0.0
        self._server, self._headers = server, headers
        self._reading, self._ended = threading.Event(), False
        self._lock = threading.Lock()
        paths = [
            f"{API}/estimates?by=s{i % len(codes)}&distribution=1&confidence={0.8 + i / 100}" for i in range(READERS)
        ]
        self._threads = [threading.Thread(target=self._read, args=(path, 0.0)) for path in paths]
        # An open dashboard asks again every 15 seconds: these stand for a few more.
        pages = [f"/surveys/{SURVEY}?by=s0&confidence=0.9{i}" for i in range(DASHBOARDS)]
        self._threads += [threading.Thread(target=self._read, args=(page, 1.0)) for page in pages]
        for thread in self._threads:
            thread.start()

    def let(self, reading: bool) -> None:
        self._reading.set() if reading else self._reading.clear()

    def end(self) -> None:
        self._ended = True
        self._reading.set()
        for thread in self._threads:
            thread.join()

    def _read(self, path: str, pause: float) -> None:
        while True:
            self._reading.wait()
            if self._ended:
                return
            connection = http.client.HTTPConnection("127.0.0.1", self._server.port, timeout=300)
            begun = time.perf_counter()
            connection.request("GET", path, headers=self._headers)
            with connection.getresponse() as response:
                response.read()
            connection.close()
            with self._lock:
                self.answers[response.status] = self.answers.get(response.status, 0) + 1
                self.longest = max(self.longest, time.perf_counter() - begun)
            time.sleep(pause or (0.5 if response.status == 503 else 0))


def _turns(
    server: Server,
    document: bytes,
    admin: dict[str, str],
    watch: Watch,
    rounds: int,
    turn: float,
    chance: random.Random,
    codes: tuple[int, ...],
) -> dict[str, Any]:
    session = _signed_in(server, admin)
    readers = _Readers(server, admin | session, codes)
    bodies = _submissions(document, chance)
    took: dict[tuple[str, bool], list[float]] = {}
    memory, processes = [_memory(server)], 0
    try:
        _respond(server, bodies, turn)  # the first ones warm it up
        for done in range(rounds):
            if watch.is_over:
                break
            watch.counts(done, rounds)
            for among in (False, True):
                readers.let(among)
                time.sleep(1.0 if among else 0.2)
                if not among:
                    _until_idle(server)
                for what, times in _respond(server, bodies, turn).items():
                    took.setdefault((what, among), []).extend(times)
                memory.append(_memory(server))
                processes = max(processes, len(_processes(server)))
    finally:
        readers.let(False)
        readers.end()
    figures: dict[str, Any] = {}
    for what in ("survey", "submission"):
        for name, share in (("median", 0.5), ("99%", 0.99)):
            alone, among = (_share(took[what, reading], share) for reading in (False, True))
            figures[f"{what}: {name} alone, ms"] = round(1000 * alone, 2)
            figures[f"{what}: {name} among readers, ms"] = round(1000 * among, 2)
            figures[f"{what}: {name}, times alone"] = round(among / alone, 2)
        figures[f"{what}: requests"] = len(took[what, False]) + len(took[what, True])
    figures["memory at the start, bytes"], figures["memory, most bytes"] = memory[0], max(memory)
    figures["processes"] = processes
    figures["answers to readers"] = ", ".join(f"{status}: {n:,}" for status, n in sorted(readers.answers.items()))
    figures["longest a reader waited, s"] = round(readers.longest, 1)
    odd = set(readers.answers) - {200, 503}
    figures["failures"] = [f"readers were answered {status}" for status in odd]
    if not readers.answers.get(200):
        figures["failures"].append("no reader got results")
    return figures


def _respond(server: Server, bodies: Iterator[dict[str, Any]], seconds: float) -> dict[str, list[float]]:
    """A respondent after the other, on one kept connection: load the survey, send a submission."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
    took: dict[str, list[float]] = {"survey": [], "submission": []}
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        body = json.dumps(next(bodies), separators=(",", ":")).encode()
        for what, method, path, data in (
            ("survey", "GET", API, None),
            ("submission", "POST", f"{API}/submissions", body),
        ):
            headers = {"Content-Type": "application/json"} if data else {}
            begun = time.perf_counter()
            connection.request(method, path, data, headers)
            with connection.getresponse() as response:
                response.read()
            took[what].append(time.perf_counter() - begun)
            assert response.status in (200, 201), response.status
        time.sleep(0.005)
    connection.close()
    return took


def _share(times: list[float], share: float) -> float:
    return sorted(times)[min(len(times) - 1, int(share * len(times)))]


def _signed_in(server: Server, admin: dict[str, str]) -> dict[str, str]:
    """The cookie of a browser."""
    own = {"Origin": server.base}
    page = ask(f"{server.base}/sign-in", headers=own).body.decode()
    word = page.partition('name="word" value="')[2].partition('"')[0]
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    form = f"token={admin['Authorization'].removeprefix('Bearer ')}&word={word}"
    connection.request("POST", "/sign-in", form, {**own, "Content-Type": "application/x-www-form-urlencoded"})
    with connection.getresponse() as response:
        response.read()
        assert response.status == 303, response.status
        cookie = str(response.headers["Set-Cookie"]).partition(";")[0]
    connection.close()
    return {"Cookie": cookie}


# --- the server's processes ------------------------------------------------------------------------------------------


def _processes(server: Server) -> list[int]:
    """All of the server's: its own, and those that it and they started."""
    parents: dict[int, int] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            parents[int(name)] = int(Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found = {server.process.pid}
    while more := {pid for pid, parent in parents.items() if parent in found and pid not in found}:
        found |= more
    return sorted(found)


def _memory(server: Server) -> int:
    """Bytes of memory; what processes share counts once (proportional set size)."""
    total = 0
    for pid in _processes(server):
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total


def _until_idle(server: Server) -> None:
    """Wait until what readers have asked for is computed."""
    deadline = time.monotonic() + 120
    last = _spent(server)
    while time.monotonic() < deadline:
        time.sleep(0.3)
        now = _spent(server)
        if now - last <= 0.05:
            return
        last = now


def _spent(server: Server) -> float:
    """Processor seconds of the server's processes."""
    total = 0
    for pid in _processes(server):
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")
