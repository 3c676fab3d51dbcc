"""A survey from the first word to its results, in a real Chromium, without a line of code: by keyboard alone, and once
with a mouse and then a finger.
"""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser, FrameLocator, Locator, Page, expect

from deniable_protocol import Survey
from deniable_server.simulate import Population, simulate_directly
from deniable_server.storage import open_storage
from deniable_server.storage.tokens import make_token
from tests.helpers.draft_editor import ready
from tests.helpers.hands import Finger, Hands, Keyboard, Mouse
from tests.helpers.questionnaire import Faults, overflows, violations
from tests.helpers.servers import Server, running


class Asked(NamedTuple):
    """A question as somebody writes it: its type as the editor names it, its texts and answers in English and Spanish,
    and after which answer to which question it is asked. ``numbers`` are its smallest and largest answer.
    """

    type: str
    texts: tuple[str, str]
    answers: tuple[str, str] = ("", "")
    decline: bool = False
    after: tuple[str, str] | None = None
    numbers: tuple[str, str] = ("", "")


VAPED = "In the last 30 days, have you vaped?"
HARASSED = "In the last 12 months, has anyone harassed you?"
STRESSED = "How stressed have you been?"
QUESTIONS = (
    Asked("Yes or no", (VAPED, "En los últimos 30 días, ¿ha vapeado?")),
    Asked(
        "One of several answers",
        ("How often have you vaped?", "¿Con qué frecuencia ha vapeado?"),
        ("Every day\nOn some days", "Todos los días\nAlgunos días"),
        after=(VAPED, "Yes"),
    ),
    Asked("Yes or no", (HARASSED, "En los últimos 12 meses, ¿alguien le ha acosado?"), decline=True),
    Asked("Yes or no", ("Did you tell anyone?", "¿Se lo contó a alguien?"), after=(HARASSED, "Yes")),
    Asked("Scale", (STRESSED, "¿Cuánto estrés ha sentido?"), ("None\nA little\nMuch", "Nada\nUn poco\nMucho")),
    Asked("Number", ("How many hours do you sleep?", "¿Cuántas horas duerme?"), numbers=("0", "14")),
    Asked(
        "Several answers at once",
        ("Which help have you used?", "¿Qué ayuda ha usado?"),
        ("Counselling\nA doctor\nFriends", "Orientación\nUn médico\nAmigos"),
    ),
    Asked(
        "One of several answers",
        ("What have you tried?", "¿Qué ha probado?"),
        ("Nothing\nAlcohol\nCannabis\nSomething else", "Nada\nAlcohol\nCannabis\nOtra cosa"),
    ),
    Asked("Yes or no", ("Have you skipped a meal?", "¿Se ha saltado una comida?")),
    Asked("Yes or no", ("Have you thought of leaving?", "¿Ha pensado en dejarlo?")),
)
GROUPS = ("Which campus?", "¿Qué campus?"), ("North\nSouth", "Norte\nSur")
TITLE = "Campus health 2027"
EXPECTED = 3_000
FILM = ("start", "write", "languages", "plan", "preview", "test", "publish", "share", "answer", "results")


class Film:
    """Pictures on the way, for the documentation."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def take(self, page: Page, name: str) -> None:
        page.screenshot(path=self._path(name), animations="disabled", caret="initial")

    def _path(self, name: str) -> Path:
        return self.folder / f"editor-{FILM.index(name) + 1}-{name}.png"

    def strip(self, page: Page) -> None:
        """All of them, in two rows."""
        page.set_viewport_size({"width": 1640, "height": 560})
        page.goto("about:blank")
        page.set_content(
            "<body style='margin: 0; padding: 12px; background: #d0d7de; display: grid; gap: 12px;"
            " grid-template-columns: repeat(5, 1fr)'>"
        )
        for name in FILM:
            data = b64encode(self._path(name).read_bytes()).decode()
            page.evaluate(
                """(data) => {
                    const image = Object.assign(new Image(), { src: data });
                    image.style = 'width: 100%; aspect-ratio: 1280 / 1000; object-fit: contain; background: #fff';
                    document.body.append(image);
                }""",
                f"data:image/png;base64,{data}",
            )
        page.wait_for_function("[...document.images].every((image) => image.complete)")
        page.locator("body").screenshot(path=self.folder / "editor-filmstrip.png")


@pytest.fixture
def written(tmp_path: Path) -> Iterator[tuple[Server, str]]:
    """A server without surveys, and an editor's access token."""
    storage = open_storage(str(tmp_path / "deniable.db"))
    secret, _ = make_token(storage, "editor", "Ann")
    storage.close()
    with running(tmp_path / "deniable.db", tmp_path / "log") as server:
        yield server, secret


