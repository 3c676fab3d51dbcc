"""Shuffling against enumeration of everybody's answers, against published values, and in the plan."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

from deniable_protocol import Channel, survey_from_tree
from deniable_protocol.design import band, subset
from deniable_server.cli import cli
from deniable_server.planning import Wanted, plan_survey, shuffling
from deniable_server.planning.shuffling import Bits, Shuffled, shuffled, shuffled_bits

DELTAS = (0.02, 0.001)


def rows(channel: Channel) -> list[list[float]]:
    reports = [*channel.reports()]
    return [[float(channel.probability(answer, report)) for report in reports] for answer in range(channel.answers)]


def histograms(people: Sequence[Sequence[float]]) -> dict[tuple[int, ...], float]:
    """The probability of each multiset of reports."""
    found = {(0,) * len(people[0]): 1.0}
    for row in people:
        wider = Counter[tuple[int, ...]]()
        for counts, mass in found.items():
            for report, chance in enumerate(row):
                wider[(*counts[:report], counts[report] + 1, *counts[report + 1 :])] += mass * chance
        found = dict(wider)
    return found


def worst_excess(table: list[list[float]], people: int, epsilon: float) -> float:
    """The least delta at this epsilon: over all answers of the others, and all two answers of one person."""
    most = 0.0
    for others in itertools.combinations_with_replacement(table, people - 1):
        shown = [histograms([*others, row]) for row in table]
        for first, second in itertools.permutations(shown, 2):
            exceeds = sum(max(0.0, mass - math.exp(epsilon) * second[counts]) for counts, mass in first.items())
            most = max(most, exceeds)
    return most


@pytest.mark.parametrize("epsilon", ["0.5", "1", "3"])
@pytest.mark.parametrize("people", [2, 3, 8])
def test_yes_and_no_by_enumeration(epsilon: str, people: int) -> None:
    """The least epsilon for the worst answers of all others, to a millionth; never below it."""
    table = rows(band(2, Fraction(epsilon), width=1))
    for delta in DELTAS:
        found = shuffled_bits(float(epsilon), people, delta)
        assert worst_excess(table, people, found) <= delta < worst_excess(table, people, found * (1 - 3e-6))


@pytest.mark.parametrize(
    "channel",
    [
        subset(3, Fraction(1), size=1),
        subset(4, Fraction(1), size=2),
        band(2, Fraction(1), width=1),
        band(5, Fraction(1)),
    ],
)
def test_other_channels_by_enumeration(channel: Channel) -> None:
    """Never below the least epsilon for the worst answers of all others: subsets and bands, three people."""
    for delta in DELTAS:
        assert worst_excess(rows(channel), 3, shuffled(1.0, 3, delta)) <= delta


def test_whole_submissions_by_enumeration() -> None:
    """Two booklets of one yes/no question each, drawn with 3:1: never below the worst case of three people."""
    bit = rows(band(2, Fraction(1), width=1))
    table = [[*(0.75 * p for p in bit[a]), *(0.25 * p for p in bit[b])] for a in (0, 1) for b in (0, 1)]
    for delta in DELTAS:
        assert worst_excess(table, 3, shuffled(1.0, 3, delta)) <= delta


def test_many_yes_and_no() -> None:
    """Among 700 people no number of yes among the others is worse, and the result is within half a percent of one."""
    epsilon, people, delta = 1.0, 700, 1e-6
    p = 1 / (1 + math.exp(-epsilon))
    found = shuffled_bits(epsilon, people, delta)

    def excess(yes: int, e: float) -> float:
        others = people - 1 - yes
        counts = np.convolve(
            stats.binom.pmf(np.arange(yes + 1), yes, p), stats.binom.pmf(np.arange(others + 1), others, 1 - p)
        )
        first, second = np.convolve(counts, [1 - p, p]), np.convolve(counts, [p, 1 - p])
        return float(np.maximum(first - math.exp(e) * second, 0).sum())

    assert max(excess(yes, found) for yes in range(people)) <= delta
    assert excess(people - 1, 0.995 * found) > delta


def test_the_worst_others_are_not_always_of_one_mind() -> None:
    """Of nine others of whom five say yes, a person's bit at epsilon 2 is less hidden than where all say the same."""
    mixed, all_yes, all_no = (Bits(2.0, yes, 9 - yes, 1e-6).excess(0.02) for yes in (5, 9, 0))
    assert mixed > 1.1 * max(all_yes, all_no)


