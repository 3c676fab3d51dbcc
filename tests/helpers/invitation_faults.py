"""Faults of invitations: what would count a person twice, lose a token, or link a submission to a code."""

from __future__ import annotations

import sqlite3
from typing import Any

from deniable.delivery import Delivery
from deniable.state import Asked, State
from deniable_protocol import document, invitations, receive
from deniable_protocol.invitations import LENGTHS, _checksum
from tests.helpers.planting import instead_of


@instead_of(receive, "_token")
def any_token_is_taken(_: Any, *given: Any) -> None:
    return None


@instead_of(document, "_check_issuer")
def an_issuer_where_nobody_is_invited(original: Any, check: Any, survey: Any, tree: dict[str, Any]) -> Any:
    return original(check, survey, tree) if survey.invitations else None


@instead_of(invitations, "read_code")
def typing_errors_are_sent(original: Any, text: str) -> Any:
    payload = text.replace("-", "").upper()[:-2]
    return original(payload + _checksum(payload) if len(payload) + 2 in LENGTHS.values() else text)


@instead_of(State, "keep_blinding")
def another_drawing_for_every_attempt(original: Any, self: State, content: str, digest: str, asked: Asked) -> Any:
    def work(connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM tokens WHERE digest = ?", (digest,))

    self._write(work)
    return original(self, content, digest, asked)


@instead_of(State, "keep_blinding")
def sent_before_it_is_kept(_: Any, self: State, content: str, digest: str, asked: Asked) -> Asked:
    return asked


@instead_of(State, "keep_token")
def a_code_that_stays_on_the_device(_: Any, *given: Any) -> None:
    return None


@instead_of(Delivery, "put_off")
def a_submission_does_not_wait(_: Any, *given: Any) -> None:
    return None
