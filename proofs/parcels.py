"""What is sent, and whether just that is stored.

Every submission is known by its id and content before it is sent. So a stored row that was lost, doubled, altered or
invented cannot hide: what is in the database is compared with what was sent, row by row, and recounted.
"""

from __future__ import annotations

import http.client
import json
import random
import sqlite3
import threading
from collections import Counter, defaultdict
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg

from deniable_protocol import Document, publish, randomize, survey_from_tree, verify
from deniable_protocol.blind_signatures import PublicKey, Token
from deniable_server.storage.postgres.names import SCHEMA
from deniable_server.storage.postgres.view import PostgresView
from deniable_server.storage.queries import find_damage
from deniable_server.storage.sqlite.view import SQLiteView
from tests.helpers.servers import collector

CAMPUSES = ("north", "south")


def published(survey: str, issuer: PublicKey | None = None) -> bytes:
    """A survey of a few short questions, so that making submissions costs little: a follow-up, and three booklets.
    With an ``issuer``, it is answered by invitation.
    """
    tree = {
        "id": survey,
        "title": "Under load",
        "invitations": issuer is not None,
        "epsilon": "2",
        "segments": [
            {"id": "campus", "text": "Where?", "options": [{"code": code, "text": code} for code in CAMPUSES]}
        ],
        "questions": [
            {"id": "smoked", "type": "yes_no", "text": "?"},
            {"id": "often", "type": "scale", "text": "?", "labels": ["a", "b", "c"], "show_if": {"smoked": ["yes"]}},
            {"id": "stress", "type": "scale", "text": "?", "labels": ["a", "b", "c", "d", "e"]},
        ],
    }
    parts = [(["smoked", "often"], None), (["stress"], None), (["smoked", "often", "stress"], None)]
    return publish(survey_from_tree(tree), parts, [([0], 2), ([1], 1), ([2], 1)], issuer=issuer)


class Parcel:
    """One request: a submission or a batch of them, sent as often as it takes, always the same bytes."""

    __slots__ = ("attempts", "body", "closed", "contents", "delivered", "headers", "survey")

    def __init__(self, survey: str, submissions: list[dict[str, Any]], *, batch: bool) -> None:
        self.survey = survey
        self.contents = {one["id"]: content_of(one) for one in submissions}
        tree = {"submissions": submissions} if batch else submissions[0]
        self.body = json.dumps(tree, separators=(",", ":")).encode()
        self.headers = collector(survey) if batch else {}
        self.attempts = 0
        self.delivered = False  # it was acknowledged
        self.closed = False  # it came too late: the survey was closed

    @property
    def waits(self) -> bool:
        """Whether it has to be sent (again)."""
        return not (self.delivered or self.closed)


def content_of(submission: dict[str, Any]) -> str:
    """What has to be stored for it: written down here once more, independently of the server."""
    campus = CAMPUSES.index(submission["segments"]["campus"])
    content = [submission["booklet"], submission["reports"], [campus]]
    return json.dumps(content, separators=(",", ":"))


class Maker:
    """Makes submissions with the real protocol; which answers they hide does not matter here."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._documents: dict[str, Document] = {}

    def submissions(self, survey: str, count: int) -> list[dict[str, Any]]:
        if survey not in self._documents:
            self._documents[survey] = verify(published(survey))
        return [self.submission(self._documents[survey]) for _ in range(count)]

    def submission(self, document: Document, token: Token | None = None) -> dict[str, Any]:
        draw = self._random.random
        answers = {"smoked": draw() < 0.3, "often": 1 + int(draw() * 3), "stress": 1 + int(draw() * 5)}
        return dict(randomize(document, answers, {"campus": CAMPUSES[draw() < 0.5]}, token=token))

    def parcel(self, survey: str, count: int = 0) -> Parcel:
        """A batch of this many, or a single one; without a count, mostly a single one, else a small batch."""
        if count == 1 or (count == 0 and self._random.random() < 0.7):
            return Parcel(survey, self.submissions(survey, 1), batch=False)
        return Parcel(survey, self.submissions(survey, count or self._random.randint(1, 40)), batch=True)


class Connection:
    """A connection to the server that is kept from one request to the next."""

    def __init__(self, port: int, timeout: float = 60) -> None:
        self.port = port
        self._http = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)

    def open(self) -> None:
        self._http.connect()

    def post(self, path: str, body: bytes, headers: dict[str, str] | None = None) -> tuple[int, dict[str, Any]]:
        """Status and answer. OSError where there is none, or not all of it."""
        try:
            self._http.request("POST", path, body, {"Content-Type": "application/json", **(headers or {})})
            response = self._http.getresponse()
            return response.status, json.loads(response.read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            self._http.close()
            raise ConnectionError(type(error).__name__) from None

    def close(self) -> None:
        self._http.close()


def submissions_path(survey: str) -> str:
    return f"/api/v1/surveys/{survey}/submissions"


Rows = list[tuple[str, str, str]]
"""Survey, id and content of what is stored, as it is stored: read past the server's own code."""

STORED = (
    "FROM (SELECT survey, id, content FROM sealed UNION ALL SELECT survey, id, content FROM inbox) AS stored"
    " JOIN surveys ON number = survey"
)


