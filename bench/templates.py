"""Whether the templates' plans are true: how often estimates are within the margins that the plan of each states.

    python bench/templates.py [--rounds N] [--json FILE]

Made-up people answer each template. In every round as many of them respond as the template expects, drawn with
replacement; their booklets and reports are drawn as clients draw them, and the estimator's unbiased shares, means and
cells are compared with the truth. The answers to a follow-up are compared twice: as shares of everybody, as they are
planned, and among those it applies to, with the margin for as many of these as there are.

A margin is stated at 95%. Exits with 1 if less than 95% of a template's estimates are within their margins, or less
than 90% of the estimates of one number: plans assume that a share is one half, and that of a follow-up one quarter of
everybody, and some other shares are known a little less well. Both with room for chance: rounds are independent, so
that a true margin is called false in less than one of 10^6 runs (Hoeffding's bound for the first, binomial for the
second, divided by how many there are).
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from real_data import Study
from real_sampling import Population, Survey
from rich.console import Console
from rich.table import Table
from scipy.stats import binom

from deniable_protocol import parse_survey, verify
from deniable_server import simulate
from deniable_server.analysis.crosstab import CrosstabQuery, crosstab
from deniable_server.editing.templates import TEMPLATES, template
from deniable_server.estimator import estimate_question
from deniable_server.planning import LivePlan, Wanted, live_plan, publish_survey
from deniable_server.planning.plan import margin_among
from deniable_server.planning.precision import precision
from deniable_server.storage import Published

PEOPLE = 3_000
"""Made-up people from whom the respondents are drawn."""
PROMISED, LEAST, FALSE_ALARM = 0.95, 0.90, 1e-6
ROUNDS = 1_000
AMONG = ", among those it applies to"


class Key(NamedTuple):
    """One number that is estimated: a share, a mean or the cell of a cross-tab."""

    question: str
    code: str


class Case(NamedTuple):
    """A template as it is published, with made-up people: what is true of them, and the margins of the plan."""

    name: str
    respondents: int
    plan: LivePlan
    population: Population
    truth: dict[Key, float]
    margins: dict[Key, float]


def case_of(name: str, seed: int) -> Case:
    survey = parse_survey(template(name))
    assert survey.respondents is not None
    made_up = simulate.Population(survey, seed)
    people = list(made_up.respondents(PEOPLE))
    raw = publish_survey(survey)
    study = Study(
        name=name,
        segments={each.id: [person.segments[each.id] for person in people] for each in survey.segments},
        questions=[],
        answers={each.id: [_hashable(person.answers.get(each.id)) for person in people] for each in survey.questions},
        eager={},
        together=[],
        crossed=[],
        compared=[],
        regressed=[],
    )
    plan, known = live_plan(survey, survey.respondents), precision(verify(raw))
    truth, margins = dict[Key, float](), dict[Key, float]()
    for question, planned in zip(survey.questions, plan.questions, strict=True):
        assert planned.margin is not None
        if question.asks_mean:
            low, high = question.range
            truth[Key(question.id, "mean")] = made_up.truth.mean(question.id)
            margins[Key(question.id, "mean")] = planned.margin * (high - low)
        for code in question.codes if not question.asks_mean else ():
            share = made_up.truth.share(question.id, code) * made_up.truth.applies(question.id)
            truth[Key(question.id, code)] = share
            margins[Key(question.id, code)] = planned.margin
        if planned.among is not None:
            part = Wanted(share=made_up.truth.applies(question.id))
            among = margin_among(known, question, survey.respondents, part)
            assert among is not None
            truth |= {
                Key(f"{question.id}{AMONG}", code): made_up.truth.share(question.id, code) for code in question.codes
            }
            margins |= dict.fromkeys((Key(f"{question.id}{AMONG}", code) for code in question.codes), among)
    for (rows, columns), table in zip(made_up.pairs, plan.tables, strict=True):
        assert table.margin is not None
        for (one, two, row, column), share in _pairs(made_up, (rows, columns)):
            truth[Key(f"{one} × {two}", f"{row} × {column}")] = share
            margins[Key(f"{one} × {two}", f"{row} × {column}")] = table.margin
    return Case(name, survey.respondents, plan, Population(study, Published(1, raw, verify(raw))), truth, margins)


def _hashable(answer: Any) -> Any:
    return tuple(answer) if isinstance(answer, list) else answer


def _pairs(made_up: simulate.Population, names: tuple[str, str]) -> Iterator[tuple[simulate.Pair, float]]:
    codes = [next(each for each in made_up.survey.questions if each.id == name).codes for name in names]
    for row in codes[0]:
        for column in codes[1]:
            pair = (*names, row, column)
            yield pair, made_up.truth.pair(pair)


def estimates(source: Survey) -> dict[Key, float]:
    """The unbiased number for each key."""
    found = dict[Key, float]()
    for question in source.survey.questions:
        evidence = source.evidence_of(question, source.statistics().cells)
        if question.asks_mean:
            mean = estimate_question(evidence).mean
            assert mean is not None and mean.unbiased is not None
            found[Key(question.id, "mean")] = mean.unbiased
            continue
        pooled = [each.unbiased if each is not None else None for each in evidence.shares]
        if question.type == "multi_choice":  # an item for each option: no, yes
            values: list[Any] = [None if each is None else each[1] for each in pooled]
        else:
            values = [*pooled[0]] if pooled[0] is not None else [None] * len(question.codes)
        for code, value in zip(question.codes, values, strict=True):
            if value is not None:
                found[Key(question.id, code)] = float(value)
        if (applies := evidence.applies() if evidence.is_conditional else None) is not None:
            found |= {
                Key(f"{question.id}{AMONG}", c): found[Key(question.id, c)] / applies.unbiased[0]
                for c in question.codes
            }
    for names in source.survey.together:
        for cell in crosstab(source, CrosstabQuery(rows=names[0], columns=names[1])).cells:
            if cell.unbiased is not None:
                found[Key(f"{names[0]} × {names[1]}", f"{cell.row} × {cell.column}")] = cell.unbiased
    return found


def within(case: Case, rounds: int, seed: int) -> dict[Key, int]:
    """In how many rounds each number is within its margin of the truth."""
    random, hits = np.random.default_rng(seed), dict.fromkeys(case.truth, 0)
    for _ in range(rounds):
        found = estimates(case.population.draw(case.respondents, random))
        for key, truth in case.truth.items():
            hits[key] += key in found and abs(found[key] - truth) <= case.margins[key]
    return hits


def least_part(rounds: int, templates: int) -> float:
    """Of a template's estimates a smaller part within their margins is no accident, if 95% are promised."""
    return PROMISED - math.sqrt(math.log(2 * templates / FALSE_ALARM) / (2 * rounds))


