"""Every view of the questionnaire: axe, 200% zoom, messages that are seen and heard, keyboard, less motion."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from deniable_server.storage import open_storage
from tests.helpers.questionnaire import (
    API,
    SURVEY,
    alert,
    begin,
    field,
    fill,
    open_survey,
    review,
    send,
    site,
    thanked,
    violations,
)
from tests.helpers.servers import Server

STICKING_OUT = """(host) => [...host.shadowRoot.querySelectorAll('.view *')]
    .filter((e) => e.checkVisibility() && !e.closest('.unseen, .receipt thead'))
    .filter((e) => { const { left, right } = e.getBoundingClientRect();
        return left < -1 || right > innerWidth + 1 || (e.matches('.face') && e.scrollWidth > e.clientWidth); })
    .map((e) => e.outerHTML.slice(0, 120))"""
"""What does not fit the window, even where it is cut off and nothing can be scrolled to."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, everything: bytes) -> Iterator[Server]:
    """The example survey, and a closed one."""
    with site(tmp_path_factory.mktemp("site"), everything, everything.replace(b"campus-health", b"over", 1)) as server:
        close_survey(server, "over")
        yield server


def close_survey(server: Server, name: str) -> None:
    storage = open_storage(str(server.database))
    published = storage.find(name)
    assert published is not None
    storage.close_survey(published)
    storage.close()


