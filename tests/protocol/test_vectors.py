"""Every vector of shared/vectors, none skipped, and that the files are what the generator writes."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec
import pytest

from deniable_protocol import (
    CHANNELS,
    AnswerError,
    Band,
    DocumentError,
    InvitationError,
    Table,
    TokenError,
    blind_signatures,
    decode,
    exp_floor,
    invitations,
    largest_favour,
    randomize,
    verify,
)
from deniable_protocol.blind_signatures import Blinding, PublicKey, Token
from deniable_protocol.checks import Checker
from deniable_protocol.design import LEVELS, band, band_width, best_size
from deniable_protocol.receive import check_submission
from deniable_protocol.tables import exponential, gaussian, laplace

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "vectors"


def load(name: str) -> dict[str, Any]:
    tree: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text("ascii"))
    assert tree["vectors"] == name and tree["tests"]
    return tree


class Script:
    """A random source that gives these bytes, and no more."""

    def __init__(self, content: bytes) -> None:
        self.left = content

    def read(self, size: int) -> bytes:
        assert size <= len(self.left)
        given, self.left = self.left[:size], self.left[size:]
        return given


def test_favour_vectors() -> None:
    """The largest favour for every epsilon from 0.01 to 10 in hundredths, all subset sizes and bands."""
    for test in load("favour")["tests"]:
        exp_epsilon = exp_floor(Fraction(test["epsilon"]))
        for k, (d, favour) in enumerate(test["subset"], start=2):
            assert best_size(k, exp_epsilon) == d and largest_favour(exp_epsilon, k - d, d) == favour
        for m, (w, favour) in enumerate(test["band"], start=2):
            assert largest_favour(exp_epsilon, m - 1, w) == favour
        epsilon, (width, favour) = Fraction(test["epsilon"]), test["number"]
        assert band(LEVELS, epsilon) == Band(49, width, favour)
        assert [band_width(points, epsilon) for points in range(2, 12)] == test["widths"]


def test_table_vectors() -> None:
    """The tables of the textbook mechanisms are the same to the last weight on every machine."""
    for test in load("tables")["tests"]:
        exact = [Fraction(test[key]) for key in ("epsilon", "delta") if key in test]
        made = {"exponential": exponential, "laplace": laplace, "gaussian": gaussian}[test["mechanism"]]
        table: Table = made(test["rows"], *exact)
        assert table.weights[0][0] == test["first"]
        assert hashlib.sha256(msgspec.json.encode(table.weights)).hexdigest() == test["sha256"]


def test_verify_vectors() -> None:
    """Every document is accepted, or refused for the stated reason at the stated place; over a thousand are refused."""
    refused = 0
    for test in load("verify")["tests"]:
        text = test["document"]
        if "repeat" in test:
            text = text.replace('"x"', '"' + "x" * test["repeat"] + '"')
        try:
            verify(text)
            result: dict[str, str] = {"result": "valid"}
        except DocumentError as error:
            refused += 1
            result = {"result": "invalid", "reason": error.reason, "place": error.place}
        assert result == {key: test[key] for key in ("result", "reason", "place") if key in test}, test["comment"]
    assert refused >= 1000


def test_randomize_vectors() -> None:
    """The same bytes give the same submission, using every byte; bad answers are refused before any byte is read."""
    file = load("randomize")
    for test in file["tests"]:
        source = Script(bytes.fromhex(test["bytes"]))
        given = (file["documents"][test["document"]], test["answers"], test["segments"])
        token = Token.read(test["token"]) if "token" in test else None
        options: dict[str, Any] = {"booklet": test.get("booklet"), "token": token}
        if test["result"] == "valid":
            made = randomize(*given, **options, read=source.read)
            assert made == test["submission"] and not source.left, test["comment"]
        else:
            with pytest.raises((AnswerError, TokenError)) as caught:
                randomize(*given, **options, read=source.read)
            assert [[problem.place, problem.reason] for problem in caught.value.problems] == test["problems"]
            assert source.left.hex() == test["bytes"]


def test_submission_vectors() -> None:
    """Every submission is accepted, or refused with all its problems; no message repeats what was sent."""
    file = load("submission")
    for test in file["tests"]:
        check = Checker()
        accepted = check_submission(check, verify(file["documents"][test["document"]]), test["submission"])
        assert [[problem.place, problem.reason] for problem in check.problems] == test.get("problems", [])
        assert (accepted is not None) == (test["result"] == "valid"), test["comment"]


def test_decode_vectors() -> None:
    """Every report decodes to the stated fractions."""
    for test in load("decode")["tests"]:
        channel = msgspec.convert(test["channel"], CHANNELS[test["channel"]["kind"]])
        assert list(decode(channel, test["report"])) == [Fraction(z) for z in test["z"]]


def test_digest_vectors() -> None:
    """Digests are SHA-256 of the bytes as given, and a pinned digest refuses any other document."""
    for test in load("digest")["tests"]:
        assert verify(test["document"]).digest == test["digest"]
        assert verify(test["document"]).content == test["content"]
        assert verify(test["document"].encode(), digest=test["digest"]).digest == test["digest"]
        with pytest.raises(DocumentError) as caught:
            verify(test["document"] + " ", digest=test["digest"])
        assert caught.value.reason == "digest"


def test_rfc_9474_vectors() -> None:
    """Appendix A of the RFC: every variant prepares, blinds, finalises and verifies to the last byte."""
    seen = set()
    for test in load("rfc9474")["tests"]:
        seen.add(test["variant"])
        key = PublicKey(int(test["n"], 16), int(test["e"], 16))
        known = {name: bytes.fromhex(text) for name, text in test.items() if name not in ("id", "variant")}
        message = known["msg"]
        if "Randomized" in test["variant"]:
            message = blind_signatures.prepare(message, Script(known["msg_prefix"]).read)
        assert message == known["prepared_msg"]
        r = pow(int(test["inv"], 16), -1, key.modulus).to_bytes(key.size, "big")
        source = Script(known["salt"] + r + bytes([1] * key.size))
        salt = {"salt_length": len(known["salt"])}
        blinded, inverse = blind_signatures.blind(key, message, **salt, read=source.read)
        assert (blinded, inverse) == (known["blinded_msg"], known["inv"]) and not source.left
        assert blind_signatures.finalize(key, message, known["blind_sig"], inverse, **salt) == known["sig"]
        assert blind_signatures.verify(key, message, known["sig"], **salt)
        assert not blind_signatures.verify(key, message + b".", known["sig"], **salt)
    hows = ("Randomized", "Deterministic")
    assert seen == {f"RSABSSA-SHA384-{pss}-{how}" for pss in ("PSS", "PSSZERO") for how in hows}


def test_blind_signature_vectors() -> None:
    """Fixed bytes give these tokens; every wrong key, blind signature and token is refused for the stated reason."""
    checks = {"draw": _draw, "key": _read_key, "finish": _finish, "token": _check_token}
    for test in load("blind_signatures")["tests"]:
        try:
            result = {"result": "valid" if checks[test["check"]](test) else "invalid"}
        except TokenError as error:
            result = {"result": "invalid", "reason": error.reason, "place": error.place}
        expected = {key: test[key] for key in ("result", "reason", "place") if key in test}
        assert result == (expected or {"result": "valid"}), test["comment"]


def _draw(test: dict[str, Any]) -> bool:
    key, source = PublicKey.read(test["key"]), Script(bytes.fromhex(test["bytes"]))
    blinding = Blinding.draw(key, source.read)
    token = blinding.finish(key, bytes.fromhex(test["blind_signature"]))
    id_ = blind_signatures.submission_id(token.message)
    got = {"fingerprint": key.fingerprint, "blinding": blinding.tree, "token": token.tree, "submission": id_}
    return not source.left and got == {name: test[name] for name in got} and Blinding.read(blinding.tree) == blinding


def _read_key(test: dict[str, Any]) -> bool:
    return PublicKey.read(test["key"]).text == test["key"]


def _finish(test: dict[str, Any]) -> Token:
    blinding = Blinding.read(test["blinding"])
    return blinding.finish(PublicKey.read(test["key"]), bytes.fromhex(test["blind_signature"]))


def _check_token(test: dict[str, Any]) -> bool:
    return blind_signatures.verify_token(PublicKey.read(test["key"]), Token.read(test["token"]))


def test_invitation_vectors() -> None:
    """Fixed bytes give these codes; each is read in every way that people type it, and typing errors are refused."""
    for test in load("invitations")["tests"]:
        try:
            result = {"result": "valid", "code": invitations.read_code(test["text"])}
        except InvitationError as error:
            result = {"result": "invalid", "reason": error.reason, "place": error.place}
        assert result == {key: test[key] for key in ("result", "code", "reason", "place") if key in test}
        if "bits" in test:
            source = Script(bytes.fromhex(test["bytes"]))
            assert invitations.draw_code(test["bits"], source.read) == test["code"] and not source.left
            assert invitations.show_code(test["code"]) == test["shown"]
            assert invitations.digest_of_code(test["code"]).hex() == test["sha256"]


@pytest.mark.parametrize(
    "document", ["{\ud800}", b"\xff\xfe", b"\xef\xbb\xbf{}", "[" * 100_000, b"{" + b" " * 1_000_000]
)
def test_what_is_no_text_or_no_json_is_refused(document: str | bytes) -> None:
    """Half a surrogate, bytes that are not UTF-8, a byte order mark, deep nesting, mere size: refused, no crash."""
    with pytest.raises(DocumentError) as caught:
        verify(document)
    assert caught.value.reason in ("json", "size") and caught.value.place == ""
