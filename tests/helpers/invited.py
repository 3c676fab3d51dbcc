"""A survey with invitations, its issuer, and a small server that signs, for the tests of clients.

The key is made from words, so that everybody knows its secret, and no package is needed to sign with it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from deniable_protocol import publish, survey_from_tree, verify
from deniable_protocol.blind_signatures import BYTES, PublicKey, from_text, to_text
from deniable_protocol.checks import Checker
from deniable_protocol.invitations import LINK, TYPED, draw_code
from deniable_protocol.receive import check_submission
from tests.helpers.fake_server import JSON, PROBLEM, FakeServer, Request, Scripted, tree


def _number(word: str) -> int:
    return int.from_bytes(hashlib.shake_256(word.encode()).digest(BYTES // 2), "big") | 3 << 8 * BYTES // 2 - 2 | 1


_PRIMES = _number("first prime") + 324, _number("second prime") + 458, _number("third prime") + 546


class Issuer(NamedTuple):
    """A key of two of these primes. It does nothing against an attack on its timing: it is for tests."""

    p: int
    q: int

    @property
    def public(self) -> PublicKey:
        return PublicKey(self.p * self.q, 65537)

    def sign(self, blinded: str) -> str:
        secret = pow(65537, -1, (self.p - 1) * (self.q - 1))
        value = int.from_bytes(from_text(blinded, BYTES, "blinded"), "big")
        return to_text(pow(value, secret, self.p * self.q).to_bytes(BYTES, "big"))


ISSUER, OTHER_ISSUER = Issuer(_PRIMES[0], _PRIMES[1]), Issuer(_PRIMES[0], _PRIMES[2])
INVITED = publish(survey_from_tree({**tree(), "invitations": True}), issuer=ISSUER.public)
CODE, SECOND_CODE = (draw_code(LINK, lambda size, seed=seed: seed * size) for seed in (b"1", b"2"))
TYPED_CODE = draw_code(TYPED, lambda size: b"3" * size)


def problem(status: int, kind: str) -> Scripted:
    return status, PROBLEM, json.dumps({"type": f"urn:deniable:problem:{kind}", "title": kind}).encode()


class InvitingServer(FakeServer):
    """Signs once for each use of a code, the same again for the same blinded value, and takes only valid tokens."""

    def __init__(self, document: bytes = INVITED, uses: Mapping[str, int] | None = None, **options: Any) -> None:
        super().__init__(document, **options)
        self.issuer = ISSUER
        self.uses = {CODE: 1, SECOND_CODE: 1, TYPED_CODE: 1} if uses is None else {**uses}
        self.issued: dict[str, list[str]] = {}

    @property
    def asked(self) -> list[dict[str, str]]:
        """The requests for tokens."""
        return [json.loads(request.body) for request in self.requests if request.path.endswith("/tokens")]

    def respond(self, request: Request) -> Scripted:
        if request.path.endswith("/tokens"):
            return self._sign(json.loads(request.body))
        if request.method == "POST":
            (document,) = self.documents.values()
            check = Checker()
            if check_submission(check, verify(document), json.loads(request.body)) is None:
                return problem(422, "invalid")
        return super().respond(request)

    def _sign(self, asked: dict[str, str]) -> Scripted:
        code, blinded = asked["invitation"], asked["blinded"]
        if code not in self.uses:
            return problem(403, "invitation-unknown")
        issued = self.issued.setdefault(code, [])
        if blinded not in issued:
            if len(issued) == self.uses[code]:
                return problem(409, "invitation-used")
            issued.append(blinded)
        return 201, JSON, json.dumps({"signature": self.issuer.sign(blinded)}).encode()


class InvitingSite(InvitingServer):
    """The same with the page of the survey and what it loads, for browsers."""

    language = "en"

    def respond(self, request: Request) -> Scripted:
        from deniable_web import web_file  # not part of the base install's tests

        path = request.path.partition("?")[0]
        if path.startswith("/s/"):
            page = f'<!doctype html><html lang="{self.language}"><meta name="viewport" content="width=device-width">'
            page += '<meta name="color-scheme" content="light dark"><title>Survey</title><body>'
            page += (
                f'<deniable-survey src="{path}"></deniable-survey><script type="module" src="/deniable.js"></script>'
            )
            return 200, {"Content-Type": "text/html; charset=utf-8"}, page.encode()
        if path.endswith(".js"):
            return 200, {"Content-Type": "text/javascript"}, web_file(path[1:]).read_bytes()
        return super().respond(request)
