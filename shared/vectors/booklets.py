"""Documents of surveys with one epsilon: parts, follow-ups and booklets, good and tampered with."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from tampered import OPTIONS, SEGMENTS, WRONG, at, dump, edited, places

from deniable_protocol import exp_floor, largest_favour, publish, survey_from_tree

YES = {"id": "vaped", "type": "yes_no", "text": "?"}
OFTEN = {"id": "often", "type": "choice", "text": "?", "options": OPTIONS[:3], "show_if": {"vaped": ["yes"]}}
STRESS = {"id": "stress", "type": "scale", "text": "?", "labels": ["low", "mid", "high"]}
SUPPORT = {"id": "support", "type": "multi_choice", "text": "?", "options": OPTIONS[:3]}
DRINKS = {"id": "drinks", "type": "number", "text": "?", "min": 0, "max": 40}
KRR = {"id": "krr", "type": "choice", "text": "?", "options": OPTIONS, "mechanism": "krr"}

Parts = Sequence[tuple[Sequence[str], str, int | None]]


def assembled(
    questions: Sequence[dict[str, Any]],
    epsilon: str,
    parts: Parts,
    booklets: Sequence[tuple[list[int], int]],
    **more: Any,
) -> Any:
    """A document as a tree. Parts: names, epsilon, and the size of the subsets. Booklets: parts, and a weight."""
    tree = {"id": "vector", "title": "Vector", "epsilon": epsilon, "questions": [*questions], **more}
    named, spent = [(names, size) for names, _, size in parts], [own for _, own, _ in parts]
    return json.loads(publish(survey_from_tree(tree), named, booklets, spent))


def follow_up() -> Any:
    parts: Parts = [
        (["vaped", "often"], "2.0", None),
        (["vaped", "often", "stress"], "2.0", None),
        (["stress"], "2.0", None),
    ]
    return assembled([YES, OFTEN, STRESS], "2.0", parts, [([0], 3), ([1], 5), ([2], 2)], segments=SEGMENTS)


def chain() -> Any:
    questions = [
        {**YES, "decline": True},
        {**OFTEN, "show_if": {"vaped": ["yes", "declined"]}, "decline": True},
        {**STRESS, "show_if": {"often": ["b", "declined"]}},
    ]
    return assembled(questions, "1.5", [(["vaped", "often", "stress"], "1.5", None)], [([0], 1)])


def siblings() -> Any:
    """Two follow-ups of one question, and a number in bins that declares a third."""
    income = {"id": "income", "type": "number", "text": "?", "min": 0, "max": 100, "measure": "shares"}
    questions = [
        {**income, "bins": [18, 30.5], "decline": True},
        {**YES, "show_if": {"income": ["18..30.5", "declined"]}},
        {**STRESS, "show_if": {"income": ["0..18"]}},
        {**OFTEN, "show_if": {"stress": ["1", "3"]}},
    ]
    return assembled(questions, "2.0", [(["income", "vaped", "stress", "often"], "2.0", 1)], [([0], 1)])


def options() -> Any:
    parts: Parts = [
        (["vaped"], "1.0", None),
        (["vaped", "support.a"], "1.0", None),
        (["support.a"], "1.0", None),
        (["support.b", "support.c"], "1.0", None),
        (["support.c"], "1.0", None),
    ]
    together = [["vaped", "support.a"], ["support.b", "support.c"]]
    booklets = [([0], 1), ([1], 9), ([2], 1), ([3], 4), ([4], 2)]
    return assembled([YES, SUPPORT], "1.0", parts, booklets, together=together)


def several_parents() -> Any:
    """A follow-up to some options of a multi_choice, and a multi_choice that is a follow-up itself."""
    questions = [
        YES,
        {**SUPPORT, "show_if": {"vaped": ["yes"]}},
        {**STRESS, "show_if": {"support": ["c", "a"]}},
    ]
    parts: Parts = [
        (["vaped", "support.a", "support.c", "stress"], "2.0", None),
        (["vaped", "support.b"], "2.0", None),
    ]
    return assembled(questions, "2.0", parts, [([0], 30), ([1], 1)])


def split() -> Any:
    """0.1 and 0.2 are 0.3 exactly; in doubles they are more."""
    parts: Parts = [
        (["vaped", "often"], "0.1", None),
        (["stress"], "0.2", None),
        (["support.a", "support.b"], "0.3", None),
    ]
    parts = [*parts, (["support.c"], "0.3", None)]
    return assembled([YES, OFTEN, STRESS, SUPPORT], "0.3", parts, [([0, 1], 1), ([2], 3), ([3], 2)])


def mechanisms() -> Any:
    gaussian = {"id": "noisy", "type": "number", "text": "?", "min": 0, "max": 1, "mechanism": "gaussian"}
    questions = [{**gaussian, "delta": "0.000001"}, DRINKS, KRR, YES]
    parts: Parts = [
        (["noisy"], "1.0", None),
        (["drinks"], "1.5", None),
        (["krr"], "1.5", None),
        (["vaped"], "1.0", None),
    ]
    return assembled(questions, "4.0", parts, [([0], 1), ([1, 2, 3], 9999)])


def most_paths() -> Any:
    """51 paths, with the largest reports there are."""
    bins = {
        "id": "age",
        "type": "number",
        "text": "?",
        "min": 0,
        "max": 17,
        "measure": "shares",
        "bins": [*range(1, 17)],
    }
    return assembled([STRESS, bins], "0.5", [(["stress", "age"], "0.5", None)], [([0], 1)])


def awkward_bins() -> Any:
    """Bins are named as people write numbers: no exponent, no sign of a zero."""
    dose = {
        "id": "dose",
        "type": "number",
        "text": "?",
        "min": -0.0,
        "max": 2.5e-7,
        "measure": "shares",
        "bins": [1e-7],
    }
    questions = [dose, {**YES, "show_if": {"dose": ["0..0.0000001"]}}]
    return assembled(questions, "1.0", [(["dose", "vaped"], "1.0", None)], [([0], 1)])


def awkward_names() -> Any:
    """Names that objects of some languages have already, and codes with dots."""
    codes = [{"code": code, "text": "x"} for code in ("toString", "a.b", "a")]
    questions = [
        {"id": "constructor", "type": "multi_choice", "text": "?", "options": codes},
        {**OFTEN, "id": "valueof", "show_if": {"constructor": ["a.b", "toString"]}},
    ]
    parts: Parts = [
        (["constructor.toString", "constructor.a.b", "valueof"], "3.0", None),
        (["constructor.a"], "3.0", None),
    ]
    return assembled(questions, "3.0", parts, [([0], 1), ([1], 1)])


DOCUMENTS = {
    "a follow-up": follow_up,
    "a chain of follow-ups": chain,
    "several follow-ups": siblings,
    "options of a multi_choice": options,
    "a multi_choice before and after": several_parents,
    "parts that share an epsilon": split,
    "mechanisms": mechanisms,
    "51 paths": most_paths,
    "awkward bins": awkward_bins,
    "awkward names": awkward_names,
}


def tampered_booklets() -> Iterator[tuple[str, str]]:
    """(comment, document text) of documents good and bad."""
    for name, made in DOCUMENTS.items():
        yield f"{name}: as published", dump(made())
    for turn, name in enumerate(("a follow-up", "options of a multi_choice", "parts that share an epsilon")):
        tree = DOCUMENTS[name]()
        for step, path in enumerate(places(tree)):
            new = path[0] in ("parts", "booklets") or {"show_if", "together", "epsilon"} & {*path}
            if not new:
                continue
            where = ".".join(map(str, path))
            yield f"{name}: without {where}", dump(edited(tree, path))
            yield f"{name}: {where} of another type", dump(edited(tree, path, WRONG[(turn + step) % len(WRONG)]))
            if isinstance(at(tree, path), dict):
                yield f"{name}: unknown key in {where}", dump(edited(tree, (*path, "extra"), 1))
    for comment, tree in (*bad_epsilons(), *bad_conditions(), *bad_together(), *bad_parts(), *bad_booklets()):
        yield comment, dump(tree)


def bad_epsilons() -> Iterator[tuple[str, Any]]:
    tree, stated = follow_up(), ("survey", "epsilon")
    for epsilon in ("0", "0.0099", "10.0001", "1.00001", "1e0", "-1", " 2", "2.", "", "11", 2, 2.0, None):
        yield "epsilon of the survey of the wrong form or size", edited(tree, stated, epsilon)
    yield "a survey that states more than it uses", edited(tree, stated, "10.0")
    yield "a survey that states less than its parts spend", edited(tree, stated, "1.9999")
    yield "both kinds of epsilon", edited(tree, ("survey", "questions", 1, "epsilon"), "1.0")
    yield "no epsilon at all", edited(tree, stated)
    own = edited(edited(tree, stated), ("survey", "questions", 0, "epsilon"), "1.0")
    yield "one question has an epsilon of its own, the others have none", own
    yield "how many are expected is not published", edited(tree, ("survey", "respondents"), 5000)


def bad_conditions() -> Iterator[tuple[str, Any]]:
    tree, condition = follow_up(), ("survey", "questions", 1, "show_if")
    for value, comment in (
        ({}, "names no question"),
        ({"vaped": ["yes"], "stress": ["1"]}, "names two questions"),
        ({"stress": ["1"]}, "names a later question"),
        ({"often": ["a"]}, "names itself"),
        ({"nothing": ["yes"]}, "names an unknown question"),
        ({"campus": ["north"]}, "names a segment"),
        ({"__proto__": ["yes"]}, "names __proto__"),
        ({"constructor": ["yes"]}, "names constructor"),
        ({"": ["yes"]}, "names nothing"),
        ({"vaped": []}, "has no answers"),
        ({"vaped": ["maybe"]}, "has an answer that the question does not have"),
        ({"vaped": ["declined"]}, "has declined, which nobody can"),
        ({"vaped": ["yes", "yes"]}, "has an answer twice"),
        ({"vaped": ["no", "yes"]}, "has all answers"),
        ({"vaped": ["yes", "no"]}, "has answers in another order"),
        ({"vaped": "yes"}, "has text in place of a list"),
        ({"vaped": [True]}, "has an answer that is no code"),
        ({"vaped": ["yes"] * 52}, "has 52 answers"),
        (["vaped"], "is a list"),
        ("vaped", "is text"),
        (None, "is null"),
    ):
        yield f"show_if {comment}", edited(tree, condition, value)
    circle = edited(tree, ("survey", "questions", 0, "show_if"), {"often": ["a"]})
    yield "two questions that wait for each other", circle
    tree = mechanisms()
    on_yes = {"vaped": ["yes"]}
    for number, comment in ((0, "with noise"), (1, "of a mean"), (2, "with a mechanism")):
        moved = edited(tree, ("survey", "questions"), [YES, {**tree["survey"]["questions"][number], "show_if": on_yes}])
        yield f"show_if on a question {comment}", moved
        parent = tree["survey"]["questions"][number]
        child = {**YES, "show_if": {parent["id"]: ["a"]}}
        yield f"show_if after a question {comment}", edited(tree, ("survey", "questions"), [parent, child])
    own = {**YES, "epsilon": "1.0"}
    textbook = edited(
        edited(follow_up(), ("survey", "epsilon")), ("survey", "questions"), [own, {**OFTEN, "epsilon": "1.0"}]
    )
    yield "show_if where questions have an epsilon of their own", textbook
    codes = edited(siblings(), ("survey", "questions", 1, "show_if"), {"income": ["18..31"]})
    yield "show_if with a bin that there is not", codes
    yield "show_if with a point as a number", edited(siblings(), ("survey", "questions", 3, "show_if"), {"stress": [1]})


def bad_together() -> Iterator[tuple[str, Any]]:
    tree, wanted = options(), ("survey", "together")
    for value, comment in (
        ([], "is empty"),
        ([["vaped", "support"]] * 101, "has 101 entries"),
        ([["vaped", "support"]] * 2, "has one entry twice"),
        ([["support.b", "support.c"], ["vaped", "support.a"]], "has entries in another order"),
        ([["vaped"]], "has one name"),
        ([["support.a", "support.b", "support.c", "vaped"]], "has four names"),
        ([["vaped", "support.a", "support.b"]], "has three names"),
        ([["support.b", "support.a"]], "has names in another order"),
        ([["support.a", "support.b"], ["support.a", "support.b", "support.c"]], "has one entry within another"),
        ([["support", "support.a"]], "has a question and its option"),
        ([["vaped", "vaped"]], "has a name twice"),
        ([["vaped", "nothing"]], "has an unknown name"),
        ([["vaped", "support.z"]], "has an unknown option"),
        ([["vaped", "support."]], "has an option without a name"),
        ([["support", "vaped.yes"]], "has an answer where a question belongs"),
        ([["vaped", "campus"]], "has a segment, or what could be one"),
        ([["vaped", "__proto__"]], "has __proto__"),
        ([["vaped", 1]], "has a number"),
        (["vaped", "support"], "is one list"),
        ([["vaped", "support"], ["support.a", "vaped", "x"]], "has an unknown name in its second entry"),
        ({"vaped": "support"}, "is a table"),
    ):
        yield f"together {comment}", edited(tree, wanted, value)
    for name in ("noisy", "drinks", "krr"):
        yield f"together with {name}, which is reported by itself", edited(mechanisms(), wanted, [["vaped", name]])
    own = [{**YES, "epsilon": "1.0"}, {**STRESS, "epsilon": "1.0"}]
    textbook = edited(edited(tree, ("survey", "epsilon")), ("survey", "questions"), own)
    yield "together where questions have an epsilon of their own", edited(textbook, wanted, [["vaped", "stress"]])


def bad_parts() -> Iterator[tuple[str, Any]]:
    tree = follow_up()
    named = ("parts", 1, "questions")
    for value, comment in (
        ([], "names nothing"),
        (["vaped", "stress", "often"], "names them in another order"),
        (["vaped", "vaped", "often", "stress"], "names one twice"),
        (["vaped", "often", "nothing"], "names an unknown question"),
        (["vaped", "often", "campus"], "names a segment"),
        (["vaped.yes"], "names an answer"),
        (["often"], "names a follow-up alone"),
        (["often", "stress"], "names a follow-up without its question"),
        (["vaped", "stress"], "names fewer than its channel has paths for"),
        (["vaped"], "names a yes or no with a subset channel"),
        ([1], "names a number"),
        (["__proto__"], "names __proto__"),
        (["vaped"] * 52, "names 52"),
    ):
        yield f"a part {comment}", edited(tree, named, value)
    yield "no parts", edited(tree, ("parts",), [])
    alone: Parts = [(names, "2.0", None) for names in (["vaped"], ["vaped", "often"], ["vaped", "often", "stress"])]
    every = [([number], 1) for number in range(3)]
    yield "a follow-up's question alone is fine", assembled([YES, OFTEN, STRESS], "2.0", alone, every)
    sizes: Parts = [(["vaped", "often", "stress"], "0.1", 1), (["vaped", "often", "stress"], "0.1", None)]
    both = assembled([YES, OFTEN, STRESS], "0.1", sizes, [([0], 1), ([1], 1)])
    yield "the same questions with both sizes", both
    yield "the same with the other size first", edited(both, ("parts",), both["parts"][::-1])
    yield "a part twice", edited(both, ("parts", 1), both["parts"][0])
    yield "parts in another order", edited(tree, ("parts",), [tree["parts"][n] for n in (1, 0, 2)])
    grand = {**chain()["parts"][0], "questions": ["often", "stress"]}
    yield "a part without the first question of a chain", edited(chain(), ("parts", 0), grand)
    middle = {**chain()["parts"][0], "questions": ["vaped", "stress"]}
    yield "a part without the middle question of a chain", edited(chain(), ("parts", 0), middle)
    parents = ("parts", 0, "questions")
    yield "a follow-up without one of its options", edited(several_parents(), parents, ["vaped", "support.a", "stress"])
    yield "an option that is a follow-up, alone", edited(several_parents(), parents, ["support.b"])
    yield "a multi_choice as a whole", edited(options(), ("parts", 2, "questions"), ["support"])
    subset = {"kind": "subset", "options": 2, "size": 1, "favour": 6584790284608188}
    yield "an option with a subset channel", edited(options(), ("parts", 2, "channel"), subset)
    yield "two options with a band", edited(options(), ("parts", 3, "channel"), options()["parts"][2]["channel"])
    yield "options in another order", edited(options(), ("parts", 3, "questions"), ["support.c", "support.b"])
    for names, comment in (
        (["krr", "vaped"], "a mechanism"),
        (["drinks", "vaped"], "a mean"),
        (["noisy", "vaped"], "noise"),
    ):
        yield f"{comment} reported with others", edited(mechanisms(), ("parts", 3, "questions"), names)
    yield "k-ary response of size 2", edited(mechanisms(), ("parts", 2, "channel", "size"), 2)
    more = edited(most_paths(), ("survey", "questions", 1, "bins"), [*range(1, 16), 15.5, 16])
    yield "54 paths", more
    yield from bad_channels()


def bad_channels() -> Iterator[tuple[str, Any]]:
    for made in (follow_up, options, several_parents, most_paths):
        tree = made()
        for number, part in enumerate(tree["parts"]):
            path = ("parts", number, "channel", "favour")
            for label, value in (
                ("one more than epsilon allows", part["channel"]["favour"] + 1),
                ("one less than it could be", part["channel"]["favour"] - 1),
                ("one: reveals what the answer is not", 1),
            ):
                yield f"{'+'.join(part['questions'])}: favour {label}", edited(tree, path, value)
    tree = follow_up()
    for epsilon in ("1.9999", "2.0001", "2", "02.0", "0", 2, None):
        yield f"a part that states epsilon {epsilon!r}", edited(tree, ("parts", 1, "epsilon"), epsilon)
    k = tree["parts"][1]["channel"]["options"]
    for other in (k - 1, k + 1):
        favour = largest_favour(exp_floor(Fraction(2)), other - 2, 2)
        channel = {"kind": "subset", "options": other, "size": 2, "favour": favour}
        yield f"{other} options for {k} paths", edited(tree, ("parts", 1, "channel"), channel)


def bad_booklets() -> Iterator[tuple[str, Any]]:
    tree = follow_up()
    booklet, weight = ("booklets", 0, "parts"), ("booklets", 0, "weight")
    for value, comment in (
        ([], "without parts"),
        ([3], "with a part that there is not"),
        ([-1], "with a part before the first"),
        ([0.5], "with half a part"),
        (["0"], "with a part as text"),
        ([True], "with a part true"),
        ([0, 0], "with a part twice"),
        ([0, 1], "with a question twice"),
        ([0, 2], "that spends twice what the survey states"),
        ([2, 0], "with parts in another order"),
        ([0, 1, 2, 0], "with more parts than there are"),
    ):
        yield f"a booklet {comment}", edited(tree, booklet, value)
    for value in (0, -1, 1.5, 10_000, 10_001, "1", True, 9_993, 9_994):
        yield f"a weight of {value!r}", edited(tree, weight, value)
    yield "no booklets", edited(tree, ("booklets",), [])
    yield "a part in no booklet", edited(tree, ("booklets",), tree["booklets"][:2])
    yield "booklets in another order", edited(tree, ("booklets",), [tree["booklets"][n] for n in (1, 0, 2)])
    halves = [{**each, "weight": 2 * each["weight"]} for each in tree["booklets"]]
    yield "weights with a common divisor", edited(tree, ("booklets",), halves)
    yield "a booklet twice", edited(tree, ("booklets",), [*tree["booklets"], {"parts": [0], "weight": 1}])
    without = edited(edited(tree, ("parts",), tree["parts"][:1]), ("booklets",), [{"parts": [0], "weight": 1}])
    yield "a question in no part", without
    tree = options()
    kept = [part for part in tree["parts"] if "support.b" not in part["questions"]]
    booklets = [{"parts": [number], "weight": 1} for number in range(len(kept))]
    yield "an option in no part", edited(edited(tree, ("parts",), kept), ("booklets",), booklets)
    tree = split()
    yield "0.1 + 0.2 within 0.3", edited(tree, ("booklets", 0, "weight"), 2)
    more = edited(tree, ("parts", 1, "epsilon"), "0.2001")
    yield "0.1 + 0.2001 not within 0.3", more
    yield "0.1 + 0.2 not within 0.2999", edited(tree, ("survey", "epsilon"), "0.2999")
    yield "parts that spend too much in the second booklet", edited(tree, ("booklets", 1, "parts"), [1, 2])
    yield from bad_textbooks()


def bad_textbooks() -> Iterator[tuple[str, Any]]:
    """Everybody is asked everything, each question at its own epsilon: one booklet, and nothing else."""
    questions = [{**YES, "epsilon": "1.0"}, {**STRESS, "epsilon": "2.0"}, {**SUPPORT, "epsilon": "1.0"}]
    survey = survey_from_tree({"id": "vector", "title": "Vector", "questions": questions})
    tree = json.loads(publish(survey))
    yield "the textbook's design", tree
    for value, comment in (
        ([{"parts": [0, 1, 2], "weight": 2}], "of weight 2"),
        ([{"parts": [0, 2, 1], "weight": 1}], "in another order"),
        ([{"parts": [0, 1], "weight": 1}], "without a part"),
        ([{"parts": [0, 1, 2], "weight": 1}] * 2, "twice"),
        ([{"parts": [0, 1], "weight": 1}, {"parts": [2], "weight": 1}], "in two"),
    ):
        yield f"the textbook's booklet {comment}", edited(tree, ("booklets",), value)
    yield "the textbook's parts in another order", edited(tree, ("parts",), [tree["parts"][n] for n in (1, 0, 2)])
    yield "two of the textbook's questions in one part", edited(tree, ("parts", 0, "questions"), ["vaped", "stress"])
    yield "an option of the textbook's multi_choice", edited(tree, ("parts", 2, "questions"), ["support.a"])
    yield "the textbook's epsilon written in another way", edited(tree, ("parts", 0, "epsilon"), "1")
    shared = edited(tree, ("survey", "epsilon"), "4.0")
    yield "an epsilon of the survey on top of the questions' own", shared
