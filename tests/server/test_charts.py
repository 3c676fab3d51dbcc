"""Charts: marks lie where the numbers say, and what is drawn is safe, small and readable without seeing it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from datetime import date, timedelta
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jinja2 import Environment, PackageLoader, StrictUndefined

from deniable_protocol import Question, Subset, survey_from_tree
from deniable_server.analysis.rounding import share_in_percent
from deniable_server.estimator import (
    TOO_NOISY,
    Applies,
    Mean,
    QuestionEstimate,
    Share,
    Weighted,
    alone,
    estimate_question,
)
from deniable_server.estimator.comparison import Difference, Group, compare
from deniable_server.estimator.crosstab import Crosstab, Independence, JointShare
from deniable_server.estimator.price import Price, PricePoint
from deniable_server.estimator.shares import too_noisy
from deniable_server.pages.charts import (
    Axis,
    Bars,
    Empty,
    Mark,
    MeanChart,
    common_axis,
    drawn_codes,
    question_chart,
    share_axis,
)
from deniable_server.pages.curve_charts import Curves, best_price, curve_chart
from deniable_server.pages.day_charts import Days, days_chart
from deniable_server.pages.group_charts import (
    Dots,
    HeatMap,
    crosstab_chart,
    differences_chart,
    groups_chart,
    zero_axis,
)
from deniable_server.pages.overview import reading_order
from deniable_server.pages.scale_charts import is_stacked, scale_chart, side_axis
from tests.helpers.surveys import ask, channelled, questions

HOSTILE = """<script>alert(1)</script>"'><img src=x onerror=alert(1)>&amp;{{ 7 * 7 }}"""
ENVIRONMENT = Environment(
    loader=PackageLoader("deniable_server", "pages/templates"), autoescape=True, undefined=StrictUndefined
)
draw: Callable[[Any], str] = lambda chart: str(ENVIRONMENT.get_template("charts.html").module.chart(chart))  # noqa: E731


TAGS = {
    "figure", "ul", "li", "span", "b", "small", "bdi", "p", "div", "svg", "rect", "circle", "path", "g", "text",
    "details", "summary", "table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td",
}  # fmt: skip