def sign_in(hands: Hands, server: Server, secret: str) -> None:
    hands.page.goto(f"{server.base}/sign-in")
    hands.write(hands.page.get_by_label("Your access token"), secret)
    hands.press(hands.page.get_by_role("button", name="Sign in"))
    hands.page.get_by_role("heading", name="Surveys").wait_for()


def saved(page: Page) -> None:
    expect(page.locator("#saved")).to_contain_text("Saved")


# --- writing ----------------------------------------------------------------------------------------------------------


def write_the_survey_itself(hands: Hands) -> None:
    page = hands.page
    hands.write(page.get_by_label("Title", exact=True), TITLE)
    hands.choose(page.get_by_label("Add a language"), "Spanish")
    hands.press(page.get_by_role("button", name="Add", exact=True))
    hands.write(page.get_by_label("Title Spanish"), "Salud en el campus 2027")
    hands.write(page.get_by_label("Who asks English"), "Campus Health Service")
    hands.write(page.get_by_label("Who asks Spanish"), "Servicio de salud")


def write_question(hands: Hands, asked: Asked) -> None:
    """Add it at the end and write it: the editor goes to its first field by itself."""
    page = hands.page
    before = page.locator("[data-list=questions] > .item").count()
    hands.press(page.locator(".add").get_by_role("button", name=asked.type, exact=True))
    item = page.locator("[data-list=questions] > .item").nth(before)
    expect(item.get_by_label("Question English")).to_be_focused()
    write_texts(hands, item, "Question", asked.texts)
    if asked.answers[0]:
        label = "Points of the scale" if asked.type == "Scale" else "Answers, one per line"
        write_texts(hands, item, label, asked.answers)
    if asked.numbers[0]:
        hands.write(item.get_by_label("Smallest answer"), asked.numbers[0])
        hands.write(item.get_by_label("Largest answer"), asked.numbers[1])
    if asked.decline:
        hands.tick(item.get_by_label("Also offer"))
    if asked.after is not None:
        hands.choose(item.get_by_label("Ask it"), asked.after[0])
        hands.tick(item.locator(".among").get_by_label(asked.after[1], exact=True))


def write_texts(hands: Hands, item: Locator, label: str, texts: tuple[str, str]) -> None:
    for text, language in zip(texts, ("English", "Spanish"), strict=True):
        hands.write(
            item.locator(f"[data-at]:is(input, textarea)[lang={'en' if language == 'English' else 'es'}]").and_(
                item.get_by_label(label)
            ),
            text,
        )


def write_groups(hands: Hands) -> None:
    page = hands.page
    hands.press(page.get_by_role("button", name="Add a group question"))
    item = page.locator("[data-list=segments] > .item")
    expect(item.get_by_label("Question English")).to_be_focused()
    write_texts(hands, item, "Question", GROUPS[0])
    write_texts(hands, item, "Answers, one per line", GROUPS[1])


def compare(hands: Hands, one: str, other: str) -> None:
    page = hands.page
    places = {question.texts[0]: place for place, question in enumerate(QUESTIONS, 1)}
    hands.choose(page.get_by_label("This question"), f"{places[one]}. ")
    hands.choose(page.get_by_label("with this one"), f"{places[other]}. ")
    hands.press(page.get_by_role("button", name="Compare these two"))
    expect(page.get_by_role("button", name="Do not compare pair 1")).to_be_visible()


