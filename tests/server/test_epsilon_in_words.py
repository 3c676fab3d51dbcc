"""The sentence that says what epsilon means: true, and the same in Python and in JavaScript."""

from __future__ import annotations

import json
import math
import subprocess
from fractions import Fraction
from functools import cache
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.signal import fftconvolve

from deniable_protocol import Account, Channel, Document, Drawn, survey_from_tree, verify
from deniable_server.planning.design import publish_survey
from deniable_server.wording import account_in_words, cases, found_percent, in_symbols, strength
from tests.helpers.surveys import with_epsilons


def document_of(*questions: dict[str, Any], epsilon: str | None = None) -> Document:
    asked = [{"id": f"q{i}", "text": "?", **question} for i, question in enumerate(questions)]
    whole: dict[str, Any] = {"id": "words", "title": "Words", "questions": asked}
    if epsilon is not None:
        whole["epsilon"] = epsilon
        for question in asked:
            del question["epsilon"]
    return verify(publish_survey(survey_from_tree(whole)))


YES_NO = {"type": "yes_no", "epsilon": "1"}
SCALE = {"type": "scale", "epsilon": "1", "labels": ["1", "2", "3"]}
GAUSSIAN = {"type": "number", "epsilon": "1", "min": 0, "max": 1, "mechanism": "gaussian", "delta": "0.0001"}
SUPPOSE = (
    "Suppose someone tries to guess your answers from everything that was sent, and accepts being wrong about 5% of "
    "people."
)

AS_IF = "at worst, it is as if 1 in 10,000 people sent their true answers unchanged."


def said(document: Document) -> str:
    """What is said about a document, after the sentence that is always the same."""
    words = account_in_words(document.account)
    assert words.startswith(f"{SUPPOSE} They ")
    return words.removeprefix(f"{SUPPOSE} ")


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (YES_NO, "They would find the truth at most 13.6% of the time."),  # 5% e = 13.59...%, rounded up
        (YES_NO | {"epsilon": "3"}, "They would find the truth at most 95.3% of the time. This protects only weakly."),
        (YES_NO | {"epsilon": "10"}, "They could find the truth nearly always: this protects hardly at all."),
        (GAUSSIAN, f"They would find the truth at most 13.7% of the time. This includes δ = 0.0001: {AS_IF}"),
    ],
)
def test_the_sentence(question: dict[str, Any], words: str) -> None:
    """It fits the strength of the protection, and says what delta means where there is one."""
    assert said(document_of(question)) == words


def test_all_answers_together() -> None:
    """Epsilons and deltas add up: two questions at epsilon 1 and a delta allow 5% e^2 and the delta."""
    assert "the truth at most 37% of the time." in said(document_of(YES_NO, GAUSSIAN))  # 36.94...% + 0.01%
    assert "nearly always" in said(document_of(*[YES_NO | {"epsilon": "10"}] * 200))
    assert "δ = 0.0002: at worst, it is as if 2 in 10,000 people" in said(document_of(GAUSSIAN, GAUSSIAN))


def test_one_epsilon_for_everything() -> None:
    """With an epsilon of the survey it is the limit for all answers."""
    document = document_of(YES_NO, SCALE, epsilon="2.0")
    assert said(document) == "They would find the truth at most 37% of the time."
    assert in_symbols(document.account) == "ε = 2"


def test_deltas_of_a_booklet_add_up() -> None:
    """Of two deltas the larger counts where no booklet has both, and else their sum."""
    two = [GAUSSIAN | {"delta": delta} for delta in ("0.0001", "0.00005")]
    apart = document_of(*two, epsilon="1")
    assert in_symbols(apart.account) == "ε = 1, δ = 0.0001"
    assert in_symbols(document_of(*two).account) == "ε = 2, δ = 0.00015"
    halves = [([name], None, "0.5") for name in ("q0", "q1")]
    both = verify(with_epsilons(apart.survey, halves, [([0, 1], 1)]))
    assert in_symbols(both.account) == "ε = 1, δ = 0.00015"


