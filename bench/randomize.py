"""Randomisations per second, compared with the peers in one run; and which of them use a predictable generator.

    python bench/peers.py && python bench/randomize.py [--json FILE]

Every row is one call that takes one true answer and returns one report, at epsilon 1, with everything that can be
prepared beforehand prepared. Rows are measured in turn, several rounds, and the best round counts, so that a busy
machine slows all of them equally. "predictable" is measured too: seed Python's, numpy's and numba's generators, draw,
seed again, draw again; a library that repeats itself can be predicted by anyone who learns or guesses the seed.

Besides, the processor time of a whole submission to the example survey, from the draw of the booklet to the reports.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import math
import random
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import deniable_server
from deniable_protocol import draw_report, parse_survey, publish, randomize, survey_from_tree, verify
from deniable_server.planning import publish_survey

ROUNDS = 7
ROUND_SECONDS = 0.15
SUBMISSIONS = 3_000
Call = Callable[[], Any]


def deniable() -> dict[str, Call]:
    options = [{"code": f"o{i}", "text": "?"} for i in range(10)]
    bit = {"id": "bit", "type": "yes_no", "text": "?", "epsilon": "1.0"}
    ten = {"id": "ten", "type": "choice", "text": "?", "epsilon": "1.0", "options": options}
    document = verify(publish(survey_from_tree({"id": "bench", "title": "Bench", "questions": [bit, ten]})))
    bit_question, ten_question = document.survey.questions
    bit_channel, ten_channel = (part.channel for part in document.parts)
    return {
        "yes/no": lambda: draw_report(bit_channel, bit_question.encode(True)),
        "ten options": lambda: draw_report(ten_channel, ten_question.encode("o3")),
    }


def opendp() -> dict[str, Call]:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    bit = dp.m.make_randomized_response_bool(1 / (1 + math.exp(-1)))
    ten = dp.m.make_randomized_response([f"o{i}" for i in range(10)], math.e / (math.e + 9))
    return {"yes/no": lambda: bit(True), "ten options": lambda: ten("o3")}


def diffprivlib() -> dict[str, Call]:
    from diffprivlib.mechanisms import Binary, ExponentialCategorical

    bit = Binary(epsilon=1.0, value0="no", value1="yes")
    pairs = [(f"o{i}", f"o{j}", 1) for i in range(10) for j in range(i)]
    ten = ExponentialCategorical(epsilon=1.0, utility_list=pairs)
    return {"yes/no": lambda: bit.randomise("yes"), "ten options": lambda: ten.randomise("o3")}


def pure_ldp() -> dict[str, Call]:
    from pure_ldp.frequency_oracles.direct_encoding import DEClient

    bit, ten = DEClient(epsilon=1.0, d=2), DEClient(epsilon=1.0, d=10)
    return {"yes/no": lambda: bit.privatise(2), "ten options": lambda: ten.privatise(4)}


def multi_freq_ldpy() -> dict[str, Call]:
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client

    return {"yes/no": lambda: GRR_Client(1, 2, 1.0), "ten options": lambda: GRR_Client(3, 10, 1.0)}


CONTESTANTS: dict[str, Callable[[], dict[str, Call]]] = {
    "deniable": deniable,
    "opendp": opendp,
    "diffprivlib": diffprivlib,
    "pure-ldp": pure_ldp,
    "multi-freq-ldpy": multi_freq_ldpy,
}


def round_rate(call: Call) -> float:
    """Calls per second over one short round."""
    count, start = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - start) < ROUND_SECONDS:
        for _ in range(50):
            call()
        count += 50
    return count / elapsed


def submission_time() -> float:
    """Microseconds of the processor for one submission to the example survey: all answers are given, and the booklet
    decides which of them are used.
    """
    example = (Path(deniable_server.__file__).parent / "example.toml").read_text("utf-8")
    document = verify(publish_survey(parse_survey(example)))
    segments = {segment.id: segment.options[0].code for segment in document.survey.segments}
    answers = {question.id: question.panel(5)[0][1] for question in document.survey.questions}
    answers["vaped"] = True  # with its follow-up
    rounds = []
    for _ in range(ROUNDS):
        start = time.process_time()
        for _ in range(SUBMISSIONS):
            randomize(document, answers, segments)
        rounds.append((time.process_time() - start) / SUBMISSIONS)
    return 1e6 * statistics.median(rounds)


def seed_everything() -> None:
    random.seed(1)
    import numpy as np

    np.random.seed(1)
    if "numba" in sys.modules:
        import numba

        @numba.njit
        def seed() -> None:
            np.random.seed(1)

        seed()


def predictable(call: Call) -> bool:
    """Whether seeding the usual generators makes 300 reports repeat (by chance: below 10^-20)."""
    runs = []
    for _ in range(2):
        seed_everything()
        runs.append([call() for _ in range(300)])
    return runs[0] == runs[1]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--json", type=Path, help="also write the figures to this file")
    options = arguments.parse_args()
    ready: dict[str, dict[str, Call]] = {}
    absent: dict[str, str] = {}
    for name, make in CONTESTANTS.items():
        try:
            ready[name] = make()
            for call in ready[name].values():
                call()  # compiles where something is compiled
        except Exception as error:  # a peer may be missing or broken in any way; that is a result too
            absent[name] = f"{type(error).__name__}: {error}"
    best: dict[tuple[str, str], float] = {}
    for _ in range(ROUNDS):
        for name, calls in ready.items():
            for task, call in calls.items():
                best[name, task] = max(best.get((name, task), 0.0), round_rate(call))
    results = {
        name: {
            "version": importlib.metadata.version(name),
            "per_second": {task: round(best[name, task]) for task in calls},
            "deniable_is_times_faster": {task: best["deniable", task] / best[name, task] for task in calls},
            "predictable": predictable(calls["yes/no"]),
        }
        for name, calls in ready.items()
    }
    grid = Table(title="Randomisations per second, epsilon 1, one core")
    for heading in ("Library", "yes/no", "ten options", "ours / theirs", "at ten", "source"):
        grid.add_column(heading, justify="left" if heading in ("Library", "source") else "right", no_wrap=True)
    for name, result in results.items():
        ratio = result["deniable_is_times_faster"]
        grid.add_row(
            name,
            *(f"{result['per_second'][task]:,}" for task in ("yes/no", "ten options")),
            *(f"{ratio[task]:.2f} ×" for task in ("yes/no", "ten options")),
            "seeded" if result["predictable"] else "system",
        )
    console = Console()
    console.print(grid)
    console.print(
        "source: the operating system's, or a seeded generator, which repeats itself here and can be predicted."
    )
    whole = submission_time()
    console.print(f"A whole submission to the example survey: {whole:.1f} µs of the processor.")
    for name, why in absent.items():
        console.print(f"{name}: not measured here ({why})")
    if options.json:
        options.json.write_text(
            json.dumps({"results": results, "absent": absent, "submission_us": whole}, indent=1) + "\n"
        )


if __name__ == "__main__":
    main()
