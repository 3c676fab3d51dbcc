"""<deniable-survey>: what respondents see and do, in a real browser against a real server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from deniable_protocol import verify
from deniable_server.storage import open_storage
from tests.helpers.questionnaire import (
    API,
    ONE_PAGE,
    SENT,
    SURVEY,
    THANKS,
    Faults,
    alert,
    embed,
    field,
    fill,
    open_survey,
    overflows,
    ready,
    review,
    send,
    shadow_text,
    status,
    violations,
)
from tests.helpers.servers import Server

# --- from the first question to the receipt ---------------------------------------------------------------------------

FOCUSED = """() => {
    let at = document.activeElement;
    while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
    const text = at.tagName === 'BUTTON' ? at.textContent : (at.labels?.[0] ?? at).textContent.trim();
    return [at.name || at.id || '', text];
}"""


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def tab_to(page: Page, name: str, text: str = "") -> None:
    """Go on by the Tab key until the control of this name or text has the focus."""
    seen = []
    for _ in range(60):
        page.keyboard.press("Tab")
        at = page.evaluate(FOCUSED)
        seen.append(at)
        if (not name or at[0] == name) and text in at[1]:
            return
    raise AssertionError(f"{name} {text} is not among {seen}")


def test_the_whole_survey_by_keyboard(page: Page, server: Server, everything: bytes) -> None:
    """Tab, arrows, Space and Enter are enough, screen by screen; what it shows is what was posted and stored."""
    faults = Faults(page)
    page.goto(server.base + SURVEY)
    page.get_by_role("button", name="Start", exact=True).wait_for()
    bodies: list[Any] = []
    page.on("request", lambda request: request.method == "POST" and bodies.append(json.loads(request.post_data or "")))

    def go_on(question: str, *, text: str = "Next") -> None:
        tab_to(page, "", text)
        press(page, "Enter")
        page.wait_for_function(f"(seen) => ({FOCUSED})()[1] === seen", arg=question)  # a screen reader goes on here

    go_on("Have you vaped in the last 30 days?", text="Start")
    tab_to(page, "answer-vaped")
    press(page, "Space")  # Yes
    go_on("Have you been harassed on campus this year?")
    tab_to(page, "answer-harassed")
    press(page, "ArrowUp")  # from the first to the last: Prefer not to say
    go_on("What did you use most in the last month?")
    tab_to(page, "answer-substance")
    press(page, "Space", "ArrowDown", "ArrowDown", "ArrowDown")
    go_on("Which kinds of support have you used?")
    for option in ("A doctor", "A peer group"):
        tab_to(page, "", option)
        press(page, "Space")
    go_on("How stressed have you felt this month?")
    tab_to(page, "answer-stress")
    press(page, "Space", "ArrowRight", "ArrowRight", "ArrowRight")
    go_on("How satisfied are you with your life?")
    tab_to(page, "answer-wellbeing")
    press(page, "Space", "ArrowRight")
    go_on("How many alcoholic drinks did you have last week?")
    tab_to(page, "drinks-number")
    page.keyboard.type("12.5")
    go_on("How much do you owe, apart from student loans?")
    tab_to(page, "debt-number")
    page.keyboard.type("1200")
    press(page, "Enter")  # in a field, it is Next
    expect(page.locator("#progress-text")).to_have_text("9 of 9")
    tab_to(page, "answer-campus")
    press(page, "Space", "ArrowDown")  # South
    go_on("Check your answers", text="Check your answers")
    answers = page.locator(".answer").all_text_contents()
    assert [answer.replace("\u2068", "").replace("\u2069", "") for answer in answers] == [
        "Yes", "Prefer not to say", "Cannabis", "A doctor, A peer group", "4: Quite", "2: Unsatisfied", "12.5 drinks",
        "1,200 EUR", "South",
    ]  # fmt: skip
    go_on(THANKS, text="Send")
    expect(status(page)).to_have_text(SENT)
    tab_to(page, "", "See what was sent")
    press(page, "Enter")

    (body,) = bodies
    raw = page.locator(".raw").all_text_contents()
    assert raw == [*(f"as a code: {report}" for report in body["reports"]), "code south"]
    assert page.locator(".facts code").all_text_contents() == [body["id"], body["digest"], "ε = 10"]
    storage = open_storage(str(server.database))
    published = storage.find("campus-health")
    assert published is not None
    with storage.submissions(published) as rows:
        stored = {row_id.hex(): content for row_id, content in rows}
    storage.close()
    assert list(stored[body["id"]].reports) == body["reports"]
    assert stored[body["id"]].segments == (1,)
    assert len(body["reports"]) == len(verify(everything).survey.questions)
    assert faults == []


def test_a_true_answer_stays_in_the_page(page: Page, server: Server) -> None:
    """A telltale answer is in no request, storage, cookie, address, history, event or saved file, and goes when it is
    sent.
    """
    open_survey(page, server, mode="")
    requests: list[str] = []
    page.on("request", lambda request: requests.append(f"{request.url} {request.headers} {request.post_data}"))
    events = page.evaluate_handle(
        "() => { const seen = []; for (const name of ['ready', 'submitted', 'failed'])"
        " document.addEventListener(`deniable-${name}`, (e) => seen.push(`${name} ${JSON.stringify(e.detail)}`));"
        " return seen; }"
    )
    entries = page.evaluate_handle(
        "() => { const seen = []; const push = history.pushState; history.pushState = function (...given) {"
        " seen.push(JSON.stringify(given)); return push.apply(this, given); }; return seen; }"
    )
    fill(page)
    for name, question, number in (("drinks", "How many", "7.319"), ("debt", "How much do you owe", "7319,5")):
        review(page)
        page.get_by_role("button", name=f"Change: {question}").click()
        page.locator(f"#{name}-number").fill(number)
    review(page)
    assert "7,319.5 EUR" in shadow_text(page) and "7.319 drinks" in shadow_text(page)
    send(page)
    assert "7,319" not in shadow_text(page) and "7.319" not in shadow_text(page)
    page.get_by_text("See what was sent").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save what was sent").click()
    assert download.value.suggested_filename == "deniable-receipt-campus-health.json"
    saved = Path(download.value.path()).read_text("utf-8")
    kept = page.evaluate(
        """async () => {
            const found = [localStorage, sessionStorage].map((storage) => JSON.stringify({...storage}));
            found.push(document.cookie, location.href);
            for (const {name} of await indexedDB.databases()) {
                const db = await new Promise((done) => (indexedDB.open(name).onsuccess = (e) => done(e.target.result)));
                for (const store of db.objectStoreNames) {
                    const rows = db.transaction(store).objectStore(store).getAll();
                    await new Promise((done) => (rows.onsuccess = done));
                    found.push(JSON.stringify(rows.result));
                }
            }
            return found;
        }"""
    )
    told, opened = events.json_value(), entries.json_value()
    assert len(told) == 1 and told[0].startswith("submitted") and len(kept) >= 6 and len(requests) == 1
    assert len(opened) >= 10
    for text in (*requests, *kept, *told, *opened, saved):
        assert "7319" not in text and "7.319" not in text and "7,319" not in text
    posted = json.loads(requests[0].partition("} {")[2].join(["{", ""]))
    receipt = json.loads(saved)
    assert {key: receipt[key] for key in posted} == posted
    assert page.locator("deniable-survey").evaluate("(host) => host.shadowRoot.querySelectorAll('input').length") == 0
    page.reload()
    expect(page.get_by_text("already answered on this device")).to_be_visible()
    assert page.locator(".raw").count() == 0


@pytest.mark.parametrize("view", ["form", "review", "thanks"])
def test_who_comes_back_to_the_page_finds_no_answers(page: Page, server: Server, view: str) -> None:
    """Going back to it, as from the browser's memory, and reloading it show no answer in any view."""
    open_survey(page, server)
    fill(page)
    page.locator("#debt-number").fill("7319")
    if view != "form":
        review(page)
    if view == "thanks":
        send(page)
    for name in ("pagehide", "pageshow"):
        page.evaluate("(name) => window.dispatchEvent(new PageTransitionEvent(name, {persisted: true}))", name)
    state = """(host) => [...host.shadowRoot.querySelectorAll('input')]
        .filter((input) => input.checked || (input.type === 'text' && input.value)).length"""
    assert page.locator("deniable-survey").evaluate(state) == 0
    assert "7,319" not in shadow_text(page) and page.locator(".raw").count() == 0
    if view != "thanks":
        ready(page)
        expect(page.locator("#progress-text")).to_have_text("Answered: 0 of 9")
        field(page, "vaped").get_by_label("Yes").check()
        for leave in (lambda: page.reload(), lambda: (page.goto("about:blank"), page.go_back())):
            leave()
            ready(page)
            assert page.locator("deniable-survey").evaluate(state) == 0


