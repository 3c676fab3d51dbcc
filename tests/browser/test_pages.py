"""The pages of analysts and admins in a real Chromium: what they look like, what they run, and what they ask for."""

from __future__ import annotations

import os
import re
from base64 import b64encode
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from deniable_protocol import parse_survey, publish, survey_from_tree
from deniable_server.planning import publish_survey
from deniable_server.simulate import Population, simulate_directly
from deniable_server.storage import Fieldwork, Role, Storage, open_storage
from deniable_server.storage.tokens import make_token
from tests.helpers.hostile_texts import HOSTILE, hostile_survey
from tests.helpers.questionnaire import Faults, field, go_to, open_survey, overflows, review, send, violations
from tests.helpers.servers import Server, running

RESULTS = "/surveys/campus-health"
PAGES = {
    "the list": "/",
    "the dashboard": RESULTS,
    "a split, weighted dashboard": f"{RESULTS}?by=campus&weight:campus:north=60&weight:campus:south=40",
    "a refused dashboard": f"{RESULTS}?confidence=2",
    "a survey without answers": "/surveys/empty",
    "a comparison": f"{RESULTS}/compare?question=substance&by=campus",
    "a comparison to be chosen": f"{RESULTS}/compare",
    "a comparison of surveys": f"{RESULTS}/compare?question=vaped&with=wave-1",
    "a cross-tab": f"{RESULTS}/crosstab?rows=vaped&columns=stress",
    "a cross-tab to be chosen": f"{RESULTS}/crosstab",
    "a cross-tab that was not planned": f"{RESULTS}/crosstab?rows=substance&columns=stress",
    "how far a survey is": f"{RESULTS}/progress",
    "how far a survey without answers is": "/surveys/empty/progress",
    "the archive": "/?archived=1",
    "a search that finds nothing": "/?q=nothing",
    "sharing": f"{RESULTS}/share",
    "where one is signed in": "/sessions",
    "beginning a survey": "/surveys/new",
    "fieldwork": f"{RESULTS}/fieldwork",
    "deleting for good": f"{RESULTS}/delete",
    "who can see a survey": f"{RESULTS}/access",
    "people": "/people",
    "activity": "/activity",
    "closing": f"{RESULTS}/close",
    "holding results back": f"{RESULTS}/hold",
    "an address that is not there": "/nowhere",
}


ABOVE_FIRST_LINE = """[...document.querySelectorAll("label.check")].map((label) => {
  const box = label.querySelector("input").getBoundingClientRect();
  const text = document.createRange();
  text.selectNodeContents(label.querySelector("span") ?? label.lastChild);
  const line = text.getClientRects()[0];
  return line.top + line.height / 2 - box.top - box.height / 2;
})"""
"""From the middle of each box to the middle of the first line next to it."""


@pytest.fixture(scope="module")
def example() -> bytes:
    """The example survey as it is published: with booklets, a follow-up and a planned cross-tab."""
    return publish_survey(parse_survey((files("deniable_server") / "example.toml").read_bytes()))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, example: bytes) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("pages")
    storage = open_storage(str(folder / "deniable.db"))
    earlier = example.replace(b'"campus-health"', b'"wave-1"', 1).replace(b"2026", b"2025", 1)
    empty = example.replace(b'"campus-health"', b'"empty"', 1)
    for document in (example, earlier, empty, publish(survey_from_tree(hostile_survey("hostile")))):
        storage.publish(document)
    for survey, respondents in (("campus-health", 4_000), ("wave-1", 1_500), ("hostile", 200)):
        answer(storage, survey, respondents)
    storage.close()
    with running(folder / "deniable.db", folder / "log") as server:
        yield server


def answer(storage: Storage, survey: str, respondents: int) -> None:
    published = storage.find(survey)
    assert published is not None
    simulate_directly(storage, published, Population(published.document.survey, seed=1), respondents, lambda done: None)


def token(server: Server, role: Role = "admin") -> str:
    storage = open_storage(str(server.database), create=False)
    secret, _ = make_token(storage, role, "browser")
    storage.close()
    return secret


