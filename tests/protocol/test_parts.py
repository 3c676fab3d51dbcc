"""Parts: what they report on, what depends on what, and the order and number of their paths."""

from __future__ import annotations

from typing import Any

import pytest

from deniable_protocol import (
    Item,
    Part,
    Survey,
    TooManyPaths,
    atoms_of,
    items_of,
    needs,
    paths_of,
    survey_from_tree,
    verify,
)
from deniable_protocol.parts import with_needs
from tests.helpers.surveys import joint, several, textbook

QUESTIONS: list[dict[str, Any]] = [
    {"id": "vaped", "type": "yes_no", "text": "?", "decline": True},
    {"id": "kinds", "type": "multi_choice", "text": "?", "options": [{"code": code, "text": code} for code in "abc"]},
    {"id": "often", "type": "scale", "text": "?", "labels": ["rarely", "often"]},
    {"id": "taste", "type": "yes_no", "text": "?"},
    {"id": "age", "type": "number", "text": "?", "min": 0, "max": 100},
]
CONDITIONS: dict[str, dict[str, list[str]]] = {
    "kinds": {"vaped": ["yes", "declined"]},
    "often": {"kinds": ["c", "a"]},
    "taste": {"often": ["2"]},
}


def survey() -> Survey:
    """Vaped, then kinds, then often, then taste; and an age that depends on nothing."""
    questions = [
        {**question, "show_if": CONDITIONS[question["id"]]} if question["id"] in CONDITIONS else question
        for question in QUESTIONS
    ]
    return survey_from_tree({"id": "ab", "title": "T", "epsilon": 2, "questions": questions})


def item(name: str) -> Item:
    return next(each for each in items_of(survey()) if each.name == name)


def names(items: Any) -> list[str]:
    return [each.name for each in items]


def test_the_options_of_a_multi_choice_are_items_of_their_own() -> None:
    """With an epsilon of the survey each option is a yes or no; with one of the question it is reported as a whole."""
    assert names(items_of(survey())) == ["vaped", "kinds.a", "kinds.b", "kinds.c", "often", "taste", "age"]
    assert item("kinds.b").codes == ("no", "yes") and item("vaped").codes == ("yes", "no", "declined")
    assert names(items_of(verify(textbook()).survey)) == ["vaped", "support", "stress", "hours"]


def test_an_item_needs_all_that_decides_whether_it_is_shown() -> None:
    """Through a chain, the first to be asked first; of a multi_choice only the options that decide."""
    assert names(needs(survey(), item("vaped"))) == []
    assert names(needs(survey(), item("kinds.b"))) == ["vaped"]
    assert names(needs(survey(), item("often"))) == ["vaped", "kinds.a", "kinds.c"]
    assert names(needs(survey(), item("taste"))) == ["vaped", "kinds.a", "kinds.c", "often"]
    wanted = with_needs(survey(), [item("age"), item("often")])
    assert names(wanted) == ["vaped", "kinds.a", "kinds.c", "often", "age"]


def test_what_is_never_reported_apart_is_an_atom() -> None:
    """A question with its follow-ups, an option with what it depends on, and a follow-up to options with these."""
    assert [names(atom) for atom in atoms_of(survey())] == [
        ["vaped"],
        ["vaped", "kinds.a"],
        ["vaped", "kinds.b"],
        ["vaped", "kinds.c"],
        ["vaped", "kinds.a", "kinds.c", "often", "taste"],
        ["age"],
    ]


def test_paths_are_in_order_with_the_last_item_fastest() -> None:
    """Places among the codes, None where an item is not shown; a hidden question hides what depends on it."""
    assert paths_of([item("vaped"), item("kinds.a")]) == ((0, 0), (0, 1), (1, None), (2, 0), (2, 1))
    chain = [item(name) for name in ("vaped", "kinds.a", "kinds.c", "often", "taste")]
    of_one_answer = [(0, 0, None, None), (0, 1, 0, None), (0, 1, 1, 0), (0, 1, 1, 1)]
    of_one_answer += [(1, 0, 0, None), (1, 0, 1, 0), (1, 0, 1, 1), (1, 1, 0, None), (1, 1, 1, 0), (1, 1, 1, 1)]
    expected = [(0, *rest) for rest in _kinds(of_one_answer)]
    expected += [(1, None, None, None, None), *((2, *rest) for rest in _kinds(of_one_answer))]
    assert list(paths_of(chain)) == expected


