"""All errors that the server raises on purpose, in one tree. Each names the kind of problem that callers are told.

    DeniableError                       of the protocol: catch it to catch everything below
    ├── SubmissionError                 of the protocol: a body is no submission to this survey
    │   ├── NotJSON                     the body is not strict JSON
    │   └── TooMany                     the batch is too large
    ├── TokenError                      of the protocol: a blinded message or a token cannot be used
    └── ServerError
        ├── Refusal                     a route refuses a request; carries its own kind and detail
        ├── StorageError                the database cannot be used as it is
        │   └── Unavailable             it cannot be read or written just now; try again
        ├── SurveyDiffers               another survey was published under this id
        ├── DraftChanged                somebody has changed, published or deleted the draft
        ├── SurveyGone                  the survey was deleted
        ├── SurveyClosed                the survey takes no more submissions
        ├── SurveyNotOpen               the survey takes no submissions yet
        ├── TooFewPlaces                the survey takes some more submissions, but fewer than a batch has
        ├── BadFieldwork                times or numbers that a survey cannot keep
        ├── IdConflict                  this id is stored with other content
        ├── InvitationUnknown           no invitation has this code, or it gives no more tokens
        ├── InvitationUsed              all uses of this invitation are taken
        ├── BadInvitations              invitations that cannot be made as asked
        ├── TooManySources              the survey has submissions from as many collectors as it may
        ├── BadQuery                    an analyst asked for something that does not exist
        │   └── NotComparable           two groups were asked different things
        ├── ImpossibleWeights           no weights give the wanted margins
        ├── Withheld                    the answer would show a group that is too small
        ├── HeldBack                    results are not shown yet
        ├── PlanError                   what is wanted of a plan is out of range
        ├── AuditError                  the audit could not run
        ├── CannotCompare               a server that is to be verified gave nothing to compare
        ├── ExportError                 an export cannot be written or read
        ├── SimulationError             the simulation cannot go on
        ├── SettingError                a setting cannot be used
        ├── IssuingError                the key that signs tokens cannot be used, or made an error
        ├── BadAccess                   an access token of this role cannot be for these surveys
        └── BadLabel                    the label of an access token cannot be shown as it is

May not: import anything of the server, so that everything else can import this.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import ClassVar

from deniable_protocol import DeniableError, Problem, SubmissionError

RETRY_SECONDS = 5
CHALLENGE = {"WWW-Authenticate": 'Bearer realm="deniable"'}
"""What a response that asks for an access token says."""


class Kind(Enum):
    """All kinds of problem: a stable name for programs, a status, and a title for people."""

    BAD_REQUEST = ("bad-request", 400, "Bad request")
    NOT_JSON = ("not-json", 400, "Not valid JSON")
    BAD_PARAMETER = ("bad-parameter", 400, "Invalid parameter")
    UNAUTHORIZED = ("unauthorized", 401, "Access token required")
    FORBIDDEN = ("forbidden", 403, "Not allowed for this role")
    HELD_BACK = ("held-back", 403, "Results held back")
    FORM = ("foreign-form", 403, "Form not accepted")
    INVITATION_UNKNOWN = ("invitation-unknown", 403, "Invitation not valid")
    NOT_FOUND = ("not-found", 404, "Not found")
    METHOD = ("method-not-allowed", 405, "Method not allowed")
    INCOMPLETE = ("incomplete", 408, "Request incomplete or too slow")
    CONFLICT = ("id-conflict", 409, "This id is already stored with other content")
    WRONG_DIGEST = ("wrong-digest", 409, "Made for another version of the survey")
    CLOSED = ("survey-closed", 409, "Survey closed")
    NOT_OPEN = ("survey-not-open", 409, "Survey not open yet")
    TOO_FEW_PLACES = ("too-few-places", 409, "Survey takes fewer submissions than these")
    INVITATION_USED = ("invitation-used", 409, "Invitation already used")
    DIFFERS = ("survey-differs", 409, "A published survey cannot be changed")
    TOO_LARGE = ("too-large", 413, "Request too large")
    MEDIA_TYPE = ("media-type", 415, "Unsupported media type")
    INVALID = ("invalid", 422, "Invalid content")
    WITHHELD = ("withheld", 422, "Group too small to show")
    RATE_LIMIT = ("rate-limit", 429, "Too many requests")
    INTERNAL = ("internal", 500, "Internal server error")
    BUSY = ("busy", 503, "Server busy")
    UNAVAILABLE = ("unavailable", 503, "Storage unavailable")

    def __init__(self, slug: str, status: int, title: str) -> None:
        self.slug, self.status, self.title = slug, status, title


class ServerError(DeniableError):
    """The root of what is the server's own."""

    kind: ClassVar[Kind] = Kind.INVALID