def fewest(rounds: int, numbers: int) -> int:
    """Of the estimates of one number fewer within their margin are no accident, if 90% are promised."""
    return int(binom.ppf(FALSE_ALARM / (2 * numbers), rounds, LEAST))


def measured(rounds: int) -> list[dict[str, Any]]:
    """A row for each template."""
    rows = []
    cases = [case_of(each.name, place) for place, each in enumerate(TEMPLATES)]
    limits = least_part(rounds, len(cases)), fewest(rounds, sum(len(case.truth) for case in cases)) / rounds
    for place, case in enumerate(cases):
        start = time.perf_counter()
        parts = {key: hits / rounds for key, hits in within(case, rounds, place).items()}
        worst = min(parts, key=lambda key: parts[key])
        rows.append(
            {
                "template": case.name,
                "respondents": case.respondents,
                "margin": max(each.margin or 0 for each in case.plan.questions),
                "numbers": len(parts),
                "rounds": rounds,
                "within, mean": sum(parts.values()) / len(parts),
                "within, least": parts[worst],
                "of": f"{worst.question}: {worst.code}",
                "limits": limits,
                "seconds": time.perf_counter() - start,
            }
        )
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = measured(options.rounds)
    table = Table(title="Estimates within the planned margins", title_justify="left")
    for heading in rows[0]:
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(*map(_text, row.values()))
    Console(width=150).print(table)
    if options.json is not None:
        options.json.write_text(json.dumps(rows, indent=2) + "\n")
    return 0 if all(is_true(row) for row in rows) else 1


def is_true(row: dict[str, Any]) -> bool:
    of_all, of_one = row["limits"]
    return bool(row["within, mean"] >= of_all and row["within, least"] >= of_one)


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(_text, value))
    return f"{value:.3f}" if isinstance(value, float) else f"{value}"


if __name__ == "__main__":
    sys.exit(main())
