"""Intervals and p-values that are valid at every look: exact sums over all paths, simulated surveys, and how to ask."""

from __future__ import annotations

import csv
import importlib.util
import io
import json
import math
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from click.testing import CliRunner
from flask import Flask
from flask.testing import FlaskClient
from scipy.integrate import quad
from scipy.stats import binom, norm

from deniable_protocol import publish, survey_from_tree
from deniable_server import create_app
from deniable_server.cli import cli
from deniable_server.estimator import anytime
from deniable_server.estimator.intervals import CLEAR, Aim, Rule, share_limits, share_of_support
from deniable_server.settings import Settings
from deniable_server.simulate import Population, simulate_directly
from deniable_server.wording import chance
from tests.helpers.servers import storage_of
from tests.helpers.sign_in import enter
from tests.helpers.surveys import TEXTBOOK

ANYTIME, ONE_LOOK = Aim(anytime=True), Aim()


def coin(epsilon: float) -> Rule:
    """A yes_no question."""
    p = 1 / (1 + math.exp(-epsilon))
    q, gap = 1 - p, 2 * p - 1
    return Rule(p, q, gap, p * q / gap**2, p * q / gap**2)


# --- exact sums ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("parts", [[(0.0, 1.0)], [(-0.6, 0.3, 1.6)], [(-0.6, 0.3, 1.6), (-2.0, 3.0)]])
def test_a_bet_against_the_truth_gains_nothing(parts: list[tuple[float, ...]]) -> None:
    """Over all possible reports, what the bets become is 1 on average: of two values, of three, and of two parts."""
    truth, reports = 0.4, 3
    chances = []
    for values in parts:
        # Some of the scores between, and the lowest and the highest, mixed so that their mean is the truth.
        middle = [0.2] * (len(values) - 2)
        rest, mean = 1 - sum(middle), 0.2 * sum(values[1:-1])
        top = (truth - mean - rest * values[0]) / (values[-1] - values[0])
        chances.append([rest - top, *middle, top])
    ways = [[*product(range(len(values)), repeat=reports)] for values in parts]
    total = 0.0
    for drawn in product(*ways):
        chance = math.prod(chances[i][j] for i, some in enumerate(drawn) for j in some)
        each = [
            anytime.Reports(values, np.bincount(some, minlength=len(values)).tolist(), 1 / (i + 1))
            for i, (values, some) in enumerate(zip(parts, drawn, strict=True))
        ]
        total += chance * math.exp(anytime._stakes(each, np.array(truth)))
    assert total == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(("rule", "share"), [(coin(1), 0.0), (coin(1), 0.3), (coin(4), 0.05), (CLEAR, 0.1)])
def test_all_intervals_contain_the_truth_together(rule: Rule, share: float) -> None:
    """The chance that any interval after 1, 2, ... 40 reports misses, summed over all paths, is at most 5%. That of
    intervals for one look is more.
    """
    rate, missed = rule.q + share * rule.gap, {}
    for aim in (ANYTIME, ONE_LOOK):
        alive = np.array([1.0])  # the chance of each count without a miss so far
        for n in range(1, 41):
            alive = np.convolve(alive, [1 - rate, rate])
            for y in np.flatnonzero(alive):
                raw = share_of_support(rule, float(y), float(n), aim)
                alive[y] *= raw.low <= share + 1e-12 and share - 1e-12 <= raw.high
        missed[aim] = 1 - alive.sum()
    assert missed[ANYTIME] <= 0.05
    if share == 0.3:
        assert missed[ONE_LOOK] > 0.05


@pytest.mark.parametrize(("epsilon", "n"), [(0.5, 100), (1, 1_000), (4, 30), (8, 10_000), (1, 10_000_000)])
def test_limits_enclose_all_that_is_not_rejected(epsilon: float, n: int) -> None:
    """No share outside of the limits is kept, and they are no further out than a thousandth of the interval."""
    rule = coin(epsilon)
    for share in (0.0, 0.02, 0.5, 1.0):
        y = min(max(round(n * (rule.q + share * rule.gap)), n * rule.q), n * rule.p)
        low, high = share_limits(rule, y, n, ANYTIME)
        reports = [anytime.Reports((-rule.q / rule.gap, (1 - rule.q) / rule.gap), (n - y, y))]
        tried = np.linspace(low - (high - low), high + (high - low), 3_001)[1:-1:2]
        tried = tried[(tried > reports[0].values[0]) & (tried < reports[0].values[1])]
        kept = tried[anytime._stakes(reports, tried) < math.log(20)]
        assert low <= kept.min() < low + (high - low) / 400
        assert high - (high - low) / 400 < kept.max() <= high


