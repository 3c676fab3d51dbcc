"""Where surveys and reports are stored: the interface of every backend, and how to open one.

The promises, which tests/server/test_storage.py checks for every backend:

- what ``accept`` returned for is on disk, and is counted once, whatever is sent again or crashes;
- nothing about a respondent is stored except the submission's random id, its reports and its public segments;
- after a survey is closed, the files no longer show in which order its submissions arrived;
- ``statistics`` costs the same for ten reports as for ten million; over one segment or none, the same for ten
  combinations of segment codes as for ten thousand;
- what a collector sent can be subtracted, and no stored submission says whose it is;
- each use of an invitation is taken once, and nothing shows to which submission it led;
- a survey takes submissions while it is open, and never more than it is to stop at;
- of a deleted survey nothing is left, and nothing is stored for it, whatever other servers remember.

May not: know HTTP, decide who may do what, or estimate anything.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from deniable_protocol import Accepted as Accepted
from deniable_protocol import Document
from deniable_server.errors import HeldBack
from deniable_server.statistics import Content, Statistics

from .fieldwork import Fieldwork as Fieldwork
from .fieldwork import Status as Status

if TYPE_CHECKING:
    from .activity import Activity
    from .drafts import Draft, Drafts
    from .group_commit import Tell
    from .invitations import InvitationNumbers, Invitations
    from .tokens import Tokens

MOST_SOURCES = 100
"""Collectors of one survey whose submissions are counted by themselves."""

Role: TypeAlias = Literal["reader", "collector", "analyst", "editor", "admin"]


class State(NamedTuple):
    """What the results of a survey depend on: while it is the same, they are."""

    number: int
    status: Status
    results_from: int | None
    submissions: int
    invitations: InvitationNumbers | None = None

    def check_shown(self) -> None:
        """HeldBack where an editor holds the results of the survey back."""
        if self.results_from == 0 or self.status == "closed":
            return
        if self.results_from is None:
            raise HeldBack("The results of this survey are held back until it is closed.")
        if self.submissions < self.results_from:
            number = f"{self.results_from:,} submissions. It has {self.submissions:,} now"
            raise HeldBack(f"The results of this survey are held back until it is closed or has {number}.")


class Row(NamedTuple):
    """A stored submission: its random id, and its content as a text that is equal for equal content."""

    id: bytes
    content: str


@dataclass(frozen=True)
class Published:
    """A published survey, which never changes. ``number`` is the backend's short name for it, ``raw`` the published
    bytes, ``draft`` the number of the draft that it is a test run of.
    """

    number: int
    raw: bytes
    document: Document
    draft: int | None = None


@dataclass(frozen=True)
class Listed:
    """A survey in the list. ``expected``: how many respondents were planned for, where its file says so. ``draft``: the
    number of the draft that it is a test run of. The rest as in ``Fieldwork``.
    """

    id: str
    title: str
    digest: str
    status: Status
    submissions: int
    published_on: str
    closed_on: str | None
    expected: int | None = None
    archived_on: str | None = None
    draft: int | None = None
    opens_at: int | None = None
    closes_at: int | None = None
    most: int | None = None

    @property
    def fieldwork(self) -> Fieldwork:
        """When it opens and closes, and where it stops."""
        return Fieldwork(self.opens_at, self.closes_at, self.most)


@dataclass(frozen=True)
class Token:
    """An access token as it is stored: its secret only as a digest. It is for all surveys (None), with its ``role``, or
    for some ``surveys``: their ids, in order, each with the role on it, which allows no more than ``role``. A reader's
    is for at least one, a collector's for one, whose label is the source of what it sends. It may have a last day.
    ``maker``: of a link that shares results, the id of the token whose holder made it, with which it is revoked.
    ``made_by``: who made it, by the label at that time; empty where it was made on the server.
    """

    id: str
    role: Role
    label: str
    digest: str
    created_on: str
    surveys: dict[str, Role] | None = None
    expires_on: str | None = None
    maker: str | None = None
    made_by: str = ""

    @property
    def is_link(self) -> bool:
        """Whether it shares results with people who have its address, and is nobody's own."""
        return self.maker is not None

    def role_on(self, survey: str) -> Role | None:
        """Its role on this survey; None where it is not for it."""
        return self.role if self.surveys is None else self.surveys.get(survey)


