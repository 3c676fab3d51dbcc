"""Planted faults: each is a mistake that real libraries have made, and the tests of both clients catch every one.

A fault takes the place of a function, by its name. The named tests then have to fail in an assertion; without a fault
they pass, as ``make test`` shows.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers import javascript_faults, protocol_faults
from tests.helpers.machine import ROOT
from tests.helpers.planting import Planted, environment

CHANNELS = "protocol/test_channels.py"
JOINT = "protocol/test_joint_exactly.py"
PROTOCOL = {
    protocol_faults.favour_one_too_large: "protocol/test_vectors.py",
    protocol_faults.exponential_a_trillionth_too_large: "protocol/test_vectors.py",
    protocol_faults.predictable_generator: "protocol/test_purity.py",
    protocol_faults.threshold_off_by_one: f"{CHANNELS}::test_chance_is_exact_over_every_word",
    protocol_faults.modulo_bias: f"{CHANNELS}::test_below_is_uniform_over_every_word",
    protocol_faults.off_by_one_band: "protocol/test_vectors.py",
    protocol_faults.one_draw_used_twice: "protocol/test_vectors.py",
    protocol_faults.wrong_subset_weight: "protocol/test_vectors.py",
    protocol_faults.subset_that_may_have_the_answer_twice: "protocol/test_vectors.py",
    protocol_faults.the_drawn_option_depends_on_the_answer: "protocol/test_vectors.py",
    protocol_faults.table_off_by_one: f"{CHANNELS}::test_a_table_gives_each_report_its_weight_over_every_word",
    protocol_faults.an_upside_down_favour_passes_verification: "protocol/test_vectors.py",
    protocol_faults.verification_forgets_the_parts: "protocol/test_vectors.py",
    protocol_faults.delta_checked_in_one_direction_only: "protocol/test_vectors.py",
    protocol_faults.the_last_of_two_equal_keys_wins: "protocol/test_vectors.py",
    protocol_faults.a_booklet_drawn_after_looking: f"{JOINT}::test_the_booklet_shows_nothing",
    protocol_faults.weights_ignored: f"{JOINT}::test_the_booklet_shows_nothing",
    protocol_faults.a_booklet_more_often_than_its_weight: f"{JOINT}::test_the_booklet_shows_nothing",
    protocol_faults.a_booklet_drawn_again_at_submit: "protocol/test_vectors.py",
    protocol_faults.reports_in_the_order_of_the_parts: "protocol/test_vectors.py",
    protocol_faults.a_path_off_by_one: f"{JOINT}::test_shares_are_unbiased",
    protocol_faults.a_hidden_answer_that_leaks: "protocol/test_parts.py",
    protocol_faults.a_hidden_answer_that_is_kept: f"{JOINT}::test_what_is_not_shown_leaves_no_trace",
    protocol_faults.paths_with_the_first_item_fastest: "protocol/test_vectors.py",
    protocol_faults.shown_only_if_all_options_are_chosen: "protocol/test_vectors.py",
    protocol_faults.an_options_bit_from_another_option: f"{JOINT}::test_shares_are_unbiased",
    protocol_faults.the_sum_over_a_booklet_not_checked: "protocol/test_vectors.py",
    protocol_faults.the_epsilon_of_a_part_not_checked: "protocol/test_vectors.py",
    protocol_faults.a_question_twice_in_a_booklet: "protocol/test_vectors.py",
    protocol_faults.epsilons_added_as_doubles: "protocol/test_vectors.py",
    protocol_faults.a_follow_up_without_its_question: "protocol/test_vectors.py",
    protocol_faults.an_answer_in_an_error_message: "client/test_randomize.py",
    protocol_faults.true_counts_as_a_number: "protocol/test_vectors.py",
    protocol_faults.numbers_always_rounded_down: "protocol/test_vectors.py",
    protocol_faults.decoding_with_another_favour: "protocol/test_vectors.py",
}
"""Each fault, and the tests that are to catch it."""

SEEN_IN_THE_SYNTAX = {"Math.random", "an answer in the browser's storage", "predictable pauses"}
"""What node's tests cannot see; the other faults are theirs."""


def run_tests(*tests: str, **more: str) -> subprocess.CompletedProcess[str]:
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-profile=unshrunk"]
    options += ["-k", "not nodes_own"]
    command = [sys.executable, "-m", "pytest", *options, *(f"tests/{test}" for test in tests)]
    merged = {**os.environ, **more}
    return subprocess.run(command, cwd=ROOT, env=merged, capture_output=True, text=True, timeout=600, check=False)


def assert_caught(run: subprocess.CompletedProcess[str], failed: str) -> None:
    """By a test that failed, not by an import that did."""
    assert run.returncode == 1 and failed in run.stdout, run.stdout[-2000:] + run.stderr[-2000:]


@pytest.mark.parametrize("planted", PROTOCOL, ids=lambda planted: planted.__name__)
def test_a_fault_in_python_is_caught(planted: Planted) -> None:
    """The tests of the protocol and of randomize fail in an assertion once this fault is planted."""
    assert_caught(run_tests(PROTOCOL[planted], **environment(planted)), "FAILED")


@pytest.mark.parametrize("name", javascript_faults.FAULTS)
def test_a_fault_in_javascript_is_caught(name: str, tmp_path: Path, node: str) -> None:
    """The tests of the browser client fail once this fault is planted."""
    web = tmp_path / "client" / "web"
    shutil.copytree(ROOT / "client/web", web, ignore=shutil.ignore_patterns("__pycache__", "node_modules"))
    (tmp_path / "shared").symlink_to(ROOT / "shared")
    fault = javascript_faults.FAULTS[name]
    javascript_faults.plant(fault, web)
    if name in SEEN_IN_THE_SYNTAX:
        assert_caught(run_tests("javascript/test_javascript.py", PYTHONPATH=str(web)), "FAILED")
        return
    kinds = ("client",) if fault.module in ("delivery", "device") else ("vectors", "deniable", "parts")
    tests = [str(web / "test" / f"{kind}.test.js") for kind in kinds]
    run = subprocess.run([node, "--test", *tests], capture_output=True, text=True, timeout=600, check=False)
    assert_caught(run, "ERR_ASSERTION")
