"""Writes the vectors in this folder from the Python implementation:  python shared/vectors/generate.py [FOLDER]

Every client, in whatever language, must give these results. The reference values that tie them to the outside world
(well-known favour values, exact enumeration of every channel) are pinned by tests, not by these files.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec
from tampered import QUESTIONS, SEGMENTS, document, dump, small_document, tampered

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
    randomize,
    verify,
)
from deniable_protocol.design import band, best_size, exponential, laplace, subset

HERE = Path(__file__).parent


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


# --- verification -------------------------------------------------------------------------------------------------


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
    return msgspec.json.encode(channel)


def digest_tests() -> Iterator[dict[str, Any]]:
    for name in QUESTIONS:
        text = dump(small_document(name))
        yield {"comment": name, "document": text, "digest": hashlib.sha256(text.encode()).hexdigest()}
    spaced = json.dumps(small_document("yes_no"), indent=2)
    foreign = dump(small_document("yes_no")).replace('"?"', '"नमस्ते 😀 \u2028"')
    for comment, text in (("white space counts", spaced), ("UTF-8 outside ASCII", foreign)):
        yield {"comment": comment, "document": text, "digest": hashlib.sha256(text.encode()).hexdigest()}


DIGEST = "0123456789abcdef" * 4
API = "https://example.org/api/v1/surveys/campus-health"
LINKS = {
    "https://example.org/s/campus-health": (API, "campus-health", None),
    API: (API, "campus-health", None),
    f"https://example.org/s/campus-health#{DIGEST}": (API, "campus-health", DIGEST),
    f"{API}#{DIGEST.upper()}": (API, "campus-health", DIGEST),
    "HTTPS://EXAMPLE.org:443/s/campus-health": (API, "campus-health", None),
    "https://example.org/s/campus-health?from=mail": (API, "campus-health", None),
    f"https://example.org/s/campus-health?a=/s/b#{DIGEST}": (API, "campus-health", DIGEST),
    "http://h:80/s/ab": ("http://h/api/v1/surveys/ab", "ab", None),
    "http://h:443/s/ab": ("http://h:443/api/v1/surveys/ab", "ab", None),
    "http://h/a/s/b/s/ab": ("http://h/a/s/b/api/v1/surveys/ab", "ab", None),
    "http://h/\u00f6b%20c/s/ab": ("http://h/%C3%B6b%20c/api/v1/surveys/ab", "ab", None),
    "http://[::1]:8000/s/ab": ("http://[::1]:8000/api/v1/surveys/ab", "ab", None),
}
NO_LINKS = {
    "": "empty",
    "campus-health": "no scheme",
    "ftp://h/s/ab": "not http",
    "file:///s/ab": "not http",
    "http:///s/ab": "no host",
    "http://h:port/s/ab": "no port",
    "http://h:99999/s/ab": "no port",
    "http://[::1/s/ab": "no address",
    "http://h/": "no survey",
    "http://h/s/": "no survey",
    "http://h/s/ab/": "more than a survey",
    "http://h/s/AB": "no id",
    "http://h/s/a": "no id",
    "http://h/x/ab": "no survey",
    "http://h/s/ab/submissions": "more than a survey",
    "http://user:hunter2@h/s/ab": "a password",
    "http://user@h/s/ab": "a user name",
    "http://h/s/ab#": "a digest that got lost",
    f"http://h/s/ab#{DIGEST[:-1]}": "a digest cut short",
    f"http://h/s/ab#{DIGEST}0": "more than a digest",
    "http://h/s/ab#top": "no digest",
    "http://h/s/ab\n": "white space",
    " http://h/s/ab": "white space",
    "http://h /s/ab": "white space",
    "http://h/s\t/ab": "white space",
}


def address_tests() -> Iterator[dict[str, Any]]:
    """Links as people get them. This is the clients' matter and not the protocol's: the results are written by hand."""
    for link, (url, survey, digest) in LINKS.items():
        yield {"link": link, "result": "valid", "url": url, "survey": survey, "digest": digest}
    for link, comment in NO_LINKS.items():
        yield {"comment": comment, "link": link, "result": "invalid"}


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
    write(
        "address",
        folder,
        "Links to surveys: 'valid' ones lead to this API address and pin this digest, 'invalid' ones are refused.",
        numbered(address_tests()),
    )


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:2]))