@pytest.mark.parametrize(
    ("delta", "words"),
    [
        ("0.000001", "1 in 1,000,000"),
        ("0.000015", "15 in 1,000,000"),
        ("0.00012345", "13 in 100,000"),
        ("0.02", "2 in 100"),
        ("0.000000000001", "1 in 1,000,000,000,000"),
    ],
)
def test_a_delta_as_people(delta: str, words: str) -> None:
    """Two digits, and never less than it is."""
    count, total = (int(number.replace(",", "")) for number in words.split(" in "))
    assert cases(Fraction(delta)) == words and Fraction(count, total) >= Fraction(delta)


# --- true for the best test ------------------------------------------------------------------------------------------
# Neyman and Pearson: of all tests that accuse at most 5% of the people whose answers are different, the one that
# accuses where the likelihood ratio is largest finds the most. It is computed here from the published channels.

Losses = dict[float, float]
"""How likely each loss is under the truth: the log of how much likelier the truth makes what was sent than the rest."""
GRID = 10_000
"""Sums of losses are kept in ten-thousandths, each rounded up, so that the test seems to find more than it does."""


def losses_of(pair: tuple[tuple[Fraction, ...], tuple[Fraction, ...]]) -> Losses:
    """From the probabilities of all reports under one answer, and under another."""
    found: Losses = {}
    for p, q in zip(*pair, strict=True):
        if p:
            loss = math.log(p / q) if q else math.inf
            found[loss] = found.get(loss, 0.0) + float(p)
    return found


def all_losses(each: list[Losses]) -> Losses:
    """Of several independent reports: their losses add up."""
    if len(each) == 1:
        return each[0]
    least, chances = 0, np.ones(1)
    for losses in each:
        places = {loss: math.ceil(loss * GRID - 1e-6) for loss in losses}
        first = min(places.values())
        more = np.zeros(max(places.values()) - first + 1)
        for loss, chance in losses.items():
            more[places[loss] - first] += chance
        least, chances = least + first, fftconvolve(chances, more)
    return {(least + i) / GRID: chance for i, chance in enumerate(chances.tolist()) if chance > 1e-15}


def power(losses: Losses, false_alarms: float = 0.05) -> float:
    """How often the best test finds the truth: it accuses at the largest losses, and at the edge it draws lots."""
    found, left = 0.0, false_alarms
    for loss, chance in sorted(losses.items(), reverse=True):
        false = chance * math.exp(-loss)
        if false >= left:
            return found + chance * left / false
        found, left = found + chance, left - false
    return found


@cache
def worst_losses(channel: Channel) -> Losses:
    """Of the two answers that a test tells apart best."""
    answers = [*product((0, 1), repeat=channel.answers)] if isinstance(channel, Drawn) else range(channel.answers)
    reports = [*channel.reports()]
    rows = [tuple(channel.probability(answer, report) for report in reports) for answer in answers]
    return max(map(losses_of, permutations(rows, 2)), key=power)


def best_test(document: Document) -> float:
    """The power of the best test against everything that is sent, where all parts are told apart best. The booklet is
    sent, too, and comes as often whatever the answers are.
    """
    worst = [worst_losses(part.channel) for part in document.parts]
    weights = sum(booklet.weight for booklet in document.booklets)
    everything: Losses = {}
    for booklet in document.booklets:
        for loss, chance in all_losses([worst[number] for number in booklet.parts]).items():
            everything[loss] = everything.get(loss, 0.0) + chance * booklet.weight / weights
    return power(everything)


def noisy(epsilon: str, delta: str = "0.0001") -> dict[str, Any]:
    return GAUSSIAN | {"epsilon": epsilon, "delta": delta}


OPTIONS = [{"code": f"o{i}", "text": f"{i}"} for i in range(5)]
EIGHT = [
    YES_NO,
    YES_NO | {"decline": True},
    {"type": "choice", "epsilon": "1", "options": OPTIONS, "decline": True},
    {"type": "multi_choice", "epsilon": "1", "options": OPTIONS[:4]},
    SCALE,
    SCALE | {"measure": "mean"},
    {"type": "number", "epsilon": "1", "min": 0, "max": 40},
    {"type": "number", "epsilon": "1", "min": 0, "max": 40, "measure": "shares", "bins": [5, 10]},
]
"""Every type of question."""


