"""What the respondents' page says about protection follows from the total, for surveys that once got false comfort."""

from __future__ import annotations

from html import unescape
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from deniable_protocol import survey_from_tree, verify
from deniable_server.planning import publish_survey
from deniable_server.wording import STRENGTHS, account_in_words, in_symbols
from tests.helpers.servers import storage_of

YES_NO = {"type": "yes_no", "text": "Have you ever taken cocaine?"}
NOISY = {"type": "number", "text": "How many?", "min": 0, "max": 1, "mechanism": "gaussian"}


def shown(http: FlaskClient, app: Flask, questions: list[dict[str, Any]], **keys: Any) -> tuple[str, str, str]:
    """The text of the page, what the account means, and the account."""
    asked = [{"id": f"q{i}", **question} for i, question in enumerate(questions)]
    published = publish_survey(survey_from_tree({"id": "asked", "title": "Asked", "questions": asked, **keys}))
    storage_of(app).publish(published)
    account = verify(published).account
    text = " ".join(unescape(http.get("/s/asked").text).split())
    return text, account_in_words(account), in_symbols(account)


@pytest.mark.parametrize(
    ("questions", "keys", "told"),
    [
        ([YES_NO], {"epsilon": "2"}, "fair"),
        ([YES_NO | {"epsilon": "2"}], {}, "fair"),
        ([YES_NO | {"epsilon": "0.25"}] * 8, {}, "fair"),
        ([NOISY | {"epsilon": "1", "delta": "0.000001"}], {}, "fair"),
        ([YES_NO | {"epsilon": "1"}] * 4, {}, "weak"),
        ([YES_NO | {"epsilon": "0.8"}] * 10, {}, "hardly"),
        ([YES_NO], {"epsilon": "10"}, "hardly"),
    ],
)
def test_the_total_decides(
    http: FlaskClient, app: Flask, questions: list[dict[str, Any]], keys: dict[str, str], told: str
) -> None:
    """Of three ways to say how well answers are protected, the page has the one of its total, and what that means."""
    text, meaning, symbols = shown(http, app, questions, **keys)
    assert {name for name, words in STRENGTHS.items() if words in text} == {told}
    assert f"There is one limit ({symbols}). {meaning}" in text
    assert "court" not in text and "look it up" not in text


@pytest.mark.parametrize(
    "questions",
    [
        [YES_NO | {"epsilon": "2.2"}] * 10,
        [YES_NO | {"epsilon": "10"}] * 200,
        [NOISY | {"epsilon": "0.01", "delta": "0.0001"}] * 40,
        [NOISY | {"epsilon": "1", "delta": "0.000002"}],
    ],
    ids=["ten-times", "absurd", "forty-deltas", "delta"],
)
def test_a_survey_that_clients_refuse_is_not_praised(
    http: FlaskClient, app: Flask, questions: list[dict[str, Any]]
) -> None:
    """Above what clients accept by default, the page says that it sends nothing, and why; no other words about it."""
    text, meaning, symbols = shown(http, app, questions)
    assert f"All answers together would spend {symbols}. This page sends at most ε = 10, δ = 0.000001 in total" in text
    assert meaning in text
    assert not any(words in text for words in STRENGTHS.values())
