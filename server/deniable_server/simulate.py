"""Simulated respondents: a made-up population answers a survey through the real client.

The truth is made up with an ordinary generator, since it protects nobody. The randomising is the client's own.
"""

from __future__ import annotations

import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice, product
from typing import Any, Literal, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv, ndtr

from deniable import Client, DocumentError, Unreachable, randomize
from deniable_protocol import Choice, MultiChoice, Number, Question, Scale, Segment, Survey, YesNo
from deniable_protocol.checks import DECLINED
from deniable_server.storage.tokens import make_token

from .analysis.crosstab import SurveyCrosstab, planned_pairs
from .errors import SimulationError
from .estimator import QuestionEstimate
from .estimator.joint import NOT_ASKED
from .storage import Published, Storage
from .web.submission_reader import MAX_BATCH, SubmissionReader

DECLINING = 0.05
NO_LIMIT = (2000, 1)  # 200 questions at 10 each: people who are made up may spend anything
ALIKE = 0.8
"""How strongly the questions of ``together`` depend on each other: the correlation of what their answers come from."""

LEANING = 0.2
"""How far the groups of a segment differ: the standard deviation of what they add to that."""

BLOCK = 1_000
"""People who are made up at a time: one by one takes longer than to randomise their answers."""

CLIENTS = 8
"""Respondents who answer at the same time."""

Array: TypeAlias = npt.NDArray[np.float64]
Pair: TypeAlias = tuple[str, str, str, str]
"""Two questions (or options) of a planned cross-tab, and the code of an answer to each."""


@dataclass(frozen=True)
class Respondent:
    """A made-up person. Questions that are not shown to them have no answer."""

    answers: Mapping[str, Any]
    segments: Mapping[str, str]


Habit: TypeAlias = Callable[[Array], list[Any]]
"""Gives answers to one question: a row per person, of numbers spread evenly over 0 to 1. Several choices take a number
per option, all others one.
"""


def says_yes(question: Question, random: np.random.Generator) -> Habit:
    share = random.uniform(0.05, 0.5)
    return lambda rows: (rows[:, 0] > 1 - share).tolist()


def chooses(question: Question, random: np.random.Generator) -> Habit:
    answers = [answer for code, answer in question.panel(0) if code != DECLINED]
    ends = np.cumsum(_shares(random, len(answers)))[:-1]
    return lambda rows: [answers[i] for i in np.searchsorted(ends, rows[:, 0])]


def chooses_several(question: Question, random: np.random.Generator) -> Habit:
    codes = np.array(question.codes, dtype=object)
    shares = random.uniform(0.05, 0.6, len(codes))
    return lambda rows: [codes[taken].tolist() for taken in rows > 1 - shares]


def gives_number(question: Any, random: np.random.Generator) -> Habit:
    if question.asks_mean:
        (low, high), a, b = question.range, random.uniform(0.8, 3.0), random.uniform(2.0, 6.0)
        return lambda rows: [round(value, 2) for value in (low + (high - low) * betaincinv(a, b, rows[:, 0])).tolist()]
    edges, ends = question.edges, [0.0, *np.cumsum(_shares(random, len(question.edges) - 1))]
    return lambda rows: [round(value, 2) for value in np.interp(rows[:, 0], ends, edges).tolist()]


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


class Truth:
    """What is true of some made-up people, to show with the estimates."""

    def __init__(self, survey: Survey) -> None:
        self.people = 0
        self._applies: Counter[str] = Counter()
        self._chosen: dict[str, Counter[str]] = {question.id: Counter() for question in survey.questions}
        self._pairs: Counter[Pair] = Counter()
        self._sums: Counter[str] = Counter()

    def add(self, codes: Mapping[str, set[str]], numbers: Mapping[str, float], pairs: Iterable[Pair]) -> None:
        """One more person: what they chose, by question, the numbers they gave, and the planned pairs of answers."""
        self.people += 1
        self._applies.update((*codes, *numbers))
        for question, chosen in codes.items():
            self._chosen[question].update(chosen)
        for question, number in numbers.items():
            self._sums[question] += number  # type: ignore[assignment]
        self._pairs.update(pairs)

    def share(self, question: str, code: str, *, answering: bool = False) -> float:
        """The share who chose an option: of all to whom the question applies, or of those who did not decline."""
        declined = self._chosen[question][DECLINED] if answering else 0
        return self._chosen[question][code] / max(self._applies[question] - declined, 1)

    def applies(self, question: str) -> float:
        """The share to whom the question applies."""
        return self._applies[question] / max(self.people, 1)

    def mean(self, question: str) -> float:
        return float(self._sums[question]) / max(self.people, 1)

    def pair(self, pair: Pair) -> float:
        """The share who gave both answers."""
        return self._pairs[pair] / max(self.people, 1)


