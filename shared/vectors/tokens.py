"""Tokens for the vectors: valid ones from fixed bytes, and all that is refused: keys, blind signatures and tokens."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, NamedTuple

from deniable_protocol import TokenError
from deniable_protocol.blind_signatures import (
    BYTES,
    SALT,
    Blinding,
    PublicKey,
    Token,
    _encode,
    submission_id,
    to_text,
    verify_token,
)

Test = dict[str, Any]


def stream(seed: str, size: int) -> bytes:
    return hashlib.shake_256(seed.encode()).digest(size)


class Issuer(NamedTuple):
    """A key for the vectors, made from a word, so that everybody knows its secret. Never use it for anything else."""

    public: PublicKey
    secret: int

    @classmethod
    def of(cls, word: str) -> Issuer:
        p, q = (_prime(f"{word} {name}") for name in "pq")
        return cls(PublicKey(p * q, 65537), pow(65537, -1, (p - 1) * (q - 1)))

    def sign(self, value: int) -> bytes:
        return pow(value, self.secret, self.public.modulus).to_bytes(BYTES, "big")


def _prime(word: str) -> int:
    """The first prime from a hash on, with its two highest bits set: then the product of two has 2048 bits."""
    first = int.from_bytes(stream(word, BYTES // 2), "big") | 3 << 8 * BYTES // 2 - 2 | 1
    return next(p for p in count(first, 2) if all(p % d for d in (3, 5, 7, 11, 13)) and pow(2, p - 1, p) == 1)


ISSUER, OTHER = Issuer.of("issuer"), Issuer.of("another issuer")
KEY = ISSUER.public
N = KEY.modulus


def reader(script: bytes) -> Callable[[int], bytes]:
    position = 0

    def read(size: int) -> bytes:
        nonlocal position
        position += size
        assert position <= len(script)
        return script[position - size : position]

    return read


def blinding_of(script: bytes, key: PublicKey = KEY) -> Blinding:
    return Blinding.draw(key, reader(script))


def finished(blinding: Blinding) -> tuple[bytes, Token]:
    """The blind signature, and the token that it becomes."""
    signature = ISSUER.sign(int.from_bytes(blinding.blinded, "big"))
    return signature, blinding.finish(KEY, signature)


def drawing(seed: str) -> tuple[bytes, bytes, bytes]:
    """Bytes for a message and a salt; for r; for the second factor. Both numbers are below the modulus."""
    return stream(f"{seed} texts", 112), *(b"\1" + stream(f"{seed} {name}", BYTES - 1) for name in ("r", "factor"))


def finished_by(issuer: Issuer, seed: str) -> Token:
    blinding = blinding_of(b"".join(drawing(seed)), issuer.public)
    return blinding.finish(issuer.public, issuer.sign(int.from_bytes(blinding.blinded, "big")))


FIRST, R, FACTOR = drawing("first")
BLINDING = blinding_of(FIRST + R + FACTOR)
SIGNATURE, TOKEN = finished(BLINDING)
SECOND = finished(blinding_of(b"".join(drawing("second"))))


def token_tests() -> Iterator[Test]:
    yield from _draws()
    yield from _keys()
    yield from _finishes()
    yield from _tokens()


def _draws() -> Iterator[Test]:
    zero, modulus, ones = bytes(BYTES), N.to_bytes(BYTES, "big"), b"\xff" * BYTES
    largest, one = (N - 1).to_bytes(BYTES, "big"), (1).to_bytes(BYTES, "big")
    scripts = {
        "a token": FIRST + R + FACTOR,
        "another token": b"".join(drawing("second")),
        "r is drawn again: it was 0": FIRST + zero + R + FACTOR,
        "r is drawn again: it was the modulus, then more": FIRST + modulus + ones + R + FACTOR,
        "the second factor is drawn again": FIRST + R + ones + zero + modulus + FACTOR,
        "another second factor changes nothing": FIRST + R + largest,
        "r is 1": FIRST + one + FACTOR,
        "r is the largest": FIRST + largest + FACTOR,
    }
    for comment, script in scripts.items():
        blinding = blinding_of(script)
        signature, token = finished(blinding)
        yield {
            "comment": comment,
            "check": "draw",
            "key": KEY.text,
            "fingerprint": KEY.fingerprint,
            "bytes": script.hex(),
            "blinding": blinding.tree,
            "blind_signature": signature.hex(),
            "token": token.tree,
            "submission": submission_id(token.message),
        }


# --- keys ---------------------------------------------------------------------------------------------------------


def _keys() -> Iterator[Test]:
    yield {"comment": "another key", "check": "key", "key": OTHER.public.text, "result": "valid"}
    spki, text = KEY.spki, KEY.text
    modulus = N.to_bytes(BYTES, "big")
    assert {"-", "_"} & {*text}
    texts = {
        "empty": "",
        "not a text": None,
        "a number": 65537,
        "padded": text + "=",
        "base64 of another alphabet": b64encode(spki).decode(),
        "a letter too few": text[:-1],
        "a letter too many": text + "A",
        "a newline at its end": text + "\n",
        "a space before it": " " + text,
        "a letter outside of ASCII": "\u00e9" + text[1:],
        "a dot in it": text[:100] + "." + text[101:],
        "the modulus alone": to_text(modulus),
        "1024 bits": to_text(_spki(OTHER.public.modulus >> 1024 | 1)),
        "2056 bits": to_text(_spki(N << 8 | 1)),
        "4096 bits": to_text(_spki(N * OTHER.public.modulus)),
        "the exponent 3": to_text(_spki(N, 3)),
    }
    written = {
        "an even modulus": spki.replace(modulus, (N - 1).to_bytes(BYTES, "big")),
        "2047 bits, after two zeros": spki.replace(modulus, (N >> 1 | 1).to_bytes(BYTES, "big")),
        "a modulus of 0": spki.replace(modulus, bytes(BYTES)),
        "the exponent 65539": spki[:-1] + b"\3",
        "RSASSA-PSS instead of rsaEncryption": spki.replace(bytes.fromhex("010101"), bytes.fromhex("01010a")),
        "unused bits": spki.replace(b"\x01\x0f\x00", b"\x01\x0f\x01", 1),
        "a set instead of a sequence": b"\x31" + spki[1:],
        "another length": spki.replace(bytes.fromhex("30820122"), bytes.fromhex("30820121")),
        "a negative modulus": spki.replace(b"\x01\x01\x00" + modulus, b"\x01\x01\xff" + modulus),
        "the exponent first": spki[:28] + spki[-5:] + spki[28:-5],
        "only zeros": bytes(len(spki)),
    }
    assert all(len(each) == len(spki) and each != spki for each in written.values())
    for comment, key in {**texts, **{name: to_text(each) for name, each in written.items()}}.items():
        try:
            PublicKey.read(key)
        except TokenError as error:
            refused = {"result": "invalid", "reason": error.reason, "place": error.place}
            yield {"comment": comment, "check": "key", "key": key, **refused}
        else:
            raise AssertionError(comment)


def _spki(modulus: int, exponent: int = 65537) -> bytes:
    """A right SPKI of any key."""
    numbers = _der(2, _integer(modulus)) + _der(2, _integer(exponent))
    kind = _der(0x30, bytes.fromhex("06092a864886f70d0101010500"))
    return _der(0x30, kind + _der(3, b"\0" + _der(0x30, numbers)))


def _integer(value: int) -> bytes:
    return value.to_bytes(value.bit_length() // 8 + 1, "big")


def _der(tag: int, content: bytes) -> bytes:
    size = len(content)
    length = size.to_bytes((size.bit_length() + 7) // 8 or 1, "big")
    return bytes([tag]) + (length if size < 128 else bytes([0x80 | len(length)]) + length) + content


assert _spki(N) == KEY.spki


# --- blind signatures and tokens ----------------------------------------------------------------------------------


def _flip(content: bytes, bit: int) -> bytes:
    return (int.from_bytes(content, "big") ^ 1 << bit).to_bytes(len(content), "big")


def _finishes() -> Iterator[Test]:
    blinded = int.from_bytes(BLINDING.blinded, "big")
    signatures = {
        "empty": b"",
        "a byte short": SIGNATURE[:-1],
        "a byte short, at its start": SIGNATURE[1:],
        "a byte long": SIGNATURE + b"\0",
        "a zero before it": b"\0" + SIGNATURE,
        "its last bit": _flip(SIGNATURE, 0),
        "its first bit": _flip(SIGNATURE, 2047),
        "zero": bytes(BYTES),
        "one": (1).to_bytes(BYTES, "big"),
        "the modulus": N.to_bytes(BYTES, "big"),
        "the blinded value itself": BLINDING.blinded,
        "the signature of another blinded value": SECOND[0],
        "negated": (N - int.from_bytes(SIGNATURE, "big")).to_bytes(BYTES, "big"),
        "by another issuer": OTHER.sign(blinded),
        "unblinded already": TOKEN.signature,
    }
    for comment, signature in signatures.items():
        try:
            BLINDING.finish(KEY, signature)
        except TokenError as error:
            refused = {"result": "invalid", "reason": error.reason, "place": error.place}
            given = {"key": KEY.text, "blinding": BLINDING.tree, "blind_signature": signature.hex()}
            yield {"comment": f"a blind signature: {comment}", "check": "finish", **given, **refused}
        else:
            raise AssertionError(comment)


def _tokens() -> Iterator[Test]:
    yield _token("a token", KEY, TOKEN.tree)
    yield _token("a token, for another key", OTHER.public, TOKEN.tree)
    for comment, token in _wrong_tokens().items():
        yield _token(comment, KEY, token.tree)
    message, signature = TOKEN.tree["message"], TOKEN.tree["signature"]
    trees: dict[str, object] = {
        "nothing": None,
        "a text": "message",
        "a list": [message, signature],
        "no signature": {"message": message},
        "no message": {"signature": signature},
        "one key too many": {**TOKEN.tree, "id": "0"},
        "a number as message": {**TOKEN.tree, "message": 1},
        "null as signature": {**TOKEN.tree, "signature": None},
        "an empty message": {**TOKEN.tree, "message": ""},
        "a message of 63 bytes": {**TOKEN.tree, "message": to_text(TOKEN.message[:-1])},
        "a message of 65 bytes": {**TOKEN.tree, "message": to_text(TOKEN.message + b"\0")},
        "a padded message": {**TOKEN.tree, "message": message + "=="},
        "a message with bits that do not count": {**TOKEN.tree, "message": message[:-1] + chr(ord(message[-1]) + 1)},
        "a message in hex": {**TOKEN.tree, "message": TOKEN.message.hex()},
        "a signature of 255 bytes": {**TOKEN.tree, "signature": to_text(TOKEN.signature[:-1])},
        "a signature of 257 bytes": {**TOKEN.tree, "signature": to_text(b"\0" + TOKEN.signature)},
        "a signature with a newline": {**TOKEN.tree, "signature": signature + "\n"},
        "a signature with a slash": {**TOKEN.tree, "signature": signature[:9] + "/" + signature[10:]},
    }
    for comment, tree in trees.items():
        yield _token(comment, KEY, tree)


def _wrong_tokens() -> dict[str, Token]:
    """Tokens of the right shape. Many are signed by the issuer, but sign something that is no encoding."""
    message, signature = TOKEN.message, TOKEN.signature
    encoded = pow(int.from_bytes(signature, "big"), 65537, N)
    salt = stream("salt", SALT)

    def signed(value: int) -> Token:
        return Token(message, ISSUER.sign(value))

    def salted(length: int) -> Token:
        return signed(_encode(message, 2047, salt[:length]))

    return {
        "another message": Token(_flip(message, 0), signature),
        "the halves of the message swapped": Token(message[32:] + message[:32], signature),
        "another signature": Token(message, _flip(signature, 0)),
        "the signature of another token": Token(message, SECOND[1].signature),
        "the blind signature": Token(message, SIGNATURE),
        "the signature is 0": Token(message, bytes(BYTES)),
        "the signature is 1": Token(message, (1).to_bytes(BYTES, "big")),
        "the signature is the modulus": Token(message, N.to_bytes(BYTES, "big")),
        "the signature is the largest number of its size": Token(message, b"\xff" * BYTES),
        "the signature negated": Token(message, (N - int.from_bytes(signature, "big")).to_bytes(BYTES, "big")),
        "a valid signature plus the modulus": _unreduced(),
        "no salt": salted(0),
        "a salt of 47 bytes": salted(47),
        "an encoding without 0xbc at its end": signed(encoded ^ 0xBC ^ 0xCC),
        "an encoding with a bit in front of it": signed(_with_bit_in_front(message)),
        "an encoding with a bit among its zeros": signed(encoded ^ 1 << 2046),
        "an encoding without the one before its salt": signed(encoded ^ 1 << 8 * (1 + 48 + SALT)),
        "an encoding of another hash": signed(encoded ^ 1 << 8),
        "the message itself, signed": signed(int.from_bytes(message, "big")),
        "SHA-384 of the message, signed": signed(int.from_bytes(hashlib.sha384(message).digest(), "big")),
    }


def _with_bit_in_front(message: bytes) -> int:
    encodings = (_encode(message, 2047, stream(f"salt {i}", SALT)) | 1 << 2047 for i in count())
    return next(encoded for encoded in encodings if encoded < N)


def _unreduced() -> Token:
    """A token whose signature has a second number of 256 bytes with the same remainder."""
    tokens = (finished(blinding_of(b"".join(drawing(f"small {i}"))))[1] for i in count())
    larger = ((token.message, int.from_bytes(token.signature, "big") + N) for token in tokens)
    message, signature = next(each for each in larger if each[1] < 1 << 8 * BYTES)
    return Token(message, signature.to_bytes(BYTES, "big"))


def _token(comment: str, key: PublicKey, tree: object) -> Test:
    test = {"comment": comment, "check": "token", "key": key.text, "token": tree}
    try:
        return {**test, "result": "valid" if verify_token(key, Token.read(tree)) else "invalid"}
    except TokenError as error:
        return {**test, "result": "invalid", "reason": error.reason, "place": error.place}
