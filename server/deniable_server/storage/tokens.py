"""Access tokens, and the sessions of browsers that signed in with one: the tables ``tokens`` and ``sessions``."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import date, timedelta
from typing import Any, Protocol, TypeAlias

from deniable_server.errors import BadLabel, StorageError

from . import Role, Session, Storage, Token, utc_today
from .plain_text import acts
from .queries import View

_COLUMNS = "tokens.id, role, label, tokens.digest, CAST(created_on AS TEXT), survey, CAST(expires_on AS TEXT), maker"
_SESSION = "sessions.digest, token, began_at, idle_at, expires_at"
_ADD = (
    "INSERT INTO tokens (id, role, label, digest, created_on, survey, expires_on, maker) VALUES"
    " (:id, :role, :label, :digest, :created_on, :survey, :expires_on, :maker)"
)
_BEGIN = (
    "INSERT INTO sessions (digest, token, began_at, idle_at, expires_at) VALUES"
    " (:digest, :token, :began_at, :idle_at, :expires_at)"
)

Statement: TypeAlias = tuple[str, dict[str, Any]]


class Writing(Protocol):
    """Runs these in one transaction; returns how many rows the last one changed. A ``minor`` write may fail quietly."""

    def __call__(self, *statements: Statement, minor: bool = False) -> int: ...


class Tokens:
    """The tokens and sessions of one storage."""

    def __init__(
        self, reading: Callable[[], AbstractContextManager[View]], write: Writing, today: Callable[[], date]
    ) -> None:
        self._reading, self._write, self._today = reading, write, today

    def _rows(self, statement: str, **values: object) -> list[tuple[Any, ...]]:
        with self._reading() as view:
            return view.rows(statement, **values)

    def add(self, token: Token) -> None:
        """Keep a token. StorageError where its survey does not exist."""
        if token.survey and not self._rows("SELECT 1 FROM surveys WHERE id = :id", id=token.survey):
            raise StorageError(f"No survey has the id {token.survey}")
        self._write((_ADD, {name: getattr(token, name) for name in Token.__dataclass_fields__}))

    def all(self) -> list[Token]:
        """All tokens, including expired ones."""
        return [Token(*row) for row in self._rows(f"SELECT {_COLUMNS} FROM tokens ORDER BY created_on, id")]  # noqa: S608 -- our own words

    def find(self, digest: str) -> Token | None:
        """The token whose secret has this digest, unless it has expired."""
        token = self._kept(digest)
        return token if token is not None and self.is_valid(token) else None

    def expired(self, digest: str) -> Token | None:
        """The token whose secret has this digest, if it has expired."""
        token = self._kept(digest)
        return None if token is None or self.is_valid(token) else token

    def _kept(self, digest: str) -> Token | None:
        found = self._rows(f"SELECT {_COLUMNS} FROM tokens WHERE digest = :digest", digest=digest)  # noqa: S608 -- our own words
        return Token(*found[0]) if found else None

    def is_valid(self, token: Token) -> bool:
        """Whether its last day is not over."""
        return token.expires_on is None or token.expires_on >= self._today().isoformat()

    def revoke(self, token: str) -> bool:
        """Delete the token with this id, those that its holder made, and their sessions; False if there is none."""
        return self._write(("DELETE FROM tokens WHERE id = :id", {"id": token})) > 0

    def begin(self, session: Session, now: int, most: int) -> None:
        """Keep a session; delete those that are over, and all but the ``most`` last used ones of its token."""
        kept = (
            "SELECT digest FROM sessions WHERE token = :token AND digest <> :digest"
            " ORDER BY idle_at DESC, digest LIMIT :others"
        )
        self._write(
            ("DELETE FROM sessions WHERE expires_at <= :now OR idle_at <= :now", {"now": now}),
            (_BEGIN, {name: getattr(session, name) for name in Session.__dataclass_fields__}),
            (
                f"DELETE FROM sessions WHERE token = :token AND digest <> :digest AND digest NOT IN ({kept})",  # noqa: S608 -- our own words
                {"token": session.token, "digest": session.digest, "others": most - 1},
            ),
        )

    def shown(self, session: str, now: int) -> tuple[Token, Session] | None:
        """The session whose secret has this digest, and its token, unless either is over."""
        found = self._rows(
            f"SELECT {_SESSION}, {_COLUMNS} FROM sessions JOIN tokens ON tokens.id = token"  # noqa: S608 -- our own words
            " WHERE sessions.digest = :digest AND expires_at > :now AND idle_at > :now",
            digest=session,
            now=now,
        )
        token = Token(*found[0][5:]) if found else None
        return None if token is None or not self.is_valid(token) else (token, Session(*found[0][:5]))

    def used(self, session: str, idle_at: int) -> None:
        """Extend a session that is in use."""
        change = "UPDATE sessions SET idle_at = :idle_at WHERE digest = :digest"
        self._write((change, {"idle_at": idle_at, "digest": session}), minor=True)

    def sessions(self, token: str, now: int) -> list[Session]:
        """The sessions of the token with this id, the last used first."""
        rows = self._rows(
            f"SELECT {_SESSION} FROM sessions WHERE token = :token AND expires_at > :now AND idle_at > :now"  # noqa: S608 -- our own words
            " ORDER BY idle_at DESC, digest",
            token=token,
            now=now,
        )
        return [Session(*row) for row in rows]

    def end(self, session: str) -> None:
        """Delete the session whose secret has this digest."""
        self._write(("DELETE FROM sessions WHERE digest = :digest", {"digest": session}))

    def end_all(self, token: str | None = None) -> int:
        """Delete the sessions of the token with this id, or all sessions; returns how many."""
        which = "" if token is None else " WHERE token = :token"
        return self._write((f"DELETE FROM sessions{which}", {} if token is None else {"token": token}))  # noqa: S608 -- our own words


def make_token(
    storage: Storage,
    role: Role,
    label: str,
    *,
    survey: str | None = None,
    days: int | None = None,
    maker: Token | None = None,
) -> tuple[str, Token]:
    """A new token: its secret, which is not stored, and what is. It is valid for ``days`` days, today being the first,
    and not longer than its maker's.
    """
    if acts(label):
        raise BadLabel("A label is one line of text, without control characters.")
    secret = secrets.token_urlsafe(32)  # 256 bits: nobody guesses it, so its plain digest is safe to keep
    today = utc_today()
    ends = [] if days is None else [(today + timedelta(days=days - 1)).isoformat()]
    if maker is not None and maker.expires_on is not None:
        ends.append(maker.expires_on)
    token = Token(
        secrets.token_hex(4),
        role,
        label,
        digest_of(secret),
        today.isoformat(),
        survey,
        min(ends, default=None),
        None if maker is None else maker.id,
    )
    storage.tokens.add(token)
    return secret, token


def digest_of(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
