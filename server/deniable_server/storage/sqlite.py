"""SQLite storage: one file, WAL, every commit synced to disk.

Durability: ``synchronous=FULL`` in WAL mode syncs the log at each commit, before ``accept`` returns; both settings are
read back when a connection opens. Speed: requests that wait for a commit share the next one.

Privacy: a submission first lies in the inbox, where page layout and the log still tell when it came. Folding moves
submissions to the sealed table in id order; ``secure_delete`` wipes what they leave behind, and the log is cut off. As
many that come in one commit are sealed at once, in id order, and stay in the log until it is cut or written over.
Between foldings of at least ``fold_at`` submissions, the layout of a sealed page may still tell in which of them a
submission came; closing a survey compacts the file, and then nothing does.
"""

from __future__ import annotations

import logging
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import msgspec
from sqlite_utils import Database

from deniable_protocol import verify
from deniable_server.tallies import Content, Statistics, merge, tally

from . import (
    Accepted,
    IdConflict,
    Listed,
    Published,
    Row,
    Status,
    Storage,
    StorageError,
    SurveyClosed,
    SurveyDiffers,
    Unavailable,
    utc_today,
)
from .connections import Connections, explained
from .copies import (
    CHUNK,
    copy_database,
    find_damage,
    read_cell,
    read_content,
    recount,
    refuse_foreign,
    sealed_statistics,
)
from .keyring import SQLiteKeyring
from .schema import migrations
from .together import Together

log = logging.getLogger(__name__)

ROWS_AT_ONCE = 250
"""Rows that one statement inserts."""

FOLD_AGAIN_AFTER = 60.0
"""Seconds until a folding that failed is tried again."""


class _Request(NamedTuple):
    """Submissions that are stored all or none."""

    survey: Published
    rows: Sequence[Row]


class _Submissions:
    """The submissions of a survey by id, as one reader sees them: the same each time they are gone through."""

    def __init__(self, db: sqlite3.Connection, number: int) -> None:
        self._db, self._number = db, number

    def __iter__(self) -> Iterator[tuple[bytes, Content]]:
        rows = self._db.execute(
            "SELECT id, content FROM sealed WHERE survey = ?1"
            " UNION ALL SELECT id, content FROM inbox WHERE survey = ?1 ORDER BY id",
            (self._number,),
        )
        return ((submission, read_content(content)) for submission, content in rows)


