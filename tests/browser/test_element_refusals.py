"""<deniable-survey> where it is not easy: surveys that mean harm, unusual channels, and every reason to refuse."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from deniable_protocol import publish, survey_from_tree, verify
from deniable_server.storage import open_storage
from tests.helpers.embedder_site import until
from tests.helpers.questionnaire import (
    API,
    DRINKS,
    ONE_PAGE,
    SENT,
    SURVEY,
    Faults,
    alert,
    embed,
    field,
    fill,
    open_survey,
    overflows,
    ready,
    review,
    send,
    shadow_text,
    site,
    status,
)
from tests.helpers.servers import Server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, everything: bytes) -> Iterator[Server]:
    with site(tmp_path_factory.mktemp("site"), everything, HOSTILE, EVERY_MECHANISM, ODD_NAMES) as server:
        yield server


# --- surveys that mean harm -----------------------------------------------------------------------------------------

EVIL = (
    "<script>globalThis.harmed = 1</script><img src=x onerror='harmed = 1'><svg onload='harmed=1'> javascript:harmed=1 "
    "{progress} " + "Z" * 300 + "a" + "\u0489" * 200 + " "
    "${harmed=1} {{harmed=1}} &lt;b&gt;"
)  # fmt: skip


def asked(name: str, kind: str, text: str, epsilon: float = 1, **own: Any) -> dict[str, Any]:
    return {"id": name, "type": kind, "text": text, "epsilon": epsilon, **own}


HARMFUL = [{"code": f"o{i}", "text": EVIL} for i in range(14)]
HOSTILE = publish(
    survey_from_tree(
        {
            "id": "hostile",
            "title": EVIL,
            "notice": EVIL,
            "segments": [{"id": "s", "text": EVIL, "options": HARMFUL[:2]}],
            "questions": [
                asked("yes", "yes_no", EVIL),
                asked("choice", "choice", EVIL, options=HARMFUL),
                asked("multi", "multi_choice", EVIL, options=HARMFUL[:2]),
                asked("scale", "scale", EVIL, labels=[EVIL, "y", EVIL], measure="mean"),
                asked("number", "number", EVIL, min=-1e15, max=1e15, unit=EVIL),
                asked("constructor", "number", "__proto__", min=0, max=1, unit="ريال"),
            ],
        }
    )
)


@pytest.mark.parametrize("width", [360, 1200])
def test_hostile_texts_are_only_text(browser: Browser, server: Server, width: int) -> None:
    """Markup, script, endless words and towers of accents run and load nothing, and fit the page."""
    context = browser.new_context(viewport={"width": width, "height": 800})
    page = context.new_page()
    faults = Faults(page)
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(f"{server.base}/s/hostile?one-page")
    for more in ("How can that be?", "Who could learn my answers?"):
        page.get_by_role("button", name=more).click()
        page.get_by_role("heading", name=more).wait_for()
        assert not overflows(page)
        page.get_by_role("button", name="Got it").click()
        page.get_by_role("button", name="Start", exact=True).wait_for()
        assert not overflows(page)
    ready(page)
    loaded = len(requests)
    assert not overflows(page)
    page.get_by_role("button", name="Check your answers").click()
    assert not overflows(page)
    for name in ("s", "yes", "choice", "multi", "scale"):
        field(page, name).locator("input").first.check()
    page.locator("#number-number").fill("-5")
    page.locator("#constructor-number").fill("0.5")
    for summary in page.locator("deniable-survey summary").all():
        summary.click()
    assert not overflows(page)
    review(page)
    assert not overflows(page)
    send(page)
    page.get_by_text("See what was sent").click()
    assert not overflows(page)
    assert page.evaluate("globalThis.harmed") is None
    foreign = "script, img, iframe, a, b:not(.point), [onload], [onerror]"
    inside = f"(host) => host.shadowRoot.querySelectorAll('{foreign}').length"
    assert page.locator("deniable-survey").evaluate(inside) == 0
    assert requests[loaded:] == [f"{server.base}/api/v1/surveys/hostile/submissions"]
    assert EVIL[:40] in shadow_text(page)
    assert faults == []
    context.close()


FIFTY = [{"code": f"o{i}", "text": f"Option {i}"} for i in range(50)]
EVERY_MECHANISM = publish(
    survey_from_tree(
        {
            "id": "mechanisms",
            "title": "Mechanisms",
            "questions": [
                asked("krr", "choice", "k", 0.5, mechanism="krr", options=FIFTY),
                asked("subsets", "choice", "s", 0.5, decline=True, options=FIFTY),
                asked("exponential", "scale", "e", mechanism="exponential", labels=[f"{i}" for i in range(11)]),
                asked("laplace", "number", "l", min=-5, max=5, mechanism="laplace"),
                asked("gaussian", "number", "g", min=0, max=1, mechanism="gaussian", delta="0.000001"),
                asked("hardly", "yes_no", "h", 10),
            ],
        }
    )
)


def test_every_mechanism_is_explained(page: Page, server: Server) -> None:
    """Textbook channels, fifty options and an epsilon of 10 have their words, honest ones, before and after."""
    faults = Faults(page)
    page.goto(
        embed(
            page, server.base, '<deniable-survey one-page src="/s/mechanisms" budget="14 0.000001"></deniable-survey>'
        )
    )
    expect(page.locator(".promise")).to_contain_text("But they are hardly protected: what is sent gives them away")
    ready(page)
    assert "at least 45 times in 1,000,000, your device sends the opposite" in field(page, "hardly").inner_text()
    assert "only weakly protected" in field(page, "hardly").inner_text()
    field(page, "gaussian").locator("summary").click()
    assert "δ = 0.000001" in field(page, "gaussian").inner_text()
    for name in ("krr", "subsets", "exponential", "hardly"):
        field(page, name).locator("input").first.check()
    page.locator("#laplace-number").fill("-2,5")
    page.locator("#gaussian-number").fill("0.5")
    review(page)
    send(page)
    text = shadow_text(page)
    for word in ("undefined", "NaN", "Infinity", "{"):
        assert word not in text
    assert "22,026.47 times" in text and "protects hardly at all" in text
    assert faults == []


ODD_NAMES = publish(
    survey_from_tree(
        {
            "id": "odd-names",
            "title": "Names that the form uses itself",
            "segments": [{"id": "progress", "text": "p", "options": [{"code": c, "text": c} for c in ("a", "b")]}],
            "questions": [
                asked("field", "number", "First", min=0, max=10),
                asked("error", "multi_choice", "Second", options=[{"code": c, "text": c} for c in ("a", "b")]),
                asked("number", "yes_no", "Third"),
                asked("hint", "scale", "Fourth", 4, labels=["a", "b", "c", "d", "e"], measure="mean"),
            ],
        }
    )
)


def test_no_name_of_a_question_confuses_the_form(page: Page, server: Server) -> None:
    """No two elements have the same id, and every label and error belongs to its own question."""
    open_survey(page, server, "/s/odd-names")
    ids = "(host) => [...host.shadowRoot.querySelectorAll('[id]')].map((element) => element.id)"
    found = page.locator("deniable-survey").evaluate(ids)
    assert len(set(found)) == len(found) > 10
    page.get_by_role("button", name="Check your answers").click()
    for name in ("progress", "field", "error", "number", "hint"):
        expect(field(page, name).locator(".error")).to_be_visible()
    page.get_by_label("A number from 0 to 10").fill("3")
    expect(field(page, "field").locator(".error")).to_be_hidden()
    expect(field(page, "number").locator(".error")).to_be_visible()


def test_weak_protection_is_shown_in_every_view(page: Page, server: Server) -> None:
    """Weak protection is named before anything is asked, below the question, in the review, and with what was sent."""
    weak = "This answer is only weakly protected"
    hardly = "But they are hardly protected: what is sent gives them away nearly always."
    page.goto(f"{server.base}/s/odd-names?one-page")
    expect(page.locator(".promise")).to_contain_text(hardly)
    ready(page)
    expect(field(page, "hint")).to_contain_text(f"{weak}: what is sent may give it away.")
    expect(field(page, "number")).not_to_contain_text("weakly")
    for name in ("progress", "error", "number", "hint"):
        field(page, name).locator("input").first.check()
    page.locator("#field-number").fill("3")
    review(page)
    expect(page.locator(".review > .weak")).to_contain_text(hardly)
    send(page)
    page.get_by_text("See what was sent").click()
    expect(page.get_by_text("Chance has changed this only a little: it may give your answers away.")).to_be_visible()
    cells = page.locator("td.why > div").all_text_contents()
    assert [cell.startswith(weak) for cell in cells] == [False, False, False, True, False]
    assert "nobody can" not in shadow_text(page).lower()


# --- when it cannot be done -----------------------------------------------------------------------------------------


def tampered(everything: bytes) -> bytes:
    """The first question's channel gives more away than the survey says."""
    return everything.replace(b'"favour":6584790284608188', b'"favour":9000000000000000', 1)


