"""The editor of drafts in a real Chromium: what is wrong is shown at its field, the panel follows, anybody can use it,
and no text runs.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from deniable_server.storage import Storage
from tests.helpers.draft_editor import edit, keeps_nothing, question, ready, said, signed_in
from tests.helpers.drafts import HOSTILE, SCRIPT, example_tree, hostile_tree, new_draft
from tests.helpers.questionnaire import Faults, overflows, violations
from tests.helpers.servers import Server

# --- what is wrong ----------------------------------------------------------------------------------------------------


def test_faults_are_beside_their_fields(ann: Page, server: Server) -> None:
    """Nobody is told what is missing before they have left a field, or ask to publish. Then it is shown in words, at
    the field and in a list that leads there; and it goes as soon as it is right.
    """
    ann.goto(f"{server.base}/surveys/new")
    ann.get_by_role("button", name="Start empty").click()
    ready(ann).locator("#add-choice").click()
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
    expect(faults.get_by_role("heading")).to_have_text("3 things to put right before you can publish")
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
    ready(ann).locator("#add-choice").click()
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


def test_follow_ups_know_the_newest_answers(ann: Page, server: Server, storage: Storage) -> None:
    """Also those that were saved before one left the field."""
    options = [{"code": "a", "text": "Yes"}, {"code": "b", "text": "No"}]
    first = {"id": "q", "type": "choice", "text": "Q?", "options": options}
    tree = {"title": "T", "epsilon": 2, "languages": ["en"]}
    after = {"id": "p", "type": "yes_no", "text": "P?", "show_if": {"q": ["a"]}}
    edit(ann, server, new_draft(storage, tree | {"questions": [first, after]}))
    answers = question(ann, 1).get_by_label("Answers, one per line", exact=True)
    answers.press("Control+End")
    ann.keyboard.type("\nSometimes")
    keeps_nothing(ann)
    said(ann, "Saved")
    answers.blur()
    expect(question(ann, 2).get_by_label("Sometimes")).to_be_visible()


def test_lists_are_pasted_as_lines(ann: Page, server: Server, storage: Storage) -> None:
    """From a document without its bullets and numbers, and from a row of a table. Other texts stay what they are."""
    edit(ann, server, new_draft(storage, {"title": "T", "languages": ["en"], "questions": [{"type": "choice"}]}))
    answers = question(ann, 1).get_by_label("Answers, one per line", exact=True)
    for copied, lines in (
        ("•\tYes\n•\tNo\n", "Yes\nNo\n"),
        ("1.\tFirst\r\n2.\tSecond\r\no\tOther", "First\nSecond\nOther"),
        ("North\tSouth\tEast", "North\nSouth\nEast"),
        ("- 5\n* 7\n3 or more", "- 5\n* 7\n3 or more"),
    ):
        answers.fill("")
        answers.evaluate(
            """(field, text) => {
                const clipboardData = new DataTransfer();
                clipboardData.setData("text/plain", text);
                const paste = new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true });
                if (field.dispatchEvent(paste)) document.execCommand("insertText", false, text);
            }""",
            copied,
        )
        expect(answers).to_have_value(lines)


def test_a_comparison_that_is_not_possible_says_so_at_once(ann: Page, server: Server, draft: int) -> None:
    """Next to the comparisons, and the panel leads there."""
    edit(ann, server, draft)
    options = ann.get_by_label("with this one").locator("option").all_text_contents()
    average = next(text for text in options if "drink" in text)
    ann.get_by_label("with this one").select_option(average)
    ann.get_by_role("button", name="Compare these two").click()
    fault = ann.locator("[data-fault=together]")
    expect(fault).to_have_text("Only questions that are counted answer by answer can be compared, not averages.")
    ann.evaluate("scrollTo(0, 0)")
    ann.locator("#plan").get_by_role("link", name="Only questions").click()
    expect(fault).to_be_in_viewport()
    expect(fault).to_be_focused()


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
