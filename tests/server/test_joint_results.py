"""What analysts read of a survey with one epsilon: booklets, follow-ups, options and planned cross-tabs."""

from __future__ import annotations

import csv
import io
import json
import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner
from flask import Flask
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st

from deniable_protocol import Document, publish, survey_from_tree, verify
from deniable_server import create_app
from deniable_server.analysis.crosstab import CrosstabQuery, crosstab
from deniable_server.analysis.estimates import EstimateQuery, estimates
from deniable_server.analysis.regress import RegressQuery, regress
from deniable_server.cli import cli
from deniable_server.errors import Kind
from deniable_server.settings import Settings
from deniable_server.simulate import Population, Respondent, simulate_directly
from deniable_server.statistics import Content, Statistics, tally
from deniable_server.storage.tokens import make_token
from tests.helpers.servers import storage_of
from tests.helpers.surveys import CAMPUS, documents, joint, several, textbook
from tests.server.test_results import Counted, get, refused

PEOPLE = 6_000
SURE = 6
"""Standard errors that an unbiased estimate is off by at most; more is a false alarm once in 500 million."""


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A survey of each design that the same people have answered."""
    path = tmp_path_factory.mktemp("joint") / "r.db"
    app = create_app(Settings(database=str(path)))
    storage = storage_of(app)
    survey = verify(joint()).survey
    for document, people in ((joint(), Population(survey, 28)), (textbook(), WithoutFollowUp(survey, 28))):
        storage.publish(document)
        published = storage.find(verify(document).survey.id)
        assert published is not None
        simulate_directly(storage, published, people, PEOPLE, lambda _: None)
    storage.close()
    return str(path)


class WithoutFollowUp(Population):
    """The same people, who are asked no follow-up."""

    def respondents(self, n: int) -> Iterator[Respondent]:
        for person in super().respondents(n):
            answers = {name: answer for name, answer in person.answers.items() if name != "how_often"}
            yield Respondent(answers, person.segments)


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


@pytest.fixture
def unread(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody may read submissions one by one."""

    def refuse(*_: object) -> None:
        raise AssertionError("the submissions were read")

    monkeypatch.setattr(storage_of(app), "submissions", refuse)


def command(database: str, *words: str) -> Any:
    run = CliRunner().invoke(cli, [*words, "--database", database, "--json"])
    assert run.exit_code == 0, run.output
    return json.loads(run.stdout)


def by_id(result: Any) -> dict[str, Any]:
    return {question["id"]: question for question in result["questions"]}


# --- estimates -------------------------------------------------------------------------------------------------------


def test_answers_are_those_of_the_booklets(http: FlaskClient, database: str) -> None:
    """Each question counts the submissions whose booklet reports on it; epsilon is that of a submission, once."""
    result = get(http, "joint/estimates")
    assert command(database, "estimate", "joint") == result
    assert result["epsilon"] == "2.0" and all("epsilon" not in question for question in result["questions"])
    booklets = Counter(row["booklet"] for row in csv.DictReader(io.StringIO(reports(http, "joint"))))
    asked = {name: sum(booklets[b] for b in numbers) for name, numbers in ASKED.items()}
    found = by_id(result)
    assert {name: question["answers"] for name, question in found.items()} == asked
    options = {share["code"]: share["answers"] for share in found["support"]["shares"]}
    assert options == {
        "doctor": booklets["0"] + booklets["2"], "friend": booklets["3"], "nobody": booklets["3"],
    }  # fmt: skip
    assert get(http, "textbook/estimates")["epsilon"] == "5.5"


ASKED = {"vaped": "01", "how_often": "01", "support": "023", "stress": "14", "hours": "5"}
"""Which booklets of the survey report on each question."""


def reports(http: FlaskClient, survey: str) -> str:
    return http.get(f"/api/v1/surveys/{survey}/reports.csv").text


