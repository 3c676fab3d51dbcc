"""The editor of drafts in a real Chromium: nothing that is written is lost, whatever happens meanwhile. What is wrong
is shown at its field. Anybody can use it, and no text runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from deniable_server import editing
from deniable_server.storage import Storage, open_storage
from deniable_server.storage.tokens import make_token
from tests.helpers.drafts import HOSTILE, SCRIPT, example_tree, hostile_tree, new_draft
from tests.helpers.questionnaire import Faults, overflows, violations
from tests.helpers.servers import Server, running

QUIET = 6_000
"""Milliseconds after which an open page has looked at what others did, and shows it."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("editor")
    open_storage(str(folder / "deniable.db")).close()
    with running(folder / "deniable.db", folder / "log") as server:
        yield server


@pytest.fixture
def storage(server: Server) -> Iterator[Storage]:
    storage = open_storage(str(server.database), create=False)
    yield storage
    storage.close()


@pytest.fixture
def draft(storage: Storage) -> int:
    return new_draft(storage, example_tree())


@pytest.fixture
def ann(context: BrowserContext, server: Server, storage: Storage) -> Page:
    return signed_in(context, server, storage, "Ann")


@pytest.fixture
def ben(browser: Browser, server: Server, storage: Storage) -> Iterator[Page]:
    context = browser.new_context()
    yield signed_in(context, server, storage, "Ben")
    context.close()


def signed_in(context: BrowserContext, server: Server, storage: Storage, name: str) -> Page:
    page = context.new_page()
    secret, _ = make_token(storage, "editor", name)
    page.goto(f"{server.base}/sign-in")
    sign_in(page, secret)
    page.get_by_role("heading", name="Surveys").wait_for()
    page.set_default_timeout(15_000)
    return page


def sign_in(page: Page, secret: str) -> None:
    page.get_by_label("Your access token").fill(secret)
    page.keyboard.press("Enter")


def edit(page: Page, server: Server, draft: int) -> Page:
    page.goto(f"{server.base}/drafts/{draft}")
    page.locator(".draft-headline, #plan ul, #plan p:not(.muted)").first.wait_for()
    return page


def question(page: Page, number: int) -> Locator:
    return page.locator("[data-list=questions] > .item").nth(number - 1)


def text_of(page: Page, number: int) -> Locator:
    return question(page, number).get_by_label("Question English")


def said(page: Page, what: str) -> None:
    expect(page.locator("#saved")).to_contain_text(what)


def kept(storage: Storage, draft: int) -> editing.Sketch:
    found = storage.drafts.find(draft)
    assert found is not None
    return editing.read(found.content)


# --- two people -------------------------------------------------------------------------------------------------------


def test_two_people_in_one_draft(ann: Page, ben: Page, server: Server, storage: Storage, draft: int) -> None:
    """Each sees what the other writes. What both wrote in different fields is kept. Ben writes on in a question that
    Ann moves: not a letter is lost, and the keyboard stays in his field.
    """
    faults = [*Faults(ann), *Faults(ben)]
    edit(ann, server, draft), edit(ben, server, draft)
    text_of(ann, 1).fill("Written by Ann")
    question(ben, 1).get_by_label("Also offer").check()
    title = ben.get_by_label("Title English")
    title.fill("Written by Ben")
    title.blur()
    expect(ben.locator("[id='f-" + kept(storage, draft).questions[0].key + ".text:en']")).to_have_value(
        "Written by Ann", timeout=QUIET
    )
    expect(ann.get_by_label("Title English")).to_have_value("Written by Ben", timeout=QUIET)
    expect(question(ann, 1).get_by_label("Also offer")).to_be_checked()

    moved = kept(storage, draft).questions[2]
    field = ben.locator(f"[id='f-{moved.key}.text:en']")
    field.fill("Ben writes ")
    question(ann, 3).get_by_role("button", name="Move question 3 up").click()
    expect(text_of(ben, 2)).to_have_value(re.compile("^Ben writes"), timeout=QUIET)
    ben.keyboard.type("on and on")
    said(ben, "Saved")
    expect(field).to_be_focused()
    expect(field).to_have_value("Ben writes on and on")
    expect(text_of(ann, 2)).to_have_value("Ben writes on and on", timeout=QUIET)
    sketch = kept(storage, draft)
    assert sketch.title == "Written by Ben" and sketch.questions[1].text["en"] == "Ben writes on and on"
    assert sketch.questions[0].text["en"] == "Written by Ann" and sketch.questions[0].fields["decline"]
    assert faults == []


