"""Linking: a server that keeps everything it sees tries to say which submission came by which invitation.

The game. Each device gets its token with its code. Later, all submit in an order drawn by chance, some of them in
batches. The judge has every request and answer, in order, and the private key. It tries many strategies
(``linking_strategies``), each of which says for every pair of a request for a token and a submission how well they fit.

What chance gives. If nothing links them, the true partners are a uniform permutation, whatever the judge has seen. Then

- a strategy that guesses one submission for each invitation has one right on average, and k or more of them with a
  probability of at most 1/k!: there are C(n, k) choices of k guesses, each all right with (n-k)!/n! or never;
- the ranks of the true partners, each from 0 to 1, add up to n/2 on average, and miss that by t or more with a
  probability of at most 2 exp(-t^2 / (2n + 2t)) (Chatterjee, Stein's method for concentration inequalities, 2007,
  proposition 1.1). This finds what is too little to guess with, such as one bit.

The limits are such that all strategies together give a false alarm with a probability below 10^-6.
"""

from __future__ import annotations

import json
import math
import os
import random
from collections.abc import Iterable
from contextlib import closing
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from flask import Flask
from scipy.stats import rankdata

from deniable_protocol.blind_signatures import BYTES, Blinding, PublicKey, from_text, to_text
from deniable_protocol.draws import RandomBytes
from deniable_server import create_app
from deniable_server.settings import Settings, parse_rate
from deniable_server.storage.invitations import make_invitations
from tests.helpers.servers import collector, storage_of

from . import Outcome, Watch
from .invitees import publish_by_invitation
from .linking_strategies import Seen, Strategy, strategies
from .parcels import Maker, submissions_path

FALSE_ALARMS = 1e-6
SURVEY = "linking"
BATCH = 50


def not_blinded(size: int) -> bytes:
    """A random source of devices that hide nothing: their blinding factor is 1."""
    return os.urandom(size) if size < BYTES else (1).to_bytes(size, "big")


def prove(folder: Path, watch: Watch, seed: int, invitations: int) -> Outcome:
    """A game of so many invitations, and one with the blinding switched off, which the judge has to win."""
    figures: dict[str, int | float | str] = {"invitations": invitations}
    failures: list[str] = []
    watch.counts(0, 2)
    found = play_and_judge(folder / "blinded", seed, invitations)
    figures |= found.figures
    failures += found.failures
    watch.counts(1, 2)
    control = play_and_judge(folder / "open", seed, invitations, not_blinded)
    figures["right without blinding"] = control.right
    if control.right < invitations:
        failures.append(f"without blinding, the judge matched only {control.right} of {invitations}")
    watch.counts(2, 2)
    return Outcome(figures, failures)


def play_and_judge(folder: Path, seed: int, invitations: int, read: RandomBytes = os.urandom) -> Judged:
    """One game, with every strategy."""
    seen, partners = play(folder, seed, invitations, read)
    return judged(strategies(seen), partners)


# --- the game ---------------------------------------------------------------------------------------------------------


def play(folder: Path, seed: int, invitations: int, read: RandomBytes = os.urandom) -> tuple[Seen, list[int]]:
    """What the server sees, and for each request for a token, which submission came from the same device. Devices
    ``read`` their randomness from the operating system, unless a game is to be won.
    """
    folder.mkdir()
    app = create_app(Settings(database=str(folder / "a.db"), rate_limit=parse_rate("1000000/second")))
    exchanges = _recorded(app)
    with closing(storage_of(app)) as storage:
        survey, chance, maker = publish_by_invitation(storage, SURVEY), random.Random(seed), Maker(seed)
        key = survey.document.issuer
        assert isinstance(key, PublicKey)
        codes = make_invitations(storage, survey, invitations)
        submissions = []
        for code in codes:
            blinding = Blinding.draw(key, read)
            answer = _post(app, f"/api/v1/surveys/{SURVEY}/tokens", _asked(code, blinding))
            token = blinding.finish(key, from_text(answer["signature"], BYTES, "signature"))
            submissions.append(maker.submission(survey.document, token))
        order = chance.sample(range(invitations), invitations)
        half = invitations // 2
        for number in order[:half]:
            _post(app, submissions_path(SURVEY), submissions[number])
        for start in range(half, invitations, BATCH):
            batch = {"submissions": [submissions[number] for number in order[start : start + BATCH]]}
            _post(app, submissions_path(SURVEY), batch, collector(SURVEY))
        partners = [0] * invitations
        for place, number in enumerate(order):
            partners[number] = place
        return Seen.of(exchanges, storage.invitations.key(SURVEY)), partners