class Reader(HTMLParser):
    """The tags of a piece of HTML, and whether each was closed where it belongs."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(html)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


NO_NUMBER = re.compile(r"\b(nan|inf|None|Undefined)\b")


def read(chart: Any) -> Reader:
    """What is drawn: well-formed, without inline style or script, and without a number that is none."""
    html = draw(chart)
    ours = re.sub(r'<bdi>.*?</bdi>|(title|aria-label)=".*?"', "", html, flags=re.DOTALL)
    assert not NO_NUMBER.search(ours)
    reader = Reader(html)
    for tag, attributes in reader.tags:
        assert tag in TAGS and not any(name == "style" or name.startswith("on") for name in attributes)
        if tag == "svg" and "x" not in attributes:
            assert attributes.get("aria-hidden") == "true" or (attributes["aria-label"] and attributes["role"] == "img")
        if tag == "th":
            assert attributes["scope"] in ("row", "col")
        for name in ("x", "cx", "width"):
            # A mark may be drawn around its place, but its place is within the plot.
            if name in attributes and tag != "text":
                assert 0 <= float((attributes[name] or "").removesuffix("%")) <= 100
    return reader


def marks(value: object) -> list[Mark]:
    """Every mark within a chart."""
    if isinstance(value, Mark):
        return [value]
    if isinstance(value, tuple):
        return [mark for each in value for mark in marks(each)]
    return [mark for each in fields(value) for mark in marks(getattr(value, each.name))] if is_dataclass(value) else []


def holds(mark: Mark) -> bool:
    return 0 <= mark.low <= (mark.low if mark.at is None else mark.at) <= mark.high <= 100


def estimated(draw: st.DrawFn, question: Question, channel: Any, **options: Any) -> QuestionEstimate:
    """From reports of any kind, honest or not."""
    answers = draw(st.integers(0, 60))
    count = channel.feature_count
    if isinstance(channel, Subset):
        held = [draw(st.integers(0, answers)) for _ in range(count)]
        # Any counts that sum to size * answers with none above answers: fill up, or take away, from the left.
        missing = channel.size * answers - sum(held)
        for i, here in enumerate(held):
            change = max(min(missing, answers - here), -here)
            held[i] += change
            missing -= change
        counts = held
    else:
        cuts = sorted(draw(st.lists(st.integers(0, answers), min_size=count - 1, max_size=count - 1)))
        counts = [high - low for low, high in zip([0, *cuts], [*cuts, answers], strict=True)]
    return estimate_question(alone(question, channel, counts, answers), **options)


@st.composite
def estimates(draw: st.DrawFn) -> tuple[Question, QuestionEstimate]:
    question, channel = channelled(draw(questions()))
    estimate = estimated(draw, question, channel, distribution=draw(st.booleans()))
    if draw(st.booleans()):
        other = estimated(draw, question, channel)
        weighted = Weighted(
            float(other.answers), 1.0, other.shares, other.mean, other.summaries, other.applies, other.among_answering
        )
        estimate = msgspec.structs.replace(estimate, weighted=weighted)
    return question, estimate


# --- a question -------------------------------------------------------------------------------------------------------


@given(estimates())
@settings(max_examples=150)
def test_every_estimate_can_be_drawn(drawn: tuple[Question, QuestionEstimate]) -> None:
    """For any question and reports, marks are in the plot and in order, labels and tables complete, and HTML clean."""
    question, estimate = drawn
    chart = question_chart(question, estimate)
    reader = read(chart)
    if not estimate.answers:
        assert isinstance(chart, Empty) and reader.text.strip() == "No answers yet."
        return
    assert all(holds(mark) for mark in marks(chart)) and marks(chart)
    ticks = [tick.at for tick in chart.axis.ticks]
    assert ticks == sorted(ticks) and (ticks[0], ticks[-1]) == (0, 100) and 1 <= chart.axis.intervals <= 10
    if isinstance(chart, Bars):
        shares = [share for share in estimate.shares if share.code in drawn_codes(question)]
        assert len(chart.rows) == len(shares) and len(estimate.shares) <= len(chart.tables[0].lines)
        for row, share in zip(chart.rows, shares, strict=True):
            assert (row.mark.at is None) == (share.note is not msgspec.UNSET)
    else:
        assert isinstance(chart, MeanChart) and all(
            column.width > 0 and 0 <= column.height <= 100 for column in chart.columns
        )
    assert all(len(cells) == len(table.heads) - 1 for table in chart.tables for _, cells in table.lines)
    assert ("table", {}) in reader.tags and any(tag == "caption" for tag, _ in reader.tags)


def asked(labels: int, counts: list[int]) -> tuple[Question, QuestionEstimate]:
    """A scale of so many points, and its estimate from this many reports that hold each point."""
    question, channel = ask("scale", 8, labels=[f"L{i}" for i in range(labels)])
    answers = sum(counts) // channel.size
    return question, estimate_question(alone(question, channel, counts, answers))


@pytest.mark.parametrize("points", [2, 3, 4, 5, 7, 11])
def test_a_scale_is_one_bar_around_its_middle(points: int) -> None:
    """Its pieces are next to each other in the order of the points, as wide as their shares, half of an odd middle on
    each side; the lines at its ends contain the ends, and are as long as the intervals that they show.
    """
    question, estimate = asked(points, [1_000 * (place + 2) for place in range(points)])
    assert is_stacked(question, estimate)
    axis = side_axis([estimate])
    assert axis.start == -axis.end and [tick.text for tick in axis.ticks][2] == "0"
    chart = scale_chart(question, estimate, [("A", estimate)], axis)
    read(chart)
    everybody, group = chart.rows
    assert everybody.pieces == group.pieces and len(everybody.pieces) == points == len(chart.keys)
    percent = 100 / (2 * axis.end)  # of the plot, for each whole share
    for piece, following in pairwise(everybody.pieces):
        assert following.at == pytest.approx(piece.at + piece.width, abs=0.11) and piece.tone < following.tone
    for piece, share in zip(everybody.pieces, estimate.shares, strict=True):
        assert piece.width == pytest.approx(percent * (share.estimate or 0), abs=0.11)
    half = points // 2
    left = sum(share.estimate or 0 for share in estimate.shares[:half])
    left += (estimate.shares[half].estimate or 0) / 2 if points % 2 else 0
    assert everybody.pieces[0].at == pytest.approx(50 - percent * left, abs=0.11)
    last = everybody.pieces[-1]
    ends = [everybody.pieces[0].at, last.at + last.width]
    for end, mark in zip(ends, everybody.ends, strict=True):
        assert mark.low - 0.11 <= end <= mark.high + 0.11
    top = next(iter(estimate.summaries or ()), None) or estimate.shares[-1]
    assert everybody.ends[1].width == pytest.approx(percent * (top.high - top.low), abs=0.25)
    assert everybody.value == f"{share_in_percent(top).texts()[0]}%"


def test_a_noisy_scale_is_not_stacked() -> None:
    """Where a point is too noisy to say, no bar pretends to know how long it is."""
    question, estimate = asked(5, [1, 0, 1, 0, 0])
    assert not is_stacked(question, estimate) and isinstance(question_chart(question, estimate), Bars)
    clear = asked(5, [2_000] * 5)[1]
    row = scale_chart(question, clear, [("Few", estimate)], side_axis([clear])).rows[1]
    assert row.pieces == () and row.value == TOO_NOISY


@given(estimates())
@settings(max_examples=60)
def test_curves_are_within_their_bands(drawn: tuple[Question, QuestionEstimate]) -> None:
    """Whatever is reported on a number: the line is within the band, both are within the plot and never go back, every
    dot has a line in the table, and there is no line where it is too noisy to say.
    """
    question, estimate = drawn
    chart = curve_chart(question, estimate)
    if chart is None:
        assert not estimate.curve
        return
    reader = read(chart)
    assert sum(tag == "svg" and "aria-label" in attributes for tag, attributes in reader.tags) == len(chart.panels)
    for panel in chart.panels:
        size = len(panel.band) // 2
        low, high = panel.band[:size], panel.band[size:][::-1]
        assert all(0 <= x <= 100 and 0 <= y <= 100 for x, y in (*panel.band, *panel.line))
        assert [x for x, _ in low] == [x for x, _ in high] == sorted(x for x, _ in low)
        assert all(below[1] >= above[1] for below, above in zip(low, high, strict=True))  # y counts from the top
        assert bool(panel.line) != (TOO_NOISY in estimate.notes) and len(panel.dots) <= len(chart.tables[0].lines)
        for place, below, above in zip(panel.line, low, high, strict=False):
            assert below[1] >= place[1] >= above[1]


def test_the_best_price_in_a_sentence() -> None:
    """It names the price of the largest revenue and those that may be the best, limits rounded outwards; of a single
    one, that it is the only one. A price chart has two curves, and shades these prices.
    """
    point = PricePoint(10, 0.5, 0.4, 0.6, 5, 4, 6, may_be_best=True)
    some = [msgspec.structs.replace(point, at=at) for at in (7.917, 11.25, 17.92)]
    several = Price(some, 11.25, 7.917, 17.92)
    assert best_price(several, "EUR") == "Largest revenue at about 11.2 EUR; prices from 7.9 to 18 EUR may be the best"
    assert best_price(Price([point], 10, 10, 10), "") == (
        "Largest revenue at about 10; none of the other prices shown can be the best"
    )
    assert best_price(several, "EUR", noisy=True).startswith("Too noisy to say")
    question, channel = ask("number", 4, min=0, max=40, unit="EUR", price=True, measure="shares", bins=[10, 20, 30])
    law = [
        sum(float(channel.probability(x, r)) * share for x, share in enumerate((0.1, 0.3, 0.4, 0.2))) for r in range(4)
    ]
    counts = [round(4_000 * each) for each in law]
    estimate = estimate_question(alone(question, channel, counts, sum(counts)), distribution=True)
    chart = curve_chart(question, estimate)
    assert isinstance(chart, Curves) and len(chart.panels) == 2
    assert chart.says == "Largest revenue at about 20 EUR; none of the other prices shown can be the best"
    mark = chart.panels[1].best
    assert mark is not None and (mark.low, mark.at, mark.high) == (50, 50, 50)


@given(st.lists(estimates(), min_size=1, max_size=4))
@settings(max_examples=20)
def test_one_axis_is_long_enough_for_all(drawn: list[tuple[Question, QuestionEstimate]]) -> None:
    """On the common axis no interval of any question is cut off, and bars are in the proportion of their shares."""
    axis = common_axis([estimate for _, estimate in drawn])
    for question, estimate in drawn:
        chart = question_chart(question, estimate, axis=axis)
        if isinstance(chart, Bars):
            assert chart.axis is axis and all(share.high <= axis.end + 1e-9 for share in estimate.shares)


def test_follow_ups_come_after_their_question() -> None:
    """Also where other questions are between them, and follow-ups have follow-ups."""
    tree = {"id": "tree", "title": "T", "epsilon": "4", "questions": [
        {"id": "a", "type": "yes_no", "text": "A?"},
        {"id": "b", "type": "yes_no", "text": "B?"},
        {"id": "c", "type": "yes_no", "text": "C?", "show_if": {"a": ["yes"]}},
        {"id": "d", "type": "yes_no", "text": "D?", "show_if": {"c": ["no"]}},
        {"id": "e", "type": "yes_no", "text": "E?", "show_if": {"b": ["yes"]}},
    ]}  # fmt: skip
    survey = survey_from_tree(tree)
    order = [(survey.questions[place].id, depth) for place, depth in reading_order(survey)]
    assert order == [("a", 0), ("c", 1), ("d", 2), ("b", 0), ("e", 1)]


@given(st.floats(0, 1), st.lists(st.floats(0, 1), min_size=2, max_size=9))
def test_a_larger_share_is_drawn_no_shorter(highest: float, shares: list[float]) -> None:
    """The axis of shares starts at 0, ends at a round share that is not below the highest, and keeps the order."""
    axis = share_axis(highest)
    assert axis.start == 0 and highest <= axis.end + 1e-9 and axis.end <= 1
    assert axis.end == 0.01 or axis.end <= 2.5 * highest + 1e-9
    places = [axis.place(share) for share in sorted(shares)]
    assert places == sorted(places) and places[0] >= 0 and places[-1] <= 100
    assert axis.ticks[-1].text.endswith("%")


@given(st.floats(1e-9, 1), st.sampled_from([1, 100]))
def test_differences_have_zero_in_the_middle(furthest: float, scale: int) -> None:
    """The axis of differences is as long to either side, and long enough."""
    axis = zero_axis(furthest, scale)
    assert axis.place(0.0) == 50 and axis.start == -axis.end and axis.end * (1 + 1e-12) >= furthest
    assert axis.end <= 2.01 * furthest and axis.ticks[2].text == "0"


def shares_of(*limits: tuple[float | None, float, float]) -> QuestionEstimate:
    shares = [
        Share(f"o{i}", value, value, 0.01, low, high, TOO_NOISY if value is None else too_noisy(high - low, 1.0))
        for i, (value, low, high) in enumerate(limits)
    ]
    return QuestionEstimate("q", "choice", 100, shares, None, None, None, [])


def choice(*texts: str) -> Question:
    return ask("choice", options=[{"code": f"o{i}", "text": text} for i, text in enumerate(texts)])[0]


def test_a_bar_lies_where_its_numbers_are() -> None:
    """At 23.1%, 21.2% to 25.0%, on an axis that ends at 40%, because another interval reaches 38%."""
    chart = question_chart(choice("A", "B"), shares_of((0.231, 0.212, 0.25), (0.35, 0.32, 0.38)))
    assert isinstance(chart, Bars) and [tick.text for tick in chart.axis.ticks] == ["0", "10", "20", "30", "40%"]
    assert chart.rows[0].mark == Mark(53, 62.5, 57.8)
    assert (chart.rows[0].value, chart.rows[0].limits) == ("23.1%", "21.2–25.0%")
    assert chart.tables[0].lines[0] == ("A", ("23.1", "21.2", "25.0", "1.0"))
    html = draw(chart)
    assert '<rect class="bar" width="57.8%"/><rect class="span" x="53%" width="9.5%"/>' in html


def test_what_is_not_known_is_not_pointed_at() -> None:
    """No bar without data, nor where it is too noisy to say: a faint band over all that is possible."""
    chart = question_chart(choice("A", "B"), shares_of((None, 0.0, 1.0), (0.4, 0.1, 0.9)))
    assert isinstance(chart, Bars)
    assert [(row.value, row.limits) for row in chart.rows] == [("no data", ""), (TOO_NOISY, "10–90%")]
    html = draw(chart)
    assert 'class="bar"' not in html and '<rect class="band" x="0%" width="100%"/>' in html
    assert chart.tables[0].lines[0][1] == ("–", "0", "100", "1.0")


def test_weighted_estimates_stand_beside_the_others() -> None:
    """Weighted numbers have a mark of their own, a sentence below the chart, and a table of their own."""
    plain = shares_of((0.2, 0.1, 0.3), (0.8, 0.7, 0.9))
    weighted = Weighted(50.0, 2.0, shares_of((0.25, 0.1, 0.4), (None, 0.0, 1.0)).shares, None)
    chart = question_chart(choice("A", "B"), msgspec.structs.replace(plain, weighted=weighted))
    assert isinstance(chart, Bars) and chart.rows[0].weighted == Mark(10, 40, 25) and chart.rows[1].weighted is not None
    assert chart.rows[1].weighted.at is None and len(chart.tables) == 2
    assert "weighted" in read(chart).text


def test_whose_shares_they_are_is_said() -> None:
    """Of a follow-up the table has the share of people it applies to; with decline, that of those who answered."""
    plain = shares_of((0.2, 0.1, 0.3), (0.7, 0.6, 0.8), (0.1, 0.05, 0.15))
    question = ask("choice", decline=True, options=[{"code": f"o{i}", "text": f"O{i}"} for i in range(2)])[0]
    shares = [
        msgspec.structs.replace(share, code=code) for share, code in zip(plain.shares, question.codes, strict=True)
    ]
    answering = [Share("o0", 0.22, 0.22, 0.01, 0.15, 0.33), Share("o1", 0.78, 0.78, 0.01, 0.67, 0.85)]
    applies = Applies(0.4, 0.4, 0.01, 0.37, 0.43)
    estimate = msgspec.structs.replace(plain, shares=shares, among_answering=answering, applies=applies)
    chart = question_chart(question, estimate)
    assert isinstance(chart, Bars) and len(chart.rows) == 3
    of_those, of_answering = chart.tables
    assert "of those whom it applies to" in of_those.caption and "of those who answered" in of_answering.caption
    assert of_those.lines[0] == ("Applies to, of all", ("40.0", "37.0", "43.0", "1.0"))
    assert [line[1][:3] for line in of_answering.lines] == [("22.0", "15.0", "33.0"), ("78.0", "67.0", "85.0")]


def test_a_mean_lies_on_its_own_scale() -> None:
    """6.5 of 0 to 40 lies at 16.3%; the ends of a scale have their labels, a number its unit."""
    drinks = ask("number", min=0, max=40, unit="drinks")[0]
    mean = QuestionEstimate("q", "number", 100, [], Mean(6.5, 6.5, 0.1, 6.0, 7.0), None, None, [])
    chart = question_chart(drinks, mean)
    assert isinstance(chart, MeanChart) and chart.mark == Mark(15, 17.5, 16.2)
    assert [tick.text for tick in chart.axis.ticks] == ["0", "10", "20", "30", "40"]
    assert "drinks" in read(chart).text
    scale = ask("scale", labels=["Never", "Rarely", "Often"], measure="mean")[0]
    chart = question_chart(scale, msgspec.structs.replace(mean, mean=Mean(1.5, 1.5, 0.1, 1.0, 2.0)))
    assert isinstance(chart, MeanChart) and chart.ends == ("Never", "Often") and chart.mark == Mark(0, 50, 25)
    assert "Never" in read(chart).text


@pytest.mark.parametrize(
    ("low", "high", "texts"),
    [(18, 99, ["18", "45", "72", "99"]), (-2.5, 2.5, ["−2.5", "−1.5", "−0.5", "0.5", "1.5", "2.5"]),
     (0, 250_000, ["0", "125,000", "250,000"]), (0.1, 0.7301, ["0.1", "0.7301"])],
)  # fmt: skip
def test_scales_are_divided_evenly(low: float, high: float, texts: list[str]) -> None:
    """At round steps where there are some, and never so many that they would not fit on a phone."""
    question = ask("number", min=low, max=high)[0]
    estimate = QuestionEstimate("q", "number", 1, [], Mean(high, high, None, low, high, TOO_NOISY), None, None, [])
    chart = question_chart(question, estimate)
    assert isinstance(chart, MeanChart) and [tick.text for tick in chart.axis.ticks] == texts


def test_a_likely_shape_has_limits() -> None:
    """A column per level; and a table of a dozen values with the share up to each and its limits, in order."""
    question, channel = ask("number", min=0, max=40)
    counts = [10] * channel.feature_count
    chart = question_chart(
        question, estimate_question(alone(question, channel, counts, sum(counts)), distribution=True)
    )
    assert isinstance(chart, MeanChart) and len(chart.columns) == channel.answers
    assert max(column.height for column in chart.columns) == 100
    assert read(chart).text.count("likely shape") == 2
    table = chart.tables[-1]
    assert [label for label, _ in table.lines] == ["0", "3.333", "6.667", "10", "13.33", "16.67", "20",
                                                   "23.33", "26.67", "30", "33.33", "36.67"]  # fmt: skip
    assert all(float(low) <= float(value) <= float(high) for _, (value, low, high) in table.lines)


# --- groups and differences -------------------------------------------------------------------------------------------


@st.composite
def grouped(draw: st.DrawFn) -> tuple[Question, list[tuple[str, QuestionEstimate]]]:
    question, channel = channelled(draw(questions()))
    # A group may well be called None, but then the check for missing numbers would mistake its name for one.
    name = st.text(min_size=1, max_size=9).filter(lambda text: not NO_NUMBER.search(text))
    names = draw(st.lists(name, min_size=1, max_size=6))
    return question, [(name, estimated(draw, question, channel)) for name in names]


@given(grouped())
@settings(max_examples=60)
def test_groups_can_be_drawn(drawn: tuple[Question, list[tuple[str, QuestionEstimate]]]) -> None:
    """A block per option, a line per group, all marks within the plot."""
    question, groups = drawn
    chart = groups_chart(question, groups)
    read(chart)
    if isinstance(chart, Dots):
        assert len(chart.blocks) == max(len(groups[0][1].shares), 1)
        assert all(len(block.rows) == len(groups) for block in chart.blocks)
        assert all(holds(mark) for mark in marks(chart))
    else:
        assert not any(estimate.answers for _, estimate in groups)


def rows_of(*limits: tuple[float | None, float, float]) -> list[Difference]:
    return [
        Difference("n", "s", f"o{i}", value, value, 0.01, low, high, None if value is None else 0.0004, 0.2)
        for i, (value, low, high) in enumerate(limits)
    ]


def test_a_forest_of_differences() -> None:
    """Around zero, with signs, intervals and the p-value that allows for all."""
    chart = differences_chart(choice("A", "B"), rows_of((0.03, -0.01, 0.07), (None, -1.0, 1.0)), {"n": "North"})
    assert isinstance(chart, Dots) and chart.around_zero
    (block,) = chart.blocks
    assert block.label == "North − s"
    assert (block.rows[0].value, block.rows[0].limits, block.rows[0].extra) == ("+3.0", "−1.0 to +7.0", "p = 0.20")
    assert block.rows[0].mark == Mark(49.5, 53.5, 51.5) and block.rows[1].mark.at is None
    assert chart.tables[0].lines[0] == ("North − s", ("A", "3.0", "-1.0", "7.0", "1.0", "<0.001", "0.20"))
    reader = read(chart)
    assert "p = 0.20" in reader.text and "percentage points" in reader.text


def test_nothing_to_compare() -> None:
    """Where no difference is known, no axis is drawn."""
    assert isinstance(differences_chart(choice("A", "B"), rows_of((None, -1.0, 1.0)), {}), Empty)


@given(st.data())
@settings(max_examples=40)
def test_real_differences_can_be_drawn(data: st.DataObject) -> None:
    """Differences of any question between three groups with any reports can be drawn."""
    question, channel = channelled(data.draw(questions()))
    groups = []
    for label in "abc":
        answers = data.draw(st.integers(0, 40))
        counts = [0] * channel.feature_count
        if isinstance(channel, Subset):
            counts[: channel.size] = [answers] * channel.size
        else:
            counts[data.draw(st.integers(0, len(counts) - 1))] = answers
        groups.append(Group(label, alone(question, channel, counts, answers)))
    chart = differences_chart(question, compare(groups).differences, {"a": HOSTILE})
    read(chart)
    assert all(holds(mark) for mark in marks(chart))


# --- two questions ----------------------------------------------------------------------------------------------------


def joint(row: str, column: str, value: float | None) -> JointShare:
    if value is None:
        return JointShare(row, column, None, None, None, 0.0, 1.0, TOO_NOISY)
    return JointShare(
        row, column, value, value, 0.01, max(round(value - 0.03, 6), 0.0), min(round(value + 0.03, 6), 1.0)
    )


def table_of(cells: list[list[float | None]], submissions: int = 100) -> Crosstab:
    """A cross-tabulation with these shares; where one is None it is not known."""
    rows, columns = range(len(cells)), range(len(cells[0]))
    share = Share("", 0.5, 0.5, 0.01, 0.45, 0.55)
    return Crosstab(
        "rows", "columns", submissions, 0.95,
        [msgspec.structs.replace(share, code=f"r{i}") for i in rows],
        [msgspec.structs.replace(share, code=f"c{j}") for j in columns],
        [joint(f"r{i}", f"c{j}", cells[i][j]) for i in rows for j in columns],
        Independence(5.81, 4, 0.21),
    )  # fmt: skip


def test_a_heat_map() -> None:
    """Cells as dark as their shares are large, with intervals, totals and what the test says."""
    chart = crosstab_chart(table_of([[0.12, 0.4], [None, 0.0]]), {"r0": "Row"}, {"c0": HOSTILE}, "Which?", "What?")
    assert isinstance(chart, HeatMap)
    (first, inner, total), (second, others, _) = chart.lines
    assert (first, second) == ("Row", "r1") and (total.value, total.heat) == ("50.0%", 0)
    assert [(cell.value, cell.limits, cell.heat) for cell in inner] == [
        ("12.0%", "9.0–15.0%", 3),
        ("40.0%", "37.0–43.0%", 9),
    ]
    assert [(cell.value, cell.heat) for cell in others] == [("no data", 0), ("0%", 0)]
    reader = read(chart)
    assert "21% of surveys would show" in reader.text and "“Which?”" in reader.text and HOSTILE in reader.text
    assert ("td", {"class": "heat-9"}) in reader.tags


def test_merged_groups_are_named_together() -> None:
    """A code such as a+b is shown as both of its texts."""
    table = table_of([[0.2, 0.3]])
    table = msgspec.structs.replace(table, row_totals=[msgspec.structs.replace(table.row_totals[0], code="a+b")])
    table = msgspec.structs.replace(table, cells=[msgspec.structs.replace(cell, row="a+b") for cell in table.cells])
    chart = crosstab_chart(table, {"a": "North", "b": "South"}, {})
    assert isinstance(chart, HeatMap) and chart.lines[0][0] == "North or South"


def test_a_heat_map_of_nothing() -> None:
    """Without submissions the heat map says so."""
    assert isinstance(crosstab_chart(table_of([[None]], 0), {}, {}), Empty)


# --- days -------------------------------------------------------------------------------------------------------------


@given(st.dictionaries(st.dates(date(2020, 1, 1), date(2035, 12, 31)), st.integers(0, 10**6), max_size=60))
def test_days_add_up(days: dict[date, int]) -> None:
    """Whatever the days, the table counts every submission once, in at most 92 columns, the largest 100 high."""
    chart = days_chart(days)
    reader = read(chart)
    if not sum(days.values()):
        assert isinstance(chart, Empty)
        return
    assert isinstance(chart, Days)
    counts = [int(cells[0]) for _, cells in chart.tables[0].lines]
    assert sum(counts) == sum(days.values()) and len(counts) == len(chart.heights) <= 92
    assert max(chart.heights) == 100 and min(chart.heights) >= 0
    assert all((height > 0) == (count > 0) for height, count in zip(chart.heights, counts, strict=True))
    order = [height for _, height in sorted(zip(counts, chart.heights, strict=True))]
    assert order == sorted(order)
    assert chart.first in reader.text and chart.slots >= len(counts)


@pytest.mark.parametrize(
    ("length", "name", "columns"), [(1, "day", 1), (92, "day", 92), (93, "week", 14), (800, "month", 27)]
)
def test_many_days_become_weeks_and_months(length: int, name: str, columns: int) -> None:
    """A chart of years stays readable; the start of its periods is that of weeks and months."""
    chart = days_chart({date(2026, 1, 1) + timedelta(days=i): i + 1 for i in range(length)})
    assert isinstance(chart, Days) and f"Most in a {name}: " in chart.most and len(chart.heights) == columns
    assert chart.first == "1 January 2026"


# --- safe, small ------------------------------------------------------------------------------------------------------


def test_hostile_texts_stay_texts() -> None:
    """Whatever a survey's author writes is shown as it is, in labels, titles, tables and sentences, and never runs."""
    question = choice(HOSTILE, HOSTILE * 3)
    estimate = shares_of((0.231, 0.212, 0.25), (0.35, 0.32, 0.38))
    number = ask("number", min=0, max=1, unit=HOSTILE)[0]
    mean = QuestionEstimate("q", "number", 100, [], Mean(0.5, 0.5, 0.1, 0.4, 0.6), None, None, [])
    scale = ask("scale", labels=[HOSTILE, HOSTILE], measure="mean")[0]
    for chart in (
        question_chart(question, estimate),
        groups_chart(question, [(HOSTILE, estimate), (HOSTILE, estimate)]),
        differences_chart(question, rows_of((0.03, -0.01, 0.07)), {"n": HOSTILE, "s": HOSTILE}),
        question_chart(number, mean),
        groups_chart(number, [(HOSTILE, mean)]),
        question_chart(scale, msgspec.structs.replace(mean, mean=Mean(1.5, 1.5, 0.1, 1.4, 1.6))),
    ):
        reader = read(chart)
        assert "<script>alert(1)</script>" in reader.text and "49" not in reader.text
        assert not {"script", "img"} & {tag for tag, _ in reader.tags}


