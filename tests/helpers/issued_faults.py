"""Faults of a server that gives tokens for invitations: more than it may, or with answers that give something away."""

from __future__ import annotations

import secrets
import threading
from contextlib import suppress
from typing import Any

from msgspec.structs import asdict

from deniable_protocol import DeniableError
from deniable_protocol.blind_signatures import Token, verify_token
from deniable_server.errors import InvitationUnknown, InvitationUsed
from deniable_server.storage import invitations
from deniable_server.storage.invitations import Invitations, Kept
from deniable_server.web.rate_limit import RateLimit
from deniable_server.web.submission_reader import SubmissionReader
from tests.helpers.planting import constant, instead_of


@instead_of(Invitations, "take")
def an_invitation_is_never_used_up(original: Any, self: Any, *given: Any) -> None:
    with suppress(InvitationUsed):
        original(self, *given)


@instead_of(Invitations, "take")
def a_retry_uses_an_invitation_again(original: Any, self: Any, survey: Any, code: bytes, blinded: bytes) -> None:
    original(self, survey, code, secrets.token_bytes(32))


@instead_of(Invitations, "take")
def signed_before_it_is_on_disk(original: Any, self: Any, survey: Any, code: bytes, blinded: bytes) -> None:
    self._next(survey, code, blinded)


@instead_of(Invitations, "take")
def the_use_is_written_after_signing(original: Any, self: Any, *given: Any) -> None:
    def later() -> None:
        with suppress(DeniableError):
            original(self, *given)

    self._next(*given)
    threading.Timer(0.3, later).start()


def one_can_take_the_use_of_another() -> None:
    replaced = invitations._TAKE.replace(
        "DO NOTHING", "(survey, code, number) DO UPDATE SET blinded = excluded.blinded"
    )
    constant(invitations, "_TAKE", replaced)


@instead_of(SubmissionReader, "_is_entitled")
def an_id_need_not_follow_from_the_token(_: Any, self: SubmissionReader, posted: Any) -> bool:
    key = self._document.issuer
    return key is None or verify_token(key, Token.read(asdict(posted.token)))


@instead_of(Invitations, "take")
def other_words_for_other_reasons(original: Any, self: Any, survey: Any, code: bytes, blinded: bytes) -> None:
    try:
        original(self, survey, code, blinded)
    except InvitationUnknown as error:
        error.args = (f"This invitation is {self.states(survey, [code])[code]}.",)
        raise


@instead_of(invitations, "kept")
def a_copy_forgets_which_uses_are_taken(original: Any, *given: Any, **more: Any) -> Kept:
    found: Kept = original(*given, **more)
    return found._replace(issued=[])


@instead_of(invitations, "digest_of_code")
def codes_are_stored_as_they_are(_: Any, code: str) -> bytes:
    return code.encode().ljust(32)[:32]


@instead_of(RateLimit, "spend")
def asking_for_tokens_is_not_limited(original: Any, self: Any, *given: Any) -> None:
    pass
