"""How many respondents the chosen booklets need, and how long it takes to choose them.

    python bench/design.py [--json FILE]

Eight questions of all types within 3 points (means: 3% of their range), at 95%, and three cross-tabs within 5 points.
For comparison: splitting epsilon over the questions, 1 : 1 : 2 : 1 : 1 : 1 : 1 : 2, and the best number of questions to
ask each person, drawn independently and reported one by one at the same total. Times are of the processor. Exits with 1
if the booklets need more than 3% above the reference, or take too long: 2 seconds for 20 questions, 20 for 200.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from deniable_protocol import Survey, survey_from_tree
from deniable_server.planning import Wanted, design_booklets, publish_survey
from deniable_server.planning.textbook import other_designs, survey_alternatives

REFERENCE = {
    (1, False): 81_062,
    (2, False): 23_809,
    (4, False): 8_680,
    (1, True): 86_594,
    (2, True): 24_786,
    (4, True): 8_684,
}
"""The best there is, computed independently."""
NEAR = 1.03
SECONDS = {20: 2.0, 200: 20.0}
SIZES = (8, 20, 50, 200)
PROPORTIONS = (1, 1, 2, 1, 1, 1, 1, 2)
CROSSED = [["vaped", "stress"], ["harassed", "stress"], ["vaped", "harassed"]]


def options(count: int) -> list[dict[str, str]]:
    return [{"code": f"c{i}", "text": "?"} for i in range(count)]


EIGHT: list[dict[str, Any]] = [
    {"id": "vaped", "type": "yes_no"},
    {"id": "harassed", "type": "yes_no", "decline": True},
    {"id": "substance", "type": "choice", "options": options(5), "decline": True},
    {"id": "support", "type": "multi_choice", "options": options(4)},
    {"id": "stress", "type": "scale", "labels": [*"abcde"]},
    {"id": "wellbeing", "type": "scale", "labels": [*"abcde"], "measure": "mean"},
    {"id": "drinks", "type": "number", "min": 0, "max": 40},
    {"id": "debt", "type": "number", "measure": "shares", "min": 0, "max": 9, "bins": [1, 2, 3, 4], "decline": True},
]


def eight(epsilon: int, *, crossed: bool) -> Survey:
    return survey(EIGHT, epsilon, CROSSED if crossed else [])


def survey(questions: list[dict[str, Any]], epsilon: int, together: list[list[str]]) -> Survey:
    tree: dict[str, Any] = {"id": "example", "title": "Example", "epsilon": epsilon}
    tree["questions"] = [{"text": "?", **question} for question in questions]
    return survey_from_tree(tree | ({"together": together} if together else {}))


def long_survey(count: int, epsilon: int, *, crossed: bool) -> Survey:
    """The eight again and again; each yes_no is crossed with the scale of its eight."""
    questions = [EIGHT[place % 8] | {"id": f"{EIGHT[place % 8]['id']}_{place // 8}"} for place in range(count)]
    together = [[f"vaped_{eighth}", f"stress_{eighth}"] for eighth in range(count // 8)]
    return survey(questions, epsilon, together if crossed else [])


def independent(asked: Survey, epsilons: list[Fraction]) -> int:
    """The respondents if everybody reports on every question, one by one, at these epsilons."""
    wanted = Wanted()
    others = [other_designs(each, epsilon, wanted) for each, epsilon in zip(asked.questions, epsilons, strict=True)]
    return next(each.respondents for each in survey_alternatives(asked, others, 1, wanted) if each.design == "split")


def split(asked: Survey) -> int:
    return independent(asked, [asked.exact_epsilon * part / sum(PROPORTIONS) for part in PROPORTIONS])


def best_few(asked: Survey) -> int:
    """Each person is asked m of the eight, with epsilons at which the m largest spend the total."""
    found = []
    for few in range(1, 9):
        factor = asked.exact_epsilon / sum(sorted(PROPORTIONS)[-few:])
        epsilons = [min(part * factor, Fraction(10)) for part in PROPORTIONS]
        found.append(-(-independent(asked, epsilons) * 8 // few))
    return min(found)


def needed() -> list[dict[str, Any]]:
    rows = []
    for crossed in (False, True):
        for epsilon in (1, 2, 4):
            asked = eight(epsilon, crossed=crossed)
            chosen = design_booklets(asked)
            rows.append(
                {
                    "epsilon": epsilon,
                    "cross_tabs": 3 * crossed,
                    "split": split(asked),
                    "best_few": None if crossed else best_few(asked),
                    "booklets": chosen.respondents,
                    "fewest": chosen.fewest,
                    "reference": REFERENCE[epsilon, crossed],
                }
            )
    return rows


def timed() -> list[dict[str, Any]]:
    rows = []
    for count in SIZES:
        for crossed in (False, True):
            for epsilon in (1, 2, 4):
                asked = long_survey(count, epsilon, crossed=crossed)
                design_booklets.cache_clear()
                start = time.process_time()
                publish_survey(asked)
                seconds = time.process_time() - start
                chosen = design_booklets(asked)
                rows.append(
                    {
                        "questions": count,
                        "cross_tabs": len(asked.together),
                        "epsilon": epsilon,
                        "seconds": seconds,
                        "booklets": len(chosen.booklets),
                        "respondents": chosen.respondents,
                        "fewest": chosen.fewest,
                    }
                )
    return rows


def show(title: str, rows: list[dict[str, Any]]) -> None:
    table = Table(title=title, title_justify="left")
    for heading in rows[0]:
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(*(_text(value) for value in row.values()))
    Console().print(table)


def _text(value: Any) -> str:
    return "" if value is None else f"{value:.2f}" if isinstance(value, float) else f"{value:,}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    path = parser.parse_args().json
    figures = {"respondents": needed(), "time": timed()}
    show("Respondents for the eight questions", figures["respondents"])
    show("Seconds to design and publish", figures["time"])
    if path is not None:
        path.write_text(json.dumps(figures, indent=2))
    near = all(row["booklets"] <= NEAR * row["reference"] for row in figures["respondents"])
    fast = all(row["seconds"] <= SECONDS.get(row["questions"], 20.0) for row in figures["time"])
    return 0 if near and fast else 1


if __name__ == "__main__":
    sys.exit(main())
