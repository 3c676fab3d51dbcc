"""The network client in a real Chromium, on a page of another origin, against a real server."""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request

from deniable_protocol import publish, survey_from_tree, verify
from deniable_server.storage import Storage, open_storage
from tests.helpers.chromium import FLAGS, find_chromium
from tests.helpers.embedder_site import (
    ANSWERS,
    SEGMENTS,
    TRUTH,
    Site,
    Survey,
    answer_with,
    flush,
    fulfil,
    hang_up,
    kept,
    load,
    lose,
    opened,
    run,
    settled,
    submit,
    tree,
    until,
)
from tests.helpers.fake_server import FakeServer
from tests.helpers.servers import Server, running

GONE: dict[str, Any] = {"id": None, "digest": None, "booklet": None, "reports": [], "segments": {}}
"""What a later visit no longer knows of a submission."""

LAUNCH: Any = {"executable_path": find_chromium(), "chromium_sandbox": os.getuid() != 0}
"""For tests that need a Chromium of their own."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("server")
    open_storage(str(folder / "server.db")).close()
    with running(folder / "server.db", folder / "log") as server:
        yield server


@pytest.fixture(scope="module")
def storage(server: Server) -> Iterator[Storage]:
    storage = open_storage(str(server.database))
    yield storage
    storage.close()


@pytest.fixture(scope="module")
def site(server: Server) -> Iterator[Site]:
    site = Site(server.base)
    yield site
    site.close()


@pytest.fixture
def new_survey(server: Server, storage: Storage, request: pytest.FixtureRequest) -> Callable[..., Survey]:
    start = hashlib.sha256(request.node.nodeid.encode()).hexdigest()[:12]
    made: list[Survey] = []

    def make(epsilon: str = "1.0") -> Survey:
        made.append(Survey(server, storage, f"s{start}-{len(made)}", epsilon))
        return made[-1]

    return make


@pytest.fixture
def survey(new_survey: Callable[..., Survey]) -> Survey:
    return new_survey()


@pytest.fixture
def visit(context: BrowserContext, site: Site, server: Server) -> Callable[[], Page]:
    """Opens a page of the other site, with the module loaded from the server."""
    return lambda: opened(context, site.base, server.base)


# Loading and submitting


def test_a_page_of_another_origin_submits(visit: Callable[[], Page], survey: Survey) -> None:
    """Under a strict policy, and with nothing but the module: what arrives is what the receipt says."""
    page = visit()
    faults: list[str] = []
    page.on("console", lambda message: faults.append(message.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    loaded = load(page, survey.link)
    published = json.loads(survey.document)
    assert (loaded["survey"], loaded["booklet"]) == (published["survey"], 0)
    assert loaded["questions"] == [question["id"] for question in published["survey"]["questions"]]
    assert (loaded["digest"], loaded["epsilon"]) == (survey.digest, "3.5")
    assert (loaded["closed"], loaded["offline"], loaded["persistent"]) == (False, False, True)
    assert loaded["receipt"] is None
    receipt = submit(page)
    assert receipt["delivered"] and receipt["refused"] is None and receipt["trouble"] is None
    assert (receipt["digest"], receipt["epsilon"], receipt["segments"]) == (survey.digest, "3.5", SEGMENTS)
    assert (receipt["booklet"], len(receipt["reports"])) == (0, len(ANSWERS))
    assert survey.ids() == [receipt["id"]]
    assert flush(page) is True
    assert faults == []


def test_requests_do_not_say_who_asks(
    context: BrowserContext, visit: Callable[[], Page], server: Server, survey: Survey
) -> None:
    """No cookie, referrer or language goes with a request, also on the server's own pages, where cookies usually do."""
    context.add_cookies([{"name": "visitor", "value": "73193", "url": server.base}])
    context.route(f"{server.base}/page", lambda route: route.fulfill(content_type="text/html", body="<p>A page</p>"))
    own = context.new_page()
    own.goto(f"{server.base}/page")
    own.evaluate("async () => { window.deniable = await import('/deniable.js'); }")
    for page, link in ((own, f"/s/{survey.name}"), (visit(), survey.link)):
        requests: list[Request] = []
        page.on("request", lambda request, into=requests: into.append(request))
        page.evaluate("(url) => fetch(url, { credentials: 'include', mode: 'no-cors' })", survey.api)
        load(page, f"{link}?from=mail")
        if page is own:
            assert submit(page)["delivered"]
        plain, *ours = [request for request in requests if "/api/" in request.url]
        assert "cookie" in plain.all_headers()  # the browser has one, and would send it
        assert [request.method for request in ours] == (["GET", "POST"] if page is own else ["GET"])
        for request in ours:
            headers = request.all_headers()
            assert not {"cookie", "referer", "authorization"} & set(headers)
            assert headers["accept-language"] == "*"
            assert "?" not in request.url and "visitor" not in str(headers)


