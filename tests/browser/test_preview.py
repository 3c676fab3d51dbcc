"""Trying a draft in a real Chromium: the preview sends and keeps nothing; a test run is answered, read and marked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, Request, expect

from deniable_protocol import survey_from_tree, verify
from deniable_server.planning import publish_survey
from deniable_server.storage import open_storage
from deniable_server.storage.tokens import make_token
from tests.helpers.drafts import HOSTILE, example_tree, hostile_tree, new_draft
from tests.helpers.questionnaire import Faults, overflows, violations
from tests.helpers.servers import Server, running


class Tried(NamedTuple):
    """A server with the drafts of an editor."""

    server: Server
    secret: str
    example: int
    hostile: int
    one_question: int


class Words(NamedTuple):
    """What the buttons and the last screen say."""

    start: str
    next: str
    review: str
    send: str
    end: str


ENGLISH = Words("Start", "Next", "Check your answers", "Send", "This is a preview. Nothing was sent.")
SPANISH = Words(
    "Empezar", "Siguiente", "Revisar sus respuestas", "Enviar", "Esto es una vista previa. No se envió nada."
)
KEPT = """async () => ({
    databases: (await indexedDB.databases()).map(({ name }) => name),
    stored: [...Object.keys(localStorage), ...Object.keys(sessionStorage)],
    caches: await caches.keys(),
    cookies: document.cookie,
})"""
NOTHING = {"databases": [], "stored": [], "caches": [], "cookies": ""}
QUESTION = {"id": "q", "type": "yes_no", "text": "Did you?"}
ONE_QUESTION = {
    "id": "one",
    "title": "One question",
    "languages": ["en", "es"],
    "epsilon": 2.0,
    "questions": [QUESTION],
}


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tried]:
    folder = tmp_path_factory.mktemp("tried")
    storage = open_storage(str(folder / "deniable.db"))
    drafts = [new_draft(storage, tree) for tree in (example_tree(), hostile_tree(), ONE_QUESTION)]
    secret, _ = make_token(storage, "editor", "me")
    storage.close()
    with running(folder / "deniable.db", folder / "log") as server:
        yield Tried(server, secret, *drafts)


@pytest.fixture
def editor(tried: Tried, page: Page) -> Page:
    page.goto(f"{tried.server.base}/sign-in")
    page.fill("input[type=password]", tried.secret)
    page.click("main button")
    return page


def preview(page: Page, tried: Tried, draft: int, words: Words = ENGLISH) -> FrameLocator:
    """Open the preview of a draft; its frame, at the first screen."""
    page.goto(f"{tried.server.base}/drafts/{draft}/preview")
    return first_screen(page, words)


def first_screen(page: Page, words: Words) -> FrameLocator:
    frame = page.frame_locator("#questionnaire")
    frame.get_by_role("button", name=words.start, exact=True).wait_for()
    return frame


def answer(shown: Page | FrameLocator, words: Words) -> None:
    """Give the first answer to each question, screen by screen or on one page, and send."""
    shown.get_by_role("button", name=words.start, exact=True).click()
    last = shown.get_by_role("button", name=words.send, exact=True)
    form = shown.locator("deniable-survey form")
    while True:
        form.or_(last).first.wait_for()
        if last.is_visible():
            break
        for group in form.locator("fieldset:visible").all():
            group.get_by_role("radio").or_(group.get_by_role("checkbox")).first.check()
        for number in form.locator("input[type=text]:visible").all():
            number.fill("3")
        following = shown.get_by_role("button", name=words.next, exact=True)
        (following if following.is_visible() else shown.get_by_role("button", name=words.review, exact=True)).click()
    last.click()


def test_a_preview_sends_and_keeps_nothing(editor: Page, tried: Tried) -> None:
    """In two languages, as a phone and on a desktop, with a chosen booklet: the real screens to the last, which says
    that nothing was sent, and shows what would have been. No request leaves for the interface for programs, and the
    device has no database and no stored item afterwards. Starting over begins again. axe has nothing to say.
    """
    faults, requests = Faults(editor), list[Request]()
    editor.on("request", lambda request: requests.append(request))
    document = verify(publish_survey(survey_from_tree(example_tree())))
    asked = [[question.id for question in document.asked(each)] for each in range(len(document.booklets))]
    booklet = asked.index(["harassed"])
    frame = preview(editor, tried, tried.example)
    assert editor.locator("#questionnaire").evaluate("(frame) => frame.contentWindow.innerWidth") == 390
    editor.get_by_label("Booklet", exact=True).select_option(str(booklet))
    first_screen(editor, ENGLISH)
    expect(frame.get_by_text("This is a preview. Answer as you like: nothing is sent.")).to_be_visible()
    answer(frame, ENGLISH)
    expect(frame.get_by_role("heading", name=ENGLISH.end)).to_be_focused()
    frame.get_by_text("See what was sent").click()
    expect(frame.get_by_role("rowheader", name="harassed")).to_be_visible()
    assert violations(editor) == []
    frame.get_by_role("button", name="Start over").click()
    first_screen(editor, ENGLISH)

    editor.get_by_label("Language").select_option("es")
    editor.get_by_label("Device").select_option("desktop")
    editor.get_by_label("Questions").select_option("one-page")
    frame = first_screen(editor, SPANISH)
    assert editor.locator("#questionnaire").evaluate("(frame) => frame.contentWindow.innerWidth") > 600
    answer(frame, SPANISH)
    expect(frame.get_by_role("heading", name=SPANISH.end)).to_be_visible()
    editor.get_by_role("button", name="Start over").click()
    first_screen(editor, SPANISH)
    editor.reload()
    first_screen(editor, SPANISH)

    assert [each.url for each in requests if "/api/" in each.url or each.method != "GET"] == []
    assert [each.url for each in requests if not each.url.startswith(tried.server.base)] == []
    assert editor.evaluate(KEPT) == NOTHING
    assert faults == [] and violations(editor) == []


def test_the_frame_by_itself_is_clean(editor: Page, tried: Tried) -> None:
    """axe has nothing to say about it, and it fits a narrow phone. Its policy lets it connect to nothing, even if a
    script of ours wanted to.
    """
    editor.set_viewport_size({"width": 320, "height": 700})
    editor.goto(f"{tried.server.base}/drafts/{tried.one_question}/preview/frame")
    answer(editor, ENGLISH)
    expect(editor.get_by_role("heading", name=ENGLISH.end)).to_be_visible()
    assert violations(editor) == [] and not overflows(editor)
    assert editor.evaluate("fetch('/healthz').then(() => 'sent', () => 'refused')") == "refused"


def test_no_address_makes_a_preview(tried: Tried, editor: Page, browser: Browser) -> None:
    """Whatever is appended to the address of a survey, and whatever attribute its element gets, answers are sent: only
    a script of the page can make a preview of it.
    """
    editor.goto(f"{tried.server.base}/drafts/{tried.one_question}/preview")
    editor.get_by_role("button", name="Start a test run").click()
    link = editor.get_by_role("textbox", name="Link of the test run").input_value()
    page = browser.new_context(locale="en-GB").new_page()
    sent: list[str] = []
    page.on("request", lambda request: request.method == "POST" and sent.append(request.url))
    page.add_init_script(
        "addEventListener('DOMContentLoaded', () =>"
        " document.querySelector('deniable-survey').setAttribute('preview', '{}'))"
    )
    page.goto(link.replace("?kiosk", "?preview&preview=1&preview[document]=x&screens=one-page"))
    answer(page, ENGLISH)
    expect(page.get_by_role("heading", name="Thank you. Your answers were sent.")).to_be_visible()
    assert len(sent) == 1 and sent[0].endswith("/submissions")
    page.context.close()


def test_a_test_run_is_answered_twice_and_read(editor: Page, tried: Tried, browser: Browser) -> None:
    """On the same phone, in kiosk mode. The banner is on the phone, in the language that is chosen there, and on the
    results, which count both answers. Ended, the link leads nowhere. axe has nothing to say.
    """
    editor.goto(f"{tried.server.base}/drafts/{tried.one_question}/preview")
    again = editor.get_by_role("button", name="Start again with no answers")
    again.or_(editor.get_by_role("button", name="Start a test run")).first.click()
    link = editor.get_by_role("textbox", name="Link of the test run").input_value()
    phone = browser.new_context(locale="en-GB", viewport={"width": 390, "height": 844}).new_page()
    phone.goto(link)
    for _ in range(2):
        expect(phone.get_by_text("Test run. These answers are deleted when the survey is published.")).to_be_visible()
        answer(phone, ENGLISH)
        phone.get_by_role("button", name="Next person").click()
    phone.get_by_label("Language").select_option("es")
    expect(phone.get_by_text("Prueba. Estas respuestas se borran cuando se publique la encuesta.")).to_be_visible()
    expect(phone.locator(".test-run:visible")).to_have_count(1)
    assert violations(phone) == [] and not overflows(phone)

    editor.reload()
    expect(editor.get_by_text("2 answers so far.")).to_be_visible()
    assert violations(editor) == []
    for width in (320, 1280):
        editor.set_viewport_size({"width": width, "height": 800})
        assert not overflows(editor)
    editor.get_by_role("link", name="See the results").click()
    expect(editor.locator("#test-run")).to_contain_text("Test run. These answers are deleted")
    expect(editor.locator("#submissions")).to_contain_text("2")
    assert violations(editor) == []
    editor.get_by_role("link", name="Back to the draft").click()
    editor.get_by_role("button", name="End the test run and delete its answers").click()
    expect(editor.get_by_role("button", name="Start a test run")).to_be_visible()
    phone.reload()
    expect(phone.get_by_role("heading", name="There is no survey at this address")).to_be_visible()
    phone.context.close()


def test_hostile_texts_run_nothing(editor: Page, tried: Tried) -> None:
    """In the title, in questions and options, on the page, in the frame and in a test run: they are shown as texts."""
    faults = Faults(editor)
    frame = preview(editor, tried, tried.hostile)
    expect(editor.get_by_role("heading", level=1)).to_have_text(HOSTILE)
    expect(frame.get_by_role("heading", name="quoted").first).to_be_visible()
    answer(frame, ENGLISH)
    expect(frame.get_by_role("heading", name=ENGLISH.end)).to_be_visible()
    for document in (editor.locator("html"), frame.locator("html")):
        assert document.evaluate("(html) => html.querySelectorAll('img, script:not([src])').length") == 0
        assert document.evaluate("(html) => html.ownerDocument.title !== 'run'")
    editor.get_by_role("button", name="Start a test run").click()
    editor.goto(editor.get_by_role("textbox", name="Link of the test run").input_value())
    expect(editor.locator("deniable-survey").get_by_role("heading", name="quoted").first).to_be_visible()
    assert editor.title() != "run" and faults == []
