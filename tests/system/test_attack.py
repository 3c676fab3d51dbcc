"""False submissions move nothing by more than is shown, and the proof of that can fail."""

from __future__ import annotations

import math
from collections import Counter
from functools import reduce
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable_protocol import Channel, Document, Question, Subset, verify
from deniable_server.estimator import alone, estimate_question, gather, project
from deniable_server.statistics import Cell, Content, Statistics, reports_of, tally
from proofs import Watch
from proofs.attack import Ledger, Told, prove
from proofs.attacker import Target, nearest, numbers_of
from tests.helpers.exports import contents_of
from tests.helpers.surveys import ask, channelled, joint, questions


def test_what_is_shown_covers_what_false_submissions_moved(tmp_path: Path) -> None:
    """1 to 10% of false submissions over the real interface, on every question type: all within the claims, and for
    yes_no, choices and means not far from them.
    """
    outcome = prove(tmp_path, Watch(600), 20, honest=1_500, epsilons=("1",), campaigns=3)
    assert outcome.failures == []
    assert outcome.figures["honest submissions"] == 3_000
    assert outcome.figures["false submissions"] == 2 * 3 * 166
    assert int(outcome.figures["moves compared with a claim"]) > 5_000
    for question in ("bit", "three", "drawn", "scale_mean", "number"):
        (reached,) = str(outcome.figures[f"{question}: furthest move as part of the claim, by ε"]).split(", ")
        assert 0.6 < float(reached.removeprefix("1: ")) <= 1


def test_a_proof_that_is_not_finished_says_so(tmp_path: Path) -> None:
    """When the time is up, the proof fails and says how far it came."""
    outcome = prove(tmp_path, Watch(0), 20, honest=20, epsilons=("1",), campaigns=2)
    assert outcome.failures == ["stopped after 0 of 2 campaigns"]


# --- the attacker, on anything -------------------------------------------------------------------------------------


def estimated(question: Question, channel: Channel, reports: Counter[int]) -> dict[str, Any]:
    """As the server gives it."""
    if isinstance(channel, Subset):
        counts = [sum(n for report, n in reports.items() if report >> j & 1) for j in range(channel.options)]
    else:
        counts = [reports[report] for report in channel.reports()]
    built: dict[str, Any] = msgspec.to_builtins(estimate_question(alone(question, channel, counts, reports.total())))
    return built


@settings(max_examples=60)
@given(questions(), st.integers(0, 2**32), st.integers(1, 400), st.integers(1, 60), st.booleans())
def test_no_attack_on_any_question_moves_more(
    tree: dict[str, Any], seed: int, honest: int, false: int, alike: bool
) -> None:
    """Whatever the question and the reports before, even such as no honest respondents give, all reports that are
    tried for every number, up and down, stay within what is shown before and after.
    """
    question, channel = channelled(tree)
    target, random = Target(question, channel), Random(seed)
    possible = [*channel.reports()]
    some = random.sample(possible, 1 if alike else min(len(possible), 4))
    before = Counter(random.choices(some, k=honest))
    shown = estimated(question, channel, before)
    sizes = sorted({math.ceil(false / 3), false})
    for number in random.sample(range(len(target.numbers)), min(len(target.numbers), 3)):
        for sign in (1, -1):
            plan = target.plan(target.totals(before), number, sign, sizes)
            for size in sizes:
                after = estimated(question, channel, before + Counter(plan[:size]))
                ledger = Ledger()
                ledger.moved(Told("here", "q", 1, size, honest + size, target.widest), shown, after, None, "")
                assert ledger.failures == []


def estimated_all(document: Document, cell: Cell) -> dict[str, dict[str, Any]]:
    """Every question of a survey, as the server gives it."""
    sizes = [reports_of(document, cell, part) for part in range(len(document.parts))]
    counts = [each.tolist() for each in cell.counts]
    found = {}
    for question in document.survey.questions:
        answers = sum(sizes[part] for part in {part for part, _ in document.parts_about(question.id)})
        found[question.id] = msgspec.to_builtins(estimate_question(gather(document, question, counts, sizes, answers)))
    return found


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.integers(30, 400), st.integers(1, 60))
def test_no_attack_on_a_booklet_moves_more(seed: int, honest: int, false: int) -> None:
    """False submissions choose their booklet and its report: whatever they choose, no share or mean of a question, in
    one part or several, moves by more than is shown before and after.
    """
    document, random = verify(joint()), Random(seed)
    people = contents_of(document, honest, np.random.default_rng(seed))
    before = total(tally(document, people))
    shown = estimated_all(document, before)
    for booklet in range(len(document.booklets)):
        (part,) = document.parts_of(booklet)
        report = random.choice([*part.channel.reports()])
        after = before + total(tally(document, [Content(booklet, (report,), (0,))] * false))
        for name, estimate in estimated_all(document, after).items():
            if shown[name]["fake_influence"] is None:
                continue
            one, other = numbers_of(shown[name]), numbers_of(estimate)
            for number, (value, each) in other.items():
                assert abs(value - one[number][0]) <= false * min(each, one[number][1]) + 1e-9 * max(1, abs(value))