@pytest.mark.parametrize(("button", "kept_text"), [("Keep mine", "Ben's words"), ("Take theirs", "Ann's words")])
def test_two_people_in_one_field(
    ann: Page, ben: Page, server: Server, storage: Storage, draft: int, button: str, kept_text: str
) -> None:
    """Both texts are on the screen of the one who was second, and that one decides. Nothing is overwritten before."""
    edit(ann, server, draft), edit(ben, server, draft)
    ben.context.set_offline(True)
    text_of(ben, 1).fill("Ben's words")
    text_of(ann, 1).fill("Ann's words")
    said(ann, "Saved")
    ben.context.set_offline(False)
    box = question(ben, 1).get_by_role("alert")
    expect(box).to_contain_text("Somebody else wrote here at the same time:")
    expect(box.get_by_role("blockquote")).to_have_text("Ann's words")
    expect(text_of(ben, 1)).to_have_value("Ben's words")
    assert kept(storage, draft).questions[0].text["en"] == "Ann's words" and violations(ben) == []
    box.get_by_role("button", name=button).click()
    said(ben, "Saved")
    expect(text_of(ben, 1)).to_have_value(kept_text)
    expect(box).to_have_count(0)
    expect(text_of(ann, 1)).to_have_value(kept_text, timeout=QUIET)
    assert kept(storage, draft).questions[0].text["en"] == kept_text


def test_somebody_deletes_what_another_writes_in(
    ann: Page, ben: Page, server: Server, storage: Storage, draft: int
) -> None:
    """Ann deletes the question that Ben is writing in. He is told, and what he wrote is in it when it comes back. If it
    is gone for good, his text is on the page, to be copied, and stays there.
    """
    edit(ann, server, draft), edit(ben, server, draft)
    sketch = kept(storage, draft)
    first, last = sketch.questions[0].key, sketch.questions[-1].key
    ben.context.set_offline(True)
    ben.locator(f"[id='f-{last}.text:en']").fill("Nobody reads this")
    text_of(ben, 1).fill("Ben's words")
    question(ann, 1).get_by_role("button", name="Delete question 1").click()
    ann.get_by_role("status").get_by_role("button", name="Undo").wait_for()
    gone = kept(storage, draft)
    gone.questions.pop()
    found = storage.drafts.find(draft)
    assert found is not None and storage.drafts.save(draft, editing.write(gone), found.version)
    ben.context.set_offline(False)
    expect(ben.locator("#trouble")).to_contain_text("Somebody else deleted the question that you were writing in.")
    expect(ben.get_by_label("What was not saved")).to_have_value("Nobody reads this")
    assert violations(ben) == []
    ben.get_by_role("button", name="Bring back").click()
    expect(ben.locator(f"[id='f-{first}.text:en']")).to_have_value("Ben's words")
    expect(ben.get_by_label("What was not saved")).to_be_visible()
    assert kept(storage, draft).questions[0].text["en"] == "Ben's words"


def test_a_draft_that_is_gone(ann: Page, ben: Page, server: Server, draft: int) -> None:
    """Ben deletes it while Ann is not connected: what she wrote last is there to be copied, and nothing brings the
    draft back.
    """
    edit(ann, server, draft), edit(ben, server, draft)
    ann.context.set_offline(True)
    text_of(ann, 1).fill("A long and good question?")
    ben.get_by_text("Delete this draft").click()
    ben.get_by_role("button", name="Delete the draft").click()
    ben.get_by_role("heading", name="Surveys").wait_for()
    ann.context.set_offline(False)
    expect(ann.get_by_role("alert").first).to_contain_text("published or deleted by somebody else")
    expect(ann.get_by_label("What was not saved")).to_have_value("A long and good question?")
    ann.wait_for_timeout(QUIET)
    expect(ann.get_by_label("What was not saved")).to_be_visible()
    ann.reload()
    expect(ann.get_by_role("main")).to_contain_text("There is no such draft")


# --- what may happen to one -------------------------------------------------------------------------------------------


def test_a_session_that_ends_loses_nothing(ann: Page, server: Server, storage: Storage, draft: int) -> None:
    """Signed out in another tab while she writes: the page says so, keeps what she writes on, and saves it as soon as
    she has signed in again, in the same place.
    """
    edit(ann, server, draft)
    other = ann.context.new_page()
    other.goto(server.base)
    other.get_by_role("button", name="Sign out").click()
    other.get_by_role("heading", name="Sign in").wait_for()
    text_of(ann, 1).fill("Written without a session")
    expect(ann.get_by_role("alert").first).to_contain_text(
        "You are signed out. What you wrote is kept in this browser."
    )
    text_of(ann, 2).fill("And so was this")
    with ann.context.expect_page() as opened:
        ann.get_by_role("link", name="Sign in in a new tab").click()
    secret, _ = make_token(storage, "editor", "Ann")
    sign_in(opened.value, secret)
    opened.value.get_by_role("heading", name="Surveys").wait_for()
    said(ann, "Saved")
    expect(ann.locator("#trouble")).to_be_hidden()
    texts = [each.text["en"] for each in kept(storage, draft).questions[:2]]
    assert texts == ["Written without a session", "And so was this"]
    assert ann.evaluate("Object.keys(localStorage)") == []


