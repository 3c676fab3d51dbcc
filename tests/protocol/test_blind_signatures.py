"""Blind signatures, the respondent's half: what a token is, and that nothing links it to what was signed.

The RFC's vectors and the invalid cases are in test_vectors.py; the issuer is in tests/server/test_issuing.py.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deniable_protocol import TokenError
from deniable_protocol.blind_signatures import (
    Blinding,
    PublicKey,
    Token,
    _below,
    blind,
    finalize,
    submission_id,
    to_text,
    verify,
    verify_token,
)

VECTORS = Path(__file__).resolve().parents[2] / "shared" / "vectors" / "blind_signatures.json"


@pytest.fixture(scope="module")
def valid() -> dict[str, Any]:
    """A key of 2048 bits, a blinding for it and the issuer's signature of that."""
    tests: list[dict[str, Any]] = json.loads(VECTORS.read_text("ascii"))["tests"]
    return next(test for test in tests if test["comment"] == "a token")


def bytes_of(*numbers: int, size: int = 1) -> Callable[[int], bytes]:
    """A source of bytes that gives these numbers, one per request."""
    waiting = list(numbers)

    def read(count: int) -> bytes:
        assert count == size
        return waiting.pop(0).to_bytes(size, "big")

    return read


@pytest.mark.parametrize("n", [2, 3, 11, 127, 128, 255])
def test_the_blinding_factor_is_uniform(n: int) -> None:
    """Of all bytes that the source can give, each number from 1 to n-1 comes from equally many, and no other does."""
    found: Counter[int] = Counter()
    for byte in range(256):
        try:
            found[_below(n, bytes_of(byte))] += 1
        except IndexError:  # this byte is thrown away, and another one asked for
            continue
    assert found.keys() == set(range(1, n)) and len(set(found.values())) == 1


def test_what_is_signed_shows_nothing_of_the_token() -> None:
    """With a small key and every r that there is: each blinded value comes from every message equally often."""
    n, e, d = 11 * 23, 3, 147
    units = [x for x in range(1, n) if math.gcd(x, n) == 1]
    assert pow(7, e * d, n) == 7
    for m in units:
        assert Counter(m * pow(r, e, n) % n for r in units) == Counter(units)


def test_it_shows_nothing_even_if_the_key_is_dishonest() -> None:
    """If e and the order of the group have a common factor, r^e is not uniform. But what can be signed at all is in the
    same class as r^e, so that each blinded value still comes equally often from every message that gets a signature.
    """
    n, e = 7 * 13, 3  # 3 divides both 6 and 12
    units = [x for x in range(1, n) if math.gcd(x, n) == 1]
    signable = {pow(s, e, n) for s in units}
    assert len(signable) < len(units)
    seen = [Counter(m * pow(r, e, n) % n for r in units) for m in signable]
    assert all(each == seen[0] for each in seen)


def test_nothing_repeats(valid: dict[str, Any]) -> None:
    """Two blindings for the same key have nothing in common: message, salt, factor and inverse are drawn for each."""
    key = PublicKey.read(valid["key"])
    first, second = Blinding.draw(key), Blinding.draw(key)
    assert all(getattr(first, name) != getattr(second, name) for name in ("message", "blinded", "inverse"))
    again = [blind(key, first.message)[0] for _ in range(2)]
    assert len({first.blinded, *again}) == 3


def test_all_randomness_comes_from_the_source(valid: dict[str, Any]) -> None:
    """The same bytes give the same blinding, and they are asked for in the order that the protocol states."""
    key = PublicKey.read(valid["key"])
    asked: list[int] = []

    def read(count: int) -> bytes:
        asked.append(count)
        return hashlib.shake_256(b"%d" % len(asked)).digest(count)[:-1].rjust(count, b"\1")

    first = Blinding.draw(key, read)
    assert asked == [32, 32, 48, 256, 256]
    asked.clear()
    assert Blinding.draw(key, read) == first