def look_at_the_plan(hands: Hands) -> None:
    """How many people, and how well they are protected: the sentence follows both."""
    page = hands.page
    headline = page.locator(".draft-headline")
    hands.write(page.get_by_label("How many people will answer?"), f"{EXPECTED:,}")
    expect(headline).to_contain_text("With 3,000 people you will know each answer within about ±")
    balanced = headline.inner_text()
    hands.press(page.get_by_role("button", name="Strong"))
    expect(headline).not_to_have_text(balanced)
    hands.press(page.get_by_role("button", name="Balanced"))
    expect(page.get_by_role("button", name="Balanced", pressed=True)).to_be_visible()
    expect(headline).to_have_text(balanced)
    expect(page.locator(".draft-helps")).to_contain_text("Ask 6,000 people")


# --- trying, publishing, answering, reading --------------------------------------------------------------------------


def answer(hands: Hands, shown: Page | FrameLocator, *, send: str = "Send") -> None:
    """Give the first answer to each question, screen by screen."""
    hands.press(shown.get_by_role("button", name="Start", exact=True))
    last = shown.get_by_role("button", name=send, exact=True)
    form = shown.locator("deniable-survey form")
    while True:
        form.or_(last).first.wait_for()
        if last.is_visible():
            break
        for group in form.locator("fieldset:visible:has(input[type=radio], input[type=checkbox])").all():
            hands.tick(group.get_by_role("radio").or_(group.get_by_role("checkbox")).first)
        for number in form.locator("input[type=text]:visible").all():
            hands.write(number, "7")
        following = shown.get_by_role("button", name="Next", exact=True)
        hands.press(following if following.is_visible() else shown.get_by_role("button", name="Check your answers"))
    hands.press(last)


def preview_it(hands: Hands, film: Film | None = None) -> None:
    page = hands.page
    hands.press(page.get_by_role("link", name="Preview and test"))
    frame = page.frame_locator("#questionnaire")
    frame.get_by_role("button", name="Start", exact=True).wait_for()
    if film:
        film.take(page, "preview")
    answer(hands, frame)
    expect(frame.get_by_role("heading", name="This is a preview. Nothing was sent.")).to_be_visible()


def try_it_out(hands: Hands, film: Film | None = None) -> None:
    """Answer it on the link of the test run, and find the answer in its results."""
    page = hands.page
    hands.press(page.get_by_role("button", name="Start a test run"))
    with page.context.expect_page() as opened:
        hands.press(page.get_by_role("link", name="Open the page"))
    respondent = type(hands)(opened.value)
    answer(respondent, respondent.page)
    respondent.page.get_by_role("button", name="Next person").wait_for()
    respondent.page.close()
    page.reload()
    expect(page.locator("#testing")).to_contain_text("1 answer so far.")
    if film:
        page.locator("#testing").scroll_into_view_if_needed()
        film.take(page, "test")
    hands.press(page.get_by_role("link", name="See the results"))
    expect(page.locator("#test-run")).to_contain_text("Test run.")
    hands.press(page.get_by_role("link", name="Back to the draft"))


def publish_it(hands: Hands, film: Film | None = None) -> str:
    """Its link. One lands on it, with a QR code, a text to send and HTML for a page."""
    page = hands.page
    hands.press(page.get_by_role("navigation", name="Draft").get_by_role("link", name="Publish"))
    expect(page.get_by_role("heading", name="What you will know")).to_be_visible()
    assert violations(page) == []
    if film:
        film.take(page, "publish")
    hands.press(page.get_by_role("button", name="Publish", exact=True))
    page.wait_for_url("**/share?new=1")
    link = page.get_by_label("Link for respondents", exact=True).input_value()
    assert "/s/campus-health-2027#" in link and page.get_by_role("img", name="QR code").count() == 1
    assert link in page.get_by_label("Text, English").input_value()
    assert link in page.get_by_label("Text, Español").input_value()
    assert "<deniable-survey" in page.get_by_label("HTML for your page").input_value()
    if film:
        film.take(page, "share")
    return link


