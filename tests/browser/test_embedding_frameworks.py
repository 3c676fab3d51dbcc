"""docs/embedding.md with React and SurveyJS: the examples, unchanged, with the real packages, in Chromium."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.helpers.embedding_examples import (
    FOLLOW_UP,
    LEAVE,
    TRUTH,
    WITHOUT_CHANCE,
    Host,
    NewHost,
    Visit,
    block,
    fill_truly,
    policy,
    publish_to,
    refuse_all,
    run,
    section,
    submission_of,
    surveys,
    workshop,
)
from tests.helpers.questionnaire import SENT, ready, review, status
from tests.helpers.servers import Server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, everything: bytes) -> Iterator[Server]:
    with surveys(tmp_path_factory.mktemp("site"), everything) as server:
        yield server


@pytest.fixture
def visit(context: BrowserContext) -> Visit:
    return Visit(context.new_page())


@pytest.fixture(scope="module")
def npm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return workshop(tmp_path_factory.mktemp("npm"))


def test_react(visit: Visit, host: Host, server: Server, npm: Path) -> None:
    """The component of the document, built as it says: texts and budget are taken, the event comes, nothing is lost."""
    (npm / "main.jsx").write_text(host.real(block("React", "jsx")), "utf-8")
    run(block("React", "sh"), npm)
    host.put_folder("", npm / "public")
    page = visit.page
    page.goto(host.page("/react.html", '<div id="root"></div><script type="module" src="main.js"></script>'))
    ready(page)
    assert page.locator("deniable-survey").evaluate(
        "(element) => [element.budget, [...element.attributes].length]"
    ) == [20, 1]
    fill_truly(page)
    review(page)
    page.get_by_role("button", name="Send it").click()
    expect(page.locator("#thanks")).to_have_text(re.compile(r"^Thank you\. Submission [0-9a-f]{32}\.$"))
    expect(status(page)).to_have_text(SENT)
    visit.check(server, "campus-health")


@pytest.fixture
def surveyjs(new_host: NewHost, npm: Path) -> str:
    return put_surveyjs(new_host, npm)


def put_surveyjs(new_host: NewHost, npm: Path, survey: str = "campus-health") -> str:
    """The address of the page with SurveyJS, built as the document says."""
    (addition,) = re.findall(r"`(style-src-attr [^`]+)`", section("SurveyJS"))
    host = new_host(f"{policy()}; {addition}")
    code = host.real(block("SurveyJS", "js")).replace("/s/campus-health", f"/s/{survey}")
    (npm / "surveyjs.js").write_text(code, "utf-8")
    run(block("SurveyJS", "sh"), npm)
    host.put_folder("", npm / "public")
    body = '<div id="survey"></div><script type="module" src="surveyjs.js"></script>'
    return host.page("/surveyjs.html", f'<link rel="stylesheet" href="surveyjs.css">{body}')


def fill_surveyjs(page: Page) -> None:
    for question, label in (
        ("Which campus?", "South"),
        ("Have you vaped", "No"),
        ("Have you been harassed", "Prefer not to say"),
        ("What did you use most", "Cannabis"),
        ("How stressed", "Quite"),
    ):
        page.get_by_role("radiogroup", name=question).get_by_text(label, exact=True).click()
    page.get_by_role("combobox", name="How satisfied").click()  # too wide for buttons in a row
    page.get_by_role("option", name="Unsatisfied", exact=True).click()
    for option in ("A doctor", "None of these", "A doctor", "A peer group"):
        page.get_by_text(option, exact=True).click()
    page.get_by_role("spinbutton", name="How many alcoholic drinks").fill(TRUTH)
    page.get_by_role("checkbox", name="Prefer not to say").check(force=True)


def test_surveyjs(visit: Visit, surveyjs: str, server: Server, everything_answered: dict[str, Any]) -> None:
    """Every question type in a form of SurveyJS is required, taken as entered, delivered, and then forgotten."""
    page = visit.page
    page.add_init_script(WITHOUT_CHANCE)
    page.goto(surveyjs)
    page.get_by_role("button", name="Complete").click()
    expect(page.get_by_text("Response required.")).to_have_count(9)
    fill_surveyjs(page)
    page.get_by_role("button", name="Complete").click()
    expect(page.get_by_role("heading", name="Sent. Thank you.")).to_be_visible()
    sent = visit.check(server, "campus-health")
    entered = everything_answered | {"vaped": False, "drinks": float(TRUTH), "debt": "declined"}
    assert sent == submission_of(page, server, "campus-health", entered, {"campus": "south"})
    asked = {re.sub(r"^(https?://[^/]+).*", r"\1", request.url) for request in visit.requests}
    assert asked == {server.base, re.sub(r"/surveyjs.html$", "", surveyjs)}
    page.goto(surveyjs)
    expect(page.locator("#survey")).to_have_text("This survey was already answered on this device.")


def test_surveyjs_asks_a_follow_up_only_where_it_applies(
    visit: Visit, new_host: NewHost, npm: Path, server: Server
) -> None:
    """It appears with the answer that it follows and vanishes with it, and what is no longer shown is not needed."""
    publish_to(server, FOLLOW_UP)
    page = visit.page
    page.goto(put_surveyjs(new_host, npm, "follow-up"))
    often = page.get_by_role("radiogroup", name="How often")
    vaped = page.get_by_role("radiogroup", name="Have you vaped")
    expect(vaped).to_be_visible()
    expect(often).to_be_hidden()
    vaped.get_by_text("Yes", exact=True).click()
    often.get_by_text("Every day", exact=True).click()
    vaped.get_by_text("No", exact=True).click()
    expect(often).to_be_hidden()
    page.get_by_role("button", name="Complete").click()
    expect(page.get_by_role("heading", name="Sent. Thank you.")).to_be_visible()
    sent = visit.check(server, "follow-up")
    assert sent["booklet"] == 0 and len(sent["reports"]) == 1


def test_surveyjs_where_it_is_not_easy(context: BrowserContext, surveyjs: str, server: Server) -> None:
    """Leaving the page leaves no answers in it; a refusal and a missing survey are both reported."""
    page = Visit(context.new_page(), allow="422").page
    page.goto(surveyjs)
    drinks = page.get_by_role("spinbutton", name="How many alcoholic drinks")
    drinks.fill(TRUTH)
    drinks.blur()
    page.evaluate(LEAVE)
    expect(drinks).to_have_value("")
    refuse_all(page, server)
    fill_surveyjs(page)
    page.get_by_role("button", name="Complete").click()
    expect(page.get_by_text("This did not work (refused).")).to_be_visible()
    page = context.browser.new_context().new_page()  # type: ignore[union-attr]
    page.route(f"{server.base}/api/**", lambda route: route.abort())
    page.goto(surveyjs)
    expect(page.locator("#survey")).to_have_text("The survey cannot be shown (unreachable).")
    page.context.close()
