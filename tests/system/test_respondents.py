"""Respondents in browsers and in apps at the size of a test, and that the proof does find what could be wrong."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from deniable_protocol import randomize
from proofs import Watch, respondents
from proofs.respondents import DOCUMENT, Proof, answers, prove, truth, wavers
from tests.helpers.chromium import find_chromium
from tests.helpers.machine import missing
from tests.helpers.servers import running


def test_estimates_are_true_and_nothing_hidden_is_sent_or_kept(tmp_path: Path) -> None:
    """Six people in Chromium and 150 through the Python client: every interval has the truth, all lengths agree."""
    if find_chromium() is None:
        missing("Chromium")
    with ThreadPoolExecutor(1) as pool:  # a thread has one Playwright, and other tests may have started one in this
        outcome = pool.submit(prove, tmp_path, Watch(600), 1, browsers=6, clients=150).result()
    assert outcome.failures == []
    assert outcome.figures["people"] == outcome.figures["submissions whose length was compared"] == 156
    assert outcome.figures["devices looked at"] == 6
    assert outcome.figures["intervals that were compared with the truth"] == 16


def test_people_are_as_the_truth_says() -> None:
    """Follow-ups count for those to whom they apply; half of the others hand over answers to them all the same."""
    true = truth(1_000)
    assert true["vaped"] == {"yes": 0.4, "no": 0.6, "applies": 1.0}
    assert true["how_often"] == {"monthly": 0.5, "weekly": 0.3, "daily": 0.2, "applies": 0.4}
    assert true["quit"]["applies"] == 0.2 and true["hours"]["mean"] == 7
    untold = [person for person in range(1_000) if not answers(person)["vaped"]]
    assert all(("how_often" in answers(person)) == wavers(person) for person in untold)


def sent(**change: Any) -> bytes:
    submission = randomize(DOCUMENT, answers(0), {"via": "pytho"}, booklet=4)
    return json.dumps({**submission, **change}, separators=(",", ":")).encode()


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"answers": 1}, "other keys"),
        ({"reports": [1, 2]}, "other keys or reports"),
        ({"digest": "longer" * 20}, "differs beyond the digits of the report"),
    ],
)
def test_what_tells_more_than_a_report_is_found(change: dict[str, Any], found: str) -> None:
    """Another key, another report, or another length."""
    proof = Proof(Watch(60), 1)
    proof._check_body("Python", sent())
    proof._check_body("Python", sent(reports=[123]))
    assert proof.failures == []
    proof._check_body("Python", sent(**change))
    assert any(found in failure for failure in proof.failures)


def test_a_wrong_estimate_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If what is estimated were not true, the proof would say where.

    Of 1,000 people 700 report on it: the limits end about six standard errors above 40%, and so do not reach 100%.
    """
    monkeypatch.setattr(respondents, "truth", lambda people: {**truth(people), "vaped": {"yes": 1.0, "no": 0.6}})
    proof = Proof(Watch(600), 1_000)
    with published(tmp_path / "a.db", tmp_path) as server:
        proof.answer_in_python(server.base, range(1_000))
    proof.look(tmp_path / "a.db", 1_000)
    (failure,) = proof.failures
    assert failure.startswith("vaped, yes: 1.0000 is not between ")


def test_an_answer_that_a_device_keeps_is_found(tmp_path: Path, browser: Browser) -> None:
    """Wherever the page's origin keeps things."""
    proof = Proof(Watch(600), 1)
    with published(tmp_path / "a.db", tmp_path) as server:
        page = browser.new_context().new_page()
        page.goto(f"{server.base}/s/respondents?one-page")
        respondents.ready(page)
        proof._answer(page, 4)
        respondents.review(page)
        respondents.send(page)
        body = sent().decode()
        page.evaluate("localStorage.setItem('draft', JSON.stringify({ q: 'daily' }))")
        page.evaluate(
            """(body) => new Promise((done) => {
              indexedDB.open("deniable").onsuccess = ({ target: { result: database } }) => {
                const transaction = database.transaction("ledger", "readwrite");
                transaction.objectStore("ledger").put({ content: "another survey", body });
                transaction.oncomplete = () => done(database.close());
              };
            })""",
            body,
        )
        proof._look_at_device(page, [body])
        page.context.close()
    assert "what the device keeps under elsewhere has a word of an answer or a question" in proof.failures
    assert "the device keeps what was delivered" in proof.failures


def published(database: Path, folder: Path) -> Any:
    storage = respondents.open_storage(str(database))
    storage.publish(DOCUMENT)
    storage.close()
    return running(database, folder / "log")
