"""The respondent's page in several languages: chosen by the browser or a switch, and still one survey."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from deniable_protocol import parse_survey, verify
from deniable_server.planning.design import publish_survey
from tests.helpers.questionnaire import Faults, overflows, shadow_text, site, violations
from tests.helpers.servers import Server

ARABIC = """
id = "student-health"
languages = ["ar", "en", "pt"]
asked_by = { ar = "الخدمات الصحية في الجامعة", en = "University Health Service", pt = "Serviço de Saúde" }
contact = "health@campus.example"
title = { ar = "صحة الطلاب 2026", en = "Student health 2026", pt = "Saúde dos estudantes 2026" }
closing.ar = "هل تود التحدث إلى أحد؟\\nالإرشاد النفسي، ليلًا ونهارًا: 0100 555"
closing.en = "Would you like to talk to somebody?\\nCounselling, day and night: 555 0100"
closing.pt = "Quer falar com alguém?\\nAconselhamento, dia e noite: 555 0100"
epsilon = 2.0

[[segments]]
id = "campus"
text = { ar = "في أي حرم جامعي تدرس؟", en = "Which campus?", pt = "Em que campus?" }
options = [
  { code = "north", text = { ar = "الشمالي", en = "North", pt = "Norte" } },
  { code = "south", text = { ar = "الجنوبي", en = "South", pt = "Sul" } },
]

[[questions]]
id = "harassed"
type = "yes_no"
decline = true
text.ar = "هل تعرضت للتحرش في الحرم الجامعي هذا العام؟"
text.en = "Have you been harassed on campus this year?"
text.pt = "Sofreu assédio no campus este ano?"

[[questions]]
id = "who"
type = "choice"
text = { ar = "من كان؟", en = "Who was it?", pt = "Quem foi?" }
show_if = { harassed = ["yes"] }
options = [
  { code = "student", text = { ar = "طالب أو طالبة", en = "Another student", pt = "Outro estudante" } },
  { code = "staff", text = { ar = "أحد العاملين", en = "A member of staff", pt = "Um funcionário" } },
]
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with the example survey, in English and Spanish, and one in Arabic, English and Portuguese."""
    example = (files("deniable_server") / "example.toml").read_text("utf-8")
    published = [publish_survey(parse_survey(text)) for text in (example, ARABIC)]
    with site(tmp_path_factory.mktemp("languages"), *published) as server:
        yield server


def opened(browser: Browser, server: Server, locale: str, path: str, **options: object) -> Page:
    viewport = {"width": 390, "height": 844}
    page = browser.new_context(**{"viewport": viewport, "locale": locale, "has_touch": True, **options}).new_page()  # type: ignore[arg-type]
    page.goto(server.base + path)
    page.locator(".view.start").wait_for()
    return page


def root(page: Page) -> tuple[str, str]:
    """The language and the direction of the document."""
    lang, direction = page.evaluate("[document.documentElement.lang, document.documentElement.dir]")
    return lang, direction


@pytest.mark.parametrize(
    ("locale", "path", "spoken", "title", "start"),
    [
        ("es-MX", "/s/campus-health", ("es", "ltr"), "Salud en el campus 2026", "Empezar"),
        ("de", "/s/campus-health", ("en", "ltr"), "Campus health 2026", "Start"),
        ("de", "/s/campus-health?lang=es", ("es", "ltr"), "Salud en el campus 2026", "Empezar"),
        ("ar-EG", "/s/student-health", ("ar", "rtl"), "صحة الطلاب 2026", "البدء"),
        ("fr", "/s/student-health", ("ar", "rtl"), "صحة الطلاب 2026", "البدء"),
        ("pt-BR", "/s/student-health", ("pt", "ltr"), "Saúde dos estudantes 2026", "Start"),
    ],
)
def test_the_language_of_the_browser(
    browser: Browser, server: Server, locale: str, path: str, spoken: tuple[str, str], title: str, start: str
) -> None:
    """The best language of the survey for this reader, or its default. The page's lang, dir and title follow."""
    page = opened(browser, server, locale, path)
    expect(page).to_have_title(title)
    assert root(page) == spoken
    expect(page.get_by_role("button", name=start, exact=True)).to_be_visible()
    assert violations(page) == [] and not overflows(page)
    page.context.close()


