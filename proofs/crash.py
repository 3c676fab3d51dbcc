"""Crash: servers killed under load, at any moment; what was acknowledged is there once, as it was sent.

One database lives through all kills. After each, the files are compared, as the kill left them, with what was sent and
what was answered; what had no answer is sent again to the next server, as it is.
"""

from __future__ import annotations

import itertools
import random
import shutil
import sqlite3
import subprocess
import threading
import time
from contextlib import closing, suppress
from pathlib import Path

from deniable_server.errors import StorageError
from deniable_server.storage import open_storage
from deniable_server.storage.files import UNFINISHED
from deniable_server.storage.tokens import make_token
from tests.helpers.planting import Planted
from tests.helpers.servers import let_collect

from . import Outcome, Watch
from .parcels import Book, Connection, Maker, published
from .processes import Process, deniable, until
from .senders import Senders, send
from .upgrades import Upgrades, copy_files, size_of

ORDER = (
    "moment", "fold", "worker", "close", "parent", "backup", "migration", "start", "fold", "moment",
    "moment", "fold", "backup", "worker", "moment", "migration", "parent", "close", "fold", "moment",
)  # fmt: skip
"""What is going on when the kills come, over and over; any ten in a row from the start have one of each."""

FOLD_AT = 1_000
"""Submissions in the inbox that are folded; as many in one request are sealed at once."""

LEAST, MORE = 60, 500
"""Acknowledgements between two kills at least; and how many more may come before the senders wait for the kill."""


def prove(
    folder: Path,
    watch: Watch,
    seed: int,
    acknowledgements: int,
    kills: int,
    kinds: tuple[str, ...] = ORDER,
    planted: Planted | None = None,
) -> Outcome:
    """So many kills, and at least so many acknowledgements; of some ``kinds`` only, or with a fault
    ``planted``, in tests of the proof itself.
    """
    plan = list(itertools.islice(itertools.cycle(kind for kind in ORDER if kind in kinds), kills))
    crashes = _Crashes(folder, seed, plan.count("close"), planted)
    try:
        for done, kind in enumerate(plan):
            if watch.is_over:
                crashes.book.fault(f"stopped after {done} of {kills} kills")
                break
            watch.counts(done, kills)
            crashes.killed(kind, acknowledgements - crashes.book.acknowledged, kills - done)
        else:
            watch.counts(kills, kills)
            crashes.deliver(acknowledgements, watch)
    finally:
        crashes.end()
    return crashes.outcome()


