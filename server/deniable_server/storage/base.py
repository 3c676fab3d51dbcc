"""What all backends share: publishing, group commit, folding once enough submissions wait, reading, and tokens.

May not: know which database it is.
"""

from __future__ import annotations

import logging
import time
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import date
from typing import Any, NamedTuple, TypeAlias

from deniable_protocol import Document, verify
from deniable_protocol.checks import SURVEY_ID
from deniable_server.errors import DraftChanged, StorageError, SurveyClosed, SurveyDiffers, SurveyGone, TooManySources
from deniable_server.statistics import Content, Statistics

from . import MOST_SOURCES, Accepted, Fieldwork, Listed, Published, Row, State, Status, Stored, queries
from .activity import Activity
from .closing import ClosingStorage
from .drafts import Draft, Drafts, ended
from .fieldwork import SCHEDULE, conditions
from .group_commit import GroupCommit, Tell
from .invitations import Invitations, numbers
from .tokens import Statement, Tokens, granted
from .waiting import Waiting

log = logging.getLogger(__name__)

FOLD_AGAIN_AFTER = 60.0
"""Seconds until a failed folding is tried again."""
ADD_SURVEY = (
    "INSERT INTO surveys (id, document, digest, published_on, expected, draft)"
    " VALUES (:id, :document, :digest, :day, :expected, :draft) ON CONFLICT DO NOTHING"
)
DOCUMENT = "SELECT number, document FROM surveys WHERE id = :id"
CLOSED = "It takes no more submissions."


Run: TypeAlias = Callable[[str, dict[str, Any]], int]
"""Runs a statement in a transaction, and returns how many rows it has changed."""


class Request(NamedTuple):
    """Submissions of which all are stored, or none. ``source`` is the number of the collector; 0: respondents.
    ``counted``: their statistics, if they are known.
    """

    survey: Published
    rows: Sequence[Row]
    source: int = 0
    counted: Statistics | None = None

    def kept(self) -> queries.Kept:
        """Their statistics as the database keeps them."""
        document = self.survey.document
        if self.counted is None:
            return queries.keep_texts(document, [(self.source, row.content) for row in self.rows])
        return queries.keep(document, {self.source: self.counted})