def test_the_second_factor_changes_nothing(valid: dict[str, Any]) -> None:
    """It only hides r from Euclid's algorithm: whatever it is, the same values come out."""
    key = PublicKey.read(valid["key"])
    outcomes = set()
    for factor in (2, 3, key.modulus - 1):
        drawn = [bytes(48), (12345).to_bytes(256, "big"), factor.to_bytes(256, "big")]
        outcomes.add(blind(key, b"message", read=lambda count, drawn=drawn: drawn.pop(0)))
    ((_, inverse),) = outcomes
    assert int.from_bytes(inverse, "big") * 12345 % key.modulus == 1


def test_a_modulus_with_a_small_factor_is_refused() -> None:
    """What is not coprime to the modulus has no inverse, and would show the issuer something of the message."""
    key = PublicKey(3 * (1 << 2046 | 1), 65537)
    with pytest.raises(TokenError, match="factor that is too small"):
        blind(key, b"message", read=lambda count: (3).to_bytes(count, "big"))


def test_an_encoding_needs_room() -> None:
    """A modulus too short for hash and salt is an error, not a weaker signature. RFC 8017 wants 777 bits for the
    encoding, and the modulus has one more.
    """
    short, enough = (PublicKey((1 << bits) - 1, 3) for bits in (777, 778))
    with pytest.raises(TokenError, match="too short"):
        verify(short, b"message", bytes(98))
    assert not verify(enough, b"message", bytes(98)) and not verify(short, b"message", bytes(98), salt_length=47)


def test_a_blinding_survives_a_restart(valid: dict[str, Any]) -> None:
    """What a device keeps is a JSON object of texts; read again, it finishes the same token."""
    key = PublicKey.read(valid["key"])
    kept = json.loads(json.dumps(valid["blinding"]))
    blinding = Blinding.read(kept)
    assert blinding.tree == kept
    token = blinding.finish(key, bytes.fromhex(valid["blind_signature"]))
    assert token == Token.read(valid["token"]) and token.tree == valid["token"] and verify_token(key, token)
    assert submission_id(token.message) == hashlib.sha256(token.message).hexdigest()[:32] == valid["submission"]


def test_secrets_are_not_printed(valid: dict[str, Any]) -> None:
    """Neither a blinding nor a token shows what could be linked, in no form in which Python prints it."""
    kept = (Blinding.read(valid["blinding"]), Token.read(valid["token"]))
    assert f"{kept} {kept[0]} {kept[1]!s}" == "(<Blinding>, <Token>) <Blinding> <Token>"


def test_a_wrong_signature_is_never_given_out(valid: dict[str, Any]) -> None:
    """Any single bit of a blind signature changed, and the device has no token."""
    key, blinding = PublicKey.read(valid["key"]), Blinding.read(valid["blinding"])
    right = bytes.fromhex(valid["blind_signature"])
    for bit in range(0, 2048, 97):
        wrong = (int.from_bytes(right, "big") ^ 1 << bit).to_bytes(256, "big")
        with pytest.raises(TokenError) as caught:
            blinding.finish(key, wrong)
        assert caught.value.reason == "signature"
    assert finalize(key, blinding.message, right, blinding.inverse)


def test_every_bit_of_a_token_counts(valid: dict[str, Any]) -> None:
    """A token with any one bit changed, in message or signature, is not valid."""
    key, token = PublicKey.read(valid["key"]), Token.read(valid["token"])
    for bit in range(0, 8 * 64, 13):
        message = (int.from_bytes(token.message, "big") ^ 1 << bit).to_bytes(64, "big")
        assert not verify_token(key, Token(message, token.signature))
    for bit in range(0, 8 * 256, 41):
        signature = (int.from_bytes(token.signature, "big") ^ 1 << bit).to_bytes(256, "big")
        assert not verify_token(key, Token(token.message, signature))
    assert verify(key, token.message, token.signature) and not verify(
        key, token.message, token.signature, salt_length=0
    )


def test_the_fingerprint_is_that_of_the_key(valid: dict[str, Any]) -> None:
    """It is the start of the SHA-256 of the SPKI, in groups that people can read aloud."""
    key = PublicKey.read(valid["key"])
    assert key.fingerprint.replace(" ", "") == hashlib.sha256(key.spki).hexdigest()[:16]
    assert [len(group) for group in key.fingerprint.split(" ")] == [4, 4, 4, 4]
    assert to_text(key.spki) == key.text == valid["key"]
