"""The tests of randomize.json and submission.json: what is drawn from given bytes, and what a server accepts."""

from __future__ import annotations

import hashlib
import json
import math
import random
from collections.abc import Callable, Iterator
from typing import Any

from booklets import DOCUMENTS as BOOKLETS
from invitations import invited_document
from tampered import QUESTIONS, SEGMENTS, document, dump
from tokens import OTHER, SECOND, TOKEN, finished_by

from deniable_protocol import AnswerError, N, TokenError, randomize, verify
from deniable_protocol.blind_signatures import Token, submission_id, to_text
from deniable_protocol.checks import Checker
from deniable_protocol.design import LEVELS
from deniable_protocol.receive import check_submission

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
    "number-narrow": [-1.5, 0, 0.1, 2.25],
    "number-awkward": [0.1, 0.2, 0.3, 0.49999999999999994, 0.6, 0.7],
    "number-bins": [0, 17.999999999999996, 18, 30.5, 64, 100, "declined"],
    "number-laplace": [0, 0.5, 1],
    "number-gaussian": [0, 0.25, 1],
}
ROUNDED = ("number", "number-narrow", "number-awkward")
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
    channel = json.loads(document(QUESTIONS[name]))["parts"][0]["channel"]
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
    position = (answer - keys["min"]) / (keys["max"] - keys["min"]) * (LEVELS - 1)
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


FULL: dict[str, list[dict[str, Any]]] = {
    "a follow-up": [
        {"vaped": vaped, "often": often, "stress": stress}
        for vaped, often, stress in ((True, "a", 1), (True, "c", 3), (False, "b", 2), (False, 17, 3))
    ],
    "a chain of follow-ups": [
        {"vaped": True, "often": "b", "stress": 1},
        {"vaped": True, "often": "a", "stress": "hidden"},
        {"vaped": False, "often": "b", "stress": 2},
        {"vaped": "declined", "often": "declined", "stress": 3},
        {"vaped": True, "often": "c"},
        {"vaped": False},
    ],
    "several follow-ups": [
        {"income": 20, "vaped": True},
        {"income": 0, "stress": 1, "often": "c"},
        {"income": 17.9, "stress": 2, "often": "a", "vaped": False},
        {"income": "declined", "vaped": False, "stress": 1, "often": "b"},
        {"income": 100, "vaped": None, "stress": None, "often": None},
    ],
    "options of a multi_choice": [
        {"vaped": True, "support": []},
        {"vaped": False, "support": ["a"]},
        {"vaped": True, "support": ["c", "b"]},
        {"vaped": False, "support": ["a", "b", "c"]},
    ],
    "a multi_choice before and after": [
        {"vaped": False},
        {"vaped": True, "support": ["b"], "stress": True},
        {"vaped": True, "support": ["c"], "stress": 2},
        {"vaped": True, "support": ["a", "b", "c"], "stress": 3},
        {"vaped": False, "support": ["a"], "stress": 1},
    ],
    "parts that share an epsilon": [
        {"vaped": True, "often": "b", "stress": 1, "support": ["a"]},
        {"vaped": False, "stress": 3, "support": ["b", "c"]},
    ],
    "mechanisms": [
        {"noisy": 0.25, "drinks": 17, "krr": "c", "vaped": True},
        {"noisy": 1, "drinks": 0.1, "krr": "e", "vaped": False},
    ],
    "51 paths": [{"stress": 1, "age": 0}, {"stress": 3, "age": 17}, {"stress": 2, "age": 8.5}],
    "awkward bins": [{"dose": 0, "vaped": True}, {"dose": 5e-8, "vaped": False}, {"dose": 1e-7, "vaped": False}],
    "awkward names": [
        {"constructor": ["a.b"], "valueof": "a"},
        {"constructor": ["a"], "valueof": "c"},
        {"constructor": ["toString", "a"], "valueof": "b"},
    ],
}
"""Answers to all questions; what is not shown may be anything, or missing."""


