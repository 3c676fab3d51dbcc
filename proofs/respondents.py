"""Many respondents on one survey with follow-ups: through real pages in Chromium, and through the Python client.

What is estimated is true of those who answered. Half of those to whom a follow-up does not apply are shown it all the
same, answer it, and then change their mind: no trace of that is in what is sent, nor in what the device keeps. And the
length of what is sent shows nothing of how many questions were shown: but for the digits of the report it is the same.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import msgspec
from playwright.sync_api import Browser, Page, sync_playwright

import deniable
from deniable_protocol import Document, publish, survey_from_tree, verify
from deniable_server.estimator import estimate_question, gather
from deniable_server.estimator.intervals import Aim
from deniable_server.statistics import Cell, reports_of
from deniable_server.storage import open_storage
from tests.helpers.chromium import find_chromium, launched
from tests.helpers.embedder_site import kept
from tests.helpers.questionnaire import field, ready, review, send
from tests.helpers.servers import running

from . import Outcome, Watch

SURVEY: dict[str, Any] = {
    "id": "respondents",
    "title": "Many respondents",
    "epsilon": "2.0",
    "together": [["vaped", "stress"]],
    "segments": [
        {
            "id": "via",
            "text": "How?",
            "options": [{"code": "chrom", "text": "In a browser"}, {"code": "pytho", "text": "In an app"}],
        }
    ],
    "questions": [
        {"id": "vaped", "type": "yes_no", "text": "Have you vaped?"},
        {
            "id": "how_often",
            "type": "choice",
            "text": "How often?",
            "show_if": {"vaped": ["yes"]},
            "options": [{"code": code, "text": code.title()} for code in ("monthly", "weekly", "daily")],
        },
        {"id": "quit", "type": "yes_no", "text": "Do you want to quit?", "show_if": {"how_often": ["daily", "weekly"]}},
        {
            "id": "support",
            "type": "multi_choice",
            "text": "Who helped?",
            "options": [{"code": code, "text": code.title()} for code in ("doctor", "friend", "nobody")],
        },
        {"id": "stress", "type": "scale", "text": "How stressed are you?", "labels": ["Calm", "Tense", "Frantic"]},
        {"id": "hours", "type": "number", "text": "Hours of sleep?", "min": 0, "max": 12},
    ],
}
DOCUMENT = publish(
    survey_from_tree(SURVEY),
    [
        (["vaped", "how_often", "quit"], None),
        (["vaped", "stress"], None),
        (["support.doctor", "support.friend"], None),
        (["support.nobody"], None),
        (["hours"], None),
    ],
    [([0], 4), ([1], 3), ([2], 1), ([3], 1), ([4], 1)],
)
HIDDEN = ("how_often", "quit")
CONFIDENCE = 1 - 1e-8
"""Of 16 intervals none misses by chance but once in six million runs."""

THREADS = 4


def answers(person: int) -> dict[str, Any]:
    """40% have vaped: half of them monthly, 30% weekly, 20% daily. What does not apply is answered too, by half."""
    vaped = person % 5 < 2
    found: dict[str, Any] = {
        "vaped": vaped,
        "how_often": ["monthly"] * 5 + ["weekly"] * 3 + ["daily"] * 2,
        "quit": person // 50 % 4 == 0,
        "support": [code for code, place in (("doctor", 5), ("friend", 2), ("nobody", 10)) if person % place == 0],
        "stress": (1, 1, 2, 3, 2, 1)[person % 6],
        "hours": 6.0 if person % 2 else 8.0,
    }
    found["how_often"] = found["how_often"][person // 5 % 10]
    if not wavers(person):
        if not vaped:
            del found["how_often"], found["quit"]
        elif found["how_often"] == "monthly":
            del found["quit"]
    return found


def wavers(person: int) -> bool:
    """Whether they answer follow-ups that do not apply to them."""
    return person % 2 == 0


def truth(people: int) -> dict[str, dict[str, float]]:
    """Of each question the shares of those whom it is asked, and how many these are ("applies"); of hours the mean."""
    counted: dict[str, Counter[str]] = {question["id"]: Counter() for question in SURVEY["questions"]}
    for person in range(people):
        given = answers(person)
        counted["vaped"]["yes" if given["vaped"] else "no"] += 1
        counted["stress"][f"{given['stress']}"] += 1
        counted["support"].update(given["support"])
        counted["hours"]["mean"] += given["hours"]
        if given["vaped"]:
            counted["how_often"][given["how_often"]] += 1
            if given["how_often"] != "monthly":
                counted["quit"]["yes" if given["quit"] else "no"] += 1
    found = {}
    for name, each in counted.items():
        asked = each.total() if name in HIDDEN else people
        found[name] = {code: count / asked for code, count in each.items()} | {"applies": asked / people}
    return found


def prove(folder: Path, watch: Watch, seed: int, *, browsers: int, clients: int) -> Outcome:
    """So many people in a browser, and so many through the Python client; who draws what is left to chance."""
    executable = find_chromium()
    if executable is None:
        return Outcome({}, ["Chromium is missing"])
    storage = open_storage(str(folder / "a.db"))
    storage.publish(DOCUMENT)
    storage.close()
    proof = Proof(watch, browsers + clients)
    with running(folder / "a.db", folder / "server.log", "--rate-limit", "100000000/minute") as server:
        proof.answer_in_python(server.base, range(browsers, browsers + clients))
        with sync_playwright() as playwright, launched(playwright, executable) as browser:
            proof.answer_in_browsers(browser, server.base, range(browsers))
    if proof.done < browsers + clients:
        return Outcome(proof.figures(), [*proof.failures, f"stopped after {proof.done} of {browsers + clients} people"])
    proof.look(folder / "a.db", browsers + clients)
    return Outcome(proof.figures(), proof.failures)


class Recording:
    """Sends as the Python client does, and keeps what was sent."""

    def __init__(self, sent: list[bytes]) -> None:
        self._inner, self._sent = deniable.HTTPTransport(), sent

    def send(
        self, method: str, url: str, body: bytes | None, headers: Mapping[str, str], timeout: float
    ) -> deniable.Response:
        if body is not None:
            self._sent.append(body)
        return self._inner.send(method, url, body, headers, timeout)


class Proof:
    """What respondents sent and what their devices keep, and what is wrong with that."""

    def __init__(self, watch: Watch, people: int) -> None:
        self.failures: list[str] = []
        self.done = 0
        self._watch, self._people = watch, people
        self._lengths: dict[str, set[int]] = {"browser": set(), "Python": set()}
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    def figures(self) -> dict[str, int | float | str]:
        return {"people": self.done, **dict(sorted(self._counts.items()))}

    def _fail(self, what: str) -> None:
        if len(self.failures) < 20:
            self.failures.append(what)

    # --- the Python client ---

    def answer_in_python(self, base: str, people: range) -> None:
        """Each with a client of their own, as in an app; those who waver hand over answers that do not apply."""
        sent: list[bytes] = []
        transport = Recording(sent)

        def one(person: int) -> None:
            if self._watch.is_over:
                return
            with deniable.Client(f"{base}/s/respondents", transport=transport) as client:
                receipt = client.submit(answers(person), segments={"via": "pytho"}, timeout=60)
                delivered = receipt.delivered or client.flush(60)
            with self._lock:
                self._count("through the Python client")
                if not delivered:
                    self._fail("a submission of the Python client was not delivered")

        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(one, people))
        for body in sent:
            self._check_body("Python", body)

    def _count(self, how: str) -> None:
        self.done += 1
        self._counts[f"people {how}"] += 1
        self._watch.counts(self.done, self._people)

    # --- pages in a browser ---

    def answer_in_browsers(self, browser: Browser, base: str, people: range) -> None:
        """Each with a browser profile of their own: storage that nobody has used before."""
        for person in people:
            if self._watch.is_over:
                return
            context = browser.new_context(locale="en-GB")
            page = context.new_page()
            sent: list[str] = []
            page.on(
                "request", lambda each, sent=sent: sent.append(each.post_data or "") if each.method == "POST" else None
            )
            page.goto(f"{base}/s/respondents?one-page")
            ready(page)
            self._answer(page, person)
            review(page)
            send(page)
            self._look_at_device(page, sent)
            context.close()
            self._count("in a browser")

    def _answer(self, page: Page, person: int) -> None:
        given = answers(person)
        field(page, "via").get_by_label("In a browser").check()
        if field(page, "vaped").count():
            if wavers(person) and field(page, "stress").count() == 0:
                self._waver(page, vaped=given["vaped"])
            field(page, "vaped").get_by_label("Yes" if given["vaped"] else "No", exact=True).check()
            if field(page, "stress").count() == 0:
                self._follow(page, given)
        if field(page, "support").count():
            options = [field(page, "support").get_by_label(code.title(), exact=True) for code in given["support"]]
            asked = [option for option in options if option.count()]
            for option in asked or [field(page, "support").get_by_label("None of these")]:
                option.check()
        if field(page, "stress").count():
            field(page, "stress").get_by_label(SURVEY["questions"][4]["labels"][given["stress"] - 1]).check()
        if field(page, "hours").count():
            page.locator("#hours-number").fill(f"{given['hours']:g}")

    def _waver(self, page: Page, *, vaped: bool) -> None:
        """Answers both follow-ups, and takes back what they depend on: nothing of them may be left on the page."""
        field(page, "vaped").get_by_label("Yes", exact=True).check()
        field(page, "how_often").get_by_label("Daily").check()
        field(page, "quit").get_by_label("Yes", exact=True).check()
        field(page, "vaped").get_by_label("No", exact=True).check()
        if any(field(page, name).is_visible() for name in HIDDEN):
            self._fail("a follow-up is shown that does not apply")
        if vaped:
            field(page, "vaped").get_by_label("Yes", exact=True).check()
        self._counts["follow-ups shown and hidden again"] += 1

    def _follow(self, page: Page, given: dict[str, Any]) -> None:
        if given["vaped"]:
            field(page, "how_often").get_by_label(given["how_often"].title()).check()
            if given["how_often"] != "monthly":
                field(page, "quit").get_by_label("Yes" if given["quit"] else "No", exact=True).check()
        elif any(field(page, name).is_visible() for name in HIDDEN):
            self._fail("a follow-up is shown that does not apply")

    def _look_at_device(self, page: Page, sent: list[str]) -> None:
        """One request with the submission; and of what is kept, only the document has words of the survey in it."""
        bodies = [body for body in sent if body]
        if len(bodies) != 1:
            self._fail(f"{len(bodies)} requests with a body, not one")
            return
        self._check_body("browser", bodies[0].encode())
        stores = kept(page)
        words = ("vaped", "how_often", "quit", "daily", "monthly", "weekly", "support", "stress", "hours", "Frantic")
        for row in stores["surveys"]:
            del row["published"]
        for name, rows in stores.items():
            text = json.dumps(rows)
            if any(word in text for word in words):
                self._fail(f"what the device keeps under {name} has a word of an answer or a question")
        if any("body" in row for row in stores["ledger"]):
            self._fail("the device keeps what was delivered")
        self._counts["devices looked at"] += 1

    # --- what was sent ---

    def _check_body(self, how: str, body: bytes) -> None:
        tree = json.loads(body)
        if [*tree] != ["id", "digest", "booklet", "reports", "segments"] or len(tree["reports"]) != 1:
            self._fail(f"what is sent by {how} has other keys or reports than it should")
        self._lengths[how].add(len(body) - len(f"{tree['reports'][0]}"))
        self._counts["submissions whose length was compared"] += 1
        if len(self._lengths[how]) > 1:
            self._fail(f"the length of what is sent by {how} differs beyond the digits of the report")

    # --- what is estimated ---

    def look(self, database: Path, people: int) -> None:
        """Every interval has what is true of those who answered."""
        storage = open_storage(str(database))
        published = storage.find("respondents")
        assert published is not None
        statistics = storage.statistics(published)
        storage.close()
        cell = reduce(add, statistics.cells.values())
        if cell.submissions != people:
            self._fail(f"{cell.submissions} submissions are stored, not {people}")
        self._compare(verify(DOCUMENT), cell, truth(people))

    def _compare(self, document: Document, cell: Cell, true: dict[str, dict[str, float]]) -> None:
        sizes = [reports_of(document, cell, part) for part in range(len(document.parts))]
        counts = [each.tolist() for each in cell.counts]
        for question in document.survey.questions:
            about = {part for part, _ in document.parts_about(question.id)}
            asked = sum(
                int(n) for n, each in zip(cell.booklets, document.booklets, strict=True) if about & {*each.parts}
            )
            heard = gather(document, question, counts, sizes, asked)
            found = estimate_question(heard, Aim(confidence=CONFIDENCE, population=cell.submissions))
            numbers = [(share.code, share.low, share.high) for share in found.shares]
            if found.mean is not None:
                numbers.append(("mean", found.mean.low, found.mean.high))
            if found.applies is not msgspec.UNSET:
                numbers.append(("applies", found.applies.low, found.applies.high))
            for code, low, high in numbers:
                self._counts["intervals that were compared with the truth"] += 1
                value = true[question.id].get(code, 0.0)
                if not low <= value <= high:
                    self._fail(f"{question.id}, {code}: {value:.4f} is not between {low:.4f} and {high:.4f}")