def total(statistics: Statistics) -> Cell:
    return reduce(Cell.__add__, statistics.cells.values())


@given(st.lists(st.floats(-50, 50), min_size=2, max_size=9))
def test_the_attacker_projects_as_the_server_does(values: list[float]) -> None:
    """The attacker and the server find the same nearest point of the simplex in two different ways."""
    assert nearest(np.array([values]))[0] == pytest.approx(project(values), abs=1e-9)


def test_several_points_together_move_by_more_than_one() -> None:
    """At epsilon 0.5 a report has two of five points. False ones with the top two move their sum by more than
    the claim for a single answer: it has a claim of its own, and the net score another, which is reached.
    """
    question, channel = ask("scale", 0.5, labels=list("abcde"))
    assert isinstance(channel, Subset) and channel.size == 2
    before = Counter(dict.fromkeys(channel.reports(), 100))
    for number, more in (("top_two", 1.1), ("net_score", 2.0)):
        target = Target(question, channel)
        plan = target.plan(target.totals(before), target.numbers.index(number), 1, [10])
        after = numbers_of(estimated(question, channel, before + Counter(plan)))
        value, each = after[number]
        moved = value - numbers_of(estimated(question, channel, before))[number][0]
        assert more * 10 * after["5"][1] < moved <= 10 * each
        assert moved > 0.8 * 10 * each


# --- the proof can fail --------------------------------------------------------------------------------------------


@pytest.fixture
def moved() -> tuple[Told, dict[str, Any], dict[str, Any]]:
    """A yes_no at epsilon 1 with 900 honest reports, a third of them yes, and 100 false ones, all yes."""
    question, channel = ask("yes_no")
    before, after = (estimated(question, channel, Counter({0: 600, 1: 300 + false})) for false in (0, 100))
    return Told("here", "bit", 1.0, 100, 1000, 1.0), before, after


def test_a_claim_that_is_too_small_is_a_failure(moved: tuple[Told, dict[str, Any], dict[str, Any]]) -> None:
    """The proof fails for a claim that is too small, in figures before or after, or in words."""
    told, before, after = moved
    share = numbers_of(after)["yes"][0] - numbers_of(before)["yes"][0]
    for sentence, one, other, what in (
        (101, 1, 1, ""),
        (99, 1, 1, "the sentence"),
        (101, 0.9, 1, ""),  # before there were 900, and the same could do more
        (101, 0.8, 1, "shown before"),
        (101, 1, 0.9, "shown after"),
    ):
        ledger = Ledger()
        shown = [
            {**estimate, "fake_influence": estimate["fake_influence"] * part}
            for estimate, part in ((before, one), (after, other))
        ]
        ledger.moved(told, *shown, {"false": 100, "plain": sentence * share}, "")
        failures = [failure for failure in ledger.failures if "unbiased" not in failure]
        assert len(failures) == 2 * bool(what)  # yes and no
        assert all(what in failure for failure in failures)


def test_an_attacker_who_errs_is_a_failure(moved: tuple[Told, dict[str, Any], dict[str, Any]]) -> None:
    """The proof fails if the attacker did not foresee a result, or if a move differs from the closed formula."""
    told, before, after = moved
    right = {number: value for number, (value, _) in numbers_of(after).items()}
    ledger = Ledger()
    ledger.foresaw(told, right, after)
    ledger.closed_form(told, before, after, 1)
    assert ledger.failures == []
    ledger.foresaw(told, right | {"yes": right["yes"] + 1e-6}, after)
    ledger.closed_form(told, before, after, 0)
    assert len(ledger.failures) == 2
