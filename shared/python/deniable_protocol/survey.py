"""Surveys: segments and questions together, checked, and read from text.

May not: read files, choose channels, or know anything about transport.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

import msgspec

from .checks import SURVEY_ID, Checker, check_epsilon, check_id, join, plain, strict_json
from .errors import Problem, SurveyError
from .languages import Translations, best_language, check_languages, translations_of, with_value
from .parts import MAX_PATHS, Item, TooManyPaths, atoms_of, items_of, needs, paths_of, with_needs
from .questions import QUESTIONS, Asked, Fields, MultiChoice, Option, Question, ShowIf
from .toml import bounded_toml

MAX_QUESTIONS = 200
MAX_LENGTH = 1_000_000
MAX_SEGMENTS = 10
MAX_TOGETHER = 100

NO_EPSILON = (
    "missing: the survey states what everything that one person sends may show, such as epsilon = 2.0; there is no "
    "default. (Or each question states its own, and they add up.)"
)


class Segment(Asked, frozen=True):
    """A public attribute, sent in the clear and never sensitive."""

    options: tuple[Option, ...]


class Survey(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A survey that passed every check.

    With an ``epsilon``, a decimal string, each device is asked a booklet of few questions and spends all of it there;
    without one every question has its own, and everybody is asked everything. ``respondents`` is for planning only.
    ``asked_by`` and ``contact`` say who asks; ``notice`` is shown before the questions and ``closing`` after them.
    With ``invitations``, only a submission with a token counts, and who has an invitation gets one token.

    Texts are in one language, the first of ``languages`` unless ``in_language`` chose another.
    """

    id: str
    languages: tuple[str, ...] = ()
    title: str
    asked_by: str | None = None
    contact: str | None = None
    notice: str | None = None
    closing: str | None = None
    invitations: bool = False
    epsilon: str | None = None
    together: tuple[tuple[str, ...], ...] = ()
    respondents: int | None = None
    segments: tuple[Segment, ...] = ()
    questions: tuple[Question, ...]
    translations: Translations = ()

    def in_language(self, *wanted: str) -> Survey:
        """The same survey with its texts in the best of these languages; in its default one if it has none of them."""
        language = best_language(wanted, self.languages)
        survey = self
        for place, texts in self.translations:
            survey = with_value(survey, place, texts[self.languages.index(str(language))])
        return survey

    @property
    def exact_epsilon(self) -> Fraction:
        """What one submission spends: the survey's epsilon, or the sum of the questions' (basic composition)."""
        return Fraction(self.total_epsilon)

    @property
    def total_epsilon(self) -> str:
        """The same as an exact decimal: epsilons have four places, and so has their sum."""
        if self.epsilon is not None:
            return self.epsilon
        return plain(sum((Decimal(question.epsilon or 0) for question in self.questions), Decimal(0)))


# msgspec describes a type to itself when it first meets it, and two threads that do so at once crash the process
# (msgspec 0.22). Made here, the description is there before any thread can ask for it.
_DESCRIBED = [msgspec.json.Decoder(each) for each in (Segment, *QUESTIONS.values())]


def parse_survey(text: str | bytes, *, syntax: Literal["toml", "json"] = "toml") -> Survey:
    """The survey in this text, or a SurveyError that lists everything wrong with it."""
    return survey_from_tree(tree_in(text, syntax))


def tree_in(text: str | bytes, syntax: Literal["toml", "json"]) -> Any:
    """What a TOML or JSON text has in it, a survey or not. SurveyError where it cannot be read."""
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8")
        if len(text) > MAX_LENGTH:
            raise ValueError(f"the file has more than {MAX_LENGTH:,} characters")
        return strict_json(text) if syntax == "json" else bounded_toml(text)
    except UnicodeDecodeError:
        raise SurveyError([Problem("", syntax, "not a text file in UTF-8")]) from None
    except (ValueError, RecursionError) as error:  # both readers, of which one also gives up on deep nesting
        raise SurveyError([Problem("", syntax, f"not valid {syntax.upper()}: {error}")]) from None


