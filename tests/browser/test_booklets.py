"""Booklets and follow-ups in a real Chromium: what is asked and shown, and that what was hidden leaves no trace."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, Route, expect

from deniable_protocol import verify
from tests.helpers.embedder_site import kept
from tests.helpers.questionnaire import (
    Faults,
    field,
    go_to,
    open_survey,
    overflows,
    ready,
    review,
    send,
    shadow_text,
    site,
    status,
    violations,
)
from tests.helpers.servers import Server
from tests.helpers.surveys import joint, several

JOINT = "/s/joint"
DOCTOR, STRESS, FRIENDS, HOURS = 0, 1, 3, 5
"""Booklets: vaping with a doctor, vaping with stress, two options of one question, a number."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with site(tmp_path_factory.mktemp("site"), joint()) as server:
        yield server


def device(context: BrowserContext, booklet: int) -> Page:
    """A page of a device whose first draw gives this booklet; all draws are a function of it, for the sake of the test.

    A word is eight bytes, and of a word of the form n·2^11 the draw among a few numbers takes the n-th.
    """
    weights = [each.weight for each in verify(joint()).booklets]
    number = sum(weights[:booklet])
    page = context.new_page()
    page.add_init_script(
        f"""let drawn = 0;
        const real = crypto.getRandomValues.bind(crypto);
        crypto.getRandomValues = (array) => {{
          if (!(array instanceof Uint8Array)) return real(array);
          array.fill(0);
          if (drawn++) array.forEach((_, i) => (array[i] = (37 * drawn + 101 * i) % 256));
          else new DataView(array.buffer).setBigUint64(0, {number}n << 11n);
          return array;
        }};"""
    )
    return page


def in_booklet(context: BrowserContext, server: Server, booklet: int, *, mode: str = "?one-page") -> Page:
    """The questions of this booklet."""
    page = device(context, booklet)
    open_survey(page, server, JOINT, mode=mode)
    return page


def ids(page: Page) -> list[str]:
    """The questions that the form has, and of those the ones that are shown."""
    found = "(host) => [...host.shadowRoot.querySelectorAll('fieldset')].map((e) => e.id.replace('-field', ''))"
    asked: list[str] = page.locator("deniable-survey").evaluate(found)
    return asked


def texts(found: Locator) -> list[str]:
    """Their texts, without the marks that keep foreign texts apart."""
    return [text.replace("\u2068", "").replace("\u2069", "") for text in found.all_inner_texts()]


def accepted(page: Page) -> list[str]:
    """Accept every submission in the server's place; what was sent."""
    bodies: list[str] = []

    def reply(route: Route) -> None:
        bodies.append(route.request.post_data or "")
        body = '{"accepted": 1, "duplicates": 0}'
        route.fulfill(status=201, body=body, content_type="application/json")

    page.route("**/submissions", reply)
    return bodies


def test_only_the_booklets_questions_are_asked(browser: Browser, server: Server) -> None:
    """Each booklet shows its questions, a multi_choice with its own options, and says that they were picked."""
    for booklet, asked, shown in (
        (STRESS, ["vaped", "how_often", "stress", "campus"], ["vaped", "stress", "campus"]),
        (DOCTOR, ["vaped", "how_often", "support", "campus"], ["vaped", "support", "campus"]),
        (FRIENDS, ["support", "campus"], ["support", "campus"]),
        (HOURS, ["hours", "campus"], ["hours", "campus"]),
    ):
        context = browser.new_context(locale="en-GB")
        page = device(context, booklet)
        faults = Faults(page)
        page.goto(f"{server.base}{JOINT}?one-page")
        expect(page.locator(".start")).to_contain_text(f"{len(asked) - 1} of 5 questions, picked by chance")
        ready(page)
        assert ids(page) == asked
        assert [name for name in asked if field(page, name).is_visible()] == shown
        if "support" in asked:
            options = {DOCTOR: ["doctor"], FRIENDS: ["friend", "nobody"]}[booklet]
            assert field(page, "support").locator(".option").all_inner_texts() == [*options, "None of these"]
        assert faults == []
        context.close()


def test_a_reload_another_tab_and_no_network_show_the_same_booklet(browser: Browser, server: Server) -> None:
    """Whatever one does, this device is asked the same questions; twenty devices are not all asked the same."""
    seen = set()
    for device in range(20):
        context = browser.new_context(locale="en-GB")
        tabs = [context.new_page() for _ in range(2)]
        for tab in tabs:
            tab.goto(server.base + JOINT)  # both draw at the same time, before either is shown
        for tab in tabs:
            ready(tab)
        asked = ids(tabs[0])
        assert ids(tabs[1]) == asked
        rows = kept(tabs[0])["surveys"]
        assert len(rows) == 1
        tabs[0].reload()
        ready(tabs[0])
        assert ids(tabs[0]) == asked
        tabs[1].route("**/api/**", lambda route: route.abort())
        tabs[1].reload()
        ready(tabs[1])
        assert ids(tabs[1]) == asked
        assert kept(tabs[0])["surveys"] == rows
        seen.add(tuple(asked))
        context.close()
        if device >= 5 and len(seen) > 1:
            break
    assert len(seen) > 1  # all twenty alike: mostly the booklet of 5 in 11, (5/11)^20, below 10^-6


