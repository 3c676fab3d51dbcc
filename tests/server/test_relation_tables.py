"""Comparisons, cross-tabs and regressions as CSV and as pages: the numbers of the JSON, and what they are of."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from deniable_server.storage import utc_today
from tests.helpers.sign_in import enter
from tests.server import test_weighted_tables
from tests.server.test_results import get

database, app, http = test_weighted_tables.database, test_weighted_tables.app, test_weighted_tables.http
WEIGHTS = "weight=year:first:30%25&weight=year:later:70%25"
FILTERED = "where=year:first&confidence=0.9"


def table(http: FlaskClient, address: str) -> list[dict[str, str]]:
    path, _, query = address.partition("?")
    response = http.get(f"/api/v1/surveys/weighted/{path}.csv?{query}")
    assert response.status_code == 200, response.text
    assert response.headers["Content-Disposition"] == f'attachment; filename="weighted-{path}.csv"'
    return [*csv.DictReader(io.StringIO(response.text))]


def same(text: str, number: float | None) -> bool:
    """To the last digit."""
    return text == "" if number is None else float(text) == number


def check(row: dict[str, str], numbers: dict[str, Any], names: dict[str, str] | None = None) -> None:
    for name in ("estimate", "unbiased", "standard_error", "low", "high"):
        assert same(row[(names or {}).get(name, name)], numbers[name])


@pytest.mark.parametrize(
    "query", ["question=vaped&by=campus", f"question=stress&by=campus&{WEIGHTS}", "question=hours&with=before"]
)
def test_the_table_of_a_comparison(http: FlaskClient, query: str) -> None:
    """A row for each difference with both levels, weighted ones as well, has the numbers of the JSON."""
    result, rows = get(http, f"weighted/compare?{query}"), table(http, f"compare?{query}")
    wanted = [("no", each) for each in result["differences"]]
    wanted += [("yes", each) for each in result.get("weighted", {}).get("differences", ())]
    assert len(rows) == len(wanted)
    for row, (weighted, numbers) in zip(rows, wanted, strict=True):
        assert (row["weighted"], row["first"], row["second"]) == (weighted, numbers["first"], numbers["second"])
        assert row["answer"] == (numbers["code"] or "")
        for name in ("estimate", "difference", "standard_error", "low", "high", "p_value", "adjusted_p_value"):
            assert same(row[name], numbers[name])
        for which, level in zip(("first", "second"), numbers["levels"], strict=True):
            check(row, level, {name: f"{which}_{name}" for name in level})
        assert numbers["estimate"] == pytest.approx(numbers["levels"][0]["estimate"] - numbers["levels"][1]["estimate"])


def test_levels_are_those_of_the_estimates(http: FlaskClient) -> None:
    """The levels next to a difference are the groups' own estimates."""
    groups = {each["code"]: each for each in get(http, "weighted/estimates?by=campus")["groups"]}
    for question in ("vaped", "hours"):
        for row in get(http, f"weighted/compare?question={question}&by=campus")["differences"]:
            for label, level in zip((row["first"], row["second"]), row["levels"], strict=True):
                found = next(each for each in groups[label]["questions"] if each["id"] == question)
                share = found["mean"] or next(each for each in found["shares"] if each["code"] == row["code"])
                assert level["estimate"] == pytest.approx(share.get("estimate", share.get("value")))
                assert (level["low"], level["high"]) == (share["low"], share["high"])


@pytest.mark.parametrize("query", ["rows=vaped&columns=stress", f"rows=campus&columns=stress&{WEIGHTS}&confidence=0.9"])
def test_the_table_of_a_crosstab(http: FlaskClient, query: str) -> None:
    """Each share of all, of its row and of its column, each total and the test has the numbers of the JSON."""
    result, rows = get(http, f"weighted/crosstab?{query}"), table(http, f"crosstab?{query}")
    tables = [("no", result), *([("yes", result["weighted"])] if "weighted" in result else [])]
    left = {(row["weighted"], row["kind"], row["row"], row["column"]): row for row in rows}
    assert len(left) == len(rows)
    for weighted, numbers in tables:
        for cell in numbers["cells"]:
            check(left.pop((weighted, "share of all", cell["row"], cell["column"])), cell)
            check(left.pop((weighted, "share of row", cell["row"], cell["column"])), cell["of_row"])
            check(left.pop((weighted, "share of column", cell["row"], cell["column"])), cell["of_column"])
        for total in numbers["row_totals"]:
            check(left.pop((weighted, "row total", total["code"], "")), total)
        for total in numbers["column_totals"]:
            check(left.pop((weighted, "column total", "", total["code"])), total)
        test = left.pop((weighted, "independence", "", ""))
        assert same(test["p_value"], numbers["independence"]["p_value"])
    assert not left