def answer_with(page: Page, body: bytes | None) -> None:
    def reply(route: Route) -> None:
        route.abort() if body is None else route.fulfill(body=body, content_type="application/json")

    page.route(f"**{API}", reply)


def failed(page: Page, address: str, title: str, reason: str) -> None:
    """Open an address, and see this message and event; no question is shown."""
    page.add_init_script(
        "document.addEventListener('deniable-failed', (e) => (globalThis.why = e.detail.reason)); "
        "document.addEventListener('deniable-ready', () => (globalThis.why = 'ready'));"
    )
    page.goto(address)
    expect(alert(page).get_by_role("heading")).to_have_text(title)
    assert page.evaluate("globalThis.why") == reason
    assert page.locator("deniable-survey").evaluate("(host) => host.shadowRoot.querySelectorAll('input').length") == 0


def test_another_survey_than_the_link_promised(page: Page, server: Server) -> None:
    """A digest in the page's own address is held against the document."""
    failed(page, f"{server.base}{SURVEY}#{'0' * 64}", "This is not the survey that the link promised", "digest")


def test_the_right_digest_in_the_address(page: Page, server: Server, everything: bytes) -> None:
    """The pinned link opens the survey; a change of the address alone is noticed, too."""
    open_survey(page, server, f"{SURVEY}#{verify(everything).digest}")
    page.evaluate("location.hash = '1'.repeat(64)")
    expect(page.get_by_role("heading", name="not the survey that the link promised")).to_be_visible()


