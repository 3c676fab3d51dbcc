"""From answers to a submission: with ``encode`` of the questions, the only code that ever sees an answer.

May not: log, store or send anything, or put an answer into an error message. Everything that leaves
``randomize`` has passed through a channel, except segments, which are public by definition.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import NotRequired, TypedDict

from .blind_signatures import Token, submission_id, verify_token
from .channel import Channel
from .document import Document, verify
from .draws import SYSTEM, Draws, RandomBytes
from .errors import AnswerError, Problem, TokenError
from .questions import Truth

NONE: Mapping[str, str] = MappingProxyType({})


class Submission(TypedDict):
    """One respondent's booklet and its reports, as they are sent."""

    id: str
    digest: str
    booklet: int
    reports: list[int]
    segments: dict[str, str]
    token: NotRequired[dict[str, str]]
    """Of a survey with invitations: ``message`` and ``signature``, as texts."""


def randomize(
    document: bytes | str | Document,
    answers: Mapping[str, object],
    segments: Mapping[str, str] = NONE,
    *,
    booklet: int | None = None,
    token: Token | None = None,
    read: RandomBytes = os.urandom,
) -> Submission:
    """One submission: verify the document, draw a booklet unless one is given, check its answers, then draw reports.

    The answers may be those to the booklet's questions or to all; others than the booklet's are not looked at. A survey
    with invitations needs a ``token``, which is spent by sending the submission. ``read`` is for tests and vectors.
    """
    if not isinstance(document, Document):
        document = verify(document)
    check_token(document, token)
    draws = Draws(read)
    # The order of draws is part of the protocol: the booklet, the id unless there is a token, which determines it, then
    # the reports as the booklet lists its parts.
    if booklet is None:
        booklet = draw_booklet(document, draws)
    truths = check_answers(document, booklet, answers, segments)
    submission: Submission = {
        "id": read(16).hex() if token is None else submission_id(token.message),
        "digest": document.digest,
        "booklet": booklet,
        "reports": [
            draw_report(part.channel, truth, draws)
            for part, truth in zip(document.parts_of(booklet), truths, strict=True)
        ],
        "segments": {segment.id: segments[segment.id] for segment in document.survey.segments},
    }
    return submission if token is None else {**submission, "token": token.tree}


def check_token(document: Document, token: Token | None) -> None:
    """TokenError unless there is a token that the issuer has signed; or none, if the survey has no invitations."""
    if document.issuer is None:
        if token is not None:
            raise TokenError([Problem("token", "unknown", "the survey has no invitations, so it takes no token")])
    elif token is None:
        raise TokenError([Problem("token", "missing", "the survey has invitations, so it takes a token")])
    elif not verify_token(document.issuer, token):
        raise TokenError([Problem("token.signature", "signature", "the issuer of this survey did not sign this token")])


def draw_booklet(document: Document, draws: Draws = SYSTEM) -> int:
    """The booklet of a device. No answer is looked at, so that it shows nothing: epsilon is that of the booklet."""
    if len(document.booklets) == 1:
        return 0
    rest = draws.below(sum(booklet.weight for booklet in document.booklets))
    # Booklet b owns as many of the sum's numbers as its weight says: P = weight / sum.
    for number, booklet in enumerate(document.booklets):
        if rest < booklet.weight:
            return number
        rest -= booklet.weight
    raise AssertionError("what was drawn is below the sum of the weights")


def draw_report(channel: Channel, truth: Truth, draws: Draws = SYSTEM) -> int:
    """The report of one checked answer."""
    if isinstance(truth, float):
        truth = round_to_level(truth * (channel.answers - 1), draws)
    return channel.randomize(truth, draws)


def round_to_level(position: float, draws: Draws) -> int:
    """One of the two levels around a position, the upper one with a probability equal to the fraction.

    This keeps the mean. It is encoding, not protection: whatever level comes out, the channel protects it.
    A word is below fraction * 2^53 for just that many of the 2^53 words; the product is exact, a power of two.
    """
    level = math.floor(position)
    return level + 1 if draws.word() < (position - level) * 9007199254740992.0 else level


def check_answers(
    document: Document, booklet: int, answers: Mapping[str, object], segments: Mapping[str, str] = NONE
) -> list[Truth]:
    """What each channel of the booklet takes, or an AnswerError that lists every problem and no answer."""
    survey = document.survey
    problems: list[Problem] = []
    for given, what, known in (
        (answers, "answers", [question.id for question in survey.questions]),
        (segments, "segments", [segment.id for segment in survey.segments]),
    ):
        if not isinstance(given, Mapping):
            raise AnswerError([Problem(what, "type", "must be a mapping from ids to values")])
        if not {*known}.issuperset(given):
            # The unknown name is not repeated: where arguments were mixed up, it may itself be an answer.
            names = f"holds a name that is not one of {', '.join(known)}" if known else f"this survey has no {what}"
            problems.append(Problem(what, "unknown", names))
    if type(booklet) is not int or not 0 <= booklet < len(document.booklets):
        raise AnswerError([*problems, Problem("booklet", "range", "is not a booklet of this survey")])
    truths: list[Truth] = []
    wrong: set[Problem] = set()
    for part in document.parts_of(booklet):
        truth = part.encode(answers)
        if isinstance(truth, list):
            wrong |= {*truth}
        else:
            truths.append(truth)
    # A booklet may list its parts in another order than the survey lists the questions; people read the survey's.
    problems += [problem for question in survey.questions for problem in wrong if problem.place == question.id]
    for segment in survey.segments:
        if segment.id not in segments:
            problems.append(Problem(segment.id, "missing", "has no code; every segment needs one"))
        elif segments[segment.id] not in [option.code for option in segment.options]:
            problems.append(Problem(segment.id, "range", "is not one of the codes of this segment"))
    if problems:
        raise AnswerError(problems)
    return truths
