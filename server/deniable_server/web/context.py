"""What one running server shares between its requests, and what routes use of it."""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import msgspec
from flask import Response, current_app, request
from msgspec.structs import replace

from deniable_protocol import Survey, verify
from deniable_protocol.invitations import digest_of_code
from deniable_server.errors import Kind, Refusal, StorageError, SurveyDiffers
from deniable_server.planning import publish_survey
from deniable_server.settings import Rate, Settings
from deniable_server.storage import Fieldwork, Published, Storage, Token, utc_today
from deniable_server.storage.activity import Deed
from deniable_server.storage.drafts import Draft
from deniable_server.storage.invitations import make_invitations

from .computing import Computing
from .logo import read_logo
from .metrics import Metrics
from .rate_limit import RateLimit
from .security_log import SecurityLog
from .submission_reader import SubmissionReader

WRONG = Rate(20, "minute")
"""Tokens and links cannot be guessed, however often somebody tries; this keeps them from keeping the server busy."""

TOKENS = Rate(300, "minute")
"""Requests for respondents' tokens, right or wrong, where submissions have no limit. A school behind one address stays
below it. To find one of a thousand codes of 60 bits, one address would have to try for about seven million years.
"""

T = TypeVar("T")


class AppState:
    """The settings, the storage, and what is made from them once."""

    def __init__(self, settings: Settings, storage: Storage, computing: Computing) -> None:
        self.settings, self.storage, self.computing = settings, storage, computing
        # Not Flask's secret_key: with one, it opens a signed session for every request, and nobody uses those.
        self.secret_key = settings.ensure_secret_key(storage.secret_key)
        self.logo = read_logo(settings.logo)
        self.metrics = Metrics()
        self.rate_limit = None if settings.rate_limit is None else RateLimit(settings.rate_limit)
        self.token_requests = RateLimit(settings.rate_limit or TOKENS)
        self.wrong_tokens = RateLimit(WRONG)
        self.wrong_links = RateLimit(WRONG)
        self.wrong_headers = RateLimit(WRONG)
        self.events = SecurityLog(keep=self._keep)
        self._readers: dict[int, SubmissionReader] = {}

    def _keep(self, deed: Deed, *, minor: bool = False) -> None:
        """Keep what somebody did, with the title of the survey: its id may be that of another survey later. A test run
        goes by its draft, whose title is not kept.
        """
        published = None if deed.survey is None else self.storage.find(deed.survey)
        if published is not None:
            is_real = published.draft is None
            named = {"title": published.document.survey.title} if is_real else {"draft": str(published.draft)}
            deed = dataclasses.replace(deed, about={**named, **deed.about})
        self.storage.activity.note(deed, minor=minor)

    def admit(self, address: str | None, submissions: int = 1) -> None:
        """Refusal where too many submissions have come from this address. They count even if they are refused later."""
        if self.rate_limit is not None:
            self.rate_limit.spend(address, submissions)

    def reader(self, published: Published) -> SubmissionReader:
        """What reads the submissions to a survey. It is made once: a published survey never changes."""
        reader = self._readers.get(published.number)
        if reader is None:
            reader = self._readers[published.number] = SubmissionReader(published.document)
        return reader

    def publish(self, survey: Survey, token: Token, draft: Draft | None = None) -> bool:
        """Publish, and note who did. False where the same survey is published; SurveyDiffers where another is, or one
        that the token does not let its holder edit. A token that is for some surveys is for this one then.

        ``draft``: where it was written. It is gone then, with its test run; DraftChanged where somebody was faster.
        """
        if self.storage.find(survey.id) is not None:
            _refuse_others(token, survey.id)
        issuer = self.storage.invitations.issuer_of(survey)
        document = compute(publish_survey, survey, issuer)
        created = self.storage.publish(document, survey.respondents, editor=token.id, replaces=draft)
        if not created:
            _refuse_others(token, survey.id)
            return False
        self.events.did("survey-published", token, survey=survey.id)
        if draft is not None:
            self.drop_test_run(draft.number, token)
        return True

    def start_test_run(self, draft: int, survey: Survey, token: Token) -> None:
        """Publish the survey of a draft as a test run, in the place of an earlier one, and note who did."""
        document = compute(publish_survey, replace(survey, id=f"test-{secrets.token_hex(5)}"))
        self.end_test_run(draft, token)
        self.storage.publish(document, draft=draft)
        run = verify(document).survey.id
        self.events.did("test-run-started", token, survey=run, draft=str(draft))
        if self.storage.drafts.find(draft) is None:  # published or deleted just now: nobody would ever end this run
            self.drop_test_run(draft, token)

    def end_test_run(self, draft: int, token: Token) -> None:
        """Delete the test run of a draft with its answers, if there is one, and note who did."""
        found = self.storage.test_run(draft)
        if found is not None:
            self.storage.delete_survey(found)
            self.events.did("test-run-ended", token, survey=found.document.survey.id, draft=str(draft))

    def drop_test_run(self, draft: int, token: Token) -> None:
        """The same for a draft that is gone: after it, so that none is started in between. What was done is done, so if
        this fails, nobody is told that it was not: the storage does it later.
        """
        with suppress(StorageError):
            self.end_test_run(draft, token)

    def close(self, published: Published, token: Token) -> None:
        """Close a survey, and note who did."""
        self.storage.close_survey(published)
        self.events.did("survey-closed", token, survey=published.document.survey.id)

    def schedule(self, published: Published, fieldwork: Fieldwork, token: Token) -> None:
        """Set when a survey opens and closes and where it stops, and note who did."""
        self.storage.schedule(published, fieldwork)
        self.events.did("survey-scheduled", token, survey=published.document.survey.id)

    def delete(self, published: Published, token: Token) -> None:
        """Delete a survey for good, and note who did."""
        self.storage.delete_survey(published)
        survey = published.document.survey
        self.events.did("survey-deleted", token, {"title": survey.title}, survey=survey.id)

    def archive(self, published: Published, archived: bool, token: Token) -> None:
        """Put a survey into the archive, or take it out, and note who did."""
        self.storage.archive(published, archived)
        self.events.did("survey-archived" if archived else "survey-listed", token, survey=published.document.survey.id)

    def invite(self, published: Published, token: Token, number: int, **details: Any) -> list[str]:
        """Make invitations (``make_invitations``), and note who did, and how many. The codes are not kept."""
        codes = make_invitations(self.storage, published, number, **details)
        self.events.did("invitations-made", token, survey=published.document.survey.id, number=str(len(codes)))
        return codes

    def revoke_invitations(self, published: Published, codes: Iterable[str], token: Token) -> int:
        """Revoke invitations, and note who did; returns how many of them could still be used."""
        revoked = self.storage.invitations.revoke(published, map(digest_of_code, codes))
        self.events.did("invitations-revoked", token, survey=published.document.survey.id, number=str(revoked))
        return revoked

    def hold_results(self, published: Published, until: int | None, token: Token) -> None:
        """Hold results back, or show them, and note who did."""
        self.storage.hold_results(published, until)
        self.events.did(
            "results-held", token, survey=published.document.survey.id, until="closed" if until is None else str(until)
        )


