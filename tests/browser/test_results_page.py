"""The results page in a real Chromium: what is seen first, that bars can be compared, and what is printed."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from importlib.resources import files

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from pypdf import PdfReader

from deniable_protocol import parse_survey
from deniable_server.planning import publish_survey
from deniable_server.simulate import Population, simulate_directly
from deniable_server.storage import open_storage
from deniable_server.storage.tokens import make_token
from tests.helpers.questionnaire import overflows, violations
from tests.helpers.servers import Server, running

RESULTS = "/surveys/campus-health"
WEIGHTED = f"{RESULTS}?by=campus&weight:campus:north=60&weight:campus:south=40"
BOX = "(element) => (({ x, y, width, height }) => ({ x, y, width, height }))(element.getBoundingClientRect())"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("results")
    storage = open_storage(str(folder / "deniable.db"))
    survey = parse_survey((files("deniable_server") / "example.toml").read_bytes())
    storage.publish(publish_survey(survey), survey.respondents)
    published = storage.find("campus-health")
    assert published is not None
    simulate_directly(storage, published, Population(published.document.survey, seed=1), 8_000, lambda done: None)
    storage.close()
    with running(folder / "deniable.db", folder / "log") as server:
        yield server


@pytest.fixture
def page(context: BrowserContext, server: Server) -> Page:
    """Signed in, on the results."""
    storage = open_storage(str(server.database), create=False)
    secret, _ = make_token(storage, "admin", "browser")
    storage.close()
    page = context.new_page()
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(f"{server.base}/sign-in?next={RESULTS}")
    page.get_by_label("Your access token").fill(secret)
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Campus health 2026").wait_for()
    page.wait_for_load_state()  # the heading can be there before the style sheets are
    return page


@pytest.mark.parametrize("path", [RESULTS, f"{RESULTS}?by=campus&where=campus:north", WEIGHTED])
def test_the_first_number_is_on_the_first_screen(page: Page, server: Server, path: str) -> None:
    """At 1280 x 800, nothing scrolled: the number of the first question and its whole chart, filtered or weighted."""
    page.goto(server.base + path)
    first = page.locator(".question").first
    number = first.locator(".value b").first.evaluate(BOX)
    chart = first.locator("figure").evaluate(BOX)
    assert number["y"] + number["height"] < 450 and chart["y"] + chart["height"] < 800, (number, chart)


@pytest.mark.parametrize("width", [1920, 1280, 768, 360])
def test_bars_begin_and_end_at_the_same_place(page: Page, server: Server, width: int) -> None:
    """The plots of all questions are equally wide, one below the other, in the order of the survey; those of groups
    too. So a bar that is longer stands for a larger share, wherever it is on the page.
    """
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{server.base}{RESULTS}?by=campus")
    plots = page.locator(".bars li > svg").evaluate_all(f"(all) => all.map({BOX})")
    assert len(plots) > 60
    assert len({(round(plot["x"]), round(plot["width"])) for plot in plots}) == 1
    tops = page.locator(".question").evaluate_all(f"(all) => all.map({BOX}).map((box) => box.y)")
    assert tops == sorted(tops) and not overflows(page)


@pytest.mark.parametrize("width", [1280, 768, 360])
def test_menus_fit_the_screen(page: Page, width: int) -> None:
    """What a menu shows is not cut off, on a phone either."""
    page.set_viewport_size({"width": width, "height": 900})
    for name in ("protection", "cross-tabs", "downloads"):
        page.locator(f"#{name} summary").click()
        box = page.locator(f"#{name} .card").evaluate(BOX)
        assert box["x"] >= 0 and box["x"] + box["width"] <= width, (name, box)
        page.keyboard.press("Escape")
    assert not overflows(page)


def test_menus_work_by_keyboard(page: Page) -> None:
    """Each opens by Enter, shows its links, and closes by Escape, after which the keyboard is back on it."""
    for name, text in (("cross-tabs", "Have you vaped in the last 30 days? and"), ("downloads", "Estimates as JSON")):
        menu = page.locator(f"#{name}")
        menu.locator("summary").focus()
        page.keyboard.press("Enter")
        expect(menu.get_by_role("link", name=text)).to_be_visible()
        page.keyboard.press("Tab")
        page.keyboard.press("Escape")
        expect(menu.get_by_role("link", name=text)).to_be_hidden()
        assert page.evaluate("document.activeElement.parentElement.id") == name
    page.locator("#downloads summary").click()
    page.get_by_role("heading", name="Campus health 2026").click()
    expect(page.get_by_role("link", name="Estimates as JSON")).to_be_hidden()


@pytest.mark.parametrize(
    ("query", "most", "said"),
    [
        ("", 3, r"All submissions · 95% intervals · .* \(UTC\) · 8,000 submissions"),
        (
            "?where=campus:north&confidence=0.9",
            3,
            r"Only “Which campus\?” North · 90% intervals · .* · [\d,]+ submissions",
        ),
        ("?by=campus", 4, r"split by “Which campus\?” · 95% intervals"),
        (
            "?by=campus&weight:campus:north=60&weight:campus:south=40",
            4,
            r"split by “Which campus\?” · weighted to “Which campus\?” · ",
        ),
    ],
)
def test_it_prints_on_few_pages_that_say_what_was_filtered(
    page: Page, server: Server, query: str, most: int, said: str
) -> None:
    """Nine questions and a cross-tab, from a dark screen too: at most four pages. Each begins with whose answers it
    shows. There are no controls, nothing that would have to be opened, and no page without results.
    """
    page.emulate_media(color_scheme="dark")
    page.goto(f"{server.base}{RESULTS}{query}")
    pages = [" ".join(sheet.extract_text().split()) for sheet in PdfReader(io.BytesIO(page.pdf(format="A4"))).pages]
    assert len(pages) <= most
    for sheet in pages:
        assert re.search(rf"Campus health 2026 · .*{said}", sheet[:400]), sheet[:400]
        assert len(sheet) > 200, "a page that is nearly empty"
    whole = " ".join(pages)
    assert "How much do you owe" in whole and "Planned cross-tabs" in whole and "at most 37% of the time" in whole
    for word in ("About this number", "Sign out", "Download", "Standard error", "Weights and more", "Pause"):
        assert word not in whole, word


def test_paper_is_light(page: Page) -> None:
    """Letters are dark on white also from a dark screen."""
    page.emulate_media(media="print", color_scheme="dark")
    colours = page.evaluate("[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]")
    assert sum(map(int, re.findall(r"\d+", colours[0])[:3])) < 150, colours
    assert not page.locator(".controls").is_visible() and not page.locator(".top").is_visible()


@pytest.mark.parametrize("path", [f"{RESULTS}?by=campus", WEIGHTED])
def test_numbers_and_words_can_be_read_aloud(page: Page, server: Server, path: str) -> None:
    """Every chart names what it shows, every number is text; axe finds nothing, with everything open."""
    page.goto(server.base + path)
    assert page.locator("[aria-label^='Shares of the points of the scale. ']").count() == 1
    page.evaluate("document.querySelectorAll('#results details').forEach((details) => { details.open = true; })")
    assert violations(page) == []


def test_an_expired_link_looks_expired(browser: Browser, page: Page, server: Server) -> None:
    """To the person who has it, and in the list of those who made it."""
    page.goto(f"{server.base}{RESULTS}/share")
    page.get_by_label("Who it is for").fill("The board")
    page.get_by_label("Works for").select_option("1 day")
    page.get_by_role("button", name="Make a link").click()
    link = page.get_by_label("New link to the results").input_value()
    storage = open_storage(str(server.database), create=False)
    storage._write(("UPDATE tokens SET expires_on = '2026-01-01' WHERE label = 'The board'", {}))  # type: ignore[attr-defined]
    storage.close()
    guest = browser.new_context().new_page()
    answered = guest.goto(link)
    assert answered is not None and answered.status == 410
    expect(guest.get_by_role("heading", name="This link has expired")).to_be_visible()
    assert violations(guest) == []
    guest.context.close()
    page.goto(f"{server.base}{RESULTS}/share")
    expect(page.locator("tr.over")).to_contain_text("expired on 2026-01-01")
    assert violations(page) == []