def test_the_server_keeps_a_pinned_promise(visit: Callable[[], Page], survey: Survey) -> None:
    """The digest in a link may be in upper or lower case; any other digest is refused."""
    page = visit()
    assert load(page, f"{survey.link}#{survey.digest.upper()}")["digest"] == survey.digest
    assert load(page, f"{survey.api}#{'0' * 64}")["reason"] == "digest"
    assert load(page, f"{survey.link}#section")["reason"] == "address"


def test_documents_that_cannot_be_trusted_are_refused(
    context: BrowserContext, visit: Callable[[], Page], new_survey: Callable[..., Survey]
) -> None:
    """Tampered with, too large, or of another survey: each for its reason, and none is kept for later."""
    survey, other = new_survey(), new_survey()
    favour = b'"favour":6584790284608188'
    tampered = survey.document.replace(favour, b'"favour":6584790284608189')
    assert tampered != survey.document
    for document, reason in (
        (tampered, "channel"),
        (survey.document + b" " * 1_000_000, "size"),
        (other.document, "mismatch"),
        (b'{"deniable":1}', "missing"),
    ):
        answer_with(context, survey.api, fulfil(200, document))
        page = visit()
        assert load(page, survey.link)["reason"] == reason
        assert kept(page).get("surveys", []) == []
        context.unroute(survey.api)
    for reply in (
        fulfil(200, b"<html>Please accept the terms of this hotel", "text/html"),
        fulfil(200, b'{"login": "https://portal.example"}'),
        fulfil(200, survey.document[:-1]),
        fulfil(200, b"\xff" + survey.document),
        fulfil(302, b"", Location="/elsewhere"),
        fulfil(500, survey.document),
        hang_up,
    ):
        answer_with(context, survey.api, reply)
        assert load(visit(), survey.link)["reason"] == "unreachable"
        context.unroute(survey.api)
    missing = load(visit(), survey.link[:-1] + "9")
    assert missing["reason"] == "unreachable" and "404" in missing["message"]


def test_a_changed_document_is_refused(
    context: BrowserContext, visit: Callable[[], Page], new_survey: Callable[..., Survey]
) -> None:
    """A published survey never changes: once this device has seen one, another at its address is refused."""
    survey = new_survey()
    load(visit(), survey.link)
    changed = publish(survey_from_tree(tree(survey.name, "1.5")))
    answer_with(context, survey.api, fulfil(200, changed))
    error = load(visit(), survey.link)
    assert error["reason"] == "changed" and "Ask the people who run the survey" in error["message"]


def test_a_pinned_link_replaces_what_was_remembered(
    context: BrowserContext, visit: Callable[[], Page], survey: Survey
) -> None:
    """A pinned digest overrides what this device has seen: an altered document seen first blocks nothing."""
    answer_with(context, survey.api, fulfil(200, publish(survey_from_tree(tree(survey.name, "1.5")))))
    page = visit()
    assert load(page, survey.link)["digest"] != survey.digest
    assert load(page, survey.link)["reason"] == "changed"
    assert load(page, f"{survey.link}#{'0' * 64}")["reason"] == "digest"
    assert load(page, survey.link)["reason"] == "changed"  # a pin that does not match changes nothing
    assert load(page, f"{survey.link}#{survey.digest}")["digest"] == survey.digest
    assert load(page, survey.link)["digest"] == survey.digest


def test_a_known_survey_can_be_answered_without_a_network(
    context: BrowserContext, visit: Callable[[], Page], survey: Survey
) -> None:
    """Without a network the copy on this device is used, still checked against the pin; the submission waits."""
    page = visit()
    load(page, survey.link)
    context.set_offline(True)
    assert load(page, f"{survey.link}#{'0' * 64}")["reason"] == "digest"
    assert load(page, survey.link)["offline"] is True
    receipt = submit(page, timeout=0.3)
    assert not receipt["delivered"] and receipt["trouble"]
    assert survey.ids() == []
    context.set_offline(False)
    assert settled(page)["delivered"]
    assert survey.ids() == [receipt["id"]]


