"""Parts and booklets, exactly: the probability of every submission, from the code that draws it."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from functools import cache
from operator import mul
from typing import Any

from hypothesis import HealthCheck, example, given, settings

from deniable_protocol import ONE, Channel, Document, Part, decode, exp_floor
from tests.helpers.exhaustive import submissions
from tests.helpers.small_documents import all_answers, example_document, has_answer, shown, small_documents

Chances = dict[tuple[int, ...], Fraction]
exactly = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)


def every_chance(document: Document) -> list[tuple[dict[str, Any], Chances]]:
    """For every complete set of answers the probability of every (booklet, report, report ...)."""
    return [(answers, submissions(document, answers)) for answers in all_answers(document.survey)]


@exactly
@given(small_documents())
@example(example_document())
def test_no_submission_shows_more_than_epsilon(document: Document) -> None:
    """Whatever two people answer, no submission is more than e^epsilon times as likely for one as for the other.

    This is over everything that is sent: the booklet, and all its reports together.
    """
    tables = [chances for _, chances in every_chance(document)]
    bound = exp_floor(document.survey.exact_epsilon)
    possible = {sent for chances in tables for sent in chances}
    for sent in possible:
        chances = [table.get(sent, Fraction(0)) for table in tables]
        assert max(chances) * ONE <= bound * min(chances)
    assert all(sum(table.values()) == 1 for table in tables)


@exactly
@given(small_documents())
@example(example_document())
def test_the_booklet_shows_nothing(document: Document) -> None:
    """For every set of answers each booklet has the probability weight / (sum of the weights), exactly."""
    total = sum(booklet.weight for booklet in document.booklets)
    expected = {number: Fraction(booklet.weight, total) for number, booklet in enumerate(document.booklets)}
    for _, chances in every_chance(document):
        found: dict[int, Fraction] = defaultdict(Fraction)
        for (booklet, *_), chance in chances.items():
            found[booklet] += chance
        assert found == expected


@exactly
@given(small_documents())
@example(example_document())
def test_what_is_not_shown_leaves_no_trace(document: Document) -> None:
    """Two people whose answers to what they were shown are the same send each submission with the same probability."""
    seen: dict[str, Chances] = {}
    for answers, chances in every_chance(document):
        assert seen.setdefault(repr(shown(document.survey, answers)), chances) == chances


@exactly
@given(small_documents())
@example(example_document())
def test_shares_are_unbiased(document: Document) -> None:
    """For every answer of every item of a part, the decoded reports have the expectation 1 if it was given, else 0."""
    for answers, chances in every_chance(document):
        for number, part in enumerate(document.parts):
            mean = expected_vector(document, chances, number)
            for place, item in enumerate(part.items):
                for code in range(len(item.codes)):
                    # A scale whose mean is asked has levels in place of paths.
                    paths = part.owned(place, code) if part.paths else (code,)
                    z = sum((mean[path] for path in paths), Fraction(0))
                    assert z == truth(document, answers, part, place, code)


def expected_vector(document: Document, chances: Chances, number: int) -> list[Fraction]:
    """E[z] of a part's reports, among the submissions whose booklet has it."""
    channel = document.parts[number].channel
    reports: dict[int, Fraction] = defaultdict(Fraction)
    for (booklet, *sent), chance in chances.items():
        parts = document.booklets[booklet].parts
        if number in parts:
            reports[sent[parts.index(number)]] += chance
    vectors, whole = decoded(channel)
    scale = math.lcm(*(chance.denominator for chance in reports.values()))
    weights = [int(chance * scale) for chance in reports.values()]
    sums = [sum(map(mul, weights, column)) for column in zip(*(vectors[report] for report in reports), strict=True)]
    return [Fraction(each, sum(weights) * whole) for each in sums]


@cache
def decoded(channel: Channel) -> tuple[dict[int, list[int]], int]:
    """Every report decoded, as integers over one denominator: sums of fractions are slow."""
    vectors = {report: decode(channel, report) for report in channel.reports()}
    whole = math.lcm(*(z.denominator for vector in vectors.values() for z in vector))
    return {report: [int(z * whole) for z in vector] for report, vector in vectors.items()}, whole


def truth(document: Document, answers: dict[str, Any], part: Part, place: int, code: int) -> int:
    """Whether this answer was shown and given."""
    item, given = part.items[place], shown(document.survey, answers)
    if item.option is None:
        return int(has_answer(document.survey, given, item.name, item.codes[code]))
    chosen = has_answer(document.survey, given, item.question.id, item.option)
    return int(item.question.id in given and chosen == bool(code))
