"""client/web/examples, which docs/embedding.md shows: built from the packed package with the real frameworks, opened in
Chromium against a real server.
"""

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
    section,
    submission_of,
    surveys,
)
from tests.helpers.npm import built
from tests.helpers.questionnaire import SENT, ready, review, status
from tests.helpers.servers import Server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, everything: bytes) -> Iterator[Server]:
    with surveys(tmp_path_factory.mktemp("site"), everything) as server:
        yield server


@pytest.fixture
def visit(context: BrowserContext) -> Visit:
    return Visit(context.new_page())


pytestmark = pytest.mark.xdist_group("npm")  # one installation for all of them


def test_the_document_shows_the_files_of_the_examples(root: Path) -> None:
    """Below the name of an example, the document shows files of that example, and they are as they are built."""
    examples = root / "client/web/examples"
    shown = {}
    for name, heading in (("plain", "A bundler"), ("react", "React"), ("vue", "Vue"), ("svelte", "Svelte")):
        files = {path.name: path.read_text("utf-8") for path in (examples / name).iterdir() if path.is_file()}
        texts = re.findall(r"`([\w.]+)`:\n\n```\w+\n(.*?)^```", section(heading), re.MULTILINE | re.DOTALL)
        assert len(texts) == section(heading).count("```") // 2
        assert {file: files[file] for file, _ in texts} == dict(texts)
        shown[name] = {file for file, _ in texts}
    assert shown == {
        "plain": {"main.js"},
        "react": {"main.tsx"},
        "vue": {"App.vue", "vite.config.js"},
        "svelte": {"App.svelte"},
    }
    assert block("SurveyJS", "js") == (examples / "surveyjs/main.js").read_text("utf-8")


@pytest.mark.parametrize("name", ["plain", "react", "vue", "svelte"])
def test_an_example(visit: Visit, host: Host, server: Server, npm_examples: Path, name: str) -> None:
    """Built with Vite from the packed package, under the document's policy: the questionnaire begins, texts and budget
    are taken, the event comes, and nothing is lost.
    """
    host.put_folder("", built(npm_examples, name))
    page = visit.page
    page.goto(f"{host.base}/index.html")
    ready(page)
    element = page.locator("deniable-survey")
    assert element.evaluate("(element) => element.budget ?? null") == (None if name == "plain" else 20)
    assert element.evaluate("(element) => [...element.attributes].map(({ name }) => name)") == ["src"]
    expect(element.get_by_text("The survey is loading")).to_be_hidden()
    fill_truly(page)
    review(page)
    page.get_by_role("button", name="Send" if name == "plain" else "Send it", exact=True).click()
    expect(status(page)).to_have_text(SENT)
    if name == "plain":
        expect(page).to_have_title("Thank you")
    else:
        expect(page.locator("#thanks")).to_have_text(re.compile(r"^Thank you\. Submission [0-9a-f]{32}\.$"))
    visit.check(server, "campus-health")


def test_every_language_is_in_what_a_bundler_makes(visit: Visit, host: Host, root: Path, npm_examples: Path) -> None:
    """The questionnaire of the plain example speaks each language for which the package has texts."""
    host.put_folder("", built(npm_examples, "plain"))
    languages = sorted(path.stem for path in (root / "client/web/src/deniable/texts").iterdir())
    assert "ar" in languages and "en" in languages
    page = visit.page
    page.goto(f"{host.base}/index.html")
    for language in languages:
        page.locator("deniable-survey").evaluate("(element, language) => { element.lang = language; }", language)
        expect(page.locator(f"deniable-survey .start[lang={language}]")).to_be_visible()
    assert visit.faults == []


@pytest.fixture
def surveyjs(new_host: NewHost, npm_examples: Path) -> str:
    return put_surveyjs(new_host, npm_examples)


def put_surveyjs(new_host: NewHost, npm_examples: Path, survey: str = "campus-health") -> str:
    """The address of the page with SurveyJS."""
    (addition,) = re.findall(r"`(style-src-attr [^`]+)`", section("SurveyJS"))
    host = new_host(f"{policy()}; {addition}")
    host.put_folder("", built(npm_examples, "surveyjs"))
    for path, content in host.files.items():
        host.files[path] = content.replace(b"/s/campus-health", f"/s/{survey}".encode())
    return f"{host.base}/index.html"


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
    assert asked == {server.base, re.sub(r"/index.html$", "", surveyjs)}
    page.goto(surveyjs)
    expect(page.locator("#survey")).to_have_text("This survey was already answered on this device.")


def test_surveyjs_asks_a_follow_up_only_where_it_applies(
    visit: Visit, new_host: NewHost, npm_examples: Path, server: Server
) -> None:
    """It appears with the answer that it follows and vanishes with it, and what is no longer shown is not needed."""
    publish_to(server, FOLLOW_UP)
    page = visit.page
    page.goto(put_surveyjs(new_host, npm_examples, "follow-up"))
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