def test_what_does_not_fit_leaves_no_trace(visit: Callable[[], Page], survey: Survey) -> None:
    """Wrong answers are refused before anything is written, and the message never repeats them."""
    page = visit()
    load(page, survey.link)
    error = submit(page, answers={**ANSWERS, "drinks": 73193.5})
    assert error["reason"] == "range" and "73193" not in error["message"]
    assert kept(page)["ledger"] == []
    assert submit(page)["delivered"]


def test_the_module_is_all_that_a_client_needs(
    context: BrowserContext, visit: Callable[[], Page], server: Server, survey: Survey
) -> None:
    """Nothing else has to be loaded between loading and submitting, so nothing can fail to arrive."""
    asked = answer_with(context, f"{server.base}/deniable/*", *[hang_up] * 20)
    page = visit()
    assert load(page, survey.link)["digest"] == survey.digest
    assert submit(page)["delivered"]
    assert asked == []


# Once, and within the budget


def test_a_second_answer_is_refused(visit: Callable[[], Page], survey: Survey) -> None:
    """A second submission is refused with the receipt of the first, on the same page and on a later one."""
    page = visit()
    load(page, survey.link)
    receipt = submit(page)
    for again in (page, visit()):
        if again is not page:
            later = load(again, f"{survey.api}?utm_source=mail")["receipt"]
            assert later == receipt | GONE
        error = submit(again)
        assert (error["reason"], error["receipt"]) == ("already_answered", receipt if again is page else later)
    assert survey.ids() == [receipt["id"]]


def test_of_many_tabs_one_wins(visit: Callable[[], Page], survey: Survey) -> None:
    """Five tabs submit at the same moment: one submission, and four refusals that carry its receipt."""
    pages = [visit() for _ in range(5)]
    for page in pages:
        load(page, survey.link)
        page.evaluate(
            """([answers, segments]) => {
              window.result = new Promise((resolve) => {
                new BroadcastChannel("go").onmessage = () =>
                  resolve(window.client.submit(answers, segments).then(
                    ({ id, settled }) => settled.then(() => ["sent", id]),
                    (error) => [error.reason, error.receipt.epsilon]));
              });
            }""",
            [ANSWERS, SEGMENTS],
        )
    pages[0].evaluate("() => { new BroadcastChannel('go').postMessage(1); }")
    results = [page.evaluate("() => window.result") for page in pages]
    (winner,) = [submission for how, submission in results if how == "sent"]
    assert sorted(results) == sorted([["sent", winner], *[["already_answered", "3.5"]] * 4])
    assert survey.ids() == [winner]


def test_a_budget_is_exact_and_shared(visit: Callable[[], Page], new_survey: Callable[..., Survey]) -> None:
    """2.6 and 2.7 fit into 5.3, which doubles would deny; a third survey does not, and nothing is written or sent."""
    assert 2.6 + 2.7 > 5.3
    surveys = [new_survey(epsilon) for epsilon in ("0.1", "0.2", "0.01")]
    for survey in surveys[:2]:
        page = visit()
        load(page, survey.link, budget=5.3)
        assert submit(page)["delivered"]
    page = visit()
    error = load(page, surveys[2].link, budget="5.30")  # before anything is asked
    assert error["reason"] == "budget"
    more = "more than the budget of ε = 5.30, δ = 0.000001"
    assert error["message"] == f"this survey spends ε = 2.51, δ = 0, and ε = 5.3, δ = 0 is already spent: {more}"
    assert len(kept(page)["ledger"]) == 2 and surveys[2].ids() == []


def test_without_a_budget_ten_is_the_limit(visit: Callable[[], Page], new_survey: Callable[..., Survey]) -> None:
    """Two surveys of 3.5 fit; a third of 3.5 does not, wherever on this site it is opened."""
    surveys = [new_survey() for _ in range(3)]
    for survey in surveys[:2]:
        page = visit()
        load(page, survey.link)
        assert submit(page)["delivered"]
    assert load(visit(), surveys[2].link)["reason"] == "budget"
    assert load(visit(), surveys[2].link, budget=[10.5, 0])["receipt"] is None