def test_an_address_that_names_what_was_verified_already(page: Page, server: Server, everything: bytes) -> None:
    """Adding the right digest to the address, or taking it away, costs no answer."""
    open_survey(page, server)
    fill(page)
    for address in ("#" + verify(everything).digest.upper(), ONE_PAGE):
        page.evaluate(
            """(address) => {
              history.replaceState(null, "", address);
              window.dispatchEvent(new HashChangeEvent("hashchange"));
            }""",
            address,
        )
        expect(page.locator("#progress-text")).to_have_text("Answered: 9 of 9")


def test_a_pinned_link_is_stronger_than_what_was_seen_before(
    context: BrowserContext, page: Page, server: Server, everything: bytes
) -> None:
    """After one altered document the genuine one opens by its pinned link, and from then on by any. It is another
    survey: where the altered one was answered, that counts in the budget.
    """
    altered = everything.replace(b"vaped in", b"smoked in").replace(b'"vaped"', b'"smoked"')
    answer_with(page, altered)
    open_survey(page, server)
    page.unroute(f"**{API}")
    failed(page, server.base + SURVEY, "This survey has changed", "changed")
    page.goto("about:blank")
    open_survey(page, server, f"{SURVEY}#{verify(everything).digest}")
    page.goto("about:blank")
    open_survey(page, server)
    answer_with(page, altered)
    page.goto("about:blank")
    open_survey(page, server, f"{SURVEY}#{verify(altered).digest}")
    field(page, "smoked").get_by_label("Yes").check()
    for name in ("campus", "harassed", "substance", "support", "stress", "wellbeing"):
        field(page, name).locator("input").first.check()
    page.locator("#drinks-number").fill("1")
    page.locator("#debt-number").fill("1")
    review(page)
    counted = '{"accepted": 1, "duplicates": 0}'
    page.route(f"**{API}/submissions", lambda route: route.fulfill(status=201, body=counted))
    send(page)
    page.unroute(f"**{API}")
    page.goto("about:blank")
    page.goto(f"{server.base}{SURVEY}#{verify(everything).digest}")
    expect(alert(page).get_by_role("heading")).to_have_text("This survey asks for more than this device allows")


def test_a_survey_that_breaks_its_promise(page: Page, server: Server, everything: bytes) -> None:
    """A channel that protects less than it says is refused before anything is asked."""
    answer_with(page, tampered(everything))
    failed(page, server.base + SURVEY, "This survey does not protect answers as it says", "channel")


def test_a_survey_that_changed(page: Page, server: Server, everything: bytes) -> None:
    """Another document at an address that this device has seen is refused."""
    open_survey(page, server)
    answer_with(page, everything.replace(b"vaped in", b"smoked in"))
    failed(page, server.base + SURVEY, "This survey has changed", "changed")


