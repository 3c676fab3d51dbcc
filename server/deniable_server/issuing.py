"""The issuer: a key that signs blinded messages (RFC 9474). What respondents do is in ``blind_signatures``.

The private key is the one secret here. It signs whatever it is sent, so it must be used for nothing else, and each
signature is one token: the caller decides who may have one, before it signs. Somebody who steals the key can make
tokens, but still cannot link the tokens of others to invitations.

Timing. Python's integers take a time that depends on their values, and an attacker may choose what is signed. So the
secret exponents never meet a chosen number: the blinded message z is first multiplied by r^e, with a fresh random r,
and the result is divided by r. z * r^e is uniform whatever z is, unless z is 0, whose signature is 0, or shares a
factor with n, and then its sender has the key already. So the time of a signature depends on the key and on r, not on
z: requests, however many and whatever they send, show how long this key takes, which is a single number. Other programs
on the same machine that can watch its caches are not kept out: run nobody else's where the key is.

Faults. Modulo p and q, powers take a quarter of the time. But if one of the two halves came out wrong, by an error in
memory or a flipped bit, the difference to the right signature would be a multiple of the other prime and would give
away the key. So every signature is verified, s^e = z, before it leaves.

May not: store anything, or know about HTTP.
"""

from __future__ import annotations

import secrets

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_der_private_key,
)

from deniable_protocol import Problem, TokenError
from deniable_protocol.blind_signatures import BYTES, PublicKey
from deniable_server.errors import IssuingError


class IssuerKey:
    """The key of one survey's issuer. Threads may share it. It is never printed."""

    __slots__ = ("_key", "_numbers", "public")

    def __init__(self, key: rsa.RSAPrivateKey) -> None:
        self._key, self._numbers = key, key.private_numbers()
        numbers = self._numbers.public_numbers
        self.public = PublicKey(numbers.n, numbers.e)

    @classmethod
    def generate(cls) -> IssuerKey:
        """A new key. It takes about a tenth of a second, sometimes several."""
        return cls(rsa.generate_private_key(public_exponent=65537, key_size=8 * BYTES))

    @classmethod
    def load(cls, content: bytes) -> IssuerKey:
        """The key that ``dump`` wrote, once it is certain that its numbers belong together."""
        try:
            key = load_der_private_key(content, password=None)
        except (TypeError, ValueError):
            key = None
        if not isinstance(key, rsa.RSAPrivateKey) or key.key_size != 8 * BYTES:
            raise IssuingError("the key that signs tokens is damaged. Restore it from a backup")
        loaded = cls(key)
        if loaded.public.exponent != 65537:
            raise IssuingError("the key that signs tokens has another exponent than 65537. It was not made here")
        return loaded

    def dump(self) -> bytes:
        """The private key as PKCS#8 in DER, not encrypted: it belongs where the access tokens' secrets are."""
        return self._key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())

    def sign(self, blinded: bytes) -> bytes:
        """The blind signature of a blinded message; ``TokenError`` if it is not one for this key."""
        n, e = self.public
        z = self.check(blinded)
        r = secrets.randbelow(n - 1) + 1  # not coprime to n with a chance below 2^-1000
        s = self._power(z * pow(r, e, n) % n) * pow(r, -1, n) % n
        if pow(s, e, n) != z:
            raise IssuingError("a signature came out wrong and was not sent: this machine makes errors")
        return s.to_bytes(BYTES, "big")

    def check(self, blinded: bytes) -> int:
        """The number that is to be signed; ``TokenError`` if it cannot be. Before an invitation is used up for it."""
        if len(blinded) != BYTES:
            raise TokenError([Problem("blinded", "format", f"a blinded message has {BYTES} bytes")])
        z = int.from_bytes(blinded, "big")
        if z >= self.public.modulus:
            raise TokenError([Problem("blinded", "range", "this was not blinded for the issuer's key")])
        return z

    def _power(self, x: int) -> int:
        """x^d mod n, modulo each prime, then put together by the Chinese remainder theorem."""
        p, q = self._numbers.p, self._numbers.q
        modulo_q = pow(x, self._numbers.dmq1, q)
        quotient = (pow(x, self._numbers.dmp1, p) - modulo_q) * self._numbers.iqmp % p
        return modulo_q + quotient * q