def booklet_scripts(weights: list[int], generator: random.Random) -> Iterator[bytes]:
    """Streams in which the first and the last word of each booklet, and a word that is thrown away, come first."""
    total, start = sum(weights), 0
    if len(weights) == 1:
        yield from (generator.randbytes(400) for _ in range(3))
        return
    for weight in weights:
        for word in {start: 0, start + weight - 1: 0}:
            turned = word + total * generator.randrange(N // total)  # the same booklet from a word as large as any
            yield (turned << 11 | 0x7FF).to_bytes(8, "big") + generator.randbytes(400)
        start += weight
    if N % total:
        yield b"\xff" * 8 + generator.randbytes(408)


def booklet_tests() -> Iterator[dict[str, Any]]:
    generator = random.Random("deniable booklets")
    for name, made in BOOKLETS.items():
        tree = made()
        text, segments = dump(tree).encode(), {"campus": "south"} if "segments" in tree["survey"] else {}
        for answers in FULL[name]:
            for script in booklet_scripts([booklet["weight"] for booklet in tree["booklets"]], generator):
                yield from randomized(name, text, answers, segments, script)
            for booklet, parts in enumerate(entry["parts"] for entry in tree["booklets"]):
                asked = {name.partition(".")[0] for part in parts for name in tree["parts"][part]["questions"]}
                own = {question: answer for question, answer in answers.items() if question in asked}
                script = generator.randbytes(400)
                yield from randomized(f"{name}: its own questions only", text, own, segments, script, booklet)
    yield from refused_answers()
    invited, script = dump(invited_document()).encode(), bytes(range(1, 101))
    for token in (TOKEN, SECOND[1]):
        yield from randomized("with a token", invited, {"q": True}, {}, script, 0, token)
    yield from randomized("without the token that it needs", invited, {"q": True}, {}, script, 0)
    text = document(QUESTIONS["yes_no"])
    yield from randomized("with a token that it does not take", text, {"q": True}, {}, script, 0, TOKEN)


def refused_answers() -> Iterator[dict[str, Any]]:
    """With a booklet given, so that nothing is drawn before the answers are refused."""
    for name, booklet, answers in (
        ("a follow-up", 0, {}),
        ("a follow-up", 0, {"vaped": True}),
        ("a follow-up", 0, {"often": "a"}),
        ("a follow-up", 0, {"vaped": 1, "often": "a"}),
        ("a follow-up", 0, {"vaped": True, "often": "z"}),
        ("a follow-up", 0, {"vaped": True, "often": "declined"}),
        ("a follow-up", 1, {"vaped": False, "often": "z"}),
        ("a follow-up", 1, {"vaped": "yes", "often": "z", "stress": 4}),
        ("a follow-up", 2, {"vaped": True, "often": "a"}),
        ("a follow-up", 2, {"stress": 1, "extra": 1}),
        ("a follow-up", 3, {"stress": 1}),
        ("a follow-up", -1, {"stress": 1}),
        ("a follow-up", 0.5, {"stress": 1}),
        ("a follow-up", True, {"stress": 1}),
        ("a follow-up", "1", {"stress": 1}),
        ("a follow-up", 3, {"extra": 1}),
        ("a chain of follow-ups", 0, {"vaped": True, "often": "b"}),
        ("a chain of follow-ups", 0, {"vaped": "declined", "often": "b", "stress": 0}),
        ("options of a multi_choice", 2, {"vaped": True}),
        ("options of a multi_choice", 2, {"support": ["z"]}),
        ("options of a multi_choice", 2, {"support": ["b", "b"]}),
        ("options of a multi_choice", 3, {"support": "b"}),
        ("options of a multi_choice", 2, {"support.a": True}),
        ("a multi_choice before and after", 0, {"vaped": True, "support": ["c"]}),
        ("a multi_choice before and after", 0, {"vaped": True, "stress": 1}),
        ("parts that share an epsilon", 0, {}),
        ("parts that share an epsilon", 0, {"vaped": True, "often": "z", "stress": 0}),
        ("parts that share an epsilon", 0, {"vaped": False, "often": "z", "stress": 0}),
        ("awkward names", 0, {"valueof": "a"}),
        ("awkward names", 0, {"constructor": ["toString"], "toString": 1}),
    ):
        tree = BOOKLETS[name]()
        segments = {"campus": "north"} if "segments" in tree["survey"] else {}
        yield from randomized(f"{name}: refused", dump(tree).encode(), answers, segments, b"", booklet)


DOCUMENTS: dict[str, str] = {}


def key_of(text: bytes) -> str:
    """The name of a document among those that the file lists once."""
    key = next((known for known, value in DOCUMENTS.items() if value == text.decode()), f"d{len(DOCUMENTS) + 1}")
    DOCUMENTS[key] = text.decode()
    return key


def randomized(
    comment: str,
    text: bytes,
    answers: dict[str, Any],
    segments: dict[str, str],
    script: bytes,
    booklet: Any = None,
    token: Token | None = None,
) -> Iterator[dict[str, Any]]:
    stream = Script(script)
    test = {"comment": comment, "document": key_of(text), "answers": answers, "segments": segments}
    if booklet is not None:
        test["booklet"] = booklet
    if token is not None:
        test["token"] = token.tree
    try:
        submission = randomize(text, answers, segments, booklet=booklet, token=token, read=stream)
        used = script[: stream.used]
        yield {**test, "bytes": used.hex(), "result": "valid", "submission": submission}
    except (AnswerError, TokenError) as error:
        assert not stream.used
        problems = [[each.place, each.reason] for each in error.problems]
        yield {**test, "bytes": "", "result": "invalid", "problems": problems}


class Script:
    """A source that plays back bytes and knows how many were used."""

    def __init__(self, script: bytes) -> None:
        self.script, self.used = script, 0

    def __call__(self, n: int) -> bytes:
        self.used += n
        assert self.used <= len(self.script), "the script is too short"
        return self.script[self.used - n : self.used]


# --- submissions as they arrive ----------------------------------------------------------------------------------


def submission_tests() -> Iterator[dict[str, Any]]:
    yield from _received(dump(BOOKLETS["a follow-up"]()).encode(), _submissions)
    yield from _received(dump(invited_document()).encode(), _submissions_with_tokens)


def _submissions(text: bytes) -> list[tuple[str, Any]]:
    good = {"id": "0123456789abcdef" * 2, "digest": hashlib.sha256(text).hexdigest(), "booklet": 2, "reports": [3]}
    good = {**good, "segments": {"campus": "north"}}
    changes: list[tuple[str, dict[str, Any]]] = [
        ("as sent", {}),
        ("another booklet", {"booklet": 1, "reports": [1]}),
        ("the largest report", {"reports": [0b110000000000]}),
        *(
            (f"id {value!r}", {"id": value})
            for value in ("0" * 31, "0" * 33, "A" * 32, "g" * 32, 1, None, "\u0661" * 32)
        ),
        *((f"digest {value!r}", {"digest": value}) for value in ("0" * 64, good["digest"].upper(), None)),
        *((f"booklet {value!r}", {"booklet": value}) for value in (-1, 3, 0.5, "2", True, None, [2], 2**60)),
        ("no reports", {"reports": []}),
        ("a report too many", {"reports": [3, 3]}),
        *((f"reports {value!r}", {"reports": value}) for value in (3, None, {"0": 3}, "3")),
        *(
            (f"report {value!r}", {"reports": [value]})
            for value in (-1, 0, 1, 7, 0.5, "3", True, None, 2**12, 2**53, 2**60)
        ),
        ("a report for another booklet", {"booklet": 0, "reports": [0b110000000000]}),
        ("a set of two where one is held", {"booklet": 1, "reports": [3]}),
        ("no segment", {"segments": {}}),
        ("an unknown segment", {"segments": {"campus": "north", "age": "old"}}),
        *((f"segment {value!r}", {"segments": {"campus": value}}) for value in ("east", "", 1, None, ["north"])),
        ("segments as a list", {"segments": ["north"]}),
        ("one more key", {"answers": {"vaped": True}}),
        ("everything wrong at once", {"id": 1, "digest": 2, "booklet": 9, "reports": 4, "segments": 5}),
    ]
    trees: list[tuple[str, Any]] = [(comment, {**good, **change}) for comment, change in changes]
    trees += [(f"without {gone}", {key: good[key] for key in good if key != gone}) for gone in good]
    return [*trees, ("a list", []), ("null", None), ("text", "submission"), ("nothing", {})]


def _submissions_with_tokens(text: bytes) -> list[tuple[str, Any]]:
    good = randomize(text, {"q": True}, booklet=0, token=TOKEN, read=Script(bytes(range(256))))
    token, other = TOKEN.tree, SECOND[1]
    flipped = to_text(bytes([other.signature[0] ^ 1]) + other.signature[1:])
    changes: dict[str, dict[str, Any]] = {
        "a token": {},
        "another token": {"token": other.tree, "id": submission_id(other.message)},
        "an id that does not go with the token": {"id": "0123456789abcdef" * 2},
        "another token with the same id": {"token": other.tree},
        "a token of another issuer": {"token": finished_by(OTHER, "foreign").tree},
        "the signature of another token": {"token": {**token, "signature": other.tree["signature"]}},
        "one bit changed": {"token": {**token, "signature": flipped}},
        "a message that is too short": {"token": {**token, "message": token["message"][:-3]}},
        "a signature that is too short": {"token": {**token, "signature": token["signature"][:-3]}},
        "a signature with padding": {"token": {**token, "signature": token["signature"] + "=="}},
        "no signature": {"token": {"message": token["message"]}},
        "one key too many": {"token": {**token, "invitation": "0"}},
        "a token and a report that are wrong": {"reports": [7], "token": {**token, "message": ""}},
        **{f"token {value!r}": {"token": value} for value in (None, "token", [], {}, 1)},
    }
    without = {key: value for key, value in good.items() if key != "token"}
    trees: list[tuple[str, Any]] = [(comment, {**good, **change}) for comment, change in changes.items()]
    return [*trees, ("without a token", without)]


def _received(text: bytes, submissions: Callable[[bytes], list[tuple[str, Any]]]) -> Iterator[dict[str, Any]]:
    for comment, tree in submissions(text):
        check = Checker()
        test = {"comment": comment, "document": key_of(text), "submission": tree}
        if check_submission(check, verify(text), tree) is None:
            yield {**test, "result": "invalid", "problems": [[each.place, each.reason] for each in check.problems]}
        else:
            yield {**test, "result": "valid"}