class Refusal(ServerError):
    """Raised by a route to end in a problem document."""

    def __init__(self, kind: Kind, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.kind = kind  # type: ignore[misc]  # each refusal has its own
        self.headers = headers or {}

    def __reduce__(self) -> tuple[type[Refusal], tuple[Kind, str, Mapping[str, str]]]:
        return type(self), (self.kind, str(self), self.headers)


class NotJSON(SubmissionError):
    """The body is not the strict JSON that both languages read in the same way."""

    kind: ClassVar[Kind] = Kind.NOT_JSON

    def __init__(self) -> None:
        super().__init__([Problem("", "json", "the body is not strict JSON in UTF-8")])


class TooMany(SubmissionError):
    """A batch has more submissions than a request may have."""

    kind: ClassVar[Kind] = Kind.TOO_LARGE


class StorageError(ServerError):
    """Storage cannot be used as it is; the message says what to do. It may name paths, so callers never see it."""

    kind = Kind.UNAVAILABLE


class Unavailable(StorageError):
    """Storage cannot write or read just now: locked, full, read-only or gone. Nothing was acknowledged; try again."""


class SurveyDiffers(ServerError):
    """A survey of this id is already published, with other content."""

    kind = Kind.DIFFERS


class DraftChanged(ServerError):
    """The draft is not there as it was seen: somebody has changed, published or deleted it. Nothing was published."""


class SurveyClosed(ServerError):
    """The survey takes no more submissions."""

    kind = Kind.CLOSED


class SurveyNotOpen(ServerError):
    """The survey opens later; the message says when."""

    kind = Kind.NOT_OPEN


class TooFewPlaces(ServerError):
    """The survey stops at a number, and a batch has more new submissions than it still takes. One alone never has."""

    kind = Kind.TOO_FEW_PLACES

    def __init__(self, left: int) -> None:
        more = "1 more submission" if left == 1 else f"{left:,} more submissions"
        super().__init__(f"The survey takes only {more}. Nothing of this request was stored.")


class SurveyGone(ServerError):
    """The survey was deleted, perhaps by another server just now. Nothing was stored."""

    kind = Kind.NOT_FOUND

    def __init__(self) -> None:
        super().__init__("No survey has this id.")


class BadFieldwork(ServerError):
    """A survey cannot open, close or stop as asked; the message says why."""


class IdConflict(ServerError):
    """A submission of this id is already stored, with other content."""

    kind = Kind.CONFLICT


class InvitationUnknown(ServerError):
    """No invitation of this survey has the code, or it was revoked, or its last day is over. Always in these words, so
    that somebody who tries codes learns nothing about them.
    """

    kind = Kind.INVITATION_UNKNOWN

    def __init__(self) -> None:
        super().__init__("This invitation is not valid for this survey. Ask for another one where you got it.")


class InvitationUsed(ServerError):
    """As many tokens were given for this invitation as it allows."""

    kind = Kind.INVITATION_USED

    def __init__(self) -> None:
        super().__init__("This invitation was used before. It cannot be used again.")


class BadInvitations(ServerError):
    """Invitations are asked for that cannot be made: too many, none, or of a survey that has none."""


class TooManySources(ServerError):
    """A survey counts the submissions of so many sources, and no more."""


class BadQuery(ServerError):
    """What was asked about does not exist in the survey, or a number is out of range."""

    kind = Kind.BAD_PARAMETER


class NotComparable(BadQuery):
    """The groups were asked different things; the message names what differs."""


class ImpossibleWeights(ServerError):
    """No weights make these submissions agree with the margins."""


class Withheld(ServerError):
    """What was asked for would show a group below the minimum size."""

    kind = Kind.WITHHELD


class HeldBack(ServerError):
    """An editor holds the results of this survey back; the message says until when."""

    kind = Kind.HELD_BACK


class PlanError(ServerError):
    """What is wanted of a plan is out of range; the message has a line for each such number."""


class AuditError(ServerError):
    """The audit itself could not run."""


class CannotCompare(ServerError):
    """A server that is to be verified cannot be reached, or has no such survey."""


class ExportError(ServerError):
    """An export cannot be written, or cannot be used as it is; the message says what to do."""


class SimulationError(ServerError):
    """The simulation cannot go on."""


class SettingError(ServerError):
    """A setting cannot be used; the message names it and says what it takes."""


class IssuingError(ServerError):
    """The key that signs tokens is damaged, or a signature came out wrong. Nothing was signed."""

    kind = Kind.INTERNAL


class BadAccess(ServerError):
    """An access token of this role cannot be for these surveys."""

    kind = Kind.BAD_PARAMETER


class BadLabel(ServerError):
    """The label of an access token has characters that a terminal would obey."""

    kind = Kind.BAD_PARAMETER
