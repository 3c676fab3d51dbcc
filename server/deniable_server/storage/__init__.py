"""Where surveys and reports are kept: the interface that every backend fulfils, and how one is opened.

The promises, which tests/server/test_storage.py holds every backend to:

- what ``accept`` returned for is on disk, and is counted once, whatever is sent again or crashes;
- nothing about a respondent is kept but the submission's random id, its reports and its public segments;
- when a survey is closed, the order in which its submissions came can no longer be read from the files;
- ``statistics`` costs the same for ten reports as for ten million.

May not: know HTTP, decide who may do what, or estimate anything.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from deniable_protocol import Accepted as Accepted
from deniable_protocol import Document
from deniable_server.errors import StorageError
from deniable_server.statistics import Content, Statistics

Role: TypeAlias = Literal["reader", "analyst", "admin"]
Status: TypeAlias = Literal["open", "closed"]


class Row(NamedTuple):
    """A submission as it is stored: its random id, and what it says as a text that is equal when it says the same."""

    id: bytes
    content: str


@dataclass(frozen=True)
class Published:
    """A published survey. ``number`` is the backend's own short name for it; all of this never changes."""

    number: int
    published: bytes
    document: Document


@dataclass(frozen=True)
class Listed:
    """A survey in the list."""

    id: str
    title: str
    digest: str
    status: Status
    submissions: int
    published_on: str
    closed_on: str | None


@dataclass(frozen=True)
class Token:
    """A token as it is kept: its secret only as a digest. A reader's is for one survey; the last day it holds for may
    be fixed. One that was made by the holder of another (``maker``, its id) goes with it.
    """

    id: str
    role: Role
    label: str
    digest: str
    created_on: str
    survey: str | None = None
    expires_on: str | None = None
    maker: str | None = None


@dataclass(frozen=True)
class Session:
    """A browser that has shown a token: its own secret as a digest, the token's id, and in seconds since 1970 when it
    began, when it ends unless it is used until then, and when it ends however much it is used.
    """

    digest: str
    token: str
    began_at: int
    idle_at: int
    expires_at: int


class Stored(ABC):
    """The submissions of a survey in one state, whatever is stored meanwhile: by id, the same each time they are gone
    through, few in memory at a time.
    """

    @abstractmethod
    def __iter__(self) -> Iterator[Row]: ...

    @property
    @abstractmethod
    def days(self) -> dict[date, int]:
        """Submissions accepted per day, in the same state."""


Standing: TypeAlias = Literal["moving", "moved", "filling"]
"""What a database is to a move: it is being left, was left, or is being filled."""

STANDINGS: dict[Standing, str] = {
    "moving": (
        "this database is being moved, or its move broke off: repeat the move, or, to go on here,  "
        "deniable move --undo --from …"
    ),
    "moved": "this database was moved; use the one that it was moved to",
    "filling": "this database is being filled by a move, or that broke off: it may lack submissions; repeat the move",
}
"""Why nothing can be stored there."""


@dataclass(frozen=True)
class Symptom:
    """What one check of the doctor's found."""

    check: str
    state: Literal["ok", "warning", "problem"]
    message: str


class Keyring(ABC):
    """Who may read: tokens, and the sessions of browsers that have shown one."""

    @abstractmethod
    def add(self, token: Token) -> None:
        """Keep a token. StorageError where its survey does not exist."""

    @abstractmethod
    def tokens(self) -> list[Token]:
        """All tokens, those that have expired included."""

    @abstractmethod
    def find(self, digest: str) -> Token | None:
        """The token whose secret has this digest, unless it has expired."""

    @abstractmethod
    def revoke(self, token: str) -> bool:
        """Forget the token of this id, those that its holder made, and their sessions; False where there is none."""

    @abstractmethod
    def begin(self, session: Session, now: int, most: int) -> None:
        """Keep a session; forget those that are over by now, and of its token all but so many, the last used."""

    @abstractmethod
    def shown(self, session: str, now: int) -> tuple[Token, Session] | None:
        """The session whose secret has this digest, and the token behind it, unless either is over."""

    @abstractmethod
    def used(self, session: str, idle_at: int) -> None:
        """Put off the end of a session that is in use."""

    @abstractmethod
    def sessions(self, token: str, now: int) -> list[Session]:
        """The sessions of the token of this id, the last used first."""

    @abstractmethod
    def end(self, session: str) -> None:
        """Forget the session whose secret has this digest."""

    @abstractmethod
    def end_all(self, token: str | None = None) -> int:
        """Forget the sessions of the token of this id, or all there are; returns how many."""