def test_a_right_that_ends_is_said(context: BrowserContext, server: Server, storage: Storage, draft: int) -> None:
    """An editor who becomes an analyst is told that nothing can be saved any more, with what was not."""
    page = edit(signed_in(context, server, storage, "Eve"), server, draft)
    (token,) = [each for each in storage.tokens.all() if each.label == "Eve"]
    storage.tokens.change(token.id, "analyst", token.surveys)
    text_of(page, 1).fill("Too late")
    expect(page.get_by_label("What was not saved")).to_have_value("Too late")
    expect(page.get_by_role("alert").first).to_contain_text("You may not change this draft any more.")


def test_a_closed_laptop_loses_nothing(ann: Page, server: Server, storage: Storage, draft: int) -> None:
    """Written without a network, and the tab closed: what was written is there when the draft is opened again, in two
    tabs of the same browser as well. Then it is saved, and the browser keeps nothing of it.
    """
    edit(ann, server, draft)
    second = edit(ann.context.new_page(), server, draft)
    ann.context.set_offline(True)
    text_of(ann, 1).fill("On the train")
    expect(ann.get_by_role("alert").first).to_contain_text("The server cannot be reached.")
    ann.locator("#add-yes_no").click()
    text_of(second, 2).fill("In another tab")
    expect(second.get_by_role("alert").first).to_contain_text("The server cannot be reached.")
    before = len(kept(storage, draft).questions)
    ann.close(), second.close()
    again = second.context.new_page()
    again.context.set_offline(False)
    edit(again, server, draft)
    said(again, "Saved")
    expect(text_of(again, 1)).to_have_value("On the train")
    expect(text_of(again, 2)).to_have_value("In another tab")
    questions = kept(storage, draft).questions
    assert [each.text["en"] for each in questions[:2]] == ["On the train", "In another tab"]
    assert len(questions) == before + 1 and again.evaluate("Object.keys(localStorage)") == []


def test_a_tab_that_is_closed_at_once(ann: Page, server: Server, storage: Storage, draft: int) -> None:
    """The last key and the end of the tab at the same moment: what was typed is saved, or saved by the next visit."""
    edit(ann, server, draft)
    text_of(ann, 1).fill("The last word")
    ann.close()
    again = ann.context.new_page()
    edit(again, server, draft)
    expect(text_of(again, 1)).to_have_value("The last word")
    expect(again.locator("#saved")).not_to_have_text("Saving …")
    assert kept(storage, draft).questions[0].text["en"] == "The last word"


def test_a_server_that_was_away(ann: Page, server: Server, draft: int) -> None:
    """Errors of a server or of a proxy in front are tried again, and then everything is as it was."""
    edit(ann, server, draft)
    answers = iter([502, 503])

    def sometimes(route: Any) -> None:
        status = next(answers, None)
        route.fulfill(status=status, body="<html>proxy</html>") if status else route.continue_()

    ann.route("**/changes", sometimes)
    text_of(ann, 1).fill("Patience")
    said(ann, "Not saved yet")
    expect(ann.locator("#saved")).to_have_text("Saved", timeout=15_000)
    expect(ann.locator("#trouble")).to_be_hidden()


# --- what is wrong ----------------------------------------------------------------------------------------------------


