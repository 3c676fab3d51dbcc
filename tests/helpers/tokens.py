"""Tokens step by step, each step by another implementation: Python, our JavaScript, another package."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from deniable_protocol.blind_signatures import BYTES, Blinding, PublicKey, Token, from_text, to_text, verify_token
from deniable_server.issuing import IssuerKey


class InPython:
    """Our own, in Python; also the issuer."""

    def draw(self, key: str) -> Any:
        return Blinding.draw(PublicKey.read(key)).tree

    def sign(self, secret: str, blinded: str) -> Any:
        content = from_text(secret, len(secret) * 3 // 4, "secret")
        return to_text(IssuerKey.load(content).sign(from_text(blinded, BYTES, "blinded")))

    def finish(self, key: str, blinding: Any, signature: str) -> Any:
        return Blinding.read(blinding).finish(PublicKey.read(key), from_text(signature, BYTES, "signature")).tree

    def verify(self, key: str, token: Any) -> Any:
        return verify_token(PublicKey.read(key), Token.read(token))


class InNode:
    """A process that does one step for each line."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None and process.stdout is not None
        self._input, self._output = process.stdin, process.stdout

    def _ask(self, step: str, **given: Any) -> Any:
        self._input.write(json.dumps({"step": step, **given}) + "\n")
        self._input.flush()
        return json.loads(self._output.readline())

    def draw(self, key: str) -> Any:
        return self._ask("draw", key=key)

    def sign(self, secret: str, blinded: str) -> Any:
        return self._ask("sign", secret=secret, blinded=blinded)

    def finish(self, key: str, blinding: Any, signature: str) -> Any:
        return self._ask("finish", key=key, blinding=blinding, signature=signature)

    def verify(self, key: str, token: Any) -> Any:
        return self._ask("verify", key=key, token=token)


Maker = InPython | InNode


@contextmanager
def in_node(node: str, web: Path, *arguments: str) -> Iterator[InNode]:
    """Our JavaScript in this copy of ``client/web``; with "peer", the other package that is installed there."""
    command = [node, str(web / "test" / "tokens.mjs"), *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield InNode(process)


def check_together(device: Maker, issuer: Maker, verifiers: list[Maker], secret: IssuerKey) -> None:
    """One draws and finishes a token, one signs it, and all agree that it is valid, and that a changed one is not."""
    key = secret.public.text
    blinding = device.draw(key)
    signature = issuer.sign(to_text(secret.dump()), blinding["blinded"])
    token = device.finish(key, blinding, signature)
    changed = {**token, "message": to_text(bytes(64))}
    for verifier in verifiers:
        assert verifier.verify(key, token) is True and verifier.verify(key, changed) is False


def check_finish(finisher: Maker, drawer: Maker, verifier: Maker, secret: IssuerKey) -> None:
    """What one device kept can be finished by another implementation."""
    key = secret.public.text
    blinding = drawer.draw(key)
    token = finisher.finish(key, blinding, to_text(secret.sign(from_text(blinding["blinded"], BYTES, "blinded"))))
    assert verifier.verify(key, token) is True
