"""Simulated respondents: a made-up population answers a survey through the real client.

The truth is made up with an ordinary generator, since it protects nobody. The randomising is the client's own.
"""

from __future__ import annotations

import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias

import msgspec
import numpy as np

from deniable import Client, DocumentError, Unreachable, randomize
from deniable_protocol import Choice, MultiChoice, Number, Question, Scale, Segment, Survey, YesNo
from deniable_protocol.checks import DECLINED
from deniable_server.storage.tokens import make_token

from .errors import SimulationError
from .estimator import QuestionEstimate
from .storage import Published, Storage
from .web.submission_reader import MAX_BATCH, SubmissionReader

DECLINING = 0.05
BLOCK = 1_000
"""People who are made up at a time: one by one takes longer than to randomise their answers."""

CLIENTS = 8
"""Respondents who answer at the same time."""


@dataclass(frozen=True)
class Respondent:
    """A made-up person."""

    answers: Mapping[str, Any]
    segments: Mapping[str, str]


Habit: TypeAlias = Callable[[int], list[Any]]
"""Gives the answers of so many made-up people to one question."""


def says_yes(question: Question, random: np.random.Generator) -> Habit:
    share = random.uniform(0.05, 0.5)
    return lambda n: (random.random(n) < share).tolist()


def chooses(question: Question, random: np.random.Generator) -> Habit:
    answers = [answer for code, answer in question.panel(0) if code != DECLINED]
    shares = _shares(random, len(answers))
    return lambda n: [answers[i] for i in random.choice(len(answers), n, p=shares)]


def chooses_several(question: Question, random: np.random.Generator) -> Habit:
    codes = np.array(question.codes, dtype=object)
    shares = random.uniform(0.05, 0.6, len(codes))
    return lambda n: [codes[taken].tolist() for taken in random.random((n, len(codes))) < shares]


def gives_number(question: Question, random: np.random.Generator) -> Habit:
    (low, high), a, b = question.range, random.uniform(0.8, 3.0), random.uniform(2.0, 6.0)
    return lambda n: [round(value, 2) for value in (low + (high - low) * random.beta(a, b, n)).tolist()]


def _shares(random: np.random.Generator, n: int) -> Any:
    return random.dirichlet(np.full(n, 2.0))


HABITS: dict[type[Question], Callable[[Question, np.random.Generator], Habit]] = {
    YesNo: says_yes,
    Choice: chooses,
    MultiChoice: chooses_several,
    Scale: chooses,
    Number: gives_number,
}
"""How answers to each type of question are made up; respondents decline on top of it."""


class Population:
    """Made-up people with made-up habits. Remembers their true answers, to show with the estimates."""

    def __init__(self, survey: Survey, seed: int | None = None) -> None:
        self.survey = survey
        self._random = np.random.default_rng(seed)
        self._habits = {question.id: HABITS[type(question)](question, self._random) for question in survey.questions}
        self._segments = {segment.id: _shares(self._random, len(segment.options)) for segment in survey.segments}
        self._codes = {question.id: question.codes for question in survey.questions}
        self.people = 0
        self._chosen: dict[str, Counter[str]] = {question.id: Counter() for question in survey.questions}
        self._sums: Counter[str] = Counter()

    def respondents(self, n: int) -> Iterator[Respondent]:
        """The next n people."""
        for start in range(0, n, BLOCK):
            size = min(BLOCK, n - start)
            answers = {question.id: self._answers(question, size) for question in self.survey.questions}
            segments = {segment.id: self._segment_codes(segment, size) for segment in self.survey.segments}
            for i in range(size):
                person = Respondent({q: each[i] for q, each in answers.items()}, {s: c[i] for s, c in segments.items()})
                self._remember(person.answers)
                yield person

    def _segment_codes(self, segment: Segment, n: int) -> list[str]:
        codes = [option.code for option in segment.options]
        return [codes[i] for i in self._random.choice(len(codes), n, p=self._segments[segment.id])]

    def _answers(self, question: Question, n: int) -> list[Any]:
        """What n people answer."""
        given = self._habits[question.id](n)
        if question.decline:
            declines = self._random.random(n) < DECLINING
            given = [DECLINED if no else answer for no, answer in zip(declines, given, strict=True)]
        return given

    def _remember(self, answers: Mapping[str, Any]) -> None:
        self.people += 1
        for question in self.survey.questions:
            answer = answers[question.id]
            if question.asks_mean:
                self._sums[question.id] += answer
            else:
                codes, truth = self._codes[question.id], question.encode(answer)
                assert isinstance(truth, int | tuple)
                places = [truth] if isinstance(truth, int) else [j for j, bit in enumerate(truth) if bit]
                self._chosen[question.id].update(codes[place] for place in places)

    def true_share(self, question: str, code: str) -> float:
        """The share of these people who truly chose an option."""
        return self._chosen[question][code] / max(self.people, 1)

    def true_mean(self, question: str) -> float:
        """Their true mean."""
        return float(self._sums[question]) / max(self.people, 1)