@pytest.mark.parametrize(
    ("questions", "epsilon", "sharp"),
    [
        ([YES_NO], None, 0.99),
        ([noisy("0.01")], None, 0.99),
        ([noisy("0.1")], None, 0.9),
        ([noisy("0.5")], None, 0.8),
        ([noisy("1", "0.000001")], None, 0.5),
        ([noisy("0.01")] * 40, None, 0.6),
        ([YES_NO | {"epsilon": "0.01"}] * 40, None, 0.7),
        ([YES_NO | {"epsilon": "2.2"}] * 10, None, 0.99),
        ([YES_NO, GAUSSIAN, SCALE], None, 0.4),
        (EIGHT, None, 0.5),
        (EIGHT, "2", 0.9),
        ([YES_NO, GAUSSIAN], "2", 0.5),
    ],
    ids=lambda value: f"{len(value)}" if isinstance(value, list) else None,
)
def test_no_test_finds_more(questions: list[dict[str, Any]], epsilon: str | None, sharp: float) -> None:
    """The exact best test finds no more than is said; and what is said is not so much that it says nothing."""
    document = document_of(*questions, epsilon=epsilon)
    found = 100 * best_test(document)
    assert sharp * found_percent(document.account) <= found <= found_percent(document.account)


def test_what_is_said_of_delta_is_true() -> None:
    """No test finds more than if the truth were sent with probability delta, and else a bit that keeps epsilon.

    For every number of false alarms, and for channels far from a bit: this is what delta means for all of them.
    """
    for epsilon, delta in (("0.01", "0.0001"), ("0.5", "0.0001"), ("1", "0.000001"), ("2", "0.00001")):
        losses = worst_losses(document_of(noisy(epsilon, delta)).parts[0].channel)
        d, e = float(delta), math.exp(float(epsilon))
        kept = {float(epsilon): (1 - d) * e / (1 + e), -float(epsilon): (1 - d) / (1 + e)}
        as_if = kept | {math.inf: d}
        for alarms in (1e-9, 1e-6, 1e-4, 0.01, 0.05, 0.3, 0.5, 0.9):
            assert power(losses, alarms) <= power(as_if, alarms) * (1 + 1e-9)
            assert math.isclose(power(as_if, alarms), Account.of(epsilon, delta).power(alarms), rel_tol=1e-6)


# --- the same in both languages --------------------------------------------------------------------------------------


def test_both_languages_say_the_same(node: str, root: Path) -> None:
    """For a grid of epsilons and deltas: the same words and figures, and the same strength."""
    deltas = ("0", "0.000001", "0.000013", "0.0001", "0.02", "0.000000000007")
    grid = [(f"{epsilon / 20:g}", delta) for epsilon in range(1, 301) for delta in deltas]
    script = f"""
        import {{ Account }} from "{(root / "client/web/src/deniable/account.js").as_uri()}";
        import {{ accountInWords, inSymbols, strengthOf }} from "{
        (root / "client/web/src/deniable/wording.js").as_uri()
    }";
        import {{ Texts }} from "{(root / "client/web/src/deniable/texts.js").as_uri()}";
        import ENGLISH from "{(root / "client/web/src/deniable/texts/en.js").as_uri()}";
        const texts = new Texts(ENGLISH, {{}}, "en");
        const said = {json.dumps(grid)}.map((pair) => {{
            const account = new Account(...pair);
            return [accountInWords(account, texts), inSymbols(account), strengthOf(account)];
        }});
        console.log(JSON.stringify(said));
    """
    run = subprocess.run([node, "--input-type=module", "-e", script], capture_output=True, text=True, check=True)
    accounts = [Account.of(*pair) for pair in grid]
    assert json.loads(run.stdout) == [[account_in_words(each), in_symbols(each), strength(each)] for each in accounts]
