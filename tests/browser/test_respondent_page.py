"""The respondents' page /s/{id}: what it says, what it loads, and the coin that can be tried."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from werkzeug.serving import make_server

from deniable_protocol import publish, survey_from_tree, verify
from deniable_server import create_app
from deniable_server.settings import Settings
from deniable_server.storage import open_storage
from deniable_server.wording import account_in_words
from tests.helpers.questionnaire import (
    POLICY,
    SURVEY,
    Faults,
    fill,
    open_survey,
    overflows,
    ready,
    review,
    send,
    site,
    violations,
)
from tests.helpers.servers import Server, ask, storage_of
from tests.helpers.surveys import joint


def of(name: str, *epsilons: str) -> bytes:
    """A survey without segments."""
    asked = [{"id": f"q{i}", "type": "yes_no", "text": "?", "epsilon": e} for i, e in enumerate(epsilons)]
    return publish(survey_from_tree({"id": name, "title": name, "questions": asked}))


def shared(name: str, epsilon: str) -> bytes:
    """A survey with one epsilon, and two booklets of a question each."""
    asked = [{"id": f"q{i}", "type": "yes_no", "text": "?"} for i in range(2)]
    survey = survey_from_tree({"id": name, "title": name, "epsilon": epsilon, "questions": asked})
    return publish(survey, [(["q0"], None), (["q1"], None)], [([0], 1), ([1], 1)])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, everything: bytes) -> Iterator[Server]:
    closed = everything.replace(b'"campus-health"', b'"over"', 1)
    folder = tmp_path_factory.mktemp("site")
    textbook = (of("weak", "3.0", "1.0"), of("weaker", "3.0"), of("safe", "1.0", "1.0"))
    with site(folder, everything, closed, *textbook, joint(), shared("weak-joint", "3.0")) as server:
        storage = open_storage(str(server.database))
        published = storage.find("over")
        assert published is not None
        storage.close_survey(published)
        storage.close()
        yield server


def test_headers(server: Server) -> None:
    """A strict policy, never cached, no cookie: on the page and on the one that says there is none."""
    for path, status in ((SURVEY, 200), ("/s/over", 200), ("/s/none", 404), ("/s/<b>", 404)):
        response = ask(server.base + path.replace("<", "%3C").replace(">", "%3E"), headers={"Cookie": "session=x"})
        headers = {name.lower(): value for name, value in response.headers.items()}
        assert response.status == status
        assert headers["content-security-policy"] == POLICY
        assert headers["cache-control"] == "no-store"
        assert headers["content-type"] == "text/html; charset=utf-8"
        assert "set-cookie" not in headers and "cookie" not in headers.get("vary", "").lower()
        assert b"<b>" not in response.body


def test_no_survey(page: Page, server: Server) -> None:
    """A wrong address is explained to a person, without any script."""
    faults = Faults(page, allow="404")
    page.goto(server.base + "/s/none")
    expect(page.get_by_role("heading", level=1)).to_have_text("There is no survey at this address")
    assert page.locator("script").count() == 0
    assert violations(page) == [] and faults == []


def test_it_loads_only_its_own_files(page: Page, server: Server) -> None:
    """The page, its style and script, the modules, the icon and the survey: nothing else, and nothing twice."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.removeprefix(server.base)))
    faults = Faults(page)
    page.goto(server.base + SURVEY)
    ready(page)
    modules = [path for path in asked if path.startswith("/deniable/")]
    others = [path for path in asked if not path.startswith("/deniable/") and path != "/static/icon.svg"]
    assert sorted(others) == sorted(
        [
            SURVEY,
            "/static/palette.css",
            "/static/respondent.css",
            "/static/respondent.js",
            "/deniable.js",
            "/api/v1/surveys/campus-health",
        ]
    )
    assert len(set(modules)) == len(modules) and all(re.fullmatch(r"/deniable/[a-z-]+\.js", path) for path in modules)
    assert page.context.cookies() == []
    assert faults == []


