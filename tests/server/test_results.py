"""What analysts read, over HTTP and by command: every parameter, both waves, tables, and what is withheld."""

from __future__ import annotations

import csv
import io
import json
import math
import tracemalloc
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner
from flask import Flask
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st
from werkzeug.test import TestResponse

from deniable_protocol import Document, decode, publish, survey_from_tree, verify
from deniable_server import create_app
from deniable_server.analysis.compare import CompareQuery, compare
from deniable_server.analysis.crossing import Crossing
from deniable_server.analysis.crosstab import CrosstabQuery, crosstab
from deniable_server.analysis.estimates import EstimateQuery, estimates
from deniable_server.analysis.source import Source
from deniable_server.cli import cli
from deniable_server.errors import Kind
from deniable_server.settings import Settings
from deniable_server.simulate import Population, simulate_directly
from deniable_server.statistics import Content, Statistics, nothing, tally
from deniable_server.storage import Published, Status
from deniable_server.storage.tokens import make_token
from tests.helpers.servers import storage_of
from tests.helpers.sign_in import enter

PEOPLE = 900


class Counted(Source):
    """A source of submissions in memory; ``other`` is the survey to compare with."""

    def __init__(
        self,
        document: Document,
        statistics: Statistics,
        contents: Iterable[Content] = (),
        other: Source | None = None,
    ) -> None:
        super().__init__(Published(1, b"", document), 10)
        self._counts, self._contents, self._other = statistics, contents, other

    def _status(self) -> Status:
        return "open"

    def _statistics(self, over: Sequence[int]) -> Statistics:
        return self._counts.over(over)

    def _count(self, crossing: Crossing) -> None:
        crossing.add((b"", content) for content in self._contents)

    def another(self, name: str) -> Source:
        assert self._other is not None
        return self._other


def options(*codes: str) -> list[dict[str, str]]:
    return [{"code": code, "text": code.title()} for code in codes]