# Delivery


def test_a_lost_response_is_no_second_submission(
    context: BrowserContext, visit: Callable[[], Page], survey: Survey
) -> None:
    """Responses are lost and a portal interferes: the same bytes are sent until the server's own word comes."""
    portal = fulfil(200, b"<html>Please log in", "text/html")
    asked = answer_with(context, f"{survey.api}/submissions", lose, portal, lose)
    page = visit()
    load(page, survey.link)
    assert submit(page)["delivered"]
    bodies = [request.post_data for request in asked if request.method == "POST"]
    assert len(bodies) == 4 and len(set(bodies)) == 1
    assert len(survey.ids()) == 1


def test_what_waits_is_sent_when_its_own_survey_is_opened(
    context: BrowserContext, visit: Callable[[], Page], new_survey: Callable[..., Survey]
) -> None:
    """The page is closed before anything got through. Visiting another survey of the site sends nothing, however often;
    opening its own survey sends the same bytes.
    """
    first, second = new_survey(), new_survey()
    asked = answer_with(context, f"{first.api}/submissions", *[hang_up] * 100)
    page = visit()
    load(page, first.link)
    receipt = submit(page, timeout=0)
    assert not receipt["delivered"]
    until(page, lambda: len(asked) == 1)  # of a page that closes while a request is held up, the request goes through
    page.close()
    assert first.ids() == []
    context.unroute(f"{first.api}/submissions")
    later = answer_with(context, f"{first.api}/submissions")
    for _ in range(3):
        page = visit()
        assert load(page, second.link)["receipt"] is None
        assert flush(page) is True
        page.wait_for_timeout(300)
        page.close()
    assert later == [] and first.ids() == []
    page = visit()
    assert load(page, first.link)["receipt"]["id"] == receipt["id"]
    until(page, lambda: first.ids() == [receipt["id"]])
    assert {request.post_data for request in asked + later if request.method == "POST"} == {later[-1].post_data}


def test_what_waited_two_weeks_is_dropped(context: BrowserContext, visit: Callable[[], Page], survey: Survey) -> None:
    """A visit on the fifteenth day sends nothing and finds no reports; the survey stays answered, and spent."""
    asked = answer_with(context, f"{survey.api}/submissions", *[hang_up] * 100)
    page = visit()
    load(page, survey.link)
    submit(page, timeout=0)
    until(page, lambda: len(asked) > 0)
    (row,) = kept(page)["ledger"]
    assert row["day"] == page.evaluate("Math.floor(Date.now() / 86400000)")
    page.close()
    tried = len(asked)
    page = visit()
    page.evaluate("() => { const { now } = Date; Date.now = () => now() + 15 * 86400000; }")
    later = load(page, survey.link)
    assert later["receipt"]["reports"] == [] and not later["receipt"]["delivered"]
    assert run(page, "return window.client.receipt.status;") == "expired"
    assert submit(page)["reason"] == "already_answered" and flush(page) is True
    (row,) = kept(page)["ledger"]
    assert {*row} == {"content", "epsilon", "delta", "status"}
    assert len(asked) == tried and survey.ids() == []


def test_no_cache_can_mark_a_device(context: BrowserContext, server: Server) -> None:
    """A server that tags each visitor with an ETag, to be kept for a year, never gets it back. A redirect is refused.

    Nothing is routed here: a browser whose requests are routed has no cache.
    """
    document = publish(survey_from_tree(tree("tagged")))
    shared = {"Access-Control-Allow-Origin": "*", "Content-Type": "application/json"}
    marked = {**shared, "ETag": '"visitor-1"', "Cache-Control": "max-age=31536000"}
    with FakeServer(document) as tagging, FakeServer(document) as elsewhere, FakeServer() as pages:
        pages.replies = [(200, {"Content-Type": "text/html"}, b"<!doctype html><title>A page</title>")] * 20
        away = {**shared, "Location": f"{elsewhere.origin}/api/v1/surveys/tagged"}
        tagging.replies = [*[(200, marked, document)] * 3, (302, away, b""), (307, away, b"")]
        for visit in range(5):
            page = context.new_page()
            page.goto(f"{pages.origin}/page")
            page.evaluate("async (module) => { window.deniable = await import(module); }", f"{server.base}/deniable.js")
            loaded = load(page, f"{tagging.origin}/s/tagged")
            assert loaded.get("offline") is (visit >= 3), loaded  # then the copy on this device
            page.close()
        assert len(tagging.requests) == 5  # none was answered by a cache
        for request in tagging.requests:
            assert not {"if-none-match", "if-modified-since"} & {name.lower() for name in request.headers}
        assert elsewhere.requests == []