# --- rules for each kind of question --------------------------------------------------------------------------------


def test_an_empty_form_says_what_is_missing_and_why(page: Page, server: Server) -> None:
    """Every field says so next to itself, a list at the top leads to each, and the first one has the focus."""
    open_survey(page, server)
    page.get_by_role("button", name="Check your answers").click()
    listed = alert(page)
    expect(listed).to_contain_text("An empty one could give you away.")
    expect(listed.get_by_role("button")).to_have_count(9)
    assert page.evaluate(FOCUSED)[0] == "answer-vaped"
    for name in ("vaped", "harassed", "substance", "support", "stress", "wellbeing", "drinks", "debt"):
        error = page.locator(f"#{name}-error")
        expect(error).to_be_visible()
        assert "could give you away" in error.inner_text()
        described = page.locator(
            f"#{name}-field [aria-describedby~='{name}-error'], #{name}-field[aria-describedby~='{name}-error']"
        )
        assert described.count() >= 1
        assert page.locator(f"#{name}-field[aria-invalid=true], #{name}-field [aria-invalid=true]").count() >= 1
    assert "Prefer not to say" in page.locator("#harassed-error").inner_text()
    assert "None of these" in page.locator("#support-error").inner_text()
    listed.get_by_role("button", name="How many alcoholic drinks").click()
    assert page.evaluate(FOCUSED)[0] == "drinks-number"
    page.keyboard.type("3")
    expect(page.locator("#drinks-error")).to_be_hidden()
    expect(listed.get_by_role("button")).to_have_count(8)
    fill(page)
    expect(listed).to_have_text("")
    review(page)


