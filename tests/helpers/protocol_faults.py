"""Faults of the protocol, each a mistake that real libraries have made; the tests of the protocol catch every one."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, cast

import msgspec

import deniable
from deniable_protocol import channels, checks, document, exact, parts, submission
from deniable_protocol.channel import Channel
from deniable_protocol.channels import CHOOSE, Band, Drawn, Subset, Table
from deniable_protocol.checks import Checker
from deniable_protocol.document import Document
from deniable_protocol.draws import SYSTEM, Draws, RandomBytes
from deniable_protocol.errors import Problem
from deniable_protocol.parts import Booklet, Item, Part
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


@instead_of(document, "encode")
def any_channel_passes_verification(original: Any, tree: Any) -> bytes:
    is_channel = isinstance(tree, Channel) or (isinstance(tree, dict) and "kind" in tree)
    return b"" if is_channel else cast(bytes, original(tree))


@instead_of(Checker, "in_order")
def any_order_is_canonical(_: Any, *given: Any) -> bool:
    return True


@instead_of(checks, "what_is_wrong")
def a_text_may_have_what_cannot_be_seen(_: Any, text: str, *, lines: bool) -> None:
    return None


@instead_of(document, "is_canonical")
def any_writing_is_canonical(_: Any, text: str, tree: Any) -> bool:
    return True


# --- booklets, parts and paths ---------------------------------------------------------------------------------------


@instead_of(submission, "randomize")
def a_booklet_drawn_after_looking(original: Any, document: Any, answers: Any, *given: Any, **named: Any) -> Any:
    if named.get("booklet") is None and True in answers.values():
        named["booklet"] = 0
    return original(document, answers, *given, **named)


@instead_of(submission, "draw_booklet")
def weights_ignored(_: Any, document: Document, draws: Draws = SYSTEM) -> int:
    return draws.below(len(document.booklets))


@instead_of(submission, "draw_booklet")
def a_booklet_more_often_than_its_weight(_: Any, document: Document, draws: Draws = SYSTEM) -> int:
    rest = draws.below(sum(booklet.weight for booklet in document.booklets))
    for number, booklet in enumerate(document.booklets):
        if rest <= booklet.weight:
            return number
        rest -= booklet.weight
    raise AssertionError


@instead_of(submission, "randomize")
def a_booklet_drawn_again_at_submit(original: Any, *given: Any, booklet: int | None = None, **named: Any) -> Any:
    return original(*given, **named)


@instead_of(Document, "parts_of")
def reports_in_the_reverse_order(original: Any, self: Document, booklet: int) -> tuple[Part, ...]:
    return tuple(reversed(original(self, booklet)))


@instead_of(Part, "encode")
def a_path_off_by_one(original: Any, self: Part, answers: Any) -> Any:
    number = original(self, answers)
    return (number + 1) % len(self.paths) if len(self.items) > 1 and isinstance(number, int) else number


@instead_of(Part, "encode")
def a_hidden_answer_that_leaks(original: Any, self: Part, answers: Any) -> Any:
    """Whoever has chosen something in a follow-up is taken to have been shown it."""
    for item in self.items:
        if (condition := item.question.show_if) and item.question.id in answers and condition.codes == ("yes",):
            answers = {**answers, condition.question: True}
    return original(self, answers)


@instead_of(Part, "encode")
def a_hidden_answer_that_is_kept(original: Any, self: Part, answers: Any) -> Any:
    """Where a chain is cut, its last question is reported as if it had been shown."""
    number = original(self, answers)
    last = self.items[-1]
    if len(self.items) < 2 or isinstance(number, list) or self.paths[number][-1] is not None:
        return number
    truth = last.encode(answers[last.question.id]) if last.question.id in answers else 0
    return number + 1 if truth == 1 and number + 1 < len(self.paths) else number


@instead_of(parts, "paths_of")
def paths_with_the_first_item_fastest(original: Any, items: Any) -> Any:
    return tuple(sorted(original(items), key=lambda path: [-1 if place is None else place for place in path[::-1]]))


@instead_of(parts, "is_shown")
def shown_only_if_all_options_are_chosen(_: Any, condition: Any, answers: Any) -> bool:
    return all(answers[place] in codes for place, codes in condition)


@instead_of(Item, "encode")
def an_options_bit_from_another_option(original: Any, self: Item, answer: object) -> Any:
    codes = self.question.codes
    other = self.option and codes[(codes.index(self.option) + 1) % len(codes)]
    return original(Item(self.question, other), answer)


def _without(check: Checker, before: int, reason: str) -> bool:
    """Drops the problems with this reason that were noted since; whether there were any."""
    dropped = [problem for problem in check.problems[before:] if problem.reason == reason]
    check.problems[before:] = [problem for problem in check.problems[before:] if problem.reason != reason]
    return bool(dropped)


def _parts_in(tree: Any) -> int:
    parts = tree.get("parts") if isinstance(tree, dict) else None
    return len(parts) if isinstance(parts, list) else 0


@instead_of(document, "_check_booklet")
def the_sum_over_a_booklet_not_checked(
    original: Any, check: Checker, survey: Any, made: Any, tree: Any, at: str
) -> Any:
    before = len(check.problems)
    booklet = original(check, survey, made, tree, at)
    several = booklet is None and _parts_in(tree) > 1
    return Booklet(tuple(tree["parts"]), tree["weight"]) if several and _without(check, before, "budget") else booklet


@instead_of(document, "_check_booklet")
def the_epsilon_of_a_part_not_checked(original: Any, check: Checker, survey: Any, made: Any, tree: Any, at: str) -> Any:
    before = len(check.problems)
    booklet = original(check, survey, made, tree, at)
    alone = booklet is None and _parts_in(tree) == 1
    return Booklet(tuple(tree["parts"]), tree["weight"]) if alone and _without(check, before, "budget") else booklet


@instead_of(document, "_check_booklet")
def a_question_twice_in_a_booklet(original: Any, check: Checker, survey: Any, made: Any, tree: Any, at: str) -> Any:
    before = len(check.problems)
    booklet = original(check, survey, made, tree, at)
    return Booklet(tuple(tree["parts"]), tree["weight"]) if _without(check, before, "duplicate") else booklet


@instead_of(document, "_check_booklet")
def epsilons_added_as_doubles(original: Any, check: Checker, survey: Any, made: Any, tree: Any, at: str) -> Any:
    booklet = original(check, survey, made, tree, at)
    if booklet and sum(float(made[number].epsilon) for number in booklet.parts) > float(survey.total_epsilon):
        return check.note(f"{at}.parts", "budget", "the parts of this booklet spend more than the survey states")
    return booklet


@instead_of(document, "_check_items")
def a_follow_up_without_its_question(original: Any, check: Checker, survey: Any, items: Any, place: str) -> Any:
    before = len(check.problems)
    checked = original(check, survey, items, place)
    return items if _without(check, before, "missing") else checked


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
