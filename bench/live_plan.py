"""How long the live plan of 20 questions takes after a change, compared with the whole plan in the same run.

    python bench/live_plan.py [--rounds N] [--json FILE]

Every round changes the survey so that nothing that was planned before fits: the live plan, what would help, and the
whole plan of ``plan_survey`` are each computed from nothing. Then a text is changed, which must cost next to nothing.
Times are of the processor, and the middle of all rounds counts. Exits with 1 if the live plan takes more than 150 ms,
half of what is promised for a busy machine, or more than the whole plan.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import msgspec
from design import long_survey

from deniable_protocol import Survey
from deniable_server.planning import design_booklets, live_plan, plan_survey, what_would_help
from deniable_server.planning.shape import planned

QUESTIONS, PEOPLE = 20, 3_000
SECONDS, TEXT_SECONDS = 0.150, 0.020


def changed(number: int) -> Survey:
    """Another survey in each round: with other options in one question, and sometimes another epsilon."""
    asked = long_survey(QUESTIONS, (1, 2, 4)[number % 3], crossed=number % 2 == 0)
    place = 2 + 8 * (number % 2)
    question = asked.questions[place]
    more = (msgspec.structs.replace(question.options[0], code=f"d{i}") for i in range(number % 5))
    return with_question(asked, place, msgspec.structs.replace(question, options=(*question.options, *more)))


def with_question(survey: Survey, place: int, question: Any) -> Survey:
    return msgspec.structs.replace(
        survey, questions=(*survey.questions[:place], question, *survey.questions[place + 1 :])
    )


def seconds(call: Callable[[], Any]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def measured(rounds: int) -> dict[str, float]:
    times: dict[str, list[float]] = {"live plan": [], "a text changed": [], "what would help": [], "whole plan": []}
    for number in range(rounds):
        survey = changed(number)
        # Its id is made from its text.
        renamed = with_question(survey, 1, msgspec.structs.replace(survey.questions[1], id="other", text="Other?"))
        forget()
        times["live plan"].append(seconds(partial(live_plan, survey, PEOPLE)))
        times["a text changed"].append(seconds(partial(live_plan, renamed, PEOPLE)))
        times["what would help"].append(seconds(partial(what_would_help, renamed, PEOPLE)))
        forget()
        times["whole plan"].append(seconds(partial(plan_survey, survey)))
    return {name: median(each) for name, each in times.items()}


def forget() -> None:
    planned.cache_clear()
    design_booklets.cache_clear()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found = measured(options.rounds)
    ratio = found["live plan"] / found["whole plan"]
    for name, each in found.items():
        print(f"{name:16} {1000 * each:7.1f} ms")
    print(f"The live plan takes {ratio:.2f} of the time of the whole plan.")
    if options.json is not None:
        options.json.write_text(json.dumps({"seconds": found, "live_of_whole": ratio}, indent=1) + "\n")
    fast = found["live plan"] <= SECONDS and found["a text changed"] <= TEXT_SECONDS
    return 0 if fast and ratio <= 1 else 1


if __name__ == "__main__":
    sys.exit(main())
