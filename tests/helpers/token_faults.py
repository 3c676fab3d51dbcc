"""Faults of tokens: what would link them to invitations, forge them, or give away the issuer's key."""

from __future__ import annotations

from base64 import urlsafe_b64decode
from typing import Any

from deniable_protocol import blind_signatures
from deniable_protocol.blind_signatures import BYTES, PublicKey
from deniable_protocol.draws import RandomBytes
from deniable_server.issuing import IssuerKey
from tests.helpers.planting import instead_of


@instead_of(blind_signatures, "_below")
def tokens_are_not_blinded(_: Any, n: int, read: RandomBytes) -> int:
    return 1


@instead_of(blind_signatures, "_below")
def all_have_the_same_blinding_factor(_: Any, n: int, read: RandomBytes) -> int:
    return n // 3


@instead_of(blind_signatures, "_below")
def a_blinding_factor_with_a_bias(_: Any, n: int, read: RandomBytes) -> int:
    return int.from_bytes(read((n.bit_length() + 7) // 8), "big") % (n - 1) + 1


@instead_of(blind_signatures, "finalize")
def a_signature_is_not_verified_by_the_device(
    _: Any, key: PublicKey, message: bytes, blind_signature: bytes, inverse: bytes, *, salt_length: int = 48
) -> bytes:
    s = int.from_bytes(blind_signature, "big") * int.from_bytes(inverse, "big") % key.modulus
    return s.to_bytes(key.size, "big")


@instead_of(blind_signatures, "verify")
def a_signature_may_be_above_the_modulus(
    original: Any, key: PublicKey, message: bytes, signature: bytes, *, salt_length: int = 48
) -> Any:
    reduced = int.from_bytes(signature, "big") % key.modulus
    return original(key, message, reduced.to_bytes(key.size, "big"), salt_length=salt_length)


@instead_of(blind_signatures, "verify")
def a_signature_without_salt_is_taken(
    original: Any, key: PublicKey, message: bytes, signature: bytes, *, salt_length: int = 48
) -> Any:
    return any(original(key, message, signature, salt_length=length) for length in {salt_length, 0})


@instead_of(blind_signatures, "from_text")
def any_base64_is_taken(_: Any, text: Any, size: int, place: str) -> bytes:
    return urlsafe_b64decode(str(text) + "==").ljust(size, b"\0")[:size]


@instead_of(IssuerKey, "sign")
def the_issuer_does_not_hide_what_it_signs(_: Any, self: IssuerKey, blinded: bytes) -> bytes:
    return self._power(int.from_bytes(blinded, "big")).to_bytes(BYTES, "big")


@instead_of(IssuerKey, "sign")
def a_signature_that_came_out_wrong_is_sent(_: Any, self: IssuerKey, blinded: bytes) -> bytes:
    n, e = self.public
    signed = self._power(int.from_bytes(blinded, "big") * pow(3, e, n) % n)
    return (signed * pow(3, -1, n) % n).to_bytes(BYTES, "big")
