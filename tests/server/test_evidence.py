"""What several parts report on a question, brought together: exact sums, enumeration, and whole surveys."""

from __future__ import annotations

import importlib.util
import itertools
import math
import multiprocessing
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from deniable_protocol import Document, Subset, decode, randomize, verify
from deniable_protocol.design import band, subset
from deniable_server.estimator import Evidence, Heard, QuestionEstimate, estimate_question, gather
from deniable_server.estimator.evidence import binary_rule, pool, pool_sets
from deniable_server.estimator.intervals import Aim, Rule, joint_support, share_of_support
from deniable_server.estimator.ratios import ratios
from deniable_server.estimator.shares import project
from tests.helpers import server_faults
from tests.helpers.planting import Planted
from tests.helpers.surveys import joint, several

VAPED, OFTEN, STRESS, FRIEND = 0.4, (0.5, 0.3, 0.2), (0.2, 0.5, 0.2, 0.1), 0.3
TRUTH = {
    "vaped": {"yes": 0.4, "no": 0.6},
    "how_often": dict(zip(("monthly", "weekly", "daily"), OFTEN, strict=True)),
    "support": {"doctor": 0.25, "friend": 0.3, "nobody": 0.6},
    "stress": dict(zip(("1", "2", "3", "declined"), STRESS, strict=True)),
}