def test_the_table_of_a_regression(http: FlaskClient) -> None:
    """Each coefficient and the intercept has the numbers of the JSON; the last one is all of them together."""
    query = "question=vaped&on=campus&on=stress"
    fit, rows = get(http, f"weighted/regression?{query}")["regression"], table(http, f"regression?{query}")
    assert [row["kind"] for row in rows] == ["intercept", *["coefficient"] * len(fit["coefficients"]), "all predictors"]
    for row, term in zip(rows, [fit["intercept"], *fit["coefficients"]], strict=False):
        assert (row["predictor"], row["group"]) == (term["predictor"] or "", term["code"] or "")
        for name in ("odds_ratio", "odds_low", "odds_high", "estimate", "standard_error", "low", "high", "p_value"):
            assert same(row[name], term[name])
    assert same(rows[-1]["p_value"], fit["p_value"])


@pytest.mark.parametrize(
    "path", ["estimates?by=campus", "compare?question=vaped&by=campus", "crosstab?rows=vaped&columns=stress",
             "regression?question=vaped&on=campus"],
)  # fmt: skip
def test_every_row_says_what_it_is_of(http: FlaskClient, path: str) -> None:
    """Filter, confidence and day are in every row of every table, and in the JSON."""
    today = utc_today().isoformat()
    for row in table(http, f"{path}&{FILTERED}"):
        assert (row["where"], row["confidence"], row["date"], row["survey"]) == ("year:first", "0.9", today, "weighted")
        if "scope" in row:
            assert row["scope"] == f"Only “Year?” First · 90% intervals · as of {today} (UTC)"
    assert get(http, f"weighted/{path}&{FILTERED}")["date"] == today


# --- pages -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def browser(app: Flask) -> FlaskClient:
    client = app.test_client()
    enter(client, app)
    return client


@pytest.mark.parametrize(
    "path", ["compare?question=vaped&by=campus", "crosstab?rows=vaped&columns=stress",
             "regression?outcome=vaped:yes&on=campus"],
)  # fmt: skip
def test_pages_say_that_they_are_filtered(browser: FlaskClient, path: str) -> None:
    """What is printed or copied names the filter, the confidence and the day: next to the heading, and in the caption
    of each table.
    """
    said = f"only “Year?” First · 90% intervals · {'valid at every look · ' if 'regr' not in path else ''}as of "
    said += f"{utc_today().isoformat()} (UTC)"
    page = browser.get(f"/surveys/weighted/{path}&{FILTERED}")
    assert page.status_code == 200
    text = page.text.lower()
    assert said.lower() in text.partition("<figure")[0].partition("<table")[0].rpartition("<h2")[2]
    captions = [each.partition("</caption>")[0] for each in text.split("<caption>")[1:]]
    assert captions and all(said.lower() in caption for caption in captions)
    assert "all submissions · 90% intervals" not in text
    assert ".csv?" in text and "where=year%3afirst" in text


def test_the_regression_page(browser: FlaskClient) -> None:
    """It offers answers and what may explain them, says each odds ratio in words, and refuses with a reason."""
    form = browser.get("/surveys/weighted/regression").text
    assert 'value="vaped:yes"' in form and 'value="support.doctor"' in form and "how_often" not in form
    page = browser.get("/surveys/weighted/regression?outcome=vaped:yes&on=campus").text
    assert "the odds of “Yes” with South, compared with North, are about" in page
    assert "still open" in page
    refused = browser.get("/surveys/weighted/regression?outcome=vaped:yes&on=support.friend")
    assert refused.status_code == 422 and "together" in refused.text


def test_the_crosstab_page_has_three_tables(browser: FlaskClient) -> None:
    """Shares of rows, of columns and of all; with weights all of them again."""
    page = browser.get("/surveys/weighted/crosstab?rows=vaped&columns=stress").text
    assert page.count('<table class="heat">') == 3 and "Shares of each row" in page
    weighted = browser.get(f"/surveys/weighted/crosstab?rows=vaped&columns=stress&{WEIGHTS}").text
    assert weighted.count('<table class="heat">') == 6
    assert weighted.count("weighted to “Year?”") == 3  # in the captions of those that are
