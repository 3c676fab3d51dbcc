"""What is still wrong with a sketch, in words, each beside its field.

The checks are those of every survey file (``deniable_protocol``). Here a place in a file becomes a field of the editor,
and a reason becomes a sentence for people who have never seen a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from deniable_protocol import Problem, SurveyError, survey_from_tree
from deniable_protocol.survey import MAX_QUESTIONS, MAX_SEGMENTS
from deniable_server.planning import check_size

from .languages import language_name
from .sketch import SEGMENT, TEXTS, Item, Sketch, has_answers
from .trees import answers_of, to_tree


class Fault(NamedTuple):
    """A sentence, and the field that it belongs to (as in ``changes.value_at``)."""

    at: str
    sentence: str


def faults_in(sketch: Sketch) -> list[Fault]:
    """Everything that keeps a sketch from being a survey, in the order of the fields. One sentence for each field."""
    try:
        check_size(survey_from_tree(to_tree(sketch)))
    except SurveyError as error:
        return faults_of(sketch, error)
    return [*_same_answers(sketch)]


def _same_answers(sketch: Sketch) -> Iterator[Fault]:
    """A survey may have two answers with the same text, but nobody who sees them can choose between them."""
    for item in filter(has_answers, sketch.items):
        for tag in sketch.tags:
            first: dict[str, int] = {}
            for number, answer in enumerate(item.answers, 1):
                before = first.setdefault(answer.text.get(tag, "").strip(), number)
                if before != number:
                    yield Fault(f"{item.key}.answers:{tag}", f"Answers {before} and {number} are the same.")
                    break


def faults_of(sketch: Sketch, error: SurveyError) -> list[Fault]:
    """What this error is about, such as one that only planning finds."""
    first: dict[str, Fault] = {}
    for fault in (_fault(sketch, problem) for problem in error.problems):
        first.setdefault(fault.at, fault)
    # A text that is not written at all is missing once, not once in each language.
    unwritten = {at.removesuffix(f":{sketch.tags[0]}") for at in first if at.endswith(f":{sketch.tags[0]}")}
    others = {f"{field}:{tag}" for field in unwritten for tag in sketch.tags[1:]}
    return [fault for at, fault in first.items() if at not in others]


def with_place(sketch: Sketch, fault: Fault) -> str:
    """The sentence, after the question or the text that it is about, as the editor calls it."""
    key, _, field = fault.at.partition(".")
    if fault.at.partition(":")[0] in _NAMES:
        return f"{_NAMES[fault.at.partition(':')[0]]}: {fault.sentence}"
    for name, items in (("Question", sketch.questions), ("Group question", sketch.segments)):
        for number, item in enumerate(items, 1):
            if item.key == key:
                unit = ", unit" if field.startswith("unit") else ""
                return f"{name} {number}{unit}: {fault.sentence}"
    return fault.sentence


_NAMES = {
    "title": "Title",
    "asked_by": "Who asks",
    "contact": "Contact",
    "notice": "Introduction",
    "closing": "Thank-you text",
}
"""What the editor calls the texts of a survey."""


def _fault(sketch: Sketch, problem: Problem) -> Fault:
    place = re.fullmatch(r"(segments|questions)\[(\d+)\](?:\.(.*))?", problem.place)
    if place is None:
        return _of_survey(sketch, problem)
    item = (sketch.segments if place[1] == "segments" else sketch.questions)[int(place[2])]
    return _of_item(sketch, item, place[3] or "", problem)


def placeholders(sketch: Sketch) -> list[tuple[str, str]]:
    """What still is in [brackets], as a template has it where one writes something of one's own; each with its field.

    A survey may have brackets, so this is no fault.
    """
    texts = [(name, sketch.texts.get(name, {})) for name in TEXTS]
    for item in sketch.items:
        texts.append((f"{item.key}.text", item.text))
        if has_answers(item):
            texts += [(f"{item.key}.answers", answer.text) for answer in item.answers]
    return [
        (f"{field}:{tag}", found)
        for field, text in texts
        for tag in sketch.tags
        for found in re.findall(r"\[[^\[\]\n]+\]", text.get(tag, ""))
    ]


# --- the survey itself ------------------------------------------------------------------------------------------------

_SURVEY = {
    "title": "Give the survey a title.",
    "epsilon": "Choose how well people are protected: ε is a number from 0.01 to 10, with at most 4 decimals.",
    "respondents": "Give a whole number of people, such as 300.",
    "id": "Use 2 to 63 small letters, digits and hyphens for the address, and begin with a letter or digit.",
    "languages": "Choose a language.",
    "asked_by": "Say who asks, in one line.",
    "contact": "Say how people can reach you, in one line.",
    "notice": "Write the introduction.",
    "closing": "Write what people see after they have answered.",
}


def _of_survey(sketch: Sketch, problem: Problem) -> Fault:
    field, _, rest = problem.place.partition(".")
    name = field.partition("[")[0]
    if name in ("title", "asked_by", "contact", "notice", "closing"):
        tag = rest or sketch.tags[0]
        return Fault(f"{name}:{tag}", _in_language(sketch, tag, problem) or _SURVEY[name])
    if name == "questions":
        return Fault("questions", _number_of_questions(sketch, problem))
    if name == "segments":
        if problem.reason == "size":
            found = re.search(r"make ([\d,]+) combinations .* may be ([\d,]+)", problem.message)
            many, most = found.groups() if found else ("too many", "10,000")
            sentence = f"Together the group questions have {many} combinations of answers, and {most} are possible."
            return Fault("segments", f"{sentence} Remove one, or give one fewer answers.")
        return Fault("segments", f"A survey has at most {MAX_SEGMENTS} questions that are sent as they are.")
    if name == "together":
        return Fault("together", _together(sketch, problem))
    return Fault(name, _SURVEY.get(name, _sentence(problem.message)))


def _number_of_questions(sketch: Sketch, problem: Problem) -> str:
    if not sketch.questions:
        return "Add at least one question."
    if len(sketch.questions) > MAX_QUESTIONS:
        return f"A survey has at most {MAX_QUESTIONS} questions."
    return _sentence(problem.message)


def _together(sketch: Sketch, problem: Problem) -> str:
    if problem.place == "together":
        if problem.reason == "conflict":
            return "To compare questions, choose one ε for the whole survey. The questions of this one have their own."
        return "That is too many: ask for fewer comparisons."
    if problem.reason == "paths":
        return f"{_combinations(problem)} Compare fewer questions at once, or give them fewer answers."
    if problem.reason == "unknown":
        return "One of the questions that you want to compare was deleted. Remove that comparison."
    if problem.reason == "conflict":
        return "Only questions that are counted answer by answer can be compared, not averages."
    return "Choose two different questions, or three."


# --- questions and segments -------------------------------------------------------------------------------------------


def _of_item(sketch: Sketch, item: Item, place: str, problem: Problem) -> Fault:
    field, _, rest = place.partition(".")
    name = re.split(r"[.\[]", field)[0]
    if name == "text":
        tag = rest or sketch.tags[0]
        return Fault(f"{item.key}.text:{tag}", _in_language(sketch, tag, problem) or "Write the question.")
    if name in ("options", "labels"):
        return _of_answers(sketch, item, field, rest, problem)
    if name in _ONLY_IN_FILES:
        return Fault(f"{item.key}.type", _ONLY_IN_FILES[name])
    if name == "unit":
        tag = rest or sketch.tags[0]
        return Fault(f"{item.key}.unit:{tag}", _in_language(sketch, tag, problem) or "Write the unit.")
    if name == "show_if":
        parent = sketch.find(item.after)
        offered = parent is not None and bool(answers_of(sketch, parent))
        unchosen = offered and problem.reason not in _DEPENDS and problem.reason != "paths"
        return Fault(f"{item.key}.{'among' if unchosen else 'after'}", _depends(sketch, problem))
    return Fault(f"{item.key}.{name}", _ITEM.get(name) or _sentence(problem.message))


_ITEM = {
    "id": "Use up to 41 small letters, digits and _ for the name, begin with a letter, and use no name twice.",
    "min": "Give the smallest possible answer, as a number.",
    "max": "Give the largest possible answer, as a number above the smallest.",
    "bins": "Give the limits between the ranges in their order, such as 10, 20, 50. They lie between the smallest and "
    "the largest answer.",
    "decline": "“Prefer not to say” is not possible here: an average needs a number from everybody.",
    "price": "A price is 0 or more: the smallest answer must not be below 0.",
    "type": "Choose a type.",
}


_ONLY_IN_FILES = {
    "epsilon": "Either the survey has an ε, or each question has its own. Correct this in the file.",
    "mechanism": "The mechanism that the file names does not go with this type. Correct this in the file.",
    "delta": "The δ that the file names does not go with this question. Correct this in the file.",
}
"""Fields that the editor does not show."""


def _of_answers(sketch: Sketch, item: Item, field: str, rest: str, problem: Problem) -> Fault:
    main = f"{item.key}.answers:{sketch.tags[0]}"
    place = re.fullmatch(r"(?:options|labels)\[(\d+)\]", field)
    if place is None:
        what = "question" if item.type != SEGMENT else "question about people"
        if len(item.answers) < 2:
            return Fault(main, f"Give this {what} at least two answers.")
        most = {"scale": 11, SEGMENT: 200}.get(item.type, 50)
        return Fault(main, f"That is too many: {most} answers are possible.")
    if rest.startswith("code"):
        return Fault(f"{item.key}.codes", "Use letters, digits, _ . and - for codes, and no code twice.")
    tag = rest.rpartition(".")[2] if rest.rpartition(".")[2] in sketch.tags else sketch.tags[0]
    number = int(place[1]) + 1
    if problem.reason == "format":
        return Fault(f"{item.key}.answers:{tag}", f"Answer {number} {problem.message}. Type it again.")
    where = f" in {language_name(tag)}" if tag else ""
    return Fault(f"{item.key}.answers:{tag}", f"Answer {number} has no text{where}.")


_DEPENDS = {
    "unknown": "The question that this one depends on was deleted. Choose another, or “Always”.",
    "order": "The question that this one depends on must come before it. Move one of them.",
    "conflict": "This works only for questions that are counted answer by answer, not for averages.",
}
_OWN = "This works only where the whole survey has one ε, and no question has its own."


def _depends(sketch: Sketch, problem: Problem) -> str:
    if problem.reason == "conflict" and not sketch.epsilon:
        return _OWN
    if problem.reason == "paths":
        return f"{_combinations(problem)} Use fewer answers, or ask one of them always."
    return _DEPENDS.get(problem.reason, "Choose after which answers this question is asked.")


def _combinations(problem: Problem) -> str:
    found = re.search(r"have (.+?) combinations of answers, and one report can tell (\d+) apart", problem.message)
    many, most = found.groups() if found else ("too many", "51")
    return f"Together these questions have {many} combinations of answers, and {most} are possible."


def _in_language(sketch: Sketch, tag: str, problem: Problem) -> str | None:
    """What is wrong with a text in one of several languages, or with the characters in it."""
    if problem.reason == "format":
        return f"This text {problem.message}. Delete that and type it again."
    return None if tag == sketch.tags[0] else f"The text in {language_name(tag)} is missing."


def _sentence(message: str) -> str:
    return f"{message[:1].upper()}{message[1:].rstrip('.')}."
