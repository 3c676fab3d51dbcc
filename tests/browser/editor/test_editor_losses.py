"""The editor of drafts in a real Chromium: nothing that is written is lost, whatever happens meanwhile."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from deniable_server import editing
from deniable_server.storage import Storage
from deniable_server.storage.tokens import make_token
from tests.helpers.draft_editor import (
    QUIET,
    edit,
    keeps_nothing,
    kept,
    look,
    question,
    said,
    sign_in,
    signed_in,
    text_of,
)
from tests.helpers.drafts import example_tree
from tests.helpers.questionnaire import Faults, violations
from tests.helpers.servers import Server


class Held:
    """Requests to these addresses, which wait until they are let go."""

    def __init__(self, page: Page, addresses: str) -> None:
        self._page, self._waiting, self._is_free = page, list[Route](), False
        page.route(addresses, lambda route: self._take(route))

    def _take(self, route: Route) -> None:
        if self._is_free:
            route.continue_()
        else:
            self._waiting.append(route)

    def let_go(self) -> None:
        """The first one, as soon as it has come, and all after it."""
        while not self._waiting:
            self._page.wait_for_timeout(20)
        self._is_free = True
        for route in self._waiting:
            route.continue_()


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
    look(ben)
    expect(ben.locator("[id='f-" + kept(storage, draft).questions[0].key + ".text:en']")).to_have_value(
        "Written by Ann", timeout=QUIET
    )
    look(ann)
    expect(ann.get_by_label("Title English")).to_have_value("Written by Ben", timeout=QUIET)
    expect(ann.get_by_role("heading", level=1)).to_have_text("Written by Ben")
    assert ann.title().startswith("Written by Ben")
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
    look(ann)
    expect(text_of(ann, 2)).to_have_value("Ben writes on and on", timeout=QUIET)
    sketch = kept(storage, draft)
    assert sketch.title == "Written by Ben" and sketch.questions[1].text["en"] == "Ben writes on and on"
    assert sketch.questions[0].text["en"] == "Written by Ann" and sketch.questions[0].fields["decline"]
    assert faults == []


@pytest.mark.parametrize(("button", "kept_text"), [("Keep mine", "Ben's own words"), ("Take theirs", "Ann's words")])
def test_two_people_in_one_field(
    ann: Page, ben: Page, server: Server, storage: Storage, draft: int, button: str, kept_text: str
) -> None:
    """Both texts are on the screen of the one who was second, and that one decides, also after the page was loaded
    again. Nothing is overwritten before.
    """
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
    text_of(ben, 1).fill("Ben's own words")
    said(ben, "Not saved yet")
    ben.reload()
    expect(box.get_by_role("blockquote")).to_have_text("Ann's words")
    expect(text_of(ben, 1)).to_have_value("Ben's own words")
    box.get_by_role("button", name=button).click()
    said(ben, "Saved")
    expect(text_of(ben, 1)).to_have_value(kept_text)
    expect(box).to_have_count(0)
    look(ann)
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
    look(ann)
    expect(text_of(ann, 1)).to_be_disabled()
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
    keeps_nothing(again)
    assert kept(storage, draft).questions[0].text["en"] == "The last word"


def test_what_is_written_before_the_script_is_there(ann: Page, server: Server, storage: Storage, draft: int) -> None:
    """On a slow network a page is there before its script: what one writes in it then is saved all the same."""
    held = Held(ann, "**/editor.js")
    ann.goto(f"{server.base}/drafts/{draft}", wait_until="commit")
    text_of(ann, 1).fill("Early")
    question(ann, 1).get_by_label("Also offer").check()
    assert ann.locator("#plan .draft-plan").count() == 0
    held.let_go()
    said(ann, "Saved")
    sketch = kept(storage, draft)
    assert sketch.questions[0].text["en"] == "Early" and sketch.questions[0].fields["decline"]
    assert sketch.title == "Campus health 2026"


def test_a_server_that_was_away(ann: Page, server: Server, draft: int) -> None:
    """Errors of a server or of a proxy in front are tried again, and then everything is as it was. One sees that they
    happened, wherever on the page one writes, and that the figures are old.
    """
    edit(ann, server, draft)
    ann.route("**/plan*", lambda route: route.fulfill(status=502))
    answers = iter([502, 413])

    def sometimes(route: Any) -> None:
        status = next(answers, None)
        route.fulfill(status=status, body="<html>proxy</html>") if status else route.continue_()

    ann.route("**/changes", sometimes)
    last = question(ann, len(example_tree()["questions"]))
    last.get_by_label("Question English").fill("Patience")
    said(ann, "Not saved yet")
    expect(ann.locator("#trouble")).to_be_in_viewport()
    expect(last.get_by_label("Question English")).to_be_in_viewport()
    expect(ann.locator("#saved")).to_have_text("Saved", timeout=15_000)
    expect(ann.locator("#trouble")).to_be_hidden()
    expect(ann.locator("#plan")).to_have_class("old")
    ann.unroute("**/plan*")
    expect(ann.locator("#plan")).not_to_have_class("old")


def test_what_waits_in_the_browser_is_kept_until_it_is_saved(ann: Page, server: Server, draft: int) -> None:
    """Also while it is sent again, after the page was opened again and the server is still away."""
    edit(ann, server, draft)
    ann.route("**/changes", lambda route: route.fulfill(status=503))
    text_of(ann, 1).fill("Not yet")
    said(ann, "Not saved yet")
    edit(ann, server, draft)
    said(ann, "Not saved yet")
    assert "Not yet" in ann.evaluate("JSON.stringify(localStorage)")
    ann.unroute("**/changes")
    keeps_nothing(ann)


def test_a_change_that_is_refused_takes_no_other_with_it(
    ann: Page, server: Server, storage: Storage, draft: int
) -> None:
    """What was written at the same time is saved. The page says what cannot be saved, and gives the text back."""
    edit(ann, server, draft)
    ann.context.set_offline(True)
    text_of(ann, 1).fill("Saved all the same")
    lines = question(ann, 4).get_by_label("Answers, one per line English")
    lines.fill("\n".join(f"Answer {number}" for number in range(1_001)))
    ann.get_by_label("with this one").select_option(index=0)
    ann.get_by_role("button", name="Compare these two").click()
    ann.context.set_offline(False)
    expect(ann.get_by_label("What was not saved")).to_have_value(re.compile("^Answer 0\nAnswer 1\n"))
    expect(ann.locator("#trouble")).to_have_text("Choose two different questions.")
    assert kept(storage, draft).questions[0].text["en"] == "Saved all the same"


def test_what_one_writes_after_a_button_stays(ann: Page, server: Server, storage: Storage, draft: int) -> None:
    """A slow answer to a button takes the keyboard from nobody who writes somewhere else by then."""
    edit(ann, server, draft)
    held = Held(ann, "**/changes")
    question(ann, 1).get_by_role("button", name="Delete question 1").click()
    text_of(ann, 3).click()
    ann.keyboard.press("Control+a")
    ann.keyboard.type("This is what ")
    held.let_go()
    expect(ann.get_by_role("button", name="Undo")).to_be_visible()
    ann.keyboard.type("I write")
    expect(text_of(ann, 2)).to_have_value("This is what I write")
    expect(text_of(ann, 2)).to_be_focused()
    said(ann, "Saved")
    assert kept(storage, draft).questions[1].text["en"] == "This is what I write"


def test_a_draft_that_is_gone_when_one_comes_back(ann: Page, server: Server, storage: Storage, draft: int) -> None:
    """Her session ends, and a colleague deletes the draft. After signing in again what she wrote is there to copy."""
    edit(ann, server, draft)
    ann.context.clear_cookies()
    text_of(ann, 1).fill("Where is it?")
    expect(ann.get_by_role("alert").first).to_contain_text("You are signed out.")
    storage.drafts.delete(draft)
    with ann.context.expect_page() as opened:
        ann.get_by_role("link", name="Sign in in a new tab").click()
    secret, _ = make_token(storage, "editor", "Ann")
    sign_in(opened.value, secret)
    expect(ann.get_by_label("What was not saved")).to_have_value("Where is it?")


def test_a_file_that_is_changed_survives_the_session(ann: Page, server: Server, storage: Storage, draft: int) -> None:
    """The text stays on the page until one has signed in again, and is applied then."""
    ann.goto(f"{server.base}/drafts/{draft}/file")
    text = ann.get_by_label("Survey file (TOML)")
    text.fill(text.input_value().replace("Campus health 2026", "Applied in the end"))
    ann.context.clear_cookies()
    ann.get_by_role("button", name="Apply").click()
    expect(ann.get_by_role("alert")).to_contain_text("You are signed out.")
    with ann.context.expect_page() as opened:
        ann.get_by_role("link", name="Sign in in a new tab").click()
    secret, _ = make_token(storage, "editor", "Ann")
    sign_in(opened.value, secret)
    opened.value.get_by_role("heading", name="Surveys").wait_for()
    ann.get_by_role("button", name="Apply").click()
    expect(ann.get_by_role("heading", level=1)).to_have_text("Applied in the end")