def sign_in(page: Page, server: Server, role: Role = "admin") -> None:
    page.goto(f"{server.base}/sign-in")
    page.get_by_label("Your access token").fill(token(server, role))
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Surveys").wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_is_hard_to_use(browser: Browser, server: Server, scheme: str) -> None:
    """axe finds nothing on any page, with all details open, on a screen and on a phone; nothing is wider than that.
    What one ticks is level with the first line of its text.
    """
    context = browser.new_context(color_scheme=scheme, viewport={"width": 1200, "height": 900})  # type: ignore[arg-type]
    page = context.new_page()
    faults = Faults(page, allow="404")
    page.goto(f"{server.base}/sign-in")
    assert violations(page) == []
    sign_in(page, server)
    for name, path in PAGES.items():
        page.set_viewport_size({"width": 1200, "height": 900})
        page.goto(server.base + path)
        page.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true; })")
        assert violations(page) == [], name
        page.set_viewport_size({"width": 360, "height": 740})
        assert not overflows(page), name
        assert all(abs(pixels) < 3 for pixels in page.evaluate(ABOVE_FIRST_LINE)), name
        assert violations(page) == [], f"{name} on a phone"
    assert [fault for fault in faults if "422" not in fault] == []
    context.close()


def test_access_is_given_on_a_page(browser: Browser, context: BrowserContext, server: Server) -> None:
    """An admin makes an access token, copies it, and revokes it after it was used: axe finds nothing on the way."""
    page = context.new_page()
    faults = Faults(page)
    sign_in(page, server)
    page.get_by_role("link", name="People").click()
    page.get_by_label("Who it is for").fill("Zoë")
    page.get_by_label("reader sees").check()
    page.get_by_role("checkbox", name="Campus health 2026 campus-health").check()
    page.get_by_role("button", name="Make an access token").click()
    secret = page.get_by_label("New access token").input_value()
    assert (
        page.get_by_label("A sentence to send")
        .input_value()
        .endswith(f"/sign-in and paste this access token: {secret}")
    )
    expect(page.get_by_role("button", name="Copy")).to_have_count(2)
    assert violations(page) == []
    zoe = browser.new_context()
    hers = zoe.new_page()
    hers.goto(f"{server.base}/sign-in")
    hers.get_by_label("Your access token").fill(secret)
    hers.keyboard.press("Enter")
    hers.wait_for_url(f"**{RESULTS}")
    page.get_by_role("link", name="Change the access of Zoë").click()
    expect(page.get_by_role("checkbox", name="Campus health 2026 campus-health")).to_be_checked()
    assert violations(page) == []
    page.get_by_role("link", name="Back to people").click()
    page.get_by_role("link", name="Revoke the access of Zoë").click()
    expect(page.get_by_role("main")).to_contain_text("1 open session ends with it.")
    assert violations(page) == []
    page.get_by_role("button", name="Revoke for good").click()
    expect(page.get_by_role("main")).not_to_contain_text("Zoë")
    hers.reload()
    hers.wait_for_url("**/sign-in?**")
    page.get_by_role("link", name="Activity").click()
    expect(page.get_by_role("row").nth(1)).to_contain_text("revoked the access of Zoë")
    assert faults == []
    zoe.close()