def test_follow_ups_come_and_go(page: Page, context: BrowserContext, server: Server) -> None:
    """A follow-up appears and vanishes as one answers; it is announced, the focus stays, and its answer is dropped."""
    page = in_booklet(context, server, STRESS)
    faults = Faults(page)
    follow = field(page, "how_often")
    expect(follow).to_be_hidden()
    expect(status(page)).to_have_text("")
    expect(page.locator("#progress-text")).to_have_text("Answered: 0 of 3")
    vaped = field(page, "vaped")
    vaped.get_by_label("Yes").focus()
    page.keyboard.press("Space")
    expect(follow).to_be_visible()
    expect(status(page)).to_contain_text("One more question below: \u2068How often?\u2069")
    focused = "() => document.querySelector('deniable-survey').shadowRoot.activeElement.name"
    assert page.evaluate(focused) == "answer-vaped"
    expect(page.locator("#progress-text")).to_have_text("Answered: 1 of 4")
    follow.get_by_label("weekly").check()
    expect(page.locator("#progress-text")).to_have_text("Answered: 2 of 4")
    vaped.get_by_label("No").check()
    expect(follow).to_be_hidden()
    expect(status(page)).to_contain_text("No longer asked: \u2068How often?\u2069")
    assert follow.locator("input:checked").count() == 0
    vaped.get_by_label("Yes").check()
    assert follow.locator("input:checked").count() == 0
    page.get_by_role("button", name="Check your answers").click()
    expect(page.locator("#how_often-error")).to_be_visible()
    vaped.get_by_label("No").check()
    expect(page.locator("#how_often-error")).to_be_hidden()
    assert violations(page) == [] and faults == []


@pytest.mark.parametrize("mode", ["", "?one-page"])
def test_a_follow_up_that_was_hidden_again_leaves_no_trace(browser: Browser, server: Server, mode: str) -> None:
    """With the same random bytes, what is sent, kept and shown afterwards is the same to the last byte, whether a
    follow-up was shown, answered and hidden again, or was never shown at all.
    """
    found = []
    for detour in (False, True):
        context = browser.new_context(locale="en-GB")
        page = in_booklet(context, server, STRESS, mode=mode)
        bodies = accepted(page)
        field(page, "vaped").get_by_label("Yes" if detour else "No").check()
        if detour:
            field(page, "how_often").get_by_label("weekly").check()
        go_to(page, field(page, "stress").get_by_label("some")).check()
        go_to(page, field(page, "campus").get_by_label("South")).check()
        review(page)
        if detour:
            page.get_by_role("button", name="Change: Vaped?").click()
            field(page, "vaped").get_by_label("No").check()
            review(page)
        assert texts(page.locator(".answers .answer")) == ["No", "2: some", "South"]
        send(page)
        left = kept(page)
        assert len(bodies) == 1
        assert json.loads(bodies[0]).keys() == {"id", "digest", "booklet", "reports", "segments"}
        found.append((bodies, left, shadow_text(page)))
        context.close()
    assert found[0] == found[1]


@pytest.mark.parametrize("mode", ["", "?one-page"])
def test_the_history_has_no_trace_of_a_follow_up(browser: Browser, server: Server, mode: str) -> None:
    """A browser keeps the history on disk. Who is asked a follow-up and goes back to it from the review has the same
    entries in it as who changes the answer that it follows.
    """
    found = []
    for vaped, changed in (("No", "Vaped?"), ("Yes", "How often?")):
        context = browser.new_context(locale="en-GB")
        context.add_init_script(
            """globalThis.entries = [];
            const push = history.pushState;
            history.pushState = (state, ...rest) => {
              entries.push([Object.values(state.deniable), ...rest]);
              push.call(history, state, ...rest);
            };"""
        )
        page = in_booklet(context, server, STRESS, mode=mode)
        accepted(page)
        field(page, "vaped").get_by_label(vaped).check()
        if vaped == "Yes":
            field(page, "how_often").get_by_label("weekly").check()
        go_to(page, field(page, "stress").get_by_label("some")).check()
        go_to(page, field(page, "campus").get_by_label("South")).check()
        review(page)
        page.get_by_role("button", name=f"Change: {changed}").click()
        expect(field(page, "vaped" if vaped == "No" else "how_often").locator(":focus")).to_have_count(1)
        review(page)
        address = page.url
        send(page)
        assert page.url == address
        found.append(page.evaluate("entries"))
        context.close()
    assert found[0] == found[1] and len(found[0]) >= 3