def test_coming_online_cuts_pauses_short_but_not_those_the_server_wants(
    context: BrowserContext, visit: Callable[[], Page], survey: Survey
) -> None:
    """With the clock stopped, the online event alone brings on the next attempt, but no sooner than Retry-After."""
    busy = fulfil(503, b"{}", "application/problem+json", **{"Retry-After": "5"})
    asked = answer_with(context, f"{survey.api}/submissions", hang_up, busy)
    page = visit()
    load(page, survey.link)
    page.evaluate(  # the longest pause that jitter can give
        """() => {
          const real = crypto.getRandomValues.bind(crypto);
          crypto.getRandomValues = (array) => (array instanceof Uint32Array ? array.fill(0xffffffff) : real(array));
          const send = window.fetch;
          window.sent = [];
          window.fetch = (...request) => (window.sent.push(Date.now()), send(...request));
        }"""
    )
    page.clock.install()
    page.clock.pause_at("2100-01-01")
    page.evaluate(
        """([answers, segments]) => { window.client.submit(answers, segments, { timeout: 0.1 }); }""",
        [ANSWERS, SEGMENTS],
    )

    def trouble(words: str) -> bool:
        return words in (page.evaluate("() => window.client.receipt?.trouble") or "")

    until(page, lambda: len(asked) > 0)
    page.clock.run_for(100)  # submit has waited long enough, and gives the receipt
    until(page, lambda: trouble("Failed to fetch"))
    page.evaluate("() => { window.dispatchEvent(new Event('online')); }")
    page.clock.run_for(2)
    until(page, lambda: trouble("503"))
    page.evaluate("() => { window.dispatchEvent(new Event('online')); }")
    page.clock.run_for(4900)
    page.clock.run_for(200)
    assert settled(page)["delivered"]
    first, second, third = page.evaluate("() => window.sent")
    assert second - first < 400  # without the event, the first pause would have been of 500 ms
    assert 5000 <= third - second < 5200  # the server asked for 5 s, and jitter would have added another


# Closed surveys and refusals


def test_a_closed_survey_is_refused_before_anything_is_randomised(visit: Callable[[], Page], survey: Survey) -> None:
    """The client says that it is closed, and submit refuses without a trace."""
    survey.close()
    page = visit()
    assert load(page, survey.link)["closed"] is True
    page.evaluate("() => { crypto.getRandomValues = () => { throw new Error('randomised'); }; }")
    assert submit(page)["reason"] == "closed"
    assert kept(page)["ledger"] == []


def test_a_survey_that_closes_meanwhile(visit: Callable[[], Page], survey: Survey) -> None:
    """The server's refusal is the reason; the ledger keeps it as spent, also for later visits."""
    page = visit()
    load(page, survey.link)
    survey.close()
    error = submit(page)
    assert error["reason"] == "closed" and "Survey closed" in error["message"]
    assert error["receipt"]["refused"]["title"] == "Survey closed" and not error["receipt"]["delivered"]
    assert run(page, "return window.client.closed;") is True
    assert submit(page)["reason"] == "already_answered"
    (row,) = kept(page)["ledger"]
    assert row["status"] == "refused"
    later = load(visit(), survey.link)
    assert later["receipt"] == error["receipt"] | GONE | {"refused": {}} and later["closed"] is True


def test_any_other_refusal_is_for_good(context: BrowserContext, visit: Callable[[], Page], survey: Survey) -> None:
    """A problem document of a status that will not change ends delivery, with the server's words."""
    body = json.dumps({"type": "urn:deniable:problem:invalid", "title": "The content\n does not fit", "detail": "So."})
    asked = answer_with(
        context, f"{survey.api}/submissions", fulfil(422, body.encode(), "application/problem+json; charset=utf-8")
    )
    page = visit()
    load(page, survey.link)
    error = submit(page)
    assert error["reason"] == "refused" and "The content  does not fit: So." in error["message"]
    assert flush(page) is True
    assert sum(request.method == "POST" for request in asked) == 1