class Storage(ABC):
    """One database, used by any number of threads."""

    @property
    @abstractmethod
    def keyring(self) -> Keyring:
        """Who may read."""

    @property
    def secret_key(self) -> str | None:
        """One that all servers of this database have, unless they are given another; None: each keeps its own."""
        return None

    @abstractmethod
    def publish(self, published: bytes) -> bool:
        """Keep a published document. False where the same survey is there already; SurveyDiffers where another is."""

    @abstractmethod
    def find(self, survey: str) -> Published | None:
        """The survey of this id."""

    @abstractmethod
    def status(self, survey: Published) -> Status:
        """Whether it takes submissions."""

    @abstractmethod
    def surveys(self) -> list[Listed]:
        """All surveys by id."""

    @abstractmethod
    def accept(self, survey: Published, rows: Sequence[Row]) -> Accepted:
        """Store all of these, or none: returns once they are on disk.

        IdConflict where an id is known with other content; SurveyClosed unless all of them are known already;
        Unavailable where it cannot be done now.
        """

    @abstractmethod
    def fold(self, survey: Published, at_least: int = 1) -> int:
        """Move what waits in the inbox, if it is so many, to where arrival order cannot be read; returns how many."""

    @abstractmethod
    def close_survey(self, survey: Published) -> bool:
        """Take no more submissions, fold the rest, and compact the files. False where that was done before."""

    @abstractmethod
    def finish_closing(self) -> None:
        """Complete what a crash has interrupted: for a server, when it starts."""

    @abstractmethod
    def statistics(self, survey: Published) -> Statistics:
        """The sufficient statistics of all submissions."""

    @abstractmethod
    def recount(self, survey: Published) -> Statistics:
        """The same, counted again from every stored submission: for verification only."""

    @abstractmethod
    def stored(self, survey: Published) -> AbstractContextManager[Stored]:
        """All submissions as they are kept."""

    @abstractmethod
    def submissions(self, survey: Published) -> AbstractContextManager[Iterable[tuple[bytes, Content]]]:
        """All submissions, by id, streamed; the same each time they are gone through."""

    @abstractmethod
    def days(self, survey: Published) -> dict[date, int]:
        """Submissions accepted per day (UTC): the finest time that is kept."""

    @abstractmethod
    def ready(self) -> None:
        """Unavailable where reading fails, or where writing did and still does."""

    @abstractmethod
    def verify(self) -> list[str]:
        """Everything that is wrong with what is stored: damage, statistics that differ from a recount."""

    @abstractmethod
    def circumstances(self) -> list[Symptom]:
        """What the database's own settings mean for submissions and for those who sent them."""

    @abstractmethod
    def backup(self, target: str) -> None:
        """A compacted copy of everything, made while others go on reading and writing."""

    @abstractmethod
    def receive(self, survey: Published, rows: Sequence[Row]) -> None:
        """Keep submissions of another storage that this one does not have, in the order of their ids, as folded."""

    @abstractmethod
    def settle(self, survey: Published, days: Mapping[date, int], listed: Listed) -> None:
        """Take the days, dates and status of a survey from another storage, once all its submissions are here."""

    @property
    @abstractmethod
    def standing(self) -> Standing | None:
        """What it is to a move."""

    @abstractmethod
    def stand(self, standing: Standing | None) -> None:
        """Note what it is to a move: then it is not ready. While it is moving or moved, everything that is to be
        written fails as Unavailable, on every server.
        """

    @abstractmethod
    def close(self) -> None:
        """Let go of all connections. Safe to repeat; nothing is lost without it."""


def utc_today() -> date:
    """The day that is noted, the same wherever a server stands."""
    return datetime.now(UTC).date()


def sqlite_path(url: str) -> Path | None:
    """The file that ``sqlite:///path``, or a plain path, names; None for a database of another kind."""
    scheme, separator, rest = url.partition("://")
    if url == ":memory:":
        raise StorageError("a server needs a database in a file")
    if not separator:
        if re.match("postgres(ql)?:", url):
            raise StorageError("a PostgreSQL address has two slashes: postgresql://USER@HOST/DATABASE")
        return Path(url)
    if scheme == "sqlite" and not rest.startswith("/"):
        raise StorageError("an SQLite address has three slashes (sqlite:///relative) or four (sqlite:////absolute)")
    return Path(rest.removeprefix("/")) if scheme == "sqlite" else None


def open_storage(url: str, *, create: bool = True) -> Storage:
    """The storage at a path, ``sqlite:///path`` or ``postgresql://…``; made where there is none, if that is wanted."""
    path = sqlite_path(url)
    if path is not None:
        from deniable_server.storage.sqlite.storage import SQLiteStorage

        return SQLiteStorage(path, create=create)
    kind = url.partition("://")[0]
    if kind not in ("postgresql", "postgres"):
        raise StorageError(f"{kind}:// is not a known kind of database; use a path, sqlite:///path or postgresql://…")
    try:
        from deniable_server.storage.postgres.storage import PostgresStorage
    except ImportError:
        raise StorageError("PostgreSQL needs its client:  pip install 'deniable[postgres]'") from None
    return PostgresStorage(url, create=create)
