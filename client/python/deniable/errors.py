"""Every error of the client, one tree with the protocol's.

    DeniableError
    ├── DocumentError     the published document is refused, or is not the one this device knows   (protocol)
    ├── AnswerError       the answers or segments do not fit the survey; nothing was written       (protocol)
    ├── InvitationError   an invitation is needed, or cannot be used; ``reason`` says why          (protocol)
    ├── TokenError        what the issuer signed is not valid, or not for this survey              (protocol)
    ├── AddressError      the link does not lead to a survey
    ├── Unreachable       the survey cannot be loaded, and this device has no copy of it
    ├── AlreadyAnswered   this device has answered this survey before; carries the first receipt
    ├── BudgetExceeded    answering would spend more than the budget allows; nothing was written
    ├── Refused           the server will never accept this submission; carries its receipt
    │   └── NotOpen           the survey opens later; nothing was written, and it can be answered then
    ├── NotDelivered      forgetting would lose a submission that waits; carries its receipt
    ├── StateError        the state file cannot be used: full, read-only, damaged, locked, or of a newer version
    └── ResultsError      results cannot be read; ``kind`` is the name of the problem in the HTTP interface
        ├── AccessDenied      the access token or shared link is wrong, has ended, or does not allow this
        ├── UnknownSurvey     no survey has this id
        ├── HeldBack          results are not shown yet
        ├── QueryError        what was asked for does not exist, or would show a group that is too small
        └── MissingPackage    a package that is not part of the base install is needed

Programming mistakes, such as a negative timeout or a closed client, raise ValueError, TypeError or RuntimeError.
No message in this tree ever repeats an answer: messages end up in logs, and logs leave the device.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from deniable_protocol import (
    Account,
    AnswerError,
    DeniableError,
    DocumentError,
    InvitationError,
    Problem,
    TokenError,
)

from .budget import in_symbols

if TYPE_CHECKING:
    from .receipt import Receipt

__all__ = [
    "AccessDenied",
    "AddressError",
    "AlreadyAnswered",
    "AnswerError",
    "BudgetExceeded",
    "DeniableError",
    "DocumentError",
    "HeldBack",
    "InvitationError",
    "MissingPackage",
    "NotDelivered",
    "NotOpen",
    "Problem",
    "QueryError",
    "Refused",
    "ResultsError",
    "StateError",
    "TokenError",
    "UnknownSurvey",
    "Unreachable",
]


class AddressError(DeniableError):
    """The link does not lead to a survey. The message does not repeat it, because it may contain a password."""


class Unreachable(DeniableError):
    """The survey could not be loaded, and this device has no copy of it; or its results could not."""


class AlreadyAnswered(DeniableError):
    """The survey was answered from this device before. A second answer would weaken the protection of the first."""

    def __init__(self, receipt: Receipt) -> None:
        self.receipt = receipt
        super().__init__("this device has already answered this survey; nothing more was sent")


class BudgetExceeded(DeniableError):
    """Answering would spend more than the budget. What the survey spends, what is spent, and the budget are exact."""

    def __init__(self, account: Account, spent: Account, budget: Account) -> None:
        self.account, self.spent, self.budget = account, spent, budget
        super().__init__(account, spent, budget)  # as it is called, so that it can be sent between processes

    def __str__(self) -> str:
        account, spent, budget = (in_symbols(each) for each in (self.account, self.spent, self.budget))
        return f"this survey spends {account}, and {spent} is already spent: more than the budget of {budget}"


class Refused(DeniableError):
    """The server refused the submission for good, for the reason in ``title`` and ``detail``.

    The ledger keeps what it spent: the reports have left the device. ``receipt`` is None only where nothing has.
    """

    def __init__(self, receipt: Receipt | None, status: int | None, title: str, detail: str) -> None:
        self.receipt, self.status, self.title, self.detail = receipt, status, title, detail
        reason = ": ".join(part for part in (title, detail) if part) or "it gave no reason"
        super().__init__(f"the server refused the submission for good: {reason}")


class NotOpen(Refused):
    """The survey opens at ``opens_at``. Nothing was randomised, written or sent: make a new client then."""

    def __init__(self, opens_at: datetime) -> None:
        self.opens_at = opens_at
        super().__init__(None, None, "Survey not open yet", f"It opens at {opens_at:%Y-%m-%d %H:%M} UTC")
        self.args = (f"the survey opens at {opens_at:%Y-%m-%d %H:%M} UTC. Nothing was sent; load it again then",)

    def __reduce__(self) -> tuple[type[NotOpen], tuple[datetime]]:
        return type(self), (self.opens_at,)


class NotDelivered(DeniableError):
    """Forgetting would lose the submission, which still waits. Nothing was removed."""

    def __init__(self, receipt: Receipt) -> None:
        self.receipt = receipt
        super().__init__("the submission still waits to be delivered; flush() first, or forget(unsent=True) to lose it")


class StateError(DeniableError):
    """The state file cannot be used. Its content is left unchanged."""


class ResultsError(DeniableError):
    """Results cannot be read. ``kind``: the name of the problem in the HTTP interface, such as busy."""

    def __init__(self, kind: str, message: str) -> None:
        self.kind = kind
        super().__init__(message)

    def __reduce__(self) -> tuple[type[ResultsError], tuple[str, str]]:
        return type(self), (self.kind, str(self))


class AccessDenied(ResultsError):
    """The access token or shared link is wrong, has ended, or does not allow this."""


class UnknownSurvey(ResultsError):
    """No survey has this id."""


class HeldBack(ResultsError):
    """An editor holds the results back; the message says until when."""


class QueryError(ResultsError):
    """What was asked for does not exist in the survey, or would show a group that is too small."""


class MissingPackage(ResultsError, ImportError):
    """Something that is not part of the base install is needed. The message says what to install."""


def missing_package(what: str, package: str, name: str | None) -> MissingPackage:
    """``name``: the module that was not found."""
    found = f" ({name} was not found)" if name else ""
    return MissingPackage("missing-package", f"{what} needs more than the base install{found}: pip install '{package}'")


_RESULTS_ERRORS: dict[str, tuple[type[ResultsError], str]] = {
    "unauthorized": (
        AccessDenied,
        "Give a token that is valid (deniable token create --role analyst), or ask for a new shared link",
    ),
    "forbidden": (AccessDenied, "Ask an admin for access"),
    "not-found": (UnknownSurvey, "Check the id of the survey, and the address"),
    "held-back": (HeldBack, ""),
    "bad-parameter": (QueryError, ""),
    "withheld": (QueryError, "Ask about a larger group"),
    "invalid": (QueryError, ""),
    "rate-limit": (ResultsError, "Wait a minute"),
}


def results_error(kind: str, message: str) -> ResultsError:
    """The error for a problem of this kind: what is wrong, and what to do."""
    error, advice = _RESULTS_ERRORS.get(kind, (ResultsError, ""))
    return error(kind, ". ".join(text for text in (message.rstrip("."), advice) if text))
