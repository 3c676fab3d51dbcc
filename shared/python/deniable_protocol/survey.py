"""Surveys: segments and questions together, checked, and read from text.

May not: read files, choose channels, or know anything about transport.
"""

from __future__ import annotations

import tomllib
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

import msgspec

from .checks import SURVEY_ID, Checker, check_id, check_options, join, strict_json
from .errors import Problem, SurveyError
from .questions import EPSILON, QUESTIONS, Asked, Fields, Option, Question, plain

MAX_QUESTIONS = 200
MAX_SEGMENTS = 10


class Segment(Asked, frozen=True):
    """A public attribute, sent in the clear and never sensitive."""

    options: tuple[Option, ...]


class Survey(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A survey that passed every check."""

    id: str
    title: str
    notice: str | None = None
    segments: tuple[Segment, ...] = ()
    questions: tuple[Question, ...]

    @property
    def exact_epsilon(self) -> Fraction:
        """What one submission spends: the sum over the questions (basic composition)."""
        return sum((question.exact_epsilon for question in self.questions), Fraction(0))

    @property
    def epsilon(self) -> str:
        """The same as an exact decimal: epsilons have four places, and so has their sum."""
        return plain(int(self.exact_epsilon * 10_000) / Decimal(10_000))


# msgspec describes a type to itself when it first meets it, and two threads that do so at once crash the process
# (msgspec 0.22). Made here, the description is there before any thread can ask for it.
_DESCRIBED = [msgspec.json.Decoder(each) for each in (Segment, *QUESTIONS.values())]


def parse_survey(text: str | bytes, *, syntax: Literal["toml", "json"] = "toml") -> Survey:
    """The survey in this text, or a SurveyError that lists everything wrong with it."""
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8")
        tree = strict_json(text) if syntax == "json" else tomllib.loads(text, parse_float=Decimal)
    except UnicodeDecodeError:
        raise SurveyError([Problem("", syntax, "not a text file in UTF-8")]) from None
    except (ValueError, RecursionError) as error:  # strict_json and tomllib, which also gives up on deep nesting
        raise SurveyError([Problem("", syntax, f"not valid {syntax.upper()}: {error}")]) from None
    return survey_from_tree(tree)


def survey_from_tree(tree: object) -> Survey:
    """The survey in a parsed TOML or JSON tree."""
    check = Checker()
    survey = check_survey(check, tree, "", published=False)
    if survey is None:
        raise SurveyError(check.problems)
    return survey


def check_survey(check: Checker, tree: object, place: str, *, published: bool) -> Survey | None:
    """The survey in this tree; notes every problem and returns None if there is any."""
    clean = _check_fields(check, tree, place, published=published)
    if check.problems:
        return None
    questions = tuple(msgspec.convert(each, QUESTIONS[each["type"]]) for each in clean.pop("questions"))
    segments = tuple(msgspec.convert(each, Segment) for each in clean.pop("segments", ()))
    return Survey(**clean, segments=segments, questions=questions)


def _check_fields(check: Checker, tree: object, place: str, *, published: bool) -> dict[str, Any]:
    """The clean tree, of use only if there were no problems."""
    clean: dict[str, Any] = {}
    fields = check.table(tree, place, ("id", "title", "questions"), ("notice", "segments"))
    if fields is None:
        return clean
    if "id" in fields:
        clean["id"] = check.name(fields["id"], join(place, "id"), SURVEY_ID)
    for key in ("title", "notice"):
        if key in fields:
            clean[key] = check.text(fields[key], join(place, key))
    taken: set[str] = set()
    if "segments" in fields:
        clean["segments"] = check.items(
            fields["segments"],
            join(place, "segments"),
            0,
            MAX_SEGMENTS,
            lambda item, where: _check_segment(check, item, where, taken),
        )
    if "questions" in fields:
        clean["questions"] = check.items(
            fields["questions"],
            join(place, "questions"),
            1,
            MAX_QUESTIONS,
            lambda item, where: _check_question(check, item, where, taken, published=published),
        )
    return clean


def _check_segment(check: Checker, item: object, place: str, taken: set[str]) -> dict[str, Any] | None:
    fields = check.table(item, place, ("id", "text", "options"), ())
    if fields is None:
        return None
    if "id" in fields:
        check_id(check, fields["id"], join(place, "id"), taken)
    if "text" in fields:
        check.text(fields["text"], join(place, "text"))
    if "options" in fields:
        check_options(check, fields["options"], join(place, "options"), 200)
    return fields


def _check_question(
    check: Checker, item: object, place: str, taken: set[str], *, published: bool
) -> dict[str, Any] | None:
    if not isinstance(item, dict):
        return check.note(place, "type", "must be a table (a JSON object)")
    if "type" not in item:
        check.note(join(place, "type"), "missing", f"missing: one of {', '.join(QUESTIONS)}")
        name = None
    else:
        name = check.choice(item["type"], join(place, "type"), tuple(QUESTIONS))
    if name is None:  # what every question has can be checked all the same
        asked = {key: item[key] for key in ("id", "text", "epsilon") if key in item}
        _check_question(check, {**asked, "type": "yes_no"}, place, taken, published=published)
        return None
    kind = QUESTIONS[name]
    own, optional = _own_keys(kind)
    required = ("id", "type", "text", "epsilon", *own, *kind.also_required(item))
    check.table(item, place, required, ("decline", *optional))
    fields = Fields(check, item, place, published=published)
    fields.take("id", lambda value, where: check_id(check, value, where, taken))
    fields.take("text", check.text)
    fields.decimal("epsilon", EPSILON, "0.01", "10")
    decline = fields.take("decline", check.flag)
    if not kind.check(fields) and decline:
        fields.conflict("decline", 'decline goes with yes_no, choice, and measure = "shares" (not exponential)')
    return {"type": name, **fields.clean}


@lru_cache
def _own_keys(kind: type[Question]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The fields that only this type of question has: those it needs, and those it may have."""
    own = [field for field in msgspec.structs.fields(kind) if field.name not in Question.__struct_fields__]
    needed = tuple(field.name for field in own if field.required)
    return needed, tuple(field.name for field in own if not field.required)
