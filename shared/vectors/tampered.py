"""The documents of verify.json: published ones, and every way we could think of to tamper with them."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

from deniable_protocol import N, publish, survey_from_tree
from deniable_protocol.checks import document_json, encode

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
    "number-narrow": question("number", min=-1.5, max=2.25, epsilon="4.0"),
    "number-awkward": question("number", min=0.1, max=0.7),
    "number-bins": question("number", min=0, max=100, measure="shares", bins=[18, 30.5, 65], decline=True),
    "number-laplace": question("number", min=0, max=1, mechanism="laplace", epsilon="3.5"),
    "number-gaussian": question("number", min=0, max=1, mechanism="gaussian", delta="0.000001"),
}


def document(*questions: dict[str, Any], segments: Any = None) -> bytes:
    tree = {"id": "vector", "title": "Vector", "questions": list(questions)}
    if segments:
        tree["segments"] = segments
    return publish(survey_from_tree(tree))


def small_document(name: str) -> Any:
    """A document as a tree."""
    return json.loads(document(QUESTIONS[name], segments=SEGMENTS if name == "choice" else None))


CHANNEL = ("parts", 0, "channel")


def channel_of(tree: Any) -> Any:
    return at(tree, CHANNEL)


ORDER = {
    2: [
        *("id", "languages", "title", "asked_by", "contact", "notice", "closing"),
        *("invitations", "epsilon", "together", "segments", "questions"),
    ],
    4: [
        *("id", "type", "text", "epsilon", "decline", "show_if", "options", "labels", "min", "max", "unit", "price"),
        *("measure", "bins", "mechanism", "delta"),
    ],
}
"""Of the keys of a survey and of its questions, by how deep they are in the document."""

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
    """A copy with the place removed, or set to the value; a new key goes where the order of keys has it."""
    result = copy.deepcopy(tree)
    parent = result
    for key in path[:-1]:
        parent = parent[key]
    if value:
        parent[path[-1]] = value[0]
        order = ORDER.get(len(path)) if path[:1] == ("survey",) and isinstance(parent, dict) else None
        if order and path[-1] in order:
            known = [key for key in order if key in parent]
            parent.update({key: parent.pop(key) for key in known})
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
            if "weights" in path and name != "scale-exponential":
                continue  # large, and no different from a small one
            if name != "choice" and path[:3] not in (CHANNEL, ("survey", "questions", 0)):
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
                ("one less than it could be", favour - 1),
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
    epsilon, stated = ("survey", "questions", 0, "epsilon"), ("parts", 0, "epsilon")
    for name in QUESTIONS:
        tree = small_document(name)
        for lower in ("0.01", "0.4999", "0.9999", "1.9999", "3.9999"):
            both = edited(edited(tree, epsilon, lower), stated, lower)
            yield f"{name}: states epsilon {lower} for a channel made for more or less", dump(both)
        yield f"{name}: states more epsilon than it uses", dump(edited(edited(tree, epsilon, "10"), stated, "10"))
        yield f"{name}: the part and the question state different epsilons", dump(edited(tree, stated, "10"))
    weights = (*CHANNEL, "weights")
    tree = small_document("scale-exponential")
    row = at(tree, weights)[0]
    yield "table: a row one short", dump(edited(tree, (*weights, 1, 0), at(tree, weights)[1][0] - 1))
    moved = [row[0] - 1, row[1] + 1, *row[2:]]
    yield "table: one moved from one report to another", dump(edited(tree, (*weights, 0), moved))
    yield "table: a negative weight", dump(edited(tree, (*weights, 0, 0), -1))
    yield "table: ragged", dump(edited(tree, (*weights, 2), [*row, 0]))
    yield "table: an impossible report", dump(edited(tree, weights, [[*r, 0] for r in at(tree, weights)]))
    yield "table: certainty", dump(edited(tree, (*weights, 0), [N - 3, 1, 1, 1]))
    yield "table: rows in another order", dump(edited(tree, weights, at(tree, weights)[::-1]))
    tree = small_document("number-gaussian")
    delta = ("survey", "questions", 0, "delta")
    yield "gaussian: states less delta", dump(edited(tree, delta, "0.0000009"))
    yield "gaussian: states more delta", dump(edited(tree, delta, "0.0000011"))
    table = at(tree, weights)
    yield "gaussian: one moved", dump(edited(tree, (*weights, 4), [table[4][0] + 1, table[4][1] - 1, *table[4][2:]]))
    yield "gaussian: a table that keeps epsilon, but is another", dump(edited(tree, weights, [[2**52, 2**52]] * 9))
    yield "gaussian: a table that names the answer", dump(edited(tree, weights, [[1, 0, N - 1], [0, 1, N - 1]]))
    for name, even in (("yes_no", 2**52), ("scale", None)):
        tree = small_document(name)
        channel = channel_of(tree)
        favour = even or N * channel["size"] // channel["options"]
        yield f"{name}: even odds reveal nothing and are refused", dump(edited(tree, (*CHANNEL, "favour"), favour))
    tree = json.loads(document(QUESTIONS["yes_no"], {**QUESTIONS["yes_no"], "id": "r"}))
    both = edited(tree, (*CHANNEL, "favour"), N - 1)
    yield (
        "the first channel's privacy comes before the second's shape",
        dump(edited(both, ("parts", 1, "channel", "width"), 0)),
    )
    tree = small_document("multi_choice")
    yield (
        "drawn: a part that is a subset",
        dump(edited(tree, (*CHANNEL, "parts", 1), {"kind": "subset", "options": 2, "size": 1, "favour": 2**52})),
    )
    yield "drawn: one part only", dump(edited(tree, (*CHANNEL, "parts"), channel_of(tree)["parts"][:1]))
    part = channel_of(tree)["parts"][0]
    yield "drawn: a part of three levels", dump(edited(tree, (*CHANNEL, "parts", 1), {**part, "levels": 3}))
    yield "drawn: one part too many", dump(edited(tree, (*CHANNEL, "parts"), [part] * 4))
    yield (
        "drawn: the last part too favourable",
        dump(edited(tree, (*CHANNEL, "parts", 2, "favour"), part["favour"] + 1)),
    )
    tree = small_document("choice")
    for k, d in ((4, 1), (6, 2), (5, 0), (5, 5), (52, 1), (1, 1)):
        yield (
            f"subset: {d} of {k} options for a question of five",
            dump(edited(edited(tree, (*CHANNEL, "options"), k), (*CHANNEL, "size"), d)),
        )
    channel = channel_of(tree)
    for other in ("yes_no", "multi_choice", "scale-exponential", "scale-mean"):
        swapped = channel_of(small_document(other))
        yield f"choice with the channel of {other}", dump(edited(tree, CHANNEL, swapped))
        yield f"{other} with the channel of choice", dump(edited(small_document(other), CHANNEL, channel))
    tree = small_document("choice-decline-krr")
    yield "krr of size 2", dump(edited(tree, (*CHANNEL, "size"), 2))
    tree = small_document("number")
    for width in (0, 49, 97):
        yield f"band: width {width} of 49 levels", dump(edited(tree, (*CHANNEL, "width"), width))
    yield "band: 52 levels", dump(edited(tree, (*CHANNEL, "levels"), 52))


def tampered_surveys() -> Iterator[tuple[str, str]]:
    tree = small_document("choice")
    for value in ("A", "a", "-ab", "a" * 64, "a b", "ab\n", "é1"):
        yield "survey id of the wrong form", dump(edited(tree, ("survey", "id"), value))
    for epsilon in (
        "0",
        "0.0099",
        "10.0001",
        "1.00001",
        "1e0",
        "-1",
        "+1",
        " 1",
        "1.",
        ".5",
        "١",
        "NaN",
        "11",
        "100",
        "1",
        "1.00",
        "01.0",
        "1.50",
        "10",
        "10.0",
    ):
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
        (("channels",), {"q": channel_of(tree)}, "channels apart from their parts"),
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
        *((("survey", key), "Two\nlines", f"{key} of two lines") for key in ("asked_by", "contact", "closing")),
        *((("survey", key), 3, f"{key} that is no text") for key in ("asked_by", "contact", "closing")),
        *((("survey", key), "One", f"{key} of one line") for key in ("asked_by", "contact", "closing")),
        (("survey", "questions", 0, "decline"), False, "decline: false is left out"),
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
        ("number", "price", True),
        ("number", "price", False),
        ("number", "price", 1),
        ("scale-mean", "price", True),
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
        ("number-bins", "bins", [0, 18, 30.5, 65]),
        ("number-bins", "bins", [18, 30.5, 65, 100]),
        ("number-bins", "bins", [*range(1, 51)]),
        ("number-bins", "bins", [-1, 50]),
        ("number-bins", "bins", list(range(1, 52))),
        ("number-bins", "bins", list(range(1, 53))),
        ("number-bins", "bins", [0, 18, 30.5, 65, 100]),
        ("number-gaussian", "delta", "0.000000000000"),
        ("number-gaussian", "delta", "0.0000010"),
        ("number-gaussian", "delta", "0.0"),
        ("number-gaussian", "delta", "0.0000000000001"),
        ("number-gaussian", "delta", "0.000100000001"),
        ("number-gaussian", "delta", "0.01"),
        ("number-gaussian", "delta", "1e-6"),
        ("number-gaussian", "delta", 0.000001),
        ("scale", "labels", ["one"]),
        ("scale", "labels", ["x"] * 12),
        ("scale", "labels", ["low", "", "high"]),
        ("scale", "measure", "median"),
        ("scale", "measure", "shares"),
        ("number", "measure", "mean"),
        ("yes_no", "options", OPTIONS),
        ("yes_no", "mechanism", "krr"),
    ):
        yield (
            f"{name} with {key} = {json.dumps(value)[:40]}",
            dump(edited(small_document(name), ("survey", "questions", 0, key), value)),
        )
    priced = edited(small_document("number"), ("survey", "questions", 0, "price"), True)
    yield "a price below 0", dump(edited(priced, ("survey", "questions", 0, "min"), -3))


def tampered_text() -> Iterator[tuple[str, str]]:
    good = dump(small_document("yes_no"))
    favour = f'"favour":{channel_of(small_document("yes_no"))["favour"]}'
    yield "texts in many scripts", good.replace('"?"', '"नमस्ते 😀 <script> né שלום Яндекс 質問？"')
    yield from tampered_writing(good)
    yield from tampered_texts(good)
    yield from (
        ("an integer written as 1.0", good.replace('"deniable":1,', '"deniable":1.0,')),
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
        ("an integer of 5,000 digits", good.replace(favour, '"favour":' + "9" * 5000)),
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
        ("a number as a key, not at the start", good.replace('"levels":2', '"levels":2,"7":1')),
        ("numbers as keys, the larger first", good.replace('"deniable":1,', '"10":1,"9":1,"deniable":1,')),
        ("numbers as keys, the smaller first", good.replace('"deniable":1,', '"9":1,"10":1,"deniable":1,')),
        ("what is no index as a key", good.replace('"levels":2', '"levels":2,"4294967295":1,"01":1')),
        ("constructor as a key", good.replace('"deniable":1,', '"deniable":1,"constructor":1,')),
        ("a bad escape", good.replace('"?"', '"\\x41"')),
        (
            "deep nesting in place of the survey",
            '{"deniable":1,"survey":' + "[" * 500 + "]" * 500 + ',"parts":[],"booklets":[]}',
        ),
    )
    yield "an escaped colon and quote in text are no keys", good.replace('"?"', r'"a\":1,\"b\":2 \\"')
    for count, comment in ((0, "exactly 1,000,000 bytes"), (1, "one byte too many")):
        yield comment, good.replace('"?"', '"' + "x" * (1_000_000 - len(good) + 1 + count) + '"')
    accents = good.replace('"Vector"', '"éééé"')  # bytes count, not characters
    yield "1,000,000 characters in more bytes", accents.replace('"?"', '"' + "x" * (1_000_000 - len(accents) + 1) + '"')


def tampered_writing(good: str) -> Iterator[tuple[str, str]]:
    """The same document, written in another way."""
    number = dump(json.loads(document(question("number", min=0.5, max=2))))
    survey = json.loads(good)["survey"]
    asked = survey["questions"][0]
    yield from (
        ("indented", json.dumps(json.loads(good), indent=2)),
        ("a space after a comma", good.replace(",", ", ", 1)),
        ("a space at the end", good + " "),
        ("a newline at the end", good + "\n"),
        ("a slash that is escaped", good.replace('"?"', '"a\\/b"')),
        ("a letter that is escaped", good.replace('"?"', '"\\u003f"')),
        ("an accent that is escaped", good.replace('"?"', '"\\u00e9"')),
        ("a tabulator that is escaped", good.replace('"?"', '"a\\tb"')),
        ("a control that is escaped as it has to be", good.replace('"?"', '"a\\u0001b"')),
        ("a newline that is escaped, in a question", good.replace('"?"', '"a\\nb"')),
        ("an escaped quote and backslash", good.replace('"?"', '"a\\"b\\\\n"')),
        ("a fraction with a zero more", number.replace("0.5", "0.50")),
        ("a fraction with an exponent", number.replace("0.5", "5e-1")),
        ("an integer with an exponent", number.replace('"max":2', '"max":2e0')),
        ("an integer with a fraction", number.replace('"max":2', '"max":2.0')),
        ("a negative zero", number.replace("0.5", "-0")),
        ("zero", number.replace("0.5", "0")),
        ("a number below a millionth", number.replace("0.5", "1.5e-7")),
        ("the same with a plain exponent of two digits", number.replace("0.5", "1.5e-07")),
        ("the same without an exponent", number.replace("0.5", "0.00000015")),
        ("a number of some millionths", number.replace("0.5", "0.0000025")),
        ("the same with an exponent", number.replace("0.5", "2.5e-6")),
        ("a number with more digits than it has", number.replace("0.5", "0.1000000000000000055")),
        ("the document's keys in another order", _turned(json.loads(good))),
        ("the survey's keys in another order", good.replace(dump(survey), _turned(survey))),
        ("the question's keys in another order", good.replace(dump(asked), _turned(asked))),
        ("type before id", good.replace('"id":"q","type":"yes_no"', '"type":"yes_no","id":"q"')),
        ("the channel's keys in another order", good.replace('"levels":2,"width":1', '"width":1,"levels":2')),
        ("the booklet's keys in another order", good.replace('{"parts":[0],"weight":1}', '{"weight":1,"parts":[0]}')),
    )


def _turned(tree: dict[str, Any]) -> str:
    return dump({key: tree[key] for key in reversed(tree)})


def tampered_texts(good: str) -> Iterator[tuple[str, str]]:
    """Texts that look like others, or can hide something."""
    for code in HIDDEN:
        character = chr(code)
        if 0xD800 <= code < 0xE000:
            continue
        yield f"U+{code:04X} in a text", good.replace('"?"', dump(f"a{character}b"))
    for text, comment in (
        (" a", "a space before"),
        ("a ", "a space after"),
        ("a  b", "two spaces"),
        ("e\u0301", "a letter and its accent apart"),
        ("a\u0323\u0307", "two accents in their order"),
        ("a\u0307\u0323", "two accents in another order"),
        ("\u212b", "a sign that stands for a letter"),
        ("\uac00\u11a8", "a syllable that is not put together"),
        ("\ufffd", "a replacement character, which can be seen"),
    ):
        yield f"text: {comment}", good.replace('"?"', dump(text))
    for text, comment in (
        ("a\nb", "two lines"),
        ("a\n\nb\nc", "two paragraphs"),
        ("a\n\n\nb", "two empty lines"),
        ("a \nb", "a space before a newline"),
        ("a\n b", "a space after a newline"),
        ("\na", "a newline before"),
        ("a\n", "a newline after"),
        ("a\r\nb", "a carriage return"),
        ("a\nb  c", "two spaces in a line"),
    ):
        yield f"notice: {comment}", good.replace('"title":"Vector"', '"title":"Vector","notice":' + dump(text))


HIDDEN = (
    0x00, 0x09, 0x0A, 0x1F, 0x7F, 0x85, 0xA0, 0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x1680, 0x17B4, 0x180B, 0x180E,
    0x180F, 0x2000, 0x200A, 0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x2028, 0x2029, 0x202A, 0x202E, 0x202F,
    0x205F, 0x2060, 0x2065, 0x2066, 0x2069, 0x206F, 0x2800, 0x3000, 0x3164, 0xE000, 0xF8FF,
    0xFDD0, 0xFDEF, 0xFE00, 0xFE0F, 0xFEFF, 0xFFA0, 0xFFF0, 0xFFF9, 0xFFFC, 0xFFFE, 0xFFFF, 0x1BCA0,
    0x1D173, 0x1FFFE, 0x2FFFF, 0xDFFFE, 0xE0001, 0xE0100, 0xE0FFF, 0xF0000, 0x10FFFF,
)  # fmt: skip
"""Some of each kind that no text has."""


def dump(tree: Any) -> str:
    """A tree as documents are written, with its keys in the order that they have here."""
    return encode(document_json(json.dumps(tree))).decode()
