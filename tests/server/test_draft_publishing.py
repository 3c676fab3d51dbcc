"""The pages of drafts: the file, publishing, what is noted of them, and hostile texts."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from deniable_server import editing
from deniable_server.errors import Unavailable
from deniable_server.storage import Published, base
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
from tests.helpers.drafts import HOSTILE, SCRIPT, example_tree, hostile_tree, new_draft
from tests.helpers.servers import storage_of
from tests.helpers.sign_in import BROWSER, enter, send

# --- the file ---------------------------------------------------------------------------------------------------------


def test_the_file_is_applied(app: Flask, editor: FlaskClient, draft: int) -> None:
    """What the page shows is the draft. Applied with another title, that is all that is different."""
    page = f"/drafts/{draft}/file"
    text = text_in(editor.get(page))
    assert text == editing.to_toml(sketch_of(app, draft))
    applied = send(editor, page, page, text=text.replace("Campus health 2026", CANARY), version="1")
    assert applied.location == f"/drafts/{draft}"
    assert text_in(editor.get(page)) == text.replace("Campus health 2026", CANARY)
    assert sketch_of(app, draft).by == "test" and found(app, draft).version == 2


def text_in(response: TestResponse) -> str:
    area = re.search(r'<textarea id="text"[^>]*>\n(.*?)</textarea>', response.text, re.DOTALL)
    version = re.search(r'name="version" value="(\d+)"', response.text)
    assert area is not None and version is not None
    return unescape(area[1])


def test_a_file_does_not_replace_what_somebody_else_changed(app: Flask, editor: FlaskClient, draft: int) -> None:
    """It is refused with the text kept, also where the text was wrong at first; applied once more, it is taken."""
    page = f"/drafts/{draft}/file"
    text = text_in(editor.get(page)).replace("Campus health 2026", "Mine")
    changing(editor, draft, title("Theirs"))
    wrong = send(editor, page, page, text=f"{text}?", version="1")
    assert wrong.status_code == 422 and text_in(wrong) == f"{text}?" and 'name="version" value="1"' in wrong.text
    refused = send(editor, page, page, text=text, version="1")
    assert refused.status_code == 422 and "has changed the draft since you opened this page" in refused.text
    assert text_in(refused) == text and 'name="version" value="2"' in refused.text
    assert sketch_of(app, draft).title == "Theirs"
    for version in ("x", "", "-1", "9" * 30):
        assert send(editor, page, page, text=text, version=version).status_code == 422
    assert send(editor, page, page, text=text, version="2").status_code == 303
    assert sketch_of(app, draft).title == "Mine"


def test_a_change_that_was_made_before_the_file_is_not_made_again(app: Flask, editor: FlaskClient, draft: int) -> None:
    """A browser that sends it once more, because it heard no answer, does not undo the file."""
    late = {"id": "late", "op": "add", "type": "yes_no"}
    changing(editor, draft, late)
    page = f"/drafts/{draft}/file"
    send(editor, page, page, text=editing.to_toml(editing.from_tree(example_tree())), version="2")
    changing(editor, draft, late)
    assert len(sketch_of(app, draft).questions) == len(example_tree()["questions"])


# --- publishing -------------------------------------------------------------------------------------------------------


def test_publishing_ends_at_what_to_send(app: Flask, editor: FlaskClient) -> None:
    """The draft and its test run are gone, and the page has the link, its QR code, the snippet and a text to send."""
    number = new_draft(storage_of(app), title="Brand new", id="", **ENGLISH)
    send(editor, f"/drafts/{number}/test", f"/drafts/{number}/preview")
    assert storage_of(app).test_run(number) is not None
    page = f"/drafts/{number}/publish"
    assert "What you will know" in editor.get(page).text
    published = send(editor, page, page, version="1")
    assert published.location == "/surveys/brand-new/share?new=1"
    survey = storage_of(app).find("brand-new")
    assert survey is not None and survey.document.survey.title == "Brand new"
    assert storage_of(app).test_run(number) is None and storage_of(app).drafts.all() == []
    assert [each.id for each in storage_of(app).surveys(test_runs=True) if each.id.startswith("test-")] == []
    share = unescape(editor.get(published.location).text)
    link = f"http://localhost/s/brand-new#{survey.document.digest}"
    for part in ("Your survey is published", link, 'aria-label="QR code', f'<deniable-survey src="{link}">', "mailto:"):
        assert part in share
    assert editor.get(page).status_code == 404


def test_an_incomplete_draft_goes_back_to_the_editor(app: Flask, editor: FlaskClient, draft: int) -> None:
    """Which then shows what is missing. Nothing is published, and the draft is still there."""
    changing(editor, draft, title(""))
    back = f"/drafts/{draft}?check=1"
    page = f"/drafts/{draft}/publish"
    assert editor.get(page).location == back
    refused = editor.post(page, data={"word": word(editor), "version": "2"}, headers=BROWSER)
    assert refused.location == back and "data-checking" in editor.get(back).text
    assert [each.id for each in storage_of(app).surveys()] == ["campus-health"]
    assert found(app, draft).version == 2


def test_brackets_of_a_template_are_pointed_out(app: Flask, editor: FlaskClient) -> None:
    """Before a template is published, the page lists each text that is still in brackets, and leads to its field. The
    fields are there. Without brackets it says nothing.
    """
    number = number_in(begin(editor, start="workplace"))
    listed = re.findall(
        r'<a href="/drafts/\d+#(f-[^"]+)" dir="auto">(.*?)</a>', editor.get(f"/drafts/{number}/publish").text
    )
    sketch = sketch_of(app, number)
    texts = editing.to_toml(sketch).partition("[[")[0]
    assert len(listed) > 2 and all(unescape(text) in texts for _, text in listed)
    page = editor.get(f"/drafts/{number}").text
    assert all(f'id="{at}"' in page for at, _ in listed)
    for field in {at.removeprefix("f-").partition(":")[0] for at, _ in listed}:
        changing(editor, number, {"op": "set", "at": f"{field}:en", "value": "Ours", "was": sketch.texts[field]["en"]})
    assert "brackets" not in editor.get(f"/drafts/{number}/publish").text


def test_what_was_not_looked_at_is_not_published(app: Flask, editor: FlaskClient) -> None:
    """Where somebody has changed the draft since the plan was shown, it is shown again, with who did."""
    number = new_draft(storage_of(app), id="mine", **ENGLISH)
    changing(editor, number, title("Changed"))
    page = f"/drafts/{number}/publish"
    for version in ("1", "", "x"):
        refused = send(editor, page, page, version=version)
        assert refused.status_code == 409 and "test has changed the draft since. Look again." in refused.text
    assert storage_of(app).find("mine") is None and found(app, number).version == 2
    assert send(editor, page, page, version="2").status_code == 303


def test_what_is_saved_while_it_is_published_is_kept(
    app: Flask, editor: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change that somebody saves between the last look and the end is not lost, and not published unseen: the plan is
    shown again, with it.
    """
    number = new_draft(storage_of(app), id="mine", **ENGLISH)
    state = app.extensions["deniable"]
    publish = state.publish

    def meanwhile(*given: object) -> bool:
        sketch = sketch_of(app, number)
        editing.apply(sketch, editing.Change("late", **title("Too late")), "Ben")
        assert storage_of(app).drafts.save(number, editing.write(sketch), 1)
        return bool(publish(*given))

    monkeypatch.setattr(state, "publish", meanwhile)
    page = f"/drafts/{number}/publish"
    refused = send(editor, page, page, version="1")
    assert refused.status_code == 409 and "Ben has changed the draft since. Look again." in refused.text
    assert sketch_of(app, number).title == "Too late" and storage_of(app).find("mine") is None


