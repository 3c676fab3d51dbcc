"""docs/embedding.md: every example, unchanged, on a page of another site, in a real Chromium."""

from __future__ import annotations

import base64
import hashlib
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from deniable_protocol import verify
from deniable_web import integrity
from tests.helpers.embedding_examples import (
    LEAVE,
    SERVER,
    TRUTH,
    TWO_BOOKLETS,
    TWO_QUESTIONS,
    WITHOUT_CHANCE,
    Host,
    NewHost,
    Visit,
    block,
    blocks,
    fill_truly,
    policy,
    publish_to,
    refuse_all,
    run,
    section,
    stored,
    submission_of,
    surveys,
)
from tests.helpers.machine import missing
from tests.helpers.questionnaire import SENT, SURVEY, field, overflows, ready, review, send, shadow_text, site, status
from tests.helpers.servers import Server, ask

ELEMENT = "The element in a page"
OWN_FORM = "A form of your own"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, everything: bytes) -> Iterator[Server]:
    with surveys(tmp_path_factory.mktemp("site"), everything) as server:
        yield server


@pytest.fixture
def visit(context: BrowserContext) -> Visit:
    return Visit(context.new_page())


# --- a link, and a phone ----------------------------------------------------------------------------------------------


def test_the_link_on_a_phone(browser: Browser, server: Server, everything: bytes) -> None:
    """The pinned link of the document, opened as on a phone: answered by touch and delivered, and it all fits."""
    link = section("A link").split("```")[1].strip().replace(SERVER, server.base)
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, device_scale_factor=3, is_mobile=True, has_touch=True, locale="en-GB"
    )
    visit = Visit(context.new_page())
    page = visit.page
    page.goto(link.replace("<digest>", verify(everything).digest))
    ready(page)
    fill_truly(page)
    page.get_by_role("button", name="Check your answers").tap()
    page.get_by_role("button", name="Change: Have you vaped").tap()
    assert not overflows(page)
    field(page, "vaped").get_by_label("No").tap()
    page.get_by_role("button", name="Check your answers").tap()
    page.get_by_role("heading", name="Check your answers").wait_for()
    assert not overflows(page)
    page.get_by_role("button", name="Send", exact=True).tap()
    expect(status(page)).to_have_text(SENT)
    assert not overflows(page)
    visit.check(server, "campus-health")
    context.close()


# --- the element ------------------------------------------------------------------------------------------------------


def put_plain_page(host: Host) -> str:
    host.put("/survey.css", block("Its looks", "css"))
    host.put("/survey.js", block(ELEMENT, "js"))
    return host.put("/page.html", block(ELEMENT, "html"))


def test_the_element_in_a_plain_page(visit: Visit, host: Host, server: Server) -> None:
    """Page, script and style of the document, under its policy: answered, delivered, and the page is told."""
    page = visit.page
    page.goto(put_plain_page(host))
    ready(page)
    expect(page.locator("#thanks")).to_be_hidden()
    fill_truly(page)
    review(page)
    send(page)
    expect(page.locator("#thanks")).to_be_visible()
    visit.check(server, "campus-health")
    assert not overflows(page)
    page.reload()
    expect(page.get_by_role("alert")).to_contain_text("This survey was already answered on this device")
    expect(page.locator("#thanks")).to_be_visible()


def test_the_page_is_told_why_it_failed(context: BrowserContext, host: Host) -> None:
    """The respondent sees the element's message, and the page gets the reason."""
    page = Visit(context.new_page(), allow="404").page
    host.put("/survey.js", block(ELEMENT, "js"))
    page.goto(host.put("/page.html", block(ELEMENT, "html").replace("/s/campus-health", "/s/no-such-survey")))
    expect(page.get_by_role("alert")).to_contain_text("The survey cannot be reached")
    expect(page).to_have_title("Campus health (unreachable)")


def test_budget(visit: Visit, host: Host) -> None:
    """Properties set before the module is loaded are used: a budget refuses before anything is asked."""
    page = visit.page
    host.put("/survey.js", block(ELEMENT, "js"))
    page.goto(host.put("/page.html", block(ELEMENT, "html")))
    ready(page)
    host.put("/survey.js", block(ELEMENT, "js").replace("budget = 20", 'budget = "0.5"'))
    page.reload()
    expect(page.get_by_role("alert")).to_contain_text("asks for more than this device allows")
    expect(page.locator("deniable-survey").get_by_role("radio")).to_have_count(0)
    expect(page).to_have_title("Campus health (budget)")
    assert visit.sent() == []


