"""Differences between groups: known answers from scipy, exact sums for size and coverage, properties for the rest."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from random import Random

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET
from scipy import optimize, stats

from deniable_protocol import Band, Channel, Question, Subset, decode
from deniable_protocol.design import band, subset
from deniable_server.errors import NotComparable
from deniable_server.estimator import TOO_NOISY, alone, estimate_question
from deniable_server.estimator.comparison import (
    Comparison,
    Difference,
    Group,
    Level,
    Supported,
    compare,
    holm,
    mover,
    score_test,
    uncut,
)
from deniable_server.estimator.intervals import (
    CLEAR,
    Aim,
    Raw,
    Rule,
    central_share,
    score_limits,
    share_of_support,
    support,
)
from deniable_server.estimator.scores import mean_scores, table_of
from deniable_server.estimator.shares import Known
from tests.helpers.surveys import ask, questions

OPTIONS = [{"code": f"c{i}", "text": "."} for i in range(4)]


def group(label: str, asked: tuple[Question, Channel], counts: list[int], answers: int | None = None) -> Group:
    return Group(label, alone(*asked, counts, sum(counts) if answers is None else answers))


def by_code(result: Comparison, first: str = "a", second: str = "b") -> dict[str | None, Difference]:
    return {row.code: row for row in result.differences if (row.first, row.second) == (first, second)}


# --- the test of a share -----------------------------------------------------------------------------------------


@given(
    st.sampled_from([(2, "0.1"), (2, "1"), (3, "1"), (10, "4")]),
    st.tuples(st.integers(1, 5000), st.integers(1, 5000)),
    st.tuples(st.floats(0, 1), st.floats(0, 1)),
)
def test_same_channel_is_the_pooled_z_test(
    shape: tuple[int, str], n: tuple[int, int], rates: tuple[float, float]
) -> None:
    """With one channel the p-value is that of two noisy proportions: scipy's chi-square without correction.

    There is none where either side is expected to have fewer than five reports of the rarer kind.
    """
    rule = support(subset(shape[0], Fraction(shape[1])))
    y = [round(size * rate) for size, rate in zip(n, rates, strict=True)]
    ours = score_test(Supported(rule, y[0], n[0]), Supported(rule, y[1], n[1]))
    pooled = min(sum(y), sum(n) - sum(y)) / sum(n)
    assert (ours is None) == (min(n) * pooled < 5 - 1e-9) or min(n) * pooled == pytest.approx(5)
    if ours is None:
        return
    table = [[y[0], n[0] - y[0]], [y[1], n[1] - y[1]]]
    assert ours == pytest.approx(stats.chi2_contingency(table, correction=False).pvalue, rel=1e-6, abs=1e-300)


@pytest.mark.parametrize("y", [(700, 300), (500, 520), (30, 380), (1000, 250), (0, 300)])
def test_other_channels_give_the_score_test(y: tuple[int, int]) -> None:
    """With two channels the p-value is Rao's: the squared residuals at the most likely common share, found by scipy."""
    counts = [
        Supported(support(subset(3, Fraction(1))), y[0], 1000),
        Supported(support(band(2, Fraction(4))), y[1], 900),
    ]

    def rate(count: Supported, share: float) -> float:
        return count.rule.q + share * count.rule.gap

    def misfit(share: float) -> float:
        return -sum(float(stats.binom.logpmf(c.y, c.n, rate(c, share))) for c in counts)

    reach = [(-c.rule.q / c.rule.gap, (1 - c.rule.q) / c.rule.gap) for c in counts]
    bounds = max(low for low, _ in reach), min(high for _, high in reach)
    share = optimize.minimize_scalar(misfit, bounds=bounds, method="bounded", options={"xatol": 1e-12}).x
    rates = [rate(c, share) for c in counts]
    statistic = sum((c.y - c.n * r) ** 2 / (c.n * r * (1 - r)) for c, r in zip(counts, rates, strict=True))
    assert score_test(counts[0], counts[1]) == pytest.approx(stats.chi2.sf(statistic, 1), rel=1e-4)