def test_fieldwork_from_opening_to_the_end(browser: Browser, server: Server, example: bytes) -> None:
    """Times are those of the browser: eight in the morning in Honolulu is shown as eight again, and stored as 18:00
    UTC. A respondent in Berlin reads when it opens there. It is opened at once, copied to a draft, closed, and deleted
    by typing its name.
    """
    storage = open_storage(str(server.database), create=False)
    storage.publish(example.replace(b'"campus-health"', b'"short"', 1).replace(b"2026", b"2027", 1))
    context = browser.new_context(timezone_id="Pacific/Honolulu")
    page = context.new_page()
    faults = Faults(page)
    sign_in(page, server)
    page.goto(f"{server.base}/surveys/short/fieldwork")
    expect(page.locator("#zone")).to_have_text("Times are in your time zone: Pacific/Honolulu.")
    page.get_by_label("Opens").fill("2031-01-07T08:00")
    page.get_by_label("Stop at this many answers").fill("500")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_have_text("Saved.")
    expect(page.get_by_label("Opens")).to_have_value("2031-01-07T08:00")
    expect(page.get_by_role("main")).to_contain_text("7 January 2031 at 08:00")
    published = storage.find("short")
    assert published is not None and storage.fieldwork(published).opens_at == 1_925_575_200  # 2031-01-07T18:00Z
    assert violations(page) == []
    visitor = browser.new_context(timezone_id="Europe/Berlin", locale="en-GB").new_page()
    visitor.goto(f"{server.base}/s/short")
    expect(visitor.locator("deniable-survey")).to_contain_text("January 7, 2031 at 7:00 PM")
    page.get_by_role("button", name="Open now").click()
    expect(page.locator(".heading .badge")).to_have_text("open")
    visitor.reload()
    visitor.get_by_role("button", name="Start", exact=True).wait_for()
    visitor.context.close()

    page.get_by_role("button", name="Copy to a draft").click()
    page.wait_for_url("**/drafts/*")
    expect(page.get_by_label("Title").first).to_have_value("Campus health 2027")
    page.goto(f"{server.base}/surveys/short/fieldwork")
    page.get_by_role("link", name="Close the survey").click()
    page.get_by_role("button", name="Close short for good").click()
    expect(page.locator(".heading .badge")).to_have_text("closed")
    page.get_by_role("link", name="Fieldwork").click()
    page.get_by_role("link", name="Delete the survey").click()
    page.get_by_label("To confirm").fill("something else")
    page.get_by_role("button", name="Delete for good").click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing was deleted.")
    page.get_by_label("To confirm").fill("short")
    page.get_by_role("button", name="Delete for good").click()
    expect(page.get_by_role("status")).to_have_text("short was deleted for good.")
    assert storage.find("short") is None and [fault for fault in faults if "422" not in fault] == []
    storage.close()
    context.close()


def test_a_time_that_nobody_touches_stays(browser: Browser, server: Server, example: bytes) -> None:
    """In the hour that is there twice when summer time ends, in either half of it, to the second. The page may be
    opened again in between, in whatever way. A time that is typed is that of the place.
    """
    storage = open_storage(str(server.database), create=False)
    storage.publish(example.replace(b'"campus-health"', b'"twice"', 1).replace(b"2026", b"2028", 1))
    published = storage.find("twice")
    assert published is not None
    context = browser.new_context(timezone_id="Europe/Berlin")
    page = context.new_page()
    sign_in(page, server)

    def save() -> None:
        with page.expect_navigation():  # to the end: the script of the page has run then
            page.get_by_role("button", name="Save").click()

    for exact in (3_812_920_245, 3_812_923_845):  # 2090-10-29T00:30:45Z and an hour later: half past two, both
        storage.schedule(published, Fieldwork(closes_at=exact))
        page.goto(f"{server.base}/surveys/twice/fieldwork")
        page.reload()
        page.get_by_label("Stop at this many answers").fill("300")
        page.goto(f"{server.base}/people")
        page.go_back()
        expect(page.get_by_label("Closes")).to_have_value("2090-10-29T02:30")
        page.get_by_label("Stop at this many answers").fill("500")
        save()
        assert storage.fieldwork(published) == Fieldwork(None, exact, 500)
    page.get_by_label("Closes").fill("2090-10-29T04:30")
    save()
    expect(page.get_by_label("Closes")).to_have_value("2090-10-29T04:30")
    assert storage.fieldwork(published).closes_at == 3_812_923_800 + 2 * 3600
    page.get_by_label("Closes").fill("")
    save()
    expect(page.get_by_label("Closes")).to_have_value("")
    assert storage.fieldwork(published) == Fieldwork(None, None, 500)
    storage.close()
    context.close()