def survey_from_tree(tree: object) -> Survey:
    """The survey in a parsed TOML or JSON tree."""
    check = Checker()
    survey = check_survey(check, tree, "")
    if survey is None:
        raise SurveyError(check.problems)
    return survey


def check_survey(check: Checker, tree: object, place: str) -> Survey | None:
    """The survey in this tree; notes every problem and returns None if there is any."""
    clean = _check_fields(check, tree, place)
    if check.problems:
        return None
    segments = tuple(msgspec.convert(each, Segment) for each in clean.pop("segments", ()))
    survey = Survey(**clean, segments=segments, translations=translations_of(check, place))
    if not check.published:
        _check_fit(check, survey)
    return None if check.problems else survey


def _check_fields(check: Checker, tree: object, place: str) -> dict[str, Any]:
    """The clean fields, of use only if there were no problems."""
    clean: dict[str, Any] = {}
    never = ("translations", "respondents") if check.published else ("translations",)
    keys = [key for key in Survey.__struct_fields__ if key not in never]
    fields = check.table(tree, place, keys, [key for key in keys if key not in ("id", "title", "questions")])
    if fields is None:
        return clean
    if "id" in fields:
        clean["id"] = check.name(fields["id"], join(place, "id"), SURVEY_ID)
    if "languages" in fields:
        clean["languages"] = check.languages = check_languages(check, fields["languages"], join(place, "languages"))
    for key in ("title", "asked_by", "contact", "notice", "closing"):
        checked = check.lines if key in ("notice", "closing") else check.text
        if key in fields:
            clean[key] = checked(fields[key], join(place, key))
    if "invitations" in fields:
        clean["invitations"] = check.true_or_left_out(fields["invitations"], join(place, "invitations"))
    shared = "epsilon" in fields
    if shared:
        at = join(place, "epsilon")
        clean["epsilon"] = check_epsilon(check, fields["epsilon"], at)
    elif not any(isinstance(each, dict) and "epsilon" in each for each in _listed(fields.get("questions"))):
        check.note(join(place, "epsilon"), "missing", NO_EPSILON)
        shared = True  # the rest is checked as if one were added
    if "respondents" in fields:
        clean["respondents"] = check.integer(fields["respondents"], join(place, "respondents"), 1, 10**10)
    taken: set[str] = set()
    if "segments" in fields:
        clean["segments"] = check.items(
            fields["segments"],
            join(place, "segments"),
            int(check.published),
            MAX_SEGMENTS,
            lambda item, where: _check_segment(check, item, where, taken),
        )
    asked = _Asked(check, taken, _ids(fields.get("questions")), shared=shared)
    if "questions" in fields:
        questions = check.items(fields["questions"], join(place, "questions"), 1, MAX_QUESTIONS, asked.question)
        clean["questions"] = tuple(questions or ())
    if "together" in fields:
        at = join(place, "together")
        together = check.items(fields["together"], at, 1, MAX_TOGETHER, asked.together)
        if together is not None:
            check.in_order(
                [asked.places(names) for names in together], at, "must be in the order of the survey, each once"
            )
            clean["together"] = tuple(sorted({*together}, key=asked.places))
        if not shared:
            check.note(at, "conflict", "together goes with an epsilon of the survey; otherwise all questions are asked")
    return clean


def _listed(value: object) -> list[Any]:
    return [*value] if isinstance(value, list | tuple) else []


def _ids(questions: object) -> set[str]:
    """The ids of all questions, whether the rest of them is right or not."""
    ids = [each.get("id") for each in _listed(questions) if isinstance(each, dict)]
    return {name for name in ids if isinstance(name, str)}


