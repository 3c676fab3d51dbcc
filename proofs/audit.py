"""The privacy audit: both shipped randomisers, every channel kind, and no more epsilon to be seen than is stated.

``deniable_server.checks.audit`` does it, as behind ``deniable audit``. Here both languages are looked at together, so
that the 99.9% are over every channel, pair of answers and event of the two.
"""

from __future__ import annotations

import multiprocessing
import time
from collections import Counter
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deniable_protocol import parse_survey, publish
from deniable_server.checks.audit import Finding, Tallies, conclude, tally

from . import Outcome, Watch

if TYPE_CHECKING:
    from multiprocessing.synchronize import Event

SURVEY = Path(__file__).resolve().parents[1] / "bench" / "every-channel.toml"
LANGUAGES = {"python": "Python", "js": "JavaScript"}
PROCESSES = 2
BLOCK = 250_000
"""Submissions that one process randomises at a time: the faster language leaves its processor to the other."""


class OutOfTime(Exception):
    """The watch ended first."""


def prove(folder: Path, watch: Watch, seed: int, *, draws: int, power: float) -> Outcome:
    """This many submissions in each language. No seed makes them: they come from the operating system's source.

    ``power``: the part of every exact epsilon that must be seen, or the audit has not looked closely enough.
    """
    published = publish(parse_survey(SURVEY.read_bytes()))
    tallies, done = _tallies(published, draws, watch)
    if done < draws * len(LANGUAGES):
        return Outcome({"submissions": done}, [f"stopped after {done} of {draws * len(LANGUAGES)} submissions"])
    findings = {name: conclude(published, tallies[name], len(LANGUAGES)) for name in LANGUAGES}
    figures: dict[str, int | float | str] = {
        "channels": len(findings["python"]),
        "submissions, in each language": draws,
        "pairs of answers and events, in both": len(LANGUAGES) * sum(t.comparisons for t in tallies["python"].values()),
    }
    for name, said in LANGUAGES.items():
        figures[f"largest part of a stated ε seen, {said}"] = round(max(map(_part, findings[name])), 6)
    for each in zip(*findings.values(), strict=True):
        figures[each[0].question] = _row(each)
    return Outcome(figures, [each for name in LANGUAGES for each in failures(LANGUAGES[name], findings[name], power)])


def failures(language: str, findings: list[Finding], power: float) -> list[str]:
    """What of these findings should not be."""
    said = [
        f"{language}, {each.question}: ε of {each.observed.epsilon:.6f} seen, {each.stated} stated, "
        f"for {each.observed.pair[0]} against {each.observed.pair[1]}, {each.observed.event}"
        for each in findings
        if not each.passed
    ]
    # A Gaussian's epsilon lies in tails rarer than delta, which no number of draws shows.
    return said + [
        f"{language}, {each.question}: only {each.observed.epsilon:.6f} of the exact ε {each.exact} seen"
        for each in findings
        if each.exact is not None and each.observed.epsilon < power * float(each.exact)
    ]


def _part(finding: Finding) -> float:
    return finding.observed.epsilon / float(finding.stated)


def _row(same: tuple[Finding, ...]) -> str:
    first = same[0]
    exact = f"{first.exact:f}" if first.exact is not None else f"δ ≤ {float(first.delta or 0):.2e}"
    seen = ", ".join(f"{each.observed.epsilon:.4f} {name}" for each, name in zip(same, LANGUAGES.values(), strict=True))
    return f"{first.channel}; ε {first.stated} stated, {exact} exact; seen {seen}"


# --- both languages at once ------------------------------------------------------------------------------------------


def _tallies(published: bytes, draws: int, watch: Watch) -> tuple[dict[str, Tallies], int]:
    """What each language reported, and how many submissions that were."""
    sizes = [min(BLOCK, draws - start) for start in range(0, draws, BLOCK)]
    tallies: dict[str, Tallies] = {}
    # Not forked: the progress bar of this process has a thread.
    context = multiprocessing.get_context("spawn")
    counter, ended = context.Value("q", 0), context.Event()
    with ProcessPoolExecutor(PROCESSES, context, _share, (counter, ended)) as pool:
        # In turns, so that both languages come to an end at about the same time.
        blocks = [(name, pool.submit(_block, published, size, name)) for size in sizes for name in LANGUAGES]
        while not all(future.done() for _, future in blocks):
            watch.counts(counter.value, draws * len(LANGUAGES))
            if watch.is_over:
                ended.set()
            time.sleep(0.2)
    done: Counter[str] = Counter()
    for (name, future), size in zip(blocks, (size for size in sizes for _ in LANGUAGES), strict=True):
        if not _was_stopped(future):
            _add(tallies, name, future.result())
            done[name] += size
    watch.counts(done.total(), draws * len(LANGUAGES))
    return tallies, done.total()


def _add(tallies: dict[str, Tallies], name: str, more: Tallies) -> None:
    for question, each in tallies.setdefault(name, more).items():
        if each is not more[question]:
            each.merge(more[question])


def _was_stopped(future: Future[Any]) -> bool:
    return isinstance(future.exception(), OutOfTime)


def _share(counter: Synchronized[int], ended: Event) -> None:
    """In each process of the pool: where it counts, and how it learns that the time is up."""
    global _counter, _ended
    _counter, _ended = counter, ended


def _block(published: bytes, draws: int, language: str) -> Tallies:
    def advance(done: int) -> None:
        with _counter.get_lock():
            _counter.value += done
        if _ended.is_set():
            raise OutOfTime

    if _ended.is_set():
        raise OutOfTime
    return tally(published, draws, language, advance)


_counter: Synchronized[int]
_ended: Event
