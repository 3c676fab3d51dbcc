"""Results in Python: the numbers of the HTTP interface, from a real app and from its database, in every form."""

from __future__ import annotations

import csv
import json
import os
import random
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import deniable
from deniable_protocol import randomize, survey_from_tree
from tests.helpers.surveys import JOINT

pytest.importorskip("flask", reason="the base install has no server: tests/wheel.py reads results from a real one")

from click.testing import CliRunner
from flask import Flask

from deniable_server import create_app, simulate
from deniable_server.cli import cli
from deniable_server.planning import publish_survey
from deniable_server.settings import Settings
from deniable_server.storage.tokens import make_token
from deniable_server.web import computing
from tests.helpers.servers import storage_of

BASE = "http://127.0.0.1:8000"
PEOPLE = 900

Ask = Callable[[deniable.Results], Any]
ASKED: list[Ask] = [
    lambda results: results.estimates(),
    lambda results: results.estimates(by="campus", confidence=0.99, distribution=True, anytime=True),
    lambda results: results.estimates(where={"campus": "north"}, simultaneous=True, deff=1.5, population=9_000),
    lambda results: results.estimates(weights={"campus": {"north": 0.3, "south": 0.7}}, trim=3, by="campus"),
    lambda results: results.estimates(target="respondents"),
    lambda results: results.compare("vaped", by="campus"),
    lambda results: results.compare("hours", "campus", confidence=0.9),
    lambda results: results.compare("stress", other="wave-2", where={"campus": "south"}),
    lambda results: results.crosstab("vaped", "stress"),
    lambda results: results.crosstab("campus", "how_often", anytime=True),
    lambda results: results.regress("vaped", on=["campus", "stress"], reference={"campus": "south"}),
    lambda results: results.plan(),
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("results")


@pytest.fixture(scope="module")
def app(folder: Path) -> Iterator[Flask]:
    """A server with two waves of a survey, answered by the same made-up people in every run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(computing, "PROCESSES", 0)
        patch.setattr(simulate, "randomize", partial(randomize, read=random.Random(7).randbytes))
        app = create_app(Settings(database=str(folder / "a.db")))
        storage = storage_of(app)
        for wave in ("joint", "wave-2"):
            storage.publish(document(wave))
            published = storage.find(wave)
            assert published is not None
            people = simulate.Population(published.document.survey, 3)
            simulate.simulate_directly(storage, published, people, PEOPLE, lambda done: None)
        yield app
        storage.close()


def document(wave: str, title: str = "Joint") -> bytes:
    """Its question about hours is about a price, too: what would you pay at most?"""
    questions = [{**each, "price": True} if each["id"] == "hours" else each for each in JOINT["questions"]]
    return publish_survey(survey_from_tree({**JOINT, "id": wave, "title": title, "questions": questions}))


def token(app: Flask, role: Any = "admin", **options: Any) -> str:
    return make_token(storage_of(app), role, "test", **options)[0]


def over_http(app: Flask, link: str = "/surveys/joint", **options: Any) -> deniable.Results:
    return deniable.Results(BASE + link, transport=deniable.WSGITransport(app, most=2**25), **options)


@pytest.fixture(scope="module")
def results(app: Flask) -> deniable.Results:
    return over_http(app, token=token(app))


@pytest.fixture(scope="module")
def stored(app: Flask, folder: Path) -> deniable.Results:
    return deniable.Results(folder / "a.db", survey="joint")


# --- the same numbers everywhere -------------------------------------------------------------------------------------


@pytest.mark.parametrize("asked", ASKED)
def test_http_and_the_database_give_the_same(asked: Ask, results: deniable.Results, stored: deniable.Results) -> None:
    """Over HTTP and from the database, the content, the rows, the text and the table are equal to the last digit."""
    there, here = asked(results), asked(stored)
    assert there.to_dict() == here.to_dict() and there.rows() == here.rows()
    assert (str(there), there._repr_html_()) == (str(here), here._repr_html_())


def test_the_content_is_that_of_the_interface_and_of_the_terminal(
    app: Flask, results: deniable.Results, folder: Path
) -> None:
    """to_dict() is the JSON of the request, and what the command prints with --json, with nothing lost."""
    found = results.estimates(by="campus").to_dict()
    headers = {"Authorization": f"Bearer {token(app)}"}
    assert found == app.test_client().get("/api/v1/surveys/joint/estimates?by=campus", headers=headers).json
    command = ["estimate", "joint", "--by", "campus", "--json", "--database", str(folder / "a.db")]
    assert found == json.loads(CliRunner().invoke(cli, command).stdout)


@pytest.mark.parametrize("address", ["by=campus", "weight=campus:north:0.3&weight=campus:south:0.7", "distribution=1"])
def test_the_rows_are_those_of_the_csv_file(app: Flask, results: deniable.Results, address: str) -> None:
    """Each number, and each text of it, is in the same row of estimates.csv: as computed, and rounded by one rule."""
    weights = {"campus": {"north": 0.3, "south": 0.7}} if "weight" in address else None
    by = "campus" if "by" in address else None
    rows = results.estimates(by, weights=weights, distribution="distribution" in address).rows()
    headers = {"Authorization": f"Bearer {token(app)}"}
    text = app.test_client().get(f"/api/v1/surveys/joint/estimates.csv?{address}", headers=headers).text
    lines = list(csv.DictReader(text.splitlines()))
    assert len(rows) == len(lines) > 20
    for row, line in zip(rows, lines, strict=True):
        for name in ("question", "kind", "written", "question_text", "answer_text", "group", "survey", "epsilon"):
            assert (row[name] or "") == line[name].lstrip("'"), (name, row, line)
        for name in ("estimate", "unbiased", "standard_error", "low", "high", "answers", "confidence"):
            assert row[name] == (float(line[name]) if line[name] else None), (name, row, line)
        assert row.get("at") is None or row["at"] == float(line["answer"]), (row, line)
    kinds = {row["kind"] for row in rows}
    assert {"likely share up to", "share below", "demand at", "revenue at"} <= kinds or "distribution" not in address


# --- every output ----------------------------------------------------------------------------------------------------


class Cells(HTMLParser):
    """What a reader sees of a table, and the tags that it is made of."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data.strip())


@pytest.mark.parametrize("asked", ASKED)
def test_every_form_says_whom_it_is_about(asked: Ask, results: deniable.Results) -> None:
    """Text, table and rows name how many, the filters, the confidence and the day; pandas and polars have the rows."""
    found = asked(results)
    today = str(datetime.now(UTC).date())
    head = str(found).split("\n\n")[0]
    shown = Cells(found._repr_html_())
    level = f"{100 * found.confidence:g}% intervals"
    for text in (head, " ".join(shown.texts)):
        assert level in text and today in text
        assert "answers: North" in text or "answers: joint" in text or f"{found.n:,}" in text
        assert "campus North" in text or "campus South" in text if getattr(found, "where", None) else True
    assert shown.tags == {"div", "table", "thead", "tbody", "tr", "th", "td"} | shown.tags & {"p", "caption"}
    rows = found.rows()
    pandas, polars = found.to_pandas(), found.to_polars()
    assert list(pandas.columns) == polars.columns == list(rows[0])
    assert len(pandas) == len(polars) == len(rows) > 0
    assert polars.to_dicts() == rows
    assert repr(found) == str(found)


def test_the_text_is_aligned_and_rounded_as_in_the_terminal(
    results: deniable.Results, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """About and between of each answer are the words that the command prints."""
    text = str(results.estimates())
    monkeypatch.setattr("deniable_server.cli.common.out.width", 200)  # or a row becomes several lines
    printed = CliRunner().invoke(cli, ["estimate", "joint", "--database", str(folder / "a.db")])
    (yes,) = [line for line in text.splitlines() if line.startswith("  Yes ")]
    about, between = yes.split()[1], " ".join(yes.split()[2:5])
    row = next(line for line in printed.stdout.splitlines() if "(vaped)" in line)
    assert f" {about} " in row and between in row and between.endswith("%")
    (table,) = text.split("\n\n")[1:2]
    ends = {len(line) for line in table.splitlines() if line.rstrip().endswith(tuple("0123456789"))}
    assert len(ends) == 1


def test_one_question_can_be_picked(results: deniable.Results) -> None:
    """estimates["vaped"] has the numbers of that question, of all groups, and no others."""
    found = results.estimates(by="campus")
    assert {row["question"] for row in found["vaped"].rows()} == {"vaped"}
    picked = [row for row in found.rows() if row["question"] == "vaped"]
    assert [row["estimate"] for row in found["vaped"].rows()] == [row["estimate"] for row in picked]
    with pytest.raises(KeyError):
        found["nothing"]


def test_what_a_newer_server_adds_is_kept(stored: deniable.Results) -> None:
    """Fields that this version does not know are in to_dict(), and numbers among them get columns."""
    found = stored.crosstab("vaped", "stress")
    tree = found.to_dict()
    for cell in tree["cells"]:
        cell |= {"of_table": {"estimate": 0.5, "low": 0.25}, "new": 3, "many": [1, 2]}
    newer = type(found)(json.dumps(tree | {"percentages": "row"}).encode(), found._survey, found.date)
    assert newer.to_dict()["percentages"] == "row" and str(newer) == str(found)
    row = newer.rows()[0]
    assert (row["of_table_estimate"], row["of_table_low"], row["new"]) == (0.5, 0.25, 3) and "many" not in row


def test_percentages_levels_and_weights_are_shown_where_a_server_gives_them(stored: deniable.Results) -> None:
    """Shares of rows and columns get tables of their own, levels columns, and weighted numbers rows: "weighted"."""
    share = {"estimate": 0.25, "unbiased": 0.25, "standard_error": 0.01, "low": 0.2, "high": 0.3}
    table = stored.crosstab("vaped", "stress")
    tree = table.to_dict()
    tree["cells"] = [cell | {"of_row": share, "of_column": share} for cell in tree["cells"]]
    newer = type(table)(
        json.dumps({**tree, "weighted": tree, "date": "2026-02-03"}).encode(), table._survey, table.date
    )
    assert "as of 2026-02-03" in str(newer)
    for name in ("share of all", "share of row", "share of column", "share of row, weighted"):
        assert f"\n{name}\n" in str(newer) and name in Cells(newer._repr_html_()).texts
    assert (
        sum(row["kind"] == "share of row" and row["written"] == "25.0% (20.0 to 30.0%)" for row in newer.rows()) == 16
    )
    compared = stored.compare("vaped", by="campus")
    tree = compared.to_dict()
    tree["differences"] = [row | {"levels": [share, share]} for row in tree["differences"]]
    tree |= {"weighted": {**tree}, "weighting": [{"margins": {"campus": {"north": 1, "south": 0}}}]}
    newer_too = type(compared)(json.dumps(tree).encode(), compared._survey, compared.date)
    assert "weighted to campus" in str(newer_too) and "25.0% (20.0 to 30.0%)" in str(newer_too)
    assert [row["weighted"] for row in newer_too.rows()] == [False, False, True, True]
    assert newer_too.rows()[0]["first_estimate"] == newer_too.rows()[0]["second_estimate"] == 0.25


def test_a_text_of_the_survey_is_shown_and_never_obeyed(folder: Path, app: Flask) -> None:
    """A title with markup is text in a notebook."""
    storage_of(app).publish(document("markup", "<img src=x onerror=alert(1)>"))
    html = deniable.Results(folder / "a.db", survey="markup").estimates()._repr_html_()
    assert "<img" not in html and "&lt;img src=x" in html


@pytest.mark.parametrize("asked", ASKED)
def test_every_result_is_drawn(asked: Ask, results: deniable.Results, monkeypatch: pytest.MonkeyPatch) -> None:
    """A chart has an interval for each number, and says whom it is about, at which confidence, and when."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot

    found = asked(results)
    axes = found.plot()
    try:
        axes.figure.canvas.draw()
        (note,) = [text.get_text().replace("\n", " ") for text in axes.texts]
        assert str(found.date) in note and f"{100 * found.confidence:g}% intervals" in note
        assert axes.lines or axes.collections
        assert found.plot(axes) is axes
    finally:
        pyplot.close(axes.figure)


# --- who may read, and what goes wrong -------------------------------------------------------------------------------


def test_a_shared_link_is_enough(app: Flask, results: deniable.Results) -> None:
    """The link that somebody was sent opens the results of its survey, without a token."""
    link = f"/shared/{token(app, 'reader', surveys={'joint': 'reader'})}"
    assert over_http(app, link).estimates().to_dict() == results.estimates().to_dict()
    with pytest.raises(deniable.AddressError, match="without token="):
        over_http(app, link, token="x")


def test_a_shared_link_starts_no_session_and_reads_one_survey(app: Flask) -> None:
    """Asking what a link is for sets no cookie; it does not open another survey."""
    secret = token(app, "reader", surveys={"joint": "reader"})
    response = app.test_client().get(f"/shared/{secret}", headers={"Accept": "application/json"})
    assert response.json == {"survey": "joint", "until": None} and "Set-Cookie" not in response.headers
    shown = app.test_client().get(f"/shared/{secret}", headers={"Accept": "text/html,*/*;q=0.8"})
    assert shown.mimetype == "text/html"
    with pytest.raises(deniable.AccessDenied, match="not for this survey"):
        over_http(app, "/surveys/wave-2", token=secret).estimates()


def test_each_kind_of_link_works(app: Flask, results: deniable.Results) -> None:
    """To the dashboard or a page of it, to the survey, to the interface, or to the server, with the survey's id."""
    secret = token(app)
    for link in (
        "/surveys/joint",
        "/surveys/joint/compare?question=vaped",
        "/s/joint",
        "/api/v1/surveys/joint",
        "/",
        "",
    ):
        found = over_http(app, link, token=secret, **({"survey": "joint"} if link in ("", "/") else {}))
        assert found.survey == results.survey
    with pytest.raises(deniable.AddressError, match="another survey"):
        over_http(app, "/surveys/joint", token=secret, survey="wave-2")


@pytest.mark.parametrize(
    ("wrong", "error", "advice"),
    [
        (lambda app: over_http(app), deniable.AccessDenied, "needs an access token"),
        (lambda app: over_http(app, token="wrong").estimates(), deniable.AccessDenied, "deniable token create"),
        (lambda app: over_http(app, "/shared/gone"), deniable.AccessDenied, "ask for a new one"),
        (
            lambda app: over_http(app, "/surveys/nothing", token=token(app)).survey,
            deniable.UnknownSurvey,
            "Check the id",
        ),
        (
            lambda app: over_http(app, token=token(app)).compare("vaped", "city"),
            deniable.QueryError,
            "by takes a segment",
        ),
        (lambda app: over_http(app, token=token(app)).crosstab("hours", "vaped"), deniable.QueryError, "Compare it"),
        (lambda app: over_http(app, token=token(app, "analyst")).plan(), deniable.AccessDenied, "of the role editor"),
        (lambda app: over_http(app, "", token="x"), deniable.AddressError, "names no survey"),
    ],
)
def test_each_mistake_says_what_to_do(app: Flask, wrong: Callable[[Flask], Any], error: type, advice: str) -> None:
    """One tree of errors, whose messages say what to do."""
    with pytest.raises(error, match=advice) as caught:
        wrong(app)
    assert isinstance(caught.value, deniable.DeniableError)


def test_results_that_are_held_back_are_held_back(app: Flask, folder: Path) -> None:
    """Over HTTP and from the database, with the same words, which say until when."""
    storage = storage_of(app)
    published = storage.find("wave-2")
    assert published is not None
    storage.hold_results(published, None)
    try:
        said = []
        for found in (
            over_http(app, "/surveys/wave-2", token=token(app)),
            deniable.Results(folder / "a.db", survey="wave-2"),
        ):
            with pytest.raises(deniable.HeldBack, match="closed") as caught:
                found.estimates()
            said.append(caught.value.kind)
        assert said == ["held-back", "held-back"]
    finally:
        storage.hold_results(published, 0)


def test_a_database_says_which_surveys_it_has(app: Flask, folder: Path, tmp_path: Path) -> None:
    """A survey that is not there, or is not named, and a file that is no database."""
    with pytest.raises(deniable.UnknownSurvey, match=r"Published in this database: .*joint"):
        deniable.Results(folder / "a.db", survey="nothing")
    with pytest.raises(deniable.UnknownSurvey, match="survey="):
        deniable.Results(f"sqlite:///{folder / 'a.db'}")
    with pytest.raises(deniable.ResultsError, match="no database at"):
        deniable.Results(tmp_path / "none.db")
    assert not (tmp_path / "none.db").exists()
    with pytest.raises(deniable.AddressError, match="access token is for a link"):
        deniable.Results(folder / "a.db", token="x")


def test_a_small_group_is_withheld_from_the_database_too(
    stored: deniable.Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The smallest group that is shown is that of the server's setting."""
    monkeypatch.setitem(os.environ, "DENIABLE_MINIMUM_GROUP", "100000")
    with pytest.raises(deniable.QueryError):
        stored.estimates(where={"campus": "north"})


def test_a_missing_package_is_named(results: deniable.Results, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pandas, polars or matplotlib, everything else works, and the error says what to install."""
    found = results.estimates()
    for name in ("pandas", "polars", "matplotlib"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "deniable.results.plots", raising=False)
    for name, use in {"pandas": found.to_pandas, "polars": found.to_polars, "matplotlib": found.plot}.items():
        with pytest.raises(deniable.MissingPackage, match=f"pip install '{name}'"):
            use()
    assert found.rows()


def test_a_file_is_planned_with_every_mistake_at_once(stored: deniable.Results, tmp_path: Path) -> None:
    """plan(file) takes TOML and JSON, and lists what is wrong with a file before anything is sent."""
    tree = {**JOINT, "id": "planned"}
    (tmp_path / "survey.json").write_text(json.dumps(tree))
    planned = stored.plan(tmp_path / "survey.json")
    assert planned.to_dict()["survey"] == "planned" and f"{planned.n:,}" in str(planned) and planned.in_words
    (tmp_path / "survey.toml").write_text('id = "x y"\ntitle = 3\n')
    with pytest.raises(deniable.DeniableError, match="title"):
        stored.plan(tmp_path / "survey.toml")
