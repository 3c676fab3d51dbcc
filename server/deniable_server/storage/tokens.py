"""Access tokens, the surveys that they are for, and the sessions of browsers that signed in with one: the tables
``tokens``, ``token_surveys`` and ``sessions``.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from datetime import date, timedelta
from itertools import groupby
from typing import Any, Protocol, TypeAlias

from deniable_server.errors import BadAccess, BadLabel, StorageError

from . import Role, Session, Storage, Token, utc_today
from .plain_text import acts
from .queries import View

TOKEN = ("id", "role", "label", "digest", "created_on", "restricted", "expires_on", "maker", "made_by")
TOKEN_SURVEY = ("token", "survey", "role")
RANKS: dict[Role, int] = {"reader": 0, "analyst": 1, "editor": 2, "admin": 3}
"""Each role may do what those before it may. Collectors only send."""
_COLUMNS = (
    "tokens.id, tokens.role, label, tokens.digest, CAST(created_on AS TEXT), restricted, CAST(expires_on AS TEXT),"
    " maker, made_by, token_surveys.survey, token_surveys.role"
)
_TABLES = "tokens LEFT JOIN token_surveys ON token_surveys.token = tokens.id"
_SESSION = "sessions.digest, sessions.token, began_at, idle_at, expires_at"
_ADD = (
    "INSERT INTO tokens (id, role, label, digest, created_on, restricted, expires_on, maker, made_by) VALUES"
    " (:id, :role, :label, :digest, :created_on, :restricted, :expires_on, :maker, :made_by)"
)
_ADD_SURVEY = "INSERT INTO token_surveys (token, survey, role) SELECT id, :survey, :role FROM tokens WHERE id = :token"
_END_LINKS = (
    "DELETE FROM tokens WHERE maker = :token AND NOT EXISTS (SELECT 1 FROM token_surveys AS theirs JOIN token_surveys"
    " AS own ON own.survey = theirs.survey AND own.token = :token AND own.role <> 'reader'"
    " WHERE theirs.token = tokens.id)"
)
"""Links that the holder of a restricted token made to surveys on which it may no longer make any."""
_END_LINKS_TO = (
    "DELETE FROM tokens WHERE maker = :token AND id IN (SELECT token FROM token_surveys WHERE survey = :survey)"
    " AND EXISTS (SELECT 1 FROM token_surveys WHERE token = :token AND survey = :survey)"
)
_RAISE = (
    "UPDATE tokens SET role = :role WHERE id = :token AND restricted = 1 AND maker IS NULL"
    " AND (role = 'reader' OR (role = 'analyst' AND :role = 'editor'))"
)
"""A token's role allows what its role on any survey does."""
_GRANT = (
    "INSERT INTO token_surveys (token, survey, role) SELECT id, :survey, :role FROM tokens"
    " WHERE id = :token AND restricted = 1 AND role <> 'collector' AND maker IS NULL"
    " ON CONFLICT (token, survey) DO UPDATE SET role = excluded.role WHERE token_surveys.role <> excluded.role"
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
        """Keep a token. StorageError where one of its surveys does not exist; BadAccess for a role that is not for so
        many.
        """
        check_access(token.role, token.surveys)
        self._check_surveys(token.surveys or ())
        values = {name: getattr(token, name, None) for name in TOKEN} | {"restricted": int(token.surveys is not None)}
        self._write((_ADD, values), *_add_surveys(token.id, token.surveys))

    def _check_surveys(self, surveys: Iterable[str]) -> None:
        for survey in surveys:
            if not self._rows("SELECT 1 FROM surveys WHERE id = :id", id=survey):
                raise StorageError(f"No survey has the id {survey}")

    def change(self, token: str, role: Role, surveys: Mapping[str, Role] | None) -> bool:
        """Give a token other roles, or make it for other surveys; False if there is none. Its sessions go on, with what
        it may do now. Links end that its holder made to surveys on which it may no longer make any.
        """
        check_access(role, surveys)
        self._check_surveys(surveys or ())
        changed = "UPDATE tokens SET role = :role, restricted = :restricted WHERE id = :token"
        values = {"role": role, "restricted": int(surveys is not None), "token": token}
        return (
            self._write(
                ("DELETE FROM token_surveys WHERE token = :token", {"token": token}),
                *_add_surveys(token, surveys),
                *([] if surveys is None else [(_END_LINKS, {"token": token})]),
                (changed, values),
            )
            > 0
        )

    def grant(self, token: str, survey: str, role: Role) -> bool:
        """Give the token of a person this role on a survey. False where nothing changed: it has this role there, or is
        for all surveys. StorageError where the survey does not exist.
        """
        self._check_surveys([survey])
        return self._write(*granted(token, survey, role)) > 0

    def withdraw(self, token: str, survey: str) -> bool:
        """Make a token no longer for this survey; links to it that its holder made end. False where it was not."""
        gone = "DELETE FROM token_surveys WHERE token = :token AND survey = :survey"
        about = {"token": token, "survey": survey}
        return self._write((_END_LINKS_TO, about), (gone, about)) > 0

    def all(self) -> list[Token]:
        """All tokens, including expired ones."""
        return _read(
            self._rows(f"SELECT {_COLUMNS} FROM {_TABLES} ORDER BY created_on, tokens.id, token_surveys.survey")  # noqa: S608 -- our own words
        )

    def find(self, digest: str) -> Token | None:
        """The token whose secret has this digest, unless it has expired."""
        token = self._kept(digest)
        return token if token is not None and self.is_valid(token) else None

    def expired(self, digest: str) -> Token | None:
        """The token whose secret has this digest, if it has expired."""
        token = self._kept(digest)
        return None if token is None or self.is_valid(token) else token

    def _kept(self, digest: str) -> Token | None:
        kept = f"SELECT {_COLUMNS} FROM {_TABLES} WHERE tokens.digest = :digest ORDER BY token_surveys.survey"  # noqa: S608 -- our own words
        return next(iter(_read(self._rows(kept, digest=digest))), None)

    def is_valid(self, token: Token) -> bool:
        """Whether its last day is not over."""
        return token.expires_on is None or token.expires_on >= self._today().isoformat()

    def revoke(self, token: str) -> bool:
        """Delete the token with this id, links that its holder made, and their sessions; False if there is none."""
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
            f"SELECT {_SESSION}, {_COLUMNS} FROM {_TABLES} JOIN sessions ON sessions.token = tokens.id"  # noqa: S608 -- our own words
            " WHERE sessions.digest = :digest AND expires_at > :now AND idle_at > :now ORDER BY token_surveys.survey",
            digest=session,
            now=now,
        )
        token = next(iter(_read([row[5:] for row in found])), None)
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

    def open_sessions(self, now: int) -> dict[str, int]:
        """How many sessions each token has, by its id; those that have none are left out."""
        counted = "SELECT token, count(*) FROM sessions WHERE expires_at > :now AND idle_at > :now GROUP BY token"
        return dict(self._rows(counted, now=now))

    def end(self, session: str) -> None:
        """Delete the session whose secret has this digest."""
        self._write(("DELETE FROM sessions WHERE digest = :digest", {"digest": session}))

    def end_all(self, token: str | None = None) -> int:
        """Delete the sessions of the token with this id, or all sessions; returns how many."""
        which = "" if token is None else " WHERE token = :token"
        return self._write((f"DELETE FROM sessions{which}", {} if token is None else {"token": token}))  # noqa: S608 -- our own words


