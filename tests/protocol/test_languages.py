"""Surveys in several languages: one document, one digest, and every text in each of them."""

from __future__ import annotations

from typing import Any

import pytest

from deniable_protocol import Survey, SurveyError, parse_survey, publish, survey_from_tree, verify
from deniable_protocol.languages import best_language

FILE = """
id = "health"
languages = ["en", "es", "ar"]
contact = "help@example.org"
epsilon = 2.0

title = { en = "Health", es = "Salud", ar = "الصحة" }
closing = { en = " Thank  you ", es = "Gracias", ar = "شكرا" }

[[segments]]
id = "campus"
text = { en = "Campus", es = "Campus", ar = "الحرم" }
options = [{ code = "n", text = { en = "North", es = "Norte", ar = "شمال" } }, { code = "s", text = "S" }]

[[questions]]
id = "stress"
type = "scale"
text.en = "How stressed?"
text.es = "¿Cuánto estrés?"
text.ar = "ما مدى التوتر؟"
labels = ["1", { en = "2 a lot", es = "2 mucho", ar = "2 كثير" }, { en = "3", es = "3", ar = "3" }]

[[questions]]
id = "drinks"
type = "number"
text = { en = "Drinks?", es = "¿Bebidas?", ar = "مشروبات؟" }
min = 0
max = 9
unit = { en = "drinks", es = "bebidas", ar = "مشروب" }
"""


@pytest.fixture(scope="module")
def survey() -> Survey:
    return parse_survey(FILE)


def published(survey: Survey) -> bytes:
    return publish(survey, [(["stress"], None), (["drinks"], None)], [([0], 1), ([1], 1)])


def test_every_text_in_every_language(survey: Survey) -> None:
    """The default is the first language; a text that is not a table is the same in all."""
    english, spanish, arabic = survey, survey.in_language("es"), survey.in_language("ar")
    assert [each.title for each in (english, spanish, arabic)] == ["Health", "Salud", "الصحة"]
    assert [each.closing for each in (english, spanish, arabic)] == ["Thank you", "Gracias", "شكرا"]
    assert spanish.contact == "help@example.org"
    assert [option.text for option in spanish.segments[0].options] == ["Norte", "S"]
    assert spanish.questions[0].text == "¿Cuánto estrés?" and spanish.questions[0].labels == ("1", "2 mucho", "3")
    assert arabic.questions[1].unit == "مشروب"


def test_one_document_has_them_all(survey: Survey) -> None:
    """What is published is read back the same; in whatever language, it is the same survey with the same parts."""
    document = verify(published(survey))
    spanish = document.in_language("es")
    assert document.survey == survey and spanish.survey == survey.in_language("es")
    assert (spanish.content, spanish.digest, spanish.account) == (document.content, document.digest, document.account)
    assert published(spanish.survey) == published(survey)
    assert spanish.in_language("en") == document
    assert [item.question.text for part in spanish.parts for item in part.items] == ["¿Cuánto estrés?", "¿Bebidas?"]
    assert spanish.asked(1)[0].text == "¿Bebidas?"


def test_a_text_that_is_the_same_is_written_once(survey: Survey) -> None:
    """So that there is one way to write a document."""
    text = published(survey).decode()
    assert '"3"]' in text and '"text":{"en":"Campus","es":"Campus","ar":"الحرم"}' in text


@pytest.mark.parametrize(
    ("wanted", "best"),
    [
        (["es"], "es"),
        (["es-AR"], "es-MX"),
        (["de", "EN-gb"], "en"),
        (["zh-TW", "zh-hant"], "zh-Hant"),
        (["de"], "en"),
        ([], "en"),
        ([""], "en"),
    ],
)
def test_the_best_language(wanted: list[str], best: str) -> None:
    """The reader's first that is there, in another country's form if need be; otherwise the default."""
    available = ["en", "es-MX", "zh-Hant"] if best != "es" else ["en", "es-MX", "es"]
    assert best_language(wanted, available) == best
    assert best_language(wanted, []) is None


def problems(**changes: Any) -> list[tuple[str, str]]:
    question = {"id": "q", "type": "yes_no", "text": "?"}
    tree = {"id": "health", "languages": ["en", "es"], "title": "T", "epsilon": "1", "questions": [question]}
    with pytest.raises(SurveyError) as caught:
        survey_from_tree(tree | changes)
    return [(problem.place, problem.message) for problem in caught.value.problems]


def test_what_is_missing_is_named() -> None:
    """All at once, each with its place and its language."""
    found = problems(title={"en": "T"}, notice={"en": "", "es": 3, "fr": "x"}, contact={"es": "x"})
    assert [place for place, _ in found] == ["title.es", "contact.en", "notice.fr", "notice.en", "notice.es"]


def test_several_languages_without_a_list_of_them() -> None:
    """The message says what to add."""
    assert problems(languages=["en", "en"]) == [("languages", "names a language twice")]
    ((place, message),) = problems(languages=["en", "english"])
    assert place == "languages[1]" and "english" in message
    tree = {
        "id": "health",
        "title": {"en": "T"},
        "epsilon": "1",
        "questions": [{"id": "q", "type": "yes_no", "text": "?"}],
    }
    with pytest.raises(SurveyError, match=r'title: must be text.*languages = \["en", "es"\]'):
        survey_from_tree(tree)
