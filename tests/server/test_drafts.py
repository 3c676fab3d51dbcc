"""The pages of drafts: beginning, who sees them, and writing by several people at once."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from typing import Any, TypeVar

import pytest
from flask import Flask
from flask.testing import FlaskClient

from deniable_protocol import Survey, publish, survey_from_tree
from deniable_server import editing
from deniable_server.editing import Sketch
from deniable_server.editing.templates import TEMPLATES, template
from deniable_server.planning import what_would_help
from deniable_server.planning.suggestions import Ask, Help
from deniable_server.storage import Role
from tests.helpers.draft_pages import (
    CANARY,
    ENGLISH,
    QUESTION,
    begin,
    changing,
    found,
    number_in,
    sketch_of,
    title,
    word,
)
from tests.helpers.drafts import example_tree, new_draft
from tests.helpers.servers import storage_of
from tests.helpers.sign_in import BROWSER, enter, send, word_in

T = TypeVar("T")


@pytest.fixture
def other(app: Flask) -> str:
    """The id of a second survey."""
    tree = {"id": "other", "title": "Other", "questions": [QUESTION | {"epsilon": 1}]}
    storage_of(app).publish(publish(survey_from_tree(tree)))
    return "other"


# --- beginning --------------------------------------------------------------------------------------------------------


def test_a_draft_begins_empty(app: Flask, editor: FlaskClient) -> None:
    """In English, with a moderate ε, and with nothing that anybody would have to delete. It opens."""
    number = number_in(begin(editor, start="empty"))
    sketch = sketch_of(app, number)
    assert (sketch.questions, sketch.texts, sketch.languages, float(sketch.epsilon)) == ([], {}, ["en"], 2)
    assert sketch.by == "test" and found(app, number).maker == storage_of(app).tokens.all()[0].id
    assert editor.get(f"/drafts/{number}").status_code == 200
    assert f'href="/drafts/{number}"' in editor.get("/").text


def test_a_draft_begins_with_a_template(app: Flask, editor: FlaskClient) -> None:
    """It has all of its questions, could be published, and gets an id of its own from its title."""
    for name, *_ in TEMPLATES:
        number = number_in(begin(editor, start=name))
        sketch = sketch_of(app, number)
        assert sketch.id == "" and editing.faults_in(sketch) == []
        expected = editing.to_tree(editing.from_file(template(name)))
        assert {**editing.to_tree(sketch), "id": expected["id"]} == expected
        assert sketch.title in editor.get(f"/drafts/{number}").text.replace("&#39;", "'")


def test_a_draft_begins_with_a_file(app: Flask, editor: FlaskClient) -> None:
    """One that was chosen, as Windows writes it, a text that was pasted, or the same as JSON."""
    text = editing.to_toml(editing.from_tree(example_tree()))
    as_json = json.dumps(example_tree())
    assert editing.to_toml(sketch_of(app, number_in(begin(editor, start="file", text=as_json)))) == text
    chosen = (BytesIO(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()), "survey.toml")
    data = {"word": word(editor), "start": "file", "text": "nonsense", "file": chosen}
    for response in (editor.post("/surveys/new", data=data, headers=BROWSER), begin(editor, start="file", text=text)):
        assert editing.to_toml(sketch_of(app, number_in(response))) == text


def test_a_bad_file_is_refused_with_all_that_is_wrong(app: Flask, editor: FlaskClient) -> None:
    """Each fault with its place; what was pasted is still there, and no draft is made."""
    refused = begin(editor, start="file", text='id = 1\ntitle = "T"\ncolour = "red"\n[[questions]]\nid = 2\n')
    assert refused.status_code == 422 and "colour = &#34;red&#34;" in refused.text
    for place in ("<code>id</code>", "<code>colour</code>", "<code>questions[0].id</code>"):
        assert place in refused.text
    chosen = (BytesIO(b"\xff\xfe\x00"), "survey.toml")
    data = {"word": word(editor), "start": "file", "file": chosen}
    refused = editor.post("/surveys/new", data=data, headers=BROWSER)
    assert refused.status_code == 422 and "UTF-8" in refused.text
    assert storage_of(app).drafts.all() == []


def test_a_file_of_another_shape_is_no_error_of_the_server(editor: FlaskClient, draft: int) -> None:
    """A list where a table is to be, next to something else that is wrong."""
    text = 'id = "x1"\ntitle = "T"\n[[questions]]\nid = "a"\ntype = "choice"\ntext = "A"\noptions = ["a"]\n'
    assert begin(editor, start="file", text=text).status_code == 422
    page = f"/drafts/{draft}/file"
    assert send(editor, page, page, text=text, version="1").status_code == 422


def test_a_copy_of_a_published_survey(app: Flask, editor: FlaskClient) -> None:
    """It has everything, under another id: publishing it makes a second survey."""
    number = number_in(send(editor, "/surveys/campus-health/copy", "/surveys/new"))
    tree = example_tree() | {"id": "campus-health-2026"}
    assert editing.to_tree(sketch_of(app, number)) == editing.to_tree(
        editing.from_tree({key: value for key, value in tree.items() if key != "respondents"})
    )
    page = f"/drafts/{number}/publish"
    assert send(editor, page, page, version="1").location == "/surveys/campus-health-2026/share?new=1"


# --- who may ----------------------------------------------------------------------------------------------------------

PAGES = ("", "/changes", "/plan", "/file", "/publish")
DEEDS = ("/changes", "/file", "/delete", "/publish")


@pytest.mark.parametrize("role", ["reader", "analyst"])
def test_readers_and_analysts_see_no_drafts(app: Flask, http: FlaskClient, other: str, role: Role) -> None:
    """They are refused or led to what they may see, change nothing, and find no draft in their list."""
    number = new_draft(storage_of(app), title=CANARY, languages=["en"], **ENGLISH)
    enter(http, app, role, *(["campus-health", other] if role == "reader" else []))
    own, before = word_in(http.get("/sign-in")), found(app, number)
    paths = [("GET", f"/drafts/{number}{page}") for page in PAGES] + [("GET", "/surveys/new"), ("GET", "/")]
    paths += [("POST", f"/drafts/{number}{page}") for page in DEEDS]
    paths += [("POST", "/surveys/new"), ("POST", "/surveys/campus-health/copy")]
    for method, path in paths:
        response = http.open(path, method=method, headers=BROWSER, data={"word": own} if method == "POST" else None)
        refused = response.status_code == 403 or (role == "reader" and response.status_code == 303)
        assert (refused or path == "/") and CANARY not in response.text, (method, path, response.status_code)
    assert storage_of(app).drafts.all() == [before]


def test_an_editor_of_some_surveys_sees_own_drafts_only(app: Flask, http: FlaskClient, draft: int) -> None:
    """Those of others are as if they were not there: by address, in lists, and for each change. Admins see all."""
    storage = storage_of(app)
    enter(http, app, "editor", "campus-health")
    mine = number_in(begin(http, start="empty"))
    own, listed, before = word(http), http.get("/").text, found(app, draft)
    assert f"/drafts/{mine}" in listed and f"/drafts/{draft}" not in listed
    for page in PAGES:
        assert http.get(f"/drafts/{draft}{page}").status_code == 404
    for page in DEEDS:
        data = {"word": own, "changes": json.dumps([{"id": "1", **title("Mine")}]), "version": "1"}
        assert http.post(f"/drafts/{draft}{page}", data=data, headers=BROWSER).status_code == 404, page
    assert found(app, draft) == before
    assert http.get(f"/drafts/{mine}").status_code == 200
    admin = app.test_client()
    enter(admin, app, "admin")
    assert {f"/drafts/{each.number}" in admin.get("/").text for each in storage.drafts.all()} == {True}
    assert {admin.get(f"/drafts/{number}").status_code for number in (mine, draft)} == {200}


def test_an_editor_of_some_surveys_cannot_copy_others(app: Flask, http: FlaskClient, other: str) -> None:
    """Nor publish over them: such an id is taken."""
    enter(http, app, "editor", other)
    taken = editing.from_tree(example_tree() | {"title": "X", "languages": ["en"], **ENGLISH})
    mine = number_in(begin(http, start="file", text=editing.to_toml(taken)))
    assert send(http, "/surveys/campus-health/copy", "/surveys/new").status_code == 403
    page = f"/drafts/{mine}/publish"
    refused = send(http, page, page, version="1")
    assert refused.status_code == 409 and "Another survey has this address already" in refused.text
    assert {each.id for each in storage_of(app).surveys()} == {"campus-health", other}


# --- changes ----------------------------------------------------------------------------------------------------------


def test_a_change_is_saved_and_answered(app: Flask, editor: FlaskClient, draft: int) -> None:
    """With the version, what is still wrong by field, and what is missing by language; sent again, it counts once."""
    item = sketch_of(app, draft).questions[0].key
    made = [title(""), {"op": "add", "type": "yes_no", "key": item, "new": "mine"}]
    for _ in range(2):
        answer = changing(editor, draft, *made).get_json()
    assert answer["version"] == 2 == found(app, draft).version and answer["conflicts"] == []
    assert answer["faults"]["title:en"] == "Give the survey a title." and "mine.text:en" in answer["faults"]
    assert answer["by"] == "test" and answer["missing"]["es"] == 0
    assert sketch_of(app, draft).questions[1].key == "mine"


def test_a_conflict_is_answered_and_nothing_is_overwritten(app: Flask, editor: FlaskClient, draft: int) -> None:
    """What the same request changes elsewhere is kept."""
    changing(editor, draft, title("Bob's"))
    stricter = {"op": "set", "at": "epsilon", "value": "1.0", "was": sketch_of(app, draft).epsilon}
    answer = changing(editor, draft, title("Ann's"), stricter).get_json()
    assert answer["conflicts"] == [{"at": "title:en", "theirs": "Bob's"}]
    assert (sketch_of(app, draft).title, sketch_of(app, draft).epsilon) == ("Bob's", "1.0")


def test_others_are_told_what_changed(editor: FlaskClient, draft: int) -> None:
    """Nothing while nothing has changed; then the page's own part, drawn again."""
    path = f"/drafts/{draft}/changes"
    assert editor.get(f"{path}?since=1").status_code == 204
    changing(editor, draft, title(CANARY))
    answer = editor.get(f"{path}?since=1").get_json()
    assert answer["version"] == 2 and CANARY in answer["editor"]
    assert changing(editor, draft, version="2").get_json()["editor"] is None
    assert CANARY in changing(editor, draft, version="1").get_json()["editor"]