def _read(rows: list[tuple[Any, ...]]) -> list[Token]:
    """Tokens from rows that are ordered by token: one for each of its surveys."""
    found = []
    for (id_, role, label, digest, created_on, restricted, *ends), each in groupby(rows, lambda row: row[:-2]):
        surveys = {row[-2]: row[-1] for row in each if row[-2] is not None} if restricted else None
        found.append(Token(id_, role, label, digest, created_on, surveys, *ends))
    return found


def granted(token: str, survey: str, role: Role) -> list[Statement]:
    """The statements that give the token of a person this role on a survey."""
    about = {"token": token, "survey": survey}
    return [
        *([(_END_LINKS_TO, about)] if role == "reader" else []),
        (_RAISE, {"token": token, "role": role}),
        (_GRANT, about | {"role": role}),
    ]


def _add_surveys(token: str, surveys: Mapping[str, Role] | None) -> list[Statement]:
    return [
        (_ADD_SURVEY, {"token": token, "survey": survey, "role": role})
        for survey, role in sorted((surveys or {}).items())
    ]


def check_access(role: Role, surveys: Mapping[str, Role] | None) -> None:
    """BadAccess where a token of this role cannot be for these surveys, with these roles on them."""
    match role:
        case "admin" if surveys is not None:
            raise BadAccess("An admin's access token is for all surveys.")
        case "reader" if not surveys:
            raise BadAccess("A reader's access token is for chosen surveys: choose at least one.")
        case "collector" if surveys is None or [*surveys.values()] != [role]:
            raise BadAccess("A collector's access token is for one survey: choose one.")
        case _ if surveys == {}:
            raise BadAccess("Choose at least one survey, or all surveys.")
        case "reader" | "analyst" | "editor" if any(RANKS.get(on, 99) > RANKS[role] for on in (surveys or {}).values()):
            raise BadAccess("On a survey, a person can be a reader, an analyst or an editor, up to their own role.")


def make_token(
    storage: Storage,
    role: Role,
    label: str,
    *,
    surveys: Mapping[str, Role] | None = None,
    days: int | None = None,
    maker: Token | None = None,
    made_by: str = "",
) -> tuple[str, Token]:
    """A new token: its secret, which is not stored, and what is. It is for all surveys (None), or for some with a role
    on each. It is valid for ``days`` days, today being the first. A link that shares results has a ``maker``, and is
    not valid for longer than its maker's token.
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
        None if surveys is None else dict(surveys),
        min(ends, default=None),
        None if maker is None else maker.id,
        made_by or ("" if maker is None else maker.label or maker.id),
    )
    storage.tokens.add(token)
    return secret, token


def digest_of(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
