"""Every error of the protocol, one tree.

    DeniableError
    ├── SurveyError      a survey file cannot be used; lists every problem with its place
    ├── DocumentError    a published document is refused before anything is randomised
    ├── AnswerError      the answers or segments do not fit the survey
    └── SubmissionError  what arrived is no submission to this survey

No message in this tree ever repeats an answer: messages end up in logs, and logs leave the device.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


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

    @property
    def place(self) -> str:
        return self.problems[0].place

    @property
    def reason(self) -> str:
        return self.problems[0].reason


class SurveyError(_Problems):
    """The survey file is wrong; ``problems`` lists everything at once."""


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
