"""Writes the vectors in this folder from the Python implementation:  python shared/vectors/generate.py [FOLDER]

Every client, in whatever language, must give these results. The reference values that tie them to the outside world
(the contract's favour values, exact enumeration of every channel) are pinned by tests, not by these files.
"""

from __future__ import annotations

import copy
import hashlib
import json
import math
import random
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from deniable_protocol import (
    AnswerError,
    Band,
    Channel,
    DocumentError,
    Drawn,
    N,
    Subset,
    Table,
    decode,
    exp_floor,
    largest_favour,
    publish,
    randomize,
    survey_from_tree,
    verify,
)
from deniable_protocol.design import best_size, exponential, gaussian, laplace

HERE = Path(__file__).parent
OPTIONS = [{"code": code, "text": code.upper()} for code in "abcde"]
SEGMENTS = [{"id": "campus", "text": "Campus?", "options": [{"code": c, "text": c} for c in ("north", "south")]}]


def question(kind: str, **keys: Any) -> dict[str, Any]:
    return {"id": "q", "type": kind, "text": "?", "epsilon": "1.0", **keys}


QUESTIONS: dict[str, dict[str, Any]] = {
    "yes_no": question("yes_no"),
    "yes_no-decline": question("yes_no", decline=True),
    "choice": question("choice", options=OPTIONS),
    "choice-decline-krr": question("choice", options=OPTIONS[:3], decline=True, mechanism="krr"),
    "choice-50": question("choice", options=[{"code": f"o{i}", "text": "x"} for i in range(50)], decline=True),
    "multi_choice": question("multi_choice", options=OPTIONS[:3]),
    "scale": question("scale", labels=["low", "mid", "high"], epsilon="0.5"),
    "scale-mean": question("scale", labels=["1", "2", "3", "4", "5"], measure="mean", epsilon="2.0"),
    "scale-exponential": question("scale", labels=["1", "2", "3", "4"], mechanism="exponential"),
    "number": question("number", min=0, max=40, unit="drinks"),
    "number-17": question("number", min=-1.5, max=2.25, epsilon="4.0"),
    "number-awkward": question("number", min=0.1, max=0.7),
    "number-bins": question("number", min=0, max=100, measure="shares", bins=[18, 30.5, 65], decline=True),
    "number-laplace": question("number", min=0, max=1, mechanism="laplace", epsilon="9.5"),
    "number-gaussian": question("number", min=0, max=1, mechanism="gaussian", delta="0.000001", epsilon="4.0"),
}


def document(*questions: dict[str, Any], segments: Any = None) -> bytes:
    tree = {"id": "vector", "title": "Vector", "questions": list(questions)}
    if segments:
        tree["segments"] = segments
    return publish(survey_from_tree(tree))


def small_document(name: str) -> Any:
    """A document as a tree. Tables are replaced by small ones that also keep their epsilon, to keep files short."""
    tree = json.loads(document(QUESTIONS[name], segments=SEGMENTS if name == "choice" else None))
    if name == "number-laplace":
        tree["channels"]["q"]["weights"] = [[N - 10**12, 10**12], [10**12, N - 10**12]]
    if name == "number-gaussian":
        tree["channels"]["q"]["weights"] = [[2**52, 2**52, 0], [2**52, 2**52 - 2**30, 2**30]]
    return tree


def write(name: str, folder: Path, notes: str, tests: list[dict[str, Any]], **more: Any) -> None:
    lines = ",\n".join(json.dumps(test, ensure_ascii=True, separators=(",", ":")) for test in tests)
    head = json.dumps({"vectors": name, "version": 1, "notes": notes, **more}, ensure_ascii=True, indent=1)[:-2]
    (folder / f"{name}.json").write_text(f'{head},\n "tests": [\n{lines}\n]}}\n', encoding="ascii")


def numbered(tests: Iterator[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"id": i, **test} for i, test in enumerate(tests, start=1)]


