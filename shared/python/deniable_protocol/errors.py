"""Every error of the protocol, one tree.

    DeniableError
    ├── SurveyError      a survey file cannot be used; lists every problem with its place
    ├── DocumentError    a published document is refused before anything is randomised
    ├── AnswerError      the answers or segments do not fit the survey
    ├── SubmissionError  what arrived is no submission to this survey
    ├── TokenError       an issuer's key, a blinded value, a signature or a token cannot be used
    └── InvitationError  an invitation is needed, or the code cannot be used

No message in this tree ever repeats an answer: messages end up in logs, and logs leave the device.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

MOST_PROBLEMS = 100
MOST_LETTERS = 500
"""Of the place and of the message of a problem in a survey file: both may quote the file."""


class Problem(NamedTuple):
    """One thing that is wrong: where, a stable one-word reason for programs, a sentence for people."""

    place: str
    reason: str
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message


class DeniableError(Exception):
    """The root: catch this to catch everything that Deniable raises on purpose."""


class _Problems(DeniableError):
    """An error that carries all problems found, the first of them first."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))

    def __reduce__(self) -> tuple[type[_Problems], tuple[tuple[Problem, ...]]]:
        return type(self), (self.problems,)

    @property
    def place(self) -> str:
        return self.problems[0].place

    @property
    def reason(self) -> str:
        return self.problems[0].reason


class SurveyError(_Problems):
    """The survey file is wrong; ``problems`` lists everything at once, up to what somebody would read."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        found = tuple(problems)
        shown = [Problem(_cut(place), reason, _cut(message)) for place, reason, message in found[:MOST_PROBLEMS]]
        if more := len(found) - len(shown):
            shown.append(Problem("", found[MOST_PROBLEMS].reason, f"and {more:,} more problems"))
        super().__init__(shown)


def _cut(text: str) -> str:
    return text if len(text) <= MOST_LETTERS else text[: MOST_LETTERS - 1] + "…"


class DocumentError(_Problems):
    """The published document is malformed, or does not keep the privacy it states. Nothing was randomised."""


class AnswerError(_Problems):
    """The answers or segments do not fit the survey. Nothing was randomised."""


class SubmissionError(_Problems):
    """A submission is malformed, or does not fit the survey. Nothing of it was kept."""

    @property
    def wrong_digest(self) -> bool:
        """Whether the only thing wrong is that the submission was made for another document."""
        return all(problem.reason == "digest" for problem in self.problems)


class TokenError(_Problems):
    """An issuer's key, a blinded value, a signature or a token cannot be used. Nothing was signed or sent."""


class InvitationError(_Problems):
    """An invitation is needed, or its code cannot be used. The reason says why: ``format`` or ``checksum`` (mistyped,
    which was found on this device), ``missing``, ``unknown`` (or expired) or ``used``. No message repeats a code.
    """
