"""What a device remembers: the documents it has seen, its booklets, and the ledger of what it has spent.

May not: hold an answer, or the time of one. Only published documents, booklets that were drawn before anything was
asked, randomised submissions and public segment codes are written. The ledger's waiting entries are the outbox.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Literal, NamedTuple, TypeAlias

from .database import PATIENCE, Database, unusable
from .errors import BudgetExceeded

Status: TypeAlias = Literal["waiting", "delivered", "refused"]

VERSION = 1
APPLICATION = 0x64656E79  # "deny", in the file's header: this file is ours

SCHEMA = (
    """
    CREATE TABLE documents (
        address   TEXT NOT NULL PRIMARY KEY,             -- where the survey is published: its API URL
        published BLOB NOT NULL                          -- the document's bytes, verified, as they were served
                  CHECK (typeof(published) = 'blob')
    )
    """,
    """
    CREATE TABLE booklets (
        digest    TEXT NOT NULL PRIMARY KEY              -- the document it belongs to, wherever that is published
                  CHECK (length(digest) = 64 AND digest NOT GLOB '*[^0-9a-f]*'),
        booklet   INTEGER NOT NULL                       -- what this device is asked: drawn once, before any answer
                  CHECK (typeof(booklet) = 'integer' AND booklet BETWEEN 0 AND 9999)
    )
    """,
    """
    CREATE TABLE ledger (
        number    INTEGER PRIMARY KEY,                   -- the order of submissions; no time is kept
        id        TEXT NOT NULL UNIQUE                   -- the submission's random id
                  CHECK (length(id) = 32 AND id NOT GLOB '*[^0-9a-f]*'),
        address   TEXT NOT NULL UNIQUE,                  -- the survey it goes to; each survey is answered once
        digest    TEXT NOT NULL UNIQUE                   -- the document it answers, wherever that is published
                  CHECK (length(digest) = 64 AND digest NOT GLOB '*[^0-9a-f]*'),
        epsilon   TEXT NOT NULL                          -- what it spends, an exact decimal
                  CHECK (epsilon GLOB '[0-9]*' AND epsilon NOT GLOB '*[^0-9.]*'),
        body      BLOB NOT NULL                          -- the bytes that are sent, the same at every attempt
                  CHECK (typeof(body) = 'blob'),
        status    TEXT NOT NULL DEFAULT 'waiting'        -- waiting: in the outbox. refused: for good, and spent
                  CHECK (status IN ('waiting', 'delivered', 'refused'))
    )
    """,
)


class Entry(NamedTuple):
    """One line of the ledger."""

    id: str
    address: str
    digest: str
    epsilon: str
    body: bytes
    status: Status = "waiting"


_COLUMNS = ", ".join(Entry._fields)


class State:
    """The ledger, the booklets and the kept documents, in a file or in memory."""

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self._database = Database(path)
        self._database.write(self._prepare)

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Make the tables of a new file; refuse a file that is not ours, or not yet known to this version."""
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if (application, version, tables) == (0, 0, 0):
            for statement in SCHEMA:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
        elif application != APPLICATION:
            raise unusable(self._database.name, "it is another program's database; name a file of its own")
        elif version > VERSION:
            raise unusable(self._database.name, "a newer version of deniable made it; upgrade this one")
        # Written every time: a file or folder that is read-only shows now, and not when someone has answered.
        connection.execute(f"PRAGMA user_version = {VERSION}")

    def keep_document(self, address: str, published: bytes) -> bytes:
        """Remember a document, unless one is known for this address already. Returns the remembered one."""

        def work(connection: sqlite3.Connection) -> bytes:
            connection.execute("INSERT OR IGNORE INTO documents VALUES (?, ?)", (address, published))
            return _document(connection, address) or published

        return self._database.write(work)

    def document(self, address: str) -> bytes | None:
        return self._database.read(lambda connection: _document(connection, address))

    def keep_booklet(self, digest: str, draw: Callable[[], int]) -> int:
        """Draw this device's booklet of a document and remember it, unless it has one. Returns the remembered one."""

        def work(connection: sqlite3.Connection) -> int:
            # The only writer at this time: of several threads or processes the first one draws, and all get its draw.
            row = connection.execute("SELECT booklet FROM booklets WHERE digest = ?", (digest,)).fetchone()
            if row is not None:
                return int(row[0])
            booklet = draw()
            connection.execute("INSERT INTO booklets VALUES (?, ?)", (digest, booklet))
            return booklet

        return self._database.write(work)

    def record(self, entry: Entry, budget: Fraction | None, *, patience: float = PATIENCE) -> Entry:
        """Write the entry, once and for all, if its survey is not in the ledger and the budget allows it.

        Returns what the ledger then holds for this survey: the entry, or the one that came before it.
        """

        def work(connection: sqlite3.Connection) -> Entry:
            earlier = _find(connection, entry.address, entry.digest)
            if earlier is not None:
                return earlier
            if budget is not None:
                amounts = connection.execute("SELECT epsilon FROM ledger")
                spent = sum((Fraction(epsilon) for (epsilon,) in amounts), Fraction(0))
                if spent + Fraction(entry.epsilon) > budget:
                    raise BudgetExceeded(entry.epsilon, plain_fraction(spent), plain_fraction(budget))
            connection.execute(f"INSERT INTO ledger ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)", entry)  # noqa: S608  # our own names
            return entry

        return self._database.write(work, patience=patience)

    def find(self, address: str, digest: str) -> Entry | None:
        """The ledger's entry for a survey: at this address, or with this digest at any address."""
        return self._database.read(lambda connection: _find(connection, address, digest))

    def forget(self, address: str, digest: str, published: bytes) -> Entry | None:
        """Remove a survey's document, booklet and ledger entry, unless the entry waits. Returns the entry, if any."""

        def work(connection: sqlite3.Connection) -> Entry | None:
            entry = _find(connection, address, digest)
            if entry is not None and entry.status == "waiting":
                return entry  # it would be lost
            connection.execute("DELETE FROM ledger WHERE address = ? OR digest = ?", (address, digest))
            connection.execute("DELETE FROM booklets WHERE digest = ?", (digest,))
            connection.execute("DELETE FROM documents WHERE address = ? OR published = ?", (address, published))
            return entry

        return self._database.write(work)

    def waiting(self) -> list[Entry]:
        """The outbox, the newest first: someone may be waiting for that one."""
        return self._database.read(
            lambda connection: _entries(connection, "WHERE status = 'waiting' ORDER BY number DESC")
        )

    def status(self, submission: str) -> Status:
        entries = self._database.read(lambda connection: _entries(connection, "WHERE id = ?", submission))
        return entries[0].status if entries else "waiting"

    def settle(self, submission: str, status: Status) -> None:
        """Record how a delivery ended. Delivered stays delivered, whatever the answer to a second attempt."""
        update = "UPDATE ledger SET status = ? WHERE id = ? AND status <> 'delivered'"
        self._database.write(lambda connection: connection.execute(update, (status, submission)))


