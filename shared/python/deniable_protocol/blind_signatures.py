"""Blind signatures (RFC 9474): how a token is signed without being seen, and checked. The server's half is ``issuing``.

A device draws a random message and hides it: it sends z = m * r^e mod n, where m encodes the message and r is random.
The issuer signs what it is sent, z^d = m^d * r. The device divides by r and has the signature m^d of its message.

Who learns what. The key (n, e) and, in the end, the token (message, signature) are public. Until the token is sent, it
is the device's secret; r and its inverse are its secret for good, because they link the token to z, and with it to the
invitation. So a ``Blinding`` is kept on the device only until the token is finished, and never printed.

Proof that nobody can link them. A finished token has s^e = m, and m and r are coprime to n. So z = m * r^e = (s * r)^e.
r is uniform among the residues coprime to n and independent of the message, so s * r is uniform, too, whatever s is:
z has the same distribution for every token. This is exact, and no computing power helps. It needs no trust in the key:
it is true for every n and e, because ``finalize`` gives out only signatures that are valid. It needs that all
respondents have the same key, which is why the key is in the document, and the document is pinned by its digest.

Timing. The issuer could compute the r of each pair of a z and a token, and compare how long this r should have taken
with what it saw. It sees one duration, of a request that comes when the device likes, and each r is used once, so that
nothing can be averaged. Still, the one step whose course depends on its input is Euclid's algorithm, and here it gets
m * r times a second random factor, thus a uniform number that says nothing of m or r. What is left are products of a
fixed size, and the powers of a public exponent. Verifying has no secret: tokens and keys are public.

May not: use floating point, or any randomness but the source it is given, which defaults to the operating system's.
"""

from __future__ import annotations

import os
from base64 import b64decode, urlsafe_b64encode
from typing import Any, ClassVar, NamedTuple, NoReturn, Self

import msgspec

from .checks import sha256
from .draws import RandomBytes
from .errors import Problem, TokenError

KIND = "RSABSSA-SHA384-PSS-Randomized"
"""What documents call it. The functions below can also do the other three variants, which the RFC's vectors have."""

HASH = 48  # bytes of SHA-384
SALT = 48
PREFIX = 32
MESSAGE = 32

BYTES = 256  # of the modulus of an issuer's key, and so of all that it signs
# A public key as SPKI in DER, which has one way to write it: rsaEncryption, then the modulus, then the exponent 65537.
_BEFORE = bytes.fromhex("30820122300d06092a864886f70d01010105000382010f003082010a0282010100")
_AFTER = bytes.fromhex("0203010001")


def _refuse(place: str, reason: str, message: str) -> NoReturn:
    raise TokenError([Problem(place, reason, message)])


def to_text(content: bytes) -> str:
    """Bytes as base64url without padding: how keys, blinded values and tokens are written."""
    return urlsafe_b64encode(content).decode("ascii").rstrip("=")


def from_text(text: object, size: int, place: str) -> bytes:
    """The bytes in a text that is written as ``to_text`` writes it, if there are so many of them."""
    if isinstance(text, str):
        try:
            content = b64decode(text + "=" * (-len(text) % 4), b"-_", validate=True)
        except ValueError:
            content = b""
        if len(content) == size and to_text(content) == text:
            return content
    return _refuse(place, "format", f"this is not base64url of {size} bytes, without padding")


