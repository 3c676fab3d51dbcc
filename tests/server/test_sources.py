"""Results without what a collector sent, and what a survey or an answer may not be: too finely divided, too large."""

from __future__ import annotations

import html
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner
from flask import Flask
from flask.testing import FlaskClient

from deniable_protocol import Problem, SurveyError, publish, survey_from_tree
from deniable_server.analysis import compare as comparing
from deniable_server.analysis import crosstab as crossing
from deniable_server.analysis import estimates as estimating
from deniable_server.analysis import regress as regressing
from deniable_server.app import create_app
from deniable_server.cli import cli
from deniable_server.planning import check_size, publish_survey
from deniable_server.settings import Settings
from deniable_server.storage import Published, Row, Storage, queries
from deniable_server.storage.tokens import make_token
from deniable_server.web import computing
from tests.helpers.servers import storage_of
from tests.helpers.sign_in import enter

BASE = "/api/v1/surveys/visited"
ASKED = [
    "estimates", "estimates?by=campus", "estimates?where=campus:a0", "estimates?where=campus:a0&by=year",
    "estimates?weight=year:b0:1&weight=year:b1:2", "estimates?target=respondents&by=year",
    "compare?question=mood&by=campus", "compare?question=hours&by=year&where=campus:a1",
    "crosstab?rows=vaped&columns=mood", "crosstab?rows=campus&columns=mood", "crosstab?rows=campus&columns=year",
    "regression?question=vaped&on=campus", "regression?question=vaped&on=campus&on=year",
]  # fmt: skip


def segment(name: str, letter: str, size: int) -> dict[str, Any]:
    options = [{"code": f"{letter}{i}", "text": f"{name} {i}"} for i in range(size)]
    return {"id": name, "text": f"Which {name}?", "options": options}


def tree(id_: str = "visited", *sizes: int) -> dict[str, Any]:
    names = ("campus", "year", "job", "county")
    return {
        "id": id_,
        "title": "Visited",
        "epsilon": "3",
        "together": [["vaped", "mood"]],
        "segments": [segment(names[i], "abcd"[i], size) for i, size in enumerate(sizes or (3, 2))],
        "questions": [
            {"id": "vaped", "type": "yes_no", "text": "Vaped?"},
            {"id": "mood", "type": "scale", "text": "Mood?", "labels": ["low", "middle", "high"]},
            {"id": "hours", "type": "number", "text": "Hours?", "min": 0, "max": 10},
        ],
    }


def made(storage: Storage, survey: Published, n: int, seed: int) -> list[Row]:
    """Submissions with reports that their channels can give."""
    rng, document = random.Random(seed), survey.document
    reports = [[*part.channel.reports()] for part in document.parts]
    rows = []
    for _ in range(n):
        booklet = rng.randrange(len(document.booklets))
        codes = [rng.randrange(len(each.options)) for each in document.survey.segments]
        content = [booklet, [rng.choice(reports[part]) for part in document.booklets[booklet].parts], codes]
        rows.append(Row(rng.randbytes(16), msgspec.json.encode(content).decode()))
    return rows


def filled(path: Path, *, kiosk: bool) -> Flask:
    app = create_app(Settings(database=str(path)))
    storage = storage_of(app)
    storage.publish(publish_survey(survey_from_tree(tree())))
    survey = storage.find("visited")
    assert survey is not None
    storage.accept(survey, made(storage, survey, 1_500, 1))
    storage.accept(survey, made(storage, survey, 400, 2), "the van")
    if kiosk:
        rows = made(storage, survey, 1_600, 3)
        storage.accept(survey, rows[:1_100], "kiosk")
        storage.accept(survey, rows[1_100:], "kiosk")
        storage.accept(survey, made(storage, survey, 3, 4), "tiny")
    else:
        storage.accept(survey, made(storage, survey, 3, 4))
    return app