def test_none_of_these_is_an_answer_that_has_to_be_meant(page: Page, server: Server) -> None:
    """No box ticked is refused; "None of these" empties the others, and another one empties it."""
    open_survey(page, server)
    fill(page)
    support = field(page, "support")
    boxes = {name: support.get_by_label(name) for name in ("A doctor", "A peer group", "None of these")}
    for name in ("A doctor", "A peer group"):
        boxes[name].uncheck()
    page.get_by_role("button", name="Check your answers").click()
    expect(page.locator("#support-error")).to_be_visible()
    boxes["A doctor"].check()
    boxes["None of these"].check()
    expect(boxes["A doctor"]).not_to_be_checked()
    boxes["A doctor"].check()
    expect(boxes["None of these"]).not_to_be_checked()
    boxes["None of these"].check()
    review(page)
    expect(page.locator(".answer").nth(3)).to_have_text("None of these")
    send(page)


def test_numbers(page: Page, server: Server) -> None:
    """A decimal comma works. A value that is no number, or out of range, gets an error that does not repeat it."""
    open_survey(page, server)
    fill(page)
    error = page.locator("#drinks-error")
    for text, says in [
        ("41", "from 0 to 40"),
        ("-1", "from 0 to 40"),
        ("a few", "not a number we can read"),
        ("1e1", "not a number we can read"),
        ("  ", "Please enter a number"),
    ]:
        page.locator("#drinks-number").fill(text)
        expect(error).to_be_hidden()
        page.get_by_role("button", name="Check your answers").click()
        expect(error).to_contain_text(says)
        assert not text.strip() or text not in error.inner_text()
        assert page.evaluate(FOCUSED)[0] == "drinks-number"
    for text, shown in [("12,5", "12.5 drinks"), ("12.345", "12.345 drinks"), ("٣٫٥", "3.5 drinks"), ("0", "0 drinks")]:
        page.locator("#drinks-number").fill(text)  # 12345 would be out of range: there is nothing to guess
        review(page)
        assert shown in shadow_text(page)
        page.get_by_role("button", name="Change: How many").click()


def test_a_number_that_can_be_read_in_two_ways_is_not_guessed(page: Page, server: Server) -> None:
    """1,200 is 1200 to some and 1.2 to others: the question asks again."""
    open_survey(page, server)
    fill(page)
    page.locator("#debt-number").fill("1,200")
    page.get_by_role("button", name="Check your answers").click()
    expect(page.locator("#debt-error")).to_contain_text("without thousands separators")
    page.locator("#debt-number").fill("1 200")
    review(page)
    expect(page.locator(".answer").nth(7)).to_contain_text("1,200")


def test_a_number_can_be_declined(page: Page, server: Server) -> None:
    """Declining empties the number, and a number takes the declining back."""
    open_survey(page, server)
    fill(page)
    decline = field(page, "debt").get_by_label("Prefer not to say")
    decline.check()
    expect(page.locator("#debt-number")).to_have_value("")
    page.locator("#debt-number").fill("5")
    expect(decline).not_to_be_checked()
    decline.check()
    review(page)
    expect(page.locator(".answer").nth(7)).to_have_text("Prefer not to say")


def test_an_answer_can_be_changed_in_the_review(page: Page, server: Server) -> None:
    """Change leads to the question with all answers still there; the corrected answer counts."""
    open_survey(page, server)
    fill(page)
    review(page)
    page.get_by_role("button", name="Change: How stressed").click()
    assert page.evaluate(FOCUSED)[0] == "answer-stress"
    field(page, "stress").get_by_label("A little").check()
    expect(page.locator("#progress-text")).to_have_text("Answered: 9 of 9")
    review(page)
    expect(page.locator(".answer").nth(4)).to_contain_text("A little")