def wave(name: str, epsilon: str) -> dict[str, Any]:
    """A survey with two segments and every kind of question."""
    return {
        "id": name,
        "title": name,
        "segments": [
            {"id": "campus", "text": "Campus?", "options": options("north", "south", "west")},
            {"id": "year", "text": "Year?", "options": options("first", "later")},
        ],
        "questions": [
            {"id": "vaped", "type": "yes_no", "text": "Vaped?", "epsilon": epsilon},
            {"id": "drug", "type": "choice", "text": "Drug?", "epsilon": epsilon, "options": options(*"abcde")},
            {"id": "help", "type": "multi_choice", "text": "Help?", "epsilon": epsilon, "options": options("x", "y")},
            {"id": "stress", "type": "scale", "text": "Stress?", "epsilon": epsilon, "labels": list("abcde")},
            {"id": "drinks", "type": "number", "text": "Drinks?", "epsilon": epsilon, "min": 0, "max": 40},
        ],
    }


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two waves that have been answered, the second at another epsilon, and a survey that nobody answered."""
    path = tmp_path_factory.mktemp("results") / "r.db"
    app = create_app(Settings(database=str(path)))
    storage = storage_of(app)
    for name, epsilon in (("wave-1", "2"), ("wave-2", "3")):
        storage.publish(publish(survey_from_tree(wave(name, epsilon))))
        published = storage.find(name)
        assert published is not None
        simulate_directly(storage, published, Population(published.document.survey, seed=28), PEOPLE, lambda _: None)
    storage.publish(publish(survey_from_tree(wave("unanswered", "1"))))
    storage.close()
    return str(path)


@pytest.fixture
def app(database: str) -> Iterator[Flask]:
    app = create_app(Settings(database=database))
    yield app
    storage_of(app).close()


@pytest.fixture
def http(app: Flask) -> FlaskClient:
    client = app.test_client()
    secret, _ = make_token(storage_of(app), "analyst", "test")
    client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {secret}"
    return client


def signed_in(app: Flask) -> FlaskClient:
    browser = app.test_client()
    enter(browser, app, "analyst")
    return browser


def get(http: FlaskClient, path: str) -> Any:
    response = http.get(f"/api/v1/surveys/{path}")
    assert response.status_code == 200, response.text
    return response.json


def refused(http: FlaskClient, path: str, kind: Kind = Kind.BAD_PARAMETER) -> str:
    response: TestResponse = http.get(f"/api/v1/surveys/{path}")
    assert (response.status_code, response.json["type"]) == (kind.status, f"urn:deniable:problem:{kind.slug}")
    return str(response.json["detail"])


def command(database: str, *words: str) -> Any:
    """What the same command prints."""
    run = CliRunner().invoke(cli, [*words, "--database", database, "--json"])
    assert run.exit_code == 0, run.output
    return json.loads(run.stdout)


# --- estimates -------------------------------------------------------------------------------------------------------


def test_a_command_says_what_the_server_says(http: FlaskClient, database: str, tmp_path: Path) -> None:
    """Every parameter is also an option of the command, with the same result."""
    weights = tmp_path / "w.toml"
    weights.write_text("[year]\nfirst = 300\nlater = 700\n")
    query = "confidence=0.9&simultaneous=1&by=campus&population=5000&distribution=1&trim=1.2&deff=1.5"
    over_http = get(http, f"wave-1/estimates?{query}&weight=year:first:300&weight=year:later:700")
    printed = command(
        database, "estimate", "wave-1", "--confidence", "0.9", "--simultaneous", "--by", "campus",
        "--population", "5000", "--distribution", "--weights", str(weights), "--trim", "1.2", "--deff", "1.5",
    )  # fmt: skip
    assert printed == over_http
    assert over_http["weighting"]["margins"] == {"year": {"first": 0.3, "later": 0.7}}
    assert (over_http["population"], over_http["simultaneous"], over_http["deff"]) == (5000, True, 1.5)
    own = get(http, "wave-1/estimates?target=respondents")
    assert command(database, "estimate", "wave-1", "--target", "respondents") == own
    assert own["target"] == "respondents"


def test_what_is_asked_for_changes_what_it_should(http: FlaskClient) -> None:
    """Simultaneous intervals are wider, those of a finite population and of the respondents are narrower."""

    def width(query: str) -> float:
        share = get(http, f"wave-1/estimates?{query}")["questions"][1]["shares"][0]
        return float(share["high"] - share["low"])

    assert width("simultaneous=1") > width("") > width(f"population={2 * PEOPLE}") > width("target=respondents")
    curve = get(http, "wave-1/estimates?distribution=1")["questions"][4]["distribution"]
    assert [point["at"] for point in curve] == pytest.approx([40 * i / 48 for i in range(49)])
    scale = get(http, "wave-1/estimates")["questions"][3]
    assert [summary["id"] for summary in scale["summaries"]] == ["top_two", "bottom_two", "net_score"]


def limits(tree: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every number with an interval, and where it is."""
    if isinstance(tree, dict) and "low" in tree:
        yield path, tree
    for name, inner in tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ():
        yield from limits(inner, f"{path}/{name}")


