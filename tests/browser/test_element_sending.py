"""<deniable-survey> from Send to the receipt: nothing changes in between, and whatever fails, it says what was sent."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page, Route, expect

from tests.helpers.embedder_site import kept, until
from tests.helpers.questionnaire import (
    API,
    DRINKS,
    SENT,
    SURVEY,
    alert,
    embed,
    fill,
    open_survey,
    ready,
    review,
    send,
    shadow_text,
    status,
    thanked,
    violations,
)
from tests.helpers.servers import Server

SUBMISSIONS = f"**{API}/submissions"


FILLED = """(host) => [...host.shadowRoot.querySelectorAll("input")]
  .filter(({ type, checked, value }) => (["radio", "checkbox"].includes(type) ? checked : value)).length"""


def press_send(page: Page) -> None:
    page.get_by_role("button", name="Send", exact=True).click()


def held(page: Page) -> list[Route]:
    """Submissions from now on, which wait to be let through."""
    routes: list[Route] = []
    page.route(SUBMISSIONS, lambda route: routes.append(route))
    return routes


def leave_and_come_back(page: Page) -> None:
    for name in ("pagehide", "pageshow"):
        page.evaluate("(name) => window.dispatchEvent(new PageTransitionEvent(name, {persisted: true}))", name)


# --- while it is sent -------------------------------------------------------------------------------------------------


def test_nothing_can_be_changed_while_it_is_sent(page: Page, server: Server) -> None:
    """Every button of the review is out of use until it was sent."""
    open_survey(page, server)
    fill(page)
    review(page)
    routes = held(page)
    press_send(page)
    expect(status(page)).to_have_text("Sending …")
    buttons = page.locator("deniable-survey").get_by_role("button")
    assert buttons.count() == 9 + 2  # a Change for each answer, Send and Back
    for button in buttons.all():
        expect(button).to_be_disabled()
        button.evaluate("(button) => button.click()")
    until(page, lambda: len(routes) == 1)
    routes[0].continue_()
    thanked(page)


def test_who_leaves_while_it_is_sent_finds_no_answers(page: Page, server: Server) -> None:
    """Back on the page there is neither a form to fill in again nor an answer."""
    open_survey(page, server)
    fill(page)
    review(page)
    routes = held(page)
    press_send(page)
    until(page, lambda: len(routes) == 1)
    leave_and_come_back(page)
    expect(status(page)).to_have_text("Sending …")
    assert DRINKS not in shadow_text(page)
    assert page.locator("deniable-survey").locator("button, input").count() == 0
    routes[0].continue_()
    thanked(page)
    assert DRINKS not in shadow_text(page)


def test_a_page_that_is_left_is_empty(page: Page, server: Server) -> None:
    """When the page is left, and not only when it comes back, its controls and its review have no answer any more."""
    leave = "() => window.dispatchEvent(new PageTransitionEvent('pagehide', {persisted: true}))"
    for reviewed in (False, True):
        open_survey(page, server)
        fill(page)
        if reviewed:
            review(page)
        page.evaluate(leave)
        assert page.locator("deniable-survey").evaluate(FILLED) == 0
        assert DRINKS not in shadow_text(page)


# --- after it was sent ------------------------------------------------------------------------------------------------


def test_own_words_that_fail_cost_no_receipt(page: Page, server: Server) -> None:
    """A page's text function that throws is as good as none: the English words are shown, the receipt with them."""
    texts = "{ receipt: { raw: () => { throw new Error('x'); }, code: () => undefined } }"
    script = f"addEventListener('DOMContentLoaded', () => document.querySelector('deniable-survey').texts = {texts})"
    page.goto(embed(page, server.base, f'<deniable-survey one-page src="{SURVEY}"></deniable-survey>', script=script))
    ready(page)
    fill(page)
    review(page)
    send(page)
    expect(page.locator(".raw").first).to_contain_text("as a code: ")
    expect(page.locator(".raw").last).to_have_text("code south")


def test_a_receipt_that_cannot_be_shown(page: Page, server: Server) -> None:
    """A submission that was sent is shown as sent, even where the details of it cannot be."""
    open_survey(page, server)
    fill(page)
    review(page)
    page.evaluate(
        """() => {
          const create = document.createElement;
          document.createElement = (tag) => {
            if (tag === "table") throw new Error("no tables today");
            return create.call(document, tag);
          };
        }"""
    )
    send(page)
    assert page.get_by_text("See what was sent").count() == 0
    assert [row["status"] for row in kept(page)["ledger"]] == ["delivered"]


def test_a_fault_while_sending_is_not_said_to_be_harmless(page: Page, server: Server) -> None:
    """If the program itself fails, the page does not claim that nothing was sent, and nothing reaches the console."""
    open_survey(page, server)
    fill(page)
    review(page)
    console: list[str] = []
    page.on("console", lambda message: console.append(message.text))
    page.evaluate("() => { crypto.getRandomValues = () => { throw new TypeError('12.3471'); }; }")
    press_send(page)
    expect(alert(page).get_by_role("heading")).to_have_text("Something went wrong while sending")
    assert "Nothing was sent" not in shadow_text(page)
    leave_and_come_back(page)
    assert page.locator("deniable-survey").locator("input").count() == 0
    assert console == []