def press_button(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def views(page: Page, server: Server) -> Iterator[str]:
    """One after another, each view of a visit: its name."""
    page.goto(f"{server.base}{SURVEY}?kiosk")
    page.get_by_text("Many people answer on this device.").wait_for()
    yield "kiosk"
    page.goto(server.base + SURVEY)
    page.get_by_role("button", name="Start", exact=True).wait_for()
    yield "start"
    for name in ("How can that be?", "Who could learn my answers?"):
        press_button(page, name)
        page.get_by_role("heading", name=name).wait_for()
        for summary in page.locator("summary:visible").all():
            summary.click()
        if page.locator(".face").count():
            page.get_by_label("Yes", exact=True).check()
            press_button(page, "Flip the coin")
        yield name
        press_button(page, "Got it")
    begin(page)
    for number in range(1, 10):
        expect(page.locator("#progress-text")).to_have_text(f"{number} of 9")
        page.locator("button[type=submit]").click()
        expect(page.locator(".error:visible")).to_be_visible()
        yield f"question {number} with an error"
        if page.locator("summary:visible").count():
            page.locator("summary:visible").first.click()
        if page.locator("fieldset.question:visible input[type=text]").count():
            page.locator("fieldset.question:visible input[type=text]").fill("3")
        else:
            page.locator("fieldset.question:visible .option").first.click()
        yield f"question {number}, answered"
        page.locator("button[type=submit]").click()
    page.get_by_role("heading", name="Check your answers").wait_for()
    page.locator("summary").first.click()
    yield "review"
    page.route("**/submissions", lambda route: route.abort())
    press_button(page, "Send")
    page.get_by_text("Sending").wait_for()
    yield "sending"
    page.get_by_role("heading", name="One moment more").wait_for(timeout=30_000)
    yield "waiting"
    page.unroute("**/submissions")
    page.evaluate("dispatchEvent(new Event('online'))")
    thanked(page)
    page.get_by_text("See what was sent").click()
    yield "thanks, and what was sent"
    page.reload()
    alert(page).wait_for()
    yield "already answered"
    press_button(page, "Remove from this device")
    yield "whether to remove it"
    press_button(page, "Remove")
    page.get_by_role("heading", name="Removed").wait_for()
    yield "removed"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_any_view(browser: Browser, server: Server, scheme: Any) -> None:
    """On a phone, from the first screen to what remains after removing it, and nothing sticks out."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme=scheme, locale="en-GB")
    page = context.new_page()
    found = {}
    for name in views(page, server):
        found[name] = violations(page) + page.locator("deniable-survey").evaluate(STICKING_OUT)
    assert len(found) > 25 and not any(found.values()), found
    context.close()


@pytest.mark.parametrize("width", [320, 195])
def test_it_fits_narrow_windows(browser: Browser, server: Server, width: int) -> None:
    """320 px, and 200% zoom on a phone of 390 px: every view is to be read without scrolling sideways."""
    context = browser.new_context(viewport={"width": width, "height": 422}, locale="en-GB")
    page = context.new_page()
    found = {name: page.locator("deniable-survey").evaluate(STICKING_OUT) for name in views(page, server)}
    assert not any(found.values()), found
    context.close()


def unreachable(page: Page) -> None:
    page.route(f"**{API}", lambda route: route.abort())


def no_storage(page: Page) -> None:
    """The browser's database opens and then fails, as a damaged one does."""
    page.add_init_script(
        "IDBFactory.prototype.open = () => { const request = { error: new DOMException('damaged', 'UnknownError') };"
        " setTimeout(() => request.onerror?.({ target: request })); return request; }"
    )


def no_randomness(page: Page) -> None:
    page.add_init_script("Object.defineProperty(crypto, 'subtle', {value: undefined})")


def nothing(page: Page) -> None:
    pass


MESSAGES: list[tuple[str, Callable[[Page], None], str]] = [
    (SURVEY, unreachable, "The survey cannot be reached"),
    (f"{SURVEY}#{'0' * 64}", nothing, "This is not the survey that the link promised"),
    (f"{SURVEY}#12ab", nothing, "This link is not complete"),
    ("/s/over", nothing, "This survey is closed"),
    (SURVEY, no_storage, "This device could not save what is to be sent"),
    (SURVEY, no_randomness, "This browser cannot protect your answers here"),
]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_message_instead_of_the_survey(browser: Browser, server: Server, scheme: Any) -> None:
    """Each is on the screen of a small phone, has the focus, is an alert, and axe finds nothing."""
    for path, arrange, title in MESSAGES:
        context = browser.new_context(viewport={"width": 320, "height": 568}, color_scheme=scheme, locale="en-GB")
        page = context.new_page()
        arrange(page)
        page.goto(server.base + path)
        heading = alert(page).get_by_role("heading", name=title)
        expect(heading).to_be_in_viewport(ratio=1)
        expect(heading).to_be_focused()
        assert violations(page) == [], title
        context.close()


def test_a_message_leaves_the_focus_of_another_page_alone(page: Page, server: Server) -> None:
    """If somebody types in a search field of the page, a survey that cannot be loaded does not take the focus away."""
    page.route(
        f"{server.base}/host",
        lambda route: route.fulfill(
            content_type="text/html",
            body="<!doctype html><html lang=en><title>Host</title><input id=search autofocus aria-label=Search>"
            f'<script type=module src="/deniable.js"></script><deniable-survey src="{SURVEY}#12ab"></deniable-survey>',
        ),
    )
    page.goto(f"{server.base}/host")
    alert(page).wait_for()
    expect(page.locator("#search")).to_be_focused()


def refuse_storage(page: Page, server: Server) -> None:
    full = "() => { throw new DOMException('full', 'QuotaExceededError'); }"
    page.evaluate(f"() => {{ IDBObjectStore.prototype.put = IDBObjectStore.prototype.add = {full}; }}")


def answer_in_another_tab(page: Page, server: Server) -> None:
    other = page.context.new_page()
    open_survey(other, server)
    fill(other)
    review(other)
    send(other)
    other.close()


@pytest.mark.parametrize(
    ("meanwhile", "title"),
    [
        (refuse_storage, "This device could not save what is to be sent"),
        (answer_in_another_tab, "This survey was already answered on this device"),
        (lambda page, server: close_survey(server, "campus-health"), "This survey is closed"),
    ],
    ids=["storage", "another tab", "closed"],
)
def test_a_message_instead_of_thanks(
    browser: Browser, tmp_path: Path, everything: bytes, meanwhile: Callable[[Page, Server], None], title: str
) -> None:
    """It is on the screen although the review was scrolled to its end, has the focus, is an alert, and axe finds
    nothing.
    """
    with site(tmp_path, everything) as server:
        page = browser.new_context(viewport={"width": 320, "height": 568}, locale="en-GB").new_page()
        open_survey(page, server)
        fill(page)
        review(page)
        meanwhile(page, server)
        press_button(page, "Send")
        heading = alert(page).get_by_role("heading", name=title)
        expect(heading).to_be_in_viewport(ratio=1)
        expect(heading).to_be_focused()
        assert violations(page) == []
        page.context.close()


def test_who_tries_again_goes_on_at_the_title(page: Page, server: Server) -> None:
    """The button that was pressed goes away: the focus moves on to the survey."""
    unreachable(page)
    page.goto(server.base + SURVEY)
    page.get_by_role("button", name="Try again").focus()
    page.unroute(f"**{API}")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Campus health 2026").last).to_be_focused()


def test_back_by_keyboard(page: Page, server: Server) -> None:
    """Shift+Tab goes the other way; Back, pressed by Enter, leads to the question before, with its answer."""
    open_survey(page, server, mode="")
    for key in ("Tab", "Space", "Tab", "Tab", "Enter"):  # Yes, How?, Next
        page.keyboard.press(key)
    expect(field(page, "harassed").get_by_role("heading")).to_be_focused()
    for key in ("Tab", "Tab", "Tab", "Tab", "Shift+Tab", "Tab", "Enter"):  # Yes, How?, Next, Back, Next, Back
        page.keyboard.press(key)
    expect(field(page, "vaped").get_by_role("heading")).to_be_focused()
    expect(field(page, "vaped").get_by_label("Yes")).to_be_checked()


@pytest.mark.parametrize(("wish", "moving"), [("reduce", 0), ("no-preference", 1)])
def test_less_motion(page: Page, server: Server, wish: Any, moving: int) -> None:
    """Coins turn only for people who did not ask for less motion."""
    page.emulate_media(reduced_motion=wish)
    page.goto(server.base + SURVEY)
    press_button(page, "How can that be?")
    page.get_by_label("Yes", exact=True).check()
    turning = """(host) => { host.shadowRoot.querySelector('.try button').click();
        return host.shadowRoot.getAnimations().filter((each) => each.animationName === 'throw').length > 0; }"""
    assert page.locator("deniable-survey").evaluate(turning) == bool(moving)
