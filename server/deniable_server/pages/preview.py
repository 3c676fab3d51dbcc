"""What a draft will look like: the real questionnaire in a frame that sends nothing.

The frame has the document in its page, and a policy that lets it connect to nothing. Only a script of that page makes a
preview of the questionnaire: no address of /s/ does.

May not: publish, or change a draft.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue
from msgspec.structs import replace

from deniable_protocol import Document, Survey, SurveyError, verify
from deniable_server import editing
from deniable_server.editing.faults import language_name
from deniable_server.planning import publish_survey
from deniable_server.storage.drafts import Draft
from deniable_server.web.context import compute, here

from .drafts import find_draft
from .layout import POLICY, as_page, page, shown_to
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
class Choice:
    """How the questionnaire is shown. ``booklet``: None where one is drawn, as for each respondent."""

    lang: str
    booklet: int | None
    screens: str
    width: str


def survey_to_try(draft: Draft) -> Survey:
    """The survey of a draft as it is shown and tested: without invitations, which nobody can have yet."""
    return replace(editing.survey_in(draft.content), invitations=False)


@preview.get("/drafts/<int:number>/preview")
@shown_to("editor")
def show(number: int) -> ResponseReturnValue:
    draft = find_draft(number)
    try:
        document = _document(draft)
    except SurveyError as error:
        response = page("preview.html", number=number, editor=_editor(number), faults=_faults(draft, error))
    else:
        chosen = _chosen(document)
        response = page(
            "preview.html",
            number=number,
            editor=_editor(number),
            faults=[],
            title=document.survey.title,
            languages=[(tag, language_name(tag)) for tag in document.survey.languages],
            booklets=booklets_of(document),
            total=len(document.survey.questions),
            widths=WIDTHS,
            screens=SCREENS,
            chosen=chosen,
            invited=editing.survey_in(draft.content).invitations,
        )
    response.headers["Content-Security-Policy"] = OUTER_POLICY
    return response


@preview.get("/drafts/<int:number>/preview/frame")
@shown_to("editor")
def frame(number: int) -> ResponseReturnValue:
    draft = find_draft(number)
    shown = {"editor": _editor(number), "faults": [], "logo": here().logo, **page_texts([])}
    try:
        raw = _published(draft)
    except SurveyError as error:
        shown |= {"faults": _faults(draft, error), "document": None}
    else:
        document = verify(raw)
        shown |= {"document": document, "chosen": _chosen(document), "published": raw.decode()}
    response = as_page(render_template("preview-frame.html", **shown))
    response.headers["Content-Security-Policy"] = FRAME_POLICY
    return response


def booklets_of(document: Document) -> list[Booklet]:
    """Every booklet of a survey, with how likely a device is to draw it."""
    total = sum(booklet.weight for booklet in document.booklets)
    return [
        Booklet(place, f"{100 * each.weight / total:.0f}%", [question.text for question in document.asked(place)])
        for place, each in enumerate(document.booklets)
    ]


def _published(draft: Draft) -> bytes:
    return compute(publish_survey, survey_to_try(draft))


def _document(draft: Draft) -> Document:
    return verify(_published(draft))


def _faults(draft: Draft, error: SurveyError) -> list[str]:
    return [fault.sentence for fault in editing.faults_of(editing.read(draft.content), error)]


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


def _editor(number: int) -> str:
    return f"{request.script_root}/drafts/{number}"
