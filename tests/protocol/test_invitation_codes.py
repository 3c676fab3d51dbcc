"""Invitation codes: how they are drawn, and that a typing error is found before anything is sent."""

from __future__ import annotations

import hashlib
from collections import Counter
from itertools import count

import pytest

from deniable_protocol import InvitationError
from deniable_protocol.invitations import ALPHABET, LINK, TYPED, digest_of_code, draw_code, read_code, show_code


@pytest.mark.parametrize(("bits", "length"), [(LINK, 28), (TYPED, 14)])
def test_every_bit_of_a_code_is_drawn(bits: int, length: int) -> None:
    """Each random bit changes the code, and no two codes are the same: none of the bits is lost on the way."""
    size = (bits + 7) // 8
    codes = {draw_code(bits, lambda asked: (0).to_bytes(asked, "big"))}
    for bit in range(8 * size - bits, 8 * size):
        codes.add(draw_code(bits, lambda asked, bit=bit: (1 << bit).to_bytes(asked, "big")))
    assert len(codes) == bits + 1 and {len(code) for code in codes} == {length}
    assert len({draw_code(bits) for _ in range(1000)}) == 1000
    assert all(read_code(show_code(code).lower()) == code for code in codes)


def test_typing_errors_are_found() -> None:
    """Of all codes with one wrong character, or with two neighbours swapped, one in 1,024 passes at most by chance."""
    code = draw_code(TYPED, lambda size: hashlib.sha256(b"typed").digest()[:size])
    wrong = {code[:i] + other + code[i + 1 :] for i in range(len(code)) for other in ALPHABET if other != code[i]}
    wrong |= {code[:i] + code[i + 1] + code[i] + code[i + 2 :] for i in range(len(code) - 1)} - {code}
    reasons = Counter(_reason(text) for text in wrong)
    assert reasons.keys() <= {"checksum", None} and reasons[None] <= 2 and len(wrong) > 440


def test_the_checksum_leaves_one_in_1024() -> None:
    """Of random texts of the right length about one in 1,024 is a code: within five standard deviations of 64."""
    numbers = (hashlib.sha256(b"%d" % i).digest() for i in count())
    texts = ("".join(ALPHABET[byte % 32] for byte in next(numbers)[:14]) for _ in range(65_536))
    assert 24 <= sum(_reason(text) is None for text in texts) <= 104


def test_an_error_never_repeats_a_code() -> None:
    """A code opens a survey: what is refused is not in the message, which may be logged."""
    code = draw_code()
    for text in (code[:-1], code[1:] + "U", code[1:] + code[0]):
        with pytest.raises(InvitationError) as caught:
            read_code(text)
        assert text[:6] not in str(caught.value) and caught.value.place == "invitation"


def test_a_server_keeps_a_digest() -> None:
    """It is the SHA-256 of the code in its one form, however somebody typed it."""
    code = draw_code(TYPED)
    assert digest_of_code(read_code(f" {show_code(code).lower()} ")) == hashlib.sha256(code.encode()).digest()


def _reason(text: str) -> str | None:
    try:
        read_code(text)
    except InvitationError as error:
        return error.reason
    return None
