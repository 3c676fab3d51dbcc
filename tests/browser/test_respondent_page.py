"""The respondents' page /s/{id}: what it loads, what its first screen says, and the coin that can be tried."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect
from werkzeug.serving import make_server

from deniable_protocol import publish, survey_from_tree, verify
from deniable_server import create_app
from deniable_server.settings import Settings
from deniable_server.storage import open_storage
from deniable_server.wording import account_in_words
from tests.helpers.embedder_site import kept
from tests.helpers.questionnaire import (
    DRINKS,
    POLICY,
    SURVEY,
    Faults,
    field,
    fill,
    open_survey,
    overflows,
    ready,
    review,
    send,
    shadow_text,
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
    """The page, its style and script, the modules, the icon and the survey: nothing else, and nothing twice, up to the
    first question.
    """
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.removeprefix(server.base)))
    faults = Faults(page)
    page.goto(server.base + SURVEY)
    ready(page)
    others = [path for path in asked if path != "/static/icon.svg"]
    assert sorted(others) == sorted(
        [
            SURVEY,
            "/static/palette.css",
            "/static/respondent.css",
            "/static/respondent.js",
            "/deniable.js",
            "/deniable/survey-element.js",
            "/deniable/texts/en.js",
            "/api/v1/surveys/campus-health",
        ]
    )
    assert page.context.cookies() == []
    assert faults == []


def look(page: Page, name: str) -> Locator:
    """One of the two views that the first screen leads to."""
    page.get_by_role("button", name=name).click()
    page.get_by_role("heading", name=name).wait_for()
    return page.locator("deniable-survey .more-view")


def back(page: Page) -> None:
    page.get_by_role("button", name="Got it").click()
    page.get_by_role("button", name="Start", exact=True).wait_for()


HOW, WHO = "How can that be?", "Who could learn my answers?"


def in_order(page: Page) -> bool:
    """Whether headings start with the first level and skip none."""
    levels = [int(heading.evaluate("(element) => element.tagName")[1]) for heading in page.get_by_role("heading").all()]
    return levels[0] == 1 and all(after <= before + 1 for before, after in pairwise(levels))


def test_what_is_said_before_anything_is_asked(page: Page, server: Server, everything: bytes) -> None:
    """Title, notice (once), what is sent unchanged; who could learn what, what the total epsilon means, what is kept,
    and the digest. Headings are in order on every screen.
    """
    document = verify(everything)
    page.goto(f"{server.base}{SURVEY}?one-page")
    start = page.locator("deniable-survey .start")
    expect(start).to_contain_text("Asked last, and sent unchanged: “\u2068Which campus?\u2069”")
    expect(page.get_by_role("heading", level=1)).to_have_text("Campus health 2026")
    expect(page).to_have_title("Campus health 2026")
    expect(page.get_by_text("We ask so that we can plan what you need.")).to_have_count(1)
    ordered = [in_order(page)]
    look(page, HOW)
    ordered.append(in_order(page))
    back(page)
    who = look(page, WHO)
    ordered.append(in_order(page))
    expect(who).to_contain_text(account_in_words(document.account))
    expect(who).to_contain_text("Sent unchanged, for the people who ask to see: “\u2068Which campus?\u2069”")
    expect(who).to_contain_text("Until the survey is closed, its files show the order of arrival.")
    who.get_by_text("How to check the website").click()
    expect(who.locator(".digest")).to_have_text(document.digest)
    expect(who).to_contain_text("Your link does not contain it.")
    back(page)
    ready(page)
    segment = page.get_by_role("radiogroup", name="Which campus?")
    expect(segment.locator("strong")).to_have_text("Not randomised: sent exactly as you answer.")
    ordered.append(in_order(page))
    fill(page)
    review(page)
    ordered.append(in_order(page))
    send(page)
    assert [*ordered, in_order(page)] == [True] * 6


def test_the_reassurance_depends_on_the_total(page: Page, server: Server) -> None:
    """Strong words only where all answers together are protected; in other cases the first screen says that answers may
    be given away. What epsilon means is there in all cases, and nothing about courts.
    """
    strong = "nobody can be sure what you answered"
    weak, hardly = "But they are only weakly protected", "But they are hardly protected"
    for path, words, guess in (
        ("/s/safe", strong, "No. They can only guess."),
        ("/s/joint", strong, "No. They can only guess."),
        ("/s/weak", weak, "They could often guess right."),
        ("/s/weaker", weak, "They could often guess right."),
        ("/s/weak-joint", weak, "They could often guess right."),
        (SURVEY, hardly, "Nearly always."),
    ):
        page.goto(server.base + path)
        promise = page.locator("deniable-survey .promise")
        expect(promise).to_contain_text(words)
        for other in {strong, weak, hardly} - {words}:
            expect(promise).not_to_contain_text(other)
        if path.startswith("/s/weak") or path == "/s/safe":
            expect(promise).not_to_contain_text("unchanged")  # nothing is: they have no segments
        expect(page.locator("main")).not_to_contain_text("court")
        who = look(page, WHO)
        assert who.locator("td").all_inner_texts()[:2] == [guess] * 2
        expect(who).to_contain_text("Suppose someone tries to guess your answers from everything that was sent")
        expect(who).not_to_contain_text("court")


def test_where_the_device_picks_the_questions(page: Page, server: Server) -> None:
    """The first screen says so where there are booklets to pick from; all of them have one limit."""
    page.goto(f"{server.base}/s/joint")
    expect(page.locator("deniable-survey .start")).to_contain_text(
        re.compile(r"[123] of 5 questions, picked by chance")
    )
    assert violations(page) == []
    expect(look(page, WHO)).to_contain_text("the protection of the survey (ε = 2)")
    page.goto(f"{server.base}/s/safe?one-page")
    expect(page.locator("deniable-survey .start")).to_contain_text("Questions: 2 ·")
    expect(page.locator("deniable-survey .start")).not_to_contain_text("picked")
    ready(page)
    for question in ("q0", "q1"):
        field(page, question).get_by_label("No").check()
    review(page)
    page.get_by_text("What else is sent").click()
    expect(page.locator("deniable-survey .review")).not_to_contain_text("picked")


def test_whether_the_link_named_the_digest(page: Page, server: Server, everything: bytes) -> None:
    """A pinned link leads to a visit that says it was compared; a wrong one to a refusal."""
    digest = verify(everything).digest
    page.goto(f"{server.base}{SURVEY}#{digest}")
    who = look(page, WHO)
    who.get_by_text("How to check the website").click()
    expect(who).to_contain_text("Your link contains this digest. Your browser has compared the two, and they match.")
    page.goto(f"{server.base}/s/safe#{digest}")  # the digest of another survey
    expect(page.get_by_role("alert")).to_contain_text("This is not the survey that the link promised")


def test_a_closed_survey_says_so(page: Page, server: Server) -> None:
    """A closed survey can be read, and takes no answers."""
    faults = Faults(page)
    page.goto(server.base + "/s/over")
    expect(page.get_by_role("alert")).to_contain_text("This survey is closed")
    expect(page.get_by_text("It no longer accepts answers, and nothing of yours was stored.")).to_be_visible()
    assert page.get_by_role("button").count() == 0
    assert violations(page) == [] and faults == []


def test_without_script(browser: Browser, server: Server) -> None:
    """The page says why it needs one, and shows nothing that would not work."""
    # Playwright switches scripts off too late for the parser, which then hides noscript: it is looked for in the text.
    text = ask(server.base + SURVEY).body.decode()
    assert "This page needs JavaScript" in text.partition("<noscript>")[2].partition("</noscript>")[0]
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(server.base + SURVEY)
    expect(page.get_by_role("heading", level=1)).to_have_text("Campus health 2026")
    expect(page.get_by_text("a part of this page did not arrive")).to_be_hidden()
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
        page.goto(f"{base}/polls{SURVEY}?one-page#{verify(everything).digest}")
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
    """Words and pictures follow the coins: heads gives the truth, tails the second coin; every case occurs. Nothing is
    sent, nothing is kept, and no answer is preset.
    """
    page.goto(server.base + SURVEY)
    coin = look(page, HOW).locator(".try").first
    kept_before = kept(page)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    coin.get_by_role("button", name="Flip the coin").click()
    expect(coin.get_by_role("status")).to_have_text("Please choose a secret answer first.")
    flip = """(coin) => Array.from({length: 100}, () => {
        coin.querySelector('button').click();
        return [...coin.querySelectorAll('.face'), coin.querySelector('.result')].map((each) => each.textContent);
    })"""
    seen = set()
    for answer in ("Yes", "No"):
        coin.get_by_label(answer, exact=True).check()
        for first, second, sent, result in coin.evaluate(flip):  # that one of three ways never comes up: below 1e-11
            assert sent == (answer if first == "heads" else {"heads": "Yes", "tails": "No"}[second])
            assert f"first coin shows {first}" in result and f": {sent}" in result
            seen.add((answer, first, second))
    assert len(seen) == 6
    assert asked == [] and kept(page) == kept_before


def test_the_crowd(page: Page, server: Server) -> None:
    """Over many people the corrected share comes to lie at the truth, by keyboard alone, and nothing is sent."""
    page.emulate_media(reduced_motion="reduce")
    page.goto(server.base + SURVEY)
    crowd = look(page, HOW).locator(".try").last
    result = crowd.get_by_role("status")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    crowd.get_by_role("button", name="Ask 1,000 people").focus()
    for _ in range(50):
        page.keyboard.press("Enter")
    said, corrected, truth = (float(x) for x in re.findall(r"([\d.]+)%", result.inner_text()))
    assert "People asked: 50,000." in result.inner_text()
    # 50,000 reports: standard error 0.22 points of those who say yes, twice that corrected. Seven of them: 2.6e-12.
    assert abs(said - 40) < 1.6 and abs(corrected - 30) < 3.1 and truth == 30
    assert crowd.locator(".people path.yes").count() == 30
    crowd.get_by_role("slider").focus()
    page.keyboard.press("End")
    expect(result).to_have_text("Nobody has been asked yet.")
    assert crowd.locator(".people path.yes").count() == 100
    expect(crowd.locator("label")).to_have_text("Out of 100 people, this many would truly say yes: 100")
    assert asked == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_accessible_on_a_phone(browser: Browser, server: Server, scheme: str) -> None:
    """axe finds nothing after a coin was thrown and a crowd asked, nor in who could learn what, and nothing sticks out
    at 360 px.
    """
    context = browser.new_context(viewport={"width": 360, "height": 800}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    page.emulate_media(reduced_motion="reduce")
    page.goto(server.base + SURVEY)
    how = look(page, HOW)
    how.get_by_label("Yes", exact=True).check()
    how.get_by_role("button", name="Flip the coin").click()
    how.get_by_role("button", name="Ask 1,000 people").click()
    found = [violations(page), overflows(page)]
    back(page)
    look(page, WHO).get_by_text("How to check the website").click()
    assert [*found, violations(page), overflows(page)] == [[], False] * 2
    context.close()


def test_a_form_prints_the_same_whatever_was_answered(browser: Browser, server: Server) -> None:
    """A printed form looks the same whether it is empty or filled in, and whatever the answers are."""
    printed = []
    for answers in ("none", "some"):
        page = browser.new_page(viewport={"width": 700, "height": 900})
        open_survey(page, server)
        if answers == "some":
            fill(page)
            page.mouse.click(1, 1)  # away from the last field
        page.emulate_media(media="print", reduced_motion="reduce")
        printed.append(page.screenshot(full_page=True, animations="disabled"))
        page.close()
    assert printed[0] == printed[1]


def test_paper_has_no_true_answers(page: Page, server: Server) -> None:
    """The coin, the review and what was sent print without what was answered, and without what only works on
    a screen.
    """
    page.goto(f"{server.base}{SURVEY}?one-page")
    tried = look(page, HOW).locator(".try").all()
    page.emulate_media(media="print")
    for one in tried:
        expect(one).to_be_hidden()
    page.emulate_media(media="screen")
    back(page)
    ready(page)
    fill(page)
    review(page)
    page.emulate_media(media="print")
    expect(page.locator(".answers")).to_be_hidden()
    page.emulate_media(media="screen")
    send(page)
    page.get_by_text("See what was sent").click()
    page.emulate_media(media="print")
    for one in page.get_by_role("button").all():
        expect(one).to_be_hidden()
    expect(page.locator("td.left").first).to_be_visible()
    expect(page.locator(".facts")).to_contain_text("Digest of the survey")
    assert DRINKS not in shadow_text(page)


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