def test_what_is_sent_has_the_same_shape_whatever_was_shown(browser: Browser, server: Server) -> None:
    """However many questions were shown, the submission has one report, and differs in length by its digits only."""
    lengths = set()
    for answers in ({"vaped": "No"}, {"vaped": "Yes", "how_often": "daily"}):
        context = browser.new_context(locale="en-GB")
        page = in_booklet(context, server, STRESS)
        bodies = accepted(page)
        for name, label in {"campus": "South", **answers, "stress": "Prefer not to say"}.items():
            field(page, name).get_by_label(label).check()
        review(page)
        send(page)
        (report,) = json.loads(bodies[0])["reports"]
        lengths.add(len(bodies[0]) - len(str(report)))
        context.close()
    assert len(lengths) == 1


def test_the_receipt_of_questions_that_are_reported_together(context: BrowserContext, server: Server) -> None:
    """It lists the questions of the part and the combinations that the sent number speaks for, not what was answered. A
    later visit has nothing of it.
    """
    page = in_booklet(context, server, STRESS)
    for name, label in {"campus": "South", "vaped": "Yes", "how_often": "daily", "stress": "much"}.items():
        field(page, name).get_by_label(label).check()
    expect(page.locator(".form .protection")).to_have_count(1)
    expect(page.locator(".form .protection")).to_contain_text("possible combinations of answers")
    review(page)
    page.get_by_text("What else is sent").click()
    expect(page.get_by_text("Which questions your device picked.")).to_be_visible()
    with page.expect_request("**/submissions") as posted:
        send(page)
    page.get_by_text("See what was sent").click()
    body = json.loads(posted.value.post_data or "")
    part = verify(joint()).parts[STRESS]
    held = [path for path in range(16) if body["reports"][0] >> path & 1]
    said = texts(page.locator("td.left").first.locator("li"))
    names = [["No", "Yes"], ["monthly", "weekly", "daily"], ["none", "some", "much", "Prefer not to say"]]
    assert said == [
        " · ".join(names[i][place] for i, place in enumerate(part.paths[path]) if place is not None) for path in held
    ]
    assert texts(page.locator("th.question").nth(1).locator("li")) == ["Vaped?", "How often?", "Stress?"]
    text = shadow_text(page)
    assert "3: much" not in text and "proves" not in text and "{" not in text and "undefined" not in text
    page.reload()
    expect(page.get_by_text("already answered on this device")).to_be_visible()
    assert page.locator("td.left").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_follow_ups_are_accessible_on_a_phone(browser: Browser, server: Server, scheme: str) -> None:
    """axe finds nothing in the form, the review and the receipt of a joint part, and nothing sticks out at 360 px."""
    context = browser.new_context(viewport={"width": 360, "height": 800}, color_scheme=scheme)  # type: ignore[arg-type]
    page = in_booklet(context, server, STRESS)
    accepted(page)
    for name, label in {"campus": "South", "vaped": "Yes", "how_often": "daily", "stress": "much"}.items():
        field(page, name).get_by_label(label).check()
    found = []
    for step in (lambda: None, lambda: review(page), lambda: send(page)):
        step()
        for summary in page.locator("deniable-survey summary").all():
            summary.click()
        found += [violations(page), overflows(page)]
    assert found == [[], False] * 3
    context.close()


@pytest.mark.parametrize("mode", ["", "?one-page"])
def test_a_form_with_follow_ups_prints_the_same_whatever_was_answered(
    browser: Browser, server: Server, mode: str
) -> None:
    """On paper all questions of the booklet are there, shown or not; a printed review has none."""
    printed = []
    for answers in ({}, {"vaped": "Yes", "how_often": "daily"}):
        context = browser.new_context(viewport={"width": 700, "height": 900})
        page = in_booklet(context, server, STRESS, mode=mode)
        for name, label in answers.items():
            field(page, name).get_by_label(label).check()
        page.mouse.click(1, 1)  # away from the last field
        page.emulate_media(media="print", reduced_motion="reduce")
        printed.append(page.screenshot(full_page=True, animations="disabled"))
        if answers:
            page.emulate_media(media="screen")
            go_to(page, field(page, "stress").get_by_label("much")).check()
            go_to(page, field(page, "campus").get_by_label("South")).check()
            review(page)
            page.emulate_media(media="print")
            expect(page.locator("deniable-survey .answers")).to_be_hidden()
        context.close()
    assert printed[0] == printed[1]


def test_parts_that_share_the_epsilon(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A booklet of several parts names each with its questions, and says that they add up."""
    with site(tmp_path_factory.mktemp("several"), several()) as server:
        for _ in range(40):
            context = browser.new_context(locale="en-GB")
            page = context.new_page()
            open_survey(page, server, JOINT)
            if ids(page) == ["support", "stress", "hours", "campus"]:
                break
            context.close()
        text = shadow_text(page)
        assert "For experts: ε = 2." in text and "adds up" in text
        field(page, "campus").get_by_label("South").check()
        field(page, "support").get_by_label("None of these").check()
        field(page, "stress").get_by_label("much").check()
        page.locator("#hours-number").fill("8")
        review(page)
        send(page)
        assert page.locator("td.left").count() == 4  # three parts and the campus
        context.close()
