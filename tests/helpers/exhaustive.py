"""The full probability table of a randomiser, in exact fractions, from the code that samples.

``outcomes`` runs a function under every possible result of every draw that it makes, and adds up the probabilities.
``Narrow`` is the same class of draws with words of a few bits, so that every possible word can be tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any
from unittest.mock import patch

from deniable_protocol import Document, Draws, N, Table, randomize, submission


class _Branching(Draws):
    """Takes the branches listed in ``path``, then the first of each, and notes how many there were."""

    def __init__(self, path: list[int]) -> None:
        super().__init__(self._no_bytes)
        self.path, self.sizes = path, []
        self.ways, self.total = 1, 1  # of the branches that were taken, as integers: products of fractions are slow

    @staticmethod
    def _no_bytes(n: int) -> bytes:
        raise AssertionError("randomness was taken around chance() and below()")

    def _branch(self, branches: int) -> int:
        step = len(self.sizes)
        self.sizes.append(branches)
        return self.path[step] if step < len(self.path) else 0

    def chance(self, favour: int) -> bool:
        taken = self._branch(2)
        self.ways *= N - favour if taken else favour
        self.total *= N
        return not taken

    def below(self, n: int) -> int:
        self.total *= n
        return self._branch(n)


class _OnLevels(_Branching):
    """For answers that lie on a level: the largest word rounds nothing up, and they need no rounding."""

    def word(self) -> int:
        return N - 1


def outcomes(function: Callable[[Draws], Any], kind: type[_Branching] = _Branching) -> dict[Any, Fraction]:
    """Every result of the function with its exact probability."""
    table: dict[Any, Fraction] = {}
    path: list[int] = []
    while True:
        draws = kind(path)
        result = function(draws)
        table[result] = table.get(result, Fraction(0)) + Fraction(draws.ways, draws.total)
        taken = path + [0] * (len(draws.sizes) - len(path))
        while taken and taken[-1] + 1 == draws.sizes[len(taken) - 1]:
            taken.pop()
        if not taken:
            return table
        taken[-1] += 1
        path = taken


def submissions(document: Document, answers: Mapping[str, object]) -> dict[tuple[int, ...], Fraction]:
    """Every (booklet, report, report ...) that ``randomize`` itself gives for these answers, with its probability.

    Numbers whose mean is asked have to lie on a level. No table: those draw words.
    """
    segments = {segment.id: segment.options[0].code for segment in document.survey.segments}
    current: list[Draws] = []

    def run(draws: Draws) -> tuple[int, ...]:
        current[:] = [draws]
        sent = randomize(document, answers, segments, read=bytes)  # bytes(16) is the id: sixteen zeros
        return sent["booklet"], *sent["reports"]

    with patch.object(submission, "Draws", lambda _: current[0]):
        return outcomes(run, _OnLevels)


class Words(Draws):
    """Plays back words."""

    def __init__(self, words: Iterable[int]) -> None:
        self.words = iter(words)

    def word(self) -> int:
        return next(self.words)


class Narrow(Words):
    """Draws on six bits: 64 possible words."""

    bits = 6


def table_row(table: Table, answer: int) -> dict[int, Fraction]:
    """The exact probabilities of a table's reports, found at the words where its sampler steps from one to the next.

    The report of a word never falls as the word grows, so bisection finds every step.
    """

    def report(word: int) -> int:
        return table.randomize(answer, Words([word]))

    row, start = {}, 0
    while start < N:
        low, high, here = start, N, report(start)
        while high - low > 1:  # report(low) == here, and beyond high it is another one
            middle = (low + high) // 2
            low, high = (middle, high) if report(middle) == here else (low, middle)
        row[here] = Fraction(high - start, N)
        start = high
    return row