def load(name: str) -> Any:
    path = Path(__file__).parents[2] / f"bench/{name}.py"
    spec = importlib.util.spec_from_file_location(f"bench_{name}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


bench = load("joint_coverage")


def path_chance(document: Document, number: int, path: tuple[int | None, ...]) -> float:
    """How many people are on a path of a part, where questions are independent but for what is shown."""
    chance = 1.0
    for item, place in zip(document.parts[number].items, path, strict=True):
        if place is not None:
            shares = TRUTH[item.question.id]
            yes = shares.get(item.option or "")
            chance *= shares[item.codes[place]] if yes is None else (1 - yes, yes)[place]
    return chance


def expected(document: Document, n: int) -> tuple[list[list[int]], list[int]]:
    """The counts of n reports to each part, rounded, where all of it is as ``TRUTH`` has it; hours are all 20."""
    counts = []
    for number, part in enumerate(document.parts):
        channel = part.channel
        if not part.paths:  # hours: a quarter of the way
            exact = [n * float(channel.probability(12, report)) for report in channel.reports()]
        else:
            shares = [path_chance(document, number, path) for path in part.paths]
            found = [(float(each.p), float(each.q)) for each in channel.supports()]
            exact = [n * (q + (p - q) * share) for (p, q), share in zip(found, shares, strict=True)]
        whole = [round(count) for count in exact]
        whole[0] += n * (channel.held or 1) - sum(whole)
        counts.append(whole)
    return counts, [n] * len(counts)


def evidence_of(document: Document, name: str, counts: list[list[int]], sizes: list[int]) -> Evidence:
    question = next(each for each in document.survey.questions if each.id == name)
    answers = sum(sizes[number] for number in {number for number, _ in document.parts_about(name)})
    return gather(document, question, counts, sizes, answers)


def estimated(document: Document, name: str, counts: list[list[int]], sizes: list[int]) -> QuestionEstimate:
    return estimate_question(evidence_of(document, name, counts, sizes))


# --- from all parts, the truth ---------------------------------------------------------------------------------------


def check_truth_comes_out() -> None:
    for text in (joint(), several()):
        document = verify(text)
        counts, sizes = expected(document, 10**8)
        for name, truth in TRUTH.items():
            result = estimated(document, name, counts, sizes)
            assert {share.code: share.unbiased for share in result.shares} == pytest.approx(truth, abs=1e-6)
        often = estimated(document, "how_often", counts, sizes)
        assert often.applies and often.applies.unbiased == pytest.approx(VAPED, abs=1e-6)
        stress = estimated(document, "stress", counts, sizes)
        assert [share.unbiased for share in stress.among_answering or ()] == pytest.approx(
            [share / 0.9 for share in STRESS[:3]], abs=1e-6
        )
        hours = estimated(document, "hours", counts, sizes)
        assert hours.mean is not None and hours.mean.value == pytest.approx(20, abs=1e-4)


def test_the_truth_comes_out_of_all_parts() -> None:
    """From reports in exact proportion come the exact shares of every question: joint, pooled, conditional, options."""
    check_truth_comes_out()


def test_answers_are_reports_about_the_question() -> None:
    """``answers`` counts the submissions that report on it, and each option of a multi_choice has its own."""
    document = verify(joint())
    counts, sizes = expected(document, 1000)
    assert estimated(document, "vaped", counts, sizes).answers == 2000  # in two parts
    assert estimated(document, "stress", counts, sizes).answers == 2000
    support = estimated(document, "support", counts, sizes)
    assert support.answers == 3000
    assert [share.answers for share in support.shares] == [2000, 1000, 1000]  # a doctor: in two parts


def test_a_whole_survey_is_estimated() -> None:
    """4,000 people through the client's own randomiser: every share and the mean within 4.5 errors of the truth."""
    document, random = verify(several()), Random(11)
    counts = [[0] * part.channel.feature_count for part in document.parts]
    sizes = [0] * len(document.parts)
    for _ in range(4_000):
        answers = {
            "vaped": random.random() < VAPED,
            "how_often": random.choices(("monthly", "weekly", "daily"), OFTEN)[0],
            "support": [code for code, share in TRUTH["support"].items() if random.random() < share],
            "stress": random.choices((1, 2, 3, "declined"), STRESS)[0],
            "hours": random.choice((10, 30)),
        }
        sent = randomize(document, answers, {"campus": "north"}, read=random.randbytes)
        for number, report in zip(document.booklets[sent["booklet"]].parts, sent["reports"], strict=True):
            sizes[number] += 1
            channel = document.parts[number].channel
            counts[number] = [y + channel.shows(report, j) for j, y in enumerate(counts[number])]
    for name, truth in TRUTH.items():
        result = estimated(document, name, counts, sizes)
        for share in result.shares:
            assert share.unbiased is not None and share.standard_error is not None
            assert abs(share.unbiased - truth[share.code]) < 4.5 * share.standard_error
    hours = estimated(document, "hours", counts, sizes).mean
    assert hours and hours.value is not None and hours.standard_error is not None
    assert abs(hours.value - 20) < 4.5 * hours.standard_error


# --- unbiased, and how it varies -------------------------------------------------------------------------------------


def heard(channel: Subset, owned: int, reports: Iterable[int]) -> Heard:
    """An answer with the first paths, and another with the rest."""
    reports = [*reports]
    counts = [sum(report >> path & 1 for report in reports) for path in range(channel.options)]
    paths = tuple(range(channel.options))
    return Heard(channel, counts, len(reports), (paths[:owned], paths[owned:]), paths)


def check_pooled_is_unbiased() -> None:
    one, two = subset(4, Fraction(1), 1), subset(5, Fraction(2), 2)
    for truths in itertools.product(range(4), range(4), range(5)):
        expectation = 0.0
        for first, second, third in itertools.product(one.reports(), one.reports(), two.reports()):
            chance = one.probability(truths[0], first) * one.probability(truths[1], second)
            chance *= two.probability(truths[2], third)
            pooled = pool([heard(one, 2, [first, second]), heard(two, 1, [third])])
            assert pooled is not None
            expectation += float(chance) * float(pooled.unbiased[0])
        weights = pool([heard(one, 2, [1, 1]), heard(two, 1, [3])]).weights  # type: ignore[union-attr]
        owned = ((truths[0] < 2) + (truths[1] < 2)) / 2, float(truths[2] < 1)
        assert expectation == pytest.approx(weights @ np.array(owned), abs=1e-12)


def test_pooled_shares_are_unbiased() -> None:
    """Over all reports of three people in two parts, the expectation is the weighted share of their answers."""
    check_pooled_is_unbiased()


@pytest.mark.parametrize(("paths", "size"), [(2, 1), (5, 1), (5, 2), (6, 3), (7, 6)])
def test_covariances_are_those_of_the_reports(paths: int, size: int) -> None:
    """Enumerated over all reports, for three sets of paths and any shares: mean and covariance of what is decoded."""
    channel, random = subset(paths, Fraction(1), size), np.random.default_rng(paths)
    edges = np.sort(random.integers(0, paths + 1, 2))
    sets = [tuple(range(paths))[start:stop] for start, stop in zip([0, *edges], [*edges, paths], strict=True)]
    shares = random.dirichlet(np.ones(paths))
    reports = [*channel.reports()]
    chances = shares @ np.array([[float(channel.probability(x, r)) for r in reports] for x in range(paths)])
    decoded = np.array([[float(z) for z in decode(channel, report)] for report in reports])
    sums = np.stack([decoded[:, list(paths)].sum(axis=1) for paths in sets], axis=1)
    empty = Heard(channel, [0] * paths, 50, (), tuple(range(paths)))
    pooled = pool_sets([(empty, sets)])
    assert pooled is not None
    together = np.array([shares[list(paths)].sum() for paths in sets])
    assert chances @ sums == pytest.approx(together)
    spread = (sums.T * chances) @ sums - np.outer(together, together)
    assert 50 * pooled.covariance(together, Aim()) == pytest.approx(spread, abs=1e-9)


def test_an_equivalent_rule_varies_as_the_real_one() -> None:
    """Support that is 0 or 1 with p and q has just the noise v1 and v0; a rule that has p and q already stays."""
    for v1, v0 in ((3.0, 2.0), (0.0, 0.0), (0.1, 5.0), (40.5, 40.5)):
        rule = binary_rule(v1, v0)
        assert rule.p * (1 - rule.p) / rule.gap**2 == pytest.approx(v1, abs=1e-12)
        assert rule.q * (1 - rule.q) / rule.gap**2 == pytest.approx(v0, abs=1e-12)
        assert 0 <= rule.q < rule.p <= 1
    real = joint_support(subset(12, Fraction(2), 1), 5)
    assert binary_rule(real.v1, real.v0)[:3] == pytest.approx(real[:3])


def test_parts_with_the_same_rule_add_up() -> None:
    """Two parts of the same shape are one with all their reports: the same count, exact to the last digit."""
    channel, random = subset(6, Fraction(2)), Random(3)
    reports = [random.choice([*channel.reports()]) for _ in range(90)]
    apart = pool([heard(channel, 2, reports[:30]), heard(channel, 2, reports[30:])])
    whole = pool([heard(channel, 2, reports)])
    assert apart is not None and whole is not None
    assert apart.together([0]) == whole.together([0])
    assert (apart.n, apart.unbiased.tolist()) == (90, whole.unbiased.tolist())


def test_two_parts_are_surer_than_one() -> None:
    """Pooled with fixed weights, the error is that of the inverse variances: sqrt(1/(n1/V1 + n2/V2)) at one half."""
    blocks = [(subset(4, Fraction(2), 1), 2, 4000), (subset(24, Fraction(2), 1), 12, 1000)]
    certainty, found = 0.0, []
    for channel, owned, n in blocks:
        rule = joint_support(channel, owned)
        certainty += n / (0.25 + 0.5 * rule.v1 + 0.5 * rule.v0)
        y = round(n * (rule.q + 0.5 * rule.gap))
        counts = [y // owned] * owned + [(n - y) // (channel.options - owned)] * (channel.options - owned)
        counts[-1] += n - sum(counts)
        paths = tuple(range(channel.options))
        found.append(Heard(channel, counts, n, (paths[:owned], paths[owned:]), paths))
    pooled = pool(found)
    assert pooled is not None
    raw = share_of_support(*pooled.together([0]), Aim())
    assert raw.unbiased == pytest.approx(0.5, abs=2e-3)
    assert raw.standard_error == pytest.approx(math.sqrt(1 / certainty), rel=1e-3)


# --- coverage --------------------------------------------------------------------------------------------------------

Block = bench.Block


def check_shares_are_covered() -> None:
    for epsilon, paths, size, owned, n in (
        ("0.5", 48, None, 8, 300),
        ("1", 12, None, 4, 1000),
        ("2", 24, None, 6, 100),
        ("4", 12, 2, 3, 100),
        ("4", 48, 1, 3, 1000),
    ):
        block = Block(epsilon, paths, size, owned, 0)
        for share in (0.0, 0.03, 0.3, 0.9):
            assert bench.share_coverage([(block, n)], share) >= 0.949, (block, n, share)


def test_shares_of_joint_reports_are_covered() -> None:
    """Summed exactly, 95% intervals of shares and cells contain the truth with at least 94.9%."""
    check_shares_are_covered()


@pytest.mark.parametrize("epsilon", ["0.5", "1", "2", "4"])
@pytest.mark.parametrize("shapes", bench.POOLED)
def test_pooled_shares_are_covered(epsilon: str, shapes: Any) -> None:
    """So do those of questions in two parts, summed over all pairs of counts, with few reports and with many."""
    blocks = [Block(epsilon, paths, None, owned, 0) for paths, owned in shapes]
    for n, share in itertools.product((50, 1000), (0.0, 0.03, 0.5, 0.9)):
        assert bench.share_coverage([(blocks[0], n), (blocks[1], 2 * n)], share) >= 0.949, (n, share)


@pytest.mark.parametrize(
    ("epsilon", "shapes", "n", "applies"),
    [
        ("0.5", [(6, 1, 3)], 10_000, 0.9),
        ("2", [(6, 1, 3)], 300, 0.3),
        ("4", [(4, 1, 2)], 100, 0.5),
        ("2", [(48, 4, 20)], 1_000, 0.9),
        ("2", [(5, 1, 3), (10, 2, 6)], 1_000, 0.4),
    ],
)
def test_conditional_shares_are_covered(epsilon: str, shapes: Any, n: int, applies: float) -> None:
    """Of 10,000 seeded samples at least 94.4% (95% less 2.7 errors) contain the share among those who are asked."""
    parts = [(Block(epsilon, paths, None, owned, others), n) for paths, owned, others in shapes]
    for ratio in (0.0, 0.1, 0.5, 0.9):
        assert bench.conditional_coverage(parts, ratio, applies, 10_000) >= 0.944, ratio


def test_the_benchmark_measures_what_is_shipped() -> None:
    """A ratio that it counts as covered lies within the interval of that share, and one that it does not, outside."""
    document, random, seen = verify(joint()), np.random.default_rng(2), set()
    counts, sizes = expected(document, 300)
    for _ in range(60):
        for number in (0, 1):
            part, noise = document.parts[number].channel, random.normal(0, 6, len(counts[number]))
            row = [max(round(y + more), 0) for y, more in zip(counts[number], noise, strict=True)]
            sizes[number] = sum(row) // part.size  # type: ignore[attr-defined]
            row[0] -= sum(row) % part.size  # type: ignore[attr-defined]
            counts[number] = row
        (pooled,) = evidence_of(document, "how_often", counts, sizes).shares
        assert pooled is not None
        grouped = pooled.merged([[0], [1, 2]])
        for place, ratio in enumerate((0.0, 0.2, 0.5, 0.9)):
            (found,) = ratios(pooled, [[0]], range(3), Aim())
            low, high = (0.0, 1.0) if found.raw is None else found.raw[2:]
            (held,) = bench.conditional_held(grouped, grouped.unbiased[None, :], ratio)
            assert held == (low - 1e-9 <= ratio <= high + 1e-9)
            seen.add((place, bool(held)))
    assert len(seen) >= 6


def test_nothing_is_said_of_a_share_among_nobody() -> None:
    """Where nobody may be asked a question, its shares could be anything, and ``applies`` says why."""
    document = verify(joint())
    counts, sizes = expected(document, 2000)
    paths = document.parts[1].paths
    counts[1] = [0 if path[0] else 2000 // 4 for path in paths]  # nobody vaped, each stress as often
    counts[1][-1] += 2000 * document.parts[1].channel.size - sum(counts[1])
    sizes[0], counts[0] = 0, [0] * len(counts[0])
    result = estimated(document, "how_often", counts, sizes)
    assert result.applies and result.applies.low == 0
    for share in result.shares:
        assert (share.low, share.high) == (0.0, 1.0)
    assert result.open_equivalent is None and result.fake_influence is None


# --- what a false submission does ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["vaped", "support", "stress"])
def test_no_false_submission_moves_more(name: str) -> None:
    """Any report in any part, added to honest ones, moves no estimate by more than the influence says."""
    document, random = verify(joint()), Random(5)
    counts, sizes = expected(document, 200)
    before = estimated(document, name, counts, sizes)
    assert before.fake_influence is not None
    most = 0.0
    for number in sorted({number for number, _ in document.parts_about(name)}):
        channel = document.parts[number].channel
        for report in random.sample(reports := [*channel.reports()], min(len(reports), 60)):
            more = [[*row] for row in counts]
            more[number] = [y + channel.shows(report, j) for j, y in enumerate(counts[number])]
            after = estimated(document, name, more, [n + (i == number) for i, n in enumerate(sizes)])
            moved = [abs(a.estimate - b.estimate) for a, b in zip(before.shares, after.shares, strict=True)]  # type: ignore[operator]
            most = max(most, *moved)
    assert most <= before.fake_influence
    assert most >= before.fake_influence / 4  # the bound is for the worst shares, not for these


def test_influence_is_that_of_the_worst_part() -> None:
    """Of a yes or no in a part with K paths, of which each answer owns half: max z = (1 - q_T)/gap, per report."""
    document = verify(joint())
    counts, sizes = expected(document, 1000)
    sizes[2], counts[2] = 0, [0, 0]  # leaves the option in one part: vaped, how often, and the doctor
    evidence = evidence_of(document, "support", counts, sizes)
    rule = joint_support(document.parts[0].channel, 4)  # type: ignore[arg-type]
    result = estimate_question(evidence)
    friend = joint_support(document.parts[3].channel, 2)  # type: ignore[arg-type]
    wanted = max((1 - each.q) / each.gap for each in (rule, friend)) / 1000
    assert evidence.items[0][0].n == 1000
    assert result.fake_influence == pytest.approx(wanted, rel=1e-9)


# --- planted faults --------------------------------------------------------------------------------------------------


def attempt(fault: Planted, check: Callable[[], None]) -> None:
    fault()
    check()


@pytest.mark.parametrize(
    ("fault", "check"),
    [
        (server_faults.parts_are_weighed_by_their_own_counts, check_pooled_is_unbiased),
        (server_faults.owned_paths_are_off_by_one, check_truth_comes_out),
        (server_faults.several_paths_vary_as_one, check_shares_are_covered),
    ],
)
def test_faults_are_caught(fault: Planted, check: Callable[[], None]) -> None:
    """Parts weighed by their own counts, paths off by one, the variance of one path for several: each fails a test."""
    child = multiprocessing.get_context("fork").Process(target=attempt, args=(fault, check))
    child.start()
    child.join(120)
    assert child.exitcode == 1


# --- small things ----------------------------------------------------------------------------------------------------


def test_one_path_of_a_band_is_a_noisy_bit() -> None:
    """An option alone in a part is Warner's bit: its support is that of a subset of two."""
    bit, pair = band(2, Fraction(2)), subset(2, Fraction(2))
    assert joint_support(bit, 1) == joint_support(pair, 1)
    rule = joint_support(bit, 1)
    assert isinstance(rule, Rule) and rule.p == pytest.approx(math.e**2 / (1 + math.e**2))


def test_projection_keeps_what_is_possible() -> None:
    """Pooled estimates of a question sum to 1, however far outside the unbiased ones are."""
    document = verify(several())
    counts, sizes = expected(document, 40)
    result = estimated(document, "stress", counts, sizes)
    assert sum(share.estimate or 0 for share in result.shares) == pytest.approx(1)
    assert [share.estimate for share in result.shares] == pytest.approx(
        project([share.unbiased or 0 for share in result.shares])
    )
