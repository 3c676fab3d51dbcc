"""What a device remembers: the documents it has seen, its booklets, its tokens, and the ledger of what it has spent.

May not: hold an answer, or the time of one: a submission that waits has a day, until it is settled. Only published
documents, booklets that were drawn before anything was asked, tokens, randomised submissions and public segment codes
are written. The ledger's waiting entries are the outbox. What was delivered leaves nothing but what it has spent. An
invitation and what blinds a token are deleted when the token is there: they link it to a person.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias

from deniable_protocol import Account
from deniable_protocol.blind_signatures import Blinding, Token
from deniable_protocol.checks import sha256

from .database import DAMAGED, PATIENCE, Database, Result
from .errors import BudgetExceeded

Status: TypeAlias = Literal["waiting", "delivered", "refused", "expired"]

VERSION = 1
APPLICATION = 0x64656E79  # "deny", in the file's header: this file is ours
LONGEST_WAIT = 14
"""For how many days a submission is tried. Each attempt shows its server that this device is back."""

SCHEMA = (
    """
    CREATE TABLE documents (
        address   TEXT NOT NULL PRIMARY KEY,             -- where the survey is published: its API URL
        content   TEXT NOT NULL                          -- the survey itself, wherever it is published
                  CHECK (length(content) = 64 AND content NOT GLOB '*[^0-9a-f]*'),
        published BLOB NOT NULL                          -- the document's bytes, verified, as they were served
                  CHECK (typeof(published) = 'blob')
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE booklets (
        content   TEXT NOT NULL PRIMARY KEY              -- the survey it belongs to, wherever that is published
                  CHECK (length(content) = 64 AND content NOT GLOB '*[^0-9a-f]*'),
        digest    TEXT NOT NULL                          -- the document whose booklets were drawn from
                  CHECK (length(digest) = 64 AND digest NOT GLOB '*[^0-9a-f]*'),
        booklet   INTEGER NOT NULL                       -- what this device is asked: drawn once, before any answer
                  CHECK (typeof(booklet) = 'integer' AND booklet BETWEEN 0 AND 9999)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE tokens (
        digest     TEXT NOT NULL PRIMARY KEY             -- the document whose issuer signs
                   CHECK (length(digest) = 64 AND digest NOT GLOB '*[^0-9a-f]*'),
        content    TEXT NOT NULL                         -- the survey it belongs to
                   CHECK (length(content) = 64 AND content NOT GLOB '*[^0-9a-f]*'),
        message    BLOB NOT NULL                         -- random, and nobody has seen it yet
                   CHECK (typeof(message) = 'blob' AND length(message) = 64),
        invitation TEXT,                                 -- the code, until the token is there
        blinded    BLOB                                  -- what is sent to be signed, until then
                   CHECK (blinded IS NULL OR typeof(blinded) = 'blob' AND length(blinded) = 256),
        inverse    BLOB                                  -- what makes the token of the answer, until then
                   CHECK (inverse IS NULL OR typeof(inverse) = 'blob' AND length(inverse) = 256),
        signature  BLOB                                  -- the issuer's: message and this are the token
                   CHECK (signature IS NULL OR typeof(signature) = 'blob' AND length(signature) = 256),
        CHECK ((signature IS NULL) = (invitation NOT NULL) AND (signature IS NULL) = (blinded NOT NULL)
               AND (signature IS NULL) = (inverse NOT NULL))
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE ledger (
        content   TEXT NOT NULL PRIMARY KEY              -- the survey, which is answered once, wherever it is published
                  CHECK (length(content) = 64 AND content NOT GLOB '*[^0-9a-f]*'),
        epsilon   TEXT NOT NULL                          -- what it spends, exact decimals
                  CHECK (epsilon GLOB '[0-9]*' AND epsilon NOT GLOB '*[^0-9.]*'),
        delta     TEXT NOT NULL                          -- the chance that it spends more
                  CHECK (delta GLOB '[0-9]*' AND delta NOT GLOB '*[^0-9.]*'),
        status    TEXT NOT NULL                          -- waiting: in the outbox. The others are for good, and spent
                  CHECK (status IN ('waiting', 'delivered', 'refused', 'expired')),
        id        TEXT                                   -- the submission's random id, while it waits
                  CHECK (length(id) = 32 AND id NOT GLOB '*[^0-9a-f]*'),
        address   TEXT,                                  -- the survey's address that it goes to, while it waits
        body      BLOB                                   -- the bytes that are sent at every attempt, while it waits
                  CHECK (body IS NULL OR typeof(body) = 'blob'),
        day       INTEGER                                -- days from 1970 to the day it was made, while it waits
                  CHECK (day IS NULL OR typeof(day) = 'integer'),
        CHECK ((status = 'waiting') = (id NOT NULL) AND (status = 'waiting') = (address NOT NULL)
               AND (status = 'waiting') = (body NOT NULL) AND (status = 'waiting') = (day NOT NULL))
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE seal (
        sha256    TEXT NOT NULL                          -- of all rows of the others: a damaged file is noticed
    )
    """,
)


class Entry(NamedTuple):
    """One line of the ledger. The last four are there while it waits, and only then."""

    content: str
    epsilon: str
    delta: str
    status: Status = "waiting"
    id: str | None = None
    address: str | None = None
    body: bytes | None = None
    day: int | None = None

    @property
    def account(self) -> Account:
        return Account.of(self.epsilon, self.delta)


class Asked(NamedTuple):
    """A token that is not there yet: the invitation, and what was drawn for it. Never printed."""

    invitation: str
    blinding: Blinding

    def __repr__(self) -> str:
        return "<Asked>"


_COLUMNS = ", ".join(Entry._fields)


class State:
    """The ledger, the booklets, the tokens and the kept documents, in a file or in memory."""

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self._database = Database(path, _make)
        self._database.write(self._open)

    def _open(self, connection: sqlite3.Connection) -> None:
        """Refuse a file that is not ours, not whole, or not known to this version; drop what has waited too long."""
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        schema = [sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master ORDER BY rowid")]
        if application != APPLICATION and schema:
            raise self._database.unusable("it is another program's database; name a file of its own")
        if application == APPLICATION and version > VERSION:
            raise self._database.unusable("a newer version of deniable made it; upgrade this one")
        (sound,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
        if schema != [statement.strip() for statement in SCHEMA] or sound != "ok":
            raise self._database.unusable(DAMAGED)
        self._check_seal(connection)
        # Written every time: a file or folder that is read-only shows now, and not when someone has answered.
        connection.execute(f"PRAGMA user_version = {VERSION}")
        _expire(connection)
        _seal(connection)

    def _check_seal(self, connection: sqlite3.Connection) -> None:
        if connection.execute("SELECT sha256 FROM seal").fetchall() != [(_sha256(connection),)]:
            raise self._database.unusable(DAMAGED)

    def _read(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        def checked(connection: sqlite3.Connection) -> Result:
            self._check_seal(connection)
            return work(connection)

        return self._database.read(checked)

    def _write(self, work: Callable[[sqlite3.Connection], Result], *, patience: float = PATIENCE) -> Result:
        def sealed(connection: sqlite3.Connection) -> Result:
            self._check_seal(connection)
            result = work(connection)
            _seal(connection)
            return result

        return self._database.write(sealed, patience=patience)

    def keep_document(self, address: str, content: str, published: bytes) -> bytes:
        """Remember a document, unless one is known for this address already. Returns the remembered one."""

        def work(connection: sqlite3.Connection) -> bytes:
            connection.execute("INSERT OR IGNORE INTO documents VALUES (?, ?, ?)", (address, content, published))
            return _document(connection, address) or published

        return self._write(work)

    def document(self, address: str) -> bytes | None:
        return self._read(lambda connection: _document(connection, address))

    def keep_booklet(self, content: str, digest: str, draw: Callable[[], int]) -> int | None:
        """Draw this device's booklet of a survey and remember it, unless it has one. Returns the remembered one.

        None where the remembered one is of another document: the same survey, with other booklets.
        """

        def work(connection: sqlite3.Connection) -> int | None:
            # The only writer at this time: of several threads or processes the first one draws, and all get its draw.
            row = connection.execute("SELECT digest, booklet FROM booklets WHERE content = ?", (content,)).fetchone()
            if row is None:
                row = digest, draw()
                connection.execute("INSERT INTO booklets VALUES (?, ?, ?)", (content, *row))
            return int(row[1]) if row[0] == digest else None

        return self._write(work)

    def token(self, digest: str) -> Token | Asked | None:
        """The token for a document, or what is kept to get one."""
        return self._read(lambda connection: _token(connection, digest))

    def keep_blinding(self, content: str, digest: str, asked: Asked) -> Token | Asked:
        """Remember what is about to be sent, unless there is a token, or something was drawn for the same invitation.

        Returns what is remembered then: of several threads or processes, all go on with what the first one drew.
        """

        def work(connection: sqlite3.Connection) -> Token | Asked:
            kept = _token(connection, digest)
            if isinstance(kept, Token) or (kept is not None and kept.invitation == asked.invitation):
                return kept
            blinding = asked.blinding
            row = (digest, content, blinding.message, asked.invitation, blinding.blinded, blinding.inverse)
            connection.execute("REPLACE INTO tokens VALUES (?, ?, ?, ?, ?, ?, NULL)", row)
            return asked

        return self._write(work)

    def keep_token(self, digest: str, token: Token) -> None:
        """Remember the finished token, and forget what could link it to the invitation."""
        statement = (
            "UPDATE tokens SET signature = ?, invitation = NULL, blinded = NULL, inverse = NULL "
            "WHERE digest = ? AND message = ?"
        )
        self._write(lambda connection: connection.execute(statement, (token.signature, digest, token.message)))

    def check_budget(self, content: str, account: Account, budget: Account) -> None:
        """BudgetExceeded if a submission to this survey would spend too much. One that was made is not asked again."""

        def work(connection: sqlite3.Connection) -> None:
            if _find(connection, content) is None:
                _check_budget(connection, account, budget)

        self._read(work)

    def record(self, entry: Entry, budget: Account, *, patience: float = PATIENCE) -> Entry:
        """Write the entry, once and for all, if its survey is not in the ledger and the budget allows it. A token is
        part of the entry from then on, and no longer kept by itself.

        Returns what the ledger then holds for this survey: the entry, or the one that came before it.
        """

        def work(connection: sqlite3.Connection) -> Entry:
            earlier = _find(connection, entry.content)
            if earlier is not None:
                return earlier
            _check_budget(connection, entry.account, budget)
            connection.execute(f"INSERT INTO ledger ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", entry)  # noqa: S608  # our own names
            connection.execute("DELETE FROM tokens WHERE content = ?", (entry.content,))
            return entry

        return self._write(work, patience=patience)

    def find(self, content: str) -> Entry | None:
        """The ledger's entry for a survey, at whatever address it was answered."""
        return self._read(lambda connection: _find(connection, content))

    def forget(self, content: str, *, unsent: bool) -> Entry | None:
        """Remove a survey's documents, booklet, token and ledger entry. Returns the entry, if any.

        One that waits would be lost: with it nothing is removed, unless ``unsent`` says so.
        """

        def work(connection: sqlite3.Connection) -> Entry | None:
            entry = _find(connection, content)
            if unsent or entry is None or entry.status != "waiting":
                for table in ("ledger", "tokens", "booklets", "documents"):
                    connection.execute(f"DELETE FROM {table} WHERE content = ?", (content,))  # noqa: S608  # our own names
            return entry

        return self._write(work)

    def waiting(self, content: str, address: str) -> Entry | None:
        """What the outbox has for this survey at this address. What has waited too long is dropped."""
        entry = self.find(content)
        if entry is not None and entry.day is not None and entry.day < _oldest():
            self._write(_expire)
            entry = self.find(content)
        return entry if entry is not None and entry.address == address else None

    def settle(self, content: str, submission: str, status: Status) -> None:
        """Record how a delivery ended, and drop what was sent. Delivered stays delivered, whatever another is told."""
        self._write(lambda connection: connection.execute(_SETTLE, (status, content, submission)))


def _make(connection: sqlite3.Connection) -> None:
    """All that a new file has."""
    for statement in SCHEMA:
        connection.execute(statement.strip())
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("INSERT INTO seal VALUES ('')")
    _seal(connection)


def _seal(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE seal SET sha256 = ?", (_sha256(connection),))


def _sha256(connection: sqlite3.Connection) -> str:
    tables = ("documents", "booklets", "tokens", "ledger")
    rows = [connection.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall() for table in tables]  # noqa: S608  # our own names
    return sha256(repr(rows).encode())


def _document(connection: sqlite3.Connection, address: str) -> bytes | None:
    row = connection.execute("SELECT published FROM documents WHERE address = ?", (address,)).fetchone()
    return None if row is None else row[0]


def _token(connection: sqlite3.Connection, digest: str) -> Token | Asked | None:
    columns = "message, invitation, blinded, inverse, signature"
    row = connection.execute(f"SELECT {columns} FROM tokens WHERE digest = ?", (digest,)).fetchone()  # noqa: S608  # our own names
    if row is None:
        return None
    message, invitation, blinded, inverse, signature = row
    return Token(message, signature) if signature else Asked(invitation, Blinding(message, blinded, inverse))


def _find(connection: sqlite3.Connection, content: str) -> Entry | None:
    row = connection.execute(f"SELECT {_COLUMNS} FROM ledger WHERE content = ?", (content,)).fetchone()  # noqa: S608  # our own names
    return None if row is None else Entry(*row)


def _check_budget(connection: sqlite3.Connection, account: Account, budget: Account) -> None:
    rows = connection.execute("SELECT epsilon, delta FROM ledger").fetchall()
    spent = sum((Account.of(*row) for row in rows), Account())
    if not (spent + account).within(budget):
        raise BudgetExceeded(account, spent, budget)


_SETTLED = "UPDATE ledger SET status = ?, id = NULL, address = NULL, body = NULL, day = NULL"
_SETTLE = f"{_SETTLED} WHERE content = ? AND (id = ? OR id IS NULL) AND status <> 'delivered'"
_EXPIRE = f"{_SETTLED} WHERE day < ?"


def _expire(connection: sqlite3.Connection) -> None:
    connection.execute(_EXPIRE, ("expired", _oldest()))


def _oldest() -> int:
    """The first of the days whose submissions are still tried."""
    return today() - LONGEST_WAIT


def today() -> int:
    """Days since 1970: the finest time that is ever kept."""
    return int(time.time() // 86_400)