@pytest.mark.parametrize(
    "query",
    [
        "estimates?by=year", "estimates?weight=year:first:3&weight=year:later:7", "estimates?population=5000",
        "compare?question=drug&by=year", "compare?question=drinks&by=year", "compare?question=vaped&with=wave-2",
        "crosstab?rows=vaped&columns=stress", "crosstab?rows=year&columns=drug", "regression?question=vaped&on=year",
    ],
)  # fmt: skip
def test_a_design_effect_widens_every_interval(http: FlaskClient, query: str) -> None:
    """No estimate moves but those of a regression, whose penalty weighs more. Each interval has more room, at least on
    one side where the other is at its end; a cell with hardly anybody in it may have the same.
    """
    plain, clustered = (get(http, f"wave-1/{query}&deff={deff}") for deff in (1, 4))
    assert plain["deff"] == 1
    assert clustered["deff"] == 4
    pairs = [*zip(limits(plain), limits(clustered), strict=True)]
    assert pairs
    for (path, narrow), (_, wide) in pairs:
        for name in () if query.startswith("regression") else ("estimate", "value", "unbiased"):
            assert narrow.get(name) == pytest.approx(wide.get(name)), path
        assert wide["low"] <= narrow["low"] + 1e-9 and narrow["high"] <= wide["high"] + 1e-9, path
        longer = (wide["high"] - wide["low"]) - (narrow["high"] - narrow["low"])
        assert longer > 0 or (path.startswith("/cells") and longer > -1e-9), path
        assert (wide.get("p_value") or 0) >= (narrow.get("p_value") or 0), path


def test_weights_stand_beside_the_unweighted(http: FlaskClient) -> None:
    """Margins equal to those who answered change no estimate; others move the estimates, and cost some certainty."""
    groups = get(http, "wave-1/estimates?by=year")["groups"]
    sizes = {group["code"]: group["submissions"] for group in groups}
    same = get(http, "wave-1/estimates?" + "&".join(f"weight=year:{code}:{n}" for code, n in sizes.items()))
    for question in same["questions"]:
        # A little surer, by what the groups explain of the answers; or as good as less one answer for each of them.
        assert PEOPLE - len(groups) < question["weighted"]["effective_answers"] < PEOPLE * 1.05
        for weighted, plain in zip(question["weighted"]["shares"], question["shares"], strict=True):
            assert weighted["estimate"] == pytest.approx(plain["estimate"])
    only = get(http, "wave-1/estimates?weight=year:first:1&weight=year:later:0&by=campus")
    first = get(http, "wave-1/estimates?where=year:first")
    for weighted, plain in zip(only["questions"], first["questions"], strict=True):
        assert weighted["weighted"]["effective_answers"] == pytest.approx(sizes["first"])
        for ours, theirs in zip(weighted["weighted"]["shares"], plain["shares"], strict=True):
            assert ours["estimate"] == pytest.approx(theirs["estimate"])
    assert all("weighted" in question for group in only["groups"] for question in group["questions"])


def test_the_table_of_estimates(http: FlaskClient) -> None:
    """estimates.csv has a row for every number that the JSON has, with the same values, groups and weights included."""
    query = "by=year&weight=campus:north:1&weight=campus:south:1&weight=campus:west:2&distribution=1"
    tree = get(http, f"wave-1/estimates?{query}")
    response = http.get(f"/api/v1/surveys/wave-1/estimates.csv?{query}")
    assert response.content_type.startswith("text/csv")
    assert 'filename="wave-1-estimates.csv"' in response.headers["Content-Disposition"]
    rows = list(csv.DictReader(io.StringIO(response.text)))
    per_group = 2 * (2 + 5 + 2 + 5 + 3 + 1)  # shares, summaries, mean; plain and weighted
    per_block = per_group + 2 * 49 + 12  # and the curves, of the whole only
    assert len(rows) == per_block + 2 * per_group
    assert {(row["segment"], row["group"]) for row in rows} == {("", ""), ("year", "first"), ("year", "later")}
    for row in rows[:per_block]:
        question = next(each for each in tree["questions"] if each["id"] == row["question"])
        numbers = question["weighted"] if row["weighted"] == "yes" else question
        if row["kind"] == "share":
            share = next(each for each in numbers["shares"] if each["code"] == row["answer"])
            assert [float(row[name]) for name in ("estimate", "unbiased", "low", "high")] == [
                share[name] for name in ("estimate", "unbiased", "low", "high")
            ]
        elif row["kind"] == "mean":
            assert float(row["estimate"]) == numbers["mean"]["value"]
        elif row["kind"] == "share below":
            point = next(each for each in question["curve"] if each["at"] == float(row["answer"]))
            found = [float(row[name]) for name in ("estimate", "unbiased", "standard_error", "low", "high")]
            assert found == [point[name] for name in ("below", "unbiased", "standard_error", "low", "high")]
        elif row["kind"].startswith("likely"):
            point = next(each for each in question["distribution"] if each["at"] == float(row["answer"]))
            if row["kind"] == "likely share at":
                assert float(row["estimate"]) == point["share"] and row["low"] == row["high"] == ""
            else:
                found = [float(row[name]) for name in ("estimate", "low", "high")]
                assert found == [point["up_to"], point["low"], point["high"]]
    empty = list(csv.DictReader(io.StringIO(http.get("/api/v1/surveys/unanswered/estimates.csv").text)))
    assert empty[0]["estimate"] == "" and empty[0]["low"] == "0.0" and empty[0]["note"] == "too noisy to say"