def test_a_channel_hardly_different_tests_hardly_differently() -> None:
    """The test with two channels passes over into that with one, also where all rates are beyond the channel's."""
    rule = support(band(2, Fraction(1)))
    near = support(band(2, Fraction("1.000001")))
    for y1, y2 in [(100, 140), (900, 960), (25, 5), (400, 400)]:
        one = score_test(Supported(rule, y1, 1000), Supported(rule, y2, 1200))
        other = score_test(Supported(rule, y1, 1000), Supported(near, y2, 1200))
        assert other == pytest.approx(one, rel=0.001)


@pytest.mark.parametrize("epsilons", [("1", "1"), ("0.5", "4")])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5])
def test_equal_shares_are_rarely_called_different(epsilons: tuple[str, str], share: float) -> None:
    """At 5%, the exact probability of rejecting equal shares is 5% within 0.7 points (80 and 120 reports).

    Where everybody says no at epsilon 4, noise is so rare that most often there is no test, and fewer are rejected.
    """
    rules, sizes = [support(band(2, Fraction(epsilon))) for epsilon in epsilons], (80, 120)
    weights = [
        stats.binom.pmf(np.arange(n + 1), n, rule.q + share * rule.gap) for rule, n in zip(rules, sizes, strict=True)
    ]
    rejected = 0.0
    for y1, y2 in itertools.product(range(81), range(121)):
        weight = weights[0][y1] * weights[1][y2]
        if weight > 1e-9:
            p_value = score_test(Supported(rules[0], y1, 80), Supported(rules[1], y2, 120))
            rejected += weight * (p_value is not None and p_value < 0.05)
    assert rejected <= 0.057
    if share or epsilons == ("1", "1"):
        assert rejected >= 0.043


def test_too_few_reports_are_not_tested() -> None:
    """Twelve against two hundred at epsilon 4, where everybody says no: a z test would reject 1% tests in 3.8%."""
    rule = support(band(2, Fraction(4)))
    assert score_test(Supported(rule, 1, 12), Supported(rule, 4, 200)) is None
    assert score_test(Supported(rule, 60, 120), Supported(rule, 90, 200)) is not None


# --- the interval of a difference --------------------------------------------------------------------------------


def test_interval_is_newcombes() -> None:
    """56 of 70 against 48 of 80: Newcombe's (1998) interval from continuity-corrected scores, (0.0428, 0.3422)."""
    parts = [Raw(y / n, None, *score_limits(CLEAR, y, n, 0.05)) for y, n in ((56, 70), (48, 80))]
    assert mover(*parts) == pytest.approx((0.0428, 0.3422), abs=5e-5)


def limits(count: Supported) -> Raw:
    return uncut(Known(share_of_support(*count, Aim()), count), Aim())


