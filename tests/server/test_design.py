"""The design of a survey: booklets against published numbers, other solvers, and what no choice of blocks can beat."""

from __future__ import annotations

import itertools
import json
import math
import os
import subprocess
import sys
from fractions import Fraction
from importlib.resources import files
from typing import Any

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import linprog

from deniable_protocol import (
    Document,
    N,
    Subset,
    Survey,
    SurveyError,
    items_of,
    needs,
    parse_survey,
    publish,
    survey_from_tree,
    verify,
)
from deniable_protocol.design import subset
from deniable_server.planning import Wanted, design_booklets, programme, publish_survey
from deniable_server.planning.blocks import Blocks
from deniable_server.planning.design import _blocks, _integers
from deniable_server.planning.precision import precision
from deniable_server.planning.programme import Search
from deniable_server.planning.sample_size import respondents_for_margin
from deniable_server.planning.tables import tables_of
from deniable_server.planning.variances import designed_variance
from deniable_server.storage import open_storage
from tests.helpers.surveys import JOINT, joint_surveys

Z = stats.norm.ppf(0.975)


def options(count: int) -> list[dict[str, str]]:
    return [{"code": f"c{i}", "text": "?"} for i in range(count)]


def yes_no(name: str, **keys: Any) -> dict[str, Any]:
    return {"id": name, "type": "yes_no", **keys}


def choice(name: str, count: int, **keys: Any) -> dict[str, Any]:
    return {"id": name, "type": "choice", "options": options(count), **keys}


def survey_of(*trees: dict[str, Any], epsilon: float | str = 2, together: Any = ()) -> Survey:
    tree = {
        "id": "a-survey",
        "title": "A survey",
        "epsilon": str(epsilon),
        "questions": [{"text": "?", **t} for t in trees],
    }
    return survey_from_tree(tree | ({"together": together} if together else {}))


EIGHT = [
    yes_no("vaped"),
    yes_no("harassed", decline=True),
    choice("substance", 5, decline=True),
    {"id": "support", "type": "multi_choice", "options": options(4)},
    {"id": "stress", "type": "scale", "labels": [*"abcde"]},
    {"id": "wellbeing", "type": "scale", "labels": [*"abcde"], "measure": "mean"},
    {"id": "drinks", "type": "number", "min": 0, "max": 40},
    {"id": "debt", "type": "number", "measure": "shares", "min": 0, "max": 9, "bins": [1, 2, 3, 4], "decline": True},
]
CROSSED = [["vaped", "stress"], ["harassed", "stress"], ["vaped", "harassed"]]


@pytest.mark.parametrize(
    ("epsilon", "crossed", "respondents"),
    [(1, 0, 81_062), (2, 0, 23_809), (4, 0, 8_680), (1, 1, 86_594), (2, 1, 24_786), (4, 1, 8_684)],
)
def test_the_example_needs_the_published_numbers(epsilon: int, crossed: int, respondents: int) -> None:
    """Eight questions within 3 points, and three cross-tabs within 5: at most 1% above the best there is.

    The best was computed independently, by another programme, with numbers on 9 or 17 levels. On 49, the worst variance
    of their mean differs by up to 2%, which moves these figures by less than one in ten thousand.
    """
    found = design_booklets(survey_of(*EIGHT, epsilon=epsilon, together=CROSSED * crossed))
    assert found.fewest is not None
    assert found.fewest == pytest.approx(respondents, rel=1e-4, abs=2)
    assert respondents - 2 <= found.respondents <= 1.01 * respondents


# --- against other ways to compute it ----------------------------------------------------------------------------


def summed_variance(channel: Subset, owned: int, share: float) -> float:
    """The variance of the unbiased share of an answer that owns some of the paths, summed over what a report can hold.

    y counts the owned paths in a report. Those that are drawn besides the true one are drawn without replacement.
    """
    favoured, others = channel.favour / N, channel.options - 1

    def moments(is_owned: bool) -> np.ndarray[Any, Any]:
        left = owned - is_owned
        total = np.zeros(2)
        for chance, drawn, held in ((favoured, channel.size - 1, int(is_owned)), (1 - favoured, channel.size, 0)):
            y = np.arange(drawn + 1)
            mass = chance * stats.hypergeom.pmf(y, others, left, drawn)
            total += [mass @ (y + held), mass @ (y + held) ** 2]
        return total

    (p, p2), (q, q2) = moments(True), moments(False)
    rate, second = q + share * (p - q), q2 + share * (p2 - q2)
    return float((second - rate**2) / (p - q) ** 2)