def test_what_the_page_says(page: Page, server: Server, everything: bytes) -> None:
    """Title, notice (once), what the total epsilon means, and the digest, with headings in order."""
    document = verify(everything)
    page.goto(server.base + SURVEY)
    ready(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Campus health 2026")
    expect(page).to_have_title("Campus health 2026")
    expect(page.get_by_text("We ask so that the health service can plan.")).to_have_count(1)
    expect(page.locator("main")).to_contain_text(account_in_words(document.account))
    expect(page.locator("#digest")).to_have_text(document.digest)
    expect(page.locator("#pinned")).to_contain_text("does not contain it, so there was nothing to compare")
    box = page.get_by_role("region", name="What happens to your answers")
    expect(box).to_contain_text("Answers under “About you” are sent exactly as you give them.")
    segment = page.get_by_role("radiogroup", name="Which campus?")
    expect(segment.locator("strong")).to_have_text("Not randomised: sent exactly as you answer.")
    kept = page.get_by_role("region", name="What is kept, and what is not")
    expect(kept).to_contain_text("Until the survey is closed, the order in which submissions arrived can be read")
    levels = [int(heading.evaluate("(element) => element.tagName")[1]) for heading in page.get_by_role("heading").all()]
    assert levels[0] == 1 and all(after <= before + 1 for before, after in pairwise(levels))


def test_what_it_does_not_say_where_it_would_not_be_true(page: Page, server: Server) -> None:
    """Without segments nothing is sent unrandomised; with a large epsilon answers may be found out, and both the page
    and the questionnaire say so before anything is asked.
    """
    for name in ("weak", "weaker"):
        page.goto(f"{server.base}/s/{name}")
        ready(page)
        box = page.get_by_role("region", name="What happens to your answers")
        for place in (box, page.locator("deniable-survey form")):
            expect(place).to_contain_text("Your answers are only weakly protected: what is sent may give them away.")
            expect(place).not_to_contain_text("The truth is stored nowhere")
        expect(box).not_to_contain_text("About you")


def test_the_reassurance_depends_on_the_total(page: Page, server: Server) -> None:
    """Strong words only where all answers together are protected, and always next to what epsilon means; none about
    courts.
    """
    strong = "The truth is stored nowhere: anyone who wants to know it has to guess"
    for path, words, others in (
        ("/s/safe", strong, "give them away"),
        ("/s/joint", strong, "give them away"),
        ("/s/weak-joint", "Your answers are only weakly protected: what is sent may give them away", strong),
        (SURVEY, "Your answers are hardly protected: what is sent can give them away nearly always", strong),
    ):
        page.goto(server.base + path)
        ready(page)
        box = page.get_by_role("region", name="What happens to your answers")
        expect(box).to_contain_text(words)
        expect(box).not_to_contain_text(others)
        expect(page.locator("main")).not_to_contain_text("court")
        expect(box).to_contain_text("Suppose someone tries to guess your answers from everything that was sent")


def test_where_the_device_picks_the_questions(page: Page, server: Server) -> None:
    """The page says so where there are booklets to pick from, that there is one limit, and what is kept of it."""
    page.goto(f"{server.base}/s/joint")
    ready(page)
    box = page.get_by_role("region", name="What happens to your answers")
    expect(box).to_contain_text("It picks a few of the 5 questions by chance, and asks you only these.")
    expect(box).to_contain_text("There is one limit (ε = 2).")
    kept = page.get_by_role("region", name="What is kept, and what is not")
    expect(kept).to_contain_text("your randomised answers, which questions your device picked, your answers under")
    assert violations(page) == []
    page.goto(f"{server.base}/s/safe")
    ready(page)
    expect(box).not_to_contain_text("picks")
    expect(kept).not_to_contain_text("picked")


def test_whether_the_link_named_the_digest(page: Page, server: Server, everything: bytes) -> None:
    """A pinned link leads to a visit that says it was compared; a wrong one to a refusal."""
    digest = verify(everything).digest
    page.goto(f"{server.base}{SURVEY}#{digest}")
    ready(page)
    expect(page.locator("#pinned")).to_contain_text("Your link contains this digest")
    page.goto(f"{server.base}/s/over#{digest}")  # the digest of another survey
    expect(page.locator("#pinned")).to_contain_text("contains a different digest")


def test_the_pages_own_link_is_to_be_passed_on(page: Page, server: Server, everything: bytes) -> None:
    """The link is copied, not followed: no answer is lost, and the page does not claim to be opened by it."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"{server.base}{SURVEY}?from=poster")
    ready(page)
    fill(page)
    page.get_by_role("button", name="Copy a link that contains this digest").click()
    expect(page.locator("#copy-link")).to_have_text("Copied")
    link = f"{server.base}{SURVEY}#{verify(everything).digest}"
    assert page.evaluate("navigator.clipboard.readText()") == link
    page.evaluate("(link) => { location.href = link.replace('#', '?from=poster#'); }", link)
    expect(page.locator("#progress-text")).to_have_text("9 of 9 answered")
    expect(page.locator("#pinned")).to_contain_text("does not contain it, so there was nothing to compare")


def test_a_closed_survey_says_so(page: Page, server: Server) -> None:
    """A closed survey can be read, and takes no answers."""
    faults = Faults(page)
    page.goto(server.base + "/s/over")
    expect(page.get_by_role("alert")).to_contain_text("This survey is closed")
    expect(page.get_by_text("It no longer accepts answers. If you answered it")).to_be_visible()
    assert page.get_by_role("button", name="Review before sending").count() == 0
    assert violations(page) == [] and faults == []


def test_without_script(browser: Browser, server: Server) -> None:
    """The page says why it needs one, and shows nothing that would not work."""
    # Playwright switches scripts off too late for the parser, which then hides noscript: it is looked for in the text.
    text = ask(server.base + SURVEY).body.decode()
    assert "This page needs JavaScript." in text.partition("<noscript>")[2].partition("</noscript>")[0]
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(server.base + SURVEY)
    expect(page.get_by_role("heading", name="How this works")).to_be_visible()
    assert page.get_by_role("button").count() == 0
    context.close()


def test_under_a_base_path(context: BrowserContext, tmp_path: Path, everything: bytes) -> None:
    """Every address starts with it, and a survey can be answered."""
    page = context.new_page()
    faults = Faults(page)
    paths: list[str] = []
    app = create_app(Settings(database=str(tmp_path / "a.db"), base_path="/polls"))
    storage_of(app).publish(everything)
    http = make_server("127.0.0.1", 0, app, threaded=True)
    thread = Thread(target=http.serve_forever)
    thread.start()
    try:
        base = f"http://127.0.0.1:{http.port}"
        page.on("request", lambda request: paths.append(request.url.removeprefix(base)))
        page.goto(f"{base}/polls{SURVEY}#{verify(everything).digest}")
        ready(page)
        fill(page)
        review(page)
        send(page)
    finally:
        http.shutdown()
        thread.join()
        http.server_close()
        storage_of(app).close()
    assert all(path.startswith(("/polls/", "blob:")) for path in paths)
    assert faults == []


def test_the_coin(page: Page, server: Server) -> None:
    """Words and pictures follow the coins: heads gives the truth, tails the second coin; every case occurs."""
    page.goto(server.base + SURVEY)
    ready(page)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    flip = """() => Array.from({length: 100}, () => {
        document.getElementById('flip').click();
        const texts = ['#first-coin text', '#second-coin text', '#sent text', '#coin-result'];
        return texts.map((place) => document.querySelector(place).textContent);
    })"""
    seen = set()
    for answer in ("Yes", "No"):
        page.locator("#coin").get_by_label(answer).check()
        for first, second, sent, result in page.evaluate(flip):  # that one of three ways never comes up: below 1e-11
            assert sent == (answer.lower() if first == "heads" else {"heads": "yes", "tails": "no"}[second])
            assert f"first coin shows {first}" in result and sent in result
            seen.add((answer, first, second))
    assert len(seen) == 6
    assert asked == []


def test_the_crowd(page: Page, server: Server) -> None:
    """Over many people the corrected share comes to lie at the truth, by keyboard alone, and nothing is sent."""
    page.emulate_media(reduced_motion="reduce")
    page.goto(server.base + SURVEY)
    ready(page)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.locator("#ask").focus()
    for _ in range(50):
        page.keyboard.press("Enter")
    said, corrected, truth = (float(x) for x in re.findall(r"([\d.]+)%", page.locator("#crowd-result").inner_text()))
    assert "50,000 people asked" in page.locator("#crowd-result").inner_text()
    # 50,000 reports: standard error 0.22 points of those who say yes, twice that corrected. Seven of them: 2.6e-12.
    assert abs(said - 40) < 1.6 and abs(corrected - 30) < 3.1 and truth == 30
    assert page.locator("#people path.yes").count() == 30
    page.locator("#share").focus()
    page.keyboard.press("End")
    expect(page.locator("#crowd-result")).to_have_text("Nobody has been asked yet.")
    assert page.locator("#people path.yes").count() == 100
    assert page.locator("#share-shown").inner_text() == "100"
    assert asked == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_accessible_on_a_phone(browser: Browser, server: Server, scheme: str) -> None:
    """axe finds nothing after a coin was thrown and a crowd asked, and nothing sticks out at 360 px."""
    context = browser.new_context(viewport={"width": 360, "height": 800}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    page.emulate_media(reduced_motion="reduce")
    page.goto(server.base + SURVEY)
    ready(page)
    page.locator("#flip").click()
    page.locator("#ask").click()
    assert violations(page) == []
    assert not overflows(page)
    context.close()


def test_a_form_prints_the_same_whatever_was_answered(browser: Browser, server: Server) -> None:
    """A printed form looks the same whether it is empty or filled in, and whatever the answers are."""
    printed = []
    for answers in ("none", "some"):
        page = browser.new_page(viewport={"width": 700, "height": 900})
        open_survey(page, server)
        if answers == "some":
            fill(page)
            page.locator("h1").click()  # away from the last field
        page.emulate_media(media="print", reduced_motion="reduce")
        printed.append(page.screenshot(full_page=True, animations="disabled"))
        page.close()
    assert printed[0] == printed[1]


def test_paper_has_no_true_answers(page: Page, server: Server) -> None:
    """The receipt prints without what was answered, and without what only works on a screen."""
    page.goto(server.base + SURVEY)
    ready(page)
    fill(page)
    review(page)
    send(page)
    expect(page.locator("td.answered").first).to_be_visible()
    page.emulate_media(media="print")
    for locator in (page.locator(".answered"), page.get_by_role("button"), page.locator(".try")):
        for one in locator.all():
            expect(one).to_be_hidden()
    expect(page.locator("td.left").first).to_be_visible()
    expect(page.locator("#digest")).to_be_visible()


def test_nothing_about_a_visitor_is_logged(page: Page, server: Server) -> None:
    """A visit leaves no line in the server's output."""
    before = server.log.read_bytes()
    page.set_extra_http_headers({"User-Agent": "canary-agent", "Referer": "https://canary.example/"})
    page.goto(server.base + SURVEY + "?from=canary")
    ready(page)
    page.goto(server.base + "/s/canary")
    page.goto(server.base + SURVEY)
    ready(page)
    assert b"canary" not in server.log.read_bytes().removeprefix(before)
