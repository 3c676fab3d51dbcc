"""A page that is left keeps no answer, even before anybody comes back to it."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.helpers.questionnaire import FILLED, fill, open_survey, ready, review, shadow_text
from tests.helpers.servers import Server

LEAVE = "dispatchEvent(new PageTransitionEvent('pagehide', {persisted: true}))"


def test_answers_are_gone_as_soon_as_the_page_is_left(page: Page, server: Server) -> None:
    """The browser may keep the page in memory, where others could look: it is emptied on the way out, in the form and
    in the review.
    """
    open_survey(page, server)
    element = page.locator("deniable-survey")
    fill(page)
    assert element.evaluate(FILLED) > 0
    page.evaluate(LEAVE)
    assert element.evaluate(FILLED) == 0
    ready(page)
    assert element.evaluate(FILLED) == 0
    fill(page)
    page.locator("#debt-number").fill("7319")
    review(page)
    assert "7,319" in shadow_text(page)
    page.evaluate(LEAVE)
    assert element.evaluate(FILLED) == 0 and "7,319" not in shadow_text(page)