@pytest.mark.parametrize("meanwhile", ["surveys", "publish", "nothing"])
@pytest.mark.parametrize("restricted", [False, True])
def test_two_clicks_publish_one_survey(
    app: Flask, http: FlaskClient, monkeypatch: pytest.MonkeyPatch, meanwhile: str, restricted: bool
) -> None:
    """Whether the second is looked at while the first is being published, or after it: both lead to the survey."""
    enter(http, app, "editor", *(["campus-health"] if restricted else []))
    storage = storage_of(app)
    number = number_in(begin(http, start="file", text=editing.to_toml(editing.from_tree(example_tree() | NAMELESS))))
    page = f"/drafts/{number}/publish"
    plan = http.get(page)
    form = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', plan.text))
    assert form["survey"] == "brand-new"

    def click() -> TestResponse:
        return http.post(page, data=form, headers=BROWSER)

    clicks: list[TestResponse] = []

    def during(real: Callable[..., Any]) -> Callable[..., Any]:
        def called(*given: Any, **named: Any) -> Any:
            monkeypatch.undo()
            with ThreadPoolExecutor(1) as pool:
                clicks.append(pool.submit(click).result())
            return real(*given, **named)

        return called

    if meanwhile == "nothing":
        clicks.append(click())
    else:
        monkeypatch.setattr(storage, meanwhile, during(getattr(storage, meanwhile)))
    clicks.append(click())
    assert [each.location for each in clicks] == ["/surveys/brand-new/share?new=1", "/surveys/brand-new/share"]
    assert [each.id for each in storage.surveys()] == ["brand-new", "campus-health"]
    assert http.get("/surveys/brand-new/share").status_code == 200


