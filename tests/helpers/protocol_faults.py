"""Faults of the protocol, each a mistake that real libraries have made; the tests of the protocol catch every one."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import msgspec

import deniable
from deniable_protocol import channels, checks, exact, submission
from deniable_protocol.channels import CHOOSE, Band, Drawn, Subset, Table
from deniable_protocol.checks import Checker
from deniable_protocol.draws import Draws, RandomBytes
from deniable_protocol.errors import Problem
from deniable_protocol.exact import ONE, N
from deniable_protocol.questions import Choice, Number, Question, Scale
from tests.helpers.planting import instead_of, replace

assert deniable  # loaded before anything is replaced, so that it gets every fault, too

# --- constants and draws ---------------------------------------------------------------------------------------------


@instead_of(exact, "largest_favour")
def favour_one_too_large(original: Any, *given: int) -> Any:
    return original(*given) + 1


@instead_of(exact, "exp_floor")
def exponential_a_trillionth_too_large(original: Any, exponent: Fraction) -> Any:
    return original(exponent) + (original(exponent) >> 40)


def predictable_generator() -> None:
    def init(self: Draws, read: RandomBytes = random.randbytes) -> None:
        self.read = read

    replace(Draws, "__init__", lambda _: init)


@instead_of(Draws, "chance")
def threshold_off_by_one(_: Any, self: Draws, favour: int) -> bool:
    return self.word() <= favour


@instead_of(Draws, "below")
def modulo_bias(_: Any, self: Draws, n: int) -> int:
    return 0 if n == 1 else self.word() % n


# --- channels --------------------------------------------------------------------------------------------------------


@instead_of(Band, "randomize")
def off_by_one_band(_: Any, self: Band, answer: int, draws: Draws) -> int:
    if draws.chance(self.favour):
        return answer + draws.below(self.width)
    other = draws.below(self.levels - 1)
    return other if other <= answer else other + self.width


@instead_of(Band, "randomize")
def one_draw_used_twice(_: Any, self: Band, answer: int, draws: Draws) -> int:
    word = draws.word()
    if word < self.favour:
        return answer + word % self.width
    other = word % (self.levels - 1)
    return other if other < answer else other + self.width


@instead_of(Subset, "randomize")
def wrong_subset_weight(original: Any, self: Subset, answer: int, draws: Draws) -> int:
    others = self.options - 1
    if draws.chance(self.favour):
        rank = draws.below(CHOOSE[others][self.size - 1] + 1)
        return 1 << answer | channels._subset(others, self.size - 1, rank, answer)
    return channels._subset(others, self.size, draws.below(CHOOSE[others][self.size]), answer)


@instead_of(channels, "_subset")
def subset_that_may_have_the_answer_twice(_: Any, n: int, size: int, rank: int, gap: int) -> int:
    report = 0
    for place in range(n - 1, -1, -1):
        if size and rank >= CHOOSE[place][size]:
            rank -= CHOOSE[place][size]
            size -= 1
            report |= 1 << (place if place <= gap else place + 1)
    return report


@instead_of(Drawn, "randomize")
def the_drawn_option_depends_on_the_answer(_: Any, self: Drawn, answer: Sequence[int], draws: Draws) -> int:
    k = len(self.parts)
    part = (sum(answer) + draws.below(k)) % k if sum(answer) > 1 else 0
    return 2 * part + self.parts[part].randomize(answer[part], draws)


@instead_of(Table, "randomize")
def table_off_by_one(_: Any, self: Table, answer: int, draws: Draws) -> int:
    word = draws.word()
    for report, weight in enumerate(self.weights[answer]):
        if word <= weight:
            return report
        word -= weight
    raise AssertionError


# --- verification ----------------------------------------------------------------------------------------------------


@instead_of(channels, "_check_favourites")
def an_upside_down_favour_passes_verification(original: Any, check: Checker, *given: Any) -> None:
    original(check, *given)
    check.problems[:] = [problem for problem in check.problems if problem.reason != "favour_low"]


@instead_of(Drawn, "check_privacy")
def verification_forgets_the_parts(original: Any, self: Drawn, *given: Any) -> None:
    original(Drawn(self.parts[:1]), *given)


@instead_of(Table, "excess")
def delta_checked_in_one_direction_only(_: Any, self: Table, exp_epsilon: int) -> Fraction:
    first, *_ = rows = self.weights
    beyond = [sum(max(0, x * ONE - exp_epsilon * y) for x, y in zip(first, second, strict=True)) for second in rows]
    return Fraction(max(beyond), N * ONE)


@instead_of(checks, "strict_json")
def the_last_of_two_equal_keys_wins(original: Any, text: str) -> Any:
    try:
        return original(text)
    except ValueError as error:
        try:
            return original(json.dumps(json.loads(text)))
        except (ValueError, RecursionError):
            raise error from None


# --- answers ---------------------------------------------------------------------------------------------------------


@instead_of(Question, "encode")
def an_answer_in_an_error_message(original: Any, self: Question, answer: object) -> Any:
    truth = original(self, answer)
    is_refused = isinstance(truth, Problem) and isinstance(self, Choice) and truth.reason == "range"
    return truth._replace(message=f"{truth.message}, not {answer}") if is_refused else truth


@instead_of(Question, "encode")
def true_counts_as_a_number(original: Any, self: Question, answer: object) -> Any:
    counts = isinstance(answer, bool) and isinstance(self, Scale | Number)
    return original(self, int(answer) if counts else answer)  # type: ignore[call-overload]


@instead_of(submission, "round_to_level")
def numbers_always_rounded_down(_: Any, position: float, draws: Draws) -> int:
    return math.floor(position) + 0 * draws.word()


@instead_of(Subset, "supports")
def decoding_with_another_favour(original: Any, self: Subset) -> Any:
    return original(msgspec.structs.replace(self, favour=self.favour + 1))
