"""What tests of the editor in a browser do again and again."""

from __future__ import annotations

from playwright.sync_api import BrowserContext, Locator, Page, expect

from deniable_server import editing
from deniable_server.storage import Storage
from deniable_server.storage.tokens import make_token
from tests.helpers.servers import Server

QUIET = 20_000
"""Milliseconds after which an open page has looked at what others did, whatever else it does."""


def signed_in(context: BrowserContext, server: Server, storage: Storage, name: str) -> Page:
    page = context.new_page()
    secret, _ = make_token(storage, "editor", name)
    page.goto(f"{server.base}/sign-in")
    sign_in(page, secret)
    page.get_by_role("heading", name="Surveys").wait_for()
    page.set_default_timeout(30_000)
    return page


def sign_in(page: Page, secret: str) -> None:
    page.get_by_label("Your access token").fill(secret)
    page.keyboard.press("Enter")


def edit(page: Page, server: Server, draft: int) -> Page:
    page.goto(f"{server.base}/drafts/{draft}")
    return ready(page)


def ready(page: Page) -> Page:
    """Its script is there: the panel has come. Before that, buttons do nothing."""
    page.locator("#plan .draft-plan").wait_for()
    return page


def question(page: Page, number: int) -> Locator:
    return page.locator("[data-list=questions] > .item").nth(number - 1)


def text_of(page: Page, number: int) -> Locator:
    return question(page, number).get_by_label("Question English")


def said(page: Page, what: str) -> None:
    expect(page.locator("#saved")).to_contain_text(what)


def look(page: Page) -> None:
    """Let an open page look at once at what others did, as it does when one comes back to it."""
    page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))")


def kept(storage: Storage, draft: int) -> editing.Sketch:
    found = storage.drafts.find(draft)
    assert found is not None
    return editing.read(found.content)


def keeps_nothing(page: Page) -> None:
    """Everything is saved: wait until the browser keeps no change."""
    for _ in range(QUIET // 50):
        if page.evaluate("Object.keys(localStorage).length") == 0:
            return
        page.wait_for_timeout(50)
    raise AssertionError("the browser still keeps changes")
