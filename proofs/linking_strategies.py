"""How a server that keeps everything might match requests for tokens with submissions.

A strategy is a matrix: how well each request (a row) and each submission (a column) fit together. They use codes,
blinded values z, blind signatures z^d, and submissions with message, signature s and encoded message m = s^e; their
order; and the private key. For each pair there is one blinding factor that would have made this token of this request,
z^d / s. So a judge who looks at all of these factors, and at what else could be left of a token in its blinded value,
has all there is to look at.
"""

from __future__ import annotations

import json
import math
from base64 import urlsafe_b64decode
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from deniable_protocol.blind_signatures import BYTES
from deniable_protocol.invitations import digest_of_code
from deniable_server.issuing import IssuerKey

Fit = NDArray[np.float64]
Strategy = tuple[str, Fit]
WORD = 2**64 - 1
WINDOW = 3
"""Bytes in a row that two texts may have in common. Two by chance are common, four too rare to guess by."""


class Seen(NamedTuple):
    """What a server that keeps everything has: all in the order in which it came, and its key."""

    codes: list[str]
    blinded: list[int]
    signed: list[int]  # blind signatures
    submissions: list[dict[str, Any]]
    key: IssuerKey

    @classmethod
    def of(cls, exchanges: Sequence[tuple[bytes, bytes]], key: IssuerKey) -> Seen:
        """From requests and answers."""
        seen = cls([], [], [], [], key)
        for body, answer in exchanges:
            sent = json.loads(body)
            if "invitation" in sent:
                seen.codes.append(sent["invitation"])
                seen.blinded.append(_number(sent["blinded"]))
                seen.signed.append(_number(json.loads(answer)["signature"]))
            else:
                seen.submissions.extend(sent.get("submissions", [sent]))
        return seen

    @property
    def signatures(self) -> list[int]:
        """Of the tokens, as they were spent."""
        return [_number(each["token"]["signature"]) for each in self.submissions]

    @property
    def encoded(self) -> list[int]:
        """The messages of these tokens, as they were signed."""
        n, e = self.key.public
        return [pow(signature, e, n) for signature in self.signatures]


def _number(text: str) -> int:
    return int.from_bytes(urlsafe_b64decode(text + "=="), "big")


def strategies(seen: Seen) -> Iterator[Strategy]:
    """All of them, one after another: together they would take a gigabyte."""
    requests = {
        "code": [int.from_bytes(digest_of_code(code), "big") for code in seen.codes],
        "blinded value": seen.blinded,
        "blind signature": seen.signed,
    }
    submissions = {
        "id": [int(each["id"], 16) for each in seen.submissions],
        "message": [_number(each["token"]["message"]) for each in seen.submissions],
        "signature": seen.signatures,
        "encoded message": seen.encoded,
    }
    yield from _by_order(requests, submissions)
    yield from _by_rank(requests, submissions)
    yield from _by_bytes(seen)
    yield from _by_bits(requests, submissions)
    yield from _by_relation(seen, submissions)
    yield from by_squares(seen)


# --- what each looks like -----------------------------------------------------------------------------------------


_LOOKS: dict[str, Callable[[int], int]] = {
    "size": lambda value: value,
    "bits set": int.bit_count,
    "last bits": lambda value: value & WORD,
}


def _closeness(left: Sequence[int] | NDArray[Any], right: Sequence[int] | NDArray[Any]) -> Fit:
    """The closer two ranks are, the better is the fit."""
    return -np.abs(_ranks(left)[:, None] - _ranks(right)[None, :])


def _ranks(values: Sequence[int] | NDArray[Any]) -> Fit:
    places = {value: place for place, value in enumerate(sorted(set(map(int, values))))}
    return np.asarray(rankdata([places[int(value)] for value in values]), np.float64)


def _by_order(requests: dict[str, list[int]], submissions: dict[str, list[int]]) -> Iterator[Strategy]:
    places = np.arange(len(requests["code"]))
    yield "the same order", _closeness(places, places)
    yield "the reverse order", _closeness(places, -places)
    for name, values in submissions.items():
        yield f"the order of requests, by {name}", _closeness(places, values)
    for name, values in requests.items():
        yield f"the order of submissions, by {name}", _closeness(values, places)


def _by_rank(requests: dict[str, list[int]], submissions: dict[str, list[int]]) -> Iterator[Strategy]:
    for look, of in _LOOKS.items():
        for left, lefts in requests.items():
            for right, rights in submissions.items():
                yield f"{look}: {left} and {right}", _closeness([*map(of, lefts)], [*map(of, rights)])