def test_our_words_around_a_language_that_we_have_none_for(browser: Browser, server: Server) -> None:
    """They are English and say so to screen readers; what the survey says carries its own language."""
    page = opened(browser, server, "pt", "/s/student-health")
    view = page.locator(".view.start")
    assert view.get_attribute("lang") == "en"
    assert view.get_by_role("heading").get_attribute("lang") == "pt"
    page.get_by_role("button", name="Start", exact=True).tap()
    question = page.get_by_role("heading", name="Sofreu assédio no campus este ano?")
    assert question.evaluate("(heading) => heading.closest('[lang]').lang") == "pt"
    page.context.close()


def test_a_switch_on_the_first_screen(browser: Browser, server: Server) -> None:
    """It changes everything that is shown, keeps the focus, and lists each language in its own words."""
    page = opened(browser, server, "en", "/s/student-health")
    switch = page.get_by_role("combobox", name="Language")
    assert switch.locator("option").all_inner_texts() == ["العربية", "English", "Português"]
    switch.select_option("ar")
    switch = page.get_by_role("combobox", name="اللغة")
    expect(switch).to_be_focused()
    assert root(page) == ("ar", "rtl")
    expect(page).to_have_title("صحة الطلاب 2026")
    switch.select_option("en")
    expect(page.get_by_role("heading", level=2)).to_have_text("Student health 2026")
    assert root(page) == ("en", "ltr")
    page.context.close()


def walk(page: Page) -> tuple[str, list[bytes]]:
    """The whole way, always the first answer: what was sent, and pictures of the screens."""
    bodies: list[str] = []
    page.on("request", lambda request: request.method == "POST" and bodies.append(request.post_data or ""))
    shots = [page.screenshot()]
    page.locator(".start .actions button").tap()
    while page.locator("form").count():
        for name in page.locator("fieldset.question").evaluate_all("(all) => all.map((each) => each.id)"):
            field = page.locator(f"#{name}")
            if field.is_visible():
                field.locator(".option").first.tap()
        assert violations(page) == [] and not overflows(page)
        shots.append(page.screenshot())
        page.locator("form button[type=submit]").tap()
    page.locator(".review").wait_for()
    assert violations(page) == [] and not overflows(page)
    page.locator(".review .actions button").first.tap()
    page.locator(".thanks .mark").filter(has_text="✓").wait_for()
    assert violations(page) == [] and not overflows(page)
    (body,) = bodies
    return body, [*shots, page.screenshot()]


def filmstrip(browser: Browser, shots: list[bytes], path: Path) -> None:
    """The screens next to each other, as one picture."""
    page = browser.new_page(viewport={"width": 400 * len(shots) + 6, "height": 860}, device_scale_factor=1.5)
    pictures = "".join(f'<img src="data:image/png;base64,{base64.b64encode(shot).decode()}">' for shot in shots)
    style = "body{margin:0;padding:8px;background:#b9c1c8;display:flex;gap:10px}img{width:390px;border-radius:12px}"
    page.set_content(f"<style>{style}</style>{pictures}")
    page.screenshot(path=path)
    page.close()


def test_screenshots_of_answers_in_several_languages(browser: Browser, server: Server, tmp_path: Path) -> None:
    """The whole way in Arabic, from right to left, and in English is one survey: the same digest, and codes instead of
    words. The pictures are those of the documentation; make screenshots retakes them.
    """
    folder = Path(os.environ.get("DENIABLE_SCREENSHOTS") or tmp_path)
    digest = verify(publish_survey(parse_survey(ARABIC))).digest
    for locale in ("ar", "en"):
        page = opened(browser, server, locale, "/s/student-health", device_scale_factor=1.5)
        faults = Faults(page)
        body, shots = walk(page)
        filmstrip(browser, shots, folder / f"respondent-{locale}.png")
        sent = json.loads(body)
        assert (sent["digest"], sent["segments"]) == (digest, {"campus": "north"})
        assert faults == []
        page.context.close()


def test_numbers_are_written_as_in_the_language(browser: Browser, server: Server) -> None:
    """By Intl, in words of ours and in ranges of the survey."""
    page = opened(browser, server, "es", "/s/campus-health")
    page.locator(".more button").first.tap()
    page.get_by_role("button", name="1000", exact=False).tap()
    expect(page.locator(".try .result").last).to_contain_text("1000")
    assert "30,0 %" in shadow_text(page).replace("\u00a0", " ")
    page.context.close()