class PublicKey(NamedTuple):
    """The issuer's key, as everybody knows it."""

    modulus: int
    exponent: int

    @classmethod
    def read(cls, text: object) -> PublicKey:
        """The key in a document: a modulus of exactly 2048 bits and the exponent 65537, in the one way to write it."""
        content = from_text(text, len(_BEFORE) + BYTES + len(_AFTER), "issuer.key")
        modulus = int.from_bytes(content[len(_BEFORE) : -len(_AFTER)], "big")
        key = cls(modulus, 65537)
        if key.bits != 8 * BYTES or not modulus & 1 or key.spki != content:
            _refuse("issuer.key", "key", "this is not an RSA key of 2048 bits with the exponent 65537, as SPKI in DER")
        return key

    @property
    def bits(self) -> int:
        return self.modulus.bit_length()

    @property
    def size(self) -> int:
        """Bytes of the modulus, and of all that is blinded or signed."""
        return (self.bits + 7) // 8

    @property
    def spki(self) -> bytes:
        """The key of an issuer as DER."""
        return _BEFORE + self.modulus.to_bytes(BYTES, "big") + _AFTER

    @property
    def text(self) -> str:
        """The key as a document has it: base64url of its SPKI."""
        return to_text(self.spki)

    @property
    def fingerprint(self) -> str:
        """What two people can compare. The digest of the document is what pins the key."""
        digest = sha256(self.spki)
        return " ".join(digest[i : i + 4] for i in range(0, 16, 4))


# --- RFC 9474, of all four variants, for keys of any size ---------------------------------------------------------


def prepare(message: bytes, read: RandomBytes = os.urandom) -> bytes:
    """The message as the randomized variants sign it: 32 random bytes first. The others sign it as it is."""
    return read(PREFIX) + message


def blind(
    key: PublicKey, message: bytes, *, salt_length: int = SALT, read: RandomBytes = os.urandom
) -> tuple[bytes, bytes]:
    """The blinded message, which is sent, and the inverse of r, which is kept for ``finalize``.

    Draws the salt, r, and the factor that hides both from Euclid's algorithm, in this order.
    """
    n, e = key
    m = _encode(message, key.bits - 1, read(salt_length))
    r, factor = _below(n, read), _below(n, read)
    hidden = m * factor % n
    try:
        inverse = pow(hidden * r % n, -1, n) * hidden % n
    except ValueError:
        # The chance is below 2^-1000, unless n is no product of two large primes.
        _refuse("issuer.key", "key", "the modulus of the key has a factor that is too small")
    return (m * pow(r, e, n) % n).to_bytes(key.size, "big"), inverse.to_bytes(key.size, "big")


def finalize(
    key: PublicKey, message: bytes, blind_signature: bytes, inverse: bytes, *, salt_length: int = SALT
) -> bytes:
    """The signature of the message, or ``TokenError`` if it is not valid: then it must not be used for anything."""
    if len(blind_signature) != key.size:
        _refuse("signature", "format", f"a blind signature has {key.size} bytes")
    s = int.from_bytes(blind_signature, "big") * int.from_bytes(inverse, "big") % key.modulus
    signature = s.to_bytes(key.size, "big")
    if not verify(key, message, signature, salt_length=salt_length):
        _refuse("signature", "signature", "the issuer gave a signature that is not valid for its key")
    return signature


def verify(key: PublicKey, message: bytes, signature: bytes, *, salt_length: int = SALT) -> bool:
    """Whether this is a signature (RSASSA-PSS with SHA-384) of the message."""
    n, e = key
    s = int.from_bytes(signature, "big")
    if len(signature) != key.size or s >= n:
        return False
    # With its salt, an encoding is determined: it is valid if it is the one that we make with that salt.
    encoded, bits = pow(s, e, n), key.bits - 1
    return not encoded >> bits and encoded == _encode(message, bits, _salt_in(encoded, bits, salt_length))