def test_a_follow_up_has_shares_of_those_it_applies_to(http: FlaskClient) -> None:
    """``applies`` is the share of yes; with decline, those who did not decline have shares of their own."""
    found = by_id(get(http, "joint/estimates"))
    yes = found["vaped"]["shares"][0]
    assert found["how_often"]["applies"]["unbiased"] == pytest.approx(yes["unbiased"])
    assert sum(share["estimate"] for share in found["how_often"]["shares"]) == pytest.approx(1)
    assert "applies" not in found["vaped"] and "among_answering" not in found["vaped"]
    stress = found["stress"]
    assert [share["code"] for share in stress["among_answering"]] == ["1", "2", "3"]
    declined = stress["shares"][3]["unbiased"]
    for share, all_of_them in zip(stress["among_answering"], stress["shares"], strict=False):
        assert share["unbiased"] == pytest.approx(all_of_them["unbiased"] / (1 - declined))
        assert share["low"] <= share["estimate"] <= share["high"]


def test_a_follow_up_to_every_answer_is_asked_of_all() -> None:
    """Shown whatever was answered before it, a question has shares of everybody, and can be explained."""
    codes = [{"code": code, "text": code} for code in "xyz"]
    survey = survey_from_tree(
        {
            "id": "asked", "title": "T", "epsilon": "0.5", "segments": [CAMPUS],
            "questions": [
                {"id": "a", "type": "yes_no", "text": "?"},
                {"id": "b", "type": "choice", "text": "?", "show_if": {"a": ["yes", "no"]}, "options": codes},
            ],
        }
    )  # fmt: skip
    document = verify(publish(survey, [(["a", "b"], None)], [([0], 1)]))
    contents = [Content(0, (0b11 << i % 5,), (i % 2,)) for i in range(400)]
    source = Counted(document, tally(document, contents))
    question = estimates(source, EstimateQuery()).questions[1]
    assert not question.applies and sum(share.unbiased or 0 for share in question.shares) == pytest.approx(1)
    assert crosstab(source, CrosstabQuery(rows="a", columns="b")).submissions == 400
    assert regress(source, RegressQuery(question="b", answer="x", on=("campus",))).regression.submissions == 400


def test_both_designs_find_the_same(http: FlaskClient) -> None:
    """The same people answered both surveys: what they have in common is compared, and no difference is found."""
    for question in ("vaped", "support", "stress", "hours"):
        result = get(http, f"joint/compare?question={question}&with=textbook")
        for row in result["differences"]:
            assert abs(row["difference"]) < SURE * row["standard_error"]
        sizes = {group["label"]: group["answers"] for group in result["groups"]}
        assert sizes["textbook"] == PEOPLE > sizes["joint"]
    assert "has no question" in refused(http, "joint/compare?question=how_often&with=textbook")


def test_groups_and_weights(http: FlaskClient) -> None:
    """Groups count submissions, their questions answers; margins equal to those who answered change no estimate."""
    result = get(http, "joint/estimates?by=campus")
    whole = by_id(result)
    assert sum(group["submissions"] for group in result["groups"]) == PEOPLE
    for name, question in whole.items():
        assert sum(by_id(group)[name]["answers"] for group in result["groups"]) == question["answers"]
    margins = "&".join(f"weight=campus:{group['code']}:{group['submissions']}" for group in result["groups"])
    for question in get(http, f"joint/estimates?{margins}")["questions"]:
        weighted = question["weighted"]
        # A little surer, by what the groups explain of the answers; or as good as less one answer for each of them.
        assert question["answers"] - len(result["groups"]) < weighted["effective_answers"] < question["answers"] * 1.05
        for kind in ("shares", "among_answering"):
            for ours, theirs in zip(weighted.get(kind, []), question.get(kind, []), strict=True):
                assert ours["estimate"] == pytest.approx(theirs["estimate"])
    north = by_id(get(http, "joint/estimates?weight=campus:north:1&weight=campus:south:0"))
    alone = by_id(get(http, "joint/estimates?where=campus:north"))
    for name, question in north.items():
        assert question["weighted"]["effective_answers"] == pytest.approx(alone[name]["answers"])
    assert north["how_often"]["weighted"]["applies"]["estimate"] == pytest.approx(
        alone["how_often"]["applies"]["estimate"]
    )