def test_hostile_texts_run_nothing(context: BrowserContext, server: Server) -> None:
    """Texts that try to be script, markup or attributes are shown as they are, and nothing of them runs."""
    page = context.new_page()
    faults = Faults(page)
    sign_in(page, server)
    for path in (
        "/",
        "/surveys/hostile?by=segment",
        "/surveys/hostile/compare?question=one&by=segment",
        "/surveys/hostile/crosstab?rows=one&columns=segment",
        "/surveys/hostile/share",
        "/surveys/hostile/access",
        "/people",
        "/activity",
        "/surveys/hostile/close",
        "/surveys/hostile/hold",
        "/surveys/hostile/fieldwork",
        "/surveys/hostile/delete",
    ):
        page.goto(server.base + path)
        page.set_viewport_size({"width": 360, "height": 740})
        assert not overflows(page), path
        assert page.evaluate("window.hacked") is None and page.locator("img, iframe, object").count() == 0
        assert page.locator("b", has_text=re.compile("^(bold|x)$")).count() == 0
        assert page.locator("script").count() <= 1
    page.goto(f"{server.base}/surveys/hostile")
    shown = page.locator("main").inner_text()
    for text in HOSTILE:
        if text.isascii() and len(text) < 60:
            assert " ".join(text.split()) in " ".join(shown.split()), text
    assert faults == []


def test_no_request_goes_elsewhere(context: BrowserContext, server: Server) -> None:
    """Whatever page is opened, every request goes to this server."""
    asked: set[str] = set()
    context.on("request", lambda request: asked.add(request.url))
    page = context.new_page()
    sign_in(page, server)
    for path in PAGES.values():
        page.goto(server.base + path)
    assert len(asked) > len(PAGES) and all(url.startswith(f"{server.base}/") for url in asked)


def test_the_session_is_out_of_reach(context: BrowserContext, server: Server) -> None:
    """No script sees the cookie; a link from another site still finds the session; signing out ends it."""
    page = context.new_page()
    sign_in(page, server)
    (cookie,) = context.cookies()
    assert cookie["httpOnly"] and cookie["sameSite"] == "Strict" and page.evaluate("document.cookie") == ""
    # localhost and 127.0.0.1 are the same machine and, to a browser, different sites.
    elsewhere = server.base.replace("127.0.0.1", "localhost")
    page.route(
        f"{elsewhere}/mail",
        lambda route: route.fulfill(body=f'<a href="{server.base}{RESULTS}">Look</a>', content_type="text/html"),
    )
    page.goto(f"{elsewhere}/mail")
    page.get_by_role("link", name="Look").click()
    page.get_by_role("heading", name="Campus health 2026").wait_for()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("heading", name="Sign in").wait_for()
    page.goto(server.base + RESULTS)
    page.get_by_role("heading", name="Sign in").wait_for()


def test_another_site_cannot_send_a_form(context: BrowserContext, server: Server) -> None:
    """A page elsewhere that posts to this server, in the browser of an admin who is signed in, changes nothing."""
    page = context.new_page()
    sign_in(page, server)
    elsewhere = server.base.replace("127.0.0.1", "localhost")
    form = f'<form method=post action="{server.base}{RESULTS}/close"><button>Win</button></form>'
    page.route(f"{elsewhere}/evil", lambda route: route.fulfill(body=form, content_type="text/html"))
    page.goto(f"{elsewhere}/evil")
    with page.expect_navigation() as navigation:
        page.get_by_role("button").click()
    assert navigation.value.status in (401, 403)
    page.goto(server.base + RESULTS)
    expect(page.locator(".heading .badge")).to_have_text("open")