class SQLiteStorage(Storage):
    """One SQLite file. One connection writes; reading connections are kept for the next reader."""

    def __init__(
        self,
        path: str | Path,
        *,
        create: bool = True,
        busy_seconds: float = 5.0,
        fold_at: int = 1_000,
        today: Callable[[], date] = utc_today,
    ) -> None:
        self._connections = Connections(Path(path), busy_seconds, create=create)
        self._fold_at, self._today = fold_at, today
        self._surveys: dict[str, Published] = {}
        self._together: Together[_Request, Accepted] = Together(self._commit, self._fold_where_due)
        self._keyring = SQLiteKeyring(self._connections, today)
        _prepare(self._connections)
        with self._connections.reading() as db:
            self._unfolded = Counter(dict(db.execute("SELECT survey, count(*) FROM inbox GROUP BY survey")))
        self._fold_again_at = float("-inf")

    @property
    def keyring(self) -> SQLiteKeyring:
        return self._keyring

    # --- surveys -----------------------------------------------------------------------------------------------------

    def publish(self, published: bytes) -> bool:
        document = verify(published)
        with self._connections.turn, self._connections.writing() as db:
            known = db.execute("SELECT document FROM surveys WHERE id = ?", (document.survey.id,)).fetchone()
            if known is None:
                db.execute(
                    "INSERT INTO surveys (id, document, digest, published_on) VALUES (?, ?, ?, ?)",
                    (document.survey.id, published, document.digest, self._today().isoformat()),
                )
                return True
        # Another version may lay out channels differently; it is the survey that must be the same.
        if verify(known[0]).survey != document.survey:
            raise SurveyDiffers(
                f"{document.survey.id} is already published with other content, and a published survey never changes. "
                "Give the new one another id."
            )
        return False

    def find(self, survey: str) -> Published | None:
        if survey not in self._surveys:
            with self._connections.reading() as db:
                row = db.execute("SELECT number, document FROM surveys WHERE id = ?", (survey,)).fetchone()
            if row is None:
                return None
            self._surveys[survey] = Published(row[0], row[1], verify(row[1]))
        return self._surveys[survey]

    def status(self, survey: Published) -> Status:
        with self._connections.reading() as db:
            row = db.execute("SELECT status FROM surveys WHERE number = ?", (survey.number,)).fetchone()
        return "open" if row == ("open",) else "closed"

    def surveys(self) -> list[Listed]:
        with self._connections.reading() as db:
            rows = db.execute(
                "SELECT id, status, published_on, closed_on,"
                " (SELECT coalesce(sum(accepted), 0) FROM days WHERE survey = number) FROM surveys ORDER BY id"
            ).fetchall()
        listed = []
        for survey, status, published_on, closed_on, submissions in rows:
            found = self.find(survey)
            assert found is not None
            title, digest = found.document.survey.title, found.document.digest
            state: Status = "open" if status == "open" else "closed"
            listed.append(Listed(survey, title, digest, state, submissions, published_on, closed_on))
        return listed

    def close_survey(self, survey: Published) -> bool:
        with self._connections.turn:
            with self._connections.writing() as db:
                if db.execute(
                    "SELECT 1 FROM surveys WHERE number = ? AND status = 'closed'", (survey.number,)
                ).fetchone():
                    return False
                db.execute(
                    "UPDATE surveys SET status = 'closing', closed_on = ? WHERE number = ? AND status = 'open'",
                    (self._today().isoformat(), survey.number),
                )
            self._seal(survey)
            return True

    def _seal(self, survey: Published) -> None:
        """The rest of closing: fold, compact, and only then say closed. Repeated after a crash in between."""
        self._fold(survey)
        self._connections.compact()  # unless the log is wiped as well, the survey is not closed yet
        with self._connections.writing() as db:
            db.execute("UPDATE surveys SET status = 'closed' WHERE number = ?", (survey.number,))
        log.info("Closed %s", survey.document.survey.id)
        self._connections.cut_log(patient=False)

    def finish_closing(self) -> None:
        with self._connections.reading() as db:
            rows = db.execute("SELECT id FROM surveys WHERE status = 'closing'").fetchall()
        for (survey,) in rows:
            published = self.find(survey)
            assert published is not None
            try:
                with self._connections.turn:
                    self._seal(published)
            except Unavailable as error:  # another process may be at it just now
                log.warning("The closing of %s is not finished yet: %s", survey, error)

    # --- submissions -------------------------------------------------------------------------------------------------

    def accept(self, survey: Published, rows: Sequence[Row]) -> Accepted:
        return self._together.do(_Request(survey, rows))

    def _commit(self, requests: list[_Request]) -> Sequence[Accepted | Exception]:
        """Store all of them with one commit, and say what became of each."""
        try:
            with self._connections.turn, self._connections.writing() as db:
                outcomes: Sequence[Accepted | Exception]
                if self._store_all(db, requests):
                    outcomes = [Accepted(len(rows), 0) for _, rows in requests]
                else:
                    db.execute("ROLLBACK")
                    db.execute("BEGIN IMMEDIATE")
                    outcomes = [self._store(db, *request) for request in requests]
                self._count_days(db, requests, outcomes)
            return outcomes
        except StorageError as error:
            return [type(error)(str(error)) for _ in requests]  # each thread raises one of its own

    def _store_all(self, db: sqlite3.Connection, requests: list[_Request]) -> bool:
        """The quick way, for requests that nothing speaks against: False where anything does, for any of them."""
        surveys: dict[int, tuple[Published, list[Row]]] = {}
        for survey, rows in requests:
            surveys.setdefault(survey.number, (survey, []))[1].extend(rows)
        for survey, rows in surveys.values():
            # So many at once are as good as a folding: they are sealed in the order of their ids.
            sealed = len(rows) >= self._fold_at
            if sealed:
                rows.sort()
            if not self._is_open(db, survey) or self._insert(db, survey, rows, sealed=sealed) < len(rows):
                return False
            if sealed:
                self._add_statistics(db, survey, [row.content for row in rows])
        return True

    def _store(self, db: sqlite3.Connection, survey: Published, rows: Sequence[Row]) -> Accepted | Exception:
        """All rows of one request, or none and the reason. Others' rows of the same transaction are untouched."""
        db.execute("SAVEPOINT request")
        added = self._insert(db, survey, rows, sealed=False)
        refusal: Exception | None = None
        if added < len(rows) and not all(self._is_stored(db, survey.number, row) for row in rows):
            refusal = IdConflict("Nothing of this request was stored.")
        elif added and not self._is_open(db, survey):
            refusal = SurveyClosed("It takes no more submissions.")
        if refusal:
            db.execute("ROLLBACK TO request")
        db.execute("RELEASE request")
        return refusal or Accepted(added, len(rows) - added)

    def _insert(self, db: sqlite3.Connection, survey: Published, rows: Sequence[Row], *, sealed: bool) -> int:
        """How many of these were new, and are there now. As few statements as can be: each may cost this thread its
        turn with the interpreter.
        """
        before = db.total_changes
        for start in range(0, len(rows), ROWS_AT_ONCE):
            some = rows[start : start + ROWS_AT_ONCE]
            db.execute(_insertion(len(some), sealed=sealed), (survey.number, *chain.from_iterable(some)))
        added = db.total_changes - before
        if not sealed:
            self._unfolded[survey.number] += added  # a bound: should this be rolled back, folding finds less
        return added

    @staticmethod
    def _is_open(db: sqlite3.Connection, survey: Published) -> bool:
        found = db.execute("SELECT status FROM surveys WHERE number = ?", (survey.number,)).fetchone()
        return bool(found == ("open",))

    @staticmethod
    def _is_stored(db: sqlite3.Connection, number: int, row: Row) -> bool:
        found = db.execute(
            "SELECT content FROM inbox WHERE survey = ?1 AND id = ?2"
            " UNION ALL SELECT content FROM sealed WHERE survey = ?1 AND id = ?2",
            (number, row.id),
        ).fetchone()
        return bool(found == (row.content,))

    def _count_days(
        self, db: sqlite3.Connection, requests: list[_Request], outcomes: Sequence[Accepted | Exception]
    ) -> None:
        added: Counter[int] = Counter()
        for request, outcome in zip(requests, outcomes, strict=True):
            if isinstance(outcome, Accepted):
                added[request.survey.number] += outcome.accepted
        day = self._today().isoformat()
        db.executemany(
            "INSERT INTO days VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET accepted = accepted + excluded.accepted",
            [(number, day, count) for number, count in added.items() if count],
        )

    # --- folding -----------------------------------------------------------------------------------------------------

    def fold(self, survey: Published) -> int:
        with self._connections.turn:
            return self._fold(survey)

    def _fold_where_due(self, requests: list[_Request]) -> None:
        for number, survey in {request.survey.number: request.survey for request in requests}.items():
            if self._unfolded[number] >= self._fold_at and time.monotonic() >= self._fold_again_at:
                try:
                    with self._connections.turn:
                        self._fold(survey, at_least=self._fold_at)
                except Exception as error:
                    # What was acknowledged stays acknowledged, whatever becomes of the folding. Only the first of a row
                    # of failures is logged, and tried again after a while: each is at a respondent's time.
                    if self._fold_again_at == float("-inf"):
                        log.error("Folding failed and has to wait: %s", type(error).__qualname__)
                    self._fold_again_at = time.monotonic() + FOLD_AGAIN_AFTER
                else:
                    self._fold_again_at = float("-inf")

    def _fold(self, survey: Published, at_least: int = 1) -> int:
        """Fold all that waits, if it is enough: another server may have folded just now, and few would stand out."""
        chunk = moved = self._fold_chunk(survey, at_least)
        while chunk == CHUNK:  # else nothing was left, and what has come since may be few
            chunk = self._fold_chunk(survey, 1)
            moved += chunk
        self._unfolded.pop(survey.number, None)
        if moved:
            # A long reader is not waited for here: the next folding cuts the log again.
            self._connections.cut_log(patient=False)
            log.debug("Folded %d submissions of %s", moved, survey.document.survey.id)
        return moved

    def _fold_chunk(self, survey: Published, at_least: int) -> int:
        with self._connections.writing(housekeeping=True) as db:
            rows = db.execute(
                "SELECT id, content FROM inbox WHERE survey = ? ORDER BY id LIMIT ?", (survey.number, CHUNK)
            ).fetchall()
            if len(rows) < at_least:
                return 0
            if rows:
                up_to = (survey.number, rows[-1][0])
                db.execute("INSERT INTO sealed SELECT * FROM inbox WHERE survey = ? AND id <= ? ORDER BY id", up_to)
                db.execute("DELETE FROM inbox WHERE survey = ? AND id <= ?", up_to)
                self._add_statistics(db, survey, [content for _, content in rows])
        return len(rows)

    @staticmethod
    def _add_statistics(db: sqlite3.Connection, survey: Published, contents: Iterable[str]) -> None:
        number = survey.number
        for codes, cell in tally(survey.document, [read_content(content) for content in contents]).items():
            segments = msgspec.json.encode(codes).decode()
            known = db.execute(
                "SELECT submissions, counts FROM statistics WHERE survey = ? AND segments = ?", (number, segments)
            ).fetchone()
            if known is not None:
                cell = read_cell(*known) + cell
            counts = msgspec.json.encode([count.tolist() for count in cell.counts]).decode()
            db.execute(
                "INSERT OR REPLACE INTO statistics VALUES (?, ?, ?, ?)", (number, segments, cell.submissions, counts)
            )

    # --- reading -----------------------------------------------------------------------------------------------------

    def statistics(self, survey: Published) -> Statistics:
        with self._connections.reading() as db:
            sealed = sealed_statistics(db, survey.number)
            waiting = db.execute("SELECT content FROM inbox WHERE survey = ?", (survey.number,)).fetchall()
        return merge([sealed, tally(survey.document, [read_content(content) for (content,) in waiting])])

    def recount(self, survey: Published) -> Statistics:
        with self._connections.reading() as db:
            return recount(db, survey.number, survey.document)

    @contextmanager
    def submissions(self, survey: Published) -> Iterator[Iterable[tuple[bytes, Content]]]:
        with self._connections.reading() as db:
            yield _Submissions(db, survey.number)

    def days(self, survey: Published) -> dict[date, int]:
        with self._connections.reading() as db:
            rows = db.execute("SELECT day, accepted FROM days WHERE survey = ? ORDER BY day", (survey.number,))
            return {date.fromisoformat(day): accepted for day, accepted in rows}

    # --- operation ---------------------------------------------------------------------------------------------------

    def ready(self) -> None:
        with self._connections.reading() as db:
            db.execute("SELECT 1 FROM surveys LIMIT 1").fetchone()
        if self._connections.write_failed:
            # Nobody may be sending while this says no, so it finds out for itself: by a write that takes some space
            # and leaves nothing.
            with self._connections.turn, self._connections.writing() as db:
                db.execute("CREATE TABLE probe AS SELECT zeroblob(100000)")
                db.execute("DROP TABLE probe")

    def verify(self) -> list[str]:
        with self._connections.reading() as db:
            return find_damage(db)

    def backup(self, target: str) -> None:
        connection = self._connections.open()
        try:
            copy_database(connection, Path(target))
        finally:
            connection.close()

    def close(self) -> None:
        self._connections.close()


@lru_cache(maxsize=2 * ROWS_AT_ONCE)
def _insertion(rows: int, *, sealed: bool) -> str:
    """The statement that inserts so many rows, but for those that are there already, folded or not."""
    table, other = ("sealed", "inbox") if sealed else ("inbox", "sealed")
    return (  # made of our own words and question marks
        f"INSERT INTO {table} SELECT ?1, column1, column2 FROM (VALUES {', '.join(['(?, ?)'] * rows)})"  # noqa: S608
        f" WHERE NOT EXISTS (SELECT 1 FROM {other} WHERE survey = ?1 AND id = column1) ON CONFLICT DO NOTHING"
    )


def _prepare(connections: Connections) -> None:
    """Bring the schema up to date, in one transaction, or say why that cannot be."""
    connection = connections.open()
    try:
        refuse_foreign(connections.path, connection)
        if migrations.pending(Database(connection)):
            connection.execute(
                "BEGIN IMMEDIATE"
            )  # of several starting servers, one migrates and the others find it done
            migrations.apply(Database(connection))
            connection.execute("COMMIT")
    except sqlite3.Error as error:
        raise explained(connections.path, error) from None
    finally:
        connection.close()
