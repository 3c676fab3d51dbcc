"""The sentences next to charts: exact, and never surer than the numbers."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_rounding import intervals, share

from deniable_protocol import verify
from deniable_server.estimator import (
    NOT_HONEST,
    TOO_NOISY,
    Mean,
    QuestionEstimate,
    Share,
    Summary,
    Weighted,
    estimate_question,
)
from deniable_server.estimator.comparison import Difference
from deniable_server.estimator.crosstab import Independence
from deniable_server.estimator.evidence import alone
from deniable_server.estimator.questions import too_noisy
from deniable_server.pages import sentences
from deniable_server.wording import (
    answer_texts,
    group_text,
    independence_in_words,
    item_texts,
    method_in_words,
    part_in_words,
    probability,
)
from tests.helpers.surveys import ask, joint

NUMBER = r"(−?[\d,]+(?:\.\d+)?)"


def number(text: str) -> Decimal:
    return Decimal(text.replace("−", "-").replace(",", ""))


def question_estimate(kind: str = "choice", **own: Any) -> QuestionEstimate:
    given: dict[str, Any] = {
        "id": "q", "type": kind, "answers": 1000, "shares": [], "mean": None, "open_equivalent": None,
        "fake_influence": None, "notes": [],
    }  # fmt: skip
    return QuestionEstimate(**(given | own))


# --- shares -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "estimate", "high", "said"),
    [
        (0.212, 0.231, 0.250, "about 23.1%, between 21.2% and 25.0%"),
        (0.001, 0.004, 0.009, "about 0.40%, between 0.10% and 0.90%"),
        (0.0, 0.004, 0.03, "about 0.4%, at most 3.0%"),
        (0.0, 0.0, 0.023, "at most 2.30%"),
        (0.97, 0.99, 1.0, "about 99.0%, at least 97.0%"),
        (0.97, 0.998, 1.0, "about 99.8%, at least 97.0%"),
        (0.29, 0.3, 0.57, "about 30.0%, between 29.0% and 57.0%"),
        (0.05, 0.4, 0.95, "too noisy to say: anywhere between 5% and 95%"),
        (0.0, 0.4, 1.0, "too noisy to say: anywhere between 0% and 100%"),
        (0.123456, 0.123457, 0.123458, "about 12.345700%, between 12.345600% and 12.345800%"),
        (0.5, 0.5, 0.5, "about 50.000%, between 50.000% and 50.000%"),
    ],
)
def test_a_share_in_words(low: float, estimate: float, high: float, said: str) -> None:
    """Places as the interval deserves, limits rounded outwards, ends of the scale named as such."""
    assert sentences.about(share(estimate, low, high)) == said


def test_a_share_without_data() -> None:
    """Without data, nothing is claimed."""
    assert sentences.about(Share("a", None, None, None, 0.0, 1.0, TOO_NOISY)) == "no data"


@given(intervals())
def test_words_never_claim_a_narrower_interval(interval: tuple[float, float, float]) -> None:
    """Read back from the words, the interval contains the exact one, and the estimate."""
    low, estimate, high = interval
    said = sentences.about(share(estimate, low, high))
    numbers = [number(each) for each in re.findall(NUMBER + "%", said)]
    if "at most" in said:
        numbers.insert(-1, Decimal(0))
    if "at least" in said:
        numbers.append(Decimal(100))
    exact = [Decimal(repr(each)) * 100 for each in (low, high)]
    assert numbers[-2] <= exact[0] and exact[1] <= numbers[-1]
    if not said.startswith(TOO_NOISY):
        assert numbers[-2] <= numbers[0] <= numbers[-1]
        assert (numbers[0] == 0) <= (estimate < 1e-4)
    else:
        assert high - low > 0.5


# --- means ------------------------------------------------------------------------------------------------------------

SCALE = ask("scale", labels=["Not at all", "A little", "Somewhat", "Quite", "Very"], measure="mean")[0]
DRINKS = ask("number", min=0, max=40, unit="drinks")[0]
WAGE = ask("number", min=0, max=250_000, unit="EUR")[0]


@pytest.mark.parametrize(
    ("question", "mean", "said"),
    [
        (SCALE, Mean(3.4, 3.4, 0.1, 3.21, 3.58),
         "about 3.40, between 3.21 and 3.58, on a scale from 1 (Not at all) to 5 (Very)"),
        (DRINKS, Mean(6.21, 6.21, 0.1, 5.93, 6.5), "about 6.21 drinks, between 5.93 and 6.50"),
        (DRINKS, Mean(0.3, 0.3, 0.1, 0.0, 0.9), "about 0.30 drinks, at most 0.90"),
        (DRINKS, Mean(39.9, 39.9, 0.1, 39.2, 40.0), "about 39.90 drinks, at least 39.20"),
        (WAGE, Mean(89_123.0, 89_123.0, 0.1, 87_210.0, 91_020.0), "about 89,100 EUR, between 87,200 and 91,100"),
        (DRINKS, Mean(20.0, 20.0, 9.0, 4.6, 36.2, TOO_NOISY), "too noisy to say: anywhere between 4 and 37 drinks"),
        (DRINKS, Mean(None, None, None, 0.0, 40.0, TOO_NOISY), "no data"),
    ],
)  # fmt: skip
def test_a_mean_in_words(question: Any, mean: Mean, said: str) -> None:
    """A mean is written with its unit, or with the ends of its scale."""
    assert sentences.about_mean(question, mean) == said


def test_net_scores_are_in_points() -> None:
    """A score can be negative; a summary has no note, and is judged by its interval."""
    score = Summary("net_score", ["4", "5"], ["1", "2"], -0.123, -0.123, 0.04, -0.21, -0.04)
    assert sentences.about_score(score) == "about −12.3 points, between −21.0 and −4.0"
    estimate = question_estimate("scale", summaries=[Summary("top_two", ["4"], [], 0.3, 0.3, 0.1, 0.1, 0.7), score])
    assert sentences.summaries(estimate) == [
        ("Top two", "too noisy to say: anywhere between 10% and 70%"),
        ("Net score", "about −12.3 points, between −21.0 and −4.0"),
    ]


# --- a question's card ------------------------------------------------------------------------------------------------

CHOICE = ask("choice", options=[{"code": code, "text": code.upper()} for code in "abcd"], decline=True)[0]


@pytest.mark.parametrize(
    ("shares", "said"),
    [
        ([(0.41, 0.38, 0.44), (0.3, 0.27, 0.33)], "Most common: A, about 41.0%, between 38.0% and 44.0%"),
        ([(0.41, 0.38, 0.44), (0.37, 0.34, 0.38), (0.1, 0.08, 0.12)], "Most common: A or B, too close to call"),
        ([(0.2, 0.1, 0.3), (0.21, 0.1, 0.3), (0.2, 0.1, 0.3)], "Most common: A, B or C, too close to call"),
        ([(0.2, 0.1, 0.3)] * 4, "Most common: too close to call between 4 of 4 answers"),
        ([(0.4, 0.1, 0.9)] * 3, "Too noisy to say"),
        # One that is too noisy may still be the most common.
        ([(0.41, 0.38, 0.44), (0.3, 0.0, 0.9)], "Most common: A or B, too close to call"),
    ],
)  # fmt: skip
def test_headlines_declare_no_winner_too_early(shares: list[tuple[float, float, float]], said: str) -> None:
    """An answer is the most common only if its interval lies above all others."""
    each = [share(value, low, high, code) for code, (value, low, high) in zip("abcd", shares, strict=False)]
    assert sentences.headline(CHOICE, question_estimate(shares=each)) == said


def test_headlines_of_the_other_types() -> None:
    """A yes_no's headline is its yes, a mean's its mean; without answers, weighted or not, there is no number."""
    yes_no = ask("yes_no", decline=True)[0]
    shares = [share(0.231, 0.212, 0.25, "yes"), share(0.7, 0.6, 0.8, "no"), share(0.05, 0.0, 0.1, "declined")]
    assert sentences.headline(yes_no, question_estimate(shares=shares)) == "Yes: about 23.1%, between 21.2% and 25.0%"
    mean = Mean(6.21, 6.21, 0.1, 5.93, 6.5)
    assert sentences.headline(DRINKS, question_estimate(mean=mean)) == "About 6.21 drinks, between 5.93 and 6.50"
    assert sentences.headline(DRINKS, Weighted(99.5, 1.1, [], mean)) == "About 6.21 drinks, between 5.93 and 6.50"
    for nothing in (question_estimate(answers=0, mean=mean), Weighted(0.0, None, [], mean)):
        assert sentences.headline(DRINKS, nothing) == "No answers yet"


def test_what_must_be_said_first() -> None:
    """Each note becomes a sentence that says what it means; without answers there is nothing to say."""
    said = sentences.notices(question_estimate(notes=[TOO_NOISY]))
    assert TOO_NOISY in said[0] and said[0].endswith(".")
    said = sentences.survey_notices([f"{NOT_HONEST}: too many"])
    assert said[0] == "Not consistent with honest reports: too many." and "Do not rely" in said[1]
    assert sentences.survey_notices([]) == []
    assert sentences.notices(question_estimate(answers=0, notes=[TOO_NOISY])) == []


@pytest.mark.parametrize(
    ("question", "answers", "each", "said"),
    [
        (CHOICE, 1000, 0.00078, "10 false submissions could move a share by up to 0.78 points"),
        (CHOICE, 1000, 0.0007801, "10 false submissions could move a share by up to 0.79 points"),
        (CHOICE, 99, 0.01, "1 false submission could move a share by up to 1 point"),
        (CHOICE, 1, 2.3, "1 false submission could move a share by up to 100 points"),
        (DRINKS, 12_000, 0.0121, "120 false submissions could move the mean by up to 1.5 drinks"),
        (DRINKS, 1, 800.0, "1 false submission could move the mean by up to 40 drinks"),
    ],
)
def test_the_influence_of_false_submissions(question: Any, answers: int, each: float, said: str) -> None:
    """The sentence assumes one false submission in a hundred; the figure is rounded up, within what is possible."""
    assert sentences.influence(question, question_estimate(answers=answers, fake_influence=each)) == said


def test_the_influence_on_all_that_stands_beside_it() -> None:
    """Several points together, the net score and the numbers of a group can be moved by more than a share of all."""
    each = question_estimate(answers=1000, fake_influence=0.001)
    groups = [question_estimate(answers=n, fake_influence=influence) for n, influence in ((900, 0.0011), (100, 0.02))]
    groups.append(question_estimate(answers=0))
    start = "10 false submissions could move a share by up to 1 point"
    assert sentences.influence(CHOICE, each, groups) == f"{start}, within one group by up to 20 points"
    summaries = [
        Summary("top_two", ["4", "5"], [], 0.3, 0.3, 0.1, 0.1, 0.7, 0.0012),
        Summary("bottom_two", ["1", "2"], [], 0.3, 0.3, 0.1, 0.1, 0.7, 0.0014),
        Summary("net_score", ["4", "5"], ["1", "2"], 0.0, 0.0, 0.1, -0.2, 0.2, 0.15),
    ]
    scale = question_estimate("scale", answers=1000, fake_influence=0.001, summaries=summaries)
    more = "that of several points by up to 1.4 points, the net score by up to 150 points"
    assert sentences.influence(CHOICE, scale) == f"{start}, {more}"


def test_the_influence_is_of_what_is_not_weighted() -> None:
    """Next to weighted numbers, the sentence says that it is not about them."""
    weighted = Weighted(900.0, 1.1, [], None)
    given = question_estimate(answers=1000, fake_influence=0.001, weighted=weighted)
    assert sentences.influence(CHOICE, given) == "10 false submissions could move an unweighted share by up to 1 point"
    drinks = question_estimate("number", answers=1000, fake_influence=0.1, weighted=weighted)
    assert (
        sentences.influence(DRINKS, drinks) == "10 false submissions could move the unweighted mean by up to 1 drinks"
    )


@given(st.floats(1e-9, 2), st.integers(1, 10**7))
def test_the_influence_is_never_understated(each: float, answers: int) -> None:
    """Read back, the figure is at least what so many submissions can do, or everything."""
    said = sentences.influence(CHOICE, question_estimate(answers=answers, fake_influence=each))
    false, most = (number(text) for text in re.findall(NUMBER, said))
    assert most == 100 or most / 100 >= Decimal(repr(each)) * false


def test_what_is_not_known_is_not_said() -> None:
    """Without an influence or an equivalent there is no sentence."""
    assert sentences.influence(CHOICE, question_estimate()) == sentences.open_equivalent(question_estimate()) == ""
    assert (
        sentences.open_equivalent(question_estimate(open_equivalent=3120))
        == "worth as much as 3,120 unprotected answers"
    )
    assert sentences.open_equivalent(question_estimate(open_equivalent=1)) == "worth as much as 1 unprotected answer"


# --- differences ------------------------------------------------------------------------------------------------------

NAMES = {"north": "North", "south": "South"}


def difference(
    low: float, value: float | None, high: float, p: float | None = 0.21, code: str | None = "a"
) -> Difference:
    return Difference("north", "south", code, value, value, 0.01, low, high, p, p, too_noisy(high - low, 2.0))


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (difference(-0.01, 0.03, 0.07),
         ("North is about 3.0 points higher than South, between 1.0 points lower and 7.0 points higher; "
         "such a difference would be common by chance (p = 0.21).")),
        (difference(0.01, 0.03, 0.07, 0.0004),
         ("North is about 3.0 points higher than South, between 1.0 and 7.0 points higher; "
         "such a difference would be very rare by chance (p < 0.001).")),
        (difference(-0.07, -0.03, -0.01, 0.049),
         ("North is about 3.0 points lower than South, between 1.0 and 7.0 points lower; "
         "such a difference would be uncommon by chance (p = 0.049).")),
        (difference(-0.05, 0.001, 0.05, 0.98),
         ("North and South are about the same: North is between 5.0 points lower and 5.0 points higher; "
         "such a difference would be common by chance (p = 0.98).")),
        (difference(-0.9, 0.1, 0.9),
         "too noisy to say: North may be anywhere between 90 points lower and 90 points higher than South."),
        (difference(-0.2, 0.1, 0.3, None),
         ("North is about 10 points higher than South, between 20 points lower and 30 points higher; "
         "there are too few reports for a test.")),
        (difference(-1.0, None, 1.0, None), "North and South cannot be compared: no data."),
        (difference(-2.9, -1.0, 1.2, 0.1, None),
         ("North is about 1.0 lower than South, between 2.9 lower and 1.2 higher, in drinks; "
         "such a difference would be common by chance (p = 0.10).")),
    ],
)  # fmt: skip
def test_a_difference_in_words(row: Difference, said: str) -> None:
    """How far, which way, how sure, and what chance alone would do."""
    unit = "drinks" if row.code is None else ""
    # Nothing of a mean's range is known here: its note is the estimator's.
    row = msgspec.structs.replace(row, note=msgspec.UNSET) if row.code is None else row
    assert sentences.difference(row, NAMES, unit=unit) == said
    if row.code is not None:
        assert sentences.difference(row, NAMES, "Alcohol") == f"Alcohol: {said}"


def test_the_p_value_that_allows_for_all_decides() -> None:
    """A p-value that is small only before adjusting is not called rare."""
    row = msgspec.structs.replace(difference(0.01, 0.03, 0.07, 0.002), adjusted_p_value=0.08)
    assert sentences.difference(row, NAMES).endswith(
        "would be common by chance (p = 0.002, 0.080 allowing for all that are shown)."
    )


@given(intervals(-1.0, 1.0))
def test_words_never_claim_a_narrower_difference(interval: tuple[float, float, float]) -> None:
    """Read back from the sentence, the interval contains that of the numbers."""
    low, value, high = interval
    said = sentences.difference(difference(low, value, high), NAMES)
    found = re.search(rf"between {NUMBER}(?: points?)?( lower| higher)? and {NUMBER} points? (lower|higher)", said)
    assert found, said
    first, way, last, end = found.groups()
    if way is None:
        bounds = [number(first), number(last)] if end == "higher" else [-number(last), -number(first)]
    else:
        bounds = [-number(first), number(last)]
        assert (way.strip(), end) == ("lower", "higher")
    assert bounds[0] <= Decimal(repr(low)) * 100 and Decimal(repr(high)) * 100 <= bounds[1]


# --- shared with the terminal -----------------------------------------------------------------------------------------


def test_p_values() -> None:
    """A p-value is never written as 0 or 1."""
    given = [None, 0.0, 0.0004, 0.0496, 0.21, 0.996, 1.0]
    assert [probability(p) for p in given] == ["unknown", "<0.001", "<0.001", "0.050", "0.21", ">0.99", ">0.99"]


def test_independence_in_words() -> None:
    """The sentence says what the p-value means, or why there is none."""
    test = Independence(5.81, 4, 0.2138)
    assert independence_in_words(test) == (
        "If the two were independent, 21% of surveys would show at least this much dependence "
        "(χ² = 5.81 on 4 degrees of freedom)."
    )
    assert independence_in_words(Independence(None, 0, None, "too few reports for this test")).endswith("this test.")


def test_answers_read_as_people_would_write_them() -> None:
    """Yes and no, bins with their unit, numbered points; nothing else is changed."""
    assert answer_texts(ask("yes_no", decline=True)[0]) == {"yes": "Yes", "no": "No", "declined": "Prefer not to say"}
    bins = ask("number", min=0, max=50_000, unit="EUR", measure="shares", bins=[500, 2500.5])[0]
    assert [*answer_texts(bins).values()] == ["0 to 500 EUR", "500 to 2,500.5 EUR", "2,500.5 to 50,000 EUR"]
    assert answer_texts(DRINKS) == {}
    assert [*answer_texts(ask("scale", labels=["Low", "High"])[0]).values()] == ["1 Low", "2 High"]


def test_groups_are_called_by_their_texts() -> None:
    """Codes that are merged are named together."""
    from deniable_protocol import Option, Segment

    segment = Segment("campus", "Campus?", (Option("north", "North"), Option("south", "South")))
    assert group_text(segment, "north") == "North" and group_text(segment, "north+south") == "North or South"


@given(st.text(max_size=300))
def test_a_text_from_right_to_left_stays_apart(text: str) -> None:
    """Within a sentence it is isolated; others are left alone, and none is longer than it may be."""
    said = sentences.quoted(text)
    assert len(said) <= sentences.LONGEST + 2
    assert sentences.quoted("North") == "North" and sentences.quoted("شمال") == "\u2068شمال\u2069"


@given(st.integers(0, 400), st.integers(0, 2**32))
def test_real_estimates_have_words(answers: int, seed: int) -> None:
    """Whatever the reports, every sentence comes out, without NaN, infinities or an empty claim."""
    import random

    chooser = random.Random(seed)
    question, channel = ask("yes_no", 0.5)
    yes = chooser.randint(0, answers)
    estimate = estimate_question(alone(question, channel, [answers - yes, yes], answers))
    texts = [
        sentences.headline(question, estimate),
        sentences.influence(question, estimate),
        sentences.open_equivalent(estimate),
    ]
    texts += [sentences.about(each) for each in estimate.shares] + sentences.notices(estimate)
    assert not any(re.search(r"\b(nan|inf|None)\b", text, re.IGNORECASE) for text in texts)
    assert texts[0]


# --- parts ------------------------------------------------------------------------------------------------------------


def test_parts_are_described_with_all_their_questions() -> None:
    """Several questions are named, and reported as combinations of answers; one question, or option, is not."""
    document = verify(joint())
    said = {part.names: part_in_words(part) for part in document.parts}
    one, some = said["vaped", "how_often", "support.doctor"], said["vaped", "how_often", "stress"]
    assert one == "vaped, how_often and support.doctor together: one of 8 combinations of answers (k-ary response)"
    assert some == "vaped, how_often and stress together: subsets of 2 of 16 combinations of answers"
    assert said["support.friend", "support.nobody"].startswith("support.friend and support.nobody together: ")
    assert all("together" not in words for names, words in said.items() if len(names) == 1)


def test_how_numbers_came_about() -> None:
    """A question in several parts names all, and a follow-up says that its shares are a ratio."""
    document = verify(joint())
    asked = {question.id: question for question in document.survey.questions}
    vaped = method_in_words(document, asked["vaped"])
    assert vaped.startswith("vaped, how_often and support.doctor together: ")
    assert ", or vaped, how_often and stress together: " in vaped
    assert vaped.endswith("score limits where several parts are pooled")
    assert method_in_words(document, asked["how_often"]).endswith("score limits on the ratio of two noisy counts")
    assert "t limits" in method_in_words(document, asked["hours"])


def test_options_of_several_choices_read_as_yes_and_no() -> None:
    """What a part reports on an option is a yes or a no, whatever the option says."""
    items = {item.name: item for part in verify(joint()).parts for item in part.items}
    assert item_texts(items["support.doctor"]) == {"no": "No", "yes": "Yes"}
    assert item_texts(items["vaped"]) == answer_texts(items["vaped"].question)
