"""What all backends share: group commit, folding once enough submissions wait, reading, and tokens.

May not: know which database it is.
"""

from __future__ import annotations

import logging
import threading
import time
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict
from datetime import date
from typing import Any, NamedTuple, TypeAlias

from deniable_protocol import Document, verify
from deniable_protocol.checks import SURVEY_ID
from deniable_server.errors import DraftChanged, StorageError, SurveyClosed, SurveyDiffers, SurveyGone, TooManySources
from deniable_server.statistics import Content, Statistics

from . import MOST_SOURCES, Accepted, Fieldwork, Listed, Published, Row, State, Status, Storage, Stored, queries
from .activity import Activity
from .deletion import DELETED, TAKE_ON, TRY_AGAIN_AFTER
from .drafts import Draft, Drafts, ended
from .fieldwork import DUE, SCHEDULE, conditions
from .group_commit import GroupCommit, Tell
from .invitations import Invitations, numbers
from .tokens import Statement, Tokens, granted
from .trouble_log import TroubleLog
from .waiting import Waiting

log = logging.getLogger(__name__)

FOLD_AGAIN_AFTER = 60.0
"""Seconds until a failed folding is tried again."""
LOOK_EACH = 1.0
"""Seconds between two looks at what is due."""
WIPING = "Wiping deleted surveys from the files"
ADD_SURVEY = (
    "INSERT INTO surveys (id, document, digest, published_on, expected, draft)"
    " VALUES (:id, :document, :digest, :day, :expected, :draft) ON CONFLICT DO NOTHING"
)
DOCUMENT = "SELECT number, document FROM surveys WHERE id = :id"
ABANDONED = (
    "SELECT id FROM surveys WHERE draft IS NOT NULL"
    " AND NOT EXISTS (SELECT 1 FROM drafts WHERE drafts.number = surveys.draft)"
)
"""Test runs of drafts that are gone."""
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