def brute_force(sizes: list[int], pairs: list[tuple[int, int]], epsilon: Fraction) -> float:
    """The fewest respondents over all blocks of at most four questions, by another solver."""
    targets = [*((place,) for place in range(len(sizes))), *pairs]
    columns = []
    for count in range(1, 5):
        for block in itertools.combinations(range(len(sizes)), count):
            paths = [*itertools.product(*(range(sizes[place]) for place in block))]
            if len(paths) > 51:
                continue
            best = subset(len(paths), epsilon).size
            for size in {1, best} if count > 1 else {best}:
                channel = subset(len(paths), epsilon, size)
                column = []
                for target in targets:
                    gain = 0.0
                    if set(target) <= set(block):
                        owned = len(paths) // math.prod(sizes[place] for place in target)
                        margin, share = (0.03, 0.5) if len(target) == 1 else (0.05, 0.25)
                        gain = margin**2 / (Z**2 * summed_variance(channel, owned, share))
                    column.append(gain * 1e4)
                columns.append(column)
    gains = np.array(columns).T
    found = linprog(
        [*np.zeros(len(columns)), -1],
        A_ub=np.hstack([-gains, np.ones((len(targets), 1))]),
        b_ub=np.zeros(len(targets)),
        A_eq=[[*np.ones(len(columns)), 0]],
        b_eq=[1],
        method="highs-ipm",
    )
    return 1e4 / float(found.x[-1])


@pytest.mark.parametrize("epsilon", ["0.5", "2", "3.5"])
@pytest.mark.parametrize(
    ("sizes", "pairs"), [([2, 2, 3, 4], [(0, 1)]), ([2, 2, 2, 2, 2], []), ([3, 3, 2], [(0, 1), (1, 2)])]
)
def test_no_choice_of_blocks_is_better(epsilon: str, sizes: list[int], pairs: list[tuple[int, int]]) -> None:
    """The fewest respondents are those of a brute-force search with another solver, to a millionth."""
    names = [f"q{place}" for place in range(len(sizes))]
    survey = survey_of(
        *(choice(name, count) for name, count in zip(names, sizes, strict=True)),
        epsilon=epsilon,
        together=[[names[place] for place in pair] for pair in pairs],
    )
    solved, fewest = Search(blocks_of(survey)).run()
    assert fewest == pytest.approx(brute_force(sizes, pairs, Fraction(epsilon)), rel=1e-6)
    assert 1 / solved.tau == pytest.approx(fewest, rel=1e-9)


def blocks_of(survey: Survey) -> Blocks:
    return _blocks(survey, Wanted(), survey.exact_epsilon)


@settings(max_examples=25)
@given(joint_surveys(most_questions=3, most=5))
def test_the_prices_prove_the_optimum(tree: dict[str, Any]) -> None:
    """Weak duality: at the dual prices no block is worth more than tau, so that no choice of blocks beats it.

    At most 15 atoms make at most 1,940 blocks: all are in the programme.
    """
    search = Search(blocks_of(possible(tree)))
    assert len(search.blocks.atoms) <= 15
    solved, fewest = search.run()
    most = max(float(solved.prices[list(report.targets)] @ report.information) for report in search.reports)
    assert solved.prices.sum() == pytest.approx(1) and solved.prices.min() >= 0
    assert most == pytest.approx(solved.tau, rel=1e-6)
    assert fewest is not None and fewest <= 1 / most * (1 + 1e-6)