@given(st.lists(st.integers(0, 2**31), min_size=1, max_size=60), st.integers(0, 60))
def test_two_batches_are_one(seeds: list[int], cut: int) -> None:
    """However submissions are split into batches, and in any order, estimates are the same to the last digit."""
    document = verify(publish(survey_from_tree(wave("batches", "1"))))
    channels = [[*part.channel.reports()] for part in document.parts]
    contents = [
        Content(0, tuple(reports[seed % len(reports)] for reports in channels), (seed % 3, seed % 2)) for seed in seeds
    ]

    def estimated(statistics: Statistics) -> bytes:
        return msgspec.json.encode(estimates(Counted(document, statistics), EstimateQuery(by="campus")))

    whole = estimated(tally(document, contents))
    assert estimated(tally(document, contents[:cut]) + tally(document, contents[cut:])) == whole
    assert estimated(tally(document, contents[::-1])) == whole


@pytest.mark.parametrize(
    "query",
    [
        "target=everyone", "population=0", "population=1e9", "population=12", "population=x", "simultaneous=maybe",
        "target=respondents&population=5000", "confidence=0.9&confidence=0.8", "distribution=2",
        "weight=campus", "weight=campus:north:1", "weight=town:a:1", "weight=year:first:-1&weight=year:later:1",
        "weight=year:first:x&weight=year:later:1", "weight=year:first:0&weight=year:later:0",
        "weight=year:first:nan&weight=year:later:1", "weight=year:first:0.5&weight=year:later:0.4",
        "weight=year:first:50&weight=year:later:0.2", "weight=year:first:1:9&weight=year:later:1",
        "weight=year:first:1&weight=year:first:2&weight=year:later:1", "population=00000000000000000001" + "9" * 5000,
        "target=respondents&weight=year:first:1&weight=year:later:1", "target=respondents&deff=2", "deff=0.4",
        "deff=101", "deff=nan", "deff=x", "deff=1&deff=2", "trim=2", "trim=1&weight=year:first:1&weight=year:later:1",
    ],
)  # fmt: skip
def test_parameters_that_do_not_fit(http: FlaskClient, query: str) -> None:
    """Each is refused with a sentence that says what it takes, and repeats nothing of the request."""
    detail = refused(http, f"wave-1/estimates?{query}")
    assert len(detail) > 20


def test_margins_of_nobody(http: FlaskClient) -> None:
    """Weights for a survey without submissions have nobody to weight."""
    assert "nobody answered" in refused(http, "unanswered/estimates?weight=year:first:1&weight=year:later:1")


def test_a_weights_file_that_does_not_fit(database: str, tmp_path: Path) -> None:
    """A file that is no TOML or JSON, or names no segment, ends in one sentence."""
    for name, text in (
        ("a.toml", "= 3"),
        ("b.json", "{"),
        ("c.json", "[]"),
        ("d.toml", "[town]\na = 1"),
        ("e.toml", "year = 3"),
        ("f.toml", ""),
    ):
        file = tmp_path / name
        file.write_text(text)
        run = CliRunner().invoke(cli, ["estimate", "wave-1", "--database", database, "--weights", str(file)])
        assert run.exit_code == 1
        assert "weights" in run.stderr


