"""Weights in comparisons and cross-tabs: equal weights change nothing, one group alone is that group, and coverage."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from flask.testing import FlaskClient

from deniable_protocol import survey_from_tree, verify
from deniable_protocol.design import subset
from deniable_server import create_app
from deniable_server.estimator import Evidence
from deniable_server.estimator.by_group import Layer, weighted_segment
from deniable_server.estimator.comparison import Group, compare
from deniable_server.estimator.crosstab import Crosstab
from deniable_server.estimator.joint import weighted_questions
from deniable_server.estimator.weights import Raked, Weighed
from deniable_server.planning import publish_survey
from deniable_server.settings import Settings
from deniable_server.simulate import Population, simulate_directly
from tests.helpers.servers import storage_of
from tests.helpers.surveys import CAMPUS, JOINT
from tests.server import test_joint_results
from tests.server.test_joint import pair, sampled
from tests.server.test_results import get, refused
from tests.server.test_row_percentages import lines

Array = npt.NDArray[np.float64]
YEAR = {"id": "year", "text": "Year?", "options": [{"code": code, "text": code.title()} for code in ("first", "later")]}
TREE: dict[str, Any] = {**JOINT, "id": "weighted", "segments": [CAMPUS, YEAR]}


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("weighted") / "w.db"
    storage = storage_of(create_app(Settings(database=str(path))))
    for name in ("weighted", "before"):
        document = publish_survey(survey_from_tree({**TREE, "id": name}))
        storage.publish(document)
        published = storage.find(name)
        assert published is not None
        simulate_directly(storage, published, Population(verify(document).survey, 7), 3_000, lambda _: None)
    storage.close()
    return str(path)


app, http = test_joint_results.app, test_joint_results.http


def weights(**shares: float) -> str:
    """Margins of the year."""
    return "&".join(f"weight=year:{code}:{share}" for code, share in shares.items())


def own_margins(http: FlaskClient) -> dict[str, int]:
    return {each["code"]: each["submissions"] for each in get(http, "weighted/estimates?by=year")["groups"]}


TABLES = (
    "crosstab?rows=vaped&columns=stress",
    "crosstab?rows=campus&columns=stress",
    "crosstab?rows=support&columns=campus",
)


@pytest.mark.parametrize("query", [*TABLES, "compare?question=vaped&by=campus", "compare?question=hours&by=campus"])
def test_weights_that_are_met_already_change_nothing(http: FlaskClient, query: str) -> None:
    """Weighted to the margins that the submissions have, estimates are the same; limits move a little at most, by what
    the groups explain.
    """
    result = get(http, f"weighted/{query}&{weights(**own_margins(http))}")
    assert result["weighting"]
    part = "cells" if "cells" in result else "differences"
    for plain, weighted in zip(result[part], result["weighted"][part], strict=True):
        for name in ("estimate", "low", "high"):
            assert weighted[name] == pytest.approx(plain[name], abs=0.1 * (plain["high"] - plain["low"]))
        for name in ("of_row", "of_column"):
            if name in plain and plain[name]["estimate"] is not None:
                width = plain[name]["high"] - plain[name]["low"]
                assert weighted[name]["estimate"] == pytest.approx(plain[name]["estimate"], abs=0.1 * width)


@pytest.mark.parametrize("query", [*TABLES, "compare?question=stress&by=campus", "compare?question=vaped&with=before"])
def test_one_group_alone_is_that_group(http: FlaskClient, query: str) -> None:
    """With all weight on first-years, the weighted results are those of first-years."""
    weighted = get(http, f"weighted/{query}&{weights(first=1, later=0)}")["weighted"]
    only = get(http, f"weighted/{query}&where=year:first")
    for name in ("cells", "row_totals", "column_totals", "differences"):
        for ours, theirs in zip(weighted.get(name, ()), only.get(name, ()), strict=True):
            for each in ("estimate", "low", "high", "standard_error"):
                assert ours[each] == pytest.approx(theirs[each], rel=0.02, abs=0.003)
            for each in ("of_row", "of_column"):
                if each in theirs:
                    assert ours[each]["low"] == pytest.approx(theirs[each]["low"], abs=0.01)


def test_weights_must_fit(http: FlaskClient) -> None:
    """Both surveys of a comparison need the segment; two segments, and trimming nothing, are refused."""
    assert "weights are not possible" in refused(
        http, f"weighted/crosstab?rows=campus&columns=year&{weights(first=1, later=1)}"
    )
    assert "trim" in refused(http, "weighted/compare?question=vaped&by=campus&trim=2")


@pytest.mark.parametrize("written", [("30%", "70%"), ("30", "70"), ("0,3", "0.7"), ("3,000", "7,000"), ("300", "700")])
def test_margins_as_people_write_them(http: FlaskClient, written: tuple[str, str]) -> None:
    """Percent signs, decimal commas and thousands are understood the same way everywhere."""
    query = {"weight": [f"year:first:{written[0]}", f"year:later:{written[1]}"], "population": "10,000"}
    found = http.get("/api/v1/surveys/weighted/estimates", query_string=query).json
    assert found["weighting"]["margins"] == {"year": {"first": 0.3, "later": 0.7}}
    assert found["population"] == 10_000


@pytest.mark.parametrize("written", [("30", "60"), ("30%", "60%"), ("30%", "70"), ("30", "90"), ("3%", "7%")])
def test_percentages_that_do_not_add_up_are_refused(http: FlaskClient, written: tuple[str, str]) -> None:
    """A slip is not taken for head counts."""
    query = {"weight": [f"year:first:{written[0]}", f"year:later:{written[1]}"]}
    found = http.get("/api/v1/surveys/weighted/estimates", query_string=query)
    assert found.status_code == 400 and "weights for year" in found.json["detail"]


# --- coverage --------------------------------------------------------------------------------------------------------

SAMPLES = 200
LEAST = 0.91
SIZES = (1_500, 400)
POPULATION = (0.4, 0.6)
STRATA = np.array([[[0.1, 0.3], [0.2, 0.4]], [[0.3, 0.1], [0.5, 0.1]]])
TRUTH = np.tensordot(POPULATION, STRATA, axes=1)
RATES = [share * sum(SIZES) / size for share, size in zip(POPULATION, SIZES, strict=True)]
RAKED = Raked([(0,), (1,)], RATES, SIZES)


def surveys() -> Iterator[list[tuple[Evidence, Evidence]]]:
    """Two strata, of which one is much rarer among respondents than in the population."""
    drawn = [sampled((2, 2), "3", 1, STRATA[i], n, SAMPLES) for i, n in enumerate(SIZES)]
    random = np.random.default_rng(2)
    for counts in zip(*(random.permutation(each) for each in drawn), strict=True):
        yield [pair((2, 2), "3", 1, n, each.tolist()) for n, each in zip(SIZES, counts, strict=True)]


def covered(tables: list[Crosstab], axis: str | None, truth: Array) -> float:
    def limits(table: Crosstab, name: str) -> Array:
        if axis is not None:
            return lines(table, axis, name)
        return np.array([getattr(cell, name) for cell in table.cells]).reshape(truth.shape)

    inside = [(limits(each, "low") <= truth) & (truth <= limits(each, "high")) for each in tables]
    return float(np.mean(inside, axis=0).min())


def test_weighted_tables_cover() -> None:
    """Of 200 seeded surveys of two strata with weights of 0.5 and 2.9, the 95% limits of every cell, row share and
    column share contain the population's in at least 91%; unweighted ones miss it.
    """
    found = [
        weighted_questions([(w, *each) for w, each in zip(RATES, cells, strict=True)], RAKED) for cells in surveys()
    ]
    assert covered(found, None, TRUTH) >= LEAST
    assert covered(found, "of_row", TRUTH / TRUTH.sum(1, keepdims=True)) >= LEAST
    assert covered(found, "of_column", TRUTH / TRUTH.sum(0)) >= LEAST
    plain = [weighted_questions([(1.0, *cells[0])], None) for cells in surveys()]
    assert covered(plain, None, TRUTH) < 0.5


def test_weighted_groups_cover() -> None:
    """The same for a segment by a question, and for the difference between its groups, weighted by another segment."""
    random, truth, channel_n = np.random.default_rng(8), TRUTH, (2, 2)
    tables, inside = [], []
    for _ in range(SAMPLES):
        groups: list[list[Layer]] = [[], []]
        everybody = []
        for weight, n, shares in zip(RATES, SIZES, STRATA, strict=True):
            members = random.multinomial(n, shares.sum(axis=1)).tolist()
            counts = []
            for g, size in enumerate(members):
                row = np.repeat(shares[g] / shares[g].sum(), 2).reshape(2, 2) / 2
                counts.append(sampled_once(random, row, size))
                groups[g].append(Layer(weight, size, pair(channel_n, "3", 1, size, counts[-1])[0]))
            both = np.sum(counts, axis=0).tolist()
            everybody.append(Layer(weight, n, pair(channel_n, "3", 1, n, both)[0]))
        tables.append(weighted_segment("s", ["a", "b"], groups, everybody, RAKED))
        compared = [
            Group(name, layers[0].evidence, Weighed([(each.weight, each.evidence) for each in layers], RAKED))
            for name, layers in zip("ab", groups, strict=True)
        ]
        row = compare(compared).differences[0]
        difference = truth[0, 0] / truth[0].sum() - truth[1, 0] / truth[1].sum()
        inside.append(row.low <= difference <= row.high)
        assert row.levels and row.estimate == pytest.approx(row.levels[0].estimate - row.levels[1].estimate)
    assert np.mean(inside) >= LEAST
    assert covered(tables, None, truth) >= LEAST
    assert covered(tables, "of_row", truth / truth.sum(1, keepdims=True)) >= LEAST
    assert covered(tables, "of_column", truth / truth.sum(0)) >= LEAST


CHANNEL = subset(4, Fraction(3), 1)
LAW = np.array([[float(CHANNEL.probability(x, 1 << y)) for y in range(4)] for x in range(4)])


def sampled_once(random: np.random.Generator, shares: Array, n: int) -> list[int]:
    counts: list[int] = random.multinomial(n, shares.ravel() @ LAW).tolist()
    return counts