NAMELESS = ENGLISH | {"title": "Brand new", "id": ""}


def test_what_could_not_be_published_is_published_once(
    app: Flask, http: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where storing fails half-way, nothing was stored, as the page says. Tried again, there is one survey, and an
    editor of some surveys may edit it.
    """
    enter(http, app, "editor", "campus-health")
    number = number_in(begin(http, start="file", text=editing.to_toml(editing.from_tree(example_tree() | NAMELESS))))
    page = f"/drafts/{number}/publish"
    with monkeypatch.context() as patch:
        patch.setattr(base, "granted", lambda *_: [("UPDATE nothing SET number = 1", {})])
        assert send(http, page, page, version="1").status_code == 503
    assert [each.id for each in storage_of(app).surveys()] == ["campus-health"]
    assert send(http, page, page, version="1").location == "/surveys/brand-new/share?new=1"
    assert http.get("/surveys/brand-new/share").status_code == 200


def test_a_test_run_that_cannot_be_ended_now_does_not_undo_publishing(
    app: Flask, editor: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The survey is published, and the page says so; the test run is ended later."""
    number = new_draft(storage_of(app), **NAMELESS)
    send(editor, f"/drafts/{number}/test", f"/drafts/{number}/preview")

    def fail(survey: Published) -> None:
        raise Unavailable("a download is under way")

    page = f"/drafts/{number}/publish"
    monkeypatch.setattr(storage_of(app), "delete_survey", fail)
    assert send(editor, page, page, version="1").location == "/surveys/brand-new/share?new=1"


def test_a_draft_of_what_is_published_is_no_news(app: Flask, editor: FlaskClient, draft: int) -> None:
    """Exactly this survey is at this address: the page says so and leads to it, and the draft is kept."""
    page = f"/drafts/{draft}/publish"
    refused = send(editor, page, page, version="1")
    assert refused.status_code == 409 and "This very survey is already published" in refused.text
    assert '<a href="/surveys/campus-health/share">' in refused.text
    assert found(app, draft).version == 1
    assert "survey-published" not in {deed.event for deed in storage_of(app).activity.newest()}


def test_an_address_that_is_taken_is_said(app: Flask, editor: FlaskClient) -> None:
    """One that somebody chose is refused; one that is made from the title gives way."""
    draft = new_draft(storage_of(app), **ENGLISH)
    changing(editor, draft, title("Another title"))
    page = f"/drafts/{draft}/publish"
    refused = send(editor, page, page, version="2")
    assert refused.status_code == 409 and "Another survey has this address already" in refused.text
    changing(editor, draft, {"op": "set", "at": "id", "value": "", "was": "campus-health"})
    changing(editor, draft, title("Campus health", "Another title"))
    assert send(editor, page, page, version="4").location == "/surveys/campus-health-2/share?new=1"


# --- what is noted, and hostile texts ---------------------------------------------------------------------------------


def test_what_people_do_with_drafts_is_noted_without_its_texts(
    app: Flask, editor: FlaskClient, lines: pytest.LogCaptureFixture
) -> None:
    """In the log and on the page Activity: beginning, deleting and publishing, with the number or the id. Of what is
    published, Activity keeps the title.
    """
    texts = ENGLISH | {"title": "Noted", "id": "noted", "questions": [QUESTION | {"text": CANARY}]}
    text = editing.to_toml(editing.from_tree(example_tree() | texts))
    gone, kept = (number_in(begin(editor, start="file", text=text)) for _ in range(2))
    changing(editor, gone, title(CANARY, "Noted"))
    send(editor, f"/drafts/{gone}/delete", f"/drafts/{gone}")
    page = f"/drafts/{kept}/publish"
    assert send(editor, page, page, version="1").status_code == 303
    logged = [re.sub(r"at=\S+ | token=\S+ role=\S+", "", line) for line in lines.messages if "event=" in line]
    assert logged == [
        f"event=draft-made draft={gone}",
        f"event=draft-made draft={kept}",
        f"event=draft-deleted draft={gone}",
        "event=survey-published survey=noted",
    ]
    deeds = storage_of(app).activity.newest()
    assert [deed.event for deed in deeds][:4] == ["survey-published", "draft-deleted", "draft-made", "draft-made"]
    assert CANARY not in lines.text + str(deeds)


def test_hostile_texts_stay_texts(app: Flask, editor: FlaskClient) -> None:
    """On every page of a draft, in every part that is drawn later, and after a mistake: no text becomes an
    element, an attribute or a template, and every policy forbids what is inline.
    """
    number = new_draft(storage_of(app), hostile_tree())
    sketch = sketch_of(app, number)
    first, second = sketch.questions[0].key, sketch.segments[0].key
    changing(
        editor,
        number,
        {"op": "copy", "key": first, "new": "twin"},
        {"op": "set", "at": "twin.after", "value": first, "was": ""},
        {"op": "pair", "keys": [first, "twin"]},
        {"op": "remove", "key": second},
        {"op": "set", "at": "languages", "value": ["en"], "was": []},
    )
    file, publishing = f"/drafts/{number}/file", f"/drafts/{number}/publish"
    pages = [editor.get(f"/drafts/{number}{page}") for page in ("", "/file", "/plan", "?check=1")] + [editor.get("/")]
    pages.append(begin(editor, start="file", text=f'"{HOSTILE_KEY}" = 1\n[[questions]]\nid = "{HOSTILE_KEY}"\n'))
    pages.append(send(editor, file, file, text=HOSTILE, version="1"))
    changing(editor, number, {"op": "set", "at": "twin.after", "value": "", "was": first})
    pages += [editor.get(publishing), send(editor, publishing, publishing, version="1")]
    assert [page.status_code for page in pages] == [200] * 5 + [422, 422, 200, 409]
    for page in pages:
        check_markup(page.text)
        policy = page.headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'") and "unsafe" not in policy
        assert page.headers["Cache-Control"] == "no-store"
    drawn = editor.get(f"/drafts/{number}/changes?since=0").get_json()["editor"]
    check_markup(drawn)
    assert "&lt;script&gt;" in drawn and "{{ 7 * 7 }}" in drawn


HOSTILE_KEY = f"<script>{SCRIPT}</script><img src=x onerror={SCRIPT}>"


def check_markup(html: str) -> None:
    """Only our own elements: scripts with an address, no pictures, and nothing that runs or styles in place."""
    assert "<img" not in html and not re.search(r"<script(?![^>]*\ssrc=)|<style", html)
    tags = re.findall(r"<[a-z][^<>]*>", re.sub(r'"[^"]*"', '""', re.sub(r"'[^'<>]*'", "''", html)))
    assert not [tag for tag in tags if re.search(r"\son\w+=|\sstyle=", tag)]
