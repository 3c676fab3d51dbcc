"""Entitled: people with invitations get tokens and spend them, while servers are killed at any moment.

On SQLite with one server, and on PostgreSQL with three. After each kill, the database is compared, as the kill left it,
with what devices were given: a token that was signed has its use on disk, a use is never another's, and what was
acknowledged is there once. In the end, every invitation is counted exactly once. Meanwhile people try to cheat.

A kill between signing and answering leaves what one while signing does: a use on disk that nobody has a token for.
These are counted. Their devices ask again, and get their token.
"""

from __future__ import annotations

import random
import sqlite3
import time
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import psycopg

from deniable_server.storage import open_storage
from deniable_server.storage.invitations import MOST_AT_ONCE, make_invitations
from deniable_server.storage.postgres.names import SCHEMA
from tests.helpers.planting import Planted
from tests.helpers.postgres import cluster

from . import Outcome, Watch
from .cheats import foreign_token
from .fleet import Balancer, DoesNotStart
from .invitees import Invitees, publish_by_invitation
from .parcels import Book
from .processes import Process, until
from .upgrades import copy_files

Size = tuple[int, int]
"""Submissions, and kills."""

DEVICES = 8
MORE = 24
"""How many may be acknowledged after a kill is due, before devices wait for it."""

_USES = "SELECT code, issued.number, blinded FROM issued JOIN surveys ON surveys.number = survey WHERE id = 'invited'"


def prove(
    folder: Path,
    watch: Watch,
    seed: int,
    sqlite: Size | None,
    postgresql: Size | None,
    planted: Planted | None = None,
) -> Outcome:
    """So many submissions over so many kills, on each database; ``planted``: a fault, in tests of the proof itself."""
    figures: dict[str, int | float | str] = {}
    failures: list[str] = []
    total = sum(size[1] for size in (sqlite, postgresql) if size)
    for name, size in (("SQLite", sqlite), ("PostgreSQL", postgresql)):
        if size is None:
            continue
        with ExitStack() as stack:
            if name == "SQLite":
                database: Path | str = folder / "a.db"
            else:
                database = stack.enter_context(cluster()).new_database()
            proof = _Entitled(folder, database, 1 if name == "SQLite" else 3, size, seed, planted)
            stack.callback(proof.end)
            begun = time.monotonic()
            try:
                proof.run(watch, int(figures.get("SQLite: kills", 0)), total)
            except DoesNotStart as trouble:
                proof.book.fault(str(trouble))
            seconds = time.monotonic() - begun
        book = proof.book
        counted: dict[str, int | float] = {"submissions": book.acknowledged, "kills": proof.kills}
        counted |= dict(sorted(book.counts.items()))
        counted["seconds per 1,000 submissions"] = round(1000 * seconds / max(book.acknowledged, 1), 1)
        figures |= {f"{name}: {what}": value for what, value in counted.items()}
        failures += [f"{name}: {failure}" for failure in book.failures()]
    return Outcome(figures, failures)


