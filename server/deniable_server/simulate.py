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
from typing import Any

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


class Population:
    """Made-up people with made-up habits. Remembers what they truly answered, to be shown beside the estimate."""

    def __init__(self, survey: Survey, seed: int | None = None) -> None:
        self.survey = survey
        self._random = np.random.default_rng(seed)
        self._habits = {question.id: self._habit(question) for question in survey.questions}
        self._segments = {segment.id: self._shares(len(segment.options)) for segment in survey.segments}
        self.people = 0
        self._chosen: dict[str, Counter[str]] = {question.id: Counter() for question in survey.questions}
        self._sums: Counter[str] = Counter()

    def _shares(self, n: int) -> Any:
        return self._random.dirichlet(np.full(n, 2.0))

    def _habit(self, question: Question) -> Any:
        if isinstance(question, YesNo):
            return self._random.uniform(0.05, 0.5)
        if isinstance(question, MultiChoice):
            return self._random.uniform(0.05, 0.6, len(question.options))
        if isinstance(question, Number):
            return self._random.uniform(0.8, 3.0), self._random.uniform(2.0, 6.0)
        return self._shares(len(question.codes) - question.decline)

    def respondents(self, n: int) -> Iterator[Respondent]:
        """The next n people."""
        for start in range(0, n, BLOCK):
            size = min(BLOCK, n - start)
            answers = {question.id: self._answers(question, size) for question in self.survey.questions}
            segments = {segment.id: self._codes(segment, size) for segment in self.survey.segments}
            for i in range(size):
                person = Respondent({q: each[i] for q, each in answers.items()}, {s: c[i] for s, c in segments.items()})
                self._remember(person.answers)
                yield person

    def _codes(self, segment: Segment, n: int) -> list[str]:
        codes = [option.code for option in segment.options]
        return [codes[i] for i in self._random.choice(len(codes), n, p=self._segments[segment.id])]

    def _answers(self, question: Question, n: int) -> list[Any]:
        """What n people answer."""
        habit = self._habits[question.id]
        given: list[Any]
        if isinstance(question, YesNo):
            given = (self._random.random(n) < habit).tolist()
        elif isinstance(question, MultiChoice):
            taken = self._random.random((n, len(habit))) < habit
            given = [[code for code, yes in zip(question.codes, row, strict=True) if yes] for row in taken]
        elif isinstance(question, Number):
            spread = question.min + (question.max - question.min) * self._random.beta(habit[0], habit[1], n)
            given = [round(value, 2) for value in spread.tolist()]
        else:
            answers = [*question.codes] if isinstance(question, Choice) else [*range(1, len(habit) + 1)]
            given = [answers[i] for i in self._random.choice(len(habit), n, p=habit)]
        if question.decline:
            declines = self._random.random(n) < DECLINING
            given = [DECLINED if no else answer for no, answer in zip(declines, given, strict=True)]
        return given

    def _remember(self, answers: Mapping[str, Any]) -> None:
        self.people += 1
        for question in self.survey.questions:
            answer, chosen = answers[question.id], self._chosen[question.id]
            if isinstance(question, YesNo) and answer != DECLINED:
                chosen["yes" if answer else "no"] += 1
            elif isinstance(question, MultiChoice):
                chosen.update(answer)
            elif isinstance(question, Number) and answer != DECLINED and question.bins is not None:
                chosen[question.codes[sum(edge <= answer for edge in question.edges[1:-1])]] += 1
            elif isinstance(question, Number | Scale) and answer != DECLINED:
                chosen[str(answer)] += 1
                self._sums[question.id] += answer
            else:
                chosen[answer] += 1

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
    """One number: the truth, what was estimated, and whether the interval holds the truth."""

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
    """The truth beside every estimate."""
    compared = []
    for estimate in questions:
        for share in estimate.shares:
            truth = population.true_share(estimate.id, share.code)
            compared.append(Compared(estimate.id, share.code, truth, share.estimate, share.low, share.high))
        if estimate.mean is not None:
            mean, truth = estimate.mean, population.true_mean(estimate.id)
            compared.append(Compared(estimate.id, "mean", truth, mean.value, mean.low, mean.high))
    return compared
