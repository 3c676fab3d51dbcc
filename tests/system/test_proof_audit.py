"""The audit as a proof: both languages together on every channel kind, and that it can fail."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from deniable_protocol import Account, Band, Drawn, Subset, Table, parse_survey, publish, verify
from deniable_server.checks.audit import Audit, Drawing, audit, conclude, tally
from proofs import Watch
from proofs import audit as proof
from tests.helpers.surveys import joint, textbook


def test_neither_randomiser_shows_more_than_is_stated(tmp_path: Path, node: str) -> None:
    """20,000 submissions to each survey in each language: every part seen, none above its epsilon.

    No seed can be given. To exceed its epsilon, both limits of one of some 60,000 comparisons, each at 10^-8, must
    be passed together: a false alarm far below 10^-6.
    """
    outcome = proof.prove(tmp_path, Watch(600), 1, draws=20_000, power=0.0)
    assert outcome.failures == []
    assert outcome.figures["submissions to each of two surveys, in each language"] == 20_000
    assert outcome.figures["parts"] == 20
    for language in ("Python", "JavaScript"):
        assert 0.8 < float(outcome.figures[f"largest part of a stated ε seen, {language}"]) <= 1


def test_every_channel_kind_is_there() -> None:
    """The first survey leads to every kind of channel, from every type of question, with and without decline."""
    document = verify(proof.every_channel())
    questions, channels = document.survey.questions, [part.channel for part in document.parts]
    assert {type(channel) for channel in channels} == {Subset, Band, Drawn, Table}
    assert {question.type for question in questions} == {"yes_no", "choice", "multi_choice", "scale", "number"}
    assert {question.mechanism for question in questions} == {None, "krr", "exponential", "laplace", "gaussian"}
    assert {(question.type, question.measure) for question in questions} >= {
        ("scale", "mean"), ("scale", "shares"), ("number", "mean"), ("number", "shares"),
    }  # fmt: skip
    assert {question.type for question in questions if question.decline} == {"yes_no", "choice", "scale", "number"}
    assert {channel.levels for channel in channels if isinstance(channel, Band)} == {2, 5, 49}
    assert {channel.size for channel in channels if isinstance(channel, Subset)} == {1, 2, 3}


def test_every_kind_of_part_is_there() -> None:
    """The second survey has follow-ups, options, up to 51 paths, subsets of one and of several, and shared epsilons."""
    document = verify(proof.every_part())
    joint = [part for part in document.parts if len(part.items) > 1]
    assert {len(part.paths) for part in joint} == {4, 8, 24, 51}
    assert {part.channel.held for part in joint} >= {1, 2, 3, 6}
    assert any(item.question.show_if for part in joint for item in part.items)
    assert any(item.option and part.paths[0] != (0,) for part in joint for item in part.items)
    assert {len(booklet.parts) for booklet in document.booklets} == {1, 3}
    assert any(len(document.parts_about(name)) > 1 for name in ("vaped", "support.doctor"))


def test_the_level_is_split_over_all_that_is_stated_together() -> None:
    """The same counts prove less where two audits are stated together than for one by itself."""
    counted = tally(textbook(), 3_000)
    alone, together = (conclude(textbook(), counted, times * counted.comparisons) for times in (1, 2))
    assert alone == conclude(textbook(), counted)
    for one, both in zip(alone.parts, together.parts, strict=True):
        assert both.observed.epsilon < one.observed.epsilon
        assert both.observed.draws == one.observed.draws == 3_000


def test_tallies_add_up() -> None:
    """Two runs merged have as many draws, hits and booklets as both."""
    first, second = tally(joint(), 500), tally(joint(), 700)
    hits = [mine.hits + more.hits for mine, more in zip(first.parts, second.parts, strict=True)]
    drawn = first.booklets.counts() + second.booklets.counts()
    first.merge(second)
    assert sum(each.trials.sum() for each in first.parts) == 1200
    assert all((each.hits == both).all() for each, both in zip(first.parts, hits, strict=True))
    assert (first.booklets.counts() == drawn).all() and drawn[0].sum() == 1200


def test_more_epsilon_than_stated_is_a_failure() -> None:
    """The proof fails, with the pair and the event, where a randomiser is seen to protect less, where nothing is seen
    at all, and where a booklet comes too often.
    """
    found = audit(textbook(), 2_000)
    assert proof.failures("Python", found, 0.0) == []
    first = found.parts[0]
    leaking, blind = (replace(first, observed=replace(first.observed, epsilon=epsilon)) for epsilon in (1.01, 0.1))
    (said,) = proof.failures("Python", Audit(Account(), [leaking], []), 0.5)
    assert said.startswith("Python, vaped: ε of 1.010000 seen, 1.0 stated, for ")
    assert proof.failures("Python", Audit(Account(), [blind], []), 0.5) == [
        "Python, vaped: only 0.100000 of the exact ε 1.000000000000 seen"
    ]
    stray = Drawing(booklet=2, share=Fraction(1, 4), seen=0.3, strays=True)
    assert proof.failures("Python", Audit(Account(), [], [stray]), 0.5) == [
        "Python, booklet 2: came with 0.300000, or after some answer, not with 1/4"
    ]


def test_a_proof_that_is_not_finished_says_so(tmp_path: Path, node: str) -> None:
    """When the time is up the audit ends, and how far it came is a failure."""
    outcome = proof.prove(tmp_path, Watch(0), 1, draws=20_000, power=0.05)
    (said,) = outcome.failures
    assert said.startswith("stopped after ") and said.endswith(" of 80000 submissions")


def test_a_leak_is_found_by_both_tallies_added() -> None:
    """Reports drawn at epsilon 1.6, in two runs that are merged, prove more than the 1 that the document states."""
    tree = b'id = "ab"\ntitle = "t"\n[[questions]]\nid = "q"\ntype = "yes_no"\ntext = "?"\nepsilon = '
    stated, weaker = (publish(parse_survey(tree + epsilon)) for epsilon in (b"1.0", b"1.6"))
    counted = tally(weaker, 5_000)
    counted.merge(tally(weaker, 5_000))
    (finding,) = conclude(stated, counted, 2 * counted.comparisons).parts
    assert not finding.passed
    assert finding.observed.epsilon == pytest.approx(1.6, abs=0.4)
