"""How far surveys are: the list, its search and archive, and the page that says what to do next."""

from __future__ import annotations

import logging
import re
from dataclasses import replace
from importlib.resources import files

import msgspec
import pytest
from flask import Flask
from flask.testing import FlaskClient

from deniable_protocol import Survey, parse_survey, publish, survey_from_tree, verify
from deniable_server.pages.progress import matching, outlook, steps
from deniable_server.planning import plan_survey, publish_survey
from deniable_server.planning.words import points
from deniable_server.simulate import Population, simulate_directly
from deniable_server.storage import Listed
from tests.helpers.servers import storage_of
from tests.helpers.sign_in import enter, send

SURVEY = "/surveys/campus-health"


@pytest.fixture
def survey() -> Survey:
    return parse_survey((files("deniable_server") / "example.toml").read_text("utf-8"))


@pytest.fixture
def admin(http: FlaskClient, app: Flask, survey: Survey) -> FlaskClient:
    """Signed in, where the example survey is published with the number that its file expects: 10,000."""
    storage_of(app).publish(publish_survey(survey), survey.respondents)
    enter(http, app, "admin")
    return http


def answered(app: Flask, respondents: int) -> None:
    published = storage_of(app).find("campus-health")
    assert published is not None
    simulate_directly(storage_of(app), published, Population(published.document.survey, 1), respondents, lambda _: None)


