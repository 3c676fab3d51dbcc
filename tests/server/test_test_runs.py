"""Test runs of drafts: answers that are kept apart, marked on every page, and deleted when the run ends."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from deniable_protocol import randomize
from deniable_server import editing
from deniable_server.pages.respondent import TEXTS
from deniable_server.storage import Published
from tests.helpers.draft_pages import begin, number_in
from tests.helpers.drafts import example_tree, new_draft
from tests.helpers.servers import storage_of
from tests.helpers.sign_in import BROWSER, enter, send, word_in

BANNER = "Test run.</strong> These answers are deleted when the survey is published."
ONLY_REAL = {"/surveys/<survey>/invitations"}
"""Pages of surveys with invitations: a test run has none."""


def start(http: FlaskClient, app: Flask, draft: int) -> Published:
    """Start a test run on the page."""
    page = f"/drafts/{draft}/preview"
    response = send(http, f"/drafts/{draft}/test", page)
    assert response.status_code == 303 and response.location == f"{page}#testing"
    found = storage_of(app).test_run(draft)
    assert found is not None
    return found


def answer(http: FlaskClient, run: Published, answers: dict[str, object]) -> None:
    """As a respondent."""
    body = randomize(run.raw, answers, {"campus": "north"})
    sent = http.post(f"/api/v1/surveys/{run.document.survey.id}/submissions", json=body)
    assert sent.status_code == 201, sent.text


def test_a_run_is_a_survey_of_its_own(
    app: Flask, editor: FlaskClient, draft: int, example_answers: dict[str, object]
) -> None:
    """It has a random id and the questions of the draft, takes answers, and shows how many; the draft is as it was."""
    run = start(editor, app, draft)
    assert re.fullmatch("test-[0-9a-f]{10}", run.document.survey.id) and run.draft == draft
    assert run.document.survey.questions
    for number in (1, 2):
        answer(app.test_client(), run, example_answers)
        page = editor.get(f"/drafts/{draft}/preview").text
        assert f"<strong>{number}</strong> answer{'s' if number > 1 else ''} so far." in page
    link = f"http://localhost/s/{run.document.survey.id}?kiosk#{run.document.digest}"
    assert f'value="{link}"' in page and "The draft has changed" not in page
    assert f'href="/surveys/{run.document.survey.id}"' in page and 'aria-label="QR code' in page
    respondents = app.test_client().get(f"/s/{run.document.survey.id}?kiosk").text
    assert re.search(r"<deniable-survey [^>]*\bkiosk\b", respondents)


def test_another_run_takes_its_place(
    app: Flask, editor: FlaskClient, draft: int, example_answers: dict[str, object]
) -> None:
    """Its answers are gone, and so is its link: what the draft asks now gets a link of its own."""
    first = start(editor, app, draft)
    answer(app.test_client(), first, example_answers)
    second = start(editor, app, draft)
    old, new = first.document.survey.id, second.document.survey.id
    assert old != new and storage_of(app).find(old) is None
    assert storage_of(app).state(second).submissions == 0
    assert app.test_client().get(f"/s/{old}").status_code == 404


def test_a_run_ends_with_its_answers(
    app: Flask, editor: FlaskClient, draft: int, example_answers: dict[str, object]
) -> None:
    """Nothing is left of it, the draft is as it was, and another one can be started. Ending twice is no error."""
    run = start(editor, app, draft)
    answer(app.test_client(), run, example_answers)
    before = storage_of(app).drafts.find(draft)
    word = word_in(editor.get(f"/drafts/{draft}/preview"))
    for _ in range(2):
        ended = editor.post(f"/drafts/{draft}/test/end", data={"word": word}, headers=BROWSER)
        assert ended.status_code == 303
        assert storage_of(app).test_run(draft) is None and storage_of(app).find(run.document.survey.id) is None
    assert storage_of(app).drafts.find(draft) == before
    assert "Start a test run" in editor.get(f"/drafts/{draft}/preview").text


def test_a_changed_draft_is_noticed(app: Flask, editor: FlaskClient, draft: int) -> None:
    """A change of a text, or of what is asked; not a new id, which the test run has anyway. Undone, it is the same."""
    start(editor, app, draft)
    storage, tree = storage_of(app), example_tree()
    changes = [({"id": "renamed"}, False), ({"closing": "Thanks a lot."}, True), ({}, False), ({"epsilon": 3.0}, True)]
    for version, (changed, expected) in enumerate(changes, 1):
        content = editing.write(editing.from_tree(tree | changed))
        assert storage.drafts.save(draft, content, version)
        page = editor.get(f"/drafts/{draft}/preview").text
        assert ("The draft has changed since. Start the test run again." in page) == expected, changed
    assert storage.drafts.save(draft, editing.write(editing.Sketch()), len(changes) + 1)
    page = editor.get(f"/drafts/{draft}/preview").text
    assert "The draft has changed since." in page and "End the test run and delete its answers" in page
    assert "Start again" not in page


def test_without_invitations(app: Flask, editor: FlaskClient, example_answers: dict[str, object]) -> None:
    """A survey for people with invitations is tested without: anyone with the link can answer. The page says so."""
    draft = new_draft(storage_of(app), invitations=True)
    run = start(editor, app, draft)
    assert run.document.issuer is None
    answer(app.test_client(), run, example_answers)
    page = editor.get(f"/drafts/{draft}/preview").text
    assert "The preview and the test run do not ask for one." in page and "The draft has changed" not in page


def test_every_page_of_a_run_is_marked(app: Flask, http: FlaskClient, draft: int) -> None:
    """Each page of a survey says that this is a test run, and none of another survey does. A page that is added later
    is among them.
    """
    enter(http, app, "admin")
    run = start(http, app, draft).document.survey.id
    pages = 0
    for rule in app.url_map.iter_rules():
        if "GET" not in (rule.methods or ()) or not rule.rule.startswith("/surveys/<survey>") or rule.rule in ONLY_REAL:
            continue
        for survey in (run, "campus-health"):
            shown = http.get(rule.rule.replace("<survey>", survey), headers=BROWSER)
            assert shown.status_code == 200, rule.rule
            if not shown.content_type.startswith("text/html"):  # a file
                continue
            assert (BANNER in shown.text) == (survey == run), rule.rule
        pages += 1
    assert pages >= 8
    assert f'href="/drafts/{draft}/preview#testing"' in http.get(f"/surveys/{run}").text


def test_a_run_goes_with_its_draft(app: Flask, http: FlaskClient) -> None:
    """An editor with access to some surveys sees the test runs of their own drafts, whoever started them and whatever
    surveys an admin gives them, for as long as they are an editor. An admin finds no test run under People.
    """
    enter(http, app, "admin")
    ann = app.test_client()
    enter(ann, app, "editor", "campus-health")
    (token,) = (token for token in storage_of(app).tokens.all() if token.role == "editor")
    draft = number_in(begin(ann, start="file", text=editing.to_toml(editing.from_tree(example_tree()))))

    def seen(**access: str) -> int:
        person = f"/people/{token.id}"
        assert send(http, person, person, **access).status_code == 303
        return ann.get(f"/surveys/{run}").status_code

    for browser in (ann, http):
        run = start(browser, app, draft).document.survey.id
        assert ann.get(f"/surveys/{run}").status_code == 200
        for page in ("/people", f"/people/{token.id}"):
            assert "test-" not in http.get(page).text
        assert seen(role="editor", reach="some", survey="campus-health") == 200
        assert seen(role="analyst", reach="all") == 403
        assert "for those who may edit the draft" in ann.get(f"/surveys/{run}").text
        assert seen(role="editor", reach="all") == seen(role="editor", reach="some", survey="campus-health") == 200


def test_respondents_see_it_in_every_language(app: Flask, editor: FlaskClient, draft: int) -> None:
    """The page for respondents has the sentence in all languages, and shows the one of the page. A survey that is no
    test run has none.
    """
    run = start(editor, app, draft).document.survey.id
    assert TEXTS["en"]["test_run"] == "Test run. These answers are deleted when the survey is published."
    assert len({texts["test_run"] for texts in TEXTS.values()}) == len(TEXTS) == 5
    for language in TEXTS:
        page = unescape(app.test_client().get(f"/s/{run}?lang={language}").text)
        for each, texts in TEXTS.items():
            hidden = "" if each == language else " hidden"
            assert f'<p class="test-run" lang="{each}" dir="auto"{hidden}>{texts["test_run"]}</p>' in page
    assert "test-run" not in app.test_client().get("/s/campus-health").text


def test_only_what_makes_sense_is_offered(app: Flask, http: FlaskClient, draft: int) -> None:
    """A run is not held back, closed or shared from its pages. Its results are."""
    enter(http, app, "admin")
    run = start(http, app, draft).document.survey.id
    tabs = re.search(r'<nav class="tabs".*?</nav>', http.get(f"/surveys/{run}").text, re.DOTALL)
    assert tabs is not None
    assert re.findall(">([A-Z][a-z-]+)</a>", tabs[0]) == ["Results", "Compare", "Cross-tab", "Regression"]


def test_lists_leave_runs_out(app: Flask, http: FlaskClient, draft: int) -> None:
    """People do not find them in the list of surveys or among those to compare with. Programs see whose they are."""
    enter(http, app, "admin")
    run = start(http, app, draft).document.survey.id
    for page in ("/", "/?q=test", "/?archived=1", "/surveys/campus-health/compare"):
        assert run not in http.get(page).text, page
    listed = {each["id"]: each["draft"] for each in http.get("/api/v1/surveys").json["surveys"]}
    assert listed == {"campus-health": None, run: draft}


def test_a_file_of_a_run_has_its_name(app: Flask, editor: FlaskClient, draft: int) -> None:
    """A table that was downloaded shows by its name that it is of a test run."""
    run = start(editor, app, draft).document.survey.id
    table = editor.get(f"/api/v1/surveys/{run}/estimates.csv")
    assert f'filename="{run}-' in table.headers["Content-Disposition"] and run.startswith("test-")


def test_who_may_start_and_end_one(app: Flask, http: FlaskClient, draft: int) -> None:
    """Editors and admins, with a form of ours. Not analysts, not strangers, not another site."""
    for role, path in [(role, path) for role in ("", "analyst") for path in ("test", "test/end")]:
        word = ""
        if role:
            enter(http, app, "analyst")
            word = word_in(http.get("/"))
        refused = http.post(f"/drafts/{draft}/{path}", data={"word": word}, headers=BROWSER)
        assert refused.status_code == (403 if role else 401), (role, path)
    enter(http, app, "editor")
    assert http.post(f"/drafts/{draft}/test", data={"word": "0" * 64}, headers=BROWSER).status_code == 403
    assert storage_of(app).test_run(draft) is None
    start(http, app, draft)
    word = word_in(http.get(f"/drafts/{draft}/preview"))
    foreign = {**BROWSER, "Origin": "https://elsewhere.example"}
    assert http.post(f"/drafts/{draft}/test/end", data={"word": word}, headers=foreign).status_code == 403
    assert storage_of(app).test_run(draft) is not None


def test_a_run_of_a_draft_that_goes_is_not_left_behind(
    app: Flask, editor: FlaskClient, draft: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody publishes or deletes the draft while a run of it is being started: no run is left that nobody ends."""
    storage = storage_of(app)
    publish = storage.publish
    word = word_in(editor.get(f"/drafts/{draft}/preview"))

    def publish_when_it_is_gone(*given: object, **named: object) -> bool:
        storage.drafts.delete(draft)
        return publish(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(storage, "publish", publish_when_it_is_gone)
    editor.post(f"/drafts/{draft}/test", data={"word": word}, headers=BROWSER)
    assert storage.test_run(draft) is None
    assert [each.id for each in storage.surveys(test_runs=True)] == ["campus-health"]


def test_of_two_who_start_at_once_both_go_on(
    app: Flask, editor: FlaskClient, draft: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is one run, and nobody gets an error for it."""
    storage = storage_of(app)
    publish = storage.publish
    page = f"/drafts/{draft}/preview"
    word = word_in(editor.get(page))

    def start_too() -> TestResponse:
        return editor.post(f"/drafts/{draft}/test", data={"word": word}, headers=BROWSER)

    def while_another_starts(*given: Any, **named: Any) -> bool:
        monkeypatch.undo()
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(start_too).result().location == f"{page}#testing"
        return publish(*given, **named)

    monkeypatch.setattr(storage, "publish", while_another_starts)
    assert start_too().location == f"{page}#testing"
    assert storage.test_run(draft) is not None and len(storage.surveys(test_runs=True)) == 2


def test_an_incomplete_draft_has_no_run(app: Flask, editor: FlaskClient) -> None:
    """It is refused with what is missing, and nothing is published."""
    draft = storage_of(app).drafts.create(editing.write(editing.Sketch()))
    page = editor.get(f"/drafts/{draft}/preview")
    assert "Start a test run" not in page.text
    refused = editor.post(f"/drafts/{draft}/test", data={"word": word_in(page)})
    assert refused.status_code == 422 and json.loads(refused.text)["errors"]
    assert storage_of(app).test_run(draft) is None


def test_the_log_says_who_started_and_ended_it(
    app: Flask, editor: FlaskClient, draft: int, lines: pytest.LogCaptureFixture
) -> None:
    """With the id of the run and the number of the draft, and nothing that is in it."""
    run = start(editor, app, draft).document.survey.id
    send(editor, f"/drafts/{draft}/test/end", f"/drafts/{draft}/preview")
    found = [re.sub(r"at=\S+ | token=\S+ role=\S+", "", line) for line in lines.messages if "event=test-run" in line]
    about = f"survey={run} draft={draft}"
    assert found == [f"event=test-run-started {about}", f"event=test-run-ended {about}"]