COLOUR = "(element, name) => getComputedStyle(element).getPropertyValue(name)"


@pytest.mark.parametrize(("scheme", "accent"), [("light", "rgb(91, 42, 134)"), ("dark", "rgb(211, 176, 242)")])
def test_its_looks(browser: Browser, host: Host, scheme: str, accent: str) -> None:
    """The style of the document reaches the buttons, the font and the parts, in the light and in the dark."""
    context = browser.new_context(color_scheme=scheme)  # type: ignore[arg-type]
    page = Visit(context.new_page()).page
    page.goto(put_plain_page(host))
    ready(page)
    button = page.get_by_role("button", name="Next", exact=True)
    assert button.evaluate(COLOUR, "background-color") == accent
    assert button.evaluate(COLOUR, "border-radius") == "0px"
    assert button.evaluate(COLOUR, "font-family") == "Georgia, serif"
    assert field(page, "vaped").evaluate(COLOUR, "border-bottom-color") == "rgb(140, 149, 159)"
    context.close()


def test_every_property_and_part_is_listed(root: Path) -> None:
    """The document names exactly the properties and parts that the element has."""
    modules = root / "client/web/src/deniable"
    code = "".join(file.read_text("utf-8") for file in modules.glob("*.js"))
    looks = section("Its looks")
    assert set(re.findall(r"`(--deniable-[a-z-]+)`", looks)) == set(re.findall(r"var\((--deniable-[a-z-]+)", code))
    parts = {*re.findall(r'\bpart: "([a-z-]+)"', code), *re.findall(r'#show\(\s*"([a-z-]+)"', code)}
    assert set(re.findall(r"`([a-z-]+)`", looks.partition("Parts, for")[2])) == parts


def test_another_language(visit: Visit, host: Host, server: Server) -> None:
    """Set as documented, all is in German from the first screen to what was sent, the page's own words included;
    numbers are written as in German.
    """
    host.put("/survey.js", block("Another language", "js"))
    page = visit.page
    page.goto(host.put("/page.html", block(ELEMENT, "html").replace("survey.css", "favicon.ico")))
    expect(page.get_by_role("button", name="Wie kann das sein?")).to_be_visible()
    page.get_by_role("button", name="Los geht’s").click()
    following = page.get_by_role("button", name="Weiter", exact=True)

    def answer(name: str, label: str) -> None:
        field(page, name).get_by_label(label).check()
        following.click()

    expect(page.locator("#progress-text")).to_have_text("Frage 1 von 9")
    following.click()
    expect(page.locator("#vaped-error")).to_have_text(re.compile("^Bitte wählen Sie eine Antwort"))
    expect(field(page, "vaped")).to_contain_text("In mindestens 26 von 100 Fällen sendet Ihr Gerät das Gegenteil.")
    answer("vaped", "Ja")
    answer("harassed", "Möchte ich nicht sagen")
    answer("substance", "Cannabis")
    answer("support", "Nichts davon")
    answer("stress", "Quite")
    answer("wellbeing", "Mixed")
    page.locator("#drinks-number").fill(TRUTH.replace(".", ","))
    following.click()
    expect(field(page, "debt")).to_contain_text("50.000")
    answer("debt", "Möchte ich nicht sagen")
    expect(page.get_by_role("heading", name="Unverändert gesendet")).to_be_visible()
    field(page, "campus").get_by_label("South").check()
    page.get_by_role("button", name="Antworten prüfen").click()
    expect(page.locator(".answers")).to_contain_text("31,41592653")
    page.get_by_role("button", name="Jetzt absenden", exact=True).click()
    page.get_by_role("heading", name="Danke. Ihre Antworten wurden gesendet.").wait_for()
    page.get_by_text("Ansehen, was gesendet wurde").click()
    expect(page.locator("td.left").first).to_be_visible()
    visit.check(server, "campus-health")


# --- a form of one's own ----------------------------------------------------------------------------------------------


def put_own_form(host: Host, survey: str = "two-questions") -> str:
    host.put("/form.js", block(OWN_FORM, "js").replace("/s/two-questions", f"/s/{survey}"))
    return host.page("/form.html", block(OWN_FORM, "html"))


