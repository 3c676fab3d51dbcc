"""Questions for tests: the one that is wanted, and random valid ones."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from deniable_protocol import Channel, Question, design, survey_from_tree


def ask(kind: str, epsilon: str | float = 1, **own: Any) -> tuple[Question, Channel]:
    """A question of this type, and its channel."""
    return channelled({"id": "q", "type": kind, "text": "?", "epsilon": epsilon, **own})


def channelled(tree: dict[str, Any]) -> tuple[Question, Channel]:
    """The question of this tree, and its channel."""
    (question,) = survey_from_tree({"id": "survey", "title": "T", "questions": [tree]}).questions
    return question, design(question)


epsilons = st.one_of(
    st.integers(100, 100_000).map(lambda units: f"{units / 10_000:.4f}"),
    st.sampled_from(["0.01", "0.5", "1.0", "2", "4.0", "9.9999", "10", "10.0"]),
)
texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)


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
                tree["delta"] = draw(st.sampled_from(["0.000001", "0.000000001", "0.01", "0.0001"]))
    can_decline = (
        kind in ("yes_no", "choice") or tree.get("measure") == "shares" or (kind == "scale" and "measure" not in tree)
    )
    if can_decline and tree.get("mechanism") != "exponential":
        tree["decline"] = draw(st.booleans())
    return tree


@st.composite
def surveys(draw: st.DrawFn, most_questions: int = 4) -> dict[str, Any]:
    count = draw(st.integers(1, most_questions))
    tree: dict[str, Any] = {
        "id": draw(st.from_regex(r"\A[a-z0-9][a-z0-9-]{1,20}\Z")),
        "title": draw(texts),
        "questions": [draw(questions(f"q{i}")) for i in range(count)],
    }
    if draw(st.booleans()):
        tree["segments"] = [{"id": "segment", "text": draw(texts), "options": draw(options(4))}]
    return tree
