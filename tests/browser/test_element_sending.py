"""<deniable-survey> from Send to the receipt: nothing changes in between, and whatever fails, it says what was sent."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page, Route, expect

from tests.helpers.embedder_site import kept, until
from tests.helpers.questionnaire import (
    API,
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
)
from tests.helpers.servers import Server

SUBMISSIONS = f"**{API}/submissions"


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
    """Every button of the review is out of use, and the receipt shows the answers that were sent."""
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
    page.get_by_role("heading", name="Your receipt").wait_for()
    answered = [cell.replace("\u2068", "") for cell in page.locator("td.answered > div").all_text_contents()]
    assert answered[0] == "Yes" and answered[6].startswith("12.5 drinks") and answered[8] == "South"


def test_who_leaves_while_it_is_sent_finds_no_answers(page: Page, server: Server) -> None:
    """Back on the page there is neither a form to fill in again nor an answer, and then the receipt without any."""
    open_survey(page, server)
    fill(page)
    review(page)
    routes = held(page)
    press_send(page)
    until(page, lambda: len(routes) == 1)
    leave_and_come_back(page)
    expect(status(page)).to_have_text("Sending …")
    assert "12.5" not in shadow_text(page)
    assert page.locator("deniable-survey").locator("button, input").count() == 0
    routes[0].continue_()
    page.get_by_role("heading", name="Your receipt").wait_for()
    assert page.locator(".answered").count() == 0
    expect(page.get_by_text("Your true answers were not kept.")).to_be_visible()


# --- after it was sent ------------------------------------------------------------------------------------------------


def test_own_words_that_fail_cost_no_receipt(page: Page, server: Server) -> None:
    """A page's text function that throws is as good as none: the English words are shown, the receipt with them."""
    texts = "{ receipt: { raw: () => { throw new Error('x'); }, code: () => undefined } }"
    script = f"addEventListener('DOMContentLoaded', () => document.querySelector('deniable-survey').texts = {texts})"
    page.goto(embed(page, server.base, f'<deniable-survey src="{SURVEY}"></deniable-survey>', script=script))
    ready(page)
    fill(page)
    review(page)
    send(page)
    expect(page.locator(".raw").first).to_contain_text("as a code: ")
    expect(page.locator(".raw").last).to_have_text("code south")


def test_a_receipt_that_cannot_be_shown(page: Page, server: Server) -> None:
    """A submission that was sent is shown as sent, and trying again shows the receipt; nothing is sent twice."""
    posts: list[str] = []
    page.on("request", lambda request: request.method == "POST" and posts.append(request.post_data or ""))
    open_survey(page, server)
    fill(page)
    review(page)
    page.evaluate(
        """() => {
          window.told = [];
          for (const name of ["submitted", "failed"])
            document.addEventListener(`deniable-${name}`, () => window.told.push(name));
          window.create = document.createElement;
          document.createElement = (tag) => {
            if (tag === "table") throw new Error("no tables today");
            return window.create.call(document, tag);
          };
        }"""
    )
    press_send(page)
    expect(alert(page).get_by_role("heading")).to_have_text("The receipt cannot be shown")
    assert "Nothing was sent" not in shadow_text(page) and "12.5" not in shadow_text(page)
    assert page.evaluate("window.told") == ["submitted"]
    assert [row["status"] for row in kept(page)["ledger"]] == ["delivered"]
    page.evaluate("() => { document.createElement = window.create; }")
    page.get_by_role("button", name="Try again").click()
    page.get_by_role("heading", name="Your receipt").wait_for()
    assert len(posts) == 1


def test_a_fault_while_sending_is_not_said_to_be_harmless(page: Page, server: Server) -> None:
    """If the program itself fails, the page does not claim that nothing was sent, and nothing reaches the console."""
    open_survey(page, server)
    fill(page)
    review(page)
    console: list[str] = []
    page.on("console", lambda message: console.append(message.text))
    page.evaluate("() => { crypto.getRandomValues = () => { throw new TypeError('12.5'); }; }")
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
    expect(status(page)).to_have_text("Sent. The server has stored what left this device.")


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