def asking(app: Flask) -> FlaskClient:
    client = app.test_client()
    secret, _ = make_token(storage_of(app), "analyst", "test")
    client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {secret}"
    return client


@pytest.fixture(scope="module")
def apps(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Flask, Flask]]:
    """Two servers that differ in one thing: the kiosk never sent anything to the second."""
    folder = tmp_path_factory.mktemp("sources")
    both = filled(folder / "with.db", kiosk=True), filled(folder / "without.db", kiosk=False)
    yield both
    for app in both:
        storage_of(app).close()


def without(path: str, *labels: str) -> str:
    return path + "".join(f"{'&' if '?' in path or i else '?'}without={label}" for i, label in enumerate(labels))


# --- leaving a source out --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ASKED)
def test_without_a_source_it_is_as_if_it_had_sent_nothing(apps: tuple[Flask, Flask], path: str) -> None:
    """To the last digit, for everything that is computed from statistics; and the answer says what was left out."""
    found = asking(apps[0]).get(f"{BASE}/{without(path, 'kiosk')}")
    wanted = asking(apps[1]).get(f"{BASE}/{path}")
    assert found.status_code == wanted.status_code == 200, found.text
    ours, theirs = found.json, wanted.json
    assert ours.pop("without") == ["kiosk"] and "without" not in theirs
    for each in (ours, theirs):
        each.pop("sources", None)
    assert ours == theirs


def test_estimates_list_the_sources(apps: tuple[Flask, Flask]) -> None:
    """With their counts, which say how many to leave out; several can be, and the notes are about the rest."""
    http = asking(apps[0])
    found = http.get(f"{BASE}/estimates").json
    assert found["sources"] == {"kiosk": 1600, "the van": 400, "tiny": 3}
    assert found["submissions"] == 3503
    rest = http.get(f"{BASE}/{without('estimates', 'kiosk', 'the van')}").json
    assert (rest["submissions"], rest["without"]) == (1503, ["kiosk", "the van"])


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("estimates?without=nobody", 400, "Submissions came from kiosk, the van, tiny"),
        ("estimates?without=tiny", 422, "tiny has groups of fewer than 10 submissions"),
        ("compare?question=mood&by=year&without=nobody", 400, "without takes the label of a collector"),
    ],
)
def test_what_cannot_be_left_out(apps: tuple[Flask, Flask], path: str, status: int, said: str) -> None:
    """A label that no collector has; and one with so few that results with it and without it would show them."""
    response = asking(apps[0]).get(f"{BASE}/{path}")
    assert response.status_code == status and said in response.json["detail"]


def test_every_submission_cannot_be_read_without_a_source(tmp_path: Path) -> None:
    """A cross-tab of the textbook's design reads submissions, which do not say where they came from: it says so."""
    app = create_app(Settings(database=str(tmp_path / "a.db")))
    storage = storage_of(app)
    questions = [{"id": name, "type": "yes_no", "text": name, "epsilon": "1"} for name in ("one", "two")]
    storage.publish(publish(survey_from_tree({"id": "visited", "title": "T", "questions": questions})))
    survey = storage.find("visited")
    assert survey is not None
    storage.accept(survey, made(storage, survey, 50, 1), "kiosk")
    response = asking(app).get(f"{BASE}/crosstab?rows=one&columns=two&without=kiosk")
    assert response.status_code == 400 and "none of them says where it came from" in response.json["detail"]
    storage.close()


def test_a_command_leaves_out_the_same(apps: tuple[Flask, Flask]) -> None:
    """``--without`` is ``without=``; and what is printed for people says it."""
    database = apps[0].extensions["deniable"].settings.database
    asked = ["estimate", "visited", "--without", "kiosk", "--database", database]
    run = CliRunner().invoke(cli, [*asked, "--json"])
    assert run.exit_code == 0, run.output
    assert msgspec.json.decode(run.stdout) == asking(apps[0]).get(f"{BASE}/estimates?without=kiosk").json
    assert "without kiosk" in " ".join(CliRunner().invoke(cli, asked).output.split())


