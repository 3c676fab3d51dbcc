"""SQLite storage: one file, WAL, every commit synced to disk.

Durability: ``synchronous=FULL`` in WAL mode syncs the log at each commit, before ``accept`` returns; both settings are
read back when a connection opens. Speed: requests that wait for a commit share the next one.

Privacy: a new submission is in the inbox, where page layout and log still show when it arrived. Folding moves
submissions to the sealed table in id order; ``secure_delete`` wipes their old place, and the log is truncated. Where
one commit has enough submissions for a folding, they are sealed at once, in id order, and stay in the log until it is
truncated or overwritten. The layout of a sealed page may show in which folding, of at least ``fold_at`` submissions,
one arrived; closing a survey compacts the file, and then nothing does.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from deniable_server.errors import IdConflict, ServerError, SurveyGone
from deniable_server.storage import Accepted, Finding, Published, Row, utc_now, utc_today
from deniable_server.storage.base import CLOSED, DOCUMENT, DatabaseStorage, Request, Run, second_run
from deniable_server.storage.deletion import deletion, wiped
from deniable_server.storage.fieldwork import TAKES, conditions
from deniable_server.storage.files import locks_work
from deniable_server.storage.invitations import COUNT_USES
from deniable_server.storage.queries import CHUNK, Kept, keep_texts, read_counts, write_counts
from deniable_server.storage.tokens import Statement

from .backup import copy_database, refuse_foreign
from .connections import Connections, explained
from .schema import migrations
from .view import SQLiteView

ROWS_AT_ONCE = 250
"""Rows that one statement inserts."""

NO_LOCKS = (
    "locks do nothing on the file system of {path}: two processes that use the database at the same time lose "
    "submissions of each other. Put it on a local disk (network file systems: mount them with locks)"
)

MINOR_PATIENCE = 1.0
"""Seconds that a page waits for its turn to extend its session."""


class SQLiteStorage(DatabaseStorage):
    """One SQLite file. One connection writes; connections that read are kept for the next reader."""

    def __init__(
        self,
        path: str | Path,
        *,
        create: bool = True,
        busy_seconds: float = 5.0,
        fold_at: int = 1_000,
        today: Callable[[], date] = utc_today,
        now: Callable[[], int] = utc_now,
    ) -> None:
        super().__init__(fold_at, today, now)
        self._connections = Connections(Path(path), busy_seconds, self._trouble, create=create)
        self.created = _prepare(self._connections)
        self._connections.keep_index()
        with self._connections.reading() as db:
            self._unfolded.update(dict(db.execute("SELECT survey, count(*) FROM inbox GROUP BY survey")))

    @contextmanager
    def _reading(self, *surveys: int) -> Iterator[SQLiteView]:
        with self._connections.reading() as db:
            yield SQLiteView(db)

    def _write(self, *statements: Statement, minor: bool = False) -> int:
        turn = self._connections.turn
        if not turn.acquire(timeout=MINOR_PATIENCE if minor else -1):
            return 0  # perhaps a survey is being closed: reading does not wait for that
        try:
            with self._connections.writing(housekeeping=minor) as db:
                return [db.execute(statement, values).rowcount for statement, values in statements][-1]
        finally:
            turn.release()

    def _write_alone(self, survey: Published, *statements: Statement) -> int:
        return self._write(*statements)  # there is only one that writes

    # --- surveys -----------------------------------------------------------------------------------------------------

    def _add_survey(self, survey: str, added: Statement, then: Callable[[Run], None]) -> bytes | None:
        with self._connections.turn, self._connections.writing() as db:

            def run(statement: str, values: dict[str, Any]) -> int:
                return db.execute(statement, values).rowcount

            if run(*added):
                then(run)
                return None
            known = SQLiteView(db).rows(DOCUMENT, id=survey)
            if not known:
                raise second_run()
            return bytes(known[0][1])

    def _seal(self, survey: Published) -> None:
        with self._connections.turn:
            self._fold_all(survey, 1)
            with self._connections.writing() as db:
                db.execute(COUNT_USES.format(issued="issued", number=survey.number))
                db.execute("DELETE FROM issued WHERE survey = ?", (survey.number,))
        self._connections.compact()  # unless the log is wiped as well, the survey is not closed yet
        self._write(("UPDATE surveys SET status = 'closed' WHERE number = :number", {"number": survey.number}))
        self._connections.cut_log()

    def _remove(self, survey: Published) -> None:
        self._write(*deletion(survey, self._now(), ("issued", "inbox", "sealed")))

    def _wipe(self, numbers: list[int]) -> None:
        self._connections.compact()
        self._write(*wiped(numbers))

    # --- submissions -------------------------------------------------------------------------------------------------

    def _store_requests(self, requests: list[Request]) -> Sequence[Accepted | Exception]:
        with self._connections.turn, self._connections.writing() as db:
            outcomes: Sequence[Accepted | Exception]
            if self._store_all(db, requests):
                outcomes = [Accepted(len(request.rows), 0) for request in requests]
            else:
                db.execute("ROLLBACK")
                db.execute("BEGIN IMMEDIATE")
                outcomes = [self._store(db, request.survey, request.rows, request.source) for request in requests]
        return outcomes

    def _store_all(self, db: sqlite3.Connection, requests: list[Request]) -> bool:
        """The fast path, in few statements: at each, another thread takes over the interpreter. All rows are new and
        all surveys open; False if this fails for any request.
        """
        added = Counter[int]()
        waiting: dict[tuple[int, int], list[Row]] = {}
        for request in requests:
            added[request.survey.number] += len(request.rows)
        for request in requests:
            if not self._is_sealed(request):
                waiting.setdefault((request.survey.number, request.source), []).extend(request.rows)
                continue
            # In id order. A sealed one does not say whose it is.
            rows = sorted(request.rows, key=itemgetter(0))
            number = request.survey.number
            if self._insert(db, number, rows, added[number]) < len(rows):
                return False
            self._add_statistics(db, request.survey, request.kept())
        for (number, source), rows in waiting.items():
            if self._insert(db, number, rows, added[number], source) < len(rows):
                return False
            self._unfolded[number] += len(rows)  # at most: if this is rolled back, folding finds fewer
        self._count_day(db, added)
        return True

    def _store(
        self, db: sqlite3.Connection, survey: Published, rows: Sequence[Row], source: int
    ) -> Accepted | Exception:
        """All rows of one request, or none and the reason. Other requests in the same transaction are not affected."""
        found = {row.id: self._content(db, survey.number, row) for row in rows}
        known = {submission: content for submission, content in found.items() if content is not None}
        new = len(found) - len(known)
        if any(known.setdefault(submission, content) != content for submission, content in rows):
            return IdConflict("Nothing of this request was stored.")
        if new and not self._insert(db, survey.number, rows, new, source):
            return self._refusal(db, survey.number, new)
        self._unfolded[survey.number] += new
        self._count_day(db, {survey.number: new})
        return Accepted(new, len(rows) - new)

    def _refusal(self, db: sqlite3.Connection, number: int, new: int) -> ServerError:
        """Why a survey has not taken so many new submissions in this transaction."""
        try:
            return conditions(SQLiteView(db), number).refusal(self._now(), CLOSED, new)
        except SurveyGone as gone:
            return gone

    def _insert(
        self, db: sqlite3.Connection, number: int, rows: Sequence[Row], new: int, source: int | None = None
    ) -> int:
        """Insert those that are new, if the survey takes so many ``new`` ones now; returns how many. Without a source
        they are sealed.
        """
        before = db.total_changes
        first = (number, self._now(), new, *(() if source is None else (source,)))
        for start in range(0, len(rows), ROWS_AT_ONCE):
            some = rows[start : start + ROWS_AT_ONCE]
            db.execute(_insertion(len(some), sealed=source is None), (*first, *chain.from_iterable(some)))
        return db.total_changes - before

    @staticmethod
    def _content(db: sqlite3.Connection, number: int, row: Row) -> str | None:
        """What is stored under the id of this row."""
        found = db.execute(
            "SELECT content FROM inbox WHERE survey = ?1 AND id = ?2"
            " UNION ALL SELECT content FROM sealed WHERE survey = ?1 AND id = ?2",
            (number, row.id),
        ).fetchone()
        return None if found is None else str(found[0])

    def _count_day(self, db: sqlite3.Connection, added: Mapping[int, int]) -> None:
        """Add to today's number of submissions of each survey."""
        for number, count in added.items():
            if not count:
                continue
            db.execute(
                "INSERT INTO days VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET accepted = accepted + excluded.accepted",
                (number, self._today().isoformat(), count),
            )

    # --- folding -----------------------------------------------------------------------------------------------------

    def fold(self, survey: Published, at_least: int = 1) -> int:
        moved = self._fold_all(survey, at_least)
        if moved:
            self._connections.empty_log()
            self._connections.cut_log()  # where a long reader is in the way, the next folding truncates it
        return moved

    def _fold_chunk(self, survey: Published, at_least: int) -> int:
        """Counting takes longest, so it is done before its turn. What has come by then is counted in its turn."""
        with self._connections.reading() as db:
            before = self._next_rows(db, survey)
        if len(before) < at_least:
            return 0
        counted = keep_texts(survey.document, [row[1:] for row in before])
        with self._connections.turn, self._connections.writing(housekeeping=True) as db:
            rows = self._next_rows(db, survey)
            if len(rows) < at_least:
                return 0  # another process has folded just now
            known = {row[0] for row in before}
            late = [row[1:] for row in rows if row[0] not in known]
            if len(rows) - len(late) < len(before):  # others come first now, or some have gone: count again
                counted, late = keep_texts(survey.document, [row[1:] for row in rows]), []
            if rows:
                up_to = (survey.number, rows[-1][0])
                db.execute(
                    "INSERT INTO sealed (survey, id, content) SELECT survey, id, content FROM inbox"
                    " WHERE survey = ? AND id <= ? ORDER BY id",
                    up_to,
                )
                db.execute("DELETE FROM inbox WHERE survey = ? AND id <= ?", up_to)
                self._add_statistics(db, survey, counted)
                if late:
                    self._add_statistics(db, survey, keep_texts(survey.document, late))
        return len(rows)

    @staticmethod
    def _next_rows(db: sqlite3.Connection, survey: Published) -> list[tuple[bytes, int, str]]:
        """Those that are folded next."""
        return db.execute(
            "SELECT id, source, content FROM inbox WHERE survey = ? ORDER BY id LIMIT ?", (survey.number, CHUNK)
        ).fetchall()

    @staticmethod
    def _add_statistics(db: sqlite3.Connection, survey: Published, added: Kept) -> None:
        number, rows = survey.number, []
        for key, counts in added.cells.items():
            kept = db.execute(
                "SELECT counts FROM statistics WHERE survey = ? AND source = ? AND margin = ? AND codes = ?",
                (number, *key),
            ).fetchone()
            rows.append((number, *key, write_counts(counts if kept is None else counts + read_counts(kept[0]))))
        db.executemany("INSERT OR REPLACE INTO statistics VALUES (?, ?, ?, ?, ?)", rows)
        for source, counts in added.repeats.items():
            kept = db.execute("SELECT counts FROM repeats WHERE survey = ? AND source = ?", (number, source)).fetchone()
            total = counts if kept is None else counts + read_counts(kept[0])
            db.execute("INSERT OR REPLACE INTO repeats VALUES (?, ?, ?)", (number, source, write_counts(total)))

    # --- operation ---------------------------------------------------------------------------------------------------

    def ready(self) -> None:
        with self._connections.reading() as db:
            db.execute("SELECT 1 FROM surveys LIMIT 1").fetchone()
        if self._connections.write_failed:
            # While this fails, perhaps nobody sends anything. So it tries by itself: a write that takes some space and
            # leaves nothing.
            with self._connections.turn, self._connections.writing() as db:
                db.execute("CREATE TABLE probe AS SELECT zeroblob(100000)")
                db.execute("DROP TABLE probe")

    def refuses_to_share(self) -> str | None:
        path = self._connections.path
        return NO_LOCKS.format(path=path) if locks_work(path.absolute().parent) is False else None

    def environment_checks(self) -> list[Finding]:
        path = self._connections.path
        locks = {
            True: Finding("locks", "ok", "of two processes, only one gets a lock: tried"),
            False: Finding("locks", "problem", NO_LOCKS.format(path=path)),
            None: Finding("locks", "cannot tell", f"no file can be made in {path.absolute().parent} to try them"),
        }
        return [
            Finding("durability", "ok", "write-ahead log, synchronous=FULL: read back from the database"),
            locks[locks_work(path.absolute().parent)],
        ]

    def backup(self, target: str, key: str) -> None:
        connection = self._connections.open()
        try:
            copy_database(connection, Path(target), key)
        finally:
            connection.close()

    def close(self) -> None:
        self._finish()
        self._connections.close()
        self._trouble.close()