def check_same_database(storage: Storage, base: str) -> None:
    """SimulationError unless the server there uses this database: made-up people must not get into another one's
    surveys, from which nobody could take them out again. It does if it knows a token that is in this one only.
    """
    secret, token = make_token(storage, "analyst", "to find the server of this database", days=1)
    request = urllib.request.Request(f"{base}/api/v1/surveys", headers={"Authorization": f"Bearer {secret}"})  # noqa: S310 -- the operator's own address
    try:
        with urllib.request.urlopen(request, timeout=30):  # noqa: S310
            return
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 401:
            raise SimulationError(
                f"The server at {base} uses another database than this one. Start one on this, or use --direct"
            ) from None
        raise SimulationError(f"The server at {base} answers {error.code}; use --direct") from None
    except (OSError, ValueError):
        raise SimulationError(f"No server answers at {base}: start one, or use --direct") from None
    finally:
        storage.tokens.revoke(token.id)


def simulate_over_http(url: str, population: Population, n: int, advance: Callable[[int], None]) -> None:
    """Each respondent with a client of their own, over the network, several at a time."""

    def answer(respondent: Respondent) -> None:
        try:
            client = Client(url, timeout=30)
        except Unreachable:
            base = url.partition("/s/")[0]
            raise SimulationError(f"No server with this survey answers at {base}: start one, or use --direct") from None
        except DocumentError:
            raise SimulationError("The server there does not serve this database's survey") from None
        with client:
            receipt = client.submit(respondent.answers, segments=respondent.segments)
            if not receipt.delivered and not client.flush(60):
                raise SimulationError(f"The server does not take submissions now ({receipt.trouble}); use --direct")

    with ThreadPoolExecutor(CLIENTS) as pool:
        for _ in pool.map(answer, population.respondents(n)):
            advance(1)


def simulate_directly(
    storage: Storage, published: Published, population: Population, n: int, advance: Callable[[int], None]
) -> None:
    """The same randomising and the same storage path in batches, without the network: for millions."""
    intake = SubmissionReader(published.document)
    respondents = population.respondents(n)
    while batch := list(islice(respondents, MAX_BATCH)):
        submissions = [randomize(published.raw, each.answers, each.segments) for each in batch]
        body = msgspec.json.encode({"submissions": submissions})
        storage.accept(published, intake.read(body))
        advance(len(batch))


@dataclass(frozen=True)
class Compared:
    """One number: the truth, what was estimated, and whether the interval contains the truth."""

    question: str
    what: str
    truth: float
    estimate: float | None
    low: float
    high: float

    @property
    def covered(self) -> bool:
        return self.low <= self.truth <= self.high


def compare(population: Population, questions: list[QuestionEstimate]) -> list[Compared]:
    """Every estimate with its truth."""
    compared = []
    for estimate in questions:
        for share in estimate.shares:
            truth = population.true_share(estimate.id, share.code)
            compared.append(Compared(estimate.id, share.code, truth, share.estimate, share.low, share.high))
        if estimate.mean is not None:
            mean, truth = estimate.mean, population.true_mean(estimate.id)
            compared.append(Compared(estimate.id, "mean", truth, mean.value, mean.low, mean.high))
    return compared