def test_tables_say_what_was_left_out(apps: tuple[Flask, Flask]) -> None:
    """Every row of the CSV file."""
    rows = asking(apps[0]).get(f"{BASE}/estimates.csv?without=kiosk").text.splitlines()
    assert len(rows) > 5 and all("population, without kiosk" in row for row in rows[1:])


def test_pages_list_sources_and_say_what_was_left_out(apps: tuple[Flask, Flask]) -> None:
    """The dashboard has a link for each source. Every page says what is left out, and its forms and tabs keep it."""
    browser = apps[0].test_client()
    enter(browser, apps[0], "analyst")
    page = html.unescape(browser.get("/surveys/visited").text)
    assert "Respondents' own devices: 1,500 submissions" in page and "1,600 submissions" in page
    assert 'href="/surveys/visited?without=kiosk">Leave out' in page and "Without the submissions" not in page
    for path in ("", "/compare?question=mood&by=year&", "/crosstab?rows=vaped&columns=mood&"):
        page = html.unescape(browser.get(f"/surveys/visited{path or '?'}without=kiosk").text)
        assert 'Without the submissions that <strong dir="auto">kiosk</strong> sent.' in page
        assert '<input type="hidden" name="without" value="kiosk">' in page
        assert 'href="/surveys/visited/compare?without=kiosk"' in page
    page = html.unescape(browser.get("/surveys/visited?without=kiosk").text)
    assert "1,903 submissions" in page and "1,600 submissions (left out)" in page
    assert "without=kiosk&without=the+van" in page


# --- what is read ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "most"),
    [
        ("estimates", 1), ("estimates?by=campus", 3), ("estimates?where=campus:a0", 3), ("estimates?by=year", 2),
        ("estimates?weight=year:b0:1&weight=year:b1:2", 2), ("compare?question=mood&by=campus", 3),
        ("crosstab?rows=vaped&columns=mood", 1), ("crosstab?rows=campus&columns=mood", 3),
        ("regression?question=vaped&on=campus", 3), ("estimates?where=campus:a0&by=year", 6),
    ],
)  # fmt: skip
def test_a_query_reads_the_segments_that_it_is_about(
    apps: tuple[Flask, Flask], monkeypatch: pytest.MonkeyPatch, path: str, most: int
) -> None:
    """With no segment or one, the codes of that one, and not all combinations."""
    monkeypatch.setattr(computing._Kept, "find", lambda *_: None)  # computed again, whatever was asked before
    read, real = list[str](), queries.read_counts
    monkeypatch.setattr(queries, "read_counts", lambda counts: (read.append(counts), real(counts))[1])
    assert asking(apps[0]).get(f"{BASE}/{path}").status_code == 200
    assert len(read) == most + 1  # and once how often whole reports came


# --- limits ----------------------------------------------------------------------------------------------------------


def test_a_survey_may_not_be_divided_too_finely(tmp_path: Path) -> None:
    """Its segments are named, with how many combinations they make and how many there may be: by the command, by the
    interface for programs, and wherever a survey is compiled. Fewer questions leave room for no more.
    """
    fine = tree("visited", 60, 12, 15, 6)
    with pytest.raises(SurveyError) as caught:
        publish_survey(survey_from_tree(fine))
    (problem,) = caught.value.problems
    assert problem[:2] == ("segments", "size")
    assert "campus (60) × year (12) × job (15) × county (6) make 64,800 combinations" in problem.message
    assert "10,000" in problem.message and "Leave a segment out" in problem.message
    file = tmp_path / "fine.json"
    file.write_bytes(msgspec.json.encode(fine))
    run = CliRunner().invoke(cli, ["survey", "check", str(file)])
    assert run.exit_code == 1 and "64,800 combinations" in " ".join(run.output.split())
    printed = msgspec.json.decode(CliRunner().invoke(cli, ["survey", "check", str(file), "--json"]).stdout)
    assert Problem(**printed["problems"][-1]) == problem
    app = create_app(Settings(database=str(tmp_path / "a.db")))
    secret, _ = make_token(storage_of(app), "admin", "test")
    bearer = {"Authorization": f"Bearer {secret}"}
    response = app.test_client().post("/api/v1/surveys", json=fine, headers=bearer)
    assert response.status_code == 422 and "64,800 combinations" in response.json["detail"]
    assert storage_of(app).surveys() == []
    storage_of(app).close()