def test_a_link_that_lost_a_part(page: Page, server: Server) -> None:
    """Half a digest is an error, not a missing digest."""
    for rest in ("#abc", "#"):
        page.goto("about:blank")
        failed(page, f"{server.base}{SURVEY}{rest}", "This link is not complete", "address")


def test_no_secure_randomness(page: Page, server: Server) -> None:
    """A browser without secure randomness gets a message about what to use instead."""
    page.add_init_script("Object.defineProperty(crypto, 'subtle', {value: undefined})")
    failed(page, server.base + SURVEY, "This browser cannot protect your answers here", "crypto")


def test_no_network_and_trying_again(page: Page, server: Server) -> None:
    """An unreachable server is reported as such, and one button tries again."""
    answer_with(page, None)
    failed(page, server.base + SURVEY, "The survey cannot be reached", "unreachable")
    page.unroute(f"**{API}")
    page.get_by_role("button", name="Try again").click()
    ready(page)


def test_a_survey_that_this_device_has_seen_before(page: Page, server: Server) -> None:
    """Without a network the saved copy is shown, with a note that it is a copy."""
    open_survey(page, server)
    answer_with(page, None)
    page.goto(server.base + SURVEY)
    expect(page.get_by_text("This is a copy of the survey that was kept on this device")).to_be_visible()
    ready(page)


def test_a_closed_survey(context: BrowserContext, tmp_path: Path, everything: bytes) -> None:
    """A closed survey says so before anybody fills it in, and if it closes meanwhile; those who answered see that."""
    with site(tmp_path, everything) as server:
        page, early = context.new_page(), context.browser.new_context().new_page()  # type: ignore[union-attr]
        open_survey(early, server)
        fill(early)
        review(early)
        send(early)
        page.bring_to_front()
        open_survey(page, server)
        fill(page)
        review(page)
        storage = open_storage(str(server.database))
        published = storage.find("campus-health")
        assert published is not None
        storage.close_survey(published)
        storage.close()
        page.get_by_role("button", name="Send", exact=True).click()
        expect(alert(page).get_by_role("heading")).to_have_text("This survey is closed")
        early.bring_to_front()
        early.reload()
        expect(alert(early).get_by_role("heading")).to_have_text("This survey was already answered on this device")
        late = context.browser.new_context().new_page()  # type: ignore[union-attr]
        late.goto(server.base + SURVEY)
        expect(alert(late).get_by_role("heading")).to_have_text("This survey is closed")
        for other in (early, late):
            other.context.close()


def test_a_budget_that_is_too_small(page: Page, server: Server) -> None:
    """The page's own limit applies, as property or attribute: nothing is asked. A larger one lets it through."""
    title = "This survey asks for more than this device allows"
    script = "addEventListener('DOMContentLoaded', () => document.querySelector('deniable-survey').budget = 9)"
    failed(
        page,
        embed(page, server.base, f'<deniable-survey one-page src="{SURVEY}"></deniable-survey>', script=script),
        title,
        "budget",
    )
    for limit in ("9.9999", "10 x"):
        page.goto(
            embed(page, server.base, f'<deniable-survey one-page src="{SURVEY}" budget="{limit}"></deniable-survey>')
        )
        expect(alert(page)).to_be_visible()
    page.locator("deniable-survey").evaluate("(host) => host.setAttribute('budget', '10 0')")
    ready(page)


def test_without_a_limit_of_its_own_the_page_has_one(page: Page, server: Server) -> None:
    """A survey beyond ε = 10 asks nothing on the hosted page, and says why."""
    failed(page, f"{server.base}/s/mechanisms", "This survey asks for more than this device allows", "budget")
    expect(alert(page)).to_contain_text("All surveys that are answered on this device count together.")


def test_a_device_without_space(page: Page, server: Server) -> None:
    """A submission that cannot be saved is not sent."""
    open_survey(page, server)
    fill(page)
    review(page)
    full = "() => { throw new DOMException('full', 'QuotaExceededError'); }"
    page.evaluate(f"() => {{ IDBObjectStore.prototype.put = IDBObjectStore.prototype.add = {full}; }}")
    page.get_by_role("button", name="Send", exact=True).click()
    expect(alert(page).get_by_role("heading")).to_have_text("This device could not save what is to be sent")


