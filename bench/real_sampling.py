"""Surveys in which people of a study respond: booklets and reports drawn for all of them at once, then counted.

Reports have just the distribution that clients give them (tests/server/test_real_coverage.py checks it against the
channels and against ``randomize``), but come from a seeded generator: nobody is to be protected here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from real_data import Study

from deniable_protocol import Band, Channel, Document, Drawn, Part, Subset, survey_from_tree, verify
from deniable_server.analysis.crossing import Crossing
from deniable_server.analysis.source import Source
from deniable_server.planning import publish_survey
from deniable_server.statistics import Cell, Codes, RepeatCounter, Statistics, count_features, nothing
from deniable_server.storage import Published, Status

N = 2**53
MINIMUM = 10
"""The size of the smallest group that is shown: the default of the server."""

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def draw_reports(channel: Channel, truths: npt.NDArray[Any], random: np.random.Generator) -> Ints:
    """A report for each answer; a row of bits where several options can be true, a part of the range for a number."""
    n = len(truths)
    if truths.dtype == np.float64:
        position = truths * (channel.answers - 1)
        truths = np.floor(position).astype(np.int64)
        truths = truths + (random.random(n) < position - truths)
    if isinstance(channel, Subset):
        return _subsets(channel, truths, random)
    if isinstance(channel, Band):
        favoured = random.random(n) < channel.favour / N
        other = random.integers(0, channel.levels - 1, n)
        other = np.where(other < truths, other, other + channel.width)
        return np.where(favoured, truths + random.integers(0, channel.width, n), other)
    assert isinstance(channel, Drawn)
    part = random.integers(0, channel.answers, n)
    favours = np.array([band.favour / N for band in channel.parts])
    flipped = random.random(n) >= favours[part]
    return np.asarray(2 * part + (truths[np.arange(n), part] ^ flipped), np.int64)


def _subsets(channel: Subset, truths: Ints, random: np.random.Generator) -> Ints:
    n, k = len(truths), channel.options
    kept = random.random(n) < channel.favour / N
    if channel.size == 1:
        return np.int64(1) << np.where(kept, truths, (truths + random.integers(1, k, n)) % k)
    # Of the others those with the smallest random numbers: any set of them is as likely as any other.
    order = random.random((n, k))
    order[np.arange(n), truths] = np.where(kept, -1.0, 2.0)
    held = np.argpartition(order, channel.size - 1, axis=1)[:, : channel.size]
    return np.asarray((np.int64(1) << held).sum(axis=1))


def feature_chances(channel: Channel) -> Floats:
    """The probability that the report of each answer (of options: of each set of bits) shows each feature."""
    if isinstance(channel, Subset):
        support = channel.supports()[0]
        return np.where(np.eye(channel.options, dtype=bool), float(support.p), float(support.q))
    rows = range(channel.answers)
    return np.array([[float(channel.probability(i, report)) for report in channel.reports()] for i in rows])


class Survey(Source):
    """A simulated survey: its statistics, and (of the textbook's design) the reports of each person, part by part."""

    def __init__(self, published: Published, statistics: Statistics, reports: Sequence[Ints] = ()) -> None:
        super().__init__(published, MINIMUM)
        self.counted, self._reports = statistics, reports

    def _status(self) -> Status:
        return "closed"

    def _statistics(self, over: Sequence[int]) -> Statistics:
        return self.counted.over(over)

    def _count(self, crossing: Crossing) -> None:
        assert not crossing.wanted, "reports are not kept with their segments"
        crossing.joint.add(self._reports[crossing.rows], self._reports[crossing.columns])

    def another(self, name: str) -> Source:
        raise NotImplementedError("no survey is compared with another here")


@dataclass(frozen=True)
class Population:
    """The people of a study, and a published survey that they are asked."""

    study: Study
    published: Published

    @property
    def document(self) -> Document:
        return self.published.document

    @cached_property
    def eagerness(self) -> Floats:
        """The probability that the next to respond is this person."""
        each = np.ones(self.study.people)
        for name, factors in self.study.eager.items():
            each *= [factors[code] for code in self.study.segments[name]]
        return np.asarray(each / each.sum())

    @cached_property
    def cells(self) -> tuple[Ints, list[Codes]]:
        """The number of each person's cell, and the codes of each cell."""
        columns = []
        for segment in self.document.survey.segments:
            place = {option.code: j for j, option in enumerate(segment.options)}
            columns.append([place[code] for code in self.study.segments[segment.id]])
        codes, cell = np.unique(np.array(columns).T, axis=0, return_inverse=True)
        return cell.ravel(), [tuple(each) for each in codes.tolist()]

    @cached_property
    def truths(self) -> list[npt.NDArray[Any]]:
        """Per part what its channel takes for each person."""
        return [_encode(part, self.study.answers) for part in self.document.parts]

    def draw(self, n: int, random: np.random.Generator) -> Survey:
        """So many people respond, drawn with replacement."""
        (cell, codes), booklets = self.cells, self.document.booklets
        people = random.choice(self.study.people, n, p=self.eagerness)
        weights = np.array([booklet.weight for booklet in booklets])
        drawn = random.choice(len(booklets), n, p=weights / weights.sum()) if len(booklets) > 1 else np.zeros(n, int)
        counts = [np.zeros((len(codes), part.channel.feature_count), np.int64) for part in self.document.parts]
        reports, repeats = [], RepeatCounter(self.document)
        for number, booklet in enumerate(booklets):
            chosen = people[drawn == number]
            sums = np.zeros(len(chosen), np.int64)
            for part in booklet.parts:
                channel = self.document.parts[part].channel
                reports.append(draw_reports(channel, self.truths[part][chosen], random))
                counts[part] += count_features(channel, cell[chosen], len(codes), reports[-1])
                sums += repeats.add(part, reports[-1])
            repeats.add_sums(sums)
        place = cell[people] * len(booklets) + drawn
        sizes = np.bincount(place, minlength=len(codes) * len(booklets)).reshape(len(codes), -1)
        present = [i for i in range(len(codes)) if sizes[i].any()]
        cells = {codes[i]: Cell.of(sizes[i], [each[i] for each in counts]) for i in present}
        return Survey(self.published, Statistics(cells, repeats.counts), reports if len(booklets) == 1 else ())

    def watch(self, n: int, looks: int, random: np.random.Generator) -> Iterator[Survey]:
        """The same survey at so many looks, from a hundredth of its respondents to all n."""
        statistics = nothing(self.document)
        sizes = np.rint(np.geomspace(n / 100, n, looks)).astype(int)
        for size in np.diff(sizes, prepend=0).tolist():
            statistics += self.draw(size, random).counted
            yield Survey(self.published, statistics)

    def expect(self, n: int) -> Survey:
        """The survey of n people in which every count is what it is on average, rounded."""
        (cell, codes), booklets = self.cells, self.document.booklets
        weights = np.array([booklet.weight for booklet in booklets]) / sum(booklet.weight for booklet in booklets)
        share = np.bincount(cell, self.eagerness, len(codes))
        sizes = np.rint(n * share[:, None] * weights).astype(np.int64)
        counts = []
        for number, part in enumerate(self.document.parts):
            shown = np.zeros((len(codes), part.channel.feature_count))
            if not isinstance(part.channel, Drawn) and self.truths[number].dtype != np.float64:
                chances = feature_chances(part.channel)
                np.add.at(shown, cell, self.eagerness[:, None] * chances[self.truths[number]])
            asked = sum(weight for weight, booklet in zip(weights, booklets, strict=True) if number in booklet.parts)
            counts.append(np.rint(n * asked * shown).astype(np.int64))
        cells = {each: Cell.of(sizes[i], [count[i] for count in counts]) for i, each in enumerate(codes)}
        return Survey(self.published, Statistics(cells, nothing(self.document).repeats))


def _encode(part: Part, answers: Mapping[str, Sequence[Any]]) -> npt.NDArray[Any]:
    """By the part itself, once for each combination of answers that someone gave to its questions."""
    names = list(dict.fromkeys(item.question.id for item in part.items))
    rows = [*zip(*(answers[name] for name in names), strict=True)]
    known: dict[tuple[Any, ...], Any] = {}
    for row in set(rows):
        given = {name: answer for name, answer in zip(names, row, strict=True) if answer is not None}
        truth = part.encode(given)
        assert not isinstance(truth, list), truth
        known[row] = truth
    return np.array([known[row] for row in rows])


def publish(study: Study, *, booklets: bool, epsilon: str) -> Population:
    """The study's survey in one of the designs."""
    raw = publish_survey(survey_from_tree(study.tree(booklets=booklets, epsilon=epsilon)))
    return Population(study, Published(1, raw, verify(raw)))
