"""Servers killed while they bring a database of the first version up to date."""

from __future__ import annotations

import hashlib
import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from sqlite_utils import Database

from deniable_server.storage import Row
from deniable_server.storage.sqlite.schema import migrations
from deniable_server.storage.sqlite.storage import SQLiteStorage
from tests.helpers.planting import Planted
from tests.helpers.servers import ask, let_collect

from .parcels import Book, Connection, Maker, published
from .processes import Process, until
from .senders import send

SURVEY = "upgraded"
TOKENS, LABEL = 500, "of the first version " * 400
"""So much that the migration writes to the log before it commits, and takes long enough to be hit."""


class Upgrades:
    """One old database, upgraded and killed again and again, each time from a fresh copy."""

    def __init__(self, folder: Path, seed: int, planted: Planted | None) -> None:
        folder.mkdir()
        self._folder, self._planted, self._random = folder, planted, random.Random(seed)
        self._old = folder / "old.db"
        self.book = Book()
        self._parcel = Maker(seed).parcel(SURVEY, 1_500)
        self._make_old()

    def _make_old(self) -> None:
        """As the first version left it: submissions folded and waiting, and tokens."""
        storage = SQLiteStorage(self._folder / "new.db")
        storage.publish(published(SURVEY))
        survey = storage.find(SURVEY)
        assert survey is not None
        rows = [Row(bytes.fromhex(submission), content) for submission, content in self._parcel.contents.items()]
        storage.accept(survey, rows[:1_200])
        storage.accept(survey, rows[1_200:])
        storage.close()
        tables = ("surveys", "inbox", "sealed", "sources", "statistics", "repeats", "days")
        with closing(sqlite3.connect(self._old, isolation_level=None)) as db:
            db.execute("PRAGMA journal_mode=WAL")
            migrations.apply(Database(db), stop_before="m002_people")
            db.execute("ATTACH ? AS new", (str(self._folder / "new.db"),))
            db.execute("BEGIN")
            for table in tables:
                db.execute(f"INSERT INTO {table} SELECT * FROM new.{table}")
            db.executemany(
                "INSERT INTO tokens VALUES (?, 'admin', ?, ?, '2026-01-01')",
                ((f"{i:08x}", LABEL, hashlib.sha256(secret(i)).hexdigest()) for i in range(TOKENS)),
            )
            db.execute("COMMIT")
        self.book.about_to_send(self._parcel)
        self._parcel.delivered = True

    def kill_one(self) -> None:
        """Start on an old database, kill during the migration, and start again: everything is there, and up to date."""
        database, log = self._folder / "a.db", self._folder / "server.log"
        for ending in ("", "-wal", "-shm"):
            database.with_name(database.name + ending).unlink(missing_ok=True)
        shutil.copy(self._old, database)
        wal = database.with_name("a.db-wal")
        # The log grows to about twice the size of the file; towards that, the kill may come after the commit.
        threshold = self._random.uniform(0.01, 2) * self._old.stat().st_size
        server = Process(database, log, planted=self._planted)
        until(lambda: (size_of(wal) >= threshold) or server.parent.poll() is not None or server.answers(), pause=0.0005)
        written = size_of(wal)
        server.kill()
        copied = copy_files(database, self._folder / "killed.db")
        self.book.compare(copied)
        if self._check_tokens(copied):
            self.book.count("kills just after a migration")
        elif written:
            self.book.count("kills in the middle of a migration")
        again = Process(database, log, planted=self._planted)
        if not again.comes_up():
            self.book.fault("a server did not start after a kill during a migration", str(threshold))
            again.kill()
            return
        with closing(SQLiteStorage(database)) as storage:
            let_collect(storage, SURVEY)  # the first version had no collectors
        send(self.book, connection := Connection(again.port), self._parcel)
        connection.close()
        bearer = {"Authorization": f"Bearer {secret(self._random.randrange(TOKENS)).decode()}"}
        if ask(f"{again.base}/api/v1/surveys", headers=bearer).status != 200:
            self.book.fault("a token of the first version does not open the upgraded database")
        again.kill()
        if not self._check_tokens(database):
            self.book.fault("a server runs on a database that was not upgraded")
        self.book.compare(database)

    def _check_tokens(self, database: Path) -> bool:
        """Whether it is upgraded: wholly, or not at all. All tokens are there in both cases."""
        with closing(sqlite3.connect(database)) as db:
            (upgraded,) = db.execute("SELECT count(*) FROM _sqlite_migrations WHERE name LIKE 'm002%'").fetchone()
            columns = {row[1] for row in db.execute("PRAGMA table_info(tokens)")}
            others = {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            (tokens,) = db.execute("SELECT count(*) FROM tokens WHERE role = 'admin'").fetchone() if columns else (0,)
        if ("maker" in columns) != bool(upgraded) or ("sessions" in others) != bool(upgraded) or "tokens_now" in others:
            self.book.fault("a migration was done in part")
        if tokens != TOKENS:
            self.book.fault("tokens were lost in a migration")
        return bool(upgraded)


def secret(number: int) -> bytes:
    return b"den_%032x" % number


def size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def copy_files(database: Path, to: Path) -> Path:
    """The files as a crash left them, under another name; the next process to open them rebuilds the log's index."""
    for ending in ("", "-wal", "-shm"):
        source, copied = database.with_name(database.name + ending), to.with_name(to.name + ending)
        copied.unlink(missing_ok=True)
        if ending != "-shm" and source.exists():
            shutil.copy(source, copied)
    return to