# --- favour ------------------------------------------------------------------------------------------------------


def favour_tests() -> Iterator[dict[str, Any]]:
    for hundredths in range(1, 1001):
        epsilon = f"{hundredths / 100:.2f}"
        exp_epsilon = exp_floor(Fraction(epsilon))
        sizes = [best_size(k, exp_epsilon) for k in range(2, 52)]
        widths = [1 + hundredths % (m - 1) for m in range(2, 18)]
        yield {
            "epsilon": epsilon,
            "subset": [[d, largest_favour(exp_epsilon, k - d, d)] for k, d in enumerate(sizes, start=2)],
            "band": [[w, largest_favour(exp_epsilon, m - 1, w)] for m, w in enumerate(widths, start=2)],
        }


# --- verification ------------------------------------------------------------------------------------------------

WRONG = (None, True, "text", 7, 0.5, [], {}, -1, 10**15, "", [[]])


def places(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every key and index below the root; long lists by their first two entries."""
    items = (
        list(tree.items()) if isinstance(tree, dict) else list(enumerate(tree))[:2] if isinstance(tree, list) else []
    )
    for key, value in items:
        yield (*path, key)
        yield from places(value, (*path, key))


def edited(tree: Any, path: tuple[Any, ...], *value: Any) -> Any:
    """A copy with the place removed, or set to the value."""
    result = copy.deepcopy(tree)
    parent = result
    for key in path[:-1]:
        parent = parent[key]
    if value:
        parent[path[-1]] = value[0]
    else:
        del parent[path[-1]]
    return result


def at(tree: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        tree = tree[key]
    return tree


def tampered() -> Iterator[tuple[str, str]]:
    """(comment, document text) of documents good and bad."""
    turn = 0
    for name in QUESTIONS:
        tree = small_document(name)
        yield f"{name}: as published", dump(tree)
        for path in places(tree):
            if name != "choice" and path[0] != "channels" and path[:3] != ("survey", "questions", 0):
                continue  # the parts that all documents share are tampered with once
            where = ".".join(map(str, path))
            yield f"{name}: without {where}", dump(edited(tree, path))
            turn += 1
            yield f"{name}: {where} of another type", dump(edited(tree, path, WRONG[turn % len(WRONG)]))
            if isinstance(at(tree, path), dict):
                yield f"{name}: unknown key in {where}", dump(edited(tree, (*path, "extra"), 1))
        for path in [p for p in places(tree) if p[-1] == "favour"]:
            favour = at(tree, path)
            for label, value in (
                ("one more than epsilon allows", favour + 1),
                ("one less than it could be, which is allowed", favour - 1),
                ("a thousandth more", favour + favour // 1000),
                ("certainty", N - 1),
                ("all of N", N),
                ("zero: tells what the answer is not", 0),
                ("one: tells what the answer is not", 1),
                ("negative", -favour),
                ("a fraction", 0.5),
            ):
                yield f"{name}: favour {label}", dump(edited(tree, path, value))
    yield from tampered_privacy()
    yield from tampered_surveys()
    yield from tampered_text()


def tampered_privacy() -> Iterator[tuple[str, str]]:
    epsilon = ("survey", "questions", 0, "epsilon")
    for name in QUESTIONS:
        tree = small_document(name)
        for lower in ("0.01", "0.4999", "0.9999", "1.9999", "3.9999"):
            yield (
                f"{name}: states epsilon {lower} for a channel made for more or less",
                dump(edited(tree, epsilon, lower)),
            )
        if at(tree, epsilon) != "10":
            yield f"{name}: states more epsilon than it uses", dump(edited(tree, epsilon, "10"))
    weights = ("channels", "q", "weights")
    tree = small_document("scale-exponential")
    row = at(tree, weights)[0]
    yield "table: a row one short", dump(edited(tree, (*weights, 1, 0), at(tree, weights)[1][0] - 1))
    yield "table: a row one over", dump(edited(tree, (*weights, 3, 3), at(tree, weights)[3][3] + 1))
    yield "table: a negative weight", dump(edited(tree, (*weights, 0, 0), -1))
    yield "table: ragged", dump(edited(tree, (*weights, 2), [*row, 0]))
    yield "table: an impossible report", dump(edited(tree, weights, [[*r, 0] for r in at(tree, weights)]))
    yield "table: certainty", dump(edited(tree, (*weights, 0), [N - 3, 1, 1, 1]))
    yield "table: a zero for one answer only", dump(edited(tree, (*weights, 0), [row[0] + row[3], row[1], row[2], 0]))
    e1 = exp_floor(Fraction(1))
    for shift, label in ((0, "just kept"), (1, "just broken")):
        low = (N << 256) // (e1 + (1 << 256)) + 1 - shift
        two = {"labels": ["no", "yes"], "mechanism": "exponential"}
        tree = json.loads(document(question("scale", **two)))
        yield f"table: epsilon {label}", dump(edited(tree, weights, [[N - low, low], [low, N - low]]))
    tree = small_document("number-gaussian")
    for path_value, label in (("0.000000001", "far less"), ("0.01", "more")):
        yield f"gaussian: states {label} delta", dump(edited(tree, ("survey", "questions", 0, "delta"), path_value))
    # Report 2 is impossible for the first answer: its weight under the second is all excess. 10^-9 * 2^53 = 9007199.25
    for extra, label in ((9007199, "just kept"), (9007200, "just broken")):
        kept = edited(tree, ("survey", "questions", 0, "delta"), "0.000000001")
        yield (
            f"gaussian: delta {label}",
            dump(edited(kept, weights, [[2**52, 2**52, 0], [2**52, 2**52 - extra, extra]])),
        )
    yield (
        "gaussian: delta broken between rows that are not neighbours",
        dump(edited(tree, weights, [[2**52, 2**52, 0], [2**52, 2**52 - 2**33, 2**33], [2**52, 2**52 - 2**34, 2**34]])),
    )
    yield "gaussian: a weight of N", dump(edited(tree, weights, [[N, 0], [2**52, 2**52]]))
    yield "gaussian: 18 rows", dump(edited(tree, weights, [[2**52, 2**52]] * 18))
    yield "gaussian: 17 rows, all alike, keep any epsilon", dump(edited(tree, weights, [[2**52, 2**52]] * 17))
    for columns in (1, 1024, 1025):
        row = [N - 2**20 * (columns - 1), *[2**20] * (columns - 1)]
        yield f"gaussian: {columns} columns", dump(edited(tree, weights, [row] * 2))
    for name, even in (("yes_no", 2**52), ("scale", None)):
        tree = small_document(name)
        channel = tree["channels"]["q"]
        favour = even or N * channel["size"] // channel["options"]
        yield f"{name}: even odds tell nothing and are refused", dump(edited(tree, ("channels", "q", "favour"), favour))
    tree = json.loads(document(QUESTIONS["yes_no"], {**QUESTIONS["yes_no"], "id": "r"}))
    both = edited(tree, ("channels", "q", "favour"), N - 1)
    yield (
        "the first channel's privacy comes before the second's shape",
        dump(edited(both, ("channels", "r", "width"), 0)),
    )
    tree = small_document("multi_choice")
    yield (
        "drawn: a part that is a subset",
        dump(edited(tree, ("channels", "q", "parts", 1), {"kind": "subset", "options": 2, "size": 1, "favour": 2**52})),
    )
    yield "drawn: one part only", dump(edited(tree, ("channels", "q", "parts"), tree["channels"]["q"]["parts"][:1]))
    part = tree["channels"]["q"]["parts"][0]
    yield "drawn: a part of three levels", dump(edited(tree, ("channels", "q", "parts", 1), {**part, "levels": 3}))
    yield "drawn: one part too many", dump(edited(tree, ("channels", "q", "parts"), [part] * 4))
    yield (
        "drawn: the last part too favourable",
        dump(edited(tree, ("channels", "q", "parts", 2, "favour"), part["favour"] + 1)),
    )
    tree = small_document("choice")
    for k, d in ((4, 1), (6, 2), (5, 0), (5, 5), (52, 1), (1, 1)):
        yield (
            f"subset: {d} of {k} options for a question of five",
            dump(edited(edited(tree, ("channels", "q", "options"), k), ("channels", "q", "size"), d)),
        )
    channel = tree["channels"]["q"]
    for other in ("yes_no", "multi_choice", "scale-exponential", "scale-mean"):
        swapped = small_document(other)["channels"]["q"]
        yield f"choice with the channel of {other}", dump(edited(tree, ("channels", "q"), swapped))
        yield f"{other} with the channel of choice", dump(edited(small_document(other), ("channels", "q"), channel))
    tree = small_document("choice-decline-krr")
    yield "krr of size 2", dump(edited(tree, ("channels", "q", "size"), 2))
    tree = small_document("number")
    for width in (0, 9, 17):
        yield f"band: width {width} of 9 levels", dump(edited(tree, ("channels", "q", "width"), width))
    yield "band: 18 levels", dump(edited(tree, ("channels", "q", "levels"), 18))


def tampered_surveys() -> Iterator[tuple[str, str]]:
    tree = small_document("choice")
    for value in ("A", "a", "-ab", "a" * 64, "a b", "ab\n", "é1"):
        yield "survey id of the wrong form", dump(edited(tree, ("survey", "id"), value))
    for epsilon in ("0", "0.0099", "10.0001", "1.00001", "1e0", "-1", "+1", " 1", "1.", ".5", "١", "NaN", "11", "100"):
        yield "epsilon of the wrong form or size", dump(edited(tree, ("survey", "questions", 0, "epsilon"), epsilon))
    for path, value, comment in (
        (("survey", "questions", 0, "options", 1, "code"), "a", "two options with one code"),
        (("survey", "questions", 0, "options", 1, "code"), "declined", "an option with the reserved code"),
        (("survey", "questions", 0, "options", 1, "code"), "a:b", "a code with a colon"),
        (("survey", "questions", 0, "options"), OPTIONS[:1], "one option"),
        (("survey", "questions", 0, "options"), [{"code": f"x{i}", "text": "x"} for i in range(51)], "51 options"),
        (("survey", "questions", 0, "mechanism"), "laplace", "laplace for a choice"),
        (("survey", "questions", 0, "labels"), ["a", "b"], "labels for a choice"),
        (("survey", "questions"), [], "no questions"),
        (("survey", "questions"), [QUESTIONS["choice"]] * 2, "one question id twice"),
        (("survey", "questions"), [{**QUESTIONS["choice"], "id": "campus"}], "a question named like a segment"),
        (("survey", "segments"), SEGMENTS * 11, "eleven segments"),
        (("channels", "p"), tree["channels"]["q"], "a channel for no question"),
        (("survey", "questions"), [{**QUESTIONS["choice"], "id": f"q{i}"} for i in range(201)], "201 questions"),
        (
            ("survey", "segments", 0, "options"),
            [{"code": f"x{i}", "text": "x"} for i in range(200)],
            "200 segment codes",
        ),
        (
            ("survey", "segments", 0, "options"),
            [{"code": f"x{i}", "text": "x"} for i in range(201)],
            "201 segment codes",
        ),
        (("survey", "segments"), [], "an empty list of segments"),
        (("survey", "notice"), "", "an empty notice"),
        (("survey", "notice"), 1, "a notice that is no text"),
        (("survey", "notice"), "Why we ask.", "a notice"),
        (("survey", "questions", 0, "decline"), False, "decline: false is as if left out"),
        (
            ("survey", "questions", 0, "options", 1),
            {"code": "a", "text": ""},
            "a code used twice comes before its text",
        ),
        (("deniable",), 2, "version 2"),
        (("deniable",), True, "version true"),
        (("deniable",), "1", "version as text"),
    ):
        yield comment, dump(edited(tree, path, value))
    for name, key, value in (
        ("multi_choice", "decline", True),
        ("scale-mean", "decline", True),
        ("scale-exponential", "decline", True),
        ("number", "decline", True),
        ("number", "bins", [1, 2]),
        ("number", "delta", "0.000001"),
        ("multi_choice", "decline", False),
        ("scale-mean", "mechanism", "krr"),
        ("scale-exponential", "measure", "mean"),
        ("scale-exponential", "measure", "shares"),
        ("number", "unit", ""),
        ("number", "unit", 3),
        ("number", "min", -(2**53)),
        ("number", "max", 2**53),
        ("number", "max", 2**53 - 1),
        ("number-bins", "bins", []),
        ("number", "max", 0),
        ("number", "max", -1),
        ("number-bins", "mechanism", "laplace"),
        ("number-bins", "bins", [18, 18, 65]),
        ("number-bins", "bins", [65, 18]),
        ("number-bins", "bins", [0, 100]),
        ("number-bins", "bins", [-1, 50]),
        ("number-bins", "bins", list(range(1, 52))),
        ("number-bins", "bins", list(range(1, 53))),
        ("number-bins", "bins", [0, 18, 30.5, 65, 100]),
        ("number-gaussian", "delta", "0.000000000000"),
        ("number-gaussian", "delta", "0.011"),
        ("number-gaussian", "delta", "1e-6"),
        ("number-gaussian", "delta", 0.000001),
        ("scale", "labels", ["one"]),
        ("scale", "labels", ["x"] * 12),
        ("scale", "labels", ["low", "", "high"]),
        ("scale", "measure", "median"),
        ("yes_no", "options", OPTIONS),
        ("yes_no", "mechanism", "krr"),
    ):
        yield (
            f"{name} with {key} = {json.dumps(value)[:40]}",
            dump(edited(small_document(name), ("survey", "questions", 0, key), value)),
        )


def tampered_text() -> Iterator[tuple[str, str]]:
    good = dump(small_document("yes_no"))
    favour = good[good.index('"favour":') : good.rindex("}}}")]
    yield "white space is allowed", json.dumps(json.loads(good), indent=2)
    yield "an integer written as 1.0 is the same number", good.replace('"deniable":1,', '"deniable":1.0,')
    yield "texts in many scripts", good.replace('"?"', json.dumps("नमस्ते \u2028 😀 <script>", ensure_ascii=False))
    yield from (
        ("empty", ""),
        ("white space", " \n"),
        ("null", "null"),
        ("a list", "[]"),
        ("a number", "1"),
        ("cut short", good[:-1]),
        ("something after the end", good + "x"),
        ("two documents", good + good),
        ("a byte order mark", "\ufeff" + good),
        ("single quotes", good.replace('"', "'")),
        ("a trailing comma", good[:-1] + ",}"),
        ("a comment", "/* */" + good),
        ("NaN", good.replace(favour, '"favour":NaN')),
        ("Infinity", good.replace(favour, '"favour":Infinity')),
        ("a number beyond all doubles", good.replace(favour, '"favour":1e400')),
        ("2^53 + 1", good.replace(favour, '"favour":9007199254740993')),
        ("a huge integer", good.replace(favour, '"favour":' + "9" * 400)),
        ("a leading zero", good.replace(favour, favour.replace(":", ":0"))),
        ("favour twice, the good one last", good.replace(favour, '"favour":1,' + favour)),
        ("favour twice, the good one first", good.replace(favour, favour + ',"favour":9007199254740990')),
        ("favour twice, once escaped", good.replace(favour, favour + ',"f\\u0061vour":9007199254740990')),
        ("deniable twice", good.replace('"deniable":1,', '"deniable":1,"deniable":1,')),
        ("a lone surrogate, escaped", good.replace('"?"', '"\\ud800"')),
        ("a lone low surrogate, escaped", good.replace('"?"', '"\\udc00x"')),
        ("a lone surrogate in a key", good.replace('"deniable":1,', '"deniable":1,"\\ud800":1,')),
        ("a raw control character", good.replace('"?"', '"\x01"')),
        ("a raw line break in text", good.replace('"?"', '"a\nb"')),
        ("__proto__ as a key", good.replace('"deniable":1,', '"deniable":1,"__proto__":{},')),
        ("constructor as a key", good.replace('"deniable":1,', '"deniable":1,"constructor":1,')),
        ("a bad escape", good.replace('"?"', '"\\x41"')),
        ("deep nesting in place of the survey", '{"deniable":1,"survey":' + "[" * 500 + "]" * 500 + ',"channels":{}}'),
    )
    yield "an escaped colon and quote in text are no keys", good.replace('"?"', r'"a\":1,\"b\":2 \\"')
    for count, comment in ((0, "exactly 1,000,000 bytes"), (1, "one byte too many")):
        yield comment, good.replace('"?"', '"' + "x" * (1_000_000 - len(good) + 1 + count) + '"')
    accents = good.replace('"Vector"', '"éééé"')  # bytes count, not characters
    yield "1,000,000 characters in more bytes", accents.replace('"?"', '"' + "x" * (1_000_000 - len(accents) + 1) + '"')


def dump(tree: Any) -> str:
    return json.dumps(tree, ensure_ascii=False, separators=(",", ":"))


def verify_tests() -> Iterator[dict[str, Any]]:
    seen = set()
    for comment, text in tampered():
        if text in seen:
            continue
        seen.add(text)
        test: dict[str, Any] = {"comment": comment, "document": text}
        if len(text) > 900_000:
            test["repeat"] = text.count("x") - 1  # one x is that of "text"
            test["document"] = text.replace("x" * test["repeat"], "x")
        try:
            verify(text)
            yield {**test, "result": "valid"}
        except DocumentError as error:
            yield {**test, "result": "invalid", "reason": error.reason, "place": error.place}


# --- randomisation -----------------------------------------------------------------------------------------------

ANSWERS: dict[str, list[Any]] = {
    "yes_no": [True, False],
    "yes_no-decline": [True, False, "declined"],
    "choice": ["a", "c", "e"],
    "choice-decline-krr": ["a", "c", "declined"],
    "choice-50": ["o0", "o24", "o49", "declined"],
    "multi_choice": [[], ["b"], ["c", "a"], ["a", "b", "c"]],
    "scale": [1, 2, 3],
    "scale-mean": [1, 3, 5],
    "scale-exponential": [1, 2, 4],
    "number": [0, 0.1, 2.5, 17, 33.333333333333336, 39.99999999999999, 40],
    "number-17": [-1.5, 0, 0.1, 2.25],
    "number-awkward": [0.1, 0.2, 0.3, 0.49999999999999994, 0.6, 0.7],
    "number-bins": [0, 17.999999999999996, 18, 30.5, 64, 100, "declined"],
    "number-laplace": [0, 0.5, 1],
    "number-gaussian": [0, 0.25, 1],
}
ROUNDED = ("number", "number-17", "number-awkward")
BAD_ANSWERS: dict[str, list[Any]] = {
    "yes_no": [0, 1, "yes", "declined", None, [], {}, 1.5],
    "yes_no-decline": ["no", "Declined", 2, None],
    "choice": ["z", "", "A", "declined", 0, None, ["a"], True],
    "multi_choice": ["a", ["z"], ["a", "a"], [1], None, {}, {"a": True}, [None], True],
    "scale": [0, 4, 1.5, -1, "1", True, None, "declined", 1e300],
    "number": [-0.001, 40.000001, "3", True, None, [], 1e308, -1e308],
    "number-bins": [-1, 101, "0", False, None],
}


def scripts(name: str, generator: random.Random) -> list[bytes]:
    """Streams of random bytes: extremes, just below and at the favour, rejected words, and plain noise."""
    channel = json.loads(document(QUESTIONS[name]))["channels"]["q"]
    favour = channel.get("favour") or channel.get("parts", [{}])[0].get("favour") or channel["weights"][0][0]
    noise = [generator.randbytes(400) for _ in range(6)]
    words = (0, favour - 1, favour, N - 1)
    edges = [noise[0][:16] + (word << 11 | 0x7FF).to_bytes(8, "big") + noise[1] for word in words]
    shifted = [noise[0][:24] + (word << 11).to_bytes(8, "big") + noise[2] for word in words[1:3]]
    rejected = noise[3][:24] + b"\xff" * 16 + noise[4]
    return [b"\0" * 400, *edges, *shifted, rejected, *noise]


def rounding_scripts(name: str, answer: Any, generator: random.Random) -> list[bytes]:
    """The last rounding word that rounds up and the first that does not: they pin the arithmetic in doubles."""
    keys = QUESTIONS[name]
    levels = 17 if float(keys["epsilon"]) >= 4 else 9
    position = (answer - keys["min"]) / (keys["max"] - keys["min"]) * (levels - 1)
    first_down = math.ceil((position - math.floor(position)) * N)
    words = [word for word in (first_down - 1, first_down) if 0 <= word < N]
    return [generator.randbytes(16) + (word << 11).to_bytes(8, "big") + generator.randbytes(400) for word in words]


def randomize_tests() -> Iterator[dict[str, Any]]:
    generator = random.Random("deniable vectors")
    for name in QUESTIONS:
        text = document(QUESTIONS[name], segments=SEGMENTS if name == "choice" else None)
        segments = {"campus": "south"} if name == "choice" else {}
        for answer in ANSWERS[name]:
            extra = rounding_scripts(name, answer, generator) if name in ROUNDED else []
            for script in [*scripts(name, generator), *extra]:
                yield from randomized(name, text, {"q": answer}, segments, script)
    several = [{**QUESTIONS[name], "id": f"q{i}"} for i, name in enumerate(QUESTIONS)]
    text = document(*several, segments=SEGMENTS)
    for turn in range(10):
        answers = {f"q{i}": ANSWERS[name][turn % len(ANSWERS[name])] for i, name in enumerate(QUESTIONS)}
        yield from randomized("every question", text, answers, {"campus": "north"}, generator.randbytes(2000))
    for name, bad in BAD_ANSWERS.items():
        text = document(QUESTIONS[name])
        for answer in bad:
            yield from randomized(f"{name}: refused", text, {"q": answer}, {}, b"")
    text = document(QUESTIONS["yes_no"], segments=SEGMENTS)
    for answers, segments in (
        ({}, {"campus": "north"}),
        ({"q": True}, {}),
        ({"q": True}, {"campus": "east"}),
        ({"q": True}, {"campus": True}),
        ({"q": True, "p": 1}, {"campus": "north"}),
        ({"q": True}, {"campus": "north", "age": "old"}),
        ({"q": True, "campus": "north"}, {}),
        ({"q": True, "p": 1}, {"campus": "north", "age": "old"}),
        ({"q": 1}, {"campus": "east"}),
        ({"q": True, "constructor": 1}, {"campus": "north"}),
    ):
        yield from randomized("refused", text, answers, segments, b"")


DOCUMENTS: dict[str, str] = {}


def randomized(
    comment: str, text: bytes, answers: dict[str, Any], segments: dict[str, str], script: bytes
) -> Iterator[dict[str, Any]]:
    key = f"d{len(DOCUMENTS) + 1}"
    key = next((known for known, value in DOCUMENTS.items() if value == text.decode()), key)
    DOCUMENTS[key] = text.decode()
    stream = Script(script)
    test = {"comment": comment, "document": key, "answers": answers, "segments": segments}
    try:
        submission = randomize(text, answers, segments, read=stream)
        used = script[: stream.used]
        yield {**test, "bytes": used.hex(), "result": "valid", "submission": submission}
    except AnswerError as error:
        yield {**test, "bytes": "", "result": "invalid", "reason": error.reason, "place": error.place}


class Script:
    """A source that plays back bytes and knows how many were used."""

    def __init__(self, script: bytes) -> None:
        self.script, self.used = script, 0

    def __call__(self, n: int) -> bytes:
        self.used += n
        assert self.used <= len(self.script), "the script is too short"
        return self.script[self.used - n : self.used]


# --- decoding and digests ----------------------------------------------------------------------------------------


def decode_tests() -> Iterator[dict[str, Any]]:
    from deniable_protocol.design import band, subset

    one, half, four = Fraction(1), Fraction(1, 2), Fraction(4)
    bit = band(2, one)
    channels: list[Channel] = [
        bit,
        band(5, half),
        band(9, one),
        band(17, four),
        Band(3, 2, 6584790284608188),
        subset(2, one),
        subset(3, one),
        subset(10, one),
        subset(51, Fraction(1, 100)),
        subset(51, Fraction(10)),
        Subset(6, 5, 8000000000000000),
        Drawn((bit, band(2, four), band(2, half))),
        exponential(2, one),
        exponential(5, Fraction(2)),
        Table(((N - 5, 3, 2), (1, N - 2, 1))),
        laplace(9, Fraction(10)),
        gaussian(9, four, Fraction("0.000001")),
    ]
    for channel in channels:
        tree = json.loads(_encode(channel))
        if isinstance(channel, Subset) and channel.options > 12:
            reports = [(1 << channel.size) - 1, ((1 << channel.size) - 1) << (channel.options - channel.size)]
        else:
            every = list(channel.reports())
            reports = every if len(every) <= 30 else every[:: len(every) // 3]
        for report in reports:
            yield {
                "channel": tree,
                "report": report,
                "z": [f"{z.numerator}/{z.denominator}" for z in decode(channel, report)],
            }


def _encode(channel: Channel) -> bytes:
    import msgspec

    return msgspec.json.encode(channel)


def digest_tests() -> Iterator[dict[str, Any]]:
    for name in QUESTIONS:
        text = dump(small_document(name))
        yield {"comment": name, "document": text, "digest": hashlib.sha256(text.encode()).hexdigest()}
    spaced = json.dumps(small_document("yes_no"), indent=2)
    foreign = dump(small_document("yes_no")).replace('"?"', '"नमस्ते 😀 \u2028"')
    for comment, text in (("white space counts", spaced), ("UTF-8 outside ASCII", foreign)):
        yield {"comment": comment, "document": text, "digest": hashlib.sha256(text.encode()).hexdigest()}


def main(folder: Path = HERE) -> None:
    DOCUMENTS.clear()
    write(
        "favour",
        folder,
        "Per epsilon, [size, favour] of the subset channels of 2 to 51 options, and [width, favour] of bands of 2 to 17"
        " levels. Each favour is the largest that keeps epsilon; one more must be refused.",
        numbered(favour_tests()),
    )
    write(
        "verify",
        folder,
        "Published documents: 'valid' ones are accepted, 'invalid' ones refused with this reason at this place."
        " Where 'repeat' is given, the text \"x\" in the document stands for a text of that many letters x.",
        numbered(verify_tests()),
    )
    tests = numbered(randomize_tests())
    write(
        "randomize",
        folder,
        "With these bytes (hex) from the random source, these answers give this submission, and every byte is used."
        " 'document' names an entry of 'documents'. 'invalid' answers are refused before the source is read.",
        tests,
        documents=DOCUMENTS,
    )
    write("decode", folder, "The unbiased vector z of a report, as exact fractions.", numbered(decode_tests()))
    write("digest", folder, "The SHA-256 of valid documents, as the client computes it.", numbered(digest_tests()))


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:2]))