def _check_fit(check: Checker, survey: Survey) -> None:
    """That what has to be reported together has no more combinations of answers than a report can tell apart.

    A question and its follow-ups go together, and so do those whose cross-tabulation is wanted. Only files are checked:
    a document says itself what its parts are.
    """
    numbers = {question.id: number for number, question in enumerate(survey.questions)}
    for atom in atoms_of(survey) if survey.epsilon is not None else ():
        if len(atom) > 1:
            _check_paths(check, atom, f"questions[{numbers[atom[-1].question.id]}].show_if")
    for number, names in enumerate(survey.together):
        _check_paths(check, _most(survey, names), f"together[{number}]")


def _most(survey: Survey, names: Sequence[str]) -> list[Item]:
    """What these names stand for, with what it depends on; of a multi_choice the option that makes most paths.

    All its options have as many by themselves, and depend on the same: one that is not there already adds the most.
    """
    named = [[item for item in items_of(survey) if name in (item.name, item.question.id)] for name in names]
    found = [need for items in named for need in needs(survey, items[0])]
    for items in sorted(named, key=len):  # one option, or a question, comes before "each of the options"
        found.append(next((item for item in items if item not in found), items[0]))
    return with_needs(survey, found)


def _check_paths(check: Checker, items: Sequence[Item], place: str) -> None:
    try:
        paths_of(items)
    except TooManyPaths as error:
        names = ", ".join(item.name for item in items)
        check.note(
            place,
            "paths",
            f"{names} have {error.in_words} combinations of answers, and one report can tell {MAX_PATHS} apart",
        )


def _check_segment(check: Checker, item: object, place: str, taken: set[str]) -> dict[str, Any] | None:
    if check.table(item, place, ("id", "text", "options")) is None:
        return None
    fields = Fields(check, item, place)  # type: ignore[arg-type]
    fields.take("id", lambda value, where: check_id(check, value, where, taken))
    fields.take("text", check.text)
    fields.options(200)
    return fields.clean