def test_a_shared_link_opens_the_results_and_no_more(context: BrowserContext, browser: Browser, server: Server) -> None:
    """A link is made and copied on the page and opened by somebody else; once revoked, it opens nothing."""
    page = context.new_page()
    sign_in(page, server, "analyst")
    page.goto(f"{server.base}{RESULTS}/share")
    page.get_by_label("Who it is for").fill("The board")
    page.get_by_role("button", name="Make a link").click()
    link = page.get_by_label("New link to the results").input_value()
    assert link.startswith(f"{server.base}/shared/")
    guest = browser.new_context().new_page()
    guest.goto(link)
    assert violations(guest) == []
    guest.get_by_role("button", name="Open the results").click()
    guest.get_by_role("heading", name="Campus health 2026").wait_for()
    assert guest.get_by_role("link", name="Share").count() == 0
    guest.get_by_role("link", name="Deniable", exact=True).click()
    guest.get_by_role("heading", name="Campus health 2026").wait_for()
    for elsewhere in ("/", "/surveys/wave-1", "/surveys/new"):
        guest.goto(server.base + elsewhere)
        assert guest.url.startswith(f"{server.base}{RESULTS}?") and "not shared with you" in guest.inner_text("main")
    guest.get_by_text("Download", exact=True).click()
    with guest.expect_download() as download:
        guest.get_by_role("link", name="Estimates as a table").click()
    assert "vaped" in Path(download.value.path()).read_text()
    page.get_by_role("button", name="Revoke the link for The board").first.click()
    guest.reload()
    guest.get_by_role("heading", name="Sign in").wait_for()
    guest.context.close()


def test_the_dashboard_follows_until_it_is_paused(context: BrowserContext, server: Server, example: bytes) -> None:
    """New submissions appear on an open page and keep what the reader has opened; a paused page does not change."""
    page = context.new_page()
    page.clock.install()
    sign_in(page, server)
    page.goto(f"{server.base}/surveys/wave-1")
    heading = page.locator("#submissions")
    before = int(re.sub(r"\D", "", heading.inner_text()))
    page.locator("#about-survey summary").click()
    storage = open_storage(str(server.database), create=False)
    answer(storage, "wave-1", 100)
    page.clock.run_for(16_000)
    expect(heading).to_contain_text(f"{before + 100:,}")
    assert page.locator("#about-survey").get_attribute("open") is not None
    expect(page.get_by_role("status")).to_contain_text("Updated")
    assert f"{before + 100:,} submissions" in str(page.locator("#scope").text_content()), "what is printed follows too"
    page.get_by_role("button", name="Pause").click()
    answer(storage, "wave-1", 100)
    storage.close()
    page.clock.run_for(60_000)
    expect(page.get_by_role("status")).to_have_text("Paused.")
    assert f"{before + 100:,}" in heading.inner_text()
    page.get_by_role("button", name="Follow").click()
    expect(heading).to_contain_text(f"{before + 200:,}")


def test_following_says_how_it_stands(context: BrowserContext, server: Server) -> None:
    """While the server is away the page says so, and takes it back; when the session is over, it stops and says so.
    Only the tables that the reader has opened are open after an update.
    """
    page = context.new_page()
    page.clock.install()
    sign_in(page, server)
    page.goto(f"{server.base}/surveys/wave-1")
    said = page.get_by_role("status")
    context.set_offline(True)
    page.clock.run_for(16_000)
    expect(said).to_contain_text("could not be reached")
    context.set_offline(False)
    page.clock.run_for(16_000)
    expect(said).to_have_text("Following new submissions.")
    page.locator("#about-stress summary").click()
    storage = open_storage(str(server.database), create=False)
    answer(storage, "wave-1", 50)
    page.clock.run_for(16_000)
    expect(said).to_contain_text("Updated")
    assert page.locator("#results details[open]").count() == 1
    assert page.locator("section[aria-labelledby=q-stress] details[open]").count() == 1
    assert page.evaluate("document.activeElement.parentElement.id") == "about-stress"
    for kept in storage.tokens.all():
        storage.tokens.revoke(kept.id)
    storage.close()
    page.clock.run_for(16_000)
    expect(said).to_have_text("The session is over. Reload the page to sign in.")
    expect(page.get_by_role("button", name="Follow")).to_be_visible()
    assert page.locator("#results").inner_html() == "", "what was shown does not outlive the session"