def _refuse_others(token: Token, survey: str) -> None:
    """Those who are no editors of a survey learn only that its id is taken."""
    if token.role_on(survey) not in ("editor", "admin"):
        raise SurveyDiffers(f"Another survey is already published with the id {survey}. Give the new one another id.")


# --- what routes use --------------------------------------------------------------------------------------------------


def here() -> AppState:
    """The state that the current request belongs to."""
    state: AppState = current_app.extensions["deniable"]
    return state


def compute(function: Callable[..., T], *given: object, about: Iterable[Published] = ()) -> T:
    """What a function gives for these arguments, computed apart from those who answer (``computing``). It is called in
    a request of the same app that nobody is signed in to: who may ask is checked here, before.

    ``about``: the surveys whose submissions and settings the answer depends on.
    """
    state, surveys = here(), list(about)
    return state.computing.ask(
        function,
        *given,
        root=request.script_root,
        # Results say of which day they are.
        state=lambda: (utc_today(), *map(state.storage.state, surveys)) if surveys else (),
    )


def as_json(value: object, status: int = 200) -> Response:
    headers = [("Content-Type", "application/json"), ("Cache-Control", "no-store")]
    return Response(msgspec.json.encode(value), status, headers)


def find(survey: str) -> Published:
    published = here().storage.find(survey)
    if published is None:
        raise Refusal(Kind.NOT_FOUND, "No survey has this id.")
    return published


def read_body(limit: int, kinds: Sequence[str] = ("application/json",)) -> bytes:
    """The body of a request, refused by its length before anything is parsed."""
    if request.mimetype not in kinds or request.headers.get("Content-Encoding", "identity") != "identity":
        raise Refusal(Kind.MEDIA_TYPE, f"Send  Content-Type: {' or '.join(kinds)}  and no Content-Encoding.")
    stated = request.content_length
    # One byte more than allowed is read at most: of a body without a stated length, too much is noticed only then.
    request.max_content_length = limit + 1
    if (stated or 0) > limit or len(body := request.stream.read()) > limit:
        raise Refusal(Kind.TOO_LARGE, f"At most {limit} bytes.")
    if stated is not None and len(body) != stated:
        raise Refusal(Kind.INCOMPLETE, "Nothing was stored. Try again, with the same content.")
    return body