def read_it(hands: Hands, server: Server, film: Film | None = None) -> None:
    """With made-up people who answered as well, the results show every question, and follow-ups below theirs."""
    storage = open_storage(str(server.database), create=False)
    published = storage.find("campus-health-2027")
    assert published is not None
    survey = published.document.survey
    simulate_directly(storage, published, Population(survey, seed=1), EXPECTED - 1, lambda done: None)
    storage.close()
    check(survey)
    page = hands.page
    hands.press(page.get_by_role("link", name="Results", exact=True))
    expect(page.locator("#submissions")).to_contain_text(f"{EXPECTED:,}")
    for question in QUESTIONS:
        expect(page.get_by_role("heading", name=question.texts[0], exact=True)).to_be_visible()
    assert violations(page) == []
    if film:
        film.take(page, "results")


def check(survey: Survey) -> None:
    """What was published is what was meant, in both languages, with names made from the texts."""
    assert survey.languages == ("en", "es") and survey.epsilon is not None and str(survey.epsilon) == "2.0"
    assert [question.text for question in survey.questions] == [question.texts[0] for question in QUESTIONS]
    spanish = survey.in_language("es")
    assert [question.text for question in spanish.questions] == [question.texts[1] for question in QUESTIONS]
    assert [option.text for option in spanish.questions[1].options] == ["Todos los días", "Algunos días"]
    ids = [question.id for question in survey.questions]
    shown = {question.id: question.show_if for question in survey.questions if question.show_if}
    assert [(name, each.question, each.codes) for name, each in shown.items()] == [
        (ids[1], ids[0], ("yes",)),
        (ids[3], ids[2], ("yes",)),
    ]
    assert survey.together == ((ids[0], ids[4]),) and [each.text for each in survey.segments] == ["Which campus?"]
    assert ids[0] == "in_the_last_30_days_have_you"


# --- the whole way ----------------------------------------------------------------------------------------------------


def test_by_keyboard_alone_with_screenshots(browser: Browser, written: tuple[Server, str], tmp_path: Path) -> None:
    """Ten questions in two languages, with two follow-ups and a comparison, one deleted by mistake and one moved:
    written, planned, previewed, tested, published, answered and read with keys only. make screenshots keeps the film.
    """
    server, secret = written
    film = Film(Path(os.environ.get("DENIABLE_SCREENSHOTS") or tmp_path))
    page = browser.new_context(viewport={"width": 1280, "height": 1000}, locale="en-GB").new_page()
    faults, hands = Faults(page), Keyboard(page)
    sign_in(hands, server, secret)
    hands.press(page.get_by_role("navigation").get_by_role("link", name="New survey"))
    page.get_by_role("heading", name="New survey").wait_for()
    assert violations(page) == []
    film.take(page, "start")
    hands.press(page.get_by_role("button", name="Start empty"))
    ready(page)

    write_the_survey_itself(hands)
    for question in (*QUESTIONS[:8], QUESTIONS[9], QUESTIONS[8]):
        write_question(hands, question)
        if question is QUESTIONS[1]:
            film.take(page, "write")
    items = page.locator("[data-list=questions] > .item")
    hands.move(items.nth(9), items.nth(8), "Move question 10 up")
    expect(items.nth(8).get_by_label("Question English")).to_have_value(QUESTIONS[8].texts[0])
    hands.press(items.nth(3).get_by_role("button", name="Delete question 4"))
    expect(items).to_have_count(9)
    expect(page.get_by_role("button", name="Undo")).to_be_focused()
    page.keyboard.press("Enter")
    expect(items).to_have_count(10)
    expect(items.nth(3).locator(".among").get_by_label("Yes")).to_be_checked()
    write_groups(hands)
    compare(hands, VAPED, STRESSED)
    saved(page)
    expect(page.locator("[data-missing=es]")).to_have_text("0 texts missing")
    page.evaluate("scrollTo(0, 0)")
    film.take(page, "languages")
    look_at_the_plan(hands)
    film.take(page, "plan")
    assert violations(page) == []

    preview_it(hands, film)
    try_it_out(hands, film)
    link = publish_it(hands, film)
    phone = browser.new_context(viewport={"width": 390, "height": 844}, locale="en-GB").new_page()
    phone.goto(link)
    phone.get_by_role("button", name="Start", exact=True).wait_for()
    film.take(phone, "answer")
    answer(Keyboard(phone), phone)
    expect(phone.get_by_role("heading", name="Thank you. Your answers were sent.")).to_be_visible()
    read_it(hands, server, film)
    assert faults == []
    film.strip(phone)
    for name in FILM:
        assert (film.folder / f"editor-{FILM.index(name) + 1}-{name}.png").stat().st_size > 20_000
    page.context.close()
    phone.context.close()


