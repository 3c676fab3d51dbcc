"""The panel next to the editor: what a draft will tell, as a fragment of a page."""

from __future__ import annotations

from fractions import Fraction
from importlib.resources import files

import msgspec
import pytest
from flask import Flask
from flask.testing import FlaskClient

from deniable_protocol import Survey, parse_survey, survey_from_tree
from deniable_server.editing.templates import TEMPLATES, template
from deniable_server.planning import live_plan, what_would_help
from deniable_server.planning.live import STOPS
from deniable_server.planning.plan import with_epsilon
from deniable_server.wording import SUPPOSE
from tests.helpers.draft_pages import begin, number_in

EXAMPLE = parse_survey((files("deniable_server") / "example.toml").read_bytes())


def shown(app: Flask, survey: Survey, people: int | None, *, helped: bool = True) -> str:
    help_ = what_would_help(survey, people) if helped else None
    fields = [each.id for each in survey.questions]
    given = {"plan": live_plan(survey, people), "fields": fields, "stops": STOPS, "help": help_}
    with app.app_context():
        return app.jinja_env.get_template("draft-plan.html").render(given)


@pytest.mark.parametrize("name", [each.name for each in TEMPLATES])
def test_the_panel_shows_every_template(app: Flask, name: str) -> None:
    """The headline, each question with its link and margin, the stops with their people, and what would help."""
    survey = parse_survey(template(name))
    plan, html = live_plan(survey, survey.respondents), shown(app, survey, survey.respondents)
    assert plan.headline in html and plan.asked in html and plan.meaning in html
    for question in plan.questions:
        assert f'href="#f-{survey.questions[question.place].id}"' in html and question.within in html
    assert html.count("costs most") == 1
    for stop in what_would_help(survey, survey.respondents).stops:
        assert f"<strong>{stop.people}</strong> people for ±" in html
    assert "What would help" in html and html.count("aria-current") == 1


def test_the_first_answer_needs_no_help(app: Flask) -> None:
    """Before it is known what would help, everything else is there."""
    html = shown(app, EXAMPLE, 300, helped=False)
    assert "With 300 people you will know" in html and "<strong>Balanced</strong> (recommended), ε" in html
    assert "What would help" not in html and "people for ±" not in html


def test_an_empty_draft_says_what_epsilon_means(app: Flask, editor: FlaskClient) -> None:
    """Before there is a question, the panel has what each stop means for one person."""
    number = number_in(begin(editor, start="empty"))
    html = editor.get(f"/drafts/{number}/plan").text
    assert "Add a question" in html and SUPPOSE in html
    assert all(f"<strong>{stop.name}</strong>" in html and stop.meaning in html for stop in STOPS)


def test_without_a_number_of_people_there_are_no_margins(app: Flask) -> None:
    """It asks for one, and says how many ±10, ±5 and ±3 points take."""
    html = shown(app, EXAMPLE, None)
    assert "Say how many people you expect" in html and "±3 points" in html and "25,500" in html
    assert "±4.8" not in html and "19 times out of 20" not in html


def test_only_the_headline_is_announced(app: Flask) -> None:
    """A screen reader hears one sentence after each change, not the whole panel."""
    html = shown(app, EXAMPLE, 300)
    assert html.count("aria-live") == 1 and '<p class="draft-headline" aria-live="polite">' in html
    assert "role=" not in html


def test_a_weak_epsilon_is_warned_of(app: Flask) -> None:
    """Above 4; and no stop is marked as the one that is chosen."""
    html = shown(app, with_epsilon(EXAMPLE, Fraction(5)), 300)
    assert "protects people only weakly" in html and "aria-current" not in html


def test_a_survey_that_is_too_long_says_so(app: Flask) -> None:
    """Without figures, and with what epsilon means."""
    options = [{"code": f"c{i}", "text": "?"} for i in range(50)]
    questions = [{"id": f"q{i}", "type": "multi_choice", "text": "?", "options": options} for i in range(11)]
    survey = survey_from_tree({"id": "long", "title": "Long", "epsilon": 2, "questions": questions})
    html = shown(app, survey, 300)
    assert "too long to be planned while you write" in html and "Suppose someone" in html
    assert "Question by question" not in html and "How many people you need" not in html


def test_hostile_texts_run_nothing(app: Flask) -> None:
    """Texts of questions and options are shown as they are written, in the panel and in what would help."""
    hostile = "<script>alert(1)</script>"
    questions = tuple(msgspec.structs.replace(each, text=hostile) for each in EXAMPLE.questions)
    html = shown(app, msgspec.structs.replace(EXAMPLE, questions=questions), 300)
    assert hostile not in html and html.count("&lt;script&gt;") > len(questions)
    assert "style=" not in html and "<script" not in html


def test_the_panel_is_light(app: Flask) -> None:
    """Twenty questions make a fragment of less than 12 kB: it is sent after each change."""
    questions = [{"id": f"q{i}", "type": "yes_no", "text": f"Have you done this or that {i} times?"} for i in range(20)]
    survey = survey_from_tree({"id": "twenty", "title": "Twenty", "epsilon": 2, "questions": questions})
    assert len(shown(app, survey, 3_000).encode()) < 12_000