@pytest.mark.parametrize(
    ("kind", "title"),
    [("survey-closed", "This survey is closed"), ("invalid", "The server did not accept it")],
)
def test_what_is_refused_for_good_stays_so(page: Page, server: Server, kind: str, title: str) -> None:
    """Coming back to the page, as from the browser's memory, does not bring the form back."""
    problem = {"type": f"urn:deniable:problem:{kind}", "title": "No", "status": 409, "detail": "So it is."}
    page.route(
        SUBMISSIONS,
        lambda route: route.fulfill(status=409, body=json.dumps(problem), content_type="application/problem+json"),
    )
    open_survey(page, server)
    fill(page)
    review(page)
    press_send(page)
    expect(alert(page).get_by_role("heading")).to_have_text(title)
    leave_and_come_back(page)
    expect(alert(page).get_by_role("heading")).to_have_text(title)
    assert page.locator("deniable-survey").locator("input").count() == 0


# --- removing it from this device -------------------------------------------------------------------------------------


def press_remove(page: Page) -> None:
    page.get_by_role("button", name="Remove from this device").click()
    page.get_by_role("heading", name="Remove this survey from this device?").wait_for()


def test_a_later_visitor_sees_no_reports_and_can_remove_it(page: Page, server: Server) -> None:
    """Who comes second to a shared device sees that the survey was answered, not what was sent. Removing says what it
    means, can be put off, and makes room for another person.
    """
    open_survey(page, server)
    fill(page)
    review(page)
    send(page)
    sent = page.locator(".raw").all_text_contents()
    assert len(sent) == 9
    page.reload()
    expect(alert(page).get_by_role("heading")).to_have_text("This survey was already answered on this device")
    assert page.locator(".raw").count() == 0
    press_remove(page)
    expect(page.locator("deniable-survey")).to_contain_text("cannot be taken back")
    expect(page.locator("deniable-survey")).to_contain_text("if you answer twice")
    assert violations(page) == []
    page.get_by_role("button", name="Keep it").click()
    expect(alert(page).get_by_role("heading")).to_have_text("This survey was already answered on this device")
    assert len(kept(page)["ledger"]) == 1
    press_remove(page)
    page.get_by_role("button", name="Remove", exact=True).click()
    expect(page.locator("deniable-survey")).to_contain_text("This device keeps nothing about this survey any more.")
    assert kept(page)["ledger"] == kept(page)["surveys"] == []
    page.reload()
    ready(page)


def test_removing_what_was_not_sent_says_so(page: Page, server: Server) -> None:
    """While it waits, the words are others; after removing it, nothing more is sent, even if the ledger then fails."""
    posts: list[str] = []
    page.route(SUBMISSIONS, lambda route: (posts.append(route.request.url), route.abort()))
    page.clock.install()
    open_survey(page, server)
    fill(page)
    review(page)
    press_send(page)
    until(page, lambda: len(posts) > 0)
    page.clock.run_for(11_000)
    expect(status(page)).to_contain_text("Not sent yet.")
    press_remove(page)
    expect(page.locator("deniable-survey")).to_contain_text("If you remove it now, it will not be sent again.")
    page.get_by_role("button", name="Remove", exact=True).click()
    expect(page.locator("deniable-survey")).to_contain_text("This device keeps nothing about this survey any more.")
    page.evaluate("() => { window.open = IDBFactory.prototype.open; delete IDBFactory.prototype.open; }")
    tried = len(posts)
    page.clock.run_for(200_000)
    assert len(posts) <= tried + 1  # one may have been under way
    tried = len(posts)
    page.clock.run_for(200_000)
    assert len(posts) == tried
    page.evaluate("() => { IDBFactory.prototype.open = window.open; }")
    assert kept(page)["ledger"] == []


# --- where it has to wait ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [403, 404, 429, 503])
def test_a_server_that_does_not_take_it_yet(page: Page, server: Server, code: int) -> None:
    """This is not a network problem, and the page does not call it one."""
    page.clock.install()
    page.route(
        SUBMISSIONS, lambda route: route.fulfill(status=code, body="{}", content_type="application/problem+json")
    )
    open_survey(page, server)
    fill(page)
    review(page)
    with page.expect_response(SUBMISSIONS):
        press_send(page)
    page.clock.run_for(11_000)
    expect(status(page)).to_have_text(
        "Not sent yet. It will be sent when the server accepts it again. "
        "Keep this page open, or come back to it on this device."
    )
    page.unroute(SUBMISSIONS)
    page.clock.run_for(61_000)
    expect(status(page)).to_have_text(SENT)


def test_a_browser_that_keeps_nothing(page: Page, server: Server) -> None:
    """The page says so before sending, and again while the submission waits."""
    page.add_init_script("Object.defineProperty(window, 'indexedDB', { value: undefined })")
    page.clock.install()
    open_survey(page, server)
    fill(page)
    review(page)
    expect(page.get_by_text("so it cannot remember that you have answered. Please send only once")).to_be_visible()
    page.route(SUBMISSIONS, lambda route: route.abort())
    press_send(page)
    page.clock.run_for(11_000)
    expect(status(page)).to_have_text(
        "Not sent yet. It will be sent when the network is back. "
        "Keep this page open: this browser cannot save it for later."
    )


def test_a_browser_that_keeps_what_it_should(page: Page, server: Server) -> None:
    """The page does not claim that it saves nothing."""
    open_survey(page, server)
    fill(page)
    review(page)
    assert "saves nothing" not in shadow_text(page)
