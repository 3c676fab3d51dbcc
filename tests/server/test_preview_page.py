"""The preview of a draft: who may see it, what it shows, and what its frame may do."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from flask import Flask
from flask.testing import FlaskClient
from msgspec.structs import replace

from deniable_protocol import verify
from deniable_server import editing
from deniable_server.planning import publish_survey
from deniable_server.storage import Role
from tests.helpers.drafts import HOSTILE, hostile_tree, new_draft
from tests.helpers.servers import storage_of
from tests.helpers.sign_in import BROWSER, enter

TEXT = re.compile(r"<[^>]*>")


class Attributes(HTMLParser):
    """The attributes of each element of this name."""

    def __init__(self, html: str, name: str) -> None:
        super().__init__()
        self._name, self.found = name, list[dict[str, str | None]]()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == self._name:
            self.found.append(dict(attrs))


def in_frame(http: FlaskClient, address: str) -> dict[str, str | None]:
    """The attributes of the questionnaire in a frame."""
    response = http.get(address)
    assert response.status_code == 200
    (found,) = Attributes(response.text, "deniable-survey").found
    return found


@pytest.mark.parametrize("page", ["preview", "preview/frame"])
def test_only_editors_see_a_draft(http: FlaskClient, app: Flask, draft: int, page: str) -> None:
    """Strangers are asked to sign in, analysts are refused, editors and admins see it. No part of it gets out."""
    path = f"/drafts/{draft}/{page}"
    refused = http.get(path, headers=BROWSER)
    assert refused.status_code == 303 and refused.location.startswith("/sign-in") and "Campus" not in refused.text
    expected: dict[Role, int] = {"analyst": 403, "editor": 200, "admin": 200}
    for role, status in expected.items():
        enter(http, app, role)
        shown = http.get(path, headers=BROWSER)
        assert shown.status_code == status and ("Campus" in shown.text) == (status == 200), role
    assert http.get(f"/drafts/{draft % 10**9 + 1}/{page}").status_code == 404


def test_the_frame_can_connect_to_nothing(editor: FlaskClient, draft: int) -> None:
    """Its policy has no connect-src and lets only our own pages frame it. The page around may frame our own pages, and
    is framed by nobody. Both run only scripts of this server, and have none inline.
    """
    outer, inner = (editor.get(f"/drafts/{draft}/{page}") for page in ("preview", "preview/frame"))
    policies = [response.headers["Content-Security-Policy"] for response in (outer, inner)]
    assert "frame-src 'self'" in policies[0] and "frame-ancestors 'none'" in policies[0]
    assert "connect-src" not in policies[1] and "frame-src" not in policies[1]
    assert "frame-ancestors 'self'" in policies[1] and "form-action 'none'" in policies[1]
    for response, policy in zip((outer, inner), policies, strict=True):
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'") and "unsafe" not in policy
        assert response.headers["Cache-Control"] == "no-store"
        assert not re.search(r"<script(?![^>]*\ssrc=)|\son\w+=|\sstyle=|<style", response.text)


def test_the_frame_has_the_document_that_would_be_published(app: Flask, editor: FlaskClient, draft: int) -> None:
    """Byte for byte: what verifies and randomises there is what respondents will get."""
    found = storage_of(app).drafts.find(draft)
    assert found is not None
    asked = in_frame(editor, f"/drafts/{draft}/preview/frame")
    assert (asked["data-document"] or "").encode() == publish_survey(editing.survey_of(editing.read(found.content)))
    assert "src" not in asked, "nothing to load, should the script that makes the preview not arrive"


def test_the_frame_is_as_chosen(editor: FlaskClient, draft: int) -> None:
    """Language, booklet and screens; what the draft does not have is left out."""
    path = f"/drafts/{draft}/preview/frame"
    plain = in_frame(editor, path)
    assert plain["lang"] == "en" and "data-booklet" not in plain and "one-page" not in plain
    chosen = in_frame(editor, f"{path}?lang=es&booklet=3&screens=one-page&width=phone")
    assert chosen["lang"] == "es" and chosen["data-booklet"] == "3" and "one-page" in chosen
    for wrong in ("lang=xx&booklet=99", "booklet=-1", "booklet=1e0", "booklet=%d9%a1", "screens=kiosk&lang="):
        assert in_frame(editor, f"{path}?{wrong}") == plain, wrong


def test_the_page_lists_what_each_booklet_asks(app: Flask, editor: FlaskClient, draft: int) -> None:
    """Every booklet, with its questions and how likely it is; all languages; and that people are asked only some."""
    found = storage_of(app).drafts.find(draft)
    assert found is not None
    document = verify(publish_survey(editing.survey_of(editing.read(found.content))))
    page = editor.get(f"/drafts/{draft}/preview?lang=es&booklet=2&width=desktop").text
    rows = [row for row in re.findall(r"<tr>.*?</tr>", page, re.DOTALL) if "<td" in row]
    assert len(rows) == len(document.booklets) > 3
    total = sum(booklet.weight for booklet in document.booklets)
    for place, (row, booklet) in enumerate(zip(rows, document.booklets, strict=True)):
        assert all(question.text in TEXT.sub("", row) for question in document.asked(place))
        assert f"{100 * booklet.weight / total:.0f}%" in row
    for name in ("English", "Spanish"):
        assert f">{name}</option>" in page
    assert "Each person is asked only some of the 9 questions." in page
    selected = {option["value"] for option in Attributes(page, "option").found if "selected" in option}
    assert selected == {"es", "2", "desktop", "steps"}
    (frame,) = Attributes(page, "iframe").found
    assert frame["src"] == f"/drafts/{draft}/preview/frame?lang=es&booklet=2&screens=steps"


def test_one_booklet_is_no_choice(app: Flask, editor: FlaskClient) -> None:
    """Where everybody is asked everything, the page says so, and offers no booklet and no language."""
    question = {"type": "yes_no", "text": "Well?", "epsilon": 1.0}
    tree = {"id": "all", "title": "All", "questions": [{"id": "a", **question}, {"id": "b", **question}]}
    page = editor.get(f"/drafts/{new_draft(storage_of(app), tree)}/preview").text
    assert "Everybody is asked all 2 questions" in page
    assert 'name="booklet"' not in page and 'name="lang"' not in page


def test_a_draft_that_is_not_complete_says_what_is_missing(app: Flask, editor: FlaskClient) -> None:
    """In words, with a way back to the editor, on the page and in the frame; there is nothing to fill in."""
    number = storage_of(app).drafts.create(editing.write(editing.Sketch()))
    for page, said in (("preview", "It can be shown once these are done:"), ("preview/frame", "not complete yet")):
        shown = editor.get(f"/drafts/{number}/{page}")
        assert shown.status_code == 200 and said in shown.text
        assert "Add at least one question." in shown.text and f'href="/drafts/{number}"' in shown.text
        assert "<iframe" not in shown.text and "<deniable-survey" not in shown.text


def test_what_is_missing_is_said_of_its_question(app: Flask, editor: FlaskClient) -> None:
    """Number and kind as the editor calls it, on the page and in the panel, with a way to its field."""
    sketch = editing.Sketch(languages=["en"], epsilon="2")
    sketch.texts["title"] = {"en": "T"}
    sketch.questions = [editing.new_item("yes_no"), editing.new_item("choice")]
    sketch.questions[0].text = {"en": "Well?"}
    sketch.segments = [editing.new_item("segment")]
    number = storage_of(app).drafts.create(editing.write(sketch))
    page, panel = editor.get(f"/drafts/{number}/preview").text, editor.get(f"/drafts/{number}/plan").text
    second, group = sketch.questions[1].key, sketch.segments[0].key
    assert '<li dir="auto">Question 2: Write the question.</li>' in page
    assert "Group question 1: Write the question." in page and f'href="/drafts/{number}?check=1"' in page
    assert f'<a href="#f-{second}.answers:en">Question 2: Give this question at least two answers.</a>' in panel
    assert f'<a href="#f-{group}.answers:en">Group question 1: ' in panel and "Question 1: Write" not in panel.replace(
        "Group question 1", ""
    )


def test_invitations_are_left_out(app: Flask, editor: FlaskClient) -> None:
    """Nobody can have one yet: the preview does not ask for one, and says so."""
    number = new_draft(storage_of(app), invitations=True)
    found = storage_of(app).drafts.find(number)
    assert found is not None and editing.survey_of(editing.read(found.content)).invitations
    assert "The preview and the test run do not ask for one." in editor.get(f"/drafts/{number}/preview").text
    document = verify(in_frame(editor, f"/drafts/{number}/preview/frame")["data-document"] or "")
    assert document.issuer is None
    assert document.survey == replace(
        verify(publish_survey(editing.survey_of(editing.read(found.content)))).survey, invitations=False
    )


def test_hostile_texts_stay_texts(app: Flask, editor: FlaskClient) -> None:
    """No text of a draft becomes an element or an attribute, on the page or in the frame."""
    number = new_draft(storage_of(app), hostile_tree())
    for page in ("preview", "preview/frame"):
        shown = editor.get(f"/drafts/{number}/{page}").text
        assert "&lt;script&gt;" in shown and "<script>" not in shown and "{{" in shown
        for element in ("script", "img", "svg", "iframe", "deniable-survey"):
            assert not any("onerror" in found for found in Attributes(shown, element).found)
        assert not Attributes(shown, "img").found
    document = verify(in_frame(editor, f"/drafts/{number}/preview/frame")["data-document"] or "")
    assert document.survey.title == HOSTILE