def test_with_a_mouse_and_then_a_finger(browser: Browser, written: tuple[Server, str]) -> None:
    """The same survey: begun on a desktop with a mouse, gone on with on a phone. Two questions are dragged past three
    others by mouse, and one past four by touch, where the page scrolls by itself. Nothing is wider than the phone.
    """
    server, secret = written
    page = browser.new_context(viewport={"width": 1280, "height": 1000}, locale="en-GB").new_page()
    faults, hands = Faults(page), Mouse(page)
    sign_in(hands, server, secret)
    hands.press(page.get_by_role("link", name="New survey").last)
    hands.press(page.get_by_role("button", name="Start empty"))
    ready(page)
    write_the_survey_itself(hands)
    for question in (*QUESTIONS[2:5], *QUESTIONS[:2]):
        write_question(hands, question)
    items = page.locator("[data-list=questions] > .item")
    for place in range(2):
        hands.move(items.nth(place + 3), items.nth(place), "")
        expect(items.nth(place).get_by_label("Question English")).to_have_value(QUESTIONS[place].texts[0])
        expect(page.locator("#saved")).to_have_text(f"Saved. This is number {place + 1} now.")

    phone = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, locale="en-GB"
    ).new_page()
    phone_faults, finger = Faults(phone), Finger(phone)
    sign_in(finger, server, secret)
    finger.press(phone.get_by_role("link", name=TITLE))
    ready(phone)
    expect(phone.locator("[data-list=questions] > .item")).to_have_count(5)
    for question in (*QUESTIONS[6:], QUESTIONS[5]):
        write_question(finger, question)
    items = phone.locator("[data-list=questions] > .item")
    finger.move(items.nth(9), items.nth(5), "")
    expect(items.nth(5).get_by_label("Question English")).to_have_value(QUESTIONS[5].texts[0])
    write_groups(finger)
    compare(finger, VAPED, STRESSED)
    look_at_the_plan(finger)
    saved(phone)
    expect(phone.locator("#glance")).to_contain_text("With 3,000 people you will know")
    assert violations(phone) == [] and not overflows(phone)
    preview_it(finger)
    try_it_out(finger)
    link = publish_it(finger)
    assert not overflows(phone)
    respondent = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, locale="en-GB"
    ).new_page()
    respondent.goto(link)
    answer(Finger(respondent), respondent)
    expect(respondent.get_by_role("heading", name="Thank you. Your answers were sent.")).to_be_visible()
    read_it(finger, server)
    page.bring_to_front()
    expect(page.locator("#trouble")).to_contain_text("published or deleted", timeout=15_000)
    assert [fault for fault in faults if "404" not in fault] == [] and phone_faults == []
    for each in (page, phone, respondent):
        each.context.close()