def test_faults_are_beside_their_fields(ann: Page, server: Server) -> None:
    """Nobody is told what is missing before they have left a field, or ask to publish. Then it is shown in words, at
    the field and in a list that leads there; and it goes as soon as it is right.
    """
    ann.goto(f"{server.base}/surveys/new")
    ann.get_by_role("button", name="Start empty").click()
    ann.locator("#add-choice").click()
    expect(question(ann, 1).get_by_label("Question", exact=True)).to_be_focused()
    answers = question(ann, 1).get_by_label("Answers, one per line", exact=True)
    assert ann.locator(".fault:visible").count() == 0
    answers.fill("Only one")
    answers.blur()
    expect(question(ann, 1).locator(".fault:visible")).to_have_text(
        ["Write the question.", "Give this question at least two answers."]
    )
    expect(answers).to_have_attribute("aria-invalid", "true")
    ann.locator("#plan").get_by_role("link", name="Question 1: Give this question at least two answers.").click()
    expect(answers).to_be_focused()
    ann.get_by_role("link", name="Check and publish").click()
    faults = ann.locator("#faults")
    expect(faults).to_be_focused()
    expect(faults.get_by_role("heading")).to_have_text("3 things are missing before you can publish")
    expect(faults.get_by_role("listitem")).to_have_text(
        [
            "Give the survey a title.",
            "Question 1: Write the question.",
            "Question 1: Give this question at least two answers.",
        ]
    )
    assert violations(ann) == []
    faults.get_by_role("link", name="Give this question at least two answers.").click()
    expect(answers).to_be_focused()
    answers.fill("One\nTwo")
    expect(faults.get_by_role("listitem")).to_have_count(2)
    faults.get_by_role("link", name="Give the survey a title.").click()
    ann.keyboard.type("Short")
    faults.get_by_role("link", name="Write the question.").click()
    ann.keyboard.type("Which?")
    expect(faults).to_be_hidden()
    panel = ann.locator("#plan")
    expect(panel.locator(".draft-headline")).to_contain_text("Say how many people you expect")
    panel.get_by_role("link", name="Which?").click()
    expect(question(ann, 1).get_by_label("Question", exact=True)).to_be_focused()


def test_every_type_has_its_own_fields(ann: Page, server: Server) -> None:
    """A question that changes its type shows what that one needs, and has its answers again when it changes back."""
    ann.goto(f"{server.base}/surveys/new")
    ann.get_by_role("button", name="Start empty").click()
    ann.locator("#add-choice").click()
    one = question(ann, 1)
    answers, kind = one.get_by_label("Answers, one per line", exact=True), one.get_by_label("Type of answer")
    answers.fill("Red\nBlue")
    kind.select_option("Number")
    expect(answers).to_have_count(0)
    one.get_by_label("What you want to know").select_option("How many are in each range")
    one.get_by_label("Limits between the ranges").fill("10, 20")
    kind.select_option("Yes or no")
    expect(one.get_by_label("Limits between the ranges")).to_have_count(0)
    kind.select_option("Scale")
    expect(one.get_by_label("Points of the scale")).to_have_value("Red\nBlue")
    kind.select_option("One of several answers")
    expect(answers).to_have_value("Red\nBlue")


# --- for everybody ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(browser: Browser, server: Server, storage: Storage, scheme: str) -> None:
    """On all pages of a draft, in three languages, one of them from right to left, with all details open: on a screen
    and, light, on a narrow phone.
    """
    tree = example_tree()
    draft = new_draft(storage, tree, languages=["en", "es", "ar"], title={"en": "Title", "ar": "عنوان"}, notice="Why")
    context = browser.new_context(color_scheme=scheme)  # type: ignore[arg-type]
    page = signed_in(context, server, storage, "Cem")
    faults = Faults(page)
    pages = ["/surveys/new", f"/drafts/{draft}?check=1", f"/drafts/{draft}/file", f"/drafts/{draft}/preview"]
    complete = new_draft(storage)
    pages += [f"/drafts/{complete}", f"/drafts/{complete}/publish", "/"]
    for path in pages:
        for width in (1280, 320) if scheme == "light" else (1280,):
            page.set_viewport_size({"width": width, "height": 800})
            page.goto(server.base + path)
            if path.endswith(("check=1", str(complete))):
                page.locator("#plan > :not(.muted)").first.wait_for()
            page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
            assert violations(page) == [], (path, width)
            assert not overflows(page), (path, width)
    assert faults == []
    context.close()


def test_hostile_texts_run_nothing(ann: Page, server: Server, storage: Storage) -> None:
    """In every field, typed and from a file, in conflicts and faults, on every page of the draft: they are texts."""
    faults = Faults(ann)
    draft = new_draft(storage, hostile_tree())
    edit(ann, server, draft)
    ann.locator("#add-choice").click()
    new = question(ann, 2)
    for field in new.locator("input:not([type=checkbox]):visible, textarea:visible").all():
        field.fill(HOSTILE)
    new.get_by_label("Answers, one per line", exact=True).blur()
    said(ann, "Saved")
    new.get_by_role("button", name="Delete").click()
    ann.get_by_role("button", name="Undo").click()
    expect(question(ann, 2)).to_be_visible()
    for path in ("", "?check=1", "/file", "/preview", "/publish"):
        ann.goto(f"{server.base}/drafts/{draft}{path}")
        ann.wait_for_timeout(300)
        assert ann.title() != "run" and SCRIPT not in ann.title().replace(HOSTILE, "")
        assert ann.evaluate("document.querySelectorAll('img, script:not([src]), [onerror], [style]').length") == 0
    assert faults == []