@pytest.mark.parametrize("rule", [support(subset(3, Fraction(1))), support(band(2, Fraction(4)))])
@pytest.mark.parametrize("n", [5, 2000])
def test_limits_are_cut_off_only_at_the_ends(rule: Rule, n: int) -> None:
    """The limits that a difference is made of are the central ones of the share, cut off at 0 and 1 or not."""
    for y in range(0, n + 1, max(n // 50, 1)):
        share, whole = central_share(rule, y, n, Aim()), limits(Supported(rule, y, n))
        assert np.clip([whole.low, whole.high], 0, 1) == pytest.approx([share.low, share.high], abs=1e-12)
        assert whole.low < whole.unbiased < whole.high


@pytest.mark.parametrize("epsilons", [("0.5", "0.5"), ("1", "1"), ("4", "4"), ("1", "4")])
@pytest.mark.parametrize("sizes", [(30, 40), (100, 60)])
def test_differences_are_covered(epsilons: tuple[str, str], sizes: tuple[int, int]) -> None:
    """A 95% interval contains the true difference with at least 94.9%, summed exactly over both binomials."""
    rules = [support(band(2, Fraction(epsilon))) for epsilon in epsilons]
    parts = [[limits(Supported(r, y, n)) for y in range(n + 1)] for r, n in zip(rules, sizes, strict=True)]
    both = np.array([[mover(one, two) for two in parts[1]] for one in parts[0]])
    for truth in itertools.product((0, 0.05, 0.3, 0.5, 0.9, 1), repeat=2):
        weight = np.outer(*(
            stats.binom.pmf(np.arange(n + 1), n, rule.q + share * rule.gap)
            for rule, n, share in zip(rules, sizes, truth, strict=True)
        ))  # fmt: skip
        difference = truth[0] - truth[1]
        held = (both[:, :, 0] <= difference + 1e-9) & (difference - 1e-9 <= both[:, :, 1])
        assert weight[held].sum() >= 0.949


def test_numbers_of_a_comparison() -> None:
    """A difference is that of the estimates shown for the groups, its error theirs together, its interval MOVER's."""
    asked = ask("choice", options=OPTIONS[:3])
    counts = [[4500, 3000, 2500], [2400, 2000, 1600]]
    result = compare([group("a", asked, counts[0]), group("b", asked, counts[1])], Aim(confidence=0.9))
    shares = [estimate_question(alone(*asked, each, sum(each)), Aim(confidence=0.9)).shares for each in counts]
    rows = by_code(result)
    assert [*rows] == ["c0", "c1", "c2"]
    assert [(size.label, size.answers) for size in result.groups] == [("a", 10_000), ("b", 6000)]
    for one, two in zip(*shares, strict=True):
        row = rows[one.code]
        assert row.difference == pytest.approx(one.unbiased - two.unbiased)
        assert row.standard_error == pytest.approx(math.hypot(one.standard_error, two.standard_error))
        low = row.difference - math.hypot(one.unbiased - one.low, two.high - two.unbiased)
        high = row.difference + math.hypot(one.high - one.unbiased, two.unbiased - two.low)
        assert (row.low, row.high) == pytest.approx((low, high))
        assert row.note is msgspec.UNSET


def test_waves_may_have_other_channels() -> None:
    """The same question at another epsilon, or with another mechanism, is compared; certainty is each one's own."""
    before, after = ask("scale", 1, labels=list("abc")), ask("scale", 4, labels=list("abc"), mechanism="exponential")
    result = compare([group("a", before, [700, 200, 100]), group("b", after, [300, 400, 300])])
    mine = estimate_question(alone(*before, [700, 200, 100], 1000)).shares
    theirs = estimate_question(alone(*after, [300, 400, 300], 1000)).shares
    for row, one, two in zip(result.differences, mine, theirs, strict=True):
        assert row.difference == pytest.approx(one.unbiased - two.unbiased)
        assert row.p_value is not None
    assert result.differences[0].p_value < 1e-6


def test_drawn_options_are_compared_among_those_asked() -> None:
    """Each option of a multi_choice is compared as a yes_no, from the reports about that option."""
    asked, alone = ask("multi_choice", options=OPTIONS[:2]), ask("yes_no")
    rows = by_code(compare([group("a", asked, [300, 200, 40, 60]), group("b", asked, [250, 250, 0, 0])]))
    yes = by_code(compare([group("a", alone, [300, 200]), group("b", alone, [250, 250])]))["yes"]
    assert msgspec.structs.astuple(rows["c0"])[3:9] == msgspec.structs.astuple(yes)[3:9]
    nothing = Difference("a", "b", "c1", None, None, None, -1.0, 1.0, None, None, TOO_NOISY)
    assert msgspec.structs.replace(rows["c1"], levels=UNSET) == nothing
    one, two = rows["c1"].levels or ()
    assert one.estimate is not None and two == Level(None, None, None, 0.0, 1.0, TOO_NOISY)


# --- scores ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "asked",
    [
        ask("number", min=-20, max=20),
        ask("number", min=0, max=10, mechanism="laplace"),
        ask("scale", labels=list("abcde"), measure="mean"),
        ask("scale", labels=list("abc"), measure="mean", mechanism="krr"),
    ],
)
def test_means_are_compared_by_welch(asked: tuple[Question, Channel]) -> None:
    """Difference, interval and p-value of means are scipy's Welch test on the expanded scores, in units."""
    question, channel = asked
    rng = np.random.default_rng(11)
    table = table_of(channel)
    counts = [
        rng.multinomial(n, row)
        for n, row in ((4000, table[0] / 4 + table.mean(axis=0) * 3 / 4), (1500, table.mean(axis=0)))
    ]
    low, high = (1, len(question.labels)) if question.type == "scale" else (question.min, question.max)
    values = low + (high - low) * np.array(mean_scores(channel, question.type == "number").values)
    data = [np.repeat(values, count) for count in counts]
    result = compare(
        [group("a", asked, counts[0].tolist()), group("b", asked, counts[1].tolist())], Aim(confidence=0.9)
    )
    (row,) = result.differences
    test = stats.ttest_ind(*data, equal_var=False)
    limits = test.confidence_interval(0.9)
    assert row.code is None
    assert row.difference == row.estimate == pytest.approx(data[0].mean() - data[1].mean(), rel=1e-9)
    assert row.p_value == row.adjusted_p_value == pytest.approx(test.pvalue, rel=1e-9)
    assert (row.low, row.high) == pytest.approx(np.clip([limits.low, limits.high], low - high, high - low), rel=1e-9)


def test_tables_are_compared_by_welch() -> None:
    """The shares of an exponential scale, whose scores have many values, are tested as scipy tests those scores."""
    asked = ask("scale", 2, labels=list("abc"), mechanism="exponential")
    # As expected of even answers, and of answers with more at the ends: noise is not below what the channel gives.
    table = table_of(asked[1])
    counts = [
        np.rint(n * (w @ table)).astype(int).tolist() for n, w in ((3000, [1 / 3] * 3), (2000, [0.45, 0.1, 0.45]))
    ]
    rows = by_code(compare([group("a", asked, counts[0]), group("b", asked, counts[1])]))
    decoded = np.array([[float(z) for z in decode(asked[1], report)] for report in asked[1].reports()])
    for j, code in enumerate(asked[0].codes):
        data = [np.repeat(decoded[:, j], each) for each in counts]
        assert rows[code].p_value == pytest.approx(stats.ttest_ind(*data, equal_var=False).pvalue, rel=1e-6)


@pytest.mark.parametrize(("epsilon", "shares"), [(5, (0.02, 0.02)), (8, (0.02, 0.02)), (10, (0.02, 0.0))])
def test_differences_of_means_make_room_for_rare_answers(epsilon: float, shares: tuple[float, float]) -> None:
    """Groups of 50 and 500 in which few are at the top of the range: 500 seeded samples cover at least 93%, and a 5%
    test of what is the same rejects at most 7%. Without room for those who are missing it is 74% and 30%.
    """
    asked = ask("number", epsilon, min=0, max=1)
    table, random, sizes = table_of(asked[1]), np.random.default_rng(2), (50, 500)
    drawn = [random.multinomial(n, (1 - s) * table[0] + s * table[-1], 500) for n, s in zip(sizes, shares, strict=True)]
    covered = rejected = 0
    for counts in zip(*(each.tolist() for each in drawn), strict=True):
        (row,) = compare([group(label, asked, each) for label, each in zip("ab", counts, strict=True)]).differences
        covered += row.low <= shares[0] - shares[1] <= row.high
        assert row.p_value is not None and (row.p_value < 0.05) == (not row.low <= 0 <= row.high)
        rejected += row.p_value < 0.05
    assert covered >= 0.93 * 500
    assert shares[0] != shares[1] or rejected <= 0.07 * 500


def test_means_beyond_the_range() -> None:
    """Means beyond both ends differ by the whole range and no more; the unbiased difference stays as it was."""
    asked = ask("number", 1, min=0, max=40)
    channel = asked[1]
    assert isinstance(channel, Band)
    size = channel.levels + channel.width - 1
    top, bottom = [0] * (size - 1) + [50], [50] + [0] * (size - 1)
    (row,) = compare([group("a", asked, top), group("b", asked, bottom)]).differences
    assert row.estimate == row.high == 40
    assert row.difference > 40


# --- several comparisons -----------------------------------------------------------------------------------------


def test_holm_by_hand() -> None:
    """0.005 * 4, 0.01 * 3, 0.03 * 2; 0.04 is not below the one before it. Unknown ones do not count."""
    assert holm([0.01, 0.04, None, 0.03, 0.005]) == pytest.approx([0.03, 0.06, None, 0.06, 0.02])
    assert holm([0.6, 0.7]) == [1, 1]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_holm_closes_bonferroni(p_values: list[float]) -> None:
    """A hypothesis is rejected when Bonferroni's test rejects every set of hypotheses that contains it."""
    places = range(len(p_values))
    sets = [s for size in range(1, len(p_values) + 1) for s in itertools.combinations(places, size)]
    closed = [max(min(1.0, len(s) * min(p_values[j] for j in s)) for s in sets if i in s) for i in places]
    assert holm(p_values) == pytest.approx(closed)


def test_all_pairs_in_order() -> None:
    """Three groups make three pairs, in order; yes is read first; yes and no are one hypothesis of three."""
    asked = ask("yes_no")
    groups = [group(label, asked, [1000 - yes, yes]) for label, yes in (("a", 300), ("b", 400), ("c", 405))]
    rows = compare(groups).differences
    assert [(row.first, row.second, row.code) for row in rows] == [
        (*pair, code) for pair in (("a", "b"), ("a", "c"), ("b", "c")) for code in ("yes", "no")
    ]
    assert all(one.p_value == two.p_value for one, two in zip(rows[::2], rows[1::2], strict=True))
    assert [row.adjusted_p_value for row in rows[::2]] == pytest.approx(holm([row.p_value for row in rows[::2]]))
    assert [row.adjusted_p_value for row in rows[::2]] == [row.adjusted_p_value for row in rows[1::2]]


def test_declined_is_an_option() -> None:
    """Groups are also compared by how many declined, and every option counts as a hypothesis."""
    asked = ask("yes_no", decline=True)
    result = compare([group("a", asked, [500, 300, 200]), group("b", asked, [400, 300, 300])])
    assert [row.code for row in result.differences] == ["yes", "no", "declined"]
    assert [row.adjusted_p_value for row in result.differences] == holm([row.p_value for row in result.differences])


def test_nothing_is_said_of_groups_that_say_nothing() -> None:
    """Without answers in a group every number is null, the interval everything, and no hypothesis is counted."""
    asked = ask("yes_no")
    groups = [group("a", asked, [300, 700]), group("b", asked, [0, 0]), group("c", asked, [400, 600])]
    result = compare(groups)
    for pair in (("a", "b"), ("b", "c")):
        for row in by_code(result, *pair).values():
            assert msgspec.structs.astuple(row)[3:-1] == (None, None, None, -1.0, 1.0, None, None, TOO_NOISY)
    alone = by_code(compare([groups[0], groups[2]]), "a", "c")
    assert by_code(result, "a", "c") == alone
    numbers = ask("number", min=-3, max=2)
    size = len([*numbers[1].reports()])
    (row,) = compare([group("a", numbers, [9] * size), group("b", numbers, [0] * size)]).differences
    assert msgspec.structs.astuple(row)[3:-1] == (None, None, None, -5.0, 5.0, None, None, TOO_NOISY)


def test_one_report_is_not_certain() -> None:
    """Means of single reports have no standard error: nothing is tested, and the interval is everything."""
    asked = ask("number", min=0, max=10)
    one = [1] + [0] * (len([*asked[1].reports()]) - 1)
    (row,) = compare([group("a", asked, one), group("b", asked, one)]).differences
    assert (row.estimate, row.standard_error, row.low, row.high, row.p_value) == (0, None, -10, 10, None)


def test_noisy_differences_say_so() -> None:
    """An interval over more than half of all differences carries a note; a narrower one does not."""
    asked = ask("yes_no")
    noisy = by_code(compare([group("a", asked, [10, 10]), group("b", asked, [12, 8])]))["yes"]
    clear = by_code(compare([group("a", asked, [50, 50]), group("b", asked, [60, 40])]))["yes"]
    assert noisy.high - noisy.low > 1 and noisy.note == TOO_NOISY
    assert 0.5 < clear.high - clear.low < 1 and clear.note is msgspec.UNSET


# --- what can be compared ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "what"),
    [
        (ask("yes_no"), ask("scale", labels=["no", "yes"]), "type"),
        (ask("yes_no"), ask("yes_no", decline=True), "codes"),
        (ask("choice", options=OPTIONS), ask("choice", options=OPTIONS[:3]), "codes"),
        (ask("scale", labels=["a", "b"]), ask("scale", labels=["a", "b"], measure="mean"), "measure"),
        (ask("scale", labels=["a", "b"]), ask("scale", labels=["a", "c"]), "labels"),
        (ask("number", min=0, max=1), ask("number", min=-1, max=1), "min"),
        (ask("number", min=0, max=1), ask("number", min=0, max=2), "max"),
        (ask("number", min=0, max=1, unit="km"), ask("number", min=0, max=1, unit="miles"), "unit"),
        (
            ask("number", min=0, max=9, measure="shares", bins=[1, 2]),
            ask("number", min=0, max=9, measure="shares", bins=[1, 3]),
            "codes",
        ),
    ],
)
def test_what_differs_is_named(first: tuple[Question, Channel], second: tuple[Question, Channel], what: str) -> None:
    """Groups that were not asked the same are not compared, and the message says what differs."""
    counts = [[0] * (c.options if isinstance(c, Subset) else len([*c.reports()])) for _, c in (first, second)]
    with pytest.raises(NotComparable, match=f"differ in {what}"):
        compare([group("a", first, counts[0]), group("b", second, counts[1])])


