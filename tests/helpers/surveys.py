"""Surveys for tests: ready-made ones of both designs, the one question that is wanted, and random valid ones."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Any

from hypothesis import reject
from hypothesis import strategies as st

from deniable_protocol import (
    Channel,
    Item,
    Question,
    Survey,
    SurveyError,
    TooManyPaths,
    atoms_of,
    design,
    items_of,
    paths_of,
    publish,
    survey_from_tree,
)
from deniable_protocol.checks import Checker, check_epsilon
from deniable_protocol.texts import normal_text, what_cannot_be_seen

CAMPUS = {
    "id": "campus",
    "text": "Which campus?",
    "options": [{"code": "north", "text": "North"}, {"code": "south", "text": "South"}],
}
TEXTBOOK: dict[str, Any] = {
    "id": "textbook",
    "title": "Each question has an epsilon of its own",
    "segments": [CAMPUS],
    "questions": [
        {"id": "vaped", "type": "yes_no", "text": "Vaped?", "epsilon": "1.0"},
        {
            "id": "support",
            "type": "multi_choice",
            "text": "Who helped?",
            "epsilon": "2.0",
            "options": [{"code": code, "text": code} for code in ("doctor", "friend", "nobody")],
        },
        {
            "id": "stress",
            "type": "scale",
            "text": "Stress?",
            "epsilon": "1.5",
            "labels": ["none", "some", "much"],
            "decline": True,
        },
        {"id": "hours", "type": "number", "text": "Hours?", "epsilon": "1.0", "min": 0, "max": 80},
    ],
}
JOINT: dict[str, Any] = {
    "id": "joint",
    "title": "One epsilon for everything",
    "epsilon": "2.0",
    "together": [["vaped", "support.doctor"], ["vaped", "stress"]],
    "segments": [CAMPUS],
    "questions": [
        {"id": "vaped", "type": "yes_no", "text": "Vaped?"},
        {
            "id": "how_often",
            "type": "choice",
            "text": "How often?",
            "show_if": {"vaped": ["yes"]},
            "options": [{"code": code, "text": code} for code in ("monthly", "weekly", "daily")],
        },
        {
            "id": "support",
            "type": "multi_choice",
            "text": "Who helped?",
            "options": [{"code": code, "text": code} for code in ("doctor", "friend", "nobody")],
        },
        {"id": "stress", "type": "scale", "text": "Stress?", "labels": ["none", "some", "much"], "decline": True},
        {"id": "hours", "type": "number", "text": "Hours?", "min": 0, "max": 80},
    ],
}
JOINT_PARTS: list[tuple[list[str], int | None]] = [
    (["vaped", "how_often", "support.doctor"], 1),  # 4 x 2 paths, one in each report
    (["vaped", "how_often", "stress"], None),  # 4 x 4 paths
    (["support.doctor"], None),
    (["support.friend", "support.nobody"], None),
    (["stress"], None),
    (["hours"], None),
]
JOINT_BOOKLETS = [([0], 3), ([1], 5), ([2], 1), ([3], 2), ([4], 1), ([5], 4)]


@cache
def textbook() -> bytes:
    """The published document of a survey whose questions have their own epsilons: one booklet of one part each."""
    return publish(survey_from_tree(TEXTBOOK))


@cache
def joint() -> bytes:
    """The published document of a survey with one epsilon: a follow-up, options, a mean, and questions in two parts."""
    return publish(survey_from_tree(JOINT), JOINT_PARTS, JOINT_BOOKLETS)


@cache
def several() -> bytes:
    """The same survey with booklets of one, two and three parts, which share the epsilon."""
    survey = survey_from_tree(JOINT)
    shared = [(names, size, epsilon) for (names, size), epsilon in zip(JOINT_PARTS, SHARED, strict=True)]
    return with_epsilons(survey, shared, [([0, 5], 3), ([1], 5), ([1, 2], 1), ([3, 4, 5], 2)])


SHARED = ("1.5", "1.0", "0.75", "0.5", "1.0", "0.5")


def with_epsilons(
    survey: Survey,
    parts: Sequence[tuple[Sequence[str], int | None, str]],
    booklets: Sequence[tuple[Sequence[int], int]],
) -> bytes:
    """A document whose parts have less than the survey's epsilon, so that a booklet can have several of them."""
    spent = [str(check_epsilon(Checker(), epsilon, "")) for *_, epsilon in parts]
    return publish(survey, [(names, size) for names, size, _ in parts], booklets, spent)


def _one_by_one(parts: int) -> list[tuple[list[int], int]]:
    return [([number], 1) for number in range(parts)]


def ask(kind: str, epsilon: str | float = 1, **own: Any) -> tuple[Question, Channel]:
    """A question of this type, and its channel."""
    return channelled({"id": "q", "type": kind, "text": "?", "epsilon": epsilon, **own})


def channelled(tree: dict[str, Any]) -> tuple[Question, Channel]:
    """The question of this tree, and its channel."""
    (question,) = survey_from_tree({"id": "survey", "title": "T", "questions": [tree]}).questions
    return question, design([Item(question)], Fraction(str(question.epsilon)))