# --- comparisons -----------------------------------------------------------------------------------------------------


def test_groups_are_compared(http: FlaskClient, database: str) -> None:
    """All pairs of groups and all options; a group's difference is that of its own estimates."""
    result = get(http, "wave-1/compare?question=drug&by=campus")
    assert command(database, "compare", "wave-1", "--question", "drug", "--by", "campus") == result
    assert [(row["first"], row["second"]) for row in result["differences"][::5]] == [
        ("north", "south"), ("north", "west"), ("south", "west"),
    ]  # fmt: skip
    groups = {
        group["code"]: {share["code"]: share["unbiased"] for share in group["questions"][1]["shares"]}
        for group in get(http, "wave-1/estimates?by=campus")["groups"]
    }
    for row in result["differences"]:
        assert row["difference"] == pytest.approx(
            groups[row["first"]][row["code"]] - groups[row["second"]][row["code"]]
        )
        assert row["low"] <= row["estimate"] <= row["high"]
        assert 0 <= row["p_value"] <= row["adjusted_p_value"] <= 1
    means = get(http, "wave-1/compare?question=drinks&by=year&where=campus:north&confidence=0.8")
    assert [row["code"] for row in means["differences"]] == [None]
    assert means["where"] == {"campus": "north"} and means["confidence"] == 0.8


def test_waves_are_compared(http: FlaskClient, database: str) -> None:
    """The same question in two surveys with different epsilons: with the same true answers, no difference is found."""
    result = get(http, "wave-1/compare?question=vaped&with=wave-2")
    assert command(database, "compare", "wave-1", "--question", "vaped", "--with", "wave-2") == result
    assert (result["with"], [group["label"] for group in result["groups"]]) == ("wave-2", ["wave-1", "wave-2"])
    row = result["differences"][0]
    # The truth of both is the same. False alarm: six standard errors, below 1e-8.
    assert abs(row["difference"]) < 6 * row["standard_error"]


@pytest.mark.parametrize(
    "query",
    ["question=vaped", "question=vaped&by=campus&with=wave-2", "by=campus", "question=nothing&by=campus",
     "question=vaped&by=town", "question=vaped&by=campus&where=campus:north", "question=vaped&by=campus&colour=red"],
)  # fmt: skip
def test_comparisons_that_make_no_sense(http: FlaskClient, query: str) -> None:
    """A comparison takes a question, and either a segment with several groups or another survey."""
    refused(http, f"wave-1/compare?{query}")


def test_one_rule_for_programs_pages_and_commands(http: FlaskClient, app: Flask, database: str) -> None:
    """A senseless request is refused in the same words over HTTP, on the page, and by the command."""
    wrong = {
        ("by=campus", "with=wave-2"): "either by (a segment) or with (another survey)",
        ("by=town",): "by takes a segment",
        ("by=campus", "where=campus:north"): "fewer than two groups",
        ("with=wave-1",): "cannot be compared with itself",
    }
    for asked, said in wrong.items():
        query = "&".join(["question=vaped", *asked])
        assert said in refused(http, f"wave-1/compare?{query}")
        options = [word for each in asked for word in (f"--{each.split('=')[0]}", each.split("=")[1])]
        words = ["compare", "wave-1", "--question", "vaped", *options, "--database", database]
        run = CliRunner().invoke(cli, words)
        assert run.exit_code == 1 and said in " ".join(run.stderr.split())
        page = signed_in(app).get(f"/surveys/wave-1/compare?{query}")
        assert page.status_code == 422 and said in page.text


def test_a_wave_that_is_not_there(http: FlaskClient) -> None:
    """An unknown survey is not found."""
    refused(http, "wave-1/compare?question=vaped&with=wave-9", Kind.NOT_FOUND)


