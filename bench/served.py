"""Servers under measurement: what is sent to them, how they are started, and what they use."""

from __future__ import annotations

import itertools
import json
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from deniable_protocol import publish, randomize, survey_from_tree, verify
from deniable_server.storage import Storage, Token
from deniable_server.storage.tokens import digest_of

BENCH = Path(__file__).resolve().parent
PATH = "/api/v1/surveys/bench/submissions"
COLLECTOR = "collects-for-the-bench"
THREADS = 16
PYTHON = [sys.executable, "-m"]
DENIABLE = [*PYTHON, "deniable_server", "serve", "--threads", str(THREADS), "--bind", "127.0.0.1:{port}"]


# --- what is sent ----------------------------------------------------------------------------------------------------


def published() -> bytes:
    kinds: list[dict[str, Any]] = [
        {"type": "yes_no"},
        {"type": "choice", "options": [{"code": f"o{i}", "text": "?"} for i in range(6)]},
        {"type": "multi_choice", "options": [{"code": f"o{i}", "text": "?"} for i in range(6)]},
        {"type": "scale", "labels": ["1", "2", "3", "4", "5"]},
        {"type": "number", "min": 0, "max": 40},
    ]
    questions = [{"id": f"q{i}", "text": "?", "epsilon": "1", **kind} for i, kind in enumerate(kinds)]
    return publish(survey_from_tree({"id": "bench", "title": "Bench", "questions": questions}))


def submissions(document: bytes) -> Iterator[bytes]:
    """For ever: reports of the real randomiser, each time under another id."""
    answers = {"q0": True, "q1": "o1", "q2": ["o1", "o2"], "q3": 4, "q4": 12.5}
    known = verify(document)
    made = [json.dumps(randomize(known, answers), separators=(",", ":")).encode() for _ in range(500)]
    ids = [json.loads(one)["id"].encode() for one in made]
    for one, old in itertools.cycle(zip(made, ids, strict=True)):
        yield one.replace(old, secrets.token_hex(16).encode())


def let_collect(storage: Storage) -> None:
    """Let ``COLLECTOR`` send batches."""
    digest = digest_of(COLLECTOR)
    storage.tokens.add(Token(digest[:8], "collector", "bench", digest, "2026-01-01", {"bench": "collector"}))


def batch(bodies: Iterator[bytes], size: int = 1_000) -> bytes:
    """Submissions as one body."""
    return b'{"submissions":[' + b",".join(itertools.islice(bodies, size)) + b"]}"


# --- servers ---------------------------------------------------------------------------------------------------------


class Served:
    """A server process, and what it uses."""

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self.process, self.port = process, port

    def pids(self) -> list[int]:
        """It, and the processes that it started."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return [self.process.pid, *map(int, children)]

    def cpu(self) -> float:
        return sum(seconds_of(pid) for pid in self.pids())

    def memory(self) -> int:
        """Resident bytes of the process that answers."""
        return int(Path(f"/proc/{self.pids()[-1]}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def seconds_of(pid: int, *, reaped: bool = False) -> float:
    """Processor time of a process; with those of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(int(field) for field in fields[11 : 15 if reaped else 13]) / os.sysconf("SC_CLK_TCK")


@contextmanager
def serving(command: list[str], database: Path | str, folder: Path | None = None) -> Iterator[Served]:
    """A server on this database; its log is in the folder, or next to a database that is a file."""
    place = Path(database).parent if folder is None else folder
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    environment = {"DENIABLE_DATABASE": str(database), "DENIABLE_THREADS": str(THREADS), "PYTHONPATH": str(BENCH)}
    with (place / "log").open("ab") as log:
        process = subprocess.Popen(
            [word.replace("{port}", str(port)) for word in command],
            env={**os.environ, **environment},
            cwd=place,
            stdout=log,
            stderr=log,
        )
    try:
        for _ in range(600):
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                if process.poll() is not None:
                    raise RuntimeError((place / "log").read_text()[-2000:]) from None
                time.sleep(0.1)
        yield Served(process, port)
    finally:
        process.terminate()
        process.wait(60)
