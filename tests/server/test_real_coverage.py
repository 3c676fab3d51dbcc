"""The benchmark of coverage on real data samples as clients do, and sees what is too low."""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from scipy.special import chdtrc

from deniable_protocol import Band, Channel, Drawn, randomize
from deniable_protocol.design import band, subset
from deniable_server.statistics import Content, tally

# Only for these imports: next to the benchmarks, other packages would find modules of ours under their names.
sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))
try:
    import real_coverage
    import real_data
    import real_sampling
finally:
    sys.path.pop(0)

BIT = band(2, Fraction(1), width=1)
CHANNELS: list[tuple[Channel, Any]] = [
    (subset(5, Fraction(2), 1), 3),
    (subset(9, Fraction(1), None), 0),
    (band(9, Fraction(1)), 4),
    (BIT, 1),
    (Drawn((BIT, BIT, BIT)), (1, 0, 1)),
]


@pytest.mark.parametrize(("channel", "answer"), CHANNELS, ids=lambda each: type(each).__name__)
def test_reports_have_the_distribution_of_their_channel(channel: Channel, answer: Any) -> None:
    """Reports drawn all at once are as likely as the channel says: a chi-square test, at 10^-6, fixed seed."""
    n, random = 20_000, np.random.default_rng(1)
    reports = real_sampling.draw_reports(channel, np.array([answer] * n), random)
    seen = {report: np.sum(reports == report) for report in channel.reports()}
    assert sum(seen.values()) == n
    expected = {report: n * float(channel.probability(answer, report)) for report in seen}
    statistic = sum((seen[report] - expected[report]) ** 2 / expected[report] for report in seen)
    assert chdtrc(len(seen) - 1, statistic) > 1e-6


def test_numbers_between_levels_keep_their_mean() -> None:
    """A number is rounded to a level at random, so that the mean is right: within five standard errors, fixed seed."""
    clear = Band(levels=9, width=1, favour=2**53 - 1)  # reports the level itself
    levels = real_sampling.draw_reports(clear, np.full(20_000, 0.3), np.random.default_rng(1))
    assert {*levels.tolist()} == {2, 3}
    assert abs(levels.mean() - 8 * 0.3) < 5 * np.sqrt(0.4 * 0.6 / 20_000)


def study() -> Any:
    """Sixty people, a follow-up, a number, several choices and a segment."""
    people = range(60)
    return real_data.Study(
        name="made-up",
        segments={"campus": ["north" if i % 3 else "south" for i in people]},
        questions=[
            real_data.yes_no("vaped"),
            real_data.choice("often", ["daily", "weekly"], show_if={"vaped": ["yes"]}),
            real_data.choice("help", ["doctor", "friend"], type="multi_choice"),
            real_data.number("hours", 0, 10),
        ],
        answers={
            "vaped": [i % 4 == 0 for i in people],
            "often": [None if i % 4 else "daily" if i % 8 else "weekly" for i in people],
            "help": [(), ("doctor",), ("doctor", "friend")] * 20,
            "hours": [i / 6 for i in people],
        },
        eager={"campus": {"north": 1.0, "south": 2.0}},
        together=[["vaped", "help.doctor"]],
        crossed=[],
        compared=[],
        regressed=[],
    )


def test_surveys_are_those_of_clients() -> None:
    """Counts of a survey drawn all at once and of one through ``randomize`` differ by chance only: each by less than
    five standard errors, fixed seeds.
    """
    population, n = real_sampling.publish(study(), booklets=True, epsilon="2"), 6_000
    document, people = population.document, population.study
    ours = population.draw(n, np.random.default_rng(1)).counted.cells
    random, contents = Random(1), []
    for i in random.choices(range(people.people), [1 + (code == "south") for code in people.segments["campus"]], k=n):
        answers = {name: each[i] for name, each in people.answers.items() if each[i] is not None}
        sent = randomize(document, answers, {"campus": people.segments["campus"][i]}, read=random.randbytes)
        segment = [option.code for option in document.survey.segments[0].options].index(sent["segments"]["campus"])
        contents.append(Content(sent["booklet"], tuple(sent["reports"]), (segment,)))
    theirs = tally(document, contents).cells
    assert set(ours) == set(theirs)
    first, second = (
        np.concatenate([np.concatenate([cell.booklets, *cell.counts]) for _, cell in sorted(each.items())])
        for each in (ours, theirs)
    )
    z = (first - second) / np.sqrt(np.maximum(first + second, 1))
    assert np.abs(z).max() < 5
    expected = population.expect(10**6).counted.cells
    assert sum(cell.submissions for cell in expected.values()) == pytest.approx(10**6, abs=50)


def row(held: int, **more: Any) -> Any:
    plain = dict.fromkeys(("width", "bias", "bias_z"), 0.0) | dict.fromkeys(("unbiased", "unbiased_z", "se_sd"))
    names = {
        "study": "a",
        "design": "booklets",
        "epsilon": "1",
        "n": 100,
        "looks": 1,
        "kind": "share",
        "target": "estimates x",
    }
    return real_coverage.Row(
        **names | plain | {"truth": 0.5, "repetitions": 2_000, "shown": 2_000, "held": held} | more
    )


def test_what_is_too_low_twice_is_missed() -> None:
    """A number far below its level is measured again, and missed if it is as low again; chance is not."""
    good, bad = row(1_900), row(1_850, target="estimates y")
    assert [each.target for each in real_coverage.suspects([good, bad])] == ["estimates y", "estimates x"]
    assert real_coverage.missed([good, bad], [row(1_905, target="estimates y")]) == []
    (kind, number) = real_coverage.missed([good, bad], [row(1_850, target="estimates y")])
    assert kind.startswith("share, a booklets 1 100: 0.9250") and "estimates y: 0.9250" in number