# What this device keeps


def test_only_randomised_content_is_kept(context: BrowserContext, visit: Callable[[], Page], survey: Survey) -> None:
    """The database contains the document as published, the number of the booklet, and the submission while it waits;
    then only what it spent. Nothing is kept anywhere else.
    """
    content = verify(survey.document).content
    asked = answer_with(context, f"{survey.api}/submissions", *[hang_up] * 100)
    page = visit()
    load(page, survey.link)
    receipt = submit(page, timeout=0)
    found = kept(page)
    assert set(found) == {"surveys", "ledger", "tokens", "elsewhere"} and found["elsewhere"] == found["tokens"] == []
    published = {"content": content, "digest": survey.digest, "published": survey.document.decode()}
    assert found["surveys"] == [{"address": survey.api, "booklet": 0, **published}]
    (row,) = found["ledger"]
    body = json.loads(row.pop("body"))
    assert body == {key: receipt[key] for key in ("id", "digest", "booklet", "reports", "segments")}
    assert all(type(report) is int for report in body["reports"])
    assert type(row.pop("day")) is int
    spent = {"content": content, "epsilon": "3.5", "delta": "0"}
    assert row == {**spent, "status": "waiting", "id": receipt["id"], "address": survey.api}
    context.unroute(f"{survey.api}/submissions")
    assert flush(page) is True and asked
    assert kept(page)["ledger"] == [{**spent, "status": "delivered"}]
    assert load(page, survey.link)["receipt"]["reports"] == receipt["reports"]  # this page still has them
    assert load(visit(), survey.link)["receipt"]["reports"] == []


def test_forgetting_leaves_nothing(context: BrowserContext, visit: Callable[[], Page], survey: Survey) -> None:
    """forget() empties the database of the survey; while something waits, only if the page says so."""
    asked = answer_with(context, f"{survey.api}/submissions", *[hang_up] * 100)
    page = visit()
    load(page, survey.link)
    submit(page, timeout=0)
    until(page, lambda: len(asked) > 0)
    assert run(page, "await window.client.forget();")["reason"] == "waiting"
    run(page, "await window.client.forget({ unsent: true });")
    assert kept(page)["ledger"] == kept(page)["surveys"] == []
    tried = len(asked)
    context.unroute(f"{survey.api}/submissions")
    assert load(visit(), survey.link)["receipt"] is None
    page.wait_for_timeout(1000)
    assert len(asked) == tried and survey.ids() == []


def test_every_write_waits_for_the_disk(context: BrowserContext, visit: Callable[[], Page], survey: Survey) -> None:
    """What the client writes is on disk before it goes on: every transaction asks for strict durability."""
    context.add_init_script(
        """window.modes = [];
           const { transaction } = IDBDatabase.prototype;
           IDBDatabase.prototype.transaction = function (...given) {
             const made = transaction.apply(this, given);
             window.modes.push([made.mode, made.durability]);
             return made;
           };"""
    )
    page = visit()
    load(page, survey.link)
    assert submit(page)["delivered"]
    modes = page.evaluate("window.modes")
    assert len(modes) >= 4 and all(durability == "strict" for mode, durability in modes if mode != "readonly")
    assert any(mode == "readwrite" for mode, _ in modes)


@pytest.mark.parametrize("stores", [[], ["surveys"], ["ledger"]])
def test_a_database_without_its_stores_is_no_new_ledger(
    visit: Callable[[], Page], survey: Survey, stores: list[str]
) -> None:
    """Stores that are missing are an error, and are not made again."""
    page = visit()
    page.evaluate(
        """(stores) => new Promise((resolve) => {
          const request = indexedDB.open("deniable", 1);
          request.onupgradeneeded = () => {
            for (const name of stores) request.result.createObjectStore(name, { keyPath: "content" });
          };
          request.onsuccess = () => (request.result.close(), resolve());
        })""",
        stores,
    )
    assert load(page, survey.link)["reason"] == "storage"


