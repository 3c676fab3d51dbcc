"""Trying a draft: a preview, which sends nothing, and a test run, whose answers are kept apart until it ends.

The preview is the real questionnaire in a frame. The frame has the document in its page, and a policy that lets it
connect to nothing. Only a script of that page makes a preview of the questionnaire: no address of /s/ does. A test run
is a survey of its own with a random id.

May not: change a draft.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from msgspec.structs import replace

from deniable_protocol import Document, Survey, SurveyError, verify
from deniable_server import editing
from deniable_server.editing import Sketch
from deniable_server.editing.languages import language_name
from deniable_server.errors import SurveyDiffers
from deniable_server.planning import publish_survey
from deniable_server.web.context import compute, here

from .drafts import find_draft
from .layout import POLICY, as_page, holder, page, shown_to
from .qr_code import Code, svg_code
from .respondent import page_texts

preview = Blueprint("preview", __name__, template_folder="templates")

OUTER_POLICY = f"{POLICY}; frame-src 'self'"
FRAME_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
"""Without connect-src: whatever a draft contains, nothing of a preview is sent."""

WIDTHS = {"phone": "Phone", "desktop": "Desktop"}
SCREENS = {"steps": "Step by step", "one-page": "All on one page"}


class Booklet(NamedTuple):
    """The questions that one device is asked, and how likely that is."""

    number: int
    chance: str
    questions: list[str]


@dataclass(frozen=True)
class TestRun:
    """A test run as it is shown. ``changed``: the draft is another survey by now."""

    id: str
    link: str
    code: Code
    answers: int
    changed: bool


@dataclass(frozen=True)
class Choice:
    """How the questionnaire is shown. ``booklet``: None where one is drawn, as for each respondent."""

    lang: str
    booklet: int | None
    screens: str
    width: str


def survey_to_try(sketch: Sketch) -> Survey:
    """The survey of a draft as it is shown and tested: without invitations, which nobody can have yet."""
    return replace(editing.survey_of(sketch), invitations=False)


@preview.get("/drafts/<int:number>/preview")
@shown_to("editor")
def show(number: int) -> ResponseReturnValue:
    draft = find_draft(number)
    sketch = editing.read(draft.content)
    try:
        document = verify(_published(sketch))
    except SurveyError as error:
        faults, run = _faults(sketch, error), _test_run(number, None)
        response = page("preview.html", draft=draft, sketch=sketch, faults=faults, run=run)
    else:
        response = page(
            "preview.html",
            draft=draft,
            sketch=sketch,
            faults=[],
            languages=[(tag, language_name(tag)) for tag in document.survey.languages],
            booklets=booklets_of(document),
            total=len(document.survey.questions),
            widths=WIDTHS,
            screens=SCREENS,
            chosen=_chosen(document),
            invited=sketch.invitations,
            run=_test_run(number, document),
        )
    response.headers["Content-Security-Policy"] = OUTER_POLICY
    return response


@preview.get("/drafts/<int:number>/preview/frame")
@shown_to("editor")
def frame(number: int) -> ResponseReturnValue:
    sketch = editing.read(find_draft(number).content)
    shown = {"editor": url_for("drafts.edit", number=number), "faults": [], "logo": here().logo, **page_texts([])}
    try:
        raw = _published(sketch)
    except SurveyError as error:
        shown |= {"faults": _faults(sketch, error), "document": None}
    else:
        document = verify(raw)
        shown |= {"document": document, "chosen": _chosen(document), "published": raw.decode()}
    response = as_page(render_template("preview-frame.html", **shown))
    response.headers["Content-Security-Policy"] = FRAME_POLICY
    return response


@preview.post("/drafts/<int:number>/test")
@shown_to("editor")
def start(number: int) -> ResponseReturnValue:
    """A new test run; the answers of an earlier one are deleted."""
    sketch = editing.read(find_draft(number).content)
    with suppress(SurveyDiffers):  # somebody else has just started one: both go on with that
        here().start_test_run(number, survey_to_try(sketch), holder())
    return _back(number)


@preview.post("/drafts/<int:number>/test/end")
@shown_to("editor")
def end(number: int) -> ResponseReturnValue:
    here().end_test_run(find_draft(number).number, holder())
    return _back(number)


def _back(number: int) -> ResponseReturnValue:
    return redirect(url_for("preview.show", number=number, _anchor="testing"), 303)


def _test_run(number: int, document: Document | None) -> TestRun | None:
    """The test run of a draft, compared with what the draft would publish now."""
    found = here().storage.test_run(number)
    if found is None:
        return None
    tested = found.document.survey
    # Kiosk: the same device can answer again and again.
    address = url_for("respondent.survey_page", survey=tested.id, kiosk="", _external=True)
    link = f"{address.removesuffix('=')}#{found.document.digest}"
    changed = document is None or replace(document.survey, id=tested.id) != tested
    return TestRun(tested.id, link, svg_code(link), here().storage.state(found).submissions, changed)


def booklets_of(document: Document) -> list[Booklet]:
    """Every booklet of a survey, with how likely a device is to draw it."""
    total = sum(booklet.weight for booklet in document.booklets)
    return [
        Booklet(place, f"{100 * each.weight / total:.0f}%", [question.text for question in document.asked(place)])
        for place, each in enumerate(document.booklets)
    ]


def _published(sketch: Sketch) -> bytes:
    return compute(publish_survey, survey_to_try(sketch))


def _faults(sketch: Sketch, error: SurveyError) -> list[str]:
    return [editing.with_place(sketch, fault) for fault in editing.faults_of(sketch, error)]


def _chosen(document: Document) -> Choice:
    """What the address asks for, as far as the draft has it."""
    asked, languages = request.args, document.survey.languages
    lang, place = asked.get("lang", ""), asked.get("booklet", "")
    known = {str(number): number for number in range(len(document.booklets))}
    screens, width = asked.get("screens", ""), asked.get("width", "")
    return Choice(
        lang if lang in languages else next(iter(languages), ""),
        known.get(place),
        screens if screens in SCREENS else "steps",
        width if width in WIDTHS else "phone",
    )
