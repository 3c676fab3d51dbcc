"""The way of a respondent, and the editor, in a real Firefox, as Debian packages it.

Playwright drives it by WebDriver BiDi, which every Firefox speaks, so no driver has to be installed.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Playwright, expect

from deniable_server.storage import open_storage
from deniable_server.storage.tokens import make_token
from tests.helpers.embedder_site import kept
from tests.helpers.hands import Mouse
from tests.helpers.machine import missing
from tests.helpers.questionnaire import (
    FILLED,
    SENT,
    SURVEY,
    THANKS,
    field,
    fill,
    overflows,
    ready,
    review,
    send,
    shadow_text,
    status,
)
from tests.helpers.servers import Server

ANSWER = "31.41592653"  # occurs nowhere but in an answer


@pytest.fixture(scope="module")
def firefox(playwright: Playwright) -> Iterator[Browser]:
    executable = shutil.which("firefox-esr") or shutil.which("firefox") or missing("Firefox")
    browser = playwright.firefox.launch(channel="moz-firefox", executable_path=executable)
    yield browser
    browser.close()


@pytest.fixture
def page(firefox: Browser) -> Iterator[Page]:
    """A phone with empty storage."""
    context = firefox.new_context(viewport={"width": 390, "height": 844}, locale="en-GB")
    yield context.new_page()
    context.close()


def stored_reports(server: Server, submission: str) -> tuple[int, ...]:
    """What the server has of a submission."""
    storage = open_storage(str(server.database))
    published = storage.find("campus-health")
    assert published is not None
    with storage.submissions(published) as rows:
        found = {row_id.hex(): tuple(content.reports) for row_id, content in rows}
    storage.close()
    return found[submission]


def test_the_whole_way(page: Page, server: Server) -> None:
    """Start, question by question, review, Send, Thank you: what it shows is what the server has, nothing true is kept
    anywhere, and who comes second to the device does not see what was sent.
    """
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(server.base + SURVEY)
    ready(page)
    fill(page, drinks=ANSWER)
    review(page)
    expect(page.locator(".answers")).to_contain_text(ANSWER)
    send(page)
    expect(page.get_by_role("heading", name=THANKS)).to_be_focused()
    expect(status(page)).to_have_text(SENT)
    page.get_by_text("See what was sent").click()
    submission = page.locator(".facts code").first.inner_text()
    reports = [f"as a code: {report}" for report in stored_reports(server, submission)]
    assert page.locator(".raw").all_text_contents() == [*reports, "code south"]
    on_the_device = kept(page)
    where = page.evaluate("JSON.stringify([location.href, history.state, document.cookie])")
    assert on_the_device["ledger"] and ANSWER not in json.dumps(on_the_device) + where + shadow_text(page)
    assert not overflows(page) and errors == []
    page.reload()
    expect(page.get_by_role("alert")).to_contain_text("This survey was already answered on this device")
    assert page.locator(".raw").count() == 0


def test_the_first_question_by_keyboard(page: Page, server: Server) -> None:
    """Tab, Space, arrows and Enter: the focus goes to the heading of each screen, and on from there."""
    page.goto(server.base + SURVEY)
    page.get_by_role("button", name="Start", exact=True).focus()
    page.keyboard.press("Enter")
    expect(field(page, "vaped").get_by_role("heading")).to_be_focused()
    for key in ("Tab", "Space", "ArrowDown", "ArrowUp"):
        page.keyboard.press(key)
    expect(field(page, "vaped").get_by_label("Yes")).to_be_checked()
    expect(field(page, "vaped").get_by_label("Yes")).to_be_focused()
    page.get_by_role("button", name="Next", exact=True).focus()
    page.keyboard.press("Enter")
    expect(field(page, "harassed").get_by_role("heading")).to_be_focused()


def test_the_back_button(page: Page, server: Server) -> None:
    """It goes to the question before, with its answer; after Send, no screen with answers can be reached."""
    page.goto(server.base + SURVEY)
    ready(page)
    field(page, "vaped").get_by_label("Yes").check()
    page.get_by_role("button", name="Next", exact=True).click()
    field(page, "harassed").wait_for()
    page.evaluate("history.back()")
    expect(field(page, "vaped").get_by_label("Yes")).to_be_checked()
    fill(page)
    review(page)
    send(page)
    for step in (1, 1, -1):
        page.evaluate("(step) => history.go(step)", step)
        expect(page.get_by_role("heading", name=THANKS)).to_be_visible()
        assert page.locator("deniable-survey input").count() == 0


def test_who_leaves_and_comes_back_finds_no_answers(page: Page, server: Server) -> None:
    """Firefox keeps what was entered when a page is left, and fills it in again; here it finds nothing to fill in."""
    page.on("dialog", lambda dialog: dialog.accept())  # leaving asks
    page.goto(f"{server.base}{SURVEY}?one-page")
    ready(page)
    fill(page, drinks=ANSWER)
    page.goto("about:blank")
    page.evaluate("history.back()")
    ready(page)
    assert page.locator("deniable-survey").evaluate(FILLED) == 0 and ANSWER not in shadow_text(page)
    assert ANSWER not in json.dumps(kept(page))


def test_the_editor(firefox: Browser, server: Server) -> None:
    """A template is changed, a question is dragged, the panel follows, and the preview shows it. What was written is
    there after a reload.
    """
    storage = open_storage(str(server.database))
    secret, _ = make_token(storage, "editor", "Ann")
    storage.close()
    context = firefox.new_context(viewport={"width": 1280, "height": 900}, locale="en-GB")
    page, errors = context.new_page(), list[str]()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{server.base}/sign-in")
    page.get_by_label("Your access token").fill(secret)
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Surveys").wait_for()
    page.goto(f"{server.base}/surveys/new")
    page.get_by_role("button", name="Start with Course feedback").click()
    headline, saved = page.locator(".draft-headline"), page.locator("#saved")
    headline.wait_for()  # the first plan of a server takes a while
    expect(headline).to_contain_text("With 1,500 people you will know")
    title = page.get_by_label("Title", exact=True)
    title.fill("Our course")
    expect(saved).to_contain_text("Saved")
    page.get_by_label("How many people will answer?").fill("3000")
    expect(headline).to_contain_text("With 3,000 people you will know")
    items = page.locator("[data-list=questions] > .item")
    before = [item.get_attribute("id") for item in items.all()]
    Mouse(page).move(items.nth(1), items.nth(0), "")
    expect(items.first).to_have_id(str(before[1]))
    expect(saved).to_contain_text("This is number 1 now")
    page.reload()
    expect(title).to_have_value("Our course")
    assert [item.get_attribute("id") for item in items.all()] == [before[1], before[0], *before[2:]]
    page.get_by_role("link", name="Preview", exact=True).click()
    page.frame_locator("iframe").get_by_role("heading", name="Our course", level=2).wait_for()
    assert not overflows(page) and errors == []
    context.close()