# --- cross-tabulations -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "columns"), [("vaped", "drug"), ("drug", "stress"), ("campus", "vaped"), ("help", "vaped")]
)
def test_crosstabs_against_every_single_report(http: FlaskClient, database: str, rows: str, columns: str) -> None:
    """The unbiased joint shares are the means of the products of decoded reports, one by one from the download."""
    result = get(http, f"wave-1/crosstab?rows={rows}&columns={columns}")
    assert command(database, "crosstab", "wave-1", "--rows", rows, "--columns", columns) == result
    document = verify(http.get("/api/v1/surveys/wave-1").data)
    reports = list(csv.DictReader(io.StringIO(http.get("/api/v1/surveys/wave-1/reports.csv").text)))
    questions = {question.id: question for question in document.survey.questions}

    def scores(name: str, code: str, report: str) -> tuple[float, bool]:
        """The decoded report for this code, and whether the report is about this code at all."""
        if name not in questions:
            return float(report == code), True
        ((part, _),) = document.parts_about(name)
        channel, place = document.parts[part].channel, questions[name].codes.index(code)
        z = float(decode(channel, int(report))[place])
        if questions[name].type == "multi_choice":
            return z / 2, int(report) // 2 == place  # of two options one was drawn
        return z, True

    for cell in result["cells"]:
        pairs = [(scores(rows, cell["row"], r[rows]), scores(columns, cell["column"], r[columns])) for r in reports]
        told = [a * b for (a, tells), (b, also) in pairs if tells and also]
        assert cell["unbiased"] == pytest.approx(sum(told) / len(told), abs=1e-9)
        assert cell["low"] <= cell["estimate"] <= cell["high"]
    assert result["submissions"] == PEOPLE
    assert 0 <= result["independence"]["p_value"] <= 1


def test_a_crosstab_of_some(http: FlaskClient) -> None:
    """With ``where``, only the matching submissions are tabulated."""
    result = get(http, "wave-1/crosstab?rows=vaped&columns=stress&where=campus:north")
    north = get(http, "wave-1/estimates?where=campus:north")
    assert result["submissions"] == north["submissions"] < PEOPLE
    assert result["row_totals"] == north["questions"][0]["shares"]


@pytest.mark.parametrize(
    "query",
    [
        "rows=vaped",
        "rows=vaped&columns=vaped",
        "rows=vaped&columns=drinks",
        "rows=vaped&columns=nothing",
        "columns=vaped",
        "rows=campus&columns=vaped&where=campus:north",
    ],
)
def test_crosstabs_that_make_no_sense(http: FlaskClient, query: str) -> None:
    """A cross-tabulation takes two different questions with shares, or segments."""
    refused(http, f"wave-1/crosstab?{query}")


def test_a_crosstab_of_nobody(http: FlaskClient) -> None:
    """Without submissions every share is unknown, and there is no test."""
    result = get(http, "unanswered/crosstab?rows=vaped&columns=drug")
    assert all(cell["estimate"] is None and (cell["low"], cell["high"]) == (0, 1) for cell in result["cells"])
    assert result["independence"]["p_value"] is None


def test_a_crosstab_keeps_no_submissions() -> None:
    """Ten times the submissions take the same memory: they are read as a stream."""
    document = verify(publish(survey_from_tree(wave("streamed", "1"))))
    some = [Content(0, (y, 2, 0, 2, 0), (0, 0)) for y in (0, 1)]
    statistics = tally(document, some * 20)

    def peak(n: int) -> int:
        tracemalloc.start()
        source = Counted(document, statistics, (some[i % 2] for i in range(n)))
        result = crosstab(source, CrosstabQuery(rows="vaped", columns="drug"))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert result.submissions == n
        return peak

    peak(1_000)  # what is made once
    assert peak(200_000) < 1.2 * peak(20_000)


# --- regression ------------------------------------------------------------------------------------------------------