class Population:
    """Made-up people with made-up habits. Remembers the truth about all of them, and about each group."""

    def __init__(self, survey: Survey, seed: int | None = None) -> None:
        self.survey = survey
        self._random = random = np.random.default_rng(seed)
        self._habits = {question.id: HABITS[type(question)](question, random) for question in survey.questions}
        self._segments = {segment.id: _shares(random, len(segment.options)) for segment in survey.segments}
        groups = [(segment.id, option.code) for segment in survey.segments for option in segment.options]
        self._leanings = {group: random.normal(0.0, LEANING) for group in groups}
        self.pairs = planned_pairs(survey)
        self._alike = {name for names in survey.together for name in names}
        self.truth = Truth(survey)
        self.groups = {group: Truth(survey) for group in groups}

    def respondents(self, n: int) -> Iterator[Respondent]:
        """The next n people."""
        for start in range(0, n, BLOCK):
            size = min(BLOCK, n - start)
            segments = [
                {s.id: code for s, code in zip(self.survey.segments, codes, strict=True)}
                for codes in zip(*(self._segment_codes(s, size) for s in self.survey.segments), strict=True)
            ]
            segments = segments or [{} for _ in range(size)]
            leaning = np.array([sum(self._leanings[group] for group in each.items()) for each in segments])
            common = self._random.standard_normal(size)
            answers = {question.id: self._answers(question, common, leaning) for question in self.survey.questions}
            for i, groups in enumerate(segments):
                yield self._person({name: each[i] for name, each in answers.items()}, groups)

    def _segment_codes(self, segment: Segment, n: int) -> list[str]:
        codes = [option.code for option in segment.options]
        return [codes[i] for i in self._random.choice(len(codes), n, p=self._segments[segment.id])]

    def _answers(self, question: Question, common: Array, leaning: Array) -> list[Any]:
        """What people answer who have this in common, and lean this way."""
        names = [question.id]
        if isinstance(question, MultiChoice):
            names = [f"{question.id}.{code}" for code in question.codes]
        own = self._random.standard_normal((len(common), len(names)))
        weight = np.array([ALIKE**0.5 if self._alike & {question.id, name} else 0.0 for name in names])
        mixed = weight * common[:, None] + (1 - weight**2) ** 0.5 * own + leaning[:, None]
        given = self._habits[question.id](ndtr(mixed))
        if question.decline:
            declines = self._random.random(len(common)) < DECLINING
            given = [DECLINED if no else answer for no, answer in zip(declines, given, strict=True)]
        return given

    def _person(self, answers: Mapping[str, Any], segments: Mapping[str, str]) -> Respondent:
        """Someone with the answers to the questions that they see; the truth about them is remembered."""
        shown: dict[str, Any] = {}
        codes: dict[str, set[str]] = {}
        for question in self.survey.questions:
            condition = question.show_if
            if condition is not None and codes.get(condition.question, set()).isdisjoint(condition.codes):
                continue
            shown[question.id] = answers[question.id]
            if not question.asks_mean:
                codes[question.id] = _codes(question, answers[question.id])
        numbers = {name: answer for name, answer in shown.items() if name not in codes}
        pairs = [
            (rows, columns, row, column)
            for rows, columns in self.pairs
            for row, column in product(_categories(rows, codes), _categories(columns, codes))
        ]
        for truth in (self.truth, *(self.groups[group] for group in segments.items())):
            truth.add(codes, numbers, pairs)
        return Respondent(shown, segments)


def _codes(question: Question, answer: Any) -> set[str]:
    """The codes that an answer chooses."""
    truth = question.encode(answer)
    assert isinstance(truth, int | tuple)
    places = [truth] if isinstance(truth, int) else [j for j, bit in enumerate(truth) if bit]
    return {question.codes[place] for place in places}


def _categories(name: str, codes: Mapping[str, set[str]]) -> set[str]:
    """Where someone with these answers is in a cross-tab of a question, or of one option of several choices."""
    question, _, option = name.partition(".")
    if question not in codes:
        return {NOT_ASKED}
    return codes[question] if not option else {"yes" if option in codes[question] else "no"}


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
            client = Client(url, timeout=30, budget=NO_LIMIT, insecure=True)
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
    reader = SubmissionReader(published.document)
    respondents = population.respondents(n)
    while batch := list(islice(respondents, MAX_BATCH)):
        submissions = [randomize(published.raw, each.answers, each.segments) for each in batch]
        body = msgspec.json.encode({"submissions": submissions})
        storage.accept(published, reader.read(body).rows)
        advance(len(batch))


Kind: TypeAlias = Literal["share", "applies", "among_answering", "mean", "pair"]


@dataclass(frozen=True)
class Compared:
    """One number: the truth, what was estimated, and whether the interval contains the truth.

    ``code`` is that of the answer; of a pair of answers both, with " × " between them, and so are the ``question``s.
    """

    question: str
    kind: Kind
    code: str
    truth: float
    estimate: float | None
    low: float
    high: float

    @property
    def covered(self) -> bool:
        return self.low <= self.truth <= self.high


def compare(
    truth: Truth, questions: Sequence[QuestionEstimate], crosstabs: Sequence[SurveyCrosstab] = ()
) -> list[Compared]:
    """Every estimate with its truth."""
    return [
        *(row for estimate in questions for row in _compare_question(truth, estimate)),
        *(row for crosstab in crosstabs for row in _compare_pairs(truth, crosstab)),
    ]


def _compare_question(truth: Truth, estimate: QuestionEstimate) -> Iterator[Compared]:
    name = estimate.id
    if estimate.applies:
        applies = estimate.applies
        yield Compared(name, "applies", "", truth.applies(name), applies.estimate, applies.low, applies.high)
    for share in estimate.shares:
        true = truth.share(name, share.code)
        yield Compared(name, "share", share.code, true, share.estimate, share.low, share.high)
    for share in estimate.among_answering or ():
        true = truth.share(name, share.code, answering=True)
        yield Compared(name, "among_answering", share.code, true, share.estimate, share.low, share.high)
    if estimate.mean is not None:
        mean = estimate.mean
        yield Compared(name, "mean", "", truth.mean(name), mean.value, mean.low, mean.high)


def _compare_pairs(truth: Truth, crosstab: SurveyCrosstab) -> Iterator[Compared]:
    rows, columns = crosstab.rows, crosstab.columns
    for cell in crosstab.cells:
        if cell.estimate is None:  # an option of several choices that was not planned together with the other question
            continue
        true, codes = truth.pair((rows, columns, cell.row, cell.column)), f"{cell.row} × {cell.column}"
        yield Compared(f"{rows} × {columns}", "pair", codes, true, cell.estimate, cell.low, cell.high)