def _asked(code: str, blinding: Blinding) -> dict[str, str]:
    return {"invitation": code, "blinded": to_text(blinding.blinded)}


def _recorded(app: Flask) -> list[tuple[bytes, bytes]]:
    """From now on, every request and its answer, as they are at the server's door."""
    kept: list[tuple[bytes, bytes]] = []
    inner: Any = app.wsgi_app

    def recording(environ: dict[str, Any], start: Any) -> Iterable[bytes]:
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = BytesIO(body)
        with closing(inner(environ, start)) as parts:
            answer = b"".join(parts)
        kept.append((body, answer))
        return [answer]

    app.wsgi_app = recording  # type: ignore[assignment,method-assign]
    return kept


def _post(app: Flask, path: str, tree: dict[str, Any], headers: dict[str, str] | None = None) -> dict[str, Any]:
    answer = app.test_client().post(path, json=tree, headers=headers)
    if answer.status_code != 201:
        raise RuntimeError(f"the server answered {answer.status_code}")
    said: dict[str, Any] = json.loads(answer.data)
    return said


# --- the judge --------------------------------------------------------------------------------------------------------


class Judged(NamedTuple):
    """What the strategies found together: the most that one of them had right, and where one beat chance."""

    right: int
    figures: dict[str, int | float | str]
    failures: list[str]


def judged(tried: Iterable[Strategy], partners: list[int]) -> Judged:
    """Compare strategies with the truth, which none of them is given."""
    size, places = len(partners), np.arange(len(partners))
    truth = np.array(partners)
    right: dict[str, int] = {}
    ranks: dict[str, float] = {}
    for name, fit in tried:
        right[name] = int((fit.argmax(axis=1) == truth).sum())
        ranks[name] = float(((rankdata(fit, axis=1)[places, truth] - 0.5) / size).sum())
    most_right, most_off = limits(size, len(right))
    failures = [
        f"{name}: {count} of {size} right, by chance fewer than {most_right}"
        for name, count in right.items()
        if count >= most_right
    ] + [
        f"{name}: true partners rank at {total / size:.3f} on average, by chance at 0.5 ± {most_off / size:.3f}"
        for name, total in ranks.items()
        if abs(total - size / 2) >= most_off
    ]
    best = max(right, key=lambda name: right[name])
    furthest = max(ranks, key=lambda name: abs(ranks[name] - size / 2))
    figures: dict[str, int | float | str] = {
        "strategies": len(right),
        "right on average": round(sum(right.values()) / len(right), 3),
        "right by the best strategy": f"{right[best]} ({best})",
        "a strategy fails with": most_right,
        "mean rank furthest from 0.5": f"{ranks[furthest] / size:.4f} ({furthest})",
        "a mean rank fails that is off by": round(most_off / size, 4),
    }
    return Judged(right[best], figures, failures)


def limits(size: int, number: int) -> tuple[int, float]:
    """How many right guesses, and how far a sum of ranks from its mean, are no chance, for so many strategies."""
    each = FALSE_ALARMS / 2 / number
    right = next(k for k in range(1, 200) if 1 / math.factorial(k) <= each)
    # The t with 2 exp(-t^2 / (2 size + 2 t)) = each: t^2 - 2 c t - 2 c size = 0, c = ln(2 / each).
    c = math.log(2 / each)
    return right, c + math.sqrt(c * c + 2 * c * size)