def test_an_answer_is_explained(http: FlaskClient, database: str) -> None:
    """With one segment the log odds are those of the groups' own unbiased shares; a command says the same."""
    result = get(http, "wave-2/regression?question=vaped&on=year")
    assert command(database, "regress", "wave-2", "--question", "vaped", "--on", "year") == result
    fit = result["regression"]
    assert fit["converged"] and fit["references"] == {"year": "first"}
    shares = {
        group["code"]: group["questions"][0]["shares"][0]["unbiased"]
        for group in get(http, "wave-2/estimates?by=year")["groups"]
    }
    odds = {code: share / (1 - share) for code, share in shares.items()}
    most_likely = fit["coefficients"][0]["most_likely"]
    assert math.exp(most_likely) == pytest.approx(odds["later"] / odds["first"], rel=1e-5)
    assert fit["coefficients"][0]["odds_ratio"] == pytest.approx(math.exp(most_likely), rel=0.02)
    turned = get(http, "wave-2/regression?question=vaped&on=year&reference=year:later")["regression"]
    assert turned["references"] == {"year": "later"}
    assert turned["coefficients"][0]["most_likely"] == pytest.approx(-most_likely, abs=1e-6)
    wider = get(http, "wave-2/regression?question=vaped&on=year&deff=3")["regression"]
    assert wider["coefficients"][0]["standard_error"] > fit["coefficients"][0]["standard_error"]
    several = get(http, "wave-2/regression?question=drug&answer=a&on=year&on=campus")["regression"]
    assert [term["code"] for term in several["coefficients"]] == ["later", "south", "west"]


def test_waves_with_other_words_are_warned_of(http: FlaskClient) -> None:
    """The same words: no note. Other words: it says so. Other options: refused. The same survey: refused."""
    assert get(http, "wave-1/compare?question=vaped&with=wave-2")["notes"] == []
    source = None
    for name, text in (("one", "Ever vaped?"), ("two", "Vaped at work?")):
        tree = wave(name, "1")
        tree["questions"][0]["text"] = text
        document = verify(publish(survey_from_tree(tree)))
        source = Counted(document, nothing(document), other=source)
    assert source is not None
    assert "differently" in compare(source, CompareQuery(question="vaped", other="one")).notes[0]
    refused(http, "wave-1/compare?question=vaped&with=wave-1")


@pytest.mark.parametrize(
    "query",
    ["question=vaped", "question=vaped&on=town", "question=drinks&on=year", "question=drinks&on=year&answer=1",
     "question=drug&on=year", "on=year",
     "question=vaped&on=year&where=year:first", "question=vaped&on=vaped", "question=vaped&on=drinks",
     "question=vaped&on=year&reference=year", "question=vaped&on=year&reference=year:never",
     "question=vaped&on=year&reference=campus:north"],
)  # fmt: skip
def test_regressions_that_make_no_sense(http: FlaskClient, query: str) -> None:
    """A regression takes a question with the answer, and segments that vary."""
    refused(http, f"wave-1/regression?{query}")


def test_a_regression_that_finds_nothing_says_so(http: FlaskClient, database: str) -> None:
    """Without submissions there is no fit, a reason, and no numbers; the command says it in a sentence."""
    fit = get(http, "unanswered/regression?question=vaped&on=year")["regression"]
    assert (fit["converged"], fit["coefficients"]) == (False, []) and fit["note"]
    words = ["regress", "unanswered", "--question", "vaped", "--on", "year", "--database", database]
    run = CliRunner().invoke(cli, words)
    assert run.exit_code == 0 and run.stdout.startswith("No fit was found")


# --- what people see -------------------------------------------------------------------------------------------------


