"""The audit as a proof: both languages together on every channel kind, and that it can fail."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from deniable_protocol import Band, Drawn, Subset, Table, design, parse_survey, publish
from deniable_server.checks.audit import audit, conclude, tally
from proofs import Watch
from proofs import audit as proof


def test_neither_randomiser_shows_more_than_is_stated(tmp_path: Path, node: str) -> None:
    """20,000 submissions in each language: every channel seen, none above its epsilon.

    No seed can be given. To exceed its epsilon, both limits of one of 45,308 comparisons, each at 10^-8, must
    be passed together: a false alarm far below 10^-6. Of the pure channels the exponential table is seen least, at 0.16
    of 0.5; to see less than a twentieth, both of its far pairs must fall short by four standard errors.
    """
    outcome = proof.prove(tmp_path, Watch(600), 1, draws=20_000, power=0.05)
    assert outcome.failures == []
    assert outcome.figures["submissions, in each language"] == 20_000
    assert outcome.figures["channels"] == 13
    for language in ("Python", "JavaScript"):
        assert 0.8 < float(outcome.figures[f"largest part of a stated ε seen, {language}"]) <= 1


def test_every_channel_kind_is_there() -> None:
    """The audited survey leads to every kind of channel, from every type of question, with and without decline."""
    questions = parse_survey(proof.SURVEY.read_bytes()).questions
    channels = [design(question) for question in questions]
    assert {type(channel) for channel in channels} == {Subset, Band, Drawn, Table}
    assert {question.type for question in questions} == {"yes_no", "choice", "multi_choice", "scale", "number"}
    assert {getattr(question, "mechanism", None) for question in questions} == {
        None, "krr", "exponential", "laplace", "gaussian",
    }  # fmt: skip
    assert {(q.type, getattr(q, "measure", None)) for q in questions} >= {
        ("scale", "mean"), ("scale", "shares"), ("number", "mean"), ("number", "shares"),
    }  # fmt: skip
    assert {question.type for question in questions if question.decline} == {"yes_no", "choice", "scale", "number"}
    assert {channel.levels for channel in channels if isinstance(channel, Band)} == {2, 5, 9, 17}
    assert {channel.size for channel in channels if isinstance(channel, Subset)} == {1, 2, 3}


def test_the_level_is_split_over_all_that_is_stated_together(example: bytes) -> None:
    """The same counts prove less where two audits are stated together than for one by itself."""
    counted = tally(example, 3_000)
    for alone, together in zip(conclude(example, counted), conclude(example, counted, 2), strict=True):
        assert together.observed.epsilon < alone.observed.epsilon
        assert together.observed.draws == alone.observed.draws == 3_000


def test_tallies_add_up(example: bytes) -> None:
    """Two runs added have as many draws and hits as both."""
    first, second = tally(example, 500), tally(example, 700)
    hits = {q: first[q].hits + second[q].hits for q in first}
    for q, each in first.items():
        each.merge(second[q])
        assert each.trials.sum() == 1200
        assert (each.hits == hits[q]).all()


def test_more_epsilon_than_stated_is_a_failure(example: bytes) -> None:
    """The proof fails, with the pair and the event, where a randomiser is seen to protect less, and where nothing is
    seen at all.
    """
    findings = audit(example, 2_000)
    assert not [failure for failure in proof.failures("Python", findings, 0.0) if "stated, for" in failure]
    leaking = replace(findings[0], observed=replace(findings[0].observed, epsilon=1.01))
    blind = replace(findings[0], observed=replace(findings[0].observed, epsilon=0.1))
    (said,) = proof.failures("Python", [leaking], 0.5)
    assert said.startswith("Python, vaped: ε of 1.010000 seen, 1.0 stated, for ")
    assert proof.failures("Python", [blind], 0.5) == ["Python, vaped: only 0.100000 of the exact ε 1.000000000000 seen"]


def test_a_proof_that_is_not_finished_says_so(tmp_path: Path, node: str) -> None:
    """When the time is up the audit ends, and how far it came is a failure."""
    outcome = proof.prove(tmp_path, Watch(0), 1, draws=20_000, power=0.05)
    (said,) = outcome.failures
    assert said.startswith("stopped after ") and said.endswith(" of 40000 submissions")


def test_a_leak_is_found_by_both_tallies_added() -> None:
    """Reports drawn at epsilon 1.6, in two runs that are added, prove more than the 1 that the document states."""
    tree = b'id = "ab"\ntitle = "t"\n[[questions]]\nid = "q"\ntype = "yes_no"\ntext = "?"\nepsilon = '
    stated, weaker = (publish(parse_survey(tree + epsilon)) for epsilon in (b"1.0", b"1.6"))
    counted = tally(weaker, 5_000)
    counted["q"].merge(tally(weaker, 5_000)["q"])
    (finding,) = conclude(stated, counted, 2)
    assert not finding.passed
    assert finding.observed.epsilon == pytest.approx(1.6, abs=0.4)
