"""Tokens and sessions in SQLite."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

from . import Keyring, Session, StorageError, Token
from .connections import Connections

_COLUMNS = "tokens.id, role, label, tokens.digest, created_on, survey, expires_on, maker"


class SQLiteKeyring(Keyring):
    """The tables ``tokens`` and ``sessions``, on the connections of the storage that they belong to."""

    def __init__(self, connections: Connections, today: Callable[[], date]) -> None:
        self._connections, self._today = connections, today

    def add(self, token: Token) -> None:
        with self._connections.reading() as db:
            if token.survey and not db.execute("SELECT 1 FROM surveys WHERE id = ?", (token.survey,)).fetchone():
                raise StorageError(f"No survey has the id {token.survey}")
        with self._connections.turn, self._connections.writing() as db:
            db.execute(
                "INSERT INTO tokens (id, role, label, digest, created_on, survey, expires_on, maker)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    token.id,
                    token.role,
                    token.label,
                    token.digest,
                    token.created_on,
                    token.survey,
                    token.expires_on,
                    token.maker,
                ),
            )

    def tokens(self) -> list[Token]:
        with self._connections.reading() as db:
            return [Token(*row) for row in db.execute(f"SELECT {_COLUMNS} FROM tokens ORDER BY created_on, id")]  # noqa: S608 -- our own words

    def find(self, digest: str) -> Token | None:
        return self._one("SELECT {} FROM tokens WHERE digest = ?", digest)

    def revoke(self, token: str) -> bool:
        with self._connections.turn, self._connections.writing() as db:
            return db.execute("DELETE FROM tokens WHERE id = ?", (token,)).rowcount > 0

    def begin(self, session: Session, now: int) -> None:
        with self._connections.turn, self._connections.writing() as db:
            db.execute("DELETE FROM sessions WHERE expires_at <= ?", (now,))
            db.execute("INSERT INTO sessions VALUES (?, ?, ?)", (session.digest, session.token, session.expires_at))

    def shown(self, session: str, now: int) -> Token | None:
        return self._one(
            "SELECT {} FROM sessions JOIN tokens ON tokens.id = token WHERE sessions.digest = ? AND expires_at > ?",
            session,
            now,
        )

    def end(self, session: str) -> None:
        with self._connections.turn, self._connections.writing() as db:
            db.execute("DELETE FROM sessions WHERE digest = ?", (session,))

    def _one(self, query: str, *values: object) -> Token | None:
        with self._connections.reading() as db:
            row = db.execute(query.format(_COLUMNS), values).fetchone()
        if row is None:
            return None
        token = Token(*row)
        return None if token.expires_on is not None and token.expires_on < self._today().isoformat() else token