def test_a_question_asked_of_few_says_so() -> None:
    """A group of forty may be shown; what two of them were asked has two answers, and is too noisy to say."""
    document = verify(joint())
    few = [Content(4, (1 << i % 2,), (0,)) for i in range(2)]
    many = [Content(5, (i % 9,), (i % 2,)) for i in range(78)]
    source = Counted(document, tally(document, few + many))
    (north, south) = estimates(source, EstimateQuery(by="campus")).groups or ()
    assert (north.submissions, south.submissions) == (41, 39)
    found = {question.id: question for question in north.questions}
    assert (found["stress"].answers, found["hours"].answers, found["vaped"].answers) == (2, 39, 0)
    assert "too noisy to say" in found["stress"].notes and found["hours"].notes == []


def test_the_table_has_every_number(http: FlaskClient) -> None:
    """estimates.csv has a row for whom a question applies to, and for each share of those who answered."""
    found = by_id(get(http, "joint/estimates"))
    rows = [*csv.DictReader(io.StringIO(http.get("/api/v1/surveys/joint/estimates.csv").text))]
    kinds = Counter((row["question"], row["kind"]) for row in rows)
    assert kinds["how_often", "applies"] == 1 and kinds["stress", "among_answering"] == 3
    assert {row["epsilon"] for row in rows} == {"2.0"}
    for row in rows:
        question = found[row["question"]]
        numbers = question.get(row["kind"] if row["kind"] != "share" else "shares")
        if isinstance(numbers, list):
            numbers = next(share for share in numbers if share["code"] == row["answer"])
            assert int(row["answers"]) == numbers.get("answers", question["answers"])
        if row["kind"] != "mean":
            for name in ("estimate", "unbiased", "standard_error", "low", "high"):
                assert float(row[name]) == numbers[name]


@given(documents(), st.lists(st.integers(0, 2**40), min_size=1, max_size=40), st.integers(0, 40))
def test_any_design_in_any_order(raw: bytes, seeds: list[int], cut: int) -> None:
    """However the submissions of any survey are split into batches, estimates are the same to the last digit."""
    document = verify(raw)
    contents = [content(document, seed) for seed in seeds]

    def estimated(statistics: Statistics) -> bytes:
        return msgspec.json.encode(estimates(Counted(document, statistics), EstimateQuery()))

    whole = estimated(tally(document, contents))
    assert estimated(tally(document, contents[:cut]) + tally(document, contents[cut:])) == whole
    assert estimated(tally(document, contents[::-1])) == whole


def content(document: Document, seed: int) -> Content:
    """A submission of any booklet, with reports that its parts can have."""
    booklet = seed % len(document.booklets)
    made = []
    for part in document.parts_of(booklet):
        answers = [truth for _, truth in zip(range(64), part.channel.representatives()[0], strict=False)]
        made.append(answers[seed % len(answers)])
    return Content(booklet, tuple(made), tuple(seed % len(each.options) for each in document.survey.segments))


# --- cross-tabs ------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("unread")
@pytest.mark.parametrize(
    ("rows", "columns"),
    [("vaped", "stress"), ("how_often", "vaped"), ("vaped", "support.doctor"), ("support.friend", "support.nobody"),
     ("support", "vaped"), ("campus", "stress"), ("support", "campus"), ("how_often", "campus")],
)  # fmt: skip
def test_cross_tabs_come_from_the_kept_statistics(http: FlaskClient, rows: str, columns: str) -> None:
    """No submission is read; cells are within their intervals and add up to the totals beside them."""
    result = get(http, f"joint/crosstab?rows={rows}&columns={columns}")
    assert 0 < result["submissions"] <= PEOPLE
    known = [cell for cell in result["cells"] if cell["estimate"] is not None]
    for cell in known:
        assert cell["low"] <= cell["estimate"] <= cell["high"]
    if rows != "support":  # of which several options can be true, and some are never reported with the other
        assert len(known) == len(result["cells"])
        assert sum(cell["estimate"] for cell in known) == pytest.approx(1, abs=1e-6)
        for total in result["row_totals"]:
            line = [cell["estimate"] for cell in known if cell["row"] == total["code"]]
            assert sum(line) == pytest.approx(total["estimate"], abs=1e-6)