@pytest.mark.parametrize("epsilon", [1, 2, 4])
def test_a_long_survey_is_searched_as_well_as_a_short_one(epsilon: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """If blocks are taken up as they are found, the result is the same to half a percent, and the bound is a bound."""
    survey = survey_of(
        *EIGHT, *(yes_no(f"q{i}") for i in range(3)), epsilon=epsilon, together=[*CROSSED, ["vaped", "q0", "q1"]]
    )
    exact = Search(blocks_of(survey)).run()[1]
    monkeypatch.setattr(programme, "MOST_BLOCKS", 0)
    search = Search(blocks_of(survey))
    solved, fewest = search.run()
    assert exact is not None and fewest is not None
    assert fewest <= exact * (1 + 1e-9)
    assert exact <= 1 / solved.tau * (1 + 1e-9) <= 1.005 * exact
    assert len(search.reports) < 1_000


def test_options_after_a_question_are_searched_without_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Options of a multi_choice with a show_if share its parent. If not all blocks are in the programme, the design is
    still within half a percent of the best, but how far it is from it is not known.
    """
    helped = {"id": "helped", "type": "multi_choice", "options": options(7), "show_if": {"vaped": ["yes"]}}
    survey = survey_of(yes_no("vaped"), helped, choice("stress", 5), yes_no("smoked"))
    exact = Search(blocks_of(survey)).run()[1]
    monkeypatch.setattr(programme, "MOST_OVERLAPPING", 0)
    solved, fewest = Search(blocks_of(survey)).run()
    assert exact is not None and fewest is None
    assert exact <= 1 / solved.tau * (1 + 1e-9) <= 1.005 * exact


@pytest.mark.parametrize("linked", [False, True])
def test_two_hundred_questions_are_near_the_best(linked: bool) -> None:
    """Of 200 questions of all kinds, with 60 cross-tabs or none, the design is proven to be within 2% of the best."""
    trees = [choice(f"q{i}", 2 + i % 6) for i in range(200)]
    survey = survey_of(*trees, together=[[f"q{i}", f"q{i + 6}"] for i in range(60)] if linked else ())
    found = design_booklets(survey)
    assert found.fewest is not None and found.fewest <= found.respondents <= 1.02 * found.fewest


def test_equal_questions_are_asked_in_pairs_at_two() -> None:
    """Eight yes/no questions at epsilon 2: each booklet asks two, and each question is asked of a quarter of people."""
    found = design_booklets(survey_of(*(yes_no(f"q{i}") for i in range(8))))
    assert {len(names) for names, _ in found.parts} == {2}
    total = sum(weight for _, weight in found.booklets)
    for name in (f"q{i}" for i in range(8)):
        asked = sum(weight for (part,), weight in found.booklets if name in found.parts[part][0])
        assert asked / total == pytest.approx(0.25, abs=0.001)


# --- what every design is ----------------------------------------------------------------------------------------


def possible(tree: dict[str, Any]) -> Survey:
    try:
        return survey_from_tree(tree)
    except SurveyError:  # too many combinations of answers
        reject()


@settings(max_examples=60)
@given(joint_surveys(most_questions=6), st.data())
def test_every_design_can_be_published(tree: dict[str, Any], data: st.DataObject) -> None:
    """Every item is covered, no follow-up is without what it depends on, what is wanted together is in one part, the
    weights sum to at most 10,000, and the document's own precision is what the design promises.
    """
    names = [item.name for item in items_of(possible(tree)) if item.can_join]
    if len(names) > 1:
        tree["together"] = [data.draw(st.lists(st.sampled_from(names), min_size=2, max_size=3, unique=True))]
    survey = possible(tree)
    document = verify(publish_survey(survey))
    parts = [set(part.names) for part in document.parts]
    assert set().union(*parts) == {item.name for item in items_of(survey)}
    for item in items_of(survey):
        needed = {need.name for need in needs(survey, item)}
        assert all(needed <= part for part in parts if item.name in part)
    assert all(any(set(wanted) <= part for part in parts) for wanted in survey.together)
    assert sum(booklet.weight for booklet in document.booklets) <= 10_000
    assert all(len(booklet.parts) == 1 for booklet in document.booklets)
    assert needed_by(document) == pytest.approx(design_booklets(survey).respondents, abs=1)


def needed_by(document: Document) -> int:
    wanted = Wanted()
    return max(respondents_for_margin(known.variance, known.wanted(wanted)) for known in precision(document))


def test_a_question_and_its_follow_ups_stay_together() -> None:
    """Wherever a follow-up is asked, so is its parent; the parent alone is asked only for a cross-tab that needs it."""
    often = choice("often", 5, show_if={"vaped": ["yes"]})
    where = {"id": "where", "type": "scale", "labels": [*"abcd"], "show_if": {"often": ["c0", "c1"]}}
    loose = design_booklets(survey_of(yes_no("vaped"), often, where, choice("stress", 5)))
    assert all({"vaped", "often", "where"} <= set(names) for names, _ in loose.parts if "vaped" in names)
    # All three have 12 paths. With the five of stress that is more than 51: the cross-tab has a part without them.
    tight = design_booklets(
        survey_of(yes_no("vaped"), often, where, choice("stress", 5), together=[["vaped", "stress"]])
    )
    assert ("vaped", "stress") in [names for names, _ in tight.parts]
    assert all("vaped" in names for names, _ in tight.parts if "often" in names)


def test_a_multi_choice_by_its_id_means_each_option() -> None:
    """Crossed with another question, every option shares a part with it."""
    support = {"id": "support", "type": "multi_choice", "options": options(3)}
    survey = survey_of(support, choice("stress", 5), together=[["support", "stress"]])
    assert len(tables_of(survey)) == 3
    parts = [set(names) for names, _ in design_booklets(survey).parts]
    assert all(any({f"support.c{i}", "stress"} <= part for part in parts) for i in range(3))


def test_three_together_share_a_part() -> None:
    """A triple is in one part, and so is each of its pairs: four tables in all."""
    survey = survey_of(yes_no("a"), yes_no("b"), choice("c", 3), together=[["a", "b", "c"]])
    assert sorted(len(table) for table in tables_of(survey)) == [2, 2, 2, 3]
    assert any({"a", "b", "c"} <= set(names) for names, _ in design_booklets(survey).parts)


def test_the_same_survey_has_the_same_design() -> None:
    """In another process, with other hashes of texts, the bytes are the same."""
    code = (
        "import hashlib, json, sys; from deniable_protocol import survey_from_tree;"
        "from deniable_server.planning import publish_survey;"
        "print(hashlib.sha256(publish_survey(survey_from_tree(json.loads(sys.argv[1])))).hexdigest())"
    )
    tree = JOINT | {"questions": [*JOINT["questions"], *({"text": "?", **yes_no(f"q{i}")} for i in range(20))]}
    other = subprocess.run(
        [sys.executable, "-c", code, json.dumps(tree)],
        env={**os.environ, "PYTHONHASHSEED": "1"},  # of this process it is a random one
        capture_output=True,
        text=True,
        check=True,
    )
    assert other.stdout == f"{verify(publish_survey(survey_from_tree(tree))).digest}\n"


def test_the_last_digits_of_a_variance_choose_no_booklets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processors, and numbers of threads, differ in them: of two choices that are equally good, all take the same."""
    survey = parse_survey((files("deniable_server") / "example.toml").read_bytes())
    chosen = []
    for last in (-3, -2, -1, 0, 1, 2, 3):
        monkeypatch.setattr(
            "deniable_server.planning.design.designed_variance",
            lambda item, epsilon, more=1 + last * 2**-52: lambda share: designed_variance(item, epsilon)(share) * more,
        )
        chosen.append(design_booklets.__wrapped__(survey))
    assert len({*chosen}) == 1


def test_means_and_mechanisms_are_parts_by_themselves() -> None:
    """They have their own channel, also where the survey has one epsilon."""
    krr = choice("c", 4, mechanism="krr")
    found = design_booklets(survey_of(yes_no("a"), {"id": "n", "type": "number", "min": 0, "max": 1}, krr, epsilon=4))
    assert [names for names, _ in found.parts if {"n", "c"} & set(names)] == [("n",), ("c",)]


def test_questions_with_their_own_epsilons_are_published_as_they_are() -> None:
    """The textbook's design has one booklet of everything."""
    tree = {"id": "a-survey", "title": "T", "questions": [{"text": "?", "epsilon": 1, **yes_no(n)} for n in ("a", "b")]}
    survey = survey_from_tree(tree)
    assert publish_survey(survey) == publish(survey)


@given(st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=60))
def test_weights_are_rounded_to_integers(weights: list[float]) -> None:
    """Each is at least 1, they sum to at most 10,000, and none is off by more than a ten-thousandth or two."""
    whole = _integers(weights)
    assert min(whole) >= 1 and sum(whole) <= 10_000 and math.gcd(*whole) == 1
    for exact, rounded in zip(weights, whole, strict=True):
        assert rounded / sum(whole) == pytest.approx(exact / sum(weights), abs=(1 + len(weights)) / 10_000)


