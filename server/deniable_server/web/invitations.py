"""Invitations over HTTP: a respondent's device gets its token for one, editors make and revoke them.

Two things are called tokens. Here it is a respondent's: the unlinkable right to one submission. Those of staff are
access tokens (``auth``).

May not: log anything about a request for a token, or keep a code.
"""

from __future__ import annotations

import hashlib
from datetime import date
from typing import Annotated, Any, TypeVar

from flask import Blueprint, request
from flask.typing import ResponseReturnValue
from msgspec import Meta, Struct, ValidationError, convert

from deniable_protocol.blind_signatures import BYTES, from_text, to_text
from deniable_protocol.checks import strict_json
from deniable_protocol.errors import InvitationError
from deniable_protocol.invitations import digest_of_code, read_code
from deniable_server.errors import Kind, NotJSON, Refusal
from deniable_server.storage import Published
from deniable_server.storage.invitations import MOST_AT_ONCE, MOST_USES, InvitationNumbers

from .auth import acting
from .context import as_json, find, here, read_body
from .routes import route

invitations = Blueprint("invitations", __name__)

MAX_REQUEST = 2_000  # bytes of a request for a token
MAX_CODES = 64 * MOST_AT_ONCE  # bytes of a list of codes

SENT = (Kind.NOT_JSON, Kind.INCOMPLETE, Kind.TOO_LARGE, Kind.MEDIA_TYPE, Kind.INVALID, Kind.UNAVAILABLE)
"""What may be wrong with a request that sends something."""

S = TypeVar("S", bound=Struct)


class TokenRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """A code, and a message that was blinded for the key in the document: base64url of 256 bytes."""

    invitation: str
    blinded: str


class TokenSignature(Struct, frozen=True):
    """The blind signature, from which the device makes its token: base64url of 256 bytes."""

    signature: str


class NewInvitations(Struct, frozen=True, forbid_unknown_fields=True):
    """How many codes to make, for how many people each, until the end of which day (UTC); short ones are typed."""

    number: Annotated[int, Meta(ge=1, le=MOST_AT_ONCE)]
    uses: Annotated[int, Meta(ge=1, le=MOST_USES)] = 1
    short: bool = False
    expires_on: date | None = None


class Codes(Struct, frozen=True):
    """Codes, once: the server keeps only their digests. A link to the survey is /s/<survey>#<digest>.<code>."""

    survey: str
    digest: str
    codes: list[str]


class SentCodes(Struct, frozen=True, forbid_unknown_fields=True):
    """Codes that somebody has kept."""

    codes: Annotated[list[str], Meta(max_length=MOST_AT_ONCE)]


class Revoked(Struct, frozen=True):
    """How many of the codes could still be used until now."""

    revoked: int


# --- respondents ------------------------------------------------------------------------------------------------------


@route(
    invitations,
    "POST",
    "/surveys/<survey>/tokens",
    "Sign a blinded message for an invitation: once for each of its uses. The same message again gets the same answer.",
    takes=(TokenRequest,),
    gives=TokenSignature,
    status=201,
    problems=(*SENT, Kind.INVITATION_UNKNOWN, Kind.INVITATION_USED, Kind.CLOSED, Kind.NOT_OPEN, Kind.RATE_LIMIT),
)
def post_token(survey: str) -> ResponseReturnValue:
    state = here()
    state.token_requests.spend(request.remote_addr)
    published = find_inviting(survey)
    sent = _sent(TokenRequest, MAX_REQUEST, 'Send {"invitation": code, "blinded": base64url}.')
    code = digest_of_code(read_code(sent.invitation))
    blinded = from_text(sent.blinded, BYTES, "blinded")
    key = state.storage.invitations.key(survey)
    key.check(blinded)
    state.storage.invitations.take(published, code, hashlib.sha256(blinded).digest())
    # Only now, when it is on disk that this use is taken. Outside of any transaction: nobody waits for it.
    return as_json(TokenSignature(to_text(key.sign(blinded))), 201)


# --- editors ----------------------------------------------------------------------------------------------------------


@route(
    invitations,
    "POST",
    "/surveys/<survey>/invitations",
    "Make invitations. Their codes are in the answer only: the server keeps digests.",
    role="editor",
    takes=(NewInvitations,),
    gives=Codes,
    status=201,
    problems=(*SENT, Kind.CLOSED),
)
def post_invitations(survey: str) -> ResponseReturnValue:
    published = find_inviting(survey)
    most = f"number from 1 to {MOST_AT_ONCE}, uses from 1 to {MOST_USES}"
    sent = _sent(NewInvitations, MAX_REQUEST, f'Send {{"number": 300}}: {most}, short, expires_on as 2026-12-31.')
    codes = here().invite(
        published, acting(), sent.number, uses=sent.uses, short=sent.short, expires_on=sent.expires_on
    )
    return as_json(Codes(survey, published.document.digest, codes), 201)


@route(
    invitations,
    "GET",
    "/surveys/<survey>/invitations",
    "How many invitations were made, used, revoked and have expired. No codes: the server has none.",
    role="analyst",
    gives=InvitationNumbers,
)
def get_invitations(survey: str) -> ResponseReturnValue:
    return as_json(here().storage.invitations.numbers(find_inviting(survey)))


@route(
    invitations,
    "POST",
    "/surveys/<survey>/invitations/unused",
    "Those of these codes that can still be used: for reminders.",
    role="editor",
    takes=(SentCodes,),
    gives=Codes,
    problems=SENT,
)
def post_unused(survey: str) -> ResponseReturnValue:
    published = find_inviting(survey)
    left = here().storage.invitations.unused(published, _sent_codes())
    return as_json(Codes(survey, published.document.digest, left))


@route(
    invitations,
    "POST",
    "/surveys/<survey>/invitations/revoke",
    "Let these codes give no more tokens. Tokens that they gave stay valid: nobody knows which these are.",
    role="editor",
    takes=(SentCodes,),
    gives=Revoked,
    problems=SENT,
)
def post_revoked(survey: str) -> ResponseReturnValue:
    published = find_inviting(survey)
    return as_json(Revoked(here().revoke_invitations(published, _sent_codes(), acting())))


def _sent_codes() -> list[str]:
    sent = _sent(SentCodes, MAX_CODES, f'Send {{"codes": [up to {MOST_AT_ONCE} codes]}}.').codes
    try:
        return [read_code(text) for text in sent]
    except InvitationError:
        raise Refusal(Kind.INVALID, "One of the codes has a typing error, or is no code.") from None


def find_inviting(survey: str) -> Published:
    """A survey with invitations."""
    published = find(survey)
    if published.document.issuer is None:
        raise Refusal(Kind.NOT_FOUND, "This survey has no invitations: everybody can answer it.")
    return published


def _sent(kind: type[S], limit: int, expected: str) -> S:
    try:
        tree: Any = strict_json(read_body(limit).decode())
    except ValueError:
        raise NotJSON from None
    try:
        return convert(tree, kind)
    except ValidationError:  # its own words could repeat what was sent
        raise Refusal(Kind.INVALID, expected) from None
