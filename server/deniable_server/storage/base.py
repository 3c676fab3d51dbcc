"""What all backends do alike: one commit for all who wait, folding when enough waits, and reading.

May not: know which database it is.
"""

from __future__ import annotations

import logging
import time
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import date
from typing import NamedTuple

from deniable_protocol import Document, verify
from deniable_protocol.checks import SURVEY_ID
from deniable_server.errors import StorageError, SurveyDiffers
from deniable_server.statistics import Content, Statistics

from . import Accepted, Listed, Published, Row, Status, Storage, Stored, queries
from .group_commit import GroupCommit

log = logging.getLogger(__name__)

FOLD_AGAIN_AFTER = 60.0
"""Seconds until a folding that failed is tried again."""


class Request(NamedTuple):
    """Submissions that are stored all or none."""

    survey: Published
    rows: Sequence[Row]


class DatabaseStorage(Storage):
    """Requests that wait for a commit share the next one."""

    def __init__(self, fold_at: int, today: Callable[[], date]) -> None:
        self._fold_at, self._today = fold_at, today
        self._surveys: dict[str, Published] = {}
        self._unfolded: Counter[int] = Counter()
        self._fold_again_at = float("-inf")
        self._commits: GroupCommit[Request, Accepted] = GroupCommit(self._commit, self._fold_where_due)

    # --- for backends to fill in -------------------------------------------------------------------------------------

    @abstractmethod
    def _reading(self, *surveys: int) -> AbstractContextManager[queries.View]:
        """One state of the database, to read from: of submissions, those of these surveys only."""

    @abstractmethod
    def _store_together(self, requests: list[Request]) -> Sequence[Accepted | Exception]:
        """Store all of them with one commit, and say what became of each. StorageError: nothing was acknowledged."""

    @abstractmethod
    def _begin_closing(self, survey: Published) -> bool:
        """Take no more submissions. False where the survey is closed already."""

    @abstractmethod
    def _seal(self, survey: Published) -> None:
        """The rest of closing: fold, wipe what tells of arrival, and only then say closed. Can be repeated."""

    # --- surveys -----------------------------------------------------------------------------------------------------

    def find(self, survey: str) -> Published | None:
        if survey not in self._surveys:
            if not SURVEY_ID.fullmatch(survey):
                return None
            with self._reading() as view:
                found = queries.survey(view, survey)
            if found is None:
                return None
            self._surveys[survey] = Published(*found, verify(found[1]))
        return self._surveys[survey]

    def status(self, survey: Published) -> Status:
        with self._reading() as view:
            return _shown(queries.status(view, survey.number))

    def surveys(self) -> list[Listed]:
        listed = []
        for survey, status, published_on, closed_on, submissions in self._list():
            document = self._known(survey).document
            title, digest = document.survey.title, document.digest
            listed.append(Listed(survey, title, digest, _shown(status), submissions, published_on, closed_on))
        return listed

    def _list(self) -> list[tuple[str, str, str, str | None, int]]:
        with self._reading() as view:
            return queries.listed(view)

    def _known(self, survey: str) -> Published:
        found = self.find(survey)
        assert found is not None
        return found

    def close_survey(self, survey: Published) -> bool:
        if not self._begin_closing(survey):
            return False
        self._seal(survey)
        return True

    def finish_closing(self) -> None:
        for survey in [each for each, status, *_ in self._list() if status == "closing"]:
            try:
                self._seal(self._known(survey))
            except (
                StorageError
            ) as error:  # another process may be at it just now; and whatever it is, others can be served
                log.warning("The closing of %s is not finished yet: %s", survey, error)

    # --- submissions -------------------------------------------------------------------------------------------------

    def accept(self, survey: Published, rows: Sequence[Row]) -> Accepted:
        return self._commits.do(Request(survey, rows))

    def _commit(self, requests: list[Request]) -> Sequence[Accepted | Exception]:
        try:
            return self._store_together(requests)
        except StorageError as error:
            return [type(error)(str(error)) for _ in requests]  # each thread raises one of its own

    def _fold_where_due(self, requests: list[Request]) -> None:
        for number, survey in {request.survey.number: request.survey for request in requests}.items():
            if self._unfolded[number] >= self._fold_at and time.monotonic() >= self._fold_again_at:
                try:
                    self.fold(survey, self._fold_at)
                except Exception as error:
                    # What was acknowledged stays acknowledged, whatever becomes of the folding. Only the first of a row
                    # of failures is logged, and tried again after a while: each is at a respondent's time.
                    if self._fold_again_at == float("-inf"):
                        log.error("Folding failed and has to wait: %s", type(error).__qualname__)
                    self._fold_again_at = time.monotonic() + FOLD_AGAIN_AFTER
                else:
                    self._fold_again_at = float("-inf")

    # --- reading -----------------------------------------------------------------------------------------------------

    def statistics(self, survey: Published) -> Statistics:
        with self._reading(survey.number) as view:
            return queries.statistics(view, survey.number, survey.document)

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
        numbers = [self._known(survey).number for survey, *_ in self._list()]
        with self._reading(*numbers) as view:
            return queries.find_damage(view, numbers)


def _shown(status: str) -> Status:
    return "open" if status == "open" else "closed"


def unsealed(listed: Listed) -> str:
    """The status of a survey that was copied: one that is closed has yet to be written anew."""
    return "open" if listed.status == "open" else "closing"


def refuse_another(known: bytes, document: Document) -> None:
    """SurveyDiffers unless the same survey is published; another version of ours may lay out its channels otherwise."""
    if verify(known).survey != document.survey:
        raise SurveyDiffers(
            f"{document.survey.id} is already published with other content, and a published survey never changes. "
            "Give the new one another id."
        )


def newly_accepted(requests: Sequence[Request], outcomes: Sequence[Accepted | Exception]) -> dict[int, int]:
    """How many submissions of each survey, by its number, came for the first time."""
    added: Counter[int] = Counter()
    for request, outcome in zip(requests, outcomes, strict=True):
        if isinstance(outcome, Accepted):
            added[request.survey.number] += outcome.accepted
    return dict(+added)
