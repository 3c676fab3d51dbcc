"""The issuer: signatures that others accept, a key that is kept, and what an attacker could gain from either."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_der_public_key,
    load_pem_private_key,
)

from deniable_protocol import TokenError
from deniable_protocol.blind_signatures import Blinding, PublicKey, Token, verify, verify_token
from deniable_server import issuing
from deniable_server.errors import IssuingError
from deniable_server.issuing import IssuerKey
from tests.helpers.machine import ROOT

PSS = padding.PSS(padding.MGF1(hashes.SHA384()), salt_length=48)


@pytest.fixture(scope="module")
def key() -> IssuerKey:
    return IssuerKey.generate()


def others(key: IssuerKey) -> tuple[rsa.RSAPrivateKey, rsa.RSAPublicKey]:
    """The same key as another implementation has it; the public one from what is published."""
    public = load_der_public_key(key.public.spki)
    assert isinstance(public, rsa.RSAPublicKey)
    return key._key, public


def token_from(key: IssuerKey) -> Token:
    blinding = Blinding.draw(key.public)
    return blinding.finish(key.public, key.sign(blinding.blinded))


def test_another_implementation_accepts_our_tokens(key: IssuerKey) -> None:
    """OpenSSL verifies a finished token as an ordinary RSASSA-PSS signature, and no other message with it."""
    _, public = others(key)
    for _ in range(5):
        token = token_from(key)
        public.verify(token.signature, token.message, PSS, hashes.SHA384())
        with pytest.raises(InvalidSignature):
            public.verify(token.signature, token.message[::-1], PSS, hashes.SHA384())


def test_we_accept_what_another_implementation_signs(key: IssuerKey) -> None:
    """Our verifier takes OpenSSL's signatures with this hash and salt length, and none with others."""
    private, _ = others(key)
    for message in (bytes(64), bytes(range(64))):
        assert verify_token(key.public, Token(message, private.sign(message, PSS, hashes.SHA384())))
    wrong: list[tuple[Any, Any]] = [
        (padding.PSS(padding.MGF1(hashes.SHA384()), salt_length=0), hashes.SHA384()),
        (padding.PSS(padding.MGF1(hashes.SHA384()), salt_length=47), hashes.SHA384()),
        (padding.PSS(padding.MGF1(hashes.SHA384()), salt_length=padding.PSS.MAX_LENGTH), hashes.SHA384()),
        (padding.PSS(padding.MGF1(hashes.SHA256()), salt_length=48), hashes.SHA384()),
        (padding.PSS(padding.MGF1(hashes.SHA384()), salt_length=48), hashes.SHA512()),
        (padding.PKCS1v15(), hashes.SHA384()),
    ]
    for how, digest in wrong:
        assert not verify_token(key.public, Token(bytes(64), private.sign(bytes(64), how, digest)))


@pytest.mark.parametrize("bits", [1024, 1025, 1026, 1031, 1032, 2047, 3072])
def test_moduli_of_any_length_agree_with_another_implementation(bits: int) -> None:
    """Encodings end within a byte, or exactly at one: the verifier agrees with OpenSSL at each such length."""
    private = rsa.generate_private_key(65537, bits)
    numbers = private.public_key().public_numbers()
    signature = private.sign(b"message", PSS, hashes.SHA384())
    assert verify(PublicKey(numbers.n, numbers.e), b"message", signature)
    assert not verify(PublicKey(numbers.n, numbers.e), b"massage", signature)


def test_the_published_key_is_what_others_write(key: IssuerKey) -> None:
    """Our SPKI is OpenSSL's, byte for byte, and what we read from it is the key."""
    _, public = others(key)
    assert public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo) == key.public.spki
    assert PublicKey.read(key.public.text) == key.public == (public.public_numbers().n, 65537)


def test_a_key_survives_a_restart(key: IssuerKey) -> None:
    """What was written can be read, signs the same, and is a key that other programs read, too."""
    again = IssuerKey.load(key.dump())
    assert again.public == key.public and again.dump() == key.dump()
    blinded = Blinding.draw(key.public).blinded
    assert again.sign(blinded) == key.sign(blinded)
    assert "IssuerKey" in repr(key) and str(key._numbers.p) not in repr(key)


def test_a_signature_is_repeatable(key: IssuerKey) -> None:
    """The same blinded value always gets the same signature, so that a lost response can be repeated."""
    blinded = Blinding.draw(key.public).blinded
    assert len({key.sign(blinded) for _ in range(3)}) == 1