epsilons = st.one_of(
    st.integers(100, 100_000).map(lambda units: units / 10_000),
    st.sampled_from(["0.01", "0.5", "1.0", "2", "4.0", "9.9999", "10", "10.0"]),
)
texts = (
    st.text(st.characters(exclude_categories=["Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"]), min_size=1, max_size=12)
    .map(lambda text: normal_text(text, lines=False))
    .filter(lambda text: text and what_cannot_be_seen(text, lines=False) is None)
)


def options(most: int) -> st.SearchStrategy[list[dict[str, str]]]:
    codes = st.from_regex(r"\A[A-Za-z0-9][A-Za-z0-9_.-]{0,6}\Z").filter(lambda code: code != "declined")
    return st.lists(st.tuples(codes, texts), min_size=2, max_size=most, unique_by=lambda pair: pair[0]).map(
        lambda pairs: [{"code": code, "text": text} for code, text in pairs]
    )


@st.composite
def questions(draw: st.DrawFn, name: str = "q", most: int = 7) -> dict[str, Any]:
    kind = draw(st.sampled_from(["yes_no", "choice", "multi_choice", "scale", "number"]))
    tree: dict[str, Any] = {"id": name, "type": kind, "text": draw(texts), "epsilon": draw(epsilons)}
    if kind in ("choice", "multi_choice"):
        tree["options"] = draw(options(most))
    if kind == "choice" and draw(st.booleans()):
        tree["mechanism"] = "krr"
    if kind == "scale":
        tree["labels"] = draw(st.lists(texts, min_size=2, max_size=most))
        tree["measure"] = draw(st.sampled_from(["shares", "mean"]))
        if draw(st.booleans()):
            tree["mechanism"] = draw(st.sampled_from(["krr", "exponential"]))
    if kind == "number":
        low = draw(st.one_of(st.integers(-1000, 1000), st.floats(-1e6, 1e6, allow_subnormal=False)))
        tree |= {"min": low, "max": low + draw(st.integers(1, 1000)) / 4}
        design = draw(st.sampled_from(["mean", "shares", "laplace", "gaussian"]))
        if design == "shares":
            inner = draw(st.lists(st.floats(0.01, 0.99), min_size=1, max_size=most - 1, unique=True))
            edges = sorted({tree["min"] + part * (tree["max"] - tree["min"]) for part in inner})
            edges = [edge for edge in edges if tree["min"] < edge < tree["max"]]
            tree |= {"measure": "shares", "bins": edges or [(tree["min"] + tree["max"]) / 2]}
        elif design != "mean":
            tree["mechanism"] = design
            if design == "gaussian":
                tree["delta"] = draw(st.sampled_from(["0.000001", "0.000000001", "0.00003", "0.0001"]))
    can_decline = (
        kind in ("yes_no", "choice") or tree.get("measure") == "shares" or (kind == "scale" and "measure" not in tree)
    )
    if can_decline and tree.get("mechanism") != "exponential":
        tree["decline"] = draw(st.booleans())
    return tree


@st.composite
def surveys(draw: st.DrawFn, most_questions: int = 4, most: int = 7) -> dict[str, Any]:
    count = draw(st.integers(1, most_questions))
    tree: dict[str, Any] = {
        "id": draw(st.from_regex(r"\A[a-z0-9][a-z0-9-]{1,20}\Z")),
        "title": draw(texts),
        "questions": [draw(questions(f"q{i}", most)) for i in range(count)],
    }
    if draw(st.booleans()):
        tree["segments"] = [{"id": "segment", "text": draw(texts), "options": draw(options(4))}]
    return tree


@st.composite
def joint_surveys(draw: st.DrawFn, most_questions: int = 4, most: int = 7) -> dict[str, Any]:
    """A survey with one epsilon; some questions depend on the one before."""
    tree = draw(surveys(most_questions, most))
    tree["epsilon"] = draw(epsilons)
    before: Question | None = None
    for question in tree["questions"]:
        del question["epsilon"]
        (alone,) = survey_from_tree({"id": "survey", "title": "T", "epsilon": 1, "questions": [question]}).questions
        if before is not None and before.has_answers and alone.has_answers and draw(st.booleans()):
            codes = draw(st.lists(st.sampled_from(before.codes), min_size=1, max_size=2, unique=True))
            question["show_if"] = {before.id: codes}
        before = alone
    return tree


@st.composite
def documents(draw: st.DrawFn, most_questions: int = 4) -> bytes:
    """The published document of a random survey, of either design; with one epsilon, of random parts and booklets."""
    if draw(st.booleans()):
        return publish(survey_from_tree(draw(surveys(most_questions))))
    try:
        survey = survey_from_tree(draw(joint_surveys(most_questions)))
    except SurveyError:  # too many combinations of answers
        reject()
    parts: list[list[Item]] = []
    for atom in atoms_of(survey):
        joined = {item.name for item in (*(parts[-1] if parts else ()), *atom)}
        items = [item for item in items_of(survey) if item.name in joined]
        join: bool = draw(st.booleans())
        if parts and join and all(item.can_join for item in items) and _fits(items):
            parts[-1] = items
        else:
            parts.append([*atom])
    booklets = _one_by_one(len(parts))
    drawn = [([number], draw(st.integers(1, 50))) for ([number], _) in draw(st.permutations(booklets))]
    return publish(
        survey, [([item.name for item in items], draw(st.sampled_from([None, 1]))) for items in parts], drawn
    )


def _fits(items: Sequence[Item]) -> bool:
    try:
        return bool(paths_of(items))
    except TooManyPaths:
        return False