WRONG = [
    {"epsilon": None}, {"epsilon": "x"}, {"epsilon": 3.5}, {"delta": None}, {"status": "waiting"},
    {"status": "waiting", "body": "{", "day": 99999},
]  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_a_row_that_cannot_be_read_is_no_new_ledger(
    visit: Callable[[], Page], new_survey: Callable[..., Survey], wrong: dict[str, Any]
) -> None:
    """A ledger with one wrong value stops every survey: what was spent is not known any more."""
    survey, other = new_survey(), new_survey()
    page = visit()
    load(page, survey.link)
    submit(page)
    page.evaluate(
        """(wrong) => new Promise((resolve) => {
          indexedDB.open("deniable").onsuccess = ({ target: { result } }) => {
            const transaction = result.transaction("ledger", "readwrite");
            const store = transaction.objectStore("ledger");
            store.getAll().onsuccess = (event) => store.put({ ...event.target.result[0], ...wrong });
            transaction.oncomplete = () => (result.close(), resolve());
          };
        })""",
        wrong,
    )
    for each in (survey, other):
        assert load(visit(), each.link)["reason"] == "storage"
    assert len(survey.ids()) == 1


def test_no_answer_reaches_the_disk(
    browser: Browser, tmp_path: Path, server: Server, site: Site, survey: Survey
) -> None:
    """In no file of a whole profile is there a trace of a number that was answered, as text or as a double."""
    profile = tmp_path / "profile"
    context = browser.browser_type.launch_persistent_context(profile, **LAUNCH, args=FLAGS)
    page = opened(context, site.base, server.base)
    load(page, survey.link)
    answer_with(context, f"{survey.api}/submissions", *[hang_up] * 100)
    receipt = submit(page, timeout=0)
    context.close()
    content = b"\n".join(path.read_bytes() for path in profile.rglob("*") if path.is_file())
    assert receipt["id"].encode() in content  # this is where it would be
    for trace in (
        str(TRUTH).encode(),
        str(TRUTH).encode("utf-16-le"),
        struct.pack("<d", TRUTH),
        struct.pack(">d", TRUTH),
    ):
        assert trace not in content


@pytest.mark.parametrize(
    "broken",
    [
        "Object.defineProperty(window, 'indexedDB', { value: undefined })",
        "indexedDB.open = () => { throw new DOMException('not here', 'SecurityError'); }",
        """indexedDB.open = () => {
             const request = { error: new DOMException('not in this mode', 'InvalidStateError') };
             setTimeout(() => request.onerror());
             return request;
           }""",
    ],
)
def test_without_a_database_it_works_in_memory(
    context: BrowserContext, visit: Callable[[], Page], survey: Survey, broken: str
) -> None:
    """If the browser keeps nothing, the page itself remembers: one submission, even when responses are lost."""
    context.add_init_script(broken)
    answer_with(context, f"{survey.api}/submissions", lose)
    page = visit()
    assert load(page, survey.link)["persistent"] is False
    receipt = submit(page)
    assert receipt["delivered"]
    assert load(page, survey.link)["receipt"] == receipt
    assert submit(page)["reason"] == "already_answered"
    assert survey.ids() == [receipt["id"]]


@pytest.mark.parametrize("event", ["onerror", "onblocked", ""])
def test_a_database_that_fails_is_not_taken_for_none(
    context: BrowserContext, visit: Callable[[], Page], survey: Survey, event: str
) -> None:
    """If the database fails, is blocked or never responds, past answers are unknown, so nothing is sent."""
    asked = answer_with(context, f"{survey.api}/submissions")
    page = visit()
    page.evaluate(
        """(event) => {
          const { open } = IDBFactory.prototype;
          window.mend = () => { IDBFactory.prototype.open = open; };
          IDBFactory.prototype.open = () => {
            const request = { error: new DOMException("Internal error", "UnknownError") };
            window.tried = true;
            setTimeout(() => request[event]?.());
            return request;
          };
        }""",
        event,
    )
    page.clock.install()
    page.evaluate(
        """(link) => {
          const { Client } = window.deniable;
          window.failure = Client.load(link).then(() => null, ({ reason, message }) => [reason, message]);
        }""",
        survey.link,
    )
    until(page, lambda: page.evaluate("window.tried === true"))
    page.clock.run_for(10_100)
    reason, message = page.evaluate("window.failure")
    assert reason == "storage" and ("UnknownError" if event == "onerror" else "TimeoutError") in message
    page.evaluate("window.mend()")
    assert load(page, survey.link)["persistent"] is True
    assert asked == []