def test_tests_are_robbins_mixtures() -> None:
    """The bets behind a p-value are an integral over normal effects, and the quantile is where it is alpha."""
    z, n = 3.1, 700.0

    def one(size: float) -> float:
        def gained(effect: float) -> float:
            density = float(norm.pdf(effect, scale=size**-0.5))
            return math.exp(effect * math.sqrt(n) * z - effect**2 * n / 2) * density

        return float(quad(gained, -3, 3, points=[z / math.sqrt(n)], limit=200)[0])

    stake = np.mean([one(size) for size in anytime.SIZES])
    assert float(anytime.p_value(z**2, 1, n)) == pytest.approx(1 / stake, rel=1e-6)
    # Independent directions: three statistics of one degree of freedom with the same size of effect.
    times = n / anytime.SIZES
    three = np.mean((1 + times) ** -1.5 * np.exp(z**2 / 2 * times / (1 + times)))
    assert float(anytime.p_value(z**2, 3, n)) == pytest.approx(min(1.0, 1 / three))
    sizes = np.array([1.0, 30.0, 1e3, 1e7])
    for alpha in (0.2, 0.05, 1e-4):
        found = anytime.quantile(sizes, alpha)
        assert np.allclose(anytime.p_value(found**2, 1, sizes), alpha)


def test_intervals_cost_less_than_twice_their_length() -> None:
    """From 100 reports to ten million they are at most 1.85 times as long as those for one look."""
    for epsilon, share, n in product((0.5, 1, 4), (0.3, 0.5), (100, 10_000, 10_000_000)):
        rule = coin(epsilon)
        y = round(n * (rule.q + share * rule.gap))
        mine, theirs = (np.ptp(share_limits(rule, y, n, aim)) for aim in (ANYTIME, ONE_LOOK))
        assert 1.3 < mine / theirs < 1.85


def test_limits_do_not_vanish_or_shrink() -> None:
    """A count that no share could give still has an interval. A design makes it longer, a population no shorter."""
    rule = coin(1)
    low, high = share_limits(rule, 0.0, 400.0, ANYTIME)
    assert low <= 0 and 0.1 < high < 0.3
    y, n = 17_000.0, 40_000.0
    usual = np.array(share_limits(rule, y, n, ANYTIME))
    designed = np.array(share_limits(rule, y, n, Aim(deff=2.0, anytime=True)))
    assert designed[0] < usual[0] and designed[1] > usual[1]
    # Twice the sampling variance, and noise as it was.
    share = (y / n - rule.q) / rule.gap
    grown = (2 * share * (1 - share) + rule.v0) / (share * (1 - share) + rule.v0)
    assert np.ptp(designed) / np.ptp(usual) == pytest.approx(math.sqrt(grown), rel=0.02)
    assert share_limits(rule, y, n, Aim(population=40_000, anytime=True)) == tuple(usual)


# --- simulated surveys -----------------------------------------------------------------------------------------------