def _stored_in_file(database: Path, recount: bool) -> tuple[Rows, list[str]]:
    with closing(sqlite3.connect(f"{database.resolve().as_uri()}?mode=rw", uri=True, timeout=30)) as db:
        db.execute("BEGIN")
        rows = db.execute(f"SELECT surveys.id, lower(hex(stored.id)), content {STORED}").fetchall()
        return rows, find_damage(SQLiteView(db)) if recount else []


def _stored_at(address: str, recount: bool) -> tuple[Rows, list[str]]:
    with psycopg.connect(address) as db:
        db.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        db.execute(f"SET search_path = {SCHEMA}".encode())
        rows = db.execute(f"SELECT surveys.id, encode(stored.id, 'hex'), content {STORED}".encode()).fetchall()
        return rows, find_damage(PostgresView(db)) if recount else []


class Book:
    """What was sent and what was answered to it. Used by all sending threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._parcels: list[Parcel] = []
        self._faults: defaultdict[str, set[str]] = defaultdict(set)
        self.may_close: set[str] = set()
        self.acknowledged = 0
        self.counts: Counter[str] = Counter()

    def fault(self, what: str, which: str = "") -> None:
        """Something that must not be; ``which`` identifies the case, so that each is counted once."""
        with self._lock:
            self._faults[what].add(which)

    def failures(self) -> list[str]:
        with self._lock:
            return [f"{what}: {len(which)}" for what, which in sorted(self._faults.items())]

    def count(self, what: str, by: int = 1) -> None:
        with self._lock:
            self.counts[what] += by

    def about_to_send(self, parcel: Parcel) -> None:
        """Noted before it is sent: from now on its rows may be in the database."""
        with self._lock:
            if parcel.attempts == 0:
                self._parcels.append(parcel)
            parcel.attempts += 1

    def answered(self, parcel: Parcel, status: int, answer: dict[str, Any]) -> None:
        """Judge an answer by all that was answered before. For one thread at a time per parcel."""
        size, name = len(parcel.contents), next(iter(parcel.contents))
        if status == 201:
            accepted, duplicates = answer["accepted"], answer["duplicates"]
            if accepted + duplicates != size or accepted not in (0, size):
                self.fault("a batch was neither stored nor known as a whole", name)
            if parcel.attempts == 1 and not accepted:
                self.fault("a submission was called a duplicate when it was first sent", name)
            if parcel.delivered and accepted:
                self.fault("an acknowledged submission was accepted once more", name)
            if parcel.attempts > 1 and not parcel.delivered:
                self.count("retries answered: it was stored before" if duplicates else "retries answered: stored now")
            with self._lock:
                self.acknowledged += 0 if parcel.delivered else size
            parcel.delivered = True
        elif status == 409 and answer["type"].endswith(":survey-closed") and parcel.survey in self.may_close:
            if parcel.delivered:
                self.fault("an acknowledged submission was refused when it came again", name)
            parcel.closed = True
        elif status == 503:
            self.count("answers 503")
        else:
            self.fault(f"an answer {status} to a good submission", name)

    def some_delivered(self, draw: random.Random) -> Parcel | None:
        """A parcel that was acknowledged some time ago."""
        with self._lock:
            parcel = self._parcels[int(draw.random() * len(self._parcels))] if self._parcels else None
        return parcel if parcel is not None and parcel.delivered else None

    def oldest(self, count: int) -> list[Parcel]:
        """The first that were delivered, which have been folded since."""
        with self._lock:
            return [parcel for parcel in self._parcels if parcel.delivered][:count]

    def waiting(self) -> list[Parcel]:
        """What was sent and has no final answer."""
        with self._lock:
            return [parcel for parcel in self._parcels if parcel.waits]

    def compare(self, database: Path | str, *, recount: bool = True) -> int:
        """Compare what is stored with what was sent and answered up to now, and note every difference.

        Returns how many submissions are stored. The database, a file or an address, may be in use.
        """
        with self._lock:
            delivered = [parcel for parcel in self._parcels if parcel.delivered]
        read = _stored_in_file(database, recount) if isinstance(database, Path) else _stored_at(database, recount)
        rows, damage = read
        with self._lock:
            sent = list(self._parcels)
        for sentence in damage:
            self.fault(f"{database.name if isinstance(database, Path) else 'PostgreSQL'}: {sentence}", "")
        self._compare(rows, delivered, sent)
        return len(rows)

    def _compare(self, rows: Rows, delivered: list[Parcel], sent: list[Parcel]) -> None:
        stored = {submission: (survey, content) for survey, submission, content in rows}
        if len(stored) < len(rows):
            for submission, times in Counter(submission for _, submission, _ in rows).items():
                if times > 1:
                    self.fault("a submission is stored twice", submission)
        for parcel in delivered:
            for submission in parcel.contents:
                if submission not in stored:
                    self.fault("an acknowledged submission is lost", submission)
        for parcel in sent:
            found = 0
            for submission, content in parcel.contents.items():
                there = stored.pop(submission, None)
                found += there is not None
                if there is not None and there != (parcel.survey, content):
                    self.fault("what is stored differs from what was sent", submission)
            if found not in (0, len(parcel.contents)):
                self.fault("a batch is stored in part", next(iter(parcel.contents)))
            if found and parcel.closed:
                self.fault("a submission is stored that was refused", next(iter(parcel.contents)))
        for submission in stored:
            self.fault("a submission is stored that nobody sent", submission)
