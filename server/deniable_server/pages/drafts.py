"""The editor: surveys that are being written, from the first question to publishing.

The page is rendered here, and a little JavaScript sends each change as it is typed. A change that comes twice counts
once, and one that meets somebody else's change overwrites nothing (``editing``).
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any, TypeVar

from flask import Blueprint, redirect, request, url_for
from flask.typing import ResponseReturnValue
from markupsafe import Markup
from msgspec import DecodeError, Struct
from msgspec.json import Decoder, encode
from werkzeug.exceptions import RequestEntityTooLarge

from deniable_protocol import Problem, Survey, SurveyError, survey_from_tree
from deniable_protocol.checks import document_json
from deniable_protocol.document import MAX_BYTES
from deniable_protocol.questions import QUESTIONS
from deniable_protocol.survey import MAX_LENGTH
from deniable_server import editing
from deniable_server.analysis.labels import titles
from deniable_server.editing.changes import value_at
from deniable_server.editing.languages import LANGUAGES, language_name
from deniable_server.editing.sketch import SEGMENT, Item, Sketch, has_answers
from deniable_server.editing.templates import TEMPLATES, template
from deniable_server.editing.trees import answers_of, can_decline, measure_of
from deniable_server.errors import DraftChanged, Kind, Refusal, SurveyDiffers, Unavailable
from deniable_server.planning import live_plan, plan_survey, what_would_help
from deniable_server.planning.live import RECOMMENDED, STOPS
from deniable_server.planning.words import (
    DESIGNS,
    chance,
    change_found,
    follow_ups_in_words,
    points,
    rotation_in_words,
    short,
    shuffled_in_words,
    waves_in_words,
    within,
)
from deniable_server.storage.drafts import Draft
from deniable_server.web.auth import may_edit
from deniable_server.web.context import as_json, compute, find, here
from deniable_server.wording import SUPPOSE

from .layout import holder, page, render, shown_to

T = TypeVar("T")

drafts = Blueprint("drafts", __name__, template_folder="templates")

COMPARED = ("booklets", "split", "laplace", "gaussian", "curator", "open")
"""The other designs that the plan of a survey is compared with."""
MOST_CHARACTERS = 2 * MAX_LENGTH
"""In a draft, as it is stored. A survey file has half of that at most."""
ALREADY = (
    'This very survey is already published at <a href="{}">this address</a>. To publish it once more, give the draft '
    "another address in the editor. If you do not need the draft any more, delete it."
)
MOST_TRIES = 50
"""How often a change is tried again because somebody else was faster."""
TYPES = {
    "yes_no": "Yes or no",
    "choice": "One of several answers",
    "multi_choice": "Several answers at once",
    "scale": "Scale",
    "number": "Number",
}
assert TYPES.keys() == QUESTIONS.keys()

_CHANGES = Decoder(list[editing.Change])


class _Outdated(Exception):
    """The draft has changed while something was computed for it."""


class Changed(Struct):
    """What a browser learns after its changes: the version that they made, what is still wrong, by field, and how many
    texts are missing in each language. ``refused`` says of a change, by its id, why it cannot be made. ``by`` changed
    the draft last. ``panel`` are the fields beside the questions, and ``editor`` is the page's own part, where it has
    to be drawn again.
    """

    version: int
    title: str
    faults: dict[str, str]
    missing: dict[str, int]
    conflicts: list[editing.Conflict]
    refused: dict[str, str]
    by: str
    panel: dict[str, str]
    editor: str | None = None


# --- beginning --------------------------------------------------------------------------------------------------------


@drafts.get("/surveys/new")
@shown_to("editor")
def new() -> ResponseReturnValue:
    return _beginning()


@drafts.post("/surveys/new")
@shown_to("editor")
def begin() -> ResponseReturnValue:
    """A draft from nothing, from a template, or from a file."""
    start = request.form.get("start", "")
    try:
        if start == "file":
            sketch = editing.from_file(_file_text())
        elif start in (name for name, *_ in TEMPLATES):
            sketch = editing.from_file(template(start))
            sketch.id = ""  # each survey gets its own, from its title
        else:
            sketch = Sketch(languages=["en"], epsilon=RECOMMENDED)
    except SurveyError as error:
        return _beginning(error.problems, request.form.get("text", ""))
    return _begun(sketch)


@drafts.post("/surveys/<survey>/copy")
@shown_to("editor")
def copy(survey: str) -> ResponseReturnValue:
    """A draft with everything that a published survey has, but its address."""
    sketch = editing.from_tree(document_json(find(survey).raw.decode())["survey"])
    expected = next((each.expected for each in here().storage.surveys() if each.id == survey), None)
    sketch.id, sketch.respondents = "", str(expected or "")
    return _begun(sketch)


def _beginning(problems: Sequence[Problem] = (), text: str = "") -> ResponseReturnValue:
    return page("draft-new.html", 422 if problems else 200, templates=TEMPLATES, problems=problems, text=text)


def _begun(sketch: Sketch) -> ResponseReturnValue:
    token = holder()
    sketch.by = token.label
    number = here().storage.drafts.create(_written(sketch), token.id)
    here().events.did("draft-made", token, draft=str(number))
    return redirect(url_for("drafts.edit", number=number), 303)


def _file_text() -> str:
    """The file that was chosen, or else what was typed."""
    file = request.files.get("file")
    if file is None or not file.filename:
        return request.form.get("text", "").replace("\r\n", "\n")
    raw = file.stream.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise RequestEntityTooLarge
    try:
        return raw.removeprefix(codecs.BOM_UTF8).decode().replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise SurveyError([Problem("", "encoding", "the file is not text in UTF-8")]) from None


# --- editing ----------------------------------------------------------------------------------------------------------


@drafts.get("/drafts/<int:number>")
@shown_to("editor")
def edit(number: int) -> ResponseReturnValue:
    draft = find_draft(number)
    sketch = editing.read(draft.content)
    return page(
        "draft.html",
        draft=draft,
        sketch=sketch,
        faults=encode(dict(editing.faults_in(sketch))).decode(),  # in their order, which Jinja's tojson does not keep
        stops=STOPS,
        checking=request.args.get("check") == "1",
        **_drawing(sketch),
    )


@drafts.get("/drafts/<int:number>/changes")
@shown_to("editor")
def changed(number: int) -> ResponseReturnValue:
    """What others did since the version that the browser has; 204 where that is nothing."""
    draft = find_draft(number)
    if request.args.get("since") == str(draft.version):
        return "", 204
    return as_json(_changed(draft, editing.read(draft.content), [], {}, draw=True))


@drafts.post("/drafts/<int:number>/changes")
@shown_to("editor")
def change(number: int) -> ResponseReturnValue:
    """Make these changes, in their order. One that cannot be made keeps no other from being made."""
    try:
        changes = _CHANGES.decode(request.form.get("changes", ""))
    except (DecodeError, RecursionError):  # the second, of what is nested deeply
        raise Refusal(Kind.BAD_PARAMETER, "These are no changes to a draft.") from None
    by = holder().label
    conflicts: list[editing.Conflict] = []
    refused: dict[str, str] = {}

    def made(sketch: Sketch) -> None:
        conflicts.clear()
        refused.clear()
        for each in changes:
            try:
                found = editing.apply(sketch, each, by)
            except editing.BadChange as error:
                refused[each.id] = str(error)
            else:
                conflicts.extend([found] if found else [])

    before, draft, sketch = _save(number, made)
    seen = request.form.get("version", "")
    draw = request.form.get("draw") == "1" or seen != str(before) or bool(refused)
    return as_json(_changed(draft, sketch, conflicts, refused, draw=draw))


@drafts.get("/drafts/<int:number>/plan")
@shown_to("editor")
def live(number: int) -> ResponseReturnValue:
    """What the survey will be able to show: the part of the page beside the questions. With ``help=1`` also what would
    make it better, which takes longer: the page asks for that when nobody types. 204 where somebody has changed the
    draft meanwhile: new figures come first.
    """
    draft = find_draft(number)
    sketch = editing.read(draft.content)

    def ask(function: Callable[..., T], *given: object) -> T:
        if find_draft(number).version != draft.version:
            raise _Outdated
        return compute(function, *given)

    try:
        survey = editing.survey_to_plan(sketch)
        plan = compute(live_plan, survey, survey.respondents)
        helped = what_would_help(survey, survey.respondents, ask) if request.args.get("help") == "1" else None
    except SurveyError as error:
        faults = [(fault.at, editing.with_place(sketch, fault)) for fault in editing.faults_of(sketch, error)]
        return page("draft-no-plan.html", faults=faults, started=bool(sketch.questions), stops=STOPS, suppose=SUPPOSE)
    except _Outdated:
        return "", 204
    fields = [f"{item.key}.text:{sketch.tags[0]}" for item in sketch.questions]
    return page("draft-plan.html", plan=plan, fields=fields, stops=STOPS, help=helped)


@drafts.get("/drafts/<int:number>/file")
@shown_to("editor")
def file(number: int) -> ResponseReturnValue:
    draft = find_draft(number)
    sketch = editing.read(draft.content)
    return _file(draft, sketch, editing.to_toml(sketch))


@drafts.post("/drafts/<int:number>/file")
@shown_to("editor")
def take_file(number: int) -> ResponseReturnValue:
    """Replace all of a draft with what is in a file. Refused where somebody has changed the draft meanwhile."""
    draft = find_draft(number)
    sketch, text, seen = editing.read(draft.content), request.form.get("text", ""), request.form.get("version", 0, int)
    try:
        text = _file_text()
        taken = editing.from_file(text)
    except SurveyError as error:
        return _file(replace(draft, version=seen), sketch, text, error.problems)
    taken = editing.replace(sketch, taken, holder().label)
    if seen != draft.version or not here().storage.drafts.save(number, _written(taken, draft.content), seen):
        draft = find_draft(number)
        message = f"{sketch.by or 'Somebody'} has changed the draft since you opened this page. Your text is below."
        return _file(draft, sketch, text, [Problem("", "conflict", f"{message} Apply it again to replace theirs")])
    return redirect(url_for("drafts.edit", number=number), 303)


@drafts.post("/drafts/<int:number>/delete")
@shown_to("editor")
def delete(number: int) -> ResponseReturnValue:
    draft = find_draft(number)
    here().storage.drafts.delete(number)
    here().drop_test_run(number, holder())
    here().events.did("draft-deleted", holder(), draft=str(draft.number))
    return redirect(url_for("surveys.index"), 303)


# --- publishing -------------------------------------------------------------------------------------------------------


@drafts.get("/drafts/<int:number>/publish")
@shown_to("editor")
def ask_to_publish(number: int) -> ResponseReturnValue:
    """The whole plan, before the last step."""
    draft = find_draft(number)
    sketch = editing.read(draft.content)
    if editing.faults_in(sketch):
        return redirect(url_for("drafts.edit", number=number, check=1), 303)
    return _plan(draft, sketch)


@drafts.post("/drafts/<int:number>/publish")
@shown_to("editor")
def publish(number: int) -> ResponseReturnValue:
    """Publish what was looked at. Of two who do it at once, or of two clicks, one does, and both see the survey."""
    try:
        draft = find_draft(number)
    except Refusal:
        becomes = request.form.get("survey", "")
        if here().storage.find(becomes) is None:
            raise
        return redirect(url_for("surveys.sharing", survey=becomes), 303)
    sketch = editing.read(draft.content)
    if str(draft.version) != request.form.get("version"):
        return _plan(draft, sketch, f"{sketch.by or 'Somebody'} has changed the draft since. Look again.")
    try:
        survey = survey_from_tree(editing.to_tree(sketch, _ids()))
        if here().publish(survey, holder(), draft):
            return redirect(url_for("surveys.sharing", survey=survey.id, new=1), 303)
        problem = Markup(ALREADY).format(url_for("surveys.sharing", survey=survey.id))  # noqa: S704 -- our own words
    except SurveyDiffers:
        problem = Markup("Another survey has this address already. Choose another one in the editor.")
    except DraftChanged:
        return publish(number)
    except SurveyError:
        return redirect(url_for("drafts.edit", number=number, check=1), 303)
    if here().storage.drafts.find(number) is None:  # it was published just now: that is the other survey
        return publish(number)
    return _plan(draft, sketch, problem)


def _plan(draft: Draft, sketch: Sketch, problem: str = "") -> ResponseReturnValue:
    try:
        survey: Survey = survey_from_tree(editing.to_tree(sketch, _ids()))
        plan = compute(plan_survey, survey)
    except SurveyError:
        return redirect(url_for("drafts.edit", number=draft.number, check=1), 303)
    called = titles(survey)
    return page(
        "plan.html",
        409 if problem else 200,
        draft=draft,
        sketch=sketch,
        problem=problem,
        placeholders=editing.placeholders(sketch),
        survey=survey,
        called=called.__getitem__,
        languages=[language_name(tag) for tag in sketch.languages],
        plan=plan,
        others=[(*DESIGNS[other.design], other) for other in plan.alternatives if other.design in COMPARED],
        shuffled=shuffled_in_words(plan),
        follow_ups=follow_ups_in_words(plan),
        chance=chance,
        change_found=change_found,
        points=points,
        rotation_in_words=rotation_in_words,
        short=short,
        waves_in_words=waves_in_words,
        within=within,
    )


def _ids() -> list[str]:
    return [survey.id for survey in here().storage.surveys()]


# --- what they share --------------------------------------------------------------------------------------------------


def find_draft(number: int) -> Draft:
    """The draft of this number. Refusal where there is none: it may have been published or deleted."""
    draft = here().storage.drafts.find(number)
    if draft is None or not may_edit(holder(), draft.maker):
        raise Refusal(Kind.NOT_FOUND, "There is no such draft. It may have been published, or deleted.")
    return draft


def _save(number: int, made: Callable[[Sketch], None]) -> tuple[int, Draft, Sketch]:
    """Change a draft, whatever others do at the same time: the version before, the draft, and its sketch."""
    for _ in range(MOST_TRIES):
        draft = find_draft(number)
        sketch = editing.read(draft.content)
        made(sketch)
        content = _written(sketch, draft.content)
        if content == draft.content:
            return draft.version, draft, sketch
        if here().storage.drafts.save(number, content, draft.version):
            return draft.version, replace(draft, content=content, version=draft.version + 1), sketch
    raise Unavailable("Too many people change this draft at this moment. Try again.")


def _written(sketch: Sketch, before: str = "") -> str:
    """The content of a draft. Refusal where it has become too long."""
    content = editing.write(sketch)
    if len(content) > max(MOST_CHARACTERS, len(before)):
        raise Refusal(Kind.TOO_LARGE, "The draft has become too long.")
    return content


def _changed(
    draft: Draft, sketch: Sketch, conflicts: list[editing.Conflict], refused: dict[str, str], *, draw: bool
) -> Changed:
    return Changed(
        draft.version,
        sketch.title,
        dict(editing.faults_in(sketch)),
        {tag: sketch.missing(tag) for tag in sketch.tags},
        conflicts,
        refused,
        sketch.by,
        {"epsilon": sketch.epsilon, "respondents": sketch.respondents},
        render("draft-editor.html", sketch=sketch, **_drawing(sketch)) if draw else None,
    )


def _drawing(sketch: Sketch) -> dict[str, Any]:
    """What the editor's own template needs."""
    offer_answers = {item.key for item in sketch.questions if answers_of(sketch, item)}

    def depends_on(item: Item) -> list[tuple[int, Item]]:
        """The questions before this one whose answers it can depend on, with their numbers."""
        before = takewhile(lambda each: each is not item, sketch.questions)
        return [(number, each) for number, each in enumerate(before, 1) if each.key in offer_answers]

    return {
        "types": TYPES,
        "segment": SEGMENT,
        "languages": LANGUAGES,
        "language_name": language_name,
        "value": lambda at: value_at(sketch, at),
        "answers_of": lambda item: answers_of(sketch, item),
        "depends_on": depends_on,
        "has_answers": has_answers,
        "can_decline": can_decline,
        "measure_of": measure_of,
    }


def _file(draft: Draft, sketch: Sketch, text: str, problems: Sequence[Problem] = ()) -> ResponseReturnValue:
    return page("draft-file.html", 422 if problems else 200, draft=draft, sketch=sketch, text=text, problems=problems)