def fill_own_form(page: Page) -> None:
    page.get_by_label("North").check()
    page.get_by_label("Yes").check()
    page.get_by_label("How many drinks").fill(TRUTH)


def test_an_own_form(visit: Visit, host: Host, server: Server) -> None:
    """Answers are sent as entered and stored; the form is emptied, and the next visit knows that it was answered."""
    page = visit.page
    page.add_init_script(WITHOUT_CHANCE)
    address = put_own_form(host)
    page.goto(address)
    fill_own_form(page)
    page.get_by_role("button", name="Send").click()
    expect(page.locator("#message")).to_have_text("Sent. Thank you.")
    expect(page.locator("#form")).to_be_hidden()
    assert page.locator("[name=drinks]").input_value() == ""
    sent = visit.check(server, "two-questions")
    entered = {"vaped": True, "drinks": float(TRUTH)}
    assert sent == submission_of(page, server, "two-questions", entered, {"campus": "north"})
    page.goto(address)
    expect(page.locator("#message")).to_have_text("This survey was already answered on this device.")
    expect(page.locator("#form")).to_be_hidden()


def test_an_own_form_shows_the_questions_of_the_booklet(visit: Visit, host: Host, server: Server) -> None:
    """Of two questions that are in different booklets, the form shows the one that this device has drawn."""
    publish_to(server, TWO_BOOKLETS)
    page = visit.page
    page.add_init_script(WITHOUT_CHANCE)  # the first booklet
    page.goto(put_own_form(host, "two-booklets"))
    (first, *_) = verify(TWO_BOOKLETS).asked(0)
    shown = page.locator("[data-question]:not([hidden])")
    expect(shown).to_have_count(1)
    assert shown.get_attribute("data-question") == first.id == "vaped"
    page.get_by_label("North").check()
    page.get_by_label("Yes").check()
    page.get_by_role("button", name="Send").click()
    expect(page.locator("#message")).to_have_text("Sent. Thank you.")
    sent = visit.check(server, "two-booklets")
    assert sent == submission_of(page, server, "two-booklets", {"vaped": True}, {"campus": "north"})


def test_an_own_form_offline(visit: Visit, host: Host, server: Server) -> None:
    """A copy of the survey can be answered without a network; it says so, and is sent when the network is back."""
    page = visit.page
    address = put_own_form(host)
    page.goto(address)
    page.locator("#form").wait_for()
    asked = f"{server.base}/api/**"
    page.route(asked, lambda route: route.abort())
    page.goto(address)
    expect(page.locator("#message")).to_have_text("You are offline. You can answer; it is sent later.")
    fill_own_form(page)
    page.get_by_role("button", name="Send").click()
    expect(page.locator("#message")).to_have_text("Sending …")
    before = len(stored(server, "two-questions"))
    page.unroute(asked)
    page.evaluate("dispatchEvent(new Event('online'))")
    expect(page.locator("#message")).to_have_text("Sent. Thank you.")
    assert len(stored(server, "two-questions")) == before + 1


def test_an_own_form_says_what_is_wrong(context: BrowserContext, host: Host) -> None:
    """If the survey is closed or unreachable, people see a message and no questions."""
    page = Visit(context.new_page(), allow="404").page
    for survey, words in (("over", "This survey is closed."), ("none", "The survey cannot be reached.")):
        page.goto(put_own_form(host, survey))
        expect(page.locator("#message")).to_contain_text(words)
        expect(page.locator("#form")).to_be_hidden()


def test_an_own_form_that_is_refused(context: BrowserContext, host: Host, server: Server) -> None:
    """The respondent sees a message, and no form to try again with."""
    page = Visit(context.new_page(), allow="422").page
    page.goto(put_own_form(host))
    refuse_all(page, server)
    fill_own_form(page)
    page.get_by_role("button", name="Send").click()
    expect(page.locator("#message")).to_have_text("This did not work. Please tell the people who run the survey.")
    expect(page.locator("#form")).to_be_hidden()