def words(page: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", page.split("<main")[1]).split())


# --- what is known, and what is next ----------------------------------------------------------------------------------


@pytest.mark.parametrize("respondents", [300, 5_000, 40_000])
def test_the_margin_is_the_planned_one(app: Flask, survey: Survey, respondents: int) -> None:
    """With so many answers, what the page says of the worst share is what the plan said before publishing."""
    published = storage_of(app).find("campus-health")
    assert published is not None
    plan = plan_survey(msgspec.structs.replace(survey, respondents=respondents))
    planned = max(each.given.margin for each in plan.questions if each.given and each.range is None)
    assert outlook(published.document, respondents).margin == pytest.approx(planned, rel=1e-9)


def test_more_answers_bring_the_next_milestone(app: Flask) -> None:
    """So many more answers reach the margin that is promised, and one fewer does not."""
    published = storage_of(app).find("campus-health")
    assert published is not None
    ahead = outlook(published.document, 5_000)
    assert [margin for _, margin in ahead.more] == [0.05, 0.03]
    for more, promised in ahead.more:
        enough, short = (outlook(published.document, 5_000 + n).margin for n in (more, more - 1))
        assert enough is not None and short is not None and enough <= promised < short
    assert outlook(published.document, 0).margin is None
    assert outlook(published.document, 10**9).more == []


def test_means_are_measured_by_their_range() -> None:
    """A survey that asks for means alone speaks of their range."""
    question = {"id": "q", "type": "number", "text": "?", "epsilon": "1", "min": 0, "max": 9}
    tree = {"id": "means", "title": "Means", "questions": [question]}
    ahead = outlook(verify(publish(survey_from_tree(tree))), 1_000)
    assert "mean" in ahead.what and ahead.what.endswith("% of its range") and ahead.margin is not None


LISTED = Listed("campus-health", "Campus health", "0" * 64, "open", 0, "2026-03-01", None, 10_000)


@pytest.mark.parametrize(
    ("now", "wanted"),
    [
        (LISTED, "Share the link"),
        (replace(LISTED, submissions=9_412), "Wait for 588 more answers"),
        (replace(LISTED, submissions=9_999), "Wait for 1 more answer"),
        (replace(LISTED, submissions=10_000), "Close the survey"),
        (replace(LISTED, submissions=9_412, expected=None), "Wait for more answers"),
        (replace(LISTED, submissions=50_000, expected=None), "Close the survey"),
        (replace(LISTED, submissions=0, status="closed", closed_on="2026-04-01"), "Read the results"),
        (replace(LISTED, submissions=9_412, status="closed", closed_on="2026-04-01"), "Read the results"),
    ],
)
def test_one_step_is_next(app: Flask, now: Listed, wanted: str) -> None:
    """Share, wait, close, read: those before the next one are done, those after it are not."""
    published = storage_of(app).find("campus-health")
    assert published is not None
    every = steps(now, outlook(published.document, now.submissions))
    assert [step.name for step in every] == ["share", "wait", "close", "read"]
    (place,) = [i for i, step in enumerate(every) if step.state == "now"]
    assert every[place].title == wanted
    assert {step.state for step in every[:place]} <= {"done"} and {step.state for step in every[place + 1 :]} <= {
        "later"
    }


# --- pages ------------------------------------------------------------------------------------------------------------


def test_the_page_says_what_to_do_next(admin: FlaskClient, app: Flask) -> None:
    """Before any answer: the link to share. With some: how sure they are, and what more would bring."""
    page = admin.get(f"{SURVEY}/progress").text
    published = storage_of(app).find("campus-health")
    assert published is not None
    assert f'value="http://localhost/s/campus-health#{published.document.digest}"' in page
    assert "Nobody has answered yet." in words(page) and "0 of 10,000 expected answers" in words(page)
    answered(app, 1_500)
    page = admin.get(f"{SURVEY}/progress").text
    now = outlook(published.document, 1_500)
    assert now.margin is not None
    assert f"With 1,500 answers you know each share within about ±{points(now.margin)} points." in words(page)
    assert "Wait for 8,500 more answers next" in words(page) and '<progress max="100" value="15"' in page
    assert re.search(r'aria-current="step">\s*<h3>Wait', page)


def test_results_that_are_held_back_are_not_offered(admin: FlaskClient, app: Flask) -> None:
    """The page says that they are held back; margins follow from the design and may be shown."""
    answered(app, 60)
    send(admin, f"{SURVEY}/hold", f"{SURVEY}/hold", until="closed")
    said = words(admin.get(f"{SURVEY}/progress").text)
    assert "They are held back until" in said and "With 60 answers hardly anything is known." in said
    assert f"{SURVEY}/progress" in admin.get(SURVEY).text


def test_the_list_shows_progress(admin: FlaskClient, app: Flask) -> None:
    """Each survey has its number, a bar where a number is expected, a small chart, and what is next."""
    other = {"id": "other", "title": "Other", "questions": [{"id": "q", "type": "yes_no", "text": "?", "epsilon": "1"}]}
    storage_of(app).publish(publish(survey_from_tree(other)))
    answered(app, 250)
    page = admin.get("/").text
    assert page.count("<progress") == 1 and '<progress max="100" value="2"' in page
    said = words(page)
    assert "250 of 10,000 expected" in said and "Next: wait for 9,750 more answers" in said
    assert "Next: share the link" in said and page.count('class="chart spark"') == 1
    assert 'aria-label="250 submissions from ' in page


def test_the_list_can_be_searched(admin: FlaskClient, app: Flask) -> None:
    """All words must be in the title or the id, in any case; what was typed is shown as text."""
    assert "Campus health 2026" in words(admin.get("/?q=HEALTH+campus").text)
    for q in ("nothing", "health+2027", "%3Cb%3Ex"):
        page = admin.get(f"/?q={q}").text
        assert "Campus health 2026" not in words(page) and "No survey has these words" in words(page)
    assert 'value="&lt;b&gt;x"' in page
    assert matching([LISTED], "", archived=False) == [LISTED] and matching([LISTED], "", archived=True) == []


def test_the_archive_is_for_closed_surveys(admin: FlaskClient, app: Flask, lines: pytest.LogCaptureFixture) -> None:
    """An open survey stays in the list. A closed one can be put away and brought back; who did it is logged."""
    lines.set_level(logging.INFO)
    refused = send(admin, f"{SURVEY}/archive", f"{SURVEY}/progress", archived="1")
    assert refused.status_code == 400 and "Close it before" in refused.text
    send(admin, f"{SURVEY}/close", f"{SURVEY}/close")
    assert "Move to the archive" in admin.get(f"{SURVEY}/progress").text
    assert send(admin, f"{SURVEY}/archive", f"{SURVEY}/progress", archived="1").location == "/?archived=1"
    assert "All surveys are in the archive" in words(admin.get("/").text) and "Archive (1)" in words(
        admin.get("/").text
    )
    assert "Campus health 2026" in words(admin.get("/?archived=1").text)
    assert admin.get(SURVEY).status_code == 200, "its results can still be read"
    assert send(admin, f"{SURVEY}/archive", f"{SURVEY}/progress", archived="0").location == "/"
    assert "Campus health 2026" in words(admin.get("/").text)
    assert [re.search(r"event=(survey-(?:archived|listed)) ", line) is not None for line in lines.messages].count(
        True
    ) == 2


def test_analysts_archive_nothing(http: FlaskClient, app: Flask) -> None:
    """An analyst sees how far a survey is, and cannot put it away."""
    enter(http, app, "analyst")
    page = http.get(f"{SURVEY}/progress").text
    assert "An editor can close it." in page and "archive" not in page
    assert send(http, f"{SURVEY}/archive", f"{SURVEY}/progress", archived="1").status_code == 403