def test_only_blinded_values_are_signed(key: IssuerKey) -> None:
    """Another length, or a number that is not below the modulus, is refused; the ends of the range are not."""
    n = key.public.modulus
    for refused in (b"", bytes(255), bytes(257), n.to_bytes(256, "big"), b"\xff" * 256):
        with pytest.raises(TokenError) as caught:
            key.sign(refused)
        reason = "range" if len(refused) == 256 else "format"
        assert (caught.value.place, caught.value.reason) == ("blinded", reason)
    for end in (0, 1, n - 1):
        assert key.sign(end.to_bytes(256, "big")) == end.to_bytes(256, "big")


def test_the_secret_exponents_never_meet_a_chosen_number(key: IssuerKey, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is raised to them is another number each time, also for the same request: its time shows nothing of it."""
    met: list[int] = []
    power = IssuerKey._power

    def watched(self: IssuerKey, x: int) -> int:
        met.append(x)
        return power(self, x)

    monkeypatch.setattr(IssuerKey, "_power", watched)
    chosen = [2, 2, 2, key.public.modulus - 2]
    for z in chosen:
        key.sign(z.to_bytes(256, "big"))
    assert len({*met, *chosen}) == len(met) + 2
    # The chance that a uniform number is shorter than this is below 10^-9; the chosen ones are.
    assert min(met).bit_length() > 2048 - 40


@pytest.mark.parametrize("half", ["p", "q"])
def test_a_fault_reveals_nothing(key: IssuerKey, monkeypatch: pytest.MonkeyPatch, half: str) -> None:
    """A result that is wrong modulo one of the primes would give away the key: no such signature leaves."""
    numbers = key._numbers
    prime, other = (numbers.p, numbers.q) if half == "p" else (numbers.q, numbers.p)
    power = IssuerKey._power

    def faulty(self: IssuerKey, x: int) -> int:
        return (power(self, x) + other * pow(other, -1, prime)) % (prime * other)  # wrong modulo one prime only

    monkeypatch.setattr(IssuerKey, "_power", faulty)
    with pytest.raises(IssuingError, match="not sent"):
        key.sign((2).to_bytes(256, "big"))


def pkcs8(key: Any) -> bytes:
    content: bytes = key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    return content


def test_a_damaged_or_foreign_key_is_refused(key: IssuerKey) -> None:
    """No key, half a key, one with a changed prime, of another kind, size or exponent: an error that quotes nothing."""
    content = key.dump()
    prime = key._numbers.p.to_bytes(128, "big")
    foreign = [
        b"",
        content[:-1],
        content.replace(prime, prime[:-1] + bytes([prime[-1] ^ 2])),
        pkcs8(ec.generate_private_key(ec.SECP256R1())),
        pkcs8(rsa.generate_private_key(65537, 1024)),
        pkcs8(rsa.generate_private_key(3, 2048)),
        key._key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
    ]
    for each in foreign:
        with pytest.raises(IssuingError) as caught:
            IssuerKey.load(each)
        assert caught.value.__cause__ is None and prime.hex() not in str(caught.value)


def test_a_token_of_one_issuer_is_none_of_another(key: IssuerKey) -> None:
    """Surveys have keys of their own: a token is valid for its own survey only, and so is a blind signature."""
    other = IssuerKey.generate()
    token = token_from(key)
    assert verify_token(key.public, token) and not verify_token(other.public, token)
    blinding = Blinding.draw(key.public)
    value = int.from_bytes(blinding.blinded, "big") % other.public.modulus
    with pytest.raises(TokenError):
        blinding.finish(key.public, other.sign(value.to_bytes(256, "big")))


def test_the_issuers_arithmetic_is_that_of_the_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """The blind signatures of the RFC, from its primes; of 4096 bits, which only the size that we use would refuse."""
    monkeypatch.setattr(issuing, "BYTES", 512)
    tests = json.loads((ROOT / "shared/vectors/rfc9474.json").read_text("ascii"))["tests"]
    assert len(tests) == 4
    for test in tests:
        n, e, d, p, q = (int(test[name], 16) for name in "nedpq")
        public = rsa.RSAPublicNumbers(e, n)
        private = rsa.RSAPrivateNumbers(p, q, d, d % (p - 1), d % (q - 1), pow(q, -1, p), public)
        assert IssuerKey(private.private_key()).sign(bytes.fromhex(test["blinded_msg"])).hex() == test["blind_sig"]


def test_a_key_is_new_each_time(key: IssuerKey) -> None:
    """Two surveys never share a key; each has two primes of 1024 bits and the exponent that documents allow."""
    other = IssuerKey.generate()
    assert other.public.modulus != key.public.modulus
    for each in (key, other):
        assert each._numbers.p.bit_length() == each._numbers.q.bit_length() == 1024 and each.public.exponent == 65537
        assert each.public.bits == 2048 and load_pem_private_key(
            each._key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()), None
        )