def test_tables_for_people(database: str) -> None:
    """Every command prints a table with the texts of the survey, and a sentence on what its p-value means."""
    expected = {
        "estimate wave-1 --by campus --distribution": [
            "Vaped?",
            "top two",
            "net score",
            "likely, 0 to 40",
            "campus north",
        ],
        "compare wave-1 --question drug --by campus": ["Drug?", "north (", "south (", "percentage points"],
        "compare wave-1 --question drinks --with wave-2": ["Drinks?", "mean", "wave-1 (", "question's units"],
        "crosstab wave-1 --rows vaped --columns stress": ["Vaped?", "Stress?", "1 a", "independent"],
        "crosstab unanswered --rows vaped --columns stress": ["no data", "Independence:"],
        "regress wave-1 --question vaped --on year --on campus": ["Odds ratio", "year", "later", "of surveys"],
    }
    for line, words in expected.items():
        run = CliRunner().invoke(cli, [*line.split(), "--database", database])
        assert run.exit_code == 0, run.output
        flat = " ".join(run.stdout.split())
        for word in words:
            assert word in flat, (line, word)


# --- small groups ----------------------------------------------------------------------------------------------------


def test_small_groups_are_merged_and_withheld(database: str) -> None:
    """Groups below the minimum are merged in by and in tables, refused in where, and withheld where they combine."""
    app = create_app(Settings(database=database, minimum_group=PEOPLE // 4))
    client = app.test_client()
    secret, _ = make_token(storage_of(app), "analyst", "test")
    client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {secret}"
    sizes = {
        group["code"]: group["submissions"]
        for group in command(database, "estimate", "wave-1", "--by", "campus", "--minimum-group", "1")["groups"]
    }
    small = sorted(code for code, size in sizes.items() if size < PEOPLE // 4)
    assert small  # the seed sees to it
    groups = get(client, "wave-1/estimates?by=campus")["groups"]
    assert all(group["submissions"] >= PEOPLE // 4 for group in groups)
    (merged,) = (group for group in groups if "merged" in group)
    assert set(small) <= set(merged["merged"]) and merged["code"] == "+".join(merged["merged"])
    assert "not shown alone" in refused(client, f"wave-1/estimates?where=campus:{small[0]}", Kind.WITHHELD)
    assert "make groups of fewer" in refused(client, "wave-1/estimates?where=year:first&by=campus", Kind.WITHHELD)
    # Nor do weights show one: merged codes share theirs, and what would leave too few is left out.
    alone = "&".join(f"weight=campus:{code}:{int(code == small[0])}" for code in sizes)
    for weighted in get(client, f"wave-1/estimates?{alone}")["questions"]:
        assert weighted["weighted"]["effective_answers"] == pytest.approx(merged["submissions"])
    both = "weight=year:first:1&weight=year:later:0"
    # Raking takes margins only: a small combination of their groups does not forbid it.
    margins = "weight=campus:north:1&weight=campus:south:1&weight=campus:west:1&weight=year:first:1&weight=year:later:1"
    assert get(client, f"wave-1/estimates?{margins}")["weighting"]["deff"] > 1
    firsts = command(database, "estimate", "wave-1", "--where", "year:first", "--by", "campus", "--minimum-group", "1")
    sizes = {group["code"]: group["submissions"] for group in firsts["groups"]}
    seen = set()
    for group in get(client, f"wave-1/estimates?by=campus&{both}")["groups"]:
        enough = sum(sizes[code] for code in group["code"].split("+")) >= PEOPLE // 4
        seen.add(enough)
        assert all(("weighted" in question) == enough for question in group["questions"])
    assert seen == {True, False}
    # Regression merges small combinations, and compares with the group that a merged code belongs to.
    fit = get(client, f"wave-1/regression?question=vaped&on=year&on=campus&reference=campus:{small[0]}")["regression"]
    assert fit["converged"] and fit["references"]["campus"] == merged["code"]
    assert "make groups of fewer" in refused(
        client, "wave-1/regression?question=vaped&on=campus&where=year:first", Kind.WITHHELD
    )
    table = get(client, "wave-1/crosstab?rows=campus&columns=vaped")
    assert [total["code"] for total in table["row_totals"]] == [group["code"] for group in groups]
    storage_of(app).close()