def _kinds(paths: list[tuple[int | None, ...]]) -> list[tuple[int | None, ...]]:
    """Neither option, so nothing more; or what follows where one of them is chosen."""
    return [(0, 0, None, None), *(path for path in paths if 1 in path[:2])]


@pytest.mark.parametrize(("counts", "total"), [((3, 17), 51), ((4, 13), 52), ((11, 11, 11), 1331)])
def test_more_than_51_paths_are_too_many(counts: tuple[int, ...], total: int) -> None:
    """The error has their number."""
    questions = [
        {"id": f"q{i}", "type": "number", "text": "?", "min": 0, "max": n, "measure": "shares", "bins": [*range(1, n)]}
        for i, n in enumerate(counts)
    ]
    items = items_of(survey_from_tree({"id": "ab", "title": "T", "epsilon": 2, "questions": questions}))
    if total <= 51:
        assert len(paths_of(items)) == total
        return
    with pytest.raises(TooManyPaths, match=f"^{total:,} combinations of answers, more than the 51") as caught:
        paths_of(items)
    assert caught.value.count == total


def test_counting_paths_ends_early() -> None:
    """Of very many it is enough to know that there are more than 10,000: no survey keeps anyone busy."""
    questions = [{"id": f"q{i}", "type": "yes_no", "text": "?"} for i in range(200)]
    with pytest.raises(TooManyPaths, match=r"^more than 10,000 combinations"):
        paths_of(items_of(survey_from_tree({"id": "ab", "title": "T", "epsilon": 2, "questions": questions})))


def test_a_part_knows_which_paths_have_an_answer() -> None:
    """The paths of every answer of a shown item are apart, and together those on which it is shown."""
    for document in (verify(joint()), verify(several())):
        for part in document.parts:
            for place, each in enumerate(part.items if part.paths else ()):
                owned = [part.owned(place, code) for code in range(len(each.codes))]
                assert sorted(path for paths in owned for path in paths) == [*part.shown(place)]
    part = verify(joint()).parts[1]
    assert part.names == ("vaped", "how_often", "stress") and len(part.paths) == 16
    assert part.place("how_often") == 1 and part.place("support.doctor") is None
    assert part.shown(1) == (*range(4, 16),) and part.owned(1, 1) == (8, 9, 10, 11)
    assert part.owned(0, 0) == (0, 1, 2, 3) and part.owned(2, 3) == (3, 7, 11, 15)


def test_what_has_no_paths() -> None:
    """A mean alone, and several options at once: their channels have levels and bits in place of paths."""
    means = [part for part in verify(joint()).parts if part.items[0].asks_mean]
    whole = [part for part in verify(textbook()).parts if not part.channel.exclusive]
    scale = {"id": "q", "type": "scale", "text": "?", "labels": ["a", "b", "c"], "measure": "mean"}
    (alone,) = items_of(survey_from_tree({"id": "ab", "title": "T", "epsilon": 2, "questions": [scale]}))
    means.append(Part((alone,), "2.0", means[0].channel))
    assert means and whole and all(part.paths == () for part in (*means, *whole))


def test_answers_become_the_number_of_their_path() -> None:
    """What is not shown is not looked at, whatever stands there; what is shown needs a right answer."""
    part = verify(joint()).parts[1]
    yes = {"vaped": True, "how_often": "weekly", "stress": 3}
    assert part.encode(yes) == part.paths.index((1, 1, 2))
    for hidden in ("weekly", "daily", "no such code", None, object()):
        assert part.encode({"vaped": False, "how_often": hidden, "stress": "declined"}) == 3
    assert part.encode({"vaped": False, "stress": 1}) == 0
    problems = part.encode({"vaped": True, "stress": 9})
    assert isinstance(problems, list)
    assert [(problem.place, problem.reason) for problem in problems] == [("how_often", "missing"), ("stress", "range")]
    (problem,) = part.encode({"vaped": "yes", "stress": 1})  # type: ignore[misc]
    assert (problem.place, problem.reason) == ("vaped", "type")  # whether the follow-up is shown is not known
