"""The page Fieldwork: when a survey takes answers, and closing it; and deleting a survey by its name."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from html import unescape

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from deniable_protocol import publish, randomize, survey_from_tree
from deniable_server.pages.fieldwork import closing_in_words
from deniable_server.storage import Fieldwork, Published
from tests.helpers.drafts import HOSTILE
from tests.helpers.servers import storage_of
from tests.helpers.sign_in import BROWSER, enter, send, word_in

PAGE, DELETING = "/surveys/campus-health/fieldwork", "/surveys/campus-health/delete"
OPENS, CLOSES = "2090-11-23T08:00", "2090-12-01T20:30"


def at(text: str) -> int:
    return int(datetime.fromisoformat(f"{text}:00+00:00").astimezone(UTC).timestamp())


def survey_of(app: Flask) -> Published:
    found = storage_of(app).find("campus-health")
    assert found is not None
    return found


def kept(app: Flask) -> Fieldwork:
    return storage_of(app).fieldwork(survey_of(app))


def save(http: FlaskClient, opens: str = "", closes: str = "", stop_at: str = "", **more: str) -> TestResponse:
    return send(http, PAGE, PAGE, opens_at=opens, closes_at=closes, stop_at=stop_at, **more)


def answer(http: FlaskClient, app: Flask, answers: dict[str, object]) -> int:
    body = randomize(survey_of(app).raw, answers, {"campus": "north"})
    return http.post("/api/v1/surveys/campus-health/submissions", json=body).status_code


def given(response: TestResponse) -> list[str]:
    """What the fields of the form have in them."""
    return [
        unescape(value)
        for value in re.findall(r'name="(?:opens_at|closes_at|stop_at)"[^>]*value="([^"]*)"', response.text)
    ]


# --- times ------------------------------------------------------------------------------------------------------------


def test_times_and_a_number_are_kept(app: Flask, editor: FlaskClient, example_answers: dict[str, object]) -> None:
    """The page says in words what will happen, and its fields have the times again. Nobody can answer before."""
    assert "Open now; stays open until somebody closes it." in editor.get(PAGE).text
    assert save(editor, OPENS, CLOSES, " 1,500 ").location == f"{PAGE}?saved=1"
    assert kept(app) == Fieldwork(at(OPENS), at(CLOSES), 1500)
    shown = editor.get(f"{PAGE}?saved=1")
    assert given(shown) == [OPENS, CLOSES, "1500"] and "Saved." in shown.text
    sentence = re.sub("<[^>]*>", "", shown.text)
    assert "Thursday 23 November 2090, 08:00 UTC; closes on Friday 1 December 2090, 20:30 UTC, or" in sentence
    assert "with 1,500 answers, whichever is first." in sentence
    assert '<time datetime="2090-11-23T08:00:00Z">' in shown.text
    assert answer(app.test_client(), app, example_answers) == 409
    assert storage_of(app).activity.newest()[0].event == "survey-scheduled"


def test_seconds_are_kept(app: Flask, editor: FlaskClient) -> None:
    """The form has none. A time that a program has set to the second stays, until somebody gives another minute."""
    exact = Fieldwork(at(OPENS) + 59, at(CLOSES) + 1)
    storage_of(app).schedule(survey_of(app), exact)
    assert given(editor.get(PAGE)) == [OPENS, CLOSES, ""]
    save(editor, OPENS, CLOSES, "7")
    assert kept(app) == replace(exact, most=7)
    save(editor, "2090-11-23T08:01", CLOSES)
    assert kept(app) == replace(exact, opens_at=at(OPENS) + 60)
    save(editor, "", CLOSES.replace("20:30", "20:29"))
    assert kept(app) == Fieldwork(None, at(CLOSES) - 60)


def test_a_survey_that_waits_can_be_opened_now(
    app: Flask, editor: FlaskClient, example_answers: dict[str, object]
) -> None:
    """By a button, which keeps the end, whatever is typed in the fields and not saved."""
    assert 'value="open"' not in editor.get(PAGE).text
    save(editor, OPENS, CLOSES, "2")
    assert 'value="open"' in editor.get(PAGE).text
    save(editor, "nonsense", "", "0", do="open")
    assert kept(app) == Fieldwork(None, at(CLOSES), 2)
    visitor = app.test_client()
    assert [answer(visitor, app, example_answers) for _ in range(3)] == [201, 201, 409]
    assert "This survey is closed. It takes no more answers." in editor.get(PAGE).text


WRONG: list[tuple[dict[str, str], str]] = [
    ({"opens": "tomorrow"}, "Opens: give a day and a time, such as 2026-11-23T08:00."),
    ({"closes": "2090-02-30T10:00"}, "Closes: give a day and a time"),
    ({"closes": "2020-01-01T00:00"}, "Choose a closing time in the future."),
    ({"opens": CLOSES, "closes": OPENS}, "The survey must open before it closes."),
    ({"opens": OPENS, "closes": OPENS}, "The survey must open before it closes."),
    ({"opens": "1960-01-01T00:00"}, "A time is between the years 1970 and 9999."),
    ({"stop_at": "many"}, "Stop at: give a whole number of answers, such as 500."),
    ({"stop_at": "-5"}, "Stop at: give a whole number"),
    ({"stop_at": "٣"}, "Stop at: give a whole number"),
    ({"stop_at": "9" * 13}, "Stop at: give a whole number"),
    ({"stop_at": "0"}, "Stop at 1 answer or more."),
    ({"stop_at": "1"}, "The survey has 1 already."),
    ({"stop_at": HOSTILE, "opens": HOSTILE}, "Opens: give a day and a time"),
]


def test_what_cannot_be_is_said_and_kept_in_the_form(
    app: Flask, editor: FlaskClient, example_answers: dict[str, object]
) -> None:
    """In words; what was typed is there again, escaped; and what was saved before is as it was."""
    save(editor, "", CLOSES, "9")
    answer(app.test_client(), app, example_answers)
    for fields, said in WRONG:
        refused = save(editor, **fields)
        assert refused.status_code == 422 and said in unescape(refused.text), fields
        assert given(refused) == [fields.get(name, "") for name in ("opens", "closes", "stop_at")]
        assert "<script>" not in refused.text and kept(app) == Fieldwork(None, at(CLOSES), 9)


def test_a_closed_survey_stays_closed(app: Flask, editor: FlaskClient, example_answers: dict[str, object]) -> None:
    """It is closed from the page; then there is no form, and times that come too late change nothing."""
    assert f'href="{PAGE.replace("fieldwork", "close")}"' in editor.get(PAGE).text
    own = word_in(editor.get(PAGE))
    closing = PAGE.replace("fieldwork", "close")
    send(editor, closing, closing)
    shown = editor.get(PAGE).text
    assert "This survey is closed. It takes no more answers." in shown and 'name="closes_at"' not in shown
    for fields in ({"closes_at": CLOSES}, {"do": "open"}):
        late = editor.post(PAGE, data={"word": own, **fields}, headers=BROWSER)
        assert late.status_code == 409 and "closed" in late.text.lower()
    assert kept(app) == Fieldwork() and answer(app.test_client(), app, example_answers) == 409


def test_who_sees_the_page(app: Flask, http: FlaskClient) -> None:
    """Editors and admins; deleting is for admins alone, and only they are shown the way."""
    for role, page, deleting in (("analyst", 403, 403), ("editor", 200, 403), ("admin", 200, 200)):
        enter(http, app, role)  # type: ignore[arg-type]
        statuses = [http.get(path, headers=BROWSER).status_code for path in (PAGE, DELETING)]
        assert statuses == [page, deleting], role
        assert (f'href="{DELETING}"' in http.get(PAGE, headers=BROWSER).text) == (role == "admin")
    for role in ("analyst", "editor"):
        enter(http, app, role)  # type: ignore[arg-type]
        data = {"word": word_in(http.get("/sign-in")), "name": "campus-health", "stop_at": "5"}
        assert http.post(DELETING, data=data, headers=BROWSER).status_code == 403
        assert http.post(PAGE, data=data, headers=BROWSER).status_code == (403 if role == "analyst" else 303)
    assert survey_of(app).document.survey.id == "campus-health"


@pytest.mark.parametrize(
    ("closes_at", "most", "words"),
    [
        (None, None, "stays open until somebody closes it"),
        (None, 1, "closes with 1 answer"),
        (0, None, "closes on Thursday 1 January 1970, 00:00 UTC"),
        (0, 2000, "closes on Thursday 1 January 1970, 00:00 UTC, or with 2,000 answers, whichever is first"),
    ],
)
def test_the_end_in_words(closes_at: int | None, most: int | None, words: str) -> None:
    """Each way in which a survey closes by itself, and none."""
    assert closing_in_words(closes_at, most) == words


# --- deleting ---------------------------------------------------------------------------------------------------------


def test_another_name_deletes_nothing(app: Flask, http: FlaskClient) -> None:
    """Not even nearly the right one; the page says so, and does not repeat what was typed."""
    enter(http, app, "admin")
    for typed in ("", "campus", "CAMPUS-HEALTH", "Campus health", "other", HOSTILE):
        refused = send(http, DELETING, DELETING, name=typed)
        assert refused.status_code == 422 and "Nothing was deleted." in refused.text and "<script>" not in refused.text
    assert survey_of(app) and http.get("/api/v1/surveys/campus-health").status_code == 200


@pytest.mark.parametrize("typed", ["campus-health", "  Campus  health 2026 "])
def test_a_survey_is_deleted_by_its_name(
    app: Flask, http: FlaskClient, typed: str, example_answers: dict[str, object]
) -> None:
    """Its id or its title. The page says before how many answers go; nothing of it is there afterwards, and the list
    and Activity say what was deleted.
    """
    enter(http, app, "admin")
    assert answer(http, app, example_answers) == 201
    asked = re.sub(r"\s+", " ", http.get(DELETING).text)
    assert "removes the survey and 1 answer from the server" in asked
    gone = send(http, DELETING, DELETING, name=typed)
    assert gone.location == "/?deleted=campus-health"
    assert "<code>campus-health</code> was deleted for good." in http.get(gone.location).text
    assert storage_of(app).surveys() == [] and storage_of(app).find("campus-health") is None
    paths = ("/api/v1/surveys/campus-health", "/s/campus-health", "/surveys/campus-health", PAGE, DELETING)
    assert [http.get(path, headers=BROWSER).status_code for path in paths] == [404] * 5
    (deed, *_) = storage_of(app).activity.newest()
    assert (deed.event, deed.survey) == ("survey-deleted", "campus-health")


def test_a_link_puts_no_words_on_the_list(app: Flask, http: FlaskClient) -> None:
    """Only an id of a survey that is not there can be said to be deleted."""
    enter(http, app, "admin")
    for text in ("campus-health", HOSTILE, "Your account", "%00", ""):
        assert "was deleted for good" not in http.get("/", query_string={"deleted": text}).text


def test_a_hostile_title_stays_a_text(app: Flask, http: FlaskClient) -> None:
    """On both pages; and it can be typed, to delete the survey."""
    question = {"id": "q", "type": "yes_no", "text": HOSTILE, "epsilon": 1}
    storage_of(app).publish(publish(survey_from_tree({"id": "hostile", "title": HOSTILE, "questions": [question]})))
    enter(http, app, "admin")
    for page in ("fieldwork", "delete"):
        shown = http.get(f"/surveys/hostile/{page}")
        assert "&lt;script&gt;" in shown.text and "<script>" not in shown.text and "<img" not in shown.text
        assert "unsafe" not in shown.headers["Content-Security-Policy"]
    deleting = "/surveys/hostile/delete"
    assert send(http, deleting, deleting, name=HOSTILE).status_code == 303
    assert [each.id for each in storage_of(app).surveys()] == ["campus-health"]