def test_wrong_requests_are_refused() -> None:
    """No groups, or a confidence that is no probability, is an error; a single group has nothing to compare."""
    asked = ask("yes_no")
    with pytest.raises(ValueError, match="without groups"):
        compare([])
    with pytest.raises(ValueError, match="confidence"):
        compare([group("a", asked, [1, 1])], Aim(confidence=95))
    assert compare([group("a", asked, [1, 1])]).differences == []


# --- properties over all questions -------------------------------------------------------------------------------


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Group, Group]:
    """Two groups asked any question, with counts that its channel can give, likely or not."""
    tree = draw(questions())
    tree |= {key: float(tree[key]) for key in ("epsilon", "delta") if key in tree}
    asked = ask(tree.pop("type"), **{key: value for key, value in tree.items() if key not in ("id", "text")})
    channel, random = asked[1], Random(draw(st.integers(0, 2**32)))

    def counts() -> tuple[list[int], int]:
        n, times = draw(st.integers(0, 20)), draw(st.sampled_from([1, 50, 10**8]))
        if isinstance(channel, Subset):
            held = [j for _ in range(n) for j in random.sample(range(channel.options), channel.size)]
            return [times * held.count(j) for j in range(channel.options)], times * n
        size, skew = len([*channel.reports()]), draw(st.sampled_from([1, 4]))
        reports = [int(size * random.random() ** skew) for _ in range(n)]
        return [times * reports.count(y) for y in range(size)], times * n

    return group("a", asked, *counts()), group("b", asked, *counts())


@settings(max_examples=200)
@given(pairs(), st.sampled_from([0.5, 0.95, 0.999]))
def test_every_difference_is_a_possible_one(case: tuple[Group, Group], confidence: float) -> None:
    """Whatever the counts: finite JSON, an estimate within its interval, p-values in order; exchanged, the opposite."""
    result = compare(case, Aim(confidence=confidence))
    text = msgspec.json.encode(result).decode()
    json.loads(text, parse_constant=pytest.fail)
    assert msgspec.json.decode(text, type=Comparison) == result
    for row, back in zip(result.differences, compare(case[::-1], Aim(confidence=confidence)).differences, strict=True):
        assert row.low < row.high
        assert (row.low, row.high) == (-back.high, -back.low)
        if row.difference is not None:
            assert back.difference == -row.difference
            assert row.low - 1e-12 <= row.estimate <= row.high + 1e-12
        assert (row.p_value is None) == (row.adjusted_p_value is None)
        if row.p_value is not None:
            assert 0 <= row.p_value <= row.adjusted_p_value <= 1
            assert back.p_value == pytest.approx(row.p_value, rel=1e-6, abs=1e-300)
