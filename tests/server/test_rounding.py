"""The rounding rule: written intervals contain the exact ones, are hardly wider, and read the same everywhere."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable_server.analysis import rounding
from deniable_server.analysis.rounding import Rounded, figure, margin, rounded, share_in_percent, signed, up
from deniable_server.analysis.tables import lines
from deniable_server.estimator import Applies, Mean, QuestionEstimate, Share
from deniable_server.estimator.comparison import Difference
from deniable_server.estimator.shares import too_noisy
from deniable_server.pages import sentences
from deniable_server.pages.charts import question_chart, share_axis, share_row
from tests.helpers.surveys import ask

WIDENING = Decimal(1) / 15
"""How much wider a written interval may be, as a part of its width: what the rule's 30 steps promise."""


@st.composite
def intervals(draw: st.DrawFn, floor: float = 0.0, ceiling: float = 1.0) -> tuple[float, float, float]:
    """Low, estimate, high: anything from points to everything, also near the ends."""
    part = st.one_of(
        st.floats(0, 1), st.floats(0, 1e-4), st.floats(1 - 1e-4, 1), st.sampled_from([0.0, 0.07, 0.29, 1.0])
    )
    middle = draw(part)
    spread = draw(st.one_of(st.floats(0, 1), st.floats(0, 1e-5)))
    parts = sorted([max(middle - spread * draw(part), 0.0), middle, min(middle + spread * draw(part), 1.0)])
    low, value, high = (floor * (1 - each) + ceiling * each for each in parts)
    low, high = max(min(low, value), floor), min(max(high, value), ceiling)
    return low, min(max(value, low), high), high


def share(estimate: float | None, low: float = 0.0, high: float = 1.0, code: str = "a") -> Share:
    return Share(code, estimate, estimate, 0.01, low, high, too_noisy(high - low, 1.0))


def read(text: str) -> Decimal:
    return Decimal(text.replace("−", "-").replace(",", "").rstrip("%"))


@pytest.mark.parametrize(
    ("low", "value", "high", "written"),
    [
        (0.2963, 0.32, 0.3503, ("32.0", "29.6", "35.1")),  # 35.03 is 35.1 on pages and in the terminal
        (0.21257, 0.231, 0.24944, ("23.1", "21.2", "25.0")),
        (0.1, 0.4, 0.7, ("40", "10", "70")),
        (0.0, 0.0, 0.0231, ("0", "0", "2.31")),
        (0.004, 0.05, 0.2, ("5.0", "0.4", "20.0")),
        (0.0, 0.0004, 0.05, ("0.04", "0", "5.0")),  # nearly, but not zero
        (0.5, 0.5, 0.5, ("50.000", "50.000", "50.000")),
        (0.2, None, 0.7, ("", "20", "70")),
    ],
)
def test_the_rule_by_example(low: float, value: float | None, high: float, written: tuple[str, str, str]) -> None:
    """Thirty steps or more in the width; limits outwards, the estimate to the nearest."""
    assert share_in_percent(share(value, low, high)).texts() == written


@given(st.data(), st.sampled_from([(0, 1), (0, 40), (-1, 1), (18, 99), (0, 250_000), (0, 0.001), (1e15, 9e15)]))
def test_what_is_written_contains_the_exact_interval(data: st.DataObject, ends: tuple[float, float]) -> None:
    """It stays on the scale, contains the exact interval, and is at most 1/15 wider. The estimate is the nearest."""
    low, value, high = data.draw(intervals(*ends))
    written = rounded(value, low, high, *ends)
    exact = [Decimal(repr(each)) for each in (low, high)]
    assert Decimal(repr(float(ends[0]))) <= written.low <= exact[0]
    assert exact[1] <= written.high <= Decimal(repr(float(ends[1])))
    assert written.value is not None and written.low <= written.value <= written.high
    width = exact[1] - exact[0]
    # Twelve decimals are the most, and three those of an interval without width.
    least = Decimal("2e-12") if width else Decimal("0.002")
    assert (written.high - written.low) - width <= max(WIDENING * width, least)
    # The estimate moves by half a step at most, a quarter of what both limits may move together.
    assert abs(written.value - Decimal(repr(value))) <= max(WIDENING * width, least) / 4