def test_an_own_form_keeps_nothing_for_who_comes_back(visit: Visit, host: Host) -> None:
    """When the page is left, as into the browser's memory, the form is empty."""
    page = visit.page
    page.goto(put_own_form(host))
    fill_own_form(page)
    assert page.locator(":checked").count() == 2
    page.evaluate(LEAVE)
    assert page.locator("[name=drinks]").input_value() == ""
    assert page.locator(":checked").count() == 0


def test_every_reason_is_listed(root: Path) -> None:
    """The table names each reason that loading and submitting have of their own, and those of wrong answers."""
    web = root / "client/web/src"
    files = [
        "deniable.js",
        "deniable/device.js",
        "deniable/delivery.js",
        "deniable/transport.js",
        "deniable/randomizer.js",
        "deniable/invitations.js",
        "deniable/blind-signatures.js",
    ]
    code = "".join((web / file).read_text("utf-8") for file in files)
    thrown = {*re.findall(r'refuse\([^,()]*, "([a-z_]+)"', code), *re.findall(r'refuseWith\(\w+, "([a-z_]+)"', code)}
    thrown |= {"closed", "refused", "digest", "crypto", "checksum", "used"}  # made of other words in the code
    listed = set(
        re.findall(r"`([a-z_]+)`", "".join(re.findall(r"^\| (.*?) \|", section("When something is wrong"), re.M)))
    )
    assert thrown - listed <= {"mismatch", "size", "key"}  # of the document: "anything else from load"
    assert listed - {"submit", "load", "forget", "invitation"} <= thrown


# --- Python -----------------------------------------------------------------------------------------------------------


def test_a_python_app(server: Server, host: Host, tmp_path: Path) -> None:
    """The example, run as a program, is delivered."""
    before = len(stored(server, "two-questions"))
    (tmp_path / "app.py").write_text(host.real(block("A Python app", "python")), "utf-8")
    assert run(f"{shlex.quote(sys.executable)} app.py", tmp_path) == "Sent.\n"
    assert len(stored(server, "two-questions")) == before + 1


# --- what the page must allow -----------------------------------------------------------------------------------------


def without(directive: str) -> str:
    """The document's policy without this directive."""
    kept = [part for part in policy().split("; ") if not part.startswith(directive)]
    assert len(kept) == len(policy().split("; ")) - 1
    return "; ".join(kept)


def test_the_element_needs_no_style_source(visit: Visit, new_host: NewHost) -> None:
    """Without style-src no style of the page is taken, and the element looks as it should."""
    host = new_host(without("style-src"))
    page = visit.page
    html = (
        block(ELEMENT, "html")
        .replace('<link rel="stylesheet" href="survey.css">', "")
        .replace('<script type="module" src="survey.js"></script>', "")
    )
    page.goto(host.put("/page.html", html))
    ready(page)
    button = page.get_by_role("button", name="Next", exact=True)
    assert button.evaluate(COLOUR, "background-color") == "rgb(11, 95, 107)"
    assert visit.faults == []


def test_both_sources_are_needed(context: BrowserContext, new_host: NewHost, server: Server) -> None:
    """Without the server in script-src there is no questionnaire, without connect-src no survey."""
    visit = Visit(context.new_page())
    page = visit.page
    page.goto(put_plain_page(new_host(without("connect-src"))))
    expect(page.get_by_role("alert")).to_contain_text("The survey cannot be reached")
    assert any(fault.startswith("policy: connect-src") for fault in visit.faults)
    visit = Visit(context.new_page())
    page = visit.page
    page.goto(put_plain_page(new_host(policy().replace(f"'self' {SERVER}", "'self'"))))
    page.wait_for_function("document.readyState === 'complete'")
    assert any(fault.startswith("policy: script-src-elem") for fault in visit.faults)
    assert page.evaluate("customElements.get('deniable-survey') === undefined")