def _document(connection: sqlite3.Connection, address: str) -> bytes | None:
    row = connection.execute("SELECT published FROM documents WHERE address = ?", (address,)).fetchone()
    return None if row is None else row[0]


def _find(connection: sqlite3.Connection, address: str, digest: str) -> Entry | None:
    found = _entries(connection, "WHERE address = ? OR digest = ? ORDER BY number", address, digest)
    return found[0] if found else None


def _entries(connection: sqlite3.Connection, where: str, *values: str) -> list[Entry]:
    rows = connection.execute(f"SELECT {_COLUMNS} FROM ledger {where}", values)  # noqa: S608  # our own names
    return [Entry(*row) for row in rows]


# --- budgets, exactly: 0.1 + 0.2 is 0.3 here ---------------------------------------------------------------------


def exact_budget(budget: int | float | str | Decimal) -> Fraction:
    """The budget as the decimal that was written. A float means its shortest decimal: 0.3, not 0.299999999999999988."""
    if isinstance(budget, bool) or not isinstance(budget, int | float | str | Decimal):
        raise TypeError("budget must be a number, or a decimal as text")
    try:
        amount = Decimal(float.__repr__(budget) if isinstance(budget, float) else budget)
    except InvalidOperation:
        raise ValueError("budget must be a decimal number") from None
    if not amount.is_finite() or amount < 0:
        raise ValueError("budget must be a finite number, and not negative")
    return Fraction(amount)


def plain_fraction(amount: Fraction) -> str:
    """A finite decimal in full. Epsilons and budgets are decimals, and so are their sums."""
    places = 0
    while (amount * 10**places).denominator != 1:
        places += 1
    digits = str((amount * 10**places).numerator).rjust(places + 1, "0")
    return f"{digits[:-places]}.{digits[-places:]}" if places else digits