@pytest.mark.parametrize(
    ("sizes", "questions", "fits"),
    [
        ((100, 100), 3, True), ((100, 101), 3, False), ((200,), 200, True),
        ((100, 100), 20, True), ((100, 100), 21, False), ((100, 10), 200, True), ((100, 11), 200, False),
    ],
)  # fmt: skip
def test_more_questions_leave_room_for_fewer_combinations(sizes: tuple[int, ...], questions: int, fits: bool) -> None:
    """Ten thousand with twenty questions, and in proportion fewer with more; one segment alone always fits."""
    survey = tree("visited", *sizes)
    yes_no = [{"id": f"q{i}", "type": "yes_no", "text": f"Number {i}?", "epsilon": "0.01"} for i in range(questions)]
    parsed = survey_from_tree({**{k: survey[k] for k in ("id", "title", "segments")}, "questions": yes_no})
    if fits:
        check_size(parsed)
    else:
        with pytest.raises(SurveyError):
            check_size(parsed)


@pytest.mark.parametrize(
    ("module", "limit", "most", "path", "said"),
    [
        (estimating, "MOST_ESTIMATES", 11, "estimates?by=campus", "3 questions in 3 groups of campus"),
        (estimating, "MOST_WEIGHTED", 5, "estimates?weight=year:b0:1&weight=year:b1:2", "make 2 groups"),
        (estimating, "MOST_DISTRIBUTIONS", 0, "estimates?distribution=1", "at most 0 questions that have a mean"),
        (comparing, "MOST_DIFFERENCES", 8, "compare?question=mood&by=campus", "3 groups, which make 3 pairs"),
        (crossing, "MOST_COUNTED", 5, "crosstab?rows=campus&columns=year", "make 6 pairs"),
        (regressing, "MOST_COMBINED", 5, "regression?question=vaped&on=campus&on=year", "make 6 combinations"),
    ],
)
def test_an_answer_that_would_be_too_large_is_refused(
    apps: tuple[Flask, Flask], monkeypatch: pytest.MonkeyPatch, module: Any, limit: str, most: int, path: str, said: str
) -> None:
    """With how large it would be, how large it may be, and what to ask instead; one less is answered."""
    http = asking(apps[0])
    monkeypatch.setattr(computing._Kept, "find", lambda *_: None)  # computed again, whatever was asked before
    monkeypatch.setattr(module, limit, most)
    response = http.get(f"{BASE}/{path}")
    assert response.status_code == 400 and said in response.json["detail"]
    monkeypatch.setattr(module, limit, most + 1)
    assert http.get(f"{BASE}/{path}").status_code == 200


def test_a_dashboard_with_many_numbers_has_no_distributions(
    apps: tuple[Flask, Flask], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is shown all the same."""
    monkeypatch.setattr(estimating, "MOST_DISTRIBUTIONS", 0)
    browser = apps[0].test_client()
    enter(browser, apps[0], "analyst")
    assert browser.get("/surveys/visited").status_code == 200


def test_groups_have_no_distribution(apps: tuple[Flask, Flask]) -> None:
    """Only what is asked about as a whole has: of each of 200 groups it took most of a minute."""
    found = asking(apps[0]).get(f"{BASE}/estimates?distribution=1&by=campus").json
    assert found["questions"][2]["distribution"]
    assert not any(group["questions"][2].get("distribution") for group in found["groups"])