def load(path: Path) -> ModuleType:
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(f"bench_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    sys.path.remove(str(path.parent))
    return module


bench = load(Path(__file__).parents[2] / "bench/anytime.py")


@pytest.mark.parametrize(
    "setting",
    [
        bench.share("1", 0.03),
        bench.several_paths("2"),
        bench.pooled("1"),
        bench.conditional("2"),
        bench.mean("2"),
        bench.difference("1", bench.YES_NO),
        bench.difference("4", bench.NUMBER),
        bench.independence("2"),
    ],
    ids=lambda setting: setting.name,
)
def test_watched_surveys_hardly_ever_miss(setting: bench.Setting) -> None:  # type: ignore[name-defined]
    """Of 60 surveys that are watched at 50 looks at least 57 never miss, with a fixed seed. With intervals for one look
    more than six do. ``bench/anytime.py`` has 2,000 surveys and 1,000 looks.
    """
    counts = bench.grown(setting, 60, bench.looks(10, 20_000, 50), np.random.default_rng(5))
    assert bench.misses(setting, counts, ANYTIME).sum() <= 3
    assert bench.misses(setting, counts, ONE_LOOK).sum() > 6


# --- asking ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("anytime") / "a.db")


@pytest.fixture(scope="module")
def app(database: str) -> Iterator[Flask]:
    app = create_app(Settings(database=database))
    storage = storage_of(app)
    for name, people in (("textbook", 400), ("finished", 40)):
        storage.publish(publish(survey_from_tree({**TEXTBOOK, "id": name})))
        published = storage.find(name)
        assert published is not None
        simulate_directly(storage, published, Population(published.document.survey, 1), people, lambda done: None)
    finished = storage.find("finished")
    assert finished is not None
    storage.close_survey(finished)
    yield app
    storage.close()


@pytest.fixture
def http(app: Flask) -> FlaskClient:
    http = app.test_client()
    enter(http, app, "admin")
    return http


@pytest.mark.parametrize(
    ("path", "rows"),
    [
        ("estimates?", lambda found: found["questions"][0]["shares"]),
        ("compare?question=vaped&by=campus&", lambda found: found["differences"]),
        ("compare?question=hours&by=campus&", lambda found: found["differences"]),
        ("crosstab?rows=vaped&columns=stress&", lambda found: found["cells"]),
        ("crosstab?rows=vaped&columns=campus&", lambda found: found["cells"]),
    ],
)
def test_anytime_is_asked_for_and_said(http: FlaskClient, path: str, rows: object) -> None:
    """Results without it are for one look and say nothing; with it they say so, and each interval is longer."""
    assert callable(rows)
    texts = [http.get(f"/api/v1/surveys/textbook/{path}anytime={flag}").text for flag in (0, 1)]
    usual, watched = map(json.loads, texts)
    assert "anytime" not in usual and watched["anytime"] is True
    for one, two in zip(rows(usual), rows(watched), strict=True):
        assert two["low"] <= one["low"] and two["high"] >= one["high"]
        assert two["high"] - two["low"] > one["high"] - one["low"] or one["high"] - one["low"] > 0.9
        if "p_value" in one:
            assert two["p_value"] >= one["p_value"]
            assert (two["p_value"] < 0.05) == (two["low"] > 0 or two["high"] < 0)


def test_regression_refuses_to_be_watched(http: FlaskClient) -> None:
    """The reason says what to do instead."""
    refused = http.get("/api/v1/surveys/textbook/regression?question=vaped&on=campus&anytime=1")
    assert refused.status_code == 400 and "for one look" in refused.text
    assert http.get("/api/v1/surveys/textbook/regression?question=vaped&on=campus&anytime=0").status_code == 200


def test_tables_and_commands_say_it(http: FlaskClient, database: str) -> None:
    """The CSV says it in its target and method, and each command in a sentence."""
    text = http.get("/api/v1/surveys/textbook/estimates.csv?anytime=1").text
    rows = [*csv.DictReader(io.StringIO(text))]
    assert {row["target"] for row in rows} == {"population, valid at every look"}
    assert all("valid at every look" in row["method"] for row in rows)
    commands = [
        ["estimate", "textbook"],
        ["compare", "textbook", "--question", "vaped", "--by", "campus"],
        ["crosstab", "textbook", "--rows", "vaped", "--columns", "campus"],
    ]
    for command in commands:
        said = CliRunner().invoke(cli, [*command, "--anytime", "--database", database])
        assert said.exit_code == 0 and "valid however often you look" in " ".join(said.output.split())
        assert "however often" not in CliRunner().invoke(cli, [*command, "--database", database]).output
    found = CliRunner().invoke(cli, ["estimate", "textbook", "--anytime", "--json", "--database", database])
    assert json.loads(found.output)["anytime"] is True


def test_the_dashboard_of_an_open_survey_is_watched(http: FlaskClient) -> None:
    """Its numbers are those of anytime=1 and it says so, on all three pages; those of a closed survey are for one look,
    unless it is compared with an open one.
    """
    pages = ["", "/compare?question=vaped&by=campus", "/crosstab?rows=vaped&columns=campus"]
    for page in pages:
        assert "valid however often you look" in http.get(f"/surveys/textbook{page}").text
        assert "however often" not in http.get(f"/surveys/finished{page}").text
    compared = "/surveys/finished/compare?question=vaped&with=textbook"
    assert "valid however often you look" in http.get(compared).text
    links = http.get("/surveys/textbook").text
    assert "anytime=1" in links and "anytime" not in http.get("/surveys/finished").text


def test_a_sure_chance_is_written_out() -> None:
    """A p-value of 1, which tests at every look often have, is 100% and no power of ten."""
    assert [chance(p) for p in (1.0, 0.996, 0.33, 0.00001)] == ["100%", "100%", "33%", "less than 0.01%"]


def test_the_chance_of_a_miss_is_small_where_reports_are_few() -> None:
    """At 1 in 10,000 reports of the rarer kind, limits for every look contain the truth at each of them together."""
    rate, n = 1e-4, 20_000
    ends = [share_limits(CLEAR, float(y), float(n), ANYTIME) for y in range(30)]
    held = sum(binom.pmf(y, n, rate) for y, (low, high) in enumerate(ends) if low <= rate <= high)
    assert held > 0.99
