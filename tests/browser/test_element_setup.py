"""<deniable-survey> set up wrongly, or without its script: what the respondent reads, and what the developer reads."""

from __future__ import annotations

import pytest
from playwright.sync_api import ConsoleMessage, Page, Route, expect

from tests.helpers.embedder_site import until
from tests.helpers.questionnaire import SURVEY, alert, begin, embed
from tests.helpers.servers import Server

WAITING = "<p>The survey is loading. If it does not appear, please load this page again.</p>"
LIKE = 'What it should look like: <deniable-survey src="https://survey.example.org/s/campus-health">'


def told(page: Page) -> list[ConsoleMessage]:
    """What the element says in the console, from now on."""
    messages: list[ConsoleMessage] = []
    page.on("console", lambda message: "<deniable-survey>" in message.text and messages.append(message))
    return messages


@pytest.mark.parametrize(
    ("attribute", "seen", "said"),
    [
        ("", "This link is not complete", "the attribute src is missing"),
        ('src="campus-health"', "This link is not complete", "this is not a link to a survey"),
        (f'src="{SURVEY}#1234"', "This link is not complete", "the link does not end in a digest"),
        ('src="/s/no-such-survey"', "The survey cannot be reached", "the server answered 404"),
    ],
)
def test_a_wrong_src(page: Page, server: Server, attribute: str, seen: str, said: str) -> None:
    """The respondent reads a plain message; the console says once what is wrong, where, and what would be right."""
    messages = told(page)
    page.goto(embed(page, server.base, f"<deniable-survey {attribute}>{WAITING}</deniable-survey>"))
    expect(alert(page)).to_contain_text(seen)
    expect(alert(page)).not_to_contain_text("src")
    (message,) = messages
    assert message.type == "error" and said in message.text and LIKE in message.text
    assert message.args[-1].evaluate("(element) => element.localName") == "deniable-survey"


def test_a_right_src_says_nothing_in_the_console(page: Page, server: Server) -> None:
    """Not even after a wrong one was put right."""
    page.goto(embed(page, server.base, "<deniable-survey></deniable-survey>"))
    expect(alert(page)).to_be_visible()
    messages = told(page)
    page.locator("deniable-survey").evaluate("(element, src) => element.setAttribute('src', src)", SURVEY)
    begin(page)
    assert messages == []


def test_what_is_inside_is_shown_where_the_script_is_blocked(page: Page, server: Server) -> None:
    """On another page: at once, and for as long as deniable.js does not come."""
    page.route("**/deniable.js", lambda route: route.abort())
    page.goto(embed(page, server.base, f'<deniable-survey src="{SURVEY}">{WAITING}</deniable-survey>'))
    expect(page.get_by_text("The survey is loading.")).to_be_visible()


def test_the_hosted_page_says_that_the_script_is_blocked(page: Page, server: Server) -> None:
    """After some seconds in which it may just be slow, in the reader's language."""
    page.route("**/deniable.js", lambda route: route.abort())
    page.goto(f"{server.base}{SURVEY}?lang=de")
    message = page.get_by_text("Ein Teil dieser Seite ist nicht angekommen")
    expect(message).to_be_hidden()
    expect(message).to_be_visible()


@pytest.mark.parametrize("mode", ["hosted", "embedded"])
def test_what_is_inside_is_gone_as_soon_as_the_script_is_there(page: Page, server: Server, mode: str) -> None:
    """While the questionnaire itself is on its way, nobody reads that something failed."""
    held: list[Route] = []
    page.route("**/deniable/survey-element.js", lambda route: held.append(route))
    inside = "a part of this page did not arrive" if mode == "hosted" else "The survey is loading"
    embedded = embed(page, server.base, f'<deniable-survey src="{SURVEY}">{WAITING}</deniable-survey>')
    page.goto(embedded if mode == "embedded" else server.base + SURVEY, wait_until="commit")
    until(page, lambda: bool(held))
    expect(page.get_by_text(inside)).to_have_count(1)
    expect(page.get_by_text(inside)).to_be_hidden()
    held[0].continue_()
    begin(page)
    expect(page.get_by_text(inside)).to_be_hidden()