class DatabaseStorage(ClosingStorage):
    """Requests that wait for a commit share the next one. ``created``: opening it has made the database."""

    commits_at_once = 1
    """How many commits the database can do at the same time in one process."""

    def __init__(self, fold_at: int, today: Callable[[], date], now: Callable[[], int]) -> None:
        super().__init__(today, now)
        self._fold_at = fold_at
        self._sources: dict[tuple[int, str], int] = {}
        self._unfolded: Counter[int] = Counter()
        self._fold_again_at = float("-inf")
        self._commits: GroupCommit[Request, Accepted] = GroupCommit(
            self._commit, self._fold_where_due, self.commits_at_once
        )
        self._foldings: GroupCommit[Published, None] = GroupCommit(self._fold_each)
        self._being_folded: set[int] = set()
        self._tokens = Tokens(self._reading, self._write, today)
        self._waiting = Waiting()
        self._invitations = Invitations(self._reading, self._write, today, now)
        self._drafts = Drafts(self._reading, self._write, today)
        self._activity = Activity(self._reading, self._write)

    @property
    def tokens(self) -> Tokens:
        return self._tokens

    @property
    def invitations(self) -> Invitations:
        return self._invitations

    @property
    def drafts(self) -> Drafts:
        return self._drafts

    @property
    def activity(self) -> Activity:
        return self._activity

    def _finish(self) -> None:
        """Do what is under way: the first part of closing."""
        self._keep_no_schedule()
        self._commits.close()
        self._foldings.close()

    # --- for backends to fill in -------------------------------------------------------------------------------------

    @abstractmethod
    def _store_requests(self, requests: list[Request]) -> Sequence[Accepted | Exception]:
        """Store all of them with one commit; returns an outcome for each. StorageError: nothing was stored."""

    @abstractmethod
    def _fold_chunk(self, survey: Published, at_least: int) -> int:
        """Fold up to ``CHUNK`` submissions, if there are enough; returns how many it were."""

    @abstractmethod
    def _add_survey(self, survey: str, added: Statement, then: Callable[[Run], None]) -> bytes | None:
        """Add a survey, and do what comes ``then``, in one transaction. Where a survey has this id already, nothing is
        done: returns its document. SurveyDiffers where its draft has a test run.
        """

    # --- surveys -----------------------------------------------------------------------------------------------------

    def find(self, survey: str) -> Published | None:
        if not SURVEY_ID.fullmatch(survey):
            return None
        with self._reading() as view:
            number = queries.number_of(view, survey)
            known = self._surveys.get(survey)
            if known is not None and known.number == number:
                return known
            found = None if number is None else queries.survey(view, survey)
        if found is None:
            self._surveys.pop(survey, None)
            return None
        number, raw, draft = found
        self._surveys[survey] = Published(number, raw, verify(raw), draft)
        return self._surveys[survey]

    def test_run(self, draft: int) -> Published | None:
        with self._reading() as view:
            found = view.rows("SELECT id FROM surveys WHERE draft = :draft", draft=draft)
        return self.find(found[0][0]) if found else None

    def known(self, survey: str) -> Published | None:
        return self._surveys.get(survey)

    def status(self, survey: Published) -> Status:
        with self._reading() as view:
            return conditions(view, survey.number).at(self._now())

    def fieldwork(self, survey: Published) -> Fieldwork:
        with self._reading() as view:
            found = conditions(view, survey.number)
        return Fieldwork(found.opens_at, found.closes_at, found.most)

    def schedule(self, survey: Published, fieldwork: Fieldwork) -> None:
        now = self._now()
        self._check_schedule(survey, fieldwork, now)
        values = {**asdict(fieldwork), "number": survey.number, "now": now}
        if not self._write_alone(survey, (SCHEDULE, values)):
            self._check_schedule(survey, fieldwork, now)  # somebody has answered meanwhile
            raise SurveyClosed(CLOSED)

    def _check_schedule(self, survey: Published, fieldwork: Fieldwork, now: int) -> None:
        """BadFieldwork or SurveyClosed where a survey cannot keep this, as far as can be seen now."""
        with self._reading() as view:
            found = conditions(view, survey.number)
        if found.at(now) == "closed":
            raise SurveyClosed(CLOSED)
        fieldwork.check(now, found.submissions)

    def state(self, survey: Published) -> State:
        with self._reading() as view:
            found, until = queries.state(view, survey.number)
            invited = None if survey.document.issuer is None else numbers(view, survey.number, self._today())
        return State(survey.number, found.at(self._now()), until, found.submissions, invited)

    def hold_results(self, survey: Published, until: int | None) -> None:
        held = "UPDATE surveys SET results_from = :until WHERE number = :number"
        self._write((held, {"until": until, "number": survey.number}))

    def results_from(self, survey: Published) -> int | None:
        with self._reading() as view:
            return queries.results_from(view, survey.number)

    def publish(
        self,
        published: bytes,
        expected: int | None = None,
        draft: int | None = None,
        *,
        editor: str | None = None,
        replaces: Draft | None = None,
    ) -> bool:
        document = self._verified(published)
        survey = document.survey.id

        def then(run: Run) -> None:
            if replaces is not None and not run(*ended(replaces)):
                raise DraftChanged
            for statement in [] if editor is None else granted(editor, survey, "editor"):
                run(*statement)

        values = {"id": survey, "document": published, "digest": document.digest, "day": self._today().isoformat()}
        known = self._add_survey(survey, (ADD_SURVEY, values | {"expected": expected, "draft": draft}), then)
        if known is None:
            return True
        refuse_another(known, document)
        if replaces is None:
            self._expect(survey, expected)
        return False

    def _verified(self, published: bytes) -> Document:
        """The document that is to be published. With a key that nobody here has, no token could ever be signed."""
        document = verify(published)
        if document.issuer is not None and self._invitations.key(document.survey.id).public != document.issuer:
            raise StorageError(f"The key in the document of {document.survey.id} is not the one that signs its tokens")
        return document

    def _expect(self, survey: str, expected: int | None) -> None:
        """A survey that is published again keeps its document. What is expected may be another number now."""
        if expected is not None:
            now = "UPDATE surveys SET expected = :expected WHERE id = :id"
            self._write((now, {"expected": expected, "id": survey}))

    def archive(self, survey: Published, archived: bool) -> None:
        day = self._today().isoformat() if archived else None
        moved = "UPDATE surveys SET archived_on = :day WHERE number = :number"
        self._write((moved, {"day": day, "number": survey.number}))

    def surveys(self, *, test_runs: bool = False) -> list[Listed]:
        return [
            Listed(
                entry.id,
                published.document.survey.title,
                published.document.digest,
                entry.conditions.at(self._now()),
                entry.conditions.submissions,
                entry.published_on,
                entry.closed_on,
                entry.expected,
                entry.archived_on,
                entry.draft,
                entry.conditions.opens_at,
                entry.conditions.closes_at,
                entry.conditions.most,
            )
            for entry, published in self._list()
            if test_runs or entry.draft is None
        ]

    # --- submissions -------------------------------------------------------------------------------------------------

    def accept(
        self, survey: Published, rows: Sequence[Row], source: str | None = None, counted: Statistics | None = None
    ) -> Accepted:
        number = 0 if source is None else self._number_of(survey, source)
        return self._commits.do(Request(survey, rows, number, counted))

    def accept_soon(self, survey: Published, rows: Sequence[Row], who: Any, tell: Tell) -> None:
        self._commits.put(Request(survey, rows), who, tell)

    def _number_of(self, survey: Published, label: str) -> int:
        """The number of a source, which it keeps. It is given one in a transaction of its own: once, and it says
        nothing about a submission.
        """
        key = survey.number, label
        while key not in self._sources:
            with self._reading() as view:
                conditions(view, survey.number)
                known = queries.source_numbers(view, survey.number)
            if label in known:
                self._sources[key] = known[label]
            elif len(known) >= MOST_SOURCES:
                raise TooManySources(
                    f"This survey has submissions from {MOST_SOURCES} collectors, and counts no more of them. Use the "
                    "label of one that it has"
                )
            else:  # where another server gives somebody else this number, look again
                self._write((queries.ADD_SOURCE, {"number": survey.number, "label": label, "next": len(known) + 1}))
        return self._sources[key]

    def _is_sealed(self, request: Request) -> bool:
        """So many at once are as good as a folding: where all are new, they are sealed when they are stored."""
        return len(request.rows) >= self._fold_at

    def _commit(self, requests: list[Request]) -> Sequence[Accepted | Exception]:
        try:
            outcomes = self._store_requests(requests)
            if any(isinstance(outcome, SurveyGone) for outcome in outcomes):
                return [*map(self._store_elsewhere, requests, outcomes)]
            return outcomes
        except StorageError as error:
            return [type(error)(str(error)) for _ in requests]  # one for each thread to raise

    def _store_elsewhere(self, request: Request, outcome: Accepted | Exception) -> Accepted | Exception:
        """A survey may be deleted and published again, without a change, while this server remembers the first one:
        what is meant for it is stored there.
        """
        survey = request.survey
        if not isinstance(outcome, SurveyGone) or request.source:  # a collector has another number there
            return outcome
        again = self.find(survey.document.survey.id)  # also forgets what is gone
        if again is None or again.number == survey.number or again.document.digest != survey.document.digest:
            return outcome
        return self._store_requests([request._replace(survey=again)])[0]

    def _fold_where_due(self, requests: list[Request]) -> None:
        """Leave folding to a thread of its own: those who wait for the next commit do not wait for it."""
        for number, survey in {request.survey.number: request.survey for request in requests}.items():
            due = self._unfolded[number] >= self._fold_at and time.monotonic() >= self._fold_again_at
            if due and number not in self._being_folded:
                self._being_folded.add(number)
                self._foldings.put(survey, None, lambda outcomes: None)

    def _fold_each(self, surveys: list[Published]) -> list[None]:
        for survey in surveys:
            try:
                self.fold(survey, self._fold_at)
            except Exception as error:
                # What was acknowledged stays acknowledged, even if folding fails. The next try comes later.
                self._trouble.failed("Folding", type(error).__qualname__)
                self._fold_again_at = time.monotonic() + FOLD_AGAIN_AFTER
            else:
                self._trouble.works("Folding")
                self._fold_again_at = float("-inf")
            finally:
                self._being_folded.discard(survey.number)
        return [None] * len(surveys)

    def _fold_all(self, survey: Published, at_least: int) -> int:
        """Fold everything, if it is enough: another server may have folded just now, and a few rows would stand out."""
        chunk = moved = self._fold_chunk(survey, at_least)
        while chunk == queries.CHUNK:  # else nothing was left, and what has come since may be few
            chunk = self._fold_chunk(survey, at_least)
            moved += chunk
        # About so many are left. If there were none to fold, the number was wrong.
        self._unfolded[survey.number] = max(0, self._unfolded[survey.number] - moved) if moved else 0
        if moved:
            log.debug("Folded %d submissions of %s", moved, survey.document.survey.id)
        return moved

    # --- reading -----------------------------------------------------------------------------------------------------

    def statistics(self, survey: Published, over: Sequence[int] | None = None) -> Statistics:
        with self._reading(survey.number) as view:
            return self._statistics(view, survey, over)

    def _statistics(
        self, view: queries.View, survey: Published, over: Sequence[int] | None, source: int = queries.EVERYTHING
    ) -> Statistics:
        waiting = self._waiting.statistics(view, survey, over, source)
        return queries.statistics(view, survey.number, survey.document, over, source, waiting)

    def divided(
        self, survey: Published, over: Sequence[int] | None, labels: Sequence[str]
    ) -> tuple[Statistics, dict[str, Statistics]]:
        with self._reading(survey.number) as view:
            numbers = queries.source_numbers(view, survey.number)
            known = {label: numbers[label] for label in labels if label in numbers}
            parts = {label: self._statistics(view, survey, over, each) for label, each in known.items()}
            return self._statistics(view, survey, over), parts

    def sources(self, survey: Published) -> dict[str, int]:
        with self._reading(survey.number) as view:
            return queries.sources(view, survey.number, survey.document)

    def recount(self, survey: Published) -> Statistics:
        with self._reading(survey.number) as view:
            return queries.recount(view, survey.number, survey.document)

    @contextmanager
    def stored(self, survey: Published) -> Iterator[Stored]:
        with self._reading(survey.number) as view:
            yield queries.StoredIn(view, survey.number)

    @contextmanager
    def submissions(self, survey: Published) -> Iterator[Iterable[tuple[bytes, Content]]]:
        with self.stored(survey) as stored:
            yield queries.Read(stored)

    def days(self, survey: Published) -> dict[date, int]:
        with self._reading() as view:
            return queries.days(view, survey.number)

    def verify(self) -> list[str]:
        numbers = [entry.number for entry, _ in self._list()]
        with self._reading(*numbers) as view:
            return queries.find_damage(view, numbers)


def second_run() -> SurveyDiffers:
    """Where nothing was published, though no survey has the id."""
    return SurveyDiffers("This draft has a test run already. End it before another one is begun.")


def refuse_another(known: bytes, document: Document) -> None:
    """SurveyDiffers unless the surveys are equal; another version of Deniable may have chosen other channels."""
    if verify(known).survey != document.survey:
        raise SurveyDiffers(
            f"{document.survey.id} is already published with other content, and a published survey never changes. "
            "Give the new one another id."
        )