def test_what_was_downloaded_or_left_behind(context: BrowserContext, server: Server) -> None:
    """A table arrives as a file under its name; after signing out, going back shows nothing of the results."""
    page = context.new_page()
    sign_in(page, server)
    page.goto(server.base + RESULTS)
    page.get_by_text("Download", exact=True).click()
    with page.expect_download() as started:
        page.get_by_role("link", name="Estimates as a table (CSV)").click()
    assert started.value.suggested_filename == "campus-health-estimates.csv" and "," in started.value.path().read_text()
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url(f"{server.base}/sign-in")
    page.go_back()
    expect(page.get_by_label("Your access token")).to_be_visible()
    assert page.locator("#results").count() == 0


def test_filters_work_by_keyboard_and_stay_in_the_address(context: BrowserContext, server: Server) -> None:
    """Choosing a campus and a confidence changes the number of answers on every card, and the address can be kept."""
    page = context.new_page()
    sign_in(page, server)
    page.goto(server.base + RESULTS)
    page.get_by_label("Which campus?").first.select_option("North")
    page.get_by_label("Confidence").select_option("99%")
    page.get_by_role("button", name="Show").press("Enter")
    page.wait_for_url("**where=campus*")
    north = re.sub(r"\D", "", page.locator("#submissions").inner_text())
    assert 0 < int(north) < 4_000
    asked = [
        re.search(r"of ([\d,]+) respondents were asked", text)
        for text in page.locator(".cards .about").all_text_contents()
    ]
    assert [found and found[1].replace(",", "") for found in asked] == [north] * 9
    assert page.get_by_label("Confidence").input_value() == "0.99"


# --- pictures for the documentation ----------------------------------------------------------------------------------


def device_with_follow_up(browser: Browser, server: Server) -> Page:
    """A device whose booklet has the question with a follow-up, and no other: one of fourteen draws it."""
    for _ in range(300):
        page = browser.new_context(viewport={"width": 420, "height": 900}).new_page()
        open_survey(page, server, mode="")
        if field(page, "vaped").count() and not field(page, "stress").count():
            return page
        page.context.close()
    raise AssertionError("300 devices drew other booklets: less than once in a billion times")


def test_screenshots(browser: Browser, server: Server, tmp_path: Path) -> None:
    """The pictures in the documentation show these pages; make screenshots retakes them."""
    folder = Path(os.environ.get("DENIABLE_SCREENSHOTS") or tmp_path)
    for scheme, suffix in (("light", ""), ("dark", "-dark")):
        context = browser.new_context(color_scheme=scheme, viewport={"width": 1100, "height": 1300})  # type: ignore[arg-type]
        page = context.new_page()
        sign_in(page, server)
        page.goto(server.base + RESULTS)
        page.screenshot(path=folder / f"dashboard{suffix}.png")
        context.close()
    page = device_with_follow_up(browser, server)
    field(page, "vaped").get_by_label("Yes").check()
    field(page, "how_often").get_by_label("Every day").check()
    page.evaluate("scrollTo(0, 0)")
    page.screenshot(path=folder / "form.png")
    go_to(page, field(page, "campus").get_by_label("South")).check()
    review(page)
    send(page)
    page.get_by_text("See what was sent").click()
    page.evaluate("scrollTo(0, 0)")
    page.screenshot(path=folder / "receipt.png")
    pictures = (
        b64encode((folder / name).read_bytes()).decode() for name in ("form.png", "receipt.png", "dashboard.png")
    )
    page.set_viewport_size({"width": 1790, "height": 1000})
    page.goto("about:blank")
    page.set_content("<body style='margin: 0; display: flex; gap: 20px; background: #d0d7de; padding: 20px'>")
    for picture in pictures:
        page.evaluate(
            "(data) => { document.body.append(Object.assign(new Image(), { src: data, height: 960 })); }",
            f"data:image/png;base64,{picture}",
        )
    page.wait_for_function("[...document.images].every((image) => image.complete)")
    page.locator("body").screenshot(path=folder / "overview.png")
    page.context.close()
    for name in ("dashboard", "dashboard-dark", "form", "receipt", "overview"):
        assert (folder / f"{name}.png").stat().st_size > 20_000