# --- what pairs have in common ------------------------------------------------------------------------------------


def _windows(content: bytes) -> set[bytes]:
    return {content[start : start + WINDOW] for start in range(len(content) - WINDOW + 1)}


def _by_bytes(seen: Seen) -> Iterator[Strategy]:
    """How many short runs of bytes occur in both."""
    fit = np.zeros((len(seen.codes), len(seen.submissions)))
    where: dict[bytes, list[int]] = {}
    for column, each in enumerate(seen.submissions):
        parts = [bytes.fromhex(each["id"]), *(urlsafe_b64decode(text + "==") for text in each["token"].values())]
        for window in set().union(*map(_windows, parts)):
            where.setdefault(window, []).append(column)
    for row, (code, *numbers) in enumerate(zip(seen.codes, seen.blinded, seen.signed, strict=True)):
        parts = [code.encode(), digest_of_code(code), *(number.to_bytes(BYTES, "big") for number in numbers)]
        for window in set().union(*map(_windows, parts)):
            fit[row, where.get(window, [])] += 1
    yield "bytes in common", fit


def _bits(values: list[int]) -> NDArray[np.float32]:
    content = b"".join(value.to_bytes(BYTES, "big") for value in values)
    return np.unpackbits(np.frombuffer(content, np.uint8)).reshape(len(values), -1).astype(np.float32) * 2 - 1


def _by_bits(requests: dict[str, list[int]], submissions: dict[str, list[int]]) -> Iterator[Strategy]:
    """How many bits are equal (Hamming distance)."""
    for left in ("blinded value", "blind signature"):
        for right in ("message", "signature", "encoded message"):
            yield (
                f"equal bits: {left} and {right}",
                (_bits(requests[left]) @ _bits(submissions[right]).T).astype(np.float64),
            )


def _by_relation(seen: Seen, submissions: dict[str, list[int]]) -> Iterator[Strategy]:
    """Numbers computed of each pair: one that comes up again and again, or is small, or simple, is no chance."""
    n = seen.key.public.modulus
    encoded, signatures = submissions["encoded message"], submissions["signature"]

    def quotient(left: int, inverse: int) -> int:
        return left * inverse % n

    def difference(left: int, right: int) -> int:
        return (left - right) % n

    def shared_with_modulus(left: int, right: int) -> int:
        return math.gcd(left - right, n)

    pairs: dict[str, tuple[Callable[[int, int], int], list[int], list[int]]] = {
        "blinding factor": (quotient, seen.signed, [pow(s, -1, n) for s in signatures]),
        "blinding factor to the e": (quotient, seen.blinded, [pow(m, -1, n) for m in encoded]),
        "difference of messages": (difference, seen.blinded, encoded),
        "difference of signatures": (difference, seen.signed, signatures),
        "common divisor of messages": (math.gcd, seen.blinded, encoded),
        "common divisor of signatures": (math.gcd, seen.signed, signatures),
        "divisor of the difference and the modulus": (shared_with_modulus, seen.blinded, encoded),
    }
    for name, (relate, lefts, rights) in pairs.items():
        shape = len(lefts), len(rights)
        last, size, bits = np.empty(shape, np.uint64), np.empty(shape), np.empty(shape)
        for row, left in enumerate(lefts):
            values = [relate(left, right) for right in rights]
            last[row] = [value & WORD for value in values]
            size[row] = [math.log2(value + 1) for value in values]
            bits[row] = [value.bit_count() for value in values]
        _, which, often = np.unique(last, return_inverse=True, return_counts=True)
        yield f"often the same: {name}", often[which].reshape(shape).astype(np.float64)
        striking = 1 if relate in (math.gcd, shared_with_modulus) else -1  # a large divisor, any other small number
        yield f"size: {name}", striking * size
        yield f"bits set: {name}", striking * bits


def by_squares(seen: Seen) -> Iterator[Strategy]:
    """Whether both are squares modulo a prime, or neither is: then the blinding factor is a square, too."""
    numbers = seen.key._numbers

    def symbols(values: list[int], prime: int) -> Fit:
        return np.array([1.0 if pow(value, prime // 2, prime) == 1 else -1.0 for value in values])

    first, second = (
        np.outer(symbols(seen.blinded, prime), symbols(seen.encoded, prime)) for prime in (numbers.p, numbers.q)
    )
    yield "squares modulo the first prime", first
    yield "squares modulo the second prime", second
    yield "squares modulo both primes", first + second
    yield "squares by Jacobi's symbol", first * second
