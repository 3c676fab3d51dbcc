"""Matching invitations with submissions, at the size of a test; and that the judge does find what links them."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
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
    """Permutations that were drawn stay within both bounds, where these are large enough to be seen; and the limits are
    where the bounds are small enough.
    """
    draw, size, draws = np.random.default_rng(21), 30, 20_000
    fit = draw.permuted(np.tile(np.arange(size) / size, (size, 1)), axis=1)  # ranks of some strategy
    drawn = [draw.permutation(size) for _ in range(draws)]
    right = np.array([(order == np.arange(size)).sum() for order in drawn])
    off = np.array([abs(fit[np.arange(size), order].sum() - fit.mean() * size) for order in drawn])
    for k in (1, 2, 3, 4, 5):
        assert (right >= k).mean() < 1.2 / math.factorial(k), "six standard deviations above it"
    for t in range(1, 15):
        assert (off >= t).mean() <= 2 * math.exp(-t * t / (4 * fit.mean() * size + 2 * t))
    most_right, most_off = limits(1_000, 77)
    assert 77 / math.factorial(most_right) < 0.5e-6 < 77 / math.factorial(most_right - 1)
    assert 77 * 2 * math.exp(-(most_off**2) / (2_000 + 2 * most_off)) == pytest.approx(0.5e-6)
