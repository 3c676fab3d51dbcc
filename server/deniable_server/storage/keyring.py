"""Tokens and sessions in SQLite."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

from . import Keyring, Session, StorageError, Token
from .connections import Connections

_COLUMNS = "tokens.id, role, label, tokens.digest, created_on, survey, expires_on, maker"
_SESSION = "sessions.digest, token, began_at, idle_at, expires_at"
_PATIENCE = 1.0
"""Seconds that a page waits to note that its session is in use, while others write."""


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
        with self._connections.reading() as db:
            row = db.execute(f"SELECT {_COLUMNS} FROM tokens WHERE digest = ?", (digest,)).fetchone()  # noqa: S608 -- our own words
        return None if row is None else self._holding(Token(*row))

    def revoke(self, token: str) -> bool:
        with self._connections.turn, self._connections.writing() as db:
            return db.execute("DELETE FROM tokens WHERE id = ?", (token,)).rowcount > 0

    def begin(self, session: Session, now: int, most: int) -> None:
        with self._connections.turn, self._connections.writing() as db:
            db.execute("DELETE FROM sessions WHERE expires_at <= ?1 OR idle_at <= ?1", (now,))
            db.execute(
                "INSERT INTO sessions (digest, token, began_at, idle_at, expires_at) VALUES (?, ?, ?, ?, ?)",
                (session.digest, session.token, session.began_at, session.idle_at, session.expires_at),
            )
            db.execute(
                "DELETE FROM sessions WHERE token = ?1 AND digest <> ?2 AND digest NOT IN (SELECT digest FROM sessions"
                " WHERE token = ?1 AND digest <> ?2 ORDER BY idle_at DESC, digest LIMIT ?3)",
                (session.token, session.digest, most - 1),
            )

    def shown(self, session: str, now: int) -> tuple[Token, Session] | None:
        with self._connections.reading() as db:
            row = db.execute(
                f"SELECT {_SESSION}, {_COLUMNS} FROM sessions JOIN tokens ON tokens.id = token"  # noqa: S608 -- our own words
                " WHERE sessions.digest = ?1 AND expires_at > ?2 AND idle_at > ?2",
                (session, now),
            ).fetchone()
        token = None if row is None else self._holding(Token(*row[5:]))
        return None if token is None else (token, Session(*row[:5]))

    def used(self, session: str, idle_at: int) -> None:
        turn = self._connections.turn
        if not turn.acquire(timeout=_PATIENCE):
            return  # a survey is being closed, say: reading does not wait for that
        try:
            with self._connections.writing(housekeeping=True) as db:
                db.execute("UPDATE sessions SET idle_at = ? WHERE digest = ?", (idle_at, session))
        finally:
            turn.release()

    def sessions(self, token: str, now: int) -> list[Session]:
        with self._connections.reading() as db:
            rows = db.execute(
                f"SELECT {_SESSION} FROM sessions WHERE token = ?1 AND expires_at > ?2 AND idle_at > ?2"  # noqa: S608 -- our own words
                " ORDER BY idle_at DESC, digest",
                (token, now),
            )
            return [Session(*row) for row in rows]

    def end(self, session: str) -> None:
        with self._connections.turn, self._connections.writing() as db:
            db.execute("DELETE FROM sessions WHERE digest = ?", (session,))

    def end_all(self, token: str | None = None) -> int:
        with self._connections.turn, self._connections.writing() as db:
            return db.execute("DELETE FROM sessions WHERE token = ?1 OR ?1 IS NULL", (token,)).rowcount

    def _holding(self, token: Token) -> Token | None:
        """The token, unless it has expired."""
        return None if token.expires_on is not None and token.expires_on < self._today().isoformat() else token