@pytest.mark.usefixtures("unread")
def test_segments_are_crossed_without_reading(http: FlaskClient) -> None:
    """A segment and a question of the textbook design, too, need only what is kept."""
    result = get(http, "textbook/crosstab?rows=campus&columns=vaped")
    assert result["submissions"] == PEOPLE
    whole = get(http, "textbook/estimates")["questions"][0]["shares"]
    assert [share["estimate"] for share in result["column_totals"]] == pytest.approx(
        [share["estimate"] for share in whole]
    )


def test_those_who_were_not_asked_are_a_category(http: FlaskClient) -> None:
    """A follow-up in a table: nobody who said no has an answer to it."""
    result = get(http, "joint/crosstab?rows=vaped&columns=how_often")
    cells = {(cell["row"], cell["column"]): cell["estimate"] for cell in result["cells"]}
    assert [total["code"] for total in result["column_totals"]] == ["monthly", "weekly", "daily", "(not asked)"]
    assert cells["yes", "(not asked)"] == 0 and all(cells["no", code] == 0 for code in ("monthly", "weekly", "daily"))
    assert cells["no", "(not asked)"] == pytest.approx(result["row_totals"][1]["estimate"])


def test_pairs_that_nobody_reports_on(http: FlaskClient, database: str) -> None:
    """The refusal says what to write under together; the textbook's design reads the submissions instead."""
    detail = refused(http, "joint/crosstab?rows=stress&columns=support.friend")
    assert 'together = [["stress", "support.friend"]]' in detail
    run = CliRunner().invoke(
        cli, ["crosstab", "joint", "--rows", "stress", "--columns", "support.friend", "--database", database]
    )
    assert run.exit_code == 1 and "together = " in " ".join(run.stderr.split())
    assert get(http, "textbook/crosstab?rows=vaped&columns=stress")["submissions"] == PEOPLE
    for rows, columns in (
        ("support", "support.doctor"),
        ("vaped", "support.x"),
        ("vaped.yes", "stress"),
        ("hours", "vaped"),
    ):
        refused(http, f"joint/crosstab?rows={rows}&columns={columns}")
    assert "segments only" in refused(http, "textbook/crosstab?rows=vaped&columns=support.doctor")


def test_options_are_crossed_by_segments_in_either_design(http: FlaskClient) -> None:
    """An option of a multi_choice is a yes or no of its own, and its share is that of the whole question's table."""
    for survey in ("joint", "textbook"):
        alone = get(http, f"{survey}/crosstab?rows=support.doctor&columns=campus")
        whole = get(http, f"{survey}/crosstab?rows=support&columns=campus")
        yes = {cell["column"]: cell["unbiased"] for cell in alone["cells"] if cell["row"] == "yes"}
        doctor = {cell["column"]: cell["unbiased"] for cell in whole["cells"] if cell["row"] == "doctor"}
        assert yes == pytest.approx(doctor)


# --- comparisons and regression --------------------------------------------------------------------------------------


def test_groups_are_compared_on_joint_parts(http: FlaskClient) -> None:
    """Differences of pooled shares, of options and of shares among those whom a follow-up applies to."""
    groups = {group["code"]: by_id(group) for group in get(http, "joint/estimates?by=campus")["groups"]}
    for question in ("vaped", "how_often", "support", "stress"):
        for row in get(http, f"joint/compare?question={question}&by=campus")["differences"]:
            one, two = (
                next(share for share in groups[code][question]["shares"] if share["code"] == row["code"])
                for code in ("north", "south")
            )
            assert row["difference"] == pytest.approx(one["unbiased"] - two["unbiased"])
            assert row["low"] <= row["estimate"] <= row["high"]