def test_help_for_an_old_version_is_given_up(app: Flask, editor: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody who changes the draft while the server looks for what would help does not wait for the rest of it."""
    number = new_draft(storage_of(app))
    asked = f"/drafts/{number}/plan?help=1"
    assert "What would help" in editor.get(asked).text
    tried = 0

    def changed_at_the_third(survey: Survey, respondents: int | None, ask: Ask) -> Help:
        def counted(function: Callable[..., T], *given: object) -> T:
            nonlocal tried
            tried += 1
            if tried == 3:
                changing(editor, number, title("Another"))
            return ask(function, *given)

        return what_would_help(survey, respondents, counted)

    monkeypatch.setattr(sys.modules["deniable_server.pages.drafts"], "what_would_help", changed_at_the_third)
    answer = editor.get(asked)
    assert (answer.status_code, answer.data, tried) == (204, b"", 3)


def test_twenty_who_write_at_once_lose_nothing(app: Flask, draft: int) -> None:
    """Each adds a question and writes its text, in a browser of their own: all of them are there, and once."""
    browsers = []
    for _ in range(4):
        browsers.append(app.test_client())
        enter(browsers[-1], app, "editor")
    words = [word(http) for http in browsers]
    before = len(sketch_of(app, draft).questions)

    def write(number: int) -> int:
        mine = [
            {"id": f"a{number}", "op": "add", "type": "yes_no", "new": f"n{number}"},
            {"id": f"b{number}", "op": "set", "at": f"n{number}.text:en", "value": f"Number {number}?", "was": ""},
        ]
        data = {"word": words[number % 4], "changes": json.dumps(mine), "version": "1"}
        # A client of its own for each thread, with the session of one of the four.
        http = app.test_client()
        cookie = browsers[number % 4].get_cookie("deniable")
        assert cookie is not None
        http.set_cookie("deniable", cookie.value)
        return http.post(f"/drafts/{draft}/changes", data=data, headers=BROWSER).status_code

    with ThreadPoolExecutor(20) as pool:
        assert set(pool.map(write, range(20))) == {200}
    written = [item.text.get("en") for item in sketch_of(app, draft).questions]
    assert len(written) == before + 20 and {f"Number {number}?" for number in range(20)} < {*written}
    assert found(app, draft).version == 21


def test_changes_need_the_word_of_the_page(app: Flask, editor: FlaskClient, draft: int) -> None:
    """Another site cannot send them; nor delete or publish a draft, or replace it by a file."""
    before = found(app, draft)
    for page in (*DEEDS, "/test"):
        data = {"changes": json.dumps([{"id": "1", **title("Theirs")}]), "version": "1", "text": "x"}
        assert editor.post(f"/drafts/{draft}{page}", data=data, headers=BROWSER).status_code == 403, page
        foreign = {**BROWSER, "Sec-Fetch-Site": "cross-site"}
        data["word"] = word(editor)
        assert editor.post(f"/drafts/{draft}{page}", data=data, headers=foreign).status_code == 403, page
    assert found(app, draft) == before


def test_when_the_session_is_over_the_page_is_told(app: Flask, editor: FlaskClient, draft: int) -> None:
    """By 401, so that it keeps what was typed and asks to sign in; the same changes are made afterwards."""
    own, before = word(editor), found(app, draft)
    data = {"word": own, "changes": json.dumps([{"id": "1", **title(CANARY)}]), "version": "1"}
    editor.delete_cookie("deniable")
    assert editor.post(f"/drafts/{draft}/changes", data=data, headers=BROWSER).status_code == 401
    assert found(app, draft) == before
    enter(editor, app, "editor")
    assert changing(editor, draft, {"id": "1", **title(CANARY)}).status_code == 200
    assert sketch_of(app, draft).title == CANARY


def test_of_a_deleted_draft_the_page_is_told(app: Flask, editor: FlaskClient, draft: int) -> None:
    """By 404, for changes that come too late, for what others did, and for numbers that no database has."""
    assert send(editor, f"/drafts/{draft}/delete", f"/drafts/{draft}").location == "/"
    assert changing(editor, draft, title("Late")).status_code == 404
    assert editor.get(f"/drafts/{draft}/changes?since=1").status_code == 404
    assert storage_of(app).drafts.all() == []
    for number in (0, 2**31, 2**63, 10**40):
        assert editor.get(f"/drafts/{number}").status_code == 404


NO_CHANGES = [
    "",
    "nonsense",
    "{}",
    "[1]",
    '[{"id": "1"}]',
    '[{"id": "1", "op": "explode"}]',
    '[{"id": "1", "op": "set", "colour": "red"}]',
    '[{"id": "1", "op": "set", "value": "\\ud800"}]',
    '[{"id": "1", "op": "set", "value": ' + "[" * 10_000 + "]" * 10_000 + "}]",
    '[{"id": "1", "op": "move", "place": 1e400}]',
]


def test_what_no_editor_sends_is_refused(app: Flask, editor: FlaskClient, draft: int) -> None:
    """In words, without repeating what was sent."""
    before, own = found(app, draft), word(editor)
    for changes in NO_CHANGES:
        data = {"word": own, "changes": changes, "version": "1"}
        refused = editor.post(f"/drafts/{draft}/changes", data=data)
        assert refused.status_code == 400 and len(refused.text) < 400, changes[:80]
        assert found(app, draft) == before


def test_a_change_that_cannot_be_made_keeps_no_other_from_being_made(
    app: Flask, editor: FlaskClient, draft: int
) -> None:
    """It gets its reason, under its own id, and the page as it is."""
    bad = [
        {"op": "set", "at": "nothing"},
        {"op": "set", "at": "title:?", "was": "", "value": CANARY},
        {"op": "set", "at": "epsilon", "was": "2", "value": 7},
        {"op": "add", "type": "x"},
        {"op": "pair", "keys": ["one"]},
    ]
    before = sketch_of(app, draft)
    changes = [{"id": f"bad{place}", **each} for place, each in enumerate(bad)]
    answer = changing(editor, draft, *changes, title("Another")).get_json()
    assert [*answer["refused"]] == ["bad0", "bad1", "bad2", "bad3", "bad4"] and CANARY not in str(answer)
    assert answer["refused"]["bad4"] == "Choose two different questions." and answer["editor"]
    after = sketch_of(app, draft)
    assert (after.title, after.questions, after.epsilon) == ("Another", before.questions, before.epsilon)


def test_what_is_refused_is_what_was_refused_in_the_end(
    app: Flask, editor: FlaskClient, draft: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where somebody else is faster, all is tried again, and what can be made then is not called refused."""
    drafts = storage_of(app).drafts
    save, apply, tries = drafts.save, editing.apply, []

    def refused_at_first(sketch: Sketch, change: editing.Change, by: str) -> Any:
        tries.append(change)
        if len(tries) == 1:
            raise editing.BadChange("There is no room.")
        return apply(sketch, change, by)

    monkeypatch.setattr(editing, "apply", refused_at_first)
    monkeypatch.setattr(type(drafts), "save", lambda self, *given: len(tries) > 2 and save(*given))
    changes = [title("Another"), {"op": "add", "type": "yes_no", "new": "mine"}]
    answer = changing(editor, draft, *changes).get_json()
    assert (answer["refused"], sketch_of(app, draft).title) == ({}, "Another")


def test_what_is_written_in_a_language_that_somebody_removes_is_kept(
    app: Flask, editor: FlaskClient, draft: int
) -> None:
    """It is there again when the language comes back."""
    languages = {"op": "set", "at": "languages"}
    key = sketch_of(app, draft).questions[0].key
    changing(editor, draft, languages | {"value": ["en"], "was": ["en", "es"]})
    written = {
        "op": "set",
        "at": f"{key}.text:es",
        "value": CANARY,
        "was": sketch_of(app, draft).questions[0].text["es"],
    }
    answer = changing(editor, draft, written).get_json()
    assert (answer["refused"], answer["conflicts"]) == ({}, []) and CANARY not in answer["editor"]
    back = changing(editor, draft, languages | {"value": ["en", "es"], "was": ["en"]})
    assert CANARY in back.get_json()["editor"]


def test_the_answer_to_a_change_is_of_the_version_that_it_names(
    app: Flask, editor: FlaskClient, draft: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where somebody else saves a moment later, the page hears of that when it looks."""
    drafts = storage_of(app).drafts
    save = drafts.save

    def and_then_another(number: int, content: str, version: int) -> bool:
        monkeypatch.undo()
        saved = save(number, content, version)
        changing(editor, number, {"op": "set", "at": "epsilon", "value": "1", "was": "2"})
        return saved

    monkeypatch.setattr(type(drafts), "save", lambda self, *given: and_then_another(*given))
    answer = changing(editor, draft, title("Another")).get_json()
    assert (answer["version"], answer["panel"]["epsilon"]) == (2, "2")
    assert editor.get(f"/drafts/{draft}/changes?since=2").get_json()["panel"]["epsilon"] == "1"


def test_a_draft_has_room_for_two_million_characters(app: Flask, editor: FlaskClient, draft: int) -> None:
    """More is refused, and nothing of it is kept. One that has more all the same may become shorter."""
    storage = storage_of(app)
    sketch = sketch_of(app, draft)
    sketch.texts["notice"] = {"en": "x" * 1_999_000}
    assert storage.drafts.save(draft, editing.write(sketch), 1)
    refused = changing(editor, draft, *({"op": "add", "type": "yes_no", "new": f"n{each}"} for each in range(50)))
    assert refused.status_code == 413 and found(app, draft).version == 2
    sketch.texts["notice"] = {"en": "x" * 2_100_000}
    assert storage.drafts.save(draft, editing.write(sketch), 2)
    shorter = {"op": "set", "at": "closing:es", "value": "", "was": sketch.texts["closing"]["es"]}
    assert changing(editor, draft, shorter).status_code == 200 and found(app, draft).version == 4


def test_a_draft_of_two_hundred_questions(app: Flask, editor: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """A change of a text is saved without drawing the page again, checks the survey once, and is answered in few
    characters.
    """
    questions = [{"id": f"q{n}", "type": "yes_no", "text": f"Question {n}?"} for n in range(200)]
    number = new_draft(storage_of(app), ENGLISH | {"id": "long", "title": "L", "epsilon": 2, "questions": questions})
    key, checked = sketch_of(app, number).questions[199].key, []
    original = editing.faults_in

    def faults_in(sketch: Sketch) -> Any:
        checked.append(sketch)
        return original(sketch)

    monkeypatch.setattr(editing, "faults_in", faults_in)
    answer = changing(editor, number, {"op": "set", "at": f"{key}.text:", "value": "Last?", "was": "Question 199?"})
    assert answer.status_code == 200 and len(checked) == 1 and len(answer.text) < 500
    assert sketch_of(app, number).questions[199].text[""] == "Last?"
