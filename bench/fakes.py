"""How many false submissions that repeat one report are seen, and how often honest surveys are said to have some.

    python bench/fakes.py [--surveys N] [--json FILE]

Exits with 1 if honest surveys, where everybody has the same answers and somebody looks ten times, are said to have
false submissions more often than once in a thousand, beyond chance. Reports are drawn from their exact distributions.
"""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table
from scipy import stats

from deniable_protocol import Channel, Document, Drawn, survey_from_tree, verify
from deniable_server.estimator.honesty import FALSE_ALARMS, check_honesty
from deniable_server.estimator.scores import table_of
from deniable_server.export.slots import ABSENT, count_columns, from_slots
from deniable_server.planning import publish_survey
from deniable_server.statistics import RepeatCounter, Statistics, empty, nothing

PERCENT = (0.2, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80)
FRACTIONS = [percent / 100 for percent in PERCENT]
POWER = 0.8
SIZES = (1_000, 5_000, 20_000)
LOOKS = 10

Numbers = npt.NDArray[np.int64]
Shares = npt.NDArray[np.float64]


def designs() -> Iterator[tuple[str, Document]]:
    """The example survey in both designs, and surveys of one question."""
    example = tomllib.loads((files("deniable_server") / "example.toml").read_text("utf-8"))
    example.pop("segments")
    textbook = {key: value for key, value in example.items() if key not in ("epsilon", "together")}
    questions = [{key: value for key, value in each.items() if key != "show_if"} for each in example["questions"]]
    yield (
        "9 questions, ε = 1 each",
        _document({**textbook, "questions": [{**each, "epsilon": 1} for each in questions]}),
    )
    for epsilon in (1, 2, 4):
        yield f"the same, ε = {epsilon} for all", _document({**example, "epsilon": epsilon})
    options = [{"code": f"c{i}", "text": "?"} for i in range(10)]
    yield "10 options, ε = 1", one_question(type="choice", options=options)
    yield "yes or no, ε = 1", one_question(type="yes_no")


def one_question(**question: Any) -> Document:
    return _document({"id": "one", "title": "?", "questions": [{"id": "q", "text": "?", "epsilon": 1, **question}]})


def _document(tree: dict[str, Any]) -> Document:
    return verify(publish_survey(survey_from_tree(tree)))


def collected(
    document: Document, n: int, rng: np.random.Generator, *, fraction: float = 0.0, same: bool = False
) -> Statistics:
    """The statistics of n submissions, of which this fraction is false, with one booklet and one report to each of its
    parts, drawn once. Of the others, everybody has the ``same`` answers, or the answers differ.
    """
    weights = np.array([booklet.weight for booklet in document.booklets])
    booklets = rng.choice(len(weights), n, p=weights / weights.sum())
    false = rng.random(n) < fraction
    booklets[false] = rng.integers(len(weights))
    columns = []
    for number, part in enumerate(document.parts):
        has = np.array([number in booklet.parts for booklet in document.booklets])[booklets]
        reports, chances = distribution(part.channel, same)
        column = np.full(n, ABSENT)
        column[has] = rng.choice(reports, has.sum(), p=chances)
        column[has & false] = rng.choice(reports)
        columns.append(column)
    repeats = RepeatCounter(document)
    return from_slots(document, count_columns(document, [], booklets, columns, repeats), repeats.counts)


@lru_cache(maxsize=64)
def distribution(channel: Channel, same: bool) -> tuple[Numbers, Shares]:
    """All reports, and how likely each is where answers have shares of 1, 1/2, 1/3 and so on, or all are the first."""
    reports = np.array([*channel.reports()])
    if isinstance(channel, Drawn):
        rows = [[1.0, 0.0] if same else [0.7, 0.3]] * channel.answers
        chances = np.concatenate([row @ table_of(band) for row, band in zip(rows, channel.parts, strict=True)])
        return reports, chances / channel.answers
    shares = np.eye(channel.answers)[0] if same else 1 / np.arange(1, channel.answers + 1)
    shares = shares / shares.sum()
    if channel.held is None:
        return reports, shares @ table_of(channel)
    report = (1 << channel.held) - 1
    inside, outside = (float(channel.probability(answer, report)) for answer in (0, channel.held))
    held = (reports[:, None] >> np.arange(channel.answers) & 1) @ shares
    chances = outside + (inside - outside) * held
    return reports, chances / chances.sum()


def is_flagged(document: Document, statistics: Statistics) -> bool:
    cell = sum(statistics.cells.values(), empty(document))
    return bool(check_honesty(document, cell, statistics.repeats))


def power(document: Document, n: int, fraction: float, surveys: int) -> float:
    """How many surveys with such a fraction of false submissions are said to have some."""
    rng = np.random.default_rng(round(1e6 * fraction) + n)
    return sum(is_flagged(document, collected(document, n, rng, fraction=fraction)) for _ in range(surveys)) / surveys


def smallest_seen(document: Document, n: int, surveys: int) -> float | None:
    """The smallest fraction that is seen in at least 80% of surveys."""
    low, high = 0, len(FRACTIONS)
    while low < high:
        middle = (low + high) // 2
        if power(document, n, FRACTIONS[middle], surveys) >= POWER:
            high = middle
        else:
            low = middle + 1
    return FRACTIONS[low] if low < len(FRACTIONS) else None


def false_alarms(document: Document, n: int, surveys: int) -> int:
    """How many honest surveys are said to have some, at any of ten looks."""
    rng, flagged = np.random.default_rng(n), 0
    for _ in range(surveys):
        total = nothing(document)
        for _ in range(LOOKS):
            total += collected(document, n // LOOKS, rng, same=True)
            if is_flagged(document, total):
                flagged += 1
                break
    return flagged


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--surveys", type=int, default=100, help="surveys per figure (false alarms: ten times as many)")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    table = Table(title="False submissions that repeat one report: the fraction that 80% of surveys show")
    for heading in ("survey", *(f"n = {n:,}" for n in SIZES), f"honest, said to be false (of {10 * given.surveys:,})"):
        table.add_column(heading)
    figures, is_right = {}, True
    for name, document in designs():
        seen = [smallest_seen(document, n, given.surveys) for n in SIZES]
        alarms = false_alarms(document, SIZES[0], 10 * given.surveys)
        is_right &= stats.binom.sf(alarms - 1, 10 * given.surveys, FALSE_ALARMS) > 1e-6
        figures[name] = {"seen": dict(zip(SIZES, seen, strict=True)), "false_alarms": alarms}
        table.add_row(name, *("–" if each is None else f"{100 * each:g}%" for each in seen), f"{alarms}")
    Console().print(table)
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1))
    sys.exit(0 if is_right else 1)


if __name__ == "__main__":
    main()
