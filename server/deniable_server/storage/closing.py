"""How surveys end: closed by somebody or when it is due, or deleted, with what takes long done by a thread of its own.

May not: know which database it is.
"""

from __future__ import annotations

import logging
import threading
import time
from abc import abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import date

from deniable_server.errors import StorageError

from . import Published, Storage, queries
from .deletion import DELETED, TAKE_ON, TRY_AGAIN_AFTER
from .fieldwork import DUE
from .tokens import Statement
from .trouble_log import TroubleLog

log = logging.getLogger(__name__)

LOOK_EACH = 1.0
"""Seconds between two looks at what is due."""
WIPING = "Wiping deleted surveys from the files"
ABANDONED = (
    "SELECT id FROM surveys WHERE draft IS NOT NULL"
    " AND NOT EXISTS (SELECT 1 FROM drafts WHERE drafts.number = surveys.draft)"
)
"""Test runs of drafts that are gone."""


class ClosingStorage(Storage):
    """The part of a storage that closes and deletes surveys."""

    def __init__(self, today: Callable[[], date], now: Callable[[], int]) -> None:
        self._today, self._now = today, now
        self._surveys: dict[str, Published] = {}
        self._trouble = TroubleLog()
        self._keeping: threading.Thread | None = None
        self._ends = threading.Event()
        self._unfinished: set[str] = set()
        self._finish_again_at = float("-inf")

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

    # --- closing and deleting ----------------------------------------------------------------------------------------

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

    def _keep_no_schedule(self) -> None:
        """End the thread that does."""
        self._ends.set()
        if self._keeping is not None:
            self._keeping.join()

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