def test_joint_parts_are_explained(http: FlaskClient) -> None:
    """The odds of a pooled share and of an option by a segment; of a follow-up they are refused with a reason."""
    for query in ("question=vaped", "question=support&answer=doctor", "question=stress&answer=3"):
        fit = get(http, f"joint/regression?{query}&on=campus")["regression"]
        assert fit["converged"] and fit["submissions"] < PEOPLE and fit["coefficients"][0]["odds_ratio"] > 0
    for query in ("question=how_often&answer=daily&on=campus", "question=vaped&on=how_often"):
        assert "some people only" in refused(http, f"joint/regression?{query}")


def test_a_question_explains_another_of_its_part(http: FlaskClient) -> None:
    """The odds ratio is that of the cross-tab's unbiased cells where all are possible; segments may be added,
    and what shares no part is refused with what to write under together.
    """
    for other in ("stress", "support.doctor"):
        fit = get(http, f"joint/regression?question=vaped&on={other}")["regression"]
        table = get(http, f"joint/crosstab?rows=vaped&columns={other}")
        assert fit["method"] == "moments of the joint shares" and fit["submissions"] == table["submissions"]
        cells = {(cell["row"], cell["column"]): cell["unbiased"] for cell in table["cells"]}
        odds = {code: cells["yes", code] / cells["no", code] for row, code in cells if row == "yes"}
        if min(cells.values()) > 0:  # otherwise noise leaves a cell below 0, which no odds fit, and moves the others
            for term in fit["coefficients"]:
                ratio = odds[term["code"]] / odds[fit["references"][other]]
                assert math.exp(term["most_likely"]) == pytest.approx(ratio, rel=1e-4)
    both = get(http, "joint/regression?question=vaped&on=campus&on=stress&reference=stress:3")["regression"]
    assert both["references"] == {"campus": "north", "stress": "3"} and both["degrees_of_freedom"] == 4
    detail = refused(http, "joint/regression?question=stress&answer=1&on=support.friend")
    assert 'together = [["stress", "support.friend"]]' in detail
    for query in ("on=support", "on=hours", "on=stress.1", "on=town"):
        refused(http, f"joint/regression?question=vaped&{query}")


# --- what people see -------------------------------------------------------------------------------------------------


def test_tables_for_people(database: str) -> None:
    """The terminal says how many were asked, whose shares they are, and what one submission spends."""
    expected = {
        "estimate joint": ["ε = 2.0 each", "Asked", "applies to", "of those:", "of those who"],
        "estimate joint --by campus": ["campus north", "campus south"],
        "crosstab joint --rows vaped --columns how_often": ["(not asked)", "submissions report on both"],
        "crosstab joint --rows support.doctor --columns vaped": ["Who helped? · doctor", "Yes", "No"],
        "regress joint --question vaped --on support.doctor": ["support.doctor", "Yes", "No"],
        "regress joint --question vaped --on campus": ["answers. If nothing here mattered", "--reference"],
    }
    for line, words in expected.items():
        run = CliRunner().invoke(cli, [*line.split(), "--database", database])
        assert run.exit_code == 0, run.output
        flat = " ".join(run.stdout.split())
        for word in words:
            assert word in flat, (line, word)


def test_a_booklet_of_several_parts(app: Flask, http: FlaskClient) -> None:
    """Where a booklet reports on two parts, both count, and a question in either has its answers once."""
    storage_of(app).publish(several().replace(b'"id":"joint"', b'"id":"several"', 1))
    published = storage_of(app).find("several")
    assert published is not None
    simulate_directly(storage_of(app), published, Population(published.document.survey, seed=28), 900, lambda _: None)
    booklets = Counter(row["booklet"] for row in csv.DictReader(io.StringIO(reports(http, "several"))))
    found = by_id(get(http, "several/estimates"))
    asked = {"vaped": "012", "stress": "123", "hours": "03", "support": "023"}
    for name, numbers in asked.items():
        assert found[name]["answers"] == sum(booklets[b] for b in numbers)
    assert refused(http, "several/estimates?by=town", Kind.BAD_PARAMETER)