@lru_cache(maxsize=2 * ROWS_AT_ONCE)
def _insertion(rows: int, *, sealed: bool) -> str:
    """The statement that inserts so many rows into an open survey, except those that are there already, folded or not.
    Its values are the survey, the time, how many are new, the source unless they are sealed, and the rows.
    """
    table, other, source = ("sealed", "inbox", "") if sealed else ("inbox", "sealed", ", ?4")
    first = 4 if sealed else 5
    values = ", ".join(f"(?{place}, ?{place + 1})" for place in range(first, first + 2 * rows, 2))
    return (  # made of our own words and question marks
        f"INSERT INTO {table} SELECT ?1, column1, column2{source} FROM (VALUES {values})"  # noqa: S608
        f" WHERE NOT EXISTS (SELECT 1 FROM {other} WHERE survey = ?1 AND id = column1)"
        f" AND (SELECT {TAKES.format(now='?2', new='?3')} FROM surveys WHERE number = ?1) ON CONFLICT DO NOTHING"
    )


def _prepare(connections: Connections) -> bool:
    """Bring the schema up to date, in one transaction, or raise. True if the database is new."""
    connection = connections.open()
    try:
        created = not refuse_foreign(connections.path, connection)
        if migrations.pending(Database(connection)):
            connection.execute(
                "BEGIN IMMEDIATE"
            )  # of several starting servers, one migrates and the others find it done
            migrations.apply(Database(connection))
            connection.execute("COMMIT")
        return created
    except sqlite3.Error as error:
        raise explained(connections.path, error) from None
    finally:
        connection.close()
