"""False submissions are seen where they repeat a report, and honest ones are not taken for false."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from deniable_protocol import Document, Subset, verify
from deniable_protocol.design import subset
from deniable_server.analysis.compare import CompareQuery, compare
from deniable_server.analysis.crosstab import CrosstabQuery, crosstab
from deniable_server.analysis.estimates import EstimateQuery, estimates
from deniable_server.analysis.tables import ESTIMATE_COLUMNS, estimate_rows
from deniable_server.estimator import NOT_HONEST
from deniable_server.estimator.honesty import FALSE_ALARMS, check_honesty, log_wealth, most_together, remainders
from deniable_server.estimator.scores import table_of
from deniable_server.statistics import MODULUS, Cell, Content, empty, nothing, repeats_of, reports_of, step_of, tally
from tests.helpers.surveys import joint, several
from tests.server.test_coverage import load
from tests.server.test_results import Counted

bench = load(Path(__file__).parents[2] / "bench/fakes.py")
DESIGNS: dict[str, Document] = dict(bench.designs())
LETTERS = [{"code": code, "text": code} for code in "abcde"]


def notes_of(document: Document, counts: list[int]) -> list[str]:
    """Of a survey of one question, whose features are its whole reports."""
    n = sum(counts)
    return check_honesty(document, Cell.of(np.array([n]), [np.array(counts)]), nothing(document).repeats)


# --- honest ones -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [0.01, 0.1, 0.7])
def test_betting_rarely_wins(most: float) -> None:
    """If an event is as likely as it can be, the wealth ever reaches 20 in 600 looks in at most 5% of cases. Summed
    exactly, look by look, over all counts that have not reached it before.
    """
    alive, ever, looks = np.ones(1), 0.0, 600
    for n in range(1, looks + 1):
        alive = np.convolve(alive, [1 - most, most])
        wealth = log_wealth(np.arange(n + 1), np.full(n + 1, n), np.full(n + 1, most))
        reached = wealth >= math.log(20)
        ever, alive = ever + alive[reached].sum(), np.where(reached, 0, alive)
    assert 0.01 < ever <= 0.05
    assert ever + alive.sum() == pytest.approx(1)


@pytest.mark.parametrize("n", [80, 300])
def test_unanimous_answers_are_rarely_flagged(n: int) -> None:
    """Where everybody says no, or yes, a survey is flagged in at most one case in a thousand, summed exactly."""
    document = DESIGNS["yes or no, ε = 1"]
    flagged = [bool(notes_of(document, [n - y, y])) for y in range(n + 1)]
    assert any(flagged)
    for rate in table_of(document.parts[0].channel)[:, 1]:
        assert stats.binom.pmf(np.arange(n + 1), n, rate)[flagged].sum() <= FALSE_ALARMS


@pytest.mark.parametrize("name", DESIGNS)
def test_honest_surveys_are_not_flagged(name: str) -> None:
    """With unanimous answers and ten looks, no honest survey of any design is flagged."""
    assert bench.false_alarms(DESIGNS[name], 1_000, 2) == 0


# --- how likely whole reports can be ---------------------------------------------------------------------------------


@pytest.mark.parametrize("channel", [subset(6, Fraction(1, 2)), subset(11, Fraction(1))])
def test_remainders_are_as_likely_as_their_reports(channel: Subset) -> None:
    """The probability of a remainder, under each answer, is the sum over the reports that have it."""
    assert channel.size > 1
    wanted = np.zeros((channel.options, MODULUS))
    for report in channel.reports():
        for answer in range(channel.options):
            wanted[answer, report % MODULUS] += float(channel.probability(answer, report))
    assert remainders(channel) == pytest.approx(wanted, rel=1e-12, abs=1e-15)
    assert remainders(subset(51, Fraction(1, 2))).sum(axis=1) == pytest.approx(1)


def test_nothing_makes_a_remainder_of_all_reports_more_likely() -> None:
    """For every combination of answers, no remainder of all reports together is more likely than the bound."""
    document = verify(several())
    for booklet in document.booklets:
        tables = []
        for number in booklet.parts:
            channel = document.parts[number].channel
            rows = np.zeros((channel.answers, MODULUS))
            for report in channel.reports():
                place = report * step_of(number) % MODULUS
                rows[:, place] += [float(channel.probability(answer, report)) for answer in range(channel.answers)]
            tables.append(np.fft.fft(rows, axis=1))
        bound = most_together(document, booklet.parts)
        most = max(np.fft.ifft(np.prod(rows, axis=0)).real.max() for rows in itertools.product(*tables))
        assert most <= bound * (1 + 1e-9)
        assert bound < 2 * most


# --- false ones ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "counts", "is_false"),
    [
        ({"type": "yes_no"}, [0, 100], True),
        ({"type": "yes_no"}, [400, 900], False),  # 69%: fewer than the 73% that all-yes gives
        ({"type": "choice", "options": LETTERS}, [0, 50, 50, 50, 50], True),
        ({"type": "scale", "measure": "mean", "labels": list("abcde")}, [0] * 7 + [200], True),
        ({"type": "multi_choice", "options": LETTERS[:2]}, [100, 100, 0, 0], True),
    ],
)
def test_impossible_rates_are_flagged(question: dict[str, Any], counts: list[int], is_false: bool) -> None:
    """A rate that honest answers cannot give is flagged; a high rate that they can give is not."""
    assert bool(notes_of(bench.one_question(**question), counts)) == is_false


@pytest.mark.parametrize(
    ("name", "n", "fraction", "said"),
    [
        ("9 questions, ε = 1 each", 1_000, 0.025, "the same reports together came"),
        ("10 options, ε = 1", 5_000, 0.025, "the same report on q came"),
        ("the same, ε = 1 for all", 20_000, 0.02, "came"),
        ("the same, ε = 4 for all", 20_000, 0.025, "the booklet on"),
    ],
)
def test_repeated_reports_are_seen(name: str, n: int, fraction: float, said: str) -> None:
    """About 2% of submissions that all say the same are seen, and what came too often is named."""
    document, rng = DESIGNS[name], np.random.default_rng(4)
    seen = []
    for _ in range(10):
        statistics = bench.collected(document, n, rng, fraction=fraction)
        notes = check_honesty(document, sum(statistics.cells.values(), empty(document)), statistics.repeats)
        seen.append(bool(notes) and said in notes[0] and notes[0].startswith(f"{NOT_HONEST}: "))
    assert sum(seen) >= 7


def test_one_yes_or_no_hides_false_submissions() -> None:
    """A fifth of all submissions that repeat a yes are seen in no survey of one question: people might say yes."""
    assert bench.power(DESIGNS["yes or no, ε = 1"], 5_000, 0.2, 20) == 0


def test_whole_reports_are_counted() -> None:
    """Each part whose reports hold several paths has counts of whole reports, and submissions with several reports have
    counts of all of them; every submission is in them once.
    """
    document = verify(several())
    contents = [Content(0, (1 << i % 8, 3), (0,)) for i in range(40)] + [Content(1, (0b1111,), (1,))]
    statistics = tally(document, contents)
    total = sum(statistics.cells.values(), empty(document))
    for repeats in repeats_of(document):
        counted = int(statistics.repeats[repeats.place].sum())
        assert counted == (41 if repeats.part is None else reports_of(document, total, repeats.part))
    assert statistics.repeats[repeats_of(document)[-1].place].max() == 5


# --- what is said ----------------------------------------------------------------------------------------------------


def forged(document: Document) -> Counted:
    """Honest booklets, but every report on the second part is the same."""
    report = next(iter(document.parts[1].channel.reports()))
    drawn = np.repeat(np.arange(len(document.booklets)), [booklet.weight for booklet in document.booklets])
    contents = []
    for i, booklet in enumerate(np.tile(drawn, 60).tolist()):
        (part,) = document.booklets[booklet].parts
        reports = [*document.parts[part].channel.reports()]
        contents.append(Content(booklet, (report if part == 1 else reports[i % len(reports)],), (i % 2,)))
    return Counted(document, tally(document, contents), contents)


def test_it_is_said_of_the_whole_survey() -> None:
    """Estimates, comparisons and tables say the same of the survey, whichever group or question is asked about: tests
    of many small groups would find something by chance.
    """
    source = forged(verify(joint()))
    notes = estimates(source, EstimateQuery()).notes
    assert notes and all(note.startswith(NOT_HONEST) for note in notes)
    assert "the same report on vaped and how_often and stress came 300 times in 960" in notes[0]
    assert estimates(source, EstimateQuery(where={"campus": "north"})).notes == notes
    assert compare(source, CompareQuery(question="hours", by="campus")).notes == notes
    assert crosstab(source, CrosstabQuery(rows="vaped", columns="stress")).notes == notes
    rows = estimate_rows(source.survey, estimates(source, EstimateQuery()))
    place = ESTIMATE_COLUMNS.index("note")
    assert all(row[place].startswith("; ".join(notes)) for row in itertools.islice(rows, 1, None))


def test_two_surveys_speak_for_themselves() -> None:
    """A comparison of two surveys says of which one it is."""
    document = bench.one_question(type="yes_no")
    honest = Counted(document, tally(document, [Content(0, (i % 2,), ()) for i in range(200)]))
    other = verify(bench.publish_survey(bench.survey_from_tree(ANOTHER)))
    false = Counted(other, tally(other, [Content(0, (1,), ())] * 200), other=honest)
    notes = compare(false, CompareQuery(question="q", other="one")).notes
    assert notes and all(note.startswith(f"another: {NOT_HONEST}") for note in notes)


ANOTHER = {
    "id": "another",
    "title": "?",
    "questions": [{"id": "q", "type": "yes_no", "text": "?", "epsilon": 1}],
}
