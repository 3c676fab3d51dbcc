"""Writes the vectors in this folder from the Python implementation:  python shared/vectors/generate.py [FOLDER]

All but ``rfc9474.json``, which is Appendix A of that RFC.
Every client, in whatever language, must give these results. The reference values that tie them to the outside world
(well-known favour values, exact enumeration of every channel) are pinned by tests, not by these files.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
from booklets import tampered_booklets
from invitations import invitation_tests, invited_document, tampered_issuers
from submissions import DOCUMENTS, booklet_tests, randomize_tests, submission_tests
from tampered import QUESTIONS, dump, small_document, tampered
from tokens import token_tests
from translated import tampered_languages, translated_document

from deniable_protocol import (
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
    verify,
)
from deniable_protocol.design import LEVELS, band, band_width, best_size, subset
from deniable_protocol.tables import exponential, gaussian, laplace

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
            "widths": [band_width(m, Fraction(epsilon)) for m in range(2, 12)],
            "number": [width := band_width(LEVELS, Fraction(epsilon)), largest_favour(exp_epsilon, LEVELS - 1, width)],
        }


# --- verification -------------------------------------------------------------------------------------------------


def verify_tests() -> Iterator[dict[str, Any]]:
    seen = set()
    for comment, text in (*tampered(), *tampered_booklets(), *tampered_languages(), *tampered_issuers()):
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
        band(LEVELS, one),
        band(LEVELS, four),
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
        yield {"comment": name, "document": text, **_digests(text)}
    foreign = dump(small_document("yes_no")).replace('"?"', '"नमस्ते 😀"')
    yield {"comment": "UTF-8 outside ASCII", "document": foreign, **_digests(foreign)}
    translated = dump(translated_document())
    yield {"comment": "two languages", "document": translated, **_digests(translated)}
    invited = dump(invited_document())
    yield {"comment": "invitations", "document": invited, **_digests(invited)}


def _digests(text: str) -> dict[str, str]:
    survey = text[text.index('"survey":') + 9 : text.index(',"parts":[{"questions"')]
    return {name: hashlib.sha256(part.encode()).hexdigest() for name, part in (("digest", text), ("content", survey))}


# --- tables --------------------------------------------------------------------------------------------------------


def table_tests() -> Iterator[dict[str, Any]]:
    for epsilon in ("0.01", "0.5", "1.0", "3.9999", "4.0", "10.0"):
        exact = Fraction(epsilon)
        rows = 17 if exact >= 4 else 9
        for points in (2, 3, 7, 11):
            yield {"mechanism": "exponential", "rows": points, "epsilon": epsilon, **_hash(exponential(points, exact))}
        yield {"mechanism": "laplace", "rows": rows, "epsilon": epsilon, **_hash(laplace(rows, exact))}
        for delta in ("0.000000001", "0.000001", "0.000012345678", "0.0001"):
            made = gaussian(rows, exact, Fraction(delta))
            yield {"mechanism": "gaussian", "rows": rows, "epsilon": epsilon, "delta": delta, **_hash(made)}


def _hash(table: Table) -> dict[str, Any]:
    return {"first": table.weights[0][0], "sha256": hashlib.sha256(msgspec.json.encode(table.weights)).hexdigest()}


DIGEST = "0123456789abcdef" * 4
CODE = "0D5F449CC0BQR9MW503EVB3TV1KE"
API = "https://example.org/api/v1/surveys/campus-health"
LINKS: dict[str, tuple[str | None, ...]] = {
    "https://example.org/s/campus-health": (API, "campus-health", None),
    API: (API, "campus-health", None),
    f"https://example.org/s/campus-health#{DIGEST}": (API, "campus-health", DIGEST),
    f"{API}#{DIGEST.upper()}": (API, "campus-health", DIGEST),
    "HTTPS://EXAMPLE.org:443/s/campus-health": (API, "campus-health", None),
    "https://example.org/s/campus-health?from=mail": (API, "campus-health", None),
    f"https://example.org/s/campus-health?a=/s/b#{DIGEST}": (API, "campus-health", DIGEST),
    f"https://example.org/s/campus-health#{DIGEST}.{CODE}": (API, "campus-health", DIGEST, CODE),
    f"{API}#{DIGEST.upper()}.0d5f-449C": (API, "campus-health", DIGEST, "0d5f-449C"),
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
    f"http://h/s/ab#{CODE}": "an invitation without a digest",
    f"http://h/s/ab#.{CODE}": "an invitation without a digest",
    f"http://h/s/ab#{DIGEST}.": "an invitation that got lost",
    f"http://h/s/ab#{DIGEST}.{CODE}.": "more than an invitation",
    f"http://h/s/ab#{DIGEST}.%20{CODE}": "what no code has",
    f"http://h/s/ab#{DIGEST}.{'0' * 51}": "longer than any code",
    "http://h/s/ab\n": "white space",
    " http://h/s/ab": "white space",
    "http://h /s/ab": "white space",
    "http://h/s\t/ab": "white space",
}


def address_tests() -> Iterator[dict[str, Any]]:
    """Links as people get them. This is the clients' matter and not the protocol's: the results are written by hand."""
    for link, (url, survey, digest, *code) in LINKS.items():
        test = {"link": link, "result": "valid", "url": url, "survey": survey, "digest": digest}
        yield {**test, "invitation": code[0]} if code else test
    for link, comment in NO_LINKS.items():
        yield {"comment": comment, "link": link, "result": "invalid"}


def main(folder: Path = HERE) -> None:
    DOCUMENTS.clear()
    write(
        "favour",
        folder,
        "Per epsilon, [size, favour] of the subset channels of 2 to 51 options, and [width, favour] of bands of 2 to 17"
        " levels, and of a number's band. Each favour is the largest that keeps epsilon; any other is refused."
        " 'widths' are those of scales of 2 to 11 points.",
        numbered(favour_tests()),
    )
    write(
        "verify",
        folder,
        "Published documents: 'valid' ones are accepted, 'invalid' ones refused with this reason at this place."
        " Where 'repeat' is given, the text \"x\" in the document stands for a text of that many letters x.",
        numbered(verify_tests()),
    )
    tests = numbered(chain(randomize_tests(), booklet_tests()))
    write(
        "randomize",
        folder,
        "With these bytes (hex) from the random source, these answers give this submission, and every byte is used."
        " 'document' names an entry of 'documents'. Where 'booklet' is given, it is not drawn. Where"
        " 'token' is given, the survey has invitations. 'invalid' answers and tokens are refused before the source is"
        " read, with all of these problems, each a place and a reason.",
        tests,
        documents=DOCUMENTS,
    )
    DOCUMENTS.clear()
    tests = numbered(submission_tests())
    write(
        "submission",
        folder,
        "Submissions as a server receives them: 'valid' ones are accepted, 'invalid' ones refused with all of these"
        " problems, each a place and a reason.",
        tests,
        documents=DOCUMENTS,
    )
    write("decode", folder, "The unbiased vector z of a report, as exact fractions.", numbered(decode_tests()))
    write("digest", folder, "The SHA-256 of valid documents, and of the survey in each.", numbered(digest_tests()))
    write(
        "tables",
        folder,
        "The tables of the textbook mechanisms: the first weight, and the SHA-256 of all rows as compact JSON.",
        numbered(table_tests()),
    )
    write(
        "address",
        folder,
        "Links to surveys: 'valid' ones lead to this API address, pin this digest and have this text for an invitation,"
        " which is read elsewhere; 'invalid' ones are refused.",
        numbered(address_tests()),
    )
    write(
        "blind_signatures",
        folder,
        "Tokens. 'draw': with these random bytes (hex) a device makes this blinding; with this blind signature (hex) it"
        " becomes this token, of a submission with this id. 'key', 'finish', 'token': keys, blind signatures and tokens"
        " that are valid, or refused with this reason at this place. An invalid token without a reason is one whose"
        " signature is wrong.",
        numbered(token_tests()),
    )
    write(
        "invitations",
        folder,
        "Invitation codes as somebody may type them: 'valid' ones are read as this code, 'invalid' ones refused with"
        " this reason. Where 'bits' and 'bytes' (hex) are given, these random bytes make this code; 'shown' is how"
        " people see it, and 'sha256' is what a server keeps.",
        numbered(invitation_tests()),
    )


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:2]))