class DatabaseStorage(Storage):
    """Requests that wait for a commit share the next one. ``created``: opening it has made the database."""

    commits_at_once = 1
    """How many commits the database can do at the same time in one process."""

    def __init__(self, fold_at: int, today: Callable[[], date], now: Callable[[], int]) -> None:
        self._fold_at, self._today, self._now = fold_at, today, now
        self._surveys: dict[str, Published] = {}
        self._sources: dict[tuple[int, str], int] = {}
        self._unfolded: Counter[int] = Counter()
        self._fold_again_at = float("-inf")
        self._trouble = TroubleLog()
        self._commits: GroupCommit[Request, Accepted] = GroupCommit(
            self._commit, self._fold_where_due, self.commits_at_once
        )
        self._foldings: GroupCommit[Published, None] = GroupCommit(self._fold_each)
        self._being_folded: set[int] = set()
        self._tokens = Tokens(self._reading, self._write, today)
        self._waiting = Waiting()
        self._invitations = Invitations(self._reading, self._write, today, now)
        self._drafts = Drafts(self._reading, self._write, today)
        self._keeping: threading.Thread | None = None
        self._ends = threading.Event()
        self._unfinished: set[str] = set()
        self._finish_again_at = float("-inf")
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
        self._ends.set()
        if self._keeping is not None:
            self._keeping.join()
        self._commits.close()
        self._foldings.close()

    # --- for backends to fill in -------------------------------------------------------------------------------------

    @abstractmethod
    def _reading(self, *surveys: int) -> AbstractContextManager[queries.View]:
        """One state of the database, to read from; only submissions of these surveys."""

    @abstractmethod
    def _write(self, *statements: Statement, minor: bool = False) -> int:
        """Run these in one transaction; returns how many rows the last one changed.

        A ``minor`` write may fail quietly: it is tried again.
        """

    @abstractmethod
    def _write_alone(self, survey: Published, *statements: Statement) -> int:
        """The same while nobody stores submissions of this survey: the statements see all that were."""

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

    @abstractmethod
    def _seal(self, survey: Published) -> None:
        """The rest of closing: fold, wipe what shows arrival order, and only then mark it closed. Can be repeated."""

    @abstractmethod
    def _remove(self, survey: Published) -> None:
        """Delete all that belongs to a survey, in one transaction, and note that it is to be wiped. Can be repeated."""

    @abstractmethod
    def _wipe(self, numbers: list[int]) -> None:
        """Leave nothing in the files of the deleted surveys of these numbers, then delete the notes. Can be repeated.
        Unavailable where somebody is in the way.
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

    def _list(self) -> list[tuple[queries.Entry, Published]]:
        """All surveys. One that is deleted just now may be missing."""
        with self._reading() as view:
            entries = queries.listed(view)
        listed = []
        for entry in entries:
            published = self._surveys.get(entry.id)
            if published is None or published.number != entry.number:
                published = self.find(entry.id)
            if published is not None:
                listed.append((entry, published))
        return listed

    def close_survey(self, survey: Published) -> bool:
        closed = self._close(survey)
        if closed:
            log.info("Closed %s", survey.document.survey.id)
        return closed

    def _begin_closing(self, survey: Published) -> bool:
        """Take no more submissions. False where the survey is closed already."""
        closing = (
            "UPDATE surveys SET status = 'closing', closed_on = coalesce(closed_on, :day)"
            " WHERE number = :number AND status <> 'closed'"
        )
        values = {"day": self._today().isoformat(), "number": survey.number}
        return self._write_alone(survey, (closing, values)) > 0

    def _close(self, survey: Published) -> bool:
        """The same, without a line in the log."""
        if not self._begin_closing(survey):
            return False
        self._seal(survey)
        return True

    def finish_closing(self) -> None:
        for entry, published in self._list():
            if entry.conditions.status != "closing":
                continue
            try:
                self._seal(published)
            except StorageError as error:  # perhaps another process is doing it now; other surveys can be served
                log.warning("The closing of %s is not finished yet: %s", entry.id, error)
            else:
                log.info("Closed %s", entry.id)
        self._wipe_deleted()

    def close_due(self) -> list[str]:
        now = self._now()
        with self._reading() as view:
            due = dict(view.rows(f"SELECT id, coalesce(closes_at <= :now, false) FROM surveys WHERE {DUE}", now=now))  # noqa: S608 -- our own words
            deleted = [wipe_at for _, wipe_at in view.rows(DELETED)]
            abandoned = [survey for (survey,) in view.rows(ABANDONED)]
        if not deleted:
            self._trouble.works(WIPING)  # perhaps another server has done it
        elif min(deleted) <= now:
            self._wipe_deleted()
        again = set[str]()
        if time.monotonic() >= self._finish_again_at:
            self._end_test_runs(abandoned)
            again = self._unfinished
        closed = [survey for survey in sorted(due.keys() | again) if self._close_quietly(survey)]
        for survey in closed:
            if due.get(survey):  # of one that stops at a number, this would be when the last respondent answered
                log.info("Closed %s", survey)
        return closed

    def _end_test_runs(self, surveys: list[str]) -> None:
        """Delete these. Their drafts were published or deleted when they could not be."""
        for survey in surveys:
            published = self.find(survey)
            try:
                if published is not None:
                    self.delete_survey(published)
            except StorageError as error:  # a download may be in the way
                self._finish_again_at = time.monotonic() + TRY_AGAIN_AFTER
                self._trouble.failed("Ending a test run", str(error))
            else:
                self._trouble.works("Ending a test run")

    def _close_quietly(self, survey: str) -> bool:
        """Close a survey that is due. Where this fails, it takes no more submissions, and the rest is done later. The
        log does not say when that was.
        """
        published = self.find(survey)
        self._unfinished.discard(survey)
        try:
            closed = published is not None and self._close(published)
        except StorageError as error:  # a download may be in the way
            self._unfinished.add(survey)
            self._finish_again_at = time.monotonic() + TRY_AGAIN_AFTER
            self._trouble.failed(f"Closing {survey}", str(error))
            return False
        self._trouble.works(f"Closing {survey}")
        return closed

    def keep_schedule(self) -> None:
        self._keeping = threading.Thread(target=self._keep_schedule, name="schedule", daemon=True)
        self._keeping.start()

    def _keep_schedule(self) -> None:
        while not self._ends.wait(LOOK_EACH):
            try:
                self.close_due()
            except Exception as error:  # the database is away: the next look may succeed, and the thread must go on
                self._trouble.failed("Closing what is due", type(error).__qualname__)
            else:
                self._trouble.works("Closing what is due")

    def delete_survey(self, survey: Published) -> None:
        self._remove(survey)
        log.info("Deleted %s", survey.document.survey.id)
        self._surveys.pop(survey.document.survey.id, None)
        if survey.draft is None:
            self._wipe_deleted()

    def _wipe_deleted(self) -> None:
        """Finish deletions, if one is due and no other server does it now. Where that fails, one tries again later."""
        now = self._now()
        try:
            if not self._write((TAKE_ON, {"now": now, "again": now + TRY_AGAIN_AFTER})):
                return
            with self._reading() as view:
                numbers = [number for number, _ in view.rows(DELETED)]
            self._wipe(numbers)
        except StorageError as error:
            self._trouble.failed(WIPING, str(error))
        else:
            self._trouble.works(WIPING)

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
