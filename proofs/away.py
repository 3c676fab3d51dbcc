"""PostgreSQL away: stopped, crashed, its processes killed or frozen, and started again, under three servers and load.

Senders wait or get 503, and nothing else. Servers say meanwhile that they are not ready, and go on by themselves: none
is started again. What was acknowledged is there once, also after a crash of the database.
"""

from __future__ import annotations

import itertools
import os
import random
import re
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import psutil
import psycopg

from tests.helpers.planting import Planted
from tests.helpers.servers import ask

from . import Outcome, Watch
from .fleet import SENDERS, Fleet
from .processes import Process, until

ORDER = ("stop", "crash", "backend", "cut", "frozen", "crash")
"""How it goes away, over and over."""


def prove(
    folder: Path,
    watch: Watch,
    seed: int,
    outages: int,
    acknowledgements: int = 0,
    kinds: tuple[str, ...] = ORDER,
    planted: Planted | None = None,
) -> Outcome:
    """So many outages, with acknowledgements before and after each, and so many at least in all."""
    proof = _Away(folder, seed, planted)
    try:
        workers = [sorted(server.pids()) for server in proof.fleet.servers]
        plan = itertools.islice(itertools.cycle(kind for kind in ORDER if kind in kinds), outages)
        for done, kind in enumerate(plan):
            watch.counts(done, outages)
            if watch.is_over:
                proof.book.fault(f"stopped after {done} of {outages} outages")
                break
            proof.suffer(kind, (acknowledgements - proof.book.acknowledged) / (outages - done))
        if workers != [sorted(server.pids()) for server in proof.fleet.servers]:
            proof.book.fault("a server process has ended")
        proof.fleet.conclude()
        proof.read_log()
        watch.counts(outages, outages)
    finally:
        proof.fleet.end()
    figures = {"acknowledgements": proof.book.acknowledged, **dict(sorted(proof.book.counts.items()))}
    return Outcome(figures, proof.book.failures())


class _Away:
    def __init__(self, folder: Path, seed: int, planted: Planted | None) -> None:
        self.fleet = Fleet(folder, seed, planted)
        self.book = self.fleet.book
        self._random = random.Random(seed)

    def suffer(self, kind: str, acknowledgements: float) -> None:
        self.fleet.await_acknowledged(max(acknowledgements, 20 * SENDERS))
        self.fleet.senders.limit = float("inf")  # they go on sending, whatever becomes of it
        time.sleep(self._random.uniform(0, 0.05))
        ways = {
            "stop": self._stop,
            "crash": self._crash,
            "backend": self._kill_a_backend,
            "cut": self._cut_connections,
            "frozen": self._freeze,
        }
        ways[kind]()
        self.fleet.senders.limit = self.book.acknowledged
        self.fleet.await_acknowledged(10 * SENDERS)
        for server in self.fleet.servers:
            if not until(lambda server=server: _ready(server) == 200, pause=0.05):
                self.book.fault("a server is not ready long after the database was back", kind)
        self.book.compare(self.fleet.database, recount=False)
        self.book.count(f"times: {kind}")

    def read_log(self) -> None:
        """Anything logged for each request would reveal when somebody came."""
        for line in self.fleet.log().splitlines():
            if not re.match(rf"\S+ {LINES}", line):
                self.book.fault("a server logs what it should not", line.partition(" ")[2][:80])

    def _stop(self) -> None:
        """In order, as for an upgrade; and for long enough that senders notice."""
        self.fleet.cluster.stop()
        self._while_away()
        self.fleet.cluster.start()

    def _crash(self) -> None:
        """At once: what was committed is recovered from the write-ahead log."""
        self.fleet.cluster.crash()
        self._while_away()
        self.fleet.cluster.start()

    def _while_away(self) -> None:
        before = self.book.counts["answers 503"]
        with ThreadPoolExecutor(len(self.fleet.servers)) as pool:
            for said in pool.map(_ready, self.fleet.servers):
                if said != 503:
                    self.book.fault(f"readyz says {said} without a database")
        for server in self.fleet.servers:
            if (said := ask(f"{server.base}/healthz").status) != 200:
                self.book.fault(f"healthz says {said} without a database")
        if not until(lambda: self.book.counts["answers 503"] >= before + SENDERS):
            self.book.fault("without a database, senders are not told 503")

    def _kill_a_backend(self) -> None:
        """By SIGKILL, as a system does that has no memory left: PostgreSQL then ends all others, and recovers."""
        with psycopg.connect(self.fleet.database) as connection:
            mine = connection.info.backend_pid
            backends = connection.execute(
                "SELECT pid FROM pg_stat_activity WHERE application_name = 'deniable' AND pid <> %s", (mine,)
            ).fetchall()
        os.kill(self._random.choice(backends)[0], signal.SIGKILL)
        # It says no until it has recovered.
        until(self._answers, pause=0.05)

    def _answers(self) -> bool:
        with suppress(psycopg.Error), psycopg.connect(self.fleet.database, connect_timeout=5) as connection:
            return connection.execute("SELECT 1").fetchone() == (1,)
        return False

    def _cut_connections(self) -> None:
        """As a proxy of the database, or its administrator, may do at any time."""
        with psycopg.connect(self.fleet.database) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'deniable'"
            )

    def _freeze(self) -> None:
        """It neither answers nor refuses: senders wait, and those that wait too long get 503."""
        postmaster = psutil.Process(self.fleet.cluster.postmaster)
        frozen = [postmaster, *postmaster.children()]
        for process in frozen:
            process.suspend()
        time.sleep(self._random.uniform(0.5, 3))
        for process in frozen:
            process.resume()


LINES = r"(INFO (Listening at|at=)|(ERROR|WARNING) (Writing|Folding|Connecting for \w+) has failed, and (still|works))"
"""What a server may log meanwhile: that it began and ended, and nothing for each request."""


def _ready(server: Process) -> int:
    return ask(f"{server.base}/readyz").status
