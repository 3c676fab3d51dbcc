"""Random documents in which a survey's epsilon is shared: follow-ups, options, parts of several items, booklets."""

from __future__ import annotations

import random
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import msgspec
from hypothesis import strategies as st

from deniable_protocol import Item, Survey, TooManyPaths, design, items_of, needs, paths_of, survey_from_tree
from tests.helpers.surveys import epsilons, surveys


@st.composite
def shared_surveys(draw: st.DrawFn, most_questions: int = 4) -> dict[str, Any]:
    """A survey with one epsilon, in which some questions are shown only after certain answers to an earlier one."""
    tree = draw(surveys(most_questions))
    tree["epsilon"] = draw(epsilons)
    asked: list[tuple[str, Sequence[str]]] = []
    for question in tree["questions"]:
        del question["epsilon"]
        if question.get("mechanism") or question.get("measure", "shares") == "mean" or _is_mean(question):
            continue
        if asked and draw(st.booleans()):
            parent, codes = draw(st.sampled_from(asked))
            question["show_if"] = {parent: draw(st.lists(st.sampled_from(codes), min_size=1, unique=True))}
        alone = {key: value for key, value in question.items() if key != "show_if"}
        (read,) = survey_from_tree({"id": "ab", "title": "T", "epsilon": "1", "questions": [alone]}).questions
        asked.append((question["id"], read.codes))
    return tree


def _is_mean(question: dict[str, Any]) -> bool:
    return question["type"] == "number" and "bins" not in question


def shared_document(tree: dict[str, Any], chance: random.Random) -> bytes | None:
    """A document of this survey with parts and booklets by chance; None where an item fits into no part."""
    published = {key: value for key, value in tree.items() if key != "respondents"}
    survey = survey_from_tree(published | {"questions": [*tree["questions"]]})
    parts = _parts(survey, chance)
    if parts is None:
        return None
    epsilons = [_share(str(survey.epsilon), chance) for _ in parts]
    booklets = [([number], chance.randint(1, 40)) for number in range(len(parts))]
    for _ in range(3):
        taken = _disjoint(survey, parts, epsilons, chance)
        booklets.append((taken, chance.randint(1, 40)))
    chance.shuffle(booklets)
    made = [
        {"questions": [item.name for item in items], "epsilon": epsilon, "channel": design(items, Fraction(epsilon))}
        for items, epsilon in zip(parts, epsilons, strict=True)
    ]
    whole = [{"parts": numbers, "weight": weight} for numbers, weight in booklets]
    return msgspec.json.encode({"deniable": 1, "survey": published, "parts": made, "booklets": whole})


def _parts(survey: Survey, chance: random.Random) -> list[list[Item]] | None:
    """For every item one part that holds it, with what it depends on and by chance a few others."""
    items = items_of(survey)
    parts = []
    for item in items:
        wanted = _closed(survey, [item])
        if not _fits(wanted):
            return None
        for other in chance.sample(items, k=min(3, len(items))):
            more = _closed(survey, [*wanted, other])
            wanted = more if item.can_join and all(each.can_join for each in more) and _fits(more) else wanted
        parts.append(wanted)
    return parts


def _closed(survey: Survey, items: Sequence[Item]) -> list[Item]:
    names = {each.name for item in items for each in (item, *needs(survey, item))}
    return [item for item in items_of(survey) if item.name in names]


def _fits(items: Sequence[Item]) -> bool:
    try:
        return len(items) == 1 or bool(paths_of(items))
    except TooManyPaths:
        return False


def _share(epsilon: str, chance: random.Random) -> str:
    """The survey's epsilon or a part of it, never below the least that a part may have."""
    share = Decimal(epsilon) / chance.choice([1, 2, 3])
    return epsilon if share < Decimal("0.02") else f"{int(share * 10_000) / Decimal(10_000):f}"


def _disjoint(survey: Survey, parts: list[list[Item]], epsilons: list[str], chance: random.Random) -> list[int]:
    """Parts that have nothing in common and spend at most the survey's epsilon together."""
    taken: list[int] = []
    for number in chance.sample(range(len(parts)), k=len(parts)):
        names = {item.name for each in taken for item in parts[each]}
        spent = sum(Decimal(epsilons[each]) for each in (*taken, number))
        if not names & {item.name for item in parts[number]} and spent <= Decimal(str(survey.epsilon)):
            taken.append(number)
    return taken