def test_allowed_origins(context: BrowserContext, new_host: NewHost, server: Server, tmp_path: Path) -> None:
    """Started as the document says, the server serves that site and no other; with the word localhost also others on
    this machine.
    """
    # The site comes first: its address is needed to start the server.
    listed = new_host()
    one, several = map(shlex.split, listed.real(blocks("What the page must allow", "sh")[0]).splitlines())
    assert one[:2] == several[:2] == ["deniable", "serve"] and several[-1].endswith(" localhost")
    with site(tmp_path, TWO_QUESTIONS, flags=tuple(one[2:])) as strict:
        host = new_host(policy(), strict)
        visit = Visit(context.new_page())
        visit.page.goto(put_own_form(host))
        visit.page.wait_for_function("document.readyState === 'complete'")
        assert "blocked by CORS policy" in "".join(visit.faults)
        # The same page at the address that is listed.
        listed.server = strict.base
        listed.files.update(host.files)
        page = Visit(context.new_page()).page
        page.goto(f"{listed.base}/form.html")
        expect(page.locator("#form")).to_be_visible()
    with site(tmp_path, TWO_QUESTIONS, flags=tuple(several[2:])) as server:
        page.goto(put_own_form(new_host(policy(), server)))
        expect(page.locator("#form")).to_be_visible()


def hash_of(content: bytes) -> str:
    return f"sha384-{base64.b64encode(hashlib.sha384(content).digest()).decode()}"


def put_hashed_form(host: Host, hashed: str) -> str:
    host.put("/form.js", block(OWN_FORM, "js"))
    body = re.sub(r"<script.*</script>\n", "", block(OWN_FORM, "html"))
    return host.page("/form.html", body + block("A hash for the module", "html").replace(integrity(), hashed))


def test_the_right_hash(visit: Visit, host: Host, server: Server) -> None:
    """With the documented hash the form works; the module is loaded once, as the one that was checked."""
    page = visit.page
    page.goto(put_hashed_form(host, integrity()))
    fill_own_form(page)
    page.get_by_role("button", name="Send").click()
    expect(page.locator("#message")).to_have_text("Sent. Thank you.")
    assert [request.url for request in visit.requests].count(f"{server.base}/deniable.js") == 1
    visit.check(server, "two-questions")


def test_a_wrong_hash(visit: Visit, host: Host, server: Server) -> None:
    """Any other content is refused, also where form.js imports it: nothing is asked, no survey is loaded."""
    page = visit.page
    page.goto(put_hashed_form(host, hash_of(b"another program")))
    page.wait_for_function("document.readyState === 'complete'")
    expect(page.locator("#form")).to_be_hidden()
    assert "Failed to find a valid digest in the 'integrity' attribute" in "".join(visit.faults)
    assert page.evaluate("customElements.get('deniable-survey') === undefined")
    assert not [request.url for request in visit.requests if "/api/" in request.url]


def test_a_hash_covers_the_element_but_not_its_questionnaire(visit: Visit, host: Host, server: Server) -> None:
    """The hash covers deniable.js only; the element loads the rest from /deniable/ without one, as documented."""
    page = visit.page
    hashed = block("A hash for the module", "html").splitlines()[0]
    page.goto(host.page("/page.html", f'{hashed}<deniable-survey src="{server.base}{SURVEY}"></deniable-survey>'))
    ready(page)
    assert any("/deniable/survey-element.js" in request.url for request in visit.requests)
    assert visit.faults == []


def test_the_command_for_the_hash(server: Server, host: Host, tmp_path: Path) -> None:
    """The documented command gives the hash that the browser compares with."""
    if not shutil.which("openssl"):
        missing("openssl")
    fetch, _, digest = host.real(block("A hash for the module", "sh")).partition(" | ")
    assert fetch == f"curl -s {server.base}/deniable.js"
    module = ask(f"{server.base}/deniable.js").body
    (tmp_path / "deniable.js").write_bytes(module)
    assert run(f"cat deniable.js | {digest}", tmp_path) == hash_of(module).removeprefix("sha384-")


def test_an_own_copy_of_the_module(visit: Visit, new_host: NewHost, root: Path, server: Server) -> None:
    """With deniable.js and its folder copied to the site, the policy needs the server for connections only."""
    host = new_host(policy().replace(f"'self' {SERVER}", "'self'"))
    host.put_folder("/vendor", root / "client/web/deniable_web")
    html = block(ELEMENT, "html").replace(f"{SERVER}/deniable.js", "vendor/deniable.js")
    host.put("/survey.js", block(ELEMENT, "js"))
    host.put("/survey.css", "")
    page = visit.page
    page.goto(host.put("/page.html", html))
    ready(page)
    fill_truly(page)
    review(page)
    send(page)
    visit.check(server, "campus-health")
    assert "undefined" not in shadow_text(page)
    assert all("/api/" in request.url for request in visit.requests if request.url.startswith(server.base))
