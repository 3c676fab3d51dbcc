"""Surveys that are being written: a draft as a file and back, and ids and codes that are made from texts."""

from __future__ import annotations

from copy import deepcopy
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from deniable_protocol import Survey, SurveyError, parse_survey, publish, survey_from_tree
from deniable_protocol.checks import CODE, DECLINED, FIELD_ID, SURVEY_ID, document_json
from deniable_protocol.survey import MAX_LENGTH
from deniable_server import editing
from deniable_server.editing import Answer, Item, Sketch
from deniable_server.editing.names import name_for
from deniable_server.editing.templates import TEMPLATES, template
from deniable_server.editing.trees import codes_of
from tests.helpers.drafts import copied, example_tree
from tests.helpers.surveys import joint_surveys, surveys


def trees() -> list[Any]:
    named = [pytest.param(editing.to_tree(editing.from_file(template(each.name))), id=each.name) for each in TEMPLATES]
    return [pytest.param(example_tree(), id="example"), *named]


# --- a file and back --------------------------------------------------------------------------------------------------


def both_ways(tree: dict[str, Any]) -> None:
    """The survey of a tree is the same after it was a sketch, was stored, and was a file again."""
    survey = survey_from_tree(deepcopy(tree))
    sketch = copied(editing.from_tree(tree))
    assert survey_from_tree(editing.to_tree(sketch)) == survey
    text = editing.to_toml(sketch)
    assert parse_survey(text) == survey
    assert survey_from_tree(editing.to_tree(editing.from_file(text))) == survey
    assert editing.survey_of(sketch) == survey
    # Two answers with the same text are a fault in the editor only.
    assert all(fault.sentence.endswith("are the same.") for fault in editing.faults_in(sketch))


@pytest.mark.parametrize("tree", trees())
def test_a_file_comes_back_as_it_was(tree: dict[str, Any]) -> None:
    """The example and every template, through the editor, a stored draft and TOML. Nothing is wrong with them."""
    both_ways(tree)
    assert editing.faults_in(editing.from_tree(tree)) == []


@given(st.one_of(surveys(), joint_surveys()))
def test_any_survey_comes_back_as_it_was(tree: dict[str, Any]) -> None:
    """Whatever it has in it: mechanisms, numbers with many digits, follow-ups of several choices."""
    assume(_is_survey(tree))
    both_ways(tree)


@given(joint_surveys(most_questions=3), st.data())
def test_any_survey_in_several_languages_comes_back(tree: dict[str, Any], data: st.DataObject) -> None:
    """Texts that differ between languages, and texts that are the same in all of them."""
    assume(_is_survey(tree))
    tags = ["en", "ar", "zh-Hant"]

    def spoken(text: str) -> Any:
        return {tag: f"{text} {tag}" for tag in tags} if data.draw(st.booleans()) else text

    tree |= {"languages": tags, "title": spoken(tree["title"])}
    for each in [*tree["questions"], *tree.get("segments", ())]:
        each["text"] = spoken(each["text"])
        for option in each.get("options", ()):
            option["text"] = spoken(option["text"])
        if "labels" in each:
            each["labels"] = [spoken(label) for label in each["labels"]]
    both_ways(tree)


def _is_survey(tree: dict[str, Any]) -> bool:
    try:
        return isinstance(survey_from_tree(deepcopy(tree)), Survey)
    except SurveyError:  # too many combinations of answers
        return False


@pytest.mark.parametrize("tree", trees())
def test_a_published_survey_comes_back(tree: dict[str, Any]) -> None:
    """A copy of a published survey is the same survey, but for the number of people, which is not published."""
    document = publish(survey_from_tree(tree), *_parts(tree))
    sketch = editing.from_tree(document_json(document.decode())["survey"])
    tree = {key: value for key, value in tree.items() if key != "respondents"}
    assert survey_from_tree(editing.to_tree(sketch)) == survey_from_tree(tree)


def _parts(tree: dict[str, Any]) -> tuple[Any, ...]:
    from deniable_server.planning import design_booklets

    if "epsilon" not in tree:
        return ()
    chosen = design_booklets(survey_from_tree(tree))
    return chosen.parts, chosen.booklets


@pytest.mark.parametrize(
    ("typed", "number"),
    [
        ("2.5", Decimal("2.5")),
        ("2,5", Decimal("2.5")),
        ("10,000", 10_000),
        ("1,234,567", 1_234_567),
        ("0,500", Decimal("0.500")),
        (" 300 ", 300),
        ("-7", -7),
        ("9007199254740991", 2**53 - 1),
        ("0.30000000000000004", Decimal("0.30000000000000004")),
        ("many", "many"),
        ("1e5", "1e5"),
        ("٣", "٣"),
    ],
)
def test_numbers_are_read_as_people_type_them(typed: str, number: object) -> None:
    """With a point or a comma, and with commas between thousands; anything else stays what it is."""
    sketch = Sketch(epsilon=typed)
    assert editing.to_tree(sketch)["epsilon"] == number


@pytest.mark.parametrize("typed", ["10000", "10,000", "10.000", "10 000", "10\u202f000", "10'000", " 10’000"])
def test_a_number_of_people_may_have_any_separators(typed: str) -> None:
    """Nobody expects ten people who writes 10.000."""
    assert editing.to_tree(Sketch(respondents=typed))["respondents"] == 10_000


