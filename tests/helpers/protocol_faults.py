"""Faults of the protocol, each a mistake that real libraries have made; the tests of the protocol catch every one."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from fractions import Fraction
from importlib import import_module
from typing import Any

import msgspec

import deniable
from deniable_protocol import channels, checks, document, draws, exact, submission
from deniable_protocol.channels import CHOOSE, Band, Channel, Drawn, Subset, Table
from deniable_protocol.checks import Checker
from deniable_protocol.draws import Draws
from deniable_protocol.errors import Problem
from deniable_protocol.exact import ONE, N
from deniable_protocol.survey import Choice, Number, Scale
from tests.helpers.planting import replace

assert deniable  # loaded before anything is replaced, so that it gets every fault, too

# --- constants and draws ---------------------------------------------------------------------------------------------


def favour_one_too_large() -> None:
    replace(exact, "largest_favour", lambda original: lambda *given: original(*given) + 1)


def exponential_a_trillionth_too_large() -> None:
    def faulty(original: Any) -> Any:
        return lambda exponent: original(exponent) + (original(exponent) >> 40)

    replace(exact, "exp_floor", faulty)


def predictable_generator() -> None:
    def init(self: Draws, read: draws.RandomBytes = random.randbytes) -> None:
        self.read = read

    replace(Draws, "__init__", lambda _: init)


def threshold_off_by_one() -> None:
    replace(Draws, "chance", lambda _: lambda self, favour: self.word() <= favour)


def modulo_bias() -> None:
    replace(Draws, "below", lambda _: lambda self, n: 0 if n == 1 else self.word() % n)


# --- channels --------------------------------------------------------------------------------------------------------


def off_by_one_band() -> None:
    def randomize(self: Band, answer: int, draws: Draws) -> int:
        if draws.chance(self.favour):
            return answer + draws.below(self.width)
        other = draws.below(self.levels - 1)
        return other if other <= answer else other + self.width

    replace(Band, "randomize", lambda _: randomize)


def one_draw_used_twice() -> None:
    def randomize(self: Band, answer: int, draws: Draws) -> int:
        word = draws.word()
        if word < self.favour:
            return answer + word % self.width
        other = word % (self.levels - 1)
        return other if other < answer else other + self.width

    replace(Band, "randomize", lambda _: randomize)


def wrong_subset_weight() -> None:
    def randomize(self: Subset, answer: int, draws: Draws) -> int:
        others = self.options - 1
        if draws.chance(self.favour):
            rank = draws.below(CHOOSE[others][self.size - 1] + 1)
            return 1 << answer | channels._subset(others, self.size - 1, rank, answer)
        return channels._subset(others, self.size, draws.below(CHOOSE[others][self.size]), answer)

    replace(Subset, "randomize", lambda _: randomize)


def subset_that_may_have_the_answer_twice() -> None:
    def subset(n: int, size: int, rank: int, gap: int) -> int:
        report = 0
        for place in range(n - 1, -1, -1):
            if size and rank >= CHOOSE[place][size]:
                rank -= CHOOSE[place][size]
                size -= 1
                report |= 1 << (place if place <= gap else place + 1)
        return report

    replace(channels, "_subset", lambda _: subset)


def the_drawn_option_depends_on_the_answer() -> None:
    def randomize(self: Drawn, answer: Sequence[int], draws: Draws) -> int:
        k = len(self.parts)
        part = (sum(answer) + draws.below(k)) % k if sum(answer) > 1 else 0
        return 2 * part + self.parts[part].randomize(answer[part], draws)

    replace(Drawn, "randomize", lambda _: randomize)


def table_off_by_one() -> None:
    def randomize(self: Table, answer: int, draws: Draws) -> int:
        word = draws.word()
        for report, weight in enumerate(self.weights[answer]):
            if word <= weight:
                return report
            word -= weight
        raise AssertionError

    replace(Table, "randomize", lambda _: randomize)


# --- verification ----------------------------------------------------------------------------------------------------


def an_upside_down_favour_passes_verification() -> None:
    def faulty(original: Any) -> Any:
        def check_privacy(check: Checker, *given: Any) -> None:
            original(check, *given)
            check.problems[:] = [problem for problem in check.problems if problem.reason != "favour_low"]

        return check_privacy

    replace(document, "check_privacy", faulty)


def verification_forgets_the_parts() -> None:
    def faulty(original: Any) -> Any:
        def check_privacy(check: Checker, channel: Channel, *given: Any) -> None:
            original(check, Drawn(channel.parts[:1]) if isinstance(channel, Drawn) else channel, *given)

        return check_privacy

    replace(document, "check_privacy", faulty)


def delta_checked_in_one_direction_only() -> None:
    def excess(self: Table, exp_epsilon: int) -> Fraction:
        first = self.weights[0]
        most = max(
            sum(max(0, x * ONE - exp_epsilon * y) for x, y in zip(first, second, strict=True))
            for second in self.weights
        )
        return Fraction(most, N * ONE)

    replace(Table, "excess", lambda _: excess)


def the_last_of_two_equal_keys_wins() -> None:
    def faulty(original: Any) -> Any:
        def strict_json(text: str) -> Any:
            try:
                return original(text)
            except ValueError as error:
                try:
                    return original(json.dumps(json.loads(text)))
                except (ValueError, RecursionError):
                    raise error from None

        return strict_json

    replace(checks, "strict_json", faulty)


# --- answers ---------------------------------------------------------------------------------------------------------


def an_answer_in_an_error_message() -> None:
    def faulty(original: Any) -> Any:
        def encode(question: Any, channel: Channel, answer: object) -> Any:
            truth = original(question, channel, answer)
            is_refused = isinstance(truth, Problem) and isinstance(question, Choice) and truth.reason == "range"
            return truth._replace(message=f"{truth.message}, not {answer}") if is_refused else truth

        return encode

    replace(submission, "encode", faulty)


def true_counts_as_a_number() -> None:
    def faulty(original: Any) -> Any:
        def encode(question: Any, channel: Channel, answer: object) -> Any:
            counts = isinstance(answer, bool) and isinstance(question, Scale | Number)
            return original(question, channel, int(answer) if counts else answer)

        return encode

    replace(submission, "encode", faulty)


def numbers_always_rounded_down() -> None:
    replace(submission, "round_to_level", lambda _: lambda position, draws: math.floor(position) + 0 * draws.word())


def decoding_with_another_favour() -> None:
    def faulty(original: Any) -> Any:
        return lambda channel: original(msgspec.structs.replace(channel, favour=channel.favour + 1))

    replace(
        import_module("deniable_protocol.decode"), "_subset_entries", faulty
    )  # the package has a function of that name