UNKNOWN = "{ error: new DOMException('Internal error opening backing store', 'UnknownError') }"


@pytest.mark.parametrize(
    "broken", [f"const r = {UNKNOWN}; setTimeout(() => r.onerror()); return r;", "return {};"], ids=["fails", "hangs"]
)
def test_a_ledger_that_cannot_be_read_is_not_taken_for_an_empty_one(
    context: BrowserContext, server: Server, broken: str
) -> None:
    """A respondent who has answered is not asked again while the database fails, and sees that once it works."""
    first, page = context.new_page(), context.new_page()
    open_survey(first, server)
    fill(first)
    review(first)
    send(first)
    page.bring_to_front()
    page.clock.install()
    page.add_init_script(
        f"window.real = indexedDB.open; IDBFactory.prototype.open = () => {{ window.tried = 1; {broken} }};"
    )
    page.goto(server.base + SURVEY)
    until(page, lambda: page.evaluate("window.tried") == 1)
    page.clock.run_for(10_100)
    expect(alert(page).get_by_role("heading")).to_have_text("This device could not save what is to be sent")
    page.evaluate("() => { IDBFactory.prototype.open = window.real; }")
    page.get_by_role("button", name="Try again").click()
    expect(alert(page).get_by_role("heading")).to_have_text("This survey was already answered on this device")


def test_a_part_of_the_page_that_does_not_arrive(page: Page, server: Server) -> None:
    """If the questionnaire itself cannot be loaded, the element says so and notifies the page."""
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.route("**/deniable/survey-element.js", lambda route: route.abort())
    page.add_init_script("document.addEventListener('deniable-failed', (e) => (globalThis.why = e.detail.reason));")
    page.goto(server.base + SURVEY)
    expect(alert(page)).to_contain_text("The survey cannot be shown: a part of this page did not arrive.")
    assert page.evaluate("globalThis.why") == "unreachable"
    assert errors == []


def test_two_tabs(context: BrowserContext, server: Server) -> None:
    """The second submission is not made, and neither the answers nor the reports of the first are shown."""
    first, second = context.new_page(), context.new_page()
    for page in (first, second):
        page.bring_to_front()  # browsers slow down what is in the background
        open_survey(page, server)
        fill(page)
        review(page)
    first.bring_to_front()
    send(first)
    second.bring_to_front()
    second.get_by_role("button", name="Send", exact=True).click()
    expect(alert(second).get_by_role("heading")).to_have_text("This survey was already answered on this device")
    assert second.locator(".raw").count() == 0 and DRINKS not in shadow_text(second)


def test_the_server_refuses_for_good(page: Page, server: Server) -> None:
    """A refusal is shown as one, also on a later visit, which does not know the server's words any more."""
    problem = {
        "type": "urn:deniable:problem:invalid",
        "title": "The <b>content</b> does not fit",
        "status": 422,
        "detail": "So it is.",
    }
    page.route(
        f"**{API}/submissions",
        lambda route: route.fulfill(status=422, body=json.dumps(problem), content_type="application/problem+json"),
    )
    open_survey(page, server)
    fill(page)
    review(page)
    page.get_by_role("button", name="Send", exact=True).click()
    expect(alert(page).get_by_role("heading")).to_have_text("The server did not accept it")
    page.reload()
    expect(alert(page).get_by_role("heading")).to_have_text("The server did not accept it")
    assert "does not fit" not in shadow_text(page)


def test_what_waits_for_the_network_is_sent_later(page: Page, server: Server) -> None:
    """A waiting submission is shown as waiting, and the words change by themselves once it is delivered."""
    page.clock.install()
    open_survey(page, server)
    fill(page)
    review(page)
    page.route(f"**{API}/submissions", lambda route: route.abort())
    page.get_by_role("button", name="Send", exact=True).click()
    expect(status(page)).to_have_text("Sending …")
    pass_time(page, "Not sent yet. It will be sent when the network is back.")
    page.unroute(f"**{API}/submissions")
    page.evaluate("window.dispatchEvent(new Event('online'))")
    pass_time(page, SENT)


def pass_time(page: Page, text: str) -> None:
    """Let the page's clock run until it shows this text: the page may start to wait only after the clock has run."""
    for _ in range(50):
        page.clock.run_for(11_000)
        if text in status(page).inner_text():
            return
        time.sleep(0.1)
    expect(status(page)).to_contain_text(text)