class _Crashes:
    def __init__(self, folder: Path, seed: int, closings: int, planted: Planted | None) -> None:
        self.book = Book()
        self._folder, self._planted, self._random = folder, planted, random.Random(seed)
        self._maker = Maker(seed)
        self._database, self._log = folder / "a.db", folder / "server.log"
        self._wal = folder / "a.db-wal"
        self._surveys = iter([f"load-{i}" for i in range(closings + 1)])
        storage = open_storage(str(self._database))
        for i in range(closings + 1):
            storage.publish(published(f"load-{i}"))
            let_collect(storage, f"load-{i}")
        secret, _ = make_token(storage, "admin", "")
        self._admin = {"Authorization": f"Bearer {secret}"}
        storage.close()
        self._senders = Senders(self.book, next(self._surveys), 6, seed)
        self._server: Process | None = None
        self._examining: threading.Thread | None = None
        self._upgrades: Upgrades | None = None
        self._kills = 0

    # --- one kill after another --------------------------------------------------------------------------------------

    def killed(self, kind: str, missing: int, kills_left: int) -> None:
        """Let the server take its share of what is missing yet, and kill it in this situation."""
        share = self.book.acknowledged + max(missing / kills_left, LEAST) * self._random.uniform(0.3, 1.7)
        self._senders.limit = share + MORE
        server = self._running()
        if kind not in ("start", "migration"):
            self._wait_for(share)
        situations = {
            "moment": self._at_any_moment,
            "fold": self._while_folding,
            "worker": self._a_worker,
            "close": self._while_closing,
            "parent": self._the_parent,
            "backup": self._during_a_backup,
            "migration": self._during_a_migration,
            "start": self._during_the_start,
        }
        situations[kind](server)
        self._kills += 1
        self.book.count(f"kills: {kind}")

    def _running(self) -> Process:
        """The server that runs, or the next one, with the senders at it."""
        if self._server is None:
            self._server = self._start()
            if not self._server.comes_up():
                raise RuntimeError(f"the server does not start: {self._log.read_text()[-500:]}")
            self._senders.point_at(self._server.port)
            self._examined()
            self._finish_closing(self._server)
        return self._server

    def _start(self) -> Process:
        return Process(self._database, self._log, self._random.choice((1, 1, 2)), self._planted)

    def _wait_for(self, acknowledged: float) -> None:
        if not until(lambda: self.book.acknowledged >= acknowledged):
            self.book.fault("a server acknowledged nothing for minutes")
        time.sleep(self._random.uniform(0, 0.05))

    def _kill(self, server: Process) -> None:
        server.kill()
        self._examine_files()

    def _examine_files(self) -> None:
        """Compare the files as they are, while the next server starts on them."""
        self._server = None
        self._senders.hold()
        self._examined()
        copied = copy_files(self._database, self._folder / "killed.db")

        def examine() -> None:
            self.book.compare(copied)
            with closing(sqlite3.connect(copied)) as db:
                (unfinished,) = db.execute("SELECT count(*) FROM surveys WHERE status = 'closing'").fetchone()
            self.book.count(
                "restarts that found a folding due", max(self._waiting_in(copied).values(), default=0) >= FOLD_AT
            )
            self.book.count("restarts that found a closing under way", unfinished)

        self._examining = threading.Thread(target=examine)
        self._examining.start()

    def _examined(self) -> None:
        if self._examining is not None:
            self._examining.join()
            self._examining = None

    # --- the situations ----------------------------------------------------------------------------------------------

    def _at_any_moment(self, server: Process) -> None:
        self._kill(server)

    def _while_folding(self, server: Process) -> None:
        """A batch that makes a folding due, or one that is sealed at once; its commit shows in the log, and the kill
        comes within the time of a folding.
        """
        waiting = self._waiting_in(self._database).get(self._senders.survey, 0)
        due = min(max(FOLD_AT + 50 - waiting, 1), FOLD_AT - 1)
        parcel = self._maker.parcel(self._senders.survey, FOLD_AT if self._random.random() < 0.2 else due)
        before = size_of(self._wal)

        def post() -> None:
            connection = Connection(server.port)
            try:
                send(self.book, connection, parcel)
            except ConnectionError:
                self.book.count("requests without an answer")
            connection.close()
            if parcel.waits:
                self._senders.send_again(parcel)

        posting = threading.Thread(target=post)
        posting.start()
        until(lambda: size_of(self._wal) - before > 20_000 or not posting.is_alive(), pause=0.0005)
        time.sleep(self._random.uniform(0, 0.02))
        server.kill()
        posting.join()
        self._examine_files()

    def _a_worker(self, server: Process) -> None:
        """The parent starts another; with two workers, the other goes on."""
        server.kill_worker(self._random)
        if not until(lambda: server.answers() or server.parent.poll() is not None):
            self.book.fault("nobody answered after a worker was killed", str(self._kills))
        if server.parent.poll() is not None:
            self.book.count("servers that ended after their worker was killed")
            server.ended()
            self._examine_files()
        else:
            self.book.compare(self._database)

    def _the_parent(self, server: Process) -> None:
        if not server.kill_parent():
            self.book.fault("a worker went on after its parent was killed", str(self._kills))
        self._examine_files()

    def _while_closing(self, server: Process) -> None:
        """Closing writes the whole file to the log: the kill comes when some of it is there."""
        survey, size = self._senders.survey, self._database.stat().st_size
        threshold = size_of(self._wal) + self._random.uniform(0, 0.9) * size
        # Or some time after it was asked for: before it has written anything, too.
        moment = time.monotonic() + self._random.uniform(0, 0.03 + size / 40e6) + 10 * (self._random.random() < 0.5)
        said: list[int] = []
        self.book.may_close.add(survey)

        def post() -> None:
            connection = Connection(server.port)
            with suppress(ConnectionError):
                said.append(connection.post(f"/api/v1/surveys/{survey}/close", b"", self._admin)[0])
            connection.close()

        posting = threading.Thread(target=post)
        posting.start()
        until(
            lambda: size_of(self._wal) >= threshold or time.monotonic() > moment or not posting.is_alive(), pause=0.0005
        )
        server.kill()
        posting.join()
        self._senders.survey = next(self._surveys)
        self._examine_files()
        if said == [200]:
            self.book.count("closings that were answered before the kill")
            if self._statuses(self._folder / "killed.db")[survey] != "closed":
                self.book.fault("a closing was acknowledged and not done", survey)

    def _finish_closing(self, server: Process) -> None:
        """A closing that was begun ends by itself after a restart; one that was not is asked for again."""
        if not self.book.may_close:
            return
        if not until(lambda: "closing" not in self._statuses(self._database).values(), pause=0.02):
            self.book.fault("a closing was not finished after a restart")
        for survey, status in self._statuses(self._database).items():
            if status == "open" and survey in self.book.may_close:
                connection = Connection(server.port)
                if connection.post(f"/api/v1/surveys/{survey}/close", b"", self._admin)[0] != 200:
                    self.book.fault("a survey could not be closed", survey)
                connection.close()

    @staticmethod
    def _waiting_in(database: Path) -> dict[str, int]:
        """How many submissions of each survey are not folded yet."""
        with closing(sqlite3.connect(database, timeout=30)) as db:
            return dict(db.execute("SELECT surveys.id, count(*) FROM inbox JOIN surveys ON number = survey GROUP BY 1"))

    @staticmethod
    def _statuses(database: Path) -> dict[str, str]:
        with closing(sqlite3.connect(database, timeout=30)) as db:
            return dict(db.execute("SELECT id, status FROM surveys"))

    def _during_a_backup(self, server: Process) -> None:
        """The backup is killed, or the server beneath it, or both; the next backup has everything."""
        target = self._folder / f"backup-{self._kills}.db"
        victims = ("backup", "server", "both")[self.book.counts["kills: backup"] % 3]
        acknowledged = self.book.acknowledged
        first = self._backup(target)
        until(lambda: self._unfinished() or target.exists() or first.poll() is not None, pause=0.0005)
        time.sleep(self._random.uniform(0, 0.02 + self._database.stat().st_size / 40e6))
        self.book.count("kills in the middle of a backup", self._unfinished() and not target.exists())
        if victims != "server":
            first.kill()
        if victims != "backup":
            self._kill(server)
        first.wait(120)
        if target.exists():
            self._check_backup(target, acknowledged)
        elif victims == "server":
            self.book.fault("a backup failed when the server beneath it was killed", target.name)
        target.unlink(missing_ok=True)
        server = self._running()
        acknowledged = self.book.acknowledged
        if self._backup(target).wait(120) != 0 or not target.exists():
            self.book.fault("a backup failed after another was killed", target.name)
        else:
            self._check_backup(target, acknowledged)
        if self._unfinished():
            self.book.fault("a backup left something behind", target.name)
        target.unlink(missing_ok=True)
        if victims == "backup":
            self._kill(server)

    def _unfinished(self) -> bool:
        return any(self._folder.glob(UNFINISHED + "*"))

    def _backup(self, target: Path) -> subprocess.Popen[bytes]:
        return deniable(["backup", "--database", str(self._database), "--to", str(target)], self._log, self._planted)

    def _check_backup(self, target: Path, acknowledged: int) -> None:
        """Whatever has the name of a backup is a whole one, with all that was acknowledged before it was begun."""
        try:
            with closing(open_storage(str(target), create=False)) as storage:
                for sentence in storage.verify():
                    self.book.fault(f"a backup is not sound: {sentence}", target.name)
                if sum(listed.submissions for listed in storage.surveys()) < acknowledged:
                    self.book.fault("a backup holds less than was acknowledged before", target.name)
        except StorageError:
            self.book.fault("what has the name of a backup cannot be opened", target.name)

    def _during_a_migration(self, server: Process) -> None:
        """On a database of its own, while this one rests."""
        if self._upgrades is None:
            self._upgrades = Upgrades(self._folder / "upgrades", self._random.randrange(2**32), self._planted)
        self._senders.hold()
        self._upgrades.kill_one()
        self._senders.point_at(server.port)

    def _during_the_start(self, server: Process) -> None:
        """Killed, and killed again while the next one starts on what is left."""
        server.kill()
        self._examine_files()
        starting = self._start()
        time.sleep(self._random.uniform(0.2, 2))
        starting.kill()
        self._examine_files()

    # --- the end -----------------------------------------------------------------------------------------------------

    def deliver(self, acknowledgements: int, watch: Watch) -> None:
        """What is missing yet, and all that had no answer; then everything is compared once more."""
        self._senders.limit = acknowledgements
        server = self._running()
        until(lambda: self.book.acknowledged >= acknowledgements or watch.is_over, limit=3600)
        if self.book.acknowledged < acknowledgements:
            self.book.fault(f"stopped after {self.book.acknowledged} of {acknowledgements} acknowledgements")
        for parcel in self.book.oldest(50):
            self._senders.send_again(parcel)
        self._senders.finish()
        for parcel in self.book.waiting():
            self.book.fault("a submission was never answered", next(iter(parcel.contents)))
        if server.stop() != 0:
            self.book.fault("a server did not end as it should")
        self._server = None
        storage = open_storage(str(self._database))
        for sentence in storage.verify():
            self.book.fault(f"in the end: {sentence}")
        for listed in storage.surveys():
            survey = storage.find(listed.id)
            assert survey is not None
            counted = storage.statistics(survey).submissions
            if not counted == listed.submissions == sum(storage.days(survey).values()):
                self.book.fault("in the end: statistics, list and days differ", listed.id)
        storage.close()
        stored = self.book.compare(self._database)
        if stored != self.book.acknowledged:
            self.book.fault(f"in the end {stored} are stored, and {self.book.acknowledged} were acknowledged")

    def end(self) -> None:
        self._senders.end()
        self._examined()
        if self._server is not None:
            self._server.kill()
        shutil.rmtree(self._folder / "upgrades", ignore_errors=True)

    def outcome(self) -> Outcome:
        books = [self.book] + ([self._upgrades.book] if self._upgrades is not None else [])
        counts = {what: count for book in books for what, count in sorted(book.counts.items())}
        failures = [failure for book in books for failure in book.failures()]
        return Outcome({"acknowledgements": self.book.acknowledged, "kills": self._kills, **counts}, failures)
