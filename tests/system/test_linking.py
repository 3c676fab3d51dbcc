"""Matching invitations with submissions, at the size of a test; and that the judge does find what links them."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from deniable_protocol import blind_signatures
from proofs import Watch
from proofs.linking import judged, limits, play, play_and_judge, prove
from proofs.linking_strategies import by_squares

below = blind_signatures._below


def test_nobody_can_match_invitations_with_submissions(tmp_path: Path) -> None:
    """A server that keeps all it sees, and its key, matches no more of 100 invitations with their submissions than by
    chance, whatever it tries; without blinding, it matches all of them.
    """
    outcome = prove(tmp_path, Watch(300), 21, invitations=100)
    assert outcome.failures == []
    assert outcome.figures["right without blinding"] == 100 and outcome.figures["strategies"] == 77


@pytest.mark.parametrize(
    ("factor", "found"),
    [
        (lambda n, read: n // 3, "often the same: blinding factor: 40 of 40"),
        (lambda n, read: n // 3 + read(1)[0] % 4, "often the same: blinding factor"),
        (lambda n, read: int.from_bytes(read(16), "big"), "size: blinding factor: 40 of 40"),
        (lambda n, read: 1 << 1 + read(1)[0], "bits set: blinding factor: 40 of 40"),
    ],
    ids=["one for all", "few different ones", "small", "simple"],
)
def test_a_factor_that_does_not_blind_is_found(
    factor: Callable[..., int], found: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blinding factors that are not drawn from all there are give the partners away, and the judge says how."""
    monkeypatch.setattr(blind_signatures, "_below", factor)
    failures = play_and_judge(tmp_path / "game", 21, 40).failures
    assert any(failure.startswith(found) for failure in failures), failures


def test_a_leak_of_two_bits_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If every blinding factor is a square, two bits of a token can be seen in its blinded value. That is too little
    to guess with, and still found.
    """
    monkeypatch.setattr(blind_signatures, "_below", lambda n, read: pow(below(n, read), 2, n))
    seen, partners = play(tmp_path / "game", 21, 400)
    found = judged(by_squares(seen), partners)
    assert found.right < limits(400, 4)[0]
    assert any(failure.startswith("squares modulo both primes: true partners rank") for failure in found.failures)


def test_the_limits_are_those_of_chance() -> None:
    """Permutations that were drawn stay below both bounds on probability, also where these are far from zero."""
    draw, size, draws = random.Random(21), 30, 20_000
    fixed = [sum(i == j for i, j in enumerate(draw.sample(range(size), size))) for _ in range(draws)]
    assert [sum(count >= k for count in fixed) / draws for k in (3, 4, 5)] <= [0.1667, 0.0417, 0.0084]
    right, off = limits(1_000, 77)
    assert right == 12 and 216 < off < 219