def test_long_labels_are_cut_and_told_whole() -> None:
    """A label of a thousand characters is cut at a word; its title and the table have all of it."""
    text = " ".join(["many words"] * 100)
    chart = question_chart(choice(text, "B"), shares_of((0.2, 0.1, 0.3), (0.8, 0.7, 0.9)))
    assert isinstance(chart, Bars) and len(chart.rows[0].label) <= 90 and chart.rows[0].label.endswith("words…")
    assert chart.rows[0].title == text and chart.tables[0].lines[0][0] == text and not chart.rows[1].title


def test_pages_stay_small() -> None:
    """An ordinary question takes less than 4 kB with its table, one of 51 options less than 25 kB."""
    six = [f"An option of some length, number {i}" for i in range(6)]
    many = [f"An option of some length, number {i}" for i in range(51)]
    few = question_chart(choice(*six), shares_of(*[(0.1234, 0.1111, 0.1357)] * 6))
    most = question_chart(choice(*many[:50]), shares_of(*[(0.01234, 0.01111, 0.01357)] * 50))
    assert len(draw(few).encode()) < 4_000 and len(draw(most).encode()) < 25_000
    days = days_chart({date(2026, 1, 1) + timedelta(days=i): 1000 + i for i in range(90)})
    assert len(draw(days).encode()) < 9_000


def test_an_axis_takes_what_lies_beyond_to_its_end() -> None:
    """Nothing is drawn outside of the plot."""
    axis = Axis(0.0, 0.1, ())
    assert (axis.place(-1.0), axis.place(2.0)) == (0, 100)