def test_the_published_example_of_the_clones() -> None:
    """100,000 reports at epsilon 4, delta 10^-6.

    ``example.py`` of github.com/apple/ml-shuffling-amplification (Feldman, McMillan and Talwar 2021) prints that
    epsilon is between 0.1675385583317841 and 0.172790550755978.
    """
    assert 0.1675385583317841 < shuffled(4.0, 100_000, 1e-6) < 0.172790550755978


def closed_form(epsilon: float, people: int, delta: float) -> float:
    """The closed form of Feldman, McMillan and Talwar 2021, for epsilon <= ln(n / (16 ln(2/delta)))."""
    assert epsilon <= math.log(people / (16 * math.log(2 / delta)))
    growth = math.exp(epsilon)
    spread = 8 * math.sqrt(growth * math.log(4 / delta) / people) + 8 * growth / people
    return math.log1p((growth - 1) / (growth + 1) * spread)


def test_the_closed_form_is_far_too_pessimistic() -> None:
    """Randomised response at epsilon 1 and 2 with 1,000 to 100,000 people: 4.4 to 7.6 times the exact value."""
    cases = [(1.0, 1_000), (1.0, 10_000), (1.0, 100_000), (2.0, 5_000), (2.0, 100_000)]
    ratios = [closed_form(epsilon, n, 1e-6) / shuffled_bits(epsilon, n, 1e-6) for epsilon, n in cases]
    assert [round(ratio, 1) for ratio in ratios] == [4.5, 6.0, 7.1, 5.1, 7.5]


@pytest.mark.parametrize("people", [2, 30, 1_000])
def test_more_people_hide_better(people: int) -> None:
    """And bits are hidden better than what any channel may send, and nothing says more than epsilon."""
    assert shuffled(1.0, 2 * people, 1e-6) <= shuffled(1.0, people, 1e-6) <= 1
    assert shuffled_bits(1.0, 2 * people, 1e-6) <= shuffled_bits(1.0, people, 1e-6) <= shuffled(1.0, people, 1e-6)


# --- in the plan -------------------------------------------------------------------------------------------------


def plan_shuffled(tree: dict[str, Any], **wanted: Any) -> Shuffled:
    survey = {"id": "a-survey", "title": "A survey", "epsilon": "1", "questions": [{"id": "q", "text": "?", **tree}]}
    found = plan_survey(survey_from_tree(survey), Wanted(waves=1, **wanted)).shuffled
    assert found is not None
    return found


def choice(options: int) -> dict[str, Any]:
    return {"type": "choice", "options": [{"code": f"c{i}", "text": "?"} for i in range(options)]}


def test_shuffling_is_stated_at_the_respondents_there_will_be() -> None:
    """The shuffled epsilon is for the respondents needed, or those expected."""
    yes_no = {"type": "yes_no"}
    assert plan_shuffled(yes_no).respondents == 4_997
    assert plan_shuffled(yes_no).epsilon == pytest.approx(0.0522, abs=1e-4)
    assert plan_shuffled(yes_no, respondents=100).epsilon == pytest.approx(0.4837, abs=1e-4)
    assert plan_shuffled(yes_no, respondents=10**5).epsilon == pytest.approx(0.01017, abs=1e-5)


def test_the_plan_says_whether_the_value_is_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exact for yes and no; otherwise a bound, as for more people than are counted."""
    yes_no = {"type": "yes_no"}
    assert plan_shuffled(choice(3), respondents=500).kind == "bound"
    counted = plan_shuffled(yes_no, respondents=500)
    assert counted.kind == "exact"
    monkeypatch.setattr(shuffling, "MOST", 500)
    assert plan_shuffled(yes_no, respondents=501) == Shuffled(counted.epsilon, 501, "bound")


def test_the_command_says_what_shuffling_is_worth(tmp_path: Any) -> None:
    """At most so much for the example; nothing where there are too few people."""
    text = 'id = "one"\ntitle = "One"\nepsilon = 3\n[[questions]]\nid = "a"\ntype = "yes_no"\ntext = "?"\n'
    (tmp_path / "one.toml").write_text(text)

    def shown(*options: str) -> str:
        return " ".join(CliRunner().invoke(cli, ["plan", str(tmp_path / "one.toml"), *options]).output.split())

    expected = "neither their order nor their senders. Towards them ε is 0.254 instead of 3,"
    assert f"Suppose someone sees 5,000 submissions, but {expected}" in shown("--respondents", "5000")
    assert "So few hide nobody: ε stays 3." in shown("--respondents", "20")
