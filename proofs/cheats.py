"""What somebody might try with a token that is not theirs to spend, and how the server must answer."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any, NamedTuple

from deniable_protocol import Document
from deniable_protocol.blind_signatures import MESSAGE, PREFIX, Blinding, PublicKey, Token, submission_id, to_text
from deniable_protocol.invitations import LINK, draw_code
from deniable_server.issuing import IssuerKey
from tests.helpers.servers import collector

from .parcels import Maker, content_of, submissions_path


class Cheat(NamedTuple):
    """A request, and the only answer to it that is right: a status, a kind of problem, and a place in what was sent."""

    kind: str
    path: str
    tree: dict[str, Any]
    status: int
    problem: str
    place: str = ""
    headers: dict[str, str] | None = None

    @property
    def body(self) -> bytes:
        return json.dumps(self.tree, separators=(",", ":")).encode()

    def is_refused(self, status: int, answer: dict[str, Any]) -> bool:
        """Whether this is that answer, and repeats nothing of the token."""
        places = [flaw["place"] for flaw in answer.get("errors", [])] or [""]
        right = (status, str(answer.get("type")).rpartition(":")[2], places) == (
            self.status,
            self.problem,
            [self.place],
        )
        secret = self.tree.get("token", {}).get("signature", "")[:40]
        return right and not (secret and secret in json.dumps(answer))


def foreign_token(key: IssuerKey) -> Token:
    """A token that this issuer has signed."""
    blinding = Blinding.draw(key.public)
    return blinding.finish(key.public, key.sign(blinding.blinded))


class Cheats:
    """Makes them, with a token that was spent and, of another survey, one that was not."""

    def __init__(self, document: Document, other: Document, foreign: Token, seed: int) -> None:
        self._document, self._other, self._foreign = document, other, foreign
        self._maker, self._random = Maker(seed), random.Random(seed)

    def with_token(self, token: Token, spent: dict[str, Any], code: str) -> Cheat:
        """One of them; ``spent`` is the submission that the token was spent on, ``code`` the one it was given for."""
        return self._random.choice([*self.all_with(token, spent, code)])

    def all_with(self, token: Token, spent: dict[str, Any], code: str) -> Iterator[Cheat]:
        """Each kind once."""
        survey, key = self._document.survey.id, self._document.issuer
        assert isinstance(key, PublicKey)
        here, there = submissions_path(survey), submissions_path(self._other.survey.id)

        def submitted(kind: str, place: str, other: Token, path: str = here, **instead: Any) -> Cheat:
            tree = {**spent, "id": submission_id(other.message), "token": other.tree, **instead}
            return Cheat(kind, path, tree, 422, "invalid", place)

        message, signature = (bytearray(part) for part in (token.message, token.signature))
        message[self._random.randrange(len(message))] ^= 1 << self._random.randrange(8)
        signature[self._random.randrange(1, len(signature))] ^= 1 << self._random.randrange(8)
        invented = Token(self._random.randbytes(PREFIX + MESSAGE), b"\0" + self._random.randbytes(255))
        yield self._spent_twice(token, spent, here)
        yield self._spent_twice(token, spent, here, in_a_batch=True)
        yield submitted("replayed: under another id", "id", token, id=self._random.randbytes(16).hex())
        yield submitted("replayed: in another survey", "token.signature", token, there, digest=self._other.digest)
        yield submitted("forged: all of it", "token.signature", invented)
        yield submitted("forged: another message", "token.signature", Token(bytes(message), token.signature))
        yield submitted("forged: another signature", "token.signature", Token(token.message, bytes(signature)))
        yield submitted("foreign: of another survey's key", "token.signature", self._foreign)
        for part, whole in token.tree.items():
            cut = whole[: self._random.randrange(len(whole))]
            yield submitted("truncated", f"token.{part}", token, token={**token.tree, part: cut})
        without = {name: value for name, value in spent.items() if name != "token"}
        yield Cheat("without a token", here, without, 422, "invalid", "token")
        ask = {"invitation": code, "blinded": to_text(Blinding.draw(key).blinded)}
        tokens = f"/api/v1/surveys/{survey}/tokens"
        yield Cheat("asked for a second token", tokens, ask, 409, "invitation-used")
        yield Cheat(
            "asked with another code", tokens, {**ask, "invitation": draw_code(LINK)}, 403, "invitation-unknown"
        )

    def _spent_twice(self, token: Token, spent: dict[str, Any], path: str, *, in_a_batch: bool = False) -> Cheat:
        other = spent
        while content_of(other) == content_of(spent):
            other = self._maker.submission(self._document, token)
        if not in_a_batch:
            return Cheat("spent twice", path, other, 409, "id-conflict")
        batch = {"submissions": self._random.sample([spent, other], 2)}
        headers = collector(self._document.survey.id)
        return Cheat("spent twice in a batch", path, batch, 409, "id-conflict", headers=headers)