def test_a_full_disk_stops_before_anything_is_sent(
    context: BrowserContext, visit: Callable[[], Page], survey: Survey
) -> None:
    """A submission that cannot be written to the outbox is not sent. The reason is storage, and trying again works."""
    asked = answer_with(context, f"{survey.api}/submissions")
    page = visit()
    load(page, survey.link)
    page.evaluate(
        """() => {
          window.put = IDBObjectStore.prototype.put;
          IDBObjectStore.prototype.put = () => { throw new DOMException("full", "QuotaExceededError"); };
        }"""
    )
    error = submit(page)
    assert error["reason"] == "storage" and "QuotaExceededError" in error["message"]
    assert asked == []
    page.evaluate("() => { IDBObjectStore.prototype.put = window.put; }")
    assert submit(page)["delivered"]


def test_a_ledger_of_a_newer_version_is_not_ignored(visit: Callable[[], Page], survey: Survey) -> None:
    """A database that this version cannot read stops the client: answers recorded there must not be given again."""
    page = visit()
    page.evaluate(
        """() => new Promise((resolve) => {
          indexedDB.open("deniable", 2).onsuccess = (event) => { event.target.result.close(); resolve(); };
        })"""
    )
    assert load(page, survey.link)["reason"] == "storage"


def test_a_page_on_plain_http_is_told_why_it_cannot_work(browser: Browser, server: Server, survey: Survey) -> None:
    """Without secure randomness nothing is randomised, and the message says what to do."""
    rules = "--host-resolver-rules=MAP *.test 127.0.0.1"
    base = f"http://survey.test:{server.port}"
    second = browser.browser_type.launch(**LAUNCH, args=[*FLAGS, rules])
    try:
        page = opened(second.new_context(), base, base)
        error = load(page, f"{base}/s/{survey.name}")
        assert error["reason"] == "crypto" and "https" in error["message"]
    finally:
        second.close()


# The element


def test_the_element_loads_what_renders_it(context: BrowserContext, server: Server, visit: Callable[[], Page]) -> None:
    """Once per connection and change of src, with properties that were set before; nothing is loaded without one."""
    told = """
      const tell = (what, host) => window.calls.push([what, host.getAttribute("src"), host.budget ?? null]);
      export const connect = (host, { Client, shownQuestions }) => {
        const given = Client === window.deniable.Client && shownQuestions === window.deniable.shownQuestions;
        tell(given ? "connect" : "?", host);
      };
      export const disconnect = (host) => tell("disconnect", host);
    """
    asked = answer_with(
        context, f"{server.base}/deniable/survey-element.js", fulfil(200, told.encode(), "text/javascript")
    )
    page = visit()
    assert asked == []
    calls = page.evaluate(
        """async () => {
          window.calls = [];
          const pause = () => new Promise((resolve) => setTimeout(resolve, 50));
          const until = async (count) => { while (window.calls.length < count) await pause(); };
          const host = document.createElement("deniable-survey");
          host.budget = 3;
          host.setAttribute("src", "/s/one");
          document.body.append(host);
          await until(1);
          host.setAttribute("src", "/s/two");
          await until(2);
          host.remove();
          await until(3);
          host.setAttribute("src", "/s/three");
          await pause();
          return window.calls;
        }"""
    )
    assert calls == [["connect", "/s/one", 3], ["connect", "/s/two", 3], ["disconnect", "/s/two", 3]]


def test_an_element_that_was_there_first_is_connected_once(context: BrowserContext, server: Server, site: Site) -> None:
    """An element in the page's own markup, with its properties, is upgraded when the module arrives."""
    told = "export const connect = (host) => window.calls.push([host.getAttribute('src'), host.budget]);"
    answer_with(context, f"{server.base}/deniable/survey-element.js", fulfil(200, told.encode(), "text/javascript"))
    page = context.new_page()
    page.goto(site.base)
    calls = page.evaluate(
        """async (module) => {
          window.calls = [];
          const host = document.createElement("deniable-survey");
          host.setAttribute("src", "/s/one");
          host.budget = "2.5";
          document.body.append(host);
          await import(module);
          while (!window.calls.length) await new Promise((resolve) => setTimeout(resolve, 20));
          await new Promise((resolve) => setTimeout(resolve, 50));
          return window.calls;
        }""",
        f"{server.base}/deniable.js",
    )
    assert calls == [["/s/one", "2.5"]]