def test_targets_are_large_and_complete_no_history(page: Page, server: Server) -> None:
    """Every control is at least 44 px high, and no field suggests earlier entries."""
    open_survey(page, server)
    small = """(host) => [...host.shadowRoot.querySelectorAll('button, .option, .entry input, summary')]
        .filter((e) => e.getBoundingClientRect().height < 44).map((e) => e.outerHTML)"""
    assert page.locator("deniable-survey").evaluate(small) == []
    off = "(host) => [...host.shadowRoot.querySelectorAll('input, form')].every((e) => e.autocomplete === 'off')"
    assert page.locator("deniable-survey").evaluate(off)


# --- for everybody --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (360, "dark"), (1200, "light")])
def test_every_view_is_accessible(browser: Browser, server: Server, scheme: Any, width: int) -> None:
    """axe finds nothing in any view and its errors; nothing sticks out."""
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme, locale="en-GB")
    page = context.new_page()
    faults = Faults(page)
    page.goto(server.base + ONE_PAGE)
    found = {}
    for name in ("How can that be?", "Who could learn my answers?"):
        page.get_by_role("button", name=name).click()
        page.get_by_role("heading", name=name).wait_for()
        found[name] = violations(page)
        assert not overflows(page)
        page.get_by_role("button", name="Got it").click()
    page.get_by_role("button", name="Start", exact=True).wait_for()
    found["start"] = violations(page)
    ready(page)
    for summary in page.locator("deniable-survey summary").all():
        summary.click()
    found["form"] = violations(page)
    assert not overflows(page)
    page.get_by_role("button", name="Check your answers").click()
    found["errors"] = violations(page)
    fill(page)
    review(page)
    found["review"] = violations(page)
    assert not overflows(page)
    send(page)
    page.get_by_text("See what was sent").click()
    found["thanks"] = violations(page)
    assert not overflows(page)
    page.route(f"**{API}", lambda route: route.abort())
    page.goto(server.base + SURVEY + "#" + "0" * 64)
    page.get_by_role("heading", name="not the survey that the link promised").wait_for()
    found["message"] = violations(page)
    assert not any(found.values()), found
    assert [fault for fault in faults if "ERR_FAILED" not in fault] == []
    context.close()


def test_right_to_left(page: Page, server: Server) -> None:
    """In a page that runs from right to left, controls start on the right, and nothing sticks out."""
    page.set_viewport_size({"width": 360, "height": 800})
    element = f'<deniable-survey one-page lang="ar" src="{SURVEY}"></deniable-survey>'
    page.goto(embed(page, server.base, element, root='lang="ar" dir="rtl"'))
    page.locator(".start .wide button").click()
    field(page, "vaped").wait_for()
    radio = field(page, "vaped").locator("input").first.bounding_box()
    label = field(page, "vaped").locator(".option").first.bounding_box()
    assert radio is not None and label is not None
    assert radio["x"] > label["x"] + label["width"] / 2
    assert not overflows(page)
    assert violations(page) == []


OWN = {
    "answered": "{done} von {total} beantwortet",
    "yes": "Jawohl",
    "button": {"review": "Durchsehen", "send": "Absenden"},
    "line": {"bit": "Das Gegenteil: mindestens {count} von {total} Mal."},
    "error": {"choose": "Bitte wählen."},
}


def test_a_page_can_bring_its_own_words(page: Page, server: Server) -> None:
    """Texts that the page sets take the place of ours, numbers follow its language, the rest stays."""
    setting = f"document.querySelector('deniable-survey').texts = {json.dumps(OWN)}"
    script = f"addEventListener('DOMContentLoaded', () => {{ {setting} }});"
    element = f'<deniable-survey one-page lang="de" src="{SURVEY}"></deniable-survey>'
    page.goto(embed(page, server.base, element, script=script))
    expect(page.get_by_text("We ask so that we can plan what you need.")).to_be_visible()
    page.locator(".start .wide button").click()
    page.get_by_role("button", name="Durchsehen").click()
    expect(page.locator("#progress-text")).to_have_text("0 von 9 beantwortet")
    expect(page.locator("#vaped-error")).to_have_text("Bitte wählen.")
    expect(field(page, "vaped")).to_contain_text("Das Gegenteil: mindestens 26 von 100 Mal.")
    expect(field(page, "debt")).to_contain_text("50.000")
    field(page, "vaped").get_by_label("Jawohl").check()