class _Entitled:
    def __init__(
        self, folder: Path, database: Path | str, servers: int, size: Size, seed: int, planted: Planted | None
    ) -> None:
        self.book, self.kills = Book(), 0
        self._folder, self._database, self._planted = folder, database, planted
        self._submissions, self._planned = size
        self._random = random.Random(seed)
        self._numbers = range(servers)
        storage = open_storage(str(database))
        invited, other = (publish_by_invitation(storage, name) for name in ("invited", "elsewhere"))
        codes: list[str] = []
        while len(codes) < self._submissions:
            codes += make_invitations(storage, invited, min(self._submissions - len(codes), MOST_AT_ONCE))
        foreign = [foreign_token(storage.invitations.key("elsewhere")) for _ in range(DEVICES)]
        storage.close()
        self._invitees = Invitees(self.book, invited.document, other.document, foreign, codes, seed)
        self._balancer = Balancer(seed)
        self._servers: list[Process] = []

    def run(self, watch: Watch, before: int, of: int) -> None:
        """All kills, evenly among the submissions, then the rest."""
        self._servers = [self._process(number) for number in self._numbers]
        self._await_start()
        self._invitees.start(self._balancer.port, DEVICES, self._random.randrange(2**32))
        for kill in range(self._planned):
            watch.counts(before + kill, of)
            if watch.is_over:
                self.book.fault(f"stopped after {kill} of {self._planned} kills")
                break
            due = self._submissions * (kill + self._random.random()) / (self._planned + 1)
            self._invitees.limit = due + MORE
            if not until(lambda due=due: self.book.acknowledged >= due or self._invitees.are_done):  # type: ignore[misc]
                self.book.fault("nothing was acknowledged for minutes")
                break
            time.sleep(self._random.uniform(0, 0.05))
            self._kill_some()
        self._invitees.limit = float("inf")
        until(lambda: self._invitees.are_done or watch.is_over, limit=4 * 3600, pause=0.02)
        self._conclude()

    def _process(self, number: int) -> Process:
        log = self._folder / f"server-{number}.log"
        return Process(self._database, log, 1, self._planted, "--rate-limit", "1000000/second")

    def _await_start(self) -> None:
        for server in self._servers:
            if not server.comes_up():
                raise DoesNotStart("a server does not start")
        self._balancer.ports = tuple(server.port for server in self._servers)

    def _kill_some(self) -> None:
        """One server, mostly; sometimes more of them at once."""
        number = self._random.choice((1, 1, 2, 3)) if len(self._servers) > 1 else 1
        victims = self._random.sample(self._numbers, number)
        for number in victims:
            self._servers[number].kill()
        self.kills += 1
        self.book.count("servers killed", len(victims))
        # Of a file, a copy is compared: opening it would repair what the next server is to find.
        database = self._database
        if isinstance(database, Path):
            database = copy_files(database, self._folder / "killed.db")
        for number in victims:
            self._servers[number] = self._process(number)
        self.book.count("uses on disk without an answer at a kill", self._compare_uses(database))
        self.book.compare(database, recount=self.kills % 10 == 1)
        self._await_start()

    def _compare_uses(self, database: Path | str) -> int:
        def read() -> list[Any]:
            if isinstance(database, Path):
                with closing(sqlite3.connect(database, timeout=30)) as file:
                    return file.execute(_USES).fetchall()
            with psycopg.connect(database) as db:
                db.execute(f"SET search_path = {SCHEMA}".encode())
                return db.execute(_USES.encode()).fetchall()

        return self._invitees.uses.compare(read)

    def _conclude(self) -> None:
        """Everybody has an answer: each invitation is used once, and counted once."""
        if not self._invitees.are_done:
            self.book.fault(f"stopped after {self.book.acknowledged} of {self._submissions} submissions")
        self._invitees.end()
        for parcel in self.book.waiting():
            self.book.fault("a submission was never answered", next(iter(parcel.contents)))
        for server in self._servers:
            if server.stop() != 0:
                self.book.fault("a server did not end as it should")
        without = self._compare_uses(self._database)
        stored = self.book.compare(self._database)
        storage = open_storage(str(self._database))
        with closing(storage):
            for sentence in storage.verify():
                self.book.fault(f"in the end: {sentence}")
            invited, elsewhere = storage.find("invited"), storage.find("elsewhere")
            assert invited is not None and elsewhere is not None
            used = storage.invitations.numbers(invited).used
            counted = storage.statistics(invited).submissions
            if storage.statistics(elsewhere).submissions:
                self.book.fault("in the end: a token was taken by another survey")
        if without or {self._submissions} != {used, stored, counted, self.book.acknowledged}:
            self.book.fault(
                f"in the end, of {self._submissions} invitations {used} are used, {self.book.acknowledged} were"
                f" acknowledged, {stored} are stored and {counted} counted"
            )

    def end(self) -> None:
        self._invitees.end()
        self._balancer.close()
        for server in self._servers:
            server.kill()
