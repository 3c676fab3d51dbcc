"""The privacy audit: both shipped randomisers, every channel kind, and no more epsilon to be seen than is stated.

``deniable_server.checks.audit`` does it, as behind ``deniable audit``. Two surveys are audited: one whose questions
have an epsilon each, with every channel, and one with a single epsilon, with parts of several questions. Both surveys
and both languages are looked at together, so that the 99.9% are over every part, pair of answers, event and booklet.
"""

from __future__ import annotations

import multiprocessing
import time
from collections import Counter
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deniable_protocol import Account, parse_survey, publish
from deniable_server.checks.audit import Audit, Finding, Tallies, conclude, tally

from . import Outcome, Watch

if TYPE_CHECKING:
    from multiprocessing.synchronize import Event

BENCH = Path(__file__).resolve().parents[1] / "bench"
PARTS: tuple[tuple[list[str], str, int | None], ...] = (
    (["vaped", "how_often", "stress"], "2.0", None),
    (["vaped", "how_often", "support.doctor"], "2.0", 1),
    (["mood", "age"], "2.0", None),
    (["support.nobody", "why"], "1.0", None),
    (["support.friend", "support.family"], "0.5", None),
    (["hours"], "0.5", None),
    (["support.doctor"], "2.0", None),
)
"""What each part reports on, its epsilon, and the size of its subsets (None: the best)."""

BOOKLETS = (([0], 4), ([1], 3), ([2], 6), ([5, 3, 4], 3), ([6], 1))
"""Parts, and a weight."""

LANGUAGES = {"python": "Python", "js": "JavaScript"}
PROCESSES = 2
BLOCK = 250_000
"""Submissions that one process randomises at a time: the faster language leaves its processor to the other."""


class OutOfTime(Exception):
    """The watch ended first."""


def every_channel() -> bytes:
    """The survey in which every question has its own epsilon."""
    return publish(parse_survey((BENCH / "every-channel.toml").read_bytes()))


def every_part() -> bytes:
    """The survey with one epsilon, in booklets that spend all of it on one part or share it among three."""
    survey = parse_survey((BENCH / "every-part.toml").read_bytes())
    return publish(survey, [(names, size) for names, _, size in PARTS], BOOKLETS, [epsilon for _, epsilon, _ in PARTS])


def prove(folder: Path, watch: Watch, seed: int, *, draws: int, power: float) -> Outcome:
    """This many submissions to each survey in each language. No seed makes them: they come from the system's source.

    ``power``: the part of every exact epsilon that must be seen, or the audit has not looked closely enough.
    """
    documents = [every_channel(), every_part()]
    tallies, done = _tallies(documents, draws, watch)
    total = draws * len(LANGUAGES) * len(documents)
    if done < total:
        return Outcome({"submissions": done}, [f"stopped after {done} of {total} submissions"])
    comparisons = sum(each.comparisons for each in tallies.values())
    found = {
        (number, name): conclude(documents[number], counted, comparisons) for (number, name), counted in tallies.items()
    }
    by_language = {
        name: Audit(
            sum((found[number, name].account for number in range(len(documents))), Account()),
            [finding for number in range(len(documents)) for finding in found[number, name].parts],
            [drawing for number in range(len(documents)) for drawing in found[number, name].booklets],
        )
        for name in LANGUAGES
    }
    figures: dict[str, int | float | str] = {
        "parts": len(by_language["python"].parts),
        "submissions to each of two surveys, in each language": draws,
        "pairs of answers and events, and booklets, in both": comparisons,
    }
    for name, said in LANGUAGES.items():
        figures[f"largest part of a stated ε seen, {said}"] = round(max(map(_part, by_language[name].parts)), 6)
    for each in zip(*(audit.parts for audit in by_language.values()), strict=True):
        figures[each[0].part] = _row(each)
    failed = [each for name in LANGUAGES for each in failures(LANGUAGES[name], by_language[name], power)]
    return Outcome(figures, failed)


def failures(language: str, found: Audit, power: float) -> list[str]:
    """What of these findings should not be."""
    findings = found.parts
    said = [
        f"{language}, {each.part}: ε of {each.observed.epsilon:.6f} seen, {each.stated} stated, "
        f"for {each.observed.pair[0]} against {each.observed.pair[1]}, {each.observed.event}"
        for each in findings
        if not each.passed
    ]
    said += [
        f"{language}, booklet {each.booklet}: came with {each.seen:.6f}, or after some answer, not with {each.share}"
        for each in found.booklets
        if not each.passed
    ]
    # A Gaussian's epsilon lies in tails rarer than delta, which no number of draws shows.
    return said + [
        f"{language}, {each.part}: only {each.observed.epsilon:.6f} of the exact ε {each.exact} seen"
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


def _tallies(documents: list[bytes], draws: int, watch: Watch) -> tuple[dict[tuple[int, str], Tallies], int]:
    """What each language reported for each document, and how many submissions that were."""
    sizes = [min(BLOCK, draws - start) for start in range(0, draws, BLOCK)]
    # In turns, so that both languages come to an end at about the same time.
    tasks = [(number, name, size) for size in sizes for number in range(len(documents)) for name in LANGUAGES]
    tallies: dict[tuple[int, str], Tallies] = {}
    # Not forked: the progress bar of this process has a thread.
    context = multiprocessing.get_context("spawn")
    counter, ended = context.Value("q", 0), context.Event()
    with ProcessPoolExecutor(PROCESSES, context, _share, (counter, ended)) as pool:
        blocks = [pool.submit(_block, documents[number], size, name) for number, name, size in tasks]
        while not all(future.done() for future in blocks):
            watch.counts(counter.value, sum(size for *_, size in tasks))
            if watch.is_over:
                ended.set()
            time.sleep(0.2)
    done: Counter[str] = Counter()
    for (number, name, size), future in zip(tasks, blocks, strict=True):
        if not _was_stopped(future):
            more = future.result()
            if (number, name) in tallies:
                tallies[number, name].merge(more)
            else:
                tallies[number, name] = more
            done[name] += size
    watch.counts(done.total(), sum(size for *_, size in tasks))
    return tallies, done.total()


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