def _below(n: int, read: RandomBytes) -> int:
    """Uniform on 1 ... n-1: as many random bits as n has, drawn until they are such a number. It takes fewer than two
    draws on average, and how many says nothing of the one that is kept.
    """
    while True:
        drawn = int.from_bytes(read((n.bit_length() + 7) // 8), "big") >> -n.bit_length() % 8
        if 0 < drawn < n:
            return drawn


def _encode(message: bytes, bits: int, salt: bytes) -> int:
    """EMSA-PSS-ENCODE of RFC 8017: zeros, a one and the salt, under a mask; the hash that made the mask; 0xbc."""
    width = _masked(bits, len(salt))
    digest = _sha384(bytes(8) + _sha384(message) + salt)
    masked = int.from_bytes(b"\1" + salt, "big") ^ _mask(digest, width, bits)
    return int.from_bytes(masked.to_bytes(width, "big") + digest + b"\xbc", "big")


def _sha384(content: bytes) -> bytes:
    import hashlib  # with it comes OpenSSL, which an app need not wait for when it starts

    return hashlib.sha384(content).digest()


def _salt_in(encoded: int, bits: int, length: int) -> bytes:
    """The salt that an encoding would have, if it is one."""
    width = _masked(bits, length)
    content = encoded.to_bytes(width + HASH + 1, "big")
    unmasked = int.from_bytes(content[:width], "big") ^ _mask(content[width:-1], width, bits)
    return unmasked.to_bytes(width, "big")[width - length :]


def _masked(bits: int, salt_length: int) -> int:
    """Bytes of the masked part of an encoding of so many bits."""
    width = (bits + 7) // 8 - HASH - 1
    if width <= salt_length:
        _refuse("issuer.key", "key", "the modulus of the key is too short for SHA-384")
    return width


def _mask(seed: bytes, width: int, bits: int) -> int:
    """MGF1 with SHA-384: so many bytes, of which the first bits that an encoding does not have are zero."""
    blocks = (_sha384(seed + i.to_bytes(4, "big")) for i in range(-(-width // HASH)))
    mask = int.from_bytes(b"".join(blocks)[:width], "big")
    return mask & (1 << bits - 8 * (HASH + 1)) - 1


# --- tokens -------------------------------------------------------------------------------------------------------


class _Kept(msgspec.Struct, frozen=True):
    """Bytes of fixed sizes, as texts where they are kept or sent. Never printed: they could be linked to a person."""

    sizes: ClassVar[dict[str, int]]

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    @property
    def tree(self) -> dict[str, str]:
        """The same as a JSON object of texts."""
        return {name: to_text(getattr(self, name)) for name in self.sizes}

    @classmethod
    def read(cls, tree: Any, place: str = "token") -> Self:
        """What ``tree`` gave: exactly these keys, each of its size."""
        if not isinstance(tree, dict) or tree.keys() != cls.sizes.keys():
            _refuse(place, "type", f"this is not an object with {' and '.join(cls.sizes)}")
        return cls(**{name: from_text(tree[name], size, f"{place}.{name}") for name, size in cls.sizes.items()})


class Token(_Kept, frozen=True):
    """The right to one submission: a random message and the issuer's signature of it."""

    sizes: ClassVar[dict[str, int]] = {"message": PREFIX + MESSAGE, "signature": BYTES}
    message: bytes
    signature: bytes


class Blinding(_Kept, frozen=True):
    """A token that is not signed yet. Only ``blinded`` leaves the device; drop the rest once the token is finished."""

    sizes: ClassVar[dict[str, int]] = {"message": PREFIX + MESSAGE, "blinded": BYTES, "inverse": BYTES}
    message: bytes
    blinded: bytes
    inverse: bytes

    @classmethod
    def draw(cls, key: PublicKey, read: RandomBytes = os.urandom) -> Blinding:
        """A new message, blinded for this key."""
        message = prepare(read(MESSAGE), read)
        return cls(message, *blind(key, message, read=read))

    def finish(self, key: PublicKey, blind_signature: bytes) -> Token:
        """The token, or ``TokenError`` if the issuer's signature is not valid."""
        return Token(self.message, finalize(key, self.message, blind_signature, self.inverse))


def verify_token(key: PublicKey, token: Token) -> bool:
    """Whether the issuer signed this token."""
    return len(token.message) == PREFIX + MESSAGE and verify(key, token.message, token.signature)


def submission_id(message: bytes) -> str:
    """The id of the submission that a token is for: a token that is spent twice gives the same id twice."""
    return sha256(message)[:32]
