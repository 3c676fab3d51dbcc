"""Which cross-tabs a survey asks for."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations, product

from deniable_protocol import Item, Problem, Survey, SurveyError, TooManyPaths, items_of, paths_of
from deniable_protocol.parts import MAX_PATHS, with_needs

MOST_TABLES = 1_000
"""Cross-tabs that one survey may ask for, each option of a multi_choice counted by itself."""


@lru_cache(maxsize=32)
def tables_of(survey: Survey) -> tuple[tuple[Item, ...], ...]:
    """The cross-tabs that are wanted, of options where a multi_choice is named, and of every two of three questions."""
    found: dict[tuple[Item, ...], int] = {}
    for number, names in enumerate(survey.together):
        for table in _each_option(survey, names):
            for size in range(2, len(table) + 1):
                found.update((some, number) for some in combinations(table, size))
    if len(found) > MOST_TABLES:
        message = f"asks for {len(found):,} cross-tabs, counting options, and {MOST_TABLES:,} are the most"
        raise SurveyError([Problem("together", "range", message)])
    for table, number in found.items():
        _check_paths(with_needs(survey, table), f"together[{number}]")
    return tuple(found)


def _each_option(survey: Survey, names: tuple[str, ...]) -> Iterator[tuple[Item, ...]]:
    items = items_of(survey)
    named = [[place for place, item in enumerate(items) if name in (item.name, item.question.id)] for name in names]
    for places in product(*named):
        if len(set(places)) == len(places):
            yield tuple(items[place] for place in sorted(places))


def _check_paths(items: list[Item], place: str) -> None:
    try:
        paths_of(items)
    except TooManyPaths as error:
        names = ", ".join(item.name for item in items)
        message = f"{names} have {error.in_words} combinations of answers, and one report can tell {MAX_PATHS} apart"
        raise SurveyError([Problem(place, "paths", message)]) from None