class _Asked:
    """Checks the questions one by one, knowing those before; ``shared``: the survey has an epsilon for all of them."""

    def __init__(self, check: Checker, taken: set[str], ids: set[str], *, shared: bool) -> None:
        self.check, self.taken, self.ids, self.shared = check, taken, ids, shared
        self.seen: dict[str, Question | None] = {}

    def question(self, item: object, place: str) -> Question | None:
        """The question in this tree. One that is wrong is remembered by its id, and not complained of twice."""
        before = len(self.check.problems)
        clean = self._fields(item, place)
        right = clean is not None and len(self.check.problems) == before
        found = alone = msgspec.convert(clean, QUESTIONS[clean["type"]]) if clean is not None and right else None
        if isinstance(item, dict) and "show_if" in item:
            condition = self._show_if(item["show_if"], join(place, "show_if"), alone)
            found = None if alone is None or condition is None else msgspec.structs.replace(alone, show_if=condition)
        if isinstance(item, dict) and isinstance(item.get("id"), str):
            self.seen[item["id"]] = alone  # when it is shown makes no difference to what depends on it
        return found

    def _fields(self, item: object, place: str) -> dict[str, Any] | None:
        check = self.check
        if not isinstance(item, dict):
            return check.note(place, "type", "must be a table (a JSON object)")
        if "type" not in item:
            check.note(join(place, "type"), "missing", f"missing: one of {', '.join(QUESTIONS)}")
            name = None
        else:
            name = check.choice(item["type"], join(place, "type"), tuple(QUESTIONS))
        if name is None:  # what every question has can be checked all the same
            asked = {key: item[key] for key in ("id", "text", "epsilon") if key in item}
            self._fields({**asked, "type": "yes_no"}, place)
            return None
        kind = QUESTIONS[name]
        own, optional = _own_keys(kind)
        keys = ("id", "type", "text", "epsilon", "decline", "show_if", *own)
        also = kind.also_required(item)
        left_out = (
            "decline",
            "show_if",
            *(("epsilon",) if self.shared else ()),
            *(key for key in optional if key not in also),
        )
        check.table(item, place, keys, left_out)
        fields = Fields(check, item, place)
        fields.take("id", lambda value, where: check_id(check, value, where, self.taken))
        fields.take("text", check.text)
        if self.shared and "epsilon" in item:
            fields.conflict("epsilon", "the survey has an epsilon for all that one person sends: leave this one out")
        else:
            fields.take("epsilon", lambda value, where: check_epsilon(check, value, where))
        decline = fields.take("decline", check.true_or_left_out)
        if not kind.check(fields) and decline:
            fields.conflict("decline", 'decline goes with yes_no, choice, and measure = "shares" (not exponential)')
        return {"type": name, **fields.clean}

    def _show_if(self, condition: object, place: str, question: Question | None) -> ShowIf | None:
        check = self.check
        if not self.shared:
            return check.note(place, "conflict", "show_if goes with an epsilon of the survey")
        if question is not None and not question.has_answers:
            return check.note(place, "conflict", "a question that is not always shown has shares, and no mechanism")
        if not isinstance(condition, dict):
            return check.note(place, "type", "must be a table (a JSON object)")
        if len(condition) != 1:
            return check.note(place, "range", "must name one earlier question")
        ((name, given),) = condition.items()
        where = join(place, str(name))
        if name not in self.seen:
            if name in self.ids:
                return check.note(where, "order", "must be a question before this one")
            return check.note(where, "unknown", "there is no such question")
        parent = self.seen[name]
        if parent is not None and not parent.has_answers:
            return check.note(where, "conflict", "must be a question with shares and no mechanism")

        def code(value: object, at: str) -> str | None:
            return check.text(value, at) if parent is None else check.choice(value, at, parent.codes)

        codes = check.items(given, where, 1, MAX_PATHS, code)
        if codes is None or parent is None:
            return None
        if len(set(codes)) < len(codes):
            return check.note(where, "duplicate", "names an answer twice")
        check.in_order([*map(parent.codes.index, codes)], where, "must be in the order of the answers")
        return ShowIf(name, tuple(sorted(codes, key=parent.codes.index)))

    def together(self, item: object, place: str) -> tuple[str, ...] | None:
        """The names of questions, or of options of a multi_choice, whose cross-tabulation is wanted."""
        names = self.check.items(item, place, 2, 3, self._name)
        if names is not None and len(set(names)) < len(names):
            return self.check.note(place, "duplicate", "names a question twice")
        if names is None:
            return None
        self.check.in_order(self.places(names), place, "must be in the order of the survey")
        return tuple(sorted(names, key=self._place))

    def places(self, names: Sequence[str]) -> list[tuple[int, int]]:
        """Where these names are in the survey."""
        return [self._place(name) for name in names]

    def _place(self, value: str) -> tuple[int, int]:
        name, _, option = value.partition(".")
        question = self.seen[name]
        codes = question.codes if option and question is not None else ()
        return [*self.seen].index(name), codes.index(option) if option in codes else -1

    def _name(self, value: object, place: str) -> str | None:
        if not isinstance(value, str):
            return self.check.note(place, "type", "must be text")
        name, _, option = value.partition(".")
        if name not in self.seen:
            return self.check.note(place, "unknown", "there is no such question")
        question = self.seen[name]
        if question is None:
            return value
        if not question.has_answers:
            return self.check.note(place, "conflict", "must be a question with shares and no mechanism")
        if "." in value and not (isinstance(question, MultiChoice) and option in question.codes):
            return self.check.note(place, "unknown", "there is no such option")
        return value


@lru_cache
def _own_keys(kind: type[Question]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The fields that only this type of question has, and those of them that may be left out."""
    own = [field for field in msgspec.structs.fields(kind) if field.name not in Question.__struct_fields__]
    return tuple(field.name for field in own), tuple(field.name for field in own if not field.required)
