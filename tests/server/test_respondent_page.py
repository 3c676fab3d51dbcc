"""The respondents' page is a shell: the same for every visitor, and it promises nothing by itself."""

from __future__ import annotations

import re

from flask import Flask
from flask.testing import FlaskClient

from deniable_protocol import survey_from_tree
from deniable_server.pages.respondent import TEXTS
from deniable_server.planning import publish_survey
from tests.helpers.servers import storage_of

SURVEY = {
    "id": "asked",
    "title": "Asked",
    "epsilon": "2",
    "questions": [{"id": "q", "type": "yes_no", "text": "Have you ever taken cocaine?"}],
}


def element(http: FlaskClient, app: Flask, query: str = "") -> str:
    """The start tag of the questionnaire."""
    storage_of(app).publish(publish_survey(survey_from_tree(SURVEY)))
    return element_of(http.get(f"/s/asked{query}").text)


def element_of(page: str) -> str:
    found = re.search(r"<deniable-survey[^>]*>", page)
    assert found is not None
    return found[0]


def test_every_visitor_gets_the_same_page(http: FlaskClient, app: Flask) -> None:
    """Nothing of a request changes it but its address."""
    storage_of(app).publish(publish_survey(survey_from_tree(SURVEY)))
    pages = {http.get("/s/asked", headers={"Accept-Language": each}).data for each in ("", "de", "ar,en;q=0.5")}
    assert len(pages) == 1


def test_modes_that_an_address_may_ask_for(http: FlaskClient, app: Flask) -> None:
    """?kiosk and ?one-page become attributes; nothing else of an address gets into the page."""
    assert element(http, app) == '<deniable-survey src="/s/asked">'
    assert element(http, app, "?kiosk") == '<deniable-survey src="/s/asked" kiosk>'
    assert element(http, app, "?one-page&kiosk=0") == '<deniable-survey src="/s/asked" kiosk one-page>'
    assert element(http, app, '?lang=%22><script>&budget=99&x="') == '<deniable-survey src="/s/asked">'


def test_the_page_in_another_language(http: FlaskClient, app: Flask) -> None:
    """?lang=ar has the page and the questionnaire in Arabic; a language that there is none of leaves English."""
    assert element(http, app, "?lang=ar") == '<deniable-survey src="/s/asked" lang="ar">'
    assert '<html lang="ar" dir="rtl">' in http.get("/s/asked?lang=ar").text
    assert TEXTS["ar"]["no_script"] in http.get("/s/asked?lang=ar").text
    assert element(http, app, "?lang=xx") == '<deniable-survey src="/s/asked">'


def test_the_page_of_a_survey_in_other_languages(http: FlaskClient, app: Flask) -> None:
    """The page is in the first of the survey's languages that it has; asked for one that it has not, in English."""
    title = {"pt": "Saúde", "es": "Salud"}
    storage_of(app).publish(publish_survey(survey_from_tree(SURVEY | {"languages": ["pt", "es"], "title": title})))
    spanish = publish_survey(survey_from_tree(SURVEY | {"id": "spanish", "languages": ["es"], "title": "Salud"}))
    storage_of(app).publish(spanish)
    page = http.get("/s/asked").text
    assert "<title>Saúde</title>" in page and TEXTS["es"]["no_script"] in page and "lang=" not in element_of(page)
    page = http.get("/s/asked?lang=pt").text
    assert "<title>Saúde</title>" in page and TEXTS["en"]["no_script"] in page and ' lang="pt"' in element_of(page)
    page = http.get("/s/asked?lang=es").text
    assert "<title>Salud</title>" in page and '<html lang="es" dir="ltr">' in page
    assert '<html lang="es" dir="ltr">' in http.get("/s/spanish").text


def test_the_page_makes_no_promise_of_its_own(http: FlaskClient, app: Flask) -> None:
    """What it says without the questionnaire is that it cannot run; protection is for the questionnaire to state."""
    element(http, app)
    text = http.get("/s/asked").text
    assert "court" not in text and "protected" not in text and "ε" not in text
    assert TEXTS["en"]["no_script"] in text and TEXTS["en"]["failed"] in text


def test_a_wrong_link_is_answered_in_the_readers_language(http: FlaskClient) -> None:
    """Where there is no survey, nobody else can choose it."""
    for wanted, language, direction in (("de-AT,en;q=0.3", "de", "ltr"), ("ar", "ar", "rtl"), ("xx", "en", "ltr")):
        response = http.get("/s/nothing", headers={"Accept-Language": wanted})
        assert response.status_code == 404
        assert f'<html lang="{language}" dir="{direction}">' in response.text
        assert f"<h1>{TEXTS[language]['missing']}</h1>" in response.text.replace("&#39;", "'")


def test_every_language_says_the_same_things() -> None:
    """No text is missing or left over."""
    assert len({tuple(texts) for texts in TEXTS.values()}) == 1 and all(all(each.values()) for each in TEXTS.values())