@given(intervals(-1.0, 1.0))
def test_a_limit_is_not_rounded_onto_zero(interval: tuple[float, float, float]) -> None:
    """Whether an interval contains zero can be read, unless a limit is a thousandth of its width from it."""
    low, value, high = interval
    written = rounding.difference(Difference("a", "b", "x", value, value, 0.1, low, high, 0.5, 0.5))
    for exact, near in ((low, written.low), (high, written.high)):
        assert near != 0 or exact == 0 or abs(exact) <= max((high - low) / 1000, 1e-5)


@given(intervals())
def test_pages_and_terminal_write_the_same(interval: tuple[float, float, float]) -> None:
    """A share reads the same in the sentence, the chart, its table, and the terminal."""
    low, value, high = interval
    one = share(value, low, high, "yes")
    question, _ = ask("yes_no")
    estimate = QuestionEstimate("q", "yes_no", 1000, [one], None, None, None, [])
    about, first, last = share_in_percent(one).texts()
    (line,) = lines(question, estimate)
    assert (line.low, line.high) == (f"{first}%", f"{last}%")
    row = share_row("Yes", one, share_axis(1.0))
    assert (row.value, row.limits) == (line.about, f"{first}–{last}%")
    chart: Any = question_chart(question, estimate)
    assert [read(text) for text in chart.tables[0].lines[0][1][:3]] == [read(text) for text in (about, first, last)]
    said = sentences.about(one)
    assert f"{last}%" in said or read(last) == 100
    assert f"{first}%" in said or read(first) == 0


@given(intervals())
def test_conditional_shares_are_written_by_the_same_rule(interval: tuple[float, float, float]) -> None:
    """The share that a question applies to, and those of people who answered, read the same on pages and in tables."""
    low, value, high = interval
    applies = Applies(value, value, 0.01, low, high, too_noisy(high - low, 1.0))
    answering = [share(value, low, high, code) for code in ("yes", "no")]
    question, _ = ask("yes_no", decline=True)
    estimate = QuestionEstimate(
        "q", "yes_no", 1000, answering, None, None, None, [], applies=applies, among_answering=answering
    )
    shown = lines(question, estimate)
    assert [line.of for line in shown] == ["", "of those", "of those", "of those who answered", "of those who answered"]
    assert len({line[1:4] for line in shown}) == 1
    chart: Any = question_chart(question, estimate)
    assert len({cells for table in chart.tables for _, cells in table.lines}) == 1
    assert sentences.about(applies) == sentences.about(answering[0]) and sentences.about(applies) in sentences.applies(
        estimate
    )


@given(intervals(0, 40))
def test_means_read_the_same(interval: tuple[float, float, float]) -> None:
    """A mean reads the same in the sentence and in the terminal."""
    low, value, high = interval
    question, _ = ask("number", min=0, max=40)
    mean = Mean(value, value, 0.1, low, high)
    (line,) = lines(question, QuestionEstimate("q", "number", 1000, [], mean, None, None, []))
    said = sentences.about_mean(question, mean)
    assert line.low in said or low == 0
    assert line.high in said or high == 40


@given(st.decimals(Decimal("0.0001"), 1000, places=6))
def test_what_may_not_be_understated_is_rounded_up(number: Decimal) -> None:
    """Margins are rounded up by at most 1/15, other numbers to two digits."""
    assert number <= margin(number) <= number * (1 + WIDENING)
    assert number <= up(number) <= number * Decimal("1.1")
    assert len(up(number).normalize().as_tuple().digits) <= 2


def test_texts_of_numbers() -> None:
    """People see separated thousands and a real minus, spreadsheets get digits alone; zero has no sign."""
    numbers = Rounded(Decimal("-1234.5"), Decimal("-2000"), Decimal("-0.0"))
    assert numbers.texts() == ("−1,234.5", "−2,000", "0.0")
    assert [figure(number) for number in numbers if number is not None] == ["-1234.5", "-2000", "0.0"]
    assert [signed(text) for text in ("3", "0.0", "−2")] == ["+3", "0.0", "−2"]
