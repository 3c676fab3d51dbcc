"""Proof that properties are true of more than the examples that the tests try.

``make test`` and ``make check`` try each property on the same examples in every run, so that none fails by chance. Here
hypothesis draws new ones, again and again, each round from another seed. A failure names its round's seed, and the
smallest example that was found.
"""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from tests.helpers.machine import ROOT

from . import Outcome, Watch

TRIED = re.compile(r"(\d+) passing, (\d+) failing")


class Round(NamedTuple):
    """How many properties were tried, on how many examples, and what failed."""

    properties: int
    examples: int
    failures: list[str]


def prove(folder: Path, watch: Watch, seed: int, *, rounds: int, tests: Sequence[str] = ()) -> Outcome:
    """So many rounds over the properties in these tests, or in all that ``make test`` runs."""
    random, done = Random(seed), []
    for number in range(rounds):
        if watch.is_over:
            return _outcome(done, [f"time was up after {number} of {rounds} rounds"])
        done.append(search(folder / f"{number}.xml", random.randrange(2**32), tests))
        watch.counts(number + 1, rounds)
    return _outcome(done, [])


def _outcome(done: Sequence[Round], failures: list[str]) -> Outcome:
    figures = {
        "rounds": len(done),
        "properties": max((each.properties for each in done), default=0),
        "examples": sum(each.examples for each in done),
    }
    return Outcome(dict(figures), [failure for each in done for failure in each.failures] + failures)


def search(results: Path, seed: int, tests: Sequence[str]) -> Round:
    """One round, with all its examples drawn from this seed."""
    options = ["--hypothesis-profile=search", f"--hypothesis-seed={seed}", "--hypothesis-show-statistics"]
    options += ["-m", "hypothesis", f"--junitxml={results}", f"--rootdir={ROOT}", "-p", "no:cacheprovider", "-q"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *tests], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if run.returncode not in (0, 1):  # broken off, or no tests
        return Round(0, 0, [f"seed {seed}: pytest ended with {run.returncode}: {run.stdout[-2_000:]}"])
    cases = list(ElementTree.parse(results).iter("testcase"))
    failures = [
        f"{case.get('classname')}::{case.get('name')}, seed {seed}: {_reason(fault)}"
        for case in cases
        for fault in case
        if fault.tag in ("failure", "error")
    ]
    return Round(
        len(cases), sum(int(passing) + int(failing) for passing, failing in TRIED.findall(run.stdout)), failures
    )


def _reason(fault: ElementTree.Element) -> str:
    """What pytest says of the smallest example."""
    said = re.findall(r"^E +(.*)$", fault.text or "", re.MULTILINE) or [fault.get("message", "")]
    return " ".join(said)[:500]