def test_thousands_of_booklets_still_have_weights() -> None:
    """So many that each of the smallest has to be raised to 1: what is too much is taken from the largest."""
    whole = _integers([1.0] + [1e-9] * 9_000)
    assert whole == [1_000] + [1] * 9_000


# --- what cannot be ----------------------------------------------------------------------------------------------


def test_too_many_cross_tabs_are_refused() -> None:
    """Two long multi_choices crossed with each other ask for 2,500 cross-tabs: the error says so, with its place."""
    long = [{"id": name, "type": "multi_choice", "options": options(50)} for name in ("a", "b")]
    with pytest.raises(SurveyError, match=r"together: asks for 2,500 cross-tabs"):
        design_booklets(survey_of(*long, together=[["a", "b"]]))


# --- publishing again ---------------------------------------------------------------------------------------------


def test_the_survey_decides_not_the_design(tmp_path: Any) -> None:
    """Publishing a survey again changes nothing, even if its booklets would be chosen differently now."""
    survey = survey_of(yes_no("a"), yes_no("b"), choice("c", 3))
    other = publish(survey, [(["a"], None), (["b"], None), (["c"], None)], [([0], 1), ([1], 2), ([2], 3)])
    assert other != publish_survey(survey)
    storage = open_storage(str(tmp_path / "a.db"))
    assert storage.publish(other) is True
    assert storage.publish(publish_survey(survey)) is False
    kept = storage.find("a-survey")
    assert kept is not None and kept.raw == other
    storage.close()