@dataclass(frozen=True)
class Session:
    """A browser that signed in with a token: its own secret as a digest, the token's id, and, in seconds since 1970,
    when it began, when it ends if it is not used, and when it ends in any case.
    """

    digest: str
    token: str
    began_at: int
    idle_at: int
    expires_at: int


class Stored(ABC):
    """The submissions of a survey in one state, whatever is stored meanwhile: in id order, the same in each iteration,
    few in memory at a time.
    """

    @abstractmethod
    def __iter__(self) -> Iterator[Row]: ...

    @property
    @abstractmethod
    def days(self) -> dict[date, int]:
        """Submissions accepted per day, in the same state."""


@dataclass(frozen=True)
class Finding:
    """The result of one check by ``deniable doctor``."""

    check: str
    state: Literal["ok", "cannot tell", "warning", "problem"]
    message: str


class Storage(ABC):
    """One database, used by any number of threads."""

    created = False
    """Whether opening it has made the database."""

    @property
    @abstractmethod
    def tokens(self) -> Tokens:
        """Access tokens and sessions."""

    @property
    @abstractmethod
    def invitations(self) -> Invitations:
        """Invitations, and the keys that sign the tokens of respondents."""

    @property
    @abstractmethod
    def drafts(self) -> Drafts:
        """Surveys that are being written."""

    @property
    @abstractmethod
    def activity(self) -> Activity:
        """What people with access did."""

    @property
    def secret_key(self) -> str | None:
        """The key that all servers of this database share, unless they are given another; None: kept in a file."""
        return None

    @abstractmethod
    def publish(
        self,
        published: bytes,
        expected: int | None = None,
        draft: int | None = None,
        *,
        editor: str | None = None,
        replaces: Draft | None = None,
    ) -> bool:
        """Store a published document. False if the same survey is there already; SurveyDiffers if another is.

        ``expected``: how many respondents were planned for. It is not part of the document, and the last one counts.
        ``draft``: the number of the draft that this is a test run of; SurveyDiffers where it has one already.
        If it is stored, in the same step: the access token whose id is ``editor`` may edit it, and the draft that it
        ``replaces`` is deleted; DraftChanged where that is not there as it was seen.
        """

    @abstractmethod
    def test_run(self, draft: int) -> Published | None:
        """The test run of the draft of this number."""

    @abstractmethod
    def find(self, survey: str) -> Published | None:
        """The survey of this id. What another server has deleted is not found any more."""

    @abstractmethod
    def known(self, survey: str) -> Published | None:
        """The same if it was found before: without looking into the database. It may be deleted by now; then nothing
        is stored for it.
        """

    @abstractmethod
    def status(self, survey: Published) -> Status:
        """Whether it takes submissions now, or will later."""

    @abstractmethod
    def fieldwork(self, survey: Published) -> Fieldwork:
        """When it opens and closes, and where it stops."""

    @abstractmethod
    def schedule(self, survey: Published, fieldwork: Fieldwork) -> None:
        """Open, close and stop it so from now on. BadFieldwork where it cannot be done; SurveyClosed."""

    @abstractmethod
    def state(self, survey: Published) -> State:
        """What its results depend on, all read at once."""

    @abstractmethod
    def hold_results(self, survey: Published, until: int | None) -> None:
        """Show no results of an open survey before it has so many submissions; None: before it is closed."""

    @abstractmethod
    def results_from(self, survey: Published) -> int | None:
        """From how many submissions on the results of an open survey are shown; None: not before it is closed."""

    def check_shown(self, survey: Published) -> None:
        """HeldBack where an editor holds the results of the survey back."""
        self.state(survey).check_shown()

    @abstractmethod
    def archive(self, survey: Published, archived: bool) -> None:
        """Put a survey into the archive, or take it out: lists leave out what is there. Nothing else changes."""

    @abstractmethod
    def surveys(self, *, test_runs: bool = False) -> list[Listed]:
        """All surveys by id, archived ones too; test runs only where they are wanted."""

    @abstractmethod
    def accept(
        self, survey: Published, rows: Sequence[Row], source: str | None = None, counted: Statistics | None = None
    ) -> Accepted:
        """Store all of these, or none: returns once they are on disk. ``source`` is the label of the collector that
        sent them; None: the respondents themselves. It is kept in the statistics only. What is sent again counts for
        whom it came from first. ``counted``: their statistics, where somebody has them already.

        IdConflict where an id is known with other content; SurveyClosed or SurveyNotOpen unless all of them are known
        already; TooFewPlaces where the survey takes fewer than are not known; SurveyGone where it was deleted;
        TooManySources where it is a new one too many; Unavailable where it cannot be done now.
        """

    @abstractmethod
    def accept_soon(self, survey: Published, rows: Sequence[Row], who: Any, tell: Tell) -> None:
        """The same for rows of respondents, without waiting: ``tell`` is called with ``who`` and what became of them,
        in one call for all that share a commit. Unavailable where too many wait already.
        """

    @abstractmethod
    def fold(self, survey: Published, at_least: int = 1) -> int:
        """Move what waits in the inbox, if it is so many, to where arrival order cannot be read; returns how many."""

    @abstractmethod
    def close_survey(self, survey: Published) -> bool:
        """Take no more submissions, fold the rest, and compact the files. False where that was done before."""

    @abstractmethod
    def finish_closing(self) -> None:
        """Complete closings and deletions that a crash has interrupted: for a server, when it starts."""

    @abstractmethod
    def close_due(self) -> list[str]:
        """Close the surveys whose time is over or that have all submissions that they take; returns their ids. End test
        runs of drafts that are gone, and finish deletions. Several servers may do this at the same time.
        """

    @abstractmethod
    def keep_schedule(self) -> None:
        """Do this about once a second, in a thread of its own, until the storage is closed."""

    @abstractmethod
    def delete_survey(self, survey: Published) -> None:
        """Delete a survey and everything that belongs to it: submissions, statistics, days, invitations, the key of its
        tokens, and access tokens that are for it alone. It is gone in one commit. After that, what is left of it in
        the files is overwritten; where a download or a crash prevents this, a server does it later. What is left of a
        test run is overwritten at night.

        Its number is never given to another survey. Its id may be published again, as a new survey.
        """

    @abstractmethod
    def statistics(self, survey: Published, over: Sequence[int] | None = None) -> Statistics:
        """The sufficient statistics of all submissions, by the codes of the segments at these places, or of all."""

    @abstractmethod
    def divided(
        self, survey: Published, over: Sequence[int] | None, labels: Sequence[str]
    ) -> tuple[Statistics, dict[str, Statistics]]:
        """The same, and those of each of these sources, in one state."""

    @abstractmethod
    def sources(self, survey: Published) -> dict[str, int]:
        """The collectors that sent something, by label, and how many submissions it were."""

    @abstractmethod
    def recount(self, survey: Published) -> Statistics:
        """The same, counted again from every stored submission: for verification only."""

    @abstractmethod
    def stored(self, survey: Published) -> AbstractContextManager[Stored]:
        """All submissions as they are stored."""

    @abstractmethod
    def submissions(self, survey: Published) -> AbstractContextManager[Iterable[tuple[bytes, Content]]]:
        """All submissions, in id order, streamed; the same in each iteration."""

    @abstractmethod
    def days(self, survey: Published) -> dict[date, int]:
        """Submissions accepted per day (UTC): the finest time that is stored."""

    @abstractmethod
    def ready(self) -> None:
        """Unavailable where reading fails, or where writing did and still does."""

    @abstractmethod
    def verify(self) -> list[str]:
        """Everything that is wrong with what is stored: damage, statistics that differ from a recount."""

    def refuses_to_share(self) -> str | None:
        """Why only one process may use it, if so: locks do not keep others out."""
        return None

    @abstractmethod
    def environment_checks(self) -> list[Finding]:
        """What the settings of the database mean for submissions and respondents."""

    @abstractmethod
    def backup(self, target: str, key: str) -> None:
        """A compacted copy of everything, made while others go on reading and writing, and tagged with this key."""

    @abstractmethod
    def close(self) -> None:
        """Close all connections. Safe to repeat; nothing is lost without it."""


def utc_today() -> date:
    """Today in UTC, the same wherever a server runs."""
    return datetime.now(UTC).date()


def utc_now() -> int:
    """Seconds since 1970."""
    return int(time.time())


def open_storage(url: str, *, create: bool = True) -> Storage:
    """The storage at a path, ``sqlite:///path`` or ``postgresql://…``; made where there is none, if that is wanted."""
    from .location import locate

    return locate(url).open(create=create)