@pytest.mark.parametrize(
    ("typed", "limits"),
    [
        ("10, 20, 50", [10, 20, 50]),
        ("10,20,50", [10, 20, 50]),
        ("10 20\n50,", [10, 20, 50]),
        ("2,5; 7,5", [Decimal("2.5"), Decimal("7.5")]),
        ("1,5, 2,5", [Decimal("1.5"), Decimal("2.5")]),
        ("1,000 , 2,000", [1_000, 2_000]),
    ],
)
def test_limits_are_read_as_people_type_them(typed: str, limits: list[object]) -> None:
    """A comma is between two limits, or in a number where something else is between them."""
    item = Item("k1", "number", fields={"measure": "shares", "min": "0", "max": "9000", "bins": typed})
    assert editing.to_tree(Sketch(questions=[item]))["questions"][0]["bins"] == limits


QUESTION = '[[questions]]\nid = "a"\ntype = "choice"\ntext = "A"\n'
FILE = f'id = "x1"\ntitle = "T"\nepsilon = 2.0\n{QUESTION}'


@pytest.mark.parametrize(
    "text",
    [
        f'{FILE}options = ["a"]',
        f"{FILE}options = 5",
        f"{FILE}show_if = 5",
        f"{FILE}show_if = {{ b = 5, c = 6 }}",
        f"{FILE.replace('choice', 'scale')}labels = [1]",
        f"{FILE.replace('choice', 'poem')}options = 5",
        f"together = [[1]]\n{FILE}",
        f"languages = [{', '.join(['1'] * 31)}]\n{FILE}",
        f'id = "x1"\ntitle = "T"\nepsilon = 2.0\nquestions = [{", ".join(["1"] * 201)}]',
        f"segments = [{', '.join(['1'] * 11)}]\n{FILE}",
        f"{FILE}colour = 1",
        f"respondents = 0x{'f' * 5_000}\n{FILE}",
        "a" * (MAX_LENGTH + 1),
        "[" * 100_000,
        "a.b" + ".c" * 100 + " = 1",
        "title = ",
    ],
)
def test_what_is_no_survey_file_is_refused(text: str) -> None:
    """A file with something else where tables, lists and texts are to be ends with its place and a reason, even where
    something else is wrong as well.
    """
    with pytest.raises(SurveyError) as refused:
        editing.from_file(text)
    assert all(problem.reason in ("type", "unknown", "toml") for problem in refused.value.problems)


@pytest.mark.parametrize(
    "text",
    [
        'id = "X"',
        FILE,
        f'{FILE}show_if = {{ gone = ["yes"] }}',
        f'together = [["a", "gone"]]\n{FILE}',
        FILE.replace("epsilon = 2.0", ""),
        FILE.replace('"choice"', '"poem"'),
        FILE.replace('"choice"', '"number"') + "min = 3\nmax = 2",
    ],
)
def test_an_incomplete_file_opens(text: str) -> None:
    """What a file lacks, or names and does not have, can be put right in the editor, which says what is wrong."""
    sketch = copied(editing.from_file(text))
    assert editing.faults_in(sketch)
    assert editing.faults_in(copied(editing.from_file(editing.to_toml(sketch))))


# --- ids and codes ----------------------------------------------------------------------------------------------------


@given(st.lists(st.text(max_size=60), min_size=2, max_size=6))
def test_names_from_any_texts_are_valid_and_differ(texts: list[str]) -> None:
    """The ids of questions, the codes of their answers and the id of the survey, in any script and of any length."""
    sketch = Sketch(texts={"title": {"": texts[0]}})
    for number, text in enumerate([*texts, *texts]):
        answers = [Answer(f"a{n}", {"": answer}) for n, answer in enumerate([*texts, "Declined", "declined"])]
        sketch.questions.append(Item(f"k{number}", "choice", {"": text}, answers=answers))
    tree = editing.to_tree(sketch, taken=[texts[0], "survey"])
    ids = [each["id"] for each in tree["questions"]]
    assert SURVEY_ID.fullmatch(tree["id"]) and tree["id"] not in (texts[0], "survey")
    assert all(map(FIELD_ID.fullmatch, ids)) and len({*ids}) == len(ids)
    for item in sketch.questions:
        codes = [*codes_of(sketch, item).values()]
        assert all(map(CODE.fullmatch, codes)) and len({*codes}) == len(codes) and DECLINED not in codes


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Have you ever vaped?", "have_you_ever_vaped"),
        ("¿Cómo estás?", "como_estas"),
        ("هل تدخن؟", "q7"),
        ("", "q7"),
        ("2 or more", "q7_2_or_more"),
        ("Don't know", "dont_know"),
        ("A", "q7_a"),
        ("Antidisestablishmentarianism-and-more", "antidisestablishmentarianism"),
        ("taken", "taken_3"),
    ],
)
def test_names_can_be_read(text: str, name: str) -> None:
    """Whole words of the text where it has letters that an id may have, and a number otherwise."""
    assert name_for(text, between="_", most=30, otherwise="q7", taken=["taken", "taken_2"]) == name


def test_names_that_somebody_chose_are_kept() -> None:
    """A question whose id is made from its text gives way to one that has that id by choice, wherever it is."""
    sketch = Sketch()
    sketch.questions = [Item("k1", "yes_no", {"": "Vaped?"}), Item("k2", "yes_no", {"": "Other"}, "vaped")]
    assert [each["id"] for each in editing.to_tree(sketch)["questions"]] == ["vaped_2", "vaped"]
